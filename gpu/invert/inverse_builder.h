/* gpu/invert/inverse_builder.h: the values of a program, computed on a device from a factor there
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_INVERSE_BUILDER_H
#define GPU_INVERT_INVERSE_BUILDER_H

#include "base/environment.h"
#include "gpu/invert/tables.h"

/* What the plans and values of the factor at hand took. */
typedef struct inverse_info {
    double tables, kernels;                 /* seconds: of tables on the host, of kernels */
    int64_t pattern_bytes, workspace_bytes; /* held on the device */
} inverse_info;

typedef struct inverse_builder {
    environment *env;
    device_inverter device;
    int64_t workspace_limit; /* bytes, exceeded where one group needs more */
    const device_factor *factor;
    const factor_tree *tree; /* until inverse_builder_plan, as is ... */
    const column_progress *progress;
    const void *made_by;  /* of the progress that the tables are for, NULL: none */
    int is_expected;      /* the next factor, see inverse_builder_expect */
    invert_tables tables; /* of the plan at hand */
    double *growth;       /* of small groups and strips, twice */
    inverse_info info;
} inverse_builder;

/* On env's device and this stream; nothing is allocated yet. */
void inverse_builder_open(inverse_builder *b, environment *env, void *stream);
void inverse_builder_close(inverse_builder *b);
/* Gives back what it holds on the device and of the plan. */
void inverse_builder_drop(inverse_builder *b);

/* The factor that is inverted next, which is only read, and its tree, which must stay until
 * inverse_builder_plan.  progress: NULL, or how those who make such factors on the device tell of
 * their columns. */
void inverse_builder_begin(inverse_builder *b, const device_factor *factor, const factor_tree *tree,
                           const column_progress *progress);
/* What the device has to know of groups and their program; serves this and later factors of the
 * same shape (gpu/tree/tree_shape.h).  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here
 * and below. */
libsolver_status inverse_builder_plan(inverse_builder *b, const unsigned char *joined,
                                      const pieces *p, const groups *g, const solve_plan *plan,
                                      message *why);
/* invert_values (gpu/invert/invert.h) for that plan with the values on the device: tiles of every
 * group, and D^-1.  growth, root_growth: only filled where one of them is past the limit; largest:
 * of either.  Nothing is allocated from the second time on. */
libsolver_status inverse_builder_values(inverse_builder *b, void *values, double limit,
                                        double *growth, double *root_growth,
                                        largest_growth *largest, message *why);
/* The same without a wait: what it leaves stays on the device (device_inverter.gathered).
 * words: NULL, or the words of the factorization before it on the stream, before whose end it
 * begins if that was expected. */
libsolver_status inverse_builder_launch(inverse_builder *b, void *values, const unsigned *words,
                                        message *why);
/* Before a factorization by `made_by` is put on the stream: what it is to clear so that the next
 * launch may begin before it ends; none where the tables do not know of its words. */
libsolver_status inverse_builder_expect(inverse_builder *b, const void *made_by,
                                        invert_words *words, message *why);
/* Held on the device. */
int64_t inverse_builder_bytes(const inverse_builder *b);

#endif
