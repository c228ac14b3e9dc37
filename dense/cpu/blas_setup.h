/* dense/cpu/blas_setup.h: makes the BLAS fit to be called from OpenMP tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_BLAS_SETUP_H
#define DENSE_CPU_BLAS_SETUP_H

/* To be called before the first BLAS call; any number of times, from any thread. */
void blas_setup(void);

#endif
