/* test/dense/test_trsm.cu: dense triangular solves with several right-hand sides on the GPU, by
 * their backward errors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_trsm            everything
 *        test_trsm small T    the sizes that a sanitizer is run on, for the type T: s, d, c or z */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
extern "C" {
#include <cmocka.h>
}
#include "test/dense/trsv_fixture.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

/* What is being solved, said when the test is stopped: a solve that hangs is not found
 * otherwise. */
static char current[200];

static void say_current(int)
{
    const ssize_t written = write(STDOUT_FILENO, current, strlen(current));
    _exit(written < 0 ? 2 : 1);
}

static const libsolver_side sides[] = {LIBSOLVER_LEFT, LIBSOLVER_RIGHT};
static const libsolver_storage uplos[] = {LIBSOLVER_LOWER, LIBSOLVER_UPPER};
static const libsolver_transpose transposes[] = {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE,
                                                 LIBSOLVER_CONJUGATE_TRANSPOSE};
static const libsolver_diagonal diagonals[] = {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT};

struct workspace {
    int64_t bytes;
    device_array<char> memory;
    workspace(int64_t n, int64_t nrhs)
        : bytes(libsolver_trsm_workspace_bytes(n, nrhs)), memory((size_t)bytes)
    {
        assert_int_equal(libsolver_trsm_workspace_init(memory.p, bytes, nullptr), LIBSOLVER_OK);
    }
};

/* A problem on the host and on the device.  Entries that may not be read are NaN, in A and between
 * the columns of B. */
template <typename T> struct problem {
    libsolver_side side;
    triangle_case c;
    int64_t n, nrhs, lda, ldb;
    T alpha;
    std::vector<T> a, b, x;
    device_array<T> da, db;
    device_array<char> storage;
    libsolver_trsm_prepared prepared;

    problem(libsolver_side side, triangle_case c, int64_t n, int64_t nrhs, uint64_t seed)
        : side(side), c(c), n(n), nrhs(nrhs), lda(n + 3), ldb((left() ? n : nrhs) + 1),
          a(random_triangle<T>(c, n, lda, seed)),
          b((size_t)(ldb * (left() ? nrhs : n)), not_a_number<T>()), x(b), da(a), db(b.size()),
          storage((size_t)libsolver_trsm_prepare_bytes(type_of<T>::value, n))
    {
        /* NaNs wherever preparation leaves something out */
        CUDA_OK(cudaMemset(storage.p, 0xff, (size_t)storage_bytes()));
        random_numbers g = {seed ^ 0x5555};
        alpha = random_entry<T>(g);
        for (int64_t k = 0; k < nrhs; k++)
            for (int64_t i = 0; i < n; i++)
                b[at(i, k)] = random_entry<T>(g);
    }
    bool left() const { return side == LIBSOLVER_LEFT; }
    /* Entry i of right-hand side k. */
    size_t at(int64_t i, int64_t k) const { return (size_t)(left() ? i + k * ldb : k + i * ldb); }
    int64_t storage_bytes() const { return libsolver_trsm_prepare_bytes(type_of<T>::value, n); }
    void one_shot(const workspace &w, cudaStream_t stream = nullptr)
    {
        assert_int_equal(libsolver_trsm(type_of<T>::value, side, c.uplo, c.trans, c.diag,
                                        left() ? n : nrhs, left() ? nrhs : n, &alpha, da.p, lda,
                                        db.p, ldb, w.memory.p, w.bytes, stream),
                         LIBSOLVER_OK);
    }
    void prepare(double limit = 0, cudaStream_t stream = nullptr)
    {
        assert_int_equal(libsolver_trsm_prepare(type_of<T>::value, side, c.uplo, c.trans, c.diag, n,
                                                da.p, lda, storage.p, storage_bytes(), limit,
                                                stream, &prepared),
                         LIBSOLVER_OK);
    }
    void solve(const workspace &w, cudaStream_t stream = nullptr)
    {
        assert_int_equal(libsolver_trsm_solve(&prepared, nrhs, &alpha, db.p, ldb, w.memory.p,
                                              w.bytes, stream),
                         LIBSOLVER_OK);
    }
    /* x := what `call` makes of b on the device; what lies between the columns must stay. */
    template <typename Call> void run(Call call)
    {
        db.put(b);
        call();
        CUDA_OK(cudaDeviceSynchronize());
        db.get(x);
        for (size_t e = 0; e < b.size(); e++)
            if (!(magnitude(b[e]) == magnitude(b[e])) && memcmp(&b[e], &x[e], sizeof(T)) != 0)
                fail_msg("%s: entry %zu outside B was written", current, e);
    }

    using wide = long double;
    static wide real(T v)
    {
        if constexpr (scalar<T>::is_complex)
            return v.re;
        else
            return v;
    }
    static wide imaginary(T v)
    {
        if constexpr (scalar<T>::is_complex)
            return v.im;
        else
            return 0;
    }
    /* Entry (i, j) of the matrix M with M y = alpha c for every side: op(A) or its transpose. */
    T entry(int64_t i, int64_t j) const
    {
        const bool turned = (c.trans != LIBSOLVER_NO_TRANSPOSE) == left();
        const int64_t row = turned ? j : i, column = turned ? i : j;
        if (c.uplo == LIBSOLVER_LOWER ? row < column : row > column)
            return T{};
        if (row == column && c.diag == LIBSOLVER_UNIT)
            return from_real<T>(1);
        return conjugate_if(a[(size_t)(row + column * lda)],
                            c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE);
    }
    /* max over the sides of max_i |alpha b - M y|_i / max_i (|M||y| + |alpha b|)_i in units of
     * roundoff, over every step-th row; infinite when not a number. */
    double backward_error(const std::vector<T> &y, int64_t step = 1) const
    {
        double worst = 0;
        std::vector<T> row((size_t)n);
        std::vector<wide> residual((size_t)nrhs), scale((size_t)nrhs);
        for (int64_t i = n - 1; i >= 0; i -= step) {
            for (int64_t j = 0; j < n; j++)
                row[(size_t)j] = entry(i, j);
            for (int64_t k = 0; k < nrhs; k++) {
                const T v = b[at(i, k)];
                wide re = real(alpha) * real(v) - imaginary(alpha) * imaginary(v);
                wide im = real(alpha) * imaginary(v) + imaginary(alpha) * real(v);
                wide sum = std::fabs(re) + std::fabs(im);
                for (int64_t j = 0; j < n; j++) {
                    const T m = row[(size_t)j], z = y[at(j, k)];
                    re -= real(m) * real(z) - imaginary(m) * imaginary(z);
                    im -= real(m) * imaginary(z) + imaginary(m) * real(z);
                    sum += (wide)magnitude(m) * magnitude(z);
                }
                const wide r = std::fabs(re) + std::fabs(im);
                if (!(r == r))
                    return INFINITY;
                residual[(size_t)k] = std::max(residual[(size_t)k], r);
                scale[(size_t)k] = std::max(scale[(size_t)k], sum);
            }
        }
        for (int64_t k = 0; k < nrhs; k++)
            worst = std::max(worst, (double)(residual[(size_t)k] / scale[(size_t)k]));
        return worst / (sizeof(real_of<T>) == 4 ? 6e-8 : 1.1e-16);
    }
    /* Substitution in T by plain loops, as if M were full. */
    std::vector<T> substituted() const
    {
        std::vector<T> y = b;
        const bool turned = (c.trans != LIBSOLVER_NO_TRANSPOSE) == left();
        const bool forward = (c.uplo == LIBSOLVER_LOWER) != turned;
        for (int64_t k = 0; k < nrhs; k++)
            for (int64_t s = 0; s < n; s++) {
                const int64_t i = forward ? s : n - 1 - s;
                T sum = multiply(alpha, b[at(i, k)]);
                for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); j++)
                    sum = multiply_add(sum, -entry(i, j), y[at(j, k)]);
                y[at(i, k)] = divide(sum, entry(i, i));
            }
        return y;
    }
    void say(const char *what)
    {
        snprintf(current, sizeof current,
                 "%s: %ctrsm side %d uplo %d trans %d diag %d n %lld nrhs %lld", what,
                 type_of<T>::name[0], side, c.uplo, c.trans, c.diag, (long long)n, (long long)nrhs);
    }
    void check(const char *what, double limit, int64_t step = 1)
    {
        say(what);
        const double error = backward_error(x, step);
        if (!(error <= limit))
            fail_msg("%s: backward error %.3g units of roundoff, limit %.3g", current, error,
                     limit);
    }
};

/* Units of roundoff that the fixture's triangles, which grow little, may cost. */
constexpr double LITTLE = 12;

struct size {
    int64_t n, nrhs;
};

template <typename T> static void variants(const std::vector<size> &shapes)
{
    for (const size &z : shapes) {
        const workspace w(z.n, z.nrhs);
        for (libsolver_side side : sides)
            for (libsolver_storage uplo : uplos)
                for (libsolver_transpose trans : transposes)
                    for (libsolver_diagonal diag : diagonals) {
                        problem<T> p(side, {uplo, trans, diag}, z.n, z.nrhs,
                                     (uint64_t)(z.n * 100 + z.nrhs));
                        p.say("one shot");
                        p.run([&] { p.one_shot(w); });
                        p.check("one shot", LITTLE);
                        p.say("prepared");
                        p.run([&] {
                            p.prepare();
                            p.solve(w);
                        });
                        p.check("prepared", LITTLE);
                    }
    }
}

static bool small_only;
static char only_type;

static void every_variant_has_a_small_backward_error(void **)
{
    const std::vector<size> all = {{1, 1},    {7, 3},    {63, 2},  {65, 8},
                                   {130, 17}, {193, 33}, {322, 5}, {70, 131}};
    const std::vector<size> few = {{70, 3}, {330, 20}};
    const std::vector<size> &shapes = small_only ? few : all;
    if (!small_only || only_type == 's')
        variants<float>(shapes);
    if (!small_only || only_type == 'd')
        variants<double>(shapes);
    if (!small_only || only_type == 'c')
        variants<complex_s>(shapes);
    if (!small_only || only_type == 'z')
        variants<complex_d>(shapes);
}

/* Blocks of 8, 16 and 32 sides, places by ticket and by number, all rows of the last cluster. */
template <typename T> static void large(const std::vector<size> &shapes)
{
    for (const size &z : shapes)
        for (libsolver_side side : sides) {
            const workspace w(z.n, z.nrhs);
            problem<T> p(side, {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT}, z.n,
                         z.nrhs, (uint64_t)(z.n + z.nrhs));
            p.say("one shot");
            p.run([&] { p.one_shot(w); });
            p.check("one shot", LITTLE, 97);
            const std::vector<T> first = p.x;
            p.run([&] { p.one_shot(w); });
            assert_memory_equal(p.x.data(), first.data(), first.size() * sizeof(T));
            p.say("prepared");
            p.run([&] {
                p.prepare();
                p.solve(w);
            });
            p.check("prepared", LITTLE, 97);
        }
}

static void large_orders_have_a_small_backward_error(void **)
{
    large<double>({{1024, 64}, {2500, 30}, {4200, 16}, {4200, 64}, {8500, 8}});
    large<float>({{1500, 64}, {4200, 64}});
    large<complex_s>({{2200, 64}});
    large<complex_d>({{1000, 16}, {2200, 64}});
}

/* Ones on the diagonal, -1 below (or above) it in a window of rows: inverses grow like 2^n.  B such
 * that X stays small: then an inverse costs digits. */
template <typename T> static void grow(problem<T> &p, int64_t from, int64_t to)
{
    random_numbers g = {99};
    for (int64_t j = from; j < to; j++)
        for (int64_t i = from; i < to; i++)
            if (p.c.uplo == LIBSOLVER_LOWER ? i > j : i < j)
                p.a[(size_t)(i + j * p.lda)] = from_real<T>(-1);
            else if (i == j && p.c.diag == LIBSOLVER_NON_UNIT)
                p.a[(size_t)(i + j * p.lda)] = from_real<T>(1);
    p.da.put(p.a);
    p.alpha = from_real<T>((real_of<T>)0.5);
    std::vector<T> y((size_t)p.n);
    for (int64_t k = 0; k < p.nrhs; k++) {
        for (T &v : y)
            v = random_entry<T>(g);
        for (int64_t i = 0; i < p.n; i++) {
            T sum = {};
            for (int64_t j = 0; j < p.n; j++)
                sum = multiply_add(sum, p.entry(i, j), y[(size_t)j]);
            p.b[p.at(i, k)] = sum + sum;
        }
    }
}

template <typename T> static void growth_of(libsolver_side side, triangle_case c)
{
    const int64_t n = 600;
    const workspace w(n, 20);
    problem<T> p(side, c, n, 20, 77);
    grow(p, 300, 340);
    const double limit = 10 * std::max(1., p.backward_error(p.substituted()));
    p.say("one shot, growing");
    p.run([&] { p.one_shot(w); });
    p.check("one shot, growing", limit);
    p.run([&] {
        p.prepare();
        p.solve(w);
    });
    p.check("prepared, growing", limit);
    /* only the block that grows is refused, and the verdict is read from the device */
    std::vector<double> growth(3);
    CUDA_OK(cudaMemcpy(growth.data(), p.storage.p, 24, cudaMemcpyDeviceToHost));
    assert_true(growth[0] < 1e3 && growth[1] > 1e6);
    /* the inverse would have cost digits: the guard is what the test above sees */
    p.run([&] {
        p.prepare(1e300);
        p.solve(w);
    });
    p.say("prepared, unguarded");
    assert_true(p.backward_error(p.x) > limit);
    /* every block refused */
    p.run([&] {
        p.prepare(1e-3);
        p.solve(w);
    });
    p.check("prepared, all substituted", limit);
}

static void a_block_that_grows_is_substituted_with(void **)
{
    growth_of<double>(LIBSOLVER_LEFT,
                      {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT});
    growth_of<double>(LIBSOLVER_RIGHT, {LIBSOLVER_UPPER, LIBSOLVER_TRANSPOSE, LIBSOLVER_UNIT});
    growth_of<complex_d>(LIBSOLVER_LEFT,
                         {LIBSOLVER_UPPER, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_NON_UNIT});
}

/* Preparing, solving and the one-shot solve captured together; new values in A and B, replayed. */
static void calls_are_captured_in_a_graph_and_replayed(void **)
{
    const int64_t n = 700, nrhs = 12;
    const workspace w(n, nrhs);
    const triangle_case c = {LIBSOLVER_UPPER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT};
    problem<double> p(LIBSOLVER_LEFT, c, n, nrhs, 1), other(LIBSOLVER_LEFT, c, n, nrhs, 2);
    other.alpha = p.alpha;
    snprintf(current, sizeof current, "graph");
    const captured_graph graph([&](cudaStream_t stream) {
        p.prepare(0, stream);
        p.solve(w, stream);
        p.one_shot(w, stream);
    });
    for (int k = 0; k < 6; k++) {
        const problem<double> &from = k % 2 == 0 ? p : other;
        std::vector<double> x(p.b.size()), expected(p.b.size());
        p.da.put(from.a);
        p.db.put(from.b);
        graph.launch();
        p.db.get(x);
        p.db.put(from.b);
        p.prepare();
        p.solve(w);
        p.one_shot(w);
        CUDA_OK(cudaDeviceSynchronize());
        p.db.get(expected);
        assert_memory_equal(x.data(), expected.data(), x.size() * sizeof(double));
    }
}

/* One workspace for many shapes, one after the other: what earlier solves left is never read. */
static void every_run_gives_the_same_bits(void **)
{
    const workspace w(1100, 64);
    const size shapes[] = {{1100, 3}, {500, 64}, {1000, 20}, {64, 9}};
    for (const size &z : shapes) {
        problem<double> p(LIBSOLVER_LEFT,
                          {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT}, z.n, z.nrhs,
                          3);
        problem<double> between(LIBSOLVER_RIGHT,
                                {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT}, 900, 7,
                                4);
        p.prepare();
        std::vector<double> first[2];
        for (int k = 0; k < (small_only ? 3 : 40); k++)
            for (int prepared = 0; prepared < 2; prepared++) {
                p.say(prepared ? "prepared, again" : "one shot, again");
                p.run([&] {
                    if (prepared)
                        p.solve(w);
                    else
                        p.one_shot(w);
                });
                if (k == 0)
                    first[prepared] = p.x;
                assert_memory_equal(p.x.data(), first[prepared].data(),
                                    p.x.size() * sizeof(double));
                between.one_shot(w);
            }
    }
}

static void alpha_of_zero_clears_what_is_not_a_number(void **)
{
    const workspace w(10, 4);
    problem<double> p(LIBSOLVER_RIGHT, {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_UNIT},
                      10, 4, 5);
    p.alpha = 0;
    std::vector<double> x(p.b.size(), NAN);
    p.db.put(x);
    p.one_shot(w);
    CUDA_OK(cudaDeviceSynchronize());
    p.db.get(x);
    for (size_t e = 0; e < x.size(); e++)
        assert_true((int64_t)e % p.ldb < p.nrhs ? x[e] == 0 : x[e] != x[e]);
}

static void wrong_arguments_are_refused(void **)
{
    const auto lower = LIBSOLVER_LOWER;
    const auto none = LIBSOLVER_NO_TRANSPOSE;
    const auto unit = LIBSOLVER_UNIT;
    alignas(16) char memory[64]; /* never touched: the checks come first */
    void *a = memory;
    const auto call = [&](libsolver_side side, int64_t m, int64_t n, int64_t lda, int64_t ldb,
                          const void *matrix, void *w, int64_t bytes) {
        return libsolver_trsm(LIBSOLVER_D, side, lower, none, unit, m, n, nullptr, matrix, lda, a,
                              ldb, w, bytes, nullptr);
    };
    const int64_t enough = (int64_t)1 << 40;
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 4, 5, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 5, 4, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_RIGHT, 5, 2, 1, 5, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, -1, 2, 5, 5, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, -2, 5, 5, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 5, 5, nullptr, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 5, 5, a, nullptr, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 5, 5, a, memory + 8, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 5, 2, 5, 5, a, a,
                          libsolver_trsm_workspace_bytes(5, 2) - 1),
                     LIBSOLVER_INVALID);
    assert_int_equal(call((libsolver_side)2, 5, 2, 5, 5, a, a, enough), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_LEFT, 0, 2, 1, 1, nullptr, nullptr, 0), LIBSOLVER_OK);
    assert_int_equal(call(LIBSOLVER_LEFT, 2, 0, 2, 2, nullptr, nullptr, 0), LIBSOLVER_OK);
    libsolver_trsm_prepared p = {};
    assert_int_equal(libsolver_trsm_prepare(LIBSOLVER_D, LIBSOLVER_LEFT, lower, none, unit, 4, a, 4,
                                            a, 8, 0, nullptr, &p),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_trsm_prepare(LIBSOLVER_D, LIBSOLVER_LEFT, lower, none, unit, 4, a, 4,
                                            a, enough, NAN, nullptr, &p),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_trsm_solve(nullptr, 1, nullptr, a, 4, a, enough, nullptr),
                     LIBSOLVER_INVALID);
    p.n = 4;
    assert_int_equal(libsolver_trsm_solve(&p, 1, nullptr, a, 4, a, enough, nullptr),
                     LIBSOLVER_INVALID); /* no storage */
    assert_true(libsolver_trsm_workspace_bytes(1000, 9) >= libsolver_trsm_workspace_bytes(999, 8));
    assert_int_equal(libsolver_trsm_prepare_bytes(LIBSOLVER_Z, 0), 0);
    assert_int_equal(libsolver_trsm_workspace_init(nullptr, 4096, nullptr), LIBSOLVER_INVALID);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    signal(SIGTERM, say_current);
    small_only = argc > 1 && strcmp(argv[1], "small") == 0;
    only_type = argc > 2 ? argv[2][0] : 'd';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_has_a_small_backward_error),
        cmocka_unit_test(a_block_that_grows_is_substituted_with),
        cmocka_unit_test(every_run_gives_the_same_bits),
        cmocka_unit_test(calls_are_captured_in_a_graph_and_replayed),
        cmocka_unit_test(alpha_of_zero_clears_what_is_not_a_number),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(large_orders_have_a_small_backward_error),
    };
    const struct CMUnitTest few[] = {tests[0], tests[1], tests[2]};
    return small_only ? cmocka_run_group_tests(few, nullptr, nullptr)
                      : cmocka_run_group_tests(tests, nullptr, nullptr);
}
