/* solver/cpu/solve/solve_tmpl.c: forward and back substitution over the tree, blocks of right-hand
 * sides
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of c right-hand sides is kept by rows: row i at x + i c, so that a gathered row is one
 * run of memory; in fronts a row has the width that kernels want, filled up by zeros.  Forward,
 * every front adds what its children pass up, solves for its pivots and passes its other rows up;
 * the order of all sums is that of the tree, whatever the threads do. */
#include "solver/cpu/plan/work_queue.h"
#include "solver/cpu/solve/workspace.h"
#include "dense/cpu/substitute.h"
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

/* Blocks of right-hand sides: bytes of the next front that are asked for ahead; longer runs the
 * processor foresees by itself, and the kernels for one right-hand side look ahead themselves.
 * Factors that fit its caches are better off without: of those measured, bcsstk18 (7 MB) and
 * aug3dcqp (12 MB) lose 5 %, kkt_cont-201 (38 MB) and lap2d:500 (90 MB) gain 15 %, with 16
 * right-hand sides as with one, by `libsolver bench` on two cores of an AMD EPYC 9004. */
#define BYTES_AHEAD 8192
#define FACTOR_BYTES_FOR_AHEAD 16000000

/* What a sweep over the tree works on: c right-hand sides in w->x. */
typedef struct sweep {
    const numeric *f;
    workspace *w;
    int part, c, width; /* a row of w->x is c scalars, one of a front `width` */
    const substitution *kernels;
    int ahead; /* fronts are asked for ahead */
} sweep;

/* z(0:p) := D^-1 z(0:p), zero where the pivot is */
static void front_diagonal(const node *v, int hermitian, int width, scalar *z)
{
    for (int i = 0; i < v->p; i++) {
        scalar *x = z + (int64_t)i * width, *y = x + width;
        const scalar a = v->d[i], b = v->e[i];
        if (b != 0) {
            const scalar d = v->d[i + 1], above = scalar_mirror(b, hermitian), ab = a / b,
                         db = d / above;
            const scalar to_x = 1 / (b * (ab * db - 1)), to_y = 1 / (above * (ab * db - 1));
            for (int q = 0; q < width; q++) {
                const scalar x0 = x[q];
                x[q] = (db * x0 - y[q]) * to_x;
                y[q] = (ab * y[q] - x0) * to_y;
            }
            i++;
        } else
            for (int q = 0; q < width; q++)
                x[q] = a == 0 ? 0 : x[q] / a;
    }
}

/* Copies c scalars, or their conjugates. */
static inline void copy_row(scalar *restrict to, const scalar *restrict from, int c, int conjugate)
{
    for (int q = 0; q < c; q++)
        to[q] = scalar_mirror(from[q], conjugate);
}

/* The same into a row of `width`, filled up by zeros. */
static inline void load_row(scalar *restrict to, const scalar *restrict from, int c, int width,
                            int conjugate)
{
    copy_row(to, from, c, conjugate);
    for (int q = c; q < width; q++)
        to[q] = 0;
}

static inline void add_row(scalar *restrict to, const scalar *restrict from, int width)
{
    for (int q = 0; q < width; q++)
        to[q] += from[q];
}

static inline void prefetch_front(const sweep *go, const node *v)
{
    const int64_t bytes = (int64_t)v->m * v->p * (int64_t)sizeof(scalar);
    const char *from = (const char *)v->panel;
    if (!go->ahead || go->width == 1)
        return;
    for (int64_t k = 0; k < bytes && k < BYTES_AHEAD; k += 64)
        __builtin_prefetch(from + k, 0, 2); /* to the second level: the first one is for the front
                                               at hand */
}

static inline void add_children(const sweep *go, int32_t s, int width, scalar *z)
{
    const numeric *f = go->f;
    for (int32_t child = f->plan->child[s]; child >= 0; child = f->plan->sibling[child]) {
        const node *u = &f->node[child];
        const scalar *from = go->w->front + (f->solve_slot[child] + u->p) * width;
        const int32_t *up = node_up(f, child);
        for (int i = 0; i < u->m - u->p; i++)
            add_row(z + (int64_t)up[i] * width, from + (int64_t)i * width, width);
    }
}

/* c and width: those of go, constants where this is inlined for one and for 16 right-hand sides. */
static inline void load_front(const sweep *go, int32_t s, int c, int width, scalar *z)
{
    const node *v = &go->f->node[s];
    for (int i = 0; i < v->p; i++)
        load_row(z + (int64_t)i * width, go->w->x + (int64_t)v->index[i] * c, c, width, 0);
    memset(z + (int64_t)v->p * width, 0, sizeof(scalar) * (size_t)(v->m - v->p) * (size_t)width);
    add_children(go, s, width, z);
}

static inline void gather_front(const sweep *go, const node *v, int c, int width, int conjugate,
                                scalar *z)
{
    for (int i = 0; i < v->m; i++)
        load_row(z + (int64_t)i * width, go->w->x + (int64_t)v->index[i] * c, c, width, conjugate);
}

static inline void store_pivots(const sweep *go, const node *v, int c, int width, int conjugate,
                                const scalar *z)
{
    for (int i = 0; i < v->p; i++)
        copy_row(go->w->x + (int64_t)v->index[i] * c, z + (int64_t)i * width, c, conjugate);
}

/* Fronts for which one right-hand side has kernels of its own. */
static inline int is_small(const sweep *go, const node *v)
{
    return v->m <= go->kernels->small_rows && v->p > 0 && v->p <= SUBSTITUTE_SMALL_PIVOTS;
}

static inline substitution_front small_front(const sweep *go, const node *v)
{
    return (substitution_front){.panel = v->panel,
                                .index = v->index,
                                .m = v->m,
                                .p = v->p,
                                .packed = v->packed,
                                .unit = !go->f->cholesky,
                                .ahead = go->ahead};
}

static void forward_small(const sweep *go, int32_t s)
{
    const node *v = &go->f->node[s];
    const substitution_front front = small_front(go, v);
    const int is_leaf = go->f->plan->child[s] < 0;
    scalar *z = go->w->front + go->f->solve_slot[s];
    if (!is_leaf) {
        memset(z, 0, sizeof(scalar) * (size_t)v->m);
        add_children(go, s, 1, z);
    }
    go->kernels->small_forward(&front, go->w->x, is_leaf, z);
    if ((go->part & BACKEND_D) && !go->f->cholesky)
        front_diagonal(v, go->f->plan->hermitian, 1, z);
    store_pivots(go, v, 1, 1, 0, z);
}

static void forward(const sweep *go, int32_t s)
{
    const numeric *f = go->f;
    const node *v = &f->node[s];
    scalar *z = go->w->front + f->solve_slot[s] * go->width;
    if (is_small(go, v)) {
        forward_small(go, s);
        return;
    }
    if (s + 1 < f->plan->part.supernodes)
        prefetch_front(go, v + 1);
    if (go->c == 1)
        load_front(go, s, 1, 1, z);
    else if (go->c == 16)
        load_front(go, s, 16, 16, z);
    else
        load_front(go, s, go->c, go->width, z);
    NAME(substitute_forward)(go->kernels, v->m, v->p, v->packed, !f->cholesky, v->panel, go->width,
                             z);
    if ((go->part & BACKEND_D) && !f->cholesky)
        front_diagonal(v, f->plan->hermitian, go->width, z);
    if (go->c == 1)
        store_pivots(go, v, 1, 1, 0, z);
    else if (go->c == 16)
        store_pivots(go, v, 16, 16, 0, z);
    else
        store_pivots(go, v, go->c, go->width, 0, z);
}

/* L^H x = b is L^T conj(x) = conj(b). */
static void backward(const sweep *go, int32_t s)
{
    const int conjugate = go->f->plan->hermitian;
    const node *v = &go->f->node[s];
    scalar *z = go->w->front + go->f->solve_slot[s] * go->width;
    if (is_small(go, v)) { /* of real types: conjugates are the same */
        const substitution_front front = small_front(go, v);
        go->kernels->small_backward(&front, go->w->x);
        return;
    }
    if (s > 0)
        prefetch_front(go, v - 1);
    if (go->c == 1)
        gather_front(go, v, 1, 1, conjugate, z);
    else if (go->c == 16)
        gather_front(go, v, 16, 16, conjugate, z);
    else
        gather_front(go, v, go->c, go->width, conjugate, z);
    NAME(substitute_backward)(go->kernels, v->m, v->p, v->packed, !go->f->cholesky, v->panel,
                              go->width, z);
    if (go->c == 1)
        store_pivots(go, v, 1, 1, conjugate, z);
    else if (go->c == 16)
        store_pivots(go, v, 16, 16, conjugate, z);
    else
        store_pivots(go, v, go->c, go->width, conjugate, z);
}

/* A range of supernodes, then every supernode above it of which it was the last to be waited
 * for. */
static void forward_range(const sweep *go, const task_range *range)
{
    for (int32_t s = range->first; s < range->last; s++)
        forward(go, s);
    for (int32_t s = range->above; s >= 0 && schedule_was_last(&go->w->pending[s]);
         s = go->f->plan->part.above[s])
        forward(go, s);
}

static void forward_ranges(const sweep *go, work_queue *q)
{
    for (int32_t r; (r = work_queue_range(q)) >= 0;)
        forward_range(go, &go->f->plan->solves.range[r]);
}

static void backward_range(const sweep *go, const task_range *range)
{
    for (int32_t s = range->last - 1; s >= range->first; s--)
        backward(go, s);
}

/* Whether a front is one that several threads solve with. */
static int is_shared(const sweep *go, int32_t s)
{
    const node *v = &go->f->node[s];
    return (int64_t)v->m * v->p > SUBSTITUTE_LARGE;
}

static void backward_from(const sweep *go, work_queue *q, int32_t s, int shared);

/* Upper supernode s may begin: as a task if it is shared, otherwise as item s + 1 of the queue, in
 * which -1 - r stands for range r. */
static void begin_upper(const sweep *go, work_queue *q, int32_t s, int shared)
{
    if (shared) {
#pragma omp task firstprivate(s)
        backward_from(go, q, s, 1);
    } else
        work_queue_put(q, s + 1);
}

/* Upper supernode s, then one upper child after the other; what else hangs below them may begin.
 * shared: s is, and so are the children that follow it here; the others go to the queue. */
static void backward_from(const sweep *go, work_queue *q, int32_t s, int shared)
{
    const cpu_plan *plan = go->f->plan;
    const schedule *tasks = &plan->solves;
    while (s >= 0) {
        int32_t next = -1;
        backward(go, s);
        for (int32_t child = plan->child[s]; child >= 0; child = plan->sibling[child]) {
            if (!tasks->upper[child])
                continue;
            if (shared && !is_shared(go, child)) {
                begin_upper(go, q, child, 0);
                continue;
            }
            if (next >= 0)
                begin_upper(go, q, next, shared);
            next = child;
        }
        for (int32_t r = tasks->below[s]; r >= 0; r = tasks->range[r].next)
            work_queue_put(q, -1 - r);
        s = next;
    }
}

/* The upper roots that are shared, or those that are not, may begin, the last one first.  Returns
 * how many are of the other kind. */
static int backward_roots(const sweep *go, work_queue *q, int shared)
{
    const schedule *tasks = &go->f->plan->solves;
    int others = 0;
    for (int32_t k = tasks->uppers - 1; k >= 0; k--) {
        const int32_t s = tasks->upper_list[k];
        if (go->f->plan->part.above[s] >= 0)
            continue;
        if (is_shared(go, s) == shared)
            begin_upper(go, q, s, shared);
        else
            others++;
    }
    return others;
}

static void backward_items(const sweep *go, work_queue *q)
{
    const schedule *tasks = &go->f->plan->solves;
    for (int32_t item; (item = work_queue_take(q)) != 0;) {
        if (item > 0)
            backward_from(go, q, item - 1, 0);
        else
            backward_range(go, &tasks->range[-1 - item]);
        work_queue_done(q);
    }
}

/* Threads work on the tasks of shared fronts while they wait for each other at a barrier. */
static void sweep_by_threads(const sweep *go, int threads)
{
    const schedule *tasks = &go->f->plan->solves;
    work_queue q;
    work_queue_init(&q, tasks, go->w->pending + go->w->nodes);
    schedule_begin(tasks, go->w->pending);
    const int shared_roots = backward_roots(go, &q, 0);
    for (int32_t r = tasks->ranges - 1; r >= 0; r--)
        if (tasks->range[r].above < 0)
            work_queue_put(&q, -1 - r);
#pragma omp parallel num_threads(threads)
    {
        if (go->part & BACKEND_L)
            forward_ranges(go, &q);
        if (go->part & BACKEND_LT) {
#pragma omp barrier
            if (shared_roots > 0) {
#pragma omp single
                backward_roots(go, &q, 1);
            }
            backward_items(go, &q);
        }
    }
}

/* Both sweeps by one thread, without tasks. */
static void sweep_alone(const sweep *go)
{
    const int32_t supernodes = go->f->plan->part.supernodes;
    if (go->part & BACKEND_L)
        for (int32_t s = 0; s < supernodes; s++)
            forward(go, s);
    if (go->part & BACKEND_LT)
        for (int32_t s = supernodes - 1; s >= 0; s--)
            backward(go, s);
}

/* x := D^-1 x */
static void diagonal_tree(const numeric *f, workspace *w, int c)
{
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        scalar *z = w->front + f->solve_slot[s] * c;
        for (int i = 0; i < v->p; i++)
            copy_row(z + (int64_t)i * c, w->x + (int64_t)v->index[i] * c, c, 0);
        front_diagonal(v, f->plan->hermitian, c, z);
        for (int i = 0; i < v->p; i++)
            copy_row(w->x + (int64_t)v->index[i] * c, z + (int64_t)i * c, c, 0);
    }
}

void NAME(cpu_solve_block)(const numeric *f, int part, workspace *w, int c)
{
    if (w->solve_override && part == (BACKEND_L | BACKEND_D | BACKEND_LT)) {
        w->solve_override(w->override_user, c, w->x);
        return;
    }
    if (f->single) {
        f->single->solve_block(f->factor, part, w->single, c, w->x);
        return;
    }
    if (is_simplicial(f)) {
        NAME(cpu_solve_simplicial)(f, part, c, w->x);
        return;
    }
    if (part == BACKEND_D) {
        if (!f->cholesky)
            diagonal_tree(f, w, c);
        return;
    }
    const int ahead = f->entries * (int64_t)sizeof(scalar) > FACTOR_BYTES_FOR_AHEAD,
              width = (int)substitution_width(c);
    const sweep go = {.f = f,
                      .w = w,
                      .part = part,
                      .c = c,
                      .width = width,
                      .kernels = NAME(substitution_kernels)(width, ahead),
                      .ahead = ahead};
    const int most = cpu_plan_solve_threads(f->plan, c);
    if (most == 1) {
        sweep_alone(&go);
        return;
    }
    const int threads = workspace_threads(f, w, c);
    const double begin = omp_get_wtime();
    if (threads > 1)
        sweep_by_threads(&go, threads);
    else
        sweep_alone(&go);
    team_took(&w->pace, most, threads, omp_get_wtime() - begin, cpu_plan_solve_seconds(f->plan, c));
}

libsolver_status NAME(cpu_solve)(const void *numeric_, int part, void *workspace_,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n, *row = f->plan->part.perm;
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    for (int64_t first = 0; first < b->columns; first += w->columns) {
        const int c = (int)(b->columns - first < w->columns ? b->columns - first : w->columns);
        const int threads = workspace_threads(f, w, c);
        if (environment_cancelled(f->plan->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "the solve was cancelled");
        if (part & BACKEND_L)
            NAME(cpu_load)(n, c, b, first, row, f->scale, threads, w->x);
        else
            NAME(cpu_load_eliminated)(n, c, b, first, f->order, w->x);
        NAME(cpu_solve_block)(f, part, w, c);
        if (part & BACKEND_LT)
            NAME(cpu_store)(n, c, w->x, f->scale, row, threads, x, first);
        else
            NAME(cpu_store_eliminated)(n, c, w->x, f->order, x, first);
    }
    return LIBSOLVER_OK;
}
