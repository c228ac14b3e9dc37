/* test/base/test_team.c: teams that rest after one has waited
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/team.h"
#include <omp.h>

/* As if a team had been at work for so many seconds. */
static void took(team_rest *r, int threads, double seconds, double alone)
{
    team_took(r, threads, omp_get_wtime() - seconds, alone);
}

static void all_threads_at_first(void **state)
{
    (void)state;
    const team_rest r = {0};
    assert_int_equal(team_size(&r, 16, 1e-6), 16);
    assert_int_equal(team_size(&r, 1, 1e-6), 1);
}

/* Nothing rests: it was fast, or no team, or what one thread had taken as long for. */
static void nothing_lost_is_no_rest(void **state)
{
    (void)state;
    team_rest r = {0};
    took(&r, 16, 0.01, 0.09);
    took(&r, 1, 0.05, 1e-3);
    took(&r, 16, 10, 1);
    assert_int_equal(team_size(&r, 16, 1e-6), 16);
}

/* What is long is a team's nevertheless. */
static void short_calls_rest(void **state)
{
    (void)state;
    team_rest r = {0};
    took(&r, 16, 0.1, 0.05);
    assert_int_equal(team_size(&r, 16, 1e-6), 1);
    assert_int_equal(team_size(&r, 16, 0.09), 1);
    assert_int_equal(team_size(&r, 16, 0.2), 16);
}

/* It lasts twenty times as long as what was lost. */
static void rests_end(void **state)
{
    (void)state;
    team_rest r = {0};
    const double begin = omp_get_wtime();
    took(&r, 2, 5e-3, 0);
    int seen = 0;
    while (team_size(&r, 2, 0) == 1)
        seen = 1;
    const double rested = omp_get_wtime() - begin;
    assert_true(seen || rested > 0.1); /* unless this thread had to wait as long itself */
    assert_true(rested > 0.099);
    assert_int_equal(team_size(&r, 2, 0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_at_first),
        cmocka_unit_test(nothing_lost_is_no_rest),
        cmocka_unit_test(short_calls_rest),
        cmocka_unit_test(rests_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
