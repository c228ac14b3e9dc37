/* test/api/test_api_delays.c: delayed pivots that would outgrow memory
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <stdlib.h>
#include <string.h>

/* `waiting` points joined to a hub that is eliminated last; 1e-5 and -1e-5 on their diagonals is
 * too little for a pivot beside the 1 in the hub's row, so each of them waits for the hub. */
static sparse points_around_a_hub(int64_t waiting)
{
    const int64_t n = waiting + 1;
    sparse s = {.n = n,
                .pointers = calloc((size_t)n + 1, sizeof(int64_t)),
                .values = doubles(2 * n)};
    s.indices = calloc((size_t)(2 * n), sizeof(int64_t));
    for (int64_t j = 0; j < n; j++) {
        s.indices[2 * j] = j;
        s.values[2 * j] = j == waiting ? 1 : j % 2 ? -1e-5 : 1e-5;
        s.indices[2 * j + 1] = waiting;
        s.values[2 * j + 1] = 1;
        s.pointers[j + 1] = j == waiting ? 2 * j + 1 : 2 * j + 2;
    }
    return s;
}

typedef struct note {
    int capped;
} note;

static void listen(void *user, const char *sentence)
{
    ((note *)user)->capped += strstr(sentence, "others are perturbed") != NULL;
}

static void delays_that_outgrow_the_plan_are_capped(void **state)
{
    (void)state;
    const int64_t waiting = 9001;
    sparse a = points_around_a_hub(waiting);
    double *b = doubles(2 * a.n), *x[2] = {b + a.n, doubles(a.n)};
    const libsolver_matrix view = sparse_view(&a);
    const libsolver_vectors bv = block_view(b, a.n, 1);
    for (int64_t i = 0; i < a.n; i++)
        b[i] = 1 + 0.1 * (double)(i % 7);
    for (int threads = 1; threads <= 2; threads++) {
        note said = {0};
        libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
        libsolver_factor *f;
        libsolver_factor_info info;
        libsolver_inertia_counts counts;
        o.threads = threads;
        o.log = listen;
        o.log_user = &said;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_PERTURBED);
        libsolver_info(f, &info);
        assert_int_equal(said.capped, 1);
        assert_true(info.perturbed > waiting / 2);
        assert_true(info.host_bytes_peak < 100000000);
        assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
        assert_int_equal(counts.certain, 0);
        const libsolver_vectors xv = block_view(x[threads - 1], a.n, 1);
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_PERTURBED);
        assert_true(sparse_backward_error(&a, 1, x[threads - 1], b) <= 1e-14);
        libsolver_factor_free(f);
    }
    assert_memory_equal(x[0], x[1], sizeof(double) * (size_t)a.n);
    free(b);
    free(x[1]);
    sparse_free(&a);
}

/* The same with points so small that those past the cap are raised to a few times what they were:
 * plain refinement gains little with each step. */
static void fgmres_makes_good_what_raised_pivots_cost(void **state)
{
    (void)state;
    const int64_t waiting = 400;
    sparse a = points_around_a_hub(waiting);
    for (int64_t j = 0; j < waiting; j++)
        a.values[2 * j] = 3e-9 * (1 + 0.2 * (double)(j % 5));
    for (int mixed = 0; mixed < 2; mixed++) {
        double *b = doubles(2 * a.n), *x = b + a.n;
        const libsolver_matrix view = sparse_view(&a);
        const libsolver_vectors bv = block_view(b, a.n, 1), xv = block_view(x, a.n, 1);
        libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
        libsolver_factor *f;
        libsolver_factor_info info;
        libsolver_solve_info solved;
        o.delay_cap = 10;
        o.mixed = mixed ? LIBSOLVER_ON : LIBSOLVER_OFF;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_PERTURBED);
        libsolver_info(f, &info);
        assert_true(info.perturbed > waiting / 2);
        for (int64_t i = 0; i < a.n; i++)
            x[i] = 1 + 0.1 * (double)(i % 7);
        sparse_multiply(&a, 1, x, b);
        const libsolver_status status = libsolver_solve(f, &bv, &xv);
        libsolver_solve_query(f, NULL, &solved);
        const double error = sparse_backward_error(&a, 1, x, b),
                     plain = sparse_plain_refinement(&a, f, 10);
        if (status != LIBSOLVER_PERTURBED || !(error <= 1e-14 && plain > 1e-14))
            fail_msg("mixed %d: %s, backward error %g after %d steps; plain refinement %g", mixed,
                     libsolver_status_name(status), error, solved.steps, plain);
        print_message("mixed %d: %.1e after %d steps, plain refinement %.1e\n", mixed, error,
                      solved.steps, plain);
        libsolver_factor_free(f);
        free(b);
    }
    sparse_free(&a);
}

/* FGMRES takes longer cycles for perturbed pivots: a workspace from before there were any grows,
 * with the bits of a new one. */
static void an_older_workspace_serves_perturbed_factors(void **state)
{
    (void)state;
    sparse a = points_around_a_hub(100);
    double *b = doubles(3 * a.n), *x[2] = {b + a.n, b + 2 * a.n};
    const libsolver_matrix view = sparse_view(&a);
    const libsolver_vectors bv = block_view(b, a.n, 1);
    libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
    libsolver_factor *f;
    libsolver_workspace *w[2];
    o.delay_cap = 10;
    for (int64_t i = 0; i < a.n; i++)
        b[i] = 1 + 0.1 * (double)(i % 7);
    for (int round = 0; round < 3; round++) {
        const libsolver_status wanted = round == 1 ? LIBSOLVER_PERTURBED : LIBSOLVER_OK;
        for (int64_t j = 0; j < 100; j++)
            a.values[2 * j] = (round == 1 ? 3e-9 : 1) * (1 + 0.2 * (double)(j % 5));
        assert_int_equal(round == 0 ? libsolver_factor_matrix(&view, &o, &f)
                                    : libsolver_refactorize(f, &view),
                         wanted);
        assert_int_equal(libsolver_workspace_create(f, 1, &w[round > 0]), LIBSOLVER_OK);
        for (int k = 0; k < 1 + (round > 0); k++) {
            const libsolver_vectors xv = block_view(x[k], a.n, 1);
            assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w[k], &bv, &xv),
                             LIBSOLVER_OK);
            assert_int_equal(libsolver_refine(f, w[k], &bv, &xv, NULL), wanted);
            assert_true(sparse_backward_error(&a, 1, x[k], b) <= 1e-14);
            assert_memory_equal(x[0], x[k], sizeof(double) * (size_t)a.n);
        }
        if (round > 0)
            libsolver_workspace_free(w[1]);
    }
    libsolver_workspace_free(w[0]);
    libsolver_factor_free(f);
    free(b);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delays_that_outgrow_the_plan_are_capped),
        cmocka_unit_test(fgmres_makes_good_what_raised_pivots_cost),
        cmocka_unit_test(an_older_workspace_serves_perturbed_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
