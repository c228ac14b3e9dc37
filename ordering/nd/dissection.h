/* ordering/nd/dissection.h: what all parts of one nested dissection share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORDERING_ND_DISSECTION_H
#define ORDERING_ND_DISSECTION_H

#include "ordering/nd/nd.h"
#include <stdatomic.h>

typedef struct dissection {
    environment *env;
    const graph *g;
    int32_t *perm;
    int32_t *local;        /* g->n: of a vertex in a leaf its number there, otherwise -1 */
    int32_t leaf;          /* parts of at most this many vertices are not dissected, ... */
    int32_t task;          /* parts of more are tasks of their own */
    const nd_watch *watch; /* ... unless they are thin */
    atomic_int status;
} dissection;

/* 0 for lack of memory. */
int nd_with_halo(arena *scratch, const dissection *d, const int32_t *vertex, int32_t own,
                 weighted_graph *g);

#endif
