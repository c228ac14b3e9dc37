/* test/dense/test_level3.cu: operations on large triangles on the GPU against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_level3                           everything
 * test_level3 small|few [TYPES [TEST]]  what a sanitizer is run on
 *
 * Contexts with leaves of 64 cut matrices that plain loops can do. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/product_fixture.h"
#include <cstring>
#include <thread>

static test_choice chosen;

struct context {
    libsolver_dense_context *p = nullptr;
    explicit context(int64_t leaf, int64_t order = 1024)
    {
        libsolver_dense_options options = {};
        options.leaf = leaf;
        options.order = order;
        assert_int_equal(libsolver_dense_create(&options, &p), LIBSOLVER_OK);
    }
    ~context() { libsolver_dense_destroy(p); }
    context(const context &) = delete;
};

/* trsm and trmm of one case: op(A) times what trsm found is alpha B; trmm's is compared with it. */
template <typename T>
void sided_case(const context &context, triangle_case c, libsolver_side side, int64_t order,
                int64_t count)
{
    const bool right = side == LIBSOLVER_RIGHT;
    const int64_t lda = order + 3;
    const std::vector<T> a = random_triangle<T>(c, order, lda, (uint64_t)(order * 7 + count));
    padded<T> b(right ? count : order, right ? order : count, order % 2 ? 3 : 2);
    b.fill((uint64_t)order);
    T alpha = from_real<T>((real_of<T>)-1.5);
    if constexpr (scalar<T>::is_complex)
        alpha.im = (real_of<T>)0.5;
    const void *given = count % 2 ? &alpha : nullptr;
    if (given == nullptr)
        alpha = from_real<T>(1);
    device_array<T> da(a), db(b.v);
    const triangle_entries<T> op = {c, a.data(), lda};
    for (bool multiplies : {false, true}) {
        padded<T> x = b;
        std::vector<T> first;
        for (int run = 0; run < 2; run++) {
            db.put(b.v);
            assert_int_equal((multiplies ? libsolver_dense_trmm : libsolver_dense_trsm)(
                                 context.p, type_of<T>::value, side, c.uplo, c.trans, c.diag, b.m,
                                 b.n, given, da.p, lda, db.p, b.ld, nullptr),
                             LIBSOLVER_OK);
            CUDA_OK(cudaDeviceSynchronize());
            db.get(x.v);
            if (run == 0)
                first = x.v;
            else
                assert_memory_equal(first.data(), x.v.data(), first.size() * sizeof(T));
        }
        others_unchanged(b, x.v, [](int64_t, int64_t) { return true; });
        /* op(A) x against alpha b, or op(A) b times alpha against x */
        const padded<T> &from = multiplies ? b : x, &to = multiplies ? x : b;
        const T factor = multiplies ? alpha : from_real<T>(1),
                other = multiplies ? from_real<T>(1) : alpha;
        const double limit = tolerance<T>(order) * std::fmax(from.largest(), to.largest()) * 4;
        for (int64_t j = 0; j < b.n; j += order > 300 ? 7 : 1)
            for (int64_t i = 0; i < b.m; i++) {
                const T sum = right ? product_entry<T>(order, from, op, i, j)
                                    : product_entry<T>(order, op, from, i, j);
                const double error =
                    (double)magnitude(multiply(factor, sum) - multiply(other, to(i, j)));
                if (!(error <= limit))
                    fail_msg("%s %s %s, uplo %d trans %d diag %d, order %lld, %lld sides: entry "
                             "(%lld, %lld) off by %g of %g",
                             type_of<T>::name, multiplies ? "trmm" : "trsm",
                             right ? "right" : "left", c.uplo, c.trans, c.diag, (long long)order,
                             (long long)count, (long long)i, (long long)j, error, limit);
            }
    }
}

template <typename T> void sides_of_type(const context &cut, const context &whole)
{
    static const int64_t orders[] = {130, 64, 257, 65, 320, 1, 200};
    static const int64_t counts[] = {65, 130, 100, 71, 3, 192};
    int number = 0;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (libsolver_transpose trans :
             {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE, LIBSOLVER_CONJUGATE_TRANSPOSE})
            for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT})
                for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
                    const triangle_case c = {uplo, trans, diag};
                    number++;
                    if (chosen.passes_over(number))
                        continue;
                    sided_case<T>(cut, c, side, orders[number % 7], counts[number % 6]);
                    if (chosen.small)
                        continue;
                    sided_case<T>(cut, c, side, orders[(number + 2) % 7], counts[(number + 1) % 6]);
                    sided_case<T>(whole, c, side, number % 3 ? 600 : 256, 67 + number);
                }
}
static void products_undo_solves(void **)
{
    const context cut(64), whole(0);
    chosen.each_type([&](auto zero) { sides_of_type<decltype(zero)>(cut, whole); });
}

/* trtri and lauum of a triangle. */
template <typename T>
void triangle_in_place(const context &context, libsolver_storage uplo, libsolver_diagonal diag,
                       int64_t n)
{
    const triangle_case c = {uplo, LIBSOLVER_NO_TRANSPOSE, diag};
    const bool lower = uplo == LIBSOLVER_LOWER;
    padded<T> a(n, n, 2), x = a;
    a.v = random_triangle<T>(c, n, a.ld, (uint64_t)n + 5);
    x.v = a.v;
    const auto stored = [&](int64_t i, int64_t j) {
        return lower ? (diag == LIBSOLVER_UNIT ? i > j : i >= j)
                     : (diag == LIBSOLVER_UNIT ? i < j : i <= j);
    };
    device_array<T> da(a.v);
    assert_int_equal(libsolver_dense_trtri(context.p, type_of<T>::value, uplo, diag, n, da.p, a.ld,
                                           nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    da.get(x.v);
    others_unchanged(a, x.v, stored);
    const triangle_entries<T> L = {c, a.v.data(), a.ld}, X = {c, x.v.data(), a.ld};
    const double limit = tolerance<T>(n) * 8;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const double error =
                (double)magnitude(product_entry<T>(n, X, L, i, j) - from_real<T>(i == j));
            if (!(error <= limit))
                fail_msg("%s trtri, uplo %d diag %d, order %lld: entry (%lld, %lld) of X L off by "
                         "%g of %g",
                         type_of<T>::name, uplo, diag, (long long)n, (long long)i, (long long)j,
                         error, limit);
        }
    if (diag == LIBSOLVER_UNIT)
        return;
    da.put(a.v);
    assert_int_equal(libsolver_dense_lauum(context.p, type_of<T>::value, uplo, n, da.p, a.ld,
                                           nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    da.get(x.v);
    others_unchanged(a, x.v, stored);
    const triangle_entries<T> H = {{uplo, LIBSOLVER_CONJUGATE_TRANSPOSE, diag}, a.v.data(), a.ld};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            if (!stored(i, j))
                continue;
            const T sum = lower ? product_entry<T>(n, H, L, i, j) : product_entry<T>(n, L, H, i, j);
            const double error = (double)magnitude(sum - x(i, j));
            if (!(error <= limit * 4))
                fail_msg("%s lauum, uplo %d, order %lld: entry (%lld, %lld) off by %g of %g",
                         type_of<T>::name, uplo, (long long)n, (long long)i, (long long)j, error,
                         limit * 4);
        }
}
template <typename T> void triangles_of_type(const context &cut, const context &whole)
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT}) {
            for (int64_t n : {1, 64, 129, 200, 333})
                if (!chosen.small || n == 129 || n == 200)
                    triangle_in_place<T>(cut, uplo, diag, n);
            if (!chosen.small)
                triangle_in_place<T>(whole, uplo, diag, 515);
        }
}
static void triangles_are_inverted_and_squared(void **)
{
    const context cut(64), whole(0);
    chosen.each_type([&](auto zero) { triangles_of_type<decltype(zero)>(cut, whole); });
}

/* Entry (i, j) of a Hermitian matrix, well conditioned. */
template <typename T> T definite_entry(int64_t n, int64_t i, int64_t j)
{
    uint64_t k = (uint64_t)((i < j ? j : i) * 100003 + (i < j ? i : j) + 1) * 0x9e3779b97f4a7c15ull;
    k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9ull; /* splitmix64: neighbours have nothing in common */
    random_numbers g = {k ^ k >> 27};
    g.next();
    T v = multiply(random_entry<T>(g), from_real<T>((real_of<T>)(0.5 / std::sqrt((double)n))));
    return i == j ? from_real<T>((real_of<T>)2) : conjugate_if(v, i < j);
}
template <typename T> padded<T> definite(libsolver_storage uplo, int64_t n)
{
    padded<T> a(n, n, 1);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = uplo == LIBSOLVER_LOWER ? j : 0; i < (uplo == LIBSOLVER_LOWER ? n : j + 1);
             i++)
            a.at(i, j) = definite_entry<T>(n, i, j);
    return a;
}

/* A x = b by posv, every `every`-th row of the residual looked at; the inverse by potri if `all`.
 */
template <typename T>
void definite_case(const context &context, libsolver_storage uplo, int64_t n, int64_t nrhs,
                   bool all)
{
    const libsolver_type type = type_of<T>::value;
    const padded<T> a = definite<T>(uplo, n);
    padded<T> b(n, nrhs, 3), x = b, inverse = a;
    b.fill((uint64_t)n + 1);
    device_array<T> da(a.v), db(b.v);
    device_array<int> info(std::vector<int>{77});
    assert_int_equal(libsolver_dense_posv(context.p, type, uplo, n, nrhs, da.p, a.ld, db.p, b.ld,
                                          info.p, nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    std::vector<int> found(1);
    info.get(found);
    assert_int_equal(found[0], 0);
    db.get(x.v);
    others_unchanged(b, x.v, [](int64_t, int64_t) { return true; });
    const auto A = [&](int64_t i, int64_t j) { return definite_entry<T>(n, i, j); };
    const double limit = tolerance<T>(n) * 8;
    for (int64_t j = 0; j < nrhs; j += 13)
        for (int64_t i = 0; i < n; i += n > 1000 ? 97 : 1) {
            const double error = (double)magnitude(product_entry<T>(n, A, x, i, j) - b(i, j));
            if (!(error <= limit))
                fail_msg("%s posv, uplo %d, order %lld: residual (%lld, %lld) %g of %g",
                         type_of<T>::name, uplo, (long long)n, (long long)i, (long long)j, error,
                         limit);
        }
    if (!all)
        return;
    assert_int_equal(libsolver_dense_potri(context.p, type, uplo, n, da.p, a.ld, nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    da.get(inverse.v);
    const bool lower = uplo == LIBSOLVER_LOWER;
    others_unchanged(a, inverse.v, [&](int64_t i, int64_t j) { return lower ? i >= j : i <= j; });
    const auto X = [&](int64_t i, int64_t j) {
        return (i >= j) == lower ? inverse(i, j) : conjugate_if(inverse(j, i), true);
    };
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            const double error =
                (double)magnitude(product_entry<T>(n, A, X, i, j) - from_real<T>(i == j));
            if (!(error <= limit))
                fail_msg("%s potri, uplo %d, order %lld: entry (%lld, %lld) of A X off by %g of %g",
                         type_of<T>::name, uplo, (long long)n, (long long)i, (long long)j, error,
                         limit);
        }
}
template <typename T> void definite_of_type(const context &cut)
{
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (int64_t n : {1, 63, 64, 150, 260})
            if (!chosen.small || n == 150)
                definite_case<T>(cut, uplo, n, n == 64 ? 3 : 70, true);
}
static void systems_are_solved_and_inverted(void **)
{
    const context cut(64);
    chosen.each_type([&](auto zero) { definite_of_type<decltype(zero)>(cut); });
}

/* Orders that are factorized by halves, twice, and where a factorization ends. */
static void large_factorizations_go_by_halves(void **)
{
    if (chosen.small)
        return;
    const context context(0, 9000);
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER}) {
        definite_case<double>(context, uplo, 4500, 2, false);
        definite_case<complex_s>(context, uplo, 4130, 66, false);
        const int64_t n = 8500;
        padded<double> a = definite<double>(uplo, n);
        for (int64_t bad : {8400, 5000, 3000, 30}) {
            a.at(bad, bad) = -1;
            device_array<double> da(a.v);
            device_array<int> info(std::vector<int>{77});
            assert_int_equal(libsolver_dense_potrf(context.p, LIBSOLVER_D, uplo, n, da.p, a.ld,
                                                   info.p, nullptr),
                             LIBSOLVER_OK);
            CUDA_OK(cudaDeviceSynchronize());
            std::vector<int> found(1);
            info.get(found);
            assert_int_equal(found[0], bad + 1);
        }
    }
}

static void alpha_zero_reads_nothing(void **)
{
    const context context(64);
    const double zero = 0;
    padded<double> b(5, 7, 2);
    device_array<double> a(std::vector<double>(25, NAN)), db(b.v);
    for (auto call : {libsolver_dense_trsm, libsolver_dense_trmm})
        for (int64_t columns : {7, 1}) {
            db.put(b.v);
            assert_int_equal(call(context.p, LIBSOLVER_D, LIBSOLVER_LEFT, LIBSOLVER_LOWER,
                                  LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT, 5, columns, &zero,
                                  a.p, 5, db.p, b.ld, nullptr),
                             LIBSOLVER_OK);
            CUDA_OK(cudaDeviceSynchronize());
            std::vector<double> x = b.v;
            db.get(x);
            for (int64_t j = 0; j < columns; j++)
                for (int64_t i = 0; i < 5; i++)
                    assert_true(x[(size_t)(i + j * b.ld)] == 0);
            others_unchanged(b, x, [&](int64_t, int64_t j) { return j < columns; });
        }
}

static void a_graph_gives_the_same_bits(void **)
{
    const context context(64);
    const int64_t n = 300, count = 150;
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT};
    const std::vector<double> a = random_triangle<double>(c, n, n, 3);
    padded<double> b(n, count, 0);
    b.fill(9);
    device_array<double> da(a), db(b.v);
    const auto calls = [&](cudaStream_t stream) {
        assert_int_equal(libsolver_dense_trsm(context.p, LIBSOLVER_D, LIBSOLVER_LEFT, c.uplo,
                                              c.trans, c.diag, n, count, nullptr, da.p, n, db.p, n,
                                              stream),
                         LIBSOLVER_OK);
        assert_int_equal(libsolver_dense_trmm(context.p, LIBSOLVER_D, LIBSOLVER_LEFT, c.uplo,
                                              LIBSOLVER_NO_TRANSPOSE, c.diag, n, count, nullptr,
                                              da.p, n, db.p, n, stream),
                         LIBSOLVER_OK);
    };
    std::vector<double> x = b.v, y = b.v;
    calls(nullptr);
    CUDA_OK(cudaDeviceSynchronize());
    db.get(x);
    db.put(b.v);
    const captured_graph graph(calls);
    graph.launch();
    db.get(y);
    assert_memory_equal(x.data(), y.data(), x.size() * sizeof(double));
}

/* Threads with a context and a stream each, at once on one device, get the bits that one alone
 * gets. */
static void contexts_in_threads(void **)
{
    constexpr int THREADS = 4;
    const int64_t n = 1100, count = chosen.small ? 70 : 200;
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT};
    const std::vector<double> a = random_triangle<double>(c, n, n, 3);
    padded<double> b(n, count, 0);
    b.fill(9);
    const device_array<double> da(a);
    std::vector<double> results[THREADS + 1];
    CUDA_OK(cudaDeviceSynchronize());
    /* leaves a result of one entry where anything went wrong: cmocka's assertions are for one
     * thread */
    const auto work = [&](int number, int runs) {
        const size_t bytes = b.v.size() * sizeof(double);
        const context context(0, n);
        const device_array<double> x(b.v.size());
        std::vector<double> &result = results[number];
        cudaStream_t stream;
        bool right = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
        for (int run = 0; run < runs && right; run++) {
            std::vector<double> got(b.v.size());
            right = cudaMemcpyAsync(x.p, b.v.data(), bytes, cudaMemcpyHostToDevice, stream) ==
                    cudaSuccess;
            for (auto call : {libsolver_dense_trmm, libsolver_dense_trsm, libsolver_dense_trmm})
                right =
                    right && call(context.p, LIBSOLVER_D, LIBSOLVER_LEFT, c.uplo, c.trans, c.diag,
                                  n, count, nullptr, da.p, n, x.p, n, stream) == LIBSOLVER_OK;
            right = right &&
                    cudaMemcpyAsync(got.data(), x.p, bytes, cudaMemcpyDeviceToHost, stream) ==
                        cudaSuccess &&
                    cudaStreamSynchronize(stream) == cudaSuccess;
            if (run == 0)
                result = got;
            right = right && memcmp(result.data(), got.data(), bytes) == 0;
        }
        if (!right)
            result.assign(1, NAN);
        cudaStreamDestroy(stream);
    };
    work(THREADS, 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back(work, t, chosen.small ? 2 : 20);
    for (auto &thread : threads)
        thread.join();
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(results[t].size(), results[THREADS].size());
        assert_memory_equal(results[t].data(), results[THREADS].data(),
                            results[t].size() * sizeof(double));
    }
}

static void wrong_arguments_are_refused(void **)
{
    const libsolver_type d = LIBSOLVER_D;
    const libsolver_storage lower = LIBSOLVER_LOWER;
    const libsolver_transpose none = LIBSOLVER_NO_TRANSPOSE;
    const libsolver_diagonal unit = LIBSOLVER_UNIT;
    const libsolver_side left = LIBSOLVER_LEFT, right = LIBSOLVER_RIGHT;
    const context context(64, 100);
    libsolver_dense_context *const c = context.p, *other = c;
    device_array<double> x(64);
    device_array<int> info(4);
    double *const p = x.p;
#define REFUSED(call) assert_int_equal(call, LIBSOLVER_INVALID)
    libsolver_dense_options options = {};
    REFUSED(libsolver_dense_create(&options, nullptr));
    for (int64_t leaf : {1, -64, 100, 2048}) {
        options.leaf = leaf;
        REFUSED(libsolver_dense_create(&options, &other));
        assert_null(other);
    }
    options.leaf = 0;
    options.order = -1;
    REFUSED(libsolver_dense_create(&options, &other));
    for (auto call : {libsolver_dense_trsm, libsolver_dense_trmm}) {
        REFUSED(call(nullptr, d, left, lower, none, unit, 2, 2, nullptr, p, 2, p, 2, nullptr));
        REFUSED(call(c, (libsolver_type)9, left, lower, none, unit, 2, 2, nullptr, p, 2, p, 2,
                     nullptr));
        REFUSED(
            call(c, d, (libsolver_side)2, lower, none, unit, 2, 2, nullptr, p, 2, p, 2, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, -1, 2, nullptr, p, 2, p, 2, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 2, -1, nullptr, p, 2, p, 2, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 3, 2, nullptr, p, 2, p, 3, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 3, 2, nullptr, p, 3, p, 2, nullptr));
        REFUSED(call(c, d, right, lower, none, unit, 2, 3, nullptr, p, 2, p, 2, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 101, 2, nullptr, p, 101, p, 101, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 2, 80, nullptr, p, (int64_t)1 << 31, p, 2,
                     nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 2, 80, nullptr, p, 2, p, (int64_t)1 << 31,
                     nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 2, 80, nullptr, nullptr, 2, p, 2, nullptr));
        REFUSED(call(c, d, left, lower, none, unit, 2, 80, nullptr, p, 2, nullptr, 2, nullptr));
        assert_int_equal(call(c, d, left, lower, none, unit, 0, 80, nullptr, nullptr, 1, nullptr, 1,
                              nullptr),
                         LIBSOLVER_OK);
    }
    REFUSED(libsolver_dense_trtri(c, d, lower, (libsolver_diagonal)4, 2, p, 2, nullptr));
    REFUSED(libsolver_dense_trtri(c, d, lower, unit, 3, p, 2, nullptr));
    REFUSED(libsolver_dense_lauum(c, d, (libsolver_storage)5, 2, p, 2, nullptr));
    REFUSED(libsolver_dense_lauum(c, d, lower, 2, nullptr, 2, nullptr));
    REFUSED(libsolver_dense_potri(c, d, lower, 101, p, 101, nullptr));
    REFUSED(libsolver_dense_potrf(c, d, lower, 2, p, 2, nullptr, nullptr));
    REFUSED(libsolver_dense_potrf(c, d, lower, -1, p, 2, info.p, nullptr));
    REFUSED(libsolver_dense_potrs(c, d, lower, 2, -1, p, 2, p, 2, nullptr));
    REFUSED(libsolver_dense_posv(c, d, lower, 2, 1, p, 2, nullptr, 2, info.p, nullptr));
    REFUSED(libsolver_dense_posv(c, d, lower, 2, 1, p, 2, p, 1, info.p, nullptr));
#undef REFUSED
    info.put(std::vector<int>(4, -1));
    assert_int_equal(libsolver_dense_posv(c, d, lower, 0, 1, nullptr, 1, nullptr, 1, info.p,
                                          nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    std::vector<int> found(4);
    info.get(found);
    assert_int_equal(found[0], 0);
    libsolver_dense_destroy(nullptr);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    chosen.read(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(products_undo_solves),
        cmocka_unit_test(triangles_are_inverted_and_squared),
        cmocka_unit_test(systems_are_solved_and_inverted),
        cmocka_unit_test(large_factorizations_go_by_halves),
        cmocka_unit_test(alpha_zero_reads_nothing),
        cmocka_unit_test(a_graph_gives_the_same_bits),
        cmocka_unit_test(contexts_in_threads),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
