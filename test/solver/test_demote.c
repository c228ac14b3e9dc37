/* test/solver/test_demote.c: tiny pivots of a factor that become zeros, in one precision
 * (-DPREC_x), against factors that have zeros there
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "solver/cpu/policy/policy.h"
#include "typed_scalar.h"
#include <stdlib.h>
#include <string.h>

/* A tree of dense blocks: each is joined to its parent. */
enum { BLOCKS = 7, COPIES = 32, N = BLOCKS * COPIES };
static const int parent[BLOCKS] = {4, 4, 5, 5, 6, 6, -1};

static pattern tree_pattern(void)
{
    int64_t start[BLOCKS + 1] = {0};
    int32_t row[2 * BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        row[start[b]] = b;
        if (parent[b] >= 0)
            row[start[b] + 1] = parent[b];
        start[b + 1] = start[b] + 1 + (parent[b] >= 0);
    }
    const pattern blocks = {BLOCKS, start, row};
    return problem_blown_up(&blocks, COPIES);
}

/* ---- Singular matrices ----------------------------------------------------------------------- */

/* A = M D M^H (or M D M^T) of small integers, without rounding errors. */
typedef struct product {
    exact m[N][N];
    exact d[N];
    int pair[N]; /* 1 at the first column of a pivot [0 2; 2 0] */
    int64_t zero, positive, negative;
} product;

static exact random_integer(random_stream *r)
{
    const int x = random_below(r, 3) - 1, y = random_below(r, 3) - 1;
    return SCALAR_COMPLEX ? x + y * (exact)I : x;
}

/* zeros: of D, in all blocks, some next to one another.  full: the blocks on the diagonal of M are
 * no triangles, so that eliminating A makes rounding errors. */
static void choose_product(random_stream *r, int hermitian, int zeros, int full, product *a)
{
    memset(a, 0, sizeof *a);
    for (int j = 0; j < N; j++) {
        const int place = j % COPIES;
        for (int i = full ? j - place : j + 1; i < N; i++)
            if ((i / COPIES == j / COPIES || i / COPIES == parent[j / COPIES]) &&
                (full || random_below(r, 8) == 0))
                a->m[i][j] = random_integer(r) / (full ? 1 : 2);
        if (!full)
            a->m[j][j] = 1;
        if (place >= 3 && place % 4 >= 2 && zeros && random_below(r, 2)) {
            a->zero++;
        } else if (place % 8 == 0) {
            a->pair[j] = 1;
            a->positive++;
            a->negative++;
        } else if (place % 8 != 1) {
            const int size = 1 + random_below(r, 2), is_positive = random_below(r, 3) > 0;
            a->d[j] = is_positive ? size : -size;
            if (SCALAR_COMPLEX && !hermitian && random_below(r, 2))
                a->d[j] *= (exact)I;
            a->positive += is_positive;
            a->negative += !is_positive;
        }
    }
    for (int j = 0; j < N && !full; j++)
        if (a->pair[j])
            a->m[j + 1][j] = 0;
    if (SCALAR_COMPLEX && !hermitian) { /* all that is not zero counts as positive */
        a->positive += a->negative;
        a->negative = 0;
    }
}

static scalar *values_of(const pattern *p, int hermitian, const product *a)
{
    scalar *values = nan_scalars(p->start[N]);
    for (int j = 0; j < N; j++)
        for (int64_t q = p->start[j]; q < p->start[j + 1]; q++) {
            const int i = p->row[q];
            exact sum = 0;
            for (int k = 0; k < N; k++) {
                sum += a->m[i][k] * a->d[k] * exact_mirror(a->m[j][k], hermitian);
                if (a->pair[k])
                    sum += 2 * (a->m[i][k] * exact_mirror(a->m[j][k + 1], hermitian) +
                                a->m[i][k + 1] * exact_mirror(a->m[j][k], hermitian));
            }
            values[q] = (scalar)sum;
            assert_true((exact)values[q] == sum);
        }
    return values;
}

/* ---- Factors --------------------------------------------------------------------------------- */

typedef struct case_ {
    cpu_system s;
    numeric *f;
    product a;
    backend_report report;
} case_;

static libsolver_status attempt(case_ *c, double zero_level)
{
    const backend_options options = {.scaling = BACKEND_EQUILIBRATE,
                                     .pivot_threshold = 0.01,
                                     .zero_level = zero_level};
    const libsolver_status status = NAME(cpu_attempt)(c->f, 0, &options, &c->report);
    c->report.small = c->report.uncertain;
    return status;
}

static void make_case(case_ *c, uint64_t seed, int hermitian, int zeros, int full)
{
    random_stream r = random_seeded(seed);
    const pattern p = tree_pattern();
    choose_product(&r, hermitian, zeros, full, &c->a);
    assert_int_equal(system_build_in_order(&c->s, p, values_of(&p, hermitian, &c->a), INDEFINITE,
                                           hermitian, NATURAL),
                     LIBSOLVER_OK);
    c->f = c->s.numeric;
    assert_true(c->f->plan->part.supernodes >= 5);
}

/* All that cpu_demote may change of a factor: D and the columns of L, front by front. */
typedef struct image {
    scalar *v;
    int64_t count;
} image;

static image image_of(const numeric *f)
{
    image x = {nan_scalars(2 * N * N), 0};
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int c = 0; c < v->p; c++) {
            x.v[x.count++] = v->d[c];
            x.v[x.count++] = v->e[c];
            for (int i = c + 1; i < v->m; i++)
                x.v[x.count++] = v->panel[i + (int64_t)c * v->m];
        }
    }
    assert_true(x.count <= 2 * N * N);
    return x;
}

static void assert_bits(const image *x, const numeric *f)
{
    const image now = image_of(f);
    assert_int_equal(now.count, x->count);
    assert_memory_equal(now.v, x->v, (size_t)x->count * sizeof(scalar));
    free(now.v);
}

static int is_same(const image *x, const image *y)
{
    int64_t k = 0;
    while (k < x->count && x->v[k] == y->v[k])
        k++;
    return x->count == y->count && k == x->count;
}

/* All that cpu_demote may change of a report, but for the growths of memory. */
static void assert_counts(const backend_report *found, const backend_report *expected)
{
    assert_int_equal(found->zero, expected->zero);
    assert_int_equal(found->positive, expected->positive);
    assert_int_equal(found->negative, expected->negative);
    assert_int_equal(found->two_by_two, expected->two_by_two);
    assert_int_equal(found->uncertain, expected->uncertain);
    assert_int_equal(found->small, expected->small);
    assert_true(found->smallest == expected->smallest);
}

/* Takes the memory for a closer look.  Whether the factor that is there leaves nothing in doubt. */
static int is_certain(const case_ *c)
{
    backend_report report = c->report;
    report.uncertain++; /* one looks in any case */
    assert_int_equal(NAME(cpu_settle_doubt)(c->f, &report), LIBSOLVER_OK);
    return report.uncertain == 0;
}

/* ---- Tiny pivots ----------------------------------------------------------------------------- */

static int met[3][2]; /* in leaves, between, at roots: of one row, of two */

static scalar random_noise(random_stream *r, int hermitian)
{
    const real size = (real)(1024 + random_below(r, 1024)) * EPS;
    return scalar_diagonal(random_below(r, 2) ? size : -size, hermitian) *
           (SCALAR_COMPLEX && !hermitian ? scalar_of(0.5, 0.5) : 1);
}

/* The zero pivots of rows [i, i + pivots) of front s become such as rounding errors would be: L D
 * L^H is A and a few of them then. */
static void spoil_pivot(numeric *f, int32_t s, int i, int pivots, random_stream *r)
{
    node *v = &f->node[s];
    const int at = f->plan->child[s] < 0 ? 0 : f->plan->part.above[s] >= 0 ? 1 : 2;
    for (int c = i; c < i + pivots; c++) {
        v->d[c] = random_noise(r, f->plan->hermitian);
        for (int k = i + pivots; k < v->m; k++)
            v->panel[k + (int64_t)c * v->m] = random_scalar(r);
    }
    if (pivots == 2)
        v->e[i] = 4 * random_noise(r, 0);
    f->tiny[v->index[i]] = (unsigned char)pivots;
    f->attempt.tiny += pivots;
    met[at][pivots - 1]++;
}

/* This is done with all zero pivots, or with half of them. */
static void spoil_zeros(case_ *c, random_stream *r, int all)
{
    numeric *f = c->f;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        for (int i = 0, pivots; i < v->p; i += pivots) {
            const int is_zero = v->d[i] == 0 && v->e[i] == 0,
                      is_next = i + 1 < v->p && v->d[i + 1] == 0 && v->e[i + 1] == 0;
            pivots = v->e[i] != 0 || (is_zero && is_next && random_below(r, 2)) ? 2 : 1;
            if (is_zero && (all || random_below(r, 2))) {
                spoil_pivot(f, s, i, pivots, r);
                c->report.zero -= pivots;
                c->report.positive += pivots;
                c->report.two_by_two += pivots == 2;
                c->report.uncertain += pivots;
                c->report.small += pivots;
            }
        }
    }
    c->report.smallest = EPS;
    f->zero_pivots = c->report.zero;
}

/* L D L^H = S A S to rounding errors */
static void check_product(const cpu_system *s)
{
    exported x = system_export(s, INDEFINITE);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++) {
            exact rest = x.a[i + (int64_t)j * N];
            long double scale = cabsl(rest);
            for (int k = 0; k <= j; k++) {
                const scalar *l = x.l + (int64_t)k * N;
                exact terms[3] = {(exact)l[i] * x.d[k] * exact_mirror(l[j], s->hermitian)};
                if (k + 1 < N && x.e[k] != 0) {
                    const exact e = x.e[k];
                    terms[1] = l[i + N] * e * exact_mirror(l[j], s->hermitian);
                    terms[2] = l[i] * exact_mirror(e * l[j + N], s->hermitian);
                }
                for (int q = 0; q < 3; q++) {
                    rest -= terms[q];
                    scale += cabsl(terms[q]);
                }
            }
            if (!(cabsl(rest) <= N * ROUNDING * (scale + 1)))
                fail_msg("(S A S - L D L^H)(%d, %d) is %Lg, allowed %Lg", i, j, cabsl(rest),
                         N * ROUNDING * (scale + 1));
        }
    exported_free(&x);
}

/* sum := A x; largest: of |A||x| */
static void multiply(const cpu_system *s, const scalar *x, exact *sum, long double *largest)
{
    long double terms[N] = {0};
    memset(sum, 0, sizeof(exact[N]));
    for (int j = 0; j < N; j++)
        for (int64_t q = s->a.start[j]; q < s->a.start[j + 1]; q++) {
            const int i = s->a.row[q];
            const exact a = s->values[q];
            sum[i] += a * x[j];
            terms[i] += cabsl(a * x[j]);
            if (i != j) {
                sum[j] += exact_mirror(a, s->hermitian) * x[i];
                terms[j] += cabsl(a * x[i]);
            }
        }
    *largest = 0;
    for (int i = 0; i < N; i++)
        *largest = fmaxl(*largest, terms[i]);
}

/* A x = b for b = A times integers: with zeros in the rows of zero pivots x is another solution. */
static void check_solve(const case_ *c, random_stream *r, int roundings)
{
    const cpu_system *s = &c->s;
    scalar known[N], b[N], x[N];
    exact sum[N];
    long double scale, most = 0;
    void *room;
    for (int i = 0; i < N; i++)
        known[i] = (scalar)random_integer(r);
    multiply(s, known, sum, &scale);
    for (int i = 0; i < N; i++)
        b[i] = (scalar)sum[i];
    const libsolver_vectors vb = {.values = b, .columns = 1, .ld = N},
                            vx = {.values = x, .columns = 1, .ld = N};
    assert_int_equal(cpu->workspace_create(s->numeric, 1, &room, NULL), LIBSOLVER_OK);
    assert_int_equal(cpu->solve(s->numeric, BACKEND_L | BACKEND_D | BACKEND_LT, room, &vb, &vx,
                                NULL),
                     LIBSOLVER_OK);
    cpu->workspace_destroy(s->numeric, room);
    multiply(s, x, sum, &scale);
    for (int i = 0; i < N; i++)
        most = fmaxl(most, cabsl(sum[i] - b[i]));
    if (!(most <= roundings * ROUNDING * scale))
        fail_msg("|A x - b| is %Lg, allowed %Lg", most, roundings * ROUNDING * scale);
}

/* Factors with all zeros where they belong, of which nothing is in doubt: with few of them single
 * precision does not find that. */
static void for_cases(uint64_t seeds, int zeros, void (*check)(case_ *c, random_stream *r))
{
    static case_ c;
    int checked = 0;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (uint64_t seed = 0; seed < seeds; seed++) {
            make_case(&c, seed, hermitian, zeros, 0);
            assert_int_equal(attempt(&c, RAISED_ZERO), LIBSOLVER_OK);
            assert_int_equal(c.report.zero, c.a.zero);
            assert_int_equal(c.report.positive, c.a.positive);
            assert_int_equal(c.report.negative, c.a.negative);
            assert_int_equal(c.f->attempt.tiny, 0);
            random_stream r = random_seeded(seed);
            if (is_certain(&c)) {
                check(&c, &r);
                checked++;
            }
            system_free(&c.s);
        }
    assert_in_range(checked, (SYMMETRIES * seeds * 3 + 3) / 4, SYMMETRIES * seeds);
}

static void check_demoted(case_ *c, random_stream *r)
{
    const image exact_one = image_of(c->f);
    backend_report expected = c->report;
    expected.uncertain = 0;
    spoil_zeros(c, r, random_below(r, 2));
    const image spoiled = image_of(c->f);
    assert_false(is_same(&exact_one, &spoiled));
    assert_int_equal(NAME(cpu_demote)(c->f, &c->report), LIBSOLVER_OK);
    const image now = image_of(c->f);
    assert_true(is_same(&exact_one, &now));
    assert_counts(&c->report, &expected);
    assert_int_equal(c->f->zero_pivots, c->a.zero);
    check_product(&c->s);
    check_solve(c, r, N);
    free(exact_one.v);
    free(spoiled.v);
    free(now.v);
}

static void tiny_pivots_become_zeros_and_their_columns_of_l_too(void **state)
{
    (void)state;
    memset(met, 0, sizeof met);
    for_cases(8, 1, check_demoted);
    for (int at = 0; at < 3; at++)
        for (int pivots = 0; pivots < 2; pivots++)
            if (met[at][pivots] < 5)
                fail_msg("%d pivots of kind %d %d", met[at][pivots], at, pivots);
}

/* ---- What leaves the factor as it is --------------------------------------------------------- */

/* The first row of a tiny pivot. */
static int32_t tiny_row(const numeric *f)
{
    int32_t row = 0;
    while (!f->tiny[row])
        row++;
    return row;
}

/* The matrix is regular: its zeros are none. */
static void spoil_matrix(case_ *c)
{
    const int32_t row = tiny_row(c->f);
    c->f->value[c->f->plan->a.start[row]] += (real)0.25;
}

/* The sign of a pivot is not that of A's. */
static void spoil_sign(case_ *c)
{
    node *v = &c->f->node[0];
    int i = 0;
    while (v->e[i] != 0 || v->d[i] == 0 || c->f->tiny[v->index[i]])
        i += v->e[i] != 0 ? 2 : 1;
    v->d[i] = -v->d[i];
}

static void check_refused(case_ *c, random_stream *r)
{
    spoil_zeros(c, r, random_below(r, 2));
    if (random_below(r, 2))
        spoil_matrix(c);
    else
        spoil_sign(c);
    const image before = image_of(c->f);
    const backend_report expected = c->report;
    assert_int_equal(NAME(cpu_demote)(c->f, &c->report), LIBSOLVER_OK);
    assert_bits(&before, c->f);
    assert_counts(&c->report, &expected);
    assert_int_equal(c->f->zero_pivots, expected.zero);
    free(before.v);
}

static void where_doubt_remains_nothing_changes(void **state)
{
    (void)state;
    for_cases(8, 1, check_refused);
}

/* Without memory for what is taken out, and with it. */
static void check_unchanged(case_ *c, random_stream *r)
{
    const image before = image_of(c->f);
    backend_report expected = c->report;
    expected.uncertain = 0;
    for (int has_room = 0; has_room < 2; has_room++) {
        if (has_room)
            assert_non_null(NAME(cpu_doubt_room)(c->f, 10, &c->report));
        assert_int_equal(NAME(cpu_demote)(c->f, &c->report), LIBSOLVER_OK);
        assert_bits(&before, c->f);
        assert_counts(&c->report, &expected);
        assert_int_equal(c->f->zero_pivots, c->a.zero);
    }
    check_solve(c, r, N);
    free(before.v);
}

static void without_tiny_pivots_all_bits_stay(void **state)
{
    (void)state;
    for_cases(2, 0, check_unchanged);
    for_cases(2, 1, check_unchanged);
}

static int asked, cancelled_at;

static int cancel(void *user)
{
    (void)user;
    return asked++ == cancelled_at;
}

static libsolver_status try_demotion(case_ *c, int64_t allocations, int cancelled)
{
    c->s.ration.left = allocations;
    cancelled_at = cancelled;
    asked = 0;
    return NAME(cpu_demote)(c->f, &c->report);
}

static void check_failures(case_ *c, random_stream *r)
{
    int failures = 0, cancelled = 0;
    libsolver_status status;
    spoil_zeros(c, r, 1);
    const image before = image_of(c->f);
    const backend_report expected = c->report;
    c->s.env.cancel = cancel;
    while ((status = try_demotion(c, failures, cancelled)) != LIBSOLVER_OK) {
        if (cancelled == 0 && status == LIBSOLVER_OUT_OF_MEMORY)
            failures++;
        else
            cancelled++;
        assert_int_equal(status, cancelled ? LIBSOLVER_CANCELLED : LIBSOLVER_OUT_OF_MEMORY);
        assert_bits(&before, c->f);
        assert_counts(&c->report, &expected);
        assert_int_equal(c->f->zero_pivots, expected.zero);
    }
    assert_int_equal(failures, 1); /* room for what is taken out */
    assert_true(cancelled >= 2);   /* whether zeros, and then whether signs are known */
    assert_int_equal(c->report.zero, c->a.zero);
    assert_int_equal(c->report.uncertain, 0);
    free(before.v);
}

static void who_cannot_end_leaves_the_factor_as_it_was(void **state)
{
    (void)state;
    for_cases(2, 1, check_failures);
}

/* ---- As they come out ------------------------------------------------------------------------ */

/* Pivots that are rounding errors of the elimination, nearly none of them so small that it is zero
 * by this level. */
static void pivots_that_came_out_as_rounding_errors_are_found(void **state)
{
    static case_ c;
    int tiny = 0, settled = 0;
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            make_case(&c, seed, hermitian, 1, 1);
            assert_int_equal(attempt(&c, 1e-3), LIBSOLVER_OK);
            assert_false(is_certain(&c));
            const image before = image_of(c.f);
            const backend_report expected = c.report;
            tiny += (int)c.f->attempt.tiny;
            assert_int_equal(NAME(cpu_demote)(c.f, &c.report), LIBSOLVER_OK);
            if (c.report.uncertain == 0) {
                assert_int_equal(c.report.zero, c.a.zero);
                assert_int_equal(c.report.positive, c.a.positive);
                assert_int_equal(c.report.negative, c.a.negative);
                random_stream r = random_seeded(seed);
                check_solve(&c, &r, 8 * N);
                settled++;
            } else {
                assert_bits(&before, c.f);
                assert_counts(&c.report, &expected);
            }
            free(before.v);
            system_free(&c.s);
        }
    if (tiny < 20 * 12 * SYMMETRIES || settled < 9 * SYMMETRIES)
        fail_msg("%d tiny pivots, %d factors settled", tiny, settled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_pivots_become_zeros_and_their_columns_of_l_too),
        cmocka_unit_test(where_doubt_remains_nothing_changes),
        cmocka_unit_test(without_tiny_pivots_all_bits_stay),
        cmocka_unit_test(who_cannot_end_leaves_the_factor_as_it_was),
        cmocka_unit_test(pivots_that_came_out_as_rounding_errors_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
