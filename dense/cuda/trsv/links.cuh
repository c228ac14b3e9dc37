/* dense/cuda/trsv/links.cuh: how x travels from block row to block row
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_TRSV_LINKS_CUH
#define DENSE_CUDA_TRSV_LINKS_CUH

#include "dense/cuda/device/tile.cuh"
#include "dense/cuda/device/turn.cuh"

/* Most blocks in a cluster: 8 are portable, 16 are what an H100 and H200 take when asked. */
constexpr int CLUSTER_BLOCKS = 16;

/* How x travels.  A link has
 *     enter()                 called first by all threads: this block's row; ends with a barrier
 *     ready()                 called once by all threads: after it x may be sent
 *     early(j, i)             the packet of entry i of x(j) as it is now, without waiting
 *     wait(early, j, i)       the value of that entry, once it has come; some lanes may call alone
 *     send(r, i, v)           sends entry i of x(r) to all later rows; a thread for each i
 *     shared(j)               whether x(j) comes to shared memory; then, instead of wait:
 *     arrived(j)              x(j) there, once it has come
 * TILES: tiles of a block row that are in registers at a time, all but one of them being loaded.
 * IN_PLACE: whether it is the solution's own memory that x travels through, so that send puts it
 * there. */
template <typename T> struct grid_link {
    static constexpr int BLOCKS_PER_SM = 2;
    static constexpr int TILES = 2;
    static constexpr bool IN_PLACE = false;
    struct arguments {
        workspace_head *head;
        packet_word *packets;
        int rows;
    };
    using glance = packet<T>;
    struct shared_part {
        place mine;
    };
    packet_word *packets;
    unsigned long long epoch;

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        if (threadIdx.x == 0)
            s.mine = ticket_take(a.head, gridDim.x);
        __syncthreads();
        packets = a.packets;
        epoch = s.mine.epoch;
        return s.mine.number;
    }
    __device__ __forceinline__ void ready() const {}
    __device__ __forceinline__ glance early(int j, int i) const
    {
        return packet_load<T>(packets, TILE * j + i);
    }
    __device__ __forceinline__ T wait(glance g, int j, int i) const
    {
        return packet_wait<T>(g, packets, TILE * j + i, epoch);
    }
    __device__ __forceinline__ bool shared(int) const { return false; }
    __device__ __forceinline__ const T *arrived(int) const { return nullptr; }
    __device__ __forceinline__ void send(int r, int i, T v) const
    {
        packet_send(packets, TILE * r + i, v, epoch);
    }
};

/* What the blocks of a cluster send each other: x of each row before this block's. */
template <typename T> struct cluster_inbox {
    alignas(16) T x[CLUSTER_BLOCKS - 1][TILE];
    uint64_t barrier[CLUSTER_BLOCKS - 1];

    __device__ __forceinline__ void open(int rank)
    {
        if ((int)threadIdx.x < rank)
            inbox_open(&barrier[threadIdx.x]);
        __syncthreads();
        if ((int)threadIdx.x < rank)
            inbox_expect(&barrier[threadIdx.x], TILE * sizeof(T));
    }
    __device__ __forceinline__ const T *arrived(int rank) const
    {
        inbox_wait(&barrier[rank], 0);
        return x[rank];
    }
    /* the next row's block first: it is the one that waits */
    __device__ __forceinline__ void send(int rank, int count, int i, T v)
    {
        for (int to = rank + 1; to < count; to++)
            inbox_send(&x[rank][i], &barrier[rank], to, v);
    }
};

/* All rows in one cluster. */
template <typename T> struct cluster_link {
    static constexpr int BLOCKS_PER_SM = 1;
    static constexpr int TILES = sizeof(T) > 8 ? 2 : 3;
    static constexpr bool IN_PLACE = false;
    struct arguments {
        int rows;
    };
    struct glance {
    };
    using shared_part = cluster_inbox<T>;
    shared_part *inbox;
    int rows;

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        inbox = &s;
        rows = a.rows;
        s.open(cluster_rank());
        cluster_arrive();
        return cluster_rank();
    }
    __device__ __forceinline__ void ready() const { cluster_wait(); }
    __device__ __forceinline__ glance early(int, int) const { return {}; }
    __device__ __forceinline__ bool shared(int) const { return true; }
    __device__ __forceinline__ const T *arrived(int j) const { return inbox->arrived(j); }
    __device__ __forceinline__ T wait(glance, int j, int i) const { return arrived(j)[i]; }
    __device__ __forceinline__ void send(int r, int i, T v) const { inbox->send(r, rows, i, v); }
};

/* Within a cluster through distributed shared memory, from one cluster to the next through global
 * memory. */
template <typename T> struct clusters_link {
    static constexpr int BLOCKS_PER_SM = 1;
    static constexpr int TILES = sizeof(T) > 8 ? 2 : 3;
    static constexpr bool IN_PLACE = false;
    struct arguments {
        workspace_head *head;
        packet_word *packets;
        int rows;
    };
    using glance = packet<T>;
    struct shared_part {
        cluster_inbox<T> inbox;
        turn_shared turn;
    };
    cluster_inbox<T> *inbox;
    packet_word *packets;
    unsigned long long epoch;
    int first, count; /* this cluster's first row and number of rows */
    bool last;        /* cluster */

    __device__ __forceinline__ int enter(const arguments &a, shared_part &s)
    {
        const int rank = cluster_rank(), blocks = cluster_blocks(),
                  clusters = (int)gridDim.x / blocks;
        inbox = &s.inbox;
        inbox->open(rank);
        const place mine = turn_take(s.turn, a.head, clusters);
        packets = a.packets;
        epoch = mine.epoch;
        first = mine.number * blocks;
        count = min(blocks, a.rows - first);
        last = mine.number == clusters - 1;
        return first + rank;
    }
    __device__ __forceinline__ void ready() const {}
    __device__ __forceinline__ glance early(int j, int i) const
    {
        return j < first ? packet_load<T>(packets, TILE * j + i) : glance{};
    }
    __device__ __forceinline__ T wait(glance g, int j, int i) const
    {
        if (j < first)
            return packet_wait<T>(g, packets, TILE * j + i, epoch);
        return arrived(j)[i];
    }
    __device__ __forceinline__ bool shared(int j) const { return j >= first; }
    __device__ __forceinline__ const T *arrived(int j) const { return inbox->arrived(j - first); }
    __device__ __forceinline__ void send(int r, int i, T v) const
    {
        inbox->send(r - first, count, i, v);
        if (!last)
            packet_send(packets, TILE * r + i, v, epoch);
    }
};

#endif
