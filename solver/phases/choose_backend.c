/* solver/phases/choose_backend.c: where AUTO solves, by predicted time
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

static double cpu_seconds(const solve_size *s)
{
    const double bytes = 2 * (double)s->factor_nnz * s->scalar_bytes, rows = (double)s->n * CPU_ROW;
    const double alone = rows + bytes / CPU_THREAD_RATE;
    const double together = rows / s->threads +
                            bytes / fmin(s->threads * CPU_THREAD_RATE, CPU_RATE) +
                            (double)s->levels * CPU_LEVEL;
    return fmin(alone, together);
}

static double gpu_seconds(const solve_size *s)
{
    const double vectors = 2 * (double)s->n * s->scalar_bytes,
                 bytes = 2 * (double)s->factor_nnz * s->scalar_bytes;
    const double heights =
        fmax(1, GPU_HEIGHTS * pow((double)s->factor_nnz / GPU_HEIGHTS_NNZ, GPU_HEIGHTS_POWER));
    return GPU_CALL + vectors / GPU_COPY_RATE + (2 * heights - 1) * GPU_STEP +
           GPU_READS * bytes / GPU_RATE;
}

solve_forecast forecast_solve(const solve_size *s)
{
    return (solve_forecast){.cpu = cpu_seconds(s),
                            .gpu = gpu_seconds(s),
                            .preparation = PREPARE_CALL + PREPARE_ROW * (double)s->n +
                                           PREPARE_BYTE * (double)s->factor_nnz * s->scalar_bytes};
}

libsolver_backend choose_backend(const solve_size *size, libsolver_purpose purpose)
{
    const solve_forecast t = forecast_solve(size);
    const int pays = purpose == LIBSOLVER_PURPOSE_LATENCY ? t.gpu < t.cpu
                     : purpose == LIBSOLVER_PURPOSE_FEW
                         ? 0
                         : t.preparation + DEFAULT_SOLVES * t.gpu < DEFAULT_SOLVES * t.cpu;
    return pays ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
}
