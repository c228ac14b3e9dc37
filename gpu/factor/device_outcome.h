/* gpu/factor/device_outcome.h: what came of factorizations that nobody waits for, judged on the
 * device and kept there
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One kernel at the end of a refactorization looks at what the steps before have left in the
 * device's memory: flaws of the values, the outcome of the factorization, how inverses grew.  It
 * writes a status where solves read it, beside the caller's, and in page-locked memory for the
 * host. Scale factors that solves use become NaN where there is no factor, so that no solution can
 * be taken for one.  Every call makes its device current and what was current before again at its
 * end. Statuses: CUDA, OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_FACTOR_DEVICE_OUTCOME_H
#define GPU_FACTOR_DEVICE_OUTCOME_H

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_failure.h"
#include "gpu/device/device_values.h"
#include "gpu/invert/device_invert.h"
#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct judged_outcome {
    uint64_t number;   /* of outcomes so far */
    int32_t status;    /* OK; INACCURATE: an inverse has grown past the limit; NONFINITE, INVALID
                          (values that are no mirror images), NOT_POSITIVE_DEFINITE, CUDA */
    int32_t uncertain; /* see cholesky_outcome, as below */
    double smallest;
} judged_outcome;

/* On the device; zeros between refactorizations but for status and number. */
typedef struct outcome_words {
    value_flaws flaws;
    int32_t status;   /* of the factor that solves read */
    uint32_t arrived; /* blocks of the kernel */
    uint64_t number;
} outcome_words;

/* Zeroed but for device and stream. */
typedef struct device_outcome {
    int device;
    void *stream;
    outcome_words *words; /* NULL: it is not open */
    judged_outcome *last; /* page-locked */
    uint64_t number;      /* of outcomes before it was opened */
    int is_used;          /* a kernel has been launched since */
} device_outcome;

typedef struct outcome_arguments {
    libsolver_type type;
    int32_t n;
    const void *from;             /* n scale factors of the factorization, for ... */
    void *scale;                  /* ... those of solves */
    const void *factored;         /* the outcome of the factorization, see device_factorizer */
    const gathered_growth *grown; /* on the device; NULL: nothing is inverted */
    double limit;
    libsolver_status *status; /* on the device, or NULL */
    int keeps; /* values that are not good have not been taken, and the factor is that of the values
                  before: of them nobody but the host is told */
} outcome_arguments;

libsolver_status device_outcome_open(device_outcome *o, message *why);
void device_outcome_close(device_outcome *o); /* waits for the stream */
/* Puts the kernel on the stream. */
libsolver_status device_outcome_judge(device_outcome *o, const outcome_arguments *a, message *why);
/* Waits for the stream. */
libsolver_status device_outcome_last(const device_outcome *o, judged_outcome *last, message *why);
/* The status that solves read from now on, of a factorization that was waited for; flaws that a
 * sequence which was broken off has left are gone.  Waits. */
libsolver_status device_outcome_set(const device_outcome *o, libsolver_status status, message *why);
/* Whether what is put on the stream is only captured. */
int device_outcome_is_captured(const device_outcome *o);

#ifdef __cplusplus
}
#endif
#endif
