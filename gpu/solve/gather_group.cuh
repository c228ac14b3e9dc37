/* gpu/solve/gather_group.cuh: block scope: warps that gather the inputs of tasks together
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_GATHER_GROUP_CUH
#define GPU_SOLVE_GATHER_GROUP_CUH

#include "gpu/solve/solver_base.cuh"

/* One of so many groups of so many warps each.  FIRST_BARRIER: the named barrier of the first. */
template <typename T, int FIRST_BARRIER, int WARPS, int SO_MANY_GROUPS>
struct gather_group : solver_base<T> {
    using scalar_type = T;
    static constexpr int GROUPS = SO_MANY_GROUPS, THREADS = 32 * WARPS;
    int group, number; /* of this thread's group, and of the thread in it */

    __device__ __forceinline__ gather_group(const solve_arguments<T> &a, unsigned epoch, int thread)
        : solver_base<T>{a, epoch}, group(thread / THREADS), number(thread % THREADS)
    {
    }

    /* The threads of the group meet. */
    __device__ __forceinline__ void meet() const
    {
        asm volatile("barrier.cta.sync %0, %1;" ::"r"(FIRST_BARRIER + group), "n"(THREADS)
                     : "memory");
    }
};

#endif
