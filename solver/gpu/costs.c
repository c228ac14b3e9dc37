/* solver/gpu/costs.c: what shapes orders for factorizations on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/backend.h"
#include "solver/gpu/backend.h"

/* A column on the longest path of the tree, and the others' share: products at so many operations a
 * second, and an entry of L, which is assembled, written and read by ten solves.  Of ten definite
 * systems (`bench_factorize`, one H200) the time of the factorization comes within a factor of
 * 1.4. */
#define COLUMN_SECONDS 0.6e-6
#define OPERATIONS_PER_SECOND 25e12
#define ENTRY_SECONDS (30e-12 + 10 * 2 * 8 / 2.5e12)

static double front_seconds(int64_t k, int64_t m, int64_t waiting)
{
    (void)waiting; /* Cholesky has no rows that wait */
    const double dk = (double)k, dm = (double)m;
    return dk * (dm * dm - dm * dk + dk * dk / 3) / OPERATIONS_PER_SECOND + dk * dm * ENTRY_SECONDS;
}

/* Fronts are those of the CPU backend's plan. */
static double merge_seconds(int64_t k, int64_t m)
{
    return cpu_costs.front(k, m);
}

const backend_costs gpu_costs = {.front = merge_seconds,
                                 .ten_solves = front_seconds,
                                 .column = COLUMN_SECONDS};
