/* test/dense/test_substitute.c: triangular solves with a panel in one precision (-DPREC_x), by each
 * set of kernels and for each width of a row, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense/cpu/substitute_sets.h"
#include "typed_scalar.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The same panel packed; the caller's. */
static scalar *packed_panel(int m, int p, const scalar *l)
{
    scalar *to = malloc(((size_t)m * (size_t)p + 1) * sizeof(scalar));
    size_t next = 0;
    assert_non_null(to);
    for (int j = 0; j < p; j++)
        for (int i = j; i < m; i++)
            to[next++] = l[i + (int64_t)j * m];
    to[next] = NAN;
    return to;
}

/* m x p with leading dimension m, NaN above the diagonal, and on it if it is not to be
 * read.  Entries are small enough that inv(L11) stays modest. */
static scalar *random_panel(random_stream *r, int m, int p, int unit)
{
    scalar *l = malloc(((size_t)m * (size_t)p + 1) * sizeof(scalar));
    assert_non_null(l);
    for (int j = 0; j < p; j++)
        for (int i = 0; i < m; i++)
            l[i + (int64_t)j * m] = i < j || (unit && i == j) ? NAN
                                    : i == j                  ? 2 + random_scalar(r)
                                                              : random_scalar(r) / (real)(p + 1);
    return l;
}

/* z(j) of the column, its diagonal and the sum of products known. */
static exact divided(const scalar *l, int m, int j, int unit, exact sum)
{
    return unit ? sum : sum / l[j + (int64_t)j * m];
}

/* z := forward or backward of z, and the magnitudes of the terms in each row. */
static void reference(int m, int p, int unit, int backward, const scalar *l, exact *z,
                      long double *scale)
{
    for (int i = 0; i < m; i++)
        scale[i] = cabsl(z[i]);
    if (!backward)
        for (int j = 0; j < p; j++) {
            z[j] = divided(l, m, j, unit, z[j]);
            for (int i = j + 1; i < m; i++) {
                z[i] -= (exact)l[i + (int64_t)j * m] * z[j];
                scale[i] += cabsl((exact)l[i + (int64_t)j * m]) * scale[j];
            }
        }
    else
        for (int j = p - 1; j >= 0; j--) {
            for (int i = j + 1; i < m; i++) {
                z[j] -= (exact)l[i + (int64_t)j * m] * z[i];
                scale[j] += cabsl((exact)l[i + (int64_t)j * m]) * scale[i];
            }
            z[j] = divided(l, m, j, unit, z[j]);
        }
}

static void check(random_stream *r, const substitution *kernels, int m, int p, int packed, int unit,
                  int backward, int width)
{
    scalar *l = random_panel(r, m, p, unit), *z = malloc((size_t)(m * width + 1) * sizeof(scalar));
    scalar *panel = packed ? packed_panel(m, p, l) : l;
    exact *expected = malloc((size_t)(m + 1) * sizeof(exact)),
          *all = malloc((size_t)(m * width + 1) * sizeof(exact));
    long double *scale = malloc((size_t)(m + 1) * sizeof(long double));
    assert_true(z && expected && all && scale);
    for (int i = 0; i < m * width; i++)
        all[i] = z[i] = random_scalar(r);
    z[m * width] = 77;
    (backward ? NAME(substitute_backward) : NAME(substitute_forward))(kernels, m, p, packed, unit,
                                                                      panel, width, z);
    const long double most = (SCALAR_COMPLEX ? 8 : 2) * (long double)EPS * (m + 4);
    for (int q = 0; q < width; q += m > 100 ? 5 : 1) { /* large ones differ in their rows only */
        for (int i = 0; i < m; i++)
            expected[i] = all[i * width + q];
        reference(m, p, unit, backward, l, expected, scale);
        for (int i = 0; i < m; i++)
            if (!(cabsl(z[i * width + q] - expected[i]) <= most * scale[i]))
                fail_msg(
                    "%s, %d x %d, packed %d, unit %d, row %d, column %d of %d: off by %Lg, %Lg "
                    "allowed",
                    backward ? "backward" : "forward", m, p, packed, unit, i, q, width,
                    cabsl(z[i * width + q] - expected[i]), most * scale[i]);
    }
    assert_true(z[m * width] == 77);
    free(l);
    free(z);
    if (packed)
        free(panel);
    free(expected);
    free(all);
    free(scale);
}

static void check_both(random_stream *r, const substitution *kernels, int m, int p, int width)
{
    for (int k = 0; k < 8; k++)
        if (k < 4 || m * p <= SUBSTITUTE_LARGE)
            check(r, kernels, m, p, k >> 2, k & 1, k >> 1 & 1, width);
}

/* Every set of kernels for this width that runs here. */
static int kernel_sets(int width, const substitution *sets[6])
{
    int count = 0;
    for (int ahead = 0; ahead < (width == 1 ? 2 : 1); ahead++) {
        const substitution *best = NAME(substitution_kernels)(width, ahead);
        const substitution *plain =
            width == 1 ? &NAME(single_substitution_plain)[ahead] : &NAME(block_substitution_plain);
        sets[count++] = plain;
        if (best != plain)
            sets[count++] = best;
#if defined(HAVE_avx2) && defined(HAVE_avx512)
        if (best == &NAME(single_substitution_avx512)[ahead] ||
            best == &NAME(block_substitution_avx512)) /* such processors have both */
            sets[count++] = width == 1 ? &NAME(single_substitution_avx2)[ahead]
                                       : &NAME(block_substitution_avx2);
#endif
    }
    return count;
}

static void solves_are_those_of_plain_loops(void **state)
{
    (void)state;
    random_stream r = random_seeded(5);
    for (int c = 1; c <= 35; c = c < 4 ? c + 1 : 2 * c) { /* 1, 2, 3, 4, 8, 16, 32 */
        const int width = (int)substitution_width(c == 32 ? 35 : c), most = c == 1 ? 20 : 13;
        const substitution *sets[6];
        const int count = kernel_sets(width, sets);
        for (int k = 0; k < count; k++) {
            for (int m = 0; m <= most; m++)
                for (int p = 0; p <= m; p++)
                    check_both(&r, sets[k], m, p, width);
            check_both(&r, sets[k], 131, 67, width);
            if (c == 1 || c == 16) {
                check_both(&r, sets[k], 700, 530, width); /* by blocks */
                check_both(&r, sets[k], 2100, 129, width);
            }
        }
    }
}

/* Rows of a front scattered over a vector of three times as many and some that nobody may touch. */
static void check_small(random_stream *r, const substitution *kernels, int m, int p, int packed,
                        int unit, int is_leaf)
{
    scalar *l = random_panel(r, m, p, unit), x[3 * SUBSTITUTE_SMALL_ROWS],
           z[SUBSTITUTE_SMALL_ROWS + 8], before[3 * SUBSTITUTE_SMALL_ROWS];
    scalar *panel = packed ? packed_panel(m, p, l) : l;
    int32_t index[SUBSTITUTE_SMALL_ROWS];
    exact expected[SUBSTITUTE_SMALL_ROWS];
    long double scale[SUBSTITUTE_SMALL_ROWS];
    const long double most = 2 * (long double)EPS * (m + 4);
    const int size = 3 * m;
    for (int i = 0; i < m; i++)
        index[i] = (7 * i + 5) % m * 3 + (int32_t)random_below(r, 3);
    if (m % 7 == 0)
        for (int i = 0; i < m; i++)
            index[i] = 3 * i + 2;
    const substitution_front front = {panel, index, m, p, packed, unit, m & 1};
    for (int backward = 0; backward < 2; backward++) {
        for (int i = 0; i < size; i++)
            x[i] = NAN;
        for (int i = 0; i < (backward ? m : p); i++)
            x[index[i]] = random_scalar(r);
        memcpy(before, x, sizeof x);
        for (int i = 0; i < m; i++)
            z[i] = is_leaf ? NAN : random_scalar(r);
        for (int i = 0; i < m; i++)
            expected[i] = backward ? x[index[i]]
                                   : (is_leaf ? 0 : (exact)z[i]) + (i < p ? (exact)x[index[i]] : 0);
        reference(m, p, unit, backward, l, expected, scale);
        if (backward)
            kernels->small_backward(&front, x);
        else
            kernels->small_forward(&front, x, is_leaf, z);
        for (int i = 0; i < (backward ? p : m); i++) {
            const scalar is = backward ? x[index[i]] : z[i];
            if (!(cabsl(is - expected[i]) <= most * scale[i]))
                fail_msg("small %s, %d x %d, packed %d, unit %d, leaf %d, row %d: off by %Lg, %Lg "
                         "allowed",
                         backward ? "backward" : "forward", m, p, packed, unit, is_leaf, i,
                         cabsl(is - expected[i]), most * scale[i]);
            if (backward)
                before[index[i]] = x[index[i]];
        }
        assert_memory_equal(before, x, (size_t)size * sizeof(scalar));
    }
    free(l);
    if (packed)
        free(panel);
}

static void small_fronts_are_those_of_plain_loops(void **state)
{
    (void)state;
    const substitution *sets[6];
    const int count = kernel_sets(1, sets);
    random_stream r = random_seeded(8);
    for (int k = 0; k < count; k++) {
        assert_in_range(sets[k]->small_rows, 0, SUBSTITUTE_SMALL_ROWS);
        assert_int_equal(!sets[k]->small_forward, sets[k]->small_rows == 0);
        assert_int_equal(!sets[k]->small_backward, sets[k]->small_rows == 0);
        for (int m = 1; m <= sets[k]->small_rows; m++)
            for (int p = 1; p <= m && p <= SUBSTITUTE_SMALL_PIVOTS; p++)
                for (int q = 0; q < 8; q++)
                    check_small(&r, sets[k], m, p, q & 1, q >> 1 & 1, q >> 2);
    }
}

static void rows_are_filled_up_to_vectors(void **state)
{
    (void)state;
    assert_int_equal(substitution_width(1), 1);
    int before = 1;
    for (int c = 2; c <= 200; c++) {
        const int width = (int)substitution_width(c), bytes = width * (int)sizeof(scalar);
        if (width < c || width < before || (bytes % 16 != 0) || (width > 2 * c && bytes > 16))
            fail_msg("%d columns: a row has %d scalars of %d bytes, the one of a column less %d", c,
                     width, (int)sizeof(scalar), before);
        before = width;
    }
}

static void large_panels_have_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    random_stream r = random_seeded(6);
    const int m = 1500, p = 300;
    for (int k = 0; k < 4; k++) {
        const int width = (int)substitution_width(k < 2 ? 1 : 16);
        const substitution *kernels = NAME(substitution_kernels)(width, k & 1);
        const size_t bytes = sizeof(scalar) * (size_t)(m * width);
        scalar *l = random_panel(&r, m, p, 0), *z = malloc(bytes), *first = malloc(bytes);
        assert_true(z && first);
        for (int threads = 1; threads <= 3; threads++) {
            random_stream same = random_seeded(7);
            for (int i = 0; i < m * width; i++)
                z[i] = random_scalar(&same);
#pragma omp parallel num_threads(threads)
#pragma omp single
            {
                NAME(substitute_forward)(kernels, m, p, 0, 0, l, width, z);
                NAME(substitute_backward)(kernels, m, p, 0, 0, l, width, z);
            }
            if (threads == 1)
                memcpy(first, z, bytes);
            assert_memory_equal(first, z, bytes);
        }
        free(l);
        free(z);
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_are_those_of_plain_loops),
        cmocka_unit_test(small_fronts_are_those_of_plain_loops),
        cmocka_unit_test(rows_are_filled_up_to_vectors),
        cmocka_unit_test(large_panels_have_the_same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
