/* solver/libsolver.h: sparse symmetric and Hermitian systems A x = b by Cholesky (A = L L^T) and
 * LDL^T, on the CPU and on the GPU
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Three calls solve a system (simple level):
 *
 *     libsolver_factor *F;
 *     libsolver_factor_matrix(&A, NULL, &F);       // analyse and factorize; NULL: default options
 *     libsolver_solve(F, &b, &x);                  // solve, refine, check; > 0: remark, < 0: error
 *     libsolver_factor_free(F);
 *
 * and the phases can be had one by one (explicit level), when one pattern has many values or one
 * factor many solves:
 *
 *     libsolver_context_create(&options, &context);    // where to run, whose memory, whom to tell
 *     libsolver_analyze(context, &A, &options, &S);    // pattern: ordering, tree, memory predicted
 *     libsolver_factorize(S, &A, &F);                  // values; one analysis serves many factors
 *     libsolver_refactorize(F, &A);                    // new values; nothing is allocated
 *     libsolver_solve_plain(F, LIBSOLVER_PART_ALL, W, &b, &x);    // one pass; nothing is checked
 *     libsolver_refine(F, W, &b, &x, errors);          // refinement, each column's backward error
 *
 * Types.  Real and complex, single and double precision.  A real or complex symmetric A has factors
 * L L^T or L D L^T, a complex Hermitian one L L^H or L D L^H with a real diagonal of D; L^T below
 * means L^H then.  Complex symmetric matrices have neither Cholesky factors nor an inertia.
 *
 * Mixed precision (options.mixed), for matrices of type D and Z.  The scaled matrix is factorized
 * in single precision, which halves L and about halves the time; A, vectors and residuals stay in
 * double.  libsolver_solve_plain is then accurate to single precision; libsolver_solve and
 * libsolver_refine reach the tolerance of double precision, by FGMRES where A is ill-conditioned. A
 * pivot that is zero up to rounding in single precision need not be zero in double: it is replaced
 * by a small positive one and counts as perturbed, so SINGULAR means that rows of A are empty.  An
 * inertia is certain if single precision can tell.  Where pivots were replaced or have uncertain
 * signs, factorize tries a solve; if that does not reach the tolerance in few steps, the factor is
 * made in double precision, and everything, later refactorizations included, is as without
 * options.mixed (libsolver_factor_info.precision tells).  Without the memory for that, solves may
 * be INACCURATE.  A workspace holds up to 41 vectors for FGMRES, as for factors with perturbed
 * pivots.
 *
 * On the GPU mixed precision is for memory and for plain solves: L, inverses and substitution are
 * in single, scaling, residuals and refinement in double, all of it on the device; products of the
 * factorization are made in double precision, so that it gains less than a fifth.  Cholesky
 * factors, those with a larger diagonal and the ones in double that take over are made there, L D
 * L^T by the CPU (with expected signs too, and batches: LIBSOLVER_CPU_MIXED).  Small pivots leave
 * the inertia of a Cholesky factor uncertain without a closer look.  A pass of substitution counts
 * entries of a right-hand side as zero that are, scaled, less than 2^-90 of its largest; refinement
 * makes up for them.
 *
 * Threads.  Different objects may be used at the same time.  Any number of threads may share an
 * analysis, or solve with one factor if each brings its own workspace; factorize and refactorize
 * need the factor alone.  A context uses at most four threads for each processor.
 *
 * Results.  The same calls give the same bits on every run and for any number of threads (one CPU
 * model, one number of right-hand sides in a call; with BACKEND_AUTO and a GPU: one
 * number of processors).
 *
 * Memory.  A context must outlive its analyses, an analysis its factors, a factor its
 * workspaces.  Every *_free takes NULL.  What the OpenMP runtime and METIS take for
 * themselves, and page-locked memory of the GPU backend, go around `allocate`. */
#ifndef LIBSOLVER_H
#define LIBSOLVER_H

#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIBSOLVER_VERSION_MAJOR 0
#define LIBSOLVER_VERSION_MINOR 1
#define LIBSOLVER_VERSION_PATCH 0

typedef struct libsolver_context libsolver_context;
typedef struct libsolver_analysis libsolver_analysis;
typedef struct libsolver_factor libsolver_factor;
typedef struct libsolver_workspace libsolver_workspace;

/* ---- Options --------------------------------------------------------------------------------- */

/* The enums of options, which say what each value means, stand in libsolver_types.h. */

/* What options.progress tells of. */
typedef enum libsolver_phase {
    LIBSOLVER_PHASE_ANALYZE = 0,
    LIBSOLVER_PHASE_FACTORIZE = 1, /* refactorizations too */
    LIBSOLVER_PHASE_SOLVE = 2      /* libsolver_solve, _refine and what is called _within */
} libsolver_phase;

/* Filled by libsolver_options_default; the reserved tail must stay zero. */
typedef struct libsolver_options {
    /* read by libsolver_context_create (and libsolver_factor_matrix) */
    libsolver_backend backend;
    int device;   /* CUDA device number */
    void *stream; /* cudaStream_t on which the GPU backend works */
    int threads;  /* CPU threads, 0: as OpenMP says; at most four for each processor are used */
    /* NULL: malloc and free; both or none.  Aligned as malloc does; called from several threads. */
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
    void *memory_user;
    int64_t memory_limit; /* host bytes in use by this context, 0: none; OUT_OF_MEMORY above it */
    /* NULL: silence.  A sentence at the end of each phase, and on what was decided in it */
    void (*log)(void *user, const char *sentence);
    void *log_user;
    /* nonzero: CANCELLED.  Polled before each front and many times inside large ones, once a sweep
     * over the matrix and once a refinement step; called from several threads */
    int (*cancel)(void *user);
    void *cancel_user;

    /* read by libsolver_analyze (and libsolver_factor_matrix) and kept for what follows */
    libsolver_kind kind;
    libsolver_ordering ordering;
    /* ORDERING_USER: length n, permutation[k] = the row eliminated k-th, 0-based; copied */
    const int64_t *permutation;
    /* scaling and ordering by maximum-product matching, for hard indefinite matrices.  AUTO: rows
     * that it pairs are eliminated together where that is predicted to take less time than the
     * delayed pivots that it saves; it scales where these pairs need it, or where equilibration
     * leaves more in doubt */
    libsolver_choice matching;
    /* equilibration by powers of two; AUTO is ON.  OFF: none, unless entries lie beyond 2^-500 and
     * 2^500 (single precision: 2^-60 and 2^60; mixed: more than 2^60 below the largest), whose
     * pivots might have no reciprocals.  Scale factors keep to these limits too: a row that wants
     * one beyond may have a zero pivot, which is uncertain then */
    libsolver_choice scaling;
    /* u in (0, 0.5]: an accepted LDL^T pivot keeps |L| <= 1 / u, in the first attempt;
     * inertia_effort tells of others.  0, the default: 0.01, or 1e-6 for values that delay so many
     * pivots with it that the work is multiplied and that 1e-6 would accept; found out by the first
     * factorization, kept by later ones, given up when it leaves pivots in doubt */
    double pivot_threshold;
    libsolver_purpose purpose;
    /* most refinement steps in libsolver_solve and libsolver_refine, a cycle of FGMRES counting as
     * one; 0: only check; default 10 */
    int refine_steps;
    double tolerance; /* wanted backward error; 0: 1e-14, in single precision 5e-6 */
    /* keep what libsolver_get_factor_l and _d return; the CPU backend always can */
    libsolver_choice keep;
    /* ON: the factor in single precision where that is enough, INVALID for types S and C; AUTO is
     * OFF */
    libsolver_choice mixed;
    /* KIND_QUASI_DEFINITE: length n, +1 or -1: sign of the pivot of each row; copied.  D is
     * diagonal; a pivot that is rounding error or has the other sign is given the expected one and
     * a size of at least sqrt(eps), and counts as perturbed [Vanderbei 1995].  If A is complex
     * symmetric, these are the signs of the pivots' real parts, all 1 if A's real part is positive
     * definite (and L does not grow if the imaginary part is too [Higham 1998]); a real part that
     * is rounding error beside the imaginary one may have either sign.  NULL, for complex symmetric
     * A alone: any sign will do, and only pivots that are rounding error are replaced */
    const int8_t *expected_signs;
    /* LDL^T with pivoting: most columns that wait for a stable pivot in a parent front; its
     * children have equal parts of it.  Those past it get the best pivot there is, raised to
     * sqrt(eps) of the column's largest entry if need be, and count as perturbed [Duff, Pralet
     * 2007].  0: no cap, unless the factor would grow to tens of times what was predicted */
    int64_t delay_cap;
    /* length schur_size, distinct, 0-based; copied: rows that are not eliminated; see
     * libsolver_schur_complement */
    const int64_t *schur_rows;
    int64_t schur_size;

    /* further attempts of LDL^T when pivots are in doubt */
    libsolver_effort inertia_effort;

    /* Read by libsolver_context_create; NULL: silence.  What part of a phase is done: 0 when it
     * begins, 1 when it ends well; while a factorization on the CPU goes on also after each percent
     * of the flops foreseen, from 0 again in each further attempt; while columns are solved for
     * after each group of them.  Called by the thread that called the library or by one of the
     * threads that work for it, never by two at a time in one call, and with work waiting: it
     * should return soon, and must not call the library with the objects at work. */
    void (*progress)(void *user, libsolver_phase phase, double fraction);
    void *progress_user;

    int64_t reserved[10];
} libsolver_options;

/* Defaults as stated above; all enums at their zero. */
LIBSOLVER_API void libsolver_options_default(libsolver_options *options);

/* "MAJOR.MINOR.PATCH" of the library that is linked. */
LIBSOLVER_API const char *libsolver_version(void);

/* The largest instruction set that kernels of the CPU backend are taken from, by what this
 * processor and the build have: "AVX-512", "AVX2" (with FMA) or "plain", what every processor of
 * the family has.  Results are the same on every run with one set; with another their last bits may
 * differ. */
LIBSOLVER_API const char *libsolver_instruction_set(void);

/* ---- Simple level ---------------------------------------------------------------------------- */

/* Analyses and factorizes A (values wanted).  options: NULL for the defaults.  *factor owns
 * everything behind it; it is not NULL, even after a failure, unless memory ran out at once, so
 * that its message can be read; free it in every case. INVALID, NONFINITE, NOT_POSITIVE_DEFINITE
 * (KIND_SPD), OUT_OF_MEMORY, NOT_BUILT, CANCELLED, CUDA; SINGULAR > 0 is usable. */
LIBSOLVER_API libsolver_status libsolver_factor_matrix(const libsolver_matrix *a,
                                                       const libsolver_options *options,
                                                       libsolver_factor **factor);

/* Solves A X = B for n x columns blocks of the factor's type, refines with at most
 * options.refine_steps steps and checks: OK means that the componentwise backward error of every
 * column (libsolver_solve_info.backward_error) is at most the tolerance.  X may be B.  GPU backend:
 * both may lie in device memory; the call waits for the end.  Uses the factor's own workspace,
 * which grows at the first call with more columns; a second call on it at the same time is refused
 * (INVALID): concurrent callers use libsolver_solve_plain and libsolver_refine with workspaces of
 * their own.  SINGULAR, INACCURATE, PERTURBED; INVALID, NONFINITE (in B), OUT_OF_MEMORY, CANCELLED.
 */
LIBSOLVER_API libsolver_status libsolver_solve(libsolver_factor *factor, const libsolver_vectors *b,
                                               const libsolver_vectors *x);

LIBSOLVER_API void libsolver_factor_free(libsolver_factor *factor);

/* The sentence on the latest failed call on this object, "" if there is none; and the place in the
 * library's source, "file:line", that found the failure, which a report of a fault should name.
 * Both are valid until the next call.  Of the context NULL: on the latest failed call of this
 * thread that had no object to keep it, libsolver_context_create or libsolver_devices. */
LIBSOLVER_API const char *libsolver_factor_message(const libsolver_factor *factor);
LIBSOLVER_API const char *libsolver_factor_place(const libsolver_factor *factor);
LIBSOLVER_API const char *libsolver_context_message(const libsolver_context *context);
LIBSOLVER_API const char *libsolver_context_place(const libsolver_context *context);

/* ---- Explicit level -------------------------------------------------------------------------- */

/* Where to run and with what.  options: NULL for the defaults.  INVALID, OUT_OF_MEMORY, NOT_BUILT,
 * CUDA. */
LIBSOLVER_API libsolver_status libsolver_context_create(const libsolver_options *options,
                                                        libsolver_context **context);
LIBSOLVER_API void libsolver_context_free(libsolver_context *context);

/* Ordering, elimination tree, supernodes and the plan of the factorization, from A's
 * pattern.  a->values may be NULL; if they are there, A may be indefinite and options.matching is
 * not OFF, rows that need 2x2 pivots may be ordered in pairs [Duff, Pralet 2005].  Without values
 * that is decided by the first ones that libsolver_factorize gets (from the host): where they call
 * for pairs, the factor gets an order and a plan of its own, which take about the time and memory
 * of another analysis; later analyses with values spare that.  The log and
 * libsolver_factor_info.analysis_seconds tell; libsolver_permutation and libsolver_analysis_query
 * are about the order here.  Duplicates, order, base, triangle: see libsolver_matrix.  The message
 * of a failure is the context's.  INVALID (sizes, indices, a wrong triangle, a permutation, signs
 * or schur_rows that are none), NONFINITE (values that were looked at), OUT_OF_MEMORY, NOT_BUILT
 * (type), CANCELLED. */
LIBSOLVER_API libsolver_status libsolver_analyze(libsolver_context *context,
                                                 const libsolver_matrix *a,
                                                 const libsolver_options *options,
                                                 libsolver_analysis **analysis);
LIBSOLVER_API void libsolver_analysis_free(libsolver_analysis *analysis);

/* Factorizes P S A S P^T = L L^T or L D L^T (P: permutation, S: scaling).  a: the matrix given to
 * analyze with values, or the same with pointers and indices NULL when only the values are new:
 * they stand in the order of the indices analysed, triplets and duplicates too, and are summed
 * through a map made by analyze, on the device if they lie and are factorized there.  *factor is an
 * object also after a numerical failure, and refactorize may be tried on it; it is NULL after
 * INVALID, PATTERN_MISMATCH and OUT_OF_MEMORY (the message is the context's). SINGULAR > 0: zero
 * pivots were met and skipped; PERTURBED > 0: pivots were changed, solves refine what that cost.
 * NONFINITE, NOT_POSITIVE_DEFINITE, CANCELLED. */
LIBSOLVER_API libsolver_status libsolver_factorize(const libsolver_analysis *analysis,
                                                   const libsolver_matrix *a,
                                                   libsolver_factor **factor);

/* The same of A + diag(shift), which libsolver_refactorize_shifted explains. */
LIBSOLVER_API libsolver_status libsolver_factorize_shifted(const libsolver_analysis *analysis,
                                                           const libsolver_matrix *a,
                                                           const libsolver_vectors *shift,
                                                           libsolver_factor **factor);

/* The same for new values on the same pattern, in the memory that is there.  Scaling and pivots are
 * chosen anew: a scaling by matching that the last values needed is tried first; where they took
 * several attempts, the last of these comes first, and is the only one if no more pivots are in
 * doubt now and zeros are as many, or none.  Allocates only for what libsolver_factor_info.growths
 * counts, for the first matching, for the first values on a device and, in mixed precision, for a
 * factor in double.  After INVALID,
 * PATTERN_MISMATCH and NONFINITE the old factor stays valid; after other failures
 * (NOT_POSITIVE_DEFINITE, OUT_OF_MEMORY, CANCELLED) solves are refused until a refactorize
 * succeeds. */
LIBSOLVER_API libsolver_status libsolver_refactorize(libsolver_factor *factor,
                                                     const libsolver_matrix *a);

/* refactorize without a wait, GPU backend only, for Cholesky and KIND_QUASI_DEFINITE: a's values
 * lie in device memory (place DEVICE, pointers and indices NULL), all is launched on
 * options.stream, where they may still be on their way, and *status (NULL, or one in device memory)
 * is written when the new factor is there: OK; INACCURATE: it is, but an inverse made for solves
 * has lost digits, which the errors of libsolver_solve_async tell of; NONFINITE, INVALID (values
 * that are not symmetric, or not Hermitian), NOT_POSITIVE_DEFINITE (QUASI_DEFINITE: a pivot would
 * have to be put right), CUDA: there is none.  libsolver_solve_async then gives infinite errors and
 * that status, libsolver_solve_plain of device memory an X of NaN.
 *
 * Every call that wants to know of the factor, all others but these two and
 * those of workspaces, waits, and then finds what libsolver_refactorize would have come to:
 * after INACCURATE solves are prepared anew, after NOT_POSITIVE_DEFINITE KIND_AUTO goes on with L D
 * L^T on the CPU, mixed precision with a larger diagonal or a factor in double and QUASI_DEFINITE
 * puts the pivot right on the CPU, after CUDA the factorization is made once more; pivots in doubt,
 * which are OK on the device, are looked at.  Only NONFINITE and INVALID differ: the old factor is
 * gone.  Shifts of the call before are, too.
 *
 * The first factor is made by a call that waits.  After that, and one call of this function or a
 * factor from values in device memory, nothing is allocated, and calls can be captured in a CUDA
 * graph, together with libsolver_solve_async on a workspace that has been used, in any number.  The
 * graph stays right until a call that waits prepares solves anew or makes another kind of factor:
 * so capture again when one has followed a status that was not OK, and in mixed precision when
 * libsolver_factor_info.precision has changed.  While such a graph exists every
 * call that wants to know of the factor waits for the stream.  The factor must not be used by
 * others between the launch and its end, as in refactorize.  OK when all is launched; INVALID,
 * PATTERN_MISMATCH and NOT_BUILT (another backend, or the last factor was made on the CPU or
 * PERTURBED), after which the factor is as before; OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY and CUDA,
 * after which there is none. */
LIBSOLVER_API libsolver_status libsolver_refactorize_async(libsolver_factor *factor,
                                                           const libsolver_matrix *a,
                                                           libsolver_status *status);

/* Instead of options.pivot_threshold from the next refactorize on; what attempts with the former
 * one have come to is forgotten.  The factor there is stays as it is.  INVALID: not in [0, 0.5]. */
LIBSOLVER_API libsolver_status libsolver_set_pivot_threshold(libsolver_factor *factor,
                                                             double threshold);

/* refactorize for A + diag(shift), which is the matrix that is scaled, factorized, solved with,
 * refined and measured by, without being built.  a: as for refactorize, or NULL: the values given
 * last, without earlier shifts.  shift: n x 1 of the factor's type, copied; real if A is Hermitian;
 * NULL: no shift; in device memory it needs the GPU backend, is read in the order of the context's
 * stream, and should lie without gaps beside values that are there (others pass the host).  Rows
 * without a diagonal entry can be shifted too.  Statuses and what remains after them as for
 * refactorize; also INVALID when a is NULL and there are no good values, NONFINITE (a shifted
 * entry). */
LIBSOLVER_API libsolver_status libsolver_refactorize_shifted(libsolver_factor *factor,
                                                             const libsolver_matrix *a,
                                                             const libsolver_vectors *shift);

/* libsolver_refactorize of a factor that is made on the GPU, and what each task of the
 * factorization did by the device's clock, which takes a little longer.  Copies of values and what
 * prepares solves are not among the tasks.  *count: the tasks there are; tasks: room for `capacity`
 * of them, or NULL for their number alone, when a may be NULL and nothing is factorized.  Statuses
 * and what remains after them as for refactorize; also INVALID (no room for all tasks) and
 * NOT_BUILT (the factor is made on the CPU), after which the factor is as before.  Where this
 * factorization has ended on the CPU, as KIND_AUTO and BACKEND_AUTO allow, the factor is good,
 * *count is 0 and what is in tasks means nothing.  What very many children have for a front is
 * summed in groups first, which count as fronts without columns. */
LIBSOLVER_API libsolver_status libsolver_refactorize_traced(libsolver_factor *factor,
                                                            const libsolver_matrix *a,
                                                            int64_t capacity,
                                                            libsolver_factor_task *tasks,
                                                            int64_t *count);

/* The parts of a solve.  A = S^-1 P^T L D L^T P S^-1, L: X = L^-1 P S B, D: X = D^-1 B, LT: X = S
 * P^T L^-T B; L, D and LT in this order are ALL; between them vectors are in elimination order.
 * Cholesky has D = I. */
typedef enum libsolver_part {
    LIBSOLVER_PART_ALL = 0,
    LIBSOLVER_PART_L = 1,
    LIBSOLVER_PART_D = 2,
    LIBSOLVER_PART_LT = 3
} libsolver_part;

/* One pass of substitution for all columns of B, unrefined and unchecked.  X may be B, both n x
 * columns with any ld and layout.  workspace: NULL for the factor's own one (see libsolver_solve).
 * Allocates nothing, but that a workspace follows the factor at its next use after a
 * refactorization that grew (libsolver_factor_info.growths), and at its first use with zero pivots,
 * with perturbed ones and, in mixed precision, with a factor in double.  GPU backend: B and X may
 * both lie in device memory, for PART_ALL; the call then returns before the solve is done, on
 * options.stream, and can be captured in a CUDA graph after the first solve; of a factor that was
 * made on the device the other parts, as L, the determinant and estimates, bring a copy to the host
 * when it is first wanted, which takes the memory of L there.  INVALID, SINGULAR (zero pivots were
 * skipped), OUT_OF_MEMORY, CANCELLED, NOT_BUILT (device memory), CUDA. */
LIBSOLVER_API libsolver_status libsolver_solve_plain(const libsolver_factor *factor,
                                                     libsolver_part part,
                                                     libsolver_workspace *workspace,
                                                     const libsolver_vectors *b,
                                                     const libsolver_vectors *x);

/* libsolver_solve_plain for PART_ALL, of blocks in device memory, and what each task of the solve
 * did by the device's clock, which takes a little longer.  *count: the tasks there are; tasks: room
 * for `capacity` of them, or NULL for their number alone, when b and x may be NULL.  Waits, and
 * allocates.  More columns than the workspace has: the last panel's tasks.  NOT_BUILT: solves with
 * this factor run on the CPU; INVALID, SINGULAR, OUT_OF_MEMORY, CUDA. */
LIBSOLVER_API libsolver_status libsolver_solve_traced(const libsolver_factor *factor,
                                                      libsolver_workspace *workspace,
                                                      const libsolver_vectors *b,
                                                      const libsolver_vectors *x, int64_t capacity,
                                                      libsolver_task *tasks, int64_t *count);

/* Refines X of A X = B until the backward error of each column is at most the tolerance, stops
 * falling, or refine_steps is reached; the best X seen is kept.  Where plain steps gain little,
 * cycles of FGMRES follow, preconditioned by the factor [Arioli, Duff 2009].  For a singular A,
 * columns that are not there yet are made as short as the null space allows, and what makes the
 * system inconsistent is spread over its rows.  backward_error: NULL or length columns.  The status
 * is libsolver_solve's.  X must not be B. */
LIBSOLVER_API libsolver_status libsolver_refine(const libsolver_factor *factor,
                                                libsolver_workspace *workspace,
                                                const libsolver_vectors *b,
                                                const libsolver_vectors *x, double *backward_error);

/* How a refinement corrects. */
typedef enum libsolver_method {
    LIBSOLVER_METHOD_AUTO = 0, /* plain steps, then FGMRES for the columns where they gain little */
    LIBSOLVER_METHOD_PLAIN = 1,
    LIBSOLVER_METHOD_FGMRES = 2 /* from the beginning; a singular A is repaired as in AUTO */
} libsolver_method;

/* A step of a refinement as it was made: the solution it began with; a plain step; a cycle of
 * FGMRES; what a singular A asks for. */
typedef enum libsolver_step_kind {
    LIBSOLVER_STEP_START = 0,
    LIBSOLVER_STEP_PLAIN = 1,
    LIBSOLVER_STEP_FGMRES = 2,
    LIBSOLVER_STEP_SINGULAR = 3
} libsolver_step_kind;

typedef struct libsolver_step {
    libsolver_step_kind kind;
    double backward_error; /* largest of all columns, each with the best solution so far */
    double seconds;        /* it took, panels added; of START: with the solve */
} libsolver_step;

/* libsolver_solve and libsolver_refine with limits of this call instead of the options'.
 * workspace: NULL for the factor's own one, which one caller at a time may use; with workspaces of
 * their own, which do not grow, several may call.  limits: NULL for the options'.  backward_error:
 * NULL or length columns.  Statuses as theirs; INVALID (limits) too. */
typedef struct libsolver_limits {
    int steps;        /* as options.refine_steps; 0: only check */
    double tolerance; /* as options.tolerance; 0: the default of the precision */
    libsolver_method method;
    /* nonzero: refine as far as it goes, until the error falls no more; the status is by the
     * tolerance all the same */
    int until_stalled;
    /* NULL, or room for history_room steps, which are written as they are made, START first, with
     * more columns than are refined together those of the slowest panel;
     * libsolver_solve_info.history tells how many there were */
    libsolver_step *history;
    int64_t history_room;
    int64_t reserved[1]; /* zero */
} libsolver_limits;
LIBSOLVER_API libsolver_status libsolver_solve_within(
    libsolver_factor *factor, libsolver_workspace *workspace, const libsolver_limits *limits,
    const libsolver_vectors *b, const libsolver_vectors *x, double *backward_error);
LIBSOLVER_API libsolver_status libsolver_refine_within(
    const libsolver_factor *factor, libsolver_workspace *workspace, const libsolver_limits *limits,
    const libsolver_vectors *b, const libsolver_vectors *x, double *backward_error);

/* Solves A X = B without a wait, GPU backend only: B, X and both results lie in device memory, all
 * is launched on options.stream, and after the first such call on a workspace others can be
 * captured in a CUDA graph.  `steps` refinement steps are launched, each taking about as long as a
 * solve; columns that need fewer are left as they are; 0: only check.  Then backward_error[j]
 * (NULL, or length columns) holds the error of each column, and *status (NULL, or one) what
 * libsolver_solve would say: OK, PERTURBED, INACCURATE, SINGULAR or CUDA.  FGMRES and the repair of
 * singular systems need the host: libsolver_refine goes on from an X that is INACCURATE.  X may be
 * B.  workspace: NULL for the factor's own one, which does not grow here; nothing else may use it
 * until the stream has passed, and libsolver_solve_query knows nothing of this call.  OK when all
 * is launched; INVALID (B and X on the host, steps < 0), NOT_BUILT (another backend),
 * OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA. */
LIBSOLVER_API libsolver_status libsolver_solve_async(const libsolver_factor *factor,
                                                     libsolver_workspace *workspace, int steps,
                                                     const libsolver_vectors *b,
                                                     const libsolver_vectors *x,
                                                     double *backward_error,
                                                     libsolver_status *status);

/* A system in two parts.  With options.schur_size > 0, A1 being the rows that are eliminated and A2
 * options.schur_rows,
 *
 *      [ A11 A12 ] [ X1 ]   [ B1 ]      S = A22 - A21 A11^-1 A12,    S X2 = B2 - A21 A11^-1 B1,
 *      [ A21 A22 ] [ X2 ] = [ B2 ]      A11 X1 = B1 - A12 X2,
 *
 * the factor is that of A11 (kind, inertia, determinant, statuses too), and these calls take the
 * place of the other solves, of libsolver_condition, _forward_error, _get_factor_l and
 * _get_factor_d, which answer INVALID.  Nothing is refined, so not in mixed precision:
 * libsolver_analyze answers NOT_BUILT.  With BACKEND_GPU the factor and S are made on the GPU where
 * those without a complement are, but not by libsolver_refactorize_async; half solves run on the
 * CPU, with the factor, which the first of them copies; vectors and S may lie in device memory.
 * _complement: S, schur_size x schur_size in the order of
 * schur_rows, both triangles; NOT_BUILT: in device memory, and the CPU has made the factor.
 * _condense: rows schur_rows of X := B2 - A21 A11^-1 B1; the others
 * hold what _expand goes on with. _expand: rows schur_rows of X hold X2, the caller's solution with
 * S; the others become X1. B and X are n x columns; X may be B.  workspace: NULL for the factor's
 * own one.  Memory as for libsolver_solve_plain.  SINGULAR (zero pivots of A11 were skipped),
 * PERTURBED; INVALID, OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA, CANCELLED. */
LIBSOLVER_API libsolver_status libsolver_schur_complement(const libsolver_factor *factor,
                                                          const libsolver_vectors *s);
LIBSOLVER_API libsolver_status libsolver_schur_condense(const libsolver_factor *factor,
                                                        libsolver_workspace *workspace,
                                                        const libsolver_vectors *b,
                                                        const libsolver_vectors *x);
LIBSOLVER_API libsolver_status libsolver_schur_expand(const libsolver_factor *factor,
                                                      libsolver_workspace *workspace,
                                                      const libsolver_vectors *x);

/* Memory that solves of up to `columns` right-hand sides at a time write to; wider blocks are
 * solved in panels of that many. A workspace belongs to its factor and serves one caller at a
 * time.  columns >= 1.  INVALID, OUT_OF_MEMORY. */
LIBSOLVER_API libsolver_status libsolver_workspace_create(const libsolver_factor *factor,
                                                          int64_t columns,
                                                          libsolver_workspace **workspace);
/* Bytes that libsolver_workspace_create would take. */
LIBSOLVER_API int64_t libsolver_workspace_bytes(const libsolver_factor *factor, int64_t columns);
LIBSOLVER_API void libsolver_workspace_free(libsolver_workspace *workspace);

/* ---- What is known --------------------------------------------------------------------------- */

/* The structs are zeros when the object is NULL. */

/* After analyze. */
typedef struct libsolver_analysis_info {
    int64_t n, nnz; /* order; entries of the lower triangle with the diagonal, duplicates summed */
    int64_t factor_nnz;  /* entries of L with the diagonal, no padding, pivoting not predicted */
    double factor_flops; /* sum over columns of (entries in the column)^2 */
    int64_t supernodes;  /* fundamental ones */
    int64_t levels;      /* longest path of supernodes from a leaf to a root */
    libsolver_ordering ordering; /* the one used */
    /* Predicted peak of the context's host memory from the call of libsolver_factorize to the end
     * of the first libsolver_solve (with schur_size > 0: _condense and _expand) of one column;
     * wider solves: libsolver_workspace_bytes.  What the context holds when this is asked is
     * included: the analysis itself, other objects too; what libsolver_analyze needed for a while
     * is not, so that libsolver_factor_info.host_bytes_peak, of the whole life of a context, can be
     * larger. The kind is the one asked for; KIND_AUTO: Cholesky, unless the matrix is complex
     * symmetric or had values at analyze whose diagonal is not positive.  Mixed precision: the
     * factor in single; one that goes to double takes as much as a factor in double beside it, and
     * then gives the one in single back.  Exact but for some KB, except for what depends on values:
     * delayed pivots (libsolver_factor_info.delayed, growths), vectors for perturbed, zero or small
     * pivots, LDL^T after a Cholesky that failed, a matching that only the first attempt shows to
     * be wanted. */
    int64_t host_bytes;
    int64_t device_bytes; /* predicted, GPU backend: about what a factor and its solves hold there
                           */
    int64_t reserved[8];
} libsolver_analysis_info;

LIBSOLVER_API void libsolver_analysis_query(const libsolver_analysis *analysis,
                                            libsolver_analysis_info *info);

/* Length n: permutation[k] = the row (0-based) that is eliminated k-th by the backend that
 * factorizes. */
LIBSOLVER_API void libsolver_permutation(const libsolver_analysis *analysis, int64_t *permutation);

/* Signs of the eigenvalues, counted on D (A real or Hermitian).  certain: no pivot was perturbed;
 * where some are small, refinement with the factors contracts, so that no matrix between A and the
 * one that they are exact for is singular; where some are zero, vectors of the null space are known
 * to twice the working precision: A x = 0 up to 2^-90.  Small is below 2^-26 of the entries
 * assembled, in single precision and for n <= 256 below 2^-6.  Eigenvalues below 2^-90 of the
 * entries are not told from zeros. */
typedef struct libsolver_inertia_counts {
    int64_t positive, negative, zero; /* sum to n (less options.schur_size) */
    int certain;
    double smallest_pivot; /* least |eigenvalue| of a nonzero pivot block of the scaled matrix */
} libsolver_inertia_counts;

/* INVALID if there is no factor, or for complex symmetric matrices, where it is not defined. */
LIBSOLVER_API libsolver_status libsolver_inertia(const libsolver_factor *factor,
                                                 libsolver_inertia_counts *counts);

/* After factorize or refactorize. */
typedef struct libsolver_factor_info {
    libsolver_status status; /* of the last (re)factorize */
    libsolver_kind kind; /* SPD: Cholesky, INDEFINITE: LDL^T, QUASI_DEFINITE: without pivoting */
    libsolver_backend backend_factorize;
    libsolver_backend backend_solve; /* of solves in the factor's own workspace */
    libsolver_cpu_reason cpu_reason; /* of backend_factorize, where the GPU was to be used */
    int threads;                     /* of the context */
    /* of L and D: A's type; mixed precision: S for D, C for Z, unless that was not enough */
    libsolver_type precision;
    int64_t factor_nnz; /* as stored, with padding and delayed columns */
    int64_t fronts;     /* supernodes of the backend's partition */
    int64_t two_by_two; /* 2x2 pivots */
    int64_t delayed;    /* columns passed to a parent, each time counted */
    int64_t perturbed;  /* pivots changed or taken below the threshold: see options */
    /* Times more memory was taken in the last (re)factorize: for delayed columns beyond the planned
     * room, for a new plan with room for those of the one before, for the first LDL^T after
     * Cholesky, for a first closer look at small or zero pivots. */
    int64_t growths;
    int64_t failed_row; /* NOT_POSITIVE_DEFINITE: row of A (0-based) whose pivot failed, or -1 */
    int64_t host_bytes, device_bytes; /* held now by the factor and its own workspace */
    int64_t host_bytes_peak;          /* of the context so far */
    int64_t allocations;              /* successful ones of the context so far */
    double analysis_seconds; /* of the order that libsolver_factorize made anew, 0: it did not */
    int64_t reserved[7];
} libsolver_factor_info;

LIBSOLVER_API void libsolver_info(const libsolver_factor *factor, libsolver_factor_info *info);

/* After a solve in a workspace (NULL: the factor's own). */
typedef struct libsolver_solve_info {
    int remarks; /* bits SINGULAR, INACCURATE, PERTURBED, all that apply */
    /* largest over the columns [Arioli, Demmel, Duff 1989]; NaN before a refine or solve */
    double backward_error;
    double backward_error_initial; /* before refinement */
    int steps;       /* refinement steps made (the most of any column), cycles of FGMRES included */
    int64_t history; /* steps told of in libsolver_limits.history, had there been room */
    int64_t reserved[3];
} libsolver_solve_info;

LIBSOLVER_API void libsolver_solve_query(const libsolver_factor *factor,
                                         const libsolver_workspace *workspace,
                                         libsolver_solve_info *info);

/* det A = (phase_real + i phase_imaginary) exp(log_abs).  The phase is 1 or -1 if A is real or
 * Hermitian, otherwise of size 1; a singular A has log_abs = -infinity and phase 0. */
typedef struct libsolver_determinant_info {
    double log_abs;
    double phase_real, phase_imaginary;
} libsolver_determinant_info;

/* The product of the pivots, in extended precision.  O(n).  Mixed precision: that of the factor,
 * log_abs being off by up to about 1e-7 times the condition of the scaled matrix.  SINGULAR,
 * PERTURBED (that of another matrix); INVALID. */
LIBSOLVER_API libsolver_status libsolver_determinant(const libsolver_factor *factor,
                                                     libsolver_determinant_info *determinant);

/* |A|_1 |A^-1|_1, the second factor estimated from about eight to fifteen solves: hardly ever more
 * than three times too small [Hager 1984; Higham 1988: LAPACK's xLACN2, from two vectors], nor
 * above the true one by more than rounding errors: the product that decides is refined, and all of
 * them, in three times as many solves, where that changes it.  Infinite if A is singular or more
 * than a double holds; 1 for n = 0.  Mixed precision: the condition of A, not of the factor, each
 * solve refined by FGMRES; infinite where that does not converge.  workspace: NULL for the factor's
 * own one.  Memory as for libsolver_solve_plain.  SINGULAR, PERTURBED; INVALID, OUT_OF_MEMORY,
 * CANCELLED. */
LIBSOLVER_API libsolver_status libsolver_condition(const libsolver_factor *factor,
                                                   libsolver_workspace *workspace,
                                                   double *condition);

/* forward_error[j], length columns: a bound for max |x - A^-1 b| / max |x| of column j, from b, x
 * and A as they are given: the norm of |A^-1| (|b - A x| + its rounding errors), estimated as in
 * libsolver_condition [Arioli, Demmel, Duff 1989; LAPACK's xPORFS].  Infinite if A is singular or x
 * not finite, never a NaN.  workspace, mixed precision and statuses as in libsolver_condition. */
LIBSOLVER_API libsolver_status libsolver_forward_error(const libsolver_factor *factor,
                                                       libsolver_workspace *workspace,
                                                       const libsolver_vectors *b,
                                                       const libsolver_vectors *x,
                                                       double *forward_error);

/* L by columns in elimination order, 0-based, the unit diagonal left out for LDL^T and the diagonal
 * kept for Cholesky.  Call with NULL arrays for the number of entries; then pointers n + 1, indices
 * and values that many (of the matrix's type, in mixed precision too).  The columns of delayed
 * pivots stand where they were eliminated: order[k] (length n, may be NULL) is the row eliminated
 * k-th. */
LIBSOLVER_API libsolver_status libsolver_get_factor_l(const libsolver_factor *factor,
                                                      int64_t *entries, int64_t *pointers,
                                                      int64_t *indices, void *values,
                                                      int64_t *order);
/* D, block diagonal: diagonal[k] = D(k,k), subdiagonal[k] = D(k+1,k), nonzero for the first column
 * of a 2x2 pivot; D(k,k+1) is the same or, for a Hermitian A, its conjugate.  Length n each, of the
 * factor's type, in elimination order.  Ones and zeros for Cholesky. */
LIBSOLVER_API libsolver_status libsolver_get_factor_d(const libsolver_factor *factor,
                                                      void *diagonal, void *subdiagonal);
/* s_i, length n, real type of the factor: the scaled matrix is S A S. */
LIBSOLVER_API libsolver_status libsolver_get_scaling(const libsolver_factor *factor, void *scaling);

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct libsolver_device {
    char name[256];
    int compute_major, compute_minor, multiprocessors;
    int64_t bytes;
} libsolver_device;

/* CUDA devices that can be used.  count: how many there are (0 is no error); devices: NULL or room
 * for `capacity` of them. NOT_BUILT, and a count of 0: libsolver_cuda, the library
 * with the GPU backend, cannot be loaded; libsolver_context_message(NULL) says why. */
LIBSOLVER_API libsolver_status libsolver_devices(int capacity, libsolver_device *devices,
                                                 int *count);

typedef struct libsolver_gpu_code {
    const char *architectures; /* machine code and, for later ones, PTX: "sm_90, compute_90" */
    int toolkit; /* version of CUDA that it was compiled with, 1000 major + 10 minor */
    int driver;  /* latest version of CUDA that the driver serves, 0: there is no driver */
    uint64_t reserved[4];
} libsolver_gpu_code;

/* The code for GPUs that this build has, whatever devices there are.  NOT_BUILT as
 * libsolver_devices, INVALID. */
LIBSOLVER_API libsolver_status libsolver_gpu_code_query(libsolver_gpu_code *code);

#ifdef __cplusplus
}
#endif
#endif
