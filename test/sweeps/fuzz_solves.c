/* test/sweeps/fuzz_solves.c: calls that solve and estimate
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_calls.h"

typedef struct solve_arguments {
    fuzz_block b, x;
    libsolver_workspace *workspace;
    int in_place, refines;
    double *errors, *forward;
    double condition;
} solve_arguments;

/* Random, 0, consistent with A, or with a few entries. */
void draw_right_sides(fuzz_session *s, fuzz_block *b)
{
    const int n = s->given.n;
    oracle_matrix a = system_matrix(&s->factored, s->is_shifted ? s->shift_re : NULL, s->shift_im);
    for (int j = 0; j < b->vectors.columns; j++) {
        const int what = below(s, 10);
        quad_complex x[64], y[64] = {{0, 0}};
        for (int i = 0; i < n; i++) {
            const double re = random_real(&s->r), im = random_real(&s->r);
            const int zero = what == 0 || (what < 3 && below(s, 4) > 0);
            x[i] = zero ? (quad_complex){0, 0} : (quad_complex){re, s->given.is_complex ? im : 0};
        }
        for (int k = 0; k < n && what > 5; k++)
            for (int i = 0; i < n; i++) {
                const quad_complex v = a.entry[i + k * n];
                y[i].re += v.re * x[k].re - v.im * x[k].im;
                y[i].im += v.re * x[k].im + v.im * x[k].re;
            }
        for (int i = 0; i < n; i++)
            block_set(b, i, j, (double)(what > 5 ? y : x)[i].re, (double)(what > 5 ? y : x)[i].im);
    }
    oracle_matrix_free(&a);
}

static libsolver_status make_solve(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    block_free(&p->x);
    p->x = block_copy(&p->b);
    return libsolver_solve(s->factor, p->in_place ? &p->x.vectors : &p->b.vectors, &p->x.vectors);
}

/* x := a plain solve, then refined */
static libsolver_status make_refine(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    block_free(&p->x);
    p->x = block_copy(&p->b);
    const libsolver_status status =
        libsolver_solve_plain(s->factor, LIBSOLVER_PART_ALL, p->workspace, &p->b.vectors,
                              &p->x.vectors);
    return status < 0
               ? status
               : libsolver_refine(s->factor, p->workspace, &p->b.vectors, &p->x.vectors, p->errors);
}

static libsolver_status make_forward(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    return libsolver_forward_error(s->factor, p->workspace, &p->b.vectors, &p->x.vectors,
                                   p->forward);
}

static libsolver_status make_condition(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    return libsolver_condition(s->factor, p->workspace, &p->condition);
}

/* A workspace follows a factor that grew, or is the first of its sort, at its next use. */
static void check_no_allocations(fuzz_session *s, int slot, int64_t requests, const char *name)
{
    const int is_fit = !s->has_grown[slot] && (fit_wanted(s) & ~s->is_fit_for[slot]) == 0;
    if (s->requests != requests && !s->may_fail && is_fit)
        session_fail(s, "a solve allocates", "%s: %d times", name, (int)(s->requests - requests));
}

static void workspace_is_fit(fuzz_session *s, int slot, int is_new)
{
    s->has_grown[slot] = 0;
    s->is_fit_for[slot] = (is_new ? 0 : s->is_fit_for[slot]) | fit_wanted(s);
}

void do_solve(fuzz_session *s)
{
    const int columns = chance(s, 5) ? 33 + below(s, 10) : chance(s, 5) ? 0 : 1 + below(s, 4);
    solve_arguments p = {.b = block_random(&s->r, &s->given, s->given.n, columns),
                         .in_place = chance(s, 30),
                         .refines = chance(s, 40)};
    libsolver_solve_info info;
    double errors[64], forward[64];
    p.errors = chance(s, 70) ? errors : NULL;
    p.forward = forward;
    const int drawn = below(s, SESSION_WORKSPACES),
              slot = p.refines && s->workspace[drawn] ? drawn : SESSION_WORKSPACES;
    p.workspace = slot < SESSION_WORKSPACES ? s->workspace[slot] : NULL;
    draw_right_sides(s, &p.b);
    session_tell(s, "%s, %d columns%s%s%s", p.refines ? "solve_plain, refine" : "solve", columns,
                 p.b.vectors.layout ? " by rows" : "", p.in_place && !p.refines ? ", x is b" : "",
                 p.workspace ? ", own workspace" : "");
    const int64_t requests = s->requests;
    libsolver_status status =
        attempt(s, p.refines ? "refine" : "solve", p.refines ? make_refine : make_solve, &p, NULL);
    if (p.refines || columns <= s->columns)
        check_no_allocations(s, slot, requests, p.refines ? "refine" : "solve");
    if (status >= 0)
        workspace_is_fit(s, slot, !p.refines && columns > s->columns && s->columns < 32);
    if (!p.refines && status >= 0)
        s->columns = columns > s->columns ? (columns < 32 ? columns : 32) : s->columns;
    if (status < 0) {
        if (!is_limited(s, status))
            session_fail(s, "a solve failed", "%s: %s", libsolver_status_name(status),
                         session_message(s));
    } else {
        libsolver_solve_query(s->factor, p.workspace, &info);
        session_digest(s, &status, sizeof status);
        session_digest(s, &info.backward_error, sizeof info.backward_error);
        session_digest(s, p.x.vectors.values, (size_t)p.x.count * scalar_bytes(s->given.type));
        session_end_call(s);
        if (!block_is_sound(&p.x) || !block_is_sound(&p.b))
            session_fail(s, "written outside of a block", "solve");
        check_solution(s, status, &info, &p.b, &p.x, p.refines ? p.errors : NULL);
        if (chance(s, 30)) {
            session_tell(s, "forward_error");
            const int64_t before = s->requests;
            status = attempt(s, "forward_error", make_forward, &p, NULL);
            check_no_allocations(s, slot, before, "forward_error");
            session_digest(s, forward, sizeof *forward * (size_t)columns);
            check_forward_errors(s, status, &p.b, &p.x, forward);
        }
    }
    block_free(&p.b);
    block_free(&p.x);
}

void do_condition(fuzz_session *s)
{
    const int drawn = below(s, SESSION_WORKSPACES),
              slot = s->workspace[drawn] ? drawn : SESSION_WORKSPACES;
    solve_arguments p = {.workspace = s->workspace[drawn]};
    const int64_t requests = s->requests;
    session_tell(s, "condition");
    const libsolver_status status = attempt(s, "condition", make_condition, &p, NULL);
    check_no_allocations(s, slot, requests, "condition");
    session_digest(s, &p.condition, sizeof p.condition);
    check_condition(s, status, p.condition);
}

typedef struct workspace_arguments {
    int slot, columns;
} workspace_arguments;

static libsolver_status make_workspace(fuzz_session *s, void *arguments)
{
    const workspace_arguments *p = arguments;
    return libsolver_workspace_create(s->factor, p->columns, &s->workspace[p->slot]);
}

void do_workspace(fuzz_session *s)
{
    workspace_arguments p = {below(s, SESSION_WORKSPACES), 1 + below(s, 6)};
    libsolver_workspace_free(s->workspace[p.slot]);
    s->workspace[p.slot] = NULL;
    session_tell(s, "workspace_create: %d columns", p.columns);
    const libsolver_status status = attempt(s, "workspace_create", make_workspace, &p, NULL);
    workspace_is_fit(s, p.slot, 1);
    if (status != LIBSOLVER_OK && !is_limited(s, status))
        session_fail(s, "workspace_create failed", "%s", libsolver_status_name(status));
}
