/* test/test_types_shift.c: new values in one precision (-DPREC_x): diagonals that are shifted, triplets by their map
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include <stdlib.h>

static libsolver_factor *factor_of(const dense *s, const libsolver_options *o)
{
    triplets *t = malloc(sizeof *t);
    libsolver_factor *f = NULL;
    assert_non_null(t);
    dense_triplets(s, NULL, t);
    assert_true(libsolver_factor_matrix(&t->view, o, &f) >= 0);
    free(t);
    return f;
}

/* L, D, S and a solution are those of another factor, bit by bit. */
static void check_same_factors(const libsolver_factor *f, const libsolver_factor *g, int64_t n)
{
    const libsolver_factor *both[2] = {f, g};
    static scalar l[2][MOST * MOST], d[2][MOST], e[2][MOST];
    static real scale[2][MOST];
    static int64_t pointers[2][MOST + 1], indices[2][MOST * MOST];
    int64_t entries[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(libsolver_get_factor_l(both[k], &entries[k], pointers[k], indices[k], l[k], NULL), LIBSOLVER_OK);
        assert_int_equal(libsolver_get_factor_d(both[k], d[k], e[k]), LIBSOLVER_OK);
        assert_int_equal(libsolver_get_scaling(both[k], scale[k]), LIBSOLVER_OK);
    }
    assert_int_equal(entries[0], entries[1]);
    assert_memory_equal(l[0], l[1], sizeof(scalar) * (size_t)entries[0]);
    assert_memory_equal(d[0], d[1], sizeof(scalar) * (size_t)n);
    assert_memory_equal(e[0], e[1], sizeof(scalar) * (size_t)n);
    assert_memory_equal(scale[0], scale[1], sizeof(real) * (size_t)n);
}

static void check_solves(libsolver_factor *f, const dense *s, random_stream *r)
{
    scalar b[MOST], x[MOST];
    const libsolver_vectors bv = dense_block(b, s->n, 1), xv = dense_block(x, s->n, 1);
    libsolver_solve_info info;
    for (int64_t i = 0; i < s->n; i++)
        b[i] = dense_scalar(r);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    libsolver_solve_query(f, NULL, &info);
    const double error = dense_backward_error(s, x, b);
    if (!(error <= TOLERANCE && fabs(error - info.backward_error) <= 1e-3 * error + EPS))
        fail_msg("n %d: backward error %g, reported %g", (int)s->n, error, info.backward_error);
}

static void shifted_diagonals_give_the_bits_of_a_matrix_that_has_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 40);
            dense s = dense_random(&r, hermitian, n, 0.2, seed % 3 == 0 ? (double)(2 * n) : 0), shifted;
            libsolver_options o;
            libsolver_options_default(&o);
            o.threads = 1;
            o.matching = LIBSOLVER_OFF; /* AUTO remembers whether it helped the last values */
            /* the analysis of A sees whether Cholesky is likely: for all shifts it is as likely as for A */
            o.kind = seed % 3 ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_AUTO;
            o.ordering = LIBSOLVER_ORDERING_NATURAL; /* a zero on the diagonal is not stored, which other orders see */
            for (int64_t j = 0; j < n && seed % 3; j += 3)
                s.a[j][j] = 0; /* rows without a diagonal entry */
            libsolver_factor *f = factor_of(&s, &o);
            for (int round = 0; round < 3; round++) { /* each shift starts from A */
                const int64_t step = 1 + round % 2; /* by rows in round 1 */
                scalar shift[2 * MOST] = {0};
                libsolver_vectors view = dense_block(shift, n, 1);
                if (step == 2) {
                    view.layout = LIBSOLVER_ROW_MAJOR;
                    view.ld = step;
                }
                shifted = s;
                for (int64_t j = 0; j < n; j++) {
                    shift[j * step] = (round < 2 ? 1000 : 1) + scalar_diagonal(dense_scalar(&r), hermitian);
                    shifted.a[j][j] += shift[j * step];
                }
                assert_true(libsolver_refactorize_shifted(f, NULL, &view) >= 0);
                libsolver_factor *g = factor_of(&shifted, &o);
                check_same_factors(f, g, n);
                if (round < 2)
                    check_solves(f, &shifted, &r);
                libsolver_factor_free(g);
            }
            /* without a shift it is A again */
            libsolver_factor *g = factor_of(&s, &o);
            assert_true(libsolver_refactorize_shifted(f, NULL, NULL) >= 0);
            check_same_factors(f, g, n);
            libsolver_factor_free(g);
            libsolver_factor_free(f);
        }
}

/* Larger than what refinement's tolerance forgives: the residual is that of the shifted matrix. */
static void new_values_and_a_shift_come_together_and_allocate_nothing(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(5);
        dense s = dense_random(&r, hermitian, 30, 0.3, 0), other = s;
        libsolver_options o;
        libsolver_options_default(&o);
        o.kind = LIBSOLVER_KIND_INDEFINITE;
        o.matching = LIBSOLVER_OFF;
        o.threads = 2;
        libsolver_factor *f = factor_of(&s, &o);
        triplets *t = malloc(sizeof *t);
        scalar shift[MOST];
        assert_non_null(t);
        for (int64_t j = 0; j < 30; j++)
            for (int64_t i = j; i < 30; i++)
                other.a[i][j] *= 3;
        dense_triplets(&other, NULL, t);
        t->view.pointers = t->view.indices = NULL;
        for (int64_t j = 0; j < 30; j++) {
            shift[j] = (scalar)(j % 2 ? 20 : -20);
            other.a[j][j] += shift[j];
        }
        const libsolver_vectors view = dense_block(shift, 30, 1);
        libsolver_factor_info before, after;
        assert_int_equal(libsolver_refactorize_shifted(f, &t->view, &view), LIBSOLVER_OK);
        check_solves(f, &other, &r);
        libsolver_info(f, &before);
        assert_int_equal(libsolver_refactorize_shifted(f, &t->view, &view), LIBSOLVER_OK);
        check_solves(f, &other, &r);
        libsolver_info(f, &after);
        assert_int_equal(before.allocations, after.allocations);
        free(t);
        libsolver_factor_free(f);
    }
}

static void wrong_shifts_leave_the_factor_as_it_was(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(3);
        dense s = dense_random(&r, hermitian, 9, 0.5, 20);
        libsolver_factor *f = factor_of(&s, NULL);
        scalar shift[MOST] = {0};
        libsolver_vectors v = dense_block(shift, 9, 1);
#define REFUSED(status, change) \
    do { \
        libsolver_vectors w = v; \
        change; \
        assert_int_equal(libsolver_refactorize_shifted(f, NULL, &w), status); \
        assert_true(libsolver_factor_message(f)[0] != 0); \
        check_solves(f, &s, &r); \
    } while (0)
        REFUSED(LIBSOLVER_INVALID, w.rows = 8);
        REFUSED(LIBSOLVER_INVALID, w.columns = 2);
        REFUSED(LIBSOLVER_INVALID, w.ld = 8);
        REFUSED(LIBSOLVER_INVALID, w.values = NULL);
        REFUSED(LIBSOLVER_INVALID, w.type = (libsolver_type)((SCALAR_TYPE + 1) % 4));
        REFUSED(LIBSOLVER_NOT_BUILT, w.place = LIBSOLVER_DEVICE);
        shift[4] = NAN;
        REFUSED(LIBSOLVER_NONFINITE, (void)w);
        shift[4] = sizeof(real) == 4 ? (scalar)FLT_MAX : (scalar)DBL_MAX;
        s.a[4][4] = shift[4]; /* the sum overflows */
        libsolver_factor_free(f);
        f = factor_of(&s, NULL);
        REFUSED(LIBSOLVER_NONFINITE, (void)w);
#if SCALAR_COMPLEX
        shift[4] = (scalar)_Complex_I;
        if (hermitian)
            REFUSED(LIBSOLVER_INVALID, (void)w);
#endif
        /* values that were refused cannot be shifted */
        triplets *t = malloc(sizeof *t);
        assert_non_null(t);
        dense_triplets(&s, NULL, t);
        const scalar kept = t->value[3];
        t->value[3] = NAN;
        assert_int_equal(libsolver_refactorize_shifted(f, &t->view, NULL), LIBSOLVER_NONFINITE);
        check_solves(f, &s, &r);
        shift[4] = 1;
        REFUSED(LIBSOLVER_INVALID, (void)w);
        t->value[3] = kept;
        assert_int_equal(libsolver_refactorize_shifted(f, &t->view, &v), LIBSOLVER_OK);
        assert_int_equal(libsolver_refactorize_shifted(NULL, NULL, &v), LIBSOLVER_INVALID);
        free(t);
        libsolver_factor_free(f);
    }
}

/* -4 below the diagonal makes Cholesky fail; a shift makes it succeed. */
static void a_shift_makes_a_matrix_definite(void **state)
{
    (void)state;
    for (int hermitian = SCALAR_COMPLEX; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(1);
        dense s = dense_random(&r, hermitian, 12, 0.8, 0.5);
        libsolver_options o;
        libsolver_options_default(&o);
        o.kind = LIBSOLVER_KIND_SPD;
        triplets *t = malloc(sizeof *t);
        libsolver_factor *f = NULL;
        scalar shift[MOST];
        assert_non_null(t);
        dense_triplets(&s, NULL, t);
        assert_int_equal(libsolver_factor_matrix(&t->view, &o, &f), LIBSOLVER_NOT_POSITIVE_DEFINITE);
        for (int64_t j = 0; j < 12; j++) {
            shift[j] = 30;
            s.a[j][j] += 30;
        }
        const libsolver_vectors v = dense_block(shift, 12, 1);
        assert_int_equal(libsolver_refactorize_shifted(f, NULL, &v), LIBSOLVER_OK);
        check_solves(f, &s, &r);
        free(t);
        libsolver_factor_free(f);
    }
}

/* Shuffled, with duplicates: values in the same order again are summed to the same matrix. */
static void values_of_triplets_go_through_the_map_of_the_analysis(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 2 + random_below(&r, 30);
            const dense s = dense_random(&r, hermitian, n, 0.3, (double)(2 * n + 2));
            dense twice = s;
            triplets *t = malloc(sizeof *t);
            libsolver_factor *f = NULL;
            assert_non_null(t);
            dense_triplets(&s, &r, t);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j; i < n; i++)
                    twice.a[i][j] *= 2;
            assert_int_equal(libsolver_factor_matrix(&t->view, NULL, &f), LIBSOLVER_OK);
            libsolver_matrix values = t->view;
            values.pointers = values.indices = NULL;
            for (int64_t k = 0; k < t->view.nnz; k++)
                t->value[k] *= 2;
            assert_int_equal(libsolver_refactorize(f, &values), LIBSOLVER_OK);
            check_solves(f, &twice, &r);
            values.nnz--;
            assert_int_equal(libsolver_refactorize(f, &values), LIBSOLVER_PATTERN_MISMATCH);
            check_solves(f, &twice, &r);
            libsolver_factor_free(f);
            free(t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_diagonals_give_the_bits_of_a_matrix_that_has_them),
        cmocka_unit_test(new_values_and_a_shift_come_together_and_allocate_nothing),
        cmocka_unit_test(wrong_shifts_leave_the_factor_as_it_was),
        cmocka_unit_test(a_shift_makes_a_matrix_definite),
        cmocka_unit_test(values_of_triplets_go_through_the_map_of_the_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
