/* dense/cuda/trsm/parts.cuh: block scope: a 64 x 64 tile in the registers of 256 threads as the
 * tensor cores take it, and the right-hand sides that it meets
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Warp w has rows 16 (w mod 4) .. and columns 32 (w div 4) .. of a tile, a lane 16 of their
 * entries: tiles go from memory to registers without shared memory between, in 32-byte sectors
 * whichever way memory is contiguous.  The halves of the columns are summed apart until a result is
 * wanted. */
#ifndef DENSE_CUDA_TRSM_PARTS_CUH
#define DENSE_CUDA_TRSM_PARTS_CUH

#include "dense/cuda/device/grid.cuh"
#include "dense/cuda/device/invert.cuh"
#include "dense/cuda/trsm/forms.h"
#include <type_traits>

/* Rows and columns that a lane has of a tile, of step s < 4: entry 4 s + e is that of row
 * part_row() + 8 (e mod 2) and column part_column() + 8 s + 4 (e div 2). */
__device__ __forceinline__ int part_row()
{
    return 16 * ((int)threadIdx.x / 32 % 4) + (int)threadIdx.x % 32 / 4;
}
__device__ __forceinline__ int part_column()
{
    return 32 * ((int)threadIdx.x / 128) + (int)threadIdx.x % 4;
}
/* Row and column of entry k of tile t of a sum, in the first 128 threads. */
__device__ __forceinline__ int sum_row(int k)
{
    return part_row() + 8 * (k / 2);
}
__device__ __forceinline__ int sum_column(int t, int k)
{
    return 8 * t + 2 * ((int)threadIdx.x % 4) + k % 2;
}

/* a := this thread's part of L(i0:i0+63, j0:j0+63), a tile below the diagonal; rows past n are
 * zero. */
template <typename T>
__device__ __forceinline__ void part_load(T (&a)[TILE_SHARE], const triangle_view<T> &L, int i0,
                                          int j0)
{
    const int i = i0 + part_row();
    const bool near = i < L.n, far = i + 8 < L.n;
    const T *p = L.at(i, j0 + part_column()), *q = p + 8 * L.row;
    const int64_t half = 4 * L.column;
#pragma unroll
    for (int e = 0; e < TILE_SHARE; e += 2, p += half, q += half) {
        a[e] = a[e + 1] = T{};
        if (near)
            a[e] = *p;
        if (far)
            a[e + 1] = *q;
    }
}

/* The same from and to a tile in shared memory. */
template <typename T> __device__ __forceinline__ void part_get(T (&a)[TILE_SHARE], const T *M)
{
    const T *p = M + part_row() + part_column() * TILE_LD<T>;
#pragma unroll
    for (int e = 0; e < TILE_SHARE; e++)
        a[e] = p[8 * (e % 2) + 4 * (e / 2) * TILE_LD<T>];
}
template <typename T> __device__ __forceinline__ void part_put(T *M, const T (&a)[TILE_SHARE])
{
    T *p = M + part_row() + part_column() * TILE_LD<T>;
#pragma unroll
    for (int e = 0; e < TILE_SHARE; e++)
        p[8 * (e % 2) + 4 * (e / 2) * TILE_LD<T>] = a[e];
}

/* The sides of one block of threads, NC at most: what it fetches, hands on and sums. */
template <typename T, int NC> struct panel {
    static constexpr int SIDES = NC;
    static constexpr int EACH = NC / 4; /* entries of a block row of sides that a thread fetches */
    static constexpr int WIDE = NC / 8; /* tensor tiles of a sum */
    using sum = product_sum<T, WIDE>;
    using seen = packet<T>[EACH];
    /* Registers: tiles at a time, of which so many meet what is waited for together. */
    static constexpr int TILES = !scalar<T>::is_complex && NC * sizeof(T) <= 128 ? 4 : 2;
    static constexpr int TOGETHER_AT_MOST = 32 / (NC * (scalar<T>::is_complex ? sizeof(T) / 4 : 1));
    static constexpr int GROUP = TOGETHER_AT_MOST < 1       ? 1
                                 : TOGETHER_AT_MOST < TILES ? TOGETHER_AT_MOST
                                                            : TILES;
    static constexpr int AREA = NC * TILE_LD<T>;

    struct shared_part {
        T x[2][GROUP][AREA]; /* entry i of side k at i + k TILE_LD */
        double half[sum::PARTS * WIDE * 4][TILE_THREADS / 2]; /* sums of the second half */
    };

    sides_view<T> b;
    packet_word *packets;
    shared_part &s;
    int n, first, count; /* order; this block's sides, first .. first + count - 1 of b */
    unsigned long long epoch;

    __device__ __forceinline__ int side(int e) const { return (int)threadIdx.x / TILE + 4 * e; }
    /* Where entry i of side k of block row j is among the packets. */
    __device__ __forceinline__ int place_of(int j, int i, int k) const
    {
        return (j * NC + k) * TILE + i;
    }
    /* A look at what this thread will wait for of x(j). */
    __device__ __forceinline__ void look(seen &v, int j, bool wanted = true) const
    {
#pragma unroll
        for (int e = 0; e < EACH; e++)
            v[e] = packet_load_if<T>(wanted && side(e) < count, packets,
                                     place_of(j, (int)threadIdx.x % TILE, side(e)));
    }
    /* The same of b(j), which is there. */
    __device__ __forceinline__ void look_at_b(seen &v, int j, bool wanted) const
    {
        const int i = TILE * j + (int)threadIdx.x % TILE;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const T entry = wanted && side(e) < count && i < n ? b.load(i, first + side(e)) : T{};
            unsigned long long word[packet<T>::COUNT] = {};
            memcpy(word, &entry, sizeof entry);
#pragma unroll
            for (int k = 0; k < packet<T>::COUNT; k++)
                v[e].word[k] = {word[k], epoch};
        }
    }
    __device__ __forceinline__ bool complete(const seen &v) const
    {
        bool all = true;
#pragma unroll
        for (int e = 0; e < EACH; e++)
            all = all && (side(e) >= count || packet_valid(v[e], epoch));
        return all;
    }
    /* to[g] := x(first + g), g < wanted, once all of it has come.  While the first one is missing
     * only that is asked for, all together if it is urgent: many blocks that ask for more than they
     * need soon take the bandwidth of L2 from those that need it.  Ends with a barrier. */
    template <int G>
    __device__ __forceinline__ void take(T (*to)[AREA], seen (&v)[G], int j, int wanted,
                                         bool urgent) const
    {
        for (;;) {
            bool all = complete(v[0]);
            const bool others = all || urgent;
#pragma unroll
            for (int g = 1; g < G; g++)
                all = all && (g >= wanted || complete(v[g]));
            if (all)
                break;
            look(v[0], j);
#pragma unroll
            for (int g = 1; g < G; g++)
                look(v[g], j + g, g < wanted && others);
        }
#pragma unroll
        for (int g = 0; g < G; g++)
            if (g < wanted)
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    to[g][threadIdx.x % TILE + side(e) * TILE_LD<T>] =
                        side(e) < count ? packet_value(v[g][e]) : T{};
        __syncthreads();
    }
    /* c += a x */
    __device__ __forceinline__ void apply(sum &c, const T (&a)[TILE_SHARE], const T *x) const
    {
        const T *from = x + part_column() + (int)threadIdx.x % 32 / 4 * TILE_LD<T>;
#pragma unroll
        for (int m = 0; m < 4; m++) {
            const T part[4] = {a[4 * m], a[4 * m + 1], a[4 * m + 2], a[4 * m + 3]};
#pragma unroll
            for (int t = 0; t < WIDE; t++) {
                const T y[2] = {from[8 * m + 8 * t * TILE_LD<T>],
                                from[8 * m + 4 + 8 * t * TILE_LD<T>]};
                multiply_entries<false>(c, t, part, y);
            }
        }
    }
    /* The sum of both halves in the first 128 threads.  One barrier; another must come before the
     * next call. */
    __device__ __forceinline__ void reduce(sum &c) const
    {
        const int thread = threadIdx.x % (TILE_THREADS / 2);
        double *parts = &c.part[0][0][0];
        const bool second = threadIdx.x >= TILE_THREADS / 2;
        if (second) {
#pragma unroll
            for (int k = 0; k < sum::PARTS * WIDE * 4; k++)
                s.half[k][thread] = parts[k];
        }
        __syncthreads();
        if (!second) {
#pragma unroll
            for (int k = 0; k < sum::PARTS * WIDE * 4; k++)
                parts[k] += s.half[k][thread];
        }
    }
    /* b(r) where this thread has entries of a sum, in the first 128 threads. */
    using entries = T[WIDE][4];
    __device__ __forceinline__ void load(entries &v, int r) const
    {
#pragma unroll
        for (int t = 0; t < WIDE; t++)
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int i = TILE * r + sum_row(k), c = sum_column(t, k);
                v[t][k] = T{};
                if (threadIdx.x < TILE_THREADS / 2 && c < count && i < n)
                    v[t][k] = b.load(i, first + c);
            }
    }
    /* to := v, from the first 128 threads; ends with a barrier. */
    __device__ __forceinline__ void put(T *to, const entries &v) const
    {
        if (threadIdx.x < TILE_THREADS / 2) {
#pragma unroll
            for (int t = 0; t < WIDE; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    to[sum_row(k) + sum_column(t, k) * TILE_LD<T>] = v[t][k];
        }
        __syncthreads();
    }
    /* x(r) = v to the blocks that wait for it. */
    __device__ __forceinline__ void send(const entries &v, int r) const
    {
        if (threadIdx.x < TILE_THREADS / 2) {
#pragma unroll
            for (int t = 0; t < WIDE; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    if (sum_column(t, k) < count)
                        packet_send(packets, place_of(r, sum_row(k), sum_column(t, k)), v[t][k],
                                    epoch);
        }
    }
    /* ... and to the caller. */
    __device__ __forceinline__ void store(const entries &v, int r) const
    {
        if (threadIdx.x < TILE_THREADS / 2) {
#pragma unroll
            for (int t = 0; t < WIDE; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    if (sum_column(t, k) < count && TILE * r + sum_row(k) < n)
                        b.store(TILE * r + sum_row(k), first + sum_column(t, k), v[t][k]);
        }
    }
    /* v := inv(D) v by substitution, a warp for a side at a time; D visible to all. */
    __device__ __forceinline__ void substitute(const T *D, entries &v) const
    {
        T *y = s.x[0][0];
        __syncthreads(); /* all have used what was there */
        put(y, v);
#pragma unroll 1
        for (int k = (int)threadIdx.x / 32; k < count; k += TILE_THREADS / 32) {
            T *at = y + threadIdx.x % 32 + k * TILE_LD<T>;
            T y0 = at[0], y1 = at[32];
            substitute_64(D, y0, y1);
            at[0] = y0;
            at[32] = y1;
        }
        __syncthreads();
        if (threadIdx.x < TILE_THREADS / 2) {
#pragma unroll
            for (int t = 0; t < WIDE; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    v[t][k] = y[sum_row(k) + sum_column(t, k) * TILE_LD<T>];
        }
    }
};

/* How a launch is laid out: a block of threads for 64 rows and NC sides. */
struct sides_grid {
    workspace_head *head;
    packet_word *packets;
    int rows, groups; /* block rows of 64, groups of sides */
    bool together;    /* all blocks are resident at once: places need no tickets */
};

/* So many blocks are resident together on an H100 or H200, one an SM. */
constexpr int TOGETHER = 128;

/* So many sides a block has registers for beside two tiles. */
template <typename T> constexpr int SIDES_OF_A_BLOCK = scalar<T>::is_complex ? 128 / sizeof(T) : 32;

/* The fewest sides a block whose blocks are all resident; otherwise as many as there are, so that
 * the triangle is read less often. */
template <typename T> static inline int sides_of_a_block(int64_t rows, int count)
{
    int sides = 8;
    while (sides < SIDES_OF_A_BLOCK<T> && sides < count &&
           rows * ((count + sides - 1) / sides) > TOGETHER)
        sides *= 2;
    return sides;
}

/* solve(the sides a block as a constant) for those that sides_of_a_block gives. */
template <typename T, typename Solve>
static libsolver_status with_sides(int64_t rows, int count, Solve solve)
{
    const int sides = sides_of_a_block<T>(rows, count);
    if constexpr (SIDES_OF_A_BLOCK<T> >= 32)
        if (sides == 32)
            return solve(std::integral_constant<int, 32>{});
    if constexpr (SIDES_OF_A_BLOCK<T> >= 16)
        if (sides == 16)
            return solve(std::integral_constant<int, 16>{});
    return solve(std::integral_constant<int, 8>{});
}

#endif
