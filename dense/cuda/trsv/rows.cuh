/* dense/cuda/trsv/rows.cuh: forward substitution in one kernel, a block of threads for a block row
 * of 64 [Hogg 2013, listing 4]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r:  sum = L(r, 0:r-1) x(0:r-1), one tile at a time as the x arrive;
 *                   x(r) = inv(L(r,r)) (b(r) - sum)
 *
 * The chain of dependent steps goes through the last tile, the diagonal block and the hand-over of
 * x(r).  Everything else is done before: the diagonal block is inverted on arrival, while the block
 * would wait; further down there is time to multiply the last tile by the inverse as well,
 *
 *     x(r) = z - P x(r-1),   P = inv(L(r,r)) L(r,r-1),   z = inv(L(r,r)) (b(r) - L(r, 0:r-2)
 * x(0:r-2)),
 *
 * which leaves one product on the chain.  A tile is in registers before its x is waited for, and
 * warps wait for themselves, each for the entries that it needs. */
#ifndef DENSE_CUDA_TRSV_ROWS_CUH
#define DENSE_CUDA_TRSV_ROWS_CUH

#include "dense/cuda/device/invert.cuh"
#include "dense/libsolver_dense.h"
#include <cstddef>

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

__device__ __forceinline__ unsigned long long global_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
__device__ __forceinline__ void trace_time(const rows_options &o, int r, trace_word word)
{
    if (o.trace != nullptr && threadIdx.x == 0)
        o.trace[8 * r + word] = global_ns();
}

template <typename T> struct rows_shared {
    T D[TILE_AREA<T>];           /* the diagonal block */
    T X[TILE_AREA<T>];           /* its inverse */
    T partial[TILE_PARTS][TILE]; /* sums of L x and then of P x */
    T y[TILE];                   /* b */
    float growth[TILE];
    T x[TILE_THREADS / 32][2][8]; /* for each warp: the entries its columns meet, two buffers */
    union {
        T step[TILE_PARTS][TILE]; /* sums of inv(D) y, or a substitution's x */
        T last[1]; /* before that, CACHE_SHARED: the last tile, TILE * TILE, each thread its own
                      share */
    };
};

constexpr int SHARED_LIMIT = 227 * 1024; /* what a block may have on sm_90, static and dynamic
                                            together */

template <typename T> constexpr int rows_shared_bytes(libsolver_trsv_cache cache)
{
    return (int)(cache == LIBSOLVER_CACHE_SHARED
                     ? offsetof(rows_shared<T>, last) + sizeof(T) * TILE * TILE
                     : sizeof(rows_shared<T>));
}

/* sum += A x(j) with this thread's share of the tile A in a */
template <bool BY_ROWS, typename T, typename Link>
__device__ __forceinline__ void rows_step(const Link &link, typename Link::glance (&seen)[2],
                                          rows_shared<T> &s, T (&sum)[TILE_SUMS],
                                          const T (&a)[TILE_SHARE], int j)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if constexpr (BY_ROWS) {
        const T x0 = link.wait(seen[0], j, lane), x1 = link.wait(seen[1], j, lane + 32);
        tile_apply_rows(sum, a, x0, x1);
    } else if (link.shared(j)) {
        tile_apply_columns(sum, a, link.arrived(j) + tile_first_column());
    } else {
        /* the buffer written here was last read two steps ago, before the previous step's
         * __syncwarp */
        T *x = s.x[warp][j & 1];
        /* all four the same: no branch */
        x[lane % 8] = link.wait(seen[0], j, tile_first_column() + lane % 8);
        __syncwarp();
        tile_apply_columns(sum, a, x);
    }
}

/* A look at the entries of x(j) that this lane will wait for in rows_step. */
template <bool BY_ROWS, typename Link>
__device__ __forceinline__ void rows_look(const Link &link, typename Link::glance (&seen)[2], int j)
{
    const int lane = threadIdx.x % 32;
    seen[0] = link.early(j, BY_ROWS ? lane : tile_first_column() + lane % 8);
    if (BY_ROWS)
        seen[1] = link.early(j, lane + 32);
}

/* Row i of what is left of b; the sum is in parts in s.partial. */
template <typename T> __device__ __forceinline__ T rows_left(const rows_shared<T> &s, int i)
{
    return s.y[i] - tile_row_sum(s.partial, i);
}

/* v := inv(D) (b - sum) by substitution, with the inverses of the 8 x 8 blocks unless they
 * grow.  Ends with a barrier. */
template <typename T> __device__ __forceinline__ void rows_substitute(rows_shared<T> &s, T *v)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool grows = false;
    if (warp == 0)
        substitute_blocks(s.D, s.X, rows_left(s, lane), rows_left(s, lane + 32), v);
    else if (warp / 2 == 1) /* meanwhile */
        grows = growth_of_blocks_exceeds<8>(s.D, s.X, (int)threadIdx.x - TILE, GROWTH_LIMIT);
    if (!__syncthreads_or(grows))
        return;
    if (warp == 0) {
        T y0 = rows_left(s, lane), y1 = rows_left(s, lane + 32);
        substitute_64(s.D, y0, y1);
        v[lane] = y0;
        v[lane + 32] = y1;
    }
    __syncthreads();
}

/* Row threadIdx.x of inv(D) (b - sum) in the first 64 threads; all call. */
template <typename T>
__device__ __forceinline__ T rows_diagonal(rows_shared<T> &s, const T (&inverse)[TILE_SHARE],
                                           bool inverted, int r)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (!inverted) {
        rows_substitute(s, s.step[0]);
        return threadIdx.x < TILE ? s.step[0][threadIdx.x] : T{};
    }
    /* every warp by itself: the 8 entries that its columns of the inverse meet */
    T *y = s.x[warp][r % 2]; /* not the buffer of x(r-1) */
    y[lane % 8] = rows_left(s, tile_first_column() + lane % 8);
    __syncwarp();
    T sum[TILE_SUMS] = {};
    tile_apply_columns(sum, inverse, y);
    tile_reduce<false>(sum, s.step);
    return threadIdx.x < TILE ? tile_row_sum(s.step, (int)threadIdx.x) : T{};
}

/* Waits for x(j) and loads tile (r,j) only then: what reading ahead is compared with. */
template <bool BY_ROWS, typename T, typename Link>
__device__ __forceinline__ void rows_load_late(T (&tile)[TILE_SHARE], const triangle_view<T> &L,
                                               const Link &link, const typename Link::glance &seen,
                                               int r, int j)
{
    link.wait(seen, j,
              BY_ROWS ? (int)threadIdx.x % 32 : tile_first_column() + (int)threadIdx.x % 8);
    tile_load<BY_ROWS>(tile, L, TILE * r, TILE * j);
}

/* D := inv(L(r,r)) to s.X, whatever it is put to; the last tile, when it is wanted there, to s.D,
 * scaled or not.  Returns whether the inverse may be used. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ bool rows_invert(rows_shared<T> &s, const T (&last)[TILE_SHARE],
                                            bool staged, bool scaled)
{
    invert_64(s.D, s.X); /* whose 8 x 8 diagonal blocks stay as they were */
    if (growth_exceeds(s.D, s.X, s.growth, GROWTH_LIMIT))
        return false;
    if (staged) {
        tile_put(s.D, last, BY_ROWS); /* all have read D: growth_exceeds ended with a barrier */
        __syncthreads();
        if (scaled)
            scale_64(s.X, s.D, s.D);
    }
    return true;
}

/* The solve of block row r by a block of TILE_THREADS threads.  BY_ROWS: L.transposed.  AHEAD:
 * o.cache says so.  Registers: two tiles and the share of the inverse at most. */
template <bool BY_ROWS, bool AHEAD, typename T, typename Link> struct row_solver {
    using glance = typename Link::glance;
    static constexpr int TILES = AHEAD ? Link::TILES : 1;
    /* registers for the first tiles while the diagonal block is inverted */
    static constexpr bool SPACIOUS = TILES > 2;

    const triangle_view<T> &L;
    const rows_options &o;
    const Link &link;
    rows_shared<T> &s;
    const int r, i0, row; /* row: of the block row, in the first 64 threads */
    /* Tile (r,j) is kept in tile[(j + pad) mod TILES], the last one in tile[0]; before tile (r,0)
     * there are `pad` that are none. */
    int pad;
    bool inverted; /* the diagonal block */
    bool scaled;   /* the last tile is multiplied by that inverse */
    /* the last tile goes through shared memory: to be scaled, or to be transposed from rows to
     * columns, whose sums need no shuffles */
    bool staged;

    __device__ __forceinline__ row_solver(const triangle_view<T> &L, const rows_options &o,
                                          const Link &link, rows_shared<T> &s, int r)
        : L(L), o(o), link(link), s(s), r(r), i0(TILE * r), row(threadIdx.x % TILE)
    {
    }

    /* Whether the last tile is loaded before all others and kept there until it is applied. */
    __device__ __forceinline__ bool keeps_last(libsolver_trsv_cache cache) const
    {
        return !AHEAD && r > 0 && o.cache == cache;
    }
    /* Tiles that go through `tile`: all, or all but the last. */
    __device__ __forceinline__ int streamed() const { return staged ? r - 1 : r; }

    /* Loads the diagonal block and what is kept of the last tile; s.y := b. */
    __device__ __forceinline__ void begin(const vector_view<T> &x, T (&last_tile)[TILE_SHARE])
    {
        diagonal_load<BY_ROWS>(s.D, L, i0);
        const T b = threadIdx.x < TILE && i0 + row < L.n ? x.load(i0 + row) : T{};
        inverted = r >= o.invert_from;
        scaled = AHEAD && r > 0 && inverted && r >= o.scale_from;
        staged = AHEAD && r > 0 && inverted && (BY_ROWS || scaled);
        if (r > 0 &&
            (staged || o.cache == LIBSOLVER_CACHE_SHARED || o.cache == LIBSOLVER_CACHE_REGISTERS))
            tile_load<BY_ROWS>(last_tile, L, i0, i0 - TILE);
        if (keeps_last(LIBSOLVER_CACHE_SHARED)) {
#pragma unroll
            for (int k = 0; k < TILE_SHARE; k++)
                s.last[k * TILE_THREADS + threadIdx.x] = last_tile[k];
        }
        pad = r > 0 ? TILES - 1 - (r - 1 + TILES - 1) % TILES : 0;
        tile_clear(s.X);
        if (threadIdx.x < TILE)
            s.y[row] = b;
        __syncthreads();
    }

    __device__ __forceinline__ void load_first(T (&tile)[TILES][TILE_SHARE])
    {
#pragma unroll
        for (int k = 0; k < TILES - 1; k++)
            if (k >= pad && k - pad < streamed())
                tile_load<BY_ROWS>(tile[k], L, i0, TILE * (k - pad));
    }

    /* Inverts the diagonal block where it is wanted and can be trusted. */
    __device__ __forceinline__ void invert(T (&tile)[TILES][TILE_SHARE], T (&last_tile)[TILE_SHARE])
    {
        if (SPACIOUS)
            load_first(tile);
        invert_blocks(s.D, s.X);
        if (inverted)
            inverted = rows_invert<BY_ROWS>(s, last_tile, staged, scaled);
        if (staged && !inverted) {
            staged = false;
            if (SPACIOUS)
                load_first(tile); /* the last tile may be one of them */
        }
        if (!SPACIOUS)
            load_first(tile); /* only now; x(0) is not there yet */
        link.ready();
    }

    /* sum := L(r, 0:r-2) x(0:r-2), as the x arrive. */
    __device__ __forceinline__ void apply_tiles(T (&sum)[TILE_SUMS], glance (&seen)[2],
                                                T (&tile)[TILES][TILE_SHARE])
    {
        if (r > 0)
            rows_look<BY_ROWS>(link, seen, 0);
        for (int first = -pad; first < r - 1; first += TILES)
#pragma unroll
            for (int k = 0; k < TILES; k++) {
                const int j = first + k, ahead = j + TILES - 1;
                if (AHEAD && ahead < streamed())
                    tile_load<BY_ROWS>(tile[(k + TILES - 1) % TILES], L, i0, TILE * ahead);
                if (j < 0)
                    continue;
                if (!AHEAD)
                    rows_load_late<BY_ROWS>(tile[0], L, link, seen[0], r, j);
                rows_step<BY_ROWS>(link, seen, s, sum, tile[k], j);
                if (j + 2 < r || !staged)
                    rows_look<BY_ROWS>(link, seen, j + 1);
            }
    }

    /* The last tile from shared memory, by columns.  Returns z of row threadIdx.x if scaled; then
     * s.partial gets the parts of P x(r-1), otherwise those of all of the sum. */
    __device__ __forceinline__ T apply_last_staged(T (&sum)[TILE_SUMS], glance (&seen)[2],
                                                   T (&tile)[TILE_SHARE],
                                                   const T (&inverse)[TILE_SHARE])
    {
        rows_look<false>(link, seen, r - 1);
        tile_get(tile, s.D);
        tile_reduce<BY_ROWS>(sum, s.partial);
        T last[TILE_SUMS] = {}, z = {};
        if (scaled)
            z = rows_diagonal(s, inverse, true, r);
        else /* the same thread puts these parts back */
            for (int half = 0; half < 2; half++)
                last[4 * half] = s.partial[threadIdx.x / 32][threadIdx.x % 32 + 32 * half];
        rows_step<false>(link, seen, s, last, tile, r - 1);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce<false>(last, s.partial);
        return z;
    }

    /* The last tile from where it was kept; s.partial gets the parts of the sum. */
    __device__ __forceinline__ void apply_last(T (&sum)[TILE_SUMS], glance (&seen)[2],
                                               T (&tile)[TILE_SHARE],
                                               const T (&last_tile)[TILE_SHARE])
    {
        if (keeps_last(LIBSOLVER_CACHE_NONE))
            rows_load_late<BY_ROWS>(tile, L, link, seen[0], r, r - 1);
        if (keeps_last(LIBSOLVER_CACHE_REGISTERS))
            tile_copy(tile, last_tile);
        if (keeps_last(LIBSOLVER_CACHE_SHARED)) {
#pragma unroll
            for (int k = 0; k < TILE_SHARE; k++)
                tile[k] = s.last[k * TILE_THREADS + threadIdx.x];
        }
        if (r > 0)
            rows_step<BY_ROWS>(link, seen, s, sum, tile, r - 1);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce<BY_ROWS>(sum, s.partial);
    }
};

/* x(r) := inv(L(r,r)) (b(r) - L(r, 0:r-1) x(0:r-1)); all threads of the block call. */
template <bool BY_ROWS, bool AHEAD, typename T, typename Link>
__device__ __forceinline__ void rows_solve(const triangle_view<T> &L, const vector_view<T> &x,
                                           const rows_options &o, const Link &link,
                                           rows_shared<T> &s, int r)
{
    using solver = row_solver<BY_ROWS, AHEAD, T, Link>;
    solver q(L, o, link, s, r);
    trace_time(o, r, TRACE_START);
    T tile[solver::TILES][TILE_SHARE], last_tile[TILE_SHARE];
    q.begin(x, last_tile);
    q.invert(tile, last_tile);
    trace_time(o, r, TRACE_DIAGONAL);

    T sum[TILE_SUMS] = {};
    typename Link::glance seen[2] = {};
    q.apply_tiles(sum, seen, tile);
    trace_time(o, r, TRACE_CAUGHT_UP);
    T inverse[TILE_SHARE], z = {};
    if (q.inverted)
        tile_get(inverse, s.X);
    if (q.staged)
        z = q.apply_last_staged(sum, seen, tile[0], inverse);
    else
        q.apply_last(sum, seen, tile[0], last_tile);
    if (!(q.staged && q.scaled))
        z = rows_diagonal(s, inverse, q.inverted, r);
    if (threadIdx.x < TILE) {
        const T solved = q.staged && q.scaled ? z - tile_row_sum(s.partial, q.row) : z;
        link.send(r, q.row, solved);
        trace_time(o, r, TRACE_SENT);
        if (!Link::IN_PLACE && q.i0 + q.row < L.n)
            x.store(q.i0 + q.row, solved);
    }
}

#endif
