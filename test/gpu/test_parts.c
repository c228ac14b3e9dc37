/* test/gpu/test_parts.c: large nodes cut into parts, against all other numbers of parts
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/tree/groups.h"
#include "random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 8, MOST = 3000 };

/* A tree of large nodes; every one has all of its parent's rows below it. */
typedef struct large_tree {
    factor_tree tree;
    int32_t first[NODES + 1], above[NODES];
    int64_t row_start[NODES + 1];
    int32_t *row;
    unsigned char *joined;
} large_tree;

static void make_tree(random_stream *r, large_tree *t)
{
    memset(t, 0, sizeof *t);
    const int32_t nodes = 1 + random_below(r, NODES);
    for (int32_t s = 0; s < nodes; s++) {
        const int32_t later = nodes - s - 1;
        t->first[s + 1] = t->first[s] + 1 + random_below(r, random_below(r, 2) ? MOST : 60);
        t->above[s] = later > 0 ? s + 1 + random_below(r, later) : -1;
    }
    const int32_t n = t->first[nodes];
    t->row = calloc((size_t)n * NODES, sizeof(int32_t));
    t->joined = calloc((size_t)n, 1);
    assert_true(t->row && t->joined);
    for (int32_t s = 0; s < nodes; s++) {
        int64_t at = t->row_start[s];
        for (int32_t a = t->above[s]; a >= 0; a = t->above[a])
            for (int32_t c = t->first[a]; c < t->first[a + 1]; c++)
                t->row[at++] = c;
        t->row_start[s + 1] = at;
        for (int32_t c = t->first[s]; c + 1 < t->first[s + 1]; c++)
            t->joined[c] = (c == t->first[s] || !t->joined[c - 1]) && random_below(r, 3) == 0;
    }
    t->tree = (factor_tree){.n = n,
                            .nodes = nodes,
                            .first = t->first,
                            .above = t->above,
                            .row_start = t->row_start,
                            .row = t->row};
}

static void free_tree(large_tree *t)
{
    free(t->row);
    free(t->joined);
}

/* All columns, in their order, in as few parts of a node as the limit allows, of one size but for
 * the places of 2x2 pivots, which none divides. */
static void parts_are_equal(void **state)
{
    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t largest = 1 + random_below(&r, seed % 2 ? 12 : 1200);
        memory m = {0};
        large_tree t;
        pieces p;
        make_tree(&r, &t);
        assert_int_equal(pieces_build(&m, &t.tree, &p), LIBSOLVER_OK);
        assert_int_equal(parts_cut(&m, &t.tree, t.joined, largest, &p), LIBSOLVER_OK);
        int32_t i = 0;
        for (int32_t s = 0; s < t.tree.nodes; s++) {
            const int32_t k = t.first[s + 1] - t.first[s], parts = (k + largest - 1) / largest;
            int32_t count = 0;
            for (int32_t at = 0; at < k; at = p.end[i++], count++) {
                const int32_t length = p.end[i] - p.begin[i], last = t.first[s] + p.end[i] - 1;
                assert_true(p.node[i] == s && p.begin[i] == at);
                assert_true(length <= largest + 1);
                assert_true(length >= k / parts - 1);
                assert_true(p.end[i] == k || !t.joined[last]);
                assert_int_equal(p.alone[i], parts > 1);
            }
            assert_true(count <= parts && (largest == 1 || count == parts));
        }
        assert_int_equal(i, p.count);
        pieces_free(&m, &p);
        assert_int_equal(m.in_use, 0);
        free_tree(&t);
    }
}

/* The forecast for parts of at most so many columns. */
static double forecast_of(const large_tree *t, const layer_costs *costs, int64_t largest,
                          int32_t *parts)
{
    memory m = {0};
    pieces p;
    groups g;
    double bytes = 0, operations = 0, most = 0;
    assert_int_equal(pieces_build(&m, &t->tree, &p), LIBSOLVER_OK);
    assert_int_equal(parts_cut(&m, &t->tree, t->joined, largest, &p), LIBSOLVER_OK);
    *parts = p.count;
    int32_t *layer = memory_new(&m, p.count, sizeof(int32_t));
    assert_int_equal(layers_choose(&m, &t->tree, &p, costs, layer), LIBSOLVER_OK);
    assert_int_equal(groups_build(&m, &t->tree, &p, layer, &g), LIBSOLVER_OK);
    for (int32_t i = 0; i < g.count; i++) {
        const double k = group_columns(&g, i), rows = group_rows(&g, i);
        bytes += 200 + 40 * (k + rows) +
                 (double)costs->scalar_bytes * (rows > 0 ? k * (k + 1) + 2 * k * rows : k * k);
        operations += k * k * k / (rows > 0 ? 3 : 1.5) + k * k * rows;
        most = fmax(most, k);
    }
    const double solve = (2 * g.heights - 1) * costs->step + bytes / costs->bytes_per_second,
                 forming =
                     fmax(operations / costs->operations_per_second, most * costs->column_seconds);
    groups_free(&m, &g);
    memory_free(&m, layer);
    pieces_free(&m, &p);
    return solve + forming / costs->solves;
}

/* Of the numbers of parts of the largest node that are tried, until two in turn are worse. */
static void no_number_of_parts_is_faster(void **state)
{
    static const int64_t numbers[] = {1, 2, 3, 4, 6, 8};
    (void)state;
    int whole = 0, cut = 0;
    for (int seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(700 + (uint64_t)seed);
        const layer_costs costs = {.step = 2.5e-6,
                                   .bytes_per_second = 2e12,
                                   .solves = 1 + random_below(&r, seed % 2 ? 10 : 100),
                                   .operations_per_second = 25e12,
                                   .column_seconds = .25e-6,
                                   .scalar_bytes = 8,
                                   .largest = 6000};
        memory m = {0};
        large_tree t;
        pieces p;
        int32_t largest = 0, wanted = 0;
        double best = INFINITY;
        make_tree(&r, &t);
        assert_int_equal(pieces_build(&m, &t.tree, &p), LIBSOLVER_OK);
        const int32_t before = p.count;
        for (int32_t i = 0; i < p.count; i++)
            largest = p.end[i] > largest ? p.end[i] : largest;
        int worse = 0;
        for (int q = 0; q < 6 && worse < 2 && largest >= 256 * (q ? numbers[q] : 1); q++) {
            int32_t parts;
            const double seconds =
                forecast_of(&t, &costs, (largest + numbers[q] - 1) / numbers[q], &parts);
            worse = seconds < best ? 0 : worse + 1;
            wanted = seconds < best ? parts : wanted;
            best = fmin(seconds, best);
        }
        assert_int_equal(parts_choose(&m, &t.tree, t.joined, &costs, &p), LIBSOLVER_OK);
        assert_int_equal(p.count, largest >= 256 ? wanted : before);
        whole += p.count == before;
        cut += p.count > before;
        pieces_free(&m, &p);
        assert_int_equal(m.in_use, 0);
        free_tree(&t);
    }
    assert_true(whole > 5 && cut > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_equal),
        cmocka_unit_test(no_number_of_parts_is_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
