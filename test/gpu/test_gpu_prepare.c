/* test/gpu/test_gpu_prepare.c: programs of solves kept from factor to factor, run by an emulator,
 * of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "gpu/packed/prepare.h"
#include "solve_emulator.h"
#include "base/owned_tree.h"
#include "tree_shapes.h"
#include <stdlib.h>
#include <string.h>

#define NO_LIMIT 1e300

/* Prepares the factor at hand. */
#define ORDINARY_STEP 1e-7
static double step = ORDINARY_STEP; /* from group to group: the shorter, the more groups */
static int64_t largest_part;        /* of a node, 0: whole, ... */
static int64_t solves;              /* ... or as is best for so many */

static libsolver_status prepare(cpu_system *s, double growth_limit, prepared_solve *p)
{
    const prepare_options o = {.blocks = s->a.n > 500 ? 264 : 7,
                               .step = step,
                               .growth_limit = growth_limit,
                               .largest_part = largest_part,
                               .solves = solves};
    owned_tree tree;
    message why = {0};
    TRY(NAME(cpu_backend).view_tree(s->numeric, &tree, NULL));
    const libsolver_status status = prepare_solve(&s->env, &tree.view, &o, p, &why);
    owned_tree_free(&s->env.memory, &tree);
    return status;
}

/* The program at hand solves for b with the factor at hand. */
static void check_answer(const cpu_system *s, const prepared_solve *p, const scalar *b,
                         int solvable, int seed)
{
    const int32_t n = s->a.n;
    scalar *x = nan_scalars(n);
    owned_tree tree;
    assert_int_equal(NAME(cpu_backend).view_tree(s->numeric, &tree, NULL), LIBSOLVER_OK);
    const char *wrong =
        NAME(emulate_by_levels)(&p->plan, &tree.view, p->values, b, x, (uint64_t)seed);
    if (wrong)
        fail_msg("seed %d: %s", seed, wrong);
    double growth = 1;
    for (int32_t i = 0; i < 2 * p->grouped.count; i++)
        growth = fmax(growth, p->growths[i]);
    const double error = system_backward_error(s, b, x),
                 allowed = 100 * (double)(n + 10) * EPS * growth;
    if (solvable && !(error <= allowed))
        fail_msg("seed %d, n %d: backward error %.2e, %.2e allowed", seed, n, error, allowed);
    owned_tree_free((memory *)&s->env.memory, &tree);
    free(x);
}

static void check_solve(const cpu_system *s, const prepared_solve *p, random_stream *r, int seed)
{
    scalar *b = random_scalars(r, s->a.n);
    check_answer(s, p, b, s->report.zero == 0, seed);
    free(b);
}

/* Bit for bit what is prepared for the factor at hand with nothing before, by more threads. */
static void check_as_new(cpu_system *s, double growth_limit, const prepared_solve *p)
{
    prepared_solve q = {0};
    s->env.threads += 3;
    assert_int_equal(prepare(s, growth_limit, &q), LIBSOLVER_OK);
    s->env.threads -= 3;
    assert_int_equal(p->plan.value_bytes, q.plan.value_bytes);
    assert_int_equal(p->plan.description_bytes, q.plan.description_bytes);
    assert_int_equal(p->plan.copy_count, q.plan.copy_count);
    assert_int_equal(p->plan.packets, q.plan.packets);
    assert_memory_equal(p->values, q.values, (size_t)q.plan.value_bytes);
    assert_memory_equal(p->plan.description, q.plan.description, (size_t)q.plan.description_bytes);
    assert_memory_equal(p->plan.block_copy, q.plan.block_copy,
                        (size_t)q.plan.copy_count * sizeof(task_copy));
    assert_memory_equal(p->plan.block, q.plan.block, (size_t)q.plan.blocks * sizeof(task_list));
    assert_memory_equal(p->plan.label, q.plan.label,
                        (size_t)q.plan.task_count * sizeof(plan_label));
    assert_int_equal(p->guarded, q.guarded);
    assert_true(p->largest.of_group == q.largest.of_group);
    double growth = 0;
    for (int32_t i = 0; i < p->grouped.count; i++)
        growth = fmax(growth, p->growths[i]);
    assert_true(p->largest.of_group == growth);
    prepared_free(&s->env.memory, &q);
}

static void factorize_with(cpu_system *s, scalar *values, int kind)
{
    if (s->hermitian)
        make_hermitian(&s->a, values);
    free(s->values);
    s->values = values;
    assert_int_equal(system_factorize(s, kind, 0), LIBSOLVER_OK);
}

static scalar *same_values(const cpu_system *s)
{
    scalar *values = nan_scalars(s->a.start[s->a.n]);
    if (s->a.start[s->a.n] > 0)
        memcpy(values, s->values, (size_t)s->a.start[s->a.n] * sizeof(scalar));
    return values;
}

/* Parts of nodes are no larger than allowed but for a 2x2 pivot, which none of them divides. */
static int32_t check_parts(const prepared_solve *p)
{
    int32_t parts = 0;
    for (int32_t i = 0; i < p->cut.count; i++) {
        const int32_t s = p->cut.node[i], first = p->shape.first[s], end = first + p->cut.end[i];
        assert_true(end == p->shape.first[s + 1] || !p->shape.joined[end - 1]);
        parts += p->cut.begin[i] > 0;
        if (largest_part > 0)
            assert_true(p->cut.end[i] - p->cut.begin[i] <= largest_part + 1);
    }
    return parts;
}

/* The same values, other ones, the first again: kept where pivots stay in their places, always by L
 * L^T.  Nodes whole and in parts, of one column too. */
static void a_plan_serves_factors_of_one_shape(void **state)
{
    (void)state;
    int kept[KINDS] = {0}, anew[KINDS] = {0}, parts[KINDS] = {0};
    for (int seed = 0; seed < (SCALAR_TYPE == LIBSOLVER_D ? 300 : 160); seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        cpu_system s;
        prepared_solve p = {0};
        const int kind = system_build_random(&s, &r, (uint64_t)seed);
        largest_part = seed / 3 % 2 ? 0 : 1 + seed % 5;
        scalar *first = same_values(&s);
        assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
        assert_false(p.kept);
        factorize_with(&s, same_values(&s), kind);
        assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
        assert_true(p.kept);
        check_as_new(&s, NO_LIMIT, &p);
        for (int time = 0; time < 2; time++) {
            factorize_with(&s, time == 0 ? random_values(&r, &s.a, kind) : first, kind);
            assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
            kept[kind] += p.kept;
            anew[kind] += !p.kept;
            parts[kind] += check_parts(&p);
            check_as_new(&s, NO_LIMIT, &p);
            check_solve(&s, &p, &r, seed);
        }
        prepared_free(&s.env.memory, &p);
        system_free(&s);
    }
    largest_part = 0;
    for (int kind = 0; kind < KINDS; kind++)
        assert_true(parts[kind] > 0);
    assert_int_equal(anew[SPD], 0);
    assert_true(kept[INDEFINITE] > 0 && anew[INDEFINITE] > 0);
}

/* The same for trees that branch, as those of a user's matrices do. */
static void a_plan_serves_branching_trees(void **state)
{
    (void)state;
    tree_shapes seen = {0};
    int kept = 0, anew = 0;
    for (int seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(30000 + (uint64_t)seed);
        branching_system q;
        cpu_system s;
        prepared_solve p = {0};
        owned_tree tree;
        step = seed % 3 == 0 ? 1e-7 : seed % 3 == 1 ? 1e-8 : 1e-9;
        largest_part = seed % 4 == 3 ? 1 + seed % 6 : 0;
        branching_build(&q, &s, &r);
        scalar *b = branching_b(&q, &r);
        assert_int_equal(NAME(cpu_backend).view_tree(s.numeric, &tree, NULL), LIBSOLVER_OK);
        note_tree(&seen, &q, &tree.view);
        owned_tree_free(&s.env.memory, &tree);
        for (int time = 0; time < 3; time++) {
            if (time > 0)
                factorize_with(&s, time == 1 ? same_values(&s) : branching_values(&q, &r), q.kind);
            assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
            assert_true(time == 2 || p.kept == (time == 1));
            kept += time == 2 && p.kept;
            anew += time == 2 && !p.kept;
            if (time == 0)
                note_groups(&seen, &p.grouped);
            check_as_new(&s, NO_LIMIT, &p);
            check_answer(&s, &p, b, branching_is_solvable(&q), seed);
        }
        free(b);
        prepared_free(&s.env.memory, &p);
        branching_free(&q);
    }
    step = ORDINARY_STEP;
    largest_part = 0;
    check_shapes(&seen, 1);
    assert_true(kept > 0 && anew > 0);
}

/* Three dense blocks and a dense root of so many rows each, whose rows have sources from all of
 * them; `times` of these. */
static pattern dense_forest(int32_t size, int32_t times)
{
    const int32_t n = 4 * size * times;
    pattern a = {.n = n,
                 .start = calloc((size_t)n + 1, sizeof(int64_t)),
                 .row = calloc((size_t)n * 2 * (size_t)size, sizeof(int32_t))};
    assert_true(a.start && a.row);
    int64_t at = 0;
    for (int32_t j = 0; j < n; j++) {
        const int32_t tree = j / (4 * size) * 4 * size, end = j - j % size + size,
                      root = tree + 3 * size;
        for (int32_t i = j; i < end; i++)
            a.row[at++] = i;
        for (int32_t i = root; i < root + size && j < root; i++)
            a.row[at++] = i;
        a.start[j + 1] = at;
    }
    return a;
}

/* Enough small groups, and enough tasks of roots whose rows have many sources, for several
 * threads. */
static void threads_plan_the_same(void **state)
{
    (void)state;
    for (int shape = 0; shape < 5; shape++) {
        random_stream r = random_seeded(40 + (uint64_t)shape);
        pattern a = shape == 0   ? problem_random(1100, 0.01, &r)
                    : shape == 1 ? problem_grid(60, 40, 1)
                    : shape == 2 ? problem_diagonal(2000)
                    : shape == 3 ? dense_forest(60, 5)
                                 : dense_forest(520, 2);
        cpu_system s;
        prepared_solve p = {0};
        assert_int_equal(system_build_in_order(&s, a, random_values(&r, &a, SPD), SPD,
                                               SCALAR_COMPLEX, NATURAL),
                         LIBSOLVER_OK);
        assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
        check_as_new(&s, NO_LIMIT, &p);
        check_solve(&s, &p, &r, shape);
        prepared_free(&s.env.memory, &p);
        system_free(&s);
    }
}

/* The fewer solves are foreseen, the smaller parts a large node is cut into; very many leave it
 * whole. */
static void few_solves_cut_large_nodes(void **state)
{
    (void)state;
    static const int64_t foreseen[] = {0, 10000, 20, 1};
    random_stream r = random_seeded(50);
    pattern a = problem_complete(1100);
    cpu_system s;
    int32_t last = 0;
    assert_int_equal(system_build_in_order(&s, a, random_values(&r, &a, SPD), SPD, SCALAR_COMPLEX,
                                           NATURAL),
                     LIBSOLVER_OK);
    step = 2.5e-6;
    for (int q = 0; q < 4; q++) {
        prepared_solve p = {0};
        solves = foreseen[q];
        assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
        const int32_t parts = 1 + check_parts(&p);
        assert_true(q < 2 ? parts == 1 : parts >= last);
        assert_true(q < 3 || parts > 1);
        last = parts;
        check_solve(&s, &p, &r, q);
        prepared_free(&s.env.memory, &p);
    }
    solves = 0;
    step = ORDINARY_STEP;
    system_free(&s);
}

/* A tridiagonal matrix whose L is bidiagonal with `ratio` below the diagonal. */
static scalar *chain_values(const pattern *a, double ratio)
{
    scalar *values = nan_scalars(a->start[a->n]);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            values[p] = (scalar)(a->row[p] == j ? 1 + (j > 0 ? ratio * ratio : 0) : ratio);
    return values;
}

/* Kept below the limit; cut finer past it, from there on kept in these pieces; beyond the limit
 * again, planned from whole nodes. */
static void the_guard_looks_at_every_factor(void **state)
{
    (void)state;
    const double limit = 20;
    random_stream r = random_seeded(3);
    pattern a = problem_path(40);
    cpu_system s;
    prepared_solve p = {0};
    assert_int_equal(system_build_in_order(&s, a, chain_values(&a, 0.1), SPD, SCALAR_COMPLEX,
                                           NATURAL),
                     LIBSOLVER_OK);
    assert_int_equal(prepare(&s, limit, &p), LIBSOLVER_OK);
    assert_int_equal(p.guarded, 0);
    factorize_with(&s, chain_values(&s.a, 0.2), SPD);
    assert_int_equal(prepare(&s, limit, &p), LIBSOLVER_OK);
    assert_true(p.kept && p.guarded == 0);
    factorize_with(&s, chain_values(&s.a, 0.99), SPD);
    assert_int_equal(prepare(&s, limit, &p), LIBSOLVER_OK);
    assert_true(!p.kept && p.guarded > 0 && p.largest.of_group <= limit);
    check_as_new(&s, limit, &p);
    check_solve(&s, &p, &r, 0);
    const int32_t count = p.grouped.count;
    factorize_with(&s, chain_values(&s.a, 0.1), SPD);
    assert_int_equal(prepare(&s, limit, &p), LIBSOLVER_OK);
    assert_true(p.kept && p.guarded > 0);
    assert_int_equal(p.grouped.count, count);
    check_solve(&s, &p, &r, 1);
    factorize_with(&s, chain_values(&s.a, 3), SPD);
    assert_int_equal(prepare(&s, limit, &p), LIBSOLVER_OK);
    assert_true(!p.kept && p.largest.of_group <= limit);
    check_as_new(&s, limit, &p);
    check_solve(&s, &p, &r, 2);
    prepared_free(&s.env.memory, &p);
    system_free(&s);
}

/* The view of a factor takes room for its lists, and no more. */
static void a_view_takes_what_its_lists_hold(void **state)
{
    (void)state;
    random_stream r = random_seeded(6);
    pattern a = problem_grid(20, 20, 1);
    cpu_system s;
    owned_tree tree;
    const factor_tree *t = &tree.view;
    scalar *values = random_values(&r, &a, SPD);
    assert_int_equal(system_build_in_order(&s, a, values, SPD, SCALAR_COMPLEX, NATURAL),
                     LIBSOLVER_OK);
    const int64_t before = s.env.memory.in_use;
    assert_int_equal(NAME(cpu_backend).view_tree(s.numeric, &tree, NULL), LIBSOLVER_OK);
    const int64_t lists[][2] = {{t->nodes + 1, sizeof t->first[0]},
                                {t->nodes + 1, sizeof t->row_start[0]},
                                {t->row_start[t->nodes], sizeof t->row[0]},
                                {t->nodes, sizeof t->ld[0]},
                                {t->nodes, sizeof t->panel[0]},
                                {t->nodes, sizeof t->d[0]},
                                {t->nodes, sizeof t->e[0]},
                                {t->n, sizeof t->user_row[0]},
                                {t->n, sizeof(real)}};
    int64_t bytes = 0;
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        bytes += memory_counted(lists[k][0], (size_t)lists[k][1]);
    assert_int_equal(s.env.memory.in_use - before, bytes);
    owned_tree_free(&s.env.memory, &tree);
    system_free(&s);
}

/* Options of 0 leave groups as large as they would be with no limit that matters. */
static void groups_may_be_large_unless_told_otherwise(void **state)
{
    (void)state;
    random_stream r = random_seeded(7);
    pattern a = problem_path(300);
    cpu_system s;
    owned_tree tree;
    message why = {0};
    scalar *values = random_values(&r, &a, SPD);
    assert_int_equal(system_build_in_order(&s, a, values, SPD, SCALAR_COMPLEX, NATURAL),
                     LIBSOLVER_OK);
    assert_int_equal(NAME(cpu_backend).view_tree(s.numeric, &tree, NULL), LIBSOLVER_OK);
    for (int limited = 0; limited < 2; limited++) {
        const prepare_options o = {
            .blocks = 7, .step = 1, .growth_limit = NO_LIMIT, .largest_group = limited ? 60 : 0};
        prepared_solve p = {0};
        int32_t largest = 0;
        assert_int_equal(prepare_solve(&s.env, &tree.view, &o, &p, &why), LIBSOLVER_OK);
        for (int32_t i = 0; i < p.grouped.count; i++)
            if (group_columns(&p.grouped, i) > largest)
                largest = group_columns(&p.grouped, i);
        assert_true(limited ? largest <= 60 : largest == 300);
        prepared_free(&s.env.memory, &p);
    }
    owned_tree_free(&s.env.memory, &tree);
    system_free(&s);
}

/* Nothing is owned after a failure, and the next call prepares. */
static void any_failed_allocation_leaves_nothing(void **state)
{
    (void)state;
    random_stream r = random_seeded(5);
    cpu_system s;
    prepared_solve p = {0};
    system_build_grid(&s, &r, 9, 9, INDEFINITE, NATURAL);
    const int64_t held = s.env.memory.in_use;
    for (int again = 0; again < 2; again++) {
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        for (int64_t left = 0; status == LIBSOLVER_OUT_OF_MEMORY && left < 1000; left++) {
            if (again)
                assert_int_equal(prepare(&s, NO_LIMIT, &p), LIBSOLVER_OK);
            s.ration.left = left;
            status = prepare(&s, NO_LIMIT, &p);
            s.ration.left = INT64_MAX;
            /* the view of the tree may have failed before anything was prepared */
            if (status == LIBSOLVER_OUT_OF_MEMORY)
                prepared_free(&s.env.memory, &p);
            assert_true(status != LIBSOLVER_OUT_OF_MEMORY || s.env.memory.in_use == held);
        }
        assert_int_equal(status, LIBSOLVER_OK);
        assert_int_equal(p.kept, again);
        prepared_free(&s.env.memory, &p);
    }
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_serves_factors_of_one_shape),
        cmocka_unit_test(a_plan_serves_branching_trees),
        cmocka_unit_test(threads_plan_the_same),
        cmocka_unit_test(few_solves_cut_large_nodes),
        cmocka_unit_test(the_guard_looks_at_every_factor),
        cmocka_unit_test(a_view_takes_what_its_lists_hold),
        cmocka_unit_test(groups_may_be_large_unless_told_otherwise),
        cmocka_unit_test(any_failed_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
