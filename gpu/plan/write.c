/* gpu/plan/write.c: the tasks of all groups, written by several threads and put together
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sections of the program are written each by itself: some small groups of one height, or some
 * strips of a large group.  How it is cut into sections does not depend on the threads.  A section
 * numbers its descriptions, copies and units from 0, and its sums from where the packets known
 * before end.  Its place among the others is known when all before it are there, and its
 * descriptions go there at once. */
#include "gpu/plan/planner.h"
#include <omp.h>
#include <stdlib.h>

/* Small groups of a section, and tasks of one with strips: enough that what several sections of a
 * group have to find out does not matter, nor the task that a height with more small groups has
 * more. */
#define SECTION_GROUPS 512
#define SECTION_TASKS 256
/* About what descriptions take: of a small group beside its rows and columns, of each of these, and
 * of a task of a strip. */
#define GROUP_BYTES 64
#define ROW_BYTES 48
#define STRIP_TASK_BYTES 2560
/* Of descriptions: less is not worth another thread. */
#define THREAD_BYTES ((int64_t)1 << 20)

/* Where a section begins in the program. */
typedef struct section_place {
    int64_t description, copy, unit;
    int32_t packet;
} section_place;

typedef struct section {
    int32_t group, from, to; /* strips; -1: places in the order of groups */
    int32_t writer; /* the section that writes the sums of the group's sources: the first of the
                       group */
    int32_t packets, tasks;
    int64_t expected, bytes_read; /* expected: of descriptions */
    section_place place;
    buffer descriptions; /* unless they are in place */
    buffer copies, units;
} section;

/* What sections are written to: room for all descriptions if they take no more than expected. */
typedef struct assembly {
    const planner *p;
    section *section;
    int32_t count;
    char *description;
    int64_t room;
    section_place end; /* of the sections placed so far */
} assembly;

/* ---- Sections -------------------------------------------------------------------------------- */

static void add_group(const planner *p, int32_t i, buffer *sections)
{
    int32_t tasks;
    const int32_t first = (int32_t)(sections->length / (int64_t)sizeof(section));
    const int32_t strips = p->at.layout[i] == LAYOUT_STRIPS ? plan_strips_of(p, i, &tasks)
                                                            : plan_large_strips(p, i, &tasks);
    const int32_t parts = (int32_t)((int64_t)strips * tasks / SECTION_TASKS) + 1;
    for (int32_t part = 0; part < parts; part++) {
        const section s = {.group = i,
                           .writer = first,
                           .expected = (int64_t)strips * tasks * STRIP_TASK_BYTES / parts,
                           .from = (int32_t)((int64_t)strips * part / parts),
                           .to = (int32_t)((int64_t)strips * (part + 1) / parts)};
        buffer_put(sections, &s, (int64_t)sizeof s);
    }
}

static void list_sections(const planner *p, buffer *sections)
{
    const groups *g = p->g;
    for (int32_t h = 0; h < g->heights; h++) {
        const int32_t end = p->at.height_start[h + 1];
        for (int32_t o = p->at.height_start[h]; o < end; o += SECTION_GROUPS) {
            section s = {.group = -1,
                         .writer = (int32_t)(sections->length / (int64_t)sizeof(section)),
                         .from = o,
                         .to = end - o < SECTION_GROUPS ? end : o + SECTION_GROUPS};
            for (int32_t q = s.from; q < s.to; q++)
                if (plan_shares_tasks(p, p->at.order[q]))
                    s.expected +=
                        GROUP_BYTES + ROW_BYTES * ((int64_t)group_columns(g, p->at.order[q]) +
                                                   group_rows(g, p->at.order[q]));
            buffer_put(sections, &s, (int64_t)sizeof s);
        }
        for (int32_t o = p->at.height_start[h]; o < end; o++)
            if (!plan_shares_tasks(p, p->at.order[o]))
                add_group(p, p->at.order[o], sections);
    }
}

/* A thread's own copy of the planner. */
static planner *planner_for_thread(const planner *all)
{
    memory *m = all->m;
    planner *p = memory_new(m, 1, sizeof(planner));
    if (!p)
        return NULL;
    *p = *all;
    p->in.place = memory_new(m, p->tree->n, sizeof(int32_t));
    p->border = memory_new(m, p->tree->n / (SQUARE - 1) + 3, sizeof(int32_t));
    p->in.start = memory_new(m, 2 * p->at.longest, sizeof(int32_t));
    draft_start(&p->w.forward);
    draft_start(&p->w.backward);
    draft_start(&p->w.sum);
    p->w.descriptions.m = m;
    return p;
}

static void planner_for_thread_free(planner *p)
{
    if (!p)
        return;
    memory *m = p->m;
    memory_free(m, p->in.place);
    memory_free(m, p->border);
    memory_free(m, p->in.start);
    memory_free(m, p->in.source);
    buffer_free(&p->w.descriptions);
    memory_free(m, p);
}

/* Tasks of the groups that share them among order[from], ..., order[to - 1], which are of one
 * level. */
static libsolver_status write_shared(planner *p, int32_t from, int32_t to)
{
    const int32_t height = from < to ? p->g->height[p->at.order[from]] : 0;
    for (int32_t o = from; o < to; o++) {
        const int32_t i = p->at.order[o];
        if (!plan_shares_tasks(p, i))
            continue;
        TRY(plan_find_sources(p, i));
        if (p->at.layout[i] == LAYOUT_BLOCKS)
            plan_middle(p, i);
        else
            plan_small(p, i);
        if (p->w.forward.tile_bytes >= p->at.target[height])
            plan_end_shared(p, 1, height);
        if (p->w.backward.tile_bytes >= p->at.target[height])
            plan_end_shared(p, 0, height);
    }
    plan_end_shared(p, 1, height);
    plan_end_shared(p, 0, height);
    return LIBSOLVER_OK;
}

static libsolver_status write_section(planner *p, int32_t first_packet, int32_t number, section *s)
{
    libsolver_status status;
    p->w.copies = p->w.units = (buffer){.m = p->m};
    p->w.descriptions.length = 0;
    p->w.unit = (task_list){0};
    p->packets = first_packet;
    p->w.bytes_read = p->w.tasks = 0;
    p->w.sums_counted_only = s->writer != number;
    if (s->group < 0)
        status = write_shared(p, s->from, s->to);
    else if (p->at.layout[s->group] == LAYOUT_STRIPS)
        status = plan_strips(p, s->group, s->from, s->to);
    else
        status = plan_large(p, s->group, s->from, s->to);
    s->packets = p->w.sums_counted_only ? 0 : p->packets - first_packet;
    s->tasks = p->w.tasks;
    s->bytes_read = p->w.bytes_read;
    s->copies = p->w.copies;
    s->units = p->w.units;
    return p->w.descriptions.failed || s->copies.failed || s->units.failed ? LIBSOLVER_OUT_OF_MEMORY
                                                                           : status;
}

/* ---- Putting them together ------------------------------------------------------------------- */

/* Moves the packets of a task from `first` on. */
static void move_packets(task_head *h, int32_t first, int32_t by)
{
    int32_t *code = (int32_t *)(h + 1);
    task_out *out = (task_out *)((char *)h + h->out_at);
    const uint16_t *start = (const uint16_t *)((const char *)h + h->start_at);
    const int32_t sources = h->start_at ? start[h->inputs] : h->inputs;
    for (int32_t q = 0; q < sources; q++)
        if (code[q] >= 0 && (code[q] & 1) == SOURCE_PACKET && code[q] >> 1 >= first)
            code[q] += by * 2;
    for (int32_t o = 0; o < h->outs; o++)
        if (out[o].dst >= first)
            out[o].dst += by;
}

static void take_place(assembly *all, section *s, int64_t descriptions)
{
    s->place = all->end;
    all->end.description += descriptions;
    all->end.copy += s->copies.length / (int64_t)sizeof(task_copy);
    all->end.unit += s->units.length / (int64_t)sizeof(plan_unit);
    all->end.packet += s->packets;
}

/* To their place, if there is room, with the packets of sums as they are numbered in all of the
 * program. */
static void place_descriptions(const assembly *all, section *s, buffer *descriptions)
{
    const int32_t moved = all->section[s->writer].place.packet;
    for (const task_copy *c = (task_copy *)s->copies.data;
         moved > 0 && c < (task_copy *)(s->copies.data + s->copies.length); c++)
        if (c->task_bytes > 0) /* of a description */
            move_packets((task_head *)(descriptions->data + 16 * (int64_t)c->from16),
                         all->p->packets, moved);
    if (s->place.description + descriptions->length > all->room) {
        s->descriptions = *descriptions;
        *descriptions = (buffer){.m = descriptions->m};
    } else if (descriptions->length > 0)
        memcpy(all->description + s->place.description, descriptions->data,
               (size_t)descriptions->length);
}

static libsolver_status write_sections(assembly *all, int threads)
{
    _Atomic int failed = LIBSOLVER_OK;
#pragma omp parallel num_threads(threads)
    {
        planner *p = planner_for_thread(all->p);
        if (!p || !p->in.place || !p->border || !p->in.start)
            failed = LIBSOLVER_OUT_OF_MEMORY;
#pragma omp for schedule(dynamic, 1) ordered nowait
        for (int32_t q = 0; q < all->count; q++) {
            section *s = &all->section[q];
            const libsolver_status status =
                failed ? LIBSOLVER_CANCELLED : write_section(p, all->p->packets, q, s);
            if (status != LIBSOLVER_OK && !failed)
                failed = status;
#pragma omp ordered
            take_place(all, s, status == LIBSOLVER_OK ? p->w.descriptions.length : 0);
            if (status == LIBSOLVER_OK)
                place_descriptions(all, s, &p->w.descriptions);
        }
        planner_for_thread_free(p);
    }
    return (libsolver_status)failed;
}

/* Room for all descriptions, if it was not enough. */
static libsolver_status move_all(assembly *all)
{
    if (all->end.description <= all->room)
        return LIBSOLVER_OK;
    char *description = memory_new(all->p->m, all->end.description, 1);
    if (!description)
        return LIBSOLVER_OUT_OF_MEMORY;
    int64_t placed = 0;
    for (int32_t q = 0; q < all->count; q++) {
        const section *s = &all->section[q];
        if (s->descriptions.data)
            memcpy(description + s->place.description, s->descriptions.data,
                   (size_t)s->descriptions.length);
        else if (q + 1 < all->count && all->section[q + 1].place.description <= all->room)
            placed = all->section[q + 1].place.description;
    }
    if (placed > 0)
        memcpy(description, all->description, (size_t)placed);
    memory_free(all->p->m, all->description);
    all->description = description;
    all->room = all->end.description;
    return LIBSOLVER_OK;
}

/* Copies and units of all sections. */
static libsolver_status put_together(const assembly *all)
{
    memory *m = all->p->m;
    solve_plan *plan = all->p->plan;
    plan->copy_count = (int32_t)all->end.copy;
    plan->unit_count = (int32_t)all->end.unit;
    plan->copy = memory_new(m, plan->copy_count, sizeof(task_copy));
    plan->unit = memory_new(m, plan->unit_count, sizeof(plan_unit));
    if (!plan->copy || !plan->unit)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (const section *s = all->section; s < all->section + all->count; s++) {
        task_copy *copy = plan->copy + s->place.copy;
        plan_unit *unit = plan->unit + s->place.unit;
        const int64_t copies = s->copies.length / (int64_t)sizeof(task_copy),
                      units = s->units.length / (int64_t)sizeof(plan_unit);
        plan->task_count += s->tasks;
        plan->bytes_read += s->bytes_read;
        if (s->tasks == 0)
            continue;
        memcpy(copy, s->copies.data, (size_t)s->copies.length);
        memcpy(unit, s->units.data, (size_t)s->units.length);
        for (int64_t c = 0; c < copies; c++)
            copy[c].from16 += copy[c].task_bytes > 0
                                  ? (uint32_t)((plan->value_bytes + s->place.description) / 16)
                                  : 0;
        for (int64_t u = 0; u < units; u++) {
            unit[u].order = (int32_t)(s->place.unit + u);
            unit[u].list.copy += (int32_t)s->place.copy;
        }
    }
    return LIBSOLVER_OK;
}

/* Threads that have at least THREAD_BYTES of descriptions each to write. */
static int threads_for(const assembly *all, int threads)
{
    const int64_t most = all->room < 4 * THREAD_BYTES ? 1 : all->room / THREAD_BYTES;
    return threads < most ? threads : (int)most;
}

libsolver_status plan_write(planner *p, int threads)
{
    memory *m = p->m;
    buffer sections = {.m = m};
    list_sections(p, &sections);
    assembly all = {.p = p,
                    .section = (section *)sections.data,
                    .count = (int32_t)(sections.length / (int64_t)sizeof(section))};
    for (int32_t q = 0; q < all.count; q++)
        all.room += all.section[q].expected;
    all.description = memory_new(m, all.room, 1);
    libsolver_status status =
        sections.failed || !all.description ? LIBSOLVER_OUT_OF_MEMORY : LIBSOLVER_OK;
    if (status == LIBSOLVER_OK)
        status = write_sections(&all, threads_for(&all, threads));
    if (status == LIBSOLVER_OK)
        status = move_all(&all);
    if (status == LIBSOLVER_OK)
        status = put_together(&all);
    for (int32_t q = 0; q < all.count; q++) {
        memory_free(m, all.section[q].descriptions.data);
        memory_free(m, all.section[q].copies.data);
        memory_free(m, all.section[q].units.data);
    }
    buffer_free(&sections);
    p->plan->description = all.description;
    p->plan->description_bytes = all.end.description;
    p->plan->packets = p->packets + all.end.packet;
    return status;
}
