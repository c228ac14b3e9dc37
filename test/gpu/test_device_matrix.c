/* test/gpu/test_device_matrix.c: matrices whose arrays lie in device memory, in one precision
 * (-DPREC_x), symmetric and Hermitian, beside the same on the host
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_matrix [small]      small: repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#define ON_GPU
#include "gpu_test.h"
#include "typed_system.h"

static int small;

/* ---- Arrays on the device -------------------------------------------------------------------- */

static void *put(const void *from, int64_t bytes)
{
    void *to;
    CUDA(cudaMalloc(&to, (size_t)bytes + 16));
    CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return to;
}

static int64_t entries_of(const arrays *v)
{
    return v->view.format == LIBSOLVER_TRIPLETS ? v->view.nnz
                                                : v->pointers[v->view.n] - v->pointers[0];
}

/* The same view of copies on the device. */
static libsolver_matrix on_device(const arrays *v)
{
    libsolver_matrix a = v->view;
    const int64_t entries = entries_of(v),
                  pointers = a.format == LIBSOLVER_TRIPLETS ? entries : a.n + 1;
    a.pointers = put(v->pointers, pointers * (int64_t)sizeof(int64_t));
    a.indices = put(v->indices, entries * (int64_t)sizeof(int64_t));
    a.values = put(v->values, entries * (int64_t)sizeof(scalar));
    a.place = LIBSOLVER_DEVICE;
    return a;
}

static void put_values(const arrays *v, const libsolver_matrix *a)
{
    CUDA(cudaMemcpy((void *)a->values, v->values, sizeof(scalar) * (size_t)entries_of(v),
                    cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
}

static void free_device(libsolver_matrix *a)
{
    CUDA(cudaFree((void *)a->pointers));
    CUDA(cudaFree((void *)a->indices));
    CUDA(cudaFree((void *)a->values));
}

/* ---- Beside the host ------------------------------------------------------------------------- */

static void random_block(random_stream *r, int64_t n, scalar *b)
{
    for (int64_t i = 0; i < n; i++)
        b[i] = dense_scalar(r);
}

/* Both solve the same, bit for bit. */
static void compare(libsolver_factor *f, libsolver_factor *g, int64_t n, random_stream *r)
{
    scalar b[MOST], x[2][MOST];
    random_block(r, n, b);
    libsolver_factor *both[2] = {f, g};
    libsolver_status status[2];
    for (int k = 0; k < 2; k++) {
        const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x[k], n, 1);
        status[k] = libsolver_solve(both[k], &bv, &xv);
    }
    assert_int_equal(status[0], status[1]);
    assert_memory_equal(x[0], x[1], sizeof(scalar) * (size_t)n);
}

/* Other values for the same view. */
static void change(dense *s, random_stream *r)
{
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = j + 1; i < s->n; i++)
            if (s->stored[i][j])
                s->a[i][j] = dense_scalar(r);
}

/* Where the shift of the matrix on the device is. */
enum { SHIFT_HERE, SHIFT_THERE, SHIFT_APART };

/* A copy on the device, APART: of a row-major block of three columns, whose others are NaN. */
static libsolver_vectors shift_on_device(const scalar *shift, int64_t n, int place)
{
    scalar v[3 * MOST];
    const int64_t step = place == SHIFT_APART ? 3 : 1;
    for (int64_t i = 0; i < n * step; i++)
        v[i] = i % step == 0 ? shift[i / step] : (scalar)NAN;
    libsolver_vectors view = dense_block(put(v, n * step * (int64_t)sizeof(scalar)), n, 1);
    view.place = LIBSOLVER_DEVICE;
    if (place == SHIFT_APART) {
        view.layout = LIBSOLVER_ROW_MAJOR;
        view.ld = step;
    }
    return view;
}

/* New values with a shift, the same values with another, and without. */
static void compare_shifts(libsolver_factor *there, const libsolver_matrix *values,
                           libsolver_factor *here, const libsolver_matrix *given, int place,
                           int hermitian, random_stream *r)
{
    const int64_t n = values->n;
    scalar shift[MOST];
    for (int64_t i = 0; i < n; i++)
        shift[i] = scalar_diagonal(dense_scalar(r), hermitian);
    for (int again = 0; again < 3; again++) {
        const libsolver_matrix *a1 = again ? NULL : values, *a2 = again ? NULL : given;
        const libsolver_vectors on_host = dense_block(shift, n, 1);
        libsolver_vectors v = on_host;
        if (place != SHIFT_HERE)
            v = shift_on_device(shift, n, place);
        assert_int_equal(libsolver_refactorize_shifted(there, a1, again == 2 ? NULL : &v),
                         libsolver_refactorize_shifted(here, a2, again == 2 ? NULL : &on_host));
        if (place != SHIFT_HERE)
            CUDA(cudaFree(v.values));
        compare(there, here, n, r);
        shift[0] = 1;
    }
}

/* Every view, from the analysis on; then values alone, and with shifts. */
static void every_view_is_that_of_the_host(void **state)
{
    (void)state;
    int on_the_device = 0;
    for (uint64_t seed = 0; seed < (small ? 2 : 12); seed++)
        for (int view = 0; view < VIEWS * SYMMETRIES; view++) {
            random_stream r = random_seeded(seed), parts = random_seeded(seed + 1);
            const int64_t n = 1 + random_below(&r, 25);
            const int kind = view % VIEWS;
            dense *s =
                random_system(&r, view / VIEWS, n, 0.3, seed % 3 == 2 ? INDEFINITE : POSITIVE);
            arrays *v = view_of(s, kind, seed % 2 ? &parts : NULL);
            libsolver_matrix a = on_device(v);
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            libsolver_factor *there = NULL, *here = NULL;
            libsolver_factor_info info, other;
            const libsolver_status status = libsolver_factor_matrix(&v->view, &o, &here);
            assert_int_equal(libsolver_factor_matrix(&a, &o, &there), status);
            compare(there, here, n, &r);
            change(s, &r);
            parts = random_seeded(seed + 2);
            arrays *w = view_of(s, kind, seed % 2 ? &parts : NULL);
            put_values(w, &a);
            libsolver_matrix values = a, given = w->view;
            if (seed % 4 < 2) /* the same indices need not be given again */
                values.pointers = values.indices = given.pointers = given.indices = NULL;
            assert_int_equal(libsolver_refactorize(there, &values),
                             libsolver_refactorize(here, &given));
            compare(there, here, n, &r);
            libsolver_info(there, &info);
            libsolver_info(here, &other);
            assert_int_equal(info.backend_factorize, other.backend_factorize);
            on_the_device += info.backend_factorize == LIBSOLVER_BACKEND_GPU;
            for (int place = SHIFT_HERE; place <= SHIFT_APART; place++)
                compare_shifts(there, &values, here, &given, place, view / VIEWS, &r);
            libsolver_factor_free(there);
            libsolver_factor_free(here);
            free_device(&a);
            free(w);
            free(v);
            free(s);
        }
    assert_true(on_the_device > 0);
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* The same status and sentence as for values on the host; the factor before stays. */
static void check_refused(libsolver_factor *f, arrays *v, const libsolver_matrix *a,
                          const libsolver_vectors *shift, libsolver_status wanted)
{
    char sentence[500];
    put_values(v, a);
    assert_int_equal(libsolver_refactorize_shifted(f, &v->view, shift), wanted);
    snprintf(sentence, sizeof sentence, "%s", libsolver_factor_message(f));
    assert_true(wanted == LIBSOLVER_OK || sentence[0]);
    assert_int_equal(libsolver_refactorize_shifted(f, a, shift), wanted);
    assert_string_equal(libsolver_factor_message(f), sentence);
    if (wanted == LIBSOLVER_OK)
        return;
    scalar b[MOST], x[MOST];
    random_stream r = random_seeded(1);
    random_block(&r, a->n, b);
    const libsolver_vectors bv = dense_block(b, a->n, 1), xv = dense_block(x, a->n, 1);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    assert_true(libsolver_refactorize_shifted(f, NULL, NULL) ==
                (shift ? LIBSOLVER_OK : LIBSOLVER_INVALID));
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
            const int full = storage == LIBSOLVER_FULL;
            libsolver_matrix a = on_device(v);
            libsolver_factor *f = NULL;
            assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
            const scalar before = v->values[off], diagonal = v->values[on];
            v->values[off] = NAN;
            check_refused(f, v, &a, NULL, LIBSOLVER_NONFINITE);
            v->values[off] = before + 1;
            check_refused(f, v, &a, NULL, full ? LIBSOLVER_INVALID : LIBSOLVER_OK);
            v->values[off] = before;
#if SCALAR_COMPLEX
            v->values[on] = diagonal + (scalar)_Complex_I;
            check_refused(f, v, &a, NULL, hermitian ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#endif
            v->values[on] = diagonal;
            scalar shift[9] = {0, 0, 0, 0, INFINITY};
            const libsolver_vectors sv = dense_block(shift, 9, 1);
            check_refused(f, v, &a, &sv, LIBSOLVER_NONFINITE);
            for (int place = SHIFT_THERE; place <= SHIFT_APART; place++) {
                const libsolver_vectors there = shift_on_device(shift, 9, place);
                check_refused(f, v, &a, &there, LIBSOLVER_NONFINITE);
                CUDA(cudaFree(there.values));
            }
#if SCALAR_COMPLEX
            shift[4] = (scalar)_Complex_I;
            check_refused(f, v, &a, &sv, hermitian ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#endif
            shift[4] = 1;
            check_refused(f, v, &a, &sv, LIBSOLVER_OK);
            libsolver_factor_free(f);
            free_device(&a);
            free(v);
            free(s);
        }
}

static void other_patterns_are_refused(void **state)
{
    (void)state;
    const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
    random_stream r = random_seeded(3);
    dense *s = random_system(&r, 0, 9, 0.5, POSITIVE);
    arrays *v = view_of(s, 3, NULL);
    libsolver_matrix a = on_device(v), other = a;
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
    other.nnz--;
    assert_int_equal(libsolver_refactorize(f, &other), LIBSOLVER_PATTERN_MISMATCH);
    other = a;
    other.values = NULL;
    assert_int_equal(libsolver_refactorize(f, &other), LIBSOLVER_INVALID);
    libsolver_factor_free(f);
    libsolver_options on_cpu = o;
    on_cpu.backend = LIBSOLVER_BACKEND_CPU;
    assert_int_equal(libsolver_factor_matrix(&a, &on_cpu, &f), LIBSOLVER_NOT_BUILT);
    libsolver_factor_free(f);
    on_cpu.backend = LIBSOLVER_BACKEND_AUTO; /* a small one is solved on the CPU */
    assert_int_equal(libsolver_factor_matrix(&a, &on_cpu, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_refactorize(f, &a), LIBSOLVER_OK);
    libsolver_factor_free(f);
    free_device(&a);
    free(v);
    free(s);
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_is_that_of_the_host),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(other_patterns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
