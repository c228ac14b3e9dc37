/* dense/cuda/device/product.cuh: block scope: 64 x 64 tiles of a matrix product, for preparation
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_PRODUCT_CUH
#define DENSE_CUDA_DEVICE_PRODUCT_CUH

#include "dense/cuda/device/tile.cuh"

constexpr int PRODUCT_DEPTH = 16;

/* A rows x columns matrix, entry (i,j) at entry[i row + j column]; what lies outside reads as
 * zero. */
template <typename T> struct operand {
    const T *entry;
    int64_t row, column;
    int rows, columns;

    __device__ __forceinline__ T at(int i, int j) const
    {
        return i < rows && j < columns ? entry[i * row + j * column] : T{};
    }
    /* Whether entries of a column are neighbours in memory, in either direction; otherwise those of
     * a row are. */
    __device__ __forceinline__ bool by_columns() const { return row == 1 || row == -1; }
};

template <typename T> struct product_shared {
    T a[PRODUCT_DEPTH][TILE + 1], b[PRODUCT_DEPTH][TILE + 1];
};

/* c[p][q] = (A B)(i, j) for i = t mod 16 + 16 p, j = t div 16 + 16 q, t = threadIdx.x; A has 64
 * rows, B 64 columns, and `depth` of their common index count.  256 threads. */
template <typename T>
__device__ __forceinline__ void product_tile(T (&c)[4][4], operand<T> A, operand<T> B, int depth,
                                             product_shared<T> &s)
{
    const int t = threadIdx.x;
    const bool a_down = A.by_columns(), b_down = B.by_columns();
    for (int k0 = 0; k0 < depth; k0 += PRODUCT_DEPTH) {
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const int wide = t % TILE, deep = t / TILE + 4 * m; /* 64 neighbours in memory */
            /* 16 neighbours */
            const int narrow = t % PRODUCT_DEPTH, far = t / PRODUCT_DEPTH + 16 * m;
            s.a[a_down ? deep : narrow][a_down ? wide : far] =
                a_down ? A.at(wide, k0 + deep) : A.at(far, k0 + narrow);
            s.b[b_down ? narrow : deep][b_down ? far : wide] =
                b_down ? B.at(k0 + narrow, far) : B.at(k0 + deep, wide);
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < PRODUCT_DEPTH; k++) {
            T a[4], b[4];
#pragma unroll
            for (int m = 0; m < 4; m++) {
                a[m] = s.a[k][t % 16 + 16 * m];
                b[m] = s.b[k][t / 16 + 16 * m];
            }
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    c[p][q] = multiply_add(c[p][q], a[p], b[q]);
        }
    }
}

#endif
