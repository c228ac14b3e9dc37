/* test/solver/test_schedule.c: the cut of the tree into tasks, and places of blocks that live under
 * it
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include "solver/cpu/plan/plan.h"
#include <stdlib.h>
#include <string.h>

#define MOST 120

static memory m;

/* A postordered forest of supernodes with fronts of k pivots and m rows; no more of a partition is
 * read. */
typedef struct tree {
    partition part;
    int32_t above[MOST], first[MOST + 1];
    int64_t row_start[MOST + 1];
} tree;

static double work(int64_t k, int64_t rows)
{
    return (double)(k * rows * rows + 1000);
}

/* kind 0: random; 1: chain; 2: star; 3: roots only; 4: binary; 5: caterpillar.  size: rows of the
 * largest front. */
static tree *random_tree(random_stream *r, int32_t n, int kind, int32_t size)
{
    tree *t = calloc(1, sizeof *t);
    int32_t open[MOST], roots = 0;
    assert_non_null(t);
    for (int32_t s = 0; s < n; s++) {
        int32_t children = kind == 0   ? random_below(r, 4)
                           : kind == 1 ? 1
                           : kind == 2 ? (s == n - 1 ? n : 0)
                           : kind == 3 ? 0
                           : kind == 4 ? (roots > 1 && random_below(r, 2) ? 2 : 0)
                                       : (s % 2 == 0 && s > 0 ? 2 : 0);
        for (children = children < roots ? children : roots; children > 0; children--)
            t->above[open[--roots]] = s;
        t->above[s] = -1;
        open[roots++] = s;
        const int32_t k = 1 + random_below(r, size), rows = k + random_below(r, size);
        t->first[s + 1] = t->first[s] + k;
        t->row_start[s + 1] = t->row_start[s] + rows;
    }
    t->part = (partition){
        .supernodes = n, .above = t->above, .first = t->first, .row_start = t->row_start};
    return t;
}

static int is_ancestor(const tree *t, int32_t above, int32_t s)
{
    while (s >= 0 && s != above)
        s = t->above[s];
    return s == above;
}

/* Ranges and upper supernodes are all supernodes, each once; ranges consist of whole subtrees below
 * `above`. */
static void check_cut(const tree *t, const schedule *tasks)
{
    const int32_t n = t->part.supernodes;
    int32_t times[MOST] = {0}, pending[MOST] = {0};
    for (int32_t s = 0; s < n; s++) {
        times[s] += tasks->upper[s] != 0;
        if (tasks->upper[s] && t->above[s] >= 0) {
            assert_true(tasks->upper[t->above[s]]);
            pending[t->above[s]]++;
        }
    }
    for (int32_t r = 0; r < tasks->ranges; r++) {
        const task_range *range = &tasks->range[r];
        assert_true(range->first < range->last && range->last <= n);
        assert_true(r == 0 || tasks->range[r - 1].last <= range->first);
        assert_true(range->above < 0 || tasks->upper[range->above]);
        if (range->above >= 0)
            pending[range->above]++;
        for (int32_t s = range->first; s < range->last; s++) {
            times[s]++;
            const int32_t above = t->above[s];
            assert_true(above == range->above || (above > s && above < range->last));
        }
    }
    for (int32_t s = 0; s < n; s++) {
        assert_int_equal(times[s], 1);
        assert_int_equal(tasks->pending[s], pending[s]);
        assert_true(!tasks->upper[s] || pending[s] > 0); /* otherwise nothing would start it */
    }
}

/* Visits upper supernode s and what hangs below it, each after the one above it. */
static void descend(const tree *t, const schedule *tasks, int32_t s, int32_t *visits)
{
    assert_true(tasks->upper[s] && (t->above[s] < 0 || visits[t->above[s]] == 1));
    visits[s]++;
    for (int32_t child = 0; child < s; child++)
        if (t->above[child] == s && tasks->upper[child])
            descend(t, tasks, child, visits);
    for (int32_t r = tasks->below[s]; r >= 0; r = tasks->range[r].next) {
        assert_int_equal(tasks->range[r].above, s);
        for (int32_t k = tasks->range[r].first; k < tasks->range[r].last; k++)
            visits[k]++;
    }
}

/* Runs the tasks in a random order, as factorizations and forward substitution do, then from the
 * roots down, as back substitution does. */
static void simulate(random_stream *r, const tree *t, const schedule *tasks)
{
    const int32_t n = t->part.supernodes;
    int32_t order[MOST], pending[MOST], done = 0, finished[MOST];
    memcpy(pending, tasks->pending, sizeof(int32_t) * (size_t)n);
    for (int32_t s = 0; s < n; s++)
        finished[s] = -1;
    random_permutation(r, tasks->ranges, order);
    for (int32_t i = 0; i < tasks->ranges; i++) {
        const task_range *range = &tasks->range[order[i]];
        for (int32_t s = range->first; s < range->last; s++)
            finished[s] = done++;
        for (int32_t s = range->above; s >= 0 && --pending[s] == 0; s = t->above[s])
            finished[s] = done++;
    }
    assert_int_equal(done, n);
    for (int32_t s = 0; s < n; s++) {
        assert_in_range(finished[s], 0, n - 1);
        assert_true(t->above[s] < 0 || finished[s] < finished[t->above[s]]);
    }
    int32_t visits[MOST] = {0};
    for (int32_t s = 0; s < n; s++)
        if (tasks->upper[s] && t->above[s] < 0)
            descend(t, tasks, s, visits);
    for (int32_t i = 0; i < tasks->ranges; i++)
        for (int32_t s = tasks->range[i].first;
             tasks->range[i].above < 0 && s < tasks->range[i].last; s++)
            visits[s]++;
    for (int32_t s = 0; s < n; s++)
        assert_int_equal(visits[s], 1);
}

static void schedules_cover_every_supernode_once(void **state)
{
    (void)state;
    int cut = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = seed < 60 ? (int32_t)seed / 10 : random_below(&r, MOST + 1);
        tree *t = random_tree(&r, n, (int)(seed % 6), seed % 4 ? 300 : 10);
        const int threads = 1 + random_below(&r, 8);
        schedule tasks;
        assert_int_equal(schedule_build(&m, &t->part, work, 5e6, threads, &tasks), LIBSOLVER_OK);
        assert_in_range(tasks.threads, 1, threads);
        check_cut(t, &tasks);
        simulate(&r, t, &tasks);
        cut += tasks.ranges > 8;
        schedule_free(&m, &tasks);
        free(t);
    }
    assert_true(cut > 500);
}

static void small_problems_run_on_one_thread(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    tree *t = random_tree(&r, 50, 0, 5);
    schedule tasks;
    assert_int_equal(schedule_build(&m, &t->part, work, 5e6, 8, &tasks), LIBSOLVER_OK);
    assert_int_equal(tasks.threads, 1);
    schedule_free(&m, &tasks);
    free(t);
    t = random_tree(&r, 50, 1, 1000);
    assert_int_equal(schedule_build(&m, &t->part, work, 5e6, 8, &tasks), LIBSOLVER_OK);
    assert_int_equal(tasks.threads, 8);
    schedule_free(&m, &tasks);
    free(t);
}

/* Whether the blocks of s < t can be alive at the same time: a block lives from the start of its
 * own supernode's work to the end of the parent's, a root's for ever. */
static int may_meet(const tree *t, const int32_t *range_of, int32_t s, int32_t other)
{
    const int32_t above = t->above[s];
    if (is_ancestor(t, other, s))
        return above == other;
    /* side by side: in one range s goes before `other` and may be gone by then */
    const int in_sequence = range_of[s] >= 0 && range_of[s] == range_of[other];
    return !in_sequence || above < 0 || range_of[above] != range_of[s] || above >= other;
}

static void blocks_that_live_together_do_not_overlap(void **state)
{
    (void)state;
    int64_t met = 0, shared = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = seed < 60 ? (int32_t)seed / 10 : random_below(&r, MOST + 1);
        tree *t = random_tree(&r, n, (int)(seed % 6), seed % 4 ? 300 : 10);
        schedule tasks;
        assert_int_equal(schedule_build(&m, &t->part, work, 5e6, 1 + random_below(&r, 8), &tasks),
                         LIBSOLVER_OK);
        int64_t size[MOST], offset[MOST], total = -1, even = 0, odd = 0;
        int32_t range_of[MOST], depth[MOST];
        for (int32_t s = n - 1; s >= 0; s--) {
            size[s] = random_below(&r, 5) == 0 ? 0 : random_below(&r, 1000);
            range_of[s] = -1;
            depth[s] = t->above[s] < 0 ? 0 : depth[t->above[s]] + 1;
        }
        for (int32_t k = 0; k < tasks.ranges; k++)
            for (int32_t s = tasks.range[k].first; s < tasks.range[k].last; s++)
                range_of[s] = k;
        assert_int_equal(slots_plan(&m, &t->part, &tasks, size, offset, &total), LIBSOLVER_OK);
        for (int32_t s = 0; s < n; s++) {
            assert_true(offset[s] >= 0 && offset[s] + size[s] <= total);
            if (depth[s] % 2 == 0)
                even = offset[s] + size[s] > even ? offset[s] + size[s] : even;
        }
        for (int32_t s = 0; s < n; s++)
            if (depth[s] % 2 == 1) {
                assert_true(offset[s] >= even);
                odd = offset[s] + size[s] - even > odd ? offset[s] + size[s] - even : odd;
            }
        assert_int_equal(total, even + odd); /* no more than is used */
        for (int32_t s = 0; s < n; s++)
            for (int32_t other = s + 1; other < n; other++) {
                const int overlap = size[s] > 0 && size[other] > 0 &&
                                    offset[s] < offset[other] + size[other] &&
                                    offset[other] < offset[s] + size[s];
                const int meet = may_meet(t, range_of, s, other);
                if (meet && overlap)
                    fail_msg("seed %d: blocks of %d and %d, at %d + %d and %d + %d", (int)seed, s,
                             other, (int)offset[s], (int)size[s], (int)offset[other],
                             (int)size[other]);
                met += meet;
                shared += overlap;
            }
        schedule_free(&m, &tasks);
        free(t);
    }
    assert_true(met > 10000 && shared > 10000);
}

/* Least number of entries for a forest that is worked through in one sequence, in the words of
 * slots_plan. */
static void chains_stars_and_roots_take_the_least_space(void **state)
{
    (void)state;
    random_stream r = random_seeded(2);
    int64_t size[10], offset[10], total;
    schedule tasks;
    for (int32_t s = 0; s < 10; s++)
        size[s] = 10 * (s + 1);
    /* a chain: the largest of each arena; a star: all leaves and the root; roots: all of them */
    static const int64_t expected[] = {0, 100 + 90, 100 + 450, 550};
    for (int kind = 1; kind < 4; kind++) {
        tree *t = random_tree(&r, 10, kind, 3);
        assert_int_equal(schedule_build(&m, &t->part, work, 5e6, 1, &tasks), LIBSOLVER_OK);
        assert_int_equal(slots_plan(&m, &t->part, &tasks, size, offset, &total), LIBSOLVER_OK);
        assert_int_equal(total, expected[kind]);
        schedule_free(&m, &tasks);
        free(t);
    }
    /* two chains of 0 -> 1 -> 4 and 2 -> 3 -> 4: only 1's block stays while the second chain is
       worked through; even: the root's 50, then the leaves' 10 and 30; odd: 20 + 40 */
    tree two = {.above = {1, 4, 3, 4, -1},
                .first = {0, 1, 2, 3, 4, 5},
                .row_start = {0, 1, 2, 3, 4, 5}};
    two.part = (partition){
        .supernodes = 5, .above = two.above, .first = two.first, .row_start = two.row_start};
    assert_int_equal(schedule_build(&m, &two.part, work, 5e6, 1, &tasks), LIBSOLVER_OK);
    assert_int_equal(slots_plan(&m, &two.part, &tasks, size, offset, &total), LIBSOLVER_OK);
    assert_int_equal(total, 50 + 60);
    size[0] = 1000; /* which the second chain's leaf may use again */
    size[2] = 3000;
    assert_int_equal(slots_plan(&m, &two.part, &tasks, size, offset, &total), LIBSOLVER_OK);
    assert_int_equal(total, 3000 + 60);
    schedule_free(&m, &tasks);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    tree *t = random_tree(&r, 40, 0, 300);
    int64_t size[MOST], offset[MOST], total;
    for (int32_t s = 0; s < 40; s++)
        size[s] = 1;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t k = 0;
    for (; status != LIBSOLVER_OK; k++) {
        assert_in_range(k, 0, 100);
        rationed ration;
        schedule tasks;
        memory_rationed(&m, &ration, k);
        status = schedule_build(&m, &t->part, work, 5e6, 4, &tasks);
        if (status == LIBSOLVER_OK) {
            status = slots_plan(&m, &t->part, &tasks, size, offset, &total);
            schedule_free(&m, &tasks);
        }
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, 0);
    }
    assert_true(k > 6);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(schedules_cover_every_supernode_once, &m),
        unit_test_of_memory(small_problems_run_on_one_thread, &m),
        unit_test_of_memory(blocks_that_live_together_do_not_overlap, &m),
        unit_test_of_memory(chains_stars_and_roots_take_the_least_space, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
