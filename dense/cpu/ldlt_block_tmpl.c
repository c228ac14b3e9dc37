/* dense/cpu/ldlt_block_tmpl.c: LDL^T of a small block with complete pivoting  [Bunch, Parlett
 * 1971], compiled for each instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns are worked on in whole vectors, from the one with the diagonal entry on: what stands
 * above the diagonal there, and below row n, is 0 at all times.  Products are rounded before they
 * are subtracted: where they cancel exactly, as in matrices of small integers, zero pivots come out
 * as zeros. */
#include "dense/cpu/front_kernels_sets.h"
#include "dense/cpu/lanes.h"
#include "dense/cpu/ldlt.h"

/* A block on its way: the lower triangle of b(p:n, p:n) is left. */
typedef struct block {
    int hermitian, n, ld;
    scalar *b;
    real most[LDLT_BLOCK]; /* of the entries of each column that are left; -1 of the others, in
                              whole vectors */
} block;

/* Row of the vector in which the diagonal of column j stands. */
static inline int first_row(int j)
{
    return j / LANES * LANES;
}

static real largest_of_column(const block *s, int j)
{
    real_lanes most = {0};
    for (int i = first_row(j); i < s->n; i += LANES)
        most = lanes_max(lanes_abs(lanes_load(s->b + i + j * s->ld)), most);
    return lanes_largest(most);
}

/* Row of the largest of entries [j, n) of a column, the first of equals; j if entry j is NaN.  The
 * size of a real entry is exact, so that the first of that size will do; that of a complex one may
 * differ in its last bit from the one that was found before. */
static int row_of_largest(const scalar *entry, int j, int n, real largest)
{
    int row = j;
#if SCALAR_COMPLEX
    (void)largest;
    for (int i = j + 1; i < n; i++)
        if (scalar_abs(entry[i]) > scalar_abs(entry[row]))
            row = i;
#else
    while (entry[j] == entry[j] && row + 1 < n && scalar_abs(entry[row]) != largest)
        row++;
#endif
    return row;
}

/* The largest entry left, at (*row, *column): the first of equals; these stay where none is larger
 * than 0.  Its size is found first, in vectors, and then its place: in a search that remembers
 * places each comparison waits for the one before. */
static real largest_entry(const block *s, int p, int *row, int *column)
{
    real_lanes most = (real_lanes){0} - 1; /* NaN is larger than nothing */
    for (int j = first_row(p); j < s->n; j += LANES)
        most = lanes_max(lanes_load_real(s->most + j), most);
    const real largest = lanes_largest(most);
    if (!(largest > 0))
        return largest;
    int j = p;
    while (j + 1 < s->n && s->most[j] != largest)
        j++;
    *column = j;
    *row = row_of_largest(s->b + j * s->ld, j, s->n, largest);
    return largest;
}

/* Rows and columns i < j change places. */
static void swap_rows(const block *s, int i, int j, int *order, real *g)
{
    if (i == j)
        return;
    scalar *ci = s->b + i * s->ld, *cj = s->b + j * s->ld, t;
    for (int c = 0; c < i; c++) {
        scalar *column = s->b + c * s->ld;
        t = column[i], column[i] = column[j], column[j] = t;
    }
    for (int c = i + 1; c < j; c++) {
        scalar *mirror = s->b + j + c * s->ld;
        t = ci[c], ci[c] = scalar_mirror(*mirror, s->hermitian),
        *mirror = scalar_mirror(t, s->hermitian);
    }
    ci[j] = scalar_mirror(ci[j], s->hermitian);
    t = ci[i], ci[i] = cj[j], cj[j] = t;
    for (int r = j + 1; r < s->n; r++)
        t = ci[r], ci[r] = cj[r], cj[r] = t;
    const real magnitude = g[i];
    g[i] = g[j];
    g[j] = magnitude;
    const int place = order[i];
    order[i] = order[j];
    order[j] = place;
}

/* Entries of x = C(i:i+LANES, j) that are on or below the diagonal, i = first_row(j). */
static inline lanes below_diagonal(int hermitian, int j, lanes x)
{
#if SCALAR_COMPLEX
    (void)j;
    return scalar_diagonal(x, hermitian);
#else
    (void)hermitian;
    return lanes_last(LANES - j % LANES, x, (lanes){0});
#endif
}

/* Columns [p, n) of what is left -= l0 f0' + l1 f1', l1 with `pairs` only, with the largest entry
 * of each.  l0 and l1 are 0 above row p and below row n. */
INLINE_ALWAYS void subtract(const int pairs, block *s, int p, const scalar *l0, const scalar *f0,
                            const scalar *l1, const scalar *f1)
{
    for (int j = p; j < s->n; j++) {
        scalar *column = s->b + j * s->ld;
        const scalar x0 = scalar_mirror(f0[j], s->hermitian),
                     x1 = pairs ? scalar_mirror(f1[j], s->hermitian) : 0;
        int i = first_row(j);
        lanes x = lanes_load(column + i) - lanes_load(l0 + i) * x0;
        if (pairs)
            x -= lanes_load(l1 + i) * x1;
        x = below_diagonal(s->hermitian, j, x);
        lanes_store(column + i, x);
        real_lanes most = lanes_abs(x);
        for (i += LANES; i < s->n; i += LANES) {
            x = lanes_load(column + i) - lanes_load(l0 + i) * x0;
            if (pairs)
                x -= lanes_load(l1 + i) * x1;
            lanes_store(column + i, x);
            most = lanes_max(lanes_abs(x), most);
        }
        s->most[j] = lanes_largest(most);
    }
}

/* Zeros where subtract reads l beside rows [p, n), p < n. */
static inline void clear_around(scalar *l, int p, int n)
{
    lanes_store(l + first_row(p), (lanes){0});
    lanes_store(l + first_row(n - 1), (lanes){0});
}

/* b(p+1:n, p+1:n) -= l d l^T (l^H) with l = b(p+1:n, p) / d, which replaces the column */
static void eliminate_1x1(block *s, int p, real *g)
{
    scalar *column = s->b + p * s->ld, l[LDLT_BLOCK], w[LDLT_BLOCK];
    const scalar inverse = 1 / column[p];
    const real weight = scalar_abs(column[p]);
    s->most[p] = -1;
    if (p + 1 == s->n)
        return;
    clear_around(l, p + 1, s->n);
    for (int i = p + 1; i < s->n; i++) {
        w[i] = column[i];
        l[i] = column[i] *= inverse;
        g[i] += ldlt_growth(l[i], weight);
    }
    subtract(0, s, p + 1, l, w, l, w);
}

/* The same for the 2x2 pivot in columns p, p + 1. */
static void eliminate_2x2(block *s, int p, real *g)
{
    scalar *c0 = s->b + p * s->ld, *c1 = c0 + s->ld;
    scalar l0[LDLT_BLOCK], l1[LDLT_BLOCK], w0[LDLT_BLOCK], w1[LDLT_BLOCK];
    const scalar d0 = c0[p], e = c0[p + 1], d1 = c1[p + 1], d[2] = {d0, d1}, off[2] = {e, 0};
    real weight[2];
    c0[p + 1] = 0;
    s->most[p] = s->most[p + 1] = -1;
    if (p + 2 == s->n)
        return;
    clear_around(l0, p + 2, s->n);
    clear_around(l1, p + 2, s->n);
    ldlt_weights(2, d, off, weight);
    for (int i = p + 2; i < s->n; i++) {
        w0[i] = c0[i];
        w1[i] = c1[i];
        divide_2x2(s->hermitian, d0, e, d1, &c0[i], &c1[i]);
        l0[i] = c0[i];
        l1[i] = c1[i];
        g[i] += ldlt_growth(l0[i], weight[0]) + ldlt_growth(l1[i], weight[1]);
    }
    subtract(1, s, p + 2, l0, w0, l1, w1);
}

int SET(ldlt_block)(int hermitian, int n, real zero, scalar *b, int *order, scalar *d, scalar *e,
                    real *g)
{
    block s; /* no more of it is set than is read */
    s.hermitian = hermitian;
    s.n = n;
    s.ld = ldlt_block_ld(n);
    s.b = b;
    const int ld = s.ld;
    for (int i = 0; i < n; i++) {
        order[i] = i;
        s.most[i] = largest_of_column(&s, i);
    }
    for (int i = n; i % LANES != 0; i++)
        s.most[i] = -1;
    int p = 0;
    while (p < n) {
        int row = p, column = p;
        const real largest = largest_entry(&s, p, &row, &column);
        if (!(largest > 0) || is_noise(largest, g[row], g[column], zero))
            break;
        if (row != column) {
            /* the largest entry is off the diagonal: a 2x2 pivot, or a diagonal entry nearly as
             * large */
            const scalar a = b[column + column * ld], c = b[row + row * ld],
                         off = b[row + column * ld];
            if (scalar_abs((a / off) * (c / scalar_mirror(off, hermitian)) - 1) >= (real)0.5) {
                swap_rows(&s, p, column, order, g);
                swap_rows(&s, p + 1, row, order, g); /* row > column >= p: not moved by the first
                                                        swap */
                d[p] = b[p + p * ld];
                e[p] = b[p + 1 + p * ld];
                d[p + 1] = b[p + 1 + (p + 1) * ld];
                e[p + 1] = 0;
                eliminate_2x2(&s, p, g);
                p += 2;
                continue;
            }
            row = scalar_abs(a) > scalar_abs(c) ? column : row;
        }
        swap_rows(&s, p, row, order, g);
        d[p] = b[p + p * ld];
        e[p] = 0;
        eliminate_1x1(&s, p, g);
        p++;
    }
    return p;
}
