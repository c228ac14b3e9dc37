/* dense/cpu/contribution.h: how a contribution block is stored
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_CONTRIBUTION_H
#define DENSE_CPU_CONTRIBUTION_H

#include <stdint.h>

/* A contribution block of order r is kept in block columns of CB_BLOCK columns; a block column
 * holds its rows from its own diagonal block down, by columns:
 *
 *      +--+               block column b: (r - b CB_BLOCK) rows, up to CB_BLOCK columns;
 *      |  |--+            inside its diagonal block the upper triangle is undefined.
 *      |  |  |--+
 *      +--+--+--+
 */
#define CB_BLOCK 128

/* Entries of the contribution block of order r. */
static inline int64_t cb_entries(int64_t r)
{
    const int64_t full = r / CB_BLOCK, rest = r % CB_BLOCK;
    return CB_BLOCK * (full * r - CB_BLOCK * (full * (full - 1) / 2)) + rest * rest;
}

/* Leading dimension of the block column of column j. */
static inline int cb_ld(int r, int j)
{
    return r - j / CB_BLOCK * CB_BLOCK;
}

/* Offset such that entry (i, j), i >= j, lies at cb_column(r, j) + i. */
static inline int64_t cb_column(int r, int j)
{
    const int64_t b = j / CB_BLOCK, top = b * CB_BLOCK;
    return CB_BLOCK * (b * r - CB_BLOCK * (b * (b - 1) / 2)) + (j - top) * (r - top) - top;
}

#endif
