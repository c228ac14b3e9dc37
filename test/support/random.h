/* test/support/random.h: the same random numbers from the same seed on every machine
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_RANDOM_H
#define TEST_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct random_stream {
    uint64_t state;
} random_stream;

random_stream random_seeded(uint64_t seed);
uint64_t random_next(random_stream *r);
int32_t random_below(random_stream *r, int32_t bound); /* 0 .. bound - 1 */
double random_real(random_stream *r);                  /* uniform in [-1, 1) */
/* A random permutation of 0 .. n-1. */
void random_permutation(random_stream *r, int32_t n, int32_t *perm);

/* Teardown of a test: prints the latest seed, the one that failed if the test did. */
int print_last_seed(void **state);

#endif
