/* test/sweeps/fuzz_session.c: one sequence of calls: its objects, what was done, what went wrong
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_session.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 256

static struct {
    char name[120];
    int64_t count, first;
} classes[CLASSES];
static int class_count;

int64_t session_counts[COUNTS];
int session_verbose, session_matrices;

void session_tell(fuzz_session *s, const char *format, ...)
{
    va_list arguments;
    const size_t left = sizeof s->text - s->length;
    if (!s->checking || left < 300)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(s->text + s->length, left - 1, format, arguments);
    va_end(arguments);
    s->length += (size_t)length < left - 1 ? (size_t)length : left - 2;
    s->text[s->length++] = '\n';
    s->text[s->length] = 0;
}

/* Returns whether it is the first of its class. */
static int classify(const char *name, int64_t sequence)
{
    int k = 0;
    while (k < class_count && strcmp(classes[k].name, name) != 0)
        k++;
    if (k == CLASSES)
        return 0;
    if (k == class_count) {
        snprintf(classes[k].name, sizeof classes[k].name, "%s", name);
        classes[k].first = sequence;
        class_count++;
    }
    return classes[k].count++ == 0;
}

/* The matrix that is factorized, as a Matrix Market file would have it. */
static void print_matrix(const fuzz_session *s)
{
    const fuzz_system *a = &s->factored;
    for (int j = 0; j < a->n; j++)
        for (int i = j; i < a->n; i++) {
            const int at = i + j * a->n, shifted = i == j && s->is_shifted;
            if (!a->stored[at] && !shifted)
                continue;
            printf("%d %d %.17g", i + 1, j + 1,
                   system_round(a, a->re[at] + (shifted ? s->shift_re[i] : 0)));
            if (a->is_complex)
                printf(" %.17g", system_round(a, a->im[at] + (shifted ? s->shift_im[i] : 0)));
            printf("\n");
        }
}

void session_fail(fuzz_session *s, const char *class, const char *format, ...)
{
    char what[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    s->failures++;
    const int is_first = classify(class, s->number);
    if (is_first || session_verbose)
        printf("FAILED (%s): %s\n  --seed %" PRIu64 " --first %" PRId64 " --sequences 1\n%s\n",
               class, what, s->seed, s->number, s->text);
    if ((is_first || session_verbose) && session_matrices)
        print_matrix(s);
    session_tell(s, "  FAILED (%s): %s", class, what);
}

void session_digest(fuzz_session *s, const void *bytes, size_t count)
{
    /* FNV-1a */
    for (size_t k = 0; k < count; k++)
        s->digest = (s->digest ^ ((const unsigned char *)bytes)[k]) * UINT64_C(0x100000001b3);
}

void session_end_call(fuzz_session *s)
{
    if (s->calls < SESSION_CALLS)
        s->digests[s->calls++] = s->digest;
}

static void *allocate(void *user, size_t bytes)
{
    fuzz_session *s = user;
    if (atomic_fetch_add(&s->requests, 1) == atomic_load(&s->refuse_at)) {
        atomic_fetch_add(&s->refused, 1);
        return NULL;
    }
    void *p = malloc(bytes);
    if (p) {
        atomic_fetch_add(&s->live, 1);
        memset(p, 0xa5, bytes < 4096 ? bytes : 4096); /* nothing may rely on zeros */
    }
    return p;
}

static void release(void *user, void *block)
{
    fuzz_session *s = user;
    atomic_fetch_sub(&s->live, 1);
    free(block);
}

static int cancel(void *user)
{
    fuzz_session *s = user;
    if (atomic_fetch_add(&s->polls, 1) != atomic_load(&s->cancel_at))
        return 0;
    atomic_fetch_add(&s->cancelled, 1);
    return 1;
}

void session_connect(fuzz_session *s)
{
    s->options.allocate = allocate;
    s->options.release = release;
    s->options.memory_user = s;
    s->options.cancel = cancel;
    s->options.cancel_user = s;
    session_arm(s, -1, -1);
}

void session_arm(fuzz_session *s, int64_t allocation, int64_t poll)
{
    atomic_store(&s->refuse_at, allocation < 0 ? -1 : atomic_load(&s->requests) + allocation);
    atomic_store(&s->cancel_at, poll < 0 ? -1 : atomic_load(&s->polls) + poll);
    atomic_store(&s->refused, 0);
    atomic_store(&s->cancelled, 0);
}

const char *session_message(const fuzz_session *s)
{
    if (s->factor && (s->is_simple || libsolver_factor_message(s->factor)[0]))
        return libsolver_factor_message(s->factor);
    return s->context ? libsolver_context_message(s->context) : "";
}

void session_forget_truth(fuzz_session *s)
{
    oracle_factor_free(s->truth);
    oracle_matrix_free(&s->whole);
    oracle_matrix_free(&s->eliminated);
    s->truth = NULL;
    s->condition = 0;
}

void session_free(fuzz_session *s)
{
    for (int k = 0; k < SESSION_WORKSPACES; k++)
        libsolver_workspace_free(s->workspace[k]);
    libsolver_factor_free(s->factor);
    libsolver_analysis_free(s->analysis);
    libsolver_context_free(s->context);
    if (s->live != 0)
        session_fail(s, "memory is leaked", "%" PRId64 " blocks", (int64_t)s->live);
    session_forget_truth(s);
    view_free(&s->view);
    system_free(&s->given);
    system_free(&s->factored);
}

int64_t session_report(int64_t sequences)
{
    const int64_t *c = session_counts;
    int64_t sum = 0;
    for (int k = 0; k < class_count; k++) {
        printf("%8" PRId64 " x %s (first: sequence %" PRId64 ")\n", classes[k].count,
               classes[k].name, classes[k].first);
        sum += classes[k].count;
    }
    printf("%" PRId64 " sequences, %" PRId64 " factorizations, %" PRId64
           " solves; inertia certain %" PRId64 ", uncertain %" PRId64 ", oracle undecided %" PRId64
           ", zeros below eps^2 %" PRId64 "; singular %" PRId64 ", found so %" PRId64
           "; estimates %" PRId64 ", more than 3 times too small %" PRId64
           "; failures injected %" PRId64 "; %" PRId64 " failures\n",
           sequences, c[COUNT_FACTORS], c[COUNT_SOLVES], c[COUNT_CERTAIN], c[COUNT_UNCERTAIN],
           c[COUNT_UNDECIDED], c[COUNT_SQUARES], c[COUNT_SINGULAR], c[COUNT_SINGULAR_FOUND],
           c[COUNT_ESTIMATES], c[COUNT_LOW_ESTIMATES], c[COUNT_INJECTED], sum);
    return sum;
}
