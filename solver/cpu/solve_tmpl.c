/* solver/cpu/solve_tmpl.c: forward and back substitution over the tree, blocks of right-hand sides
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of c right-hand sides is kept by rows: row i at x + i c, so that a gathered row is one run of
 * memory and, as a column-major matrix, the block is its own transpose (c x rows).  Forward, every front adds
 * what its children pass up, solves for its pivots and passes its other rows up; the order of all sums is
 * that of the tree, whatever the threads do. */
#include "solver/cpu/numeric.h"
#include "dense/cpu/blas.h"
#include "dense/cpu/blas_serial.h"
#include <omp.h>
#include <string.h>

/* Entries of a front up to which plain loops beat calls of the BLAS, for one right-hand side.
 * `libsolver bench` on AMD EPYC 9004, OpenBLAS 0.3.21. */
#define PLAIN_ENTRIES 256

/* Entries of L below which a solve is faster on one thread than with others woken. */
#define ENTRIES_FOR_THREADS 200000

/* z(0:p) := L11^-1 z(0:p),  z(p:m) -= L21 z(0:p) */
static void front_forward(const node *v, char diag, int c, scalar *z)
{
    const int m = v->m, p = v->p, r = m - p;
    if (c > 1) {
        trsm('R', 'L', 'T', diag, c, p, 1, v->panel, m, z, c);
        gemm('N', 'T', c, r, p, -1, z, c, v->panel + p, m, 1, z + (int64_t)p * c, c);
    } else if ((int64_t)m * p <= PLAIN_ENTRIES) {
        for (int j = 0; j < p; j++) {
            const scalar *l = v->panel + (int64_t)j * m;
            if (diag == 'N')
                z[j] /= l[j];
            const scalar x = z[j];
            for (int i = j + 1; i < m; i++)
                z[i] -= l[i] * x;
        }
    } else {
        trsv('N', diag, p, v->panel, m, z);
        gemv('N', r, p, -1, v->panel + p, m, z, 1, z + p);
    }
}

/* z(0:p) := L11^-T (z(0:p) - L21^T z(p:m)) */
static void front_backward(const node *v, char diag, int c, scalar *z)
{
    const int m = v->m, p = v->p, r = m - p;
    if (c > 1) {
        gemm('N', 'N', c, p, r, -1, z + (int64_t)p * c, c, v->panel + p, m, 1, z, c);
        trsm('R', 'L', 'N', diag, c, p, 1, v->panel, m, z, c);
    } else if ((int64_t)m * p <= PLAIN_ENTRIES) {
        for (int j = p - 1; j >= 0; j--) {
            const scalar *l = v->panel + (int64_t)j * m;
            scalar x = z[j];
            for (int i = j + 1; i < m; i++)
                x -= l[i] * z[i];
            z[j] = diag == 'N' ? x / l[j] : x;
        }
    } else {
        gemv('T', r, p, -1, v->panel + p, m, z + p, 1, z);
        trsv('T', diag, p, v->panel, m, z);
    }
}

/* z(0:p) := D^-1 z(0:p), zero where the pivot is */
static void front_diagonal(const node *v, int hermitian, int c, scalar *z)
{
    for (int i = 0; i < v->p; i++) {
        scalar *x = z + (int64_t)i * c, *y = x + c;
        const scalar a = v->d[i], b = v->e[i];
        if (b != 0) {
            const scalar d = v->d[i + 1], above = scalar_mirror(b, hermitian), ab = a / b, db = d / above;
            const scalar to_x = 1 / (b * (ab * db - 1)), to_y = 1 / (above * (ab * db - 1));
            for (int q = 0; q < c; q++) {
                const scalar x0 = x[q];
                x[q] = (db * x0 - y[q]) * to_x;
                y[q] = (ab * y[q] - x0) * to_y;
            }
            i++;
        } else
            for (int q = 0; q < c; q++)
                x[q] = a == 0 ? 0 : x[q] / a;
    }
}

/* Copies c scalars, or their conjugates. */
static void copy_row(scalar *to, const scalar *from, int c, int conjugate)
{
    for (int q = 0; q < c; q++)
        to[q] = scalar_mirror(from[q], conjugate);
}

static void forward(const numeric *f, int part, workspace *w, int c, int32_t s)
{
    const node *v = &f->node[s];
    scalar *z = w->front + f->solve_slot[s] * c;
    for (int i = 0; i < v->p; i++)
        copy_row(z + (int64_t)i * c, w->x + (int64_t)v->index[i] * c, c, 0);
    memset(z + (int64_t)v->p * c, 0, sizeof(scalar) * (size_t)(v->m - v->p) * (size_t)c);
    for (int32_t child = f->plan->child[s]; child >= 0; child = f->plan->sibling[child]) {
        const node *u = &f->node[child];
        const scalar *from = w->front + (f->solve_slot[child] + u->p) * c;
        const int32_t *up = node_up(f, child);
        for (int i = 0; i < u->m - u->p; i++)
            for (int q = 0; q < c; q++)
                z[(int64_t)up[i] * c + q] += from[(int64_t)i * c + q];
    }
    front_forward(v, f->cholesky ? 'N' : 'U', c, z);
    if ((part & BACKEND_D) && !f->cholesky)
        front_diagonal(v, f->plan->hermitian, c, z);
    for (int i = 0; i < v->p; i++)
        copy_row(w->x + (int64_t)v->index[i] * c, z + (int64_t)i * c, c, 0);
}

/* L^H x = b is L^T conj(x) = conj(b). */
static void backward(const numeric *f, workspace *w, int c, int32_t s)
{
    const int conjugate = f->plan->hermitian;
    const node *v = &f->node[s];
    scalar *z = w->local + (int64_t)omp_get_thread_num() * w->tallest * c;
    for (int i = 0; i < v->m; i++)
        copy_row(z + (int64_t)i * c, w->x + (int64_t)v->index[i] * c, c, conjugate);
    front_backward(v, f->cholesky ? 'N' : 'U', c, z);
    for (int i = 0; i < v->p; i++)
        copy_row(w->x + (int64_t)v->index[i] * c, z + (int64_t)i * c, c, conjugate);
}

static int was_last(int32_t *pending)
{
    int32_t left;
#pragma omp atomic capture seq_cst
    left = --*pending;
    return left == 0;
}

static void forward_tree(const numeric *f, int part, workspace *w, int c)
{
    const schedule *tasks = &f->plan->tasks;
    memcpy(w->pending, tasks->pending, sizeof(int32_t) * (size_t)f->plan->part.supernodes);
    for (int32_t r = 0; r < tasks->ranges; r++) {
#pragma omp task firstprivate(r)
        {
            const task_range *range = &tasks->range[r];
            for (int32_t s = range->first; s < range->last; s++)
                forward(f, part, w, c, s);
            for (int32_t s = range->above; s >= 0 && was_last(&w->pending[s]); s = f->plan->part.above[s])
                forward(f, part, w, c, s);
        }
    }
#pragma omp taskwait
}

/* Upper supernodes from the roots down; a range starts when the supernode above it is done. */
static void backward_tree(const numeric *f, workspace *w, int c)
{
    const schedule *tasks = &f->plan->tasks;
    int32_t r = tasks->ranges - 1, s = f->plan->part.supernodes - 1;
    while (s >= 0) {
        if (tasks->upper[s]) {
            backward(f, w, c, s--);
            continue;
        }
        const task_range *range = &tasks->range[r--];
#pragma omp task firstprivate(range)
        for (int32_t t = range->last - 1; t >= range->first; t--)
            backward(f, w, c, t);
        s = range->first - 1;
    }
#pragma omp taskwait
}

/* x := D^-1 x */
static void diagonal_tree(const numeric *f, workspace *w, int c)
{
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++)
            copy_row(w->local + (int64_t)i * c, w->x + (int64_t)v->index[i] * c, c, 0);
        front_diagonal(v, f->plan->hermitian, c, w->local);
        for (int i = 0; i < v->p; i++)
            copy_row(w->x + (int64_t)v->index[i] * c, w->local + (int64_t)i * c, c, 0);
    }
}

void NAME(cpu_solve_block)(const numeric *f, int part, workspace *w, int c)
{
    if (w->elsewhere && part == (BACKEND_L | BACKEND_D | BACKEND_LT)) {
        w->elsewhere(w->elsewhere_user, c, w->x);
        return;
    }
    if (f->single) {
        f->single->solve_block(f->factor, part, w->single, c, w->x);
        return;
    }
    const int threads = f->plan->tasks.threads > 1 && f->entries * c > ENTRIES_FOR_THREADS ? f->threads : 1;
    if (part == BACKEND_D) {
        if (!f->cholesky)
            diagonal_tree(f, w, c);
        return;
    }
    const int setting = blas_serial_begin();
#pragma omp parallel num_threads(threads) if (threads > 1)
#pragma omp single
    {
        if (part & BACKEND_L)
            forward_tree(f, part, w, c);
        if (part & BACKEND_LT)
            backward_tree(f, w, c);
    }
    blas_serial_end(setting);
}

libsolver_status NAME(cpu_solve)(const void *numeric_, int part, void *workspace_, const libsolver_vectors *b,
                                 const libsolver_vectors *x)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n, *row = f->plan->part.perm;
    TRY(NAME(cpu_workspace_fit)(f, w));
    for (int64_t first = 0; first < b->columns; first += w->columns) {
        const int c = (int)(b->columns - first < w->columns ? b->columns - first : w->columns);
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        if (part & BACKEND_L)
            NAME(cpu_load)(n, c, b, first, row, f->scale, w->x);
        else
            NAME(cpu_load_eliminated)(n, c, b, first, f->order, w->x);
        NAME(cpu_solve_block)(f, part, w, c);
        if (part & BACKEND_LT)
            NAME(cpu_store)(n, c, w->x, f->scale, row, x, first);
        else
            NAME(cpu_store_eliminated)(n, c, w->x, f->order, x, first);
    }
    return LIBSOLVER_OK;
}
