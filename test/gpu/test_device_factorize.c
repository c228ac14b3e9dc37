/* test/gpu/test_device_factorize.c: factorizations on a device against the CPU's, of one precision
 * (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_factorize [small]      small: sizes and repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/factor/device_factorizer.h"
#include "gpu_test.h"
#include "problems.h"
#include "scaled_system.h"
#include <stdlib.h>

static int small;

/* A program and what it works on. */
typedef struct on_device {
    cpu_system s;
    factor_program g;
    device_factorizer f;
    factorizer_arguments places;
    int64_t away;  /* scalars before what the program uses of panels and workspace */
    scalar *panel; /* on the host */
} on_device;

static void *put(const void *from, size_t bytes)
{
    void *to;
    CUDA(cudaMalloc(&to, bytes + 16));
    if (from && bytes > 0)
        CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static size_t panel_bytes(const on_device *t)
{
    return sizeof(scalar) * (size_t)(t->g.panel_scalars + (t->s.signs ? 2 * t->g.n : 0));
}

static scalar *device_panel(const on_device *t)
{
    return (scalar *)t->places.panel + t->away;
}

/* Moves all that the program writes by so many scalars. */
static void move_places(factor_program *g, int64_t scalars)
{
    for (int32_t q = 0; q < g->fronts; q++) {
        g->front[q].panel += scalars;
        g->front[q].block += scalars;
        g->front[q].inverse += (int32_t)(scalars / (FACTOR_TILE * FACTOR_TILE));
    }
    for (int64_t q = 0; q < g->children; q++)
        g->child[q].block += scalars;
}

static void put_values(const on_device *t)
{
    CUDA(cudaMemcpy((void *)t->places.values, t->s.values,
                    sizeof(scalar) * (size_t)t->s.a.start[t->s.a.n], cudaMemcpyHostToDevice));
}

/* Of a system that is there, all places `away` scalars behind the begins of memory. */
static void open_device_at(on_device *t, const factor_tuning *tuning, int64_t away)
{
    message why = {0};
    t->g = program_of(&t->s, tuning);
    t->f = (device_factorizer){0};
    t->away = away;
    t->g.arena_scalars += away;
    t->g.inverses += away / (FACTOR_TILE * FACTOR_TILE);
    move_places(&t->g, away);
    const factor_pattern p = fronts_of(&t->s);
    if (device_factorizer_load(&t->f, &t->g, &p, SCALAR_TYPE, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    assert_int_equal(t->f.tables.bytes + t->f.workspace.bytes,
                     device_factorizer_bytes(&t->g, &p, SCALAR_TYPE));
    t->panel = malloc(panel_bytes(t) + 16);
    assert_non_null(t->panel);
    t->places =
        (factorizer_arguments){.values = put(NULL, sizeof(scalar) * (size_t)t->s.a.start[t->s.a.n]),
                               .panel = put(NULL, panel_bytes(t) + sizeof(scalar) * (size_t)away),
                               .doubt_level = 0x1p-6};
    move_places(&t->g, -away); /* on the host they are where panels are compared */
    put_values(t);
}

static void open_device(on_device *t, const factor_tuning *tuning)
{
    open_device_at(t, tuning, 0);
}

/* A factorization into panels that held NaN before. */
static cholesky_outcome factorize(on_device *t)
{
    cholesky_outcome o = {0};
    message why = {0};
    CUDA(cudaMemset(device_panel(t), 0xff, panel_bytes(t)));
    CUDA(cudaDeviceSynchronize());
    if (device_factorizer_launch(&t->f, &t->g, &t->places, &why) != LIBSOLVER_OK ||
        device_factorizer_finish(&t->f, &t->g, &o, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    CUDA(cudaMemcpy(t->panel, device_panel(t), panel_bytes(t), cudaMemcpyDeviceToHost));
    return o;
}

static void close_device(on_device *t)
{
    CUDA(cudaFree((void *)t->places.values));
    CUDA(cudaFree(t->places.panel));
    device_factorizer_drop(&t->f);
    factor_program_free(&t->s.env.memory, &t->g);
    free(t->panel);
    system_free(&t->s);
}

/* The scale factors, to be freed. */
static real *scale_of(const on_device *t)
{
    const size_t bytes = sizeof(real) * (size_t)t->g.n;
    real *scale = malloc(bytes + 16);
    assert_non_null(scale);
    CUDA(cudaMemcpy(scale, t->f.scale, bytes, cudaMemcpyDeviceToHost));
    return scale;
}

/* Scale factors are the CPU's. */
static void check_scale(const on_device *t)
{
    const size_t bytes = sizeof(real) * (size_t)t->g.n;
    real *mine = scale_of(t), *theirs = malloc(bytes + 16);
    message why = {0};
    assert_non_null(theirs);
    assert_int_equal(cpu->export_scaling(t->s.numeric, theirs, &why), LIBSOLVER_OK);
    assert_memory_equal(mine, theirs, bytes);
    free(mine);
    free(theirs);
}

/* L is the CPU's, and so are the counts; the same bits again, and by levels. */
static void check(on_device *t, const factor_tuning *tuning, int seed)
{
    open_device(t, tuning);
    scalar *first = malloc(panel_bytes(t) + 16);
    assert_non_null(first);
    const cholesky_outcome o = factorize(t);
    assert_int_equal(o.failed, t->g.n);
    assert_int_equal(o.nonpositive, t->g.n);
    assert_true(o.is_equilibrated);
    check_scale(t);
    assert_int_equal(o.uncertain, t->s.report.small);
    if (t->g.n > 0 &&
        !(fabs(o.smallest - t->s.report.smallest) <= 1000 * (double)EPS * t->s.report.smallest))
        fail_msg("seed %d: the least pivot is %g, %g on the CPU", seed, o.smallest,
                 t->s.report.smallest);
    compare_panels(&t->s, &t->g, t->panel, seed);
    memcpy(first, t->panel, panel_bytes(t));
    for (int by_levels = 0; by_levels < 2; by_levels++) {
        t->places.by_levels = by_levels;
        factorize(t);
        compare_bits(&t->g, first, t->panel);
    }
    free(first);
    close_device(t);
}

static void random_systems(void **state)
{
    (void)state;
    for (int seed = 0; seed < 120; seed += small ? 7 : 1) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = seed < 60 ? seed : random_below(&r, 300);
        positive_system(&t.s, &r, random_pattern(&r, n), seed % ORDERS);
        check(&t, tunings + seed % TUNINGS, seed);
    }
}

/* One front of all orders about the sizes of steps, blocks and panels. */
static void dense_fronts(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= (small ? 140 : 1300); n = n < 140 ? n + (small ? 13 : 1) : n + 173) {
        on_device t;
        random_stream r = random_seeded((uint64_t)n);
        positive_system(&t.s, &r, problem_complete(n), NATURAL);
        check(&t, tunings + n % 2, n);
    }
}

static void grids(void **state)
{
    (void)state;
    const int32_t side[][3] = {{30, 30, 1}, {700, 1, 1}, {12, 12, 12}, {200, 200, 1}, {24, 24, 24}};
    for (int k = 0; k < (small ? 1 : 5); k++)
        for (int tuning = 0; tuning < TUNINGS; tuning++) {
            on_device t;
            random_stream r = random_seeded((uint64_t)k);
            positive_system(&t.s, &r, problem_grid(side[k][0], side[k][1], side[k][2]),
                            BY_DISSECTION);
            check(&t, k < 3 ? tunings + tuning : NULL, tuning);
        }
}

/* Very many children, in groups. */
static void wide_trees(void **state)
{
    (void)state;
    for (int seed = 0; seed < (small ? 2 : 12); seed++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const pattern a = wide_pattern(small ? 150 : 3000, 3 + seed % 3);
        system_of_kind(&t.s, &r, a, (seed + seed / 6) % SYSTEM_KINDS);
        check(&t, seed % 6 ? tunings + seed % 6 % TUNINGS : NULL, seed);
    }
}

/* One column each, next to each other: a warp's work with the sum of their blocks. */
static void groups_of_leaves(void **state)
{
    (void)state;
    for (int seed = 0; seed < (small ? 6 : 40); seed++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t leaves = 30 + random_below(&r, small ? 150 : 4000),
                      hubs = 1 + random_below(&r, 60);
        const pattern a = leaves_pattern(&r, leaves, hubs);
        system_of_kind(&t.s, &r, a, seed % SYSTEM_KINDS);
        check(&t, seed % 5 > 1 ? tunings + seed % 5 - 1 : NULL, seed);
    }
}

static int32_t uncertain_at(on_device *t, double doubt_level)
{
    t->places.doubt_level = doubt_level;
    const cholesky_outcome o = factorize(t);
    assert_int_equal(o.failed, t->g.n);
    return o.uncertain;
}

/* Whether a pivot is in doubt is the same on every run, to the last bit of what it is compared
 * with: the level is found at which one more pivot of the hub's is, whose rows are in thousands of
 * fronts. */
static void doubt_has_the_same_bits(void **state)
{
    (void)state;
    on_device t;
    random_stream r = random_seeded(1);
    system_build_quasi_definite(&t.s, &r, wide_pattern(small ? 100 : 4000, 3), 1, NATURAL, 0);
    open_device(&t, NULL);
    double none = 0, some = 1; /* the numbers of pivots in doubt at these levels are not the same */
    const int32_t least = uncertain_at(&t, none);
    assert_true(uncertain_at(&t, some) > least);
    for (double level = .5; level > none && level < some; level = none + (some - none) / 2)
        *(uncertain_at(&t, level) > least ? &some : &none) = level;
    const int32_t other = uncertain_at(&t, some);
    assert_true(other > least);
    for (int k = 0; k < (small ? 4 : 100); k++) {
        t.places.by_levels = k % 2;
        assert_int_equal(uncertain_at(&t, none), least);
        assert_int_equal(uncertain_at(&t, some), other);
    }
    close_device(&t);
}

/* Every other one complex symmetric. */
static int is_hermitian(int number)
{
    return !SCALAR_COMPLEX || number % 2;
}

static void signed_systems(void **state)
{
    (void)state;
    for (int seed = 0; seed < 120; seed += small ? 7 : 1) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = seed < 60 ? seed : random_below(&r, 300);
        system_build_quasi_definite(&t.s, &r, random_pattern(&r, n), is_hermitian(seed / TUNINGS),
                                    seed % ORDERS, 0);
        check(&t, tunings + seed % TUNINGS, seed);
    }
    for (int32_t n = 1; n <= (small ? 140 : 1000); n = n < 140 ? n + (small ? 13 : 1) : n + 173) {
        on_device t;
        random_stream r = random_seeded((uint64_t)n);
        system_build_quasi_definite(&t.s, &r, problem_complete(n), is_hermitian(n / 2), NATURAL, 0);
        check(&t, tunings + n % 2, n);
    }
    for (int k = 0; k < 2 * TUNINGS && !small; k++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)k);
        system_build_quasi_definite(&t.s, &r, problem_grid(12, 12, 12), is_hermitian(k),
                                    BY_DISSECTION, 0);
        check(&t, tunings + k / 2, k);
    }
}

/* A pivot that the CPU puts right is seen, and good values follow upon bad ones. */
static void signs_that_are_not_so(void **state)
{
    (void)state;
    int doubtful = 0;
    for (int seed = 0; seed < (small ? 4 : 60); seed++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = 1 + random_below(&r, 250);
        system_build_quasi_definite(&t.s, &r, random_pattern(&r, n), is_hermitian(seed / TUNINGS),
                                    BY_DEGREE, 1);
        open_device(&t, tunings + seed % TUNINGS);
        assert_int_equal(factorize(&t).failed < n, t.s.report.perturbed > 0);
        doubtful += t.s.report.perturbed > 0;
        for (int32_t j = 0; j < n; j++)
            t.s.values[t.s.a.start[j]] = t.s.signs[j] < 0 ? -300 : 300;
        put_values(&t);
        assert_int_equal(system_factorize(&t.s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(factorize(&t).failed, n);
        compare_panels(&t.s, &t.g, t.panel, seed);
        close_device(&t);
    }
    assert_true(doubtful > 0);
}

/* The first row whose pivot is refused is the CPU's, and good values follow upon bad ones. */
static void breakdowns(void **state)
{
    (void)state;
    for (int seed = 0; seed < (small ? 4 : 60); seed++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = 1 + random_below(&r, 250);
        positive_system(&t.s, &r, random_pattern(&r, n), BY_DEGREE);
        open_device(&t, tunings + seed % TUNINGS);
        int64_t entry;
        scalar good;
        const int32_t row = make_indefinite(&t.s, &r, &entry, &good);
        put_values(&t);
        const cholesky_outcome o = factorize(&t);
        assert_int_equal(o.nonpositive < n ? o.nonpositive : o.failed, row < 0 ? n : row);
        t.s.values[entry] = good;
        put_values(&t);
        assert_int_equal(system_factorize(&t.s, SPD, 0), LIBSOLVER_OK);
        assert_int_equal(factorize(&t).failed, n);
        compare_panels(&t.s, &t.g, t.panel, seed);
        close_device(&t);
    }
}

/* Without scaling, and with entries so large and so small that they are scaled all the same. */
static void unscaled_values(void **state)
{
    (void)state;
    for (int seed = 0; seed < (small ? 4 : 20); seed++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        positive_system(&t.s, &r, random_pattern(&r, 1 + random_below(&r, 120)), BY_DEGREE);
        const int is_extreme = seed % 2;
        for (int64_t e = 0; e < t.s.a.start[t.s.a.n] && is_extreme; e++)
            t.s.values[e] *= (real)ldexp(1, sizeof(real) == 4 ? 62 : 510);
        const backend_options unscaled = {.positive_definite = 1, .scaling = BACKEND_UNSCALED};
        cpu->set_values(t.s.numeric, t.s.values);
        assert_int_equal(cpu->factorize(t.s.numeric, &unscaled, &t.s.report, &t.s.why),
                         LIBSOLVER_OK);
        open_device(&t, tunings + seed % TUNINGS);
        t.places.is_unscaled = 1;
        const cholesky_outcome o = factorize(&t);
        assert_int_equal(o.failed, t.g.n);
        assert_int_equal(o.is_equilibrated, is_extreme);
        check_scale(&t);
        compare_panels(&t.s, &t.g, t.panel, seed);
        close_device(&t);
    }
}

/* A = L L^H, dense, in the lower triangle by columns, with unit rows of L.  From row `weak` on some
 * have a small entry on the diagonal and a large one next to it, so that the inverse of their block
 * grows far more than the scaling of its columns says. */
static void fill_with_growth(cpu_system *s, random_stream *r, int32_t weak)
{
    const int32_t n = s->a.n;
    const long double small_entry = sizeof(real) == 4 ? .1L : .01L;
    const int32_t end = weak + (sizeof(real) == 4 ? 2 : 3);
    scalar *l = calloc((size_t)n * (size_t)n + 1, sizeof(scalar));
    assert_non_null(l);
    for (int32_t i = 0; i < n; i++) {
        long double squares = 0;
        const int is_weak = i >= weak && i<end, follows = i> weak && i <= end;
        for (int32_t j = 0; j < i; j++) {
            l[i + j * n] = random_entry(r) * (real)(follows && j == i - 1 ? 8 : 1 / sqrt(i));
            squares +=
                (long double)scalar_abs(l[i + j * n]) * (long double)scalar_abs(l[i + j * n]);
        }
        l[i + i * n] = (real)(sqrtl(squares + (i == 0)) * (is_weak ? small_entry : 1));
        const real length = (real)sqrtl(squares + (long double)scalar_abs(l[i + i * n]) *
                                                      (long double)scalar_abs(l[i + i * n]));
        for (int32_t j = 0; j <= i; j++)
            l[i + j * n] /= length;
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            wide sum = 0;
            for (int32_t c = 0; c <= j; c++)
                sum += (wide)l[i + c * n] * scalar_conj(l[j + c * n]);
            s->values[s->a.start[j] + i - j] = (scalar)sum;
        }
    free(l);
    make_hermitian(&s->a, s->values);
}

/* Largest |S A S - L L^H| in units of |L||L^H|, of a system that is one front in the natural order.
 */
static double factor_error(const on_device *t)
{
    const factor_front *f = t->g.front;
    const int32_t n = t->g.n;
    const scalar *l = t->panel + f->panel;
    real *scale = scale_of(t);
    double error = 0;
    assert_int_equal(t->g.nodes, 1);
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            wide residual = t->s.values[t->s.a.start[j] + i - j] * scale[i] * scale[j];
            long double size = 0;
            for (int32_t c = 0; c <= j; c++) {
                const scalar x = l[i + (int64_t)c * f->ld], y = l[j + (int64_t)c * f->ld];
                residual -= (wide)x * scalar_conj(y);
                size += (long double)scalar_abs(x) * (long double)scalar_abs(y);
            }
            error = fmax(error, (double)((long double)scalar_abs((scalar)residual) / size));
        }
    free(scale);
    return error;
}

/* L is as accurate as by substitution where inverses of blocks on the diagonal grow. */
static void growing_inverses(void **state)
{
    (void)state;
    for (int seed = 0; seed < (small ? 4 : 40); seed++) {
        static const int32_t sizes[] = {16, 31, 70, 112, 129, 192, 250};
        on_device t;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = sizes[seed % 7];
        positive_system(&t.s, &r, problem_complete(n), NATURAL);
        fill_with_growth(&t.s, &r, n > 80 && seed % 2 ? 73 : 9);
        open_device(&t, tunings + seed / 7 % 2);
        const cholesky_outcome o = factorize(&t);
        assert_int_equal(o.failed, n);
        const double error = factor_error(&t) / (double)EPS;
        if (!(error <= 16))
            fail_msg("seed %d, n %d: the error of L is %g roundoffs", seed, n, error);
        close_device(&t);
    }
}

/* Panels, contribution blocks and inverses more than 2^31 scalars behind the begin of their memory.
 */
static void far_places(void **state)
{
    (void)state;
    const int64_t away = ((int64_t)1 << 31) + 5 * FACTOR_TILE * FACTOR_TILE;
    if (small || sizeof(scalar) > 8) /* three times as many scalars: 52 GB for eight bytes each */
        skip();
    for (int tuning = 0; tuning < 2; tuning++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)tuning);
        positive_system(&t.s, &r, problem_grid(12, 12, 12), BY_DISSECTION);
        open_device_at(&t, tunings + tuning, away);
        assert_int_equal(factorize(&t).failed, t.g.n);
        compare_panels(&t.s, &t.g, t.panel, tuning);
        close_device(&t);
    }
}

/* A launch whose blocks have no patience is given up and says so; the next one is as ever. */
static void no_patience(void **state)
{
    (void)state;
    on_device t;
    cholesky_outcome o;
    message why = {0};
    random_stream r = random_seeded(1);
    if (small)
        skip();
    positive_system(&t.s, &r, problem_grid(24, 24, 24), BY_DISSECTION);
    open_device(&t, NULL);
    t.places.patience = 1e-9;
    assert_int_equal(device_factorizer_launch(&t.f, &t.g, &t.places, &why), LIBSOLVER_OK);
    assert_int_equal(device_factorizer_finish(&t.f, &t.g, &o, &why), LIBSOLVER_CUDA);
    assert_non_null(strstr(why.text, "waited 1e-09 s"));
    t.places.patience = 0;
    assert_int_equal(factorize(&t).failed, t.g.n);
    compare_panels(&t.s, &t.g, t.panel, 0);
    close_device(&t);
}

/* Programs one after the other in the same memory, larger and smaller. */
static void other_programs(void **state)
{
    (void)state;
    device_factorizer kept = {0};
    for (int k = 0; k < 6; k++) {
        on_device t;
        random_stream r = random_seeded((uint64_t)k);
        positive_system(&t.s, &r, problem_grid(k % 2 ? 9 : 25, 20, 1), BY_DISSECTION);
        open_device(&t, tunings + 2);
        device_factorizer_drop(&t.f);
        t.f = kept;
        const factor_pattern p = fronts_of(&t.s);
        assert_int_equal(device_factorizer_load(&t.f, &t.g, &p, SCALAR_TYPE, NULL), LIBSOLVER_OK);
        assert_int_equal(t.f.allocations, 2); /* the first is the largest */
        assert_int_equal(factorize(&t).failed, t.g.n);
        compare_panels(&t.s, &t.g, t.panel, k);
        kept = t.f;
        t.f = (device_factorizer){0};
        close_device(&t);
    }
    device_factorizer_drop(&kept);
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems),
        cmocka_unit_test(dense_fronts),
        cmocka_unit_test(grids),
        cmocka_unit_test(wide_trees),
        cmocka_unit_test(groups_of_leaves),
        cmocka_unit_test(doubt_has_the_same_bits),
        cmocka_unit_test(signed_systems),
        cmocka_unit_test(signs_that_are_not_so),
        cmocka_unit_test(breakdowns),
        cmocka_unit_test(unscaled_values),
        cmocka_unit_test(growing_inverses),
        cmocka_unit_test(far_places),
        cmocka_unit_test(other_programs),
        cmocka_unit_test(no_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
