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

constexpr int SOLVE_THREADS = 32 * SOLVE_WARPS, LAUNCH_THREADS = SOLVE_THREADS + 32;
constexpr int MOST_STAGES = 4;

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
    int32_t stages;                           /* of the ring */
    int32_t in_place;                         /* x is b: stored when all blocks have read b */
    unsigned long long patience;              /* ns to wait before giving up */
    task_times *times;                        /* by tasks, NULL: not traced */
};

/* How an instance's shared memory is laid out.  PASSES times WIDTH columns are solved at a time; a pass reads the
 * tiles in shared memory once. */
template <typename T, int WIDTH, int PASSES> struct solve_shape {
    static constexpr int COLUMNS = WIDTH * PASSES;
    static constexpr int BARRIERS = 128; /* bytes */
    static constexpr int IN = TASK_SOURCES * WIDTH; /* scalars: inputs, two of them, and sources before they are added */
    static constexpr int CARRY = SQUARE * COLUMNS;
    static constexpr int bytes(int stages) { return BARRIERS + stages * TASK_STAGE + (3 * IN + CARRY) * (int)sizeof(T); }
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
            if (++tasks > stages)
                stage_ring::take_back(at);
            if (lane == 0)
                inbox_expect(ring.full + at, here.task_bytes);
        }
        if (lane == 0)
            inbox_copy(stage + at * TASK_STAGE + here.to, memory + 16 * (int64_t)here.from16, here.bytes, ring.full + at);
    }
    for (int left = min(tasks, stages); left > 0; left--) { /* no barrier is left half full */
        at = at + 1 == stages ? 0 : at + 1;
        stage_ring::take_back(tasks < stages ? tasks - left : at);
    }
}

/* Whether a launch gives up waiting; if so, all its blocks will. */
static __device__ __noinline__ bool waited_enough(solve_state *state, unsigned epoch, unsigned long long deadline)
{
    if (*(volatile unsigned *)&state->failed == epoch)
        return true;
    if (now_ns() < deadline)
        return false;
    *(volatile unsigned *)&state->failed = epoch;
    return true;
}

template <typename T> __device__ __forceinline__ T scaled(T v, real_of<T> s)
{
    if constexpr (scalar<T>::is_complex)
        return {v.re * s, v.im * s};
    else
        return v * s;
}

/* An entry of b and its scaling, held like a letter until both are there. */
template <typename T> __device__ __forceinline__ letter<T> hold_b(T v, real_of<T> scale)
{
    letter<T> l = {};
    unsigned long long word[letter<T>::COUNT] = {};
    memcpy(word, &v, sizeof v);
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        l.part[k].value = word[k];
    memcpy(&l.part[0].epoch, &scale, sizeof scale);
    return l;
}
template <typename T> __device__ __forceinline__ T held_b(const letter<T> &l)
{
    real_of<T> scale;
    memcpy(&scale, &l.part[0].epoch, sizeof scale);
    return scaled(letter_value(l), scale);
}

/* A task in its stage. */
template <typename T> struct task_view {
    const char *stage;
    int inputs, slots, outs, flags;
    int start_at, slot_at, out_at, tile_at;

    __device__ __forceinline__ explicit task_view(const char *in) : stage(in)
    {
        const int4 *words = reinterpret_cast<const int4 *>(stage);
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
    __device__ __forceinline__ int code(int k) const { return reinterpret_cast<const int32_t *>(stage + sizeof(task_head))[k]; }
    __device__ __forceinline__ int start(int k) const { return reinterpret_cast<const uint16_t *>(stage + start_at)[k]; }
    __device__ __forceinline__ task_slot slot(int s) const { return load_words(reinterpret_cast<const task_slot *>(stage + slot_at) + s); }
    __device__ __forceinline__ task_out out(int o) const { return load_words(reinterpret_cast<const task_out *>(stage + out_at) + o); }
    __device__ __forceinline__ const T *tile() const { return reinterpret_cast<const T *>(stage + tile_at); }
};

/* The outs of a slot among the lanes: lane `lane` has part `part` of `parts` of out o. */
struct lane_share {
    int o, part, log_parts;

    __device__ __forceinline__ explicit lane_share(int mode)
    {
        const int lane = threadIdx.x & 31;
        o = mode == SLOT_1_BY_32 ? 0 : mode == SLOT_4_BY_8 ? lane & 3 : (lane & 3) | (lane >> 4 << 2);
        part = mode == SLOT_1_BY_32 ? lane : mode == SLOT_4_BY_8 ? lane >> 2 : lane >> 2 & 3;
        log_parts = mode == SLOT_1_BY_32 ? 5 : mode == SLOT_4_BY_8 ? 3 : 2;
    }
};

template <typename T, int WIDTH, int PASSES> struct solver {
    using shape = solve_shape<T, WIDTH, PASSES>;
    static constexpr int COLUMNS = shape::COLUMNS;
    static constexpr int EACH = TASK_SOURCES / SOLVE_THREADS; /* sources of a thread */
    static constexpr int AHEAD = 4 * TASK_SQUARES;            /* entries of tiles that a thread holds before its inputs are there */
    const solve_arguments<T> &a;
    T *staged, *carried;
    unsigned epoch;
    unsigned long long deadline;

    /* Sources of this thread on their way: letters, or entries of b. */
    struct asked {
        int code[EACH];
        letter<T> mail[EACH][WIDTH];
        __device__ __forceinline__ bool by_mail(int u) const { return code[u] >= 0 && (code[u] & 1) == SOURCE_SLOT; }
    };
    /* What a thread knows of its first products before its inputs are there. */
    struct ahead {
        const T *t; /* of what follows the entries held */
        int in, out, count, t_step, y_step; /* first input, number of the out, products, steps between them */
        int log_parts;
        bool whole; /* this lane ends up with the sum of its out */
        T entry[AHEAD];
        task_out record;
        real_of<T> scale; /* of row record.row, if that is stored */
    };

    __device__ __forceinline__ bool give_up() const { return waited_enough(a.state, epoch, deadline); }

    /* ---- Inputs ---- */

    __device__ __forceinline__ const packet *box(int code, int column) const
    {
        return a.slot + ((int64_t)((unsigned)code >> 1) * COLUMNS + column) * letter<T>::COUNT;
    }

    __device__ __forceinline__ void ask(const task_view<T> &v, int sources, int column, asked &q) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS;
            q.code[u] = k < sources ? v.code(k) : SOURCE_ZERO;
            if (q.by_mail(u)) {
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    q.mail[u][w] = letter_load<T>(box(q.code[u], column), w);
            } else if (q.code[u] >= 0) {
                const int row = q.code[u] >> 1;
                const real_of<T> scale = a.scale[row];
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    q.mail[u][w] = hold_b(column + w < a.columns ? a.b[row * a.b_row + (column + w) * a.b_column] : T{}, scale);
            }
        }
    }

    __device__ __forceinline__ bool is_missing(const asked &q) const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                missing = missing || (q.by_mail(u) && !letter_is_of(q.mail[u][w], epoch));
        return missing;
    }
    __device__ __forceinline__ void look_again(asked &q, int column) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                if (q.by_mail(u) && !letter_is_of(q.mail[u][w], epoch))
                    q.mail[u][w] = letter_load<T>(box(q.code[u], column), w);
    }

    /* to[k WIDTH + w] := source k, column + w.  While a warp waits only one of its lanes looks: 256 threads of 264 blocks that all look
     * again and again take more than the second-level cache gives, and everyone's values come late. */
    __device__ __forceinline__ void receive(int sources, int column, asked &q, T *to) const
    {
        unsigned tries = 0;
        for (unsigned missing; (missing = __ballot_sync(~0u, is_missing(q))) != 0;) {
            if ((int)(threadIdx.x & 31) == 31 - __clz(missing))
                do
                    look_again(q, column);
                while (is_missing(q) && ((++tries & 1023) != 0 || !give_up()));
            __syncwarp();
            if (__any_sync(~0u, is_missing(q) && tries > 0 && (tries & 1023) == 0))
                break; /* gave up */
            look_again(q, column);
        }
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS;
            if (k < sources)
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    to[k * WIDTH + w] = q.by_mail(u)     ? letter_value(q.mail[u][w])
                                        : q.code[u] >= 0 ? held_b(q.mail[u][w])
                                                         : T{};
        }
    }

    /* in := sums of the staged sources */
    __device__ __forceinline__ void add_staged(const task_view<T> &v, T *in) const
    {
        for (int k = threadIdx.x; k < v.inputs; k += SOLVE_THREADS) {
            const int end = v.start(k + 1);
            T sum[WIDTH] = {};
#pragma unroll 4
            for (int q = v.start(k); q < end; q++)
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    sum[w] = sum[w] + staged[q * WIDTH + w];
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                in[k * WIDTH + w] = sum[w];
        }
    }

    /* ---- Products ---- */

    __device__ __forceinline__ bool is_stored(const task_view<T> &v, const task_out &q) const
    {
        return q.row >= 0 && !(q.flags & OUT_D) && !a.in_place && !(v.flags & TASK_CARRY_OUT);
    }

    /* The record of this lane's out, for a lane that ends up with its sum. */
    __device__ __forceinline__ void look_at_out(const task_view<T> &v, ahead &h) const
    {
        h.record.row = -1;
        h.record.flags = 0;
        if (h.whole)
            h.record = v.out(h.out);
        h.scale = h.whole && is_stored(v, h.record) ? a.scale[h.record.row] : real_of<T>(0);
    }

    /* Products with square tiles: warp w has outs 4 w .. 4 w + 3, a lane every eighth product of one of them.  See square_at. */
    __device__ __forceinline__ void look_at_squares(const task_view<T> &v, ahead &h) const
    {
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, o = lane & 3, s = lane >> 2;
        const bool back = v.flags & TASK_BACKWARD;
        const int out = 4 * warp + o, turn = 8 * (o >> 1);
        const T *t = v.tile();
        const T *even = t + (back ? out * SQUARE + (s ^ 4 * (o & 1)) + turn : s * SQUARE + (out ^ 4 * (s & 3)));
        const T *odd = back ? even + 8 - 2 * turn : even + 8 * SQUARE;
        const int half = back ? 16 : 16 * SQUARE;
        h.in = s;
        h.out = out;
        h.whole = s == 0 && out < v.outs;
        h.log_parts = 3;
#pragma unroll
        for (int q = 0; q < TASK_SQUARES; q++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                h.entry[4 * q + i] = q < v.slots ? conjugate_if((i & 1 ? odd : even)[q * SQUARE * SQUARE + (i >> 1) * half],
                                                                v.flags & TASK_CONJUGATE)
                                                 : T{};
    }
    __device__ __forceinline__ void multiply_squares(const task_view<T> &v, const ahead &h, const T *in, T (&sum)[WIDTH]) const
    {
        T other[WIDTH] = {};
        const T *y = in + h.in * WIDTH;
#pragma unroll
        for (int q = 0; q < TASK_SQUARES; q++)
            if (q < v.slots) {
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int w = 0; w < WIDTH; w++) {
                        T &to = i & 1 ? other[w] : sum[w];
                        to = multiply_add(to, h.entry[4 * q + i], y[(SQUARE * q + 8 * i) * WIDTH + w]);
                    }
            }
#pragma unroll
        for (int w = 0; w < WIDTH; w++)
            sum[w] = sum[w] + other[w];
    }

    /* Products of a slot. */
    __device__ __forceinline__ void look_at_slot(const task_view<T> &v, int s, ahead &h) const
    {
        const task_slot q = v.slot(s);
        const lane_share mine(q.mode & 3);
        h.in = q.in + mine.part;
        h.out = q.out + mine.o;
        h.whole = mine.part == 0 && mine.o < q.outs;
        h.log_parts = mine.log_parts;
        h.t_step = q.inner_step << mine.log_parts;
        h.y_step = WIDTH << mine.log_parts;
        h.count = max(0, (q.inner - mine.part + (1 << mine.log_parts) - 1) >> mine.log_parts);
        h.t = v.tile() + q.tile + min(mine.o, q.outs - 1) * q.out_step + mine.part * q.inner_step;
        if (scalar<T>::is_complex && (q.mode & 4))
            h.t_step = -h.t_step; /* a mark: conjugated */
    }
    /* Four products from y on, of which `count` are there. */
    __device__ __forceinline__ static void multiply_four(const T *t, int t_step, const T *y, int y_step, int count, bool conjugate, T (&sum)[WIDTH])
    {
        T entry[4], x[4][WIDTH];
#pragma unroll
        for (int u = 0; u < 4; u++) {
            entry[u] = u < count ? conjugate_if(t[u * t_step], conjugate) : T{};
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                x[u][w] = u < count ? y[u * y_step + w] : T{};
        }
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            T other = multiply_add(T{}, entry[1], x[1][w]);
            sum[w] = multiply_add(sum[w], entry[0], x[0][w]);
            other = multiply_add(other, entry[3], x[3][w]);
            sum[w] = multiply_add(sum[w], entry[2], x[2][w]) + other;
        }
    }
    /* The first entries of a slot, before its inputs are there. */
    __device__ __forceinline__ void hold_entries(ahead &h) const
    {
        const bool conjugate = scalar<T>::is_complex && h.t_step < 0;
        const int t_step = scalar<T>::is_complex ? abs(h.t_step) : h.t_step;
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            h.entry[u] = u < h.count ? conjugate_if(h.t[u * t_step], conjugate) : T{};
    }
    /* held: the entries that hold_entries has loaded are used */
    __device__ __forceinline__ void multiply_slot(const ahead &h, bool held, const T *in, T (&sum)[WIDTH]) const
    {
        const bool conjugate = scalar<T>::is_complex && h.t_step < 0;
        const int t_step = scalar<T>::is_complex ? abs(h.t_step) : h.t_step;
        const T *t = h.t, *y = in + h.in * WIDTH;
        int count = h.count;
        if (held) {
            T other[WIDTH] = {};
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
                if (u < count) {
#pragma unroll
                    for (int w = 0; w < WIDTH; w++) {
                        T &to = u & 1 ? other[w] : sum[w];
                        to = multiply_add(to, h.entry[u], y[u * h.y_step + w]);
                    }
                }
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                sum[w] = sum[w] + other[w];
            count -= AHEAD;
            t += AHEAD * t_step;
            y += AHEAD * h.y_step;
        }
#pragma unroll 1
        for (; count >= 4; count -= 4, t += 4 * t_step, y += 4 * h.y_step)
            multiply_four(t, t_step, y, h.y_step, 4, conjugate, sum);
        if (count > 0)
            multiply_four(t, t_step, y, h.y_step, count, conjugate, sum);
    }

    /* Sums over the lanes of each out. */
    __device__ __forceinline__ static void add_lanes(int log_parts, T (&sum)[WIDTH])
    {
        __syncwarp();
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            if (log_parts == 5) {
                sum[w] = sum[w] + shuffle_xor(sum[w], 1);
                sum[w] = sum[w] + shuffle_xor(sum[w], 2);
            }
            sum[w] = sum[w] + shuffle_xor(sum[w], 4);
            sum[w] = sum[w] + shuffle_xor(sum[w], 8);
            if (log_parts > 2)
                sum[w] = sum[w] + shuffle_xor(sum[w], 16);
        }
    }

    /* ---- Outs ---- */

    /* All lanes of a warp; those that are `whole` have the product of their out in sum. */
    __device__ __forceinline__ void publish(const task_view<T> &v, const ahead &h, const T *in, int column, T (&sum)[WIDTH]) const
    {
        const task_out &q = h.record;
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            T value = sum[w], *carry = carried + (column + w) * SQUARE + h.out;
            if (h.whole) {
                if (q.add >= 0)
                    value = value + in[q.add * WIDTH + w];
                if (v.flags & TASK_CARRY_IN)
                    value = value + *carry;
            }
            const T neighbour = v.flags & TASK_PAIRS ? shuffle_xor(value, 1) : T{};
            if (!h.whole)
                continue;
            if (v.flags & TASK_CARRY_OUT) {
                *carry = value;
                continue;
            }
            if (q.flags & OUT_D) {
                const T *pivot = v.tile() + q.row;
                value = ::multiply(pivot[0], value);
                if (q.flags & OUT_PAIR)
                    value = multiply_add(value, pivot[1], neighbour);
            }
            if (q.dst >= 0)
                letter_send(a.slot + (int64_t)q.dst * COLUMNS * letter<T>::COUNT, column + w, value, epoch);
            if (is_stored(v, q) && column + w < a.columns)
                store(q.row, column + w, value, h.scale);
        }
    }

    __device__ __forceinline__ void store(int row, int column, T v, real_of<T> s) const
    {
        a.x[row * a.x_row + column * a.x_column] = scaled(v, s);
    }

    /* ---- A task ---- */

    __device__ __forceinline__ void run(const task_view<T> &v, T *in, int column, task_times *times) const
    {
        const int sources = v.start_at ? v.start(v.inputs) : v.inputs, warp = threadIdx.x >> 5;
        const bool squares = v.flags & TASK_TILES;
        asked q;
        ahead h;
        ask(v, sources, column, q);
        if (squares)
            look_at_squares(v, h);
        else if (warp < v.slots) {
            look_at_slot(v, warp, h);
            hold_entries(h);
        } else { /* sums: an out for each thread */
            h.out = threadIdx.x;
            h.whole = v.slots == 0 && h.out < v.outs;
        }
        look_at_out(v, h);
        receive(sources, column, q, v.start_at ? staged : in);
        solvers_sync();
        if (v.start_at) {
            add_staged(v, in);
            solvers_sync();
        }
        if (times)
            times->gathered = now_ns();
        T sum[WIDTH] = {};
        if (squares) {
            multiply_squares(v, h, in, sum);
            add_lanes(3, sum);
            if (4 * warp < v.outs)
                publish(v, h, in, column, sum);
        } else if (v.slots == 0) {
            if (32 * warp < v.outs)
                publish(v, h, in, column, sum);
        } else
#pragma unroll 1
            for (int s = warp; s < v.slots; s += SOLVE_WARPS) {
                if (s != warp) {
                    look_at_slot(v, s, h);
                    look_at_out(v, h);
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        sum[w] = T{};
                }
                multiply_slot(h, s == warp, in, sum);
                add_lanes(h.log_parts, sum);
                publish(v, h, in, column, sum);
            }
    }

    /* x from its letters, once no block needs b any more. */
    __device__ __noinline__ void store_in_place() const
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
                const packet *from = a.slot + i * COLUMNS * letter<T>::COUNT;
                letter<T> l = letter_load<T>(from, j);
                unsigned tries = 0;
                while (!letter_is_of(l, epoch) && ((++tries & 1023) != 0 || !give_up()))
                    l = letter_load<T>(from, j);
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
    const stage_ring ring = {reinterpret_cast<uint64_t *>(shared)};
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
    const solver<T, WIDTH, PASSES> me = {a, in + 2 * shape::IN, in + 3 * shape::IN, epoch, now_ns() + a.patience};
    int at = 0;
    unsigned phase = 0, turn = 0;
    for (int t = 0; t < list.tasks; t++) {
        task_times *times = a.times && threadIdx.x == 0 ? a.times + list.first + t : nullptr;
        if (times)
            times->come = now_ns();
        stage_ring::wait(ring.full + at, phase);
        if (times)
            times->staged = now_ns();
        const task_view<T> task(stage + at * TASK_STAGE);
#pragma unroll 1
        for (int column = 0; column < shape::COLUMNS; column += WIDTH, turn ^= 1)
            me.run(task, in + (turn ? shape::IN : 0), column, times);
        if (times)
            times->done = now_ns();
        stage_ring::give_back(at);
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
