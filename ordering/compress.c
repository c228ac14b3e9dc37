/* ordering/compress.c: one vertex for each set of indistinguishable ones  [Ashcraft, Compressed
 * graphs and the minimum degree algorithm, SIAM J. Sci. Comput. 16 (1995)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"
#include "ordering/ordering.h"

/* A compressed graph is made when it has fewer than this fraction of the vertices.  An ordering's
 * time falls about in that proportion, and making and expanding the compressed graph costs a few
 * percent of it. */
#define COMPRESSED_FRACTION 0.9
/* Neighbours from which threads share the work: fewer take one a millisecond or two. */
#define LEAST_FOR_THREADS (1 << 19)

/* adj(u) + u == adj(v) + v for u, v of the same degree.  Both lists ascend; each is passed over
 * once without the other vertex, so that as many remain in one as in the other. */
static int indistinguishable(const graph *g, int32_t u, int32_t v)
{
    const int64_t u_end = g->start[u + 1], v_end = g->start[v + 1];
    int is_adjacent = 0;
    for (int64_t p = g->start[u], q = g->start[v];; p++, q++) {
        if (p < u_end && g->neighbor[p] == v) {
            is_adjacent = 1;
            p++;
        }
        if (q < v_end && g->neighbor[q] == u)
            q++;
        if (p == u_end)
            return is_adjacent;
        if (g->neighbor[p] != g->neighbor[q])
            return 0;
    }
}

/* first(v): smallest vertex with v's closed neighbourhood; returns the number of different ones.
 * Those that share it are neighbours.  They are told by hashes of the neighbourhoods first: sums of
 * numbers that look random, as those of the bare vertices agree too often in graphs with structure.
 * number, hash: n, workspace. */
static int32_t find_classes(const graph *g, int parts, uint64_t *number, uint64_t *hash,
                            int32_t *first)
{
    int32_t classes = 0;
#pragma omp parallel for num_threads(parts) if (parts > 1)
    for (int32_t v = 0; v < g->n; v++)
        number[v] = hash64_number((uint64_t)v);
#pragma omp parallel for num_threads(parts) if (parts > 1) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        for (int32_t v = equal_cut(g->n, parts, part); v < equal_cut(g->n, parts, part + 1); v++) {
            uint64_t sum = number[v];
            for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
                sum += number[g->neighbor[p]];
            hash[v] = sum;
        }
#pragma omp parallel for num_threads(parts) if (parts > 1) schedule(static, 1) \
    reduction(+ : classes)
    for (int part = 0; part < parts; part++)
        for (int32_t v = equal_cut(g->n, parts, part); v < equal_cut(g->n, parts, part + 1); v++) {
            const int64_t end = g->start[v + 1], degree = end - g->start[v];
            first[v] = v;
            for (int64_t p = g->start[v]; p < end && g->neighbor[p] < v; p++) {
                const int32_t u = g->neighbor[p];
                if (hash[u] == hash[v] && g->start[u + 1] - g->start[u] == degree &&
                    indistinguishable(g, u, v)) {
                    first[v] = u;
                    break;
                }
            }
            classes += first[v] == v;
        }
    return classes;
}

/* The graph of the classes.  A class is next to all members of another or to none, so its first
 * member has one edge to the first of each; classes are numbered by their first members, so lists
 * ascend as those of g do. */
static libsolver_status graph_of_classes(memory *m, const graph *g, const int32_t *first,
                                         const int32_t *class_of, int32_t classes,
                                         graph *compressed)
{
    int64_t most = 0, next = 0;
    for (int32_t v = 0; v < g->n; v++)
        most += first[v] == v ? g->start[v + 1] - g->start[v] : 0;
    *compressed = (graph){.n = classes,
                          .start = memory_new(m, (int64_t)classes + 1, sizeof(int64_t)),
                          .neighbor = memory_new(m, most + 1, sizeof(int32_t)),
                          .weight = memory_zeroed(m, classes, sizeof(int32_t))};
    if (!compressed->start || !compressed->neighbor || !compressed->weight) {
        graph_free(m, compressed);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t v = 0; v < g->n; v++) {
        compressed->weight[class_of[v]] += g->weight ? g->weight[v] : 1;
        if (first[v] != v)
            continue;
        compressed->start[class_of[v]] = next;
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
            const int32_t u = g->neighbor[p];
            compressed->neighbor[next] = class_of[u]; /* written over if it is not wanted */
            next += first[u] == u;
        }
    }
    compressed->start[classes] = next;
    return LIBSOLVER_OK;
}

/* O(n + nnz), but for hashes that agree by chance. */
libsolver_status graph_compress(memory *m, int threads, const graph *g, graph *compressed,
                                int32_t *class_of)
{
    *compressed = (graph){.n = -1};
    uint64_t *number = memory_new(m, g->n, sizeof(uint64_t));
    uint64_t *hash = memory_new(m, g->n, sizeof(uint64_t));
    int32_t *first = memory_new(m, g->n, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (number && hash && first) {
        const int32_t classes =
            find_classes(g, g->start[g->n] < LEAST_FOR_THREADS ? 1 : threads, number, hash, first);
        status = LIBSOLVER_OK;
        if (classes < COMPRESSED_FRACTION * g->n) {
            for (int32_t v = 0, c = 0; v < g->n; v++)
                class_of[v] = first[v] == v ? c++ : class_of[first[v]];
            status = graph_of_classes(m, g, first, class_of, classes, compressed);
        }
    }
    memory_free(m, number);
    memory_free(m, hash);
    memory_free(m, first);
    return status;
}

/* Counting sort of the vertices by the place of their class.  O(n). */
libsolver_status order_expand(memory *m, int32_t n, const int32_t *class_of, int32_t classes,
                              const int32_t *compressed_perm, int32_t *perm)
{
    for (int32_t k = 0; k < n && !class_of; k++)
        perm[k] = compressed_perm[k];
    if (!class_of)
        return LIBSOLVER_OK;
    /* place of a class's next member in perm */
    int32_t *next = memory_zeroed(m, classes, sizeof(int32_t));
    if (!next)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t v = 0; v < n; v++)
        next[class_of[v]]++;
    for (int32_t k = 0, sum = 0; k < classes; k++) {
        const int32_t members = next[compressed_perm[k]];
        next[compressed_perm[k]] = sum;
        sum += members;
    }
    for (int32_t v = 0; v < n; v++)
        perm[next[class_of[v]]++] = v;
    memory_free(m, next);
    return LIBSOLVER_OK;
}
