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
static void move_schur_rows(numeric *f, int32_t s, scratch *t)
{
    const node *v = &f->node[s];
    const int own = plan_pivots(f->plan, s), size = f->plan->schur_size, delayed = v->k - own;
    const int swaps = delayed < size ? delayed : size;
    for (int i = 0; i < swaps; i++)
        NAME(ldlt_swap)
    (f->plan->hermitian, v->m, v->panel, own - size + i, v->k - swaps + i, t->slot, t->magnitude);
}

libsolver_status NAME(cpu_eliminate_front)(numeric *f, int32_t s, scratch *t)
{
    node *v = &f->node[s];
    const cpu_plan *plan = f->plan;
    const int kept = schur_rows_of(f, s), judged = v->m - kept, k = judged < v->k ? judged : v->k;
    for (int i = 0; i < v->k; i++)
        t->slot[i] = i;
    if (s == plan->schur_node)
        move_schur_rows(f, s, t);
    if (plan->sign)
        NAME(front_ldlt_signed)
    (plan->hermitian, v->m, k, v->panel, plan->sign + plan->part.first[s], v->d, v->e, t->magnitude,
     t->work, &f->watch, &t->report);
    else
    {
        const int most =
            plan->part.above[s] >= 0 && f->attempt.may_match ? INT32_MAX : most_delayed(f, s);
        NAME(front_ldlt)
        (plan->hermitian, v->m, k, judged, v->panel, t->slot, v->d, v->e, t->magnitude,
         f->attempt.pivot_threshold, f->attempt.zero_level, most, t->work, &f->watch, &t->report);
    }
    v->p = t->report.eliminated;
    t->delayed += k - v->p;
    if (atomic_load(&f->watch.stopped))
        return LIBSOLVER_CANCELLED;
    return k - v->p > most_delayed(f, s) ? TOO_MANY_DELAYS : LIBSOLVER_OK;
}

void NAME(cpu_finish_schur_node)(numeric *f, scalar *work)
{
    node *v = &f->node[f->plan->schur_node];
    NAME(front_update_rest)(f->cholesky || f->plan->hermitian, v->m, v->p, v->panel, v->d, v->e,
                            work, &f->watch);
    v->k = v->p;
}
