/* dense/cuda/trsv/rows.cuh: forward substitution in one kernel, a block of threads for a block row
 * of 64 [paper 000, listing 4]
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
#include "dense/cuda/trsv/links.cuh"
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

__device__ __forceinline__ void trace_time(const rows_options &o, int r, trace_word word)
{
    if (o.trace != nullptr && threadIdx.x == 0) {
        unsigned long long t;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
        o.trace[8 * r + word] = t;
    }
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
        grows = growth_of_blocks_exceeds(s.D, s.X, (int)threadIdx.x - TILE, GROWTH_LIMIT);
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

/* One block row; all threads of a block of TILE_THREADS.  BY_ROWS: L.transposed.  AHEAD: o.cache
 * says so.  Registers: two tiles and the inverse's share at most. */
template <bool BY_ROWS, bool AHEAD, typename T, typename Link>
__device__ __forceinline__ void rows_solve(const triangle_view<T> &L, const vector_view<T> &x,
                                           const rows_options &o, const Link &link,
                                           rows_shared<T> &s, int r)
{
    constexpr int TILES = AHEAD ? Link::TILES : 1;
    constexpr bool SPACIOUS = TILES > 2; /* registers for the first tiles while the diagonal block
                                            is inverted */
    const int i0 = TILE * r, row = threadIdx.x % TILE;
    trace_time(o, r, TRACE_START);

    T tile[TILES][TILE_SHARE], last_tile[TILE_SHARE];
    diagonal_load<BY_ROWS>(s.D, L, i0);
    const T b = threadIdx.x < TILE && i0 + row < L.n ? x.load(i0 + row) : T{};
    bool inverted = r >= o.invert_from;
    const bool scaled = AHEAD && r > 0 && inverted && r >= o.scale_from;
    /* the last tile goes through shared memory: to be scaled, or to turn it from rows to columns,
     * whose sums need no shuffles */
    bool staged = AHEAD && r > 0 && inverted && (BY_ROWS || scaled);
    if (r > 0 &&
        (staged || o.cache == LIBSOLVER_CACHE_SHARED || o.cache == LIBSOLVER_CACHE_REGISTERS))
        tile_load<BY_ROWS>(last_tile, L, i0, i0 - TILE);
    if (!AHEAD && r > 0 && o.cache == LIBSOLVER_CACHE_SHARED) {
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++)
            s.last[k * TILE_THREADS + threadIdx.x] = last_tile[k];
    }
    /* tile (r,j) is kept in tile[(j + pad) mod TILES], the last one in tile[0]; before tile (r,0)
     * there are `pad` that are none */
    const int pad = r > 0 ? TILES - 1 - (r - 1 + TILES - 1) % TILES : 0;
    const auto load_first = [&] {
#pragma unroll
        for (int k = 0; k < TILES - 1; k++)
            if (k >= pad && k - pad < (staged ? r - 1 : r))
                tile_load<BY_ROWS>(tile[k], L, i0, TILE * (k - pad));
    };
    tile_clear(s.X);
    if (threadIdx.x < TILE)
        s.y[row] = b;
    __syncthreads();
    if (SPACIOUS)
        load_first();
    invert_blocks(s.D, s.X);
    if (inverted)
        inverted = rows_invert<BY_ROWS>(s, last_tile, staged, scaled);
    if (staged && !inverted) {
        staged = false;
        if (SPACIOUS)
            load_first(); /* the last tile may be one of them */
    }
    if (!SPACIOUS)
        load_first(); /* only now; x(0) is not there yet */
    link.ready();
    trace_time(o, r, TRACE_DIAGONAL);

    T sum[TILE_SUMS] = {};
    typename Link::glance seen[2] = {};
    if (r > 0)
        rows_look<BY_ROWS>(link, seen, 0);
    for (int first = -pad; first < r - 1; first += TILES)
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            const int j = first + k, ahead = j + TILES - 1;
            if (AHEAD && ahead < (staged ? r - 1 : r))
                tile_load<BY_ROWS>(tile[(k + TILES - 1) % TILES], L, i0, TILE * ahead);
            if (j < 0)
                continue;
            if (!AHEAD)
                rows_load_late<BY_ROWS>(tile[0], L, link, seen[0], r, j);
            rows_step<BY_ROWS>(link, seen, s, sum, tile[k], j);
            if (j + 2 < r || !staged)
                rows_look<BY_ROWS>(link, seen, j + 1);
        }
    trace_time(o, r, TRACE_CAUGHT_UP);
    T inverse[TILE_SHARE], z = {};
    if (inverted)
        tile_get(inverse, s.X);
    if (staged) {
        rows_look<false>(link, seen, r - 1);
        tile_get(tile[0], s.D);
        tile_reduce<BY_ROWS>(sum, s.partial);
        T last[TILE_SUMS] = {};
        if (scaled) /* P x(r-1), to be taken from z */
            z = rows_diagonal(s, inverse, true, r);
        else /* the same thread puts these parts back */
            for (int half = 0; half < 2; half++)
                last[4 * half] = s.partial[threadIdx.x / 32][threadIdx.x % 32 + 32 * half];
        rows_step<false>(link, seen, s, last, tile[0], r - 1);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce<false>(last, s.partial);
    } else {
        if (!AHEAD && r > 0 && o.cache == LIBSOLVER_CACHE_NONE)
            rows_load_late<BY_ROWS>(tile[0], L, link, seen[0], r, r - 1);
        if (!AHEAD && r > 0 && o.cache == LIBSOLVER_CACHE_REGISTERS)
            tile_copy(tile[0], last_tile);
        if (!AHEAD && r > 0 && o.cache == LIBSOLVER_CACHE_SHARED) {
#pragma unroll
            for (int k = 0; k < TILE_SHARE; k++)
                tile[0][k] = s.last[k * TILE_THREADS + threadIdx.x];
        }
        if (r > 0)
            rows_step<BY_ROWS>(link, seen, s, sum, tile[0], r - 1);
        trace_time(o, r, TRACE_LAST_X);
        tile_reduce<BY_ROWS>(sum, s.partial);
    }
    if (!(staged && scaled))
        z = rows_diagonal(s, inverse, inverted, r);
    if (threadIdx.x < TILE) {
        const T solved = staged && scaled ? z - tile_row_sum(s.partial, row) : z;
        link.send(r, row, solved);
        trace_time(o, r, TRACE_SENT);
        if (i0 + row < L.n)
            x.store(i0 + row, solved);
    }
}

#endif
