/* gpu/substitute/device_substitution.cu: solves with factors as they are: arrays in a device's
 * memory, and launches
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/device_substitution.h"
#include "base/type.h"
#include "gpu/device/device.cuh"
#include "gpu/solve/solve_arguments.cuh"
#include "gpu/substitute/places.cuh"
#include "gpu/substitute/substitute.cuh"

/* Right-hand sides of a task, where there are several. */
template <typename T>
constexpr int COLUMNS = sizeof(T) > 8 ? SUBSTITUTE_COLUMNS / 2 : SUBSTITUTE_COLUMNS;

template <typename T, int C>
static libsolver_status run(const device_solver *s, const substitute_arguments<T> &q, void *stream,
                            message *why)
{
    const int64_t tasks = (int64_t)q.tasks * ((q.a.columns + C - 1) / C),
                  most = (int64_t)SUBSTITUTE_BLOCKS<T> * s->multiprocessors;
    const launch_shape how = {tasks < most ? tasks : most, SUBSTITUTE_THREADS,
                              (int)sizeof(substitute_shared<T, C>)};
    return LAUNCH_STATUS(launch_kernel(substitute_kernel<T, C>, how, stream, q),
                         "launching the solve", why);
}

extern "C" libsolver_status device_substitute(const device_substitution *t, const device_solver *s,
                                              const device_workspace *w, void *stream,
                                              const libsolver_vectors *b,
                                              const libsolver_vectors *x, message *why)
{
    TRY(device_solve_fits(s, b, x, why));
    const current_device here(s->device);
    return with_type(s->type, [&](auto one) {
        using T = decltype(one);
        substitute_arguments<T> q(*t, s->n);
        q.a = solve_arguments_of<T>(s, w, b, x);
        q.head = static_cast<workspace_head *>(w->epoch);
        return by_panels(q.a, s, w, b, x, [&] {
            void *on = stream ? stream : s->stream;
            return q.a.columns == 1 ? run<T, 1>(s, q, on, why) : run<T, COLUMNS<T>>(s, q, on, why);
        });
    });
}

/* The plan's arrays and the places of scale and user_row, copied or only placed. */
static void put_plan(uploader *u, const substitution *plan, const int32_t *user_row,
                     int64_t real_bytes, device_solver *s, device_substitution *to)
{
    s->scale = u->put((const char *)nullptr, plan->n * real_bytes);
    s->user_row = u->put(user_row, plan->n);
    device_substitution_put(u, plan, to);
}

#define COPYING "copying the plan of the substitution to the device"

static libsolver_status upload_plan(device_substitution *t, device_solver *s,
                                    const substitution *plan, const int32_t *user_row,
                                    int64_t real_bytes, message *why)
{
    uploader measured, u;
    put_plan(&measured, plan, user_row, real_bytes, s, t);
    TRY(solver_memory(s, measured.all.bytes + 256, "the plan of the substitution", why));
    u.base = static_cast<char *>(s->memory);
    u.copies = true;
    u.stream = (cudaStream_t)s->stream;
    put_plan(&u, plan, user_row, real_bytes, s, t);
    return CUDA_STATUS(u.error, COPYING, why);
}

extern "C" libsolver_status device_substitution_renew(const device_substitution *t,
                                                      const device_solver *s, message *why)
{
    if (t->blocks == 0)
        return LIBSOLVER_OK;
    const current_device here(s->device);
    return with_type(s->type, [&](auto one) {
        using T = decltype(one);
        const invert_arguments<T> a = {static_cast<T *>(const_cast<void *>(t->factor)), t->block,
                                       t->narrow_blocks, t->blocks, t->cholesky != 0};
        const int64_t narrow = (t->narrow_blocks + NARROW_TOGETHER - 1) / NARROW_TOGETHER;
        launch_shape how = {narrow + t->blocks - t->narrow_blocks, TILE_THREADS, INVERT_SHARED<T>};
        how.overlaps = true;
        return LAUNCH_STATUS(launch_kernel(invert_diagonal_blocks<T>, how, s->stream, a),
                             "inverting diagonal blocks", why);
    });
}

extern "C" libsolver_status device_substitution_load(device_substitution *t, device_solver *s,
                                                     const device_factor *factor,
                                                     const substitution *plan,
                                                     const int32_t *user_row, const void *scale,
                                                     message *why)
{
    const current_device here(s->device);
    const int64_t real_bytes = type_real_bytes(factor->shape.type);
    const cudaStream_t stream = (cudaStream_t)s->stream;
    device_substitution_takes(t, s, factor, plan);
    const libsolver_status status =
        plan ? upload_plan(t, s, plan, user_row, real_bytes, why) : LIBSOLVER_OK;
    cudaError_t error = cudaSuccess;
    if (status == LIBSOLVER_OK && s->n > 0)
        error = cudaMemcpyAsync(const_cast<void *>(s->scale), scale, (size_t)(s->n * real_bytes),
                                cudaMemcpyDefault, stream);
    libsolver_status inverted = LIBSOLVER_OK;
    if (status == LIBSOLVER_OK && error == cudaSuccess)
        inverted = device_substitution_renew(t, s, why);
    const cudaError_t end = cudaStreamSynchronize(stream);
    if (status != LIBSOLVER_OK)
        return status;
    TRY(CUDA_STATUS(error, COPYING, why));
    return inverted != LIBSOLVER_OK ? inverted : CUDA_STATUS(end, COPYING, why);
}
