/* gpu/solve/task_ring.cuh: block scope: the ring of shared memory through which tasks come, and the
 * warp that fills it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_TASK_RING_CUH
#define GPU_SOLVE_TASK_RING_CUH

#include "dense/cuda/device/cluster.cuh"
#include "gpu/plan/program.h"

constexpr int SOLVE_THREADS = 32 * SOLVE_WARPS;
/* Tasks in the ring at once: a power of 2, and as many named barriers. */
constexpr int RING_TASKS = 8;

/* Most groups of warps that gather, in turn on the tasks. */
constexpr int GATHER_GROUPS = 2;
static_assert(RING_TASKS % GATHER_GROUPS == 0,
              "a place of the ring is always the same group's, which so sees all of its phases");

/* Named barriers: one of the warps that solve, then one for each group that gathers, then one for
 * each task of the ring. */
constexpr int SOLVE_BARRIER = 1, GATHER_BARRIERS = 2,
              TASK_BARRIERS = GATHER_BARRIERS + GATHER_GROUPS;
static_assert(TASK_BARRIERS + RING_TASKS <= 16, "as many as a block has");

__device__ __forceinline__ void solvers_sync()
{
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(SOLVE_BARRIER), "n"(SOLVE_THREADS) : "memory");
}

/* Where a task lies, in bytes from the ring's begin; gathered: room for what it gathers. */
struct task_place {
    int task, gathered;
};

/* What a block keeps of the tasks in its ring, task t in t mod RING_TASKS. described: its
 * description has come; full: its tiles; ready: its inputs. */
struct ring_state {
    uint64_t described[RING_TASKS], full[RING_TASKS], ready[RING_TASKS];
    task_place place[RING_TASKS];
};

__device__ __forceinline__ void barrier_open(uint64_t *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("{ .reg .b64 state;\n mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(
                     shared_address(barrier))
                 : "memory");
}

struct task_ring {
    ring_state *state;
    char *base;
    int bytes;

    /* One thread, before all meet; so many arrivals make a task's inputs ready. */
    __device__ __forceinline__ void open(int arrivals) const
    {
        for (int s = 0; s < RING_TASKS; s++) {
            barrier_open(&state->described[s], 1);
            barrier_open(&state->full[s], 1);
            barrier_open(&state->ready[s], arrivals);
        }
        asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async.shared::cta;" ::
                         : "memory");
    }
    /* Parity of the phase of task t in its place. */
    __device__ __forceinline__ static unsigned phase(int t) { return (unsigned)t / RING_TASKS & 1; }

    __device__ __forceinline__ void wait_described(int t) const
    {
        inbox_wait(&state->described[t % RING_TASKS], phase(t));
    }
    __device__ __forceinline__ void wait_full(int t) const
    {
        inbox_wait(&state->full[t % RING_TASKS], phase(t));
    }
    __device__ __forceinline__ void wait_ready(int t) const
    {
        inbox_wait(&state->ready[t % RING_TASKS], phase(t));
    }
    __device__ __forceinline__ void publish_ready(int t) const
    {
        barrier_arrive(&state->ready[t % RING_TASKS]);
    }
    /* Of a task that is described. */
    __device__ __forceinline__ const char *task(int t) const
    {
        return base + state->place[t % RING_TASKS].task;
    }
    __device__ __forceinline__ char *gathered(int t) const
    {
        return base + state->place[t % RING_TASKS].gathered;
    }

    /* The warps that solve: they are done with task t. */
    __device__ __forceinline__ static void give_back(int t)
    {
        __syncwarp(); /* no lane arrives for others that still read */
        asm volatile("barrier.cta.arrive %0, %1;" ::"r"(TASK_BARRIERS + t % RING_TASKS),
                     "n"(SOLVE_THREADS + 32)
                     : "memory");
    }
    __device__ __forceinline__ static void take_back(int t)
    {
        asm volatile("barrier.cta.sync %0, %1;" ::"r"(TASK_BARRIERS + t % RING_TASKS),
                     "n"(SOLVE_THREADS + 32)
                     : "memory");
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

/* The list's copies as a warp reads them, 32 at a time. */
struct copy_list {
    task_copy mine;
    const task_copy *copy; /* the list's */
    int count, held;       /* held: number of the copy in lane 0 */

    __device__ __forceinline__ copy_list(const list_head *head, const task_copy *all)
        : mine{}, held(-1)
    {
        const int lane = threadIdx.x & 31;
        if (lane <= HEAD_COPIES)
            mine = load_words(reinterpret_cast<const task_copy *>(head) + lane);
        copy = all + __shfl_sync(~0u, (int)mine.from16, 0);
        count = __shfl_sync(~0u, (int)mine.bytes, 0);
    }
    __device__ __forceinline__ task_copy next(int c)
    {
        const int lane = threadIdx.x & 31;
        if (c == HEAD_COPIES || c - held == 32) {
            held = c;
            if (c + lane < count)
                mine = load_words(copy + c + lane);
        }
        task_copy here;
        here.from16 = __shfl_sync(~0u, mine.from16, c - held);
        here.bytes = __shfl_sync(~0u, mine.bytes, c - held);
        const unsigned places =
            __shfl_sync(~0u, (unsigned)mine.task_bytes << 16 | mine.to, c - held);
        const unsigned counts =
            __shfl_sync(~0u, (unsigned)mine.sources << 16 | mine.inputs, c - held);
        here.to = (uint16_t)places;
        here.task_bytes = (uint16_t)(places >> 16);
        here.inputs = (uint16_t)counts;
        here.sources = (uint16_t)(counts >> 16);
        return here;
    }
};

/* The warp that copies.  Tasks lie in the ring one after the other, each whole, from multiples of
 * COPY_ALIGN on; head and start count from the first, in units of 16 bytes, with what was left out
 * at the end.  Behind each is room for what is gathered: so many bytes of an input and of a source
 * of sums. */
template <int INPUT_BYTES, int SOURCE_BYTES> struct task_copier {
    const task_ring &ring;
    unsigned size, head, at, start; /* at: head in the ring; start: lane s, of the task in place s
                                     */
    int tasks, returned;

    __device__ __forceinline__ explicit task_copier(const task_ring &r)
        : ring(r), size((unsigned)r.bytes / 16), head(0), at(0), start(0), tasks(0), returned(0)
    {
    }
    /* The oldest task is done with. */
    template <typename Done> __device__ __forceinline__ void take_back(Done done)
    {
        task_ring::take_back(returned);
        done(ring.task(returned));
        returned++;
        __syncwarp(); /* lane 0 copies over what all have read */
    }
    /* Makes room for the next task; where it is. */
    template <typename Done>
    __device__ __forceinline__ char *place(const task_copy &first, Done done)
    {
        const int lane = threadIdx.x & 31, s = tasks % RING_TASKS, before = returned;
        const unsigned bytes = first.task_bytes,
                       room = bytes + first.inputs * INPUT_BYTES + first.sources * SOURCE_BYTES,
                       need = (room + COPY_ALIGN - 1) / COPY_ALIGN * (COPY_ALIGN / 16);
        if (at + need > size) {
            head += size - at;
            at = 0;
        }
        while (tasks - returned == RING_TASKS ||
               (tasks > returned &&
                head + need - __shfl_sync(~0u, start, returned % RING_TASKS) > size))
            take_back(done);
        if (INPUT_BYTES > 0 && returned != before) /* what was gathered there comes before the
                                                      copies */
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (lane == s)
            start = head;
        const int here = 16 * (int)at;
        if (lane == 0) {
            ring.state->place[s] = {here, here + (int)bytes};
            inbox_expect(&ring.state->described[s], first.bytes);
            inbox_expect(&ring.state->full[s], bytes - first.bytes);
        }
        tasks++;
        head += need;
        at += need;
        return ring.base + here;
    }
    /* All of the list, which is not to stay in the second-level cache if it passes that; done(task)
     * with each that the solvers have done. */
    template <typename Done>
    __device__ __forceinline__ void copy_all(const char *memory, copy_list list, bool past_cache,
                                             Done done)
    {
        char *to = nullptr;
        for (int c = 0; c < list.count; c++) {
            const task_copy here = list.next(c);
            if (here.task_bytes > 0)
                to = place(here, done);
            if ((threadIdx.x & 31) == 0) {
                const int s = (tasks - 1) % RING_TASKS;
                uint64_t *arrival =
                    here.task_bytes > 0 ? &ring.state->described[s] : &ring.state->full[s];
                const char *from = memory + 16 * (int64_t)here.from16;
                if (past_cache)
                    inbox_copy_past_cache(to + here.to, from, here.bytes, arrival);
                else
                    inbox_copy(to + here.to, from, here.bytes, arrival);
            }
        }
        while (returned < tasks) /* no barrier is left half full */
            take_back(done);
    }
};

#endif
