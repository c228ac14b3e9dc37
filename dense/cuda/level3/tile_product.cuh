/* dense/cuda/level3/tile_product.cuh: block scope: a tile of the product of two panels, in the
 * registers of its threads
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp has WARP_ROWS x WARP_COLUMNS of the tile.  Where that is the tile, or a part of it,
 * several groups of warps have the same one and share its depth, and so may the blocks of a
 * cluster: a small tile by eight warps reads shared memory as rarely as a large one, and few tiles
 * keep many multiprocessors busy.  Their sums are added at the end, in a fixed order. */
#ifndef DENSE_CUDA_LEVEL3_TILE_PRODUCT_CUH
#define DENSE_CUDA_LEVEL3_TILE_PRODUCT_CUH

#include "dense/cuda/device/turn.cuh"
#include "dense/cuda/level3/panel.cuh"

/* ROWS x COLUMNS; DEPTH: of both panels, in shared memory at a time, in each of STAGES.  BLOCKS of
 * threads to a multiprocessor. */
template <int ROWS_, int COLUMNS_, int WARP_ROWS_, int WARP_COLUMNS_, int GROUPS_, int DEPTH_,
          int STAGES_, int BLOCKS_>
struct tile_shape {
    static constexpr int ROWS = ROWS_, COLUMNS = COLUMNS_, WARP_ROWS = WARP_ROWS_,
                         WARP_COLUMNS = WARP_COLUMNS_, GROUPS = GROUPS_, DEPTH = DEPTH_,
                         STAGES = STAGES_, BLOCKS = BLOCKS_;
    static constexpr int DOWN = ROWS / WARP_ROWS, ACROSS = COLUMNS / WARP_COLUMNS;
    static constexpr int THREADS = 32 * DOWN * ACROSS * GROUPS;
    static constexpr int TILES_DOWN = WARP_ROWS / 16, TILES_ACROSS = WARP_COLUMNS / 8,
                         TILES = TILES_DOWN * TILES_ACROSS; /* of 16 x 8, a warp's */
    static constexpr int SHARE = TILES / GROUPS;            /* of them, of the finished sums */
    static constexpr bool SHARED = GROUPS > 1;              /* the depth, and so by blocks too */
    static_assert(DEPTH % (8 * GROUPS) == 0 && TILES % GROUPS == 0, "shares are equal");
    static_assert(ROWS % DEPTH == 0, "a stage is all on the diagonal or not at all");
};

/* Which entries of the left panel count: those (i, k) with i > k, or with upper i < k, and the
 * diagonal, which is one if unit. */
struct triangle_mask {
    int sign, last;

    __device__ __forceinline__ triangle_mask(bool upper, bool unit)
        : sign(upper ? -1 : 1), last(unit ? 0 : -1)
    {
    }
    /* below: sign (i - k) */
    template <typename T> __device__ __forceinline__ T of(T v, int below) const
    {
        const T other = below == 0 ? from_real<T>(1) : T{};
        return below > last ? v : other;
    }
};

/* The steps of a product: columns [DEPTH first, DEPTH last) of both panels, from the last on if
 * `back`; steps at and behind `masked`, in that order, are masked. */
struct product_steps {
    int first, last, masked;
    bool back;

    __device__ __forceinline__ int count() const { return last - first; }
    __device__ __forceinline__ int at(int step) const
    {
        return back ? last - 1 - step : first + step;
    }
};

/* Blocks of a cluster that share the depth of a tile: of `count` this one takes every count-th step
 * from `rank` on. */
struct depth_share {
    int rank, count;
};

template <typename T, typename S> class tile_product
{
    using left_room = panel_room<T, S::ROWS, S::DEPTH>;
    using right_room = panel_room<T, S::COLUMNS, S::DEPTH>;
    static constexpr int STAGE = left_room::AREA + right_room::AREA;
    static constexpr int PARTS = product_sum<T, 1>::PARTS;
    static constexpr int WARPS = S::DOWN * S::ACROSS;    /* of a group */
    static constexpr int ENTRIES = S::SHARE * 4 * PARTS; /* of the finished sums, a thread's */
    /* Shared memory for the sums of all groups. */
    static constexpr int SUMS = S::SHARED ? S::GROUPS * S::THREADS * ENTRIES * 8 : 0;

    static __device__ __forceinline__ int lane() { return (int)threadIdx.x % 32; }
    static __device__ __forceinline__ int warp() { return (int)threadIdx.x / 32; }
    static __device__ __forceinline__ int group() { return warp() / WARPS; }
    /* the first row and column of this warp */
    static __device__ __forceinline__ int row() { return warp() % S::DOWN * S::WARP_ROWS; }
    static __device__ __forceinline__ int column()
    {
        return warp() / S::DOWN % S::ACROSS * S::WARP_COLUMNS;
    }

    product_sum<T, S::TILES> sum;
    product_sum<T, S::SHARED ? S::SHARE : 1> all; /* of all groups */

    /* sum += left right^T of a stage, which begins at column k of the tile's row i; masked: entries
     * of the left panel that are not the triangle's do not count. */
    template <bool MASKED>
    __device__ __forceinline__ void multiply_stage(const T *left, const T *right, const panel<T> &a,
                                                   const panel<T> &b, triangle_mask mask, int i,
                                                   int k)
    {
        const int g = lane() / 4, l = lane() % 4;
        const int li = a.by_rows ? left_room::ALONG : 1, lk = a.by_rows ? 1 : left_room::DOWN;
        const int ri = b.by_rows ? right_room::ALONG : 1, rk = b.by_rows ? 1 : right_room::DOWN;
        const int begin = 8 * group() + l;
        const T *x_at = left + (row() + g) * li + begin * lk,
                *y_at = right + (column() + g) * ri + begin * rk;
        const int below = mask.sign * (i + row() + g - k - begin);
#pragma unroll
        for (int d = 0; d < S::DEPTH / 8 / S::GROUPS;
             d++, x_at += 8 * S::GROUPS * lk, y_at += 8 * S::GROUPS * rk) {
            T x[S::TILES_DOWN][4], y[S::TILES_ACROSS][2];
#pragma unroll
            for (int t = 0; t < S::TILES_ACROSS; t++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    y[t][e] = conjugate_if(y_at[8 * t * ri + 4 * e * rk], b.conjugate);
#pragma unroll
            for (int m = 0; m < S::TILES_DOWN; m++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const int down = 16 * m + 8 * (e % 2), far = 4 * (e / 2);
                    x[m][e] = conjugate_if(x_at[down * li + far * lk], a.conjugate);
                    if (MASKED)
                        x[m][e] =
                            mask.of(x[m][e], below + mask.sign * (down - far - 8 * S::GROUPS * d));
                }
#pragma unroll
            for (int m = 0; m < S::TILES_DOWN; m++)
#pragma unroll
                for (int t = 0; t < S::TILES_ACROSS; t++)
                    multiply_entries<false>(sum, m * S::TILES_ACROSS + t, x[m], y[t]);
        }
    }

    /* all := this warp's share of the sums of the groups */
    __device__ __forceinline__ void add_groups(void *memory)
    {
        double *const sums = static_cast<double *>(memory) + lane();
        /* entry e of part p of a tile of a group's warp */
        const auto at = [&](int of, int t, int p, int e) {
            return 32 * (e + 4 * (p + PARTS * (t + S::TILES * (of * WARPS + warp() % WARPS))));
        };
        __syncthreads(); /* of the stages */
#pragma unroll
        for (int t = 0; t < S::TILES; t++)
#pragma unroll
            for (int p = 0; p < PARTS; p++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    sums[at(group(), t, p, e)] = sum.part[p][t][e];
        __syncthreads();
#pragma unroll
        for (int t = 0; t < S::SHARE; t++)
#pragma unroll
            for (int of = 0; of < S::GROUPS; of++)
#pragma unroll
                for (int p = 0; p < PARTS; p++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        all.part[p][t][e] += sums[at(of, group() * S::SHARE + t, p, e)];
    }
    /* Entry number e of this thread's sums, where blocks share the depth: rank e mod count has it.
     */
    __device__ __forceinline__ double &entry(int e)
    {
        return all.part[e / 4 % PARTS][e / 4 / PARTS][e % 4];
    }

  public:
    static constexpr int STAGES_BYTES = S::STAGES * STAGE * (int)sizeof(T) > SUMS
                                            ? S::STAGES *STAGE *(int)sizeof(T)
                                            : SUMS;
    /* Shared memory, with that for what other blocks of `share` send. */
    static constexpr int bytes(int share)
    {
        return STAGES_BYTES + (share - 1) * (S::THREADS * ENTRIES * 8 / share);
    }

    /* The product of rows [i, i + ROWS) of the left panel and rows [j, j + COLUMNS) of the right
     * one.  passed(step) is called, by all threads behind a barrier, when all steps of this block
     * before that one have been read; at the end `steps.count()` or more. */
    template <typename F>
    __device__ __forceinline__ tile_product(T *stages, const panel<T> &left, const panel<T> &right,
                                            int i, int j, product_steps steps, depth_share share,
                                            triangle_mask mask, F &&passed)
    {
        const panel_copies<S::ROWS, S::DEPTH, S::THREADS, T> of_left(left, i);
        const panel_copies<S::COLUMNS, S::DEPTH, S::THREADS, T> of_right(right, j);
        const int end = steps.count();
        int loading = 0, reading = 0; /* stages */
        const auto load = [&](int step) {
            if (step < end) {
                T *const stage = stages + loading * STAGE;
                of_left.fetch(stage, S::DEPTH * steps.at(step));
                of_right.fetch(stage + left_room::AREA, S::DEPTH * steps.at(step));
            }
            copies_commit();
            loading = loading + 1 == S::STAGES ? 0 : loading + 1;
        };
#pragma unroll 1
        for (int ahead = 0; ahead < S::STAGES - 1; ahead++)
            load(share.rank + ahead * share.count);
#pragma unroll 1
        for (int step = share.rank; step < end; step += share.count) {
            copies_wait<S::STAGES - 2>();
            __syncthreads(); /* this stage is there, and nobody reads the one before */
            load(step + (S::STAGES - 1) * share.count);
            passed(step + share.count);
            const T *const stage = stages + reading * STAGE;
            if (step >= steps.masked)
                multiply_stage<true>(stage, stage + left_room::AREA, left, right, mask, i,
                                     S::DEPTH * steps.at(step));
            else
                multiply_stage<false>(stage, stage + left_room::AREA, left, right, mask, i,
                                      S::DEPTH * steps.at(step));
            reading = reading + 1 == S::STAGES ? 0 : reading + 1;
        }
        if (share.rank >= end)
            passed(share.rank + share.count); /* nothing to read */
        copies_wait<0>();
        if constexpr (S::SHARED)
            add_groups(stages);
    }

    /* After the blocks of a cluster have made their products of one tile: a sum of all goes to one
     * of them.  inbox: its barrier, open in all of them. */
    __device__ __forceinline__ void add_blocks(void *memory, depth_share share, uint64_t *inbox)
    {
        const int each = ENTRIES / share.count;
        double *const letters =
            reinterpret_cast<double *>(static_cast<char *>(memory) + STAGES_BYTES) + threadIdx.x;
        if (threadIdx.x == 0)
            inbox_expect(inbox, (unsigned)((share.count - 1) * each * S::THREADS * 8));
#pragma unroll
        for (int e = 0; e < ENTRIES; e++) {
            const int to = e % share.count, place = share.rank - (share.rank > to);
            if (to != share.rank)
                inbox_send(letters + (place * each + e / share.count) * S::THREADS, inbox, to,
                           entry(e));
        }
        inbox_wait(inbox, 0);
#pragma unroll
        for (int e = 0; e < ENTRIES; e++)
            if (e % share.count == share.rank) {
                double whole = 0;
                for (int from = 0; from < share.count; from++)
                    whole += from == share.rank
                                 ? entry(e)
                                 : letters[((from - (from > share.rank)) * each + e / share.count) *
                                           S::THREADS];
                entry(e) = whole;
            }
    }

    /* Calls visit(number, i, j, entry) for the entries that this thread has of its 16 x 8 of number
     * t; entries have numbers from 4 t on. */
    template <typename F>
    __device__ __forceinline__ void each(int t, depth_share share, F &&visit) const
    {
        const int tile = group() * S::SHARE + t,
                  i = row() + tile / S::TILES_ACROSS * 16 + lane() / 4,
                  j = column() + tile % S::TILES_ACROSS * 8 + 2 * (lane() % 4);
#pragma unroll
        for (int e = 0; e < 4; e++)
            if constexpr (S::SHARED) {
                if (e % share.count == share.rank)
                    visit(4 * t + e, i + 8 * (e / 2), j + e % 2, all.entry(t, e));
            } else {
                visit(4 * t + e, i + 8 * (e / 2), j + e % 2, sum.entry(t, e));
            }
    }
};

#endif
