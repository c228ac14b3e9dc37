/* solver/phases/objects.h: what is behind the handles of libsolver.h
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_OBJECTS_H
#define SOLVER_PHASES_OBJECTS_H

#include "base/backend.h"
#include "ordering/ordering.h"
#include "solver/input/input.h"
#include "solver/libsolver.h"
#include <omp.h>
#include <stdatomic.h>

struct libsolver_context {
    environment env;
    void (*progress)(void *user, libsolver_phase phase, double fraction); /* the caller's, NULL:
                                                                             none */
    void *progress_user;
    libsolver_backend backend;
    atomic_flag writing; /* held while `last` is written: several threads may use a context */
    message last;
};

struct libsolver_analysis {
    libsolver_context *context;
    libsolver_options options;
    libsolver_type type;
    libsolver_symmetry symmetry;
    int has_seen_values; /* they were there, and could shape the order */
    int borrows_input;   /* the next is another analysis's */
    input input;         /* pattern of A in the caller's order, and where each entry given goes; */
    value_map values;    /* the latter for backends */
    int64_t schur_size;  /* rows that are not eliminated: */
    int32_t *schur_rows; /* */
    forest forest;       /* elimination forest and fundamental supernodes */
    libsolver_ordering ordering; /* the one used */
    double seconds; /* predicted by its choice, of a factorization with ten solves; 0 where there
                       was none */
    int pairs_need_scaling; /* by the matching that has made them; see order_result */
    const typed_values *typed;
    const backend *backend;
    void *plan;
};

struct libsolver_workspace {
    const libsolver_factor *factor;
    int64_t columns;
    void *memory; /* the backend's */
    libsolver_solve_info info;
    atomic_flag busy;
};

struct libsolver_factor {
    libsolver_context *context;
    const libsolver_analysis *analysis;
    libsolver_context *own_context;   /* simple level: freed with the factor */
    libsolver_analysis *own_analysis; /* of the simple level, or by the first values */
    double analysis_seconds;          /* the latter's */
    void *numeric;                    /* the backend's */
    void *incoming; /* nnz scalars: values as they come in, duplicates summed, the diagonal shifted
                     */
    void *diagonal; /* n scalars: diagonal without the shift; with values on the device, the shift
                     */
    int has_values; /* the values given last were good, and these two hold them, or ... */
    int is_on_device;       /* ... the backend does, on a device */
    void *mirrored;         /* the same for the other triangle of a FULL matrix, otherwise NULL */
    double pivot_threshold; /* of the next factorization */
    int usable;             /* numeric holds a factor of the values given last */
    atomic_int unsettled;   /* what came of a factorization without a wait is not known here; until
                               then usable is 1, and factor_settle sets what is above and below */
    int is_captured; /* one is in a graph, which may be launched at any time: it is never settled */
    omp_lock_t settling;
    libsolver_status status;
    backend_report report;
    libsolver_workspace *workspace; /* the factor's own */
    atomic_flag own_busy;           /* held by the call that uses it, which may replace it */
    atomic_flag writing;            /* held while `last` is written: several threads may solve */
    message last;
};

/* A D of such a matrix has no signs: there is no inertia, and no Cholesky. */
static inline int is_complex_symmetric(libsolver_type type, libsolver_symmetry symmetry)
{
    return (type == LIBSOLVER_Z || type == LIBSOLVER_C) && symmetry == LIBSOLVER_SYMMETRIC;
}

/* Where s has not seen values and these, of the pattern's entries in its order, call for pairs of
 * rows that are eliminated together: an analysis that orders them so, which s must outlive.
 * Otherwise *with is NULL.  OUT_OF_MEMORY, CANCELLED. */
libsolver_status analysis_with_values(const libsolver_analysis *s, const void *values,
                                      libsolver_analysis **with, message *why);

/* A factor without values, for libsolver_refactorize.  OUT_OF_MEMORY. */
libsolver_status factor_open(const libsolver_analysis *s, libsolver_factor **factor, message *why);
/* What holds the values of a factor's matrix as they come in, for memory_take. */
#define FACTOR_VALUE_PARTS 3
int factor_value_parts(libsolver_factor *f, const libsolver_analysis *s,
                       memory_part part[FACTOR_VALUE_PARTS]);
/* Host bytes that a factor takes beside the backend's, its own workspace included. */
int64_t factor_bytes(const libsolver_analysis *s);

/* The backward error that is wanted; asked: what the caller says, 0 for the default. */
double factor_tolerance_asked(const libsolver_factor *f, double asked);
double factor_tolerance(const libsolver_factor *f);
/* SINGULAR, PERTURBED or OK: what is to be said of all that the factor answers. */
libsolver_status factor_remark(const libsolver_factor *f);
/* Every call that wants to know of the factor begins with this: waits for factorizations that
 * nobody has waited for (async.c), and does what is left to do on the host.  NULL is no factor. */
void factor_settle(const libsolver_factor *f);
/* INVALID if there is none. */
libsolver_status factor_needed(const libsolver_factor *f, message *why);
/* INVALID if some rows are not eliminated: for calls that need all of L. */
libsolver_status schur_refused(const libsolver_factor *f, message *why);

/* Sets the context's message. */
void context_message(libsolver_context *context, const message *why);
/* For a call without an object, which the calling thread may ask about. */
void thread_message(const message *why);
/* The same for a factor.  It may be const: its message is not part of its value. */
void factor_message(const libsolver_factor *factor, const message *why);
/* The end of a call on a factor: sets its message if the call has failed.  Returns the status. */
libsolver_status factor_outcome(const libsolver_factor *f, libsolver_status status,
                                const message *why);
/* The same for a call that has the factor's remark unless it has failed. */
libsolver_status factor_answer(const libsolver_factor *f, libsolver_status status,
                               const message *why);

#endif
