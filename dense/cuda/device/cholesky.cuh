/* dense/cuda/device/cholesky.cuh: block scope: Cholesky of the first columns of a front in shared
 * memory, by 256 threads
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Right-looking in steps of eight columns.  One warp factorizes the 8 x 8 block on the diagonal,
 * each of its lanes all of it in registers: a step of the chain of columns is then a reciprocal
 * square root, a product and a subtraction, without exchanges between lanes.  It goes on to the
 * next such block while the other warps subtract the step's product from the rest. */
#ifndef DENSE_CUDA_DEVICE_CHOLESKY_CUH
#define DENSE_CUDA_DEVICE_CHOLESKY_CUH

#include "dense/cuda/device/multiply.cuh"

constexpr int CHOLESKY_THREADS = 256, CHOLESKY_STEP = 8;

/* What becomes of pivots: those at most eps_limit times the diagonal entry that they started from,
 * or not a number, are refused and replaced by 1; those at most doubt_level times that are
 * counted. */
template <typename T> struct cholesky_pivots {
    const real_of<T> *start; /* in shared memory, from the first column on */
    int first;               /* number of the first column */
    double refuse, doubt;
    int *failed;                  /* least number of a refused pivot */
    int *uncertain;               /* how many are in doubt */
    unsigned long long *smallest; /* the least pivot as a positive double; its bits are in order */
};

__device__ __forceinline__ double reciprocal_root(double a)
{
    return rsqrt(a);
}
__device__ __forceinline__ float reciprocal_root(float a)
{
    return 1 / sqrtf(a);
}
template <typename T> __device__ __forceinline__ real_of<T> real_part(T a)
{
    if constexpr (scalar<T>::is_complex)
        return a.re;
    else
        return a;
}

/* The diagonal block of order `width` <= 8 at D, by one full warp: D := L, X := inv(L), 8 x 8 with
 * zeros above the diagonal and ones past width.  column: of D's first one. */
template <typename T>
__device__ __forceinline__ void cholesky_8(T *D, int ld, int width, T *X, int ldx, int column,
                                           const cholesky_pivots<T> &p)
{
    using R = real_of<T>;
    constexpr int N = CHOLESKY_STEP;
    const int lane = threadIdx.x % 32;
    T a[N][N], x[N];
    R reciprocal[N], start[N];
    double least = INFINITY;
#pragma unroll
    for (int j = 0; j < N; j++) {
        start[j] = j < width ? p.start[column + j] : R(1);
#pragma unroll
        for (int i = j; i < N; i++)
            a[i][j] = i < width && j < width ? D[i + j * ld] : from_real<T>(i == j);
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        R pivot = real_part(a[j][j]);
        if (!((double)pivot > p.refuse * (double)start[j])) {
            if (lane == 0)
                atomicMin(p.failed, p.first + column + j);
            pivot = 1;
        } else if (j < width) {
            if ((double)pivot <= p.doubt * (double)start[j] && lane == 0)
                atomicAdd(p.uncertain, 1);
            least = fmin(least, (double)pivot);
        }
        const R r = reciprocal[j] = reciprocal_root(pivot);
        a[j][j] = from_real<T>(pivot * r);
#pragma unroll
        for (int i = j + 1; i < N; i++)
            a[i][j] = multiply(a[i][j], from_real<T>(r));
#pragma unroll
        for (int c = j + 1; c < N; c++)
#pragma unroll
            for (int i = c; i < N; i++)
                a[i][c] = multiply_add(a[i][c], -a[i][j], conjugate_if(a[c][j], true));
    }
    if (lane == 0 && least < INFINITY)
        atomicMin(p.smallest, (unsigned long long)__double_as_longlong(least));
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = from_real<T>(i == lane);
#pragma unroll
    for (int k = 0; k < N; k++) {
        x[k] = multiply(x[k], from_real<T>(reciprocal[k]));
#pragma unroll
        for (int i = k + 1; i < N; i++)
            x[i] = multiply_add(x[i], -x[k], a[i][k]);
    }
    if (lane < N)
#pragma unroll
        for (int i = 0; i < N; i++)
            X[i + lane * ldx] = x[i];
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = j; i < N; i++)
            if (lane == (i + N * j) % 32 && i < width)
                D[i + j * ld] = a[i][j];
}

/* Rows below the diagonal block at column p: times X^H, two threads for a row.  m <= 128. */
template <typename T>
__device__ __forceinline__ void cholesky_rows(T *F, int ld, int m, int p, int width, const T *X,
                                              int ldx)
{
    const int row = p + width + (int)threadIdx.x / 2, half = 4 * (threadIdx.x % 2);
    T a[CHOLESKY_STEP], sum[4] = {};
    if (row < m)
#pragma unroll
        for (int k = 0; k < CHOLESKY_STEP; k++)
            a[k] = k < width ? F[row + (p + k) * ld] : T{};
    __syncwarp();
    if (row >= m)
        return;
#pragma unroll
    for (int k = 0; k < CHOLESKY_STEP; k++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] = multiply_add(sum[j], a[k], conjugate_if(X[half + j + k * ldx], true));
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (half + j < width)
            F[row + (p + half + j) * ld] = sum[j];
}

/* Tile (16 rows from i, 8 columns from j) -= product of the columns [p, p + width); those of its
 * columns before `from` stay.  All lanes of a warp call. */
template <typename T>
__device__ __forceinline__ void cholesky_update(T *F, int ld, int i, int j, int p, int width,
                                                int from)
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4;
    product_sum<T, 1> c;
    if (width == CHOLESKY_STEP)
        multiply_16_turned(c, F + i + p * ld, F + j + p * ld, ld, CHOLESKY_STEP);
    else { /* what lies behind the last pivot is no part of L */
        for (int k = 0; k < width; k++) {
            const T y[2] = {F[j + 2 * l + (p + k) * ld], F[j + 2 * l + 1 + (p + k) * ld]};
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const T v =
                    multiply(F[i + g + 8 * (e / 2) + (p + k) * ld], conjugate_if(y[e % 2], true));
                c.part[0][0][e] += (double)real_part(v);
                if constexpr (scalar<T>::is_complex)
                    c.part[1][0][e] += (double)v.im;
            }
        }
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        const int column = j + 2 * l + e % 2;
        T *to = F + i + g + 8 * (e / 2) + column * ld;
        if (column >= from)
            *to = *to - c.entry(0, e);
    }
}

/* Cholesky of the first k columns of the m x m front at F, lower triangle; the rest becomes what is
 * left of it.  m <= 128.  F has room for m rounded up to 16 rows and to 8 columns, all of which
 * hold numbers; its upper triangle is overwritten.  X: inverses of the diagonal blocks, the one at
 * column p at X + p x_step with leading dimension ldx.  256 threads; F and p are visible to all;
 * ends with a barrier. */
template <typename T>
__device__ __forceinline__ void cholesky_columns(T *F, int ld, int m, int k, T *X, int x_step,
                                                 int ldx, const cholesky_pivots<T> &pivots)
{
    constexpr int STEP = CHOLESKY_STEP, WARPS = CHOLESKY_THREADS / 32;
    const int warp = threadIdx.x / 32;
    if (warp == 0)
        cholesky_8(F, ld, min(STEP, k), X, ldx, 0, pivots);
    __syncthreads();
    for (int p = 0; p < k; p += STEP) {
        const int width = min(STEP, k - p), next = p + STEP, from = p + width;
        cholesky_rows(F, ld, m, p, width, X + p * x_step, ldx);
        __syncthreads();
        const bool goes_on = next < k;
        if (goes_on && warp == 0) {
            cholesky_update(F, ld, next / 16 * 16, next, p, width, from);
            __syncwarp();
            cholesky_8(F + next * (ld + 1), ld, min(STEP, k - next), X + next * x_step, ldx, next,
                       pivots);
        } else {
            /* tiles column by column, a warp takes every step-th; number 0 is the other warp's */
            const int step = goes_on ? WARPS - 1 : WARPS;
            int mine = warp, number = 0; /* of the first tile of a column */
            for (int j = width == STEP ? next : p; j < m; j += 8) {
                const int first = j / 16, tiles = (m + 15) / 16 - first;
                for (; mine < number + tiles; mine += step)
                    cholesky_update(F, ld, 16 * (first + mine - number), j, p, width, from);
                number += tiles;
            }
        }
        __syncthreads();
    }
}

#endif
