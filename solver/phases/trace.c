/* solver/phases/trace.c: solves and factorizations that tell what their tasks did
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
    factor_settle(f);
    if (count)
        *count = 0;
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_outcome(f, traced(f, workspace, b, x, capacity, tasks, count, &why), &why);
}

/* The tasks of this factor's factorizations, for which there is to be room. */
static libsolver_status count_tasks(const libsolver_factor *f, int64_t capacity,
                                    const libsolver_factor_task *tasks, int64_t *count,
                                    message *why)
{
    if (!count)
        return FAIL(why, LIBSOLVER_INVALID, "where the number of tasks is to go is NULL");
    if (!f->numeric)
        return FAIL(why, LIBSOLVER_INVALID, "there is no analysis: it failed");
    const backend *b = f->analysis->backend;
    const int is_on_cpu = f->usable && !f->report.on_device;
    if (b->trace_factorization && !is_on_cpu)
        *count = b->trace_factorization(f->numeric, NULL);
    if (*count == 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "factorizations on the CPU are not traced");
    if (tasks && capacity < *count)
        return FAIL(why, LIBSOLVER_INVALID, "a trace needs room for %lld tasks", (long long)*count);
    return LIBSOLVER_OK;
}

libsolver_status libsolver_refactorize_traced(libsolver_factor *f, const libsolver_matrix *a,
                                              int64_t capacity, libsolver_factor_task *tasks,
                                              int64_t *count)
{
    factor_settle(f);
    if (count)
        *count = 0;
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = count_tasks(f, capacity, tasks, count, &why);
    if (status != LIBSOLVER_OK || !tasks)
        return factor_outcome(f, status, &why);
    const backend *b = f->analysis->backend;
    b->trace_factorization(f->numeric, tasks);
    const libsolver_status outcome = libsolver_refactorize(f, a);
    b->trace_factorization(f->numeric, NULL);
    if (f->usable && !f->report.on_device)
        *count = 0;
    return outcome;
}
