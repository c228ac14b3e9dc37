/* ordering/nd/bisect.c: a vertex separator by coarsening, separating the coarsest graph, and
 * refining on the way back  [Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998); Hendrickson, Rothberg,
 * SIAM J. Sci. Comput. 20 (1998)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/nd/nd.h"
#include <string.h>

/* Tuned with `bench_ordering`, as the constants in dissect.c.  The coarsest graph has about
 * COARSEST vertices, none of more than HEAVY_PERCENT of their mean weight: a tighter bound costs
 * fill, as the clusters become uneven. */
#define COARSEST 50
#define HEAVY_PERCENT 200
#define GROWS 4
#define PASSES 4

/* Where there are tries, each begins at a graph of 1 / DIVISOR of the vertices, at most MIDDLE;
 * smaller graphs are tried as they are. */
#define MIDDLE 2000
#define DIVISOR 8

#define LEVELS 64

/* Coarsening goes on while it leaves at most this part of the vertices. */
#define WORTH_A_LEVEL 0.95

int nd_better(const separation *a, const separation *b)
{
    int shift = 0;
    for (int64_t total = (int64_t)a->weight[LEFT] + a->weight[RIGHT] + a->weight[SEPARATOR];
         total >> shift >= 1 << 15;)
        shift++;
    const int64_t product_a = (int64_t)(a->weight[LEFT] >> shift) * (a->weight[RIGHT] >> shift);
    const int64_t product_b = (int64_t)(b->weight[LEFT] >> shift) * (b->weight[RIGHT] >> shift);
    return a->weight[SEPARATOR] * product_b < b->weight[SEPARATOR] * product_a ||
           (product_a > product_b && a->weight[SEPARATOR] == b->weight[SEPARATOR]);
}

/* Side weights that a separator may leave: 60 % of the whole, more where single vertices are
 * heavy. */
static int32_t heaviest_side(const weighted_graph *g)
{
    return (int32_t)((int64_t)g->total * 3 / 5);
}

static void copy(const separation *from, int32_t n, separation *to)
{
    unsigned char *side = to->side;
    memcpy(side, from->side, (size_t)n);
    *to = *from;
    to->side = side;
}

static int stopped(const atomic_int *stop)
{
    return stop && atomic_load(stop);
}

/* The best of some grown separators. */
static libsolver_status separate(arena *scratch, refiner *w, const weighted_graph *g, nd_random *r,
                                 separation *best)
{
    const arena_mark mark = arena_here(scratch);
    separation s = {.side = arena_new(scratch, g->n, 1)};
    if (!s.side)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int k = 0; k < GROWS; k++) {
        const int32_t until = (int32_t)((int64_t)g->total * (40 + nd_below(r, 11)) / 100);
        nd_grow(w, g, until, r, &s);
        nd_refine(w, g, heaviest_side(g), PASSES, r, &s);
        if (k == 0 || nd_better(&s, best))
            copy(&s, g->n, best);
    }
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}

/* Coarsens to about `bottom` vertices, takes the best of `tries` separators there, refines on the
 * way back. */
static libsolver_status multilevel(arena *scratch, refiner *w, const weighted_graph *g,
                                   int32_t bottom, int tries, const atomic_int *stop, nd_random *r,
                                   separation *s);

/* The best of `tries`. */
static libsolver_status repeat(arena *scratch, refiner *w, const weighted_graph *g, int tries,
                               const atomic_int *stop, nd_random *r, separation *best)
{
    const arena_mark mark = arena_here(scratch);
    separation s = {.side = arena_new(scratch, g->n, 1)};
    if (!s.side)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int k = 0; k < tries; k++) {
        TRY(multilevel(scratch, w, g, COARSEST, 1, stop, r, k == 0 ? best : &s));
        if (k > 0 && nd_better(&s, best))
            copy(&s, g->n, best);
    }
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}

static libsolver_status multilevel(arena *scratch, refiner *w, const weighted_graph *g,
                                   int32_t bottom, int tries, const atomic_int *stop, nd_random *r,
                                   separation *s)
{
    struct {
        weighted_graph g;
        int32_t *class_of; /* of its vertices on the next level */
        separation s;
    } level[LEVELS];
    const arena_mark mark = arena_here(scratch);
    const int32_t heaviest = (int32_t)((int64_t)g->total * HEAVY_PERCENT / 100 / COARSEST + 1);
    int last = 0;
    level[0].g = *g;
    level[0].s = *s;
    while (level[last].g.n > bottom && last + 1 < LEVELS) {
        const int32_t n = level[last].g.n;
        if (stopped(stop))
            return LIBSOLVER_CANCELLED;
        level[last].class_of = arena_new(scratch, n, sizeof(int32_t));
        if (!level[last].class_of)
            return LIBSOLVER_OUT_OF_MEMORY;
        const int32_t classes =
            nd_cluster(scratch, &level[last].g, heaviest, r, level[last].class_of);
        if (classes < 0)
            return LIBSOLVER_OUT_OF_MEMORY;
        if (classes > WORTH_A_LEVEL * n)
            break;
        level[last + 1].s.side = arena_new(scratch, classes, 1);
        if (!level[last + 1].s.side || !nd_contract(scratch, &level[last].g, level[last].class_of,
                                                    classes, &level[last + 1].g))
            return LIBSOLVER_OUT_OF_MEMORY;
        last++;
    }
    TRY(bottom > COARSEST ? repeat(scratch, w, &level[last].g, tries, stop, r, &level[last].s)
                          : separate(scratch, w, &level[last].g, r, &level[last].s));
    while (last-- > 0) {
        if (stopped(stop))
            return LIBSOLVER_CANCELLED;
        separation *fine = &level[last].s, *coarse = &level[last + 1].s;
        for (int32_t v = 0; v < level[last].g.n; v++)
            fine->side[v] = coarse->side[level[last].class_of[v]];
        memcpy(fine->weight, coarse->weight, sizeof fine->weight);
        nd_refine(w, &level[last].g, heaviest_side(g), PASSES, r, fine);
    }
    *s = level[0].s;
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}

libsolver_status nd_bisect(arena *scratch, const weighted_graph *g, int tries,
                           const atomic_int *stop, nd_random *r, separation *s)
{
    const arena_mark mark = arena_here(scratch);
    refiner *w = nd_refiner(scratch, g->n);
    if (!w)
        return LIBSOLVER_OUT_OF_MEMORY;
    const int32_t middle = g->n / DIVISOR < MIDDLE ? g->n / DIVISOR : MIDDLE;
    libsolver_status status;
    if (tries > 1 && g->n <= MIDDLE)
        status = repeat(scratch, w, g, tries, stop, r, s);
    else if (tries > 1 && middle > 2 * COARSEST)
        status = multilevel(scratch, w, g, middle, tries, stop, r, s);
    else
        status = multilevel(scratch, w, g, COARSEST, 1, stop, r, s);
    arena_back(scratch, mark);
    return status;
}
