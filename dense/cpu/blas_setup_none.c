/* dense/cpu/blas_setup_none.c: a BLAS that is serial and safe to call from several threads needs nothing
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/blas_setup.h"

void blas_setup(void) {}
