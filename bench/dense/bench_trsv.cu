/* bench/dense/bench_trsv.cu: every form of the dense triangular solve against cuBLAS in the same
 * run
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_trsv [-t sdcz] [-op NTC] [-diag N|U] [-n N,N,...] [-forms NAME,NAME,...] [-scale ROW] [-csv
 * FILE]
 *
 * One row an order: microseconds in a graph (median), the largest difference of any form's solution
 * from cuBLAS's, the ratio of cuBLAS's time to ours for the automatic one-shot solve and for the
 * prepared one, and their floor of bytes (the triangle read once at the read bandwidth measured
 * first) as a percentage of their time. */
#include "bench/dense/bench.h"
#include <cstring>
#include <string>

struct column {
    const char *name;
    libsolver_trsv_form form;
    libsolver_trsv_cache cache;
    int64_t invert_from, scale_from, most; /* most: largest order worth timing */
};

constexpr int64_t SCALE = -1; /* what the option -scale says, the library's default without it */
static const column columns[] = {
    {"shared", LIBSOLVER_TRSV_SHARED, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, 128},
    {"reg A", LIBSOLVER_TRSV_REGISTERS_A, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, 128},
    {"reg B", LIBSOLVER_TRSV_REGISTERS_B, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, 128},
    {"warp", LIBSOLVER_TRSV_WARP, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, 128},
    {"panels", LIBSOLVER_TRSV_PANELS, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, 128},
    {"launch", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, INT64_MAX},
    {"g none", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_NONE, INT64_MAX, INT64_MAX, INT64_MAX},
    {"g shar", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_SHARED, INT64_MAX, INT64_MAX, INT64_MAX},
    {"g regs", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_REGISTERS, INT64_MAX, INT64_MAX, INT64_MAX},
    {"g inv", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_REGISTERS, 0, INT64_MAX, INT64_MAX},
    {"ahead", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, INT64_MAX},
    {"scale", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_AHEAD, 1, SCALE, INT64_MAX},
    {"clust", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, 1, INT64_MAX, INT64_MAX},
    {"clust0", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, 0, INT64_MAX, INT64_MAX},
    {"cl sca", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, 1, SCALE, INT64_MAX},
    {"auto", LIBSOLVER_TRSV_AUTO, LIBSOLVER_CACHE_AHEAD, 1, SCALE, INT64_MAX},
};
constexpr int COLUMNS = sizeof columns / sizeof *columns;

template <typename T> struct bench {
    cudaStream_t stream;
    cublasHandle_t cublas;
    triangle_case c;
    double bandwidth;
    FILE *csv;
    int64_t scale_from;
    std::string forms; /* the columns to time, between commas; empty: all */

    bool wanted(const char *name) const
    {
        return forms.empty() || forms.find(std::string(",") + name + ",") != std::string::npos;
    }
    void row(int64_t n)
    {
        const int64_t lda = n;
        const libsolver_type type = names<T>::type;
        T *a, *x;
        char *work, *storage;
        const int64_t work_bytes = libsolver_trsv_workspace_bytes(n),
                      storage_bytes = libsolver_trsv_prepare_bytes(type, n);
        CHECK(cudaMalloc(&a, (size_t)(n * lda) * sizeof(T)));
        CHECK(cudaMalloc(&x, (size_t)n * sizeof(T)));
        CHECK(cudaMalloc(&work, (size_t)work_bytes));
        CHECK(cudaMalloc(&storage, (size_t)storage_bytes));
        fill_triangle<<<1320, 256, 0, stream>>>(a, n, lda, n * lda);
        CHECK(libsolver_trsv_workspace_init(work, work_bytes, stream));
        const int inner = n > 8192 ? 4 : 20;
        std::vector<T> reference((size_t)n), ours((size_t)n);
        double worst = 0;
        const auto solved = [&](std::vector<T> &to, auto call) {
            fill_vector<<<32, 256, 0, stream>>>(x, n);
            call();
            CHECK(cudaMemcpyAsync(to.data(), x, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost,
                                  stream));
            CHECK(cudaStreamSynchronize(stream));
        };
        const auto measure = [&](auto call) {
            solved(ours, call);
            double largest = 0, most = 0;
            for (int64_t i = 0; i < n; i++) {
                const double d = magnitude(ours[(size_t)i] - reference[(size_t)i]);
                most = d == d ? std::max(most, d) : INFINITY;
                largest = std::max(largest, (double)magnitude(reference[(size_t)i]));
            }
            worst = std::max(worst, most / largest);
            return graph_time(stream, call, inner);
        };
        const auto peer = [&] { cublas_trsv(cublas, c, n, a, lda, x); };
        solved(reference, peer);
        const double peer_time = graph_time(stream, peer, inner);
        double times[COLUMNS + 1];
        for (int k = 0; k < COLUMNS; k++) {
            libsolver_trsv_options o = libsolver_trsv_default_options();
            o.form = columns[k].form;
            o.cache = columns[k].cache;
            o.invert_from = columns[k].invert_from;
            if (columns[k].scale_from != SCALE)
                o.scale_from = columns[k].scale_from;
            else if (scale_from >= 0)
                o.scale_from = scale_from;
            times[k] = n > columns[k].most || !wanted(columns[k].name) ? NAN : measure([&] {
                CHECK(libsolver_trsv(type, c.uplo, c.trans, c.diag, n, a, lda, x, 1, work,
                                     work_bytes, &o, stream));
            });
        }
        libsolver_trsv_prepared prepared;
        CHECK(libsolver_trsv_prepare(type, c.uplo, c.trans, c.diag, n, a, lda, storage,
                                     storage_bytes, 0, stream, &prepared));
        times[COLUMNS] = measure(
            [&] { CHECK(libsolver_trsv_solve(&prepared, x, 1, work, work_bytes, stream)); });
        const double preparation = stream_time(
            stream,
            [&] {
                CHECK(libsolver_trsv_prepare(type, c.uplo, c.trans, c.diag, n, a, lda, storage,
                                             storage_bytes, 0, stream, &prepared));
            },
            1, 3);
        const double floor = (double)n * (double)(n + 1) / 2 * sizeof(T) / bandwidth * 1e-6,
                     one = times[COLUMNS - 1];
        printf("%6lld %8.2f", (long long)n, peer_time);
        for (double t : times)
            isnan(t) ? (void)printf("      - ") : (void)printf(" %7.2f", t);
        printf(" | %8.0f %7.2f | %5.1fx %5.1fx | %5.1f%% %5.1f%% | %.0e\n", preparation, floor,
               peer_time / one, peer_time / times[COLUMNS], 100 * floor / one,
               100 * floor / times[COLUMNS], worst);
        fflush(stdout);
        if (csv != nullptr) {
            fprintf(csv, "%c,%c,%c,%lld,%.4f,%.4f,%.4f", names<T>::letter, "NTC"[c.trans],
                    "NU"[c.diag], (long long)n, floor, preparation, peer_time);
            for (double t : times)
                fprintf(csv, ",%.4f", t);
            fprintf(csv, "\n");
        }
        for (void *p : {(void *)a, (void *)x, (void *)work, (void *)storage})
            CHECK(cudaFree(p));
    }
};

template <typename T>
static void table(const bench_device &device, libsolver_transpose trans, libsolver_diagonal diag,
                  const std::vector<int64_t> &orders, FILE *csv, int64_t scale_from,
                  const std::string &forms)
{
    bench<T> b = {
        device.stream, device.cublas, {LIBSOLVER_LOWER, trans, diag}, device.bandwidth, csv,
        scale_from,    forms};
    printf("%ctrsv lower, op %c, %s, us in a graph; read bandwidth %.2f TB/s\n     n   cuBLAS",
           names<T>::letter, "NTC"[trans], diag == LIBSOLVER_UNIT ? "unit" : "non-unit",
           device.bandwidth);
    for (const column &c : columns)
        printf(" %7s", c.name);
    printf(
        " prepard |  prepare   floor | cuBLAS/auto,prep | floor/auto,prep | largest difference\n");
    for (int64_t n : orders)
        b.row(n);
}

int main(int argc, char **argv)
{
    std::string types = "d", op = "N", forms;
    std::vector<int64_t> orders = {8,    16,   32,   64,   96,    128,   192,
                                   256,  384,  512,  768,  1024,  1536,  2048,
                                   3072, 4096, 6144, 8192, 12288, 16384, 20000};
    FILE *csv = nullptr;
    int64_t scale_from = -1;
    libsolver_diagonal diag = LIBSOLVER_NON_UNIT;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-t") == 0)
            types = argv[i + 1];
        else if (strcmp(argv[i], "-op") == 0)
            op = argv[i + 1];
        else if (strcmp(argv[i], "-diag") == 0)
            diag = argv[i + 1][0] == 'U' ? LIBSOLVER_UNIT : LIBSOLVER_NON_UNIT;
        else if (strcmp(argv[i], "-forms") == 0)
            forms = std::string(",") + argv[i + 1] + ",";
        else if (strcmp(argv[i], "-scale") == 0)
            scale_from = strtoll(argv[i + 1], nullptr, 10);
        else if (strcmp(argv[i], "-csv") == 0) {
            csv = fopen(argv[i + 1], "a");
            if (csv != nullptr)
                fseek(csv, 0, SEEK_END);
        } else if (strcmp(argv[i], "-n") == 0) {
            orders.clear();
            for (char *p = argv[i + 1]; *p != '\0'; p += *p == ',')
                orders.push_back(strtoll(p, &p, 10));
        }
    }
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    if (csv != nullptr && ftell(csv) == 0) {
        fprintf(csv, "type,op,diag,n,floor,prepare,cuBLAS");
        for (const column &c : columns)
            fprintf(csv, ",%s", c.name);
        fprintf(csv, ",prepard\n");
    }
    for (char o : op)
        for (char t : types) {
            const libsolver_transpose trans = o == 'N'   ? LIBSOLVER_NO_TRANSPOSE
                                              : o == 'T' ? LIBSOLVER_TRANSPOSE
                                                         : LIBSOLVER_CONJUGATE_TRANSPOSE;
            if (t == 's')
                table<float>(device, trans, diag, orders, csv, scale_from, forms);
            else if (t == 'd')
                table<double>(device, trans, diag, orders, csv, scale_from, forms);
            else if (t == 'c')
                table<complex_s>(device, trans, diag, orders, csv, scale_from, forms);
            else if (t == 'z')
                table<complex_d>(device, trans, diag, orders, csv, scale_from, forms);
        }
    if (csv != nullptr)
        fclose(csv);
    return 0;
}
