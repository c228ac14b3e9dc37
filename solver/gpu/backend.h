/* solver/gpu/backend.h: the GPU backend, one table for each precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_GPU_BACKEND_H
#define SOLVER_GPU_BACKEND_H

#include "base/backend.h"

/* Of Cholesky factorizations on the device, with ten solves. */
extern const backend_costs gpu_costs;
/* Factors packed for solves on the device, made there by Cholesky, otherwise on the CPU. */
extern const backend gpu_backend_s, gpu_backend_d, gpu_backend_c, gpu_backend_z;

#endif
