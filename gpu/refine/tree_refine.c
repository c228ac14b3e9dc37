/* gpu/refine/tree_refine.c: refinement on a device with a packed factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/refine/tree_refine.h"
#include "base/type.h"
#include "gpu/solve/device_solver.h"
#include "gpu/device/packed.h"
#include "gpu/refine/residual.h"

struct tree_matrix {
    environment *env;
    const tree_solver *solver;
    device_matrix device;
};

struct tree_refiner {
    const tree_matrix *a;
    tree_workspace *solves;
    device_refinement device;
    device_staging staging; /* x on its way from or to the host; taken by the first */
    libsolver_vectors b, x; /* of the group at hand, on the device */
};

/* ---- A --------------------------------------------------------------------------------------- */

libsolver_status tree_matrix_create(environment *env, const tree_solver *solver,
                                    libsolver_type type, int hermitian, const pattern *lower,
                                    tree_matrix **out, message *why)
{
    *out = NULL;
    if (lower->start[lower->n] > FULL_MATRIX_ENTRIES)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 entries or more on the GPU");
    full_matrix full = {0};
    tree_matrix *a = memory_zeroed(&env->memory, 1, sizeof(tree_matrix));
    if (!a || full_matrix_build(&env->memory, lower, hermitian, &full) != LIBSOLVER_OK) {
        memory_free(&env->memory, a);
        return NO_MEMORY(env, "the matrix by rows", why);
    }
    a->env = env;
    a->solver = solver;
    a->device.device = env->device;
    a->device.stream = tree_solver_stream(solver);
    const libsolver_status status = device_matrix_open(&a->device, &full, type, why);
    full_matrix_free(&env->memory, &full);
    if (status != LIBSOLVER_OK)
        memory_free(&env->memory, a);
    else
        *out = a;
    return status;
}

void tree_matrix_free(tree_matrix *a)
{
    if (!a)
        return;
    device_matrix_close(&a->device);
    memory_free(&a->env->memory, a);
}

int64_t tree_matrix_bytes(const tree_matrix *a)
{
    return a->device.bytes;
}

libsolver_status tree_matrix_set(tree_matrix *a, const void *values, int follows, message *why)
{
    return device_matrix_set(&a->device, values, follows, why);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

libsolver_status tree_refiner_create(const tree_matrix *a, int64_t columns, tree_workspace *solves,
                                     tree_refiner **out, message *why)
{
    *out = NULL;
    memory *m = &a->env->memory;
    tree_refiner *r = memory_zeroed(m, 1, sizeof(tree_refiner));
    if (!r)
        return NO_MEMORY(a->env, "refinement", why);
    r->a = a;
    r->solves = solves;
    r->staging.device = a->device.device;
    const int32_t most = columns < REFINE_COLUMNS ? (int32_t)columns : REFINE_COLUMNS;
    const libsolver_status status = device_refinement_open(&a->device, most, &r->device, why);
    if (status != LIBSOLVER_OK)
        memory_free(m, r);
    else
        *out = r;
    return status;
}

void tree_refiner_free(tree_refiner *r)
{
    if (!r)
        return;
    device_refinement_close(&r->device);
    device_staging_close(&r->staging);
    memory_free(&r->a->env->memory, r);
}

int64_t tree_refiner_columns(const tree_refiner *r)
{
    return r->device.columns;
}

const libsolver_vectors *tree_refine_b(const tree_refiner *r)
{
    return &r->b;
}

const libsolver_vectors *tree_refine_x(const tree_refiner *r)
{
    return &r->x;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* n x columns scalars by columns on the device. */
static libsolver_vectors device_block(const tree_refiner *r, void *values, int64_t columns)
{
    const device_matrix *a = &r->a->device;
    return (libsolver_vectors){.values = values,
                               .rows = a->n,
                               .columns = columns,
                               .ld = a->n,
                               .type = a->type,
                               .place = LIBSOLVER_DEVICE};
}

libsolver_vectors tree_refine_residual(const tree_refiner *r)
{
    return device_block(r, r->device.residual, r->b.columns);
}

static int64_t block_bytes(const tree_refiner *r, int64_t columns)
{
    return r->a->device.n * columns * type_bytes(r->a->device.type);
}

/* A block on the host, through page-locked memory, to a place on the device. */
static libsolver_status load_host(tree_refiner *r, const libsolver_vectors *from, void *to,
                                  message *why)
{
    const device_solver *s = tree_solver_device(r->a->solver);
    device_staging way = r->staging;
    way.on_device = to;
    packed_copy(from, 0, from->columns, way.host, 1);
    return device_staging_in(s, &way, block_bytes(r, from->columns), why);
}

libsolver_status tree_refine_load(tree_refiner *r, int solve_first, const libsolver_vectors *b,
                                  const libsolver_vectors *x, message *why)
{
    const device_solver *solver = tree_solver_device(r->a->solver);
    r->b = *b;
    r->x = *x;
    if (b->place == LIBSOLVER_DEVICE)
        return b->values == x->values
                   ? device_refine_spare(&r->a->device, &r->device, NULL, b, &r->b, why)
                   : LIBSOLVER_OK;
    if (!r->staging.host)
        TRY(device_staging_open(solver, block_bytes(r, r->device.columns), &r->staging, why));
    r->b = device_block(r, r->device.spare, b->columns);
    r->x = device_block(r, r->staging.on_device, b->columns);
    TRY(load_host(r, b, r->b.values, why));
    if (solve_first)
        return LIBSOLVER_OK;
    TRY(device_refine_wait(&r->a->device, NULL, why)); /* x takes the same way */
    return load_host(r, x, r->x.values, why);
}

libsolver_status tree_refine_store(tree_refiner *r, const libsolver_vectors *x, message *why)
{
    if (x->place == LIBSOLVER_DEVICE)
        return LIBSOLVER_OK;
    TRY(device_staging_out(tree_solver_device(r->a->solver), &r->staging,
                           block_bytes(r, x->columns), why));
    packed_copy(x, 0, x->columns, r->staging.host, 0);
    return LIBSOLVER_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static refine_step step_of(const tree_refiner *r, const tree_refinement *how,
                           const libsolver_vectors *b, const libsolver_vectors *x)
{
    return (refine_step){.b = *b,
                         .x = *x,
                         .first = 1,
                         .tolerance = how->tolerance,
                         .least_progress = how->least_progress,
                         .failed = device_solve_failed(tree_workspace_device(r->solves))};
}

/* The first solution and its error. */
static libsolver_status start(const tree_refiner *r, int solve_first, refine_step *s, message *why)
{
    if (solve_first)
        TRY(tree_solve(r->a->solver, r->solves, NULL, &s->b, &s->x, why));
    TRY(device_refine_step(&r->a->device, &r->device, NULL, s, why));
    s->first = 0;
    return LIBSOLVER_OK;
}

/* x += A^-1 (b - A x) and its error.  A kernel that solves could look at
 * r->device.host_state->open, on the device, and return if it is 0. */
static libsolver_status correct(const tree_refiner *r, const refine_step *s, message *why)
{
    const libsolver_vectors residual = device_block(r, r->device.residual, s->b.columns);
    const libsolver_vectors correction = device_block(r, r->device.correction, s->b.columns);
    TRY(tree_solve(r->a->solver, r->solves, NULL, &residual, &correction, why));
    return device_refine_step(&r->a->device, &r->device, NULL, s, why);
}

/* Tells of a step that has been waited for. */
static void observe(const tree_refiner *r, const tree_refinement *how, int step)
{
    double error = 0;
    if (!how->observe)
        return;
    for (int64_t q = 0; q < r->b.columns; q++) {
        const double e = ((const volatile refine_state *)r->device.host_state)->column[q].error;
        error = e > error || e != e ? e : error;
    }
    how->observe(how->observer, step, error);
}

/* Launches a step at a time, as long as a column is open. */
static libsolver_status run(const tree_refiner *r, int most, refine_step *s, tree_refinement *how,
                            message *why)
{
    const device_matrix *a = &r->a->device;
    const volatile refine_state *state = r->device.host_state;
    TRY(start(r, how->solve_first, s, why));
    TRY(device_refine_wait(a, NULL, why));
    observe(r, how, 0);
    for (how->steps = 0; state->open > 0 && how->steps < most && !state->failed; how->steps++) {
        if (environment_cancelled(r->a->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "%s",
                        libsolver_status_sentence(LIBSOLVER_CANCELLED));
        TRY(correct(r, s, why));
        TRY(device_refine_wait(a, NULL, why));
        observe(r, how, how->steps + 1);
    }
    if (state->worse > 0) {
        const refine_outcome nowhere = {0};
        TRY(device_refine_finish(a, &r->device, NULL, s, &nowhere, why));
        TRY(device_refine_wait(a, NULL, why));
    }
    return LIBSOLVER_OK;
}

libsolver_status tree_refine_run(tree_refiner *r, tree_refinement *how, double *error,
                                 double *initial, message *why)
{
    refine_step s = step_of(r, how, &r->b, &r->x);
    s.copies_state = 1;
    TRY(run(r, how->steps, &s, how, why));
    if (r->device.host_state->failed)
        return tree_solve_check(r->a->solver, r->solves, NULL, why);
    for (int64_t q = 0; q < r->b.columns; q++) {
        error[q] = r->device.host_state->column[q].error;
        initial[q] = r->device.host_state->column[q].initial;
    }
    return LIBSOLVER_OK;
}

libsolver_status tree_refine_launch(tree_refiner *r, const tree_refinement *how,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    const refine_outcome *outcome, message *why)
{
    libsolver_vectors from = *b;
    if (b->values == x->values)
        TRY(device_refine_spare(&r->a->device, &r->device, NULL, b, &from, why));
    refine_step s = step_of(r, how, &from, x);
    TRY(start(r, how->solve_first, &s, why));
    for (int k = 0; k < how->steps && b->columns > 0; k++)
        TRY(correct(r, &s, why));
    return device_refine_finish(&r->a->device, &r->device, NULL, &s, outcome, why);
}
