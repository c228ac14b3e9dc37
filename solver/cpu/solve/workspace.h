/* solver/cpu/solve/workspace.h: solves and what they write to, of one precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_SOLVE_WORKSPACE_H
#define SOLVER_CPU_SOLVE_WORKSPACE_H

#include "solver/cpu/factor/numeric.h"

/* workspace_tmpl.c: what one solve writes to.  A block of c <= columns right-hand sides is kept by
 * rows: row i at i c. */
typedef struct workspace {
    int64_t columns;          /* most right-hand sides at a time */
    int64_t rows;             /* solve_entries that `front` has room for */
    scalar *x;                /* n: right-hand sides, then solutions, scaled, in the plan's order */
    scalar *front;            /* rows: the fronts at hand, forward also those that wait */
    int32_t nodes;            /* supernodes that there is room for */
    _Atomic int32_t *pending; /* 2 nodes: of a supernode what it waits for, then what may begin */
    team_pace pace;           /* of solves */
    void *vectors;            /* what holds the vectors of refinement: */
    scalar *solution, *best, *rhs; /* n each, for refinement: unscaled, in the plan's order */
    wide *residual;                /* n: b - A x */
    real *bound;                   /* n: |A||x| + |b| */
    int cycle;                     /* that `krylov` has room for */
    scalar *krylov;                /* fgmres_entries(n, cycle), for one column */
    real *weight; /* n, for one column: what residuals are divided by; among `vectors` too */
    const cpu_single *single_calls; /* mixed precision: whose ... */
    void *single;     /* ... the workspace of the factor in single precision is, NULL: none */
    double *power;    /* in such a workspace, for each column: what it was multiplied with, ... */
    wide *left;       /* ... and n: what of the right-hand sides has not been solved for yet */
    scalar *singular; /* 4 n for one column, for a factor with zero pivots: see null_space_tmpl.c */
    void (*solve_override)(void *user, int c, void *x); /* does all parts of a solve instead of
                                                        cpu_solve_block; NULL: it does */
    void *override_user;
    /* makes the trial of a factor in single precision; NULL: cpu_refine_trial does */
    libsolver_status (*trial_override)(void *user, backend_refinement *trial, message *why);
    void *trial_user;
} workspace;

/* Threads for what a solve of so many columns shares. */
static inline int workspace_threads(const numeric *f, const workspace *w, int64_t columns)
{
    return is_simplicial(f) ? 1
                            : team_size(&w->pace, cpu_plan_solve_threads(f->plan, columns),
                                        cpu_plan_solve_seconds(f->plan, columns));
}

int64_t NAME(cpu_workspace_bytes)(const void *numeric, int64_t columns);
/* The same without the workspace of a factor in single precision. */
int64_t NAME(cpu_own_workspace_bytes)(const numeric *f, int64_t columns);
libsolver_status NAME(cpu_workspace_create)(const void *numeric, int64_t columns, void **workspace,
                                            message *why);
void NAME(cpu_workspace_destroy)(const void *numeric, void *workspace);
void NAME(cpu_workspace_free)(memory *m, void *workspace);
/* Grows what a refactorization with more delayed columns made too small, and follows it from single
 * precision to double. */
libsolver_status NAME(cpu_workspace_fit)(const numeric *f, workspace *w, message *why);
/* Only that which cpu_solve_block writes to but for x. */
libsolver_status NAME(cpu_workspace_fit_solves)(const numeric *f, workspace *w, message *why);

/* Columns [first, first + c) of the caller's block to and from rows in the plan's order.  row: the
 * caller's row for each; scale: factors in the plan's order, or NULL; threads: that share the rows
 * if there are many.  The caller's block of the other two is in elimination order. */
void NAME(cpu_load)(int32_t n, int c, const libsolver_vectors *from, int64_t first,
                    const int32_t *row, const real *scale, int threads, scalar *to);
void NAME(cpu_store)(int32_t n, int c, const scalar *from, const real *scale, const int32_t *row,
                     int threads, const libsolver_vectors *to, int64_t first);
void NAME(cpu_load_eliminated)(int32_t n, int c, const libsolver_vectors *from, int64_t first,
                               const int32_t *order, scalar *to);
void NAME(cpu_store_eliminated)(int32_t n, int c, const scalar *from, const int32_t *order,
                                const libsolver_vectors *to, int64_t first);

/* solve_tmpl.c */
libsolver_status NAME(cpu_solve)(const void *numeric, int part, void *workspace,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why);
/* w->x, c right-hand sides, by the parts asked for, in place. */
void NAME(cpu_solve_block)(const numeric *f, int part, workspace *w, int c);
/* refine_tmpl.c */
libsolver_status NAME(cpu_refine)(const void *numeric, void *workspace, const libsolver_vectors *b,
                                  const libsolver_vectors *x, backend_refinement *refinement,
                                  double *backward_error, message *why);
/* The same for one right-hand side A x*, x* known; the solution stays in w->best. */
libsolver_status NAME(cpu_refine_trial)(const numeric *f, workspace *w,
                                        backend_refinement *refinement, message *why);
/* null_space_tmpl.c, for one column; entry i of x and residual at i step; CANCELLED.  x := the
 * shortest x + null vector, nearly. */
libsolver_status NAME(cpu_shorten)(const numeric *f, workspace *w, scalar *x, int64_t step,
                                   message *why);
/* residual -= r*, the r* of least |W^-1 r*| that leaves a consistent system.  W: the fourth quarter
 * of w->singular, overwritten. */
libsolver_status NAME(cpu_make_consistent)(const numeric *f, workspace *w, wide *residual,
                                           int64_t step, message *why);
/* inverse_tmpl.c: w->x := (S A S)^-1 w->x, one column; mixed precision: w->rhs and w->solution are
 * overwritten.  known: 0 if that is not exact enough to estimate norms by.  CANCELLED. */
libsolver_status NAME(cpu_times_inverse)(const numeric *f, workspace *w, int *known, message *why);
/* determinant_tmpl.c, condition_tmpl.c: of a factor without zero pivots, but for the determinant */
libsolver_status NAME(cpu_determinant)(const void *numeric, double *log_abs, double *phase_real,
                                       double *phase_imaginary, message *why);
libsolver_status NAME(cpu_condition)(const void *numeric, void *workspace, double *condition,
                                     message *why);
libsolver_status NAME(cpu_forward_error)(const void *numeric, void *workspace,
                                         const libsolver_vectors *b, const libsolver_vectors *x,
                                         double *forward_error, message *why);
/* schur_tmpl.c */
libsolver_status NAME(cpu_schur_complement)(const void *numeric, const libsolver_vectors *s,
                                            message *why);
libsolver_status NAME(cpu_schur_solve)(const void *numeric, int expand, void *workspace,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       message *why);
/* tree_tmpl.c: see backend.view */
void NAME(cpu_view_plan)(const void *plan, backend_plan_view *view);
void NAME(cpu_view)(const void *numeric, backend_view *view);
libsolver_status NAME(cpu_view_tree)(const void *numeric, struct owned_tree *tree, message *why);
libsolver_status NAME(cpu_set_solver)(const void *numeric, void *workspace,
                                      void (*solve)(void *user, int c, void *x), void *user,
                                      message *why);
void NAME(cpu_set_trial)(void *workspace,
                         libsolver_status (*refine)(void *user, backend_refinement *trial,
                                                    message *why),
                         void *user);
/* export_tmpl.c */
libsolver_status NAME(cpu_export_l)(const void *numeric, int64_t *entries, int64_t *pointers,
                                    int64_t *indices, void *values, int64_t *order, message *why);
libsolver_status NAME(cpu_export_d)(const void *numeric, void *diagonal, void *subdiagonal,
                                    message *why);
libsolver_status NAME(cpu_export_scaling)(const void *numeric, void *scaling, message *why);

#endif
