/* solver/cpu/plan/simplicial.c: the pattern of a Cholesky factor by columns, and where each update
 * goes
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/simplicial.h"
#include <string.h>

/* Subtractions for an entry of the factor up to which columns are faster than fronts, and entries
 * up to which one thread is. */
#define PAIRS_AN_ENTRY 6.5
#define MOST_ENTRIES 100000

/* a conj(b) for all pairs a, b of entries below the diagonal of a column, a = b included */
static double pairs_of(int64_t factor_nnz, double factor_flops)
{
    return (factor_flops - (double)factor_nnz) / 2;
}

int simplicial_pays(const forest *f)
{
    return f->factor_nnz <= MOST_ENTRIES &&
           pairs_of(f->factor_nnz, f->factor_flops) <= PAIRS_AN_ENTRY * (double)f->factor_nnz;
}

/* Columns of P A P^T as lists, before they are put in order. */
typedef struct lists {
    int32_t *start, *row; /* n + 1; rows below the diagonal, ascending */
    int32_t *parent;      /* n: in the elimination tree, -1 at a root */
    int32_t *where;       /* n: workspace */
} lists;

static void sort_rows(int32_t *row, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        const int32_t r = row[i];
        int32_t q = i;
        for (; q > 0 && row[q - 1] > r; q--)
            row[q] = row[q - 1];
        row[q] = r;
    }
}

/* Column j of L has the rows of column j of A and those of the columns whose parent is j [Liu
 * 1990].  child, sibling: n, workspace. */
static void find_columns(const pattern *a, lists *l, int32_t *child, int32_t *sibling)
{
    int32_t next = 0;
    for (int32_t j = 0; j < a->n; j++)
        child[j] = l->where[j] = -1;
    for (int32_t j = 0; j < a->n; j++) {
        const int32_t begin = l->start[j] = next;
        l->where[j] = j;
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            if (l->where[a->row[p]] != j) {
                l->where[a->row[p]] = j;
                l->row[next++] = a->row[p];
            }
        for (int32_t c = child[j]; c >= 0; c = sibling[c])
            for (int32_t p = l->start[c] + 1; p < l->start[c + 1]; p++)
                if (l->where[l->row[p]] != j) {
                    l->where[l->row[p]] = j;
                    l->row[next++] = l->row[p];
                }
        sort_rows(l->row + begin, next - begin);
        l->start[j + 1] = next;
        l->parent[j] = next > begin ? l->row[begin] : -1;
        if (next > begin) {
            sibling[j] = child[l->row[begin]];
            child[l->row[begin]] = j;
        }
    }
}

/* order := columns by height, and by their number.  height, count: n, workspace. */
static void order_by_height(int32_t n, const int32_t *parent, int32_t *height, int32_t *count,
                            int32_t *order)
{
    memset(height, 0, sizeof(int32_t) * (size_t)n);
    memset(count, 0, sizeof(int32_t) * (size_t)n);
    for (int32_t j = 0; j < n; j++) {
        if (parent[j] >= 0 && height[parent[j]] <= height[j])
            height[parent[j]] = height[j] + 1;
        count[height[j]]++;
    }
    for (int32_t h = 0, sum = 0; h < n; h++) {
        const int32_t here = count[h];
        count[h] = sum;
        sum += here;
    }
    for (int32_t j = 0; j < n; j++)
        order[count[height[j]]++] = j;
}

/* Columns waiting for one of their rows: a list for each row, of which each column is in one at a
 * time. */
typedef struct queue {
    int32_t *head, *next; /* n: by row; by column */
    int32_t *entry;       /* n: of each column, the one in that row */
    int32_t *target;      /* n: of each column, where the targets of that entry go */
} queue;

static void queue_put(queue *w, int32_t row, int32_t k)
{
    w->next[k] = w->head[row];
    w->head[row] = k;
}

/* Rows and starts in the order of s. */
static void copy_columns(const lists *l, simplicial *s)
{
    s->start[0] = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const int32_t j = s->order[k], count = l->start[j + 1] - l->start[j];
        memcpy(s->row + s->start[k], l->row + l->start[j], sizeof(int32_t) * (size_t)count);
        s->start[k + 1] = s->start[k] + count;
    }
}

/* Columns that have nothing beside their diagonal entry are of height 0, and first where the order
 * has them first. */
static int32_t count_alone(const simplicial *s)
{
    int32_t k = 0;
    while (k < s->n && s->start[k + 1] == 0 && s->order[k] == k)
        k++;
    return k;
}

/* All columns of a diagonal matrix. */
static void build_diagonal(simplicial *s)
{
    for (int32_t k = 0; k < s->n; k++)
        s->order[k] = s->place[k] = k;
    memset(s->start, 0, sizeof(int32_t) * ((size_t)s->n + 1));
    s->alone = s->n;
}

/* Places and targets.  where: n, workspace. */
static void find_places(const pattern *a, int32_t *where, queue *w, simplicial *s)
{
    const int32_t n = s->n;
    int32_t targets = 0;
    for (int32_t j = 0; j < n; j++)
        w->head[j] = -1;
    for (int32_t k = 0; k < n; k++) {
        const int32_t begin = s->start[k], end = s->start[k + 1], j = s->order[k];
        where[j] = k;
        for (int32_t p = begin; p < end; p++)
            where[s->row[p]] = n + p;
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            s->place[p] = where[a->row[p]];
        /* columns with an entry in row j have their rows below it in this column too */
        for (int32_t c = w->head[j], next; c >= 0; c = next) {
            int32_t *to = s->target + w->target[c];
            next = w->next[c];
            for (int32_t p = w->entry[c]; p < s->start[c + 1]; p++)
                *to++ = where[s->row[p]];
            w->target[c] = (int32_t)(to - s->target);
            if (++w->entry[c] < s->start[c + 1])
                queue_put(w, s->row[w->entry[c]], c);
        }
        w->entry[k] = begin;
        w->target[k] = targets;
        targets += (end - begin) * (end - begin + 1) / 2;
        if (end > begin)
            queue_put(w, s->row[begin], k);
    }
}

/* What s has memory for. */
static libsolver_status build(memory *m, const pattern *a, int64_t below, simplicial *s)
{
    const int32_t n = a->n;
    lists l = {memory_new(m, (int64_t)n + 1, sizeof(int32_t)),
               memory_new(m, below, sizeof(int32_t)), memory_new(m, n, sizeof(int32_t)),
               memory_new(m, n, sizeof(int32_t))};
    int32_t *work = memory_new(m, 4 * (int64_t)n, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!l.start || !l.row || !l.parent || !l.where || !work)
        goto done;
    find_columns(a, &l, work, work + n);
    order_by_height(n, l.parent, work, work + n, s->order);
    copy_columns(&l, s);
    s->alone = count_alone(s);
    queue w = {work, work + n, work + 2 * (int64_t)n, work + 3 * (int64_t)n};
    find_places(a, l.where, &w, s);
    status = LIBSOLVER_OK;
done:
    memory_free(m, l.start);
    memory_free(m, l.row);
    memory_free(m, l.parent);
    memory_free(m, l.where);
    memory_free(m, work);
    return status;
}

libsolver_status simplicial_build(memory *m, const pattern *a, int64_t factor_nnz,
                                  double factor_flops, simplicial **out)
{
    const int32_t n = a->n;
    const int64_t below = factor_nnz - n;
    simplicial *s = *out = memory_zeroed(m, 1, sizeof(simplicial));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!s)
        return status;
    s->n = n;
    s->order = memory_new(m, n, sizeof(int32_t));
    s->start = memory_new(m, (int64_t)n + 1, sizeof(int32_t));
    s->row = memory_new(m, below, sizeof(int32_t));
    s->target = memory_new(m, (int64_t)pairs_of(factor_nnz, factor_flops), sizeof(int32_t));
    s->place = memory_new(m, a->start[n], sizeof(int32_t));
    if (s->order && s->start && s->row && s->target && s->place) {
        status = below > 0 ? build(m, a, below, s) : LIBSOLVER_OK;
        if (below == 0)
            build_diagonal(s);
    }
    if (status != LIBSOLVER_OK) {
        simplicial_free(m, s);
        *out = NULL;
    }
    return status;
}

void simplicial_free(memory *m, simplicial *s)
{
    if (!s)
        return;
    memory_free(m, s->order);
    memory_free(m, s->start);
    memory_free(m, s->row);
    memory_free(m, s->target);
    memory_free(m, s->place);
    memory_free(m, s);
}
