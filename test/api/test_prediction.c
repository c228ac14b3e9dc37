/* test/api/test_prediction.c: host memory predicted by the analysis, beside what a factorization
 * and a solve take
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With names of problems or files as arguments, their figures instead of the tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problem.h"
#include <math.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Bytes in use as the library counts them: what it asks for. */
typedef struct books {
    _Atomic int64_t in_use, peak;
} books;

static void *take(void *user, size_t bytes)
{
    books *k = user;
    int64_t *block = malloc(bytes + 16);
    if (!block)
        return NULL;
    *block = (int64_t)bytes;
    const int64_t now = atomic_fetch_add(&k->in_use, (int64_t)bytes) + (int64_t)bytes;
    int64_t peak = k->peak;
    while (now > peak && !__atomic_compare_exchange_n((int64_t *)&k->peak, &peak, now, 0,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return block + 2;
}

static void give_back(void *user, void *block)
{
    int64_t *own = (int64_t *)block - 2;
    ((books *)user)->in_use -= *own;
    free(own);
}

/* What is asked of a matrix. */
typedef struct request {
    libsolver_type type;
    libsolver_kind kind;
    libsolver_choice mixed, matching;
    int full, threads, schur;
} request;

/* A request in words. */
static const char *words(const char *name, const request *q, char text[400])
{
    static const char types[] = "dszc";
    static const char *const kinds[] = {"auto", "spd", "indefinite", "signed"};
    snprintf(text, 400, "%s %c%s %s%s%s%s, %d threads", name, types[q->type],
             q->mixed == LIBSOLVER_ON ? " mixed" : "", kinds[q->kind],
             q->matching == LIBSOLVER_ON ? " matched" : "", q->full ? " full" : "",
             q->schur ? " schur" : "", q->threads);
    return text;
}

/* A view of the lower triangle of p or of all of it, and its arrays. */
typedef struct view {
    libsolver_matrix a;
    int32_t *rows, *columns;
    char *values;
} view;

static size_t bytes_of(libsolver_type type)
{
    static const size_t bytes[] = {8, 4, 16, 8};
    return bytes[type];
}

static void put(view *v, const triplets *t, int64_t k, int mirrored, libsolver_type type)
{
    const int width = triplets_width(t);
    const double parts[2] = {t->values[k * width],
                             width == 2 ? t->values[2 * k + 1] * (mirrored ? -1 : 1) : 0};
    const float rounded[2] = {(float)parts[0], (float)parts[1]};
    v->rows[v->a.nnz] = mirrored ? t->columns[k] : t->rows[k];
    v->columns[v->a.nnz] = mirrored ? t->rows[k] : t->columns[k];
    memcpy(v->values + v->a.nnz++ * (int64_t)bytes_of(type),
           type_is_single(type) ? (const void *)rounded : parts, bytes_of(type));
}

/* Complex ones are Hermitian, as long as the matrix is not symmetric itself. */
static view view_of(const triplets *t, const request *q)
{
    const int64_t most = 2 * t->nnz + 1;
    view v = {.rows = malloc((size_t)most * 4),
              .columns = malloc((size_t)most * 4),
              .values = malloc((size_t)most * 16)};
    assert_true(v.rows && v.columns && v.values);
    v.a = (libsolver_matrix){.n = t->n,
                             .pointers = v.columns,
                             .indices = v.rows,
                             .values = v.values,
                             .type = q->type,
                             .symmetry = triplets_width(t) == 2 ? t->symmetry : LIBSOLVER_HERMITIAN,
                             .storage = q->full ? LIBSOLVER_FULL : LIBSOLVER_LOWER,
                             .format = LIBSOLVER_TRIPLETS,
                             .pointer_type = LIBSOLVER_INT32,
                             .index_type = LIBSOLVER_INT32};
    for (int64_t k = 0; k < t->nnz; k++) {
        put(&v, t, k, 0, q->type);
        if (q->full && t->rows[k] != t->columns[k])
            put(&v, t, k, 1, q->type);
    }
    return v;
}

static void view_free(view *v)
{
    free(v->rows);
    free(v->columns);
    free(v->values);
}

typedef struct outcome {
    libsolver_status status;
    int64_t predicted, taken, analysis; /* bytes; the last: peak of analyze */
    libsolver_factor_info info;
    int matched; /* a second attempt took a matching */
} outcome;

static void listen(void *user, const char *sentence)
{
    *(int *)user |= strstr(sentence, "scaling by matching instead") != NULL;
}

/* One solve, or with a Schur complement both halves of one. */
static libsolver_status solve_once(libsolver_factor *f, const request *q, int64_t n)
{
    char *b = calloc((size_t)n + 1, bytes_of(q->type));
    assert_non_null(b);
    const libsolver_vectors x = {.values = b, .rows = n, .columns = 1, .ld = n, .type = q->type};
    libsolver_status status;
    if (q->schur) {
        status = libsolver_schur_condense(f, NULL, &x, &x);
        if (status >= 0)
            status = libsolver_schur_expand(f, NULL, &x);
    } else
        status = libsolver_solve(f, &x, &x);
    free(b);
    return status;
}

static outcome run(const triplets *t, const request *q)
{
    view v = view_of(t, q);
    books k = {0, 0};
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis = NULL;
    libsolver_factor *f = NULL;
    outcome out = {0};
    int8_t *signs = malloc((size_t)t->n + 1);
    const int64_t schur_rows[2] = {0, t->n - 1};
    assert_non_null(signs);
    memset(signs, 1, (size_t)t->n + 1);
    for (int64_t e = 0; e < t->nnz; e++)
        if (t->rows[e] == t->columns[e] && t->values[e * triplets_width(t)] < 0)
            signs[t->rows[e]] = -1;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.kind = q->kind;
    o.threads = q->threads;
    o.mixed = q->mixed;
    o.matching = q->matching;
    o.expected_signs = q->kind == LIBSOLVER_KIND_QUASI_DEFINITE ? signs : NULL;
    o.schur_rows = q->schur ? schur_rows : NULL;
    o.schur_size = !q->schur ? 0 : t->n > 1 ? 2 : 1;
    o.allocate = take;
    o.release = give_back;
    o.memory_user = &k;
    o.log = listen;
    o.log_user = &out.matched;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    out.status = libsolver_analyze(context, &v.a, &o, &analysis);
    out.analysis = k.peak;
    k.peak = k.in_use;
    if (out.status == LIBSOLVER_OK) {
        libsolver_analysis_info info;
        libsolver_analysis_query(analysis, &info);
        out.predicted = info.host_bytes;
        out.status = libsolver_factorize(analysis, &v.a, &f);
        libsolver_info(f, &out.info);
        if (out.status >= 0)
            solve_once(f, q, t->n);
        out.taken = k.peak;
    }
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    if (k.in_use != 0)
        fail_msg("%lld bytes were lost", (long long)k.in_use);
    free(signs);
    view_free(&v);
    return out;
}

/* Whether all was as the prediction says: no pivot delayed, perturbed or zero, none so small that
 * it was looked at more closely or a matching was sought, nothing done in double that was to be in
 * single. */
static int is_predicted(const outcome *r, const request *q)
{
    const libsolver_type wanted = q->mixed != LIBSOLVER_ON ? q->type
                                  : q->type == LIBSOLVER_D ? LIBSOLVER_S
                                                           : LIBSOLVER_C;
    return r->status == LIBSOLVER_OK && r->info.delayed == 0 && r->info.growths == 0 &&
           !r->matched && r->info.precision == wanted;
}

/* The context itself, which the books have and the library does not count, and what rounding of
 * small blocks may come to. */
#define SLACK 1024

static int checked, grown;

static void check(const char *name, const triplets *t, const request *q)
{
    char text[400];
    const outcome r = run(t, q);
    const double difference = (double)(r.taken - r.predicted);
    if (r.status < 0)
        return;
    if (is_predicted(&r, q)) {
        checked++;
        if (!(fabs(difference) <= SLACK))
            fail_msg("%s: %lld bytes predicted, %lld taken, %lld growths", words(name, q, text),
                     (long long)r.predicted, (long long)r.taken, (long long)r.info.growths);
        return;
    }
    grown += r.info.growths > 0;
    if (!(difference >= -SLACK))
        fail_msg("%s: %lld bytes predicted, %lld taken, %lld growths, %s", words(name, q, text),
                 (long long)r.predicted, (long long)r.taken, (long long)r.info.growths,
                 libsolver_status_name(r.status));
}

static const struct {
    libsolver_type type;
    libsolver_choice mixed;
} types[] = {{LIBSOLVER_D, LIBSOLVER_OFF}, {LIBSOLVER_S, LIBSOLVER_OFF},
             {LIBSOLVER_Z, LIBSOLVER_OFF}, {LIBSOLVER_C, LIBSOLVER_OFF},
             {LIBSOLVER_D, LIBSOLVER_ON},  {LIBSOLVER_Z, LIBSOLVER_ON}};
#define TYPES 6

/* Every type, kind, storage and number of threads, with and without matching or a Schur complement.
 * alternating: the signs of the diagonal. */
static void check_all(const char *name, int alternating)
{
    problem p;
    failure why = {0};
    assert_int_equal(problem_load(name, &p, &why), 0);
    for (int64_t e = 0; e < p.a.nnz; e++)
        if (alternating && p.a.rows[e] == p.a.columns[e] && p.a.rows[e] % 2)
            p.a.values[e] = -p.a.values[e];
    checked = grown = 0;
    for (int type = 0; type < TYPES; type++)
        for (int kind = LIBSOLVER_KIND_AUTO; kind <= LIBSOLVER_KIND_QUASI_DEFINITE; kind++)
            for (int form = 0; form < 12; form++) {
                const request q = {.type = types[type].type,
                                   .kind = (libsolver_kind)kind,
                                   .mixed = types[type].mixed,
                                   .matching = form % 3 == 1 ? LIBSOLVER_ON : LIBSOLVER_AUTO,
                                   .schur = form % 3 == 2,
                                   .full = form / 3 % 2,
                                   .threads = 1 + (form + type + kind) % 4};
                if (!(q.schur && q.mixed == LIBSOLVER_ON))
                    check(name, &p.a, &q);
            }
    print_message("%s%s: %d predictions hold, %d factors grew\n", name,
                  alternating ? ", alternating" : "", checked, grown);
    problem_free(&p);
}

static const char *const grids[] = {"lap2d:1",  "lap2d:7", "lap2d:30",
                                    "lap2d:75", "lap3d:4", "lap3d:9"};
#define GRIDS 6
/* That many are asked for with each matrix. */
#define REQUESTS (6 * 48 - 2 * 16)

static void definite_matrices_are_predicted(void **state)
{
    (void)state;
    for (int k = 0; k < GRIDS; k++) {
        check_all(grids[k], 0);
        assert_int_equal(checked, REQUESTS);
    }
}

/* Of those with a diagonal of both signs, all but Cholesky is done. */
static void indefinite_matrices_are_predicted(void **state)
{
    (void)state;
    for (int k = 1; k < GRIDS; k++) {
        check_all(grids[k], 1);
        assert_int_equal(checked, REQUESTS / 4 * 3);
    }
}

static void delayed_pivots_take_more_and_are_told(void **state)
{
    static const char *const names[] = {"kkt2d:3", "kkt2d:10", "kkt2d:20"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        check_all(names[k], 0);
        assert_true(k == 0 || grown > 60);
    }
}

static int print_figures(int count, char **names)
{
    for (int k = 0; k < count; k++) {
        problem p;
        failure why = {0};
        if (problem_load(names[k], &p, &why) != 0) {
            problem_free(&p);
            continue;
        }
        const libsolver_type own = p.a.type;
        for (int form = 0; form < 4; form++) {
            const request q = {.type = own,
                               .kind = form == 1 ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_AUTO,
                               .mixed = form == 2 ? LIBSOLVER_ON : LIBSOLVER_OFF,
                               .full = form == 3,
                               .threads = 2};
            char text[400];
            const outcome r = run(&p.a, &q);
            printf("%7.4f %-40s predicted %12lld taken %12lld analysis' peak %12lld %s%s delayed "
                   "%lld growths %lld perturbed %lld\n",
                   (double)r.predicted / (double)r.taken, words(p.name, &q, text),
                   (long long)r.predicted, (long long)r.taken, (long long)r.analysis,
                   libsolver_status_name(r.status), is_predicted(&r, &q) ? "" : " (not predicted)",
                   (long long)r.info.delayed, (long long)r.info.growths,
                   (long long)r.info.perturbed);
            fflush(stdout);
        }
        problem_free(&p);
    }
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return print_figures(count - 1, arguments + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definite_matrices_are_predicted),
        cmocka_unit_test(indefinite_matrices_are_predicted),
        cmocka_unit_test(delayed_pivots_take_more_and_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
