/* test/dense.c: dense matrices for tests of kernels, and running them with a number of threads
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense.h"
#include "dense/cpu/blas_serial.h"
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
    const long double norm = (fabsl(a) + fabsl(b) > fabsl(c) + fabsl(b) ? fabsl(a) : fabsl(c)) + fabsl(b);
    return lost * norm * norm / (det * b * b);
}

void with_threads(int threads, void (*work)(void *arg), void *arg)
{
    const int setting = blas_serial_begin();
#pragma omp parallel num_threads(threads)
#pragma omp single
    work(arg);
    blas_serial_end(setting);
}
