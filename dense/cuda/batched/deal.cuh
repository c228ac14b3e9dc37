/* dense/cuda/batched/deal.cuh: block scope: items of any sizes dealt to blocks and warps
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of one launch have shares of the items, every gridDim.x-th, so that neighbours, which are
 * often of like size, go to different blocks.  From the last on: where items come from a tree in
 * postorder the largest are last, and they should begin first.  The device hands out blocks as
 * others end; no counter is needed, and no item's result depends on who computes it. */
#ifndef DENSE_CUDA_BATCHED_DEAL_CUH
#define DENSE_CUDA_BATCHED_DEAL_CUH

#include <cstdint>

/* A share for each place on an H200's 132 SMs and as many to come. */
constexpr int64_t DEAL_BLOCKS = 528;

/* Blocks for a batch: of any sizes, or all of an order above what a warp takes. */
static inline int64_t deal_blocks(int64_t count, bool all_large)
{
    const int64_t share = all_large ? 1 : (count + DEAL_BLOCKS - 1) / DEAL_BLOCKS;
    return (count + share - 1) / share;
}

/* Items of order(k) <= until go to a warp each, small(k); larger ones to the block, large(k),
 * called by all threads; empty ones to a lane, none(k). */
template <typename Order, typename None, typename Small, typename Large>
__device__ __forceinline__ void deal_items(int64_t count, int until, Order order, None none,
                                           Small small, Large large)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int64_t last = count - 1 - blockIdx.x; last >= 0; last -= 32 * (int64_t)gridDim.x) {
        const auto item = [&](int m) { return last - m * (int64_t)gridDim.x; };
        const int64_t n = item(lane) >= 0 ? order(item(lane)) : -1;
        unsigned few = __ballot_sync(~0u, n > 0 && n <= until),
                 many = __ballot_sync(~0u, n > until);
        if (n == 0 && warp == 0)
            none(item(lane));
        for (int number = 0; few != 0; few &= few - 1, number++)
            if (number % warps == warp)
                small(item(__ffs((int)few) - 1));
        __syncthreads();
        for (; many != 0; many &= many - 1) {
            large(item(__ffs((int)many) - 1));
            __syncthreads();
        }
    }
}

#endif
