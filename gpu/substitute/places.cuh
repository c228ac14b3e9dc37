/* gpu/substitute/places.cuh: host side: the arrays of a plan in a device's memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_PLACES_CUH
#define GPU_SUBSTITUTE_PLACES_CUH

#include "gpu/device/device.cuh"
#include "gpu/substitute/device_substitution.h"

/* A plan's arrays, copied or only placed, and its counts. */
static inline void device_substitution_put(uploader *u, const substitution *plan,
                                           device_substitution *to)
{
    device_substitution_counts(to, plan);
    to->node = u->put(plan->node, plan->nodes);
    to->row = u->put(plan->row, plan->rows);
    to->source_start = u->put(plan->source_start, plan->sources + 1);
    to->source = u->put(plan->source, plan->source_start[plan->sources]);
    to->table = u->put(plan->table, plan->table_words);
    to->copy = u->put(plan->copy, plan->copies);
    to->block = u->put(plan->block, plan->blocks);
    to->task = u->put(plan->task, plan->tasks);
}

#endif
