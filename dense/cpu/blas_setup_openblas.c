/* dense/cpu/blas_setup_openblas.c: the library's private copy of OpenBLAS is to use one thread for each call
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It is OpenBLAS built for OpenMP, since the serial build of Debian 12 (0.3.21, without locks) gives wrong
 * results when several threads call it at the same time. */
#include "dense/cpu/blas_setup.h"
#include <omp.h>
#include <pthread.h>

void openblas_set_num_threads(int threads);

static void use_one_thread(void)
{
    const int threads = omp_get_max_threads();
    openblas_set_num_threads(1);
    omp_set_num_threads(threads); /* which the call before has changed for the whole program */
}

void blas_setup(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_one_thread);
}
