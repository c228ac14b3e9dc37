/* dense/cuda/device/turn.cuh: cluster scope: a cluster of blocks takes its place in the order of a
 * grid
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_TURN_CUH
#define DENSE_CUDA_DEVICE_TURN_CUH

#include "dense/cuda/device/cluster.cuh"
#include "dense/cuda/device/grid.cuh"

struct turn_shared {
    place mine;
    uint64_t placed;
};

/* The place of this cluster among `clusters` > 1 of its grid, by ticket, in all threads.  All
 * threads of all blocks call; between entry and return every block of the cluster passes a cluster
 * barrier, so inboxes that were opened before the call may be sent to after it. */
__device__ __forceinline__ place turn_take(turn_shared &s, workspace_head *head, int clusters)
{
    place taken = {0, 0};
    if (threadIdx.x == 0) {
        if (cluster_rank() == 0)
            taken = ticket_take(head, clusters);
        inbox_open(&s.placed);
    }
    __syncthreads(); /* of this block, before its threads wait on `placed`; the cluster's before it
                      * is sent to
                      */
    if (threadIdx.x == 0)
        inbox_expect(&s.placed, sizeof(place));
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0 && cluster_rank() == 0)
        for (int rank = 0; rank < cluster_blocks(); rank++)
            inbox_send(&s.mine, &s.placed, rank, taken);
    inbox_wait(&s.placed, 0);
    return s.mine;
}

#endif
