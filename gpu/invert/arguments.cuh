/* gpu/invert/arguments.cuh: what the kernels of the inversion share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_ARGUMENTS_CUH
#define GPU_INVERT_ARGUMENTS_CUH

#include "dense/cuda/device/scalar.cuh"
#include "gpu/invert/device_invert.h"
#include "gpu/device/inverse_pivot.cuh"
#include "gpu/device/waits.cuh"

/* The arrays of invert_pattern and what they are applied to, all on the device. */
template <typename T> struct invert_arguments {
    const T *panel, *d, *e; /* d, e: n, by positions */
    const unsigned *word; /* by which L's columns are told of while it is made; NULL: all are there
                           */
    const unsigned *all;  /* the one that is 1 when all of them are there */
    const column_words *wait;
    const int32_t *column_wait;
    T *values, *workspace;
    real_of<T> *sums, *root_sums, *turned; /* SQUARE for each strip: row sums of |M|; of |G|; of
                                              |D| |L_K^T| |G| */
    double *growth, *root_growth;          /* of small groups, then of strips */
    gathered_growth *gathered;
    unsigned *told, *drawn; /* words of the tasks; of each batch the tasks that are drawn, early
                               and late ones, up to ... */
    unsigned *drawn_end;    /* ... here; these, the words and `gathered` are zero before */
    uint64_t patience;      /* ns */
    const invert_piece *piece;
    const int32_t *map, *column_piece, *column, *z_row, *pivot_at16, *pivot_position;
    const small_group *small;
    const tiled_group *tiled;
    const invert_strip *strip;
    const root_tile *root;
    const product_item *item;
    const invert_part *part;
    const invert_task *task;
    int32_t n, smalls;
    bool hermitian, cholesky;
};

/* Threads of a team, each word by one of them, wait for column `column` of the groups, which all of
 * the team may read behind their next barrier. */
template <typename T>
__device__ __forceinline__ void wait_for_column(const invert_arguments<T> &a, int column,
                                                int thread, int threads)
{
    if (progress_seen(a.all) == 1)
        return;
    const column_words w = a.wait[a.column_wait[column]];
    for (int q = thread; q < w.count; q += threads)
        wait_until(a.word + w.first + q, w.least - (q > 0), &a.gathered->gave_up, a.patience);
}

template <typename T> __device__ __forceinline__ real_of<T> modulus(T a)
{
    if constexpr (scalar<T>::is_complex)
        return hypot(a.re, a.im);
    else
        return fabs(a);
}

/* One thread: most := the greater one. */
__device__ __forceinline__ void gather_growth(uint64_t *word, double growth)
{
    unsigned long long *most = reinterpret_cast<unsigned long long *>(word);
    const unsigned long long bits = (unsigned long long)__double_as_longlong(growth);
    if (bits > *(volatile unsigned long long *)most)
        atomicMax(most, bits);
}

/* The greatest of a warp's values; a NaN stays. */
__device__ __forceinline__ double worst_of_warp(double a)
{
    for (int mask = 16; mask > 0; mask /= 2)
        a = worse_growth(a, __shfl_xor_sync(~0u, a, mask));
    return a;
}

/* Row `position` of |D| y, where y has the entry `y` there and `before` and `after` beside it. */
template <typename T>
__device__ __forceinline__ real_of<T> pivot_magnitude(const invert_arguments<T> &a,
                                                      int32_t position, real_of<T> before,
                                                      real_of<T> y, real_of<T> after)
{
    if (a.cholesky)
        return y;
    const real_of<T> left = position > 0 ? modulus(a.e[position - 1]) * before : 0;
    return modulus(a.d[position]) * y + left + modulus(a.e[position]) * after;
}

/* The rows of D^-1 that the values keep, a thread for each column of the groups.  Where L is made
 * meanwhile this comes last, when all columns are there. */
template <typename T>
__global__ void __launch_bounds__(256)
    invert_pivots_kernel(const __grid_constant__ invert_arguments<T> a)
{
    if (a.word) {
        let_next_grid_begin();
        if (threadIdx.x == 0)
            wait_until(a.all, 1, &a.gathered->gave_up, a.patience);
        __syncthreads();
    } else
        wait_for_kernel_before();
    constexpr int STEP = 2 * sizeof(T) > 16 ? 2 : 16 / (int)sizeof(T);
    const int32_t q = (int32_t)(blockIdx.x * 256 + threadIdx.x),
                  at16 = q < a.n ? a.pivot_at16[q] : -1;
    if (at16 >= 0) {
        T *to = a.values + at16 * (int64_t)(16 / sizeof(T));
        const pivot_row<T> p = inverse_pivot(a.d, a.e, a.hermitian, a.pivot_position[q]);
        to[0] = p.diagonal;
        to[1] = p.off;
#pragma unroll
        for (int k = 2; k < STEP; k++)
            to[k] = T{};
    }
    stay_for_grid_before(a.word != nullptr);
}

#endif
