/* test/api/test_types_batch.c: batches of one precision (-DPREC_x) beside the same systems one by
 * one
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "libsolver_batch.h"
#include "systems.h"
#include "typed_system.h"

enum { COUNT = 7, MOST_COLUMNS = 3 };

/* Systems of one pattern, in one view: the values of all of them, one after the other. */
typedef struct family {
    int64_t n, entries, stride;
    dense *item[COUNT];
    arrays *view; /* of item 0 */
    scalar *values;
    const void *at[COUNT]; /* the same one by one, in other places */
    scalar *b;             /* COUNT blocks, n x MOST_COLUMNS */
} family;

static int64_t entries_of(const arrays *v)
{
    return v->view.format == LIBSOLVER_TRIPLETS ? v->view.nnz
                                                : v->pointers[v->view.n] - v->pointers[0];
}

static scalar *scalars(int64_t count)
{
    scalar *v = calloc((size_t)count + 1, sizeof(scalar));
    assert_non_null(v);
    return v;
}

/* Values of item i as its dense matrix has them now. */
static void put_values(family *t, int64_t i, int view)
{
    arrays *v = view_of(t->item[i], view, NULL);
    assert_int_equal(entries_of(v), t->entries);
    memcpy(t->values + i * t->stride, v->values, sizeof(scalar) * (size_t)t->entries);
    memcpy((void *)t->at[i], v->values, sizeof(scalar) * (size_t)t->entries);
    free(v);
}

static family *new_family(random_stream *r, int64_t n, int hermitian, int kind, int view)
{
    family *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->n = n;
    t->item[0] = random_system(r, hermitian, n, 0.1, kind);
    t->view = view_of(t->item[0], view, NULL);
    t->entries = entries_of(t->view);
    t->stride = t->entries + 5;
    t->values = scalars(t->stride * COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        if (i > 0) {
            assert_non_null(t->item[i] = malloc(sizeof(dense)));
            *t->item[i] = *t->item[0];
            for (int64_t q = 0; q < n; q++)
                for (int64_t p = q + 1; p < n; p++)
                    if (t->item[i]->stored[p][q])
                        t->item[i]->a[p][q] = dense_scalar(r);
        }
        t->at[i] = scalars(t->entries);
        put_values(t, i, view);
    }
    t->b = scalars(n * MOST_COLUMNS * COUNT);
    for (int64_t k = 0; k < n * MOST_COLUMNS * COUNT; k++)
        t->b[k] = dense_scalar(r);
    return t;
}

/* Of kind QUASI_DEFINITE the pivots have these signs. */
static int8_t sign_of(int64_t row)
{
    return row % 3 == 1 ? -1 : 1;
}

/* Of definite items such as are quasi-definite. */
static void give_signs(family *t, int view)
{
    for (int64_t i = 0; i < COUNT; i++) {
        for (int64_t k = 0; k < t->n; k++)
            t->item[i]->a[k][k] *= sign_of(k);
        put_values(t, i, view);
    }
}

static void free_family(family *t)
{
    for (int64_t i = 0; i < COUNT; i++) {
        free(t->item[i]);
        free((void *)t->at[i]);
    }
    free(t->view);
    free(t->values);
    free(t->b);
    free(t);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

typedef struct session {
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_batch *batch;
    int8_t signs[MOST];
} session;

static void open_session(session *s, const family *t, libsolver_kind kind, int threads)
{
    memset(s, 0, sizeof *s);
    s->options = with_kind(kind);
    s->options.threads = threads;
    if (kind == LIBSOLVER_KIND_QUASI_DEFINITE) {
        for (int64_t k = 0; k < t->n; k++)
            s->signs[k] = sign_of(k);
        s->options.expected_signs = s->signs;
    }
    assert_int_equal(libsolver_context_create(&s->options, &s->context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(s->context, &t->view->view, &s->options, &s->analysis),
                     LIBSOLVER_OK);
    if (libsolver_batch_create(s->analysis, COUNT, &s->batch) != LIBSOLVER_OK)
        fail_msg("%s", libsolver_context_message(s->context));
}

static void close_session(session *s)
{
    libsolver_batch_free(s->batch);
    libsolver_analysis_free(s->analysis);
    libsolver_context_free(s->context);
}

static libsolver_batch_values strided(const family *t)
{
    return (libsolver_batch_values){.values = t->values, .stride = t->stride};
}

static libsolver_batch_values one_by_one(const family *t)
{
    return (libsolver_batch_values){.items = t->at};
}

/* Blocks behind one another, by columns with a ld of n. */
static libsolver_batch_vectors blocks(const family *t, scalar *values, int64_t columns)
{
    return (libsolver_batch_vectors){
        .values = values, .stride = t->n * MOST_COLUMNS, .columns = columns, .ld = t->n};
}

static void insist(const session *s, libsolver_status status, libsolver_status wanted)
{
    if (status != wanted)
        fail_msg("%s instead of %s: %s", libsolver_status_name(status),
                 libsolver_status_name(wanted), libsolver_batch_message(s->batch));
}

static int64_t worst_of(const libsolver_batch_item *items)
{
    int64_t worst = 0;
    for (int64_t i = 0; i < COUNT; i++)
        worst = items[i].status > worst ? items[i].status : worst;
    return worst;
}

static int on_device(const session *s)
{
    libsolver_batch_info info;
    libsolver_batch_query(s->batch, &info);
    return info.backend == LIBSOLVER_BACKEND_GPU;
}

/* Item i alone: what the calls for single systems say of it, and their solutions. */
static void check_alone(const session *s, const family *t, int64_t i, const scalar *plain,
                        const scalar *refined, const libsolver_batch_item *item)
{
    libsolver_matrix a = t->view->view;
    libsolver_factor *f;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_options o = s->options;
    libsolver_inertia_counts counts = {0};
    const int64_t size = t->n * MOST_COLUMNS;
    const libsolver_vectors b = dense_block(t->b + i * size, t->n, MOST_COLUMNS);
    scalar *mine = scalars(size);
    const libsolver_vectors x = dense_block(mine, t->n, MOST_COLUMNS);
    double errors[MOST_COLUMNS];
    o.backend = LIBSOLVER_BACKEND_CPU;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &a, &o, &analysis), LIBSOLVER_OK);
    a.values = t->at[i];
    const libsolver_status status = libsolver_factorize(analysis, &a, &f);
    libsolver_factor_info info;
    libsolver_workspace *w;
    assert_true(status >= 0);
    libsolver_info(f, &info);
    assert_int_equal(info.kind, item->kind);
    if (libsolver_inertia(f, &counts) == LIBSOLVER_OK) {
        assert_int_equal(counts.positive, item->inertia.positive);
        assert_int_equal(counts.negative, item->inertia.negative);
        assert_int_equal(counts.zero, item->inertia.zero);
    } else
        assert_int_equal(item->inertia.positive, 0);
    assert_int_equal(libsolver_workspace_create(f, MOST_COLUMNS, &w), LIBSOLVER_OK);
    assert_true(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &b, &x) >= 0);
    if (BACKEND == LIBSOLVER_BACKEND_CPU) /* analysed for it too */
        assert_memory_equal(mine, plain + i * size, sizeof(scalar) * (size_t)size);
    const libsolver_status after = libsolver_refine(f, w, &b, &x, errors);
    assert_int_equal(item->status, after);
    if (BACKEND == LIBSOLVER_BACKEND_CPU) /* analysed for it too */
        assert_memory_equal(mine, refined + i * size, sizeof(scalar) * (size_t)size);
    libsolver_workspace_free(w);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    free(mine);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* All items, solved and refined, from values by stride or by pointers. */
static void check_all(const family *t, libsolver_kind kind, int threads, int by_pointers)
{
    session s;
    const int64_t size = t->n * MOST_COLUMNS;
    libsolver_batch_item items[COUNT];
    libsolver_status status[COUNT];
    double errors[COUNT * MOST_COLUMNS];
    scalar *x = scalars(size * COUNT), *refined = scalars(size * COUNT);
    open_session(&s, t, kind, threads);
    const libsolver_batch_values values = by_pointers ? one_by_one(t) : strided(t);
    const libsolver_batch_vectors b = blocks(t, t->b, MOST_COLUMNS),
                                  xs = blocks(t, x, MOST_COLUMNS),
                                  rs = blocks(t, refined, MOST_COLUMNS);
    for (int round = 0; round < 2; round++) {
        const libsolver_status made = libsolver_batch_refactorize(s.batch, &values);
        libsolver_batch_items(s.batch, items);
        insist(&s, made, (libsolver_status)worst_of(items));
        memset(x, 0xff, sizeof(scalar) * (size_t)(size * COUNT));
        assert_true(libsolver_batch_solve(s.batch, &b, &xs) >= 0);
    }
    memcpy(refined, x, sizeof(scalar) * (size_t)(size * COUNT));
    const libsolver_status after = libsolver_batch_refine(s.batch, NULL, &b, &rs, errors);
    libsolver_batch_items(s.batch, items);
    insist(&s, after, (libsolver_status)worst_of(items));
    assert_int_equal(libsolver_batch_status(s.batch, status, LIBSOLVER_HOST), LIBSOLVER_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(status[i], items[i].status);
        check_alone(&s, t, i, x, refined, &items[i]);
        double most = 0;
        for (int64_t j = 0; j < MOST_COLUMNS; j++) {
            const int64_t at = i * size + j * t->n;
            const double found = dense_backward_error(t->item[i], refined + at, t->b + at);
            assert_true(found <= 1.1 * errors[i * MOST_COLUMNS + j] + EPS);
            if (kind == LIBSOLVER_KIND_SPD || kind == LIBSOLVER_KIND_QUASI_DEFINITE)
                assert_true(dense_backward_error(t->item[i], x + at, t->b + at) <=
                            100 * FACTOR_EPS);
            most = errors[i * MOST_COLUMNS + j] > most ? errors[i * MOST_COLUMNS + j] : most;
        }
        assert_true(items[i].backward_error == most);
    }
    close_session(&s);
    free(x);
    free(refined);
}

/* Every kind, triangle and format; values by stride and by pointers; one thread and several. */
static void items_are_what_they_are_alone(void **state)
{
    (void)state;
    static const libsolver_kind kinds[] = {LIBSOLVER_KIND_SPD, LIBSOLVER_KIND_AUTO,
                                           LIBSOLVER_KIND_INDEFINITE,
                                           LIBSOLVER_KIND_QUASI_DEFINITE};
    random_stream r = random_seeded(3);
    for (int round = 0; round < 24; round++) {
        const libsolver_kind kind = kinds[round % 4];
        const int hermitian = kind == LIBSOLVER_KIND_SPD              ? 1
                              : kind == LIBSOLVER_KIND_QUASI_DEFINITE ? round % 8 == 3
                                                                      : round % 3 != 0;
        const int is_definite =
            kind == LIBSOLVER_KIND_SPD || kind == LIBSOLVER_KIND_QUASI_DEFINITE || round % 8 == 1;
        family *t = new_family(&r,
                               round == 4   ? 1
                               : round == 8 ? 150
                                            : 20 + 3 * round,
                               hermitian,
                               is_definite      ? POSITIVE
                               : round % 8 == 5 ? HOLLOW
                                                : INDEFINITE,
                               round);
        if (kind == LIBSOLVER_KIND_QUASI_DEFINITE)
            give_signs(t, round);
        check_all(t, kind, 1 + round % 3, round % 2);
        free_family(t);
    }
}

/* One that is not definite and one that is not finite; the others have the same bits as without
 * them, and a later refactorization brings all of them back. */
static void check_failures(libsolver_kind kind)
{
    random_stream r = random_seeded(5);
    const int view = 3;
    family *t = new_family(&r, 60, 1, POSITIVE, view);
    const int64_t size = t->n * MOST_COLUMNS;
    scalar *good = scalars(size * COUNT), *x = scalars(size * COUNT);
    libsolver_batch_item items[COUNT];
    session s;
    if (kind == LIBSOLVER_KIND_QUASI_DEFINITE)
        give_signs(t, view);
    open_session(&s, t, kind, 2);
    const libsolver_batch_values values = strided(t);
    const libsolver_batch_vectors b = blocks(t, t->b, MOST_COLUMNS),
                                  gs = blocks(t, good, MOST_COLUMNS),
                                  xs = blocks(t, x, MOST_COLUMNS);
    insist(&s, libsolver_batch_solve(s.batch, &b, &gs), LIBSOLVER_INVALID); /* no factors yet */
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &gs), LIBSOLVER_OK);
    const scalar before = t->item[2]->a[7][7], other = t->values[4 * t->stride + 9];
    t->item[2]->a[7][7] = kind == LIBSOLVER_KIND_SPD ? -1 : -before;
    put_values(t, 2, view);
    t->values[4 * t->stride + 9] = (scalar)INFINITY;
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_non_null(strstr(libsolver_batch_message(s.batch), "item 2"));
    assert_true(libsolver_batch_place(s.batch)[0]);
    memset(x, 0xff, sizeof(scalar) * (size_t)(size * COUNT));
    scalar *untouched = scalars(size);
    memset(untouched, 0xff, sizeof(scalar) * (size_t)size);
    insist(&s, libsolver_batch_solve(s.batch, &b, &xs), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    libsolver_batch_items(s.batch, items);
    for (int64_t i = 0; i < COUNT; i++) {
        const int failed = i == 2 || i == 4;
        assert_int_equal(items[i].status, i == 2   ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                          : i == 4 ? LIBSOLVER_NONFINITE
                                                   : LIBSOLVER_OK);
        assert_int_equal(items[i].failed_row, i == 2 ? 7 : -1);
        assert_int_equal(items[i].kind, failed ? LIBSOLVER_KIND_AUTO : kind);
        assert_int_equal(items[i].inertia.positive + items[i].inertia.negative, failed ? 0 : t->n);
        assert_memory_equal(x + i * size, failed ? untouched : good + i * size,
                            sizeof(scalar) * (size_t)size);
    }
    t->item[2]->a[7][7] = before;
    put_values(t, 2, view);
    t->values[4 * t->stride + 9] = other;
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &xs), LIBSOLVER_OK);
    assert_memory_equal(x, good, sizeof(scalar) * (size_t)(size * COUNT));
    close_session(&s);
    free_family(t);
    free(good);
    free(x);
    free(untouched);
}

/* The CPU puts a pivot of another sign right, so that nothing fails there. */
static void failures_are_their_own(void **state)
{
    (void)state;
    check_failures(LIBSOLVER_KIND_SPD);
    if (BACKEND == LIBSOLVER_BACKEND_GPU && CHOICE == LIBSOLVER_OFF) /* else pivots are put right */
        check_failures(LIBSOLVER_KIND_QUASI_DEFINITE);
}

/* Inactive items keep their factor and their x, whatever is wrong with what stands for them. */
static void inactive_items_stay(void **state)
{
    (void)state;
    random_stream r = random_seeded(7);
    family *t = new_family(&r, 40, 1, POSITIVE, 0);
    const int64_t size = t->n * MOST_COLUMNS;
    scalar *good = scalars(size * COUNT), *x = scalars(size * COUNT);
    static const uint8_t some[COUNT] = {1, 0, 0, 255, 1, 0, 1};
    const void *at[COUNT];
    void *to[COUNT], *from[COUNT];
    session s;
    libsolver_batch_info info;
    open_session(&s, t, LIBSOLVER_KIND_SPD, 3);
    libsolver_batch_values values = one_by_one(t);
    libsolver_batch_vectors b = blocks(t, t->b, MOST_COLUMNS), gs = blocks(t, good, MOST_COLUMNS);
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &gs), LIBSOLVER_OK);
    for (int64_t i = 0; i < COUNT; i++) { /* twice the values: half of x */
        at[i] = some[i] ? t->at[i] : NULL;
        to[i] = some[i] ? x + i * size : NULL;
        from[i] = some[i] ? t->b + i * size : NULL;
        for (int64_t k = 0; k < t->entries; k++)
            ((scalar *)(void *)t->at[i])[k] *= 2;
    }
    insist(&s, libsolver_batch_set_active(s.batch, some, LIBSOLVER_HOST), LIBSOLVER_OK);
    libsolver_batch_query(s.batch, &info);
    assert_int_equal(info.count, COUNT);
    assert_int_equal(info.active, 4);
    values.items = at;
    b.items = from;
    libsolver_batch_vectors xs = blocks(t, NULL, MOST_COLUMNS);
    xs.items = to;
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &xs), LIBSOLVER_OK);
    real most = 0;
    for (int64_t k = 0; k < size * COUNT; k++)
        most = scalar_abs(good[k]) > most ? scalar_abs(good[k]) : most;
    for (int64_t k = 0; k < size * COUNT; k++)
        if (some[k / size])
            assert_true(scalar_abs(2 * x[k] - good[k]) <= 100 * FACTOR_EPS * most);
        else
            assert_true(x[k] == 0);
    insist(&s, libsolver_batch_set_active(s.batch, NULL, LIBSOLVER_HOST), LIBSOLVER_OK);
    b.items = NULL;
    xs = blocks(t, x, MOST_COLUMNS);
    insist(&s, libsolver_batch_solve(s.batch, &b, &xs), LIBSOLVER_OK);
    for (int64_t i = 0; i < COUNT; i++)
        if (!some[i]) /* with the values of before */
            assert_memory_equal(x + i * size, good + i * size, sizeof(scalar) * (size_t)size);
    close_session(&s);
    free_family(t);
    free(good);
    free(x);
}

/* In place, by rows, and wider apart than need be. */
static void layouts_and_places(void **state)
{
    (void)state;
    random_stream r = random_seeded(9);
    family *t = new_family(&r, 33, 1, POSITIVE, 0);
    const int64_t size = t->n * MOST_COLUMNS, ld = MOST_COLUMNS + 2, apart = t->n * ld + 7;
    scalar *good = scalars(size * COUNT), *x = scalars(apart * COUNT);
    session s;
    open_session(&s, t, LIBSOLVER_KIND_SPD, 2);
    const libsolver_batch_values values = strided(t);
    const libsolver_batch_vectors b = blocks(t, t->b, MOST_COLUMNS),
                                  gs = blocks(t, good, MOST_COLUMNS),
                                  rows = {.values = x,
                                          .stride = apart,
                                          .columns = MOST_COLUMNS,
                                          .ld = ld,
                                          .layout = LIBSOLVER_ROW_MAJOR};
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &gs), LIBSOLVER_OK);
    for (int64_t i = 0; i < COUNT; i++)
        for (int64_t k = 0; k < size; k++)
            x[i * apart + k % t->n * ld + k / t->n] = t->b[i * size + k];
    insist(&s, libsolver_batch_solve(s.batch, &rows, &rows), LIBSOLVER_OK);
    for (int64_t i = 0; i < COUNT; i++)
        for (int64_t k = 0; k < size; k++)
            assert_true(x[i * apart + k % t->n * ld + k / t->n] == good[i * size + k]);
    libsolver_batch_info before, after;
    libsolver_batch_query(s.batch, &before);
    for (int round = 0; round < 3; round++) {
        insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
        insist(&s, libsolver_batch_solve(s.batch, &b, &gs), LIBSOLVER_OK);
    }
    libsolver_batch_query(s.batch, &after);
    assert_int_equal(before.allocations, after.allocations);
    close_session(&s);
    free_family(t);
    free(good);
    free(x);
}

static void refused(const session *s, libsolver_status status, libsolver_status wanted)
{
    insist(s, status, wanted);
    assert_true(libsolver_batch_message(s->batch)[0]);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(11);
    family *t = new_family(&r, 10, 1, POSITIVE, 0);
    libsolver_batch *none;
    session s;
    open_session(&s, t, LIBSOLVER_KIND_SPD, 1);
    assert_int_equal(libsolver_batch_create(NULL, 1, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_batch_create(s.analysis, 0, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_batch_create(s.analysis, 1, NULL), LIBSOLVER_INVALID);
    libsolver_batch_values values = strided(t);
    values.stride = t->entries - 1;
    refused(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_INVALID);
    values = strided(t);
    values.reserved[3] = 1;
    refused(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_INVALID);
    refused(&s, libsolver_batch_refactorize(s.batch, NULL), LIBSOLVER_INVALID);
    const void *held = t->at[3];
    values = one_by_one(t);
    t->at[3] = NULL;
    refused(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_batch_message(s.batch), "item 3"));
    t->at[3] = held;
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    libsolver_batch_vectors b = blocks(t, t->b, 2), bad = b;
    bad.ld = t->n - 1;
    refused(&s, libsolver_batch_solve(s.batch, &bad, &b), LIBSOLVER_INVALID);
    bad = b;
    bad.stride = 2 * t->n - 1;
    refused(&s, libsolver_batch_solve(s.batch, &b, &bad), LIBSOLVER_INVALID);
    bad = b;
    bad.columns = 3;
    refused(&s, libsolver_batch_solve(s.batch, &b, &bad), LIBSOLVER_INVALID);
    bad = b;
    bad.values = NULL;
    refused(&s, libsolver_batch_solve(s.batch, &b, &bad), LIBSOLVER_INVALID);
    bad = b;
    bad.place = (libsolver_place)2;
    refused(&s, libsolver_batch_solve(s.batch, &bad, &b), LIBSOLVER_INVALID);
    refused(&s, libsolver_batch_refine(s.batch, NULL, &b, &b, NULL), LIBSOLVER_INVALID);
    refused(&s, libsolver_batch_status(s.batch, NULL, LIBSOLVER_HOST), LIBSOLVER_INVALID);
    if (!on_device(&s)) {
        bad = b;
        bad.place = LIBSOLVER_DEVICE;
        refused(&s, libsolver_batch_solve(s.batch, &bad, &bad), LIBSOLVER_NOT_BUILT);
    }
    close_session(&s);
    free_family(t);
}

/* Limits are checked as those of one system, whatever lies behind them, and heeded: with a
 * tolerance that x meets at once no step is made, unless the refinement is to go as far as it goes.
 */
static void limits_are_those_of_a_refinement(void **state)
{
    (void)state;
    random_stream r = random_seeded(12);
    family *t = new_family(&r, 10, 1, POSITIVE, 0);
    const int64_t size = t->n * MOST_COLUMNS * COUNT;
    scalar *x = scalars(size);
    libsolver_step step;
    struct {
        libsolver_limits limits;
        int64_t behind[4];
    } given = {{.steps = 3, .tolerance = 0.5}, {1, 1, 1, 1}}, bad;
    libsolver_batch_item items[COUNT], least[COUNT];
    libsolver_batch_info info;
    session s;
    open_session(&s, t, LIBSOLVER_KIND_SPD, 1);
    const libsolver_batch_values values = strided(t);
    const libsolver_batch_vectors b = blocks(t, t->b, 1), xs = blocks(t, x, 1);
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_OK);
    insist(&s, libsolver_batch_solve(s.batch, &b, &xs), LIBSOLVER_OK);
    for (int64_t q = 0; q < size; q++)
        x[q] += (scalar)(1e-3 * scalar_abs(x[q]));
    bad = given;
    bad.limits.reserved[0] = 1;
    refused(&s, libsolver_batch_refine(s.batch, &bad.limits, &b, &xs, NULL), LIBSOLVER_INVALID);
    bad = given;
    bad.limits.method = (libsolver_method)99;
    refused(&s, libsolver_batch_refine(s.batch, &bad.limits, &b, &xs, NULL), LIBSOLVER_INVALID);
    bad = given;
    bad.limits.history = &step;
    bad.limits.history_room = 1;
    refused(&s, libsolver_batch_refine(s.batch, &bad.limits, &b, &xs, NULL), LIBSOLVER_INVALID);
    insist(&s, libsolver_batch_refine(s.batch, &given.limits, &b, &xs, NULL), LIBSOLVER_OK);
    libsolver_batch_items(s.batch, items);
    bad = given; /* FGMRES is the CPU's, and nothing else is done in its name */
    bad.limits.method = LIBSOLVER_METHOD_FGMRES;
    bad.limits.tolerance = 0;
    libsolver_batch_query(s.batch, &info);
    if (info.backend == LIBSOLVER_BACKEND_GPU)
        refused(&s, libsolver_batch_refine(s.batch, &bad.limits, &b, &xs, NULL),
                LIBSOLVER_NOT_BUILT);
    else
        insist(&s, libsolver_batch_refine(s.batch, &bad.limits, &b, &xs, NULL), LIBSOLVER_OK);
    given.limits.until_stalled = 1;
    insist(&s, libsolver_batch_refine(s.batch, &given.limits, &b, &xs, NULL), LIBSOLVER_OK);
    libsolver_batch_items(s.batch, least);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(items[i].backward_error > 1e-5);
        assert_true(least[i].backward_error <= 10 * EPS);
    }
    close_session(&s);
    free(x);
    free_family(t);
}

/* A failure of any allocation is told, and nothing is left behind; on the CPU the prediction is
 * what is taken, to the byte of its objects but for some KB. */
static void memory_is_what_was_said(void **state)
{
    (void)state;
    random_stream r = random_seeded(13);
    family *t = new_family(&r, 30, 1, POSITIVE, 0);
    ledger l = {0};
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_options o;
    ledger_open(&l, &o);
    o.kind = LIBSOLVER_KIND_SPD;
    o.backend = BACKEND;
    o.mixed = CHOICE;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &t->view->view, &o, &analysis), LIBSOLVER_OK);
    const int64_t live = l.live, bytes = l.bytes;
    const libsolver_batch_values values = strided(t);
    scalar *x = scalars(t->n * MOST_COLUMNS * COUNT);
    const libsolver_batch_vectors b = blocks(t, t->b, 1), xs = blocks(t, x, 1);
    for (int64_t at = 0, done = 0; !done; at++) {
        libsolver_batch *batch;
        ledger_refuse(&l, at, 0);
        libsolver_status status = libsolver_batch_create(analysis, COUNT, &batch);
        if (status == LIBSOLVER_OK)
            status = libsolver_batch_refactorize(batch, &values);
        if (status == LIBSOLVER_OK)
            status = libsolver_batch_solve(batch, &b, &xs);
        if (status == LIBSOLVER_OK)
            status = libsolver_batch_refine(batch, NULL, &b, &xs, NULL);
        done = status == LIBSOLVER_OK;
        if (!done)
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
        else {
            int64_t host, device;
            libsolver_batch_bytes(analysis, COUNT, &host, &device);
            const int64_t taken = l.bytes - bytes;
            if (taken > host || taken < host - host / 4)
                fail_msg("%d bytes predicted, %d taken", (int)host, (int)taken);
        }
        libsolver_batch_free(batch);
        assert_int_equal(l.live, live);
    }
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    free(x);
    free_family(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_what_they_are_alone),
        cmocka_unit_test(failures_are_their_own),
        cmocka_unit_test(inactive_items_stay),
        cmocka_unit_test(layouts_and_places),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(limits_are_those_of_a_refinement),
        cmocka_unit_test(memory_is_what_was_said),
    };
    if (!backend_is_here())
        return without_a_gpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
