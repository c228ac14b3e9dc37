/* ordering/rows.c: row lists of the fronts by supernodal symbolic factorization  [George, Liu,
 * Computer Solution of Large Sparse Positive Definite Systems (1981), section 5.4]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <assert.h>
#include <string.h>

/* Natural merge sort: a list of rows is made of the children's lists, each ascending, and the few
 * rows that are new, so that there are few ascending runs.  O(length log(runs)).  work: length. */
static void sort_runs(int32_t *row, int64_t length, int32_t *work)
{
    for (int64_t runs = 2; runs > 1;) {
        runs = 0;
        int64_t out = 0;
        for (int64_t a = 0, b, end; a < length; a = end, runs++) {
            for (b = a + 1; b < length && row[b - 1] < row[b];)
                b++; /* row(a:b) ascends, and row(b:end) */
            for (end = b < length ? b + 1 : b; end < length && row[end - 1] < row[end];)
                end++;
            if (a == 0 && b == length)
                return;
            int64_t i = a, j = b;
            while (i < b && j < end) { /* without a branch that no processor foresees */
                const int32_t from_a = row[i], from_b = row[j];
                const int is_a = from_a < from_b;
                work[out++] = is_a ? from_a : from_b;
                i += is_a;
                j += !is_a;
            }
            for (; i < b; i++)
                work[out++] = row[i];
            for (; j < end; j++)
                work[out++] = row[j];
        }
        memcpy(row, work, (size_t)length * sizeof(int32_t));
    }
}

/* rows(s) = columns of s + rows of the children not eliminated there + rows of A(:, columns of s);
 * of the columns of a fundamental supernode the first has all rows that the others have.  O(nnz +
 * rows log(rows)). */
libsolver_status front_rows(memory *m, const pattern *a, const unsigned char *leads,
                            const partition *p)
{
    int32_t *met = memory_new(m, p->n, sizeof(int32_t)); /* the latest front that has the row */
    int32_t *work = memory_new(m, p->n, sizeof(int32_t));
    int32_t *head = memory_new(m, (int64_t)p->supernodes + 1, sizeof(int32_t));
    int32_t *next = memory_new(m, p->supernodes, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!met || !work || !head || !next)
        goto done;
    tree_children(p->supernodes, p->above, head, next);
    for (int32_t i = 0; i < p->n; i++)
        met[i] = -1;
    for (int32_t s = 0; s < p->supernodes; s++) {
        int32_t *const row = p->row + p->row_start[s];
        int64_t rows = 0;
        for (int32_t j = p->first[s]; j < p->first[s + 1]; j++)
            row[rows++] = j;
        const int64_t pivots = rows;
        for (int32_t c = head[s]; c != -1; c = next[c])
            for (int64_t q = p->row_start[c] + p->first[c + 1] - p->first[c];
                 q < p->row_start[c + 1]; q++)
                if (p->row[q] >= p->first[s + 1] && met[p->row[q]] != s) {
                    met[p->row[q]] = s;
                    row[rows++] = p->row[q];
                }
        for (int32_t j = p->first[s]; j < p->first[s + 1]; j++) {
            if (!leads[j])
                continue;
            for (int64_t q = a->start[j]; q < a->start[j + 1]; q++) {
                const int32_t i = a->row[q];
                if (i >= p->first[s + 1] && met[i] != s) {
                    met[i] = s;
                    row[rows++] = i;
                }
            }
        }
        assert(rows == p->row_start[s + 1] - p->row_start[s]);
        sort_runs(row + pivots, rows - pivots, work);
    }
    status = LIBSOLVER_OK;
done:
    memory_free(m, met);
    memory_free(m, work);
    memory_free(m, head);
    memory_free(m, next);
    return status;
}
