/* test/support/on_host/cublas.cpp: the products that the dense kernels ask cuBLAS for, by plain
 * loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A result over what it is made of, which cuBLAS does not allow, fails. */
#include "dense/cuda/device/scalar.cuh"
#include "dense/cuda/level3/cublas.h"
#include "libsolver_types.h"

template <typename T> struct operand_of {
    const T *entry;
    int64_t ld;
    int trans;

    T operator()(int64_t i, int64_t j) const
    {
        return trans == CUBLAS_N ? entry[i + j * ld]
                                 : conjugate_if(entry[j + i * ld], trans == CUBLAS_C);
    }
};

/* C := alpha A B + beta C for the entries with wanted(i, j); what is 0 times beta is not read */
template <typename T, typename A, typename B, typename Wanted>
static void product(int m, int n, int k, T alpha, A a, B b, T beta, T *c, int64_t ldc,
                    Wanted wanted)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            if (!wanted(i, j))
                continue;
            T sum = {};
            for (int64_t p = 0; p < k; p++)
                sum = multiply_add(sum, a(i, p), b(p, j));
            T &entry = c[i + j * ldc];
            entry = multiply(alpha, sum) +
                    (magnitude(beta) == 0 ? T{} : multiply(beta, entry));
        }
}

template <typename T>
static int gemm_strided(cublas_handle, int trans_a, int trans_b, int m, int n, int k,
                        const void *alpha, const void *a, int lda, long long stride_a,
                        const void *b, int ldb, long long stride_b, const void *beta, void *c,
                        int ldc, long long stride_c, int count)
{
    const T factor = *static_cast<const T *>(alpha), old = *static_cast<const T *>(beta);
    if (c == a || c == b)
        return 1;
    call_device([=] {
        for (int64_t e = 0; e < count; e++) {
            const operand_of<T> A = {static_cast<const T *>(a) + e * stride_a, lda, trans_a},
                                B = {static_cast<const T *>(b) + e * stride_b, ldb, trans_b};
            T *const C = static_cast<T *>(c) + e * stride_c;
            product(m, n, k, factor, A, B, old, C, ldc, [](int64_t, int64_t) { return true; });
        }
    });
    return 0;
}
template <typename T>
static int gemm(cublas_handle handle, int trans_a, int trans_b, int m, int n, int k,
                const void *alpha, const void *a, int lda, const void *b, int ldb,
                const void *beta, void *c, int ldc)
{
    return gemm_strided<T>(handle, trans_a, trans_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,
                           ldc, 0, 1);
}
template <typename T>
static int herk(cublas_handle, int uplo, int trans, int n, int k, const void *alpha, const void *a,
                int lda, const void *beta, void *c, int ldc)
{
    const T factor = from_real<T>(*static_cast<const real_of<T> *>(alpha)),
            old = from_real<T>(*static_cast<const real_of<T> *>(beta));
    const int turned = scalar<T>::is_complex ? CUBLAS_C : CUBLAS_T;
    const operand_of<T> A = {static_cast<const T *>(a), lda, trans == CUBLAS_N ? CUBLAS_N : turned};
    call_device([=] {
        const auto other = [=](int64_t p, int64_t j) { return conjugate_if(A(j, p), true); };
        product(n, n, k, factor, A, other, old, static_cast<T *>(c), ldc,
                [=](int64_t i, int64_t j) { return uplo == CUBLAS_LOWER ? i >= j : i <= j; });
    });
    return 0;
}
template <typename T> static void provide(cublas_calls &calls, libsolver_type type)
{
    calls.gemm[type] = gemm<T>;
    calls.gemm_strided[type] = gemm_strided<T>;
    calls.herk[type] = herk<T>;
}

extern "C" const cublas_calls *cublas_load(void)
{
    static cublas_calls calls = {};
    calls.create = [](cublas_handle *handle) {
        *handle = &calls;
        return 0;
    };
    calls.destroy = [](cublas_handle) { return 0; };
    calls.set_stream = [](cublas_handle, void *) { return 0; };
    calls.set_workspace = [](cublas_handle, void *, size_t) { return 0; };
    calls.set_pointer_mode = calls.set_atomics = [](cublas_handle, int) { return 0; };
    provide<float>(calls, LIBSOLVER_S);
    provide<double>(calls, LIBSOLVER_D);
    provide<complex_s>(calls, LIBSOLVER_C);
    provide<complex_d>(calls, LIBSOLVER_Z);
    return &calls;
}
