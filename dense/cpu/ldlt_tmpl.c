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
#include "dense/cpu/blas.h"
#include "dense/cpu/front_kernels.h"
#include <string.h>

typedef struct front {
    const front_kernels *kernels;
    int hermitian, m, k, judged;
    scalar *panel;
    int32_t *index;
    scalar *d, *e;
    real *magnitude, u, zero;
    front_watch *watch;
    scalar *backup; /* m x LDLT_BLOCK: the block's columns before elimination, rows p..m-1, leading
                       dimension m - p */
    scalar *w;      /* m x LDLT_BLOCK: L D below the block, leading dimension m - p - nb */
} front;

/* Entry (i, j) of the block that was backed up. */
static scalar original(const front *f, int ld, int i, int j)
{
    return i >= j ? f->backup[i + (int64_t)j * ld]
                  : scalar_mirror(f->backup[j + (int64_t)i * ld], f->hermitian);
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
        scalar *column = f->panel + p + (int64_t)c * f->m;
        for (int i = 0; i < nb; i++)
            row[i] = column[order[i]];
        memcpy(column, row, sizeof(scalar) * (size_t)nb);
    }
    for (int i = 0; i < nb; i++)
        variable[i] = f->index[p + order[i]];
    memcpy(f->index + p, variable, sizeof(int32_t) * (size_t)nb);
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
    return f->panel + p + nb + (int64_t)p * f->m;
}

/* Below the block: W := A21 L11^-T (^-H), L21 := W D^-1.  Returns the leading pivots of which |L|
 * <= 1/u. */
static int columns_below(front *f, int p, int nb, int found, const scalar *b, const int *order)
{
    const int rows = f->m - p - nb, judged = f->judged - p - nb, ld = f->m - p;
    const real limit = 1 / f->u;
    for (int c = 0; c < found; c++)
        memcpy(f->w + (int64_t)c * rows, f->backup + nb + (int64_t)order[c] * ld,
               sizeof(scalar) * (size_t)rows);
    if (SCALAR_COMPLEX && !front_kernels_pay(rows, found))
        trsm('R', 'L', transposed(f->hermitian), 'U', rows, found, 1, b, ldlt_block_ld(nb), f->w,
             rows);
    else
        f->kernels->solve_right(f->hermitian, 1, rows, found, b, ldlt_block_ld(nb), f->w, rows);
    real largest[LDLT_BLOCK];
    for (int c = 0, pivots; c < found; c += pivots) {
        pivots = f->e[p + c] != 0 ? 2 : 1;
        largest[c] = largest_inside(nb, b, c, pivots);
    }
    f->kernels->divide(f->hermitian, rows, judged, found, f->w, rows, f->d + p, f->e + p,
                       below(f, p, nb), f->m, largest);
    int accepted = 0;
    while (accepted < found && largest[accepted] <= limit)
        accepted += f->e[p + accepted] != 0 ? 2 : 1;
    return accepted;
}

/* Columns [accepted, nb) of the block are put back in the order found and updated by the accepted
 * pivots. */
static void restore_failed(front *f, int p, int nb, int accepted, const scalar *b, const int *order)
{
    const int m = f->m, ld = m - p, ldb = ldlt_block_ld(nb), rows = m - p - nb,
              failed = nb - accepted;
    scalar w[LDLT_BLOCK * LDLT_BLOCK]; /* L11 D of the failed rows: failed x accepted */
    for (int c = 0; c < accepted; c++)
        for (int i = 0; i < failed; i++) {
            const scalar l = b[accepted + i + c * ldb];
            const scalar next =
                f->e[p + c] != 0 ? b[accepted + i + (c + 1) * ldb] * f->e[p + c] : 0;
            const scalar before =
                c > 0 && f->e[p + c - 1] != 0
                    ? b[accepted + i + (c - 1) * ldb] * scalar_mirror(f->e[p + c - 1], f->hermitian)
                    : 0;
            w[i + c * failed] = l * f->d[p + c] + next + before;
        }
    for (int j = 0; j < failed; j++) {
        scalar *column = f->panel + p + (int64_t)(p + accepted + j) * m;
        for (int i = accepted + j; i < nb; i++)
            column[i] = original(f, ld, order[i], order[accepted + j]);
        memcpy(column + nb, f->backup + nb + (int64_t)order[accepted + j] * ld,
               sizeof(scalar) * (size_t)rows);
    }
    scalar *corner = f->panel + p + accepted + (int64_t)(p + accepted) * m;
    NAME(update_trapezoid)
    (f->hermitian, failed + rows, failed, accepted, f->panel + p + accepted + (int64_t)p * m, m, w,
     failed, 1, corner, m);
    for (int c = 0; c < accepted; c++)
        for (int i = 0; i < failed; i++)
            f->magnitude[p + accepted + i] +=
                scalar_abs(b[accepted + i + c * ldb]) * scalar_abs(w[i + c * failed]);
}

/* The nb columns from s change places with those from p < s, in the same order. */
static void bring_block(front *f, int p, int s, int nb)
{
    for (int i = 0; i < nb; i++)
        NAME(ldlt_swap)(f->hermitian, f->m, f->panel, p + i, s + i, f->index, f->magnitude);
}

/* Tries the nb candidates from s.  Returns -1 if none of them is a pivot beside the others,
 * otherwise how many are eliminated; the block then begins at p, these first. */
static int eliminate_block(front *f, int p, int s, int nb, front_report *report)
{
    const int m = f->m, ld = m - p, ldb = ldlt_block_ld(nb);
    scalar b[LDLT_BLOCK * LDLT_BLOCK], d[LDLT_BLOCK], e[LDLT_BLOCK];
    real g[LDLT_BLOCK], before[LDLT_BLOCK];
    int order[LDLT_BLOCK];
    memset(b, 0, sizeof(scalar) * (size_t)(nb * ldb));
    for (int c = 0; c < nb; c++) {
        memcpy(b + c + c * ldb, f->panel + s + c + (int64_t)(s + c) * m,
               sizeof(scalar) * (size_t)(nb - c));
        b[c + c * ldb] = scalar_diagonal(b[c + c * ldb], f->hermitian);
    }
    memcpy(before, f->magnitude + s, sizeof(real) * (size_t)nb);
    memcpy(g, before, sizeof(real) * (size_t)nb);
    const int found = f->kernels->ldlt_block(f->hermitian, nb, f->zero, b, order, d, e, g);
    if (found == 0)
        return -1;
    if (s > p)
        bring_block(f, p, s, nb);
    for (int c = 0; c < nb; c++)
        memcpy(f->backup + c + (int64_t)c * ld, f->panel + p + c + (int64_t)(p + c) * m,
               sizeof(scalar) * (size_t)(ld - c));
    memcpy(f->d + p, d, sizeof(scalar) * (size_t)found);
    memcpy(f->e + p, e, sizeof(scalar) * (size_t)found);
    permute_block_rows(f, p, nb, order);
    const int accepted = columns_below(f, p, nb, found, b, order);
    for (int c = 0; c < accepted; c++) {
        scalar *column = f->panel + p + (int64_t)(p + c) * m;
        column[c] = 1;
        memcpy(column + c + 1, b + c + 1 + c * ldb, sizeof(scalar) * (size_t)(nb - c - 1));
        const int pivots = f->e[p + c] != 0 ? 2 : 1;
        NAME(ldlt_count)
        (f->hermitian, report, f->d[p + c], f->e[p + c], f->d[p + c + pivots - 1], g[c],
         g[c + pivots - 1]);
        if (pivots == 2) { /* the second column of the pair */
            scalar *second = column + m;
            second[c + 1] = 1;
            memcpy(second + c + 2, b + c + 2 + (c + 1) * ldb,
                   sizeof(scalar) * (size_t)(nb - c - 2));
            c++;
        }
    }
    for (int c = 0; c < nb; c++)
        f->magnitude[p + c] = c < accepted ? g[c] : before[order[c]];
    f->kernels->add_magnitudes(m - p - nb, accepted, below(f, p, nb), m, f->w, ld - nb,
                               f->magnitude + p + nb);
    if (accepted < nb)
        restore_failed(f, p, nb, accepted, b, order);
    NAME(front_update_columns)(f->hermitian, m, f->panel, p, p + accepted, f->w, ld - nb, p + nb,
                               p + nb, f->k, f->watch);
    return accepted;
}

/* One pass over the candidates [p, k) by blocks, the first of them of at most so many
 * columns.  Returns the new p; the candidates behind it have failed. */
static int pass(front *f, int p, int most_first, front_report *report)
{
    int s = p, q = f->k;
    for (int most = most_first; s < q && !front_panel_stopped(f->watch, f->m, f->k);
         most = LDLT_BLOCK) {
        const int nb = q - s < most ? q - s : most, skipped = s - p;
        const int accepted = eliminate_block(f, p, s, nb, report), failed = nb - accepted;
        if (accepted < 0 || skipped > 0) {
            p += accepted < 0 ? 0 : accepted;
            s += nb;
            continue;
        }
        const int waiting = q - p - nb;
        for (int i = 0; i < failed && i < waiting; i++)
            NAME(ldlt_swap)(f->hermitian, f->m, f->panel, p + accepted + i, q - 1 - i, f->index,
                            f->magnitude);
        p += accepted;
        s = p;
        q -= failed;
    }
    return p;
}

void NAME(front_ldlt)(int hermitian, int m, int k, int judged, scalar *panel, int32_t *index,
                      scalar *d, scalar *e, real *magnitude, real u, real zero, int most_delayed,
                      scalar *work, front_watch *watch, front_report *report)
{
    front f = {NAME(front_kernels_here)(),
               hermitian,
               m,
               k,
               judged,
               panel,
               index,
               d,
               e,
               magnitude,
               u,
               zero,
               watch,
               work,
               NULL};
    f.w = work + front_ldlt_work(m, k) / 2;
    int p = pass(&f, 0, LDLT_BLOCK, report);
    if (p > 0 && p < k)
        p = pass(&f, p, LDLT_BLOCK / 2, report);
    if (p < k)
        p = NAME(ldlt_threshold)(hermitian, m, k, judged, p, panel, index, d, e, magnitude, u, zero,
                                 work, watch, report);
    if (p < k - most_delayed && judged == k) /* without rows below, 1/4 is always reached, by the
                                           largest entry [Bunch, Parlett 1971] */
        p = NAME(ldlt_threshold)(hermitian, m, k, judged, p, panel, index, d, e, magnitude,
                                 (real)0.25, 0, work, watch, report);
    if (p < k - most_delayed)
        p = NAME(ldlt_forced)(hermitian, m, k, judged, p, most_delayed, panel, index, d, e,
                              magnitude, work, watch, report);
    report->eliminated = p;
}
