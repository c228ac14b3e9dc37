/* dense/cuda/device/signs.cuh: the signs of the columns of a factor A = L S L^H, S = diag(+-1)
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * L has positive numbers on its diagonal, as in Cholesky, of which this is the case S = 1: routines
 * for both take the signs as a last argument, which is empty then and costs nothing.  Where they
 * speak of the inverse X of a block of L it is S inv(L): the rows below a block are L21 = A21 X^H.
 * A product from which an L S L^H is subtracted has the signs on its left operand. */
#ifndef DENSE_CUDA_DEVICE_SIGNS_CUH
#define DENSE_CUDA_DEVICE_SIGNS_CUH

#include "dense/cuda/device/scalar.cuh"

/* All are positive. */
struct no_signs {
    static constexpr bool ANY = false;

    __device__ __forceinline__ no_signs at(int) const { return {}; }
    __device__ __forceinline__ no_signs first(int) const { return {}; }
    template <typename T> __device__ __forceinline__ T flip(T v, int) const { return v; }
};

/* Of 64 columns: bit k is set where that of column k is negative. */
struct column_signs {
    static constexpr bool ANY = true;
    uint64_t negative;

    /* Of the columns from c on, c < 64; of the first `count`, the others being positive. */
    __device__ __forceinline__ column_signs at(int c) const { return {negative >> c}; }
    __device__ __forceinline__ column_signs first(int count) const
    {
        return {count < 64 ? negative & ((uint64_t(1) << count) - 1) : negative};
    }
    template <typename T> __device__ __forceinline__ T flip(T v, int k) const
    {
        return negative >> k & 1 ? -v : v;
    }
};

/* Of any number of columns, in memory: bit (begin + k) of its words, which reach three words past
 * the last of them. */
struct sign_table {
    static constexpr bool ANY = true;
    const uint32_t *word;
    int64_t begin;

    __device__ __forceinline__ column_signs at(int c) const
    {
        const int64_t bit = begin + c;
        const uint32_t *const from = word + bit / 32;
        const int shift = (int)(bit % 32);
        const uint64_t low = from[0] | (uint64_t)from[1] << 32;
        return {shift ? low >> shift | (uint64_t)from[2] << (64 - shift) : low};
    }
};

#endif
