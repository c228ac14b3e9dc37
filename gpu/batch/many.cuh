/* gpu/batch/many.cuh: solves by substitution (gpu/substitute) for many items in one launch
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A task is taken for all items before the next one, so that what it waits for was drawn long
 * before. */
#ifndef GPU_BATCH_MANY_CUH
#define GPU_BATCH_MANY_CUH

#include "gpu/batch/arguments.cuh"
#include "gpu/substitute/inverse.cuh"
#include "gpu/substitute/substitute.cuh"

/* Where things of item i lie: bytes from one item to the next, or blocks. */
template <typename T> struct item_places {
    const int32_t *item;
    int64_t panel_bytes, scale_bytes;
    item_blocks<T> b, x;
};

/* The launch's arguments are those of item 0. */
template <typename T> struct many_systems {
    const substitute_arguments<T> &q;
    const item_places<T> &places;
    substitute_arguments<T> *own; /* of the tasks of both stages, in shared memory */

    __device__ __forceinline__ const substitute_arguments<T> &of(int stage) const
    {
        return own[stage];
    }
    __device__ __forceinline__ const void *prepare(int stage, int number) const
    {
        const int64_t i = places.item[number];
        const T *const panel = moved(q.panel, i * places.panel_bytes);
        if (threadIdx.x % 32 == 0) {
            substitute_arguments<T> &to = own[stage];
            to.panel = panel;
            to.d = moved(q.d, i * places.panel_bytes);
            to.e = moved(q.e, i * places.panel_bytes);
            to.a.scale = moved(q.a.scale, i * places.scale_bytes);
            to.a.b = places.b.of(i);
            to.a.x = places.x.of(i);
        }
        return panel;
    }

  private:
    template <typename U>
    __device__ __forceinline__ static const U *moved(const U *p, int64_t bytes)
    {
        return reinterpret_cast<const U *>(reinterpret_cast<const char *>(p) + bytes);
    }
};

/* One right-hand side of each of q.a.columns items; steps from column to column are 0. */
template <typename T>
__global__ void __launch_bounds__(SUBSTITUTE_THREADS, SUBSTITUTE_BLOCKS<T>)
    substitute_items_kernel(const __grid_constant__ substitute_arguments<T> q,
                            const __grid_constant__ item_places<T> places)
{
    using word = unsigned long long;
    constexpr int WORDS = sizeof(substitute_arguments<T>) / sizeof(word);
    static_assert(WORDS * sizeof(word) == sizeof(substitute_arguments<T>), "whole words");
    __shared__ word own[2][WORDS];
    for (int k = (int)threadIdx.x; k < 2 * WORDS; k += SUBSTITUTE_THREADS)
        own[k / WORDS][k % WORDS] = reinterpret_cast<const word *>(&q)[k % WORDS];
    __syncthreads();
    do_tasks<T, 1>(q, q.a.columns,
                   many_systems<T>{q, places, reinterpret_cast<substitute_arguments<T> *>(own)});
}

/* The diagonal blocks of listed items, whose panels lie `bytes` apart; `each` blocks of threads an
 * item. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    invert_items_blocks(const __grid_constant__ invert_arguments<T> a, const int32_t *item,
                        int64_t bytes, int each)
{
    invert_arguments<T> own = a;
    own.panel = reinterpret_cast<T *>(reinterpret_cast<char *>(a.panel) +
                                      item[(int)blockIdx.x / each] * bytes);
    invert_share(own, (int)blockIdx.x % each);
}

#endif
