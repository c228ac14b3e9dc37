/* test/support/fake/factor_values_tmpl.c: what comes before and behind the tasks of a factorization
 * SPDX-License-Identifier: BSD-3-Clause */
#include "factor_values.h"
#include "base/equilibrate.h"
#include "base/scalar.h"
#include <math.h>
#include <stdlib.h>

/* Whether some are so near to the ends of the range that pivots might have no reciprocals. */
static int is_out_of_range(const scalar *values, int64_t count)
{
    const double limit = ldexp(1, most_scale_exponent(sizeof(real) == 4));
    for (int64_t q = 0; q < count; q++) {
        const double size = (double)scalar_abs(values[q]);
        if (size > 0 && !(size <= limit && size >= 1 / limit))
            return 1;
    }
    return 0;
}

static real scale_of(const emulated_factorization *f, int equilibrates, int64_t diagonal)
{
    const double size = (double)scalar_abs(((const scalar *)f->values)[diagonal]);
    return equilibrates && size > 0 ? (real)scale_over_root(1, size, sizeof(real) == 4) : 1;
}

/* With signs: largest(i) := max_j scale(i) |a(i,j)| scale(j), without what a pivot divides in rows
 * that are not eliminated; at(e): row of P A P^T of a diagonal entry's number. */
static void find_largest(const emulated_factorization *f, const int32_t *at, const real *scale,
                         real *largest)
{
    const factor_program *g = f->program;
    const int32_t eliminated = g->n - g->schur_size;
    for (int32_t k = 0; k < g->n; k++)
        largest[k] = 0;
    for (int64_t q = 0; q < g->entries; q++) {
        const factor_source *from = g->source + q;
        const int32_t i = at[from->row], j = at[from->column];
        const real size =
            scale[i] * scale[j] * scalar_abs(((const scalar *)f->values)[from->value >> 1]);
        largest[i] = size > largest[i] ? size : largest[i];
        if (i < eliminated || j >= eliminated)
            largest[j] = size > largest[j] ? size : largest[j];
    }
}

/* With signs: as the CPU's L D L^T scales. */
static int balance(const emulated_factorization *f, scalar *values, real *diagonal,
                   cholesky_outcome *outcome)
{
    enum { SWEEPS = 8 };
    const factor_program *g = f->program;
    const scalar *given = f->values;
    int32_t *at = calloc((size_t)(g->entries + 1), sizeof *at);
    real *scale = malloc(sizeof(real) * (size_t)(g->n + 1));
    const int has_memory = at && scale;
    outcome->is_equilibrated = !f->is_unscaled || is_out_of_range(given, g->entries);
    for (int32_t k = 0; k < g->n && has_memory; k++) {
        at[g->diagonal[k]] = k;
        scale[k] = 1;
    }
    for (int sweep = 0; sweep <= SWEEPS && has_memory; sweep++) {
        find_largest(f, at, scale, diagonal);
        for (int32_t k = 0; k < g->n && sweep < SWEEPS && outcome->is_equilibrated; k++)
            if (diagonal[k] > 0)
                scale[k] =
                    (real)scale_over_root((double)scale[k], (double)diagonal[k], sizeof(real) == 4);
    }
    for (int64_t q = 0; q < g->entries && has_memory; q++) {
        const factor_source *from = g->source + q;
        values[q] = scalar_mirror(given[from->value >> 1], (int)(from->value & 1)) *
                    (scale[at[from->column]] * scale[at[from->row]]);
    }
    for (int32_t k = 0; k < g->n && has_memory; k++)
        ((real *)f->scale)[f->row_of[k]] = scale[k];
    free(at);
    free(scale);
    return has_memory;
}

/* Scaled values, their diagonal, scale factors. */
static int scale_definite(const emulated_factorization *f, scalar *values, real *diagonal,
                          cholesky_outcome *outcome)
{
    const factor_program *g = f->program;
    const scalar *given = f->values;
    const int equilibrates = !f->is_unscaled || is_out_of_range(given, g->entries);
    outcome->is_equilibrated = equilibrates;
    for (int64_t q = 0; q < g->entries; q++) {
        const factor_source *from = g->source + q;
        values[q] =
            scalar_mirror(given[from->value >> 1], (int)(from->value & 1)) *
            (scale_of(f, equilibrates, from->column) * scale_of(f, equilibrates, from->row));
    }
    for (int32_t k = 0; k < g->n; k++) {
        const real scale = scale_of(f, equilibrates, g->diagonal[k]);
        const scalar entry = given[g->diagonal[k]];
        ((real *)f->scale)[f->row_of[k]] = scale;
        diagonal[k] = scale * scalar_abs(entry) * scale;
        if (!(scalar_real(entry) > 0) && k < g->n - g->schur_size && k < outcome->nonpositive)
            outcome->nonpositive = k;
    }
    return 1;
}

/* Mixed precision: a power of two for each row, or one for all that makes the largest entry about
 * 1. */
static int choose_wide_scale(const emulated_factorization *f, double *scale)
{
    const factor_program *g = f->program;
    const wide *given = f->values;
    const double limit = ldexp(1, most_scale_exponent(1));
    double most = 0, least = INFINITY;
    for (int64_t q = 0; q < g->entries; q++) {
        const double size = (double)hypotl(creall(given[q]), cimagl(given[q]));
        most = fmax(most, size);
        least = size > 0 ? fmin(least, size) : least;
    }
    const double common = most > 0 ? scale_over_root(1, most, 0) : 1;
    const int is_in_range =
        most == 0 || (common * common * most <= limit && common * common * least >= 1 / limit);
    for (int32_t k = 0; k < g->n; k++) {
        const double size = fabs((double)creall(given[g->diagonal[k]]));
        scale[k] = f->is_unscaled && is_in_range ? common
                   : size > 0                    ? scale_over_root(1, size, 0)
                                                 : 1;
    }
    return !(f->is_unscaled && is_in_range);
}

/* Mixed precision: values scaled in double, shifted and rounded, their diagonal, scale factors. */
static int scale_wide(const emulated_factorization *f, scalar *values, real *diagonal,
                      cholesky_outcome *outcome)
{
    const factor_program *g = f->program;
    const wide *given = f->values;
    double *scale = malloc(sizeof(double) * (size_t)(g->n + 1));
    int32_t *at = calloc((size_t)(g->entries + 1), sizeof *at);
    const int has_memory = scale && at;
    if (has_memory)
        outcome->is_equilibrated = choose_wide_scale(f, scale);
    for (int32_t k = 0; k < g->n && has_memory; k++) {
        const wide entry = given[g->diagonal[k]];
        at[g->diagonal[k]] = k;
        ((double *)f->scale)[f->row_of[k]] = scale[k];
        diagonal[k] = (real)(scale[k] * fabs((double)creall(entry)) * scale[k] * (1 + f->shift));
        if (!(creall(entry) > 0) && k < outcome->nonpositive)
            outcome->nonpositive = k;
    }
    for (int64_t q = 0; q < g->entries && has_memory; q++) {
        const factor_source *from = g->source + q;
        const wide entry = given[from->value >> 1] *
                           (scale[at[from->column]] * scale[at[from->row]]) *
                           (from->row == from->column ? 1 + f->shift : 1);
        values[q] = scalar_mirror((scalar)entry, (int)(from->value & 1));
    }
    free(at);
    free(scale);
    return has_memory;
}

int NAME(emulate_scaling)(const emulated_factorization *f, scalar *values, real *diagonal,
                          cholesky_outcome *outcome)
{
    return (f->signs      ? balance
            : f->is_mixed ? scale_wide
                          : scale_definite)(f, values, diagonal, outcome);
}

/* D; pivots are compared with what came into their rows. */
int NAME(emulate_judgement)(const emulated_factorization *f, const real *diagonal,
                            cholesky_outcome *outcome)
{
    const factor_program *g = f->program;
    const int hermitian = !SCALAR_COMPLEX || g->hermitian;
    scalar *panel = f->panel, *d = panel + g->panel_scalars;
    double *sum = calloc((size_t)g->n + 1, sizeof *sum);
    const int has_memory = sum != NULL;
    int64_t rows = 0;
    for (int32_t s = 0; s < g->nodes && has_memory; rows += g->front[s++].m)
        for (int32_t j = 0; j < g->front[s].k; j++) {
            const factor_front *front = g->front + s;
            scalar *column = panel + front->panel + (int64_t)j * front->ld;
            const scalar root = scalar_diagonal(column[j], hermitian);
            d[front->first + j] = (f->signs[front->first + j] < 0 ? -1 : 1) * root * root;
            d[g->n + front->first + j] = 0;
            for (int32_t i = j + 1; i < front->m; i++) {
                const double size = (double)scalar_abs(column[i]) * (double)scalar_abs(root);
                sum[f->index[rows + i]] += size * size;
            }
        }
    for (int32_t k = 0; k < g->n - g->schur_size && has_memory; k++) {
        const double size = (double)scalar_abs(d[k]), magnitude = (double)diagonal[k] + sum[k];
        const double least = 8 * (double)EPS * magnitude;
        const int has_sign = hermitian || (double)f->signs[k] * (double)scalar_real(d[k]) >= -least;
        if (!(size > least && magnitude < INFINITY && has_sign))
            outcome->failed = k < outcome->failed ? k : outcome->failed;
        else
            outcome->uncertain += size <= f->doubt_level * magnitude;
    }
    free(sum);
    return has_memory;
}

void NAME(emulate_complement)(const emulated_complement *c)
{
    const factor_program *g = c->program;
    const int64_t size = g->schur_size;
    const scalar *block = (const scalar *)c->arena + g->front[g->nodes - 1].block,
                 *given = c->values;
    const real *scale = c->scale;
    const int32_t *row_of = c->row_of + (g->n - size);
    scalar *out = c->out;
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = j; i < size; i++)
            out[i + j * size] = block[i + j * size] / scale[row_of[i]] / scale[row_of[j]];
    for (int64_t q = 0; q < g->schur_entries; q++) {
        const factor_schur_entry *e = g->schur + q;
        out[e->row + e->column * size] += scalar_mirror(given[e->value >> 1], (int)(e->value & 1));
    }
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i <= j; i++)
            out[i + j * size] = i == j ? scalar_diagonal(out[i + i * size], g->hermitian)
                                       : scalar_mirror(out[j + i * size], g->hermitian);
}
