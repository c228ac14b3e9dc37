/* gpu/solve/device_solver_none.c: solves on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/solve/device_solver.h"
#include <stdio.h>

libsolver_status device_solver_open(device_solver *s, char *sentence, int room)
{
    (void)s;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

void device_solver_close(device_solver *s)
{
    (void)s;
}

libsolver_status device_solver_reserve(device_solver *s, const device_upload *program,
                                       char *sentence, int room)
{
    (void)program;
    return device_solver_open(s, sentence, room);
}

libsolver_status device_solver_upload(device_solver *s, const device_upload *program,
                                      char *sentence, int room)
{
    (void)program;
    return device_solver_open(s, sentence, room);
}

libsolver_status device_solver_substitute(device_solver *s, const device_factor *factor,
                                          const substitution *plan, const int32_t *user_row,
                                          const void *scale, char *sentence, int room)
{
    (void)factor;
    (void)plan;
    (void)user_row;
    (void)scale;
    return device_solver_open(s, sentence, room);
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
                                       char *sentence, int room)
{
    (void)s;
    (void)columns;
    (void)w;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

void device_workspace_close(device_workspace *w)
{
    (void)w;
}

libsolver_status device_solve(const device_solver *s, const device_workspace *w, void *stream,
                              const libsolver_vectors *b, const libsolver_vectors *x,
                              task_times *times)
{
    (void)s;
    (void)w;
    (void)stream;
    (void)b;
    (void)x;
    (void)times;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    int64_t tasks, task_times *times, char *sentence, int room)
{
    (void)tasks;
    (void)sentence;
    (void)room;
    return device_solve(s, w, NULL, b, x, times);
}

libsolver_status device_solve_check(const device_solver *s, const device_workspace *w, void *stream,
                                    int *gave_up, char *sentence, int room)
{
    (void)w;
    (void)stream;
    *gave_up = 0;
    (void)s;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

unsigned *device_solve_failed(const device_workspace *w)
{
    (void)w;
    return NULL;
}

libsolver_status device_staging_open(const device_solver *s, int64_t bytes, device_staging *g,
                                     char *sentence, int room)
{
    (void)s;
    (void)bytes;
    (void)g;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

void device_staging_close(device_staging *g)
{
    (void)g;
}

libsolver_status device_staging_in(const device_solver *s, const device_staging *g, int64_t bytes,
                                   char *sentence, int room)
{
    (void)g;
    (void)bytes;
    (void)s;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status device_staging_out(const device_solver *s, const device_staging *g, int64_t bytes,
                                    char *sentence, int room)
{
    return device_staging_in(s, g, bytes, sentence, room);
}

libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from, void *to,
                                  char *sentence, int room)
{
    (void)from;
    (void)to;
    return device_staging_in(s, NULL, 0, sentence, room);
}

libsolver_status device_block_put(const device_solver *s, const void *from,
                                  const libsolver_vectors *to, char *sentence, int room)
{
    (void)from;
    (void)to;
    return device_staging_in(s, NULL, 0, sentence, room);
}
