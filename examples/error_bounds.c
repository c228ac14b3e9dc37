/* examples/error_bounds.c: how many digits of a solution are right
 *
 * The status of a solve speaks of the backward error: x solves a system next to the given one.  How
 * far x is from the true solution depends on the matrix too, and two calls tell:
 *
 *     libsolver_condition      how much errors of the data can grow, the same for every b
 *     libsolver_forward_error  a bound of max |x - A^-1 b| / max |x| for this b and this x
 *
 * Hilbert's matrices, A(i,j) = 1 / (i + j + 1), show both: every solve is OK, with a backward error
 * of rounding size, and yet each two rows more cost about three digits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 10 };

static void check(libsolver_status status, const libsolver_factor *F, const char *call)
{
    if (status == LIBSOLVER_OK)
        return;
    fprintf(stderr, "error_bounds: %s: %s. %s\n", call, libsolver_status_sentence(status),
            libsolver_factor_message(F));
    exit(1);
}

/* The lower triangle by columns, times `multiple`, so that b = A (1, 1, ..., 1)^T is exact. */
static void build(int n, double multiple, int32_t *pointers, int32_t *rows, double *values,
                  double *b)
{
    int32_t k = 0;
    for (int j = 0; j < n; j++)
        b[j] = 0;
    for (int j = 0; j < n; j++) {
        pointers[j] = k;
        for (int i = j; i < n; i++) {
            rows[k] = i;
            values[k] = floor(multiple / (i + j + 1));
            b[i] += values[k];
            if (i != j)
                b[j] += values[k];
            k++;
        }
    }
    pointers[n] = k;
}

int main(void)
{
    int32_t pointers[MOST + 1], rows[MOST * (MOST + 1) / 2];
    double values[MOST * (MOST + 1) / 2], b[MOST], x[MOST];
    printf(" n  condition  backward error  true error  bound    digits\n");
    for (int n = 2; n <= MOST; n += 2) {
        build(n, ldexp(1, 44), pointers, rows, values, b);
        const libsolver_matrix A = {
            .n = n, .pointers = pointers, .indices = rows, .values = values};
        const libsolver_vectors B = {.values = b, .rows = n, .columns = 1, .ld = n},
                                X = {.values = x, .rows = n, .columns = 1, .ld = n};
        libsolver_factor *F;
        check(libsolver_factor_matrix(&A, NULL, &F), F, "factor_matrix");
        check(libsolver_solve(F, &B, &X), F, "solve");

        libsolver_solve_info solved;
        libsolver_solve_query(F, NULL, &solved);
        double condition, bound, error = 0;
        check(libsolver_condition(F, NULL, &condition), F, "condition");
        check(libsolver_forward_error(F, NULL, &B, &X, &bound), F, "forward_error");
        for (int i = 0; i < n; i++)
            error = fmax(error, fabs(x[i] - 1)); /* the solution is 1 everywhere */
        printf("%2d  %.1e    %.1e         %.1e     %.1e  %.0f\n", n, condition,
               solved.backward_error, error, bound, floor(-log10(bound)));
        if (error > bound)
            return 1; /* never so */
        libsolver_factor_free(F);
    }
    return 0;
}
