/* dense/cpu/blas_serial.h: one thread for each call of the BLAS
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A BLAS built for OpenMP, as the linked copy of OpenBLAS is (the serial build of Debian 12,
 * 0.3.21, has no locks and gives wrong results when several threads call it at the same time), uses
 * one thread inside a parallel region.  Outside it takes as many as the calling thread's setting
 * allows; between begin and end that is one. */
#ifndef DENSE_CPU_BLAS_SERIAL_H
#define DENSE_CPU_BLAS_SERIAL_H

#include <omp.h>

/* Returns the setting for blas_serial_end. */
static inline int blas_serial_begin(void)
{
    const int threads = omp_get_max_threads();
    if (threads > 1)
        omp_set_num_threads(1);
    return threads;
}

static inline void blas_serial_end(int threads)
{
    if (threads > 1)
        omp_set_num_threads(threads);
}

#endif
