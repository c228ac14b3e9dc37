/* gpu/substitute/slots.cuh: warp scope: products of rows of a panel with values in shared memory,
 * the C values of a row side by side
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_SLOTS_CUH
#define GPU_SUBSTITUTE_SLOTS_CUH

#include "dense/cuda/device/multiply.cuh"

/* The sum of a[t step] x[t] over t < count, which lanes need not agree on.  Few instructions: a
 * warp alone on its way waits longer for them than for memory. */
template <typename T>
__device__ __forceinline__ T inner_product(const T *a, int step, const T *x, int count)
{
    T sum[2] = {};
    int left = count;
#pragma unroll 1
    for (; left >= 4; left -= 4, a += 4 * step, x += 4) {
        const T l[4] = {a[0], a[step], a[2 * step], a[3 * step]}, r[4] = {x[0], x[1], x[2], x[3]};
#pragma unroll
        for (int u = 0; u < 4; u++)
            sum[u % 2] = multiply_add(sum[u % 2], l[u], r[u]);
    }
    T l[3] = {}, r[3] = {};
#pragma unroll
    for (int u = 0; u < 3; u++)
        if (u < left) {
            l[u] = a[u * step];
            r[u] = x[u];
        }
#pragma unroll
    for (int u = 0; u < 3; u++)
        sum[u % 2] = multiply_add(sum[u % 2], l[u], r[u]);
    return sum[0] + sum[1];
}

/* sum(i, j) += entry(i, k) slot(k, j), 16 rows, over k in [from, to). */
template <int C, typename T, typename F>
__device__ __forceinline__ void multiply_slots(product_sum<T, 1> &sum, const T *slot, int from,
                                               int to, F entry)
{
    multiply_16_of(
        sum, to - from, [&](int i, int k) { return from + k < to ? entry(i, from + k) : T{}; },
        [&](int k, int j) { return from + k < to && j < C ? slot[(from + k) * C + j] : T{}; });
}
/* slot(i) := combine(i, slot(i), sum(i)), the 16 rows from `first` on, below `end`. */
template <int C, typename T, typename F>
__device__ __forceinline__ void put_sum(const product_sum<T, 1> &sum, T *slot, int first, int end,
                                        F combine)
{
    each_entry_of(sum, [&](int i, int j, T v) {
        if (first + i < end && j < C) {
            T &at = slot[(first + i) * C + j];
            at = combine(first + i, at, v);
        }
    });
}

#endif
