/* solver/cpu/solve/export_tmpl.c: L, D and the scaling as the caller may read them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/solve/workspace.h"
#include <string.h>

/* The same from columns, L = U D^1/2. */
static void fill_columns(const numeric *f, const int32_t *elimination, int64_t *pointers,
                         int64_t *indices, scalar *values)
{
    const simplicial *s = f->plan->simplicial;
    int64_t next = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const real root = (real)sqrt((double)scalar_real(f->columns[k]));
        pointers[k] = next;
        indices[next] = k;
        values[next++] = root;
        for (int32_t p = s->start[k]; p < s->start[k + 1]; p++) {
            indices[next] = elimination[s->row[p]];
            values[next++] = f->columns[s->n + p] * root;
        }
    }
    pointers[s->n] = next;
}

/* Fills the arrays given elimination: the place of each row of P A P^T in the elimination order. */
static void fill(const numeric *f, const int32_t *elimination, int64_t *pointers, int64_t *indices,
                 scalar *values)
{
    int64_t next = 0, column = 0;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int j = 0; j < v->p; j++) {
            pointers[column++] = next;
            for (int i = f->cholesky ? j : j + 1; i < v->m; i++) {
                indices[next] = elimination[v->index[i]];
                values[next++] = v->panel[node_place(v, i, j)];
            }
        }
    }
    pointers[column] = next;
}

/* Mixed precision: count floats, or pairs of them, at the front of an array become doubles in
 * place. */
static void widen(void *array, int64_t count)
{
    char *bytes = array;
    for (int64_t k = count * (SCALAR_COMPLEX ? 2 : 1) - 1; k >= 0; k--) {
        float from;
        memcpy(&from, bytes + k * (int64_t)sizeof from, sizeof from);
        const real to = (real)from;
        memcpy(bytes + k * (int64_t)sizeof to, &to, sizeof to);
    }
}

libsolver_status NAME(cpu_export_l)(const void *numeric_, int64_t *entries, int64_t *pointers,
                                    int64_t *indices, void *values, int64_t *order, message *why)
{
    const numeric *f = numeric_;
    const int32_t n = f->plan->a.n;
    if (f->single) {
        TRY(f->single->backend->export_l(f->factor, entries, pointers, indices, values, order,
                                         why));
        if (pointers && indices && values)
            widen(values, *entries);
        return LIBSOLVER_OK;
    }
    *entries = f->entries - (f->cholesky ? 0 : n);
    if (order)
        for (int32_t k = 0; k < n; k++)
            order[k] = f->plan->part.perm[f->order[k]];
    if (!pointers || !indices || !values)
        return LIBSOLVER_OK;
    memory *m = &f->plan->env->memory;
    int32_t *elimination = memory_new(m, n, sizeof(int32_t));
    if (!elimination)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "reading the factor wanted %lld more bytes",
                    (long long)m->wanted);
    for (int32_t k = 0; k < n; k++)
        elimination[f->order[k]] = k;
    (is_simplicial(f) ? fill_columns : fill)(f, elimination, pointers, indices, values);
    memory_free(m, elimination);
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_export_d)(const void *numeric_, void *diagonal, void *subdiagonal,
                                    message *why)
{
    const numeric *f = numeric_;
    scalar *d = diagonal, *e = subdiagonal;
    int64_t k = 0;
    if (f->single) {
        TRY(f->single->backend->export_d(f->factor, diagonal, subdiagonal, why));
        widen(diagonal, f->plan->a.n);
        widen(subdiagonal, f->plan->a.n);
        return LIBSOLVER_OK;
    }
    for (; f->cholesky && k < f->plan->a.n; k++) {
        d[k] = 1;
        e[k] = 0;
    }
    for (int32_t s = 0; s < f->plan->part.supernodes && !f->cholesky; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++, k++) {
            d[k] = v->d[i];
            e[k] = v->e[i];
        }
    }
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_export_scaling)(const void *numeric_, void *scaling, message *why)
{
    (void)why; /* nothing fails */
    const numeric *f = numeric_;
    real *s = scaling;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        s[f->plan->part.perm[i]] = f->scale[i];
    return LIBSOLVER_OK;
}
