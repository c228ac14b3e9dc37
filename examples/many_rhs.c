/* examples/many_rhs.c: one factor, a hundred right-hand sides, in blocks, by columns and by rows
 *
 * Right-hand sides that are solved together share every read of the factor, so a block is much
 * cheaper than its columns one by one.  libsolver_solve takes any number of them; a program that
 * makes them bit by bit, or solves in several threads, has a workspace of its own and chooses the
 * blocks itself, as here.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GRID = 20, N = GRID * GRID, COLUMNS = 100, BLOCK = 16 };

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status == LIBSOLVER_OK)
        return;
    fprintf(stderr, "many_rhs: %s: %s. %s\n", call, libsolver_status_sentence(status), message);
    exit(1);
}

/* The five-point Laplacian of a square grid: lower triangle by columns. */
static void build(int32_t *pointers, int32_t *rows, double *values)
{
    int32_t next = 0;
    for (int32_t j = 0; j < N; j++) {
        pointers[j] = next;
        rows[next] = j, values[next++] = 4;
        if (j % GRID < GRID - 1)
            rows[next] = j + 1, values[next++] = -1;
        if (j + GRID < N)
            rows[next] = j + GRID, values[next++] = -1;
    }
    pointers[N] = next;
}

/* The solution that every system is made for. */
static double expected(int i, int j)
{
    return 1 + (i + 3 * j) % 7;
}

/* b(i, j), B = A X for the expected X: row i of A has 4 on the diagonal and -1 for each
 * neighbour. */
static double right_hand_side(int i, int j)
{
    double sum = 4 * expected(i, j);
    if (i % GRID > 0)
        sum -= expected(i - 1, j);
    if (i % GRID < GRID - 1)
        sum -= expected(i + 1, j);
    if (i >= GRID)
        sum -= expected(i - GRID, j);
    if (i + GRID < N)
        sum -= expected(i + GRID, j);
    return sum;
}

/* Solves all columns, BLOCK at a time, and reports how far the solution is from the expected
 * one. */
static void solve(const libsolver_factor *F, libsolver_workspace *W, libsolver_layout layout,
                  const char *name)
{
    static double b[N * COLUMNS], x[N * COLUMNS];
    double errors[BLOCK], backward = 0, forward = 0;

    /* where entry (i, j) lies: b[i row_step + j column_step] */
    const int row_step = layout == LIBSOLVER_ROW_MAJOR ? COLUMNS : 1;
    const int column_step = layout == LIBSOLVER_ROW_MAJOR ? 1 : N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < COLUMNS; j++)
            b[i * row_step + j * column_step] = right_hand_side(i, j);

    int blocks = 0;
    for (int first = 0; first < COLUMNS; first += BLOCK, blocks++) {
        const int columns = COLUMNS - first < BLOCK ? COLUMNS - first : BLOCK;
        libsolver_vectors B = {
            .values = b + first * column_step, /* the block begins at entry (0, first) */
            /* of the whole array, not of the block */
            .rows = N,
            .columns = columns,
            .ld = layout == LIBSOLVER_ROW_MAJOR ? COLUMNS : N,
            .layout = layout,
        };
        libsolver_vectors X = B;
        X.values = x + first * column_step;
        check(libsolver_solve_plain(F, LIBSOLVER_PART_ALL, W, &B, &X), "solve_plain", "");
        check(libsolver_refine(F, W, &B, &X, errors), "refine", "");
        for (int k = 0; k < columns; k++)
            backward = fmax(backward, errors[k]); /* one for each column */
    }

    for (int i = 0; i < N; i++)
        for (int j = 0; j < COLUMNS; j++)
            forward = fmax(forward, fabs(x[i * row_step + j * column_step] - expected(i, j)));
    printf("%s: %d columns in %d blocks, backward error %.1e, largest error %.1e\n", name, COLUMNS,
           blocks, backward, forward);
}

int main(void)
{
    static int32_t pointers[N + 1], rows[3 * N];
    static double values[3 * N];
    build(pointers, rows, values);
    const libsolver_matrix A = {.n = N, .pointers = pointers, .indices = rows, .values = values};

    libsolver_factor *F;
    libsolver_workspace *W;
    libsolver_status status = libsolver_factor_matrix(&A, NULL, &F);
    check(status, "factor_matrix", libsolver_factor_message(F));
    check(libsolver_workspace_create(F, BLOCK, &W), "workspace_create", "");
    solve(F, W, LIBSOLVER_COLUMN_MAJOR, "column-major");
    solve(F, W, LIBSOLVER_ROW_MAJOR, "row-major");
    libsolver_workspace_free(W);
    libsolver_factor_free(F);
    return 0;
}
