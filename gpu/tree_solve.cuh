/* gpu/tree_solve.cuh: the kernel that runs the program of a solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every block works through its own list of tasks.  One warp copies tasks to a ring of stages, as far ahead as there is
 * room, whatever the others wait for; the other warps gather the inputs of the task at hand, multiply, and publish.
 * Results travel in letters (dense/cuda/grid.cuh) that carry the number of the launch, so that nothing is cleared,
 * ordered by fences, or mistaken for a value of another launch.  All sums have a fixed order. */
#ifndef GPU_TREE_SOLVE_CUH
#define GPU_TREE_SOLVE_CUH

#include "dense/cuda/cluster.cuh"
#include "dense/cuda/grid.cuh"
#include "gpu/program.h"

constexpr int SOLVE_WARPS = 8, SOLVE_THREADS = 32 * SOLVE_WARPS, LAUNCH_THREADS = SOLVE_THREADS + 32;
constexpr int MOST_STAGES = 4;
/* Products of a thread whose factors are loaded together. */
constexpr int BATCH = 8;

/* What all launches on one workspace share. */
struct solve_state {
    unsigned long long arrived; /* blocks that have read all of b, in launches with x in b's place */
    unsigned level_epoch;       /* number of the last solve by levels */
    unsigned failed;            /* number of the last launch that gave up waiting, 0: none */
};

template <typename T> struct solve_arguments {
    const char *memory; /* values, then descriptions */
    const list_head *head; /* one for each block */
    const task_copy *copy;
    packet *slot;
    solve_state *state;
    unsigned *epoch; /* one for each block; NULL: state->level_epoch */
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    const real_of<T> *scale;                  /* n, by rows of A */
    const int32_t *user_row;                  /* n, by positions */
    int32_t n, columns;                       /* columns <= COLUMNS of the instance */
    int32_t stages, inputs;                   /* stages of the ring; buffers for `in`, 1 or 2 */
    int32_t in_place;                         /* x is b: stored when all blocks have read b */
    unsigned long long patience;              /* ns to wait before giving up */
    task_times *times;                        /* by tasks, NULL: not traced */
};

/* How an instance's shared memory is laid out.  PASSES times WIDTH columns are solved at a time; a pass reads the
 * tiles in shared memory once. */
template <typename T, int WIDTH, int PASSES> struct solve_shape {
    static constexpr int COLUMNS = WIDTH * PASSES;
    static constexpr int BARRIERS = 128; /* bytes */
    static constexpr int IN = TASK_SOURCES * COLUMNS * (int)sizeof(T);
    static constexpr int PART = PIECE * TASK_SLOTS * WIDTH * (int)sizeof(T);
    static constexpr int CARRY = PIECE * COLUMNS * (int)sizeof(T);
    static constexpr int bytes(int stages, int inputs) { return BARRIERS + stages * TASK_STAGE + inputs * IN + PART + CARRY; }
};

__device__ __forceinline__ unsigned long long now_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* The warps that compute. */
__device__ __forceinline__ void solvers_sync()
{
    asm volatile("barrier.cta.sync 1, %0;" ::"n"(SOLVE_THREADS) : "memory");
}

/* One barrier for each stage that is filled by copies, one for each that is given back by the solvers' warps. */
struct stage_ring {
    uint64_t *full, *empty;

    __device__ __forceinline__ void open(int stages) const
    {
        for (int s = 0; s < stages; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + s)) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(empty + s)), "n"(SOLVE_WARPS) : "memory");
        }
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
    __device__ __forceinline__ void give_back(int s) const
    {
        asm volatile("{ .reg .b64 state;\n mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(shared_address(empty + s)) : "memory");
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

/* The warp that copies: the list's copies in order, each task to the next stage. */
__device__ __forceinline__ void copy_tasks(const char *memory, const list_head *head, const task_copy *copy, char *stage,
                                           const stage_ring &ring, int stages)
{
    const int lane = threadIdx.x & 31;
    task_copy mine = {};
    if (lane <= HEAD_COPIES)
        mine = load_words(reinterpret_cast<const task_copy *>(head) + lane);
    const int from = __shfl_sync(~0u, (int)mine.from16, 0), copies = __shfl_sync(~0u, (int)mine.bytes, 0);
    int held = -1; /* number of the copy in lane 0 */
    int at = stages - 1;
    unsigned phase = 0; /* of the empty barriers: nothing is waited for in the first round */
    bool first_round = true;
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
            if (++at == stages) {
                at = 0;
                first_round = c == 0;
                phase ^= 1;
            }
            if (lane == 0) {
                if (!first_round)
                    stage_ring::wait(ring.empty + at, phase);
                inbox_expect(ring.full + at, here.task_bytes);
            }
        }
        if (lane == 0)
            inbox_copy(stage + at * TASK_STAGE + here.to, memory + 16 * (int64_t)here.from16, here.bytes, ring.full + at);
    }
}

template <typename T> __device__ __forceinline__ T scaled(T v, real_of<T> s)
{
    if constexpr (scalar<T>::is_complex)
        return {v.re * s, v.im * s};
    else
        return v * s;
}

template <typename T, int WIDTH, int PASSES> struct solver {
    using shape = solve_shape<T, WIDTH, PASSES>;
    static constexpr int COLUMNS = shape::COLUMNS;
    const solve_arguments<T> &a;
    T *part, *carry;
    unsigned epoch;
    unsigned long long deadline;

    /* Entry (row, column) of S b. */
    __device__ __forceinline__ T from_b(int row, int column) const
    {
        if (column >= a.columns)
            return T{};
        return scaled(a.b[row * a.b_row + column * a.b_column], a.scale[row]);
    }

    __device__ __noinline__ bool give_up() const
    {
        if (*(volatile unsigned *)&a.state->failed == epoch)
            return true;
        if (now_ns() < deadline)
            return false;
        *(volatile unsigned *)&a.state->failed = epoch;
        return true;
    }

    /* in := inputs and extra sources of the task, a thread up to two of them. */
    __device__ __forceinline__ void gather(const task_head &h, T *in) const
    {
        constexpr int EACH = TASK_SOURCES / SOLVE_THREADS;
        const int32_t *code = reinterpret_cast<const int32_t *>(&h + 1);
#pragma unroll 1
        for (int j = 0; j < COLUMNS; j += WIDTH) {
            letter<T> l[EACH][WIDTH];
            const packet *box[EACH];
            bool mail[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const int k = threadIdx.x + u * SOLVE_THREADS;
                const unsigned c = k < h.sources ? (unsigned)code[k] : SOURCE_B;
                mail[u] = (c & 1) == SOURCE_SLOT;
                box[u] = a.slot + ((int64_t)(c >> 1) * COLUMNS + j) * letter<T>::COUNT;
                if (mail[u]) {
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        l[u][w] = letter_load<T>(box[u], w);
                } else if (k < h.sources) {
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        in[(j * TASK_SOURCES) + k * WIDTH + w] = from_b((int)(c >> 1), j + w);
                }
            }
            bool missing;
            unsigned tries = 0;
            do {
                missing = false;
#pragma unroll
                for (int u = 0; u < EACH; u++)
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        if (mail[u] && !letter_is_of(l[u][w], epoch)) {
                            missing = true;
                            l[u][w] = letter_load<T>(box[u], w);
                        }
            } while (missing && ((++tries & 1023) != 0 || !give_up()));
#pragma unroll
            for (int u = 0; u < EACH; u++)
                if (mail[u]) {
                    const int k = threadIdx.x + u * SOLVE_THREADS;
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        in[(j * TASK_SOURCES) + k * WIDTH + w] = letter_value(l[u][w]);
                }
        }
    }

    __device__ __forceinline__ void add_extras(const task_head &h, T *in) const
    {
        const task_fix *fix = reinterpret_cast<const task_fix *>(reinterpret_cast<const char *>(&h) + h.fix_at);
        for (int q = threadIdx.x; q < h.fixes * COLUMNS; q += SOLVE_THREADS) {
            const task_fix f = fix[q / COLUMNS];
            const int column = q % COLUMNS, at = column / WIDTH * TASK_SOURCES * WIDTH + column % WIDTH;
            T sum = in[at + f.to * WIDTH];
            for (int k = 0; k < f.count; k++)
                sum = sum + in[at + (f.from + k) * WIDTH];
            in[at + f.to * WIDTH] = sum;
        }
    }

    /* sum += products of `count` entries of t and y; all loads of a batch come before its products, since they take longer. */
    template <bool WHOLE>
    __device__ __forceinline__ static void multiply_batch(const T *t, const T *y, int t_step, int y_step, int count, bool conjugate,
                                                          T (&sum)[2][WIDTH])
    {
        T entry[BATCH], x[BATCH][WIDTH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const int v = WHOLE ? u : min(u, count - 1);
            entry[u] = t[v * t_step];
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                x[u][w] = y[v * y_step + w];
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const bool there = WHOLE || u < count;
            const T e = there ? conjugate_if(entry[u], conjugate) : T{};
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                sum[u & 1][w] = multiply_add(sum[u & 1][w], e, there ? x[u][w] : T{});
        }
    }

    /* part := products of the slots with the columns of one pass; in: of that pass. */
    __device__ __forceinline__ void multiply_slots(const task_head &h, int slots, const T *in) const
    {
        const int lane = threadIdx.x & 31;
        const char *base = reinterpret_cast<const char *>(&h);
        const T *tile = reinterpret_cast<const T *>(base + h.tile_at);
        const task_slot *slot = reinterpret_cast<const task_slot *>(base + h.slot_at);
        for (int s = threadIdx.x >> 5; s < slots; s += SOLVE_WARPS) {
            const task_slot q = load_words(slot + s);
            const int log_wide = 5 - q.lanes, wide = 1 << log_wide;
            const int o = min(lane & (wide - 1), q.outs - 1), first = lane >> log_wide;
            const T *t = tile + q.tile + o * q.out_step + first * q.inner_step;
            const T *y = in + (q.in + first) * WIDTH;
            const int t_step = q.inner_step << q.lanes, y_step = WIDTH << q.lanes;
            int count = (q.inner - first + (1 << q.lanes) - 1) >> q.lanes;
            T sum[2][WIDTH] = {};
#pragma unroll 1
            for (; count >= BATCH; count -= BATCH) {
                multiply_batch<true>(t, y, t_step, y_step, BATCH, q.conjugate, sum);
                t += BATCH * t_step;
                y += BATCH * y_step;
            }
            if (count > 0)
                multiply_batch<false>(t, y, t_step, y_step, count, q.conjugate, sum);
            __syncwarp();
#pragma unroll
            for (int w = 0; w < WIDTH; w++) {
                T v = sum[0][w] + sum[1][w];
#pragma unroll 1
                for (int z = 16; z >= wide; z >>= 1)
                    v = v + shuffle_xor(v, z);
                if (lane < q.outs)
                    part[(PIECE * s + lane) * WIDTH + w] = v;
            }
        }
    }

    /* Out o of the task, before D^-1. */
    __device__ __noinline__ T neighbour_value(const task_head &h, const task_out *out, int o, const T *in, int pass, int w) const
    {
        return out_value(h, out[o], o, in, pass, w);
    }
    __device__ __forceinline__ T out_value(const task_head &h, const task_out &out, int o, const T *in, int pass, int w) const
    {
        T v = out.add >= 0 ? in[out.add * WIDTH + w] : T{};
        const T *p = part + out.part * WIDTH + w;
        int j = 0;
#pragma unroll 1
        for (; j + 4 <= out.parts; j += 4, p += 4 * PIECE * WIDTH) {
            const T p0 = p[0], p1 = p[PIECE * WIDTH], p2 = p[2 * PIECE * WIDTH], p3 = p[3 * PIECE * WIDTH];
            v = v + ((p0 + p1) + (p2 + p3));
        }
#pragma unroll 1
        for (; j < out.parts; j++, p += PIECE * WIDTH)
            v = v + p[0];
        if (h.flags & TASK_CARRY_IN)
            v = v + carry[(pass * PIECE + o) * WIDTH + w];
        return v;
    }

    /* Whether an out is stored in x, and its scaling: asked for long before it is needed. */
    __device__ __forceinline__ bool is_stored(const task_head &h, const task_out &q) const
    {
        return q.row >= 0 && !(q.flags & OUT_D) && !a.in_place && !(h.flags & TASK_CARRY_OUT);
    }
    __device__ __forceinline__ real_of<T> first_scale(const task_head &h) const
    {
        const task_out *out = reinterpret_cast<const task_out *>(reinterpret_cast<const char *>(&h) + h.out_at);
        return (int)threadIdx.x < h.outs && is_stored(h, out[threadIdx.x]) ? a.scale[out[threadIdx.x].row] : real_of<T>(0);
    }

    /* first: first_scale's. */
    __device__ __forceinline__ void publish(const task_head &h, const T *in, int pass, real_of<T> first) const
    {
        const task_out *out = reinterpret_cast<const task_out *>(reinterpret_cast<const char *>(&h) + h.out_at);
        const T *pivots = reinterpret_cast<const T *>(reinterpret_cast<const char *>(&h) + h.tile_at);
#pragma unroll 1
        for (int o = threadIdx.x; o < h.outs; o += SOLVE_THREADS) {
            const task_out q = load_words(out + o);
            const bool stores = is_stored(h, q);
            const real_of<T> s = o < SOLVE_THREADS || !stores ? first : a.scale[q.row];
#pragma unroll
            for (int w = 0; w < WIDTH; w++) {
                T v = out_value(h, q, o, in, pass, w);
                if (h.flags & TASK_CARRY_OUT) {
                    carry[(pass * PIECE + o) * WIDTH + w] = v;
                    continue;
                }
                if (q.flags & OUT_D) {
                    T u = multiply(pivots[q.row], v);
                    if (q.flags & (OUT_PAIR_FIRST | OUT_PAIR_SECOND)) {
                        const int other = q.flags & OUT_PAIR_FIRST ? o + 1 : o - 1;
                        u = multiply_add(u, pivots[q.row + 1], neighbour_value(h, out, other, in, pass, w));
                    }
                    v = u;
                }
                const int column = pass * WIDTH + w;
                if (q.dst >= 0)
                    letter_send(a.slot + (int64_t)q.dst * COLUMNS * letter<T>::COUNT, column, v, epoch);
                if (stores && column < a.columns)
                    store(q.row, column, v, s);
            }
        }
    }

    __device__ __forceinline__ void store(int row, int column, T v, real_of<T> s) const
    {
        a.x[row * a.x_row + column * a.x_column] = scaled(v, s);
    }

    /* x from its letters, once no block needs b any more. */
    __device__ __forceinline__ void store_in_place() const
    {
        solvers_sync(); /* all threads have read their part of b */
        if (threadIdx.x == 0) {
            unsigned long long before, seen;
            asm volatile("atom.add.release.gpu.global.u64 %0, [%1], 1;" : "=l"(before) : "l"(&a.state->arrived) : "memory");
            const unsigned long long all = (before / gridDim.x + 1) * gridDim.x;
            unsigned tries = 0;
            do
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(&a.state->arrived) : "memory");
            while (seen < all && ((++tries & 1023) != 0 || !give_up()));
        }
        solvers_sync();
        for (int64_t i = (int64_t)blockIdx.x * SOLVE_THREADS + threadIdx.x; i < a.n; i += (int64_t)gridDim.x * SOLVE_THREADS) {
            const int row = a.user_row[i];
            for (int j = 0; j < a.columns; j++) {
                const packet *box = a.slot + i * COLUMNS * letter<T>::COUNT;
                letter<T> l = letter_load<T>(box, j);
                unsigned tries = 0;
                while (!letter_is_of(l, epoch) && ((++tries & 1023) != 0 || !give_up()))
                    l = letter_load<T>(box, j);
                store(row, j, letter_value(l), a.scale[row]);
            }
        }
    }
};

template <typename T, int WIDTH, int PASSES>
__global__ void __launch_bounds__(LAUNCH_THREADS, 2) tree_solve_kernel(const __grid_constant__ solve_arguments<T> a)
{
    using shape = solve_shape<T, WIDTH, PASSES>;
    extern __shared__ __align__(128) char shared[];
    char *stage = shared + shape::BARRIERS;
    T *in = reinterpret_cast<T *>(stage + a.stages * TASK_STAGE);
    T *part = in + a.inputs * TASK_SOURCES * shape::COLUMNS;
    T *carry = part + PIECE * TASK_SLOTS * WIDTH;
    const stage_ring ring = {reinterpret_cast<uint64_t *>(shared), reinterpret_cast<uint64_t *>(shared) + MOST_STAGES};
    const task_list list = load_words(&a.head[blockIdx.x].list);
    if (threadIdx.x == 0)
        ring.open(a.stages);
    __syncthreads();
    if (threadIdx.x >= SOLVE_THREADS) {
        copy_tasks(a.memory, a.head + blockIdx.x, a.copy, stage, ring, a.stages);
        return;
    }
    const unsigned last = a.epoch ? a.epoch[blockIdx.x] : a.state->level_epoch;
    const unsigned epoch = a.epoch ? (last == 0x7fffffffu ? 1 : last + 1) : last; /* by levels: numbers with the highest bit */
    const solver<T, WIDTH, PASSES> me = {a, part, carry, epoch, now_ns() + a.patience};
    int at = 0;
    unsigned phase = 0;
    for (int t = 0; t < list.tasks; t++) {
        const task_head &h = *reinterpret_cast<const task_head *>(stage + at * TASK_STAGE);
        T *here = in + (a.inputs == 2 && (t & 1) ? TASK_SOURCES * shape::COLUMNS : 0);
        task_times *times = a.times && threadIdx.x == 0 ? a.times + list.first + t : nullptr;
        if (times)
            times->come = now_ns();
        stage_ring::wait(ring.full + at, phase);
        if (times)
            times->staged = now_ns();
        const real_of<T> first = me.first_scale(h);
        const int slots = h.slots;
        me.gather(h, here);
        solvers_sync();
        if (times)
            times->gathered = now_ns();
        if (h.fixes > 0) {
            me.add_extras(h, here);
            solvers_sync();
        }
        for (int pass = 0; pass < PASSES; pass++) {
            if (pass > 0)
                solvers_sync(); /* part has been read */
            if (slots > 0) {
                me.multiply_slots(h, slots, here + pass * TASK_SOURCES * WIDTH);
                solvers_sync();
            }
            if (times)
                times->multiplied = now_ns();
            me.publish(h, here + pass * TASK_SOURCES * WIDTH, pass, first);
        }
        if (times)
            times->done = now_ns();
        __syncwarp();
        if ((threadIdx.x & 31) == 0)
            ring.give_back(at);
        if (a.inputs == 1)
            solvers_sync(); /* in has been read */
        if (++at == a.stages) {
            at = 0;
            phase ^= 1;
        }
    }
    if (a.in_place && a.epoch)
        me.store_in_place();
    if (a.epoch && threadIdx.x == 0)
        a.epoch[blockIdx.x] = epoch; /* all threads have read it: they have met since, or there was no task */
}

/* Solves by levels: their number, and x where it may take b's place. */
static __global__ void next_level_epoch(solve_state *state)
{
    state->level_epoch = (state->level_epoch + 1) | 0x80000000u;
}

template <typename T, int COLUMNS> __global__ void store_x_kernel(const __grid_constant__ solve_arguments<T> a)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.n)
        return;
    const int row = a.user_row[i];
    for (int j = 0; j < a.columns; j++) {
        const T v = letter_value(letter_load<T>(a.slot + i * COLUMNS * letter<T>::COUNT, j));
        a.x[row * a.x_row + j * a.x_column] = scaled(v, a.scale[row]);
    }
}

#endif
