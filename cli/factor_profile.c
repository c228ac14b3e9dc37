/* cli/factor_profile.c: where the time of a factorization on the GPU goes, from the trace of its
 * tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "factor_profile.h"
#include "room.h"
#include <assert.h>
#include <math.h>

static_assert((int)FACTOR_KINDS <= (int)TIMELINE_MOST_STATES, "each kind is a state");

static const char *const kinds[FACTOR_KINDS] = {"tiny", "small",  "assemble",     "pivot",
                                                "rows", "update", "contribution", "divide"};

const char *factor_profile_kind(libsolver_factor_task_kind kind)
{
    return kinds[kind];
}

void factor_sum_add(factor_sum *to, const factor_sum *from)
{
    to->tasks += from->tasks;
    to->flops += from->flops;
    to->busy += from->busy;
    to->longest = fmax(to->longest, from->longest);
}

static void add_task(factor_row *row, const libsolver_factor_task *t)
{
    const double seconds = t->end - t->begin;
    const factor_sum one = {1, t->flops, seconds, seconds};
    row->kind = t->kind;
    timeline_add_task(&row->of, t->level, t->begin, t->end);
    factor_sum_add(&row->sum, &one);
}

/* Levels and kinds from the rows, which are in order: the last one of a level ends last in it. */
static void add_rows(factor_profile *p)
{
    for (int32_t r = 0; r < p->rows; r++) {
        const factor_row *row = p->row + r;
        factor_level *level = p->level + row->of.level;
        level->begin = level->sum.tasks == 0 ? row->of.begin : fmin(level->begin, row->of.begin);
        level->end = row->of.end;
        level->added += row->of.added;
        level->last = row->kind;
        factor_sum_add(&level->sum, &row->sum);
        factor_sum_add(&p->kind[row->kind].sum, &row->sum);
    }
    for (int32_t l = 0; l < p->levels; l++) {
        factor_kind_sum *last = &p->kind[p->level[l].last];
        last->levels++;
        last->added += p->level[l].added;
        p->chain += p->level[l].sum.longest;
        factor_sum_add(&p->all, &p->level[l].sum);
    }
}

bool factor_profile_make(const libsolver_factor_task *task, int64_t tasks, factor_profile *p)
{
    *p = (factor_profile){.time = {.states = FACTOR_KINDS, .blocks = 1}};
    for (int64_t t = 0; t < tasks; t++) {
        p->levels = task[t].level >= p->levels ? task[t].level + 1 : p->levels;
        p->time.seconds = fmax(p->time.seconds, task[t].end);
    }
    const int64_t rows = (int64_t)p->levels * FACTOR_KINDS;
    p->row = room_zeroed(rows + 1, sizeof *p->row);
    p->level = room_zeroed((int64_t)p->levels + 1, sizeof *p->level);
    if (!p->row || !p->level) {
        factor_profile_free(p);
        return false;
    }
    for (int64_t t = 0; t < tasks; t++) {
        add_task(&p->row[task[t].level * FACTOR_KINDS + (int32_t)task[t].kind], &task[t]);
        timeline_add(&p->time, (int)task[t].kind, task[t].begin, task[t].end);
    }
    timeline_fit(&p->time);
    p->rows = timeline_finish_rows(p->row, (int32_t)rows, sizeof *p->row);
    add_rows(p);
    return true;
}

void factor_profile_free(factor_profile *p)
{
    room_free(p->row);
    room_free(p->level);
    *p = (factor_profile){0};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_sum(const factor_sum *sum, json *j)
{
    json_integer(j, "tasks", sum->tasks);
    json_real(j, "flops", sum->flops);
    json_real(j, "mean_s", sum->busy / (double)sum->tasks);
    json_real(j, "longest_s", sum->longest);
}

static void write_kind(const factor_profile *p, int kind, json *j)
{
    json_open_item(j);
    json_string(j, "kind", kinds[kind]);
    write_sum(&p->kind[kind].sum, j);
    json_integer(j, "last_of_levels", p->kind[kind].levels);
    json_real(j, "added_s", p->kind[kind].added);
    json_close(j);
}

static void write_row(const factor_row *row, json *j)
{
    json_open_item(j);
    json_integer(j, "level", row->of.level);
    json_string(j, "kind", kinds[row->kind]);
    write_sum(&row->sum, j);
    timeline_json(&row->of, j);
    json_close(j);
}

void factor_profile_json(const factor_profile *p, const profile_facts *facts, json *j)
{
    profile_facts_json(facts, j);
    json_real(j, "refactorize_s", facts->refactorize);
    json_real(j, "refactorize_device_s", facts->refactorize_device);
    json_real(j, "traced_s", p->time.seconds);
    json_integer(j, "levels", p->levels);
    json_real(j, "chain_s", p->chain);
    json_integer(j, "tasks", p->all.tasks);
    json_real(j, "flops", p->all.flops);
    json_real(j, "flops_per_second", p->all.flops / p->time.seconds);
    json_real(j, "most_blocks", p->time.blocks);
    json_open_list(j, "kinds");
    for (int kind = 0; kind < FACTOR_KINDS; kind++)
        if (p->kind[kind].sum.tasks > 0)
            write_kind(p, kind, j);
    json_close_list(j);
    json_open_list(j, "rows");
    for (int32_t r = 0; r < p->rows; r++)
        write_row(&p->row[r], j);
    json_close_list(j);
    json_close(j);
    json_end_line(j);
}
