/* gpu/refine/refine_state.h: where each column of a refinement stands, and how its error is
 * measured: for the host and a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_REFINE_REFINE_STATE_H
#define GPU_REFINE_REFINE_STATE_H

#include <float.h>
#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
#define REFINE_INLINE static __host__ __device__ __forceinline__
#else
#define REFINE_INLINE static inline
#endif

enum { REFINE_COLUMNS = 32 }; /* most that are refined together: a warp decides on them */

typedef struct refined_column {
    double error, initial; /* backward error of the best x so far, and of the first */
    int32_t done;          /* good enough, stagnated, or not finite */
    int32_t worse; /* the last step, by which it is done, did not reduce the error: the best x is
                      the one before */
} refined_column;

typedef struct refine_state {
    int32_t open;    /* columns that are not done */
    int32_t worse;   /* columns that are worse */
    uint32_t failed; /* not 0: a solve gave up waiting */
    int32_t reserved;
    refined_column column[REFINE_COLUMNS];
} refine_state;

/* After a step, or first: a solution has this backward error, which is no NaN.  A step is the last
 * of its column when it has not reduced the error to least_progress of it. */
REFINE_INLINE void refined_column_decide(refined_column *c, double error, int first,
                                         double tolerance, double least_progress)
{
    if (first) {
        c->error = c->initial = error;
        c->worse = 0;
        c->done = error <= tolerance || !(error <= DBL_MAX);
        return;
    }
    if (c->done)
        return;
    const double before = c->error;
    c->worse = !(error < before);
    if (!c->worse)
        c->error = error;
    c->done = error <= tolerance || !(error <= least_progress * before);
}

/* What the residual r of one row adds to the backward error of its column, as its magnitude over
 * what it is measured against; see solver/cpu/solve/refine_tmpl.c.  r = |b - A x|_i, b = |b_i|,
 * bound = (|A||x| + |b|)_i, row = |A|_i max |x|, all of them times the same; threshold: 1000 n eps.
 * *small: which of the two maxima.  Infinite if something is not finite. */
REFINE_INLINE double refine_error_of_sums(double r, double b, double bound, double row,
                                          double threshold, int *small)
{
    *small = !(bound > threshold * (row + b));
    const double measure = *small ? bound - b + row : bound;
    if (!(r <= DBL_MAX && measure <= DBL_MAX))
        return INFINITY;
    return r > 0 ? r / measure : 0;
}

/* The same with row = row_sum norm, norm = max |x|, which may be beyond the range. */
REFINE_INLINE double refine_row_error(double r, double b, double bound, double row_sum, double norm,
                                      double threshold, int *small)
{
    double row = row_sum * norm, factor = 1;
    if (!(row <= DBL_MAX) && row_sum <= DBL_MAX && norm <= DBL_MAX)
        factor = 0x1p-550; /* the product alone is beyond the range: it is measured by multiples
                              that are not */
    else if (row < DBL_MIN && row_sum > 0 && norm > 0 && bound < 0x1p400)
        factor = 0x1p300;
    if (factor != 1) {
        row = (row_sum * factor) * (norm * factor);
        r = r * factor * factor;
        b = b * factor * factor;
        bound = bound * factor * factor;
    }
    return refine_error_of_sums(r, b, bound, row, threshold, small);
}

/* Whether a row's sums in double precision may have lost what counts to underflow, or overflowed,
 * though all that is summed is finite.  What is lost in tiny products counts only if |A|_i max |x|,
 * which they are measured against, is tiny too. */
REFINE_INLINE int refine_row_is_extreme(double b, double bound, double row_sum, double norm)
{
    if (!(row_sum <= DBL_MAX && norm <= DBL_MAX && b <= DBL_MAX))
        return 0;
    return !(bound <= 0x1p1000) ||
           (bound < 0x1p-900 && norm > 0 && row_sum > 0 && row_sum * norm < 0x1p-840);
}

#endif
