/* dense/cuda/device/grid.cuh: results handed from block to block through global memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A result travels in a packet of 16 bytes, {value, epoch}, written and read by one 128-bit access
 * each.  The PTX memory model makes a .b128 access with a scope single-copy atomic, so a reader
 * sees both halves of one store: the epoch is the flag, the value needs no fence, and relaxed
 * accesses suffice because nothing else is passed along. Any value may travel, NaNs of any pattern
 * too.  Every solve has an epoch of its own, one more than the last, so what a solve leaves behind
 * is never taken for a result of a later one and nothing is cleared in between.
 *
 * Blocks take their place by a ticket, in the order in which they start, and wait only for blocks
 * with a smaller one: whatever part of a grid is resident, its lowest unfinished block waits for
 * nothing that is not finished. */
#ifndef DENSE_CUDA_DEVICE_GRID_CUH
#define DENSE_CUDA_DEVICE_GRID_CUH

#include "dense/cuda/device/scalar.cuh"

struct alignas(16) packet {
    unsigned long long value, epoch;
};

/* The head of a workspace; the packets follow.  ticket: epoch of the last solve << TICKET_BITS |
 * tickets taken. */
struct alignas(128) workspace_head {
    unsigned long long ticket;
};
/* 2^28 blocks of 64 rows are more than an int counts; 36 bits of epoch last 39 hours at 2 us a
 * solve before one comes again, and it then matters only to a packet that was not written in all
 * that time. */
constexpr int TICKET_BITS = 28;

__device__ __forceinline__ packet packet_load(const packet *p)
{
    packet v;
    asm volatile("{ .reg .b128 q;\n ld.relaxed.gpu.global.b128 q, [%2];\n mov.b128 {%0, %1}, q; }"
                 : "=l"(v.value), "=l"(v.epoch)
                 : "l"(p)
                 : "memory");
    return v;
}

/* The same if it is wanted, otherwise zeros, without a branch: loads in branches of their own come
 * one after the other. */
__device__ __forceinline__ packet packet_load_if(bool wanted, const packet *p)
{
    packet v;
    asm volatile("{ .reg .pred w;\n .reg .b128 q;\n .reg .b64 z;\n setp.ne.s32 w, %3, 0;\n mov.b64 "
                 "z, 0;\n mov.b128 q, {z, z};\n"
                 " @w ld.relaxed.gpu.global.b128 q, [%2];\n mov.b128 {%0, %1}, q; }"
                 : "=l"(v.value), "=l"(v.epoch)
                 : "l"(p), "r"((int)wanted)
                 : "memory");
    return v;
}

__device__ __forceinline__ void packet_store(packet *p, packet v)
{
    asm volatile(
        "{ .reg .b128 q;\n mov.b128 q, {%1, %2};\n st.relaxed.gpu.global.b128 [%0], q; }" ::"l"(p),
        "l"(v.value), "l"(v.epoch)
        : "memory");
}

/* Packets for one entry: one, or two for the 16 bytes of a complex double. */
template <typename T> struct letter {
    static constexpr int COUNT = sizeof(T) > 8 ? 2 : 1;
    packet part[COUNT];
};

template <typename T> __device__ __forceinline__ letter<T> letter_load(const packet *box, int i)
{
    letter<T> l;
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        l.part[k] = packet_load(box + (int64_t)i * letter<T>::COUNT + k);
    return l;
}

/* The same if it is wanted, otherwise of no epoch. */
template <typename T>
__device__ __forceinline__ letter<T> letter_load_if(bool wanted, const packet *box, int i)
{
    letter<T> l;
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        l.part[k] = packet_load_if(wanted, box + (int64_t)i * letter<T>::COUNT + k);
    return l;
}

/* Whether the entry was written in this epoch: to wait without its value. */
template <typename T>
__device__ __forceinline__ bool letter_has_come(const packet *box, int i, unsigned long long epoch)
{
    unsigned long long seen;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(seen)
                 : "l"(&box[(int64_t)i * letter<T>::COUNT].epoch)
                 : "memory");
    return seen == epoch;
}

template <typename T>
__device__ __forceinline__ void letter_send(packet *box, int i, T v, unsigned long long epoch)
{
    unsigned long long word[letter<T>::COUNT] = {};
    memcpy(word, &v, sizeof v);
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        packet_store(box + (int64_t)i * letter<T>::COUNT + k, {word[k], epoch});
}

template <typename T>
__device__ __forceinline__ bool letter_is_of(const letter<T> &l, unsigned long long epoch)
{
    bool all = true;
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        all = all && l.part[k].epoch == epoch;
    return all;
}

template <typename T> __device__ __forceinline__ T letter_value(const letter<T> &l)
{
    unsigned long long word[letter<T>::COUNT];
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++)
        word[k] = l.part[k].value;
    T v;
    memcpy(&v, word, sizeof v);
    return v;
}

/* The value of entry i, read again until it is there.  `early` may have been loaded at any time
 * before.  (Readers that are far from needing it gain nothing by sleeping between looks, and
 * transposed solves lose a quarter.) */
template <typename T>
__device__ __forceinline__ T letter_wait(letter<T> early, const packet *box, int i,
                                         unsigned long long epoch)
{
    unsigned long long word[letter<T>::COUNT];
#pragma unroll
    for (int k = 0; k < letter<T>::COUNT; k++) {
        while (early.part[k].epoch != epoch)
            early.part[k] = packet_load(box + (int64_t)i * letter<T>::COUNT + k);
        word[k] = early.part[k].value;
    }
    T v;
    memcpy(&v, word, sizeof v);
    return v;
}

struct alignas(16) place {
    unsigned long long epoch;
    int number;
};

/* One thread of each of `count` takers draws once in a launch and, whenever it wants to, looks what
 * place it has.  The last one starts the next epoch: all others have drawn theirs, and the next
 * solve on this workspace comes after this kernel in stream order. */
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

/* The same without a ticket, for a grid whose blocks are all resident, with a place known
 * beforehand: only the epoch is looked up.  One thread of a block; a block barrier then, so that it
 * was read before anything is sent.  At the end one thread calls epoch_next, of a block that ends
 * when all others have read. */
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
