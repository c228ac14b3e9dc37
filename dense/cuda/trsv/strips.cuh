/* dense/cuda/trsv/strips.cuh: the prepared triangle and its solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With D = blkdiag(L(k,k)) for diagonal blocks of order nb, L x = b is  x = inv(D) b - (inv(D) L -
 * I) x. Prepared are the rows of [-inv(D) L | inv(D)], 32 to a strip: a block of threads solves a
 * strip, by products alone, and hands its 32 entries on.  The chain has n / nb steps, each one
 * product of what arrived with registers and one hand-over; strips of one block row depend on no
 * other strip of it.  Storage is that of the lower triangle in blocks of 32.
 *
 * Strip p: 32 rows, columns 0 .. 32 (p + 1) - 1, column-major without gaps, starting at entry 512 p
 * (p + 1). Columns before the block row's first hold -inv(L(k,k)) L(k,:), the others inv(L(k,k));
 * rows and columns past n are zero. */
#ifndef DENSE_CUDA_TRSV_STRIPS_CUH
#define DENSE_CUDA_TRSV_STRIPS_CUH

#include "dense/cuda/device/turn.cuh"
#include "dense/cuda/device/view.cuh"

constexpr int STRIP = 32;
constexpr int STRIP_WARPS = 8;
constexpr int STRIP_THREADS = 32 * STRIP_WARPS;

/* Of every block column of 256 a warp takes 32 columns, those of one strip's x, in chunks of 8 KB
 * at most.  A chunk is contiguous; a ring of them for each warp is filled by bulk copies, RING
 * ahead, so that nothing but x is waited for. */
template <typename T> struct strip_shape {
    static constexpr int BLOCK = STRIP * STRIP_WARPS; /* order of the inverted blocks */
    static constexpr int CLUSTER = BLOCK / STRIP;     /* strips of a block row */
    static constexpr int COLUMNS = sizeof(T) > 8 ? STRIP / 2 : STRIP; /* of a chunk */
    static constexpr int CHUNKS = STRIP / COLUMNS; /* a warp's chunks in a block column */
    static constexpr int CHUNK = STRIP * COLUMNS;  /* entries of a chunk */
    static constexpr int V = 16 / (int)sizeof(T);  /* rows of a column that a lane loads at once */
    static constexpr int LANES = STRIP / V;        /* lanes for a column */
    static constexpr int LOADS = CHUNK / (32 * V);
    static constexpr int RING = 3; /* 192 KB of 8 KB chunks: one block of threads an SM, all its
                                      memory in flight */
};

template <typename T> struct alignas(16) strip_vector {
    T row[strip_shape<T>::V];
};

INLINE int64_t strip_start(int64_t p)
{
    return STRIP * STRIP / 2 * p * (p + 1);
}
INLINE int64_t strip_count(int64_t n)
{
    return (n + STRIP - 1) / STRIP;
}

/* What this warp does for strip p: first the chunks of inv(D), which meet b and need no wait, then
 * those that meet x. */
template <typename T> struct strip_walk {
    using S = strip_shape<T>;
    const T *entry;
    int warp, first;    /* first: the block row's first column */
    int inverse, count; /* chunks of inv(D), of all */

    __device__ __forceinline__ strip_walk(const T *strips, int p)
    {
        warp = threadIdx.x / 32;
        entry = strips + strip_start(p);
        first = p / S::CLUSTER * S::BLOCK;
        inverse = warp <= p % S::CLUSTER ? S::CHUNKS : 0;
        count = inverse + p / S::CLUSTER * S::CHUNKS;
    }
    __device__ __forceinline__ bool meets_b(int q) const { return q < inverse; }
    __device__ __forceinline__ int column(int q) const
    {
        const int k = meets_b(q) ? q : q - inverse;
        return (meets_b(q) ? first : k / S::CHUNKS * S::BLOCK) + STRIP * warp +
               k % S::CHUNKS * S::COLUMNS;
    }
};

template <typename T> struct strips_shared {
    T ring[STRIP_WARPS][strip_shape<T>::RING][strip_shape<T>::CHUNK];
    uint64_t filled[STRIP_WARPS][strip_shape<T>::RING];
    T x[STRIP_WARPS][2][STRIP];
    T part[STRIP_WARPS][STRIP];
    turn_shared turn;
};

/* The block row of this cluster: where there are several, in the order of the launch if all are
 * resident together, otherwise by ticket.  All threads call. */
template <typename T>
__device__ __forceinline__ place strips_enter(strips_shared<T> &s, workspace_head *head,
                                              int clusters, bool together)
{
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < strip_shape<T>::RING; k++)
            inbox_open(&s.filled[threadIdx.x / 32][k]);
    __syncthreads();
    if (clusters == 1)
        return {0, 0};
    if (together)
        return {0, (int)blockIdx.x / strip_shape<T>::CLUSTER};
    return turn_take(s.turn, head, clusters);
}

/* How the clusters of a grid hand x on. */
struct strips_grid {
    workspace_head *head;
    packet_word *packets; /* n rounded up to STRIP of them */
    int clusters;
    bool together; /* all of them are resident at once */
};

/* The products of one strip, chunk by chunk: what a warp has beside its sums. */
template <typename T> struct strip_solver {
    using S = strip_shape<T>;
    const strip_walk<T> &walk;
    const vector_view<T> &x;
    packet_word *packets;
    strips_shared<T> &s;
    int n, count, lane, warp;
    unsigned long long epoch;
    bool fetches; /* this lane, an entry of x for its warp */

    /* One lane: starts the copy of chunk q into the ring. */
    __device__ __forceinline__ void fill(int q) const
    {
        uint64_t *barrier = &s.filled[warp][q % S::RING];
        inbox_expect(barrier, S::CHUNK * sizeof(T));
        inbox_copy(s.ring[warp][q % S::RING], walk.entry + (int64_t)walk.column(q) * STRIP,
                   S::CHUNK * sizeof(T), barrier);
    }
    /* The entry that this lane fetches for chunk q, as a packet: one of b is always valid. */
    __device__ __forceinline__ packet<T> look(int q) const
    {
        packet<T> l = {};
        const int i = walk.column(q) + lane;
        if (!fetches)
            return l;
        if (!walk.meets_b(q))
            return packet_load<T>(packets, i);
        const T b = i < n ? x.load(i) : T{};
        unsigned long long word[packet<T>::COUNT] = {};
        memcpy(word, &b, sizeof b);
#pragma unroll
        for (int k = 0; k < packet<T>::COUNT; k++)
            l.word[k] = {word[k], epoch};
        return l;
    }
    /* sum += chunk q times its entries of b or x, once both have come.  seen: look(q), then of the
     * next chunk. */
    __device__ __forceinline__ void apply(T (&sum)[2][S::V], packet<T> &seen, int q) const
    {
        strip_vector<T> a[S::LOADS];
        inbox_wait(&s.filled[warp][q % S::RING], q / S::RING % 2);
        const auto *from =
            reinterpret_cast<const strip_vector<T> *>(s.ring[warp][q % S::RING]) + lane;
#pragma unroll
        for (int k = 0; k < S::LOADS; k++)
            a[k] = from[32 * k];
        T *values = s.x[warp][q % 2]; /* last read two chunks ago, before the previous chunk's
                                         barriers */
        if (fetches)
            values[lane] = packet_wait<T>(seen, packets, walk.column(q) + lane, epoch);
        if (q + 1 < count)
            seen = look(q + 1);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < S::LOADS; k++) {
            const T v = values[k * S::V + lane / S::LANES];
#pragma unroll
            for (int i = 0; i < S::V; i++)
                sum[k % 2][i] = multiply_add(sum[k % 2][i], a[k].row[i], v);
        }
        __syncwarp(); /* all lanes have used the chunk: its place may be filled again */
    }
    /* s.part := the sums over the lanes of each warp.  All threads of the block call; ends with a
     * barrier. */
    __device__ __forceinline__ void reduce(const T (&sum)[2][S::V]) const
    {
#pragma unroll
        for (int i = 0; i < S::V; i++) {
            T total = sum[0][i] + sum[1][i];
#pragma unroll
            for (int bit = S::LANES; bit < 32; bit *= 2)
                total = total + shuffle_xor(total, bit);
            if (lane < S::LANES)
                s.part[warp][lane * S::V + i] = total;
        }
        __syncthreads();
    }
    /* Row `lane` of the strip, from the parts of the warps. */
    __device__ __forceinline__ T row_sum() const
    {
        T part[STRIP_WARPS];
#pragma unroll
        for (int w = 0; w < STRIP_WARPS; w++)
            part[w] = s.part[w][lane];
        return ((part[0] + part[1]) + (part[2] + part[3])) +
               ((part[4] + part[5]) + (part[6] + part[7]));
    }
};

/* x := inv(L) x for a block row, by the CLUSTER blocks of a cluster (as many as there are strips
 * when n <= BLOCK), with STRIP_THREADS threads each. */
template <typename T>
__device__ __forceinline__ void strips_solve(const T *strips, int n, const vector_view<T> &x,
                                             const strips_grid &grid, strips_shared<T> &s)
{
    using S = strip_shape<T>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    place mine = strips_enter(s, grid.head, grid.clusters, grid.together);
    const int p = mine.number * S::CLUSTER + cluster_rank();
    const bool idle = p >= strip_count(n); /* the last cluster may have more blocks than strips */
    const strip_walk<T> walk(strips, idle ? 0 : p);
    const int count = idle ? 0 : walk.count;
    strip_solver<T> q = {walk,  x,    grid.packets, s,          n,
                         count, lane, warp,         mine.epoch, lane < S::COLUMNS};
    if (lane == 0)
        for (int k = 0; k < S::RING && k < count; k++)
            q.fill(k);
    if (grid.together) { /* meanwhile */
        if (threadIdx.x == 0)
            s.turn.mine.epoch = epoch_look(grid.head);
        __syncthreads();
        q.epoch = s.turn.mine.epoch;
    }
    T sum[2][S::V] = {};
    packet<T> seen = {};
    if (count > 0)
        seen = q.look(0);
    if (count == 0 || walk.inverse == 0)
        cluster_arrive(); /* this thread reads nothing of b */
    for (int k = 0; k < count; k++) {
        q.apply(sum, seen, k);
        if (lane == 0 && k + S::RING < count)
            q.fill(k + S::RING);
        if (k + 1 == walk.inverse)
            cluster_arrive(); /* this thread has used all of b that it needs */
    }
    q.reduce(sum);
    T solved = T{};
    if (warp == 0) {
        solved = q.row_sum();
        if (grid.clusters > 1 && !idle)
            packet_send(grid.packets, STRIP * p + lane, solved, q.epoch);
    }
    cluster_wait(); /* every strip of this block row has used its b: x may overwrite it */
    if (grid.together && p == strip_count(n) - 1 && threadIdx.x == 0)
        epoch_next(grid.head, q.epoch); /* all earlier block rows have sent to this one, all of this
                                           one have passed the barrier */
    if (warp == 0 && !idle && STRIP * p + lane < n)
        x.store(STRIP * p + lane, solved);
}

#endif
