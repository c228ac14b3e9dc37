/* ordering/check.c: validators of this folder's objects
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/ordering.h"

/* Leaves the function with the static string if the invariant does not hold. */
#define REQUIRE(invariant, otherwise) \
    do { \
        if (!(invariant)) \
            return otherwise; \
    } while (0)

const char *pattern_check(const pattern *a)
{
    REQUIRE(a->n >= 0 && a->start && a->start[0] == 0, "pattern: starts do not begin with 0");
    for (int32_t j = 0; j < a->n; j++) {
        REQUIRE(a->start[j] < a->start[j + 1] && a->row[a->start[j]] == j,
                "pattern: a diagonal entry is absent");
        for (int64_t p = a->start[j] + 1; p < a->start[j + 1]; p++)
            REQUIRE(a->row[p - 1] < a->row[p] && a->row[p] < a->n,
                    "pattern: rows do not ascend in range");
    }
    return NULL;
}

/* Nonzero if v lists u. */
static int is_neighbor(const graph *g, int32_t u, int32_t v)
{
    int64_t low = g->start[v], high = g->start[v + 1];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (g->neighbor[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->start[v + 1] && g->neighbor[low] == u;
}

const char *graph_check(const graph *g)
{
    REQUIRE(g->n >= 0 && g->start && g->start[0] == 0, "graph: starts do not begin with 0");
    for (int32_t v = 0; v < g->n; v++) {
        REQUIRE(g->start[v] <= g->start[v + 1], "graph: starts descend");
        REQUIRE(!g->weight || g->weight[v] > 0, "graph: a weight is not positive");
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
            REQUIRE(g->neighbor[p] >= 0 && g->neighbor[p] < g->n,
                    "graph: a neighbour is out of range");
            REQUIRE(g->neighbor[p] != v, "graph: a loop");
            REQUIRE(p == g->start[v] || g->neighbor[p - 1] < g->neighbor[p],
                    "graph: neighbours do not ascend");
        }
    }
    for (int32_t v = 0; v < g->n; v++)
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
            REQUIRE(is_neighbor(g, v, g->neighbor[p]), "graph: an edge is stored at one end only");
    return NULL;
}

const char *permutation_check(memory *m, int32_t n, const int32_t *perm)
{
    unsigned char *met = memory_zeroed(m, n, 1);
    const char *fault = met ? NULL : "permutation: no memory to check it";
    for (int32_t k = 0; k < n && !fault; k++) {
        if (perm[k] < 0 || perm[k] >= n)
            fault = "permutation: an index is out of range";
        else if (met[perm[k]]++)
            fault = "permutation: an index occurs twice";
    }
    memory_free(m, met);
    return fault;
}

/* A tree with parent(j) > j is in postorder if and only if each j with parent(j) != j + 1 is
 * followed by the first leaf of the next subtree below parent(j), that is, parent(j) is an ancestor
 * of j + 1.  The paths from such leaves cover each node once: O(n). */
static const char *postorder_check(int32_t n, const int32_t *parent)
{
    for (int32_t j = 0; j < n; j++)
        REQUIRE(parent[j] == -1 || (parent[j] > j && parent[j] < n),
                "tree: a parent does not follow its child");
    for (int32_t j = 0; j < n; j++)
        if (parent[j] != -1) {
            int32_t v = j + 1;
            while (v != -1 && v < parent[j])
                v = parent[v];
            REQUIRE(v == parent[j], "tree: not in postorder");
        }
    return NULL;
}

static const char *supernodes_check(int32_t n, int32_t supernodes, const int32_t *perm,
                                    const int32_t *first, const int32_t *above)
{
    REQUIRE(n >= 0 && supernodes >= 0 && first[0] == 0 && first[supernodes] == n,
            "supernodes: they do not hold all columns");
    for (int32_t s = 0; s < supernodes; s++)
        REQUIRE(first[s] < first[s + 1], "supernodes: one has no columns");
    for (int32_t k = 0; k < n; k++)
        REQUIRE(perm[k] >= 0 && perm[k] < n, "permutation: an index is out of range");
    return postorder_check(supernodes, above);
}

const char *forest_check(const forest *f)
{
    const char *fault = supernodes_check(f->n, f->supernodes, f->perm, f->first, f->above);
    if (!fault)
        fault = postorder_check(f->n, f->parent);
    if (fault)
        return fault;
    int64_t nnz = 0;
    for (int32_t s = 0; s < f->supernodes; s++) {
        const int32_t last = f->first[s + 1] - 1;
        REQUIRE(f->rows[s] == f->count[f->first[s]],
                "forest: rows is not the first column's count");
        for (int32_t j = f->first[s]; j < last; j++)
            REQUIRE(f->parent[j] == j + 1 && f->count[j] == f->count[j + 1] + 1,
                    "forest: a supernode's columns differ in structure");
        REQUIRE(f->above[s] == -1 ? f->parent[last] == -1
                                  : f->parent[last] == f->first[f->above[s]],
                "forest: trees of columns and of supernodes differ");
        REQUIRE(f->above[s] == -1
                    ? f->count[last] == 1
                    : f->count[last] > 1 && f->count[last] - 1 <= f->rows[f->above[s]],
                "forest: a column is longer than its parent allows");
        for (int32_t j = f->first[s]; j <= last; j++)
            nnz += f->count[j];
    }
    REQUIRE(nnz == f->factor_nnz, "forest: factor_nnz is not the sum of counts");
    return NULL;
}

/* Nonzero if the ascending list a[0..na) is part of the ascending list b[0..nb).  O(na log nb). */
static int is_part(const int32_t *a, int64_t na, const int32_t *b, int64_t nb)
{
    for (int64_t i = 0, low = 0; i < na; i++) {
        int64_t high = low < nb && b[low] == a[i] ? low : nb; /* mostly neighbours there too */
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (b[middle] < a[i])
                low = middle + 1;
            else
                high = middle;
        }
        if (low == nb || b[low] != a[i])
            return 0;
        low++;
    }
    return 1;
}

const char *partition_check(const partition *p)
{
    const char *fault = supernodes_check(p->n, p->supernodes, p->perm, p->first, p->above);
    if (fault)
        return fault;
    REQUIRE(p->row_start[0] == 0, "partition: row lists do not begin at 0");
    int64_t nnz = 0;
    for (int32_t s = 0; s < p->supernodes; s++) {
        const int32_t *row = p->row + p->row_start[s];
        const int64_t k = p->first[s + 1] - p->first[s], m = p->row_start[s + 1] - p->row_start[s];
        REQUIRE(m >= k, "partition: a front is shorter than its pivot block");
        for (int64_t i = 0; i < m; i++)
            REQUIRE(i < k ? row[i] == p->first[s] + i : row[i] > row[i - 1] && row[i] < p->n,
                    "partition: rows are not the pivots, then ascending");
        const int32_t above = p->above[s];
        REQUIRE(above == -1 ? m == k : m > k,
                "partition: contribution block and parent do not agree");
        if (above != -1) {
            REQUIRE(row[k] < p->first[above + 1],
                    "partition: the parent does not eliminate the first row below");
            REQUIRE(is_part(row + k, m - k, p->row + p->row_start[above],
                            p->row_start[above + 1] - p->row_start[above]),
                    "partition: a row below is not a row of the parent");
        }
        nnz += k * (k + 1) / 2 + k * (m - k);
    }
    REQUIRE(nnz == p->stored_nnz, "partition: stored_nnz is not the sum over the fronts");
    return NULL;
}
