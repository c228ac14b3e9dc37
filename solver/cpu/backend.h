/* solver/cpu/backend.h: the CPU backend, one table for each precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_BACKEND_H
#define SOLVER_CPU_BACKEND_H

#include "base/backend.h"

extern const backend_costs cpu_costs;
extern const backend cpu_backend_s, cpu_backend_d, cpu_backend_c, cpu_backend_z;

/* See libsolver_instruction_set. */
const char *cpu_instruction_set(void);

#endif
