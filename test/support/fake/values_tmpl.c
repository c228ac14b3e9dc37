/* test/support/fake/values_tmpl.c: sums of values that are given on the device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/scalar.h"
#include "emulators.h"

static void add_up(const value_sums *s, const scalar *given, int64_t p, scalar *sum,
                   value_flaws *flaws)
{
    const int32_t from = s->start ? s->start[p] : (int32_t)p,
                  to = s->start ? s->start[p + 1] : (int32_t)p + 1;
    scalar lower = 0, upper = 0;
    int mirrored = 0;
    for (int32_t q = from; q < to; q++) {
        const uint32_t source = s->start ? s->source[q] : (uint32_t)q << 1;
        if (source & 1)
            upper += given[source >> 1];
        else
            lower += scalar_mirror(given[source >> 1], s->conjugates);
        mirrored += (int)(source & 1);
    }
    *sum = lower;
    flaws->nonfinite |= !(scalar_finite(lower) && scalar_finite(upper));
    flaws->asymmetric |= mirrored > 0 && upper != scalar_mirror(lower, s->is_hermitian);
}

void NAME(emulate_sums)(const value_sums *s, const void *given, const void *shift, void *sum_,
                        value_flaws *flaws)
{
    scalar *sum = sum_;
    for (int64_t p = 0; p < s->entries && given; p++)
        add_up(s, given, p, sum + p, flaws);
    for (int32_t j = 0; j < s->n; j++) {
        const scalar entry = sum[s->diagonal[j]],
                     shifted = entry + (shift ? ((const scalar *)shift)[j] : 0);
        flaws->nonfinite |= !scalar_finite(shifted);
        flaws->asymmetric |= !(scalar_is_diagonal(entry, s->is_hermitian) &&
                               scalar_is_diagonal(shifted, s->is_hermitian));
    }
}

void NAME(emulate_shift)(const value_sums *s, const void *sum_, const void *shift, void *value_)
{
    const scalar *sum = sum_;
    scalar *value = value_;
    for (int64_t p = 0; p < s->entries; p++)
        value[p] = sum[p];
    for (int32_t j = 0; j < s->n && shift; j++)
        value[s->diagonal[j]] = sum[s->diagonal[j]] + ((const scalar *)shift)[j];
}
