/* test/support/api_bench.h: a small system with all its objects, which still work after a call that
 * was refused
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_API_BENCH_H
#define TEST_SUPPORT_API_BENCH_H

#include "systems.h"

#define N 12
#define COLUMNS 3

/* A system that is solved, and its objects. */
typedef struct bench {
    sparse a;
    double exact[N * COLUMNS], b[N * COLUMNS], x[N * COLUMNS];
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
} bench;

/* The matrix of a bench. */
sparse bench_matrix(void);
int bench_set_up(void **state);
int bench_tear_down(void **state);
#define unit_test_on_bench(test) \
    cmocka_unit_test_setup_teardown(test, bench_set_up, bench_tear_down)

/* Solves with a factor of t->a into t->x. */
void solves(bench *t, libsolver_factor *factor);
/* Every phase works on the objects of t. */
void works(bench *t);
/* A status, and a message that contains the word and ends with the place where it arose. */
void refused(libsolver_status status, libsolver_status expected, const char *message,
             const char *word);

#endif
