/* examples/refinement.c: iterative refinement, written out, with the factor of an older matrix
 *
 * A simulation changes its matrix a little in every step.  A factor of the matrix of some steps ago
 * is still a good approximation, and refinement corrects for the difference: with M = L L^T near A,
 *
 *     r = b - A x,   M d = r,   x := x + d
 *
 * multiplies the error by I - M^-1 A each time.  libsolver_refine does this for the matrix that was
 * factorized; here the residual is that of another one, so the loop is ours.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 100, MOST_STEPS = 30 };

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status == LIBSOLVER_OK)
        return;
    fprintf(stderr, "refinement: %s: %s. %s\n", call, libsolver_status_sentence(status), message);
    exit(1);
}

/* The matrix at a time: 2.5 + time i / N on the diagonal, -1 beside it.  Lower triangle by
 * columns. */
static double diagonal(double time, int i)
{
    return 2.5 + time * i / N;
}

static void build(double time, int32_t *pointers, int32_t *rows, double *values)
{
    for (int32_t j = 0; j < N; j++) {
        pointers[j] = 2 * j;
        rows[2 * j] = j, values[2 * j] = diagonal(time, j);
        if (j < N - 1)
            rows[2 * j + 1] = j + 1, values[2 * j + 1] = -1;
    }
    pointers[N] = 2 * N - 1;
}

/* r = b - A x.  Returns the componentwise backward error max |r|_i / (|A| |x| + |b|)_i. */
static double residual(double time, const double *b, const double *x, double *r)
{
    double error = 0;
    for (int i = 0; i < N; i++) {
        const double before = i > 0 ? x[i - 1] : 0, after = i < N - 1 ? x[i + 1] : 0;
        r[i] = b[i] - diagonal(time, i) * x[i] + before + after;
        const double size =
            fabs(b[i]) + diagonal(time, i) * fabs(x[i]) + fabs(before) + fabs(after);
        if (r[i] != 0)
            error = fmax(error, fabs(r[i]) / size);
    }
    return error;
}

/* Refines x from 0 until the backward error is at rounding level; r is workspace.  Returns the
 * steps. */
static int refine(const libsolver_factor *F, libsolver_workspace *W, double time, const double *b,
                  double *x, double *r)
{
    const libsolver_vectors R = {.values = r, .rows = N, .columns = 1, .ld = N};
    for (int i = 0; i < N; i++)
        x[i] = 0;
    printf("step  backward error  largest error\n");
    for (int step = 0;; step++) {
        const double backward = residual(time, b, x, r);
        double forward = 0;
        for (int i = 0; i < N; i++)
            forward = fmax(forward, fabs(x[i] - 1)); /* the solution is 1 everywhere */
        printf("%4d  %.1e         %.1e\n", step, backward, forward);
        if (backward < 1e-15 || step == MOST_STEPS)
            return step;
        /* d in r's place */
        check(libsolver_solve_plain(F, LIBSOLVER_PART_ALL, W, &R, &R), "solve_plain", "");
        for (int i = 0; i < N; i++)
            x[i] += r[i];
    }
}

int main(void)
{
    int32_t pointers[N + 1], rows[2 * N];
    double values[2 * N], b[N], x[N], r[N];
    build(0, pointers, rows, values);
    libsolver_matrix A = {.n = N, .pointers = pointers, .indices = rows, .values = values};

    libsolver_context *context;
    libsolver_analysis *S;
    libsolver_factor *F;
    libsolver_workspace *W;
    check(libsolver_context_create(NULL, &context), "context_create", "");
    check(libsolver_analyze(context, &A, NULL, &S), "analyze", libsolver_context_message(context));
    check(libsolver_factorize(S, &A, &F), "factorize", libsolver_context_message(context));
    check(libsolver_workspace_create(F, 1, &W), "workspace_create", "");

    const double time = 0.02;
    for (int i = 0; i < N; i++) /* b = A 1 at that time */
        b[i] = diagonal(time, i) - (i > 0) - (i < N - 1);

    printf("A at time 0.02, factor of time 0:\n");
    const int old = refine(F, W, time, b, x, r);

    printf("A at time 0.02, its own factor:\n");
    build(time, pointers, rows, values);
    check(libsolver_refactorize(F, &A), "refactorize", libsolver_factor_message(F));
    const int own = refine(F, W, time, b, x, r);

    libsolver_workspace_free(W);
    libsolver_factor_free(F);
    libsolver_analysis_free(S);
    libsolver_context_free(context);
    return old == MOST_STEPS || own == MOST_STEPS;
}
