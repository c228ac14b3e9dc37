/* test/solver/test_matching.c: maximum-product matching against all permutations, scaling against
 * its definition
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense.h"
#include "solver/matching/unmatched.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static memory m;

/* A symmetric matrix of magnitudes as base-2 logarithms, -INFINITY for zeros, with what the
 * matching made of it. */
typedef struct problem {
    int32_t n, matched;
    pattern a;
    double *magnitude, *log2_dense, *scale;
    matching *w;
} problem;

/* magnitude: of the pattern's entries, taken over. */
static problem solve(pattern a, double *magnitude)
{
    const int32_t n = a.n;
    problem p = {n, 0, a, magnitude, nan_array((int64_t)n * n), nan_array(n), NULL};
    for (int64_t i = 0; i < (int64_t)n * n; i++)
        p.log2_dense[i] = -INFINITY;
    for (int32_t j = 0; j < n; j++)
        for (int64_t q = a.start[j]; q < a.start[j + 1]; q++)
            p.log2_dense[a.row[q] + (int64_t)j * n] = p.log2_dense[j + (int64_t)a.row[q] * n] =
                log2(magnitude[q]);
    assert_int_equal(matching_create(&m, &a, &p.w), LIBSOLVER_OK);
    p.matched = matching_scale(p.w, magnitude, p.scale);
    return p;
}

static void free_problem(problem *p)
{
    matching_free(&m, p->w);
    problem_free(&p->a);
    free(p->magnitude);
    free(p->log2_dense);
    free(p->scale);
}

/* Integer powers of two, with which all sums of logarithms are exact; some zeros. */
static double *random_powers(random_stream *r, const pattern *a, int zeros)
{
    double *magnitude = nan_array(a->start[a->n]);
    for (int64_t q = 0; q < a->start[a->n]; q++)
        magnitude[q] = random_below(r, 100) < zeros ? 0 : ldexp(1, random_below(r, 41) - 20);
    return magnitude;
}

/* Entries of the scaled diagonal from 1/8 on, when the matching is perfect. */
static void check_diagonal(const problem *p, double slack)
{
    unsigned char *has_pivot = malloc((size_t)p->n + 1);
    assert_non_null(has_pivot);
    matching_diagonal(p->w, -3, has_pivot);
    for (int32_t j = 0; j < p->n; j++) {
        const double scaled = 2 * p->scale[j] + p->log2_dense[j + (int64_t)j * p->n];
        if (!(fabs(scaled + 3) <= slack) || slack == 0)
            assert_int_equal(has_pivot[j], scaled >= -3);
    }
    free(has_pivot);
}

/* Columns by rows are matched one to one along nonzero entries; |S A S| <= 1, with 1 on a perfect
 * matching. slack: what rounding allows the logarithms. */
static void check(const problem *p, double slack)
{
    const int32_t n = p->n;
    int32_t matched = 0;
    for (int32_t j = 0; j < n; j++) {
        const int32_t i = p->w->row_of[j];
        assert_in_range(i + 1, 0, n);
        if (i < 0)
            continue;
        matched++;
        assert_int_equal(p->w->column_of[i], j);
        assert_true(p->log2_dense[i + (int64_t)j * n] > -INFINITY);
    }
    assert_int_equal(p->matched, matched);
    for (int32_t j = 0; j < n; j++) {
        assert_true(isfinite(p->scale[j]));
        for (int32_t i = 0; i < n; i++) {
            const double scaled = p->scale[i] + p->log2_dense[i + (int64_t)j * n] + p->scale[j];
            if (!(scaled <= slack))
                fail_msg("n %d, matched %d: log2 |s a s|(%d, %d) = %.17g", n, matched, i, j,
                         scaled);
            if (matched == n && p->w->row_of[j] == i && !(scaled >= -slack))
                fail_msg("n %d: log2 |s a s|(%d, %d) = %.17g on the matching", n, i, j, scaled);
        }
    }
    if (matched == n)
        check_diagonal(p, slack);
}

/* Most entries of a permutation that are not zero, and the largest sum of logarithms with all of
 * them. */
static void try_all(const problem *p, int32_t j, unsigned used, int32_t count, double sum,
                    int32_t *most, double *best)
{
    if (j == p->n) {
        if (count > *most || (count == *most && sum > *best))
            *best = sum;
        *most = count > *most ? count : *most;
        return;
    }
    for (int32_t i = 0; i < p->n; i++) {
        const double a = p->log2_dense[i + j * p->n];
        if (!(used >> i & 1))
            try_all(p, j + 1, used | 1u << i, count + isfinite(a), sum + (isfinite(a) ? a : 0),
                    most, best);
    }
}

static void no_permutation_has_a_larger_product(void **state)
{
    (void)state;
    int perfect = 0, singular = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_below(&r, seed < 2800 ? 6 : 8);
        pattern a = problem_random(n, 0.2 + random_below(&r, 9) / 10.0, &r);
        double *magnitude = random_powers(&r, &a, random_below(&r, 60));
        problem p = solve(a, magnitude);
        check(&p, 0);
        int32_t most = 0;
        double best = -INFINITY, sum = 0;
        try_all(&p, 0, 0, 0, 0, &most, &best);
        if (p.matched != most)
            fail_msg("seed %d: %d matched of %d", (int)seed, p.matched, most);
        for (int32_t j = 0; j < n; j++)
            sum += p.w->row_of[j] < 0 ? 0 : p.log2_dense[p.w->row_of[j] + j * n];
        if (most == n && sum != best)
            fail_msg("seed %d: log2 of the product is %g, the largest %g", (int)seed, sum, best);
        perfect += most == n;
        singular += most < n;
        free_problem(&p);
    }
    assert_true(perfect > 500 && singular > 500);
}

static void scaled_entries_are_at_most_one_and_one_on_the_matching(void **state)
{
    (void)state;
    static const int32_t size[] = {10, 33, 64, 65, 130, 300};
    for (uint64_t seed = 0; seed < 240; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = size[seed % 6];
        pattern a = problem_random(n, (1 + random_below(&r, 8)) / (double)n, &r);
        const int powers = seed % 2;
        double *magnitude = random_powers(&r, &a, seed % 3 ? 0 : 40), largest = 0;
        for (int64_t q = 0; q < a.start[n] && !powers; q++)
            magnitude[q] *= fabs(random_real(&r));
        for (int64_t q = 0; q < a.start[n]; q++)
            largest = fmax(largest, magnitude[q] > 0 ? fabs(log2(magnitude[q])) : 0);
        problem p = solve(a, magnitude);
        /* each of at most n augmentations adds one rounding of a number of at most 2 n largest to a
           dual, and there are a few of reduced costs */
        check(&p, powers ? 0 : (n + 8) * DBL_EPSILON * 2 * n * largest);
        free_problem(&p);
    }
}

/* [H B^T; B 0] with a wide B, and rows of zeros: no permutation avoids all zeros. */
static void structurally_singular_matrices_are_matched_in_part(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t h = 1 + random_below(&r, 20), b = random_below(&r, 30), n = h + b;
        pattern a = problem_random(n, 0.3, &r);
        double *magnitude = random_powers(&r, &a, 10);
        for (int32_t j = h; j < n; j++)
            for (int64_t q = a.start[j]; q < a.start[j + 1]; q++)
                magnitude[q] = 0;
        problem p = solve(a, magnitude);
        check(&p, 0);
        assert_true(p.matched <= (b > h ? 2 * h : n));
        free_problem(&p);
    }
}

static void zeros_arrows_and_paths_are_matched_as_known(void **state)
{
    (void)state;
    /* the zero matrix */
    problem p = solve(problem_random(5, 0.5, &(random_stream){1}), calloc(20, sizeof(double)));
    assert_int_equal(p.matched, 0);
    check(&p, 0);
    free_problem(&p);
    /* an arrow, hub first: dense row and column, all on the diagonal but the last two of the
     * hub's */
    pattern star = problem_star(200, 0);
    double *magnitude = nan_array(star.start[200]);
    for (int64_t q = 0; q < star.start[200]; q++)
        magnitude[q] = q == 0 ? 0 : q == 137 ? 0x1p60 : q < 200 ? 2 : 1;
    p = solve(star, magnitude);
    assert_int_equal(p.matched, 200);
    assert_int_equal(p.w->row_of[0], 137);
    assert_int_equal(p.w->row_of[137], 0);
    check(&p, 0);
    free_problem(&p);
    /* a path without diagonal: of odd length singular, of even length pairs */
    for (int32_t n = 1; n < 60; n++) {
        pattern path = problem_path(n);
        magnitude = nan_array(path.start[n]);
        for (int32_t j = 0; j < n; j++)
            for (int64_t q = path.start[j]; q < path.start[j + 1]; q++)
                magnitude[q] = path.row[q] == j ? 0 : 1 + j % 3;
        p = solve(path, magnitude);
        assert_int_equal(p.matched, n - n % 2);
        check(&p, 1e-13);
        for (int32_t j = 0; j < n && n % 2 == 0; j++)
            assert_int_equal(p.w->row_of[j], j ^ 1);
        free_problem(&p);
    }
}

static void a_matching_may_be_used_again(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, 60);
        pattern a = problem_random(n, 0.1, &r), same = problem_random(n, 0, &r);
        problem_free(&same);
        double *first = random_powers(&r, &a, 50), *second = random_powers(&r, &a, 20);
        problem p = solve(a, second);
        double *again = nan_array(n);
        matching_scale(p.w, first, again);
        assert_int_equal(matching_scale(p.w, second, again), p.matched);
        assert_memory_equal(again, p.scale, (size_t)n * sizeof(double));
        free(first);
        free(again);
        free_problem(&p);
    }
}

/* New values in some entries, now and then zeros. */
static void change(problem *p, random_stream *r, int percent, int zeros)
{
    for (int32_t j = 0; j < p->n; j++)
        for (int64_t q = p->a.start[j]; q < p->a.start[j + 1]; q++)
            if ((int)random_below(r, 100) < percent) {
                p->magnitude[q] =
                    (int)random_below(r, 100) < zeros ? 0 : exp(random_below(r, 2000) / 100.0 - 10);
                p->log2_dense[p->a.row[q] + (int64_t)j * p->n] =
                    p->log2_dense[j + (int64_t)p->a.row[q] * p->n] = log2(p->magnitude[q]);
            }
}

/* Another matching object of the same pattern takes the place of p's and goes on from it. */
static void hand_over(problem *p)
{
    matching *w;
    assert_int_equal(matching_create(&m, &p->a, &w), LIBSOLVER_OK);
    matching_start_from(w, p->w->row_of, p->w->u);
    matching_free(&m, p->w);
    p->w = w;
}

/* Starting from the matching of other values: as good as one made from nothing, which the duals
 * prove. */
static void a_matching_is_resumed_with_other_values(void **state)
{
    (void)state;
    int perfect = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, 80);
        pattern a = problem_random(n, 0.05 + random_below(&r, 30) / 100.0, &r);
        problem p = solve(a, random_powers(&r, &a, 0));
        double *again = nan_array(n);
        for (int round = 0; round < 8; round++) {
            static const int percent[] = {2, 10, 50, 100};
            if (round % 2 == 1 && p.matched == n)
                hand_over(&p);
            change(&p, &r, percent[round % 4], round == 5 ? 40 : 0);
            p.matched = matching_scale(p.w, p.magnitude, p.scale);
            check(&p, 1e-9);
            matching *fresh;
            assert_int_equal(matching_create(&m, &p.a, &fresh), LIBSOLVER_OK);
            assert_int_equal(matching_scale(fresh, p.magnitude, again), p.matched);
            matching_free(&m, fresh);
            assert_int_equal(matching_scale(p.w, p.magnitude, again), p.matched);
            assert_memory_equal(again, p.scale, (size_t)n * sizeof(double));
            perfect += p.matched == n;
        }
        free(again);
        free_problem(&p);
    }
    assert_true(perfect > 1000);
}

/* The lower triangle of [D G'; G 0]: a diagonal of order n, and `rows` rows of G with the given
 * probability of an entry. */
static pattern with_long_rows(int32_t n, int32_t rows, double density, random_stream *r)
{
    pattern a = {n + rows, malloc(sizeof(int64_t) * (size_t)(n + rows + 1)),
                 malloc(sizeof(int32_t) * (size_t)((n + 1) * (rows + 1)))};
    int64_t next = 0;
    assert_true(a.start && a.row);
    for (int32_t j = 0; j < a.n; j++) {
        a.start[j] = next;
        a.row[next++] = j;
        for (int32_t i = n; i < a.n && j < n; i++)
            if ((double)random_below(r, 1000) < 1000 * density)
                a.row[next++] = i;
    }
    a.start[a.n] = next;
    return a;
}

/* A few columns with entries in most rows, which are assigned last, some of which there is no row
 * for; then only such columns. */
static void long_columns_are_matched_like_others(void **state)
{
    (void)state;
    int perfect = 0;
    for (uint64_t seed = 0; seed < 30; seed++) {
        random_stream r = random_seeded(seed);
        pattern a = seed % 5 == 4 ? problem_random(260, 0.9, &r)
                                  : with_long_rows(600, 8, seed % 2 ? 0.6 : 0.95, &r);
        problem p = solve(a, random_powers(&r, &a, seed % 3 == 2 ? 30 : 0));
        double *again = nan_array(a.n);
        for (int round = 0; round < 3; round++) {
            check(&p, 1e-9);
            assert_int_equal(matching_scale(p.w, p.magnitude, again), p.matched);
            assert_memory_equal(again, p.scale, (size_t)a.n * sizeof(double));
            perfect += p.matched == a.n;
            change(&p, &r, round == 0 ? 3 : 60, 0);
            p.matched = matching_scale(p.w, p.magnitude, p.scale);
        }
        check(&p, 1e-9);
        free(again);
        free_problem(&p);
    }
    assert_true(perfect > 60);
}

static void rows_of_a_pattern_may_come_in_any_order(void **state)
{
    (void)state;
    int64_t start[] = {0, 3, 4, 5};
    int32_t row[] = {2, 0, 1, 1, 2};
    const double magnitude[] = {8, 1, 1, 4, 1};
    const pattern a = {3, start, row};
    matching *w;
    double scale[3];
    assert_int_equal(matching_create(&m, &a, &w), LIBSOLVER_OK);
    assert_int_equal(matching_scale(w, magnitude, scale), 3);
    assert_int_equal(w->row_of[0], 2);
    assert_int_equal(w->row_of[1], 1);
    assert_int_equal(w->row_of[2], 0);
    matching_free(&m, w);
}

/* Classes of one or two; a pair is an entry of the matching; a cycle of odd length leaves one row,
 * of even length none. */
static void cycles_are_cut_into_pairs(void **state)
{
    (void)state;
    int pairs = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_below(&r, 40);
        pattern a = problem_random(n, random_below(&r, 30) / 100.0, &r);
        problem p = solve(a, random_powers(&r, &a, random_below(&r, 80)));
        int32_t class_of[40], members[40][2], size[40] = {0}, expected = 0;
        const int32_t classes = matching_pairs(p.w, class_of);
        for (int32_t i = 0; i < n; i++) {
            assert_in_range(class_of[i], 0, classes - 1);
            assert_in_range(size[class_of[i]], 0, 1);
            members[class_of[i]][size[class_of[i]]++] = i;
        }
        for (int32_t c = 0; c < classes; c++) {
            assert_in_range(size[c], 1, 2);
            if (size[c] == 2) {
                const int32_t i = members[c][0], j = members[c][1];
                assert_true(p.w->row_of[i] == j || p.w->row_of[j] == i);
                pairs++;
            }
        }
        if (p.matched == n) {
            unsigned char seen[40] = {0};
            for (int32_t i = 0; i < n; i++) {
                int32_t length = 0;
                for (int32_t k = i; !seen[k]; k = p.w->row_of[k], length++)
                    seen[k] = 1;
                expected += (length + 1) / 2;
            }
            assert_int_equal(classes, expected);
        }
        free_problem(&p);
    }
    assert_true(pairs > 1000);
}

enum { MOST_REACHED = 24 };

/* The largest rank of the columns that alternating paths lead to from column j, by their
 * definition, and of their rows. */
static int32_t reach(const problem *p, const int32_t *rank, int32_t j)
{
    int32_t last = rank[j];
    unsigned char met[MOST_REACHED] = {0};
    met[j] = 1;
    for (int32_t round = 0; round < p->n; round++)
        for (int32_t c = 0; c < p->n; c++)
            for (int32_t i = 0; i < p->n && met[c]; i++)
                if (p->log2_dense[i + c * p->n] > -INFINITY) {
                    const int32_t next = p->w->column_of[i];
                    last = rank[i] > last ? rank[i] : last;
                    if (next >= 0) {
                        met[next] = 1;
                        last = rank[next] > last ? rank[next] : last;
                    }
                }
    return last;
}

/* Unmatched columns wait from their own front to the last one on their alternating paths. */
static void unmatched_columns_wait_for_the_end_of_their_paths(void **state)
{
    (void)state;
    enum { MOST = MOST_REACHED };
    int waited = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, MOST);
        pattern a = problem_random(n, random_below(&r, 20) / 100.0, &r);
        double *magnitude = random_powers(&r, &a, 10);
        for (int32_t j = 0; j < n; j++)
            magnitude[a.start[j]] *= random_below(&r, 5) == 0;
        problem p = solve(a, magnitude);
        graph g;
        elimination_tree e;
        waiting_rows found;
        int32_t rank[MOST], natural[MOST], last[MOST], to[MOST] = {0};
        for (int32_t i = 0; i < n; i++)
            natural[i] = i;
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(elimination_build(&m, 1, &g, natural, &e), LIBSOLVER_OK);
        assert_int_equal(unmatched_find(&m, p.w, NULL, &e, &found), LIBSOLVER_OK);
        for (int32_t v = 0; v < n; v++)
            rank[e.perm[v]] = v;
        for (int32_t j = 0; j < n; j++)
            last[j] = p.w->row_of[j] < 0 ? reach(&p, rank, j) : -1;
        for (int32_t j = 0; j < n; j++)
            if (p.w->row_of[j] < 0) {
                to[e.perm[last[j]]]++;
                waited += last[j] > rank[j];
            }
        for (int32_t j = 0; j < n; j++) {
            assert_int_equal(found.from[j], p.w->row_of[j] < 0);
            assert_int_equal(found.to[j], to[j]);
        }
        memory_free(&m, found.from);
        elimination_free(&m, &e);
        graph_free(&m, &g);
        free_problem(&p);
    }
    assert_in_range(waited, 50, 100000);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    pattern a = problem_grid(5, 4, 1);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t k = 0;
    for (; status != LIBSOLVER_OK; k++) {
        assert_in_range(k, 0, 100);
        rationed ration;
        matching *w;
        memory_rationed(&m, &ration, k);
        status = matching_create(&m, &a, &w);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(status == LIBSOLVER_OK, w != NULL);
        matching_free(&m, w);
        assert_int_equal(m.in_use, 0);
    }
    assert_true(k > 10);
    problem_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(no_permutation_has_a_larger_product, &m),
        unit_test_of_memory(scaled_entries_are_at_most_one_and_one_on_the_matching, &m),
        unit_test_of_memory(structurally_singular_matrices_are_matched_in_part, &m),
        unit_test_of_memory(zeros_arrows_and_paths_are_matched_as_known, &m),
        unit_test_of_memory(a_matching_may_be_used_again, &m),
        unit_test_of_memory(a_matching_is_resumed_with_other_values, &m),
        unit_test_of_memory(long_columns_are_matched_like_others, &m),
        unit_test_of_memory(rows_of_a_pattern_may_come_in_any_order, &m),
        unit_test_of_memory(cycles_are_cut_into_pairs, &m),
        unit_test_of_memory(unmatched_columns_wait_for_the_end_of_their_paths, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
