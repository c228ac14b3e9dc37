/* test/support/chosen_backend.h: the backend that a test is for: the CPU's, with -DON_GPU the GPU's
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_CHOSEN_BACKEND_H
#define TEST_SUPPORT_CHOSEN_BACKEND_H

#include "gpu_required.h"
#include "libsolver.h"

#ifdef ON_GPU
#define BACKEND LIBSOLVER_BACKEND_GPU
#else
#define BACKEND LIBSOLVER_BACKEND_CPU
#endif

/* Whether that backend can be had here. */
static inline int backend_is_here(void)
{
    int devices = 1;
    return BACKEND != LIBSOLVER_BACKEND_GPU ||
           (libsolver_devices(0, NULL, &devices) == LIBSOLVER_OK && devices > 0);
}

#endif
