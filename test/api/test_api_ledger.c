/* test/api/test_api_ledger.c: every byte is accounted for, and every allocation of every sequence
 * of calls may fail: all storages, matching, Schur complements, mixed precision, estimates
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3
#define KEPT 7

/* ---- systems, and how they are handed over --------------------------------------------------- */

enum { DEFINITE, BY_COLUMNS, INDEFINITE, MATCHED, SCHUR, MIXED, MIXED_IN_DOUBLE, SIGNED, VARIANTS };
static const char *const variant_names[VARIANTS] = {"definite",           "by columns",
                                                    "indefinite",         "matched",
                                                    "Schur complement",   "mixed",
                                                    "mixed, then double", "signed"};

/* A view of the lower triangle in one of the ways there are, and its arrays. */
typedef struct handed {
    libsolver_matrix view;
    int64_t *pointers, *indices;
    double *values, *other;
} handed;

/* Columns of a symmetric matrix of order n = 81 * 2: with pairs (j, n/2 + j) that need 2x2 pivots,
 * and a range of sizes. */
static sparse system_for(int variant)
{
    if (variant == DEFINITE || variant == MIXED)
        return sparse_grid(11, 10, 4);
    if (variant == BY_COLUMNS)
        return sparse_grid(150, 2, 4);
    if (variant == SIGNED) {
        sparse s = sparse_grid(11, 10, 8);
        for (int64_t j = 1; j < s.n; j += 2)
            s.values[s.pointers[j]] = -8;
        return s;
    }
    if (variant == MIXED_IN_DOUBLE) { /* half of the rank in single precision, all of it in double
                                       */
        double value[30];
        for (int k = 0; k < 30; k++)
            value[k] =
                (k % 2 ? -1 : 1) * (k < 15 ? 1 + 0.1 * k : 1e-11 * pow(1000, (k - 15) / 14.0));
        return sparse_with_eigenvalues(30, value);
    }
    return sparse_delaying(6);
}

/* The same entries: lower, upper or both triangles by columns, or triplets from the last to the
 * first. */
static handed hand_over(const sparse *a, int way)
{
    const int64_t n = a->n, nnz = a->pointers[n];
    handed h = {.view = sparse_view(a)};
    h.pointers = calloc((size_t)(2 * nnz + n + 2), sizeof(int64_t));
    h.indices = calloc((size_t)(2 * nnz + 1), sizeof(int64_t));
    h.values = doubles(2 * nnz);
    h.other = doubles(2 * nnz);
    assert_true(h.pointers && h.indices);
    int64_t next = 0;
    if (way == 3) {
        for (int64_t j = n - 1; j >= 0; j--)
            for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++, next++) {
                h.pointers[next] = j;
                h.indices[next] = a->indices[p];
                h.values[next] = a->values[p];
            }
        h.view.format = LIBSOLVER_TRIPLETS;
        h.view.nnz = next;
    }
    for (int64_t c = 0; c < n && way < 3; c++) {
        h.pointers[c] = next;
        for (int64_t j = 0; j < n; j++)
            for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++) {
                const int64_t i = a->indices[p];
                const int is_lower = j == c && way != 1,
                          is_upper = i == c && way != 0 && (i != j || way == 1);
                if (is_lower || is_upper) {
                    h.indices[next] = is_lower ? i : j;
                    h.values[next++] = a->values[p];
                }
            }
        h.pointers[c + 1] = next;
    }
    h.view.storage = way == 1 ? LIBSOLVER_UPPER : way == 2 ? LIBSOLVER_FULL : LIBSOLVER_LOWER;
    h.view.pointers = h.pointers;
    h.view.indices = h.indices;
    h.view.values = h.values;
    for (int64_t p = 0; p < next; p++)
        h.other[p] = h.values[p];
    return h;
}

static void forget(handed *h)
{
    free(h->pointers);
    free(h->indices);
    free(h->values);
    free(h->other);
}

/* ---- a sequence of calls --------------------------------------------------------------------- */

typedef struct sequence {
    int variant;
    sparse a;
    handed h;
    ledger l;
    int64_t context_bytes; /* the object itself, which its own books do not have */
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *workspace;
    int64_t kept[KEPT];
    int8_t sign[400];
    double *b, *x, *complement, errors[COLUMNS];
} sequence;

enum {
    CONTEXT,
    ANALYZE,
    FACTORIZE,
    WORKSPACE,
    PLAIN,
    SOLVE,
    REFINE,
    CONDITION,
    FORWARD,
    EXPORT,
    SHIFTED,
    REFACTORIZE,
    SOLVE_2,
    STEPS
};
static const char *const step_names[STEPS] = {
    "context",   "analyze",       "factorize", "workspace", "solve_plain", "solve",  "refine",
    "condition", "forward_error", "get_l",     "shifted",   "refactorize", "solve 2"};

static void begin(sequence *q, int variant, int way)
{
    memset(q, 0, sizeof *q);
    q->variant = variant;
    q->a = system_for(variant);
    q->h = hand_over(&q->a, way);
    q->b = doubles(q->a.n * COLUMNS);
    q->x = doubles(q->a.n * COLUMNS);
    q->complement = doubles(KEPT * KEPT);
    for (int64_t k = 0; k < q->a.n * COLUMNS; k++)
        q->x[k] = 1 + 0.1 * (double)(k % 7);
    sparse_multiply(&q->a, COLUMNS, q->x, q->b);
    ledger_open(&q->l, &q->options);
    libsolver_options *o = &q->options;
    o->threads = 1;
    o->kind = variant == DEFINITE  ? LIBSOLVER_KIND_SPD
              : variant == SIGNED  ? LIBSOLVER_KIND_QUASI_DEFINITE
              : variant >= MATCHED ? LIBSOLVER_KIND_INDEFINITE
                                   : LIBSOLVER_KIND_AUTO;
    o->matching = variant == MATCHED      ? LIBSOLVER_ON
                  : variant == INDEFINITE ? LIBSOLVER_AUTO
                                          : LIBSOLVER_OFF;
    o->mixed = variant == MIXED || variant == MIXED_IN_DOUBLE ? LIBSOLVER_ON : LIBSOLVER_OFF;
    for (int64_t i = 0; i < q->a.n && variant == SIGNED; i++)
        q->sign[i] = i % 2 ? -1 : 1;
    o->expected_signs = variant == SIGNED ? q->sign : NULL;
    for (int64_t k = 0; k < KEPT; k++)
        q->kept[k] = q->a.n - 1 - 3 * k;
    o->schur_rows = q->kept;
    o->schur_size = variant == SCHUR ? KEPT : 0;
}

static libsolver_status get_l(const libsolver_factor *f, int64_t n)
{
    int64_t entries = 0;
    libsolver_status status = libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL);
    int64_t *pointers = calloc((size_t)(n + 1 + entries), sizeof(int64_t));
    double *values = doubles(entries);
    assert_non_null(pointers);
    if (status == LIBSOLVER_OK)
        status = libsolver_get_factor_l(f, &entries, pointers, pointers + n + 1, values, NULL);
    free(pointers);
    free(values);
    return status;
}

/* In place of a solve. */
static libsolver_status half_solves(sequence *q, libsolver_workspace *w, const libsolver_vectors *b,
                                    const libsolver_vectors *x)
{
    const libsolver_vectors s = block_view(q->complement, KEPT, KEPT);
    libsolver_status status = libsolver_schur_complement(q->factor, &s);
    status = status < 0 ? status : libsolver_schur_condense(q->factor, w, b, x);
    return status < 0 ? status : libsolver_schur_expand(q->factor, w, x);
}

/* The diagonal of the other values: definite ones turn indefinite, others delay more. */
static void make_other_values(sequence *q)
{
    const libsolver_matrix *v = &q->h.view;
    for (int64_t j = 0; j < q->a.n; j++)
        for (int64_t p = v->format ? j : q->h.pointers[j];
             p < (v->format ? j + 1 : q->h.pointers[j + 1]); p++)
            if (v->format ? q->h.indices[p] == q->h.pointers[p] : q->h.indices[p] == j)
                q->h.other[p] = q->variant == BY_COLUMNS ? 1.1 : q->h.values[p] * 2;
}

static libsolver_status take_step(sequence *q, int step)
{
    const int64_t n = q->a.n;
    const int is_schur = q->variant == SCHUR;
    const libsolver_vectors b = block_view(q->b, n, COLUMNS), x = block_view(q->x, n, COLUMNS);
    libsolver_matrix other = q->h.view;
    double *shift, condition;
    libsolver_status status;
    switch (step) {
    case CONTEXT:
        status = libsolver_context_create(&q->options, &q->context);
        q->context_bytes = q->l.bytes;
        return status;
    case ANALYZE:
        return libsolver_analyze(q->context, &q->h.view, &q->options, &q->analysis);
    case FACTORIZE:
        return libsolver_factorize(q->analysis, &q->h.view, &q->factor);
    case WORKSPACE:
        return libsolver_workspace_create(q->factor, 2, &q->workspace);
    case PLAIN:
        return is_schur
                   ? half_solves(q, q->workspace, &b, &x)
                   : libsolver_solve_plain(q->factor, LIBSOLVER_PART_ALL, q->workspace, &b, &x);
    case SOLVE:
    case SOLVE_2:
        return is_schur ? half_solves(q, NULL, &b, &x) : libsolver_solve(q->factor, &b, &x);
    case REFINE:
        return is_schur ? LIBSOLVER_OK
                        : libsolver_refine(q->factor, q->workspace, &b, &x, q->errors);
    case CONDITION:
        return is_schur ? LIBSOLVER_OK : libsolver_condition(q->factor, NULL, &condition);
    case FORWARD:
        return is_schur ? LIBSOLVER_OK
                        : libsolver_forward_error(q->factor, q->workspace, &b, &x, q->errors);
    case EXPORT:
        return is_schur ? LIBSOLVER_OK : get_l(q->factor, n);
    case SHIFTED:
        shift = doubles(n);
        for (int64_t i = 0; i < n; i++)
            shift[i] = q->variant == SIGNED ? q->sign[i] : 0.25;
        const libsolver_vectors v = block_view(shift, n, 1);
        status = libsolver_refactorize_shifted(q->factor, NULL, &v);
        free(shift);
        return status;
    default:
        make_other_values(q);
        other.values = q->h.other;
        status = libsolver_refactorize(q->factor, &other);
        return status < 0 ? status : libsolver_refactorize(q->factor, &q->h.view);
    }
}

static void end(sequence *q)
{
    libsolver_workspace_free(q->workspace);
    libsolver_factor_free(q->factor);
    libsolver_analysis_free(q->analysis);
    libsolver_context_free(q->context);
    forget(&q->h);
    sparse_free(&q->a);
    free(q->b);
    free(q->x);
    free(q->complement);
}

/* The books of the library beside those of the allocator. */
static void check_books(const sequence *q, int step, int64_t k)
{
    libsolver_factor_info info;
    if (!q->factor)
        return;
    libsolver_info(q->factor, &info);
    const int64_t bytes = q->l.bytes - q->context_bytes, peak = q->l.peak - q->context_bytes,
                  calls = q->l.calls - q->l.refused - 1;
    if (info.host_bytes != bytes || info.host_bytes_peak != peak || info.allocations != calls)
        fail_msg("%s, allocation %d, %s: %lld bytes, at most %lld, by %lld allocations, but %lld, "
                 "%lld, %lld were asked for",
                 variant_names[q->variant], (int)k, step_names[step], (long long)info.host_bytes,
                 (long long)info.host_bytes_peak, (long long)info.allocations, (long long)bytes,
                 (long long)peak, (long long)calls);
}

/* The whole sequence, its allocation number k failing, and with `all` those behind it in the same
 * call.  Returns whether one did. */
static int run(int variant, int way, int64_t k, int all, int *met)
{
    sequence q;
    int failed = 0;
    begin(&q, variant, way);
    ledger_refuse(&q.l, k, all);
    for (int step = 0; step < STEPS; step++) {
        const int64_t before = q.l.refused;
        libsolver_status status = take_step(&q, step);
        const int refused = q.l.refused > before;
        /* mixed precision does without a factor in double that there is no room for */
        const int absorbed = refused && status >= 0 && variant == MIXED_IN_DOUBLE;
        if (refused ? status != LIBSOLVER_OUT_OF_MEMORY && !absorbed : status < 0)
            fail_msg("%s, storage %d, allocation %d, %s: %s, %d refused", variant_names[variant],
                     way, (int)k, step_names[step], libsolver_status_name(status),
                     (int)(q.l.refused - before));
        if (refused) {
            failed = 1;
            met[step]++;
            ledger_refuse(&q.l, -1, 0);
        }
        check_books(&q, step, k);
        if (step == FACTORIZE && variant == MIXED_IN_DOUBLE && !refused) {
            libsolver_factor_info info;
            libsolver_info(q.factor, &info);
            assert_int_equal(info.precision, LIBSOLVER_D);
        }
        if (status < 0) {
            status = take_step(&q, step);
            if (status < 0)
                fail_msg("%s, storage %d, after allocation %d, %s again: %s",
                         variant_names[variant], way, (int)k, step_names[step],
                         libsolver_status_name(status));
            check_books(&q, step, k);
        }
        if (step == SOLVE_2 && variant != SCHUR) {
            const double error = sparse_backward_error(&q.a, COLUMNS, q.x, q.b);
            const int may_be_single = variant == MIXED_IN_DOUBLE && failed; /* says so, then */
            if (error <= 1e-14 ? status == LIBSOLVER_INACCURATE
                               : !may_be_single || status != LIBSOLVER_INACCURATE)
                fail_msg("%s, storage %d, allocation %d: %s, backward error %g",
                         variant_names[variant], way, (int)k, libsolver_status_name(status), error);
        }
    }
    end(&q);
    if (q.l.live != 0 || q.l.bytes != 0)
        fail_msg("%s, storage %d, allocation %d: %d blocks of %d bytes were lost",
                 variant_names[variant], way, (int)k, (int)q.l.live, (int)q.l.bytes);
    return failed;
}

static void every_byte_is_accounted_for_and_every_allocation_may_fail(void **state)
{
    (void)state;
    for (int variant = 0; variant < VARIANTS; variant++)
        for (int way = 0; way < 4; way++) {
            int met[STEPS] = {0}, failures = 0;
            for (int64_t k = 0; run(variant, way, k, way % 2, met); k++)
                failures++;
            if (way == 2)
                print_message(
                    "%s: %d failures, %d in analyze, %d in factorize, %d in refactorizations\n",
                    variant_names[variant], failures, met[ANALYZE], met[FACTORIZE],
                    met[SHIFTED] + met[REFACTORIZE]);
            assert_true(failures > 60 && met[CONTEXT] && met[ANALYZE] > 20 && met[FACTORIZE] > 10 &&
                        met[WORKSPACE]);
            /* these allocate nothing */
            assert_int_equal(met[PLAIN] + met[REFINE] + met[CONDITION] + met[FORWARD], 0);
            assert_true(variant == SCHUR || (met[SOLVE] && met[EXPORT]));
        }
}

/* Bytes held by a factor of this matrix, its analysis left out. */
static int64_t bytes_of_factor(int variant, int way, libsolver_choice matching)
{
    sequence q;
    begin(&q, variant, way);
    q.options.matching = matching;
    assert_int_equal(take_step(&q, CONTEXT), LIBSOLVER_OK);
    assert_int_equal(take_step(&q, ANALYZE), LIBSOLVER_OK);
    const int64_t before = q.l.bytes;
    assert_int_equal(take_step(&q, FACTORIZE), LIBSOLVER_OK);
    const int64_t bytes = q.l.bytes - before;
    check_books(&q, FACTORIZE, -1);
    end(&q);
    return bytes;
}

/* What a matching works with, and the second triangle of a FULL matrix, are in these figures. */
static void matchings_and_second_triangles_are_in_the_books(void **state)
{
    (void)state;
    sparse a = system_for(MATCHED);
    const int64_t n = a.n, nnz = a.pointers[n];
    sparse_free(&a);
    const int64_t lower = bytes_of_factor(MATCHED, 0, LIBSOLVER_OFF),
                  full = bytes_of_factor(MATCHED, 2, LIBSOLVER_OFF);
    const int64_t places = full - lower - nnz * (int64_t)sizeof(double);
    print_message("lower %lld bytes, full %lld\n", (long long)lower, (long long)full);
    assert_in_range(places, 0, 256); /* one more block: its header and alignment */
    const int64_t matched = bytes_of_factor(MATCHED, 0, LIBSOLVER_ON);
    print_message("with matching %lld\n", (long long)matched);
    /* at least the sizes of all entries */
    assert_true(matched - lower >= nnz * (int64_t)sizeof(double));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_accounted_for_and_every_allocation_may_fail),
        cmocka_unit_test(matchings_and_second_triangles_are_in_the_books),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
