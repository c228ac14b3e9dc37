/* solver/cpu/factor/eliminate_tmpl.c: LDL^T of one assembled front: which rows decide, which
 * columns may wait for the parent
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/factor/numeric.h"
#include "dense/cpu/ldlt.h"

/* Most columns that s may delay: its part of what its parent takes from its children.  It is known
 * from the pattern, so that the same columns are perturbed whatever the threads do. */
static int most_delayed(const numeric *f, int32_t s)
{
    const int32_t above = f->plan->part.above[s];
    return above < 0                           ? 0
           : f->attempt.delay_cap == INT32_MAX ? INT32_MAX
                                               : f->attempt.delay_cap / f->plan->children[above];
}

/* Rows of the front of s that are not eliminated anywhere; they are its last. */
static int schur_rows_of(const numeric *f, int32_t s)
{
    const cpu_plan *plan = f->plan;
    const int32_t *row = plan->part.row + plan->part.row_start[s];
    int t = plan_rows(plan, s);
    while (t > 0 && plan_keeps_row(plan, row[t - 1]))
        t--;
    return plan_rows(plan, s) - t;
}

/* The front of the rows that are not eliminated: they come behind the columns that were delayed to
 * it. */
static void move_schur_rows(const cpu_plan *plan, int own, const front_candidates *front)
{
    const int size = plan->schur_size, delayed = front->k - own;
    const int swaps = delayed < size ? delayed : size;
    for (int i = 0; i < swaps; i++)
        NAME(ldlt_swap)(front, own - size + i, front->k - swaps + i);
}

libsolver_status NAME(cpu_eliminate_front)(numeric *f, int32_t s, scratch *t)
{
    node *v = &f->node[s];
    const cpu_plan *plan = f->plan;
    front_candidates front = {.hermitian = plan->hermitian,
                              .m = v->m,
                              .k = v->k,
                              .pivot_rows = v->m - schur_rows_of(f, s),
                              .panel = v->panel,
                              .index = t->permutation,
                              .d = v->d,
                              .e = v->e,
                              .magnitude = t->magnitude,
                              .work = t->work,
                              .watch = &f->watch,
                              .report = &t->report};
    for (int i = 0; i < v->k; i++)
        t->permutation[i] = i;
    if (s == plan->schur_node)
        move_schur_rows(plan, plan_pivots(plan, s), &front);
    front.k = front.pivot_rows < v->k ? front.pivot_rows : v->k;
    if (plan->sign) {
        NAME(front_ldlt_signed)(&front, plan->sign + plan->part.first[s]);
    } else {
        const int most =
            plan->part.above[s] >= 0 && f->attempt.may_match ? INT32_MAX : most_delayed(f, s);
        NAME(front_ldlt)(&front, f->attempt.pivot_threshold, f->attempt.zero_level, most);
    }
    v->p = t->report.eliminated;
    t->delayed += front.k - v->p;
    if (atomic_load(&f->watch.stopped))
        return LIBSOLVER_CANCELLED;
    return front.k - v->p > most_delayed(f, s) ? TOO_MANY_DELAYS : LIBSOLVER_OK;
}

void NAME(cpu_finish_schur_node)(numeric *f, scalar *work)
{
    node *v = &f->node[f->plan->schur_node];
    NAME(front_update_rest)(f->cholesky || f->plan->hermitian, v->m, v->p, v->panel, v->d, v->e,
                            work, &f->watch);
    v->k = v->p;
}
