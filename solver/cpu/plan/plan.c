/* solver/cpu/plan/plan.c: the CPU backend's relaxed supernodes, index maps and schedule
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/plan.h"
#include <string.h>

/* A fixed cost, gemm whose rate grows with k, and moving the contribution block once, and the panel
 * as often as a few solves do.  Fitted to `libsolver bench` on two cores of an AMD EPYC 9004 with
 * OpenBLAS 0.3.21; the panel's share makes solves of lap2d:500 and kkt_cont-201 10 % faster than
 * none would, and costs no factorization anything. */
double cpu_front_seconds(int64_t k, int64_t m)
{
    const double dk = (double)k, dm = (double)m, dr = dm - dk;
    const double flops_of_column = dm * dm - dm * dk + dk * dk / 3;
    return 4e-7 + flops_of_column * (dk + 16) * (1 / 2e10) + 1e-9 * dr * dr + 3.5e-9 * dm * dk;
}

/* Work of a factorization: flops with a constant for what is not flops. */
static double factorize_work(int64_t k, int64_t m)
{
    return (double)k * (double)m * (double)m + 10 * (double)m + 1000;
}

/* Seconds predicted of all fronts from which other threads are woken: 0.5 ms of Cholesky, 1 to 2 of
 * L D L^T.  Below they gain up to a third where processors are idle (bcsstk14 0.37 ms instead of
 * 0.54), and cost several slices of the scheduler's time, of 4 ms each, where they are not. */
#define SECONDS_FOR_THREADS 1.8e-3
/* Real Cholesky takes half of what is predicted to nearly all of it, L D L^T up to twice as long;
 * in complex arithmetic they take this many times as long. */
#define COMPLEX_FACTOR 3

static double predicted_seconds(const partition *part)
{
    double seconds = 0;
    for (int32_t s = 0; s < part->supernodes; s++)
        seconds += cpu_front_seconds(part->first[s + 1] - part->first[s],
                                     part->row_start[s + 1] - part->row_start[s]);
    return seconds;
}

/* Work of a solve: entries read, and their like for each row and each front. */
static double solve_work(int64_t k, int64_t m)
{
    return (double)k * (double)m + 6 * (double)m + 80;
}
/* What is worth a second thread: about 0.1 ms.  A further column takes about a seventh of the time
 * of the first. */
#define SOLVE_WORK_FOR_THREADS 4e5
#define SOLVE_WORK_FOR_THREADS_OF_BLOCK \
    8e5 /* they gain less there: a quarter of 0.25 ms where processors are idle */
#define SOLVE_WORK_OF_COLUMN 0.15
/* Of one thread, where the factor is read from memory. */
#define SECONDS_OF_SOLVE_WORK 1.5e-9
/* Trees of less are not cut: no usual number of columns is worth it. */
#define SOLVE_WORK_FOR_SCHEDULE 4e4

static double work_of_columns(int64_t columns)
{
    return 1 + SOLVE_WORK_OF_COLUMN * (double)(columns - 1);
}

int cpu_plan_solve_threads(const cpu_plan *plan, int64_t columns)
{
    return plan->solves.work * work_of_columns(columns) <
                   (columns > 1 ? SOLVE_WORK_FOR_THREADS_OF_BLOCK : SOLVE_WORK_FOR_THREADS)
               ? 1
               : plan->solves.threads;
}

double cpu_plan_solve_seconds(const cpu_plan *plan, int64_t columns)
{
    return SECONDS_OF_SOLVE_WORK * plan->solves.work * work_of_columns(columns);
}

/* Of one front.  where: place of a row in it. */
static void index_front(cpu_plan *plan, int32_t s, int32_t *where)
{
    const partition *part = &plan->part;
    const int32_t *row = part->row + part->row_start[s];
    const int32_t rows = (int32_t)plan_rows(plan, s);
    for (int32_t t = 0; t < rows; t++)
        where[row[t]] = t;
    for (int64_t p = plan->a.start[part->first[s]]; p < plan->a.start[part->first[s + 1]]; p++)
        plan->local[p] = where[plan->a.row[p]];
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c])
        for (int64_t p = part->row_start[c] + plan_pivots(plan, c); p < part->row_start[c + 1]; p++)
            plan->position[p] = where[part->row[p]];
}

/* Most threads that share the indexing of fronts: each has an array of all rows. */
#define MOST_THREADS 8

/* local: places of A's entries in their fronts; position: places of a front's rows in its
 * parent's. */
static libsolver_status index_fronts(memory *m, cpu_plan *plan)
{
    const partition *part = &plan->part;
    const int32_t supernodes = part->supernodes;
    const int most = plan->env->threads < MOST_THREADS ? plan->env->threads : MOST_THREADS,
              parts = threads_for_fronts(most, supernodes);
    int32_t *where = memory_new(m, (int64_t)parts * part->n, sizeof(int32_t));
    if (!where)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = supernodes - 1; s >= 0; s--) {
        plan->child[s] = -1;
        const int32_t above = part->above[s];
        plan->sibling[s] = above >= 0 ? plan->child[above] : -1;
        if (above >= 0) {
            plan->child[above] = s;
            plan->children[above]++;
        }
    }
    for (int32_t s = 0; s < supernodes; s++)
        plan->largest_front = plan_rows(plan, s) > plan->largest_front ? (int32_t)plan_rows(plan, s)
                                                                       : plan->largest_front;
#pragma omp parallel for num_threads(plan->env->threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++)
        for (int32_t s = equal_cut(supernodes, parts, q); s < equal_cut(supernodes, parts, q + 1);
             s++)
            index_front(plan, s, where + (int64_t)q * part->n);
    memory_free(m, where);
    return LIBSOLVER_OK;
}

/* Where the rows are that are not eliminated: they come last, at the top of the last tree. */
static libsolver_status find_schur_node(cpu_plan *plan, const backend_problem *problem,
                                        message *why)
{
    const partition *part = &plan->part;
    if (plan->schur_size == 0)
        return LIBSOLVER_OK;
    plan->schur_node = part->supernodes - 1;
    int in_order = part->first[plan->schur_node] <= plan->schur_first;
    for (int32_t k = 0; k < plan->schur_size && in_order; k++)
        in_order = part->perm[plan->schur_first + k] == problem->schur_rows[k];
    return in_order ? LIBSOLVER_OK
                    : FAIL(why, LIBSOLVER_INTERNAL,
                           "the rows of the Schur complement are in several supernodes");
}

/* The matching that is there, so that that of the first factorization need not begin anew. */
static libsolver_status keep_matching(memory *m, cpu_plan *plan, const backend_problem *problem)
{
    const int32_t n = plan->a.n;
    plan->matched_row = memory_new(m, n, sizeof(int32_t));
    plan->matched_dual = memory_new(m, n, sizeof(double));
    if (!plan->matched_row || !plan->matched_dual)
        return LIBSOLVER_OUT_OF_MEMORY;
    memcpy(plan->matched_row, problem->matched_row, sizeof(int32_t) * (size_t)n);
    memcpy(plan->matched_dual, problem->matched_dual, sizeof(double) * (size_t)n);
    return LIBSOLVER_OK;
}

/* P A P^T in the forest's order. */
static libsolver_status plan_columns(memory *m, cpu_plan *plan)
{
    const forest *f = plan->given_forest;
    plan->part.n = f->n;
    plan->part.perm = memory_new(m, f->n, sizeof(int32_t));
    if (!plan->part.perm)
        return LIBSOLVER_OUT_OF_MEMORY;
    memcpy(plan->part.perm, f->perm, sizeof(int32_t) * (size_t)f->n);
    return pattern_permute(m, plan->env->threads, plan->given, f->perm, &plan->a, plan->place);
}

/* Relaxed supernodes, P A P^T in their order, and what belongs to fronts. */
static libsolver_status plan_fronts(memory *m, cpu_plan *plan, const backend_problem *problem,
                                    message *why)
{
    const int64_t nnz = plan->given->start[plan->given->n];
    TRY(partition_build(m, problem->env->threads, plan->given, plan->given_forest,
                        cpu_front_seconds, &plan->part, &plan->a, plan->place));
    plan->local = memory_new(m, nnz, sizeof(int32_t));
    plan->position = memory_new(m, plan->part.row_start[plan->part.supernodes], sizeof(int32_t));
    plan->children = memory_zeroed(m, plan->part.supernodes, sizeof(int32_t));
    plan->child = memory_new(m, plan->part.supernodes, sizeof(int32_t));
    plan->sibling = memory_new(m, plan->part.supernodes, sizeof(int32_t));
    if (!plan->local || !plan->position || !plan->children || !plan->child || !plan->sibling)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(index_fronts(m, plan));
    TRY(find_schur_node(plan, problem, why));
    const double seconds = predicted_seconds(&plan->part);
    TRY(schedule_build(m, &plan->part, factorize_work, 0,
                       seconds < SECONDS_FOR_THREADS ? 1 : problem->env->threads, &plan->tasks));
    plan->seconds = problem->type == LIBSOLVER_Z || problem->type == LIBSOLVER_C
                        ? COMPLEX_FACTOR * seconds
                        : seconds;
    return schedule_build(m, &plan->part, solve_work, SOLVE_WORK_FOR_SCHEDULE,
                          problem->env->threads, &plan->solves);
}

/* The signs that are expected of pivots, in the plan's order. */
static libsolver_status keep_signs(memory *m, cpu_plan *plan, const backend_problem *problem)
{
    plan->sign = memory_new(m, plan->a.n, 1);
    for (int32_t k = 0; k < plan->a.n && plan->sign; k++)
        plan->sign[k] = problem->expected_signs[plan->part.perm[k]];
    return plan->sign ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

libsolver_status cpu_plan_create(const backend_problem *problem, cpu_plan **out, message *why)
{
    memory *m = &problem->env->memory;
    const int64_t nnz = problem->a->start[problem->a->n];
    const int by_columns = problem->keeps_cholesky && simplicial_pays(problem->forest);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    cpu_plan *plan = *out = memory_zeroed(m, 1, sizeof(cpu_plan));
    if (!plan)
        goto done;
    plan->env = problem->env;
    plan->given = problem->a;
    plan->given_forest = problem->forest;
    plan->hermitian = problem->symmetry == LIBSOLVER_HERMITIAN;
    plan->mixed = problem->mixed;
    plan->schur_node = -1;
    plan->schur_size = problem->schur_size;
    plan->schur_first = problem->a->n - plan->schur_size;
    plan->packs = problem->keeps_cholesky;
    plan->place = memory_new(m, nnz, sizeof(int64_t));
    plan->a.start = memory_new(m, (int64_t)problem->a->n + 1, sizeof(int64_t));
    plan->a.row = memory_new(m, nnz, sizeof(int32_t));
    if (!plan->place || !plan->a.start || !plan->a.row)
        goto done;
    /* in mixed precision the factor shares its plan with the matrix, which keeps its order */
    status =
        by_columns && !plan->mixed ? plan_columns(m, plan) : plan_fronts(m, plan, problem, why);
    if (status == LIBSOLVER_OK && problem->expected_signs)
        status = keep_signs(m, plan, problem);
    if (status == LIBSOLVER_OK && problem->matched_row)
        status = keep_matching(m, plan, problem);
    if (status == LIBSOLVER_OK && by_columns)
        status = simplicial_build(m, &plan->a, problem->forest->factor_nnz,
                                  problem->forest->factor_flops, &plan->simplicial);
done:
    if (status != LIBSOLVER_OK) {
        if (status == LIBSOLVER_OUT_OF_MEMORY)
            FAIL(why, status, "the plan of the factorization needs %lld more bytes",
                 (long long)m->wanted);
        cpu_plan_free(plan);
        *out = NULL;
    }
    return status;
}

const cpu_plan *cpu_plan_with_fronts(const cpu_plan *plan)
{
    if (plan_has_fronts(plan))
        return plan;
    cpu_plan *made = NULL, *there = atomic_load(&plan->by_fronts);
    if (there)
        return there;
    const backend_problem problem = {.env = plan->env,
                                     .a = plan->given,
                                     .forest = plan->given_forest,
                                     .symmetry = plan->hermitian ? LIBSOLVER_HERMITIAN
                                                                 : LIBSOLVER_SYMMETRIC,
                                     .matched_row = plan->matched_row,
                                     .matched_dual = plan->matched_dual};
    message why;
    if (cpu_plan_create(&problem, &made, &why) != LIBSOLVER_OK)
        return NULL;
    if (atomic_compare_exchange_strong(&((cpu_plan *)plan)->by_fronts, &there, made))
        return made;
    cpu_plan_free(made); /* another caller was first */
    return there;
}

void cpu_places_free(memory *m, cpu_places *p)
{
    memory_free(m, p->block);
    p->block = NULL;
}

void cpu_plan_free(cpu_plan *plan)
{
    if (!plan)
        return;
    memory *m = &plan->env->memory;
    cpu_plan_free(atomic_load(&plan->by_fronts));
    partition_free(m, &plan->part);
    schedule_free(m, &plan->tasks);
    schedule_free(m, &plan->solves);
    simplicial_free(m, plan->simplicial);
    cpu_places_free(m, &plan->places);
    memory_free(m, plan->child);
    memory_free(m, plan->children);
    memory_free(m, plan->sibling);
    memory_free(m, plan->position);
    memory_free(m, plan->a.start);
    memory_free(m, plan->a.row);
    memory_free(m, plan->place);
    memory_free(m, plan->local);
    memory_free(m, plan->sign);
    memory_free(m, plan->matched_row);
    memory_free(m, plan->matched_dual);
    memory_free(m, plan);
}
