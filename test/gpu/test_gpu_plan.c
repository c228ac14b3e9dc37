/* test/gpu/test_gpu_plan.c: programs of solves, run by an emulator, against the factor's own
 * matrix, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "gpu/invert/invert.h"
#include "gpu/tree/tree_shape.h"
#include "gpu/plan/trace.h"
#include "solve_emulator.h"
#include "base/owned_tree.h"
#include "tree_shapes.h"
#include <stdlib.h>

/* Most trials are made in double precision, of the other types as many as show what differs. */
enum { IS_DOUBLE = SCALAR_TYPE == LIBSOLVER_D };

typedef struct prepared {
    memory *m;
    owned_tree tree;
    pieces p;
    groups g;
    solve_plan plan;
    unsigned char *joined;
    int32_t *layer;
    char *values;
    double *growth, most_growth;
} prepared;

/* Groups of the pieces at hand, their program and values. */
static libsolver_status build(prepared *q, cpu_system *s, const layer_costs *costs, int32_t blocks,
                              const plan_tuning *tuning)
{
    message why = {0};
    q->layer = memory_new(q->m, q->p.count, sizeof(int32_t));
    if (!q->layer)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(layers_choose(q->m, &q->tree.view, &q->p, costs, q->layer));
    TRY(groups_build(q->m, &q->tree.view, &q->p, q->layer, &q->g));
    TRY(plan_build(&s->env, &q->tree.view, &q->g, q->joined, blocks, tuning, &q->plan, &why));
    q->values = memory_new(q->m, q->plan.value_bytes, 1);
    q->growth = memory_new(q->m, 2 * q->g.count, sizeof(double));
    if (!q->values || !q->growth)
        return LIBSOLVER_OUT_OF_MEMORY;
    memset(q->values, 0xff, (size_t)q->plan.value_bytes); /* NaN */
    TRY(NAME(invert_values)(&s->env, &q->tree.view, &q->p, &q->g, &q->plan, q->values, q->growth,
                            q->growth + q->g.count));
    q->most_growth = 1;
    for (int32_t i = 0; i < 2 * q->g.count; i++)
        q->most_growth = fmax(q->most_growth, q->growth[i]);
    return LIBSOLVER_OK;
}

static plan_tuning random_tuning(random_stream *r)
{
    return (plan_tuning){.task_cost = random_below(r, 3) * 20000,
                         .most_parts = 1 + random_below(r, 8),
                         .direct_sources = 1 + random_below(r, 12),
                         .sum_outs = 1 + random_below(r, TASK_OUTS),
                         .twice = random_below(r, 3) > 0,
                         .strip_bytes = random_below(r, 3) * 2000000};
}

static libsolver_status prepare(prepared *q, cpu_system *s, random_stream *r,
                                const layer_costs *costs, int32_t blocks, int cuts)
{
    memset(q, 0, sizeof *q);
    q->m = &s->env.memory;
    TRY(NAME(cpu_backend).view_tree(s->numeric, &q->tree, NULL));
    q->joined = memory_new(q->m, s->a.n, 1);
    if (!q->joined)
        return LIBSOLVER_OUT_OF_MEMORY;
    NAME(tree_joined)(&q->tree.view, q->joined);
    TRY(pieces_build(q->m, &q->tree.view, &q->p));
    for (int round = 0; round < cuts; round++) {
        int32_t *cut = memory_new(q->m, q->p.count, sizeof(int32_t));
        for (int32_t i = 0; i < q->p.count; i++) {
            cut[i] = random_below(r, 3) ? 0 : random_below(r, 6);
            q->p.without_inverse[i] = random_below(r, 4) == 0;
        }
        const libsolver_status status = pieces_split(q->m, &q->tree.view, cut, q->joined, &q->p);
        memory_free(q->m, cut);
        TRY(status);
    }
    const plan_tuning tuning = random_tuning(r);
    return build(q, s, costs, blocks, random_below(r, 2) ? &tuning : NULL);
}

static void unprepare(prepared *q)
{
    owned_tree_free(q->m, &q->tree);
    pieces_free(q->m, &q->p);
    groups_free(q->m, &q->g);
    plan_free(q->m, &q->plan);
    memory_free(q->m, q->joined);
    memory_free(q->m, q->layer);
    memory_free(q->m, q->values);
    memory_free(q->m, q->growth);
}

/* The program by levels and by blocks gives one and the same answer to b, and a right one if there
 * is one. */
static void check_answer(const prepared *q, const cpu_system *s, const scalar *b, int solvable,
                         uint64_t seed)
{
    const int32_t n = s->a.n;
    const factor_tree *tree = &q->tree.view;
    scalar *x = nan_scalars(n), *again = nan_scalars(n);
    const char *wrong = NAME(emulate_by_levels)(&q->plan, tree, q->values, b, x, seed);
    if (wrong)
        fail_msg("seed %d: %s", (int)seed, wrong);
    wrong = NAME(emulate_by_blocks)(&q->plan, tree, q->values, b, again, seed);
    if (wrong)
        fail_msg("seed %d: %s", (int)seed, wrong);
    for (int32_t i = 0; i < n; i++)
        if (memcmp(&x[i], &again[i], sizeof(scalar)) != 0)
            fail_msg("seed %d: |x(%d)| is %.17g by levels and %.17g by blocks", (int)seed, i,
                     (double)scalar_abs(x[i]), (double)scalar_abs(again[i]));
    const double error = system_backward_error(s, b, x),
                 allowed = 100 * (double)(n + 10) * EPS * q->most_growth;
    if (solvable && !(error <= allowed))
        fail_msg(
            "seed %d, n %d: backward error %.2e, %.2e allowed (growth %.1e, %d groups, %d heights)",
            (int)seed, n, error, allowed, q->most_growth, q->g.count, q->g.heights);
    free(x);
    free(again);
}

static void check_program(const prepared *q, const cpu_system *s, random_stream *r, uint64_t seed)
{
    scalar *b = random_scalars(r, s->a.n);
    check_answer(q, s, b, s->report.zero == 0, seed);
    free(b);
}

static layer_costs random_costs(random_stream *r, const cpu_system *s)
{
    static const double steps[] = {1e-9, 1e-7, 1e-6, 1e-5, 1e-3};
    return (layer_costs){.step = steps[random_below(r, 5)],
                         .bytes_per_second = 4e12,
                         .scalar_bytes = sizeof(scalar),
                         .largest = random_below(r, 2) ? 6000 : 30,
                         .entries_limit = random_below(r, 2) ? 3 * s->f.factor_nnz / 2 : 0};
}

static void random_systems_are_solved(void **state)
{
    (void)state;
    static const int32_t blocks[] = {1, 2, 7, 132, 264};
    for (uint64_t seed = 0; seed < (IS_DOUBLE ? 200 : 60); seed++) {
        random_stream r = random_seeded(seed);
        cpu_system s;
        system_build_random(&s, &r, seed);
        const layer_costs costs = random_costs(&r, &s);
        prepared q;
        assert_int_equal(prepare(&q, &s, &r, &costs, blocks[random_below(&r, 5)],
                                 random_below(&r, 3)),
                         LIBSOLVER_OK);
        check_program(&q, &s, &r, seed);
        unprepare(&q);
        system_free(&s);
    }
}

/* Trees with several children of different height, of several roots, with delays and zero pivots,
 * in groups of few layers and of many; each by a program or two. */
static void branching_trees_are_solved(void **state)
{
    (void)state;
    static const int32_t blocks[] = {1, 3, 16, 132};
    tree_shapes seen = {0};
    for (uint64_t seed = 0; seed < (IS_DOUBLE ? 240 : 100); seed++) {
        random_stream r = random_seeded(20000 + seed);
        branching_system q;
        cpu_system s;
        branching_build(&q, &s, &r);
        scalar *b = branching_b(&q, &r);
        for (int time = 0; time < 2; time++) {
            const layer_costs costs = random_costs(&r, &s);
            prepared p;
            assert_int_equal(prepare(&p, &s, &r, &costs, blocks[random_below(&r, 4)], time),
                             LIBSOLVER_OK);
            if (time == 0) {
                note_tree(&seen, &q, &p.tree.view);
                note_groups(&seen, &p.g);
            }
            check_answer(&p, &s, b, branching_is_solvable(&q), seed);
            unprepare(&p);
        }
        free(b);
        branching_free(&q);
    }
    check_shapes(&seen, 1);
}

/* Large dense groups, long lists of sources, many small groups. */
static void large_shapes_are_solved(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed += IS_DOUBLE ? 1 : 5) {
        random_stream r = random_seeded(1000 + seed);
        const int kind = (int)(seed / 8);
        pattern a;
        switch (seed % 8) {
        case 0:
            a = problem_grid(45, 45, 1);
            break;
        case 1:
            a = problem_grid(9, 9, 9);
            break;
        case 2:
            a = problem_star(3000, 2999);
            break;
        case 3:
            a = problem_diagonal(5000);
            break;
        case 4:
            a = problem_complete(700);
            break;
        case 5:
            a = problem_path(3000);
            break;
        case 6:
            a = problem_star(2000, 0);
            break;
        default: {
            const pattern grid = problem_grid(12, 12, 1);
            a = problem_blown_up(&grid, 5);
            problem_free((pattern *)&grid);
        }
        }
        cpu_system s;
        const int hermitian = SCALAR_COMPLEX && (kind == SPD || seed % 2);
        assert_int_equal(system_build_in_order(&s, a, random_values(&r, &a, kind), kind, hermitian,
                                               NATURAL),
                         LIBSOLVER_OK);
        for (int costs_of = 0; costs_of < 3; costs_of++) {
            const layer_costs costs = {.step = costs_of == 0   ? 1e-9
                                               : costs_of == 1 ? 1.2e-6
                                                               : 1e-3,
                                       .bytes_per_second = 4e12,
                                       .scalar_bytes = sizeof(scalar),
                                       .largest = 6000};
            prepared q;
            assert_int_equal(prepare(&q, &s, &r, &costs, costs_of == 0 ? 264 : 5, costs_of == 2),
                             LIBSOLVER_OK);
            check_program(&q, &s, &r, seed);
            unprepare(&q);
        }
        system_free(&s);
    }
}

/* Labels are those of the tasks in the lists, and a trace has them with levels counted and times
 * from the first begin. */
static void traces_are_labelled(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    cpu_system s;
    prepared q;
    system_build_grid(&s, &r, 60, 60, SPD, NATURAL);
    const layer_costs costs = {
        .step = 1e-6, .bytes_per_second = 4e12, .scalar_bytes = sizeof(scalar), .largest = 6000};
    assert_int_equal(prepare(&q, &s, &r, &costs, 40, 0), LIBSOLVER_OK);
    const int64_t tasks = q.plan.task_count;
    task_times *times = calloc((size_t)tasks, sizeof *times);
    libsolver_task *task = calloc((size_t)tasks, sizeof *task);
    int64_t bytes = 0;
    for (int64_t t = 0; t < tasks; t++) {
        const uint64_t come = (uint64_t)(5000 + random_below(&r, 1000) + (t > 0));
        times[t] = (task_times){come, come + 10, come + 30, come + 60};
        bytes += q.plan.label[t].bytes;
    }
    times[0].come = 5000;
    assert_int_equal(bytes, q.plan.bytes_read);
    assert_int_equal(trace_tasks(q.m, q.plan.label, times, tasks, q.g.heights, task), LIBSOLVER_OK);
    int32_t levels = 0, kinds[LIBSOLVER_TASK_SUM + 1] = {0};
    for (int32_t b = 0, t = 0; b < q.plan.blocks; b++)
        for (int32_t k = 0, last = 0; k < q.plan.block[b].tasks; k++, t++) {
            assert_int_equal(task[t].block, b);
            assert_true(task[t].level >= last && task[t].height >= 0 &&
                        task[t].height < q.g.heights);
            assert_true(fabs(task[t].end - task[t].gathered - 30e-9) < 1e-15 && task[t].begin >= 0);
            /* the root has G */
            assert_false(task[t].backward && task[t].height == q.g.heights - 1);
            kinds[task[t].kind]++;
            last = task[t].level;
            levels = last >= levels ? last + 1 : levels;
        }
    assert_int_equal(levels, q.plan.level_count);
    assert_true(kinds[LIBSOLVER_TASK_TOP] > 0 && (kinds[LIBSOLVER_TASK_LARGE] > 0 || !IS_DOUBLE));
    assert_true(task[0].begin == 0);
    free(times);
    free(task);
    unprepare(&q);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_labelled),
        cmocka_unit_test(random_systems_are_solved),
        cmocka_unit_test(branching_trees_are_solved),
        cmocka_unit_test(large_shapes_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
