/* solver/matching/matching.h: scaling by a maximum-product matching
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_MATCHING_MATCHING_H
#define SOLVER_MATCHING_MATCHING_H

#include "base/memory.h"
#include "ordering/ordering.h"

/* Most that scale factors of a matching may range over, as a power of two, where there is a choice.
 * Solutions of the scaled matrix range over as much more, and before it is refined a solution may
 * lose as many digits in rows where it is small: kkt_3d27, 2^17, 1e-10 (without pairs, with a lower
 * threshold, 7e-8); ncvxqp1, 2^50, 4e-5 (without pairs, in three times as long, 2e-13). */
#define MATCHING_MILD_RANGE 20

/* Memory of matching_scale for one pattern. */
typedef struct matching {
    int32_t n;
    pattern lower;                                  /* whose arrays are the caller's */
    int64_t *start;                                 /* n + 1: columns of the full matrix */
    int32_t *row;                                   /* start[n] */
    double *cost;                                   /* start[n] */
    double *u, *v, *distance;                       /* n each */
    int32_t *row_of, *column_of, *from, *heap, *at; /* n each */
    int found;                                      /* there is a matching of the costs */
    int32_t size; /* columns of the last matching, or of one to start from; 0: none */
} matching;

/* Pattern: lower triangle by columns, rows in any order, which must stay where they are.
 * OUT_OF_MEMORY. */
libsolver_status matching_create(memory *m, const pattern *a, matching **matching);
void matching_free(memory *m, matching *matching);
/* What matching_create takes. */
int64_t matching_bytes(const pattern *a);

/* Scaling s such that |s(i) a(i,j) s(j)| <= 1 for all entries and, if A is structurally
 * nonsingular, = 1 on a permutation of largest product [Duff, Koster 2001; symmetric: Duff, Pralet
 * 2005].  magnitude: |a| of the pattern's entries.  scale: length n, out, its base-2 logarithm.
 * Allocates nothing.  Sparse shortest augmenting paths: O(n (nnz + n) log n) at worst, near-linear
 * on most matrices; the next call starts from the matching of the last one, with the same values it
 * takes O(nnz).  Returns the size of the matching. */
int32_t matching_scale(matching *matching, const double *magnitude, double *log2_scale);

/* Whether they keep to it.  log2_scale: length n, from matching_scale. */
int matching_is_mild(int32_t n, const double *log2_scale);

/* has_pivot, length n, out: whether the diagonal entry of a row, scaled by a matching of all rows,
 * is at least 2^log2_least, where 1 is the largest. */
void matching_diagonal(const matching *matching, double log2_least, unsigned char *has_pivot);

/* Makes a matching of all columns, found on the same pattern with whatever values, the one to start
 * from: row_of and u (duals of rows), length n. */
void matching_start_from(matching *matching, const int32_t *row_of, const double *u);

/* Pairs of rows to be eliminated together as 2x2 pivots, from the matching found last: its cycles
 * are cut into pairs, an odd one leaves a single row [Duff, Pralet 2005].  class_of: length n, out;
 * returns the number of classes (pairs and single rows). */
int32_t matching_pairs(const matching *matching, int32_t *class_of);

#endif
