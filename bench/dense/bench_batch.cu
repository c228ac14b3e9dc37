/* bench/dense/bench_batch.cu: batches of triangular solves against cublas<t>trsmBatched and a loop
 * of cublas<t>trsv
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Double precision, lower; microseconds a batch in a graph.  The loop of trsv is timed for 20
 * problems and scaled.  The floor is the bytes of the triangles at the read bandwidth measured
 * first. */
#include "bench/dense/bench.h"

/* Triangles, vectors and what the calls for pointers and for sizes read, on the device. */
struct batch_memory {
    double *a, *x, **as, **xs;
    int64_t *orders;

    batch_memory(int64_t n, int64_t batch)
    {
        CHECK(cudaMalloc(&a, sizeof(double) * (size_t)(batch * n * n)));
        CHECK(cudaMalloc(&x, sizeof(double) * (size_t)(batch * n)));
        std::vector<double *> to_a, to_x;
        for (int64_t k = 0; k < batch; k++) {
            to_a.push_back(a + k * n * n);
            to_x.push_back(x + k * n);
        }
        as = copy(to_a);
        xs = copy(to_x);
        orders = copy(std::vector<int64_t>((size_t)batch, n));
    }
    ~batch_memory()
    {
        for (void *p : {(void *)a, (void *)x, (void *)as, (void *)xs, (void *)orders})
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
    const batch_memory m(n, batch);
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

int main()
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    printf("dtrsv batched, lower, us in a graph; read bandwidth %.2f TB/s\n op    n  batch  "
           "trsmBatched  "
           "loop trsv   strided  pointers"
           "  variable    floor  better peer / strided, variable  difference\n",
           device.bandwidth);
    for (libsolver_transpose trans : {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE})
        for (int64_t n : {8, 16, 32, 48, 64, 96, 128, 256, 512, 1024})
            for (int64_t batch : {1000, 100000})
                if (batch * n * n <= (int64_t)3e9 &&
                    (trans == LIBSOLVER_NO_TRANSPOSE || batch <= 1000))
                    measure_batch(device, trans, n, batch);
    return 0;
}
