/* solver/cpu/numeric_tmpl.c: a factorization's memory and values, and the CPU backend's table
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/backend.h"
#include "solver/cpu/numeric.h"

/* ---- What an object takes ---- */

#define MOST_PARTS 5

/* What holds the values of A. */
static int list_values(numeric *f, memory_part part[MOST_PARTS])
{
    const int64_t n = f->plan->a.n;
    part[0] = (memory_part){&f->value, numeric_nnz(f), sizeof(scalar), 0};
    part[1] = (memory_part){&f->scale, n, sizeof(real), 0};
    part[2] = (memory_part){&f->largest, n, sizeof(real), 0};
    part[3] = (memory_part){&f->row_sum, n, sizeof(real), 0};
    part[4] = (memory_part){&f->order, n, sizeof(int32_t), 0};
    return 5;
}

/* A factor by columns. */
static int list_columns(numeric *f, memory_part part[MOST_PARTS])
{
    const simplicial *s = f->plan->simplicial;
    part[0] = (memory_part){&f->columns, (int64_t)s->n + s->start[s->n], sizeof(scalar), 0};
    part[1] = (memory_part){&f->root, s->n, sizeof(real), 0};
    return 2;
}

/* The books of fronts. */
static int list_fronts(numeric *f, memory_part part[MOST_PARTS])
{
    const int64_t supernodes = f->plan->part.supernodes;
    part[0] = (memory_part){&f->node, supernodes, sizeof(node), 1};
    part[1] = (memory_part){&f->scratch, f->threads, sizeof(scratch), 1};
    part[2] = (memory_part){&f->pending, supernodes, sizeof(int32_t), 0};
    part[3] = (memory_part){&f->solve_slot, supernodes, sizeof(int64_t), 0};
    return 4;
}

void NAME(cpu_release_tree)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    if (f->node)
        NAME(cpu_release_own)(f);
    for (int t = 0; t < f->threads && f->scratch; t++) {
        memory_free(m, f->scratch[t].work);
        memory_free(m, f->scratch[t].magnitude);
        memory_free(m, f->scratch[t].slot);
    }
    memory_free(m, f->node);
    memory_free(m, f->blocks);
    memory_free(m, f->slots);
    memory_free(m, f->scratch);
    memory_free(m, f->tile_scratch);
    memory_free(m, f->pending);
    memory_free(m, f->solve_slot);
    memory_free(m, f->columns);
    memory_free(m, f->root);
    f->node = NULL;
    f->blocks = NULL;
    f->slots = f->tile_scratch = NULL;
    f->scratch = NULL;
    f->pending = NULL;
    f->solve_slot = NULL;
    f->columns = NULL;
    f->root = NULL;
    f->has_layout = f->replan = 0;
    f->blocks_bytes = f->slots_bytes = f->solve_entries = 0;
}

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
    memory_free(m, f->value);
    memory_free(m, f->scale);
    memory_free(m, f->largest);
    memory_free(m, f->row_sum);
    matching_free(m, f->matching);
    memory_free(m, f->magnitude);
    memory_free(m, f->order);
    memory_free(m, f);
}

static int cancelled(const void *env)
{
    return environment_cancelled(env);
}

/* Of L, with padding, as planned. */
static int64_t plan_entries(const cpu_plan *plan)
{
    int64_t entries = plan_has_fronts(plan) ? 0 : plan->given_forest->factor_nnz;
    for (int32_t s = 0; s < plan->part.supernodes; s++)
        entries += (int64_t)plan_rows(plan, s) * plan_pivots(plan, s);
    return entries;
}

/* Vectors are in the way where they outweigh what a factor in single precision saves, unless they
 * are small. */
int NAME(cpu_cycle_length)(const cpu_plan *plan, int far)
{
    if (!far)
        return 4;
    /* 4 bytes of an entry, 16 of the two vectors */
    const int64_t n = plan->a.n, room = plan_entries(plan) / 4;
    return n <= 20000 || room > 20 * n ? 20 : room < 8 * n ? 8 : (int)(room / n);
}

/* P A P^T and the sums of its rows. */
static void load_values(numeric *f)
{
    const pattern *a = f->plan->given;
    const scalar *values = f->given;
    real *sum = f->largest; /* in the caller's order, which is likely to have neighbours near each
                               other */
    for (int32_t i = 0; i < a->n; i++)
        sum[i] = 0;
    for (int32_t j = 0; j < a->n; j++) { /* each column begins with its diagonal */
        int64_t p = a->start[j];
        real own = scalar_abs(values[p]);
        f->value[f->plan->place[p]] = values[p];
        for (p++; p < a->start[j + 1]; p++) {
            const int64_t q = f->plan->place[p];
            f->value[q >= 0 ? q : -1 - q] =
                q >= 0 ? values[p] : scalar_mirror(values[p], f->plan->hermitian);
            const real size = scalar_abs(values[p]);
            own += size;
            sum[a->row[p]] += size;
        }
        sum[j] += own;
    }
    for (int32_t k = 0; k < a->n; k++)
        f->row_sum[k] = sum[f->plan->part.perm[k]];
}

static void set_values(void *numeric_, const void *values)
{
    numeric *f = numeric_;
    if (f->plan != f->first_plan && !f->last_kind.begins_with_ldlt) {
        NAME(cpu_release_own)(f);
        f->plan = f->first_plan;
    }
    f->given = values;
    load_values(f);
}

int NAME(cpu_take_fronts)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    if (!plan_has_fronts(f->plan)) {
        const cpu_plan *plan = cpu_plan_with_fronts(f->plan);
        if (!plan)
            return 0;
        f->plan = plan;
        load_values(f);
    }
    if (f->node)
        return 1;
    f->threads = f->plan->tasks.threads;
    memory_part part[MOST_PARTS];
    const int parts = list_fronts(f, part), complete = memory_take(m, part, parts);
    if (!complete)
        memory_release(m, part, parts);
    return complete;
}

int NAME(cpu_take_tree)(numeric *f)
{
    if (!f->plan->simplicial)
        return NAME(cpu_take_fronts)(f);
    memory_part part[MOST_PARTS];
    return memory_take(&f->plan->env->memory, part, list_columns(f, part));
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

static libsolver_status create(const void *plan_, message *why, void **out)
{
    const cpu_plan *plan = plan_;
    memory *m = &plan->env->memory;
    memory_part part[MOST_PARTS];
    numeric *f = *out = memory_new(m, 1, sizeof(numeric));
    if (f) {
        *f = object_of(plan);
        if (memory_take(m, part, list_values(f, part)) &&
            (f->single ? f->single->backend->create(plan, why, &f->factor) == LIBSOLVER_OK
                       : NAME(cpu_take_tree)(f)))
            return LIBSOLVER_OK;
    }
    destroy(f);
    *out = NULL;
    return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the factor wanted %lld more bytes",
                (long long)m->wanted);
}

/* ---- What it will take ---- */

/* What cpu_take_tree and a first cpu_attempt take; f is given solve_entries. */
static libsolver_status foresee_tree(numeric *f, int64_t *bytes)
{
    memory *m = &f->plan->env->memory;
    memory_part part[MOST_PARTS];
    *bytes = f->plan->simplicial ? memory_sum(part, list_columns(f, part)) : 0;
    if (is_simplicial(f))
        return LIBSOLVER_OK;
    f->threads = f->plan->tasks.threads;
    const int parts = list_fronts(f, part);
    int64_t layout = 0;
    const libsolver_status status = memory_take(m, part, parts)
                                        ? NAME(cpu_foresee_layout)(f, &layout)
                                        : LIBSOLVER_OUT_OF_MEMORY;
    memory_release(m, part, parts);
    *bytes += memory_sum(part, parts) + layout;
    return status;
}

libsolver_status NAME(cpu_foresee)(const cpu_plan *plan, int cholesky, int matches, int64_t *bytes)
{
    numeric f = object_of(plan);
    memory_part part[MOST_PARTS];
    int64_t factor;
    f.cholesky = cholesky;
    TRY(f.single ? f.single->foresee(plan, cholesky, &factor) : foresee_tree(&f, &factor));
    *bytes = memory_counted(1, sizeof(numeric)) + memory_sum(part, list_values(&f, part)) + factor +
             NAME(cpu_own_workspace_bytes)(&f, 1) +
             (matches && !cholesky ? NAME(cpu_matching_bytes)(plan) : 0);
    return LIBSOLVER_OK;
}

static void predict(const void *plan_, int64_t *host_bytes, int64_t *device_bytes)
{
    const cpu_plan *plan = plan_;
    *host_bytes = plan->foreseen_bytes;
    *device_bytes = 0;
}

static void permutation(const void *plan_, int64_t *permutation)
{
    const cpu_plan *plan = plan_;
    for (int32_t k = 0; k < plan->a.n; k++)
        permutation[k] = plan->part.perm[plan->simplicial ? plan->simplicial->order[k] : k];
}

static libsolver_status prepare(const backend_problem *problem, message *why, void **plan)
{
    cpu_plan *p = NULL;
    *plan = NULL;
    TRY(cpu_plan_create(problem, why, &p));
    if (NAME(cpu_foresee)(p, problem->foresees_cholesky, problem->foresees_matching,
                          &p->foreseen_bytes) != LIBSOLVER_OK) {
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
    .prepare = prepare,
    .discard = discard,
    .predict = predict,
    .permutation = permutation,
    .create = create,
    .destroy = destroy,
    .set_values = set_values,
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
    .export_l = NAME(cpu_export_l),
    .export_d = NAME(cpu_export_d),
    .export_scaling = NAME(cpu_export_scaling),
};
