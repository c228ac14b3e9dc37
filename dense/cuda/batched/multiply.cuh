/* dense/cuda/batched/multiply.cuh: block scope: B := alpha L B for up to 64 columns, L streamed
 * from memory once
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r, from the last to the first:  B(r) := alpha sum over j <= r of L(r,j) B(j)
 *
 * Tiles come through the ring of solve.cuh; every warp has eight columns of its own, which it reads
 * and writes in place. */
#ifndef DENSE_CUDA_BATCHED_MULTIPLY_CUH
#define DENSE_CUDA_BATCHED_MULTIPLY_CUH

#include "dense/cuda/batched/solve.cuh"

/* A tile on the diagonal, as tile_fetch<false> leaves it: zero above it, one on it where L is
 * unit. */
template <typename T> __device__ __forceinline__ void complete_diagonal(T *D, bool unit)
{
    const int i = threadIdx.x % TILE;
    for (int j = threadIdx.x / TILE; j < TILE; j += TILE_THREADS / TILE)
        if (i < j || (i == j && unit))
            D[i + j * TILE_LD<T>] = from_real<T>(i == j);
}

/* 256 threads; ends with a barrier. */
template <typename T, typename Columns>
__device__ __forceinline__ void multiply_block(const triangle_view<T> &L, const Columns &x, T alpha,
                                               T (*ring)[TILE_AREA<T>])
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const int last = (L.n - 1) / TILE, c0 = STEP * warp;
    const bool has_columns = c0 < x.count;
    const tile_layout<T> below(L), diagonal(false, false);
    tile_stream<false, T> tiles(L, ring, last, last + 1, -1);
    for (int r = last; r >= 0; r--) {
        column_sums<T, TILE> sum;
        const T *p = x.at(l, c0 + g);
        for (int j = 0; j <= r; j++, tiles.turn()) {
            T of_x[STEPS][2];
#pragma unroll
            for (int d = 0; d < STEPS; d++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = STEP * d + 4 * h, i = TILE * j + row + l;
                    of_x[d][h] = T{};
                    if (c0 + g < x.count && i < L.n)
                        of_x[d][h] = x.given(p + row * x.row, i, c0 + g);
                }
            p += TILE * x.row;
            tiles.await();
            tiles.fetch();
            if (j == r) {
                complete_diagonal(tiles.now(), L.unit);
                __syncthreads();
            }
            if (has_columns) {
                const tile_layout<T> &layout = j == r ? diagonal : below;
                const T *a = layout.entry(tiles.now(), g, l);
#pragma unroll
                for (int d = 0; d < STEPS; d++, a += STEP * layout.column)
#pragma unroll
                    for (int m = 0; m < TILE / 16; m++) {
                        T left[4];
                        take_16(left, a + 16 * m * layout.row, layout.row, layout.column);
                        multiply_entries<false>(sum[m], 0, left, of_x[d]);
                    }
            }
        }
        __syncwarp(); /* B(r) has been read by all lanes */
        const int c = c0 + 2 * l;
        auto *to = x.at(TILE * r + g, c), *next = to + x.column;
#pragma unroll
        for (int k = 0; k < STEPS; k++, to += STEP * x.row, next += STEP * x.row) {
            const int i = TILE * r + g + STEP * k;
            if (i < L.n && c < x.count)
                x.store(to, i, c, multiply(alpha, sum[k / 2].entry(0, 2 * (k % 2))));
            if (i < L.n && c + 1 < x.count)
                x.store(next, i, c + 1, multiply(alpha, sum[k / 2].entry(0, 2 * (k % 2) + 1)));
        }
        __syncwarp();
    }
    tiles.finish();
}

#endif
