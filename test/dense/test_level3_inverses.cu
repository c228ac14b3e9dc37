/* test/dense/test_level3_inverses.cu: trsm of large triangles by inverses of diagonal blocks, and
 * trtri, on the GPU against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * test_level3_inverses                           everything
 * test_level3_inverses small|few [TYPES [TEST]]  what a sanitizer is run on */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/product_fixture.h"

static test_choice chosen;

struct context {
    libsolver_dense_context *p = nullptr;
    context(libsolver_dense_trsm_form form, int64_t block)
    {
        libsolver_dense_options options = {};
        options.order = 600;
        options.trsm = form;
        options.block = block;
        assert_int_equal(libsolver_dense_create(&options, &p), LIBSOLVER_OK);
    }
    ~context() { libsolver_dense_destroy(p); }
    context(const context &) = delete;
};

/* op(A) X = B or X op(A) = B with `count` sides, B as it is in memory. */
template <typename T> struct system_of {
    triangle_case c;
    libsolver_side side;
    int64_t n, count, lda, ldb;
    std::vector<T> a, b;

    system_of(triangle_case c, libsolver_side side, int64_t n, int64_t count)
        : c(c), side(side), n(n), count(count), lda(n + 3), ldb(rows() + 2),
          a(random_triangle<T>(c, n, lda, (uint64_t)(n + count))),
          b((size_t)(ldb * columns()), not_a_number<T>())
    {
        random_numbers g = {(uint64_t)(3 * n + count)};
        for (int64_t j = 0; j < columns(); j++)
            for (int64_t i = 0; i < rows(); i++)
                b[(size_t)(i + j * ldb)] = random_entry<T>(g);
    }
    bool right() const { return side == LIBSOLVER_RIGHT; }
    int64_t rows() const { return right() ? count : n; }
    int64_t columns() const { return right() ? n : count; }
    T *at(std::vector<T> &v, int64_t side_number) const
    {
        return v.data() + side_number * (right() ? 1 : ldb);
    }
    int64_t step() const { return right() ? ldb : 1; }

    /* A side by plain loops; x op(A) = b is op(A)^T x^T = b^T. */
    std::vector<T> expected(int64_t k, T alpha)
    {
        std::vector<T> x((size_t)n);
        triangle_case t = c;
        const bool conjugate = right() && c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE;
        if (right())
            t.trans =
                c.trans == LIBSOLVER_NO_TRANSPOSE ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE;
        for (int64_t i = 0; i < n; i++)
            x[(size_t)i] = conjugate_if(multiply(alpha, at(b, k)[i * step()]), conjugate);
        plain_trsv(t, n, a.data(), lda, x.data(), 1);
        for (T &v : x)
            v = conjugate_if(v, conjugate);
        return x;
    }
    libsolver_status solve(const context &context, const device_array<T> &da,
                           const device_array<T> &db, const void *alpha, cudaStream_t stream) const
    {
        return libsolver_dense_trsm(context.p, type_of<T>::value, side, c.uplo, c.trans, c.diag,
                                    rows(), columns(), alpha, da.p, lda, db.p, ldb, stream);
    }
};

template <typename T>
static void solved_as_by_plain_loops(const context &context, triangle_case c, libsolver_side side,
                                     int64_t n, int64_t count)
{
    system_of<T> s(c, side, n, count);
    T alpha = from_real<T>((real_of<T>)-1.5);
    if constexpr (scalar<T>::is_complex)
        alpha.im = (real_of<T>)0.5;
    if (count % 2 == 0)
        alpha = from_real<T>(1);
    device_array<T> da(s.a), db(s.b);
    std::vector<T> x = s.b, again = s.b;
    for (std::vector<T> *to : {&x, &again}) {
        db.put(s.b);
        assert_int_equal(s.solve(context, da, db, count % 2 == 0 ? nullptr : &alpha, nullptr),
                         LIBSOLVER_OK);
        CUDA_OK(cudaDeviceSynchronize());
        db.get(*to);
    }
    assert_memory_equal(x.data(), again.data(), x.size() * sizeof(T));
    for (int64_t k = 0; k < count; k += count > 100 ? 3 : 1) {
        const std::vector<T> y = s.expected(k, alpha);
        std::vector<T> found((size_t)n);
        for (int64_t i = 0; i < n; i++)
            found[(size_t)i] = s.at(x, k)[i * s.step()];
        const double off = difference(n, found.data(), y.data(), 1);
        if (!(off <= 4 * tolerance<T>(n)))
            fail_msg("%s %s, uplo %d trans %d diag %d, order %lld, %lld sides: side %lld off by %g",
                     type_of<T>::name, side == LIBSOLVER_RIGHT ? "right" : "left", c.uplo, c.trans,
                     c.diag, (long long)n, (long long)count, (long long)k, off);
    }
    for (int64_t j = 0; j < s.columns(); j++)
        for (int64_t i = s.rows(); i < s.ldb; i++)
            assert_memory_equal(&x[(size_t)(i + j * s.ldb)], &s.b[(size_t)(i + j * s.ldb)],
                                sizeof(T));
}

template <typename T> static void cases_of_type()
{
    const context blocks(LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 64),
        halves(LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 64),
        large(LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 128),
        largest(LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 1024);
    static const int64_t orders[] = {130, 64, 193, 65, 256, 1, 200};
    static const int64_t counts[] = {65, 130, 1, 71, 192};
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
                    solved_as_by_plain_loops<T>(blocks, c, side, orders[number % 7],
                                                counts[number % 5]);
                    solved_as_by_plain_loops<T>(halves, c, side, orders[(number + 2) % 7],
                                                counts[(number + 1) % 5]);
                    if (chosen.small)
                        continue;
                    solved_as_by_plain_loops<T>(large, c, side, 300 + number, 101);
                    solved_as_by_plain_loops<T>(largest, c, side, 550 + number, 64 + number);
                }
}
static void every_case_is_solved(void **)
{
    chosen.each_type([&](auto zero) { cases_of_type<decltype(zero)>(); });
}

/* A product X(r) := inv(L(r,r)) B(r) over B(r) would read what blocks of threads before it have
 * written: so many sides that they are not all on the device at once. */
static void products_are_not_made_in_place(void **)
{
    const context context(LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 256);
    for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
        system_of<double> s({LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT}, side,
                            512, chosen.small ? 300 : 40000);
        device_array<double> da(s.a), db(s.b);
        std::vector<double> x = s.b;
        for (int run = 0; run < (chosen.small ? 1 : 3); run++) {
            db.put(s.b);
            assert_int_equal(s.solve(context, da, db, nullptr, nullptr), LIBSOLVER_OK);
            CUDA_OK(cudaDeviceSynchronize());
            db.get(x);
            for (int64_t k = run; k < s.count; k += 97) {
                const std::vector<double> y = s.expected(k, 1);
                std::vector<double> found((size_t)s.n);
                for (int64_t i = 0; i < s.n; i++)
                    found[(size_t)i] = s.at(x, k)[i * s.step()];
                const double off = difference(s.n, found.data(), y.data(), 1);
                if (!(off <= 4 * tolerance<double>(s.n)))
                    fail_msg("run %d: side %lld off by %g", run, (long long)k, off);
            }
        }
    }
}

/* A zero on the diagonal in the middle of a block: rows before the block are solved, those from the
 * zero on are not finite. */
static void a_zero_on_the_diagonal_leaves_the_blocks_before_it(void **)
{
    const context context(LIBSOLVER_DENSE_TRSM_INVERSE_BLOCKS, 64);
    const int64_t n = 200, zero = 150, before = 128;
    for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
        /* from the right op(A) upper is what is solved forwards */
        const libsolver_storage uplo = side == LIBSOLVER_LEFT ? LIBSOLVER_LOWER : LIBSOLVER_UPPER;
        system_of<double> s({uplo, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT}, side, n, 70);
        s.a[(size_t)(zero * (s.lda + 1))] = 0;
        device_array<double> da(s.a), db(s.b);
        std::vector<double> x = s.b;
        assert_int_equal(s.solve(context, da, db, nullptr, nullptr), LIBSOLVER_OK);
        CUDA_OK(cudaDeviceSynchronize());
        db.get(x);
        for (int64_t k = 0; k < s.count; k++) {
            const std::vector<double> y = s.expected(k, 1);
            std::vector<double> found((size_t)n);
            for (int64_t i = 0; i < n; i++)
                found[(size_t)i] = s.at(x, k)[i * s.step()];
            assert_true(difference(before, found.data(), y.data(), 1) <= 4 * tolerance<double>(n));
            for (int64_t i = zero; i < n; i++)
                assert_false(std::isfinite(found[(size_t)i]));
        }
    }
}

/* A diagonal block of Kahan's, whose inverse grows by 1e9: by its inverse the backward error of a
 * solution that is small would be about 1e7 units of roundoff. */
static void refused_blocks_are_substituted_with(void **)
{
    const context context(LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 64);
    const int64_t n = 200, from = 64, to = 128, count = 130;
    for (libsolver_side side : {LIBSOLVER_LEFT, LIBSOLVER_RIGHT}) {
        const libsolver_storage uplo = side == LIBSOLVER_LEFT ? LIBSOLVER_LOWER : LIBSOLVER_UPPER;
        const triangle_case c = {uplo, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT};
        system_of<double> s(c, side, n, count);
        const auto L = [&](int64_t i, int64_t j) -> double & {
            return s.a[(size_t)(side == LIBSOLVER_LEFT ? i + j * s.lda : j + i * s.lda)];
        };
        for (int64_t j = from; j < to; j++)
            for (int64_t i = j; i < to; i++)
                L(i, j) =
                    std::pow(std::sin(1.2), (double)(j - from)) * (i == j ? 1 : -std::cos(1.2));
        for (int64_t k = 0; k < count; k++) { /* b := L times what was b */
            std::vector<double> x((size_t)n);
            for (int64_t i = 0; i < n; i++)
                x[(size_t)i] = s.at(s.b, k)[i * s.step()];
            for (int64_t i = 0; i < n; i++) {
                long double sum = 0;
                for (int64_t j = 0; j <= i; j++)
                    sum += (long double)L(i, j) * x[(size_t)j];
                s.at(s.b, k)[i * s.step()] = (double)sum;
            }
        }
        device_array<double> da(s.a), db(s.b);
        std::vector<double> x = s.b;
        assert_int_equal(s.solve(context, da, db, nullptr, nullptr), LIBSOLVER_OK);
        CUDA_OK(cudaDeviceSynchronize());
        db.get(x);
        double most = 0;
        for (int64_t k = 0; k < count; k++)
            for (int64_t i = 0; i < n; i++) {
                long double sum = -s.at(s.b, k)[i * s.step()], size = std::fabs(sum);
                for (int64_t j = 0; j <= i; j++) {
                    sum += (long double)L(i, j) * s.at(x, k)[j * s.step()];
                    size += std::fabs((long double)L(i, j) * s.at(x, k)[j * s.step()]);
                }
                most = std::fmax(most, (double)(std::fabs(sum) / size) / 0x1p-53);
            }
        printf("backward error of %g units\n", most);
        assert_true(most <= 30);
    }
}

/* The largest entry of |A X - I| / (|A||X|) in units of roundoff, of large orders some entries, X =
 * inv(A) by trtri; the rest of the storage is not written. */
template <typename T>
static double error_of_inverse(const context &context, libsolver_storage uplo,
                               libsolver_diagonal diag, int64_t n, const std::vector<T> &a,
                               int64_t lda)
{
    const bool lower = uplo == LIBSOLVER_LOWER;
    std::vector<T> x = a;
    device_array<T> da(a);
    assert_int_equal(libsolver_dense_trtri(context.p, type_of<T>::value, uplo, diag, n, da.p, lda,
                                           nullptr),
                     LIBSOLVER_OK);
    CUDA_OK(cudaDeviceSynchronize());
    da.get(x);
    const auto stored = [&](int64_t i, int64_t j) {
        return i < n && (i == j ? diag == LIBSOLVER_NON_UNIT : (i > j) == lower);
    };
    const auto entry = [&](const std::vector<T> &m, int64_t i, int64_t j) {
        return stored(i, j) ? m[(size_t)(i + j * lda)] : from_real<T>(i == j);
    };
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < lda; i++)
            if (!stored(i, j))
                assert_memory_equal(&x[(size_t)(i + j * lda)], &a[(size_t)(i + j * lda)],
                                    sizeof(T));
        for (int64_t i = lower ? j : 0; i < (lower ? n : j + 1); i++) {
            if (n > 400 && (i + 3 * j) % 11 != 0)
                continue;
            long double re = -(i == j), im = 0, size = 0;
            for (int64_t k = lower ? j : i; k <= (lower ? i : j); k++) {
                const T p = entry(a, i, k), q = entry(x, k, j);
                size += (long double)magnitude(p) * magnitude(q);
                if constexpr (scalar<T>::is_complex) {
                    re += (long double)p.re * q.re - (long double)p.im * q.im;
                    im += (long double)p.re * q.im + (long double)p.im * q.re;
                } else {
                    re += (long double)p * q;
                }
            }
            const double error = (double)((std::fabs(re) + std::fabs(im)) / size) /
                                 (sizeof(real_of<T>) == 4 ? 0x1p-24 : 0x1p-53);
            if (!(error <= most))
                most = error;
        }
    }
    return most;
}

template <typename T> static void inverses_of_type()
{
    const context small(LIBSOLVER_DENSE_TRSM_AUTO, 64), large(LIBSOLVER_DENSE_TRSM_AUTO, 256);
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER})
        for (libsolver_diagonal diag : {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT})
            for (int64_t n : {1, 64, 130, 200, 550}) {
                if (chosen.small && (n > 200 || n == 64))
                    continue;
                const std::vector<T> a =
                    random_triangle<T>({uplo, LIBSOLVER_NO_TRANSPOSE, diag}, n, n + 3, (uint64_t)n);
                for (const context *c : {&small, &large}) {
                    const double error = error_of_inverse(*c, uplo, diag, n, a, n + 3);
                    if (!(error <= 30))
                        fail_msg("%s uplo %d diag %d, order %lld: error of %g units",
                                 type_of<T>::name, uplo, diag, (long long)n, error);
                    if (chosen.small)
                        break;
                }
            }
}
static void triangles_are_inverted(void **)
{
    chosen.each_type([&](auto zero) { inverses_of_type<decltype(zero)>(); });
}

/* Random entries on the diagonal, too: the condition is about 2^n, and half of the blocks of 64 are
 * refused.  A product with an inverse, X21 = -X22 A21 X11, loses digits: hundreds of units. */
static void inverses_of_ill_conditioned_triangles_are_as_by_substitution(void **)
{
    const context context(LIBSOLVER_DENSE_TRSM_AUTO, 64);
    const int64_t n = 390;
    for (libsolver_storage uplo : {LIBSOLVER_LOWER, LIBSOLVER_UPPER}) {
        random_numbers g = {11};
        std::vector<double> a((size_t)(n * n), NAN);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = uplo == LIBSOLVER_LOWER ? j : 0;
                 i < (uplo == LIBSOLVER_LOWER ? n : j + 1); i++) {
                double sum = 0;
                for (int k = 0; k < 12; k++)
                    sum += g.next();
                a[(size_t)(i + j * n)] = sum / 2;
            }
        const double error = error_of_inverse(context, uplo, LIBSOLVER_NON_UNIT, n, a, n);
        printf("error of %g units\n", error);
        assert_true(error <= 20);
    }
}

static void a_graph_gives_the_same_bits(void **)
{
    const context context(LIBSOLVER_DENSE_TRSM_INVERSE_HALVES, 64);
    system_of<double> s({LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT}, LIBSOLVER_LEFT,
                        300, 150);
    device_array<double> da(s.a), db(s.b);
    std::vector<double> x = s.b, y = s.b;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(s.solve(context, da, db, nullptr, stream), LIBSOLVER_OK);
    CUDA_OK(cudaStreamSynchronize(stream));
    db.get(x);
    db.put(s.b);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(s.solve(context, da, db, nullptr, stream), LIBSOLVER_OK);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&ready, graph, 0));
    CUDA_OK(cudaGraphLaunch(ready, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    db.get(y);
    assert_memory_equal(x.data(), y.data(), x.size() * sizeof(double));
    CUDA_OK(cudaGraphExecDestroy(ready));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
}

static void wrong_options_are_refused(void **)
{
    libsolver_dense_options options = {};
    libsolver_dense_context *p = nullptr;
    for (int64_t block : {-64, 1, 96, 192, 2048}) {
        options.block = block;
        assert_int_equal(libsolver_dense_create(&options, &p), LIBSOLVER_INVALID);
        assert_null(p);
    }
    options.block = 0;
    options.trsm = (libsolver_dense_trsm_form)9;
    assert_int_equal(libsolver_dense_create(&options, &p), LIBSOLVER_INVALID);
    assert_null(p);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    chosen.read(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(every_case_is_solved),
        cmocka_unit_test(products_are_not_made_in_place),
        cmocka_unit_test(a_zero_on_the_diagonal_leaves_the_blocks_before_it),
        cmocka_unit_test(refused_blocks_are_substituted_with),
        cmocka_unit_test(triangles_are_inverted),
        cmocka_unit_test(inverses_of_ill_conditioned_triangles_are_as_by_substitution),
        cmocka_unit_test(a_graph_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
