/* dense/cpu/blas_setup_openblas.c: the library's private copy of OpenBLAS is to use one thread for each call
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It is OpenBLAS built for OpenMP, since the serial build of Debian 12 (0.3.21, without locks) gives wrong
 * results when several threads call it at the same time.  Inside a region of several threads it uses one; elsewhere
 * as many as omp_get_max_threads() says at each call, whatever openblas_set_num_threads was told before.  A
 * region of one thread is such an elsewhere, but the number of threads set in it is its own. */
#include "dense/cpu/blas_setup.h"
#include <omp.h>

void blas_setup(void)
{
    omp_set_num_threads(1);
}
