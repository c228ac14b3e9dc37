/* dense/cuda/device/cluster.cuh: results handed from block to block of a cluster through
 * distributed shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The sender writes each entry into the receiver's shared memory with st.async, which counts its
 * bytes on an mbarrier beside it; the receiver waits for that barrier's first phase.  Completing
 * the phase makes the counted writes visible to who acquires it at cluster scope: no fence, and no
 * value can be mistaken for a flag.  All blocks of a cluster are resident together, so any of them
 * may wait for any other. */
#ifndef DENSE_CUDA_DEVICE_CLUSTER_CUH
#define DENSE_CUDA_DEVICE_CLUSTER_CUH

#include "dense/cuda/device/scalar.cuh"

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* The address of the same variable in block `rank` of the cluster. */
__device__ __forceinline__ unsigned remote_address(unsigned address, int rank)
{
    unsigned remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
    return remote;
}

__device__ __forceinline__ int cluster_rank()
{
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return (int)rank;
}

__device__ __forceinline__ int cluster_blocks()
{
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return (int)blocks;
}

/* The two halves of a cluster barrier, ordering execution only: a release at cluster scope costs a
 * full membar of the device.  That is enough for two things: to know that all blocks have started
 * (what is then sent to them carries its own order), and for write after read, since a load whose
 * value has been used has been performed. */
__device__ __forceinline__ void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait()
{
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

/* One thread: makes a barrier whose phases each open after one inbox_expect and the bytes that it
 * names.  Before it is used, by the same thread too (for racecheck), a block barrier must come;
 * before other blocks do, a cluster barrier. */
__device__ __forceinline__ void inbox_open(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "fence.proxy.async.shared::cta;" ::"r"(shared_address(barrier))
                 : "memory");
}

/* One thread: the current phase opens when `bytes` bytes were counted on it. */
__device__ __forceinline__ void inbox_expect(uint64_t *barrier, unsigned bytes)
{
    asm volatile(
        "{ .reg .b64 state;\n mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
            shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

/* Waits for a phase, 0 for the first, then 1, 0, 1 ...  What was counted is then visible to this
 * thread, since completing the phase orders it.  At the default scope of the block, as everywhere
 * that bytes counted by a barrier of the own block are awaited (CUTLASS too): at cluster scope the
 * compiler adds an invalidation of the L1 cache, which these bytes never pass. */
__device__ __forceinline__ void inbox_wait(const uint64_t *barrier, unsigned phase)
{
    asm volatile("{ .reg .pred done;\n"
                 "again:\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 " @!done bra again;\n}" ::"r"(shared_address(barrier)),
                 "r"(phase)
                 : "memory");
}

/* One thread: starts the copy of `bytes` bytes (a multiple of 16, both ends aligned to 16) into
 * this block's shared memory and counts them on `barrier`. */
__device__ __forceinline__ void inbox_copy(void *to, const void *from, unsigned bytes,
                                           uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/* The same of what will be the first to go from the second-level cache. */
__device__ __forceinline__ void inbox_copy_past_cache(void *to, const void *from, unsigned bytes,
                                                      uint64_t *barrier)
{
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
                 : "memory");
}

/* One thread: what the block did with shared memory before a barrier, or was told that others did
 * with memory, is done before copies that begin now. */
__device__ __forceinline__ void copies_follow()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}
/* One thread: starts the copy of `bytes` bytes of this block's shared memory, as inbox_copy. */
__device__ __forceinline__ void outbox_copy(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}
/* The same thread: what its copies read may be written to; what they write is there. */
__device__ __forceinline__ void outbox_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void outbox_wait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Writes v to `at` in the shared memory of block `rank` and counts it on `barrier` there. */
template <typename T>
__device__ __forceinline__ void inbox_send(T *at, uint64_t *barrier, int rank, T v)
{
    const unsigned to = remote_address(shared_address(at), rank);
    const unsigned bar = remote_address(shared_address(barrier), rank);
    if constexpr (sizeof(T) == 4) {
        unsigned word;
        memcpy(&word, &v, 4);
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                to),
            "r"(word), "r"(bar)
            : "memory");
    } else {
        unsigned long long word[sizeof(T) / 8];
        memcpy(word, &v, sizeof v);
        if constexpr (sizeof(T) == 8)
            asm volatile(
                "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::
                    "r"(to),
                "l"(word[0]), "r"(bar)
                : "memory");
        else
            asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], "
                         "{%1, %2}, [%3];" ::"r"(to),
                         "l"(word[0]), "l"(word[1]), "r"(bar)
                         : "memory");
    }
}

#endif
