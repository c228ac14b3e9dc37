/* solver/cpu/factor/factorize_tmpl.c: multifrontal Cholesky and LDL^T, OpenMP tasks over the tree
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/subnormal.h"
#include "solver/cpu/factor/numeric.h"
#include "dense/cpu/ldlt.h"
#include <omp.h>
#include <string.h>

/* Once the candidates are permuted, the children's `up` and index follow.  permutation: 3 m
 * integers, the first k of which say where each row stood before. */
static void follow_pivots(numeric *f, int32_t s, int32_t *permutation)
{
    const node *v = &f->node[s];
    int32_t *inverse = permutation + v->m, *variable = permutation + 2 * (int64_t)v->m,
            *index = (int32_t *)v->index;
    for (int i = 0; i < v->k; i++)
        inverse[permutation[i]] = i;
    for (int32_t c = f->plan->child[s]; c >= 0; c = f->plan->sibling[c]) {
        node *child = &f->node[c];
        for (int i = 0; i < child->m - child->p; i++)
            if (child->up[i] < v->k)
                child->up[i] = inverse[child->up[i]];
    }
    memcpy(variable, index, sizeof(int32_t) * (size_t)v->k);
    for (int i = 0; i < v->k; i++)
        index[i] = variable[permutation[i]];
}

/* A supernode whose pivots failed; the first in elimination order counts, whichever is met
 * first. */
static void record_failure(numeric *f, int32_t s, int column)
{
    int32_t failed = atomic_load(&f->attempt.failed);
    while (s < failed && !atomic_compare_exchange_weak(&f->attempt.failed, &failed, s))
        ;
    f->node[s].p = column;
}

/* Counts the pivots of a front, which were the squares of what stands in L.  diagonal: from what
 * entries they started. */
static void count_squares(const node *v, const real *diagonal, front_report *report)
{
    for (int i = 0; i < v->k; i++) {
        const double root = (double)scalar_real(v->panel[i + (int64_t)i * v->m]),
                     pivot = root * root;
        report->smallest = pivot < report->smallest ? pivot : report->smallest;
        report->uncertain += pivot <= report->doubt_level * (double)diagonal[i];
    }
    report->positive += v->k;
}

static libsolver_status factorize_cholesky(numeric *f, int32_t s, scratch *t)
{
    node *v = &f->node[s];
    TRY(NAME(cpu_assemble)(f, s, t));
    const int is_schur_node = s == f->plan->schur_node;
    if (is_schur_node)
        v->k -= f->plan->schur_size;
    const int done =
        NAME(front_cholesky)(v->m, v->k, v->panel, f->largest + f->plan->part.first[s], &f->watch);
    v->p = v->k;
    if (atomic_load(&f->watch.stopped))
        return LIBSOLVER_CANCELLED;
    if (done < v->k) {
        record_failure(f, s, done);
        return LIBSOLVER_OK;
    }
    count_squares(v, f->largest + f->plan->part.first[s], &t->report);
    if (!is_schur_node && v->m > v->p) {
        TRY(NAME(cpu_place_contribution)(f, s));
        NAME(front_contribution)
        (&(front_pivots){1, v->m, v->p, v->panel, NULL, NULL}, v->k, v->cb, NULL, 0, &f->watch);
    }
    NAME(cpu_pack_node)(f, s);
    v->k = is_schur_node ? v->m : v->k; /* all that its children have has been assembled */
    NAME(cpu_assemble_contribution)(f, s);
    if (is_schur_node)
        NAME(cpu_finish_schur_node)(f, NULL);
    return LIBSOLVER_OK;
}

/* Work is k m^2 of each front of k candidates and m rows.  An attempt after which a lower threshold
 * could be tried ends at a front below which columns that such a threshold would not have delayed
 * have added WORK_FACTOR times the planned work of all fronts and WORK_FLOPS, about a
 * millisecond, more, and that is WORK_PART of what all delayed columns have added.  They add, in
 * planned works, and all delayed ones: kkt_3d27 19.4, 19.6; acopf_case1354pegase_it05 16.9, 16.9;
 * sqd_cvxqp3_m_2x2_it10 6.1, 6.1.  Where most columns wait for entries, not for larger ones, the
 * lower threshold delays as many: without pairs kkt_para 3.8, 6.9; ncvxqp1 3.0, 10.7; with them
 * kkt_qpilotno 12.5, 190. */
#define WORK_FACTOR 0.5
#define WORK_FLOPS ((int64_t)2000000)
#define WORK_PART 0.75

static int64_t planned_work(const cpu_plan *plan)
{
    int64_t work = 0;
    for (int32_t s = 0; s < plan->part.supernodes; s++)
        work += (int64_t)plan_pivots(plan, s) * plan_rows(plan, s) * plan_rows(plan, s);
    return work;
}

/* Of the front of node s, before it is eliminated.  Sums over what lies below it: whether some
 * front ends the attempt does not depend on threads. */
static libsolver_status count_work(numeric *f, int32_t s)
{
    node *v = &f->node[s];
    int64_t savable = 0;
    if (f->attempt.work_limit == 0)
        return LIBSOLVER_OK;
    v->work_savable = v->work_delayed = 0;
    for (int32_t c = f->plan->child[s]; c >= 0; c = f->plan->sibling[c]) {
        savable += f->node[c].savable;
        v->work_savable += f->node[c].work_savable;
        v->work_delayed += f->node[c].work_delayed;
    }
    const int64_t k = v->k - savable, m = v->m - savable, rows = plan_rows(f->plan, s),
                  work = (int64_t)v->k * v->m * v->m;
    v->work_savable += work - k * m * m;
    v->work_delayed += work - plan_pivots(f->plan, s) * rows * rows;
    return v->work_savable > f->attempt.work_limit &&
                   (double)v->work_savable >= WORK_PART * (double)v->work_delayed
               ? TOO_MUCH_WORK
               : LIBSOLVER_OK;
}

/* Whether column j of those that the front has delayed, or its row, has an entry among them that
 * the lower threshold accepts. */
static int is_savable(const node *v, int j)
{
    const int64_t m = v->m;
    const scalar *column = v->panel + j * m;
    double inside = 0, outside = 0;
    for (int i = v->p; i < j; i++)
        inside = fmax(inside, (double)scalar_abs(v->panel[j + i * m]));
    for (int i = j; i < v->k; i++)
        inside = fmax(inside, (double)scalar_abs(column[i]));
    for (int i = v->k; i < v->m; i++)
        outside = fmax(outside, (double)scalar_abs(column[i]));
    return inside > 0 && inside >= POLICY_LOWER_THRESHOLD * outside;
}

static void count_savable(numeric *f, node *v)
{
    v->savable = 0;
    for (int j = v->p; j < v->k && f->attempt.work_limit > 0; j++)
        v->savable += is_savable(v, j);
}

/* Whether the pivot of rows [i, i + pivots) and its column would be rounding errors by RAISED_ZERO,
 * beside these magnitudes. */
static int is_tiny(const node *v, int i, int pivots, const real *g)
{
    const scalar *l = v->panel + (int64_t)i * v->m;
    const int last = i + pivots - 1;
    const real level = (real)RAISED_ZERO * EPS, gi = g[i] > g[last] ? g[i] : g[last],
               off = scalar_abs(v->e[i]), a = scalar_abs(v->d[i]), b = scalar_abs(v->d[last]),
               largest = a > b ? (a > off ? a : off) : (b > off ? b : off);
    if (!is_noise(largest, gi, gi, level))
        return 0;
    for (int j = last + 1; j < v->m; j++) {
        const real size = scalar_abs(l[j]) + (pivots == 2 ? scalar_abs(l[j + v->m]) : 0);
        if (!is_noise(size * largest, gi, g[j], level))
            return 0;
    }
    return 1;
}

/* Marks them, with as many rows. */
static void mark_tiny(numeric *f, const node *v, const real *magnitude)
{
    for (int i = 0; i < v->p; i++) {
        const int pivots = v->e[i] != 0 ? 2 : 1;
        if ((pivots == 2 || v->d[i] != 0) && is_tiny(v, i, pivots, magnitude)) {
            f->tiny[v->index[i]] = (unsigned char)pivots;
            f->attempt.tiny += pivots;
        }
        i += pivots - 1;
    }
}

static libsolver_status factorize_ldlt(numeric *f, int32_t s, scratch *t)
{
    node *v = &f->node[s];
    const int uncertain = t->report.uncertain;
    int64_t rows = plan_rows(f->plan, s), candidates = plan_pivots(f->plan, s);
    for (int32_t c = f->plan->child[s]; c >= 0; c = f->plan->sibling[c]) {
        rows += f->node[c].k - f->node[c].p;
        candidates += f->node[c].k - f->node[c].p;
    }
    if (rows > t->m || candidates > t->k) {
        f->attempt.growths++;
        TRY(NAME(cpu_scratch_reserve)(f, t, rows, candidates));
    }
    TRY(NAME(cpu_assemble)(f, s, t));
    TRY(count_work(f, s));
    TRY(NAME(cpu_eliminate_front)(f, s, t));
    count_savable(f, v);
    if (s != f->plan->schur_node && v->m > v->p) {
        TRY(NAME(cpu_place_contribution)(f, s));
        NAME(front_contribution)
        (&(front_pivots){f->plan->hermitian, v->m, v->p, v->panel, v->d, v->e}, v->k, v->cb,
         f->tile_scratch, FRONT_TASK_SCRATCH, &f->watch);
        memcpy(v->cb_magnitude, t->magnitude + v->p, sizeof(real) * (size_t)(v->m - v->p));
    }
    NAME(cpu_assemble_contribution)(f, s);
    follow_pivots(f, s, t->permutation);
    /* a complement keeps what they have subtracted from it */
    if (t->report.uncertain > uncertain && f->plan->schur_size == 0)
        mark_tiny(f, v, t->magnitude);
    if (s == f->plan->schur_node)
        NAME(cpu_finish_schur_node)(f, t->work);
    return LIBSOLVER_OK;
}

/* Flops of the first k columns of a front of m rows: the sum of the squares of their lengths. */
static double flops_of(double m, double k)
{
    return k * (m * (m - k) + k * k / 3);
}

static double planned_flops(const cpu_plan *plan)
{
    double flops = 0;
    for (int32_t s = 0; s < plan->part.supernodes; s++)
        flops += flops_of((double)plan_rows(plan, s), (double)plan_pivots(plan, s));
    return flops;
}

static void count_tile(void *meter_, double flops)
{
    meter_add(meter_, flops);
}

/* What tiles of the panel tell of: the columns behind each block of pivots, where that is large. */
static double panel_tiles(int64_t m, int64_t k, int64_t block)
{
    double flops = 0;
    for (int64_t j = 0; j < k; j += block) {
        const int64_t end = j + block < k ? j + block : k, pivots = end - j;
        if (front_is_large(m, pivots))
            flops += (double)pivots * (double)(k - end) * (double)(2 * m - end - k);
    }
    return flops;
}

/* The front is done: its flops, but for those that its tiles have told of. */
static void count_front(numeric *f, const node *v)
{
    const double r = v->m - v->p;
    double flops = flops_of(v->m, v->p);
    if (!f->meter.env)
        return;
    flops -= panel_tiles(v->m, v->p, f->cholesky ? TILE_COLUMNS : LDLT_BLOCK);
    if (front_is_large(v->m - v->p, v->p))
        flops -= v->p * r * r;
    meter_add(&f->meter, flops);
}

/* Supernode s by the calling thread, unless there is no more use for it. */
static void work_on(numeric *f, int32_t s)
{
    if (atomic_load(&f->attempt.stop) != LIBSOLVER_OK || s > atomic_load(&f->attempt.failed))
        return;
    libsolver_status status = front_stopped(&f->watch) ? LIBSOLVER_CANCELLED : LIBSOLVER_OK;
    if (status == LIBSOLVER_OK)
        status = (f->cholesky ? factorize_cholesky
                              : factorize_ldlt)(f, s, &f->scratch[omp_get_thread_num()]);
    if (status != LIBSOLVER_OK)
        atomic_store(&f->attempt.stop, status);
    else
        count_front(f, &f->node[s]);
}

/* A range of supernodes, then every supernode above it of which it was the last to be waited
 * for. */
static void range_task(numeric *f, const task_range *range)
{
    for (int32_t s = range->first; s < range->last; s++)
        work_on(f, s);
    for (int32_t s = range->above; s >= 0 && schedule_was_last(&f->pending[s]);
         s = f->plan->part.above[s])
        work_on(f, s);
}

static void factorize_tree(numeric *f)
{
    const schedule *tasks = &f->plan->tasks;
    schedule_begin(tasks, f->pending);
    const int threads = numeric_threads(f);
    const double begin = omp_get_wtime();
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        const uint64_t mode = subnormal_add_mode(NUMERIC_MODE);
#pragma omp single
        for (int32_t r = 0; r < tasks->ranges; r++) {
#pragma omp task firstprivate(r)
            range_task(f, &tasks->range[r]);
        }
        subnormal_set_mode(mode); /* all tasks are done */
    }
    team_took(&f->pace, tasks->threads, threads, omp_get_wtime() - begin, f->plan->seconds);
}

/* Delayed columns took more space than was planned: the solves' space follows. */
static libsolver_status replan_solves(numeric *f)
{
    memory *m = &f->plan->env->memory;
    const int32_t n = f->plan->part.supernodes;
    int64_t *size = memory_new(m, n, sizeof(int64_t));
    if (!size)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < n; s++)
        size[s] = solve_slot_rows(f->node[s].m > f->node[s].planned_m ? f->node[s].m
                                                                      : f->node[s].planned_m);
    const libsolver_status status =
        slots_plan(m, &f->plan->part, &f->plan->solves, size, f->solve_slot, &f->solve_entries);
    memory_free(m, size);
    return status;
}

/* Sums what the threads counted. */
static void sum_reports(const numeric *f, backend_report *report)
{
    report->smallest = INFINITY;
    for (int t = 0; t < f->threads; t++) {
        const front_report *r = &f->scratch[t].report;
        report->positive += r->positive;
        report->negative += r->negative;
        report->zero += r->zero;
        report->uncertain += r->uncertain;
        report->perturbed += r->perturbed;
        report->two_by_two += r->two_by_two;
        report->smallest = r->smallest < report->smallest ? r->smallest : report->smallest;
        report->delayed += f->scratch[t].delayed;
    }
    report->cholesky = f->cholesky;
    report->fronts = f->plan->part.supernodes;
}

/* The elimination order, and what is known once all fronts are done. */
static libsolver_status finish(numeric *f, backend_report *report)
{
    sum_reports(f, report);
    int32_t eliminated = 0;
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        const int64_t p = v->p, delayed = v->k - v->p;
        report->factor_nnz += p * (p + 1) / 2 + p * (v->m - p);
        if (delayed > v->room) {
            v->room = (int32_t)(delayed + delayed / 4 + 1);
            f->layout.lacks_room = 1;
        }
        for (int i = 0; i < v->p; i++)
            f->order[eliminated++] = v->index[i];
    }
    f->entries = report->factor_nnz;
    f->zero_pivots = report->zero;
    return atomic_load(&f->attempt.growths) > 0 ? replan_solves(f) : LIBSOLVER_OK;
}

/* Growth by delayed columns up to which a factorization goes on: this many times the planned size,
 * and bytes, where another scaling could be tried; four times as much where delays could be capped;
 * no limit with a cap.  Bytes of 64 MiB kept small systems that need the cap in the end at work for
 * twice as long (kkt_stadat3 1.16 s, 0.63 with 16), by bench_indefinite. */
#define GROWTH_FACTOR 8
#define GROWTH_BYTES ((int64_t)16 << 20)

libsolver_status NAME(cpu_attempt_in_single)(numeric *f, double shift, int cholesky,
                                             const backend_options *options, backend_report *report)
{
    f->cholesky = cholesky;
    if (!(cholesky && f->elsewhere))
        TRY(NAME(cpu_scale)(f, options->scaling));
    return f->single->attempt(f->factor, f->value, f->scale, shift, cholesky, options, report);
}

libsolver_status NAME(cpu_attempt)(numeric *f, int cholesky, const backend_options *options,
                                   backend_report *report)
{
    if (f->single)
        return NAME(cpu_attempt_in_single)(f, 0, cholesky, options, report);
    if (cholesky && f->elsewhere)
        return NAME(cpu_attempt_elsewhere)(f, 0, options, report);
    f->is_elsewhere = 0;
    if (cholesky && f->plan->simplicial)
        return NAME(cpu_attempt_simplicial)(f, options, report);
    if (!NAME(cpu_take_fronts)(f))
        return LIBSOLVER_OUT_OF_MEMORY;
    *report = (backend_report){.failed_row = -1, .growths = report->growths}; /* of all attempts */
    TRY(NAME(cpu_layout)(f, cholesky, report));
    TRY(NAME(cpu_scale)(f, options->scaling));
    f->attempt.pivot_threshold = (real)options->pivot_threshold;
    f->attempt.zero_level = (real)(options->zero_level > 0 ? options->zero_level * EPS : LDLT_ZERO);
    f->attempt.may_match = options->may_match && !f->is_matched;
    f->attempt.delay_cap = options->delay_cap > 0 && options->delay_cap < INT32_MAX
                               ? (int32_t)options->delay_cap
                               : INT32_MAX;
    f->attempt.growth_limit = (GROWTH_FACTOR * f->layout.blocks_bytes + GROWTH_BYTES) *
                              (f->attempt.may_match                ? 1
                               : f->attempt.delay_cap == INT32_MAX ? 4
                                                                   : 0);
    f->attempt.work_limit =
        options->may_lower && !cholesky
            ? (int64_t)(WORK_FACTOR * (double)planned_work(f->plan)) + WORK_FLOPS
            : 0;
    const environment *env = f->plan->env;
    meter_begin(&f->meter, env, PHASE_FACTORIZE, env->progress ? planned_flops(f->plan) : 0);
    f->watch.worked = f->meter.env ? count_tile : NULL;
    f->watch.work = &f->meter;
    atomic_store(&f->watch.stopped, 0);
    atomic_store(&f->attempt.failed, INT32_MAX);
    atomic_store(&f->attempt.stop, LIBSOLVER_OK);
    atomic_store(&f->attempt.grown, 0);
    atomic_store(&f->attempt.tiny, 0);
    if (!cholesky)
        memset(f->tiny, 0, (size_t)f->plan->a.n);
    for (int t = 0; t < f->threads; t++) {
        f->scratch[t].report =
            (front_report){.smallest = INFINITY, .doubt_level = numeric_doubt_level(f->plan)};
        f->scratch[t].delayed = 0;
    }
    factorize_tree(f);
    report->growths += atomic_load(&f->attempt.growths);
    TRY((libsolver_status)atomic_load(&f->attempt.stop));
    if (atomic_load(&f->watch.stopped)) /* in the very last front */
        return LIBSOLVER_CANCELLED;
    const int32_t failed = atomic_load(&f->attempt.failed);
    if (failed < INT32_MAX) {
        report->failed_row = f->plan->part.perm[f->plan->part.first[failed] + f->node[failed].p];
        return LIBSOLVER_NOT_POSITIVE_DEFINITE;
    }
    return finish(f, report);
}
