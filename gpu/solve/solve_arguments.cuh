/* gpu/solve/solve_arguments.cuh: host side: a solver's memory; what a launch is given of it, its
 * workspace and the caller's blocks; panels
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_SOLVE_ARGUMENTS_CUH
#define GPU_SOLVE_SOLVE_ARGUMENTS_CUH

#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/solve/device_solver.h"
#include "gpu/solve/solver_base.cuh"

/* Memory of so many bytes, the same as before if that is enough; otherwise what was there is
 * lost. */
static inline libsolver_status solver_memory(device_solver *s, int64_t bytes, const char *object,
                                             message *why)
{
    if (bytes <= s->bytes)
        return LIBSOLVER_OK;
    cudaFree(s->memory);
    s->memory = nullptr;
    s->bytes = 0;
    s->allocations++;
    TRY(device_allocate(&s->memory, bytes, object, why));
    s->bytes = bytes;
    return LIBSOLVER_OK;
}

/* All but b, x and columns, which are a panel's, pitch and times. */
template <typename T>
solve_arguments<T> solve_arguments_of(const device_solver *s, const device_workspace *w,
                                      const libsolver_vectors *b, const libsolver_vectors *x)
{
    solve_arguments<T> a = {};
    a.memory = static_cast<const char *>(s->memory);
    a.head = s->head;
    a.copy = s->copy;
    a.packets = static_cast<packet_word *>(w->packets);
    a.value = static_cast<T *>(w->value);
    a.flag = static_cast<unsigned *>(w->flag);
    a.state = static_cast<solve_state *>(w->state);
    a.epoch = static_cast<unsigned *>(w->epoch);
    a.scale = static_cast<const real_of<T> *>(s->scale);
    a.user_row = s->user_row;
    a.n = s->n;
    a.past_cache = s->bytes > s->cache_bytes;
    a.in_place = x->values == b->values;
    a.b_row = b->layout == LIBSOLVER_ROW_MAJOR ? b->ld : 1;
    a.b_column = b->layout == LIBSOLVER_ROW_MAJOR ? 1 : b->ld;
    a.x_row = x->layout == LIBSOLVER_ROW_MAJOR ? x->ld : 1;
    a.x_column = x->layout == LIBSOLVER_ROW_MAJOR ? 1 : x->ld;
    a.patience = (unsigned long long)(1e9 * s->patience);
    return a;
}

/* run() for each panel, with its b, x and columns in a, until one fails. */
template <typename T, typename Run>
libsolver_status by_panels(solve_arguments<T> &a, const device_solver *s, const device_workspace *w,
                           const libsolver_vectors *b, const libsolver_vectors *x, Run run)
{
    libsolver_status status = LIBSOLVER_OK;
    for (int64_t first = 0; first < b->columns && s->n > 0 && status == LIBSOLVER_OK;
         first += w->columns) {
        a.b = static_cast<const T *>(b->values) + first * a.b_column;
        a.x = static_cast<T *>(x->values) + first * a.x_column;
        a.columns = (int32_t)(b->columns - first < w->columns ? b->columns - first : w->columns);
        status = run();
    }
    return status;
}

#endif
