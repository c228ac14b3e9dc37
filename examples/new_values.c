/* examples/new_values.c: one pattern, new values in every iteration: an interior-point method
 *
 *     minimize  1/2 x^T Q x   subject to  E x = 1,  x >= 0
 *
 * Every iteration solves a KKT system with the same pattern,
 *
 *     K = [ Q + Z / X + shift I   E^T ]
 *         [ E                     0   ]      Z / X: diagonal, from the iterate;
 *                                            its entries run from 0 to infinity
 *
 * so the pattern is analysed once and K is refactorized.  The step leads down only if K has as many
 * positive eigenvalues as there are unknowns and as many negative ones as constraints.  Q is not
 * convex here: where the inertia is another one the shift is raised and K factorized again, without
 * a matrix being built.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 6, M = 2, ORDER = N + M, MOST_ITERATIONS = 50, MOST_SHIFT = 1000000 };

/* Q: this diagonal and 0.5 beside it.  E: x0 + x1 + x2 = 1 and x3 + x4 + x5 = 1. */
static const double q_diagonal[N] = {2, 3, -2, 1, 4, 2};
static const double q_beside = 0.5;

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status >= 0)
        return;
    fprintf(stderr, "new_values: %s: %s. %s\n", call, libsolver_status_sentence(status), message);
    exit(1);
}

static double q_times(const double *x, int i)
{
    return q_diagonal[i] * x[i] + q_beside * ((i > 0 ? x[i - 1] : 0) + (i < N - 1 ? x[i + 1] : 0));
}

/* K, lower triangle by columns.  rows NULL: only the values are new.  The zero block needs no
 * entries. */
static void build(const double *x, const double *z, int32_t *pointers, int32_t *rows,
                  double *values)
{
    int32_t next = 0;
    for (int j = 0; j < N; j++) {
        const int32_t entries[] = {j, j + 1, N + j / 3};
        const double entry[] = {q_diagonal[j] + z[j] / x[j], q_beside, 1};
        if (rows)
            pointers[j] = next;
        for (int k = 0; k < 3; k++) {
            if (k == 1 && j == N - 1)
                continue; /* no neighbour */
            if (rows)
                rows[next] = entries[k];
            values[next++] = entry[k];
        }
    }
    for (int j = N; rows && j <= ORDER; j++)
        pointers[j] = next;
}

/* Largest step in (0, 1] that keeps v + step dv away from 0. */
static double longest_step(const double *v, const double *dv)
{
    double step = 1;
    for (int i = 0; i < N; i++)
        if (dv[i] < 0)
            step = fmin(step, -0.995 * v[i] / dv[i]);
    return step;
}

int main(void)
{
    double x[N], z[N], y[M] = {0}, dz[N], step[ORDER] = {0}, shift[ORDER] = {0};
    for (int i = 0; i < N; i++)
        x[i] = 1.0 / 3, z[i] = 0.1;

    int32_t pointers[ORDER + 1], rows[3 * N];
    double values[3 * N];
    build(x, z, pointers, rows, values);
    libsolver_matrix K = {.n = ORDER, .pointers = pointers, .indices = rows, .values = values};
    const libsolver_vectors STEP = {.values = step, .rows = ORDER, .columns = 1, .ld = ORDER};
    const libsolver_vectors SHIFT = {.values = shift, .rows = ORDER, .columns = 1, .ld = ORDER};

    /* the pattern, once */
    libsolver_options options;
    libsolver_options_default(&options);
    options.kind = LIBSOLVER_KIND_INDEFINITE; /* never try Cholesky on a KKT matrix */
    libsolver_context *context;
    libsolver_analysis *S;
    libsolver_factor *F;
    check(libsolver_context_create(&options, &context), "context_create", "");
    check(libsolver_analyze(context, &K, &options, &S), "analyze",
          libsolver_context_message(context));
    check(libsolver_factorize(S, &K, &F), "factorize", libsolver_context_message(context));
    K.pointers = K.indices = NULL; /* from now on only the values are read */

    libsolver_factor_info info;
    libsolver_info(F, &info);
    const int64_t allocations = info.allocations;

    printf("iteration  shift  inertia  complementarity\n");
    int iteration = 0, factorizations = 1;
    for (;; iteration++) {
        double complementarity = 0, infeasible = 0, mu = 0;
        for (int i = 0; i < N; i++)
            complementarity = fmax(complementarity, x[i] * z[i]), mu += 0.1 * x[i] * z[i] / N;

        /* right-hand side: minus the residuals of stationarity (with z eliminated) and of the
         * constraints */
        for (int i = 0; i < N; i++) {
            step[i] = y[i / 3] - q_times(x, i) + mu / x[i];
            infeasible = fmax(infeasible, fabs(y[i / 3] - q_times(x, i) + z[i]));
        }
        for (int k = 0; k < M; k++)
            step[N + k] = 1 - x[3 * k] - x[3 * k + 1] - x[3 * k + 2];
        if (fmax(complementarity, infeasible) < 1e-8 || iteration == MOST_ITERATIONS)
            break;

        /* new values, until the inertia is right */
        libsolver_inertia_counts inertia;
        build(x, z, NULL, NULL, values);
        for (double delta = 0;; delta = delta > 0 ? 4 * delta : 0.25) {
            for (int i = 0; i < N; i++)
                shift[i] = delta;
            check(libsolver_refactorize_shifted(F, delta > 0 ? NULL : &K, &SHIFT), "refactorize",
                  libsolver_factor_message(F));
            factorizations++;
            check(libsolver_inertia(F, &inertia), "inertia", "");
            printf("%9d  %5g  %" PRId64 ",%" PRId64 ",%" PRId64 "    %.0e\n", iteration, delta,
                   inertia.positive, inertia.negative, inertia.zero, complementarity);
            if (inertia.positive == N && inertia.negative == M && inertia.certain)
                break;
            if (delta > MOST_SHIFT) {
                fprintf(stderr, "new_values: no shift makes the inertia right\n");
                exit(1);
            }
        }

        /* dx and -dy */
        check(libsolver_solve(F, &STEP, &STEP), "solve", libsolver_factor_message(F));
        for (int i = 0; i < N; i++)
            dz[i] = mu / x[i] - z[i] - z[i] / x[i] * step[i];
        const double primal = longest_step(x, step), dual = longest_step(z, dz);
        for (int i = 0; i < N; i++)
            x[i] += primal * step[i], z[i] += dual * dz[i];
        for (int k = 0; k < M; k++)
            y[k] -= dual * step[N + k];
    }

    libsolver_info(F, &info);
    printf("x = %.4f %.4f %.4f  %.4f %.4f %.4f\n", x[0], x[1], x[2], x[3], x[4], x[5]);
    printf("1 analysis, %d factorizations, %" PRId64 " allocations after the first\n",
           factorizations, info.allocations - allocations);

    libsolver_factor_free(F);
    libsolver_analysis_free(S);
    libsolver_context_free(context);
    return iteration == MOST_ITERATIONS;
}
