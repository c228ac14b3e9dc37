/* dense/cuda/batched/steps.cuh: warp scope: triangles of order 32 or 64 in shared memory, substituted
 * for eight columns at a time in steps of eight rows
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The inverses of the 8 x 8 diagonal blocks make a step two products on tensor cores, the block's
 * own and what it takes from the rows below.  Blocks whose inverse grows are substituted entry by
 * entry.  With g = lane div 4 and l = lane mod 4 a lane has of 16 x 8 entries those that a product
 * leaves it: rows g + 8 (e div 2), columns 2 l + e mod 2, e = 0..3. */
#ifndef DENSE_CUDA_BATCHED_STEPS_CUH
#define DENSE_CUDA_BATCHED_STEPS_CUH

#include "dense/cuda/device/invert.cuh"
#include <cuda_pipeline_primitives.h>

constexpr int STEP = 8; /* order of the inverted blocks */

/* Leading dimension of N rows in shared memory: take_16 reads them without bank conflicts. */
template <typename T, int N> constexpr int STEPS_LD = N + (sizeof(T) == 16 ? 2 : 4);
static_assert(STEPS_LD<double, TILE> == TILE_LD<double> && STEPS_LD<complex_d, TILE> ==
              TILE_LD<complex_d>, "a tile of 64 is one of device/tile.cuh");

template <typename T, int N> struct steps_shared {
    T X[STEP * N];             /* inverses of the 8 x 8 blocks, one behind the other */
    unsigned grown[N / STEP]; /* not 0: block k is substituted entry by entry */
};

/* When the inverse of an 8 x 8 block may stand for substitution: its growth in a solve; for rows of
 * a factor see ROWS_GROWTH_LIMIT. */
enum class solve_guard { SOLUTION, FACTOR };

/* s from the triangle D of order N, by N lanes of full warps, t their number.  The growth of a block
 * is its largest row sum of |L||inv(L)|. */
template <int N, typename T>
__device__ __forceinline__ void invert_steps(const T *D, steps_shared<T, N> &s, int t,
                                             solve_guard guard)
{
    constexpr int LD = STEPS_LD<T, N>;
    const int k = t / STEP, c = t % STEP;
    const T *own = D + STEP * k * (LD + 1);
    T *X = s.X + STEP * STEP * k;
    invert_small<STEP>(own, LD, X, STEP);
    __syncwarp();
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
            growth += (float)magnitude(own[c + j * LD]) * shuffle(sum, j, STEP);
        grows = !(growth <= (float)GROWTH_LIMIT);
    }
    const unsigned all = __ballot_sync(~0u, grows);
    if (c == 0)
        s.grown[k] = all >> (t % 32) & 0xff;
}

/* Entries (l, g) and (l + 4, g), as a product wants its right factor, of an 8 x 8 block of which a
 * lane has the entries (g, 2l) and (g, 2l+1). */
template <typename T> __device__ __forceinline__ void turn_block(T (&to)[2], T even, T odd)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int from = 4 * (l + 4 * h) + g / 2;
        to[h] = choose(g % 2 != 0, shuffle(odd, from), shuffle(even, from));
    }
}

template <typename T> struct two_entries {
    T even, odd;
};
/* inv(D) of an 8 x 8 block, entry by entry. */
template <typename T>
__device__ __noinline__ two_entries<T> substitute_step(const T *D, int ld, T even, T odd)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const T own = D[g * (ld + 1)];
    for (int j = 0; j < STEP; j++) {
        const T a = shuffle(divide(even, own), 4 * j + l), b = shuffle(divide(odd, own), 4 * j + l),
                below = D[g + j * ld];
        even = choose(g > j, multiply_add(even, -a, below), even);
        odd = choose(g > j, multiply_add(odd, -b, below), odd);
    }
    return {divide(even, own), divide(odd, own)};
}

/* What a lane has of N x 8 entries, 16 rows a sum. */
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

/* The left factor of 16 x 8 entries, (i,j) at A[i row + j column]; A: where this lane's first one is,
 * (g, l). */
template <typename T>
__device__ __forceinline__ void take_16(T (&a)[4], const T *A, int row, int column)
{
    a[0] = A[0];
    a[1] = A[8 * row];
    a[2] = A[4 * column];
    a[3] = A[8 * row + 4 * column];
}

/* y := inv(D) y, N x 8 entries of a warp, of which rows from n on do not count; D and what
 * invert_steps made of it are visible. */
template <int N, typename T>
__device__ __forceinline__ void substitute_columns(const T *D, const steps_shared<T, N> &s, int n,
                                                   column_sums<T, N> &y)
{
    constexpr int LD = STEPS_LD<T, N>;
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < N / STEP; k++) {
        if (STEP * k >= n)
            break;
        const int m = k / 2, half = 2 * (k % 2);
        T even = y[m].entry(0, half), odd = y[m].entry(0, half + 1), x[2], a[4];
        if (s.grown[k] == 0) {
            const T *X = s.X + STEP * STEP * k + g;
            product_sum<T, 1> product;
            turn_block(x, even, odd);
            a[0] = X[l * STEP];
            a[2] = X[(l + 4) * STEP];
            a[1] = a[3] = T{};
            multiply_entries<false>(product, 0, a, x);
            even = product.entry(0, 0);
            odd = product.entry(0, 1);
        } else {
            const two_entries<T> solved = substitute_step(D + STEP * k * (LD + 1), LD, even, odd);
            even = solved.even;
            odd = solved.odd;
        }
        if (k < N / STEP - 1) {
            turn_block(x, -even, -odd);
#pragma unroll
            for (int p = (k + 1) / 2; p < N / 16; p++) {
                take_16(a, D + 16 * p + g + (STEP * k + l) * LD, 1, LD);
                multiply_entries<false>(y[p], 0, a, x);
            }
        }
        /* rows up to these are done: where they were met again in a block of 16, that is undone */
        set_entry(y[m], half, even);
        set_entry(y[m], half + 1, odd);
    }
}

/* Calls with number of the sum, number e, row, column and address of each of this lane's entries of
 * rows [i0, i0 + N) and columns [c0, c0 + 8) of x that lie before `rows` and x.count. */
template <int N, typename Columns, typename Call>
__device__ __forceinline__ void for_entries(const Columns &x, int i0, int c0, int rows, Call call)
{
    const int g = threadIdx.x % 32 / 4, c = c0 + 2 * (threadIdx.x % 4);
    auto *p = x.at(i0 + g, c), *q = p + x.column;
#pragma unroll
    for (int h = 0; h < N / 8; h++, p += 8 * x.row, q += 8 * x.row) {
        const int i = i0 + g + 8 * h;
        if (i < rows && c < x.count)
            call(h / 2, 2 * (h % 2), i, c, p);
        if (i < rows && c + 1 < x.count)
            call(h / 2, 2 * (h % 2) + 1, i, c + 1, q);
    }
}

/* The lower triangle of L(i0:i0+N-1, i0:i0+N-1) on its way to shared memory, columns of STEPS_LD: its
 * 8 x 8 diagonal blocks have zeros above the diagonal, ones on it when unit or past n; what lies
 * above them is left as it is.  By THREADS threads, t their number; without barrier. */
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
