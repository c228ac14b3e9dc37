/* gpu/packed/tree_solver.h: a factor packed for solves on one device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PACKED_TREE_SOLVER_H
#define GPU_PACKED_TREE_SOLVER_H

#include "base/environment.h"
#include "base/factor_tree.h"
#include "gpu/device/column_words.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device_solver;
struct device_workspace;
struct plan_tuning;

typedef struct tree_solver tree_solver;
typedef struct tree_workspace tree_workspace;

typedef struct tree_solver_options {
    double entries_factor;         /* most entries of all inverses, in entries of L; 0: no limit */
    double growth_limit;           /* of an inverse; 0: the default */
    double step, bytes_per_second; /* what layers are chosen by: s from group to group, and the rate
                                      of reading; 0: an H200's */
    int64_t largest_group;         /* most columns that are inverted together; 0: the default */
    int64_t solves, largest_part;  /* see prepare_options */
    const struct plan_tuning *tuning; /* of programs, see gpu/plan/plan.h; NULL: the default */
    double patience; /* seconds that a block waits for another before the solve gives up; 0: 2 */
    int by_levels; /* one launch for each level, without waits: also where a device cannot hold all
                      blocks at once */
    int invert_on_host; /* the inverses; otherwise on the device */
    int substitute;     /* with the factor as it is (gpu/substitute/substitution.h), instead of
                           preparing inverses; the options above but patience mean nothing then */
} tree_solver_options;

/* What was prepared. */
typedef struct tree_solver_info {
    int64_t factors, plans; /* so far: factors that were packed, and plans made for them; the others
                               took the plan before */
    int64_t factor_entries, entries; /* of L as the tree holds it, of the inverses */
    int64_t bytes_read;              /* by one solve, of values and descriptions */
    int64_t device_bytes;            /* held, without workspaces: the program, and invert_bytes */
    int64_t allocations;             /* of device memory by packing, so far */
    int32_t groups, heights, levels, guarded;
    double growth;        /* largest row sum of |L||inv(L)| of a group */
    double seconds;       /* of preparation; of these, and the rest is the upload of the program: */
    double plan_seconds;  /* groups and program, on the host */
    double load_seconds;  /* the factor's way to the device */
    double table_seconds; /* tables of the inversion, on the host */
    double invert_seconds; /* the inverses */
    int64_t invert_bytes;  /* on the device, kept for the next factor: this one, its tables,
                              workspace */
    int64_t tasks;
} tree_solver_info;

/* On env's device and stream (NULL: a stream of its own, never the legacy default one).  The device
 * that was current is current again afterwards, here and below.  OUT_OF_MEMORY, CUDA, NOT_BUILT. */
libsolver_status tree_solver_create(environment *env, const tree_solver_options *options,
                                    tree_solver **solver, message *why);
void tree_solver_free(tree_solver *solver);
/* Takes over a factor, with tree->wide_scale one that solves for vectors in double precision
 * (gpu/solve/narrowing.h); what was packed before is replaced, also when this fails.  A factor of
 * the shape of the one before (gpu/tree/tree_shape.h) takes its plan and its memory, unless its
 * inverses need to be cut finer (gpu/packed/prepare.h); then only values are copied and computed,
 * nothing is allocated on the device, and captured solves stay right.  Solves on streams other than
 * the solver's must have ended.  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA, CANCELLED, INTERNAL. */
libsolver_status tree_solver_pack(tree_solver *solver, const factor_tree *tree, message *why);
/* For a factor that is made on the device: memory for its panels, which lie as in
 * gpu/device/device_factor.h, leading dimensions as in the tree, whose own panels are not read.
 * What was packed before can not be solved with any more.  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY,
 * CUDA. */
libsolver_status tree_solver_reserve(tree_solver *solver, const factor_tree *tree, void **panels,
                                     message *why);
/* Those of a factor of the same shape that is there. */
void *tree_solver_panels(const tree_solver *solver);
/* tree_solver_pack for the factor that was made there; its scale is on the device.
 * is_same_shape: the tree is that of the last call of this function or _pack.  progress: NULL, or
 * how those who make such factors tell of their columns.  After a failure the
 * panels are still there. */
libsolver_status tree_solver_adopt(tree_solver *solver, const factor_tree *tree, int is_same_shape,
                                   const column_progress *progress, message *why);
/* The same without a wait, for a factor of the shape of the last one that _adopt has taken: by then
 * the stream will have brought its panels, where they were for that one.  words: NULL, or those by
 * which it tells of its columns.  Nothing is allocated.  CUDA. */
libsolver_status tree_solver_adopt_async(tree_solver *solver, const unsigned *words, message *why);
/* Behind that: by then the stream will have brought n scale factors and the outcome of the
 * factorization, both where they were for the last factor, on the device, and the flaws of its
 * values.  What it came to is told by _outcome, to solves by _status and to the caller by *status
 * (on the device, or NULL).  keeps: see outcome_arguments.  Nothing is allocated.  CUDA; a call
 * after _outcome_set may bring another factor. */
libsolver_status tree_solver_judge(tree_solver *solver, const void *scale, const void *outcome,
                                   int keeps, libsolver_status *status, message *why);
/* Before such a factorization, by `made_by`, is put on the stream: *count words on the device that
 * it is to clear, so that what prepares solves may begin before it ends. */
libsolver_status tree_solver_expect(tree_solver *solver, const void *made_by, unsigned **words,
                                    int32_t *count, message *why);
/* Whether that can be done. */
int tree_solver_adopts_async(const tree_solver *solver);
struct device_outcome;
/* Where outcomes are kept; open from an _adopt until what is packed is dropped. */
struct device_outcome *tree_solver_outcome(tree_solver *solver);
/* On the device: the status of the factor, OK or a failure, that a solve which nobody waits for is
 * to report; NULL where outcomes are not open. */
const int32_t *tree_solver_status(const tree_solver *solver);
/* That factor to the host, see device_factor_fetch. */
libsolver_status tree_solver_fetch(tree_solver *solver, const factor_tree *tree, void *const *panel,
                                   void *const *d, void *const *e, message *why);
/* Gives back what it holds on the device for factors. */
void tree_solver_drop(tree_solver *solver);
void tree_solver_query(const tree_solver *solver, tree_solver_info *info);
/* The stream on which it works. */
void *tree_solver_stream(const tree_solver *solver);
/* Whether what is packed is in single precision, for vectors in double. */
int tree_solver_is_mixed(const tree_solver *solver);
/* Its part in device_solver.h, and that of a workspace. */
const struct device_solver *tree_solver_device(const tree_solver *solver);
const struct device_workspace *tree_workspace_device(const tree_workspace *workspace);

/* Device memory that one solve at a time writes to, of up to `columns` right-hand sides together;
 * wider blocks go in panels.  Serves what is packed now, and later packings after
 * tree_workspace_fit. */
libsolver_status tree_workspace_create(const tree_solver *solver, int64_t columns,
                                       tree_workspace **workspace, message *why);
/* Takes what solves of blocks on the host pass through, which otherwise the first of them does. */
libsolver_status tree_workspace_stage(const tree_solver *solver, tree_workspace *workspace,
                                      message *why);
int64_t tree_workspace_bytes(const tree_solver *solver, int64_t columns);
void tree_workspace_free(tree_workspace *workspace);

/* X := A^-1 B, both n x columns on the device, X = B allowed.  Asynchronous on `stream` (NULL: the
 * solver's): nothing is allocated, and no more than one kernel is launched for each panel, so that
 * it can be captured.  INVALID, CUDA. */
libsolver_status tree_solve(const tree_solver *solver, tree_workspace *workspace, void *stream,
                            const libsolver_vectors *b, const libsolver_vectors *x, message *why);
/* The same for blocks on the host, through page-locked memory of the workspace: one copy in, one
 * out.  Waits; the status is tree_solve_check's. */
libsolver_status tree_solve_host(const tree_solver *solver, tree_workspace *workspace,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why);
/* A block on the device to or from a host block of the same layout without padding.  Waits. */
libsolver_status tree_solver_get(const tree_solver *solver, const libsolver_vectors *from, void *to,
                                 message *why);
libsolver_status tree_solver_put(const tree_solver *solver, const void *from,
                                 const libsolver_vectors *to, message *why);
/* Makes a workspace serve what is packed now; it allocates if that needs other room. */
libsolver_status tree_workspace_fit(const tree_solver *solver, tree_workspace *workspace,
                                    message *why);
/* One solve, of blocks on the device, and what each of its info.tasks tasks did, in its last
 * panel.  Waits.  NOT_BUILT by levels; OUT_OF_MEMORY, and tree_solve_check's. */
libsolver_status tree_solve_traced(const tree_solver *solver, tree_workspace *workspace,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   libsolver_task *task, message *why);
/* Waits for the solves on this workspace: CUDA if one of them failed or gave up waiting for a
 * block. */
libsolver_status tree_solve_check(const tree_solver *solver, tree_workspace *workspace,
                                  void *stream, message *why);

#ifdef __cplusplus
}
#endif
#endif
