/* cli/report_text.c: what a solve has found out, for people
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include "report.h"
#include "short_number.h"
#include <inttypes.h>
#include <math.h>

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

void report_text_matrix(const report *r, FILE *to)
{
    const triplets *a = r->matrix;
    fprintf(to, "matrix     %s: order %d, %" PRId64 " entr%s in the lower triangle, %s %s%s\n",
            r->path, a->n, a->nnz, a->nnz == 1 ? "y" : "ies",
            triplets_width(a) == 2 ? "complex" : "real",
            a->symmetry == LIBSOLVER_HERMITIAN ? "Hermitian" : "symmetric",
            type_is_single(a->type) ? ", single precision" : "");
    if (a->is_pattern)
        fprintf(to, "           the file has a pattern alone: each entry is taken as 1\n");
    if (r->asymmetry > 0)
        fprintf(
            to,
            "           the mean of its two triangles, which differ by %.1e of the largest entry\n",
            r->asymmetry);
}

void report_text_analysis(const report *r, FILE *to)
{
    const libsolver_analysis_info *a = &r->analysis;
    fprintf(to, "analysis   ordering %s, %" PRId64 " supernode%s on %" PRId64 " level%s\n",
            ordering_name(a->ordering), a->supernodes, plural(a->supernodes), a->levels,
            plural(a->levels));
    fprintf(to, "           foreseen: %s entries in L, %s, %s of memory\n",
            short_count((double)a->factor_nnz, "").text, short_count(a->factor_flops, "flop").text,
            short_bytes((double)a->host_bytes).text);
}

/* Why the CPU made a factor that is solved with on the GPU, or was to be. */
static const char *cpu_reason(libsolver_cpu_reason reason)
{
    switch (reason) {
    case LIBSOLVER_CPU_LDLT:
        return " since the GPU does not make such factors";
    case LIBSOLVER_CPU_SIZE:
        return " since it is too large for the GPU";
    case LIBSOLVER_CPU_DEVICE:
        return " since the GPU failed";
    case LIBSOLVER_CPU_MIXED:
        return " since the GPU does not make such factors in mixed precision";
    case LIBSOLVER_CPU_AS_CHOSEN:
        break;
    }
    return "";
}

void report_text_factor(const report *r, FILE *to)
{
    const libsolver_factor_info *f = &r->factor;
    const bool ldlt = f->kind != LIBSOLVER_KIND_SPD;
    const char *transposed = triplets_are_hermitian(r->matrix) ? "L^H" : "L^T";
    fprintf(to, "factor     A = L %s%s%s%s, %s%s, %d thread%s%s", ldlt ? "D " : "", transposed,
            ldlt ? "" : " (Cholesky)",
            r->precision != PRECISION_MIXED ? ""
            : type_is_single(f->precision)  ? ", single precision"
                                            : ", double precision since single was not enough",
            f->backend_factorize == LIBSOLVER_BACKEND_GPU ? "GPU" : "CPU",
            cpu_reason(f->cpu_reason), f->threads, plural(f->threads),
            f->backend_solve == LIBSOLVER_BACKEND_GPU ? ", solves on the GPU" : "");
    if (ldlt)
        fprintf(to, "; %" PRId64 " pivot%s of 2 x 2, %" PRId64 " delayed, %" PRId64 " perturbed",
                f->two_by_two, plural(f->two_by_two), f->delayed, f->perturbed);
    fputc('\n', to);
    if (r->has_inertia)
        fprintf(to,
                "inertia    %" PRId64 " positive, %" PRId64 " negative, %" PRId64 " zero (%s)\n",
                r->inertia.positive, r->inertia.negative, r->inertia.zero,
                r->inertia.certain ? "certain" : "not certain");
}

void report_text_solution(const report *r, FILE *to)
{
    const libsolver_solve_info *s = &r->solve;
    fprintf(to, "solution   %" PRId64 " right-hand side%s, %d refinement step%s\n", r->nrhs,
            plural(r->nrhs), s->steps, plural(s->steps));
    fprintf(to, "           backward error %.1e", s->backward_error_initial);
    if (s->steps > 0)
        fprintf(to, ", refined to %.1e", s->backward_error);
    if (!isnan(r->forward_error))
        fprintf(to, "; forward error %.1e", r->forward_error);
    fputc('\n', to);
}

/* "3.1e-10", "infinite" */
static short_number estimate(double value)
{
    short_number s;
    snprintf(s.text, sizeof s.text, isfinite(value) ? "%.1e" : "infinite", value);
    return s;
}

void report_text_accuracy(const report *r, FILE *to)
{
    const int digits = report_digits(r->forward_bound);
    fprintf(to, "accuracy   condition %s; error of x at most %s of its largest entry: %d digit%s\n",
            estimate(r->condition).text, estimate(r->forward_bound).text, digits, plural(digits));
}

static void print_times(const report_seconds *s, FILE *to)
{
    const struct {
        const char *phase;
        double seconds;
    } parts[] = {{"read", s->read},
                 {"analyze", s->analyze},
                 {"factorize", s->factorize},
                 {"solve", s->solve},
                 {"estimate", s->estimate},
                 {"total", s->total},
                 {NULL, 0}};
    fprintf(to, "time      ");
    for (int k = 0; parts[k].phase; k++)
        if (!isnan(parts[k].seconds))
            fprintf(to, " %s %s%s", parts[k].phase, short_seconds(parts[k].seconds).text,
                    parts[k + 1].phase ? "," : "");
    fputc('\n', to);
}

/* Beside ours, on the lines above. */
static void print_comparison(const comparison *c, FILE *to)
{
    fprintf(to, "%s: ", c->solver);
    if (*c->message)
        fprintf(to, "%s", c->message);
    else
        fprintf(to, "analyze %s, factorize %s, solve %s; backward error %.1e, not refined",
                short_seconds(c->analyze).text, short_seconds(c->factorize).text,
                short_seconds(c->solve).text, c->backward_error);
    fputc('\n', to);
}

static void print_verdict(const report *r, FILE *to)
{
    const double error = r->solve.backward_error;
    const bool reached = error <= r->tolerance, singular = r->status & LIBSOLVER_SINGULAR;
    fputc('\n', to);
    if (!reached)
        fprintf(to, "NOT SOLVED: the backward error %.1e is above the tolerance %.0e%s.\n", error,
                r->tolerance,
                singular ? "; the matrix is singular, and the right-hand side does not fit it"
                         : "");
    else if (singular)
        fprintf(to,
                "SOLVED, but the matrix is singular: x is one of many solutions (backward error "
                "%.1e, tolerance "
                "%.0e).\n",
                error, r->tolerance);
    else
        fprintf(to, "SOLVED: the backward error %.1e is within the tolerance %.0e%s.\n", error,
                r->tolerance,
                r->solve.remarks & LIBSOLVER_PERTURBED ? ", although pivots were perturbed" : "");
}

void report_text_end(const report *r, FILE *to)
{
    if (!r->analyzed)
        return;
    print_times(&r->seconds, to);
    if (r->compare && r->compare->done)
        print_comparison(r->compare, to);
    if (r->solved)
        print_verdict(r, to);
}
