/* dense/cpu/blas_setup.h: makes the BLAS fit to be called from OpenMP tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_BLAS_SETUP_H
#define DENSE_CPU_BLAS_SETUP_H

/* To be called inside every parallel region, by the thread that makes the tasks: every call of the BLAS by it and its
 * tasks then uses one thread, also where the region has one.  Nothing outside the region changes. */
void blas_setup(void);

#endif
