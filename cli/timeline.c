/* cli/timeline.c: what the blocks of a device do over time
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void timeline_add(timeline *t, int state, double from, double to)
{
    const double width = t->seconds / TIMELINE_BINS;
    if (!(t->seconds > 0))
        return;
    t->part[state] += (to - from) / (t->seconds * t->blocks);
    for (int bin = (int)(from / width); from < to && bin < TIMELINE_BINS; bin++) {
        const double end = fmin(to, width * (bin + 1));
        t->bin[bin][state] += fmax(end - from, 0) / (width * t->blocks);
        from = end;
    }
}

void timeline_fit(timeline *t)
{
    double most = 0;
    for (int b = 0; b < TIMELINE_BINS; b++) {
        double all = 0;
        for (int s = 0; s < t->states; s++)
            all += t->bin[b][s];
        most = fmax(most, all);
    }
    if (!(most > 0))
        return;
    t->blocks *= most;
    for (int s = 0; s < t->states; s++) {
        t->part[s] /= most;
        for (int b = 0; b < TIMELINE_BINS; b++)
            t->bin[b][s] /= most;
    }
}

void timeline_add_task(timeline_row *row, int32_t level, double begin, double end)
{
    row->level = level;
    row->begin = row->tasks == 0 ? begin : fmin(row->begin, begin);
    row->end = row->tasks == 0 ? end : fmax(row->end, end);
    row->tasks++;
}

void timeline_json(const timeline_row *row, json *j)
{
    json_real(j, "begin_s", row->begin);
    json_real(j, "end_s", row->end);
    json_real(j, "added_s", row->added);
}

static int by_level_and_end(const void *a, const void *b)
{
    const timeline_row *x = a, *y = b;
    return x->level != y->level ? (x->level > y->level) - (x->level < y->level)
                                : (x->end > y->end) - (x->end < y->end);
}

int32_t timeline_finish_rows(void *rows_, int32_t count, size_t size)
{
    char *rows = rows_;
    int32_t kept = 0;
    double front = 0;
    for (int32_t r = 0; r < count; r++)
        if (((timeline_row *)(rows + (size_t)r * size))->tasks > 0)
            memmove(rows + (size_t)kept++ * size, rows + (size_t)r * size, size);
    qsort(rows, (size_t)kept, size, by_level_and_end);
    for (int32_t r = 0; r < kept; r++) {
        timeline_row *row = (timeline_row *)(rows + (size_t)r * size);
        row->added = fmax(row->end - front, 0);
        front = fmax(front, row->end);
    }
    return kept;
}
