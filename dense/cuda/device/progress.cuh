/* dense/cuda/device/progress.cuh: block scope: words in global memory that tell other blocks how
 * far something is
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a block wrote before a barrier is there for those who see, after a barrier of their own,
 * what one of its threads told behind it. */
#ifndef DENSE_CUDA_DEVICE_PROGRESS_CUH
#define DENSE_CUDA_DEVICE_PROGRESS_CUH

#include "dense/cuda/device/scalar.cuh"

__device__ __forceinline__ unsigned progress_seen(const unsigned *word)
{
    unsigned seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    return seen;
}
__device__ __forceinline__ void progress_tell(unsigned *word, unsigned value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}
/* For words that several blocks raise, in any order: at least that from now on. */
__device__ __forceinline__ void progress_raise(unsigned *word, unsigned least)
{
    asm volatile("red.release.gpu.global.max.u32 [%0], %1;" ::"l"(word), "r"(least) : "memory");
}
/* For words that several blocks count up. */
__device__ __forceinline__ void progress_count(unsigned *word)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}
/* Until it is at least that. */
__device__ __forceinline__ unsigned progress_wait(const unsigned *word, unsigned least)
{
    unsigned seen;
    do
        seen = progress_seen(word);
    while (seen < least);
    return seen;
}

#endif
