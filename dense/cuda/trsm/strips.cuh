/* dense/cuda/trsm/strips.cuh: the prepared triangle and its solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With D = blkdiag(L(k,k)), diagonal blocks of order 256, L x = b is  x = inv(D) b - (inv(D) L - I)
 * x. Prepared are the tiles of [-inv(D) L | inv(D)]: the chain has n / 256 steps, each one product
 * of what arrived and one hand-over.  Where the inverse of a diagonal block grows its rows hold the
 * tiles of -L and, on the diagonal, L(r,r): there a tile is a step and the last one a substitution.
 * Which of the two a block is says its growth, on the device.
 *
 * Row r of tiles has tiles 0 .. r, those before it r (r + 1) / 2; a tile is stored as its threads
 * hold it, 16 bytes of each in turn. */
#ifndef DENSE_CUDA_TRSM_STRIPS_CUH
#define DENSE_CUDA_TRSM_STRIPS_CUH

#include "dense/cuda/device/turn.cuh"
#include "dense/cuda/trsm/parts.cuh"

constexpr int STRIP_CLUSTER = PREPARED_BLOCK / TILE; /* block rows of a diagonal block */

template <typename T> struct alignas(16) part_vector {
    T entry[16 / sizeof(T)];
};
template <typename T> INLINE int64_t stored_tile(int64_t r, int64_t j)
{
    return (r * (r + 1) / 2 + j) * (TILE * TILE);
}
template <typename T>
__device__ __forceinline__ void stored_get(T (&a)[TILE_SHARE], const T *tiles, int r, int j)
{
    constexpr int V = 16 / sizeof(T);
    const auto *from = reinterpret_cast<const part_vector<T> *>(tiles + stored_tile<T>(r, j));
#pragma unroll
    for (int k = 0; k < TILE_SHARE / V; k++) {
        const part_vector<T> v = from[k * TILE_THREADS + threadIdx.x];
#pragma unroll
        for (int e = 0; e < V; e++)
            a[V * k + e] = v.entry[e];
    }
}
template <typename T>
__device__ __forceinline__ void stored_put(T *tiles, int r, int j, const T (&a)[TILE_SHARE])
{
    constexpr int V = 16 / sizeof(T);
    auto *to = reinterpret_cast<part_vector<T> *>(tiles + stored_tile<T>(r, j));
#pragma unroll
    for (int k = 0; k < TILE_SHARE / V; k++) {
        part_vector<T> v;
#pragma unroll
        for (int e = 0; e < V; e++)
            v.entry[e] = a[V * k + e];
        to[k * TILE_THREADS + threadIdx.x] = v;
    }
}

template <typename T> struct prepared_triangle {
    const T *tiles;
    const double *growth;
    double limit;
    int n;
};

template <typename T, int NC> struct strips_shared {
    typename panel<T, NC>::shared_part part;
    T D[TILE_AREA<T>]; /* for substitution */
    turn_shared turn;
};

/* The order in which block row r takes its tiles: first those of inv(D), which meet b and need no
 * wait, then those that meet x; without the inverse all before the diagonal. */
struct strip_walk {
    int r, before, inside; /* tiles before the diagonal block; of inv(D) */
    __device__ __forceinline__ strip_walk(int r, bool inverted)
        : r(r), before(inverted ? r / STRIP_CLUSTER * STRIP_CLUSTER : r),
          inside(inverted ? r % STRIP_CLUSTER + 1 : 0)
    {
    }
    __device__ __forceinline__ int count() const { return before + inside; }
    __device__ __forceinline__ bool meets_b(int k) const { return k < inside; }
    __device__ __forceinline__ int column(int k) const
    {
        return meets_b(k) ? before + k : k - inside;
    }
};

/* x(r) for the sides of q, whose epoch is in s.turn.mine after the first barrier.  Every block of
 * the cluster passes its barrier between reading b and overwriting it. */
template <typename T, int NC>
__device__ __forceinline__ void strips_solve(const prepared_triangle<T> &p, panel<T, NC> &q,
                                             strips_shared<T, NC> &s, int r, int rows)
{
    constexpr int RING = 2; /* tiles in registers */
    typename panel<T, NC>::sum c;
    typename panel<T, NC>::seen seen;
    typename panel<T, NC>::entries v;
    T tile[RING][TILE_SHARE];
    strip_walk walk(r, true);
    stored_get(tile[0], p.tiles, r, walk.column(0)); /* more often than not the right one */
    const bool inverted = p.growth[r / STRIP_CLUSTER] <= p.limit;
    if (!inverted) {
        walk = strip_walk(r, false);
        if (r > 0)
            stored_get(tile[0], p.tiles, r, 0);
        cluster_arrive(); /* this block reads no b but its own */
    }
    __syncthreads();
    q.epoch = s.turn.mine.epoch;
    const int count = walk.count();
    const auto look = [&](int k) {
        if (walk.meets_b(k))
            q.look_at_b(seen, walk.column(k));
        else
            q.look(seen, walk.column(k));
    };
    if (count > 0)
        look(0);
    for (int first = 0; first < count; first += RING)
#pragma unroll
        for (int m = 0; m < RING; m++) {
            const int k = first + m;
            if (k >= count)
                break;
            if (k + 1 < count)
                stored_get(tile[(m + 1) % RING], p.tiles, r, walk.column(k + 1));
            q.take(s.part.x[m % 2], seen, walk.column(k));
            if (k + 1 == walk.inside)
                cluster_arrive(); /* this thread has all of b that it needs */
            if (k + 1 < count)
                look(k + 1);
            q.apply(c, tile[m], s.part.x[m % 2]);
        }
    q.reduce(c);
#pragma unroll
    for (int t = 0; t < NC / 8; t++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[t][k] = c.entry(t, k);
    if (!inverted) {
        typename panel<T, NC>::entries b;
        q.load(b, r);
#pragma unroll
        for (int t = 0; t < NC / 8; t++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[t][k] = b[t][k] + v[t][k];
        stored_get(tile[0], p.tiles, r, r);
        part_put(s.D, tile[0]);
        q.substitute(s.D, v);
    }
    if (r + 1 < rows)
        q.send(v, r);
    cluster_wait();
    q.store(v, r);
}

#endif
