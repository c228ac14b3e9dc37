/* examples/scenarios.c: many systems of one pattern together: a network in several scenarios
 *
 * Four nodes in a line, each joined to the ground.  Scenario s has the lines weakened by a factor;
 * in one of them a fault turns a line's sign, and its matrix is not positive definite: the others
 * do not mind.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <libsolver_batch.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4, ENTRIES = 7, SCENARIOS = 5, FAULTY = 3 };

static void check(libsolver_status status, const char *call, const char *message)
{
    if (status >= 0)
        return;
    fprintf(stderr, "scenarios: %s: %s. %s\n", call, libsolver_status_sentence(status), message);
    exit(1);
}

int main(void)
{
    /* lower triangle by columns: the diagonal, and the next node */
    static const int32_t pointers[N + 1] = {0, 2, 4, 6, 7}, rows[ENTRIES] = {0, 1, 1, 2, 2, 3, 3};
    double values[SCENARIOS][ENTRIES], x[SCENARIOS][N];
    uint8_t active[SCENARIOS];
    for (int s = 0; s < SCENARIOS; s++) {
        const double line = s == FAULTY ? -1 : 1.0 / (1 + s);
        for (int k = 0; k < ENTRIES; k++)
            values[s][k] = k % 2 ? -line : 0.5 + (k == 0 || k == ENTRIES - 1 ? 1 : 2) * line;
        for (int i = 0; i < N; i++)
            x[s][i] = i == 0; /* one unit is fed in at the first node */
    }

    libsolver_options options;
    libsolver_options_default(&options);
    options.kind = LIBSOLVER_KIND_SPD;
    options.backend = LIBSOLVER_BACKEND_CPU; /* _GPU: all scenarios in one launch */
    libsolver_context *context;
    libsolver_analysis *S;
    libsolver_batch *B;
    const libsolver_matrix A = {.n = N, .pointers = pointers, .indices = rows};
    check(libsolver_context_create(&options, &context), "context_create", "");
    check(libsolver_analyze(context, &A, &options, &S), "analyze",
          libsolver_context_message(context));
    check(libsolver_batch_create(S, SCENARIOS, &B), "batch_create",
          libsolver_context_message(context));

    const libsolver_batch_values VALUES = {.values = values, .stride = ENTRIES};
    const libsolver_batch_vectors X = {.values = x, .stride = N, .columns = 1, .ld = N};
    libsolver_batch_item items[SCENARIOS];
    if (libsolver_batch_refactorize(B, &VALUES) < 0)
        printf("%s\n", libsolver_batch_message(B));

    /* go on with those that can be */
    libsolver_batch_items(B, items);
    for (int s = 0; s < SCENARIOS; s++)
        active[s] = items[s].status >= 0;
    check(libsolver_batch_set_active(B, active, LIBSOLVER_HOST), "set_active", "");
    check(libsolver_batch_solve(B, &X, &X), "solve", libsolver_batch_message(B));

    for (int s = 0; s < SCENARIOS; s++)
        if (active[s])
            printf("scenario %d: %.4f %.4f %.4f %.4f\n", s, x[s][0], x[s][1], x[s][2], x[s][3]);
        else
            printf("scenario %d: %s at row %" PRId64 "\n", s,
                   libsolver_status_name(items[s].status), items[s].failed_row);

    libsolver_batch_free(B);
    libsolver_analysis_free(S);
    libsolver_context_free(context);
    return 0;
}
