/* examples/embed.c: a sparse system in three calls; the README shows this program
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <stdio.h>

int main(void)
{
    /* [ 4 -1  0; -1  4 -1; 0 -1  4 ], lower triangle by columns */
    int32_t pointers[] = {0, 2, 4, 5}, rows[] = {0, 1, 1, 2, 2};
    double values[] = {4, -1, 4, -1, 4}, b[] = {2, 4, 10}, x[3] = {0};
    libsolver_matrix A = {.n = 3, .pointers = pointers, .indices = rows, .values = values};
    libsolver_vectors B = {.values = b, .rows = 3, .columns = 1, .ld = 3}, X = B;
    X.values = x;

    libsolver_factor *F;
    libsolver_status status = libsolver_factor_matrix(&A, NULL, &F);
    if (status >= 0)
        status = libsolver_solve(F, &B, &X);
    const char *word = status < 0 ? libsolver_factor_message(F) : libsolver_status_name(status);
    printf("%s: %g %g %g\n", word, x[0], x[1], x[2]);
    libsolver_factor_free(F);
    return status != LIBSOLVER_OK;
}
