/* test/support/exact_row_error.h: what a row adds to a backward error, in long double
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_EXACT_ROW_ERROR_H
#define TEST_SUPPORT_EXACT_ROW_ERROR_H

#include <complex.h>
#include <math.h>

/* |a| of any scalar */
static inline long double size_of(long double _Complex a)
{
    return cabsl(a);
}

/* As refine_row_error of gpu/refine/refine_state.h, where no sum or product leaves the range;
 * row: |A|_i max |x|. */
static inline double exact_row_error(long double r, long double b, long double bound,
                                     long double row, double threshold, int *is_small)
{
    *is_small = !(bound > threshold * (row + b));
    const long double measure = *is_small ? bound - b + row : bound;
    if (!(isfinite(r) && isfinite(measure)))
        return INFINITY;
    return r > 0 ? (double)(r / measure) : 0;
}

#endif
