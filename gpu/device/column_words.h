/* gpu/device/column_words.h: the words by which a factorization says that columns of L are there
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Whoever reads L while it is made waits for them; who makes it says which they are. */
#ifndef GPU_DEVICE_COLUMN_WORDS_H
#define GPU_DEVICE_COLUMN_WORDS_H

#include <stdint.h>

/* A column is there when word `first` is at least `least`, and the `count - 1` behind it at least
 * `least - 1`. */
typedef struct column_words {
    int32_t first, count;
    uint32_t least;
} column_words;

/* The words of a column of a node: of(user, node, column); the one that is 1 when all are there.
 * made_by: what factorizations are alike by, for comparison alone. */
typedef struct column_progress {
    column_words (*of)(const void *user, int32_t node, int32_t column);
    const void *user, *made_by;
    int32_t all;
} column_progress;

#endif
