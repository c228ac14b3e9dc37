/* dense/cpu/front.h: partial factorization of one front
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *            k      m - k
 *        +-------+
 *      k | panel |            panel: m x k by columns, leading dimension m, lower trapezoid; the
 * pivot candidates
 *        |-------+--------+
 *        |       |        |   contribution block: lower triangle of order m - p, p the pivots
 *  m - k |       |   CB   |   eliminated; stored apart
 *        +-------+--------+
 *
 * hermitian: A = L L^H or L D L^H, otherwise L D L^T; it makes no difference to real types.  L^T
 * below stands for both.
 *
 * Large fronts are cut into tiles by size alone and the tiles are OpenMP tasks, so every entry is
 * computed by the same operations whatever the number of threads. */
#ifndef DENSE_CPU_FRONT_H
#define DENSE_CPU_FRONT_H

#include "base/scalar.h"
#include "dense/cpu/contribution.h"
#include <stdatomic.h>

/* Tiles of a large front: of a block column, TILE_ROWS rows, and PANEL_ROWS where Cholesky divides
 * them, as all threads wait for these; inner products are cut after TILE_INNER pivots (LDL^T
 * only). */
#define TILE_COLUMNS CB_BLOCK
#define TILE_ROWS 256
#define PANEL_ROWS 128
#define TILE_INNER 256

/* Columns that LDL^T factorizes with pivoting inside their block only. */
#define LDLT_BLOCK 32

/* Entries of scratch that a thread needs inside the routines below. */
#define FRONT_TASK_SCRATCH (TILE_COLUMNS * TILE_INNER)

/* Whether an update of order m by k pivots is worth tasks (their cost is about a microsecond
 * each). */
static inline int front_is_large(int64_t m, int64_t k)
{
    return m > TILE_ROWS && m * m * k > 4000000;
}

/* Whom a large front asks whether to go on; a NULL watch: nobody.  After a yes everything returns
 * soon, and what is in the front is of no use. */
typedef struct front_watch {
    int (*cancelled)(const void *user); /* called from several threads */
    const void *user;
    _Atomic int stopped;
    void (*worked)(void *work, double flops); /* told of each tile of a large update, called from
                                                 several threads; NULL: nobody counts */
    void *work;
} front_watch;

static inline int front_stopped(front_watch *watch)
{
    if (!watch)
        return 0;
    if (!atomic_load(&watch->stopped) && watch->cancelled(watch->user))
        atomic_store(&watch->stopped, 1);
    return atomic_load(&watch->stopped);
}

/* Entries of a panel from which each block of its columns is worth a question: it takes about a
 * millisecond. */
#define WATCHED_ENTRIES 100000

static inline int front_panel_stopped(front_watch *watch, int64_t m, int64_t k)
{
    return m * k >= WATCHED_ENTRIES && front_stopped(watch);
}

/* A tile of an update of order m by k pivots is done; diagonal: without the entries above it. */
static inline void front_worked(front_watch *watch, int64_t m, int64_t k, int rows, int columns,
                                int diagonal)
{
    if (watch && watch->worked && front_is_large(m, k))
        watch->worked(watch->work, (2.0 * rows - (diagonal ? columns : 0)) * columns * (double)k);
}

/* What the pivots of a front were. */
typedef struct front_report {
    double doubt_level;           /* given */
    int eliminated;               /* pivots; the candidates after them are delayed */
    int two_by_two;               /* 2x2 pivots among them */
    int positive, negative, zero; /* signs of eigenvalues; complex symmetric: all but zeros are
                                     positive */
    int uncertain;   /* pivots at most doubt_level times what was assembled into their rows (ldlt.h)
                      */
    int perturbed;   /* pivots that were changed, or taken though L outgrows 1/u */
    double smallest; /* least |eigenvalue| (complex symmetric: singular value) of a nonzero pivot;
                        infinity if there is none */
} front_report;

/* Cholesky of the k pivot columns (A = L L^H):  panel := [L11; L21].  diagonal(j), length k: the
 * entry of the scaled matrix from which pivot j started; a pivot <= 8 eps times twice that is
 * refused.  Returns k, or the column of the first pivot refused. */
int NAME(front_cholesky)(int m, int k, scalar *panel, const real *diagonal, front_watch *watch);

/* The candidates of a front for LDL^T, and what becomes of them.  magnitude: on entry what was
 * assembled into each row, on return increased by what the pivots subtracted from it [see ldlt.h].
 * pivot_rows: rows [0, pivot_rows) of L are held to 1/u, k <= pivot_rows <= m; rows that will never
 * be eliminated stand below and decide nothing. */
typedef struct front_candidates {
    int hermitian;
    int m, k, pivot_rows;
    scalar *panel;   /* m x k, leading dimension m */
    int32_t *index;  /* m, permuted with the rows; only its first k move */
    scalar *d, *e;   /* k: D(j,j) and D(j+1,j).  Hermitian: d is real */
    real *magnitude; /* m */
    scalar *work;    /* front_ldlt_work(m, k) */
    front_watch *watch;
    front_report *report;
} front_candidates;

/* LDL^T of the candidates with threshold u:  P [A11; A21] = [L11; L21] D, |L| <= 1/u (at a root
 * max(1/u, 4)), 1x1 and 2x2 pivots.  A zero pivot has d = e = 0 and a zero column of L.  The
 * candidates left over are updated and stand in the columns eliminated .. k-1.  most_delayed: how
 * many they may be; when pivot_rows = k the threshold is lowered to 1/4 for the others, which
 * always suffices, otherwise they are taken as ldlt_forced does.  zero: LDLT_ZERO, or more to make
 * zero pivots of columns that may only be so by rounding errors (ldlt.h). */
void NAME(front_ldlt)(const front_candidates *front, real u, real zero, int most_delayed);
/* The same without pivoting, for quasi-definite matrices [Vanderbei 1995]: pivot j is to have the
 * sign of sign(j), length k; one that has not, or is rounding error, becomes sign(j) max(|pivot|,
 * sqrt(eps) magnitude(j)) and is counted as perturbed.  If A is complex symmetric, the sign is that
 * of the pivot's real part, which alone is turned; it is not looked at where sign(j) is 0 or the
 * real part is rounding error beside the imaginary one.  index is not read. */
void NAME(front_ldlt_signed)(const front_candidates *front, const int8_t *sign);
static inline int64_t front_ldlt_work(int64_t m, int64_t k)
{
    const int64_t columns = k < LDLT_BLOCK ? k : LDLT_BLOCK;
    return 2 * m * (columns > 1 ? columns : 2);
}

/* The pivots of a front once they are eliminated: columns [0, p) of its panel, leading dimension
 * m.  d, e: NULL for Cholesky. */
typedef struct front_pivots {
    int hermitian, m, p;
    const scalar *panel, *d, *e;
} front_pivots;

/* Contribution block of order r = m - p:  C := -L21 D L21^T, rows p..m-1 of the panel's first p
 * columns.  The block columns of the k - p delayed candidates are taken from the panel
 * instead.  scratch(thread): FRONT_TASK_SCRATCH scalars for each OpenMP thread, scratch_stride
 * apart; not read for Cholesky. */
void NAME(front_contribution)(const front_pivots *f, int k, scalar *cb, scalar *scratch,
                              int64_t scratch_stride, front_watch *watch);

/* What p pivots subtract from the columns behind them, which stand in the panel too:  columns [p,
 * m) -= L21 D L21^T.  d, e: NULL for Cholesky.  work: as in front_ldlt. */
void NAME(front_update_rest)(int hermitian, int m, int p, scalar *panel, const scalar *d,
                             const scalar *e, scalar *work, front_watch *watch);

/* Building blocks of the above, with as many arguments as such products have in a BLAS.
 *
 * update_trapezoid:  C := beta C - L W^T for the entries on and below the diagonal of C, rows x
 * columns, inner = columns of L and W (rows x inner, columns x inner); entries above the diagonal
 * become undefined; beta is 0 or 1.  front_solve_right:  X := X T^-T, X rows x n, T lower
 * triangular, with a unit diagonal if `unit`.  front_update_columns: the same with beta = 1 for
 * columns [from, to) of the panel and pivots [p0, p1): L is the panel, row i of W is row i - w_row
 * of w. */
void NAME(update_trapezoid)(int hermitian, int rows, int columns, int inner, const scalar *l,
                            int ldl, const scalar *w, int ldw, scalar beta, scalar *c, int ldc);
void NAME(front_solve_right)(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                             scalar *x, int ldx);
void NAME(front_update_columns)(int hermitian, int m, scalar *panel, int p0, int p1,
                                const scalar *w, int ldw, int w_row, int from, int to,
                                front_watch *watch);

#endif
