/* test/api/test_api_bits.c: the same bits for any number of threads and on every run
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 20

/* All that came out of one factorization and its solves; n x COLUMNS each. */
typedef struct result {
    int64_t entries;
    int64_t *pointers, *indices, *order;
    double *l, *d, *e, *scaling;
    double *plain, *solved, *narrow, *refined;
    libsolver_inertia_counts inertia;
    int64_t delayed;
} result;

/* b for each column: another combination of the rows. */
static double *right_sides(const sparse *a)
{
    double *exact = doubles(a->n * COLUMNS), *b = doubles(a->n * COLUMNS);
    for (int64_t k = 0; k < a->n * COLUMNS; k++)
        exact[k] = 1 + 0.1 * (double)(k % 7) + (double)(k / a->n);
    sparse_multiply(a, COLUMNS, exact, b);
    free(exact);
    return b;
}

static void collect(libsolver_factor *f, const sparse *a, double *b, result *r)
{
    const int64_t n = a->n;
    libsolver_factor_info info;
    libsolver_workspace *w;
    libsolver_info(f, &info);
    r->delayed = info.delayed;
    assert_int_equal(libsolver_inertia(f, &r->inertia), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_factor_l(f, &r->entries, NULL, NULL, NULL, NULL), LIBSOLVER_OK);
    r->pointers = calloc((size_t)n + 1, sizeof(int64_t));
    r->indices = calloc((size_t)r->entries + 1, sizeof(int64_t));
    r->order = calloc((size_t)n + 1, sizeof(int64_t));
    r->l = doubles(r->entries);
    r->d = doubles(n);
    r->e = doubles(n);
    r->scaling = doubles(n);
    r->plain = doubles(n * COLUMNS);
    r->solved = doubles(n * COLUMNS);
    r->refined = doubles(n * COLUMNS);
    r->narrow = doubles(n);
    assert_int_equal(libsolver_get_factor_l(f, &r->entries, r->pointers, r->indices, r->l,
                                            r->order),
                     LIBSOLVER_OK);
    assert_int_equal(libsolver_get_factor_d(f, r->d, r->e), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_scaling(f, r->scaling), LIBSOLVER_OK);
    const libsolver_vectors bv = block_view(b, n, COLUMNS), b1 = block_view(b, n, 1);
    const libsolver_vectors solved = block_view(r->solved, n, COLUMNS),
                            plain = block_view(r->plain, n, COLUMNS);
    const libsolver_vectors refined = block_view(r->refined, n, COLUMNS),
                            narrow = block_view(r->narrow, n, 1);
    assert_int_equal(libsolver_solve(f, &b1, &narrow), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(f, &bv, &solved), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(f, COLUMNS, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &plain), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &refined), LIBSOLVER_OK);
    assert_int_equal(libsolver_refine(f, w, &bv, &refined, NULL), LIBSOLVER_OK);
    libsolver_workspace_free(w);
}

static void forget(result *r)
{
    free(r->pointers);
    free(r->indices);
    free(r->order);
    free(r->l);
    free(r->d);
    free(r->e);
    free(r->scaling);
    free(r->plain);
    free(r->solved);
    free(r->refined);
    free(r->narrow);
}

static void same(const char *what, const void *a, const void *b, int64_t count)
{
    if (memcmp(a, b, sizeof(double) * (size_t)count))
        fail_msg("%s has other bits", what);
}

static void compare(const result *r, const result *s, int64_t n)
{
    assert_int_equal(r->entries, s->entries);
    assert_int_equal(r->delayed, s->delayed);
    same("the structure of L", r->pointers, s->pointers, n + 1);
    same("the structure of L", r->indices, s->indices, r->entries);
    same("the order", r->order, s->order, n);
    same("L", r->l, s->l, r->entries);
    same("D", r->d, s->d, n);
    same("D", r->e, s->e, n);
    same("the scaling", r->scaling, s->scaling, n);
    same("a refined solve of one column", r->narrow, s->narrow, n);
    same("a refined solve of many columns", r->solved, s->solved, n * COLUMNS);
    same("a plain solve", r->plain, s->plain, n * COLUMNS);
    same("a refinement", r->refined, s->refined, n * COLUMNS);
    assert_int_equal(r->inertia.positive, s->inertia.positive);
    assert_int_equal(r->inertia.negative, s->inertia.negative);
    same("the smallest pivot", &r->inertia.smallest_pivot, &s->inertia.smallest_pivot, 1);
}

/* So that equal bits are not equal nonsense. */
static void check_solutions(const sparse *a, const double *b, const result *r,
                            libsolver_choice mixed)
{
    const int64_t n = a->n;
    assert_true(sparse_backward_error(a, COLUMNS, r->solved, b) <= 1e-14);
    assert_true(sparse_backward_error(a, COLUMNS, r->refined, b) <= 1e-14);
    /* by itself or among others: as accurate */
    assert_true(sparse_backward_error(a, 1, r->narrow, b) <= 1e-14);
    assert_true(sparse_backward_error(a, COLUMNS, r->plain, b) <=
                (mixed == LIBSOLVER_ON ? 1e-3 : 1e-7));
    assert_int_equal(r->inertia.positive + r->inertia.negative + r->inertia.zero, n);
}

static void threads_and_runs(const sparse *a, libsolver_kind kind, libsolver_choice mixed,
                             int delays)
{
    const int threads[] = {1, 2, 5, 2};
    result first = {0}, r = {0};
    double *b = right_sides(a);
    double *other = doubles(a->pointers[a->n]);
    for (int k = 0; k < 4; k++) {
        libsolver_options o = options_on_cpu(kind);
        libsolver_context *context;
        libsolver_analysis *analysis;
        libsolver_factor *f;
        libsolver_matrix view = sparse_view(a);
        o.threads = threads[k];
        o.mixed = mixed;
        o.matching = LIBSOLVER_OFF; /* nothing may spare us the delays */
        assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
        assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
        assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
        collect(f, a, b, k == 0 ? &first : &r);
        for (int again = 0; again < 3; again++) {
            if (k > 0 || again > 0) {
                compare(&first, &r, a->n);
                forget(&r);
            }
            for (int64_t p = 0; p < a->pointers[a->n]; p++) /* the values between leave no trace */
                other[p] = a->values[p] * (1 + 0.3 * (double)(p % 3));
            view.values = other;
            if (again == 1)
                assert_true(libsolver_refactorize(f, &view) >= 0 || kind == LIBSOLVER_KIND_SPD);
            view.values = a->values;
            assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_OK);
            collect(f, a, b, &r);
        }
        compare(&first, &r, a->n);
        forget(&r);
        libsolver_factor_free(f);
        libsolver_analysis_free(analysis);
        libsolver_context_free(context);
    }
    check_solutions(a, b, &first, mixed);
    assert_true(!delays == (first.delayed == 0));
    forget(&first);
    free(other);
    free(b);
}

static void cholesky_has_the_same_bits(void **state)
{
    (void)state;
    sparse a = sparse_grid(130, 120, 4), smaller = sparse_grid(75, 70, 4);
    threads_and_runs(&a, LIBSOLVER_KIND_SPD, LIBSOLVER_OFF, 0);
    threads_and_runs(&smaller, LIBSOLVER_KIND_SPD, LIBSOLVER_ON, 0);
    sparse_free(&a);
    sparse_free(&smaller);
}

/* Large enough that several tasks assemble a front. */
static void large_fronts_have_the_same_bits(void **state)
{
    (void)state;
    sparse definite = sparse_box(16, 16, 16, 7), indefinite = sparse_box(16, 16, 16, 3.5);
    threads_and_runs(&definite, LIBSOLVER_KIND_SPD, LIBSOLVER_OFF, 0);
    threads_and_runs(&indefinite, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_OFF, 1);
    sparse_free(&definite);
    sparse_free(&indefinite);
}

/* A tree with fronts so large that threads share them, and others below; the sweeps by themselves,
 * too. */
static void solves_of_a_large_tree_have_the_same_bits(void **state)
{
    (void)state;
    static const int threads[] = {1, 5, 2};
    sparse a = sparse_box(64, 24, 24, 7);
    double *b = right_sides(&a), *first = doubles(a.n * COLUMNS), *x = doubles(a.n * COLUMNS);
    for (int k = 0; k < 3; k++) {
        libsolver_options o = options_on_cpu(LIBSOLVER_KIND_SPD);
        libsolver_context *context;
        libsolver_analysis *analysis;
        libsolver_factor *f;
        libsolver_workspace *w;
        libsolver_matrix view = sparse_view(&a);
        const libsolver_vectors bv = block_view(b, a.n, COLUMNS),
                                xv = block_view(k == 0 ? first : x, a.n, COLUMNS);
        o.threads = threads[k];
        assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
        assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
        assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
        assert_int_equal(libsolver_workspace_create(f, COLUMNS, &w), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &xv), LIBSOLVER_OK);
        for (int again = 0; again < 3; again++) {
            libsolver_vectors y = block_view(x, a.n, again == 0 ? 1 : COLUMNS);
            const libsolver_vectors given = block_view(b, a.n, y.columns);
            memset(x, 0, sizeof(double) * (size_t)(a.n * COLUMNS));
            assert_int_equal(
                libsolver_solve_plain(f, again < 2 ? LIBSOLVER_PART_ALL : LIBSOLVER_PART_L, w,
                                      &given, &y),
                LIBSOLVER_OK);
            if (again == 2)
                assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_LT, w, &y, &y),
                                 LIBSOLVER_OK);
            if (again > 0)
                same("a plain solve", first, x, a.n * COLUMNS);
            else
                assert_true(sparse_backward_error(&a, 1, x, b) <= 1e-14);
        }
        libsolver_workspace_free(w);
        libsolver_factor_free(f);
        libsolver_analysis_free(analysis);
        libsolver_context_free(context);
    }
    assert_true(sparse_backward_error(&a, COLUMNS, first, b) <= 1e-14);
    free(first);
    free(x);
    free(b);
    sparse_free(&a);
}

static void ldlt_has_the_same_bits(void **state)
{
    (void)state;
    sparse a = sparse_grid(110, 100, 2.5), smaller = sparse_grid(70, 60, 2.5);
    threads_and_runs(&a, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_OFF, 1);
    threads_and_runs(&smaller, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON, 1);
    sparse_free(&a);
    sparse_free(&smaller);
}

static void ldlt_with_many_delays_has_the_same_bits(void **state)
{
    (void)state;
    sparse a = sparse_delaying(60), smaller = sparse_delaying(30);
    threads_and_runs(&a, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_OFF, 1);
    threads_and_runs(&smaller, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON, 1);
    sparse_free(&a);
    sparse_free(&smaller);
}

/* A thread that cannot be created would end the process: those of a context are capped. */
static void threads_beyond_the_processors_are_capped(void **state)
{
    (void)state;
    const int wanted[] = {1, 100000, INT_MAX};
    const int most = 4 * (int)sysconf(_SC_NPROCESSORS_CONF); /* not all of them may be ours */
    sparse a = sparse_delaying(30);
    double *b = right_sides(&a);
    result first = {0}, r = {0};
    for (int k = 0; k < 3; k++) {
        const libsolver_matrix view = sparse_view(&a);
        libsolver_options o = options_on_cpu(LIBSOLVER_KIND_INDEFINITE);
        libsolver_factor *f;
        libsolver_factor_info info;
        o.threads = wanted[k];
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        libsolver_info(f, &info);
        if (info.threads < (k == 0 ? 1 : 4) || info.threads > (k == 0 ? 1 : most))
            fail_msg("%d threads where %d were asked for", info.threads, wanted[k]);
        collect(f, &a, b, k == 0 ? &first : &r);
        if (k > 0) {
            compare(&first, &r, a.n);
            forget(&r);
        }
        libsolver_factor_free(f);
    }
    forget(&first);
    free(b);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_has_the_same_bits),
        cmocka_unit_test(large_fronts_have_the_same_bits),
        cmocka_unit_test(solves_of_a_large_tree_have_the_same_bits),
        cmocka_unit_test(ldlt_has_the_same_bits),
        cmocka_unit_test(ldlt_with_many_delays_has_the_same_bits),
        cmocka_unit_test(threads_beyond_the_processors_are_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
