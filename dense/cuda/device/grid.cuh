/* dense/cuda/device/grid.cuh: results handed from block to block through global memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A result travels in a packet: one word of 16 bytes, {value, epoch}, or two for the 16 bytes of a
 * complex double.  A word is written and read by one 128-bit access.  The PTX memory model makes a
 * .b128 access with a scope single-copy atomic, so a reader sees both halves of one store: the
 * epoch is the flag, the value needs no fence, and relaxed accesses suffice because nothing else is
 * passed along.  Any value may travel, NaNs of any pattern too.  Every solve has an epoch of its
 * own, one more than the last, so that what a solve leaves behind is never taken for a result of a
 * later one and nothing is cleared in between.
 *
 * Blocks take their place by a ticket, in the order in which they start, and wait only for blocks
 * with a smaller one: whatever part of a grid is resident, its lowest unfinished block waits for
 * nothing that is not finished. */
#ifndef DENSE_CUDA_DEVICE_GRID_CUH
#define DENSE_CUDA_DEVICE_GRID_CUH

#include "dense/cuda/device/scalar.cuh"

struct alignas(16) packet_word {
    unsigned long long value, epoch;
};

/* The head of a workspace; the packets follow.  ticket: epoch of the last solve << TICKET_BITS |
 * tickets taken.  done: for those who count instead of sending packets, epoch << TICKET_BITS | what
 * is done in it. */
struct alignas(128) workspace_head {
    unsigned long long ticket, done;
};
/* 2^28 blocks of 64 rows are more than an int counts.  With 36 bits an epoch comes again after 39
 * hours of solves of 2 us, and that matters only to a packet that was not written in all that
 * time. */
constexpr int TICKET_BITS = 28;

__device__ __forceinline__ packet_word packet_word_load(const packet_word *p)
{
    packet_word v;
    asm volatile("{ .reg .b128 q;\n ld.relaxed.gpu.global.b128 q, [%2];\n mov.b128 {%0, %1}, q; }"
                 : "=l"(v.value), "=l"(v.epoch)
                 : "l"(p)
                 : "memory");
    return v;
}

/* The same if `wanted`, otherwise zeros, without a branch: loads in separate branches would be
 * executed one after the other. */
__device__ __forceinline__ packet_word packet_word_load_if(bool wanted, const packet_word *p)
{
    packet_word v;
    asm volatile("{ .reg .pred w;\n .reg .b128 q;\n .reg .b64 z;\n setp.ne.s32 w, %3, 0;\n mov.b64 "
                 "z, 0;\n mov.b128 q, {z, z};\n"
                 " @w ld.relaxed.gpu.global.b128 q, [%2];\n mov.b128 {%0, %1}, q; }"
                 : "=l"(v.value), "=l"(v.epoch)
                 : "l"(p), "r"((int)wanted)
                 : "memory");
    return v;
}

__device__ __forceinline__ void packet_word_store(packet_word *p, packet_word v)
{
    asm volatile(
        "{ .reg .b128 q;\n mov.b128 q, {%1, %2};\n st.relaxed.gpu.global.b128 [%0], q; }" ::"l"(p),
        "l"(v.value), "l"(v.epoch)
        : "memory");
}

/* The packet of one entry.  An array of packets is an array of their words. */
template <typename T> struct packet {
    static constexpr int COUNT = sizeof(T) > 8 ? 2 : 1;
    packet_word word[COUNT];
};

template <typename T>
__device__ __forceinline__ packet<T> packet_load(const packet_word *packets, int i)
{
    packet<T> l;
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++)
        l.word[k] = packet_word_load(packets + (int64_t)i * packet<T>::COUNT + k);
    return l;
}

/* The same if `wanted`, otherwise a packet of epoch 0, which no solve has. */
template <typename T>
__device__ __forceinline__ packet<T> packet_load_if(bool wanted, const packet_word *packets, int i)
{
    packet<T> l;
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++)
        l.word[k] = packet_word_load_if(wanted, packets + (int64_t)i * packet<T>::COUNT + k);
    return l;
}

/* Whether entry i was written in this epoch, without its value. */
template <typename T>
__device__ __forceinline__ bool packet_arrived(const packet_word *packets, int i,
                                               unsigned long long epoch)
{
    unsigned long long seen;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(seen)
                 : "l"(&packets[(int64_t)i * packet<T>::COUNT].epoch)
                 : "memory");
    return seen == epoch;
}

template <typename T>
__device__ __forceinline__ void packet_send(packet_word *packets, int i, T v,
                                            unsigned long long epoch)
{
    unsigned long long word[packet<T>::COUNT] = {};
    memcpy(word, &v, sizeof v);
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++)
        packet_word_store(packets + (int64_t)i * packet<T>::COUNT + k, {word[k], epoch});
}

template <typename T>
__device__ __forceinline__ bool packet_valid(const packet<T> &l, unsigned long long epoch)
{
    bool all = true;
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++)
        all = all && l.word[k].epoch == epoch;
    return all;
}

template <typename T> __device__ __forceinline__ T packet_value(const packet<T> &l)
{
    unsigned long long word[packet<T>::COUNT];
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++)
        word[k] = l.word[k].value;
    T v;
    memcpy(&v, word, sizeof v);
    return v;
}

/* The value of entry i, polled until it is there.  early: its packet as loaded at any time before.
 * (Sleeping between two loads gains nothing for readers that need the value late, and costs
 * transposed solves a quarter of their speed.) */
template <typename T>
__device__ __forceinline__ T packet_wait(packet<T> early, const packet_word *packets, int i,
                                         unsigned long long epoch)
{
    unsigned long long word[packet<T>::COUNT];
#pragma unroll
    for (int k = 0; k < packet<T>::COUNT; k++) {
        while (early.word[k].epoch != epoch)
            early.word[k] = packet_word_load(packets + (int64_t)i * packet<T>::COUNT + k);
        word[k] = early.word[k].value;
    }
    T v;
    memcpy(&v, word, sizeof v);
    return v;
}

struct alignas(16) place {
    unsigned long long epoch;
    int number;
};

/* One thread of each of `count` blocks (or clusters) draws a ticket once in a launch and later asks
 * which place it stands for.  The last one starts the next epoch: all others have drawn theirs, and
 * the next solve on this workspace comes after this kernel in stream order. */
__device__ __forceinline__ unsigned long long ticket_draw(workspace_head *head)
{
    return atomicAdd(&head->ticket, 1ull);
}
__device__ __forceinline__ place ticket_place(workspace_head *head, unsigned long long drawn,
                                              int count)
{
    const place p = {(drawn >> TICKET_BITS) + 1, (int)(drawn & ((1ull << TICKET_BITS) - 1))};
    if (p.number == count - 1)
        head->ticket = p.epoch << TICKET_BITS;
    return p;
}
__device__ __forceinline__ place ticket_take(workspace_head *head, int count)
{
    return ticket_place(head, ticket_draw(head), count);
}

/* The epoch for a grid whose blocks are all resident, so that places need no tickets.  One thread
 * of a block calls; a block barrier follows, so that the epoch was read before anything is sent. At
 * the end one thread calls epoch_next, in a block that ends after all others have read the epoch.
 */
__device__ __forceinline__ unsigned long long epoch_look(const workspace_head *head)
{
    unsigned long long old;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(old) : "l"(&head->ticket) : "memory");
    return (old >> TICKET_BITS) + 1;
}
__device__ __forceinline__ void epoch_next(workspace_head *head, unsigned long long epoch)
{
    head->ticket = epoch << TICKET_BITS;
}

#endif
