/* gpu/batch/tree_plan.c: a pattern's fronts as a tree, and the plan of its solve
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/batch/tree_plan.h"
#include "base/message.h"
#include "gpu/factor/program.h"
#include "gpu/substitute/substitution_plan.h"
#include <string.h>

/* Fronts from which on an item is shared out among all blocks of the device, whatever its number:
 * one block's way through as many is longer than what the device takes for ten items. */
enum { MANY_FRONTS = 512 };

int batch_solves_by_tree(const factor_pattern *p)
{
    return p->nodes >= MANY_FRONTS;
}

libsolver_status batch_tree_plan(memory *m, const factor_program *g, const factor_pattern *p,
                                 libsolver_type type, substitution *s)
{
    const int32_t nodes = p->nodes;
    const int64_t rows = p->row_start[nodes] - p->n;
    int64_t *row_start = memory_new(m, (int64_t)nodes + 1, sizeof(int64_t)),
            *panel_at = memory_new(m, (int64_t)nodes + 1, sizeof(int64_t));
    int32_t *row = memory_new(m, rows, sizeof(int32_t)),
            *ld = memory_new(m, nodes, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    *s = (substitution){.n = 0};
    if (row_start && panel_at && row && ld) {
        row_start[0] = 0;
        for (int32_t v = 0; v < nodes; v++) {
            const int64_t below = p->row_start[v + 1] - p->row_start[v] - g->front[v].k;
            memcpy(row + row_start[v], p->index + p->row_start[v] + g->front[v].k,
                   (size_t)below * sizeof *row);
            row_start[v + 1] = row_start[v] + below;
            ld[v] = g->front[v].ld;
            panel_at[v] = g->front[v].panel;
        }
        panel_at[nodes] = g->panel_scalars;
        const factor_tree tree = {.type = type,
                                  .hermitian = p->hermitian,
                                  .cholesky = !p->signs,
                                  .n = p->n,
                                  .nodes = nodes,
                                  .first = p->first,
                                  .above = p->above,
                                  .row_start = row_start,
                                  .row = row,
                                  .ld = ld,
                                  .user_row = p->row_of};
        status = substitution_build(m, &tree, NULL, panel_at, s);
        if (status == LIBSOLVER_OK && !s->own_row) {
            s->own_row = row;
            row = NULL;
        }
    }
    memory_free(m, row_start);
    memory_free(m, panel_at);
    memory_free(m, row);
    memory_free(m, ld);
    return status;
}
