/* test/support/on_host/turns.h: blocks that run one at a time, in an order of chance
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks that run freely are all about as fast.  Here they have priorities that chance gives them,
 * and of those that do not wait the first one runs, alone [Burckhardt, Kothari, Musuvathi,
 * Nagarakatte 2010].  So the last one is late by all that others can do without it.  By chance one
 * that tells others something becomes the last, and they see at once what it has told; or one that
 * begins to wait.
 *
 * A block waits when its threads have looked at what others tell again and again in vain, until
 * somebody tells something.  If all wait, all look once more. */
#ifndef TEST_SUPPORT_ON_HOST_TURNS_H
#define TEST_SUPPORT_ON_HOST_TURNS_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

class block_turns
{
  public:
    /* NULL unless LIBSOLVER_TEST_SCHEDULE names a seed: blocks run freely. */
    static std::unique_ptr<block_turns> if_wanted(int blocks);
    explicit block_turns(int blocks);

    /* Comes back when it is block b's turn; all else is called by the block that has it. */
    void begin(int b);
    void looked() { has_looked = true; }
    void told();
    void went_round(); /* each thread of the block has had a turn */
    void end();

  private:
    void choose();
    void hand_on();
    bool become_last(); /* by chance; whether it has */

    std::mutex alone;
    std::vector<std::condition_variable> called; /* by block */
    std::vector<bool> waits;
    std::vector<int> order; /* of those that are not done, by priority */
    int running;
    bool has_looked; /* in this round */
    int left;        /* of the turn */
    int in_vain = 0; /* how often all have waited since somebody told something */
    std::mt19937_64 random;
};

#endif
