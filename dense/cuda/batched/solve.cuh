/* dense/cuda/batched/solve.cuh: block or warp scope: X := inv(L) B for up to 64 columns, L streamed
 * from memory once
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r:  X(r) = inv(L(r,r)) (B(r) - sum over j < r of L(r,j) X(j))
 *
 * The tiles of L come row by row through a ring in shared memory, two on their way while one is
 * used: they depend on nothing.  Products are made on tensor cores eight columns at a time.  With
 * more than eight columns every warp has eight of its own, and needs the others for loading alone;
 * with fewer all warps have the same columns and an eighth of the depth of every tile, and one of
 * them substitutes.  A diagonal block is substituted in eight steps with the inverses of its 8 x 8
 * blocks, those that grow entry by entry. */
#ifndef DENSE_CUDA_BATCHED_SOLVE_CUH
#define DENSE_CUDA_BATCHED_SOLVE_CUH

#include "dense/cuda/batched/columns.cuh"
#include "dense/cuda/device/invert.cuh"
#include "dense/cuda/device/warp.cuh"
#include <cuda_pipeline_primitives.h>

constexpr int SOLVE_COLUMNS = 64; /* most columns at a time */
constexpr int RING = 3;           /* tiles in shared memory */
constexpr int STEP = 8;           /* order of the inverted blocks */
constexpr int STEPS = TILE / STEP;

template <typename T> struct solve_shared {
    T tile[RING][TILE_AREA<T>];
    T X[STEPS * STEP * STEP]; /* inverses of a diagonal tile's 8 x 8 blocks, one behind the other */
    T y[STEP * TILE];         /* few columns: what is left of B(r) */
    unsigned grown[STEPS];    /* not 0: block k is substituted entry by entry */
};

/* Starts copying L(i0:i0+63, j0:j0+63) to a tile, i0 = j0 (zeros above the diagonal, ones on it
 * when unit or past n) or below; zeros past n.  Without barrier. */
template <typename T>
__device__ __forceinline__ void tile_fetch(T *to, const triangle_view<T> &L, int i0, int j0)
{
    constexpr int LD = TILE_LD<T>, EVERY = TILE_THREADS / TILE;
    const int near = threadIdx.x % TILE; /* along memory */
    int far = threadIdx.x / TILE;
    const int64_t step = EVERY * (L.transposed ? L.row : L.column);
    const T *p = L.transposed ? L.at(i0 + far, j0 + near) : L.at(i0 + near, j0 + far);
    T *q = to + (L.transposed ? far + near * LD : near + far * LD);
    const bool diagonal = i0 == j0;
#pragma unroll 4
    for (int k = 0; k < TILE / EVERY; k++, far += EVERY, p += step) {
        const int i = L.transposed ? far : near, j = L.transposed ? near : far;
        if (i0 + i < L.n && (!diagonal || i > j || (i == j && !L.unit)))
            __pipeline_memcpy_async(q, p, sizeof(T));
        else
            *q = from_real<T>(diagonal && i == j);
        q += EVERY * (L.transposed ? 1 : LD);
    }
}

/* A ring of tiles: tile number t is in slot t mod RING. */
template <typename T> struct tile_ring {
    T (*tile)[TILE_AREA<T>];
    int slot; /* of the tile in use */

    __device__ __forceinline__ T *now() const { return tile[slot]; }
    /* of the tile before, and of the one after the next */
    __device__ __forceinline__ T *spare() const { return tile[(slot + RING - 1) % RING]; }
    __device__ __forceinline__ void turn() { slot = (slot + 1) % RING; }
    /* The tile in use has come, and nobody needs the one before it. */
    __device__ __forceinline__ void await() const
    {
        __pipeline_wait_prior(RING - 2);
        __syncthreads();
    }
};

/* Walks over the tiles of a triangle row by row. */
struct tile_walk {
    int row, column;
    __device__ __forceinline__ void next()
    {
        column++;
        if (column > row) {
            row++;
            column = 0;
        }
    }
};

/* When the inverse of an 8 x 8 block may stand for substitution: its growth in a solve; for rows of
 * a factor see ROWS_GROWTH_LIMIT. */
enum class solve_guard { SOLUTION, FACTOR };

/* s.X and s.grown from the diagonal tile D, by two full warps; t: of their 64 lanes.  The growth of
 * a block is its largest row sum of |L||inv(L)|. */
template <typename T>
__device__ __forceinline__ void invert_steps(const T *D, solve_shared<T> &s, int t,
                                             solve_guard guard)
{
    constexpr int LD = TILE_LD<T>;
    const int k = t / STEP, c = t % STEP;
    const T *own = D + STEP * k * (LD + 1);
    T *X = s.X + STEP * STEP * k;
    invert_small<STEP>(own, LD, X, STEP);
    __syncwarp();
    /* lane c: row c of |X| or of diag(L) |X|; then of |L||X| */
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
 * lane has the entries (g, 2l) and (g, 2l+1), as a product leaves it; g = lane div 4, l = lane mod
 * 4. */
template <typename T> __device__ __forceinline__ void turn_block(T (&to)[2], T even, T odd)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const T a = shuffle(even, 4 * (l + 4 * h) + g / 2), b = shuffle(odd, 4 * (l + 4 * h) + g / 2);
        to[h] = choose(g % 2 != 0, b, a);
    }
}

template <typename T> struct two_entries {
    T even, odd;
};
/* inv(D) of an 8 x 8 block, entry by entry; layout as above. */
template <typename T>
__device__ __noinline__ two_entries<T> substitute_step(const T *D, T even, T odd)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const T own = D[g * (TILE_LD<T> + 1)];
    for (int j = 0; j < STEP; j++) {
        const T a = shuffle(divide(even, own), 4 * j + l), b = shuffle(divide(odd, own), 4 * j + l),
                below = D[g + j * TILE_LD<T>];
        even = choose(g > j, multiply_add(even, -a, below), even);
        odd = choose(g > j, multiply_add(odd, -b, below), odd);
    }
    return {divide(even, own), divide(odd, own)};
}

template <typename T, int N>
__device__ __forceinline__ void set_entry(product_sum<T, N> &c, int e, T v)
{
    if constexpr (scalar<T>::is_complex) {
        c.part[0][0][e] = v.re;
        c.part[1][0][e] = v.im;
    } else {
        c.part[0][0][e] = v;
    }
}

/* What a lane has of 64 x 8 entries: rows 16 m + g + 8 (e div 2), columns 2 l + e mod 2. */
template <typename T> using column_sums = product_sum<T, 1>[TILE / 16];

/* The left factor of 16 x 8 entries at A. */
template <typename T> __device__ __forceinline__ void take_16(T (&a)[4], const T *A)
{
    constexpr int LD = TILE_LD<T>;
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    a[0] = A[g + l * LD];
    a[1] = A[g + 8 + l * LD];
    a[2] = A[g + (l + 4) * LD];
    a[3] = A[g + 8 + (l + 4) * LD];
}

/* y := inv(D) y, 64 x 8 entries of a warp; D and what invert_steps made of it are visible. */
template <typename T>
__device__ __forceinline__ void substitute_columns(const T *D, const solve_shared<T> &s,
                                                   column_sums<T> &y)
{
    constexpr int LD = TILE_LD<T>;
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
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
            const two_entries<T> solved = substitute_step(D + STEP * k * (LD + 1), even, odd);
            even = solved.even;
            odd = solved.odd;
        }
        if (k < STEPS - 1) {
            turn_block(x, -even, -odd);
#pragma unroll
            for (int p = (k + 1) / 2; p < TILE / 16; p++) {
                take_16(a, D + 16 * p + STEP * k * LD);
                multiply_entries<false>(y[p], 0, a, x);
            }
        }
        /* rows up to these are done: where they were met again in a block of 16, that is undone */
        set_entry(y[m], half, even);
        set_entry(y[m], half + 1, odd);
    }
}

/* Calls with row, column and number e of each of this lane's entries of X(r) that there are; the
 * warp's columns begin at c0. */
template <typename Call>
__device__ __forceinline__ void for_entries(int n, int r, int c0, int columns, Call call)
{
    const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
#pragma unroll
    for (int m = 0; m < TILE / 16; m++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = TILE * r + 16 * m + g + 8 * (e / 2), c = c0 + 2 * l + e % 2;
            if (i < n && c < columns)
                call(m, e, i, c);
        }
}

/* Few columns: the parts that the warps have of L(r, 0:r-1) X, 64 x 8 each, and B(r) give s.y. */
template <typename T, typename Columns>
__device__ __forceinline__ void gather_left(const Columns &x, int n, int r, const column_sums<T> &sum,
                                            T *parts, solve_shared<T> &s)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    T b[2] = {};
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = threadIdx.x % TILE, c = threadIdx.x / TILE + 4 * k;
        if (c < x.count && TILE * r + i < n)
            b[k] = x.given(TILE * r + i, c);
    }
#pragma unroll
    for (int m = 0; m < TILE / 16; m++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (2 * l + e % 2 < x.count)
                parts[(STEP * warp + 2 * l + e % 2) * TILE + 16 * m + g + 8 * (e / 2)] =
                    sum[m].entry(0, e);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = threadIdx.x % TILE, c = threadIdx.x / TILE + 4 * k;
        if (c < x.count) {
            T p[STEP];
#pragma unroll
            for (int w = 0; w < STEP; w++)
                p[w] = parts[(STEP * w + c) * TILE + i];
            s.y[c * TILE + i] = b[k] - (((p[0] + p[1]) + (p[2] + p[3])) +
                                        ((p[4] + p[5]) + (p[6] + p[7])));
        }
    }
    __syncthreads();
}

/* X := inv(L) B for x.count <= 64 columns, FEW: 8.  256 threads; ends with a barrier. */
template <bool FEW, typename T, typename Columns>
__device__ __forceinline__ void solve_block(const triangle_view<T> &L, const Columns &x,
                                            solve_guard guard, solve_shared<T> &s)
{
    constexpr int LD = TILE_LD<T>, DEPTHS = FEW ? 1 : TILE / STEP;
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const int rows = (L.n + TILE - 1) / TILE, c0 = FEW ? 0 : STEP * warp, d0 = FEW ? STEP * warp : 0;
    const bool has_columns = c0 < x.count;
    tile_ring<T> ring = {s.tile, 0};
    tile_walk ahead = {0, 0};
    const auto fetch = [&](T *to) {
        if (ahead.row < rows)
            tile_fetch(to, L, TILE * ahead.row, TILE * ahead.column);
        __pipeline_commit();
        ahead.next();
    };
    fetch(s.tile[0]);
    fetch(s.tile[1]);
    for (int r = 0; r < rows; r++) {
        column_sums<T> sum; /* with many columns from -B(r) on, which is read early then */
        if (!FEW)
            for_entries(L.n, r, c0, x.count, [&](int m, int e, int i, int c) {
                set_entry(sum[m], e, -x.given(i, c));
            });
        for (int j = 0; j < r; j++, ring.turn()) {
            T b[DEPTHS][2];
#pragma unroll
            for (int d = 0; d < DEPTHS; d++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    b[d][h] = c0 + g < x.count
                                  ? x.solved(TILE * j + d0 + STEP * d + 4 * h + l, c0 + g)
                                  : T{};
            ring.await();
            fetch(ring.spare());
            if (has_columns)
#pragma unroll
                for (int d = 0; d < DEPTHS; d++)
#pragma unroll
                    for (int m = 0; m < TILE / 16; m++) {
                        T a[4];
                        take_16(a, ring.now() + 16 * m + (d0 + STEP * d) * LD);
                        multiply_entries<false>(sum[m], 0, a, b[d]);
                    }
        }
        ring.await();
        if (!FEW)
            fetch(ring.spare());
        if (warp >= 6) /* with few columns the others are not waited for before the next barrier */
            invert_steps(ring.now(), s, (int)threadIdx.x - 32 * 6, guard);
        if constexpr (FEW) {
            gather_left(x, L.n, r, sum, ring.spare(), s);
            fetch(ring.spare());
        } else {
            __syncthreads();
        }
        if (FEW ? warp == 0 : has_columns) {
            column_sums<T> y;
            for_entries(L.n, r, c0, x.count, [&](int m, int e, int i, int c) {
                set_entry(y[m], e,
                          FEW ? s.y[c * TILE + i - TILE * r] : -sum[m].entry(0, e));
            });
            substitute_columns(ring.now(), s, y);
            for_entries(L.n, r, c0, x.count,
                        [&](int m, int e, int i, int c) { x.store(i, c, y[m].entry(0, e)); });
        }
        if (FEW)
            __syncthreads();
        else
            __syncwarp();
        ring.turn();
    }
    __pipeline_wait_prior(0);
    __syncthreads();
}

/* X := inv(L) B for n <= 32 by a warp, four columns at a time. */
template <typename T, typename Columns>
__device__ __forceinline__ void solve_warp(const triangle_view<T> &L, const Columns &x,
                                           warp_shared<T, 32> &s)
{
    constexpr int EACH = 4;
    const int lane = threadIdx.x % 32;
    T row[32], own = from_real<T>(1);
    warp_load(row, L, 0, 0, s.turned[0]);
    if (lane < L.n && !L.unit)
        own = *L.at(lane, lane);
    const pivot<T> diagonal(own);
    __syncwarp(); /* X may be written over L */
    for (int c = 0; c < x.count; c += EACH) {
        T y[EACH];
#pragma unroll
        for (int q = 0; q < EACH; q++)
            y[q] = lane < L.n && c + q < x.count ? x.given(lane, c + q) : T{};
#pragma unroll
        for (int j = 0; j < 32; j++) {
            if (j >= L.n)
                break;
#pragma unroll
            for (int q = 0; q < EACH; q++) {
                const T solved = shuffle(diagonal.template quotient<false>(y[q]), j);
                y[q] = choose(lane > j, multiply_add(y[q], -solved, row[j]), y[q]);
            }
        }
#pragma unroll
        for (int q = 0; q < EACH; q++)
            if (lane < L.n && c + q < x.count)
                x.store(lane, c + q, diagonal.template quotient<false>(y[q]));
    }
}

#endif
