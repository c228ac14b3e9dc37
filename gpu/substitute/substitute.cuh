/* gpu/substitute/substitute.cuh: block scope: tasks of a solve by substitution
 * (gpu/substitute/substitution.h), for one or a few right-hand sides each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a large node are a block's: tiles of 64 x 64 entries are in registers before the values
 * that they meet are waited for, the triangle on the diagonal is in shared memory
 * (dense/cuda/device/tile.cuh and warp.cuh).  Small nodes are a warp's. */
#ifndef GPU_SUBSTITUTE_SUBSTITUTE_CUH
#define GPU_SUBSTITUTE_SUBSTITUTE_CUH

#include "dense/cuda/device/tile.cuh"
#include "dense/cuda/device/warp.cuh"
#include "gpu/device/inverse_pivot.cuh"
#include "gpu/solve/solver_base.cuh"
#include "gpu/substitute/substitution.h"
#include <cuda_pipeline_primitives.h>

constexpr int SUBSTITUTE_THREADS = 32 * SUBSTITUTE_WARPS;
static_assert(SUBSTITUTE_THREADS == TILE_THREADS && SUBSTITUTE_ROWS == TILE &&
                  SUBSTITUTE_SMALL <= 32,
              "tasks are tiles wide");

/* See substitution; all on the device.  a.packets: C `packets` for each C right-hand sides, those
 * of a row side by side. */
template <typename T> struct substitute_arguments {
    solve_arguments<T> a;
    workspace_head *head;
    const T *panel, *d, *e; /* d, e: n, by positions */
    const substitution_node *node;
    const int32_t *row, *source_start, *source, *small;
    const substitution_task *task;
    int64_t packets;
    int32_t forward_tasks, tasks;
    bool hermitian, cholesky;
};

constexpr int TRIANGLE_LD = TILE + 1; /* no bank conflicts along rows nor along columns */

template <typename T, int C> union substitute_shared {
    struct {
        T triangle[TILE * TRIANGLE_LD];
        T x[2][C][TILE];
        T partial[C][TILE_PARTS][TILE];
        T y[C][TILE];
        warp_shared<T, 32, false> warp[C];
    } block;
    T front[SUBSTITUTE_WARPS][C][SUBSTITUTE_SMALL_FRONT];
};

/* Packets that a thread waits for. */
template <typename T, int EACH> struct awaited {
    int at[EACH]; /* -1: none, or it has come */
    T value[EACH];

    __device__ __forceinline__ void look(const packet_word *packets, unsigned epoch)
    {
        packet<T> seen[EACH];
#pragma unroll
        for (int u = 0; u < EACH; u++)
            seen[u] = packet_load_if<T>(at[u] >= 0, packets, at[u]);
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (at[u] >= 0 && packet_valid(seen[u], epoch)) {
                value[u] = packet_value(seen[u]);
                at[u] = -1;
            }
    }
    __device__ __forceinline__ int missing() const
    {
        int most = at[0];
#pragma unroll
        for (int u = 1; u < EACH; u++)
            most = max(most, at[u]);
        return most;
    }
};

/* C: right-hand sides of a task at most. */
template <typename T, int C> struct substituter : solver_base<T> {
    static constexpr bool AHEAD = C == 1;          /* registers for a second tile */
    static constexpr int SOURCES = C == 1 ? 4 : 2; /* of a row that are on their way together */
    const substitute_arguments<T> &q;
    substitute_shared<T, C> &shared;
    packet_word *packets; /* of these right-hand sides: */
    int first_column, columns;

    __device__ __forceinline__ substituter(const substitute_arguments<T> &q,
                                           substitute_shared<T, C> &shared, unsigned epoch,
                                           int number)
        : solver_base<T>{q.a, epoch}, q(q), shared(shared),
          packets(q.a.packets + number * q.packets * (C * packet<T>::COUNT)),
          first_column(number * C), columns(min(q.a.columns - number * C, C))
    {
    }

    /* ---- Values, by all lanes of a warp ---- */

    /* value(u, c): packet at[u] of right-hand side c, zero where at[u] < 0. */
    template <int EACH>
    __device__ __forceinline__ void receive(const int (&at)[EACH], T (&value)[EACH][C]) const
    {
        awaited<T, EACH * C> w = {};
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int c = 0; c < C; c++)
                w.at[u * C + c] = at[u] >= 0 && c < columns ? at[u] * C + c : -1;
        wait_by_one_lane(
            *this, [&] { w.look(packets, this->epoch); }, [&] { return w.missing() >= 0; },
            [&] { return packet_arrived<T>(packets, w.missing(), this->epoch); });
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int c = 0; c < C; c++)
                value[u][c] = w.value[u * C + c];
    }
    __device__ __forceinline__ void receive(int at, T (&value)[C]) const
    {
        T of[1][C];
        receive<1>({at}, of);
        copy(of[0], value);
    }
    __device__ __forceinline__ static void copy(const T (&from)[C], T (&to)[C])
    {
#pragma unroll
        for (int c = 0; c < C; c++)
            to[c] = from[c];
    }
    __device__ __forceinline__ void send(int at, const T (&v)[C]) const
    {
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < columns)
                packet_send(packets, at * C + c, v[c], this->epoch);
    }

    /* sum := row i of the front of v: b, and what children passed up. */
    __device__ __forceinline__ void gather(const substitution_node &v, bool wanted, int i,
                                           T (&sum)[C]) const
    {
        int next = 0, end = 0;
        copy({}, sum);
        if (wanted) {
            const int32_t *start = q.source_start + v.first + v.row_start + i;
            next = start[0];
            end = start[1];
            if (i < v.columns) {
                const int row = this->a.user_row[v.first + i];
                const real_of<T> scale = this->a.scale[row];
                const T *b = this->a.b + row * this->a.b_row + first_column * this->a.b_column;
#pragma unroll
                for (int c = 0; c < C; c++)
                    if (c < columns)
                        sum[c] = scaled(b[c * this->a.b_column], scale);
            }
        }
        for (; __any_sync(~0u, next < end); next += SOURCES) {
            int at[SOURCES];
            T value[SOURCES][C];
#pragma unroll
            for (int u = 0; u < SOURCES; u++)
                at[u] = next + u < end ? 2 * this->a.n + q.source[next + u] : -1;
            receive(at, value);
#pragma unroll
            for (int u = 0; u < SOURCES; u++)
#pragma unroll
                for (int c = 0; c < C; c++)
                    sum[c] = sum[c] + value[u][c];
        }
    }
    /* y := entry i of D^-1 z. */
    __device__ __forceinline__ void divide_pivot(const substitution_node &v, bool wanted, int i,
                                                 T (&y)[C]) const
    {
        const int position = v.first + i;
        if (q.cholesky)
            return receive(wanted ? position : -1, y);
        pivot_row<T> p = {};
        if (wanted)
            p = inverse_pivot(q.d, q.e, q.hermitian, position);
        T z[2][C];
        receive<2>({wanted ? position : -1, p.neighbour != 0 ? position + p.neighbour : -1}, z);
#pragma unroll
        for (int c = 0; c < C; c++)
            y[c] = multiply_add(multiply(p.diagonal, z[0][c]), p.off, z[1][c]);
    }
    /* Packet of x of row i of the front. */
    __device__ __forceinline__ int x_packet(const substitution_node &v, int i) const
    {
        return this->a.n + (i < v.columns ? v.first + i : q.row[v.row_start + i - v.columns]);
    }
    __device__ __forceinline__ void send_x(int position, const T (&v)[C]) const
    {
        const int row = this->a.user_row[position];
        const real_of<T> scale = this->a.scale[row];
        send(this->a.n + position, v);
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c < columns)
                this->store(row, first_column + c, v[c], scale);
    }
    /* z of pivot i, or what goes up from row i below. */
    __device__ __forceinline__ void send_up(const substitution_node &v, int i,
                                            const T (&value)[C]) const
    {
        send(i < v.columns ? v.first + i : (int)(2 * this->a.n + v.row_start + i - v.columns),
             value);
    }

    /* ---- Large nodes, by the block ---- */

    /* tile := entries (i, j) of L, i < rows, j < columns, in the map of tile.cuh by columns;
     * otherwise zero. */
    __device__ __forceinline__ static void load(T (&tile)[TILE_SHARE], const T *L, int ld, int rows,
                                                int columns)
    {
        const int lane = threadIdx.x % 32, first = tile_first_column();
        const T *p = L + lane + (int64_t)first * ld;
#pragma unroll
        for (int k = 0; k < TILE_SHARE / 2; k++, p += ld) {
            const bool there = first + k < columns;
            tile[k] = there && lane < rows ? p[0] : T{};
            tile[k + TILE_SHARE / 2] = there && lane + 32 < rows ? p[32] : T{};
        }
    }
    /* Starts copying the lower triangle of L, of this order. */
    __device__ __forceinline__ void load_triangle(const T *L, int ld, int order) const
    {
        for (int j = threadIdx.x / 32; j < order; j += SUBSTITUTE_WARPS)
            for (int i = j + threadIdx.x % 32; i < order; i += 32)
                __pipeline_memcpy_async(shared.block.triangle + i + j * TRIANGLE_LD,
                                        L + i + (int64_t)j * ld, sizeof(T));
        __pipeline_commit();
    }
    /* value := inv(L) value, an entry in each of the first threads; L is the triangle or its
     * transpose turned round, which the first warps solve with. */
    __device__ __forceinline__ void solve_triangle(int order, bool transposed, T (&value)[C]) const
    {
        const int last = order - 1, thread = threadIdx.x, mine = thread / 32 < C ? thread / 32 : 0;
        triangle_view<T> L = {shared.block.triangle, 1, TRIANGLE_LD, order, !q.cholesky, false};
        vector_view<T> y = {shared.block.y[mine], 1, false};
        if (transposed) {
            L = {shared.block.triangle + last * (TRIANGLE_LD + 1),
                 -TRIANGLE_LD,
                 -1,
                 order,
                 !q.cholesky,
                 false};
            y = {shared.block.y[mine] + last, -1, q.hermitian};
        }
        if (thread < TILE)
#pragma unroll
            for (int c = 0; c < C; c++)
                shared.block.y[c][thread] = value[c];
        __pipeline_wait_prior(0); /* this thread's; */
        __syncthreads();
        if (thread < 32 * C)
            trsv_warp(L, y, shared.block.warp[mine]);
        __syncthreads();
        if (thread < TILE)
#pragma unroll
            for (int c = 0; c < C; c++)
                value[c] = shared.block.y[c][thread];
    }
    /* The x that the tile at hand meets, by the first threads, then for all; half: turns from tile
     * to tile, since the other one may still be read. */
    __device__ __forceinline__ void pass_around(int half, const T (&value)[C]) const
    {
        if (threadIdx.x < TILE)
#pragma unroll
            for (int c = 0; c < C; c++)
                shared.block.x[half][c][threadIdx.x] = value[c];
        __syncthreads();
    }
    /* value := value - sum, by the first threads. */
    template <bool BY_ROWS>
    __device__ __forceinline__ void subtract(T (&sum)[C][TILE_SUMS], bool conjugate,
                                             T (&value)[C]) const
    {
#pragma unroll
        for (int c = 0; c < C; c++)
            tile_reduce<BY_ROWS>(sum[c], shared.block.partial[c]);
        if (threadIdx.x < TILE)
#pragma unroll
            for (int c = 0; c < C; c++)
                value[c] =
                    value[c] -
                    conjugate_if(tile_row_sum(shared.block.partial[c], threadIdx.x), conjugate);
    }

    /* Rows [from, to) forward. */
    __device__ __forceinline__ void forward(const substitution_node &v, int from, int to) const
    {
        const int rows = to - from, thread = threadIdx.x;
        const bool pivots = from < v.columns;
        const int before = pivots ? from : v.columns;
        const T *L = q.panel + v.panel + from;
        T tile[TILE_SHARE], next[TILE_SHARE] = {}, sum[C][TILE_SUMS] = {}, f[C] = {};
        if (pivots)
            load_triangle(L + (int64_t)from * v.ld, v.ld, rows);
        load(tile, L, v.ld, rows, before);
        if (thread < TILE)
            gather(v, thread < rows, from + thread, f);
        for (int j = 0, half = 0; j < before; j += TILE, half ^= 1) {
            L += (int64_t)TILE * v.ld;
            if (AHEAD && j + TILE < before)
                load(next, L, v.ld, rows, before - j - TILE);
            T z[C] = {};
            if (thread < TILE)
                receive(j + thread < before ? v.first + j + thread : -1, z);
            pass_around(half, z);
#pragma unroll
            for (int c = 0; c < C; c++)
                tile_apply_columns(sum[c], tile, shared.block.x[half][c] + tile_first_column());
            if (AHEAD)
                tile_copy(tile, next);
            else if (j + TILE < before)
                load(tile, L, v.ld, rows, before - j - TILE);
        }
        subtract<false>(sum, false, f);
        if (pivots)
            solve_triangle(rows, false, f);
        if (thread < rows)
            send_up(v, from + thread, f);
    }

    /* Pivots [from, to) backward; what is behind them from its end on, where it comes from
     * first. */
    __device__ __forceinline__ void backward(const substitution_node &v, int from, int to) const
    {
        const int pivots = to - from, behind = v.columns + v.rows - to, thread = threadIdx.x;
        const T *L = q.panel + v.panel + (int64_t)from * v.ld;
        const int last = behind > 0 ? (behind - 1) / TILE * TILE : -TILE;
        T tile[TILE_SHARE], next[TILE_SHARE] = {}, sum[C][TILE_SUMS] = {}, y[C] = {};
        load_triangle(L + from, v.ld, pivots);
        L += to;
        load(tile, L + last, v.ld, behind - last, last < 0 ? 0 : pivots);
        if (thread < TILE)
            divide_pivot(v, thread < pivots, from + thread, y);
        for (int i = last, half = 0; i >= 0; i -= TILE, half ^= 1) {
            if (AHEAD && i > 0)
                load(next, L + i - TILE, v.ld, TILE, pivots);
            T x[C] = {};
            if (thread < TILE) {
                receive(i + thread < behind ? x_packet(v, to + i + thread) : -1, x);
#pragma unroll
                for (int c = 0; c < C; c++)
                    x[c] = conjugate_if(x[c], q.hermitian);
            }
            pass_around(half, x);
#pragma unroll
            for (int c = 0; c < C; c++)
                tile_apply_rows(sum[c], tile, shared.block.x[half][c][thread % 32],
                                shared.block.x[half][c][thread % 32 + 32]);
            if (AHEAD)
                tile_copy(tile, next);
            else if (i > 0)
                load(tile, L + i - TILE, v.ld, TILE, pivots);
        }
        subtract<true>(sum, q.hermitian, y);
        solve_triangle(pivots, true, y);
        if (thread < pivots)
            send_x(v.first + from + thread, y);
    }

    /* ---- Small nodes, by a warp ---- */

    __device__ __forceinline__ void forward_small(const substitution_node &v) const
    {
        const int lane = threadIdx.x % 32, k = v.columns, front = k + v.rows;
        T(*f)[SUBSTITUTE_SMALL_FRONT] = shared.front[threadIdx.x / 32], value[C];
        const T *L = q.panel + v.panel;
        const triangle_view<T> triangle = {L, 1, v.ld, k, !q.cholesky, false};
        warp_columns<T> first(triangle);
        for (int i = lane; i - lane < front; i += 32) {
            gather(v, i < front, i, value);
            for (int c = 0; c < C && i < front; c++)
                f[c][i] = value[c];
        }
        __syncwarp();
#pragma unroll
        for (int c = 0; c < C; c++)
            value[c] = lane < k ? f[c][lane] : T{};
        first.apply(triangle, value);
        __syncwarp();
        if (lane < k) {
            send_up(v, lane, value);
#pragma unroll
            for (int c = 0; c < C; c++)
                f[c][lane] = value[c];
        }
        __syncwarp();
        for (int i = k + lane; i < front; i += 32) {
#pragma unroll
            for (int c = 0; c < C; c++)
                value[c] = f[c][i];
#pragma unroll 4
            for (int j = 0; j < k; j++) {
                const T l = -L[i + (int64_t)j * v.ld];
#pragma unroll
                for (int c = 0; c < C; c++)
                    value[c] = multiply_add(value[c], l, f[c][j]);
            }
            send_up(v, i, value);
        }
    }

    __device__ __forceinline__ void backward_small(const substitution_node &v) const
    {
        const int lane = threadIdx.x % 32, k = v.columns, last = k - 1;
        T(*x)[SUBSTITUTE_SMALL_FRONT] = shared.front[threadIdx.x / 32], y[C], value[C];
        const T *L = q.panel + v.panel;
        const triangle_view<T> turned_round = {
            L + (int64_t)last * (v.ld + 1), -v.ld, -1, k, !q.cholesky, false};
        warp_columns<T> first(turned_round);
        divide_pivot(v, lane < k, lane, y);
        for (int i = lane; i - lane < v.rows; i += 32) {
            receive(i < v.rows ? x_packet(v, k + i) : -1, value);
            for (int c = 0; c < C && i < v.rows; c++)
                x[c][i] = conjugate_if(value[c], q.hermitian);
        }
        __syncwarp();
        for (int j = 0; j < k && v.rows > 0; j++) {
            T sum[C] = {};
            for (int i = lane; i < v.rows; i += 32) {
                const T l = L[k + i + (int64_t)j * v.ld];
#pragma unroll
                for (int c = 0; c < C; c++)
                    sum[c] = multiply_add(sum[c], l, x[c][i]);
            }
#pragma unroll
            for (int mask = 16; mask > 0; mask /= 2)
#pragma unroll
                for (int c = 0; c < C; c++)
                    sum[c] = sum[c] + shuffle_xor(sum[c], mask);
#pragma unroll
            for (int c = 0; c < C; c++)
                if (lane == j)
                    y[c] = y[c] - conjugate_if(sum[c], q.hermitian);
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            const T other = conjugate_if(shuffle(y[c], max(last - lane, 0)), q.hermitian);
            value[c] = lane < k ? other : T{};
        }
        first.apply(turned_round, value);
#pragma unroll
        for (int c = 0; c < C; c++)
            value[c] = conjugate_if(value[c], q.hermitian);
        if (lane < k)
            send_x(v.first + last - lane, value);
    }

    __device__ __forceinline__ void run(const substitution_task &t, bool is_forward) const
    {
        if (t.node >= 0) {
            const substitution_node v = q.node[t.node];
            return is_forward ? forward(v, t.from, t.to) : backward(v, t.from, t.to);
        }
        if (t.from + (int)threadIdx.x / 32 >= t.to)
            return;
        const substitution_node v = q.node[q.small[t.from + threadIdx.x / 32]];
        is_forward ? forward_small(v) : backward_small(v);
    }
};

/* Blocks on a multiprocessor, by registers; with several right-hand sides one block, which spills
 * none, is up to 10 % faster with 4 of them and up to 35 % slower with 16 (bench_tree_solve -f -k,
 * H200). */
template <typename T> constexpr int SUBSTITUTE_BLOCKS = sizeof(T) > 8 ? 1 : 2;

/* Blocks draw tasks in their order, each for all right-hand sides before the next: the first that
 * is not done waits for none that is not. */
template <typename T, int C>
__global__ void __launch_bounds__(SUBSTITUTE_THREADS, SUBSTITUTE_BLOCKS<T>)
    substitute_kernel(const __grid_constant__ substitute_arguments<T> q)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ place mine;
    const int times = (q.a.columns + C - 1) / C, all = q.tasks * times,
              draws = all + (int)gridDim.x;
    unsigned long long drawn = threadIdx.x == 0 ? ticket_draw(q.head) : 0;
    for (;;) {
        if (threadIdx.x == 0)
            mine = ticket_place(q.head, drawn, draws);
        __syncthreads();
        const int number = mine.number / times, columns = mine.number % times;
        if (mine.number >= all)
            return;
        if (threadIdx.x == 0) /* it comes while this task is done */
            drawn = ticket_draw(q.head);
        substituter<T, C>(q, *reinterpret_cast<substitute_shared<T, C> *>(memory),
                          (unsigned)mine.epoch, columns)
            .run(q.task[number], number < q.forward_tasks);
        __syncthreads();
    }
}

#endif
