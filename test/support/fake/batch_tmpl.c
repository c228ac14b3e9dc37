/* test/support/fake/batch_tmpl.c: solves and refinements of the items of a batch
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/scalar.h"
#include "emulators.h"
#include "test/support/exact_row_error.h"
#include "gpu/refine/refine_state.h"
#include <stdlib.h>

/* One item of a batch. */
typedef struct emulated_item {
    const device_batch *t;
    const scalar *panel, *value;
    const real *scale; /* by rows of A */
    const batch_places *b_places, *x_places;
    scalar *b, *x, *d, *before; /* d, before: in the order of P A P^T */
} emulated_item;

/* Places of an item's d. */
static int64_t places(const device_batch *t)
{
    return t->n + (int64_t)BATCH_PARTS * t->share.top;
}

static scalar *block_of(const batch_places *p, int64_t item)
{
    return (p->items ? (scalar *)p->items[item] : (scalar *)p->values + item * p->stride) +
           p->offset;
}

static emulated_item item_of(const emulated_batch *e, int64_t item)
{
    const device_batch *t = e->t;
    return (
        emulated_item){.t = t,
                       .panel = (const scalar *)(void *)((char *)t->panel + item * t->panel_bytes),
                       .value = (const scalar *)(void *)((char *)t->value + item * t->value_bytes),
                       .scale = (const real *)t->factorizer.scale + item * t->n,
                       .b_places = e->b,
                       .x_places = e->x,
                       .b = block_of(e->b, item),
                       .x = block_of(e->x, item),
                       .d = (scalar *)t->work + item * places(t),
                       .before = (scalar *)t->before + item * t->n};
}

static int32_t place_of(const device_batch *t, const batch_front *f, int32_t i)
{
    return i < f->k ? f->first + i : t->shared[f->rows + i - f->k];
}

static void forward(const emulated_item *e, const batch_front *f)
{
    const device_batch *t = e->t;
    const scalar *panel = e->panel + f->panel;
    for (int32_t j = 0; j < f->k; j++) {
        const scalar z = e->d[f->first + j] /=
            t->has_signs ? 1 : scalar_real(panel[j + (int64_t)j * f->ld]);
        for (int32_t i = j + 1; i < f->m; i++)
            e->d[place_of(t, f, i)] -= panel[i + (int64_t)j * f->ld] * z;
    }
}

static void backward(const emulated_item *e, const batch_front *f)
{
    const device_batch *t = e->t;
    const scalar *panel = e->panel + f->panel, *d = e->panel + t->program->panel_scalars;
    for (int32_t j = f->k - 1; j >= 0; j--) {
        const int32_t k = f->first + j;
        scalar sum = t->has_signs ? e->d[k] / d[k] : e->d[k];
        for (int32_t i = j + 1; i < f->m; i++)
            sum -= scalar_mirror(panel[i + (int64_t)j * f->ld], t->program->hermitian) *
                   e->d[place_of(t, f, i)];
        e->d[k] = t->has_signs ? sum : sum / scalar_real(panel[j + (int64_t)j * f->ld]);
    }
}

/* d := A^-1 d of the scaled matrix: warps do their subtrees, here the last one first, then the top,
 * of which each has a copy. */
static void substitute(const emulated_item *e)
{
    const device_batch *t = e->t;
    const int32_t top = t->share.top, *begin = t->share.begin;
    scalar *copy = e->d + t->n;
    for (int64_t q = 0; q < BATCH_PARTS * (int64_t)top; q++)
        copy[q] = 0;
    for (int w = BATCH_PARTS - 1; w >= 0; w--)
        for (int32_t s = begin[w]; s < begin[w + 1]; s++)
            forward(e, t->front + s);
    for (int32_t q = 0; q < top; q++)
        for (int w = 0; w < BATCH_PARTS; w++)
            e->d[t->top_row[q]] += copy[w * top + q];
    for (int32_t s = begin[BATCH_PARTS]; s < t->fronts; s++)
        forward(e, t->front + s);
    for (int32_t s = t->fronts - 1; s >= begin[BATCH_PARTS]; s--)
        backward(e, t->front + s);
    for (int32_t q = 0; q < BATCH_PARTS * top; q++)
        copy[q] = e->d[t->top_row[q % top]];
    for (int w = BATCH_PARTS - 1; w >= 0; w--)
        for (int32_t s = begin[w + 1] - 1; s >= begin[w]; s--)
            backward(e, t->front + s);
}

static void solve(emulated_item e, int64_t columns)
{
    for (int64_t q = 0; q < columns; q++) {
        for (int32_t k = 0; k < e.t->n; k++) {
            const int32_t i = e.t->row_of[k];
            e.d[k] = e.b[i * e.b_places->row] * e.scale[i];
        }
        substitute(&e);
        for (int32_t k = 0; k < e.t->n; k++) {
            const int32_t i = e.t->row_of[k];
            e.x[i * e.x_places->row] = e.d[k] * e.scale[i];
        }
        e.b += e.b_places->column;
        e.x += e.x_places->column;
    }
}

/* Backward error of x; d := S (b - A x). */
static double measure(const emulated_item *e)
{
    const device_batch *t = e->t;
    double norm = 0, omega[2] = {0, 0};
    for (int32_t i = 0; i < t->n; i++)
        norm = fmax(norm, (double)size_of(e->x[i * e->x_places->row]));
    for (int32_t k = 0; k < t->n; k++) {
        const int32_t i = t->row_of[k];
        const scalar b = e->b[i * e->b_places->row];
        wide sum = b;
        long double bound = size_of(b), row_sum = 0;
        for (int64_t q = t->start[i]; q < t->start[i + 1]; q++) {
            const scalar v = scalar_mirror(e->value[t->source[q] >> 1], (int)(t->source[q] & 1)),
                         x = e->x[t->column[q] * e->x_places->row];
            sum -= (wide)v * x;
            bound += size_of(v) * size_of(x);
            row_sum += size_of(v);
        }
        int small;
        const double error = exact_row_error(size_of(sum), size_of(b), bound, row_sum * norm,
                                             1000 * (double)EPS * t->n, &small);
        omega[small] = fmax(omega[small], error);
        e->d[k] = (scalar)sum * e->scale[i];
    }
    return omega[0] + omega[1];
}

static double refine(const emulated_item *e, const emulated_batch *how)
{
    refined_column state = {0};
    refined_column_decide(&state, measure(e), 1, how->tolerance, how->least_progress);
    for (int step = 0; step < how->steps && !state.done; step++) {
        substitute(e);
        for (int32_t k = 0; k < e->t->n; k++) {
            scalar *x = e->x + e->t->row_of[k] * e->x_places->row;
            e->before[k] = *x;
            *x += e->d[k] * e->scale[e->t->row_of[k]];
        }
        refined_column_decide(&state, measure(e), 0, how->tolerance, how->least_progress);
    }
    for (int32_t k = 0; k < e->t->n && state.worse; k++)
        e->x[e->t->row_of[k] * e->x_places->row] = e->before[k];
    return state.error;
}

void NAME(emulate_batch)(const emulated_batch *e)
{
    for (int64_t k = e->number - 1; k >= 0; k--) { /* in another order than on the CPU */
        const int64_t i = e->list[k];
        const emulated_item item = item_of(e, i);
        if (e->error)
            e->error[i] = refine(&item, e);
        else
            solve(item, e->columns);
    }
}
