/* solver/cpu/plan/plan.h: what the CPU backend knows from the pattern alone
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_PLAN_PLAN_H
#define SOLVER_CPU_PLAN_PLAN_H

#include "base/environment.h"
#include "base/backend.h"
#include "ordering/ordering.h"
#include "solver/cpu/plan/simplicial.h"
#include <stdatomic.h>

/* Which supernodes one task works through, one after the other: consecutive subtrees below the same
 * supernode. */
typedef struct task_range {
    int32_t first, last; /* supernodes [first, last) */
    int32_t above;       /* their parent, -1: none */
    int32_t next; /* the next range below the same parent, -1: none; also if there is no parent */
} task_range;

/* The tree cut for a number of threads.  The supernodes of heavy subtrees (upper) are tasks of
 * their own, started by the last of their children to finish; everything below is grouped into
 * ranges.  Results do not depend on the cut. */
typedef struct schedule {
    int threads; /* to run it with; 1 when the problem is small */
    double work; /* of the whole tree */
    int32_t ranges;
    task_range *range;    /* ascending */
    unsigned char *upper; /* supernodes */
    int32_t *pending;     /* supernodes: ranges and upper children an upper supernode waits for */
    int32_t *below;       /* supernodes: the first range below an upper supernode, -1: none */
    int32_t uppers, *upper_list; /* the upper supernodes, ascending */
} schedule;

/* pending(s) := what is to be waited for before the upper supernode s.  pending: supernodes. */
static inline void schedule_begin(const schedule *tasks, _Atomic int32_t *pending)
{
    for (int32_t k = 0; k < tasks->uppers; k++)
        atomic_init(&pending[tasks->upper_list[k]], tasks->pending[tasks->upper_list[k]]);
}

/* Takes one from what a supernode waits for; nonzero for the caller that took the last. */
static inline int schedule_was_last(_Atomic int32_t *pending)
{
    return atomic_fetch_sub(pending, 1) == 1;
}

/* Where the fronts of a factor lie, and their contribution blocks, and their rows while it solves:
 * in bytes, scalars and rows. */
typedef struct cpu_places {
    int cholesky;
    libsolver_type type;
    int64_t *block, *slot, *slot_entries, *solve_slot; /* supernodes; in one block of memory */
    int64_t blocks_bytes, slots_bytes, unpacked_bytes, solve_entries; /* of all */
    int64_t largest_front;                                            /* rows */
} cpu_places;

void cpu_places_free(memory *m, cpu_places *p);

/* Cholesky by columns is kept apart from fronts: their part of the plan is another plan, made when
 * a factorization first wants it. */
typedef struct cpu_plan {
    environment *env;
    int hermitian;            /* A = A^H, no difference for real types */
    int mixed;                /* the factor is in single precision, the matrix in double */
    int packs;                /* small panels of Cholesky may be packed: see node */
    partition part;           /* relaxed supernodes, k = first[s+1] - first[s], m = row_start[s+1] -
                                 row_start[s]; without fronts its n and perm only */
    int32_t *child, *sibling; /* supernodes: first child and next sibling, ascending, -1: none */
    int32_t *children;        /* supernodes: how many */
    int32_t *position; /* row_start[supernodes]: place of each row of a front in its parent's front;
                          pivot rows: unused */
    pattern a;         /* lower triangle of P A P^T; each column begins with its diagonal */
    int64_t *place;    /* nnz: entry of the pattern that was analysed -> entry of a; -1 - it: its
                          mirror image is there */
    int32_t *local;    /* nnz: place of the entry's row in the front of its column */
    const pattern *given;       /* the pattern that was analysed, and ... */
    const forest *given_forest; /* ... its forest, the analysis's */
    int32_t *matched_row;       /* n: a matching of all its columns from which one of new values can
                                   start, row of each column, ... */
    double *matched_dual;       /* n: ... and duals of rows; NULL: there is none */
    int32_t schur_size, schur_first; /* columns [schur_first, n), so many, are not eliminated ... */
    int32_t schur_node;     /* ... and belong to this supernode, the last one; -1: there are none */
    int8_t *sign;           /* n: expected of each pivot, in the plan's order; NULL: LDL^T pivots */
    simplicial *simplicial; /* Cholesky goes by columns; NULL: by fronts */
    struct cpu_plan *_Atomic by_fronts; /* with `simplicial`, once they are wanted: the plan that
                                           has fronts, in an order of its own */
    schedule tasks, solves;             /* of factorizations, of solves */
    double seconds;                     /* predicted of a factorization by one thread */
    int32_t largest_front;              /* max m */
    cpu_places places; /* of a factor as expected, without delayed columns; block NULL: not known */
    int64_t predicted_bytes; /* of a factor and its workspace: see backend.predict */
    int64_t bytes_here;      /* the same of a factor that is made here, whatever was expected */
} cpu_plan;

static inline int plan_has_fronts(const cpu_plan *plan)
{
    return plan->part.first != NULL;
}

/* Whether a row of P A P^T is one of the Schur complement's, which are not eliminated. */
static inline int plan_keeps_row(const cpu_plan *plan, int32_t row)
{
    return row >= plan->schur_first;
}
static inline int plan_pivots(const cpu_plan *plan, int32_t s)
{
    return plan->part.first[s + 1] - plan->part.first[s];
}
static inline int plan_rows(const cpu_plan *plan, int32_t s)
{
    return (int)(plan->part.row_start[s + 1] - plan->part.row_start[s]);
}

/* Predicted seconds of a front with k pivots and m rows, in a factorization and a few solves. */
double cpu_front_seconds(int64_t k, int64_t m);

/* Threads that are worth waking for a solve of so many columns: one or all, because a team of
 * another size than the last one makes OpenMP's library create threads, at about 60 us each. */
int cpu_plan_solve_threads(const cpu_plan *plan, int64_t columns);
/* Seconds that one thread takes for it at most. */
double cpu_plan_solve_seconds(const cpu_plan *plan, int64_t columns);

libsolver_status cpu_plan_create(const backend_problem *problem, cpu_plan **plan, message *why);
void cpu_plan_free(cpu_plan *plan);
/* The plan that has fronts, which may be this one; for any number of callers at a time.  NULL: no
 * memory for it. */
const cpu_plan *cpu_plan_with_fronts(const cpu_plan *plan);

/* cost: work of a front.  least: of the whole tree, below which one thread is faster than waking
 * others. */
libsolver_status schedule_build(memory *m, const partition *part, front_cost cost, double least,
                                int threads, schedule *tasks);
void schedule_free(memory *m, schedule *tasks);

/* Places for blocks that live from the end of their supernode's work to the end of its parent's,
 * such that no two that can be alive at the same time under the schedule overlap.  Supernodes at
 * even and odd depth use two arenas: a block may lie where those of its grandchildren were, never
 * where its children's are. size: entries of each block (may be 0).  offset, out: length
 * supernodes; may be size.  total, out: entries of the arenas; a block of odd depth is given an
 * offset behind the even arena, so that one array of total entries serves. */
libsolver_status slots_plan(memory *m, const partition *part, const schedule *tasks,
                            const int64_t *size, int64_t *offset, int64_t *total);

#endif
