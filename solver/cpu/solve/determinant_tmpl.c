/* solver/cpu/solve/determinant_tmpl.c: the determinant, from D and the scaling
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * det A = det D / prod s(i)^2, and prod L(i,i)^2 / prod s(i)^2 for Cholesky.  The product is kept
 * as mantissa 2^exponent, the powers of two s(i) go into the exponent: no over- or underflow, one
 * rounding a pivot. */
#include "solver/cpu/solve/workspace.h"

typedef long double _Complex extended;

typedef struct product {
    extended mantissa; /* 0, or its larger part in [1/2, 1) */
    int64_t exponent;
} product;

static void multiply(product *p, extended factor)
{
    const extended raw = p->mantissa * factor;
    const long double x = fabsl(creall(raw)), y = fabsl(cimagl(raw));
    int exponent = 0;
    frexpl(x > y ? x : y, &exponent);
    p->mantissa = raw * ldexpl(1, -exponent);
    p->exponent += exponent;
}

/* Exponent of the product of all s(i)^-2 of rows that are eliminated. */
static int64_t scaling_exponent(const numeric *f)
{
    const cpu_plan *plan = f->plan;
    int64_t sum = 0;
    for (int32_t i = 0; i < plan->a.n; i++)
        if (!plan_keeps_row(plan, i))
            sum -= 2 * (int64_t)ilogb((double)f->scale[i]);
    return sum;
}

/* The pivot at column i of v, or the first of a pair. */
static extended pivot(const numeric *f, const node *v, int i)
{
    if (f->cholesky) {
        const long double root = scalar_real(v->panel[node_place(v, i, i)]);
        return root * root;
    }
    const extended d = v->d[i];
    return v->e[i] == 0
               ? d
               : d * v->d[i + 1] - (extended)v->e[i] * scalar_mirror(v->e[i], f->plan->hermitian);
}

libsolver_status NAME(cpu_determinant)(const void *numeric_, double *log_abs, double *phase_real,
                                       double *phase_imaginary, message *why)
{
    const numeric *f = numeric_;
    const long double log_2 = 0.693147180559945309417232121458L;
    if (f->single) { /* of the scaled matrix */
        TRY(f->single->backend->determinant(f->factor, log_abs, phase_real, phase_imaginary, why));
        *log_abs += (double)(log_2 * (long double)scaling_exponent(f));
        return LIBSOLVER_OK;
    }
    product p = {1, scaling_exponent(f)};
    for (int32_t k = 0; is_simplicial(f) && k < f->plan->a.n; k++)
        multiply(&p, f->columns[k]);
    for (int32_t s = 0; !is_simplicial(f) && s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            multiply(&p, pivot(f, v, i));
            i += !f->cholesky && v->e[i] != 0;
        }
    }
    const long double size = hypotl(creall(p.mantissa), cimagl(p.mantissa));
    *log_abs = size > 0 ? (double)(logl(size) + (long double)p.exponent * log_2) : -INFINITY;
    *phase_real = size > 0 ? (double)(creall(p.mantissa) / size) : 0;
    *phase_imaginary =
        size > 0 && SCALAR_COMPLEX && !f->plan->hermitian ? (double)(cimagl(p.mantissa) / size) : 0;
    return LIBSOLVER_OK;
}
