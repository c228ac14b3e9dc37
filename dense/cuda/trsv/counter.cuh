/* dense/cuda/trsv/counter.cuh: x handed from block row to block row behind one counter
 * [Hogg 2013, listing 4]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block row writes its x where the solution goes, and then, behind a fence, that it is done:
 * block rows end in order, so that one counter in all tells the rest how far x is.  A reader sees
 * the counter first and reads x then: two trips to the cache that all share, where a packet takes
 * one. */
#ifndef DENSE_CUDA_TRSV_COUNTER_CUH
#define DENSE_CUDA_TRSV_COUNTER_CUH

#include "dense/cuda/device/barrier.cuh"
#include "dense/cuda/device/grid.cuh"
#include "dense/cuda/device/progress.cuh"
#include "dense/cuda/device/tile.cuh"

/* An entry that another block wrote in this launch: past the first-level cache. */
__device__ __forceinline__ float entry_load(const float *p)
{
    float v;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ double entry_load(const double *p)
{
    double v;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
    return v;
}
__device__ __forceinline__ complex_s entry_load(const complex_s *p)
{
    complex_s v;
    asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];"
                 : "=f"(v.re), "=f"(v.im)
                 : "l"(p)
                 : "memory");
    return v;
}
__device__ __forceinline__ complex_d entry_load(const complex_d *p)
{
    complex_d v;
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];"
                 : "=d"(v.re), "=d"(v.im)
                 : "l"(p)
                 : "memory");
    return v;
}

/* A link as links.cuh describes them. */
template <typename T> struct counter_link {
    static constexpr int BLOCKS_PER_SM = 2;
    static constexpr int TILES = 2;
    static constexpr bool IN_PLACE = true;
    struct arguments {
        workspace_head *head;
        vector_view<T> x;
        int n, rows;
    };
    struct glance {
        bool there;
        T value;
    };
    struct shared_part {
        place mine;
    };
    unsigned long long *done;
    vector_view<T> x;
    int n;
    unsigned long long start;        /* the counter when no row is done */
    mutable unsigned long long last; /* as last seen */

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        if (threadIdx.x == 0)
            s.mine = ticket_take(a.head, gridDim.x);
        __syncthreads();
        done = &a.head->done;
        x = a.x;
        n = a.n;
        last = start = s.mine.epoch << TICKET_BITS;
        return s.mine.number;
    }
    __device__ __forceinline__ void ready() const {}
    /* Rows before the last one are whole. */
    __device__ __forceinline__ T value(int j, int i) const
    {
        return conjugate_if(entry_load(x.entry + (TILE * j + i) * x.step), x.conjugate);
    }
    __device__ __forceinline__ glance early(int j, int i) const
    {
        const bool there = last > start + (unsigned)j;
        return {there, there ? value(j, i) : T{}};
    }
    __device__ __forceinline__ T wait(glance g, int j, int i) const
    {
        if (g.there)
            return g.value;
        while (last <= start + (unsigned)j)
            last = progress_seen(done);
        return value(j, i);
    }
    __device__ __forceinline__ bool shared(int) const { return false; }
    __device__ __forceinline__ const T *arrived(int) const { return nullptr; }
    /* The first 64 threads. */
    __device__ __forceinline__ void send(int r, int i, T v) const
    {
        if (TILE * r + i < n)
            x.store(TILE * r + i, v);
        barrier_wait(1, TILE);
        if (i == 0)
            progress_tell(done, start + (unsigned)r + 1);
    }
};

#endif
