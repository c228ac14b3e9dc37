/* examples/dense_steps.c: a dense system on the GPU, factorized once and solved in every time step,
 * with the triangular kernels of libsolver_dense.h; needs CUDA (-lcudart)
 *
 * Implicit Euler for u' = -K u, K dense and definite: (I + h K) u(t + h) = u(t).  The matrix is
 * factorized in place, L is prepared for many solves with L and with L^T, and the two solves of a
 * step become a CUDA graph of two kernels, which is launched for each step without the host.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime.h>
#include <libsolver_dense.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, STEPS = 100 };
static const double H = 1e-3;

static void check(libsolver_status status, const char *call)
{
    if (status == LIBSOLVER_OK)
        return;
    fprintf(stderr, "dense_steps: %s: %s\n", call, libsolver_status_sentence(status));
    exit(1);
}

static void check_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "dense_steps: %s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}

/* Entry (i, j) of I + h K: every point of a rod exchanges heat with every other one. */
static double entry(int i, int j)
{
    return (i == j) + H * 100 / (1 + abs(i - j));
}

static void *on_device(int64_t bytes)
{
    void *memory;
    check_cuda(cudaMalloc(&memory, (size_t)bytes), "cudaMalloc");
    return memory;
}

/* What the solves of a step need, all of it made before the first one. */
struct step {
    libsolver_trsv_prepared forward, backward; /* L, and L^T from the same lower triangle */
    void *workspace;
    int64_t workspace_bytes;
};

static struct step prepare(const double *L, cudaStream_t stream)
{
    struct step s;
    const int64_t bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, N);
    check(libsolver_trsv_prepare(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE,
                                 LIBSOLVER_NON_UNIT, N, L, N, on_device(bytes), bytes, 0, stream,
                                 &s.forward),
          "trsv_prepare, L");
    check(libsolver_trsv_prepare(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE,
                                 LIBSOLVER_NON_UNIT, N, L, N, on_device(bytes), bytes, 0, stream,
                                 &s.backward),
          "trsv_prepare, L^T");
    s.workspace_bytes = libsolver_trsv_workspace_bytes(N);
    s.workspace = on_device(s.workspace_bytes);
    check(libsolver_trsv_workspace_init(s.workspace, s.workspace_bytes, stream), "workspace_init");
    return s;
}

/* u := inv(I + h K) u.  One workspace serves both solves, since one follows the other on the
 * stream. */
static void launch_step(const struct step *s, double *u, cudaStream_t stream)
{
    check(libsolver_trsv_solve(&s->forward, u, 1, s->workspace, s->workspace_bytes, stream),
          "trsv_solve, L");
    check(libsolver_trsv_solve(&s->backward, u, 1, s->workspace, s->workspace_bytes, stream),
          "trsv_solve, L^T");
}

static cudaGraphExec_t capture_step(const struct step *s, double *u, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch_step(s, u, stream);
    check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
    check_cuda(cudaGraphInstantiateWithFlags(&ready, graph, 0), "instantiate");
    check_cuda(cudaGraphDestroy(graph), "destroy");
    return ready;
}

/* L L^T = I + h K, in the lower triangle of the matrix; returns LAPACK's info. */
static int factorize(double *A, cudaStream_t stream)
{
    const int64_t bytes = libsolver_potrf_workspace_bytes(LIBSOLVER_D, N);
    void *workspace = on_device(bytes), *info = on_device(sizeof(int));
    int found;
    check(libsolver_potrf(LIBSOLVER_D, LIBSOLVER_LOWER, N, A, N, info, workspace, bytes, stream),
          "potrf");
    check_cuda(cudaMemcpyAsync(&found, info, sizeof found, cudaMemcpyDeviceToHost, stream), "copy");
    check_cuda(cudaStreamSynchronize(stream), "synchronize");
    check_cuda(cudaFree(workspace), "cudaFree");
    check_cuda(cudaFree(info), "cudaFree");
    return found;
}

int main(void)
{
    static double a[N * N], before[N], after[N];
    const size_t bytes = sizeof before;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "dense_steps: there is no GPU\n");
        return 77;
    }
    cudaStream_t stream;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");

    double *A = on_device(sizeof a), *u = on_device(sizeof before);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[i + j * N] = entry(i, j);
    check_cuda(cudaMemcpyAsync(A, a, sizeof a, cudaMemcpyHostToDevice, stream), "copy");
    printf("factorized: info %d\n", factorize(A, stream));

    const struct step s = prepare(A, stream);
    printf("prepared: growth %.2f and %.2f, blocks of %d\n", s.forward.growth, s.backward.growth,
           (int)s.forward.block);

    for (int i = 0; i < N; i++)
        before[i] = i == N / 2; /* all the heat in the middle */
    check_cuda(cudaMemcpyAsync(u, before, bytes, cudaMemcpyHostToDevice, stream), "copy");
    cudaGraphExec_t step = capture_step(&s, u, stream);
    for (int k = 0; k < STEPS; k++) {
        if (k == STEPS - 1) /* to see below whether the last step was solved */
            check_cuda(cudaMemcpyAsync(before, u, bytes, cudaMemcpyDeviceToHost, stream), "copy");
        check_cuda(cudaGraphLaunch(step, stream), "launch");
    }
    check_cuda(cudaMemcpyAsync(after, u, bytes, cudaMemcpyDeviceToHost, stream), "copy");
    check_cuda(cudaStreamSynchronize(stream), "synchronize");

    double residual = 0, largest = 0;
    for (int i = 0; i < N; i++) {
        double sum = before[i], size = 0;
        for (int j = 0; j < N; j++) {
            sum -= entry(i, j) * after[j];
            size += fabs(entry(i, j) * after[j]);
        }
        residual = fmax(residual, fabs(sum) / (size + fabs(before[i])));
        largest = fmax(largest, fabs(after[i]));
    }
    printf("%d steps: largest %.3f, backward error of the last one %.1e\n", STEPS, largest,
           residual);

    check_cuda(cudaGraphExecDestroy(step), "destroy");
    const void *memory[] = {A, u, s.workspace};
    for (int k = 0; k < 3; k++)
        check_cuda(cudaFree((void *)memory[k]), "cudaFree");
    check_cuda(cudaStreamDestroy(stream), "stream");
    return 0;
}
