/* gpu/substitute/exchange.cuh: warp scope: values of a solve by substitution that travel between
 * tasks, the right-hand side and the solution
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_EXCHANGE_CUH
#define GPU_SUBSTITUTE_EXCHANGE_CUH

#include "gpu/device/inverse_pivot.cuh"
#include "gpu/substitute/arguments.cuh"

/* Packets that a thread waits for. */
template <typename T, int EACH> struct awaited {
    int at[EACH]; /* -1: none, or it has come */
    T value[EACH];

    __device__ __forceinline__ void look(const packet_word *packets, unsigned epoch)
    {
        packet<T> seen[EACH];
#pragma unroll
        for (int u = 0; u < EACH; u++)
            seen[u] = packet_load_if<T>(at[u] >= 0, packets, at[u]);
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (at[u] >= 0 && packet_valid(seen[u], epoch)) {
                value[u] = packet_value(seen[u]);
                at[u] = -1;
            }
    }
    __device__ __forceinline__ int missing() const
    {
        int most = at[0];
#pragma unroll
        for (int u = 1; u < EACH; u++)
            most = max(most, at[u]);
        return most;
    }
};

/* Out of line: rare, and long. */
template <typename T>
static __device__ __noinline__ pivot_row<T> pivot_of(const T *d, const T *e, bool hermitian,
                                                     int position)
{
    return inverse_pivot(d, e, hermitian, position);
}

/* C: right-hand sides of a task at most.  A thread has one of them: with one or more rows it is
 * part of C neighbouring threads, whose packets lie side by side. */
template <typename T, int C> struct exchange : solver_base<T> {
    static constexpr int SOURCES = C == 1 ? 4 : 2; /* of a row that are on their way together */
    const substitute_arguments<T> &q;
    packet_word *packets; /* of these right-hand sides */
    int column;           /* this thread's, of the launch's; */
    bool counts;          /* there is such a one */

    __device__ __forceinline__ exchange(const substitute_arguments<T> &q, unsigned epoch,
                                        int number)
        : solver_base<T>{q.a, epoch}, q(q),
          packets(q.a.packets + (number * q.packets * C + (int)threadIdx.x % C) * packet<T>::COUNT),
          column(number * C + (int)threadIdx.x % C), counts(column < q.a.columns)
    {
    }

    /* value[u]: packet at[u], zero where at[u] < 0.  All lanes of a warp call.  SOON: all of them
     * look again and again, which spares a step of a chain the second look, where few warps wait;
     * otherwise one does. */
    template <bool SOON, int EACH>
    __device__ __forceinline__ void receive(const int (&at)[EACH], T (&value)[EACH]) const
    {
        awaited<T, EACH> w = {};
#pragma unroll
        for (int u = 0; u < EACH; u++)
            w.at[u] = at[u] >= 0 && counts ? at[u] * C : -1;
        if constexpr (SOON)
            wait_in_vain(this->a.state, this->epoch, this->a.patience, [&] {
                w.look(packets, this->epoch);
                return !__any_sync(~0u, w.missing() >= 0);
            });
        else
            wait_by_one_lane(
                *this, [&] { w.look(packets, this->epoch); }, [&] { return w.missing() >= 0; },
                [&] { return packet_arrived<T>(packets, w.missing(), this->epoch); });
#pragma unroll
        for (int u = 0; u < EACH; u++)
            value[u] = w.value[u];
    }
    template <bool SOON> __device__ __forceinline__ T receive(int at) const
    {
        T value[1];
        receive<SOON, 1>({at}, value);
        return value[0];
    }
    __device__ __forceinline__ void send(int at, T v) const
    {
        if (counts)
            packet_send(packets, at * C, v, this->epoch);
    }

    /* b at a row of A, scaled. */
    __device__ __forceinline__ T load_b(int row) const
    {
        return counts ? scaled(this->a.b[row * this->a.b_row + column * this->a.b_column],
                               this->a.scale[row])
                      : T{};
    }
    /* z, entry `position` of it if that is wanted, := that of D^-1 z.  All lanes of a warp call. */
    __device__ __forceinline__ void divide_pivot(bool wanted, int position, T &z) const
    {
        pivot_row<T> p = {from_real<T>(1), T{}, 0};
        if (wanted && !q.cholesky)
            p = pivot_of(q.d, q.e, q.hermitian, position);
        const T other = receive<false>(p.neighbour != 0 ? position + p.neighbour : -1);
        z = multiply_add(multiply(p.diagonal, z), p.off, other);
    }
    __device__ __forceinline__ void send_x(int position, int row, real_of<T> scale, T v) const
    {
        send(this->a.n + position, v);
        if (counts)
            this->store(row, column, v, scale);
    }
};

#endif
