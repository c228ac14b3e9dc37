/* examples/device_vectors.c: a sparse system on the GPU, with vectors and new values in its memory;
 * needs CUDA (-lcudart).  doc/gpu.md explains these calls.
 *
 * A is the Laplace matrix of a grid.  One analysis serves all values: A is factorized, solved with,
 * then the values are doubled on the device, factorized again there and solved with without a wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <cuda_runtime_api.h>
#include <libsolver.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 30, N = SIDE * SIDE, ENTRIES = 3 * N };

static void check(libsolver_status status, const char *sentence)
{
    if (status == LIBSOLVER_OK)
        return;
    fprintf(stderr, "device_vectors: %s: %s\n", libsolver_status_name(status), sentence);
    exit(1);
}

static void check_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "device_vectors: %s failed\n", call);
    exit(1);
}

/* A copy in device memory. */
static void *on_device(const void *host, size_t bytes)
{
    void *copy;
    check_cuda(cudaMalloc(&copy, bytes), "cudaMalloc");
    check_cuda(cudaMemcpy(copy, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return copy;
}

/* Largest error of x, which should be 1 everywhere, scaled. */
static double error_of(const double *x_on_device, double wanted)
{
    static double x[N];
    double largest = 0;
    check_cuda(cudaMemcpy(x, x_on_device, sizeof x, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (int i = 0; i < N; i++)
        largest = fmax(largest, fabs(x[i] - wanted));
    return largest;
}

int main(void)
{
    /* lower triangle by columns: 4 on the diagonal, -1 for neighbours; b = A (1, ..., 1) */
    static int32_t pointers[N + 1], rows[ENTRIES];
    static double values[ENTRIES], b[N];
    int32_t entries = 0;
    for (int32_t j = 0; j < N; j++) {
        const int32_t below[] = {(j + 1) % SIDE ? j + 1 : N, j + SIDE};
        rows[entries] = j;
        values[entries++] = 4;
        b[j] += 4;
        for (int k = 0; k < 2; k++)
            if (below[k] < N) {
                rows[entries] = below[k];
                values[entries++] = -1;
                b[j]--;
                b[below[k]]--;
            }
        pointers[j + 1] = entries;
    }
    const libsolver_matrix A = {.n = N, .pointers = pointers, .indices = rows, .values = values};

    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "device_vectors: no GPU\n");
        return 77;
    }
    cudaStream_t stream;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    double *b_on_device = on_device(b, sizeof b), *x_on_device = on_device(b, sizeof b);

    libsolver_options options;
    libsolver_options_default(&options);
    options.backend = LIBSOLVER_BACKEND_GPU;
    options.device = 0;
    options.stream = stream; /* a cudaStream_t; NULL: one of the library's own */

    libsolver_factor *F;
    libsolver_status status = libsolver_factor_matrix(&A, &options, &F); /* A: host memory */

    libsolver_vectors B = {.type = LIBSOLVER_D,
                           .values = b_on_device,
                           .rows = N,
                           .columns = 1,
                           .ld = N,
                           .place = LIBSOLVER_DEVICE};
    libsolver_vectors X = B;
    X.values = x_on_device;
    if (status == LIBSOLVER_OK)
        status = libsolver_solve(F, &B, &X); /* solves, refines, measures, waits */
    check(status, libsolver_factor_message(F));
    printf("solved on the device: error %.0e\n", error_of(x_on_device, 1));

    /* values that are computed on the device stay there: here 2 A, by a copy */
    for (int32_t k = 0; k < entries; k++)
        values[k] *= 2;
    double *values_on_device = on_device(values, (size_t)entries * sizeof *values);
    const libsolver_matrix again = {.n = N, .values = values_on_device, .place = LIBSOLVER_DEVICE};
    status = libsolver_refactorize(F, &again); /* the pattern is that of the analysis */
    check(status, libsolver_factor_message(F));

    /* nothing waits: the results are looked at after the stream has passed */
    double nothing[1] = {1};
    double *backward_error = on_device(nothing, sizeof nothing);
    libsolver_status *outcome = on_device(nothing, sizeof *outcome);
    status = libsolver_solve_async(F, NULL, 1, &B, &X, backward_error, outcome);
    check(status, libsolver_factor_message(F));
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

    double reached;
    check_cuda(cudaMemcpy(&reached, backward_error, sizeof reached, cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    check_cuda(cudaMemcpy(&status, outcome, sizeof status, cudaMemcpyDeviceToHost), "cudaMemcpy");
    printf("new values, without a wait: %s, backward error %.0e, error %.0e\n",
           libsolver_status_name(status), reached, error_of(x_on_device, 0.5));

    libsolver_factor_free(F);
    cudaFree(b_on_device);
    cudaFree(x_on_device);
    cudaFree(values_on_device);
    cudaFree(backward_error);
    cudaFree(outcome);
    cudaStreamDestroy(stream);
    return 0;
}
