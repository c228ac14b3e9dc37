/* test/gpu/gpu_session.h: a session of the GPU backend with one system on the fake device, on which
 * anything may fail, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_GPU_GPU_SESSION_H
#define TEST_GPU_GPU_SESSION_H

#include "fake/fake.h"
#include "solver/gpu/backend.h"
#include "tree_shapes.h"

#define GPU (&NAME(gpu_backend))
enum { COLUMNS = 3 };
/* Of a solution that was refined. */
#define WANTED (EPS < 1e-10 ? 1e-14 : 5e-6)

/* What goes wrong: a call on the device, allocations on the host from one on or that one alone, the
 * caller's patience. */
typedef enum trouble { DEVICE_CALL, HOST_MEMORY, ONE_ALLOCATION, CANCEL, NO_TROUBLE } trouble;

/* A session with one system; each call is made again if it fails. */
typedef struct session {
    cpu_system s; /* its values and order; its own factor is not used */
    void *plan, *numeric, *space;
    backend_problem problem;
    value_map map; /* each entry in two parts */
    int64_t *target;
    int kind;
    trouble trouble;
    int64_t polls, patience; /* of the cancel callback */
    int failures;            /* calls that failed */
    int sentences;           /* that say that factorizations or solves run on the CPU, */
    char said[200];          /* the last of them */
    backend_report report;   /* of the last factorization */
    libsolver_vectors b, x, on_b, on_x;
    double *errors;
    libsolver_status *status; /* on the device, as errors */
} session;

/* With any of them, + DEFINITE: a system that is factorized by Cholesky, + SIGNED: by L D L^T with
 * expected signs, on the device.  In mixed precision, which single precision has not: MIXED and
 * behind it FOR_FEW, like DEFINITE; MIXED_LDLT, FOR_LATENCY. */
enum {
    ORDINARY,
    FOR_FEW,
    FOR_LATENCY,
    DEFINITE,
    SIGNED = 6,
    MIXED = 9,
    MIXED_LDLT = 11,
    PURPOSES = sizeof(real) == 8 ? MIXED_LDLT + 1 : MIXED
};

int is_on_host(trouble what);
/* Whether a message says of the call on the device that failed which step it was and why. */
int session_says_what_failed(const char *said);

void session_begin(session *t, int purpose, int may_fall_back, trouble what);
/* Nothing is left on the device, nor, which system_free looks at, on the host. */
void session_end(session *t);
/* Three factorizations, the second traced, the last of values on the device, with all ways to
 * solve; by Cholesky two that are not waited for and one more that is. */
void session_run(session *t);
/* A factorization of all but one row on the device: its complement on the host and there, half
 * solves of blocks on either side. */
void session_run_part(session *t);

libsolver_status session_factorize(session *t);
libsolver_status session_refine(session *t, int solve_first, const libsolver_vectors *b,
                                const libsolver_vectors *x);
/* An asynchronous solve of the blocks on the device. */
libsolver_status session_launch(session *t);

/* The backward error that is allowed of a solution that was not refined. */
double session_rough(const session *t);
int64_t session_block_bytes(const session *t);
/* b goes there, x becomes NaN. */
void session_to_device(const session *t);
void session_check_answer(const session *t, const libsolver_vectors *x, double allowed);

#endif
