/* cli/traces.c: solves and factorizations on a GPU are traced, their profiles go to files
 * SPDX-License-Identifier: BSD-3-Clause */
#include "traces.h"
#include "device.h"
#include "room.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Traces, of which the fastest counts: a single one may have been disturbed. */
#define TRACES 7

static int no_memory(session *s, failure *f)
{
    s->status = LIBSOLVER_OUT_OF_MEMORY;
    return failure_memory(f, s->name);
}

/* Something that is traced; its tasks are of some size. */
typedef struct traced {
    session *session;
    libsolver_workspace *workspace;
    const libsolver_vectors *b, *x;
    int64_t count; /* tasks */
    size_t size;
    libsolver_status (*run)(const struct traced *t, void *tasks);
    double (*end)(const void *task);
} traced;

static libsolver_status run_solve(const traced *t, void *tasks)
{
    int64_t count;
    return libsolver_solve_traced(t->session->factor, t->workspace, t->b, t->x, t->count, tasks,
                                  &count);
}

static double end_of_solve_task(const void *task)
{
    return ((const libsolver_task *)task)->end;
}

static libsolver_status run_factorization(const traced *t, void *tasks)
{
    int64_t count;
    const libsolver_status status =
        libsolver_refactorize_traced(t->session->factor, &t->session->view, t->count, tasks,
                                     &count);
    return status >= 0 && count != t->count ? LIBSOLVER_NOT_BUILT : status; /* it left the device */
}

static double end_of_factor_task(const void *task)
{
    return ((const libsolver_factor_task *)task)->end;
}

static double length_of(const traced *t, const char *task)
{
    double end = 0;
    for (int64_t k = 0; k < t->count; k++)
        end = fmax(end, t->end(task + (size_t)k * t->size));
    return end;
}

/* The tasks of the fastest of TRACES runs; NULL after a failure, to be freed by room_free. */
static void *fastest(const traced *t, failure *f)
{
    char *best = room_new(t->count + 1, t->size), *other = room_new(t->count + 1, t->size);
    libsolver_status status = LIBSOLVER_OK;
    if (!best || !other)
        no_memory(t->session, f);
    for (int k = 0; k < TRACES && status >= 0 && !f->code; k++) {
        status = t->run(t, k == 0 ? best : other);
        if (!session_check(t->session, status, t->session->factor, f) && k > 0 &&
            length_of(t, other) < length_of(t, best))
            memcpy(best, other, (size_t)t->count * t->size);
    }
    room_free(other);
    if (!f->code)
        return best;
    room_free(best);
    return NULL;
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

static int store_text(json *j, const char *prefix, const char *name, const char *suffix, failure *f)
{
    char *path = traces_path(prefix, name, suffix);
    if (!path || j->failed)
        failure_memory(f, name);
    else
        output_store(path, j->text, j->length, f);
    json_free(j);
    room_free(path);
    return f->code;
}

static int open_picture(output *o, const char *prefix, const char *name, const char *suffix,
                        failure *f)
{
    char *path = traces_path(prefix, name, suffix);
    if (!path)
        failure_memory(f, name);
    else
        output_open(o, path, f);
    room_free(path);
    return f->code;
}

int traces_solve(session *s, libsolver_workspace *workspace, const libsolver_vectors *b,
                 const libsolver_vectors *x, profile *p, failure *f)
{
    traced t = {.session = s,
                .workspace = workspace,
                .b = b,
                .x = x,
                .size = sizeof(libsolver_task),
                .run = run_solve,
                .end = end_of_solve_task};
    libsolver_status status =
        libsolver_solve_traced(s->factor, workspace, NULL, NULL, 0, NULL, &t.count);
    *p = (profile){0};
    if (session_check(s, status, s->factor, f))
        return f->code;
    libsolver_task *task = fastest(&t, f);
    if (task && !profile_make(task, t.count, device_copy_rate(), p))
        no_memory(s, f);
    room_free(task);
    return f->code;
}

int traces_store_solve(const profile *p, const profile_facts *facts, const char *prefix, failure *f)
{
    json j = {0};
    output o;
    profile_json(p, facts, &j);
    if (!store_text(&j, prefix, facts->name, "json", f) &&
        !open_picture(&o, prefix, facts->name, "svg", f)) {
        profile_svg(p, facts, &o);
        output_close(&o, true, f);
    }
    return f->code;
}

int64_t traces_factor_tasks(const session *s)
{
    int64_t count = 0;
    const libsolver_status status = libsolver_refactorize_traced(s->factor, NULL, 0, NULL, &count);
    return status == LIBSOLVER_OK ? count : 0;
}

int traces_factor(session *s, int64_t tasks, factor_profile *p, failure *f)
{
    const traced t = {.session = s,
                      .count = tasks,
                      .size = sizeof(libsolver_factor_task),
                      .run = run_factorization,
                      .end = end_of_factor_task};
    libsolver_factor_task *task = fastest(&t, f);
    *p = (factor_profile){0};
    if (task && !factor_profile_make(task, tasks, p))
        no_memory(s, f);
    room_free(task);
    return f->code;
}

int traces_store_factor(const factor_profile *p, const profile_facts *facts, const char *prefix,
                        failure *f)
{
    json j = {0};
    output o;
    factor_profile_json(p, facts, &j);
    if (!store_text(&j, prefix, facts->name, "factor.json", f) &&
        !open_picture(&o, prefix, facts->name, "factor.svg", f)) {
        factor_profile_svg(p, facts, &o);
        output_close(&o, true, f);
    }
    return f->code;
}
