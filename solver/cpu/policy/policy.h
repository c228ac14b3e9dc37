/* solver/cpu/policy/policy.h: which factorization is tried, with what settings, and whether it will
 * do
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_POLICY_POLICY_H
#define SOLVER_CPU_POLICY_POLICY_H

#include "solver/cpu/solve/workspace.h"

/* kind_tmpl.c: see backend.factorize */
libsolver_status NAME(cpu_factorize)(void *numeric, const backend_options *options,
                                     backend_report *report, message *why);
/* ldlt_policy_tmpl.c: LDL^T with pivoting, by the scaling and threshold that options allow and that
 * leave least in doubt.  Statuses of cpu_attempt but TOO_MANY_DELAYS */
libsolver_status NAME(cpu_choose_scaling_and_threshold)(numeric *f, const backend_options *options,
                                                        backend_report *report);
/* doubt_tmpl.c: whether the zero pivots of the factor are zeros, and the signs of the uncertain
 * ones are known: if so, report->uncertain becomes 0, otherwise it counts both; report->small is
 * what it was.  OUT_OF_MEMORY, CANCELLED.  _free: the memory for it. */
libsolver_status NAME(cpu_settle_doubt)(numeric *f, backend_report *report);
/* The same, but signs are looked at whatever counts as uncertain.  _room: memory for so many
 * scalars, which are there until the next call; NULL: none. */
libsolver_status NAME(cpu_settle_all)(numeric *f, backend_report *report);
scalar *NAME(cpu_doubt_room)(numeric *f, int64_t count, backend_report *report);
void NAME(cpu_free_doubt)(numeric *f);
/* demote_tmpl.c: the tiny pivots of a factor in doubt become zeros, if nothing is in doubt then:
 * report as after cpu_settle_doubt; otherwise nothing changes.  OUT_OF_MEMORY, CANCELLED. */
libsolver_status NAME(cpu_demote)(numeric *f, backend_report *report);
/* confirm_tmpl.c: see backend.confirm */
libsolver_status NAME(cpu_confirm)(void *numeric, void *workspace, const backend_options *options,
                                   int steps, double tolerance, backend_report *report,
                                   message *why);
/* single_tmpl.c: what cpu_single of this precision calls */
libsolver_status NAME(cpu_single_attempt)(void *factor, const void *value, const void *scale,
                                          double shift, int cholesky,
                                          const backend_options *options, backend_report *report);
void NAME(cpu_single_finish)(void *factor, const void *row_sum, int32_t *order,
                             backend_report *report);
libsolver_status NAME(cpu_single_workspace_fit)(const void *factor, void *workspace, message *why);
void NAME(cpu_single_solve_block)(const void *factor, int part, void *workspace, int c, void *x);

#endif
