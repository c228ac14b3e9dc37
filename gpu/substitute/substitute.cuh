/* gpu/substitute/substitute.cuh: the kernel of a solve by substitution
 * (gpu/substitute/substitution.h), for one or a few right-hand sides a task
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_SUBSTITUTE_CUH
#define GPU_SUBSTITUTE_SUBSTITUTE_CUH

#include "dense/cuda/device/cluster.cuh"
#include "gpu/substitute/bundle.cuh"
#include "gpu/substitute/large.cuh"
#include "gpu/substitute/large_block.cuh"

/* What a warp does about the task after the one at hand: its description is asked for when the one
 * at hand begins, and once that has waited for its own values, its copies are begun. */
template <typename T> struct next_task {
    const substitute_arguments<T> &q;
    int4 words; /* lane 0: of the task, lane l: of its copy l - 1 */
    bool begun;

    /* number: past all tasks, there is none, or this is another warp */
    __device__ __forceinline__ next_task(const substitute_arguments<T> &q, int number)
        : q(q), words{-2, 0, 0, 0}, begun(number >= q.tasks)
    {
        static_assert(sizeof(substitution_task) == (1 + FIRST_COPIES) * sizeof(int4), "by lanes");
        const int lane = threadIdx.x % 32;
        if (!begun && lane <= FIRST_COPIES)
            words = reinterpret_cast<const int4 *>(q.task + number)[lane];
    }
    __device__ __forceinline__ void copy(const int4 &described, const void *from, char *stage,
                                         uint64_t *full) const
    {
        substitution_copy c;
        memcpy(&c, &described, sizeof c);
        if (c.bytes > 0)
            inbox_copy(stage + c.to, static_cast<const char *>(from) + c.from, (unsigned)c.bytes,
                       full);
    }
    /* Once; all lanes of the warp call. */
    __device__ __forceinline__ void begin(char *stage, uint64_t *full, int4 *task)
    {
        if (begun)
            return;
        begun = true;
        const int lane = threadIdx.x % 32;
        if (lane == 0) {
            *task = words;
            if (words.x < 0)
                inbox_expect(full, (unsigned)words.w);
        }
        const bool bundle = __shfl_sync(~0u, words.x, 0) < 0;
        const int from = __shfl_sync(~0u, words.y, 0), to = __shfl_sync(~0u, words.z, 0);
        if (!bundle)
            return;
        if (lane > 0 && lane <= FIRST_COPIES)
            copy(words, lane == 1 ? (const void *)q.table : q.panel, stage, full);
        for (int c = from + lane; c < to; c += 32)
            copy(reinterpret_cast<const int4 *>(q.copy)[c], q.panel, stage, full);
    }
};

/* Blocks on a multiprocessor, by registers and shared memory. */
template <typename T> constexpr int SUBSTITUTE_BLOCKS = sizeof(T) > 8 ? 1 : 2;

/* Blocks draw tasks in their order, each for all right-hand sides before the next, one ahead: the
 * first that is not done waits for none that is not. */
template <typename T, int C>
__global__ void __launch_bounds__(SUBSTITUTE_THREADS, SUBSTITUTE_BLOCKS<T>)
    substitute_kernel(const __grid_constant__ substitute_arguments<T> q)
{
    extern __shared__ __align__(128) unsigned char memory[];
    __shared__ place drawn[2];
    __shared__ int4 described[2]; /* tasks: node, from, to, bytes */
    __shared__ uint64_t full[2];
    substitute_shared<T, C> &shared = *reinterpret_cast<substitute_shared<T, C> *>(memory);
    const int times = (q.a.columns + C - 1) / C, all = q.tasks * times,
              draws = all + 2 * (int)gridDim.x;
    if (threadIdx.x == 0) {
        const unsigned long long first = ticket_draw(q.head), second = ticket_draw(q.head);
        inbox_open(&full[0]);
        inbox_open(&full[1]);
        drawn[0] = ticket_place(q.head, first, draws);
        drawn[1] = ticket_place(q.head, second, draws);
    }
    __syncthreads();
    const bool copies = threadIdx.x >= SUBSTITUTE_THREADS - 32; /* one warp */
    if (copies)
        next_task<T>(q, drawn[0].number / times).begin(shared.stage[0], &full[0], &described[0]);
    __syncthreads();
    unsigned phases = 0; /* bit s: parity of the phase of stage s that comes */
    for (int at = 0;; at ^= 1) {
        const int number = drawn[at].number / times, columns = drawn[at].number % times;
        const unsigned epoch = (unsigned)drawn[at].epoch;
        if (drawn[at].number >= all)
            return;
        const int4 t = described[at];
        unsigned long long ticket = 0;
        if (threadIdx.x == 0) /* it comes while this task is done */
            ticket = ticket_draw(q.head);
        next_task<T> next(q, copies ? drawn[at ^ 1].number / times : q.tasks);
        auto meanwhile = [&] {
            next.begin(shared.stage[at ^ 1], &full[at ^ 1], &described[at ^ 1]);
        };
        const bool is_forward = number < q.forward_tasks;
        if (t.x >= 0) {
            using large = std::conditional_t<C == 1, large_solver<T>, large_block_solver<T, C>>;
            const large solver(q, epoch, columns, shared.room);
            const substitution_node v = q.node[t.x];
            is_forward ? solver.forward(v, t.y, t.z, meanwhile)
                       : solver.backward(v, t.y, t.z, meanwhile);
        } else {
            inbox_wait(&full[at], phases >> at & 1);
            phases ^= 1u << at;
            const bundle_solver<T, C> solver(q, epoch, columns, shared.room, shared.stage[at]);
            is_forward ? solver.forward(meanwhile) : solver.backward(meanwhile);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            drawn[at] = ticket_place(q.head, ticket, draws);
        __syncthreads();
    }
}

#endif
