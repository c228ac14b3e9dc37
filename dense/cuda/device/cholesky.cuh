/* dense/cuda/device/cholesky.cuh: block or warp scope: Cholesky of the first columns of a front in
 * shared memory, by 256 threads or a warp
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Right-looking in steps of eight columns.  One warp factorizes the 8 x 8 block on the diagonal,
 * each of its lanes all of it in registers: a step of the chain of columns is then a reciprocal
 * square root, a product and a subtraction, without exchanges between lanes.  It goes on to the
 * next such block while the other warps subtract the step's product from the rest.
 *
 * signs: see signs.cuh; a pivot is then that of the column times its sign. */
#ifndef DENSE_CUDA_DEVICE_CHOLESKY_CUH
#define DENSE_CUDA_DEVICE_CHOLESKY_CUH

#include "dense/cuda/device/growth.h"
#include "dense/cuda/device/multiply.cuh"

constexpr int CHOLESKY_THREADS = 256, CHOLESKY_STEP = 8;

/* What becomes of pivots: those at most `refuse` times the diagonal entry that they started from,
 * not normal or not a number are refused, and nothing that follows is of use; those at most `doubt`
 * times that are counted. */
template <typename T> struct cholesky_rule {
    double refuse, doubt;
    int *failed;                  /* least number of a refused pivot */
    int *uncertain;               /* how many are in doubt */
    unsigned long long *smallest; /* the least pivot as a positive double; its bits are in order */
};

/* From the hardware's 20 bits by one step of third order.  a: a normal number. */
__device__ __forceinline__ double reciprocal_root(double a)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    const double e = fma(-a * y, y, 1.0);
    return fma(y * e, fma(e, 0.375, 0.5), y);
}
__device__ __forceinline__ float reciprocal_root(float a)
{
    const float y = rsqrtf(a);
    return fmaf(y * 0.5f, fmaf(-a * y, y, 1.0f), y);
}
/* 2^-2e where 2^2e is about |a|, and 2^-e */
struct even_scale {
    double square, root;
};
__device__ __forceinline__ even_scale scale_of_root(double a)
{
    const int e = (((__double2hiint(a) >> 20) & 0x7ff) - 1023) >> 1;
    return {__hiloint2double((1023 - 2 * e) << 20, 0), __hiloint2double((1023 - e) << 20, 0)};
}
/* 1 / sqrt(a) of a complex a, the root whose real part is not negative.  The larger part of the
 * root is sqrt((|a| + |re a|) / 2), the other one is half of im a over that.  Both types compute in
 * double precision, and a is scaled so that |a|^2 is in range. */
template <typename R> __device__ __forceinline__ complex_of<R> reciprocal_root(complex_of<R> a)
{
    const even_scale s = scale_of_root(fmax(fabs((double)a.re), fabs((double)a.im)));
    const double re = a.re * s.square, im = a.im * s.square, norm = fma(re, re, im * im),
                 per_size = reciprocal_root(norm), half = 0.5 * fma(norm, per_size, fabs(re)),
                 per_large = reciprocal_root(half), large = half * per_large,
                 small = 0.5 * im * per_large;
    const bool is_right = re >= 0;
    const double x = is_right ? large : fabs(small), y = is_right ? small : copysign(large, im),
                 scale = per_size * s.root;
    return {(R)(x * scale), (R)(-y * scale)};
}
/* What judge_pivot looks at: a real pivot, or the modulus of a complex one. */
template <typename P> __device__ __forceinline__ real_of<P> judged(P pivot)
{
    if constexpr (scalar<P>::is_complex)
        return hypot(pivot.re, pivot.im);
    else
        return pivot;
}
template <typename R> __device__ __forceinline__ constexpr R least_normal()
{
    return sizeof(R) == 8 ? (R)DBL_MIN : (R)FLT_MIN;
}

/* Looks at a pivot of each lane of a full warp: its value, what it started from and its column;
 * counts: this lane has one. */
template <typename T>
__device__ __forceinline__ void judge_pivot(bool counts, real_of<T> value, real_of<T> start,
                                            int column, const cholesky_rule<T> &rule)
{
    using R = real_of<T>;
    double least = INFINITY;
    if (counts && !(value > (R)rule.refuse * start && value >= least_normal<R>()))
        atomicMin(rule.failed, column);
    else if (counts) {
        if (value <= (R)rule.doubt * start)
            atomicAdd(rule.uncertain, 1);
        least = (double)value;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        least = fmin(least, __shfl_xor_sync(~0u, least, mask));
    if (threadIdx.x % 32 == 0 && least < INFINITY)
        atomicMin(rule.smallest, (unsigned long long)__double_as_longlong(least));
}

/* Bits of |v|, complex: of its larger part, which are in the order of these numbers. */
__device__ __forceinline__ unsigned size_bits(double v)
{
    return (unsigned)__double2hiint(v) & 0x7fffffff;
}
__device__ __forceinline__ unsigned size_bits(float v)
{
    return __float_as_uint(v) & 0x7fffffff;
}
template <typename R> __device__ __forceinline__ unsigned size_bits(complex_of<R> v)
{
    return max(size_bits(v.re), size_bits(v.im));
}

/* The diagonal block of order `width` <= 8 at D, by one full warp: D := L, X := inv(L), 8 x 8 with
 * zeros above the diagonal and ones past width, its rows x_row apart; pivot(j): what column j was
 * divided by the root of; *grows: whether rows below would lose digits as products with X. */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void cholesky_8(T *D, int ld, int width, T *X, int x_row, int ldx,
                                           pivot_type<T, S> *pivot, int *grows, S signs = {})
{
    using R = real_of<T>;
    using P = pivot_type<T, S>;
    constexpr int N = CHOLESKY_STEP;
    const int lane = threadIdx.x % 32;
    T a[N][N], x[N];
    P reciprocal[N];
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = j; i < N; i++)
            a[i][j] = i < width && j < width ? D[i + j * ld] : from_real<T>(i == j);
    __syncwarp(); /* D is overwritten, entry by entry by other lanes */
#pragma unroll
    for (int j = 0; j < N; j++) {
        const P own = signs.flip(pivot_part<S>(a[j][j]), j),
                r = reciprocal[j] = reciprocal_root(own);
        if (lane == j)
            pivot[j] = own;
        a[j][j] = from_pivot<T>(multiply(own, r));
#pragma unroll
        for (int i = j + 1; i < N; i++)
            a[i][j] = multiply(a[i][j], from_pivot<T>(signs.flip(r, j)));
#pragma unroll
        for (int c = j + 1; c < N; c++)
#pragma unroll
            for (int i = c; i < N; i++)
                a[i][c] = multiply_add(a[i][c], -signs.flip(a[i][j], j), mirrored<S>(a[c][j]));
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = from_real<T>(i == lane);
    unsigned largest = 0; /* of inv(U), L = U D */
#pragma unroll
    for (int k = 0; k < N; k++) {
        largest = max(largest, size_bits(x[k]));
        x[k] = multiply(x[k], from_pivot<T>(reciprocal[k]));
#pragma unroll
        for (int i = k + 1; i < N; i++)
            x[i] = multiply_add(x[i], -x[k], a[i][k]);
    }
    const bool is_large = __any_sync(~0u, largest > size_bits((R)ROWS_GROWTH_LIMIT));
    if (lane == 0)
        *grows = is_large;
    if (lane < N)
#pragma unroll
        for (int i = 0; i < N; i++)
            X[i * x_row + lane * ldx] = signs.flip(x[i], i);
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = j; i < N; i++)
            if (lane == (i + N * j) % 32 && i < width)
                D[i + j * ld] = a[i][j];
}

/* The threads that work on a front: a warp, or all eight of a block. */
template <int WARPS> struct front_team {
    static constexpr int THREADS = 32 * WARPS;
    __device__ __forceinline__ static int rank() { return threadIdx.x % THREADS; }
    __device__ __forceinline__ static int warp() { return WARPS == 1 ? 0 : (int)threadIdx.x / 32; }
    __device__ __forceinline__ static void sync()
    {
        if constexpr (WARPS == 1)
            __syncwarp();
        else
            __syncthreads();
    }
};

/* Rows [from, to) of `width` columns at B := times (S inv(L))^H by substitution, a lane for each.
 */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void substitute_rows_8(T *B, const T *L, int ld, int from, int to,
                                                  int width = CHOLESKY_STEP, S signs = {})
{
    for (int i = from + (int)threadIdx.x % 32; i < to; i += 32)
#pragma unroll 1
        for (int c = 0; c < width; c++) {
            T sum = B[i + c * ld];
#pragma unroll 1
            for (int d = 0; d < c; d++)
                sum = multiply_add(sum, -signs.flip(B[i + d * ld], d), mirrored<S>(L[c + d * ld]));
            B[i + c * ld] =
                times_pivot(sum, signs.flip(reciprocal_of(pivot_part<S>(L[c * (ld + 1)])), c));
        }
}

/* Rows below the diagonal block at column p: times X^H, 16 of them by a warp at a time, every
 * step-th from number `mine` on; grows: by substitution. */
template <typename T, typename S>
__device__ __forceinline__ void cholesky_rows(T *F, int ld, int m, int p, int width, const T *X,
                                              int ldx, const int *grows, int mine, int step,
                                              S signs)
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = 2 * (lane % 4);
    const bool substitutes = *grows;
    for (int i = (p + width) / 16 * 16 + 16 * mine; i < m; i += 16 * step) {
        if (substitutes) {
            substitute_rows_8(F + p * ld, F + p * (ld + 1), ld, max(i, p + width), min(i + 16, m),
                              width, signs);
            continue;
        }
        product_sum<T, 1> c;
        multiply_16_turned(c, F + i + p * ld, ld, X, ldx, CHOLESKY_STEP,
                           typename S::all_positive{});
        __syncwarp();
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = i + g + 8 * (e / 2), column = l + e % 2;
            if (row >= p + width && column < width)
                F[row + (p + column) * ld] = c.entry(0, e);
        }
    }
}

/* 16 x 8 entries at C -= A S B^H, A 16 x width, B 8 x width, but for the columns before `from`.
 * Some of C may be columns of A and B behind their width.  All lanes of a warp call. */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void cholesky_subtract(T *C, const T *A, const T *B, int ld,
                                                  int width = CHOLESKY_STEP, int from = 0,
                                                  S signs = {})
{
    const int lane = threadIdx.x % 32, g = lane / 4, l = 2 * (lane % 4);
    T before[4];
    product_sum<T, 1> c;
#pragma unroll
    for (int e = 0; e < 4; e++)
        before[e] = C[g + 8 * (e / 2) + (l + e % 2) * ld];
    multiply_8_turned(c, A, ld, B, ld, width, signs);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (l + e % 2 >= from)
            C[g + 8 * (e / 2) + (l + e % 2) * ld] = before[e] - c.entry(0, e);
}

/* Tile (16 rows from i, 8 columns from j) -= product of the columns [p, p + width); those of its
 * columns before p + width stay. */
template <typename T, typename S>
__device__ __forceinline__ void cholesky_update(T *F, int ld, int i, int j, int p, int width,
                                                S signs)
{
    cholesky_subtract(F + i + j * ld, F + i + p * ld, F + j + p * ld, ld, width, p + width - j,
                      signs);
}

/* The step's product from all tiles behind column p, column by column of tiles, every `step`-th
 * from number `mine` on. */
template <typename T, typename S>
__device__ __forceinline__ void cholesky_update_rest(T *F, int ld, int m, int p, int width,
                                                     int mine, int step, S signs)
{
    int number = 0; /* of the first tile of a column */
    for (int j = width == CHOLESKY_STEP ? p + width : p; j < m; j += 8) {
        const int first = j / 16, tiles = (m + 15) / 16 - first;
        for (; mine < number + tiles; mine += step)
            cholesky_update(F, ld, 16 * (first + mine - number), j, p, width, signs);
        number += tiles;
    }
}

/* Cholesky of the first k columns of the m x m front at F, lower triangle; the rest becomes what is
 * left of it.  m <= 128, by a warp 32.  F has room for m rounded up to 16 rows and to 8 columns,
 * all of which hold numbers; its upper triangle is overwritten.  X: inverses of the diagonal
 * blocks, the one at column p at X + p x_step with leading dimension ldx; x_step 0: of the last two
 * alone, 8 ldx apart.  pivot: k rounded up to 8, for judge_pivot.  grows: two, of the last blocks.
 * All in shared memory.  from: a multiple of 8, columns that are done, with their products taken
 * from the rest.  FULL: k is a multiple of 8, which saves code.  All threads of the team
 * call; F is visible to them; ends with a barrier of the team. */
template <int WARPS, bool FULL, typename T, typename S = no_signs>
__device__ __forceinline__ void cholesky_columns(T *F, int ld, int m, int k, T *X, int x_step,
                                                 int ldx, pivot_type<T, S> *pivot, int *grows,
                                                 int from = 0, S signs = {})
{
    using team = front_team<WARPS>;
    constexpr int STEP = CHOLESKY_STEP;
    const int warp = team::warp();
    auto width_at = [=](int p) { return FULL ? STEP : min(STEP, k - p); };
    auto inverse = [=](int p) { return X + (x_step ? p * x_step : p / STEP % 2 * STEP * ldx); };
    auto signs_at = [=](int p) { return signs.at(p).first(width_at(p)); };
    if (warp == 0)
        cholesky_8(F + from * (ld + 1), ld, width_at(from), inverse(from), 1, ldx, pivot + from,
                   grows + from / STEP % 2, signs_at(from));
    team::sync();
    for (int p = from; p < k; p += STEP) {
        const int width = width_at(p), next = p + STEP;
        const bool goes_on = next < k;
        const auto own = signs_at(p);
        cholesky_rows(F, ld, m, p, width, inverse(p), ldx, grows + p / STEP % 2, warp, WARPS, own);
        team::sync();
        if (WARPS == 1)
            cholesky_update_rest(F, ld, m, p, width, 0, 1, own);
        else if (!goes_on)
            cholesky_update_rest(F, ld, m, p, width, warp, WARPS, own);
        else if (warp > 0)
            cholesky_update_rest(F, ld, m, p, width, warp, WARPS - 1, own);
        else
            cholesky_update(F, ld, next / 16 * 16, next, p, width, own);
        if (goes_on && warp == 0) {
            __syncwarp();
            cholesky_8(F + next * (ld + 1), ld, width_at(next), inverse(next), 1, ldx, pivot + next,
                       grows + next / STEP % 2, signs_at(next));
        }
        team::sync();
    }
}

#endif
