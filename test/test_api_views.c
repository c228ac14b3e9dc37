/* test/test_api_views.c: every way of passing matrices, vectors and permutations, right and wrong; after a
 * refused call the objects work as before
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 12
#define COLUMNS 3
#define ROOM (4 * N * N) /* entries of a view: both triangles, each entry in two parts */

/* A system that is solved, and its objects. */
typedef struct bench {
    sparse a;
    double exact[N * COLUMNS], b[N * COLUMNS], x[N * COLUMNS];
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
} bench;

static sparse indefinite(void)
{
    random_stream r = random_seeded(7);
    double a[N * N] = {0};
    for (int j = 0; j < N; j++) {
        a[j + j * N] = j % 3 == 1 ? -4 : 5;
        for (int i = j + 1; i < N; i++)
            if (random_below(&r, 3) == 0)
                a[i + j * N] = ldexp((double)(1 + random_below(&r, 15)), -4); /* halves add up exactly */
    }
    return sparse_of_dense(N, a);
}

static int set_up(void **state)
{
    bench *t = calloc(1, sizeof *t);
    t->a = indefinite();
    for (int i = 0; i < N * COLUMNS; i++)
        t->exact[i] = 1 + i % 5;
    sparse_multiply(&t->a, COLUMNS, t->exact, t->b);
    libsolver_options_default(&t->options);
    const libsolver_matrix view = sparse_view(&t->a);
    *state = t;
    return libsolver_context_create(&t->options, &t->context) ||
           libsolver_analyze(t->context, &view, &t->options, &t->analysis) ||
           libsolver_factorize(t->analysis, &view, &t->factor);
}

static int tear_down(void **state)
{
    bench *t = *state;
    libsolver_factor_free(t->factor);
    libsolver_analysis_free(t->analysis);
    libsolver_context_free(t->context);
    sparse_free(&t->a);
    free(t);
    return 0;
}

/* Solves with a factor of t->a into t->x. */
static void solves(bench *t, libsolver_factor *factor)
{
    const libsolver_vectors b = block_view(t->b, N, COLUMNS), x = block_view(t->x, N, COLUMNS);
    memset(t->x, 255, sizeof t->x);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t->a, COLUMNS, t->x, t->b) <= 1e-14);
}

/* Every phase works on the objects of t. */
static void works(bench *t)
{
    const libsolver_matrix view = sparse_view(&t->a);
    libsolver_analysis *analysis = NULL;
    libsolver_factor *factor = NULL;
    solves(t, t->factor);
    assert_int_equal(libsolver_refactorize(t->factor, &view), LIBSOLVER_OK);
    solves(t, t->factor);
    assert_int_equal(libsolver_factorize(t->analysis, &view, &factor), LIBSOLVER_OK);
    solves(t, factor);
    libsolver_factor_free(factor);
    assert_int_equal(libsolver_analyze(t->context, &view, &t->options, &analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(analysis, &view, &factor), LIBSOLVER_OK);
    solves(t, factor);
    libsolver_factor_free(factor);
    libsolver_analysis_free(analysis);
}

/* A status, and a message that contains the word and ends with the place where it arose. */
static void refused(libsolver_status status, libsolver_status expected, const char *message, const char *word)
{
    if (status != expected)
        fail_msg("%s, expected %s: %s", libsolver_status_name(status), libsolver_status_name(expected),
                 message);
    if (!strstr(message, word) || !strstr(message, ".c:"))
        fail_msg("no '%s' or no place in the message '%s'", word, message);
}

/* ---- matrices ----------------------------------------------------------------------------------------- */

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
    static const int32_t falling[] = {0, 2, 1, 5}, late[] = {1, 2, 4, 5}, negative[] = {-1, 2, 4, 5};
    static const int32_t outside[] = {0, 3, 1, 2, 2}, below_0[] = {0, -1, 1, 2, 2}, above[] = {0, 2, 0, 2, 2};
    static const int64_t far_down[] = {INT64_MIN, 2, 1, 2, 2}, far_up[] = {0, INT64_MAX, 1, 2, 2};
    static const int64_t far_start[] = {INT64_MIN, 2, 4, 5}, far_end[] = {0, 2, 4, INT64_MAX};
    static const int32_t triplet_columns[] = {0, 0, 1, 1, 3}, triplets_ok[] = {0, 0, 1, 1, 2};
    BAD(LIBSOLVER_INVALID, "order -1", v.n = -1);
    BAD(LIBSOLVER_INVALID, "order", v.n = INT64_MAX);
    BAD(LIBSOLVER_INVALID, "order 2147483647", v.n = INT32_MAX);
    BAD(LIBSOLVER_INVALID, "base 2", v.base = 2);
    BAD(LIBSOLVER_INVALID, "base -1", v.base = -1);
    BAD(LIBSOLVER_INVALID, "pointers[0] is 0", v.base = 1);
    BAD(LIBSOLVER_INVALID, "no legal value", v.storage = (libsolver_storage)3);
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
    BAD(LIBSOLVER_INVALID, "entry 0", v.indices = far_down; v.index_type = LIBSOLVER_INT64; v.base = 1;
        v.pointers = columns3_from_1);
    BAD(LIBSOLVER_INVALID, "entry 0 has row 0", v.base = 1; v.pointers = columns3_from_1);
    BAD(LIBSOLVER_INVALID, "entry 2 (row 0, column 1) is not in the lower", v.indices = above);
    BAD(LIBSOLVER_INVALID, "entry 1 (row 2, column 0) is not in the upper", v.storage = LIBSOLVER_UPPER);
    BAD(LIBSOLVER_INVALID, "not symmetric", v.storage = LIBSOLVER_FULL);
    BAD(LIBSOLVER_INVALID, "-1 triplets", v.format = LIBSOLVER_TRIPLETS; v.nnz = -1);
    BAD(LIBSOLVER_INVALID, "without indices", v.format = LIBSOLVER_TRIPLETS; v.nnz = 5; v.pointers = NULL);
    BAD(LIBSOLVER_INVALID, "without indices", v.format = LIBSOLVER_TRIPLETS; v.nnz = 5; v.indices = NULL);
    BAD(LIBSOLVER_INVALID, "entry 4 has row 2 and column 3", v.format = LIBSOLVER_TRIPLETS; v.nnz = 5;
        v.pointers = triplet_columns);
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
        v->view = (libsolver_matrix){.storage = (libsolver_storage)storage, .index_type = LIBSOLVER_INT64};
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
                    refused(status, LIBSOLVER_INVALID, libsolver_factor_message(factor), "not symmetric");
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
    sparse other = indefinite();
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

/* ---- vectors ------------------------------------------------------------------------------------------ */

#define WIDE 40 /* largest leading dimension */

/* The COLUMNS vectors as the view says, NaN between them. */
static void fill_block(const libsolver_vectors *v, const double *from)
{
    double *to = v->values;
    for (int k = 0; k < WIDE * WIDE; k++)
        to[k] = NAN;
    for (int64_t j = 0; j < v->columns; j++)
        for (int64_t i = 0; i < N; i++)
            to[v->layout == LIBSOLVER_COLUMN_MAJOR ? i + j * v->ld : i * v->ld + j] = from[i + j * N];
}

/* The block is as expected, bit by bit, and what lies between its entries is untouched. */
static void check_block(const libsolver_vectors *v, const double *expected)
{
    double block[WIDE * WIDE];
    libsolver_vectors copy = *v;
    copy.values = block;
    fill_block(&copy, expected);
    for (int k = 0; k < WIDE * WIDE; k++) {
        const double found = ((const double *)v->values)[k];
        if (isnan(block[k]) ? !isnan(found) : found != block[k])
            fail_msg("place %d is %.17g, expected %.17g (layout %d, ld %d)", k, found, block[k], v->layout,
                     (int)v->ld);
    }
}

static void every_view_of_vectors_gives_the_same_bits(void **state)
{
    bench *t = *state;
    double b_block[WIDE * WIDE], x_block[WIDE * WIDE], plain[N * COLUMNS], parts[3][N * COLUMNS];
    libsolver_workspace *w;
    assert_int_equal(libsolver_workspace_create(t->factor, COLUMNS, &w), LIBSOLVER_OK);
    solves(t, t->factor);
    const libsolver_vectors from = block_view(t->b, N, COLUMNS), to = block_view(plain, N, COLUMNS);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &from, &to), LIBSOLVER_OK);
    for (int k = 0; k < 3; k++) {
        const libsolver_vectors before = block_view(k == 0 ? t->b : parts[k - 1], N, COLUMNS);
        const libsolver_vectors after = block_view(parts[k], N, COLUMNS);
        const libsolver_part part = (libsolver_part)(LIBSOLVER_PART_L + k);
        assert_int_equal(libsolver_solve_plain(t->factor, part, w, &before, &after), LIBSOLVER_OK);
    }
    assert_memory_equal(parts[2], plain, sizeof plain); /* L, D and LT are ALL */
    for (int kind = 0; kind < 2 * 2 * 3 * 3; kind++) {
        libsolver_vectors b = block_view(b_block, N, COLUMNS), x = block_view(x_block, N, COLUMNS);
        b.layout = (libsolver_layout)(kind % 2);
        x.layout = (libsolver_layout)(kind / 2 % 2);
        b.ld = (b.layout == LIBSOLVER_COLUMN_MAJOR ? N : COLUMNS) + kind / 4 % 3;
        x.ld = (x.layout == LIBSOLVER_COLUMN_MAJOR ? N : COLUMNS) + kind / 12 % 3;
        double error[COLUMNS];
        fill_block(&b, t->b);
        fill_block(&x, t->exact);
        assert_int_equal(libsolver_solve(t->factor, &b, &x), LIBSOLVER_OK);
        check_block(&b, t->b);
        check_block(&x, t->x);
        assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x), LIBSOLVER_OK);
        check_block(&x, plain);
        fill_block(&x, t->exact);
        assert_int_equal(libsolver_refine(t->factor, w, &b, &x, error), LIBSOLVER_OK);
        check_block(&x, t->exact); /* it was right to the last bit: the entries are small integers */
        for (int k = 0; k < COLUMNS; k++)
            assert_true(error[k] == 0);
        assert_int_equal(libsolver_solve(t->factor, &b, &b), LIBSOLVER_OK); /* x == b */
        check_block(&b, t->x);
        fill_block(&b, t->b);
        assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, &b, &b), LIBSOLVER_OK);
        for (int k = 0; k < 3; k++) {
            fill_block(&b, k == 0 ? t->b : parts[k - 1]);
            const libsolver_part part = (libsolver_part)(LIBSOLVER_PART_L + k);
            assert_int_equal(libsolver_solve_plain(t->factor, part, w, &b, &x), LIBSOLVER_OK);
            check_block(&x, parts[k]);
        }
    }
    libsolver_workspace_free(w);
}

static void bad_vectors_are_refused(void **state)
{
    bench *t = *state;
    libsolver_workspace *w;
    double out[N * COLUMNS] = {0};
    const libsolver_vectors good = block_view(t->b, N, COLUMNS);
    assert_int_equal(libsolver_workspace_create(t->factor, 2, &w), LIBSOLVER_OK);
    for (int k = 0; k < 10; k++)
        for (int of_x = 0; of_x < 2; of_x++) {
            libsolver_vectors b = good, x = block_view(out, N, COLUMNS), *bad = of_x ? &x : &b;
            libsolver_status expected = LIBSOLVER_INVALID;
            const char *word = " ";
            switch (k) {
            case 0:
                bad->rows = N - 1;
                word = of_x ? "x is 11 x 3, expected 12 x 3" : "b is 11 x 3";
                break;
            case 1:
                bad->rows = N + 1;
                break;
            case 2:
                bad->columns = COLUMNS - 1;
                break;
            case 3:
                bad->columns = -1;
                break;
            case 4:
                bad->ld = N - 1;
                word = "leading dimension 11";
                break;
            case 5:
                bad->layout = LIBSOLVER_ROW_MAJOR;
                bad->ld = COLUMNS - 1;
                word = "leading dimension 2";
                break;
            case 6:
                bad->layout = (libsolver_layout)2;
                word = "legal";
                break;
            case 7:
                bad->type = LIBSOLVER_S;
                word = "type";
                break;
            case 8:
                bad->values = NULL;
                word = "no values";
                break;
            default:
                bad->place = (libsolver_place)-1;
                word = "legal";
            }
            refused(libsolver_solve(t->factor, &b, &x), expected, libsolver_factor_message(t->factor), word);
            solves(t, t->factor);
            assert_string_equal(libsolver_factor_message(t->factor), "");
            refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x), expected,
                    libsolver_factor_message(t->factor), word);
            solves(t, t->factor);
            refused(libsolver_refine(t->factor, w, &b, &x, NULL), expected,
                    libsolver_factor_message(t->factor), word);
        }
    for (int64_t at = 0; at < N * COLUMNS; at++) {
        const libsolver_vectors x = block_view(out, N, COLUMNS);
        const double kept = t->b[at];
        t->b[at] = at % 2 ? NAN : -INFINITY;
        refused(libsolver_solve(t->factor, &good, &x), LIBSOLVER_NONFINITE,
                libsolver_factor_message(t->factor), "is not finite");
        refused(libsolver_refine(t->factor, w, &good, &x, NULL), LIBSOLVER_NONFINITE,
                libsolver_factor_message(t->factor), "is not finite");
        t->b[at] = kept;
    }
    for (int k = 0; k < N * COLUMNS; k++) /* nothing was written */
        assert_true(out[k] == 0);
    out[2] = NAN; /* an x that cannot be refined is said to be wrong */
    const libsolver_vectors x = block_view(out, N, COLUMNS);
    double error[COLUMNS];
    assert_int_equal(libsolver_refine(t->factor, w, &good, &x, error), LIBSOLVER_INACCURATE);
    assert_false(error[0] <= 1);
    libsolver_vectors none = block_view(NULL, N, 0);
    assert_int_equal(libsolver_solve(t->factor, &none, &none), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &none, &none), LIBSOLVER_OK);
    assert_int_equal(libsolver_refine(t->factor, w, &none, &none, NULL), LIBSOLVER_OK);
    libsolver_workspace_free(w);
    works(t);
}

/* ---- handles and options ------------------------------------------------------------------------------ */

static void null_arguments_are_refused(void **state)
{
    bench *t = *state;
    const libsolver_matrix a = sparse_view(&t->a);
    const libsolver_vectors v = block_view(t->b, N, COLUMNS);
    libsolver_analysis *analysis = (libsolver_analysis *)t;
    libsolver_factor *factor = (libsolver_factor *)t;
    libsolver_workspace *w = (libsolver_workspace *)t;
    libsolver_inertia_counts counts;
    int64_t entries;
    double d[N];
    const char *of_context = "", *of_factor = "";

    assert_int_equal(libsolver_context_create(NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_analyze(NULL, &a, NULL, &analysis), LIBSOLVER_INVALID);
    assert_null(analysis);
    libsolver_status status = libsolver_analyze(t->context, NULL, NULL, &analysis);
    of_context = libsolver_context_message(t->context);
    refused(status, LIBSOLVER_INVALID, of_context, "NULL");
    assert_int_equal(libsolver_analyze(t->context, &a, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_factorize(NULL, &a, &factor), LIBSOLVER_INVALID);
    assert_null(factor);
    refused(libsolver_factorize(t->analysis, NULL, &factor), LIBSOLVER_INVALID, of_context, "NULL");
    assert_int_equal(libsolver_factorize(t->analysis, &a, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize(NULL, &a), LIBSOLVER_INVALID);
    of_factor = libsolver_factor_message(t->factor);
    refused(libsolver_refactorize(t->factor, NULL), LIBSOLVER_INVALID, of_factor, "NULL");
    assert_int_equal(libsolver_factor_matrix(NULL, NULL, &factor), LIBSOLVER_INVALID);
    refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_factor_message(factor), "NULL");
    libsolver_factor_free(factor);
    assert_int_equal(libsolver_factor_matrix(&a, NULL, NULL), LIBSOLVER_INVALID);
    for (int k = 0; k < 2; k++) {
        const libsolver_vectors *b = k ? &v : NULL, *x = k ? NULL : &v;
        solves(t, t->factor);
        refused(libsolver_solve(t->factor, b, x), LIBSOLVER_INVALID, of_factor, "NULL");
        solves(t, t->factor);
        refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, b, x), LIBSOLVER_INVALID,
                of_factor, "NULL");
        solves(t, t->factor);
        refused(libsolver_refine(t->factor, NULL, b, x, NULL), LIBSOLVER_INVALID, of_factor, "NULL");
    }
    assert_int_equal(libsolver_solve(NULL, &v, &v), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_plain(NULL, LIBSOLVER_PART_ALL, NULL, &v, &v), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refine(NULL, NULL, &v, &v, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(NULL, 1, &w), LIBSOLVER_INVALID);
    assert_null(w);
    assert_int_equal(libsolver_workspace_create(t->factor, 1, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_bytes(NULL, 1), 0);
    assert_int_equal(libsolver_inertia(NULL, &counts), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_inertia(t->factor, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(NULL, &entries, NULL, NULL, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(t->factor, NULL, NULL, NULL, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(NULL, d, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(t->factor, NULL, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(t->factor, d, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(NULL, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(t->factor, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_devices(0, NULL, NULL), LIBSOLVER_INVALID);
    assert_string_equal(libsolver_context_message(NULL), "");
    assert_string_equal(libsolver_factor_message(NULL), "");
    libsolver_context_free(NULL);
    libsolver_analysis_free(NULL);
    libsolver_factor_free(NULL);
    libsolver_workspace_free(NULL);
    works(t);
}

static void handles_in_the_wrong_order_are_refused(void **state)
{
    bench *t = *state;
    sparse spd = sparse_grid(4, 3, 4);
    libsolver_matrix view = sparse_view(&spd);
    libsolver_options o = t->options;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *w, *early, *none = (libsolver_workspace *)t;
    libsolver_inertia_counts counts;
    libsolver_factor_info info;
    libsolver_solve_info solved;
    double *negative = calloc((size_t)spd.pointers[N], sizeof(double)), out[N];
    int64_t entries;
    for (int64_t p = 0; p < spd.pointers[N]; p++)
        negative[p] = -spd.values[p];
    o.kind = LIBSOLVER_KIND_SPD;
    assert_int_equal(libsolver_analyze(t->context, &view, &o, &analysis), LIBSOLVER_OK);

    view.values = negative; /* an object without a factor */
    assert_int_equal(libsolver_factorize(analysis, &view, &factor), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_non_null(factor);
    const libsolver_vectors b = block_view(t->b, N, 1), x = block_view(out, N, 1);
    const char *message = libsolver_factor_message(factor);
    refused(libsolver_solve(factor, &b, &x), LIBSOLVER_INVALID, message, "no factor");
    refused(libsolver_solve_plain(factor, LIBSOLVER_PART_ALL, NULL, &b, &x), LIBSOLVER_INVALID, message,
            "no factor");
    refused(libsolver_refine(factor, NULL, &b, &x, NULL), LIBSOLVER_INVALID, message, "no factor");
    assert_int_equal(libsolver_inertia(factor, &counts), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(factor, &entries, NULL, NULL, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(factor, out, out), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(factor, out), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_bytes(factor, 1), 0);
    assert_int_equal(libsolver_workspace_create(factor, 1, &early), LIBSOLVER_OK); /* it grows later */
    libsolver_solve_query(factor, NULL, &solved);
    assert_true(isnan(solved.backward_error));
    libsolver_info(factor, &info);
    assert_int_equal(info.status, LIBSOLVER_NOT_POSITIVE_DEFINITE);

    view.values = spd.values; /* the same object once it has one */
    assert_int_equal(libsolver_refactorize(factor, &view), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&spd, 1, out, t->b) <= 1e-14);
    assert_int_equal(libsolver_solve_plain(factor, LIBSOLVER_PART_ALL, early, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&spd, 1, out, t->b) <= 1e-12);
    libsolver_workspace_free(early);
    for (int64_t columns = -1; columns < 1; columns++)
        assert_int_equal(libsolver_workspace_create(factor, columns, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(factor, INT64_MAX, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(factor, 1, &w), LIBSOLVER_OK);
    refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x), LIBSOLVER_INVALID,
            libsolver_factor_message(t->factor), "another factor");
    assert_int_equal(libsolver_solve_plain(factor, (libsolver_part)4, w, &b, &x), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_plain(factor, (libsolver_part)-1, w, &b, &x), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refine(factor, w, &b, &b, NULL), LIBSOLVER_INVALID); /* x must not be b */
    libsolver_workspace_free(w);

    view.values = negative; /* and when it has lost it again */
    assert_int_equal(libsolver_refactorize(factor, &view), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_INVALID);
    libsolver_factor_free(factor);
    libsolver_analysis_free(analysis);
    free(negative);
    sparse_free(&spd);
    works(t);
}

static void bad_options_are_refused(void **state)
{
    bench *t = *state;
    const libsolver_matrix view = sparse_view(&t->a);
    ledger l;
    for (int k = 0; k < 20; k++) {
        libsolver_options o, clean;
        ledger_open(&l, &o);
        clean = o;
        switch (k) {
        case 0:
            o.backend = (libsolver_backend)3;
            break;
        case 1:
            o.kind = (libsolver_kind)-1;
            break;
        case 2:
            o.ordering = (libsolver_ordering)6;
            break;
        case 3:
            o.matching = (libsolver_choice)3;
            break;
        case 4:
            o.scaling = (libsolver_choice)3;
            break;
        case 5:
            o.purpose = (libsolver_purpose)3;
            break;
        case 6:
            o.keep = (libsolver_choice)-1;
            break;
        case 7:
            o.threads = -1;
            break;
        case 8:
            o.allocate = NULL;
            break;
        case 9:
            o.release = NULL;
            break;
        case 10:
            o.memory_limit = -1;
            break;
        case 11:
            o.pivot_threshold = 0;
            break;
        case 12:
            o.pivot_threshold = 0.51;
            break;
        case 13:
            o.pivot_threshold = NAN;
            break;
        case 14:
            o.refine_steps = -1;
            break;
        case 15:
            o.tolerance = -1e-300;
            break;
        case 16:
            o.tolerance = NAN;
            break;
        case 17:
            o.tolerance = 1;
            break;
        case 18:
            o.reserved[0] = 1;
            break;
        default:
            o.reserved[15] = -1;
        }
        libsolver_context *context = (libsolver_context *)t;
        assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_INVALID);
        assert_null(context);
        libsolver_analysis *analysis = (libsolver_analysis *)t;
        const libsolver_status status = libsolver_analyze(t->context, &view, &o, &analysis);
        refused(status, LIBSOLVER_INVALID, libsolver_context_message(t->context), " ");
        assert_null(analysis);
        libsolver_factor *factor = NULL;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &factor), LIBSOLVER_INVALID);
        assert_non_null(factor); /* so that its message can be read */
        refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_factor_message(factor), " ");
        libsolver_factor_free(factor);
        assert_int_equal(l.live, 0);
        assert_int_equal(libsolver_context_create(&clean, &context), LIBSOLVER_OK);
        libsolver_context_free(context);
        assert_int_equal(l.live, 0);
    }
    works(t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_view_of_a_matrix_gives_the_same_bits),
        TEST(bad_matrices_are_refused_by_analyze),
        TEST(bad_values_are_refused_by_factorize_and_the_old_factor_stays),
        TEST(another_pattern_is_refused_by_factorize),
        TEST(permutations_are_checked_copied_and_used),
        TEST(every_view_of_vectors_gives_the_same_bits),
        TEST(bad_vectors_are_refused),
        TEST(null_arguments_are_refused),
        TEST(handles_in_the_wrong_order_are_refused),
        TEST(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
