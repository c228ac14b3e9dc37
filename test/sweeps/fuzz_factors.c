/* test/sweeps/fuzz_factors.c: L, D, scaling, the parts of a solve and the determinant, held against
 * their definitions
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors are bounded by what elimination and substitution can make of rounding errors, with the
 * magnitudes that occur: |P S A S P^T - L D L^T| <= c n eps |L||D||D^-1||D||L^T|, and so on, in
 * long double. */
#include "fuzz_checks.h"
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 40 /* c */

typedef long double _Complex number;

/* What the library exports, dense. */
typedef struct factors {
    int n, is_hermitian;
    double eps;
    int64_t order[65];
    double scaling[64];
    number *l, *a; /* n x n by columns: L, P S A S P^T */
    number d[64], e[64];
} factors;

static number number_of(quad_complex v)
{
    return (long double)v.re + (long double)v.im * (number)_Complex_I;
}

static number mirrored(const factors *f, number v)
{
    return f->is_hermitian ? conjl(v) : v;
}

static number scalar_at(const fuzz_session *s, const void *values, int64_t k)
{
    fuzz_block b = {.vectors = {.values = (void *)values,
                                .rows = INT64_MAX,
                                .columns = 1,
                                .ld = INT64_MAX,
                                .type = s->factored.type}};
    return number_of(block_get(&b, k, 0));
}

static int read_scaling(fuzz_session *s, factors *f)
{
    double raw[64];
    if (libsolver_get_scaling(s->factor, raw) != LIBSOLVER_OK)
        return 0;
    for (int i = 0; i < f->n; i++) {
        f->scaling[i] = s->factored.is_single ? (double)((float *)(void *)raw)[i] : raw[i];
        if (!(f->scaling[i] > 0 && f->scaling[i] < INFINITY))
            session_fail(s, "scaling", "s(%d) = %g", i, f->scaling[i]);
    }
    return 1;
}

static int read_l(fuzz_session *s, factors *f)
{
    const int n = f->n;
    int64_t entries = -1, pointers[66], seen[64] = {0};
    if (libsolver_get_factor_l(s->factor, &entries, NULL, NULL, NULL, NULL) != LIBSOLVER_OK ||
        entries < 0)
        return 0;
    int64_t *indices = fuzz_room(entries, sizeof *indices);
    void *values = fuzz_room(entries, 16);
    const int ok = libsolver_get_factor_l(s->factor, &entries, pointers, indices, values,
                                          f->order) == LIBSOLVER_OK &&
                   pointers[0] == 0 && pointers[n] == entries;
    int sound = ok;
    for (int j = 0; j < n && sound; j++) {
        sound = f->order[j] >= 0 && f->order[j] < n && !seen[f->order[j]] &&
                pointers[j] <= pointers[j + 1];
        if (sound)
            seen[f->order[j]] = 1;
        for (int64_t p = pointers[j]; p < pointers[j + 1] && sound; p++) {
            sound = indices[p] >= j && indices[p] < n;
            if (sound)
                f->l[indices[p] + j * n] = scalar_at(s, values, p);
        }
    }
    session_digest(s, values, (size_t)entries * scalar_bytes(s->factored.type));
    free(indices);
    free(values);
    if (ok && !sound)
        session_fail(s, "L is no lower triangle or its order no permutation", "%d entries",
                     (int)entries);
    return sound;
}

static int read_factors(fuzz_session *s, factors *f)
{
    libsolver_factor_info info;
    double diagonal[128], subdiagonal[128];
    const int n = f->n;
    libsolver_info(s->factor, &info);
    if (!read_l(s, f) || !read_scaling(s, f) ||
        libsolver_get_factor_d(s->factor, diagonal, subdiagonal) != LIBSOLVER_OK) {
        if (s->options.memory_limit == 0)
            session_fail(s, "factors cannot be read", "%s", session_message(s));
        return 0;
    }
    for (int k = 0; k < n; k++) {
        f->d[k] = scalar_at(s, diagonal, k);
        f->e[k] = scalar_at(s, subdiagonal, k);
        if (info.kind != LIBSOLVER_KIND_SPD) {
            if (f->l[k + k * n] != 0)
                session_fail(s, "L has a diagonal", "row %d", k);
            f->l[k + k * n] = 1;
        } else if (f->d[k] != 1 || f->e[k] != 0)
            session_fail(s, "D of Cholesky is not I", "row %d", k);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            f->a[i + j * n] = (long double)f->scaling[f->order[i]] * f->scaling[f->order[j]] *
                              number_of(s->whole.entry[f->order[i] + f->order[j] * n]);
    return 1;
}

/* y := D x, or with |D|; x by rows: one step after the other */
static void times_d(const factors *f, const number *x, int step, number *y, int absolute)
{
    for (int k = 0; k < f->n; k++) {
        number sum = (absolute ? cabsl(f->d[k]) : f->d[k]) * x[k * step];
        if (f->e[k] != 0)
            sum += (absolute ? cabsl(f->e[k]) : mirrored(f, f->e[k])) * x[(k + 1) * step];
        if (k > 0 && f->e[k - 1] != 0)
            sum += (absolute ? cabsl(f->e[k - 1]) : f->e[k - 1]) * x[(k - 1) * step];
        y[k] = sum;
    }
}

/* y := |D^-1| x, x >= 0; a zero pivot: 0 */
static void times_inverse_d(const factors *f, const long double *x, long double *y)
{
    for (int k = 0; k < f->n; k++) {
        if (f->e[k] == 0) {
            y[k] = f->d[k] == 0 ? 0 : x[k] / cabsl(f->d[k]);
            continue;
        }
        const long double det = cabsl(f->d[k] * f->d[k + 1] - f->e[k] * mirrored(f, f->e[k]));
        y[k] = (cabsl(f->d[k + 1]) * x[k] + cabsl(f->e[k]) * x[k + 1]) / det;
        y[k + 1] = (cabsl(f->d[k]) * x[k + 1] + cabsl(f->e[k]) * x[k]) / det;
        k++;
    }
}

/* y := |D| x */
static void times_abs_d(const factors *f, const long double *x, long double *y)
{
    number in[64] = {0}, out[64];
    for (int k = 0; k < f->n; k++)
        in[k] = x[k];
    times_d(f, in, 1, out, 1);
    for (int k = 0; k < f->n; k++)
        y[k] = creall(out[k]);
}

/* |L||D||D^-1||D||L^T| + |P S A S P^T| into g, and its largest entry */
static long double growth(const factors *f, long double *g)
{
    const int n = f->n;
    long double most = 0;
    for (int j = 0; j < n; j++) {
        long double row[64], x[64], y[64];
        for (int k = 0; k < n; k++)
            row[k] = cabsl(f->l[j + k * n]);
        times_abs_d(f, row, x);
        times_inverse_d(f, x, y);
        times_abs_d(f, y, row);
        for (int i = 0; i < n; i++) {
            long double sum = cabsl(f->a[i + j * n]);
            for (int k = 0; k < n; k++)
                sum += cabsl(f->l[i + k * n]) * (row[k] + x[k]);
            g[i + j * n] = sum;
            most = fmaxl(most, sum);
        }
    }
    return most;
}

/* P S A S P^T = L D L^T.  Returns the largest column sum of what errors may be. */
static double check_product(fuzz_session *s, const factors *f)
{
    const int n = f->n;
    long double *g = fuzz_room((int64_t)n * n, sizeof *g), norm = 0;
    const long double most = growth(f, g);
    int failed = 0;
    for (int j = 0; j < n; j++) {
        number row[64], ld[64];
        long double sum = 0;
        for (int k = 0; k < n; k++)
            row[k] = mirrored(f, f->l[j + k * n]);
        times_d(f, row, 1, ld, 0);
        for (int i = 0; i < n; i++) {
            number r = f->a[i + j * n];
            for (int k = 0; k < n; k++)
                r -= f->l[i + k * n] * ld[k];
            const int skipped = (f->d[i] == 0 && f->e[i] == 0) || (f->d[j] == 0 && f->e[j] == 0);
            const long double underflow = f->eps > 1e-10 ? FLT_MIN : DBL_MIN;
            const long double bound =
                MANY * (n + 1) *
                (f->eps * (skipped ? most : g[i + j * n]) + underflow * (1 + most));
            sum += bound;
            if (!(cabsl(r) <= bound) && !failed++)
                session_fail(s, "L D L^T is not P S A S P^T", "entry (%d, %d): %.3Lg, bound %.3Lg",
                             i, j, cabsl(r), bound);
        }
        norm = fmaxl(norm, sum);
    }
    free(g);
    return (double)norm;
}

static void check_determinant(fuzz_session *s, const factors *f, double error)
{
    libsolver_determinant_info got;
    const libsolver_status status = libsolver_determinant(s->factor, &got);
    const int n = f->n;
    session_digest(s, &got, sizeof got);
    if (!s->checking)
        return;
    if (status != s->status)
        session_fail(s, "status of an estimate", "determinant: %s, factorize %s",
                     libsolver_status_name(status), libsolver_status_name(s->status));
    if (status == LIBSOLVER_SINGULAR &&
        (got.log_abs != -INFINITY || got.phase_real != 0 || got.phase_imaginary != 0))
        session_fail(s, "determinant of a singular matrix", "%g, phase %g %g", got.log_abs,
                     got.phase_real, got.phase_imaginary);
    if (status != LIBSOLVER_OK || !is_nonsingular(s))
        return;
    long double norm = 0, logs = 1;
    for (int j = 0; j < n; j++) {
        long double sum = 0;
        for (int i = 0; i < n; i++)
            sum += cabsl(f->a[i + j * n]);
        norm = fmaxl(norm, sum);
        logs += fabs(log(f->scaling[j]));
    }
    /* |log det (A + E) - log det A| <= n |A^-1 E| / (1 - |A^-1 E|) */
    const double part =
        oracle_condition(s->truth, &s->eliminated, f->scaling) / (double)norm * error;
    const double bound = 2 * n * part + 100 * (n + 1) * (double)logs *
                                            (s->factored.is_single ? FLT_EPSILON : DBL_EPSILON);
    double log_abs, re, im;
    oracle_determinant(s->truth, &log_abs, &re, &im);
    if (n == 0)
        log_abs = 0;
    if (n * part < 0.3 && bound < 0.5 &&
        !(fabs(got.log_abs - log_abs) <= bound &&
          hypot(got.phase_real - re, got.phase_imaginary - im) <= bound))
        session_fail(s, "determinant",
                     "%.17g, phase %.17g %.17g; true %.17g, phase %.17g %.17g; bound %.3g",
                     got.log_abs, got.phase_real, got.phase_imaginary, log_abs, re, im, bound);
}

/* y := |M| x for M = L or L^T */
static void times_abs_l(const factors *f, int transposed, const long double *x, long double *y)
{
    for (int i = 0; i < f->n; i++) {
        y[i] = 0;
        for (int j = 0; j < f->n; j++)
            y[i] += cabsl(transposed ? f->l[j + i * f->n] : f->l[i + j * f->n]) * x[j];
    }
}

/* y := |M^-1| x: column by column of the inverse */
static void times_abs_inverse_l(const factors *f, int transposed, const long double *x,
                                long double *y)
{
    const int n = f->n;
    memset(y, 0, sizeof *y * (size_t)n);
    for (int column = 0; column < n; column++) {
        number v[64] = {0};
        v[column] = 1;
        for (int j = column; j < n; j++) {
            v[j] /= f->l[j + j * n];
            for (int i = j + 1; i < n; i++)
                v[i] -= f->l[i + j * n] * v[j];
        }
        for (int i = column; i < n; i++)
            y[transposed ? column : i] += cabsl(v[i]) * x[transposed ? i : column];
    }
}

/* error := |M^-1||M| (|y| + input error part): of y = M^-1 b computed by substitution or with
 * inverted blocks */
static void substitution_error(const factors *f, int transposed, const number *y,
                               const long double *before, long double *error)
{
    long double size[64] = {0}, product[64] = {0};
    for (int i = 0; i < f->n; i++)
        size[i] = MANY * (f->n + 1) * f->eps * cabsl(y[i]);
    times_abs_l(f, transposed, size, product);
    for (int i = 0; i < f->n; i++)
        product[i] += before[i];
    times_abs_inverse_l(f, transposed, product, size);
    times_abs_l(f, transposed, size, product); /* inverted blocks: |M^-1||M| once more */
    for (int i = 0; i < f->n; i++)
        product[i] *= MANY * (f->n + 1) * f->eps;
    times_abs_inverse_l(f, transposed, product, error);
    for (int i = 0; i < f->n; i++)
        error[i] += size[i];
}

/* x of the library against y, exact up to error. */
static void compare(fuzz_session *s, const factors *f, const char *part, const fuzz_block *x,
                    int in_order, const number *y, const long double *error)
{
    long double most = 0;
    for (int k = 0; k < f->n; k++)
        most = fmaxl(most, cabsl(y[k]));
    if (!(most < (f->eps > 1e-10 ? FLT_MAX : DBL_MAX) / 64)) /* it may overflow on the way */
        return;
    for (int k = 0; k < f->n; k++) {
        const number got = number_of(block_get(x, in_order ? k : f->order[k], 0));
        /* 1e-37 and the like: what underflows in single precision */
        if (!(cabsl(got - y[k]) <= error[k] + (f->eps > 1e-10 ? FLT_MIN : DBL_MIN) * (1 + most))) {
            session_fail(s, "part of a solve",
                         "%s, row %d: %.10Lg %.10Lg, expected %.10Lg %.10Lg, bound %.3Lg", part, k,
                         creall(got), cimagl(got), creall(y[k]), cimagl(y[k]), error[k]);
            return;
        }
    }
}

/* y := what the parts make of b, exactly; each with the errors that may be. */
static void check_parts(fuzz_session *s, const factors *f, const fuzz_block *b)
{
    static const libsolver_part parts[] = {LIBSOLVER_PART_L, LIBSOLVER_PART_D, LIBSOLVER_PART_LT};
    const int n = f->n;
    number y[64];
    long double error[64] = {0}, next[64], size[64];
    fuzz_block x = block_copy(b), all = block_copy(b);
    const libsolver_status expected =
        s->status == LIBSOLVER_SINGULAR ? LIBSOLVER_SINGULAR : LIBSOLVER_OK;
    for (int k = 0; k < n; k++) {
        y[k] = f->scaling[f->order[k]] * number_of(block_get(b, f->order[k], 0));
        error[k] = 2 * f->eps * cabsl(y[k]);
    }
    for (int step = 0; step < 3; step++) {
        const libsolver_status status =
            libsolver_solve_plain(s->factor, parts[step], NULL, &x.vectors, &x.vectors);
        if (status != expected)
            session_fail(s, "status of a part", "%d: %s", step, libsolver_status_name(status));
        if (step == 0) {
            for (int j = 0; j < n; j++) {
                y[j] /= f->l[j + j * n];
                for (int i = j + 1; i < n; i++)
                    y[i] -= f->l[i + j * n] * y[j];
            }
            substitution_error(f, 0, y, error, next);
        } else if (step == 1) {
            for (int k = 0; k < n; k++) {
                if (f->e[k] == 0) {
                    y[k] = f->d[k] == 0 ? 0 : y[k] / f->d[k];
                    continue;
                }
                const number det = f->d[k] * f->d[k + 1] - f->e[k] * mirrored(f, f->e[k]), u = y[k],
                             v = y[k + 1];
                y[k] = (f->d[k + 1] * u - mirrored(f, f->e[k]) * v) / det;
                y[k + 1] = (f->d[k] * v - f->e[k] * u) / det;
                k++;
            }
            for (int k = 0; k < n; k++)
                size[k] = MANY * f->eps * cabsl(y[k]);
            times_abs_d(f, size, next);
            for (int k = 0; k < n; k++)
                error[k] += next[k];
            times_inverse_d(f, error, next);
            times_abs_d(f, next, size);
            times_inverse_d(f, size, next); /* |D^-1||D| once more, as 2 x 2 pivots are inverted */
        } else {
            for (int j = n - 1; j >= 0; j--) {
                for (int i = j + 1; i < n; i++)
                    y[j] -= mirrored(f, f->l[i + j * n]) * y[i];
                y[j] /= mirrored(f, f->l[j + j * n]);
            }
            substitution_error(f, 1, y, error, next);
            for (int k = 0; k < n; k++) {
                y[k] *= f->scaling[f->order[k]];
                next[k] = next[k] * f->scaling[f->order[k]] + 2 * f->eps * cabsl(y[k]);
            }
        }
        memcpy(error, next, sizeof error);
        compare(s, f, step == 0 ? "L" : step == 1 ? "D" : "LT", &x, step < 2, y, error);
    }
    if (libsolver_solve_plain(s->factor, LIBSOLVER_PART_ALL, NULL, &all.vectors, &all.vectors) !=
        expected)
        session_fail(s, "status of a part", "all");
    compare(s, f, "all", &all, 0, y, error);
    session_digest(s, all.vectors.values, (size_t)all.count * scalar_bytes(all.vectors.type));
    block_free(&x);
    block_free(&all);
}

void check_factors(fuzz_session *s)
{
    libsolver_factor_info info;
    const int n = s->factored.n;
    factors f = {.n = n, .is_hermitian = s->factored.is_hermitian, .eps = factor_eps(s)};
    libsolver_info(s->factor, &info);
    if (!s->checking)
        s->whole = system_matrix(&s->factored, s->is_shifted ? s->shift_re : NULL, s->shift_im);
    else
        need_truth(s);
    f.l = fuzz_room((int64_t)n * n, sizeof *f.l);
    f.a = fuzz_room((int64_t)n * n, sizeof *f.a);
    fuzz_block b = block_random(&s->r, &s->factored, n, 1);
    for (int i = 0; i < n; i++) {
        const double re = random_real(&s->r), im = random_real(&s->r);
        block_set(&b, i, 0, re, im);
    }
    if (read_factors(s, &f)) {
        const double error = info.perturbed == 0 ? check_product(s, &f) : INFINITY;
        if (!is_unscaled_single(s))
            check_parts(s, &f, &b);
        check_determinant(s, &f, error);
    }
    block_free(&b);
    free(f.l);
    free(f.a);
    if (!s->checking)
        session_forget_truth(s);
}
