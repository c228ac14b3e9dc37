/* test/support/on_host/fibers.h: blocks of CUDA threads on the host, and what device code calls
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The threads of a block are fibers of one OS thread, which take turns in an order that changes at
 * random, and switch wherever they meet: at barriers, exchanges within a warp, and looks at what
 * another block may have sent. */
#ifndef TEST_SUPPORT_ON_HOST_FIBERS_H
#define TEST_SUPPORT_ON_HOST_FIBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
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
struct index3 {
    unsigned x;
};

struct fiber {
    void *stack_pointer;
    index3 place; /* threadIdx */
    bool is_done;
};

/* A warp as its lanes meet: what each has brought. */
struct lanes {
    int arrived;
    unsigned meeting;
    alignas(16) char value[32][16];
    double part[32][6];
};

/* A barrier of bulk copies. */
struct copy_barrier {
    uint64_t expected, come;
    unsigned phase;
    bool is_open;
};
struct begun_copy {
    void *to;
    const void *from;
    unsigned bytes;
    const uint64_t *barrier;
};

struct thread_block {
    index3 place, blocks; /* blockIdx, gridDim */
    int alive, arrived;
    unsigned meeting;
    int any[2]; /* of what threads bring to a barrier, by turns */
    std::vector<fiber> thread;
    std::vector<lanes> warp;
    std::map<const uint64_t *, copy_barrier> barrier;
    std::vector<begun_copy> copies;
    unsigned char *shared; /* dynamic */
    void *host_pointer;
};

extern thread_local fiber *this_thread;
extern thread_local thread_block *this_block;
#define threadIdx (this_thread->place)
#define blockIdx (this_block->place)
#define gridDim (this_block->blocks)

/* The other threads' turn. */
void take_turns();
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
    return (int)threadIdx.x % 32;
}
inline lanes &this_warp()
{
    return this_block->warp[threadIdx.x / 32];
}

template <typename V> V exchange_lanes(V v, int from)
{
    static_assert(sizeof(V) <= 16, "fits");
    memcpy(this_warp().value[lane_number()], &v, sizeof v);
    meet_lanes();
    memcpy(&v, this_warp().value[from % 32], sizeof v);
    meet_lanes();
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
inline int __syncthreads_or(int vote)
{
    return meet_threads(vote != 0);
}
inline int __clz(unsigned v)
{
    return v ? __builtin_clz(v) : 32;
}
inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long v)
{
    return __atomic_fetch_add(at, v, __ATOMIC_ACQ_REL);
}
inline int min(int a, int b)
{
    return a < b ? a : b;
}
inline int max(int a, int b)
{
    return a > b ? a : b;
}

/* body() by all threads of so many blocks at once, of `threads` threads each, with so many bytes of
 * shared memory, which hold no numbers at first. */
void run_blocks(int blocks, int threads, int shared_bytes, uint64_t seed,
                std::function<void()> body);

#endif
