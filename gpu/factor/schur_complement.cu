/* gpu/factor/schur_complement.cu: the Schur complement of a factor on a device
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The last front's contribution block is S - A22 of the scaled matrix.  Scale factors are powers of
 * two, so it is taken back to A's scale without a rounding error, where A22 is added as it came. */
#include "gpu/factor/device_factorizer.h"
#include "gpu/factor/places.cuh"

enum { SQUARE = 32, SQUARE_ROWS = 8 }; /* of threads: a warp for every eighth column of a square */

template <typename T> struct complement_arguments {
    const T *block; /* size x size, at and below the diagonal */
    int size;
    const real_of<T> *scale;         /* by rows of A; */
    const int32_t *row_of;           /* size: the row of A of each row */
    const factor_schur_entry *entry; /* entries */
    int64_t entries;
    const T *given; /* values of A in the order that it was analysed in */
    T *out;         /* by columns */
    int64_t ld;
    bool hermitian;
    bool is_turned; /* out is the transpose, and A Hermitian */
};

/* A block for each square, of which those above the diagonal have nothing to do. */
template <typename T>
static __global__ void __launch_bounds__(SQUARE *SQUARE_ROWS)
    unscale_complement_kernel(const __grid_constant__ complement_arguments<T> a)
{
    __shared__ T square[SQUARE][SQUARE + 1];
    const int lane = (int)threadIdx.x % SQUARE, warp = (int)threadIdx.x / SQUARE,
              squares = (a.size + SQUARE - 1) / SQUARE, i0 = (int)(blockIdx.x % squares) * SQUARE,
              j0 = (int)(blockIdx.x / squares) * SQUARE;
    if (i0 < j0)
        return;
    for (int q = warp; q < SQUARE; q += SQUARE_ROWS) {
        const int i = i0 + lane, j = j0 + q;
        if (i >= a.size || j > i)
            continue;
        const T scaled = a.block[i + (int64_t)j * a.size];
        const T v =
            times_real(times_real(scaled, 1 / a.scale[a.row_of[i]]), 1 / a.scale[a.row_of[j]]);
        square[q][lane] =
            i == j && a.hermitian ? from_real<T>(real_part(v)) : conjugate_if(v, a.is_turned);
        a.out[i + j * a.ld] = square[q][lane];
    }
    __syncthreads();
    for (int q = warp; q < SQUARE; q += SQUARE_ROWS) {
        const int i = i0 + q, j = j0 + lane;
        if (i < a.size && j < i)
            a.out[j + i * a.ld] = conjugate_if(square[lane][q], a.hermitian);
    }
}

/* A22, each entry of which is there once. */
template <typename T>
static __global__ void add_schur_entries_kernel(const __grid_constant__ complement_arguments<T> a)
{
    for (int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; q < a.entries;
         q += (int64_t)gridDim.x * blockDim.x) {
        const factor_schur_entry e = a.entry[q];
        const T v = conjugate_if(a.given[e.value >> 1], e.value & 1);
        T *const below = a.out + e.row + e.column * a.ld, *above = a.out + e.column + e.row * a.ld;
        const T own = conjugate_if(v, a.is_turned);
        if (below == above)
            *below = *below + (a.hermitian ? from_real<T>(real_part(v)) : v);
        else {
            *below = *below + own;
            *above = *above + conjugate_if(own, a.hermitian);
        }
    }
}

template <typename T>
static cudaError_t launch_complement(const device_factorizer *f, const factor_program *g,
                                     const void *values, T *out, int64_t ld, bool is_turned)
{
    constexpr int THREADS = 256;
    const factor_places<T> there = loaded_places<T>(f, g);
    const int size = g->schur_size;
    const int64_t squares = (size + SQUARE - 1) / SQUARE,
                  blocks = (g->schur_entries + THREADS - 1) / THREADS;
    const complement_arguments<T> a = {there.tasks.arena + g->front[g->nodes - 1].block,
                                       size,
                                       there.values.scale,
                                       there.values.row_of + (g->n - size),
                                       there.schur,
                                       g->schur_entries,
                                       static_cast<const T *>(values),
                                       out,
                                       ld,
                                       g->hermitian != 0,
                                       is_turned && g->hermitian};
    cudaError_t error = launch_kernel(unscale_complement_kernel<T>,
                                      {squares * squares, SQUARE * SQUARE_ROWS}, f->stream, a);
    if (error == cudaSuccess && blocks > 0)
        error = launch_kernel(add_schur_entries_kernel<T>, {blocks, THREADS}, f->stream, a);
    return error;
}

template <typename T>
static libsolver_status form(device_factorizer *f, const factor_program *g, const void *values,
                             const complement_place *to, message *why)
{
    const int64_t size = g->schur_size;
    const size_t column = (size_t)size * sizeof(T);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    if (to->is_on_host)
        TRY(device_buffer_reserve(&f->complement, size * (int64_t)column, &f->allocations,
                                  "the Schur complement", why));
    T *const out = static_cast<T *>(to->is_on_host ? f->complement.at : to->at);
    cudaError_t error =
        launch_complement<T>(f, g, values, out, to->is_on_host ? size : to->ld, to->are_rows != 0);
    if (error == cudaSuccess && to->is_on_host)
        error = cudaMemcpy2DAsync(to->at, (size_t)to->ld * sizeof(T), out, column, column,
                                  (size_t)size, cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    return LAUNCH_STATUS(error != cudaSuccess ? error : end, "forming the Schur complement", why);
}

extern "C" libsolver_status device_factorizer_complement(device_factorizer *f,
                                                         const factor_program *g,
                                                         const void *values,
                                                         const complement_place *to, message *why)
{
    const current_device here(f->device);
    return with_type(f->type, [&](auto one) { return form<decltype(one)>(f, g, values, to, why); });
}
