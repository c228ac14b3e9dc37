/* solver/phases/workspace.c: what one solve at a time writes to
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/workspace.h"
#include <math.h>

libsolver_status workspace_create(const libsolver_factor *f, int64_t columns,
                                  libsolver_workspace **workspace, message *why)
{
    if (!f->numeric)
        return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the analysis failed");
    if (columns < 1 || columns > INT32_MAX)
        return FAIL(why, LIBSOLVER_INVALID, "a workspace for %lld columns", (long long)columns);
    memory *m = &f->context->env.memory;
    libsolver_workspace *w = memory_zeroed(m, 1, sizeof(libsolver_workspace));
    if (!w)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the workspace wanted %lld more bytes",
                    (long long)m->wanted);
    w->factor = f;
    w->columns = columns;
    w->info.backward_error = w->info.backward_error_initial = NAN;
    atomic_flag_clear(&w->busy);
    const libsolver_status status =
        f->analysis->backend->workspace_create(f->numeric, columns, &w->memory, why);
    if (status != LIBSOLVER_OK)
        memory_free(m, w);
    else
        *workspace = w;
    return status;
}

libsolver_status libsolver_workspace_create(const libsolver_factor *f, int64_t columns,
                                            libsolver_workspace **workspace)
{
    if (workspace)
        *workspace = NULL;
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status =
        workspace ? workspace_create(f, columns, workspace, &why)
                  : FAIL(&why, LIBSOLVER_INVALID, "where the workspace is to go is NULL");
    return factor_outcome(f, status, &why);
}

int64_t libsolver_workspace_bytes(const libsolver_factor *f, int64_t columns)
{
    if (!f || !f->usable || columns < 1)
        return 0;
    return (int64_t)sizeof(libsolver_workspace) +
           f->analysis->backend->workspace_bytes(f->numeric, columns);
}

void libsolver_workspace_free(libsolver_workspace *w)
{
    if (!w)
        return;
    w->factor->analysis->backend->workspace_destroy(w->factor->numeric, w->memory);
    memory_free(&w->factor->context->env.memory, w);
}

/* Right-hand sides that the factor's own workspace grows to; wider blocks are solved in panels of
 * that many.
 */
#define OWN_COLUMNS 32

libsolver_status workspace_widen(libsolver_factor *f, int64_t columns, message *why)
{
    const int64_t wanted = columns < OWN_COLUMNS ? columns : OWN_COLUMNS;
    if (f->workspace->columns >= wanted)
        return LIBSOLVER_OK;
    libsolver_workspace *wider = NULL;
    TRY(workspace_create(f, wanted, &wider, why));
    libsolver_workspace_free(f->workspace);
    f->workspace = wider;
    return LIBSOLVER_OK;
}

libsolver_status reserved_check(const libsolver_vectors *v, message *why)
{
    for (int i = 0; i < (int)(sizeof v->reserved / sizeof v->reserved[0]); i++)
        if (v->reserved[i] != 0)
            return FAIL(why, LIBSOLVER_INVALID, "reserved fields of vectors must be zero");
    return LIBSOLVER_OK;
}

/* Whether the factor is there and the workspace its own. */
static libsolver_status check_handles(const libsolver_factor *f, const libsolver_workspace *w,
                                      message *why)
{
    TRY(factor_needed(f, why));
    if (w && w->factor != f)
        return FAIL(why, LIBSOLVER_INVALID, "the workspace belongs to another factor");
    return LIBSOLVER_OK;
}

libsolver_status workspace_check(const libsolver_factor *f, const libsolver_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why)
{
    if (!b || !x)
        return FAIL(why, LIBSOLVER_INVALID, "%s is NULL", b ? "x" : "b");
    TRY(check_handles(f, w, why));
    const libsolver_vectors *both[2] = {b, x};
    for (int i = 0; i < 2; i++) {
        const libsolver_vectors *v = both[i];
        const char *name = i == 0 ? "b" : "x";
        const int64_t n = f->analysis->input.a.n;
        if (v->rows != n || v->columns < 0 || v->columns != b->columns)
            return FAIL(why, LIBSOLVER_INVALID, "%s is %lld x %lld, expected %lld x %lld", name,
                        (long long)v->rows, (long long)v->columns, (long long)n,
                        (long long)b->columns);
        if ((unsigned)v->layout > LIBSOLVER_ROW_MAJOR || (unsigned)v->place > LIBSOLVER_DEVICE)
            return FAIL(why, LIBSOLVER_INVALID, "a field of %s has no legal value", name);
        TRY(reserved_check(v, why));
        if (v->ld < (v->layout == LIBSOLVER_COLUMN_MAJOR ? v->rows : v->columns))
            return FAIL(why, LIBSOLVER_INVALID, "the leading dimension %lld of %s is too small",
                        (long long)v->ld, name);
        if (v->type != f->analysis->type)
            return FAIL(why, LIBSOLVER_INVALID, "%s has not the factor's type", name);
        if (v->place == LIBSOLVER_DEVICE && !f->analysis->backend->takes_device_vectors)
            return FAIL(why, LIBSOLVER_NOT_BUILT, "%s in device memory needs the GPU backend",
                        name);
        if (v->place != b->place)
            return FAIL(why, LIBSOLVER_INVALID, "b and x do not lie in the same memory");
        if (!v->values && n > 0 && v->columns > 0)
            return FAIL(why, LIBSOLVER_INVALID, "%s has no values", name);
    }
    return LIBSOLVER_OK;
}

/* The workspace of a call: the caller's, or the factor's own one, which has its flag in the factor
 * since a call may replace it. */
static atomic_flag *busy(const libsolver_factor *f, libsolver_workspace *w)
{
    return w ? &w->busy : &((libsolver_factor *)f)->own_busy;
}

libsolver_status workspace_take(const libsolver_factor *f, libsolver_workspace *w, message *why)
{
    if (atomic_flag_test_and_set(busy(f, w)))
        return FAIL(why, LIBSOLVER_INVALID, "the workspace is in use by another call");
    return LIBSOLVER_OK;
}

void workspace_give_back(const libsolver_factor *f, libsolver_workspace *w)
{
    atomic_flag_clear(busy(f, w));
}

libsolver_status workspace_begin(const libsolver_factor *f, libsolver_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 void **backend_memory, message *why)
{
    TRY(b && x ? workspace_check(f, w, b, x, why) : check_handles(f, w, why));
    TRY(workspace_take(f, w, why));
    *backend_memory = (w ? w : f->workspace)->memory;
    return LIBSOLVER_OK;
}
