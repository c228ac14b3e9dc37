/* dense/cuda/trsv/trsv_one_block.cu: the forms of one block of threads, n <= 128  [paper 000,
 * section 2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/panels.cuh"
#include "dense/cuda/device/warp.cuh"

template <typename T>
__global__ void __launch_bounds__(PANEL_THREADS, 1)
    panels_kernel(triangle_view<T> L, vector_view<T> x, bool substitute)
{
    extern __shared__ __align__(16) unsigned char memory[];
    panels_solve(*reinterpret_cast<panels_shared<T> *>(memory), L, x, 0, L.n, substitute);
}

/* The register forms: 16 warps, 4 rows and 8 columns to a thread; entry (p, q) of the thread in
 * lane l and warp w is L(l + 32 p, column(w, q)); identity past n. */
constexpr int REGISTER_WARPS = 16;
constexpr int REGISTER_ROWS = ONE_BLOCK_ORDER / 32,
              REGISTER_COLUMNS = ONE_BLOCK_ORDER / REGISTER_WARPS;

template <typename T>
__device__ __forceinline__ void registers_load(T (&a)[REGISTER_ROWS][REGISTER_COLUMNS],
                                               const triangle_view<T> &L, int j0, int dj)
{
#pragma unroll
    for (int p = 0; p < REGISTER_ROWS; p++)
#pragma unroll
        for (int q = 0; q < REGISTER_COLUMNS; q++) {
            const int i = threadIdx.x % 32 + 32 * p, j = j0 + dj * q;
            const bool stored = i < L.n && (i > j || (i == j && !L.unit));
            a[p][q] = stored ? *L.at(i, j) : from_real<T>(i == j);
        }
}

/* Variant A (listing 3): column j belongs to warp j mod 16; a block barrier for each column. */
template <typename T>
__global__ void __launch_bounds__(32 * REGISTER_WARPS, 1)
    registers_a_kernel(triangle_view<T> L, vector_view<T> x)
{
    __shared__ T y[ONE_BLOCK_ORDER];
    const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T a[REGISTER_ROWS][REGISTER_COLUMNS];
    registers_load(a, L, warp, REGISTER_WARPS);
    if (i < ONE_BLOCK_ORDER)
        y[i] = i < L.n ? x.load(i) : T{};
#pragma unroll
    for (int j = 0; j < ONE_BLOCK_ORDER; j++) {
        __syncthreads();
        if (warp != j % REGISTER_WARPS || j >= L.n)
            continue;
        const int q = j / REGISTER_WARPS;
        const T solved = divide(y[j], shuffle(a[j / 32][q], j % 32));
        __syncwarp();
#pragma unroll
        for (int p = j / 32; p < REGISTER_ROWS; p++) {
            const int row = lane + 32 * p;
            if (row > j)
                y[row] = multiply_add(y[row], -solved, a[p][q]);
            else if (row == j)
                y[row] = solved;
        }
    }
    __syncthreads();
    if (i < L.n)
        x.store(i, y[i]);
}

/* Variant B: warp w has the slab of columns 8 w .. 8 w + 7 and solves it alone; a block barrier for
 * each slab. */
template <typename T>
__global__ void __launch_bounds__(32 * REGISTER_WARPS, 1)
    registers_b_kernel(triangle_view<T> L, vector_view<T> x)
{
    __shared__ T y[ONE_BLOCK_ORDER];
    const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T a[REGISTER_ROWS][REGISTER_COLUMNS];
    registers_load(a, L, REGISTER_COLUMNS * warp, 1);
    if (i < ONE_BLOCK_ORDER)
        y[i] = i < L.n ? x.load(i) : T{};
    for (int turn = 0; turn * REGISTER_COLUMNS < L.n; turn++) {
        __syncthreads();
        if (warp != turn)
            continue;
        const int own = turn * REGISTER_COLUMNS / 32; /* the row group of the slab's diagonal */
        T z[REGISTER_ROWS];
#pragma unroll
        for (int p = 0; p < REGISTER_ROWS; p++)
            z[p] = y[lane + 32 * p];
#pragma unroll
        for (int q = 0; q < REGISTER_COLUMNS; q++) {
            const int j = turn * REGISTER_COLUMNS + q;
            T pivot = a[0][q], value = z[0];
#pragma unroll
            for (int p = 1; p < REGISTER_ROWS; p++) {
                pivot = own == p ? a[p][q] : pivot;
                value = own == p ? z[p] : value;
            }
            const T solved = shuffle(divide(value, pivot), j % 32);
#pragma unroll
            for (int p = 0; p < REGISTER_ROWS; p++) {
                const int row = lane + 32 * p;
                z[p] = row == j ? solved : row > j ? multiply_add(z[p], -solved, a[p][q]) : z[p];
            }
        }
#pragma unroll
        for (int p = 0; p < REGISTER_ROWS; p++)
            y[lane + 32 * p] = z[p];
    }
    __syncthreads();
    if (i < L.n)
        x.store(i, y[i]);
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
    if (form == LIBSOLVER_TRSV_REGISTERS_A)
        return launch(registers_a_kernel<T>, {1, 32 * REGISTER_WARPS}, stream, L, x);
    if (form == LIBSOLVER_TRSV_REGISTERS_B)
        return launch(registers_b_kernel<T>, {1, 32 * REGISTER_WARPS}, stream, L, x);
    if (form == LIBSOLVER_TRSV_WARP)
        return launch(warp_kernel<T>, {1, 32}, stream, L, x);
    return launch(panels_kernel<T>, {1, PANEL_THREADS, panels_shared_bytes<T>(L.n)}, stream, L, x,
                  form == LIBSOLVER_TRSV_SHARED);
}

#define INSTANCE(T) \
    template libsolver_status trsv_one_block<T>(libsolver_trsv_form, triangle_view<T>, \
                                                vector_view<T>, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
