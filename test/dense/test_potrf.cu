/* test/dense/test_potrf.cu: the Cholesky factorization of one matrix against the products of its
 * factors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_potrf            everything
 *        test_potrf small      the sizes that a sanitizer is run on, and the host
 *        test_potrf turns      of these the ones with tasks of all kinds, for many orders of blocks
 */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/trsv_fixture.h"
#include <cstring>
#include <initializer_list>

static bool small_only, by_turns;

/* A matrix as a caller has it: one triangle of it, not a number in the other and behind its
 * columns, `offset` entries behind an aligned address. */
template <typename T> struct given_matrix {
    libsolver_storage uplo;
    int64_t n, lda, offset;
    std::vector<T> v;

    given_matrix(libsolver_storage uplo, int64_t n, int64_t lda, int64_t offset)
        : uplo(uplo), n(n), lda(lda), offset(offset),
          v((size_t)(offset + lda * n), not_a_number<T>())
    {
    }
    bool has(int64_t i, int64_t j) const
    {
        return i < n && (i == j || (i > j) == (uplo == LIBSOLVER_LOWER));
    }
    T &at(int64_t i, int64_t j) { return v[(size_t)(offset + i + j * lda)]; }
    /* Entry (i, j), i >= j, of the matrix or of L. */
    T lower(const std::vector<T> &of, int64_t i, int64_t j) const
    {
        return uplo == LIBSOLVER_LOWER ? of[(size_t)(offset + i + j * lda)]
                                       : conjugate_if(of[(size_t)(offset + j + i * lda)], true);
    }
    void set_lower(int64_t i, int64_t j, T x)
    {
        if (uplo == LIBSOLVER_LOWER)
            at(i, j) = x;
        else
            at(j, i) = conjugate_if(x, true);
    }
};

/* Off the diagonal up to 1 / sqrt(n), on it 1 to 2 more than makes it definite for certain, times
 * powers of two that vary by row. */
template <typename T> void fill_definite(given_matrix<T> &a, uint64_t seed)
{
    random_numbers g = {seed};
    const double scale = 1 / std::sqrt((double)a.n);
    const auto size = [](int64_t i) { return std::ldexp(1., (int)(i * 7 % 11) - 5); };
    for (int64_t j = 0; j < a.n; j++)
        for (int64_t i = j; i < a.n; i++)
            a.set_lower(
                i, j,
                i == j ? from_real<T>((real_of<T>)((2.5 + 0.5 * g.next()) * size(i) * size(i)))
                       : times_real(random_entry<T>(g), (real_of<T>)(scale * size(i) * size(j))));
}

/* L L^H of an L whose diagonal tiles have large inverses: by a factor of 10, one of 600. */
template <typename T> void fill_hard(given_matrix<T> &a, uint64_t seed)
{
    random_numbers g = {seed};
    const size_t n = (size_t)a.n;
    std::vector<T> l(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            if (i == j)
                l[i + j * n] = from_real<T>(1);
            else if (i / 8 == j / 8 && j / 8 % 8 == 1)
                l[i + j * n] = from_real<T>((real_of<T>)(j / 64 == 1 ? -1.5 : -0.6));
            else
                l[i + j * n] = times_real(random_entry<T>(g), (real_of<T>)0.1);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            T sum = {};
            for (size_t k = 0; k <= j; k++)
                sum = multiply_add(sum, l[i + k * n], conjugate_if(l[j + k * n], true));
            a.set_lower((int64_t)i, (int64_t)j, sum);
        }
}

template <typename T> struct outcome {
    std::vector<T> l;
    int info;
};

template <typename T> static outcome<T> factorize(const given_matrix<T> &a)
{
    constexpr libsolver_type type = type_of<T>::value;
    const int64_t bytes = libsolver_potrf_workspace_bytes(type, a.n);
    device_array<T> da(a.v);
    device_array<char> workspace((size_t)bytes);
    device_array<int> info(1);
    assert_int_equal(libsolver_potrf(type, a.uplo, a.n, da.p + a.offset, a.lda, info.p, workspace.p,
                                     bytes, nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    outcome<T> o = {a.v, -1};
    std::vector<int> found(1);
    da.get(o.l);
    info.get(found);
    o.info = found[0];
    return o;
}

/* |L L^H - A| entry by entry, beside the roots of its row's and its column's diagonal. */
template <typename T>
static void check_factor(const given_matrix<T> &a, const std::vector<T> &l, int64_t columns,
                         const char *what)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = j; i < a.n; i++) {
            T sum = a.lower(a.v, i, j);
            for (int64_t k = 0; k <= j; k++)
                sum = multiply_add(sum, -a.lower(l, i, k), conjugate_if(a.lower(l, j, k), true));
            if (i == j)
                sum = from_real<T>(real_part(sum));
            const double scale = std::sqrt((double)real_part(a.lower(a.v, i, i)) *
                                           (double)real_part(a.lower(a.v, j, j)));
            if (!(magnitude(sum) <= tolerance<T>(a.n) * scale))
                fail_msg("%s %s uplo %d, order %lld, lda %lld, offset %lld, entry (%lld, %lld): %g "
                         "of %g",
                         what, type_of<T>::name, a.uplo, (long long)a.n, (long long)a.lda,
                         (long long)a.offset, (long long)i, (long long)j, (double)magnitude(sum),
                         scale);
        }
}
template <typename T> static void check_others(const given_matrix<T> &a, const std::vector<T> &l)
{
    for (int64_t k = 0; k < (int64_t)a.v.size(); k++) {
        const int64_t e = k - a.offset;
        if (e < 0 || !a.has(e % a.lda, e / a.lda))
            assert_memory_equal(&l[(size_t)k], &a.v[(size_t)k], sizeof(T));
    }
}
template <typename T> static void check(const given_matrix<T> &a, const char *what)
{
    const outcome<T> o = factorize(a), again = factorize(a);
    if (o.info != 0)
        fail_msg("%s %s uplo %d, order %lld: info %d", what, type_of<T>::name, a.uplo,
                 (long long)a.n, o.info);
    check_factor(a, o.l, a.n, what);
    check_others(a, o.l);
    assert_memory_equal(o.l.data(), again.l.data(), o.l.size() * sizeof(T));
}

template <typename T> static void check_shapes()
{
    std::vector<int64_t> orders = {1, 7, 64, 65, 128, 150, 200, 321};
    if (by_turns)
        orders = {200, 265};
    if (!small_only)
        orders.insert(orders.end(), {2, 63, 127, 129, 191, 192, 193, 256, 449, 640});
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (int64_t n : orders)
            for (int way = 0; way < 3; way++) { /* aligned, odd columns, all of them beside */
                if (small_only && (by_turns || n > 200) && way > 0)
                    continue;
                given_matrix<T> a(uplo, n, way == 0 ? (n + 3) / 2 * 2 : n | 1, way == 2);
                fill_definite(a, (uint64_t)n);
                check(a, "definite");
            }
}
static void products_give_the_matrix_back(void **)
{
    check_shapes<double>();
    check_shapes<complex_s>();
    check_shapes<float>();
    check_shapes<complex_d>();
}

template <typename T> static void check_hard()
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (int64_t n : {130, 265}) {
            given_matrix<T> a(uplo, n, n + 1, 0);
            fill_hard(a, (uint64_t)n);
            check(a, "hard");
        }
}
static void large_inverses_are_not_used(void **)
{
    check_hard<double>();
    check_hard<complex_d>();
}

/* What LAPACK's zpotrf does not read either. */
template <typename T> static void check_imaginary()
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (bool hard : {false, true}) {
            given_matrix<T> a(uplo, 140, 140, 0);
            if (hard)
                fill_hard(a, 3);
            else
                fill_definite(a, 3);
            const outcome<T> o = factorize(a);
            given_matrix<T> b = a;
            for (int64_t i = 0; i < b.n; i++)
                b.at(i, i).im = 7;
            const outcome<T> p = factorize(b);
            for (int64_t j = 0; j < a.n; j++)
                for (int64_t i = j; i < a.n; i++) {
                    const T u = a.lower(o.l, i, j), v = a.lower(p.l, i, j);
                    assert_memory_equal(&u, &v, sizeof u);
                }
        }
}
static void imaginary_parts_of_the_diagonal_do_not_count(void **)
{
    check_imaginary<complex_d>();
    check_imaginary<complex_s>();
}

template <typename T> static void check_refused()
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (int64_t bad : {0, 40, 63, 64, 100, 192, 199})
            for (double value : {-1., 0., (double)NAN}) {
                given_matrix<T> a(uplo, 200, 202, 0);
                fill_definite(a, 9);
                a.at(bad, bad) = from_real<T>((real_of<T>)value);
                const outcome<T> o = factorize(a);
                if (o.info != (int)bad + 1)
                    fail_msg("%s uplo %d: column %lld is %g, info %d", type_of<T>::name, uplo,
                             (long long)bad, value, o.info);
                a.at(bad, bad) = from_real<T>(1000); /* not read where it is looked at */
                for (int64_t j = 0; j < bad; j++)
                    for (int64_t i = j; i < bad; i++) {
                        T sum = a.lower(a.v, i, j);
                        for (int64_t k = 0; k <= j; k++)
                            sum = multiply_add(sum, -a.lower(o.l, i, k),
                                               conjugate_if(a.lower(o.l, j, k), true));
                        const double scale = std::sqrt((double)real_part(a.lower(a.v, i, i)) *
                                                       (double)real_part(a.lower(a.v, j, j)));
                        assert_true(magnitude(sum) <= tolerance<T>(a.n) * scale);
                    }
                check_others(a, o.l);
            }
}
static void what_is_not_definite_is_told(void **)
{
    check_refused<double>();
    if (!small_only)
        check_refused<complex_s>();
}

/* L L^H v beside A v: as accurate as it is for entries, in less time. */
static double error_by_vector(const given_matrix<double> &a, const std::vector<double> &l)
{
    const size_t n = (size_t)a.n;
    random_numbers g = {77};
    std::vector<double> v(n), w(n), x(n), y(n);
    for (double &e : v)
        e = g.next();
    for (int64_t j = 0; j < a.n; j++)
        for (int64_t i = j; i < a.n; i++) {
            const double e = a.lower(a.v, i, j);
            x[(size_t)i] += e * v[(size_t)j];
            if (i > j)
                x[(size_t)j] += e * v[(size_t)i];
            w[(size_t)j] += a.lower(l, i, j) * v[(size_t)i];
        }
    double most = 0, largest = 0;
    for (int64_t j = 0; j < a.n; j++)
        for (int64_t i = j; i < a.n; i++)
            y[(size_t)i] += a.lower(l, i, j) * w[(size_t)j];
    for (size_t i = 0; i < n; i++) {
        most = std::fmax(most, std::isnan(y[i]) ? INFINITY : std::fabs(x[i] - y[i]));
        largest = std::fmax(largest, std::fabs(x[i]));
    }
    return most / largest;
}
static void large_orders(void **)
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (int64_t n : {1000, 2049, 5000}) {
            given_matrix<double> a(uplo, n, n + n % 2, 0);
            fill_definite(a, 5);
            const outcome<double> o = factorize(a);
            assert_int_equal(o.info, 0);
            const double error = error_by_vector(a, o.l);
            if (!(error <= tolerance<double>(n)))
                fail_msg("uplo %d, order %lld: %g", uplo, (long long)n, error);
            for (int again = 0; again < (n == 2049 ? 100 : 3); again++)
                assert_memory_equal(factorize(a).l.data(), o.l.data(), o.l.size() * sizeof(double));
        }
}

/* One workspace, again and again, also after what failed, in a graph. */
static void a_graph_is_launched_again(void **)
{
    given_matrix<double> good(LIBSOLVER_LOWER, 200, 200, 0), bad = good;
    fill_definite(good, 2);
    fill_definite(bad, 2);
    bad.at(70, 70) = -1;
    const int64_t bytes = libsolver_potrf_workspace_bytes(LIBSOLVER_D, 200);
    device_array<double> a(good.v);
    device_array<char> workspace((size_t)bytes);
    device_array<int> info(1);
    const captured_graph graph([&](cudaStream_t stream) {
        assert_int_equal(libsolver_potrf(LIBSOLVER_D, LIBSOLVER_LOWER, 200, a.p, 200, info.p,
                                         workspace.p, bytes, stream),
                         LIBSOLVER_OK);
    });
    const outcome<double> expected = factorize(good);
    for (int run = 0; run < 4; run++) {
        std::vector<double> l(good.v.size());
        std::vector<int> found(1);
        a.put(run % 2 ? bad.v : good.v);
        graph.launch();
        info.get(found);
        a.get(l);
        assert_int_equal(found[0], run % 2 ? 71 : 0);
        if (run % 2 == 0)
            assert_memory_equal(l.data(), expected.l.data(), l.size() * sizeof(double));
    }
}

#define REFUSED(call) assert_int_equal(call, LIBSOLVER_INVALID)
static void wrong_arguments_are_refused(void **)
{
    const libsolver_type d = LIBSOLVER_D;
    const libsolver_storage lower = LIBSOLVER_LOWER;
    const int64_t bytes = libsolver_potrf_workspace_bytes(d, 100);
    device_array<double> a(10000);
    device_array<char> workspace((size_t)bytes);
    device_array<int> info(1);
    char *const w = workspace.p;
    assert_int_equal(libsolver_potrf_workspace_bytes(d, -1), 0);
    assert_int_equal(libsolver_potrf_workspace_bytes((libsolver_type)9, 5), 0);
    REFUSED(libsolver_potrf((libsolver_type)9, lower, 100, a.p, 100, info.p, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, (libsolver_storage)7, 100, a.p, 100, info.p, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, -1, a.p, 100, info.p, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, a.p, 99, info.p, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, nullptr, 100, info.p, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, a.p, 100, nullptr, w, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, a.p, 100, info.p, nullptr, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, a.p, 100, info.p, w + 8, bytes, nullptr));
    REFUSED(libsolver_potrf(d, lower, 100, a.p, 100, info.p, w, bytes - 1, nullptr));
    info.put({-1});
    assert_int_equal(libsolver_potrf(d, lower, 0, nullptr, 1, info.p, nullptr, 0, nullptr),
                     LIBSOLVER_OK);
    std::vector<int> found(1);
    info.get(found);
    assert_int_equal(found[0], 0);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    by_turns = argc > 1 && strcmp(argv[1], "turns") == 0;
    small_only = by_turns || (argc > 1 && strcmp(argv[1], "small") == 0);
    const struct CMUnitTest few[] = {
        cmocka_unit_test(products_give_the_matrix_back),
        cmocka_unit_test(large_inverses_are_not_used),
        cmocka_unit_test(imaginary_parts_of_the_diagonal_do_not_count),
        cmocka_unit_test(what_is_not_definite_is_told),
        cmocka_unit_test(a_graph_is_launched_again),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    const struct CMUnitTest large[] = {
        cmocka_unit_test(large_orders),
    };
    const int failed = cmocka_run_group_tests(few, nullptr, nullptr);
    return failed || small_only ? failed : cmocka_run_group_tests(large, nullptr, nullptr);
}
