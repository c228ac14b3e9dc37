/* cli/chosen_residual.c: b - A x, summed in a precision of choice
 * SPDX-License-Identifier: BSD-3-Clause */
#include "chosen_residual.h"
#include "room.h"

/* Products and sums of two numbers of that precision are exact in long double, or, of two doubles,
 * rounded twice at most, which makes no difference to what is seen here. */
static long double rounded(residual_precision to, long double value)
{
    return to == RESIDUAL_SINGLE ? (float)value : to == RESIDUAL_DOUBLE ? (double)value : value;
}

/* sum -= value x; of complex numbers, where the imaginary part of value is `imaginary` */
static void subtract(residual_precision in, int width, const double *value, double imaginary,
                     const double *x, long double *sum)
{
    const long double re = value[0], im = imaginary;
    sum[0] = rounded(in, sum[0] - rounded(in, re * x[0]));
    if (width == 1)
        return;
    sum[0] = rounded(in, sum[0] + rounded(in, im * x[1]));
    sum[1] = rounded(in, sum[1] - rounded(in, re * x[1]));
    sum[1] = rounded(in, sum[1] - rounded(in, im * x[0]));
}

bool residual(const triplets *a, residual_precision in, int64_t k, const double *b, const double *x,
              double *r)
{
    const int width = triplets_width(a), mirror = triplets_are_hermitian(a) ? -1 : 1;
    const int64_t length = (int64_t)a->n * width;
    long double *sum = room_new(length + 1, sizeof *sum);
    for (int64_t c = 0; sum && c < k; c++, b += length, x += length, r += length) {
        for (int64_t i = 0; i < length; i++)
            sum[i] = rounded(in, b[i]);
        for (int64_t p = 0; p < a->nnz; p++) {
            const int64_t i = (int64_t)a->rows[p] * width, j = (int64_t)a->columns[p] * width;
            const double *value = a->values + p * width, imaginary = width == 2 ? value[1] : 0;
            subtract(in, width, value, imaginary, x + j, sum + i);
            if (i != j)
                subtract(in, width, value, mirror * imaginary, x + i, sum + j);
        }
        for (int64_t i = 0; i < length; i++)
            r[i] = (double)sum[i];
    }
    room_free(sum);
    return sum != NULL;
}
