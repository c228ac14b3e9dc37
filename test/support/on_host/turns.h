/* test/support/on_host/turns.h: blocks that run one at a time, in random order
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks that run freely are all about equally fast.  Here each has a random priority, and only the
 * first block that does not wait runs [Burckhardt, Kothari, Musuvathi, Nagarakatte 2010], so the
 * last one is late by all that the others can do without it.  A block that tells the others
 * something, or begins to wait, sometimes becomes the last: they see at once what it has told.
 *
 * A block waits once its threads have looked again and again, in vain, at what others tell, until
 * some block tells something.  If all wait, all look once more. */
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
    bool become_last(); /* at random; whether it has */

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
