/* ordering/amd.c: approximate minimum degree by SuiteSparse's AMD  [Amestoy, Davis, Duff, SIAM J. Matrix
 * Anal. Appl. 17 (1996); ACM Trans. Math. Softw. 30 (2004), Algorithm 837]
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

libsolver_status order_amd(memory *m, const graph *g, int32_t *perm)
{
    const int64_t nnz = g->start[g->n];
    return nnz + nnz / 5 + g->n <= INT32_MAX ? amd_order_32(m, g, perm) : amd_order_64(m, g, perm);
}
