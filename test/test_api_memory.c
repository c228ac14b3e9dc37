/* test/test_api_memory.c: cancelling, the log, memory limits, allocations that fail, and calls that allocate
 * nothing
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 3

/* A system, and its values at another time. */
typedef struct bench {
    sparse a;
    double *other; /* values on the same pattern */
    double *b, *x; /* n x COLUMNS */
    libsolver_kind kind;
    int64_t positive;
} bench;

static bench new_bench(sparse a, libsolver_kind kind)
{
    bench t = {.a = a,
               .other = doubles(a.pointers[a.n]),
               .b = doubles(a.n * COLUMNS),
               .x = doubles(a.n * COLUMNS),
               .kind = kind};
    for (int64_t p = 0; p < a.pointers[a.n]; p++)
        t.other[p] = a.values[p];
    for (int64_t k = 0; k < a.n * COLUMNS; k++)
        t.x[k] = 1 + 0.1 * (double)(k % 7);
    sparse_multiply(&a, COLUMNS, t.x, t.b);
    return t;
}

static bench definite(void)
{
    bench t = new_bench(sparse_grid(17, 15, 4), LIBSOLVER_KIND_SPD);
    t.positive = t.a.n;
    return t;
}

/* Delays nothing with its own values; with the others it does. */
static bench indefinite(void)
{
    bench t = new_bench(sparse_delaying(9), LIBSOLVER_KIND_INDEFINITE);
    t.positive = t.a.n / 2;
    for (int64_t j = 0; j < t.a.n / 2; j++)
        t.a.values[t.a.pointers[j]] = -3;
    for (int64_t k = 0; k < t.a.n * COLUMNS; k++)
        t.x[k] = 1 + 0.1 * (double)(k % 7);
    sparse_multiply(&t.a, COLUMNS, t.x, t.b);
    return t;
}

static void free_bench(bench *t)
{
    sparse_free(&t->a);
    free(t->other);
    free(t->b);
    free(t->x);
}

static void check_solution(const bench *t, int64_t columns, double most)
{
    const double error = sparse_backward_error(&t->a, columns, t->x, t->b);
    if (!(error <= most))
        fail_msg("backward error %g", error);
}

/* ---- all phases, one after the other ------------------------------------------------------------------ */

enum {
    CONTEXT,
    ANALYZE,
    FACTORIZE,
    WORKSPACE,
    PLAIN,
    SOLVE,
    REFINE,
    EXPORT,
    OTHER_VALUES,
    BACK,
    PLAIN_2,
    SOLVE_2,
    STEPS
};

static const char *const step_names[] = {
    "context", "analyze",    "factorize",   "workspace",        "solve_plain",   "solve",
    "refine",  "get_factor", "refactorize", "refactorize back", "solve_plain 2", "solve 2"};

typedef struct objects {
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *workspace;
} objects;

static libsolver_status get_factor(const libsolver_factor *f, int64_t n)
{
    int64_t entries = 0;
    libsolver_status status = libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL);
    int64_t *pointers = calloc((size_t)(n + 1 + entries), sizeof(int64_t));
    double *values = doubles(entries);
    if (status == LIBSOLVER_OK)
        status = libsolver_get_factor_l(f, &entries, pointers, pointers + n + 1, values, NULL);
    free(pointers);
    free(values);
    return status;
}

/* One call; the objects it makes are put into o. */
static libsolver_status take_step(int step, const bench *t, objects *o)
{
    libsolver_matrix a = sparse_view(&t->a), other = a;
    const libsolver_vectors b = block_view(t->b, t->a.n, COLUMNS), x = block_view(t->x, t->a.n, COLUMNS);
    other.values = t->other;
    switch (step) {
    case CONTEXT:
        return libsolver_context_create(&o->options, &o->context);
    case ANALYZE:
        return libsolver_analyze(o->context, &a, &o->options, &o->analysis);
    case FACTORIZE:
        return libsolver_factorize(o->analysis, &a, &o->factor);
    case WORKSPACE:
        return libsolver_workspace_create(o->factor, COLUMNS - 1, &o->workspace);
    case PLAIN:
    case PLAIN_2:
        return libsolver_solve_plain(o->factor, LIBSOLVER_PART_ALL, o->workspace, &b, &x);
    case SOLVE:
    case SOLVE_2:
        return libsolver_solve(o->factor, &b, &x);
    case REFINE:
        return libsolver_refine(o->factor, o->workspace, &b, &x, NULL);
    case EXPORT:
        return get_factor(o->factor, t->a.n);
    case OTHER_VALUES:
        return libsolver_refactorize(o->factor, &other);
    default:
        return libsolver_refactorize(o->factor, &a);
    }
}

/* What must hold after a step. */
static void check_step(int step, const bench *t, const objects *o)
{
    libsolver_inertia_counts counts;
    if (step >= FACTORIZE) {
        assert_int_equal(libsolver_inertia(o->factor, &counts), LIBSOLVER_OK);
        assert_int_equal(counts.positive, t->positive);
        assert_int_equal(counts.negative, t->a.n - t->positive);
    }
    if (step == PLAIN || step == PLAIN_2)
        check_solution(t, COLUMNS, 1e-7);
    if (step == SOLVE || step == REFINE || step == SOLVE_2)
        check_solution(t, COLUMNS, 1e-14);
    if (step >= PLAIN)
        memset(t->x, 0, sizeof(double) * (size_t)(t->a.n * COLUMNS));
    if (step == SOLVE) /* what refine starts from */
        for (int64_t k = 0; k < t->a.n * COLUMNS; k++)
            t->x[k] = (1 + 0.1 * (double)(k % 7)) * (1 + 1e-9 * (double)(k % 3));
}

static void free_objects(objects *o)
{
    libsolver_workspace_free(o->workspace);
    libsolver_factor_free(o->factor);
    libsolver_analysis_free(o->analysis);
    libsolver_context_free(o->context);
}

static const char *message_of(int step, const objects *o)
{
    return step <= FACTORIZE ? libsolver_context_message(o->context) : libsolver_factor_message(o->factor);
}

/* ---- allocations that fail ---------------------------------------------------------------------------- */

/* Every allocation of all phases fails once, alone or with all behind it; the call that it belongs to says
 * so, is made again and succeeds. */
static void every_allocation_fails(bench *t, int threads, int all)
{
    int failures = 0, met[STEPS] = {0};
    for (int64_t k = 0;; k++) {
        ledger l;
        objects o = {0};
        int failed = 0;
        ledger_open(&l, &o.options);
        o.options.threads = threads;
        o.options.kind = t->kind;
        o.options.matching = LIBSOLVER_OFF;
        ledger_refuse(&l, k, all);
        for (int step = 0; step < STEPS; step++) {
            libsolver_status status = take_step(step, t, &o);
            if (status != LIBSOLVER_OK) {
                if (failed || status != LIBSOLVER_OUT_OF_MEMORY)
                    fail_msg("allocation %d, %s: %s", (int)k, step_names[step],
                             libsolver_status_name(status));
                if (step != CONTEXT && !strstr(message_of(step, &o), "more bytes"))
                    fail_msg("allocation %d, %s: message '%s'", (int)k, step_names[step],
                             message_of(step, &o));
                failed = 1;
                met[step]++;
                if (step == FACTORIZE)
                    assert_null(o.factor);
                if (step == OTHER_VALUES || step == BACK) { /* refused until a refactorize succeeds */
                    const libsolver_vectors b = block_view(t->b, t->a.n, 1);
                    const libsolver_status refused = libsolver_solve(o.factor, &b, &b);
                    assert_int_equal(refused, LIBSOLVER_INVALID);
                }
                ledger_refuse(&l, -1, 0);
                status = take_step(step, t, &o);
                if (status != LIBSOLVER_OK)
                    fail_msg("after allocation %d, %s again: %s, %s", (int)k, step_names[step],
                             libsolver_status_name(status), message_of(step, &o));
            } else if (!failed && l.refuse_at >= 0 && l.calls > l.refuse_at)
                fail_msg("allocation %d failed in %s, which did not say so", (int)k, step_names[step]);
            check_step(step, t, &o);
        }
        libsolver_factor_info info;
        libsolver_info(o.factor, &info);
        free_objects(&o);
        if (l.live != 0)
            fail_msg("allocation %d: %d blocks were lost", (int)k, (int)l.live);
        failures += failed;
        if (!failed)
            break;
    }
    print_message("%d failures:", failures);
    for (int step = 0; step < STEPS; step++)
        print_message(" %s %d,", step_names[step], met[step]);
    print_message("\n");
    assert_true(met[CONTEXT] && met[ANALYZE] && met[FACTORIZE] && met[WORKSPACE] && met[SOLVE] &&
                met[EXPORT]);
    assert_int_equal(met[PLAIN] + met[REFINE], 0); /* these allocate nothing */
    if (t->kind == LIBSOLVER_KIND_SPD)
        assert_int_equal(met[OTHER_VALUES] + met[BACK] + met[PLAIN_2] + met[SOLVE_2], 0);
    else /* for delayed pivots; workspaces follow at their next use */
        assert_true(met[OTHER_VALUES] > 0);
}

static void each_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int all = 0; all < 2; all++) {
            bench t = kind ? indefinite() : definite();
            every_allocation_fails(&t, 1 + all, all);
            free_bench(&t);
        }
}

static void each_failed_allocation_of_the_simple_level_is_survived(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        bench t = kind ? indefinite() : definite();
        const libsolver_matrix a = sparse_view(&t.a);
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        int64_t k = 0, without_object = 0;
        for (; status != LIBSOLVER_OK; k++) {
            ledger l;
            libsolver_options o;
            libsolver_factor *f = NULL;
            ledger_open(&l, &o);
            ledger_refuse(&l, k, 0);
            status = libsolver_factor_matrix(&a, &o, &f);
            if (status != LIBSOLVER_OK) {
                const libsolver_vectors b = block_view(t.b, t.a.n, COLUMNS);
                libsolver_inertia_counts counts;
                libsolver_factor_info info;
                assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
                without_object += f == NULL;
                if (f) {
                    assert_non_null(strstr(libsolver_factor_message(f), "more bytes"));
                    libsolver_info(f, &info);
                    assert_int_equal(info.status, LIBSOLVER_OUT_OF_MEMORY);
                }
                assert_int_equal(libsolver_solve(f, &b, &b), LIBSOLVER_INVALID);
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_INVALID);
            }
            libsolver_factor_free(f);
            assert_int_equal(l.live, 0);
        }
        assert_true(k > 20);
        assert_in_range(without_object, 1, 2); /* the context and the object itself */
        free_bench(&t);
    }
}

/* ---- limits ------------------------------------------------------------------------------------------- */

static void a_memory_limit_is_kept(void **state)
{
    (void)state;
    bench t = indefinite();
    const libsolver_matrix a = sparse_view(&t.a);
    libsolver_factor *f;
    libsolver_factor_info info;
    libsolver_options o;
    libsolver_options_default(&o);
    o.threads = 1;
    assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
    libsolver_info(f, &info);
    const int64_t peak = info.host_bytes_peak;
    libsolver_factor_free(f);
    int refused = 0;
    for (int64_t limit = 1; limit < 2 * peak; limit += limit < peak - peak / 16 ? peak / 32
                                                       : limit < peak           ? peak - limit
                                                                                : peak / 2) {
        ledger l;
        ledger_open(&l, &o);
        o.threads = 1;
        o.memory_limit = limit;
        const libsolver_status status = libsolver_factor_matrix(&a, &o, &f);
        if (status != (limit < peak ? LIBSOLVER_OUT_OF_MEMORY : LIBSOLVER_OK))
            fail_msg("limit %d of %d: %s", (int)limit, (int)peak, libsolver_status_name(status));
        if (f) {
            libsolver_info(f, &info);
            assert_true(info.host_bytes_peak <= limit && info.host_bytes <= info.host_bytes_peak);
        }
        if (status != LIBSOLVER_OK && f) {
            int64_t wanted = 0;
            for (const char *c = libsolver_factor_message(f); *c && !wanted; c++)
                wanted = strtoll(c, NULL, 10);
            assert_true(wanted > 0); /* the bytes that would not fit */
            refused++;
        }
        libsolver_factor_free(f);
        assert_int_equal(l.live, 0);
    }
    assert_true(refused > 10);

    /* a refactorization that needs more than there is: the old factor is lost, the object is not */
    objects q = {0};
    ledger l;
    ledger_open(&l, &q.options);
    q.options.threads = 1;
    q.options.kind = t.kind;
    q.options.matching = LIBSOLVER_OFF;
    for (int step = CONTEXT; step <= SOLVE; step++)
        assert_int_equal(take_step(step, &t, &q), LIBSOLVER_OK);
    libsolver_info(q.factor, &info);
    const int64_t enough = info.host_bytes_peak;
    free_objects(&q);
    memset(&q, 0, sizeof q);
    ledger_open(&l, &q.options);
    q.options.threads = 1;
    q.options.kind = t.kind;
    q.options.matching = LIBSOLVER_OFF;
    q.options.memory_limit = enough;
    for (int step = CONTEXT; step <= SOLVE; step++)
        assert_int_equal(take_step(step, &t, &q), LIBSOLVER_OK);
    const libsolver_status status = take_step(OTHER_VALUES, &t, &q);
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        assert_non_null(strstr(message_of(OTHER_VALUES, &q), "more bytes"));
    else
        assert_int_equal(status, LIBSOLVER_OK);
    assert_int_equal(take_step(BACK, &t, &q), LIBSOLVER_OK);
    assert_int_equal(take_step(SOLVE_2, &t, &q), LIBSOLVER_OK);
    check_solution(&t, COLUMNS, 1e-14);
    free_objects(&q);
    assert_int_equal(l.live, 0);
    free_bench(&t);
}

static void the_prediction_is_near_the_peak(void **state)
{
    (void)state;
    sparse a = sparse_grid(90, 80, 4);
    const libsolver_matrix view = sparse_view(&a);
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_analysis_info foreseen;
    libsolver_factor *f;
    libsolver_factor_info info;
    libsolver_options_default(&o);
    o.threads = 2;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &view, NULL, &analysis), LIBSOLVER_OK);
    libsolver_analysis_query(analysis, &foreseen);
    assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
    libsolver_info(f, &info);
    print_message("predicted %lld, held %lld\n", (long long)foreseen.host_bytes, (long long)info.host_bytes);
    assert_true(foreseen.host_bytes > info.host_bytes / 2 && foreseen.host_bytes < 2 * info.host_bytes);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    sparse_free(&a);
}

/* ---- cancel and log ----------------------------------------------------------------------------------- */

typedef struct canceller {
    _Atomic int64_t polls;
    int64_t at; /* the poll that is answered with yes, -1: none */
} canceller;

static int cancel(void *user)
{
    canceller *c = user;
    return atomic_fetch_add(&c->polls, 1) == c->at;
}

static void every_poll_can_cancel(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        bench t = variant % 2 ? indefinite() : definite();
        int met[STEPS] = {0};
        for (int64_t k = 0;; k++) {
            canceller c = {.at = k};
            objects o = {0};
            ledger l;
            int cancelled = 0;
            ledger_open(&l, &o.options);
            o.options.threads = 1 + variant / 2;
            o.options.kind = t.kind;
            o.options.matching = LIBSOLVER_OFF;
            o.options.cancel = cancel;
            o.options.cancel_user = &c;
            for (int step = 0; step < STEPS; step++) {
                libsolver_status status = take_step(step, &t, &o);
                if (!cancelled && c.polls > k) {
                    if (status != LIBSOLVER_CANCELLED)
                        fail_msg("poll %d, %s: %s", (int)k, step_names[step], libsolver_status_name(status));
                    assert_non_null(
                        strstr(step == FACTORIZE ? libsolver_factor_message(o.factor) : message_of(step, &o),
                               "cancelled"));
                    cancelled = 1;
                    met[step]++;
                    if (step == FACTORIZE || step == OTHER_VALUES || step == BACK) {
                        const libsolver_vectors b = block_view(t.b, t.a.n, 1);
                        assert_non_null(o.factor);
                        assert_int_equal(libsolver_solve(o.factor, &b, &b), LIBSOLVER_INVALID);
                    }
                    if (step == FACTORIZE) /* an object, that refactorize may be tried on */
                        status = take_step(BACK, &t, &o);
                    else {
                        if (step == REFINE)
                            assert_int_equal(take_step(SOLVE, &t, &o), LIBSOLVER_OK);
                        status = take_step(step, &t, &o);
                    }
                }
                if (status != LIBSOLVER_OK)
                    fail_msg("after poll %d, %s: %s", (int)k, step_names[step],
                             libsolver_status_name(status));
                check_step(step, &t, &o);
            }
            free_objects(&o);
            assert_int_equal(l.live, 0);
            if (!cancelled)
                break;
        }
        assert_true(met[ANALYZE] >= 1 && met[FACTORIZE] >= 3 && met[PLAIN] >= 2 && met[REFINE] >= 1);
        assert_true(met[OTHER_VALUES] >= 3 && met[BACK] >= 3);
        free_bench(&t);
    }
}

typedef struct lines {
    int count, bad;
} lines;

static void log_line(void *user, const char *sentence)
{
    lines *l = user;
    l->count++;
    l->bad += !sentence || !sentence[0] || strchr(sentence, '\n') != NULL;
}

/* A pivot that may be rounding errors is a reason to say something. */
static void what_is_remarkable_is_logged(void **state)
{
    (void)state;
    const double a[] = {1, 1, 0, 1, 1 + 1e-14, 0, 0, 0, 1};
    sparse s = sparse_of_dense(3, a);
    const libsolver_matrix view = sparse_view(&s);
    lines l = {0};
    libsolver_options o;
    libsolver_factor *f;
    libsolver_inertia_counts counts;
    libsolver_options_default(&o);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    o.log = log_line;
    o.log_user = &l;
    assert_true(libsolver_factor_matrix(&view, &o, &f) >= 0);
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    assert_int_equal(counts.certain, 0);
    assert_true(l.count > 0);
    assert_int_equal(l.bad, 0);
    libsolver_factor_free(f);
    sparse_free(&s);
}

/* ---- hidden allocations ------------------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define MALLOC_IS_OURS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MALLOC_IS_OURS 0
#endif
#endif
#ifndef MALLOC_IS_OURS
#define MALLOC_IS_OURS 1
#endif

/* Who called malloc and its like while `counting`. */
#define CALLERS 4096
static _Atomic int counting;
static _Atomic int64_t callers;
static void *caller[CALLERS];

#if MALLOC_IS_OURS
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void note(void *from)
{
    if (!atomic_load(&counting))
        return;
    const int64_t k = atomic_fetch_add(&callers, 1);
    if (k < CALLERS)
        caller[k] = from;
}

void *malloc(size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    note(__builtin_return_address(0));
    *block = __libc_memalign(alignment, bytes);
    return *block ? 0 : 12;
}
#endif

/* Calls of malloc since counting began: by the library (its BLAS included), and by the OpenMP runtime. */
static void count_callers(int64_t *library, int64_t *runtime)
{
    *library = *runtime = 0;
    atomic_store(&counting, 0);
    for (int64_t k = 0; k < callers && k < CALLERS; k++) {
        Dl_info where;
        const int known = dladdr(caller[k], &where) != 0;
        *library += known && strstr(where.dli_fname, "/libsolver.so") != NULL;
        *runtime += known && (strstr(where.dli_fname, "libgomp") || strstr(where.dli_fname, "libomp"));
    }
    atomic_store(&callers, 0);
}

static void refactorize_and_solve_allocate_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int threads = 1; threads <= 2; threads++) {
            bench t = kind == 0 ? definite() : indefinite();
            if (kind == 2) { /* large enough for several threads */
                free_bench(&t);
                t = new_bench(sparse_grid(70, 60, 2.5), LIBSOLVER_KIND_INDEFINITE);
            }
            objects o = {0};
            ledger l;
            int64_t library, runtime;
            libsolver_factor_info before, after;
            ledger_open(&l, &o.options);
            o.options.threads = threads;
            o.options.kind = t.kind;
            for (int step = CONTEXT; step <= SOLVE; step++)
                assert_int_equal(take_step(step, &t, &o), LIBSOLVER_OK);
            if (kind >
                0) { /* space for delayed pivots is planned by the second factorization that met them */
                assert_int_equal(take_step(BACK, &t, &o), LIBSOLVER_OK);
                assert_int_equal(take_step(PLAIN, &t, &o), LIBSOLVER_OK);
                assert_int_equal(take_step(SOLVE, &t, &o), LIBSOLVER_OK);
            }
            const int64_t calls = l.calls;
            libsolver_info(o.factor, &before);
            for (int round = 0; round < 3; round++) {
                const int steps[] = {PLAIN, SOLVE, REFINE, BACK, PLAIN_2, SOLVE_2};
                for (int k = 0; k < 6; k++) {
                    atomic_store(&counting, 1);
                    const libsolver_status status = take_step(steps[k], &t, &o);
                    count_callers(&library, &runtime);
                    assert_int_equal(status, LIBSOLVER_OK);
                    /* OpenBLAS's gemm of small blocks takes memory for packing on machines with AVX-512 */
                    const int64_t by_blas = kind == 2 && steps[k] != REFINE && steps[k] != BACK ? library : 0;
                    if (library > by_blas || l.calls != calls)
                        fail_msg("kind %d, %d threads, %s: %d hidden allocations, %d others", kind, threads,
                                 step_names[steps[k]], (int)library, (int)(l.calls - calls));
                    if (round == 2)
                        print_message("kind %d, %d threads, %s: allocations by OpenMP %d, BLAS %d\n", kind,
                                      threads, step_names[steps[k]], (int)runtime, (int)by_blas);
                }
            }
            libsolver_info(o.factor, &after);
            assert_int_equal(after.allocations, before.allocations);
            assert_int_equal(after.host_bytes, before.host_bytes);
            free_objects(&o);
            assert_int_equal(l.live, 0);
            free_bench(&t);
        }
}

/* The whole of a solution from the caller's memory: what goes around it, and that the counter above counts.
 */
static void what_goes_around_the_caller_s_allocator(void **state)
{
    (void)state;
    if (!MALLOC_IS_OURS)
        skip();
    bench t = definite();
    ledger l;
    objects o = {0};
    int64_t library, runtime, total = 0;
    libsolver_options_default(&o.options);
    o.options.ordering = LIBSOLVER_ORDERING_AMD;
    o.options.kind = t.kind;
    for (int own = 0; own < 2; own++) {
        if (own) {
            memset(&o, 0, sizeof o);
            ledger_open(&l, &o.options);
            o.options.ordering = LIBSOLVER_ORDERING_AMD;
            o.options.kind = t.kind;
        }
        total = 0;
        for (int step = CONTEXT; step <= SOLVE; step++) {
            atomic_store(&counting, 1);
            assert_int_equal(take_step(step, &t, &o), LIBSOLVER_OK);
            count_callers(&library, &runtime);
            total += library;
        }
        free_objects(&o);
        if (own)
            assert_int_equal(total, 0);
        else
            assert_true(total > 20);
    }
    assert_int_equal(l.live, 0);
    free_bench(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failed_allocation_is_survived),
        cmocka_unit_test(each_failed_allocation_of_the_simple_level_is_survived),
        cmocka_unit_test(a_memory_limit_is_kept),
        cmocka_unit_test(the_prediction_is_near_the_peak),
        cmocka_unit_test(every_poll_can_cancel),
        cmocka_unit_test(what_is_remarkable_is_logged),
        cmocka_unit_test(refactorize_and_solve_allocate_nothing),
        cmocka_unit_test(what_goes_around_the_caller_s_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
