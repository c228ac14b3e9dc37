/* test/support/packed_system.h: a system from its values to a factor packed for solves on the
 * device, of one precision (-DPREC_x; double if none is said)
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef TEST_SUPPORT_PACKED_SYSTEM_H
#define TEST_SUPPORT_PACKED_SYSTEM_H

#include "cpu_system.h"
#include "gpu/packed/tree_solver.h"
#include "gpu_test.h"
#include "base/owned_tree.h"

typedef struct packed {
    cpu_system s;
    owned_tree tree;
    tree_solver *solver;
    tree_workspace *workspace;
} packed;

/* a, values: taken over; a workspace for so many columns.  pack: in the natural order, Hermitian
 * where it makes a difference. */
void pack(packed *p, pattern a, scalar *values, int kind, const tree_solver_options *options,
          int64_t columns);
/* The same of a system that is there, which stays the caller's; unpack_view then. */
void pack_view(packed *p, const tree_solver_options *options, int64_t columns);
void unpack_view(packed *p);
void unpack(packed *p);

/* A copy of the block on the device, padding and all; and back. */
libsolver_vectors to_device(const block *b);
void from_device(const libsolver_vectors *v, block *b);

/* Waits for the solves in the system's workspace, none of which may have failed. */
void check(const packed *p);
/* |b - A x| <= factor EPS (|A||x| + |b|) in column j */
void check_column(const cpu_system *s, const block *b, const block *x, int64_t j, double factor,
                  uint64_t seed);

#endif
