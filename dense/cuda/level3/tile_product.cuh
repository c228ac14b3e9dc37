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

    /* What a thread has of 8 columns of both panels, for its warp's products. */
    struct operands {
        T left[S::TILES_DOWN][4], right[S::TILES_ACROSS][2];
    };
    static constexpr int PARTS_OF_STEP = S::DEPTH / 8 / S::GROUPS; /* a group's */

    /* Where operands of a part of a step lie in a stage. */
    struct source {
        const T *left, *right;
        int left_row, left_next, right_row, right_next; /* strides */

        __device__ __forceinline__ source(const panel<T> &a, const panel<T> &b)
            : left_row(a.by_rows ? left_room::ALONG : 1),
              left_next(a.by_rows ? 1 : left_room::DOWN),
              right_row(b.by_rows ? right_room::ALONG : 1),
              right_next(b.by_rows ? 1 : right_room::DOWN)
        {
        }
        __device__ __forceinline__ void at(const T *stage, int part)
        {
            const int g = lane() / 4, k = lane() % 4 + 8 * (group() + S::GROUPS * part);
            left = stage + (row() + g) * left_row + k * left_next;
            right = stage + left_room::AREA + (column() + g) * right_row + k * right_next;
        }
        __device__ __forceinline__ void read_left(operands &o, int m) const
        {
#pragma unroll
            for (int e = 0; e < 4; e++)
                o.left[m][e] = left[(16 * m + 8 * (e % 2)) * left_row + 4 * (e / 2) * left_next];
        }
        __device__ __forceinline__ void read_right(operands &o, int t) const
        {
#pragma unroll
            for (int e = 0; e < 2; e++)
                o.right[t][e] = right[8 * t * right_row + 4 * e * right_next];
        }
    };
    /* below: of this thread's first entry of the left panel, as the mask counts it */
    static __device__ __forceinline__ void apply(triangle_mask mask, operands &o, int below)
    {
#pragma unroll
        for (int m = 0; m < S::TILES_DOWN; m++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                o.left[m][e] =
                    mask.of(o.left[m][e], below + mask.sign * (16 * m + 8 * (e % 2) - 4 * (e / 2)));
    }
    /* sum += left right^T; operands are read anew, for the next part, as soon as they have been
     * multiplied, so that the products hide the time that this takes.  turn(): before the first is.
     */
    template <typename F>
    __device__ __forceinline__ void multiply(operands &o, const source &next, const panel<T> &a,
                                             const panel<T> &b, F &&turn)
    {
        constexpr int ACROSS = S::TILES_ACROSS;
#pragma unroll
        for (int t = 0; t < ACROSS; t++)
            turn_sign(o.right[t], b.conjugate);
#pragma unroll
        for (int m = 0; m < S::TILES_DOWN; m++) {
            turn_sign(o.left[m], a.conjugate);
            if constexpr (scalar<T>::is_complex) {
#pragma unroll
                for (int t = 0; t < ACROSS; t++) {
                    add_part<false, false>(0, m * ACROSS + t, o.left[m], o.right[t]);
                    add_part<false, true>(1, m * ACROSS + t, o.left[m], o.right[t]);
                    add_part<true, false>(1, m * ACROSS + t, o.left[m], o.right[t]);
                }
                turn_sign(o.left[m], true);
            }
#pragma unroll
            for (int t = 0; t < ACROSS; t++) {
                add_part<true, true>(0, m * ACROSS + t, o.left[m], o.right[t]);
                if (m + 1 == S::TILES_DOWN && m > 0)
                    next.read_right(o, t);
            }
            if (m == 0)
                turn();
            next.read_left(o, m);
        }
        if (S::TILES_DOWN == 1)
#pragma unroll
            for (int t = 0; t < ACROSS; t++)
                next.read_right(o, t);
    }
    /* imaginary parts := their negatives, if so */
    template <int N> static __device__ __forceinline__ void turn_sign(T (&v)[N], bool yes)
    {
        if constexpr (scalar<T>::is_complex)
#pragma unroll
            for (int e = 0; e < N; e++)
                v[e] = conjugate_if(v[e], yes);
    }
    /* Part `part` of tile t of the sum += left right^T of real or imaginary parts. */
    template <bool LEFT, bool RIGHT>
    __device__ __forceinline__ void add_part(int part, int t, const T (&left)[4],
                                             const T (&right)[2])
    {
        const double x[4] = {part_of<LEFT>(left[0]), part_of<LEFT>(left[1]), part_of<LEFT>(left[2]),
                             part_of<LEFT>(left[3])},
                     y[2] = {part_of<RIGHT>(right[0]), part_of<RIGHT>(right[1])};
        multiply_16x8x8(sum.part[part][t], x, y);
    }
    template <bool IMAGINARY> static __device__ __forceinline__ double part_of(T v)
    {
        if constexpr (!scalar<T>::is_complex)
            return v;
        else
            return IMAGINARY ? v.im : v.re;
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
        const int end = steps.count(), below = mask.sign * (i + row() + lane() / 4 - lane() % 4);
        T *stage = stages; /* that is read; copied to are those behind it */
        const auto behind = [&](T *of) {
            return of == stages + (S::STAGES - 1) * STAGE ? stages : of + STAGE;
        };
        const auto load = [&](T *to, int step) {
            if (step < end) {
                of_left.fetch(to, S::DEPTH * steps.at(step));
                of_right.fetch(to + left_room::AREA, S::DEPTH * steps.at(step));
            }
            copies_commit();
        };
#pragma unroll 1
        for (int ahead = 0; ahead < S::STAGES; ahead++)
            load(stages + ahead * STAGE, share.rank + ahead * share.count);
        copies_wait<S::STAGES - 1>();
        __syncthreads(); /* the first stage is there */
        passed(share.rank + share.count);
        source from(left, right);
        operands o;
        from.at(stage, 0);
#pragma unroll
        for (int m = 0; m < S::TILES_DOWN; m++)
            from.read_left(o, m);
#pragma unroll
        for (int t = 0; t < S::TILES_ACROSS; t++)
            from.read_right(o, t);
#pragma unroll 1
        for (int step = share.rank; step < end; step += share.count) {
            const int first = below - mask.sign * S::DEPTH * steps.at(step);
            const bool masked = step >= steps.masked;
#pragma unroll
            for (int part = 0; part < PARTS_OF_STEP; part++) {
                if (masked)
                    apply(mask, o, first - mask.sign * 8 * (group() + S::GROUPS * part));
                const bool last = part + 1 == PARTS_OF_STEP;
                T *const done = stage;
                if (last)
                    stage = behind(stage);
                from.at(stage, last ? 0 : part + 1);
                multiply(o, from, left, right, [&] {
                    if (!last)
                        return;
                    copies_wait<S::STAGES - 2>();
                    __syncthreads(); /* the next stage is there, and nobody reads this one */
                    load(done, step + S::STAGES * share.count);
                    if (step + share.count < end)
                        passed(step + 2 * share.count);
                });
            }
        }
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
