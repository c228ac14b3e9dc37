/* test/api/test_api_malloc.c: calls that allocate nothing, and nothing behind the back of the
 * caller's allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_phases.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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

/* Calls of malloc since counting began: by the library, and by the OpenMP runtime. */
static void count_callers(int64_t *library, int64_t *runtime)
{
    *library = *runtime = 0;
    atomic_store(&counting, 0);
    for (int64_t k = 0; k < callers && k < CALLERS; k++) {
        Dl_info where;
        const int known = dladdr(caller[k], &where) != 0;
        *library += known && strstr(where.dli_fname, "/libsolver.so") != NULL;
        *runtime +=
            known && (strstr(where.dli_fname, "libgomp") || strstr(where.dli_fname, "libomp"));
    }
    atomic_store(&callers, 0);
}

static void refactorize_and_solve_allocate_nothing(void **state)
{
    (void)state;
    for (int variant = 0; variant < 6; variant++)
        for (int threads = 1; threads <= 2; threads++) {
            const int kind = variant % 3, mixed = variant / 3;
            api_system t = kind == 0 ? definite_system() : indefinite_system();
            if (kind == 2) { /* large enough for several threads */
                api_system_free(&t);
                t = api_system_new(sparse_grid(70, 60, 2.5), LIBSOLVER_KIND_INDEFINITE);
            }
            objects o = {0};
            ledger l;
            int64_t library, runtime;
            libsolver_factor_info before, after;
            ledger_open(&l, &o.options);
            o.options.threads = threads;
            o.options.kind = t.kind;
            o.options.mixed = mixed ? LIBSOLVER_ON : LIBSOLVER_OFF;
            for (int step = CONTEXT; step <= SOLVE; step++)
                assert_int_equal(take_step(step, &t, &o), LIBSOLVER_OK);
            /* space for delayed pivots is planned by the second factorization that met them */
            if (kind > 0) {
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
                    if (library > 0 || l.calls != calls)
                        fail_msg(
                            "kind %d, mixed %d, %d threads, %s: %d hidden allocations, %d others",
                            kind, mixed, threads, step_names[steps[k]], (int)library,
                            (int)(l.calls - calls));
                    if (round == 2 && runtime > 0)
                        print_message("kind %d, mixed %d, %d threads, %s: allocations by OpenMP "
                                      "%d\n",
                                      kind, mixed, threads, step_names[steps[k]], (int)runtime);
                }
            }
            libsolver_info(o.factor, &after);
            assert_int_equal(after.allocations, before.allocations);
            assert_int_equal(after.host_bytes, before.host_bytes);
            objects_free(&o);
            assert_int_equal(l.live, 0);
            api_system_free(&t);
        }
}

/* All phases, calls of malloc by the library counted. */
static int64_t count_all_phases(const api_system *t, objects *o)
{
    int64_t library, runtime, total = 0;
    for (int step = CONTEXT; step <= SOLVE; step++) {
        atomic_store(&counting, 1);
        const libsolver_status status = take_step(step, t, o);
        count_callers(&library, &runtime);
        assert_int_equal(status, LIBSOLVER_OK);
        total += library;
    }
    objects_free(o);
    return total;
}

/* The whole of a solution from the caller's memory, and with malloc to see that calls of it are
 * counted: by fronts, with delays, with a matching, in mixed precision. */
static void nothing_goes_around_the_caller_s_allocator(void **state)
{
    (void)state;
    if (!MALLOC_IS_OURS)
        skip();
    for (int variant = 0; variant < 5; variant++) {
        api_system t = variant == 0 || variant == 3 ? definite_system() : indefinite_system();
        for (int own = 0; own < 2; own++) {
            ledger l;
            objects o = {0};
            if (own)
                ledger_open(&l, &o.options);
            else
                libsolver_options_default(&o.options);
            o.options.backend = LIBSOLVER_BACKEND_CPU;
            o.options.ordering = LIBSOLVER_ORDERING_AMD;
            o.options.kind = t.kind;
            o.options.matching = variant == 2 ? LIBSOLVER_ON : LIBSOLVER_OFF;
            o.options.mixed = variant >= 3 ? LIBSOLVER_ON : LIBSOLVER_OFF;
            const int64_t total = count_all_phases(&t, &o);
            if (own ? total != 0 : total <= 20)
                fail_msg("variant %d, %s allocator: %d calls of malloc", variant,
                         own ? "own" : "no", (int)total);
            assert_true(!own || l.live == 0);
        }
        api_system_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refactorize_and_solve_allocate_nothing),
        cmocka_unit_test(nothing_goes_around_the_caller_s_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
