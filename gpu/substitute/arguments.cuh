/* gpu/substitute/arguments.cuh: what a launch of a solve by substitution is given
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_ARGUMENTS_CUH
#define GPU_SUBSTITUTE_ARGUMENTS_CUH

#include "gpu/solve/solver_base.cuh"
#include "gpu/substitute/device_substitution.h"

constexpr int SUBSTITUTE_THREADS = 32 * SUBSTITUTE_WARPS;

/* See substitution; all on the device.  a.packets: C `packets` for each C right-hand sides, those
 * of a row side by side. */
template <typename T> struct substitute_arguments {
    solve_arguments<T> a;
    workspace_head *head;
    const T *panel, *d, *e; /* d, e: n, by positions */
    const substitution_node *node;
    const int32_t *row, *source_start, *source, *table;
    const substitution_copy *copy;
    const substitution_task *task;
    int64_t packets;
    int32_t forward_tasks, tasks;
    bool hermitian, cholesky;

    /* All but a and head. */
    substitute_arguments(const device_substitution &t, int64_t n)
        : a(), head(nullptr), panel(static_cast<const T *>(t.factor)), d(panel + t.panel_scalars),
          e(d + n), node(t.node), row(t.row), source_start(t.source_start), source(t.source),
          table(t.table), copy(t.copy), task(t.task), packets(t.packets),
          forward_tasks(t.forward_tasks), tasks(t.tasks), hermitian(t.hermitian),
          cholesky(t.cholesky)
    {
    }
};

/* What a block of threads works in beside the memory of two bundles, this one's and the next. */
template <typename T, int C> union substitute_room {
    struct {
        T x[2][SUBSTITUTE_ROWS][C]; /* that tiles meet */
        union {
            T partial[SUBSTITUTE_WARPS][SUBSTITUTE_ROWS]; /* C = 1 */
            T part[2][SUBSTITUTE_ROWS][C];                /* otherwise */
        };
    } large;
    struct {
        T slot[BUNDLE_SLOTS][C];
        real_of<T> scale[BUNDLE_SLOTS]; /* of x in pivots' slots */
        T partial[C == 1 ? SUBSTITUTE_WARPS : 1][SUBSTITUTE_ROWS];
    } bundle;
};

template <typename T, int C> struct alignas(128) substitute_shared {
    char stage[2][BUNDLE_BYTES];
    substitute_room<T, C> room;
};

#endif
