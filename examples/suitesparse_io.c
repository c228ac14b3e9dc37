/* examples/suitesparse_io.c: SuiteSparse reads and writes, libsolver solves
 *
 *     suitesparse_io A.mtx b.mtx > x.mtx
 *
 * libsolver_cholmod.h takes cholmod_sparse and cholmod_dense as libsolver's views, without copies.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <libsolver_cholmod.h>
#include <stdio.h>

static FILE *open_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        perror(path);
    return f;
}

int main(int count, char **arguments)
{
    FILE *A_file = count == 3 ? open_file(arguments[1]) : NULL;
    FILE *b_file = A_file ? open_file(arguments[2]) : NULL;
    if (!b_file) {
        fprintf(stderr, "usage: suitesparse_io A.mtx b.mtx > x.mtx\n");
        return 1;
    }

    cholmod_common c;
    cholmod_start(&c);
    cholmod_sparse *A = cholmod_read_sparse(A_file, &c);
    cholmod_dense *B = cholmod_read_dense(b_file, &c);
    cholmod_dense *X =
        B ? cholmod_allocate_dense(B->nrow, B->ncol, B->nrow, CHOLMOD_REAL, &c) : NULL;
    fclose(A_file);
    fclose(b_file);

    /* views of what CHOLMOD owns; a file that could not be read has left a NULL, which is
     * refused */
    libsolver_matrix a;
    libsolver_vectors b, x;
    libsolver_status status = libsolver_cholmod_matrix(A, &a);
    if (status == LIBSOLVER_OK)
        status = libsolver_cholmod_vectors(B, &b);
    if (status == LIBSOLVER_OK)
        status = libsolver_cholmod_vectors(X, &x);
    if (status != LIBSOLVER_OK)
        fprintf(stderr, "suitesparse_io: no symmetric matrix, or no right-hand side\n");

    libsolver_factor *F = NULL;
    if (status == LIBSOLVER_OK)
        status = libsolver_factor_matrix(&a, NULL, &F);
    if (status >= 0)
        status = libsolver_solve(F, &b, &x); /* writes to X */
    if (status >= 0 && cholmod_write_dense(stdout, X, NULL, &c) < 0)
        status = LIBSOLVER_INTERNAL;
    fprintf(stderr, "%s %s\n", libsolver_status_name(status), libsolver_factor_message(F));

    libsolver_factor_free(F);
    cholmod_free_sparse(&A, &c);
    cholmod_free_dense(&B, &c);
    cholmod_free_dense(&X, &c);
    cholmod_finish(&c);
    return status != LIBSOLVER_OK;
}
