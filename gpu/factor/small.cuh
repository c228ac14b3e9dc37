/* gpu/factor/small.cuh: block scope: a front that fits in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_SMALL_CUH
#define GPU_FACTOR_SMALL_CUH

#include "gpu/factor/arguments.cuh"

/* Bytes of shared memory for a front of m rows: the front, the inverse of the diagonal block at
 * hand, what pivots start from. */
template <typename T> constexpr int small_bytes(int m)
{
    return padded_rows<T>(m) * ((m + 7) / 8 * 8) * (int)sizeof(T) +
           CHOLESKY_STEP * CHOLESKY_STEP * (int)sizeof(T) + (m + 7) / 8 * 8 * (int)sizeof(T);
}

template <typename T>
__device__ __forceinline__ void factorize_small(const factor_arguments<T> &a, const factor_front &f,
                                                char *shared)
{
    using R = real_of<T>;
    const int m = f.m, k = f.k, r = m - k, ld = padded_rows<T>(m), lane = threadIdx.x % 32,
              warp = threadIdx.x / 32;
    const int columns = (m + 7) / 8 * 8;
    T *F = reinterpret_cast<T *>(shared), *X = F + ld * columns;
    R *start = reinterpret_cast<R *>(X + CHOLESKY_STEP * CHOLESKY_STEP);
    for (int q = threadIdx.x; q < ld * columns; q += CHOLESKY_THREADS)
        F[q] = T{};
    for (int q = threadIdx.x; q < k; q += CHOLESKY_THREADS)
        start[q] = a.diagonal[f.first + q];
    __syncthreads();
    add_entries(a, f.entries, F, ld);
    for (int c = 0; c < f.children; c++) {
        const factor_child child = a.child[f.child + c];
        __syncthreads();
        pull_part(a, child, F, ld, 0, 0, 0, child.r, 0, child.r);
    }
    __syncthreads();
    cholesky_columns(F, ld, m, k, X, 0, CHOLESKY_STEP, pivots_of(a, f.first, start));
    T *panel = a.panel + f.panel, *block = a.arena + f.block;
    for (int j = warp; j < m; j += CHOLESKY_THREADS / 32) {
        const T *from = F + j * ld;
        T *to = j < k ? panel + (int64_t)j * m : block + (int64_t)(j - k) * r - k;
        for (int i = j + lane; i < m; i += 32)
            to[i] = from[i];
    }
    __syncthreads(); /* the next front's memory is this one's */
}

#endif
