/* test/dense/test_level3_accuracy.cu: backward errors of operations on large triangles beside those
 * of cuBLAS and cuSOLVER, where triangles are ill-conditioned
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_level3_accuracy          every type
 * test_level3_accuracy sdcz     these
 *
 * Prints a line for each operation and triangle: the largest error of ours and of the peer, over
 * the cases tried, in units of roundoff.  A line whose error of ours is more than FACTOR times the
 * peer's, and above ADMITTED units, fails.
 *
 *     trsm   |B - op(A) X| / (|op(A)||X| + |B|)        posv   |B - A X| / (d d^T |X| + |B|)
 *     trmm   |Y - op(A) B| / (|op(A)||B|)              potri  |A X - I| / (d d^T |X|)
 *     trtri  |X A - I| / (|X||A|), or |A X - I| / (|A||X|) where that is smaller: a method bounds
 *            one of them [Higham: Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * section 14.2]
 *
 * entry by entry, the largest of them, with d(i)^2 = A(i,i), which bounds |L||L^H| [Demmel, LAPACK
 * Working Note 14].  Sums are in extended precision.  Of right-hand sides half are random, which
 * makes solutions large, and half have a random solution. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "bench/dense/peers.h"
#include "test/dense/trsv_fixture.h"
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

constexpr int64_t N = 389; /* more than a leaf and no multiple of anything */
constexpr double FACTOR = 4, ADMITTED = 40;
static const char *types = "sdcz";

#define OK(call) assert_int_equal((int)(call), 0)

static cublasFillMode_t fill_of(libsolver_storage uplo)
{
    return uplo == LIBSOLVER_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
static cublasDiagType_t diag_of(libsolver_diagonal diag)
{
    return diag == LIBSOLVER_UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

template <typename T> static constexpr bool is_single = sizeof(real_of<T>) == 4;
template <typename T> static double roundoff()
{
    return is_single<T> ? 0x1p-24 : 0x1p-53;
}

template <typename T> static double modulus(T a)
{
    if constexpr (scalar<T>::is_complex)
        return std::sqrt((double)a.re * a.re + (double)a.im * a.im);
    else
        return std::fabs((double)a);
}

/* A sum in extended precision, and that of the magnitudes. */
template <typename T> struct wide_sum {
    long double re = 0, im = 0;
    double size = 0;

    void add(T a, T b, double sign = 1)
    {
        if constexpr (scalar<T>::is_complex) {
            re += (long double)(sign * a.re) * b.re - (long double)(sign * a.im) * b.im;
            im += (long double)(sign * a.re) * b.im + (long double)(sign * a.im) * b.re;
            size += modulus(a) * modulus(b);
        } else {
            re += (long double)(sign * a) * b;
            size += std::fabs((double)a) * std::fabs((double)b);
        }
    }
    double magnitude() const { return (double)hypotl(re, im); }
    /* in units of roundoff; nothing in comparison with nothing is no error */
    double error() const { return magnitude() == 0 ? 0 : magnitude() / size / roundoff<T>(); }
};

/* By columns, leading dimension = rows. */
template <typename T> struct dense {
    int64_t rows, columns;
    std::vector<T> v;

    dense(int64_t rows, int64_t columns) : rows(rows), columns(columns), v((size_t)(rows * columns))
    {
    }
    T &at(int64_t i, int64_t j) { return v[(size_t)(i + j * rows)]; }
    T operator()(int64_t i, int64_t j) const { return v[(size_t)(i + j * rows)]; }
};

/* A lower triangle, its diagonal given or ones. */
template <typename T> struct triangle {
    std::string name;
    dense<T> L;
    libsolver_diagonal diag;
};

/* entry(i,j), i >= j, times exp(i (phase(i) - phase(j))) in complex types, which changes no size */
template <typename T>
static triangle<T> build(const char *name, libsolver_diagonal diag,
                         const std::function<double(int64_t, int64_t)> &entry)
{
    triangle<T> t = {name, dense<T>(N, N), diag};
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = j; i < N; i++) {
            const double v = entry(i, j);
            if constexpr (scalar<T>::is_complex) {
                const double phase = (double)(i * i % 31 - j * j % 31);
                t.L.at(i, j) = {(real_of<T>)(v * std::cos(phase)),
                                (real_of<T>)(v * std::sin(phase))};
            } else {
                t.L.at(i, j) = (T)v;
            }
        }
    return t;
}

template <typename T> static std::vector<triangle<T>> triangles()
{
    static random_numbers g = {7};
    const double root = std::sqrt((double)N), decades = is_single<T> ? 5 : 10;
    const auto uniform = [] { return g.next(); };
    const auto normal = [] {
        double sum = 0;
        for (int k = 0; k < 12; k++)
            sum += g.next();
        return sum / 2;
    };
    const auto kahan = [](double theta) {
        return [theta](int64_t i, int64_t j) {
            return std::pow(std::sin(theta), (double)j) * (i == j ? 1 : -std::cos(theta));
        };
    };
    const auto plain = [=](int64_t i, int64_t j) {
        return i == j ? 1.5 + uniform() / 2 : uniform() / root;
    };
    /* inverses up to 1e30 and 1e116: what single precision holds, and 2^N.  Of Kahan's triangles
     * they grow to cot(theta / 2)^(N-1): 1e64 with 1.20, and 1e29, which leaves single precision
     * nine more digits for sums, with 1.40. */
    const double c = is_single<T> ? std::pow(1e30, 1. / (N - 1)) - 1 : 1;
    const bool single = is_single<T>;
    const double part = is_single<T> ? 0.1 : 1;
    std::vector<triangle<T>> all;
    all.push_back(build<T>("random", LIBSOLVER_NON_UNIT, plain));
    all.push_back(build<T>("graded rows", LIBSOLVER_NON_UNIT, [=](int64_t i, int64_t j) {
        return std::pow(10., -decades * (double)i / N) * plain(i, j);
    }));
    all.push_back(build<T>("graded columns", LIBSOLVER_NON_UNIT, [=](int64_t i, int64_t j) {
        return std::pow(10., -decades * (double)j / N) * plain(i, j);
    }));
    all.push_back(build<T>("unit, entries to 1/4", LIBSOLVER_UNIT,
                           [=](int64_t i, int64_t j) { return i == j ? 1 : uniform() / 4; }));
    all.push_back(build<T>("unit, entries to 1", LIBSOLVER_UNIT,
                           [=](int64_t i, int64_t j) { return i == j ? 1 : uniform(); }));
    all.push_back(build<T>("Wilkinson", LIBSOLVER_UNIT,
                           [=](int64_t i, int64_t j) { return i == j ? 1 : -c; }));
    all.push_back(build<T>("Gauss", LIBSOLVER_NON_UNIT,
                           [=](int64_t i, int64_t j) { return (i == j ? 1 : part) * normal(); }));
    all.push_back(build<T>("Kahan 1.54", LIBSOLVER_NON_UNIT, kahan(1.54)));
    all.push_back(build<T>("Kahan 1.44", LIBSOLVER_NON_UNIT, kahan(1.44)));
    all.push_back(build<T>("Kahan 1.50", LIBSOLVER_NON_UNIT, kahan(1.50)));
    all.push_back(build<T>(single ? "Kahan 1.40" : "Kahan 1.20", LIBSOLVER_NON_UNIT,
                           kahan(single ? 1.40 : 1.20)));
    return all;
}

/* L or, stored above, its transpose; the rest is not a number. */
template <typename T> static dense<T> stored(const triangle<T> &t, libsolver_storage uplo)
{
    dense<T> a(N, N);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++) {
            const bool below = uplo == LIBSOLVER_LOWER ? i > j : i < j;
            a.at(i, j) = below || (i == j && t.diag == LIBSOLVER_NON_UNIT)
                             ? t.L(std::max(i, j), std::min(i, j))
                             : not_a_number<T>();
        }
    return a;
}

/* op(A) of what is stored as `a`, zeros beyond the triangle. */
template <typename T>
static dense<T> applied(const dense<T> &a, libsolver_storage uplo, libsolver_transpose trans,
                        libsolver_diagonal diag)
{
    dense<T> op(N, N);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++) {
            const bool turned = trans != LIBSOLVER_NO_TRANSPOSE;
            const int64_t row = turned ? j : i, column = turned ? i : j;
            if (row == column && diag == LIBSOLVER_UNIT)
                op.at(i, j) = from_real<T>(1);
            else if (row == column || (uplo == LIBSOLVER_LOWER) == (row > column))
                op.at(i, j) = conjugate_if(a(row, column), trans == LIBSOLVER_CONJUGATE_TRANSPOSE);
        }
    return op;
}

struct found {
    double ours = 0, peer = 0;

    void add(double a, double b)
    {
        ours = std::isnan(a) ? INFINITY : std::max(ours, a);
        peer = std::isnan(b) ? INFINITY : std::max(peer, b);
    }
};
static int failures;
template <typename T> static void report(const char *what, const char *name, const found &f)
{
    const bool bad = !(f.ours <= std::max(FACTOR * f.peer, ADMITTED)) || std::isinf(f.ours);
    printf("%s %-22s %-22s %9.2g %9.2g%s\n", type_of<T>::name, what, name, f.ours, f.peer,
           bad ? "  FAILS" : "");
    fflush(stdout);
    failures += bad;
}

/* What a test of a type has on the device. */
template <typename T> struct bench {
    libsolver_dense_context *context[3] = {}; /* as it comes; with inverses, block by block and by
                                                 halves */
    cublasHandle_t cublas;
    cusolverDnHandle_t cusolver;
    device_array<T> a = device_array<T>(N * N), b = device_array<T>(N * 400),
                    other = device_array<T>(N * 400);
    device_array<char> work = device_array<char>(64 << 20), storage = device_array<char>(32 << 20);
    device_array<int> info = device_array<int>(1);

    bench()
    {
        for (int k = 0; k < 3; k++) {
            libsolver_dense_options options = {};
            options.order = 512;
            const libsolver_dense_trsm_form forms[] = {LIBSOLVER_DENSE_TRSM_AUTO,
                                                       LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS,
                                                       LIBSOLVER_DENSE_TRSM_INVERSE_HALVES};
            options.trsm = forms[k];
            options.block = k == 2 ? 64 : 0;
            OK(libsolver_dense_create(&options, &context[k]));
        }
        OK(cublasCreate(&cublas));
        OK(cusolverDnCreate(&cusolver));
    }
    bench(const bench &) = delete;
    ~bench()
    {
        for (auto *c : context)
            libsolver_dense_destroy(c);
        cublasDestroy(cublas);
        cusolverDnDestroy(cusolver);
    }
    void solve_prepared(libsolver_side side, libsolver_storage uplo, libsolver_transpose trans,
                        libsolver_diagonal diag, const dense<T> &sides)
    {
        libsolver_trsm_prepared prepared;
        const int64_t count = side == LIBSOLVER_LEFT ? sides.columns : sides.rows,
                      bytes = libsolver_trsm_workspace_bytes(N, count);
        OK(libsolver_trsm_workspace_init(work.p, bytes, nullptr));
        OK(libsolver_trsm_prepare(type_of<T>::value, side, uplo, trans, diag, N, a.p, N, storage.p,
                                  (int64_t)32 << 20, 0, nullptr, &prepared));
        OK(libsolver_trsm_solve(&prepared, count, nullptr, b.p, sides.rows, work.p, bytes,
                                nullptr));
    }
    dense<T> get(const device_array<T> &p, int64_t rows, int64_t columns) const
    {
        dense<T> x(rows, columns);
        CUDA_OK(cudaDeviceSynchronize());
        p.get(x.v);
        return x;
    }
};

/* The sides that are looked at: eight, odd and even. */
static std::vector<int64_t> looked_at(int64_t sides)
{
    std::vector<int64_t> all;
    for (int64_t t = 0; t < 8; t++)
        all.push_back(t * (sides / 8) / 2 * 2 + t % 2);
    return all;
}

/* The largest error over rows (columns from the right) of some sides of op(A) x = b. */
template <typename T>
static double product_error(const dense<T> &op, bool right, const dense<T> &x, const dense<T> &b,
                            bool b_counts)
{
    const int64_t sides = right ? x.rows : x.columns;
    double most = 0;
    for (int64_t k : looked_at(sides))
        for (int64_t i = 0; i < N; i++) {
            wide_sum<T> sum;
            for (int64_t j = 0; j < N; j++) {
                const T entry = right ? op(j, i) : op(i, j);
                if (modulus(entry) != 0)
                    sum.add(entry, right ? x(k, j) : x(j, k));
            }
            const double before = sum.size;
            sum.add(right ? b(k, i) : b(i, k), from_real<T>(1), -1);
            if (!b_counts)
                sum.size = before;
            const double e = sum.error();
            if (!(e <= most))
                most = e;
        }
    return most;
}

/* Right-hand sides; of the odd ones among those looked at the solution is random. */
template <typename T> static dense<T> sides_of(const dense<T> &op, bool right, int64_t sides)
{
    random_numbers g = {99};
    dense<T> b(right ? sides : N, right ? N : sides);
    for (T &v : b.v)
        v = random_entry<T>(g);
    std::vector<T> x((size_t)N);
    for (int64_t k : looked_at(sides)) {
        if (k % 2 == 0)
            continue;
        for (T &v : x)
            v = random_entry<T>(g);
        for (int64_t i = 0; i < N; i++) {
            wide_sum<T> sum;
            for (int64_t j = 0; j < N; j++)
                sum.add(right ? op(j, i) : op(i, j), x[(size_t)j]);
            T &v = right ? b.at(k, i) : b.at(i, k);
            if constexpr (scalar<T>::is_complex)
                v = {(real_of<T>)sum.re, (real_of<T>)sum.im};
            else
                v = (T)sum.re;
        }
    }
    return b;
}

template <typename T> static void sided(bench<T> &t, const triangle<T> &given)
{
    struct {
        libsolver_storage uplo;
        libsolver_transpose trans;
        libsolver_side side;
    } const cases[] = {{LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_LEFT},
                       {LIBSOLVER_UPPER, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_LEFT},
                       {LIBSOLVER_UPPER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_RIGHT},
                       {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_RIGHT}};
    const char *const names[] = {"trsm, 35 sides",   "trsm, 290 sides", "trsm, inverse 256",
                                 "trsm, inverse 64", "trmm, 290 sides", "trsm, prepared"};
    found found[6];
    for (const auto &c : cases) {
        const bool right = c.side == LIBSOLVER_RIGHT;
        const dense<T> a = stored(given, c.uplo), op = applied(a, c.uplo, c.trans, given.diag);
        t.a.put(a.v);
        const dense<T> all = sides_of(op, right, 290), few = sides_of(op, right, 35);
        for (int what = 0; what < 6; what++) {
            const bool multiplies = what == 4;
            const dense<T> &b = what == 0 || what == 5 ? few : all;
            const cublasSideMode_t side = right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
            const cublasOperation_t op_of[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
            T one = from_real<T>(1);
            const int m = (int)b.rows, n = (int)b.columns;
            t.b.put(b.v);
            if (what == 5)
                t.solve_prepared(c.side, c.uplo, c.trans, given.diag, b);
            else
                OK((multiplies ? libsolver_dense_trmm : libsolver_dense_trsm)(
                    t.context[what % 4 / 2 + (what == 3)], type_of<T>::value, c.side, c.uplo,
                    c.trans, given.diag, m, n, nullptr, t.a.p, N, t.b.p, m, nullptr));
            const dense<T> x = t.get(t.b, m, n);
            t.b.put(b.v);
            if (multiplies)
                OK(peer<T>::trmm(t.cublas, side, fill_of(c.uplo), op_of[c.trans],
                                 diag_of(given.diag), m, n, as_peer(&one), as_peer(t.a.p), N,
                                 as_peer(t.b.p), m, as_peer(t.other.p), m));
            else
                OK(peer<T>::trsm(t.cublas, side, fill_of(c.uplo), op_of[c.trans],
                                 diag_of(given.diag), m, n, as_peer(&one), as_peer(t.a.p), N,
                                 as_peer(t.b.p), m));
            const dense<T> y = t.get(multiplies ? t.other : t.b, m, n);
            if (multiplies)
                found[what].add(product_error(op, right, b, x, false),
                                product_error(op, right, b, y, false));
            else
                found[what].add(product_error(op, right, x, b, true),
                                product_error(op, right, y, b, true));
        }
    }
    for (int what = 0; what < 6; what++)
        report<T>(names[what], given.name.c_str(), found[what]);
}

/* |A B - I| / (|A||B|) for lower triangles, some columns of it; by rows when that is what counts */
template <typename T> static double identity_error(const dense<T> &A, const dense<T> &B)
{
    double most = 0;
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = j; i < N; i++) {
            if ((i + 3 * j) % 7 != 0 && i - j > 8)
                continue;
            wide_sum<T> sum;
            for (int64_t k = j; k <= i; k++)
                sum.add(A(i, k), B(k, j));
            sum.re -= i == j;
            const double e = sum.error();
            if (!(e <= most))
                most = e;
        }
    return most;
}

template <typename T> static void inverses(bench<T> &t, const triangle<T> &given)
{
    found found;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER}) {
        const dense<T> a = stored(given, uplo);
        const auto lower = [&](const dense<T> &x) {
            return applied(x, uplo,
                           uplo == LIBSOLVER_LOWER ? LIBSOLVER_NO_TRANSPOSE : LIBSOLVER_TRANSPOSE,
                           given.diag);
        };
        const dense<T> L = lower(a);
        t.a.put(a.v);
        OK(libsolver_dense_trtri(t.context[0], type_of<T>::value, uplo, given.diag, N, t.a.p, N,
                                 nullptr));
        const dense<T> X = lower(t.get(t.a, N, N));
        t.a.put(a.v);
        size_t device = 0, host = 0;
        OK(cusolverDnXtrtri_bufferSize(t.cusolver, fill_of(uplo), diag_of(given.diag), N,
                                       peer<T>::type, t.a.p, N, &device, &host));
        std::vector<char> room(host + 1);
        assert_true(device <= 64 << 20);
        OK(cusolverDnXtrtri(t.cusolver, fill_of(uplo), diag_of(given.diag), N, peer<T>::type, t.a.p,
                            N, t.work.p, device, room.data(), host, t.info.p));
        const dense<T> Y = lower(t.get(t.a, N, N));
        found.add(std::min(identity_error(X, L), identity_error(L, X)),
                  std::min(identity_error(Y, L), identity_error(L, Y)));
    }
    report<T>("trtri", given.name.c_str(), found);
}

/* A = L L^H, rounded, as far as it is definite: all but the last growth of the triangles. */
template <typename T> static void systems(bench<T> &t, const triangle<T> &given)
{
    dense<T> A(N, N);
    std::vector<double> d((size_t)N);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = j; i < N; i++) {
            wide_sum<T> sum;
            for (int64_t k = 0; k <= j; k++)
                sum.add(given.L(i, k), conjugate_if(given.L(j, k), true));
            T v;
            if constexpr (scalar<T>::is_complex)
                v = {(real_of<T>)sum.re, (real_of<T>)(i == j ? 0 : sum.im)};
            else
                v = (T)sum.re;
            A.at(i, j) = v;
            A.at(j, i) = conjugate_if(v, true);
            if (i == j)
                d[(size_t)i] = std::sqrt((double)real_part(v));
        }
    const auto error = [&](const dense<T> &x, const dense<T> &b) {
        double most = 0;
        for (int64_t k : looked_at(b.columns))
            for (int64_t i = 0; i < N; i++) {
                wide_sum<T> sum;
                double size = modulus(b(i, k));
                for (int64_t j = 0; j < N; j++) {
                    sum.add(A(i, j), x(j, k));
                    size += d[(size_t)i] * d[(size_t)j] * modulus(x(j, k));
                }
                sum.add(b(i, k), from_real<T>(1), -1);
                sum.size = size;
                const double e = sum.error();
                if (!(e <= most))
                    most = e;
            }
        return most;
    };
    dense<T> identity(N, N);
    for (int64_t i = 0; i < N; i++)
        identity.at(i, i) = from_real<T>(1);
    const int64_t sides = 70;
    const dense<T> b = sides_of(A, false, sides);
    found solved, inverted;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER}) {
        const cublasFillMode_t fill = fill_of(uplo);
        const auto whole = [&](dense<T> x) {
            for (int64_t j = 0; j < N; j++)
                for (int64_t i = 0; i < j; i++)
                    if (uplo == LIBSOLVER_LOWER)
                        x.at(i, j) = conjugate_if(x(j, i), true);
                    else
                        x.at(j, i) = conjugate_if(x(i, j), true);
            return x;
        };
        t.a.put(A.v);
        t.b.put(b.v);
        OK(libsolver_dense_posv(t.context[0], type_of<T>::value, uplo, N, sides, t.a.p, N, t.b.p, N,
                                t.info.p, nullptr));
        const dense<T> x = t.get(t.b, N, sides);
        std::vector<int> info(1);
        t.info.get(info);
        if (info[0] != 0) {
            printf("%s %s: not definite in this precision\n", type_of<T>::name, given.name.c_str());
            return;
        }
        OK(libsolver_dense_potri(t.context[0], type_of<T>::value, uplo, N, t.a.p, N, nullptr));
        const dense<T> inverse = whole(t.get(t.a, N, N));
        int potrf_room, potri_room;
        OK(peer<T>::potrf_size(t.cusolver, fill, N, as_peer(t.a.p), N, &potrf_room));
        OK(peer<T>::potri_size(t.cusolver, fill, N, as_peer(t.a.p), N, &potri_room));
        auto *const work = (typename peer<T>::entry *)t.work.p;
        t.a.put(A.v);
        t.b.put(b.v);
        OK(peer<T>::potrf(t.cusolver, fill, N, as_peer(t.a.p), N, work, potrf_room, t.info.p));
        OK(peer<T>::potrs(t.cusolver, fill, N, (int)sides, as_peer(t.a.p), N, as_peer(t.b.p), N,
                          t.info.p));
        const dense<T> y = t.get(t.b, N, sides);
        OK(peer<T>::potri(t.cusolver, fill, N, as_peer(t.a.p), N, work, potri_room, t.info.p));
        const dense<T> other = whole(t.get(t.a, N, N));
        solved.add(error(x, b), error(y, b));
        inverted.add(error(inverse, identity), error(other, identity));
    }
    report<T>("posv", given.name.c_str(), solved);
    report<T>("potri", given.name.c_str(), inverted);
}

/* Entries such that condition numbers are those of the precision and A stays definite. */
template <typename T> static std::vector<triangle<T>> definite_factors()
{
    static random_numbers g = {3};
    const double root = std::sqrt((double)N), decades = is_single<T> ? 8 : 30;
    const double growth = is_single<T> ? 30 : 1e6, c = std::pow(growth, 1. / (N - 1)) - 1; /* of
                                                                                              inv(L)
                                                                                            */
    std::vector<triangle<T>> all;
    const auto plain = [=](int64_t i, int64_t j) {
        return i == j ? 1.5 + g.next() / 2 : g.next() / root;
    };
    all.push_back(build<T>("random", LIBSOLVER_NON_UNIT, plain));
    all.push_back(build<T>("graded rows", LIBSOLVER_NON_UNIT, [=](int64_t i, int64_t j) {
        return std::pow(10., -decades / 2 * (double)(i * 37 % N) / N) * plain(i, j);
    }));
    all.push_back(build<T>("growing inverse", LIBSOLVER_NON_UNIT,
                           [=](int64_t i, int64_t j) { return i == j ? 1 : -c; }));
    all.push_back(build<T>("minima", LIBSOLVER_NON_UNIT, [](int64_t, int64_t) { return 1; }));
    return all;
}

template <typename T> static void errors_of_type(void **)
{
    if (strchr(types, *type_of<T>::name) == nullptr)
        return;
    bench<T> t;
    failures = 0;
    printf("  operation              triangle                    ours      peer\n");
    for (const triangle<T> &given : triangles<T>()) {
        sided(t, given);
        inverses(t, given);
    }
    for (const triangle<T> &given : definite_factors<T>())
        systems(t, given);
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    if (argc > 1)
        types = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_type<double>),
        cmocka_unit_test(errors_of_type<float>),
        cmocka_unit_test(errors_of_type<complex_d>),
        cmocka_unit_test(errors_of_type<complex_s>),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
