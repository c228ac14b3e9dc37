/* test/solver/test_fgmres.c: a cycle of FGMRES in one precision (-DPREC_x) against least squares
 * over the same space
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver/cpu/solve/fgmres.h"
#include "typed_scalar.h"
#include <stdlib.h>
#include <string.h>

#define MOST 40
#define LENGTH 25

/* A system, a preconditioner that is another one at every step, and what the cycle asked for. */
typedef struct system_ {
    int32_t n;
    scalar a[MOST][MOST], m[MOST][MOST];
    int changing;     /* step k divides by 1 + k / 4 in places that move, too */
    int poisoned;     /* this step gives a NaN; -1: none */
    int cancelled;    /* at this question, counted from 0; -1: never */
    int steps, asked; /* preconditioned, cancel asked */
    scalar z[LENGTH + 1][MOST];
    environment env;
    scalar r[MOST], memory[(2 * LENGTH + 1) * MOST + (LENGTH + 1) * (LENGTH + 4)];
} system_;

static void multiply(void *user, const scalar *z, scalar *y)
{
    const system_ *s = user;
    for (int32_t i = 0; i < s->n; i++) {
        exact sum = 0;
        for (int32_t j = 0; j < s->n; j++)
            sum += (exact)s->a[i][j] * z[j];
        y[i] = (scalar)sum;
    }
}

static void precondition(void *user, const scalar *v, scalar *z)
{
    system_ *s = user;
    assert_in_range(s->steps, 0, LENGTH - 1);
    for (int32_t i = 0; i < s->n; i++) {
        z[i] = 0;
        for (int32_t j = 0; j < s->n; j++)
            z[i] += s->m[i][j] * v[j];
        if (s->changing)
            z[i] /= (real)(1 + (i + s->steps) % 3 * 0.25 * s->steps);
        if (s->steps == s->poisoned && i == s->n / 2)
            z[i] = NAN;
        s->z[s->steps][i] = z[i];
    }
    s->steps++;
}

static int cancel(void *user)
{
    system_ *s = user;
    return s->asked++ == s->cancelled;
}

/* Random A near the identity, M^-1 = I plus `noise` times a random matrix. */
static system_ *random_system(random_stream *r, int32_t n, double noise)
{
    system_ *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->n = n;
    s->poisoned = s->cancelled = -1;
    s->env.cancel = cancel;
    s->env.cancel_user = s;
    for (int32_t i = 0; i < n; i++) {
        s->r[i] = random_scalar(r);
        for (int32_t j = 0; j < n; j++) {
            s->a[i][j] = (scalar)(i == j) + (real)(0.3 / sqrt((double)n)) * random_scalar(r);
            s->m[i][j] = (scalar)(i == j) + (real)noise * random_scalar(r);
        }
    }
    return s;
}

/* One cycle for s->r; d is s->memory then. */
static libsolver_status cycle(system_ *s, int length, double enough, int *steps)
{
    for (size_t k = 0; k < sizeof s->memory / sizeof *s->memory; k++)
        s->memory[k] = NAN;
    memcpy(s->memory, s->r, sizeof(scalar) * (size_t)s->n);
    s->steps = s->asked = 0;
    const fgmres g = {s->n, length, s->memory, &s->env, s, multiply, precondition};
    return NAME(fgmres_cycle)(&g, enough, steps, NULL);
}

static long double norm_of(int32_t n, const exact *x)
{
    long double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += creall(x[i]) * creall(x[i]) + cimagl(x[i]) * cimagl(x[i]);
    return sqrtl(sum);
}

/* |r - A d| */
static long double residual_of(const system_ *s, const scalar *d)
{
    exact rest[MOST];
    for (int32_t i = 0; i < s->n; i++) {
        rest[i] = s->r[i];
        for (int32_t j = 0; j < s->n; j++)
            rest[i] -= (exact)s->a[i][j] * d[j];
    }
    return norm_of(s->n, rest);
}

/* min |r - A Z y| over the first `steps` preconditioned vectors: r less its parts along an
 * orthonormal basis of A Z. */
static long double least_residual(const system_ *s, int steps)
{
    static exact q[LENGTH][MOST];
    exact rest[MOST];
    for (int32_t i = 0; i < s->n; i++)
        rest[i] = s->r[i];
    for (int k = 0; k < steps; k++) {
        for (int32_t i = 0; i < s->n; i++) {
            q[k][i] = 0;
            for (int32_t j = 0; j < s->n; j++)
                q[k][i] += (exact)s->a[i][j] * s->z[k][j];
        }
        for (int twice = 0; twice < 2; twice++)
            for (int p = 0; p < k; p++) {
                exact inner = 0;
                for (int32_t i = 0; i < s->n; i++)
                    inner += conjl(q[p][i]) * q[k][i];
                for (int32_t i = 0; i < s->n; i++)
                    q[k][i] -= inner * q[p][i];
            }
        const long double size = norm_of(s->n, q[k]);
        exact inner = 0;
        for (int32_t i = 0; i < s->n; i++) {
            q[k][i] /= size;
            inner += conjl(q[k][i]) * rest[i];
        }
        for (int32_t i = 0; i < s->n; i++)
            rest[i] -= inner * q[k][i];
    }
    return norm_of(s->n, rest);
}

static long double size_of(const system_ *s)
{
    const scalar nothing[MOST] = {0};
    return residual_of(s, nothing);
}

static void the_residual_is_the_least_in_the_space(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, MOST);
        const int length = 1 + random_below(&r, LENGTH);
        system_ *s = random_system(&r, n, seed % 2 ? 0.01 : 0.1);
        int steps = -1;
        s->changing = seed % 3 == 0;
        assert_int_equal(cycle(s, length, 0, &steps), LIBSOLVER_OK);
        assert_in_range(steps, 1, length);
        const long double found = residual_of(s, s->memory), least = least_residual(s, steps);
        const long double allowed = 200 * (long double)EPS * n * size_of(s);
        if (!(found <= least * (1 + 1e-3L) + allowed))
            fail_msg("seed %d, n %d, %d steps: |r - A d| is %Lg, the least is %Lg", (int)seed, n,
                     steps, found, least);
        /* ended early, or a whole basis: solved */
        if ((steps < length || (steps >= n && !s->changing)) && !(found <= allowed))
            fail_msg("seed %d, n %d: %Lg is left after %d of %d steps", (int)seed, n, found, steps,
                     length);
        free(s);
    }
}

static void it_ends_where_enough_is_reached(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(seed);
        system_ *s = random_system(&r, MOST, 0.01);
        const double enough = (double)size_of(s) * pow(10, -1 - (double)(seed % 4));
        int steps = -1, all = -1;
        assert_int_equal(cycle(s, LENGTH, 0, &all), LIBSOLVER_OK);
        assert_int_equal(cycle(s, LENGTH, enough, &steps), LIBSOLVER_OK);
        assert_int_equal(s->asked, steps); /* whether to go on, once a step */
        assert_in_range(steps, 1, all - 1);
        assert_true(residual_of(s, s->memory) <= enough * 1.001L);
        assert_true(least_residual(s, steps - 1) > enough * 0.999L);
        free(s);
    }
}

static void nothing_to_do_and_nothing_to_be_had(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    system_ *s = random_system(&r, 12, 0.01);
    int steps = -1;
    /* small enough before it begins */
    assert_int_equal(cycle(s, LENGTH, 1e30, &steps), LIBSOLVER_OK);
    assert_int_equal(steps, 0);
    for (int32_t i = 0; i < s->n; i++)
        assert_true(s->memory[i] == 0);
    memset(s->r, 0, sizeof s->r);
    assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
    assert_int_equal(steps, 0);
    s->r[3] = INFINITY;
    assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
    assert_int_equal(steps, 0);
    assert_true(s->memory[3] == 0);
    s->r[3] = 1;
    memset(s->m, 0, sizeof s->m); /* a preconditioner that gives nothing */
    assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
    assert_int_equal(steps, 0);
    assert_true(s->memory[3] == 0);
    s->n = 0;
    assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
    assert_int_equal(steps, 0);
    free(s);
}

/* The columns of A are multiples of one: one step finds all there is, the second nothing new. */
static void a_space_that_grows_no_more_ends_the_cycle(void **state)
{
    (void)state;
    random_stream r = random_seeded(2);
    system_ *s = random_system(&r, 15, 0.01);
    scalar column[MOST];
    int steps = -1;
    for (int32_t i = 0; i < s->n; i++)
        column[i] = random_scalar(&r);
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < s->n; j++)
            s->a[i][j] = column[i] * (real)(1 + j % 3);
    assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
    assert_in_range(steps, 1, 2);
    const long double found = residual_of(s, s->memory), least = least_residual(s, 1);
    if (!(found <= least + 1000 * (long double)EPS * size_of(s)))
        fail_msg("|r - A d| is %Lg, the least is %Lg", found, least);
    free(s);
}

static void a_step_that_is_not_finite_is_left_out(void **state)
{
    (void)state;
    for (int poisoned = 0; poisoned < 5; poisoned++) {
        random_stream r = random_seeded(3);
        system_ *s = random_system(&r, 20, 0.01);
        int steps = -1;
        s->poisoned = poisoned;
        assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_OK);
        assert_int_equal(steps, poisoned);
        const long double found = residual_of(s, s->memory), least = least_residual(s, poisoned);
        if (!(found <= least * (1 + 1e-3L) + 200 * (long double)EPS * size_of(s)))
            fail_msg("step %d: |r - A d| is %Lg, the least is %Lg", poisoned, found, least);
        free(s);
    }
}

static void every_step_can_cancel(void **state)
{
    (void)state;
    random_stream r = random_seeded(4);
    system_ *s = random_system(&r, 20, 0.01);
    int steps = -1;
    for (s->cancelled = 0; s->cancelled < 5; s->cancelled++) {
        assert_int_equal(cycle(s, LENGTH, 0, &steps), LIBSOLVER_CANCELLED);
        assert_int_equal(s->steps, s->cancelled);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_residual_is_the_least_in_the_space),
        cmocka_unit_test(it_ends_where_enough_is_reached),
        cmocka_unit_test(nothing_to_do_and_nothing_to_be_had),
        cmocka_unit_test(a_space_that_grows_no_more_ends_the_cycle),
        cmocka_unit_test(a_step_that_is_not_finite_is_left_out),
        cmocka_unit_test(every_step_can_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
