/* solver/gpu/factorize_tmpl.c: factors of the GPU backend: on the device by Cholesky, or with
 * expected signs; otherwise by the CPU backend
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU backend's object decides what is tried and what its outcome means (backend.set_cholesky);
 * Cholesky factors and those with expected signs are made here.  Such a factor stays on the device;
 * what the host wants of it, half solves, L, the determinant, is brought to that object when it is
 * first asked for. */
#include "gpu/device/devices.h"
#include "gpu/factor/trace.h"
#include "solver/gpu/numeric.h"

#define LDLT_SENTENCE "L D L^T is made on the CPU: the GPU has Cholesky and expected signs alone"
#define MIXED_SENTENCE "L D L^T with expected signs is made on the CPU in mixed precision"
#define SIGNS_SENTENCE \
    "a pivot is rounding error or has not the expected sign: L D L^T on the CPU puts it right"

/* ---- Plan ------------------------------------------------------------------------------------ */

libsolver_status NAME(gpu_plan_factorization)(device_plan *plan, int is_elsewhere, message *why)
{
    backend_plan_view view;
    CPU->view_plan(plan->cpu, &view);
    if (!is_elsewhere) {
        const int signs_in_single = plan->mixed && view.fronts.signs;
        environment_log(plan->env, signs_in_single ? MIXED_SENTENCE : LDLT_SENTENCE);
        plan->cpu_reason = signs_in_single ? LIBSOLVER_CPU_MIXED : LIBSOLVER_CPU_LDLT;
        return LIBSOLVER_OK;
    }
    if (view.fronts.nodes == 0)
        return LIBSOLVER_OK;
    const libsolver_status status =
        factor_program_build(plan->env, &view.fronts, factor_type(plan), NULL, &plan->program, why);
    if (status != LIBSOLVER_NOT_BUILT)
        return status;
    environment_log(plan->env, "factorizes on the CPU: %s", why->text);
    message_clear(why);
    plan->cpu_reason = LIBSOLVER_CPU_SIZE;
    return LIBSOLVER_OK;
}

int64_t NAME(gpu_factorization_bytes)(const device_plan *plan)
{
    backend_plan_view view;
    CPU->view_plan(plan->cpu, &view);
    return plan->program.nodes > 0
               ? device_factorizer_bytes(&plan->program, &view.fronts, factor_type(plan))
               : 0;
}

void NAME(gpu_factorization_close)(device_numeric *f)
{
    if (f->a) {
        device_factorizer_drop(&f->factorizer);
        device_values_close(&f->values);
    }
    owned_tree_free(&f->env->memory, &f->tree);
    factor_columns_free(&f->env->memory, &f->columns);
    factor_program_free(&f->env->memory, &f->in_double);
}

int NAME(gpu_falls_back)(const device_numeric *f, libsolver_status status, const char *what,
                         message *why)
{
    if (!f->may_fall_back || status == LIBSOLVER_CANCELLED)
        return 0;
    environment_log(f->env, "%s on the CPU: %s", what, why->text);
    message_clear(why);
    return 1;
}

/* ---- Values on the device -------------------------------------------------------------------- */

libsolver_status NAME(gpu_set_device_values)(void *numeric, const void *values, const void *shift,
                                             int *taken, message *why)
{
    device_numeric *f = numeric;
    backend_plan_view view;
    *taken = 0;
    if (!f->a || !f->plan->values)
        return LIBSOLVER_OK;
    CPU->view_plan(f->plan->cpu, &view);
    const libsolver_status status =
        device_values_take(&f->values, f->plan->values, view.given->start, f->n, values, shift,
                           taken, why);
    if (*taken)
        f->given = NULL;
    if (status == LIBSOLVER_NOT_BUILT ||
        (status != LIBSOLVER_OK && NAME(gpu_falls_back)(f, status, "sums values", why)))
        return LIBSOLVER_OK;
    return status;
}

libsolver_status NAME(gpu_get_device_values)(const void *numeric, void *values, message *why)
{
    const device_numeric *f = numeric;
    return device_values_get_sums(&f->values, values, why);
}

/* ---- To the host ----------------------------------------------------------------------------- */

/* The values of A as they are on the device. */
static libsolver_status fetch_values(device_numeric *f, message *why)
{
    memory *m = &f->env->memory;
    backend_plan_view view;
    CPU->view_plan(f->plan->cpu, &view);
    scalar *values = memory_new(m, view.given->start[f->n], sizeof(scalar));
    if (!values)
        return NO_MEMORY(f->env, "a copy of the values", why);
    const libsolver_status status = device_values_get(&f->values, values, why);
    if (status == LIBSOLVER_OK)
        CPU->set_values(f->cpu, values); /* which reads them once */
    memory_free(m, values);
    return status;
}

/* The scaling of the factor on the device.  That of L D L^T is brought, and that of mixed
 * precision, where one may be common to all rows: the host's would differ where rounding makes
 * another power of two of a complex entry. */
static libsolver_status bring_scaling(device_numeric *f, message *why)
{
    memory *m = &f->env->memory;
    if (f->tree.view.cholesky && !f->asked.in_single)
        return CPU->take_scaling(f->cpu, f->asked.scaling, NULL, why);
    real *scale = memory_new(m, f->n, sizeof(real));
    if (!scale)
        return NO_MEMORY(f->env, "a copy of the scaling", why);
    libsolver_status status =
        gpu_device_read(f->env->device, f->factorizer.stream, f->factorizer.scale,
                        f->n * (int64_t)sizeof(real), scale, why);
    if (status == LIBSOLVER_OK)
        status = CPU->take_scaling(f->cpu, f->asked.scaling, scale, why);
    memory_free(m, scale);
    return status;
}

static libsolver_status bring_values(device_numeric *f, message *why)
{
    if (f->state.has_values)
        return LIBSOLVER_OK;
    if (f->given)
        CPU->set_values(f->cpu, f->given);
    else
        TRY(fetch_values(f, why));
    if (f->state.is_on_device)
        TRY(bring_scaling(f, why));
    f->state.has_values = 1;
    return LIBSOLVER_OK;
}

static libsolver_status bring_factor(device_numeric *f, message *why)
{
    memory *m = &f->env->memory;
    const factor_tree *tree = &f->tree.view;
    TRY(bring_values(f, why));
    if (f->state.has_panels)
        return LIBSOLVER_OK;
    void **panel = memory_new(m, 3 * (int64_t)tree->nodes, sizeof(void *));
    if (!panel)
        return NO_MEMORY(f->env, "a copy of the factor", why);
    void **d = panel + tree->nodes, **e = d + tree->nodes;
    libsolver_status status = CPU->take_factor(f->cpu, panel, d, e, why);
    if (status == LIBSOLVER_OK)
        status = tree_solver_fetch(f->solver, tree, panel, d, e, why);
    memory_free(m, panel);
    f->state.has_panels = status == LIBSOLVER_OK;
    return status;
}

static libsolver_status bring(const device_numeric *f_,
                              libsolver_status (*what)(device_numeric *f, message *why),
                              message *why)
{
    device_numeric *f = (device_numeric *)f_; /* copies are not part of the factor's value */
    omp_set_lock(&f->copying);
    const libsolver_status status = what(f, why);
    omp_unset_lock(&f->copying);
    return status;
}

libsolver_status NAME(gpu_bring_values)(const device_numeric *f, message *why)
{
    return bring(f, bring_values, why);
}

libsolver_status NAME(gpu_bring_factor)(const device_numeric *f, message *why)
{
    return bring(f, bring_factor, why);
}

/* ---- On the device --------------------------------------------------------------------------- */

/* What the device holds for factors of the last kind is given back. */
static void close_factorizer(device_numeric *f)
{
    owned_tree_free(&f->env->memory, &f->tree);
    device_factorizer_drop(&f->factorizer);
    f->factorizer.scale = NULL;
    f->program = NULL;
}

/* The program that makes factors of this kind is the one at hand.  Where another was, that and its
 * factor make room first. */
static libsolver_status choose_program(device_numeric *f, int in_single)
{
    const device_plan *plan = f->plan;
    const factor_program *wanted = plan->mixed && !in_single ? &f->in_double : &plan->program;
    if (wanted == f->program)
        return LIBSOLVER_OK;
    if (f->program) {
        close_factorizer(f);
        tree_solver_drop(f->solver);
        f->was_adopted = 0;
    }
    if (wanted->nodes == 0) {
        backend_plan_view view;
        CPU->view_plan(plan->cpu, &view);
        TRY(factor_program_build(f->env, &view.fronts, SCALAR_TYPE, NULL, &f->in_double, f->why));
    }
    f->program = wanted;
    return LIBSOLVER_OK;
}

/* The program on the device and the shape of its factors, once; room for the panels. */
static libsolver_status open_factorizer(device_numeric *f, int in_single, void **panels)
{
    backend_plan_view view;
    CPU->view_plan(f->plan->cpu, &view);
    TRY(choose_program(f, in_single));
    if (!f->tree.view.panel) {
        TRY(CPU->view_tree(f->cpu, &f->tree, f->why));
        for (int32_t s = 0; s < f->tree.view.nodes; s++)
            ((int32_t *)f->tree.view.ld)[s] = f->program->front[s].ld;
    }
    if (!f->factorizer.scale) {
        f->factorizer.device = f->env->device;
        f->factorizer.stream = tree_solver_stream(f->solver);
        f->factorizer.is_mixed = in_single;
        const libsolver_status status =
            device_factorizer_load(&f->factorizer, f->program, &view.fronts, f->tree.view.type,
                                   f->why);
        if (status != LIBSOLVER_OK) {
            device_factorizer_drop(&f->factorizer);
            f->factorizer.scale = NULL;
            return status;
        }
        if (in_single)
            f->tree.view.wide_scale = f->factorizer.scale;
        else
            f->tree.view.scale = f->factorizer.scale;
    }
    return tree_solver_reserve(f->solver, &f->tree.view, panels, f->why);
}

/* The same as one launch, with the times of all tasks. */
static libsolver_status launch_traced(device_numeric *f, const factorizer_arguments *arguments)
{
    const factor_program *g = f->program;
    memory *m = &f->env->memory;
    uint64_t *times = memory_new(m, 2 * g->tasks, sizeof(uint64_t));
    if (!times)
        return NO_MEMORY(f->env, "the trace", f->why);
    const libsolver_status status =
        device_factorizer_timed(&f->factorizer, g, arguments, times, f->why);
    if (status == LIBSOLVER_OK)
        factor_trace(g, times, f->trace);
    memory_free(m, times);
    return status;
}

static libsolver_status run(device_numeric *f, const cholesky_request *request,
                            cholesky_outcome *outcome)
{
    void *panels;
    TRY(open_factorizer(f, request->in_single, &panels));
    const factorizer_arguments arguments = {.values = f->values.value.at,
                                            .panel = panels,
                                            .is_unscaled = request->scaling == BACKEND_UNSCALED,
                                            .shift = request->shift,
                                            .doubt_level = request->doubt_level};
    TRY(f->trace ? launch_traced(f, &arguments)
                 : device_factorizer_launch(&f->factorizer, f->program, &arguments, f->why));
    return device_factorizer_finish(&f->factorizer, f->program, outcome, f->why);
}

/* Cholesky, or L D L^T with the signs of the plan. */
static libsolver_status factorize_there(void *user, const cholesky_request *request,
                                        backend_report *report)
{
    device_numeric *f = user;
    backend_plan_view view;
    cholesky_outcome o;
    CPU->view_plan(f->plan->cpu, &view);
    if (environment_cancelled(f->env))
        return LIBSOLVER_CANCELLED;
    f->state.is_packed = 0;
    TRY(run(f, request, &o));
    if (environment_cancelled(f->env))
        return LIBSOLVER_CANCELLED;
    if (request->scaling == BACKEND_UNSCALED && o.is_equilibrated)
        environment_log(
            f->env, "entries near the ends of the range of numbers: equilibration all the same");
    report->bad_diagonal = o.nonpositive < f->n;
    if (o.nonpositive < f->n || o.failed < f->n) {
        report->failed_row = view.row_of[report->bad_diagonal ? o.nonpositive : o.failed];
        return LIBSOLVER_NOT_POSITIVE_DEFINITE;
    }
    report->smallest = o.smallest;
    report->uncertain = o.uncertain;
    f->state = (factor_state){.is_on_device = 1};
    f->asked = *request;
    return o.uncertain > 0 && !request->in_single ? bring_factor(f, f->why) : LIBSOLVER_OK;
}

/* For a factorization on the host. */
static libsolver_status values_for_host(void *user)
{
    device_numeric *f = user;
    environment_log(f->env,
                    f->tree.view.panel && !f->tree.view.cholesky ? SIGNS_SENTENCE : LDLT_SENTENCE);
    f->state = (factor_state){0};
    return bring_values(f, f->why);
}

int64_t NAME(gpu_trace_factorization)(void *numeric, libsolver_factor_task *tasks)
{
    device_numeric *f = numeric;
    f->trace = tasks;
    return !f->a ? 0 : f->program ? f->program->tasks : f->plan->program.tasks;
}

/* ---- Factorizations -------------------------------------------------------------------------- */

/* Where tasks fill the device to the end inverses that begin before it only make it later. */
static libsolver_status adopt(device_numeric *f, message *why)
{
    memory *m = &f->env->memory;
    if (!f->program->is_idle_at_end)
        return tree_solver_adopt(f->solver, &f->tree.view, f->was_adopted, NULL, why);
    if (!f->columns.run || f->columns.program != f->program) {
        factor_columns_free(m, &f->columns);
        if (factor_columns_build(m, f->program, &f->columns) != LIBSOLVER_OK)
            return NO_MEMORY(f->env, "what tells of columns", why);
    }
    const column_progress progress = factor_columns_progress(&f->columns);
    return tree_solver_adopt(f->solver, &f->tree.view, f->was_adopted, &progress, why);
}

/* The way of the factor to its solves on the device. */
static libsolver_status pack(device_numeric *f, message *why)
{
    owned_tree tree;
    if (f->state.is_on_device)
        return adopt(f, why);
    TRY(CPU->view_tree(f->cpu, &tree, why));
    const libsolver_status status = tree_solver_pack(f->solver, &tree.view, why);
    owned_tree_free(&f->env->memory, &tree);
    return status;
}

/* What was packed is given back; the factor is on the host then, if that can be. */
static libsolver_status leave_device(device_numeric *f, message *why)
{
    const libsolver_status status = f->state.is_on_device ? bring_factor(f, why) : LIBSOLVER_OK;
    tree_solver_drop(f->solver);
    return status;
}

static libsolver_status pack_or_leave(device_numeric *f, message *why)
{
    if (f->plan->schur_size > 0)
        return LIBSOLVER_OK;
    const libsolver_status status = pack(f, why);
    f->state.is_packed = status == LIBSOLVER_OK;
    f->was_adopted = f->state.is_packed && f->state.is_on_device;
    if (status == LIBSOLVER_OK)
        return status;
    if (NAME(gpu_falls_back)(f, status, "solves", why))
        return leave_device(f, why);
    tree_solver_drop(f->solver);
    return status;
}

libsolver_status NAME(gpu_factorize_here)(device_numeric *f, const backend_options *options,
                                          backend_report *report, message *why)
{
    CPU->set_cholesky(f->cpu, NULL);
    f->state = (factor_state){.has_panels = 1};
    TRY(bring_values(f, why));
    return CPU->factorize(f->cpu, options, report, why);
}

/* A and its factor, by whom it may be. */
static libsolver_status factorize(device_numeric *f, const backend_options *options,
                                  backend_report *report, message *why)
{
    const int has_program = f->plan->program.nodes > 0;
    f->state = (factor_state){0};
    libsolver_status status = LIBSOLVER_OK;
    if (f->given)
        status = device_values_put(&f->values, f->given, why);
    if (status == LIBSOLVER_OK && f->plan->schur_size == 0)
        status = tree_matrix_set(f->a, f->values.value.at, 1, why);
    if (status != LIBSOLVER_OK) {
        if (!NAME(gpu_falls_back)(f, status, "solves", why))
            return status;
        status = NAME(gpu_factorize_here)(f, options, report, why);
        report->cpu_reason = LIBSOLVER_CPU_DEVICE;
        return status;
    }
    if (!has_program) {
        TRY(NAME(gpu_factorize_here)(f, options, report, why));
        report->cpu_reason = f->plan->cpu_reason;
        return pack_or_leave(f, why);
    }
    f->calls = (backend_cholesky){f, factorize_there, values_for_host};
    CPU->set_cholesky(f->cpu, &f->calls);
    status = CPU->factorize(f->cpu, options, report, why);
    const int falls_back =
        is_of_device(status) && NAME(gpu_falls_back)(f, status, "factorizes", why);
    if (falls_back)
        status = NAME(gpu_factorize_here)(f, options, report, why);
    if (is_of_device(status)) /* no room, perhaps, for what else is there */
        tree_solver_drop(f->solver);
    TRY(status);
    f->state.has_panels |= !f->state.is_on_device;
    report->cpu_reason = f->state.is_on_device ? LIBSOLVER_CPU_AS_CHOSEN
                         : falls_back          ? LIBSOLVER_CPU_DEVICE
                                               : LIBSOLVER_CPU_LDLT;
    return pack_or_leave(f, why);
}

/* What solves that nobody waits for are told of the outcome, and the last words of the report. */
static libsolver_status conclude(device_numeric *f, libsolver_status status, backend_report *report,
                                 message *why)
{
    tree_solver_info info;
    message unused = {0};
    const libsolver_status told =
        NAME(gpu_tell_outcome)(f, status, status == LIBSOLVER_OK ? why : &unused);
    status = status == LIBSOLVER_OK ? told : status;
    tree_solver_query(f->solver, &info);
    report->device_bytes = info.device_bytes + tree_matrix_bytes(f->a) +
                           device_values_bytes(&f->values) + f->factorizer.tables.bytes +
                           f->factorizer.workspace.bytes + f->factorizer.complement.bytes;
    if (status == LIBSOLVER_OK && f->state.is_on_device)
        f->made = *report;
    return status;
}

libsolver_status NAME(gpu_factorize)(void *numeric, const backend_options *options,
                                     backend_report *report, message *why)
{
    device_numeric *f = numeric;
    backend_settled outcome = BACKEND_UNCHANGED;
    libsolver_status status = LIBSOLVER_OK;
    f->why = why;
    if (options->scaling == f->asked.scaling)
        status = NAME(gpu_make_alike)(f, NULL, report, &outcome, why);
    const int is_made = status != LIBSOLVER_OK || outcome == BACKEND_ADOPTED;
    if (!is_made)
        status = (f->a ? factorize : NAME(gpu_factorize_here))(f, options, report, why);
    f->given = NULL; /* what is wanted of them later comes from the device */
    if (outcome == BACKEND_ADOPTED)
        return status;
    if (f->a)
        return conclude(f, status, report, why);
    report->cpu_reason = LIBSOLVER_CPU_DEVICE;
    return status;
}

libsolver_status NAME(gpu_confirmed)(device_numeric *f, libsolver_status status,
                                     libsolver_cpu_reason reason, backend_report *report,
                                     message *why)
{
    report->cpu_reason = f->state.is_on_device               ? LIBSOLVER_CPU_AS_CHOSEN
                         : reason == LIBSOLVER_CPU_AS_CHOSEN ? LIBSOLVER_CPU_LDLT
                                                             : reason;
    if (!f->a)
        return status;
    if (is_of_device(status))
        tree_solver_drop(f->solver);
    f->state.has_panels |= !f->state.is_on_device;
    if (status == LIBSOLVER_OK && !(report->in_single && f->state.is_packed))
        status = pack_or_leave(f, why);
    return conclude(f, status, report, why);
}
