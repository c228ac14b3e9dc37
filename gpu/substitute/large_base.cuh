/* gpu/substitute/large_base.cuh: what tasks of large nodes gather
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_LARGE_BASE_CUH
#define GPU_SUBSTITUTE_LARGE_BASE_CUH

#include "gpu/substitute/exchange.cuh"
#include "gpu/substitute/refused.cuh"

template <typename T, int C> struct large_base : exchange<T, C> {
    using exchange<T, C>::q, exchange<T, C>::SOURCES;

    __device__ __forceinline__ large_base(const substitute_arguments<T> &q, unsigned epoch,
                                          int number)
        : exchange<T, C>(q, epoch, number)
    {
    }

    /* Row i of the front of v: b, and what children passed up.  All lanes of a warp call. */
    __device__ __forceinline__ T gather(const substitution_node &v, bool wanted, int i) const
    {
        int next = 0, end = 0;
        T sum = {};
        if (wanted) {
            const int32_t *start = q.source_start + v.sources + i;
            next = start[0];
            end = start[1];
            if (i < v.columns)
                sum = this->load_b(this->a.user_row[v.first + i]);
        }
#pragma unroll 1
        for (; __any_sync(~0u, next < end); next += SOURCES) {
            int at[SOURCES];
            T value[SOURCES];
#pragma unroll
            for (int u = 0; u < SOURCES; u++)
                at[u] = next + u < end ? 2 * this->a.n + q.source[next + u] : -1;
            this->template receive<false>(at, value);
#pragma unroll
            for (int u = 0; u < SOURCES; u++)
                sum = sum + value[u];
        }
        return sum;
    }
    /* Entry `position` of D^-1 z.  All lanes of a warp call. */
    __device__ __forceinline__ T divided(bool wanted, int position) const
    {
        T z = this->template receive<false>(wanted ? position : -1);
        if (!q.cholesky)
            this->divide_pivot(wanted, position, z);
        return z;
    }
    /* Packet of x of row i of the front. */
    __device__ __forceinline__ int x_packet(const substitution_node &v, int i) const
    {
        return this->a.n + (i < v.columns ? v.first + i : q.row[v.row_start + i - v.columns]);
    }
};

#endif
