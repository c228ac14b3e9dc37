/* bench/ordering.c: our nested dissection beside METIS's: fill, flops and time, over several seeds
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: ordering [-s SEEDS] [-t THREADS] PROBLEM...      PROBLEM: as for the tool (lap2d:N, ...,
 * or a file)
 *
 * Both get the compressed graph.  nnz(L) and flops: geometric means of ours over those of METIS,
 * over the seeds; AMD's beside them, its time included.  Times are of the processor (one thread)
 * and medians over the seeds; with -t the speed-up is the ratio of elapsed times.  The means leave
 * out graphs without edges. */
#include "cli/problem.h"
#include "ordering/analysis.h"
#include <math.h>
#include <metis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_SEEDS 25
#define LARGE 100000 /* vertices of a graph whose times count */

typedef struct figures {
    double nnz, flops, seconds;
} figures;

typedef struct means {
    double nnz, flops, seconds, large_seconds, speedup;
    int count, large;
} means;

static environment env;
static clockid_t ticking = CLOCK_PROCESS_CPUTIME_ID;

static double seconds_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "ordering: %s\n", what);
    exit(1);
}

/* The lower triangle, diagonal included. */
static pattern pattern_of(const triplets *t)
{
    const int32_t n = t->n;
    pattern a = {n, calloc((size_t)n + 2, sizeof(int64_t)),
                 malloc(sizeof(int32_t) * (size_t)(t->nnz + n + 1))};
    must(a.start && a.row, "no memory");
    int64_t end = 0, k = 0;
    for (int32_t j = 0; j < n; j++) { /* by columns, then rows */
        a.start[j] = end;
        a.row[end++] = j;
        for (; k < t->nnz && t->columns[k] == j; k++)
            if (t->rows[k] != j)
                a.row[end++] = t->rows[k];
    }
    a.start[n] = end;
    return a;
}

static void order_by_metis(const graph *g, int seed, int32_t *perm)
{
    idx_t options[METIS_NOPTIONS], n = g->n;
    const int64_t nnz = g->start[n];
    idx_t *work = malloc(sizeof(idx_t) * (size_t)(nnz + 4 * (int64_t)n + 1));
    must(work != NULL, "no memory");
    idx_t *start = work, *neighbor = start + n + 1, *weight = neighbor + nnz, *order = weight + n,
          *rank = order + n;
    for (int64_t v = 0; v <= n; v++)
        start[v] = (idx_t)g->start[v];
    for (int64_t p = 0; p < nnz; p++)
        neighbor[p] = g->neighbor[p];
    for (int32_t v = 0; v < n; v++)
        weight[v] = g->weight ? g->weight[v] : 1;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = seed;
    must(METIS_NodeND(&n, start, neighbor, g->weight ? weight : NULL, options, order, rank) ==
             METIS_OK,
         "METIS failed");
    for (int32_t k = 0; k < n; k++)
        perm[k] = (int32_t)order[k];
    free(work);
}

typedef enum method { OURS, METIS, AMD } method;

static figures measure(const pattern *a, const graph *g, const int32_t *class_of, method by,
                       int seed)
{
    int32_t *perm = malloc(sizeof(int32_t) * ((size_t)a->n + 1)),
            *whole = malloc(sizeof(int32_t) * ((size_t)a->n + 1));
    must(perm && whole, "no memory");
    double seconds = -seconds_by(ticking);
    if (by == METIS)
        order_by_metis(g, seed, perm);
    else
        must((by == AMD ? order_amd(&env.memory, g, perm)
                        : order_nd(&env, g, (uint64_t)seed, 0, perm)) == LIBSOLVER_OK,
             "an ordering failed");
    seconds += seconds_by(ticking);
    int64_t nnz;
    double flops;
    if (class_of)
        must(order_expand(&env.memory, a->n, class_of, g->n, perm, whole) == LIBSOLVER_OK,
             "no memory");
    const int32_t *final = class_of ? whole : perm;
    must(!permutation_check(&env.memory, a->n, final), "not a permutation");
    must(forest_cost(&env.memory, a, final, &nnz, &flops) == LIBSOLVER_OK, "no memory");
    free(perm);
    free(whole);
    return (figures){(double)nnz, flops, seconds};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Geometric means of nnz and flops, median of the times. */
static figures summary(const pattern *a, const graph *g, const int32_t *class_of, method by,
                       int seeds)
{
    figures sum = {0, 0, 0};
    double seconds[MOST_SEEDS];
    for (int k = 0; k < seeds; k++) {
        const figures one = measure(a, g, class_of, by, k + 1);
        sum.nnz += log(one.nnz) / seeds;
        sum.flops += log(one.flops) / seeds;
        seconds[k] = one.seconds;
    }
    qsort(seconds, (size_t)seeds, sizeof(double), ascending);
    return (figures){exp(sum.nnz), exp(sum.flops), seconds[seeds / 2]};
}

static void bench(const char *specification, int seeds, int threads, means *mean)
{
    problem p;
    failure f = {0};
    if (problem_load(specification, &p, &f)) {
        printf("%-26s %s\n", specification, f.text);
        problem_free(&p);
        return;
    }
    must(triplets_compress(&p.a), "no memory");
    pattern a = pattern_of(&p.a);
    graph g, compressed;
    int32_t *class_of = malloc(sizeof(int32_t) * ((size_t)a.n + 1));
    must(class_of && graph_build(&env.memory, 1, &a, &g) == LIBSOLVER_OK &&
             graph_compress(&env.memory, 1, &g, &compressed, class_of) == LIBSOLVER_OK,
         "no memory");
    const graph *used = compressed.n < 0 ? &g : &compressed;
    const int32_t *classes = compressed.n < 0 ? NULL : class_of;
    const int64_t edges = g.start[g.n] / 2;
    if (used->start[used->n] > 0) {
        const figures metis = summary(&a, used, classes, METIS, seeds),
                      amd = summary(&a, used, classes, AMD, 1);
        const figures ours = summary(&a, used, classes, OURS, seeds);
        printf("%-26s %8d %9lld  %6.3f %6.3f  %8.4f %6.3f   %6.3f %6.3f %6.3f", p.name, a.n,
               (long long)edges, ours.nnz / metis.nnz, ours.flops / metis.flops, ours.seconds,
               ours.seconds / metis.seconds, amd.nnz / metis.nnz, amd.flops / metis.flops,
               amd.seconds / metis.seconds);
        mean->count++;
        mean->nnz += log(ours.nnz / metis.nnz);
        mean->flops += log(ours.flops / metis.flops);
        mean->seconds += log(ours.seconds / metis.seconds);
        if (threads > 1) {
            ticking = CLOCK_MONOTONIC;
            const figures one = summary(&a, used, classes, OURS, seeds);
            env.threads = threads;
            const figures several = summary(&a, used, classes, OURS, seeds);
            ticking = CLOCK_PROCESS_CPUTIME_ID;
            env.threads = 1;
            printf("   %5.2f", one.seconds / several.seconds);
            if (used->n > LARGE)
                mean->speedup += log(one.seconds / several.seconds);
        }
        if (used->n > LARGE) {
            mean->large++;
            mean->large_seconds += log(ours.seconds / metis.seconds);
        }
        printf("\n");
        fflush(stdout);
    }
    if (compressed.n >= 0)
        graph_free(&env.memory, &compressed);
    graph_free(&env.memory, &g);
    free(class_of);
    free(a.start);
    free(a.row);
    problem_free(&p);
}

int main(int count, char **argument)
{
    int seeds = 5, threads = 1, k = 1;
    for (; k + 1 < count && argument[k][0] == '-'; k += 2) {
        if (argument[k][1] == 's')
            seeds = atoi(argument[k + 1]);
        else
            threads = atoi(argument[k + 1]);
    }
    must(k < count && seeds > 0 && seeds <= MOST_SEEDS && threads > 0,
         "usage: ordering [-s SEEDS] [-t THREADS] PROBLEM...");
    memory_init(&env.memory, NULL, NULL, NULL, 0);
    env.threads = 1;
    means mean = {0};
    printf("ours / METIS                                     nnz(L)  flops   seconds   time   AMD: "
           "nnz  "
           "flops   time%s\n",
           threads > 1 ? "       speed-up" : "");
    for (; k < count; k++)
        bench(argument[k], seeds, threads, &mean);
    if (mean.count > 0)
        printf("geometric mean of %d: nnz(L) %.3f, flops %.3f, time %.3f\n", mean.count,
               exp(mean.nnz / mean.count), exp(mean.flops / mean.count),
               exp(mean.seconds / mean.count));
    if (mean.large > 0) {
        printf("of %d over %d vertices: time %.3f", mean.large, LARGE,
               exp(mean.large_seconds / mean.large));
        if (threads > 1)
            printf(", speed-up on %d threads %.2f", threads, exp(mean.speedup / mean.large));
        printf("\n");
    }
    return 0;
}
