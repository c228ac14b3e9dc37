/* test/support/random.c: the same random numbers from the same seed on every machine
 * SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"
#include <inttypes.h>
#include <stdio.h>

static uint64_t last_seed;

random_stream random_seeded(uint64_t seed)
{
    last_seed = seed;
    return (random_stream){seed};
}

int print_last_seed(void **state)
{
    (void)state;
    printf("last seed %" PRIu64 "\n", last_seed);
    return 0;
}

uint64_t random_next(random_stream *r)
{
    uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

int32_t random_below(random_stream *r, int32_t bound)
{
    return (int32_t)(random_next(r) % (uint64_t)bound);
}

double random_real(random_stream *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-52 - 1;
}

void random_permutation(random_stream *r, int32_t n, int32_t *perm)
{
    for (int32_t k = 0; k < n; k++) {
        const int32_t other = random_below(r, k + 1);
        perm[k] = perm[other];
        perm[other] = k;
    }
}
