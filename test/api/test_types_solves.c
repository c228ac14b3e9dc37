/* test/api/test_types_solves.c: solutions have the error that is told, and the same bits for any
 * threads, in one precision (-DPREC_x, -DMIXED with a factor in single), symmetric and Hermitian
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_system.h"

static void solutions_have_the_error_that_is_reported(void **state)
{
    (void)state;
    int refined = 0;
    for (uint64_t seed = 0; seed < 150; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, ORDINARY), columns = 1 + random_below(&r, 6);
            dense *s = random_system(&r, hermitian, n, 0.2, (int)(seed % KINDS));
            for (int64_t j = 0; j < n; j++) /* badly scaled */
                for (int64_t i = j; i < n; i++)
                    s->a[i][j] *= (real)ldexp(1, (int)((i * 7 + j * 7) % 13) - 6);
            libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            o.refine_steps = seed % 3 ? 10 : 0;
            o.pivot_threshold = 1e-3;
            arrays *v = view_of(s, 0, NULL);
            libsolver_factor *f = NULL;
            const libsolver_status status = libsolver_factor_matrix(&v->view, &o, &f);
            scalar b[6 * MOST], x[6 * MOST];
            for (int64_t i = 0; i < n * columns; i++)
                x[i] = b[i] = dense_scalar(&r);
            libsolver_vectors xv = dense_block(x, n, columns);
            if (seed % 2) { /* by rows */
                xv.layout = LIBSOLVER_ROW_MAJOR;
                xv.ld = columns;
            }
            const libsolver_status solved = libsolver_solve(f, &xv, &xv); /* x is b */
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            double worst = 0;
            for (int64_t c = 0; c < columns; c++) {
                scalar xc[MOST], bc[MOST];
                for (int64_t i = 0; i < n; i++) {
                    const int64_t at = seed % 2 ? i * columns + c : i + c * n;
                    xc[i] = x[at];
                    bc[i] = b[at];
                }
                worst = fmax(worst, dense_backward_error(s, xc, bc));
            }
            assert_true(fabs(worst - info.backward_error) <= 1e-3 * worst + EPS);
            if (status == LIBSOLVER_OK)
                assert_int_equal(solved, worst <= TOLERANCE ? LIBSOLVER_OK : LIBSOLVER_INACCURATE);
            if (status == LIBSOLVER_OK && o.refine_steps > 0)
                assert_true(worst <= TOLERANCE);
            refined += info.steps > 0;
            libsolver_factor_free(f);
            free(v);
            free(s);
        }
    assert_true(refined > 0 || EPS > 1e-10); /* single precision is there at once */
}

/* T Q diag(v) Q T^H (or T^T), Q a reflection, T diagonal of complex units, six of the eigenvalues v
 * of 40 from 1e-10 on (1e-4 for s and c): what a factor in single precision, but for its size,
 * knows nothing about. */
static void ill_conditioned_systems_are_solved(void **state)
{
    (void)state;
    enum { N = 40 };
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = random_system(&r, hermitian, N, 1, INDEFINITE);
            exact turn[N];
            long double v[N], sum = 0;
            for (int k = 0; k < N; k++) {
                const long double angle = random_real(&r);
                turn[k] = SCALAR_COMPLEX ? cosl(angle) + sinl(angle) * _Complex_I : 1;
                v[k] = (k < 6 ? powl(10, k / 2.0L - (EPS < 1e-10 ? 10 : 4))
                              : 1 + 0.5L * random_real(&r)) *
                       (seed % 2 && k % 2 ? -1 : 1);
                sum += v[k];
            }
            for (int j = 0; j < N; j++)
                for (int i = j; i < N; i++) {
                    const long double q = 2.0L / N,
                                      a = (i == j ? v[i] : 0) - q * (v[i] + v[j]) + q * q * sum;
                    s->a[i][j] =
                        scalar_diagonal((scalar)(a * turn[i] * exact_mirror(turn[j], hermitian)),
                                        hermitian && i == j);
                }
            scalar b[3 * N], x[3 * N];
            for (int i = 0; i < 3 * N; i++)
                b[i] = dense_scalar(&r);
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            arrays *view = view_of(s, 0, NULL);
            libsolver_factor *f = NULL;
            assert_true(libsolver_factor_matrix(&view->view, &o, &f) >= 0);
            const libsolver_vectors bv = dense_block(b, N, 3), xv = dense_block(x, N, 3);
            libsolver_solve_info info;
            assert_true(libsolver_solve(f, &bv, &xv) >= 0);
            libsolver_solve_query(f, NULL, &info);
            for (int c = 0; c < 3; c++) {
                const double error = dense_backward_error(s, x + c * N, b + c * N);
                if (!(error <= TOLERANCE))
                    fail_msg("seed %d, hermitian %d, column %d: backward error %g after %d steps",
                             (int)seed, hermitian, c, error, info.steps);
            }
            libsolver_factor_free(f);
            free(view);
            free(s);
        }
}

/* A grid of side x side points with random entries; its solution for two columns, threads as
 * asked. */
static void solve_grid(int hermitian, libsolver_kind kind, int threads, int64_t side, scalar *x)
{
    sparse grid = sparse_grid(side, side, 8);
    random_stream r = random_seeded(9);
    const int64_t n = side * side, nnz = grid.pointers[n];
    scalar *values = malloc(sizeof(scalar) * (size_t)nnz),
           *b = malloc(sizeof(scalar) * (size_t)n * 2);
    assert_true(values && b);
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = grid.pointers[j]; p < grid.pointers[j + 1]; p++)
            values[p] = grid.indices[p] != j         ? dense_scalar(&r)
                        : kind == LIBSOLVER_KIND_SPD ? 8
                        : j % 3                      ? 0
                                                     : 1;
    for (int64_t i = 0; i < 2 * n; i++)
        b[i] = dense_scalar(&r);
    libsolver_matrix a = sparse_view(&grid);
    a.values = values;
    a.type = SCALAR_TYPE;
    a.symmetry = hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    libsolver_options o = with_kind(kind);
    o.threads = threads;
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
    const libsolver_vectors bv = dense_block(b, n, 2), xv = dense_block(x, n, 2);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    libsolver_factor_free(f);
    free(values);
    free(b);
    sparse_free(&grid);
}

static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const int64_t side = 70, n = side * side;
    scalar *one = malloc(sizeof(scalar) * (size_t)n * 2),
           *more = malloc(sizeof(scalar) * (size_t)n * 2);
    assert_true(one && more);
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++) {
            if (kind == LIBSOLVER_KIND_SPD && SCALAR_COMPLEX && !hermitian)
                continue;
            solve_grid(hermitian, (libsolver_kind)kind, 1, side, one);
            for (int threads = 2; threads <= 5; threads += 3) {
                solve_grid(hermitian, (libsolver_kind)kind, threads, side, more);
                assert_memory_equal(one, more, sizeof(scalar) * (size_t)n * 2);
            }
        }
    free(one);
    free(more);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_have_the_error_that_is_reported),
        cmocka_unit_test(ill_conditioned_systems_are_solved),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
