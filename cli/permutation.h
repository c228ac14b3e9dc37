/* cli/permutation.h: an order of elimination from a file
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PERMUTATION_H
#define CLI_PERMUTATION_H

#include "failure.h"
#include <stdint.h>

/* The file (plain or .gz) holds the rows 1..n, one a line, in the order in which they are to be
 * eliminated; blank lines and lines that begin with % are skipped.  *permutation: 0-based, length
 * n; the caller frees it.
 */
int permutation_read(const char *path, int32_t n, int64_t **permutation, failure *f);

#endif
