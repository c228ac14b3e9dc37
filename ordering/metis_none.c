/* ordering/metis_none.c: a build without METIS
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/ordering.h"

libsolver_status order_metis(memory *m, const graph *g, int32_t *perm)
{
    (void)m, (void)g, (void)perm;
    return LIBSOLVER_NOT_BUILT;
}
