/* dense/cpu/ldlt_tmpl.c: LDL^T of the candidates of a front by a-posteriori threshold pivoting
 * [Duff, Hogg, Lopez 2020]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of columns are factorized with pivoting inside their diagonal block only; then |L| <= 1/u
 * is checked, the columns before the first that fails are kept, the others are put back and moved
 * to the end of the candidates:
 *
 *      0       p        s      s+nb        q      k
 *      | done  | failed | block | waiting  | failed |
 *
 * Blocks in which there is no pivot at all, as of rows without a diagonal whose partners are not
 * here, stay where they are, [p, s).  The failed ones are tried once more when other pivots have
 * changed them, grouped otherwise, then one at a time by plain threshold pivoting; what is left is
 * delayed. */
#include "dense/cpu/ldlt.h"
#include "dense/cpu/front_kernels.h"
#include <string.h>

typedef struct front {
    front_candidates in;
    const front_kernels *kernels;
    real u, zero;
    scalar *backup; /* m x LDLT_BLOCK: the block's columns before elimination, rows p..m-1, leading
                       dimension m - p */
    scalar *w;      /* m x LDLT_BLOCK: L D below the block, leading dimension m - p - nb */
} front;

/* Entry (i, j) of the block that was backed up. */
static scalar original(const front *f, int ld, int i, int j)
{
    return i >= j ? f->backup[i + (int64_t)j * ld]
                  : scalar_mirror(f->backup[j + (int64_t)i * ld], f->in.hermitian);
}

/* Rows [p, p+nb) of the finished columns, and index, follow the order found in the block. */
static void permute_block_rows(front *f, int p, int nb, const int *order)
{
    scalar row[LDLT_BLOCK];
    int32_t variable[LDLT_BLOCK];
    int moved = 0;
    while (moved < nb && order[moved] == moved)
        moved++;
    if (moved == nb)
        return;
    for (int c = 0; c < p; c++) {
        scalar *column = f->in.panel + p + (int64_t)c * f->in.m;
        for (int i = 0; i < nb; i++)
            row[i] = column[order[i]];
        memcpy(column, row, sizeof(scalar) * (size_t)nb);
    }
    for (int i = 0; i < nb; i++)
        variable[i] = f->in.index[p + order[i]];
    memcpy(f->in.index + p, variable, sizeof(int32_t) * (size_t)nb);
}

/* Largest |L11| below the pivots of column c; complete pivoting keeps it <= 4, which may be more
 * than 1/u. */
static real largest_inside(int nb, const scalar *b, int c, int pivots)
{
    const int ldb = ldlt_block_ld(nb);
    real largest = 0;
    for (int j = c; j < c + pivots; j++)
        for (int i = c + pivots; i < nb; i++)
            largest = scalar_abs(b[i + j * ldb]) > largest ? scalar_abs(b[i + j * ldb]) : largest;
    return largest;
}

/* The panel below the block of columns [p, p + nb). */
static scalar *below(const front *f, int p, int nb)
{
    return f->in.panel + p + nb + (int64_t)p * f->in.m;
}

/* Below the block: W := A21 L11^-T (^-H), L21 := W D^-1.  Returns the leading pivots of which |L|
 * <= 1/u. */
static int columns_below(front *f, int p, int nb, int found, const scalar *b, const int *order)
{
    const int rows = f->in.m - p - nb, pivot_rows = f->in.pivot_rows - p - nb, ld = f->in.m - p;
    const real limit = 1 / f->u;
    for (int c = 0; c < found; c++)
        memcpy(f->w + (int64_t)c * rows, f->backup + nb + (int64_t)order[c] * ld,
               sizeof(scalar) * (size_t)rows);
    NAME(front_solve_right)(f->in.hermitian, 1, rows, found, b, ldlt_block_ld(nb), f->w, rows);
    real largest[LDLT_BLOCK];
    for (int c = 0, pivots; c < found; c += pivots) {
        pivots = f->in.e[p + c] != 0 ? 2 : 1;
        largest[c] = largest_inside(nb, b, c, pivots);
    }
    f->kernels->divide(f->in.hermitian, rows, pivot_rows, found, f->w, rows, f->in.d + p,
                       f->in.e + p, below(f, p, nb), f->in.m, largest);
    int accepted = 0;
    while (accepted < found && largest[accepted] <= limit)
        accepted += f->in.e[p + accepted] != 0 ? 2 : 1;
    return accepted;
}

/* Columns [accepted, nb) of the block are put back in the order found and updated by the accepted
 * pivots, of these weights. */
static void restore_failed(front *f, int p, int nb, int accepted, const scalar *b, const int *order,
                           const real *weight)
{
    const int m = f->in.m, ld = m - p, ldb = ldlt_block_ld(nb), rows = m - p - nb,
              failed = nb - accepted;
    scalar w[LDLT_BLOCK * LDLT_BLOCK]; /* L11 D of the failed rows: failed x accepted */
    for (int c = 0; c < accepted; c++)
        for (int i = 0; i < failed; i++) {
            const scalar l = b[accepted + i + c * ldb];
            const scalar next =
                f->in.e[p + c] != 0 ? b[accepted + i + (c + 1) * ldb] * f->in.e[p + c] : 0;
            const scalar before = c > 0 && f->in.e[p + c - 1] != 0
                                      ? b[accepted + i + (c - 1) * ldb] *
                                            scalar_mirror(f->in.e[p + c - 1], f->in.hermitian)
                                      : 0;
            w[i + c * failed] = l * f->in.d[p + c] + next + before;
        }
    for (int j = 0; j < failed; j++) {
        scalar *column = f->in.panel + p + (int64_t)(p + accepted + j) * m;
        for (int i = accepted + j; i < nb; i++)
            column[i] = original(f, ld, order[i], order[accepted + j]);
        memcpy(column + nb, f->backup + nb + (int64_t)order[accepted + j] * ld,
               sizeof(scalar) * (size_t)rows);
    }
    scalar *corner = f->in.panel + p + accepted + (int64_t)(p + accepted) * m;
    NAME(update_trapezoid)(f->in.hermitian, failed + rows, failed, accepted,
                           f->in.panel + p + accepted + (int64_t)p * m, m, w, failed, 1, corner, m);
    for (int c = 0; c < accepted; c++)
        for (int i = 0; i < failed; i++)
            f->in.magnitude[p + accepted + i] += ldlt_growth(b[accepted + i + c * ldb], weight[c]);
}

/* The nb columns from s change places with those from p < s, in the same order. */
static void bring_block(front *f, int p, int s, int nb)
{
    for (int i = 0; i < nb; i++)
        NAME(ldlt_swap)(&f->in, p + i, s + i);
}

/* Tries the nb candidates from s.  Returns -1 if none of them is a pivot beside the others,
 * otherwise how many are eliminated; the block then begins at p, these first. */
static int eliminate_block(front *f, int p, int s, int nb)
{
    const int m = f->in.m, ld = m - p, ldb = ldlt_block_ld(nb);
    scalar b[LDLT_BLOCK * LDLT_BLOCK], d[LDLT_BLOCK], e[LDLT_BLOCK];
    real g[LDLT_BLOCK], before[LDLT_BLOCK], weight[LDLT_BLOCK];
    int order[LDLT_BLOCK];
    memset(b, 0, sizeof(scalar) * (size_t)(nb * ldb));
    for (int c = 0; c < nb; c++) {
        memcpy(b + c + c * ldb, f->in.panel + s + c + (int64_t)(s + c) * m,
               sizeof(scalar) * (size_t)(nb - c));
        b[c + c * ldb] = scalar_diagonal(b[c + c * ldb], f->in.hermitian);
    }
    memcpy(before, f->in.magnitude + s, sizeof(real) * (size_t)nb);
    memcpy(g, before, sizeof(real) * (size_t)nb);
    const int found = f->kernels->ldlt_block(f->in.hermitian, nb, f->zero, b, order, d, e, g);
    if (found == 0)
        return -1;
    if (s > p)
        bring_block(f, p, s, nb);
    for (int c = 0; c < nb; c++)
        memcpy(f->backup + c + (int64_t)c * ld, f->in.panel + p + c + (int64_t)(p + c) * m,
               sizeof(scalar) * (size_t)(ld - c));
    memcpy(f->in.d + p, d, sizeof(scalar) * (size_t)found);
    memcpy(f->in.e + p, e, sizeof(scalar) * (size_t)found);
    permute_block_rows(f, p, nb, order);
    const int accepted = columns_below(f, p, nb, found, b, order);
    for (int c = 0; c < accepted; c++) {
        scalar *column = f->in.panel + p + (int64_t)(p + c) * m;
        column[c] = 1;
        memcpy(column + c + 1, b + c + 1 + c * ldb, sizeof(scalar) * (size_t)(nb - c - 1));
        const int pivots = f->in.e[p + c] != 0 ? 2 : 1;
        NAME(ldlt_count)(f->in.hermitian, f->in.report, f->in.d[p + c], f->in.e[p + c],
                         f->in.d[p + c + pivots - 1], g[c], g[c + pivots - 1]);
        if (pivots == 2) { /* the second column of the pair */
            scalar *second = column + m;
            second[c + 1] = 1;
            memcpy(second + c + 2, b + c + 2 + (c + 1) * ldb,
                   sizeof(scalar) * (size_t)(nb - c - 2));
            c++;
        }
    }
    for (int c = 0; c < nb; c++)
        f->in.magnitude[p + c] = c < accepted ? g[c] : before[order[c]];
    ldlt_weights(accepted, f->in.d + p, f->in.e + p, weight);
    f->kernels->add_magnitudes(m - p - nb, accepted, below(f, p, nb), m, weight,
                               f->in.magnitude + p + nb);
    if (accepted < nb)
        restore_failed(f, p, nb, accepted, b, order, weight);
    NAME(front_update_columns)(f->in.hermitian, m, f->in.panel, p, p + accepted, f->w, ld - nb,
                               p + nb, p + nb, f->in.k, f->in.watch);
    return accepted;
}

/* One pass over the candidates [p, k) by blocks, the first of them of at most so many
 * columns.  Returns the new p; the candidates behind it have failed. */
static int pass(front *f, int p, int most_first)
{
    int s = p, q = f->in.k;
    for (int most = most_first; s < q && !front_panel_stopped(f->in.watch, f->in.m, f->in.k);
         most = LDLT_BLOCK) {
        const int nb = q - s < most ? q - s : most, skipped = s - p;
        const int accepted = eliminate_block(f, p, s, nb), failed = nb - accepted;
        if (accepted < 0 || skipped > 0) {
            p += accepted < 0 ? 0 : accepted;
            s += nb;
            continue;
        }
        const int waiting = q - p - nb;
        for (int i = 0; i < failed && i < waiting; i++)
            NAME(ldlt_swap)(&f->in, p + accepted + i, q - 1 - i);
        p += accepted;
        s = p;
        q -= failed;
    }
    return p;
}

void NAME(front_ldlt)(const front_candidates *front_, real u, real zero, int most_delayed)
{
    const int k = front_->k, pivot_rows = front_->pivot_rows;
    front f = {.in = *front_,
               .kernels = NAME(front_kernels_here)(),
               .u = u,
               .zero = zero,
               .backup = front_->work,
               .w = front_->work + front_ldlt_work(front_->m, k) / 2};
    int p = pass(&f, 0, LDLT_BLOCK);
    if (p > 0 && p < k)
        p = pass(&f, p, LDLT_BLOCK / 2);
    if (p < k)
        p = NAME(ldlt_threshold)(front_, p, u, zero);
    /* without rows below, 1/4 is always reached, by the largest entry [Bunch, Parlett 1971] */
    if (p < k - most_delayed && pivot_rows == k)
        p = NAME(ldlt_threshold)(front_, p, (real)0.25, 0);
    if (p < k - most_delayed)
        p = NAME(ldlt_forced)(front_, p, most_delayed);
    front_->report->eliminated = p;
}
