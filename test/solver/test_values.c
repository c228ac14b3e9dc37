/* test/solver/test_values.c: the caller's matrix in every view against a dense sum
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include "solver/input/input.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 40
#define ENTRIES 4000

static memory m;

/* A matrix view with memory of its own, and its entries. */
typedef struct view {
    libsolver_matrix a;
    int64_t entries;
    int32_t row[ENTRIES], column[ENTRIES];
    double value[ENTRIES], dense[MOST][MOST]; /* lower triangle of the sum */
    unsigned char present[MOST][MOST];
    int64_t pointers64[ENTRIES], indices64[ENTRIES];
    int32_t pointers32[ENTRIES], indices32[ENTRIES];
    double values[ENTRIES];
} view;

static void add(view *v, int32_t i, int32_t j, double value)
{
    assert_true(v->entries < ENTRIES);
    v->row[v->entries] = i;
    v->column[v->entries] = j;
    v->value[v->entries++] = value;
}

static int is_half_read(const libsolver_matrix *a)
{
    return a->storage == LIBSOLVER_LOWER_OF_FULL || a->storage == LIBSOLVER_UPPER_OF_FULL;
}

/* Integers, so that sums are exact in any order: up to three entries for a place, by columns of the
 * lower triangle or in a random order. */
static void random_entries(random_stream *r, view *v, int32_t n, double density)
{
    v->entries = 0;
    memset(v->dense, 0, sizeof v->dense);
    memset(v->present, 0, sizeof v->present);
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            if (random_below(r, 1000) >= density * 1000)
                continue;
            v->present[i][j] = 1;
            const double sum = random_below(r, 201) - 100;
            v->dense[i][j] = sum;
            const int is_full = v->a.storage == LIBSOLVER_FULL || is_half_read(&v->a),
                      is_either = v->a.storage == LIBSOLVER_EITHER,
                      sides = is_full && i != j ? 2 : 1;
            for (int side = 0; side < sides; side++) {
                const int upper = sides == 2 ? side : v->a.storage == LIBSOLVER_UPPER;
                const int ignored = i != j && is_half_read(&v->a) &&
                                    upper != (v->a.storage == LIBSOLVER_UPPER_OF_FULL);
                double rest = ignored ? NAN : sum;
                for (int more = random_below(r, 3); more > 0; more--) {
                    const double part = random_below(r, 201) - 100;
                    const int above = is_either ? random_below(r, 2) : upper;
                    add(v, above ? j : i, above ? i : j, part);
                    rest -= part;
                }
                const int above = is_either ? random_below(r, 2) : upper;
                add(v, above ? j : i, above ? i : j, rest);
            }
        }
    const int64_t shuffled = random_below(r, 2) ? v->entries : 0;
    for (int64_t e = 0; e < shuffled; e++) {
        const int64_t other = random_below(r, (int32_t)e + 1);
        const int32_t i = v->row[e], j = v->column[e];
        const double value = v->value[e];
        v->row[e] = v->row[other], v->column[e] = v->column[other], v->value[e] = v->value[other];
        v->row[other] = i, v->column[other] = j, v->value[other] = value;
    }
}

/* Writes the entries into the arrays that the view's fields ask for. */
static void fill_view(view *v, int32_t n)
{
    int64_t next = 0;
    v->a.n = n;
    v->a.nnz = v->entries;
    if (v->a.format == LIBSOLVER_TRIPLETS)
        for (; next < v->entries; next++) {
            v->pointers64[next] = v->column[next] + v->a.base;
            v->indices64[next] = v->row[next] + v->a.base;
            v->values[next] = v->value[next];
        }
    else {
        v->a.nnz = -77; /* not read */
        for (int32_t j = 0; j <= n; j++) {
            v->pointers64[j] = next + v->a.base;
            for (int64_t e = 0; e < v->entries; e++)
                if (v->column[e] == j) {
                    v->indices64[next] = v->row[e] + v->a.base;
                    v->values[next++] = v->value[e];
                }
        }
    }
    for (int64_t k = 0; k < ENTRIES; k++) {
        v->pointers32[k] = (int32_t)v->pointers64[k];
        v->indices32[k] = (int32_t)v->indices64[k];
    }
    v->a.pointers = v->a.pointer_type == LIBSOLVER_INT64 ? (void *)v->pointers64 : v->pointers32;
    v->a.indices = v->a.index_type == LIBSOLVER_INT64 ? (void *)v->indices64 : v->indices32;
    v->a.values = v->values;
}

/* One of the 96 kinds of views, with random entries. */
#define KINDS 96
static view *random_view(random_stream *r, int kind, int32_t n, double density)
{
    view *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->a.storage = (libsolver_storage)(kind % 6);
    v->a.format = (libsolver_format)(kind / 6 % 2);
    v->a.base = kind / 12 % 2;
    v->a.pointer_type = (libsolver_index)(kind / 24 % 2);
    v->a.index_type = (libsolver_index)(kind / 48 % 2);
    random_entries(r, v, n, density);
    fill_view(v, n);
    return v;
}

/* Reads pattern and values; the status of the first that fails. */
static libsolver_status read_view(const view *v, input *in, double **sum, message *why)
{
    *sum = NULL;
    TRY(input_read(&m, &v->a, 1, in, why));
    const int64_t nnz = in->a.start[in->a.n];
    *sum = memory_new(&m, nnz, sizeof(double));
    double *mirrored = in->full ? memory_new(&m, nnz, sizeof(double)) : NULL;
    const libsolver_status status = typed_values_d.sum(in, v->values, *sum, mirrored, why);
    memory_free(&m, mirrored);
    return status;
}

static void discard(input *in, double *sum)
{
    memory_free(&m, sum);
    input_free(&m, in);
}

static void every_view_is_the_dense_sum(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20 * KINDS; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = seed < 3 * KINDS ? (int32_t)(seed / KINDS) : random_below(&r, MOST + 1);
        view *v = random_view(&r, (int)(seed % KINDS), n, random_below(&r, 10) / 10.0);
        input in;
        double *sum;
        message why = {0};
        assert_int_equal(read_view(v, &in, &sum, &why), LIBSOLVER_OK);
        assert_null(pattern_check(&in.a));
        assert_int_equal(in.a.n, n);
        assert_int_equal(in.entries, v->entries);
        int negative = 0;
        for (int64_t e = 0; in.target && e < in.entries; e++)
            negative |= in.target[e] < 0;
        assert_int_equal(in.scattered, negative && !in.full);
        int64_t expected = 0;
        for (int32_t j = 0; j < n; j++) {
            for (int32_t i = j; i < n; i++)
                expected += v->present[i][j] || i == j;
            for (int64_t p = in.a.start[j]; p < in.a.start[j + 1]; p++) {
                assert_true(in.a.row[p] == j || v->present[in.a.row[p]][j]);
                assert_true(sum[p] == v->dense[in.a.row[p]][j]);
            }
        }
        assert_int_equal(in.a.start[n], expected);
        assert_int_equal(input_matches(&in, &v->a, &why), LIBSOLVER_OK);
        discard(&in, sum);
        free(v);
    }
}

static void swap_rows(int32_t *row)
{
    const int32_t first = row[0];
    row[0] = row[1];
    row[1] = first;
}

/* A view in order that is long enough for threads is read as by one; one in which two entries have
 * changed places, in whichever thread's columns, as well. */
static void threads_read_what_one_reads(void **state)
{
    (void)state;
    enum { n = 70000 };
    int32_t *start = malloc(sizeof(int32_t) * (n + 1u)), *row = malloc(sizeof(int32_t) * 3u * n);
    double *values = malloc(sizeof(double) * 3u * n), *sum = malloc(sizeof(double) * 3u * n);
    assert_true(start && row && values && sum);
    int32_t entries = 0;
    for (int32_t j = 0; j < n; j++) {
        start[j] = entries;
        for (int32_t i = j; i < n && i <= j + 301; i += i == j ? 1 : 300)
            row[entries++] = i;
    }
    start[n] = entries;
    assert_in_range(entries, 200001, 3 * n);
    for (int32_t e = 0; e < entries; e++)
        values[e] = e;
    for (int32_t j = 0; j < n; j += 7)
        values[start[j]] = 0;
    const libsolver_matrix a = {
        .n = n, .storage = LIBSOLVER_LOWER, .pointers = start, .indices = row, .values = values};
    for (int32_t column = -1; column < n - 400; column += 6997) {
        if (column >= 0)
            swap_rows(row + start[column] + 1);
        input one, more;
        message why = {0};
        assert_int_equal(input_read(&m, &a, 1, &one, &why), LIBSOLVER_OK);
        assert_int_equal(one.in_order, column < 0);
        for (int threads = 2; threads <= 7; threads++) {
            assert_int_equal(input_read(&m, &a, threads, &more, &why), LIBSOLVER_OK);
            assert_int_equal(more.in_order, one.in_order);
            assert_true(more.fingerprint == one.fingerprint);
            assert_memory_equal(more.a.start, one.a.start, sizeof(int64_t) * (n + 1u));
            assert_memory_equal(more.a.row, one.a.row, sizeof(int32_t) * (size_t)entries);
            assert_int_equal(typed_values_d.sum(&more, values, sum, NULL, &why), LIBSOLVER_OK);
            int32_t zeros = 0;
            for (int32_t j = 0; j < n; j++)
                zeros += sum[more.a.start[j]] == 0;
            assert_true(zeros > 0);
            assert_int_equal(typed_values_d.zeros(&more, sum), zeros);
            if (more.in_order) { /* values are checked where they are */
                double *const any = values + entries / threads, kept = *any;
                assert_int_equal(typed_values_d.sum(&more, values, NULL, NULL, &why), LIBSOLVER_OK);
                *any = NAN;
                assert_int_equal(typed_values_d.sum(&more, values, NULL, NULL, &why),
                                 LIBSOLVER_NONFINITE);
                *any = kept;
            }
            input_free(&m, &more);
        }
        input_free(&m, &one);
        if (column >= 0)
            swap_rows(row + start[column] + 1);
    }
    free(start);
    free(row);
    free(values);
    free(sum);
    assert_int_equal(m.in_use, 0);
}

static void other_indices_do_not_match(void **state)
{
    (void)state;
    int changed = 0;
    for (uint64_t seed = 0; seed < 10 * KINDS; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 2 + random_below(&r, 20);
        view *v = random_view(&r, (int)(seed % KINDS), n, 0.5);
        input in;
        message why = {0};
        assert_int_equal(input_read(&m, &v->a, 1, &in, &why), LIBSOLVER_OK);
        libsolver_matrix other = v->a;
        other.pointers = other.indices = NULL;
        assert_int_equal(input_matches(&in, &other, &why), LIBSOLVER_OK);
        other.n++;
        assert_int_equal(input_matches(&in, &other, &why), LIBSOLVER_PATTERN_MISMATCH);
        if (v->entries > 0) {
            /* one row index, then the same index with another base, width and place of an entry */
            const int64_t e = random_below(&r, (int32_t)v->entries);
            const int64_t before = v->indices64[e], now = v->a.base + random_below(&r, n);
            v->indices64[e] = now;
            v->indices32[e] = (int32_t)now;
            assert_int_equal(input_matches(&in, &v->a, &why),
                             before == now ? LIBSOLVER_OK : LIBSOLVER_PATTERN_MISMATCH);
            changed += before != now;
            v->indices64[e] = before;
            v->indices32[e] = (int32_t)before;
            v->a.index_type = (libsolver_index)!v->a.index_type;
            v->a.pointer_type = (libsolver_index)!v->a.pointer_type;
            v->a.base = !v->a.base;
            fill_view(v, n);
            assert_int_equal(input_matches(&in, &v->a, &why), LIBSOLVER_OK);
            v->entries--;
            fill_view(v, n);
            assert_int_equal(input_matches(&in, &v->a, &why), LIBSOLVER_PATTERN_MISMATCH);
        }
        input_free(&m, &in);
        free(v);
    }
    assert_true(changed > 100);
}

static void unequal_mirror_images_are_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int kind = 2 + 6 * random_below(&r, KINDS / 6); /* FULL */
        const int32_t n = 2 + random_below(&r, 20);
        view *v = random_view(&r, kind, n, 0.3);
        const int32_t j = random_below(&r, n - 1), i = j + 1 + random_below(&r, n - 1 - j);
        const int lower = random_below(&r, 2), present = v->present[i][j];
        add(v, lower ? i : j, lower ? j : i, 1);
        fill_view(v, n);
        input in;
        double *sum;
        message why = {0};
        assert_int_equal(read_view(v, &in, &sum, &why), LIBSOLVER_INVALID);
        assert_non_null(strstr(why.text, present ? "differ" : "only one is stored"));
        discard(&in, sum);
        free(v);
    }
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    int refused = 0;
    for (uint64_t seed = 0; seed < 3 * KINDS; seed++) {
        random_stream r = random_seeded(seed);
        view *v = random_view(&r, (int)(seed % KINDS), 8, 0.5);
        input in;
        double *sum;
        message why = {0};
        const int32_t e = random_below(&r, (int32_t)v->entries); /* as v->values has them */
        const int is_ignored = isnan(v->values[e]);
        v->values[e] = bad[seed % 3];
        /* parts of what is ignored are numbers, and may have been chosen */
        const libsolver_status status = read_view(v, &in, &sum, &why);
        assert_true(status == LIBSOLVER_NONFINITE ||
                    (status == LIBSOLVER_OK && is_half_read(&v->a)));
        assert_false(is_ignored && status != LIBSOLVER_OK);
        refused += status == LIBSOLVER_NONFINITE && is_half_read(&v->a);
        discard(&in, sum);
        free(v);
    }
    assert_true(refused > KINDS / 3);
}

static void indices_out_of_place_are_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10 * KINDS; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 2 + random_below(&r, 10);
        view *v = random_view(&r, (int)(seed % KINDS), n, 0.5);
        const int lower = v->a.storage == LIBSOLVER_LOWER;
        input in;
        message why = {0};
        add(v, lower ? 0 : n - 1, lower ? n - 1 : 0, 1); /* the wrong triangle */
        fill_view(v, n);
        if (v->a.storage == LIBSOLVER_LOWER || v->a.storage == LIBSOLVER_UPPER) {
            assert_int_equal(input_read(&m, &v->a, 1, &in, &why), LIBSOLVER_INVALID);
            assert_non_null(strstr(why.text, "triangle"));
        }
        v->entries--;
        const int32_t i = seed % 2 ? -1 : n;
        add(v, i, v->a.storage == LIBSOLVER_UPPER ? n - 1 : 0, 1); /* a row outside */
        fill_view(v, n);
        assert_int_equal(input_read(&m, &v->a, 1, &in, &why), LIBSOLVER_INVALID);
        assert_non_null(strstr(why.text, "outside"));
        v->entries--;
        if (v->a.format == LIBSOLVER_TRIPLETS) {
            add(v, 0, i, 1); /* a column outside */
            fill_view(v, n);
            assert_int_equal(input_read(&m, &v->a, 1, &in, &why), LIBSOLVER_INVALID);
            assert_non_null(strstr(why.text, "outside"));
        } else { /* pointers that fall, or do not begin at the base */
            fill_view(v, n);
            const int32_t j = random_below(&r, n + 1);
            v->pointers64[j] = v->pointers32[j] = j == 0 ? v->a.base + 1 : v->pointers32[j - 1] - 1;
            assert_int_equal(input_read(&m, &v->a, 1, &in, &why), LIBSOLVER_INVALID);
            assert_non_null(strstr(why.text, "pointers["));
        }
        free(v);
    }
}

static void fields_without_a_legal_value_are_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    view *v = random_view(&r, 0, 5, 0.5);
    const libsolver_matrix good = v->a;
    enum { BAD = 13 };
    libsolver_matrix bad[BAD];
    for (int i = 0; i < BAD; i++)
        bad[i] = good;
    bad[0].n = -1;
    bad[1].n = INT32_MAX;
    bad[2].type = (libsolver_type)4;
    bad[3].symmetry = (libsolver_symmetry)2;
    bad[4].storage = (libsolver_storage)6;
    bad[5].format = (libsolver_format)-1;
    bad[6].pointer_type = (libsolver_index)2;
    bad[7].index_type = (libsolver_index)2;
    bad[8].place = (libsolver_place)2;
    bad[9].base = 2;
    bad[10].pointers = NULL;
    bad[11].indices = NULL;
    bad[12].format = LIBSOLVER_TRIPLETS;
    bad[12].nnz = -1;
    for (int i = 0; i < BAD; i++) {
        input in;
        message why = {0};
        assert_int_equal(input_read(&m, &bad[i], 1, &in, &why), LIBSOLVER_INVALID);
        assert_true(why.text[0] != 0);
        assert_int_equal(input_read(&m, &bad[i], 1, &in, NULL), LIBSOLVER_INVALID);
    }
    free(v);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int64_t most = 0;
        for (uint64_t seed = 0; seed < 8; seed++) {
            random_stream r = random_seeded(seed);
            view *v = random_view(&r, kind, 20, 0.5);
            libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
            int64_t k = 0;
            for (; status != LIBSOLVER_OK; k++) {
                assert_in_range(k, 0, 100);
                rationed ration;
                input in;
                message why = {0};
                memory_rationed(&m, &ration, k);
                status = input_read(&m, &v->a, 1, &in, &why);
                if (status == LIBSOLVER_OK)
                    input_free(&m, &in);
                else {
                    assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
                    assert_true(why.text[0] != 0);
                }
                assert_int_equal(m.in_use, 0);
            }
            assert_true(k > 3);
            most = k > most ? k : most;
            free(v);
        }
        assert_true(most > (kind == 2 ? 6 : 5)); /* where entries have to be sorted */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(every_view_is_the_dense_sum, &m),
        unit_test_of_memory(threads_read_what_one_reads, &m),
        unit_test_of_memory(other_indices_do_not_match, &m),
        unit_test_of_memory(unequal_mirror_images_are_refused, &m),
        unit_test_of_memory(values_that_are_not_finite_are_refused, &m),
        unit_test_of_memory(indices_out_of_place_are_refused, &m),
        unit_test_of_memory(fields_without_a_legal_value_are_refused, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
