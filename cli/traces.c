/* cli/traces.c: `libsolver bench --profile`: solves are traced, their profile goes to files
 * SPDX-License-Identifier: BSD-3-Clause */
#include "traces.h"
#include "device.h"
#include "room.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Traced solves, of which the fastest counts: a single one may have been disturbed. */
#define TRACES 7

static double length_of(const libsolver_task *task, int64_t count)
{
    double end = 0;
    for (int64_t t = 0; t < count; t++)
        end = fmax(end, task[t].end);
    return end;
}

/* The tasks of the fastest of TRACES solves in best[0 .. count). */
static libsolver_status trace(const session *s, libsolver_workspace *w, const libsolver_vectors *b,
                              const libsolver_vectors *x, int64_t count, libsolver_task *best,
                              libsolver_task *other)
{
    libsolver_status status = LIBSOLVER_OK;
    for (int k = 0; k < TRACES && status >= 0; k++) {
        libsolver_task *to = k == 0 ? best : other;
        status = libsolver_solve_traced(s->factor, w, b, x, count, to, &count);
        if (status >= 0 && k > 0 && length_of(other, count) < length_of(best, count))
            memcpy(best, other, (size_t)count * sizeof *best);
    }
    return status;
}

char *traces_path(const char *prefix, const char *name, const char *suffix)
{
    const size_t room = strlen(prefix) + strlen(name) + strlen(suffix) + 3;
    char *path = room_new((int64_t)room, 1);
    if (!path)
        return NULL;
    snprintf(path, room, "%s.%s.%s", prefix, name, suffix);
    for (char *c = path + strlen(prefix) + 1; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    return path;
}

static int store(const profile *p, const profile_facts *facts, const char *prefix, failure *f)
{
    json j = {0};
    output o;
    char *text = traces_path(prefix, facts->name, "json"),
         *picture = traces_path(prefix, facts->name, "svg");
    profile_json(p, facts, &j);
    if (!text || !picture || j.failed)
        failure_memory(f, facts->name);
    else if (!output_store(text, j.text, j.length, f) && !output_open(&o, picture, f)) {
        profile_svg(p, facts, &o);
        output_close(&o, true, f);
    }
    json_free(&j);
    room_free(text);
    room_free(picture);
    return f->code;
}

int traces_store(session *s, libsolver_workspace *workspace, const libsolver_vectors *b,
                 const libsolver_vectors *x, const char *prefix, profile_facts *facts, failure *f)
{
    int64_t count = 0;
    libsolver_status status =
        libsolver_solve_traced(s->factor, workspace, NULL, NULL, 0, NULL, &count);
    if (status < 0)
        return session_check(s, status, s->factor, f);
    libsolver_task *best = room_new(count + 1, sizeof *best),
                   *other = room_new(count + 1, sizeof *other);
    profile p = {0};
    if (!best || !other)
        failure_memory(f, facts->name);
    else if ((status = trace(s, workspace, b, x, count, best, other)) < 0)
        session_check(s, status, s->factor, f);
    else if (!profile_make(best, count, device_copy_rate(), &p))
        failure_memory(f, facts->name);
    else
        store(&p, facts, prefix, f);
    profile_free(&p);
    room_free(best);
    room_free(other);
    return f->code;
}
