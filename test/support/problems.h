/* test/support/problems.h: patterns with known structure or random ones, and memory whose books
 * tests look at
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_PROBLEMS_H
#define TEST_SUPPORT_PROBLEMS_H

#include "ordering/ordering.h"
#include "random.h"

/* Each entry below the diagonal with the given probability. */
pattern problem_random(int32_t n, double density, random_stream *r);
/* x by y by z points, each joined to the nearest in each direction: 5 points in two dimensions (z =
 * 1), 7 in three. */
pattern problem_grid(int32_t x, int32_t y, int32_t z);
/* The same with one edge more, between vertices 1 and x: no lattice.  x, y > 1 */
pattern problem_grid_with_diagonal(int32_t x, int32_t y, int32_t z);
/* 0 - 1 - ... - n-1 */
pattern problem_path(int32_t n);
/* hub joined to all others */
pattern problem_star(int32_t n, int32_t hub);
/* Pairs of vertices, one of each joined to up to four of `hubs` vertices, which come last and are
 * joined to one another. */
pattern problem_wide(int32_t leaves, int32_t hubs, random_stream *r);
/* Vertex j > 0 joined to (j - 1) / 2. */
pattern problem_binary_tree(int32_t n);
pattern problem_diagonal(int32_t n);
pattern problem_complete(int32_t n);
/* Each vertex of b becomes `copies` vertices, joined to one another and to all copies of its
 * neighbours. */
pattern problem_blown_up(const pattern *b, int32_t copies);
/* The same with 1 to `most` copies of each. */
pattern problem_blown_up_unevenly(const pattern *b, int32_t most, random_stream *r);
void problem_free(pattern *a);

/* The patterns above with at most 64 rows that have special structure, n = 0, 1, 2 among them: 0 <=
 * i < KNOWN_PROBLEMS. */
#define KNOWN_PROBLEMS 12
pattern problem_known(int i);

/* Calls check(a, perm) for random patterns with at most 60 rows in random orders, a seed each; for
 * the known problems, in their own order and in reverse. */
typedef void order_check(const pattern *a, const int32_t *perm);
void for_random_orders(uint64_t seeds, order_check *check);
void for_known_orders(order_check *check);

/* Superadditive in k whatever the zeros: no merge ever pays. */
double never_pays(int64_t k, int64_t rows);

/* About what a front costs a processor: a call, its entries, its operations. */
double plausible_cost(int64_t k, int64_t rows);

/* l[i][j] is 1 where the factor of A(perm,perm) is not zero, otherwise 0, by eliminating one column
 * after the other.  For n <= DENSE_LARGEST. */
#define DENSE_LARGEST 64
void dense_elimination(const pattern *a, const int32_t *perm,
                       unsigned char l[DENSE_LARGEST][DENSE_LARGEST]);

/* Allocations succeed `left` times, then fail, whichever thread asks; once, if `once` is set. */
typedef struct rationed {
    _Atomic int64_t left;
    int once;
} rationed;
void memory_rationed(memory *m, rationed *r, int64_t left);

/* A test that begins with new books in the memory and must leave no block in it; prints the latest
 * seed. */
#define unit_test_of_memory(test, memory) \
    cmocka_unit_test_prestate_setup_teardown(test, fresh_memory, nothing_leaked, memory)
int fresh_memory(void **state);
int nothing_leaked(void **state);

#endif
