/* test/sweeps/fuzz_checks.c: statuses, inertia, solutions and estimates, held against the oracle
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_checks.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void need_truth(fuzz_session *s)
{
    if (s->truth)
        return;
    const int n = s->factored.n, size = (int)s->options.schur_size;
    int kept[64] = {0}, rows[64], m = 0;
    s->whole = system_matrix(&s->factored, s->is_shifted ? s->shift_re : NULL, s->shift_im);
    for (int k = 0; k < size; k++)
        kept[s->schur_rows[k]] = 1;
    for (int i = 0; i < n; i++)
        if (!kept[i])
            rows[m++] = i;
    s->eliminated = oracle_matrix_new(m, s->whole.is_complex, s->whole.is_hermitian);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++)
            s->eliminated.entry[i + j * m] = s->whole.entry[rows[i] + rows[j] * n];
    s->truth = oracle_factorize(&s->eliminated);
}

int is_nonsingular(fuzz_session *s)
{
    need_truth(s);
    const oracle_signs signs = oracle_factor_signs(s->truth);
    return signs.decided && signs.zero == 0;
}

double true_condition(fuzz_session *s)
{
    double scaling[64];
    if (!is_nonsingular(s))
        return INFINITY;
    oracle_scaling(s->truth, scaling);
    if (s->condition == 0)
        s->condition = oracle_condition(s->truth, &s->eliminated, scaling);
    return s->condition;
}

double factor_eps(const fuzz_session *s)
{
    libsolver_factor_info info;
    libsolver_info(s->factor, &info);
    return info.precision == LIBSOLVER_S || info.precision == LIBSOLVER_C ? FLT_EPSILON
                                                                          : DBL_EPSILON;
}

static const char *path_of(const fuzz_session *s)
{
    static char path[100];
    static const char *const kinds[] = {"no factor", "Cholesky", "LDL^T", "quasi-definite"};
    libsolver_factor_info info;
    libsolver_info(s->factor, &info);
    const libsolver_choice matching = s->options.matching;
    const int mixed = s->options.mixed == LIBSOLVER_ON;
    snprintf(path, sizeof path, "%s%s, matching %s, scaling %s%s", kinds[info.kind],
             s->options.schur_size > 0 ? " of a part" : "",
             matching == LIBSOLVER_AUTO ? "AUTO"
             : matching == LIBSOLVER_ON ? "ON"
                                        : "OFF",
             s->options.scaling == LIBSOLVER_OFF ? "OFF" : "ON",
             mixed ? factor_eps(s) > 1e-10 ? ", mixed" : ", mixed gone to double" : "");
    return path;
}

/* Mixed precision with all rows scaled alike: what leaves the range of single precision is lost, as
 * the documentation says. */
int is_unscaled_single(const fuzz_session *s)
{
    return s->options.mixed == LIBSOLVER_ON && s->options.scaling == LIBSOLVER_OFF;
}

/* Cholesky succeeds if the least eigenvalue of the matrix with unit diagonal is well above its
 * rounding errors [Demmel 1989]. */
static int is_clearly_definite(fuzz_session *s, double eps)
{
    const int n = s->eliminated.n;
    double scaling[64];
    if (!is_nonsingular(s) || !s->factored.is_hermitian ||
        oracle_factor_signs(s->truth).negative > 0)
        return 0;
    for (int i = 0; i < n; i++)
        scaling[i] = 1 / sqrt(quad_abs(s->eliminated.entry[i + i * n]));
    return 100 * (n + 1) * eps * oracle_condition(s->truth, &s->eliminated, scaling) < 1;
}

/* Whether errors of this size, in a matrix that is well scaled, could have made these signs: a zero
 * may be none then. */
static int is_within(const fuzz_session *s, const libsolver_inertia_counts *c, double error)
{
    const oracle_signs t =
        oracle_signs_beyond(s->truth, &s->eliminated, 64 * (s->eliminated.n + 1) * error);
    return c->positive >= t.positive && c->negative >= t.negative;
}

/* A sign, or a zero, that is certain and not so.  Classes for signs, for zeros that are numbers as
 * small as rounding errors, and for others.  Numbers below DOCUMENTED, which the library does not
 * tell from zeros, are counted and not held against it. */
#define DOCUMENTED \
    0x1p-84 /* 2^-90 of the entries, and what scaling and the order of the matrix make of it */
static void fail_certificate(fuzz_session *s, const libsolver_inertia_counts *c,
                             const oracle_signs *t)
{
    char class[200];
    const double eps = factor_eps(s);
    const int only_zeros = c->positive <= t->positive && c->negative <= t->negative,
              is_rounding = is_within(s, c, eps);
    if (only_zeros && is_within(s, c, DOCUMENTED)) {
        session_counts[COUNT_SQUARES]++;
        session_tell(s, "  (zeros that are smaller than documented)");
        return;
    }
    snprintf(class, sizeof class, "FALSE CERTIFICATE, %s: %s",
             !only_zeros   ? is_rounding ? "a sign is rounding" : "a sign is wrong"
             : is_rounding ? "zeros are rounding"
                           : "zeros are none",
             path_of(s));
    session_fail(s, class, "%d %d %d, smallest pivot %.3g; exact %d %d %d", (int)c->positive,
                 (int)c->negative, (int)c->zero, c->smallest_pivot, t->positive, t->negative,
                 t->zero);
}

/* Whether some scale factor is at its documented limit: its row may have wanted one beyond. */
static int is_scaled_to_the_limit(const fuzz_session *s)
{
    double raw[64];
    const double most = ldexp(1, s->factored.is_single ? 60 : 500);
    int is_limit = 0;
    if (libsolver_get_scaling(s->factor, raw) != LIBSOLVER_OK)
        return 0;
    for (int i = 0; i < s->factored.n; i++) {
        const double scale = s->factored.is_single ? (double)((float *)(void *)raw)[i] : raw[i];
        is_limit |= scale == most || scale == 1 / most;
    }
    return is_limit;
}

/* Whether zeros that are none are documented: doubt that a scaling at its limit leaves, or one that
 * no further attempt was to settle. */
static int may_be_in_doubt(const fuzz_session *s, const libsolver_inertia_counts *c)
{
    return !c->certain &&
           (is_scaled_to_the_limit(s) || s->options.inertia_effort == LIBSOLVER_EFFORT_NONE);
}

static void check_counts(fuzz_session *s, libsolver_status status,
                         const libsolver_inertia_counts *c, const libsolver_factor_info *info)
{
    char class[200];
    const oracle_signs t = oracle_factor_signs(s->truth);
    const int right = c->positive == t.positive && c->negative == t.negative && c->zero == t.zero;
    session_counts[!t.decided ? COUNT_UNDECIDED : c->certain ? COUNT_CERTAIN : COUNT_UNCERTAIN]++;
    session_counts[COUNT_SINGULAR] += t.zero > 0;
    session_counts[COUNT_SINGULAR_FOUND] += t.zero > 0 && c->zero == t.zero;
    if (c->positive + c->negative + c->zero != s->eliminated.n || c->positive < 0 ||
        c->negative < 0 || c->zero < 0)
        session_fail(s, "inertia does not sum to n", "%d %d %d", (int)c->positive, (int)c->negative,
                     (int)c->zero);
    if ((c->zero > 0) != (status == LIBSOLVER_SINGULAR) ||
        (info->perturbed > 0 && status == LIBSOLVER_OK))
        session_fail(s, "status and counts differ", "%s, %d zero, %d perturbed",
                     libsolver_status_name(status), (int)c->zero, (int)info->perturbed);
    if (c->certain && info->perturbed > 0)
        session_fail(s, "certain though perturbed", "%d perturbed", (int)info->perturbed);
    if (c->certain && (t.decided ? !right : c->zero != t.zero))
        fail_certificate(s, c, &t);
    if (c->zero > 0 && t.zero == 0 && s->options.scaling != LIBSOLVER_OFF &&
        s->options.matching != LIBSOLVER_OFF && !may_be_in_doubt(s, c) &&
        1e4 * (t.positive + t.negative) * factor_eps(s) * true_condition(s) < 1) {
        snprintf(class, sizeof class, "singular though well-conditioned: %s", path_of(s));
        session_fail(s, class, "%d zeros, certain %d, condition %.3g", (int)c->zero, c->certain,
                     true_condition(s));
    }
}

void check_factorized(fuzz_session *s, libsolver_status status)
{
    libsolver_factor_info info;
    libsolver_inertia_counts counts = {0};
    const libsolver_status inertia = libsolver_inertia(s->factor, &counts);
    libsolver_info(s->factor, &info);
    session_counts[COUNT_FACTORS]++;
    session_digest(s, &status, sizeof status);
    session_digest(s, &counts, sizeof counts);
    session_digest(s, &info.failed_row, sizeof info.failed_row);
    session_digest(s, &info.factor_nnz, sizeof info.factor_nnz);
    if (!s->checking)
        return;
    need_truth(s);
    session_tell(s, "  -> %s, %s; inertia %d %d %d%s", libsolver_status_name(status), path_of(s),
                 (int)counts.positive, (int)counts.negative, (int)counts.zero,
                 counts.certain ? "" : ", uncertain");
    if (info.status != status)
        session_fail(s, "info has another status", "%s, not %s", libsolver_status_name(info.status),
                     libsolver_status_name(status));
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE) {
        if (s->options.kind != LIBSOLVER_KIND_SPD)
            session_fail(s, "NOT_POSITIVE_DEFINITE though not asked", "kind %d", s->options.kind);
        if (info.failed_row < 0 || info.failed_row >= s->factored.n)
            session_fail(s, "failed_row is no row", "%d", (int)info.failed_row);
        for (int k = 0; k < s->options.schur_size; k++)
            if (s->schur_rows[k] == info.failed_row)
                session_fail(s, "failed_row is not eliminated", "%d", (int)info.failed_row);
        if (!is_unscaled_single(s) &&
            is_clearly_definite(s, s->options.mixed == LIBSOLVER_ON ? FLT_EPSILON
                                                                    : system_eps(&s->factored)))
            session_fail(s, "NOT_POSITIVE_DEFINITE though it is", "failed_row %d",
                         (int)info.failed_row);
        if (inertia != LIBSOLVER_INVALID)
            session_fail(s, "inertia without a factor", "%s", libsolver_status_name(inertia));
        return;
    }
    if (status < 0) {
        session_fail(s, "a factorization failed", "%s: %s", libsolver_status_name(status),
                     session_message(s));
        return;
    }
    if (inertia != (s->factored.is_hermitian ? LIBSOLVER_OK : LIBSOLVER_INVALID))
        session_fail(s, "inertia", "%s", libsolver_status_name(inertia));
    if (inertia == LIBSOLVER_OK)
        check_counts(s, status, &counts, &info);
}

/* ---- Solutions ---- */

static double tolerance_of(const fuzz_session *s)
{
    return s->options.tolerance > 0 ? s->options.tolerance : s->factored.is_single ? 5e-6 : 1e-14;
}

static oracle_error true_error(const fuzz_session *s, const fuzz_block *b, const fuzz_block *x,
                               int column, int *is_finite)
{
    quad_complex bv[64], xv[64];
    *is_finite = 1;
    for (int i = 0; i < s->factored.n; i++) {
        bv[i] = block_get(b, i, column);
        xv[i] = block_get(x, i, column);
        *is_finite &= isfinite((double)xv[i].re) && isfinite((double)xv[i].im);
    }
    return oracle_backward_error(&s->whole, xv, bv, system_eps(&s->factored));
}

/* Whether an error may be reported for one that lies in t: some percent, and the rounding of the
 * library's residual. */
static int is_close(const fuzz_session *s, double reported, oracle_error t)
{
    const double rounding =
        8 * (s->factored.n + 4) * (s->factored.is_single ? DBL_EPSILON : (double)LDBL_EPSILON);
    return reported >= 0.97 * t.least - rounding && reported <= 1.03 * t.most + rounding;
}

/* Whether an entry of b over the largest of its row, and so x, is beyond the range of numbers. */
static int is_x_too_large(const fuzz_session *s, const fuzz_block *b)
{
    const int n = s->factored.n;
    const double limit = s->factored.is_single ? FLT_MAX / 64 : DBL_MAX / 64;
    for (int j = 0; j < (int)b->vectors.columns; j++)
        for (int i = 0; i < n; i++) {
            double largest = 0;
            for (int k = 0; k < n; k++)
                largest = fmax(largest, quad_abs(s->whole.entry[i > k ? i + k * n : k + i * n]));
            if (largest > 0 && quad_abs(block_get(b, i, j)) > limit * largest)
                return 1;
        }
    return 0;
}

void check_solution(fuzz_session *s, libsolver_status status, const libsolver_solve_info *info,
                    const fuzz_block *b, const fuzz_block *x, const double *errors)
{
    oracle_error worst = {0, 0};
    const int columns = (int)b->vectors.columns;
    const double tolerance = tolerance_of(s), reported = info->backward_error;
    session_counts[COUNT_SOLVES]++;
    if (!s->checking || columns == 0)
        return;
    need_truth(s);
    for (int j = 0; j < columns; j++) {
        int is_finite;
        const oracle_error t = true_error(s, b, x, j, &is_finite);
        worst.least = fmax(worst.least, is_finite ? t.least : INFINITY);
        worst.most = fmax(worst.most, is_finite ? t.most : INFINITY);
        if (!is_finite && status == LIBSOLVER_OK)
            session_fail(s, "OK but not finite", "column %d", j);
        if (errors && is_finite && !is_close(s, errors[j], t))
            session_fail(s, "backward error of a column",
                         "%.17g reported, true %.17g to %.17g, column %d", errors[j], t.least,
                         t.most, j);
    }
    session_tell(s, "  -> %s, backward error %.3g (true: %.3g to %.3g), %d steps",
                 libsolver_status_name(status), reported, worst.least, worst.most, info->steps);
    if (worst.most < INFINITY ? !is_close(s, reported, worst) : reported < INFINITY)
        session_fail(s, "backward error", "%.17g reported, true %.17g to %.17g", reported,
                     worst.least, worst.most);
    if (!(info->remarks & LIBSOLVER_INACCURATE) && worst.least > tolerance * 1.03)
        session_fail(s, "OK but above the tolerance", "%.17g, tolerance %g", worst.least,
                     tolerance);
    if ((info->remarks & LIBSOLVER_INACCURATE) && worst.most < tolerance * 0.97)
        session_fail(s, "INACCURATE but below the tolerance", "%.17g, tolerance %g", worst.most,
                     tolerance);
    const int remark = info->remarks & LIBSOLVER_SINGULAR     ? LIBSOLVER_SINGULAR
                       : info->remarks & LIBSOLVER_INACCURATE ? LIBSOLVER_INACCURATE
                                                              : info->remarks;
    if (remark != (int)status)
        session_fail(s, "status and remarks", "%s, remarks %d", libsolver_status_name(status),
                     info->remarks);
    if ((status == LIBSOLVER_SINGULAR) != (s->status == LIBSOLVER_SINGULAR))
        session_fail(s, "SINGULAR here or there", "%s, factorize %s", libsolver_status_name(status),
                     libsolver_status_name(s->status));
    if (status == LIBSOLVER_INACCURATE && s->status == LIBSOLVER_OK &&
        s->options.refine_steps >= 5 && s->options.scaling != LIBSOLVER_OFF &&
        tolerance >= (s->factored.is_single ? 5e-6 : 1e-14) &&
        1e3 * s->factored.n * factor_eps(s) * true_condition(s) < 1 && !is_x_too_large(s, b))
        session_fail(s, "INACCURATE though well-conditioned", "%.3g, condition %.3g", reported,
                     true_condition(s));
}

/* ---- Estimates ---- */

/* The status of what is asked of a factor, and whether there is a true value to compare with. */
static int is_comparable(fuzz_session *s, libsolver_status status, const char *what)
{
    if (status != s->status)
        session_fail(s, "status of an estimate", "%s: %s, factorize %s", what,
                     libsolver_status_name(status), libsolver_status_name(s->status));
    return status == LIBSOLVER_OK &&
           1e4 * (s->factored.n + 1) * factor_eps(s) * true_condition(s) < 1;
}

static void check_estimate(fuzz_session *s, const char *what, double estimate, double truth,
                           double least)
{
    session_counts[COUNT_ESTIMATES]++;
    session_counts[COUNT_LOW_ESTIMATES] += estimate < truth / 3;
    if (!(estimate >= truth / 10 - least))
        session_fail(s, "an estimate is far too small", "%s %.6g, true %.6g", what, estimate,
                     truth);
}

void check_condition(fuzz_session *s, libsolver_status status, double condition)
{
    if (!s->checking)
        return;
    need_truth(s);
    session_tell(s, "  -> %s, condition %.6g", libsolver_status_name(status), condition);
    if (status == LIBSOLVER_SINGULAR && !(condition == INFINITY))
        session_fail(s, "condition of a singular matrix", "%g", condition);
    if (!is_comparable(s, status, "condition"))
        return;
    const double truth = oracle_condition(s->truth, &s->eliminated, NULL);
    check_estimate(s, "condition", condition, truth, 0);
    if (!(condition <= truth * 1.1) && !(s->options.mixed == LIBSOLVER_ON && condition == INFINITY))
        session_fail(s, "condition above the true one", "%.6g, true %.6g", condition, truth);
}

/* max |A^-1| (|b - A x| + rounding errors of this sum), which the estimate never exceeds but for
 * its own rounding errors. */
static double most_forward_error(const fuzz_session *s, const long double *inverse,
                                 const quad_complex *b, const quad_complex *x)
{
    const int n = s->factored.n;
    const long double eps = (s->factored.is_single ? DBL_EPSILON : LDBL_EPSILON) * 4 * (n + 3);
    long double weight[64], most = 0;
    for (int i = 0; i < n; i++) {
        quad_complex r = b[i];
        long double sum = quad_abs(b[i]);
        for (int k = 0; k < n; k++) {
            const quad_complex a = s->whole.entry[i + k * n];
            r.re -= a.re * x[k].re - a.im * x[k].im;
            r.im -= a.re * x[k].im + a.im * x[k].re;
            sum += (long double)quad_abs(a) * quad_abs(x[k]);
        }
        weight[i] = quad_abs(r) + eps * sum;
    }
    for (int i = 0; i < n; i++) {
        long double sum = 0;
        for (int k = 0; k < n; k++)
            sum += inverse[i + k * n] * weight[k];
        most = fmaxl(most, sum);
    }
    return (double)most;
}

static int is_finite_column(const fuzz_block *x, int n, int column)
{
    int is_finite = 1;
    for (int i = 0; i < n; i++) {
        const quad_complex v = block_get(x, i, column);
        is_finite &= isfinite((double)v.re) && isfinite((double)v.im);
    }
    return is_finite;
}

void check_forward_errors(fuzz_session *s, libsolver_status status, const fuzz_block *b,
                          const fuzz_block *x, const double *errors)
{
    quad_complex v[64], bv[64], xv[64];
    const int n = s->factored.n;
    if (!s->checking)
        return;
    need_truth(s);
    session_tell(s, "  -> %s", libsolver_status_name(status));
    for (int j = 0; j < b->vectors.columns && status >= 0; j++)
        if (!(errors[j] >= 0) || (errors[j] < INFINITY && !is_finite_column(x, n, j)))
            session_fail(s, "forward error is no bound", "%g, column %d", errors[j], j);
    if (!is_comparable(s, status, "forward error"))
        return;
    long double *inverse = fuzz_room((int64_t)n * n, sizeof *inverse);
    oracle_inverse(s->truth, &s->eliminated, inverse);
    for (int j = 0; j < b->vectors.columns; j++) {
        double error = 0, norm = 0;
        for (int i = 0; i < n; i++)
            v[i] = bv[i] = block_get(b, i, j);
        oracle_solve(s->truth, &s->eliminated, v);
        for (int i = 0; i < n; i++) {
            const quad_complex got = xv[i] = block_get(x, i, j);
            error = fmax(error, quad_abs((quad_complex){got.re - v[i].re, got.im - v[i].im}));
            norm = fmax(norm, quad_abs(got));
        }
        if (!is_finite_column(x, n, j))
            continue;
        const double most = most_forward_error(s, inverse, bv, xv);
        if (norm > 0 && isfinite(error))
            check_estimate(s, "forward error", errors[j], error / norm, 1e-30);
        /* in mixed precision infinite where FGMRES does not get there */
        if (norm > 0 && !(errors[j] <= 1.1 * most / norm) &&
            !(s->options.mixed == LIBSOLVER_ON && errors[j] == INFINITY))
            session_fail(s, "forward error above its bound", "%.6g, bound %.6g, true %.6g",
                         errors[j], most / norm, error / norm);
    }
    free(inverse);
}
