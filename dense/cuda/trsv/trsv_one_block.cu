/* dense/cuda/trsv/trsv_one_block.cu: the forms of one block of threads, n <= 128  [Hogg 2013,
 * section 2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/warp.cuh"
#include "dense/cuda/trsv/panels.cuh"
#include "dense/cuda/trsv/registers.cuh"
#include "dense/cuda/trsv/shared.cuh"

template <typename T>
__global__ void __launch_bounds__(PANEL_THREADS, 1)
    panels_kernel(triangle_view<T> L, vector_view<T> x)
{
    extern __shared__ __align__(16) unsigned char memory[];
    panels_solve(*reinterpret_cast<panels_shared<T> *>(memory), L, x);
}

template <typename T>
__global__ void __launch_bounds__(SHARED_LOADERS + 32 * SHARED_STEPS, 1)
    shared_kernel(triangle_view<T> L, vector_view<T> x)
{
    extern __shared__ __align__(16) unsigned char memory[];
    shared_tiles<T> &s = *reinterpret_cast<shared_tiles<T> *>(memory);
    const int steps = (L.n - 1) / SHARED_TILE + 1;
    if (threadIdx.x < SHARED_LOADERS)
        shared_load(s, L, steps);
    else
        shared_step(s, x, L.n, ((int)threadIdx.x - SHARED_LOADERS) / 32, steps);
}

template <int N, typename T>
__global__ void __launch_bounds__(32 * REGISTER_WARPS, 1)
    registers_kernel(triangle_view<T> L, vector_view<T> x, bool by_slabs)
{
    __shared__ T y[N];
    if (by_slabs)
        registers_b(L, x, y);
    else
        registers_a(L, x, y);
}

template <typename T>
__global__ void __launch_bounds__(32) warp_kernel(triangle_view<T> L, vector_view<T> x)
{
    __shared__ warp_shared<T, 32> shared;
    trsv_warp(L, x, shared);
}

template <typename T>
libsolver_status trsv_one_block(libsolver_trsv_form form, triangle_view<T> L, vector_view<T> x,
                                void *stream)
{
    switch (form) {
    case LIBSOLVER_TRSV_SHARED: {
        const int steps = (L.n - 1) / SHARED_TILE + 1;
        return launch(shared_kernel<T>,
                      {1, SHARED_LOADERS + 32 * steps, (int)sizeof(shared_tiles<T>)}, stream, L, x);
    }
    case LIBSOLVER_TRSV_REGISTERS_A:
    case LIBSOLVER_TRSV_REGISTERS_B: {
        const auto kernel = L.n <= 32   ? registers_kernel<32, T>
                            : L.n <= 64 ? registers_kernel<64, T>
                            : L.n <= 96 ? registers_kernel<96, T>
                                        : registers_kernel<128, T>;
        return launch(kernel, {1, 32 * REGISTER_WARPS}, stream, L, x,
                      form == LIBSOLVER_TRSV_REGISTERS_B);
    }
    case LIBSOLVER_TRSV_WARP:
        return launch(warp_kernel<T>, {1, 32}, stream, L, x);
    default:
        return launch(panels_kernel<T>, {1, PANEL_THREADS, panels_shared_bytes<T>(L.n)}, stream, L,
                      x);
    }
}

#define INSTANCE(T) \
    template libsolver_status trsv_one_block<T>(libsolver_trsv_form, triangle_view<T>, \
                                                vector_view<T>, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
