/* dense/cuda/batched/steps.cuh: warp scope: triangles of order 32 or 64 in shared memory,
 * substituted for eight columns at a time in steps of eight rows
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The inverses of the 8 x 8 diagonal blocks make a step two products on tensor cores, the block's
 * own and what it takes from the rows below.  Blocks whose inverse grows are substituted entry by
 * entry.  With g = lane div 4 and l = lane mod 4 a lane has of an 8 x 8 block of the columns column
 * g, rows 2 l and 2 l + 1: products are made of transposed factors, X^T = Y^T inv(L)^T, with their
 * common index in the order 0 2 4 6 1 3 5 7, and then what one leaves is what the next one wants.
 */
#ifndef DENSE_CUDA_BATCHED_STEPS_CUH
#define DENSE_CUDA_BATCHED_STEPS_CUH

#include "dense/cuda/device/invert.cuh"
#include <cuda_pipeline_primitives.h>

constexpr int STEP = 8; /* order of the inverted blocks */

/* Leading dimension of N rows in shared memory: take_16 reads them without bank conflicts. */
template <typename T, int N> constexpr int STEPS_LD = N + (sizeof(T) == 16 ? 2 : 4);
static_assert(STEPS_LD<double, TILE> == TILE_LD<double> &&
                  STEPS_LD<complex_d, TILE> == TILE_LD<complex_d>,
              "a tile of 64 is one of device/tile.cuh");

template <typename T, int N> struct steps_shared {
    T X[STEP * N];            /* inverses of the 8 x 8 blocks, one behind the other */
    unsigned grown[N / STEP]; /* not 0: block k is substituted entry by entry */
};

/* When the inverse of an 8 x 8 block may stand for substitution: its growth in a solve; for rows of
 * a factor see ROWS_GROWTH_LIMIT. */
enum class solve_guard { SOLUTION, FACTOR };

/* s.X from the triangle D of order N, by N lanes of full warps, t their number. */
template <int N, typename T>
__device__ __forceinline__ void invert_steps(const T *D, steps_shared<T, N> &s, int t)
{
    const int k = t / STEP;
    invert_small<STEP>(D + STEP * k * (STEPS_LD<T, N> + 1), STEPS_LD<T, N>, s.X + STEP * STEP * k,
                       STEP);
    __syncwarp();
}

/* s.grown from D and s.X, by the lanes that inverted; returns whether this lane's block grows.  The
 * growth of a block is its largest row sum of |L||inv(L)|. */
template <int N, typename T>
__device__ __forceinline__ bool guard_steps(const T *D, steps_shared<T, N> &s, int t,
                                            solve_guard guard)
{
    constexpr int LD = STEPS_LD<T, N>;
    const int k = t / STEP, c = t % STEP;
    const T *own = D + STEP * k * (LD + 1), *X = s.X + STEP * STEP * k;
    /* lane c: row c of |X|; its largest entry, its sum */
    float sum = 0, most = 0;
#pragma unroll
    for (int j = 0; j < STEP; j++) {
        const float x = (float)magnitude(X[c + j * STEP]);
        sum += x;
        most = fmaxf(most, x == x ? x : INFINITY);
    }
    bool grows;
    if (guard == solve_guard::FACTOR) {
        grows = !(most * (float)magnitude(own[c * (LD + 1)]) <= (float)ROWS_GROWTH_LIMIT);
    } else {
        float growth = 0;
#pragma unroll
        for (int j = 0; j < STEP; j++)
            growth += (j <= c ? (float)magnitude(own[c + j * LD]) : 0) * shuffle(sum, j, STEP);
        grows = !(growth <= (float)SIDES_GROWTH_LIMIT);
    }
    const unsigned all = __ballot_sync(~0u, grows) >> (t % 32 / STEP * STEP) & 0xff;
    if (c == 0)
        s.grown[k] = all;
    return all != 0;
}

/* What a lane has of N x 8 entries, eight rows a pair. */
template <typename T, int N> using column_pairs = pair_sum<T>[N / STEP];

/* sum += (even, odd) M^T for an 8 x 8 block M, (i,j) at M[i + j ld]; (even, odd): transposed. */
template <typename T>
__device__ __forceinline__ void multiply_pair(pair_sum<T> &sum, T even, T odd, const T *M, int ld)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const T left[4] = {even, T{}, odd, T{}},
            right[2] = {M[g + 2 * l * ld], M[g + (2 * l + 1) * ld]};
    product_sum<T, 1> c;
#pragma unroll
    for (int p = 0; p < product_sum<T, 1>::PARTS; p++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            c.part[p][0][e] = sum.part[p][e];
    multiply_entries<false>(c, 0, left, right);
#pragma unroll
    for (int p = 0; p < product_sum<T, 1>::PARTS; p++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            sum.part[p][e] = c.part[p][0][e];
}

template <typename T> struct two_entries {
    T even, odd;
};
/* inv(D) of an 8 x 8 block, entry by entry. */
template <typename T>
__device__ __noinline__ two_entries<T> substitute_step(const T *D, int ld, T even, T odd)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const T own[2] = {D[2 * l * (ld + 1)], D[(2 * l + 1) * (ld + 1)]};
    for (int j = 0; j < STEP; j++) {
        const T quotient = j % 2 ? divide(odd, own[1]) : divide(even, own[0]);
        const T x = shuffle(quotient, 4 * g + j / 2);
        even = choose(2 * l > j, multiply_add(even, -x, D[2 * l + j * ld]), even);
        odd = choose(2 * l + 1 > j, multiply_add(odd, -x, D[2 * l + 1 + j * ld]), odd);
    }
    return {divide(even, own[0]), divide(odd, own[1])};
}

/* What a lane has of N x 8 entries as a product leaves it, 16 rows a sum: rows g + 8 (e div 2),
 * columns 2 l + e mod 2, e = 0..3. */
template <typename T, int N> using column_sums = product_sum<T, 1>[N / 16];

template <typename T> __device__ __forceinline__ void set_entry(product_sum<T, 1> &c, int e, T v)
{
    if constexpr (scalar<T>::is_complex) {
        c.part[0][0][e] = v.re;
        c.part[1][0][e] = v.im;
    } else {
        c.part[0][0][e] = v;
    }
}

/* The same entries as pairs. */
template <int N, typename T>
__device__ __forceinline__ void turn_columns(column_pairs<T, N> &y, const column_sums<T, N> &sum)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < N / STEP; k++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const int from = 4 * (2 * l + e) + g / 2;
            const T left = shuffle(sum[k / 2].entry(0, 2 * (k % 2)), from),
                    right = shuffle(sum[k / 2].entry(0, 2 * (k % 2) + 1), from);
            y[k].set(e, choose(g % 2 != 0, right, left));
        }
}

/* The left factor of 16 x 8 entries, (i,j) at A[i row + j column]; A: where this lane's first one
 * is, (g, l). */
template <typename T>
__device__ __forceinline__ void take_16(T (&a)[4], const T *A, int row, int column)
{
    a[0] = A[0];
    a[1] = A[8 * row];
    a[2] = A[4 * column];
    a[3] = A[8 * row + 4 * column];
}

/* y := inv(D) y, N x 8 entries of a warp, of which rows from n on do not count; D and s.X are
 * visible.  GUARDED: so is s.grown, and blocks that it names are substituted entry by entry. */
template <bool GUARDED, int N, typename T>
__device__ __forceinline__ void substitute_columns(const T *D, const steps_shared<T, N> &s, int n,
                                                   column_pairs<T, N> &y)
{
    constexpr int LD = STEPS_LD<T, N>;
#pragma unroll
    for (int k = 0; k < N / STEP; k++) {
        if (N < TILE && STEP * k >= n)
            break;
        pair_sum<T> x = {};
        if (!GUARDED || s.grown[k] == 0) {
            multiply_pair(x, y[k].entry(0), y[k].entry(1), s.X + STEP * STEP * k, STEP);
        } else {
            const two_entries<T> solved =
                substitute_step(D + STEP * k * (LD + 1), LD, y[k].entry(0), y[k].entry(1));
            x.set(0, solved.even);
            x.set(1, solved.odd);
        }
        y[k].set(0, x.entry(0));
        y[k].set(1, x.entry(1));
#pragma unroll
        for (int p = k + 1; p < N / STEP; p++)
            multiply_pair(y[p], -x.entry(0), -x.entry(1), D + STEP * p + STEP * k * LD, LD);
    }
}

/* The same out of line: what is rare should not take the registers of what is not. */
template <int N, typename T>
__device__ __noinline__ void substitute_grown(const T *D, const steps_shared<T, N> &s,
                                              column_pairs<T, N> &y)
{
    substitute_columns<true, N>(D, s, N, y);
}

/* Calls with number k, entry e, row, column and address of each of this lane's entries of rows
 * [i0, i0 + N) and columns [c0, c0 + 8) of x that lie before `rows` and x.count. */
template <int N, typename Columns, typename Call>
__device__ __forceinline__ void for_pairs(const Columns &x, int i0, int c0, int rows, Call call)
{
    const int i = i0 + 2 * (threadIdx.x % 4), c = c0 + threadIdx.x % 32 / 4;
    auto *p = x.at(i, c), *q = p + x.row;
    if (c >= x.count)
        return;
#pragma unroll
    for (int k = 0; k < N / STEP; k++, p += STEP * x.row, q += STEP * x.row) {
        if (i + STEP * k < rows)
            call(k, 0, i + STEP * k, c, p);
        if (i + STEP * k + 1 < rows)
            call(k, 1, i + STEP * k + 1, c, q);
    }
}

/* The lower triangle of L(i0:i0+N-1, i0:i0+N-1) on its way to shared memory, columns of STEPS_LD:
 * ones on the diagonal when unit or past n; what lies above it is anything.  By THREADS threads, t
 * their number; without barrier. */
template <int N, int THREADS, typename T>
__device__ __forceinline__ void diagonal_fetch(T *to, const triangle_view<T> &L, int i0, int t)
{
    constexpr int LD = STEPS_LD<T, N>, EVERY = THREADS / N;
    const int near = t % N, far = t / N; /* along memory, across */
    const int64_t step = L.transposed ? L.row : L.column;
    const T *p = L.transposed ? L.at(i0 + far, i0 + near) : L.at(i0 + near, i0 + far);
    T *q = to + (L.transposed ? far + near * LD : near + far * LD);
#pragma unroll 4
    for (int k = 0; k < N / EVERY; k++, p += EVERY * step) {
        const int other = far + EVERY * k;
        const int i = L.transposed ? other : near, j = L.transposed ? near : other;
        T *const place = q + EVERY * k * (L.transposed ? 1 : LD);
        if (i == j && (L.unit || i0 + i >= L.n))
            *place = from_real<T>(1);
        else if (i / STEP >= j / STEP)
            __pipeline_memcpy_async(place, p, sizeof(T), i >= j && i0 + i < L.n ? 0 : sizeof(T));
    }
}

#endif
