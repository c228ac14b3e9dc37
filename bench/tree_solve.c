/* bench/tree_solve.c: the one-launch solve on a device, its time and where it goes
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_tree_solve [-m FACTOR] [-s STEP] [-w RATE] [-k COLUMNS] [-p] [-q] [-h] [-f]
 *                         [-r TIMES] [-t NAME=VALUE] PROBLEM...
 * PROBLEM: as for the tool (lap3d:30, ..., or a file)
 *
 * -s, -w: us from group to group and TB/s by which layers are chosen; -m: most entries of the
 * inverses, in entries of L (0, the default: no limit); -k: right-hand sides; -p: a profile by
 * levels (libsolver bench --profile draws it); -t: task_cost, most_parts, direct_sources, sum_outs,
 * twice, strip_bytes (see gpu/plan/plan.h), largest_group, largest_part or solves (see
 * gpu/packed/prepare.h); a problem named again keeps its factor: tune_tree_solve.py makes use of
 * both; -f: few solves: with the factor as it is, nothing prepared; -q: with one solve's bits
 * compared over many launches; -h: the inverses computed on the host; -r: packed so many times (3):
 * the first is planned, the others keep its plan.  Times are medians of 15 means of 20 back-to-back
 * calls, on device pointers.  error: componentwise backward error of the timed solution, unrefined,
 * the largest over the columns. */
#define PREC_d /* of the factors */
#include "bench/stream_times.h"
#include "cli/problem.h"
#include "cli/profile.h"
#include "gpu/plan/plan.h"
#include "gpu/packed/tree_solver.h"
#include "base/owned_tree.h"
#include "solver/gpu/numeric.h"
#include "solver/phases/objects.h"
#include <string.h>

typedef struct job {
    problem p;
    libsolver_factor *factor;
    owned_tree tree;
    tree_solver *solver;
    tree_solver_info first; /* of the first of several packings */
    tree_workspace *workspace;
    libsolver_vectors b, x; /* on the device */
    double *host_b, *host_x;
    cudaStream_t stream;
} job;

static void solve_once(const void *job_)
{
    const job *j = job_;
    must(tree_solve(j->solver, j->workspace, j->stream, &j->b, &j->x, NULL) == LIBSOLVER_OK,
         "a solve could not be launched");
}

static double error_of(const job *j)
{
    return componentwise_error(&j->p.a, j->b.columns, j->host_b, j->host_x);
}

static void fetch(const job *j)
{
    message why = {0};
    must(tree_solve_check(j->solver, j->workspace, j->stream, &why) == LIBSOLVER_OK, why.text);
    CUDA(cudaMemcpy(j->host_x, j->x.values, sizeof(double) * (size_t)(j->b.rows * j->b.columns),
                    cudaMemcpyDeviceToHost));
}

/* The bits of many launches are those of the first. */
static void compare_bits(const job *j, int launches)
{
    const size_t bytes = sizeof(double) * (size_t)(j->b.rows * j->b.columns);
    double *first = malloc(bytes);
    must(first != NULL, "no memory");
    fetch(j);
    memcpy(first, j->host_x, bytes);
    int different = 0;
    for (int l = 0; l < launches; l++) {
        solve_once(j);
        if (l % 10 == 9) {
            fetch(j);
            different += memcmp(first, j->host_x, bytes) != 0;
        }
    }
    printf("  %d launches, every tenth compared: %d different\n", launches, different);
    free(first);
}

static void print_profile(const job *j, const tree_solver_info *info)
{
    message why = {0};
    profile p;
    libsolver_task *task = malloc((size_t)(info->tasks + 1) * sizeof *task);
    must(task != NULL, "no memory");
    must(tree_solve_traced(j->solver, j->workspace, &j->b, &j->x, task, &why) == LIBSOLVER_OK,
         why.text);
    must(profile_make(task, info->tasks, NAN, &p), "no memory");
    printf("  sweep     height kind   tasks   begin     end    adds | means us: staging gathering "
           "computing\n");
    for (const profile_row *r = p.row; r < p.row + p.rows; r++)
        printf("  %-9s %6d %-5s %6ld %7.2f %7.2f %7.2f | %8.2f %8.2f %8.2f\n",
               r->backward ? "backward" : "forward", r->height, profile_kind(r->kind),
               (long)r->of.tasks, 1e6 * r->of.begin, 1e6 * r->of.end, 1e6 * r->of.added,
               1e6 * r->staging, 1e6 * r->gathering, 1e6 * r->computing);
    profile_free(&p);
    free(task);
}

/* The kernels' time beside the time of reading L and writing the inverses at the rate of copies,
 * 4.3 TB/s. */
static void print_preparation(const char *which, const tree_solver_info *info)
{
    const double copied = 8e-12 / 4.3 * (double)(info->factor_entries + info->entries);
    printf("  %s prepared in %.2f ms: plan %.2f, load %.2f, tables %.2f, invert %.3f (%.1f times "
           "the "
           "copy of L to the inverses), rest %.2f; "
           "%.1f MB on the device for it, allocated %ld times so far; plans made %ld\n",
           which, 1e3 * info->seconds, 1e3 * info->plan_seconds, 1e3 * info->load_seconds,
           1e3 * info->table_seconds, 1e3 * info->invert_seconds, info->invert_seconds / copied,
           1e3 * (info->seconds - info->plan_seconds - info->load_seconds - info->table_seconds -
                  info->invert_seconds),
           1e-6 * (double)info->invert_bytes, (long)info->allocations, (long)info->plans);
}

static void factorize(job *j, const char *name)
{
    failure f = {0};
    if (problem_load(name, &j->p, &f))
        must(0, name);
    must(j->p.a.type == LIBSOLVER_D, "real matrices only");
    const libsolver_matrix a = triplets_view(&j->p.a);
    libsolver_options on_device; /* with fronts, which a small factor for the CPU may not have */
    libsolver_options_default(&on_device);
    on_device.backend = LIBSOLVER_BACKEND_GPU;
    must(libsolver_factor_matrix(&a, &on_device, &j->factor) >= 0, "no factor");
    const device_numeric *packed = j->factor->numeric;
    message why = {0};
    must(gpu_bring_factor_d(packed, &why) == LIBSOLVER_OK, why.text); /* it was made there */
    must(cpu_backend_d.view_tree(packed->cpu, &j->tree, NULL) == LIBSOLVER_OK, "no memory");
}

static void prepare(job *j, const tree_solver_options *options, int64_t columns, int times)
{
    environment *env = &j->factor->context->env;
    message why = {0};
    must(tree_solver_create(env, options, &j->solver, &why) == LIBSOLVER_OK, why.text);
    for (int t = 0; t < times; t++) {
        must(tree_solver_pack(j->solver, &j->tree.view, &why) == LIBSOLVER_OK, why.text);
        if (t == 0)
            tree_solver_query(j->solver, &j->first);
    }
    must(tree_workspace_create(j->solver, columns, &j->workspace, &why) == LIBSOLVER_OK, why.text);
    const int64_t n = j->p.a.n;
    const size_t bytes = sizeof(double) * (size_t)(n * columns);
    j->host_b = malloc(bytes + 8);
    j->host_x = malloc(bytes + 8);
    must(j->host_b && j->host_x, "no memory");
    for (int64_t k = 0; k < n * columns; k++)
        j->host_x[k] = 1 + 0.1 * (double)((k % n + k / n) % 7);
    must(triplets_multiply(&j->p.a, j->host_x, columns, j->host_b), "no memory");
    j->stream = tree_solver_stream(j->solver);
    j->b = j->x = (libsolver_vectors){
        .rows = n, .columns = columns, .ld = n, .type = LIBSOLVER_D, .place = LIBSOLVER_DEVICE};
    CUDA(cudaMalloc(&j->b.values, bytes + 8));
    CUDA(cudaMalloc(&j->x.values, bytes + 8));
    CUDA(cudaMemset(j->x.values, 0xff, bytes)); /* NaN */
    CUDA(cudaMemcpy(j->b.values, j->host_b, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
}

static void unprepare(job *j)
{
    CUDA(cudaFree(j->b.values));
    CUDA(cudaFree(j->x.values));
    tree_workspace_free(j->workspace);
    tree_solver_free(j->solver);
    free(j->host_b);
    free(j->host_x);
}

static void dismiss(job *j)
{
    if (j->factor)
        owned_tree_free(&j->factor->context->env.memory, &j->tree);
    libsolver_factor_free(j->factor);
    problem_free(&j->p);
    *j = (job){0};
}

/* What -t sets, NAME=VALUE. */
static void tune(const char *text, tree_solver_options *options, plan_tuning *tuning)
{
    const char *value = strchr(text, '=');
    const size_t length = value ? (size_t)(value - text) : 0;
    must(value != NULL, "-t NAME=VALUE");
    const int64_t number = atol(value + 1);
    const struct {
        const char *name;
        int64_t *wide;
        int32_t *narrow;
    } known[] = {{"task_cost", &tuning->task_cost, NULL},
                 {"most_parts", NULL, &tuning->most_parts},
                 {"direct_sources", NULL, &tuning->direct_sources},
                 {"sum_outs", NULL, &tuning->sum_outs},
                 {"twice", NULL, &tuning->twice},
                 {"strip_bytes", &tuning->strip_bytes, NULL},
                 {"largest_group", &options->largest_group, NULL},
                 {"largest_part", &options->largest_part, NULL},
                 {"solves", &options->solves, NULL}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == length && !strncmp(known[k].name, text, length)) {
            if (known[k].wide)
                *known[k].wide = number;
            else
                *known[k].narrow = (int32_t)number;
            return;
        }
    must(0, text);
}

/* All that is told of one problem, packed with these options. */
static void measure(job *j, const tree_solver_options *options, int64_t columns, int times,
                    int profiled, int bits)
{
    prepare(j, options, columns, times);
    tree_solver_info info;
    tree_solver_query(j->solver, &info);
    solve_once(j);
    fetch(j);
    const launched work = {j->stream, solve_once, j};
    const double error = error_of(j), stream = stream_time(&work, NULL),
                 replayed = graph_time(&work);
    fetch(j);
    printf("%-22s k %ld  stream %7.2f graph %7.2f us | error %.1e (timed %.1e) | L %.2fM inverses "
           "%.2fM read %.1f MB "
           "groups %d heights %d levels %d guarded %d growth %.0e | prepared in %.3f s\n",
           j->p.name, (long)columns, stream, replayed, error, error_of(j),
           1e-6 * (double)info.factor_entries, 1e-6 * (double)info.entries,
           1e-6 * (double)info.bytes_read, info.groups, info.heights, info.levels, info.guarded,
           info.growth, info.seconds);
    print_preparation("first", &j->first);
    if (times > 1)
        print_preparation("again", &info);
    if (bits)
        compare_bits(j, bits);
    if (profiled)
        print_profile(j, &info);
    fflush(stdout);
    unprepare(j);
}

int main(int argc, char **argv)
{
    plan_tuning tuning = plan_tuned;
    tree_solver_options options = {.tuning = &tuning};
    int64_t columns = 1;
    int profiled = 0, bits = 0, times = 3;
    const char *name = ""; /* of the problem at hand */
    job j = {0};
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "-m") && k + 1 < argc)
            options.entries_factor = atof(argv[++k]);
        else if (!strcmp(argv[k], "-s") && k + 1 < argc)
            options.step = 1e-6 * atof(argv[++k]);
        else if (!strcmp(argv[k], "-w") && k + 1 < argc)
            options.bytes_per_second = 1e12 * atof(argv[++k]);
        else if (!strcmp(argv[k], "-k") && k + 1 < argc)
            columns = atol(argv[++k]);
        else if (!strcmp(argv[k], "-t") && k + 1 < argc)
            tune(argv[++k], &options, &tuning);
        else if (!strcmp(argv[k], "-p"))
            profiled = 1;
        else if (!strcmp(argv[k], "-q"))
            bits = 1000;
        else if (!strcmp(argv[k], "-h"))
            options.invert_on_host = 1;
        else if (!strcmp(argv[k], "-f"))
            options.substitute = 1;
        else if (!strcmp(argv[k], "-r") && k + 1 < argc)
            times = atoi(argv[++k]);
        else {
            if (strcmp(name, argv[k]) != 0) {
                dismiss(&j);
                factorize(&j, name = argv[k]);
            }
            measure(&j, &options, columns, times, profiled, bits);
        }
    }
    dismiss(&j);
    return 0;
}
