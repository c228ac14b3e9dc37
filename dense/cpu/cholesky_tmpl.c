/* dense/cpu/cholesky_tmpl.c: Cholesky of the pivot columns of a front, A = L L^H, right-looking by
 * blocks of columns
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/front.h"
#include "dense/cpu/front_kernels.h"
#include "dense/cpu/product.h"

/* Columns of a large front that are factorized at a time; they stay in the first cache.  Complex
 * ones are few, as their kernel has no vectors. */
#define INNER_BLOCK (SCALAR_COMPLEX ? 8 : 32)

/* Rows [i0, i1) of columns [j, end):  A := (A - L(:, j0:j) L(j:end, j0:j)^H) L(j:end, j:end)^-H */
static void rows_below(int i0, int i1, int j0, int j, int end, int m, scalar *panel)
{
    scalar *a = panel + i0 + (int64_t)j * m;
    const scalar *left = panel + (int64_t)j0 * m;
    if (j > j0)
        NAME(product_here)()(1, 0, i1 - i0, end - j, j - j0, left + i0, m, left + j, m, 1, a, m);
    const scalar *triangle = panel + j + (int64_t)j * m;
    NAME(front_solve_right)(1, 0, i1 - i0, end - j, triangle, m, a, m);
}

/* Columns [j0, j1), all their rows, when everything left of j0 has been subtracted: left-looking in
 * steps of INNER_BLOCK. */
static int block_of_columns(int j0, int j1, int m, scalar *panel, const real *diagonal,
                            front_watch *watch)
{
    const front_kernels *kernels = NAME(front_kernels_here)();
    const int large = front_is_large(m, j1 - j0);
    if (front_kernels_pay(m - j0, j1 - j0))
        return j0 +
               kernels->cholesky(m - j0, j1 - j0, panel + j0 + (int64_t)j0 * m, m, diagonal + j0);
    for (int j = j0, end; j < j1; j = end) {
        end = j + INNER_BLOCK < j1 ? j + INNER_BLOCK : j1;
        if (front_panel_stopped(watch, m, j1 - j0))
            break;
        scalar *corner = panel + j + (int64_t)j * m;
        const scalar *left = panel + j + (int64_t)j0 * m;
        NAME(update_trapezoid)(1, end - j, end - j, j - j0, left, m, left, m, 1, corner, m);
        const int done = kernels->cholesky(end - j, end - j, corner, m, diagonal + j);
        if (done < end - j)
            return j + done;
        for (int i = end; i < m; i += PANEL_ROWS) {
            const int i1 = i + PANEL_ROWS < m ? i + PANEL_ROWS : m;
            if (large) {
#pragma omp task firstprivate(i, i1, j, end)
                rows_below(i, i1, j0, j, end, m, panel);
            } else
                rows_below(i, i1, j0, j, end, m, panel);
        }
        if (large) {
#pragma omp taskwait
        }
    }
    return j1;
}

int NAME(front_cholesky)(int m, int k, scalar *panel, const real *diagonal, front_watch *watch)
{
    for (int j = 0, end; j < k; j = end) {
        end = j + TILE_COLUMNS < k ? j + TILE_COLUMNS : k;
        const int done = block_of_columns(j, end, m, panel, diagonal, watch);
        if (done < end)
            return done;
        NAME(front_update_columns)(1, m, panel, j, end, panel + (int64_t)j * m, m, 0, end, k,
                                   watch);
    }
    return k;
}
