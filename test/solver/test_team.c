/* test/solver/test_team.c: teams that rest after one has waited
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver/cpu/plan/team.h"
#include <omp.h>

static void all_threads_at_first(void **state)
{
    (void)state;
    const team_pace p = {0};
    assert_int_equal(team_size(&p, 16, 1e-6), 16);
    assert_int_equal(team_size(&p, 1, 1e-6), 1);
}

/* It was fast, or no team, or what is long alone. */
static void nothing_lost_is_no_rest(void **state)
{
    (void)state;
    team_pace p = {0};
    team_took(&p, 16, 16, 0.01, 0.09);
    team_took(&p, 1, 1, 0.05, 1e-3);
    team_took(&p, 16, 16, 0.0019, 1e-4);
    team_took(&p, 16, 16, 10, 1);
    assert_int_equal(team_size(&p, 16, 1e-6), 16);
}

/* What is long is a team's nevertheless. */
static void short_calls_rest(void **state)
{
    (void)state;
    team_pace p = {0};
    team_took(&p, 16, 16, 1, 0.05);
    assert_int_equal(team_size(&p, 16, 1e-6), 1);
    assert_int_equal(team_size(&p, 16, 0.09), 1);
    assert_int_equal(team_size(&p, 16, 0.2), 16);
}

/* It lasts twenty times as long as what was lost. */
static void rests_end(void **state)
{
    (void)state;
    team_pace p = {0};
    const double begin = omp_get_wtime();
    team_took(&p, 2, 2, 6e-3, 1e-3);
    while (team_size(&p, 2, 1e-3) == 1)
        ;
    assert_true(omp_get_wtime() - begin >= 0.1 - 1e-6); /* times are rounded */
    assert_int_equal(team_size(&p, 2, 1e-3), 2);
}

/* What one thread takes ends the rest where it is longer, and then counts instead of what was
 * predicted. */
static void one_thread_shows_what_it_takes(void **state)
{
    (void)state;
    team_pace p = {0};
    team_took(&p, 2, 2, 0.06, 0.01);
    assert_int_equal(team_size(&p, 2, 0.01), 1);
    team_took(&p, 2, 1, 0.09, 0.01);
    assert_int_equal(team_size(&p, 2, 0.01), 2);
    team_took(&p, 2, 2, 0.06, 0.01);
    assert_int_equal(team_size(&p, 2, 0.01), 2);
    team_took(&p, 2, 2, 0.5, 0.01);
    assert_int_equal(team_size(&p, 2, 0.01), 1);
    team_took(&p, 2, 1, 0.08, 0.01);
    assert_int_equal(team_size(&p, 2, 0.01), 1); /* the team had lost time indeed */
    assert_int_equal(team_size(&p, 2, 0.02), 2); /* 0.16 s alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_at_first),
        cmocka_unit_test(nothing_lost_is_no_rest),
        cmocka_unit_test(short_calls_rest),
        cmocka_unit_test(rests_end),
        cmocka_unit_test(one_thread_shows_what_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
