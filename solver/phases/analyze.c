/* solver/phases/analyze.c: the first phase: pattern, ordering, elimination forest, the backend's
 * plan
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/choose_backend.h"
#include "solver/phases/context.h"
#include "solver/phases/host_view.h"
#include "solver/order/choose_ordering.h"
#include "solver/cpu/backend.h"
#include "solver/gpu/backend.h"
#include "solver/phases/objects.h"
#include "solver/phases/options.h"
#include "solver/order/schur_pattern.h"
#include <omp.h>
#include <string.h>

/* By type, in the order of libsolver_type. */
static const struct {
    const typed_values *values;
    const backend *cpu, *gpu;
} by_type[] = {
    {&typed_values_d, &cpu_backend_d, &gpu_backend_d},
    {&typed_values_s, &cpu_backend_s, &gpu_backend_s},
    {&typed_values_z, &cpu_backend_z, &gpu_backend_z},
    {&typed_values_c, &cpu_backend_c, &gpu_backend_c},
};

/* What cannot be asked of this matrix or this build. */
static libsolver_status check_kind(const libsolver_matrix *a, const libsolver_options *o,
                                   message *why)
{
    if ((unsigned)a->type > LIBSOLVER_C)
        return FAIL(why, LIBSOLVER_INVALID, "the matrix has no legal type");
    if (is_complex_symmetric(a->type, a->symmetry) && o->kind == LIBSOLVER_KIND_SPD)
        return FAIL(why, LIBSOLVER_INVALID,
                    "Cholesky needs a Hermitian matrix, this one is complex symmetric");
    if (o->expected_signs && o->kind != LIBSOLVER_KIND_QUASI_DEFINITE)
        return FAIL(why, LIBSOLVER_INVALID, "signs are expected of quasi-definite matrices alone");
    if (o->mixed == LIBSOLVER_ON && (a->type == LIBSOLVER_S || a->type == LIBSOLVER_C))
        return FAIL(why, LIBSOLVER_INVALID, "mixed precision needs a matrix in double precision");
    if (o->mixed == LIBSOLVER_ON && o->schur_size > 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "a Schur complement in mixed precision, where nothing could be refined");
    return LIBSOLVER_OK;
}

/* Only complex symmetric matrices may do without. */
static libsolver_status check_signs(const libsolver_analysis *s, message *why)
{
    const libsolver_options *o = &s->options;
    const int64_t n = s->input.a.n;
    if (o->kind != LIBSOLVER_KIND_QUASI_DEFINITE)
        return LIBSOLVER_OK;
    if (!o->expected_signs && n > 0 && !is_complex_symmetric(s->type, s->symmetry))
        return FAIL(why, LIBSOLVER_INVALID, "a quasi-definite matrix without expected_signs");
    for (int64_t i = 0; i < n && o->expected_signs; i++)
        if (o->expected_signs[i] != 1 && o->expected_signs[i] != -1)
            return FAIL(why, LIBSOLVER_INVALID, "expected_signs[%lld] is %d, neither 1 nor -1",
                        (long long)i, o->expected_signs[i]);
    return LIBSOLVER_OK;
}

/* Whether values may shape the order: LDL^T is possible, and its pivots may be paired. */
static int may_pair(const libsolver_analysis *s)
{
    const libsolver_options *o = &s->options;
    return o->kind != LIBSOLVER_KIND_SPD && o->kind != LIBSOLVER_KIND_QUASI_DEFINITE &&
           o->matching != LIBSOLVER_OFF && s->schur_size == 0;
}

/* *magnitude := |values| of the pattern's entries if some rows need a 2x2 pivot or the caller wants
 * it, otherwise NULL. */
static libsolver_status pick_magnitudes(libsolver_analysis *s, const void *values,
                                        double **magnitude)
{
    const pattern *p = &s->input.a;
    const int64_t nnz = p->start[p->n];
    *magnitude = NULL;
    if (s->options.matching != LIBSOLVER_ON && s->typed->zeros(&s->input, values) == 0)
        return LIBSOLVER_OK;
    *magnitude = memory_new(&s->context->env.memory, nnz, sizeof(double));
    if (!*magnitude)
        return LIBSOLVER_OUT_OF_MEMORY;
    s->typed->magnitudes(nnz, values, *magnitude);
    return LIBSOLVER_OK;
}

/* The same for the values of a view, NULL where there are none or they may not shape the order. */
static libsolver_status read_magnitudes(libsolver_analysis *s, const libsolver_matrix *a,
                                        double **magnitude, message *why)
{
    const pattern *p = &s->input.a;
    memory *m = &s->context->env.memory;
    *magnitude = NULL;
    if (!a->values || !may_pair(s))
        return LIBSOLVER_OK;
    const int64_t nnz = p->start[p->n];
    void *sum = NULL, *mirrored = NULL;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (s->input.in_order)
        status = s->typed->sum(&s->input, a->values, NULL, NULL, why);
    else {
        sum = memory_new(m, nnz, s->typed->bytes);
        mirrored = s->input.full ? memory_new(m, nnz, s->typed->bytes) : NULL;
        if (sum && (mirrored || !s->input.full))
            status = s->typed->sum(&s->input, a->values, sum, mirrored, why);
        memory_free(m, mirrored);
    }
    if (status == LIBSOLVER_OK)
        status = pick_magnitudes(s, sum ? sum : a->values, magnitude);
    memory_free(m, sum);
    return status;
}

/* Whether Cholesky will be tried, as far as is known: 0 if the kind is left open and the diagonal
 * of the rows that are eliminated says no. */
static libsolver_status predict_cholesky(libsolver_analysis *s, const libsolver_matrix *a,
                                         int *cholesky)
{
    memory *m = &s->context->env.memory;
    const int is_open =
        s->options.kind == LIBSOLVER_KIND_AUTO && !is_complex_symmetric(s->type, s->symmetry);
    *cholesky = is_open || s->options.kind == LIBSOLVER_KIND_SPD;
    if (!is_open || !a->values)
        return LIBSOLVER_OK;
    double *diagonal = memory_new(m, s->input.a.n, sizeof(double));
    if (!diagonal)
        return LIBSOLVER_OUT_OF_MEMORY;
    s->typed->given_diagonal(&s->input, a->values, diagonal);
    for (int64_t k = 0; k < s->schur_size; k++)
        diagonal[s->schur_rows[k]] = 1;
    for (int32_t j = 0; j < s->input.a.n; j++)
        *cholesky &= diagonal[j] > 0;
    memory_free(m, diagonal);
    return LIBSOLVER_OK;
}

/* Where AUTO factorizes and solves, when the forest is known.  What the GPU backend does not do
 * stays on the CPU.  The forecast is for all processors of the machine: the bits of solutions may
 * not depend on the number of threads asked for. */
static void choose_side(libsolver_analysis *s, int cholesky)
{
    const environment *env = &s->context->env;
    const int is_mixed = s->options.mixed == LIBSOLVER_ON;
    if (s->context->backend != LIBSOLVER_BACKEND_AUTO || s->schur_size > 0)
        return;
    const problem_size size = {.n = s->forest.n,
                               .factor_nnz = s->forest.factor_nnz,
                               .levels = s->forest.levels,
                               .chain = s->forest.chain,
                               .factor_flops = s->forest.factor_flops,
                               .is_cholesky = cholesky,
                               .scalar_bytes = (int)s->typed->bytes / (is_mixed ? 2 : 1),
                               .is_complex = s->type == LIBSOLVER_C || s->type == LIBSOLVER_Z,
                               .is_mixed = is_mixed,
                               .threads = omp_get_num_procs()};
    if (choose_backend(&size, s->options.purpose) != LIBSOLVER_BACKEND_GPU)
        return;
    message why = {0};
    if (check_device(env->device, &why) != LIBSOLVER_OK) {
        environment_log(env, "solves on the CPU: %s", why.text);
        return;
    }
    const backend_forecast t =
        forecast_backends(&size, s->options.purpose == LIBSOLVER_PURPOSE_FEW);
    environment_log(env,
                    "on the GPU: a factorization of %.2f ms predicted, %.2f ms on the CPU, a solve "
                    "of %.0f us, %.0f us on the CPU, the first in %.0f ms more",
                    1e3 * t.gpu.factorization, 1e3 * t.cpu.factorization, 1e6 * t.gpu.solve,
                    1e6 * t.cpu.solve, 1e3 * t.gpu.first);
    s->backend = by_type[s->type].gpu;
}

/* Whether nothing but the CPU backend's solves is to follow a Cholesky factorization. */
static int keeps_cholesky(const libsolver_analysis *s)
{
    return s->backend == by_type[s->type].cpu && s->schur_size == 0;
}

/* As a complex matrix can be. */
static int is_hermitian(const libsolver_matrix *a)
{
    return a->symmetry == LIBSOLVER_HERMITIAN && (a->type == LIBSOLVER_Z || a->type == LIBSOLVER_C);
}

static order_request ask_for_order(libsolver_analysis *s, int cholesky, const double *magnitude)
{
    return (order_request){.env = &s->context->env,
                           .a = &s->input.a,
                           .magnitude = magnitude,
                           .options = &s->options,
                           .costs = cholesky || s->options.expected_signs
                                        ? s->backend->cholesky_costs
                                        : s->backend->costs};
}

/* The order, its forest and the backend's plan.  magnitude: see order_request. */
static libsolver_status plan(libsolver_analysis *s, int cholesky, const double *magnitude,
                             message *why)
{
    environment *env = &s->context->env;
    order_result order = {.used = s->options.ordering};
    const order_request request = ask_for_order(s, cholesky, magnitude);
    libsolver_status status = s->schur_size > 0
                                  ? schur_forest(&request, (int32_t)s->schur_size, s->schur_rows,
                                                 &s->forest, &order.used, why)
                                  : choose_forest(&request, &s->forest, &order, why);
    s->ordering = order.used;
    s->seconds = order.seconds;
    s->pairs_need_scaling = order.scales && s->options.scaling != LIBSOLVER_OFF;
    if (status != LIBSOLVER_OK)
        goto done;
    if (environment_cancelled(env)) {
        status = FAIL(why, LIBSOLVER_CANCELLED, "the analysis was cancelled");
        goto done;
    }
    choose_side(s, cholesky);
    const matching *matched = order.matched;
    const int is_perfect = matched && matched->size == s->input.a.n;
    const backend_problem problem = {
        .env = env,
        .a = &s->input.a,
        .forest = &s->forest,
        .values = s->input.scattered ? NULL : &s->values,
        .type = s->type,
        .symmetry = s->symmetry,
        .mixed = s->options.mixed == LIBSOLVER_ON,
        .schur_size = (int32_t)s->schur_size,
        .schur_rows = s->schur_rows,
        .expected_signs = s->options.expected_signs,
        .matched_row = is_perfect ? matched->row_of : NULL,
        .matched_dual = is_perfect ? matched->u : NULL,
        .expects_cholesky = cholesky,
        .expects_matching = s->options.matching == LIBSOLVER_ON || s->pairs_need_scaling,
        .keeps_cholesky = cholesky && keeps_cholesky(s),
        .for_latency = s->options.purpose == LIBSOLVER_PURPOSE_LATENCY,
        .for_few = s->options.purpose == LIBSOLVER_PURPOSE_FEW,
        .may_fall_back = s->context->backend == LIBSOLVER_BACKEND_AUTO,
    };
    status = s->backend->prepare(&problem, &s->plan, why);
done:
    matching_free(&env->memory, order.matched);
    return status;
}

/* Entries from which an analysis takes many blocks that the system would have to clear, one after
 * the other. */
#define LEAST_TO_KEEP_FREED 4000

static libsolver_status analyze(libsolver_analysis *s, const libsolver_matrix *a, message *why)
{
    environment *env = &s->context->env;
    TRY(input_read(&env->memory, a, env->threads, &s->input, why));
    if (s->input.entries >= LEAST_TO_KEEP_FREED)
        memory_keep_freed(&env->memory);
    TRY(check_signs(s, why));
    TRY(schur_rows_read(&env->memory, s->input.a.n, &s->options, &s->schur_rows, why));
    s->schur_size = s->options.schur_size;
    TRY(schur_join(&env->memory, &s->input, (int32_t)s->schur_size, s->schur_rows));
    s->values = (value_map){.given = s->input.entries,
                            .target = s->input.target, /* which joining may have made */
                            .conjugates = s->input.upper && is_hermitian(a),
                            .is_hermitian = is_hermitian(a)};
    if (environment_cancelled(env))
        return FAIL(why, LIBSOLVER_CANCELLED, "the analysis was cancelled");
    double *magnitude = NULL;
    int8_t *no_signs = NULL; /* zeros: any sign will do */
    int cholesky;
    TRY(predict_cholesky(s, a, &cholesky));
    TRY(read_magnitudes(s, a, &magnitude, why));
    s->has_seen_values = a->values != NULL;
    libsolver_status status = LIBSOLVER_OK;
    if (s->options.kind == LIBSOLVER_KIND_QUASI_DEFINITE && !s->options.expected_signs) {
        s->options.expected_signs = no_signs = memory_zeroed(&env->memory, s->input.a.n, 1);
        status = no_signs ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    }
    if (status == LIBSOLVER_OK)
        status = plan(s, cholesky, magnitude, why);
    memory_free(&env->memory, no_signs);
    memory_free(&env->memory, magnitude);
    return status;
}

/* The same for a matrix that may lie on the device. */
static libsolver_status analyze_copy(libsolver_analysis *s, const libsolver_matrix *a, message *why)
{
    host_view view;
    TRY(host_view_all(s->context, a, &view, why));
    const libsolver_status status = analyze(s, &view.a, why);
    host_view_free(s->context, &view);
    return status;
}

static void log_analysis(const libsolver_analysis *s, double seconds)
{
    libsolver_analysis_info info;
    if (!s->context->env.log)
        return;
    libsolver_analysis_query(s, &info);
    environment_log(
        &s->context->env,
        "analysis: order %lld, %lld entries, %lld in L, %.3g flops and %.3g MB foreseen; "
        "%.3g s",
        (long long)info.n, (long long)info.nnz, (long long)info.factor_nnz, info.factor_flops,
        1e-6 * (double)info.host_bytes, seconds);
}

/* The backend that was asked for; AUTO chooses later. */
static const backend *begin_on(const libsolver_context *context, libsolver_type type)
{
    return context->backend == LIBSOLVER_BACKEND_GPU ? by_type[type].gpu : by_type[type].cpu;
}

libsolver_status libsolver_analyze(libsolver_context *context, const libsolver_matrix *a,
                                   const libsolver_options *options, libsolver_analysis **analysis)
{
    if (analysis)
        *analysis = NULL;
    if (!context)
        return LIBSOLVER_INVALID;
    message why = {0};
    libsolver_options o;
    libsolver_options_default(&o);
    if (options)
        o = *options;
    libsolver_status status =
        !analysis ? FAIL(&why, LIBSOLVER_INVALID, "where the analysis is to go is NULL")
        : !a      ? FAIL(&why, LIBSOLVER_INVALID, "the matrix to be analysed is NULL")
                  : options_check(&o, &why);
    if (status == LIBSOLVER_OK)
        status = check_kind(a, &o, &why);
    if (status == LIBSOLVER_OK) {
        memory *m = &context->env.memory;
        libsolver_analysis *s = memory_zeroed(m, 1, sizeof(libsolver_analysis));
        const double begin = omp_get_wtime();
        environment_progress(&context->env, PHASE_ANALYZE, 0);
        status = LIBSOLVER_OUT_OF_MEMORY;
        if (s) {
            s->context = context;
            s->options = o;
            s->type = a->type;
            s->symmetry = a->symmetry;
            s->typed = by_type[a->type].values;
            s->backend = begin_on(context, a->type);
            status = analyze_copy(s, a, &why);
        }
        if (status == LIBSOLVER_OUT_OF_MEMORY && !why.text[0])
            FAIL(&why, status, "the analysis wanted %lld more bytes", (long long)m->wanted);
        if (status != LIBSOLVER_OK)
            libsolver_analysis_free(s);
        else {
            s->options.permutation = NULL; /* the caller's arrays are not kept */
            s->options.expected_signs = NULL;
            s->options.schur_rows = NULL;
            *analysis = s;
            log_analysis(s, omp_get_wtime() - begin);
            environment_progress(&context->env, PHASE_ANALYZE, 1);
        }
    }
    if (status != LIBSOLVER_OK)
        context_message(context, &why);
    return status;
}

libsolver_status analysis_with_values(const libsolver_analysis *s, const void *values,
                                      libsolver_analysis **with, message *why)
{
    environment *env = &s->context->env;
    *with = NULL;
    if (s->has_seen_values || !may_pair(s) || s->options.ordering == LIBSOLVER_ORDERING_USER ||
        s->options.ordering == LIBSOLVER_ORDERING_NATURAL)
        return LIBSOLVER_OK;
    libsolver_analysis *t = memory_zeroed(&env->memory, 1, sizeof(libsolver_analysis));
    double *magnitude = NULL;
    if (!t)
        return LIBSOLVER_OUT_OF_MEMORY;
    *t = (libsolver_analysis){.context = s->context,
                              .options = s->options,
                              .type = s->type,
                              .symmetry = s->symmetry,
                              .input = s->input,
                              .borrows_input = 1,
                              .values = s->values,
                              .has_seen_values = 1,
                              .typed = s->typed,
                              .backend = s->context->backend == LIBSOLVER_BACKEND_GPU
                                             ? by_type[s->type].gpu
                                             : by_type[s->type].cpu};
    int lacks = 0;
    libsolver_status status = pick_magnitudes(t, values, &magnitude);
    if (status == LIBSOLVER_OK && magnitude) {
        const order_request request = ask_for_order(t, 0, magnitude);
        status = order_lacks_pairs(&request, &s->forest, &lacks);
    }
    if (status == LIBSOLVER_OK && lacks) {
        status = plan(t, 0, magnitude, why);
        *with = t;
    }
    memory_free(&env->memory, magnitude);
    if (status != LIBSOLVER_OK || !*with) {
        libsolver_analysis_free(t);
        *with = NULL;
    }
    return status;
}

void libsolver_analysis_free(libsolver_analysis *s)
{
    if (!s)
        return;
    memory *m = &s->context->env.memory;
    if (s->plan)
        s->backend->discard(s->plan);
    memory_free(m, s->schur_rows);
    forest_free(m, &s->forest);
    if (!s->borrows_input)
        input_free(m, &s->input);
    memory_free(m, s);
}

void libsolver_analysis_query(const libsolver_analysis *s, libsolver_analysis_info *info)
{
    memset(info, 0, sizeof *info);
    if (!s)
        return;
    info->n = s->input.a.n;
    info->nnz = s->input.a.start[s->input.a.n];
    info->factor_nnz = s->forest.factor_nnz;
    info->factor_flops = s->forest.factor_flops;
    info->supernodes = s->forest.supernodes;
    info->levels = s->forest.levels;
    info->ordering = s->ordering;
    s->backend->predict(s->plan, &info->host_bytes, &info->device_bytes);
    info->host_bytes += s->context->env.memory.in_use + factor_bytes(s);
}

void libsolver_permutation(const libsolver_analysis *s, int64_t *permutation)
{
    s->backend->permutation(s->plan, permutation);
}
