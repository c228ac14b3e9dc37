/* test/dense.c: dense matrices for tests of kernels, and running them with a number of threads
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense.h"
#include "dense/cpu/blas_setup.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const int border_size[BORDER_SIZES] = {0,  1,  2,  3,  4,  7,   15,  16,  17,  31, 32,
                                       33, 63, 64, 65, 95, 127, 128, 129, 130, 257};

double random_real(random_stream *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-52 - 1;
}

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

void with_threads(int threads, void (*work)(void *arg), void *arg)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        blas_setup();
        work(arg);
    }
}
