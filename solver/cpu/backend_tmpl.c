/* solver/cpu/backend_tmpl.c: the CPU backend's table: its objects made, predicted and freed
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/backend.h"
#include "solver/cpu/policy/policy.h"

static void destroy(void *numeric_)
{
    numeric *f = numeric_;
    if (!f)
        return;
    memory *m = &f->plan->env->memory;
    if (f->factor)
        f->single->backend->destroy(f->factor);
    NAME(cpu_release_tree)(f);
    NAME(cpu_free_doubt)(f);
    NAME(cpu_release_values)(f);
    memory_pool_free(f->pool);
    memory_free(m, f);
}

static int cancelled(const void *env)
{
    return environment_cancelled(env);
}

/* What is known of an object from the plan alone. */
static numeric object_of(const cpu_plan *plan)
{
    numeric f = {.plan = plan,
                 .first_plan = plan,
                 .watch = {.cancelled = cancelled, .user = plan->env}};
    f.single = plan->mixed ? single_for(SCALAR_TYPE) : NULL;
    f.is_inner = plan->mixed && !f.single;
    f.cycle = NAME(cpu_cycle_length)(plan, f.single != NULL);
    return f;
}

static libsolver_status create(const void *plan_, void **out, message *why)
{
    const cpu_plan *plan = plan_;
    memory *m = &plan->env->memory;
    numeric *f = *out = memory_new(m, 1, sizeof(numeric));
    if (f) {
        *f = object_of(plan);
        /* as much again for what delayed pivots and further columns want; in mixed precision the
         * object in single takes a part of what is predicted */
        f->pool =
            plan->mixed ? NULL : memory_pool_new(m, plan->predicted_bytes, plan->predicted_bytes);
        if (NAME(cpu_take_values)(f) &&
            (f->single ? f->single->backend->create(plan, &f->factor, why) == LIBSOLVER_OK
                       : NAME(cpu_take_tree)(f)))
            return LIBSOLVER_OK;
    }
    destroy(f);
    *out = NULL;
    return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the factor wanted %lld more bytes",
                (long long)m->wanted);
}

/* Bytes that a factor of this kind and its workspace for one column take until a first solve is
 * done, if no pivot is delayed, perturbed or zero.  matches: it is scaled by matching; elsewhere:
 * its panels are not here.  places: where its fronts lie, if it has any; to be freed.
 * OUT_OF_MEMORY. */
static libsolver_status predict_bytes(const cpu_plan *plan, int cholesky, int matches,
                                      int elsewhere, cpu_places *places, int64_t *bytes)
{
    numeric f = object_of(plan);
    int64_t factor;
    f.cholesky = cholesky;
    TRY(f.single ? f.single->predict(plan, cholesky, elsewhere, &factor)
                 : NAME(cpu_predict_tree)(&f, elsewhere, places, &factor));
    *bytes = memory_counted(1, sizeof(numeric)) + NAME(cpu_values_bytes)(&f) + factor +
             NAME(cpu_own_workspace_bytes)(&f, 1) +
             (matches && !cholesky ? NAME(cpu_matching_bytes)(plan) : 0);
    return LIBSOLVER_OK;
}

static void predict(const void *plan_, int64_t *host_bytes, int64_t *device_bytes)
{
    const cpu_plan *plan = plan_;
    *host_bytes = plan->predicted_bytes;
    *device_bytes = 0;
}

static void permutation(const void *plan_, int64_t *permutation)
{
    const cpu_plan *plan = plan_;
    for (int32_t k = 0; k < plan->a.n; k++)
        permutation[k] = plan->part.perm[plan->simplicial ? plan->simplicial->order[k] : k];
}

static libsolver_status prepare(const backend_problem *problem, void **plan, message *why)
{
    cpu_plan *p = NULL;
    *plan = NULL;
    TRY(cpu_plan_create(problem, &p, why));
    const int cholesky = problem->expects_cholesky, matches = problem->expects_matching;
    cpu_places elsewhere = {.block = NULL};
    libsolver_status status = predict_bytes(p, cholesky, matches, 0, &p->places, &p->bytes_here);
    p->predicted_bytes = p->bytes_here;
    if (status == LIBSOLVER_OK && problem->is_elsewhere)
        status = predict_bytes(p, cholesky, matches, 1, &elsewhere, &p->predicted_bytes);
    cpu_places_free(&problem->env->memory, &elsewhere);
    if (status != LIBSOLVER_OK) {
        cpu_plan_free(p);
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY,
                    "the plan of the factorization needs %lld more bytes",
                    (long long)problem->env->memory.wanted);
    }
    *plan = p;
    return LIBSOLVER_OK;
}

static void discard(void *plan)
{
    cpu_plan_free(plan);
}

const backend NAME(cpu_backend) = {
    .name = "cpu",
    .costs = &cpu_costs,
    .cholesky_costs = &cpu_costs,
    .prepare = prepare,
    .discard = discard,
    .predict = predict,
    .permutation = permutation,
    .create = create,
    .destroy = destroy,
    .set_values = NAME(cpu_set_values),
    .factorize = NAME(cpu_factorize),
    .confirm = NAME(cpu_confirm),
    .workspace_bytes = NAME(cpu_workspace_bytes),
    .workspace_create = NAME(cpu_workspace_create),
    .workspace_destroy = NAME(cpu_workspace_destroy),
    .solve = NAME(cpu_solve),
    .refine = NAME(cpu_refine),
    .determinant = NAME(cpu_determinant),
    .condition = NAME(cpu_condition),
    .forward_error = NAME(cpu_forward_error),
    .schur_complement = NAME(cpu_schur_complement),
    .schur_solve = NAME(cpu_schur_solve),
    .view_plan = NAME(cpu_view_plan),
    .view = NAME(cpu_view),
    .view_tree = NAME(cpu_view_tree),
    .set_cholesky = NAME(cpu_set_cholesky),
    .take_scaling = NAME(cpu_take_scaling),
    .take_factor = NAME(cpu_take_factor),
    .set_solver = NAME(cpu_set_solver),
    .set_trial = NAME(cpu_set_trial),
    .export_l = NAME(cpu_export_l),
    .export_d = NAME(cpu_export_d),
    .export_scaling = NAME(cpu_export_scaling),
};

#if defined(PREC_s) || defined(PREC_c)
static libsolver_status predict_single(const cpu_plan *plan, int cholesky, int elsewhere,
                                       int64_t *bytes)
{
    cpu_places places = {.block = NULL};
    const libsolver_status status = predict_bytes(plan, cholesky, 0, elsewhere, &places, bytes);
    cpu_places_free(&plan->env->memory, &places);
    return status;
}

const cpu_single NAME(cpu_single) = {
    .backend = &NAME(cpu_backend),
    .attempt = NAME(cpu_single_attempt),
    .finish = NAME(cpu_single_finish),
    .predict = predict_single,
    .workspace_fit = NAME(cpu_single_workspace_fit),
    .workspace_free = NAME(cpu_workspace_free),
    .solve_block = NAME(cpu_single_solve_block),
};
#endif
