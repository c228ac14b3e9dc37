/* test/ordering/test_nd.c: nested dissection and its parts
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ordering/nd/nd.h"
#include "problems.h"
#include <stdlib.h>
#include <string.h>

static environment env;

static graph graph_of(const pattern *a)
{
    graph g;
    assert_int_equal(graph_build(&env.memory, 1, a, &g), LIBSOLVER_OK);
    return g;
}

static int32_t *ordered_thin(const graph *g, uint64_t seed, int32_t thin)
{
    int32_t *perm = malloc(sizeof(int32_t) * ((size_t)g->n + 1));
    assert_non_null(perm);
    assert_int_equal(order_nd(&env, g, seed, thin, perm), LIBSOLVER_OK);
    const char *fault = permutation_check(&env.memory, g->n, perm);
    if (fault)
        fail_msg("n = %d, seed %d: %s", g->n, (int)seed, fault);
    return perm;
}

static int32_t *ordered(const graph *g, uint64_t seed)
{
    return ordered_thin(g, seed, 0);
}

/* Columns of the longest path of the tree. */
static int32_t longest_path(const pattern *a, const int32_t *perm)
{
    forest f;
    assert_int_equal(forest_build(&env.memory, a, perm, &f), LIBSOLVER_OK);
    const int32_t longest = f.chain;
    forest_free(&env.memory, &f);
    return longest;
}

/* A band is dissected to the end if that is asked for, a square grid as it was. */
static void thin_parts_get_short_paths(void **state)
{
    (void)state;
    pattern band = problem_grid(30000, 2, 1), square = problem_grid(150, 150, 1);
    graph g = graph_of(&band), h = graph_of(&square);
    int32_t *plain = ordered(&g, 1), *thin = ordered_thin(&g, 1, 16);
    assert_in_range(longest_path(&band, thin), 1, longest_path(&band, plain) / 4);
    free(plain);
    free(thin);
    plain = ordered(&h, 1);
    thin = ordered_thin(&h, 1, 16);
    assert_memory_equal(plain, thin, sizeof(int32_t) * (size_t)h.n);
    free(plain);
    free(thin);
    graph_free(&env.memory, &g);
    graph_free(&env.memory, &h);
    problem_free(&band);
    problem_free(&square);
}

static void all_kinds_of_graphs_get_permutations(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    pattern small = problem_grid(40, 40, 1);
    pattern problems[] = {problem_diagonal(0),
                          problem_diagonal(1),
                          problem_diagonal(5000),
                          problem_path(2),
                          problem_path(1000000),
                          problem_star(100000, 0),
                          problem_star(100000, 99999),
                          problem_complete(700),
                          problem_grid(120, 110, 1),
                          problem_grid(20, 20, 20),
                          problem_random(3000, 2e-4, &r),
                          problem_random(1500, 1e-2, &r),
                          problem_blown_up(&small, 3),
                          problem_grid(30000, 1, 1)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        graph g = graph_of(&problems[i]);
        free(ordered(&g, i));
        graph_free(&env.memory, &g);
        problem_free(&problems[i]);
    }
    problem_free(&small);
    for (uint64_t seed = 0; seed < 300; seed++) {
        r = random_seeded(seed);
        const int32_t n = random_below(&r, 900);
        pattern a = problem_random(n, (double)random_below(&r, 6) / (n + 1), &r);
        graph g = graph_of(&a);
        free(ordered(&g, seed));
        graph_free(&env.memory, &g);
        problem_free(&a);
    }
    assert_int_equal(env.memory.in_use, 0);
}

/* A weighted copy of a graph. */
static weighted_graph weighted(const graph *g, arena *scratch, random_stream *r)
{
    weighted_graph w = {.n = g->n, .start = g->start, .neighbor = g->neighbor};
    w.weight = arena_new(scratch, g->n, sizeof(int32_t));
    assert_non_null(w.weight);
    for (int32_t v = 0; v < g->n; v++)
        w.total += w.weight[v] = 1 + (r ? random_below(r, 5) : 0);
    return w;
}

static void check_separation(const weighted_graph *w, const separation *s, uint64_t seed)
{
    int32_t weight[3] = {0, 0, 0};
    for (int32_t v = 0; v < w->n; v++) {
        assert_in_range(s->side[v], LEFT, SEPARATOR);
        weight[s->side[v]] += w->weight[v];
        for (int64_t p = w->start[v]; p < w->start[v + 1]; p++)
            if (s->side[v] != SEPARATOR && s->side[w->neighbor[p]] == 1 - s->side[v])
                fail_msg("seed %d: edge %d - %d joins the sides", (int)seed, v, w->neighbor[p]);
    }
    assert_memory_equal(weight, s->weight, sizeof weight);
}

static void separators_separate(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 3 + random_below(&r, 600);
        pattern a = seed % 2 ? problem_grid(2 + n / 40, 20, 1 + n / 300)
                             : problem_random(n, (double)(1 + random_below(&r, 5)) / n, &r);
        graph g = graph_of(&a);
        arena scratch;
        arena_init(&scratch, &env.memory, 4096);
        const weighted_graph w = weighted(&g, &scratch, seed % 3 ? &r : NULL);
        nd_random draws = {seed};
        separation s = {.side = arena_new(&scratch, w.n, 1)};
        assert_int_equal(nd_bisect(&scratch, &w, 1 + (int)(seed % 3), 1 + (int)(seed / 3 % 2), NULL,
                                   &draws, &s),
                         LIBSOLVER_OK);
        check_separation(&w, &s, seed);
        arena_free(&scratch);
        graph_free(&env.memory, &g);
        problem_free(&a);
    }
    assert_int_equal(env.memory.in_use, 0);
}

/* weight: of the parts that two rivals lead to. */
static void bisect(const graph *g, uint64_t seed, int tries, int32_t weight[3])
{
    arena scratch;
    arena_init(&scratch, &env.memory, 4096);
    const weighted_graph w = weighted(g, &scratch, NULL);
    nd_random draws = {seed};
    separation s = {.side = arena_new(&scratch, w.n, 1)};
    assert_int_equal(nd_bisect(&scratch, &w, tries, 2, NULL, &draws, &s), LIBSOLVER_OK);
    memcpy(weight, s.weight, sizeof s.weight);
    arena_free(&scratch);
}

static void a_grid_is_cut_across(void **state)
{
    (void)state;
    pattern a = problem_grid(100, 20, 1);
    graph g = graph_of(&a);
    for (uint64_t seed = 0; seed < 10; seed++) {
        int32_t weight[3];
        bisect(&g, seed, 3, weight);
        assert_in_range(weight[SEPARATOR], 18, 24); /* 20 in a straight line */
        assert_in_range(weight[LEFT], 600, 1400);
    }
    graph_free(&env.memory, &g);
    problem_free(&a);
}

/* A plane of a cube with seven-point stars has 400 vertices here, a cut across its diagonal 300. */
static void a_cube_is_cut_across_its_diagonal(void **state)
{
    (void)state;
    pattern a = problem_grid(20, 20, 20);
    graph g = graph_of(&a);
    int across = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        int32_t weight[3];
        bisect(&g, seed, 2, weight);
        assert_in_range(weight[SEPARATOR], 250, 400);
        across += weight[SEPARATOR] < 350;
    }
    assert_in_range(across, 5, 8);
    graph_free(&env.memory, &g);
    problem_free(&a);
}

/* Separators of lattices, in their own order and in random ones, hold apart what they should, and
 * are as short as the vertices at one distance from a corner. */
static void lattices_are_cut_by_distance(void **state)
{
    (void)state;
    const struct {
        int32_t x, y, z, most;
    } grids[] = {
        {100, 100, 1, 92}, {90, 30, 1, 31}, {20, 20, 20, 310}, {30, 30, 2, 61}, {500, 1, 1, 1}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            random_stream r = random_seeded(seed);
            pattern a = problem_grid(grids[i].x, grids[i].y, grids[i].z);
            graph g = graph_of(&a), other;
            int32_t *number = malloc(sizeof(int32_t) * (size_t)a.n);
            random_permutation(&r, a.n, number);
            assert_int_equal(graph_merge(&env.memory, &g, number, a.n, &other), LIBSOLVER_OK);
            arena scratch;
            arena_init(&scratch, &env.memory, 4096);
            const weighted_graph w = weighted(seed % 2 ? &other : &g, &scratch, NULL);
            nd_random draws = {seed};
            separation s = {.side = arena_new(&scratch, w.n, 1)};
            assert_int_equal(nd_cut_lattice(&scratch, &w, 0, &draws, &s), LIBSOLVER_OK);
            assert_true(s.is_level);
            check_separation(&w, &s, seed);
            assert_in_range(s.weight[SEPARATOR], 1, grids[i].most);
            assert_in_range(s.weight[LEFT], 1, w.total * 3 / 5);
            assert_in_range(s.weight[RIGHT], 1, w.total * 3 / 5);
            arena_free(&scratch);
            graph_free(&env.memory, &g);
            graph_free(&env.memory, &other);
            problem_free(&a);
            free(number);
        }
    assert_int_equal(env.memory.in_use, 0);
}

/* Graphs with an edge between vertices of one distance, with many neighbours, with no vertices,
 * whose first component is less than two fifths of them, or where refinement shortens a level. */
static void other_graphs_are_no_lattices(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    pattern pair = problem_path(2), problems[] = {problem_grid_with_diagonal(60, 50, 1),
                                                  problem_grid_with_diagonal(12, 12, 12),
                                                  problem_random(400, .02, &r),
                                                  problem_star(300, 0),
                                                  problem_wide(400, 30, &r),
                                                  problem_blown_up(&pair, 4),
                                                  problem_complete(30),
                                                  problem_binary_tree(1000),
                                                  problem_diagonal(50),
                                                  problem_diagonal(0)};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        graph g = graph_of(&problems[i]);
        arena scratch;
        arena_init(&scratch, &env.memory, 4096);
        const weighted_graph w = weighted(&g, &scratch, NULL);
        nd_random draws = {1};
        separation s = {.side = arena_new(&scratch, w.n + 1, 1)};
        assert_int_equal(nd_cut_lattice(&scratch, &w, 0, &draws, &s), LIBSOLVER_OK);
        if (s.is_level)
            fail_msg("problem %zu counts as a lattice", i);
        arena_free(&scratch);
        graph_free(&env.memory, &g);
        problem_free(&problems[i]);
    }
    problem_free(&pair);
    assert_int_equal(env.memory.in_use, 0);
}

static void coarse_graphs_are_sums(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 2 + random_below(&r, 400);
        pattern a = problem_random(n, (double)random_below(&r, 5) / n, &r);
        graph g = graph_of(&a);
        arena scratch;
        arena_init(&scratch, &env.memory, 4096);
        const weighted_graph w = weighted(&g, &scratch, &r);
        nd_random draws = {seed};
        weighted_graph c;
        int32_t *class_of = arena_new(&scratch, n, sizeof(int32_t)), heaviest = 12;
        const int32_t classes = nd_cluster(&scratch, &w, heaviest, &draws, class_of);
        assert_in_range(classes, 1, n);
        assert_true(nd_contract(&scratch, &w, class_of, classes, &c));
        int64_t crossing = 0, strength = 0;
        int32_t *weight = calloc((size_t)classes, sizeof(int32_t));
        for (int32_t v = 0; v < n; v++) {
            assert_in_range(class_of[v], 0, classes - 1);
            weight[class_of[v]] += w.weight[v];
            for (int64_t p = w.start[v]; p < w.start[v + 1]; p++)
                crossing += class_of[v] != class_of[w.neighbor[p]];
        }
        assert_memory_equal(weight, c.weight, sizeof(int32_t) * (size_t)classes);
        for (int32_t v = 0; v < classes; v++) {
            assert_in_range(c.weight[v], 1, heaviest);
            for (int64_t p = c.start[v]; p < c.start[v + 1]; p++) {
                strength += c.strength[p];
                assert_int_not_equal(c.neighbor[p], v);
            }
        }
        assert_int_equal(strength, crossing);
        free(weight);
        arena_free(&scratch);
        graph_free(&env.memory, &g);
        problem_free(&a);
    }
}

typedef struct cost {
    double nnz, flops;
} cost;

static cost cost_of(const pattern *a, const int32_t *perm)
{
    int64_t nnz;
    double flops;
    assert_int_equal(forest_cost(&env.memory, a, perm, &nnz, &flops), LIBSOLVER_OK);
    return (cost){(double)nnz, flops};
}

/* Bounds above what was measured; the last two are no lattices. */
static void fill_on_grids_is_that_of_nested_dissection(void **state)
{
    (void)state;
    pattern problems[] = {problem_grid(150, 150, 1), problem_grid(24, 24, 24),
                          problem_grid_with_diagonal(150, 150, 1),
                          problem_grid_with_diagonal(24, 24, 24)};
    const double bound_amd[] = {.87, .75, 1, 1}, bound_metis[] = {1, 1.1, 1.25, 1.25};
    for (int i = 0; i < 4; i++) {
        const pattern *a = &problems[i];
        graph g = graph_of(a);
        int32_t *amd = malloc(sizeof(int32_t) * (size_t)a->n),
                *metis = malloc(sizeof(int32_t) * (size_t)a->n);
        assert_int_equal(order_amd(&env.memory, &g, amd), LIBSOLVER_OK);
        const libsolver_status status = order_metis(&env.memory, &g, metis);
        for (uint64_t seed = 0; seed < 3; seed++) {
            int32_t *ours = ordered(&g, seed);
            const double nnz = cost_of(a, ours).nnz;
            if (nnz > bound_amd[i] * cost_of(a, amd).nnz)
                fail_msg("grid %d, seed %d: %.3f of AMD's nnz(L)", i, (int)seed,
                         nnz / cost_of(a, amd).nnz);
            if (status == LIBSOLVER_OK && nnz > bound_metis[i] * cost_of(a, metis).nnz)
                fail_msg("grid %d, seed %d: %.3f of METIS's nnz(L)", i, (int)seed,
                         nnz / cost_of(a, metis).nnz);
            free(ours);
        }
        free(amd);
        free(metis);
        graph_free(&env.memory, &g);
        problem_free(&problems[i]);
    }
}

/* The halo order of a whole graph is minimum degree: as good as AMD's. */
static void leaves_are_ordered_by_minimum_degree(void **state)
{
    (void)state;
    pattern problems[] = {problem_grid(60, 60, 1), problem_path(500), problem_star(500, 7),
                          problem_grid(12, 12, 12)};
    for (int i = 0; i < 4; i++) {
        const pattern *a = &problems[i];
        graph g = graph_of(a);
        arena scratch;
        arena_init(&scratch, &env.memory, 4096);
        const weighted_graph w = weighted(&g, &scratch, NULL);
        int32_t *amd = malloc(sizeof(int32_t) * (size_t)a->n),
                *ours = malloc(sizeof(int32_t) * (size_t)a->n);
        assert_int_equal(order_amd(&env.memory, &g, amd), LIBSOLVER_OK);
        assert_int_equal(minimum_degree(&scratch, &w, w.n, ours), LIBSOLVER_OK);
        assert_null(permutation_check(&env.memory, a->n, ours));
        const double ratio = cost_of(a, ours).nnz / cost_of(a, amd).nnz;
        if (ratio > 1.1)
            fail_msg("problem %d: %.3f of AMD's nnz(L)", i, ratio);
        free(amd);
        free(ours);
        arena_free(&scratch);
        graph_free(&env.memory, &g);
        problem_free(&problems[i]);
    }
}

static void the_order_does_not_depend_on_threads(void **state)
{
    (void)state;
    random_stream r = random_seeded(5);
    pattern problems[] = {problem_grid(250, 200, 1), problem_grid(33, 33, 33),
                          problem_random(40000, 6e-5, &r), problem_star(30000, 5)};
    for (int i = 0; i < 4; i++) {
        graph g = graph_of(&problems[i]);
        env.threads = 1;
        int32_t *first = ordered(&g, 1);
        for (int k = 0; k < 4; k++) {
            env.threads = (int[]){2, 5, 2, 1}[k];
            srand((unsigned)k);
            int32_t *again = ordered(&g, 1);
            assert_memory_equal(first, again, sizeof(int32_t) * (size_t)g.n);
            free(again);
        }
        free(first);
        graph_free(&env.memory, &g);
        problem_free(&problems[i]);
    }
}

static void the_seed_matters(void **state)
{
    (void)state;
    pattern a = problem_grid(40, 40, 1);
    graph g = graph_of(&a);
    int32_t *one = ordered(&g, 1), *two = ordered(&g, 2);
    assert_memory_not_equal(one, two, sizeof(int32_t) * (size_t)g.n);
    free(one);
    free(two);
    graph_free(&env.memory, &g);
    problem_free(&a);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    environment other = env;
    pattern problems[] = {problem_grid(25, 20, 1), problem_grid(150, 120, 1),
                          problem_grid_with_diagonal(150, 120, 1)};
    for (int i = 0; i < 3; i++)
        for (int threads = 1; threads <= 2; threads++) {
            memory_init(&other.memory, NULL, NULL, NULL, 0);
            graph g;
            assert_int_equal(graph_build(&other.memory, 1, &problems[i], &g), LIBSOLVER_OK);
            int32_t *perm = malloc(sizeof(int32_t) * (size_t)g.n);
            libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
            env.threads = threads;
            int64_t k = 0;
            for (; status == LIBSOLVER_OUT_OF_MEMORY; k++) {
                rationed ration;
                memory_rationed(&env.memory, &ration, k);
                status = order_nd(&env, &g, 1, 0, perm);
                assert_int_equal(env.memory.in_use, 0);
            }
            assert_int_equal(status, LIBSOLVER_OK);
            assert_in_range(k, 3, 2000);
            free(perm);
            graph_free(&other.memory, &g);
        }
    for (int i = 0; i < 3; i++)
        problem_free(&problems[i]);
}

static int stop(void *user)
{
    _Atomic int *left = user;
    return atomic_fetch_sub(left, 1) <= 0;
}

static void a_cancelled_run_stops(void **state)
{
    (void)state;
    pattern a = problem_grid(230, 220, 1); /* more than 40 parts */
    graph g = graph_of(&a);
    const int64_t before = env.memory.in_use;
    int32_t *perm = malloc(sizeof(int32_t) * (size_t)g.n);
    for (int threads = 1; threads <= 2; threads++)
        for (int at = 0; at < 40; at += 3) {
            _Atomic int left = at;
            env.threads = threads;
            env.cancel = stop;
            env.cancel_user = &left;
            assert_int_equal(order_nd(&env, &g, 1, 0, perm), LIBSOLVER_CANCELLED);
            assert_int_equal(env.memory.in_use, before);
        }
    free(perm);
    graph_free(&env.memory, &g);
    problem_free(&a);
}

static int fresh(void **state)
{
    (void)state;
    memset(&env, 0, sizeof env);
    memory_init(&env.memory, NULL, NULL, NULL, 0);
    env.threads = 1;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_kinds_of_graphs_get_permutations, fresh,
                                        print_last_seed),
        cmocka_unit_test_setup_teardown(separators_separate, fresh, print_last_seed),
        cmocka_unit_test_setup(a_grid_is_cut_across, fresh),
        cmocka_unit_test_setup(a_cube_is_cut_across_its_diagonal, fresh),
        cmocka_unit_test_setup_teardown(lattices_are_cut_by_distance, fresh, print_last_seed),
        cmocka_unit_test_setup(other_graphs_are_no_lattices, fresh),
        cmocka_unit_test_setup_teardown(coarse_graphs_are_sums, fresh, print_last_seed),
        cmocka_unit_test_setup(thin_parts_get_short_paths, fresh),
        cmocka_unit_test_setup(fill_on_grids_is_that_of_nested_dissection, fresh),
        cmocka_unit_test_setup(leaves_are_ordered_by_minimum_degree, fresh),
        cmocka_unit_test_setup(the_order_does_not_depend_on_threads, fresh),
        cmocka_unit_test_setup(the_seed_matters, fresh),
        cmocka_unit_test_setup(each_failed_allocation_is_reported, fresh),
        cmocka_unit_test_setup(a_cancelled_run_stops, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
