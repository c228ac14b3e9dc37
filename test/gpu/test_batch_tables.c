/* test/gpu/test_batch_tables.c: how the warps of a block share the tree of a batch's items
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/batch/batch_tables.h"
#include "gpu/batch/tree_plan.h"
#include "gpu/substitute/substitution_plan.h"
#include "problems.h"
#include "scaled_system.h"
#include <stdlib.h>

static int part_of(const batch_share *s, int32_t front)
{
    int part = 0;
    while (part < BATCH_PARTS && front >= s->begin[part + 1])
        part++;
    return part;
}

/* The part of each pivot. */
static int *parts_of(const batch_tables *t)
{
    int *part = malloc(sizeof(int) * (size_t)(t->n + 1));
    assert_non_null(part);
    for (int32_t q = 0; q < t->fronts; q++)
        for (int32_t j = 0; j < t->front[q].k; j++)
            part[t->front[q].first + j] = part_of(&t->share, q);
    return part;
}

/* Rows of a warp's fronts are its own, or the top's, of which it has a copy; those of the top's
 * fronts are the top's.  Every row comes behind the pivots of its front. */
static void check_rows(const batch_tables *t)
{
    int *part = parts_of(t);
    const int32_t top = t->share.top;
    for (int32_t q = 0; q < t->fronts; q++) {
        const batch_front *f = t->front + q;
        const int own = part_of(&t->share, q);
        for (int64_t i = f->rows; i < f->rows + f->m - f->k; i++) {
            const int32_t row = t->row[i], there = t->shared[i];
            assert_in_range(row, f->first + f->k, t->n - 1);
            assert_true(part[row] == own || part[row] == BATCH_PARTS);
            if (part[row] == own)
                assert_int_equal(there, row);
            else {
                const int32_t copy = there - t->n - own * top;
                assert_in_range(copy, 0, top - 1);
                assert_int_equal(t->top_row[copy], row);
            }
        }
    }
    free(part);
}

/* The longest share of a warp and the top, in pivots. */
static void check_tables(cpu_system *s, int32_t *longest, int32_t *top)
{
    factor_program g = program_of(s, NULL);
    const factor_pattern p = fronts_of(s);
    batch_tables t;
    assert_int_equal(batch_tables_build(&s->env.memory, &g, &p, &t), LIBSOLVER_OK);
    assert_int_equal(t.share.begin[0], 0);
    assert_int_equal(t.fronts, g.nodes);
    *longest = 0;
    int32_t pivots[BATCH_PARTS + 1] = {0};
    for (int32_t q = 0; q < t.fronts; q++)
        pivots[part_of(&t.share, q)] += t.front[q].k;
    for (int w = 0; w < BATCH_PARTS; w++) {
        assert_true(t.share.begin[w] <= t.share.begin[w + 1]);
        *longest = pivots[w] > *longest ? pivots[w] : *longest;
    }
    *top = t.share.top;
    assert_int_equal(*top, pivots[BATCH_PARTS]);
    assert_true(4 * *top <= t.n);
    check_rows(&t);
    batch_tables_free(&s->env.memory, &t);
    factor_program_free(&s->env.memory, &g);
}

static void random_systems_are_shared(void **state)
{
    (void)state;
    for (int seed = 0; seed < 100; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        int32_t longest, top;
        positive_system(&s, &r, random_pattern(&r, seed < 50 ? seed : random_below(&r, 300)),
                        seed % ORDERS);
        check_tables(&s, &longest, &top);
        system_free(&s);
    }
}

/* A grid is cut so that each warp has about as much; one path stays whole. */
static void shares_are_even(void **state)
{
    (void)state;
    cpu_system s;
    random_stream r = random_seeded(1);
    int32_t longest, top;
    system_build_grid(&s, &r, 70, 70, SPD, BY_DISSECTION);
    check_tables(&s, &longest, &top);
    assert_in_range(top, 50, 1000);
    assert_in_range(longest, 1, 4900 / BATCH_PARTS * 3 / 2);
    system_free(&s);
    positive_system(&s, &r, problem_path(400), NATURAL);
    check_tables(&s, &longest, &top);
    assert_in_range(longest + top, 400, 400);
    system_free(&s);
}

static void without_memory(void **state)
{
    (void)state;
    cpu_system s;
    random_stream r = random_seeded(1);
    system_build_grid(&s, &r, 20, 20, SPD, BY_DISSECTION);
    factor_program g = program_of(&s, NULL);
    const factor_pattern p = fronts_of(&s);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int failures = 0;
    for (; status != LIBSOLVER_OK; failures++) {
        batch_tables t;
        s.ration.left = failures;
        status = batch_tables_build(&s.env.memory, &g, &p, &t);
        s.ration.left = INT64_MAX;
        batch_tables_free(&s.env.memory, &t);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
    }
    assert_true(failures > 10);
    factor_program_free(&s.env.memory, &g);
    system_free(&s);
}

/* A plan's nodes are the fronts, with their panels and rows; nothing is left without memory. */
static void trees_are_planned(void **state)
{
    (void)state;
    cpu_system s;
    random_stream r = random_seeded(1);
    system_build_grid(&s, &r, 40, 50, SPD, BY_DISSECTION);
    factor_program g = program_of(&s, NULL);
    const factor_pattern p = fronts_of(&s);
    memory *m = &s.env.memory;
    const int64_t held = m->in_use;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    substitution plan;
    int failures = 0;
    for (; status == LIBSOLVER_OUT_OF_MEMORY; failures++) {
        s.ration.left = failures;
        status = batch_tree_plan(m, &g, &p, SCALAR_TYPE, &plan);
        s.ration.left = INT64_MAX;
        if (status != LIBSOLVER_OK)
            substitution_free(m, &plan);
        assert_true(status == LIBSOLVER_OK || m->in_use == held);
    }
    assert_int_equal(status, LIBSOLVER_OK);
    assert_true(failures > 10);
    assert_int_equal(plan.nodes, p.nodes);
    for (int32_t v = 0; v < p.nodes; v++) {
        const substitution_node *q = &plan.node[v];
        const factor_front *f = &g.front[v];
        assert_true(q->panel == f->panel && q->ld == f->ld && q->columns == f->k &&
                    q->rows == f->m - f->k && q->first == f->first);
        for (int32_t i = 0; i < q->rows; i++)
            assert_int_equal(plan.row[q->row_start + i], p.index[p.row_start[v] + f->k + i]);
    }
    substitution_free(m, &plan);
    assert_int_equal(m->in_use, held);
    factor_program_free(m, &g);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_shared),
        cmocka_unit_test(shares_are_even),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(trees_are_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
