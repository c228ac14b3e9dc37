/* base/meter.h: what part of a long work is done, counted by all its threads, told as it grows
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_METER_H
#define BASE_METER_H

#include "base/environment.h"
#include <stdatomic.h>

typedef struct meter {
    const environment *env; /* NULL: nobody listens */
    int phase;
    double whole;         /* work foreseen */
    _Atomic int64_t done; /* so far */
    _Atomic int told;     /* percent of the whole, at most 99 */
    atomic_flag telling;  /* held by the thread that calls the caller */
} meter;

/* A new work, of which nothing is done.  No thread may be counting. */
void meter_begin(meter *m, const environment *env, int phase, double whole);
/* So much more is done.  From several threads; the caller is told by one at a time, after each
 * further percent. */
void meter_add(meter *m, double work);

#endif
