/* test/api/test_types_schur.c: Schur complements in one precision (-DPREC_x), beside those of plain
 * loops in long double
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_schur.h"

static void complements_and_half_solves(void **state)
{
    (void)state;
    int checked = 0, cholesky = 0, pairs = 0;
    for (uint64_t seed = 0; seed < 150; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            parted *t = room(1, sizeof *t);
            const int64_t n = 1 + random_below(&r, seed % 10 ? 40 : 100);
            t->s = dense_random(&r, hermitian, n, seed % 2 ? 0.1 : 0.5,
                                seed % 3 == 0 ? (double)(2 * n) : 0);
            for (int64_t i = 0; i < n && seed % 3 == 1; i++)
                t->s.a[i][i] = i % 3 ? 0 : t->s.a[i][i];
            part(t, &r, 1 + random_below(&r, seed % 4 ? (int32_t)(n + 3) / 4 : (int32_t)n));
            for (int64_t k = 0; k < t->size && seed % 3 == 0 && seed % 2; k++)
                t->s.a[t->row[k]][t->row[k]] = 0; /* A11 is definite, A is not */
            work_out(t);
            if (t->condition * n * EPS < 0.001) {
                libsolver_options o;
                libsolver_factor *f = NULL;
                libsolver_factor_info info;
                int64_t permutation[MOST];
                libsolver_options_default(&o);
                o.ordering = (libsolver_ordering)(seed % 6);
                o.ordering =
                    o.ordering == LIBSOLVER_ORDERING_METIS ? LIBSOLVER_ORDERING_ND : o.ordering;
                o.threads = 1;
                for (int64_t i = 0; i < n; i++)
                    permutation[i] = n - 1 - i;
                o.permutation = permutation;
                if (seed % 3 == 0 && (hermitian || !SCALAR_COMPLEX))
                    o.kind = LIBSOLVER_KIND_SPD;
                const libsolver_status status = factorize(t, &o, &f);
                if (status != LIBSOLVER_OK)
                    fail_msg("seed %d, n %d, size %d: %s", (int)seed, (int)n, (int)t->size,
                             libsolver_factor_message(f));
                libsolver_info(f, &info);
                cholesky += info.kind == LIBSOLVER_KIND_SPD;
                pairs += info.two_by_two > 0;
                check_part(t, f, &r);
                libsolver_factor_free(f);
                checked++;
            }
            free(t->complement);
            free(t);
        }
    print_message("%d systems, %d by Cholesky, %d with pairs\n", checked, cholesky, pairs);
    assert_true(checked > 90 && pairs > 20 && (cholesky > 40 || SCALAR_COMPLEX == 0));
}

/* A pivot that is small beside what it is to divide is none the worse for that: A = [d 1 0; 1 0 1;
 * 0 1 0], row 0 eliminated. */
static void entries_of_the_set_make_no_zero_pivots(void **state)
{
    (void)state;
    const real small = (real)ldexp(1, EPS < 1e-10 ? -70 : -35);
    const int64_t set[2] = {1, 2};
    for (int matching = LIBSOLVER_AUTO; matching <= LIBSOLVER_OFF; matching++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            const dense s = {.hermitian = hermitian, .n = 3, .a = {{small}, {1, 0}, {0, 1, 0}}};
            triplets *t = room(1, sizeof *t);
            libsolver_options o;
            libsolver_factor *f = NULL;
            scalar c[4];
            const libsolver_vectors v = dense_block(c, 2, 2);
            libsolver_options_default(&o);
            o.kind = LIBSOLVER_KIND_INDEFINITE;
            o.matching = (libsolver_choice)matching;
            o.schur_rows = set;
            o.schur_size = 2;
            dense_triplets(&s, NULL, t);
            const libsolver_status status = libsolver_factor_matrix(&t->view, &o, &f);
            if (status != LIBSOLVER_OK)
                fail_msg("matching %d, hermitian %d: %s", matching, hermitian,
                         libsolver_factor_message(f));
            assert_int_equal(libsolver_schur_complement(f, &v), LIBSOLVER_OK);
            assert_true(c[0] == -1 / small && c[1] == 1 && c[2] == 1 && c[3] == 0);
            libsolver_factor_free(f);
            free(t);
        }
}

/* A set of all rows: S is A, every bit of it.  New values and shifts reach it. */
static void the_complement_in_all_rows_is_the_matrix(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(4);
        parted *t = room(1, sizeof *t);
        t->s = dense_random(&r, hermitian, 23, 0.4, 0);
        part(t, &r, 23);
        libsolver_options o;
        libsolver_factor *f = NULL;
        scalar s[23 * 23], shift[23];
        const libsolver_vectors sv = dense_block(s, 23, 23), shifts = dense_block(shift, 23, 1);
        libsolver_options_default(&o);
        assert_int_equal(factorize(t, &o, &f), LIBSOLVER_OK);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_OK);
            for (int j = 0; j < 23; j++)
                for (int i = 0; i < 23; i++)
                    assert_true(s[i + j * 23] == (scalar)dense_at(&t->s, t->row[i], t->row[j]));
            for (int i = 0; i < 23; i++) {
                shift[i] = (scalar)(1 + i % 3);
                t->s.a[i][i] += shift[i];
            }
            assert_int_equal(libsolver_refactorize_shifted(f, NULL, &shifts), LIBSOLVER_OK);
        }
        libsolver_factor_free(f);
        free(t);
    }
}

/* Columns that wait for a hub which is in the set: they must be eliminated before it, with one
 * another. */
static void columns_delayed_to_the_set_are_eliminated(void **state)
{
    (void)state;
    int delayed = 0;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            parted *t = room(1, sizeof *t);
            const int64_t size = 40;
            t->s = dense_random(&r, hermitian, 4 * size, 1, 0);
            dense_keep_cliques(&t->s, size, 3);
            keep_last(t, seed % 2 ? size / 2 : 5);
            work_out(t);
            if (t->condition * t->n * EPS < 0.2) {
                libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
                libsolver_factor *f = NULL;
                libsolver_factor_info info;
                assert_int_equal(factorize(t, &o, &f), LIBSOLVER_OK);
                libsolver_info(f, &info);
                delayed += info.delayed > 0;
                check_part(t, f, &r);
                libsolver_factor_free(f);
            }
            free(t->complement);
            free(t);
        }
    assert_true(delayed >= 3);
}

static void wrong_sets_and_calls_are_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    parted *t = room(1, sizeof *t);
    libsolver_options o;
    libsolver_factor *f = NULL, *plain = NULL;
    scalar b[MOST], x[MOST], s[100];
    double value;
    int64_t entries;
    const int64_t rows[3] = {2, 5, 7};
    t->s = dense_random(&r, SCALAR_COMPLEX, 20, 0.5, 40);
    part(t, &r, 3);
    for (int k = 0; k < 3; k++)
        t->row[k] = rows[k];
    libsolver_options_default(&o);
#define REFUSED(change) \
    do { \
        parted wrong = *t; \
        change; \
        assert_int_equal(factorize(&wrong, &o, &f), LIBSOLVER_INVALID); \
        assert_true(libsolver_factor_message(f)[0] != 0); \
        libsolver_factor_free(f); \
    } while (0)
    REFUSED(wrong.row[1] = 20);
    REFUSED(wrong.row[1] = -1);
    REFUSED(wrong.row[1] = 2);
    REFUSED(wrong.size = 21);
    REFUSED(wrong.size = -1);
    assert_int_equal(factorize(t, &o, &f), LIBSOLVER_OK);
    libsolver_vectors bv = dense_block(b, 20, 1), xv = dense_block(x, 20, 1),
                      sv = dense_block(s, 3, 3);
    for (int i = 0; i < 20; i++)
        b[i] = 1;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(f), "condense"));
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &xv),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refine(f, NULL, &bv, &xv, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_condition(f, NULL, &value), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_forward_error(f, NULL, &bv, &xv, &value), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(f, b, x), LIBSOLVER_INVALID);
    sv.rows = 2;
    assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_INVALID);
    sv.rows = 3;
    sv.ld = 2;
    assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_INVALID);
    sv.ld = 3;
    sv.type = (libsolver_type)((SCALAR_TYPE + 1) % 4);
    assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_INVALID);
    sv.type = SCALAR_TYPE;
    xv.rows = 19;
    assert_int_equal(libsolver_schur_condense(f, NULL, &bv, &xv), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_schur_expand(f, NULL, &xv), LIBSOLVER_INVALID);
    xv.rows = 20;
    assert_int_equal(libsolver_schur_condense(f, NULL, &bv, &xv), LIBSOLVER_OK);
    assert_int_equal(libsolver_schur_expand(f, NULL, &xv), LIBSOLVER_OK);
    assert_int_equal(libsolver_schur_complement(NULL, &sv), LIBSOLVER_INVALID);
    /* without a set there is nothing to ask */
    parted none = *t;
    none.size = 0;
    assert_int_equal(factorize(&none, &o, &plain), LIBSOLVER_OK);
    assert_int_equal(libsolver_schur_complement(plain, &sv), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_schur_condense(plain, NULL, &bv, &xv), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_schur_expand(plain, NULL, &xv), LIBSOLVER_INVALID);
    libsolver_factor_free(plain);
    libsolver_factor_free(f);
    free(t);
}

static void each_failed_allocation_is_survived(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    parted *t = room(1, sizeof *t);
    t->s = dense_random(&r, SCALAR_COMPLEX, 30, 0.2, 0);
    for (int i = 0; i < 30; i++)
        t->s.a[i][i] = (scalar)(i % 2 ? 10 : -10);
    part(t, &r, 6);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int failures = 0;
    for (int64_t k = 0; status != LIBSOLVER_OK; k++) {
        ledger l;
        libsolver_options o;
        libsolver_factor *f = NULL;
        ledger_open(&l, &o);
        o.threads = 1;
        ledger_refuse(&l, k, 0);
        status = factorize(t, &o, &f);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
        failures += status != LIBSOLVER_OK;
        libsolver_factor_free(f);
        assert_int_equal(l.live, 0);
    }
    assert_true(failures > 30);
    free(t);
}

/* A grid without its middle column, which is the set: two subtrees, large enough for several
 * threads. */
static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const int64_t side = 90, n = side * side, size = side;
    sparse a = sparse_grid(side, side, 8);
    const int64_t nnz = a.pointers[n];
    random_stream r = random_seeded(9);
    scalar *values = room(nnz, sizeof(scalar)), *b = room(n * COLUMNS, sizeof(scalar)), *s[2],
           *x[2];
    int64_t *rows = room(size, sizeof(int64_t));
    for (int k = 0; k < 2; k++) {
        s[k] = room(size * size, sizeof(scalar));
        x[k] = room(n * COLUMNS, sizeof(scalar));
    }
    for (int64_t k = 0; k < size; k++)
        rows[k] = side / 2 + (size - 1 - k) * side;
    for (int64_t i = 0; i < n * COLUMNS; i++)
        b[i] = dense_scalar(&r);
    for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t p = a.pointers[j]; p < a.pointers[j + 1]; p++)
                values[p] = a.indices[p] != j            ? dense_scalar(&r)
                            : kind == LIBSOLVER_KIND_SPD ? 8
                            : j % 3                      ? 0
                                                         : 1;
        for (int k = 0; k < 3; k++) {
            libsolver_matrix view = sparse_view(&a);
            libsolver_options o;
            libsolver_factor *f = NULL;
            libsolver_factor_info before, after;
            view.values = values;
            view.type = SCALAR_TYPE;
            view.symmetry = LIBSOLVER_HERMITIAN;
            libsolver_options_default(&o);
            o.kind = (libsolver_kind)kind;
            o.schur_rows = rows;
            o.schur_size = size;
            o.threads = k == 0 ? 1 : 3 * k - 1;
            assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
            libsolver_workspace *w = NULL;
            const libsolver_vectors bv = dense_block(b, n, COLUMNS),
                                    xv = dense_block(x[k > 0], n, COLUMNS);
            const libsolver_vectors sv = dense_block(s[k > 0], size, size);
            assert_int_equal(libsolver_workspace_create(f, COLUMNS, &w), LIBSOLVER_OK);
            libsolver_info(f, &before);
            assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_condense(f, w, &bv, &xv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_expand(f, w, &xv), LIBSOLVER_OK);
            libsolver_info(f, &after);
            assert_int_equal(before.allocations, after.allocations);
            if (k > 0) {
                assert_memory_equal(s[0], s[1], sizeof(scalar) * (size_t)(size * size));
                assert_memory_equal(x[0], x[1], sizeof(scalar) * (size_t)(n * COLUMNS));
            }
            libsolver_workspace_free(w);
            libsolver_factor_free(f);
        }
    }
    for (int k = 0; k < 2; k++) {
        free(s[k]);
        free(x[k]);
    }
    free(values);
    free(b);
    free(rows);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complements_and_half_solves),
        cmocka_unit_test(entries_of_the_set_make_no_zero_pivots),
        cmocka_unit_test(the_complement_in_all_rows_is_the_matrix),
        cmocka_unit_test(columns_delayed_to_the_set_are_eliminated),
        cmocka_unit_test(wrong_sets_and_calls_are_refused),
        cmocka_unit_test(each_failed_allocation_is_survived),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
