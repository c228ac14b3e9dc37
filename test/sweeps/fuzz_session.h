/* test/sweeps/fuzz_session.h: one sequence of calls: its objects, what is known of them, and what
 * was done
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_FUZZ_SESSION_H
#define TEST_SWEEPS_FUZZ_SESSION_H

#include "fuzz_view.h"
#include <stdatomic.h>

#define SESSION_WORKSPACES 3
#define SESSION_CALLS 64

typedef struct fuzz_session {
    uint64_t seed;
    int64_t number;
    int checking; /* compare with the oracle; 0: the calls alone, once more */
    int may_fail; /* allocations fail and calls are cancelled */
    int failures; /* of this sequence */
    random_stream r;

    /* the library's objects */
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *workspace[SESSION_WORKSPACES];
    int64_t permutation[64], schur_rows[64];
    int8_t signs[64];
    int is_simple; /* factor owns the others */

    /* the matrix */
    fuzz_system given;    /* values given last */
    int has_given;        /* they were good: may be shifted */
    fuzz_system factored; /* those that the factor is of, ... */
    int is_shifted;       /* ... with this added */
    double shift_re[64], shift_im[64];
    fuzz_view view;
    int usable;                            /* the factor should be, ... */
    int was_usable;                        /* ... or was once: it has a workspace */
    libsolver_status status;               /* of its making */
    int64_t columns;                       /* that its own workspace has had */
    int has_grown[SESSION_WORKSPACES + 1]; /* the factor, since a workspace was made or last used;
                                              its own one last */
    unsigned is_fit_for[SESSION_WORKSPACES + 1]; /* what factors were like that it was made for or
                                                    used with: FIT_ bits */

    /* what is true of it, when asked for */
    oracle_matrix whole, eliminated; /* with and without schur_rows */
    oracle_factor *truth;            /* of eliminated */
    double condition;                /* of it, well scaled; 0: not known yet */

    /* allocations and cancels */
    _Atomic int64_t live, requests, refuse_at, refused, polls, cancel_at, cancelled;

    /* results, for comparison with another number of threads */
    uint64_t digest, digests[SESSION_CALLS];
    int calls;

    size_t length;
    char text[16000];
} fuzz_session;

/* A line of what is done. */
void session_tell(fuzz_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What is wrong: the class is counted, the first of each are printed with all lines. */
void session_fail(fuzz_session *s, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A result. */
void session_digest(fuzz_session *s, const void *bytes, size_t count);
void session_end_call(fuzz_session *s);

/* Options with the session's allocator and cancel callback. */
void session_connect(fuzz_session *s);
/* The k-th allocation from here fails, the k-th poll cancels; < 0: none. */
void session_arm(fuzz_session *s, int64_t allocation, int64_t poll);
/* Latest message of the object that a failed call speaks of. */
const char *session_message(const fuzz_session *s);
void session_forget_truth(fuzz_session *s);
void session_free(fuzz_session *s); /* in a legal order; tells what is leaked */

/* Sums over all sequences. */
enum {
    COUNT_CERTAIN,
    COUNT_UNCERTAIN,
    COUNT_UNDECIDED,
    COUNT_SQUARES,
    COUNT_SINGULAR,
    COUNT_SINGULAR_FOUND,
    COUNT_SOLVES,
    COUNT_FACTORS,
    COUNT_INJECTED,
    COUNT_ESTIMATES,
    COUNT_LOW_ESTIMATES,
    COUNTS
};
extern int64_t session_counts[COUNTS];
/* Prints them and the failures by class; how many there were. */
int64_t session_report(int64_t sequences);
extern int session_verbose;  /* print every failure */
extern int session_matrices; /* and the matrices with them */

#endif
