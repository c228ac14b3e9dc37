/* test/solver/test_order_auto.c: AUTO's order: the same by any number of threads, stopped and
 * failing searches
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ordering/ordering.h"
#include "problems.h"
#include "solver/cpu/backend.h"
#include "solver/order/choose_ordering.h"
#include <stdlib.h>

static environment env;

static libsolver_status order_at(const backend_costs *costs, const pattern *a, int threads,
                                 int32_t *perm, libsolver_ordering *used)
{
    libsolver_options o;
    libsolver_options_default(&o);
    message why = {0};
    env.threads = threads;
    const order_request request = {.env = &env, .a = a, .options = &o, .costs = costs};
    return choose_ordering(&request, perm, used, &why);
}

static libsolver_status order(const pattern *a, int threads, int32_t *perm,
                              libsolver_ordering *used)
{
    return order_at(&cpu_costs, a, threads, perm, used);
}

/* Small and large ones, with and without a separator like that of a body, for which AMD and nested
 * dissection win. */
static void the_order_does_not_depend_on_threads(void **state)
{
    (void)state;
    random_stream r = random_seeded(17);
    pattern small = problem_grid(20, 20, 20);
    pattern problems[] = {problem_grid_with_diagonal(170, 150, 1),
                          problem_grid_with_diagonal(38, 37, 36),
                          problem_path(60000),
                          problem_path(120000),
                          problem_grid(360, 330, 1),
                          problem_grid(22, 21, 20),
                          problem_star(50000, 9),
                          problem_random(20000, 2e-4, &r),
                          problem_blown_up(&small, 2),
                          problem_grid(20, 20, 1)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const size_t bytes = sizeof(int32_t) * (size_t)problems[i].n;
        int32_t *first = malloc(bytes), *again = malloc(bytes);
        libsolver_ordering used, used_again;
        assert_int_equal(order(&problems[i], 1, first, &used), LIBSOLVER_OK);
        assert_null(permutation_check(&env.memory, problems[i].n, first));
        for (int k = 0; k < 3; k++) {
            assert_int_equal(order(&problems[i], (int[]){2, 5, 2}[k], again, &used_again),
                             LIBSOLVER_OK);
            assert_int_equal(used, used_again);
            assert_memory_equal(first, again, bytes);
        }
        free(first);
        free(again);
        problem_free(&problems[i]);
    }
    problem_free(&small);
    assert_int_equal(env.memory.in_use, 0);
}

static double no_seconds(int64_t k, int64_t m, int64_t waiting)
{
    (void)k;
    (void)m;
    (void)waiting;
    return 0;
}

/* Factorizations that cost 1.2 times what a dissection is taken to: a body is dissected, a plane is
 * not; where they cost 1.6 times as much, both are.  A plane lattice is from half as much on. */
static void planes_are_dissected_later_than_bodies(void **state)
{
    (void)state;
    pattern body = problem_grid_with_diagonal(30, 30, 28),
            plane = problem_grid_with_diagonal(160, 160, 1), lattice = problem_grid(160, 160, 1);
    const struct {
        const pattern *a;
        double edges_a_row, times; /* entries of the graph for each row, cost to be had */
        libsolver_ordering used;
    } cases[] = {{&body, 5.8, 1.2, LIBSOLVER_ORDERING_ND},
                 {&plane, 3.975, 1.2, LIBSOLVER_ORDERING_AMD},
                 {&plane, 3.975, 1.6, LIBSOLVER_ORDERING_ND},
                 {&lattice, 3.975, .4, LIBSOLVER_ORDERING_AMD},
                 {&lattice, 3.975, .6, LIBSOLVER_ORDERING_ND}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        backend_costs costs = cpu_costs;
        int32_t *perm = malloc(sizeof(int32_t) * (size_t)cases[i].a->n);
        libsolver_ordering used;
        costs.ten_solves = no_seconds;
        costs.row = cases[i].times * 4.5e-7 * cases[i].edges_a_row;
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(order_at(&costs, cases[i].a, threads, perm, &used), LIBSOLVER_OK);
            assert_int_equal(used, cases[i].used);
        }
        free(perm);
    }
    problem_free(&body);
    problem_free(&plane);
    problem_free(&lattice);
    assert_int_equal(env.memory.in_use, 0);
}

/* Lattices that are large or have the neighbours of a body are dissected whatever their
 * factorizations cost, unless they are thin; with one more edge, and costs that speak against it,
 * they are not. */
static void lattices_are_dissected_at_once(void **state)
{
    (void)state;
    const struct {
        pattern a;
        libsolver_ordering used;
    } cases[] = {{problem_grid(330, 320, 1), LIBSOLVER_ORDERING_ND},
                 {problem_grid_with_diagonal(330, 320, 1), LIBSOLVER_ORDERING_AMD},
                 {problem_grid(330, 290, 1), LIBSOLVER_ORDERING_AMD},
                 {problem_grid(22, 21, 20), LIBSOLVER_ORDERING_ND},
                 {problem_grid_with_diagonal(22, 21, 20), LIBSOLVER_ORDERING_AMD},
                 {problem_grid(15, 14, 14), LIBSOLVER_ORDERING_AMD},
                 {problem_grid(2000, 60, 1), LIBSOLVER_ORDERING_AMD},
                 {problem_path(120000), LIBSOLVER_ORDERING_AMD}};
    backend_costs costs = cpu_costs;
    costs.ten_solves = no_seconds;
    costs.row = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pattern a = cases[i].a;
        int32_t *perm = malloc(sizeof(int32_t) * (size_t)a.n);
        libsolver_ordering used;
        for (int threads = 1; threads <= 2; threads++) {
            assert_int_equal(order_at(&costs, &a, threads, perm, &used), LIBSOLVER_OK);
            if (used != cases[i].used)
                fail_msg("case %zu, %d threads: ordered by method %d", i, threads, (int)used);
        }
        free(perm);
        problem_free(&a);
    }
    assert_int_equal(env.memory.in_use, 0);
}

static void stop_at_once(void *user, int32_t weight)
{
    assert_in_range(weight, 10, 300);
    atomic_store((atomic_int *)user, 1);
}

static void dissection_stops_when_it_is_told(void **state)
{
    (void)state;
    pattern a = problem_grid(150, 100, 1);
    graph g;
    assert_int_equal(graph_build(&env.memory, 1, &a, &g), LIBSOLVER_OK);
    int32_t *perm = malloc(sizeof(int32_t) * (size_t)a.n);
    atomic_int stop;
    atomic_init(&stop, 0);
    nd_watch watch = {.stop = &stop};
    env.threads = 1;
    assert_int_equal(order_nd_watched(&env, &g, 1, &watch, perm), LIBSOLVER_OK);
    watch = (nd_watch){.stop = &stop, .separated = stop_at_once, .user = &stop};
    assert_int_equal(order_nd_watched(&env, &g, 1, &watch, perm), LIBSOLVER_CANCELLED);
    assert_int_equal(atomic_load(&stop), 1);
    free(perm);
    graph_free(&env.memory, &g);
    problem_free(&a);
    assert_int_equal(env.memory.in_use, 0);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    pattern problems[] = {problem_grid(120, 100, 1), /* enough for both orders at the same time */
                          problem_grid(20, 20, 20)};
    for (int i = 0; i < 2; i++) {
        int32_t *perm = malloc(sizeof(int32_t) * (size_t)problems[i].n);
        libsolver_ordering used;
        for (int threads = 1; threads <= 2; threads++) {
            libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
            int64_t k = 0;
            for (; status != LIBSOLVER_OK; k += 1 + k / 8) {
                rationed ration;
                assert_in_range(k, 0, 100000);
                memory_rationed(&env.memory, &ration, k);
                status = order(&problems[i], threads, perm, &used);
                assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
                assert_int_equal(env.memory.in_use, 0);
            }
            assert_true(k > 8);
        }
        free(perm);
        problem_free(&problems[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(the_order_does_not_depend_on_threads, &env.memory),
        unit_test_of_memory(planes_are_dissected_later_than_bodies, &env.memory),
        unit_test_of_memory(lattices_are_dissected_at_once, &env.memory),
        unit_test_of_memory(dissection_stops_when_it_is_told, &env.memory),
        unit_test_of_memory(each_failed_allocation_is_reported, &env.memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
