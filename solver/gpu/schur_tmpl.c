/* solver/gpu/schur_tmpl.c: Schur complements of factors on the device, and half solves around them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The device forms the complement.  Half solves are the CPU backend's, with the factor that is
 * brought for the first of them; vectors on the device go through the host. */
#include "gpu/device/packed.h"
#include "solver/gpu/numeric.h"

libsolver_status NAME(gpu_schur_complement)(const void *numeric_, const libsolver_vectors *s,
                                            message *why)
{
    device_numeric *f = (device_numeric *)numeric_; /* its buffer is not part of the factor's value
                                                     */
    const complement_place to = {.at = s->values,
                                 .ld = s->ld,
                                 .are_rows = s->layout == LIBSOLVER_ROW_MAJOR,
                                 .is_on_host = s->place == LIBSOLVER_HOST};
    if (!f->state.is_on_device)
        return CPU->schur_complement(f->cpu, s, why);
    omp_set_lock(&f->copying);
    const libsolver_status status =
        device_factorizer_complement(&f->factorizer, f->program, f->values.value.at, &to, why);
    omp_unset_lock(&f->copying);
    return status;
}

/* As many columns of vectors on the device as the workspace holds. */
static libsolver_status solve_panel(const device_numeric *f, int expand, device_space *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    message *why)
{
    const libsolver_vectors hb = on_host(b, w->b), hx = on_host(x, w->x);
    TRY(tree_solver_get(f->solver, b, w->b, why));
    TRY(CPU->schur_solve(f->cpu, expand, w->cpu, &hb, &hx, why));
    return tree_solver_put(f->solver, w->x, x, why);
}

libsolver_status NAME(gpu_schur_solve)(const void *numeric_, int expand, void *workspace_,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    if (b->place == LIBSOLVER_DEVICE && !f->a)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "vectors in device memory: this factor has no device");
    TRY(NAME(gpu_bring_factor)(f, why));
    if (b->place == LIBSOLVER_HOST)
        return CPU->schur_solve(f->cpu, expand, w->cpu, b, x, why);
    for (int64_t first = 0; first < b->columns; first += w->columns) {
        const int64_t columns = b->columns - first < w->columns ? b->columns - first : w->columns;
        const libsolver_vectors bp = columns_of(b, first, columns),
                                xp = columns_of(x, first, columns);
        TRY(solve_panel(f, expand, w, &bp, &xp, why));
    }
    return LIBSOLVER_OK;
}
