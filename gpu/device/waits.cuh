/* gpu/device/waits.cuh: kernels that begin while others end, and blocks that wait for what others
 * do
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_WAITS_CUH
#define GPU_DEVICE_WAITS_CUH

#include "dense/cuda/device/progress.cuh"

/* Of kernels that may begin while the one before them ends.  What comes before this call reads
 * tables alone: the kernel before has ended, and all that it wrote is there. */
__device__ __forceinline__ void wait_for_grid_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
/* The next kernel may begin once all blocks have come here or ended. */
__device__ __forceinline__ void let_next_grid_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ __forceinline__ void wait_for_kernel_before()
{
    wait_for_grid_before();
    let_next_grid_begin();
}

/* At the end of a kernel that did not wait for the one before at its begin: it must not end before
 * that one does, as what follows waits for this one alone.  One block stays, the others make room.
 */
__device__ __forceinline__ void stay_for_grid_before(bool stays)
{
    if (stays && blockIdx.x == 0)
        wait_for_grid_before();
}

__device__ __forceinline__ uint64_t nanoseconds()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* A thread waits until a word is at least that, or somebody has given up, as it does after
 * `patience` ns.  What was written before the word was told is there for all threads of the block,
 * or the warp, behind their next barrier. */
__device__ __forceinline__ void wait_until(const unsigned *word, unsigned least, int *gave_up,
                                           uint64_t patience)
{
    uint64_t begin = 0;
    for (unsigned tries = 1; progress_seen(word) < least; tries++) {
        if (tries % 64 == 0) {
            const uint64_t now = nanoseconds();
            begin = begin ? begin : now;
            if (*(volatile int *)gave_up)
                return;
            if (now - begin > patience)
                *(volatile int *)gave_up = 1;
        }
    }
}

#endif
