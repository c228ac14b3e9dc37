/* dense/cpu/ldlt_block_tmpl.c: LDL^T of a small block with complete pivoting  [Bunch, Parlett 1971]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/ldlt.h"

/* Largest entry of the lower triangle of b(p:n, p:n), at (*row, *column). */
static real largest_entry(int n, int p, const scalar *b, int *row, int *column)
{
    real largest = -1;
    for (int j = p; j < n; j++)
        for (int i = j; i < n; i++)
            if (scalar_abs(b[i + j * n]) > largest) {
                largest = scalar_abs(b[i + j * n]);
                *row = i;
                *column = j;
            }
    return largest;
}

/* i <= j */
static void swap_rows(int hermitian, int n, scalar *b, int i, int j, int *order, real *g)
{
    if (i == j)
        return;
    NAME(ldlt_swap)(hermitian, n, b, i, j, NULL, g);
    const int t = order[i];
    order[i] = order[j];
    order[j] = t;
}

/* b(p+1:n, p+1:n) -= l d l^T (l^H) with l = b(p+1:n, p) / d, which replaces the column */
static void eliminate_1x1(int hermitian, int n, int p, scalar *b, real *g)
{
    scalar *l = b + p * n, w[LDLT_BLOCK];
    const scalar inverse = 1 / l[p];
    for (int i = p + 1; i < n; i++) {
        w[i] = l[i];
        l[i] *= inverse;
        g[i] += scalar_abs(l[i]) * scalar_abs(w[i]);
    }
    for (int j = p + 1; j < n; j++) {
        const scalar factor = scalar_mirror(w[j], hermitian);
        for (int i = j; i < n; i++)
            b[i + j * n] -= l[i] * factor;
        b[j + j * n] = scalar_diagonal(b[j + j * n], hermitian);
    }
}

/* The same for the 2x2 pivot in columns p, p + 1. */
static void eliminate_2x2(int hermitian, int n, int p, scalar *b, real *g)
{
    scalar *l0 = b + p * n, *l1 = l0 + n, w0[LDLT_BLOCK], w1[LDLT_BLOCK];
    const scalar d0 = l0[p], e = l0[p + 1], d1 = l1[p + 1];
    for (int i = p + 2; i < n; i++) {
        w0[i] = l0[i];
        w1[i] = l1[i];
        divide_2x2(hermitian, d0, e, d1, &l0[i], &l1[i]);
        g[i] += scalar_abs(l0[i]) * scalar_abs(w0[i]) + scalar_abs(l1[i]) * scalar_abs(w1[i]);
    }
    for (int j = p + 2; j < n; j++) {
        const scalar factor0 = scalar_mirror(w0[j], hermitian), factor1 = scalar_mirror(w1[j], hermitian);
        for (int i = j; i < n; i++)
            b[i + j * n] -= l0[i] * factor0 + l1[i] * factor1;
        b[j + j * n] = scalar_diagonal(b[j + j * n], hermitian);
    }
    l0[p + 1] = 0;
}

int NAME(ldlt_block)(int hermitian, int n, scalar *b, int *order, scalar *d, scalar *e, real *g)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    int p = 0;
    while (p < n) {
        int row = p, column = p;
        const real largest = largest_entry(n, p, b, &row, &column);
        if (!(largest > 0) || is_noise(largest, g[row], g[column], LDLT_ZERO))
            break;
        if (row != column) {
            /* the largest entry is off the diagonal: a 2x2 pivot, or a diagonal entry nearly as large */
            const scalar a = b[column + column * n], c = b[row + row * n], off = b[row + column * n];
            if (scalar_abs((a / off) * (c / scalar_mirror(off, hermitian)) - 1) >= (real)0.5) {
                swap_rows(hermitian, n, b, p, column, order, g);
                swap_rows(hermitian, n, b, p + 1, row, order, g); /* row > column >= p: not moved by the first swap */
                d[p] = b[p + p * n];
                e[p] = b[p + 1 + p * n];
                d[p + 1] = b[p + 1 + (p + 1) * n];
                e[p + 1] = 0;
                eliminate_2x2(hermitian, n, p, b, g);
                p += 2;
                continue;
            }
            row = scalar_abs(a) > scalar_abs(c) ? column : row;
        }
        swap_rows(hermitian, n, b, p, row, order, g);
        d[p] = b[p + p * n];
        e[p] = 0;
        eliminate_1x1(hermitian, n, p, b, g);
        p++;
    }
    return p;
}
