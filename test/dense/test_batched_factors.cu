/* test/dense/test_batched_factors.cu: inverses and Cholesky factorizations of batches on the GPU
 * against the products that define them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_batched_factors            everything
 * test_batched_factors small      what a sanitizer is run on */
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

template <typename T>
T entry_of(libsolver_storage uplo, const T *a, int64_t lda, int64_t i, int64_t j)
{
    return uplo == LIBSOLVER_LOWER ? a[i + j * lda] : a[j + i * lda];
}

/* Everything that a call in place may not touch keeps its bits. */
template <typename T>
void others_unchanged(libsolver_storage uplo, bool unit, const matrices<T> &a,
                      const std::vector<T> &after)
{
    std::vector<T> masked = after;
    for (size_t k = 0; k < a.at.size(); k++)
        for (int64_t j = 0; j < a.rows[k]; j++)
            for (int64_t i = unit ? j + 1 : j; i < a.rows[k]; i++) {
                const int64_t e =
                    a.at[k] + (uplo == LIBSOLVER_LOWER ? i + j * a.ld[k] : j + i * a.ld[k]);
                masked[(size_t)e] = a.host[(size_t)e];
            }
    assert_memory_equal(masked.data(), a.host.data(), masked.size() * sizeof(T));
}

/* |X L - I| <= tolerance |X||L|, entry by entry, of every item. */
template <typename T>
void inverse_case(libsolver_storage uplo, libsolver_diagonal diag,
                  const std::vector<int64_t> &orders)
{
    const triangle_case c = {uplo, LIBSOLVER_NO_TRANSPOSE, diag};
    const libsolver_type t = type_of<T>::value;
    const bool unit = diag == LIBSOLVER_UNIT;
    matrices<T> a;
    int64_t most = 0;
    bool equal = true;
    for (size_t k = 0; k < orders.size(); k++) {
        const int64_t n = orders[k];
        a.add(n, n);
        const std::vector<T> triangle = random_triangle<T>(c, n, a.ld[k], k + 1);
        if (n > 0)
            memcpy(a.item(k), triangle.data(), (size_t)(a.ld[k] * n) * sizeof(T));
        most = n > most ? n : most;
        equal = equal && n == orders[0];
    }
    a.send();
    const int64_t count = (int64_t)orders.size();
    device_array<int64_t> dn(orders);
    for (int how = equal ? STRIDED : VARIABLE; how <= VARIABLE; how++) {
        std::vector<T> x;
        for (int run = 0; run < 2; run++) {
            a.put();
            const libsolver_status status =
                how == STRIDED
                    ? libsolver_trtri_strided_batched(t, uplo, diag, most, a.device, a.ld[0],
                                                      a.stride(), count, nullptr)
                : how == POINTERS
                    ? libsolver_trtri_batched(t, uplo, diag, most, a.each, a.ld[0], count, nullptr)
                    : libsolver_trtri_variable_batched(t, uplo, diag, most, dn.p, a.each, a.lds,
                                                       count, nullptr);
            assert_int_equal(status, LIBSOLVER_OK);
            const std::vector<T> now = a.get();
            if (run > 0)
                assert_memory_equal(now.data(), x.data(), x.size() * sizeof(T));
            x = now;
        }
        others_unchanged(uplo, unit, a, x);
        for (size_t k = 0; k < orders.size(); k++)
            for (int64_t j = 0; j < orders[k]; j++)
                for (int64_t i = j; i < orders[k]; i++) {
                    const auto value = [&](const T *p, int64_t r, int64_t s) {
                        return r == s && unit ? from_real<T>(1) : entry_of(uplo, p, a.ld[k], r, s);
                    };
                    T sum = from_real<T>(-(real_of<T>)(i == j));
                    double scale = i == j;
                    /* upper: both transposed, so that what is made is L^T X^T */
                    for (int64_t q = j; q <= i; q++) {
                        const T p = value(x.data() + a.at[k], uplo == LIBSOLVER_LOWER ? i : q,
                                          uplo == LIBSOLVER_LOWER ? q : j),
                                r = value(a.item(k), uplo == LIBSOLVER_LOWER ? q : i,
                                          uplo == LIBSOLVER_LOWER ? j : q);
                        sum = multiply_add(sum, p, r);
                        scale += (double)magnitude(p) * (double)magnitude(r);
                    }
                    if (!(magnitude(sum) <= tolerance<T>(orders[k]) * scale))
                        fail_msg(
                            "%s trtri %s uplo %d diag %d, item %zu of order %lld, (%lld, %lld): "
                            "%g of %g",
                            type_of<T>::name, way_name[how], uplo, diag, k, (long long)orders[k],
                            (long long)i, (long long)j, (double)magnitude(sum), scale);
                }
    }
}

/* A Hermitian positive definite matrix in the triangle uplo. kind 0: entries of about 1/sqrt(n)
 * beside a diagonal of 3 to 4; 1: the same, rows and columns scaled by 1e-4 to 1e4; 2: L L^H with
 * entries +-1 in the diagonal blocks of L of order 8, whose inverses grow, and small ones below. */
template <typename T>
void positive_matrix(libsolver_storage uplo, int kind, int64_t n, T *a, int64_t lda, uint64_t seed)
{
    random_numbers g = {seed};
    std::vector<double> d((size_t)n, 1.);
    for (double &v : d)
        v = kind == 1 ? std::pow(10., 4 * g.next()) : 1;
    std::vector<double> L;
    for (int64_t e = 0; kind == 2 && e < n * n; e++)
        L.push_back(e % n < e / n            ? 0
                    : e % n == e / n         ? 1
                    : e % n / 8 == e / n / 8 ? (g.next() < 0 ? -1. : 1.)
                                             : 0.1 * g.next() / std::sqrt((double)n));
    const auto at = [&](int64_t i, int64_t j) -> T & {
        return uplo == LIBSOLVER_LOWER ? a[i + j * lda] : a[j + i * lda];
    };
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            T v = times_real(random_entry<T>(g), (real_of<T>)(1 / std::sqrt((double)(n + 1))));
            if (i == j)
                v = from_real<T>((real_of<T>)(3.5 + 0.5 * g.next()));
            v = times_real(v, (real_of<T>)(d[(size_t)i] * d[(size_t)j]));
            if (kind == 2) {
                double sum = 0;
                for (int64_t q = 0; q <= j; q++)
                    sum += L[(size_t)(i + q * n)] * L[(size_t)(j + q * n)];
                v = from_real<T>((real_of<T>)sum);
            }
            at(i, j) = v;
        }
}

/* |A - L L^H| <= tolerance sqrt(a_ii a_jj), entry by entry, of every item but those with a negative
 * diagonal entry at `bad` < n, whose info is bad + 1. */
template <typename T>
void cholesky_case(libsolver_storage uplo, int kind, const std::vector<int64_t> &orders,
                   int64_t bad)
{
    const libsolver_type t = type_of<T>::value;
    matrices<T> a;
    int64_t most = 0;
    bool equal = true;
    for (size_t k = 0; k < orders.size(); k++) {
        const int64_t n = orders[k];
        a.add(n, n);
        positive_matrix(uplo, kind, n, a.item(k), a.ld[k], k + 1);
        if (bad >= 0 && bad < n)
            a.item(k)[bad * (a.ld[k] + 1)] = from_real<T>(-1);
        most = n > most ? n : most;
        equal = equal && n == orders[0];
    }
    a.send();
    const int64_t count = (int64_t)orders.size();
    device_array<int64_t> dn(orders);
    device_array<int> dinfo((size_t)count);
    for (int how = equal ? STRIDED : VARIABLE; how <= VARIABLE; how++) {
        std::vector<T> x;
        std::vector<int> info((size_t)count, -1);
        for (int run = 0; run < 2; run++) {
            a.put();
            dinfo.put(std::vector<int>((size_t)count, -1));
            const libsolver_status status =
                how == STRIDED
                    ? libsolver_potrf_strided_batched(t, uplo, most, a.device, a.ld[0], a.stride(),
                                                      dinfo.p, count, nullptr)
                : how == POINTERS
                    ? libsolver_potrf_batched(t, uplo, most, a.each, a.ld[0], dinfo.p, count,
                                              nullptr)
                    : libsolver_potrf_variable_batched(t, uplo, most, dn.p, a.each, a.lds, dinfo.p,
                                                       count, nullptr);
            assert_int_equal(status, LIBSOLVER_OK);
            const std::vector<T> now = a.get();
            if (run > 0)
                assert_memory_equal(now.data(), x.data(), x.size() * sizeof(T));
            x = now;
        }
        dinfo.get(info);
        others_unchanged(uplo, false, a, x);
        for (size_t k = 0; k < orders.size(); k++) {
            const bool fails = bad >= 0 && bad < orders[k];
            if (info[k] != (fails ? (int)bad + 1 : 0))
                fail_msg("%s potrf %s uplo %d kind %d, item %zu of order %lld: info %d",
                         type_of<T>::name, way_name[how], uplo, kind, k, (long long)orders[k],
                         info[k]);
            for (int64_t j = 0; j < orders[k] && !fails; j++)
                for (int64_t i = j; i < orders[k]; i++) {
                    const T *p = x.data() + a.at[k], *q = a.item(k);
                    T sum = entry_of(uplo, q, a.ld[k], i, j);
                    for (int64_t s = 0; s <= j; s++) {
                        const T u = entry_of(uplo, p, a.ld[k], i, s),
                                v = entry_of(uplo, p, a.ld[k], j, s);
                        sum = multiply_add(sum, -u, conjugate_if(v, true));
                    }
                    const double scale =
                        std::sqrt((double)magnitude(entry_of(uplo, q, a.ld[k], i, i)) *
                                  (double)magnitude(entry_of(uplo, q, a.ld[k], j, j)));
                    if (!(magnitude(sum) <= tolerance<T>(orders[k]) * scale))
                        fail_msg("%s potrf %s uplo %d kind %d, item %zu of order %lld, (%lld, "
                                 "%lld): %g of %g",
                                 type_of<T>::name, way_name[how], uplo, kind, k,
                                 (long long)orders[k], (long long)i, (long long)j,
                                 (double)magnitude(sum), scale);
                }
        }
    }
}

static std::vector<int64_t> orders_to(int64_t most)
{
    std::vector<int64_t> orders;
    for (int64_t n : mixed_orders)
        if (n <= most)
            orders.push_back(n);
    return orders;
}

template <typename T> void in_place_of_type()
{
    const std::vector<int64_t> mixed = orders_to(small_only ? 65 : 200);
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER}) {
        for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT}) {
            inverse_case<T>(uplo, diag, mixed);
            inverse_case<T>(uplo, diag, {30, 30, 30});
            inverse_case<T>(uplo, diag, {70, 70});
        }
        for (int kind = 0; kind < 3; kind++)
            cholesky_case<T>(uplo, kind, mixed, -1);
        cholesky_case<T>(uplo, 0, {30, 30, 30}, -1);
        cholesky_case<T>(uplo, 0, {70, 70}, -1);
        for (int64_t bad : {0, 4, 31, 40, 64, 150})
            cholesky_case<T>(uplo, 0, mixed, bad);
    }
}
static void inverses_and_factors_match_products(void **)
{
    in_place_of_type<double>();
    in_place_of_type<float>();
    in_place_of_type<complex_d>();
    in_place_of_type<complex_s>();
    if (!small_only) {
        inverse_case<double>(LIBSOLVER_LOWER, LIBSOLVER_NON_UNIT, {640});
        cholesky_case<double>(LIBSOLVER_LOWER, 0, {1024}, -1);
        cholesky_case<double>(LIBSOLVER_UPPER, 1, {500, 500}, -1);
    }
}

/* Both calls captured in one graph give the bits of the calls. */
static void batches_can_be_captured(void **)
{
    matrices<double> a;
    const std::vector<int64_t> orders = {100, 3, 65};
    for (int64_t n : orders) {
        a.add(n, n);
        positive_matrix(LIBSOLVER_LOWER, 0, n, a.item(a.at.size() - 1), a.ld.back(), 7);
    }
    a.send();
    device_array<int64_t> dn(orders);
    device_array<int> info(3);
    const auto both = [&](cudaStream_t stream) {
        assert_int_equal(libsolver_potrf_variable_batched(LIBSOLVER_D, LIBSOLVER_LOWER, 100, dn.p,
                                                          a.each, a.lds, info.p, 3, stream),
                         LIBSOLVER_OK);
        assert_int_equal(libsolver_trtri_variable_batched(LIBSOLVER_D, LIBSOLVER_LOWER,
                                                          LIBSOLVER_NON_UNIT, 100, dn.p, a.each,
                                                          a.lds, 3, stream),
                         LIBSOLVER_OK);
    };
    both(nullptr);
    const std::vector<double> x = a.get();
    const captured_graph graph(both);
    a.put();
    graph.launch();
    const std::vector<double> y = a.get();
    assert_memory_equal(y.data(), x.data(), x.size() * sizeof(double));
}

static void wrong_arguments_are_refused(void **)
{
    const libsolver_type d = LIBSOLVER_D;
    const libsolver_storage lower = LIBSOLVER_LOWER;
    const libsolver_diagonal unit = LIBSOLVER_UNIT;
    device_array<double> x(64);
    device_array<int> info(4);
    double *p = x.p;
    void *const *none_of = nullptr;
#define REFUSED(call) assert_int_equal(call, LIBSOLVER_INVALID)
    REFUSED(
        libsolver_trtri_strided_batched(d, lower, (libsolver_diagonal)5, 2, p, 2, 4, 1, nullptr));
    REFUSED(libsolver_trtri_strided_batched(d, lower, unit, 2, p, 1, 4, 1, nullptr));
    REFUSED(libsolver_trtri_batched(d, lower, unit, 2, none_of, 2, 1, nullptr));
    REFUSED(
        libsolver_trtri_variable_batched(d, lower, unit, 2, nullptr, none_of, nullptr, 1, nullptr));
    REFUSED(
        libsolver_potrf_strided_batched(d, (libsolver_storage)7, 2, p, 2, 4, info.p, 1, nullptr));
    REFUSED(libsolver_potrf_strided_batched(d, lower, 2, p, 2, 4, nullptr, 1, nullptr));
    REFUSED(libsolver_potrf_batched(d, lower, 2, none_of, 2, info.p, 1, nullptr));
    REFUSED(libsolver_potrf_variable_batched(d, lower, 2, nullptr, none_of, nullptr, info.p, 1,
                                             nullptr));
#undef REFUSED
    assert_int_equal(libsolver_trtri_batched(d, lower, unit, 3, none_of, 3, 0, nullptr),
                     LIBSOLVER_OK);
    std::vector<int> of_empty(4, -1);
    info.put(of_empty);
    assert_int_equal(libsolver_potrf_batched(d, lower, 0, none_of, 1, info.p, 4, nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    info.get(of_empty);
    for (int v : of_empty)
        assert_int_equal(v, 0);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    small_only = argc > 1 && strcmp(argv[1], "small") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(inverses_and_factors_match_products),
        cmocka_unit_test(batches_can_be_captured),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
