/* test/test_solve.c: the CPU backend's factors, half solves and refinement against dense loops
 * SPDX-License-Identifier: BSD-3-Clause */
#define PREC_d
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/scalar.h"
#include "dense.h"
#include "solver/cpu/backend.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const backend *const cpu = &cpu_backend_d;

/* A system from its values to its factor. */
typedef struct system_ {
    environment env;
    rationed ration;
    pattern a;
    double *values;
    forest f;
    void *plan, *numeric;
    backend_report report;
    message why;
} system_;

enum { SPD, INDEFINITE, HOLLOW, KINDS };

/* SPD: dominated by the diagonal; HOLLOW: two thirds of the diagonal are zero. */
static double *random_values(random_stream *r, const pattern *a, int kind)
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

static libsolver_status factorize(system_ *s, int kind, int may_match)
{
    const backend_options options = {.positive_definite = kind == SPD,
                                     .scaling = BACKEND_EQUILIBRATE,
                                     .may_match = may_match,
                                     .pivot_threshold = 0.01};
    cpu->set_values(s->numeric, s->values);
    return cpu->factorize(s->numeric, &options, &s->report, &s->why);
}

/* Analysis and factorization in the natural order; `left` allocations succeed. */
static libsolver_status build(system_ *s, pattern a, double *values, int kind, int threads, int64_t left)
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
    const backend_problem problem = {&s->env, &s->a, &s->f, LIBSOLVER_D, LIBSOLVER_SYMMETRIC};
    TRY(cpu->prepare(&problem, &s->why, &s->plan));
    TRY(cpu->create(s->plan, &s->why, &s->numeric));
    return factorize(s, kind, 0);
}

/* All but pattern and values. */
static void dismantle(system_ *s)
{
    cpu->destroy(s->numeric);
    cpu->discard(s->plan);
    forest_free(&s->env.memory, &s->f);
    assert_int_equal(s->env.memory.in_use, 0);
}

static void free_system(system_ *s)
{
    dismantle(s);
    problem_free(&s->a);
    free(s->values);
}

/* The factor as the backend exports it, L dense. */
typedef struct factor {
    int32_t n;
    double *l, *d, *e, *scale, *a; /* a: S A S in elimination order, both triangles */
    int64_t *order;
} factor;

static factor export(const system_ *s, int kind)
{
    const int32_t n = s->a.n;
    factor f = {n,
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

static void free_factor(factor *f)
{
    free(f->l);
    free(f->d);
    free(f->e);
    free(f->scale);
    free(f->a);
    free(f->order);
}

/* Patterns that lead to chains, many children and fronts of all sizes. */
static pattern random_pattern(random_stream *r, int32_t n)
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

static int32_t random_order(random_stream *r, uint64_t seed)
{
    static const int32_t large[] = {63, 64, 65, 129, 257};
    return seed < 41 ? (int32_t)seed : seed % 20 == 0 ? large[random_below(r, 5)] : random_below(r, 41);
}

/* S A S = L D L^T up to roundings; see pair_weight for those of 2x2 pivots. */
static void check_product(const factor *f)
{
    const int32_t n = f->n;
    long double *weight = pivot_weights(n, n + 8, f->d, f->e);
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            const long double a = f->a[i + (int64_t)j * n];
            long double sum, scale;
            ldlt_product(j + 1, f->l, n, f->d, f->e, weight, i, j, &sum, &scale);
            scale += n * fabsl(a);
            if (!(fabsl(a - sum) <= EPS * scale))
                fail_msg("n %d: (S A S - L D L^T)(%d, %d) = %Lg, %Lg allowed", n, i, j, a - sum, EPS * scale);
        }
    free(weight);
}

static void l_d_lt_is_the_scaled_matrix(void **state)
{
    (void)state;
    int checked = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_order(&r, seed);
        const int kind = (int)(seed % KINDS);
        pattern a = random_pattern(&r, n);
        system_ s;
        assert_int_equal(build(&s, a, random_values(&r, &a, kind), kind, 1, INT64_MAX), LIBSOLVER_OK);
        assert_int_equal(s.report.positive + s.report.negative + s.report.zero, n);
        factor f = export(&s, kind);
        if (s.report.zero == 0) { /* otherwise there are entries that were taken for zero */
            check_product(&f);
            checked++;
        }
        free_factor(&f);
        free_system(&s);
    }
    assert_true(checked > 300);
}

/* A hub joined to cliques; some columns of each clique have nonzeros in the hub's rows only, so that their
 * pivots wait for the hub, where they are 2x2 ones. */
static pattern cliques_around_a_hub(random_stream *r, int waiting, double **values)
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

static void delayed_pivots_reach_their_parents(void **state)
{
    (void)state;
    for (int waiting = 1; waiting <= 6; waiting++) {
        random_stream r = random_seeded((uint64_t)waiting);
        double *values;
        pattern a = cliques_around_a_hub(&r, waiting, &values);
        system_ s;
        assert_int_equal(build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
        assert_in_range(s.report.delayed, 5 * waiting, 6 * waiting); /* the hub may have swallowed one */
        assert_true(s.report.growths > 0);                           /* nothing was known of delays */
        assert_int_equal(s.report.zero, 0);
        factor f = export(&s, INDEFINITE);
        check_product(&f);
        assert_int_equal(factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(s.report.growths, 0); /* now there is room */
        const int64_t calls = s.env.memory.calls;
        assert_int_equal(factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(s.env.memory.calls, calls);
        factor again = export(&s, INDEFINITE);
        assert_memory_equal(again.l, f.l, (size_t)a.n * a.n * sizeof(double));
        assert_memory_equal(again.d, f.d, (size_t)a.n * sizeof(double));
        free_factor(&f);
        free_factor(&again);
        free_system(&s);
    }
}

/* A block of vectors with NaN in its padding. */
typedef struct block {
    libsolver_vectors v;
    double *values;
    int64_t size;
} block;

static block random_block(random_stream *r, int32_t n, int64_t columns, int filled)
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

static double *at(const block *b, int64_t i, int64_t j)
{
    return b->values + (b->v.layout == LIBSOLVER_ROW_MAJOR ? i * b->v.ld + j : i + j * b->v.ld);
}

/* Padding is still NaN. */
static void check_padding(const block *b)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < b->size; k++)
        numbers += !isnan(b->values[k]);
    assert_int_equal(numbers, b->v.rows * b->v.columns);
}

/* |left - right| <= EPS scale */
static void check_row(const char *what, long double left, long double right, long double scale, int64_t i,
                      int64_t j)
{
    if (!(fabsl(left - right) <= EPS * scale))
        fail_msg("%s, row %d, column %d: %.17Lg, expected %.17Lg, %Lg allowed", what, (int)i, (int)j, left,
                 right, EPS * scale);
}

/* Column j of y and x:  L y = P S b, D z = y, L^T P S^-1 x = z, by the parts made one after the other. */
static void check_halves(const factor *f, const block *b, const block *y, const block *z, const block *x,
                         int64_t j)
{
    const int32_t n = f->n;
    for (int32_t i = 0; i < n; i++) {
        const double rhs = *at(b, f->order[i], j) * f->scale[f->order[i]];
        long double sum = 0, scale = fabs(rhs);
        for (int32_t q = 0; q <= i; q++) {
            sum += (long double)f->l[i + (int64_t)q * n] * *at(y, q, j);
            scale += fabsl((long double)f->l[i + (int64_t)q * n] * *at(y, q, j));
        }
        check_row("forward", sum, rhs, (n + 2) * scale, i, j);

        const int first = f->e[i] != 0, second = i > 0 && f->e[i - 1] != 0,
                  other = first    ? i + 1
                          : second ? i - 1
                                   : i;
        sum = (long double)f->d[i] * *at(z, i, j) + (first    ? (long double)f->e[i] * *at(z, i + 1, j)
                                                     : second ? (long double)f->e[i - 1] * *at(z, i - 1, j)
                                                              : 0);
        scale = fmax(fabs(*at(y, i, j)), fabs(*at(y, other, j)));
        if (other != i)
            scale *= first ? pair_weight(f->d[i], f->e[i], f->d[i + 1])
                           : pair_weight(f->d[i - 1], f->e[i - 1], f->d[i]);
        check_row("diagonal", sum, *at(y, i, j), scale, i, j);

        sum = 0;
        scale = fabs(*at(z, i, j));
        for (int32_t q = i; q < n; q++) {
            const long double product =
                (long double)f->l[q + (int64_t)i * n] * (*at(x, f->order[q], j) / f->scale[f->order[q]]);
            sum += product;
            scale += fabsl(product);
        }
        check_row("backward", sum, *at(z, i, j), (n + 2) * scale, i, j);
    }
}

static void half_solves(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        int32_t n = random_order(&r, seed);
        const int kind = seed % 50 == 1 ? INDEFINITE : (int)(seed % KINDS);
        const int64_t columns = random_below(&r, 5) ? random_below(&r, 10) : 40;
        double *values = NULL;
        const int delays = seed % 50 == 1; /* of an INDEFINITE one */
        pattern a = delays ? cliques_around_a_hub(&r, 3, &values) : random_pattern(&r, n);
        n = a.n;
        system_ s;
        assert_int_equal(build(&s, a, delays ? values : random_values(&r, &a, kind), kind, 1, INT64_MAX),
                         LIBSOLVER_OK);
        assert_true(s.report.delayed > 0 || !delays);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 1 + random_below(&r, 12), &w), LIBSOLVER_OK);
        block b = random_block(&r, n, columns, 1), y = random_block(&r, n, columns, 0);
        block z = random_block(&r, n, columns, 0), x = random_block(&r, n, columns, 0);
        double *b_before = copy_of(b.values, b.size);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L, w, &b.v, &y.v), LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_D, w, &y.v, &z.v), LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_LT, w, &z.v, &x.v), LIBSOLVER_OK);
        assert_memory_equal(b.values, b_before, (size_t)b.size * sizeof(double));
        check_padding(&y);
        check_padding(&z);
        check_padding(&x);
        factor f = export(&s, kind);
        for (int64_t j = 0; j < columns && s.report.zero == 0; j++)
            check_halves(&f, &b, &y, &z, &x, j);
        /* all at once, and in place, do the same operations */
        block whole = random_block(&r, n, columns, 0);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, w, &b.v, &whole.v),
                         LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, w, &b.v, &b.v),
                         LIBSOLVER_OK);
        for (int64_t j = 0; j < columns; j++)
            for (int32_t i = 0; i < n; i++) {
                assert_true(*at(&whole, i, j) == *at(&x, i, j));
                assert_true(*at(&b, i, j) == *at(&x, i, j));
            }
        free_factor(&f);
        free(b_before);
        free(b.values);
        free(y.values);
        free(z.values);
        free(x.values);
        free(whole.values);
        cpu->workspace_destroy(s.numeric, w);
        free_system(&s);
    }
}

/* omega1 + omega2 of column j [Arioli, Demmel, Duff 1989], rows by rows from the dense matrix. */
static double backward_error(const system_ *s, const block *b, const block *x, int64_t j)
{
    const int32_t n = s->a.n;
    long double *a = calloc((size_t)n * n + 1, sizeof *a), norm = 0, omega1 = 0, omega2 = 0;
    assert_non_null(a);
    for (int32_t q = 0; q < n; q++) {
        norm = fmaxl(norm, fabs(*at(x, q, j)));
        for (int64_t p = s->a.start[q]; p < s->a.start[q + 1]; p++)
            a[s->a.row[p] + (int64_t)q * n] = a[q + (int64_t)s->a.row[p] * n] = s->values[p];
    }
    for (int32_t i = 0; i < n; i++) {
        long double r = *at(b, i, j), product = 0, row = 0;
        const long double rhs = fabs(*at(b, i, j));
        for (int32_t q = 0; q < n; q++) {
            r -= a[i + (int64_t)q * n] * *at(x, q, j);
            product += fabsl(a[i + (int64_t)q * n] * *at(x, q, j));
            row += fabsl(a[i + (int64_t)q * n]);
        }
        if (r == 0)
            continue;
        if (product + rhs > 1000 * n * (long double)EPS * (row * norm + rhs))
            omega1 = fmaxl(omega1, fabsl(r) / (product + rhs));
        else
            omega2 = fmaxl(omega2, fabsl(r) / (product + row * norm));
    }
    free(a);
    return (double)(omega1 + omega2);
}

static void the_backward_error_is_that_of_its_definition(void **state)
{
    (void)state;
    int second = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_order(&r, seed);
        const int64_t columns = 1 + random_below(&r, 70);
        pattern a = random_pattern(&r, n);
        system_ s;
        assert_int_equal(build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX), LIBSOLVER_OK);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 1 + random_below(&r, 80), &w), LIBSOLVER_OK);
        block b = random_block(&r, n, columns, 1), x = random_block(&r, n, columns, 1);
        double *row = calloc((size_t)n + 1, sizeof(double));
        assert_non_null(row);
        for (int32_t j = 0; j < n; j++)
            for (int64_t p = a.start[j]; p < a.start[j + 1]; p++) {
                row[j] += fabs(s.values[p]);
                row[a.row[p]] += a.row[p] == j ? 0 : fabs(s.values[p]);
            }
        for (int64_t j = 0; j < columns; j++) { /* some rows hardly have anything to be measured against */
            double norm = 0;
            for (int32_t i = 0; i < n; i += 4)
                norm = fmax(norm, fabs(*at(&x, i, j)));
            for (int32_t i = 0; i < n; i++)
                if (j % 3 < 2 && i % 4) {
                    *at(&x, i, j) *= 1e-20;
                    *at(&b, i, j) =
                        j % 3 == 0 ? 1e-20 : 1000 * n * EPS * row[i] * norm * (1 + 0.7 * random_real(&r));
                    second++;
                }
        }
        free(row);
        double *before = copy_of(x.values, x.size), *errors = nan_array(columns), largest = 0;
        backend_refinement refinement = {.solve_first = 0, .steps = 0, .tolerance = 1e-14};
        assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors), LIBSOLVER_OK);
        assert_memory_equal(x.values, before, (size_t)x.size * sizeof(double));
        assert_int_equal(refinement.steps, 0);
        for (int64_t j = 0; j < columns; j++) {
            const double exact = backward_error(&s, &b, &x, j);
            if (!(fabs(errors[j] - exact) <= (n + 8) * EPS * exact))
                fail_msg("seed %d, n %d: backward error %.17g, expected %.17g", (int)seed, n, errors[j],
                         exact);
            largest = fmax(largest, errors[j]);
        }
        assert_true(refinement.initial == largest && refinement.final == largest);
        if (n > 0) {
            *at(&x, 0, 0) = NAN;
            assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors), LIBSOLVER_OK);
            assert_true(errors[0] == INFINITY && refinement.final == INFINITY);
        }
        free(before);
        free(errors);
        free(b.values);
        free(x.values);
        cpu->workspace_destroy(s.numeric, w);
        free_system(&s);
    }
    assert_true(second > 1000);
}

/* Row 1 of b - I x with x = (1, 0): up to 2000 EPS it is measured against the norms, then against itself. */
static void a_small_row_is_measured_against_the_norms(void **state)
{
    (void)state;
    pattern a = problem_diagonal(2);
    double *values = nan_array(2);
    values[0] = values[1] = 1;
    system_ s;
    assert_int_equal(build(&s, a, values, SPD, 1, INT64_MAX), LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 1, &w), LIBSOLVER_OK);
    static const double beta[] = {1e-20, 1500 * EPS, 1999 * EPS, 2001 * EPS, 1};
    for (int i = 0; i < 5; i++) {
        double x[] = {1, 0}, b[] = {1, beta[i]}, error = -1;
        const libsolver_vectors vx = {x, 2, 1, 2, LIBSOLVER_D, LIBSOLVER_COLUMN_MAJOR, LIBSOLVER_HOST};
        libsolver_vectors vb = vx;
        vb.values = b;
        backend_refinement refinement = {.solve_first = 0, .steps = 0, .tolerance = 1e-14};
        assert_int_equal(cpu->refine(s.numeric, w, &vb, &vx, &refinement, &error), LIBSOLVER_OK);
        assert_true(error == (i < 3 ? beta[i] : 1));
    }
    cpu->workspace_destroy(s.numeric, w);
    free_system(&s);
}

/* Refines with the factor of A while the matrix is c A: each step multiplies the residual by 1 - c. */
static void refinement_goes_on_while_it_gains_and_keeps_the_best(void **state)
{
    (void)state;
    static const struct {
        double c;
        int steps, limit;
    } known[] = {{1, 0, 10},     /* right at once */
                 {1.25, 3, 3},   /* every step gains; stopped by the limit */
                 {1.25, 26, 40}, /* log(1e-15) / log(1/4), about */
                 {0.2, 1, 10},   /* more than half of the error is left: one step, kept */
                 {2, 1, 10},     /* the first step is no better: one step, not kept */
                 {5, 1, 10}};
    for (int i = 0; i < 6; i++)
        for (int by_panels = 0; by_panels < 2; by_panels++) {
            random_stream r = random_seeded((uint64_t)i);
            pattern a = problem_grid(9, 7, 1);
            system_ s;
            assert_int_equal(build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX), LIBSOLVER_OK);
            void *w = NULL;
            assert_int_equal(cpu->workspace_create(s.numeric, by_panels ? 2 : 5, &w), LIBSOLVER_OK);
            block b = random_block(&r, a.n, 5, 1), x = random_block(&r, a.n, 5, 0),
                  first = random_block(&r, a.n, 5, 0);
            for (int32_t q = 0; q < a.n; q++)
                *at(&b, q, 3) = 0; /* a column that is done before the others */
            assert_int_equal(cpu->solve(s.numeric, 7, w, &b.v, &first.v), LIBSOLVER_OK);
            for (int64_t p = 0; p < a.start[a.n]; p++)
                s.values[p] *= known[i].c;
            cpu->set_values(s.numeric, s.values);
            backend_refinement refinement = {.solve_first = 1, .steps = known[i].limit, .tolerance = 1e-15};
            double errors[5], initial = 0, final = 0;
            assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors), LIBSOLVER_OK);
            for (int64_t j = 0; j < 5; j++) {
                const double before = backward_error(&s, &b, &first, j),
                             after = backward_error(&s, &b, &x, j);
                assert_true(fabs(errors[j] - after) <=
                            1e-3 * after); /* of numbers that may be mere rounding */
                assert_true(after <= before);
                initial = fmax(initial, before);
                final = fmax(final, after);
                if (known[i].c >= 2)
                    for (int32_t q = 0; q < a.n; q++)
                        assert_true(*at(&x, q, j) == *at(&first, q, j));
            }
            assert_true(fabs(refinement.initial - initial) <= 1e-3 * initial);
            assert_true(fabs(refinement.final - final) <= 1e-3 * final);
            if (known[i].steps == 26) {
                assert_in_range(refinement.steps, 20, 30);
                assert_true(final < 1e-14);
            } else if (known[i].c != 1)
                assert_int_equal(refinement.steps, known[i].steps);
            if (known[i].c == 0.2)
                assert_true(final < 0.8 * initial);
            if (known[i].c == 1.25)
                assert_true(final < initial / 40);
            free(b.values);
            free(x.values);
            free(first.values);
            cpu->workspace_destroy(s.numeric, w);
            free_system(&s);
        }
}

static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const int usual = omp_get_max_threads();
    for (int kind = 0; kind < KINDS; kind++) {
        double *reference = NULL, *l = NULL;
        int64_t entries = 0;
        for (int run = 0; run < 4; run++) {
            static const int threads[] = {1, 1, 2, 5};
            omp_set_num_threads(run == 0 ? 1 : 5); /* must not matter */
            random_stream r = random_seeded((uint64_t)kind);
            pattern small = problem_grid(12, 12, 1), a = problem_blown_up(&small, 9);
            problem_free(&small);
            system_ s;
            assert_int_equal(build(&s, a, random_values(&r, &a, kind), kind, threads[run], INT64_MAX),
                             LIBSOLVER_OK);
            void *w = NULL;
            assert_int_equal(cpu->workspace_create(s.numeric, 8, &w), LIBSOLVER_OK);
            block b = random_block(&r, a.n, 9, 1);
            assert_int_equal(cpu->solve(s.numeric, 7, w, &b.v, &b.v), LIBSOLVER_OK);
            assert_int_equal(omp_get_max_threads(), run == 0 ? 1 : 5);
            assert_int_equal(cpu->export_l(s.numeric, &entries, NULL, NULL, NULL, NULL), LIBSOLVER_OK);
            double *now = nan_array(entries);
            int64_t *pointers = calloc((size_t)a.n + 1, 8), *indices = calloc((size_t)entries, 8);
            assert_int_equal(cpu->export_l(s.numeric, &entries, pointers, indices, now, NULL), LIBSOLVER_OK);
            free(pointers);
            free(indices);
            if (run == 0) {
                reference = b.values;
                l = now;
            } else {
                assert_memory_equal(now, l, (size_t)entries * sizeof(double));
                for (int64_t k = 0; k < b.size; k++)
                    assert_true(isnan(reference[k]) ? isnan(b.values[k]) : b.values[k] == reference[k]);
                free(now);
                free(b.values);
            }
            cpu->workspace_destroy(s.numeric, w);
            free_system(&s);
        }
        free(reference);
        free(l);
    }
    omp_set_num_threads(usual);
}

/* A BLAS that uses threads by itself would sum in another order. */
static void the_usual_number_of_threads_does_not_matter(void **state)
{
    (void)state;
    const int usual = omp_get_max_threads();
    double *first = NULL;
    for (int run = 0; run < 2; run++) {
        omp_set_num_threads(run == 0 ? 1 : 5);
        random_stream r = random_seeded(6);
        pattern a = problem_complete(1200);
        system_ s;
        assert_int_equal(build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX), LIBSOLVER_OK);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 64, &w), LIBSOLVER_OK);
        double *x = nan_array(1200 * 64);
        for (int i = 0; i < 1200 * 64; i++)
            x[i] = random_real(&r);
        const libsolver_vectors v = {x, 1200, 64, 1200, LIBSOLVER_D, LIBSOLVER_COLUMN_MAJOR, LIBSOLVER_HOST};
        assert_int_equal(cpu->solve(s.numeric, 7, w, &v, &v), LIBSOLVER_OK);
        if (run == 0)
            first = x;
        else {
            assert_memory_equal(x, first, 1200 * 64 * sizeof(double));
            free(x);
        }
        cpu->workspace_destroy(s.numeric, w);
        free_system(&s);
    }
    free(first);
    omp_set_num_threads(usual);
}

static void a_workspace_follows_its_factor(void **state)
{
    (void)state;
    random_stream r = random_seeded(12);
    double *values, *waiting;
    pattern a = cliques_around_a_hub(&r, 0, &values), same = cliques_around_a_hub(&r, 6, &waiting);
    system_ s;
    assert_int_equal(build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 50, &w), LIBSOLVER_OK);
    const int64_t before = s.env.memory.in_use;
    s.values = waiting; /* fronts become taller */
    assert_int_equal(factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
    assert_true(s.report.delayed > 0);
    const int64_t grown = s.env.memory.in_use;
    assert_true(grown > before);
    block b = random_block(&r, a.n, 50, 1), x = random_block(&r, a.n, 50, 0);
    backend_refinement refinement = {.solve_first = 1, .steps = 5, .tolerance = 1e-14};
    assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL), LIBSOLVER_OK);
    assert_true(refinement.final <= 1e-14);
    assert_true(s.env.memory.in_use > grown);
    free(b.values);
    free(x.values);
    free(values);
    problem_free(&same);
    cpu->workspace_destroy(s.numeric, w);
    free_system(&s);
}

/* Every allocation fails once; the same object then factorizes and solves with the memory it lacked. */
static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int matching = 0; matching < 2; matching++) {
            random_stream r = random_seeded(99);
            double *values = NULL; /* HOLLOW: with fronts that outgrow their places */
            pattern a = kind == HOLLOW ? cliques_around_a_hub(&r, 2, &values) : problem_grid(9, 8, 1);
            values = kind == HOLLOW ? values : random_values(&r, &a, kind);
            block b = random_block(&r, a.n, 3, 1), x = random_block(&r, a.n, 3, 0);
            libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
            int64_t k = 0;
            int recovered = 0;
            for (; status != LIBSOLVER_OK; k++) {
                assert_in_range(k, 0, 400);
                const backend_options options = {.positive_definite = kind == SPD,
                                                 .scaling = matching ? BACKEND_MATCH : BACKEND_EQUILIBRATE,
                                                 .pivot_threshold = 0.01};
                system_ s;
                void *w = NULL;
                status = build(&s, a, values, kind, 1, k);
                assert_true(status == LIBSOLVER_OK || s.why.text[0] != 0);
                if (status == LIBSOLVER_OK)
                    status = cpu->factorize(s.numeric, &options, &s.report, &s.why);
                if (status == LIBSOLVER_OK)
                    status = cpu->workspace_create(s.numeric, 3, &w);
                assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
                if (s.numeric) {
                    s.ration.left = INT64_MAX;
                    recovered++;
                    assert_int_equal(cpu->factorize(s.numeric, &options, &s.report, &s.why), LIBSOLVER_OK);
                    if (!w)
                        assert_int_equal(cpu->workspace_create(s.numeric, 3, &w), LIBSOLVER_OK);
                    backend_refinement refinement = {.solve_first = 1, .steps = 5, .tolerance = 1e-14};
                    assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL), LIBSOLVER_OK);
                    assert_true(s.report.zero > 0 || refinement.final <= 1e-14);
                }
                if (s.numeric)
                    cpu->workspace_destroy(s.numeric, w);
                dismantle(&s);
            }
            assert_true(recovered > 10 && recovered < k);
            free(b.values);
            free(x.values);
            free(values);
            problem_free(&a);
        }
}

/* user: calls that are still to be answered with "go on". */
static int cancel_after(void *user)
{
    return (*(int *)user)-- <= 0;
}

static void a_cancelled_run_can_be_repeated(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    pattern a = problem_grid(20, 20, 1);
    system_ s;
    assert_int_equal(build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX), LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 1, &w), LIBSOLVER_OK);
    block b = random_block(&r, a.n, 3, 1), x = random_block(&r, a.n, 3, 0);
    int left = 0, cancelled = 0;
    s.env.cancel = cancel_after;
    s.env.cancel_user = &left;
    for (int start = 0, done = 0; !done; start++) {
        assert_in_range(start, 0, 1000);
        backend_refinement refinement = {.solve_first = 1, .steps = 2, .tolerance = 0};
        left = start;
        libsolver_status status = factorize(&s, SPD, 0);
        if (status == LIBSOLVER_OK)
            status = cpu->solve(s.numeric, 7, w, &b.v, &x.v);
        if (status == LIBSOLVER_OK)
            status = cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_CANCELLED);
        done = status == LIBSOLVER_OK;
        cancelled += !done;
    }
    assert_true(cancelled > 5); /* fronts, panels of a solve, steps */
    free(b.values);
    free(x.values);
    cpu->workspace_destroy(s.numeric, w);
    free_system(&s);
}

static void count_sentences(void *user, const char *sentence)
{
    assert_non_null(strstr(sentence, "uncertain"));
    ++*(int *)user;
}

static void uncertain_signs_are_pivoted_again(void **state)
{
    (void)state;
    for (int uncertain = 0; uncertain < 2; uncertain++) {
        pattern a = problem_complete(2);
        double *values = nan_array(3);
        const double known[2][3] = {{1, 1, -1}, {1, 1, 1 - 100 * EPS}};
        memcpy(values, known[uncertain], sizeof known[0]);
        system_ s;
        int sentences = 0;
        assert_int_equal(build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
        s.env.log = count_sentences;
        s.env.log_user = &sentences;
        assert_int_equal(factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(sentences, uncertain);
        assert_int_equal(s.report.uncertain, uncertain);
        assert_int_equal(s.report.negative, 1);
        free_system(&s);
    }
}

static void sizes_are_told_before(void **state)
{
    (void)state;
    random_stream r = random_seeded(8);
    pattern a = problem_grid(10, 9, 1);
    system_ s;
    assert_int_equal(build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX), LIBSOLVER_OK);
    int64_t order[90], before = s.env.memory.in_use, calls = s.env.memory.calls;
    const int64_t bytes = cpu->workspace_bytes(s.numeric, 7);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 7, &w), LIBSOLVER_OK);
    calls = s.env.memory.calls - calls;
    assert_in_range(s.env.memory.in_use - before, bytes, bytes + 2 * MEMORY_ALIGNMENT * calls);
    cpu->workspace_destroy(s.numeric, w);
    int64_t host = -1, device = -1;
    cpu->predict(s.plan, &host, &device);
    assert_true(host >= s.report.factor_nnz * 8);
    assert_int_equal(device, 0);
    cpu->permutation(s.plan, order);
    factor f = export(&s, SPD);
    assert_memory_equal(order, f.order, sizeof order); /* Cholesky follows the plan */
    free_factor(&f);
    free_system(&s);
}

static void a_matrix_that_is_not_positive_definite_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 2 + random_below(&r, 60);
        pattern a = random_pattern(&r, n);
        double *values = random_values(&r, &a, SPD);
        const int32_t row = random_below(&r, n);
        system_ s;
        values[a.start[row]] *= seed % 3 == 0 ? -1 : seed % 3 == 1 ? 0 : 1e-3;
        const libsolver_status status = build(&s, a, values, SPD, 1, INT64_MAX);
        if (seed % 3 < 2) {
            assert_int_equal(status, LIBSOLVER_NOT_POSITIVE_DEFINITE);
            assert_int_equal(s.report.failed_row, row);
            assert_non_null(strstr(s.why.text, "not positive"));
        } else
            assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_NOT_POSITIVE_DEFINITE);
        const backend_options automatic = {.positive_definite = -1, .pivot_threshold = 0.01};
        assert_int_equal(cpu->factorize(s.numeric, &automatic, &s.report, &s.why), LIBSOLVER_OK);
        assert_int_equal(s.report.cholesky, status == LIBSOLVER_OK);
        assert_int_equal(s.report.negative + s.report.zero > 0, status != LIBSOLVER_OK);
        free_system(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(l_d_lt_is_the_scaled_matrix, print_last_seed),
        cmocka_unit_test_teardown(delayed_pivots_reach_their_parents, print_last_seed),
        cmocka_unit_test_teardown(half_solves, print_last_seed),
        cmocka_unit_test_teardown(the_backward_error_is_that_of_its_definition, print_last_seed),
        cmocka_unit_test(a_small_row_is_measured_against_the_norms),
        cmocka_unit_test(refinement_goes_on_while_it_gains_and_keeps_the_best),
        cmocka_unit_test(the_same_bits_for_any_threads),
        cmocka_unit_test(the_usual_number_of_threads_does_not_matter),
        cmocka_unit_test(a_workspace_follows_its_factor),
        cmocka_unit_test(each_failed_allocation_is_reported),
        cmocka_unit_test(a_cancelled_run_can_be_repeated),
        cmocka_unit_test(uncertain_signs_are_pivoted_again),
        cmocka_unit_test(sizes_are_told_before),
        cmocka_unit_test_teardown(a_matrix_that_is_not_positive_definite_is_named, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
