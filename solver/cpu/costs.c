/* solver/cpu/costs.c: what shapes orders for the CPU backend, and the processor that it finds
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/backend.h"
#include "dense/cpu/processor.h"
#include "solver/cpu/plan/plan.h"

#define ROW_SECONDS 2e-7

/* Fitted, with ROW_SECONDS, to `bench_auto_ordering -m 1` on the shared matrices, one thread of
 * an AMD EPYC 9004: of 230 real ones, by either order and without many 2x2 pivots, two thirds come
 * within 30 %.  Rows that wait are assembled, tried and passed on in each front on their way, in
 * both of the attempts that a singular matrix takes; their constant is the geometric mean of 4e-9
 * to 2e-8 in six matrices. */
static double ten_solves_seconds(int64_t k, int64_t m, int64_t waiting)
{
    const double dk = (double)k, dm = (double)m, dw = (double)waiting;
    return 1e-7 + 8e-8 * dm + 5e-11 * dk * (dm * dm - dm * dk + dk * dk / 3) +
           8e-9 * dw * (dm + dw);
}

const backend_costs cpu_costs = {.front = cpu_front_seconds,
                                 .ten_solves = ten_solves_seconds,
                                 .row = ROW_SECONDS};

const char *cpu_instruction_set(void)
{
    return instruction_set_name();
}
