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
__device__ __forceinline__ unsigned long long progress_seen(const unsigned long long *word)
{
    unsigned long long seen;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
    return seen;
}
__device__ __forceinline__ void progress_tell(unsigned long long *word, unsigned long long value)
{
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
/* Tells only that something has been read, so that it may be overwritten: a load whose value has
 * come has been performed, and no fence is needed.  One would wait for all copies that the thread
 * has on their way. */
__device__ __forceinline__ void progress_tell_read(unsigned long long *word,
                                                   unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}
/* For words that several blocks count up. */
__device__ __forceinline__ void progress_count(unsigned *word)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
}
/* Until it is at least that. */
template <typename Word, typename Least>
__device__ __forceinline__ Word progress_wait(const Word *word, Least least)
{
    Word seen;
    do
        seen = progress_seen(word);
    while (seen < (Word)least);
    return seen;
}

#endif
