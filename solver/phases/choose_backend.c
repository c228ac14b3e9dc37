/* solver/phases/choose_backend.c: where AUTO factorizes and solves, by predicted time
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A model and no measurement, so that the choice is the same on every run. */
#include "solver/phases/choose_backend.h"
#include <math.h>

/* The CPU, a row in both sweeps and the bytes a second that one thread reads of a factor in its
 * caches: `libsolver bench --backend cpu --threads 1` on lap2d:40 to lap2d:200, one of 16
 * processors of a server, within a factor of 1.2. */
#define CPU_ROW 20e-9
#define CPU_THREAD_RATE 20e9
/* Of all threads together, and a level's end where several work on the tree: lap2d:300 and lap3d:30
 * there, within a factor of 2. */
#define CPU_RATE 100e9
#define CPU_LEVEL 1e-6

/* The GPU.  Groups are as high as 3 (nnz(L) / 310 000)^0.28 in eleven problems of 1.7 thousand to
 * 42 million entries, a solve takes a step for each height up and down, and reads 1.8 times both
 * triangles of L: `bench_tree_solve`, one H200, the table of doc/measurements/gpu.md, whose times
 * this gives within a factor of 1.6. */
#define GPU_HEIGHTS 3.0
#define GPU_HEIGHTS_NNZ 310e3
#define GPU_HEIGHTS_POWER 0.28
#define GPU_STEP 2.5e-6
#define GPU_READS 1.8
#define GPU_RATE 2.5e12
/* What a call with vectors on the host takes beside, two copies, a launch and a look at its end,
 * and the rate of b's and x's way through page-locked memory: bcsstk18 and lap3d:30, one H200. */
#define GPU_CALL 32e-6
#define GPU_COPY_RATE 20e9
/* Preparation, of which the host plans the larger part: `bench_tree_solve` on the same problems,
 * within a factor of 1.5. */
#define PREPARE_CALL 5e-3
#define PREPARE_ROW 0.11e-6
#define PREPARE_BYTE (1.6e-9 / 8)

/* Factorizations on the CPU, one thread: a row, and operations a second; threads together do
 * threads / (1 + threads / THREADS_HALVED) times as many (`libsolver bench` on 16 processors,
 * lap3d:30 to lap3d:80, within a factor of 1.5). */
#define CPU_FACTOR_ROW 2e-7
#define CPU_OPERATIONS 20e9
/* In mixed precision so many times as many: what `libsolver bench --precision mixed` gives there.
 */
#define MIXED_FASTER 2
#define THREADS_HALVED 10.0
/* Factorizations on the GPU: columns of the longest path, operations, entries of L; what the host
 * plans for the first one, by rows and entries (`bench_factorize`, one H200, ten systems, within a
 * factor of 1.4). */
#define GPU_FACTOR_CALL 50e-6
#define GPU_COLUMN 0.6e-6
#define GPU_OPERATIONS 25e12
#define GPU_ENTRY_BYTE (30e-12 / 8)
#define PLAN_CALL 1e-3
#define PLAN_ROW 0.05e-6
/* A factor made on the CPU goes to the device at this rate; inverses are made there in a part of
 * the time of its factorization (the same systems, within a factor of 1.5). */
#define FACTOR_COPY_RATE 10e9
#define INVERTING_PART 0.4
/* Substitution with the factor as it is: a column of the longest path. */
#define SUBSTITUTED_COLUMN 60e-9

static double cpu_factor_seconds(const problem_size *s)
{
    const double together = s->threads / (1 + s->threads / THREADS_HALVED),
                 each = (s->is_complex ? 4.0 : 1.0) / (s->is_mixed ? MIXED_FASTER : 1);
    return (double)s->n * CPU_FACTOR_ROW / s->threads +
           each * s->factor_flops / (CPU_OPERATIONS * fmax(1, together));
}

static double gpu_factor_seconds(const problem_size *s)
{
    const double each = s->is_complex ? 4 : 1; /* in mixed precision too */
    return GPU_FACTOR_CALL + (double)s->chain * GPU_COLUMN +
           each * s->factor_flops / GPU_OPERATIONS +
           (double)s->factor_nnz * s->scalar_bytes * GPU_ENTRY_BYTE;
}

static double cpu_seconds(const problem_size *s)
{
    const double bytes = 2 * (double)s->factor_nnz * s->scalar_bytes, rows = (double)s->n * CPU_ROW;
    const double alone = rows + bytes / CPU_THREAD_RATE;
    const double together = rows / s->threads +
                            bytes / fmin(s->threads * CPU_THREAD_RATE, CPU_RATE) +
                            (double)s->levels * CPU_LEVEL;
    return fmin(alone, together);
}

static double gpu_seconds(const problem_size *s)
{
    const double vectors = 2 * (double)s->n * s->scalar_bytes * (s->is_mixed ? 2 : 1),
                 bytes = 2 * (double)s->factor_nnz * s->scalar_bytes;
    const double heights =
        fmax(1, GPU_HEIGHTS * pow((double)s->factor_nnz / GPU_HEIGHTS_NNZ, GPU_HEIGHTS_POWER));
    return GPU_CALL + vectors / GPU_COPY_RATE + (2 * heights - 1) * GPU_STEP +
           GPU_READS * bytes / GPU_RATE;
}

backend_forecast forecast_backends(const problem_size *s, int for_few)
{
    const double bytes = (double)s->factor_nnz * s->scalar_bytes, on_device = gpu_factor_seconds(s);
    backend_forecast t = {.cpu = {.factorization = cpu_factor_seconds(s), .solve = cpu_seconds(s)},
                          .gpu = {.solve = gpu_seconds(s)}};
    t.gpu.factorization =
        s->is_cholesky ? on_device : t.cpu.factorization + bytes / FACTOR_COPY_RATE;
    t.gpu.first = PLAN_CALL + PLAN_ROW * (double)s->n;
    if (for_few)
        t.gpu.solve += SUBSTITUTED_COLUMN * (double)s->chain;
    else {
        t.gpu.factorization += INVERTING_PART * on_device;
        t.gpu.first += PREPARE_CALL + PREPARE_ROW * (double)s->n + PREPARE_BYTE * bytes;
    }
    return t;
}

/* The first factorization with so many solves. */
static double together(const side_forecast *t, int solves)
{
    return t->first + t->factorization + solves * t->solve;
}

libsolver_backend choose_backend(const problem_size *size, libsolver_purpose purpose)
{
    const int for_few = purpose == LIBSOLVER_PURPOSE_FEW,
              solves = for_few ? FEW_SOLVES : DEFAULT_SOLVES;
    const backend_forecast t = forecast_backends(size, for_few);
    const int pays = purpose == LIBSOLVER_PURPOSE_LATENCY
                         ? t.gpu.solve < t.cpu.solve
                         : together(&t.gpu, solves) < together(&t.cpu, solves);
    return pays ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
}
