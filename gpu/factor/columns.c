/* gpu/factor/columns.c: by which words of a factorization others wait for columns of L
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/columns.h"
#include "gpu/factor/waits.h"

static void set_run(factor_columns *c, int32_t first, int32_t end)
{
    for (int32_t s = first; s < end && s < c->program->nodes; s++)
        c->run[s] = first;
}

libsolver_status factor_columns_build(memory *m, const factor_program *g, factor_columns *c)
{
    *c = (factor_columns){.program = g, .run = memory_new(m, g->nodes, sizeof(int32_t))};
    if (!c->run)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < g->nodes; s++)
        c->run[s] = -1;
    for (int64_t t = 0; t < g->tasks; t++)
        if (g->task[t].kind == FACTOR_SMALL)
            set_run(c, g->task[t].i, g->task[t].j);
    for (int64_t q = 0; q < g->ranges; q++)
        set_run(c, g->range[q].first, g->range[q].end);
    return LIBSOLVER_OK;
}

void factor_columns_free(memory *m, factor_columns *c)
{
    memory_free(m, c->run);
    c->run = NULL;
}

static column_words words_of(const void *user, int32_t node, int32_t column)
{
    const factor_columns *c = user;
    const factor_front *f = c->program->front + node;
    const int32_t b = column / FACTOR_TILE;
    if (c->run[node] >= 0)
        return (column_words){(int32_t)c->program->tiles + c->run[node], 1, 1};
    if (c->program->has_signs)
        return (column_words){(int32_t)c->program->tiles + node, 1,
                              factor_contributions(f) + (uint32_t)factor_row_blocks(f)};
    return (column_words){factor_tile_word(f, b, b), factor_row_blocks(f) - b, FACTOR_STORED};
}

column_progress factor_columns_progress(const factor_columns *c)
{
    return (column_progress){words_of, c, c->program, (int32_t)c->program->words - 1};
}
