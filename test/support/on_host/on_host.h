/* test/support/on_host/on_host.h: solves by the device code of gpu/substitute on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_ON_HOST_ON_HOST_H
#define TEST_SUPPORT_ON_HOST_ON_HOST_H

#include "gpu/substitute/device_substitution.h"

#ifdef __cplusplus
extern "C" {
#endif

/* b, x: n x columns by columns, by rows of A.  several: by the kernel for several right-hand sides.
 * items: by that of a batch, each column with a factor of its own, whose inverses are not refused.
 * blocks: of threads.  refuse: the inverse of every so many-th diagonal block is marked as of no
 * use, 0: none is.  spoil: the others are made wrong in their last digits, and marked as to be
 * refined.  Diagonal blocks of the plan's factor, which is the caller's and is written to,
 * are inverted, and it is solved with `launches` times on one workspace. */
typedef struct on_host_solve {
    libsolver_type type;
    const device_substitution *plan;
    const int32_t *user_row;
    const void *scale, *b;
    void *x;
    int32_t n, columns, several, items, blocks, launches, refuse, spoil;
    uint64_t seed;
} on_host_solve;

/* NULL, or what is wrong (a static string). */
const char *on_host_substitute(const on_host_solve *s);

#ifdef __cplusplus
}
#endif

#endif
