/* gpu/plan/sources.c: what the right-hand side and the groups below send to the rows of a group
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every row has a list of sources that are added in its order: b first, then children in ascending
 * order.  A long list is summed by tasks of its own first. */
#include "gpu/plan/planner.h"

/* Sources that a task adds on the way. */
#define FEW_SOURCES 12
/* Sources of one row that one task adds when there are more. */
#define MANY_SOURCES 256

int32_t plan_input_at(draft *d, const value_place *at)
{
    int32_t code[FEW_SOURCES];
    for (int32_t part = 0; part < at->count; part++)
        code[part] = plan_packet_code(at->packet + part * at->stride);
    return draft_input(d, code, at->count);
}

void plan_sums_end(planner *p, int level)
{
    if (p->w.sum.outs > 0) {
        plan_task(p, &p->w.sum, 0);
        plan_unit_end(p, level);
    }
}

int32_t plan_sum(planner *p, const int32_t *source, int32_t count, int level)
{
    if (p->w.sums_counted_only)
        return plan_new_packets(p, 1);
    const draft_need need = {.inputs = 1, .sources = count, .outs = 1};
    if (!draft_has_room(&p->w.sum, &need) || p->w.sum.outs >= p->tuning->sum_outs)
        plan_sums_end(p, level);
    const int32_t in = draft_input(&p->w.sum, source, count);
    task_out *out = draft_out(&p->w.sum);
    out->add = (int16_t)in;
    out->dst = plan_new_packets(p, 1);
    return out->dst;
}

/* Place in [f; rows below] of group i for position q, which is in one of them. */
static int32_t place_of(const planner *p, int32_t i, int32_t q)
{
    return p->g->group_of[q] == i ? p->g->local[q] : p->in.place[q];
}

/* Room for the lists: two numbers a row (first, count), and the lists. */
static libsolver_status reserve(planner *p, int64_t sources)
{
    if (p->in.room >= sources)
        return LIBSOLVER_OK;
    memory_free(p->m, p->in.source);
    p->in.source = memory_new(p->m, 2 * sources, sizeof(int32_t));
    p->in.room = p->in.source ? 2 * sources : 0;
    return p->in.source ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

/* Sums of the sources of rows that have many, by tasks of MANY_SOURCES, until few are
 * left.  Returns whether any had many. */
static int presum(planner *p, int32_t rows, int level)
{
    int any = 0;
    for (int32_t row = 0; row < rows; row++) {
        int32_t *source = p->in.source + p->in.start[2 * row], count = p->in.start[2 * row + 1];
        if (count <= FEW_SOURCES)
            continue;
        any = 1;
        int32_t sums = 0;
        for (int32_t from = 0; from < count; from += MANY_SOURCES) {
            const int32_t some = count - from < MANY_SOURCES ? count - from : MANY_SOURCES;
            const int32_t packet = plan_sum(p, source + from, some, level);
            source[sums++] = plan_packet_code(packet);
        }
        p->in.start[2 * row + 1] = sums;
    }
    plan_sums_end(p, level);
    return any;
}

void plan_publish(planner *p, int32_t from, int32_t to, int level)
{
    for (int32_t row = from; row < to; row++)
        if (plan_source_count(p, row) > 1) {
            const int32_t packet =
                plan_sum(p, plan_source(p, row), plan_source_count(p, row), level);
            p->in.source[p->in.start[2 * row]] = plan_packet_code(packet);
            p->in.start[2 * row + 1] = 1;
        }
    plan_sums_end(p, level);
}

libsolver_status plan_find_sources(planner *p, int32_t i)
{
    const groups *g = p->g;
    const int32_t k = group_columns(g, i), r = group_rows(g, i);
    const int32_t *column = g->column + g->column_start[i], *row = g->row + g->row_start[i];
    int64_t sources = k;
    for (int32_t a = 0; a < r; a++)
        p->in.place[row[a]] = k + a;
    for (int32_t c = p->at.child_start[i]; c < p->at.child_start[i + 1]; c++)
        for (int64_t q = g->row_start[p->at.child[c]]; q < g->row_start[p->at.child[c] + 1]; q++)
            sources += p->at.w_at[q].count;
    TRY(reserve(p, sources));
    int32_t *start = p->in.start;
    for (int32_t a = 0; a < k + r; a++)
        start[2 * a + 1] = a < k;
    for (int32_t c = p->at.child_start[i]; c < p->at.child_start[i + 1]; c++)
        for (int64_t q = g->row_start[p->at.child[c]]; q < g->row_start[p->at.child[c] + 1]; q++)
            start[2 * place_of(p, i, g->row[q]) + 1] += p->at.w_at[q].count;
    for (int32_t a = 0, at = 0; a < k + r; a++) {
        start[2 * a] = at;
        at += start[2 * a + 1];
        start[2 * a + 1] = 0;
    }
    for (int32_t c = 0; c < k; c++)
        p->in.source[start[2 * c] + start[2 * c + 1]++] =
            (int32_t)((uint32_t)p->tree->user_row[column[c]] << 1 | SOURCE_B);
    for (int32_t c = p->at.child_start[i]; c < p->at.child_start[i + 1]; c++) {
        const int32_t h = p->at.child[c];
        for (int64_t q = g->row_start[h]; q < g->row_start[h + 1]; q++) {
            const int32_t a = place_of(p, i, g->row[q]);
            const value_place *w = &p->at.w_at[q];
            for (int32_t part = 0; part < w->count; part++)
                p->in.source[start[2 * a] + start[2 * a + 1]++] =
                    plan_packet_code(w->packet + part * w->stride);
        }
    }
    for (int round = 0; presum(p, k + r, plan_forward_level(p, i, LEVEL_PRESUM + round)); round++)
        ;
    return LIBSOLVER_OK;
}

/* Sources of x that a task backward adds itself, all inputs of a group together; beyond them it
 * waits for the sums. */
#define BACKWARD_SOURCES 384

int32_t plan_sources_of(const planner *p, int32_t from, int32_t to, int32_t *rows)
{
    int32_t count = 0;
    *rows = 0;
    for (int32_t a = from; a < to; a++) {
        count += plan_source_count(p, a);
        *rows += plan_source_count(p, a) > 0;
    }
    return count;
}

int32_t plan_backward_sources(const planner *p, int32_t i, int32_t from, int32_t to)
{
    const int32_t k = group_columns(p->g, i), *row = p->g->row + p->g->row_start[i];
    int32_t sources = 0;
    for (int32_t a = from; a < to; a++)
        sources += a < k ? 1 : p->at.x_at[row[a - k]].count;
    return sources;
}

void plan_backward_inputs(planner *p, draft *d, int32_t i, int32_t from, int32_t to, int parts)
{
    const int32_t k = group_columns(p->g, i), *row = p->g->row + p->g->row_start[i];
    for (int32_t a = from; a < to; a++)
        if (a < k)
            plan_input_at(d, &(value_place){.packet = p->at.z_packet[i] + a, .count = 1});
        else
            plan_input_at(d, parts ? &p->at.x_at[row[a - k]]
                                   : &(value_place){.packet = row[a - k], .count = 1});
}

int plan_in_parts(const planner *p, int32_t i, int32_t from, int32_t *sources)
{
    const int32_t m = group_columns(p->g, i) + group_rows(p->g, i);
    *sources = plan_backward_sources(p, i, from, m);
    if (*sources <= BACKWARD_SOURCES)
        return 1;
    *sources = m - from;
    return 0;
}

void plan_below_out(planner *p, int32_t i, int32_t a, draft *d, task_out *out)
{
    out->dst = p->at.w_at[p->g->row_start[i] + a - group_columns(p->g, i)].packet;
    if (plan_source_count(p, a) > 0)
        out->add = (int16_t)draft_input(d, plan_source(p, a), plan_source_count(p, a));
}
