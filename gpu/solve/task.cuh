/* gpu/solve/task.cuh: a task as the threads of a block see it in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_TASK_CUH
#define GPU_SOLVE_TASK_CUH

#include "dense/cuda/device/grid.cuh"
#include "gpu/solve/task_ring.cuh"

template <typename T> __device__ __forceinline__ T scaled(T v, real_of<T> s)
{
    if constexpr (scalar<T>::is_complex)
        return {v.re * s, v.im * s};
    else
        return v * s;
}

/* A task in the ring. */
template <typename T> struct task_view {
    const char *base;
    int inputs, slots, outs, flags;
    int start_at, slot_at, out_at, tile_at;

    __device__ __forceinline__ explicit task_view(const char *task) : base(task)
    {
        const int4 *words = reinterpret_cast<const int4 *>(base);
        const int4 counts = words[0], places = words[1];
        inputs = counts.x;
        slots = counts.y;
        outs = counts.z;
        flags = counts.w;
        start_at = places.x;
        slot_at = places.y;
        out_at = places.z;
        tile_at = places.w;
    }
    __device__ __forceinline__ int code(int k) const
    {
        return reinterpret_cast<const int32_t *>(base + sizeof(task_head))[k];
    }
    __device__ __forceinline__ int start(int k) const
    {
        return reinterpret_cast<const uint16_t *>(base + start_at)[k];
    }
    __device__ __forceinline__ task_slot slot(int s) const
    {
        return load_words(reinterpret_cast<const task_slot *>(base + slot_at) + s);
    }
    __device__ __forceinline__ task_out out(int o) const
    {
        return load_words(reinterpret_cast<const task_out *>(base + out_at) + o);
    }
    __device__ __forceinline__ const T *tile() const
    {
        return reinterpret_cast<const T *>(base + tile_at);
    }
};

#endif
