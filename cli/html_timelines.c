/* cli/html_timelines.c: what a GPU did, as parts of the page of `libsolver solve --html`
 * SPDX-License-Identifier: BSD-3-Clause */
#include "certificate.h"
#include "dense_block.h"
#include "device.h"
#include "html_report.h"
#include "traces.h"
#include <math.h>

static void heading(const char *what, output *o)
{
    output_print(o, "<h2>What the GPU did in a %s</h2>\n", what);
}

static void note(const char *text, output *o)
{
    output_print(o, "<p class=\"note\">%s</p>\n", text);
}

static profile_facts facts_of(const report *r, const session *s, const char *device)
{
    libsolver_factor_info factor;
    libsolver_info(s->factor, &factor);
    return (profile_facts){.name = r->path,
                           .device = device,
                           .n = r->matrix->n,
                           .factor_nnz = factor.factor_nnz,
                           .stream = NAN,
                           .graph = NAN,
                           .refactorize = NAN,
                           .refactorize_device = NAN};
}

/* A factorization of the same values, traced by the device's clock. */
static void write_factorization(const report *r, session *at_work, const char *device, output *o)
{
    failure untraced = {0};
    factor_profile p = {0};
    const profile_facts facts = facts_of(r, at_work, device);
    const int64_t tasks = traces_factor_tasks(at_work);
    if (tasks == 0)
        return;
    heading("factorization", o);
    if (traces_factor(at_work, tasks, &p, &untraced))
        note("It could not be traced.", o);
    else {
        output_print(o, "<div class=\"wide\">\n");
        factor_profile_svg(&p, &facts, o);
        output_print(o, "</div>\n");
    }
    factor_profile_free(&p);
}

/* Of one right-hand side, which lies on the device. */
static int trace_solve(const report *r, session *s, profile *p, failure *f)
{
    const triplets *a = r->matrix;
    dense_block b;
    void *on_device = NULL;
    libsolver_workspace *workspace = NULL;
    if (!dense_create(&b, a->n, 1, a->type))
        failure_memory(f, s->name);
    else {
        made_solution(a->n, 1, triplets_width(a), b.values);
        dense_set(&b);
        libsolver_vectors x = dense_view(&b, 1);
        const size_t bytes =
            (size_t)a->n * (size_t)type_width(a->type) * (type_is_single(a->type) ? 4 : 8);
        if (device_use(s->options.device) || device_array_create(x.values, bytes, &on_device))
            session_check(s, LIBSOLVER_CUDA, s->factor, f);
        else if (!session_check(s, libsolver_workspace_create(s->factor, 1, &workspace), s->factor,
                                f)) {
            x.values = on_device;
            x.place = LIBSOLVER_DEVICE;
            traces_solve(s, workspace, &x, &x, p, f);
        }
    }
    libsolver_workspace_free(workspace);
    device_array_free(on_device);
    dense_free(&b);
    return f->code;
}

/* A solve with a factor that holds inverses: the tool solves once, by substitution where nothing
 * else was asked for, which is not traced. */
static void write_solve(const report *r, const session *at_work, const char *device, output *o)
{
    failure untraced = {0};
    profile p = {0};
    session other = *at_work;
    const bool is_other = other.options.purpose == LIBSOLVER_PURPOSE_FEW;
    heading("solve", o);
    if (is_other) {
        note("A solve with a factor that is made for many of them, --purpose default; the one "
             "above was by substitution, --purpose few.",
             o);
        other.options.purpose = LIBSOLVER_PURPOSE_DEFAULT;
        other.analysis = NULL;
        other.factor = NULL;
        if (!session_analyze(&other, &untraced))
            session_factorize(&other, &untraced);
    }
    if (untraced.code || trace_solve(r, &other, &p, &untraced))
        note("It could not be traced.", o);
    else {
        const profile_facts facts = facts_of(r, &other, device);
        output_print(o, "<div class=\"wide\">\n");
        profile_svg(&p, &facts, o);
        output_print(o, "</div>\n");
    }
    profile_free(&p);
    if (is_other) {
        libsolver_factor_free(other.factor);
        libsolver_analysis_free(other.analysis);
    }
}

void html_timelines(const report *r, session *at_work, output *o)
{
    libsolver_device device;
    if (r->factor.backend_solve != LIBSOLVER_BACKEND_GPU)
        return;
    const char *name = device_name(r->factor.backend_solve, r->device, &device);
    write_factorization(r, at_work, name, o);
    write_solve(r, at_work, name, o);
}
