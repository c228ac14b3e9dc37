/* bench/dense/trace_svg.h: the picture of a traced triangular solve
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_DENSE_TRACE_SVG_H
#define BENCH_DENSE_TRACE_SVG_H

#include <stdint.h>

/* The words that dense/cuda/trsv/rows.cuh writes for a block row: ns, ascending. */
enum { TRACE_START, TRACE_DIAGONAL, TRACE_CAUGHT_UP, TRACE_LAST_X, TRACE_SENT, TRACE_WORDS = 8 };

typedef struct trace_facts {
    const char *form; /* of letters that need no escape */
    int64_t n;
    int rows; /* block rows, >= 1 */
} trace_facts;

#ifdef __cplusplus
extern "C" {
#endif

/* A bar for each block row of a solve, with a colour for each phase.  word: rows x TRACE_WORDS.  0,
 * or an exit code of the tool with a sentence on the standard error. */
int trace_svg_store(const char *path, const trace_facts *f, const uint64_t *word);

#ifdef __cplusplus
}
#endif
#endif
