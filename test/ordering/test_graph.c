/* test/ordering/test_graph.c: adjacency graphs and their compression
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include <stdlib.h>
#include <string.h>

static memory m;

static int adjacent(const graph *g, int32_t u, int32_t v)
{
    for (int64_t p = g->start[u]; p < g->start[u + 1]; p++)
        if (g->neighbor[p] == v)
            return 1;
    return 0;
}

static int closed_neighbourhoods_agree(const graph *g, int32_t u, int32_t v)
{
    for (int32_t w = 0; w < g->n; w++)
        if ((w == u || adjacent(g, u, w)) != (w == v || adjacent(g, v, w)))
            return 0;
    return 1;
}

static void graph_has_each_edge_at_both_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_below(&r, 30);
        pattern a = problem_random(n, (double)(seed % 10) / 9, &r);
        assert_null(pattern_check(&a));
        graph g;
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_null(graph_check(&g));
        assert_int_equal(g.n, n);
        assert_null(g.weight);
        assert_int_equal(g.start[n], 2 * (a.start[n] - n));
        for (int32_t j = 0; j < n; j++)
            for (int64_t p = a.start[j] + 1; p < a.start[j + 1]; p++)
                assert_true(adjacent(&g, j, a.row[p]));
        graph_free(&m, &g);
        problem_free(&a);
    }
}

/* Of large patterns threads have a part each: the graph, and the pattern in another order, are
 * those of one thread, which are right. */
static void parts_of_threads_change_nothing(void **state)
{
    (void)state;
    pattern a = problem_grid(55, 55, 50);
    const int32_t n = a.n;
    const int64_t nnz = a.start[n];
    random_stream r = random_seeded(7);
    int32_t *perm = malloc(sizeof(int32_t) * (size_t)n),
            *column = malloc(sizeof(int32_t) * (size_t)nnz), *row[2];
    int64_t *start[2], *place[2];
    graph g[2];
    for (int k = 0; k < 2; k++) {
        row[k] = malloc(sizeof(int32_t) * (size_t)nnz);
        start[k] = malloc(sizeof(int64_t) * (size_t)(n + 1));
        place[k] = malloc(sizeof(int64_t) * (size_t)nnz);
        assert_true(perm && column && row[k] && start[k] && place[k]);
    }
    random_permutation(&r, n, perm);
    for (int threads = 1; threads < 9; threads += threads == 1 ? 1 : 2) {
        const int k = threads > 1;
        pattern permuted = {.start = start[k], .row = row[k]};
        assert_int_equal(graph_build(&m, threads, &a, &g[k]), LIBSOLVER_OK);
        assert_int_equal(pattern_permute(&m, threads, &a, perm, &permuted, place[k]), LIBSOLVER_OK);
        if (k == 0) {
            assert_null(graph_check(&g[0]));
            for (int32_t j0 = 0; j0 < n; j0++)
                for (int64_t q = start[0][j0]; q < start[0][j0 + 1]; q++)
                    column[q] = j0;
            for (int32_t j = 0; j < n; j++)
                for (int64_t p = a.start[j]; p < a.start[j + 1]; p++) {
                    const int64_t q = place[0][p], at = q < 0 ? -1 - q : q;
                    assert_int_equal(perm[q < 0 ? row[0][at] : column[at]], j);
                    assert_int_equal(perm[q < 0 ? column[at] : row[0][at]], a.row[p]);
                }
            continue;
        }
        assert_memory_equal(g[0].start, g[1].start, sizeof(int64_t) * (size_t)(n + 1));
        assert_memory_equal(g[0].neighbor, g[1].neighbor, sizeof(int32_t) * (size_t)g[0].start[n]);
        assert_memory_equal(start[0], start[1], sizeof(int64_t) * (size_t)(n + 1));
        assert_memory_equal(row[0], row[1], sizeof(int32_t) * (size_t)nnz);
        assert_memory_equal(place[0], place[1], sizeof(int64_t) * (size_t)nnz);
        graph_free(&m, &g[1]);
    }
    graph_free(&m, &g[0]);
    for (int k = 0; k < 2; k++) {
        free(row[k]);
        free(start[k]);
        free(place[k]);
    }
    free(perm);
    free(column);
    problem_free(&a);
}

static void checks_find_what_is_broken(void **state)
{
    (void)state;
    pattern a = problem_grid(3, 3, 1);
    graph g;
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    g.neighbor[0] = 0;
    assert_string_equal(graph_check(&g), "graph: a loop");
    g.neighbor[0] = 2;
    assert_string_equal(graph_check(&g), "graph: an edge is stored at one end only");
    g.neighbor[0] = 9;
    assert_string_equal(graph_check(&g), "graph: a neighbour is out of range");
    g.neighbor[0] = 3;
    assert_string_equal(graph_check(&g), "graph: neighbours do not ascend");
    graph_free(&m, &g);
    a.row[1] = 0;
    assert_string_equal(pattern_check(&a), "pattern: rows do not ascend in range");
    a.row[0] = 1;
    assert_string_equal(pattern_check(&a), "pattern: a diagonal entry is absent");
    problem_free(&a);
}

/* Compares the classes and the compressed graph with their definition. */
static void check_compression(const graph *g, const graph *c, const int32_t *class_of)
{
    assert_null(graph_check(c));
    int32_t *weight = calloc((size_t)c->n + 1, sizeof *weight);
    assert_non_null(weight);
    for (int32_t u = 0; u < g->n; u++) {
        assert_in_range(class_of[u], 0, c->n - 1);
        weight[class_of[u]] += g->weight ? g->weight[u] : 1;
        for (int32_t v = 0; v < g->n; v++) {
            assert_int_equal(class_of[u] == class_of[v], closed_neighbourhoods_agree(g, u, v));
            if (class_of[u] != class_of[v])
                assert_int_equal(adjacent(c, class_of[u], class_of[v]), adjacent(g, u, v));
        }
    }
    for (int32_t k = 0; k < c->n; k++)
        assert_int_equal(c->weight[k], weight[k]);
    free(weight);
}

/* Takes the last entry of column j away, unless it is the diagonal. */
static void drop_last_entry(pattern *a, int32_t j)
{
    const int64_t last = a->start[j + 1] - 1;
    if (last == a->start[j])
        return;
    memmove(a->row + last, a->row + last + 1,
            (size_t)(a->start[a->n] - last - 1) * sizeof(int32_t));
    for (int32_t i = j + 1; i <= a->n; i++)
        a->start[i]--;
}

static void compression_merges_equal_closed_neighbourhoods(void **state)
{
    (void)state;
    int compressed = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, 20);
        pattern small = problem_random(n, 0.3, &r),
                a = problem_blown_up(&small, 1 + random_below(&r, 3));
        for (int32_t k = 0; k < 3; k++) /* classes of different sizes */
            drop_last_entry(&a, random_below(&r, a.n));
        graph g, c;
        int32_t class_of[60];
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
        if (c.n >= 0) {
            compressed++;
            check_compression(&g, &c, class_of);
            graph twice;
            int32_t class_of_class[60];
            assert_int_equal(graph_compress(&m, 1, &c, &twice, class_of_class), LIBSOLVER_OK);
            assert_int_equal(twice.n, -1); /* classes are already distinct */
            graph_free(&m, &c);
        }
        graph_free(&m, &g);
        problem_free(&a);
        problem_free(&small);
    }
    assert_true(compressed > 200);
}

static void compression_adds_weights_of_a_weighted_graph(void **state)
{
    (void)state;
    pattern a = problem_complete(5);
    graph g, c;
    int32_t class_of[5];
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    g.weight = memory_new(&m, 5, sizeof(int32_t));
    assert_non_null(g.weight);
    for (int32_t v = 0; v < 5; v++)
        g.weight[v] = v + 1;
    assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.weight[0], 15);
    check_compression(&g, &c, class_of);
    graph_free(&m, &c);
    graph_free(&m, &g);
    problem_free(&a);
}

static void compression_that_gains_little_is_left(void **state)
{
    (void)state;
    pattern problems[] = {problem_grid(7, 5, 2), problem_diagonal(9), problem_path(20),
                          problem_star(10, 0), problem_diagonal(0)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        graph g, c;
        int32_t class_of[70];
        assert_int_equal(graph_build(&m, 1, &problems[i], &g), LIBSOLVER_OK);
        const int64_t in_use = m.in_use;
        assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
        assert_int_equal(c.n, -1);
        assert_int_equal(m.in_use, in_use);
        graph_free(&m, &g);
        problem_free(&problems[i]);
    }
}

static void expansion_keeps_classes_together(void **state)
{
    (void)state;
    const int32_t class_of[] = {2, 0, 2, 1, 0, 2, 1}, compressed_perm[] = {2, 0, 1};
    const int32_t expected[] = {0, 2, 5, 1, 4, 3, 6};
    int32_t perm[7];
    assert_int_equal(order_expand(&m, 7, class_of, 3, compressed_perm, perm), LIBSOLVER_OK);
    assert_memory_equal(perm, expected, sizeof perm);
    assert_int_equal(order_expand(&m, 0, class_of, 0, compressed_perm, perm), LIBSOLVER_OK);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    pattern small = problem_grid(4, 4, 1), a = problem_blown_up(&small, 3);
    int32_t class_of[48], perm[48];
    graph g, c;
    rationed r;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t k = 0;
    for (; status != LIBSOLVER_OK; k++) {
        assert_in_range(k, 0, 100);
        memory_rationed(&m, &r, k);
        status = graph_build(&m, 1, &a, &g);
        if (status == LIBSOLVER_OK) {
            status = graph_compress(&m, 1, &g, &c, class_of);
            if (status == LIBSOLVER_OK) {
                int32_t classes_perm[48];
                for (int32_t i = 0; i < c.n; i++)
                    classes_perm[i] = i;
                status = order_expand(&m, 48, class_of, c.n, classes_perm, perm);
                graph_free(&m, &c);
            }
            graph_free(&m, &g);
        }
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, 0);
    }
    assert_true(k > 8); /* at least 2 for the graph, 5 to compress, 1 to expand */
    problem_free(&a);
    problem_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(graph_has_each_edge_at_both_ends, &m),
        unit_test_of_memory(parts_of_threads_change_nothing, &m),
        unit_test_of_memory(checks_find_what_is_broken, &m),
        unit_test_of_memory(compression_merges_equal_closed_neighbourhoods, &m),
        unit_test_of_memory(compression_adds_weights_of_a_weighted_graph, &m),
        unit_test_of_memory(compression_that_gains_little_is_left, &m),
        unit_test_of_memory(expansion_keeps_classes_together, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
