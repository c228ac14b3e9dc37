/* cli/profile.c: where the time of a solve on the GPU goes, from the trace of its tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include "room.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (row->tasks == 0)
        *row = (profile_row){.level = t->level,
                             .height = t->height,
                             .backward = t->backward,
                             .kind = t->kind,
                             .begin = t->begin};
    row->blocks += row->tasks == 0 || t->block != *last_block;
    *last_block = t->block;
    row->tasks++;
    row->bytes += t->bytes;
    row->begin = fmin(row->begin, t->begin);
    row->end = fmax(row->end, t->end);
    row->staging += t->staged - t->begin;
    row->gathering += t->gathered - t->staged;
    row->computing += t->end - t->gathered;
}

/* Adds [from, to) of a block in that state to the bins, of `width` seconds each. */
static void add_to_bins(profile *p, double width, int state, double from, double to)
{
    int bin = (int)(from / width);
    for (; from < to && bin < PROFILE_BINS; bin++) {
        const double end = fmin(to, width * (bin + 1));
        p->bin[bin][state] += fmax(end - from, 0) / (width * p->blocks);
        from = end;
    }
}

static void add_states(const libsolver_task *task, int64_t tasks, profile *p)
{
    const double width = p->seconds / PROFILE_BINS, all = p->seconds * p->blocks;
    for (int64_t t = 0; t < tasks && p->seconds > 0; t++) {
        const double mark[PROFILE_STATES + 1] = {task[t].begin, task[t].staged, task[t].gathered,
                                                 task[t].end};
        for (int state = 0; state < PROFILE_STATES; state++) {
            p->part[state] += (mark[state + 1] - mark[state]) / all;
            add_to_bins(p, width, state, mark[state], mark[state + 1]);
        }
    }
}

static int by_level_and_end(const void *a, const void *b)
{
    const profile_row *x = a, *y = b;
    return x->level != y->level ? (x->level > y->level) - (x->level < y->level)
                                : (x->end > y->end) - (x->end < y->end);
}

/* Leaves the rows that have tasks, in order, their sums as means. */
static void finish_rows(profile *p)
{
    int32_t rows = 0;
    for (int32_t r = 0; r < p->levels * KINDS; r++)
        if (p->row[r].tasks > 0)
            p->row[rows++] = p->row[r];
    p->rows = rows;
    qsort(p->row, (size_t)rows, sizeof *p->row, by_level_and_end);
    double front = 0;
    for (profile_row *row = p->row; row < p->row + rows; row++) {
        row->staging /= (double)row->tasks;
        row->gathering /= (double)row->tasks;
        row->computing /= (double)row->tasks;
        row->floor = fmax((double)row->bytes / p->bytes_per_second, PROFILE_STEP);
        row->added = fmax(row->end - front, 0);
        front = fmax(front, row->end);
    }
}

bool profile_make(const libsolver_task *task, int64_t tasks, double bytes_per_second, profile *p)
{
    *p = (profile){.tasks = tasks, .bytes_per_second = bytes_per_second};
    for (int64_t t = 0; t < tasks; t++) {
        p->levels = task[t].level >= p->levels ? task[t].level + 1 : p->levels;
        p->blocks = task[t].block >= p->blocks ? task[t].block + 1 : p->blocks;
        p->seconds = fmax(p->seconds, task[t].end);
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
    add_states(task, tasks, p);
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
    json_integer(j, "level", row->level);
    json_string(j, "sweep", row->backward ? "backward" : "forward");
    json_integer(j, "height", row->height);
    json_string(j, "kind", profile_kind(row->kind));
    json_integer(j, "tasks", row->tasks);
    json_integer(j, "blocks", row->blocks);
    json_integer(j, "bytes", row->bytes);
    json_real(j, "begin_s", row->begin);
    json_real(j, "end_s", row->end);
    json_real(j, "added_s", row->added);
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
    json_open(j, NULL);
    json_string(j, "name", facts->name);
    json_string(j, "device", facts->device);
    json_integer(j, "n", facts->n);
    json_integer(j, "factor_nnz", facts->factor_nnz);
    json_real(j, "solve_s", facts->stream);
    json_real(j, "solve_graph_s", facts->graph);
    json_real(j, "traced_s", p->seconds);
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
    json_real(j, "waiting_for_bytes", p->part[PROFILE_STAGING]);
    json_real(j, "waiting_for_inputs", p->part[PROFILE_GATHERING]);
    json_real(j, "multiplying", p->part[PROFILE_COMPUTING]);
    json_real(j, "no_task",
              1 - p->part[PROFILE_STAGING] - p->part[PROFILE_GATHERING] -
                  p->part[PROFILE_COMPUTING]);
    json_close(j);
    json_open_list(j, "rows");
    for (int32_t r = 0; r < p->rows; r++)
        write_row(&p->row[r], j);
    json_close_list(j);
    json_close(j);
    json_end_line(j);
}
