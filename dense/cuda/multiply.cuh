/* dense/cuda/multiply.cuh: warp scope: 8 x 8 products from shared memory, by tensor cores where double precision has them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Lane l holds entries (l div 4, 2 (l mod 4) + {0, 1}) of the product, the layout of mma.m8n8k4.f64.  One load feeds a
 * lane for 4 columns of A or rows of B, against one for each in scalar code: shared memory is what inverting waits for. */
#ifndef DENSE_CUDA_MULTIPLY_CUH
#define DENSE_CUDA_MULTIPLY_CUH

#include "dense/cuda/scalar.cuh"

__device__ __forceinline__ void multiply_8x8x4(double (&c)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a),
        "d"(b));
}

/* c += A B for A 8 x depth at a[i + k ld], B depth x 8 at b[k + j ld], depth a multiple of 4.  All lanes call.  Free of
 * bank conflicts when ld mod 16 is 4 or 12. */
template <typename T>
__device__ __forceinline__ void multiply_8x8(T (&c)[2], const T *a, const T *b, int ld, int depth)
{
    const int lane = threadIdx.x % 32, i = lane / 4, j = 2 * (lane % 4);
    if constexpr (sizeof(real_of<T>) == 4) {
#pragma unroll 8
        for (int k = 0; k < depth; k++) {
            c[0] = multiply_add(c[0], a[i + k * ld], b[k + j * ld]);
            c[1] = multiply_add(c[1], a[i + k * ld], b[k + (j + 1) * ld]);
        }
    } else if constexpr (scalar<T>::is_complex) {
        double re[2] = {c[0].re, c[1].re}, im[2] = {c[0].im, c[1].im};
#pragma unroll 4
        for (int k = 0; k < depth; k += 4) {
            const T x = a[i + (k + lane % 4) * ld], y = b[k + lane % 4 + i * ld];
            multiply_8x8x4(re, x.re, y.re);
            multiply_8x8x4(re, -x.im, y.im);
            multiply_8x8x4(im, x.re, y.im);
            multiply_8x8x4(im, x.im, y.re);
        }
        c[0] = {re[0], im[0]};
        c[1] = {re[1], im[1]};
    } else {
#pragma unroll 4
        for (int k = 0; k < depth; k += 4)
            multiply_8x8x4(c, a[i + (k + lane % 4) * ld], b[k + lane % 4 + i * ld]);
    }
}

/* to[i + j ld] := c or -c */
template <typename T> __device__ __forceinline__ void multiply_put(T *to, int ld, const T (&c)[2], bool negative)
{
    const int lane = threadIdx.x % 32, i = lane / 4, j = 2 * (lane % 4);
    to[i + j * ld] = negative ? -c[0] : c[0];
    to[i + (j + 1) * ld] = negative ? -c[1] : c[1];
}

#endif
