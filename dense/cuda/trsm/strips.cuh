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
 * wait, then those that meet x; without the inverse all before the diagonal meet x.  The former
 * have places 0 .. 3, though there may be fewer, so that those of an x that come together are taken
 * together. */
struct strip_walk {
    int before, inside; /* tiles before the diagonal block; of inv(D) */
    __device__ __forceinline__ strip_walk(int r, bool inverted)
        : before(inverted ? r / STRIP_CLUSTER * STRIP_CLUSTER : r),
          inside(inverted ? r % STRIP_CLUSTER + 1 : 0)
    {
    }
    __device__ __forceinline__ int first() const { return inside > 0 ? 0 : STRIP_CLUSTER; }
    __device__ __forceinline__ int end() const { return STRIP_CLUSTER + before; }
    __device__ __forceinline__ bool meets_b(int k) const { return k < STRIP_CLUSTER; }
    __device__ __forceinline__ bool there(int k) const
    {
        return meets_b(k) ? k < inside : k < end();
    }
    __device__ __forceinline__ int column(int k) const
    {
        return meets_b(k) ? before + k : k - STRIP_CLUSTER;
    }
    /* How many of the tiles from k on, up to `most`, a multiple of which k is, are there. */
    __device__ __forceinline__ int count(int k, int most) const
    {
        return min(most, (meets_b(k) ? inside : end()) - k);
    }
};

/* x(r) for the sides of q, whose epoch is in s.turn.mine after the first barrier.  Every block of
 * the cluster passes its barrier between reading b and overwriting it. */
template <typename T, int NC>
__device__ __forceinline__ void strips_solve(const prepared_triangle<T> &p, panel<T, NC> &q,
                                             strips_shared<T, NC> &s, int r, int rows)
{
    using P = panel<T, NC>;
    constexpr int TILES = P::TILES, GROUP = P::GROUP;
    typename P::sum c;
    typename P::seen seen[GROUP];
    typename P::entries v;
    T tile[TILES][TILE_SHARE];
    strip_walk walk(r, true);
    const auto begin = [&] {
#pragma unroll
        for (int m = 0; m < TILES; m++)
            if (walk.there(walk.first() + m))
                stored_get(tile[m], p.tiles, r, walk.column(walk.first() + m));
    };
    begin(); /* more often than not the right ones */
    const bool inverted = p.growth[r / STRIP_CLUSTER] <= p.limit;
    if (!inverted) {
        walk = strip_walk(r, false);
        begin();
        cluster_arrive(); /* this block reads no b but its own */
    }
    __syncthreads();
    q.epoch = s.turn.mine.epoch;
    const auto look = [&](int k) {
#pragma unroll
        for (int g = 0; g < GROUP; g++)
            if (walk.meets_b(k))
                q.look_at_b(seen[g], walk.column(k + g), walk.there(k + g));
            else
                q.look(seen[g], walk.column(k + g), walk.there(k + g));
    };
    look(walk.first());
    int buffer = 0;
    for (int first = walk.first(); first < walk.end(); first += TILES)
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            const int k = first + m;
            if (m % GROUP == 0) {
                const int wanted = walk.count(k, GROUP);
                buffer ^= wanted > 0; /* each taken where the one before was not */
                if (wanted > 0)
                    q.take(s.part.x[buffer], seen, walk.column(k), wanted,
                           k + STRIP_CLUSTER >= walk.end());
                if (inverted && k + GROUP == STRIP_CLUSTER)
                    cluster_arrive(); /* this thread has all of b that it needs */
                if (k + GROUP < walk.end())
                    look(k + GROUP);
            }
            if (walk.there(k))
                q.apply(c, tile[m], s.part.x[buffer][m % GROUP]);
            if (walk.there(k + TILES))
                stored_get(tile[m], p.tiles, r, walk.column(k + TILES));
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
