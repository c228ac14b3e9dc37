/* solver/gpu/backend_tmpl.c: the GPU backend's table
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The analysis and what needs the factor's parts are the CPU backend's, and so are factorizations
 * by L D L^T; those by Cholesky run on the device (factorize_tmpl.c).  After each factorization the
 * factor is packed, for few solves as it is (gpu/packed/tree_solver.h); whole solves and refinement
 * (refine_tmpl.c) run on the device. */
#include "solver/gpu/backend.h"
#include "base/type.h"
#include "solver/gpu/numeric.h"

/* Most entries of the prepared inverses, in entries of L. */
#define DEFAULT_ENTRIES 1.5
/* Solves that share the time of forming inverses, where the purpose is none. */
#define FORESEEN_SOLVES 20

/* ---- Plan and values ---- */

static void discard(void *plan_)
{
    device_plan *plan = plan_;
    if (!plan)
        return;
    if (plan->cpu)
        CPU->discard(plan->cpu);
    factor_program_free(&plan->env->memory, &plan->program);
    memory_free(&plan->env->memory, plan);
}

static libsolver_status prepare(const backend_problem *problem, void **out, message *why)
{
    memory *m = &problem->env->memory;
    *out = NULL;
    device_plan *plan = memory_zeroed(m, 1, sizeof(device_plan));
    if (!plan)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the plan wanted %lld more bytes",
                    (long long)m->wanted);
    plan->env = problem->env;
    plan->may_fall_back = problem->may_fall_back;
    plan->values = problem->values;
    plan->entries_factor = problem->for_latency ? 0 : DEFAULT_ENTRIES;
    plan->substitutes = problem->for_few;
    plan->schur_size = problem->schur_size;
    plan->mixed = problem->mixed;
    backend_problem inner = *problem;
    const int is_elsewhere = problem->expected_signs ? !problem->mixed : problem->expects_cholesky;
    inner.is_elsewhere = is_elsewhere;
    libsolver_status status = CPU->prepare(&inner, &plan->cpu, why);
    if (status == LIBSOLVER_OK)
        status = NAME(gpu_plan_factorization)(plan, is_elsewhere, why);
    if (status != LIBSOLVER_OK)
        discard(plan);
    else
        *out = plan;
    return status;
}

static void predict(const void *plan_, int64_t *host_bytes, int64_t *device_bytes)
{
    const device_plan *plan = plan_;
    backend_plan_view view;
    CPU->view_plan(plan->cpu, &view);
    CPU->predict(plan->cpu, host_bytes, device_bytes);
    const double prepared = plan->substitutes || plan->schur_size > 0 ? 0 : DEFAULT_ENTRIES;
    const int64_t entry = type_bytes(factor_type(plan)),
                  values = (int64_t)(prepared * (double)view.factor_entries) * entry;
    /* the factor that they are formed from; A as it comes, and in full storage with indices and
     * sources of 4 bytes an entry each */
    const int64_t factor = view.factor_entries * entry, lower = view.a->start[view.a->n],
                  complement = (int64_t)plan->schur_size * plan->schur_size * entry,
                  a = (2 * lower - view.a->n) * (8 + (int64_t)sizeof(scalar)) +
                      lower * (int64_t)sizeof(scalar);
    *device_bytes =
        values + values / 4 + factor + complement + a + NAME(gpu_factorization_bytes)(plan);
}

static void view_device(const void *plan_, backend_device_view *view)
{
    const device_plan *plan = plan_;
    *view =
        (backend_device_view){.cpu = CPU,
                              .cpu_plan = plan->cpu,
                              .program =
                                  plan->program.nodes > 0 && !plan->mixed ? &plan->program : NULL,
                              .cpu_reason = plan->mixed ? LIBSOLVER_CPU_MIXED : plan->cpu_reason};
}

static void permutation(const void *plan_, int64_t *p)
{
    const device_plan *plan = plan_;
    CPU->permutation(plan->cpu, p);
}

static void destroy(void *numeric_)
{
    device_numeric *f = numeric_;
    if (!f)
        return;
    NAME(gpu_factorization_close)(f);
    omp_destroy_lock(&f->copying);
    tree_matrix_free(f->a);
    tree_solver_free(f->solver);
    if (f->cpu)
        CPU->destroy(f->cpu);
    memory_free(&f->env->memory, f);
}

static int fall_back(const device_numeric *f, libsolver_status status, message *why)
{
    return NAME(gpu_falls_back)(f, status, "solves", why);
}

/* What of a factor is the device's. */
static libsolver_status open_device(device_numeric *f, const device_plan *plan, message *why)
{
    const tree_solver_options options = {.entries_factor = plan->entries_factor,
                                         .solves = plan->entries_factor > 0 ? FORESEEN_SOLVES : 0,
                                         .substitute = plan->substitutes};
    backend_plan_view view;
    CPU->view_plan(plan->cpu, &view);
    f->n = view.a->n;
    TRY(tree_solver_create(f->env, &options, &f->solver, why));
    f->values.device = f->env->device;
    TRY(device_values_open(&f->values, f->env, tree_solver_stream(f->solver),
                           view.given->start[f->n], SCALAR_TYPE, why));
    const libsolver_status status =
        tree_matrix_create(f->env, f->solver, SCALAR_TYPE, view.hermitian, view.given, &f->a, why);
    if (status != LIBSOLVER_OK)
        device_values_close(&f->values);
    return status;
}

static libsolver_status create(const void *plan_, void **out, message *why)
{
    const device_plan *plan = plan_;
    environment *env = plan->env;
    device_numeric *f = memory_zeroed(&env->memory, 1, sizeof(device_numeric));
    *out = NULL;
    if (!f)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the factor wanted %lld more bytes",
                    (long long)env->memory.wanted);
    f->env = env;
    f->plan = plan;
    f->may_fall_back = plan->may_fall_back;
    omp_init_lock(&f->copying);
    libsolver_status status = open_device(f, plan, why);
    if (status == LIBSOLVER_OK || fall_back(f, status, why))
        status = CPU->create(plan->cpu, &f->cpu, why);
    if (status != LIBSOLVER_OK)
        destroy(f);
    else
        *out = f;
    return status;
}

static void set_values(void *numeric_, const void *values)
{
    device_numeric *f = numeric_;
    f->given = values;
}

/* ---- Solves ---- */

static int64_t workspace_bytes(const void *numeric_, int64_t columns)
{
    const device_numeric *f = numeric_;
    return (int64_t)sizeof(device_space) + 3 * f->n * columns * (int64_t)sizeof(scalar) +
           CPU->workspace_bytes(f->cpu, columns);
}

/* Solves in this workspace run on the CPU from now on. */
static void leave_device(device_space *w)
{
    tree_refiner_free(w->refiner);
    tree_workspace_free(w->tree);
    w->refiner = NULL;
    w->tree = NULL;
}

static void workspace_destroy(const void *numeric_, void *workspace_)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    if (!w)
        return;
    leave_device(w);
    CPU->workspace_destroy(f->cpu, w->cpu);
    memory_free(&f->env->memory, w->b);
    memory_free(&f->env->memory, w->x);
    memory_free(&f->env->memory, w->block);
    memory_free(&f->env->memory, w);
}

/* What of a workspace is the device's. */
static libsolver_status open_space(const device_numeric *f, device_space *w, message *why)
{
    TRY(tree_workspace_create(f->solver, w->columns, &w->tree, why));
    TRY(tree_workspace_stage(f->solver, w->tree, why));
    return tree_refiner_create(f->a, w->columns, w->tree, &w->refiner, why);
}

static libsolver_status workspace_create(const void *numeric_, int64_t columns, void **out,
                                         message *why)
{
    const device_numeric *f = numeric_;
    memory *m = &f->env->memory;
    device_space *w = memory_zeroed(m, 1, sizeof(device_space));
    *out = NULL;
    if (!w)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the workspace wanted %lld more bytes",
                    (long long)m->wanted);
    w->columns = columns;
    w->b = memory_new(m, f->n * columns, sizeof(scalar));
    w->x = memory_new(m, f->n * columns, sizeof(scalar));
    w->block = memory_new(m, f->n * columns, sizeof(scalar));
    if (!w->b || !w->x || !w->block) {
        workspace_destroy(f, w);
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the workspace wanted %lld more bytes",
                    (long long)m->wanted);
    }
    libsolver_status status = CPU->workspace_create(f->cpu, columns, &w->cpu, why);
    if (status == LIBSOLVER_OK && f->plan->schur_size == 0 &&
        (f->state.is_packed || !f->may_fall_back)) {
        status = open_space(f, w, why);
        if (status != LIBSOLVER_OK && fall_back(f, status, why)) {
            leave_device(w);
            status = LIBSOLVER_OK;
        }
    }
    if (status != LIBSOLVER_OK)
        workspace_destroy(f, w);
    else
        *out = w;
    return status;
}

static int solves_on_device(const void *numeric_, const void *workspace_)
{
    const device_numeric *f = numeric_;
    const device_space *w = workspace_;
    return f->state.is_packed && w->tree;
}

/* Makes the workspace follow the factor. */
static libsolver_status fit(const device_numeric *f, device_space *w, message *why)
{
    if (!solves_on_device(f, w))
        return LIBSOLVER_OK;
    const libsolver_status status = tree_workspace_fit(f->solver, w->tree, why);
    if (status == LIBSOLVER_OK || !fall_back(f, status, why))
        return status;
    leave_device(w);
    return LIBSOLVER_OK;
}

/* Whether a call that failed on the device can be repeated on the CPU, and leaves it for good. */
static int repeats_on_cpu(const device_numeric *f, device_space *w, libsolver_status status,
                          const libsolver_vectors *b, const libsolver_vectors *x, message *why)
{
    if (status == LIBSOLVER_OK || b->place == LIBSOLVER_DEVICE || b->values == x->values ||
        !fall_back(f, status, why))
        return 0;
    leave_device(w);
    return 1;
}

#define WHOLE_SOLVE (BACKEND_L | BACKEND_D | BACKEND_LT)

static libsolver_status check_places(const libsolver_vectors *b, const libsolver_vectors *x,
                                     message *why)
{
    if (b->place == x->place)
        return LIBSOLVER_OK;
    return FAIL(why, LIBSOLVER_INVALID, "b and x do not lie in the same memory");
}

/* Of vectors in device memory, which solves on the CPU cannot read. */
static libsolver_status needs_device(int part, message *why)
{
    if (part != WHOLE_SOLVE)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "a half solve of vectors in device memory");
    return FAIL(why, LIBSOLVER_NOT_BUILT,
                "vectors in device memory: solves with this factor run on the CPU");
}

/* On the host. */
static libsolver_status solve_here(const device_numeric *f, int part, device_space *w,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->solve(f->cpu, part, w->cpu, b, x, why);
}

static libsolver_status solve(const void *numeric_, int part, void *workspace_,
                              const libsolver_vectors *b, const libsolver_vectors *x, message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    const int on_device = b->place == LIBSOLVER_DEVICE;
    TRY(check_places(b, x, why));
    TRY(fit(f, w, why));
    if (part != WHOLE_SOLVE || !solves_on_device(f, w))
        return on_device ? needs_device(part, why) : solve_here(f, part, w, b, x, why);
    const libsolver_status status = on_device ? tree_solve(f->solver, w->tree, NULL, b, x, why)
                                              : tree_solve_host(f->solver, w->tree, b, x, why);
    return repeats_on_cpu(f, w, status, b, x, why) ? solve_here(f, part, w, b, x, why) : status;
}

static libsolver_status trace(const void *numeric_, void *workspace_, const libsolver_vectors *b,
                              const libsolver_vectors *x, int64_t capacity, libsolver_task *tasks,
                              int64_t *count, message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    tree_solver_info info;
    if (!solves_on_device(f, w))
        return FAIL(why, LIBSOLVER_NOT_BUILT, "solves on the CPU are not traced");
    tree_solver_query(f->solver, &info);
    *count = info.tasks;
    if (!tasks)
        return LIBSOLVER_OK;
    if (capacity < info.tasks || b->place != LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID,
                    "a trace needs room for %lld tasks and vectors in device memory",
                    (long long)info.tasks);
    TRY(tree_workspace_fit(f->solver, w->tree, why));
    return tree_solve_traced(f->solver, w->tree, b, x, tasks, why);
}

static libsolver_status refine(const void *numeric_, void *workspace_, const libsolver_vectors *b,
                               const libsolver_vectors *x, backend_refinement *refinement,
                               double *backward_error, message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    const backend_refinement asked = *refinement;
    TRY(check_places(b, x, why));
    TRY(fit(f, w, why));
    if (solves_on_device(f, w)) {
        const libsolver_status status =
            NAME(gpu_refine)(f, w, b, x, refinement, backward_error, why);
        if (!repeats_on_cpu(f, w, status, b, x, why))
            return status;
        *refinement = asked;
    }
    if (b->place == LIBSOLVER_DEVICE)
        return needs_device(WHOLE_SOLVE, why);
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->refine(f->cpu, w->cpu, b, x, refinement, backward_error, why);
}

/* The trial of a factor in mixed precision, by solves on the device if they run there. */
static libsolver_status try_single(device_numeric *f, device_space *w,
                                   const backend_options *options, int steps, double tolerance,
                                   backend_report *report, message *why)
{
    TRY(fit(f, w, why));
    const int there = solves_on_device(f, w);
    if (!there && report_is_doubtful(report) && steps > 0)
        TRY(NAME(gpu_bring_factor)(f, why));
    return there ? NAME(gpu_confirm_there)(f, w, options, steps, tolerance, report, why)
                 : CPU->confirm(f->cpu, w->cpu, options, steps, tolerance, report, why);
}

static libsolver_status confirm(void *numeric_, void *workspace_, const backend_options *options,
                                int steps, double tolerance, backend_report *report, message *why)
{
    device_numeric *f = numeric_;
    device_space *w = workspace_;
    libsolver_cpu_reason reason = report->cpu_reason;
    if (!report->in_single)
        return LIBSOLVER_OK;
    f->why = why;
    libsolver_status status = try_single(f, w, options, steps, tolerance, report, why);
    if (is_of_device(status) && NAME(gpu_falls_back)(f, status, "factorizes", why)) {
        reason = LIBSOLVER_CPU_DEVICE;
        status = NAME(gpu_factorize_here)(f, options, report, why);
        if (status == LIBSOLVER_OK)
            status = CPU->confirm(f->cpu, w->cpu, options, steps, tolerance, report, why);
    }
    return NAME(gpu_confirmed)(f, status, reason, report, why);
}

static libsolver_status solve_async(const void *numeric_, void *workspace_,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    const backend_refinement *refinement, int remarks,
                                    double *backward_error, libsolver_status *status, message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    TRY(fit(f, w, why));
    return solves_on_device(f, w)
               ? NAME(gpu_solve_async)(f, w, b, x, refinement, remarks, backward_error, status, why)
               : needs_device(WHOLE_SOLVE, why);
}

/* ---- What the factor knows: the CPU backend's ---- */

static libsolver_status determinant(const void *numeric_, double *log_abs, double *phase_real,
                                    double *phase_imaginary, message *why)
{
    const device_numeric *f = numeric_;
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->determinant(f->cpu, log_abs, phase_real, phase_imaginary, why);
}

static libsolver_status condition(const void *numeric_, void *workspace_, double *estimate,
                                  message *why)
{
    const device_numeric *f = numeric_;
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->condition(f->cpu, ((device_space *)workspace_)->cpu, estimate, why);
}

static libsolver_status forward_error(const void *numeric_, void *workspace_,
                                      const libsolver_vectors *b, const libsolver_vectors *x,
                                      double *error, message *why)
{
    const device_numeric *f = numeric_;
    if (b->place == LIBSOLVER_DEVICE || x->place == LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "forward errors of vectors in device memory");
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->forward_error(f->cpu, ((device_space *)workspace_)->cpu, b, x, error, why);
}

static libsolver_status export_l(const void *numeric_, int64_t *entries, int64_t *pointers,
                                 int64_t *indices, void *values, int64_t *order, message *why)
{
    const device_numeric *f = numeric_;
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->export_l(f->cpu, entries, pointers, indices, values, order, why);
}

static libsolver_status export_d(const void *numeric_, void *diagonal, void *subdiagonal,
                                 message *why)
{
    const device_numeric *f = numeric_;
    TRY(NAME(gpu_bring_factor)(f, why));
    return CPU->export_d(f->cpu, diagonal, subdiagonal, why);
}

static libsolver_status export_scaling(const void *numeric_, void *scaling, message *why)
{
    const device_numeric *f = numeric_;
    TRY(NAME(gpu_bring_values)(f, why));
    return CPU->export_scaling(f->cpu, scaling, why);
}

const backend NAME(gpu_backend) = {
    .name = "gpu",
    .costs = &cpu_costs,
    .cholesky_costs = &gpu_costs,
    .takes_device_vectors = 1,
    .prepare = prepare,
    .discard = discard,
    .predict = predict,
    .permutation = permutation,
    .view_device = view_device,
    .create = create,
    .destroy = destroy,
    .set_values = set_values,
    .set_device_values = NAME(gpu_set_device_values),
    .get_device_values = NAME(gpu_get_device_values),
    .factorize = NAME(gpu_factorize),
    .refactorize = NAME(gpu_refactorize),
    .refactorize_async = NAME(gpu_refactorize_async),
    .settle = NAME(gpu_settle),
    .trace_factorization = NAME(gpu_trace_factorization),
    .confirm = confirm,
    .workspace_bytes = workspace_bytes,
    .workspace_create = workspace_create,
    .workspace_destroy = workspace_destroy,
    .solve = solve,
    .solves_on_device = solves_on_device,
    .trace = trace,
    .refine = refine,
    .solve_async = solve_async,
    .determinant = determinant,
    .condition = condition,
    .forward_error = forward_error,
    .schur_complement = NAME(gpu_schur_complement),
    .schur_solve = NAME(gpu_schur_solve),
    .export_l = export_l,
    .export_d = export_d,
    .export_scaling = export_scaling,
};
