/* base/backend.h: what a backend is: one table of functions, declared once for all
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_BACKEND_H
#define BASE_BACKEND_H

#include "base/environment.h"

struct pattern;
struct forest;
struct owned_tree;

/* What a backend is given by the analysis; it copies what it keeps, but for env, a and forest. */
typedef struct backend_problem {
    environment *env;
    const struct pattern *a; /* lower triangle in the caller's order, duplicates merged, diagonal
                                complete; it and forest outlive the plan */
    const struct forest *forest;
    libsolver_type type;
    libsolver_symmetry symmetry;
    int mixed; /* a factor in single precision is wanted, the type being a double precision one */
    int32_t schur_size;           /* rows that are not eliminated ... */
    const int32_t *schur_rows;    /* ... which forest->perm has one after the other, at the top of
                                     their tree */
    const int8_t *expected_signs; /* n, in the caller's order: pivots without pivoting; NULL: LDL^T
                                     pivots */
    const int32_t *matched_row;   /* n: a matching of all columns of a that was found with some
                                     values, row of each column, ... */
    const double *matched_dual;   /* n: ... and duals of rows; NULL: there is none.  Copied */
    int foresees_cholesky;        /* what predict is to count on: Cholesky or LDL^T, ... */
    int foresees_matching;        /* ... LDL^T with scaling by matching or without */
    int allow_simplicial; /* Cholesky is likely, and nobody but the CPU backend looks at fronts */
    int for_latency;      /* very many solves: what is prepared for them may take any room */
    int for_few;          /* few solves: nothing is prepared for them */
    int may_fall_back;    /* a device that fails, or has no room, leaves its work to the CPU */
} backend_problem;

typedef enum backend_scaling {
    BACKEND_UNSCALED,
    BACKEND_EQUILIBRATE,
    BACKEND_MATCH /* LDL^T: by maximum-product matching; Cholesky: equilibration */
} backend_scaling;

/* How to factorize. */
typedef struct backend_options {
    int positive_definite; /* 1: Cholesky, 0: LDL^T, -1: Cholesky if it succeeds, otherwise LDL^T */
    backend_scaling scaling;
    int may_match; /* scaling by matching may replace equilibration if that delays too many pivots
                      or leaves uncertain ones */
    double pivot_threshold;
    int64_t delay_cap; /* most columns delayed to one front, shared by its children; 0: all, until
                          they need too much room */
    double zero_level; /* LDL^T: a column is zero if its entries are at most so many eps of what was
                          assembled; 0: as few as can be */
} backend_options;

/* What came out of a factorization. */
typedef struct backend_report {
    int cholesky;  /* 1: A = L L^T, 0: A = L D L^T (^H when Hermitian) */
    int in_single; /* the factor is in single precision, the matrix in double */
    int64_t positive, negative, zero, uncertain, two_by_two, delayed, perturbed, growths;
    int64_t small; /* pivots that are not zero but were looked at more closely, whatever came of it
                    */
    double smallest; /* least |eigenvalue| (complex symmetric: singular value) of a nonzero pivot of
                        the scaled matrix */
    int64_t failed_row; /* NOT_POSITIVE_DEFINITE: row of A */
    int64_t factor_nnz, fronts;
    int64_t device_bytes; /* held on a device */
} backend_report;

/* Bits of `part` in solve. */
enum { BACKEND_L = 1, BACKEND_D = 2, BACKEND_LT = 4 };

/* One refinement. */
typedef struct backend_refinement {
    int solve_first; /* 1: x is output only, b may be x.  0: x is refined */
    int stalled; /* plain steps have led to x and gain nothing more: begin with what follows them */
    int steps;   /* most steps; out: most made by a column */
    double tolerance;      /* wanted backward error */
    double initial, final; /* out: largest backward error over the columns, before and after */
} backend_refinement;

/* What another backend may read of a plan and of a factor, to solve with the factor elsewhere.  All
 * of it stays the owner's; what is of a factor holds until it is factorized anew. */
typedef struct backend_plan_view {
    const struct pattern *a; /* lower triangle of P A P^T */
    const int32_t *row_of;   /* n: row of A at each row of P A P^T */
    int hermitian;
    int64_t factor_entries; /* of L as planned, with what padding there is */
} backend_plan_view;

typedef struct backend_view {
    const void *values;    /* of the plan view's a */
    const void *row_sum;   /* n reals: sums of |A|, by rows of P A P^T as ... */
    const void *scale;     /* ... these, n reals: S */
    const int32_t *row_of; /* n */
    int is_singular;       /* there are zero pivots */
    double least_progress; /* a step of plain refinement that does not reduce the backward error to
                              this part of it is the last of its column */
} backend_view;

/* What shapes an order: seconds predicted of a backend's factorizations. */
typedef struct backend_costs {
    /* A front of k pivot columns and m rows, in a factorization and a few solves: by this, fronts
     * are merged. */
    double (*front)(int64_t k, int64_t m);
    /* The same, and of each row of the matrix, in a factorization with ten solves by one thread:
     * by this, orders are compared.  So many rows more wait in the front and stay. */
    double (*ten_solves)(int64_t k, int64_t m, int64_t waiting);
    double row;
} backend_costs;

/* Every function that returns a status and takes a message sets it where it fails. */
typedef struct backend {
    const char *name;
    const backend_costs *costs;
    int takes_device_vectors; /* solves, of all parts at once, and refinement take blocks in device
                                 memory, both or none */
    /* Pattern: the plan of factorizations, shared by numeric objects and not changed by them. */
    libsolver_status (*prepare)(const backend_problem *problem, void **plan, message *why);
    void (*discard)(void *plan);
    /* Bytes that a factor of the kind foreseen takes, with a workspace for one column and all that
     * its first solve takes, if no pivot is delayed, perturbed or zero. */
    void (*predict)(const void *plan, int64_t *host_bytes, int64_t *device_bytes);
    void (*permutation)(const void *plan, int64_t *permutation);
    /* Values. */
    libsolver_status (*create)(const void *plan, void **numeric, message *why);
    void (*destroy)(void *numeric);
    /* values: of the pattern's entries, in its order, which stay until they are factorized.  They
     * are checked before, so this cannot fail. */
    void (*set_values)(void *numeric, const void *values);
    libsolver_status (*factorize)(void *numeric, const backend_options *options,
                                  backend_report *report, message *why);
    /* Mixed precision, with what factorize was given and reported: solves as a solve to this
     * tolerance in so many steps will.  If refinement does not get there, or not soon, the factor
     * becomes one in double precision, and so do later ones.  NULL: nothing to confirm. */
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
    /* See libsolver_solve_async; in device memory: backward_error, NULL or columns, and status,
     * NULL or one.  remarks: bits that the factor adds.  Its arguments are that call's, one by one.
     * NULL: it cannot be had. */
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
    /* For backends that solve with this one's factors; NULL, all four: none can. */
    void (*view_plan)(const void *plan, backend_plan_view *view);
    void (*view)(const void *numeric, backend_view *view);
    /* The factor as dense blocks, see base/owned_tree.h. */
    libsolver_status (*view_tree)(const void *numeric, struct owned_tree *tree, message *why);
    /* From now on `solve` does all parts of the solves that refinements in this workspace need: x,
     * c right-hand sides by rows, scaled, in the order of P A P^T, in place.  NULL: the factor. */
    void (*set_solver)(void *workspace, void (*solve)(void *user, int c, void *x), void *user);
    /* Factors, in elimination order; see libsolver_get_factor_l, _d and _scaling. */
    libsolver_status (*export_l)(const void *numeric, int64_t *entries, int64_t *pointers,
                                 int64_t *indices, void *values, int64_t *order, message *why);
    libsolver_status (*export_d)(const void *numeric, void *diagonal, void *subdiagonal,
                                 message *why);
    libsolver_status (*export_scaling)(const void *numeric, void *scaling, message *why);
} backend;

#endif
