/* test/support/on_host/fibers.h: blocks of CUDA threads on the host, and what device code calls
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The threads of a block are fibers of one OS thread, which take turns in an order that changes at
 * random, and switch wherever they meet: at barriers, exchanges within a warp, and looks at what
 * another block may have sent. */
#ifndef TEST_SUPPORT_ON_HOST_FIBERS_H
#define TEST_SUPPORT_ON_HOST_FIBERS_H

#include "turns.h"
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local
#define __align__(n) alignas(n)

struct alignas(16) int4 {
    int x, y, z, w;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

/* A copy that a thread has begun; of its `group`-th commit. */
struct own_copy {
    void *to;
    const void *from;
    size_t bytes, zeros;
    int group;
};

struct fiber {
    void *stack_pointer;
    const unsigned *held_by; /* it has no turn while this is held_at */
    unsigned held_at;
    dim3 place; /* threadIdx */
    unsigned cluster_meeting;
    int groups;
    std::vector<own_copy> copies, sent; /* sent: out of shared memory */
};

/* What each lane of a warp has brought to a meeting. */
typedef char brought_by_lanes[32][16];

/* A warp as its lanes meet.  A lane may bring something to the next meeting while others still read
 * what was brought to this one, but not to the one after that: each second one has the same room.
 */
struct lanes {
    int arrived;
    unsigned meeting;
    struct {
        alignas(16) brought_by_lanes value;
        double a[16][8], b[8][8]; /* A and B of a product, by rows */
    } room[2];
};

/* A barrier of bulk copies. */
struct copy_barrier {
    uint64_t expected, come;
    unsigned phase;
    bool is_open;
};
/* A barrier of some of a block's threads. */
struct named_barrier {
    int arrived;
    unsigned meeting;
};
struct begun_copy {
    void *to;
    const void *from;
    unsigned bytes;
    const uint64_t *barrier;
};

struct thread_block;

/* Blocks that meet; `arrived` counts their threads. */
struct block_cluster {
    std::atomic<int> arrived;
    std::atomic<unsigned> meeting;
    std::atomic<thread_block *> block[16]; /* by rank, once they run */
};

/* A place in shared memory: the same for all blocks of a cluster. */
struct shared_place {
    bool dynamic;
    ptrdiff_t offset;
};
/* What another block of the cluster has sent. */
struct letter {
    shared_place to, barrier;
    unsigned bytes;
    unsigned char value[16];
};

struct thread_block {
    dim3 place, blocks, threads; /* blockIdx, gridDim, blockDim */
    int rank, width;             /* in its cluster, and that one's blocks */
    block_cluster *cluster;
    block_turns *turns;         /* NULL: all blocks run at once */
    std::vector<fiber *> order; /* of turns */
    size_t next;                /* whose turn it is, in it */
    uint64_t round;
    std::mt19937_64 random;
    int alive, arrived;
    unsigned meeting;
    int any[2]; /* of what threads bring to a barrier, by turns */
    std::vector<fiber> thread;
    std::vector<lanes> warp;
    named_barrier named[16];
    std::map<const uint64_t *, copy_barrier> barrier;
    std::vector<begun_copy> copies;
    std::mutex receiving;
    std::vector<letter> letters;
    unsigned char *shared; /* dynamic */
    size_t shared_bytes;
    void *host_pointer;
};

/* (__thread: C++'s own kind asks at every use whether it has been initialized.) */
extern __thread fiber *this_thread;
extern __thread thread_block *this_block;

/* What device code has been seen to do wrong, or NULL (a static string). */
extern std::atomic<const char *> device_fault;

/* The other threads' turn. */
void take_turns();
/* The same, and it has no further turn until the counter, which the block's own threads count, is
 * not what was seen. */
void wait_for_change(const unsigned &counter, unsigned seen);
/* What other blocks may look at has changed. */
inline void others_are_told()
{
    if (this_block->turns)
        this_block->turns->told();
}
/* All of a warp have come. */
void meet_lanes();
/* All of the block that are not done have come; whether any brought true. */
bool meet_threads(bool brought);

inline unsigned char *dynamic_shared()
{
    return this_block->shared;
}
inline int lane_number()
{
    return (int)this_thread->place.x % 32;
}
inline lanes &this_warp()
{
    return this_block->warp[this_thread->place.x / 32];
}

/* What all have brought, until they meet again. */
template <typename V> const brought_by_lanes &meet_lanes_with(V v)
{
    static_assert(sizeof(V) <= 16, "fits");
    lanes &w = this_warp();
    brought_by_lanes &value = w.room[w.meeting % 2].value;
    memcpy(value[lane_number()], &v, sizeof v);
    meet_lanes();
    return value;
}
template <typename V> V exchange_lanes(V v, int from)
{
    memcpy(&v, meet_lanes_with(v)[from % 32], sizeof v);
    return v;
}
template <typename V> V __shfl_sync(unsigned, V v, int lane, int width = 32)
{
    return exchange_lanes(v, lane_number() / width * width + lane % width);
}
template <typename V> V __shfl_xor_sync(unsigned, V v, int mask)
{
    return exchange_lanes(v, lane_number() ^ mask);
}
unsigned __ballot_sync(unsigned mask, int vote);
inline int __any_sync(unsigned mask, int vote)
{
    return __ballot_sync(mask, vote) != 0;
}
inline int __all_sync(unsigned mask, int vote)
{
    return __ballot_sync(mask, vote) == ~0u;
}
inline void __syncwarp()
{
    meet_lanes();
}
inline void __syncthreads()
{
    meet_threads(false);
}
/* Whoever looks at a word gives the others their turn. */
inline int __syncthreads_or(int vote)
{
    return meet_threads(vote != 0);
}
inline int __syncthreads_and(int vote)
{
    return !meet_threads(vote == 0);
}
inline float rsqrtf(float a)
{
    return 1 / sqrtf(a);
}
inline int __clz(unsigned v)
{
    return v ? __builtin_clz(v) : 32;
}
inline int __ffs(int v)
{
    return __builtin_ffs(v);
}
inline double __hiloint2double(int high, int low)
{
    const uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
inline int __double2hiint(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof v);
    return (int)(bits >> 32);
}
inline long long __double_as_longlong(double v)
{
    long long bits;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
inline double __longlong_as_double(long long bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
inline unsigned __float_as_uint(float v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
inline float __uint_as_float(unsigned bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <typename V, typename Better> V atomic_best(V *at, V v, Better better)
{
    V old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (better(v, old) &&
           !__atomic_compare_exchange_n(at, &old, v, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    return old;
}
template <typename V> V atomicMin(V *at, V v)
{
    return atomic_best(at, v, [](V a, V b) { return a < b; });
}
template <typename V> V atomicMax(V *at, V v)
{
    return atomic_best(at, v, [](V a, V b) { return a > b; });
}
template <typename V> V atomicAdd(V *at, V v)
{
    const V old = __atomic_fetch_add(at, v, __ATOMIC_ACQ_REL);
    others_are_told();
    return old;
}
inline int min(int a, int b)
{
    return a < b ? a : b;
}
inline int max(int a, int b)
{
    return a > b ? a : b;
}
inline unsigned max(unsigned a, unsigned b)
{
    return a > b ? a : b;
}
inline int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
inline int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What a kernel is launched with; cluster: blocks of one. */
struct block_shape {
    dim3 blocks;
    int threads, shared_bytes, cluster;
};

/* body() by all threads of these blocks, up to 64 of them at once in their order, or by turns;
 * shared memory holds no numbers at first. */
void run_blocks(block_shape shape, uint64_t seed, const std::function<void()> &body);

#endif
