/* test/gpu/test_substitution.c: the plan of a solve by substitution, run on the host one task after
 * the other, or (-DON_HOST) by the device code there, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake/emulators.h"
#include "gpu/substitute/substitution_plan.h"
#include "gpu/tree/tree_shape.h"
#include "base/owned_tree.h"
#include "tree_shapes.h"
#include "on_host/on_host.h"
#include <stdlib.h>
#include <string.h>

/* A plan beside what it was made for, and the factor in one row. */
typedef struct trial {
    cpu_system *s;
    owned_tree tree;
    tree_shape shape;
    substitution plan;
    scalar *factor;
    int64_t *panel_at;
} trial;

/* Panels, d and e, one behind the other. */
static void lay_out_factor(trial *t)
{
    const factor_tree *f = &t->tree.view;
    t->panel_at = calloc((size_t)f->nodes + 1, sizeof *t->panel_at);
    assert_non_null(t->panel_at);
    for (int32_t v = 0; v < f->nodes; v++)
        t->panel_at[v + 1] =
            t->panel_at[v] + 3 + (int64_t)(f->first[v + 1] - f->first[v]) * f->ld[v];
    const int64_t panels = t->panel_at[f->nodes];
    t->factor = nan_scalars(panels + 2 * f->n);
    for (int32_t v = 0; v < f->nodes; v++) {
        const int64_t p = f->first[v + 1] - f->first[v],
                      rows = f->row_start[v + 1] - f->row_start[v];
        if (p == 0)
            continue;
        memcpy(t->factor + t->panel_at[v], f->panel[v],
               (size_t)((p - 1) * f->ld[v] + p + rows) * sizeof(scalar));
        if (!f->cholesky) {
            memcpy(t->factor + panels + f->first[v], f->d[v], (size_t)p * sizeof(scalar));
            memcpy(t->factor + panels + f->n + f->first[v], f->e[v], (size_t)p * sizeof(scalar));
        }
    }
}

static void begin(trial *t, cpu_system *s)
{
    *t = (trial){.s = s};
    assert_int_equal(NAME(cpu_backend).view_tree(s->numeric, &t->tree, NULL), LIBSOLVER_OK);
    lay_out_factor(t);
    const factor_tree *f = &t->tree.view;
    assert_int_equal(tree_shape_copy(&s->env.memory, f, &t->shape), LIBSOLVER_OK);
    assert_int_equal(substitution_build(&s->env.memory, f, t->shape.joined, t->panel_at, &t->plan),
                     LIBSOLVER_OK);
    for (int32_t v = 0, u = 0; v < t->plan.nodes; v++) {
        const substitution_node *p = &t->plan.node[v];
        if (p->columns == 0)
            continue;
        while (f->first[u + 1] <= p->first)
            u++;
        assert_true(p->first == f->first[u] && p->panel == t->panel_at[u] && p->ld == f->ld[u]);
    }
}

static void end(trial *t)
{
    substitution_free(&t->s->env.memory, &t->plan);
    tree_shape_free(&t->s->env.memory, &t->shape);
    owned_tree_free(&t->s->env.memory, &t->tree);
    free(t->factor);
    free(t->panel_at);
}

/* What a device would be given of it. */
static device_substitution plan_of(const trial *t)
{
    const factor_tree *f = &t->tree.view;
    const substitution *p = &t->plan;
    return (device_substitution){.hermitian = f->hermitian,
                                 .cholesky = f->cholesky,
                                 .panel_scalars = t->panel_at[f->nodes],
                                 .packets = substitution_packets(p),
                                 .factor = t->factor,
                                 .node = p->node,
                                 .row = p->row,
                                 .source_start = p->source_start,
                                 .source = p->source,
                                 .table = p->table,
                                 .copy = p->copy,
                                 .task = p->task,
                                 .block = p->block,
                                 .forward_tasks = p->forward_tasks,
                                 .tasks = p->tasks,
                                 .narrow_blocks = p->narrow_blocks,
                                 .blocks = p->blocks};
}

static void check_columns(const trial *t, int columns, const scalar *b, const scalar *x, int seed)
{
    const double allowed = 100 * (double)(t->plan.n + 10) * EPS;
    for (int c = 0; c < columns; c++) {
        const int64_t first = (int64_t)c * t->plan.n;
        const double error = system_backward_error(t->s, b + first, x + first);
        if (!(error <= allowed))
            fail_msg("seed %d, n %d, column %d of %d: backward error %.2e, %.2e allowed", seed,
                     t->plan.n, c, columns, error, allowed);
    }
}

#ifdef ON_HOST
enum { SEEDS = 60, SHAPES = 10 };
/* By the kernel for `columns` right-hand sides, b and multiples of it; items: each with a factor of
 * its own. */
static void solve_on_host(const trial *t, const scalar *b, int columns, int items, int solvable,
                          int seed)
{
    const int32_t n = t->plan.n;
    const device_substitution plan = plan_of(t);
    scalar *x = nan_scalars((int64_t)n * columns),
           *many = calloc((size_t)n * (size_t)columns + 1, sizeof *many);
    assert_non_null(many);
    for (int64_t i = 0; i < (int64_t)n * columns; i++)
        many[i] = b[i % n] * (real)(1 + i / n % 4);
    const on_host_solve s = {.type = SCALAR_TYPE,
                             .plan = &plan,
                             .user_row = t->tree.view.user_row,
                             .scale = t->tree.view.scale,
                             .b = many,
                             .x = x,
                             .n = n,
                             .columns = columns,
                             .several = columns > 1,
                             .items = items,
                             .blocks = 1 + seed % 4,
                             .launches = 2,
                             .refuse = seed % 3 == 2 ? 2 : 0,
                             .spoil = seed % 3 > 0,
                             .seed = (uint64_t)seed};
    const char *wrong = n > 0 ? on_host_substitute(&s) : NULL;
    if (wrong)
        fail_msg("seed %d: %s", seed, wrong);
    if (solvable)
        check_columns(t, columns, many, x, seed);
    free(x);
    free(many);
}

/* One right-hand side; a group of several that is full, and one that is not; the items of a
 * batch. */
static void check_answer(const trial *t, const scalar *b, int solvable, int seed)
{
    solve_on_host(t, b, 1, 0, solvable, seed);
    solve_on_host(t, b, 11, 0, solvable, seed);
    solve_on_host(t, b, 3, 1, solvable, seed);
}
#else
enum { SEEDS = 400, SHAPES = 10 };
static void check_answer(const trial *t, const scalar *b, int solvable, int seed)
{
    const factor_tree *f = &t->tree.view;
    const int32_t n = f->n;
    const device_substitution plan = plan_of(t);
    scalar *x = nan_scalars(n), *published = nan_scalars(plan.packets);
    const emulated_substitution e = {.plan = &plan,
                                     .scale = f->scale,
                                     .user_row = f->user_row,
                                     .n = n,
                                     .b = b,
                                     .x = x,
                                     .published = published};
    const char *wrong = NAME(emulate_substitution)(&e);
    if (wrong)
        fail_msg("seed %d: %s", seed, wrong);
    if (solvable)
        check_columns(t, 1, b, x, seed);
    free(x);
    free(published);
}
#endif

static void check_solve(cpu_system *s, random_stream *r, int seed)
{
    trial t;
    begin(&t, s);
    scalar *b = random_scalars(r, s->a.n);
    check_answer(&t, b, s->report.zero == 0, seed);
    end(&t);
    free(b);
}

static void random_systems_are_solved(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        cpu_system s;
        system_build_random(&s, &r, (uint64_t)seed);
        check_solve(&s, &r, seed);
        system_free(&s);
    }
}

static void branching_trees_are_solved(void **state)
{
    (void)state;
    tree_shapes seen = {0};
    for (int seed = 0; seed < SEEDS * 3 / 5; seed++) {
        random_stream r = random_seeded(20000 + (uint64_t)seed);
        branching_system q;
        cpu_system s;
        trial t;
        branching_build(&q, &s, &r);
        begin(&t, &s);
        scalar *b = branching_b(&q, &r);
        note_tree(&seen, &q, &t.tree.view);
        check_answer(&t, b, branching_is_solvable(&q), seed);
        end(&t);
        free(b);
        branching_free(&q);
    }
    if (SEEDS > 200)
        check_shapes(&seen, 0);
}

static void large_shapes_are_solved(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        random_stream r = random_seeded(500 + (uint64_t)shape);
        pattern a = shape % 5 == 0   ? problem_grid(40, 40, 1)
                    : shape % 5 == 1 ? problem_grid(9, 9, 9)
                    : shape % 5 == 2 ? problem_star(500, 499)
                    : shape % 5 == 3 ? problem_diagonal(3000)
                                     : problem_complete(300);
        const int kind = shape < 5 ? SPD : INDEFINITE,
                  hermitian = SCALAR_COMPLEX && (kind == SPD || shape % 2);
        cpu_system s;
        assert_int_equal(system_build_in_order(&s, a, random_values(&r, &a, kind), kind, hermitian,
                                               NATURAL),
                         LIBSOLVER_OK);
        check_solve(&s, &r, shape);
        system_free(&s);
    }
}

/* Sums of hundreds of children are cut into groups and these into groups, those of as many terms
 * as are added one after the other into none. */
static void wide_trees_are_solved(void **state)
{
    (void)state;
    for (int shape = 0; shape < 6; shape++) {
        random_stream r = random_seeded(900 + (uint64_t)shape);
        const int32_t hubs = shape % 3 == 0   ? 12
                             : shape % 3 == 1 ? 40
                                              : 90,
                      leaves = 500 + 300 * (shape % 2);
        pattern a = problem_wide(leaves, hubs, &r);
        const int kind = shape < 3 ? SPD : INDEFINITE,
                  hermitian = SCALAR_COMPLEX && (kind == SPD || shape % 2);
        cpu_system s;
        trial t;
        assert_int_equal(system_build_in_order(&s, a, random_values(&r, &a, kind), kind, hermitian,
                                               NATURAL),
                         LIBSOLVER_OK);
        begin(&t, &s);
        const int32_t added = t.plan.nodes - t.tree.view.nodes;
        if (added < leaves / 32 || !t.plan.own_row)
            fail_msg("shape %d: %d leaves, %d nodes, %d groups", shape, leaves, t.tree.view.nodes,
                     added);
        scalar *b = random_scalars(&r, a.n);
        check_answer(&t, b, s.report.zero == 0, 3 * shape + 2);
        check_answer(&t, b, s.report.zero == 0, 3 * shape + 1);
        free(b);
        end(&t);
        system_free(&s);
    }
}

/* A tree whose child has a row that is none of its parent's is refused, and nothing is owned after
 * a failure. */
static void what_is_no_tree_is_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(8);
    cpu_system s;
    trial t;
    system_build_grid(&s, &r, 30, 30, SPD, BY_DISSECTION);
    begin(&t, &s);
    memory *m = &s.env.memory;
    const int64_t held = m->in_use;
    factor_tree broken = t.tree.view;
    substitution plan;
    const int64_t rows = broken.row_start[broken.nodes];
    int32_t *row = malloc((size_t)rows * sizeof *row);
    assert_true(rows > 0 && row);
    memcpy(row, broken.row, (size_t)rows * sizeof *row);
    row[0] = 0; /* the first node's own column */
    broken.row = row;
    assert_int_equal(substitution_build(m, &broken, t.shape.joined, t.panel_at, &plan),
                     LIBSOLVER_INTERNAL);
    assert_int_equal(m->in_use, held);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t left = 0;
    for (; status == LIBSOLVER_OUT_OF_MEMORY && left < 100; left++) {
        s.ration.left = left;
        status = substitution_build(m, &t.tree.view, t.shape.joined, t.panel_at, &plan);
        s.ration.left = INT64_MAX;
        assert_true(status == LIBSOLVER_OK || m->in_use == held);
    }
    assert_int_equal(status, LIBSOLVER_OK);
    assert_true(left > 5);
    substitution_free(m, &plan);
    free(row);
    end(&t);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_solved),  cmocka_unit_test(branching_trees_are_solved),
        cmocka_unit_test(large_shapes_are_solved),    cmocka_unit_test(wide_trees_are_solved),
        cmocka_unit_test(what_is_no_tree_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
