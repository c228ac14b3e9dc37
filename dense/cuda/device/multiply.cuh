/* dense/cuda/device/multiply.cuh: warp scope: 16 x 8 products from shared memory, by the tensor
 * cores' double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * mma.m16n8k8.f64 does four times the work of m8n8k4 in the same time on sm_90.  Single precision
 * goes the same way: converted on loading, summed in double, rounded once.  With g = lane div 4 and
 * t = lane mod 4 a lane holds of a product the entries (g, 2t), (g, 2t+1), (g+8, 2t), (g+8,
 * 2t+1). */
#ifndef DENSE_CUDA_DEVICE_MULTIPLY_CUH
#define DENSE_CUDA_DEVICE_MULTIPLY_CUH

#include "dense/cuda/device/signs.cuh"

/* c += A B, A 16 x 8, B 8 x 8 */
__device__ __forceinline__ void multiply_16x8x8(double (&c)[4], const double (&a)[4],
                                                const double (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%9}, {%0, "
        "%1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

/* c += A B, A 8 x 4, B 4 x 8: a lane holds (g, t) of A, (t, g) of B, (g, 2t) and (g, 2t+1) of c.
 * Half the wait of the larger one. */
__device__ __forceinline__ void multiply_8x8x4(double (&c)[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
}

/* A product of N tiles side by side as it is summed: its parts, real and imaginary. */
template <typename T, int N> struct product_sum {
    static constexpr int PARTS = scalar<T>::is_complex ? 2 : 1;
    double part[PARTS][N][4];

    __device__ __forceinline__ product_sum() : part{} {}
    __device__ __forceinline__ T entry(int t, int k) const
    {
        using R = real_of<T>;
        if constexpr (scalar<T>::is_complex)
            return {(R)part[0][t][k], (R)part[1][t][k]};
        else
            return (R)part[0][t][k];
    }
};

/* Two entries of a lane as products sum them. */
template <typename T> struct pair_sum {
    double part[product_sum<T, 1>::PARTS][2];

    __device__ __forceinline__ T entry(int e) const
    {
        using R = real_of<T>;
        if constexpr (scalar<T>::is_complex)
            return {(R)part[0][e], (R)part[1][e]};
        else
            return (R)part[0][e];
    }
    __device__ __forceinline__ void set(int e, T v)
    {
        if constexpr (scalar<T>::is_complex) {
            part[0][e] = v.re;
            part[1][e] = v.im;
        } else {
            part[0][e] = v;
        }
    }
};

/* Tile t of a sum += A B, or with TURNED A conj(B), of which a lane has these entries. */
template <bool TURNED, typename T, int N>
__device__ __forceinline__ void multiply_entries(product_sum<T, N> &c, int t, const T (&x)[4],
                                                 const T (&y)[2])
{
    if constexpr (scalar<T>::is_complex) {
        const double re[4] = {x[0].re, x[1].re, x[2].re, x[3].re},
                     im[4] = {x[0].im, x[1].im, x[2].im, x[3].im};
        const double y_re[2] = {y[0].re, y[1].re}, y_im[2] = {y[0].im, y[1].im},
                     minus[2] = {-y_im[0], -y_im[1]};
        multiply_16x8x8(c.part[0][t], re, y_re);
        multiply_16x8x8(c.part[0][t], im, TURNED ? y_im : minus);
        multiply_16x8x8(c.part[1][t], im, y_re);
        multiply_16x8x8(c.part[1][t], re, TURNED ? minus : y_im);
    } else {
        const double a_part[4] = {x[0], x[1], x[2], x[3]}, b_part[2] = {y[0], y[1]};
        multiply_16x8x8(c.part[0][t], a_part, b_part);
    }
}

/* c += A [B_0 .. B_N-1]: A 16 x depth at a[i + k ld], B_t depth x 8 at b[k + (8 t + j) ld], depth a
 * multiple of 8.  All lanes call. */
template <typename T, int N>
__device__ __forceinline__ void multiply_16(product_sum<T, N> &c, const T *a, const T *b, int ld,
                                            int depth)
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4;
#pragma unroll 2
    for (int k = l; k < depth; k += 8) {
        const T x[4] = {a[g + k * ld], a[g + 8 + k * ld], a[g + (k + 4) * ld],
                        a[g + 8 + (k + 4) * ld]};
#pragma unroll
        for (int t = 0; t < N; t++) {
            const T y[2] = {b[k + (8 * t + g) * ld], b[k + 4 + (8 * t + g) * ld]};
            multiply_entries<false>(c, t, x, y);
        }
    }
}

/* c += A S [B_0^H .. B_N-1^H]: A 16 x depth at a[i + k ld], B_t 8 x depth at b[8 t + j + k ld],
 * depth a multiple of 8.  All lanes call. */
template <typename T, int N, typename S = no_signs>
__device__ __forceinline__ void multiply_16_turned(product_sum<T, N> &c, const T *a, int ld,
                                                   const T *b, int ldb, int depth, S signs = {})
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4;
#pragma unroll 2
    for (int k = l; k < depth; k += 8) {
        const T x[4] = {signs.flip(a[g + k * ld], k), signs.flip(a[g + 8 + k * ld], k),
                        signs.flip(a[g + (k + 4) * ld], k + 4),
                        signs.flip(a[g + 8 + (k + 4) * ld], k + 4)};
#pragma unroll
        for (int t = 0; t < N; t++) {
            const T y[2] = {b[8 * t + g + k * ldb], b[8 * t + g + (k + 4) * ldb]};
            multiply_entries<S::HERMITIAN>(c, t, x, y);
        }
    }
}

/* c += A B, A 16 x depth with entries a(i, k), B depth x 8 with b(k, j); both are asked for up to
 * depth rounded up to 8.  All lanes call. */
template <typename T, typename A, typename B>
__device__ __forceinline__ void multiply_16_of(product_sum<T, 1> &c, int depth, A a, B b)
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4;
#pragma unroll 2
    for (int k = l; k < (depth + 7) / 8 * 8; k += 8) {
        const T x[4] = {a(g, k), a(g + 8, k), a(g, k + 4), a(g + 8, k + 4)},
                y[2] = {b(k, g), b(k + 4, g)};
        multiply_entries<false>(c, 0, x, y);
    }
}
/* Calls visit(i, j, entry) for the four entries of a 16 x 8 product that a lane has. */
template <typename T, typename F>
__device__ __forceinline__ void each_entry_of(const product_sum<T, 1> &c, F visit)
{
    const int lane = threadIdx.x % 32, i = lane / 4, j = 2 * (lane % 4);
#pragma unroll
    for (int k = 0; k < 4; k++)
        visit(i + 8 * (k / 2), j + k % 2, c.entry(0, k));
}

/* c += A S B^H of depth 8, of which only the first `depth` columns count. */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void multiply_8_turned(product_sum<T, 1> &c, const T *a, int ld,
                                                  const T *b, int ldb, int depth, S signs = {})
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4;
    const bool near = l < depth, far = l + 4 < depth;
    const T x[4] = {signs.flip(near ? a[g + l * ld] : T{}, l),
                    signs.flip(near ? a[g + 8 + l * ld] : T{}, l),
                    signs.flip(far ? a[g + (l + 4) * ld] : T{}, l + 4),
                    signs.flip(far ? a[g + 8 + (l + 4) * ld] : T{}, l + 4)},
            y[2] = {near ? b[g + l * ldb] : T{}, far ? b[g + (l + 4) * ldb] : T{}};
    multiply_entries<S::HERMITIAN>(c, 0, x, y);
}

/* to[i + j ld] := the product or its negative, 16 x 8 N */
template <typename T, int N>
__device__ __forceinline__ void multiply_put(T *to, int ld, const product_sum<T, N> &c,
                                             bool negative)
{
    const int lane = threadIdx.x % 32, i = lane / 4, j = 2 * (lane % 4);
#pragma unroll
    for (int t = 0; t < N; t++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const T v = c.entry(t, k);
            to[i + 8 * (k / 2) + (8 * t + j + k % 2) * ld] = negative ? -v : v;
        }
}

#endif
