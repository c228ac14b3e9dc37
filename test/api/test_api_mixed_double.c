/* test/api/test_api_mixed_double.c: mixed precision where single precision is not enough: a factor
 * in double takes over
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "chosen_backend.h"
#include "systems.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 120
#define COLUMNS 3

/* Half of the eigenvalues are of size 1, half of them from `small`, 1e-12 say, to a thousand times
 * that, and all alternate in sign if that is wanted: single precision sees a matrix of half the
 * rank, and no few steps of refinement find all those directions. */
static void eigenvalues(double small, int indefinite, double *values)
{
    for (int k = 0; k < N; k++)
        values[k] = (k % 2 ? small * pow(10, 3.0 * k / N) : 1 + 0.3 * sin(k)) *
                    (indefinite && k % 4 < 2 ? -1 : 1);
}

static sparse half_of_rank(double small, int indefinite)
{
    double values[N];
    eigenvalues(small, indefinite, values);
    return sparse_with_eigenvalues(N, values);
}

/* The same pattern, and single precision is enough. */
static sparse easy(void)
{
    return half_of_rank(0.01, 1);
}

static libsolver_options options_of(libsolver_kind kind, libsolver_choice mixed)
{
    libsolver_options o = options_on_cpu(kind);
    o.backend = BACKEND;
    o.mixed = mixed;
    o.threads = 1;
    return o;
}

static libsolver_type precision_of(const libsolver_factor *f)
{
    libsolver_factor_info info;
    libsolver_info(f, &info);
    return info.precision;
}

typedef struct outcome {
    libsolver_status factorized, solved;
    libsolver_type precision;
    libsolver_inertia_counts inertia;
    double x[N * COLUMNS];
} outcome;

static libsolver_vectors right_sides(const sparse *a, double *b)
{
    double exact[N * COLUMNS];
    for (int k = 0; k < N * COLUMNS; k++)
        exact[k] = 1 + 0.1 * (k % 5);
    sparse_multiply(a, COLUMNS, exact, b);
    return block_view(b, N, COLUMNS);
}

/* With a factor that is there. */
static outcome solve(const sparse *a, libsolver_factor *f, libsolver_status factorized)
{
    outcome out = {.factorized = factorized, .precision = precision_of(f)};
    double b[N * COLUMNS];
    const libsolver_vectors bv = right_sides(a, b), xv = block_view(out.x, N, COLUMNS);
    out.solved = libsolver_solve(f, &bv, &xv);
    assert_int_equal(libsolver_inertia(f, &out.inertia), LIBSOLVER_OK);
    const double error = sparse_backward_error(a, COLUMNS, out.x, b);
    if ((error <= 1e-14) != (out.solved == LIBSOLVER_OK || out.solved == LIBSOLVER_PERTURBED))
        fail_msg("%s with backward error %g", libsolver_status_name(out.solved), error);
    return out;
}

static outcome run(const sparse *a, const libsolver_options *o)
{
    const libsolver_matrix view = sparse_view(a);
    libsolver_factor *f = NULL;
    const libsolver_status status = libsolver_factor_matrix(&view, o, &f);
    if (status < 0)
        fail_msg("%s: %s", libsolver_status_name(status), libsolver_factor_message(f));
    const outcome out = solve(a, f, status);
    libsolver_factor_free(f);
    return out;
}

static void check_same(const outcome *a, const outcome *b)
{
    assert_int_equal(a->factorized, b->factorized);
    assert_int_equal(a->solved, b->solved);
    assert_int_equal(a->precision, b->precision);
    assert_memory_equal(&a->inertia, &b->inertia, sizeof a->inertia);
    assert_memory_equal(a->x, b->x, sizeof a->x);
}

/* Nothing differs from what a factor in double precision gives, bits included. */
static void a_factor_in_double_takes_over(void **state)
{
    (void)state;
    for (int decades = 11; decades <= 12; decades++)
        for (int indefinite = 0; indefinite < 2; indefinite++)
            for (int kind = 0; kind < 3; kind++) {
                if (indefinite && kind == LIBSOLVER_KIND_SPD)
                    continue;
                sparse a = half_of_rank(pow(10, -decades), indefinite);
                libsolver_options o = options_of((libsolver_kind)kind, LIBSOLVER_ON);
                const outcome mixed = run(&a, &o);
                o.mixed = LIBSOLVER_OFF;
                const outcome plain = run(&a, &o);
                assert_int_equal(mixed.precision, LIBSOLVER_D);
                assert_int_equal(mixed.solved, LIBSOLVER_OK);
                assert_int_equal(mixed.inertia.negative, indefinite ? N / 2 : 0);
                check_same(&mixed, &plain);
                sparse_free(&a);
            }
    sparse a = easy(); /* and none does where single precision is enough */
    const libsolver_options o = options_of(LIBSOLVER_KIND_AUTO, LIBSOLVER_ON);
    assert_int_equal(run(&a, &o).precision, LIBSOLVER_S);
    sparse_free(&a);
}

static void it_does_so_for_any_number_of_threads(void **state)
{
    (void)state;
    sparse a = half_of_rank(1e-11, 1);
    libsolver_options o = options_of(LIBSOLVER_KIND_AUTO, LIBSOLVER_ON);
    const outcome one = run(&a, &o);
    for (o.threads = 2; o.threads <= 5; o.threads += 3) {
        const outcome more = run(&a, &o);
        check_same(&one, &more);
    }
    sparse_free(&a);
}

/* The trial is what a solve will be: with few steps, a loose tolerance or no refinement less is
 * asked for. */
static void what_is_asked_of_solves_decides(void **state)
{
    (void)state;
    sparse a = half_of_rank(1e-11, 1);
    libsolver_options o = options_of(LIBSOLVER_KIND_AUTO, LIBSOLVER_ON);
    o.refine_steps = 0;
    const outcome checked = run(&a, &o);
    assert_int_equal(checked.precision, LIBSOLVER_S);
    assert_int_equal(checked.solved, LIBSOLVER_INACCURATE);
    o.refine_steps = 1;
    assert_int_equal(run(&a, &o).precision, LIBSOLVER_D);
    o.refine_steps = 10;
    o.tolerance = 1e-3;
    const libsolver_matrix view = sparse_view(&a);
    libsolver_factor *f = NULL;
    assert_true(libsolver_factor_matrix(&view, &o, &f) >= 0);
    assert_int_equal(precision_of(f), LIBSOLVER_S);
    libsolver_factor_free(f);
    sparse_free(&a);
}

/* Single precision may take for definite, with a larger diagonal, what is not. */
static void an_indefinite_matrix_is_not_taken_for_definite(void **state)
{
    (void)state;
    double values[N];
    eigenvalues(1e-11, 0, values);
    values[1] *= -1;
    sparse a = sparse_with_eigenvalues(N, values);
    const libsolver_matrix view = sparse_view(&a);
    libsolver_options o = options_of(LIBSOLVER_KIND_SPD, LIBSOLVER_ON);
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_non_null(strstr(libsolver_factor_message(f), "not positive"));
    libsolver_factor_free(f);
    o.kind = LIBSOLVER_KIND_AUTO;
    assert_int_equal(run(&a, &o).inertia.negative, 1);
    sparse_free(&a);
}

static void complex_matrices_have_it_too(void **state)
{
    (void)state;
    double values[N], *real = NULL;
    eigenvalues(1e-11, 1, values);
    sparse a = sparse_with_eigenvalues(N, values);
    real = dense_of_sparse(&a);
    double complex *entry = malloc(sizeof(double complex) * N * (N + 1) / 2), b[N], x[N];
    int64_t *pointers = malloc(sizeof(int64_t) * (N + 1)),
            *rows = malloc(sizeof(int64_t) * N * (N + 1) / 2);
    for (int hermitian = 0; hermitian < 2; hermitian++) {
        int64_t count = 0;
        for (int j = 0; j < N; j++) { /* U A U^H or U A U^T, U diagonal and unitary */
            pointers[j] = count;
            for (int i = j; i < N; i++) {
                rows[count] = i;
                entry[count++] =
                    real[i + j * N] * cexp(I * (0.1 * i + (hermitian ? -0.1 : 0.1) * j));
            }
            b[j] = 1 + I * (double)(j % 3);
        }
        pointers[N] = count;
        const libsolver_matrix view = {.n = N,
                                       .pointers = pointers,
                                       .indices = rows,
                                       .values = entry,
                                       .type = LIBSOLVER_Z,
                                       .symmetry =
                                           hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                                       .pointer_type = LIBSOLVER_INT64,
                                       .index_type = LIBSOLVER_INT64};
        libsolver_vectors bv = {.values = b, .rows = N, .columns = 1, .ld = N, .type = LIBSOLVER_Z},
                          xv = bv;
        xv.values = x;
        const libsolver_options o = options_of(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON);
        libsolver_factor *f = NULL;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        assert_int_equal(precision_of(f), LIBSOLVER_Z);
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
        libsolver_factor_free(f);
    }
    free(entry);
    free(pointers);
    free(rows);
    free(real);
    sparse_free(&a);
}

/* ---- one factor, values that change ---------------------------------------------------------- */

/* Once in double a factor stays so; workspaces made before follow. */
static void refactorizations_stay_in_double(void **state)
{
    (void)state;
    sparse good = easy(), bad = half_of_rank(1e-11, 1);
    const libsolver_options o = options_of(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON);
    const libsolver_matrix views[] = {sparse_view(&good), sparse_view(&bad)};
    const sparse *systems[] = {&good, &bad};
    libsolver_factor *f = NULL;
    libsolver_workspace *w = NULL;
    libsolver_factor_info before, after;
    assert_int_equal(libsolver_factor_matrix(&views[0], &o, &f), LIBSOLVER_OK);
    assert_int_equal(precision_of(f), LIBSOLVER_S);
    assert_int_equal(libsolver_workspace_create(f, 2, &w), LIBSOLVER_OK);
    for (int k = 0; k < 6; k++) {
        const int which = k == 0 ? 0 : k % 2 ? 1 : 0;
        libsolver_info(f, &before);
        const libsolver_status status = libsolver_refactorize(f, &views[which]);
        libsolver_info(f, &after);
        assert_int_equal(status, LIBSOLVER_OK);
        assert_int_equal(after.precision, k == 0 ? LIBSOLVER_S : LIBSOLVER_D);
        /* but in this one, nothing is allocated; the way of L D L^T to the GPU takes memory */
        if (k != 1 && BACKEND == LIBSOLVER_BACKEND_CPU)
            assert_int_equal(after.allocations, before.allocations);
        double b[N * COLUMNS], x[N * COLUMNS], errors[COLUMNS];
        const libsolver_vectors bv = right_sides(systems[which], b), xv = block_view(x, N, COLUMNS);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &xv), LIBSOLVER_OK);
        assert_true(sparse_backward_error(systems[which], COLUMNS, x, b) <=
                    (k == 0 ? 1e-4 : 1e-12));
        assert_int_equal(libsolver_refine(f, w, &bv, &xv, errors), LIBSOLVER_OK);
        assert_int_equal(solve(systems[which], f, status).solved, LIBSOLVER_OK);
    }
    libsolver_workspace_free(w);
    libsolver_factor_free(f);
    sparse_free(&good);
    sparse_free(&bad);
}

/* A workspace that is never used again after the change is freed as well. */
static void workspaces_that_did_not_follow_are_freed(void **state)
{
    (void)state;
    sparse good = easy(), bad = half_of_rank(1e-11, 1);
    const libsolver_matrix first = sparse_view(&good), second = sparse_view(&bad);
    ledger l;
    libsolver_options o;
    libsolver_factor *f = NULL;
    libsolver_workspace *w = NULL;
    ledger_open(&l, &o);
    o.mixed = LIBSOLVER_ON;
    assert_int_equal(libsolver_factor_matrix(&first, &o, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(f, 2, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_refactorize(f, &second), LIBSOLVER_OK);
    assert_int_equal(precision_of(f), LIBSOLVER_D);
    libsolver_workspace_free(w);
    libsolver_factor_free(f);
    assert_int_equal(l.live, 0);
    sparse_free(&good);
    sparse_free(&bad);
}

/* ---- what may go wrong ----------------------------------------------------------------------- */

/* Without the memory for a factor in double it stays in single precision, and solves say what they
 * are; nothing is lost. */
static void without_memory_it_stays_in_single_precision(void **state)
{
    (void)state;
    sparse a = half_of_rank(1e-11, 1);
    const libsolver_matrix view = sparse_view(&a);
    int refused = 0, single = 0, taken = 0;
    for (int64_t k = 0; !taken; k++)
        for (int all = 0; all < 2; all++) {
            ledger l;
            libsolver_options o;
            libsolver_factor *f = NULL;
            ledger_open(&l, &o);
            o.mixed = LIBSOLVER_ON;
            o.kind = LIBSOLVER_KIND_INDEFINITE;
            ledger_refuse(&l, k, all);
            const libsolver_status status = libsolver_factor_matrix(&view, &o, &f);
            const int met = l.calls > l.refuse_at;
            ledger_refuse(&l, -1, 0);
            if (status == LIBSOLVER_OUT_OF_MEMORY)
                refused++;
            else {
                const outcome out = solve(&a, f, status);
                if (!met || out.precision == LIBSOLVER_D) {
                    assert_int_equal(out.solved, LIBSOLVER_OK);
                    taken += !met;
                } else {
                    assert_int_equal(out.precision, LIBSOLVER_S);
                    assert_int_equal(status, LIBSOLVER_PERTURBED);
                    assert_int_equal(out.solved, LIBSOLVER_INACCURATE);
                    /* it is not tried again */
                    assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_PERTURBED);
                    single++;
                }
            }
            libsolver_factor_free(f);
            assert_int_equal(l.live, 0);
        }
    print_message("%d refused, %d in single precision\n", refused, single);
    assert_true(refused > 20 && single > 5);
    sparse_free(&a);
}

static int64_t polls_left;

static int cancel(void *user)
{
    (void)user;
    return polls_left-- == 0;
}

static void it_can_be_cancelled(void **state)
{
    (void)state;
    sparse a = half_of_rank(1e-11, 1);
    const libsolver_matrix view = sparse_view(&a);
    libsolver_options o = options_of(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON);
    int cancelled = 1, times = 0;
    o.cancel = cancel;
    for (int64_t k = 0; cancelled; k++) {
        libsolver_factor *f = NULL;
        polls_left = k;
        libsolver_status status = libsolver_factor_matrix(&view, &o, &f);
        cancelled = polls_left < 0;
        assert_int_equal(status, cancelled ? LIBSOLVER_CANCELLED : LIBSOLVER_OK);
        /* INVALID: cancelled in the analysis */
        if (cancelled && libsolver_refactorize(f, &view) != LIBSOLVER_INVALID) {
            const outcome out = solve(&a, f, LIBSOLVER_OK);
            assert_int_equal(out.precision, LIBSOLVER_D);
            assert_int_equal(out.solved, LIBSOLVER_OK);
            times++;
        }
        libsolver_factor_free(f);
    }
    print_message("cancelled %d times\n", times);
    assert_true(times > 30);
    sparse_free(&a);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_in_double_takes_over),
        cmocka_unit_test(it_does_so_for_any_number_of_threads),
        cmocka_unit_test(what_is_asked_of_solves_decides),
        cmocka_unit_test(an_indefinite_matrix_is_not_taken_for_definite),
        cmocka_unit_test(complex_matrices_have_it_too),
        cmocka_unit_test(refactorizations_stay_in_double),
        cmocka_unit_test(workspaces_that_did_not_follow_are_freed),
        cmocka_unit_test(without_memory_it_stays_in_single_precision),
        cmocka_unit_test(it_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
