/* ordering/amd.c: approximate minimum degree by SuiteSparse's AMD  [Amestoy, Davis, Duff, SIAM J.
 * Matrix Anal. Appl. 17 (1996); ACM Trans. Math. Softw. 30 (2004), Algorithm 837]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <math.h>
#ifdef AMD_IN_SUITESPARSE_FOLDER
#include <suitesparse/amd.h>
#else
#include <amd.h>
#endif

/* AMD puts vertices with more neighbours than this times sqrt(n) last.  Where a few with more than
 * FEW_DENSE sqrt(n) have DENSE_PART of all neighbours, each elimination would pass over the long
 * lists of those that it meets, and they come last all the same: kkt_primal4, 75 of 1564 vertices,
 * 5.1 ms and 0.2.  As dense as that are nearly all of lp_maros-r7_aat: without their degrees it
 * would take 13 times the operations. */
#define FEW_DENSE 2.5
#define DENSE_PART 0.25

static double dense_degree_over_root(const graph *g)
{
    const double limit = FEW_DENSE * sqrt((double)g->n);
    int32_t dense = 0;
    int64_t their = 0;
    for (int32_t v = 0; v < g->n; v++) {
        const int64_t degree = g->start[v + 1] - g->start[v];
        dense += (double)degree > limit;
        their += (double)degree > limit ? degree : 0;
    }
    return dense <= limit && (double)their >= DENSE_PART * (double)g->start[g->n]
               ? FEW_DENSE
               : AMD_DEFAULT_DENSE;
}

#define INTEGER int32_t
#define AMD_KERNEL amd_2
#define ORDER amd_order_32
#include "ordering/amd_tmpl.h"
#undef INTEGER
#undef AMD_KERNEL
#undef ORDER

#define INTEGER int64_t
#define AMD_KERNEL amd_l2
#define ORDER amd_order_64
#include "ordering/amd_tmpl.h"

/* A few vertices that stand for another number of rows than the others change nothing. */
#define ODD_PART 0.02

static int has_weights(const graph *g)
{
    if (!g->weight || g->n == 0)
        return 0;
    int64_t rows = 0, odd = 0;
    for (int32_t v = 0; v < g->n; v++)
        rows += g->weight[v];
    const int64_t mean = (rows + g->n / 2) / g->n;
    for (int32_t v = 0; v < g->n; v++)
        odd += g->weight[v] != mean;
    return (double)odd > ODD_PART * g->n;
}

libsolver_status order_amd(memory *m, const graph *g, int32_t *perm)
{
    if (has_weights(g))
        return amd_order_weighted(m, g, perm);
    const int64_t nnz = g->start[g->n];
    return nnz + nnz / 5 + g->n <= INT32_MAX ? amd_order_32(m, g, perm) : amd_order_64(m, g, perm);
}
