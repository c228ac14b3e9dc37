/* dense/cuda/device/barrier.cuh: block scope: barriers for some of the threads of a block
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * At barriers 1 to 15 of a block, for `threads` of its threads: arrive without waiting, and arrive
 * and wait for all.  What was written before is there for those who wait. */
#ifndef DENSE_CUDA_DEVICE_BARRIER_CUH
#define DENSE_CUDA_DEVICE_BARRIER_CUH

__device__ __forceinline__ void barrier_arrive(int barrier, int threads)
{
    asm volatile("barrier.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void barrier_wait(int barrier, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

#endif
