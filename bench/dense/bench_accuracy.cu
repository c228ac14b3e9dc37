/* bench/dense/bench_accuracy.cu: errors of substitution, of inverses by doubling and by Higham's
 * method B, and of cuBLAS
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For triangles of order 512 in double precision: componentwise backward error max_i |b - Lx|_i /
 * (|L||x| + |b|)_i and normwise forward error, in units of eps, against extended precision on the
 * host.  The Kahan matrices sweep the growth max row sum of |L_kk||inv(L_kk)| of the diagonal
 * blocks, which is what the guard limits. */
#include "bench/dense/bench.h"
#include <functional>
#include <string>

constexpr int N = 512, BLOCK = 256;
using matrix = std::vector<double>;
using wide = long double;

static uint64_t seed = 1;
static double uniform()
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(int64_t)(seed >> 11) / (double)(1ll << 52) - 1;
}

static matrix build(const std::function<double(int, int)> &entry)
{
    matrix L((size_t)N * N, 0);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            L[(size_t)(i + j * N)] = entry(i, j);
    return L;
}

/* R^T of Kahan's upper triangle: s^i on the diagonal, -c s^i beside it, s = sin(theta), c =
 * cos(theta) */
static matrix kahan(double theta)
{
    return build([&](int i, int j) { return pow(sin(theta), j) * (i == j ? 1 : -cos(theta)); });
}

/* Higham's method B for L(f:f+m, f:f+m): X22 and X11 by recursion, L22 X21 = -L21 X11 by
 * substitution */
static void method_b(const matrix &L, matrix &X, int f, int m)
{
    const auto at = [](int i, int j) { return (size_t)(i + j * N); };
    if (m == 1) {
        X[at(f, f)] = 1 / L[at(f, f)];
        return;
    }
    const int h = m / 2;
    method_b(L, X, f, h);
    method_b(L, X, f + h, m - h);
    for (int j = f; j < f + h; j++)
        for (int i = f + h; i < f + m; i++) {
            double sum = 0;
            for (int k = j; k < f + h; k++)
                sum -= L[at(i, k)] * X[at(k, j)];
            for (int k = f + h; k < i; k++)
                sum -= L[at(i, k)] * X[at(k, j)];
            X[at(i, j)] = sum / L[at(i, i)];
        }
}

static std::vector<double> solve_method_b(const matrix &L, std::vector<double> x)
{
    matrix X(L.size(), 0);
    for (int r = 0; r < N; r += BLOCK) {
        method_b(L, X, r, BLOCK);
        std::vector<double> y(x.begin() + r, x.begin() + r + BLOCK);
        for (int i = 0; i < BLOCK; i++)
            for (int j = 0; j < r; j++)
                y[(size_t)i] -= L[(size_t)(r + i + j * N)] * x[(size_t)j];
        for (int i = 0; i < BLOCK; i++) {
            double sum = 0;
            for (int j = 0; j <= i; j++)
                sum += X[(size_t)(r + i + (r + j) * N)] * y[(size_t)j];
            x[(size_t)(r + i)] = sum;
        }
    }
    return x;
}

struct errors {
    double backward, forward; /* in eps */
};

static errors judge(const matrix &L, const std::vector<double> &b, const std::vector<double> &x)
{
    std::vector<wide> exact(N);
    wide backward = 0, difference = 0, size = 0;
    for (int i = 0; i < N; i++) {
        wide sum = b[(size_t)i], residual = sum, weight = fabsl(sum);
        for (int j = 0; j < i; j++)
            sum -= (wide)L[(size_t)(i + j * N)] * exact[(size_t)j];
        exact[(size_t)i] = sum / L[(size_t)(i + i * N)];
        for (int j = 0; j <= i; j++) {
            residual -= (wide)L[(size_t)(i + j * N)] * x[(size_t)j];
            weight += fabsl((wide)L[(size_t)(i + j * N)] * x[(size_t)j]);
        }
        backward = std::max(backward, fabsl(residual) / weight);
        difference = std::max(difference, fabsl(exact[(size_t)i] - x[(size_t)i]));
        size = std::max(size, fabsl(exact[(size_t)i]));
    }
    return {(double)(backward / 0x1p-53L), (double)(difference / size / 0x1p-53L)};
}

struct named_matrix {
    std::string name;
    matrix L;
};

static std::vector<named_matrix> matrices()
{
    std::vector<named_matrix> all;
    all.push_back({"random, diagonal 1..2", build([](int i, int j) {
                       return i == j ? 1.5 + uniform() / 2 : uniform() / sqrt(N);
                   })});
    all.push_back({"graded rows 1e-10", build([](int i, int j) {
                       return pow(10., -10. * i / N) *
                              (i == j ? 1.5 + uniform() / 2 : uniform() / sqrt(N));
                   })});
    all.push_back({"graded columns 1e-10", build([](int i, int j) {
                       return pow(10., -10. * j / N) *
                              (i == j ? 1.5 + uniform() / 2 : uniform() / sqrt(N));
                   })});
    all.push_back(
        {"unit, entries +-0.25", build([](int i, int j) { return i == j ? 1 : uniform() / 4; })});
    all.push_back(
        {"unit, entries +-1", build([](int i, int j) { return i == j ? 1 : uniform(); })});
    all.push_back(
        {"diagonal 1..1e-15", build([](int i, int j) { /* columns scaled: the condition is 1e15, x
                                                          stays finite */
                                                       return pow(10., -15. * ((j * 37) % N) / N) *
                                                              (i == j ? 1 : uniform() / sqrt(N));
         })});
    for (double theta : {1.56, 1.54, 1.52, 1.50, 1.48, 1.46, 1.44, 1.42, 1.40, 1.38, 1.36, 1.34,
                         1.32, 1.30, 1.25, 1.2}) {
        char name[40];
        snprintf(name, sizeof name, "Kahan %.2f", theta);
        all.push_back({name, kahan(theta)});
    }
    return all;
}

/* On the device: the triangle, the vector, a workspace and the storage of a prepared triangle. */
struct device_memory {
    double *a, *x;
    char *work, *storage;
    int64_t work_bytes = libsolver_trsv_workspace_bytes(N),
            bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, N);

    device_memory()
    {
        CHECK(cudaMalloc(&a, sizeof(double) * N * N));
        CHECK(cudaMalloc(&x, sizeof(double) * N));
        CHECK(cudaMalloc(&work, (size_t)work_bytes));
        CHECK(cudaMalloc(&storage, (size_t)bytes));
        CHECK(libsolver_trsv_workspace_init(work, work_bytes, nullptr));
    }
};

/* The errors of all methods, in the order of the columns; growth: of the diagonal blocks. */
static std::vector<errors> compare(const matrix &L, const device_memory &m, cublasHandle_t cublas,
                                   double &growth)
{
    std::vector<double> b(N), solved(N);
    for (double &v : b)
        v = uniform();
    CHECK(cudaMemcpy(m.a, L.data(), sizeof(double) * N * N, cudaMemcpyHostToDevice));
    const auto run = [&](auto call) {
        CHECK(cudaMemcpy(m.x, b.data(), sizeof(double) * N, cudaMemcpyHostToDevice));
        call();
        CHECK(cudaMemcpy(solved.data(), m.x, sizeof(double) * N, cudaMemcpyDeviceToHost));
        return judge(L, b, solved);
    };
    const auto one_shot = [&](int64_t invert_from) {
        return run([&] {
            libsolver_trsv_options o = libsolver_trsv_default_options();
            o.invert_from = invert_from;
            CHECK(libsolver_trsv(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE,
                                 LIBSOLVER_NON_UNIT, N, m.a, N, m.x, 1, m.work, m.work_bytes, &o,
                                 nullptr));
        });
    };
    libsolver_trsv_prepared prepared;
    const auto stored = [&](double limit) {
        return run([&] {
            CHECK(libsolver_trsv_prepare(LIBSOLVER_D, LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE,
                                         LIBSOLVER_NON_UNIT, N, m.a, N, m.storage, m.bytes, limit,
                                         nullptr, &prepared));
            CHECK(libsolver_trsv_solve(&prepared, m.x, 1, m.work, m.work_bytes, nullptr));
        });
    };
    const std::vector<errors> columns = {one_shot(INT64_MAX),
                                         stored(INFINITY),
                                         judge(L, b, solve_method_b(L, b)),
                                         one_shot(0),
                                         stored(0),
                                         run([&] {
                                             CHECK(cublasDtrsv(cublas, CUBLAS_FILL_MODE_LOWER,
                                                               CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, N,
                                                               m.a, N, m.x, 1));
                                         })};
    growth = prepared.growth;
    return columns;
}

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const cublasHandle_t cublas = device.cublas;
    CHECK(cublasSetStream(cublas, nullptr)); /* all calls here are on the default stream */
    FILE *csv = argc > 1 ? fopen(argv[1], "w") : nullptr;
    const device_memory memory;
    printf("order %d; backward / forward error in units of 2^-53\n%-22s %9s  %17s  %17s  %17s  "
           "%17s  %17s  "
           "%17s\n",
           N, "matrix", "growth", "substitution by 8", "doubling, forced", "method B",
           "one-shot, guarded", "prepared, guarded", "cuBLAS");
    if (csv != nullptr) {
        fprintf(csv, "matrix,growth");
        for (const char *method :
             {"substitution", "doubling", "method B", "one shot", "prepared", "cuBLAS"})
            fprintf(csv, ",%s backward,%s forward", method, method);
        fprintf(csv, "\n");
    }
    for (const named_matrix &item : matrices()) {
        double growth;
        const std::vector<errors> columns = compare(item.L, memory, cublas, growth);
        printf("%-22s %9.2e", item.name.c_str(), growth);
        for (const errors &e : columns)
            printf("  %8.1e %8.1e", e.backward, e.forward);
        printf("\n");
        if (csv != nullptr) {
            fprintf(csv, "\"%s\",%g", item.name.c_str(), growth);
            for (const errors &e : columns)
                fprintf(csv, ",%g,%g", e.backward, e.forward);
            fprintf(csv, "\n");
        }
    }
    if (csv != nullptr)
        fclose(csv);
    return 0;
}
