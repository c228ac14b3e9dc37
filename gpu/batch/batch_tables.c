/* gpu/batch/batch_tables.c: what solves of a batch read of a pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/batch/batch_tables.h"
#include "base/memory.h"
#include "base/message.h"
#include "gpu/factor/program.h"

/* While the tables are made. */
typedef struct table_builder {
    const factor_program *program;
    const factor_pattern *pattern;
    batch_tables *t;
    uint8_t *part;  /* nodes: see batch_share_fronts */
    int32_t *order; /* nodes: the pattern's front of each of t->front; ... */
    int32_t *place; /* ... where each of the pattern's is there */
    int32_t *top;   /* n: place among the pivots of the top, -1: not one of them */
} table_builder;

/* Fronts part by part. */
static void order_fronts(table_builder *b)
{
    batch_tables *t = b->t;
    const factor_pattern *p = b->pattern;
    int32_t at = 0;
    int64_t rows = 0;
    for (int part = 0; part <= BATCH_PARTS; part++) {
        t->share.begin[part] = at;
        for (int32_t s = 0; s < p->nodes; s++)
            if (b->part[s] == part) {
                b->place[s] = at;
                b->order[at++] = s;
            }
        if (part < BATCH_PARTS && at > t->share.begin[part])
            t->share.parts = part + 1;
    }
    for (int32_t q = 0; q < p->nodes; q++) {
        const factor_front *f = &b->program->front[b->order[q]];
        t->front[q] = (batch_front){
            .panel = f->panel, .rows = rows, .first = f->first, .k = f->k, .m = f->m, .ld = f->ld};
        rows += f->m - f->k;
    }
}

static void name_top(table_builder *b)
{
    batch_tables *t = b->t;
    for (int32_t k = 0; k < t->n; k++)
        b->top[k] = -1;
    for (int32_t q = t->share.begin[BATCH_PARTS]; q < t->fronts; q++)
        for (int32_t j = 0; j < t->front[q].k; j++) {
            t->top_row[t->share.top] = t->front[q].first + j;
            b->top[t->front[q].first + j] = t->share.top++;
        }
}

/* Rows below the pivots, from the root down: a row's place in the front of the parent says which it
 * is there. */
static void name_rows(const table_builder *b)
{
    const factor_pattern *p = b->pattern;
    batch_tables *t = b->t;
    for (int32_t s = p->nodes - 1; s >= 0; s--) {
        const batch_front *f = &t->front[b->place[s]];
        for (int32_t i = f->k; i < f->m; i++) {
            const batch_front *above = &t->front[b->place[p->above[s]]];
            const int32_t at = p->position[p->row_start[s] + i],
                          row = at < above->k ? above->first + at
                                              : t->row[above->rows + at - above->k];
            t->row[f->rows + i - f->k] = row;
            t->shared[f->rows + i - f->k] = b->part[s] < BATCH_PARTS && b->top[row] >= 0
                                                ? t->n + b->part[s] * t->share.top + b->top[row]
                                                : row;
        }
    }
}

static libsolver_status build(memory *m, table_builder *b)
{
    const factor_pattern *p = b->pattern;
    batch_tables *t = b->t;
    for (int32_t s = 0; s < p->nodes; s++)
        t->rows += b->program->front[s].m - b->program->front[s].k;
    t->front = memory_new(m, t->fronts, sizeof(batch_front));
    t->row = memory_new(m, t->rows, sizeof(int32_t));
    t->shared = memory_new(m, t->rows, sizeof(int32_t));
    t->top_row = memory_new(m, p->n, sizeof(int32_t));
    b->part = memory_new(m, p->nodes, 1);
    b->order = memory_new(m, p->nodes, sizeof(int32_t));
    b->place = memory_new(m, p->nodes, sizeof(int32_t));
    b->top = memory_new(m, p->n, sizeof(int32_t));
    if (!t->front || !t->row || !t->shared || !t->top_row || !b->part || !b->order || !b->place ||
        !b->top)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(batch_share_fronts(m, b->program, p, b->part));
    order_fronts(b);
    name_top(b);
    name_rows(b);
    return LIBSOLVER_OK;
}

libsolver_status batch_tables_build(memory *m, const factor_program *g, const factor_pattern *p,
                                    batch_tables *t)
{
    table_builder b = {.program = g, .pattern = p, .t = t};
    *t = (batch_tables){.n = p->n, .fronts = p->nodes};
    const libsolver_status status = build(m, &b);
    memory_free(m, b.part);
    memory_free(m, b.order);
    memory_free(m, b.place);
    memory_free(m, b.top);
    return status;
}

void batch_tables_free(memory *m, batch_tables *t)
{
    memory_free(m, t->front);
    memory_free(m, t->row);
    memory_free(m, t->shared);
    memory_free(m, t->top_row);
}
