/* test/api/test_api_effort.c: what each options.inertia_effort calls certain is the inertia, on
 * matrices made to be hard whose inertia is known without any rounding, and takes no more
 * factorizations than it may
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <math.h>
#include <stdlib.h>

typedef struct hard_case {
    const char *name;
    sparse a;
    signs known;
} hard_case;

static double small_integer(random_stream *r)
{
    return random_below(r, 13) - 6;
}

/* a := P A P^T for random P, A n x n by columns; the sparse matrix of its lower triangle.  Takes a
 * over. */
static sparse shuffled(random_stream *r, int64_t n, double *a)
{
    double *to = doubles(n * n);
    int64_t *place = malloc((size_t)n * sizeof *place);
    assert_non_null(place);
    for (int64_t i = 0; i < n; i++)
        place[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = random_below(r, (int32_t)i + 1), kept = place[i];
        place[i] = place[j];
        place[j] = kept;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++)
            to[place[i] + place[j] * n] = a[i + j * n];
    const sparse s = sparse_of_dense(n, to);
    free(place);
    free(to);
    free(a);
    return s;
}

/* B S B^T, B unit lower triangular with some small integers, S diagonal with signs at random:
 * `zeros powers of two between 2^-spread and 1.  All entries are sums of products that have a place
 * in 53 bits, hence exact, and S has the inertia of A [Sylvester]; pivots of A are not exact. */
static hard_case congruent(random_stream *r, int64_t n, int spread, int64_t zeros, int64_t tiny)
{
    hard_case c = {.name = zeros > 0  ? "congruent, singular"
                           : tiny > 0 ? "congruent, nearly singular"
                                      : "congruent"};
    double *b = doubles(n * n), *a = doubles(n * n);
    for (int64_t j = 0; j < n; j++) {
        b[j + j * n] = 1;
        for (int64_t i = j + 1; i < n; i++)
            if (random_below(r, (int32_t)n) < 4)
                b[i + j * n] = small_integer(r);
    }
    for (int64_t k = 0; k < n; k++) {
        const int sign = random_below(r, 2) ? 1 : -1;
        const double d = k < zeros          ? 0
                         : k < zeros + tiny ? sign * 0x1p-40
                                            : sign * ldexp(1, -random_below(r, spread + 1));
        c.known.zero += d == 0;
        c.known.positive += d > 0;
        c.known.negative += d < 0;
        for (int64_t j = k; j < n; j++)
            for (int64_t i = k; i < n; i++)
                a[i + j * n] += b[i + k * n] * d * b[j + k * n];
    }
    free(b);
    c.a = shuffled(r, n, a);
    return c;
}

/* [H G; G^T 0]: H positive, diagonal, of powers of two between 2^-spread and 1; G of small
 * integers, its last `twice` columns those before them.  Inertia (h, g - twice, twice) if the
 * others are independent, as by their unit matrix on top. */
static hard_case saddle(random_stream *r, int64_t h, int64_t g, int spread, int64_t twice)
{
    hard_case c = {.name = twice > 0 ? "saddle, singular" : "saddle",
                   .known = {h, g - twice, twice}};
    const int64_t n = h + g;
    double *a = doubles(n * n);
    for (int64_t i = 0; i < h; i++)
        a[i + i * n] = ldexp(1, -random_below(r, spread + 1));
    for (int64_t j = 0; j < g; j++)
        for (int64_t i = 0; i < h; i++) {
            double x = i < g - twice ? i == j : random_below(r, 10) ? 0 : small_integer(r);
            if (j >= g - twice)
                x = a[i + (h + j - twice) * n];
            a[i + (h + j) * n] = a[h + j + i * n] = x;
        }
    c.a = shuffled(r, n, a);
    return c;
}

/* The Laplacian of a grid: its null vector is that of ones, and it is connected. */
static hard_case laplacian(random_stream *r, int64_t x, int64_t y)
{
    const int64_t n = x * y;
    double *a = doubles(n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if ((i - j == 1 && i % x > 0) || i - j == x) {
                a[i + j * n] = a[j + i * n] = -1;
                a[i + i * n]++;
                a[j + j * n]++;
            }
    return (hard_case){"Laplacian", shuffled(r, n, a), {n - 1, 0, 1}};
}

#define CASES 60

static hard_case make_case(uint64_t seed)
{
    random_stream r = random_seeded(seed);
    const int64_t n = 20 + random_below(&r, 60);
    switch (seed % 7) {
    case 0:
        return congruent(&r, n, 20, 0, 0);
    case 1:
        return congruent(&r, n, 36, 0, 0);
    case 2:
        return congruent(&r, n, 3, 1 + n / 12, 0);
    case 3:
        return congruent(&r, n, 3, 0, 1 + n / 12);
    case 4:
        return saddle(&r, n, n / 2, 30, 0);
    case 5:
        return saddle(&r, n, n / 2, 30, n / 6);
    default:
        return laplacian(&r, 3 + n % 9, 2 + n / 9);
    }
}

/* Attempts of a factorization: what is done grows until the next one begins. */
typedef struct count {
    int attempts;
    double last;
} count;

static void count_attempts(void *user, libsolver_phase phase, double fraction)
{
    count *c = user;
    if (phase != LIBSOLVER_PHASE_FACTORIZE || fraction == 1)
        return;
    c->attempts += fraction == 0 || fraction <= c->last;
    c->last = fraction;
}

typedef struct tally {
    int results, certain, singular, found, most, wrong;
} tally;

/* An inertia that is called certain is the known one. */
static void judge(tally *t, const hard_case *c, const libsolver_options *o,
                  const libsolver_factor *f, int attempts, uint64_t seed)
{
    libsolver_inertia_counts is;
    assert_int_equal(libsolver_inertia(f, &is), LIBSOLVER_OK);
    const int is_right = is.positive == c->known.positive && is.negative == c->known.negative &&
                         is.zero == c->known.zero;
    if (is.certain && !is_right) {
        t->wrong++;
        print_error(
            "seed %d, %s, effort %d, threshold %g, ordering %d: %d/%d/%d is called certain, "
            "it is %d/%d/%d\n",
            (int)seed, c->name, (int)o->inertia_effort, o->pivot_threshold, (int)o->ordering,
            (int)is.positive, (int)is.negative, (int)is.zero, (int)c->known.positive,
            (int)c->known.negative, (int)c->known.zero);
    }
    t->results++;
    t->certain += is.certain && is_right;
    t->singular += c->known.zero > 0;
    t->found += c->known.zero > 0 && is.certain && is_right;
    t->most = attempts > t->most ? attempts : t->most;
}

/* Factorized, then twice more with the same values, which begin where the search has ended. */
static void run(tally *t, const hard_case *c, libsolver_options *o, uint64_t seed)
{
    const libsolver_matrix view = sparse_view(&c->a);
    libsolver_factor *f;
    count attempts = {0};
    o->progress = count_attempts;
    o->progress_user = &attempts;
    assert_true(libsolver_factor_matrix(&view, o, &f) >= 0);
    judge(t, c, o, f, attempts.attempts, seed);
    for (int again = 0; again < 2; again++) {
        attempts = (count){0};
        assert_true(libsolver_refactorize(f, &view) >= 0);
        judge(t, c, o, f, attempts.attempts, seed);
    }
    libsolver_factor_free(f);
}

static const libsolver_ordering orders[] = {LIBSOLVER_ORDERING_AMD, LIBSOLVER_ORDERING_ND,
                                            LIBSOLVER_ORDERING_NATURAL};

static void certain_is_right_with_each_effort(void **state)
{
    (void)state;
    tally t[3] = {{0}};
    for (uint64_t seed = 0; seed < CASES; seed++) {
        hard_case c = make_case(seed);
        for (int k = 0; k < 18; k++) {
            libsolver_options o = options_on_cpu(LIBSOLVER_KIND_INDEFINITE);
            o.threads = 1;
            o.inertia_effort = (libsolver_effort)(k % 3);
            o.ordering = orders[k / 3 % 3];
            o.pivot_threshold = k < 9 ? 0 : 1e-6;
            run(&t[k % 3], &c, &o, seed);
        }
        sparse_free(&c.a);
    }
    for (int effort = 0; effort < 3; effort++)
        print_message("effort %d: %d results, %d certain; %d of %d singular ones found; at most %d "
                      "attempts\n",
                      effort, t[effort].results, t[effort].certain, t[effort].found,
                      t[effort].singular, t[effort].most);
    for (int effort = 0; effort < 3; effort++) {
        assert_int_equal(t[effort].wrong, 0);
        /* doubt is no way out */
        assert_true(10 * t[effort].certain >= 9 * t[effort].results);
    }
    /* by matching and back, by either level of zero, by the careful threshold */
    assert_in_range(t[LIBSOLVER_EFFORT_FULL].most, 2, 6);
    assert_in_range(t[LIBSOLVER_EFFORT_ONE].most, 2, 3);
    assert_int_equal(t[LIBSOLVER_EFFORT_NONE].most, 1);
    assert_true(t[LIBSOLVER_EFFORT_FULL].found >= t[LIBSOLVER_EFFORT_ONE].found);
    assert_true(t[LIBSOLVER_EFFORT_FULL].certain > t[LIBSOLVER_EFFORT_NONE].certain);
}

#define LINKS 250

/* [H G; G^T 0] of a chain of points as in STADAT3 of the Maros-Meszaros collection: H small, G^T
 * the differences of neighbours, then the differences of these.  The inertia is (points, links,
 * links - 1), as H is positive on the vector of ones.  Each of the second differences is zero up to
 * rounding errors once the pivots of its points are eliminated, in 2x2 pivots nearly without a
 * diagonal, and does not wait for the end of the chain. */
static void dependent_rows_of_a_chain_do_not_wait(void **state)
{
    (void)state;
    const int64_t points = LINKS + 1, n = points + 2 * LINKS - 1;
    const double step = 1999.9999999999998;
    double *a = doubles(n * n);
    for (int64_t i = 1; i < points; i++)
        a[i + i * n] = 0.0005;
    for (int64_t k = 0; k < LINKS; k++)
        for (int64_t i = k; i <= k + 1; i++)
            a[points + k + i * n] = i == k ? -step : step;
    for (int64_t k = 0; k + 1 < LINKS; k++)
        for (int64_t i = k; i <= k + 2; i++)
            a[points + LINKS + k + i * n] = i == k + 1 ? 2 * step : -step;
    sparse c = sparse_of_dense(n, a);
    const libsolver_matrix view = sparse_view(&c);
    free(a);
    for (int effort = 0; effort < 3; effort++) {
        libsolver_options o = options_on_cpu(LIBSOLVER_KIND_INDEFINITE);
        libsolver_factor *f;
        libsolver_factor_info info;
        libsolver_inertia_counts is;
        o.inertia_effort = (libsolver_effort)effort;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_SINGULAR);
        libsolver_info(f, &info);
        assert_int_equal(libsolver_inertia(f, &is), LIBSOLVER_OK);
        if (info.delayed > n / 4)
            fail_msg("%d columns are delayed, of %d", (int)info.delayed, (int)n);
        assert_int_equal(is.positive, points);
        assert_int_equal(is.negative, LINKS);
        assert_int_equal(is.zero, LINKS - 1);
        assert_true(is.certain);
        libsolver_factor_free(f);
    }
    sparse_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certain_is_right_with_each_effort),
        cmocka_unit_test(dependent_rows_of_a_chain_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
