/* bench/dense/bench_level3.cu: operations on large triangles against cuBLAS and cuSOLVER
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bench_level3 [sdcz] [trsm|trmm|inverse] [ORDER [LEAF]]
 *
 * Microseconds of calls back to back on a stream, for orders from 128 to ORDER (8192).  trsm and
 * trmm: lower, left and right, with 32 to 256 right-hand sides and as many as the order, in place;
 * cuBLAS's trmm writes elsewhere.  inverse: trtri, lauum, potri, and potrf with potrs (posv) with
 * 64 right-hand sides; cuSOLVER has no lauum.  The largest difference of the results, relative to
 * the largest entry.  TF: of useful operations.  Means are geometric, of cuBLAS's time over ours.
 */
#include "bench/dense/bench.h"
#include "bench/dense/peers.h"
#include <cstring>

struct mean {
    double log = 0, least = 1e300;
    int count = 0;

    void add(double ratio)
    {
        log += std::log(ratio);
        least = std::min(least, ratio);
        count++;
    }
    void print(const char *what) const
    {
        if (count > 0)
            printf("%-40s %5.2f x, least %5.2f\n", what, std::exp(log / count), least);
    }
};

template <typename T>
static double difference(const std::vector<T> &x, const std::vector<T> &y, int64_t ld, bool lower)
{
    double most = 0, largest = 1e-300;
    for (size_t e = 0; e < x.size(); e++) {
        if (lower && (int64_t)e % ld < (int64_t)e / ld)
            continue;
        const double d = magnitude(x[e] - y[e]);
        if (!(d <= most))
            most = std::isnan(most) ? most : d;
        largest = std::fmax(largest, (double)magnitude(y[e]));
    }
    return most / largest;
}

template <typename T> class measuring
{
    using C = typename peer<T>::entry;
    const bench_device &d;
    const int64_t most;
    libsolver_dense_context *context = nullptr;
    cublasHandle_t cublas;
    cusolverDnHandle_t cusolver;
    T *a, *b, *given, *other;
    int *info;
    double flops = scalar<T>::is_complex ? 4 : 1;

    std::vector<T> get(const T *p, int64_t count) const
    {
        std::vector<T> v((size_t)count);
        CHECK(cudaMemcpy(v.data(), p, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
    void copy(T *to, const T *from, int64_t count) const
    {
        CHECK(cudaMemcpyAsync(to, from, (size_t)count * sizeof(T), cudaMemcpyDeviceToDevice,
                              d.stream));
    }
    void fill_b(int64_t count) const
    {
        fill_vector<<<1024, 256, 0, d.stream>>>(given, count);
        copy(b, given, count);
    }
    static int inner_of(int64_t n) { return n > 2048 ? 3 : 20; }

  public:
    measuring(const bench_device &d, int64_t most, int64_t leaf) : d(d), most(most)
    {
        libsolver_dense_options options = {};
        options.order = most;
        options.leaf = leaf;
        CHECK(libsolver_dense_create(&options, &context));
        CHECK(cublasCreate(&cublas));
        CHECK(cublasSetStream(cublas, d.stream));
        CHECK(cusolverDnCreate(&cusolver));
        CHECK(cusolverDnSetStream(cusolver, d.stream));
        for (T **p : {&a, &b, &given, &other})
            CHECK(cudaMalloc(p, (size_t)(most * most) * sizeof(T)));
        CHECK(cudaMalloc(&info, sizeof(int)));
    }
    ~measuring()
    {
        libsolver_dense_destroy(context);
        CHECK(cublasDestroy(cublas));
        CHECK(cusolverDnDestroy(cusolver));
        for (T *p : {a, b, given, other})
            CHECK(cudaFree(p));
        CHECK(cudaFree(info));
    }
    measuring(const measuring &) = delete;

    void sides(bool multiplies)
    {
        mean narrow, small, square;
        for (int64_t n = 128; n <= most; n *= 2)
            for (int64_t count : {(int64_t)32, (int64_t)64, (int64_t)128, (int64_t)256, n}) {
                if (count == n && n <= 256)
                    continue;
                for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
                    const bool right = side == LIBSOLVER_RIGHT;
                    const int64_t rows = right ? count : n, columns = right ? n : count;
                    fill_triangle<<<1024, 256, 0, d.stream>>>(a, n, n, n * n);
                    fill_b(n * count);
                    const auto ours = [&] {
                        CHECK((multiplies ? libsolver_dense_trmm : libsolver_dense_trsm)(
                            context, type_of<T>::value, side, LIBSOLVER_LOWER,
                            LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, rows, columns, nullptr, a,
                            n, b, rows, d.stream));
                    };
                    const auto theirs = [&] {
                        const auto s = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
                        const auto lower = CUBLAS_FILL_MODE_LOWER;
                        const int m = (int)rows, k = (int)columns, order = (int)n;
                        T one = from_real<T>(1);
                        if (multiplies)
                            CHECK(peer<T>::trmm(cublas, s, lower, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                                                m, k, as_peer(&one), as_peer(a), order, as_peer(b),
                                                m, as_peer(other), m));
                        else
                            CHECK(peer<T>::trsm(cublas, s, lower, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                                                m, k, as_peer(&one), as_peer(a), order, as_peer(b),
                                                m));
                    };
                    ours();
                    CHECK(cudaStreamSynchronize(d.stream));
                    const std::vector<T> x = get(b, n * count);
                    copy(b, given, n * count);
                    theirs();
                    CHECK(cudaStreamSynchronize(d.stream));
                    const std::vector<T> y = get(multiplies ? other : b, n * count);
                    const int inner = inner_of(n);
                    const double u = stream_time(d.stream, ours, inner),
                                 v = stream_time(d.stream, theirs, inner);
                    printf("%c %s %5s n %5ld, %5ld sides: %8.1f us, cuBLAS %8.1f: %5.2f x, %5.1f "
                           "TF, %.1e\n",
                           type_of<T>::name[0], multiplies ? "trmm" : "trsm",
                           right ? "right" : "left", (long)n, (long)count, u, v, v / u,
                           flops * (double)n * (double)n * (double)count / u * 1e-6,
                           difference(x, y, n, false));
                    fflush(stdout);
                    if (multiplies)
                        (n < 512 ? small : square).add(v / u);
                    else if (n >= 256)
                        (count == n ? square : narrow).add(v / u);
                }
            }
        narrow.print("trsm, 32 to 256 sides, n >= 256");
        small.print("trmm, n < 512");
        square.print(multiplies ? "trmm, n >= 512" : "trsm, square, n >= 512");
    }

    void inverses()
    {
        mean inverse, system;
        for (int64_t n = 256; n <= most; n *= 2) {
            const int sides = (int)std::min<int64_t>(64, n), size = (int)n;
            const auto lower = CUBLAS_FILL_MODE_LOWER;
            int potri_room, potrf_room;
            CHECK(peer<T>::potri_size(cusolver, lower, size, as_peer(a), size, &potri_room));
            CHECK(peer<T>::potrf_size(cusolver, lower, size, as_peer(a), size, &potrf_room));
            C *work;
            const int room = std::max(potri_room, potrf_room);
            CHECK(cudaMalloc(&work, (size_t)room * sizeof(C)));
            const int inner = inner_of(n);
            const double copying = stream_time(d.stream, [&] { copy(a, given, n * n); }, inner);
            const auto timed = [&](auto call) {
                return stream_time(
                           d.stream,
                           [&] {
                               copy(a, given, n * n);
                               call();
                           },
                           inner) -
                       copying;
            };
            /* the factor of a definite matrix, for what follows it */
            fill_triangle<<<1024, 256, 0, d.stream>>>(given, n, n, n * n);
            const auto show = [&](const char *what, double u, double v, double work, double error) {
                printf("%c %s n %5ld: %8.1f us, %5.1f TF", type_of<T>::name[0], what, (long)n, u,
                       flops * work * (double)n * (double)n * (double)n / u * 1e-6);
                if (v > 0)
                    printf(", cuSOLVER %8.1f: %5.2f x, %.1e", v, v / u, error);
                printf("\n");
                fflush(stdout);
            };
            const auto result = [&](auto call) {
                copy(a, given, n * n);
                call();
                CHECK(cudaStreamSynchronize(d.stream));
                return get(a, n * n);
            };
            const auto trtri = [&] {
                CHECK(libsolver_dense_trtri(context, type_of<T>::value, LIBSOLVER_LOWER,
                                            LIBSOLVER_NON_UNIT, n, a, n, d.stream));
            };
            show("trtri", timed(trtri), 0, 1. / 3, 0);
            const auto lauum = [&] {
                CHECK(libsolver_dense_lauum(context, type_of<T>::value, LIBSOLVER_LOWER, n, a, n,
                                            d.stream));
            };
            show("lauum", timed(lauum), 0, 1. / 3, 0);
            const auto potri = [&] {
                CHECK(libsolver_dense_potri(context, type_of<T>::value, LIBSOLVER_LOWER, n, a, n,
                                            d.stream));
            };
            const auto peer_potri = [&] {
                CHECK(peer<T>::potri(cusolver, lower, size, as_peer(a), size, work, potri_room,
                                     info));
            };
            const double u = timed(potri), v = timed(peer_potri);
            show("potri", u, v, 2. / 3, difference(result(potri), result(peer_potri), n, true));
            inverse.add(v / u);
            /* posv, whose matrix is given = a definite one */
            fill_definite<<<1024, 256, 0, d.stream>>>(given, n);
            fill_vector<<<1024, 256, 0, d.stream>>>(other, n * sides);
            const auto posv = [&] {
                copy(b, other, n * sides);
                CHECK(libsolver_dense_posv(context, type_of<T>::value, LIBSOLVER_LOWER, n, sides, a,
                                           n, b, n, info, d.stream));
            };
            const auto peer_posv = [&] {
                copy(b, other, n * sides);
                CHECK(peer<T>::potrf(cusolver, lower, size, as_peer(a), size, work, potrf_room,
                                     info));
                CHECK(peer<T>::potrs(cusolver, lower, size, sides, as_peer(a), size, as_peer(b),
                                     size, info));
            };
            const double p = timed(posv);
            const std::vector<T> x = get(b, n * sides);
            const double q = timed(peer_posv);
            show("posv", p, q, 1. / 3, difference(x, get(b, n * sides), n, false));
            system.add(q / p);
            CHECK(cudaFree(work));
        }
        inverse.print("potri");
        system.print("posv");
    }
};

int main(int argc, char **argv)
{
    const bench_device device = bench_start();
    if (!device.present)
        return 77;
    const char *what = argc > 2 ? argv[2] : "";
    const int64_t most = argc > 3 ? atoi(argv[3]) : 8192, leaf = argc > 4 ? atoi(argv[4]) : 0;
    const auto all = [&](auto zero) {
        measuring<decltype(zero)> m(device, most, leaf);
        for (bool multiplies : {false, true})
            if (*what == '\0' || strcmp(what, multiplies ? "trmm" : "trsm") == 0)
                m.sides(multiplies);
        if (*what == '\0' || strcmp(what, "inverse") == 0)
            m.inverses();
    };
    for (const char *t = argc > 1 ? argv[1] : "d"; *t != '\0'; t++) {
        if (*t == 's')
            all(float{});
        else if (*t == 'd')
            all(double{});
        else if (*t == 'c')
            all(complex_s{});
        else if (*t == 'z')
            all(complex_d{});
    }
    return 0;
}
