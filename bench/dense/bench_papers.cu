/* bench/dense/bench_papers.cu: the figures of papers 001, 003 and 004 with ours beside
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_papers blocks [sdcz]     001, figures 13, 17 and 18: trsm by inverses of diagonal blocks of
 *                              order 64 to 512, block by block and by halves, by substitution, and
 *                              by cuBLAS
 * bench_papers choice [sdcz]   the automatic form beside the others, in less time
 * bench_papers stop [sdcz]       003, section 4: the order at which halving stops
 * bench_papers leaf [sdcz]       004, figures 5 to 7: what small triangles are left to
 * bench_papers inverse [sdcz]    trtri beside cuSOLVER's
 * bench_papers once LABELS [ORDER]
 *                              every call of 001 figure 14, 003 figures 2 and 4 and 004 figure 3
 *                              once, for a profiler: a kernel `marker_kernel` before each, LABELS a
 *                              file with a line for each (bench/dense/kernel_sums.py adds up)
 *
 * Microseconds of calls back to back on a stream, left, lower, not transposed; the largest
 * difference of all results from cuBLAS's, relative to the largest entry. */
#include "bench/dense/bench.h"
#include "bench/dense/peers.h"
#include "bench/dense/shuffle_leaf.cuh"
#include <cstring>
#include <functional>
#include <string>

static __global__ void marker_kernel() {}

/* A context of libsolver_dense with these options. */
struct form {
    libsolver_dense_context *p = nullptr;
    form(int64_t order, libsolver_dense_trsm_form trsm, int64_t block, int64_t leaf = 0)
    {
        libsolver_dense_options options = {};
        options.order = order;
        options.trsm = trsm;
        options.block = block;
        options.leaf = leaf;
        CHECK(libsolver_dense_create(&options, &p));
    }
    form(const form &) = delete;
    ~form() { libsolver_dense_destroy(p); }
};

template <typename T> class measuring
{
    const bench_device &d;
    const int64_t most, most_entries;
    T *a, *b, *given, *other;

    void solve(const form &f, int64_t n, int64_t count) const
    {
        CHECK(libsolver_dense_trsm(f.p, type_of<T>::value, LIBSOLVER_LEFT, LIBSOLVER_LOWER,
                                   LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, n, count, nullptr, a,
                                   n, b, n, d.stream));
    }
    void multiply(const form &f, int64_t n, int64_t count) const
    {
        CHECK(libsolver_dense_trmm(f.p, type_of<T>::value, LIBSOLVER_LEFT, LIBSOLVER_LOWER,
                                   LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, n, count, nullptr, a,
                                   n, b, n, d.stream));
    }
    void peer_solve(int64_t n, int64_t count) const
    {
        T one = from_real<T>(1);
        CHECK(peer<T>::trsm(d.cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                            CUBLAS_DIAG_NON_UNIT, (int)n, (int)count, as_peer(&one), as_peer(a),
                            (int)n, as_peer(b), (int)n));
    }
    void peer_multiply(int64_t n, int64_t count, T *to) const
    {
        T one = from_real<T>(1);
        CHECK(peer<T>::trmm(d.cublas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                            CUBLAS_DIAG_NON_UNIT, (int)n, (int)count, as_peer(&one), as_peer(a),
                            (int)n, as_peer(b), (int)n, as_peer(to), (int)n));
    }
    void peer_product(int64_t n, int64_t count) const
    {
        T one = from_real<T>(1), zero = {};
        CHECK(peer<T>::gemm(d.cublas, CUBLAS_OP_N, CUBLAS_OP_N, (int)n, (int)count, (int)n,
                            as_peer(&one), as_peer(a), (int)n, as_peer(b), (int)n, as_peer(&zero),
                            as_peer(other), (int)n));
    }
    void fill(int64_t n, int64_t count) const
    {
        fill_triangle<<<1024, 256, 0, d.stream>>>(a, n, n, n * n);
        fill_vector<<<1024, 256, 0, d.stream>>>(given, n * count);
    }
    std::vector<T> result(const T *from, int64_t entries, const std::function<void()> &call) const
    {
        std::vector<T> x((size_t)entries);
        CHECK(cudaMemcpyAsync(b, given, (size_t)entries * sizeof(T), cudaMemcpyDeviceToDevice,
                              d.stream));
        call();
        CHECK(cudaStreamSynchronize(d.stream));
        CHECK(cudaMemcpy(x.data(), from, (size_t)entries * sizeof(T), cudaMemcpyDeviceToHost));
        return x;
    }
    /* The largest of x - y so far, relative; of large results some entries. */
    static void compare(double &most, const std::vector<T> &x, const std::vector<T> &y)
    {
        double difference = 0, largest = 1e-300;
        for (size_t e = 0; e < x.size(); e += 1 + x.size() / 4000003) {
            const double v = (double)magnitude(x[e] - y[e]);
            if (!(v <= difference))
                difference = v;
            largest = std::fmax(largest, (double)magnitude(y[e]));
        }
        if (!(difference / largest <= most))
            most = difference / largest;
    }
    double time(const std::function<void()> &call, int64_t work) const
    {
        return stream_time(d.stream, call, work > 1ll << 33 ? 2 : work > 1ll << 28 ? 6 : 20, 5);
    }

  public:
    measuring(const bench_device &d, int64_t most) : d(d), most(most), most_entries(most * most)
    {
        for (T **p : {&a, &b, &given, &other})
            CHECK(cudaMalloc(p, (size_t)most_entries * sizeof(T)));
    }
    ~measuring()
    {
        for (T *p : {a, b, given, other})
            CHECK(cudaFree(p));
    }
    measuring(const measuring &) = delete;

    void blocks() const
    {
        const form automatic(most, LIBSOLVER_DENSE_TRSM_AUTO, 0),
            halves(most, LIBSOLVER_DENSE_TRSM_HALVES, 0);
        const form by_blocks[] = {{most, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 64},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 128},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 256},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 512}};
        const form by_halves[] = {{most, LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 64},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 128},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 256},
                                  {most, LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 512}};
        printf("%c      n  sides   cuBLAS  automatic  halves | blocks of  64     128     256     "
               "512 | "
               "halves of  64     128     256     512\n",
               type_of<T>::name[0]);
        const auto row = [&](int64_t n, int64_t count) {
            fill(n, count);
            double error = 0;
            const auto theirs = [&] { peer_solve(n, count); };
            const std::vector<T> y = result(b, n * count, theirs);
            printf("%c %6ld %6ld %8.1f", type_of<T>::name[0], (long)n, (long)count,
                   time(theirs, n * n * count));
            const auto show = [&](const form &f) {
                const auto ours = [&] { solve(f, n, count); };
                compare(error, result(b, n * count, ours), y);
                printf(" %8.1f", time(ours, n * n * count));
            };
            show(automatic);
            show(halves);
            printf(" |");
            for (const form &f : by_blocks)
                show(f);
            printf(" |");
            for (const form &f : by_halves)
                show(f);
            printf("  %.0e\n", error);
            fflush(stdout);
        };
        for (int64_t n : {512, 1024, 2048, 4096, 8192}) /* case 1: few sides */
            for (int64_t count : {128, 512})
                if (n <= most)
                    row(n, count);
        for (int64_t count : {512, 2048, 8192, 32768}) /* case 2: a panel of a factorization */
            if (count * 128 <= most_entries)
                row(128, count);
        for (int64_t count : {2048, 8192})
            row(256, count);
        for (int64_t n = 512; n <= most; n *= 2) /* case 3: square */
            row(n, n);
    }

    /* What is left of blocks() where only the automatic choice counts. */
    void choice() const
    {
        const form automatic(most, LIBSOLVER_DENSE_TRSM_AUTO, 0),
            halves(most, LIBSOLVER_DENSE_TRSM_HALVES, 0),
            inverse(most, LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 0);
        for (int64_t n = 512; n <= most; n *= 2)
            for (int64_t count : {(int64_t)128, (int64_t)256, n}) {
                fill(n, count);
                double error = 0;
                const auto theirs = [&] { peer_solve(n, count); };
                const std::vector<T> y = result(b, n * count, theirs);
                printf("%c %6ld %6ld: cuBLAS %8.1f", type_of<T>::name[0], (long)n, (long)count,
                       time(theirs, n * n * count));
                for (const form *f : {&automatic, &halves, &inverse}) {
                    const auto ours = [&] { solve(*f, n, count); };
                    compare(error, result(b, n * count, ours), y);
                    printf(" %s %8.1f",
                           f == &automatic ? "automatic"
                           : f == &halves  ? "halves"
                                           : "inverse",
                           time(ours, n * n * count));
                }
                printf("  %.0e\n", error);
                fflush(stdout);
            }
    }

    void stop() const
    {
        const form leaves[] = {{most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 64},
                               {most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 128},
                               {most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 256},
                               {most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 512},
                               {most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 1024}};
        printf("%c            n  sides   cuBLAS | stop at  64     128     256     512    1024\n",
               type_of<T>::name[0]);
        for (bool multiplies : {false, true})
            for (int64_t n = 1024; n <= most; n *= 2)
                for (int64_t count : {(int64_t)512, n}) {
                    if (count == n && n == 1024 && multiplies)
                        continue;
                    fill(n, count);
                    double error = 0;
                    const auto theirs = [&] {
                        if (multiplies)
                            peer_multiply(n, count, other);
                        else
                            peer_solve(n, count);
                    };
                    const std::vector<T> y = result(multiplies ? other : b, n * count, theirs);
                    printf("%c %s %6ld %6ld %8.1f |", type_of<T>::name[0],
                           multiplies ? "trmm" : "trsm", (long)n, (long)count,
                           time(theirs, n * n * count));
                    for (const form &f : leaves) {
                        const auto ours = [&] {
                            if (multiplies)
                                multiply(f, n, count);
                            else
                                solve(f, n, count);
                        };
                        compare(error, result(b, n * count, ours), y);
                        printf(" %8.1f", time(ours, n * n * count));
                    }
                    printf("  %.0e\n", error);
                    fflush(stdout);
                }
    }

    template <bool SOLVES, int C>
    void shuffles(int64_t n, int64_t count, double &error, const std::vector<T> &y) const
    {
        for (int warps : {4, 8, 16}) {
            const auto leaf = [&] {
                shuffle_leaf<SOLVES, C>(warps, (int)n, count, a, n, b, n, d.stream);
            };
            compare(error, result(b, n * count, leaf), y);
            printf(" %7.1f", time(leaf, n * n * count));
        }
        printf(" |");
    }
    template <bool SOLVES> void leaf_rows() const
    {
        const form inverse(256, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 256);
        for (int64_t n : {32, 64, 128, 256})
            for (int64_t count : {128, 1024, 8192}) {
                fill(n, count);
                double error = 0;
                const auto theirs = [&] {
                    if (SOLVES)
                        peer_solve(n, count);
                    else
                        peer_multiply(n, count, other);
                };
                const auto ours = [&] {
                    const auto call =
                        SOLVES ? libsolver_trsm_strided_batched : libsolver_trmm_strided_batched;
                    const int64_t width = std::min<int64_t>(64, count);
                    CHECK(call(type_of<T>::value, LIBSOLVER_LEFT, LIBSOLVER_LOWER,
                               LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, n, width, a, n, 0, b, n,
                               n * width, count / width, d.stream));
                };
                const auto inverted = [&] { solve(inverse, n, count); };
                const std::vector<T> y = result(SOLVES ? b : other, n * count, theirs);
                compare(error, result(b, n * count, ours), y);
                printf("%c %s %4ld %5ld | %7.1f | %7.1f %7.1f |", type_of<T>::name[0],
                       SOLVES ? "trsm" : "trmm", (long)n, (long)count, time(theirs, n * n * count),
                       time(ours, n * n * count), SOLVES ? time(inverted, n * n * count) : 0.);
                shuffles<SOLVES, 1>(n, count, error, y);
                shuffles<SOLVES, 2>(n, count, error, y);
                shuffles<SOLVES, 4>(n, count, error, y);
                printf("  %.0e\n", error);
                fflush(stdout);
            }
    }
    void leaf() const
    {
        printf(
            "%c         n sides |  cuBLAS |   batch inverse | shuffles, 1 column a warp: 4, 8, 16 "
            "warps | 2 columns | 4 columns\n",
            type_of<T>::name[0]);
        leaf_rows<true>();
        leaf_rows<false>();
    }

    /* trtri, whose inverses go into 001's solves; each call on a fresh copy, the copy's time taken
     * off. */
    void inverse() const
    {
        cusolverDnHandle_t handle;
        CHECK(cusolverDnCreate(&handle));
        CHECK(cusolverDnSetStream(handle, d.stream));
        int *info;
        CHECK(cudaMalloc(&info, sizeof(int)));
        const form plain(most, LIBSOLVER_DENSE_TRSM_AUTO, 0);
        constexpr cudaDataType type = peer<T>::type;
        for (int64_t n = 256; n <= most; n *= 2) {
            fill_triangle<<<1024, 256, 0, d.stream>>>(given, n, n, n * n);
            size_t device = 0, host = 0;
            CHECK(cusolverDnXtrtri_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_NON_UNIT,
                                              n, type, b, n, &device, &host));
            if (device > (size_t)most_entries * sizeof(T))
                continue;
            std::vector<char> room(host + 1);
            const auto ours = [&] {
                CHECK(libsolver_dense_trtri(plain.p, type_of<T>::value, LIBSOLVER_LOWER,
                                            LIBSOLVER_NON_UNIT, n, b, n, d.stream));
            };
            const auto theirs = [&] {
                CHECK(cusolverDnXtrtri(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_NON_UNIT, n,
                                       type, b, n, other, device, room.data(), host, info));
            };
            const auto copy = [&] {
                CHECK(cudaMemcpyAsync(b, given, (size_t)(n * n) * sizeof(T),
                                      cudaMemcpyDeviceToDevice, d.stream));
            };
            const auto timed = [&](const std::function<void()> &call) {
                return time(
                           [&] {
                               copy();
                               call();
                           },
                           n * n * n) -
                       time(copy, n * n * n);
            };
            std::vector<T> x = result(b, n * n, ours), y = result(b, n * n, theirs);
            for (int64_t e = 0; e < n * n; e++)
                if (e % n < e / n)
                    x[(size_t)e] = y[(size_t)e] = T{};
            double error = 0;
            compare(error, x, y);
            const double u = timed(ours), v = timed(theirs);
            printf("%c trtri %5ld: %8.1f us, %5.1f TF, cuSOLVER %8.1f: %5.2f x, %.0e\n",
                   type_of<T>::name[0], (long)n, u,
                   (double)n * (double)n * (double)n / 3 / u * 1e-6, v, v / u, error);
            fflush(stdout);
        }
        CHECK(cusolverDnDestroy(handle));
        CHECK(cudaFree(info));
    }

    void once(FILE *labels) const
    {
        const auto run = [&](const std::string &label, int64_t n, int64_t count,
                             const std::function<void()> &call) {
            fill(n, count);
            CHECK(cudaMemcpyAsync(b, given, (size_t)(n * count) * sizeof(T),
                                  cudaMemcpyDeviceToDevice, d.stream));
            marker_kernel<<<1, 1, 0, d.stream>>>();
            call();
            marker_kernel<<<1, 1, 0, d.stream>>>();
            CHECK(cudaStreamSynchronize(d.stream));
            fprintf(labels, "%s %ld %ld\n", label.c_str(), (long)n, (long)count);
        };
        const form plain(most, LIBSOLVER_DENSE_TRSM_AUTO, 0),
            halves(most, LIBSOLVER_DENSE_TRSM_HALVES, 0, 128);
        for (int64_t n = 1024; n <= most; n *= 2) {
            run("trmm_ours", n, n, [&] { multiply(plain, n, n); });
            run("trmm_halves_128", n, n, [&] { multiply(halves, n, n); });
            run("trmm_cublas_elsewhere", n, n, [&] { peer_multiply(n, n, other); });
            run("trmm_cublas_in_place", n, n, [&] { peer_multiply(n, n, b); });
            run("gemm_cublas", n, n, [&] { peer_product(n, n); });
            for (int64_t count : {(int64_t)512, n})
                run("trsm_halves_128", n, count, [&] { solve(halves, n, count); });
        }
        for (int64_t block : {64, 128, 256, 512}) {
            const form inverse(most, LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, block);
            for (int64_t n : {1024, 4096})
                if (n <= most)
                    run("trsm_inverse_" + std::to_string(block), n, 128,
                        [&] { solve(inverse, n, 128); });
        }
    }
};

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "once" && argc > 2) {
        FILE *labels = fopen(argv[2], "w");
        if (labels == nullptr)
            return 1;
        measuring<double>(device, argc > 3 ? atoi(argv[3]) : 4096).once(labels);
        fclose(labels);
        return 0;
    }
    const auto all = [&](const auto &m) {
        if (what == "blocks")
            m.blocks();
        else if (what == "choice")
            m.choice();
        else if (what == "stop")
            m.stop();
        else if (what == "leaf")
            m.leaf();
        else if (what == "inverse")
            m.inverse();
    };
    const int64_t most = argc > 3 ? atoi(argv[3]) : 8192;
    for (const char *t = argc > 2 ? argv[2] : "d"; *t != '\0'; t++) {
        if (*t == 's')
            all(measuring<float>(device, most));
        else if (*t == 'd')
            all(measuring<double>(device, most));
        else if (*t == 'c')
            all(measuring<complex_s>(device, most));
        else if (*t == 'z')
            all(measuring<complex_d>(device, most));
    }
    return 0;
}
