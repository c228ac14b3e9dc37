/* gpu/substitute/large.cuh: block scope: rows of a large node for one right-hand side, in tiles of
 * 64 x 64
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tiles are in registers before the values that they meet are waited for; the last one is the
 * inverse of the block on the diagonal. */
#ifndef GPU_SUBSTITUTE_LARGE_CUH
#define GPU_SUBSTITUTE_LARGE_CUH

#include "dense/cuda/device/tile.cuh"
#include "gpu/substitute/large_base.cuh"

static_assert(SUBSTITUTE_THREADS == TILE_THREADS && SUBSTITUTE_ROWS == TILE,
              "tasks are tiles wide");

/* What tiles are multiplied with in shared memory. */
template <typename T> struct vector_tiles {
    substitute_room<T, 1> &room;

    /* Entries (i, j) that count. */
    enum part { ALL, BELOW, ABOVE };

    /* tile := entries (i, j) at L, i < rows, j < columns, in the map of tile.cuh by columns; zero
     * where they do not count. */
    __device__ __forceinline__ static void load(T (&tile)[TILE_SHARE], const T *L, int ld, int rows,
                                                int columns, part which = ALL)
    {
        const int lane = threadIdx.x % 32, first = tile_first_column();
        const T *p = L + lane + (int64_t)first * ld;
#pragma unroll
        for (int k = 0; k < TILE_SHARE / 2; k++, p += ld) {
            const int j = first + k, begin = which == BELOW ? j + 1 : 0,
                      end = j >= columns     ? 0
                            : which == ABOVE ? min(rows, j)
                                             : rows;
            tile[k] = lane >= begin && lane < end ? p[0] : T{};
            tile[k + TILE_SHARE / 2] = lane + 32 >= begin && lane + 32 < end ? p[32] : T{};
        }
    }
    /* The x that the tile at hand meets, by the first threads, then for all; half: turns from tile
     * to tile, since the other one may still be read. */
    __device__ __forceinline__ void pass_around(int half, T value) const
    {
        if (threadIdx.x < TILE)
            room.large.x[half][threadIdx.x][0] = value;
        __syncthreads();
    }
    /* Products of the tile, or of its transpose, with the vector that was passed around. */
    template <bool TURNED>
    __device__ __forceinline__ void apply(T (&sum)[TILE_SUMS], const T (&tile)[TILE_SHARE],
                                          int half) const
    {
        const T *x = room.large.x[half][0];
        if constexpr (TURNED)
            tile_apply_rows(sum, tile, x[threadIdx.x % 32], x[threadIdx.x % 32 + 32]);
        else
            tile_apply_columns(sum, tile, x + tile_first_column());
    }
    /* The sum of this thread's row, one of the first threads. */
    template <bool TURNED> __device__ __forceinline__ T reduce(T (&sum)[TILE_SUMS]) const
    {
        tile_reduce<TURNED>(sum, room.large.partial);
        return threadIdx.x < TILE ? tile_row_sum(room.large.partial, threadIdx.x) : T{};
    }
    /* The product of a tile in memory, or of its transpose, with x. */
    template <bool TURNED>
    __device__ __forceinline__ T product(const T *L, int ld, int order, part which, T x) const
    {
        T tile[TILE_SHARE], sum[TILE_SUMS] = {};
        load(tile, L, ld, order, order, which);
        pass_around(0, x);
        apply<TURNED>(sum, tile, 0);
        return reduce<TURNED>(sum);
    }
    /* 1 over this thread's entry of the diagonal of the block at D. */
    __device__ __forceinline__ static T reciprocal(const T *D, int ld, bool wanted)
    {
        return from_real<T>(wanted ? quick_reciprocal(real_part(D[threadIdx.x * (int64_t)(ld + 1)]))
                                   : real_of<T>(1));
    }
};

/* inv(L) f, L = U D the block at `block`, or inv(L)^T f, where products with the inverse are not
 * enough (inverse.cuh).  All threads.  Out of line, since it is rare, and with one tile at a time:
 * what it needs of registers the caller has to save. */
template <bool FORWARD, typename T>
static __device__ __noinline__ T solve_carefully(const vector_tiles<T> s, const T *block, int ld,
                                                 int order, bool cholesky, T f)
{
    __syncthreads();
    if (is_refused(block, ld, order)) {
        s.pass_around(0, f);
        T *y = s.room.large.x[0][0];
        if (threadIdx.x < 32)
            substitute_block<1>(block, ld, order, cholesky, !FORWARD, y);
        __syncthreads();
        return threadIdx.x < TILE ? y[threadIdx.x] : T{};
    }
    const T scale = s.reciprocal(block, ld, cholesky && (int)threadIdx.x < order);
    if (!FORWARD)
        f = multiply(f, scale);
    T y = {}, left = f;
#pragma unroll 1
    for (bool again = true;; again = false) {
        y = y + (left + s.template product<FORWARD>(block, ld, order, s.ABOVE, left));
        if (!again)
            return FORWARD ? multiply(y, scale) : y;
        const T below = s.template product<!FORWARD>(block, ld, order, s.BELOW,
                                                     FORWARD ? multiply(y, scale) : y);
        left = f - y - (FORWARD ? below : multiply(below, scale));
    }
}

template <typename T> struct large_solver : large_base<T, 1>, vector_tiles<T> {
    using large_base<T, 1>::q;
    using tiles = vector_tiles<T>;
    using tiles::load, tiles::pass_around, tiles::apply, tiles::reduce;

    __device__ __forceinline__ large_solver(const substitute_arguments<T> &q, unsigned epoch,
                                            int number, substitute_room<T, 1> &room)
        : large_base<T, 1>(q, epoch, number), tiles{room}
    {
    }

    /* Rows [from, to) forward.  meanwhile(): called by all threads once loads are on their way. */
    template <typename F>
    __device__ __forceinline__ void forward(const substitution_node &v, int from, int to,
                                            F &meanwhile) const
    {
        const int rows = to - from, thread = threadIdx.x;
        const bool pivots = from < v.columns;
        const int before = pivots ? from : v.columns;
        const T *L = q.panel + v.panel + from, *D = L + (int64_t)from * v.ld;
        T tile[TILE_SHARE], next[TILE_SHARE] = {}, sum[TILE_SUMS] = {}, f = {};
        load(tile, before > 0 ? L : D, v.ld, rows, before > 0 ? before : rows,
             before > 0 ? tiles::ALL : tiles::ABOVE);
        const bool plain = !pivots || is_plain(D, v.ld, rows);
        const T scale = tiles::reciprocal(D, v.ld, q.cholesky && pivots && thread < rows);
        if (!plain)
            prefetch_block(D, v.ld, rows);
        meanwhile();
        if (thread < TILE)
            f = this->gather(v, thread < rows, from + thread);
        int half = 0;
#pragma unroll 1
        for (int j = 0; j < before; j += TILE, half ^= 1) {
            const bool last = j + TILE >= before;
            L += (int64_t)TILE * v.ld;
            load(next, last ? D : L, v.ld, rows, last ? (pivots ? rows : 0) : before - j - TILE,
                 last ? tiles::ABOVE : tiles::ALL);
            T z = {};
            if (thread < TILE)
                z = this->template receive<true>(j + thread < before ? v.first + j + thread : -1);
            pass_around(half, z);
            this->template apply<false>(sum, tile, half);
            tile_copy(tile, next);
        }
        if (before > 0)
            f = f - this->template reduce<false>(sum);
        if (!pivots) {
            if (thread < rows)
                this->send((int)(2 * this->a.n + v.row_start + from - v.columns + thread), f);
            return;
        }
        if (!plain) {
            f = solve_carefully<true, T>(*this, D, v.ld, rows, q.cholesky, f);
        } else {
            T product[TILE_SUMS] = {};
            pass_around(half, f);
            this->template apply<true>(product, tile, half);
            f = multiply(f + this->template reduce<true>(product), scale);
        }
        if (thread < rows)
            this->send(v.first + from + thread, f);
    }

    /* Pivots [from, to) backward; what is behind them from its end on, where it comes from
     * first. */
    template <typename F>
    __device__ __forceinline__ void backward(const substitution_node &v, int from, int to,
                                             F &meanwhile) const
    {
        const int pivots = to - from, behind = v.columns + v.rows - to, thread = threadIdx.x;
        const T *D = q.panel + v.panel + (int64_t)from * v.ld + from, *L = D + pivots;
        const int last = behind > 0 ? (behind - 1) / TILE * TILE : -TILE;
        T tile[TILE_SHARE], next[TILE_SHARE] = {}, sum[TILE_SUMS] = {}, y = {};
        load(tile, last < 0 ? D : L + last, v.ld, last < 0 ? pivots : behind - last, pivots,
             last < 0 ? tiles::ABOVE : tiles::ALL);
        const bool plain = is_plain(D, v.ld, pivots);
        const T scale = tiles::reciprocal(D, v.ld, q.cholesky && thread < pivots);
        if (!plain)
            prefetch_block(D, v.ld, pivots);
        const int user = thread < pivots ? this->a.user_row[v.first + from + thread] : 0;
        const real_of<T> user_scale = this->a.scale[user];
        meanwhile();
        if (thread < TILE)
            y = conjugate_if(this->divided(thread < pivots, v.first + from + thread), q.hermitian);
        int half = 0;
#pragma unroll 1
        for (int i = last; i >= 0; i -= TILE, half ^= 1) {
            load(next, i > 0 ? L + i - TILE : D, v.ld, i > 0 ? TILE : pivots, pivots,
                 i > 0 ? tiles::ALL : tiles::ABOVE);
            T x = {};
            if (thread < TILE)
                x = conjugate_if(this->template receive<true>(
                                     i + thread < behind ? this->x_packet(v, to + i + thread) : -1),
                                 q.hermitian);
            pass_around(half, x);
            this->template apply<true>(sum, tile, half);
            tile_copy(tile, next);
        }
        if (last >= 0)
            y = y - this->template reduce<true>(sum);
        if (!plain) {
            y = solve_carefully<false, T>(*this, D, v.ld, pivots, q.cholesky, y);
        } else {
            T product[TILE_SUMS] = {};
            y = multiply(y, scale);
            pass_around(half, y);
            this->template apply<false>(product, tile, half);
            y = y + this->template reduce<false>(product);
        }
        if (thread < pivots)
            this->send_x(v.first + from + thread, user, user_scale, conjugate_if(y, q.hermitian));
    }
};

#endif
