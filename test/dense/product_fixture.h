/* test/dense/product_fixture.h: matrices with padding, and the plain loops that the GPU's products
 * are compared with
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DENSE_PRODUCT_FIXTURE_H
#define TEST_DENSE_PRODUCT_FIXTURE_H

#include "test/dense/trsv_fixture.h"
#include <cstring>

/* What tests of large matrices are called with: small, only small cases, as under a sanitizer, or
 * few, every seventh of those, for racecheck, which is slow; then letters of the types,
 * and a pattern of tests' names. */
struct test_choice {
    bool small = false, few = false;
    const char *types = "dszc";

    void read(int argc, char **argv)
    {
        few = argc > 1 && strcmp(argv[1], "few") == 0;
        small = few || (argc > 1 && strcmp(argv[1], "small") == 0);
        if (argc > 2)
            types = argv[2];
        if (argc > 3)
            cmocka_set_test_filter(argv[3]);
    }
    bool passes_over(int number) const { return few && number % 7 != 0; }
    /* call(T{}) for each of the types. */
    template <typename Call> void each_type(Call call) const
    {
        for (const char *t = types; *t != '\0'; t++)
            if (*t == 'd')
                call(double{});
            else if (*t == 's')
                call(float{});
            else if (*t == 'z')
                call(complex_d{});
            else
                call(complex_s{});
    }
};

/* op(A)(i, j), zero beyond the triangle */
template <typename T> struct triangle_entries {
    triangle_case c;
    const T *a;
    int64_t lda;

    T operator()(int64_t i, int64_t j) const
    {
        const bool transposed = c.trans != LIBSOLVER_NO_TRANSPOSE;
        const int64_t row = transposed ? j : i, column = transposed ? i : j;
        if (row == column && c.diag == LIBSOLVER_UNIT)
            return from_real<T>(1);
        if (row != column && (row > column) != (c.uplo == LIBSOLVER_LOWER))
            return T{};
        return conjugate_if(a[row + column * lda], c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE);
    }
};

/* sum over k of A(i,k) B(k,j), as long double would be too slow: rounding grows like sqrt(n) */
template <typename T, typename A, typename B>
T product_entry(int64_t n, const A &a, const B &b, int64_t i, int64_t j)
{
    T sum = {};
    for (int64_t k = 0; k < n; k++)
        sum = multiply_add(sum, a(i, k), b(k, j));
    return sum;
}

/* A matrix with a padded leading dimension, NaN where nothing is. */
template <typename T> struct padded {
    int64_t m, n, ld;
    std::vector<T> v;

    padded(int64_t m, int64_t n, int64_t pad) : m(m), n(n), ld((m > 0 ? m : 1) + pad)
    {
        v.assign((size_t)(ld * n + 1), not_a_number<T>());
    }
    T &at(int64_t i, int64_t j) { return v[(size_t)(i + j * ld)]; }
    T operator()(int64_t i, int64_t j) const { return v[(size_t)(i + j * ld)]; }
    void fill(uint64_t seed)
    {
        random_numbers g = {seed};
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                at(i, j) = random_entry<T>(g);
    }
    double largest() const
    {
        double most = 0;
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++)
                most = std::fmax(most, (double)magnitude((*this)(i, j)));
        return most;
    }
};

/* Entries beyond `inside` keep their bits. */
template <typename T, typename Inside>
void others_unchanged(const padded<T> &before, const std::vector<T> &after, Inside inside)
{
    for (int64_t e = 0; e < (int64_t)before.v.size(); e++)
        if (e / before.ld >= before.n || e % before.ld >= before.m ||
            !inside(e % before.ld, e / before.ld))
            if (memcmp(&before.v[(size_t)e], &after[(size_t)e], sizeof(T)) != 0)
                fail_msg("entry (%lld, %lld) was written", (long long)(e % before.ld),
                         (long long)(e / before.ld));
}

#endif
