/* solver/order_auto.c: AMD or nested dissection
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which orders are found is decided by the graph and by what they cost, never by who was first: threads only change what goes
 * on at the same time. */
#include "solver/candidate.h"
#include <math.h>

/* Nested dissection takes so long for an entry of the graph on one core of an AMD EPYC 9004, by `bench_ordering`.  It is tried
 * when a factorization by AMD's order, with ten solves, is predicted to take longer than WORTH_ND of its time: ten of them then
 * pay for it, if it gains as much as it mostly does, and lose little if it does not (`bench_auto_ordering`). */
#define ND_SECONDS_AN_EDGE 5e-7
#define WORTH_ND 0.5

/* Graphs with so many entries are dissected while AMD is at work, in vain where that shows it was not worth it. */
#define WORTH_A_THREAD 40000

/* A large graph with few neighbours everywhere is dissected first.  If its first separator is that of a body in three
 * dimensions, of more than n^SOLID rows, AMD's order would cost at least twice as much afterwards (lap3d:40 2.7, lap3d:50
 * 2.3) and is not looked for: it would take a fifth of the analysis. */
#define LARGE 50000
#define LEAST_DEGREE 5.5
#define MOST_DEGREE 64
#define SOLID 0.62

typedef struct race {
    choice *c;
    candidate nd;
    atomic_int stop; /* nested dissection is not worth it */
    int solid;       /* AMD is not */
    libsolver_status amd_status;
} race;

static int is_worth_nd(const choice *c)
{
    const graph *g = choice_graph(c);
    return g->n > 0 && g->start[g->n] > 0 &&
           c->amd.seconds >= WORTH_ND * ND_SECONDS_AN_EDGE * (double)g->start[g->n];
}

static int may_be_solid(const graph *g)
{
    if (g->n < LARGE || (double)g->start[g->n] < LEAST_DEGREE * g->n)
        return 0;
    for (int32_t v = 0; v < g->n; v++)
        if (g->start[v + 1] - g->start[v] > MOST_DEGREE)
            return 0;
    return 1;
}

static void run_amd(race *r)
{
    r->amd_status = candidate_find_amd(r->c);
    if (r->amd_status != LIBSOLVER_OK || !is_worth_nd(r->c))
        atomic_store(&r->stop, 1);
}

/* The first separator of a graph that may be solid is known. */
static void separated(void *user, int32_t weight)
{
    race *r = user;
    r->solid = weight > pow((double)r->c->g->n, SOLID);
    if (!r->solid) {
#pragma omp task firstprivate(r)
        run_amd(r);
    }
}

/* Both orders at the same time, as far as they are wanted. */
static libsolver_status find_both(race *r)
{
    const choice *c = r->c;
    const int later = may_be_solid(choice_graph(c));
    const nd_watch watch = {.stop = &r->stop, .separated = later ? separated : NULL, .user = r};
    libsolver_status status = LIBSOLVER_OK;
#pragma omp parallel num_threads(c->env->threads) if (c->env->threads > 1)
#pragma omp single
    {
        if (!later) {
#pragma omp task firstprivate(r)
            run_amd(r);
        }
        status = candidate_find(c, LIBSOLVER_ORDERING_ND, &watch, &r->nd);
#pragma omp taskwait
    }
    if (r->amd_status != LIBSOLVER_OK)
        status = r->amd_status;
    else if (status == LIBSOLVER_CANCELLED && atomic_load(&r->stop) && !environment_cancelled(c->env))
        status = LIBSOLVER_OK;
    return status;
}

/* One after the other. */
static libsolver_status find_in_turn(race *r)
{
    run_amd(r);
    TRY(r->amd_status);
    return atomic_load(&r->stop) ? LIBSOLVER_OK : candidate_find(r->c, LIBSOLVER_ORDERING_ND, NULL, &r->nd);
}

libsolver_status order_auto(choice *c, candidate *best)
{
    const graph *g = choice_graph(c);
    race r = {.c = c};
    atomic_init(&r.stop, 0);
    const int together = g->n > 0 && !c->amd.e.perm &&
                         (may_be_solid(g) || (c->env->threads > 1 && g->start[g->n] > WORTH_A_THREAD));
    const libsolver_status status = together ? find_both(&r) : find_in_turn(&r);
    const int dissected = r.solid || (!atomic_load(&r.stop) && r.nd.seconds < c->amd.seconds);
    candidate *chosen = dissected ? &r.nd : &c->amd;
    if (status == LIBSOLVER_OK) {
        *best = *chosen;
        chosen->e = (elimination_tree){0};
    }
    elimination_free(c->m, &r.nd.e);
    return status;
}
