/* test/support/fake/substitute_tmpl.c: a solve by substitution, task by task in their order
 * SPDX-License-Identifier: BSD-3-Clause */
#include "emulators.h"
#include "pivot.h"
#include <stdlib.h>
#include <string.h>

typedef struct substituter {
    const emulated_substitution *s;
    const device_substitution *plan;
    const scalar *panel, *d, *e, *b;
    scalar *x, *published;
    unsigned char *sent;
    const char *wrong;
    /* of a bundle at hand: its memory, and the slots that were written */
    char stage[BUNDLE_BYTES];
    wide slot[BUNDLE_SLOTS];
    unsigned char written[BUNDLE_SLOTS];
} substituter;

static void complain(substituter *t, int condition, const char *what)
{
    if (condition && !t->wrong)
        t->wrong = what;
}

static wide packet_of(substituter *t, int64_t at)
{
    complain(t, at < 0 || at >= t->plan->packets || !t->sent[at],
             "a packet is read before it is sent");
    return t->wrong ? 0 : t->published[at];
}

static void send(substituter *t, int64_t at, scalar v)
{
    complain(t, at < 0 || at >= t->plan->packets || t->sent[at], "a packet is sent twice");
    if (t->wrong)
        return;
    t->sent[at] = 1;
    t->published[at] = v;
}

static wide entry(const substituter *t, const substitution_node *v, int32_t i, int32_t j)
{
    return i == j && !t->plan->cholesky ? 1 : t->panel[v->panel + i + (int64_t)j * v->ld];
}

/* The scaled right-hand side at a position. */
static wide right_side(const substituter *t, int32_t position)
{
    const int32_t user = t->s->user_row[position];
    return (wide)t->b[user] * ((const real *)t->s->scale)[user];
}

static void send_x(substituter *t, int32_t position, wide x)
{
    const int32_t user = t->s->user_row[position];
    send(t, (int64_t)t->s->n + position, (scalar)x);
    t->x[user] = (scalar)x * ((const real *)t->s->scale)[user];
}

/* ---- Large nodes ----------------------------------------------------------------------------- */

/* Rows [from, to) of the front, as a device takes them. */
static void forward(substituter *t, const substitution_node *v, int32_t from, int32_t to)
{
    const int32_t k = v->columns, n = t->s->n;
    complain(t, to - from > SUBSTITUTE_ROWS, "a task has too many rows");
    for (int32_t i = from; i < to && !t->wrong; i++) {
        const int32_t *start = t->plan->source_start + v->sources + i;
        wide f = i < k ? right_side(t, v->first + i) : 0;
        for (int32_t q = start[0]; q < start[1]; q++)
            f += packet_of(t, 2 * (int64_t)n + t->plan->source[q]);
        for (int32_t j = 0; j < (i < k ? i : k); j++)
            f -= entry(t, v, i, j) * packet_of(t, v->first + j);
        if (i < k)
            send(t, v->first + i, (scalar)(f / entry(t, v, i, i)));
        else
            send(t, 2 * (int64_t)n + v->row_start + i - k, (scalar)f);
    }
}

/* Row `at` of D^-1 z. */
static wide divided(substituter *t, int32_t at)
{
    if (t->plan->cholesky)
        return packet_of(t, at);
    const pivot_row d = pivot_of(t->d, t->e, t->plan->hermitian, at);
    return d.diagonal * packet_of(t, at) +
           (d.neighbour ? d.off * packet_of(t, at + d.neighbour) : 0);
}

static void backward(substituter *t, const substitution_node *v, int32_t from, int32_t to)
{
    const int32_t n = t->s->n;
    complain(t, !t->plan->cholesky && from > 0 && t->e[v->first + from - 1] != 0,
             "a 2x2 pivot is split");
    for (int32_t i = to - 1; i >= from && !t->wrong; i--) {
        wide y = divided(t, v->first + i);
        for (int32_t j = i + 1; j < v->columns + v->rows; j++) {
            const int32_t c =
                j < v->columns ? v->first + j : t->plan->row[v->row_start + j - v->columns];
            y -= scalar_mirror((scalar)entry(t, v, j, i), t->plan->hermitian) *
                 packet_of(t, (int64_t)n + c);
        }
        send_x(t, v->first + i, y / entry(t, v, i, i)); /* real where it matters */
    }
}

/* ---- Bundles --------------------------------------------------------------------------------- */

static const bundle_head *head_of(const substituter *t)
{
    return (const bundle_head *)(const void *)t->stage;
}

static const int32_t *words_of(const substituter *t, int32_t at)
{
    return (const int32_t *)(const void *)t->stage + at;
}

static const bundle_node *member(const substituter *t, int32_t k)
{
    return (const bundle_node *)(const void *)words_of(t, head_of(t)->node) + k;
}

static wide entry_of(const substituter *t, const bundle_node *v, int32_t i, int32_t j)
{
    const scalar *panel = (const scalar *)(const void *)t->stage + v->panel;
    return i == j && !t->plan->cholesky ? 1 : panel[i + (int64_t)j * v->ld];
}

static void write_slot(substituter *t, int32_t at, wide value)
{
    complain(t, at < 0 || at >= head_of(t)->slots, "a slot is outside of a bundle");
    if (t->wrong)
        return;
    t->slot[at] = value;
    t->written[at] = 1;
}

static wide slot_of(substituter *t, int32_t at)
{
    complain(t, at < 0 || at >= head_of(t)->slots || !t->written[at],
             "a slot is read before it is written");
    return t->wrong ? 0 : t->slot[at];
}

static void fetch_part(substituter *t, const substitution_copy *c, const char *from, int64_t size)
{
    complain(t, c->from % 16 || c->to % 16 || c->bytes % 16 || c->bytes <= 0,
             "a copy is not aligned");
    complain(t,
             c->from < 0 || c->to < 0 || c->to + c->bytes > BUNDLE_BYTES ||
                 c->from + c->bytes > size,
             "a copy is out of bounds");
    if (!t->wrong)
        memcpy(t->stage + c->to, from + c->from, (size_t)c->bytes);
}

/* Brings a bundle's table and panels; what a launch does not copy stays as the bundle before left
 * it. */
static void fetch(substituter *t, const substitution_task *q)
{
    const int64_t all = (t->plan->panel_scalars + 2 * (int64_t)t->s->n) * (int64_t)sizeof(scalar);
    const char *panels = (const char *)t->panel;
    int64_t bytes = 0;
    for (int32_t c = 0; c < FIRST_COPIES && q->first[c].bytes > 0; c++) {
        if (c == 0)
            fetch_part(t, &q->first[c], (const char *)t->plan->table, INT64_MAX);
        else
            fetch_part(t, &q->first[c], panels, all);
        bytes += q->first[c].bytes;
    }
    for (int32_t c = q->from; c < q->to; c++) {
        fetch_part(t, &t->plan->copy[c], panels, all);
        bytes += t->plan->copy[c].bytes;
    }
    complain(t, bytes != q->bytes, "a bundle's bytes are not its copies'");
    complain(t, !t->wrong && head_of(t)->slots > BUNDLE_SLOTS, "a bundle has too many slots");
    memset(t->written, 0, sizeof t->written);
}

static void forward_member(substituter *t, const bundle_node *v)
{
    const int32_t k = v->shape & 0xff, front = k + (v->shape >> 8);
    const int32_t *outside = words_of(t, head_of(t)->outside) + v->slot,
                  *inside = words_of(t, head_of(t)->inside) + v->slot,
                  *code = words_of(t, head_of(t)->code),
                  *user = words_of(t, head_of(t)->user) + v->slot;
    complain(t, k > SUBSTITUTE_ROWS, "a node of a bundle has too many columns");
    for (int32_t i = 0; i < front && !t->wrong; i++) {
        complain(t, (user[i] >= 0) != (i < k), "a row of A is told for rows below, or not");
        wide f =
            i < k && !t->wrong ? (wide)t->b[user[i]] * ((const real *)t->s->scale)[user[i]] : 0;
        for (int32_t q = outside[i]; q < outside[i + 1]; q++)
            f += packet_of(t, code[q]);
        for (int32_t q = inside[i]; q < inside[i + 1]; q++)
            f += slot_of(t, code[q]);
        for (int32_t j = 0; j < (i < k ? i : k); j++)
            f -= entry_of(t, v, i, j) * slot_of(t, v->slot + j);
        f = i < k ? f / entry_of(t, v, i, i) : f;
        write_slot(t, v->slot + i, f);
        if (i < k)
            send(t, v->first + i, (scalar)f);
        else if (v->up >= 0)
            send(t, v->up + i - k, (scalar)f);
    }
}

static void backward_member(substituter *t, const bundle_node *v)
{
    const int32_t k = v->shape & 0xff, rows = v->shape >> 8;
    const int32_t *at = words_of(t, head_of(t)->at) + v->slot,
                  *user = words_of(t, head_of(t)->user) + v->slot;
    for (int32_t i = k - 1; i >= 0 && !t->wrong; i--) {
        complain(t, at[i] != v->first + i || user[i] != t->s->user_row[at[i]],
                 "a pivot is at another position");
        wide y = divided(t, v->first + i);
        for (int32_t j = i + 1; j < k + rows; j++)
            y -= scalar_mirror((scalar)entry_of(t, v, j, i), t->plan->hermitian) *
                 (j < k       ? slot_of(t, v->slot + j)
                  : at[j] < 0 ? packet_of(t, ~(int64_t)at[j])
                              : slot_of(t, at[j]));
        y /= entry_of(t, v, i, i);
        write_slot(t, v->slot + i, y);
        send_x(t, v->first + i, y);
    }
}

/* Nodes of a level may come in any order, of which the host takes the other way round forward. */
static void run_bundle(substituter *t, const substitution_task *q, int is_forward)
{
    fetch(t, q);
    if (t->wrong)
        return;
    const bundle_head *h = head_of(t);
    const int32_t *level = words_of(t, h->level);
    complain(t, level[0] != 0 || level[h->levels] != h->nodes, "levels leave out nodes");
    for (int32_t l = 0; l < h->levels && !t->wrong; l++) {
        if (is_forward)
            for (int32_t k = level[l + 1] - 1; k >= level[l]; k--)
                forward_member(t, member(t, k));
        else
            for (int32_t k = level[h->levels - l - 1]; k < level[h->levels - l]; k++)
                backward_member(t, member(t, k));
    }
}

static void run(substituter *t, int32_t number)
{
    const substitution_task *q = &t->plan->task[number];
    const int is_forward = number < t->plan->forward_tasks;
    complain(t, q->node >= 0 && q->to <= q->from, "a task has nothing to do");
    if (q->node < 0)
        run_bundle(t, q, is_forward);
    else
        (is_forward ? forward : backward)(t, &t->plan->node[q->node], q->from, q->to);
}

const char *NAME(emulate_substitution)(const emulated_substitution *s)
{
    const device_substitution *plan = s->plan;
    substituter *t = calloc(1, sizeof *t);
    if (!t)
        return "no memory";
    *t = (substituter){.s = s,
                       .plan = plan,
                       .panel = plan->factor,
                       .b = s->b,
                       .x = s->x,
                       .published = s->published,
                       .sent = calloc((size_t)plan->packets + 1, 1)};
    t->d = t->panel + plan->panel_scalars;
    t->e = t->d + s->n;
    for (int32_t k = 0; k < plan->tasks && !t->wrong; k++)
        run(t, k);
    for (int64_t i = 0; i < 2 * (int64_t)s->n && !t->wrong; i++)
        complain(t, !t->sent[i], "a packet is never sent");
    const char *wrong = t->wrong;
    free(t->sent);
    free(t);
    return wrong;
}
