/* solver/cpu/plan/costs.h: what shapes orders for the CPU backend
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_PLAN_COSTS_H
#define SOLVER_CPU_PLAN_COSTS_H

#include "base/backend.h"

extern const backend_costs cpu_costs;

#endif
