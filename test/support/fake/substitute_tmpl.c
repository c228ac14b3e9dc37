/* test/support/fake/substitute_tmpl.c: a solve by substitution, task by task in their order
 * SPDX-License-Identifier: BSD-3-Clause */
#include "emulators.h"
#include "pivot.h"
#include <stdlib.h>

typedef struct substituter {
    const emulated_substitution *s;
    const device_substitution *plan;
    const scalar *panel, *d, *e, *b;
    scalar *x, *published;
    unsigned char *sent;
    const char *wrong;
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

/* Rows [from, to) of the front, as a device takes them. */
static void forward(substituter *t, const substitution_node *v, int32_t from, int32_t to)
{
    const int32_t k = v->columns, n = t->s->n;
    complain(t, to - from > SUBSTITUTE_ROWS && k > SUBSTITUTE_SMALL, "a task has too many rows");
    for (int32_t i = from; i < to && !t->wrong; i++) {
        const int64_t front = v->first + v->row_start + i;
        const int32_t user = i < k ? t->s->user_row[v->first + i] : 0;
        wide f = i < k ? (wide)t->b[user] * ((const real *)t->s->scale)[user] : 0;
        for (int32_t q = t->plan->source_start[front]; q < t->plan->source_start[front + 1]; q++)
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
        y /= entry(t, v, i, i); /* real where it matters */
        const int32_t user = t->s->user_row[v->first + i];
        send(t, (int64_t)n + v->first + i, (scalar)y);
        t->x[user] = (scalar)y * ((const real *)t->s->scale)[user];
    }
}

/* The nodes of a task of small ones may come in any order that their values allow, of which the
 * host takes the plan's forward and the other way round backward. */
static void run(substituter *t, int32_t number)
{
    const substitution_task *q = &t->plan->task[number];
    const int is_forward = number < t->plan->forward_tasks, together = q->node < 0;
    complain(t, q->to <= q->from || (together && q->to - q->from > SUBSTITUTE_WARPS),
             "a task has nothing to do, or too much");
    for (int32_t i = q->from; i < q->to && !t->wrong; i++) {
        const int32_t other = q->from + q->to - 1 - i;
        const substitution_node *v =
            &t->plan->node[!together ? q->node : t->plan->small[is_forward ? i : other]];
        const int32_t from = together ? 0 : q->from, end = v->columns + (is_forward ? v->rows : 0),
                      to = together ? end : q->to;
        if (is_forward)
            forward(t, v, from, to);
        else
            backward(t, v, from, to);
        if (!together)
            return;
    }
}

const char *NAME(emulate_substitution)(const emulated_substitution *s)
{
    const device_substitution *plan = s->plan;
    substituter t = {.s = s,
                     .plan = plan,
                     .panel = plan->factor,
                     .b = s->b,
                     .x = s->x,
                     .published = s->published,
                     .sent = calloc((size_t)plan->packets + 1, 1)};
    t.d = t.panel + plan->panel_scalars;
    t.e = t.d + s->n;
    for (int32_t k = 0; k < plan->tasks; k++)
        run(&t, k);
    for (int64_t i = 0; i < plan->packets && !t.wrong; i++)
        complain(&t, !t.sent[i], "a packet is never sent");
    free(t.sent);
    return t.wrong;
}
