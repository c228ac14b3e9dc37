/* dense/cuda/strips.cuh: the prepared triangle and its solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With D = blkdiag(L(k,k)) for diagonal blocks of order nb, L x = b is  x = inv(D) b - (inv(D) L - I) x.  Prepared are
 * the rows of [-inv(D) L | inv(D)], 32 to a strip: a block of threads solves a strip, by products alone, and hands its
 * 32 entries on.  The chain has n / nb steps, each one product of what arrived with registers and one hand-over; strips
 * of one block row depend on no other strip of it.  Storage is that of the lower triangle in blocks of 32.
 *
 * Strip p: 32 rows, columns 0 .. 32 (p + 1) - 1, column-major without gaps, starting at entry 512 p (p + 1).  Columns
 * before the block row's first hold -inv(L(k,k)) L(k,:), the others inv(L(k,k)); rows and columns past n are zero. */
#ifndef DENSE_CUDA_STRIPS_CUH
#define DENSE_CUDA_STRIPS_CUH

#include "dense/cuda/cluster.cuh"
#include "dense/cuda/grid.cuh"
#include "dense/cuda/view.cuh"

constexpr int STRIP = 32;
constexpr int STRIP_WARPS = 8;
constexpr int STRIP_THREADS = 32 * STRIP_WARPS;

/* What a thread loads at once: 16 bytes, V rows of a column; a warp V whole columns; a batch is LOADS of these. */
template <typename T> struct strip_shape {
    static constexpr int V = 16 / (int)sizeof(T);
    static constexpr int LOADS = 8;
    static constexpr int LANES = STRIP / V; /* lanes for a column */
    static constexpr int WARP_COLUMNS = LOADS * V;
    static constexpr int BATCH = STRIP_WARPS * WARP_COLUMNS;
    /* order of the inverted blocks: two batches, so that a whole step waits in registers; 256 at most */
    static constexpr int BLOCK = 2 * BATCH < 256 ? 2 * BATCH : 256;
    static constexpr int CLUSTER = BLOCK / STRIP; /* strips of a block row */
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

/* Where strip p of block row r begins and which of its columns a batch has: those of inv(D) first, they need no wait. */
template <typename T> struct strip_walk {
    using S = strip_shape<T>;
    const T *entry;
    int first, end;      /* columns [first, end) meet b, columns [0, first) meet x */
    int inverse_batches; /* batches of the former */
    int batches;

    __device__ __forceinline__ strip_walk(const T *strips, int p)
    {
        entry = strips + strip_start(p);
        first = p / S::CLUSTER * S::BLOCK;
        end = STRIP * (p + 1);
        inverse_batches = (end - first + S::BATCH - 1) / S::BATCH;
        batches = inverse_batches + first / S::BATCH;
    }
    __device__ __forceinline__ bool meets_b(int q) const { return q < inverse_batches; }
    /* this warp's first column in batch q */
    __device__ __forceinline__ int column(int q) const
    {
        const int own = S::WARP_COLUMNS * ((int)threadIdx.x / 32);
        return own + (meets_b(q) ? first + q * S::BATCH : (q - inverse_batches) * S::BATCH);
    }
    /* WARP_COLUMNS divides 32: a warp's columns exist all or not at all */
    __device__ __forceinline__ bool exists(int q) const { return !meets_b(q) || column(q) < end; }

    __device__ __forceinline__ void load(strip_vector<T> (&a)[S::LOADS], int q) const
    {
        const int lane = threadIdx.x % 32;
        const auto *from = reinterpret_cast<const strip_vector<T> *>(entry + (int64_t)column(q) * STRIP) + lane;
        const bool here = exists(q);
#pragma unroll
        for (int k = 0; k < S::LOADS; k++)
            a[k] = here ? from[32 * k] : strip_vector<T>{};
    }
};

template <typename T> struct strips_shared {
    T x[STRIP_WARPS][2][strip_shape<T>::WARP_COLUMNS];
    T part[STRIP_WARPS][STRIP];
    place mine;
};

/* The block row of this cluster: by ticket when there are several.  One cluster barrier then; all threads call. */
template <typename T> __device__ __forceinline__ place strips_enter(strips_shared<T> &s, workspace_head *head, int clusters)
{
    if (clusters == 1)
        return {0, 0};
    if (cluster_rank() == 0 && threadIdx.x == 0)
        s.mine = ticket_take(head, clusters);
    cluster_arrive();
    cluster_wait();
    place mine;
    const unsigned from = remote_address(shared_address(&s.mine), 0);
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(mine.epoch) : "r"(from) : "memory");
    asm volatile("ld.shared::cluster.s32 %0, [%1];"
                 : "=r"(mine.number)
                 : "r"(from + (unsigned)offsetof(place, number))
                 : "memory");
    return mine;
}

/* x := inv(L) x for a block row, by the CLUSTER blocks of a cluster (as many as there are strips when n <= BLOCK), with
 * STRIP_THREADS threads each.  box: n rounded up to STRIP letters. */
template <typename T>
__device__ __forceinline__ void strips_solve(const T *strips, int n, const vector_view<T> &x, workspace_head *head,
                                             packet *box, int clusters, strips_shared<T> &s)
{
    using S = strip_shape<T>;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const place mine = strips_enter(s, head, clusters);
    const int p = mine.number * S::CLUSTER + cluster_rank();
    const bool idle = p >= strip_count(n); /* the last cluster may have more blocks than strips */
    const strip_walk<T> walk(strips, idle ? 0 : p);
    const int batches = idle ? 0 : walk.batches;
    const bool fetches = lane < S::WARP_COLUMNS;

    /* the entry that this lane fetches for its warp in batch q, as a letter: b(i) has arrived already */
    const auto look = [&](int q) {
        letter<T> l = {};
        const int i = walk.column(q) + lane;
        if (!fetches)
            return l;
        if (!walk.meets_b(q))
            return letter_load<T>(box, i);
        const T b = i < n ? x.load(i) : T{};
        unsigned long long word[letter<T>::COUNT] = {};
        memcpy(word, &b, sizeof b);
#pragma unroll
        for (int k = 0; k < letter<T>::COUNT; k++)
            l.part[k] = {word[k], mine.epoch};
        return l;
    };

    strip_vector<T> a[S::LOADS], next[S::LOADS];
    T sum[2][S::V] = {};
    letter<T> seen = {};
    if (batches > 0) {
        walk.load(a, 0);
        seen = look(0);
    }
    for (int q = 0; q < batches; q++) {
        if (q + 1 < batches)
            walk.load(next, q + 1);
        T *values = s.x[warp][q % 2]; /* last read two batches ago, before the __syncwarp of the previous one */
        if (fetches)
            values[lane] = letter_wait<T>(seen, box, walk.column(q) + lane, mine.epoch);
        if (q + 1 < batches)
            seen = look(q + 1);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < S::LOADS; k++) {
            const T v = values[k * S::V + lane / S::LANES];
#pragma unroll
            for (int i = 0; i < S::V; i++)
                sum[k % 2][i] = multiply_add(sum[k % 2][i], a[k].row[i], v);
        }
#pragma unroll
        for (int k = 0; k < S::LOADS; k++)
            a[k] = next[k];
        if (q + 1 == walk.inverse_batches)
            cluster_arrive(); /* this thread has read all of b that it needs */
    }
    if (idle)
        cluster_arrive();

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
    T solved = T{};
    if (warp == 0) {
        T part[STRIP_WARPS];
#pragma unroll
        for (int w = 0; w < STRIP_WARPS; w++)
            part[w] = s.part[w][lane];
        solved = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        if (clusters > 1 && !idle)
            letter_send(box, STRIP * p + lane, solved, mine.epoch);
    }
    cluster_wait(); /* every strip of this block row has read its b: x may overwrite it */
    if (warp == 0 && !idle && STRIP * p + lane < n)
        x.store(STRIP * p + lane, solved);
}

#endif
