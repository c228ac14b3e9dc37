/* bench/auto_ordering.c: what AUTO orders by, beside AMD and nested dissection
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: auto_ordering [-t THREADS] [-m 1] PROBLEM...      PROBLEM: as for the tool (lap2d:N, ...,
 * or a file)
 *
 * A job is one analysis and ten factorizations with ten solves each, as in an interior-point
 * method.  Analyses are timed; factorizations and solves are predicted by what AUTO itself goes by
 * or, with -m, timed too.  Orders take turns, and the least of all turns counts.  Times are of the
 * processor with one thread, otherwise elapsed.  Printed are the times in ms of AMD, nested
 * dissection and AUTO, and the ratios of AUTO to the better of the two: of the factorization with
 * its solves, and of the whole job. */
#include "cli/problem.h"
#include "solver/phases/objects.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FACTORIZATIONS = 10, SOLVES = 10, LEAST_TURNS = 3, MOST_TURNS = 100, MOST_PROBLEMS = 1000 };
#define ENOUGH 0.3  /* seconds of turns */
#define ALLOWED 1.1 /* ratios up to this are as good as the best */

/* One order. */
typedef struct contender {
    libsolver_context *context;
    libsolver_analysis *s;
    libsolver_factor *f;
    double analyze, factorize; /* seconds; factorize with its solves */
} contender;

enum { AMD, ND, AUTOMATIC, CONTENDERS };
static const libsolver_ordering ordering_of[] = {LIBSOLVER_ORDERING_AMD, LIBSOLVER_ORDERING_ND,
                                                 LIBSOLVER_ORDERING_AUTO};

typedef struct ratios {
    double factorize, job;
} ratios;

static int threads = 1, measured;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "auto_ordering: %s\n", what);
    exit(1);
}

static void analyze(contender *c, const libsolver_matrix *a, libsolver_ordering ordering)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.ordering = ordering;
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = threads;
    if (!c->context)
        must(libsolver_context_create(&o, &c->context) == LIBSOLVER_OK, "no context");
    libsolver_analysis_free(c->s);
    const double begin = seconds();
    must(libsolver_analyze(c->context, a, &o, &c->s) == LIBSOLVER_OK,
         libsolver_context_message(c->context));
    c->analyze = fmin(c->analyze, seconds() - begin);
}

/* A factorization with its solves; the first, which takes memory, does not count. */
static void factorize(contender *c, const libsolver_matrix *a, const libsolver_vectors *b,
                      const libsolver_vectors *x)
{
    const double begin = seconds();
    const int is_first = !c->f;
    libsolver_status status =
        is_first ? libsolver_factorize(c->s, a, &c->f) : libsolver_refactorize(c->f, a);
    for (int i = 0; i < SOLVES && status >= 0; i++)
        status = libsolver_solve_plain(c->f, LIBSOLVER_PART_ALL, NULL, b, x);
    if (status < 0)
        c->factorize = NAN;
    else if (!is_first)
        c->factorize = fmin(c->factorize, seconds() - begin);
}

static void factorize_in_turn(contender *c, const libsolver_matrix *a)
{
    const size_t values = (size_t)a->n * 2 + 1;
    double *b = calloc(values, sizeof(double)), *x = calloc(values, sizeof(double)), spent = 0;
    must(b && x, "no memory");
    for (size_t i = 0; i < values; i++)
        b[i] = 1;
    const libsolver_vectors
        rhs = {.values = b, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type},
        solution = {.values = x, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type};
    for (int turn = -1; turn < LEAST_TURNS || (turn < MOST_TURNS && spent < ENOUGH); turn++) {
        const double begin = seconds();
        factorize(&c[turn & 1 ? AMD : ND], a, &rhs, &solution);
        factorize(&c[turn & 1 ? ND : AMD], a, &rhs, &solution);
        spent += turn < 0 ? 0 : seconds() - begin;
    }
    free(b);
    free(x);
}

static double job(const contender *c)
{
    return c->analyze + FACTORIZATIONS * c->factorize;
}

/* 0 where there is nothing to compare. */
static int bench(const char *specification, ratios *r)
{
    problem p;
    failure f = {0};
    if (problem_load(specification, &p, &f)) {
        printf("%-30s %s\n", specification, f.text);
        problem_free(&p);
        return 0;
    }
    const libsolver_matrix a = triplets_view(&p.a);
    contender c[CONTENDERS];
    for (int k = 0; k < CONTENDERS; k++)
        c[k] = (contender){.analyze = INFINITY, .factorize = INFINITY};
    const double begin = seconds();
    for (int turn = 0; turn < LEAST_TURNS || (turn < MOST_TURNS && seconds() - begin < ENOUGH);
         turn++)
        for (int k = 0; k < CONTENDERS; k++)
            analyze(&c[(k + turn) % CONTENDERS], &a, ordering_of[(k + turn) % CONTENDERS]);
    for (int k = 0; k < AUTOMATIC && !measured; k++)
        c[k].factorize = c[k].s->seconds;
    if (measured)
        factorize_in_turn(c, &a);
    const int is_nd = c[AUTOMATIC].s->ordering == LIBSOLVER_ORDERING_ND;
    c[AUTOMATIC].factorize = c[is_nd ? ND : AMD].factorize; /* it is one of the two orders */
    r->factorize = c[AUTOMATIC].factorize / fmin(c[AMD].factorize, c[ND].factorize);
    r->job = job(&c[AUTOMATIC]) / fmin(job(&c[AMD]), job(&c[ND]));
    printf("%-30s %8d %9.2f %9.2f %9.2f   %9.3f %9.3f %-3s  %6.3f %6.3f\n", p.name, p.a.n,
           1e3 * c[AMD].analyze, 1e3 * c[ND].analyze, 1e3 * c[AUTOMATIC].analyze,
           1e3 * c[AMD].factorize, 1e3 * c[ND].factorize, is_nd ? "nd" : "amd", r->factorize,
           r->job);
    fflush(stdout);
    for (int k = 0; k < CONTENDERS; k++) {
        libsolver_factor_free(c[k].f);
        libsolver_analysis_free(c[k].s);
        libsolver_context_free(c[k].context);
    }
    const int compared = p.a.n > 0 && r->job > 0;
    problem_free(&p);
    return compared;
}

/* How many ratios are above what is allowed, and the largest. */
static void summarize(const char *what, const double *ratio, int count)
{
    int above = 0;
    double largest = 0, mean = 0;
    for (int k = 0; k < count; k++) {
        above += ratio[k] > ALLOWED;
        largest = fmax(largest, ratio[k]);
        mean += log(ratio[k]) / count;
    }
    printf(
        "%s: AUTO over the better one: geometric mean %.3f, largest %.3f, above %.2f in %d of %d\n",
        what, exp(mean), largest, ALLOWED, above, count);
}

int main(int count, char **argument)
{
    int k = 1, found = 0;
    for (; k + 1 < count && argument[k][0] == '-'; k += 2)
        *(argument[k][1] == 't' ? &threads : &measured) = atoi(argument[k + 1]);
    must(k < count && threads > 0 && count - k <= MOST_PROBLEMS,
         "usage: auto_ordering [-t THREADS] [-m 1] PROBLEM...");
    static double factorize[MOST_PROBLEMS], jobs[MOST_PROBLEMS];
    printf("%-30s %8s %9s %9s %9s   %9s %9s %-3s  %6s %6s\n", "", "n", "analyze:", "nd", "auto",
           measured ? "measured:" : "predicted:", "nd", "", "factor", "job");
    for (; k < count; k++) {
        ratios r;
        if (!bench(argument[k], &r))
            continue;
        factorize[found] = r.factorize;
        jobs[found++] = r.job;
    }
    summarize("factorizations", factorize, found);
    summarize("jobs", jobs, found);
    return 0;
}
