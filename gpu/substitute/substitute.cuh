/* gpu/substitute/substitute.cuh: the kernel of a solve by substitution
 * (gpu/substitute/substitution.h), for one or a few right-hand sides a task
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_SUBSTITUTE_CUH
#define GPU_SUBSTITUTE_SUBSTITUTE_CUH

#include "dense/cuda/device/cluster.cuh"
#include "gpu/substitute/bundle.cuh"
#include "gpu/substitute/large.cuh"
#include "gpu/substitute/large_block.cuh"

/* Where the task after the one at hand goes. */
struct task_room {
    char *stage;
    uint64_t *full;
    int4 *described; /* node, from, to, bytes */
};

static __device__ __forceinline__ void begin_copy(const int4 &described, const void *from,
                                                  const task_room &to)
{
    substitution_copy c;
    memcpy(&c, &described, sizeof c);
    if (c.bytes > 0)
        inbox_copy(to.stage + c.to, static_cast<const char *>(from) + c.from, (unsigned)c.bytes,
                   to.full);
}

/* Begins the copies of a task, of which lane 0 has the description and lane l copy l - 1.  A warp
 * calls; out of line, since code that is met for the first time costs more than the call. */
static __device__ __noinline__ void begin_task(const void *panel, const void *table,
                                               const substitution_copy *more, int4 words,
                                               task_room to)
{
    const int lane = threadIdx.x % 32;
    if (lane == 0) {
        *to.described = words;
        if (words.x < 0)
            inbox_expect(to.full, (unsigned)words.w);
    }
    const int node = __shfl_sync(~0u, words.x, 0), from = __shfl_sync(~0u, words.y, 0),
              end = __shfl_sync(~0u, words.z, 0);
    if (node >= 0)
        return;
    if (lane > 0 && lane <= FIRST_COPIES)
        begin_copy(words, lane == 1 ? table : panel, to);
#pragma unroll 1
    for (int c = from + lane; c < end; c += 32)
        begin_copy(reinterpret_cast<const int4 *>(more)[c], panel, to);
}

/* Whose tasks a launch has: those of one system, whose arguments are the launch's.  prepare(stage,
 * number): by a warp, before a task for right-hand sides, or a system, of that number comes to that
 * stage; returns the panels.  of(stage): the arguments of the task there. */
template <typename T> struct one_system {
    const substitute_arguments<T> &q;
    __device__ __forceinline__ const substitute_arguments<T> &of(int) const { return q; }
    __device__ __forceinline__ const void *prepare(int, int) const { return q.panel; }
};

/* What a warp does about the task after the one at hand: its description is asked for when the one
 * at hand begins, and once that has waited for its own values, its copies are begun. */
template <typename T, typename SYSTEMS> struct next_task {
    const substitute_arguments<T> &q;
    const SYSTEMS &systems;
    int4 words;  /* lane 0: of the task, lane l: of its copy l - 1 */
    int columns; /* number of its group of right-hand sides, or of its system */
    bool wanted;

    /* number: past all tasks, there is none, or this is another warp */
    __device__ __forceinline__ next_task(const substitute_arguments<T> &q, const SYSTEMS &systems,
                                         int number, int columns)
        : q(q), systems(systems), words{0, 0, 0, 0}, columns(columns), wanted(number < q.tasks)
    {
        static_assert(sizeof(substitution_task) == (1 + FIRST_COPIES) * sizeof(int4), "by lanes");
        const int lane = threadIdx.x % 32;
        if (wanted && lane <= FIRST_COPIES)
            words = reinterpret_cast<const int4 *>(q.task + number)[lane];
    }
    __device__ __forceinline__ void begin(int stage, const task_room &to) const
    {
        if (wanted)
            begin_task(systems.prepare(stage, columns), q.table, q.copy, words, to);
    }
};

/* Blocks on a multiprocessor, by registers and shared memory. */
template <typename T> constexpr int SUBSTITUTE_BLOCKS = sizeof(T) > 8 ? 1 : 2;

/* Blocks draw tasks in their order, each for all right-hand sides, `times` groups of them, or all
 * systems before the next, one ahead: the first that is not done waits for none that is not. */
template <typename T, int C, typename SYSTEMS>
__device__ __forceinline__ void do_tasks(const substitute_arguments<T> &q, int times,
                                         const SYSTEMS &systems)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ place drawn[2];
    __shared__ int4 described[2]; /* tasks: node, from, to, bytes */
    __shared__ uint64_t full[2];
    substitute_shared<T, C> &shared = *reinterpret_cast<substitute_shared<T, C> *>(memory);
    const int all = q.tasks * times, draws = all + 2 * (int)gridDim.x;
    const auto task_of = [=](int number) { return number / times; };
    if (threadIdx.x == 0) {
        const unsigned long long first = ticket_draw(q.head), second = ticket_draw(q.head);
        inbox_open(&full[0]);
        inbox_open(&full[1]);
        drawn[0] = ticket_place(q.head, first, draws);
        drawn[1] = ticket_place(q.head, second, draws);
    }
    __syncthreads();
    const bool copies = threadIdx.x >= SUBSTITUTE_THREADS - 32; /* one warp */
    if (copies) {
        const int number = task_of(drawn[0].number);
        next_task<T, SYSTEMS>(q, systems, number, drawn[0].number - number * times)
            .begin(0, {shared.stage[0], &full[0], &described[0]});
    }
    __syncthreads();
    unsigned phases = 0; /* bit s: parity of the phase of stage s that comes */
    for (int at = 0, number = task_of(drawn[0].number), after;; at ^= 1, number = after) {
        const int columns = drawn[at].number - number * times;
        const unsigned epoch = (unsigned)drawn[at].epoch;
        if (drawn[at].number >= all)
            return;
        const int4 t = described[at];
        unsigned long long ticket = 0;
        if (threadIdx.x == 0) /* it comes while this task is done */
            ticket = ticket_draw(q.head);
        after = task_of(drawn[at ^ 1].number);
        const next_task<T, SYSTEMS> next(q, systems, copies ? after : q.tasks,
                                         drawn[at ^ 1].number - after * times);
        auto meanwhile = [&] {
            next.begin(at ^ 1, {shared.stage[at ^ 1], &full[at ^ 1], &described[at ^ 1]});
        };
        const bool is_forward = number < q.forward_tasks;
        const substitute_arguments<T> &own = systems.of(at);
        if (t.x >= 0) {
            using large = std::conditional_t<C == 1, large_solver<T>, large_block_solver<T, C>>;
            const large solver(own, epoch, columns, shared.room);
            const substitution_node v = q.node[t.x];
            is_forward ? solver.forward(v, t.y, t.z, meanwhile)
                       : solver.backward(v, t.y, t.z, meanwhile);
        } else {
            inbox_wait(&full[at], phases >> at & 1);
            phases ^= 1u << at;
            const bundle_solver<T, C> solver(own, epoch, columns, shared.room, shared.stage[at]);
            is_forward ? solver.forward(meanwhile) : solver.backward(meanwhile);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            drawn[at] = ticket_place(q.head, ticket, draws);
        __syncthreads();
    }
}

template <typename T, int C>
__global__ void __launch_bounds__(SUBSTITUTE_THREADS, SUBSTITUTE_BLOCKS<T>)
    substitute_kernel(const __grid_constant__ substitute_arguments<T> q)
{
    const one_system<T> systems = {q};
    do_tasks<T, C>(q, C == 1 ? 1 : (q.a.columns + C - 1) / C, systems);
}

#endif
