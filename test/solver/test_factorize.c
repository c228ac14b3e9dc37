/* test/solver/test_factorize.c: the CPU backend's factors against dense loops, and how
 * factorizations fail
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "solver/cpu/factor/numeric.h"
#include <stdlib.h>
#include <string.h>

/* S A S = L D L^T up to roundings; see pair_weight for those of 2x2 pivots. */
static void check_product(const exported *f)
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
                fail_msg("n %d: (S A S - L D L^T)(%d, %d) = %Lg, %Lg allowed", n, i, j, a - sum,
                         EPS * scale);
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
        cpu_system s;
        assert_int_equal(system_build(&s, a, random_values(&r, &a, kind), kind, 1, INT64_MAX),
                         LIBSOLVER_OK);
        assert_int_equal(s.report.positive + s.report.negative + s.report.zero, n);
        exported f = system_export(&s, kind);
        if (s.report.zero == 0) { /* otherwise there are entries that were taken for zero */
            check_product(&f);
            checked++;
        }
        exported_free(&f);
        system_free(&s);
    }
    assert_true(checked > 300);
}

static void delayed_pivots_reach_their_parents(void **state)
{
    (void)state;
    for (int waiting = 1; waiting <= 6; waiting++) {
        random_stream r = random_seeded((uint64_t)waiting);
        double *values;
        pattern a = cliques_around_a_hub(&r, waiting, &values);
        cpu_system s;
        assert_int_equal(system_build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
        /* the hub may have swallowed a clique; a column more may wait, of random values too small
         * beside its neighbours */
        assert_in_range(s.report.delayed, 5 * waiting, 6 * waiting + 2);
        assert_true(s.report.growths > 0); /* nothing was known of delays */
        assert_int_equal(s.report.zero, 0);
        exported f = system_export(&s, INDEFINITE);
        check_product(&f);
        assert_int_equal(system_factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(s.report.growths, 1); /* room is planned for them */
        const int64_t calls = s.env.memory.calls;
        assert_int_equal(system_factorize(&s, INDEFINITE, 0), LIBSOLVER_OK);
        assert_int_equal(s.report.growths, 0); /* now there is room */
        assert_int_equal(s.env.memory.calls, calls);
        exported again = system_export(&s, INDEFINITE);
        assert_memory_equal(again.l, f.l, (size_t)a.n * (size_t)a.n * sizeof(double));
        assert_memory_equal(again.d, f.d, (size_t)a.n * sizeof(double));
        exported_free(&f);
        exported_free(&again);
        system_free(&s);
    }
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
        cpu_system s;
        values[a.start[row]] *= seed % 3 == 0 ? -1 : seed % 3 == 1 ? 0 : 1e-3;
        const libsolver_status status = system_build(&s, a, values, SPD, 1, INT64_MAX);
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
        system_free(&s);
    }
}

static void count_sentences(void *user, const char *sentence)
{
    assert_non_null(strstr(sentence, "in doubt"));
    ++*(int *)user;
}

static void uncertain_signs_are_pivoted_again(void **state)
{
    (void)state;
    for (int uncertain = 0; uncertain < 2; uncertain++) {
        pattern a = problem_complete(2);
        double *values = nan_array(3);
        /* 1 / 3 as it is stored is not: the pivot is a rounding error that comes out as zero */
        const double known[2][3] = {{1, 1, -1}, {3, 1, 1.0 / 3}};
        memcpy(values, known[uncertain], sizeof known[0]);
        cpu_system s;
        int sentences = 0;
        values[2] = -1; /* what has no doubt leaves nothing behind */
        assert_int_equal(system_build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
        s.env.log = count_sentences;
        s.env.log_user = &sentences;
        memcpy(values, known[uncertain], sizeof known[0]);
        assert_int_equal(system_factorize(&s, INDEFINITE, 1), LIBSOLVER_OK);
        assert_int_equal(sentences > 0, uncertain);
        assert_int_equal(s.report.uncertain, uncertain);
        assert_int_equal(s.report.negative, !uncertain);
        assert_int_equal(s.report.zero, uncertain);
        system_free(&s);
    }
}

/* Where nothing has helped, the means tried last come first the next time, and are the only ones
 * unless more is uncertain now, or other zeros are there.  Once nothing is, the next factorization
 * begins from the beginning.  Zeros that are known to be such are no reason to try anything
 * else. */
static void means_that_left_no_more_in_doubt_are_kept(void **state)
{
    (void)state;
    enum { CLEAR, DOUBTFUL, SINGULAR };
    static const double kinds[][3] = {{1, 1, -1}, {3, 1, 1.0 / 3}, {1, 1, 1}};
    static const struct {
        int blocks[2], attempts, uncertain, zero;
    } rounds[] = {{{DOUBTFUL, CLEAR}, 1, 1, 1},    {{CLEAR, DOUBTFUL}, 1, 1, 1},
                  {{DOUBTFUL, DOUBTFUL}, 3, 2, 2}, {{DOUBTFUL, CLEAR}, 3, 1, 1},
                  {{CLEAR, CLEAR}, 1, 0, 0},       {{CLEAR, CLEAR}, 1, 0, 0},
                  {{CLEAR, DOUBTFUL}, 2, 1, 1},    {{SINGULAR, DOUBTFUL}, 3, 2, 2},
                  {{DOUBTFUL, SINGULAR}, 1, 2, 2}, {{SINGULAR, CLEAR}, 2, 0, 1},
                  {{SINGULAR, SINGULAR}, 1, 0, 2}, {{CLEAR, SINGULAR}, 1, 0, 1},
                  {{CLEAR, CLEAR}, 1, 0, 0},       {{SINGULAR, CLEAR}, 1, 0, 1},
                  {{SINGULAR, DOUBTFUL}, 2, 2, 2}};
    pattern blocks = problem_diagonal(2), a = problem_blown_up(&blocks, 2);
    problem_free(&blocks);
    double *values = nan_array(6);
    cpu_system s;
    int sentences = 0;
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
        for (int b = 0; b < 2; b++)
            memcpy(values + 3 * b, kinds[rounds[k].blocks[b]], sizeof *kinds);
        if (k == 0) {
            assert_int_equal(system_build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
            s.env.log = count_sentences;
            s.env.log_user = &sentences;
        }
        sentences = 0;
        assert_int_equal(system_factorize(&s, INDEFINITE, 1), LIBSOLVER_OK);
        assert_int_equal(sentences + 1, rounds[k].attempts);
        assert_int_equal(s.report.uncertain, rounds[k].uncertain);
        assert_int_equal(s.report.zero, rounds[k].zero);
    }
    system_free(&s);
}

static void sizes_are_told_before_they_are_taken(void **state)
{
    (void)state;
    random_stream r = random_seeded(8);
    pattern a = problem_grid(10, 9, 1);
    cpu_system s;
    assert_int_equal(system_build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX),
                     LIBSOLVER_OK);
    int64_t order[90], before = s.env.memory.in_use, calls = s.env.memory.calls;
    const int64_t bytes = cpu->workspace_bytes(s.numeric, 7);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 7, &w, &s.why), LIBSOLVER_OK);
    calls = s.env.memory.calls - calls;
    assert_in_range(s.env.memory.in_use - before, bytes, bytes + 2 * MEMORY_ALIGNMENT * calls);
    cpu->workspace_destroy(s.numeric, w);
    int64_t host = -1, device = -1;
    cpu->predict(s.plan, &host, &device);
    assert_true(host >= s.report.factor_nnz * 8);
    assert_int_equal(device, 0);
    cpu->permutation(s.plan, order);
    exported f = system_export(&s, SPD);
    assert_memory_equal(order, f.order, sizeof order); /* Cholesky follows the plan */
    exported_free(&f);
    system_free(&s);
}

/* Every allocation fails once; the same object then factorizes and solves with the memory it
 * lacked. */
static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int matches = 0; matches < 2; matches++) {
            random_stream r = random_seeded(99);
            double *values = NULL; /* HOLLOW: with fronts that outgrow their places */
            pattern a =
                kind == HOLLOW ? cliques_around_a_hub(&r, 2, &values) : problem_grid(9, 8, 1);
            values = kind == HOLLOW ? values : random_values(&r, &a, kind);
            block b = random_block(&r, a.n, 3, 1), x = random_block(&r, a.n, 3, 0);
            libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
            int64_t k = 0;
            int recovered = 0;
            for (; status != LIBSOLVER_OK; k++) {
                assert_in_range(k, 0, 400);
                const backend_options options = {.positive_definite = kind == SPD,
                                                 .scaling =
                                                     matches ? BACKEND_MATCH : BACKEND_EQUILIBRATE,
                                                 .pivot_threshold = 0.01};
                cpu_system s;
                void *w = NULL;
                status = system_build(&s, a, values, kind, 1, k);
                assert_true(status == LIBSOLVER_OK || s.why.text[0] != 0);
                if (status == LIBSOLVER_OK)
                    status = cpu->factorize(s.numeric, &options, &s.report, &s.why);
                if (status == LIBSOLVER_OK)
                    status = cpu->workspace_create(s.numeric, 3, &w, &s.why);
                assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
                if (s.numeric) {
                    s.ration.left = INT64_MAX;
                    recovered++;
                    assert_int_equal(cpu->factorize(s.numeric, &options, &s.report, &s.why),
                                     LIBSOLVER_OK);
                    if (!w)
                        assert_int_equal(cpu->workspace_create(s.numeric, 3, &w, &s.why),
                                         LIBSOLVER_OK);
                    backend_refinement refinement = {.solve_first = 1,
                                                     .steps = 5,
                                                     .tolerance = 1e-14};
                    assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL,
                                                 &s.why),
                                     LIBSOLVER_OK);
                    assert_true(s.report.zero > 0 || refinement.final <= 1e-14);
                }
                if (s.numeric)
                    cpu->workspace_destroy(s.numeric, w);
                system_dismantle(&s);
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
    cpu_system s;
    assert_int_equal(system_build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX),
                     LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 1, &w, &s.why), LIBSOLVER_OK);
    block b = random_block(&r, a.n, 3, 1), x = random_block(&r, a.n, 3, 0);
    int left = 0, cancelled = 0;
    s.env.cancel = cancel_after;
    s.env.cancel_user = &left;
    for (int start = 0, done = 0; !done; start++) {
        assert_in_range(start, 0, 1000);
        backend_refinement refinement = {.solve_first = 1, .steps = 2, .tolerance = 0};
        left = start;
        libsolver_status status = system_factorize(&s, SPD, 0);
        if (status == LIBSOLVER_OK)
            status = cpu->solve(s.numeric, 7, w, &b.v, &x.v, &s.why);
        if (status == LIBSOLVER_OK)
            status = cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, NULL, &s.why);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_CANCELLED);
        done = status == LIBSOLVER_OK;
        cancelled += !done;
    }
    assert_true(cancelled > 5); /* fronts, panels of a solve, steps */
    free(b.values);
    free(x.values);
    cpu->workspace_destroy(s.numeric, w);
    system_free(&s);
}

static void pass_over(void *user, int phase, double fraction)
{
    (void)user;
    (void)phase;
    (void)fraction;
}

/* Small fronts when they end, large ones by their tiles: nothing is forgotten or counted twice. */
static void the_work_counted_is_the_work_foreseen(void **state)
{
    (void)state;
    for (int kind = SPD; kind <= INDEFINITE; kind++) {
        random_stream r = random_seeded(7);
        cpu_system s;
        pattern a = problem_grid(26, 26, 26);
        scalar *values = random_values(&r, &a, SPD); /* no pivot is delayed */
        assert_int_equal(system_build_in_order(&s, a, values, SPD, 1, BY_DISSECTION), LIBSOLVER_OK);
        s.env.progress = pass_over;
        assert_int_equal(system_factorize(&s, kind, 0), LIBSOLVER_OK);
        assert_int_equal(s.report.delayed, 0);
        const meter *m = &((const numeric *)s.numeric)->meter;
        const double part = (double)atomic_load(&m->done) / m->whole;
        print_message("counted %.3f of the work foreseen\n", part);
        assert_true(part > 0.98 && part < 1.02);
        system_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(l_d_lt_is_the_scaled_matrix, print_last_seed),
        cmocka_unit_test_teardown(delayed_pivots_reach_their_parents, print_last_seed),
        cmocka_unit_test_teardown(a_matrix_that_is_not_positive_definite_is_named, print_last_seed),
        cmocka_unit_test_teardown(uncertain_signs_are_pivoted_again, print_last_seed),
        cmocka_unit_test_teardown(means_that_left_no_more_in_doubt_are_kept, print_last_seed),
        cmocka_unit_test_teardown(sizes_are_told_before_they_are_taken, print_last_seed),
        cmocka_unit_test_teardown(each_failed_allocation_is_reported, print_last_seed),
        cmocka_unit_test_teardown(a_cancelled_run_can_be_repeated, print_last_seed),
        cmocka_unit_test_teardown(the_work_counted_is_the_work_foreseen, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
