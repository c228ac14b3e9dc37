/* gpu/batch/batch_tables.c: what solves of a batch read of a pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/batch/batch_tables.h"
#include "base/memory.h"
#include "base/message.h"
#include "gpu/factor/program.h"

/* Rows below the pivots, from the root down: a row's place in the front of the parent says which it
 * is there. */
static void name_rows(const factor_pattern *p, batch_tables *t)
{
    for (int32_t s = p->nodes - 1; s >= 0; s--) {
        const batch_front *f = &t->front[s];
        for (int32_t i = f->k; i < f->m; i++) {
            const batch_front *above = &t->front[p->above[s]];
            const int32_t at = p->position[p->row_start[s] + i];
            t->row[f->rows + i - f->k] =
                at < above->k ? above->first + at : t->row[above->rows + at - above->k];
        }
    }
}

libsolver_status batch_tables_build(memory *m, const factor_program *g, const factor_pattern *p,
                                    batch_tables *t)
{
    *t = (batch_tables){.n = p->n, .fronts = p->nodes};
    for (int32_t s = 0; s < p->nodes; s++)
        t->rows += g->front[s].m - g->front[s].k;
    t->front = memory_new(m, t->fronts, sizeof(batch_front));
    t->row = memory_new(m, t->rows, sizeof(int32_t));
    if (!t->front || !t->row)
        return LIBSOLVER_OUT_OF_MEMORY;
    int64_t rows = 0;
    for (int32_t s = 0; s < p->nodes; s++) {
        const factor_front *f = &g->front[s];
        t->front[s] = (batch_front){
            .panel = f->panel, .rows = rows, .first = f->first, .k = f->k, .m = f->m, .ld = f->ld};
        rows += f->m - f->k;
        t->wide = f->m > t->wide ? f->m : t->wide;
    }
    name_rows(p, t);
    return LIBSOLVER_OK;
}

void batch_tables_free(memory *m, batch_tables *t)
{
    memory_free(m, t->front);
    memory_free(m, t->row);
}
