/* gpu/plan_write.c: the tasks of all groups, written by several threads and put together
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sections of the program are written each by itself: some small groups of one height, or some strips of a large group.  How it is
 * cut into sections does not depend on the threads.  A section numbers its descriptions, copies and units from 0, and its sums from where the
 * packets known before end; they get their places when all are there. */
#include "gpu/planner.h"
#include <omp.h>
#include <stdlib.h>

/* Small groups of a section, and tasks of one with strips: enough that what several sections of a group have to find out does not matter, nor the
 * task that a height with more small groups has more. */
#define SECTION_GROUPS 512
#define SECTION_TASKS 256
/* About what descriptions of a small group, or of a task, take. */
#define EXPECTED_BYTES 1536

typedef struct section {
    int32_t group, from, to; /* strips; -1: places in the order of groups */
    int32_t writer;          /* the section that writes the sums of the group's sources: the first of the group */
    int32_t slots, tasks;    /* expected, then written */
    int64_t bytes_read;
    buffer descriptions, copies, units;
} section;

/* ---- Sections ------------------------------------------------------------------------------------------- */

static void add_group(const planner *p, int32_t i, buffer *sections)
{
    int32_t tasks;
    const int32_t first = (int32_t)(sections->length / (int64_t)sizeof(section));
    const int32_t strips = p->form[i] == FORM_TOP ? plan_top_strips(p, i, &tasks) : plan_large_strips(p, i, &tasks);
    const int32_t parts = (int32_t)((int64_t)strips * tasks / SECTION_TASKS) + 1;
    for (int32_t part = 0; part < parts; part++) {
        const section s = {.group = i, .writer = first, .tasks = strips * tasks / parts, .from = (int32_t)((int64_t)strips * part / parts),
                           .to = (int32_t)((int64_t)strips * (part + 1) / parts)};
        buffer_put(sections, &s, (int64_t)sizeof s);
    }
}

static void list_sections(const planner *p, buffer *sections)
{
    for (int32_t h = 0; h < p->g->heights; h++) {
        const int32_t end = p->height_start[h + 1];
        for (int32_t o = p->height_start[h]; o < end; o += SECTION_GROUPS) {
            const section s = {.group = -1, .tasks = end - o < SECTION_GROUPS ? end - o : SECTION_GROUPS, .writer = (int32_t)(sections->length / (int64_t)sizeof(section)), .from = o,
                               .to = end - o < SECTION_GROUPS ? end : o + SECTION_GROUPS};
            buffer_put(sections, &s, (int64_t)sizeof s);
        }
        for (int32_t o = p->height_start[h]; o < end; o++)
            if (p->form[p->order[o]] == FORM_TOP || p->form[p->order[o]] == FORM_LARGE)
                add_group(p, p->order[o], sections);
    }
}

/* A thread's own copy of the planner. */
static planner *hand_of(const planner *all)
{
    memory *m = all->m;
    planner *p = memory_new(m, 1, sizeof(planner));
    if (!p)
        return NULL;
    *p = *all;
    p->mark = memory_new(m, p->tree->n, sizeof(int32_t));
    p->border = memory_new(m, p->tree->n / (SQUARE - 1) + 3, sizeof(int32_t));
    p->source_start = memory_new(m, 2 * p->longest, sizeof(int32_t));
    draft_start(&p->ahead);
    draft_start(&p->back);
    draft_start(&p->sum);
    return p;
}

static void hand_free(planner *p)
{
    if (!p)
        return;
    memory *m = p->m;
    memory_free(m, p->mark);
    memory_free(m, p->border);
    memory_free(m, p->source_start);
    memory_free(m, p->source);
    memory_free(m, p);
}

static libsolver_status write_section(planner *p, int32_t first_slot, int32_t number, section *s)
{
    libsolver_status status;
    p->descriptions = p->copies = p->units = (buffer){.m = p->m};
    buffer_expect(&p->descriptions, (int64_t)s->tasks * EXPECTED_BYTES);
    p->unit = (task_list){0};
    p->slots = first_slot;
    p->bytes_read = p->tasks = 0;
    p->dry = s->writer != number;
    if (s->group < 0)
        status = plan_small_groups(p, s->from, s->to);
    else if (p->form[s->group] == FORM_TOP)
        status = plan_top(p, s->group, s->from, s->to);
    else
        status = plan_large(p, s->group, s->from, s->to);
    s->slots = p->dry ? 0 : p->slots - first_slot;
    s->tasks = p->tasks;
    s->bytes_read = p->bytes_read;
    s->descriptions = p->descriptions;
    s->copies = p->copies;
    s->units = p->units;
    return s->descriptions.failed || s->copies.failed || s->units.failed ? LIBSOLVER_OUT_OF_MEMORY : status;
}

static libsolver_status write_sections(const planner *all, section *list, int32_t count, int threads)
{
    _Atomic int failed = LIBSOLVER_OK;
#pragma omp parallel num_threads(threads)
    {
        planner *p = hand_of(all);
        if (!p || !p->mark || !p->border || !p->source_start)
            failed = LIBSOLVER_OUT_OF_MEMORY;
#pragma omp for schedule(dynamic, 1)
        for (int32_t q = count - 1; q >= 0; q--) { /* the long ones are above */
            const libsolver_status status = failed ? LIBSOLVER_OK : write_section(p, all->slots, q, &list[q]);
            if (status != LIBSOLVER_OK)
                failed = status;
        }
        hand_free(p);
    }
    return (libsolver_status)failed;
}

/* ---- Putting them together -------------------------------------------------------------------------------- */

/* Where a section begins in the program. */
typedef struct section_place {
    int64_t description, copy, unit;
    int32_t slot;
} section_place;

/* Moves the packets of a task from `first` on. */
static void move_slots(task_head *h, int32_t first, int32_t by)
{
    int32_t *code = (int32_t *)(h + 1);
    task_out *out = (task_out *)((char *)h + h->out_at);
    const uint16_t *start = (const uint16_t *)((const char *)h + h->start_at);
    const int32_t sources = h->start_at ? start[h->inputs] : h->inputs;
    for (int32_t q = 0; q < sources; q++)
        if (code[q] >= 0 && (code[q] & 1) == SOURCE_SLOT && code[q] >> 1 >= first)
            code[q] += by * 2;
    for (int32_t o = 0; o < h->outs; o++)
        if (out[o].dst >= first)
            out[o].dst += by;
}

static void place_section(const planner *p, const section *s, const section_place *at, int32_t moved)
{
    solve_plan *plan = p->plan;
    char *description = plan->description + at->description;
    task_copy *copy = plan->copy + at->copy;
    plan_unit *unit = plan->unit + at->unit;
    const int64_t copies = s->copies.length / (int64_t)sizeof(task_copy), units = s->units.length / (int64_t)sizeof(plan_unit);
    if (s->tasks == 0)
        return;
    memcpy(description, s->descriptions.data, (size_t)s->descriptions.length);
    memcpy(copy, s->copies.data, (size_t)s->copies.length);
    memcpy(unit, s->units.data, (size_t)s->units.length);
    for (int64_t c = 0; c < copies; c++)
        if (copy[c].task_bytes > 0) { /* of a description */
            if (moved > 0)
                move_slots((task_head *)(description + 16 * (int64_t)copy[c].from16), p->slots, moved);
            copy[c].from16 += (uint32_t)((plan->value_bytes + at->description) / 16);
        }
    for (int64_t u = 0; u < units; u++) {
        unit[u].order = (int32_t)(at->unit + u);
        unit[u].list.copy += (int32_t)at->copy;
    }
}

static libsolver_status put_together(const planner *p, section *list, int32_t count, int threads)
{
    memory *m = p->m;
    solve_plan *plan = p->plan;
    section_place *place = memory_new(m, count + 1, sizeof(section_place));
    if (!place)
        return LIBSOLVER_OUT_OF_MEMORY;
    place[0] = (section_place){0};
    for (int32_t q = 0; q < count; q++) {
        place[q + 1].description = place[q].description + list[q].descriptions.length;
        place[q + 1].copy = place[q].copy + list[q].copies.length / (int64_t)sizeof(task_copy);
        place[q + 1].unit = place[q].unit + list[q].units.length / (int64_t)sizeof(plan_unit);
        place[q + 1].slot = place[q].slot + list[q].slots;
        plan->task_count += list[q].tasks;
        plan->bytes_read += list[q].bytes_read;
    }
    plan->slots = p->slots + place[count].slot;
    plan->description_bytes = place[count].description;
    plan->copy_count = (int32_t)place[count].copy;
    plan->unit_count = (int32_t)place[count].unit;
    plan->description = memory_new(m, plan->description_bytes, 1);
    plan->copy = memory_new(m, plan->copy_count, sizeof(task_copy));
    plan->unit = memory_new(m, plan->unit_count, sizeof(plan_unit));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (plan->description && plan->copy && plan->unit) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int32_t q = 0; q < count; q++)
            place_section(p, &list[q], &place[q], place[list[q].writer].slot);
        status = LIBSOLVER_OK;
    }
    memory_free(m, place);
    return status;
}

libsolver_status plan_write(planner *p, int threads)
{
    buffer sections = {.m = p->m};
    list_sections(p, &sections);
    section *list = (section *)sections.data;
    const int32_t count = (int32_t)(sections.length / (int64_t)sizeof(section));
    threads = count < 2 * threads ? (count + 1) / 2 : threads;
    libsolver_status status = sections.failed ? LIBSOLVER_OUT_OF_MEMORY : write_sections(p, list, count, threads);
    if (status == LIBSOLVER_OK)
        status = put_together(p, list, count, threads);
    for (int32_t q = 0; q < count; q++) {
        memory_free(p->m, list[q].descriptions.data);
        memory_free(p->m, list[q].copies.data);
        memory_free(p->m, list[q].units.data);
    }
    buffer_free(&sections);
    return status;
}
