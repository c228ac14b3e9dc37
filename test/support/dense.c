/* test/support/dense.c: dense matrices for tests of kernels, and running them with a number of
 * threads
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const int border_size[BORDER_SIZES] = {0,  1,  2,  3,  4,  7,   15,  16,  17,  31, 32,
                                       33, 63, 64, 65, 95, 127, 128, 129, 130, 257};

double *nan_array(int64_t count)
{
    double *a = malloc((size_t)(count + 1) * sizeof(double));
    if (!a)
        abort();
    for (int64_t i = 0; i <= count; i++)
        a[i] = NAN;
    return a;
}

double *copy_of(const double *from, int64_t count)
{
    double *a = nan_array(count);
    memcpy(a, from, (size_t)count * sizeof(double));
    return a;
}

double *random_trapezoid(random_stream *r, int m, int k, int ld)
{
    double *a = nan_array((int64_t)ld * k);
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++)
            a[i + (int64_t)j * ld] = random_real(r);
    return a;
}

long double pair_weight(long double a, long double b, long double c)
{
    const long double product = fabsl(a * c) / (b * b), det = fabsl(a * c / (b * b) - 1);
    const long double lost = 2 * (product + 1) / det + 6;
    const long double norm =
        (fabsl(a) + fabsl(b) > fabsl(c) + fabsl(b) ? fabsl(a) : fabsl(c)) + fabsl(b);
    return lost * norm * norm / (det * b * b);
}

long double *pivot_weights(int p, int sums, const double *d, const double *e)
{
    long double *weight = calloc((size_t)p + 1, sizeof *weight);
    if (!weight)
        abort();
    for (int q = 0; q < p; q++) {
        weight[q] = sums;
        if (e[q] != 0) {
            weight[q] = weight[q + 1] = sums + pair_weight(d[q], e[q], d[q + 1]);
            q++;
        }
    }
    return weight;
}

void ldlt_product(int p, const double *l, int64_t ld, const double *d, const double *e,
                  const long double *weight, int i, int j, long double *sum, long double *scale)
{
    *sum = *scale = 0;
    for (int q = 0; q < p; q++) {
        const double *column = l + q * ld, *next = column + ld;
        const long double li = column[i], lj = column[j], w = weight ? weight[q] : 1;
        const long double term = li * (d ? d[q] : 1) * lj;
        *sum += term;
        *scale += w * fabsl(term);
        if (d && e[q] != 0) {
            *sum += e[q] * (li * next[j] + lj * next[i]);
            *scale += w * (fabsl(e[q] * li * next[j]) + fabsl(e[q] * lj * next[i]));
        }
    }
}

void with_threads(int threads, void (*work)(void *arg), void *arg)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    work(arg);
}
