/* examples/solve_file.c: solves A x = b with A and b from Matrix Market files
 *
 *     solve_file A.mtx b.mtx > x.mtx
 *
 * A: real symmetric coordinates, b: a real array.  In such a file every entry is a line "row column
 * value", counted from 1, and that is a view that libsolver takes as it is: triplets with base
 * 1.  (The tool `libsolver solve` reads all kinds of Matrix Market files and names the line that is
 * wrong.)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <libsolver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "solve_file: %s: %s\n", what, why);
    exit(1);
}

static void *allocate(int64_t count, size_t bytes)
{
    void *block =
        count >= 0 && (uint64_t)count < SIZE_MAX / bytes ? malloc((size_t)count * bytes + 1) : NULL;
    if (!block)
        give_up("memory", "too little for a file of this size");
    return block;
}

/* Opens a file, compares its first line and goes on to the line of sizes. */
static FILE *open_file(const char *path, const char *wanted)
{
    FILE *f = fopen(path, "r");
    char line[1026] = "";
    if (!f || !fgets(line, sizeof line, f))
        give_up(path, "cannot be read");
    line[strcspn(line, "\r\n")] = 0;
    if (strcmp(line, wanted) != 0)
        give_up(path, "is not the kind of Matrix Market file that this example reads");
    int c;
    while ((c = fgetc(f)) == '%') /* comments */
        while (c != '\n' && c != EOF)
            c = fgetc(f);
    ungetc(c, f);
    return f;
}

static libsolver_matrix read_matrix(const char *path)
{
    FILE *f = open_file(path, "%%MatrixMarket matrix coordinate real symmetric");
    int64_t n, columns, nnz;
    if (fscanf(f, "%" SCNd64 "%" SCNd64 "%" SCNd64, &n, &columns, &nnz) != 3 || n != columns)
        give_up(path, "has no legal line of sizes");
    int64_t *row = allocate(nnz, sizeof *row), *column = allocate(nnz, sizeof *column);
    double *value = allocate(nnz, sizeof *value);
    for (int64_t k = 0; k < nnz; k++)
        if (fscanf(f, "%" SCNd64 "%" SCNd64 "%lf", &row[k], &column[k], &value[k]) != 3)
            give_up(path, "ends too early or has something else than numbers");
    fclose(f);
    return (libsolver_matrix){
        .n = n,
        .nnz = nnz,
        .format = LIBSOLVER_TRIPLETS,
        .pointers = column,
        .indices = row, /* in the lower triangle, or libsolver refuses: INVALID */
        .pointer_type = LIBSOLVER_INT64,
        .index_type = LIBSOLVER_INT64,
        .values = value,
        .base = 1,
    };
}

static libsolver_vectors read_vectors(const char *path)
{
    FILE *f = open_file(path, "%%MatrixMarket matrix array real general");
    int64_t n, columns;
    if (fscanf(f, "%" SCNd64 "%" SCNd64, &n, &columns) != 2 || n < 0 || columns < 0 ||
        (n > 0 && columns > INT64_MAX / n))
        give_up(path, "has no legal line of sizes");
    double *value = allocate(n * columns, sizeof *value);
    for (int64_t k = 0; k < n * columns; k++) /* column by column */
        if (fscanf(f, "%lf", &value[k]) != 1)
            give_up(path, "ends too early or has something else than numbers");
    fclose(f);
    return (libsolver_vectors){.values = value, .rows = n, .columns = columns, .ld = n};
}

int main(int count, char **arguments)
{
    if (count != 3)
        give_up("usage", "solve_file A.mtx b.mtx > x.mtx");
    libsolver_matrix A = read_matrix(arguments[1]);
    libsolver_vectors X = read_vectors(arguments[2]); /* B; the solution takes its place */

    libsolver_factor *F;
    libsolver_status status = libsolver_factor_matrix(&A, NULL, &F);
    if (status < 0)
        give_up(arguments[1], libsolver_factor_message(F)); /* no factor: the message says why */
    status = libsolver_solve(F, &X, &X);
    if (status < 0)
        give_up(arguments[2], libsolver_factor_message(F)); /* no solution */

    libsolver_inertia_counts inertia;
    libsolver_solve_info info;
    if (libsolver_inertia(F, &inertia) == LIBSOLVER_OK)
        fprintf(stderr, "inertia: %" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero\n",
                inertia.positive, inertia.negative, inertia.zero);
    libsolver_solve_query(F, NULL, &info);
    fprintf(stderr, "%s: backward error %.1e\n", libsolver_status_name(status),
            info.backward_error);

    printf("%%%%MatrixMarket matrix array real general\n%" PRId64 " %" PRId64 "\n", X.rows,
           X.columns);
    for (int64_t k = 0; k < X.rows * X.columns; k++)
        printf("%.17g\n", ((double *)X.values)[k]);

    libsolver_factor_free(F);
    free(X.values);
    free((void *)A.pointers);
    free((void *)A.indices);
    free((void *)A.values);
    return status == LIBSOLVER_OK ? 0 : 2; /* 2: there is a remark on the solution */
}
