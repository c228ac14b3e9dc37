/* test/gpu/test_full_matrix.c: what refinement on a device is told by the host: A by rows, and the
 * errors and decisions both share
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "exact_row_error.h"
#include "gpu/refine/full_matrix.h"
#include "gpu/refine/refine_state.h"
#include <stdlib.h>

/* The source that entry (i, j) of A must have, 0: there is no entry. */
static uint32_t *sources(const pattern *a, int hermitian)
{
    uint32_t *s = calloc((size_t)a->n * (size_t)a->n + 1, sizeof *s);
    assert_non_null(s);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int64_t i = a->row[p], k = j;
            s[i * a->n + k] = (uint32_t)(2 * p) + 2;
            if (i != k)
                s[k * a->n + i] = (uint32_t)(2 * p) + 2 + (hermitian != 0);
        }
    return s;
}

/* Segments cover the long rows, in order. */
static void check_segments(const full_matrix *f)
{
    int32_t next = 0, long_rows = 0;
    for (int32_t i = 0; i < f->n; i++) {
        if (f->start[i + 1] - f->start[i] <= ROW_SEGMENT)
            continue;
        const int32_t first = next;
        for (int64_t from = f->start[i]; from < f->start[i + 1]; from = f->segment[next++].to) {
            const row_segment *g = &f->segment[next];
            assert_true(next < f->segments && g->row == i && g->of == long_rows &&
                        g->first == first);
            assert_true(g->from == from && g->to > from && g->to - from <= ROW_SEGMENT &&
                        g->to <= f->start[i + 1]);
        }
        for (int32_t q = first; q < next; q++)
            assert_int_equal(f->segment[q].count, next - first);
        long_rows++;
    }
    assert_int_equal(next, f->segments);
    assert_int_equal(long_rows, f->long_rows);
}

static void check_pattern(pattern a, int hermitian, uint64_t seed)
{
    memory m;
    full_matrix f;
    memory_init(&m, NULL, NULL, NULL, 0);
    uint32_t *expected = sources(&a, hermitian);
    assert_int_equal(full_matrix_build(&m, &a, hermitian, &f), LIBSOLVER_OK);
    int64_t entries = 0;
    for (int64_t k = 0; k < (int64_t)a.n * a.n; k++)
        entries += expected[k] != 0;
    assert_int_equal(f.start[0], 0);
    assert_int_equal(f.start[a.n], entries);
    for (int32_t i = 0; i < a.n; i++)
        for (int64_t k = f.start[i]; k < f.start[i + 1]; k++) {
            assert_true(k == f.start[i] || f.column[k] > f.column[k - 1]);
            if (f.source[k] + 2 != expected[(int64_t)i * a.n + f.column[k]])
                fail_msg("seed %d: entry (%d, %d) comes from %u", (int)seed, i, f.column[k],
                         f.source[k]);
        }
    assert_in_range(f.log_width, 1, 5);
    check_segments(&f);
    full_matrix_free(&m, &f);
    assert_int_equal(m.in_use, 0);
    m.limit = 1; /* nothing can be had */
    assert_int_equal(full_matrix_build(&m, &a, hermitian, &f), LIBSOLVER_OUT_OF_MEMORY);
    assert_int_equal(m.in_use, 0);
    free(expected);
    problem_free(&a);
}

static void both_triangles_by_ascending_columns(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(seed);
        check_pattern(random_pattern(&r, random_order(&r, seed)), seed % 2 == 1, seed);
    }
}

static void long_rows_are_cut(void **state)
{
    (void)state;
    check_pattern(problem_star(1500, 1499), 0, 0);
    check_pattern(problem_complete(520), 1, 1);
    check_pattern(problem_complete(ROW_SEGMENT), 0, 2);
}

/* ---- Errors and decisions -------------------------------------------------------------------- */

static void errors_of_rows_of_any_size(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    for (int k = 0; k < 200000; k++) {
        /* x_j and a_ij of one size, three entries, b of another */
        const int a = (int)random_below(&r, 1200) - 600, x = (int)random_below(&r, 1200) - 600,
                  far = (int)random_below(&r, 40);
        const double row_sum = ldexp(3, a), norm = ldexp(1 + random_real(&r) / 2, x);
        const double product = k % 3 ? ldexp(3, a) * ldexp(1, x - far) : 0,
                     b = k % 5 ? product * fabs(random_real(&r)) : 0;
        const double bound = product + b, error = bound * fabs(random_real(&r)) * 0x1p-40,
                     threshold = 1e-12;
        int is_small, expected_small;
        if (!(bound <= DBL_MAX))
            continue;
        const double found = refine_row_error(error, b, bound, row_sum, norm, threshold, &is_small);
        const double expected = exact_row_error(error, b, bound, (long double)row_sum * norm,
                                                threshold, &expected_small);
        if (is_small != expected_small || !(fabs(found - expected) <= 1e-12 * expected + DBL_MIN))
            fail_msg("error %g, %g expected, class %d, %d expected (%g %g %g %g %g)", found,
                     expected, is_small, expected_small, error, b, bound, row_sum, norm);
    }
    int is_small;
    assert_true(isinf(refine_row_error(NAN, 1, 1, 1, 1, 1e-12, &is_small)));
    assert_true(isinf(refine_row_error(0, 1, INFINITY, 1, 1, 1e-12, &is_small)));
    assert_true(isinf(refine_row_error(0, 1, 1, 1, INFINITY, 1e-12, &is_small)));
    /* an empty row with b != 0 */
    assert_true(isinf(refine_row_error(1, 0, 0, 0, 1, 1e-12, &is_small)));
    assert_true(refine_row_error(0, 0, 0, 0, 0, 1e-12, &is_small) == 0);
}

static void columns_stop_where_nothing_is_gained(void **state)
{
    (void)state;
    static const struct {
        double error[4], kept; /* the errors after each step; negative: the end */
        int done_after, worse;
    } runs[] = {
        {{1e-15, -1}, 1e-15, 0, 0},       {{1e-3, 1e-6, 1e-15, -1}, 1e-15, 2, 0},
        {{1e-3, 5e-4, -1}, 5e-4, 1, 0},   {{1e-3, 2e-3, -1}, 1e-3, 1, 1},
        {{INFINITY, -1}, INFINITY, 0, 0}, {{1e-3, INFINITY, -1}, 1e-3, 1, 1},
        {{1e-3, 1e-3, -1}, 1e-3, 1, 1},   {{1e-3, 1e-5, 1e-5, -1}, 1e-5, 2, 1},
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        refined_column c = {.done = 1, .worse = 1};
        for (int step = 0; runs[k].error[step] >= 0; step++) {
            refined_column_decide(&c, runs[k].error[step], step == 0, 1e-14, 0.1);
            assert_int_equal(c.done, step == runs[k].done_after);
        }
        assert_true(c.error == runs[k].kept && c.initial == runs[k].error[0]);
        assert_int_equal(c.worse, runs[k].worse);
        refined_column_decide(&c, 0, 0, 1e-14, 0.1); /* a step after the end */
        assert_true(c.error == runs[k].kept && c.worse == runs[k].worse);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_triangles_by_ascending_columns),
        cmocka_unit_test(long_rows_are_cut),
        cmocka_unit_test(errors_of_rows_of_any_size),
        cmocka_unit_test(columns_stop_where_nothing_is_gained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
