/* bench/auto_ordering.c: what AUTO orders by, beside AMD and nested dissection
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: auto_ordering [-t THREADS] [-m 1] PROBLEM...      PROBLEM: as for the tool (lap2d:N, ..., or a file)
 *
 * A job is one analysis and ten factorizations with ten solves each, as in an interior-point method.  Analyses are timed, the
 * least of three; factorizations and solves are predicted by what AUTO itself goes by or, with -m, timed too, the
 * least of some.  Times are of the processor with one thread, otherwise elapsed.  Printed are the times
 * in ms of AMD, nested dissection and AUTO, and the ratios of AUTO to the better of the two: of the factorization with its
 * solves, and of the whole job. */
#include "cli/problem.h"
#include "solver/objects.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FACTORIZATIONS = 10, SOLVES = 10, REPEATS = 3, MOST_PROBLEMS = 1000 };
#define ALLOWED 1.1 /* ratios up to this are as good as the best */

typedef struct figures {
    double analyze, factorize; /* seconds; factorize with its solves */
    libsolver_ordering used;
} figures;

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

/* A later factorization with its solves. */
static double timed(const libsolver_analysis *s, const libsolver_matrix *a)
{
    const size_t values = (size_t)a->n * 2 + 1;
    double *b = calloc(values, sizeof(double)), *x = calloc(values, sizeof(double)), least = INFINITY;
    must(b && x, "no memory");
    for (size_t i = 0; i < values; i++)
        b[i] = 1;
    const libsolver_vectors rhs = {.values = b, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type},
                            solution = {.values = x, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type};
    libsolver_factor *f = NULL;
    libsolver_status status = libsolver_factorize(s, a, &f);
    for (int k = 0; k < REPEATS && status >= 0; k++) {
        const double begin = seconds();
        status = libsolver_refactorize(f, a);
        for (int i = 0; i < SOLVES && status >= 0; i++)
            status = libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &rhs, &solution);
        least = fmin(least, seconds() - begin);
    }
    libsolver_factor_free(f);
    free(b);
    free(x);
    return status < 0 ? NAN : least;
}

/* with_values: factorize too. */
static figures measure(const libsolver_matrix *a, libsolver_ordering ordering, int with_values)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.ordering = ordering;
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = threads;
    libsolver_context *context;
    libsolver_analysis *s = NULL;
    figures f = {.analyze = INFINITY};
    must(libsolver_context_create(&o, &context) == LIBSOLVER_OK, "no context");
    for (int k = 0; k < REPEATS; k++) {
        libsolver_analysis_free(s);
        const double begin = seconds();
        must(libsolver_analyze(context, a, &o, &s) == LIBSOLVER_OK, libsolver_context_message(context));
        f.analyze = fmin(f.analyze, seconds() - begin);
    }
    f.used = s->ordering;
    f.factorize = with_values && measured ? timed(s, a) : s->seconds;
    libsolver_analysis_free(s);
    libsolver_context_free(context);
    return f;
}

static double job(figures f)
{
    return f.analyze + FACTORIZATIONS * f.factorize;
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
    const figures amd = measure(&a, LIBSOLVER_ORDERING_AMD, 1), nd = measure(&a, LIBSOLVER_ORDERING_ND, 1);
    figures automatic = measure(&a, LIBSOLVER_ORDERING_AUTO, 0);
    automatic.factorize = automatic.used == LIBSOLVER_ORDERING_ND ? nd.factorize : amd.factorize; /* it is one of the two orders */
    r->factorize = automatic.factorize / fmin(amd.factorize, nd.factorize);
    r->job = job(automatic) / fmin(job(amd), job(nd));
    printf("%-30s %8d %9.2f %9.2f %9.2f   %9.3f %9.3f %-3s  %6.3f %6.3f\n", p.name, p.a.n, 1e3 * amd.analyze,
           1e3 * nd.analyze, 1e3 * automatic.analyze, 1e3 * amd.factorize, 1e3 * nd.factorize,
           automatic.used == LIBSOLVER_ORDERING_ND ? "nd" : "amd", r->factorize, r->job);
    fflush(stdout);
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
    printf("%s: AUTO over the better one: geometric mean %.3f, largest %.3f, above %.2f in %d of %d\n", what,
           exp(mean), largest, ALLOWED, above, count);
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
