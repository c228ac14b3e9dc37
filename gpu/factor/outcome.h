/* gpu/factor/outcome.h: what came of a factorization on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_OUTCOME_H
#define GPU_FACTOR_OUTCOME_H

#include <stdint.h>

/* The pivot of a row is compared with the entry of the diagonal from which it started, both of the
 * scaled matrix.  With signs given, L D L^T: it is compared with what was assembled into its row (g
 * in dense/cpu/ldlt.h), `failed` is the first row whose pivot has the other sign or is at most 8
 * eps times that, and nonpositive n. */
typedef struct cholesky_outcome {
    int32_t failed;      /* first row of P A P^T whose pivot is at most 16 eps times that, not a
                            normal number, or NaN; n: none.  All of L is undefined then */
    int32_t nonpositive; /* first row of P A P^T whose diagonal entry is not positive; n: none */
    int32_t uncertain;   /* pivots at most doubt_level times that */
    int32_t is_equilibrated; /* also where that was not asked for, as entries are near the ends of
                                the range of numbers */
    double smallest;         /* least pivot */
} cholesky_outcome;

#endif
