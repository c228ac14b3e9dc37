/* test/api/test_api_threshold.c: the pivot threshold that the library chooses where the first one
 * delays too many pivots
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "libsolver.h"
#include "random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES 450
#define BORDER 250
#define N (LEAVES + BORDER)
#define MOST (LEAVES * (BORDER + 1) + BORDER * (BORDER + 1) / 2)

/* [d I, V; V^T, B]: columns of d I have no pivot of their own where d is below the threshold.  B is
 * dense, and as V^T V / d is much larger the inertia is (LEAVES, BORDER, 0). */
typedef struct saddle {
    int32_t pointers[N + 1], rows[MOST];
    int64_t order[N];
    double values[MOST], b[N];
    libsolver_matrix view;
} saddle;

static saddle *new_saddle(double d)
{
    saddle *s = calloc(1, sizeof *s);
    assert_non_null(s);
    random_stream r = random_seeded(1);
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        s->pointers[j] = k;
        s->order[j] = j;
        s->b[j] = 1 + j % 7;
        for (int32_t i = j; i < N; i += j < LEAVES && i < LEAVES ? LEAVES - j : 1) {
            s->rows[k] = i;
            s->values[k++] = i == j && j < LEAVES ? d : random_real(&r);
        }
    }
    s->pointers[N] = k;
    assert_int_equal(k, MOST);
    s->view = (libsolver_matrix){
        .n = N, .pointers = s->pointers, .indices = s->rows, .values = s->values};
    return s;
}

typedef struct heard {
    int lower, again;
} heard;

static void listen(void *user, const char *sentence)
{
    heard *h = user;
    h->lower += strstr(sentence, "multiply the work") != NULL;
    h->again += strstr(sentence, "again: the lower one") != NULL;
}

static libsolver_options options_for(heard *h, int threads, const saddle *s)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.matching = LIBSOLVER_OFF;
    o.ordering = LIBSOLVER_ORDERING_USER;
    o.permutation = s->order;
    o.threads = threads;
    o.log = listen;
    o.log_user = h;
    return o;
}

static void check_factor(libsolver_factor *f, const saddle *s, double *x)
{
    const libsolver_vectors b = {.values = libsolver_const(s->b), .rows = N, .columns = 1, .ld = N},
                            to = {.values = x, .rows = N, .columns = 1, .ld = N};
    libsolver_inertia_counts inertia;
    assert_int_equal(libsolver_inertia(f, &inertia), LIBSOLVER_OK);
    assert_int_equal(inertia.positive, LEAVES);
    assert_int_equal(inertia.negative, BORDER);
    assert_true(inertia.certain);
    assert_int_equal(libsolver_solve(f, &b, &to), LIBSOLVER_OK);
}

static int64_t delayed(const libsolver_factor *f)
{
    libsolver_factor_info info;
    libsolver_info(f, &info);
    return info.delayed;
}

static void a_lower_threshold_is_found_and_kept(void **state)
{
    (void)state;
    static double x[3][N], again[N];
    saddle *s = new_saddle(1e-3);
    for (int threads = 1; threads <= 3; threads++) {
        heard h = {0, 0};
        const libsolver_options o = options_for(&h, threads, s);
        libsolver_factor *f;
        assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
        assert_int_equal(h.lower, 1);
        assert_int_equal(h.again, 0);
        check_factor(f, s, x[threads - 1]);
        assert_memory_equal(x[threads - 1], x[0], sizeof x[0]);
        const int64_t few = delayed(f);
        assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
        assert_int_equal(h.lower, 1); /* known by now */
        check_factor(f, s, again);
        assert_memory_equal(again, x[0], sizeof again);
        assert_int_equal(libsolver_set_pivot_threshold(f, 0.01), LIBSOLVER_OK);
        assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
        assert_int_equal(h.lower, 1); /* the caller's own is not given up */
        assert_true(delayed(f) > few + 100);
        check_factor(f, s, again);
        assert_int_equal(libsolver_set_pivot_threshold(f, 0), LIBSOLVER_OK);
        assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
        assert_int_equal(h.lower, 2); /* what was known is forgotten */
        check_factor(f, s, again);
        libsolver_factor_free(f);
    }
    free(s);
}

static void columns_that_no_threshold_accepts_change_nothing(void **state)
{
    (void)state;
    static double x[N];
    saddle *s = new_saddle(1e-9);
    heard h = {0, 0};
    const libsolver_options o = options_for(&h, 2, s);
    libsolver_factor *f;
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
    assert_int_equal(h.lower, 0);
    assert_true(delayed(f) > 0);
    check_factor(f, s, x);
    libsolver_factor_free(f);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lower_threshold_is_found_and_kept),
        cmocka_unit_test(columns_that_no_threshold_accepts_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
