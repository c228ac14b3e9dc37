/* test/dense/test_trsv.cu: dense triangular solves on the GPU against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_trsv            everything but what follows
 *        test_trsv beyond     entries beyond two to the 31, which takes 14 GB of the device's
 *                             memory: skipped where there is less
 *        test_trsv small T    every form on the sizes that a sanitizer is run on, for the type T:
 *                             s, d, c or z */
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
static char current[160];

static void say_current(int)
{
    const ssize_t written = write(STDOUT_FILENO, current, strlen(current));
    _exit(written < 0 ? 2 : 1);
}

static bool small_only;
static char only_type; /* with small_only */

static const libsolver_storage uplos[] = {LIBSOLVER_LOWER, LIBSOLVER_UPPER};
static const libsolver_transpose transposes[] = {LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_TRANSPOSE,
                                                 LIBSOLVER_CONJUGATE_TRANSPOSE};
static const libsolver_diagonal diagonals[] = {LIBSOLVER_NON_UNIT, LIBSOLVER_UNIT};

struct workspace {
    int64_t bytes;
    device_array<char> memory;
    explicit workspace(int64_t n) : bytes(libsolver_trsv_workspace_bytes(n)), memory((size_t)bytes)
    {
        assert_int_equal(libsolver_trsv_workspace_init(memory.p, bytes, nullptr), LIBSOLVER_OK);
    }
};

template <typename T> struct one_case {
    triangle_case c;
    int64_t n, lda, incx;
    std::vector<T> a, b, expected;
    device_array<T> da, dx;

    one_case(triangle_case c, int64_t n, int64_t lda, int64_t incx, uint64_t seed)
        : c(c), n(n), lda(lda), incx(incx), a(random_triangle<T>(c, n, lda, seed)),
          b((size_t)((n > 0 ? n - 1 : 0) * std::llabs(incx) + 1), not_a_number<T>()), da(a),
          dx(b.size())
    {
        random_numbers g = {seed ^ 0x5555};
        for (int64_t i = 0; i < n; i++)
            b[(size_t)(i * std::llabs(incx))] = random_entry<T>(g);
        expected = b;
        plain_trsv(c, n, a.data(), lda, expected.data(), incx);
    }
    /* Before a call whose result is checked. */
    void begin(const char *what, int detail)
    {
        snprintf(current, sizeof current,
                 "stopped in %s %s %d: uplo %d trans %d diag %d n %lld lda %lld incx %lld\n",
                 type_of<T>::name, what, detail, c.uplo, c.trans, c.diag, (long long)n,
                 (long long)lda, (long long)incx);
        dx.put(b);
    }
    void check(libsolver_status status, const char *what, int detail)
    {
        std::vector<T> x(b.size());
        CUDA_OK(cudaDeviceSynchronize());
        dx.get(x);
        const double error = difference(n, x.data(), expected.data(), incx);
        if (status != LIBSOLVER_OK || !(error <= tolerance<T>(n))) {
            printf("%s %s %d: uplo %d trans %d diag %d n %lld lda %lld incx %lld: status %d, error "
                   "%g\n",
                   type_of<T>::name, what, detail, c.uplo, c.trans, c.diag, (long long)n,
                   (long long)lda, (long long)incx, status, error);
            fail();
        }
        const int64_t step = std::llabs(incx);
        for (int64_t i = 0; i < (int64_t)x.size(); i++) /* nothing between the entries was written
                                                         */
            if (i % step != 0 && memcmp(&x[(size_t)i], &b[(size_t)i], sizeof(T)) != 0)
                fail_msg("%s %s: gap %lld was written", type_of<T>::name, what, (long long)i);
    }
    void solve(workspace &w, const libsolver_trsv_options &o)
    {
        const int form =
            (int)(1000 * o.form + 100 * o.cache + 10 * (o.invert_from > 0) + o.block / 32 % 10);
        begin("form", form);
        check(libsolver_trsv(type_of<T>::value, c.uplo, c.trans, c.diag, n, da.p, lda, dx.p, incx,
                             w.memory.p, w.bytes, &o, nullptr),
              "form", form);
    }
    void prepared(workspace &w)
    {
        const int64_t bytes = libsolver_trsv_prepare_bytes(type_of<T>::value, n);
        device_array<char> storage((size_t)bytes);
        /* NaNs wherever preparation leaves something out */
        CUDA_OK(cudaMemset(storage.p, 0xff, (size_t)bytes));
        libsolver_trsv_prepared p;
        assert_int_equal(libsolver_trsv_prepare(type_of<T>::value, c.uplo, c.trans, c.diag, n, da.p,
                                                lda, storage.p, bytes, 0, nullptr, &p),
                         LIBSOLVER_OK);
        assert_true(n == 0 || p.block > 0);
        for (int run = 0; run < (small_only ? 1 : 2); run++) {
            begin("prepared", run);
            check(libsolver_trsv_solve(&p, dx.p, incx, w.memory.p, w.bytes, nullptr), "prepared",
                  run);
        }
    }
};

static std::vector<libsolver_trsv_options> forms_for(int64_t n)
{
    std::vector<libsolver_trsv_options> list;
    const auto add = [&](libsolver_trsv_form form, libsolver_trsv_cache cache, int64_t from,
                         int64_t block = 0) {
        libsolver_trsv_options o = libsolver_trsv_default_options();
        o.form = form;
        o.cache = cache;
        o.invert_from = from;
        o.block = block;
        list.push_back(o);
    };
    add(LIBSOLVER_TRSV_AUTO, LIBSOLVER_CACHE_AHEAD, 0);
    for (int f = LIBSOLVER_TRSV_SHARED; f <= LIBSOLVER_TRSV_PANELS && n <= 128; f++)
        add((libsolver_trsv_form)f, LIBSOLVER_CACHE_AHEAD, 0);
    if (n <= 128)
        add(LIBSOLVER_TRSV_WARP, LIBSOLVER_CACHE_AHEAD, 0);
    for (int64_t block : {0, 32, 64, 96, 256, 1024})
        add(LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_CACHE_AHEAD, 0, block);
    add(LIBSOLVER_TRSV_GRID, LIBSOLVER_CACHE_AHEAD, 0);
    list.back().scale_from = 0;
    add(LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_CACHE_AHEAD, 0);
    list.back().scale_from = 1;
    for (int cache = LIBSOLVER_CACHE_AHEAD; cache <= LIBSOLVER_CACHE_REGISTERS; cache++)
        for (int64_t from = 0; from < 3; from++) {
            add(LIBSOLVER_TRSV_GRID, (libsolver_trsv_cache)cache, from == 2 ? INT64_MAX : from);
            add(LIBSOLVER_TRSV_CLUSTER, (libsolver_trsv_cache)cache, from == 2 ? INT64_MAX : from);
            add(LIBSOLVER_TRSV_COUNTER, (libsolver_trsv_cache)cache, from == 2 ? INT64_MAX : from);
        }
    return list;
}

template <typename T> void every_variant(int64_t n, workspace &w, bool all_forms)
{
    int turn = (int)n, variant = 0;
    for (libsolver_storage uplo : uplos)
        for (libsolver_transpose trans : transposes)
            for (libsolver_diagonal diag : diagonals) {
                if (small_only && variant++ % 6 != n % 6) /* two of the twelve */
                    continue;
                const int64_t incs[] = {1, -1, 3, -2};
                one_case<T> p({uplo, trans, diag}, n, (n > 0 ? n : 1) + turn % 4, incs[turn % 4],
                              (uint64_t)(n * 100 + turn));
                turn++;
                const std::vector<libsolver_trsv_options> forms = forms_for(n);
                for (size_t f = 0; f < forms.size(); f++)
                    if (all_forms || f == 0 || (f + (size_t)turn) % 5 == 0)
                        p.solve(w, forms[f]);
                p.prepared(w);
            }
}

static void every_form_and_variant_matches_plain_loops(void **)
{
    workspace w(1100);
    std::vector<int64_t> sizes;
    for (int64_t n = 0; n <= 130; n++)
        if (!small_only || n <= 3 || (n <= 32 && n % 8 <= 1) || n % 64 <= 1 || n == 40)
            sizes.push_back(n);
    for (int64_t n : {255, 256, 257, 300, 511, 513, 640, 1000, 1024, 1025})
        if (!small_only || n <= 300)
            sizes.push_back(n);
    for (int64_t n : sizes) {
        if (!small_only || only_type == 'd')
            every_variant<double>(n, w, !small_only && (n <= 65 || n % 64 <= 1));
        if (!small_only || only_type == 's')
            every_variant<float>(n, w, false);
        if (!small_only || only_type == 'z')
            every_variant<complex_d>(n, w, false);
        if (!small_only || only_type == 'c')
            every_variant<complex_s>(n, w, false);
    }
}

template <typename T> void large(int64_t n, triangle_case c, int64_t incx, workspace &w)
{
    one_case<T> p(c, n, n + 3, incx, (uint64_t)n);
    libsolver_trsv_options o = libsolver_trsv_default_options();
    for (libsolver_trsv_form form :
         {LIBSOLVER_TRSV_AUTO, LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_TRSV_GRID, LIBSOLVER_TRSV_CLUSTER,
          LIBSOLVER_TRSV_COUNTER}) {
        o.form = form;
        p.solve(w, o);
    }
    p.prepared(w);
}

static void large_orders_match_plain_loops(void **)
{
    workspace w(20000);
    for (int64_t n : {1500, 2048, 3333, 4097, 8192}) {
        large<double>(n, {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT}, 1, w);
        large<double>(n, {LIBSOLVER_LOWER, LIBSOLVER_TRANSPOSE, LIBSOLVER_UNIT}, -1, w);
        large<float>(n, {LIBSOLVER_UPPER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_UNIT}, 2, w);
        large<complex_s>(n, {LIBSOLVER_UPPER, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_NON_UNIT}, 1,
                         w);
        large<complex_d>(n, {LIBSOLVER_LOWER, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_NON_UNIT}, 1,
                         w);
    }
    large<double>(20000, {LIBSOLVER_UPPER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT}, 1, w);
    large<float>(20000, {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT}, 1, w);
}

constexpr int64_t BEYOND_ORDER = 200, BEYOND_LDA = 1 << 24; /* 3.4e9 floats = 13 GB */

static void entries_beyond_two_to_the_31_are_reached(void **)
{
    const int64_t n = BEYOND_ORDER, lda = BEYOND_LDA;
    for (libsolver_transpose trans : transposes) {
        const triangle_case c = {LIBSOLVER_UPPER, trans, LIBSOLVER_NON_UNIT};
        const std::vector<float> a = random_triangle<float>(c, n, n, 77);
        std::vector<float> x((size_t)n, 1.f), expected = x;
        plain_trsv(c, n, a.data(), n, expected.data(), 1);
        device_array<float> da((size_t)lda * n), dx((size_t)n);
        workspace w(n);
        CUDA_OK(cudaMemcpy2D(da.p, (size_t)lda * sizeof(float), a.data(), (size_t)n * sizeof(float),
                             (size_t)n * sizeof(float), (size_t)n, cudaMemcpyHostToDevice));
        libsolver_trsv_options o = libsolver_trsv_default_options();
        for (libsolver_trsv_form form : {LIBSOLVER_TRSV_LAUNCHES, LIBSOLVER_TRSV_GRID,
                                         LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_TRSV_COUNTER}) {
            o.form = form;
            dx.put(std::vector<float>((size_t)n, 1.f));
            assert_int_equal(libsolver_trsv(LIBSOLVER_S, c.uplo, c.trans, c.diag, n, da.p, lda,
                                            dx.p, 1, w.memory.p, w.bytes, &o, nullptr),
                             LIBSOLVER_OK);
            dx.get(x);
            assert_true(difference(n, x.data(), expected.data(), 1) <= tolerance<float>(n));
        }
    }
}

/* 1000 runs give the same bits while another stream keeps solving: also two grids at once, neither
 * wholly resident. */
static void every_run_gives_the_same_bits_under_load(void **)
{
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT};
    const int runs = small_only ? 3 : 1000;
    cudaStream_t stream, other;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    one_case<double> busy(c, small_only ? 300 : 9000, small_only ? 300 : 9000, 1, 3);
    workspace busy_work(busy.n);
    for (int64_t n : {100, 900, 2000}) {
        one_case<double> p(c, n, n, 1, 9);
        workspace w(n);
        const int64_t bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, n);
        device_array<char> storage((size_t)bytes);
        libsolver_trsv_prepared prepared;
        assert_int_equal(libsolver_trsv_prepare(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n,
                                                storage.p, bytes, 0, stream, &prepared),
                         LIBSOLVER_OK);
        libsolver_trsv_options o = libsolver_trsv_default_options();
        for (int kind = 0; kind < 4; kind++) { /* automatic, grid, prepared, counter */
            std::vector<double> first((size_t)n), x((size_t)n);
            o.form = kind == 1   ? LIBSOLVER_TRSV_GRID
                     : kind == 3 ? LIBSOLVER_TRSV_COUNTER
                                 : LIBSOLVER_TRSV_AUTO;
            p.begin("under load, kind", kind);
            for (int run = 0; run < runs; run++) {
                if (run % 4 == 0)
                    assert_int_equal(libsolver_trsv(LIBSOLVER_D, c.uplo, c.trans, c.diag, busy.n,
                                                    busy.da.p, busy.lda, busy.dx.p, 1,
                                                    busy_work.memory.p, busy_work.bytes, nullptr,
                                                    other),
                                     LIBSOLVER_OK);
                CUDA_OK(cudaMemcpyAsync(p.dx.p, p.b.data(), (size_t)n * 8, cudaMemcpyHostToDevice,
                                        stream));
                const libsolver_status s =
                    kind == 2
                        ? libsolver_trsv_solve(&prepared, p.dx.p, 1, w.memory.p, w.bytes, stream)
                        : libsolver_trsv(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n, p.dx.p,
                                         1, w.memory.p, w.bytes, &o, stream);
                assert_int_equal(s, LIBSOLVER_OK);
                std::vector<double> &to = run == 0 ? first : x;
                CUDA_OK(cudaMemcpyAsync(to.data(), p.dx.p, (size_t)n * 8, cudaMemcpyDeviceToHost,
                                        stream));
                CUDA_OK(cudaStreamSynchronize(stream));
                if (run > 0 && memcmp(x.data(), first.data(), (size_t)n * 8) != 0)
                    fail_msg("n %lld kind %d run %d differs", (long long)n, kind, run);
            }
            assert_true(difference(n, first.data(), p.expected.data(), 1) <= tolerance<double>(n));
        }
        CUDA_OK(cudaDeviceSynchronize());
    }
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
}

static void solves_are_captured_in_a_graph_and_replayed(void **)
{
    const triangle_case c = {LIBSOLVER_UPPER, LIBSOLVER_TRANSPOSE, LIBSOLVER_NON_UNIT};
    for (int64_t n : {90, 700, 1500}) {
        one_case<double> p(c, n, n, 1, 21);
        workspace w(n);
        const int64_t bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, n);
        device_array<char> storage((size_t)bytes);
        libsolver_trsv_prepared prepared;
        assert_int_equal(libsolver_trsv_prepare(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n,
                                                storage.p, bytes, 0, nullptr, &prepared),
                         LIBSOLVER_OK);
        for (int stored = 0; stored < 2; stored++) {
            const captured_graph graph([&](cudaStream_t stream) {
                assert_int_equal(
                    stored ? libsolver_trsv_solve(&prepared, p.dx.p, 1, w.memory.p, w.bytes, stream)
                           : libsolver_trsv(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n,
                                            p.dx.p, 1, w.memory.p, w.bytes, nullptr, stream),
                    LIBSOLVER_OK);
            });
            for (int run = 0; run < 3; run++) {
                p.dx.put(p.b);
                graph.launch();
                p.check(LIBSOLVER_OK, stored ? "graph, stored" : "graph", run);
            }
        }
    }
}

/* Where x(k) is the first that the zero spoils: rows before it are right, it and what depends on it
 * are not finite. */
static void a_zero_pivot_spoils_only_what_depends_on_it(void **)
{
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_NON_UNIT};
    for (int64_t n : {20, 100, 300, 1500}) {
        one_case<double> p(c, n, n, 1, 5);
        const int64_t k = n * 2 / 3;
        p.a[(size_t)(k * (n + 1))] = 0;
        p.da.put(p.a);
        workspace w(n);
        const int64_t bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, n);
        device_array<char> storage((size_t)bytes);
        libsolver_trsv_prepared prepared;
        assert_int_equal(libsolver_trsv_prepare(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n,
                                                storage.p, bytes, 0, nullptr, &prepared),
                         LIBSOLVER_OK);
        assert_int_equal(prepared.block, 0);
        const std::vector<libsolver_trsv_options> forms = forms_for(n);
        for (size_t f = 0; f <= forms.size(); f++) {
            std::vector<double> x((size_t)n);
            p.begin("zero pivot, form", f < forms.size() ? forms[f].form : -1);
            assert_int_equal(f < forms.size() ? libsolver_trsv(LIBSOLVER_D, c.uplo, c.trans, c.diag,
                                                               n, p.da.p, n, p.dx.p, 1, w.memory.p,
                                                               w.bytes, &forms[f], nullptr)
                                              : libsolver_trsv_solve(&prepared, p.dx.p, 1,
                                                                     w.memory.p, w.bytes, nullptr),
                             LIBSOLVER_OK);
            p.dx.get(x);
            assert_true(difference(k, x.data(), p.expected.data(), 1) <= tolerance<double>(n));
            for (int64_t i = k; i < n; i++)
                assert_false(std::isfinite(x[(size_t)i]));
            assert_true(std::isinf(x[(size_t)k]));
        }
    }
}

/* L(i,j) = -1 below a unit diagonal: inv(L) has entries of 2^(n-2), the guard must refuse and
 * substitution is exact while the numbers are integers below 2^53. */
static void a_triangle_that_grows_is_solved_by_substitution(void **)
{
    const triangle_case c = {LIBSOLVER_LOWER, LIBSOLVER_NO_TRANSPOSE, LIBSOLVER_UNIT};
    for (int64_t n : {40, 128, 500}) {
        one_case<double> p(c, n, n, 1, 5);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j + 1; i < n; i++)
                p.a[(size_t)(i + j * n)] = i - j < 40 ? -1 : 0;
        for (int64_t i = 0; i < n; i++)
            p.expected[(size_t)i] = (double)(i % 7 - 3);
        for (int64_t i = 0; i < n; i++) {
            double sum = p.expected[(size_t)i];
            for (int64_t j = 0; j < i; j++)
                sum += p.a[(size_t)(i + j * n)] * p.expected[(size_t)j];
            p.b[(size_t)i] = sum;
        }
        p.da.put(p.a);
        workspace w(n);
        const int64_t bytes = libsolver_trsv_prepare_bytes(LIBSOLVER_D, n);
        device_array<char> storage((size_t)bytes);
        libsolver_trsv_prepared prepared;
        assert_int_equal(libsolver_trsv_prepare(LIBSOLVER_D, c.uplo, c.trans, c.diag, n, p.da.p, n,
                                                storage.p, bytes, 0, nullptr, &prepared),
                         LIBSOLVER_OK);
        assert_int_equal(prepared.block, 0);
        assert_true(prepared.growth > 1e9);
        for (const libsolver_trsv_options &o : forms_for(n))
            p.solve(w, o);
        p.dx.put(p.b);
        p.check(libsolver_trsv_solve(&prepared, p.dx.p, 1, w.memory.p, w.bytes, nullptr), "refused",
                0);
    }
}

static void wrong_arguments_are_refused(void **)
{
    double *a = (double *)16, *x = (double *)16;
    const libsolver_storage lower = LIBSOLVER_LOWER;
    const libsolver_transpose none = LIBSOLVER_NO_TRANSPOSE;
    const libsolver_diagonal unit = LIBSOLVER_UNIT;
    const auto call = [&](int type, int uplo, int trans, int diag, int64_t n, void *m, int64_t lda,
                          void *v, int64_t incx) {
        return libsolver_trsv((libsolver_type)type, (libsolver_storage)uplo,
                              (libsolver_transpose)trans, (libsolver_diagonal)diag, n, m, lda, v,
                              incx, nullptr, 0, nullptr, nullptr);
    };
    assert_int_equal(call(9, lower, none, unit, 2, a, 2, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, LIBSOLVER_FULL, none, unit, 2, a, 2, x, 1),
                     LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, 3, unit, 2, a, 2, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, 2, 2, a, 2, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, -1, a, 2, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 2, a, 1, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 2, a, 2, x, 0), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 2, nullptr, 2, x, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 2, a, 2, nullptr, 1), LIBSOLVER_INVALID);
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 129, a, 129, x, 1),
                     LIBSOLVER_INVALID); /* no workspace */
    assert_int_equal(call(LIBSOLVER_D, lower, none, unit, 0, nullptr, 1, nullptr, 1), LIBSOLVER_OK);
    for (int form :
         /* no workspace, or too large */
         {LIBSOLVER_TRSV_CLUSTER, LIBSOLVER_TRSV_GRID, LIBSOLVER_TRSV_COUNTER,
          LIBSOLVER_TRSV_WARP}) {
        libsolver_trsv_options o = libsolver_trsv_default_options();
        o.form = (libsolver_trsv_form)form;
        assert_int_equal(libsolver_trsv(LIBSOLVER_D, lower, none, unit, 1025, a, 1025, x, 1,
                                        nullptr, 0, &o, nullptr),
                         LIBSOLVER_INVALID);
    }
    for (int64_t block : {-32, 40, 1056}) { /* columns of a launch: 32, 64 ... 1024 */
        libsolver_trsv_options o = libsolver_trsv_default_options();
        o.form = LIBSOLVER_TRSV_LAUNCHES;
        o.block = block;
        assert_int_equal(libsolver_trsv(LIBSOLVER_D, lower, none, unit, 4, a, 4, x, 1, nullptr, 0,
                                        &o, nullptr),
                         LIBSOLVER_INVALID);
    }
    assert_int_equal(libsolver_trsv_strided_batched(LIBSOLVER_D, lower, none, unit, 4, a, 4, 16, x,
                                                    1, 4, -1, nullptr),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_trsv_strided_batched(LIBSOLVER_D, lower, none, unit, 4, a, 4, 16, x,
                                                    1, 4, 0, nullptr),
                     LIBSOLVER_OK);
    assert_int_equal(libsolver_trsv_batched(LIBSOLVER_D, lower, none, unit, 4, nullptr, 4, nullptr,
                                            1, 2, nullptr),
                     LIBSOLVER_INVALID);
    libsolver_trsv_prepared p;
    assert_int_equal(libsolver_trsv_prepare(LIBSOLVER_D, lower, none, unit, 4, a, 4, x, 8, 0,
                                            nullptr, &p),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_trsv_solve(nullptr, x, 1, nullptr, 0, nullptr), LIBSOLVER_INVALID);
    assert_true(libsolver_trsv_workspace_bytes(1000) >= libsolver_trsv_workspace_bytes(999));
    assert_int_equal(libsolver_trsv_prepare_bytes(LIBSOLVER_Z, 0), 0);
}

static int run_beyond()
{
    size_t available, total;
    CUDA_OK(cudaMemGetInfo(&available, &total));
    if (available < (size_t)(BEYOND_LDA * BEYOND_ORDER) * sizeof(float) + ((size_t)1 << 30))
        return without("room for 14 GB on the GPU");
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_beyond_two_to_the_31_are_reached)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}

int main(int argc, char **argv)
{
    if (!gpu_present())
        return without_a_gpu();
    signal(SIGTERM, say_current);
    if (argc > 1 && strcmp(argv[1], "beyond") == 0)
        return run_beyond();
    small_only = argc > 1 && strcmp(argv[1], "small") == 0;
    only_type = argc > 2 ? argv[2][0] : 'd';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(every_form_and_variant_matches_plain_loops),
        cmocka_unit_test(a_zero_pivot_spoils_only_what_depends_on_it),
        cmocka_unit_test(a_triangle_that_grows_is_solved_by_substitution),
        cmocka_unit_test(solves_are_captured_in_a_graph_and_replayed),
        cmocka_unit_test(large_orders_match_plain_loops),
        cmocka_unit_test(every_run_gives_the_same_bits_under_load),
    };
    const struct CMUnitTest few[] = {tests[1], tests[2], tests[3], tests[4], tests[6]};
    if (small_only && only_type != 'd') {
        const struct CMUnitTest forms[] = {tests[1]};
        return cmocka_run_group_tests(forms, nullptr, nullptr);
    }
    return small_only ? cmocka_run_group_tests(few, nullptr, nullptr)
                      : cmocka_run_group_tests(tests, nullptr, nullptr);
}
