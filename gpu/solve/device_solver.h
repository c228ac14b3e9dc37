/* gpu/solve/device_solver.h: programs of solves in a device's memory, their launches, workspaces,
 * and vectors on their way to the device and back
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call makes its device current and what was current before again at its end.  Statuses:
 * CUDA, OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_SOLVE_DEVICE_SOLVER_H
#define GPU_SOLVE_DEVICE_SOLVER_H

#include "gpu/device/device_factor.h"
#include "gpu/plan/program.h"
#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct device_solver {
    int device, own_stream;
    int by_levels; /* one launch a level instead of one in all */
    void *stream;
    int32_t multiprocessors, blocks; /* blocks that are resident together */
    int64_t cache_bytes;             /* of the second level */
    double patience;                 /* seconds */
    /* what was uploaded, or will be */
    libsolver_type type;
    int32_t n, packets, levels;
    const int32_t *level_blocks; /* levels, on the host, the caller's: lists of each */
    int64_t bytes, allocations;  /* of memory, so far */
    void *memory;                /* of the program and all below, `bytes` of them; NULL: nothing */
    const list_head *head;
    const task_copy *copy;
    const void *scale;
    const int32_t *user_row;
    int32_t packet_columns; /* 0: only one right-hand side has packets; otherwise all have packets
                               of their own, in groups of so many columns, as substitution
                               (gpu/substitute) wants them */
} device_solver;

/* A program on the host; see solve_plan.  head: one for each block, or by levels one for each
 * unit. */
typedef struct device_upload {
    libsolver_type type;
    int32_t n, packets, levels;
    const int32_t *level_blocks;
    const void *values, *description;
    int64_t value_bytes, description_bytes, heads, copies;
    const list_head *head;
    const task_copy *copy;
    const void *scale;       /* n reals, on the host or on the device */
    const int32_t *user_row; /* n */
} device_upload;

typedef struct device_workspace {
    int device;
    int32_t columns;                                       /* most at a time */
    void *memory, *state, *epoch, *packets, *value, *flag; /* value, flag: for several columns */
} device_workspace;

/* Blocks of vectors on their way between host and device: n x columns scalars by columns on both
 * sides, the host's part page-locked. */
typedef struct device_staging {
    int device;
    int64_t bytes;
    void *host, *on_device;
} device_staging;

/* device, stream and by_levels are set */
libsolver_status device_solver_open(device_solver *s, message *why);
void device_solver_close(device_solver *s);
/* Memory for a program of these sizes, the same as before if that is enough; what was there is
 * lost. */
libsolver_status device_solver_reserve(device_solver *s, const device_upload *program,
                                       message *why);
/* Fills it with those arrays that are not NULL; the others stay as they are.  Waits. */
libsolver_status device_solver_upload(device_solver *s, const device_upload *program, message *why);
void device_solver_drop(device_solver *s);
int64_t device_workspace_bytes(const device_solver *s, int64_t columns);
libsolver_status device_workspace_open(const device_solver *s, int64_t columns, device_workspace *w,
                                       message *why);
void device_workspace_close(device_workspace *w);

/* Whether such vectors can be solved with what was uploaded.  INVALID. */
static inline libsolver_status device_solve_fits(const device_solver *s, const libsolver_vectors *b,
                                                 const libsolver_vectors *x, message *why)
{
    if (!s->memory)
        return FAIL(why, LIBSOLVER_INVALID, "no factor is on the device");
    if (b->rows != s->n || x->rows != s->n || b->columns != x->columns || b->type != s->type ||
        x->type != s->type)
        return FAIL(why, LIBSOLVER_INVALID,
                    "the right-hand side, the solution and the factor on the device differ in size "
                    "or type");
    return LIBSOLVER_OK;
}

/* times: on the device, one for each task, or NULL. */
libsolver_status device_solve(const device_solver *s, const device_workspace *w, void *stream,
                              const libsolver_vectors *b, const libsolver_vectors *x,
                              task_times *times, message *why);
/* One solve with its times, on the host: room for all tasks. */
libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    int64_t tasks, task_times *times, message *why);
/* Waits for what is on the stream.  *gave_up: a solve on this workspace did since the last call. */
libsolver_status device_solve_check(const device_solver *s, const device_workspace *w, void *stream,
                                    int *gave_up, message *why);
/* On the device: nonzero once a solve on this workspace gave up. */
unsigned *device_solve_failed(const device_workspace *w);

libsolver_status device_staging_open(const device_solver *s, int64_t bytes, device_staging *g,
                                     message *why);
void device_staging_close(device_staging *g);
/* Host to device, on the stream; device to host, and waits for it. */
libsolver_status device_staging_in(const device_solver *s, const device_staging *g, int64_t bytes,
                                   message *why);
libsolver_status device_staging_out(const device_solver *s, const device_staging *g, int64_t bytes,
                                    message *why);
/* A block that lies on the device to or from a host block of its layout without padding; waits. */
libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from, void *to,
                                  message *why);
libsolver_status device_block_put(const device_solver *s, const void *from,
                                  const libsolver_vectors *to, message *why);

#ifdef __cplusplus
}
#endif
#endif
