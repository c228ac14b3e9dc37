/* solver/cpu/factor/numeric.h: a factorization on the CPU, of one precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_FACTOR_NUMERIC_H
#define SOLVER_CPU_FACTOR_NUMERIC_H

#include "base/meter.h"
#include "base/scalar.h"
#include "dense/cpu/front.h"
#include "solver/cpu/plan/plan.h"
#include "solver/cpu/plan/team.h"
#include "solver/cpu/factor/single.h"
#include "solver/matching/matching.h"

/* The front of one supernode as it came out: m rows, k candidates (its own columns and those its
 * children delayed), of which the first p are eliminated.  Rows are in elimination order, named by
 * their number in P A P^T.
 *
 * Where it lies:   | panel m x k | d, e: k each | index m | up m |   (Cholesky: panel only)
 *
 * A small panel of Cholesky may be packed: column j from its diagonal on, m - j rows right behind
 * those of column j - 1.  Solves then read L and nothing else, one front behind the other.  It is
 * made in the scratch of a thread. */
typedef struct node {
    int32_t m, k, p;
    int32_t packed;
    int32_t savable; /* of the delayed columns, those that a lower threshold would not have delayed;
                        counted where that may be tried, with ... */
    int64_t work_savable, work_delayed; /* ... the work that they, and all delayed ones, have added
                                           here and below */
    int32_t room; /* delayed columns that the planned space for the contribution block allows */
    scalar *panel;
    scalar *d, *e;
    const int32_t *index; /* m */
    int32_t *up;        /* m - p: places of rows p.. among the rows of the parent's front.  NULL for
                           Cholesky: the plan's */
    scalar *cb;         /* contribution block, until the parent has taken it */
    real *cb_magnitude; /* its m - p magnitudes, behind it (LDL^T) */
    int64_t block;      /* planned place in layout.blocks, for ... */
    int32_t planned_m;  /* ... this many rows */
    int64_t slot, slot_entries; /* planned place of the contribution block in layout.slots and its
                                   size */
    void *own_block, *own_cb; /* memory of its own, when delayed columns made the planned places too
                                 small */
} node;

/* Place of row i of column j of a panel, i >= j. */
static inline int64_t node_place(const node *v, int64_t i, int64_t j)
{
    return i + j * v->m - (v->packed ? j * (j + 1) / 2 : 0);
}

/* Rows of a workspace that a front of m rows is given: kernels of solves write whole vectors. */
static inline int64_t solve_slot_rows(int64_t m)
{
    return round_up(m, 8);
}

/* Memory for one thread while it works on a front. */
typedef struct scratch {
    scalar *panel;        /* room for any panel that will be packed */
    int64_t m, k;         /* the front it is large enough for */
    scalar *work;         /* front_ldlt_work(m, k) */
    real *magnitude;      /* m */
    int32_t *permutation; /* m: candidates, then their inverse permutation */
    front_report report;  /* sums over the fronts of this thread */
    int64_t delayed;
} scratch;

/* How the last search for settings of LDL^T ended, where the first attempt had left pivots in
 * doubt. */
typedef struct search_end {
    int was_long;         /* there is such an end, with ... */
    backend_options last; /* ... these settings */
    int64_t zero, uncertain, perturbed;
} search_end;

/* KIND_AUTO: what the last values came to; see remember_kind in kind_tmpl.c. */
typedef struct kind_memory {
    int begins_with_ldlt;        /* the next are not tried by Cholesky first */
    int positive_ldlt, cholesky; /* factors by L D L^T with positive pivots, by Cholesky, that
                                    followed one another up to the last */
    int wait; /* positive_ldlt from which Cholesky is tried again, 0 as long as it has not failed */
} kind_memory;

/* What former values came to, which the next are begun with. */
typedef struct numeric_history {
    int matching_helped;
    search_end last_search;
    double asked_threshold; /* options.pivot_threshold of the last factorization */
    enum {
        UNKNOWN_DELAYS,
        LOWER_HELPS,
        LOWER_IS_VAIN
    } lower; /* a smaller threshold than the first
                one, where that delays too much */
    enum {
        UNKNOWN_ZEROS,
        DEMOTION_HELPS,
        DEMOTION_IS_VAIN
    } demotion; /* of tiny pivots to zeros, where the inertia was in doubt */
    kind_memory last_kind;
    int no_room_for_double; /* mixed precision: the factor was to be replaced by one in double, for
                               which memory was wanting */
} numeric_history;

/* Where fronts are planned to lie. */
typedef struct numeric_layout {
    int64_t wanted_blocks, wanted_slots, largest_front; /* bytes, bytes and rows that are planned */
    int is_planned, was_planned; /* places are planned; they have been before */
    int is_ldlt;                 /* with what L D L^T needs */
    int lacks_room;              /* delayed columns wanted more */
    char *blocks;                /* panels, d, e and index of fronts */
    int64_t blocks_bytes;
    scalar *slots; /* contribution blocks */
    int64_t slots_bytes;
    int64_t wanted_unpacked; /* bytes of the largest panel that is packed, as long as it is not */
    char *unpacked;          /* so many for each thread */
    int64_t unpacked_bytes;
} numeric_layout;

/* One factorization: how it is made, and how it goes. */
typedef struct numeric_attempt {
    real pivot_threshold, zero_level;
    int32_t delay_cap; /* if children would delay more columns to a front they perturb pivots, or,
                          with may_match, ... */
    int may_match;     /* ... the attempt ends with TOO_MANY_DELAYS */
    int64_t growth_limit;    /* most bytes of `grown`, 0: any number */
    int64_t work_limit;      /* most work_savable, 0: any: the attempt ends with TOO_MUCH_WORK */
    _Atomic int64_t grown;   /* bytes of fronts that did not fit their planned place */
    _Atomic int64_t growths; /* blocks that nodes have of their own, or had in this factorization */
    _Atomic int32_t failed;  /* least supernode whose pivots failed (Cholesky) */
    _Atomic int64_t tiny;    /* pivots that `tiny` marks, by rows */
    _Atomic int stop;        /* a status, or TOO_MANY_DELAYS, that ends all tasks */
} numeric_attempt;

typedef struct numeric {
    /* the plan of the factor that is there, or being made: first_plan, or its by_fronts */
    const cpu_plan *plan;
    const cpu_plan *first_plan;
    memory_pool *pool; /* for what it and its workspaces take; NULL: each block by itself */
    /* mixed precision: the factor is of another object, without fronts here */
    const cpu_single *single; /* of this kind, ... */
    void *factor;             /* ... this one */
    int is_inner; /* this is such a factor: values come scaled, residuals are not wanted */
    /* values and their scaling */
    const scalar *given; /* the values last set, in the caller's order; not looked at once they are
                            factorized */
    scalar *value;       /* nnz: A in the plan's order, as given */
    real *scale;         /* n: powers of two, in the plan's order */
    real *largest;       /* n: largest entry of each row of the scaled matrix; of the diagonal only
                            for Cholesky */
    real *row_sum;       /* n: sum of |A| in each row */
    int is_matched;      /* the scaling is that of a matching */
    int is_clipped;      /* some row wanted a scale factor beyond what there is: zero pivots are not
                            certain then */
    matching *matching;  /* NULL until the first scaling by matching */
    double *magnitude;   /* nnz + n, its input and output */
    const backend_cholesky *elsewhere; /* who makes Cholesky factors; NULL: this object */
    /* the factor */
    int cholesky;     /* 1: L L^T, 0: L D L^T */
    int is_elsewhere; /* it was made there: panels are of use only after cpu_take_factor */
    node *node;
    int32_t *order;        /* n: row of P A P^T that is eliminated k-th */
    scalar *columns;       /* with plan->simplicial, Cholesky: its places ... */
    real *root;            /* ... and n: D(k)^(-1/2) */
    int64_t *solve_slot;   /* supernodes: place of the front's rows in a workspace */
    int64_t solve_entries; /* rows in use at a time */
    int64_t entries;       /* of L, as stored */
    int64_t zero_pivots;
    int cycle; /* steps of a cycle of FGMRES */
    /* its making */
    numeric_layout layout;
    numeric_attempt attempt;
    numeric_history history;
    int threads;              /* that a team may have */
    team_pace pace;           /* of factorizations */
    scratch *scratch;         /* threads */
    scalar *tile_scratch;     /* threads x FRONT_TASK_SCRATCH */
    _Atomic int32_t *pending; /* supernodes: what an upper one waits for */
    unsigned char *tiny; /* n: 1 or 2 at the first row of a pivot of so many rows that would be zero
                            with RAISED_ZERO; LDL^T */
    front_watch watch;
    meter meter;         /* flops of the attempt at hand */
    struct doubt *doubt; /* memory for looking closer at pivots in doubt, NULL until there are some;
                            see doubt_tmpl.c */
} numeric;

/* Passed up like statuses inside the backend: growth_limit was exceeded; work_limit was. */
#define TOO_MANY_DELAYS ((libsolver_status)INT32_MAX)
#define TOO_MUCH_WORK ((libsolver_status)(INT32_MAX - 1))

/* The pivot threshold that is tried where the first one delays columns until the work is a multiple
 * of what was planned.  Of 1e-4, 1e-6 and 1e-8 for kkt_3d27, by bench_indefinite: 85, 18 and 24 ms,
 * and backward errors before refinement of 3e-8, 5e-8 and 2e-4. */
#define POLICY_LOWER_THRESHOLD 1e-6

/* A pivot is looked at more closely where it is at most so many times what was assembled into its
 * row (Cholesky: its diagonal entry).  Errors that outgrow large pivots are for matrices that are
 * made so, as Kahan's, and in single precision for others too; there, and where it takes
 * microseconds, the level is 2^-6.  The other one is the square root of EPS: of the systems of
 * SuiteSparse's collection, which it is for, few have such pivots, and those that are singular have
 * smaller ones. */
#define SMALL_ORDER 256
static inline double numeric_doubt_level(const cpu_plan *plan)
{
    return sizeof(real) == 4 || plan->a.n <= SMALL_ORDER ? 0x1p-6 : 0x1p-26;
}

/* What a thread's mode gets beside while a factor is made: in single precision results below the
 * normal numbers become zeros.  Fill that decays away from the diagonal gets there, where each
 * operation takes a hundred times as long; beside the entries of the scaled A these numbers count
 * for nothing.  In double they are hardly met. */
#define NUMERIC_MODE (sizeof(real) == 4 ? SUBNORMAL_FLUSH : 0)

/* A power of two that brings x near 1; 1 if x is not finite or 0. */
static inline double power_near_one(double x)
{
    int exponent = 0;
    if (isfinite(x))
        frexp(x, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

/* The level of zero, in eps, when pivots of a singular matrix may have come out as rounding errors:
 * those of grids of up to a hundred thousand points are some hundred eps.  What it makes zero is
 * looked at twice as precisely, so that it can be generous. */
#define RAISED_ZERO 4096.0

/* Number of entries of A below and on the diagonal. */
static inline int64_t numeric_nnz(const numeric *f)
{
    return f->plan->a.start[f->plan->a.n];
}

/* Whether the factor that is there, or being made, is kept by columns: there are no fronts then. */
static inline int is_simplicial(const numeric *f)
{
    return f->cholesky && f->plan->simplicial;
}

/* Threads for what a factorization shares. */
static inline int numeric_threads(const numeric *f)
{
    return team_size(&f->pace, f->plan->tasks.threads, f->plan->seconds);
}

/* Places of the rows of s's contribution block among the rows of its parent's front, as
 * eliminated. */
static inline const int32_t *node_up(const numeric *f, int32_t s)
{
    const node *v = &f->node[s];
    return v->up ? v->up : f->plan->position + f->plan->part.row_start[s] + v->p;
}

/* numeric_tmpl.c: steps of a cycle of FGMRES, each of which keeps two vectors in a workspace.  A
 * factor of A is far from it in very few directions only.  far: it may be so in many, being in
 * lower precision or of changed pivots; more steps solve more of the ill-conditioned matrices then
 * (of SuiteSparse's, 20 as many as 25 and more than 15). */
int NAME(cpu_cycle_length)(const cpu_plan *plan, int far);

/* numeric_tmpl.c: memory for a factor of this precision but for its fronts; 0: it cannot be
 * had.  take_fronts: for what keeps the books of fronts, with plan->simplicial once they are
 * wanted, and the plan that has them.  release_tree: all of it, and the fronts */
int NAME(cpu_take_tree)(numeric *f);
int NAME(cpu_take_fronts)(numeric *f);
void NAME(cpu_release_tree)(numeric *f);
/* What it takes, layout included unless it is made elsewhere, before there is one: f is an object
 * without memory, and is given solve_entries.  OUT_OF_MEMORY. */
libsolver_status NAME(cpu_predict_tree)(numeric *f, int elsewhere, cpu_places *places,
                                        int64_t *bytes);
/* Memory for the values of A and their scaling, 0: it cannot be had; its bytes; freed, with that
 * for matching; see backend.set_values. */
int NAME(cpu_take_values)(numeric *f);
int64_t NAME(cpu_values_bytes)(numeric *f);
void NAME(cpu_release_values)(numeric *f);
void NAME(cpu_set_values)(void *numeric, const void *values);

/* layout_tmpl.c: plans and takes the memory for a factorization of the given kind, if that held
 * will not do, which counts as a growth.  OUT_OF_MEMORY. */
libsolver_status NAME(cpu_layout)(numeric *f, int cholesky, backend_report *report);
/* The same without taking the memory: for a factor that is made elsewhere. */
libsolver_status NAME(cpu_plan_layout)(numeric *f, int cholesky, backend_report *report);
/* What it would take first, for f->cholesky, and the places, to be freed: f has no nodes, and is
 * given solve_entries.  OUT_OF_MEMORY. */
libsolver_status NAME(cpu_predict_layout)(numeric *f, cpu_places *places, int64_t *bytes);
/* Sets the addresses in node s for m rows and k candidates; takes memory of its own if the plan's
 * is too small. */
libsolver_status NAME(cpu_place_node)(numeric *f, int32_t s, int m, int k);
/* The panel of a finished front that is to be packed, from where it was made to its place. */
void NAME(cpu_pack_node)(numeric *f, int32_t s);
/* The same for its contribution block of order m - p. */
libsolver_status NAME(cpu_place_contribution)(numeric *f, int32_t s);
libsolver_status NAME(cpu_scratch_reserve)(numeric *f, scratch *t, int64_t m, int64_t k);
/* Frees memory that nodes had of their own and remembers in room what they needed. */
void NAME(cpu_release_own)(numeric *f);

/* assemble_tmpl.c: front of s := entries of A and the children's contribution blocks, for the
 * candidates; the children's `up` are then places in the front before pivoting.  It is made in
 * t->panel if it is to be packed.  LDL^T: t->magnitude too. */
libsolver_status NAME(cpu_assemble)(numeric *f, int32_t s, const scratch *t);
/* Adds what the children contribute to the contribution block of s. */
void NAME(cpu_assemble_contribution)(numeric *f, int32_t s);

/* eliminate_tmpl.c: LDL^T of the assembled front of s, with t->magnitude; t->permutation: where its
 * rows stood before.  CANCELLED, TOO_MANY_DELAYS. */
libsolver_status NAME(cpu_eliminate_front)(numeric *f, int32_t s, scratch *t);

/* The same for the front with the Schur complement: once its pivots are eliminated, what stands
 * behind them becomes the complement.  work: as in front_update_rest. */
void NAME(cpu_finish_schur_node)(numeric *f, scalar *work);

/* factorize_tmpl.c: one factorization of the given kind.  NOT_POSITIVE_DEFINITE with
 * report->failed_row, TOO_MANY_DELAYS, OUT_OF_MEMORY, CANCELLED. */
libsolver_status NAME(cpu_attempt)(numeric *f, int cholesky, const backend_options *options,
                                   backend_report *report);
/* Mixed precision: scaled here, factorized in single precision, the diagonal times 1 + shift. */
libsolver_status NAME(cpu_attempt_in_single)(numeric *f, double shift, int cholesky,
                                             const backend_options *options,
                                             backend_report *report);
/* elsewhere_tmpl.c: one Cholesky factorization by f->elsewhere, as cpu_attempt; shift: see
 * cholesky_request; see backend.set_cholesky and what follows it */
libsolver_status NAME(cpu_attempt_elsewhere)(numeric *f, double shift,
                                             const backend_options *options,
                                             backend_report *report);
libsolver_status NAME(cpu_take_scaling)(void *numeric, backend_scaling scaling, const void *scale,
                                        message *why);
libsolver_status NAME(cpu_take_factor)(void *numeric, void **panel, void **d, void **e,
                                       message *why);
void NAME(cpu_set_cholesky)(void *numeric, const backend_cholesky *calls);
/* simplicial_tmpl.c: one factorization by columns, as cpu_attempt; the parts of a solve that are
 * asked for, x: c right-hand sides as in a workspace. */
libsolver_status NAME(cpu_attempt_simplicial)(numeric *f, const backend_options *options,
                                              backend_report *report);
void NAME(cpu_solve_simplicial)(const numeric *f, int part, int c, scalar *x);
/* scale_tmpl.c: scale and largest from value.  OUT_OF_MEMORY, CANCELLED. */
libsolver_status NAME(cpu_scale)(numeric *f, backend_scaling scaling);
/* The same with scale factors that are there, n reals by rows of A. */
void NAME(cpu_scale_by)(numeric *f, const void *scale);
/* What the first scaling by matching takes. */
int64_t NAME(cpu_matching_bytes)(const cpu_plan *plan);

#endif
