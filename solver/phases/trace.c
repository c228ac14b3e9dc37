/* solver/phases/trace.c: solves that tell what their tasks did
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/workspace.h"

static libsolver_status traced(const libsolver_factor *f, libsolver_workspace *w,
                               const libsolver_vectors *b, const libsolver_vectors *x,
                               int64_t capacity, libsolver_task *tasks, int64_t *count,
                               message *why)
{
    void *space;
    if (!count)
        return FAIL(why, LIBSOLVER_INVALID, "where the number of tasks is to go is NULL");
    TRY(factor_needed(f, why));
    if (!f->analysis->backend->trace)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "solves on the CPU are not traced");
    if (tasks && (!b || !x))
        return FAIL(why, LIBSOLVER_INVALID, "%s is NULL", b ? "x" : "b");
    TRY(workspace_begin(f, w, tasks ? b : NULL, tasks ? x : NULL, &space, why));
    const libsolver_status status =
        f->analysis->backend->trace(f->numeric, space, b, x, capacity, tasks, count, why);
    workspace_give_back(f, w);
    if (status != LIBSOLVER_OK)
        return status;
    return f->report.zero > 0 ? LIBSOLVER_SINGULAR : LIBSOLVER_OK;
}

libsolver_status libsolver_solve_traced(const libsolver_factor *f, libsolver_workspace *workspace,
                                        const libsolver_vectors *b, const libsolver_vectors *x,
                                        int64_t capacity, libsolver_task *tasks, int64_t *count)
{
    if (count)
        *count = 0;
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_outcome(f, traced(f, workspace, b, x, capacity, tasks, count, &why), &why);
}
