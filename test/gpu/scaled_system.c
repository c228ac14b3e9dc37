/* test/gpu/scaled_system.c: what a factorization on a device is given of a system
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/owned_tree.h"
#include "scaled_system.h"
#include <stdlib.h>

scaled scaled_values(const cpu_system *s)
{
    scaled v;
    backend_view view;
    cpu->view_plan(s->plan, &v.plan);
    cpu->view(s->numeric, &view);
    const pattern *a = v.plan.a;
    const real *scale = view.scale;
    v.values = malloc(sizeof(scalar) * (size_t)(a->start[a->n] + 1));
    v.diagonal = malloc(sizeof(real) * (size_t)(a->n + 1));
    assert_true(v.values && v.diagonal);
    for (int32_t j = 0; j < a->n; j++) {
        for (int64_t e = a->start[j]; e < a->start[j + 1]; e++)
            v.values[e] = ((const scalar *)view.values)[e] * scale[j] * scale[a->row[e]];
        v.diagonal[j] = scalar_real(v.values[a->start[j]]);
    }
    return v;
}

void scaled_free(scaled *v)
{
    free(v->values);
    free(v->diagonal);
}

factor_program program_of(cpu_system *s, const scaled *v, const factor_tuning *tuning)
{
    factor_program g;
    message why = {0};
    if (factor_program_build(&s->env, &v->plan.fronts, SCALAR_TYPE, tuning, &g, &why) !=
        LIBSOLVER_OK)
        fail_msg("%s", why.text);
    return g;
}

void compare_panels(cpu_system *s, const factor_program *g, const scalar *panel, int seed)
{
    owned_tree tree;
    message why = {0};
    assert_int_equal(cpu->view_tree(s->numeric, &tree, &why), LIBSOLVER_OK);
    assert_int_equal(tree.view.nodes, g->nodes);
    double largest = 0, error = 0;
    for (int32_t q = 0; q < g->nodes; q++) {
        const factor_front *f = g->front + q;
        const scalar *theirs = tree.view.panel[q];
        assert_int_equal(tree.view.ld[q], f->m);
        for (int32_t j = 0; j < f->k; j++)
            for (int32_t i = j; i < f->m; i++) {
                const scalar mine = panel[f->panel + i + (int64_t)j * f->m],
                             other = theirs[i + (int64_t)j * f->m];
                largest = fmax(largest, (double)scalar_abs(other));
                error = isnan(scalar_real(mine)) ? INFINITY
                                                 : fmax(error, (double)scalar_abs(mine - other));
            }
    }
    if (!(error <= 1000 * (double)EPS * largest))
        fail_msg("seed %d, n %d: panels differ by %g, the largest entry is %g", seed, g->n, error,
                 largest);
    owned_tree_free(&s->env.memory, &tree);
}

void positive_system(cpu_system *s, random_stream *r, pattern a, int order)
{
    scalar *values = random_values(r, &a, SPD);
    make_hermitian(&a, values);
    assert_int_equal(system_build_in_order(s, a, values, SPD, 1, order), LIBSOLVER_OK);
}

scalar *values_for(const scaled *v, const factor_program *g)
{
    scalar *values = malloc(sizeof(scalar) * (size_t)(g->entries + 1));
    assert_non_null(values);
    for (int64_t q = 0; q < g->entries; q++)
        values[q] = v->values[g->source[q]];
    return values;
}

int64_t place_of_value(const factor_program *g, int64_t e)
{
    for (int64_t q = 0; q < g->entries; q++)
        if (g->source[q] == e)
            return q;
    fail_msg("entry %d has no place", (int)e);
    return -1;
}
