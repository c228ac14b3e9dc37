/* examples/refinement_history.c: a factor in single precision, solutions in double accuracy, and
 * how they get there step by step
 *
 * options.mixed halves the factor and about halves the time to make it.  A solve with it is good to
 * seven digits; each refinement step, whose residual is summed in higher precision, adds about as
 * many.  libsolver_limits says how far a call goes and has room for the history of its steps.
 *
 * With the argument gpu solves and refinement run on the GPU, with a factor in double precision:
 * there is no mixed precision there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <libsolver.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 40, N = SIDE * SIDE, MOST_STEPS = 20 };

/* The five-point grid, lower triangle by columns: 4 on the diagonal, -1 to neighbours. */
static void build(int32_t *pointers, int32_t *rows, double *values)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        pointers[j] = k;
        rows[k] = j, values[k++] = 4;
        if ((j + 1) % SIDE != 0)
            rows[k] = j + 1, values[k++] = -1;
        if (j + SIDE < N)
            rows[k] = j + SIDE, values[k++] = -1;
    }
    pointers[N] = k;
}

int main(int count, char **arguments)
{
    static const char *const made_by[] = {"first solve", "plain step", "cycle of FGMRES", "repair"};
    static int32_t pointers[N + 1], rows[3 * N];
    static double values[3 * N], b[N], x[N];
    build(pointers, rows, values);
    for (int i = 0; i < N; i++)
        b[i] = 1;
    const libsolver_matrix A = {.n = N, .pointers = pointers, .indices = rows, .values = values};
    const libsolver_vectors B = {.values = b, .rows = N, .columns = 1, .ld = N},
                            X = {.values = x, .rows = N, .columns = 1, .ld = N};

    libsolver_options options;
    libsolver_options_default(&options);
    const int on_gpu = count > 1 && strcmp(arguments[1], "gpu") == 0;
    options.mixed = on_gpu ? LIBSOLVER_OFF : LIBSOLVER_ON;
    options.backend = on_gpu ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
    libsolver_factor *F;
    libsolver_status status = libsolver_factor_matrix(&A, &options, &F);

    /* as far as it goes, and what each step came to */
    libsolver_step history[MOST_STEPS + 1];
    const libsolver_limits limits = {.steps = MOST_STEPS,
                                     .until_stalled = 1,
                                     .history = history,
                                     .history_room = MOST_STEPS + 1};
    double error = 1;
    if (status >= 0)
        status = libsolver_solve_within(F, NULL, &limits, &B, &X, &error);
    if (status < 0) {
        fprintf(stderr, "refinement_history: %s\n", libsolver_factor_message(F));
        libsolver_factor_free(F);
        return 1;
    }

    libsolver_solve_info info;
    libsolver_solve_query(F, NULL, &info);
    printf("step  made by          backward error\n");
    for (int64_t k = 0; k < info.history && (k == 0 || history[k].backward_error > 1e-14); k++)
        printf("%4d  %-15s  %.1e\n", (int)k, made_by[history[k].kind], history[k].backward_error);
    printf("as far as it goes: %.1e, %s\n", error, libsolver_status_name(status));
    libsolver_factor_free(F);
    return 0;
}
