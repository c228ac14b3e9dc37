/* gpu/tree/tree_joined_tmpl.c: the 2x2 pivots of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/tree/tree_shape.h"
#include "base/scalar.h"

void NAME(tree_joined)(const factor_tree *tree, unsigned char *joined)
{
    for (int32_t s = 0; s < tree->nodes; s++)
        for (int32_t c = tree->first[s]; c < tree->first[s + 1]; c++)
            joined[c] = !tree->cholesky && tree->e[s] &&
                        ((const scalar *)tree->e[s])[c - tree->first[s]] != 0;
}
