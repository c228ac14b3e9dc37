/* gpu/solve/gather.cuh: block scope: warps that gather the inputs of tasks for one right-hand side
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_GATHER_CUH
#define GPU_SOLVE_GATHER_CUH

#include "gpu/solve/gather_group.cuh"

template <typename T>
using column_gather_group = gather_group<T, GATHER_BARRIERS, 3, GATHER_GROUPS>;

template <typename T> struct column_gatherer : column_gather_group<T> {
    using column_gather_group<T>::THREADS, column_gather_group<T>::number,
        column_gather_group<T>::gather_group;
    /* EACH: sources of a thread that are on their way together; 3 were best on an H200
     * (bench_tree_solve; 2: 2 %, 4: 5 %, 6: 15 % slower on lap3d:50; since copies are aligned 4 are
     * as good), and two groups 4 to 5 % faster than one of all warps: a task's inputs take 1 to 2
     * us to come. */
    static constexpr int EACH = packet<T>::COUNT == 1 ? 3 : 2;

    __device__ __forceinline__ static bool is_packet(int code)
    {
        return (code & (int)0x80000001) == SOURCE_PACKET;
    }

    /* EACH sources of a thread, of which only packets are left that have not come. */
    struct inbound {
        int code[EACH];
        T *to; /* of the first; the others are THREADS apart */

        /* All loads are issued before one result is used.  Threads without a packet load nothing:
         * they would all load the same one, and the cache serves one such load a cycle. */
        __device__ __forceinline__ void look(const packet_word *packets, unsigned epoch)
        {
            packet<T> seen[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++)
                seen[u] = packet_load_if<T>(code[u] >= 0, packets, code[u] >> 1);
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (code[u] >= 0 && packet_valid(seen[u], epoch)) {
                    to[u * THREADS] = packet_value(seen[u]);
                    code[u] = SOURCE_ZERO;
                }
        }
        /* Some packet that has not come, -1: none. */
        __device__ __forceinline__ int missing() const
        {
            int most = code[0];
#pragma unroll
            for (int u = 1; u < EACH; u++)
                most = max(most, code[u]);
            return most < 0 ? -1 : most >> 1;
        }
    };

    /* to[k] := source k */
    __device__ __forceinline__ void receive(const task_view<T> &v, int sources, T *to) const
    {
#pragma unroll 1
        for (int k = number; k - (number & 31) < sources; k += EACH * THREADS) {
            inbound q;
            bool others = false;
            q.to = to + k;
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const int at = k + u * THREADS;
                q.code[u] = at < sources ? v.code(at) : SOURCE_ZERO;
                if (at < sources && !is_packet(q.code[u])) {
                    q.code[u] = SOURCE_ZERO;
                    others = true;
                }
            }
            if (__any_sync(~0u, others))
                receive_others(v, k, sources, to);
            wait_by_one_lane(
                *this, [&] { q.look(this->a.packets, this->epoch); },
                [&] { return q.missing() >= 0; },
                [&] { return packet_arrived<T>(this->a.packets, q.missing(), this->epoch); });
        }
    }
    /* to[k] := those of the sources k, k + THREADS, ..., EACH of them, that are no packets; all are
     * asked for before one is stored. */
    __device__ __forceinline__ void receive_others(const task_view<T> &v, int k, int sources,
                                                   T *to) const
    {
        int code[EACH];
        T value[EACH];
        real_of<T> scale[EACH];
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            code[u] = k + u * THREADS < sources ? v.code(k + u * THREADS) : SOURCE_PACKET;
            const int row = is_packet(code[u]) || code[u] < 0 ? 0 : code[u] >> 1;
            value[u] = this->a.b[row * this->a.b_row];
            scale[u] = this->a.scale[row];
        }
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (!is_packet(code[u]))
                to[k + u * THREADS] = code[u] >= 0 ? scaled(value[u], scale[u]) : T{};
    }

    /* in := the task's inputs; where they are sums, with their sources behind them */
    __device__ __forceinline__ void run(const task_view<T> &v, T *in) const
    {
        if (!v.start_at)
            return receive(v, v.inputs, in);
        T *staged = in + v.inputs;
        receive(v, v.start(v.inputs), staged);
        this->meet();
        for (int k = number; k < v.inputs; k += THREADS) {
            const int end = v.start(k + 1);
            T sum = {};
#pragma unroll 4
            for (int q = v.start(k); q < end; q++)
                sum = sum + staged[q];
            in[k] = sum;
        }
    }
};

#endif
