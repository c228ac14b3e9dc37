/* cli/profile.c: where the time of a solve on the GPU goes, from the trace of its tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "room.h"
#include <math.h>

/* Kinds of tasks, and what can be asked of one of them. */
#define KINDS (LIBSOLVER_TASK_SUM + 1)

static const char *const kinds[KINDS] = {"small", "top", "large", "sums"};

const char *profile_kind(libsolver_task_kind kind)
{
    return kinds[kind];
}

/* Adds a task to its row; last_block: the highest that a task of the row was seen on, tasks coming
 * by blocks. */
static void add_task(profile_row *row, const libsolver_task *t, int32_t *last_block)
{
    if (row->of.tasks == 0)
        *row = (profile_row){.height = t->height, .backward = t->backward, .kind = t->kind};
    row->blocks += row->of.tasks == 0 || t->block != *last_block;
    *last_block = t->block;
    row->bytes += t->bytes;
    timeline_add_task(&row->of, t->level, t->begin, t->end);
    row->staging += t->staged - t->begin;
    row->gathering += t->gathered - t->staged;
    row->computing += t->end - t->gathered;
}

static void add_states(const libsolver_task *task, int64_t tasks, timeline *time)
{
    for (int64_t t = 0; t < tasks; t++) {
        timeline_add(time, PROFILE_STAGING, task[t].begin, task[t].staged);
        timeline_add(time, PROFILE_GATHERING, task[t].staged, task[t].gathered);
        timeline_add(time, PROFILE_COMPUTING, task[t].gathered, task[t].end);
    }
}

/* Leaves the rows that have tasks, in order, their sums as means. */
static void finish_rows(profile *p)
{
    p->rows = timeline_finish_rows(p->row, p->levels * KINDS, sizeof *p->row);
    for (profile_row *row = p->row; row < p->row + p->rows; row++) {
        row->staging /= (double)row->of.tasks;
        row->gathering /= (double)row->of.tasks;
        row->computing /= (double)row->of.tasks;
        row->floor = fmax((double)row->bytes / p->bytes_per_second, PROFILE_STEP);
    }
}

bool profile_make(const libsolver_task *task, int64_t tasks, double bytes_per_second, profile *p)
{
    *p = (profile){.tasks = tasks,
                   .bytes_per_second = bytes_per_second,
                   .time = {.states = PROFILE_STATES}};
    for (int64_t t = 0; t < tasks; t++) {
        p->levels = task[t].level >= p->levels ? task[t].level + 1 : p->levels;
        p->blocks = task[t].block >= p->blocks ? task[t].block + 1 : p->blocks;
        p->time.seconds = fmax(p->time.seconds, task[t].end);
        p->bytes += task[t].bytes;
    }
    const size_t rows = (size_t)p->levels * KINDS + 1;
    int32_t *last_block = room_zeroed((int64_t)rows, sizeof *last_block);
    p->row = room_zeroed((int64_t)rows, sizeof *p->row);
    if (last_block && p->row)
        for (int64_t t = 0; t < tasks; t++) {
            const int32_t r = task[t].level * KINDS + (int32_t)task[t].kind;
            add_task(&p->row[r], &task[t], &last_block[r]);
        }
    const bool made = last_block && p->row;
    room_free(last_block);
    if (!made) {
        profile_free(p);
        return false;
    }
    p->time.blocks = p->blocks;
    add_states(task, tasks, &p->time);
    finish_rows(p);
    p->bytes_floor = (double)p->bytes / bytes_per_second;
    p->chain_floor = p->levels * PROFILE_STEP;
    return true;
}

void profile_free(profile *p)
{
    room_free(p->row);
    *p = (profile){0};
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_row(const profile_row *row, json *j)
{
    json_open_item(j);
    json_integer(j, "level", row->of.level);
    json_string(j, "sweep", row->backward ? "backward" : "forward");
    json_integer(j, "height", row->height);
    json_string(j, "kind", profile_kind(row->kind));
    json_integer(j, "tasks", row->of.tasks);
    json_integer(j, "blocks", row->blocks);
    json_integer(j, "bytes", row->bytes);
    timeline_json(&row->of, j);
    json_real(j, "floor_s", row->floor);
    json_open(j, "mean_s");
    json_real(j, "waiting_for_bytes", row->staging);
    json_real(j, "waiting_for_inputs", row->gathering);
    json_real(j, "multiplying", row->computing);
    json_close(j);
    json_close(j);
}

void profile_json(const profile *p, const profile_facts *facts, json *j)
{
    profile_facts_json(facts, j);
    json_real(j, "solve_s", facts->stream);
    json_real(j, "solve_graph_s", facts->graph);
    json_real(j, "traced_s", p->time.seconds);
    json_integer(j, "levels", p->levels);
    json_integer(j, "blocks", p->blocks);
    json_integer(j, "tasks", p->tasks);
    json_integer(j, "bytes", p->bytes);
    json_real(j, "bytes_per_second", p->bytes_per_second);
    json_open(j, "floor_s");
    json_real(j, "bytes", p->bytes_floor);
    json_real(j, "chain", p->chain_floor);
    json_close(j);
    json_open(j, "time_of_blocks");
    json_real(j, "waiting_for_bytes", p->time.part[PROFILE_STAGING]);
    json_real(j, "waiting_for_inputs", p->time.part[PROFILE_GATHERING]);
    json_real(j, "multiplying", p->time.part[PROFILE_COMPUTING]);
    json_real(j, "no_task",
              1 - p->time.part[PROFILE_STAGING] - p->time.part[PROFILE_GATHERING] -
                  p->time.part[PROFILE_COMPUTING]);
    json_close(j);
    json_open_list(j, "rows");
    for (int32_t r = 0; r < p->rows; r++)
        write_row(&p->row[r], j);
    json_close_list(j);
    json_close(j);
    json_end_line(j);
}
