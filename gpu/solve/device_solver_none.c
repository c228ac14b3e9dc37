/* gpu/solve/device_solver_none.c: solves on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/solve/device_solver.h"

libsolver_status device_solver_open(device_solver *s, message *why)
{
    (void)s;
    return BUILT_WITHOUT_CUDA(why);
}

void device_solver_close(device_solver *s)
{
    (void)s;
}

libsolver_status device_solver_reserve(device_solver *s, const device_upload *program, message *why)
{
    (void)program;
    return device_solver_open(s, why);
}

libsolver_status device_solver_upload(device_solver *s, const device_upload *program, message *why)
{
    (void)program;
    return device_solver_open(s, why);
}

void device_solver_drop(device_solver *s)
{
    (void)s;
}

int64_t device_workspace_bytes(const device_solver *s, int64_t columns)
{
    (void)s;
    (void)columns;
    return 0;
}

libsolver_status device_workspace_open(const device_solver *s, int64_t columns, device_workspace *w,
                                       message *why)
{
    (void)s;
    (void)columns;
    (void)w;
    return BUILT_WITHOUT_CUDA(why);
}

void device_workspace_close(device_workspace *w)
{
    (void)w;
}

libsolver_status device_solve(const device_solver *s, const device_workspace *w, void *stream,
                              const libsolver_vectors *b, const libsolver_vectors *x,
                              task_times *times, message *why)
{
    (void)s;
    (void)w;
    (void)stream;
    (void)b;
    (void)x;
    (void)times;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    int64_t tasks, task_times *times, message *why)
{
    (void)tasks;
    return device_solve(s, w, NULL, b, x, times, why);
}

libsolver_status device_solve_check(const device_solver *s, const device_workspace *w, void *stream,
                                    int *gave_up, message *why)
{
    (void)w;
    (void)stream;
    *gave_up = 0;
    (void)s;
    return BUILT_WITHOUT_CUDA(why);
}

unsigned *device_solve_failed(const device_workspace *w)
{
    (void)w;
    return NULL;
}

libsolver_status device_staging_open(const device_solver *s, int64_t bytes, device_staging *g,
                                     message *why)
{
    (void)s;
    (void)bytes;
    (void)g;
    return BUILT_WITHOUT_CUDA(why);
}

void device_staging_close(device_staging *g)
{
    (void)g;
}

libsolver_status device_staging_in(const device_solver *s, const device_staging *g, int64_t bytes,
                                   message *why)
{
    (void)g;
    (void)bytes;
    (void)s;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_staging_out(const device_solver *s, const device_staging *g, int64_t bytes,
                                    message *why)
{
    return device_staging_in(s, g, bytes, why);
}

libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from, void *to,
                                  message *why)
{
    (void)from;
    (void)to;
    return device_staging_in(s, NULL, 0, why);
}

libsolver_status device_block_put(const device_solver *s, const void *from,
                                  const libsolver_vectors *to, message *why)
{
    (void)from;
    (void)to;
    return device_staging_in(s, NULL, 0, why);
}
