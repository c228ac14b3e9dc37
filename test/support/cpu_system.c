/* test/support/cpu_system.c: a system from its values to its factor in the CPU backend
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include <stdlib.h>
#include <string.h>

scalar random_entry(random_stream *r)
{
    const real x = (real)random_real(r);
#if SCALAR_COMPLEX
    return x + (real)random_real(r) * (scalar)I;
#else
    return x;
#endif
}

scalar *nan_scalars(int64_t count)
{
    scalar *x = malloc((size_t)(count + 1) * sizeof *x);
    assert_non_null(x);
    memset(x, 0xff, (size_t)(count + 1) * sizeof *x); /* NaN */
    return x;
}

scalar *random_scalars(random_stream *r, int64_t count)
{
    scalar *x = nan_scalars(count);
    for (int64_t i = 0; i < count; i++)
        x[i] = random_entry(r);
    return x;
}

scalar *random_values(random_stream *r, const pattern *a, int kind)
{
    scalar *values = nan_scalars(a->start[a->n]);
    real *sum = calloc((size_t)a->n + 1, sizeof(real));
    assert_non_null(sum);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            values[p] = random_entry(r);
            sum[j] += scalar_abs(values[p]);
            sum[a->row[p]] += scalar_abs(values[p]);
        }
    for (int32_t j = 0; j < a->n; j++) {
        scalar *diagonal = &values[a->start[j]];
        *diagonal = kind == SPD ? 1 + sum[j] : kind == HOLLOW && j % 3 ? 0 : *diagonal;
    }
    free(sum);
    return values;
}

void make_hermitian(const pattern *a, scalar *values)
{
    for (int32_t j = 0; j < a->n; j++)
        values[a->start[j]] = scalar_diagonal(values[a->start[j]], 1);
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
    return seed < 41        ? (int32_t)seed
           : seed % 20 == 0 ? large[random_below(r, 5)]
                            : random_below(r, 41);
}

pattern cliques_around_a_hub(random_stream *r, int waiting, scalar **values)
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

int random_problem(random_stream *r, uint64_t seed, pattern *a, scalar **values)
{
    const int32_t n = random_order(r, seed);
    if (seed % 20 == 1) {
        *a = cliques_around_a_hub(r, 3, values);
        return INDEFINITE;
    }
    const int kind = (int)(seed % KINDS);
    *a = random_pattern(r, n);
    *values = random_values(r, a, kind);
    return kind;
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

/* perm: taken over. */
static libsolver_status build(cpu_system *s, int32_t *perm, int kind, int64_t left)
{
    const libsolver_symmetry symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    assert_int_equal(forest_build(&s->env.memory, &s->a, perm, &s->f), LIBSOLVER_OK);
    free(perm);
    s->ration.left = left;
    const backend_problem problem = {.env = &s->env,
                                     .a = &s->a,
                                     .forest = &s->f,
                                     .type = SCALAR_TYPE,
                                     .symmetry = symmetry,
                                     .expected_signs = s->signs};
    TRY(cpu->prepare(&problem, &s->plan, &s->why));
    TRY(cpu->create(s->plan, &s->numeric, &s->why));
    return system_factorize(s, kind, 0);
}

static void begin(cpu_system *s, pattern a, scalar *values, int hermitian, int threads)
{
    memset(s, 0, sizeof *s);
    memory_rationed(&s->env.memory, &s->ration, INT64_MAX);
    s->env.threads = threads;
    s->a = a;
    s->values = values;
    s->hermitian = hermitian;
}

static int32_t *order_of(cpu_system *s, int order)
{
    int32_t *perm = calloc((size_t)s->a.n + 1, sizeof(int32_t));
    graph g = {0};
    assert_non_null(perm);
    for (int32_t k = 0; k < s->a.n; k++)
        perm[k] = k;
    if (order == NATURAL)
        return perm;
    assert_int_equal(graph_build(&s->env.memory, 1, &s->a, &g), LIBSOLVER_OK);
    if (order == BY_DEGREE)
        assert_int_equal(order_amd(&s->env.memory, &g, perm), LIBSOLVER_OK);
    else
        assert_int_equal(order_nd(&s->env, &g, 1, 0, perm), LIBSOLVER_OK);
    graph_free(&s->env.memory, &g);
    return perm;
}

libsolver_status system_build(cpu_system *s, pattern a, scalar *values, int kind, int threads,
                              int64_t left)
{
    begin(s, a, values, 0, threads);
    return build(s, order_of(s, NATURAL), kind, left);
}

libsolver_status system_build_in_order(cpu_system *s, pattern a, scalar *values, int kind,
                                       int hermitian, int order)
{
    begin(s, a, values, hermitian, 1);
    if (hermitian)
        make_hermitian(&a, values);
    return build(s, order_of(s, order), kind, INT64_MAX);
}

void system_build_quasi_definite(cpu_system *s, random_stream *r, pattern a, int hermitian,
                                 int order, int is_doubtful)
{
    scalar *values = nan_scalars(a.start[a.n]);
    int8_t *signs = malloc((size_t)a.n + 1);
    real *sum = calloc((size_t)a.n + 1, sizeof(real));
    assert_true(signs && sum);
    const int has_signs = hermitian || random_below(r, 2);
    for (int32_t j = 0; j < a.n; j++)
        signs[j] = !has_signs ? 0 : random_below(r, 3) ? 1 : -1;
    for (int32_t j = 0; j < a.n; j++)
        for (int64_t p = a.start[j] + 1; p < a.start[j + 1]; p++) {
            const int32_t i = a.row[p];
            values[p] = random_entry(r);
            if (signs[i] == signs[j]) {
                sum[i] += scalar_abs(values[p]);
                sum[j] += scalar_abs(values[p]);
            } else if (random_below(r, 4) == 0)
                values[p] *= 5;
            if (!hermitian && signs[i] != signs[j])
                values[p] = scalar_real(values[p]);
        }
    for (int32_t j = 0; j < a.n; j++)
        values[a.start[j]] = (signs[j] < 0 ? -1 : 1) * ((real).5 + sum[j]);
    for (int32_t j = 0; j < a.n && !hermitian; j++) {
        const scalar v = random_entry(r);
        if (has_signs)
            values[a.start[j]] += (v - scalar_real(v)) * (random_below(r, 2) ? 1 : 20 * sum[j]);
        else if (v != 0) /* 1.3: the scale factor of a power of two depends on its last bit */
            values[a.start[j]] *= (real)1.3 * v / scalar_abs(v);
    }
    for (int q = 0; q < 2 && is_doubtful && a.n > 0; q++)
        values[a.start[random_below(r, a.n)]] *= random_below(r, 2) ? -1 : 0;
    free(sum);
    begin(s, a, values, hermitian, 1);
    s->signs = signs;
    assert_int_equal(build(s, order_of(s, order), INDEFINITE, INT64_MAX), LIBSOLVER_OK);
}

int system_build_random(cpu_system *s, random_stream *r, uint64_t seed)
{
    pattern a;
    scalar *values;
    const int kind = random_problem(r, seed, &a, &values),
              hermitian = SCALAR_COMPLEX && (kind == SPD || seed % 2);
    assert_int_equal(system_build_in_order(s, a, values, kind, hermitian, NATURAL), LIBSOLVER_OK);
    return kind;
}

void system_build_grid(cpu_system *s, random_stream *r, int32_t x, int32_t y, int kind, int order)
{
    const pattern a = problem_grid(x, y, 1);
    assert_int_equal(system_build_in_order(s, a, random_values(r, &a, kind), kind, SCALAR_COMPLEX,
                                           order),
                     LIBSOLVER_OK);
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
    free(s->signs);
    problem_free(&s->a);
    free(s->values);
}

double system_backward_error(const cpu_system *s, const scalar *b, const scalar *x)
{
    const int32_t n = s->a.n;
    wide *residual = calloc((size_t)n + 1, sizeof *residual);
    long double *bound = calloc((size_t)n + 1, sizeof *bound);
    double worst = 0;
    for (int32_t i = 0; i < n; i++) {
        residual[i] += b[i];
        bound[i] += scalar_abs(b[i]);
    }
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = s->a.start[j]; p < s->a.start[j + 1]; p++) {
            const int32_t i = s->a.row[p];
            const wide v = s->values[p], mirrored = scalar_mirror(s->values[p], s->hermitian);
            const long double size = scalar_abs(s->values[p]);
            residual[i] -= v * x[j];
            bound[i] += size * scalar_abs(x[j]);
            if (i != j) {
                residual[j] -= mirrored * x[i];
                bound[j] += size * scalar_abs(x[i]);
            }
        }
    for (int32_t i = 0; i < n; i++) {
        const double e =
            bound[i] > 0 ? (double)((long double)scalar_abs((scalar)residual[i]) / bound[i]) : 0;
        worst = e > worst || isnan(e) ? e : worst;
    }
    free(residual);
    free(bound);
    return worst;
}

exported system_export(const cpu_system *s, int kind)
{
    const int32_t n = s->a.n;
    exported f = {.n = n,
                  .l = calloc((size_t)n * (size_t)n + 1, sizeof(scalar)),
                  .d = nan_scalars(n),
                  .e = nan_scalars(n),
                  .a = calloc((size_t)n * (size_t)n + 1, sizeof(scalar)),
                  .scale = calloc((size_t)n + 1, sizeof(real)),
                  .order = calloc((size_t)n + 1, 8)};
    int64_t entries = -1, *pointers = calloc((size_t)n + 1, 8), *place = calloc((size_t)n + 1, 8);
    assert_true(f.l && f.a && f.order && pointers && place);
    assert_int_equal(cpu->export_l(s->numeric, &entries, NULL, NULL, NULL, f.order, NULL),
                     LIBSOLVER_OK);
    int64_t *indices = calloc((size_t)entries + 1, 8), wanted = entries;
    scalar *values = nan_scalars(entries);
    assert_int_equal(cpu->export_l(s->numeric, &entries, pointers, indices, values, NULL, NULL),
                     LIBSOLVER_OK);
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
    assert_int_equal(cpu->export_d(s->numeric, f.d, f.e, NULL), LIBSOLVER_OK);
    assert_int_equal(cpu->export_scaling(s->numeric, f.scale, NULL), LIBSOLVER_OK);
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
            const scalar v = s->values[p] * f.scale[j] * f.scale[s->a.row[p]];
            f.a[y + x * n] = v; /* row y, as the row of A that stands there, column x */
            f.a[x + y * n] = scalar_mirror(v, s->hermitian);
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
    b.values = nan_scalars(b.size);
    b.v = (libsolver_vectors){.values = b.values,
                              .rows = n,
                              .columns = columns,
                              .ld = ld,
                              .type = SCALAR_TYPE,
                              .layout = by_rows ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR};
    for (int64_t j = 0; j < columns && filled; j++)
        for (int32_t i = 0; i < n; i++)
            b.values[by_rows ? i * ld + j : i + j * ld] = random_entry(r);
    return b;
}

scalar *block_at(const block *b, int64_t i, int64_t j)
{
    return b->values + (b->v.layout == LIBSOLVER_ROW_MAJOR ? i * b->v.ld + j : i + j * b->v.ld);
}
