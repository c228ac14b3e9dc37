/* dense/cuda/level3/context.cu: contexts are made and destroyed
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/level3/context.h"
#include <algorithm>
#include <new>

/* Triangles up to this order are left to the kernels of the batches (bench_level3, H200). */
constexpr int64_t LEAF = 256;
/* Order of the diagonal blocks that are inverted (bench_papers blocks, H100). */
constexpr int64_t BLOCK = 512;
constexpr int64_t COPY_COLUMNS = 256; /* of products of trsm, complex numbers, at a time */
/* Columns up to which trmm is one launch, whatever the order (bench_level3, H100). */
constexpr int64_t FEW_COLUMNS = 1024;

/* Where parts of the device memory begin. */
struct parts {
    int64_t few = 0, scratch, inverses, sums, refused, copy, room, products, info, bytes;

    explicit parts(const libsolver_dense_context &c)
    {
        const auto behind = [](int64_t begin, int64_t bytes) {
            return (begin + bytes + 255) / 256 * 256;
        };
        scratch = behind(few, c.few_bytes);
        inverses = behind(scratch, c.scratch_bytes);
        sums = behind(inverses, c.inverse_bytes);
        refused = behind(sums, c.order * (int64_t)sizeof(double));
        copy = behind(refused, (c.order / 64 + 1) * (int64_t)sizeof(int64_t));
        room = behind(copy, c.copy_bytes);
        products = behind(room, PRODUCT_BYTES);
        info = behind(products, LEVEL3_CUBLAS_BYTES);
        bytes = behind(info, LEVEL3_INFOS * (int64_t)sizeof(int));
    }
};

static libsolver_status open_context(libsolver_dense_context &c)
{
    const parts at(c);
    if (c.handle == nullptr && c.cublas->create(&c.handle) != 0)
        return LIBSOLVER_CUDA;
    const cudaError_t error = cudaMalloc(&c.memory, (size_t)at.bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* leave nothing behind for the caller's next call */
        return LIBSOLVER_OUT_OF_DEVICE_MEMORY;
    }
    if (error != cudaSuccess)
        return status_of(error);
    char *const memory = static_cast<char *>(c.memory);
    c.few = memory + at.few;
    c.scratch = memory + at.scratch;
    c.inverses = memory + at.inverses;
    c.sums = memory + at.sums;
    c.refused = reinterpret_cast<int64_t *>(memory + at.refused);
    c.copy = memory + at.copy;
    c.room = memory + at.room;
    c.products = memory + at.products;
    c.info = reinterpret_cast<int *>(memory + at.info);
    libsolver_status status = libsolver_trsm_workspace_init(c.few, c.few_bytes, nullptr);
    if (status == LIBSOLVER_OK)
        status = status_of(cudaMemsetAsync(c.room, 0, PRODUCT_BYTES, nullptr));
    return status != LIBSOLVER_OK ? status : status_of(cudaStreamSynchronize(nullptr));
}

extern "C" libsolver_status libsolver_dense_create(const libsolver_dense_options *options,
                                                   libsolver_dense_context **context)
{
    if (context == nullptr)
        return LIBSOLVER_INVALID;
    *context = nullptr;
    const int64_t order = options != nullptr && options->order != 0 ? options->order : 8192,
                  leaf = options != nullptr && options->leaf != 0 ? options->leaf : LEAF;
    const libsolver_dense_trsm_form form =
        options != nullptr ? options->trsm : LIBSOLVER_DENSE_TRSM_AUTO;
    const int64_t block = options != nullptr ? options->block : 0;
    if (order < 0 || order > INT32_MAX - 1024 || leaf < 64 || leaf % 64 != 0 || leaf > 1024 ||
        form < LIBSOLVER_DENSE_TRSM_AUTO || form > LIBSOLVER_DENSE_TRSM_INVERSE_HALVES ||
        block < 0 || block % 64 != 0 || (block & (block - 1)) != 0 || block > 1024)
        return LIBSOLVER_INVALID;
    const cublas_calls *const calls = cublas_load();
    if (calls == nullptr)
        return LIBSOLVER_NOT_BUILT;
    auto *const c = new (std::nothrow) libsolver_dense_context{};
    if (c == nullptr)
        return LIBSOLVER_OUT_OF_MEMORY;
    c->cublas = calls;
    c->handle = options != nullptr ? options->cublas : nullptr;
    c->owns_handle = c->handle == nullptr;
    c->order = order;
    c->leaf = leaf;
    c->form = form;
    c->block = block != 0 ? block : BLOCK;
    const bool chosen = options != nullptr && options->leaf != 0;
    while (block == 0 && chosen && c->block > leaf)
        c->block /= 2;
    c->whole = chosen ? leaf : 0;
    c->few_columns = chosen ? 64 : FEW_COLUMNS;
    c->few_bytes = libsolver_trsm_workspace_bytes(order, 64);
    const int64_t entry = 2 * (int64_t)sizeof(double),
                  tiles = std::max<int64_t>(order + 63, 64) / 64;
    c->inverse_bytes = tiles * 64 * (LEVEL3_BLOCK_BYTES + entry);
    c->scratch_bytes = std::max(libsolver_potrf_workspace_bytes(LIBSOLVER_Z, order),
                                std::max(leaf * order * entry, c->inverse_bytes));
    c->copy_bytes = COPY_COLUMNS * tiles * 64 * entry;
    const libsolver_status status = open_context(*c);
    if (status == LIBSOLVER_OK)
        *context = c;
    else
        libsolver_dense_destroy(c);
    return status;
}

extern "C" void libsolver_dense_destroy(libsolver_dense_context *context)
{
    if (context == nullptr)
        return;
    if (context->owns_handle && context->handle != nullptr)
        context->cublas->destroy(context->handle);
    cudaFree(context->memory);
    delete context;
}
