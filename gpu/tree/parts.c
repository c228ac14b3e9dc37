/* gpu/tree/parts.c: large nodes cut into parts, by the predicted time of a solve and of forming
 * inverses
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The inverse of a node of k columns takes k^3 / 3 operations and more, those of m equal parts an
 * m-th of that, side by side; but a solve takes two steps more for each part. */
#include "gpu/tree/groups.h"
#include "base/message.h"
#include <float.h>

/* Least columns of the parts of the largest node. */
#define LEAST_PART 256

libsolver_status parts_cut(memory *m, const factor_tree *tree, const unsigned char *joined,
                           int64_t largest, pieces *p)
{
    int32_t *cut = memory_new(m, p->count, sizeof(int32_t));
    if (!cut)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t i = 0; i < p->count; i++) {
        const int64_t k = p->end[i] - p->begin[i];
        cut[i] = k > largest ? (int32_t)((k + largest - 1) / largest) : 0;
    }
    const libsolver_status status = pieces_split(m, tree, cut, joined, p);
    memory_free(m, cut);
    return status;
}

/* The forecast for the groups of these pieces. */
static libsolver_status forecast(memory *m, const factor_tree *tree, const layer_costs *costs,
                                 const pieces *p, double *seconds)
{
    groups g = {0};
    int32_t *layer = memory_new(m, p->count, sizeof(int32_t));
    libsolver_status status =
        layer ? layers_choose(m, tree, p, costs, layer) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK)
        status = groups_build(m, tree, p, layer, &g);
    if (status == LIBSOLVER_OK)
        *seconds = groups_seconds(&g, costs);
    groups_free(m, &g);
    memory_free(m, layer);
    return status;
}

/* Whole nodes, cut so. */
static libsolver_status try_parts(memory *m, const factor_tree *tree, const unsigned char *joined,
                                  const layer_costs *costs, int64_t largest, pieces *p,
                                  double *seconds)
{
    libsolver_status status = pieces_build(m, tree, p);
    if (status == LIBSOLVER_OK)
        status = parts_cut(m, tree, joined, largest, p);
    if (status == LIBSOLVER_OK)
        status = forecast(m, tree, costs, p, seconds);
    if (status != LIBSOLVER_OK)
        pieces_free(m, p);
    return status;
}

libsolver_status parts_choose(memory *m, const factor_tree *tree, const unsigned char *joined,
                              const layer_costs *costs, pieces *p)
{
    static const int64_t parts[] = {1, 2, 3, 4, 6, 8};
    double best = DBL_MAX;
    int64_t largest = 0;
    int worse = 0; /* trials one after the other */
    for (int32_t i = 0; i < p->count; i++)
        largest = p->end[i] - p->begin[i] > largest ? p->end[i] - p->begin[i] : largest;
    for (size_t q = 0; q < sizeof parts / sizeof parts[0] && worse < 2; q++) {
        pieces other = {0};
        double seconds;
        if (largest < LEAST_PART * (q == 0 ? 2 : parts[q]))
            break;
        const libsolver_status status =
            try_parts(m, tree, joined, costs, (largest + parts[q] - 1) / parts[q], &other,
                      &seconds);
        if (status != LIBSOLVER_OK)
            return status;
        worse = seconds < best ? 0 : worse + 1;
        if (seconds < best) {
            best = seconds;
            pieces swap = *p;
            *p = other;
            other = swap;
        }
        pieces_free(m, &other);
    }
    return LIBSOLVER_OK;
}
