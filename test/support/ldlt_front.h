/* test/support/ldlt_front.h: a front whose candidates become L D L^T, and all that must then hold
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_LDLT_FRONT_H
#define TEST_SUPPORT_LDLT_FRONT_H

#define PREC_d
#include "dense.h"
#include "dense/cpu/ldlt.h"

/* The first k columns of a symmetric matrix of order m, and what became of them. */
typedef struct ldlt_front {
    int m, k, may_delay, plain; /* plain: threshold pivoting alone */
    double u;
    double *a, *panel, *d, *e, *magnitude;
    const double *assembled; /* magnitudes before; NULL: the largest entries of A */
    int32_t *index;
    front_report report;
} ldlt_front;

#define NAME_OF_ROW 1000 /* what index holds for row 0 before */

ldlt_front front_new(int m, int k);
void front_free(ldlt_front *f);

/* Fronts that are easy, delay pivots, need 2x2 pivots or are singular: 0 <= kind < FRONT_KINDS. */
#define FRONT_KINDS 10
ldlt_front front_random(random_stream *r, int m, int k, int kind);

/* Entry (i, j) of A, min(i, j) < k. */
double *front_at(const ldlt_front *f, int i, int j);
/* The magnitude of row i before the first pivot. */
double front_magnitude(const ldlt_front *f, int i);
/* Eliminates what it can of the front, an ldlt_front. */
void front_run(void *front);
/* |L| <= 1 / u; only at a root, where every candidate goes, may it be 4. */
double front_limit(const ldlt_front *f);
/* P A P^T = L D L^T + what is left in the delayed columns, |L| <= limit, magnitudes, report. */
void front_check(ldlt_front *f, double limit);

#endif
