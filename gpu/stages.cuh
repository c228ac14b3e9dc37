/* gpu/stages.cuh: block scope: the ring of stages through which tasks come, and the warp that fills it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_STAGES_CUH
#define GPU_STAGES_CUH

#include "dense/cuda/cluster.cuh"
#include "gpu/program.h"

constexpr int SOLVE_THREADS = 32 * SOLVE_WARPS, LAUNCH_THREADS = SOLVE_THREADS + 32;
constexpr int MOST_STAGES = 4;

/* The warps that compute. */
__device__ __forceinline__ void solvers_sync()
{
    asm volatile("barrier.cta.sync 1, %0;" ::"n"(SOLVE_THREADS) : "memory");
}

/* Whether those who give a stage back wait for the warp that copies.  They need not; but compute-sanitizer's racecheck does not follow arrivals
 * behind reads of some lanes, and calls what is read before them a hazard.  With waits it reported on test_tree_solve 1, 0, 0 and 0, without 11 to
 * 13, and solves take 2 to 5 % longer. */
constexpr bool GIVE_BACK_WAITS = false;

/* An mbarrier for each stage that copies fill; a named barrier for each that the solvers give back, on which the copying warp waits.
 * (Arrivals on an mbarrier would do, but racecheck sees of a warp's only the lane that makes them.) */
struct stage_ring {
    uint64_t *full;

    __device__ __forceinline__ void open(int stages) const
    {
        for (int s = 0; s < stages; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + s)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async.shared::cta;" ::: "memory");
    }
    __device__ __forceinline__ static void wait(const uint64_t *barrier, unsigned phase)
    {
        asm volatile("{ .reg .pred done;\n"
                     "again:\n"
                     " mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                     " @!done bra again;\n}" ::"r"(shared_address(barrier)),
                     "r"(phase)
                     : "memory");
    }
    __device__ __forceinline__ static void give_back(int s)
    {
        __syncwarp(); /* no lane arrives for others that still read */
        if constexpr (GIVE_BACK_WAITS)
            take_back(s);
        else
            asm volatile("barrier.cta.arrive %0, %1;" ::"r"(2 + s), "n"(LAUNCH_THREADS) : "memory");
    }
    __device__ __forceinline__ static void take_back(int s)
    {
        asm volatile("barrier.cta.sync %0, %1;" ::"r"(2 + s), "n"(LAUNCH_THREADS) : "memory");
    }
};

template <typename S> __device__ __forceinline__ S load_words(const S *from)
{
    static_assert(sizeof(S) == sizeof(int4), "one load");
    const int4 words = *reinterpret_cast<const int4 *>(from);
    S s;
    memcpy(&s, &words, sizeof s);
    return s;
}

/* The warp that copies: the list's copies in order, each task to the next stage; done(stage) with each task that the solvers have done. */
template <typename Done>
__device__ __forceinline__ void copy_tasks(const char *memory, const list_head *head, const task_copy *copy, char *stage,
                                           const stage_ring &ring, int stages, Done done)
{
    const int lane = threadIdx.x & 31;
    task_copy mine = {};
    if (lane <= HEAD_COPIES)
        mine = load_words(reinterpret_cast<const task_copy *>(head) + lane);
    const int from = __shfl_sync(~0u, (int)mine.from16, 0), copies = __shfl_sync(~0u, (int)mine.bytes, 0);
    int held = -1; /* number of the copy in lane 0 */
    int at = stages - 1, tasks = 0;
    for (int c = 0; c < copies; c++) {
        if (c == HEAD_COPIES || c - held == 32) {
            held = c;
            if (c + lane < copies)
                mine = load_words(copy + from + c + lane);
        }
        task_copy here;
        here.from16 = __shfl_sync(~0u, mine.from16, c - held);
        here.bytes = __shfl_sync(~0u, mine.bytes, c - held);
        here.to = __shfl_sync(~0u, mine.to, c - held);
        here.task_bytes = __shfl_sync(~0u, mine.task_bytes, c - held);
        if (here.task_bytes > 0) {
            at = at + 1 == stages ? 0 : at + 1;
            if (++tasks > stages) {
                stage_ring::take_back(at);
                done(stage + at * TASK_STAGE);
                __syncwarp(); /* lane 0 copies over what all have read */
            }
            if (lane == 0)
                inbox_expect(ring.full + at, here.task_bytes);
        }
        if (lane == 0)
            inbox_copy(stage + at * TASK_STAGE + here.to, memory + 16 * (int64_t)here.from16, here.bytes, ring.full + at);
    }
    for (int left = min(tasks, stages); left > 0; left--) { /* no barrier is left half full */
        at = at + 1 == stages ? 0 : at + 1;
        const int last = tasks < stages ? tasks - left : at;
        stage_ring::take_back(last);
        done(stage + last * TASK_STAGE);
    }
}

#endif
