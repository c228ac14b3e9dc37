/* test/support/tree_shapes.c: patterns whose elimination trees branch, and what trees and groups a
 * test has really seen, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tree_shapes.h"
#include <stdlib.h>
#include <string.h>

/* ---- Systems --------------------------------------------------------------------------------- */

pattern pattern_beside(pattern a, pattern b)
{
    const int64_t first = a.start[a.n], entries = first + b.start[b.n];
    pattern c = {.n = a.n + b.n,
                 .start = calloc((size_t)(a.n + b.n) + 1, sizeof(int64_t)),
                 .row = calloc((size_t)entries + 1, sizeof(int32_t))};
    assert_true(c.start && c.row);
    for (int32_t j = 0; j <= a.n; j++)
        c.start[j] = a.start[j];
    for (int32_t j = 0; j <= b.n; j++)
        c.start[a.n + j] = first + b.start[j];
    for (int64_t p = 0; p < entries; p++)
        c.row[p] = p < first ? a.row[p] : a.n + b.row[p - first];
    problem_free(&a);
    problem_free(&b);
    return c;
}

static pattern blown_up(pattern a, random_stream *r)
{
    const pattern c = problem_blown_up_unevenly(&a, 1 + random_below(r, 5), r);
    problem_free(&a);
    return c;
}

static pattern connected_pattern(random_stream *r)
{
    const int32_t side = 8 + random_below(r, 16);
    switch (random_below(r, 8)) {
    case 0:
        return problem_random(20 * side, 0.1 / side, r);
    case 1:
        return problem_star(10 * side, random_below(r, 10 * side));
    case 2:
        return problem_grid(side / 3, side / 3, side / 3);
    case 3:
        return blown_up(problem_path(4 * side), r);
    case 4:
        return blown_up(problem_grid(side / 2, side / 2, 1), r);
    default:
        return problem_grid(side, side / 2 + random_below(r, side), 1);
    }
}

pattern branching_pattern(random_stream *r)
{
    pattern a = connected_pattern(r);
    for (int32_t more = random_below(r, 6) - 3; more > 0; more--)
        a = pattern_beside(a, connected_pattern(r));
    return a;
}

static void clear_rows(const branching_system *q, const pattern *a, scalar *values)
{
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            if (q->zero[j] || q->zero[a->row[p]])
                values[p] = 0;
}

static scalar *values_of(const branching_system *q, const pattern *a, random_stream *r)
{
    scalar *values = random_values(r, a, q->kind);
    clear_rows(q, a, values);
    return values;
}

void branching_build(branching_system *q, cpu_system *s, random_stream *r)
{
    const int delays = random_below(r, 8) == 0,
              order = random_below(r, 16) ? 1 + random_below(r, ORDERS - 1) : NATURAL;
    *q = (branching_system){.s = s, .kind = delays ? INDEFINITE : random_below(r, KINDS)};
    /* complex symmetric matrices have no Cholesky factors */
    const int hermitian = SCALAR_COMPLEX && (q->kind == SPD || random_below(r, 2));
    scalar *values = NULL;
    pattern a =
        delays ? cliques_around_a_hub(r, 1 + random_below(r, 4), &values) : branching_pattern(r);
    q->zero = calloc((size_t)a.n + 1, 1);
    assert_non_null(q->zero);
    if (!delays && q->kind != SPD && a.n > 0 && random_below(r, 3) == 0)
        for (int k = 0; k < 3; k++) {
            unsigned char *zero = &q->zero[random_below(r, a.n)];
            q->zeros += !*zero;
            *zero = 1;
        }
    if (!delays)
        values = values_of(q, &a, r);
    assert_int_equal(system_build_in_order(s, a, values, q->kind, hermitian, order), LIBSOLVER_OK);
}

scalar *branching_values(const branching_system *q, random_stream *r)
{
    return values_of(q, &q->s->a, r);
}

void branching_free(branching_system *q)
{
    system_free(q->s);
    free(q->zero);
}

scalar *branching_b(const branching_system *q, random_stream *r)
{
    const int32_t n = q->s->a.n;
    scalar *b = calloc((size_t)n + 1, sizeof *b);
    assert_non_null(b);
    for (int32_t i = 0; i < n; i++)
        b[i] = q->zero[i] ? 0 : random_entry(r);
    return b;
}

int branching_is_solvable(const branching_system *q)
{
    return q->s->report.zero == q->zeros;
}

/* ---- What was seen --------------------------------------------------------------------------- */

typedef struct shape {
    int branches, uneven, roots;
    int32_t height; /* levels */
} shape;

/* Of a forest of so many nodes, above[v] > v. */
static shape shape_of(int32_t nodes, const int32_t *above)
{
    shape s = {0};
    int32_t *levels = calloc((size_t)nodes + 1, sizeof *levels); /* below each, with it */
    int32_t *child = calloc((size_t)nodes + 1, sizeof *child);   /* levels of its first child */
    assert_true(levels && child);
    for (int32_t v = 0; v < nodes; v++) {
        const int32_t up = above[v], mine = ++levels[v];
        s.height = mine > s.height ? mine : s.height;
        s.roots += up < 0;
        if (up < 0)
            continue;
        s.branches |= child[up] > 0;
        s.uneven |= child[up] > 0 && child[up] != mine;
        child[up] = child[up] > 0 ? child[up] : mine;
        levels[up] = mine > levels[up] ? mine : levels[up];
    }
    free(levels);
    free(child);
    return s;
}

void note_tree(tree_shapes *s, const branching_system *q, const factor_tree *tree)
{
    const shape t = shape_of(tree->nodes, tree->above);
    s->trees++;
    s->branching += t.branches;
    s->uneven += t.uneven;
    s->forests += t.roots > 1;
    s->high += t.height >= 4;
    s->cholesky += tree->cholesky;
    s->hermitian += tree->hermitian;
    s->pairs += q->s->report.two_by_two > 0;
    s->delayed += q->s->report.delayed > 0;
    s->singular += q->s->report.zero > 0 && branching_is_solvable(q);
    s->most_nodes = tree->nodes > s->most_nodes ? tree->nodes : s->most_nodes;
    s->most_height = t.height > s->most_height ? t.height : s->most_height;
}

void note_groups(tree_shapes *s, const groups *g)
{
    const shape t = shape_of(g->count, g->above);
    s->groups_branching += t.branches;
    s->groups_uneven += t.uneven;
}

static void check_share(int seen, int of, int percent, const char *what)
{
    if (100 * seen < percent * of)
        fail_msg("%d of %d trees are %s, %d %% at least are wanted", seen, of, what, percent);
}

void check_shapes(const tree_shapes *s, int with_groups)
{
    print_message("%d trees of up to %d nodes and %d levels: %d branch, %d unevenly, %d have four "
                  "levels, %d several roots; %d Cholesky, %d with 2x2 "
                  "pivots, %d with delays, %d with zero pivots, %d Hermitian; groups of %d branch, "
                  "of %d unevenly\n",
                  s->trees, s->most_nodes, s->most_height, s->branching, s->uneven, s->high,
                  s->forests, s->cholesky, s->pairs, s->delayed, s->singular, s->hermitian,
                  s->groups_branching, s->groups_uneven);
    check_share(s->branching, s->trees, 50, "branching");
    check_share(s->uneven, s->trees, 50, "uneven");
    check_share(s->high, s->trees, 50, "of four levels");
    check_share(s->forests, s->trees, 15, "forests");
    check_share(s->cholesky, s->trees, 15, "Cholesky factors");
    check_share(s->pairs, s->trees, 25, "with 2x2 pivots");
    check_share(s->delayed, s->trees, 10, "with delays");
    check_share(s->singular, s->trees, 5, "with zero pivots");
    check_share(s->hermitian, s->trees, SCALAR_COMPLEX ? 40 : 0, "Hermitian");
    check_share(s->groups_branching, s->trees, with_groups ? 30 : 0, "in groups that branch");
    check_share(s->groups_uneven, s->trees, with_groups ? 15 : 0, "in groups that branch unevenly");
}
