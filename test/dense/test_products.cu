/* test/dense/test_products.cu: products on the GPU, of every size of tiles, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_products                           everything
 * test_products small|few [TYPES [TEST]]  what a sanitizer is run on */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "dense/cuda/level3/products.h"
#include "test/dense/product_fixture.h"
#include <algorithm>

static test_choice chosen;

struct room : device_array<unsigned char> {
    room() : device_array<unsigned char>(std::vector<unsigned char>(PRODUCT_BYTES, 0)) {}
};

template <typename T> T some_factor(int which)
{
    T v = from_real<T>((real_of<T>)(which % 2 ? 1 : -1.5));
    if constexpr (scalar<T>::is_complex)
        v.im = (real_of<T>)(which % 2 ? 0 : 0.5);
    return v;
}

/* An address that is a multiple of sixteen bytes, or an entry behind one, and a leading dimension
 * likewise. */
template <typename T> struct placed {
    padded<T> host;
    int64_t shift;
    device_array<T> device;

    placed(int64_t m, int64_t n, bool aligned)
        : host(m, n, aligned ? 16 - m % 4 : 15 - m % 4), shift(aligned ? 0 : 1),
          device((size_t)(host.ld * n + 2))
    {
    }
    T *at() const { return device.p + shift; }
    void put() const
    {
        CUDA_OK(cudaMemcpy(at(), host.v.data(), host.v.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const
    {
        std::vector<T> v(host.v.size());
        CUDA_OK(cudaMemcpy(v.data(), at(), v.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};

template <typename T>
void triangle_case_of(const room &room, product_way way, triangle_case c, bool right, int64_t order,
                      int64_t count, bool aligned)
{
    placed<T> a(order, order, aligned), b(right ? count : order, right ? order : count, aligned);
    a.host.v = random_triangle<T>(c, order, a.host.ld, (uint64_t)(order * 7 + count));
    a.host.v.resize((size_t)(a.host.ld * order + 1));
    b.host.fill((uint64_t)order);
    a.put();
    const T alpha = some_factor<T>((int)(order + count));
    std::vector<T> first;
    padded<T> x = b.host;
    for (int run = 0; run < 2; run++) {
        b.put();
        assert_int_equal(multiply_triangle<T>(room.p, way,
                                              {c, right, order, count, alpha, a.at(), a.host.ld,
                                               b.at(), b.host.ld},
                                              nullptr),
                         LIBSOLVER_OK);
        CUDA_OK(cudaDeviceSynchronize());
        x.v = b.get();
        if (run == 0)
            first = x.v;
    }
    assert_memory_equal(first.data(), x.v.data(), first.size() * sizeof(T));
    others_unchanged(b.host, x.v, [](int64_t, int64_t) { return true; });
    const triangle_entries<T> op = {c, a.host.v.data(), a.host.ld};
    const double limit = tolerance<T>(order) * std::fmax(b.host.largest(), x.largest()) * 4;
    for (int64_t j = 0; j < x.n; j += order > 300 ? 7 : 1)
        for (int64_t i = 0; i < x.m; i += order > 300 ? 3 : 1) {
            const T sum = right ? product_entry<T>(order, b.host, op, i, j)
                                : product_entry<T>(order, op, b.host, i, j);
            const double error = (double)magnitude(multiply(alpha, sum) - x(i, j));
            if (!(error <= limit))
                fail_msg("%s tiles %d, %d blocks %s, uplo %d trans %d diag %d, order %lld, %lld "
                         "sides, %s: "
                         "entry (%lld, %lld) off by %g of %g",
                         type_of<T>::name, way.tiles, way.blocks, right ? "right" : "left", c.uplo,
                         c.trans, c.diag, (long long)order, (long long)count,
                         aligned ? "aligned" : "not aligned", (long long)i, (long long)j, error,
                         limit);
        }
}

template <typename T> void triangles_of_type()
{
    static const int64_t orders[] = {130, 64, 257, 65, 300, 1, 200},
                         counts[] = {65, 130, 100, 33, 3, 1};
    const room room;
    int number = 0;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (libsolver_transpose trans :
             {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE, LIBSOLVER_CONJUGATE_TRANSPOSE})
            for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT})
                for (bool right : {false, true})
                    for (int tiles = 0; tiles < PRODUCT_TILES; tiles++) {
                        number++;
                        if (chosen.passes_over(number))
                            continue;
                        triangle_case_of<T>(room, {(product_tiles)tiles, 1 << number % 3},
                                            {uplo, trans, diag}, right, orders[number % 7],
                                            counts[number % 6], number % 5 < 3);
                        if (!chosen.small)
                            triangle_case_of<T>(room, {(product_tiles)tiles, 1 << number % 3},
                                                {uplo, trans, diag}, right, number % 3 ? 600 : 1024,
                                                67 + number, number % 4 < 2);
                    }
}
static void triangles_multiply_in_place(void **)
{
    chosen.each_type([&](auto zero) { triangles_of_type<decltype(zero)>(); });
}

/* op(A) of a matrix */
template <typename T> struct matrix_entries {
    libsolver_transpose trans;
    const padded<T> &a;

    T operator()(int64_t i, int64_t j) const
    {
        return trans == LIBSOLVER_NO_TRANSPOSE
                   ? a(i, j)
                   : conjugate_if(a(j, i), trans == LIBSOLVER_CONJUGATE_TRANSPOSE);
    }
};

template <typename T>
void matrix_case_of(product_way way, libsolver_transpose ta, libsolver_transpose tb, int64_t m,
                    int64_t n, int64_t depth, T beta, bool aligned)
{
    const bool plain_a = ta == LIBSOLVER_NO_TRANSPOSE, plain_b = tb == LIBSOLVER_NO_TRANSPOSE;
    placed<T> a(plain_a ? m : depth, plain_a ? depth : m, aligned),
        b(plain_b ? depth : n, plain_b ? n : depth, aligned), c(m, n, aligned);
    a.host.fill(3);
    b.host.fill(4);
    if (magnitude(beta) != 0)
        c.host.fill(5);
    a.put();
    b.put();
    c.put();
    const T alpha = some_factor<T>((int)(m + n));
    assert_int_equal(multiply_matrices<T>(way,
                                          {ta, tb, m, n, depth, alpha, a.at(), a.host.ld, b.at(),
                                           b.host.ld, beta, c.at(), c.host.ld},
                                          nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    padded<T> x = c.host;
    x.v = c.get();
    others_unchanged(c.host, x.v, [](int64_t, int64_t) { return true; });
    const matrix_entries<T> A = {ta, a.host}, B = {tb, b.host};
    const double limit = tolerance<T>(depth) * (1 + std::sqrt((double)depth)) * 4;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            T sum = multiply(alpha, product_entry<T>(depth, A, B, i, j));
            if (magnitude(beta) != 0)
                sum = multiply_add(sum, beta, c.host(i, j));
            const double error = (double)magnitude(sum - x(i, j));
            if (!(error <= limit))
                fail_msg("%s tiles %d, %d blocks, trans %d %d, %lld x %lld, depth %lld, %s: entry "
                         "(%lld, %lld) "
                         "off by %g of %g",
                         type_of<T>::name, way.tiles, way.blocks, ta, tb, (long long)m,
                         (long long)n, (long long)depth, aligned ? "aligned" : "not aligned",
                         (long long)i, (long long)j, error, limit);
        }
}
template <typename T> void matrices_of_type()
{
    static const int64_t sizes[] = {130, 64, 33, 1, 200}, depths[] = {64, 40, 1, 128, 75, 7};
    int number = 0;
    for (libsolver_transpose ta :
         {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE, LIBSOLVER_CONJUGATE_TRANSPOSE})
        for (libsolver_transpose tb :
             {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE, LIBSOLVER_CONJUGATE_TRANSPOSE})
            for (int tiles = 0; tiles < PRODUCT_TILES; tiles++) {
                number++;
                if (chosen.passes_over(number))
                    continue;
                matrix_case_of<T>({(product_tiles)tiles, 1 << number % 3}, ta, tb,
                                  sizes[number % 5], sizes[(number + 2 + number / 5) % 5],
                                  depths[number % 6], number % 2 ? T{} : some_factor<T>(number / 2),
                                  number % 4 < 2);
            }
}
static void matrices_multiply(void **)
{
    chosen.each_type([&](auto zero) { matrices_of_type<decltype(zero)>(); });
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    chosen.read(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_multiply_in_place),
        cmocka_unit_test(matrices_multiply),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
