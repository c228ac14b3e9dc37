/* solver/gpu/backend.h: the GPU backend, one table for each precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_GPU_BACKEND_H
#define SOLVER_GPU_BACKEND_H

#include "base/backend.h"

/* Factors made on the CPU, packed for solves on the device. */
extern const backend gpu_backend_s, gpu_backend_d, gpu_backend_c, gpu_backend_z;

#endif
