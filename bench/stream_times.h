/* bench/stream_times.h: what the benchmarks of solves on a device have in common: ends on errors,
 * times on a stream, errors of solutions
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Times are medians of REPEATS means of CALLS back-to-back calls, after three that are not
 * counted. */
#ifndef BENCH_STREAM_TIMES_H
#define BENCH_STREAM_TIMES_H

#include "cli/triplets.h"
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CALLS 20
#define REPEATS 15

static inline void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#define CUDA(call) must((call) == cudaSuccess, #call)

static inline int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static inline double median(double *times)
{
    qsort(times, REPEATS, sizeof times[0], ascending);
    return times[REPEATS / 2];
}

/* Work that is launched on a stream: launch(user). */
typedef struct launched {
    cudaStream_t stream;
    void (*launch)(const void *user);
    const void *user;
} launched;

/* us of a call: by itself or, captured not NULL, of CALLS of them in that graph */
static inline double stream_time(const launched *work, cudaGraphExec_t captured)
{
    cudaEvent_t start, stop;
    double times[REPEATS];
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int r = -3; r < REPEATS; r++) {
        float ms;
        CUDA(cudaEventRecord(start, work->stream));
        if (captured)
            CUDA(cudaGraphLaunch(captured, work->stream));
        for (int c = 0; c < CALLS && !captured; c++)
            work->launch(work->user);
        CUDA(cudaEventRecord(stop, work->stream));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (r >= 0)
            times[r] = 1e3 * ms / CALLS;
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    return median(times);
}

/* us of a call, CALLS of them in a graph */
static inline double graph_time(const launched *work)
{
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    CUDA(cudaStreamBeginCapture(work->stream, cudaStreamCaptureModeThreadLocal));
    for (int c = 0; c < CALLS; c++)
        work->launch(work->user);
    CUDA(cudaStreamEndCapture(work->stream, &captured));
    CUDA(cudaGraphInstantiate(&ready, captured, 0));
    const double us = stream_time(work, ready);
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(captured));
    return us;
}

/* max |b - A x|_i / (|A||x| + |b|)_i over the rows of so many columns of a real system; NaN if one
 * is */
static inline double componentwise_error(const triplets *a, int64_t columns, const double *b,
                                         const double *x)
{
    const int32_t n = a->n;
    double worst = 0;
    long double *r = malloc(sizeof(long double) * ((size_t)n + 1)),
                *s = malloc(sizeof(long double) * ((size_t)n + 1));
    must(r && s, "no memory");
    for (int64_t c = 0; c < columns; c++, b += n, x += n) {
        for (int32_t i = 0; i < n; i++) {
            r[i] = b[i];
            s[i] = fabs(b[i]);
        }
        for (int64_t k = 0; k < a->nnz; k++)
            for (int mirrored = 0; mirrored < 1 + (a->rows[k] != a->columns[k]); mirrored++) {
                const int32_t row = mirrored ? a->columns[k] : a->rows[k],
                              column = mirrored ? a->rows[k] : a->columns[k];
                const long double product = (long double)a->values[k] * x[column];
                r[row] -= product;
                s[row] += fabsl(product);
            }
        for (int32_t i = 0; i < n; i++) {
            const double e = r[i] == 0 ? 0 : (double)(fabsl(r[i]) / s[i]);
            worst = e > worst || isnan(e) ? e : worst;
        }
    }
    free(r);
    free(s);
    return worst;
}

#endif
