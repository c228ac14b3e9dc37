/* ordering/nd/bisect.c: a vertex separator by coarsening, separating the coarsest graph, and
 * refining on the way back  [Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998); Hendrickson, Rothberg,
 * SIAM J. Sci. Comput. 20 (1998)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/nd/nd.h"
#include <string.h>

/* Tuned with `bench_ordering`, as the constants in dissect.c.  The coarsest graph has about so many
 * vertices, none of more than HEAVY_PERCENT of their mean weight: a tighter bound costs fill, as
 * the clusters become uneven. */
#define COARSEST 50
#define HEAVY_PERCENT 200
#define GROWS 4
#define PASSES 4

/* Where there are tries, each begins at a graph of 1 / DIVISOR of the vertices, at most MIDDLE;
 * smaller graphs are tried as they are. */
#define MIDDLE 2000
#define DIVISOR 8

/* Tries go down to coarsest graphs of two sizes, by turns.  A hundred clusters lead to even cuts,
 * as they suit finite elements: with 50 vec3d:20 takes a tenth more flops.  From 25 uneven ones
 * also come others, which may be much better on the graph itself though not on coarser ones: a cube
 * of n^3 vertices with seven-point stars is cut along a plane by n^2 of them, across its diagonal
 * by 3/4 n^2. */
#define EVEN 100
#define UNEVEN 25

/* The best of either size are both refined until one is worse than the other by this factor. */
#define FAR_WORSE 1.3

#define LEVELS 64

/* Coarsening goes on while it leaves at most this part of the vertices. */
#define WORTH_A_LEVEL 0.95

/* Nonzero when a is to be preferred to b. */
static int better(const separation *a, const separation *b)
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

/* Rivals on larger graphs are refined side by side. */
#define LEAST_SIDE_BY_SIDE 20000

/* What all steps of one search share. */
typedef struct search {
    arena *scratch;
    refiner *w[2]; /* of each rival; the first for all else */
    const atomic_int *stop;
    nd_random *r;
} search;

/* A graph and up to two rivals, separations that are refined on the way back to it. */
typedef struct level {
    weighted_graph g;
    int32_t *class_of; /* of its vertices on the next level */
    separation rival[2];
} level;

/* The best of some grown separators. */
static libsolver_status separate(const search *q, const weighted_graph *g, separation *best)
{
    const arena_mark mark = arena_here(q->scratch);
    separation s = {.side = arena_new(q->scratch, g->n, 1)};
    if (!s.side)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int k = 0; k < GROWS; k++) {
        const int32_t until = (int32_t)((int64_t)g->total * (40 + nd_below(q->r, 11)) / 100);
        nd_grow(q->w[0], g, until, q->r, &s);
        nd_refine(q->w[0], g, nd_heaviest_side(g), PASSES, q->r, &s);
        if (k == 0 || better(&s, best))
            copy(&s, g->n, best);
    }
    arena_back(q->scratch, mark);
    return LIBSOLVER_OK;
}

/* Levels from l[0], whose separations have room already, down to one of about `bottom` vertices,
 * l[*last].  coarsest: vertices of the coarsest graph that these will lead to. */
static libsolver_status coarsen(const search *q, int32_t bottom, int32_t coarsest, int rivals,
                                level *l, int *last)
{
    const int32_t heaviest = (int32_t)((int64_t)l->g.total * HEAVY_PERCENT / 100 / coarsest + 1);
    for (*last = 0; l->g.n > bottom && *last + 1 < LEVELS; l++, ++*last) {
        if (stopped(q->stop))
            return LIBSOLVER_CANCELLED;
        l->class_of = arena_new(q->scratch, l->g.n, sizeof(int32_t));
        if (!l->class_of)
            return LIBSOLVER_OUT_OF_MEMORY;
        const int32_t classes = nd_cluster(q->scratch, &l->g, heaviest, q->r, l->class_of);
        if (classes < 0)
            return LIBSOLVER_OUT_OF_MEMORY;
        if (classes > WORTH_A_LEVEL * l->g.n)
            break;
        for (int k = 0; k < rivals; k++)
            if (!(l[1].rival[k].side = arena_new(q->scratch, classes, 1)))
                return LIBSOLVER_OUT_OF_MEMORY;
        if (!nd_contract(q->scratch, &l->g, l->class_of, classes, &l[1].g))
            return LIBSOLVER_OUT_OF_MEMORY;
    }
    return LIBSOLVER_OK;
}

static int far_worse(const separation *a, const separation *b)
{
    return (double)a->weight[SEPARATOR] * b->weight[LEFT] * b->weight[RIGHT] >
           FAR_WORSE * b->weight[SEPARATOR] * a->weight[LEFT] * a->weight[RIGHT];
}

/* Leaves the better one in rival[0]. */
static void settle(level *l)
{
    if (better(&l->rival[1], &l->rival[0]))
        copy(&l->rival[1], l->g.n, &l->rival[0]);
}

/* What the separation `coarse` of l[1] is on l[0], refined. */
static void refine_one(refiner *w, const level *l, int32_t heaviest, nd_random *r,
                       const separation *coarse, separation *fine)
{
    for (int32_t v = 0; v < l->g.n; v++)
        fine->side[v] = coarse->side[l->class_of[v]];
    memcpy(fine->weight, coarse->weight, sizeof fine->weight);
    nd_refine(w, &l->g, heaviest, PASSES, r, fine);
}

/* Takes the rivals of l[last] back to l[0], refined on each level, the better one to rival[0]. */
static libsolver_status refine_back(const search *q, int last, int rivals, level *l)
{
    const int32_t heaviest = nd_heaviest_side(&l[0].g);
    nd_random stream[2] = {{nd_draw(q->r)}, {nd_draw(q->r)}};
    for (int i = last; i-- > 0;) {
        if (stopped(q->stop))
            return LIBSOLVER_CANCELLED;
        separation *fine = l[i].rival, *coarse = l[i + 1].rival;
        for (int k = 1; k < rivals; k++)
#pragma omp task if (l[i].g.n > LEAST_SIDE_BY_SIDE) firstprivate(i, k, l, fine, coarse) \
    shared(stream)
            refine_one(q->w[k], &l[i], heaviest, &stream[k], &coarse[k], &fine[k]);
        refine_one(q->w[0], &l[i], heaviest, &stream[0], &coarse[0], &fine[0]);
#pragma omp taskwait
        if (rivals == 2 && (far_worse(&fine[0], &fine[1]) || far_worse(&fine[1], &fine[0]))) {
            settle(&l[i]);
            rivals = 1;
        }
    }
    if (rivals == 2)
        settle(&l[0]);
    return LIBSOLVER_OK;
}

/* Coarsens to about `coarsest` vertices, separates there, refines on the way back. */
static libsolver_status multilevel(const search *q, const weighted_graph *g, int32_t coarsest,
                                   separation *s)
{
    const arena_mark mark = arena_here(q->scratch);
    level l[LEVELS];
    int last;
    l[0] = (level){.g = *g, .rival = {*s}};
    TRY(coarsen(q, coarsest, coarsest, 1, l, &last));
    TRY(separate(q, &l[last].g, &l[last].rival[0]));
    TRY(refine_back(q, last, 1, l));
    *s = l[0].rival[0];
    arena_back(q->scratch, mark);
    return LIBSOLVER_OK;
}

/* The best of `tries`. */
static libsolver_status repeat(const search *q, const weighted_graph *g, int32_t coarsest,
                               int tries, separation *best)
{
    const arena_mark mark = arena_here(q->scratch);
    separation s = {.side = arena_new(q->scratch, g->n, 1)};
    if (!s.side)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int k = 0; k < tries; k++) {
        TRY(multilevel(q, g, coarsest, k == 0 ? best : &s));
        if (k > 0 && better(&s, best))
            copy(&s, g->n, best);
    }
    arena_back(q->scratch, mark);
    return LIBSOLVER_OK;
}

/* The best of two or more tries, half of them from each size of coarsest graphs. */
static libsolver_status compete(const search *q, const weighted_graph *g, int tries, int rivals,
                                separation *s)
{
    const arena_mark mark = arena_here(q->scratch);
    level l[LEVELS];
    int last;
    l[0] = (level){.g = *g, .rival = {*s, {.side = arena_new(q->scratch, g->n, 1)}}};
    if (!l[0].rival[1].side)
        return LIBSOLVER_OUT_OF_MEMORY;
    const int32_t middle = g->n <= MIDDLE            ? g->n
                           : g->n / DIVISOR < MIDDLE ? g->n / DIVISOR
                                                     : MIDDLE;
    TRY(coarsen(q, middle, EVEN, 2, l, &last));
    TRY(repeat(q, &l[last].g, EVEN, (tries + 1) / 2, &l[last].rival[0]));
    TRY(repeat(q, &l[last].g, UNEVEN, tries / 2, &l[last].rival[1]));
    if (rivals == 1)
        settle(&l[last]);
    TRY(refine_back(q, last, rivals, l));
    *s = l[0].rival[0];
    arena_back(q->scratch, mark);
    return LIBSOLVER_OK;
}

libsolver_status nd_bisect(arena *scratch, const weighted_graph *g, int tries, int rivals,
                           const atomic_int *stop, nd_random *r, separation *s)
{
    const arena_mark mark = arena_here(scratch);
    rivals = tries > 1 ? rivals : 1;
    search q = {.scratch = scratch, .stop = stop, .r = r};
    for (int k = 0; k < rivals; k++)
        if (!(q.w[k] = nd_refiner(scratch, g->n)))
            return LIBSOLVER_OUT_OF_MEMORY;
    const libsolver_status status =
        tries > 1 ? compete(&q, g, tries, rivals, s) : multilevel(&q, g, COARSEST, s);
    arena_back(scratch, mark);
    return status;
}
