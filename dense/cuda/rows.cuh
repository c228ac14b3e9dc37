/* dense/cuda/rows.cuh: forward substitution in one kernel, a block of threads for a block row of 64  [paper
 * 000, listing 4]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r:  sum = L(r, 0:r-1) x(0:r-1), one tile at a time as the x arrive;  x(r) = inv(L(r,r)) (b(r)
 * - sum)
 *
 * The chain of dependent steps goes through the last tile, the diagonal block and the hand-over of x(r).
 * Everything else is done before: the diagonal block is inverted on arrival, while the block would wait;
 * further down there is time to multiply the last tile by the inverse as well, x(r) = z - P x(r-1),   P =
 * inv(L(r,r)) L(r,r-1),   z = inv(L(r,r)) (b(r) - L(r, 0:r-2) x(0:r-2)), which leaves one product on the
 * chain.  A tile is in registers before its x is waited for, and warps wait for themselves, each for the
 * entries that it needs. */
#ifndef DENSE_CUDA_ROWS_CUH
#define DENSE_CUDA_ROWS_CUH

#include "dense/cuda/invert.cuh"
#include "dense/cuda/turn.cuh"

/* Most blocks in a cluster: 8 are portable, 16 are what an H100 and H200 take when asked. */
constexpr int CLUSTER_BLOCKS = 16;

/* How x travels.  A link has
 *     enter()                 all threads, first: this block's row; ends with a barrier
 *     early(j, i)             a look at entry i of x(j), without waiting
 *     wait(early, j, i)       that entry, once it is there; may be called by some lanes only
 *     send(r, i, v, part)     entry i of x(r) to all later rows; called by all threads, four times for each
 * i, with part 0..3 */
template <typename T> struct grid_link {
    static constexpr int BLOCKS_PER_SM = 2;
    struct arguments {
        workspace_head *head;
        packet *box;
        int rows;
    };
    using glance = letter<T>;
    struct shared_part {
        place mine;
    };
    packet *box;
    unsigned long long epoch;

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        if (threadIdx.x == 0)
            s.mine = ticket_take(a.head, gridDim.x);
        __syncthreads();
        box = a.box;
        epoch = s.mine.epoch;
        return s.mine.number;
    }
    __device__ __forceinline__ glance early(int j, int i) const { return letter_load<T>(box, TILE * j + i); }
    __device__ __forceinline__ T wait(glance g, int j, int i) const
    {
        return letter_wait<T>(g, box, TILE * j + i, epoch);
    }
    __device__ __forceinline__ void send(int r, int i, T v, int part) const
    {
        if (part == 0)
            letter_send(box, TILE * r + i, v, epoch);
    }
};

/* Within a cluster through distributed shared memory, from one cluster to the next through global memory. */
template <typename T> struct cluster_link {
    static constexpr int BLOCKS_PER_SM = 1;
    struct arguments {
        workspace_head *head; /* not used by a single cluster */
        packet *box;
        int rows;
    };
    using glance = letter<T>;
    struct shared_part {
        T x[CLUSTER_BLOCKS - 1][TILE];
        uint64_t barrier[CLUSTER_BLOCKS - 1];
        turn_shared turn;
    };
    shared_part *inbox;
    packet *box;
    unsigned long long epoch;
    int first, count, rows; /* this cluster's first row and number of rows; all rows */

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        const int rank = cluster_rank(), blocks = cluster_blocks(), clusters = (int)gridDim.x / blocks;
        if ((int)threadIdx.x < rank)
            inbox_open(&s.barrier[threadIdx.x]);
        __syncthreads();
        if ((int)threadIdx.x < rank)
            inbox_expect(&s.barrier[threadIdx.x], TILE * sizeof(T));
        inbox = &s;
        box = a.box;
        rows = a.rows;
        place mine = {0, 0};
        if (clusters > 1)
            mine = turn_take(s.turn, a.head, clusters);
        else
            cluster_arrive();
        epoch = mine.epoch;
        first = mine.number * blocks;
        count = min(blocks, rows - first);
        return first + rank;
    }
    /* Before the first send: all inboxes are open. */
    __device__ __forceinline__ void ready() const
    {
        if (rows == count)
            cluster_wait();
    }
    __device__ __forceinline__ glance early(int j, int i) const
    {
        return j < first ? letter_load<T>(box, TILE * j + i) : glance{};
    }
    __device__ __forceinline__ T wait(glance g, int j, int i) const
    {
        if (j < first)
            return letter_wait<T>(g, box, TILE * j + i, epoch);
        inbox_wait(&inbox->barrier[j - first], 0);
        return inbox->x[j - first][i];
    }
    __device__ __forceinline__ void send(int r, int i, T v, int part) const
    {
        const int rank = r - first;
        for (int to = rank + 1 + part; to < count; to += TILE_PARTS)
            inbox_send(&inbox->x[rank][i], &inbox->barrier[rank], to, v);
        if (part == 0 && first + count < rows)
            letter_send(box, TILE * r + i, v, epoch);
    }
};

/* All block rows by one block of threads, in turn: x is where it was stored.  A barrier comes between rows.
 */
template <typename T> struct block_link {
    struct glance {
    };
    vector_view<T> x;

    __device__ __forceinline__ glance early(int, int) const { return {}; }
    __device__ __forceinline__ T wait(glance, int j, int i) const { return x.load(TILE * j + i); }
    __device__ __forceinline__ void send(int, int, T, int) const {}
};

/* All links: after this x may be sent.  All threads, once. */
template <typename Link> __device__ __forceinline__ void link_ready(const Link &) {}
template <typename T> __device__ __forceinline__ void link_ready(const cluster_link<T> &link)
{
    link.ready();
}

struct rows_options {
    libsolver_trsv_cache cache;
    int invert_from, scale_from;
    unsigned long long *trace;
};

/* When thread 0 of a block row was where, in ns of the global timer. */
enum trace_word {
    TRACE_START,     /* the row was taken */
    TRACE_DIAGONAL,  /* its diagonal block is ready, inverted or not */
    TRACE_CAUGHT_UP, /* all tiles but the last were applied */
    TRACE_LAST_X,    /* the last tile was applied */
    TRACE_SENT       /* x(r) is on its way */
};

__device__ __forceinline__ void trace_time(const rows_options &o, int r, trace_word word)
{
    if (o.trace != nullptr && threadIdx.x == 0) {
        unsigned long long t;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
        o.trace[8 * r + word] = t;
    }
}

template <typename T> struct rows_shared {
    T D[TILE_AREA<T>];              /* the diagonal block */
    T X[TILE_AREA<T>];              /* its inverse */
    T partial[2][TILE_PARTS][TILE]; /* sums of L x and then of P x; of inv(D) y */
    T y[TILE];
    T x[TILE_THREADS / 32][2][16]; /* for each warp: the entries its columns meet, two buffers */
    T last[1];                     /* CACHE_SHARED: the last tile, TILE * TILE, each thread its own share */
};

template <typename T> constexpr int rows_shared_bytes(libsolver_trsv_cache cache)
{
    return (int)(sizeof(rows_shared<T>) + (cache == LIBSOLVER_CACHE_SHARED ? sizeof(T) * TILE * TILE : 0));
}

/* sum += A x(j) with this thread's share of the tile A in a, in the map that by_rows says */
template <typename T, typename Link>
__device__ __forceinline__ void rows_step(Link &link, typename Link::glance (&seen)[2], rows_shared<T> &s,
                                          T (&sum)[TILE_SUMS], const T (&a)[TILE_SHARE], int j, bool by_rows)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (by_rows) {
        const T x0 = link.wait(seen[0], j, lane), x1 = link.wait(seen[1], j, lane + 32);
        tile_apply_rows(sum, a, x0, x1);
    } else {
        /* the buffer written here was last read two steps ago, before the previous step's __syncwarp */
        T *x = s.x[warp][j % 2];
        x[lane % 16] = link.wait(seen[0], j, tile_first_column() + lane % 16); /* twice the same: no branch */
        __syncwarp();
        tile_apply_columns(sum, a, x);
    }
}

/* A look at the entries of x(j) that this lane will wait for in rows_step. */
template <typename T, typename Link>
__device__ __forceinline__ void rows_look(const Link &link, typename Link::glance (&seen)[2], int j,
                                          bool by_rows)
{
    const int lane = threadIdx.x % 32;
    seen[0] = link.early(j, by_rows ? lane : tile_first_column() + lane % 16);
    if (by_rows)
        seen[1] = link.early(j, lane + 32);
}

/* Row threadIdx.x mod 64 of inv(D) (b - sum), in all four quarters; the sum is in parts in s.partial[0]. */
template <typename T>
__device__ __forceinline__ T rows_diagonal(rows_shared<T> &s, const T (&inverse)[TILE_SHARE], bool inverted,
                                           T b)
{
    const int lane = threadIdx.x % 32, row = threadIdx.x % TILE;
    if (threadIdx.x < TILE)
        s.y[row] = b - tile_row_sum(s.partial[0], row);
    __syncthreads();
    if (!inverted) {
        if (threadIdx.x < 32) {
            T y0 = s.y[lane], y1 = s.y[lane + 32];
            substitute_64(s.D, y0, y1);
            s.y[lane] = y0;
            s.y[lane + 32] = y1;
        }
        __syncthreads();
        return s.y[row];
    }
    T sum[TILE_SUMS] = {};
    tile_apply_columns(sum, inverse, s.y + tile_first_column());
    tile_reduce(sum, s.partial[1], false);
    return tile_row_sum(s.partial[1], row);
}

/* Waits for x(j) and loads tile (r,j) only then: what reading ahead is compared with. */
template <typename T, typename Link>
__device__ __forceinline__ void rows_load_late(T (&tile)[TILE_SHARE], const triangle_view<T> &L, Link &link,
                                               const typename Link::glance &seen, int r, int j)
{
    link.wait(seen, j, L.transposed ? (int)threadIdx.x % 32 : tile_first_column() + (int)threadIdx.x % 16);
    tile_load(tile, L, TILE * r, TILE * j);
}

/* One block row; all threads of a block of TILE_THREADS.  Registers: two tiles and the inverse's share at
 * most. */
template <typename T, typename Link>
__device__ __forceinline__ void rows_solve(const triangle_view<T> &L, const vector_view<T> &x,
                                           const rows_options &o, Link &link, rows_shared<T> &s, int r)
{
    const bool by_rows = L.transposed;
    const int i0 = TILE * r, row = threadIdx.x % TILE;
    const bool ahead = o.cache == LIBSOLVER_CACHE_AHEAD;
    trace_time(o, r, TRACE_START);

    T tile[TILE_SHARE], next[TILE_SHARE], inverse[TILE_SHARE];
    diagonal_load(s.D, L, i0);
    const T b = i0 + row < L.n ? x.load(i0 + row) : T{};
    bool scaled = ahead && r > 0 && r >= o.scale_from && r >= o.invert_from;
    if (r > 0 && (o.cache == LIBSOLVER_CACHE_SHARED || o.cache == LIBSOLVER_CACHE_REGISTERS))
        tile_load(next, L, i0, i0 - TILE); /* the last tile */
    if (r > 0 && o.cache == LIBSOLVER_CACHE_SHARED) {
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++)
            s.last[k * TILE_THREADS + threadIdx.x] = next[k];
    }
    tile_clear(s.X);
    __syncthreads();
    bool inverted = r >= o.invert_from;
    if (inverted) {
        invert_64(s.D, s.X);
        inverted = !growth_exceeds(s.D, s.X, s.partial[0], s.y, GROWTH_LIMIT);
    }
    scaled = scaled && inverted;
    if (scaled) {
        tile_load(next, L, i0, i0 - TILE);
        tile_put(s.D, next, by_rows); /* all have read D: growth_exceeds ended with a barrier */
        __syncthreads();
        scale_64(s.X, s.D, s.D);
    }
    if (r > 0 && ahead)
        tile_load(tile, L, i0, 0); /* only now: registers are short before, and x(0) is not there yet */
    link_ready(link);
    trace_time(o, r, TRACE_DIAGONAL);

    T sum[TILE_SUMS] = {};
    typename Link::glance seen[2] = {};
    if (r > 0)
        rows_look<T>(link, seen, 0, by_rows);
    for (int j = 0; j < r - 1; j++) {
        if (!ahead)
            rows_load_late(tile, L, link, seen[0], r, j);
        else if (j + 2 < r || !scaled)
            tile_load(next, L, i0, TILE * (j + 1));
        rows_step(link, seen, s, sum, tile, j, by_rows);
        if (ahead)
            tile_copy(tile, next);
        if (j + 2 < r || !scaled)
            rows_look<T>(link, seen, j + 1, by_rows);
    }
    trace_time(o, r, TRACE_CAUGHT_UP);
    if (inverted)
        tile_get(inverse, s.X);
    T solved;
    if (scaled) {
        tile_get(tile, s.D);
        tile_reduce(sum, s.partial[0], by_rows);
        const T z = rows_diagonal(s, inverse, true, b);
        T last[TILE_SUMS] = {};
        rows_look<T>(link, seen, r - 1, false);
        rows_step(link, seen, s, last, tile, r - 1, false);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce(last, s.partial[0], false);
        solved = z - tile_row_sum(s.partial[0], row);
    } else {
        if (r > 0 && o.cache == LIBSOLVER_CACHE_NONE)
            rows_load_late(tile, L, link, seen[0], r, r - 1);
        if (r > 0 && o.cache == LIBSOLVER_CACHE_REGISTERS)
            tile_copy(tile, next);
        if (r > 0 && o.cache == LIBSOLVER_CACHE_SHARED) {
#pragma unroll
            for (int k = 0; k < TILE_SHARE; k++)
                tile[k] = s.last[k * TILE_THREADS + threadIdx.x];
        }
        if (r > 0)
            rows_step(link, seen, s, sum, tile, r - 1, by_rows);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce(sum, s.partial[0], by_rows);
        solved = rows_diagonal(s, inverse, inverted, b);
    }
    link.send(r, row, solved, threadIdx.x / TILE);
    trace_time(o, r, TRACE_SENT);
    if (threadIdx.x < TILE && i0 + row < L.n)
        x.store(i0 + row, solved);
}

#endif
