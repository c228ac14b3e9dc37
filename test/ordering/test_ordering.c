/* test/ordering/test_ordering.c: minimum degree and nested dissection
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ordering/analysis.h"
#include "problems.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef libsolver_status (*ordering)(memory *, const graph *, int32_t *);

static memory m;

/* Skips the running test in a build without METIS. */
static void require_metis(void)
{
    pattern a = problem_diagonal(1);
    graph g;
    int32_t perm;
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    const libsolver_status status = order_metis(&m, &g, &perm);
    graph_free(&m, &g);
    problem_free(&a);
    if (status == LIBSOLVER_NOT_BUILT)
        skip();
}

static void check_permutations(ordering order)
{
    pattern problems[] = {problem_diagonal(0),      problem_diagonal(1),  problem_diagonal(2),
                          problem_path(2),          problem_path(1000),   problem_star(2000, 0),
                          problem_star(2000, 1999), problem_diagonal(50), problem_complete(60),
                          problem_grid(30, 30, 1),  problem_grid(9, 9, 9)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        graph g;
        int32_t perm[2000];
        assert_int_equal(graph_build(&m, 1, &problems[i], &g), LIBSOLVER_OK);
        assert_int_equal(order(&m, &g, perm), LIBSOLVER_OK);
        assert_null(permutation_check(&m, g.n, perm));
        graph_free(&m, &g);
        problem_free(&problems[i]);
    }
    /* sparse enough for isolated vertices and small components */
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_below(&r, 300);
        pattern a = problem_random(n, (double)random_below(&r, 4) / (n + 1), &r);
        graph g;
        int32_t perm[300];
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(order(&m, &g, perm), LIBSOLVER_OK);
        const char *fault = permutation_check(&m, n, perm);
        if (fault)
            fail_msg("seed %d: %s", (int)seed, fault);
        graph_free(&m, &g);
        problem_free(&a);
    }
    assert_int_equal(m.in_use, 0);
}

static int64_t fill_of(ordering order, const pattern *a)
{
    graph g;
    int64_t nnz;
    double flops;
    int32_t *perm = memory_new(&m, a->n, sizeof(int32_t));
    assert_non_null(perm);
    assert_int_equal(graph_build(&m, 1, a, &g), LIBSOLVER_OK);
    assert_int_equal(order(&m, &g, perm), LIBSOLVER_OK);
    assert_int_equal(forest_cost(&m, a, perm, &nnz, &flops), LIBSOLVER_OK);
    graph_free(&m, &g);
    memory_free(&m, perm);
    return nnz;
}

static void amd_gives_permutations(void **state)
{
    (void)state;
    check_permutations(order_amd);
    check_permutations(amd_order_64);
}

static void amd_is_the_same_by_both_widths(void **state)
{
    (void)state;
    pattern a = problem_grid(40, 30, 2);
    graph g;
    int32_t narrow[2400], wide[2400];
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(amd_order_32(&m, &g, narrow), LIBSOLVER_OK);
    assert_int_equal(amd_order_64(&m, &g, wide), LIBSOLVER_OK);
    assert_memory_equal(narrow, wide, sizeof narrow);
    graph_free(&m, &g);
    problem_free(&a);
}

static void amd_reduces_fill(void **state)
{
    (void)state;
    pattern path = problem_path(1000), star = problem_star(1000, 0), grid = problem_grid(50, 50, 1);
    assert_int_equal(fill_of(order_amd, &path), 1999);
    assert_int_equal(fill_of(order_amd, &star), 1999);
    assert_in_range(fill_of(order_amd, &grid), 2500, 60000); /* 125 thousand in the natural order */
    problem_free(&path);
    problem_free(&star);
    problem_free(&grid);
}

static void metis_gives_permutations(void **state)
{
    (void)state;
    require_metis();
    check_permutations(order_metis);
}

/* A permutation taken for its inverse would cost several times as much. */
static void metis_reduces_fill(void **state)
{
    (void)state;
    require_metis();
    pattern grid = problem_grid(50, 50, 1);
    assert_in_range(fill_of(order_metis, &grid), 2500, 60000);
    problem_free(&grid);
}

static void metis_orders_compressed_graphs(void **state)
{
    (void)state;
    require_metis();
    pattern small = problem_grid(30, 30, 1), a = problem_blown_up(&small, 3);
    graph g, c;
    int32_t class_of[2700], classes_perm[900], perm[2700];
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
    assert_int_equal(c.n, 900);
    assert_int_equal(order_metis(&m, &c, classes_perm), LIBSOLVER_OK);
    assert_int_equal(order_expand(&m, g.n, class_of, c.n, classes_perm, perm), LIBSOLVER_OK);
    assert_null(permutation_check(&m, g.n, perm));
    graph_free(&m, &c);
    graph_free(&m, &g);
    problem_free(&a);
    problem_free(&small);
}

static void on_signal(int number)
{
    (void)number;
}

static void metis_leaves_the_host_alone(void **state)
{
    (void)state;
    require_metis();
    pattern a = problem_grid(60, 60, 1);
    graph g;
    int32_t first[3600], again[3600];
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);

    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, abort_before,
                     abort_after, term_after;
    sigaddset(&ours.sa_mask, SIGUSR1);
    assert_int_equal(sigaction(SIGTERM, &ours, NULL), 0);
    assert_int_equal(sigaction(SIGABRT, NULL, &abort_before), 0);
    int expected[4];
    srand(7);
    for (int i = 0; i < 4; i++)
        expected[i] = rand();
    srand(7);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(rand(), expected[i]);
        assert_int_equal(order_metis(&m, &g, i == 0 ? first : again), LIBSOLVER_OK);
        if (i > 0)
            assert_memory_equal(first, again, sizeof first);
    }
    assert_int_equal(sigaction(SIGTERM, NULL, &term_after), 0);
    assert_int_equal(sigaction(SIGABRT, NULL, &abort_after), 0);
    assert_true(term_after.sa_handler == on_signal);
    assert_true(term_after.sa_flags & SA_RESTART);
    assert_int_equal(sigismember(&term_after.sa_mask, SIGUSR1), 1);
    assert_true(abort_after.sa_handler == abort_before.sa_handler);
    signal(SIGTERM, SIG_DFL);
    graph_free(&m, &g);
    problem_free(&a);
}

typedef struct call {
    const graph *g;
    int32_t perm[3600];
    libsolver_status status;
} call;

static void *order_in_thread(void *argument)
{
    call *c = argument;
    c->status = order_metis(&m, c->g, c->perm);
    return NULL;
}

static void metis_called_from_threads_gives_the_same(void **state)
{
    (void)state;
    require_metis();
    static call calls[5];
    pattern a = problem_grid(60, 60, 1);
    graph g;
    pthread_t thread[5];
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    for (int i = 0; i < 5; i++)
        calls[i].g = &g;
    order_in_thread(&calls[0]);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, order_in_thread, &calls[i]), 0);
    for (int i = 1; i < 5; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(calls[i].status, LIBSOLVER_OK);
        assert_memory_equal(calls[i].perm, calls[0].perm, sizeof calls[0].perm);
    }
    graph_free(&m, &g);
    problem_free(&a);
}

/* Weighted minimum degree on the compressed graph beside AMD on the whole one: at most a tenth more
 * nnz(L). */
static void amd_honours_weights(void **state)
{
    (void)state;
    random_stream r = random_seeded(11);
    pattern small[] = {problem_grid(30, 25, 1), problem_grid(9, 8, 7), problem_star(400, 3),
                       problem_random(300, 0.01, &r)};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        pattern a = problem_blown_up_unevenly(&small[i], 4, &r);
        graph g, c;
        int32_t class_of[4000], perm[4000], rows[4000], whole[4000];
        int64_t nnz, whole_nnz;
        double flops;
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
        assert_in_range(c.n, 1, small[i].n);
        assert_int_equal(order_amd(&m, &c, perm), LIBSOLVER_OK);
        assert_null(permutation_check(&m, c.n, perm));
        assert_int_equal(order_expand(&m, a.n, class_of, c.n, perm, rows), LIBSOLVER_OK);
        assert_int_equal(forest_cost(&m, &a, rows, &nnz, &flops), LIBSOLVER_OK);
        assert_int_equal(order_amd(&m, &g, whole), LIBSOLVER_OK);
        assert_int_equal(forest_cost(&m, &a, whole, &whole_nnz, &flops), LIBSOLVER_OK);
        if ((double)nnz > 1.1 * (double)whole_nnz)
            fail_msg("problem %d: nnz(L) is %d, %d without compression", (int)i, (int)nnz,
                     (int)whole_nnz);
        graph_free(&m, &g);
        graph_free(&m, &c);
        problem_free(&a);
        problem_free(&small[i]);
    }
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    const ordering orderings[] = {amd_order_32, amd_order_64, order_amd, order_metis};
    pattern a = problem_grid(8, 8, 1);
    graph g;
    memory other;
    memory_init(&other, NULL, NULL, NULL, 0);
    assert_int_equal(graph_build(&other, 1, &a, &g), LIBSOLVER_OK);
    for (size_t i = 0; i < sizeof orderings / sizeof *orderings; i++) {
        rationed ration;
        int32_t perm[64];
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        for (int64_t k = 0; status == LIBSOLVER_OUT_OF_MEMORY; k++) {
            assert_in_range(k, 0, 100);
            memory_rationed(&m, &ration, k);
            status = orderings[i](&m, &g, perm);
            assert_int_equal(m.in_use, 0);
        }
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_NOT_BUILT);
    }
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    g.weight = memory_new(&other, g.n, sizeof(int32_t));
    for (int32_t v = 0; v < g.n; v++)
        g.weight[v] = 1 + v % 3;
    for (int64_t k = 0; status == LIBSOLVER_OUT_OF_MEMORY; k++) {
        rationed ration;
        int32_t perm[64];
        assert_in_range(k, 0, 100);
        memory_rationed(&m, &ration, k);
        status = order_amd(&m, &g, perm);
        assert_int_equal(m.in_use, 0);
    }
    assert_int_equal(status, LIBSOLVER_OK);
    graph_free(&other, &g);
    problem_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(amd_gives_permutations, &m),
        unit_test_of_memory(amd_is_the_same_by_both_widths, &m),
        unit_test_of_memory(amd_reduces_fill, &m),
        unit_test_of_memory(amd_honours_weights, &m),
        unit_test_of_memory(metis_gives_permutations, &m),
        unit_test_of_memory(metis_reduces_fill, &m),
        unit_test_of_memory(metis_orders_compressed_graphs, &m),
        unit_test_of_memory(metis_leaves_the_host_alone, &m),
        unit_test_of_memory(metis_called_from_threads_gives_the_same, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
