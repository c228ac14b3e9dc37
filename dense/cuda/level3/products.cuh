/* dense/cuda/level3/products.cuh: grid scope: products of matrices, and with triangles in place
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A cluster of blocks, or one block, has a tile of the result. */
#ifndef DENSE_CUDA_LEVEL3_PRODUCTS_CUH
#define DENSE_CUDA_LEVEL3_PRODUCTS_CUH

#include "dense/cuda/device/progress.cuh"
#include "dense/cuda/level3/tile_product.cuh"

/* B := alpha op(A) B: A a panel of order n, B's columns the rows of a panel, whose entry (j, k) is
 * B(k, j).  Products from the right are of that kind when all is transposed. */
template <typename T> struct triangle_product {
    panel<T> a, b;
    bool upper, unit;
    T alpha;
};

/* At the begin of shared memory; what a tile needs follows. */
struct alignas(64) block_shared {
    turn_shared turn;
    uint64_t inbox;
};
template <typename T, typename S> constexpr int product_bytes(int blocks)
{
    return (int)sizeof(block_shared) + tile_product<T, S>::bytes(blocks);
}

/* Of the tile of rows from `row` on, from the triangle's end that is not on the diagonal.  Tiles
 * with more steps have read the rows of B that this one writes when they have taken as many. */
template <typename S>
__device__ __forceinline__ product_steps triangle_steps(bool upper, int n, int row)
{
    product_steps s;
    s.back = upper;
    s.first = upper ? row / S::DEPTH : 0;
    s.last = ((upper ? n : min(n, row + S::ROWS)) + S::DEPTH - 1) / S::DEPTH;
    s.masked = upper ? s.last - (row + S::ROWS) / S::DEPTH : row / S::DEPTH;
    return s;
}

constexpr int PASSED_BITS = 28;

/* A tile of B may be written when all that read it have.  Those are the tiles of the same columns
 * with more steps; tickets are drawn in the order from the longest to the shortest, all begin at
 * the same end, and so they have read it when this one is finished or soon after, and nobody waits
 * for a tile that has not begun.  word[rank + blocks (row + rows strip)]: epoch << PASSED_BITS |
 * steps before which a block has taken its own. */
template <typename T, typename S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    triangle_product_kernel(triangle_product<T> p, workspace_head *head, unsigned long long *word,
                            int rows, int columns, int blocks)
{
    extern __shared__ __align__(16) unsigned char memory[];
    block_shared &block = *reinterpret_cast<block_shared *>(memory);
    unsigned char *const room = memory + sizeof block;
    const bool shared = S::SHARED && blocks > 1;
    const depth_share share = {shared ? cluster_rank() : 0, shared ? blocks : 1};
    place mine;
    if (shared) {
        if (threadIdx.x == 0)
            inbox_open(&block.inbox);
        mine = turn_take(block.turn, head, rows * columns);
    } else {
        if (threadIdx.x == 0)
            block.turn.mine = ticket_take(head, rows * columns);
        __syncthreads();
        mine = block.turn.mine;
    }
    const int n = p.a.rows, down = mine.number / columns, strip = mine.number % columns,
              tile_row = p.upper ? down : rows - 1 - down, i = tile_row * S::ROWS,
              j = strip * S::COLUMNS;
    const product_steps steps = triangle_steps<S>(p.upper, n, i);
    const unsigned long long epoch = mine.epoch << PASSED_BITS;
    unsigned long long *const words = word + (int64_t)strip * rows * share.count;
    tile_product<T, S> product(reinterpret_cast<T *>(room), p.a, p.b, i, j, steps, share,
                               {p.upper, p.unit}, [&](int step) {
                                   if (threadIdx.x == 0)
                                       progress_tell_read(words + tile_row * share.count +
                                                              share.rank,
                                                          epoch | (unsigned)step);
                               });
    if constexpr (S::SHARED)
        if (shared)
            product.add_blocks(room, share, &block.inbox);
    const int first = p.upper ? 0 : tile_row + 1, last = p.upper ? tile_row : rows;
    for (int w = first * share.count + (int)threadIdx.x; w < last * share.count; w += S::THREADS)
        progress_wait(words + w, epoch | (unsigned)steps.count());
    __syncthreads();
    T *const b = const_cast<T *>(p.b.entry) + (p.b.by_rows ? j * p.b.ld + i : j + i * p.b.ld);
    const int64_t next_row = p.b.by_rows ? 1 : p.b.ld, next_column = p.b.by_rows ? p.b.ld : 1;
#pragma unroll
    for (int t = 0; t < S::SHARE; t++)
        product.each(t, share, [&](int, int row, int column, T v) {
            if (i + row < n && j + column < p.b.rows)
                b[row * next_row + column * next_column] = multiply(p.alpha, v);
        });
}

/* C := alpha A B^T + beta C, by columns. */
template <typename T> struct matrix_product {
    panel<T> a, b;
    T *c;
    int64_t ld;
    T alpha, beta;
};

template <typename T, typename S>
__global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    matrix_product_kernel(matrix_product<T> p, int rows, int blocks)
{
    extern __shared__ __align__(16) unsigned char memory[];
    block_shared &block = *reinterpret_cast<block_shared *>(memory);
    unsigned char *const room = memory + sizeof block;
    const bool shared = S::SHARED && blocks > 1;
    const depth_share share = {shared ? cluster_rank() : 0, shared ? blocks : 1};
    const int tile = (int)blockIdx.x / blocks, i = tile % rows * S::ROWS,
              j = tile / rows * S::COLUMNS, steps = (p.a.depth + S::DEPTH - 1) / S::DEPTH;
    if (shared) {
        if (threadIdx.x == 0)
            inbox_open(&block.inbox);
        cluster_arrive();
    }
    tile_product<T, S> product(reinterpret_cast<T *>(room), p.a, p.b, i, j,
                               {0, steps, steps, false}, share, {false, false}, [](int) {});
    if (shared) {
        cluster_wait();
        if constexpr (S::SHARED)
            product.add_blocks(room, share, &block.inbox);
    }
    T *const c = p.c + i + j * p.ld;
    const bool adds = magnitude(p.beta) != 0;
    constexpr int TOGETHER = S::SHARE % 4 == 0 ? 4 : 1; /* of what is read before it is written */
#pragma unroll
    for (int first = 0; first < S::SHARE; first += TOGETHER) {
        T old[4 * TOGETHER] = {};
        const auto each = [&](auto visit) {
#pragma unroll
            for (int t = first; t < first + TOGETHER; t++)
                product.each(t, share, [&](int number, int row, int column, T v) {
                    if (i + row < p.a.rows && j + column < p.b.rows)
                        visit(old[number - 4 * first], c[row + column * p.ld], v);
                });
        };
        if (adds)
            each([&](T &kept, const T &there, T) { kept = there; });
        each([&](T kept, T &there, T v) {
            v = multiply(p.alpha, v);
            there = adds ? multiply_add(v, p.beta, kept) : v;
        });
    }
}

#endif
