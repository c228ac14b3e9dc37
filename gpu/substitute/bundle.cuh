/* gpu/substitute/bundle.cuh: block scope: a bundle of small nodes, level by level, in shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A level of eight nodes or more is shared out by nodes, each a warp's; of fewer, the products with
 * the rows below them are shared out too.  With one right-hand side lanes have rows (backward:
 * columns) of a product; where neighbouring lanes would read from places as far apart as the
 * leading dimension, each begins its sum with another term, so that they do not meet in a bank.
 * With several, products are those of the tensor cores, 16 rows at a time. */
#ifndef GPU_SUBSTITUTE_BUNDLE_CUH
#define GPU_SUBSTITUTE_BUNDLE_CUH

#include "gpu/substitute/exchange.cuh"
#include "gpu/substitute/inverse.cuh"

template <typename T, int C> struct bundle_solver : exchange<T, C> {
    using exchange<T, C>::q, exchange<T, C>::SOURCES;
    /* Rows that a warp has at a time, and that all have. */
    static constexpr int ROWS = 32 / C, TOGETHER = SUBSTITUTE_THREADS / C;
    static constexpr int EACH = C == 1 ? 2 : 4; /* rows of a lane on their way together */

    /* A node as a warp sees it. */
    struct member {
        const T *panel;
        T *slot; /* of its front; row i's at C i */
        const int32_t *inside, *at, *user;
        const real_of<T> *scale;
        int ld, columns, rows, first, up;
    };

    substitute_room<T, C> &room;
    const T *scalars;
    const int32_t *table;
    bundle_head head;

    __device__ __forceinline__ bundle_solver(const substitute_arguments<T> &q, unsigned epoch,
                                             int number, substitute_room<T, C> &room,
                                             const char *stage)
        : exchange<T, C>(q, epoch, number), room(room), scalars(reinterpret_cast<const T *>(stage)),
          table(reinterpret_cast<const int32_t *>(stage)),
          head(*reinterpret_cast<const bundle_head *>(stage))
    {
    }

    __device__ __forceinline__ member node(int k) const
    {
        const bundle_node n = reinterpret_cast<const bundle_node *>(table + head.node)[k];
        return {scalars + n.panel,
                room.bundle.slot[n.slot],
                table + head.inside + n.slot,
                table + head.at + n.slot,
                table + head.user + n.slot,
                room.bundle.scale + n.slot,
                n.ld,
                n.shape & 0xff,
                n.shape >> 8,
                n.first,
                n.up};
    }
    __device__ __forceinline__ static int lane() { return threadIdx.x % 32; }
    __device__ __forceinline__ static int warp() { return threadIdx.x / 32; }
    /* Of the lane's row and column, in a group of ROWS rows. */
    __device__ __forceinline__ static int row() { return lane() / C; }
    __device__ __forceinline__ static int place(int i) { return i * C + (int)threadIdx.x % C; }

    /* Adds to rows [from, to) of a node's front what its children in the bundle pass up; `size`
     * warps, of which this is number `rank`. */
    __device__ __forceinline__ void add_inside(const member &n, int from, int to, int rank,
                                               int size) const
    {
#pragma unroll 1
        for (int first = from + EACH * ROWS * rank + row(); first - row() < to;
             first += EACH * ROWS * size) {
            int next[EACH], end[EACH];
            T sum[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const int i = first + u * ROWS;
                next[u] = i < to ? n.inside[i] : 0;
                end[u] = i < to ? n.inside[i + 1] : 0;
                sum[u] = i < to ? n.slot[place(i)] : T{};
            }
#pragma unroll 1
            for (bool more = true; more;) {
                int code[EACH];
                more = false;
#pragma unroll
                for (int u = 0; u < EACH; u++)
                    code[u] = next[u] < end[u] ? table[head.code + next[u]] : -1;
#pragma unroll
                for (int u = 0; u < EACH; u++) {
                    if (code[u] >= 0)
                        sum[u] = sum[u] + room.bundle.slot[0][place(code[u])];
                    more = ++next[u] < end[u] || more;
                }
            }
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (first + u * ROWS < to)
                    n.slot[place(first + u * ROWS)] = sum[u];
        }
        __syncwarp();
    }

    /* ---- Products, by a warp ---- */

    /* sum(i, j) += entry(i, k) slot(k, j), 16 rows, over rows k in [from, to) of a front. */
    template <typename F>
    __device__ __forceinline__ void multiply_slots(product_sum<T, 1> &sum, const T *slot, int from,
                                                   int to, F entry) const
    {
        multiply_16_of(
            sum, to - from, [&](int i, int k) { return from + k < to ? entry(i, from + k) : T{}; },
            [&](int k, int j) { return from + k < to && j < C ? slot[(from + k) * C + j] : T{}; });
    }
    /* slot(i) := combine(i, slot(i), sum(i)), the 16 rows from `first` on, below `end`. */
    template <typename F>
    __device__ __forceinline__ void put_sum(const product_sum<T, 1> &sum, T *slot, int first,
                                            int end, F combine) const
    {
        each_entry_of(sum, [&](int i, int j, T v) {
            if (first + i < end && j < C) {
                T &at = slot[(first + i) * C + j];
                at = combine(first + i, at, v);
            }
        });
    }
    __device__ __forceinline__ T reciprocal(const member &n, int i) const
    {
        return q.cholesky ? from_real<T>(quick_reciprocal(real_part(n.panel[i * (n.ld + 1)])))
                          : from_real<T>(1);
    }

    /* The pivots' slots := inv(L) times them, or inv(L)^T. */
    __device__ __forceinline__ void solve_forward(const member &n) const
    {
        const int k = n.columns;
        if (is_refused(n.panel, n.ld, k))
            return substitute_block<C>(n.panel, n.ld, k, q.cholesky, false, n.slot);
        if constexpr (C == 1) {
#pragma unroll 1
            for (int first = (k - 1) / 32 * 32; first >= 0; first -= 32) {
                const int i = min(first + lane(), k - 1);
                const T *row = n.panel + i * n.ld;
                const T scale = reciprocal(n, i);
                T sum = n.slot[i];
                int j = i;
#pragma unroll 4
                for (int t = 0; t < k; t++) {
                    const T with = multiply_add(sum, row[j], n.slot[j]);
                    sum = choose(j < i, with, sum);
                    j = j + 1 < k ? j + 1 : 0;
                }
                __syncwarp();
                if (first + lane() < k)
                    n.slot[i] = multiply(sum, scale);
                __syncwarp();
            }
        } else {
#pragma unroll 1
            for (int first = (k - 1) / 16 * 16; first >= 0; first -= 16) {
                product_sum<T, 1> sum;
                multiply_slots(sum, n.slot, 0, min(first + 15, k), [&](int i, int c) {
                    return first + i < k && c < first + i ? n.panel[c + (first + i) * n.ld] : T{};
                });
                __syncwarp();
                put_sum(sum, n.slot, first, k,
                        [&](int i, T f, T v) { return multiply(f + v, reciprocal(n, i)); });
            }
        }
        __syncwarp();
    }
    __device__ __forceinline__ void solve_backward(const member &n) const
    {
        const int k = n.columns;
        if (is_refused(n.panel, n.ld, k))
            return substitute_block<C>(n.panel, n.ld, k, q.cholesky, true, n.slot);
        if (q.cholesky) {
#pragma unroll 1
            for (int i = row(); i < k; i += ROWS)
                n.slot[place(i)] = multiply(n.slot[place(i)], reciprocal(n, i));
            __syncwarp();
        }
        if constexpr (C == 1) {
#pragma unroll 1
            for (int first = 0; first < k; first += 32) {
                const int j = min(first + lane(), k - 1);
                T sum = n.slot[j];
#pragma unroll 4
                for (int i = first + 1; i < k; i++) {
                    const T with = multiply_add(sum, n.panel[j + i * n.ld], n.slot[i]);
                    sum = choose(i > j, with, sum);
                }
                __syncwarp();
                if (first + lane() < k)
                    n.slot[j] = sum;
                __syncwarp();
            }
        } else {
#pragma unroll 1
            for (int first = 0; first < k; first += 16) {
                product_sum<T, 1> sum;
                multiply_slots(sum, n.slot, first + 1, k, [&](int i, int c) {
                    return c > first + i ? n.panel[first + i + c * n.ld] : T{};
                });
                __syncwarp();
                put_sum(sum, n.slot, first, k, [&](int, T y, T v) { return y + v; });
            }
        }
        __syncwarp();
    }

    /* ---- Nodes ---- */

    /* z of a node's pivots.  All lanes of a warp call. */
    __device__ __forceinline__ void pivots(const member &n) const
    {
        add_inside(n, 0, n.columns, 0, 1);
        solve_forward(n);
#pragma unroll 1
        for (int i = row(); i < n.columns; i += ROWS)
            this->send(n.first + i, n.slot[place(i)]);
        __syncwarp();
    }
    /* What goes up from a node's rows below, `size` warps of which this is number `rank`. */
    __device__ __forceinline__ void pass_up(const member &n, int rank, int size) const
    {
        constexpr int CHUNK = C == 1 ? 32 : 16;
        T *slot = n.slot + n.columns * C;
        const T *L = n.panel + n.columns;
#pragma unroll 1
        for (int first = CHUNK * rank; first < n.rows; first += CHUNK * size) {
            T sum = {};
            if constexpr (C == 1) {
                const int i = min(first + lane(), n.rows - 1);
#pragma unroll 4
                for (int j = 0; j < n.columns; j++)
                    sum = multiply_add(sum, L[i + j * n.ld], n.slot[j]);
            } else {
                product_sum<T, 1> product;
                multiply_slots(product, n.slot, 0, n.columns, [&](int i, int c) {
                    return L[min(first + i, n.rows - 1) + c * n.ld];
                });
                put_sum(product, slot, first, n.rows, [](int, T f, T v) { return f - v; });
                __syncwarp();
            }
#pragma unroll 1
            for (int i = first + row(); i < min(first + CHUNK, n.rows); i += ROWS) {
                const T value = C == 1 ? slot[i] - sum : slot[place(i)];
                if (C == 1)
                    slot[i] = value;
                if (n.up >= 0)
                    this->send(n.up + i, value);
            }
        }
    }
    /* The x inside that a node's rows below meet, conjugated if Hermitian. */
    __device__ __forceinline__ void fetch_below(const member &n, int rank, int size) const
    {
        const int end = n.columns + n.rows;
#pragma unroll 1
        for (int first = n.columns + EACH * ROWS * rank + row(); first < end;
             first += EACH * ROWS * size) {
            int at[EACH];
            T x[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++)
                at[u] = first + u * ROWS < end ? n.at[first + u * ROWS] : -1;
#pragma unroll
            for (int u = 0; u < EACH; u++)
                x[u] = at[u] >= 0 ? room.bundle.slot[0][place(at[u])] : T{};
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (at[u] >= 0)
                    n.slot[place(first + u * ROWS)] = conjugate_if(x[u], q.hermitian);
        }
        __syncwarp();
    }
    /* The pivots' slots -= L^T x of the rows below, C > 1. */
    __device__ __forceinline__ void subtract_below(const member &n, int rank, int size) const
    {
#pragma unroll 1
        for (int first = 16 * rank; first < n.columns; first += 16 * size) {
            product_sum<T, 1> sum;
            multiply_slots(sum, n.slot + n.columns * C, 0, n.rows, [&](int j, int r) {
                return n.panel[n.columns + r + min(first + j, n.columns - 1) * n.ld];
            });
            put_sum(sum, n.slot, first, n.columns, [](int, T y, T v) { return y - v; });
        }
        __syncwarp();
    }
    /* What this warp's rows add to column j of L^T x, C = 1. */
    __device__ __forceinline__ T sum_below(const member &n, int rank, int size, int j) const
    {
        const T *slot = n.slot + n.columns;
        T sum = {};
#pragma unroll 1
        for (int first = 32 * rank; first < n.rows; first += 32 * size) {
            const int count = min(32, n.rows - first);
            const T *column = n.panel + n.columns + first + j * n.ld;
            int r = lane() % count;
#pragma unroll 4
            for (int t = 0; t < count; t++) {
                sum = multiply_add(sum, column[r], slot[first + r]);
                r = r + 1 < count ? r + 1 : 0;
            }
        }
        return sum;
    }
    /* x of a node's pivots, what is left of D^-1 z being in their slots. */
    __device__ __forceinline__ void finish(const member &n) const
    {
        solve_backward(n);
#pragma unroll 1
        for (int i = row(); i < n.columns; i += ROWS) {
            const T x = conjugate_if(n.slot[place(i)], q.hermitian);
            n.slot[place(i)] = x;
            this->send_x(n.first + i, n.user[i], n.scale[i], x);
        }
        __syncwarp();
    }

    /* Calls work(node, rank, size, count) for the nodes from number `begin` to `end`, a level,
     * eight or less at a time, of which there are `count`: of `size` warps of its node this one is
     * number `rank`.  All warps come to the barriers of work together where they are less than
     * eight. */
    template <typename F>
    __device__ __forceinline__ void each_node(int begin, int end, F work) const
    {
#pragma unroll 1
        for (; begin < end; begin += SUBSTITUTE_WARPS) {
            const int count = min(SUBSTITUTE_WARPS, end - begin), mine = warp() % count;
            work(node(begin + mine), warp() / count, (SUBSTITUTE_WARPS - 1 - mine) / count + 1,
                 count);
        }
    }
    /* A barrier among the warps of `count` nodes. */
    __device__ __forceinline__ static void meet(int count)
    {
        if (count < SUBSTITUTE_WARPS)
            __syncthreads();
        else
            __syncwarp();
    }

    /* Every slot := what comes from outside of the bundle: b, and what children there pass up. */
    __device__ __forceinline__ void begin_forward() const
    {
#pragma unroll 1
        for (int first = threadIdx.x / C; first - (int)threadIdx.x / C < head.slots;
             first += EACH * TOGETHER) {
            int next[EACH], end[EACH];
            T sum[EACH];
            bool more = false;
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const int i = first + u * TOGETHER;
                const bool there = i < head.slots;
                const int user = there ? table[head.user + i] : -1;
                next[u] = there ? table[head.outside + i] : 0;
                end[u] = there ? table[head.outside + i + 1] : 0;
                sum[u] = user >= 0 ? this->load_b(user) : T{};
                more = more || next[u] < end[u];
            }
#pragma unroll 1
            while (__any_sync(~0u, more)) {
                int at[EACH];
                T value[EACH];
                more = false;
#pragma unroll
                for (int u = 0; u < EACH; u++) {
                    at[u] = next[u] < end[u] ? table[head.code + next[u]] : -1;
                    more = ++next[u] < end[u] || more;
                }
                this->template receive<false>(at, value);
#pragma unroll
                for (int u = 0; u < EACH; u++)
                    sum[u] = sum[u] + value[u];
            }
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (first + u * TOGETHER < head.slots)
                    room.bundle.slot[0][place(first + u * TOGETHER)] = sum[u];
        }
    }
    /* The slots of pivots := D^-1 z, those of rows below x from outside, conjugated if Hermitian;
     * scales of x. */
    __device__ __forceinline__ void begin_backward() const
    {
#pragma unroll 1
        for (int first = threadIdx.x / C; first - (int)threadIdx.x / C < head.slots;
             first += EACH * TOGETHER) {
            int at[EACH], user[EACH];
            T value[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const int i = first + u * TOGETHER;
                const bool there = i < head.slots;
                const int code = there ? table[head.at + i] : 0;
                user[u] = there ? table[head.user + i] : -1;
                at[u] = user[u] >= 0 ? code : code < 0 ? ~code : -1;
                if (user[u] >= 0)
                    room.bundle.scale[i] = this->a.scale[user[u]];
            }
            this->template receive<false>(at, value);
            if (!q.cholesky)
#pragma unroll
                for (int u = 0; u < EACH; u++)
                    this->divide_pivot(user[u] >= 0, at[u], value[u]);
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (at[u] >= 0)
                    room.bundle.slot[0][place(first + u * TOGETHER)] =
                        conjugate_if(value[u], q.hermitian);
        }
    }

    /* meanwhile(): called by all threads when values from outside are there. */
    template <typename F> __device__ __forceinline__ void forward(F &meanwhile) const
    {
        begin_forward();
        meanwhile();
        __syncthreads();
#pragma unroll 1
        for (int level = 0; level < head.levels; level++) {
            each_node(table[head.level + level], table[head.level + level + 1],
                      [&](const member &n, int rank, int size, int count) {
                          const int front = n.columns + n.rows;
                          /* rows below by other warps, while z is formed */
                          if (rank > 0 || size == 1)
                              add_inside(n, n.columns, front, max(0, rank - 1), max(1, size - 1));
                          if (rank == 0)
                              pivots(n);
                          meet(count);
                          pass_up(n, rank, size);
                      });
            __syncthreads();
        }
    }
    template <typename F> __device__ __forceinline__ void backward(F &meanwhile) const
    {
        begin_backward();
        meanwhile();
        __syncthreads();
#pragma unroll 1
        for (int level = head.levels - 1; level >= 0; level--) {
            each_node(table[head.level + level], table[head.level + level + 1],
                      [&](const member &n, int rank, int size, int count) {
                          fetch_below(n, rank, size);
                          pull_down(n, rank, size, count);
                          if (rank == 0)
                              finish(n);
                      });
            __syncthreads();
        }
    }

  private:
    /* The pivots' slots -= L^T x of the rows below, by the warps of `count` nodes; there for the
     * first one of each. */
    __device__ __forceinline__ void pull_down(const member &n, int rank, int size, int count) const
    {
        if constexpr (C == 1) {
            T(*partial)[SUBSTITUTE_ROWS] = room.bundle.partial;
#pragma unroll 1
            for (int j = lane(); j - lane() < n.columns; j += 32)
                partial[warp()][j] = sum_below(n, rank, size, min(j, n.columns - 1));
            meet(count);
            for (int j = lane(); rank == 0 && j < n.columns; j += 32) {
                T y = n.slot[j];
                for (int w = warp(); w < SUBSTITUTE_WARPS; w += count)
                    y = y - partial[w][j];
                n.slot[j] = y;
            }
            __syncwarp();
        } else {
            meet(count);
            subtract_below(n, rank, size);
            meet(count);
        }
    }
};

#endif
