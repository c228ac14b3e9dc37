/* cli/spy.c: where the entries of a symmetric matrix and of its factor lie
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spy.h"
#include "room.h"
#include <string.h>

static void clear(spy *s, int32_t n)
{
    memset(s, 0, sizeof *s);
    s->n = n;
    s->cells = n < SPY_CELLS ? (int)n : SPY_CELLS;
}

static void add(spy *s, int64_t row, int64_t column)
{
    s->count[row * s->cells / s->n][column * s->cells / s->n]++;
    s->entries++;
}

static int64_t place(const int64_t *position, int64_t i)
{
    return position ? position[i] : i;
}

void spy_matrix(const triplets *a, const int64_t *position, spy *s)
{
    clear(s, a->n);
    for (int64_t k = 0; k < a->nnz; k++) {
        const int64_t i = place(position, a->rows[k]), j = place(position, a->columns[k]);
        add(s, i, j);
        if (i != j)
            add(s, j, i);
    }
}

/* start, column: entries (i, k), k < i, of the lower triangle by rows.  start: n + 1. */
static void sort_by_rows(const triplets *a, const int64_t *position, int64_t *start,
                         int32_t *column)
{
    memset(start, 0, sizeof *start * ((size_t)a->n + 1));
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < a->nnz; k++) {
            const int64_t i = place(position, a->rows[k]), j = place(position, a->columns[k]),
                          row = i > j ? i : j;
            if (i == j)
                continue;
            if (pass == 0)
                start[row]++;
            else
                column[--start[row]] = (int32_t)(i < j ? i : j);
        }
        for (int64_t i = 1; pass == 0 && i <= a->n; i++)
            start[i] += start[i - 1]; /* the end of row i, where its last entry goes first */
    }
}

/* parent(j) = min { i > j : L(i,j) != 0 }, -1 at a root [Liu 1990, Algorithm 4.2] */
static void find_parents(int32_t n, const int64_t *start, const int32_t *column, int32_t *parent,
                         int32_t *ancestor)
{
    for (int32_t i = 0; i < n; i++) {
        parent[i] = ancestor[i] = -1;
        for (int64_t p = start[i]; p < start[i + 1]; p++)
            for (int32_t k = column[p], next; k != -1 && k < i; k = next) {
                next = ancestor[k];
                ancestor[k] = i;
                if (next == -1)
                    parent[k] = i;
            }
    }
}

/* Row i of L: the paths of the tree from each column of row i of A up to i [Liu 1990, Theorem 3.4].
 * seen(k): the last row whose path went through k. */
static void add_rows(int32_t n, const int64_t *start, const int32_t *column, const int32_t *parent,
                     int32_t *seen, int64_t *height, spy *s)
{
    memset(seen, -1, sizeof *seen * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        seen[i] = i;
        add(s, i, i);
        if (height)
            height[i] = 1;
        for (int64_t p = start[i]; p < start[i + 1]; p++)
            for (int32_t k = column[p]; seen[k] != i; k = parent[k]) {
                seen[k] = i;
                add(s, i, k);
                if (height)
                    height[k]++;
            }
    }
}

bool spy_factor_tree(const triplets *a, const int64_t *position, spy *s, int32_t *parent,
                     int64_t *height)
{
    const int64_t n = a->n;
    int64_t *start = room_new(n + 1, sizeof *start);
    int32_t *column = room_new(a->nnz + 1, sizeof *column),
            *ancestor = room_new(n + 1, sizeof *ancestor);
    const bool enough = start && column && ancestor;
    clear(s, a->n);
    if (enough) {
        sort_by_rows(a, position, start, column);
        find_parents(a->n, start, column, parent, ancestor);
        add_rows(a->n, start, column, parent, ancestor, height, s);
    }
    room_free(start);
    room_free(column);
    room_free(ancestor);
    return enough;
}

bool spy_factor(const triplets *a, const int64_t *position, spy *s)
{
    int32_t *parent = room_new(a->n + 1, sizeof *parent);
    const bool enough = parent && spy_factor_tree(a, position, s, parent, NULL);
    room_free(parent);
    return enough;
}
