/* test/api/test_api_progress.c: what options.progress and options.log hear of each phase
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "libsolver.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 26, ORDER = SIDE * SIDE * SIDE, MOST_TOLD = 2000 };

/* The seven-point grid of side SIDE: fronts large enough to be cut into tiles. */
typedef struct fixture {
    int32_t pointers[ORDER + 1], rows[4 * ORDER];
    double values[4 * ORDER], b[ORDER], x[ORDER];
    libsolver_matrix view;
} fixture;

static fixture *new_grid(double diagonal)
{
    fixture *s = calloc(1, sizeof *s);
    assert_non_null(s);
    int32_t k = 0;
    for (int32_t j = 0; j < ORDER; j++) {
        const int32_t step[] = {1, SIDE, SIDE * SIDE},
                      at[] = {j % SIDE, j / SIDE % SIDE, j / SIDE / SIDE};
        s->pointers[j] = k;
        s->rows[k] = j;
        s->values[k++] = diagonal;
        for (int d = 0; d < 3; d++)
            if (at[d] + 1 < SIDE) {
                s->rows[k] = j + step[d];
                s->values[k++] = -1;
            }
        s->b[j] = 1;
    }
    s->pointers[ORDER] = k;
    s->view = (libsolver_matrix){
        .n = ORDER, .pointers = s->pointers, .indices = s->rows, .values = s->values};
    return s;
}

typedef struct listener {
    int count, phase[MOST_TOLD], sentences;
    double fraction[MOST_TOLD], stop_at;
    char log[4096];
    atomic_int inside, together; /* threads in the callback; whether there were two */
} listener;

static void hear(void *user, libsolver_phase phase, double fraction)
{
    listener *l = user;
    if (atomic_fetch_add(&l->inside, 1) > 0)
        atomic_store(&l->together, 1);
    assert_true(l->count < MOST_TOLD);
    l->phase[l->count] = (int)phase;
    l->fraction[l->count++] = fraction;
    atomic_fetch_sub(&l->inside, 1);
}

static void hear_sentence(void *user, const char *sentence)
{
    listener *l = user;
    const size_t used = strlen(l->log);
    l->sentences++;
    assert_true(used + strlen(sentence) + 2 < sizeof l->log);
    strcpy(l->log + used, sentence);
    strcat(l->log, "\n");
}

static int stop(void *user)
{
    const listener *l = user;
    return l->stop_at > 0 && l->count > 0 && l->phase[l->count - 1] == LIBSOLVER_PHASE_FACTORIZE &&
           l->fraction[l->count - 1] >= l->stop_at;
}

static libsolver_options options_of(listener *l, int threads)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = threads;
    o.progress = hear;
    o.progress_user = l;
    o.log = hear_sentence;
    o.log_user = l;
    o.cancel = stop;
    o.cancel_user = l;
    return o;
}

/* The entries [first, end) are of one phase: 0, then what rises, 1. */
static int check_phase(const listener *l, int first, int phase)
{
    int k = first;
    assert_int_equal(l->phase[k], phase);
    assert_true(l->fraction[k++] == 0);
    for (; l->fraction[k - 1] < 1; k++) {
        assert_true(k < l->count);
        assert_int_equal(l->phase[k], phase);
        assert_true(l->fraction[k] > l->fraction[k - 1] && l->fraction[k] <= 1);
    }
    return k;
}

static void each_phase_is_told_from_0_to_1(void **state)
{
    (void)state;
    static const libsolver_kind kinds[] = {LIBSOLVER_KIND_SPD, LIBSOLVER_KIND_INDEFINITE};
    for (int k = 0; k < 4; k++) {
        fixture *s = new_grid(k % 2 ? 6.5 : 6);
        listener *l = calloc(1, sizeof *l);
        assert_non_null(l);
        libsolver_options o = options_of(l, k < 2 ? 1 : 4);
        o.kind = kinds[k % 2];
        libsolver_factor *f;
        const libsolver_vectors b = {.values = s->b, .rows = ORDER, .columns = 1, .ld = ORDER},
                                x = {.values = s->x, .rows = ORDER, .columns = 1, .ld = ORDER};
        assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
        const int analyzed = check_phase(l, 0, LIBSOLVER_PHASE_ANALYZE),
                  factorized = check_phase(l, analyzed, LIBSOLVER_PHASE_FACTORIZE);
        assert_int_equal(factorized, l->count);
        /* most percents, and the work foreseen is nearly what is done, so that the last but one is
         * near the end and the cap is not met too soon */
        assert_true(factorized - analyzed > 40);
        assert_true(l->fraction[factorized - 2] >= 0.9);
        assert_int_equal(libsolver_solve(f, &b, &x), LIBSOLVER_OK);
        assert_int_equal(check_phase(l, factorized, LIBSOLVER_PHASE_SOLVE), l->count);
        assert_non_null(strstr(l->log, "analysis: order 17576, 68276 entries, "));
        assert_non_null(strstr(l->log, "MB foreseen"));
        assert_non_null(strstr(l->log, kinds[k % 2] == LIBSOLVER_KIND_SPD
                                           ? "\nfactorization: Cholesky on the CPU, "
                                           : "\nfactorization: L D L^T on the CPU, "));
        assert_non_null(strstr(l->log, "\nsolve: 1 columns, backward error "));
        assert_int_equal(atomic_load(&l->together), 0);
        libsolver_factor_free(f);
        free(l);
        free(s);
    }
}

static void a_cancelled_phase_does_not_end(void **state)
{
    (void)state;
    fixture *s = new_grid(6);
    listener *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->stop_at = 0.3;
    const libsolver_options o = options_of(l, 2);
    libsolver_factor *f;
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_CANCELLED);
    assert_int_equal(l->phase[l->count - 1], LIBSOLVER_PHASE_FACTORIZE);
    assert_true(l->fraction[l->count - 1] >= 0.3 && l->fraction[l->count - 1] < 0.9);
    assert_null(strstr(l->log, "factorization:"));
    libsolver_factor_free(f);
    free(l);
    free(s);
}

static void many_columns_are_told_by_groups(void **state)
{
    (void)state;
    enum { COLUMNS = 100 };
    fixture *s = new_grid(7);
    listener *l = calloc(1, sizeof *l);
    double *b = calloc((size_t)COLUMNS * ORDER, sizeof *b);
    assert_true(l && b);
    const libsolver_options o = options_of(l, 1);
    libsolver_factor *f;
    const libsolver_vectors v = {.values = b, .rows = ORDER, .columns = COLUMNS, .ld = ORDER};
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
    const int before = l->count;
    assert_int_equal(libsolver_solve(f, &v, &v), LIBSOLVER_OK);
    assert_int_equal(check_phase(l, before, LIBSOLVER_PHASE_SOLVE), l->count);
    assert_true(l->count - before > 3);
    libsolver_factor_free(f);
    free(b);
    free(l);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_is_told_from_0_to_1),
        cmocka_unit_test(a_cancelled_phase_does_not_end),
        cmocka_unit_test(many_columns_are_told_by_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
