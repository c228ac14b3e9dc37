/* gpu/substitute/bundle.cuh: block scope: a bundle of small nodes, level by level, in shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A level of eight nodes or more is shared out by nodes, each a warp's; of fewer, the products with
 * the rows below them are shared out too.  With one right-hand side lanes have rows (backward:
 * columns) of a product; with several, products are those of the tensor cores, 16 rows at a time.
 * A level is a chain of reads that wait for each other: what does not depend on values, the next
 * nodes and reciprocals, is read before they come, terms of sums are on their way together, and
 * what the bundle finds is published when all levels are done, but for what goes up. */
#ifndef GPU_SUBSTITUTE_BUNDLE_CUH
#define GPU_SUBSTITUTE_BUNDLE_CUH

#include "gpu/substitute/exchange.cuh"
#include "gpu/substitute/refused.cuh"

template <typename T, int C> struct bundle_solver : exchange<T, C> {
    using exchange<T, C>::q, exchange<T, C>::SOURCES;
    /* Rows that a warp has at a time, and that all have. */
    static constexpr int ROWS = 32 / C, TOGETHER = SUBSTITUTE_THREADS / C;
    static constexpr int EACH = C == 1 ? 2 : 4;  /* rows of a lane on their way together */
    static constexpr int TERMS = C == 1 ? 2 : 1; /* of each, from outside */

    /* A node as a warp sees it. */
    struct member {
        const T *panel;
        T *slot; /* of its front; row i's at C i */
        const int32_t *inside, *at;
        int ld, columns, rows, up;
    };
    /* What a warp does in a round, of up to eight nodes of a level, of which there are `count`: of
     * `size` warps of its node it is number `rank`; that of rank 0 is warp `first`. */
    struct part {
        int panel, ld, shape, slot, up; /* bundle_node */
        int rank, size, count, first;
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

    __device__ __forceinline__ member node(const part &w) const
    {
        return {scalars + w.panel,
                room.bundle.slot[w.slot],
                table + head.inside + w.slot,
                table + head.at + w.slot,
                w.ld,
                w.shape & 0xff,
                w.shape >> 8,
                w.up};
    }
    /* Of nodes [begin, end), or the first eight of them. */
    __device__ __forceinline__ part part_of(int begin, int end) const
    {
        const int count = min(SUBSTITUTE_WARPS, end - begin);
        /* 64 / count, rounded up: a division that is right for the few values there are */
        const int once = (int)(0x080a0b0d10162040ull >> 8 * (count - 1)) & 0xff;
        const int rank = warp() * once >> 6, first = warp() - rank * count;
        const bundle_node n =
            reinterpret_cast<const bundle_node *>(table + head.node)[begin + first];
        return {n.panel,
                n.ld,
                n.shape,
                n.slot,
                n.up,
                rank,
                ((SUBSTITUTE_WARPS - 1 - first) * once >> 6) + 1,
                count,
                first};
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

    /* 1 over the diagonal's entries of rows i and i + step of the pivots, which are read as the last
     * one's behind it. */
    __device__ __forceinline__ void reciprocals(const member &n, int i, int step,
                                                T (&scale)[2]) const
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int at = max(0, min(i + h * step, n.columns - 1));
            scale[h] = q.cholesky && n.columns > 0
                           ? from_real<T>(quick_reciprocal(real_part(n.panel[at * (n.ld + 1)])))
                           : from_real<T>(1);
        }
    }

    /* The pivots' slots := inv(L) times them. */
    __device__ __forceinline__ void solve_forward(const member &n) const
    {
        const int k = n.columns;
        if (is_refused(n.panel, n.ld, k))
            return substitute_block<C>(n.panel, n.ld, k, q.cholesky, false, n.slot);
        T scale[2];
        if constexpr (C == 1) {
            reciprocals(n, lane(), 32, scale);
#pragma unroll 1
            for (int first = (k - 1) & ~31; first >= 0; first -= 32) {
                const int i = min(first + lane(), k - 1);
                const T sum = inner_product(n.panel + i * n.ld, 1, n.slot, i);
                const T z = multiply(n.slot[i] + sum, first > 0 ? scale[1] : scale[0]);
                __syncwarp();
                if (first + lane() < k)
                    n.slot[i] = z;
                __syncwarp();
            }
        } else {
#pragma unroll 1
            for (int first = (k - 1) & ~15; first >= 0; first -= 16) {
                product_sum<T, 1> sum;
                reciprocals(n, first + lane() / 4, 8, scale);
                multiply_slots<C>(sum, n.slot, 0, min(first + 15, k), [&](int i, int c) {
                    return first + i < k && c < first + i ? n.panel[c + (first + i) * n.ld] : T{};
                });
                __syncwarp();
                put_sum<C>(sum, n.slot, first, k, [&](int i, T f, T v) {
                    return multiply(f + v, i - first < 8 ? scale[0] : scale[1]);
                });
            }
            __syncwarp();
        }
    }
    /* The pivots' slots := inv(U)^T times them, L = U D. */
    __device__ __forceinline__ void solve_backward(const member &n) const
    {
        const int k = n.columns;
        if constexpr (C == 1) {
#pragma unroll 1
            for (int first = 0; first < k; first += 32) {
                const int j = min(first + lane(), k - 1);
                const T sum =
                    inner_product(n.panel + j + (j + 1) * n.ld, n.ld, n.slot + j + 1, k - 1 - j);
                const T y = n.slot[j] + sum;
                __syncwarp();
                if (first + lane() < k)
                    n.slot[j] = y;
                __syncwarp();
            }
        } else {
#pragma unroll 1
            for (int first = 0; first < k; first += 16) {
                product_sum<T, 1> sum;
                multiply_slots<C>(sum, n.slot, first + 1, k, [&](int i, int c) {
                    return c > first + i ? n.panel[first + i + c * n.ld] : T{};
                });
                __syncwarp();
                put_sum<C>(sum, n.slot, first, k, [&](int, T y, T v) { return y + v; });
                __syncwarp();
            }
        }
    }

    /* ---- Nodes ---- */

    /* What goes up from a node's rows below, `size` warps of which this is number `rank`. */
    __device__ __forceinline__ void pass_up(const member &n, int rank, int size) const
    {
        constexpr int CHUNK = C == 1 ? 32 : 16;
        T *slot = n.slot + n.columns * C;
        const T *L = n.panel + n.columns;
#pragma unroll 1
        for (int first = CHUNK * rank; first < n.rows; first += CHUNK * size) {
            if constexpr (C == 1) {
                const int i = min(first + lane(), n.rows - 1);
                const T sum = inner_product(L + i, n.ld, n.slot, n.columns);
                if (first + lane() < n.rows) {
                    const T value = slot[i] - sum;
                    slot[i] = value;
                    if (n.up >= 0)
                        this->send(n.up + i, value);
                }
            } else {
                product_sum<T, 1> product;
                multiply_slots<C>(product, n.slot, 0, n.columns, [&](int i, int c) {
                    return L[min(first + i, n.rows - 1) + c * n.ld];
                });
                put_sum<C>(product, slot, first, n.rows, [](int, T f, T v) { return f - v; });
                if (n.up < 0)
                    continue;
                __syncwarp();
#pragma unroll 1
                for (int i = first + row(); i < min(first + CHUNK, n.rows); i += ROWS)
                    this->send(n.up + i, slot[place(i)]);
            }
        }
    }
    /* The slots of rows [from, to) of a node's front, below its pivots, := the x inside that they
     * meet, by a warp. */
    __device__ __forceinline__ void fetch_below(const member &n, int from, int to) const
    {
#pragma unroll 1
        for (int first = from + row(); first < to; first += EACH * ROWS) {
            int at[EACH];
            T x[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++)
                at[u] = first + u * ROWS < to ? n.at[first + u * ROWS] : -1;
#pragma unroll
            for (int u = 0; u < EACH; u++)
                x[u] = at[u] >= 0 ? room.bundle.slot[0][place(at[u])] : T{};
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (at[u] >= 0)
                    n.slot[place(first + u * ROWS)] = x[u];
        }
        __syncwarp();
    }
    /* The pivots' slots := inv(D) (what they are - L^T x of the rows below), without inv(D) if the
     * inverse is refused; of L D L^T it is one.  By the warps of a node, there for the first. */
    __device__ __forceinline__ void pull_down(const part &w, const member &n, bool refused) const
    {
        const T one = from_real<T>(1);
        if constexpr (C == 1) {
            T(*partial)[SUBSTITUTE_ROWS] = room.bundle.partial;
            /* each warp has other rows, that it fetches itself */
            const int share = n.rows <= 8 * w.size ? 8 : n.rows <= 16 * w.size ? 16 : 32;
            T scale[2], sum[2] = {};
            if (w.rank == 0)
                reciprocals(n, lane(), 32, scale);
#pragma unroll 1
            for (int first = share * w.rank; first < n.rows; first += share * w.size) {
                const int count = min(share, n.rows - first), from = n.columns + first;
                fetch_below(n, from, from + count);
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int j = lane() + 32 * h;
                    if (32 * h >= n.columns)
                        break;
                    sum[h] = sum[h] + inner_product(n.panel + min(j, n.columns - 1) * n.ld + from,
                                                    1, n.slot + from, count);
                }
            }
            if (share * w.rank < n.rows)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    partial[warp()][lane() + 32 * h] = sum[h];
            meet(w.count);
            if (w.rank > 0)
                return;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int j = lane() + 32 * h;
                if (j >= n.columns)
                    break;
                const T y = n.slot[j];
                T more[SUBSTITUTE_WARPS];
#pragma unroll
                for (int r = 0; r < SUBSTITUTE_WARPS; r++)
                    more[r] =
                        r < w.size && share * r < n.rows ? partial[w.first + r * w.count][j] : T{};
#pragma unroll
                for (int half = SUBSTITUTE_WARPS / 2; half > 0; half /= 2)
#pragma unroll
                    for (int r = 0; r < half; r++)
                        more[r] = more[r] + more[r + half];
                n.slot[j] = multiply(y - more[0], refused ? one : scale[h]);
            }
            __syncwarp();
        } else {
            const int each = (n.rows + w.size - 1) / w.size, from = n.columns + each * w.rank;
            fetch_below(n, from, min(from + each, n.columns + n.rows));
            meet(w.count);
#pragma unroll 1
            for (int first = 16 * w.rank; first < n.columns; first += 16 * w.size) {
                product_sum<T, 1> sum;
                T scale[2] = {one, one};
                if (!refused)
                    reciprocals(n, first + lane() / 4, 8, scale);
                multiply_slots<C>(sum, n.slot + n.columns * C, 0, n.rows, [&](int j, int r) {
                    return n.panel[n.columns + r + min(first + j, n.columns - 1) * n.ld];
                });
                put_sum<C>(sum, n.slot, first, n.columns, [&](int j, T y, T v) {
                    return multiply(y - v, j - first < 8 ? scale[0] : scale[1]);
                });
            }
            meet(w.count);
        }
    }

    /* Calls work(part) for all rounds, upwards or downwards, all warps together from level to
     * level. */
    template <typename F> __device__ __forceinline__ void each_round(bool upwards, F work) const
    {
        int left = head.levels, level = upwards ? 0 : left - 1, begin = table[head.level + level],
            end = table[head.level + level + 1];
        part now = part_of(begin, end);
#pragma unroll 1
        for (;;) {
            begin += SUBSTITUTE_WARPS;
            const bool last = begin >= end;
            if (last && --left > 0) {
                level += upwards ? 1 : -1;
                begin = table[head.level + level];
                end = table[head.level + level + 1];
            }
            const part next = left > 0 ? part_of(begin, end) : now;
            work(now);
            if (last)
                __syncthreads();
            if (left == 0)
                return;
            now = next;
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
                int at[EACH * TERMS];
                T value[EACH * TERMS];
                more = false;
#pragma unroll
                for (int u = 0; u < EACH; u++) {
#pragma unroll
                    for (int t = 0; t < TERMS; t++, next[u]++)
                        at[u * TERMS + t] = next[u] < end[u] ? table[head.code + next[u]] : -1;
                    more = next[u] < end[u] || more;
                }
                this->template receive<false>(at, value);
#pragma unroll
                for (int u = 0; u < EACH; u++)
#pragma unroll
                    for (int t = 0; t < TERMS; t++)
                        sum[u] = sum[u] + value[u * TERMS + t];
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
        each_round(true, [&](const part &w) {
            const member n = node(w);
            /* rows below by other warps, while z is formed */
            if (w.rank > 0 || w.size == 1)
                add_inside(n, n.columns, n.columns + n.rows, max(0, w.rank - 1),
                           max(1, w.size - 1));
            if (w.rank == 0) {
                add_inside(n, 0, n.columns, 0, 1);
                solve_forward(n);
            }
            meet(w.count);
            pass_up(n, w.rank, w.size);
        });
        each_pivot(
            [&](int i, int) { this->send(table[head.at + i], room.bundle.slot[0][place(i)]); });
    }
    template <typename F> __device__ __forceinline__ void backward(F &meanwhile) const
    {
        begin_backward();
        meanwhile();
        __syncthreads();
        each_round(false, [&](const part &w) {
            const member n = node(w);
            const bool refused = is_refused(n.panel, n.ld, n.columns);
            pull_down(w, n, refused);
            if (w.rank > 0)
                return;
            if (refused)
                substitute_block<C>(n.panel, n.ld, n.columns, q.cholesky, true, n.slot);
            else
                solve_backward(n);
        });
        each_pivot([&](int i, int user) {
            this->send_x(table[head.at + i], user, room.bundle.scale[i],
                         conjugate_if(room.bundle.slot[0][place(i)], q.hermitian));
        });
    }

  private:
    /* visit(slot, row of A) for the slots of all pivots. */
    template <typename F> __device__ __forceinline__ void each_pivot(F visit) const
    {
#pragma unroll 1
        for (int i = threadIdx.x / C; i < head.slots; i += TOGETHER) {
            const int user = table[head.user + i];
            if (user >= 0)
                visit(i, user);
        }
    }
};

#endif
