/* gpu/substitute/bundle_table.c: for each row of a front what is added there, and for each row
 * below a node where its x is; the tables of bundles
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/bundle_table.h"
#include "base/type.h"
#include <string.h>

/* start(i + 1) := how many sources each row i has; then, with their sums, where they begin; at
 * last, when each has been moved on past its sources, back again. */
static void begin_list(source_list l, int32_t front)
{
    memset(l.start + 1, 0, (size_t)front * sizeof *l.start);
}
static void sum_list(source_list l, int32_t front)
{
    for (int32_t i = 0; i < front; i++)
        l.start[i + 1] += l.start[i];
}
static void end_list(source_list l, int32_t front, int32_t first)
{
    for (int32_t i = front; i > 0; i--)
        l.start[i] = l.start[i - 1];
    l.start[0] = first;
}

/* Counts the sources of v, or puts them down. */
static libsolver_status visit_sources(const substitution_draft *d, int32_t v, source_list outside,
                                      const source_list *inside, int puts)
{
    const int64_t packets = inside ? 2 * (int64_t)d->tree->n : 0;
    for (int32_t k = d->children->start[v]; k < d->children->start[v + 1]; k++) {
        const int32_t child = d->children->child[k];
        const substitution_node *c = &d->node[child];
        const int here = inside && d->units->unit[child] == d->units->unit[v];
        const source_list l = here ? *inside : outside;
        const int64_t first = here ? d->slot[child] + c->columns : packets + c->row_start;
        for (int32_t i = 0; i < c->rows; i++) {
            const int32_t to = row_in_front(d->tree, d->place, v, d->tree->row[c->row_start + i]);
            if (to < 0)
                return LIBSOLVER_INTERNAL;
            if (puts)
                l.code[l.start[to]++] = (int32_t)(first + i);
            else
                l.start[to + 1]++;
        }
    }
    return LIBSOLVER_OK;
}

libsolver_status list_sources(const substitution_draft *d, int32_t v, source_list outside,
                              const source_list *inside)
{
    const substitution_node *q = &d->node[v];
    const int32_t front = q->columns + q->rows, first = outside.start[0],
                  first_inside = inside ? inside->start[0] : 0;
    if (d->children->start[v] < d->children->start[v + 1])
        for (int32_t i = 0; i < q->rows; i++)
            d->place[d->tree->row[q->row_start + i]] = i;
    begin_list(outside, front);
    if (inside)
        begin_list(*inside, front);
    const libsolver_status status = visit_sources(d, v, outside, inside, 0);
    if (status != LIBSOLVER_OK)
        return status;
    sum_list(outside, front);
    if (inside)
        sum_list(*inside, front);
    visit_sources(d, v, outside, inside, 1);
    end_list(outside, front, first);
    if (inside)
        end_list(*inside, front, first_inside);
    return LIBSOLVER_OK;
}

/* Where x of row i below v is. */
static int32_t back_of(const substitution_draft *d, int32_t v, int32_t i)
{
    const int32_t c = d->tree->row[d->node[v].row_start + i], a = d->owner[c];
    return d->units->unit[a] == d->units->unit[v] ? d->slot[a] + c - d->node[a].first
                                                  : ~(d->tree->n + c);
}

/* Sources of all rows of v; *outside: those from other units are added. */
static int64_t count_sources(const substitution_draft *d, int32_t v, int32_t *outside)
{
    int64_t count = 0;
    for (int32_t k = d->children->start[v]; k < d->children->start[v + 1]; k++) {
        const int32_t c = d->children->child[k];
        count += d->node[c].rows;
        if (d->units->unit[c] != d->units->unit[v])
            *outside += d->node[c].rows;
    }
    return count;
}

/* Slots of its nodes, and where the parts of its table begin; *outside: codes that are packets. */
static bundle_head begin_bundle(const substitution_draft *d, int32_t u, int64_t *words,
                                int32_t *outside)
{
    const int32_t *begin = d->units->node + d->units->start[u];
    bundle_head h = {.nodes = d->units->start[u + 1] - d->units->start[u]};
    int64_t codes = 0;
    *outside = 0;
    for (int32_t k = 0; k < h.nodes; k++) {
        const substitution_node *q = &d->node[begin[k]];
        d->slot[begin[k]] = h.slots;
        h.slots += q->columns + q->rows;
        codes += count_sources(d, begin[k], outside);
    }
    h.levels = d->units->level[begin[h.nodes - 1]] + 1;
    h.level = (int32_t)(sizeof h / sizeof(int32_t));
    h.node = (int32_t)round_up(h.level + h.levels + 1, 4);
    h.user = h.node + h.nodes * (int32_t)(sizeof(bundle_node) / sizeof(int32_t));
    h.at = h.user + h.slots;
    h.outside = h.at + h.slots;
    h.inside = h.outside + h.slots + 1;
    h.code = h.inside + h.slots + 1;
    *words = round_up(h.code + codes, 4);
    return h;
}

int64_t bundle_words(const substitution_draft *d, int32_t u)
{
    int64_t words;
    int32_t outside;
    begin_bundle(d, u, &words, &outside);
    return words;
}

/* Copies of the panels of unit u to byte `to` and behind, one for those that lie one behind the
 * other: nodes by number; where each panel comes to. */
static substitution_copy *copy_panels(const substitution_draft *d, int32_t u, int32_t to,
                                      substitution_copy *copy)
{
    const int64_t size = type_bytes(d->tree->type);
    substitution_copy now = {.to = to};
    for (int32_t k = d->units->start[u]; k < d->units->start[u + 1]; k++) {
        const int32_t v = d->units->ascending[k];
        int64_t from;
        const int64_t bytes = bundle_panel_bytes(d->tree, d->panel_at, v, &from);
        if (bytes == 0)
            continue;
        if (now.bytes > 0 && from > now.from + now.bytes) {
            *copy++ = now;
            now = (substitution_copy){.from = from, .to = now.to + now.bytes};
        } else if (now.bytes == 0) {
            now.from = from;
        }
        now.bytes = (int32_t)(from + bytes - now.from);
        d->panel[v] = (int32_t)((now.to + d->panel_at[v] * size - now.from) / size);
    }
    if (now.bytes > 0)
        *copy++ = now;
    return copy;
}

/* What the table says of node v. */
static bundle_node describe(const substitution_draft *d, int32_t v)
{
    const substitution_node *q = &d->node[v];
    const int32_t up = d->tree->above[v];
    const int outside = up >= 0 && d->units->unit[up] != d->units->unit[v];
    return (bundle_node){.panel = d->panel[v],
                         .ld = q->ld,
                         .shape = q->columns | q->rows << 8,
                         .slot = d->slot[v],
                         .first = q->first,
                         .up = outside ? (int32_t)(2 * (int64_t)d->tree->n + q->row_start) : -1};
}

/* What it says of the slots of node v. */
static libsolver_status describe_slots(const substitution_draft *d, int32_t v, const bundle_head *h,
                                       int32_t *table)
{
    const substitution_node *q = &d->node[v];
    int32_t *user = table + h->user + d->slot[v], *at = table + h->at + d->slot[v];
    for (int32_t i = 0; i < q->columns; i++) {
        user[i] = d->tree->user_row[q->first + i];
        at[i] = q->first + i;
    }
    for (int32_t i = 0; i < q->rows; i++) {
        user[q->columns + i] = -1;
        at[q->columns + i] = back_of(d, v, i);
    }
    const source_list outside = {table + h->outside + d->slot[v], table + h->code},
                      inside = {table + h->inside + d->slot[v], table + h->code};
    return list_sources(d, v, outside, &inside);
}

libsolver_status bundle_write(const substitution_draft *d, int32_t u, int64_t at, int32_t *table,
                              substitution_copy **copies)
{
    const int32_t *nodes = d->units->node + d->units->start[u];
    int64_t words;
    int32_t outside;
    const bundle_head h = begin_bundle(d, u, &words, &outside);
    memset(table, 0, (size_t)words * sizeof *table);
    memcpy(table, &h, sizeof h);
    table[h.inside] = outside;
    *(*copies)++ = (substitution_copy){.from = 4 * at, .bytes = (int32_t)(4 * words)};
    *copies = copy_panels(d, u, (int32_t)(4 * words), *copies);
    for (int32_t k = 0; k < h.nodes; k++) {
        const int32_t v = nodes[k];
        const bundle_node said = describe(d, v);
        memcpy(table + h.node + k * (int32_t)(sizeof said / sizeof(int32_t)), &said, sizeof said);
        if (k == 0 || d->units->level[v] != d->units->level[nodes[k - 1]])
            table[h.level + d->units->level[v]] = k;
        const libsolver_status status = describe_slots(d, v, &h, table);
        if (status != LIBSOLVER_OK)
            return status;
    }
    table[h.level + h.levels] = h.nodes;
    return LIBSOLVER_OK;
}
