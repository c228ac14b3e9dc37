/* test/dense/cholesky_fixture.h: blocks of 64 to be factorized, and how far factors and inverses
 * are from them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DENSE_CHOLESKY_FIXTURE_H
#define TEST_DENSE_CHOLESKY_FIXTURE_H

#include "dense/cuda/device/signs.cuh"
#include "dense/cuda/device/tile.cuh"
#include <cmath>
#include <vector>

/* B B^H and a multiple of one, of that order, identity behind it; its condition falls with the
 * multiple.  random(): an entry of B. */
template <typename T, typename F>
std::vector<T> definite_block(int order, double multiple, F random)
{
    std::vector<T> b(TILE * TILE), a(TILE * TILE);
    for (T &v : b)
        v = random();
    for (int j = 0; j < TILE; j++)
        for (int i = 0; i < TILE; i++) {
            T sum = from_real<T>(i == j ? (real_of<T>)multiple : 0);
            for (int k = 0; k < order; k++)
                sum = sum + multiply(b[i + k * TILE], conjugate_if(b[j + k * TILE], true));
            a[i + j * TILE] = i < order && j < order ? sum : from_real<T>(i == j);
        }
    return a;
}

/* A complex symmetric one whose real part is dominated by its diagonal. */
template <typename T, typename F> std::vector<T> symmetric_block(int order, F random)
{
    std::vector<T> a(TILE * TILE);
    for (int j = 0; j < TILE; j++)
        for (int i = j; i < TILE; i++) {
            const T v = i < order ? random() : T{};
            a[i + j * TILE] = a[j + i * TILE] =
                i != j      ? v
                : i < order ? times_real(v, (real_of<T>)order) + from_real<T>(2 * order)
                            : from_real<T>(1);
        }
    return a;
}

/* The largest entries of |L S L^H - A| / (|L||L^H|) and |L S X - I| / (|L||X|), lower triangles, in
 * units of roundoff; not a number if one is not; with ^T for ^H where the type of the signs says
 * so. negative: bit k is set where S(k, k) is -1. */
struct block_errors {
    double factor = 0, inverse = 0;

    template <typename S, typename T>
    block_errors(S, const std::vector<T> &a, const std::vector<T> &l, const std::vector<T> &x,
                 uint64_t negative)
    {
        const auto left = [&](int i, int k) {
            const T v = l[i + k * TILE];
            return negative >> k & 1 ? -v : v;
        };
        const double eps = sizeof(real_of<T>) == 8 ? 2.2e-16 : 1.2e-7;
        for (int j = 0; j < TILE; j++)
            for (int i = j; i < TILE; i++) {
                T sum = {}, product = {};
                double size = 0, bound = 0;
                for (int k = 0; k <= j; k++) {
                    sum = sum + multiply(left(i, k), mirrored<S>(l[j + k * TILE]));
                    size += magnitude(l[i + k * TILE]) * magnitude(l[j + k * TILE]);
                }
                for (int k = j; k <= i; k++) {
                    product = product + multiply(left(i, k), x[k + j * TILE]);
                    bound += magnitude(l[i + k * TILE]) * magnitude(x[k + j * TILE]);
                }
                take(factor, magnitude(sum - a[i + j * TILE]), size * eps);
                take(inverse, magnitude(product - from_real<T>(i == j)), bound * eps);
            }
    }

  private:
    static void take(double &most, double difference, double unit)
    {
        const double error = difference == 0 ? 0 : difference / unit; /* all may be zeros */
        if (!std::isnan(most) && !(error <= most))
            most = error;
    }
};

#endif
