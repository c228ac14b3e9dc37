/* test/dense/test_front_kernels.c: the inner loops of a front in one precision (-DPREC_x), by each
 * set of kernels, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every block stands inside a larger one of random numbers, of which nothing else may change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "random.h"
#include "dense/cpu/front.h"
#include "dense/cpu/front_kernels_sets.h"
#include "dense/cpu/ldlt.h"
#include "dense/cpu/product.h"
#include <stdlib.h>
#include <string.h>

typedef long double _Complex exact;

#define SYMMETRIES (SCALAR_COMPLEX ? 2 : 1)
enum { SETS = 2, EDGE = 3, MOST = 70, LD = MOST + 2 * EDGE, COLUMNS = 40 };

static const front_kernels *set(int k)
{
    return k == 0 ? &NAME(front_kernels_plain) : NAME(front_kernels_here)();
}

static scalar random_scalar(random_stream *r)
{
    const double x = random_real(r), y = random_real(r);
#if SCALAR_COMPLEX
    return (scalar)(x + y * _Complex_I);
#else
    (void)y;
    return (scalar)x;
#endif
}

/* A block of LD x COLUMNS; `at` is its entry (EDGE, 0). */
typedef struct field {
    scalar all[LD * COLUMNS], *at;
} field;

static void fill(random_stream *r, field *f)
{
    for (int i = 0; i < LD * COLUMNS; i++)
        f->all[i] = random_scalar(r);
    f->at = f->all + EDGE;
}

static field copy(const field *f)
{
    field g = *f;
    g.at = NULL;
    return g;
}

/* Entry (i, j) of the block as it was. */
static exact entry(const field *f, int i, int j)
{
    return f->all[EDGE + i + j * LD];
}

static exact mirrored(exact a, int hermitian)
{
    return SCALAR_COMPLEX && hermitian ? conjl(a) : a;
}

static void check_near(exact wanted, scalar got, long double scale)
{
    if (!(cabsl(wanted - got) <= 40 * (long double)EPS * (scale + cabsl(wanted))))
        fail_msg("%Lg, but %Lg is wanted: off by %Lg eps", creall((exact)got), creall(wanted),
                 cabsl(wanted - got) / (long double)EPS);
}

/* Whether nothing has changed outside rows [0, rows) of columns [0, columns). */
static void check_outside(const field *before, const field *after, int rows, int columns)
{
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < LD; i++)
            if (j >= columns || i < EDGE || i >= EDGE + rows)
                assert_memory_equal(&before->all[i + j * LD], &after->all[i + j * LD],
                                    sizeof(scalar));
}

static void check_update(random_stream *r, const front_kernels *kernels, int hermitian, int rows,
                         int columns, int inner, int trapezoid, int add)
{
    field l, w, c;
    fill(r, &l);
    fill(r, &w);
    fill(r, &c);
    const field before = copy(&c);
    kernels->update(hermitian, trapezoid, rows, columns, inner, l.at, LD, w.at, LD, add, c.at, LD);
    check_outside(&before, &c, rows, columns);
    for (int j = 0; j < columns; j++)
        for (int i = trapezoid ? j : 0; i < rows; i++) {
            exact sum = add ? entry(&before, i, j) : 0;
            for (int q = 0; q < inner; q++)
                sum -= entry(&l, i, q) * mirrored(entry(&w, j, q), hermitian);
            check_near(sum, c.at[i + j * LD], inner);
        }
}

static void products_are_subtracted(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    for (int k = 0; k < SETS; k++)
        for (int rows = 0; rows <= 40; rows++)
            for (int columns = 0; columns <= 9 && columns <= rows; columns++)
                for (int kind = 0; kind < 4; kind++)
                    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
                        check_update(&r, set(k), hermitian, rows, columns, (rows + columns) % 7,
                                     kind & 1, kind >> 1);
}

typedef void solver(int hermitian, int unit, int rows, int n, const scalar *t, int ldt, scalar *x,
                    int ldx);

static void check_solve(random_stream *r, solver *solve, int hermitian, int unit, int rows, int n)
{
    field t, x;
    fill(r, &t);
    fill(r, &x);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) /* small enough that the inverse stays modest */
            t.at[i + j * LD] = i < j || (unit && i == j) ? NAN
                               : i == j                  ? 2 + t.at[i + j * LD]
                                                         : t.at[i + j * LD] / (real)(n + 1);
    const field before = copy(&x);
    solve(hermitian, unit, rows, n, t.at, LD, x.at, LD);
    check_outside(&before, &x, rows, n);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) { /* X T^T is what was there */
            exact sum =
                unit ? x.at[i + j * LD] : x.at[i + j * LD] * mirrored(t.at[j + j * LD], hermitian);
            for (int q = 0; q < j; q++)
                sum += (exact)x.at[i + q * LD] * mirrored(t.at[j + q * LD], hermitian);
            check_near(entry(&before, i, j), (scalar)sum, 4);
        }
}

/* The kernels of each set that this processor has, and what fronts call. */
static int solvers(solver *all[SETS + 4])
{
    int count = 0;
    for (int k = 0; k < SETS; k++)
        all[count++] = set(k)->solve_right;
    all[count++] = NAME(front_solve_right);
#if SCALAR_COMPLEX
    all[count++] = NAME(solve_columns_plain);
#ifdef HAVE_avx2
    if (here_is_avx2())
        all[count++] = NAME(solve_columns_avx2);
#endif
#ifdef HAVE_avx512
    if (here_is_avx512())
        all[count++] = NAME(solve_columns_avx512);
#endif
#endif
    return count;
}

static void triangles_are_solved_with(void **state)
{
    (void)state;
    random_stream r = random_seeded(2);
    solver *all[SETS + 4];
    const int count = solvers(all);
    for (int k = 0; k < count; k++)
        for (int rows = 0; rows <= 40; rows++)
            for (int n = 0; n <= 13; n++)
                for (int kind = 0; kind < 2 * SYMMETRIES; kind++)
                    check_solve(&r, all[k], kind >> 1, kind & 1, rows, n);
}

static void check_cholesky(random_stream *r, const front_kernels *kernels, int m, int k,
                           int refused)
{
    field g, a;
    real diagonal[MOST];
    fill(r, &g);
    fill(r, &a);
    for (int j = 0; j < k; j++) {
        for (int i = 0; i < m; i++) {
            exact sum = i == j ? 1 : 0;
            for (int q = 0; q < k; q++)
                sum += entry(&g, i, q) * conjl(entry(&g, j, q));
            a.at[i + j * LD] = i < j ? NAN : (scalar)sum;
        }
        if (j == refused)
            a.at[j + j * LD] = -1;
        diagonal[j] = scalar_real(a.at[j + j * LD]);
    }
    const field before = copy(&a);
    assert_int_equal(kernels->cholesky(m, k, a.at, LD, diagonal), refused < k ? refused : k);
    check_outside(&before, &a, m, k);
    for (int j = 0; j < k && refused >= k; j++)
        for (int i = j; i < m; i++) {
            exact sum = 0;
            for (int q = 0; q <= j; q++)
                sum += (exact)a.at[i + q * LD] * conjl(a.at[j + q * LD]);
            check_near(entry(&before, i, j), (scalar)sum, k + 1);
        }
}

static void panels_are_factorized(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    for (int s = 0; s < SETS; s++)
        for (int k = 0; k <= 21; k++)
            for (int m = k; m <= k + 27; m++) {
                check_cholesky(&r, set(s), m, k, MOST);
                if (k > 0)
                    check_cholesky(&r, set(s), m, k, random_below(&r, k));
            }
}

static void check_divide(random_stream *r, const front_kernels *kernels, int hermitian, int rows,
                         int judged, int columns)
{
    field w, l;
    scalar d[COLUMNS], e[COLUMNS];
    real largest[COLUMNS], weight[COLUMNS], g[MOST] = {0};
    fill(r, &w);
    fill(r, &l);
    for (int c = 0; c < columns; c++) {
        d[c] = scalar_diagonal(2 + random_scalar(r) / 2, hermitian);
        e[c] = c + 1 < columns && (c == 0 || e[c - 1] == 0) && random_below(r, 2)
                   ? 4 + random_scalar(r)
                   : 0;
        largest[c] = (real)0.25;
    }
    const field before = copy(&l);
    kernels->divide(hermitian, rows, judged, columns, w.at, LD, d, e, l.at, LD, largest);
    check_outside(&before, &l, rows, columns);
    for (int c = 0, pivots; c < columns; c += pivots) {
        real most = (real)0.25;
        pivots = e[c] != 0 ? 2 : 1;
        for (int i = 0; i < rows; i++) {
            const exact l0 = l.at[i + c * LD], l1 = pivots == 2 ? l.at[i + (c + 1) * LD] : 0;
            check_near(entry(&w, i, c), (scalar)(l0 * d[c] + l1 * e[c]), 4);
            if (pivots == 2)
                check_near(entry(&w, i, c + 1),
                           (scalar)(l0 * mirrored(e[c], hermitian) + l1 * d[c + 1]), 4);
            for (int q = 0; q < pivots && i < judged; q++) {
                const real size = scalar_abs(l.at[i + (c + q) * LD]);
                most = size > most ? size : most;
            }
        }
        check_near(most, largest[c], 1);
    }
    ldlt_weights(columns, d, e, weight);
    kernels->add_magnitudes(rows, columns, l.at, LD, weight, g);
    for (int i = 0; i < MOST; i++) {
        exact sum = 0;
        for (int c = 0; c < columns && i < rows; c++)
            sum +=
                cabsl(entry(&l, i, c)) * cabsl(entry(&l, i, c)) *
                ((exact)scalar_abs(d[c]) + scalar_abs(e[c]) + (c > 0 ? scalar_abs(e[c - 1]) : 0));
        check_near(sum, g[i], columns);
    }
}

static void columns_are_divided_by_pivots(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    for (int k = 0; k < SETS; k++)
        for (int rows = 0; rows <= 40; rows++)
            for (int columns = 0; columns <= 8; columns++)
                for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
                    check_divide(&r, set(k), hermitian, rows, random_below(&r, rows + 1), columns);
}

/* L D L^T = P B P^T, |L| <= 4, and magnitudes that bound the terms. */
static void check_block(random_stream *r, const front_kernels *kernels, int hermitian, int n,
                        int zero_diagonal)
{
    const int ld = ldlt_block_ld(n);
    scalar b[LDLT_BLOCK * LDLT_BLOCK] = {0}, d[LDLT_BLOCK], e[LDLT_BLOCK];
    exact a[LDLT_BLOCK][LDLT_BLOCK], l[LDLT_BLOCK][LDLT_BLOCK] = {{0}},
                                     w[LDLT_BLOCK][LDLT_BLOCK] = {{0}};
    real g[LDLT_BLOCK];
    int order[LDLT_BLOCK];
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            b[i + j * ld] = i == j
                                ? (zero_diagonal ? 0 : scalar_diagonal(random_scalar(r), hermitian))
                                : random_scalar(r);
            a[i][j] = b[i + j * ld];
            a[j][i] = mirrored(a[i][j], hermitian);
        }
    for (int i = 0; i < n; i++)
        g[i] = 1;
    const int found = kernels->ldlt_block(hermitian, n, LDLT_ZERO, b, order, d, e, g);
    if (!(zero_diagonal && n % 2))
        assert_int_equal(found, n);
    for (int i = 0; i < found; i++) {
        l[i][i] = 1;
        for (int j = 0; j < i; j++) {
            l[i][j] = b[i + j * ld];
            assert_true(cabsl(l[i][j]) <= 4 * (1 + 10 * (long double)EPS));
        }
    }
    for (int i = 0; i < found; i++) /* W = L D */
        for (int j = 0; j < found; j++) {
            w[i][j] += l[i][j] * d[j];
            if (j + 1 < found && e[j] != 0) {
                w[i][j] += l[i][j + 1] * e[j];
                w[i][j + 1] += l[i][j] * mirrored(e[j], hermitian);
            }
        }
    for (int i = 0; i < found; i++)
        for (int j = 0; j <= i; j++) {
            exact sum = 0;
            for (int q = 0; q < found; q++)
                sum += w[i][q] * mirrored(l[j][q], hermitian);
            check_near(a[order[i]][order[j]], (scalar)sum, 4 * (1 + g[i] + g[j]));
        }
    /* a 2x2 pivot holds the largest entry left, of which a 1x1 pivot is at least 0.7 */
    for (int p = 0; p < found; p += e[p] != 0 ? 2 : 1) {
        long double largest = 0, own = 0;
        for (int i = p; i < found; i++)
            for (int j = p; j <= i; j++) {
                exact left = a[order[i]][order[j]];
                for (int q = 0; q < p; q++)
                    left -= w[i][q] * mirrored(l[j][q], hermitian);
                largest = cabsl(left) > largest ? cabsl(left) : largest;
                if (j == p && i == (e[p] != 0 ? p + 1 : p))
                    own = cabsl(left);
            }
        assert_true(own >= (e[p] != 0 ? 1 - 1e4L * EPS : 0.7L) * largest);
    }
    /* what earlier pivots have subtracted from an entry is bounded by its magnitudes */
    for (int i = 0; i < found; i++)
        for (int j = 0; j <= i; j++) {
            long double terms = 0;
            for (int q = 0; q < (j > 0 && e[j - 1] != 0 ? j - 1 : j); q++)
                terms += cabsl(w[i][q]) * cabsl(l[j][q]);
            assert_true(terms <= sqrtl((long double)g[i] * g[j]) * (1 + 100 * (long double)EPS));
        }
}

static void blocks_are_factorized_with_complete_pivoting(void **state)
{
    (void)state;
    random_stream r = random_seeded(5);
    for (int k = 0; k < SETS; k++)
        for (int n = 0; n <= LDLT_BLOCK; n++)
            for (int kind = 0; kind < 2 * SYMMETRIES; kind++)
                for (int again = 0; again < 4; again++)
                    check_block(&r, set(k), kind >> 1, n, kind & 1);
}

/* ---- products of large blocks ---------------------------------------------------------------- */

/* Every set that this processor has. */
static int products(product_kernel *kernels[3])
{
    int count = 0;
    kernels[count++] = NAME(product_plain);
#ifdef HAVE_avx2
    if (here_is_avx2())
        kernels[count++] = NAME(product_avx2);
#endif
#ifdef HAVE_avx512
    if (here_is_avx512())
        kernels[count++] = NAME(product_avx512);
#endif
    return count;
}

typedef struct product_case {
    int hermitian, trapezoid, rows, columns, inner, add;
    real scale; /* of the entries of L; C and the result have it too */
} product_case;

static scalar *random_block(random_stream *r, int64_t entries, real scale)
{
    scalar *a = malloc(sizeof(scalar) * (size_t)(entries + 1));
    assert_non_null(a);
    for (int64_t i = 0; i < entries; i++)
        a[i] = scale * random_scalar(r);
    return a;
}

/* Leading dimensions are odd; what lies between the columns of C may not change, what lies between
 * those of L and W is NaN, as C is where it is not to be read. */
static void check_product(random_stream *r, product_kernel *kernel, product_case k)
{
    const int ldl = k.rows + 3, ldw = k.columns + 5, ldc = k.rows + 1;
    scalar *l = random_block(r, (int64_t)ldl * k.inner, k.scale),
           *w = random_block(r, (int64_t)ldw * k.inner, 1),
           *c = random_block(r, (int64_t)ldc * k.columns, k.scale),
           *before = random_block(r, (int64_t)ldc * k.columns, 0);
    for (int q = 0; q < k.inner; q++) {
        for (int i = k.rows; i < ldl; i++)
            l[i + (int64_t)q * ldl] = NAN;
        for (int j = k.columns; j < ldw; j++)
            w[j + (int64_t)q * ldw] = NAN;
    }
    for (int64_t i = 0; !k.add && i < (int64_t)ldc * k.columns; i++)
        c[i] = NAN;
    memcpy(before, c, sizeof(scalar) * (size_t)ldc * (size_t)k.columns);
    kernel(k.hermitian, k.trapezoid, k.rows, k.columns, k.inner, l, ldl, w, ldw, k.add, c, ldc);
    for (int j = 0; j < k.columns; j++) {
        for (int i = k.trapezoid ? j : 0; i < k.rows; i++) {
            exact sum = k.add ? before[i + (int64_t)j * ldc] : 0;
            long double size = cabsl(sum);
            for (int q = 0; q < k.inner; q++) {
                const exact term =
                    (exact)l[i + (int64_t)q * ldl] * mirrored(w[j + (int64_t)q * ldw], k.hermitian);
                sum -= term;
                size += cabsl(term);
            }
            check_near(sum, c[i + (int64_t)j * ldc], size);
        }
        assert_memory_equal(c + k.rows + (int64_t)j * ldc, before + k.rows + (int64_t)j * ldc,
                            sizeof(scalar));
    }
    free(l);
    free(w);
    free(c);
    free(before);
}

static void packed_products_are_subtracted(void **state)
{
    (void)state;
    random_stream r = random_seeded(6);
    product_kernel *kernels[3];
    const int sets = products(kernels);
    for (int s = 0; s < sets; s++) {
        for (int rows = 0; rows <= 51; rows++)
            for (int columns = rows & 1; columns <= 17; columns += 2)
                for (int kind = 0; kind < 4 * SYMMETRIES; kind++)
                    check_product(&r, kernels[s],
                                  (product_case){kind >> 2, kind & 1, rows, columns,
                                                 (rows + columns) % 7, kind >> 1 & 1, 1});
        for (int again = 0; again < 12; again++) { /* more than a block each way */
            const int rows = 1 + random_below(&r, 420), columns = 1 + random_below(&r, 140);
            check_product(&r, kernels[s],
                          (product_case){SCALAR_COMPLEX && again & 4, again & 1, rows, columns,
                                         random_below(&r, 200), again >> 1 & 1, 1});
        }
    }
}

/* Sums near the largest and the smallest normal numbers are as exact as others. */
static void packed_products_of_extreme_numbers(void **state)
{
    (void)state;
    random_stream r = random_seeded(7);
    product_kernel *kernels[3];
    const int sets = products(kernels), large = sizeof(real) == 4 ? 110 : 1000;
    for (int s = 0; s < sets; s++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int rows = 1; rows <= 100; rows += 9)
                check_product(&r, kernels[s],
                              (product_case){1, 0, rows, 13, 40, sign > 0,
                                             (real)ldexp(1, sign > 0 ? large : 60 - large)});
}

/* A NaN in row i of L or j of W is one in that row or column of C, and nowhere else: what is packed
 * beside them decides nothing. */
static void packed_products_pass_on_nan(void **state)
{
    (void)state;
    enum { ROWS = 53, WIDTH = 11, INNER = 9 };
    product_kernel *kernels[3];
    const int sets = products(kernels);
    for (int s = 0; s < sets; s++)
        for (int at = 0; at < ROWS; at++) {
            scalar l[ROWS * INNER], w[WIDTH * INNER], c[ROWS * WIDTH];
            for (int i = 0; i < ROWS * INNER; i++)
                l[i] = 1;
            for (int i = 0; i < WIDTH * INNER; i++)
                w[i] = 1;
            l[at + 5 * ROWS] = NAN;
            w[at % WIDTH + 3 * WIDTH] = NAN;
            kernels[s](0, 0, ROWS, WIDTH, INNER, l, ROWS, w, WIDTH, 0, c, ROWS);
            for (int j = 0; j < WIDTH; j++)
                for (int i = 0; i < ROWS; i++)
                    if (i == at || j == at % WIDTH)
                        assert_false(scalar_finite(c[i + j * ROWS]));
                    else
                        assert_true(c[i + j * ROWS] == -INNER);
        }
}

/* An entry has the same bits whatever block it is computed in: tiles of any size may be tasks. */
static void packed_products_do_not_depend_on_the_block(void **state)
{
    (void)state;
    enum { ROWS = 230, WIDTH = 37, INNER = 150 };
    random_stream r = random_seeded(8);
    product_kernel *kernels[3];
    const int sets = products(kernels);
    scalar *l = random_block(&r, ROWS * INNER, 1), *w = random_block(&r, WIDTH * INNER, 1),
           *c = random_block(&r, ROWS * WIDTH, 1), *part = random_block(&r, ROWS * WIDTH, 1);
    for (int s = 0; s < sets; s++)
        for (int again = 0; again < 20; again++) {
            const int i = random_below(&r, ROWS), rows = 1 + random_below(&r, ROWS - i),
                      j = random_below(&r, WIDTH), columns = 1 + random_below(&r, WIDTH - j);
            kernels[s](1, 0, ROWS, WIDTH, INNER, l, ROWS, w, WIDTH, 0, c, ROWS);
            kernels[s](1, 0, rows, columns, INNER, l + i, ROWS, w + j, WIDTH, 0, part, ROWS);
            for (int q = 0; q < columns; q++)
                assert_memory_equal(part + q * ROWS, c + i + (j + q) * ROWS,
                                    sizeof(scalar) * (size_t)rows);
        }
    free(l);
    free(w);
    free(c);
    free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_subtracted),
        cmocka_unit_test(triangles_are_solved_with),
        cmocka_unit_test(panels_are_factorized),
        cmocka_unit_test(columns_are_divided_by_pivots),
        cmocka_unit_test(blocks_are_factorized_with_complete_pivoting),
        cmocka_unit_test(packed_products_are_subtracted),
        cmocka_unit_test(packed_products_of_extreme_numbers),
        cmocka_unit_test(packed_products_pass_on_nan),
        cmocka_unit_test(packed_products_do_not_depend_on_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
