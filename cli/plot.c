/* cli/plot.c: `libsolver plot`, a picture of a matrix, of its order of elimination and of its
 * factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "report.h"
#include "room.h"
#include "session.h"
#include "short_number.h"
#include "spy.h"
#include <inttypes.h>
#include <stdio.h>

enum { PANELS = 3, TEXT_ROOM = 120 };

static int draw(const settings *s, const triplets *a, const libsolver_analysis_info *info,
                const int64_t *position, spy *panel, failure *f)
{
    char text[PANELS][TEXT_ROOM], title[400];
    spy_matrix(a, NULL, &panel[0]);
    spy_matrix(a, position, &panel[1]);
    if (!spy_factor(a, position, &panel[2]))
        return failure_memory(f, s->operands[0]);
    snprintf(title, sizeof title, "%.300s: order %d", s->operands[0], a->n);
    snprintf(text[0], TEXT_ROOM, "A as given: %" PRId64 " entries", panel[0].entries);
    snprintf(text[1], TEXT_ROOM, "A in the order of elimination (%s)",
             ordering_name(info->ordering));
    snprintf(text[2], TEXT_ROOM, "L: %" PRId64 " entries, %s", panel[2].entries,
             short_count(info->factor_flops, "flop").text);
    const spy *const panels[] = {&panel[0], &panel[1], &panel[2]};
    const char *const texts[] = {text[0], text[1], text[2]};
    output o;
    if (output_open(&o, s->output, f))
        return f->code;
    spy_svg(panels, texts, PANELS, title, &o);
    return output_close(&o, true, f);
}

/* What is drawn, once it is analysed. */
static int plot(const settings *s, const problem *p, session *at_work, failure *f)
{
    const int64_t n = p->a.n;
    libsolver_analysis_info info;
    int64_t *order = room_new(n + 1, sizeof *order), *position = room_new(n + 1, sizeof *position);
    spy *panels = room_new(PANELS, sizeof *panels);
    libsolver_analysis_query(at_work->analysis, &info);
    if (order && position && panels) {
        libsolver_permutation(at_work->analysis, order);
        for (int64_t k = 0; k < n; k++)
            position[order[k]] = k;
        if (!draw(s, &p->a, &info, position, panels, f) && !s->quiet &&
            !output_is_printed(s->output))
            printf("%s: order %" PRId64 ", ordering %s, %" PRId64 " entries in L, %s\n", s->output,
                   n, ordering_name(info.ordering), info.factor_nnz,
                   short_count(info.factor_flops, "flop").text);
    } else
        failure_memory(f, s->operands[0]);
    room_free(order);
    room_free(position);
    room_free(panels);
    return f->code;
}

int command_plot(const settings *s, failure *f)
{
    problem p = {0};
    progress shown = progress_start(s->quiet, "");
    session at_work = {0};
    progress_say(&shown, "reading");
    if (!(s->symmetrize ? problem_symmetrize : problem_load)(s->operands[0], &p, f) &&
        !session_begin(&at_work, s, s->operands[0], &p, &shown, f)) {
        progress_say(&shown, "analyzing");
        if (!session_analyze(&at_work, f))
            plot(s, &p, &at_work, f);
    }
    progress_wipe(&shown);
    session_end(&at_work);
    problem_free(&p);
    return f->code;
}
