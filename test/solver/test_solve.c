/* test/solver/test_solve.c: the CPU backend's half solves against dense loops, and their bits
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include <omp.h>
#include <stdlib.h>

/* Padding is still NaN. */
static void check_padding(const block *b)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < b->size; k++)
        numbers += !isnan(b->values[k]);
    assert_int_equal(numbers, b->v.rows * b->v.columns);
}

/* |left - right| <= EPS scale */
static void check_row(const char *what, long double left, long double right, long double scale,
                      int64_t i, int64_t j)
{
    if (!(fabsl(left - right) <= EPS * scale))
        fail_msg("%s, row %d, column %d: %.17Lg, expected %.17Lg, %Lg allowed", what, (int)i,
                 (int)j, left, right, EPS * scale);
}

/* Column j of y and x:  L y = P S b, D z = y, L^T P S^-1 x = z, by the parts made one after the
 * other. */
static void check_halves(const exported *f, const block *b, const block *y, const block *z,
                         const block *x, int64_t j)
{
    const int32_t n = f->n;
    for (int32_t i = 0; i < n; i++) {
        const double rhs = *block_at(b, f->order[i], j) * f->scale[f->order[i]];
        long double sum = 0, scale = fabs(rhs);
        for (int32_t q = 0; q <= i; q++) {
            sum += (long double)f->l[i + (int64_t)q * n] * *block_at(y, q, j);
            scale += fabsl((long double)f->l[i + (int64_t)q * n] * *block_at(y, q, j));
        }
        check_row("forward", sum, rhs, (n + 2) * scale, i, j);

        const int first = f->e[i] != 0, second = i > 0 && f->e[i - 1] != 0,
                  other = first    ? i + 1
                          : second ? i - 1
                                   : i;
        sum = (long double)f->d[i] * *block_at(z, i, j) +
              (first    ? (long double)f->e[i] * *block_at(z, i + 1, j)
               : second ? (long double)f->e[i - 1] * *block_at(z, i - 1, j)
                        : 0);
        scale = fmax(fabs(*block_at(y, i, j)), fabs(*block_at(y, other, j)));
        if (other != i)
            scale *= first ? pair_weight(f->d[i], f->e[i], f->d[i + 1])
                           : pair_weight(f->d[i - 1], f->e[i - 1], f->d[i]);
        check_row("diagonal", sum, *block_at(y, i, j), scale, i, j);

        sum = 0;
        scale = fabs(*block_at(z, i, j));
        for (int32_t q = i; q < n; q++) {
            const long double product = (long double)f->l[q + (int64_t)i * n] *
                                        (*block_at(x, f->order[q], j) / f->scale[f->order[q]]);
            sum += product;
            scale += fabsl(product);
        }
        check_row("backward", sum, *block_at(z, i, j), (n + 2) * scale, i, j);
    }
}

static void half_solves_are_those_with_l_d_and_lt(void **state)
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
        cpu_system s;
        assert_int_equal(system_build(&s, a, delays ? values : random_values(&r, &a, kind), kind, 1,
                                      INT64_MAX),
                         LIBSOLVER_OK);
        assert_true(s.report.delayed > 0 || !delays);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 1 + random_below(&r, 12), &w, &s.why),
                         LIBSOLVER_OK);
        block b = random_block(&r, n, columns, 1), y = random_block(&r, n, columns, 0);
        block z = random_block(&r, n, columns, 0), x = random_block(&r, n, columns, 0);
        double *b_before = copy_of(b.values, b.size);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L, w, &b.v, &y.v, &s.why), LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_D, w, &y.v, &z.v, &s.why), LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_LT, w, &z.v, &x.v, &s.why), LIBSOLVER_OK);
        assert_memory_equal(b.values, b_before, (size_t)b.size * sizeof(double));
        check_padding(&y);
        check_padding(&z);
        check_padding(&x);
        exported f = system_export(&s, kind);
        for (int64_t j = 0; j < columns && s.report.zero == 0; j++)
            check_halves(&f, &b, &y, &z, &x, j);
        /* all at once, and in place, do the same operations */
        block whole = random_block(&r, n, columns, 0);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, w, &b.v,
                                    &whole.v, &s.why),
                         LIBSOLVER_OK);
        assert_int_equal(cpu->solve(s.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, w, &b.v, &b.v,
                                    &s.why),
                         LIBSOLVER_OK);
        for (int64_t j = 0; j < columns; j++)
            for (int32_t i = 0; i < n; i++) {
                assert_true(*block_at(&whole, i, j) == *block_at(&x, i, j));
                assert_true(*block_at(&b, i, j) == *block_at(&x, i, j));
            }
        exported_free(&f);
        free(b_before);
        free(b.values);
        free(y.values);
        free(z.values);
        free(x.values);
        free(whole.values);
        cpu->workspace_destroy(s.numeric, w);
        system_free(&s);
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
            cpu_system s;
            assert_int_equal(system_build(&s, a, random_values(&r, &a, kind), kind, threads[run],
                                          INT64_MAX),
                             LIBSOLVER_OK);
            void *w = NULL;
            assert_int_equal(cpu->workspace_create(s.numeric, 8, &w, &s.why), LIBSOLVER_OK);
            block b = random_block(&r, a.n, 9, 1);
            assert_int_equal(cpu->solve(s.numeric, 7, w, &b.v, &b.v, &s.why), LIBSOLVER_OK);
            assert_int_equal(omp_get_max_threads(), run == 0 ? 1 : 5);
            assert_int_equal(cpu->export_l(s.numeric, &entries, NULL, NULL, NULL, NULL, &s.why),
                             LIBSOLVER_OK);
            double *now = nan_array(entries);
            int64_t *pointers = calloc((size_t)a.n + 1, 8), *indices = calloc((size_t)entries, 8);
            assert_int_equal(cpu->export_l(s.numeric, &entries, pointers, indices, now, NULL,
                                           &s.why),
                             LIBSOLVER_OK);
            free(pointers);
            free(indices);
            if (run == 0) {
                reference = b.values;
                l = now;
            } else {
                assert_memory_equal(now, l, (size_t)entries * sizeof(double));
                for (int64_t k = 0; k < b.size; k++)
                    assert_true(isnan(reference[k]) ? isnan(b.values[k])
                                                    : b.values[k] == reference[k]);
                free(now);
                free(b.values);
            }
            cpu->workspace_destroy(s.numeric, w);
            system_free(&s);
        }
        free(reference);
        free(l);
    }
    omp_set_num_threads(usual);
}

/* What the caller's OpenMP setting is must not change the order of a sum. */
static void the_usual_number_of_threads_does_not_matter(void **state)
{
    (void)state;
    const int usual = omp_get_max_threads();
    double *first = NULL;
    for (int run = 0; run < 2; run++) {
        omp_set_num_threads(run == 0 ? 1 : 5);
        random_stream r = random_seeded(6);
        pattern a = problem_complete(1200);
        cpu_system s;
        assert_int_equal(system_build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX),
                         LIBSOLVER_OK);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 64, &w, &s.why), LIBSOLVER_OK);
        double *x = nan_array(1200 * 64);
        for (int i = 0; i < 1200 * 64; i++)
            x[i] = random_real(&r);
        const libsolver_vectors v = {.values = x, .rows = 1200, .columns = 64, .ld = 1200};
        assert_int_equal(cpu->solve(s.numeric, 7, w, &v, &v, &s.why), LIBSOLVER_OK);
        if (run == 0)
            first = x;
        else {
            assert_memory_equal(x, first, 1200 * 64 * sizeof(double));
            free(x);
        }
        cpu->workspace_destroy(s.numeric, w);
        system_free(&s);
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
    cpu_system s;
    assert_int_equal(system_build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 50, &w, &s.why), LIBSOLVER_OK);
    const int64_t before = s.env.memory.in_use;
    s.values = waiting; /* fronts become taller */
    assert_int_equal(system_factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
    assert_true(s.report.delayed > 0);
    const int64_t grown = s.env.memory.in_use;
    assert_true(grown > before);
    block b = random_block(&r, a.n, 50, 1), x = random_block(&r, a.n, 50, 0);
    backend_refinement refinement = {.solve_first = 1, .steps = 5, .tolerance = 1e-14};
    assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL, &s.why),
                     LIBSOLVER_OK);
    assert_true(refinement.final <= 1e-14);
    assert_true(s.env.memory.in_use > grown);
    free(b.values);
    free(x.values);
    free(values);
    problem_free(&same);
    cpu->workspace_destroy(s.numeric, w);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(half_solves_are_those_with_l_d_and_lt, print_last_seed),
        cmocka_unit_test_teardown(the_same_bits_for_any_threads, print_last_seed),
        cmocka_unit_test_teardown(the_usual_number_of_threads_does_not_matter, print_last_seed),
        cmocka_unit_test_teardown(a_workspace_follows_its_factor, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
