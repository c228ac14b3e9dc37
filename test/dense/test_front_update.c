/* test/dense/test_front_update.c: what eliminated pivots subtract from the rest of a front, against
 * plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A sum of n products, in any order, is within n u sum |products| of the exact one, u = EPS / 2
 * [Higham 2002, section 3.1]; the bounds below count EPS, twice as much, for each product and each
 * other operation. */
#define PREC_d
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense.h"
#include "dense/cpu/front.h"
#include <stdlib.h>
#include <string.h>

static void contribution_blocks_lie_in_block_columns(void **state)
{
    (void)state;
    for (int r = 0; r <= 400; r++) {
        int64_t next = 0;
        for (int top = 0; top < r; top += CB_BLOCK)
            for (int j = top; j < r && j < top + CB_BLOCK; j++)
                for (int i = top; i < r; i++, next++) {
                    assert_int_equal(cb_column(r, j) + i, next);
                    assert_int_equal(cb_ld(r, j), r - top);
                }
        assert_int_equal(cb_entries(r), next);
    }
}

/* Fails unless |got - exact| <= operations EPS scale. */
static void check_entry(double got, long double exact, long double scale, int operations,
                        const char *what, int i, int j)
{
    if (!(fabsl((long double)got - exact) <= operations * (long double)EPS * scale))
        fail_msg("%s, entry (%d, %d): %.17g, exactly %.17Lg, %Lg EPS apart of %d allowed", what, i,
                 j, got, exact, fabsl((long double)got - exact) / ((long double)EPS * scale),
                 operations);
}

/* One case of C := beta C - L W^T. */
static void check_trapezoid(random_stream *r, int rows, int columns, int inner, double beta)
{
    const int ldl = rows + 1 + random_below(r, 3), ldw = columns + 1 + random_below(r, 3),
              ldc = rows + 1;
    double *l = nan_array((int64_t)ldl * inner), *w = nan_array((int64_t)ldw * inner);
    double *c =
        beta == 0 ? nan_array((int64_t)ldc * columns) : random_trapezoid(r, rows, columns, ldc);
    for (int q = 0; q < inner; q++) {
        for (int i = 0; i < rows; i++)
            l[i + q * ldl] = random_real(r);
        for (int j = 0; j < columns; j++)
            w[j + q * ldw] = random_real(r);
    }
    double *before = copy_of(c, (int64_t)ldc * columns);
    update_trapezoid_d(0, rows, columns, inner, l, ldl, w, ldw, beta, c, ldc);
    for (int j = 0; j < columns; j++) {
        for (int i = j; i < rows; i++) {
            long double exact = beta == 0 ? 0 : before[i + j * ldc], scale = fabsl(exact);
            for (int q = 0; q < inner; q++) {
                const long double product = (long double)l[i + q * ldl] * w[j + q * ldw];
                exact -= product;
                scale += fabsl(product);
            }
            check_entry(c[i + j * ldc], exact, scale, inner + 1, "update_trapezoid", i, j);
        }
        /* padding is not written */
        assert_memory_equal(c + rows + j * ldc, before + rows + j * ldc, sizeof(double));
    }
    free(l);
    free(w);
    free(c);
    free(before);
}

static void trapezoids_are_updated(void **state)
{
    (void)state;
    static const int inner[] = {0, 1, 2, 7, 33};
    random_stream r = random_seeded(11);
    for (int rows = 0; rows <= 12; rows++)
        for (int columns = 0; columns <= 12; columns++)
            for (int k = 0; k <= 4; k++)
                check_trapezoid(&r, rows, columns, k, k & 1);
    for (int a = 0; a < BORDER_SIZES; a++)
        for (int b = 0; b < BORDER_SIZES; b++)
            for (int k = 0; k < 5; k++)
                check_trapezoid(&r, border_size[a], border_size[b], inner[k], (a + b + k) & 1);
}

typedef struct update {
    int m, p0, p1, ldw, w_row, from, to;
    double *panel;
    const double *w;
} update;

static void run_update(void *arg)
{
    const update *u = arg;
    front_update_columns_d(0, u->m, u->panel, u->p0, u->p1, u->w, u->ldw, u->w_row, u->from, u->to,
                           NULL);
}

static void check_update(random_stream *r, int m, int k, int p0, int p1, int from, int to,
                         int threads)
{
    const int w_row = from - random_below(r, from < 3 ? from + 1 : 4);
    update u = {m, p0, p1, m - w_row + 1, w_row, from, to, random_trapezoid(r, m, k, m), NULL};
    double *w = nan_array((int64_t)u.ldw * (p1 - p0)), *before = copy_of(u.panel, (int64_t)m * k);
    for (int q = 0; q < p1 - p0; q++)
        for (int i = from; i < m; i++)
            w[i - w_row + (int64_t)q * u.ldw] = random_real(r);
    u.w = w;
    with_threads(threads, run_update, &u);
    for (int j = 0; j < k; j++) {
        const double *column = u.panel + (int64_t)j * m, *old = before + (int64_t)j * m;
        if (j < from || j >= to) {
            assert_memory_equal(column, old, (size_t)m * sizeof(double));
            continue;
        }
        for (int i = j; i < m; i++) {
            long double exact = old[i], scale = fabsl(exact);
            for (int q = p0; q < p1; q++) {
                const long double product = (long double)before[i + (int64_t)q * m] *
                                            w[j - w_row + (int64_t)(q - p0) * u.ldw];
                exact -= product;
                scale += fabsl(product);
            }
            check_entry(column[i], exact, scale, p1 - p0 + 1, "front_update_columns", i, j);
        }
    }
    free(u.panel);
    free(w);
    free(before);
}

static void columns_of_a_panel_are_updated(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int k = 1 + random_below(&r, seed < 350 ? 60 : 300), m = k + random_below(&r, 40);
        const int from = random_below(&r, k + 1), to = from + random_below(&r, k - from + 1);
        const int p1 = random_below(&r, from + 1), p0 = random_below(&r, p1 + 1);
        check_update(&r, m, k, p0, p1, from, to, 1);
    }
    random_stream r = random_seeded(400);
    check_update(&r, 1100, 300, 3, 20, 20, 300, 5); /* tiles of 512 rows, in tasks */
}

/* A panel of m x k after p pivots of LDL^T, 2x2 pivots and zero ones among them; split: a 2x2 pivot
 * stands in columns split, split + 1. */
typedef struct eliminated {
    int m, k, p, ldlt, threads;
    double *panel, *d, *e, *cb, *scratch;
} eliminated;

static eliminated random_eliminated(random_stream *r, int m, int k, int p, int ldlt, int split)
{
    eliminated f = {m,    k,   p, ldlt, 1, random_trapezoid(r, m, k, m), nan_array(k), nan_array(k),
                    NULL, NULL};
    for (int q = 0; q < p;) {
        const int kind = q == split ? 9 : random_below(r, 10);
        const int pair = kind > 6 && q + 1 < p && q + 1 != split;
        f.d[q] = kind == 0 ? 0 : random_real(r);
        f.e[q] = 0;
        for (int i = q; i < m && kind == 0; i++)
            f.panel[i + (int64_t)q * m] = i == q;
        if (pair) {
            f.e[q] = random_real(r);
            f.d[q + 1] = random_real(r);
            f.e[q + 1] = 0;
        }
        q += 1 + pair;
    }
    f.cb = nan_array(cb_entries(m - p));
    f.scratch = nan_array(FRONT_TASK_SCRATCH * 8);
    return f;
}

static void free_eliminated(eliminated *f)
{
    free(f->panel);
    free(f->d);
    free(f->e);
    free(f->cb);
    free(f->scratch);
}

static void run_contribution(void *arg)
{
    const eliminated *f = arg;
    const front_pivots pivots = {
        0, f->m, f->p, f->panel, f->ldlt ? f->d : NULL, f->ldlt ? f->e : NULL};
    front_contribution_d(&pivots, f->k, f->cb, f->ldlt ? f->scratch : NULL, FRONT_TASK_SCRATCH,
                         NULL);
}

static void check_contribution(const eliminated *f)
{
    const int m = f->m, p = f->p, r = m - p;
    for (int j = 0; j < r; j++)
        for (int i = j; i < r; i++) {
            const double got = f->cb[cb_column(r, j) + i];
            if (j < f->k - p) { /* delayed */
                assert_memory_equal(&got, &f->panel[p + i + (int64_t)(p + j) * m], sizeof got);
                continue;
            }
            long double sum, scale;
            ldlt_product(p, f->panel + p, m, f->ldlt ? f->d : NULL, f->e, NULL, i, j, &sum, &scale);
            check_entry(got, -sum, scale, p + 3, "contribution block", i, j);
        }
}

static void contribution_blocks_are_the_schur_update(void **state)
{
    (void)state;
    static const int order[] = {1, 2, 31, 33, 127, 128, 129, 130, 255, 256, 257, 300};
    static const int pivots[] = {0, 1, 2, 31, 32, 33, 64, 255, 256, 257};
    static const int delayed[] = {0, 1, 3, 127, 128, 129};
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int p = seed < 150 ? random_below(&r, 40) : pivots[seed % 10];
        const int rest = seed < 150 ? random_below(&r, 40) : order[seed % 12];
        int k = p + (seed < 150 ? random_below(&r, 10) : delayed[seed % 6]);
        k = k > p + rest ? p + rest : k;
        eliminated f = random_eliminated(&r, p + rest, k, p, seed % 3 > 0, -1);
        run_contribution(&f);
        check_contribution(&f);
        free_eliminated(&f);
    }
}

static void pairs_across_the_border_of_inner_tiles_stay_together(void **state)
{
    (void)state;
    for (int split = TILE_INNER - 3; split <= TILE_INNER + 1; split++) {
        random_stream r = random_seeded((uint64_t)split);
        eliminated f = random_eliminated(&r, 2 * TILE_INNER + 150, 2 * TILE_INNER + 10,
                                         2 * TILE_INNER + 10, 1, split);
        run_contribution(&f);
        check_contribution(&f);
        free_eliminated(&f);
    }
}

static void large_contribution_blocks_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int ldlt = 0; ldlt < 2; ldlt++) {
        random_stream r = random_seeded(77);
        eliminated f = random_eliminated(&r, 900, 70, 60, ldlt, -1);
        assert_true(front_is_large(f.m - f.p, f.p));
        with_threads(1, run_contribution, &f);
        check_contribution(&f);
        const int64_t entries = cb_entries(f.m - f.p);
        double *one = f.cb;
        const int threads[] = {2, 5};
        for (int t = 0; t < 2; t++) {
            f.cb = nan_array(entries);
            with_threads(threads[t], run_contribution, &f);
            for (int j = 0; j < f.m - f.p; j++)
                assert_memory_equal(f.cb + cb_column(f.m - f.p, j) + j,
                                    one + cb_column(f.m - f.p, j) + j,
                                    (size_t)(f.m - f.p - j) * sizeof(double));
            free(f.cb);
        }
        f.cb = one;
        free_eliminated(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contribution_blocks_lie_in_block_columns),
        cmocka_unit_test_teardown(trapezoids_are_updated, print_last_seed),
        cmocka_unit_test_teardown(columns_of_a_panel_are_updated, print_last_seed),
        cmocka_unit_test_teardown(contribution_blocks_are_the_schur_update, print_last_seed),
        cmocka_unit_test_teardown(pairs_across_the_border_of_inner_tiles_stay_together,
                                  print_last_seed),
        cmocka_unit_test_teardown(large_contribution_blocks_have_the_same_bits_for_any_threads,
                                  print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
