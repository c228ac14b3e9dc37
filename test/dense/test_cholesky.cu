/* test/dense/test_cholesky.cu: Cholesky and inverse of a block of up to 64 columns, and the first
 * columns of a front, in shared memory, against their products
 * SPDX-License-Identifier: BSD-3-Clause */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "dense/cuda/device/cholesky_64.cuh"
#include "dense/cuda/device/launch.cuh"
#include "gpu/factor/by_rows.cuh"
#include "test/dense/cholesky_fixture.h"
#include "test/dense/trsv_fixture.h"
#include <algorithm>

/* The signs of 64 columns: all positive, or given. */
static __device__ __forceinline__ no_signs signs_of(no_signs s, uint64_t)
{
    return s;
}
template <bool HERMITIAN>
static __device__ __forceinline__ column_signs<HERMITIAN> signs_of(column_signs<HERMITIAN>,
                                                                   uint64_t negative)
{
    return {negative};
}
using signs = column_signs<true>;
using symmetric_signs = column_signs<false>;

template <typename T, typename S> struct block_arguments {
    const T *a; /* 64 x 64, identity behind the order */
    T *l, *x;
    pivot_type<T, S> *pivot;
    int order;
    uint64_t negative;
};

template <typename T, typename S>
__global__ void __launch_bounds__(CHOLESKY_THREADS)
    factorize_block(const __grid_constant__ block_arguments<T, S> q)
{
    extern __shared__ __align__(128) unsigned char memory[];
    constexpr int LD = TILE_LD<T>;
    const int padded = (q.order + CHOLESKY_STEP - 1) / CHOLESKY_STEP * CHOLESKY_STEP;
    __shared__ pivot_type<T, S> pivot[TILE];
    __shared__ cholesky_room<T> room;
    T *D = reinterpret_cast<T *>(memory), *X = D + TILE_AREA<T>;
    for (int k = threadIdx.x; k < TILE * TILE; k += CHOLESKY_THREADS)
        D[k % TILE + k / TILE * LD] = q.a[k];
    tile_clear(X);
    __syncthreads();
    if ((int)threadIdx.x < TILE) {
        pivot[threadIdx.x] = from_real<pivot_type<T, S>>(1);
        if ((int)threadIdx.x >= padded)
            X[threadIdx.x * (LD + 1)] = from_real<T>(1);
    }
    __syncthreads();
    cholesky_64(D, q.order, X, room, pivot, [](int) {}, signs_of(S{}, q.negative));
    for (int k = threadIdx.x; k < TILE * TILE; k += CHOLESKY_THREADS) {
        q.l[k] = D[k % TILE + k / TILE * TILE_LD<T>];
        q.x[k] = X[k % TILE + k / TILE * TILE_LD<T>];
    }
    if (threadIdx.x < TILE)
        q.pivot[threadIdx.x] = pivot[threadIdx.x];
}

template <typename T, typename S = no_signs> struct factorized {
    std::vector<T> l, x;
    std::vector<pivot_type<T, S>> pivot;
};

template <typename T, typename S = no_signs>
static factorized<T, S> factorize(const std::vector<T> &a, int order = TILE, uint64_t negative = 0)
{
    using P = pivot_type<T, S>;
    const size_t all = a.size();
    device_array<T> da(all), dl(all), dx(all);
    device_array<P> dp(TILE);
    factorized<T, S> f = {std::vector<T>(all), std::vector<T>(all), std::vector<P>(TILE)};
    da.put(a);
    const launch_shape shape = {1, CHOLESKY_THREADS, 2 * (int)sizeof(T) * TILE_AREA<T>};
    CUDA_OK(launch_kernel(factorize_block<T, S>, shape, nullptr,
                          block_arguments<T, S>{da.p, dl.p, dx.p, dp.p, order, negative}));
    CUDA_OK(cudaDeviceSynchronize());
    dl.get(f.l);
    dx.get(f.x);
    dp.get(f.pivot);
    return f;
}

/* Whether a diagonal entry of L is the root of a pivot, up to so much. */
template <typename S, typename T> static bool is_root(T root, pivot_type<T, S> pivot, double error)
{
    const T square = multiply(root, root);
    return (S::HERMITIAN ? real_part(root) > 0 && magnitude(root) == real_part(root)
                         : real_part(root) >= 0) &&
           (double)magnitude(square - from_pivot<T>(pivot)) <= error * (double)magnitude(square);
}

template <typename T, typename S = no_signs>
static void check(int order, const std::vector<T> &a, const char *what, uint64_t negative = 0)
{
    const factorized<T, S> f = factorize<T, S>(a, order, negative),
                           again = factorize<T, S>(a, order, negative);
    const double eps = sizeof(real_of<T>) == 8 ? 2.2e-16 : 1.2e-7;
    for (int j = 0; j < TILE; j++) {
        for (int i = 0; i < j; i++)
            assert_true(magnitude(f.x[i + j * TILE]) == 0);
        const T root = f.l[j * (TILE + 1)];
        if (!is_root<S>(root, f.pivot[j], 8 * eps))
            fail_msg("%s, order %d, %s: pivot %d is %g, root %g", type_of<T>::name, order, what, j,
                     (double)real_part(f.pivot[j]), (double)real_part(root));
    }
    const block_errors e(S{}, a, f.l, f.x, negative);
    if (!(e.factor <= 20 && e.inverse <= 200))
        fail_msg("%s, order %d, %s: L L^H by %.1f eps, L X by %.1f eps", type_of<T>::name, order,
                 what, e.factor, e.inverse);
    for (int k = 0; k < TILE * TILE; k++)
        assert_true(k % TILE < k / TILE || (memcmp(&f.l[k], &again.l[k], sizeof(T)) == 0 &&
                                            memcmp(&f.x[k], &again.x[k], sizeof(T)) == 0));
}

template <typename T> static void check_all()
{
    for (int order : {1, 2, 7, 8, 9, 16, 31, 40, 57, 63, 64})
        for (double multiple : {1., 1e-3}) {
            random_numbers g = {100 + (uint64_t)order};
            const auto random = [&] { return random_entry<T>(g); };
            check(order, definite_block<T>(order, multiple, random),
                  multiple == 1 ? "far" : "near");
        }
}

static void products_give_the_block_back(void **)
{
    check_all<float>();
    check_all<double>();
    check_all<complex_s>();
    check_all<complex_d>();
}

/* The first `columns` of the front of `order` rows, by a warp or a block. */
template <int WARPS, typename T, typename S>
__global__ void __launch_bounds__(CHOLESKY_THREADS)
    factorize_front(const __grid_constant__ block_arguments<T, S> q, int columns)
{
    extern __shared__ __align__(128) unsigned char memory[];
    constexpr int LD = TILE_LD<T>, THREADS = 32 * WARPS;
    __shared__ pivot_type<T, S> pivot[TILE], reciprocal[TILE];
    T *F = reinterpret_cast<T *>(memory);
    for (int k = threadIdx.x; k < TILE * TILE; k += THREADS)
        F[k % TILE + k / TILE * LD] = q.a[k];
    front_team<WARPS>::sync();
    cholesky_by_rows<WARPS>(F, LD, q.order, columns, pivot, reciprocal, signs_of(S{}, q.negative));
    for (int k = threadIdx.x; k < TILE * TILE; k += THREADS)
        q.l[k] = F[k % TILE + k / TILE * LD];
    for (int k = threadIdx.x; k < columns; k += THREADS)
        q.pivot[k] = pivot[k];
}

/* L L^H, or L S L^H, and what is left behind the columns give the front back. */
template <int WARPS, typename T, typename S>
static void check_front(int order, int columns, uint64_t negative)
{
    random_numbers g = {200 + (uint64_t)order};
    const auto random = [&] { return random_entry<T>(g); };
    const double eps = sizeof(real_of<T>) == 8 ? 2.2e-16 : 1.2e-7;
    std::vector<T> a = S::HERMITIAN ? definite_block<T>(order, 1, random)
                                    : symmetric_block<T>(order, random),
                   l(a.size());
    std::vector<pivot_type<T, S>> pivot(TILE);
    if (S::ANY) /* the product with the signs, of the factor of the definite one */
        for (int k = 0; k < columns; k++)
            if (negative >> k & 1)
                a[k * (TILE + 1)] = -a[k * (TILE + 1)];
    device_array<T> da(a.size()), dl(a.size());
    device_array<pivot_type<T, S>> dp(TILE);
    da.put(a);
    const launch_shape shape = {1, 32 * WARPS, (int)sizeof(T) * TILE_AREA<T>};
    CUDA_OK(launch_kernel(factorize_front<WARPS, T, S>, shape, nullptr,
                          block_arguments<T, S>{da.p, dl.p, nullptr, dp.p, order, negative},
                          columns));
    CUDA_OK(cudaDeviceSynchronize());
    dl.get(l);
    dp.get(pivot);
    for (int j = 0; j < columns; j++) {
        const T root = l[j * (TILE + 1)];
        if (!is_root<S>(root, pivot[j], 8 * eps))
            fail_msg("%s, %d of %d columns: pivot %d is %g, root %g", type_of<T>::name, columns,
                     order, j, (double)real_part(pivot[j]), (double)real_part(root));
    }
    for (int j = 0; j < order; j++)
        for (int i = j; i < order; i++) {
            T sum = j < columns ? T{} : l[i + j * TILE];
            for (int k = 0; k < columns && k <= j; k++) {
                const T left = negative >> k & 1 ? -l[i + k * TILE] : l[i + k * TILE];
                sum = multiply_add(sum, left, mirrored<S>(l[j + k * TILE]));
            }
            const double error = (double)magnitude(sum - a[i + j * TILE]),
                         size = std::sqrt((double)magnitude(a[i * (TILE + 1)]) *
                                          (double)magnitude(a[j * (TILE + 1)]));
            if (!(error <= 20 * eps * size))
                fail_msg("%s, %d of %d columns: entry (%d, %d) by %.1f eps", type_of<T>::name,
                         columns, order, i, j, error / eps / size);
        }
}

template <typename T> static void check_fronts()
{
    for (int order : {1, 7, 8, 23, 32, 33, 50, 64})
        for (int columns : {1, 4, 5, 8, 13, 16, 20, 64}) {
            const int most = std::min(order, columns);
            if (order <= 32) {
                check_front<1, T, no_signs>(order, most, 0);
                check_front<1, T, signs>(order, most, 0x5a);
                if constexpr (scalar<T>::is_complex)
                    check_front<1, T, symmetric_signs>(order, most, 0);
            }
            check_front<8, T, no_signs>(order, most, 0);
            check_front<8, T, signs>(order, most, 0x2c5);
            if constexpr (scalar<T>::is_complex)
                check_front<8, T, symmetric_signs>(order, most, 0);
        }
}

static void fronts_are_given_back(void **)
{
    check_fronts<float>();
    check_fronts<double>();
    check_fronts<complex_s>();
    check_fronts<complex_d>();
}

/* L L^H of an L with one diagonal block of order 8 that is hard. */
enum hardness {
    GROWTH, /* its inverse has entries of 100: rows below as products with it would not be good */
    WEAK,   /* every third pivot is what is left where nearly all cancels; its column is small */
    WEAKER  /* one pivot or two are, and their columns are not small */
};
template <typename T> static void check_hard(hardness kind)
{
    const real_of<T> small = sizeof(real_of<T>) == 8 ? 1e-4 : 0.1;
    for (int order : {16, 24, 64})
        for (int hard = 0; hard < order; hard += CHOLESKY_STEP) {
            random_numbers g = {(uint64_t)hard};
            std::vector<T> l(TILE * TILE), a(TILE * TILE);
            for (int j = 0; j < TILE; j++)
                for (int i = j; i < TILE && (i == j || i < order); i++) {
                    const bool inside = j >= hard && i < hard + CHOLESKY_STEP,
                               weak = inside && (kind == WEAK     ? j % 3 == 1
                                                 : kind == WEAKER ? j % 7 == 4
                                                                  : false);
                    const real_of<T> size = weak && (i == j || kind == WEAK) ? small : 1;
                    l[i + j * TILE] =
                        i == j ? from_real<T>(size)
                        : inside && kind == GROWTH
                            ? from_real<T>(-1.5)
                            : times_real(random_entry<T>(g), size * (inside ? 0.3f : 0.1f));
                }
            for (int j = 0; j < TILE; j++)
                for (int i = 0; i < TILE; i++)
                    for (int k = 0; k < TILE; k++)
                        a[i + j * TILE] = multiply_add(a[i + j * TILE], l[i + k * TILE],
                                                       conjugate_if(l[j + k * TILE], true));
            check(order, a, kind == GROWTH ? "growth" : kind == WEAK ? "weak" : "weaker");
        }
}
template <typename T> static void check_hardnesses()
{
    for (hardness kind : {GROWTH, WEAK, WEAKER})
        check_hard<T>(kind);
}
static void hard_blocks_are_as_accurate(void **)
{
    check_hardnesses<float>();
    check_hardnesses<double>();
    check_hardnesses<complex_s>();
    check_hardnesses<complex_d>();
}

/* One of size 1, of complex symmetric matrices with a pivot up to 80 degrees from the real line. */
template <typename S, typename T> static T diagonal_of(int j, int order)
{
    if constexpr (!S::HERMITIAN)
        if (j < order) {
            const double angle = (j % 9 - 4) * 10 * 3.14159265358979 / 180;
            return {(real_of<T>)std::cos(angle), (real_of<T>)std::sin(angle)};
        }
    return from_real<T>(1);
}

static bool is_positive(double pivot)
{
    return pivot > 0;
}
template <typename R> static bool is_positive(complex_of<R> pivot)
{
    return pivot.re > 0;
}

/* L S L^H: with an L that is easy, and with one whose inverse grows from some block on.  Complex
 * symmetric: the diagonal of L is complex too. */
template <typename T, typename S> static void check_signs()
{
    for (int order : {1, 7, 8, 9, 40, 63, 64})
        for (int hard : {-1, 0, 16, 56}) {
            random_numbers g = {(uint64_t)order};
            std::vector<T> l(TILE * TILE), a(TILE * TILE);
            uint64_t negative = 0;
            for (int k = 0; k < order; k++)
                negative |= (uint64_t)(g.next() < 0) << k;
            for (int j = 0; j < TILE; j++)
                for (int i = j; i < TILE && (i == j || i < order); i++) {
                    const bool grows = hard >= 0 && j >= hard && i < hard + CHOLESKY_STEP;
                    l[i + j * TILE] = i == j  ? diagonal_of<S, T>(j, order)
                                      : grows ? from_real<T>(-1.5)
                                              : times_real(random_entry<T>(g), 0.1f);
                }
            for (int j = 0; j < TILE; j++)
                for (int i = 0; i < TILE; i++)
                    for (int k = 0; k < TILE; k++) {
                        const T left = negative >> k & 1 ? -l[i + k * TILE] : l[i + k * TILE];
                        a[i + j * TILE] =
                            multiply_add(a[i + j * TILE], left, mirrored<S>(l[j + k * TILE]));
                    }
            check<T, S>(order, a, hard < 0 ? "signs" : "signs, growth", negative);
            if (negative) {
                const factorized<T, S> f = factorize<T, S>(a, order, 0);
                assert_false(std::all_of(f.pivot.begin(), f.pivot.begin() + order,
                                         [](auto pivot) { return is_positive(pivot); }));
            }
        }
}
static void signs_are_those_given(void **)
{
    check_signs<float, signs>();
    check_signs<double, signs>();
    check_signs<complex_s, signs>();
    check_signs<complex_d, signs>();
    check_signs<complex_s, symmetric_signs>();
    check_signs<complex_d, symmetric_signs>();
}

/* Pivots whose product leaves the range of numbers, and hardly does not. */
static void extreme_scales_are_no_different(void **)
{
    random_numbers g = {7};
    const std::vector<double> a = definite_block<double>(64, 1, [&] { return g.next(); });
    const factorized<double> whole = factorize(a);
    for (int e : {-1000, -900, -600, -450, 450, 600, 900, 1000}) {
        std::vector<double> b = a;
        for (double &v : b)
            v = std::ldexp(v, e);
        const factorized<double> f = factorize(b);
        for (int j = 0; j < TILE; j++)
            for (int i = j; i < TILE; i++) {
                const double l = std::ldexp(f.l[i + j * TILE], -e / 2);
                assert_true(std::fabs(l - whole.l[i + j * TILE]) <= 1e-11 * whole.l[0]);
            }
    }
}

/* A pivot that is not positive is seen, with all before it as they should be, but for roundoff in
 * its diagonal block, which is found one column at a time. */
static void a_negative_pivot_is_seen(void **)
{
    random_numbers g = {5};
    std::vector<double> a = definite_block<double>(64, 1, [&] { return g.next(); });
    const factorized<double> whole = factorize(a);
    for (int at : {0, 7, 8, 20, 63}) {
        std::vector<double> b = a;
        b[at * (TILE + 1)] = -1;
        const factorized<double> f = factorize(b);
        for (int j = 0; j < at; j++)
            assert_true(j < at / CHOLESKY_STEP * CHOLESKY_STEP
                            ? f.pivot[j] == whole.pivot[j]
                            : std::fabs(f.pivot[j] - whole.pivot[j]) <=
                                  8 * 2.2e-16 * a[j * (TILE + 1)]);
        assert_true(!(f.pivot[at] > 0));
    }
}

int main(void)
{
    if (!gpu_present())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_give_the_block_back),
        cmocka_unit_test(fronts_are_given_back),
        cmocka_unit_test(hard_blocks_are_as_accurate),
        cmocka_unit_test(signs_are_those_given),
        cmocka_unit_test(extreme_scales_are_no_different),
        cmocka_unit_test(a_negative_pivot_is_seen),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
