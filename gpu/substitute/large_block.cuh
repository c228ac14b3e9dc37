/* gpu/substitute/large_block.cuh: block scope: rows of a large node for several right-hand sides,
 * in tiles of 64 x 64 on the tensor cores
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp has 16 rows of a tile and half of its columns, in registers as the tensor cores want them,
 * before the values that they meet are waited for; the last tile is the inverse of the block on the
 * diagonal. */
#ifndef GPU_SUBSTITUTE_LARGE_BLOCK_CUH
#define GPU_SUBSTITUTE_LARGE_BLOCK_CUH

#include "gpu/substitute/large_base.cuh"

/* What tiles are multiplied with in shared memory. */
template <typename T, int C> struct block_tiles {
    substitute_room<T, C> &room;

    static constexpr int TOGETHER = SUBSTITUTE_THREADS / C, /* rows of all threads at a time */
        PASSES = SUBSTITUTE_ROWS / TOGETHER, STEPS = 4;     /* of 8 columns */
    using share = T[STEPS][4];

    /* Entries of a tile: which count, row i, column k. */
    enum part { ALL, BELOW, ABOVE };

    __device__ __forceinline__ static int first_row() { return 16 * ((int)threadIdx.x / 32 % 4); }
    __device__ __forceinline__ static int first_column() { return 32 * ((int)threadIdx.x / 128); }
    __device__ __forceinline__ static int column() { return threadIdx.x % C; }
    /* Of the thread's row in pass p. */
    __device__ __forceinline__ static int row(int p) { return (int)threadIdx.x / C + p * TOGETHER; }

    /* This warp's entries (i, k), i < rows, k < columns, at L[i row_step + k column_step]. */
    __device__ __forceinline__ static void load(share &a, const T *L, int64_t row_step,
                                                int64_t column_step, int rows, int columns,
                                                part which)
    {
        const int lane = threadIdx.x % 32, i = first_row() + lane / 4,
                  k = first_column() + lane % 4;
        const T *p = L + i * row_step + k * column_step;
#pragma unroll
        for (int s = 0; s < STEPS; s++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int r = i + 8 * (e % 2), c = k + 8 * s + 4 * (e / 2);
                const bool there =
                    r < rows && c < columns && (which == ALL || (which == BELOW ? c < r : c > r));
                a[s][e] =
                    there ? p[8 * (e % 2) * row_step + (8 * s + 4 * (e / 2)) * column_step] : T{};
            }
    }
    /* For all threads: a row of x in each pass. */
    __device__ __forceinline__ void pass_around(int half, const T (&value)[PASSES]) const
    {
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            room.large.x[half][row(p)][column()] = value[p];
        __syncthreads();
    }
    __device__ __forceinline__ void apply(product_sum<T, 1> &sum, const share &a, int half) const
    {
        const int g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
        const T(*x)[C] = room.large.x[half] + first_column();
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            const T y[2] = {g < C ? x[8 * s + l][g] : T{}, g < C ? x[8 * s + l + 4][g] : T{}};
            multiply_entries<false>(sum, 0, a[s], y);
        }
    }
    /* total(p): of row(p) of the products of both halves. */
    __device__ __forceinline__ void reduce(const product_sum<T, 1> &sum, T (&total)[PASSES]) const
    {
        T(*part)[SUBSTITUTE_ROWS][C] = room.large.part;
        each_entry_of(sum, [&](int i, int j, T v) {
            if (j < C)
                part[first_column() / 32][first_row() + i][j] = v;
        });
        __syncthreads();
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            total[p] = part[0][row(p)][column()] + part[1][row(p)][column()];
    }
    /* total := products of a tile in memory, below its diagonal or above, with x. */
    template <bool LOWER>
    __device__ __forceinline__ void product(const T *L, int row_step, int column_step, int order,
                                            const T (&x)[PASSES], T (&total)[PASSES]) const
    {
        share tile;
        product_sum<T, 1> sum;
        load(tile, L, row_step, column_step, order, order, LOWER ? BELOW : ABOVE);
        pass_around(0, x);
        apply(sum, tile, 0);
        reduce(sum, total);
    }
    /* scale(p): 1 over the diagonal's entry in row(p) of a block at D, of `order` rows or 0. */
    __device__ __forceinline__ static void reciprocals(const T *D, int ld, int order,
                                                       T (&scale)[PASSES])
    {
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            scale[p] = from_real<T>(row(p) < order
                                        ? quick_reciprocal(real_part(D[row(p) * (int64_t)(ld + 1)]))
                                        : real_of<T>(1));
    }
};

/* What a thread has of a block's rows. */
template <typename T, int C> struct row_values {
    T v[block_tiles<T, C>::PASSES];
};

/* As that of large.cuh. */
template <bool FORWARD, typename T, int C>
static __device__ __noinline__ row_values<T, C> solve_carefully(const block_tiles<T, C> s,
                                                                const T *block, int ld, int order,
                                                                bool cholesky, row_values<T, C> f)
{
    using tiles = block_tiles<T, C>;
    constexpr int PASSES = tiles::PASSES;
    row_values<T, C> y = {}, left, total;
    __syncthreads();
    if (is_refused(block, ld, order)) {
        s.pass_around(0, f.v);
        if (threadIdx.x < 32)
            substitute_block<C>(block, ld, order, cholesky, !FORWARD, s.room.large.x[0][0]);
        __syncthreads();
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            y.v[p] = s.room.large.x[0][s.row(p)][s.column()];
        return y;
    }
    T scale[PASSES];
    s.reciprocals(block, ld, cholesky ? order : 0, scale);
#pragma unroll
    for (int p = 0; p < PASSES; p++)
        left.v[p] = f.v[p] = FORWARD ? f.v[p] : multiply(f.v[p], scale[p]);
#pragma unroll 1
    for (bool again = true;; again = false) {
        s.template product<FORWARD>(block, FORWARD ? ld : 1, FORWARD ? 1 : ld, order, left.v,
                                    total.v);
#pragma unroll
        for (int p = 0; p < PASSES; p++) {
            y.v[p] = y.v[p] + (left.v[p] + total.v[p]);
            left.v[p] = FORWARD ? multiply(y.v[p], scale[p]) : y.v[p];
        }
        if (!again)
            return left;
        s.template product<FORWARD>(block, FORWARD ? 1 : ld, FORWARD ? ld : 1, order, left.v,
                                    total.v);
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            left.v[p] = f.v[p] - y.v[p] - (FORWARD ? total.v[p] : multiply(total.v[p], scale[p]));
    }
}

template <typename T, int C> struct large_block_solver : large_base<T, C>, block_tiles<T, C> {
    using large_base<T, C>::q;
    using tiles = block_tiles<T, C>;
    using tiles::PASSES, tiles::row, tiles::load, tiles::pass_around, tiles::apply, tiles::reduce,
        tiles::reciprocals;
    using share = typename tiles::share;

    __device__ __forceinline__ large_block_solver(const substitute_arguments<T> &q, unsigned epoch,
                                                  int number, substitute_room<T, C> &room)
        : large_base<T, C>(q, epoch, number), tiles{room}
    {
    }

    template <bool FORWARD>
    __device__ __forceinline__ void carefully(const T *block, int ld, int order,
                                              T (&f)[PASSES]) const
    {
        row_values<T, C> x;
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            x.v[p] = f[p];
        x = solve_carefully<FORWARD, T, C>(*this, block, ld, order, q.cholesky, x);
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            f[p] = x.v[p];
    }

    /* As large_solver's. */
    template <typename F>
    __device__ __forceinline__ void forward(const substitution_node &v, int from, int to,
                                            F &meanwhile) const
    {
        const int rows = to - from;
        const bool pivots = from < v.columns;
        const int before = pivots ? from : v.columns;
        const T *L = q.panel + v.panel + from, *D = L + (int64_t)from * v.ld;
        share tile, next;
        product_sum<T, 1> sum;
        T f[PASSES], total[PASSES];
        const bool first = before > 0; /* otherwise the inverse is the only tile */
        load(tile, first ? L : D, first ? 1 : v.ld, first ? v.ld : 1, rows, first ? before : rows,
             first ? tiles::ALL : tiles::BELOW);
        const bool plain = !pivots || is_plain(D, v.ld, rows);
        T scale[PASSES];
        reciprocals(D, v.ld, pivots && q.cholesky ? rows : 0, scale);
        if (!plain)
            prefetch_block(D, v.ld, rows);
        meanwhile();
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            f[p] = this->gather(v, row(p) < rows, from + row(p));
        int half = 0;
#pragma unroll 1
        for (int j = 0; j < before; j += SUBSTITUTE_ROWS, half ^= 1) {
            L += (int64_t)SUBSTITUTE_ROWS * v.ld;
            const bool more = j + SUBSTITUTE_ROWS < before;
            load(next, more ? L : D, more ? 1 : v.ld, more ? v.ld : 1, rows,
                 more     ? before - j - SUBSTITUTE_ROWS
                 : pivots ? rows
                          : 0,
                 more ? tiles::ALL : tiles::BELOW);
            int at[PASSES];
            T z[PASSES];
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                at[p] = j + row(p) < before ? v.first + j + row(p) : -1;
            this->template receive<false>(at, z);
            pass_around(half, z);
            apply(sum, tile, half);
            memcpy(tile, next, sizeof tile);
        }
        if (before > 0) {
            reduce(sum, total);
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                f[p] = f[p] - total[p];
        }
        if (!plain) {
            carefully<true>(D, v.ld, rows, f);
        } else if (pivots) {
            product_sum<T, 1> product;
            pass_around(half, f);
            apply(product, tile, half);
            reduce(product, total);
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                f[p] = multiply(f[p] + total[p], scale[p]);
        }
        const int to_packet =
            pivots ? v.first + from : (int)(2 * this->a.n + v.row_start + from - v.columns);
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            if (row(p) < rows)
                this->send(to_packet + row(p), f[p]);
    }
    template <typename F>
    __device__ __forceinline__ void backward(const substitution_node &v, int from, int to,
                                             F &meanwhile) const
    {
        const int pivots = to - from, behind = v.columns + v.rows - to;
        const T *D = q.panel + v.panel + (int64_t)from * v.ld + from, *L = D + pivots;
        const int last = behind > 0 ? (behind - 1) / SUBSTITUTE_ROWS * SUBSTITUTE_ROWS : -1;
        share tile, next;
        product_sum<T, 1> sum;
        T y[PASSES], total[PASSES];
        const bool first = last >= 0; /* otherwise the inverse is the only tile */
        load(tile, first ? L + last : D, first ? v.ld : 1, first ? 1 : v.ld, pivots,
             first ? behind - last : pivots, first ? tiles::ALL : tiles::ABOVE);
        const bool plain = is_plain(D, v.ld, pivots);
        int user[PASSES];
        real_of<T> user_scale[PASSES];
        T scale[PASSES];
        reciprocals(D, v.ld, q.cholesky ? pivots : 0, scale);
        if (!plain)
            prefetch_block(D, v.ld, pivots);
#pragma unroll
        for (int p = 0; p < PASSES; p++) {
            user[p] = row(p) < pivots ? this->a.user_row[v.first + from + row(p)] : 0;
            user_scale[p] = this->a.scale[user[p]];
        }
        meanwhile();
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            y[p] =
                conjugate_if(this->divided(row(p) < pivots, v.first + from + row(p)), q.hermitian);
        int half = 0;
#pragma unroll 1
        for (int i = last; i >= 0; i -= SUBSTITUTE_ROWS, half ^= 1) {
            const bool more = i > 0;
            load(next, more ? L + i - SUBSTITUTE_ROWS : D, more ? v.ld : 1, more ? 1 : v.ld, pivots,
                 more ? SUBSTITUTE_ROWS : pivots, more ? tiles::ALL : tiles::ABOVE);
            int at[PASSES];
            T x[PASSES];
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                at[p] = i + row(p) < behind ? this->x_packet(v, to + i + row(p)) : -1;
            this->template receive<false>(at, x);
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                x[p] = conjugate_if(x[p], q.hermitian);
            pass_around(half, x);
            apply(sum, tile, half);
            memcpy(tile, next, sizeof tile);
        }
        if (last >= 0) {
            reduce(sum, total);
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                y[p] = y[p] - total[p];
        }
        if (!plain) {
            carefully<false>(D, v.ld, pivots, y);
        } else {
            product_sum<T, 1> product;
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                y[p] = multiply(y[p], scale[p]);
            pass_around(half, y);
            apply(product, tile, half);
            reduce(product, total);
#pragma unroll
            for (int p = 0; p < PASSES; p++)
                y[p] = y[p] + total[p];
        }
#pragma unroll
        for (int p = 0; p < PASSES; p++)
            if (row(p) < pivots)
                this->send_x(v.first + from + row(p), user[p], user_scale[p],
                             conjugate_if(y[p], q.hermitian));
    }
};

#endif
