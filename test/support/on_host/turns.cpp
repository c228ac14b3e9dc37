/* test/support/on_host/turns.cpp: whose turn it is, and when it ends
 * SPDX-License-Identifier: BSD-3-Clause */
#include "turns.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

/* A turn is so many rounds, each with a look counting for LOOK of them, from when something was
 * told: a block that only waits ends it after 16, one that looks nowhere is about to be done. */
static constexpr int LOOK = 4096, TURN = 16 * LOOK;
/* Once in so many times that a block tells something, or ends its turn, it becomes the last. */
static constexpr int SELDOM = 16;
/* So often all may wait before they are said to wait for ever. */
static constexpr int PATIENCE = 1000;

static const char *schedule()
{
    return getenv("LIBSOLVER_TEST_SCHEDULE");
}

std::unique_ptr<block_turns> block_turns::if_wanted(int blocks)
{
    return schedule() ? std::make_unique<block_turns>(blocks) : nullptr;
}

/* Each launch has an order of its own. */
block_turns::block_turns(int blocks) : called((size_t)blocks), waits((size_t)blocks)
{
    static std::atomic<uint64_t> launches;
    random.seed(strtoull(schedule(), nullptr, 10) * 1000003 + launches++);
    for (int b = 0; b < blocks; b++)
        order.push_back(b);
    std::shuffle(order.begin(), order.end(), random);
    choose();
}

void block_turns::begin(int b)
{
    std::unique_lock<std::mutex> lock(alone);
    called[(size_t)b].wait(lock, [&] { return running == b; });
}

void block_turns::choose()
{
    auto first = std::find_if(order.begin(), order.end(), [&](int b) { return !waits[(size_t)b]; });
    if (first == order.end()) {
        if (in_vain++ == PATIENCE) {
            fprintf(stderr, "all blocks wait, with LIBSOLVER_TEST_SCHEDULE=%s\n", schedule());
            abort();
        }
        waits.assign(waits.size(), false);
        first = order.begin();
    }
    running = *first;
    has_looked = false;
    left = TURN;
    called[(size_t)running].notify_one();
}

void block_turns::hand_on()
{
    std::unique_lock<std::mutex> lock(alone);
    const int b = running;
    choose();
    called[(size_t)b].wait(lock, [&] { return running == b; });
}

bool block_turns::become_last()
{
    if (random() % SELDOM)
        return false;
    const auto own = std::find(order.begin(), order.end(), running);
    std::rotate(own, own + 1, order.end());
    return true;
}

void block_turns::went_round()
{
    left -= has_looked ? LOOK : 1;
    has_looked = false;
    if (left <= 0) {
        waits[(size_t)running] = true;
        become_last();
        hand_on();
    }
}

void block_turns::told()
{
    left = TURN;
    in_vain = 0;
    waits.assign(waits.size(), false);
    if (become_last())
        hand_on();
}

void block_turns::end()
{
    std::unique_lock<std::mutex> lock(alone);
    in_vain = 0;
    waits.assign(waits.size(), false);
    order.erase(std::find(order.begin(), order.end(), running));
    if (!order.empty())
        choose();
}
