/* dense/cuda/trsm/rows.cuh: the solve in one kernel, a block of threads for a block row of 64 and a
 * group of sides
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     x(r) = z - P x(r-1),   P = inv(L(r,r)) L(r,r-1),   z = inv(L(r,r)) (b(r) - L(r,0:r-2)
 * x(0:r-2))
 *
 * The diagonal block is inverted and the last tile multiplied by it while the block would wait, so
 * that a step of the chain is one product and one hand-over.  A block whose inverse grows is
 * substituted with. */
#ifndef DENSE_CUDA_TRSM_ROWS_CUH
#define DENSE_CUDA_TRSM_ROWS_CUH

#include "dense/cuda/trsm/parts.cuh"

template <typename T, int NC> struct solve_shared {
    T D[TILE_AREA<T>]; /* the diagonal block, then P */
    T X[TILE_AREA<T>]; /* its inverse */
    typename panel<T, NC>::shared_part part;
    float growth[TILE];
    place mine;
};

/* s.X := inv(L(r,r)) and s.D := P; whether the inverse may be used, otherwise s.D is L(r,r).  Ends
 * with a barrier. */
template <typename T, int NC>
__device__ __forceinline__ bool rows_invert(const triangle_view<T> &L, solve_shared<T, NC> &s,
                                            int r)
{
    T last[TILE_SHARE];
    if (L.transposed)
        diagonal_load<true>(s.D, L, TILE * r);
    else
        diagonal_load<false>(s.D, L, TILE * r);
    if (r > 0)
        part_load(last, L, TILE * r, TILE * (r - 1));
    tile_clear(s.X);
    __syncthreads();
    invert_blocks(s.D, s.X);
    invert_64(s.D, s.X);
    if (growth_exceeds(s.D, s.X, s.growth, SIDES_GROWTH_LIMIT))
        return false;
    if (r > 0) {
        part_put(s.D, last);
        __syncthreads();
        scale_64(s.X, s.D, s.D);
    }
    return true;
}

/* x(r) for the sides of q, whose epoch is in s.mine after the first barrier. */
template <typename T, int NC>
__device__ __forceinline__ void rows_solve(const triangle_view<T> &L, panel<T, NC> &q,
                                           solve_shared<T, NC> &s, int r, int rows)
{
    const bool inverted = rows_invert(L, s, r);
    q.epoch = s.mine.epoch;
    const int streamed = inverted ? r - 1 : r; /* tiles that meet x as they are */
    typename panel<T, NC>::sum c;
    typename panel<T, NC>::seen seen[1];
    typename panel<T, NC>::entries v;
    constexpr int TILES = panel<T, NC>::TILES;
    T tile[TILES][TILE_SHARE];
#pragma unroll
    for (int k = 0; k < TILES - 1; k++)
        if (k < streamed)
            part_load(tile[k], L, TILE * r, TILE * k);
    if (r > 0)
        q.look(seen[0], 0);
    for (int first = 0; first < streamed; first += TILES)
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            const int j = first + k, ahead = j + TILES - 1;
            if (j >= streamed)
                break;
            if (ahead < streamed)
                part_load(tile[(k + TILES - 1) % TILES], L, TILE * r, TILE * ahead);
            q.take(s.part.x[k % 2], seen, j, 1, true);
            if (j + 1 < r)
                q.look(seen[0], j + 1);
            q.apply(c, tile[k], s.part.x[k % 2][0]);
        }
    q.load(v, r);
    if (streamed > 0)
        q.reduce(c);
#pragma unroll
    for (int t = 0; t < NC / 8; t++)
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[t][k] = v[t][k] - c.entry(t, k);
    if (!inverted) {
        q.substitute(s.D, v);
    } else {
        part_get(tile[0], s.X);
        q.put(s.part.x[0][0], v);
        typename panel<T, NC>::sum z;
        q.apply(z, tile[0], s.part.x[0][0]);
        q.reduce(z);
        if (r > 0) {
            part_get(tile[0], s.D);
            typename panel<T, NC>::sum p;
            q.take(s.part.x[1], seen, r - 1, 1, true);
            q.apply(p, tile[0], s.part.x[1][0]);
            q.reduce(p);
#pragma unroll
            for (int t = 0; t < NC / 8; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    v[t][k] = z.entry(t, k) - p.entry(t, k);
        } else {
#pragma unroll
            for (int t = 0; t < NC / 8; t++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    v[t][k] = z.entry(t, k);
        }
    }
    if (r + 1 < rows)
        q.send(v, r);
    q.store(v, r);
}

#endif
