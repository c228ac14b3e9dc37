/* examples/substructures.c: a system in two parts that meet in an interface, by Schur complements
 *
 *     [ A1       A1g ] [ x1 ]   [ b1 ]      S1 + S2 = S,  S xg = g1 + g2;
 *     [      A2  A2g ] [ x2 ] = [ b2 ]      Sk is what part k makes of its share of Ag
 *     [ Ag1 Ag2  Ag  ] [ xg ]   [ bg ]      when its own unknowns are eliminated
 *
 * The parts know nothing of each other: they could be factorized by different processes, or one of
 * them by a program that has no sparse matrix at all.  Here they are the two halves of a grid of
 * ROWS x (2 COLUMNS + 1) points with 4 on the diagonal and -1 between neighbours, the same in a
 * mirror; the middle column is the interface, half of whose matrix belongs to each.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 30, COLUMNS = 20, INTERFACE = ROWS, PART = ROWS * COLUMNS + INTERFACE };

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status >= 0)
        return;
    fprintf(stderr, "substructures: %s: %s. %s\n", call, libsolver_status_sentence(status),
            message);
    exit(1);
}

/* The lower triangle of a part: its columns of points one after the other, the interface
 * last.  Returns the entries. */
static int build_part(int32_t *row, int32_t *column, double *value)
{
    int next = 0;
    for (int32_t i = 0; i < PART; i++) {
        const double share = i >= PART - INTERFACE ? 0.5 : 1; /* of the interface's own entries */
        row[next] = column[next] = i;
        value[next++] = 4 * share;
        if (i % ROWS < ROWS - 1) { /* the point below */
            row[next] = i + 1, column[next] = i;
            value[next++] = -share;
        }
        if (i + ROWS < PART) { /* the point beside it, nearer the interface */
            row[next] = i + ROWS, column[next] = i;
            value[next++] = -1;
        }
    }
    return next;
}

/* The solution that is looked for, by the point's row and its column in the whole grid. */
static double known(int i, int j)
{
    return 1 + 0.1 * ((i + 3 * j) % 7);
}

/* b = A x* at a point of the whole grid. */
static double right_side(int i, int j)
{
    return 4 * known(i, j) - (i > 0 ? known(i - 1, j) : 0) - (i < ROWS - 1 ? known(i + 1, j) : 0) -
           (j > 0 ? known(i, j - 1) : 0) - (j < 2 * COLUMNS ? known(i, j + 1) : 0);
}

/* Column of the whole grid in which a part has its column j. */
static int global_column(int part, int j)
{
    return part == 0 ? j : 2 * COLUMNS - j;
}

int main(void)
{
    static int32_t row[3 * PART], column[3 * PART], dense_row[INTERFACE * INTERFACE],
        dense_column[INTERFACE * INTERFACE];
    static double value[3 * PART], x[2][PART], S[INTERFACE * INTERFACE], sum[INTERFACE * INTERFACE],
        y[INTERFACE];
    int64_t interface[INTERFACE];
    for (int k = 0; k < INTERFACE; k++)
        interface[k] = PART - INTERFACE + k;

    /* each part: its complement in the interface, and its right-hand side condensed to it */
    libsolver_options options;
    libsolver_options_default(&options);
    options.schur_rows = interface;
    options.schur_size = INTERFACE;
    libsolver_matrix A = {.n = PART,
                          .pointers = column,
                          .indices = row,
                          .values = value,
                          .format = LIBSOLVER_TRIPLETS};
    A.nnz = build_part(row, column, value);
    const libsolver_vectors SV = {
        .values = S, .rows = INTERFACE, .columns = INTERFACE, .ld = INTERFACE};
    libsolver_factor *F[2];
    libsolver_vectors X[2];
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < PART; k++)
            x[part][k] = right_side(k % ROWS, global_column(part, k / ROWS)) *
                         (k < PART - INTERFACE ? 1 : 0.5);
        X[part] = (libsolver_vectors){.values = x[part], .rows = PART, .columns = 1, .ld = PART};
        const libsolver_status status = libsolver_factor_matrix(&A, &options, &F[part]);
        check(status, "factor_matrix", libsolver_factor_message(F[part]));
        check(libsolver_schur_complement(F[part], &SV), "schur_complement",
              libsolver_factor_message(F[part]));
        check(libsolver_schur_condense(F[part], NULL, &X[part], &X[part]), "schur_condense",
              libsolver_factor_message(F[part]));
        for (int k = 0; k < INTERFACE * INTERFACE; k++)
            sum[k] += S[k];
        for (int k = 0; k < INTERFACE; k++)
            y[k] += x[part][interface[k]];
    }

    /* the interface: a dense system, for which any solver will do */
    for (int k = 0; k < INTERFACE * INTERFACE; k++)
        dense_row[k] = k % INTERFACE, dense_column[k] = k / INTERFACE;
    const libsolver_matrix D = {.n = INTERFACE,
                                .nnz = INTERFACE * INTERFACE,
                                .pointers = dense_column,
                                .indices = dense_row,
                                .values = sum,
                                .storage = LIBSOLVER_FULL,
                                .format = LIBSOLVER_TRIPLETS};
    const libsolver_vectors Y = {.values = y, .rows = INTERFACE, .columns = 1, .ld = INTERFACE};
    libsolver_factor *G;
    const libsolver_status status = libsolver_factor_matrix(&D, NULL, &G);
    check(status, "factor_matrix", libsolver_factor_message(G));
    check(libsolver_solve(G, &Y, &Y), "solve", libsolver_factor_message(G));

    /* and back to the parts */
    double error = 0;
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < INTERFACE; k++)
            x[part][interface[k]] = y[k];
        check(libsolver_schur_expand(F[part], NULL, &X[part]), "schur_expand",
              libsolver_factor_message(F[part]));
        for (int k = 0; k < PART; k++)
            error = fmax(error, fabs(x[part][k] - known(k % ROWS, global_column(part, k / ROWS))));
    }

    libsolver_determinant_info parts, rest;
    check(libsolver_determinant(F[0], &parts), "determinant", "");
    check(libsolver_determinant(G, &rest), "determinant", "");
    printf("2 parts of %d unknowns, an interface of %d\n", PART - INTERFACE, INTERFACE);
    printf("log det A = 2 x %.4f + %.4f\n", parts.log_abs, rest.log_abs);
    printf("error below 1e-12: %s\n", error < 1e-12 ? "yes" : "no");
    libsolver_factor_free(F[0]);
    libsolver_factor_free(F[1]);
    libsolver_factor_free(G);
    return !(error < 1e-12);
}
