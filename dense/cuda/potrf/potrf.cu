/* dense/cuda/potrf/potrf.cu: the public calls for the Cholesky factorization of one matrix
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/arguments.h"
#include "dense/cuda/device/call_range.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/potrf/tasks.cuh"
#include <algorithm>

static int64_t tiles_of(int64_t n)
{
    return (n + TILE - 1) / TILE;
}
static int64_t words_bytes(int64_t n)
{
    return (potrf_words::count(tiles_of(n)) * (int64_t)sizeof(unsigned) + 127) / 128 * 128;
}
/* Blocks of threads that have something to do. */
static int64_t most_blocks(int tiles)
{
    int64_t blocks = tiles > 1 ? POTRF_LEADERS : 1;
    for (int column = 0; column + 1 < tiles; column++)
        blocks += potrf_tasks(column, tiles);
    return blocks;
}

template <typename T>
static libsolver_status factorize(libsolver_storage uplo, int64_t n, T *a, int64_t lda, int *info,
                                  void *workspace, void *stream)
{
    const bool upper = uplo == LIBSOLVER_UPPER,
               pairs = COPIES_PAIRS<T> && lda % 2 == 0 && reinterpret_cast<uintptr_t>(a) % 16 == 0;
    const int64_t words = words_bytes(n);
    T *const kept = reinterpret_cast<T *>(static_cast<char *>(workspace) + words);
    const potrf_arguments<T> arguments = {a,
                                          upper ? lda : 1,
                                          upper ? 1 : lda,
                                          (int)n,
                                          (int)tiles_of(n),
                                          upper   ? copying::BY_ROWS
                                          : pairs ? copying::PAIRS
                                                  : copying::ENTRIES,
                                          static_cast<unsigned *>(workspace),
                                          {kept},
                                          info};
    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(workspace, 0, (size_t)words, (cudaStream_t)stream);
    if (error != cudaSuccess)
        return status_of(error);
    return launch(potrf_kernel<T>,
                  {std::min<int64_t>(multiprocessors, most_blocks(arguments.tiles)),
                   CHOLESKY_THREADS, potrf_room<T>::BYTES},
                  stream, arguments);
}

extern "C" int64_t libsolver_potrf_workspace_bytes(libsolver_type type, int64_t n)
{
    if (!type_valid(type) || !size_valid(n))
        return 0;
    int64_t bytes = 0;
    with_type(type, [&](auto zero) {
        bytes = words_bytes(n) + potrf_tiles<decltype(zero)>::count(tiles_of(n)) *
                                     TILE_AREA<decltype(zero)> * (int64_t)sizeof zero;
        return LIBSOLVER_OK;
    });
    return bytes;
}

extern "C" libsolver_status libsolver_potrf(libsolver_type type, libsolver_storage uplo, int64_t n,
                                            void *a, int64_t lda, int *info, void *workspace,
                                            int64_t workspace_bytes, void *stream)
{
    const call_range range(__func__);
    if (!type_valid(type) || !uplo_valid(uplo) || !order_valid(n, lda) || info == nullptr)
        return LIBSOLVER_INVALID;
    if (n == 0)
        return status_of(cudaMemsetAsync(info, 0, sizeof *info, (cudaStream_t)stream));
    if (a == nullptr || workspace == nullptr || reinterpret_cast<uintptr_t>(workspace) % 16 != 0 ||
        workspace_bytes < libsolver_potrf_workspace_bytes(type, n))
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        return factorize(uplo, n, static_cast<decltype(zero) *>(a), lda, info, workspace, stream);
    });
}
