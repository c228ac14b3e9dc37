/* test/support/on_host/fibers.cpp: fibers, their turns and where they meet
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fibers.h"
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <thread>

__thread fiber *this_thread;
__thread thread_block *this_block;
static __thread const std::function<void()> *this_body;

/* A few cache lines beyond a power of two: stacks that lie in the same sets of a cache would push
 * one another out at every switch. */
static constexpr size_t STACK_BYTES = 256 * 1024 + 5 * 64;

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

static const unsigned NO_COUNTER = 0;

static bool may_go_on(const fiber &f)
{
    return *f.held_by != f.held_at;
}
static void let_go_on(fiber &f)
{
    f.held_by = &NO_COUNTER;
    f.held_at = NO_COUNTER + 1;
}

/* All have had a turn, or wait for what only the others do. */
static void begin_round(thread_block &b)
{
    if (b.round++ > 0) {
        if (b.turns)
            b.turns->went_round();
        else if (b.round % 64 == 0)
            sched_yield(); /* other blocks may be what these wait for */
    }
    if (b.round % 8 == 1)
        std::shuffle(b.order.begin(), b.order.end(), b.random);
    b.next = 0;
}

static fiber &whose_turn(thread_block &b)
{
    for (;;) {
        if (b.next == b.order.size())
            begin_round(b);
        fiber &f = *b.order[b.next++];
        if (may_go_on(f))
            return f;
    }
}

void take_turns()
{
    fiber &own = *this_thread, &other = whose_turn(*this_block);
    if (&own == &other)
        return;
    this_thread = &other;
    switch_stacks(&own.stack_pointer, other.stack_pointer);
}

void wait_for_change(const unsigned &counter, unsigned seen)
{
    fiber &own = *this_thread;
    own.held_by = &counter;
    own.held_at = seen;
    take_turns();
    let_go_on(own);
}

void meet_lanes()
{
    lanes &w = this_warp();
    const unsigned meeting = w.meeting;
    if (++w.arrived == 32) {
        w.arrived = 0;
        w.meeting++;
    } else {
        wait_for_change(w.meeting, meeting);
    }
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
    else
        wait_for_change(b.meeting, meeting);
    return b.any[meeting % 2] != 0;
}

unsigned __ballot_sync(unsigned, int vote)
{
    const brought_by_lanes &all = meet_lanes_with((char)(vote != 0));
    unsigned votes = 0;
    for (int l = 0; l < 32; l++)
        votes |= (unsigned)all[l][0] << l;
    return votes;
}

static void run_fiber()
{
    (*this_body)();
    thread_block &b = *this_block;
    if (--b.alive > 0 && b.arrived == b.alive)
        end_meeting(b);
    fiber &own = *this_thread;
    own.held_by = &NO_COUNTER;
    own.held_at = NO_COUNTER; /* for ever */
    if (b.alive == 0)
        switch_stacks(&own.stack_pointer, b.host_pointer);
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

/* Stacks of 32 fibers, which later blocks use again: the kernel takes long to find fresh pages. */
static std::mutex stacks_alone;
static std::vector<char *> stacks_left;

static char *take_stacks()
{
    {
        std::lock_guard<std::mutex> alone(stacks_alone);
        if (!stacks_left.empty()) {
            char *const own = stacks_left.back();
            stacks_left.pop_back();
            return own;
        }
    }
    void *const fresh = mmap(nullptr, 32 * STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        abort();
    return static_cast<char *>(fresh);
}
static void give_back(char *stacks)
{
    std::lock_guard<std::mutex> alone(stacks_alone);
    stacks_left.push_back(stacks);
}

static constexpr int TOGETHER = 64; /* a multiple of every cluster; blocks wait for earlier ones */

static void run_block(const block_shape &shape, int number, block_cluster *cluster,
                      block_turns *turns, uint64_t seed, const std::function<void()> &body)
{
    const int threads = shape.threads, width = (int)shape.blocks.x;
    thread_block b{};
    b.random.seed(seed * 1000003 + (uint64_t)number);
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
    std::vector<char *> stacks(b.warp.size());
    for (char *&of_warp : stacks)
        of_warp = take_stacks();
    for (int t = 0; t < threads; t++) {
        fiber &f = b.thread[(size_t)t];
        f.place = dim3((unsigned)t, 0, 0);
        f.stack_pointer = first_stack(stacks[(size_t)t / 32] + STACK_BYTES * (size_t)(t % 32 + 1));
        let_go_on(f);
        b.order.push_back(&f);
    }
    this_block = cluster->block[b.rank] = &b;
    this_body = &body;
    if (turns)
        turns->begin(number % TOGETHER);
    begin_round(b);
    this_thread = &whose_turn(b);
    switch_stacks(&b.host_pointer, this_thread->stack_pointer); /* until all are done */
    if (turns)
        turns->end();
    cluster->block[b.rank] = nullptr;
    for (char *of_warp : stacks)
        give_back(of_warp);
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
