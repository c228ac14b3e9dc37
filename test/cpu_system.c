/* test/cpu_system.c: a system from its values to its factor in the CPU backend
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include <stdlib.h>
#include <string.h>

double *random_values(random_stream *r, const pattern *a, int kind)
{
    double *values = nan_array(a->start[a->n]), *sum = calloc((size_t)a->n + 1, sizeof(double));
    assert_non_null(sum);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            values[p] = random_real(r);
            sum[j] += fabs(values[p]);
            sum[a->row[p]] += fabs(values[p]);
        }
    for (int32_t j = 0; j < a->n; j++) {
        double *diagonal = &values[a->start[j]];
        *diagonal = kind == SPD ? 1 + sum[j] : kind == HOLLOW && j % 3 ? 0 : *diagonal;
    }
    free(sum);
    return values;
}

pattern random_pattern(random_stream *r, int32_t n)
{
    switch (random_below(r, 4)) {
    case 0:
        return problem_random(n, 1, r);
    case 1:
        return problem_random(n, 0.1, r);
    case 2:
        return problem_star(n, n > 0 ? random_below(r, n) : 0);
    default:
        return n % 3 == 0 ? problem_grid(n / 3, 3, 1) : problem_path(n);
    }
}

int32_t random_order(random_stream *r, uint64_t seed)
{
    static const int32_t large[] = {63, 64, 65, 129, 257};
    return seed < 41 ? (int32_t)seed : seed % 20 == 0 ? large[random_below(r, 5)] : random_below(r, 41);
}

pattern cliques_around_a_hub(random_stream *r, int waiting, double **values)
{
    const int32_t leaves = 6, size = 40;
    pattern star = problem_star(leaves + 1, leaves), a = problem_blown_up(&star, size);
    problem_free(&star);
    *values = random_values(r, &a, INDEFINITE);
    for (int32_t j = 0; j < leaves * size; j++)
        for (int64_t p = a.start[j]; p < a.start[j + 1]; p++)
            if (j % size < waiting && a.row[p] / size == j / size)
                (*values)[p] = 0;
    return a;
}

libsolver_status system_factorize(cpu_system *s, int kind, int may_match)
{
    const backend_options options = {.positive_definite = kind == SPD,
                                     .scaling = BACKEND_EQUILIBRATE,
                                     .may_match = may_match,
                                     .pivot_threshold = 0.01};
    cpu->set_values(s->numeric, s->values);
    return cpu->factorize(s->numeric, &options, &s->report, &s->why);
}

libsolver_status system_build(cpu_system *s, pattern a, double *values, int kind, int threads, int64_t left)
{
    int32_t *natural = calloc((size_t)a.n + 1, sizeof(int32_t));
    assert_non_null(natural);
    for (int32_t k = 0; k < a.n; k++)
        natural[k] = k;
    memset(s, 0, sizeof *s);
    memory_rationed(&s->env.memory, &s->ration, INT64_MAX);
    s->env.threads = threads;
    s->a = a;
    s->values = values;
    assert_int_equal(forest_build(&s->env.memory, &a, natural, &s->f), LIBSOLVER_OK);
    free(natural);
    s->ration.left = left;
    const backend_problem problem = {
        .env = &s->env, .a = &s->a, .forest = &s->f, .type = LIBSOLVER_D, .symmetry = LIBSOLVER_SYMMETRIC};
    TRY(cpu->prepare(&problem, &s->why, &s->plan));
    TRY(cpu->create(s->plan, &s->why, &s->numeric));
    return system_factorize(s, kind, 0);
}

void system_dismantle(cpu_system *s)
{
    cpu->destroy(s->numeric);
    cpu->discard(s->plan);
    forest_free(&s->env.memory, &s->f);
    assert_int_equal(s->env.memory.in_use, 0);
}

void system_free(cpu_system *s)
{
    system_dismantle(s);
    problem_free(&s->a);
    free(s->values);
}

double system_backward_error(const cpu_system *s, const double *b, const double *x)
{
    const int32_t n = s->a.n;
    long double *residual = calloc((size_t)n + 1, sizeof *residual), *bound = calloc((size_t)n + 1, sizeof *bound);
    double worst = 0;
    for (int32_t i = 0; i < n; i++) {
        residual[i] += b[i];
        bound[i] += fabs(b[i]);
    }
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = s->a.start[j]; p < s->a.start[j + 1]; p++) {
            const int32_t i = s->a.row[p];
            const long double v = s->values[p];
            residual[i] -= v * x[j];
            bound[i] += fabsl(v * x[j]);
            if (i != j) {
                residual[j] -= v * x[i];
                bound[j] += fabsl(v * x[i]);
            }
        }
    for (int32_t i = 0; i < n; i++) {
        const double e = bound[i] > 0 ? (double)(fabsl(residual[i]) / bound[i]) : 0;
        worst = e > worst || isnan(e) ? e : worst;
    }
    free(residual);
    free(bound);
    return worst;
}

exported system_export(const cpu_system *s, int kind)
{
    const int32_t n = s->a.n;
    exported f = {n,
                  calloc((size_t)n * n + 1, 8),
                  nan_array(n),
                  nan_array(n),
                  nan_array(n),
                  calloc((size_t)n * n + 1, 8),
                  calloc((size_t)n + 1, 8)};
    int64_t entries = -1, *pointers = calloc((size_t)n + 1, 8), *place = calloc((size_t)n + 1, 8);
    assert_true(f.l && f.a && f.order && pointers && place);
    assert_int_equal(cpu->export_l(s->numeric, &entries, NULL, NULL, NULL, f.order), LIBSOLVER_OK);
    int64_t *indices = calloc((size_t)entries + 1, 8), wanted = entries;
    double *values = nan_array(entries);
    assert_int_equal(cpu->export_l(s->numeric, &entries, pointers, indices, values, NULL), LIBSOLVER_OK);
    assert_int_equal(entries, wanted);
    assert_int_equal(pointers[n], entries);
    for (int32_t j = 0; j < n; j++) {
        if (kind != SPD)
            f.l[j + (int64_t)j * n] = 1;
        for (int64_t p = pointers[j]; p < pointers[j + 1]; p++) {
            assert_in_range(indices[p], kind == SPD ? j : j + 1, n - 1);
            f.l[indices[p] + (int64_t)j * n] = values[p];
        }
    }
    assert_int_equal(cpu->export_d(s->numeric, f.d, f.e), LIBSOLVER_OK);
    assert_int_equal(cpu->export_scaling(s->numeric, f.scale), LIBSOLVER_OK);
    for (int32_t k = 0; k < n; k++)
        place[k] = -1;
    for (int32_t k = 0; k < n; k++) {
        assert_in_range(f.order[k], 0, n - 1);
        assert_int_equal(place[f.order[k]], -1);
        place[f.order[k]] = k;
    }
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = s->a.start[j]; p < s->a.start[j + 1]; p++) {
            const int64_t x = place[j], y = place[s->a.row[p]];
            f.a[x + y * n] = f.a[y + x * n] = s->values[p] * f.scale[j] * f.scale[s->a.row[p]];
        }
    free(pointers);
    free(place);
    free(indices);
    free(values);
    return f;
}

void exported_free(exported *f)
{
    free(f->l);
    free(f->d);
    free(f->e);
    free(f->scale);
    free(f->a);
    free(f->order);
}

block random_block(random_stream *r, int32_t n, int64_t columns, int filled)
{
    const int by_rows = random_below(r, 2);
    const int64_t ld = (by_rows ? columns : n) + random_below(r, 4);
    block b = {.size = ld * (by_rows ? n : columns)};
    b.values = nan_array(b.size);
    b.v = (libsolver_vectors){
        b.values,      n, columns, ld, LIBSOLVER_D, by_rows ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR,
        LIBSOLVER_HOST};
    for (int64_t j = 0; j < columns && filled; j++)
        for (int32_t i = 0; i < n; i++)
            b.values[by_rows ? i * ld + j : i + j * ld] = random_real(r);
    return b;
}

double *block_at(const block *b, int64_t i, int64_t j)
{
    return b->values + (b->v.layout == LIBSOLVER_ROW_MAJOR ? i * b->v.ld + j : i + j * b->v.ld);
}
