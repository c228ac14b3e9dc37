/* bench/dense/bench_trsm.cu: triangular solves with several right-hand sides against cuBLAS in the
 * same run
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_trsm [-t sdcz] [-op NTC] [-side LR] [-n N,N,...] [-k NRHS,NRHS,...]
 *
 * One row an order and number of right-hand sides: microseconds in a graph (median) of cuBLAS, the
 * one-shot and the prepared solve, and of preparing; ratios of cuBLAS's time to ours; the floor of
 * bytes (the triangle read once at the read bandwidth measured first) as a percentage of our times;
 * the largest difference from cuBLAS's solution.  Last the geometric means of the ratios and the
 * smallest. */
#include "bench/dense/bench.h"
#include <cstring>

struct problem_case {
    libsolver_side side;
    triangle_case triangle;
};

template <typename T>
static void cublas_trsm(cublasHandle_t h, problem_case c, int64_t m, int64_t n, const T *a,
                        int64_t lda, T *b, int64_t ldb)
{
    const cublasSideMode_t side = c.side == LIBSOLVER_LEFT ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t uplo =
        c.triangle.uplo == LIBSOLVER_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C},
                            op = ops[c.triangle.trans];
    const cublasDiagType_t diag = CUBLAS_DIAG_NON_UNIT;
    const T one = from_real<T>(1);
    if constexpr (type_of<T>::name[0] == 's')
        CHECK(cublasStrsm(h, side, uplo, op, diag, (int)m, (int)n, &one, a, (int)lda, b, (int)ldb));
    else if constexpr (type_of<T>::name[0] == 'd')
        CHECK(cublasDtrsm(h, side, uplo, op, diag, (int)m, (int)n, &one, a, (int)lda, b, (int)ldb));
    else if constexpr (type_of<T>::name[0] == 'c')
        CHECK(cublasCtrsm(h, side, uplo, op, diag, (int)m, (int)n, (const cuComplex *)&one,
                          (const cuComplex *)a, (int)lda, (cuComplex *)b, (int)ldb));
    else
        CHECK(cublasZtrsm(h, side, uplo, op, diag, (int)m, (int)n, (const cuDoubleComplex *)&one,
                          (const cuDoubleComplex *)a, (int)lda, (cuDoubleComplex *)b, (int)ldb));
}

/* Geometric mean and smallest of ratios. */
struct ratios {
    double logarithm = 0, least = INFINITY;
    int count = 0;
    void add(double r)
    {
        logarithm += std::log(r);
        least = std::min(least, r);
        count++;
    }
    double mean() const { return std::exp(logarithm / count); }
};

/* Of 2 to 16 right-hand sides and of more. */
struct outcome {
    ratios one_shot[2], prepared[2];
};

template <typename T>
static void row(const bench_device &d, problem_case c, int64_t n, int64_t nrhs, outcome &sum)
{
    const libsolver_type type = type_of<T>::value;
    const bool left = c.side == LIBSOLVER_LEFT;
    const int64_t m = left ? n : nrhs, columns = left ? nrhs : n, count = n * nrhs;
    const int64_t work_bytes = libsolver_trsm_workspace_bytes(n, nrhs),
                  storage_bytes = libsolver_trsm_prepare_bytes(type, n);
    T *a, *b;
    char *work, *storage;
    CHECK(cudaMalloc(&a, (size_t)(n * n) * sizeof(T)));
    CHECK(cudaMalloc(&b, (size_t)count * sizeof(T)));
    CHECK(cudaMalloc(&work, (size_t)work_bytes));
    CHECK(cudaMalloc(&storage, (size_t)storage_bytes));
    fill_triangle<<<1320, 256, 0, d.stream>>>(a, n, n, n * n);
    CHECK(libsolver_trsm_workspace_init(work, work_bytes, d.stream));
    std::vector<T> reference((size_t)count), ours((size_t)count);
    const auto solved = [&](std::vector<T> &to, auto call) {
        fill_vector<<<32, 256, 0, d.stream>>>(b, count);
        call();
        CHECK(cudaMemcpyAsync(to.data(), b, (size_t)count * sizeof(T), cudaMemcpyDeviceToHost,
                              d.stream));
        CHECK(cudaStreamSynchronize(d.stream));
    };
    double worst = 0;
    const int inner = 10;
    const auto measure = [&](auto call) {
        solved(ours, call);
        double largest = 0, most = 0;
        for (int64_t i = 0; i < count; i++) {
            const double off = magnitude(ours[(size_t)i] - reference[(size_t)i]);
            most = off == off ? std::max(most, off) : INFINITY;
            largest = std::max(largest, (double)magnitude(reference[(size_t)i]));
        }
        worst = std::max(worst, most / largest);
        return graph_time(d.stream, call, inner, 7);
    };
    const triangle_case t = c.triangle;
    const auto peer = [&] { cublas_trsm(d.cublas, c, m, columns, a, n, b, m); };
    solved(reference, peer);
    const double peer_time = graph_time(d.stream, peer, n > 2048 ? 2 : inner, 5);
    const double one = measure([&] {
        CHECK(libsolver_trsm(type, c.side, t.uplo, t.trans, t.diag, m, columns, nullptr, a, n, b, m,
                             work, work_bytes, d.stream));
    });
    libsolver_trsm_prepared prepared;
    const auto prepare = [&] {
        CHECK(libsolver_trsm_prepare(type, c.side, t.uplo, t.trans, t.diag, n, a, n, storage,
                                     storage_bytes, 0, d.stream, &prepared));
    };
    prepare();
    const double often = measure([&] {
        CHECK(libsolver_trsm_solve(&prepared, nrhs, nullptr, b, m, work, work_bytes, d.stream));
    });
    const double preparation = graph_time(d.stream, prepare, 2, 3);
    const double floor = (double)n * (double)(n + 1) / 2 * sizeof(T) / d.bandwidth * 1e-6;
    printf("%6lld %5lld %9.2f %8.2f %8.2f %9.1f | %5.1fx %5.1fx | %5.1f%% %5.1f%% | %.0e\n",
           (long long)n, (long long)nrhs, peer_time, one, often, preparation, peer_time / one,
           peer_time / often, 100 * floor / one, 100 * floor / often, worst);
    fflush(stdout);
    sum.one_shot[nrhs > 16].add(peer_time / one);
    sum.prepared[nrhs > 16].add(peer_time / often);
    for (void *p : {(void *)a, (void *)b, (void *)work, (void *)storage})
        CHECK(cudaFree(p));
}

template <typename T>
static void table(const bench_device &d, problem_case c, const std::vector<int64_t> &orders,
                  const std::vector<int64_t> &counts)
{
    printf(
        "%ctrsm %s lower, op %c, us in a graph; read bandwidth %.2f TB/s\n     n  nrhs    cuBLAS "
        "one shot prepared   prepare | cuBLAS/ours  | floor/ours | difference\n",
        type_of<T>::name[0], c.side == LIBSOLVER_LEFT ? "left" : "right", "NTC"[c.triangle.trans],
        d.bandwidth);
    outcome sum;
    for (int64_t n : orders)
        for (int64_t nrhs : counts)
            row<T>(d, c, n, nrhs, sum);
    for (int many = 0; many < 2; many++)
        if (sum.one_shot[many].count > 0)
            printf("%ctrsm, nrhs %s: one shot %.1fx (least %.2f), prepared %.1fx (least %.2f)\n",
                   type_of<T>::name[0], many ? "17-64" : "2-16", sum.one_shot[many].mean(),
                   sum.one_shot[many].least, sum.prepared[many].mean(), sum.prepared[many].least);
}

static std::vector<int64_t> numbers(const char *text)
{
    std::vector<int64_t> list;
    for (char *p = (char *)text; *p != '\0'; p += *p == ',')
        list.push_back(strtoll(p, &p, 10));
    return list;
}

int main(int argc, char **argv)
{
    const char *types = "d", *op = "N", *side = "L";
    std::vector<int64_t> orders = {256, 512, 1024, 2048, 4096, 8192},
                         counts = {2, 4, 8, 16, 17, 32, 48, 64};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-t") == 0)
            types = argv[i + 1];
        else if (strcmp(argv[i], "-op") == 0)
            op = argv[i + 1];
        else if (strcmp(argv[i], "-side") == 0)
            side = argv[i + 1];
        else if (strcmp(argv[i], "-n") == 0)
            orders = numbers(argv[i + 1]);
        else if (strcmp(argv[i], "-k") == 0)
            counts = numbers(argv[i + 1]);
    }
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    for (const char *s = side; *s != '\0'; s++)
        for (const char *o = op; *o != '\0'; o++)
            for (const char *t = types; *t != '\0'; t++) {
                const libsolver_transpose trans = *o == 'N'   ? LIBSOLVER_NO_TRANSPOSE
                                                  : *o == 'T' ? LIBSOLVER_TRANSPOSE
                                                              : LIBSOLVER_CONJUGATE_TRANSPOSE;
                const problem_case c = {*s == 'L' ? LIBSOLVER_LEFT : LIBSOLVER_RIGHT,
                                        {LIBSOLVER_LOWER, trans, LIBSOLVER_NON_UNIT}};
                if (*t == 's')
                    table<float>(device, c, orders, counts);
                else if (*t == 'd')
                    table<double>(device, c, orders, counts);
                else if (*t == 'c')
                    table<complex_s>(device, c, orders, counts);
                else if (*t == 'z')
                    table<complex_d>(device, c, orders, counts);
            }
    return 0;
}
