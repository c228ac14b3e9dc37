/* test/gpu/scaled_system.c: systems for factorizations on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/owned_tree.h"
#include "problems.h"
#include "scaled_system.h"
#include <stdlib.h>

factor_pattern fronts_of(const cpu_system *s)
{
    backend_plan_view view;
    cpu->view_plan(s->plan, &view);
    return view.fronts;
}

void system_of_kind(cpu_system *s, random_stream *r, pattern a, int kind)
{
    if (kind == DEFINITE_ONE)
        positive_system(s, r, a, NATURAL);
    else
        system_build_quasi_definite(s, r, a, kind == SIGNED_ONE, NATURAL, 0);
}

pattern wide_pattern(int32_t leaves, int32_t copies)
{
    pattern star = problem_star(leaves + 1, leaves), a = problem_blown_up(&star, copies);
    problem_free(&star);
    return a;
}

pattern leaves_pattern(random_stream *r, int32_t leaves, int32_t hubs)
{
    enum { MOST = 8 };
    const int32_t n = leaves + hubs;
    pattern a = {.n = n,
                 .start = malloc(sizeof(int64_t) * (size_t)(n + 1)),
                 .row = malloc(sizeof(int32_t) *
                               ((size_t)leaves * (MOST + 1) + (size_t)hubs * (size_t)hubs + 1))};
    int64_t nnz = 0;
    assert_true(a.start && a.row);
    for (int32_t j = 0; j < n; j++) {
        int32_t wanted = random_below(r, MOST + 1);
        a.start[j] = nnz;
        a.row[nnz++] = j;
        for (int32_t i = j < leaves ? leaves : j + 1; i < n; i++)
            if (j >= leaves || (wanted > 0 && random_below(r, n - i) < wanted)) {
                a.row[nnz++] = i;
                wanted--;
            }
    }
    a.start[n] = nnz;
    return a;
}

factor_program program_of(cpu_system *s, const factor_tuning *tuning)
{
    return program_of_part(s, tuning, 0);
}

factor_program program_of_part(cpu_system *s, const factor_tuning *tuning, int32_t schur_size)
{
    factor_program g;
    message why = {0};
    factor_pattern p = fronts_of(s);
    p.schur_size = schur_size;
    if (factor_program_build(&s->env, &p, SCALAR_TYPE, tuning, &g, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    return g;
}

int32_t make_indefinite(cpu_system *s, random_stream *r, int64_t *entry, scalar *good)
{
    const factor_pattern p = fronts_of(s);
    const int32_t row = random_below(r, s->a.n);
    *entry = s->a.start[row];
    *good = s->values[*entry];
    s->values[*entry] = *good * (random_below(r, 3) ? -1 : (scalar)1e-6);
    if (system_factorize(s, SPD, 0) != LIBSOLVER_NOT_POSITIVE_DEFINITE)
        return -1; /* it had no neighbours */
    int32_t k = 0;
    while (p.row_of[k] != s->report.failed_row)
        k++;
    return k;
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
        for (int32_t j = 0; j < f->k && s->signs; j++) {
            const scalar d = panel[g->panel_scalars + f->first + j],
                         other = ((const scalar *)tree.view.d[q])[j];
            if (!(scalar_abs(d - other) <= 1000 * EPS * scalar_abs(other)) ||
                panel[g->panel_scalars + g->n + f->first + j] != 0)
                fail_msg("seed %d, n %d: pivot %d is %g instead of %g, by %g", seed, g->n,
                         f->first + j, (double)scalar_real(d), (double)scalar_real(other),
                         (double)scalar_abs(d - other));
        }
        for (int32_t j = 0; j < f->k; j++)
            for (int32_t i = s->signs ? j + 1 : j; i < f->m; i++) {
                const scalar mine = panel[f->panel + i + (int64_t)j * f->ld],
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

void compare_bits(const factor_program *g, const scalar *panel, const scalar *again)
{
    for (int32_t q = 0; q < g->nodes; q++) {
        const factor_front *f = g->front + q;
        for (int32_t j = 0; j < f->k; j++)
            assert_memory_equal(panel + f->panel + (int64_t)j * f->ld + j,
                                again + f->panel + (int64_t)j * f->ld + j,
                                sizeof(scalar) * (size_t)(f->m - j));
    }
}
