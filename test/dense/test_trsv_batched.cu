/* test/dense/test_trsv_batched.cu: batches of dense triangular solves on the GPU against plain
 * loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_trsv_batched            everything
 * test_trsv_batched small      what a sanitizer is run on */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/trsv_fixture.h"
#include <cstring>

static bool small_only;

/* Problems of order n (or mixed orders up to n) behind each other in one array, as strided, pointer
 * and variable batch. */
template <typename T> void batch_of(int64_t n, int64_t count, triangle_case c, bool mixed)
{
    const int64_t lda = n + 1, stride_a = lda * n + 5, stride_x = 2 * n + 3, incx = mixed ? -2 : 2;
    std::vector<T> a((size_t)(count * stride_a), not_a_number<T>()),
        b((size_t)(count * stride_x), not_a_number<T>());
    std::vector<int64_t> ns, ldas((size_t)count, lda);
    std::vector<const void *> as;
    std::vector<void *> xs;
    random_numbers g = {(uint64_t)(n * count)};
    device_array<T> da(a.size()), dx(b.size());
    for (int64_t k = 0; k < count; k++) {
        const int64_t m = mixed ? (int64_t)((g.next() + 1) / 2 * (double)(n + 1)) : n;
        ns.push_back(m);
        as.push_back(da.p + k * stride_a);
        xs.push_back(dx.p + k * stride_x);
        const std::vector<T> one = random_triangle<T>(c, m, lda, (uint64_t)(k + 1));
        memcpy(a.data() + k * stride_a, one.data(), (size_t)(lda * m) * sizeof(T));
        for (int64_t i = 0; i < m; i++)
            b[(size_t)(k * stride_x + 2 * i)] = random_entry<T>(g);
    }
    std::vector<T> expected = b, x(b.size());
    for (int64_t k = 0; k < count; k++)
        plain_trsv(c, ns[(size_t)k], a.data() + k * stride_a, lda, expected.data() + k * stride_x,
                   incx);
    da.put(a);
    device_array<int64_t> dn(ns), dlda(ldas);
    device_array<const void *> das(as);
    device_array<void *> dxs(xs);
    for (int kind = mixed ? 2 : 0; kind < 3; kind++) {
        const libsolver_type t = type_of<T>::value;
        dx.put(b);
        libsolver_status s = LIBSOLVER_OK;
        if (kind == 0)
            s = libsolver_trsv_strided_batched(t, c.uplo, c.trans, c.diag, n, da.p, lda, stride_a,
                                               dx.p, incx, stride_x, count, nullptr);
        else if (kind == 1)
            s = libsolver_trsv_batched(t, c.uplo, c.trans, c.diag, n, das.p, lda, dxs.p, incx,
                                       count, nullptr);
        else
            s = libsolver_trsv_variable_batched(t, c.uplo, c.trans, c.diag, n, dn.p, das.p, dlda.p,
                                                dxs.p, incx, count, nullptr);
        assert_int_equal(s, LIBSOLVER_OK);
        CUDA_OK(cudaDeviceSynchronize());
        dx.get(x);
        for (int64_t k = 0; k < count; k++) {
            const double error = difference(ns[(size_t)k], x.data() + k * stride_x,
                                            expected.data() + k * stride_x, incx);
            if (!(error <= tolerance<T>(n)))
                fail_msg("%s batch kind %d, trans %d, n %lld of %lld, problem %lld: error %g",
                         type_of<T>::name, kind, c.trans, (long long)ns[(size_t)k], (long long)n,
                         (long long)k, error);
        }
    }
}

static void batches_match_plain_loops(void **)
{
    const triangle_case cases[] = {{LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT},
                                   {LIBSOLVER_UPPER, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_UNIT},
                                   {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT}};
    for (const triangle_case &c : cases)
        for (int64_t n : {1, 7, 31, 32, 33, 64, 100, 128, 129, 200, 257, 1024}) {
            const int64_t count = small_only ? (n > 300 ? 0 : 3) : n > 300 ? 5 : 50;
            for (int mixed = 0; mixed < 2 && count > 0; mixed++) {
                batch_of<double>(n, count, c, mixed);
                batch_of<float>(n, count, c, mixed);
                batch_of<complex_d>(n, count, c, mixed);
                batch_of<complex_s>(n, count, c, mixed);
            }
        }
    if (!small_only)
        batch_of<double>(8, 100000, cases[0], false);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    small_only = argc > 1 && strcmp(argv[1], "small") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches_match_plain_loops)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
