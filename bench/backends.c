/* bench/backends.c: the CPU backend and the GPU backend beside each other: statuses, inertia,
 * errors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_backends [-a] [-d] [-i] PROBLEM...      PROBLEM: as for the tool
 *
 * -d: with inverses, for ordinary solves instead of few; -i: L D L^T for all.  A line for each
 * problem where the two differ, with -a for all: the status of the factorization,
 * the kind, inertia, backward errors of a plain solve and of a refined one.  They differ where a
 * status, the kind or the inertia does, where the plain error of a definite system is more than ten
 * times the CPU's and above 100 eps, or where a refined one is above the tolerance and above twice
 * the CPU's.  Ends with 1 if some do. */
#include "cli/certificate.h"
#include "cli/problem.h"
#include "libsolver.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    libsolver_status factorized, solved;
    libsolver_factor_info info;
    libsolver_inertia_counts inertia;
    double plain, refined;
    char message[200];
} outcome;

/* One solve of b = A x*, refined or not; the error by the tool's own loops. */
static double solve(libsolver_factor *f, const triplets *a, const double *b, double *x, int refined,
                    libsolver_status *status)
{
    const libsolver_vectors
        bv = {.values = (void *)b, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type},
        xv = {.values = x, .rows = a->n, .columns = 1, .ld = a->n, .type = a->type};
    double error = NAN;
    *status = refined ? libsolver_solve(f, &bv, &xv)
                      : libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &xv);
    if (*status >= 0 && !backward_error(a, 1, b, x, &error))
        error = NAN;
    return error;
}

static libsolver_options options;

static outcome run(const problem *p, libsolver_backend backend, const double *b, double *x)
{
    outcome o = {.plain = NAN, .refined = NAN};
    libsolver_status status;
    libsolver_factor *f = NULL;
    const libsolver_matrix a = triplets_view(&p->a);
    options.backend = backend;
    o.factorized = libsolver_factor_matrix(&a, &options, &f);
    libsolver_info(f, &o.info);
    if (o.factorized >= 0) {
        libsolver_inertia(f, &o.inertia);
        o.plain = solve(f, &p->a, b, x, 0, &status);
        o.refined = solve(f, &p->a, b, x, 1, &o.solved);
    }
    snprintf(o.message, sizeof o.message, "%s", libsolver_factor_message(f));
    libsolver_factor_free(f);
    return o;
}

static int differ(const outcome *cpu, const outcome *gpu)
{
    const libsolver_inertia_counts *c = &cpu->inertia, *g = &gpu->inertia;
    if (cpu->factorized != gpu->factorized || cpu->solved != gpu->solved ||
        cpu->info.kind != gpu->info.kind || c->positive != g->positive ||
        c->negative != g->negative || c->zero != g->zero || c->certain != g->certain)
        return 1;
    if (cpu->info.kind == LIBSOLVER_KIND_SPD && gpu->plain > 10 * cpu->plain &&
        gpu->plain > 100 * 0x1p-52)
        return 1;
    return cpu->factorized < 0
               ? cpu->info.failed_row != gpu->info.failed_row
               : cpu->solved == LIBSOLVER_OK && !(gpu->refined <= fmax(1e-14, 2 * cpu->refined));
}

static void print_outcome(const char *name, const outcome *o)
{
    printf("  %s: %s, %s, on the %s, inertia %lld %lld %lld%s, plain error %.1e, refined %.1e (%s)"
           "%s%s\n",
           name, libsolver_status_name(o->factorized),
           o->info.kind == LIBSOLVER_KIND_SPD ? "Cholesky" : "L D L^T",
           o->info.backend_factorize == LIBSOLVER_BACKEND_GPU ? "GPU" : "CPU",
           (long long)o->inertia.positive, (long long)o->inertia.negative,
           (long long)o->inertia.zero, o->inertia.certain ? "" : " (not certain)", o->plain,
           o->refined, libsolver_status_name(o->solved), *o->message ? ": " : "", o->message);
}

int main(int argc, char **argv)
{
    int all = 0, count = 0, differing = 0, on_gpu = 0, k = 1;
    double worst = 0;
    libsolver_options_default(&options);
    options.purpose = LIBSOLVER_PURPOSE_FEW;
    for (; k < argc && argv[k][0] == '-'; k++) {
        all |= !strcmp(argv[k], "-a");
        if (!strcmp(argv[k], "-d"))
            options.purpose = LIBSOLVER_PURPOSE_DEFAULT;
        if (!strcmp(argv[k], "-i"))
            options.kind = LIBSOLVER_KIND_INDEFINITE;
    }
    for (; k < argc; k++) {
        problem p;
        failure f = {0};
        if (problem_load(argv[k], &p, &f)) {
            printf("%s: %s\n", argv[k], f.text);
            differing++;
            continue;
        }
        const size_t scalars = (size_t)p.a.n * (size_t)triplets_width(&p.a) + 1;
        double *x = malloc(sizeof(double) * scalars), *b = malloc(sizeof(double) * scalars);
        if (!x || !b || (made_solution(p.a.n, 1, triplets_width(&p.a), x), 0) ||
            !triplets_multiply(&p.a, x, 1, b)) {
            fprintf(stderr, "no memory\n");
            return 1;
        }
        const outcome cpu = run(&p, LIBSOLVER_BACKEND_CPU, b, x),
                      gpu = run(&p, LIBSOLVER_BACKEND_GPU, b, x);
        const int is_different = differ(&cpu, &gpu);
        on_gpu += gpu.info.backend_factorize == LIBSOLVER_BACKEND_GPU && gpu.factorized >= 0;
        if (cpu.info.kind == LIBSOLVER_KIND_SPD && cpu.plain > 0)
            worst = fmax(worst, gpu.plain / cpu.plain);
        if (is_different || all) {
            printf("%s%s\n", p.name, is_different ? " DIFFERS" : "");
            print_outcome("CPU", &cpu);
            print_outcome("GPU", &gpu);
        }
        fflush(stdout);
        differing += is_different;
        count++;
        free(x);
        free(b);
        problem_free(&p);
    }
    printf("%d problems, %d factorized on the GPU, %d differ; largest ratio of plain errors of "
           "definite systems %.1f\n",
           count, on_gpu, differing, worst);
    return differing > 0;
}
