/* solver/matching/matching.c: scaling by a maximum-product matching  [Duff, Koster 2001; Duff,
 * Pralet 2005]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With costs c(i,j) = log2(max_k |a(k,j)|) - log2 |a(i,j)| >= 0, a permutation of largest product
 * is an assignment of least cost.  Dual variables with u(i) + v(j) <= c(i,j), equal on the
 * assignment, are the scaling.  Columns are assigned one by one along shortest augmenting paths in
 * the reduced costs c - u - v >= 0. */
#include "solver/matching/matching.h"
#include <math.h>
#include <string.h>

/* Reduced costs up to this, in powers of two, count as 0: they are rounding errors of the duals. */
#define TIGHT 1e-10

/* Columns with more entries, n their number, are assigned last: AMD calls such rows dense.  Before,
 * each search for another column's row would go through one of them to most of the matrix:
 * kkt_boyd1's 18 of up to 93 thousand took 2 to 6 seconds, now 0.1. */
static int is_long(const matching *w, int32_t j)
{
    return (double)(w->start[j + 1] - w->start[j]) > 16 + 10 * sqrt((double)w->n);
}

/* Its blocks, for so many entries of the full matrix. */
#define PARTS 11
static void list_parts(matching *w, int64_t n, int64_t entries, memory_part part[PARTS])
{
    const memory_part all[PARTS] = {
        {&w->start, n + 1, sizeof(int64_t), 1}, {&w->row, entries, sizeof(int32_t), 0},
        {&w->cost, entries, sizeof(double), 0}, {&w->u, n, sizeof(double), 0},
        {&w->v, n, sizeof(double), 0},          {&w->distance, n, sizeof(double), 0},
        {&w->row_of, n, sizeof(int32_t), 0},    {&w->column_of, n, sizeof(int32_t), 0},
        {&w->from, n, sizeof(int32_t), 0},      {&w->heap, n, sizeof(int32_t), 0},
        {&w->at, n, sizeof(int32_t), 0}};
    memcpy(part, all, sizeof all);
}

/* Of the full matrix. */
static int64_t count_entries(const pattern *a)
{
    int64_t entries = 0;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            entries += 1 + (a->row[p] != j);
    return entries;
}

int64_t matching_bytes(const pattern *a)
{
    matching w;
    memory_part part[PARTS];
    list_parts(&w, a->n, count_entries(a), part);
    return memory_counted(1, sizeof(matching)) + memory_sum(part, PARTS);
}

/* start(j) has gone from where column j begins to where it ends, as its entries came. */
static void columns_are_full(matching *w)
{
    memmove(w->start + 1, w->start, sizeof(int64_t) * (size_t)w->n);
    w->start[0] = 0;
}

libsolver_status matching_create(memory *m, const pattern *a, matching **out)
{
    const int32_t n = a->n;
    memory_part part[PARTS];
    matching *w = *out = memory_zeroed(m, 1, sizeof(matching));
    if (!w)
        return LIBSOLVER_OUT_OF_MEMORY;
    w->n = n;
    w->lower = *a;
    list_parts(w, n, count_entries(a), part);
    if (!memory_take(m, part, PARTS)) {
        matching_free(m, w);
        *out = NULL;
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            w->start[j + 1]++;
            w->start[a->row[p] + 1] += a->row[p] != j;
        }
    for (int32_t j = 0; j < n; j++)
        w->start[j + 1] += w->start[j];
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            w->row[w->start[j]++] = i;
            if (i != j)
                w->row[w->start[i]++] = j;
        }
    columns_are_full(w);
    return LIBSOLVER_OK;
}

void matching_free(memory *m, matching *w)
{
    if (!w)
        return;
    memory_part part[PARTS];
    list_parts(w, 0, 0, part);
    memory_release(m, part, PARTS);
    memory_free(m, w);
}

/* ---- a heap of rows by distance, ties by number; at[i]: place of row i, -1: not in it, -2:
 * settled ---- */

static int before(const matching *w, int32_t a, int32_t b)
{
    return w->distance[a] < w->distance[b] || (w->distance[a] == w->distance[b] && a < b);
}

static void heap_put(matching *w, int32_t place, int32_t i)
{
    w->heap[place] = i;
    w->at[i] = place;
}

static void heap_up(matching *w, int32_t place, int32_t i)
{
    while (place > 0 && before(w, i, w->heap[(place - 1) / 2])) {
        heap_put(w, place, w->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_put(w, place, i);
}

/* The last row takes the place of the one that leaves, and goes up or down from there. */
static void heap_remove(matching *w, int32_t place, int32_t *size)
{
    const int32_t last = w->heap[--*size];
    if (place == *size)
        return;
    if (place > 0 && before(w, last, w->heap[(place - 1) / 2])) {
        heap_up(w, place, last);
        return;
    }
    for (int32_t child; (child = 2 * place + 1) < *size; place = child) {
        if (child + 1 < *size && before(w, w->heap[child + 1], w->heap[child]))
            child++;
        if (!before(w, w->heap[child], last))
            break;
        heap_put(w, place, w->heap[child]);
    }
    heap_put(w, place, last);
}

static double lesser(double a, double b)
{
    return b < a ? b : a;
}

/* ---- assignment
 * ------------------------------------------------------------------------------------ */

static double reduced(const matching *w, int64_t p, int32_t j)
{
    const double r = w->cost[p] - w->u[w->row[p]] - w->v[j];
    return r > 0 ? r : 0; /* rounding */
}

/* A free row that column j can take at reduced cost 0, -1 if there is none.  next[j]: where its
 * last search ended: rows do not become free again. */
static int32_t free_row(const matching *w, int32_t j, int32_t *next)
{
    for (int64_t p = w->start[j] + next[j]; p < w->start[j + 1]; p++) {
        next[j] = (int32_t)(p - w->start[j]);
        if (isfinite(w->cost[p]) && w->column_of[w->row[p]] < 0 && reduced(w, p, j) == 0)
            return w->row[p];
    }
    return -1;
}

static void take(matching *w, int32_t j, int32_t i)
{
    w->column_of[i] = j;
    w->row_of[j] = i;
}

/* Duals of rows that leave room for those of columns, and no assignment. */
static void start_rows(matching *w)
{
    const int32_t n = w->n;
    for (int32_t i = 0; i < n; i++) {
        w->u[i] = INFINITY;
        w->row_of[i] = w->column_of[i] = w->at[i] = -1;
    }
    for (int64_t p = 0; p < w->start[n]; p++)
        w->u[w->row[p]] = lesser(w->u[w->row[p]], w->cost[p]);
    for (int32_t i = 0; i < n; i++)
        w->u[i] = isfinite(w->u[i]) ? w->u[i] : 0; /* an empty row */
}

/* Feasible duals of the long columns, or of the others, and as many assignments along edges of
 * reduced cost 0 as one sweep finds with paths of one or two columns.  Returns their number. */
static int32_t start_columns(matching *w, int are_long)
{
    const int32_t n = w->n;
    int32_t *next = w->heap, assigned = 0;
    memset(next, 0, sizeof(int32_t) * (size_t)n);
    for (int32_t j = 0; j < n; j++) {
        if (is_long(w, j) != are_long)
            continue;
        w->v[j] = INFINITY;
        for (int64_t p = w->start[j]; p < w->start[j + 1]; p++)
            w->v[j] = lesser(w->v[j], w->cost[p] - w->u[w->row[p]]);
        w->v[j] = isfinite(w->v[j]) ? w->v[j] : 0;
        const int32_t direct = free_row(w, j, next);
        if (direct >= 0)
            take(w, j, direct);
        for (int64_t p = w->start[j]; p < w->start[j + 1] && w->row_of[j] < 0; p++) {
            const int32_t i = w->row[p];
            if (!isfinite(w->cost[p]) || reduced(w, p, j) > 0)
                continue;
            const int32_t other = w->column_of[i], i2 = free_row(w, other, next);
            if (i2 >= 0) {
                take(w, other, i2);
                take(w, j, i);
            }
        }
        assigned += w->row_of[j] >= 0;
    }
    return assigned;
}

/* What is left of a perfect matching when costs have changed: its rows' duals, columns' duals that
 * are feasible with them, and the assignments whose reduced costs are still 0, up to rounding.
 * Returns their number, -1 if there are too few of them. */
static int32_t resume_assignment(matching *w)
{
    const int32_t n = w->n;
    int32_t *next = w->heap, assigned = 0;
    for (int32_t j = 0; j < n; j++) {
        double least = INFINITY, mine = INFINITY;
        for (int64_t p = w->start[j]; p < w->start[j + 1]; p++) {
            const double c = w->cost[p] - w->u[w->row[p]];
            least = lesser(least, c);
            mine = w->row[p] == w->row_of[j] ? c : mine;
        }
        if (!isfinite(least))
            return -1;
        w->v[j] = least;
        w->at[j] = -1;
        next[j] = 0;
        if (mine - least <= TIGHT)
            assigned++;
        else {
            w->column_of[w->row_of[j]] = -1;
            w->row_of[j] = -1;
        }
    }
    if (assigned < n / 2)
        return -1;
    for (int32_t j = 0; j < n; j++) {
        const int32_t direct = w->row_of[j] < 0 ? free_row(w, j, next) : -1;
        if (direct >= 0) {
            take(w, j, direct);
            assigned++;
        }
    }
    return assigned;
}

/* Settles row i, the nearest one that is not settled.  Settled rows are listed behind the heap in
 * w->heap, in the order of their distance. */
static void settle(matching *w, int32_t i, int32_t *settled)
{
    w->at[i] = -2;
    w->heap[w->n - 1 - (*settled)++] = i;
}

/* Shortest augmenting path from column j0 to a free row [Dijkstra].  Rows reached keep from, the
 * column before them; matched rows wait in the heap, but for those, often most, that are as near as
 * the row being left and so may be left next.  Returns 1 if the column was assigned. */
static int assign(matching *w, int32_t j0)
{
    const int32_t n = w->n;
    int32_t size = 0, settled = 0, left = 0, reached = -1, j = j0;
    double before_row = 0, length = INFINITY; /* to the row being left, and to the nearest free row
                                                 so far */
    for (;;) {
        for (int64_t p = w->start[j], end = w->start[j + 1]; p < end; p++) {
            const int32_t i = w->row[p];
            if (w->at[i] == -2)
                continue;                                   /* settled */
            const double d = before_row + reduced(w, p, j); /* infinite, as length is, for zeros */
            if (d >= length || (w->at[i] >= 0 && d >= w->distance[i]))
                continue;
            w->distance[i] = d;
            w->from[i] = j;
            if (w->column_of[i] < 0) {
                length = d;
                reached = i;
            } else if (d == before_row) {
                if (w->at[i] >= 0)
                    heap_remove(w, w->at[i], &size);
                settle(w, i, &settled);
            } else
                heap_up(w, w->at[i] >= 0 ? w->at[i] : size++, i);
        }
        if (length <= before_row)
            break;
        if (left == settled) {
            if (size == 0 || w->distance[w->heap[0]] >= length)
                break;
            const int32_t i = w->heap[0];
            heap_remove(w, 0, &size);
            before_row = w->distance[i];
            settle(w, i, &settled);
        }
        j = w->column_of[w->heap[n - 1 - left++]];
    }
    if (reached < 0)
        return 0; /* no free row can be reached from those settled, now or later: they stay marked
                   */
    for (int32_t k = 0; k < size; k++)
        w->at[w->heap[k]] = -1;
    for (int32_t k = 0; k < settled; k++) {
        /* the duals follow, so that the path has reduced cost 0 */
        const int32_t i = w->heap[n - 1 - k];
        w->at[i] = -1;
        w->u[i] += w->distance[i] - length;
        w->v[w->column_of[i]] -= w->distance[i] - length;
    }
    w->v[j0] += length;
    for (int32_t i = reached, next; i >= 0; i = next) {
        const int32_t column = w->from[i];
        next = w->row_of[column];
        take(w, column, i);
    }
    return 1;
}

/* Assigns the long columns that are left, or the others; returns how many could be. */
static int32_t assign_columns(matching *w, int are_long)
{
    int32_t assigned = 0;
    for (int32_t j = 0; j < w->n; j++)
        if (w->row_of[j] < 0 && is_long(w, j) == are_long)
            assigned += assign(w, j);
    return assigned;
}

/* A matching of least cost, from the last one if that had all columns: duals say nothing of rows
 * that are left out. */
static int32_t find_matching(matching *w)
{
    int32_t assigned = w->size == w->n ? resume_assignment(w) : -1;
    if (assigned >= 0)
        for (int are_long = 0; are_long < 2; are_long++)
            assigned += assign_columns(w, are_long);
    if (assigned == w->n)
        return assigned;
    start_rows(w);
    assigned = 0;
    for (int are_long = 0; are_long < 2; are_long++) {
        assigned += start_columns(w, are_long);
        assigned += assign_columns(w, are_long);
    }
    return assigned;
}

/* v(j) := min_i c(i,j) - u(i), the largest that is feasible */
static void make_feasible(matching *w)
{
    for (int32_t j = 0; j < w->n; j++) {
        double least = INFINITY;
        for (int64_t p = w->start[j]; p < w->start[j + 1]; p++)
            least = lesser(least, w->cost[p] - w->u[w->row[p]]);
        if (isfinite(least))
            w->v[j] = least;
    }
}

/* Rows left out of the matching have duals that bound their entries by 1 but need not reach it:
 * each is scaled up until it does.  largest: as below. */
static void scale_unmatched(const matching *w, const double *largest, double *log2_scale)
{
    for (int32_t i = 0; i < w->n; i++) {
        if (w->row_of[i] >= 0 && w->column_of[i] >= 0)
            continue;
        double rise = INFINITY;
        for (int64_t p = w->start[i]; p < w->start[i + 1]; p++) {
            const double entry = largest[i] - w->cost[p]; /* its logarithm */
            if (w->row[p] != i)
                rise = lesser(rise, -(log2_scale[i] + entry + log2_scale[w->row[p]]));
            else
                rise = lesser(rise, -(2 * log2_scale[i] + entry) / 2);
        }
        if (isfinite(rise))
            log2_scale[i] += rise;
    }
}

/* largest(j) := logarithm of the largest entry of column j; 0 without one */
static void find_largest(const matching *w, const double *magnitude, double *largest)
{
    const pattern *a = &w->lower;
    memset(largest, 0, sizeof(double) * (size_t)w->n);
    for (int32_t j = 0; j < w->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            largest[i] = magnitude[p] > largest[i] ? magnitude[p] : largest[i];
            largest[j] = magnitude[p] > largest[j] ? magnitude[p] : largest[j];
        }
    for (int32_t j = 0; j < w->n; j++)
        largest[j] = largest[j] > 0 ? log2(largest[j]) : 0;
}

/* The cost of the next entry of column j, of this logarithm.  Returns whether it is another. */
static int set_cost(matching *w, int32_t j, double largest, double entry)
{
    double *cost = &w->cost[w->start[j]++];
    const double before = *cost;
    *cost = largest - entry;
    return *cost != before;
}

/* Returns whether some costs are others. */
static int set_costs(matching *w, const double *magnitude, const double *largest)
{
    const pattern *a = &w->lower;
    int changed = 0;
    for (int32_t j = 0; j < w->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const double entry = magnitude[p] > 0 ? log2(magnitude[p]) : -INFINITY;
            changed |= set_cost(w, j, largest[j], entry);
            if (i != j)
                changed |= set_cost(w, i, largest[i], entry);
        }
    columns_are_full(w);
    return changed;
}

int32_t matching_scale(matching *w, const double *magnitude, double *log2_scale)
{
    const int32_t n = w->n;
    find_largest(w, magnitude, log2_scale);
    const int changed = set_costs(w, magnitude, log2_scale);
    if (!w->found || changed) {
        w->size = find_matching(w);
        w->found = 1;
        if (w->size < n) /* rows that stayed marked were left out when duals changed */
            make_feasible(w);
    }
    double *largest = w->distance; /* of no use between searches */
    memcpy(largest, log2_scale, sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n; i++)
        log2_scale[i] = (w->u[i] + w->v[i] - largest[i]) / 2;
    if (w->size < n)
        scale_unmatched(w, largest, log2_scale);
    return w->size;
}

void matching_start_from(matching *w, const int32_t *row_of, const double *u)
{
    memcpy(w->u, u, sizeof(double) * (size_t)w->n);
    for (int32_t j = 0; j < w->n; j++)
        take(w, j, row_of[j]);
    w->size = w->n;
    w->found = 0;
}

int matching_is_mild(int32_t n, const double *log2_scale)
{
    double least = INFINITY, most = -INFINITY;
    for (int32_t i = 0; i < n; i++) {
        least = lesser(least, log2_scale[i]);
        most = log2_scale[i] > most ? log2_scale[i] : most;
    }
    return !(most - least > MATCHING_MILD_RANGE);
}

void matching_diagonal(const matching *w, double log2_least, unsigned char *has_pivot)
{
    for (int32_t j = 0; j < w->n; j++) {
        has_pivot[j] = 0;
        for (int64_t p = w->start[j]; p < w->start[j + 1]; p++)
            if (w->row[p] == j)
                has_pivot[j] = w->cost[p] - w->u[j] - w->v[j] <= -log2_least;
    }
}

int32_t matching_pairs(const matching *w, int32_t *class_of)
{
    int32_t classes = 0;
    for (int32_t i = 0; i < w->n; i++)
        class_of[i] = -1;
    for (int32_t start = 0; start < w->n; start++) {
        /* along the cycle (or, where rows are unmatched, path) through start; 1x1 cycles and
         * leftovers stay single */
        for (int32_t i = start, partner; i >= 0 && class_of[i] < 0;
             i = partner >= 0 ? w->row_of[partner] : -1) {
            partner = w->row_of[i];
            class_of[i] = classes++;
            if (partner >= 0 && class_of[partner] < 0)
                class_of[partner] = class_of[i];
            else
                partner = -1;
        }
    }
    return classes;
}
