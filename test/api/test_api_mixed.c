/* test/api/test_api_mixed.c: mixed precision: a factor in single precision, solutions to double
 * accuracy or a true word on them
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "chosen_backend.h"
#include "systems.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3

static libsolver_options mixed_options(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = BACKEND;
    o.mixed = LIBSOLVER_ON;
    o.kind = kind;
    o.threads = 1;
    return o;
}

static libsolver_factor *factor_of(const sparse *a, const libsolver_options *o,
                                   libsolver_status *status)
{
    const libsolver_matrix view = sparse_view(a);
    libsolver_factor *f = NULL;
    *status = libsolver_factor_matrix(&view, o, &f);
    assert_non_null(f);
    return f;
}

/* Whether single precision was not enough. */
static int is_in_double(const libsolver_factor *f)
{
    libsolver_factor_info info;
    libsolver_info(f, &info);
    return info.precision == LIBSOLVER_D;
}

static double *right_sides(const sparse *a, int64_t columns)
{
    double *exact = doubles(a->n * columns), *b = doubles(a->n * columns);
    for (int64_t k = 0; k < a->n * columns; k++)
        exact[k] = 1 + 0.1 * (double)(k % 7) + (double)(k / a->n);
    sparse_multiply(a, columns, exact, b);
    free(exact);
    return b;
}

/* Solves, and checks that what is said of the solution is so.  Returns the backward error. */
static double solve_and_check(const char *name, const sparse *a, libsolver_factor *f,
                              libsolver_status factorized)
{
    double *b = right_sides(a, COLUMNS), *x = doubles(a->n * COLUMNS);
    const libsolver_vectors bv = block_view(b, a->n, COLUMNS), xv = block_view(x, a->n, COLUMNS);
    libsolver_solve_info info;
    const libsolver_status status = libsolver_solve(f, &bv, &xv);
    libsolver_solve_query(f, NULL, &info);
    const double error = sparse_backward_error(a, COLUMNS, x, b);
    const int remarks = (int)factorized | (error <= 1e-14 ? 0 : LIBSOLVER_INACCURATE);
    if (status < 0 || info.remarks != remarks ||
        !(fabs(info.backward_error - error) <= 1e-2 * error + 1e-17))
        fail_msg("%s: %s, remarks %d, expected %d; backward error %g, found to be %g", name,
                 libsolver_status_name(status), info.remarks, remarks, error, info.backward_error);
    free(b);
    free(x);
    return error;
}

/* One way to ask, everything as in double precision. */
static void check_good(const char *name, const sparse *a, const signs *known,
                       const libsolver_options *o)
{
    libsolver_status status;
    libsolver_inertia_counts counts;
    libsolver_factor *f = factor_of(a, o, &status);
    if (status != LIBSOLVER_OK)
        fail_msg("%s: %s, %s", name, libsolver_status_name(status), libsolver_factor_message(f));
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    if (counts.positive != known->positive || counts.negative != known->negative ||
        counts.zero != 0)
        fail_msg("%s: inertia %d %d %d, expected %d %d 0", name, (int)counts.positive,
                 (int)counts.negative, (int)counts.zero, (int)known->positive,
                 (int)known->negative);
    const double error = solve_and_check(name, a, f, status);
    if (!(error <= 1e-14))
        fail_msg("%s: backward error %g", name, error);
    libsolver_factor_free(f);
}

static void check_all_ways(const char *name, const sparse *a, signs known)
{
    for (int k = 0; k < 4; k++) {
        libsolver_options o =
            mixed_options(k % 2 ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_AUTO);
        o.matching = k / 2 ? LIBSOLVER_ON : LIBSOLVER_AUTO;
        check_good(name, a, &known, &o);
    }
    const libsolver_options spd = mixed_options(LIBSOLVER_KIND_SPD);
    if (known.positive == a->n)
        check_good(name, a, &known, &spd);
}

static void ordinary_systems_are_solved_to_double_accuracy(void **state)
{
    (void)state;
    sparse grid = sparse_grid(40, 35, 4), delaying = sparse_delaying(9);
    check_all_ways("grid", &grid, (signs){1400, 0, 0});
    check_all_ways("delays", &delaying, (signs){81, 81, 0});
    sparse_free(&grid);
    sparse_free(&delaying);
    random_stream r = random_seeded(5);
    for (int k = 0; k < 20; k++) {
        const int64_t n = 5 + random_below(&r, 60), m = random_below(&r, (int32_t)n);
        sparse a = sparse_saddle(&r, n, m);
        check_all_ways("saddle point", &a, (signs){n, m, 0});
        sparse_free(&a);
    }
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_stream stream = random_seeded(seed);
        signs s;
        sparse a = sparse_random(&stream, 2 + random_below(&stream, 35), seed % 2 ? 0.3 : 1);
        if (sparse_signs(&a, &s) > 1e-3 && s.zero == 0)
            check_all_ways("random", &a, s);
        sparse_free(&a);
    }
}

static void a_plain_solve_has_single_accuracy_and_its_error_is_told(void **state)
{
    (void)state;
    sparse a = sparse_grid(30, 30, 2.5);
    libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
    libsolver_status status;
    o.refine_steps = 0;
    libsolver_factor *f = factor_of(&a, &o, &status);
    assert_int_equal(status, LIBSOLVER_OK);
    double *b = right_sides(&a, COLUMNS), *x = doubles(a.n * COLUMNS), errors[COLUMNS];
    const libsolver_vectors bv = block_view(b, a.n, COLUMNS), xv = block_view(x, a.n, COLUMNS);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &xv), LIBSOLVER_OK);
    const double plain = sparse_backward_error(&a, COLUMNS, x, b);
    assert_true(plain > 1e-9 && plain < 1e-4);
    assert_int_equal(libsolver_refine(f, NULL, &bv, &xv, errors), LIBSOLVER_INACCURATE);
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double error = sparse_backward_error(&a, 1, x + j * a.n, b + j * a.n);
        assert_true(fabs(errors[j] - error) <= 1e-6 * error);
    }
    assert_true(solve_and_check("checked only", &a, f, status) > 1e-9);
    libsolver_factor_free(f);
    free(b);
    free(x);
    sparse_free(&a);
}

static void fgmres_solves_where_plain_refinement_stalls(void **state)
{
    (void)state;
    enum { N = 80, SMALL = 6 };
    int stalled = 0, cases = 0;
    for (int decades = 9; decades <= 12; decades++)
        for (int kind = 0; kind < 3; kind++) {
            double values[N];
            for (int k = 0; k < N; k++)
                values[k] = k < SMALL ? pow(10, -decades + 0.4 * k) : 1 + 0.3 * sin(k);
            for (int k = 0; k < N && kind == 1; k += 2)
                values[k] = -values[k];
            sparse a = sparse_with_eigenvalues(N, values);
            const libsolver_options o = mixed_options(kind == 2   ? LIBSOLVER_KIND_SPD
                                                      : kind == 1 ? LIBSOLVER_KIND_INDEFINITE
                                                                  : LIBSOLVER_KIND_AUTO);
            libsolver_status status;
            libsolver_inertia_counts counts;
            libsolver_factor *f = factor_of(&a, &o, &status);
            if (status != LIBSOLVER_OK && status != LIBSOLVER_PERTURBED)
                fail_msg("cond 1e%d, kind %d: %s", decades, kind, libsolver_factor_message(f));
            const double error = solve_and_check("ill-conditioned", &a, f, status),
                         stall = sparse_plain_refinement(&a, f, 30);
            if (!(error <= 1e-14))
                fail_msg("cond 1e%d, kind %d: backward error %g; plain refinement: %g", decades,
                         kind, error, stall);
            assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
            assert_true(!counts.certain || is_in_double(f));
            stalled += stall > 1e-13;
            cases++;
            print_message("cond 1e%d, kind %d: %s, %.1e, plain refinement %.1e\n", decades, kind,
                          libsolver_status_name(status), error, stall);
            libsolver_factor_free(f);
            sparse_free(&a);
        }
    assert_true(stalled > cases / 2);
}

/* Rows that are coupled to the last one alone, of sizes 2^-103 to 2^158, with unknowns of 2^-10
 * to 2^10: scaled they differ by as much as the rows, rounding errors of the largest ones at first
 * hide the rows of the others.  On the CPU. */
static void rows_of_very_different_sizes_are_solved(void **state)
{
    (void)state;
    enum { N = 9, SYSTEMS = 2000 };
    const double diagonal[N] = {-1.64e-11, -3.62e38,  2.01e44,  -2.17e39, 1.76e37,
                                -5.09e47,  -1.14e-31, -2.48e11, -5.88e-16},
                 last_row[N - 1] = {5.4e-14, -4.12e11, -5.83e13,  -2.2e11,
                                    3.19e10, -1.77e16, -6.06e-25, 2.93e-3};
    double dense[N * N] = {0}, exact[2 * N], b[2 * N], x[2 * N];
    if (BACKEND == LIBSOLVER_BACKEND_GPU)
        return;
    for (int i = 0; i < N; i++)
        dense[i + i * N] = diagonal[i];
    for (int i = 0; i < N - 1; i++)
        dense[N - 1 + i * N] = last_row[i];
    sparse a = sparse_of_dense(N, dense);
    libsolver_options o = mixed_options(LIBSOLVER_KIND_INDEFINITE);
    libsolver_status status;
    libsolver_factor *f = factor_of(&a, &o, &status);
    const libsolver_vectors bv = block_view(b, N, 2), xv = block_view(x, N, 2);
    random_stream r = random_seeded(4);
    assert_int_equal(status, LIBSOLVER_OK);
    assert_false(is_in_double(f));
    for (int k = 0; k < SYSTEMS; k++) {
        for (int i = 0; i < 2 * N; i++)
            exact[i] = ldexp(random_real(&r), (int)random_below(&r, 20) - 10);
        sparse_multiply(&a, 2, exact, b);
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
        assert_true(sparse_backward_error(&a, 2, x, b) <= 1e-14);
    }
    libsolver_factor_free(f);
    sparse_free(&a);
}

/* Largest column sum of |A|. */
static double norm_of(const sparse *a)
{
    double *full = dense_of_sparse(a), most = 0;
    for (int64_t j = 0; j < a->n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < a->n; i++)
            sum += fabs(full[i + j * a->n]);
        most = fmax(most, sum);
    }
    free(full);
    return most;
}

/* The factor may be far from A in the direction of the least eigenvalue, where it counts: x is made
 * wrong there, by a part of 1e-6 that the residual hardly shows. */
static void conditions_and_forward_errors_are_those_of_the_matrix(void **state)
{
    (void)state;
    enum { N = 80 };
    for (int decades = 3; decades <= 11; decades++)
        for (int indefinite = 0; indefinite < 2; indefinite++) {
            double values[N], inverse[N], b[N], x[N], condition, forward;
            for (int k = 0; k < N; k++) {
                values[k] = (k == 0 ? pow(10, -decades) : 1 + 0.3 * sin(k)) *
                            (indefinite && k % 2 ? -1 : 1);
                inverse[k] = 1 / values[k];
            }
            sparse a = sparse_with_eigenvalues(N, values), i = sparse_with_eigenvalues(N, inverse);
            const double known = norm_of(&a) * norm_of(&i);
            const libsolver_options o = mixed_options(LIBSOLVER_KIND_INDEFINITE);
            const libsolver_vectors bv = block_view(b, N, 1), xv = block_view(x, N, 1);
            libsolver_status status;
            libsolver_factor *f = factor_of(&a, &o, &status);
            for (int k = 0; k < N; k++)
                x[k] = 1 + 0.1 * (k % 7);
            sparse_multiply(&a, 1, x, b);
            for (int k = 0; k < N; k++) /* eigenvector: the first column of the reflection */
                x[k] += 1e-6 * ((k == 0) - 2.0 / N);
            assert_int_equal(libsolver_condition(f, NULL, &condition), status);
            assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &forward), status);
            print_message("condition %.2e, estimated %.2e; bound %.1e (%s)\n", known, condition,
                          forward, libsolver_status_name(status));
            if (!(condition >= known / 3 && condition <= known * 1.01) ||
                !(forward >= 0.99e-6 * (1 - 2.0 / N) / 1.6))
                fail_msg("1e%d: condition %g, estimated %g; forward error %g", decades, known,
                         condition, forward);
            libsolver_factor_free(f);
            sparse_free(&a);
            sparse_free(&i);
        }
}

/* A grid whose smallest eigenvalue is 1e-10, large enough for several threads. */
static void fgmres_gives_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const double pi = acos(-1);
    sparse a = sparse_grid(130, 120, 2 * cos(pi / 131) + 2 * cos(pi / 121) + 1e-10);
    double *b = right_sides(&a, COLUMNS), *x = doubles(2 * a.n * COLUMNS);
    for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++)
        for (int threads = 1; threads <= 5; threads += 2) {
            libsolver_options o = mixed_options((libsolver_kind)kind);
            libsolver_status status;
            libsolver_solve_info info;
            double *here = x + (threads > 1 ? a.n * COLUMNS : 0);
            o.threads = threads;
            libsolver_factor *f = factor_of(&a, &o, &status);
            assert_true(status >= 0);
            const libsolver_vectors bv = block_view(b, a.n, COLUMNS),
                                    xv = block_view(here, a.n, COLUMNS);
            assert_int_equal(libsolver_solve(f, &bv, &xv), status);
            libsolver_solve_query(f, NULL, &info);
            assert_true(info.steps >= 2 && info.backward_error <= 1e-14);
            if (threads > 1 && memcmp(x, here, sizeof(double) * (size_t)(a.n * COLUMNS)))
                fail_msg("kind %d, %d threads: other bits", kind, threads);
            libsolver_factor_free(f);
        }
    free(b);
    free(x);
    sparse_free(&a);
}

/* ---- what single precision cannot hold ------------------------------------------------------- */

static void entries_beyond_single_precision_are_scaled(void **state)
{
    (void)state;
    const double sizes[] = {1e300, 1e99, 1e-99, 1e-300};
    for (int k = 0; k < 4; k++)
        for (int kind = 0; kind < 2; kind++) {
            sparse a = sparse_grid(6, 5, kind ? 4 : 2.5);
            signs s;
            sparse_signs(&a, &s);
            for (int64_t p = 0; p < a.pointers[a.n]; p++)
                a.values[p] *= sizes[k];
            check_all_ways("out of range", &a, s);
            libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
            o.scaling = o.matching = LIBSOLVER_OFF;
            check_good("unscaled", &a, &s, &o); /* one power of two for all rows */
            sparse_free(&a);
        }
    for (int spread = 10; spread <= 70; spread += 20) { /* D A D */
        random_stream r = random_seeded((uint64_t)spread);
        sparse a = spread % 40 == 10 ? sparse_grid(8, 7, 4) : sparse_saddle(&r, 30, 12);
        signs s;
        double *d = doubles(a.n);
        sparse_signs(&a, &s);
        for (int64_t i = 0; i < a.n; i++)
            d[i] = pow(10, spread * random_real(&r));
        for (int64_t j = 0; j < a.n; j++)
            for (int64_t p = a.pointers[j]; p < a.pointers[j + 1]; p++)
                a.values[p] *= d[j] * d[a.indices[p]];
        check_all_ways("badly scaled", &a, s);
        free(d);
        sparse_free(&a);
    }
    const double diagonal[] = {1e99, 0, 0, 1e-99};
    sparse a = sparse_of_dense(2, diagonal);
    check_all_ways("a diagonal", &a, (signs){2, 0, 0});
    libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
    o.scaling = o.matching = LIBSOLVER_OFF; /* no one power of two brings it into range: rows are
                                               scaled all the same */
    check_good("a diagonal, unscaled", &a, &(signs){2, 0, 0}, &o);
    sparse_free(&a);
}

static void check_singular(const char *name, int64_t n, const double *dense,
                           libsolver_status wanted, int64_t zero)
{
    for (int kind = 0; kind < 3; kind += 2) {
        sparse a = sparse_of_dense(n, dense);
        const libsolver_options o = mixed_options((libsolver_kind)kind);
        libsolver_status status;
        libsolver_inertia_counts counts;
        libsolver_factor *f = factor_of(&a, &o, &status);
        assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
        if (status != wanted || counts.zero != zero ||
            counts.certain != (wanted != LIBSOLVER_PERTURBED) ||
            counts.positive + counts.negative + counts.zero != n)
            fail_msg("%s: %s, inertia %d %d %d, certain %d", name, libsolver_status_name(status),
                     (int)counts.positive, (int)counts.negative, (int)counts.zero, counts.certain);
        const double error = solve_and_check(name, &a, f, status);
        if (!(error <= 1e-14))
            fail_msg("%s: backward error %g", name, error);
        libsolver_factor_free(f);
        sparse_free(&a);
    }
}

static void singular_is_said_of_empty_rows_and_perturbed_of_the_rest(void **state)
{
    (void)state;
    double zeros[25] = {0}, hollow[9] = {2, 0, 1, 0, 0, 0, 1, 0, -3};
    double ones[16], laplacian[16] = {1, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 1};
    for (int k = 0; k < 16; k++)
        ones[k] = 1;
    check_singular("empty", 0, NULL, LIBSOLVER_OK, 0);
    check_singular("one", 1, (double[]){-1e-200}, LIBSOLVER_OK, 0);
    check_singular("zero", 1, zeros, LIBSOLVER_SINGULAR, 1);
    check_singular("zeros", 5, zeros, LIBSOLVER_SINGULAR, 5);
    check_singular("an empty row", 3, hollow, LIBSOLVER_SINGULAR, 1);
    check_singular("ones", 4, ones, LIBSOLVER_PERTURBED, 0);
    check_singular("Laplacian", 4, laplacian, LIBSOLVER_PERTURBED, 0);
    const double both[9] = {1, 1, 0, 1, 1, 0, 0, 0, 0}; /* an empty row, and a zero pivot */
    sparse a = sparse_of_dense(3, both);
    const libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
    libsolver_status status;
    libsolver_inertia_counts counts;
    libsolver_factor *f = factor_of(&a, &o, &status);
    assert_int_equal(status, LIBSOLVER_SINGULAR);
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    assert_int_equal(counts.zero, 1);
    assert_false(counts.certain);
    double b[] = {2, 2, 1}, x[3]; /* the third row asks for 0 x = 1 */
    const libsolver_vectors bv = block_view(b, 3, 1), xv = block_view(x, 3, 1);
    libsolver_solve_info info;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_SINGULAR);
    libsolver_solve_query(f, NULL, &info);
    assert_int_equal(info.remarks, LIBSOLVER_SINGULAR | LIBSOLVER_INACCURATE | LIBSOLVER_PERTURBED);
    libsolver_factor_free(f);
    sparse_free(&a);
}

/* A grid with an eigenvalue at a distance from zero that shrinks below what single precision can
 * tell. */
static void an_inertia_that_is_certain_is_right(void **state)
{
    (void)state;
    const double pi = acos(-1);
    int certain = 0, uncertain = 0;
    for (int kind = 0; kind < 3; kind += 2)
        for (int which = 1; which <= 8; which++)
            for (int decades = 0; decades <= 13; decades++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    const double near = 2 * cos(which * pi / 14) + 2 * cos(which * pi / 12);
                    const double diagonal = near + sign * pow(10, -decades);
                    signs s = {0, 0, 0}; /* 1 is an eigenvalue too: the matrix may be singular */
                    for (int i = 1; i <= 13; i++)
                        for (int j = 1; j <= 11; j++) {
                            const double eigenvalue =
                                diagonal - 2 * cos(i * pi / 14) - 2 * cos(j * pi / 12);
                            ++*(fabs(eigenvalue) < 1e-14 ? &s.zero
                                : eigenvalue > 0         ? &s.positive
                                                         : &s.negative);
                        }
                    sparse a = sparse_grid(13, 11, diagonal);
                    const libsolver_options o = mixed_options((libsolver_kind)kind);
                    libsolver_inertia_counts counts;
                    libsolver_status status;
                    libsolver_factor *f = factor_of(&a, &o, &status);
                    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                    if (is_in_double(f)) /* 1e-13 is so near to its rounding errors that a pivot may
                                            be zero */
                        assert_true(status == LIBSOLVER_OK || (status == LIBSOLVER_SINGULAR &&
                                                               (s.zero > 0 || decades == 13)));
                    else
                        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_PERTURBED);
                    /* those below 1e-14 are what the rounded diagonal makes of them */
                    if (counts.certain &&
                        (counts.positive < s.positive || counts.negative < s.negative ||
                         counts.positive + counts.negative + counts.zero !=
                             s.positive + s.negative + s.zero))
                        fail_msg(
                            "eigenvalue %d, 1e-%d: %d %d %d said to be certain, expected %d %d %d",
                            which, decades, (int)counts.positive, (int)counts.negative,
                            (int)counts.zero, (int)s.positive, (int)s.negative, (int)s.zero);
                    certain += counts.certain;
                    uncertain += !counts.certain;
                    assert_true(solve_and_check("near an eigenvalue", &a, f, status) <= 1e-14);
                    libsolver_factor_free(f);
                    sparse_free(&a);
                }
    print_message("%d certain, %d not\n", certain, uncertain);
    assert_true(certain > 100 && uncertain > 100);
}

static void a_definite_matrix_that_rounding_makes_indefinite_is_solved(void **state)
{
    (void)state;
    const double pi = acos(-1), least = 2 * cos(pi / 41) + 2 * cos(pi / 41);
    for (int below = 0; below < 2; below++) { /* definite by 1e-9, or indefinite by 1e-3 */
        sparse a = sparse_grid(40, 40, least + (below ? -1e-3 : 1e-9));
        libsolver_options o = mixed_options(LIBSOLVER_KIND_SPD);
        libsolver_status status;
        libsolver_factor_info info;
        libsolver_factor *f = factor_of(&a, &o, &status);
        libsolver_info(f, &info);
        if (below) {
            assert_int_equal(status, LIBSOLVER_NOT_POSITIVE_DEFINITE);
            assert_in_range(info.failed_row, 0, a.n - 1);
        } else {
            assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_PERTURBED);
            assert_int_equal(info.kind, LIBSOLVER_KIND_SPD);
            assert_true(solve_and_check("definite", &a, f, status) <= 1e-14);
        }
        libsolver_factor_free(f);
        o.kind = LIBSOLVER_KIND_AUTO;
        f = factor_of(&a, &o, &status);
        assert_true(solve_and_check("definite or not", &a, f, status) <= 1e-14);
        libsolver_factor_free(f);
        sparse_free(&a);
    }
}

/* ---- the interface --------------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    sparse a = sparse_grid(4, 4, 4);
    libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
    libsolver_matrix view = sparse_view(&a);
    libsolver_factor *f = NULL;
    libsolver_status status;
    float values[64] = {0};
    view.values = values;
    view.type = LIBSOLVER_S;
    assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(f), "double"));
    libsolver_factor_free(f);
    const int64_t kept = 3;
    o.schur_rows = &kept;
    o.schur_size = 1;
    libsolver_factor_free(factor_of(&a, &o, &status));
    assert_int_equal(status, LIBSOLVER_NOT_BUILT);
    o.schur_size = 0;
    o.mixed = (libsolver_choice)3;
    libsolver_factor_free(factor_of(&a, &o, &status));
    assert_int_equal(status, LIBSOLVER_INVALID);
    o.mixed = LIBSOLVER_ON;
    a.values[3] = NAN;
    libsolver_factor_free(factor_of(&a, &o, &status));
    assert_int_equal(status, LIBSOLVER_NONFINITE);
    a.values[3] = -1;
    f = factor_of(&a, &o, &status);
    double b[16] = {0}, x[16];
    const libsolver_vectors bv = block_view(b, 16, 1), xv = block_view(x, 16, 1);
    b[5] = INFINITY;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_NONFINITE);
    b[5] = 0; /* zero is zero */
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    for (int i = 0; i < 16; i++)
        assert_true(x[i] == 0);
    x[2] = NAN;
    assert_int_equal(libsolver_refine(f, NULL, &bv, &xv, NULL), LIBSOLVER_INACCURATE);
    b[2] = NAN; /* a plain solve checks nothing, and hides nothing */
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &xv), LIBSOLVER_OK);
    assert_true(isnan(x[2]));
    libsolver_factor_free(f);
    sparse_free(&a);
}

static void workspaces_hold_what_they_say_and_serve_panels(void **state)
{
    (void)state;
    enum { WIDE = 7 };
    sparse a = sparse_grid(25, 24, 2.5);
    const libsolver_options o = mixed_options(LIBSOLVER_KIND_AUTO);
    libsolver_status status;
    libsolver_factor *f = factor_of(&a, &o, &status);
    double *b = right_sides(&a, WIDE), *x = doubles(a.n * WIDE),
           *rows = doubles(2 * a.n * (WIDE + 2)), errors[WIDE];
    const libsolver_vectors bv = block_view(b, a.n, WIDE), xv = block_view(x, a.n, WIDE);
    libsolver_vectors by_rows = {.values = rows,
                                 .rows = a.n,
                                 .columns = WIDE,
                                 .ld = WIDE + 2,
                                 .layout = LIBSOLVER_ROW_MAJOR};
    libsolver_vectors solution = by_rows;
    solution.values = rows + a.n * (WIDE + 2);
    for (int64_t j = 0; j < WIDE; j++)
        for (int64_t i = 0; i < a.n; i++)
            rows[i * (WIDE + 2) + j] = b[i + j * a.n];
    for (int64_t columns = 1; columns <= WIDE; columns += 3) {
        libsolver_factor_info before, after;
        libsolver_workspace *w;
        libsolver_info(f, &before);
        assert_int_equal(libsolver_workspace_create(f, columns, &w), LIBSOLVER_OK);
        libsolver_info(f, &after);
        const int64_t told = libsolver_workspace_bytes(f, columns),
                      taken = after.host_bytes - before.host_bytes;
        const int64_t slack = 128 * (after.allocations - before.allocations);
        if (!(told <= taken && taken <= told + slack))
            fail_msg("%d columns: %d bytes, said to be %d", (int)columns, (int)taken, (int)told);
        memset(x, 0, sizeof(double) * (size_t)(a.n * WIDE));
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &xv), LIBSOLVER_OK);
        assert_int_equal(libsolver_refine(f, w, &bv, &xv, errors), LIBSOLVER_OK);
        assert_true(sparse_backward_error(&a, WIDE, x, b) <= 1e-14);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &by_rows, &solution),
                         LIBSOLVER_OK);
        assert_int_equal(libsolver_refine(f, w, &by_rows, &solution, errors), LIBSOLVER_OK);
        for (int64_t j = 0; j < WIDE; j++)
            for (int64_t i = 0; i < a.n; i++)
                assert_true(x[i + j * a.n] == ((double *)solution.values)[i * (WIDE + 2) + j]);
        libsolver_info(f, &before);
        assert_int_equal(before.allocations, after.allocations);
        libsolver_workspace_free(w);
    }
    assert_int_equal(libsolver_solve(f, &bv, &bv), LIBSOLVER_OK); /* x is b */
    libsolver_factor_free(f);
    free(b);
    free(x);
    free(rows);
    sparse_free(&a);
}

/* The same bits as a new factor, whatever values were there before; an old factor outlives values
 * that are no good. */
static void refactorize_is_factorize(void **state)
{
    (void)state;
    random_stream r = random_seeded(8);
    sparse a = sparse_saddle(&r, 60, 25);
    const int64_t nnz = a.pointers[a.n];
    libsolver_options o = mixed_options(LIBSOLVER_KIND_INDEFINITE);
    libsolver_status status;
    o.matching = LIBSOLVER_OFF;
    libsolver_factor *f = factor_of(&a, &o, &status);
    double *kept = doubles(nnz), *b = right_sides(&a, 1), *x = doubles(2 * a.n);
    memcpy(kept, a.values, sizeof(double) * (size_t)nnz);
    const libsolver_vectors bv = block_view(b, a.n, 1), first = block_view(x, a.n, 1),
                            again = block_view(x + a.n, a.n, 1);
    assert_int_equal(libsolver_solve(f, &bv, &first), LIBSOLVER_OK);
    const libsolver_matrix view = sparse_view(&a);
    const double factors[] = {1, 1e200, 1e-200, -1};
    for (int k = 0; k < 4; k++) {
        for (int64_t p = 0; p < nnz; p++)
            a.values[p] = kept[p] * factors[k];
        assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_OK);
        a.values[1] = NAN;
        assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_NONFINITE);
        assert_int_equal(libsolver_solve(f, &bv, &again), LIBSOLVER_OK);
        memcpy(a.values, kept, sizeof(double) * (size_t)nnz);
        assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve(f, &bv, &again), LIBSOLVER_OK);
        assert_memory_equal(x, x + a.n, sizeof(double) * (size_t)a.n);
    }
    libsolver_factor_free(f);
    free(kept);
    free(b);
    free(x);
    sparse_free(&a);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ordinary_systems_are_solved_to_double_accuracy, print_last_seed),
        cmocka_unit_test(a_plain_solve_has_single_accuracy_and_its_error_is_told),
        cmocka_unit_test(fgmres_solves_where_plain_refinement_stalls),
        cmocka_unit_test_teardown(rows_of_very_different_sizes_are_solved, print_last_seed),
        cmocka_unit_test(conditions_and_forward_errors_are_those_of_the_matrix),
        cmocka_unit_test(fgmres_gives_the_same_bits_for_any_threads),
        cmocka_unit_test_teardown(entries_beyond_single_precision_are_scaled, print_last_seed),
        cmocka_unit_test(singular_is_said_of_empty_rows_and_perturbed_of_the_rest),
        cmocka_unit_test(an_inertia_that_is_certain_is_right),
        cmocka_unit_test(a_definite_matrix_that_rounding_makes_indefinite_is_solved),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(workspaces_hold_what_they_say_and_serve_panels),
        cmocka_unit_test(refactorize_is_factorize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
