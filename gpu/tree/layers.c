/* gpu/tree/layers.c: the tree cut into layers by dynamic programming over the predicted time of a
 * solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A solve takes two steps a layer (one for the top) and streams the groups of the layer in
 * each.  Few layers mean few steps and large groups, whose inverses fill in; many layers keep them
 * near the size of L.  Where few solves share the time in which groups are formed, that counts
 * too. */
#include "gpu/tree/groups.h"
#include "base/message.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Cuts are tried at subtrees of these many columns: 8 and up by a factor, which is fine enough for
 * the time to be smooth where trees branch; and at even parts of the largest, for trees that are
 * chains. */
#define FIRST_CUT 8
#define CUT_FACTOR 1.4
#define EVEN_CUTS 28
#define CUTS 96

/* Bytes that a group takes beside its entries, and each of its rows and columns: descriptions and
 * packets. */
#define GROUP_BYTES 200
#define ROW_BYTES 40

/* What a solve reads of a group of k columns and r rows below, a root once. */
static double group_bytes(double k, double r, const layer_costs *costs)
{
    const double held = r > 0 ? k * (k + 1) / 2 + k * r : k * k;
    return (r > 0 ? 2 : 1) * held * (double)costs->scalar_bytes + GROUP_BYTES + ROW_BYTES * (k + r);
}

double groups_seconds(const groups *g, const layer_costs *costs)
{
    double bytes = 0, thirds = 0, largest = 0;
    for (int32_t i = 0; i < g->count; i++) {
        const double k = group_columns(g, i), r = group_rows(g, i);
        bytes += group_bytes(k, r, costs);
        thirds += forming_thirds(k, r);
        largest = fmax(largest, k);
    }
    const double solve = (2 * g->heights - 1) * costs->step + bytes / costs->bytes_per_second;
    if (!(costs->solves > 0))
        return solve;
    return solve +
           fmax(thirds / (3 * costs->operations_per_second), largest * costs->column_seconds) /
               costs->solves;
}

typedef struct cut_table {
    int count;             /* cuts, cut[0] = 0 below everything */
    int64_t cut[CUTS + 1]; /* cut[count]: above everything */
    /* of a layer of subtrees in (cut[a], cut[b]] */
    double seconds[CUTS + 1][CUTS + 1], entries[CUTS + 1][CUTS + 1];
    double forming[CUTS + 1][CUTS + 1]; /* thirds of operations */
} cut_table;

static int ascending(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) -
           (*(const int64_t *)a < *(const int64_t *)b);
}

static void set_cuts(cut_table *t, int32_t largest)
{
    int64_t cut[CUTS];
    int count = 0;
    for (double c = FIRST_CUT; c < largest && count < CUTS - EVEN_CUTS; c *= CUT_FACTOR)
        cut[count++] = (int64_t)c;
    for (int part = 1; part < EVEN_CUTS; part++)
        if ((int64_t)largest * part / EVEN_CUTS >= FIRST_CUT)
            cut[count++] = (int64_t)largest * part / EVEN_CUTS;
    qsort(cut, (size_t)count, sizeof cut[0], ascending);
    t->count = 0;
    t->cut[t->count++] = 0;
    for (int c = 0; c < count; c++)
        if (cut[c] > t->cut[t->count - 1])
            t->cut[t->count++] = cut[c];
    t->cut[t->count] = INT64_MAX;
}

/* ---- The price of every layer ----
 *
 * Piece i is in bucket c when its subtree is in (cut[c], cut[c+1]]: it is in the layers (a, b] with
 * a <= c < b.  It is the top of a group there from b = c + 1 on until the piece above comes in,
 * unless they share a bucket, and whatever a is; a only says which of the pieces below are in the
 * group.  So every group is looked at once: it has spread[c] columns in bucket c, for (a, b] those
 * with c >= a.  Sums are of whole numbers, whose order does not matter. */

typedef struct pricer {
    const factor_tree *tree;
    const pieces *p;
    const layer_costs *costs;
    cut_table *t; /* while groups are added, seconds: bytes; all with differences from b to b + 1 */
    double largest[CUTS + 1][CUTS + 1];
    int32_t *bucket; /* pieces */
    int32_t *top;    /* pieces: of the group when it comes in */
    int64_t *spread_at;
    int32_t *spread; /* of pieces that are tops: bucket + 1 numbers */
} pricer;

/* The last b for which top i is one. */
static int last_cut(const pricer *q, int32_t i)
{
    const int32_t up = q->p->above[i];
    return up < 0 || q->p->alone[i] || q->p->alone[up] ? q->t->count : q->bucket[up];
}

/* Whether a piece joins the one above as soon as it comes in. */
static int joins_at_once(const pricer *q, int32_t i)
{
    return last_cut(q, i) == q->bucket[i];
}

/* The group with top i. */
static void add_group(pricer *q, int32_t i)
{
    cut_table *t = q->t;
    const int32_t *spread = q->spread + q->spread_at[i];
    const int first = q->bucket[i] + 1, end = last_cut(q, i) + 1;
    const double r = (double)piece_rows(q->tree, q->p, i);
    double k = 0;
    for (int a = q->bucket[i]; a >= 0; a--) {
        k += spread[a];
        const double held = r > 0 ? k * (k + 1) / 2 + k * r : k * k,
                     bytes = group_bytes(k, r, q->costs);
        const double forming = forming_thirds(k, r);
        t->entries[a][first] += held;
        t->seconds[a][first] += bytes;
        t->forming[a][first] += forming;
        q->largest[a][first] = k > q->largest[a][first] ? k : q->largest[a][first];
        if (end <= t->count) {
            t->entries[a][end] -= held;
            t->seconds[a][end] -= bytes;
            t->forming[a][end] -= forming;
        }
    }
}

/* All groups, from below. */
static void add_groups(pricer *q)
{
    const pieces *p = q->p;
    for (int32_t i = 0; i < p->count; i++) {
        q->spread[q->spread_at[q->top[i]] + q->bucket[i]] += p->end[i] - p->begin[i];
        if (q->top[i] != i)
            continue;
        add_group(q, i); /* all that join it came before */
        if (last_cut(q, i) < q->t->count) {
            int32_t *above = q->spread + q->spread_at[q->top[p->above[i]]];
            for (int c = 0; c <= q->bucket[i]; c++)
                above[c] += q->spread[q->spread_at[i] + c];
        }
    }
}

/* From differences to the table. */
static void sum_up(pricer *q)
{
    cut_table *t = q->t;
    const layer_costs *costs = q->costs;
    const double third =
        costs->solves > 0 ? 1 / (3 * costs->operations_per_second * costs->solves) : 0;
    for (int a = 0; a < t->count; a++) {
        double bytes = 0, forming = 0;
        for (int b = a + 1; b <= t->count; b++) {
            if (b > a + 1) {
                t->entries[a][b] += t->entries[a][b - 1];
                /* groups only grow */
                q->largest[a][b] = fmax(q->largest[a][b], q->largest[a][b - 1]);
            }
            bytes += t->seconds[a][b];
            forming += t->forming[a][b];
            t->seconds[a][b] = q->largest[a][b] > (double)costs->largest && b > a + 1
                                   ? DBL_MAX
                                   : (b == t->count ? 1 : 2) * costs->step +
                                         bytes / costs->bytes_per_second + forming * third;
        }
    }
}

/* bucket, top and spread_at; returns the length of spread. */
static int64_t find_tops(pricer *q, const int32_t *subtree)
{
    const pieces *p = q->p;
    int64_t length = 0;
    for (int32_t i = p->count - 1; i >= 0; i--) {
        int c = 0;
        while (subtree[i] > q->t->cut[c + 1])
            c++;
        q->bucket[i] = c;
        q->top[i] = joins_at_once(q, i) ? q->top[p->above[i]] : i;
        q->spread_at[i] = length;
        length += q->top[i] == i ? c + 1 : 0;
    }
    return length;
}

/* Fills the table, which is zeroed but for its cuts. */
static libsolver_status price_layers(memory *m, const factor_tree *tree, const pieces *p,
                                     const int32_t *subtree, const layer_costs *costs, cut_table *t)
{
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    pricer *q = memory_zeroed(m, 1, sizeof(pricer));
    if (!q)
        return status;
    q->tree = tree;
    q->p = p;
    q->costs = costs;
    q->t = t;
    q->bucket = memory_new(m, p->count, sizeof(int32_t));
    q->top = memory_new(m, p->count, sizeof(int32_t));
    q->spread_at = memory_new(m, p->count, sizeof(int64_t));
    if (q->bucket && q->top && q->spread_at)
        q->spread = memory_zeroed(m, find_tops(q, subtree), sizeof(int32_t));
    if (q->spread) {
        add_groups(q);
        sum_up(q);
        status = LIBSOLVER_OK;
    }
    memory_free(m, q->bucket);
    memory_free(m, q->top);
    memory_free(m, q->spread_at);
    memory_free(m, q->spread);
    memory_free(m, q);
    return status;
}

/* ---- The cheapest layers --------------------------------------------------------------------- */

/* from(b): where the layer that ends at cut b begins, for the least time + price *
 * entries.  Returns the entries. */
static double cheapest(const cut_table *t, double price, int *from)
{
    double best[CUTS + 1], entries[CUTS + 1] = {0};
    best[0] = 0;
    for (int b = 1; b <= t->count; b++) {
        best[b] = DBL_MAX;
        for (int a = 0; a < b; a++)
            if (t->seconds[a][b] < DBL_MAX && best[a] < DBL_MAX &&
                best[a] + t->seconds[a][b] + price * t->entries[a][b] < best[b]) {
                best[b] = best[a] + t->seconds[a][b] + price * t->entries[a][b];
                entries[b] = entries[a] + t->entries[a][b];
                from[b] = a;
            }
    }
    return entries[t->count];
}

/* The same with no more entries than the limit, by a higher price of entries, if some price
 * suffices. */
static void choose(const cut_table *t, const layer_costs *costs, int *from)
{
    const double limit = (double)costs->entries_limit;
    if (cheapest(t, 0, from) <= limit || limit <= 0)
        return;
    double low = 0, high = 64 * (double)costs->scalar_bytes / costs->bytes_per_second;
    for (int round = 0; round < 24; round++) {
        const double middle = (low + high) / 2;
        if (cheapest(t, middle, from) <= limit)
            high = middle;
        else
            low = middle;
    }
    cheapest(t, high, from);
}

/* subtree(i), zeroed before: columns of piece i and all below it.  Returns the greatest. */
static int32_t sum_subtrees(const pieces *p, int32_t *subtree)
{
    int32_t largest = 1;
    for (int32_t i = 0; i < p->count; i++) {
        subtree[i] += p->end[i] - p->begin[i];
        largest = subtree[i] > largest ? subtree[i] : largest;
        if (p->above[i] >= 0)
            subtree[p->above[i]] += subtree[i];
    }
    return largest;
}

libsolver_status layers_choose(memory *m, const factor_tree *tree, const pieces *p,
                               const layer_costs *costs, int32_t *layer)
{
    int32_t *subtree = memory_zeroed(m, p->count, sizeof(int32_t));
    cut_table *t = memory_zeroed(m, 1, sizeof(cut_table));
    libsolver_status status = subtree && t ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        set_cuts(t, sum_subtrees(p, subtree));
        status = price_layers(m, tree, p, subtree, costs, t);
    }
    if (status == LIBSOLVER_OK) {
        int from[CUTS + 1] = {0}, layer_of_cut[CUTS + 1], number = 0;
        choose(t, costs, from);
        for (int b = t->count; b > 0; b = from[b], number++)
            for (int c = from[b] + 1; c <= b; c++)
                layer_of_cut[c] = number; /* from the top */
        for (int32_t i = 0; i < p->count; i++) {
            int c = 1;
            while (subtree[i] > t->cut[c])
                c++;
            layer[i] = number - 1 - layer_of_cut[c];
        }
    }
    memory_free(m, subtree);
    memory_free(m, t);
    return status;
}
