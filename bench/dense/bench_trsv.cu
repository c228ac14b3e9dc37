/* bench/dense/bench_trsv.cu: every form of the dense triangular solve against cuBLAS in the same
 * run
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_trsv [-t sdcz] [-op NTC] [-uplo L|U] [-diag N|U] [-n N,N,...] [-forms NAME,NAME,...]
 *            [-invert ROW] [-scale ROW] [-csv FILE]
 *
 * One row an order: microseconds in a graph (median), the largest difference of any form's solution
 * from cuBLAS's, the ratio of cuBLAS's time to ours for the automatic one-shot solve and for the
 * prepared one, and their floor of bytes (the triangle read once at the read bandwidth measured
 * first) as a percentage of their time.  -invert, -scale: the block row from which the forms that
 * invert diagonal blocks, or scale last tiles with the inverses, begin with that. */
#include "bench/dense/bench.h"
#include <cstring>
#include <string>

struct column {
    const char *name;
    libsolver_trsv_form form;
    libsolver_trsv_cache cache;
    int64_t invert_from, scale_from, most; /* most: largest order worth timing */
    int64_t block;
};

constexpr int64_t INVERT = -1, SCALE = -1; /* what the options -invert and -scale say, the library's
                                              default without them */
constexpr int64_t ANY = INT64_MAX, NONE = INT64_MAX;
static const column columns[] = {
    {"shared", LIBSOLVER_TRSV_SHARED, LIBSOLVER_CACHE_AHEAD, 0, NONE, 128, 0},
    {"reg A", LIBSOLVER_TRSV_REGISTERS_A, LIBSOLVER_CACHE_AHEAD, 0, NONE, 128, 0},
    {"reg B", LIBSOLVER_TRSV_REGISTERS_B, LIBSOLVER_CACHE_AHEAD, 0, NONE, 128, 0},
    {"warp", LIBSOLVER_TRSV_WARP, LIBSOLVER_CACHE_AHEAD, 0, NONE, 128, 0},
    {"panels", LIBSOLVER_TRSV_PANELS, LIBSOLVER_CACHE_AHEAD, 0, NONE, 128, 0},
    {"l 32", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 32},
    {"l 64", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 64},
    {"l 96", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 96},
    {"l 128", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 128},
    {"l 256", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 256},
    {"l 512", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 512},
    {"l 1024", LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 1024},
    {"c none", LIBSOLVER_TRSV_COUNTER, LIBSOLVER_CACHE_NONE, NONE, NONE, ANY, 0},
    {"g none", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_NONE, NONE, NONE, ANY, 0},
    {"g shar", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_SHARED, NONE, NONE, ANY, 0},
    {"c regs", LIBSOLVER_TRSV_COUNTER, LIBSOLVER_CACHE_REGISTERS, NONE, NONE, ANY, 0},
    {"g regs", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_REGISTERS, NONE, NONE, ANY, 0},
    {"c inv", LIBSOLVER_TRSV_COUNTER, LIBSOLVER_CACHE_REGISTERS, INVERT, NONE, ANY, 0},
    {"g inv", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_REGISTERS, INVERT, NONE, ANY, 0},
    {"c ahead", LIBSOLVER_TRSV_COUNTER, LIBSOLVER_CACHE_AHEAD, INVERT, NONE, ANY, 0},
    {"ahead", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_AHEAD, INVERT, NONE, ANY, 0},
    {"scale", LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_AHEAD, INVERT, SCALE, ANY, 0},
    {"clust", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, INVERT, NONE, ANY, 0},
    {"clust0", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, 0, NONE, ANY, 0},
    {"cl sca", LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, INVERT, SCALE, ANY, 0},
    {"auto", LIBSOLVER_TRSV_AUTO, LIBSOLVER_CACHE_AHEAD, INVERT, SCALE, ANY, 0},
};
constexpr int COLUMNS = sizeof columns / sizeof *columns;

template <typename T> struct bench {
    cudaStream_t stream;
    cublasHandle_t cublas;
    triangle_case c;
    double bandwidth;
    FILE *csv;
    int64_t invert_from, scale_from; /* < 0: the defaults */
    std::string forms;               /* the columns to time, between commas; empty: all */

    bool wanted(const char *name) const
    {
        return forms.empty() || forms.find(std::string(",") + name + ",") != std::string::npos;
    }
    void row(int64_t n)
    {
        const int64_t lda = n;
        const libsolver_type type = type_of<T>::value;
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
            o.block = columns[k].block;
            if (columns[k].invert_from != INVERT)
                o.invert_from = columns[k].invert_from;
            else if (invert_from >= 0)
                o.invert_from = invert_from;
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
            fprintf(csv, "%c,%c,%c,%c,%lld,%.4f,%.4f,%.4f", type_of<T>::name[0], "NTC"[c.trans],
                    c.uplo == LIBSOLVER_LOWER ? 'L' : 'U', "NU"[c.diag], (long long)n, floor,
                    preparation, peer_time);
            for (double t : times)
                fprintf(csv, ",%.4f", t);
            fprintf(csv, "\n");
        }
        for (void *p : {(void *)a, (void *)x, (void *)work, (void *)storage})
            CHECK(cudaFree(p));
    }
};

struct choices {
    libsolver_storage uplo = LIBSOLVER_LOWER;
    libsolver_diagonal diag = LIBSOLVER_NON_UNIT;
    std::vector<int64_t> orders = {8,    16,   32,   64,   96,    128,   192,
                                   256,  384,  512,  768,  1024,  1536,  2048,
                                   3072, 4096, 6144, 8192, 12288, 16384, 20000};
    FILE *csv = nullptr;
    int64_t invert_from = -1, scale_from = -1;
    std::string forms;
};

template <typename T>
static void table(const bench_device &device, libsolver_transpose trans, const choices &o)
{
    bench<T> b = {device.stream,    device.cublas, {o.uplo, trans, o.diag},
                  device.bandwidth, o.csv,         o.invert_from,
                  o.scale_from,     o.forms};
    printf("%ctrsv %s, op %c, %s, us in a graph; read bandwidth %.2f TB/s\n     n   cuBLAS",
           type_of<T>::name[0], o.uplo == LIBSOLVER_LOWER ? "lower" : "upper", "NTC"[trans],
           o.diag == LIBSOLVER_UNIT ? "unit" : "non-unit", device.bandwidth);
    for (const column &c : columns)
        printf(" %7s", c.name);
    printf(
        " prepard |  prepare   floor | cuBLAS/auto,prep | floor/auto,prep | largest difference\n");
    for (int64_t n : o.orders)
        b.row(n);
}

int main(int argc, char **argv)
{
    std::string types = "d", op = "N";
    choices o;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "-t") == 0)
            types = value;
        else if (strcmp(argv[i], "-op") == 0)
            op = value;
        else if (strcmp(argv[i], "-uplo") == 0)
            o.uplo = value[0] == 'U' ? LIBSOLVER_UPPER : LIBSOLVER_LOWER;
        else if (strcmp(argv[i], "-diag") == 0)
            o.diag = value[0] == 'U' ? LIBSOLVER_UNIT : LIBSOLVER_NON_UNIT;
        else if (strcmp(argv[i], "-forms") == 0)
            o.forms = std::string(",") + value + ",";
        else if (strcmp(argv[i], "-invert") == 0)
            o.invert_from = strtoll(value, nullptr, 10);
        else if (strcmp(argv[i], "-scale") == 0)
            o.scale_from = strtoll(value, nullptr, 10);
        else if (strcmp(argv[i], "-csv") == 0) {
            o.csv = fopen(value, "a");
            if (o.csv != nullptr)
                fseek(o.csv, 0, SEEK_END);
        } else if (strcmp(argv[i], "-n") == 0) {
            o.orders.clear();
            for (char *p = argv[i + 1]; *p != '\0'; p += *p == ',')
                o.orders.push_back(strtoll(p, &p, 10));
        }
    }
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    if (o.csv != nullptr && ftell(o.csv) == 0) {
        fprintf(o.csv, "type,op,uplo,diag,n,floor,prepare,cuBLAS");
        for (const column &c : columns)
            fprintf(o.csv, ",%s", c.name);
        fprintf(o.csv, ",prepard\n");
    }
    for (char letter : op)
        for (char t : types) {
            const libsolver_transpose trans = letter == 'N'   ? LIBSOLVER_NO_TRANSPOSE
                                              : letter == 'T' ? LIBSOLVER_TRANSPOSE
                                                              : LIBSOLVER_CONJUGATE_TRANSPOSE;
            if (t == 's')
                table<float>(device, trans, o);
            else if (t == 'd')
                table<double>(device, trans, o);
            else if (t == 'c')
                table<complex_s>(device, trans, o);
            else if (t == 'z')
                table<complex_d>(device, trans, o);
        }
    if (o.csv != nullptr)
        fclose(o.csv);
    return 0;
}
