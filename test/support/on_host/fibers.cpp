/* test/support/on_host/fibers.cpp: fibers, their turns and where they meet
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fibers.h"
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <thread>

thread_local fiber *this_thread;
thread_local thread_block *this_block;
static thread_local const std::function<void()> *this_body;

static constexpr size_t STACK_BYTES = 256 * 1024;

/* Puts what a call must keep on the stack, keeps that in *from, and goes on with `to`. (swapcontext
 * asks the kernel about signals each time: ten times as long.) */
extern "C" void switch_stacks(void **from, void *to);
asm(R"(
.text
.globl switch_stacks
.hidden switch_stacks
.type switch_stacks, @function
switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.section .note.GNU-stack,"",@progbits
.text
)");

void take_turns()
{
    switch_stacks(&this_thread->stack_pointer, this_block->host_pointer);
}

void meet_lanes()
{
    lanes &w = this_warp();
    const unsigned meeting = w.meeting;
    if (++w.arrived == 32) {
        w.arrived = 0;
        w.meeting++;
    }
    while (w.meeting == meeting)
        take_turns();
}

static void end_meeting(thread_block &b)
{
    b.arrived = 0;
    b.any[(b.meeting + 1) % 2] = 0;
    b.meeting++;
}

bool meet_threads(bool brought)
{
    thread_block &b = *this_block;
    const unsigned meeting = b.meeting;
    if (brought)
        b.any[meeting % 2] = 1;
    if (++b.arrived == b.alive)
        end_meeting(b);
    while (b.meeting == meeting)
        take_turns();
    return b.any[meeting % 2] != 0;
}

unsigned __ballot_sync(unsigned, int vote)
{
    lanes &w = this_warp();
    w.value[lane_number()][0] = vote != 0;
    meet_lanes();
    unsigned all = 0;
    for (int l = 0; l < 32; l++)
        all |= (unsigned)w.value[l][0] << l;
    meet_lanes();
    return all;
}

static void run_fiber()
{
    (*this_body)();
    thread_block &b = *this_block;
    this_thread->is_done = true;
    if (--b.alive > 0 && b.arrived == b.alive)
        end_meeting(b);
    take_turns();
    abort(); /* it has no turn any more */
}

/* A stack on which the first switch to a fiber finds what it would have put there. */
static void *first_stack(char *end)
{
    void **top = reinterpret_cast<void **>(end) - 8;
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(run_fiber);
    for (int k = 0; k < 6; k++)
        *--top = nullptr;
    return top;
}

static constexpr int TOGETHER = 64; /* a multiple of every cluster; blocks wait for earlier ones */

static void run_block(const block_shape &shape, int number, block_cluster *cluster,
                      block_turns *turns, uint64_t seed, const std::function<void()> &body)
{
    const int threads = shape.threads, width = (int)shape.blocks.x;
    thread_block b{};
    std::mt19937_64 random(seed * 1000003 + (uint64_t)number);
    b.place = dim3((unsigned)(number % width), (unsigned)number / shape.blocks.x % shape.blocks.y,
                   (unsigned)number / shape.blocks.x / shape.blocks.y);
    b.blocks = shape.blocks;
    b.threads = dim3((unsigned)threads);
    b.width = shape.cluster;
    b.rank = number % shape.cluster;
    b.cluster = cluster;
    b.turns = turns;
    b.alive = threads;
    b.thread.resize((size_t)threads);
    b.warp.resize((size_t)threads / 32);
    std::vector<unsigned char> shared((size_t)shape.shared_bytes + 1024, 0xff);
    b.shared_bytes = (size_t)shape.shared_bytes;
    b.shared = shared.data() + (1024 - reinterpret_cast<uintptr_t>(shared.data()) % 1024);
    const size_t bytes = STACK_BYTES * (size_t)threads;
    void *const stacks = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        abort();
    std::vector<fiber *> order;
    for (int t = 0; t < threads; t++) {
        fiber &f = b.thread[(size_t)t];
        f.place = dim3((unsigned)t, 0, 0);
        f.stack_pointer = first_stack(static_cast<char *>(stacks) + STACK_BYTES * (size_t)(t + 1));
        order.push_back(&f);
    }
    this_block = cluster->block[b.rank] = &b;
    this_body = &body;
    if (turns)
        turns->begin(number % TOGETHER);
    for (int turn = 0; b.alive > 0; turn++) {
        if (turn % 8 == 0)
            std::shuffle(order.begin(), order.end(), random);
        for (fiber *f : order)
            if (!f->is_done) {
                this_thread = f;
                switch_stacks(&b.host_pointer, f->stack_pointer);
            }
        if (turns)
            turns->went_round();
        else if (turn % 64 == 0)
            sched_yield(); /* other blocks may be what these wait for */
    }
    if (turns)
        turns->end();
    cluster->block[b.rank] = nullptr;
    munmap(stacks, bytes);
}

void run_blocks(block_shape shape, uint64_t seed, const std::function<void()> &body)
{
    const int blocks = (int)(shape.blocks.x * shape.blocks.y * shape.blocks.z);
    std::vector<block_cluster> cluster((size_t)(blocks / shape.cluster + 1));
    for (int first = 0; first < blocks; first += TOGETHER) {
        const int end = std::min(blocks, first + TOGETHER);
        const std::unique_ptr<block_turns> turns = block_turns::if_wanted(end - first);
        std::vector<std::thread> running;
        for (int b = first; b < end; b++)
            running.emplace_back(run_block, std::cref(shape), b, &cluster[b / shape.cluster],
                                 turns.get(), seed, std::cref(body));
        for (std::thread &t : running)
            t.join();
    }
}
