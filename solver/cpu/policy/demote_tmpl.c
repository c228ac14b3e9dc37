/* solver/cpu/policy/demote_tmpl.c: small pivots that may be nothing but rounding errors become zero
 * pivots of the factor that is there
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Another attempt with a higher level of zero would make much the same factor.  Here the column of
 * each such pivot is taken out of L D L^H, of which the rows behind it keep what the pivot has
 * subtracted from them, rounding errors times a few.  As without it, the complement of all zero
 * pivots is then looked at twice as precisely, and that of the others against all errors made,
 * these included.  If that does not settle the doubt, the factor becomes what it was. */
#include "dense/cpu/ldlt.h"
#include "solver/cpu/policy/policy.h"
#include <string.h>

/* What is done with a pivot of front v: the place of its first column, how many there are, and
 * where they are saved. */
typedef void change(node *v, int i, int pivots, scalar *saved);

static void take_out(node *v, int i, int pivots, scalar *saved)
{
    for (int c = i; c < i + pivots; c++) {
        const int64_t below = v->m - c - 1;
        scalar *column = v->panel + c + (int64_t)c * v->m;
        saved[0] = v->d[c];
        saved[1] = v->e[c];
        memcpy(saved + 2, column + 1, sizeof(scalar) * (size_t)below);
        memset(column + 1, 0, sizeof(scalar) * (size_t)below);
        v->d[c] = v->e[c] = 0;
        saved += 2 + below;
    }
}

static void put_back(node *v, int i, int pivots, scalar *saved)
{
    for (int c = i; c < i + pivots; c++) {
        const int64_t below = v->m - c - 1;
        v->d[c] = saved[0];
        v->e[c] = saved[1];
        memcpy(v->panel + c + (int64_t)c * v->m + 1, saved + 2, sizeof(scalar) * (size_t)below);
        saved += 2 + below;
    }
}

/* Does so with each tiny pivot, unless `does` is NULL; returns how many scalars are saved. */
static int64_t for_each(numeric *f, change *does, scalar *saved)
{
    int64_t total = 0;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            const int pivots = f->tiny[v->index[i]];
            if (pivots == 0)
                continue;
            if (does)
                does(v, i, pivots, saved + total);
            for (int c = i; c < i + pivots; c++)
                total += 2 + v->m - c - 1;
            i += pivots - 1;
        }
    }
    return total;
}

/* Counts signs, zeros and 2x2 pivots anew. */
static void count_again(const numeric *f, backend_report *report)
{
    front_report r = {.smallest = INFINITY};
    report->zero = 0;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        const scalar *d = v->d;
        for (int i = 0, last; i < v->p; i = last + 1) {
            const scalar e = v->e[i];
            last = e != 0 ? i + 1 : i;
            if (e == 0 && d[i] == 0)
                report->zero++;
            else
                NAME(ldlt_count)(f->plan->hermitian, &r, d[i], e, d[last], 1, 1);
        }
    }
    report->positive = r.positive;
    report->negative = r.negative;
    report->two_by_two = r.two_by_two;
    report->smallest = r.smallest;
}

libsolver_status NAME(cpu_demote)(numeric *f, backend_report *report)
{
    backend_report changed = *report;
    const int64_t saved = for_each(f, NULL, NULL);
    scalar *room = NAME(cpu_doubt_room)(f, saved, report);
    if (!room && saved > 0)
        return LIBSOLVER_OUT_OF_MEMORY;
    for_each(f, take_out, room);
    count_again(f, &changed);
    changed.growths = report->growths;
    changed.uncertain = report->small - f->attempt.tiny;
    f->zero_pivots = changed.zero;
    const libsolver_status status = NAME(cpu_settle_all)(f, &changed);
    if (status == LIBSOLVER_OK && changed.uncertain == 0) {
        environment_log(f->plan->env, "%lld small pivots are zeros",
                        (long long)(changed.zero - report->zero));
        *report = changed;
        return status;
    }
    for_each(f, put_back, room);
    f->zero_pivots = report->zero;
    report->growths = changed.growths;
    return status;
}
