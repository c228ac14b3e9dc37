/* bench/factorize.c: factorizations on a device, their time and where it goes
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_factorize [-t | -x] [-a] [-q] [-s ROWS] [-b PART] [-r US] [-p PART] [-j] [-w MOST]
 * [-g LEAST] PROBLEM... PROBLEM: as for the tool (lap3d:30, ..., or a file), real and positive
 * definite; -q: quasi-definite, the signs of the pivots being those of the diagonal
 *
 * -t: time by kinds of tasks and the critical path; -x: that, and times with other crowds and
 * buckets; -a: the factor alone, nothing that is ready; -s, -b, -r, -p, -w, -g: see factor_tuning;
 * -j: not apart. Times are medians of 15 means of 20 back-to-back factorizations of values on the
 * device (3 of 1 for large ones).  error: largest difference to the CPU's L, in units of L's
 * largest entry. ready: libsolver_refactorize by the host's clock, with values on the device or on
 * the host, and libsolver_refactorize_async of values on the device by the device's, for few solves
 * and for ordinary ones; error: componentwise, of a refined solve after each.
 */
#define PREC_d
#include "base/owned_tree.h"
#include "bench/signs.h"
#include "bench/stream_times.h"
#include "cli/factor_profile.h"
#include "cli/problem.h"
#include "gpu/factor/trace.h"
#include "gpu/factor/waits.h"
#include "solver/gpu/numeric.h"
#include "solver/phases/objects.h"
#include <string.h>
#include <time.h>

typedef struct job {
    problem p;
    libsolver_factor *factor;
    void *cpu; /* the CPU backend's factor of the same plan */
    owned_tree tree;
    backend_plan_view plan;
    factor_program program;
    device_factorizer f;
    factorizer_arguments places;
    cudaStream_t stream;
    double plan_seconds;
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_quasi_definite;

static libsolver_factor *factor_of(const problem *p, libsolver_purpose purpose, cudaStream_t stream)
{
    const libsolver_matrix a = triplets_view(&p->a);
    int8_t *signs = is_quasi_definite ? signs_of(&p->a) : NULL;
    libsolver_factor *f = NULL;
    libsolver_options o;
    must(signs || !is_quasi_definite, "no memory");
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_GPU;
    o.purpose = purpose;
    o.stream = stream;
    o.kind = signs ? LIBSOLVER_KIND_QUASI_DEFINITE : LIBSOLVER_KIND_SPD;
    o.expected_signs = signs;
    const libsolver_status status = libsolver_factor_matrix(&a, &o, &f);
    free(signs);
    must(status == LIBSOLVER_OK, libsolver_factor_message(f));
    return f;
}

/* The problem, and its factor on the CPU with the same fronts. */
static void factorize_on_cpu(job *j, const char *name)
{
    failure f = {0};
    message why = {0};
    backend_report report;
    const backend_options options = {.positive_definite = !is_quasi_definite,
                                     .scaling = BACKEND_EQUILIBRATE};
    if (problem_load(name, &j->p, &f))
        must(0, name);
    must(j->p.a.type == LIBSOLVER_D, "real matrices only");
    j->factor = factor_of(&j->p, LIBSOLVER_PURPOSE_FEW, NULL);
    const device_plan *plan = j->factor->analysis->plan;
    must(cpu_backend_d.create(plan->cpu, &j->cpu, &why) == LIBSOLVER_OK, why.text);
    cpu_backend_d.set_values(j->cpu, j->factor->incoming);
    must(cpu_backend_d.factorize(j->cpu, &options, &report, &why) == LIBSOLVER_OK, why.text);
    must(cpu_backend_d.view_tree(j->cpu, &j->tree, &why) == LIBSOLVER_OK, why.text);
}

static void *to_device(const void *from, size_t bytes)
{
    void *to;
    CUDA(cudaMalloc(&to, bytes + 16));
    if (from)
        CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

/* Program and values on the device. */
static void prepare(job *j, const factor_tuning *tuning)
{
    environment *env = &j->factor->context->env;
    const device_plan *plan = j->factor->analysis->plan;
    message why = {0};
    cpu_backend_d.view_plan(plan->cpu, &j->plan);
    const double start = now();
    must(factor_program_build(env, &j->plan.fronts, LIBSOLVER_D, tuning, &j->program, &why) ==
             LIBSOLVER_OK,
         why.text);
    j->plan_seconds = now() - start;
    CUDA(cudaStreamCreate(&j->stream));
    j->f.stream = j->stream;
    must(device_factorizer_load(&j->f, &j->program, &j->plan.fronts, LIBSOLVER_D, &why) ==
             LIBSOLVER_OK,
         why.text);
    j->places = (factorizer_arguments){
        .values = to_device(j->factor->incoming,
                            sizeof(double) * (size_t)j->plan.fronts.start[j->plan.fronts.n]),
        .panel =
            to_device(NULL, sizeof(double) * (size_t)(j->program.panel_scalars + 2 * j->program.n)),
        .doubt_level = j->plan.doubt_level};
}

static void launch(const void *job_)
{
    job *j = (job *)job_;
    message why = {0};
    must(device_factorizer_launch(&j->f, &j->program, &j->places, &why) == LIBSOLVER_OK, why.text);
    must(device_factorizer_judge(&j->f, &j->program, &why) == LIBSOLVER_OK, why.text);
}

/* Largest difference to the CPU's panels. */
static double error_of(job *j)
{
    const factor_program *g = &j->program;
    double *panel = malloc(sizeof(double) * (size_t)(g->panel_scalars + 1)), largest = 0, error = 0;
    must(panel != NULL, "no memory");
    CUDA(cudaMemcpy(panel, j->places.panel, sizeof(double) * (size_t)g->panel_scalars,
                    cudaMemcpyDeviceToHost));
    for (int32_t q = 0; q < g->nodes; q++) {
        const factor_front *f = g->front + q;
        const double *theirs = j->tree.view.panel[q];
        for (int32_t c = 0; c < f->k; c++)
            for (int32_t i = is_quasi_definite ? c + 1 : c; i < f->m; i++) {
                const double mine = panel[f->panel + i + (int64_t)c * f->ld],
                             other = theirs[i + (int64_t)c * j->tree.view.ld[q]];
                largest = fmax(largest, fabs(other));
                error = isnan(mine) ? INFINITY : fmax(error, fabs(mine - other));
            }
    }
    free(panel);
    return error / largest;
}

/* Microseconds of a call, from one event of the stream to another. */
static double mean_time(const launched *work, int calls)
{
    cudaEvent_t start, stop;
    float ms;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaEventRecord(start, work->stream));
    for (int c = 0; c < calls; c++)
        work->launch(work->user);
    CUDA(cudaEventRecord(stop, work->stream));
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    return 1e3 * (double)ms / calls;
}

/* The median of 15 means of 20 back-to-back calls, or 3 of 1 of long ones. */
static double median_time(const launched *work)
{
    const int large = mean_time(work, 1) > 20e3, repeats = large ? 3 : 15;
    double times[15];
    for (int r = 0; r < repeats; r++)
        times[r] = mean_time(work, large ? 1 : 20);
    qsort(times, (size_t)repeats, sizeof times[0], ascending);
    return times[repeats / 2];
}

static double factorization_time(const job *j)
{
    const launched work = {j->stream, launch, j};
    return median_time(&work);
}

/* The critical path: from the task that ended last, each time to the one that ended last of those
 * that it waited for.  Its tasks by kinds, how long they took, and how long after the one before
 * they began, when they had what they waited for but no block. */
static void find_path(const factor_program *g, const uint64_t *times)
{
    int32_t *raised = malloc(sizeof *raised * (size_t)g->words + 4),
            *before = malloc(sizeof *before * (size_t)g->tasks + 4);
    double busy[FACTOR_KINDS] = {0}, gap[FACTOR_KINDS] = {0};
    int count[FACTOR_KINDS] = {0};
    int32_t last = 0;
    must(raised && before, "no memory");
    for (int64_t w = 0; w < g->words; w++)
        raised[w] = -1;
    for (int64_t q = 0; q < g->tasks; q++) {
        const int32_t t = g->by_level[q];
        const factor_task *task = g->task + t;
        const factor_front *f = g->front + task->front;
        before[t] = -1;
#define LATER(word) \
    do { \
        const int32_t other_ = (word) >= 0 ? raised[word] : -1; \
        if (other_ >= 0 && (before[t] < 0 || times[2 * other_ + 1] > times[2 * before[t] + 1])) \
            before[t] = other_; \
    } while (0)
        if (task->kind == FACTOR_SMALL || task->kind == FACTOR_TINY) {
            const int is_tiny = task->kind == FACTOR_TINY;
            for (int32_t r = 0; r < (is_tiny ? task->j : 1); r++) {
                const int32_t first = is_tiny ? g->range[task->i + r].first : task->i,
                              end = is_tiny ? g->range[task->i + r].end : task->j;
                for (int32_t s = first; s < end; s++)
                    for (int32_t c = 0; c < g->front[s].children; c++)
                        LATER(g->child[g->front[s].child + c].word);
                raised[g->tiles + first] = t;
            }
            continue;
        }
        for (int32_t w = 0; w < FACTOR_WAITS; w++)
            LATER(factor_wait_of(f, task, w).word);
        for (int32_t c = 0; factor_is_gated(task) && c < f->children; c++)
            LATER(g->child[f->child + c].word);
        for (int32_t w = 0; w < 2; w++)
            if (factor_tell_of(f, task, w).word >= 0)
                raised[factor_tell_of(f, task, w).word] = t;
        if (factor_is_contribution(task)) {
            int32_t *r = raised + g->tiles + task->front;
            *r = *r < 0 || times[2 * t + 1] > times[2 * *r + 1] ? t : *r;
        }
#undef LATER
    }
    for (int32_t t = 0; t < (int32_t)g->tasks; t++)
        last = times[2 * t + 1] > times[2 * last + 1] ? t : last;
    for (int32_t t = last; t >= 0; t = before[t]) {
        const int32_t p = before[t];
        const double from = p < 0 ? (double)times[2 * t] : (double)times[2 * p + 1],
                     begin = fmax((double)times[2 * t], from);
        const factor_kind kind = factor_kind_of(g->task + t);
        count[kind]++;
        busy[kind] += 1e-3 * ((double)times[2 * t + 1] - begin);
        gap[kind] += 1e-3 * (begin - from);
    }
    printf("  critical path, number: us at work + before it:");
    for (int kind = 0; kind < FACTOR_KINDS; kind++)
        if (count[kind])
            printf(" %s %d: %.0f + %.0f,", factor_profile_kind((libsolver_factor_task_kind)kind),
                   count[kind], busy[kind], gap[kind]);
    printf("\n");
    free(raised);
    free(before);
}

/* Where the time goes: blocks' time by kind, and what the levels add by the kind of the task that
 * ends last in each.  Of three factorizations the last: the first ones wake the device up. */
static void print_trace(job *j)
{
    const factor_program *g = &j->program;
    uint64_t *times = malloc(2 * sizeof *times * (size_t)g->tasks + 8);
    libsolver_factor_task *task = malloc(sizeof *task * (size_t)g->tasks + 8);
    factor_profile p;
    message why = {0};
    must(times && task, "no memory");
    for (int r = 0; r < 3; r++)
        must(device_factorizer_timed(&j->f, g, &j->places, times, &why) == LIBSOLVER_OK, why.text);
    factor_trace(g, times, task);
    must(factor_profile_make(task, g->tasks, &p), "no memory");
    for (int kind = 0; kind < FACTOR_KINDS; kind++) {
        const factor_kind_sum *k = &p.kind[kind];
        if (k->sum.tasks > 0)
            printf("  %-13s %8ld tasks, mean %7.2f us, longest %7.2f, %8.2f Gflop, %5.1f Gflop/s a "
                   "block; last of %4ld levels of %8.1f us together\n",
                   factor_profile_kind((libsolver_factor_task_kind)kind), (long)k->sum.tasks,
                   1e6 * k->sum.busy / (double)k->sum.tasks, 1e6 * k->sum.longest,
                   1e-9 * k->sum.flops, 1e-9 * k->sum.flops / k->sum.busy, (long)k->levels,
                   1e6 * k->added);
    }
    printf("  the longest tasks of all levels one after the other: %.1f us\n", 1e6 * p.chain);
    uint64_t begin = UINT64_MAX, end = 0, busy = 0;
    for (int64_t t = 0; t < g->tasks; t++) {
        begin = times[2 * t] < begin ? times[2 * t] : begin;
        end = times[2 * t + 1] > end ? times[2 * t + 1] : end;
        busy += times[2 * t + 1] - times[2 * t];
    }
    printf("  from the first task to the last %.1f us, with %.1f blocks at work in the mean\n",
           1e-3 * (double)(end - begin), (double)busy / (double)(end - begin));
    find_path(g, times);
    factor_profile_free(&p);
    free(task);
    free(times);
}

/* Microseconds with a launch for each level; the panels must be the same, bit for bit. */
static double time_by_levels(job *j)
{
    const size_t bytes = sizeof(double) * (size_t)j->program.panel_scalars;
    double *one = malloc(bytes + 8), *other = malloc(bytes + 8);
    must(one && other, "no memory");
    CUDA(cudaMemcpy(one, j->places.panel, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaMemset(j->places.panel, 0xff, bytes));
    j->places.by_levels = 1;
    const double us = factorization_time(j);
    j->places.by_levels = 0;
    CUDA(cudaMemcpy(other, j->places.panel, bytes, cudaMemcpyDeviceToHost));
    for (int32_t q = 0; q < j->program.nodes; q++) {
        const factor_front *f = j->program.front + q;
        for (int32_t c = 0; c < f->k; c++)
            must(!memcmp(one + f->panel + (int64_t)c * f->ld + c,
                         other + f->panel + (int64_t)c * f->ld + c,
                         sizeof(double) * (size_t)(f->m - c)),
                 "by levels the bits are others");
    }
    free(one);
    free(other);
    return us;
}

/* Median milliseconds of a refactorization that leaves the factor ready to be solved with. */
static double ready_time(libsolver_factor *f, const libsolver_matrix *a)
{
    double times[15];
    int count = 0;
    for (double begin = now(); count < 3 || (count < 15 && now() - begin < 1); count++) {
        const double start = now();
        const libsolver_status status = libsolver_refactorize(f, a);
        times[count] = now() - start;
        must(status == LIBSOLVER_OK, libsolver_factor_message(f));
    }
    qsort(times, (size_t)count, sizeof times[0], ascending);
    return 1e3 * times[count / 2];
}

typedef struct without_wait {
    libsolver_factor *f;
    const libsolver_matrix *a;
    libsolver_status *status; /* in device memory */
} without_wait;

static void refactorize_async(const void *call_)
{
    const without_wait *call = call_;
    must(libsolver_refactorize_async(call->f, call->a, call->status) == LIBSOLVER_OK,
         libsolver_factor_message(call->f));
}

/* Milliseconds of one that nobody waits for, by the stream; the last one's status is looked at. */
static double async_time(libsolver_factor *f, const libsolver_matrix *there, cudaStream_t stream)
{
    libsolver_status status = LIBSOLVER_CUDA;
    const without_wait call = {f, there, to_device(&status, sizeof status)};
    const launched work = {stream, refactorize_async, &call};
    refactorize_async(&call);
    const double us = median_time(&work);
    CUDA(cudaMemcpy(&status, call.status, sizeof status, cudaMemcpyDeviceToHost));
    must(status == LIBSOLVER_OK, "a factor without a wait is not there");
    CUDA(cudaFree(call.status));
    return 1e-3 * us;
}

/* Of a refined solve, componentwise. */
static double solve_error(libsolver_factor *f, const triplets *a)
{
    double *b = malloc(sizeof(double) * (size_t)a->n), *x = malloc(sizeof(double) * (size_t)a->n);
    must(b && x, "no memory");
    for (int32_t i = 0; i < a->n; i++)
        b[i] = 1 + i % 7;
    const libsolver_vectors
        vb = {.values = b, .rows = a->n, .columns = 1, .ld = a->n, .type = LIBSOLVER_D},
        vx = {.values = x, .rows = a->n, .columns = 1, .ld = a->n, .type = LIBSOLVER_D};
    must(libsolver_solve(f, &vb, &vx) == LIBSOLVER_OK, libsolver_factor_message(f));
    const double error = componentwise_error(a, 1, b, x);
    free(b);
    free(x);
    return error;
}

static void print_ready(const problem *p)
{
    const libsolver_matrix a = triplets_view(&p->a);
    libsolver_matrix there = a;
    there.pointers = there.indices = NULL;
    libsolver_matrix here = there;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    there.values = to_device(a.values, sizeof(double) * (size_t)a.nnz);
    there.place = LIBSOLVER_DEVICE;
    printf("  ready, ms:");
    for (int few = 1; few >= 0; few--) {
        libsolver_factor *f =
            factor_of(p, few ? LIBSOLVER_PURPOSE_FEW : LIBSOLVER_PURPOSE_DEFAULT, stream);
        libsolver_factor_info info;
        libsolver_info(f, &info);
        must(info.backend_factorize == LIBSOLVER_BACKEND_GPU, "it was factorized on the CPU");
        const double on_host = ready_time(f, &here), on_device = ready_time(f, &there),
                     error = solve_error(f, &p->a), async = async_time(f, &there, stream);
        printf(
            " %s solves %.3f (values on the host %.3f, without a wait %.3f; errors %.0e, %.0e)%s",
            few ? "few" : "ordinary", on_device, on_host, async, error, solve_error(f, &p->a),
            few ? "," : "\n");
        libsolver_factor_free(f);
    }
    CUDA(cudaFree((void *)there.values));
    CUDA(cudaStreamDestroy(stream));
}

/* Times for each crowd, and in it for three bucket parts. */
static void sweep(job *j, const factor_tuning *tuning)
{
    environment *env = &j->factor->context->env;
    message why = {0};
    static const double buckets[] = {.002, .02, .1};
    for (int crowd = FACTOR_SPARSE; crowd <= FACTOR_DENSE; crowd++)
        for (int b = 0; b < 3; b++) {
            factor_tuning t = *tuning;
            factor_program g;
            t.bucket_part = buckets[b];
            must(factor_program_build(env, &j->plan.fronts, LIBSOLVER_D, &t, &g, &why) ==
                     LIBSOLVER_OK,
                 why.text);
            must(device_factorizer_load(&j->f, &g, &j->plan.fronts, LIBSOLVER_D, &why) ==
                     LIBSOLVER_OK,
                 why.text);
            factor_program_free(&env->memory, &j->program);
            g.crowd = (factor_crowd)crowd;
            j->program = g;
            const double us = factorization_time(j);
            printf(" %s%.1f", b == 0 ? crowd == FACTOR_SPARSE ? "  sweep: " : "| " : "", us);
        }
    printf("  error %.1e\n", error_of(j));
}

static void measure(const char *name, const factor_tuning *tuning, int traced, int is_alone)
{
    job j = {0};
    message why = {0};
    cholesky_outcome outcome;
    factorize_on_cpu(&j, name);
    prepare(&j, tuning);
    launch(&j);
    must(device_factorizer_finish(&j.f, &j.program, &outcome, &why) == LIBSOLVER_OK, why.text);
    const double error = error_of(&j), us = factorization_time(&j), again = error_of(&j),
                 flops = j.factor->analysis->forest.factor_flops;
    printf(
        "%-22s %9.1f us  %6.2f TF/s, by levels %9.1f us | error %.1e (timed %.1e)%s | levels %d%s "
        "tasks %ld tiled fronts %d of %d | L %.2fM arena %.2fM | program %.2f ms\n",
        j.p.name, us, 1e-6 * flops / us, time_by_levels(&j), error, again,
        outcome.failed < j.program.n ? " BREAKDOWN" : "", j.program.levels,
        j.program.crowd == FACTOR_SPARSE  ? " sparse"
        : j.program.crowd == FACTOR_DENSE ? " dense"
                                          : "",
        (long)j.program.tasks, j.program.tiled, j.program.nodes,
        1e-6 * (double)j.program.panel_scalars, 1e-6 * (double)j.program.arena_scalars,
        1e3 * j.plan_seconds);
    if (traced)
        print_trace(&j);
    if (!is_alone)
        print_ready(&j.p);
    if (traced > 1)
        sweep(&j, tuning);
    fflush(stdout);
    CUDA(cudaFree((void *)j.places.values));
    CUDA(cudaFree(j.places.panel));
    device_factorizer_drop(&j.f);
    CUDA(cudaStreamDestroy(j.stream));
    memory *m = &j.factor->context->env.memory;
    factor_program_free(m, &j.program);
    owned_tree_free(m, &j.tree);
    cpu_backend_d.destroy(j.cpu);
    libsolver_factor_free(j.factor);
    problem_free(&j.p);
}

int main(int argc, char **argv)
{
    factor_tuning tuning = {.small_rows = INT32_MAX,
                            .blocks = 264,
                            .bucket_part = .02,
                            .run_seconds = 15e-6,
                            .run_part = 5e-4,
                            .apart = 1,
                            .wide = 24,
                            .together = 16,
                            .crowded = 528};
    int traced = 0, is_alone = 0, k = 1;
    for (; k < argc && argv[k][0] == '-'; k++) {
        must(strchr("txaqj", argv[k][1]) || k + 1 < argc, "usage: see bench/factorize.c");
        switch (argv[k][1]) {
        case 't':
            traced = 1;
            break;
        case 'x':
            traced = 2;
            break;
        case 'a':
            is_alone = 1;
            break;
        case 'q':
            is_quasi_definite = 1;
            break;
        case 's':
            tuning.small_rows = atoi(argv[++k]);
            break;
        case 'r':
            tuning.run_seconds = 1e-6 * atof(argv[++k]);
            break;
        case 'b':
            tuning.bucket_part = atof(argv[++k]);
            break;
        case 'p':
            tuning.run_part = atof(argv[++k]);
            break;
        case 'j':
            tuning.apart = 0;
            break;
        case 'w':
            tuning.wide = atoi(argv[++k]);
            break;
        case 'g':
            tuning.together = atoi(argv[++k]);
            break;
        default:
            must(0, argv[k]);
        }
    }
    for (; k < argc; k++)
        measure(argv[k], &tuning, traced, is_alone);
    return 0;
}
