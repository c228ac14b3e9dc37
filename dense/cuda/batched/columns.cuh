/* dense/cuda/batched/columns.cuh: right-hand sides of a batched solve, as the solve reads and
 * writes them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry's address is asked for once, at(i, c), and walked along a column by `row`: an address
 * from i and c costs as much as a dozen products. */
#ifndef DENSE_CUDA_BATCHED_COLUMNS_CUH
#define DENSE_CUDA_BATCHED_COLUMNS_CUH

#include "dense/cuda/device/view.cuh"

/* X over B: entry (i,c) = entry[i row + c column], conjugated on the way in and out. */
template <typename T> struct given_columns {
    T *entry;
    int64_t row, column;
    int count;
    bool conjugate;

    __device__ __forceinline__ T *at(int i, int c) const { return entry + i * row + c * column; }
    /* entry (i,c), at p, of B and, once it is stored, of X */
    __device__ __forceinline__ T given(const T *p, int, int) const
    {
        return conjugate_if(*p, conjugate);
    }
    __device__ __forceinline__ T solved(const T *p, int, int) const
    {
        return conjugate_if(*p, conjugate);
    }
    __device__ __forceinline__ void store(T *p, int, int, T v) const
    {
        *p = conjugate_if(v, conjugate);
    }
    /* columns from c on, at most `most` */
    __device__ __forceinline__ given_columns from(int c, int most) const
    {
        return {entry + c * column, row, column, min(count - c, most), conjugate};
    }
};

/* X over the first columns of L itself, B the first columns of the identity: only the lower
 * triangle is there, and not its diagonal when unit. */
template <typename T> struct unit_columns {
    T *entry;
    int64_t row, column;
    int count;
    bool unit;

    __device__ __forceinline__ T *at(int i, int c) const { return entry + i * row + c * column; }
    __device__ __forceinline__ bool is_stored(int i, int c) const
    {
        return i > c || (i == c && !unit);
    }
    __device__ __forceinline__ T given(const T *, int i, int c) const
    {
        return from_real<T>(i == c);
    }
    __device__ __forceinline__ T solved(const T *p, int i, int c) const
    {
        return is_stored(i, c) ? *p : from_real<T>(i == c);
    }
    __device__ __forceinline__ void store(T *p, int i, int c, T v) const
    {
        if (is_stored(i, c))
            *p = v;
    }
};

#endif
