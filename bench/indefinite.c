/* bench/indefinite.c: what the first factorizations of indefinite matrices cost, and later ones
 * after an analysis with values or from the pattern alone
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_indefinite [-t THREADS] [-u THRESHOLD] [-e EFFORT] [-p] [-v] PROBLEM...
 *
 * PROBLEM: as for the tool.  -u, -e: options.pivot_threshold and inertia_effort.  -p: the analysis
 * does not see the values.  -v: the library's sentences.  A line a matrix, milliseconds, each the
 * least of three runs: analysis, first factorization, a solve that is not refined, the sum of
 * these, a later factorization; then columns delayed, perturbed, inertia, attempts at the first and
 * at a later factorization, and the backward errors before and after refinement. */
#include "cli/problem.h"
#include "solver/libsolver.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 3

typedef struct job {
    libsolver_options options;
    int from_pattern, loud, attempts;
} job;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void listen(void *user, const char *sentence)
{
    job *j = user;
    j->attempts +=
        strstr(sentence, "in doubt:") != NULL || strstr(sentence, "delayed pivots:") != NULL;
    if (j->loud)
        fprintf(stderr, "    %s\n", sentence);
}

/* The least so far */
static void keep(double *least, double seconds, int run)
{
    *least = run == 0 || seconds < *least ? seconds : *least;
}

static void measure(job *j, const char *name)
{
    problem p;
    failure why = {0};
    must(problem_load(name, &p, &why) == 0, name);
    const size_t numbers = (size_t)p.a.n * (p.a.type == LIBSOLVER_Z ? 2 : 1);
    double *exact = calloc(numbers + 1, sizeof(double)), *b = calloc(numbers + 1, sizeof(double)),
           *x = calloc(numbers + 1, sizeof(double));
    must(exact && b && x, "no memory");
    for (size_t i = 0; i < numbers; i++)
        exact[i] = 1 + 0.1 * (double)(i % 7);
    must(triplets_multiply(&p.a, exact, 1, b), "no memory");
    libsolver_matrix a = triplets_view(&p.a), pattern = a;
    if (j->from_pattern)
        pattern.values = NULL;
    const libsolver_vectors
        bv = {.values = b, .rows = a.n, .columns = 1, .ld = a.n, .type = a.type},
        xv = {.values = x, .rows = a.n, .columns = 1, .ld = a.n, .type = a.type};
    double analysis = 0, first = 0, solve = 0, later = 0, total = 0;
    int attempts = 0, attempts_later = 0;
    libsolver_factor_info info = {0};
    libsolver_inertia_counts inertia = {0};
    libsolver_solve_info solved = {0};
    for (int run = 0; run < RUNS; run++) {
        libsolver_context *context;
        libsolver_analysis *s;
        libsolver_factor *f;
        must(libsolver_context_create(&j->options, &context) == LIBSOLVER_OK, "no context");
        double t[5];
        t[0] = now();
        must(libsolver_analyze(context, &pattern, &j->options, &s) == LIBSOLVER_OK, name);
        t[1] = now();
        j->attempts = 1;
        must(libsolver_factorize(s, &a, &f) >= 0, name);
        t[2] = now();
        attempts = j->attempts;
        libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &xv);
        t[3] = now();
        libsolver_info(f, &info);
        libsolver_inertia(f, &inertia);
        libsolver_solve(f, &bv, &xv);
        libsolver_solve_query(f, NULL, &solved);
        must(libsolver_refactorize(f, &a) >= 0, name);
        j->attempts = 1;
        t[4] = now();
        must(libsolver_refactorize(f, &a) >= 0, name);
        keep(&later, now() - t[4], run);
        attempts_later = j->attempts;
        keep(&analysis, t[1] - t[0], run);
        keep(&first, t[2] - t[1], run);
        keep(&solve, t[3] - t[2], run);
        keep(&total, t[3] - t[0], run);
        libsolver_factor_free(f);
        libsolver_analysis_free(s);
        libsolver_context_free(context);
    }
    printf(
        "%-34s %7d %9.3f %9.3f %8.3f %9.3f %9.3f  %6lld %5lld  %6lld %6lld %5lld %s  %d %d  %.0e "
        "%.0e %lld\n",
        p.name, p.a.n, 1e3 * analysis, 1e3 * first, 1e3 * solve, 1e3 * total, 1e3 * later,
        (long long)info.delayed, (long long)info.perturbed, (long long)inertia.positive,
        (long long)inertia.negative, (long long)inertia.zero, inertia.certain ? "yes" : "no ",
        attempts, attempts_later, solved.backward_error_initial, solved.backward_error,
        (long long)info.factor_nnz);
    fflush(stdout);
    free(exact);
    free(b);
    free(x);
    problem_free(&p);
}

int main(int argc, char **argv)
{
    job j = {.from_pattern = 0};
    libsolver_options_default(&j.options);
    j.options.backend = LIBSOLVER_BACKEND_CPU;
    j.options.log = listen;
    j.options.log_user = &j;
    for (int k = 1; k < argc; k++)
        if (!strcmp(argv[k], "-t") && k + 1 < argc)
            j.options.threads = atoi(argv[++k]);
        else if (!strcmp(argv[k], "-u") && k + 1 < argc)
            j.options.pivot_threshold = atof(argv[++k]);
        else if (!strcmp(argv[k], "-e") && k + 1 < argc)
            j.options.inertia_effort = (libsolver_effort)atoi(argv[++k]);
        else if (!strcmp(argv[k], "-p"))
            j.from_pattern = 1;
        else if (!strcmp(argv[k], "-v"))
            j.loud = 1;
        else
            measure(&j, argv[k]);
    return 0;
}
