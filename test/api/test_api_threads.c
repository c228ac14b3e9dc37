/* test/api/test_api_threads.c: when there are several threads, and what they count and find, one by
 * one and together: signs, pivots in doubt, the row that fails
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 4
#define LINK 0x1p-60 /* joins a pair to the grid, and so to its fronts, and changes no pivot */

/* A grid of x by y points, then `count` pairs (u, v): u is joined to a point, the k-th to point k *
 * x * y / count, with `link`.  [1 b; b c] is each pair's own block. */
static sparse grid_with_pairs(int64_t x, int64_t y, double diagonal, int count, double link)
{
    sparse grid = sparse_grid(x, y, diagonal), s = {.n = x * y + 2 * count};
    const int64_t n = x * y, room = grid.pointers[n] + 4 * (int64_t)count;
    int64_t next = 0;
    s.pointers = calloc((size_t)s.n + 1, sizeof(int64_t));
    s.indices = calloc((size_t)room, sizeof(int64_t));
    s.values = doubles(room);
    assert_true(s.pointers && s.indices);
    for (int64_t j = 0; j < s.n; j++) {
        for (int64_t p = j < n ? grid.pointers[j] : 0; j < n && p < grid.pointers[j + 1]; p++) {
            s.indices[next] = grid.indices[p];
            s.values[next++] = grid.values[p];
        }
        for (int k = 0; k < count && j < n; k++)
            if (j == k * n / count) {
                s.indices[next] = n + 2 * k;
                s.values[next++] = link;
            }
        for (int64_t i = j; j >= n && i <= j + ((j - n) % 2 == 0); i++) {
            s.indices[next] = i;
            s.values[next++] = 1;
        }
        s.pointers[j + 1] = next;
    }
    sparse_free(&grid);
    return s;
}

/* The k-th pair becomes [1 b; b c]. */
static void set_pair(sparse *s, int count, int k, double b, double c)
{
    const int64_t u = s->n - 2 * count + 2 * k;
    s->values[s->pointers[u] + 1] = b;
    s->values[s->pointers[u + 1]] = c;
}

/* Positive eigenvalues of the grid, none of which may be near zero. */
static int64_t positive_of_grid(int x, int y, double diagonal)
{
    const double pi = 3.14159265358979323846;
    int64_t positive = 0;
    for (int i = 1; i <= x; i++)
        for (int j = 1; j <= y; j++) {
            const double value = diagonal - 2 * cos(i * pi / (x + 1)) - 2 * cos(j * pi / (y + 1));
            assert_true(fabs(value) > 1e-6);
            positive += value > 0;
        }
    return positive;
}

/* ---- who is woken ---------------------------------------------------------------------------- */

/* Threads of this process, 0 where the system does not tell. */
static int threads_alive(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

static void solve_grid(int64_t side)
{
    sparse a = sparse_grid(side, side, 4.5);
    double *x = doubles(a.n);
    const libsolver_matrix view = sparse_view(&a);
    const libsolver_vectors block = {.values = x, .rows = a.n, .columns = 1, .ld = a.n};
    libsolver_options o = options_on_cpu(LIBSOLVER_KIND_AUTO);
    libsolver_factor *f = NULL;
    o.threads = THREADS;
    assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
    for (int64_t i = 0; i < a.n; i++)
        x[i] = 1;
    assert_int_equal(libsolver_solve(f, &block, &block), LIBSOLVER_OK);
    libsolver_factor_free(f);
    sparse_free(&a);
    free(x);
}

/* Before any other test, as threads stay once they are there: a team takes longer to make than a
 * small system to solve. */
static void a_small_system_wakes_no_threads(void **state)
{
    (void)state;
    const int before = threads_alive();
    if (before == 0)
        skip();
    solve_grid(40);
    assert_int_equal(threads_alive(), before);
    solve_grid(400);
    assert_true(threads_alive() > before);
}

/* ---- signs and doubts ------------------------------------------------------------------------ */

static libsolver_factor *factorize(const sparse *a, int threads, libsolver_choice matching)
{
    const libsolver_matrix view = sparse_view(a);
    libsolver_options o = options_on_cpu(LIBSOLVER_KIND_INDEFINITE);
    libsolver_factor *f = NULL;
    o.ordering = LIBSOLVER_ORDERING_ND;
    o.threads = threads;
    o.matching = matching;
    o.scaling = LIBSOLVER_OFF;
    const libsolver_status status = libsolver_factor_matrix(&view, &o, &f);
    if (status < 0)
        fail_msg("%d threads: %s", threads, libsolver_factor_message(f));
    return f;
}

/* Pairs all over the tree, some of them with a pivot of 2^-45, as many others with one of zero:
 * counted one by one. */
static void small_and_zero_pivots_are_summed_over_all_threads(void **state)
{
    (void)state;
    enum { X = 90, Y = 80, PAIRS = 40 };
    const int64_t positive = positive_of_grid(X, Y, 2.5);
    for (int each = 0; each <= PAIRS / 2; each += 5) {
        sparse a = grid_with_pairs(X, Y, 2.5, PAIRS, LINK);
        for (int k = 0; k < PAIRS; k++)
            set_pair(&a, PAIRS, k, k < 2 * each ? 1 : 0.5,
                     k >= 2 * each ? 1
                     : k % 2       ? 1
                                   : 1 + 0x1p-45);
        for (int threads = 1; threads <= THREADS; threads++)
            for (int matching = LIBSOLVER_AUTO; matching <= LIBSOLVER_OFF;
                 matching += LIBSOLVER_OFF - LIBSOLVER_AUTO) {
                libsolver_inertia_counts counts;
                libsolver_factor *f = factorize(&a, threads, (libsolver_choice)matching);
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                /* beside entries as small as LINK no zero is certain */
                if (counts.certain != (each == 0) || counts.zero != each ||
                    counts.positive != positive + 2 * PAIRS - each ||
                    counts.positive + counts.negative + counts.zero != a.n)
                    fail_msg("%d threads: %d/%d/%d%s, %d positive and %d zero expected", threads,
                             (int)counts.positive, (int)counts.negative, (int)counts.zero,
                             counts.certain ? ", certain" : "", (int)(positive + 2 * PAIRS - each),
                             each);
                libsolver_factor_free(f);
            }
        sparse_free(&a);
    }
}

/* One zero pivot among thousands that is a rounding error, wherever it is and whoever meets it,
 * makes the whole uncertain. */
static void a_single_pivot_in_doubt_is_never_lost(void **state)
{
    (void)state;
    enum { X = 90, Y = 80, PAIRS = 24 };
    const double third = 1.0 / 3;
    sparse a = grid_with_pairs(X, Y, 2.5, PAIRS, LINK);
    for (int k = 0; k < PAIRS; k++)
        set_pair(&a, PAIRS, k, 0.5, 1);
    for (int at = 0; at < PAIRS; at++) {
        set_pair(&a, PAIRS, at, third, third * third); /* rounded */
        for (int threads = 1; threads <= THREADS; threads += THREADS - 1) {
            libsolver_inertia_counts counts;
            libsolver_factor *f = factorize(&a, threads, LIBSOLVER_OFF);
            assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
            if (counts.certain || counts.zero != 1)
                fail_msg("%d threads, pair %d: %d zero pivots%s", threads, at, (int)counts.zero,
                         counts.certain ? ", certain" : "");
            libsolver_factor_free(f);
        }
        set_pair(&a, PAIRS, at, 0.5, 1);
    }
    sparse_free(&a);
}

/* ---- the row that fails ---------------------------------------------------------------------- */

/* A system of which every `every`-th pair is indefinite, and how it is handed over. */
typedef struct failing {
    sparse a;
    int pairs, base, threads;
    const int64_t *schur_rows;
    int64_t schur_size;
    libsolver_ordering ordering;
} failing;

/* A diagonal entry that is not positive is seen before anything is eliminated: the first of these
 * in elimination order.  Without them, of each pair [1 2; 2 1] with both rows eliminated the later
 * one fails: the first of those. */
static int64_t first_to_fail(const failing *t, const int64_t *order)
{
    const int64_t n = t->a.n, grid = n - 2 * t->pairs;
    int64_t *place = calloc((size_t)n, sizeof(int64_t)), first = n, negative = n;
    assert_non_null(place);
    for (int64_t k = 0; k < n; k++)
        place[order[k]] = k;
    for (int64_t k = 0; k < t->schur_size; k++)
        place[t->schur_rows[k]] = n;
    for (int64_t u = grid; u < n; u += 2) {
        const int64_t later = place[u] > place[u + 1] ? place[u] : place[u + 1];
        if (t->a.values[t->a.pointers[u] + 1] == 2 && later < first)
            first = later;
    }
    for (int64_t j = 0; j < n; j++)
        if (t->a.values[t->a.pointers[j]] < 0 && place[j] < negative)
            negative = place[j];
    free(place);
    assert_true(first < n);
    return order[negative < n ? negative : first];
}

/* Asked before each front: holds a thread up now and then, so that others overtake it, whatever the
 * machine is doing. */
static int hold_up(void *user)
{
    const struct timespec moment = {0, 300000};
    if (atomic_fetch_add((_Atomic int *)user, 1) % 11 == 3)
        nanosleep(&moment, NULL);
    return 0;
}

/* fronts: of the factor of a definite matrix with this pattern. */
static void check_failed_row(failing *t, int64_t *fronts)
{
    const int64_t n = t->a.n, nnz = t->a.pointers[n];
    libsolver_matrix view = sparse_view(&t->a);
    libsolver_options o = options_on_cpu(LIBSOLVER_KIND_SPD);
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *f;
    libsolver_factor_info info;
    _Atomic int polls = 0;
    int64_t *order = calloc((size_t)n, sizeof(int64_t));
    double *definite = doubles(nnz);
    assert_non_null(order);
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = t->a.pointers[j]; p < t->a.pointers[j + 1]; p++)
            definite[p] = t->a.indices[p] == j ? 8 : t->a.values[p];
    for (int64_t p = 0; p < nnz && t->base; p++)
        t->a.indices[p]++;
    for (int64_t j = 0; j <= n && t->base; j++)
        t->a.pointers[j]++;
    view.base = t->base;
    o.ordering = t->ordering;
    o.threads = t->threads;
    o.cancel = t->threads > 1 ? hold_up : NULL;
    o.cancel_user = &polls;
    o.schur_rows = t->schur_rows;
    o.schur_size = t->schur_size;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
    libsolver_permutation(analysis, order);
    const libsolver_status status = libsolver_factorize(analysis, &view, &f);
    libsolver_info(f, &info);
    const int64_t failed = info.failed_row;
    view.values = definite;
    assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_OK);
    libsolver_info(f, &info);
    *fronts = info.fronts;
    assert_int_equal(info.failed_row, -1);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    for (int64_t j = 0; j <= n && t->base; j++)
        t->a.pointers[j]--;
    for (int64_t p = 0; p < nnz && t->base; p++)
        t->a.indices[p]--;
    const int64_t expected = first_to_fail(t, order);
    if (status != LIBSOLVER_NOT_POSITIVE_DEFINITE || failed != expected)
        fail_msg(
            "n %d, %d threads, base %d, ordering %d, %d rows kept: %s, row %d, expected row %d",
            (int)n, t->threads, t->base, (int)t->ordering, (int)t->schur_size,
            libsolver_status_name(status), (int)failed, (int)expected);
    free(order);
    free(definite);
}

/* by_fronts: a wide grid; otherwise so narrow a one that columns are eliminated one by one. */
static void check_failed_rows(int by_fronts)
{
    enum { PAIRS = 30 };
    const int64_t x = by_fronts ? 90 : 400, y = by_fronts ? 80 : 2;
    int64_t kept[PAIRS];
    for (int mode = 0; mode < 3; mode++) /* pairs, all of them or the upper half; negative diagonals
                                            too */
        for (int schur = 0; schur < 1 + by_fronts; schur++)
            for (int threads = 1; threads <= THREADS; threads++) {
                failing t = {.a = grid_with_pairs(x, y, 4.01, PAIRS, -0.01),
                             .pairs = PAIRS,
                             .base = threads % 2,
                             .threads = threads};
                int64_t fronts;
                t.ordering = mode == 1 ? LIBSOLVER_ORDERING_AMD : LIBSOLVER_ORDERING_ND;
                for (int k = 0; k < PAIRS; k++) {
                    set_pair(&t.a, PAIRS, k, mode != 1 || k >= PAIRS / 2 ? 2 : 0.5, 1);
                    kept[k] = x * y + 2 * k + k % 2;
                }
                for (int k = 0; k < 5 && mode == 2; k++)
                    t.a.values[t.a.pointers[x * y / 7 * (k + 1)]] = -1;
                t.schur_rows = kept;
                t.schur_size = schur ? 2 * PAIRS / 3 : 0;
                check_failed_row(&t, &fronts);
                assert_true(by_fronts ? fronts < t.a.n : fronts == t.a.n);
                sparse_free(&t.a);
            }
}

static void the_first_row_that_fails_is_named_by_fronts(void **state)
{
    (void)state;
    check_failed_rows(1);
}

/* Few rows that fail, in subtrees that are worked on at the same time: the one met first need not
 * be the first. */
static void which_failure_is_met_first_does_not_matter(void **state)
{
    (void)state;
    enum { PAIRS = 60 };
    for (uint64_t seed = 0; seed < 30; seed++) {
        random_stream r = random_seeded(seed);
        failing t = {.a = grid_with_pairs(90, 80, 4.01, PAIRS, -0.01),
                     .pairs = PAIRS,
                     .threads = 2 + 2 * (int)(seed % 2)};
        int64_t fronts;
        t.ordering = LIBSOLVER_ORDERING_ND;
        for (int k = 0; k < PAIRS; k++)
            set_pair(&t.a, PAIRS, k, 0.5, 1);
        for (int k = 0; k < 4; k++)
            set_pair(&t.a, PAIRS, random_below(&r, PAIRS), 2, 1);
        check_failed_row(&t, &fronts);
        sparse_free(&t.a);
    }
}

static void the_first_row_that_fails_is_named_by_columns(void **state)
{
    (void)state;
    check_failed_rows(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_system_wakes_no_threads),
        cmocka_unit_test(small_and_zero_pivots_are_summed_over_all_threads),
        cmocka_unit_test(a_single_pivot_in_doubt_is_never_lost),
        cmocka_unit_test(the_first_row_that_fails_is_named_by_fronts),
        cmocka_unit_test(which_failure_is_met_first_does_not_matter),
        cmocka_unit_test(the_first_row_that_fails_is_named_by_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
