/* gpu/layers.c: the tree cut into layers by dynamic programming over the predicted time of a solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A solve takes two steps a layer (one for the top) and streams the groups of the layer in each.  Few layers
 * mean few steps and large groups, whose inverses fill in; many layers keep them near the size of L. */
#include "gpu/groups.h"
#include "base/message.h"
#include <float.h>
#include <stdlib.h>

/* Cuts are tried at subtrees of these many columns: 8 and up by a factor, which is fine enough for the time to be smooth where trees
 * branch; and at even parts of the largest, for trees that are chains. */
#define FIRST_CUT 8
#define CUT_FACTOR 1.4
#define EVEN_CUTS 28
#define CUTS 96

/* Bytes that a group takes beside its entries, and each of its rows and columns: descriptions and packets. */
#define GROUP_BYTES 200
#define ROW_BYTES 40

typedef struct cut_table {
    int count;             /* cuts, cut[0] = 0 below everything */
    int64_t cut[CUTS + 1]; /* cut[count]: above everything */
    double seconds[CUTS + 1][CUTS + 1], entries[CUTS + 1][CUTS + 1]; /* of a layer of subtrees in (cut[a], cut[b]] */
} cut_table;

/* Pieces of subtrees larger than a cut, ascending. */
typedef struct piece_list {
    int32_t count;
    int32_t *piece;
} piece_list;

/* Fills the table's entry (a, b).  above: the pieces beyond cut a.  columns: of the group that piece i is the top of.  top: pieces. */
static void price_layer(const factor_tree *tree, const pieces *p, const int32_t *subtree, const layer_costs *costs, const piece_list *above,
                        int a, int b, int32_t *top, int32_t *columns, cut_table *t)
{
    double entries = 0, bytes = 0, largest = 0;
    for (int32_t q = above->count - 1; q >= 0; q--) {
        const int32_t i = above->piece[q];
        if (subtree[i] > t->cut[b])
            continue;
        const int32_t up = p->above[i];
        const int joins = up >= 0 && subtree[up] <= t->cut[b] && !p->alone[i] && !p->alone[up];
        top[i] = joins ? top[up] : i;
        if (!joins)
            columns[i] = 0;
        columns[top[i]] += p->end[i] - p->begin[i];
    }
    for (int32_t q = 0; q < above->count; q++) {
        const int32_t i = above->piece[q];
        if (subtree[i] > t->cut[b] || top[i] != i)
            continue;
        const double k = columns[i], r = (double)piece_rows(tree, p, i);
        const double held = r > 0 ? k * (k + 1) / 2 + k * r : k * k;
        entries += held;
        bytes += (r > 0 ? 2 : 1) * held * (double)costs->scalar_bytes + GROUP_BYTES + ROW_BYTES * (k + r);
        largest = k > largest ? k : largest;
    }
    t->entries[a][b] = entries;
    t->seconds[a][b] = largest > (double)costs->largest && b > a + 1 ? DBL_MAX
                       : (b == t->count ? 1 : 2) * costs->step + bytes / costs->bytes_per_second;
}

static int ascending(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
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

static void price_layers(const factor_tree *tree, const pieces *p, const int32_t *subtree, const layer_costs *costs, int32_t *list,
                         int32_t *top, int32_t *columns, cut_table *t)
{
    piece_list above = {.count = p->count, .piece = list};
    for (int32_t i = 0; i < p->count; i++)
        list[i] = i;
    for (int a = 0; a < t->count; a++) {
        int32_t kept = 0;
        for (int32_t q = 0; q < above.count; q++)
            if (subtree[list[q]] > t->cut[a])
                list[kept++] = list[q];
        above.count = kept;
        for (int b = a + 1; b <= t->count; b++)
            price_layer(tree, p, subtree, costs, &above, a, b, top, columns, t);
    }
}

/* from(b): where the layer that ends at cut b begins, for the least time + price * entries.  Returns the entries. */
static double cheapest(const cut_table *t, double price, int *from)
{
    double best[CUTS + 1], entries[CUTS + 1];
    best[0] = entries[0] = 0;
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

/* The same under the limit of entries, if any price keeps it. */
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

libsolver_status layers_choose(memory *m, const factor_tree *tree, const pieces *p, const layer_costs *costs, int32_t *layer)
{
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int32_t *subtree = memory_zeroed(m, p->count, sizeof(int32_t));
    int32_t *top = memory_new(m, p->count, sizeof(int32_t));
    int32_t *columns = memory_new(m, p->count, sizeof(int32_t));
    int32_t *list = memory_new(m, p->count, sizeof(int32_t));
    cut_table *t = memory_new(m, 1, sizeof(cut_table));
    if (!subtree || !top || !columns || !list || !t)
        goto done;
    int32_t largest = 1;
    for (int32_t i = 0; i < p->count; i++) {
        subtree[i] += p->end[i] - p->begin[i];
        largest = subtree[i] > largest ? subtree[i] : largest;
        if (p->above[i] >= 0)
            subtree[p->above[i]] += subtree[i];
    }
    set_cuts(t, largest);
    price_layers(tree, p, subtree, costs, list, top, columns, t);
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
    status = LIBSOLVER_OK;
done:
    memory_free(m, subtree);
    memory_free(m, top);
    memory_free(m, columns);
    memory_free(m, list);
    memory_free(m, t);
    return status;
}
