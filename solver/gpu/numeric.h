/* solver/gpu/numeric.h: a factor of the GPU backend and what its solves write to, of one precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_GPU_NUMERIC_H
#define SOLVER_GPU_NUMERIC_H

#include "base/owned_tree.h"
#include "base/scalar.h"
#include "gpu/device/device_values.h"
#include "gpu/factor/build.h"
#include "gpu/factor/columns.h"
#include "gpu/factor/device_factorizer.h"
#include "gpu/refine/tree_refine.h"
#include "solver/cpu/backend.h"
#include <omp.h>

#define CPU (&NAME(cpu_backend))

/* What factors in single precision consist of, in mixed precision. */
#if SCALAR_COMPLEX
#define SINGLE_TYPE LIBSOLVER_C
typedef float _Complex narrow;
#else
#define SINGLE_TYPE LIBSOLVER_S
typedef float narrow;
#endif

typedef struct device_plan {
    void *cpu;
    environment *env;
    const value_map *values; /* see backend_problem */
    double entries_factor;
    int substitutes; /* with the factor as it is */
    int may_fall_back;
    int32_t schur_size;     /* rows that are not eliminated: there are half solves alone */
    int mixed;              /* factors are in single precision, as long as that will do */
    factor_program program; /* of factorizations on the device; nodes 0: there is none, ... */
    libsolver_cpu_reason cpu_reason; /* ... and why */
} device_plan;

/* Where a factor is, and what of it is on the host. */
typedef struct factor_state {
    int is_on_device;           /* it was made there; otherwise by the CPU backend */
    int is_packed;              /* for solves on the device */
    int has_values, has_panels; /* values with their scaling, panels: in the CPU backend's object */
} factor_state;

typedef struct device_numeric {
    environment *env;
    const device_plan *plan;
    int32_t n;
    void *cpu;           /* the factor, or what of one on the device is wanted here; */
    tree_solver *solver; /* what was packed of it, */
    tree_matrix *a;      /* and A; NULL: the device could not be had */
    device_values values;
    device_factorizer factorizer;
    const factor_program *program; /* that it has loaded: the plan's, or ... */
    factor_columns columns;        /* of that program, from its first factor that solves are
                                      prepared for while it is made; run NULL: none yet */
    factor_program in_double; /* ... of factors in double where those in single were not enough */
    backend_cholesky calls;   /* what the CPU backend's object is told of it */
    owned_tree tree; /* of factors that are made on the device: without panels, scale is there */
    int was_adopted; /* the factor packed last was one of these */
    factor_state state;
    backend_report made;          /* of the last factor that was made on the device */
    cholesky_request asked;       /* of the last factorization there */
    uint64_t settled;             /* number of the outcome that the state knows of (async_tmpl.c) */
    const void *given;            /* values on the host, while they are factorized */
    libsolver_factor_task *trace; /* where the next factorization puts its tasks, or NULL */
    message *why;                 /* of the factorization at hand */
    omp_lock_t copying;           /* held while something is brought to the host */
    int may_fall_back; /* to solves on the CPU, silently but for the log: solves_on_device tells */
} device_numeric;

typedef struct device_space {
    int64_t columns;
    void *cpu;            /* for what runs on the host */
    tree_workspace *tree; /* NULL: solves here run on the CPU */
    tree_refiner *refiner;
    scalar *b, *x, *block; /* n columns each, on the host: blocks whose refinement goes on there,
                              and one that is solved for */
} device_space;

/* The same columns without padding on the host. */
static inline libsolver_vectors on_host(const libsolver_vectors *v, scalar *values)
{
    libsolver_vectors host = *v;
    host.values = values;
    host.ld = v->layout == LIBSOLVER_ROW_MAJOR ? v->columns : v->rows;
    host.place = LIBSOLVER_HOST;
    return host;
}

/* factorize_tmpl.c: the factor of a plan on the device, and its parts on the host for those who
 * need them there. */
libsolver_status NAME(gpu_factorize)(void *numeric, const backend_options *options,
                                     backend_report *report, message *why);
int64_t NAME(gpu_trace_factorization)(void *numeric, libsolver_factor_task *tasks);
/* The program of factorizations, where there is to be one.  OUT_OF_MEMORY. */
libsolver_status NAME(gpu_plan_factorization)(device_plan *plan, int is_elsewhere, message *why);
/* Its bytes on the device. */
int64_t NAME(gpu_factorization_bytes)(const device_plan *plan);
/* The type of the factors that it makes. */
static inline libsolver_type factor_type(const device_plan *plan)
{
    return plan->mixed ? SINGLE_TYPE : SCALAR_TYPE;
}
void NAME(gpu_factorization_close)(device_numeric *f);
/* The values of A and the scaling of the factor; these and its panels: in f->cpu from now on.  For
 * any number of callers at a time.  OUT_OF_MEMORY, CUDA, CANCELLED. */
libsolver_status NAME(gpu_bring_values)(const device_numeric *f, message *why);
libsolver_status NAME(gpu_bring_factor)(const device_numeric *f, message *why);
/* See backend. */
libsolver_status NAME(gpu_set_device_values)(void *numeric, const void *values, const void *shift,
                                             int *taken, message *why);
libsolver_status NAME(gpu_get_device_values)(const void *numeric, void *values, message *why);
/* On the host alone. */
libsolver_status NAME(gpu_factorize_here)(device_numeric *f, const backend_options *options,
                                          backend_report *report, message *why);
/* After backend.confirm: packs the factor if it is another one.  status: what confirming has come
 * to; reason: that of the CPU before, or of going on there. */
libsolver_status NAME(gpu_confirmed)(device_numeric *f, libsolver_status status,
                                     libsolver_cpu_reason reason, backend_report *report,
                                     message *why);
/* Whether the device was to blame, or its memory. */
static inline int is_of_device(libsolver_status status)
{
    return status == LIBSOLVER_CUDA || status == LIBSOLVER_OUT_OF_DEVICE_MEMORY;
}
/* Whether what the device failed to do is left to the CPU. */
int NAME(gpu_falls_back)(const device_numeric *f, libsolver_status status, const char *what,
                         message *why);

/* async_tmpl.c: see backend */
libsolver_status NAME(gpu_refactorize_async)(void *numeric, const void *values,
                                             libsolver_status *status, int *is_captured,
                                             message *why);
libsolver_status NAME(gpu_settle)(void *numeric, backend_report *report, backend_settled *outcome,
                                  message *why);
libsolver_status NAME(gpu_refactorize)(void *numeric, const void *values, backend_report *report,
                                       backend_settled *outcome, message *why);
/* The same for values that are on the host, in f->given, or, with values NULL, on the device and
 * taken. */
libsolver_status NAME(gpu_make_alike)(device_numeric *f, const void *values, backend_report *report,
                                      backend_settled *outcome, message *why);
/* What a factorization that was waited for has come to, for solves that nobody waits for. */
libsolver_status NAME(gpu_tell_outcome)(device_numeric *f, libsolver_status status, message *why);

/* schur_tmpl.c: see backend; vectors of half solves lie on either side. */
libsolver_status NAME(gpu_schur_complement)(const void *numeric, const libsolver_vectors *s,
                                            message *why);
libsolver_status NAME(gpu_schur_solve)(const void *numeric, int expand, void *workspace,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       message *why);

/* refine_tmpl.c: in a workspace that fits the factor, solving on the device */
libsolver_status NAME(gpu_refine)(const void *numeric, void *workspace, const libsolver_vectors *b,
                                  const libsolver_vectors *x, backend_refinement *refinement,
                                  double *backward_error, message *why);
/* backend.confirm, whose trial solves in such a workspace. */
libsolver_status NAME(gpu_confirm_there)(device_numeric *f, void *workspace,
                                         const backend_options *options, int steps,
                                         double tolerance, backend_report *report, message *why);
libsolver_status NAME(gpu_solve_async)(const void *numeric, void *workspace,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       const backend_refinement *refinement, int remarks,
                                       double *backward_error, libsolver_status *status,
                                       message *why);

#endif
