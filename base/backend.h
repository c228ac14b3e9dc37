/* base/backend.h: what a backend is: one table of functions, declared once for all
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_BACKEND_H
#define BASE_BACKEND_H

#include "base/environment.h"
#include "base/factor_pattern.h"
#include "base/value_map.h"

struct factor_program;
struct forest;
struct owned_tree;
struct pattern;

/* What the analysis passes to a backend.  env, a and forest outlive the plan; the backend copies
 * whatever else it keeps. */
typedef struct backend_problem {
    environment *env;
    const struct pattern *a; /* lower triangle in the caller's order, duplicates merged, diagonal
                                complete */
    const struct forest *forest;
    const value_map *values; /* where values that are given go, as long as a; NULL: not known */
    libsolver_type type;
    libsolver_symmetry symmetry;
    int mixed;          /* factorize in single precision although type is a double precision one */
    int32_t schur_size; /* number of rows that are not eliminated, */
    const int32_t *schur_rows;    /* and their indices in A; they are consecutive in
                                     forest->perm, at the top of their tree */
    const int8_t *expected_signs; /* n, in the caller's order: signs of the pivots of LDL^T without
                                     pivoting, or all 0: any; NULL: LDL^T with pivoting */
    const int32_t *matched_row;   /* n: row matched to each column of a, a perfect matching found
                                     with the values at analysis; */
    const double *matched_dual;   /* n: the rows' dual variables; both NULL without a matching */
    int expects_cholesky;         /* predict assumes Cholesky (1) or LDL^T (0), */
    int expects_matching;         /* and for LDL^T scaling by matching (1) or not (0) */
    int keeps_cholesky; /* Cholesky is likely, and nothing but the CPU backend reads its factor,
                           which may lie as solves there like it: by columns, or packed */
    int for_latency;    /* very many solves: preparing for them may take any amount of memory */
    int for_few;        /* few solves: nothing is prepared for them */
    int may_fall_back;  /* if a device fails or lacks memory, the CPU does its work */
    int is_elsewhere;   /* factors are likely to be made by set_cholesky */
} backend_problem;

typedef enum backend_scaling {
    BACKEND_UNSCALED,
    BACKEND_EQUILIBRATE,
    BACKEND_MATCH,     /* LDL^T: by maximum-product matching; Cholesky: equilibration */
    BACKEND_MATCH_MILD /* the same, or equilibration where that keeps unrefined solutions right */
} backend_scaling;

/* How to factorize. */
typedef struct backend_options {
    int positive_definite; /* 1: Cholesky, 0: LDL^T, -1: Cholesky if it succeeds, otherwise LDL^T */
    backend_scaling scaling;
    int may_match; /* scaling by matching may replace equilibration if that delays too many pivots
                      or leaves uncertain ones */
    double pivot_threshold; /* 0: the backend chooses */
    int inertia_effort;     /* libsolver_effort */
    int may_lower;     /* a smaller threshold may be tried if delayed pivots multiply the work */
    int64_t delay_cap; /* limit on the columns delayed to one front, shared by its children; 0: no
                          limit until they need too much memory */
    double zero_level; /* LDL^T: a column is zero if its entries are at most zero_level * eps times
                          the magnitudes assembled into it; 0: as few columns as possible count as
                          zero */
} backend_options;

/* The outcome of a factorization. */
typedef struct backend_report {
    int cholesky;  /* 1: A = L L^T, 0: A = L D L^T (^H when Hermitian) */
    int in_single; /* the factor is in single precision, the matrix in double */
    int64_t positive, negative, zero, uncertain, two_by_two, delayed, perturbed, growths;
    int64_t small; /* nonzero pivots small enough to be examined more closely, whatever the outcome
                    */
    double smallest; /* least |eigenvalue| (complex symmetric: singular value) of a nonzero pivot of
                        the scaled matrix */
    int64_t failed_row; /* NOT_POSITIVE_DEFINITE: row of A ... */
    int bad_diagonal;   /* ... whose diagonal entry said so: no factorization was needed to know */
    int64_t factor_nnz, fronts;
    int64_t device_bytes; /* held on a device */
    int on_device;        /* the factor was made there; otherwise, in the GPU backend, ... */
    libsolver_cpu_reason cpu_reason; /* ... why not */
} backend_report;

/* Whether a factor may be far from A: some of its pivots were changed, or are so near to the
 * rounding errors made that they might have been. */
static inline int report_is_doubtful(const backend_report *report)
{
    return report->perturbed > 0 || report->uncertain > 0;
}

/* Bits of `part` in solve. */
enum { BACKEND_L = 1, BACKEND_D = 2, BACKEND_LT = 4 };

/* The values of libsolver_method, and of what a step was made by. */
enum { REFINE_AUTO, REFINE_PLAIN, REFINE_FGMRES };
enum { STEP_START, STEP_PLAIN, STEP_FGMRES, STEP_SINGULAR };

/* Who hears of each step; called by the thread that refines. */
typedef struct backend_observer {
    /* After a step for some of the columns: how it was made, the largest backward error of theirs.
     * STEP_START: others begin. */
    void (*step)(void *user, int made_by, double backward_error);
    void *user;
} backend_observer;

/* One refinement. */
typedef struct backend_refinement {
    int solve_first;  /* 1: x is output only, b may be x.  0: x is refined */
    int stalled;      /* x comes from plain steps that stalled elsewhere: begin with the method that
                         follows them, unless numbers are so small that they may have stalled for that */
    int steps;        /* in: limit on steps; out: largest number made for a column */
    int cycles;       /* most cycles of FGMRES among them for a column; 0: any number */
    int method;       /* plain steps, then FGMRES where they stall; or one of the two alone */
    double tolerance; /* wanted backward error */
    const backend_observer *observer; /* NULL: nobody */
    double initial, final; /* out: largest backward error over the columns, before and after */
} backend_refinement;

/* What another backend may read of a plan and of a factor, to solve with the factor elsewhere.  The
 * owning backend keeps all arrays; those of a factor are valid until the next factorization. */
typedef struct backend_plan_view {
    const struct pattern *a;     /* lower triangle of P A P^T */
    const struct pattern *given; /* of A, as it was analysed */
    const int32_t *row_of;       /* n: row of A at each row of P A P^T */
    int hermitian;
    int64_t factor_entries; /* of L as planned, padding included */
    int64_t host_bytes;     /* as predict, of a factor that the owning backend makes */
    factor_pattern fronts;  /* nodes 0: there are none */
    double doubt_level;     /* Cholesky: a pivot is uncertain where it is at most so many times the
                               diagonal entry from which it started */
} backend_plan_view;

typedef struct backend_view {
    const void *scale;     /* n reals: the diagonal of S, in the order of P A P^T */
    const int32_t *row_of; /* n */
    int is_singular;       /* there are zero pivots */
    double least_progress; /* plain refinement of a column ends after a step that does not reduce
                              its backward error to at most this fraction */
} backend_view;

/* What a plan of a backend that works on a device has, for those who go on without that backend. */
typedef struct backend_device_view {
    const struct backend *cpu;            /* the CPU backend, */
    void *cpu_plan;                       /* and its plan of the same problem */
    const struct factor_program *program; /* gpu/factor/program.h; NULL: there is none, */
    libsolver_cpu_reason cpu_reason;      /* and why */
} backend_device_view;

/* A factorization by Cholesky, or with expected signs. */
typedef struct cholesky_request {
    backend_scaling scaling;
    int in_single;      /* mixed precision: of S A S, rounded to single precision ... */
    double shift;       /* ... after its diagonal was multiplied by 1 + shift; otherwise 0 */
    double doubt_level; /* a pivot is uncertain where it is at most so many times the diagonal
                           entry from which it started */
} cholesky_request;

/* Who makes Cholesky factors for an object of a backend, and those with expected signs, which keeps
 * to its own rules for what follows. */
typedef struct backend_cholesky {
    void *user;
    /* Factorizes the values there are: OK, NOT_POSITIVE_DEFINITE (with signs: a pivot would have to
     * be put right), or why it cannot be done.  Of the report it sets smallest, uncertain, and
     * failed_row with bad_diagonal.  If pivots of a factor in A's precision are uncertain it has
     * also brought the factor (take_factor). */
    libsolver_status (*factorize)(void *user, const cholesky_request *request,
                                  backend_report *report);
    /* Calls set_values. */
    libsolver_status (*bring_values)(void *user);
} backend_cholesky;

/* What has come of refactorizations that were not waited for. */
typedef enum backend_settled {
    BACKEND_UNCHANGED, /* there were none since the last call */
    BACKEND_ADOPTED,   /* the last has made the factor, the report is that of it */
    BACKEND_REFUSED,   /* its values were not good: there is no factor, and the values are lost */
    BACKEND_AGAIN /* it has failed, or left something to be decided, on good values: they are to
                     be factorized once more, with a wait */
} backend_settled;

/* Predicted seconds of a backend's factorizations, by which orders are made and compared. */
typedef struct backend_costs {
    /* Of a front of k pivot columns and m rows, in a factorization and a few solves.  Decides which
     * fronts are merged. */
    double (*front)(int64_t k, int64_t m);
    /* Of the front in a factorization and ten solves by one thread, when `waiting` further rows
     * pass through it uneliminated; row: the same of each row of the matrix; column: of each column
     * on the longest path.  Orders are compared by the sum of all. */
    double (*ten_solves)(int64_t k, int64_t m, int64_t waiting);
    double row, column;
} backend_costs;

/* Every function that returns a status and takes a message sets it where it fails. */
typedef struct backend {
    const char *name;
    const backend_costs *costs, *cholesky_costs; /* the second where Cholesky is likely, or signs
                                                    are expected */
    int takes_device_vectors; /* solves, of all parts at once, and refinement take blocks in device
                                 memory, both or none */
    /* Pattern: the plan of factorizations, shared by numeric objects and not changed by them. */
    libsolver_status (*prepare)(const backend_problem *problem, void **plan, message *why);
    void (*discard)(void *plan);
    /* Bytes of a factor of the predicted kind, of a workspace for one column and of everything its
     * first solve allocates, if no pivot is delayed, perturbed or zero. */
    void (*predict)(const void *plan, int64_t *host_bytes, int64_t *device_bytes);
    void (*permutation)(const void *plan, int64_t *permutation);
    /* Values. */
    libsolver_status (*create)(const void *plan, void **numeric, message *why);
    void (*destroy)(void *numeric);
    /* values: of the pattern's entries, in its order; they must stay valid until factorize returns.
     * The caller has checked them, so this cannot fail. */
    void (*set_values)(void *numeric, const void *values);
    /* Instead: values in device memory as they are given (backend_problem.values), NULL: those that
     * were given so last, plus a shift of the diagonal, n scalars on the host or there, or NULL.
     * *taken: 0 if a value or a sum is not good, or the device cannot do it: nothing has changed
     * then.  The second: those of the last call, without the shift, in the pattern's order.  NULL:
     * values come from the host alone. */
    libsolver_status (*set_device_values)(void *numeric, const void *values, const void *shift,
                                          int *taken, message *why);
    libsolver_status (*get_device_values)(const void *numeric, void *values, message *why);
    libsolver_status (*factorize)(void *numeric, const backend_options *options,
                                  backend_report *report, message *why);
    /* Both, without a shift, for values on the device and a factor that is to be made as the last
     * one was, with one wait.  ADOPTED: that is done; AGAIN: the values are taken and are to be
     * factorized; UNCHANGED: a value is not good, or it cannot be done so, and nothing has changed;
     * REFUSED: it failed, there is no factor, and values are to be set again.  After CANCELLED the
     * values are taken and there is no factor, after other failures there are neither.  NULL: it
     * never can. */
    libsolver_status (*refactorize)(void *numeric, const void *values, backend_report *report,
                                    backend_settled *outcome, message *why);
    /* See libsolver_refactorize_async: `values` as for set_device_values, no shift.  *is_captured:
     * the stream is being captured, and the factor may change whenever the graph is launched. After
     * NOT_BUILT the factor is as before, after other failures there is none.  NULL: factors cannot
     * be made so. */
    libsolver_status (*refactorize_async)(void *numeric, const void *values,
                                          libsolver_status *status, int *is_captured, message *why);
    /* Waits for these.  A status that is not OK: of BACKEND_REFUSED, or why it cannot be known. The
     * report: that of the last factorization with a wait.  Where the stream is being captured
     * nothing is waited for, and nothing has changed. */
    libsolver_status (*settle)(void *numeric, backend_report *report, backend_settled *outcome,
                               message *why);
    /* The next factorization tells in `tasks` what each of its tasks did on a device, see
     * libsolver_refactorize_traced; NULL: it does not.  Returns their number, 0: factors are made
     * on the CPU.  NULL: they always are. */
    int64_t (*trace_factorization)(void *numeric, libsolver_factor_task *tasks);
    /* Mixed precision, with the options and report of factorize: makes a trial solve with this
     * tolerance and limit on steps.  If refinement fails to reach the tolerance, or is slow, the
     * factor is replaced by one in double precision, and later ones are in double precision too.
     * NULL: nothing to confirm. */
    libsolver_status (*confirm)(void *numeric, void *workspace, const backend_options *options,
                                int steps, double tolerance, backend_report *report, message *why);
    /* Solves.  Workspaces hold `columns` right-hand sides; wider blocks go in panels. */
    int64_t (*workspace_bytes)(const void *numeric, int64_t columns);
    libsolver_status (*workspace_create)(const void *numeric, int64_t columns, void **workspace,
                                         message *why);
    void (*workspace_destroy)(const void *numeric, void *workspace);
    libsolver_status (*solve)(const void *numeric, int part, void *workspace,
                              const libsolver_vectors *b, const libsolver_vectors *x, message *why);
    /* Whether solves in this workspace run on a device.  NULL: they never do. */
    int (*solves_on_device)(const void *numeric, const void *workspace);
    /* See libsolver_solve_traced.  NULL: solves cannot be traced. */
    libsolver_status (*trace)(const void *numeric, void *workspace, const libsolver_vectors *b,
                              const libsolver_vectors *x, int64_t capacity, libsolver_task *tasks,
                              int64_t *count, message *why);
    libsolver_status (*refine)(const void *numeric, void *workspace, const libsolver_vectors *b,
                               const libsolver_vectors *x, backend_refinement *refinement,
                               double *backward_error, message *why);
    /* See libsolver_solve_async, whose arguments these are.  backward_error (columns) and status
     * (one) are in device memory, or NULL.  remarks: status bits that the factor contributes.  A
     * NULL entry: the backend has no asynchronous solve. */
    libsolver_status (*solve_async)(const void *numeric, void *workspace,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    const backend_refinement *refinement, int remarks,
                                    double *backward_error, libsolver_status *status, message *why);
    /* See libsolver_determinant, _condition and _forward_error. */
    libsolver_status (*determinant)(const void *numeric, double *log_abs, double *phase_real,
                                    double *phase_imaginary, message *why);
    libsolver_status (*condition)(const void *numeric, void *workspace, double *condition,
                                  message *why);
    libsolver_status (*forward_error)(const void *numeric, void *workspace,
                                      const libsolver_vectors *b, const libsolver_vectors *x,
                                      double *forward_error, message *why);
    /* See libsolver_schur_complement, _condense (expand: 0) and _expand (b is x). */
    libsolver_status (*schur_complement)(const void *numeric, const libsolver_vectors *s,
                                         message *why);
    libsolver_status (*schur_solve)(const void *numeric, int expand, void *workspace,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    message *why);
    /* Of a backend that works on a device; otherwise NULL. */
    void (*view_device)(const void *plan, backend_device_view *view);
    /* For backends that factorize for this one or solve with its factors; if none can, all of these
     * are NULL. */
    void (*view_plan)(const void *plan, backend_plan_view *view);
    void (*view)(const void *numeric, backend_view *view);
    /* The factor as dense blocks, see base/owned_tree.h. */
    libsolver_status (*view_tree)(const void *numeric, struct owned_tree *tree, message *why);
    /* Cholesky factors of this object are made by these calls from now on; NULL: here. */
    void (*set_cholesky)(void *numeric, const backend_cholesky *calls);
    /* Of the factor that was made so last and the values set last: its scaling, computed here, or
     * scale as in a factor_tree where that is not NULL; room here for its panels and D, and where
     * those of the nodes go, as in a factor_tree.  OUT_OF_MEMORY, CANCELLED. */
    libsolver_status (*take_scaling)(void *numeric, backend_scaling scaling, const void *scale,
                                     message *why);
    libsolver_status (*take_factor)(void *numeric, void **panel, void **d, void **e, message *why);
    /* Refinement in this workspace solves by calling `solve` from now on, which overwrites x (c
     * right-hand sides by rows, scaled, in the order of P A P^T, in the precision of the factor)
     * with the solution.  NULL: by the factor itself again.  OUT_OF_MEMORY. */
    libsolver_status (*set_solver)(const void *numeric, void *workspace,
                                   void (*solve)(void *user, int c, void *x), void *user,
                                   message *why);
    /* Mixed precision: confirm makes its trial in this workspace by calling `refine` from now on: a
     * refinement as asked of A x = b, b = A x* with x* = 1 + 0.1 (k mod 7) in row k of P A P^T.
     * NULL: by itself again. */
    void (*set_trial)(void *workspace,
                      libsolver_status (*refine)(void *user, backend_refinement *trial,
                                                 message *why),
                      void *user);
    /* Factors, in elimination order; see libsolver_get_factor_l, _d and _scaling. */
    libsolver_status (*export_l)(const void *numeric, int64_t *entries, int64_t *pointers,
                                 int64_t *indices, void *values, int64_t *order, message *why);
    libsolver_status (*export_d)(const void *numeric, void *diagonal, void *subdiagonal,
                                 message *why);
    libsolver_status (*export_scaling)(const void *numeric, void *scaling, message *why);
} backend;

#endif
