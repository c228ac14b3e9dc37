/* test/solver/test_delays.c: rows that wait for a pivot, against all ways to choose pivots, and
 * what comes of them: seconds, pairs of rows
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include "solver/cpu/backend.h"
#include "solver/order/choose_ordering.h"
#include "solver/order/delays.h"
#include <math.h>
#include <stdlib.h>

static environment env;

enum { MOST = 11 };

/* Most rows of a set, as bits, that pivots cover: the lowest row has one of its own, shares one
 * with another row, or waits.  known: of each set, -1 where it is not. */
static int most_covered(const graph *g, const unsigned char *has_pivot, signed char *known,
                        unsigned set)
{
    int low = 0;
    if (set == 0 || known[set] >= 0)
        return set == 0 ? 0 : known[set];
    while (!(set >> low & 1))
        low++;
    const unsigned rest = set & ~(1u << low);
    int most = has_pivot[low] + most_covered(g, has_pivot, known, rest);
    for (int64_t p = g->start[low]; p < g->start[low + 1]; p++)
        if (rest >> g->neighbor[p] & 1) {
            const unsigned others = rest & ~(1u << g->neighbor[p]);
            const int covered = 2 + most_covered(g, has_pivot, known, others);
            most = covered > most ? covered : most;
        }
    known[set] = (signed char)most;
    return most;
}

/* Edges between rows of two kinds only, so that there are no odd cycles. */
static pattern random_of_two_kinds(int32_t n, double density, random_stream *r)
{
    pattern a = problem_random(n, density, r);
    int64_t kept = 0;
    for (int32_t j = 0; j < n; j++) {
        const int64_t begin = a.start[j];
        a.start[j] = kept;
        for (int64_t p = begin; p < a.start[j + 1]; p++)
            if (a.row[p] == j || (a.row[p] - j) % 2 != 0)
                a.row[kept++] = a.row[p];
    }
    a.start[n] = kept;
    return a;
}

/* In each subtree as many rows wait as no choice of pivots can cover; where there are odd cycles
 * some more may. */
static void rows_wait_that_no_pivots_cover(void **state)
{
    (void)state;
    memory *m = &env.memory;
    int waited = 0, went_on = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, MOST);
        const int has_odd_cycles = seed % 4 == 0;
        pattern a = has_odd_cycles ? problem_random(n, 0.3, &r)
                                   : random_of_two_kinds(n, random_below(&r, 45) / 100.0, &r);
        unsigned char has_pivot[MOST];
        int32_t natural[MOST], waits[MOST] = {0};
        unsigned below[MOST] = {0};
        signed char known[1 << MOST];
        graph g;
        elimination_tree e;
        waiting_rows found;
        const int part = random_below(&r, 4);
        for (int32_t i = 0; i < n; i++) {
            natural[i] = i;
            has_pivot[i] = random_below(&r, 4) < part;
        }
        for (int i = 0; i < 1 << MOST; i++)
            known[i] = -1;
        assert_int_equal(graph_build(m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(elimination_build(m, 1, &g, natural, &e), LIBSOLVER_OK);
        assert_int_equal(delays_find(m, &g, has_pivot, NULL, &e, &found), LIBSOLVER_OK);
        assert_true(found.are_pivots);
        for (int32_t v = 0; v < n; v++) {
            const int32_t row = e.perm[v];
            below[v] |= 1u << row;
            waits[v] += found.from[row] - found.to[row];
            int size = 0;
            for (int32_t i = 0; i < n; i++)
                size += (below[v] >> i & 1) != 0;
            const int least = size - most_covered(&g, has_pivot, known, below[v]);
            assert_in_range(waits[v], least, has_odd_cycles ? size : least);
            waited += found.from[row];
            if (e.parent[v] >= 0) {
                below[e.parent[v]] |= below[v];
                waits[e.parent[v]] += waits[v];
                went_on += waits[v] > 0;
            }
        }
        memory_free(m, found.from);
        elimination_free(m, &e);
        graph_free(m, &g);
        problem_free(&a);
    }
    assert_in_range(waited, 1000, 100000);
    assert_in_range(went_on, 1000, 100000);
}

/* What elimination_seconds has asked for. */
static struct {
    int fronts;
    int64_t k[4], m[4], waiting[4];
} asked;

static double ask(int64_t k, int64_t m, int64_t waiting)
{
    asked.k[asked.fronts] = k;
    asked.m[asked.fronts] = m;
    asked.waiting[asked.fronts++] = waiting;
    return (double)(100 * k + 10 * m + waiting);
}

/* So that no fronts are merged, and so that all are. */
static double square(int64_t k, int64_t m)
{
    (void)m;
    return (double)(k * k);
}

static double one(int64_t k, int64_t m)
{
    (void)k;
    (void)m;
    return 1;
}

/* A path of four rows, the first of which waits for the third: fronts of the first, the second and
 * both others, or one front, in which nothing waits. */
static void fronts_grow_by_what_waits(void **state)
{
    (void)state;
    memory *m = &env.memory;
    pattern a = problem_path(4);
    const int32_t natural[] = {0, 1, 2, 3};
    graph g;
    elimination_tree e;
    int32_t from[] = {1, 0, 0, 0}, to[] = {0, 0, 1, 0};
    double seconds;
    assert_int_equal(graph_build(m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(elimination_build(m, 1, &g, natural, &e), LIBSOLVER_OK);
    for (int are_pivots = 0; are_pivots < 2; are_pivots++) {
        const int64_t k[2][3] = {{1, 1, 2}, {0, 1, 3}}, rows[2][3] = {{2, 2, 2}, {2, 3, 3}},
                      waiting[2][3] = {{1, 1, 1}, {1, 1, 0}};
        const waiting_rows w = {from, to, are_pivots};
        double sum = 0;
        asked.fronts = 0;
        assert_int_equal(elimination_seconds(m, 1, &e, square, ask, 0, &w, &seconds), LIBSOLVER_OK);
        assert_int_equal(asked.fronts, 3);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(asked.k[t], k[are_pivots][t]);
            assert_int_equal(asked.m[t], rows[are_pivots][t]);
            assert_int_equal(asked.waiting[t], waiting[are_pivots][t]);
            sum += (double)(100 * k[are_pivots][t] + 10 * rows[are_pivots][t] +
                            waiting[are_pivots][t]);
        }
        assert_true(seconds == sum);
    }
    const waiting_rows w = {from, to, 1};
    asked.fronts = 0;
    assert_int_equal(elimination_seconds(m, 1, &e, one, ask, 0, &w, &seconds), LIBSOLVER_OK);
    assert_int_equal(asked.fronts, 1);
    assert_true(seconds == 100 * 4 + 10 * 4);
    elimination_free(m, &e);
    graph_free(m, &g);
    problem_free(&a);
}

/* [H B'; B 0] with `constraints` constraints, each of one of as many variables and about so many
 * `others`, and `free_rows` rows of their own.  H is diagonal, `own` for the variables and 1 for
 * those rows, but for the last one where `is_singular`.  powers: of two, by which entries differ.
 */
static pattern saddle(int32_t constraints, int others, int32_t free_rows, double own, int powers,
                      int is_singular, double **magnitude)
{
    random_stream r = random_seeded(1);
    const int32_t n = 2 * constraints + free_rows;
    const int64_t most = n + (int64_t)constraints * constraints;
    pattern a = {n, malloc(sizeof(int64_t) * (size_t)(n + 1)),
                 malloc(sizeof(int32_t) * (size_t)most)};
    double *value = *magnitude = malloc(sizeof(double) * (size_t)most);
    int64_t p = 0;
    for (int32_t j = 0; j < n; j++) {
        a.start[j] = p;
        value[p] = j < constraints ? own : j >= 2 * constraints && !(is_singular && j == n - 1);
        a.row[p++] = j;
        for (int32_t c = 0; c < constraints && j < constraints; c++)
            if (c == j || random_below(&r, constraints) < others) {
                value[p] = c != j ? 1 : ldexp(4, c % 2 == 0 ? powers : -powers);
                a.row[p++] = constraints + c;
            }
    }
    a.start[n] = p;
    return a;
}

/* With what is asked of the matching.  Returns whether there is one, *scales: whether it is to
 * scale the matrix. */
static int is_matched(const pattern *a, const double *magnitude, libsolver_choice wanted,
                      libsolver_status *status, int *scales)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.matching = wanted;
    message why = {0};
    const order_request request = {
        .env = &env, .a = a, .options = &o, .costs = &cpu_costs, .magnitude = magnitude};
    order_result result;
    forest f;
    env.threads = 1;
    *status = choose_forest(&request, &f, &result, &why);
    const int is_there = result.matched != NULL;
    *scales = result.scales;
    matching_free(&env.memory, result.matched);
    if (*status == LIBSOLVER_OK)
        forest_free(&env.memory, &f);
    return is_there;
}

/* Variables and constraints have to be paired; what is known of it are zeros on the diagonal, many
 * or few beside rows of their own, or small entries. */
static void pairs_are_taken_where_rows_would_wait(void **state)
{
    (void)state;
    const struct {
        int others;
        int32_t free_rows;
        double own;
        int powers, is_singular;
        libsolver_choice wanted;
        int matched, scales;
    } cases[] = {
        {3, 0, 0, 0, 0, LIBSOLVER_AUTO, 1, 1},     {3, 0, 1e-6, 0, 0, LIBSOLVER_AUTO, 1, 1},
        {3, 3000, 0, 0, 0, LIBSOLVER_AUTO, 1, 1},  {0, 3000, 1, 0, 0, LIBSOLVER_AUTO, 0, 0},
        {3, 90000, 0, 0, 0, LIBSOLVER_AUTO, 0, 0}, {3, 3000, 1, 0, 0, LIBSOLVER_ON, 1, 0},
        {3, 3000, 0, 0, 1, LIBSOLVER_AUTO, 1, 0},  {3, 3000, 0, 40, 0, LIBSOLVER_AUTO, 1, 0},
        {3, 0, 0, 40, 0, LIBSOLVER_AUTO, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *magnitude;
        pattern a = saddle(300, cases[i].others, cases[i].free_rows, cases[i].own, cases[i].powers,
                           cases[i].is_singular, &magnitude);
        libsolver_status status;
        int scales;
        assert_int_equal(is_matched(&a, magnitude, cases[i].wanted, &status, &scales),
                         cases[i].matched);
        assert_int_equal(status, LIBSOLVER_OK);
        assert_int_equal(scales, cases[i].scales);
        problem_free(&a);
        free(magnitude);
    }
    assert_int_equal(env.memory.in_use, 0);
}

/* The forest of an order that is chosen without values, and whether they ask for another. */
static libsolver_status ask_values(const pattern *a, const double *magnitude, int *lacks)
{
    libsolver_options o;
    libsolver_options_default(&o);
    message why = {0};
    order_request request = {.env = &env, .a = a, .options = &o, .costs = &cpu_costs};
    order_result result;
    forest f;
    env.threads = 1;
    TRY(choose_forest(&request, &f, &result, &why));
    request.magnitude = magnitude;
    const libsolver_status status = order_lacks_pairs(&request, &f, lacks);
    forest_free(&env.memory, &f);
    return status;
}

static void values_ask_for_another_order_where_rows_wait(void **state)
{
    (void)state;
    const struct {
        int others;
        int32_t free_rows;
        double own;
        int lacks;
    } cases[] = {{3, 0, 0, 1},    {0, 0, 0, 1},    {3, 0, 1e-6, 1},
                 {3, 3000, 0, 1}, {0, 3000, 1, 0}, {3, 90000, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *magnitude;
        int lacks;
        pattern a =
            saddle(300, cases[i].others, cases[i].free_rows, cases[i].own, 0, 0, &magnitude);
        assert_int_equal(ask_values(&a, magnitude, &lacks), LIBSOLVER_OK);
        assert_int_equal(lacks, cases[i].lacks);
        problem_free(&a);
        free(magnitude);
    }
    assert_int_equal(env.memory.in_use, 0);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double *magnitude;
        pattern a = saddle(200, 3, 2000 * i, 0, 0, 0, &magnitude);
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        int64_t k = 0;
        for (; status != LIBSOLVER_OK; k++) {
            rationed ration;
            int scales;
            assert_in_range(k, 0, 1000);
            memory_rationed(&env.memory, &ration, k);
            is_matched(&a, magnitude, LIBSOLVER_AUTO, &status, &scales);
            if (status == LIBSOLVER_OK)
                status = ask_values(&a, magnitude, &scales);
            assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
            assert_int_equal(env.memory.in_use, 0);
        }
        assert_true(k > 20);
        problem_free(&a);
        free(magnitude);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(rows_wait_that_no_pivots_cover, &env.memory),
        unit_test_of_memory(fronts_grow_by_what_waits, &env.memory),
        unit_test_of_memory(pairs_are_taken_where_rows_would_wait, &env.memory),
        unit_test_of_memory(values_ask_for_another_order_where_rows_wait, &env.memory),
        unit_test_of_memory(each_failed_allocation_is_reported, &env.memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
