/* solver/cpu/scale_tmpl.c: equilibration of a symmetric matrix
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Scale factors are powers of two, so S A S has the digits of A; only exponents change. */
#include "solver/cpu/numeric.h"
#include <string.h>

/* Sweeps over the matrix: each halves the distance of the row maxima's exponents from 0 [Ruiz 2001]. */
#define SWEEPS 8

/* A power of two near x > 0, kept far from overflow in a product of two of them and an entry. */
static real power_of_two(double x)
{
    int exponent;
    const double fraction = frexp(x, &exponent); /* x = fraction 2^exponent, 1/2 <= fraction < 1 */
    exponent -= fraction < 0.7071067811865476;
    const int most = sizeof(real) == 4 ? 60 : 500;
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    return (real)ldexp(1, exponent);
}

/* largest(i) := max_j scale(i) |a(i,j)| scale(j) */
static void row_maxima(numeric *f)
{
    const pattern *a = &f->plan->a;
    memset(f->largest, 0, sizeof(real) * (size_t)a->n);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const real v = f->scale[i] * scalar_abs(f->value[p]) * f->scale[j];
            f->largest[i] = v > f->largest[i] ? v : f->largest[i];
            f->largest[j] = v > f->largest[j] ? v : f->largest[j];
        }
}

/* largest(j) := |scale(j)^2 a(j,j)| */
static void diagonal_entries(numeric *f)
{
    const pattern *a = &f->plan->a;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            if (a->row[p] == j)
                f->largest[j] = f->scale[j] * scalar_abs(f->value[p]) * f->scale[j];
}

/* Equilibration: Cholesky gets a unit diagonal, which bounds every other entry; LDL^T the largest entry 1 in
 * every row. */
static libsolver_status equilibrate(numeric *f)
{
    for (int sweep = f->cholesky ? SWEEPS - 1 : 0; sweep < SWEEPS; sweep++) {
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        if (f->cholesky)
            diagonal_entries(f);
        else
            row_maxima(f);
        for (int32_t i = 0; i < f->plan->a.n; i++)
            if (f->largest[i] > 0)
                f->scale[i] = power_of_two((double)f->scale[i] / sqrt((double)f->largest[i]));
    }
    return LIBSOLVER_OK;
}

/* The same power of two for all rows: what must keep its own proportions, but has to fit into single precision. */
static void scale_all_alike(numeric *f)
{
    real most = 0;
    for (int64_t p = 0; p < numeric_nnz(f); p++)
        most = fmax(most, scalar_abs(f->value[p]));
    for (int32_t i = 0; i < f->plan->a.n && most > 0; i++)
        f->scale[i] = power_of_two(1 / sqrt((double)most));
}

/* Scaling by matching.  The first call takes its memory. */
static libsolver_status scale_by_matching(numeric *f)
{
    memory *m = &f->plan->env->memory;
    const int32_t n = f->plan->a.n;
    if (!f->matching) {
        TRY(matching_create(m, &f->plan->a, &f->matching));
    }
    if (!f->magnitude && !(f->magnitude = memory_new(m, numeric_nnz(f) + n, sizeof(double))))
        return LIBSOLVER_OUT_OF_MEMORY;
    double *log2_scale = f->magnitude + numeric_nnz(f);
    for (int64_t p = 0; p < numeric_nnz(f); p++)
        f->magnitude[p] = (double)scalar_abs(f->value[p]);
    matching_scale(f->matching, f->magnitude, log2_scale);
    for (int32_t i = 0; i < n; i++)
        f->scale[i] = power_of_two(exp2(log2_scale[i]));
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_scale)(numeric *f, backend_scaling scaling)
{
    for (int32_t i = 0; i < f->plan->a.n; i++)
        f->scale[i] = 1;
    if (scaling == BACKEND_MATCH && !f->cholesky)
        TRY(scale_by_matching(f));
    else if (scaling != BACKEND_UNSCALED)
        TRY(equilibrate(f));
    else if (f->single)
        scale_all_alike(f);
    if (f->cholesky)
        diagonal_entries(f);
    else
        row_maxima(f);
    return LIBSOLVER_OK;
}
