/* test/support/solve_emulator_tmpl.c: runs the program of a solve on the host, one task after the
 * other
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solve_emulator.h"
#include "base/scalar.h"
#include "random.h"
#include <stdlib.h>

typedef struct machine {
    const emulated_program *program;
    const scalar *b;
    scalar *x, *packet;
    unsigned char *written;
    char *stage;
    scalar in[TASK_INPUTS], v[TASK_OUTS];
    scalar *carry; /* TASK_OUTS for each list */
    task_times *times;
    uint64_t clock;
    const char *wrong;
} machine;

static void complain(machine *e, int condition, const char *what)
{
    if (condition && !e->wrong)
        e->wrong = what;
}

/* Bytes of a copy come to the stage, which has NaN wherever nothing is copied to. */
static void load(machine *e, const task_copy *copy)
{
    const int64_t from = 16 * (int64_t)copy->from16, v = e->program->value_bytes;
    complain(e, (from - copy->to) % COPY_ALIGN != 0, "the ends of a copy do not lie alike");
    complain(e, copy->bytes % 16 || copy->to % 16 || (int64_t)copy->to + copy->bytes > TASK_BYTES,
             "a copy leaves its stage");
    complain(e,
             from + copy->bytes > v + e->program->description_bytes ||
                 (from < v && from + copy->bytes > v),
             "a copy leaves the program");
    if (!e->wrong)
        memcpy(e->stage + copy->to,
               from < v ? e->program->values + from : e->program->description + from - v,
               copy->bytes);
}

static void unload(machine *e, const task_copy *copy, int32_t copies)
{
    for (int32_t k = 0; k < copies && !e->wrong; k++)
        memset(e->stage + copy[k].to, 0xff, copy[k].bytes);
}

/* All copies of the task that begins with this one, of at most `left`; returns their number. */
static int32_t load_task(machine *e, const task_copy *first, int32_t left)
{
    int32_t copies = 1;
    int64_t bytes = first->bytes;
    for (; copies < left && first[copies].task_bytes == 0; copies++) {
        load(e, &first[copies]);
        bytes += first[copies].bytes;
    }
    complain(e, bytes != first->task_bytes, "a task's bytes are not those of its copies");
    return copies;
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
        if (code[k] >= 0 && (code[k] & 1) == SOURCE_PACKET && !e->written[(uint32_t)code[k] >> 1])
            return 0;
    return 1;
}

static void gather(machine *e, const task_head *h)
{
    const int32_t *code = (const int32_t *)(h + 1);
    const uint16_t *start = starts(e, h);
    const real *scale = e->program->scale;
    for (int k = 0; k < h->inputs; k++) {
        e->in[k] = 0;
        for (int q = start ? start[k] : k; q < (start ? start[k + 1] : k + 1); q++) {
            const uint32_t index = (uint32_t)code[q] >> 1;
            e->in[k] += code[q] < 0                 ? 0
                        : (code[q] & 1) == SOURCE_B ? e->b[index] * scale[index]
                                                    : e->packet[index];
        }
    }
}

static scalar entry(machine *e, const task_head *h, int64_t at)
{
    const int64_t size = sizeof(scalar);
    complain(e, h->tile_at + size * at + size > TASK_BYTES, "a product leaves its stage");
    return e->wrong ? 0 : ((const scalar *)(e->stage + h->tile_at))[at];
}

static scalar input(machine *e, const task_head *h, int k)
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
        complain(e,
                 !lead || q->outs > rows || q->in != lead->in || q->inner != lead->inner ||
                     q->out_step != lead->out_step || q->inner_step != lead->inner_step ||
                     (q->mode & SLOT_CONJUGATE) != (lead->mode & SLOT_CONJUGATE) ||
                     q->tile != lead->tile + (uint32_t)(o * q->out_step),
                 "a slot is not like the first of its strip");
        rows -= q->outs;
    }
    complain(e, rows != 0, "a strip lacks outs");
}

static void multiply_slot(machine *e, const task_head *h, const task_slot *slot)
{
    for (int o = 0; o < slot->outs; o++) {
        complain(e, slot->out + o >= h->outs, "a slot has no out");
        for (int i = 0; i < slot->inner && !e->wrong; i++) {
            const scalar t =
                entry(e, h,
                      slot->tile + (int64_t)o * slot->out_step + (int64_t)i * slot->inner_step);
            e->v[slot->out + o] +=
                (slot->mode & SLOT_CONJUGATE ? scalar_conj(t) : t) * input(e, h, slot->in + i);
        }
    }
}

static void multiply_square(machine *e, const task_head *h, int q)
{
    for (int o = 0; o < h->outs; o++)
        for (int i = 0; i < SQUARE; i++) {
            const scalar t =
                entry(e, h,
                      q * SQUARE * SQUARE +
                          (h->flags & TASK_BACKWARD ? square_at(i, o) : square_at(o, i)));
            e->v[o] +=
                (h->flags & TASK_CONJUGATE ? scalar_conj(t) : t) * input(e, h, SQUARE * q + i);
        }
}

static void multiply(machine *e, const task_head *h)
{
    const task_slot *slot = (const task_slot *)(e->stage + h->slot_at);
    for (int o = 0; o < h->outs; o++)
        e->v[o] = 0;
    if (!(h->flags & TASK_TILES))
        check_strips(e, h);
    for (int q = 0; q < h->slots; q++)
        if (h->flags & TASK_TILES)
            multiply_square(e, h, q);
        else
            multiply_slot(e, h, &slot[q]);
}

static void publish(machine *e, const task_head *h)
{
    const task_out *out = (const task_out *)(e->stage + h->out_at);
    const real *scale = e->program->scale;
    for (int o = 0; o < h->outs; o++) {
        e->v[o] += out[o].add >= 0 ? input(e, h, out[o].add) : 0;
        if (h->flags & TASK_CARRY_IN)
            e->v[o] += e->carry[o];
    }
    for (int o = 0; o < h->outs; o++) {
        scalar v = e->v[o];
        if (h->flags & TASK_CARRY_OUT) {
            e->carry[o] = v;
            continue;
        }
        if (out[o].flags & OUT_D) {
            v *= entry(e, h, out[o].row);
            if (out[o].flags & OUT_PAIR)
                v += entry(e, h, out[o].row + 1) * e->v[o ^ 1];
        } else if (out[o].row >= 0) {
            complain(e,
                     out[o].dst < 0 || out[o].dst >= e->program->n ||
                         e->program->user_row[out[o].dst] != out[o].row,
                     "x goes to another row than its position's");
            if (!e->wrong)
                e->x[out[o].row] = scale[out[o].row] * v;
        }
        if (out[o].dst >= 0) {
            complain(e, out[o].dst >= e->program->packets || e->written[out[o].dst],
                     "a packet is written twice");
            if (e->wrong)
                return;
            e->packet[out[o].dst] = v;
            e->written[out[o].dst] = 1;
        }
    }
}

/* Runs the next task of the list if its inputs are there, and takes it off.  Its description comes
 * first. */
static int step(machine *e, task_list *list)
{
    const task_copy *copy = e->program->copy + list->copy;
    const task_head *h = (const task_head *)e->stage;
    load(e, copy);
    if (e->wrong || !ready(e, h)) {
        unload(e, copy, 1);
        return 0;
    }
    const int32_t copies = load_task(e, copy, list->copies);
    gather(e, h);
    multiply(e, h);
    publish(e, h);
    unload(e, copy, copies);
    if (e->times) {
        const uint64_t now = e->clock += 10;
        e->times[list->first] = (task_times){now, now + 1, now + 2, now + 3};
    }
    list->first++;
    list->copy += copies;
    list->copies -= copies;
    list->tasks--;
    complain(e, (list->copies == 0) != (list->tasks == 0),
             "a list's tasks are not those of its copies");
    return !e->wrong;
}

/* Lists of one level are independent: each runs to its end, the first drawn at random, then
 * round. */
static void by_levels(machine *e, random_stream *r)
{
    const emulated_program *p = e->program;
    for (int32_t level = 0, first = 0; level < p->levels; first += p->level_lists[level++]) {
        const int32_t count = p->level_lists[level], from = count > 0 ? random_below(r, count) : 0;
        for (int32_t q = 0; q < count; q++)
            for (task_list list = p->list[first + (from + q) % count]; list.tasks > 0 && !e->wrong;)
                complain(e, !step(e, &list), "a level reads what none below it writes");
    }
}

static void side_by_side(machine *e, random_stream *r)
{
    const int32_t lists = e->program->lists;
    int32_t left = 0;
    task_list *list = calloc((size_t)lists + 1, sizeof *list);
    scalar *carry = e->carry;
    for (int32_t b = 0; b < lists; b++) {
        list[b] = e->program->list[b];
        left += list[b].tasks;
    }
    for (int idle = 0; left > 0 && !e->wrong;) {
        const int32_t from = random_below(r, lists);
        idle = 1;
        for (int32_t q = 0; q < lists && idle; q++) {
            const int32_t b = (from + q) % lists;
            e->carry = carry + (int64_t)b * TASK_OUTS;
            if (list[b].tasks > 0 && step(e, &list[b])) {
                left--;
                idle = 0;
            }
        }
        complain(e, idle, EMULATOR_IS_STUCK);
    }
    e->carry = carry;
    free(list);
}

const char *NAME(emulate)(const emulated_program *program, const void *b, void *x, uint64_t seed,
                          task_times *times)
{
    random_stream r = random_seeded(seed);
    machine *e = calloc(1, sizeof *e);
    *e = (machine){.program = program, .b = b, .x = x, .times = times};
    e->packet = calloc((size_t)program->packets + 1, sizeof(scalar));
    e->written = calloc((size_t)program->packets + 1, 1);
    e->carry = calloc((size_t)program->lists * TASK_OUTS + 1, sizeof(scalar));
    e->stage = aligned_alloc(64, TASK_BYTES);
    memset(e->stage, 0xff, TASK_BYTES);
    if (program->levels > 0)
        by_levels(e, &r);
    else
        side_by_side(e, &r);
    const char *wrong = e->wrong;
    free(e->packet);
    free(e->written);
    free(e->carry);
    free(e->stage);
    free(e);
    return wrong;
}

static emulated_program program_of(const solve_plan *plan, const factor_tree *tree,
                                   const char *values)
{
    return (emulated_program){.n = tree->n,
                              .packets = plan->packets,
                              .values = values,
                              .description = plan->description,
                              .value_bytes = plan->value_bytes,
                              .description_bytes = plan->description_bytes,
                              .user_row = tree->user_row,
                              .scale = tree->scale};
}

const char *NAME(emulate_by_levels)(const solve_plan *plan, const factor_tree *tree,
                                    const char *values, const void *b, void *x, uint64_t seed)
{
    emulated_program p = program_of(plan, tree, values);
    task_list *list = calloc((size_t)plan->unit_count + 1, sizeof *list);
    int32_t *level_lists = calloc((size_t)plan->unit_count + 1, sizeof *level_lists);
    for (int32_t u = 0; u < plan->unit_count; u++) {
        p.levels += u == 0 || plan->unit[u].level != plan->unit[u - 1].level;
        level_lists[p.levels - 1]++;
        list[u] = plan->unit[u].list;
    }
    p.lists = plan->unit_count;
    p.list = list;
    p.level_lists = level_lists;
    p.copy = plan->copy;
    const char *wrong = NAME(emulate)(&p, b, x, seed, NULL);
    free(list);
    free(level_lists);
    return wrong;
}

const char *NAME(emulate_by_blocks)(const solve_plan *plan, const factor_tree *tree,
                                    const char *values, const void *b, void *x, uint64_t seed)
{
    emulated_program p = program_of(plan, tree, values);
    p.lists = plan->blocks;
    p.list = plan->block;
    p.copy = plan->block_copy;
    return NAME(emulate)(&p, b, x, seed, NULL);
}
