/* dense/cpu/update_tmpl.c: what eliminated pivots subtract from the rest of a front, cut into tiles
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/front.h"
#include "dense/cpu/front_kernels_sets.h"
#include "dense/cpu/product.h"
#include <omp.h>
#include <string.h>

/* Columns of X that front_solve_right leaves to the kernels that pack nothing. */
#define SOLVED_AT_ONCE (SCALAR_COMPLEX ? 4 : 32)

product_kernel *NAME(product_here)(void)
{
#ifdef HAVE_avx512
    if (here_is_avx512())
        return NAME(product_avx512);
#endif
#ifdef HAVE_avx2
    if (here_is_avx2())
        return NAME(product_avx2);
#endif
    return NAME(product_plain);
}

const front_kernels *NAME(front_kernels_here)(void)
{
#ifdef HAVE_avx2
    if (here_is_avx2())
        return &NAME(front_kernels_avx2);
#endif
    return &NAME(front_kernels_plain);
}

void NAME(update_trapezoid)(int hermitian, int rows, int columns, int inner, const scalar *l,
                            int ldl, const scalar *w, int ldw, scalar beta, scalar *c, int ldc)
{
    if (inner == 0 && beta == 1)
        return;
    if (front_kernels_pay(rows, inner)) {
        NAME(front_kernels_here)()->update(hermitian, 1, rows, columns, inner, l, ldl, w, ldw,
                                           beta != 0, c, ldc);
        return;
    }
    NAME(product_here)()(hermitian, 1, rows, columns, inner, l, ldl, w, ldw, beta != 0, c, ldc);
}

#if SCALAR_COMPLEX
static solve_kernel *solve_here(void)
{
#ifdef HAVE_avx512
    if (here_is_avx512())
        return NAME(solve_columns_avx512);
#endif
#ifdef HAVE_avx2
    if (here_is_avx2())
        return NAME(solve_columns_avx2);
#endif
    return NAME(solve_columns_plain);
}
#else
#define solve_here() NAME(front_kernels_here)()->solve_right
#endif

void NAME(front_solve_right)(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                             scalar *x, int ldx)
{
    for (int j = 0, columns; j < n; j += columns) {
        columns = n - j < SOLVED_AT_ONCE ? n - j : SOLVED_AT_ONCE;
        scalar *xj = x + (int64_t)j * ldx;
        if (j > 0)
            NAME(product_here)()(hermitian, 0, rows, columns, j, x, ldx, t + j, ldt, 1, xj, ldx);
        solve_here()(hermitian, unit, rows, columns, t + j + (int64_t)j * ldt, ldt, xj, ldx);
    }
}

/* What front_update_columns is asked for. */
typedef struct column_update {
    int hermitian, m, p0, p1;
    scalar *panel;
    const scalar *w; /* of row w_row */
    int ldw, w_row;
    front_watch *watch;
} column_update;

/* Its tile of rows [i, i + rows) and columns [j, j + columns). */
static void update_tile(const column_update *u, int i, int rows, int j, int columns)
{
    const int m = u->m, inner = u->p1 - u->p0;
    const scalar *l = u->panel + (int64_t)u->p0 * m + i, *w = u->w + (j - u->w_row);
    scalar *c = u->panel + i + (int64_t)j * m;
    if (front_panel_stopped(u->watch, m, inner))
        return;
    if (i == j)
        NAME(update_trapezoid)(u->hermitian, rows, columns, inner, l, m, w, u->ldw, 1, c, m);
    else
        NAME(product_here)()(u->hermitian, 0, rows, columns, inner, l, m, w, u->ldw, 1, c, m);
    front_worked(u->watch, m, inner, rows, columns, i == j);
}

void NAME(front_update_columns)(int hermitian, int m, scalar *panel, int p0, int p1,
                                const scalar *w, int ldw, int w_row, int from, int to,
                                front_watch *watch)
{
    const int large = front_is_large(m, p1 - p0);
    const column_update u = {hermitian, m, p0, p1, panel, w, ldw, w_row, watch};
    for (int j = from; j < to; j += TILE_COLUMNS) {
        const int columns = j + TILE_COLUMNS < to ? TILE_COLUMNS : to - j;
        for (int i = j; i < m; i += TILE_ROWS) {
            const int rows = i + TILE_ROWS < m ? TILE_ROWS : m - i;
            if (large) { /* a task that is done at once takes longer than a tiny front */
#pragma omp task firstprivate(i, j, rows, columns)
                update_tile(&u, i, rows, j, columns);
            } else
                update_tile(&u, i, rows, j, columns);
        }
    }
    if (large) {
#pragma omp taskwait
    }
}

/* W := L D for `pivots` columns of L, of so many rows, that split no 2x2 pivot.  W has leading
 * dimension rows. */
static void times_d(int hermitian, int rows, int pivots, const scalar *l, int ldl, const scalar *d,
                    const scalar *e, scalar *w)
{
    for (int p = 0; p < pivots; p++) {
        const scalar *l0 = l + (int64_t)p * ldl;
        scalar *w0 = w + (int64_t)p * rows;
        if (e[p] == 0) {
            for (int i = 0; i < rows; i++)
                w0[i] = l0[i] * d[p];
        } else {
            const scalar *l1 = l0 + ldl, above = scalar_mirror(e[p], hermitian);
            scalar *w1 = w0 + rows;
            for (int i = 0; i < rows; i++) {
                w0[i] = l0[i] * d[p] + l1[i] * e[p];
                w1[i] = l0[i] * above + l1[i] * d[p + 1];
            }
            p++;
        }
    }
}

/* The tile of rows [i, i + rows) and columns [j, j + columns) of the contribution block, at c:
 * C := -L(p + i.., :) (D) L(p + j.., :)^T (^H).  w: FRONT_TASK_SCRATCH scalars. */
static void contribution_tile(const front_pivots *f, int i, int rows, int j, int columns, scalar *c,
                              int ldc, scalar *w)
{
    const int hermitian = f->hermitian, m = f->m, p = f->p;
    const scalar *li = f->panel + p + i, *lj = f->panel + p + j;
    if (!f->d) {
        if (i == j)
            NAME(update_trapezoid)(hermitian, rows, columns, p, li, m, lj, m, 0, c, ldc);
        else
            NAME(product_here)()(hermitian, 0, rows, columns, p, li, m, lj, m, 0, c, ldc);
        return;
    }
    for (int p0 = 0, p1; p0 < p; p0 = p1) {
        p1 = p0 + TILE_INNER < p ? p0 + TILE_INNER : p;
        if (f->e[p1 - 1] != 0)
            p1--; /* its partner stays with it */
        const int inner = p1 - p0;
        times_d(hermitian, columns, inner, lj + (int64_t)p0 * m, m, f->d + p0, f->e + p0, w);
        const scalar *l = li + (int64_t)p0 * m;
        if (i == j)
            NAME(update_trapezoid)(hermitian, rows, columns, inner, l, m, w, columns, p0 > 0, c,
                                   ldc);
        else
            NAME(product_here)()(hermitian, 0, rows, columns, inner, l, m, w, columns, p0 > 0, c,
                                 ldc);
    }
}

/* The same by the calling thread, unless there is no more use for it; scratch: so much for each
 * thread. */
static void contribution_tile_here(const front_pivots *f, int i, int rows, int j, int columns,
                                   scalar *c, int ldc, scalar *scratch, int64_t scratch_stride,
                                   front_watch *watch)
{
    const int p = f->p, r = f->m - p;
    if (front_panel_stopped(watch, r, p))
        return;
    contribution_tile(f, i, rows, j, columns, c, ldc,
                      scratch ? scratch + omp_get_thread_num() * scratch_stride : NULL);
    front_worked(watch, r, p, rows, columns, i == j);
}

void NAME(front_contribution)(const front_pivots *f, int k, scalar *cb, scalar *scratch,
                              int64_t scratch_stride, front_watch *watch)
{
    const int p = f->p, r = f->m - p, delayed = k - p, large = front_is_large(r, p);
    for (int j = 0; j < delayed; j++) /* already updated in the panel */
        memcpy(cb + cb_column(r, j) + j, f->panel + (int64_t)(p + j) * f->m + p + j,
               sizeof(scalar) * (size_t)(r - j));
    if (p == 0) {
        for (int j = delayed; j < r; j++)
            memset(cb + cb_column(r, j) + j, 0, sizeof(scalar) * (size_t)(r - j));
        return;
    }
    for (int j = delayed, end; j < r; j = end) {
        end = (j / CB_BLOCK + 1) * CB_BLOCK;
        end = end < r ? end : r;
        const int columns = end - j, ldc = cb_ld(r, j);
        for (int i = j; i < r; i += TILE_ROWS) {
            const int rows = i + TILE_ROWS < r ? TILE_ROWS : r - i;
            scalar *c = cb + cb_column(r, j) + i;
            if (large) {
#pragma omp task firstprivate(i, j, rows, columns, ldc, c)
                contribution_tile_here(f, i, rows, j, columns, c, ldc, scratch, scratch_stride,
                                       watch);
            } else
                contribution_tile_here(f, i, rows, j, columns, c, ldc, scratch, scratch_stride,
                                       watch);
        }
    }
    if (large) {
#pragma omp taskwait
    }
}

void NAME(front_update_rest)(int hermitian, int m, int p, scalar *panel, const scalar *d,
                             const scalar *e, scalar *work, front_watch *watch)
{
    const int rows = m - p;
    if (!d)
        NAME(front_update_columns)(hermitian, m, panel, 0, p, panel + p, m, p, p, m, watch);
    for (int p0 = 0, p1; d && p0 < p; p0 = p1) {
        p1 = p0 + LDLT_BLOCK < p ? p0 + LDLT_BLOCK : p;
        if (e[p1 - 1] != 0)
            p1--; /* its partner stays with it */
        times_d(hermitian, rows, p1 - p0, panel + p + (int64_t)p0 * m, m, d + p0, e + p0, work);
        NAME(front_update_columns)(hermitian, m, panel, p0, p1, work, rows, p, p, m, watch);
    }
}
