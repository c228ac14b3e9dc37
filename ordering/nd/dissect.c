/* ordering/nd/dissect.c: nested dissection  [George, SIAM J. Numer. Anal. 10 (1973)]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of the graph is separated, the separator ordered last, and so on with the two parts left,
 * down to leaves.  Each part has its own slice of the permutation and its own random numbers,
 * seeded by its place in the tree, so that the result does not depend on which thread orders which
 * part, or when. */
#include "ordering/nd/dissection.h"
#include <string.h>

/* Parts of more vertices than a 64th of the graph are tasks of their own, within these bounds. */
#define TASK_PART 64
#define TASK_LEAST 1000
#define TASK_MOST 10000

/* Deeper parts are ordered as leaves.  Each side of a separator has at most about 60 % of the
 * weight, so that only graphs in which this fails get there. */
#define DEEPEST 100

/* Tuned with `bench_ordering` on one core of an AMD EPYC 9004, on grids and the shared matrices.  A
 * graph is large by its number of vertices.  Smaller leaves give up to 1 % less fill and take up to
 * 1.5 times as long; more tries on the upper parts, whose separators cost most, about the same. */
#define LARGE 20000
#define LEAF 300
#define LEAF_OF_LARGE 2000
#define LEAF_OF_THIN 50

/* Leaves of a large lattice in the plane, whose separators have at most sqrt(PLANE n) rows, need
 * not be that small: a 32nd of the whole leaves 1 % more fill, and 2000 vertices of lap2d:500 take
 * a quarter longer. */
#define PLANE 2.5
#define LEAVES_OF_PLANE 32
#define UPPER 4 /* levels of the tree */
#define TRIES 3
#define TRIES_OF_LARGE 2
#define CROWN 2 /* levels in which the best separator is chosen on the part itself */

/* A connected or unconnected part of the graph.  g.n == 0: only its vertices are listed, as it is a
 * leaf. */
typedef struct part {
    weighted_graph g;
    int32_t n, *vertex; /* of the whole graph */
    int32_t offset;     /* of its slice of perm */
    int depth;
    int may_be_lattice; /* or a part of one */
    int32_t cut; /* rows of the separator that it is a side of; of the whole graph INT32_MAX */
    uint64_t seed;
} part;

typedef struct job {
    arena memory;
    part p;
} job;

static void dissect(dissection *d, arena *scratch, const part *p);

static void fail(dissection *d, libsolver_status status)
{
    int expected = LIBSOLVER_OK;
    atomic_compare_exchange_strong(&d->status, &expected, status);
}

static libsolver_status order_leaf(dissection *d, arena *scratch, const part *p)
{
    const arena_mark mark = arena_here(scratch);
    weighted_graph g;
    if (!nd_with_halo(scratch, d, p->vertex, p->n, &g))
        return LIBSOLVER_OUT_OF_MEMORY;
    int32_t *perm = d->perm + p->offset;
    TRY(minimum_degree(scratch, &g, p->n, perm));
    for (int32_t k = 0; k < p->n; k++)
        perm[k] = p->vertex[perm[k]];
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}

/* Whether a part of so many vertices, which a separator of `cut` rows has left, is ordered by
 * minimum degree. */
static int is_leaf(const dissection *d, int32_t n, int32_t cut, int is_lattice)
{
    if (cut <= d->watch->thin && d->leaf > LEAF_OF_THIN)
        return n <= LEAF_OF_THIN;
    if (d->watch->thin == 0 && is_lattice && (double)cut * cut <= PLANE * n &&
        d->g->n / LEAVES_OF_PLANE > d->leaf)
        return n <= d->g->n / LEAVES_OF_PLANE;
    return n <= d->leaf;
}

/* Bytes of the chunks in which a part of n vertices takes its memory. */
static size_t chunk_of(int32_t n)
{
    const size_t bytes = 200 * (size_t)n;
    return bytes < 64 << 10 ? 64 << 10 : bytes > 1 << 20 ? 1 << 20 : bytes;
}

/* How the vertices of a part are divided, by side. */
typedef struct division {
    const part *p;
    const separation *s;
    int32_t *number;  /* p->n: place of each vertex on its side */
    int32_t count[3]; /* vertices */
    int64_t edges[3]; /* from them to vertices of any side */
} division;

/* The part on one side. */
static libsolver_status take_side(const dissection *d, arena *scratch, const division *x, int side,
                                  part *out)
{
    const part *p = x->p;
    const separation *s = x->s;
    const int32_t *number = x->number, count = x->count[side];
    *out = (part){.n = count,
                  .offset = p->offset + (side == RIGHT ? x->count[LEFT] : 0),
                  .depth = p->depth + 1,
                  .may_be_lattice = s->is_level,
                  .cut = s->weight[SEPARATOR],
                  .seed = hash64(p->seed * 2 + (uint64_t)side + 1)};
    out->vertex = arena_new(scratch, count, sizeof(int32_t));
    if (!out->vertex)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t v = 0; v < p->n; v++)
        if (s->side[v] == side)
            out->vertex[number[v]] = p->vertex[v];
    if (is_leaf(d, count, out->cut, out->may_be_lattice))
        return LIBSOLVER_OK;
    weighted_graph *g = &out->g;
    g->start = arena_new(scratch, (int64_t)count + 1, sizeof(int64_t));
    g->weight = arena_new(scratch, count, sizeof(int32_t));
    g->neighbor = arena_new(scratch, x->edges[side], sizeof(int32_t));
    if (!g->start || !g->weight || !g->neighbor)
        return LIBSOLVER_OUT_OF_MEMORY;
    int64_t end = 0;
    int32_t i = 0;
    for (int32_t v = 0; v < p->n; v++) {
        if (s->side[v] != side)
            continue;
        g->start[i] = end;
        g->weight[i++] = p->g.weight[v];
        for (int64_t q = p->g.start[v]; q < p->g.start[v + 1]; q++) {
            const int32_t u = p->g.neighbor[q];
            if (s->side[u] == side)
                g->neighbor[end++] = number[u];
        }
    }
    g->start[count] = end;
    g->n = count;
    g->total = s->weight[side];
    return LIBSOLVER_OK;
}

static void run(dissection *d, job *j)
{
    dissect(d, &j->memory, &j->p);
    arena_free(&j->memory);
    memory_free(&d->env->memory, j);
}

/* The parts are taken out at the same time and dissected as tasks with memory of their own. */
static libsolver_status hand_out(dissection *d, arena *scratch, const division *x)
{
    job *pending[2];
    libsolver_status taken[2] = {LIBSOLVER_OUT_OF_MEMORY, LIBSOLVER_OUT_OF_MEMORY};
    for (int side = 0; side < 2; side++) {
        pending[side] = memory_new(&d->env->memory, 1, sizeof(job));
        if (pending[side])
            arena_init(&pending[side]->memory, &d->env->memory, chunk_of(x->count[side]));
    }
#pragma omp taskgroup
    for (int side = 0; side < 2; side++)
        if (pending[side]) {
#pragma omp task firstprivate(side) shared(pending, taken) if (side == LEFT)
            taken[side] = take_side(d, &pending[side]->memory, x, side, &pending[side]->p);
        }
    arena_free(scratch); /* the part and its separation are gone */
    const libsolver_status status = taken[LEFT] != LIBSOLVER_OK ? taken[LEFT] : taken[RIGHT];
    for (int side = 0; side < 2; side++) {
        job *j = pending[side];
        if (j && status == LIBSOLVER_OK) {
#pragma omp task firstprivate(d, j)
            run(d, j);
        } else if (j) {
            arena_free(&j->memory);
            memory_free(&d->env->memory, j);
        }
    }
    return status;
}

/* The two sides in turn. */
static libsolver_status dissect_sides(dissection *d, arena *scratch, const division *x)
{
    for (int side = 0; side < 2; side++) {
        const arena_mark mark = arena_here(scratch);
        part q;
        TRY(take_side(d, scratch, x, side, &q));
        dissect(d, scratch, &q);
        arena_back(scratch, mark);
    }
    return LIBSOLVER_OK;
}

/* Orders the separator last, then each side. */
static libsolver_status divide(dissection *d, arena *scratch, const part *p, const separation *s)
{
    division x = {.p = p, .s = s, .number = arena_new(scratch, p->n, sizeof(int32_t))};
    if (!x.number)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t v = 0; v < p->n; v++) {
        x.number[v] = x.count[s->side[v]]++;
        x.edges[s->side[v]] += p->g.start[v + 1] - p->g.start[v];
    }
    int32_t *last = d->perm + p->offset + x.count[LEFT] + x.count[RIGHT];
    for (int32_t v = 0; v < p->n; v++)
        if (s->side[v] == SEPARATOR)
            last[x.number[v]] = p->vertex[v];
    return p->n > d->task ? hand_out(d, scratch, &x) : dissect_sides(d, scratch, &x);
}

/* By distance if p is a lattice, otherwise by coarsening, which draws the same random numbers
 * whether or not that was tried. */
static libsolver_status separate(const dissection *d, arena *scratch, const part *p, nd_random *r,
                                 separation *s)
{
    nd_random draws = *r;
    if (p->may_be_lattice)
        TRY(nd_cut_lattice(scratch, &p->g, p->depth, &draws, s));
    if (s->is_level)
        return LIBSOLVER_OK;
    if (p->depth == 0 && d->watch->is_no_lattice)
        d->watch->is_no_lattice(d->watch->user);
    const int tries = p->depth >= UPPER ? 1 : d->g->n > LARGE ? TRIES_OF_LARGE : TRIES;
    return nd_bisect(scratch, &p->g, tries, p->depth < CROWN ? 2 : 1, d->watch->stop, r, s);
}

static void dissect(dissection *d, arena *scratch, const part *p)
{
    if (atomic_load(&d->status) != LIBSOLVER_OK)
        return;
    if (environment_cancelled(d->env) || (d->watch->stop && atomic_load(d->watch->stop))) {
        fail(d, LIBSOLVER_CANCELLED);
        return;
    }
    libsolver_status status;
    if (is_leaf(d, p->n, p->cut, p->may_be_lattice) || p->depth >= DEEPEST)
        TRY_DONE(order_leaf(d, scratch, p));
    else {
        nd_random r = {p->seed};
        separation s = {.side = arena_new(scratch, p->n, 1)};
        if (!s.side) {
            status = LIBSOLVER_OUT_OF_MEMORY;
            goto done;
        }
        TRY_DONE(separate(d, scratch, p, &r, &s));
        if (p->depth == 0 && d->watch->separated)
            d->watch->separated(d->watch->user, s.weight[SEPARATOR]);
        if (s.weight[LEFT] > 0 && s.weight[RIGHT] > 0)
            TRY_DONE(divide(d, scratch, p, &s));
        else
            TRY_DONE(order_leaf(d, scratch, p));
    }
    return;
done:
    fail(d, status);
}

/* The whole graph as one part. */
static libsolver_status whole(const graph *g, uint64_t seed, arena *scratch, part *p)
{
    *p = (part){.n = g->n, .may_be_lattice = 1, .cut = INT32_MAX, .seed = hash64(seed + 1)};
    p->vertex = arena_new(scratch, g->n, sizeof(int32_t));
    p->g = (weighted_graph){
        .n = g->n, .start = g->start, .neighbor = g->neighbor, .weight = g->weight};
    if (!g->weight)
        p->g.weight = arena_new(scratch, g->n, sizeof(int32_t));
    if (!p->vertex || !p->g.weight)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t v = 0; v < g->n; v++) {
        p->vertex[v] = v;
        if (!g->weight)
            p->g.weight[v] = 1;
        p->g.total += p->g.weight[v];
    }
    return LIBSOLVER_OK;
}

libsolver_status order_nd_watched(environment *env, const graph *g, uint64_t seed,
                                  const nd_watch *watch, int32_t *perm)
{
    dissection d = {.env = env, .g = g, .perm = perm, .watch = watch};
    d.leaf = g->n > LARGE ? LEAF_OF_LARGE : LEAF;
    d.task = g->n / TASK_PART < TASK_LEAST  ? TASK_LEAST
             : g->n / TASK_PART > TASK_MOST ? TASK_MOST
                                            : g->n / TASK_PART;
    atomic_init(&d.status, LIBSOLVER_OK);
    if (g->n == 0)
        return LIBSOLVER_OK;
    d.local = memory_new(&env->memory, g->n, sizeof(int32_t));
    job *root = memory_new(&env->memory, 1, sizeof(job));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!d.local || !root)
        goto done;
    memset(d.local, -1, sizeof(int32_t) * (size_t)g->n);
    arena_init(&root->memory, &env->memory, chunk_of(g->n));
    status = whole(g, seed, &root->memory, &root->p);
    if (status != LIBSOLVER_OK) {
        arena_free(&root->memory);
        goto done;
    }
#pragma omp taskgroup
    run(&d, root);
    root = NULL;
    status = (libsolver_status)atomic_load(&d.status);
done:
    memory_free(&env->memory, d.local);
    memory_free(&env->memory, root);
    return status;
}

libsolver_status order_nd(environment *env, const graph *g, uint64_t seed, int32_t thin,
                          int32_t *perm)
{
    const nd_watch watch = {.thin = thin};
    libsolver_status status = LIBSOLVER_OK;
    const int team = threads_for_dissection(env->threads, g);
#pragma omp parallel num_threads(team) if (team > 1)
#pragma omp master /* whose allocator has the memory that earlier calls have freed */
    status = order_nd_watched(env, g, seed, &watch, perm);
    return status;
}
