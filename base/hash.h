/* base/hash.h: numbers that look random and are the same in every run: splitmix64
 * [Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014]
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/* From one state of the sequence to the next. */
#define HASH64_STEP UINT64_C(0x9e3779b97f4a7c15)

/* One to one; every bit of x affects every bit of the result. */
static inline uint64_t hash64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Number i = 0, 1, ... of the sequence that begins at 0. */
static inline uint64_t hash64_number(uint64_t i)
{
    return hash64((i + 1) * HASH64_STEP);
}

#endif
