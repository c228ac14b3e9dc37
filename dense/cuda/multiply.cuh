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

/* c[t] += A B_t for N tiles B_t side by side: A 8 x depth at a[i + k ld], B depth x 8 N at b[k + j ld], depth a multiple
 * of 8.  All lanes call.  The chains of dependent products are kept short: N is best even. */
template <typename T, int N>
__device__ __forceinline__ void multiply_8x8(T (&c)[N][2], const T *a, const T *b, int ld, int depth)
{
    const int lane = threadIdx.x % 32, i = lane / 4, j = 2 * (lane % 4);
    if constexpr (sizeof(real_of<T>) == 4) {
#pragma unroll 4
        for (int k = 0; k < depth; k++) {
            const T x = a[i + k * ld];
#pragma unroll
            for (int t = 0; t < N; t++) {
                c[t][0] = multiply_add(c[t][0], x, b[k + (8 * t + j) * ld]);
                c[t][1] = multiply_add(c[t][1], x, b[k + (8 * t + j + 1) * ld]);
            }
        }
    } else if constexpr (scalar<T>::is_complex) {
        double re[N][2] = {}, im[N][2] = {};
#pragma unroll 2
        for (int k = lane % 4; k < depth; k += 4) {
            const T x = a[i + k * ld];
#pragma unroll
            for (int t = 0; t < N; t++) {
                const T y = b[k + (8 * t + i) * ld];
                multiply_8x8x4(re[t], x.re, y.re);
                multiply_8x8x4(im[t], x.re, y.im);
                multiply_8x8x4(re[t], -x.im, y.im);
                multiply_8x8x4(im[t], x.im, y.re);
            }
        }
#pragma unroll
        for (int t = 0; t < N; t++) {
            c[t][0] = c[t][0] + T{re[t][0], im[t][0]};
            c[t][1] = c[t][1] + T{re[t][1], im[t][1]};
        }
    } else {
        double even[N][2] = {};
#pragma unroll 4
        for (int k = lane % 4; k < depth; k += 8) {
            const double x0 = a[i + k * ld], x1 = a[i + (k + 4) * ld];
#pragma unroll
            for (int t = 0; t < N; t++) {
                multiply_8x8x4(even[t], x0, b[k + (8 * t + i) * ld]);
                multiply_8x8x4(c[t], x1, b[k + 4 + (8 * t + i) * ld]);
            }
        }
#pragma unroll
        for (int t = 0; t < N; t++) {
            c[t][0] += even[t][0];
            c[t][1] += even[t][1];
        }
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
