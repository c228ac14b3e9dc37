/* gpu/packed/tree_solver.c: a factor packed for solves on one device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/packed/tree_solver.h"
#include "base/type.h"
#include "gpu/solve/device_solver.h"
#include "gpu/solve/narrowing.h"
#include "gpu/invert/inverse_builder.h"
#include "gpu/device/packed.h"
#include "gpu/factor/device_outcome.h"
#include "gpu/packed/prepare.h"
#include "gpu/substitute/device_substitution.h"
#include "gpu/substitute/substitution_plan.h"
#include "gpu/plan/trace.h"
#include <math.h>
#include <time.h>

/* Seconds that a block waits for another before a solve gives up. */
#define PATIENCE 2

struct tree_solver {
    environment *env;
    tree_solver_options options;
    tree_solver_info info;
    device_solver device;
    device_substitution substitution; /* only where options.substitute */
    int is_mixed;                     /* what is packed is in single precision, vectors in ... */
    device_narrowing narrowing;       /* ... double */
    device_factor factor;
    inverse_builder inverse;
    device_outcome outcome;
    prepared_solve prepared; /* trimmed */
    device_upload program;   /* sizes, and nothing at hand */
    int is_adopted;          /* what is packed was made on the device */
    int32_t *level_blocks;
    plan_label *label; /* info.tasks */
};

struct tree_workspace {
    const tree_solver *solver;
    int64_t columns, bytes; /* as asked for, of the device's part */
    libsolver_type type;    /* of the factor that it serves */
    device_workspace device;
    narrow_block narrow;    /* mixed precision */
    device_staging staging; /* for blocks on the host; taken by the first */
};

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

libsolver_status tree_solver_create(environment *env, const tree_solver_options *options,
                                    tree_solver **solver, message *why)
{
    *solver = NULL;
    tree_solver *s = memory_zeroed(&env->memory, 1, sizeof(tree_solver));
    if (!s)
        return NO_MEMORY(env, "the solver on the device", why);
    s->env = env;
    s->options = *options;
    s->device.device = env->device;
    s->device.stream = env->stream;
    s->device.by_levels = options->by_levels;
    s->device.patience = options->patience > 0 ? options->patience : PATIENCE;
    const libsolver_status status = device_solver_open(&s->device, why);
    device_factor_open(&s->factor, env, s->device.stream);
    inverse_builder_open(&s->inverse, env, s->device.stream);
    s->outcome.device = s->narrowing.device = s->device.device;
    s->outcome.stream = s->narrowing.stream = s->device.stream;
    if (status != LIBSOLVER_OK)
        tree_solver_free(s);
    else
        *solver = s;
    return status;
}

void tree_solver_free(tree_solver *s)
{
    if (!s)
        return;
    prepared_free(&s->env->memory, &s->prepared);
    inverse_builder_close(&s->inverse);
    device_outcome_close(&s->outcome);
    device_factor_close(&s->factor);
    device_narrowing_drop(&s->narrowing);
    device_solver_close(&s->device);
    memory_free(&s->env->memory, s->level_blocks);
    memory_free(&s->env->memory, s->label);
    memory_free(&s->env->memory, s);
}

static list_head head_of(task_list list, const task_copy *copy)
{
    list_head h = {.list = list};
    memcpy(h.copy, copy + list.copy,
           (size_t)(list.copies < HEAD_COPIES ? list.copies : HEAD_COPIES) * sizeof(task_copy));
    return h;
}

/* Of the vectors that are solved for. */
static libsolver_type vector_type(const tree_solver *s)
{
    return s->is_mixed ? s->narrowing.type : s->device.type;
}

/* Heads of the blocks' lists, or by levels of the units' in ascending levels, with the number of
 * units of each level. */
static libsolver_status list_heads(tree_solver *s, const solve_plan *plan, list_head **head)
{
    memory *m = &s->env->memory;
    const int by_levels = s->device.by_levels;
    s->level_blocks = memory_zeroed(m, plan->level_count, sizeof(int32_t));
    *head = memory_new(m, by_levels ? plan->unit_count : plan->blocks, sizeof(list_head));
    if (!s->level_blocks || !*head)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t b = 0; b < plan->blocks && !by_levels; b++)
        (*head)[b] = head_of(plan->block[b], plan->block_copy);
    for (int32_t u = 0, level = -1; u < plan->unit_count && by_levels; u++) {
        level += u == 0 || plan->unit[u].level != plan->unit[u - 1].level;
        s->level_blocks[level]++;
        (*head)[u] = head_of(plan->unit[u].list, plan->copy);
    }
    return LIBSOLVER_OK;
}

/* What the solves of the factor scale by. */
static const void *scale_of(const tree_solver *s, const factor_tree *tree)
{
    return s->is_mixed ? s->narrowing.ones : tree->scale;
}

/* Room on the device for the program at hand. */
static libsolver_status reserve(tree_solver *s, const factor_tree *tree, const solve_plan *plan,
                                message *why)
{
    s->program = (device_upload){.type = tree->type,
                                 .n = tree->n,
                                 .packets = plan->packets,
                                 .levels = plan->level_count,
                                 .value_bytes = plan->value_bytes,
                                 .description_bytes = plan->description_bytes,
                                 .heads = s->device.by_levels ? plan->unit_count : plan->blocks,
                                 .copies = plan->copy_count};
    return device_solver_reserve(&s->device, &s->program, why);
}

/* What the device does not have yet: scale, values that were computed on the host, and a program
 * that is new. */
static libsolver_status upload(tree_solver *s, const factor_tree *tree, message *why)
{
    const solve_plan *plan = &s->prepared.plan;
    list_head *head = NULL;
    device_upload program = s->program;
    program.scale = scale_of(s, tree);
    program.values = s->prepared.values;
    if (!s->prepared.kept) {
        memory_free(&s->env->memory, s->level_blocks);
        if (list_heads(s, plan, &head) != LIBSOLVER_OK) {
            memory_free(&s->env->memory, head);
            return NO_MEMORY(s->env, "the program of the solve", why);
        }
        program.level_blocks = s->level_blocks;
        program.description = plan->description;
        program.head = head;
        program.copy = s->device.by_levels ? plan->copy : plan->block_copy;
        program.user_row = tree->user_row;
    }
    const libsolver_status status = device_solver_upload(&s->device, &program, why);
    memory_free(&s->env->memory, head);
    return status;
}

/* A factor that is being packed; invert_seconds: of the inversion and what it needs on the device.
 */
typedef struct packing {
    tree_solver *solver;
    const factor_tree *tree;
    double invert_seconds;
} packing;

/* Computes the values of the program at hand on the device, where they will be read. */
static libsolver_status invert_on_device(void *user, prepared_solve *p, double limit, message *why)
{
    packing *q = user;
    tree_solver *s = q->solver;
    const double start = seconds();
    libsolver_status status = LIBSOLVER_OK;
    if (!p->kept) {
        TRY(reserve(s, q->tree, &p->plan, why));
        status =
            inverse_builder_plan(&s->inverse, p->shape.joined, &p->cut, &p->grouped, &p->plan, why);
    }
    if (status == LIBSOLVER_OK)
        status = inverse_builder_values(&s->inverse, s->device.memory, limit, p->growths,
                                        p->growths + p->grouped.count, &p->largest, why);
    q->invert_seconds += seconds() - start;
    if (environment_cancelled(s->env))
        return LIBSOLVER_CANCELLED;
    return status;
}

static void keep_info(tree_solver *s, double plan_seconds)
{
    const prepared_solve *p = &s->prepared;
    const int64_t inverting = s->factor.values.bytes + inverse_builder_bytes(&s->inverse);
    s->info =
        (tree_solver_info){.factors = s->info.factors + 1,
                           .plans = s->info.plans + !p->kept,
                           .factor_entries = p->factor_entries,
                           .entries = p->entries,
                           .bytes_read = p->plan.bytes_read,
                           .device_bytes = s->device.bytes + s->narrowing.bytes + inverting,
                           .allocations = s->device.allocations + s->factor.allocations +
                                          s->narrowing.allocations + s->inverse.device.allocations,
                           .groups = p->grouped.count,
                           .heights = p->grouped.heights,
                           .levels = p->plan.level_count,
                           .tasks = p->plan.task_count,
                           .guarded = p->guarded,
                           .growth = fmax(1, p->largest.of_group),
                           .plan_seconds = plan_seconds,
                           .load_seconds = s->factor.seconds,
                           .table_seconds = s->inverse.info.tables,
                           .invert_seconds = s->inverse.info.kernels,
                           .invert_bytes = inverting};
}

/* Labels are kept for traces; the rest of a new program is on the device now. */
static void trim(tree_solver *s)
{
    memory *m = &s->env->memory;
    if (s->prepared.kept)
        return;
    memory_free(m, s->label);
    s->label = s->prepared.plan.label;
    s->prepared.plan.label = NULL;
    plan_trim(m, &s->prepared.plan);
}

/* Where the factor to be packed is. */
typedef struct packed_from {
    int is_on_device, is_same_shape; /* see tree_solver_adopt */
    const column_progress *progress;
} packed_from;

/* For substitution: nothing is inverted. */
static libsolver_status pack_factor(tree_solver *s, const factor_tree *tree, packed_from from,
                                    message *why)
{
    memory *m = &s->env->memory;
    prepared_solve *p = &s->prepared; /* of which only the shape is used */
    substitution plan = {.n = 0};
    if (!from.is_on_device)
        TRY(device_factor_load(&s->factor, tree, why));
    const double start = seconds();
    p->kept = (from.is_same_shape && p->shape.first) || tree_shape_is(&p->shape, tree);
    if (!p->kept) {
        tree_shape_free(m, &p->shape);
        libsolver_status status = tree_shape_copy(m, tree, &p->shape);
        if (status == LIBSOLVER_OK)
            status = substitution_build(m, tree, p->shape.joined, s->factor.panel_at, &plan);
        if (status != LIBSOLVER_OK)
            return status == LIBSOLVER_OUT_OF_MEMORY ? NO_MEMORY(s->env, "packing the factor", why)
                                                     : FAIL(why, status, "the tree of the factor");
        p->factor_entries = tree_entries(tree);
    }
    const double plan_seconds = seconds() - start;
    const libsolver_status status =
        device_substitution_load(&s->substitution, &s->device, &s->factor, p->kept ? NULL : &plan,
                                 tree->user_row, scale_of(s, tree), why);
    substitution_free(m, &plan);
    p->largest = (largest_growth){0};
    keep_info(s, plan_seconds);
    s->info.bytes_read = 2 * p->factor_entries * type_bytes(tree->type);
    return status;
}

/* On the host the inverses are computed while it is planned, which then takes their time too. */
static libsolver_status pack_inverses(tree_solver *s, const factor_tree *tree, packed_from from,
                                      message *why)
{
    packing q = {.solver = s, .tree = tree};
    prepare_options o = {.blocks = s->device.blocks,
                         .entries_factor = s->options.entries_factor,
                         .growth_limit = s->options.growth_limit,
                         .largest_group = s->options.largest_group,
                         .solves = s->options.solves,
                         .largest_part = s->options.largest_part,
                         .tuning = s->options.tuning,
                         .is_same_shape = from.is_same_shape,
                         .step = s->options.step,
                         .bytes_per_second = s->options.bytes_per_second};
    if (!s->options.invert_on_host) {
        o.invert = invert_on_device;
        o.invert_user = &q;
        if (!from.is_on_device)
            TRY(device_factor_load(&s->factor, tree, why));
        inverse_builder_begin(&s->inverse, &s->factor, tree, from.progress);
    }
    const double start = seconds();
    const libsolver_status status = prepare_solve(s->env, tree, &o, &s->prepared, why);
    const double plan_seconds = seconds() - start - q.invert_seconds;
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        return NO_MEMORY(s->env, "packing the factor", why);
    if (status == LIBSOLVER_CANCELLED)
        return FAIL(why, status, "%s", libsolver_status_sentence(status));
    TRY(status);
    if (s->options.invert_on_host && !s->prepared.kept)
        TRY(reserve(s, tree, &s->prepared.plan, why));
    TRY(upload(s, tree, why));
    trim(s);
    keep_info(s, plan_seconds);
    return LIBSOLVER_OK;
}

/* All but the factor. */
static void drop_packed(tree_solver *s)
{
    prepared_free(&s->env->memory, &s->prepared);
    inverse_builder_drop(&s->inverse);
    device_outcome_close(&s->outcome);
    device_narrowing_drop(&s->narrowing);
    device_solver_drop(&s->device);
    s->info.device_bytes = s->factor.values.bytes;
}

void tree_solver_drop(tree_solver *s)
{
    drop_packed(s);
    device_factor_drop(&s->factor);
    s->info.device_bytes = 0;
}

/* Makes ready for vectors in double precision, if the factor is for such. */
static libsolver_status pack_scale(tree_solver *s, const factor_tree *tree, message *why)
{
    s->is_mixed = tree->wide_scale != NULL;
    if (!s->is_mixed) {
        device_narrowing_drop(&s->narrowing);
        return LIBSOLVER_OK;
    }
    const libsolver_type type = tree->type == LIBSOLVER_S ? LIBSOLVER_D : LIBSOLVER_Z;
    TRY(device_narrowing_open(&s->narrowing, type, tree->n, why));
    return device_narrowing_scale(&s->narrowing, tree->wide_scale, why);
}

static libsolver_status pack(tree_solver *s, const factor_tree *tree, packed_from from,
                             message *why)
{
    const double start = seconds();
    libsolver_status status = pack_scale(s, tree, why);
    if (status == LIBSOLVER_OK)
        status = (s->options.substitute ? pack_factor : pack_inverses)(s, tree, from, why);
    if (status != LIBSOLVER_OK)
        drop_packed(s);
    s->info.seconds = seconds() - start;
    return status;
}

libsolver_status tree_solver_pack(tree_solver *s, const factor_tree *tree, message *why)
{
    s->is_adopted = 0;
    const libsolver_status status = pack(s, tree, (packed_from){0}, why);
    if (status != LIBSOLVER_OK)
        tree_solver_drop(s);
    return status;
}

libsolver_status tree_solver_reserve(tree_solver *s, const factor_tree *tree, void **panels,
                                     message *why)
{
    const libsolver_status status = device_factor_reserve(&s->factor, tree, why);
    *panels = s->factor.values.at;
    return status;
}

void *tree_solver_panels(const tree_solver *s)
{
    return s->factor.values.at;
}

/* ---- Factors that nobody waits for ---- */

libsolver_status tree_solver_adopt(tree_solver *s, const factor_tree *tree, int is_same_shape,
                                   const column_progress *progress, message *why)
{
    const packed_from from = {.is_on_device = 1,
                              .is_same_shape = is_same_shape,
                              .progress = progress};
    TRY(pack(s, tree, from, why));
    s->is_adopted = 0;
    if (s->options.invert_on_host)
        return LIBSOLVER_OK;
    const libsolver_status status =
        s->outcome.words ? LIBSOLVER_OK : device_outcome_open(&s->outcome, why);
    if (status != LIBSOLVER_OK)
        drop_packed(s);
    s->is_adopted = status == LIBSOLVER_OK;
    return status;
}

int tree_solver_adopts_async(const tree_solver *s)
{
    return s->is_adopted && s->prepared.shape.first;
}

libsolver_status tree_solver_expect(tree_solver *s, const void *made_by, unsigned **words,
                                    int32_t *count, message *why)
{
    invert_words clear = {0};
    if (!s->options.substitute)
        TRY(inverse_builder_expect(&s->inverse, made_by, &clear, why));
    *words = clear.word;
    *count = clear.count;
    return LIBSOLVER_OK;
}

libsolver_status tree_solver_adopt_async(tree_solver *s, const unsigned *words, message *why)
{
    s->info.factors++;
    return s->options.substitute
               ? device_substitution_renew(&s->substitution, &s->device, why)
               : inverse_builder_launch(&s->inverse, s->device.memory, words, why);
}

libsolver_status tree_solver_judge(tree_solver *s, const void *scale, const void *outcome,
                                   int keeps, libsolver_status *status, message *why)
{
    const double limit = s->options.growth_limit;
    const outcome_arguments a = {.type = vector_type(s),
                                 .n = s->device.n,
                                 .from = scale,
                                 .scale =
                                     s->is_mixed ? s->narrowing.scale : (void *)s->device.scale,
                                 .factored = outcome,
                                 .grown = s->options.substitute ? NULL : s->inverse.device.gathered,
                                 .limit = limit > 0 ? limit : INVERSE_GROWTH_LIMIT,
                                 .status = status,
                                 .keeps = keeps};
    return device_outcome_judge(&s->outcome, &a, why);
}

device_outcome *tree_solver_outcome(tree_solver *s)
{
    return &s->outcome;
}

const int32_t *tree_solver_status(const tree_solver *s)
{
    return s->outcome.words ? &s->outcome.words->status : NULL;
}

libsolver_status tree_solver_fetch(tree_solver *s, const factor_tree *tree, void *const *panel,
                                   void *const *d, void *const *e, message *why)
{
    return device_factor_fetch(&s->factor, tree, panel, d, e, why);
}

void tree_solver_query(const tree_solver *s, tree_solver_info *info)
{
    *info = s->info;
}

void *tree_solver_stream(const tree_solver *s)
{
    return s->device.stream;
}

int tree_solver_is_mixed(const tree_solver *s)
{
    return s->is_mixed;
}

const struct device_solver *tree_solver_device(const tree_solver *s)
{
    return &s->device;
}

const struct device_workspace *tree_workspace_device(const tree_workspace *w)
{
    return &w->device;
}

int64_t tree_workspace_bytes(const tree_solver *s, int64_t columns)
{
    return (int64_t)sizeof(tree_workspace) + device_workspace_bytes(&s->device, columns);
}

/* What of a workspace is on the device, for what is packed now. */
static libsolver_status open_workspace(const tree_solver *s, tree_workspace *w, message *why)
{
    w->bytes = device_workspace_bytes(&s->device, w->columns);
    w->type = s->device.type;
    libsolver_status status = device_workspace_open(&s->device, w->columns, &w->device, why);
    if (status == LIBSOLVER_OK && s->is_mixed)
        status = narrow_block_open(&s->narrowing, w->device.columns, &w->narrow, why);
    return status;
}

static void close_workspace(tree_workspace *w)
{
    device_workspace_close(&w->device);
    narrow_block_close(&w->narrow);
    w->bytes = -1;
}

libsolver_status tree_workspace_create(const tree_solver *s, int64_t columns,
                                       tree_workspace **workspace, message *why)
{
    *workspace = NULL;
    tree_workspace *w = memory_zeroed(&s->env->memory, 1, sizeof(tree_workspace));
    if (!w)
        return NO_MEMORY(s->env, "the workspace", why);
    w->solver = s;
    w->columns = columns;
    w->staging.device = w->narrow.device = s->device.device;
    const libsolver_status status = open_workspace(s, w, why);
    if (status != LIBSOLVER_OK)
        tree_workspace_free(w);
    else
        *workspace = w;
    return status;
}

static libsolver_status stage(const tree_solver *s, tree_workspace *w, int64_t rows,
                              libsolver_type type, message *why)
{
    const int64_t bytes = rows * w->device.columns * type_bytes(type);
    if (w->staging.host && bytes <= w->staging.bytes)
        return LIBSOLVER_OK;
    device_staging_close(&w->staging); /* a factor in double precision may take more columns */
    w->staging.device = s->device.device;
    return device_staging_open(&s->device, bytes, &w->staging, why);
}

libsolver_status tree_workspace_stage(const tree_solver *s, tree_workspace *w, message *why)
{
    return s->device.memory ? stage(s, w, s->device.n, vector_type(s), why) : LIBSOLVER_OK;
}

void tree_workspace_free(tree_workspace *w)
{
    if (!w)
        return;
    close_workspace(w);
    device_staging_close(&w->staging);
    memory_free(&w->solver->env->memory, w);
}

libsolver_status tree_workspace_fit(const tree_solver *s, tree_workspace *w, message *why)
{
    if (device_workspace_bytes(&s->device, w->columns) == w->bytes && w->type == s->device.type &&
        (!s->is_mixed || w->narrow.memory))
        return LIBSOLVER_OK;
    close_workspace(w);
    const libsolver_status status = open_workspace(s, w, why);
    if (status != LIBSOLVER_OK)
        close_workspace(w);
    return status;
}

/* A solve in the precision of the factor; times: NULL, or of its tasks, which are waited for. */
static libsolver_status solve(const tree_solver *s, const tree_workspace *w, void *stream,
                              const libsolver_vectors *b, const libsolver_vectors *x,
                              task_times *times, message *why)
{
    if (times)
        return device_solve_timed(&s->device, &w->device, b, x, s->info.tasks, times, why);
    return s->options.substitute
               ? device_substitute(&s->substitution, &s->device, &w->device, stream, b, x, why)
               : device_solve(&s->device, &w->device, stream, b, x, NULL, why);
}

/* The same by a factor in single precision of vectors in double, a panel after the other. */
static libsolver_status solve_mixed(const tree_solver *s, const tree_workspace *w, void *stream,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    task_times *times, message *why)
{
    const int64_t most = w->device.columns;
    if (b->type != s->narrowing.type || x->type != b->type || b->rows != s->device.n ||
        x->rows != b->rows || x->columns != b->columns)
        return FAIL(why, LIBSOLVER_INVALID,
                    "the right-hand side, the solution and the matrix differ in size or type");
    for (int64_t first = 0; first < b->columns; first += most) {
        const int64_t columns = b->columns - first < most ? b->columns - first : most;
        const libsolver_vectors from = columns_of(b, first, columns),
                                to = columns_of(x, first, columns);
        libsolver_vectors nb = w->narrow.b, nx = w->narrow.x;
        nb.columns = nx.columns = columns;
        TRY(device_narrow(&s->narrowing, &w->narrow, stream, &from, why));
        TRY(solve(s, w, stream, &nb, &nx, times, why));
        TRY(device_widen(&s->narrowing, &w->narrow, stream, &to, why));
    }
    return LIBSOLVER_OK;
}

libsolver_status tree_solve(const tree_solver *s, tree_workspace *w, void *stream,
                            const libsolver_vectors *b, const libsolver_vectors *x, message *why)
{
    return (s->is_mixed ? solve_mixed : solve)(s, w, stream, b, x, NULL, why);
}

libsolver_status tree_solve_host(const tree_solver *s, tree_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why)
{
    const int64_t scalar = type_bytes(b->type), most = w->device.columns;
    libsolver_status status = LIBSOLVER_OK;
    TRY(stage(s, w, b->rows, b->type, why));
    for (int64_t first = 0; first < b->columns && status == LIBSOLVER_OK; first += most) {
        const int64_t columns = b->columns - first < most ? b->columns - first : most,
                      bytes = b->rows * columns * scalar;
        const libsolver_vectors v = {.values = w->staging.on_device,
                                     .rows = b->rows,
                                     .columns = columns,
                                     .ld = b->rows,
                                     .type = b->type,
                                     .place = LIBSOLVER_DEVICE};
        packed_copy(b, first, columns, w->staging.host, 1);
        status = device_staging_in(&s->device, &w->staging, bytes, why);
        if (status == LIBSOLVER_OK)
            status = tree_solve(s, w, NULL, &v, &v, why);
        if (status == LIBSOLVER_OK)
            status = device_staging_out(&s->device, &w->staging, bytes, why);
        if (status == LIBSOLVER_OK)
            packed_copy(x, first, columns, w->staging.host, 0);
    }
    TRY(status);
    return tree_solve_check(s, w, NULL, why);
}

libsolver_status tree_solver_get(const tree_solver *s, const libsolver_vectors *from, void *to,
                                 message *why)
{
    return device_block_get(&s->device, from, to, why);
}

libsolver_status tree_solver_put(const tree_solver *s, const void *from,
                                 const libsolver_vectors *to, message *why)
{
    return device_block_put(&s->device, from, to, why);
}

libsolver_status tree_solve_traced(const tree_solver *s, tree_workspace *w,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   libsolver_task *task, message *why)
{
    memory *m = &s->env->memory;
    if (s->device.by_levels)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "solves that go level by level are not traced");
    if (s->options.substitute)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "solves by substitution are not traced");
    task_times *times = memory_zeroed(m, s->info.tasks, sizeof(task_times));
    if (!times)
        return NO_MEMORY(s->env, "the trace", why);
    libsolver_status status = (s->is_mixed ? solve_mixed : solve)(s, w, NULL, b, x, times, why);
    if (status == LIBSOLVER_OK)
        status = tree_solve_check(s, w, NULL, why);
    if (status == LIBSOLVER_OK &&
        trace_tasks(m, s->label, times, s->info.tasks, s->info.heights, task) != LIBSOLVER_OK)
        status = NO_MEMORY(s->env, "the trace", why);
    memory_free(m, times);
    return status;
}

libsolver_status tree_solve_check(const tree_solver *s, tree_workspace *w, void *stream,
                                  message *why)
{
    int gave_up = 0;
    TRY(device_solve_check(&s->device, &w->device, stream, &gave_up, why));
    return gave_up ? FAIL(why, LIBSOLVER_CUDA,
                          "a block waited %g s for another: the device did not run all of them at "
                          "once",
                          s->device.patience)
                   : LIBSOLVER_OK;
}
