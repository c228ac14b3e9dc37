/* test/dense/test_batched.cu: batches of small solves and products on the GPU against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_batched            everything
 * test_batched small      what a sanitizer is run on */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/batched_fixture.h"
#include <cstring>

static bool small_only;

template <typename T> bool is_nan(T v)
{
    return !(magnitude(v) == magnitude(v));
}

/* One batch of op(A) X = B or X op(A) = B; vectors: by the calls of trsv, incx -2; multiplies: of
 * op(A) B or B op(A). */
struct solve_shape {
    triangle_case c;
    libsolver_side side;
    bool vectors, multiplies = false;
};
/* m x n: B */
struct item_size {
    int64_t m, n;
};

/* x := op(A) x, incx > 0 */
template <typename T>
void plain_multiply(triangle_case c, int64_t n, const T *a, int64_t lda, T *x, int64_t incx)
{
    const bool transposed = c.trans != LIBSOLVER_NO_TRANSPOSE;
    std::vector<T> product((size_t)n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t row = transposed ? j : i, column = transposed ? i : j;
            if (row != column && (row > column) != (c.uplo == LIBSOLVER_LOWER))
                continue;
            const T entry =
                row == column && c.diag == LIBSOLVER_UNIT
                    ? from_real<T>(1)
                    : conjugate_if(a[row + column * lda], c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE);
            product[(size_t)i] = multiply_add(product[(size_t)i], entry, x[j * incx]);
        }
    for (int64_t i = 0; i < n; i++)
        x[i * incx] = product[(size_t)i];
}

/* x: a column of B seen from the left, as for plain_trsv; X op(A) = B is op(A)^T X^T = B^T. */
template <typename T>
void plain_solve(const solve_shape &s, int64_t n, const T *a, int64_t lda, T *x, int64_t incx)
{
    triangle_case c = s.c;
    if (s.side == LIBSOLVER_RIGHT)
        c.trans = c.trans == LIBSOLVER_NO_TRANSPOSE ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE;
    const bool conjugates = s.side == LIBSOLVER_RIGHT && s.c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++)
            x[i * (incx < 0 ? -incx : incx)] =
                conjugate_if(x[i * (incx < 0 ? -incx : incx)], conjugates);
        if (pass == 0 && s.multiplies)
            plain_multiply(c, n, a, lda, x, incx);
        else if (pass == 0)
            plain_trsv(c, n, a, lda, x, incx);
    }
}

template <typename T>
libsolver_status call_solve(const solve_shape &s, way how, int64_t m, int64_t n,
                            const device_array<int64_t> &ms, const device_array<int64_t> &ns,
                            const matrices<T> &a, matrices<T> &b, cudaStream_t stream)
{
    const libsolver_type t = type_of<T>::value;
    const int64_t count = (int64_t)a.at.size(), incx = -2;
    const triangle_case c = s.c;
    const auto *as = (const void *const *)a.each;
    auto *bs = (void *const *)b.each;
    if (s.vectors)
        return how == STRIDED
                   ? libsolver_trsv_strided_batched(t, c.uplo, c.trans, c.diag, m, a.device,
                                                    a.ld[0], a.stride(), b.device, incx, b.stride(),
                                                    count, stream)
               : how == POINTERS
                   ? libsolver_trsv_batched(t, c.uplo, c.trans, c.diag, m, as, a.ld[0], bs, incx,
                                            count, stream)
                   : libsolver_trsv_variable_batched(t, c.uplo, c.trans, c.diag, m, ms.p, as, a.lds,
                                                     bs, incx, count, stream);
    if (s.multiplies)
        return how == STRIDED
                   ? libsolver_trmm_strided_batched(t, s.side, c.uplo, c.trans, c.diag, m, n,
                                                    a.device, a.ld[0], a.stride(), b.device,
                                                    b.ld[0], b.stride(), count, stream)
               : how == POINTERS
                   ? libsolver_trmm_batched(t, s.side, c.uplo, c.trans, c.diag, m, n, as, a.ld[0],
                                            bs, b.ld[0], count, stream)
                   : libsolver_trmm_variable_batched(t, s.side, c.uplo, c.trans, c.diag, m, n, ms.p,
                                                     ns.p, as, a.lds, bs, b.lds, count, stream);
    return how == STRIDED ? libsolver_trsm_strided_batched(t, s.side, c.uplo, c.trans, c.diag, m, n,
                                                           a.device, a.ld[0], a.stride(), b.device,
                                                           b.ld[0], b.stride(), count, stream)
           : how == POINTERS
               ? libsolver_trsm_batched(t, s.side, c.uplo, c.trans, c.diag, m, n, as, a.ld[0], bs,
                                        b.ld[0], count, stream)
               : libsolver_trsm_variable_batched(t, s.side, c.uplo, c.trans, c.diag, m, n, ms.p,
                                                 ns.p, as, a.lds, bs, b.lds, count, stream);
}

/* Solves and compares; equal sizes are passed in all three ways. */
template <typename T> void solve_case(const solve_shape &s, const std::vector<item_size> &sizes)
{
    const bool right = s.side == LIBSOLVER_RIGHT;
    matrices<T> a, b;
    std::vector<int64_t> ms, ns;
    item_size most = {0, 0};
    bool equal = true;
    random_numbers g = {sizes.size() * 1000003 + (uint64_t)sizes[0].m};
    for (size_t k = 0; k < sizes.size(); k++) {
        const item_size z = sizes[k];
        const int64_t order = right ? z.n : z.m;
        a.add(order, order);
        b.add(s.vectors ? 2 * z.m : z.m, z.n);
        const std::vector<T> triangle = random_triangle<T>(s.c, order, a.ld[k], k + 1);
        if (order > 0)
            memcpy(a.item(k), triangle.data(), (size_t)(a.ld[k] * order) * sizeof(T));
        for (int64_t j = 0; j < z.n; j++)
            for (int64_t i = 0; i < z.m; i++)
                b.item(k)[s.vectors ? 2 * i : i + j * b.ld[k]] = random_entry<T>(g);
        ms.push_back(z.m);
        ns.push_back(z.n);
        most = {z.m > most.m ? z.m : most.m, z.n > most.n ? z.n : most.n};
        equal = equal && z.m == sizes[0].m && z.n == sizes[0].n;
    }
    std::vector<T> expected = b.host;
    for (size_t k = 0; k < sizes.size(); k++) {
        const int64_t order = right ? sizes[k].n : sizes[k].m,
                      count = right ? sizes[k].m : sizes[k].n;
        for (int64_t q = 0; q < count; q++)
            plain_solve(s, order, a.item(k), a.ld[k],
                        expected.data() + b.at[k] + q * (right ? 1 : b.ld[k]),
                        s.vectors ? -2
                        : right   ? b.ld[k]
                                  : 1);
    }
    a.send();
    b.send();
    device_array<int64_t> dm(ms), dn(ns);
    for (int how = equal ? STRIDED : VARIABLE; how <= VARIABLE; how++) {
        std::vector<T> first;
        for (int run = 0; run < 2; run++) {
            b.put();
            assert_int_equal(call_solve(s, (way)how, most.m, most.n, dm, dn, a, b, nullptr),
                             LIBSOLVER_OK);
            const std::vector<T> x = b.get();
            if (run > 0) {
                assert_memory_equal(x.data(), first.data(), x.size() * sizeof(T));
                continue;
            }
            first = x;
            double largest = 1e-300;
            for (size_t k = 0, e = 0; k < sizes.size(); k++) {
                const int64_t order = right ? sizes[k].n : sizes[k].m;
                const size_t end = k + 1 < sizes.size() ? (size_t)b.at[k + 1] : x.size();
                for (largest = 1e-300, e = (size_t)b.at[k]; e < end; e++)
                    if (!is_nan(expected[e]))
                        largest = std::fmax(largest, (double)magnitude(expected[e]));
                for (e = (size_t)b.at[k]; e < end; e++)
                    if (is_nan(expected[e]) != is_nan(x[e]) ||
                        magnitude(x[e] - expected[e]) > tolerance<T>(order) * largest)
                        fail_msg("%s %s %s, %s, uplo %d trans %d diag %d, item %zu of %zu, %lld x "
                                 "%lld, entry %zu: %g, not %g",
                                 type_of<T>::name,
                                 s.vectors      ? "trsv"
                                 : s.multiplies ? "trmm"
                                                : "trsm",
                                 way_name[how], right ? "right" : "left", s.c.uplo, s.c.trans,
                                 s.c.diag, k, sizes.size(), (long long)sizes[k].m,
                                 (long long)sizes[k].n, e - (size_t)b.at[k],
                                 (double)magnitude(x[e]), (double)magnitude(expected[e]));
            }
        }
    }
}

/* call(case, number of the case) for all of them; small: for a third */
template <typename Call> void for_cases(Call call)
{
    int number = 0;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (libsolver_transpose trans :
             {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE, LIBSOLVER_CONJUGATE_TRANSPOSE})
            for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT}) {
                if (!small_only || number % 4 == 0 || number == 7)
                    call(triangle_case{uplo, trans, diag}, number);
                number++;
            }
}

/* Items enough that one is solved by a few threads. */
static int64_t several_a_multiprocessor()
{
    int device = 0, multiprocessors = 0;
    CUDA_OK(cudaGetDevice(&device));
    CUDA_OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return 4 * multiprocessors;
}

template <typename T> void vectors_of_type()
{
    for_cases([](triangle_case c, int number) {
        std::vector<item_size> sizes;
        for (int64_t n : mixed_orders)
            if (!small_only || n <= 65)
                sizes.push_back({n, 1});
        solve_case<T>({c, LIBSOLVER_LEFT, true}, sizes);
        for (int64_t n : {4, 8, 13, 29, 64, 100, 128, 129, 192, 300})
            if ((!small_only || n <= 129) && (n + number) % (small_only ? 4 : 1) == 0)
                solve_case<T>({c, LIBSOLVER_LEFT, true}, std::vector<item_size>(3, {n, 1}));
    });
}
template <typename T> void columns_of_type(bool multiplies)
{
    static const int64_t counts[] = {70, 1, 9, 64, 5, 33, 8, 0, 17, 130};
    for_cases([=](triangle_case c, int number) {
        for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
            const auto add = [&](std::vector<item_size> &sizes, int64_t order, int64_t count) {
                sizes.push_back(side == LIBSOLVER_LEFT ? item_size{order, count}
                                                       : item_size{count, order});
            };
            std::vector<item_size> few, many;
            for (size_t k = 0; k < sizeof mixed_orders / sizeof *mixed_orders; k++)
                if (!small_only || mixed_orders[k] <= 65) {
                    add(few, mixed_orders[k], (int64_t)(k + (size_t)number) % 9);
                    add(many, mixed_orders[k], counts[(k + (size_t)number) % 10]);
                }
            solve_case<T>({c, side, false, multiplies}, few);
            solve_case<T>({c, side, false, multiplies}, many);
            static const int64_t orders[] = {12, 65, 32, 150, 64, 33};
            for (const int64_t order : {orders[number % (small_only ? 3 : 6)], (int64_t)5})
                for (int64_t count : {1, 4, 16, 70}) {
                    std::vector<item_size> equal;
                    for (int k = 0; k < 4; k++)
                        add(equal, order, count);
                    solve_case<T>({c, side, false, multiplies}, equal);
                }
        }
    });
}

/* One column and many items. */
template <typename T> void many_of_type()
{
    static const int64_t orders[] = {97, 65, 128, 150, 256, 193};
    for_cases([](triangle_case c, int number) {
        for (const int64_t n : {orders[number % 6], orders[(number + 3) % 6]}) {
            const bool left = number % 4 < 2;
            const item_size size = {left ? n : 1, left ? 1 : n};
            solve_case<T>({c, left ? LIBSOLVER_LEFT : LIBSOLVER_RIGHT, number % 4 == 0},
                          std::vector<item_size>((size_t)several_a_multiprocessor(), size));
        }
    });
}
static void many_vectors_match_plain_loops(void **)
{
    many_of_type<double>();
    many_of_type<float>();
    many_of_type<complex_d>();
    many_of_type<complex_s>();
}

static void vectors_match_plain_loops(void **)
{
    vectors_of_type<double>();
    vectors_of_type<float>();
    vectors_of_type<complex_d>();
    vectors_of_type<complex_s>();
}
static void columns_match_plain_loops(void **)
{
    columns_of_type<double>(false);
    columns_of_type<float>(false);
    columns_of_type<complex_d>(false);
    columns_of_type<complex_s>(false);
}
static void products_match_plain_loops(void **)
{
    columns_of_type<double>(true);
    columns_of_type<float>(true);
    columns_of_type<complex_d>(true);
    columns_of_type<complex_s>(true);
}

/* Order 1024 and batches of more items than a launch has blocks. */
static void large_batches_match_plain_loops(void **)
{
    if (small_only)
        return;
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT},
                        t = {LIBSOLVER_UPPER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT};
    for (const triangle_case &each : {c, t}) {
        solve_case<double>({each, LIBSOLVER_LEFT, true}, std::vector<item_size>(2, {1024, 1}));
        solve_case<complex_d>({each, LIBSOLVER_LEFT, false}, std::vector<item_size>(2, {1000, 2}));
        solve_case<double>({each, LIBSOLVER_RIGHT, false}, std::vector<item_size>(2, {20, 1024}));
    }
    std::vector<item_size> sizes;
    random_numbers g = {5};
    for (int k = 0; k < 20000; k++) {
        const double u = (g.next() + 1) / 2;
        sizes.push_back({(int64_t)(u * u * u * 100), 1 + k % 3});
    }
    solve_case<double>({c, LIBSOLVER_LEFT, false}, sizes);
    solve_case<double>({c, LIBSOLVER_LEFT, true}, std::vector<item_size>(100000, {8, 1}));
}

/* Triangles whose inverses grow: entries +-1 under a unit diagonal; Kahan's; entries +-100 in
 * diagonal blocks of 8; columns scaled by what is near both ends of the range. */
template <typename T> std::vector<T> growing_triangle(int kind, int64_t n, int64_t lda)
{
    std::vector<T> a((size_t)(lda * n), not_a_number<T>());
    random_numbers g = {11};
    const double s = std::sin(1.2), c = std::cos(1.2);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            const double scale =
                kind == 1 ? std::pow(s, (double)(i % 64))
                : kind == 3
                    ? std::pow(10., (sizeof(real_of<T>) == 4 ? 15 : 140) * std::cos((double)j))
                    : 1;
            const double sign = g.next() < 0 ? -1. : 1.;
            const double v = i == j           ? 1
                             : kind == 0      ? sign
                             : kind == 1      ? -c
                             : kind == 3      ? 0.01 * sign
                             : i / 8 == j / 8 ? 100 * sign
                                              : 0.01 * sign;
            a[(size_t)(i + j * lda)] = from_real<T>((real_of<T>)(v * scale));
        }
    return a;
}
/* max over rows of |b - L x| / (|L||x| + |b|), lower */
template <typename T>
double backward_error(int64_t n, const T *a, int64_t lda, const T *x, const T *b)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        long double re = 0, im = 0, sum = (long double)magnitude(b[i]);
        const auto add = [&](T p, T q, long double sign) {
            if constexpr (scalar<T>::is_complex) {
                re += sign * ((long double)p.re * q.re - (long double)p.im * q.im);
                im += sign * ((long double)p.re * q.im + (long double)p.im * q.re);
            } else {
                re += sign * ((long double)p * q);
            }
        };
        add(from_real<T>(1), b[i], 1);
        for (int64_t j = 0; j <= i; j++) {
            add(a[i + j * lda], x[j], -1);
            sum += (long double)magnitude(a[i + j * lda]) * (long double)magnitude(x[j]);
        }
        const double e = (double)((std::fabs(re) + std::fabs(im)) / sum);
        most = e == e ? std::fmax(most, e) : INFINITY;
    }
    return most;
}
template <typename T> void growth_case(int64_t n, int64_t count, int64_t items)
{
    const solve_shape s = {{LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT},
                           LIBSOLVER_LEFT,
                           false};
    const double unit = (double)(sizeof(real_of<T>) == 4 ? FLT_EPSILON : DBL_EPSILON) / 2;
    for (int kind = 0; kind < 4; kind++) {
        matrices<T> a, b;
        random_numbers g = {3};
        const std::vector<T> triangle = growing_triangle<T>(kind, n, n + (n % 2 ? 3 : 1));
        for (int64_t k = 0; k < items; k++) {
            a.add(n, n);
            b.add(n, count);
            memcpy(a.item((size_t)k), triangle.data(), triangle.size() * sizeof(T));
            for (int64_t j = 0; j < count; j++)
                for (int64_t i = 0; i < n; i++)
                    b.item((size_t)k)[i + j * b.ld[0]] = random_entry<T>(g);
        }
        a.send();
        b.send();
        device_array<int64_t> dm(std::vector<int64_t>{n}), dn(std::vector<int64_t>{count});
        assert_int_equal(call_solve(s, items > 1 ? STRIDED : VARIABLE, n, count, dm, dn, a, b,
                                    nullptr),
                         LIBSOLVER_OK);
        const std::vector<T> x = b.get();
        const size_t last = (size_t)items - 1;
        for (int64_t j = 0; j < count; j++) {
            const T *const of_b = b.item(last) + j * b.ld[0];
            std::vector<T> plain(of_b, of_b + n);
            plain_solve(s, n, a.item(last), a.ld[0], plain.data(), 1);
            const double ours = backward_error(n, a.item(last), a.ld[0],
                                               x.data() + b.at[last] + j * b.ld[0], of_b),
                         peer = backward_error(n, a.item(last), a.ld[0], plain.data(), of_b);
            if (!(ours <= 10 * peer + 2 * unit))
                fail_msg("%s kind %d, order %lld, column %lld of %lld: backward error %g, "
                         "substitution %g",
                         type_of<T>::name, kind, (long long)n, (long long)j, (long long)count, ours,
                         peer);
        }
    }
}
template <typename T> void growth_of_type()
{
    for (int64_t n : {150, 24})
        for (int64_t count : {1, 3, 12})
            growth_case<T>(n, count, 1);
    growth_case<T>(150, 1, several_a_multiprocessor());
}
static void growing_inverses_are_not_used(void **)
{
    growth_of_type<double>();
    growth_of_type<float>();
    growth_of_type<complex_d>();
    growth_of_type<complex_s>();
}

/* Calls captured in one graph give the bits of the calls. */
static void batches_can_be_captured(void **)
{
    const solve_shape s = {{LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT},
                           LIBSOLVER_LEFT,
                           false};
    solve_shape product = s;
    product.multiplies = true;
    matrices<double> a, b;
    const std::vector<int64_t> orders = {100, 3, 65};
    for (int64_t n : orders) {
        a.add(n, n);
        b.add(n, 2);
        const std::vector<double> triangle =
            random_triangle<double>(s.c, n, a.ld.back(), (uint64_t)n);
        memcpy(a.item(a.at.size() - 1), triangle.data(), triangle.size() * sizeof(double));
        for (int64_t e = 0; e < b.ld.back() * 2; e++)
            b.item(b.at.size() - 1)[e] = 1;
    }
    a.send();
    b.send();
    device_array<int64_t> dn(orders), dcolumns(std::vector<int64_t>(3, 2));
    const auto all = [&](cudaStream_t stream) {
        for (const solve_shape &shape : {s, s, product})
            assert_int_equal(call_solve(shape, VARIABLE, 100, 2, dn, dcolumns, a, b, stream),
                             LIBSOLVER_OK);
    };
    all(nullptr);
    const std::vector<double> x = b.get();
    const captured_graph graph(all);
    b.put();
    graph.launch();
    const std::vector<double> y = b.get();
    assert_memory_equal(y.data(), x.data(), x.size() * sizeof(double));
}

static void wrong_arguments_are_refused(void **)
{
    const libsolver_type d = LIBSOLVER_D;
    const libsolver_storage lower = LIBSOLVER_LOWER;
    const libsolver_transpose none = LIBSOLVER_NO_TRANSPOSE;
    const libsolver_diagonal unit = LIBSOLVER_UNIT;
    const libsolver_side left = LIBSOLVER_LEFT, right = LIBSOLVER_RIGHT;
    device_array<double> x(64);
    double *p = x.p;
    void *const *none_of = nullptr;
#define REFUSED(call) assert_int_equal(call, LIBSOLVER_INVALID)
    REFUSED(libsolver_trsv_strided_batched((libsolver_type)9, lower, none, unit, 2, p, 2, 4, p, 1,
                                           2, 1, nullptr));
    REFUSED(libsolver_trsv_strided_batched(d, lower, none, unit, -1, p, 2, 4, p, 1, 2, 1, nullptr));
    REFUSED(libsolver_trsv_strided_batched(d, lower, none, unit, 2, p, 1, 4, p, 1, 2, 1, nullptr));
    REFUSED(libsolver_trsv_strided_batched(d, lower, none, unit, 2, p, 2, 4, p, 0, 2, 1, nullptr));
    REFUSED(libsolver_trsv_strided_batched(d, lower, none, unit, 2, p, 2, 4, p, 1, 2, -1, nullptr));
    REFUSED(libsolver_trsv_strided_batched(d, lower, none, unit, 2, nullptr, 2, 4, p, 1, 2, 1,
                                           nullptr));
    REFUSED(libsolver_trsv_batched(d, lower, none, unit, 2, nullptr, 2, none_of, 1, 1, nullptr));
    REFUSED(libsolver_trsv_variable_batched(d, lower, none, unit, 2, nullptr, nullptr, nullptr,
                                            none_of, 1, 1, nullptr));
    REFUSED(libsolver_trsm_strided_batched(d, (libsolver_side)2, lower, none, unit, 2, 2, p, 2, 4,
                                           p, 2, 4, 1, nullptr));
    REFUSED(libsolver_trsm_strided_batched(d, left, lower, none, unit, 3, 2, p, 2, 4, p, 3, 4, 1,
                                           nullptr));
    REFUSED(libsolver_trsm_strided_batched(d, right, lower, none, unit, 3, 2, p, 2, 4, p, 2, 4, 1,
                                           nullptr));
    REFUSED(libsolver_trsm_strided_batched(d, left, lower, none, unit, 2, -1, p, 2, 4, p, 2, 4, 1,
                                           nullptr));
    REFUSED(libsolver_trsm_batched(d, left, lower, none, unit, 2, 2, nullptr, 2, none_of, 2, 1,
                                   nullptr));
    REFUSED(libsolver_trsm_variable_batched(d, left, lower, none, unit, 2, 2, nullptr, nullptr,
                                            nullptr, nullptr, none_of, nullptr, 1, nullptr));
#undef REFUSED
    assert_int_equal(libsolver_trsm_strided_batched(d, left, lower, none, unit, 0, 3, nullptr, 1, 0,
                                                    nullptr, 1, 0, 5, nullptr),
                     LIBSOLVER_OK);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    small_only = argc > 1 && strcmp(argv[1], "small") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(vectors_match_plain_loops),
        cmocka_unit_test(many_vectors_match_plain_loops),
        cmocka_unit_test(columns_match_plain_loops),
        cmocka_unit_test(products_match_plain_loops),
        cmocka_unit_test(large_batches_match_plain_loops),
        cmocka_unit_test(growing_inverses_are_not_used),
        cmocka_unit_test(batches_can_be_captured),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
