/* bench/refine.c: what the certificate and refinement cost on a device, beside the bare solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: bench_refine [-k COLUMNS] [-t TOLERANCE] PROBLEM...   PROBLEM: as for the tool (lap3d:30,
 * ..., or a file)
 *
 * plain, check, step 1, step 2: libsolver_solve_plain and libsolver_solve_async with 0, 1 and 2
 * steps, us on a stream and replayed from a graph; a step that no column needs costs its solve and
 * two empty kernels, -t 1e-30 makes them all work.  device, host: libsolver_solve on vectors there,
 * us of a waiting caller.  Medians of 15 means of 20 back-to-back calls; first use before.  error:
 * componentwise backward error of the x that was timed, from the matrix alone, beside the one
 * reported. */
#include "bench/stream_times.h"
#include "cli/problem.h"
#include "solver/libsolver.h"
#include <string.h>
#include <time.h>

#define MOST_STEPS 2

typedef struct job {
    problem p;
    libsolver_factor *factor;
    libsolver_workspace *workspace;
    cudaStream_t stream;
    libsolver_vectors b, x, host_b, host_x;
    double *error;            /* on the device, as is the next */
    libsolver_status *status; /* */
    int steps;                /* of the solve being timed; -1: a plain one */
} job;

static void launch(const void *job_)
{
    const job *j = job_;
    must((j->steps < 0
              ? libsolver_solve_plain(j->factor, LIBSOLVER_PART_ALL, j->workspace, &j->b, &j->x)
              : libsolver_solve_async(j->factor, j->workspace, j->steps, &j->b, &j->x, j->error,
                                      j->status)) >= 0,
         "a solve could not be launched");
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* us of libsolver_solve for its caller */
static double time_of_solve(const job *j, const libsolver_vectors *b, const libsolver_vectors *x)
{
    double times[REPEATS];
    for (int r = -3; r < REPEATS; r++) {
        const double start = now();
        for (int c = 0; c < CALLS; c++)
            must(libsolver_solve(j->factor, b, x) >= 0, libsolver_factor_message(j->factor));
        if (r >= 0)
            times[r] = 1e6 * (now() - start) / CALLS;
    }
    return median(times);
}

/* The x of the last launch, with its error as found and as reported, the largest over the
 * columns. */
static void print_errors(const job *j)
{
    const int64_t columns = j->b.columns;
    double reported = 0, *error = malloc(sizeof(double) * (size_t)columns);
    libsolver_status status;
    must(error != NULL, "no memory");
    CUDA(cudaStreamSynchronize(j->stream));
    CUDA(cudaMemcpy(j->host_x.values, j->x.values, sizeof(double) * (size_t)(j->x.rows * columns),
                    cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(error, j->error, sizeof(double) * (size_t)columns, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&status, j->status, sizeof status, cudaMemcpyDeviceToHost));
    for (int64_t c = 0; c < columns; c++)
        reported = fmax(reported, error[c]);
    const double found = componentwise_error(&j->p.a, columns, j->host_b.values, j->host_x.values);
    printf(" %s, error %.1e (reported %.1e)", libsolver_status_name(status), found, reported);
    free(error);
}

static void prepare(job *j, const char *name, int64_t columns, double tolerance)
{
    failure f = {0};
    libsolver_options o;
    if (problem_load(name, &j->p, &f))
        must(0, name);
    must(j->p.a.type == LIBSOLVER_D, "real matrices only");
    const libsolver_matrix a = triplets_view(&j->p.a);
    CUDA(cudaStreamCreateWithFlags(&j->stream, cudaStreamNonBlocking));
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_GPU;
    o.purpose = LIBSOLVER_PURPOSE_LATENCY;
    o.stream = j->stream;
    o.tolerance = tolerance;
    must(libsolver_factor_matrix(&a, &o, &j->factor) >= 0, libsolver_factor_message(j->factor));
    must(libsolver_workspace_create(j->factor, columns, &j->workspace) == LIBSOLVER_OK,
         libsolver_factor_message(j->factor));
    const size_t bytes = sizeof(double) * (size_t)(a.n * columns);
    j->b = j->x = (libsolver_vectors){
        .rows = a.n, .columns = columns, .ld = a.n, .type = LIBSOLVER_D, .place = LIBSOLVER_DEVICE};
    j->host_b = j->host_x =
        (libsolver_vectors){.rows = a.n, .columns = columns, .ld = a.n, .type = LIBSOLVER_D};
    j->host_b.values = malloc(bytes + 8);
    double *x = j->host_x.values = malloc(bytes + 8);
    must(j->host_b.values && x, "no memory");
    for (int64_t k = 0; k < a.n * columns; k++)
        x[k] = 1 + 0.1 * (double)((k % a.n + k / a.n) % 7);
    must(triplets_multiply(&j->p.a, x, columns, j->host_b.values), "no memory");
    CUDA(cudaMalloc(&j->b.values, bytes + 8));
    CUDA(cudaMalloc(&j->x.values, bytes + 8));
    CUDA(cudaMalloc((void **)&j->error, sizeof(double) * (size_t)columns));
    CUDA(cudaMalloc((void **)&j->status, sizeof(libsolver_status)));
    CUDA(cudaMemcpy(j->b.values, j->host_b.values, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
}

static void dismiss(job *j)
{
    CUDA(cudaFree(j->b.values));
    CUDA(cudaFree(j->x.values));
    CUDA(cudaFree(j->error));
    CUDA(cudaFree(j->status));
    free(j->host_b.values);
    free(j->host_x.values);
    libsolver_workspace_free(j->workspace);
    libsolver_factor_free(j->factor);
    CUDA(cudaStreamDestroy(j->stream));
    problem_free(&j->p);
}

static void measure(const char *name, int64_t columns, double tolerance)
{
    job j = {0};
    libsolver_solve_info info;
    prepare(&j, name, columns, tolerance);
    printf("%-22s k %ld ", j.p.name, (long)columns);
    const launched work = {j.stream, launch, &j};
    for (j.steps = -1; j.steps <= MOST_STEPS; j.steps++) {
        launch(&j);
        const double stream = stream_time(&work, NULL), replayed = graph_time(&work);
        if (j.steps <= 0)
            printf("| %s %.1f graph %.1f ", j.steps < 0 ? "plain" : "check", stream, replayed);
        else
            printf("| step %d %.1f graph %.1f ", j.steps, stream, replayed);
        if (j.steps >= 0)
            print_errors(&j);
    }
    const double device = time_of_solve(&j, &j.b, &j.x),
                 host = time_of_solve(&j, &j.host_b, &j.host_x);
    libsolver_solve_query(j.factor, NULL, &info);
    printf("| device %.1f host %.1f us, %d steps\n", device, host, info.steps);
    fflush(stdout);
    dismiss(&j);
}

int main(int argc, char **argv)
{
    int64_t columns = 1;
    double tolerance = 0;
    for (int k = 1; k < argc; k++)
        if (!strcmp(argv[k], "-k") && k + 1 < argc)
            columns = atol(argv[++k]);
        else if (!strcmp(argv[k], "-t") && k + 1 < argc)
            tolerance = atof(argv[++k]);
        else
            measure(argv[k], columns, tolerance);
    return 0;
}
