/* cli/report_json.c: what a solve has found out, as JSON; what was not reached is null
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include "report.h"
#include <math.h>

/* A number that is there once `reached` is true. */
static void member_real(json *j, const char *key, bool reached, double value)
{
    json_real(j, key, reached ? value : NAN);
}

static void write_factor(const report *r, json *j)
{
    const bool counted = r->has_inertia;
    json_open(j, "factor");
    json_string(j, "kind", r->factorized ? kind_name(r->factor.kind) : NULL);
    json_open(j, "inertia");
    json_integer_or_null(j, "positive", counted, r->inertia.positive);
    json_integer_or_null(j, "negative", counted, r->inertia.negative);
    json_integer_or_null(j, "zero", counted, r->inertia.zero);
    if (counted)
        json_boolean(j, "certain", r->inertia.certain);
    else
        json_null(j, "certain");
    json_close(j);
    json_integer_or_null(j, "perturbed", r->factorized, r->factor.perturbed);
    json_integer_or_null(j, "delayed", r->factorized, r->factor.delayed);
    json_integer_or_null(j, "two_by_two", r->factorized, r->factor.two_by_two);
    json_string(j, "precision", r->factorized ? type_name(r->factor.precision) : NULL);
    json_integer_or_null(j, "entries", r->factorized, r->factor.factor_nnz);
    json_integer_or_null(j, "fronts", r->factorized, r->factor.fronts);
    json_integer_or_null(j, "growths", r->factorized, r->factor.growths);
    json_integer_or_null(j, "failed_row", r->factorized && r->factor.failed_row >= 0,
                         r->factor.failed_row + 1);
    json_integer_or_null(j, "host_bytes", r->factorized, r->factor.host_bytes);
    json_integer_or_null(j, "host_bytes_peak", r->factorized, r->factor.host_bytes_peak);
    json_integer_or_null(j, "device_bytes", r->factorized, r->factor.device_bytes);
    json_close(j);
}

static void write_backend(const report *r, json *j)
{
    libsolver_device device;
    json_open(j, "backend");
    json_string(j, "factorize", r->factorized ? backend_name(r->factor.backend_factorize) : NULL);
    json_string(j, "solve", r->factorized ? backend_name(r->factor.backend_solve) : NULL);
    json_string(j, "device",
                r->factorized ? device_name(r->factor.backend_solve, r->device, &device) : NULL);
    json_integer_or_null(j, "threads", r->factorized, r->factor.threads);
    json_string(j, "instruction_set", libsolver_instruction_set());
    json_null(j, "blas"); /* the library has kernels of its own */
    json_close(j);
}

static void write_analysis(const report *r, json *j)
{
    json_open(j, "analysis");
    json_integer_or_null(j, "factor_nnz", r->analyzed, r->analysis.factor_nnz);
    member_real(j, "factor_flops", r->analyzed, r->analysis.factor_flops);
    json_integer_or_null(j, "supernodes", r->analyzed, r->analysis.supernodes);
    json_integer_or_null(j, "levels", r->analyzed, r->analysis.levels);
    json_integer_or_null(j, "host_bytes", r->analyzed, r->analysis.host_bytes);
    json_integer_or_null(j, "device_bytes", r->analyzed, r->analysis.device_bytes);
    json_close(j);
}

static void write_solve(const report *r, json *j)
{
    json_open(j, "solve");
    json_integer_or_null(j, "nrhs", r->nrhs > 0, r->nrhs);
    member_real(j, "backward_error", r->solved, r->solve.backward_error);
    member_real(j, "backward_error_initial", r->solved, r->solve.backward_error_initial);
    json_real(j, "forward_error", r->forward_error);
    json_integer_or_null(j, "refinement_steps", r->solved, r->solve.steps);
    json_open_list(j, "backward_errors");
    for (int64_t k = 0; r->solved && k < r->nrhs; k++)
        json_item_real(j, r->backward_errors[k]);
    json_close_list(j);
    json_open_list(j, "history");
    for (int64_t k = 0; r->solved && k < r->solve.history && k < REPORT_HISTORY; k++) {
        json_open_item(j);
        json_string(j, "made_by", step_name(r->history[k].kind));
        json_real(j, "backward_error", r->history[k].backward_error);
        json_close(j);
    }
    json_close_list(j);
    json_close(j);
}

static void write_accuracy(const report *r, json *j)
{
    json_open(j, "accuracy");
    member_real(j, "condition", r->bounded, r->condition);
    member_real(j, "forward_bound", r->bounded, r->forward_bound);
    json_integer_or_null(j, "digits", r->bounded, report_digits(r->forward_bound));
    json_close(j);
}

static void write_seconds(const report_seconds *s, json *j)
{
    json_open(j, "seconds");
    json_real(j, "read", s->read);
    json_real(j, "analyze", s->analyze);
    json_real(j, "factorize", s->factorize);
    json_real(j, "solve", s->solve);
    json_real(j, "total", s->total);
    json_real(j, "estimate", s->estimate);
    json_close(j);
}

static void write_comparison(const comparison *c, json *j)
{
    json_open(j, "compare");
    json_string(j, "solver", c->done ? c->solver : NULL);
    json_string(j, "message", c->message);
    member_real(j, "analyze", c->done, c->analyze);
    member_real(j, "factorize", c->done, c->factorize);
    member_real(j, "solve", c->done, c->solve);
    member_real(j, "backward_error", c->done, c->backward_error);
    json_close(j);
}

void json_schema(const char *of, json *j)
{
    char name[40];
    snprintf(name, sizeof name, "libsolver.%s/1", of);
    json_string(j, "schema", name);
    json_string(j, "version", libsolver_version());
}

void report_json(const report *r, json *j)
{
    json_open(j, NULL);
    json_schema("solve", j);
    json_string(j, "precision", precision_name(r->precision, r->matrix));
    json_real(j, "tolerance", r->tolerance);
    json_open(j, "matrix");
    json_string(j, "path", r->path);
    json_integer_or_null(j, "n", r->matrix != NULL, r->matrix ? r->matrix->n : 0);
    json_integer_or_null(j, "nnz", r->matrix != NULL, r->matrix ? r->matrix->nnz : 0);
    json_string(j, "type", r->matrix ? type_name(r->matrix->type) : NULL);
    json_string(j, "symmetry", r->matrix ? symmetry_name(r->matrix) : NULL);
    member_real(j, "asymmetry", r->matrix != NULL, r->asymmetry);
    json_close(j);
    json_string(j, "status", libsolver_status_name(r->status));
    json_string(j, "message", r->message);
    json_string(j, "place", *r->place ? r->place : NULL);
    write_backend(r, j);
    json_string(j, "ordering", r->analyzed ? ordering_name(r->analysis.ordering) : NULL);
    write_analysis(r, j);
    write_factor(r, j);
    write_solve(r, j);
    write_accuracy(r, j);
    write_seconds(&r->seconds, j);
    if (r->compare)
        write_comparison(r->compare, j);
    json_close(j);
    json_end_line(j);
}
