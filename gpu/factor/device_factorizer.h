/* gpu/factor/device_factorizer.h: carries out the program of a factorization on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_DEVICE_FACTORIZER_H
#define GPU_FACTOR_DEVICE_FACTORIZER_H

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_failure.h"
#include "gpu/factor/outcome.h"
#include "gpu/factor/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What it works on, all in the device's memory. */
typedef struct factorizer_arguments {
    void *values;                    /* of the entries of A, in the order that it was analysed in */
    const void *fresh;               /* NULL, or values that take their place before, unless ... */
    const struct value_flaws *flaws; /* ... something is wrong with them; on the device too */
    unsigned *clear;                 /* NULL, or words of others that become zero before it, ... */
    int32_t clear_words;             /* ... so many */
    void *panel;                     /* out: factor_program.panel_scalars, with signs 2 n more */
    int is_unscaled; /* no equilibration, unless entries are so near to the ends of the range that
                        pivots might have no reciprocals; in mixed precision one scale factor for
                        all rows, which makes the largest entry about 1 */
    double shift;    /* Cholesky: of S A S + shift diag(S A S) */
    int by_levels;   /* a launch for each level of tasks; 0: one for all, the same bits */
    double doubt_level; /* see cholesky_outcome */
    double patience; /* seconds that a block waits for another before the factorization is given up;
                        0: a minute */
    uint64_t *trace; /* NULL, or out: 2 words a task, see device_factorizer_timed, which sets it */
} factorizer_arguments;

/* Of what a factorization with signs has beside the program. */
typedef struct factor_sign_counts {
    int has_signs;     /* 0: Cholesky, or of order 0 */
    int is_symmetric;  /* L D L^T of a complex symmetric matrix, whose D is complex; ... */
    int expects_signs; /* ... the real parts of D are to have the signs */
    int64_t rows;      /* of all fronts of the pattern */
    int64_t long_rows; /* of P A P^T, that very many fronts have; ... */
    int64_t long_room; /* ... room for these */
} factor_sign_counts;

/* Zeroed but for device, stream and is_mixed.  Buffers are used again by the next program. */
typedef struct device_factorizer {
    int device;
    void *stream;
    int is_mixed; /* Cholesky: values and scale factors are in double precision, the factor in
                     single: S A S, rounded, is factorized */
    libsolver_type type;
    device_buffer tables, workspace; /* workspace: scaled values, arena, inverses, outcome */
    device_buffer complement;        /* on its way to the host, see device_factorizer_complement */
    factor_sign_counts signs;
    int64_t item_bytes;    /* of the workspace of one item */
    const void *scale;     /* n reals on the device, of the values' precision, by rows of A,
                              once that ran */
    const void *outcome;   /* on the device */
    const unsigned *words; /* on the device: see waits.h */
    void *graph;           /* NULL, or of all launches, made for ... */
    factorizer_arguments graph_for; /* ... these */
    factorizer_arguments made_for;  /* of the last launch */
    int is_judged;                  /* that one is */
    int64_t allocations;            /* of buffers, so far */
} device_factorizer;

/* Copies a program to the device, where it stays, and takes the workspace for it.  pattern: that
 * the program was built from; with signs factorizations are L D L^T: panels get what a factor_tree
 * wants, behind them, in `panel` too, the diagonal of D and the zeros beside it, n each.
 * OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here and below; OUT_OF_MEMORY. */
libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *program,
                                        const factor_pattern *pattern, libsolver_type type,
                                        message *why);
/* Puts the launches on the stream, with signs but for _judge; by levels as one graph, which is made
 * anew only where an argument has changed.  A launch by levels cannot be captured.  program: the
 * one that was loaded last, of which only the levels and the kinds of tasks are read here. */
libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *program,
                                          const factorizer_arguments *arguments, message *why);
/* _launch with the times of all tasks, on the host: for each when it began and ended, by the
 * device's clock in ns.  Waits, though _finish is still to be called. */
libsolver_status device_factorizer_timed(device_factorizer *f, const factor_program *program,
                                         const factorizer_arguments *arguments, uint64_t *times,
                                         message *why);
/* With signs: compares pivots with what came into their rows, for the outcome.  What wants only
 * columns of L may be put on the stream between _launch and this; where nobody calls it, _finish
 * does. */
libsolver_status device_factorizer_judge(device_factorizer *f, const factor_program *program,
                                         message *why);
/* Waits for the end of the factorization. */
libsolver_status device_factorizer_finish(device_factorizer *f, const factor_program *program,
                                          cholesky_outcome *outcome, message *why);
/* Where a Schur complement goes: both triangles of size x size scalars, by columns or, are_rows, by
 * rows ld apart. */
typedef struct complement_place {
    void *at;
    int64_t ld;
    int are_rows, is_on_host;
} complement_place;

/* schur_complement.cu: that of the factor that was made last, of these values, for a program with
 * schur_size > 0; waits. */
libsolver_status device_factorizer_complement(device_factorizer *f, const factor_program *program,
                                              const void *values, const complement_place *to,
                                              message *why);
/* Many factorizations by one program, each with a workspace of its own; values and panels of item i
 * lie i times so many bytes behind those of item 0. */
typedef struct factorizer_items {
    int64_t value_bytes, panel_bytes; /* multiples of 16; panels: with signs 2 n scalars more */
    const int32_t *item;              /* on the device: numbers of the items of this launch, */
    int64_t items;                    /* and how many; items * program's tasks < 2^31 */
    void *outcome; /* out, on the device: the outcomes of all items, for ..._outcome_of */
} factorizer_items;

/* As _load, for `count` items. */
libsolver_status device_factorizer_load_items(device_factorizer *f, const factor_program *program,
                                              const factor_pattern *pattern, libsolver_type type,
                                              int64_t count, message *why);
/* Puts their factorizations on the stream, four launches for all of them, with signs five. */
libsolver_status device_factorizer_launch_items(device_factorizer *f, const factor_program *program,
                                                const factorizer_arguments *arguments,
                                                const factorizer_items *items, message *why);
/* Of one item: bytes of an outcome as it comes from the device, of a workspace, and what the first
 * says.  The scale factors of item i lie i workspaces behind f->scale. */
int64_t device_factorizer_outcome_bytes(void);
int64_t device_factorizer_item_bytes(const factor_program *program, const factor_pattern *pattern,
                                     libsolver_type type);
libsolver_status device_factorizer_outcome_of(const void *outcomes, int64_t item,
                                              cholesky_outcome *outcome, message *why);
/* Bytes that _load takes on the device, but for 4 n in mixed precision. */
int64_t device_factorizer_bytes(const factor_program *program, const factor_pattern *pattern,
                                libsolver_type type);
/* Frees the memory on the device. */
void device_factorizer_drop(device_factorizer *f);

#ifdef __cplusplus
}
#endif
#endif
