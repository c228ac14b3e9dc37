/* test/sweeps/fuzz_calls.c: random sequences of calls on random small systems, each answer held
 * against an oracle
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     fuzz_calls [--seed S] [--sequences N] [--first K] [--verbose] [--matrices]
 *
 * Sequence K of seed S is the same wherever it begins, so what a failure prints replays it alone.
 * Each failure has a class; the first of a class is printed with the calls that led to it, the
 * others are counted (--verbose: all are printed; --matrices: with the matrix).  Sequences without
 * injected failures are made twice, with other numbers of threads, and must give the same bits. */
#define _GNU_SOURCE
#include "fuzz_calls.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void do_queries(fuzz_session *s)
{
    libsolver_factor_info info;
    libsolver_analysis_info plan;
    int64_t permutation[64], seen[64] = {0};
    libsolver_info(s->factor, &info);
    if (info.host_bytes < 0 || info.host_bytes_peak < info.host_bytes ||
        libsolver_workspace_bytes(s->factor, 2) < 0)
        session_fail(s, "queries", "%" PRId64 " bytes held, peak %" PRId64, info.host_bytes,
                     info.host_bytes_peak);
    fuzz_block b = block_random(&s->r, &s->given, s->given.n, 1);
    int64_t tasks = 0;
    if (libsolver_solve_async(s->factor, NULL, 1, &b.vectors, &b.vectors, NULL, NULL) !=
            LIBSOLVER_NOT_BUILT ||
        libsolver_solve_traced(s->factor, NULL, &b.vectors, &b.vectors, 0, NULL, &tasks) >= 0)
        session_fail(s, "queries", "a solve on the device, without one");
    if (libsolver_refactorize_traced(s->factor, NULL, 0, NULL, &tasks) >= 0)
        session_fail(s, "queries", "a factorization on the device, without one");
    block_free(&b);
    if (s->analysis) {
        libsolver_analysis_query(s->analysis, &plan);
        libsolver_permutation(s->analysis, permutation);
        for (int k = 0; k < s->given.n; k++)
            if (permutation[k] < 0 || permutation[k] >= s->given.n || seen[permutation[k]]++) {
                session_fail(s, "queries", "the permutation is none");
                break;
            }
        session_digest(s, permutation, sizeof *permutation * (size_t)s->given.n);
        if (plan.n != s->given.n || plan.factor_nnz < plan.nnz - s->given.n)
            session_fail(s, "queries", "n %d, nnz(L) %d", (int)plan.n, (int)plan.factor_nnz);
    }
    session_end_call(s);
}

static void next_call(fuzz_session *s)
{
    const int what = below(s, 100);
    if (what < 25)
        do_refactorize(s);
    else if (what < 30)
        do_refused_refactorize(s);
    else if (what < 35 && !s->is_simple)
        do_factorize(s);
    else if (what < 40)
        do_queries(s);
    else if (!s->usable)
        solve_is_refused(s);
    else if (s->options.schur_size > 0) {
        session_tell(s, "schur_complement, condense, expand");
        check_schur(s);
    } else if (what < 48)
        do_workspace(s);
    else if (what < 52)
        do_refused_solve(s);
    else if (what < 58)
        do_condition(s);
    else if (what < 70) {
        session_tell(s, "get_factor_l, _d, scaling, parts, determinant");
        check_factors(s);
    } else
        do_solve(s);
    session_end_call(s);
}

/* ---- Sequences ---- */

/* threads: 0, or instead of those drawn */
static void run_sequence(fuzz_session *s, uint64_t seed, int64_t number, int threads)
{
    memset(s, 0, offsetof(fuzz_session, text));
    s->text[0] = 0;
    s->seed = seed;
    s->number = number;
    s->checking = threads == 0;
    s->r = (random_stream){seed * UINT64_C(0xd1342543de82ef95) +
                           (uint64_t)number * UINT64_C(0x2545f4914f6cdd1d)};
    random_next(&s->r);
    s->may_fail = chance(s, 25);
    const libsolver_type type = (libsolver_type)below(s, 4);
    s->given = system_random(&s->r, type, (libsolver_symmetry)below(s, 2));
    s->view = view_random(&s->r, &s->given);
    draw_options(s);
    s->options.threads = threads > 0 ? threads : s->options.threads;
    tell_options(s);
    if (begin(s))
        for (int left = below(s, 8); left > 0 && s->factor; left--)
            next_call(s);
}

static uint64_t running_seed;
static int64_t running_number;
static const char *running_calls;

/* What was running when the program is ended by a signal. */
static void on_signal(int number)
{
    char line[200];
    const int length =
        snprintf(line, sizeof line,
                 "signal %d\n  --seed %" PRIu64 " --first %" PRId64 " --sequences 1\n", number,
                 running_seed, running_number);
    if (length > 0 && write(1, line, (size_t)length) &&
        write(1, running_calls, strlen(running_calls)))
        fsync(1);
    _exit(3);
}

static void run_twice(fuzz_session *first, fuzz_session *second, uint64_t seed, int64_t number)
{
    running_number = number;
    alarm(60);
    run_sequence(first, seed, number, 0);
    if (!first->may_fail && first->options.memory_limit == 0) {
        run_sequence(second, seed, number, first->options.threads % 3 + 1);
        for (int k = 0; k < first->calls || k < second->calls; k++)
            if (k >= first->calls || k >= second->calls ||
                first->digests[k] != second->digests[k]) {
                session_fail(first, "other bits with another number of threads",
                             "call %d of %d, %d and %d threads", k, first->calls,
                             first->options.threads, second->options.threads);
                break;
            }
        session_free(second);
    }
    session_free(first);
}

int main(int argc, char **argv)
{
    static fuzz_session first, second;
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};
    int64_t sequences = 1000, start = 0;
    running_seed = 1;
    for (int k = 1; k < argc; k++) {
        if (k + 1 < argc && strcmp(argv[k], "--seed") == 0)
            running_seed = strtoull(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--sequences") == 0)
            sequences = strtoll(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--first") == 0)
            start = strtoll(argv[++k], NULL, 10);
        else if (strcmp(argv[k], "--verbose") == 0)
            session_verbose = 1;
        else if (strcmp(argv[k], "--matrices") == 0)
            session_matrices = 1;
        else {
            fprintf(stderr, "usage: fuzz_calls [--seed S] [--sequences N] [--first K] [--verbose] "
                            "[--matrices]\n");
            return 2;
        }
    }
    running_calls = first.text;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is found is not lost to a signal */
    for (int k = 0; k < (int)(sizeof signals / sizeof signals[0]); k++)
        signal(signals[k], on_signal);
    for (int64_t k = start; k < start + sequences; k++)
        run_twice(&first, &second, running_seed, k);
    printf("seed %" PRIu64 ": ", running_seed);
    return session_report(sequences) > 0;
}
