/* solver/cpu/solve/tree_tmpl.c: a factor as dense blocks over a tree, for backends that solve with
 * it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/owned_tree.h"
#include "base/least_progress.h"
#include "solver/cpu/solve/workspace.h"
#include <assert.h>
#include <string.h>

static void *take(memory *m, owned_tree *tree, int64_t count, size_t size)
{
    void *p = memory_new(m, count, size);
    if (p)
        tree->array[tree->arrays++] = p;
    return p;
}

/* The arrays of a factor_tree, while they are written. */
typedef struct tree_arrays {
    int32_t *first, *row, *ld, *user_row;
    int64_t *row_start;
    const void **panel, **d, **e;
    real *scale;
} tree_arrays;

/* Rows of P A P^T become places in the order of elimination, which pivoting and delays have
 * changed: elimination(i) is that of row i. */
static void fill(const numeric *f, const int32_t *elimination, const tree_arrays *t)
{
    t->first[0] = 0;
    t->row_start[0] = 0;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        assert(!v->packed);
        t->first[s + 1] = t->first[s] + v->p;
        t->row_start[s + 1] = t->row_start[s] + v->m - v->p;
        for (int i = v->p; i < v->m; i++)
            t->row[t->row_start[s] + i - v->p] = elimination[v->index[i]];
        t->ld[s] = v->m;
        t->panel[s] = v->panel;
        t->d[s] = v->d;
        t->e[s] = v->e;
    }
}

static libsolver_status view_blocks(const numeric *f, owned_tree *tree)
{
    assert(!is_simplicial(f)); /* plans for other backends have fronts, and pack none */
    memory *m = &f->plan->env->memory;
    const int32_t n = f->plan->a.n, nodes = f->plan->part.supernodes;
    int64_t rows = 0;
    for (int32_t s = 0; s < nodes; s++)
        rows += f->node[s].m - f->node[s].p;
    memset(tree, 0, sizeof *tree);
    const tree_arrays t = {.first = take(m, tree, nodes + 1, sizeof(int32_t)),
                           .row_start = take(m, tree, nodes + 1, sizeof(int64_t)),
                           .row = take(m, tree, rows, sizeof(int32_t)),
                           .ld = take(m, tree, nodes, sizeof(int32_t)),
                           .panel = take(m, tree, nodes, sizeof(void *)),
                           .d = take(m, tree, nodes, sizeof(void *)),
                           .e = take(m, tree, nodes, sizeof(void *)),
                           .user_row = take(m, tree, n, sizeof(int32_t)),
                           .scale = take(m, tree, n, sizeof(real))};
    int32_t *elimination = memory_new(m, n, sizeof(int32_t));
    if (!t.first || !t.row_start || !t.row || !t.ld || !t.panel || !t.d || !t.e || !t.user_row ||
        !t.scale || !elimination) {
        memory_free(m, elimination);
        owned_tree_free(m, tree);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t k = 0; k < n; k++) {
        elimination[f->order[k]] = k;
        t.user_row[k] = f->plan->part.perm[f->order[k]];
        t.scale[f->plan->part.perm[k]] = f->scale[k];
    }
    fill(f, elimination, &t);
    memory_free(m, elimination);
    tree->view = (factor_tree){.type = SCALAR_TYPE,
                               .hermitian = f->plan->hermitian,
                               .cholesky = f->cholesky,
                               .n = n,
                               .nodes = nodes,
                               .first = t.first,
                               .above = f->plan->part.above,
                               .row_start = t.row_start,
                               .row = t.row,
                               .ld = t.ld,
                               .panel = t.panel,
                               .d = t.d,
                               .e = t.e,
                               .user_row = t.user_row,
                               .scale = t.scale};
    return LIBSOLVER_OK;
}

/* Mixed precision: the blocks of the factor in single, and the scaling that is here. */
static libsolver_status view_single(const numeric *f, owned_tree *tree, message *why)
{
    memory *m = &f->plan->env->memory;
    TRY(f->single->backend->view_tree(f->factor, tree, why));
    double *scale = take(m, tree, f->plan->a.n, sizeof(double));
    if (!scale) {
        owned_tree_free(m, tree);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t k = 0; k < f->plan->a.n; k++)
        scale[f->plan->part.perm[k]] = (double)f->scale[k];
    tree->view.wide_scale = scale;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_view_tree)(const void *numeric_, owned_tree *tree, message *why)
{
    const numeric *f = numeric_;
    const libsolver_status status = f->single ? view_single(f, tree, why) : view_blocks(f, tree);
    if (status != LIBSOLVER_OK)
        return FAIL(why, status, "the view of the factor wanted %lld more bytes",
                    (long long)f->plan->env->memory.wanted);
    return LIBSOLVER_OK;
}

void NAME(cpu_view_plan)(const void *plan_, backend_plan_view *view)
{
    const cpu_plan *plan = plan_;
    const partition *part = &plan->part;
    *view = (backend_plan_view){.a = &plan->a,
                                .given = plan->given,
                                .row_of = part->perm,
                                .hermitian = plan->hermitian,
                                .factor_entries = part->stored_nnz,
                                .host_bytes = plan->bytes_here,
                                .doubt_level = numeric_doubt_level(plan)};
    if (plan_has_fronts(plan))
        view->fronts = (factor_pattern){.n = part->n,
                                        .nodes = part->supernodes,
                                        .hermitian = plan->hermitian,
                                        .schur_size = plan->schur_size,
                                        .first = part->first,
                                        .above = part->above,
                                        .row_start = part->row_start,
                                        .position = plan->position,
                                        .row_of = part->perm,
                                        .start = plan->a.start,
                                        .row = plan->a.row,
                                        .local = plan->local,
                                        .index = part->row,
                                        .signs = plan->sign,
                                        .place = plan->place};
}

void NAME(cpu_view)(const void *numeric_, backend_view *view)
{
    const numeric *f = numeric_;
    const int is_singular = f->zero_pivots > 0;
    *view =
        (backend_view){.scale = f->scale,
                       .row_of = f->plan->part.perm,
                       .is_singular = is_singular,
                       .least_progress = is_singular ? LEAST_PROGRESS_SINGULAR : LEAST_PROGRESS};
}

libsolver_status NAME(cpu_set_solver)(const void *numeric_, void *workspace_,
                                      void (*solve)(void *user, int c, void *x), void *user,
                                      message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    if (f->single)
        return f->single->backend->set_solver(f->factor, w->single, solve, user, why);
    w->solve_override = solve;
    w->override_user = user;
    return LIBSOLVER_OK;
}

void NAME(cpu_set_trial)(void *workspace_,
                         libsolver_status (*refine)(void *user, backend_refinement *trial,
                                                    message *why),
                         void *user)
{
    workspace *w = workspace_;
    w->trial_override = refine;
    w->trial_user = user;
}
