/* solver/order/order_auto.c: AMD or nested dissection
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which orders are found is decided by the graph and by what they cost, never by which was found
 * first: threads only change what goes on at the same time. */
#include "solver/order/order_auto.h"
#include <math.h>

/* Nested dissection takes at most so long on one core of an AMD EPYC 9004, by `bench_ordering`: for
 * each entry of the graph or, where vertices have many neighbours, for each vertex and less for
 * each entry.  It is tried when a factorization by AMD's order, with ten solves, is predicted to
 * take longer than that: ten of them then pay for it, if it gains as much as it mostly does, and
 * lose a tenth if it does not (`bench_auto_ordering`).  For very many solves it is always tried. */
#define ND_SECONDS_AN_EDGE 4.5e-7
#define ND_SECONDS_A_VERTEX 6e-6
#define ND_SECONDS_AN_EDGE_OF_MANY 2.5e-8

/* Where AMD's largest front has at most n^FLAT rows the graph is that of a plane region or thinner
 * (lap2d of 10^4 to 4 10^6 rows: n^0.53 to n^0.55), and the dissection saves at most a third of
 * that time.  There it has to pay within two factorizations with their solves, not ten: whoever
 * makes only one would wait twice as long for it. */
#define FLAT 0.56
#define FLAT_FACTOR 1.5

/* Predicted times nearer to each other are equal: nested dissection is taken, whose tree has more
 * room for threads and fewer levels for a GPU (elas_armadillo 40, AMD 55). */
#define EQUAL 1.02

/* A large graph with few neighbours everywhere is dissected first.  If its first separator is that
 * of a body in three dimensions, of more than n^SOLID rows, AMD's order would cost at least twice
 * as much afterwards (lap3d:40 2.7, lap3d:50 2.3) and is not looked for: it would take a fifth of
 * the analysis. */
#define LARGE 50000
#define LEAST_DEGREE 5.5
#define MOST_DEGREE 64
#define SOLID 0.62

/* A lattice is dissected in this part of the time that other graphs take.  Of a body AMD's order is
 * found no faster and costs twice as much afterwards.  Of a plane it is found in less than half the
 * time, which from LARGE_LATTICE vertices on is made up by one or two factorizations with ten
 * solves.  Then AMD's order is not looked for, if the first separator has n^SHORTEST to n^LONGEST
 * rows: a long thin lattice has less fill by it, and what has longer ones is no lattice of at most
 * three dimensions. */
#define LATTICE_PART (1. / 3)
#define LEAST_LATTICE 5000
#define LARGE_LATTICE 100000
#define SHORTEST 0.42
#define LONGEST 0.67

typedef struct race {
    choice *c;
    candidate nd;
    atomic_int stop; /* nested dissection is not worth it */
    int without_amd; /* AMD is not */
    atomic_int amd_is_known;
    atomic_int separator; /* rows of the first one, 0: not known yet */
    libsolver_status amd_status;
} race;

static double nd_seconds(const graph *g)
{
    const double edges = (double)g->start[g->n];
    return fmin(ND_SECONDS_AN_EDGE * edges,
                ND_SECONDS_A_VERTEX * g->n + ND_SECONDS_AN_EDGE_OF_MANY * edges);
}

/* Whether a front or a separator of so many rows is not more than that of a flat graph. */
static int is_flat_front(const choice *c, int32_t rows)
{
    return rows <= pow(c->g->n, FLAT);
}

/* Whether AMD's order has shown that the graph is not more than flat. */
static int is_flat(const choice *c)
{
    int32_t largest = 0;
    for (int32_t k = 0; k < c->amd.e.n; k++)
        largest = c->amd.e.count[k] > largest ? c->amd.e.count[k] : largest;
    return is_flat_front(c, largest);
}

/* Whether to dissect if that takes this part of the time that other graphs take. */
static int is_worth_nd(const choice *c, double part)
{
    const graph *g = choice_graph(c);
    if (g->n == 0 || g->start[g->n] == 0)
        return 0;
    return c->for_many_solves ||
           c->amd.seconds >= part * nd_seconds(g) * (is_flat(c) ? FLAT_FACTOR : 1);
}

/* Whether a lattice with so many neighbours is one in three dimensions. */
static int has_neighbors_of_solid(const graph *g)
{
    return (double)g->start[g->n] >= LEAST_DEGREE * g->n;
}

/* Whether to dissect g if it is a lattice, without looking for AMD's order. */
static int is_worth_a_lattice(const choice *c)
{
    const graph *g = choice_graph(c);
    return !c->amd.e.perm && g->n >= LEAST_LATTICE &&
           (c->for_many_solves || g->n >= LARGE_LATTICE || has_neighbors_of_solid(g));
}

static int may_be_solid(const graph *g)
{
    if (g->n < LARGE || !has_neighbors_of_solid(g))
        return 0;
    for (int32_t v = 0; v < g->n; v++)
        if (g->start[v + 1] - g->start[v] > MOST_DEGREE)
            return 0;
    return 1;
}

/* Nested dissection does not win with a first separator that takes longer than all of AMD's fronts,
 * as a front of its own. */
static int is_hopeless(race *r)
{
    const int rows = atomic_load(&r->separator);
    return atomic_load(&r->amd_is_known) && rows > 0 &&
           r->c->costs->ten_solves(rows, rows, 0) >= r->c->amd.seconds;
}

static void run_amd(race *r)
{
    r->amd_status = candidate_find_amd(r->c);
    if (r->amd_status == LIBSOLVER_OK)
        atomic_store(&r->amd_is_known, 1);
    if (r->amd_status != LIBSOLVER_OK || !is_worth_nd(r->c, 1) || is_hopeless(r))
        atomic_store(&r->stop, 1);
}

/* The first separator is known. */
static void separated(void *user, int32_t weight)
{
    race *r = user;
    atomic_store(&r->separator, weight);
    if (!r->c->for_many_solves && is_flat_front(r->c, weight)) {
        /* the dissection is rarely wanted then, and slows AMD down, which is one thread's work */
#pragma omp taskwait
    }
    if (is_hopeless(r))
        atomic_store(&r->stop, 1);
}

/* That of a graph that may be solid. */
static void separated_first(void *user, int32_t weight)
{
    race *r = user;
    r->without_amd = weight > pow((double)r->c->g->n, SOLID);
    if (!r->without_amd) {
        separated(r, weight);
#pragma omp task firstprivate(r)
        run_amd(r);
    }
}

/* The status of a dissection that may have been stopped here. */
static libsolver_status unless_stopped(const race *r, libsolver_status status)
{
    return status == LIBSOLVER_CANCELLED && atomic_load(&r->stop) &&
                   !environment_cancelled(r->c->env)
               ? LIBSOLVER_OK
               : status;
}

/* Threads that share the work on c's graph. */
static int team_of(const choice *c)
{
    return threads_for_dissection(c->env->threads, choice_graph(c));
}

/* Both orders at the same time, as far as they are wanted.  Here and below the calling
 * thread begins, because its allocator has the memory that earlier calls have freed. */
static libsolver_status find_both(race *r)
{
    const choice *c = r->c;
    const int later = may_be_solid(choice_graph(c)), team = team_of(c);
    const nd_watch watch = {.stop = &r->stop,
                            .separated = later ? separated_first : separated,
                            .user = r,
                            .thin = candidate_thin(c)};
    libsolver_status status = LIBSOLVER_OK;
#pragma omp parallel num_threads(team) if (team > 1)
#pragma omp master
    {
        if (!later) {
#pragma omp task firstprivate(r)
            run_amd(r);
        }
        status = candidate_find(c, LIBSOLVER_ORDERING_ND, &watch, &r->nd);
#pragma omp taskwait
    }
    return r->amd_status != LIBSOLVER_OK ? r->amd_status : unless_stopped(r, status);
}

/* Nested dissection by all threads. */
static libsolver_status dissect(race *r, const nd_watch *watch)
{
    const choice *c = r->c;
    const int team = team_of(c);
    libsolver_status status = LIBSOLVER_OK;
#pragma omp parallel num_threads(team) if (team > 1)
#pragma omp master
    status = candidate_find(c, LIBSOLVER_ORDERING_ND, watch, &r->nd);
    return unless_stopped(r, status);
}

static void give_up(void *user)
{
    race *r = user;
    atomic_store(&r->stop, 1);
}

static void give_up_unless_short(void *user, int32_t weight)
{
    race *r = user;
    const double n = r->c->g->n;
    atomic_store(&r->separator, weight);
    if (weight < pow(n, SHORTEST) || weight > pow(n, LONGEST))
        give_up(r);
}

/* Nested dissection's order, if that of a lattice. */
static libsolver_status find_lattice(race *r)
{
    const nd_watch watch = {.stop = &r->stop,
                            .separated = give_up_unless_short,
                            .is_no_lattice = give_up,
                            .user = r,
                            .thin = candidate_thin(r->c)};
    return dissect(r, &watch);
}

/* One after the other. */
static libsolver_status find_in_turn(race *r)
{
    run_amd(r);
    TRY(r->amd_status);
    if (atomic_load(&r->stop))
        return LIBSOLVER_OK;
    const nd_watch watch = {
        .stop = &r->stop, .separated = separated, .user = r, .thin = candidate_thin(r->c)};
    return dissect(r, &watch);
}

/* AMD's order and, as far as it is wanted, the other: where threads share the work at the same
 * time, which is wasted where AMD's order shows that dissection does not pay. */
static libsolver_status find_any(race *r)
{
    const choice *c = r->c;
    const graph *g = choice_graph(c);
    const int together = g->n > 0 && !c->amd.e.perm && (may_be_solid(g) || team_of(c) > 1);
    TRY(together ? find_both(r) : find_in_turn(r));
    if (!atomic_load(&r->stop) || is_hopeless(r) || !is_worth_nd(c, LATTICE_PART))
        return LIBSOLVER_OK;
    elimination_free(c->m, &r->nd.e); /* was found before it turned out not to be worth that */
    atomic_store(&r->stop, 0);
    return find_lattice(r);
}

libsolver_status order_auto(choice *c, candidate *best)
{
    race r = {.c = c};
    atomic_init(&r.stop, 0);
    atomic_init(&r.amd_is_known, 0);
    atomic_init(&r.separator, 0);
    libsolver_status status = LIBSOLVER_OK;
    if (is_worth_a_lattice(c)) {
        status = find_lattice(&r);
        r.without_amd = !atomic_load(&r.stop);
        atomic_store(&r.stop, 0);
    }
    if (status == LIBSOLVER_OK && !r.without_amd)
        status = find_any(&r);
    const int dissected = r.without_amd || (!atomic_load(&r.stop) && !is_hopeless(&r) &&
                                            r.nd.seconds < EQUAL * c->amd.seconds);
    candidate *chosen = dissected ? &r.nd : &c->amd;
    if (status == LIBSOLVER_OK) {
        *best = *chosen;
        chosen->e = (elimination_tree){0};
    }
    elimination_free(c->m, &r.nd.e);
    return status;
}
