/* test/solve_emulator.c: runs the program of a solve on the host, one task after the other
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solve_emulator.h"
#include "random.h"
#include <stdlib.h>

typedef struct machine {
    const solve_plan *plan;
    const char *values;
    const double *scale, *b;
    double *x, *slot;
    unsigned char *written;
    char *stage;
    double in[TASK_INPUTS], v[TASK_OUTS];
    double *carry; /* TASK_OUTS for each block */
    const char *wrong;
} machine;

static void complain(machine *e, int condition, const char *what)
{
    if (condition && !e->wrong)
        e->wrong = what;
}

/* The stage with NaN wherever nothing is copied to.  copy: the task's first; *copies: their number. */
static const task_head *load(machine *e, const task_copy *first, int32_t left, int32_t *copies)
{
    *copies = 1;
    while (*copies < left && first[*copies].task_bytes == 0)
        ++*copies;
    int64_t bytes = 0;
    for (int k = 0; k < TASK_BYTES / 8; k++)
        ((double *)e->stage)[k] = 0.0 / 0.0;
    for (const task_copy *copy = first; copy < first + *copies; copy++) {
        const int64_t from = 16 * (int64_t)copy->from16, v = e->plan->value_bytes;
        complain(e, (from - copy->to) % COPY_ALIGN, "the ends of a copy do not lie alike");
        complain(e, copy->bytes % 16 || copy->to % 16 || (int64_t)copy->to + copy->bytes > TASK_BYTES, "a copy leaves its stage");
        complain(e, from + copy->bytes > v + e->plan->description_bytes || (from < v && from + copy->bytes > v),
                 "a copy leaves the program");
        if (e->wrong)
            return NULL;
        memcpy(e->stage + copy->to, from < v ? e->values + from : e->plan->description + from - v, copy->bytes);
        bytes += copy->bytes;
    }
    complain(e, bytes != first->task_bytes, "a task's bytes are not those of its copies");
    return (const task_head *)e->stage;
}

static const uint16_t *starts(const machine *e, const task_head *h)
{
    return h->start_at ? (const uint16_t *)(e->stage + h->start_at) : NULL;
}

/* Whether all that the task in the stage reads is there. */
static int ready(const machine *e, const task_head *h)
{
    const int32_t *code = (const int32_t *)(h + 1);
    const int sources = h->start_at ? starts(e, h)[h->inputs] : h->inputs;
    for (int k = 0; k < sources; k++)
        if (code[k] >= 0 && (code[k] & 1) == SOURCE_SLOT && !e->written[(uint32_t)code[k] >> 1])
            return 0;
    return 1;
}

static void gather(machine *e, const task_head *h)
{
    const int32_t *code = (const int32_t *)(h + 1);
    const uint16_t *start = starts(e, h);
    for (int k = 0; k < h->inputs; k++) {
        e->in[k] = 0;
        for (int q = start ? start[k] : k; q < (start ? start[k + 1] : k + 1); q++) {
            const uint32_t index = (uint32_t)code[q] >> 1;
            e->in[k] += code[q] < 0 ? 0 : (code[q] & 1) == SOURCE_B ? e->b[index] * e->scale[index] : e->slot[index];
        }
    }
}

static double entry(machine *e, const task_head *h, int64_t at)
{
    complain(e, h->tile_at + 8 * at + 8 > TASK_BYTES, "a product leaves its stage");
    return e->wrong ? 0 : ((const double *)(e->stage + h->tile_at))[at];
}

static double input(machine *e, const task_head *h, int k)
{
    complain(e, k >= h->inputs, "a product reads more than was gathered");
    return e->wrong ? 0 : e->in[k];
}

/* Slots that are multiplied together share all but their outs. */
static void check_strips(machine *e, const task_head *h)
{
    const task_slot *slot = (const task_slot *)(e->stage + h->slot_at), *lead = NULL;
    int rows = 0;
    for (int s = 0; s < h->slots; s++) {
        const task_slot *q = &slot[s];
        if (q->mode & SLOT_LEADS) {
            complain(e, rows != 0, "a strip lacks outs");
            lead = q;
            rows = (q->mode >> SLOT_ROWS_SHIFT) + 1;
        }
        const int o = lead ? q->out - lead->out : 0;
        complain(e, !lead || q->outs > rows || q->in != lead->in || q->inner != lead->inner ||
                        q->out_step != lead->out_step || q->inner_step != lead->inner_step ||
                        q->tile != lead->tile + (uint32_t)(o * q->out_step),
                 "a slot is not like the first of its strip");
        rows -= q->outs;
    }
    complain(e, rows != 0, "a strip lacks outs");
}

static void multiply(machine *e, const task_head *h)
{
    const task_slot *slot = (const task_slot *)(e->stage + h->slot_at);
    for (int o = 0; o < h->outs; o++)
        e->v[o] = 0;
    if (!(h->flags & TASK_TILES))
        check_strips(e, h);
    for (int q = 0; q < h->slots && h->flags & TASK_TILES; q++)
        for (int o = 0; o < h->outs; o++)
            for (int i = 0; i < SQUARE; i++)
                e->v[o] += entry(e, h, q * SQUARE * SQUARE + (h->flags & TASK_BACKWARD ? square_at(i, o) : square_at(o, i))) *
                           input(e, h, SQUARE * q + i);
    for (int s = 0; s < h->slots && !(h->flags & TASK_TILES); s++)
        for (int o = 0; o < slot[s].outs; o++) {
            complain(e, slot[s].out + o >= h->outs, "a slot has no out");
            for (int i = 0; i < slot[s].inner && !e->wrong; i++)
                e->v[slot[s].out + o] += entry(e, h, slot[s].tile + (int64_t)o * slot[s].out_step + (int64_t)i * slot[s].inner_step) *
                                         input(e, h, slot[s].in + i);
        }
}

static void publish(machine *e, const task_head *h)
{
    const task_out *out = (const task_out *)(e->stage + h->out_at);
    for (int o = 0; o < h->outs; o++) {
        e->v[o] += out[o].add >= 0 ? input(e, h, out[o].add) : 0;
        if (h->flags & TASK_CARRY_IN)
            e->v[o] += e->carry[o];
    }
    for (int o = 0; o < h->outs; o++) {
        double v = e->v[o];
        if (h->flags & TASK_CARRY_OUT) {
            e->carry[o] = v;
            continue;
        }
        if (out[o].flags & OUT_D) {
            v *= entry(e, h, out[o].row);
            if (out[o].flags & OUT_PAIR)
                v += entry(e, h, out[o].row + 1) * e->v[o ^ 1];
        } else if (out[o].row >= 0)
            e->x[out[o].row] = e->scale[out[o].row] * v;
        if (out[o].dst >= 0) {
            complain(e, out[o].dst >= e->plan->slots || e->written[out[o].dst], "a packet is written twice");
            if (e->wrong)
                return;
            e->slot[out[o].dst] = v;
            e->written[out[o].dst] = 1;
        }
    }
}

/* Runs the next task of the list if its inputs are there, and takes it off. */
static int step(machine *e, const task_copy *copy, task_list *list)
{
    int32_t copies;
    const task_head *h = load(e, copy + list->copy, list->copies, &copies);
    if (e->wrong || !ready(e, h))
        return 0;
    gather(e, h);
    multiply(e, h);
    publish(e, h);
    list->copy += copies;
    list->copies -= copies;
    list->tasks--;
    complain(e, (list->copies == 0) != (list->tasks == 0), "a list's tasks are not those of its copies");
    return !e->wrong;
}

static void by_levels(machine *e)
{
    for (int32_t u = 0; u < e->plan->unit_count; u++)
        for (task_list list = e->plan->unit[u].list; list.tasks > 0 && !e->wrong;)
            complain(e, !step(e, e->plan->copy, &list), "a level reads what none below it writes");
}

static void by_blocks(machine *e, uint64_t seed)
{
    random_stream r = random_seeded(seed);
    const int32_t blocks = e->plan->blocks;
    int32_t left = 0;
    task_list *list = calloc((size_t)blocks, sizeof *list);
    double *carry = e->carry;
    for (int32_t b = 0; b < blocks; b++) {
        list[b] = e->plan->block[b];
        left += list[b].tasks;
    }
    for (int idle = 0; left > 0 && !e->wrong;) {
        const int32_t from = (int32_t)random_below(&r, (uint64_t)blocks);
        idle = 1;
        for (int32_t q = 0; q < blocks && idle; q++) {
            const int32_t b = (from + q) % blocks;
            e->carry = carry + (int64_t)b * TASK_OUTS;
            if (list[b].tasks > 0 && step(e, e->plan->block_copy, &list[b])) {
                left--;
                idle = 0;
            }
        }
        complain(e, idle, "no block can go on");
    }
    e->carry = carry;
    free(list);
}

static const char *emulate(const solve_plan *plan, const char *values, const double *scale, const double *b, double *x,
                           const uint64_t *seed)
{
    machine *e = calloc(1, sizeof *e);
    *e = (machine){.plan = plan, .values = values, .scale = scale, .b = b, .x = x};
    e->slot = calloc((size_t)plan->slots + 1, sizeof(double));
    e->written = calloc((size_t)plan->slots + 1, 1);
    e->carry = calloc((size_t)plan->blocks * TASK_OUTS + 1, sizeof(double));
    e->stage = aligned_alloc(64, TASK_BYTES);
    if (seed)
        by_blocks(e, *seed);
    else
        by_levels(e);
    const char *wrong = e->wrong;
    free(e->slot);
    free(e->written);
    free(e->carry);
    free(e->stage);
    free(e);
    return wrong;
}

const char *emulate_by_levels(const solve_plan *plan, const char *values, const double *scale, const double *b, double *x)
{
    return emulate(plan, values, scale, b, x, NULL);
}

const char *emulate_by_blocks(const solve_plan *plan, const char *values, const double *scale, const double *b, double *x,
                              uint64_t seed)
{
    return emulate(plan, values, scale, b, x, &seed);
}
