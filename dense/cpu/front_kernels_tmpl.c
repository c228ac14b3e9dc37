/* dense/cpu/front_kernels_tmpl.c: the kernels of front_kernels.h, compiled for each precision and
 * each instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of V vectors of rows and N columns are inlined with V and N constants.  Rows that
 * do not fill a vector are the last ones of a vector that ends with them, where there are enough
 * rows for one. */
#include "dense/cpu/front_kernels_sets.h"
#include "dense/cpu/ldlt.h"
#include "dense/cpu/lanes.h"

/* Vectors of rows in a tile: with TILE columns they fill the registers. */
#define VECTORS 3

/* acc -= L W^T,  L V vectors x inner, W N x inner */
INLINE_ALWAYS void subtract_product(const int V, const int N, int hermitian, int inner,
                                    const scalar *l, ptrdiff_t ldl, const scalar *w, ptrdiff_t ldw,
                                    lanes acc[VECTORS][TILE])
{
    for (int q = 0; q < inner; q++, l += ldl, w += ldw) {
        lanes a[VECTORS];
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            a[v] = lanes_load(l + v * LANES);
        FOR_UNROLLED (4, int j = 0; j < N; j++) {
            const scalar factor = scalar_mirror(w[j], hermitian);
            FOR_UNROLLED (3, int v = 0; v < V; v++)
                acc[v][j] -= a[v] * factor;
        }
    }
}

/* ---- C := beta C - L W^T --------------------------------------------------------------------- */

typedef struct product {
    int hermitian, inner, add;
    ptrdiff_t ldl, ldw, ldc;
} product;

/* V vectors of rows, of which the last `count` > (V - 1) LANES are wanted.  Those before keep what
 * they hold, or, with C := -L W^T, get the same again or lie above the diagonal. */
INLINE_ALWAYS void update_tile(const int V, const int N, const product *p, int count,
                               const scalar *l, const scalar *w, scalar *c)
{
    lanes acc[VECTORS][TILE];
    FOR_UNROLLED (4, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            acc[v][j] = p->add ? lanes_load(c + j * p->ldc + v * LANES) : (lanes){0};
    subtract_product(V, N, p->hermitian, p->inner, l, p->ldl, w, p->ldw, acc);
    if (p->add && count < V * LANES)
        FOR_UNROLLED (4, int j = 0; j < N; j++)
            acc[0][j] = lanes_last(count - (V - 1) * LANES, acc[0][j], lanes_load(c + j * p->ldc));
    FOR_UNROLLED (4, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            lanes_store(c + j * p->ldc + v * LANES, acc[v][j]);
}

/* Fewer rows than a vector has. */
static inline void update_entries(const int N, const product *p, int rows, const scalar *l,
                                  const scalar *w, scalar *c)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < rows; i++) {
            scalar sum = p->add ? c[i + j * p->ldc] : 0;
            for (int q = 0; q < p->inner; q++)
                sum -= l[i + q * p->ldl] * scalar_mirror(w[j + q * p->ldw], p->hermitian);
            c[i + j * p->ldc] = sum;
        }
}

/* N columns, rows [i, rows) */
INLINE_ALWAYS void update_columns(const int N, const product *p, int i, int rows, const scalar *l,
                                  const scalar *w, scalar *c)
{
    for (; rows - i >= VECTORS * LANES; i += VECTORS * LANES)
        update_tile(VECTORS, N, p, VECTORS * LANES, l + i, w, c + i);
    int left = rows - i;
    if (left > 2 * LANES && rows >= 3 * LANES)
        update_tile(3, N, p, left, l + rows - 3 * LANES, w, c + rows - 3 * LANES);
    else if (left > LANES && rows >= 2 * LANES) {
        const int now = left < 2 * LANES ? left : 2 * LANES;
        update_tile(2, N, p, now, l + i + now - 2 * LANES, w, c + i + now - 2 * LANES);
        if (left > now)
            update_tile(1, N, p, left - now, l + rows - LANES, w, c + rows - LANES);
    } else if (rows >= LANES) {
        for (int now; left > 0; left -= now, i += now) {
            now = left < LANES ? left : LANES;
            update_tile(1, N, p, now, l + i + now - LANES, w, c + i + now - LANES);
        }
    } else if (left > 0)
        update_entries(N, p, left, l + i, w, c + i);
}

static void update(int hermitian, int trapezoid, int rows, int columns, int inner, const scalar *l,
                   int ldl, const scalar *w, int ldw, int add, scalar *c, int ldc)
{
    const product p = {hermitian, inner, add, ldl, ldw, ldc};
    int j = 0;
    for (; j + TILE <= columns; j += TILE)
        update_columns(TILE, &p, trapezoid ? j : 0, rows, l, w + j, c + j * p.ldc);
    const int from = trapezoid ? j : 0;
    if (columns - j == 3)
        update_columns(3, &p, from, rows, l, w + j, c + j * p.ldc);
    else if (columns - j == 2)
        update_columns(2, &p, from, rows, l, w + j, c + j * p.ldc);
    else if (columns - j == 1)
        update_columns(1, &p, from, rows, l, w + j, c + j * p.ldc);
}

/* ---- X := X T^-T ----------------------------------------------------------------------------- */

/* The next N columns of T: rows of T before them, their own triangle, and inverses of its
 * diagonal. */
typedef struct step {
    int hermitian, before;
    ptrdiff_t ldt, ldx;
    const scalar *t;        /* T(c, 0), c = before */
    scalar own[TILE][TILE]; /* conj of T(c + a, c + b) */
    scalar inverse[TILE];
} step;

static inline void step_begin(step *s, const int N, int hermitian, int unit, int before,
                              const scalar *t, ptrdiff_t ldt, ptrdiff_t ldx)
{
    *s = (step){hermitian, before, ldt, ldx, t, {{0}}, {0}};
    for (int a = 0; a < N; a++) {
        for (int b = 0; b < a; b++)
            s->own[a][b] = scalar_mirror(t[a + (before + b) * ldt], hermitian);
        s->inverse[a] = unit ? 1 : 1 / scalar_mirror(t[a + (before + a) * ldt], hermitian);
    }
}

/* V vectors of rows of columns [before, before + N) of X, x: the same rows of column 0.  The last
 * `count` > (V - 1) LANES are wanted, those before keep what they hold. */
INLINE_ALWAYS void solve_tile(const int V, const int N, const step *s, int count, scalar *x)
{
    lanes acc[VECTORS][TILE];
    scalar *const y = x + s->before * s->ldx;
    FOR_UNROLLED (4, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            acc[v][j] = lanes_load(y + j * s->ldx + v * LANES);
    subtract_product(V, N, s->hermitian, s->before, x, s->ldx, s->t, s->ldt, acc);
    FOR_UNROLLED (4, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++) {
            FOR_UNROLLED (4, int q = 0; q < j; q++)
                acc[v][j] -= acc[v][q] * s->own[j][q];
            acc[v][j] *= s->inverse[j];
        }
    if (count < V * LANES)
        FOR_UNROLLED (4, int j = 0; j < N; j++)
            acc[0][j] = lanes_last(count - (V - 1) * LANES, acc[0][j], lanes_load(y + j * s->ldx));
    FOR_UNROLLED (4, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            lanes_store(y + j * s->ldx + v * LANES, acc[v][j]);
}

static inline void solve_entries(const int N, const step *s, int rows, scalar *x)
{
    scalar *const y = x + s->before * s->ldx;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) {
            scalar sum = y[i + j * s->ldx];
            for (int q = 0; q < s->before; q++)
                sum -= x[i + q * s->ldx] * scalar_mirror(s->t[j + q * s->ldt], s->hermitian);
            for (int q = 0; q < j; q++)
                sum -= y[i + q * s->ldx] * s->own[j][q];
            y[i + j * s->ldx] = sum * s->inverse[j];
        }
}

INLINE_ALWAYS void solve_columns(const int N, const step *s, int rows, scalar *x)
{
    int i = 0;
    for (; rows - i >= VECTORS * LANES; i += VECTORS * LANES)
        solve_tile(VECTORS, N, s, VECTORS * LANES, x + i);
    int left = rows - i;
    if (left > 2 * LANES && rows >= 3 * LANES)
        solve_tile(3, N, s, left, x + rows - 3 * LANES);
    else if (left > LANES && rows >= 2 * LANES) {
        const int now = left < 2 * LANES ? left : 2 * LANES;
        solve_tile(2, N, s, now, x + i + now - 2 * LANES);
        if (left > now)
            solve_tile(1, N, s, left - now, x + rows - LANES);
    } else if (rows >= LANES) {
        for (int now; left > 0; left -= now, i += now) {
            now = left < LANES ? left : LANES;
            solve_tile(1, N, s, now, x + i + now - LANES);
        }
    } else if (left > 0)
        solve_entries(N, s, left, x + i);
}

/* Columns [c, c + columns) of X, columns <= TILE, when those before are solved.  t: T(c, 0). */
static void solve_step(int hermitian, int unit, int rows, int c, int columns, const scalar *t,
                       int ldt, scalar *x, int ldx)
{
    step s;
    step_begin(&s, columns, hermitian, unit, c, t, ldt, ldx);
    if (columns == TILE)
        solve_columns(TILE, &s, rows, x);
    else if (columns == 3)
        solve_columns(3, &s, rows, x);
    else if (columns == 2)
        solve_columns(2, &s, rows, x);
    else
        solve_columns(1, &s, rows, x);
}

static void solve_right(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                        scalar *x, int ldx)
{
    for (int c = 0; c < n; c += TILE)
        solve_step(hermitian, unit, rows, c, n - c < TILE ? n - c : TILE, t + c, ldt, x, ldx);
}

/* ---- A = L L^H ------------------------------------------------------------------------------- */

/* The corner of the next N columns, when those before are subtracted from it: Cholesky of its lower
 * triangle, and s->own and s->inverse from that.  Returns N or the first column whose pivot is
 * refused. */
INLINE_ALWAYS int factorize_corner(const int N, step *s, scalar *a, ptrdiff_t lda,
                                   const real *diagonal)
{
    scalar t[TILE][TILE];
    FOR_UNROLLED (4, int i = 0; i < N; i++)
        FOR_UNROLLED (4, int j = 0; j <= i; j++)
            t[i][j] = a[i + j * lda];
    FOR_UNROLLED (4, int j = 0; j < N; j++) {
        FOR_UNROLLED (4, int q = 0; q < j; q++)
            FOR_UNROLLED (4, int i = j; i < N; i++)
                t[i][j] -= t[i][q] * scalar_conj(t[j][q]);
        const real pivot = scalar_real(t[j][j]);
        if (!(pivot > 16 * EPS * diagonal[j]))
            return j;
        const real root = (real)sqrt((double)pivot), inverse = 1 / root;
        a[j + j * lda] = root;
        s->inverse[j] = inverse;
        FOR_UNROLLED (4, int i = j + 1; i < N; i++) {
            t[i][j] *= inverse;
            a[i + j * lda] = t[i][j];
            s->own[i][j] = scalar_conj(t[i][j]);
        }
    }
    return N;
}

/* Columns [j, j + N) of the trapezoid, when those before are done.  Returns N or the first column
 * whose pivot is refused. */
INLINE_ALWAYS int cholesky_step(const int N, int m, int j, scalar *a, ptrdiff_t ld,
                                const real *diagonal)
{
    step s = {.hermitian = 1, .before = j, .ldt = ld, .ldx = ld, .t = a + j};
    scalar *here = a + j + j * ld;
    if (j > 0)
        update(1, 1, N, N, j, a + j, (int)ld, a + j, (int)ld, 1, here, (int)ld);
    const int done = factorize_corner(N, &s, here, ld, diagonal + j);
    if (done == N)
        solve_columns(N, &s, m - j - N, a + j + N);
    return done;
}

static int cholesky(int m, int k, scalar *a, int lda, const real *diagonal)
{
    int j = 0, done = TILE;
    for (; j + TILE <= k; j += TILE) {
        done = cholesky_step(TILE, m, j, a, lda, diagonal);
        if (done < TILE)
            return j + done;
    }
    if (k - j == 3)
        return j + cholesky_step(3, m, j, a, lda, diagonal);
    if (k - j == 2)
        return j + cholesky_step(2, m, j, a, lda, diagonal);
    return k - j == 1 ? j + cholesky_step(1, m, j, a, lda, diagonal) : k;
}

/* ---- L := W D^-1 ----------------------------------------------------------------------------- */

/* l := w / d;  returns max(|l(0:pivot_rows)|, most) */
static real divide_1x1(int rows, int pivot_rows, scalar d, const scalar *w, scalar *l, real most)
{
    const scalar inverse = 1 / d;
    int i = 0;
    real_lanes largest = {0};
    for (; i + LANES <= pivot_rows; i += LANES) {
        const lanes x = lanes_load(w + i) * inverse;
        lanes_store(l + i, x);
        largest = lanes_max(lanes_abs(x), largest);
    }
    const real found = lanes_largest(largest);
    most = found > most ? found : most;
    for (; i < rows; i++) {
        l[i] = w[i] * inverse;
        most = i < pivot_rows && scalar_abs(l[i]) > most ? scalar_abs(l[i]) : most;
    }
    return most;
}

/* [l0 l1] := [w0 w1] [a b'; b c]^-1, scaled by b against overflow, as divide_2x2 */
static real divide_pair(int hermitian, int rows, int pivot_rows, scalar a, scalar b, scalar c,
                        const scalar *w0, const scalar *w1, scalar *l0, scalar *l1, real most)
{
    const scalar above = scalar_mirror(b, hermitian), ab = a / above, cb = c / b, det = ab * cb - 1;
    const scalar x_factor = 1 / (above * det), y_factor = 1 / (b * det);
    int i = 0;
    real_lanes largest = {0};
    for (; i + LANES <= pivot_rows; i += LANES) {
        const lanes x0 = lanes_load(w0 + i), y0 = lanes_load(w1 + i);
        const lanes x = (cb * x0 - y0) * x_factor, y = (ab * y0 - x0) * y_factor;
        lanes_store(l0 + i, x);
        lanes_store(l1 + i, y);
        largest = lanes_max(lanes_abs(y), lanes_max(lanes_abs(x), largest));
    }
    const real found = lanes_largest(largest);
    most = found > most ? found : most;
    for (; i < rows; i++) {
        const scalar x0 = w0[i], y0 = w1[i];
        l0[i] = (cb * x0 - y0) * x_factor;
        l1[i] = (ab * y0 - x0) * y_factor;
        const real x = scalar_abs(l0[i]), y = scalar_abs(l1[i]), size = x > y ? x : y;
        most = i < pivot_rows && size > most ? size : most;
    }
    return most;
}

static void divide(int hermitian, int rows, int pivot_rows, int columns, const scalar *w, int ldw,
                   const scalar *d, const scalar *e, scalar *l, int ldl, real *largest)
{
    for (int c = 0; c < columns; c++) {
        const scalar *w0 = w + (ptrdiff_t)c * ldw;
        scalar *l0 = l + (ptrdiff_t)c * ldl;
        if (e[c] == 0)
            largest[c] = divide_1x1(rows, pivot_rows, d[c], w0, l0, largest[c]);
        else {
            const real most = divide_pair(hermitian, rows, pivot_rows, d[c], e[c], d[c + 1], w0,
                                          w0 + ldw, l0, l0 + ldl, largest[c]);
            largest[c] = most;
            c++;
        }
    }
}

static void add_magnitudes(int rows, int columns, const scalar *l, int ldl, const real *weight,
                           real *g)
{
    int i = 0;
    for (; i + 2 * LANES <= rows; i += 2 * LANES) {
        real_lanes g0 = lanes_load_real(g + i), g1 = lanes_load_real(g + i + LANES);
        for (int c = 0; c < columns; c++) {
            const scalar *lc = l + i + (ptrdiff_t)c * ldl;
            const real_lanes l0 = lanes_abs(lanes_load(lc)), l1 = lanes_abs(lanes_load(lc + LANES));
            g0 += l0 * l0 * weight[c];
            g1 += l1 * l1 * weight[c];
        }
        lanes_store_real(g + i, g0);
        lanes_store_real(g + i + LANES, g1);
    }
    for (; i < rows; i++)
        for (int c = 0; c < columns; c++)
            g[i] += ldlt_growth(l[i + (ptrdiff_t)c * ldl], weight[c]);
}

const front_kernels SET(front_kernels) = {update, solve_right,     cholesky,
                                          divide, SET(ldlt_block), add_magnitudes};
