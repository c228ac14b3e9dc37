/* ordering/rows.c: row lists of the fronts by supernodal symbolic factorization  [George, Liu,
 * Computer Solution of Large Sparse Positive Definite Systems (1981), section 5.4]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <assert.h>
#include <string.h>

/* Most threads that share the work: each has an array of all rows. */
#define MOST_THREADS 8

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

/* While rows are found. */
typedef struct row_search {
    const pattern *a;
    const unsigned char *leads;
    const partition *p;
    int32_t *head, *next; /* children of each front */
} row_search;

/* rows(s) = columns of s + rows of the children not eliminated there + rows of A(:, columns of s);
 * of the columns of a fundamental supernode the first has all rows that the others have.  met: of
 * each row, the latest front that has it; work: as long as the longest front. */
static void rows_of_front(const row_search *f, int32_t s, int32_t *met, int32_t *work)
{
    const partition *p = f->p;
    const pattern *a = f->a;
    int32_t *const row = p->row + p->row_start[s];
    int64_t rows = 0;
    for (int32_t j = p->first[s]; j < p->first[s + 1]; j++)
        row[rows++] = j;
    const int64_t pivots = rows;
    for (int32_t c = f->head[s]; c != -1; c = f->next[c])
        for (int64_t q = p->row_start[c] + p->first[c + 1] - p->first[c]; q < p->row_start[c + 1];
             q++)
            if (p->row[q] >= p->first[s + 1] && met[p->row[q]] != s) {
                met[p->row[q]] = s;
                row[rows++] = p->row[q];
            }
    for (int32_t j = p->first[s]; j < p->first[s + 1]; j++) {
        if (!f->leads[j])
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

/* Threads have subtrees, of which each meets the rows above for itself.  O(nnz + rows
 * log(rows)). */
libsolver_status front_rows(memory *m, int threads, const pattern *a, const unsigned char *leads,
                            const partition *p)
{
    const int32_t n = p->n;
    const row_search f = {a, leads, p, memory_new(m, (int64_t)p->supernodes + 1, sizeof(int32_t)),
                          memory_new(m, p->supernodes, sizeof(int32_t))};
    tree_cut cut = {0};
    const int team = threads < MOST_THREADS ? threads : MOST_THREADS;
    libsolver_status status = tree_cut_find(m, threads_for_fronts(team, p->supernodes),
                                            p->supernodes, p->above, p->row_start, &cut);
    const int teams = cut.subtrees > 0 ? team : 1;
    int64_t longest = 0;
    for (int32_t s = 0; s < p->supernodes; s++)
        longest = longest > p->row_start[s + 1] - p->row_start[s]
                      ? longest
                      : p->row_start[s + 1] - p->row_start[s];
    int32_t *met = memory_new(m, teams * (n + longest), sizeof(int32_t));
    if (status == LIBSOLVER_OK && (!f.head || !f.next || !met))
        status = LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        tree_children(p->supernodes, p->above, f.head, f.next);
#pragma omp parallel for num_threads(threads) if (teams > 1) schedule(static, 1)
        for (int t = 0; t < teams; t++) {
            int32_t *own = met + t * (n + longest);
            memset(own, -1, sizeof(int32_t) * (size_t)n);
            for (int32_t q = t; q < cut.subtrees; q += teams)
                for (int32_t s = cut.begin[q]; s < cut.end[q]; s++)
                    rows_of_front(&f, s, own, own + n);
        }
        for (int32_t s = 0, q = cut.subtrees - 1; s < p->supernodes; s++)
            if (q >= 0 && s == cut.begin[q])
                s = cut.end[q--] - 1;
            else
                rows_of_front(&f, s, met, met + n);
    }
    tree_cut_free(m, &cut);
    memory_free(m, met);
    memory_free(m, f.head);
    memory_free(m, f.next);
    return status;
}
