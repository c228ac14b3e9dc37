/* test/api/test_types_estimates.c: determinant, condition and forward errors in one precision
 * (-DPREC_x, -DMIXED with a factor in single), beside those of plain loops in long double
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include "typed_factor.h"
#include <stdlib.h>

#define LARGEST 60

/* order: NULL for the default one */
static libsolver_factor *factor_in_order(const dense *s, libsolver_kind kind,
                                         libsolver_choice scaling, const int64_t *order)
{
    triplets *t = malloc(sizeof *t);
    libsolver_options o;
    libsolver_factor *f = NULL;
    assert_non_null(t);
    libsolver_options_default(&o);
    o.backend = BACKEND;
    o.mixed = CHOICE;
    o.kind = kind;
    o.scaling = scaling;
    o.ordering = order ? LIBSOLVER_ORDERING_USER : LIBSOLVER_ORDERING_AUTO;
    o.permutation = order;
    dense_triplets(s, NULL, t);
    assert_true(libsolver_factor_matrix(&t->view, &o, &f) >= 0);
    free(t);
    return f;
}

static libsolver_factor *factor_of(const dense *s, libsolver_kind kind, libsolver_choice scaling)
{
    return factor_in_order(s, kind, scaling, NULL);
}

/* Rows and columns scaled by powers of two, which condition and determinant feel and the factors do
 * not. */
static dense random_matrix(random_stream *r, int hermitian, int64_t n, uint64_t seed)
{
    dense s =
        dense_random(r, hermitian, n, seed % 2 ? 0.2 : 0.7, seed % 3 == 0 ? (double)(2 * n) : 0);
    if (seed % 3 == 1)
        for (int64_t i = 0; i < n; i++)
            s.a[i][i] = s.a[i][i] + 4;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            s.a[i][j] *= (real)ldexp(1, (int)((i * 5 + j * 5) % 11) - 5);
    return s;
}

/* inverse := A^-1, NULL if A is so singular that nothing can be said.  Returns det A. */
static exact invert(const dense *s, exact **inverse)
{
    const int64_t n = s->n;
    exact *a = calloc((size_t)(n * n) + 1, sizeof *a), *x = calloc((size_t)(n * n) + 1, sizeof *x);
    assert_true(a && x);
    exact_matrix(s, a);
    for (int64_t i = 0; i < n; i++)
        x[i + i * n] = 1;
    const exact determinant = exact_solve(n, a, n, x);
    free(a);
    *inverse = x;
    return determinant;
}

static long double condition_of(const dense *s, const exact *inverse)
{
    exact *a = calloc((size_t)(s->n * s->n) + 1, sizeof *a);
    assert_non_null(a);
    exact_matrix(s, a);
    const long double condition = exact_norm(s->n, a) * exact_norm(s->n, inverse);
    free(a);
    return condition;
}

static void determinants_and_conditions(void **state)
{
    (void)state;
    int near = 0, checked = 0, negative = 0;
    for (uint64_t seed = 0; seed < 120; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, LARGEST);
            const dense s = random_matrix(&r, hermitian, n, seed);
            exact *inverse;
            const exact determinant = invert(&s, &inverse);
            const long double exact_condition = condition_of(&s, inverse);
            free(inverse);
            if (!(exact_condition * n * EPS < 0.01))
                continue; /* the answers would be noise */
            libsolver_factor *f =
                factor_of(&s, LIBSOLVER_KIND_AUTO, seed % 5 ? LIBSOLVER_AUTO : LIBSOLVER_OFF);
            libsolver_determinant_info d;
            double condition;
            libsolver_factor_info info;
            libsolver_info(f, &info);
            assert_true(info.status == LIBSOLVER_OK ||
                        (info.status == LIBSOLVER_PERTURBED && FACTOR_EPS > EPS));
            assert_int_equal(libsolver_determinant(f, &d), info.status);
            assert_int_equal(libsolver_condition(f, NULL, &condition), info.status);
            const long double size = cabsl(determinant),
                              rounding =
                                  10.0L * (long double)n * FACTOR_EPS * (1 + exact_condition) +
                                  1e-13L;
            const long double slack =
                10.0L * (long double)n * EPS * exact_condition + (FACTOR_EPS > EPS ? 1e-2L : 0);
            const exact phase = determinant / size;
            if (info.status == LIBSOLVER_OK &&
                (!(fabsl(d.log_abs - logl(size)) <= rounding) ||
                 !(cabsl(phase - (d.phase_real + d.phase_imaginary * (exact)_Complex_I)) <=
                   rounding)))
                fail_msg("n %d: log |det| %.17g, found %.17g; phase %g %g, found %g %g", (int)n,
                         (double)logl(size), d.log_abs, (double)creall(phase),
                         (double)cimagl(phase), d.phase_real, d.phase_imaginary);
            if (hermitian || !SCALAR_COMPLEX)
                assert_true(fabs(d.phase_real) == 1 && d.phase_imaginary == 0);
            if (!(condition <= exact_condition * (1 + slack) && condition >= exact_condition / 10))
                fail_msg("n %d: condition %Lg, estimated %g", (int)n, exact_condition, condition);
            near += condition >= exact_condition * 0.99L;
            negative += d.phase_real < 0;
            checked++;
            libsolver_factor_free(f);
        }
    print_message("%d systems, %d conditions to a hundredth\n", checked, near);
    assert_true(checked > 60 && near > checked / 2 && negative > 10);
}

/* 400 pivots of 1e-30 or 1e30: the product is far out of range, its logarithm is not. */
static void determinants_beyond_the_range_of_numbers(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        dense *s = calloc(1, sizeof *s);
        assert_non_null(s);
        s->n = 151;
        for (int i = 0; i < 151; i++)
            s->a[i][i] = (scalar)(sign > 0 ? -1e30 : -1e-30);
        libsolver_factor *f = factor_of(s, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_AUTO);
        libsolver_determinant_info d;
        assert_int_equal(libsolver_determinant(f, &d), LIBSOLVER_OK);
        assert_true(fabs(d.log_abs - sign * 151 * 30 * log(10)) < 151 * 8 * FACTOR_EPS + 1e-9);
        assert_true(d.phase_real == -1);
        libsolver_factor_free(f);
        free(s);
    }
}

/* max |A^-1| (|r| + eps-sized terms) over max |x|, and what the error is. */
static void bounds(const dense *s, const exact *inverse, const scalar *b, const scalar *x,
                   long double *bound, long double *error)
{
    long double norm = 0;
    *bound = *error = 0;
    exact r[LARGEST];
    for (int64_t i = 0; i < s->n; i++) {
        r[i] = b[i];
        norm = fmaxl(norm, cabsl((exact)x[i]));
        for (int64_t j = 0; j < s->n; j++)
            r[i] -= dense_at(s, i, j) * x[j];
    }
    for (int64_t i = 0; i < s->n; i++) {
        exact d = 0;
        long double sum = 0;
        for (int64_t j = 0; j < s->n; j++) {
            d += inverse[i + j * s->n] * r[j];
            sum += cabsl(inverse[i + j * s->n]) * cabsl(r[j]);
        }
        *error = fmaxl(*error, cabsl(d) / norm);
        *bound = fmaxl(*bound, sum / norm);
    }
}

static void forward_errors_are_bounded(void **state)
{
    (void)state;
    int checked = 0, low = 0;
    for (uint64_t seed = 0; seed < 400; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, LARGEST), columns = 3;
            const dense s = random_matrix(&r, hermitian, n, seed);
            exact *inverse;
            invert(&s, &inverse);
            if (condition_of(&s, inverse) * n * EPS < 0.01) {
                libsolver_factor *f = factor_of(&s, LIBSOLVER_KIND_AUTO, LIBSOLVER_AUTO);
                scalar b[3 * LARGEST], x[3 * LARGEST];
                double forward[3];
                libsolver_workspace *w = NULL;
                const libsolver_vectors bv = dense_block(b, n, columns),
                                        xv = dense_block(x, n, columns);
                for (int64_t i = 0; i < n * columns; i++)
                    b[i] = dense_scalar(&r);
                assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
                for (int64_t i = 0; i < 2 * n; i++) /* the last column is as good as it gets */
                    x[i] *= 1 + (real)(i < n ? 1e-3 : 1e-5) * scalar_real(dense_scalar(&r));
                assert_int_equal(libsolver_workspace_create(f, 1, &w), LIBSOLVER_OK);
                assert_int_equal(libsolver_forward_error(f, w, &bv, &xv, forward), LIBSOLVER_OK);
                for (int64_t c = 0; c < columns; c++) {
                    long double bound, error;
                    bounds(&s, inverse, b + c * n, x + c * n, &bound, &error);
                    const long double noise = condition_of(&s, inverse) * n * EPS;
                    /* the norm of |A^-1| is estimated: rarely too low, and then by less than three
                     */
                    if (!(forward[c] >= error / 3 && forward[c] <= bound * 1.01L + noise))
                        fail_msg("n %d, column %d: error %Lg, bound %Lg, estimated %g", (int)n,
                                 (int)c, error, bound, forward[c]);
                    low += !(forward[c] >= error * 0.98L);
                    checked++;
                }
                libsolver_workspace_free(w);
                libsolver_factor_free(f);
            }
            free(inverse);
        }
    assert_true(checked > 60);
    if (low > checked / 100)
        fail_msg("%d of %d estimates below the error", low, checked);
}

/* Unit roundoff of the sums in which residuals are computed. */
#define SUM_EPS (EPS < 1e-10 ? LDBL_EPSILON : (long double)DBL_EPSILON)

static double forward_error(const dense *s, scalar *b, scalar *x)
{
    libsolver_factor *f = factor_of(s, LIBSOLVER_KIND_AUTO, LIBSOLVER_OFF);
    const libsolver_vectors bv = dense_block(b, s->n, 1), xv = dense_block(x, s->n, 1);
    double forward = -1;
    assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &forward), LIBSOLVER_OK);
    libsolver_factor_free(f);
    return forward;
}

/* A = I with a last row of entries so small that they are lost in 1 - a - ... - a - 1: the residual
 * comes out as 0 there, and what is wrong with x = 1 for b = 1 in this row is the sum of them.  The
 * bound is of rounding errors alone. */
static void what_residuals_lose_is_in_the_bounds(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int64_t n = 3; n <= LARGEST; n += 8) {
            const long double lost = SUM_EPS / 8;
            dense s = {.hermitian = hermitian, .n = n};
            scalar b[LARGEST], x[LARGEST];
            for (int64_t j = 0; j < n; j++) {
                s.a[j][j] = b[j] = x[j] = 1;
                s.a[n - 1][j] = j < n - 1 ? (scalar)lost : 1;
            }
            const double forward = forward_error(&s, b, x);
            const long double error = (long double)(n - 1) * lost;
            if (!(forward >= error) || !(forward <= 20 * n * SUM_EPS))
                fail_msg("hermitian %d, n %d: error %Lg, bound %g, expected below %Lg", hermitian,
                         (int)n, error, forward, 20 * n * SUM_EPS);
        }
}

/* b = A x without any error, in small integers: the bound is positive all the same, and no more
 * than the condition allows. */
static void exact_solutions_have_bounds_too(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int64_t n = 1; n <= LARGEST; n += 7) {
            random_stream r = random_seeded((uint64_t)n);
            const dense s = dense_random(&r, hermitian, n, 0.4, (double)(2 * n));
            scalar b[LARGEST], x[LARGEST];
            for (int64_t i = 0; i < n; i++)
                x[i] = (scalar)(1 + i % 3);
            for (int64_t i = 0; i < n; i++) {
                exact sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += dense_at(&s, i, j) * x[j];
                b[i] = (scalar)sum;
                assert_true((exact)b[i] == sum);
            }
            const double forward = forward_error(&s, b, x);
            if (!(forward > 0) || !(forward <= 40 * n * SUM_EPS))
                fail_msg("hermitian %d, n %d: bound %g, expected in (0, %Lg]", hermitian, (int)n,
                         forward, 40 * n * SUM_EPS);
        }
}

/* Two Laplacians, the values of one of them such that a climb from a vector of ones goes astray:
 * the condition is 167.08. */
static void components_are_not_missed(void **state)
{
    static const struct {
        int i, j;
        double value;
    } entries[] = {{0, 0, 1.1915323668719766},
                   {3, 0, -0.64058718249075897},
                   {6, 0, 0.54313268438121765},
                   {1, 1, 5},
                   {4, 1, -1},
                   {5, 1, -1},
                   {9, 1, -1},
                   {2, 2, 0.85261174751253899},
                   {3, 2, 0.72761174751253899},
                   {3, 3, 1.493198930003298},
                   {4, 4, 5},
                   {5, 4, -1},
                   {7, 4, -1},
                   {9, 4, -1},
                   {5, 5, 3},
                   {7, 5, -1},
                   {6, 6, 0.55875768438121765},
                   {7, 7, 5},
                   {9, 7, -1},
                   {8, 8, 3},
                   {9, 8, -1},
                   {9, 9, 4}};
    (void)state;
    int low = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        dense s = {.hermitian = SCALAR_COMPLEX, .n = 10};
        int32_t row[10];
        int64_t order[10];
        double condition;
        random_permutation(&r, 10, row);
        for (int k = 0; k < 10; k++)
            order[k] = row[k];
        for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++)
            s.a[entries[k].i][entries[k].j] = (scalar)entries[k].value;
        libsolver_factor *f = factor_in_order(&s, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_AUTO, order);
        assert_int_equal(libsolver_condition(f, NULL, &condition), LIBSOLVER_OK);
        assert_true(condition < 168);
        low += !(condition > 167.08 / 3);
        libsolver_factor_free(f);
    }
    if (low > 0)
        fail_msg("%d of 100 estimates of 167.08 are less than a third of it", low);
}

/* A = [0 0 v^T; 0 C B; v B^T 0], B having one column more than rows: the first entry of the inverse
 * is 0, A without its first row and column being singular by its pattern.  With v scaled by 2^-p it
 * becomes 2^2p 0, whatever rounding error it came out as, beside 2^p and 1 in the others.  The
 * exact condition is given the 0. */
static void rounding_errors_do_not_become_conditions(void **state)
{
    (void)state;
    const int power = EPS < 1e-10 ? 70 : 30;
    int checked = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t k = 1 + random_below(&r, 6), n = 2 * k + 2;
        dense s = {.hermitian = SCALAR_COMPLEX && seed % 2, .n = n};
        int64_t order[14];
        double condition;
        for (int64_t j = 1; j <= k; j++) {
            s.a[j][j] = (scalar)(3 + random_below(&r, 6));
            for (int64_t i = k + 1; i < n; i++)
                s.a[i][j] = (scalar)(random_below(&r, 15) - 7);
        }
        for (int64_t i = k + 1; i < n; i++)
            s.a[i][0] = (scalar)(1 + random_below(&r, 3));
        exact *inverse;
        invert(&s, &inverse);
        const long double unscaled = condition_of(&s, inverse);
        for (int64_t i = 0; i < n; i++) {
            order[i] = (i + 1) % n; /* C first */
            inverse[i] *= i == 0 ? 0 : ldexpl(1, power);
            inverse[i * n] *= i == 0 ? 0 : ldexpl(1, power);
            s.a[i][0] *= (real)ldexp(1, -power);
        }
        const long double truth = condition_of(&s, inverse);
        free(inverse);
        if (!(unscaled < 1e3))
            continue;
        libsolver_factor *f = factor_in_order(&s, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_AUTO, order);
        const libsolver_status status = libsolver_condition(f, NULL, &condition);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_PERTURBED);
        if (!(condition <= 1.1L * truth && condition >= truth / 10))
            fail_msg("seed %d, n %d: condition %Lg, estimated %g", (int)seed, (int)n, truth,
                     condition);
        checked++;
        libsolver_factor_free(f);
    }
    print_message("%d systems\n", checked);
    assert_true(checked > 40);
}

/* x beyond the range of numbers, or none at all. */
static void what_is_not_finite_has_infinite_bounds(void **state)
{
    (void)state;
    const dense s = {.n = 3, .a = {{2}, {1, 3}, {0, 1, 4}}};
    const real bad[] = {INFINITY, -INFINITY, NAN};
    libsolver_factor *f = factor_of(&s, LIBSOLVER_KIND_AUTO, LIBSOLVER_AUTO);
    for (int k = 0; k < 3; k++)
        for (int row = 0; row < 3; row++) {
            scalar b[6] = {1, 1, 1, 3, 5, 5}, x[6] = {1, 1, 1, 1, 1, 1};
            const libsolver_vectors bv = dense_block(b, 3, 2), xv = dense_block(x, 3, 2);
            double forward[2];
            x[row] = bad[k];
            assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, forward), LIBSOLVER_OK);
            if (forward[0] != INFINITY || !(forward[1] < 1e-3))
                fail_msg("x(%d) = %g: bounds %g %g", row, (double)bad[k], forward[0], forward[1]);
        }
    libsolver_factor_free(f);
}

static void singular_matrices_say_so(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    dense s = dense_random(&r, SCALAR_COMPLEX, 12, 0.8, 0);
    for (int64_t i = 0; i < 12; i++) /* row 5 is empty */
        s.a[5 > i ? 5 : i][5 > i ? i : 5] = 0;
    scalar b[12], x[12];
    const libsolver_vectors bv = dense_block(b, 12, 1), xv = dense_block(x, 12, 1);
    double condition, forward;
    libsolver_determinant_info d;
    libsolver_factor *f = factor_of(&s, LIBSOLVER_KIND_AUTO, LIBSOLVER_AUTO);
    for (int i = 0; i < 12; i++)
        b[i] = x[i] = 1;
    assert_int_equal(libsolver_determinant(f, &d), LIBSOLVER_SINGULAR);
    assert_true(d.log_abs == -INFINITY && d.phase_real == 0 && d.phase_imaginary == 0);
    assert_int_equal(libsolver_condition(f, NULL, &condition), LIBSOLVER_SINGULAR);
    assert_true(condition == INFINITY);
    assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &forward), LIBSOLVER_SINGULAR);
    assert_true(forward == INFINITY);
    libsolver_factor_free(f);
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    const dense s = dense_random(&r, SCALAR_COMPLEX, 12, 0.8, 30),
                none = {.hermitian = SCALAR_COMPLEX};
    libsolver_factor *f = factor_of(&s, LIBSOLVER_KIND_AUTO, LIBSOLVER_AUTO),
                     *empty = factor_of(&none, 0, 0);
    libsolver_workspace *w = NULL;
    libsolver_determinant_info d;
    double value = 0;
    scalar b[24];
    for (int i = 0; i < 24; i++)
        b[i] = 1;
    libsolver_vectors bv = dense_block(b, 12, 1), xv = dense_block(b + 12, 12, 1);
    assert_int_equal(libsolver_determinant(NULL, &d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_determinant(f, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_condition(NULL, NULL, &value), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_condition(f, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_forward_error(f, NULL, NULL, &xv, &value), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, NULL), LIBSOLVER_INVALID);
    xv.rows = 11;
    assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &value), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(f), "x is 11 x 1, expected 12 x 1"));
    assert_int_equal(libsolver_workspace_create(empty, 1, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_condition(f, w, &value), LIBSOLVER_INVALID); /* another factor's */
    assert_true(libsolver_factor_message(f)[0] != 0);
    /* of nothing: det = 1, condition 1 */
    assert_int_equal(libsolver_condition(empty, w, &value), LIBSOLVER_OK);
    assert_true(value == 1);
    assert_int_equal(libsolver_determinant(empty, &d), LIBSOLVER_OK);
    assert_true(d.log_abs == 0 && d.phase_real == 1);
    libsolver_workspace_free(w);
    libsolver_factor_free(empty);
    /* after a factorization that failed */
    scalar shift[12];
    for (int i = 0; i < 12; i++)
        shift[i] = -60;
    libsolver_factor_free(f);
    if (SCALAR_COMPLEX && !s.hermitian)
        return;
    f = factor_of(&s, LIBSOLVER_KIND_SPD, LIBSOLVER_AUTO);
    const libsolver_vectors v = dense_block(shift, 12, 1);
    assert_int_equal(libsolver_refactorize_shifted(f, NULL, &v), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_int_equal(libsolver_determinant(f, &d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_condition(f, NULL, &value), LIBSOLVER_INVALID);
    assert_true(isnan(value) && isnan(d.log_abs));
    libsolver_factor_free(f);
}

/* With any number of threads, and nothing is allocated. */
static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    sparse a = sparse_grid(80, 70, 4);
    const int64_t n = a.n, nnz = a.pointers[n];
    scalar *values = malloc(sizeof(scalar) * (size_t)nnz),
           *b = malloc(sizeof(scalar) * (size_t)n * 2), *x = b + n;
    double condition[3], forward[3];
    libsolver_determinant_info d[3];
    assert_true(values && b);
    for (int64_t p = 0; p < nnz; p++)
        values[p] = (scalar)a.values[p];
    for (int64_t i = 0; i < n; i++)
        b[i] = (scalar)(1 + (double)(i % 5));
    libsolver_matrix view = sparse_view(&a);
    view.values = values;
    view.type = SCALAR_TYPE;
    for (int k = 0; k < 3; k++) {
        libsolver_options o;
        libsolver_factor *f = NULL;
        libsolver_factor_info before, after;
        libsolver_options_default(&o);
        o.backend = BACKEND;
        o.mixed = CHOICE;
        o.threads = k == 0 ? 1 : 3 * k - 1;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x, n, 1);
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
        libsolver_info(f, &before);
        assert_int_equal(libsolver_determinant(f, &d[k]), LIBSOLVER_OK);
        assert_int_equal(libsolver_condition(f, NULL, &condition[k]), LIBSOLVER_OK);
        assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &forward[k]), LIBSOLVER_OK);
        libsolver_info(f, &after);
        if (BACKEND == LIBSOLVER_BACKEND_CPU) /* a device's factor is copied first */
            assert_int_equal(before.allocations, after.allocations);
        assert_memory_equal(&d[k], &d[0], sizeof d[0]);
        assert_true(condition[k] == condition[0] && forward[k] == forward[0]);
        libsolver_factor_free(f);
    }
    /* eigenvalues 4 - 2 cos(i pi / 81) - 2 cos(j pi / 71) */
    long double log_abs = 0;
    for (int i = 1; i <= 80; i++)
        for (int j = 1; j <= 70; j++)
            log_abs += logl(4 - 2 * cosl(i * 3.14159265358979323846L / 81) -
                            2 * cosl(j * 3.14159265358979323846L / 71));
    assert_true(fabsl(log_abs - d[0].log_abs) <= (long double)n * FACTOR_EPS * 10);
    free(values);
    free(b);
    sparse_free(&a);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(determinants_and_conditions),
        cmocka_unit_test(determinants_beyond_the_range_of_numbers),
        cmocka_unit_test(forward_errors_are_bounded),
        cmocka_unit_test(what_residuals_lose_is_in_the_bounds),
        cmocka_unit_test(exact_solutions_have_bounds_too),
        cmocka_unit_test(components_are_not_missed),
        cmocka_unit_test(rounding_errors_do_not_become_conditions),
        cmocka_unit_test(what_is_not_finite_has_infinite_bounds),
        cmocka_unit_test(singular_matrices_say_so),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
