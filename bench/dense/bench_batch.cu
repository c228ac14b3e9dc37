/* bench/dense/bench_batch.cu: batches of problems of one size against cublas<t>trsmBatched, a loop
 * of cublas<t>trsv and cusolverDn<t>potrfBatched
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Double precision, lower; microseconds a batch in a graph.  The loop of trsv is timed for 20
 * problems and scaled.  The floor is the bytes of the triangles at the read bandwidth measured
 * first; of what is changed in place both ways are counted.
 *
 * bench_batch [vectors|columns|place [LEAST_ORDER]] */
#include "bench/dense/bench.h"
#include <cstring>
#include <cusolverDn.h>

/* Triangles, right-hand sides and what the calls for pointers and for sizes read, on the device. */
struct batch_memory {
    double *a, *x, **as, **xs;
    int64_t *orders, *widths;
    int *info;

    batch_memory(int64_t n, int64_t columns, int64_t batch)
    {
        CHECK(cudaMalloc(&a, sizeof(double) * (size_t)(batch * n * n)));
        CHECK(cudaMalloc(&x, sizeof(double) * (size_t)(batch * n * columns)));
        CHECK(cudaMalloc(&info, sizeof(int) * (size_t)batch));
        std::vector<double *> to_a, to_x;
        for (int64_t k = 0; k < batch; k++) {
            to_a.push_back(a + k * n * n);
            to_x.push_back(x + k * n * columns);
        }
        as = copy(to_a);
        xs = copy(to_x);
        orders = copy(std::vector<int64_t>((size_t)batch, n));
        widths = copy(std::vector<int64_t>((size_t)batch, columns));
        CHECK(cudaDeviceSynchronize()); /* kernels come on a stream of their own */
    }
    ~batch_memory()
    {
        for (void *p : {(void *)a, (void *)x, (void *)as, (void *)xs, (void *)orders,
                        (void *)widths, (void *)info})
            CHECK(cudaFree(p));
    }
    batch_memory(const batch_memory &) = delete;
    template <typename S> static S *copy(const std::vector<S> &from)
    {
        S *to;
        CHECK(cudaMalloc(&to, sizeof(S) * from.size()));
        CHECK(cudaMemcpy(to, from.data(), sizeof(S) * from.size(), cudaMemcpyHostToDevice));
        return to;
    }
};

/* One line of the table. */
static void measure_batch(const bench_device &device, libsolver_transpose trans, int64_t n,
                          int64_t batch)
{
    const cudaStream_t stream = device.stream;
    const cublasHandle_t cublas = device.cublas;
    const triangle_case c = {LIBSOLVER_LOWER, trans, LIBSOLVER_NON_UNIT};
    const batch_memory m(n, 1, batch);
    fill_triangle<<<1320, 256, 0, stream>>>(m.a, n, n, batch * n * n);
    std::vector<double> ours((size_t)(batch * n)), peers(ours.size());
    const auto solved = [&](std::vector<double> &to, auto call) {
        fill_vector<<<132, 256, 0, stream>>>(m.x, batch * n);
        call();
        CHECK(cudaMemcpyAsync(to.data(), m.x, sizeof(double) * to.size(), cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaStreamSynchronize(stream));
    };
    const double one = 1;
    const cublasOperation_t op = trans == LIBSOLVER_NO_TRANSPOSE ? CUBLAS_OP_N : CUBLAS_OP_T;
    const auto peer = [&] {
        CHECK(cublasDtrsmBatched(cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op,
                                 CUBLAS_DIAG_NON_UNIT, (int)n, 1, &one, m.as, (int)n, m.xs, (int)n,
                                 (int)batch));
    };
    const auto loop = [&] {
        for (int k = 0; k < 20; k++)
            cublas_trsv(cublas, c, n, m.a + k * n * n, n, m.x + k * n);
    };
    double worst = 0;
    const auto measure = [&](auto call) {
        solved(ours, call);
        for (size_t i = 0; i < ours.size(); i++)
            worst = std::max(worst, ours[i] == ours[i] ? fabs(ours[i] - peers[i]) : INFINITY);
        return graph_time(stream, call, 3, 9);
    };
    solved(peers, peer);
    const double peer_time = graph_time(stream, peer, 3, 9);
    const double loop_time = graph_time(stream, loop, 1, 9) * (double)batch / 20;
    const double strided = measure([&] {
        CHECK(libsolver_trsv_strided_batched(LIBSOLVER_D, c.uplo, trans, c.diag, n, m.a, n, n * n,
                                             m.x, 1, n, batch, stream));
    });
    const double pointers = measure([&] {
        CHECK(libsolver_trsv_batched(LIBSOLVER_D, c.uplo, trans, c.diag, n,
                                     (const void *const *)m.as, n, (void *const *)m.xs, 1, batch,
                                     stream));
    });
    const double variable = measure([&] {
        CHECK(libsolver_trsv_variable_batched(LIBSOLVER_D, c.uplo, trans, c.diag, n, m.orders,
                                              (const void *const *)m.as, m.orders,
                                              (void *const *)m.xs, 1, batch, stream));
    });
    const double floor = (double)(batch * n * (n + 1) / 2 * 8) / device.bandwidth * 1e-6,
                 best = std::min(peer_time, loop_time);
    printf("  %c %4lld %6lld %12.1f %10.0f %9.1f %9.1f %9.1f %8.1f  %6.1fx %6.1fx  %.0e\n",
           "NT"[trans], (long long)n, (long long)batch, peer_time, loop_time, strided, pointers,
           variable, floor, best / strided, best / variable, worst);
    fflush(stdout);
}

/* max |x - y| over the entries (i,j) of n x n matrices behind each other with i >= j, or over all.
 */
static double worst_difference(const std::vector<double> &x, const std::vector<double> &y,
                               int64_t n, bool triangles)
{
    double worst = 0;
    for (int64_t e = 0; e < (int64_t)x.size(); e++)
        if (!triangles || e % n >= e / n % n)
            worst = std::max(worst, x[(size_t)e] == x[(size_t)e] ? fabs(x[(size_t)e] - y[(size_t)e])
                                                                 : INFINITY);
    return worst;
}
static std::vector<double> from_device(const double *p, int64_t count, cudaStream_t stream)
{
    std::vector<double> v((size_t)count);
    CHECK(cudaMemcpyAsync(v.data(), p, sizeof(double) * v.size(), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return v;
}

/* Several right-hand sides. */
static void measure_columns(const bench_device &device, libsolver_side side,
                            libsolver_transpose trans, int64_t n, int64_t columns, int64_t batch)
{
    const cudaStream_t stream = device.stream;
    const batch_memory m(n, columns, batch);
    const bool right = side == LIBSOLVER_RIGHT;
    const int64_t rows = right ? columns : n, across = right ? n : columns;
    const double one = 1;
    fill_triangle<<<1320, 256, 0, stream>>>(m.a, n, n, batch * n * n);
    std::vector<double> x[3];
    double time[3];
    const auto measure = [&](int which, auto call) {
        fill_vector<<<132, 256, 0, stream>>>(m.x, batch * n * columns);
        call();
        x[which] = from_device(m.x, batch * n * columns, stream);
        time[which] = graph_time(stream, call, 3, 9);
    };
    measure(0, [&] {
        CHECK(cublasDtrsmBatched(device.cublas, right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                                 CUBLAS_FILL_MODE_LOWER,
                                 trans == LIBSOLVER_NO_TRANSPOSE ? CUBLAS_OP_N : CUBLAS_OP_T,
                                 CUBLAS_DIAG_NON_UNIT, (int)rows, (int)across, &one, m.as, (int)n,
                                 m.xs, (int)rows, (int)batch));
    });
    measure(1, [&] {
        CHECK(libsolver_trsm_strided_batched(LIBSOLVER_D, side, LIBSOLVER_LOWER, trans,
                                             LIBSOLVER_NON_UNIT, rows, across, m.a, n, n * n, m.x,
                                             rows, n * columns, batch, stream));
    });
    const int64_t *const ms = right ? m.widths : m.orders, *const ns = right ? m.orders : m.widths;
    measure(2, [&] {
        CHECK(libsolver_trsm_variable_batched(LIBSOLVER_D, side, LIBSOLVER_LOWER, trans,
                                              LIBSOLVER_NON_UNIT, rows, across, ms, ns,
                                              (const void *const *)m.as, m.orders,
                                              (void *const *)m.xs, ms, batch, stream));
    });
    const double worst =
        std::max(worst_difference(x[1], x[0], n, false), worst_difference(x[2], x[0], n, false));
    const double floor =
        (double)(batch * n * (n + 1 + 4 * columns) / 2 * 8) / device.bandwidth * 1e-6;
    printf("  %c %c %4lld %4lld %6lld %12.1f %9.1f %9.1f %8.1f  %6.1fx %6.1fx  %.0e\n", "LR"[side],
           "NT"[trans], (long long)n, (long long)columns, (long long)batch, time[0], time[1],
           time[2], floor, time[0] / time[1], time[0] / time[2], worst);
    fflush(stdout);
}

__global__ void raise_diagonal(double *a, int64_t n, int64_t count)
{
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < count;
         e += (int64_t)gridDim.x * blockDim.x)
        a[e / n * n * n + e % n * (n + 1)] = 1.5;
}
__global__ void identity(double *x, int64_t n, int64_t count)
{
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < count;
         e += (int64_t)gridDim.x * blockDim.x)
        x[e] = e % n == e / n % n;
}

/* Factors beside cuSOLVER's, inverses beside solves with the identity.  In place again and again:
 * what is there stays positive definite, near a multiple of the identity. */
static void measure_place(const bench_device &device, cusolverDnHandle_t cusolver, int64_t n,
                          int64_t batch)
{
    const cudaStream_t stream = device.stream;
    const batch_memory m(n, n, batch);
    const int64_t entries = batch * n * n;
    const double one = 1;
    std::vector<double> x[4];
    double time[4];
    const auto measure = [&](int which, const double *result, auto call) {
        fill_triangle<<<1320, 256, 0, stream>>>(m.a, n, n, entries);
        raise_diagonal<<<132, 256, 0, stream>>>(m.a, n, batch * n);
        identity<<<132, 256, 0, stream>>>(m.x, n, entries);
        call();
        x[which] = from_device(result, entries, stream);
        time[which] = graph_time(stream, call, 3, 9);
    };
    measure(0, m.a, [&] {
        CHECK(cusolverDnDpotrfBatched(cusolver, CUBLAS_FILL_MODE_LOWER, (int)n, m.as, (int)n,
                                      m.info, (int)batch));
    });
    measure(1, m.a, [&] {
        CHECK(libsolver_potrf_strided_batched(LIBSOLVER_D, LIBSOLVER_LOWER, n, m.a, n, n * n,
                                              m.info, batch, stream));
    });
    measure(2, m.x, [&] {
        CHECK(cublasDtrsmBatched(device.cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                 CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, (int)n, (int)n, &one, m.as,
                                 (int)n, m.xs, (int)n, (int)batch));
    });
    measure(3, m.a, [&] {
        CHECK(libsolver_trtri_strided_batched(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NON_UNIT, n,
                                              m.a, n, n * n, batch, stream));
    });
    printf("  %4lld %6lld %12.1f %9.1f %6.1fx %.0e %12.1f %9.1f %6.1fx %.0e %9.1f\n", (long long)n,
           (long long)batch, time[0], time[1], time[0] / time[1],
           worst_difference(x[1], x[0], n, true), time[2], time[3], time[2] / time[3],
           worst_difference(x[3], x[2], n, true),
           (double)(batch * n * (n + 1) * 8) / device.bandwidth * 1e-6);
    fflush(stdout);
}

static void all_vectors(const bench_device &device, int64_t least)
{
    printf("dtrsv batched, lower, us in a graph; read bandwidth %.2f TB/s\n op    n  batch  "
           "trsmBatched  loop trsv   strided  pointers  variable    floor  better peer / strided, "
           "variable  difference\n",
           device.bandwidth);
    for (libsolver_transpose trans : {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE})
        for (int64_t n : {8, 16, 32, 48, 64, 96, 128, 192, 256, 512, 1024})
            for (int64_t batch : {1000, 100000})
                if (n >= least && batch * n * n <= (int64_t)3e9 &&
                    (trans == LIBSOLVER_NO_TRANSPOSE || batch <= 1000))
                    measure_batch(device, trans, n, batch);
}
static void all_columns(const bench_device &device, int64_t least)
{
    printf(
        "dtrsm batched, lower\n side op n columns batch trsmBatched strided variable floor  peer "
        "/ strided, variable  difference\n");
    for (int64_t columns : {4, 16, 64})
        for (int64_t n : {8, 16, 32, 64, 128, 256, 512, 1024})
            if (n >= least)
                measure_columns(device, LIBSOLVER_LEFT, LIBSOLVER_NO_TRANSPOSE, n, columns, 1000);
    for (int64_t n : {32, 256, 1024}) {
        if (n < least)
            continue;
        measure_columns(device, LIBSOLVER_LEFT, LIBSOLVER_TRANSPOSE, n, 16, 1000);
        measure_columns(device, LIBSOLVER_RIGHT, LIBSOLVER_NO_TRANSPOSE, n, 16, 1000);
    }
}
static void all_in_place(const bench_device &device, int64_t least)
{
    cusolverDnHandle_t cusolver;
    CHECK(cusolverDnCreate(&cusolver));
    CHECK(cusolverDnSetStream(cusolver, device.stream));
    printf(
        "in place, lower\n n batch  potrfBatched potrf ratio difference  trsmBatched trtri ratio "
        "difference  floor\n");
    for (int64_t n : {8, 16, 32, 64, 128, 256, 512, 1024})
        if (n >= least)
            measure_place(device, cusolver, n, n > 500 ? 264 : 1000);
    CHECK(cusolverDnDestroy(cusolver));
}

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const auto wanted = [&](const char *part) { return argc < 2 || strcmp(argv[1], part) == 0; };
    const int64_t least = argc > 2 ? atoll(argv[2]) : 0;
    if (wanted("vectors"))
        all_vectors(device, least);
    if (wanted("columns"))
        all_columns(device, least);
    if (wanted("place"))
        all_in_place(device, least);
    return 0;
}
