/* ordering/amd.c: approximate minimum degree by SuiteSparse's AMD  [Amestoy, Davis, Duff, SIAM J.
 * Matrix Anal. Appl. 17 (1996); ACM Trans. Math. Softw. 30 (2004), Algorithm 837]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#ifdef AMD_IN_SUITESPARSE_FOLDER
#include <suitesparse/amd.h>
#else
#include <amd.h>
#endif

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
