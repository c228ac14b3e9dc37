/* test/support/fake/refine_tmpl.c: A in full storage, and a refinement's steps with it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/scalar.h"
#include "emulators.h"
#include "test/support/exact_row_error.h"

void NAME(emulate_matrix)(const device_matrix *a, const void *lower)
{
    scalar *value = a->value;
    for (int32_t i = 0; i < a->n; i++) {
        double sum = 0;
        for (int64_t k = a->start[i]; k < a->start[i + 1]; k++) {
            value[k] =
                scalar_mirror(((const scalar *)lower)[a->source[k] >> 1], (int)(a->source[k] & 1));
            sum += (double)size_of(value[k]);
        }
        a->row_sum[i] = sum;
    }
}

static scalar *at(const libsolver_vectors *v, int64_t i, int64_t j)
{
    return (scalar *)v->values + (v->layout == LIBSOLVER_ROW_MAJOR ? i * v->ld + j : i + j * v->ld);
}

/* x += d, with the x before kept; returns max |x|. */
static double advance(const emulated_refinement *r, int32_t q)
{
    const int32_t n = r->a.n;
    double norm = 0;
    for (int32_t i = 0; i < n; i++) {
        scalar *x = at(&r->step.x, i, q);
        if (!r->step.first) {
            ((scalar *)r->w.before)[(int64_t)q * n + i] = *x;
            *x += ((const scalar *)r->w.correction)[(int64_t)q * n + i];
        }
        norm = fmax(norm, (double)size_of(*x));
    }
    return norm;
}

/* r := b - A x; returns the backward error. */
static double measure(const emulated_refinement *r, int32_t q, double norm)
{
    const int32_t n = r->a.n;
    double most[2] = {0};
    for (int32_t i = 0; i < n; i++) {
        const scalar b = *at(&r->step.b, i, q);
        wide sum = b;
        long double bound = size_of(b);
        for (int64_t k = r->a.start[i]; k < r->a.start[i + 1]; k++) {
            const scalar v = ((const scalar *)r->a.value)[k],
                         x = *at(&r->step.x, r->a.column[k], q);
            sum -= (wide)v * x;
            bound += size_of(v) * size_of(x);
        }
        int small;
        ((scalar *)r->w.residual)[(int64_t)q * n + i] = (scalar)sum;
        const long double row = (long double)r->a.row_sum[i] * norm;
        const double error =
            exact_row_error(size_of(sum), size_of(b), bound, row, 1000.0 * n * EPS, &small);
        most[small] = fmax(most[small], error);
    }
    return most[0] + most[1];
}

const char *NAME(emulate_refine_step)(const emulated_refinement *r)
{
    refine_state *state = r->w.state;
    const int32_t columns = (int32_t)r->step.b.columns;
    if (!r->step.first && state->open == 0)
        return NULL;
    for (int32_t q = 0; q < columns; q++) {
        if (!r->step.first && state->column[q].done)
            continue;
        const double norm = advance(r, q);
        refined_column_decide(&state->column[q], measure(r, q, norm), r->step.first,
                              r->step.tolerance, r->step.least_progress);
    }
    state->open = state->worse = 0;
    state->failed = *r->step.failed;
    for (int32_t q = 0; q < columns; q++) {
        state->open += !state->column[q].done;
        state->worse += state->column[q].worse;
    }
    if (r->step.copies_state)
        *r->w.host_state = *state;
    return NULL;
}

/* The most severe remark, or a failure, of this block of columns and those before. */
static void report(const emulated_refinement *r)
{
    const refine_outcome *out = &r->outcome;
    const int factor = out->factor ? *out->factor : LIBSOLVER_OK;
    double worst = 0;
    for (int64_t q = 0; q < r->step.b.columns; q++) {
        const double error = factor < 0 ? INFINITY : r->w.state->column[q].error;
        worst = fmax(worst, error);
        if (out->backward_error)
            out->backward_error[q] = error;
    }
    if (!out->status)
        return;
    const int bits = out->remarks | (worst <= r->step.tolerance ? 0 : LIBSOLVER_INACCURATE);
    const int said = bits & LIBSOLVER_SINGULAR     ? LIBSOLVER_SINGULAR
                     : bits & LIBSOLVER_INACCURATE ? LIBSOLVER_INACCURATE
                                                   : bits;
    const int before = out->is_first_block ? 0 : (int)*out->status;
    *out->status = (libsolver_status)(before < 0 || before > said ? before : said);
    if (*r->step.failed) {
        *out->status = LIBSOLVER_CUDA;
        *r->step.failed = 0;
    }
    if (factor < 0)
        *out->status = (libsolver_status)factor;
}

const char *NAME(emulate_refine_finish)(const emulated_refinement *r)
{
    report(r);
    for (int32_t q = 0; q < (int32_t)r->step.b.columns; q++)
        for (int32_t i = 0; i < r->a.n && r->w.state->column[q].worse; i++)
            *at(&r->step.x, i, q) = ((const scalar *)r->w.before)[(int64_t)q * r->a.n + i];
    return NULL;
}
