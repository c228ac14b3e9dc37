/* test/api/test_types_views.c: matrices and right-hand sides as the library takes them, in one
 * precision (-DPREC_x, -DMIXED with a factor in single), symmetric and Hermitian
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_system.h"

static void every_view_gives_the_same_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 20);
            dense *s = random_system(&r, hermitian, n, 0.3, (int)(seed % 2) ? HOLLOW : INDEFINITE);
            scalar b[MOST], first[MOST], x[MOST];
            libsolver_status status = LIBSOLVER_OK;
            for (int64_t i = 0; i < n; i++)
                b[i] = dense_scalar(&r);
            for (int kind = 0; kind < VIEWS; kind++) {
                arrays *v = view_of(s, kind, kind % 2 ? &r : NULL);
                const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
                libsolver_factor *f = NULL;
                const libsolver_status now = libsolver_factor_matrix(&v->view, &o, &f);
                assert_true(now >= 0);
                const libsolver_vectors bv = dense_block(b, n, 1),
                                        xv = dense_block(kind ? x : first, n, 1);
                assert_true(libsolver_solve(f, &bv, &xv) >= 0);
                if (kind == 0)
                    status = now;
                assert_int_equal(now, status);
                assert_memory_equal(kind ? x : first, first, sizeof(scalar) * (size_t)n);
                libsolver_factor_free(f);
                free(v);
            }
            free(s);
        }
}

static libsolver_status status_of(arrays *v, const libsolver_options *o)
{
    libsolver_factor *f = NULL;
    const libsolver_status status = libsolver_factor_matrix(&v->view, o, &f);
    assert_true(status >= 0 || libsolver_factor_message(f)[0] != 0);
    libsolver_factor_free(f);
    return status;
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int storage = 0; storage < 3; storage++) {
            random_stream r = random_seeded(3);
            dense *s = random_system(&r, hermitian, 9, 0.5, POSITIVE);
            arrays *v = view_of(s, 3 + storage, NULL);
            const int64_t on = arrays_find(v, 1), off = arrays_find(v, 0);
            assert_int_equal(status_of(v, &o), LIBSOLVER_OK);
            const scalar before = v->values[off], diagonal = v->values[on];
            v->values[off] = NAN;
            assert_int_equal(status_of(v, &o), LIBSOLVER_NONFINITE);
            v->values[off] = before + 1;
            assert_int_equal(status_of(v, &o),
                             storage == LIBSOLVER_FULL ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#if SCALAR_COMPLEX
            ((real *)&v->values[off])[1] = INFINITY; /* CMPLX is not in every compiler */
            assert_int_equal(status_of(v, &o), LIBSOLVER_NONFINITE);
            v->values[off] = before + (scalar)_Complex_I;
            assert_int_equal(status_of(v, &o),
                             storage == LIBSOLVER_FULL ? LIBSOLVER_INVALID : LIBSOLVER_OK);
            v->values[off] = before;
            v->values[on] = diagonal + (scalar)_Complex_I;
            assert_int_equal(status_of(v, &o), hermitian ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#endif
            v->values[off] = before;
            v->values[on] = diagonal;
            if (storage == LIBSOLVER_FULL) { /* taken for the other symmetry */
                v->view.symmetry = hermitian ? LIBSOLVER_SYMMETRIC : LIBSOLVER_HERMITIAN;
                assert_int_equal(status_of(v, &o),
                                 SCALAR_COMPLEX ? LIBSOLVER_INVALID : LIBSOLVER_OK);
            }
            free(v);
            free(s);
        }
}

static void right_hand_sides_must_fit(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    dense *s = random_system(&r, SCALAR_COMPLEX, 9, 0.5, POSITIVE);
    const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
    libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK);
    scalar b[9], x[9];
    for (int i = 0; i < 9; i++)
        b[i] = dense_scalar(&r);
    libsolver_vectors bv = dense_block(b, 9, 1), xv = dense_block(x, 9, 1);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    for (int type = 0; type < 4; type++) {
        bv.type = (libsolver_type)type;
        assert_int_equal(libsolver_solve(f, &bv, &xv),
                         type == SCALAR_TYPE ? LIBSOLVER_OK : LIBSOLVER_INVALID);
    }
    bv.type = SCALAR_TYPE;
    b[4] = NAN;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_NONFINITE);
#if SCALAR_COMPLEX
    b[4] = 0;
    ((real *)&b[4])[1] = NAN;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_NONFINITE);
#endif
    libsolver_factor_free(f);
    free(s);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_gives_the_same_bits),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(right_hand_sides_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
