/* examples/interior_point.cu: an interior-point method that stays on the GPU: refactorization,
 * solve and refinement of an iteration are one CUDA graph, which is launched without a look at
 * anything
 *
 *     minimize  1/2 x^T K x - f^T x   subject to  x >= 0
 *
 * K is the Laplacian of a square grid; f is such that a membrane touches the ground in half of the
 * square, where z = K x - f > 0 presses against it.  Every iteration solves
 *
 *     (K + Z / X) dx = f - K x + mu / x,    dz = mu / x - z - (Z / X) dx,
 *
 * positive definite, with new values on the diagonal that run from 0 to infinity.  What became of
 * the factor and of the solve stays on the device too: an iteration that failed would change
 * nothing and be counted.  Needs CUDA (nvcc, -lcudart).
 * SPDX-License-Identifier: BSD-3-Clause */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <libsolver.h>

constexpr int SIDE = 60, N = SIDE * SIDE, ENTRIES = 3 * N - 2 * SIDE, THREADS = 1024, LAUNCHES = 40,
              REFINEMENT_STEPS = 2;

/* All of it on the device. */
struct method {
    double *x, *z, *f, *step; /* step: the right-hand side, then dx */
    double *values;           /* of K + Z / X, as libsolver has been shown them */
    const int *diagonal;      /* where the diagonal entries of it are */
    double *mu, *error;       /* error: backward error of dx */
    libsolver_status *factorized, *solved;
    int *iterations, *failures;
};

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status >= 0)
        return;
    fprintf(stderr, "interior_point: %s: %s. %s\n", call, libsolver_status_sentence(status),
            message);
    exit(1);
}

static void check_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "interior_point: %s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}

template <typename T> static T *on_device(int count, const T *from)
{
    void *to;
    check_cuda(cudaMalloc(&to, sizeof(T) * (size_t)count), "cudaMalloc");
    check_cuda(from ? cudaMemcpy(to, from, sizeof(T) * (size_t)count, cudaMemcpyHostToDevice)
                    : cudaMemset(to, 0, sizeof(T) * (size_t)count),
               "copy");
    return static_cast<T *>(to);
}

/* ---- One iteration --------------------------------------------------------------------------- */

/* (K x)_i */
static __host__ __device__ double laplacian(const double *x, int i)
{
    const int row = i / SIDE, column = i % SIDE;
    return 4 * x[i] - (row > 0 ? x[i - SIDE] : 0) - (row < SIDE - 1 ? x[i + SIDE] : 0) -
           (column > 0 ? x[i - 1] : 0) - (column < SIDE - 1 ? x[i + 1] : 0);
}

/* Of all threads of the one block. */
template <typename Operation> static __device__ double reduce(double mine, Operation combine)
{
    __shared__ double part[THREADS];
    part[threadIdx.x] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] = combine(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    const double all = part[0];
    __syncthreads();
    return all;
}

static __device__ double largest_step(double v, double dv)
{
    return dv < 0 ? -0.995 * v / dv : 1;
}

/* The values of the matrix, and the right-hand side. */
static __global__ void __launch_bounds__(THREADS) assemble(method m)
{
    double product = 0;
    for (int i = threadIdx.x; i < N; i += THREADS)
        product += m.x[i] * m.z[i];
    const double mu = 0.1 / N * reduce(product, [](double a, double b) { return a + b; });
    for (int i = threadIdx.x; i < N; i += THREADS) {
        m.values[m.diagonal[i]] = 4 + m.z[i] / m.x[i];
        m.step[i] = m.f[i] - laplacian(m.x, i) + mu / m.x[i];
    }
    if (threadIdx.x == 0)
        *m.mu = mu;
}

/* x and z go as far as they may. */
static __global__ void __launch_bounds__(THREADS) advance(method m)
{
    const bool fails = *m.factorized != LIBSOLVER_OK || *m.solved != LIBSOLVER_OK;
    const double mu = *m.mu;
    if (fails && threadIdx.x == 0)
        ++*m.failures;
    if (fails || mu < 1e-15) /* it has converged */
        return;
    double primal = 1, dual = 1;
    for (int i = threadIdx.x; i < N; i += THREADS) {
        const double dz = mu / m.x[i] - m.z[i] - m.z[i] / m.x[i] * m.step[i];
        primal = fmin(primal, largest_step(m.x[i], m.step[i]));
        dual = fmin(dual, largest_step(m.z[i], dz));
    }
    const auto least = [](double a, double b) { return fmin(a, b); };
    primal = reduce(primal, least);
    dual = reduce(dual, least);
    for (int i = threadIdx.x; i < N; i += THREADS) {
        m.z[i] += dual * (mu / m.x[i] - m.z[i] - m.z[i] / m.x[i] * m.step[i]);
        m.x[i] += primal * m.step[i];
    }
    if (threadIdx.x == 0)
        ++*m.iterations;
}

static void launch_iteration(const method &m, libsolver_factor *F, cudaStream_t stream)
{
    libsolver_matrix A = {};
    A.n = N;
    A.values = m.values;
    A.place = LIBSOLVER_DEVICE;
    libsolver_vectors B = {};
    B.values = m.step;
    B.rows = B.ld = N;
    B.columns = 1;
    B.place = LIBSOLVER_DEVICE;
    assemble<<<1, THREADS, 0, stream>>>(m);
    check(libsolver_refactorize_async(F, &A, m.factorized), "refactorize_async",
          libsolver_factor_message(F));
    check(libsolver_solve_async(F, NULL, REFINEMENT_STEPS, &B, &B, m.error, m.solved),
          "solve_async", libsolver_factor_message(F));
    advance<<<1, THREADS, 0, stream>>>(m);
    check_cuda(cudaGetLastError(), "launch");
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* Lower triangle by columns. */
static void build(int *pointers, int *rows, double *values, int *diagonal)
{
    int next = 0;
    for (int j = 0; j < N; j++) {
        pointers[j] = diagonal[j] = next;
        rows[next] = j;
        values[next++] = 4;
        const int neighbour[2] = {j % SIDE < SIDE - 1 ? j + 1 : N, j + SIDE};
        for (int i : neighbour)
            if (i < N) {
                rows[next] = i;
                values[next++] = -1;
            }
    }
    pointers[N] = next;
}

/* The solution that f is made for: x on one half of the square, z on the other. */
static double known_x(int i)
{
    return i % SIDE < SIDE / 2 ? 1 + (i / SIDE) % 7 : 0;
}

static double known_z(int i)
{
    return i % SIDE < SIDE / 2 ? 0 : 1 + i % 5;
}

int main()
{
    static int pointers[N + 1], rows[ENTRIES], diagonal[N];
    static double values[ENTRIES], known[N], f[N], ones[N], x[N];
    int devices = 0, iterations, failures;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fprintf(stderr, "interior_point: there is no GPU\n");
        return 77;
    }
    cudaStream_t stream;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    build(pointers, rows, values, diagonal);
    for (int i = 0; i < N; i++)
        known[i] = known_x(i), ones[i] = 1;
    for (int i = 0; i < N; i++)
        f[i] = laplacian(known, i) - known_z(i);
    method m = {};
    m.x = on_device(N, ones);
    m.z = on_device(N, ones);
    m.f = on_device(N, f);
    m.step = on_device<double>(N, nullptr);
    m.values = on_device(ENTRIES, values);
    m.diagonal = on_device(N, diagonal);
    m.mu = on_device<double>(1, nullptr);
    m.error = on_device<double>(1, nullptr);
    m.factorized = on_device<libsolver_status>(1, nullptr);
    m.solved = on_device<libsolver_status>(1, nullptr);
    m.iterations = on_device<int>(1, nullptr);
    m.failures = on_device<int>(1, nullptr);
    check_cuda(cudaDeviceSynchronize(), "synchronize");

    /* the pattern and a first factor, by calls that wait */
    libsolver_options options;
    libsolver_options_default(&options);
    options.backend = LIBSOLVER_BACKEND_GPU;
    options.kind = LIBSOLVER_KIND_SPD;
    options.stream = stream;
    libsolver_matrix A = {};
    A.n = N;
    A.pointers = pointers;
    A.indices = rows;
    A.values = values;
    libsolver_factor *F;
    check(libsolver_factor_matrix(&A, &options, &F), "factor_matrix", libsolver_factor_message(F));

    /* the first iteration takes what memory it needs; the others are a graph */
    launch_iteration(m, F, stream);
    cudaGraph_t captured;
    cudaGraphExec_t iteration;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch_iteration(m, F, stream);
    check_cuda(cudaStreamEndCapture(stream, &captured), "capture");
    check_cuda(cudaGraphInstantiate(&iteration, captured, 0), "instantiate");
    for (int k = 0; k < LAUNCHES; k++)
        check_cuda(cudaGraphLaunch(iteration, stream), "launch");
    check_cuda(cudaMemcpyAsync(x, m.x, sizeof x, cudaMemcpyDeviceToHost, stream), "copy");
    check_cuda(cudaMemcpyAsync(&iterations, m.iterations, sizeof(int), cudaMemcpyDeviceToHost,
                               stream),
               "copy");
    check_cuda(cudaMemcpyAsync(&failures, m.failures, sizeof(int), cudaMemcpyDeviceToHost, stream),
               "copy");
    check_cuda(cudaStreamSynchronize(stream), "synchronize");

    double error = 0;
    for (int i = 0; i < N; i++)
        error = fmax(error, fabs(x[i] - known[i]));
    printf("%d iterations, %d failures\n", iterations, failures);
    printf("largest error of x: %.1e\n", error);

    /* the host asks, and is told of the last iteration's factor */
    libsolver_inertia_counts inertia;
    check(libsolver_inertia(F, &inertia), "inertia", libsolver_factor_message(F));
    printf("%lld positive pivots, certain: %d\n", (long long)inertia.positive, inertia.certain);

    cudaGraphExecDestroy(iteration);
    cudaGraphDestroy(captured);
    libsolver_factor_free(F);
    return 0;
}
