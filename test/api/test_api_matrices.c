/* test/api/test_api_matrices.c: every way of passing matrices and permutations, right and wrong
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM (4 * N * N) /* entries of a view: both triangles, each entry in two parts */

/* A view with arrays of its own. */
typedef struct own_view {
    libsolver_matrix view;
    int64_t long_pointers[ROOM + 1], long_indices[ROOM];
    int32_t short_pointers[ROOM + 1], short_indices[ROOM];
    double values[ROOM];
} own_view;

typedef struct entry {
    int64_t row, column;
    double value;
} entry;

static void shuffle(random_stream *r, entry *e, int64_t count)
{
    for (int64_t k = count - 1; k > 0; k--) {
        const int64_t other = random_below(r, (int32_t)k + 1);
        const entry kept = e[k];
        e[k] = e[other];
        e[other] = kept;
    }
}

static int by_column(const void *a, const void *b)
{
    const int64_t i = ((const entry *)a)->column, j = ((const entry *)b)->column;
    return (i > j) - (i < j);
}

/* The matrix as the fields of v->view say; parts: entries that each value is split into. */
static void fill_view(const sparse *a, random_stream *r, int parts, own_view *v)
{
    entry e[ROOM];
    int64_t count = 0;
    libsolver_matrix *m = &v->view;
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++)
            for (int k = 0; k < parts; k++) {
                const int64_t i = a->indices[p];
                const double value = a->values[p] / parts;
                if (m->storage != LIBSOLVER_UPPER)
                    e[count++] = (entry){i, j, value};
                if (m->storage != LIBSOLVER_LOWER && !(m->storage == LIBSOLVER_FULL && i == j))
                    e[count++] = (entry){j, i, value};
            }
    shuffle(r, e, count);
    m->n = a->n;
    memset(v->long_pointers, 0, sizeof v->long_pointers);
    if (m->format == LIBSOLVER_TRIPLETS)
        m->nnz = count;
    else
        qsort(e, (size_t)count, sizeof *e, by_column); /* rows of a column stay in any order */
    for (int64_t k = 0; k < count; k++) {
        v->long_indices[k] = e[k].row + m->base;
        v->values[k] = e[k].value;
        if (m->format == LIBSOLVER_TRIPLETS)
            v->long_pointers[k] = e[k].column + m->base;
        else
            v->long_pointers[e[k].column + 1] = k + 1;
    }
    const int64_t pointers = m->format == LIBSOLVER_TRIPLETS ? count : a->n + 1;
    if (m->format == LIBSOLVER_COMPRESSED)
        for (int64_t j = 0; j <= a->n; j++) {
            if (j > 0 && v->long_pointers[j] == 0) /* an empty column */
                v->long_pointers[j] = v->long_pointers[j - 1] - m->base;
            v->long_pointers[j] += m->base;
        }
    for (int64_t k = 0; k < pointers; k++)
        v->short_pointers[k] = (int32_t)v->long_pointers[k];
    for (int64_t k = 0; k < count; k++)
        v->short_indices[k] = (int32_t)v->long_indices[k];
    m->pointers = m->pointer_type == LIBSOLVER_INT64 ? (void *)v->long_pointers : v->short_pointers;
    m->indices = m->index_type == LIBSOLVER_INT64 ? (void *)v->long_indices : v->short_indices;
    m->values = v->values;
}

static void every_view_of_a_matrix_gives_the_same_bits(void **state)
{
    bench *t = *state;
    own_view *v = malloc(sizeof *v);
    double expected[N * COLUMNS];
    random_stream r = random_seeded(11);
    solves(t, t->factor);
    memcpy(expected, t->x, sizeof expected);
    for (int kind = 0; kind < 3 * 2 * 2 * 2 * 2 * 2; kind++) {
        v->view = (libsolver_matrix){.storage = (libsolver_storage)(kind % 3),
                                     .format = (libsolver_format)(kind / 3 % 2),
                                     .base = kind / 6 % 2,
                                     .pointer_type = (libsolver_index)(kind / 12 % 2),
                                     .index_type = (libsolver_index)(kind / 24 % 2)};
        fill_view(&t->a, &r, 1 + kind / 48 % 2, v);
        libsolver_analysis *analysis = NULL;
        libsolver_factor *factor = NULL;
        libsolver_analysis_info info;
        assert_int_equal(libsolver_analyze(t->context, &v->view, NULL, &analysis), LIBSOLVER_OK);
        libsolver_analysis_query(analysis, &info);
        assert_int_equal(info.n, N);
        assert_int_equal(info.nnz, t->a.pointers[N]);
        assert_int_equal(libsolver_factorize(analysis, &v->view, &factor), LIBSOLVER_OK);
        solves(t, factor);
        if (memcmp(expected, t->x, sizeof expected))
            fail_msg("view %d has other bits", kind);
        v->view.pointers = v->view.indices = NULL; /* only the values are new */
        assert_int_equal(libsolver_refactorize(factor, &v->view), LIBSOLVER_OK);
        solves(t, factor);
        assert_memory_equal(expected, t->x, sizeof expected);
        libsolver_factor_free(factor);
        assert_int_equal(libsolver_factorize(analysis, &v->view, &factor), LIBSOLVER_OK);
        libsolver_factor_free(factor);
        libsolver_analysis_free(analysis);
    }
    free(v);
}

static const int32_t columns3[] = {0, 2, 4, 5}, rows3[] = {0, 2, 1, 2, 2};
static const int32_t columns3_from_1[] = {1, 3, 5, 6}, rows3_from_1[] = {1, 3, 2, 3, 3};
static const double values3[] = {4, 1, 4, 1, 4};
/* A view of these with one field changed. */
static libsolver_matrix view3(void)
{
    return (libsolver_matrix){.n = 3, .pointers = columns3, .indices = rows3, .values = values3};
}

static void refuse_view(const bench *t, const libsolver_matrix *view, libsolver_status expected,
                        const char *word)
{
    libsolver_analysis *analysis = (libsolver_analysis *)view;
    const libsolver_status status = libsolver_analyze(t->context, view, NULL, &analysis);
    refused(status, expected, libsolver_context_message(t->context), word);
    assert_null(analysis);
    libsolver_factor *factor = NULL;
    assert_int_equal(libsolver_factor_matrix(view, NULL, &factor), expected);
    assert_non_null(factor); /* for its message */
    refused(expected, expected, libsolver_factor_message(factor), word);
    libsolver_factor_free(factor);
}

#define BAD(expected, word, change) \
    do { \
        libsolver_matrix v = view3(); \
        change; \
        refuse_view(t, &v, expected, word); \
    } while (0)

static void bad_matrices_are_refused_by_analyze(void **state)
{
    bench *t = *state;
    static const int32_t falling[] = {0, 2, 1, 5}, late[] = {1, 2, 4, 5},
                         negative[] = {-1, 2, 4, 5};
    static const int32_t outside[] = {0, 3, 1, 2, 2}, below_0[] = {0, -1, 1, 2, 2},
                         above[] = {0, 2, 0, 2, 2};
    static const int64_t far_down[] = {INT64_MIN, 2, 1, 2, 2}, far_up[] = {0, INT64_MAX, 1, 2, 2};
    static const int64_t far_start[] = {INT64_MIN, 2, 4, 5}, far_end[] = {0, 2, 4, INT64_MAX};
    static const int32_t triplet_columns[] = {0, 0, 1, 1, 3}, triplets_ok[] = {0, 0, 1, 1, 2};
    BAD(LIBSOLVER_INVALID, "order -1", v.n = -1);
    BAD(LIBSOLVER_INVALID, "order", v.n = INT64_MAX);
    BAD(LIBSOLVER_INVALID, "order 2147483647", v.n = INT32_MAX);
    BAD(LIBSOLVER_INVALID, "base 2", v.base = 2);
    BAD(LIBSOLVER_INVALID, "base -1", v.base = -1);
    BAD(LIBSOLVER_INVALID, "pointers[0] is 0", v.base = 1);
    BAD(LIBSOLVER_INVALID, "no legal value", v.storage = (libsolver_storage)6);
    BAD(LIBSOLVER_INVALID, "no legal value", v.format = (libsolver_format)2);
    BAD(LIBSOLVER_INVALID, "no legal value", v.pointer_type = (libsolver_index)2);
    BAD(LIBSOLVER_INVALID, "no legal value", v.index_type = (libsolver_index)-1);
    BAD(LIBSOLVER_INVALID, "no legal value", v.place = (libsolver_place)2);
    BAD(LIBSOLVER_INVALID, "no legal value", v.symmetry = (libsolver_symmetry)2);
    BAD(LIBSOLVER_INVALID, "no pointers", v.pointers = NULL);
    BAD(LIBSOLVER_INVALID, "no indices", v.indices = NULL);
    BAD(LIBSOLVER_INVALID, "pointers[2] is 1", v.pointers = falling);
    BAD(LIBSOLVER_INVALID, "pointers[0] is 1", v.pointers = late);
    BAD(LIBSOLVER_INVALID, "pointers[0] is -1", v.pointers = negative);
    BAD(LIBSOLVER_INVALID, "pointers[0]", v.pointers = far_start; v.pointer_type = LIBSOLVER_INT64);
    BAD(LIBSOLVER_OUT_OF_MEMORY, "bytes", v.pointers = far_end; v.pointer_type = LIBSOLVER_INT64);
    BAD(LIBSOLVER_INVALID, "entry 1 has row 3 and column 0, outside", v.indices = outside);
    BAD(LIBSOLVER_INVALID, "entry 1 has row -1", v.indices = below_0);
    BAD(LIBSOLVER_INVALID, "entry 0", v.indices = far_down; v.index_type = LIBSOLVER_INT64);
    BAD(LIBSOLVER_INVALID, "entry 1", v.indices = far_up; v.index_type = LIBSOLVER_INT64);
    BAD(LIBSOLVER_INVALID, "entry 0", v.indices = far_down; v.index_type = LIBSOLVER_INT64;
        v.base = 1; v.pointers = columns3_from_1);
    BAD(LIBSOLVER_INVALID, "entry 0 has row 0", v.base = 1; v.pointers = columns3_from_1);
    BAD(LIBSOLVER_INVALID, "entry 2 (row 0, column 1) is not in the lower", v.indices = above);
    BAD(LIBSOLVER_INVALID, "entry 1 (row 2, column 0) is not in the upper",
        v.storage = LIBSOLVER_UPPER);
    BAD(LIBSOLVER_INVALID, "not symmetric", v.storage = LIBSOLVER_FULL);
    BAD(LIBSOLVER_INVALID, "-1 triplets", v.format = LIBSOLVER_TRIPLETS; v.nnz = -1);
    BAD(LIBSOLVER_INVALID, "without indices", v.format = LIBSOLVER_TRIPLETS; v.nnz = 5;
        v.pointers = NULL);
    BAD(LIBSOLVER_INVALID, "without indices", v.format = LIBSOLVER_TRIPLETS; v.nnz = 5;
        v.indices = NULL);
    BAD(LIBSOLVER_INVALID, "entry 4 has row 2 and column 3", v.format = LIBSOLVER_TRIPLETS;
        v.nnz = 5; v.pointers = triplet_columns);
    libsolver_matrix good[] = {view3(), view3(), view3()};
    good[1].base = 1;
    good[1].pointers = columns3_from_1;
    good[1].indices = rows3_from_1;
    good[2].format = LIBSOLVER_TRIPLETS;
    good[2].nnz = 5;
    good[2].pointers = triplets_ok;
    for (int k = 0; k < 3; k++) {
        libsolver_factor *factor;
        assert_int_equal(libsolver_factor_matrix(&good[k], NULL, &factor), LIBSOLVER_OK);
        assert_string_equal(libsolver_factor_message(factor), "");
        libsolver_factor_free(factor);
    }
    works(t);
}

static void bad_values_are_refused_by_factorize_and_the_old_factor_stays(void **state)
{
    bench *t = *state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    random_stream r = random_seeded(5);
    own_view *v = malloc(sizeof *v);
    for (int storage = LIBSOLVER_LOWER; storage <= LIBSOLVER_FULL; storage++) {
        v->view = (libsolver_matrix){.storage = (libsolver_storage)storage,
                                     .index_type = LIBSOLVER_INT64};
        fill_view(&t->a, &r, 1, v);
        libsolver_analysis *analysis;
        libsolver_factor *factor, *failed;
        assert_int_equal(libsolver_analyze(t->context, &v->view, NULL, &analysis), LIBSOLVER_OK);
        assert_int_equal(libsolver_factorize(analysis, &v->view, &factor), LIBSOLVER_OK);
        const int64_t entries = v->short_pointers[N];
        for (int64_t k = 0; k < entries; k++) {
            const double kept = v->values[k];
            v->values[k] = bad[k % 3];
            const libsolver_status status = libsolver_refactorize(factor, &v->view);
            refused(status, LIBSOLVER_NONFINITE, libsolver_factor_message(factor), "finite");
            solves(t, factor);
            failed = NULL;
            assert_int_equal(libsolver_factorize(analysis, &v->view, &failed), LIBSOLVER_NONFINITE);
            assert_non_null(failed);
            libsolver_factor_info info;
            libsolver_info(failed, &info);
            assert_int_equal(info.status, LIBSOLVER_NONFINITE);
            libsolver_inertia_counts counts;
            assert_int_equal(libsolver_inertia(failed, &counts), LIBSOLVER_INVALID);
            v->values[k] = kept;
            assert_int_equal(libsolver_refactorize(failed, &v->view), LIBSOLVER_OK);
            libsolver_info(failed, &info);
            assert_int_equal(info.status, LIBSOLVER_OK);
            solves(t, failed);
            libsolver_factor_free(failed);
        }
        if (storage == LIBSOLVER_FULL)
            for (int64_t j = 0; j < N; j++)
                for (int64_t k = v->short_pointers[j]; k < v->short_pointers[j + 1]; k++) {
                    if (v->long_indices[k] == j)
                        continue;
                    v->values[k] = nextafter(v->values[k], 99);
                    const libsolver_status status = libsolver_refactorize(factor, &v->view);
                    refused(status, LIBSOLVER_INVALID, libsolver_factor_message(factor),
                            "not symmetric");
                    v->values[k] = nextafter(v->values[k], -99);
                    solves(t, factor);
                }
        libsolver_factor_free(factor);
        libsolver_analysis_free(analysis);
    }
    free(v);
    works(t);
}

static void another_pattern_is_refused_by_factorize(void **state)
{
    bench *t = *state;
    sparse other = bench_matrix();
    const libsolver_matrix good = sparse_view(&t->a);
    int64_t swapped[] = {other.indices[1], other.indices[2]};
    for (int k = 0; k < 8; k++) {
        libsolver_matrix view = sparse_view(&other);
        const char *word = "analysed";
        libsolver_status expected = LIBSOLVER_PATTERN_MISMATCH;
        switch (k) {
        case 0:
            view.n = N - 1;
            break;
        case 1: /* the same entries in another order are another pattern */
            other.indices[1] = swapped[1];
            other.indices[2] = swapped[0];
            break;
        case 2:
            other.indices[1] = swapped[0];
            other.indices[2] = swapped[1];
            view.type = LIBSOLVER_Z;
            break;
        case 3:
            view.symmetry = LIBSOLVER_HERMITIAN;
            break;
        case 4:
            view.values = NULL;
            word = "no values";
            expected = LIBSOLVER_INVALID;
            break;
        case 5:
            view.indices = NULL;
            word = "no indices";
            expected = LIBSOLVER_INVALID;
            break;
        case 6:
            view.base = 1;
            word = "pointers[0]";
            expected = LIBSOLVER_INVALID;
            break;
        default: /* an index that is no index at all */
            view.base = 0;
            other.indices[0] = INT64_MIN;
        }
        libsolver_factor *factor = (libsolver_factor *)t;
        libsolver_status status = libsolver_factorize(t->analysis, &view, &factor);
        refused(status, expected, libsolver_context_message(t->context), word);
        assert_null(factor);
        status = libsolver_refactorize(t->factor, &view);
        refused(status, expected, libsolver_factor_message(t->factor), word);
        solves(t, t->factor);
    }
    assert_int_equal(libsolver_refactorize(t->factor, &good), LIBSOLVER_OK);
    assert_string_equal(libsolver_factor_message(t->factor), "");
    sparse_free(&other);
    works(t);
}

static void permutations_are_checked_copied_and_used(void **state)
{
    bench *t = *state;
    const libsolver_matrix view = sparse_view(&t->a);
    int64_t permutation[N], used[N];
    libsolver_options o = t->options;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    o.ordering = LIBSOLVER_ORDERING_USER;
    libsolver_status status = libsolver_analyze(t->context, &view, &o, &analysis);
    refused(status, LIBSOLVER_INVALID, libsolver_context_message(t->context), "no permutation");
    o.permutation = permutation;
    const int64_t wrong[] = {-1, N, INT64_MIN, INT64_MAX, INT64_C(1) << 32, 3};
    for (int64_t at = 0; at < N; at++)
        for (int k = 0; k < 6; k++) {
            for (int64_t i = 0; i < N; i++)
                permutation[i] = N - 1 - i;
            if (permutation[at] == wrong[k])
                continue;
            permutation[at] = wrong[k];
            status = libsolver_analyze(t->context, &view, &o, &analysis);
            refused(status, LIBSOLVER_INVALID, libsolver_context_message(t->context),
                    k < 5 ? "permutation[" : "twice");
            assert_null(analysis);
            factor = NULL;
            assert_int_equal(libsolver_factor_matrix(&view, &o, &factor), LIBSOLVER_INVALID);
            libsolver_factor_free(factor);
        }
    for (int64_t i = 0; i < N; i++)
        permutation[i] = (5 * i + 3) % N;
    assert_int_equal(libsolver_analyze(t->context, &view, &o, &analysis), LIBSOLVER_OK);
    memset(permutation, 255, sizeof permutation); /* it was copied */
    assert_int_equal(libsolver_factorize(analysis, &view, &factor), LIBSOLVER_OK);
    solves(t, factor);
    libsolver_permutation(analysis, used);
    int seen[N] = {0};
    for (int64_t i = 0; i < N; i++) {
        assert_in_range(used[i], 0, N - 1);
        assert_int_equal(seen[used[i]]++, 0);
    }
    libsolver_analysis_info info;
    libsolver_analysis_query(analysis, &info);
    assert_int_equal(info.ordering, LIBSOLVER_ORDERING_USER);
    libsolver_factor_free(factor);
    libsolver_analysis_free(analysis);
    works(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_on_bench(every_view_of_a_matrix_gives_the_same_bits),
        unit_test_on_bench(bad_matrices_are_refused_by_analyze),
        unit_test_on_bench(bad_values_are_refused_by_factorize_and_the_old_factor_stays),
        unit_test_on_bench(another_pattern_is_refused_by_factorize),
        unit_test_on_bench(permutations_are_checked_copied_and_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
