/* ordering/nd/levels.c: a vertex separator that is a level of a breadth-first search  [George, Liu,
 * SIAM J. Numer. Anal. 15 (1978)]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where vertices have neighbours along the axes alone, as in a lattice of five- or seven-point
 * stars, those at one distance from a corner are as short a separator as any, and shorter than the
 * straight cuts that coarse graphs suggest: sides of 2 : 3 of a square of n^2 vertices leave 0.9 n,
 * halves of a cube of n^3 leave 3/4 n^2.  Such a graph has no edge inside a level, few neighbours,
 * and a level that refinement cannot shorten.  A search costs a few passes over the edges, a tenth
 * of coarsening and refining. */
#include "ordering/nd/nd.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

/* Mean number of neighbours, at most: six in a lattice of three dimensions.  Of the shared matrices
 * and grids kkt_3d27, which has 21, is the only one without edges inside a level whose levels are
 * longer than the separators that coarsening finds. */
#define MOST_NEIGHBORS 6.5

/* Refinement leaves at least so much of a level of a lattice, less one vertex. */
#define REFINED_PART 0.98

#define PASSES 2

/* Vertices between the one at hand and that whose neighbours are asked for. */
#define AHEAD 6

/* A second thread is asked to search parts of at least so many vertices, at less than this depth.
 */
#define LEAST_TO_GUESS 10000
#define DEPTH_TO_GUESS 16
/* Vertices that it reaches between two looks at whether its search is still wanted. */
#define STRIDE 1024

/* Vertices in the order of a breadth-first search, and their distances from its root. */
typedef struct level_structure {
    int32_t *queue, *distance, reached;
} level_structure;

/* 0 as soon as an edge joins vertices of the same distance, or unwanted, unless NULL, is not 0;
 * vertices not reached have -1. */
static int search_from(const weighted_graph *g, int32_t root, const atomic_int *unwanted,
                       level_structure *s)
{
    int32_t *queue = s->queue, *distance = s->distance, reached = 1;
    memset(distance, -1, sizeof(int32_t) * (size_t)g->n);
    distance[root] = 0;
    queue[0] = root;
    for (int32_t k = 0; k < reached; k++) {
        const int32_t v = queue[k], here = distance[v];
        if (unwanted && k % STRIDE == 0 && atomic_load_explicit(unwanted, memory_order_relaxed))
            return 0;
        if (k + 2 * AHEAD < reached) {
            __builtin_prefetch(&g->start[queue[k + 2 * AHEAD]]);
            __builtin_prefetch(&g->neighbor[g->start[queue[k + AHEAD]]]);
        }
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
            const int32_t u = g->neighbor[p];
            if (distance[u] == here)
                return 0;
            if (distance[u] < 0) {
                distance[u] = here + 1;
                queue[reached++] = u;
            }
        }
    }
    s->reached = reached;
    return 1;
}

static int level_structure_new(arena *scratch, int32_t n, level_structure *s)
{
    s->queue = arena_new(scratch, n, sizeof(int32_t));
    s->distance = arena_new(scratch, n, sizeof(int32_t));
    return s->queue && s->distance;
}

/* Two searches, the second from the vertex that the first reaches last; 0 as soon as one returns 0.
 * guess: memory for an idle thread, which meanwhile begins the second from the last vertex: where a
 * lattice is numbered row by row, that mostly is the one.  NULL: there is none. */
static int search_twice(const weighted_graph *g, level_structure *s, level_structure *guess)
{
    atomic_int unwanted;
    int is_lattice, guessed = 0;
    atomic_init(&unwanted, 0);
#pragma omp taskgroup
    {
        if (guess) {
#pragma omp task shared(unwanted, guessed)
            guessed = !atomic_load(&unwanted) && search_from(g, g->n - 1, &unwanted, guess);
        }
        is_lattice = search_from(g, 0, NULL, s);
        if (!is_lattice || s->queue[s->reached - 1] != g->n - 1)
            atomic_store(&unwanted, 1);
    }
    if (!is_lattice)
        return 0;
    if (!guess || atomic_load(&unwanted))
        return search_from(g, s->queue[s->reached - 1], NULL, s);
    *s = *guess;
    return guessed;
}

/* The distance whose vertices are the best separator with sides of at most `heaviest`, or -1.
 * Vertices that were not reached are on the far side. */
static int32_t best_level(const weighted_graph *g, const level_structure *s, int32_t heaviest)
{
    int32_t best = -1, near = 0;
    double least = INFINITY;
    for (int32_t k = 0; k < s->reached;) {
        const int32_t here = s->distance[s->queue[k]];
        int32_t weight = 0;
        for (; k < s->reached && s->distance[s->queue[k]] == here; k++)
            weight += g->weight[s->queue[k]];
        const int32_t far = g->total - near - weight;
        const double cost = weight / ((double)near * far);
        if (near > 0 && far > 0 && near <= heaviest && far <= heaviest && cost < least) {
            least = cost;
            best = here;
        }
        near += weight;
    }
    return best;
}

static int has_farther_neighbor(const weighted_graph *g, const level_structure *s, int32_t v)
{
    for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
        if (s->distance[g->neighbor[p]] > s->distance[v])
            return 1;
    return 0;
}

static void separate_at(const weighted_graph *g, const level_structure *s, int32_t level,
                        separation *out)
{
    memset(out->weight, 0, sizeof out->weight);
    for (int32_t v = 0; v < g->n; v++) {
        const int32_t distance = s->distance[v];
        const int side = distance < 0 || distance > level                     ? RIGHT
                         : distance < level || !has_farther_neighbor(g, s, v) ? LEFT
                                                                              : SEPARATOR;
        out->side[v] = (unsigned char)side;
        out->weight[side] += g->weight[v];
    }
}

libsolver_status nd_cut_lattice(arena *scratch, const weighted_graph *g, int depth, nd_random *r,
                                separation *s)
{
    const arena_mark mark = arena_here(scratch);
    const int32_t heaviest = nd_heaviest_side(g);
    level_structure q, guess = {.queue = NULL};
    const int has_idle = g->n >= LEAST_TO_GUESS && depth < DEPTH_TO_GUESS &&
                         omp_get_num_threads() >= 2 << depth; /* of 2^depth parts at hand */
    int32_t level = -1;
    s->is_level = 0;
    if (g->n == 0 || (double)g->start[g->n] > MOST_NEIGHBORS * g->n)
        return LIBSOLVER_OK;
    if (!level_structure_new(scratch, g->n, &q) ||
        (has_idle && !level_structure_new(scratch, g->n, &guess)))
        return LIBSOLVER_OUT_OF_MEMORY;
    if (search_twice(g, &q, has_idle ? &guess : NULL))
        level = best_level(g, &q, heaviest);
    if (level >= 0) {
        separate_at(g, &q, level, s);
        const int32_t weight = s->weight[SEPARATOR];
        refiner *w = nd_refiner(scratch, g->n);
        if (!w)
            return LIBSOLVER_OUT_OF_MEMORY;
        nd_refine(w, g, heaviest, PASSES, r, s);
        s->is_level =
            depth > 0 || s->weight[SEPARATOR] >= REFINED_PART * weight - (double)g->total / g->n;
    }
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}
