/* test/test_substitution.c: the plan of a solve by substitution, run on the host one task after the other
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "gpu/substitution_plan.h"
#include "gpu/tree_shape.h"
#include "solver/cpu/tree.h"
#include <stdlib.h>
#include <string.h>

/* A plan beside what it was made for; a letter that was not sent yet is missing. */
typedef struct trial {
    cpu_system s;
    cpu_tree tree;
    tree_shape shape;
    substitution plan;
    double *letter;
    unsigned char *sent;
    int seed;
} trial;

static double letter_of(const trial *t, int64_t at)
{
    if (!t->sent[at])
        fail_msg("seed %d: letter %lld is read before it is sent", t->seed, (long long)at);
    return t->letter[at];
}

static void send(trial *t, int64_t at, double v)
{
    if (t->sent[at])
        fail_msg("seed %d: letter %lld is sent twice", t->seed, (long long)at);
    t->sent[at] = 1;
    t->letter[at] = v;
}

static double entry(const trial *t, int32_t node, int32_t i, int32_t j)
{
    const factor_tree *f = &t->tree.view;
    return i == j && !f->cholesky ? 1 : ((const double *)f->panel[node])[i + (int64_t)j * f->ld[node]];
}

/* Rows [from, to) of the front, as a device takes them. */
static void forward(trial *t, const double *b, int32_t node, int32_t from, int32_t to)
{
    const substitution_node *v = &t->plan.node[node];
    const int32_t k = v->columns;
    assert_true(to - from <= SUBSTITUTE_ROWS || k <= SUBSTITUTE_SMALL);
    for (int32_t i = from; i < to; i++) {
        const int64_t front = v->first + v->row_start + i;
        const int32_t user = i < k ? t->tree.view.user_row[v->first + i] : 0;
        double f = i < k ? b[user] * ((const double *)t->tree.view.scale)[user] : 0;
        for (int32_t q = t->plan.source_start[front]; q < t->plan.source_start[front + 1]; q++)
            f += letter_of(t, 2 * (int64_t)t->plan.n + t->plan.source[q]);
        for (int32_t j = 0; j < (i < k ? i : k); j++)
            f -= entry(t, node, i, j) * letter_of(t, v->first + j);
        if (i < k)
            send(t, v->first + i, f / entry(t, node, i, i));
        else
            send(t, 2 * (int64_t)t->plan.n + v->row_start + i - k, f);
    }
}

/* D^-1 z */
static double divided(const trial *t, int32_t node, int32_t i)
{
    const factor_tree *f = &t->tree.view;
    const int32_t c = f->first[node] + i;
    if (f->cholesky)
        return letter_of(t, c);
    const double *d = f->d[node], *e = f->e[node];
    const int32_t first = e[i] != 0 ? i : i > 0 && e[i - 1] != 0 ? i - 1 : -1;
    if (first < 0)
        return d[i] != 0 ? letter_of(t, c) / d[i] : 0;
    const double determinant = d[first] * d[first + 1] - e[first] * e[first];
    const double z0 = letter_of(t, f->first[node] + first), z1 = letter_of(t, f->first[node] + first + 1);
    return (i == first ? d[first + 1] * z0 - e[first] * z1 : d[first] * z1 - e[first] * z0) / determinant;
}

static void backward(trial *t, double *x, int32_t node, int32_t from, int32_t to)
{
    const substitution_node *v = &t->plan.node[node];
    if (t->tree.view.e && from > 0 && v->columns > SUBSTITUTE_SMALL)
        assert_false(t->shape.joined[v->first + from - 1]);
    for (int32_t i = to - 1; i >= from; i--) {
        double y = divided(t, node, i);
        for (int32_t j = i + 1; j < v->columns + v->rows; j++) {
            const int32_t c = j < v->columns ? v->first + j : t->plan.row[v->row_start + j - v->columns];
            y -= entry(t, node, j, i) * letter_of(t, (int64_t)t->plan.n + c);
        }
        y /= entry(t, node, i, i);
        const int32_t user = t->tree.view.user_row[v->first + i];
        send(t, (int64_t)t->plan.n + v->first + i, y);
        x[user] = y * ((const double *)t->tree.view.scale)[user];
    }
}

/* Tasks in their order; the nodes of a task of small ones may come in any order that their values allow, of which the host takes the plan's forward and
 * the other way round backward. */
static void run(trial *t, const double *b, double *x)
{
    const substitution *p = &t->plan;
    for (int32_t k = 0; k < p->tasks; k++) {
        const substitution_task *q = &p->task[k];
        const int is_forward = k < p->forward_tasks;
        assert_true(q->to > q->from);
        assert_true(q->node >= 0 || q->to - q->from <= SUBSTITUTE_WARPS);
        for (int32_t i = q->from; i < q->to && q->node < 0; i++) {
            const int32_t node = p->small[is_forward ? i : q->from + q->to - 1 - i];
            if (is_forward)
                forward(t, b, node, 0, p->node[node].columns + p->node[node].rows);
            else
                backward(t, x, node, 0, p->node[node].columns);
        }
        if (q->node >= 0 && is_forward)
            forward(t, b, q->node, q->from, q->to);
        if (q->node >= 0 && !is_forward)
            backward(t, x, q->node, q->from, q->to);
    }
    for (int64_t i = 0; i < substitution_letters(p); i++)
        assert_true(t->sent[i]);
}

static void plan_of(trial *t)
{
    const factor_tree *f = &t->tree.view;
    int64_t *panel_at = calloc((size_t)f->nodes + 1, sizeof *panel_at);
    assert_non_null(panel_at);
    for (int32_t v = 0; v < f->nodes; v++)
        panel_at[v + 1] = panel_at[v] + 3;
    assert_int_equal(tree_shape_copy(&t->s.env.memory, f, &t->shape), LIBSOLVER_OK);
    assert_int_equal(substitution_build(&t->s.env.memory, f, t->shape.joined, panel_at, &t->plan), LIBSOLVER_OK);
    for (int32_t v = 0; v < f->nodes; v++)
        assert_true(t->plan.node[v].panel == panel_at[v] && t->plan.node[v].ld == f->ld[v]);
    t->letter = calloc((size_t)substitution_letters(&t->plan) + 1, sizeof *t->letter);
    t->sent = calloc((size_t)substitution_letters(&t->plan) + 1, 1);
    assert_true(t->letter && t->sent);
    free(panel_at);
}

static void check_solve(pattern a, double *values, int kind, random_stream *r, int seed)
{
    trial t = {.seed = seed};
    assert_int_equal(system_build(&t.s, a, values, kind, 1, INT64_MAX), LIBSOLVER_OK);
    assert_int_equal(cpu_tree_view_d(t.s.numeric, &t.tree), LIBSOLVER_OK);
    plan_of(&t);
    const int32_t n = t.s.a.n;
    double *b = nan_array(n), *x = nan_array(n);
    for (int32_t i = 0; i < n; i++)
        b[i] = random_real(r);
    run(&t, b, x);
    const double error = system_backward_error(&t.s, b, x), allowed = 100 * (n + 10) * EPS;
    if (t.s.report.zero == 0 && !(error <= allowed))
        fail_msg("seed %d, n %d: backward error %.2e, %.2e allowed", seed, n, error, allowed);
    substitution_free(&t.s.env.memory, &t.plan);
    tree_shape_free(&t.s.env.memory, &t.shape);
    cpu_tree_free(&t.s.env.memory, &t.tree);
    system_free(&t.s);
    free(t.letter);
    free(t.sent);
    free(b);
    free(x);
}

static void random_systems_are_solved(void **state)
{
    (void)state;
    for (int seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = random_order(&r, (uint64_t)seed);
        const int delays = seed % 20 == 1, kind = delays ? INDEFINITE : seed % KINDS;
        double *values = NULL;
        pattern a = delays ? cliques_around_a_hub(&r, 3, &values) : random_pattern(&r, n);
        check_solve(a, delays ? values : random_values(&r, &a, kind), kind, &r, seed);
    }
}

static void large_shapes_are_solved(void **state)
{
    (void)state;
    for (int shape = 0; shape < 10; shape++) {
        random_stream r = random_seeded(500 + (uint64_t)shape);
        pattern a = shape % 5 == 0   ? problem_grid(40, 40, 1)
                    : shape % 5 == 1 ? problem_grid(9, 9, 9)
                    : shape % 5 == 2 ? problem_star(500, 499)
                    : shape % 5 == 3 ? problem_diagonal(3000)
                                     : problem_complete(300);
        const int kind = shape < 5 ? SPD : INDEFINITE;
        check_solve(a, random_values(&r, &a, kind), kind, &r, shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_solved),
        cmocka_unit_test(large_shapes_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
