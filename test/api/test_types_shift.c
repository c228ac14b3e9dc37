/* test/api/test_types_shift.c: new values in one precision (-DPREC_x): diagonals that are shifted,
 * triplets by their map
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include <stdio.h>
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

/* Whether L, D and S are those of another factor, bit by bit. */
static int are_same_factors(const libsolver_factor *f, const libsolver_factor *g, int64_t n)
{
    const libsolver_factor *both[2] = {f, g};
    static scalar l[2][MOST * MOST], d[2][MOST], e[2][MOST];
    static real scale[2][MOST];
    static int64_t pointers[2][MOST + 1], indices[2][MOST * MOST];
    int64_t entries[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(libsolver_get_factor_l(both[k], &entries[k], pointers[k], indices[k], l[k],
                                                NULL),
                         LIBSOLVER_OK);
        assert_int_equal(libsolver_get_factor_d(both[k], d[k], e[k]), LIBSOLVER_OK);
        assert_int_equal(libsolver_get_scaling(both[k], scale[k]), LIBSOLVER_OK);
    }
    return entries[0] == entries[1] &&
           memcmp(l[0], l[1], sizeof(scalar) * (size_t)entries[0]) == 0 &&
           memcmp(d[0], d[1], sizeof(scalar) * (size_t)n) == 0 &&
           memcmp(e[0], e[1], sizeof(scalar) * (size_t)n) == 0 &&
           memcmp(scale[0], scale[1], sizeof(real) * (size_t)n) == 0;
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

/* Set once pivots were in doubt: what was tried then is remembered, and may leave other bits than a
 * factor made anew. */
static void note_doubt(void *user, const char *sentence)
{
    *(int *)user |= strstr(sentence, "in doubt") != NULL;
}

static void shifted_diagonals_give_the_bits_of_a_matrix_that_has_them(void **state)
{
    (void)state;
    int compared = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 40);
            dense s = dense_random(&r, hermitian, n, 0.2, seed % 3 == 0 ? (double)(2 * n) : 0),
                  shifted;
            libsolver_options o;
            libsolver_options_default(&o);
            o.threads = 1;
            o.matching = LIBSOLVER_OFF; /* AUTO remembers whether it helped the last values ... */
            /* the analysis of A sees whether Cholesky is likely: for all shifts it is as likely as
             * for A */
            o.kind = seed % 3 ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_AUTO;
            o.ordering = LIBSOLVER_ORDERING_NATURAL; /* a zero on the diagonal is not stored, which
                                                        other orders see */
            for (int64_t j = 0; j < n && seed % 3; j += 3)
                s.a[j][j] = 0; /* rows without a diagonal entry */
            libsolver_options noting = o;
            int doubt = 0;
            noting.log = note_doubt;
            noting.log_user = &doubt;
            libsolver_factor *f = factor_of(&s, &noting);
            for (int round = 0; round < 3; round++) { /* each shift starts from A */
                const int64_t step = 1 + round % 2;   /* by rows in round 1 */
                scalar shift[2 * MOST] = {0};
                libsolver_vectors view = dense_block(shift, n, 1);
                if (step == 2) {
                    view.layout = LIBSOLVER_ROW_MAJOR;
                    view.ld = step;
                }
                shifted = s;
                for (int64_t j = 0; j < n; j++) {
                    shift[j * step] =
                        (round < 2 ? 1000 : 1) + scalar_diagonal(dense_scalar(&r), hermitian);
                    shifted.a[j][j] += shift[j * step];
                }
                assert_true(libsolver_refactorize_shifted(f, NULL, &view) >= 0);
                libsolver_factor *g = factor_of(&shifted, &o);
                compared += !doubt;
                if (!doubt && !are_same_factors(f, g, n))
                    fail_msg("seed %d, round %d: not the bits of the matrix shifted", (int)seed,
                             round);
                if (round < 2)
                    check_solves(f, &shifted, &r);
                libsolver_factor_free(g);
            }
            /* without a shift it is A again */
            libsolver_factor *g = factor_of(&s, &o);
            assert_true(libsolver_refactorize_shifted(f, NULL, NULL) >= 0);
            compared += !doubt;
            if (!doubt && !are_same_factors(f, g, n))
                fail_msg("seed %d: not the bits of A once more", (int)seed);
            libsolver_factor_free(g);
            libsolver_factor_free(f);
        }
    assert_in_range(compared, 220 * SYMMETRIES, 240 * SYMMETRIES);
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
        libsolver_options o;
        libsolver_options_default(&o);
        o.backend = LIBSOLVER_BACKEND_CPU; /* others read shifts in device memory */
        libsolver_factor *f = factor_of(&s, &o);
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
        assert_int_equal(libsolver_factor_matrix(&t->view, &o, &f),
                         LIBSOLVER_NOT_POSITIVE_DEFINITE);
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

/* ---- Sequences of calls ---- */

/* Both triangles, or the lower one with duplicates and out of order, of the same pattern whatever
 * the values are. */
static void fill_view(const dense *s, int full, triplets *t)
{
    random_stream r = random_seeded(7);
    dense_triplets(s, full ? NULL : &r, t);
    if (!full)
        return;
    int64_t k = t->view.nnz;
    for (int64_t p = t->view.nnz - 1; p >= 0; p--)
        if (t->row[p] != t->column[p]) {
            t->row[k] = t->column[p];
            t->column[k] = t->row[p];
            t->value[k++] = scalar_mirror(t->value[p], s->hermitian);
        }
    t->view.nnz = k;
    t->view.storage = LIBSOLVER_FULL;
}

/* Other values of the pattern of s; definite ones, unless `diagonal` is 0. */
static void other_values(random_stream *r, double diagonal, dense *s)
{
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = j; i < s->n; i++)
            if (i == j)
                s->a[i][i] = diagonal > 0 ? (scalar)(diagonal + random_below(r, 8))
                                          : scalar_diagonal(dense_scalar(r), s->hermitian);
            else if (s->stored[i][j])
                s->a[i][j] = dense_scalar(r);
}

/* What a factor must be after a sequence of calls. */
typedef struct model {
    libsolver_options options;
    int full;
    dense given, factored;        /* A as given last; what the factor is of */
    int has_values, has_factored; /* these are there */
    _Atomic int cancels;
} model;

static int asks_the_model(void *user)
{
    return ((model *)user)->cancels;
}

static libsolver_factor *model_factor(const model *m, const dense *s)
{
    triplets *t = malloc(sizeof *t);
    libsolver_factor *f = NULL;
    assert_non_null(t);
    fill_view(s, m->full, t);
    const libsolver_status status = libsolver_factor_matrix(&t->view, &m->options, &f);
    if (status < 0)
        fail_msg("a factor of its own: %s", libsolver_factor_message(f));
    free(t);
    return f;
}

/* The factor is that of m->factored bit by bit, and solves are of this matrix; or they are
 * refused. */
static void check_model(libsolver_factor *f, model *m, random_stream *r, const char *when)
{
    scalar x[MOST] = {0};
    const libsolver_vectors v = dense_block(x, m->given.n, 1);
    if (!m->has_factored) {
        if (libsolver_solve(f, &v, &v) != LIBSOLVER_INVALID)
            fail_msg("%s: a solve was not refused", when);
        return;
    }
    libsolver_factor *g = model_factor(m, &m->factored);
    if (!are_same_factors(f, g, m->given.n))
        fail_msg("%s: the factor is another one than that of the values", when);
    libsolver_factor_info info;
    libsolver_info(g, &info);
    if (info.status == LIBSOLVER_OK && m->options.kind == LIBSOLVER_KIND_SPD)
        check_solves(f, &m->factored, r);
    libsolver_factor_free(g);
}

enum {
    GOOD,
    BAD_VALUE,
    NOT_SYMMETRIC,
    OTHER_PATTERN,
    BAD_SHIFT,
    WRONG_SHIFT,
    CANCELLED,
    NOT_DEFINITE,
    FAULTS
};

/* One call with new values or NULL, with a shift or NULL, and with a fault or none; the model
 * follows. */
static libsolver_status random_call(libsolver_factor *f, model *m, random_stream *r, triplets *t,
                                    int *fault)
{
    const int64_t n = m->given.n;
    const int has_new = random_below(r, 2), has_shift = random_below(r, 2);
    scalar shift[MOST] = {0};
    libsolver_vectors view = dense_block(shift, n, 1);
    libsolver_status expected = LIBSOLVER_OK;
    dense a = m->given;
    if (has_new)
        other_values(r, m->options.kind == LIBSOLVER_KIND_SPD ? (double)(2 * n) : 0, &a);
    for (int64_t j = 0; j < n; j++)
        shift[j] = (scalar)(1 + random_below(r, 64));
    fill_view(&a, m->full, t);
    *fault = random_below(r, 3) ? GOOD : random_below(r, FAULTS);
    if (*fault == BAD_VALUE && has_new) {
        t->value[random_below(r, (int32_t)t->view.nnz)] = NAN;
        expected = LIBSOLVER_NONFINITE;
    } else if (*fault == NOT_SYMMETRIC && has_new && m->full && n > 1) {
        t->value[t->view.nnz - 1] += 1; /* an entry above the diagonal */
        expected = LIBSOLVER_INVALID;
    } else if (*fault == OTHER_PATTERN && has_new) {
        t->view.n++;
        expected = LIBSOLVER_PATTERN_MISMATCH;
    } else if (*fault == BAD_SHIFT && has_shift) {
        shift[random_below(r, (int32_t)n)] = INFINITY;
        expected = LIBSOLVER_NONFINITE;
    } else if (*fault == WRONG_SHIFT && has_shift) {
        view.columns = 2;
        expected = LIBSOLVER_INVALID;
    } else if (*fault == CANCELLED) {
        m->cancels = 1;
        expected = LIBSOLVER_CANCELLED;
    } else if (*fault == NOT_DEFINITE && has_shift && m->options.kind == LIBSOLVER_KIND_SPD) {
        shift[random_below(r, (int32_t)n)] = -1000;
        expected = LIBSOLVER_NOT_POSITIVE_DEFINITE;
    } else
        *fault = GOOD;
    /* a wrong shift is refused before, a wrong matrix before a shift is looked at, and what is
     * missing before all that comes later */
    const int is_read = has_new && *fault != WRONG_SHIFT && *fault != OTHER_PATTERN,
              is_bad = *fault == BAD_VALUE || *fault == NOT_SYMMETRIC;
    if (is_read) {
        m->has_values = !is_bad;
        m->given = is_bad ? m->given : a;
    } else if (!has_new && !m->has_values)
        expected = LIBSOLVER_INVALID;
    const int reaches_backend =
        m->has_values &&
        (expected == LIBSOLVER_OK || *fault == CANCELLED || *fault == NOT_DEFINITE) &&
        expected != LIBSOLVER_INVALID;
    if (reaches_backend) {
        m->factored = m->given;
        for (int64_t j = 0; j < n && has_shift; j++)
            m->factored.a[j][j] += shift[j];
        m->has_factored = expected == LIBSOLVER_OK;
    }
    const libsolver_status status =
        libsolver_refactorize_shifted(f, has_new ? &t->view : NULL, has_shift ? &view : NULL);
    m->cancels = 0;
    return status == expected || (status > 0 && expected == LIBSOLVER_OK)
               ? LIBSOLVER_OK
               : (libsolver_status)(status ? status : -1000);
}

/* New values, shifts, both, and calls that fail between them: each shift starts from the values
 * given last, bad values are none, and a factor stays or is refused as the header says. */
static void any_sequence_of_values_and_shifts_is_followed(void **state)
{
    (void)state;
    triplets *t = malloc(sizeof *t);
    model *m = malloc(sizeof *m);
    assert_non_null(t);
    assert_non_null(m);
    for (uint64_t seed = 0; seed < 48; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            memset(m, 0, sizeof *m);
            libsolver_options_default(&m->options);
            m->full = seed % 2;
            m->options.kind = seed % 4 < 2 && (hermitian || !SCALAR_COMPLEX)
                                  ? LIBSOLVER_KIND_SPD
                                  : LIBSOLVER_KIND_INDEFINITE;
            m->options.matching = LIBSOLVER_OFF;
            m->options.ordering = LIBSOLVER_ORDERING_NATURAL;
            m->options.threads = 1;
            const int64_t n = 1 + random_below(&r, 16);
            m->given = dense_random(&r, hermitian, n, 0.3, 1);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j; i < n; i++)
                    m->given.stored[i][j] = m->given.a[i][j] != 0;
            other_values(&r, (double)(2 * n), &m->given);
            m->factored = m->given;
            m->has_values = m->has_factored = 1;
            m->options.cancel = asks_the_model;
            m->options.cancel_user = m;
            libsolver_factor *f = model_factor(m, &m->given);
            for (int call = 0; call < 24; call++) {
                int fault;
                const libsolver_status surprise = random_call(f, m, &r, t, &fault);
                char when[80];
                snprintf(when, sizeof when, "seed %d, Hermitian %d, call %d, fault %d", (int)seed,
                         hermitian, call, fault);
                if (surprise)
                    fail_msg("%s: %d, %s", when, (int)surprise, libsolver_factor_message(f));
                check_model(f, m, &r, when);
            }
            libsolver_factor_free(f);
        }
    free(t);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_diagonals_give_the_bits_of_a_matrix_that_has_them),
        cmocka_unit_test(new_values_and_a_shift_come_together_and_allocate_nothing),
        cmocka_unit_test(wrong_shifts_leave_the_factor_as_it_was),
        cmocka_unit_test(a_shift_makes_a_matrix_definite),
        cmocka_unit_test(values_of_triplets_go_through_the_map_of_the_analysis),
        cmocka_unit_test(any_sequence_of_values_and_shifts_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
