/* bench/batch.c: many systems of one pattern together, beside one after the other
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_batch [-c] [-q] [-n COUNT] PROBLEM...   PROBLEM: as for the tool (lap2d:30, ..., or
 * a file), positive definite; -q: quasi-definite, the signs of the pivots being those of the
 * diagonal
 *
 * COUNT systems D A D with random D.  us for each item: refactorize, solve (one pass), check
 * (backward errors) and refine, of a batch whose values and vectors lie in device memory (-c: the
 * CPU backend, host memory); then refactorize and solve of one factor, for a tenth of the items in
 * turn.  Calls wait for their end; medians of REPEATS.  error: the largest componentwise backward
 * error of the x that were timed, over all items, before and after refinement, from the matrices
 * alone. */
#include "bench/signs.h"
#include "bench/stream_times.h"
#include "cli/problem.h"
#include "solver/libsolver_batch.h"
#include <string.h>
#include <time.h>

typedef struct job {
    int on_cpu, is_quasi_definite;
    int64_t count, n, nnz;
    problem p;
    int8_t *signs;          /* NULL: positive definite */
    double *values, *b, *x; /* of all items, on the host */
    double *there[3];       /* the same where the backend has them */
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_batch *batch;
    libsolver_factor *factor;
    libsolver_batch_values a;
    libsolver_batch_vectors bs, xs;
} job;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* us for each of `items`, of a call for all of them */
static double time_of(void (*call)(job *j), job *j, int64_t items)
{
    double times[REPEATS];
    for (int r = -2; r < REPEATS; r++) {
        const double start = now();
        call(j);
        if (r >= 0)
            times[r] = 1e6 * (now() - start) / (double)items;
    }
    return median(times);
}

static void refactorize(job *j)
{
    must(libsolver_batch_refactorize(j->batch, &j->a) >= 0, libsolver_batch_message(j->batch));
}

static void solve(job *j)
{
    must(libsolver_batch_solve(j->batch, &j->bs, &j->xs) >= 0, libsolver_batch_message(j->batch));
}

static void check(job *j)
{
    const libsolver_limits none = {0};
    must(libsolver_batch_refine(j->batch, &none, &j->bs, &j->xs, NULL) >= 0,
         libsolver_batch_message(j->batch));
}

static void refine(job *j)
{
    must(libsolver_batch_refine(j->batch, NULL, &j->bs, &j->xs, NULL) >= 0,
         libsolver_batch_message(j->batch));
}

static int64_t turns(const job *j)
{
    return j->count < 10 ? j->count : j->count / 10;
}

static libsolver_matrix item_view(const job *j, int64_t i)
{
    libsolver_matrix a = triplets_view(&j->p.a);
    a.pointers = a.indices = NULL;
    a.values = j->there[0] + i * j->nnz;
    a.place = j->on_cpu ? LIBSOLVER_HOST : LIBSOLVER_DEVICE;
    return a;
}

static void refactorize_in_turn(job *j)
{
    for (int64_t i = 0; i < turns(j); i++) {
        const libsolver_matrix a = item_view(j, i);
        must(libsolver_refactorize(j->factor, &a) >= 0, libsolver_factor_message(j->factor));
    }
}

static void solve_in_turn(job *j)
{
    for (int64_t i = 0; i < turns(j); i++) {
        libsolver_vectors b = {.values = j->there[1] + i * j->n,
                               .rows = j->n,
                               .columns = 1,
                               .ld = j->n,
                               .type = LIBSOLVER_D,
                               .place = j->bs.place},
                          x = b;
        x.values = j->there[2] + i * j->n;
        must(libsolver_solve_plain(j->factor, LIBSOLVER_PART_ALL, NULL, &b, &x) >= 0,
             libsolver_factor_message(j->factor));
    }
    if (!j->on_cpu)
        CUDA(cudaDeviceSynchronize());
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void make_systems(job *j)
{
    uint64_t state = 1;
    const triplets *t = &j->p.a;
    double *d = malloc(sizeof(double) * (size_t)j->n),
           *ones = malloc(sizeof(double) * (size_t)j->n);
    j->values = malloc(sizeof(double) * (size_t)(j->nnz * j->count));
    j->b = malloc(sizeof(double) * (size_t)(j->n * j->count));
    j->x = malloc(sizeof(double) * (size_t)(j->n * j->count));
    must(d && ones && j->values && j->b && j->x, "no memory");
    for (int64_t i = 0; i < j->count; i++) {
        for (int64_t k = 0; k < j->n; k++) {
            d[k] = 0.5 + uniform(&state);
            ones[k] = 1 + 0.1 * (double)((k + i) % 7);
        }
        triplets own = *t;
        own.values = j->values + i * j->nnz;
        for (int64_t k = 0; k < j->nnz; k++)
            own.values[k] = t->values[k] * d[t->rows[k]] * d[t->columns[k]];
        must(triplets_multiply(&own, ones, 1, j->b + i * j->n), "no memory");
    }
    free(d);
    free(ones);
}

/* From the solutions and the matrices alone. */
static double worst_error(const job *j)
{
    double worst = 0;
    if (!j->on_cpu)
        CUDA(cudaMemcpy(j->x, j->there[2], sizeof(double) * (size_t)(j->n * j->count),
                        cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < j->count; i++) {
        triplets own = j->p.a;
        own.values = j->values + i * j->nnz;
        const double e = componentwise_error(&own, 1, j->b + i * j->n, j->x + i * j->n);
        worst = e > worst || isnan(e) ? e : worst;
    }
    return worst;
}

static void place(job *j)
{
    double *here[3] = {j->values, j->b, j->x};
    const int64_t size[3] = {j->nnz, j->n, j->n};
    for (int q = 0; q < 3; q++) {
        const size_t bytes = sizeof(double) * (size_t)(size[q] * j->count);
        j->there[q] = here[q];
        if (j->on_cpu)
            continue;
        CUDA(cudaMalloc((void **)&j->there[q], bytes));
        CUDA(cudaMemcpy(j->there[q], here[q], bytes, cudaMemcpyHostToDevice));
    }
    const libsolver_place place = j->on_cpu ? LIBSOLVER_HOST : LIBSOLVER_DEVICE;
    j->a = (libsolver_batch_values){.values = j->there[0], .stride = j->nnz, .place = place};
    j->bs = (libsolver_batch_vectors){
        .values = j->there[1], .stride = j->n, .columns = 1, .ld = j->n, .place = place};
    j->xs = j->bs;
    j->xs.values = j->there[2];
}

static void open_job(job *j, const char *name)
{
    failure f = {0};
    libsolver_options o;
    must(!problem_load(name, &j->p, &f), name);
    must(j->p.a.type == LIBSOLVER_D, "real matrices only");
    libsolver_matrix a = triplets_view(&j->p.a);
    j->n = a.n;
    j->nnz = a.nnz;
    make_systems(j);
    place(j);
    libsolver_options_default(&o);
    o.backend = j->on_cpu ? LIBSOLVER_BACKEND_CPU : LIBSOLVER_BACKEND_GPU;
    j->signs = j->is_quasi_definite ? signs_of(&j->p.a) : NULL;
    must(j->signs || !j->is_quasi_definite, "no memory");
    o.kind = j->signs ? LIBSOLVER_KIND_QUASI_DEFINITE : LIBSOLVER_KIND_SPD;
    o.expected_signs = j->signs;
    must(libsolver_context_create(&o, &j->context) == LIBSOLVER_OK, "no context");
    must(libsolver_analyze(j->context, &a, &o, &j->analysis) == LIBSOLVER_OK,
         libsolver_context_message(j->context));
    must(libsolver_batch_create(j->analysis, j->count, &j->batch) == LIBSOLVER_OK,
         libsolver_context_message(j->context));
    must(libsolver_factorize(j->analysis, &a, &j->factor) >= 0,
         libsolver_context_message(j->context));
}

static void close_job(job *j)
{
    for (int q = 0; q < 3 && !j->on_cpu; q++)
        cudaFree(j->there[q]);
    free(j->signs);
    free(j->values);
    free(j->b);
    free(j->x);
    libsolver_factor_free(j->factor);
    libsolver_batch_free(j->batch);
    libsolver_analysis_free(j->analysis);
    libsolver_context_free(j->context);
    problem_free(&j->p);
}

static void run(const char *name, int on_cpu, int is_quasi_definite, int64_t count)
{
    job j = {.on_cpu = on_cpu, .is_quasi_definite = is_quasi_definite, .count = count};
    libsolver_batch_info info;
    open_job(&j, name);
    libsolver_batch_query(j.batch, &info);
    const double made = time_of(refactorize, &j, count), solved = time_of(solve, &j, count),
                 before = worst_error(&j), checked = time_of(check, &j, count),
                 refined = time_of(refine, &j, count), after = worst_error(&j),
                 made_alone = time_of(refactorize_in_turn, &j, turns(&j)),
                 solved_alone = time_of(solve_in_turn, &j, turns(&j));
    printf("%s n %lld, %lld items on the %s, %.1f MB: us an item: refactorize %.3f (alone %.1f, "
           "%.0fx) solve %.3f (alone %.1f, %.0fx) check %.3f refine %.3f; error %.1e, refined "
           "%.1e\n",
           name, (long long)j.n, (long long)count,
           info.backend == LIBSOLVER_BACKEND_GPU ? "GPU" : "CPU", 1e-6 * (double)info.device_bytes,
           made, made_alone, made_alone / made, solved, solved_alone, solved_alone / solved,
           checked, refined, before, after);
    fflush(stdout);
    close_job(&j);
}

int main(int argc, char **argv)
{
    int on_cpu = 0, is_quasi_definite = 0;
    int64_t count = 1000;
    for (int k = 1; k < argc; k++)
        if (!strcmp(argv[k], "-c"))
            on_cpu = 1;
        else if (!strcmp(argv[k], "-q"))
            is_quasi_definite = 1;
        else if (!strcmp(argv[k], "-n") && k + 1 < argc)
            count = strtoll(argv[++k], NULL, 10);
        else
            run(argv[k], on_cpu, is_quasi_definite, count);
    return 0;
}
