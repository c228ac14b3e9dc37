/* test/api/test_api_hard.c: inertia, status and backward error of small systems that are hard or
 * extreme
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3

/* Solves for x*(i) = size (1 + 0.1 (i mod 7)) with one set of options and checks everything. */
static void check_with(const char *name, const sparse *a, const signs *known, double size,
                       const libsolver_options *options)
{
    const int64_t n = a->n;
    const libsolver_matrix view = sparse_view(a);
    double *exact = doubles(3 * n * COLUMNS);
    double *b = exact + n * COLUMNS, *x = b + n * COLUMNS;
    libsolver_factor *f;
    libsolver_inertia_counts found;
    const libsolver_status expected = known->zero > 0 ? LIBSOLVER_SINGULAR : LIBSOLVER_OK;
    libsolver_status status = libsolver_factor_matrix(&view, options, &f);
    if (status != expected)
        fail_msg("%s (ordering %d, kind %d): %s", name, options->ordering, options->kind,
                 libsolver_factor_message(f));
    assert_int_equal(libsolver_inertia(f, &found), LIBSOLVER_OK);
    if (found.positive != known->positive || found.negative != known->negative ||
        found.zero != known->zero)
        fail_msg("%s (ordering %d, kind %d): inertia %d %d %d, expected %d %d %d", name,
                 options->ordering, options->kind, (int)found.positive, (int)found.negative,
                 (int)found.zero, (int)known->positive, (int)known->negative, (int)known->zero);
    if (!found.certain)
        fail_msg("%s (ordering %d, kind %d): the inertia is not certain", name, options->ordering,
                 options->kind);
    for (int columns = 1; columns <= COLUMNS; columns += COLUMNS - 1) {
        for (int64_t i = 0; i < n * columns; i++)
            exact[i] = size * (1 + 0.1 * (double)(i % 7));
        sparse_multiply(a, columns, exact, b);
        const libsolver_vectors bv = block_view(b, n, columns), xv = block_view(x, n, columns);
        libsolver_solve_info solved;
        status = libsolver_solve(f, &bv, &xv);
        libsolver_solve_query(f, NULL, &solved);
        const double error = sparse_backward_error(a, columns, x, b);
        if (status != expected || solved.remarks != (int)expected || !(error <= 1e-14))
            fail_msg("%s (ordering %d, kind %d, %d columns): %s, backward error %g, found to be %g",
                     name, options->ordering, options->kind, columns, libsolver_status_name(status),
                     error, solved.backward_error);
    }
    libsolver_factor_free(f);
    free(exact);
}

/* The same by every ordering and kind that applies, with and without matching. */
static void check_sized(const char *name, const sparse *a, signs known, double size)
{
    const libsolver_ordering orderings[] = {LIBSOLVER_ORDERING_AUTO, LIBSOLVER_ORDERING_NATURAL};
    libsolver_options o;
    libsolver_options_default(&o);
    for (int k = 0; k < 2; k++) {
        o.ordering = orderings[k];
        o.matching = LIBSOLVER_AUTO;
        o.kind = LIBSOLVER_KIND_AUTO;
        check_with(name, a, &known, size, &o);
        o.kind = LIBSOLVER_KIND_INDEFINITE;
        check_with(name, a, &known, size, &o);
        o.matching = LIBSOLVER_ON;
        check_with(name, a, &known, size, &o);
        o.kind = LIBSOLVER_KIND_SPD;
        if (known.positive == a->n)
            check_with(name, a, &known, size, &o);
    }
}

static void check(const char *name, const sparse *a, signs known)
{
    check_sized(name, a, known, 1);
}

static void check_dense(const char *name, int64_t n, const double *a, signs known)
{
    sparse s = sparse_of_dense(n, a);
    check(name, &s, known);
    sparse_free(&s);
}

static void systems_of_order_0_1_and_2_are_solved(void **state)
{
    (void)state;
    check_dense("empty", 0, NULL, (signs){0, 0, 0});
    check_dense("positive", 1, (double[]){3}, (signs){1, 0, 0});
    check_dense("negative", 1, (double[]){-1e-5}, (signs){0, 1, 0});
    check_dense("zero", 1, (double[]){0}, (signs){0, 0, 1});
    check_dense("swap", 2, (double[]){0, 1, 1, 0}, (signs){1, 1, 0});
    check_dense("zero 2", 2, (double[]){0, 0, 0, 0}, (signs){0, 0, 2});
    check_dense("ones", 2, (double[]){1, 1, 1, 1}, (signs){1, 0, 1});
    check_dense("minus ones", 2, (double[]){-1, 1, 1, -1}, (signs){0, 1, 1});
    check_dense("half", 2, (double[]){0, 2, 2, 1}, (signs){1, 1, 0});
    check_dense("definite", 2, (double[]){2, 1, 1, 2}, (signs){2, 0, 0});
    check_dense("negative definite", 2, (double[]){-2, 1, 1, -2}, (signs){0, 2, 0});
    check_dense("one zero", 2, (double[]){0, 0, 0, 5}, (signs){1, 0, 1});
}

static void diagonals_arrows_and_paths_have_their_known_inertia(void **state)
{
    (void)state;
    enum { N = 40 };
    double a[N * N] = {0};
    for (int i = 0; i < N; i++)
        a[i + i * N] = i % 3 == 0 ? -1 - i : 2 + i;
    check_dense("diagonal", N, a, (signs){26, 14, 0});
    a[0] = a[7 + 7 * N] = 0;
    check_dense("diagonal with zeros", N, a, (signs){25, 13, 2}); /* 0 was negative, 7 positive */
    memset(a, 0, sizeof a);
    check_dense("zero matrix", N, a, (signs){0, 0, N});

    for (int hub = 0; hub < N; hub += 13) { /* one dense row: 0 on its diagonal, 1 on the others */
        memset(a, 0, sizeof a);
        for (int i = 0; i < N; i++)
            if (i != hub) {
                a[i + i * N] = 1;
                a[i + hub * N] = a[hub + i * N] = 1;
            }
        check_dense("arrow", N, a, (signs){N - 1, 1, 0});
        for (int i = 0; i < N; i++)
            a[i + i * N] = 0;
        check_dense("star without a diagonal", N, a, (signs){1, 1, N - 2});
    }

    random_stream r = random_seeded(21);
    memset(a, 0, sizeof a);
    for (int j = 0; j < N; j++) /* rows 5, 15, ... are empty, the others diagonally dominant */
        for (int i = j; i < N; i++)
            if (i % 10 != 5 && j % 10 != 5)
                a[i + j * N] = a[j + i * N] = i == j ? (i % 2 ? -50 : 50) : random_real(&r);
    check_dense("dense with empty rows", N, a, (signs){20, 16, 4});

    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++) /* disconnected: pairs [1 2; 2 1] and single rows */
        a[i + i * N] = 1;
    for (int i = 0; i < N; i += 4)
        a[i + (i + 2) * N] = a[i + 2 + i * N] = 2;
    check_dense("disconnected", N, a, (signs){30, 10, 0});

    memset(a, 0, sizeof a);
    for (int i = 0; i + 1 < N; i++)
        a[i + (i + 1) * N] = a[i + 1 + i * N] = 1;
    check_dense("path without a diagonal", N, a, (signs){N / 2, N / 2, 0});
    check_dense("odd path without a diagonal", 1, a, (signs){0, 0, 1});
    double odd[39 * 39];
    for (int j = 0; j < 39; j++)
        memcpy(odd + j * 39, a + j * N, 39 * sizeof(double));
    check_dense("odd path without a diagonal", 39, odd, (signs){19, 19, 1});
}

static void shifted_grids_have_the_inertia_of_their_eigenvalues(void **state)
{
    (void)state;
    sparse definite = sparse_grid(13, 11, 4), dense_front = sparse_grid(40, 40, 4);
    check("grid", &definite, (signs){143, 0, 0});
    check("larger grid", &dense_front, (signs){1600, 0, 0});
    for (double shift = 0.5; shift < 8; shift += 0.75) { /* eigenvalues are known */
        sparse a = sparse_grid(13, 11, 4 - shift);
        signs s = {0, 0, 0};
        const double pi = acos(-1);
        for (int i = 1; i <= 13; i++)
            for (int j = 1; j <= 11; j++) {
                const double value = 4 - shift - 2 * cos(i * pi / 14) - 2 * cos(j * pi / 12);
                if (fabs(value) < 1e-12)
                    s.zero++;
                else
                    ++*(value > 0 ? &s.positive : &s.negative);
            }
        check("shifted grid", &a, s);
        sparse_free(&a);
    }
    sparse_free(&definite);
    sparse_free(&dense_front);
}

/* `border` columns with a tiny diagonal, joined only through the others: their pivots are no good
 * before the others are eliminated, whatever the order puts first. */
static void delayed_pivots_do_not_change_the_inertia(void **state)
{
    (void)state;
    int64_t delayed = 0;
    for (int border = 5; border <= 60; border += 11) {
        const int64_t inner = border + border / 2, n = inner + border;
        double *a = doubles(n * n);
        for (int64_t i = 0; i < border; i++) { /* the tiny ones first, for the natural order */
            a[i + i * n] = 1e-13;
            const int64_t j = border + i;
            a[i + j * n] = a[j + i * n] = 1 + 0.1 * (double)(i % 3);
            if (i > 0)
                a[i + (j - 1) * n] = a[j - 1 + i * n] = 0.3;
        }
        for (int64_t j = border; j < n; j++) {
            a[j + j * n] = 2;
            if (j + 1 < n)
                a[j + (j + 1) * n] = a[j + 1 + j * n] = -1;
        }
        sparse s = sparse_of_dense(n, a);
        check("delays", &s, (signs){inner, border, 0});
        const libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
        libsolver_factor *f;
        libsolver_factor_info info;
        const libsolver_matrix view = sparse_view(&s);
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        libsolver_info(f, &info);
        delayed += info.delayed;
        libsolver_factor_free(f);
        sparse_free(&s);
        free(a);
    }
    assert_true(delayed > 0);
}

/* How many columns the factorization delays.  host_bytes: what the analysis predicts; scales: of
 * the factor, length n. */
static int64_t count_delays(const sparse *a, libsolver_choice matching, libsolver_choice scaling,
                            int64_t *host_bytes, double *scales)
{
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_analysis_info predicted;
    libsolver_factor *f;
    libsolver_factor_info info;
    const libsolver_matrix view = sparse_view(a);
    libsolver_options_default(&o);
    o.matching = matching;
    o.scaling = scaling;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
    libsolver_analysis_query(analysis, &predicted);
    *host_bytes = predicted.host_bytes;
    assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
    libsolver_info(f, &info);
    assert_int_equal(libsolver_get_scaling(f, scales), LIBSOLVER_OK);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    return info.delayed;
}

enum { CONSTRAINTS = 300, SADDLE = 2 * CONSTRAINTS };

/* As many variables as constraints, each variable with a constraint of its own and some others,
 * whose entries differ by 2^powers. */
static sparse paired_saddle(int powers)
{
    random_stream r = random_seeded(5);
    double *a = doubles((int64_t)SADDLE * SADDLE);
    for (int v = 0; v < CONSTRAINTS; v++)
        for (int c = 0; c < CONSTRAINTS; c++)
            if (c == v || random_below(&r, CONSTRAINTS) < 3)
                a[CONSTRAINTS + c + (int64_t)v * SADDLE] =
                    (1 + random_real(&r) / 2) *
                    ldexp(c == v ? 8 : 1, random_below(&r, powers + 1) - powers / 2);
    const sparse s = sparse_of_dense(SADDLE, a);
    free(a);
    return s;
}

/* Each variable has to share a pivot with a constraint: alone, or scaled by rows and columns, most
 * would be delayed. */
static void rows_that_would_wait_are_paired_and_scaled(void **state)
{
    (void)state;
    const libsolver_choice by_itself = LIBSOLVER_AUTO;
    int64_t bytes, matched_bytes;
    double scales[SADDLE];
    sparse s = paired_saddle(10);
    check("pairs", &s, (signs){CONSTRAINTS, CONSTRAINTS, 0});
    assert_in_range(count_delays(&s, LIBSOLVER_OFF, by_itself, &bytes, scales), SADDLE / 3, SADDLE);
    assert_in_range(count_delays(&s, LIBSOLVER_ON, by_itself, &matched_bytes, scales), 0,
                    SADDLE / 40);
    /* equilibrated, the same order delays more */
    assert_in_range(count_delays(&s, by_itself, by_itself, &bytes, scales), 0, SADDLE / 40);
    assert_int_equal(bytes, matched_bytes);
    count_delays(&s, by_itself, LIBSOLVER_OFF, &bytes, scales);
    for (int i = 0; i < SADDLE; i++)
        assert_true(scales[i] == 1);
    sparse_free(&s);
}

/* How far they range. */
static double ratio_of_scales(const libsolver_factor *f)
{
    double scales[SADDLE], least = INFINITY, most = 0;
    assert_int_equal(libsolver_get_scaling(f, scales), LIBSOLVER_OK);
    for (int i = 0; i < SADDLE; i++) {
        least = fmin(least, scales[i]);
        most = fmax(most, scales[i]);
    }
    return most / least;
}

/* Later values for the same pattern, whose matching would have scale factors that cost solutions
 * their digits, are equilibrated. */
static void pairs_scale_only_while_that_is_mild(void **state)
{
    (void)state;
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *f;
    libsolver_inertia_counts found;
    sparse mild = paired_saddle(10), wild = paired_saddle(16);
    const libsolver_matrix first = sparse_view(&mild), second = sparse_view(&wild);
    libsolver_options_default(&o);
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &first, &o, &analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(analysis, &first, &f), LIBSOLVER_OK);
    const double at_first = ratio_of_scales(f);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(libsolver_refactorize(f, &second), LIBSOLVER_OK);
        assert_true(ratio_of_scales(f) <= 0x1p20);
        assert_int_equal(libsolver_inertia(f, &found), LIBSOLVER_OK);
        assert_int_equal(found.positive, CONSTRAINTS);
        assert_true(found.certain);
    }
    assert_int_equal(libsolver_refactorize(f, &first), LIBSOLVER_OK);
    assert_true(ratio_of_scales(f) == at_first);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    o.matching = LIBSOLVER_ON;
    assert_int_equal(libsolver_factor_matrix(&second, &o, &f), LIBSOLVER_OK);
    assert_true(ratio_of_scales(f) > 0x1p20);
    libsolver_factor_free(f);
    sparse_free(&mild);
    sparse_free(&wild);
}

static void saddle_points_and_quasidefinite_systems_have_their_known_inertia(void **state)
{
    (void)state;
    random_stream r = random_seeded(31);
    for (int k = 0; k < 20; k++) {
        const int64_t n = 5 + random_below(&r, 60), m = random_below(&r, (int32_t)n);
        sparse a = sparse_saddle(&r, n, m);
        check("saddle point", &a, (signs){n, m, 0});
        sparse_free(&a);
    }
    for (int k = 0; k < 10; k++) { /* [H B'; B -C] with H and C diagonally dominant */
        enum { N = 30 };
        double a[N * N] = {0};
        for (int j = 0; j < N; j++)
            for (int i = j + 1; i < N; i++)
                if (random_below(&r, 6) == 0)
                    a[i + j * N] =
                        (i < N / 2) == (j < N / 2) ? 0.1 * random_real(&r) : 30 * random_real(&r);
        for (int i = 0; i < N; i++)
            a[i + i * N] = i < N / 2 ? 5 : -5;
        check_dense("quasi-definite", N, a, (signs){N / 2, N / 2, 0});
    }
}

/* Blocks of known rank along the diagonal: small integers, so that singular is singular. */
static void singular_systems_have_their_known_inertia_and_say_so(void **state)
{
    (void)state;
    enum { N = 36 };
    double a[N * N] = {0};
    /* ones(3,3): (1, 0, 2); minus the Laplacian of a path: (0, 2, 1) */
    for (int block = 0; block < N; block += 6)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                a[block + i + (block + j) * N] = 1;
                a[block + 3 + i + (block + 3 + j) * N] = i == j ? (i == 1 ? -2 : -1) : (i + j) % 2;
            }
    check_dense("singular blocks", N, a, (signs){6, 12, 18});

    /* inconsistent: a solution in a part of the rows only, and it is said */
    sparse s = sparse_of_dense(N, a);
    libsolver_factor *f;
    const libsolver_matrix view = sparse_view(&s);
    double b[N], x[N];
    for (int i = 0; i < N; i++)
        b[i] = i + 1;
    const libsolver_vectors bv = block_view(b, N, 1), xv = block_view(x, N, 1);
    libsolver_solve_info info;
    assert_int_equal(libsolver_factor_matrix(&view, NULL, &f), LIBSOLVER_SINGULAR);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_SINGULAR);
    libsolver_solve_query(f, NULL, &info);
    assert_int_equal(info.remarks, LIBSOLVER_SINGULAR | LIBSOLVER_INACCURATE);
    assert_true(info.backward_error > 1e-14);
    libsolver_factor_free(f);
    sparse_free(&s);

    /* the Laplacian of a grid: one zero; with a saddle of two equal rows: one more of each */
    sparse grid = sparse_grid(9, 8, 0);
    for (int64_t j = 0; j < grid.n; j++) {
        const int64_t x0 = j % 9, y0 = j / 9;
        grid.values[grid.pointers[j]] = (x0 > 0) + (x0 < 8) + (y0 > 0) + (y0 < 7);
    }
    check("Laplacian", &grid, (signs){71, 0, 1});
    sparse_free(&grid);
    enum { M = 9 };
    double k[M * M] = {0};
    for (int i = 0; i < M; i++)
        k[i + i * M] = i < 6 ? 2 : 0;
    for (int i = 6; i < M; i++) /* constraints x0 = x1, x2 = x3, and the first again */
        for (int j = 0; j < 2; j++) {
            const int c = (i == 7 ? 2 : 0) + j;
            k[i + c * M] = k[c + i * M] = j ? -1 : 1;
        }
    check_dense("equal constraints", M, k, (signs){6, 2, 1});
}

static void random_matrices_have_the_inertia_of_their_eigenvalues(void **state)
{
    (void)state;
    int used = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t n = 2 + random_below(&r, 35);
        sparse a = sparse_random(&r, n, seed % 3 == 0 ? 0.1 : seed % 3 == 1 ? 0.3 : 1);
        signs s;
        char name[40] = "random, seed ";
        name[13] = (char)('0' + seed / 100);
        name[14] = (char)('0' + seed / 10 % 10);
        name[15] = (char)('0' + seed % 10);
        const double least = sparse_signs(&a, &s);
        if (least > 1e-7) { /* a zero that is none numerically would be open to discussion */
            check(name, &a, s);
            used++;
        }
        sparse_free(&a);
    }
    assert_true(used > 120);
}

/* D A D has A's inertia; here D makes entries from 1e-150 to 1e150. */
static void scaling_by_a_diagonal_does_not_change_the_inertia(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        random_stream r = random_seeded(41 + (uint64_t)k);
        sparse a = k == 0   ? sparse_grid(8, 7, 4)
                   : k == 1 ? sparse_grid(8, 7, 2.5)
                            : sparse_saddle(&r, 30, 12);
        signs s;
        assert_true(sparse_signs(&a, &s) > 1e-13);
        for (int spread = 0; spread <= 75; spread += 25) {
            double *full = dense_of_sparse(&a), *d = malloc(sizeof(double) * (size_t)a.n);
            for (int64_t i = 0; i < a.n; i++)
                d[i] = pow(10, spread * random_real(&r));
            for (int64_t j = 0; j < a.n; j++)
                for (int64_t i = 0; i < a.n; i++)
                    full[i + j * a.n] *= d[i] * d[j];
            sparse scaled = sparse_of_dense(a.n, full);
            check("badly scaled", &scaled, s);
            sparse_free(&scaled);
            free(full);
            free(d);
        }
        sparse_free(&a);
    }
}

/* The norms of A and x are beyond the range of a double when multiplied; no entry of A x is. */
static void a_diagonal_of_five_hundred_decades_is_solved(void **state)
{
    (void)state;
    int32_t pointers[] = {0, 1, 2}, rows[] = {0, 1};
    double values[] = {1e250, 1e-250}, b[] = {1, 1}, x[2];
    libsolver_matrix a = {.n = 2, .pointers = pointers, .indices = rows, .values = values};
    libsolver_vectors vb = {.values = b, .rows = 2, .columns = 1, .ld = 2}, vx = vb;
    vx.values = x;
    libsolver_factor *f;
    assert_int_equal(libsolver_factor_matrix(&a, NULL, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(f, &vb, &vx), LIBSOLVER_OK);
    assert_true(fabs(x[0] * 1e250 - 1) < 1e-15 && fabs(x[1] * 1e-250 - 1) < 1e-15);
    libsolver_factor_free(f);
}

static void systems_near_the_ends_of_the_number_range_are_solved(void **state)
{
    (void)state;
    const double sizes[] = {1e300, 1e307, DBL_MAX / 16, 1e-300, DBL_MIN * 1024};
    for (int k = 0; k < 5; k++)
        for (int kind = 0; kind < 2; kind++) {
            sparse a = sparse_grid(6, 5, kind ? 4 : 2.5);
            signs s;
            sparse_signs(&a, &s);
            for (int64_t p = 0; p < a.pointers[a.n]; p++)
                a.values[p] *= sizes[k];
            check_sized("near the ends", &a, s, k < 3 ? 1e-3 : 1);
            sparse_free(&a);
        }
    /* entries of both kinds in one matrix, and solutions of both kinds */
    const double mixed[16] = {1e150, 0, 0,      0,      0, 1e-150, 0,      0,
                              0,     0, 2e-140, 1e-140, 0, 0,      1e-140, 2e-140};
    sparse a = sparse_of_dense(4, mixed);
    double x[4], b[4] = {1, 1, 3, 3};
    const libsolver_matrix view = sparse_view(&a);
    const libsolver_vectors bv = block_view(b, 4, 1), xv = block_view(x, 4, 1);
    libsolver_factor *f;
    assert_int_equal(libsolver_factor_matrix(&view, NULL, &f), LIBSOLVER_OK);
    const libsolver_status status = libsolver_solve(f, &bv, &xv);
    if (status != LIBSOLVER_OK)
        fail_msg("%s for x = %g %g %g %g", libsolver_factor_message(f), x[0], x[1], x[2], x[3]);
    assert_true(sparse_backward_error(&a, 1, x, b) <= 1e-14);
    libsolver_factor_free(f);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_of_order_0_1_and_2_are_solved),
        cmocka_unit_test_teardown(diagonals_arrows_and_paths_have_their_known_inertia,
                                  print_last_seed),
        cmocka_unit_test(shifted_grids_have_the_inertia_of_their_eigenvalues),
        cmocka_unit_test(delayed_pivots_do_not_change_the_inertia),
        cmocka_unit_test_teardown(rows_that_would_wait_are_paired_and_scaled, print_last_seed),
        cmocka_unit_test_teardown(pairs_scale_only_while_that_is_mild, print_last_seed),
        cmocka_unit_test_teardown(saddle_points_and_quasidefinite_systems_have_their_known_inertia,
                                  print_last_seed),
        cmocka_unit_test(singular_systems_have_their_known_inertia_and_say_so),
        cmocka_unit_test_teardown(random_matrices_have_the_inertia_of_their_eigenvalues,
                                  print_last_seed),
        cmocka_unit_test_teardown(scaling_by_a_diagonal_does_not_change_the_inertia,
                                  print_last_seed),
        cmocka_unit_test(a_diagonal_of_five_hundred_decades_is_solved),
        cmocka_unit_test(systems_near_the_ends_of_the_number_range_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
