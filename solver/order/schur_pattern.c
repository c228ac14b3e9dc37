/* solver/order/schur_pattern.c: patterns and orders in which an index set comes last
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/order/schur_pattern.h"
#include <string.h>

libsolver_status schur_rows_read(memory *m, int64_t n, const libsolver_options *o, int32_t **rows,
                                 message *why)
{
    *rows = NULL;
    if (o->schur_size < 0 || o->schur_size > n || (o->schur_size > 0 && !o->schur_rows))
        return FAIL(why, LIBSOLVER_INVALID, "a Schur complement of %lld of %lld rows",
                    (long long)o->schur_size, (long long)n);
    if (o->schur_size == 0)
        return LIBSOLVER_OK;
    unsigned char *seen = memory_zeroed(m, n, 1);
    *rows = memory_new(m, o->schur_size, sizeof(int32_t));
    libsolver_status status = seen && *rows ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t k = 0; k < o->schur_size && status == LIBSOLVER_OK; k++) {
        const int64_t i = o->schur_rows[k];
        if (i < 0 || i >= n)
            status = FAIL(why, LIBSOLVER_INVALID,
                          "schur_rows[%lld] is %lld, not a row of a matrix of order %lld",
                          (long long)k, (long long)i, (long long)n);
        else if (seen[i]++)
            status = FAIL(why, LIBSOLVER_INVALID, "schur_rows has row %lld twice", (long long)i);
        else
            (*rows)[k] = (int32_t)i;
    }
    memory_free(m, seen);
    return status;
}

/* Vertices by what the first row of the set is to be joined to. */
enum { IN_SET = 1, NEIGHBOUR = 2, JOINED = 4 };

/* mark, n: IN_SET, NEIGHBOUR of one in it, JOINED to `first` already (first itself too). */
static void mark_rows(const pattern *a, int32_t size, const int32_t *rows, unsigned char *mark)
{
    for (int32_t k = 0; k < size; k++)
        mark[rows[k]] |= IN_SET;
    mark[rows[0]] |= JOINED;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            mark[j] |= mark[i] & IN_SET ? NEIGHBOUR : 0;
            mark[i] |= mark[j] & IN_SET ? NEIGHBOUR : 0;
            mark[j] |= i == rows[0] ? JOINED : 0;
            mark[i] |= j == rows[0] ? JOINED : 0;
        }
}

static int is_missing(unsigned char mark)
{
    return (mark & (IN_SET | NEIGHBOUR)) && !(mark & JOINED);
}

/* to := from with the missing entries of row and column `first`; moved: where each entry of from is
 * in it. */
static void insert(const pattern *from, int32_t first, const unsigned char *mark, pattern *to,
                   int64_t *moved)
{
    int64_t next = 0;
    for (int32_t j = 0; j < from->n; j++) {
        int32_t add = j < first    ? (is_missing(mark[j]) ? first : from->n)
                      : j == first ? j + 1
                                   : from->n;
        to->start[j] = next;
        for (int64_t p = from->start[j]; p <= from->start[j + 1]; p++) {
            const int32_t i = p < from->start[j + 1] ? from->row[p] : from->n;
            for (; add < i; add = j == first ? add + 1 : from->n)
                if (j < first || is_missing(mark[add]))
                    to->row[next++] = add;
            if (i < from->n) {
                moved[p] = next;
                to->row[next++] = i;
            }
        }
    }
    to->start[from->n] = next;
}

/* Targets of entries whose places in the pattern have moved. */
static libsolver_status move_targets(memory *m, input *in, const int64_t *moved)
{
    const int is_identity = in->in_order;
    if (is_identity && !(in->target = memory_new(m, in->entries, sizeof(int64_t))))
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t e = 0; e < in->entries; e++) {
        const int64_t p = is_identity ? e : in->target[e];
        if (p != INPUT_IGNORED)
            in->target[e] = p < 0 ? -1 - moved[-1 - p] : moved[p];
    }
    in->in_order = 0;
    return LIBSOLVER_OK;
}

libsolver_status schur_join(memory *m, input *in, int32_t size, const int32_t *rows)
{
    const pattern *a = &in->a;
    if (size == 0)
        return LIBSOLVER_OK;
    unsigned char *mark = memory_zeroed(m, a->n, 1);
    if (!mark)
        return LIBSOLVER_OUT_OF_MEMORY;
    mark_rows(a, size, rows, mark);
    int64_t nnz = a->start[a->n];
    for (int32_t j = 0; j < a->n; j++)
        nnz += is_missing(mark[j]);
    pattern joined = {.n = a->n,
                      .start = memory_new(m, (int64_t)a->n + 1, sizeof(int64_t)),
                      .row = memory_new(m, nnz, sizeof(int32_t))};
    int64_t *moved = memory_new(m, a->start[a->n], sizeof(int64_t));
    libsolver_status status =
        joined.start && joined.row && moved ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        insert(a, rows[0], mark, &joined, moved);
        status = move_targets(m, in, moved);
    }
    if (status == LIBSOLVER_OK) {
        const pattern before = *a;
        in->a = joined;
        joined = before;
    }
    memory_free(m, joined.start);
    memory_free(m, joined.row);
    memory_free(m, moved);
    memory_free(m, mark);
    return status;
}

/* rest := a without the rows whose number is -1; number: the others, counted from 0. */
static libsolver_status pattern_of_rest(memory *m, const pattern *a, const int32_t *number,
                                        int32_t n, pattern *rest)
{
    *rest = (pattern){.n = n,
                      .start = memory_new(m, (int64_t)n + 1, sizeof(int64_t)),
                      .row = memory_new(m, a->start[a->n], sizeof(int32_t))};
    if (!rest->start || !rest->row)
        return LIBSOLVER_OUT_OF_MEMORY;
    int64_t next = 0;
    for (int32_t j = 0; j < a->n; j++) {
        if (number[j] < 0)
            continue;
        rest->start[number[j]] = next;
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            if (number[a->row[p]] >= 0)
                rest->row[next++] = number[a->row[p]];
    }
    rest->start[n] = next;
    return LIBSOLVER_OK;
}

/* The order of the others, as rows of a: number and row_of go to and from their own count. */
static libsolver_status order_rest(const order_request *r, const int32_t *number,
                                   const int32_t *row_of, int32_t n, int32_t *perm,
                                   libsolver_ordering *used, message *why)
{
    memory *m = &r->env->memory;
    const pattern *a = r->a;
    const libsolver_options *o = r->options;
    pattern rest = {0};
    order_request of_rest = *r;
    if (o->ordering == LIBSOLVER_ORDERING_USER || o->ordering == LIBSOLVER_ORDERING_NATURAL) {
        TRY(choose_ordering(r, perm, used, why)); /* of all rows; those of the set are left
                                                             out */
        for (int32_t k = 0, next = 0; k < a->n; k++)
            if (number[perm[k]] >= 0)
                perm[next++] = perm[k];
        return LIBSOLVER_OK;
    }
    of_rest.a = &rest;
    libsolver_status status = pattern_of_rest(m, a, number, n, &rest);
    if (status == LIBSOLVER_OK)
        status = choose_ordering(&of_rest, perm, used, why);
    for (int32_t k = 0; k < n && status == LIBSOLVER_OK; k++)
        perm[k] = row_of[perm[k]];
    memory_free(m, rest.start);
    memory_free(m, rest.row);
    return status;
}

libsolver_status schur_forest(const order_request *r, int32_t size, const int32_t *rows, forest *f,
                              libsolver_ordering *used, message *why)
{
    memory *m = &r->env->memory;
    const pattern *a = r->a;
    int32_t *number = memory_zeroed(m, a->n, sizeof(int32_t)),
            *row_of = memory_new(m, a->n, sizeof(int32_t));
    int32_t *perm = memory_new(m, a->n, sizeof(int32_t)), n = 0;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (number && row_of && perm) {
        for (int32_t k = 0; k < size; k++)
            number[rows[k]] = -1;
        for (int32_t j = 0; j < a->n; j++)
            if (number[j] >= 0) {
                row_of[n] = j;
                number[j] = n++;
            }
        status = order_rest(r, number, row_of, n, perm, used, why);
    }
    for (int32_t k = 0; k < size && status == LIBSOLVER_OK; k++)
        perm[n + k] = rows[k];
    if (status == LIBSOLVER_OK)
        status = forest_build(m, a, perm, f);
    memory_free(m, number);
    memory_free(m, row_of);
    memory_free(m, perm);
    return status;
}
