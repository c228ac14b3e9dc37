/* dense/cpu/lanes.h: several entries of a column at a time, as wide as the instruction set has
 * registers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For kernels that are compiled once for each instruction set (-DSET_x).  Complex types have one
 * lane: an entry. */
#ifndef DENSE_CPU_LANES_H
#define DENSE_CPU_LANES_H

#include "dense/cpu/sets.h"
#include <string.h>

#if SCALAR_COMPLEX
#define LANES 1
typedef scalar lanes;
typedef real real_lanes;
#else
#if defined(SET_avx2)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif
#define LANES (LANE_BYTES / (int)sizeof(scalar))
typedef scalar lanes __attribute__((vector_size(LANE_BYTES)));
typedef lanes real_lanes;
#endif

/* Lanes from p(0 .. LANES), aligned or not. */
static inline lanes lanes_load(const scalar *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void lanes_store(scalar *p, lanes v)
{
    memcpy(p, &v, sizeof v);
}

static inline real_lanes lanes_load_real(const real *p)
{
    real_lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void lanes_store_real(real *p, real_lanes v)
{
    memcpy(p, &v, sizeof v);
}

#if SCALAR_COMPLEX
static inline lanes lanes_last(int count, lanes v, lanes others)
{
    return count > 0 ? v : others;
}
static inline real_lanes lanes_abs(lanes v)
{
    return scalar_abs(v);
}
static inline real_lanes lanes_max(real_lanes a, real_lanes b)
{
    return a > b ? a : b;
}
static inline real lanes_largest(real_lanes v)
{
    return v;
}
#else
#if defined(PREC_d)
typedef int64_t lane_bits __attribute__((vector_size(LANE_BYTES)));
#define LANE_SIGN INT64_MIN
#else
typedef int32_t lane_bits __attribute__((vector_size(LANE_BYTES)));
#define LANE_SIGN INT32_MIN
#endif
/* The last `count` lanes of v, the first of `others`. */
static inline lanes lanes_last(int count, lanes v, lanes others)
{
    lane_bits number;
    for (int i = 0; i < LANES; i++)
        number[i] = i;
    const lane_bits wanted = number >= LANES - count;
    return (lanes)(((lane_bits)v & wanted) | ((lane_bits)others & ~wanted));
}
static inline real_lanes lanes_abs(lanes v)
{
    return (lanes)((lane_bits)v & ~(LANE_SIGN - (lane_bits){0}));
}
/* b where neither is larger */
static inline real_lanes lanes_max(real_lanes a, real_lanes b)
{
    const lane_bits larger = (lane_bits)(a > b);
    return (lanes)(((lane_bits)a & larger) | ((lane_bits)b & ~larger));
}
static inline real lanes_largest(real_lanes v)
{
    real each[LANES], most;
    memcpy(each, &v, sizeof v);
    most = each[0];
    for (int i = 1; i < LANES; i++)
        most = each[i] > most ? each[i] : most;
    return most;
}
#endif

#endif
