/* dense/cuda/device/signs.cuh: the signs of the columns of a factor A = L S L^H, S = diag(+-1), or
 * of a complex symmetric A = L S L^T
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * L has positive numbers on its diagonal, as in Cholesky, of which this is the case S = 1: routines
 * for both take the signs as a last argument, which is empty then and costs nothing.  Where they
 * speak of the inverse X of a block of L it is S inv(L): the rows below a block are L21 = A21 X^H.
 * A product from which an L S L^H is subtracted has the signs on its left operand.
 *
 * The type of the signs says whether A is Hermitian (or real) or complex symmetric.  In the second
 * case read ^T wherever these routines say ^H; pivots, and the roots of them on the diagonal of L,
 * are complex. */
#ifndef DENSE_CUDA_DEVICE_SIGNS_CUH
#define DENSE_CUDA_DEVICE_SIGNS_CUH

#include "dense/cuda/device/scalar.cuh"
#include <type_traits>

/* All are positive. */
template <bool HERMITIAN_> struct positive_columns {
    static constexpr bool ANY = false, HERMITIAN = HERMITIAN_;
    using all_positive = positive_columns;

    __device__ __forceinline__ positive_columns at(int) const { return {}; }
    __device__ __forceinline__ positive_columns first(int) const { return {}; }
    template <typename T> __device__ __forceinline__ T flip(T v, int) const { return v; }
};
using no_signs = positive_columns<true>;

/* Of 64 columns: bit k is set where that of column k is negative. */
template <bool HERMITIAN_> struct column_signs {
    static constexpr bool ANY = true, HERMITIAN = HERMITIAN_;
    using all_positive = positive_columns<HERMITIAN>;
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
template <bool HERMITIAN_> struct sign_table {
    static constexpr bool ANY = true, HERMITIAN = HERMITIAN_;
    const uint32_t *word;
    int64_t begin;

    __device__ __forceinline__ column_signs<HERMITIAN> at(int c) const
    {
        const int64_t bit = begin + c;
        const uint32_t *const from = word + bit / 32;
        const int shift = (int)(bit % 32);
        const uint64_t low = from[0] | (uint64_t)from[1] << 32;
        return {shift ? low >> shift | (uint64_t)from[2] << (64 - shift) : low};
    }
};

/* a(j,i) from a(i,j) */
template <typename S, typename T> INLINE T mirrored(T v)
{
    return conjugate_if(v, S::HERMITIAN);
}

/* The type of pivots: real, or complex where the matrix is complex symmetric.  pivot_part: the
 * pivot in a diagonal entry. */
template <typename T, typename S>
using pivot_type = std::conditional_t<S::HERMITIAN, real_of<T>, T>;
template <typename S, typename T> INLINE pivot_type<T, S> pivot_part(T v)
{
    if constexpr (S::HERMITIAN)
        return real_part(v);
    else
        return v;
}
/* A pivot of either type as a scalar. */
template <typename T, typename P> INLINE T from_pivot(P v)
{
    if constexpr (std::is_same_v<T, P>)
        return v;
    else
        return from_real<T>(v);
}
/* a times a pivot of either type, or times its reciprocal. */
template <typename T, typename P> INLINE T times_pivot(T a, P r)
{
    if constexpr (std::is_same_v<T, P>)
        return multiply(a, r);
    else
        return times_real(a, r);
}

#endif
