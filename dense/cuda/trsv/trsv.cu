/* dense/cuda/trsv/trsv.cu: the public calls: check the arguments, choose the form
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The public calls have the long argument lists of the BLAS; inside, what travels together is a
 * struct. */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/arguments.h"
#include "dense/cuda/device/call_range.h"
#include "dense/cuda/device/grid.cuh"
#include "dense/cuda/device/growth.h"
#include "dense/cuda/device/launch.cuh"

/* The crossover of the automatic choice behind those of forms.h, bench_trsv -op NT on an H200.
 * CLUSTER has the shorter step; GRID fills the device better where bandwidth counts, which is later
 * by rows and for entries of 4 or 16 bytes. */
template <typename T> static int64_t cluster_until(bool by_rows)
{
    return sizeof(T) != 8 ? 16384 : by_rows ? 12288 : 6144;
}
/* The first block row waits for nobody and substitutes: that is done before an inverse would
 * be.  Before SCALE_FROM a block has no time to scale its last tile. */
constexpr int64_t INVERT_FROM = 1;
constexpr int64_t SCALE_FROM = 4;

static bool options_valid(const libsolver_trsv_options &o)
{
    return o.form >= LIBSOLVER_TRSV_AUTO && o.form <= LIBSOLVER_TRSV_COUNTER &&
           o.cache >= LIBSOLVER_CACHE_AHEAD && o.cache <= LIBSOLVER_CACHE_REGISTERS &&
           o.invert_from >= 0 && o.scale_from >= 0 && o.block >= 0;
}

/* As the caller passed it. */
struct caller_workspace {
    void *memory;
    int64_t bytes;

    bool serves(int64_t n) const
    {
        return memory != nullptr && (uintptr_t)memory % 16 == 0 &&
               bytes >= libsolver_trsv_workspace_bytes(n);
    }
};

extern "C" libsolver_trsv_options libsolver_trsv_default_options(void)
{
    libsolver_trsv_options options = {};
    options.invert_from = INVERT_FROM;
    options.scale_from = SCALE_FROM;
    return options;
}

extern "C" int64_t libsolver_trsv_workspace_bytes(int64_t n)
{
    /* rows rounded up to a tile, two packets for each: enough for every type */
    return n < 0 ? 0
                 : (int64_t)sizeof(workspace_head) +
                       (n + 63) / 64 * 64 * 2 * (int64_t)sizeof(packet_word);
}

extern "C" libsolver_status libsolver_trsv_workspace_init(void *workspace, int64_t bytes,
                                                          void *stream)
{
    if (workspace == nullptr || (uintptr_t)workspace % 16 != 0 ||
        bytes < (int64_t)sizeof(workspace_head))
        return LIBSOLVER_INVALID;
    return status_of(cudaMemsetAsync(workspace, 0, (size_t)bytes, (cudaStream_t)stream));
}

/* The form that the caller names, where n and the workspace allow it. */
template <typename T>
static libsolver_status trsv_by_form(triangle_view<T> L, vector_view<T> x, caller_workspace w,
                                     const libsolver_trsv_options &options, void *stream)
{
    switch (options.form) {
    case LIBSOLVER_TRSV_SHARED:
    case LIBSOLVER_TRSV_REGISTERS_A:
    case LIBSOLVER_TRSV_REGISTERS_B:
    case LIBSOLVER_TRSV_PANELS:
    case LIBSOLVER_TRSV_WARP:
        return L.n <= ONE_BLOCK_ORDER ? trsv_one_block(options.form, L, x, stream)
                                      : LIBSOLVER_INVALID;
    case LIBSOLVER_TRSV_LAUNCHES:
        return trsv_launches(L, x, options.block, stream);
    case LIBSOLVER_TRSV_CLUSTER:
        return L.n <= ONE_CLUSTER_ORDER || w.serves(L.n)
                   ? trsv_cluster(L, x, w.memory, options, stream)
                   : LIBSOLVER_INVALID;
    case LIBSOLVER_TRSV_GRID:
        return w.serves(L.n) ? trsv_grid(L, x, w.memory, options, stream) : LIBSOLVER_INVALID;
    case LIBSOLVER_TRSV_COUNTER:
        return w.serves(L.n) ? trsv_counter(L, x, w.memory, options, stream) : LIBSOLVER_INVALID;
    case LIBSOLVER_TRSV_AUTO:
        break;
    }
    return LIBSOLVER_INVALID;
}

/* The fastest form: REGISTERS_B, WARP, CLUSTER, GRID, the larger n the later. */
template <typename T>
static libsolver_status trsv_automatic(triangle_view<T> L, vector_view<T> x, caller_workspace w,
                                       libsolver_trsv_options options, void *stream)
{
    if (L.n > ONE_BLOCK_ORDER && !w.serves(L.n))
        return LIBSOLVER_INVALID;
    if (L.n <= cluster_until<T>(L.transposed)) {
        options.form = L.n <= REGISTERS_UNTIL ? LIBSOLVER_TRSV_REGISTERS_B
                       : L.n <= WARP_UNTIL    ? LIBSOLVER_TRSV_WARP
                                              : LIBSOLVER_TRSV_CLUSTER;
        options.scale_from = INT64_MAX; /* its steps are too short for z to be ready in time */
        const libsolver_status status = trsv_by_form(L, x, w, options, stream);
        /* a device may refuse a cluster of more than 8 blocks: nothing was launched then */
        if (status == LIBSOLVER_OK || L.n <= ONE_BLOCK_ORDER)
            return status;
    }
    options.form = LIBSOLVER_TRSV_GRID;
    return trsv_by_form(L, x, w, options, stream);
}

extern "C" libsolver_status libsolver_trsv(libsolver_type type, libsolver_storage uplo,
                                           libsolver_transpose trans, libsolver_diagonal diag,
                                           int64_t n, const void *a, int64_t lda, void *x,
                                           int64_t incx, void *workspace, int64_t workspace_bytes,
                                           const libsolver_trsv_options *options, void *stream)
{
    const call_range range(__func__);
    const triangle_case c = {uplo, trans, diag};
    const libsolver_trsv_options o =
        options != nullptr ? *options : libsolver_trsv_default_options();
    if (!type_valid(type) || !case_valid(c) || !order_valid(n, lda) || incx == 0 ||
        !options_valid(o) || (n > 0 && (a == nullptr || x == nullptr)))
        return LIBSOLVER_INVALID;
    if (n == 0)
        return LIBSOLVER_OK;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const triangle_view<T> L = view_triangle(c, n, static_cast<const T *>(a), lda);
        const vector_view<T> v = view_vector(c, n, static_cast<T *>(x), incx);
        const caller_workspace w = {workspace, workspace_bytes};
        return o.form == LIBSOLVER_TRSV_AUTO ? trsv_automatic(L, v, w, o, stream)
                                             : trsv_by_form(L, v, w, o, stream);
    });
}

extern "C" int64_t libsolver_trsv_prepare_bytes(libsolver_type type, int64_t n)
{
    int64_t bytes = 0;
    if (n > 0 && n <= INT32_MAX - 1024)
        with_type(type, [&](auto zero) {
            const prepare_sizes sizes = trsv_prepare_sizes<decltype(zero)>(n);
            bytes = PREPARED_HEAD + sizes.strips + 2 * sizes.inverses;
            return LIBSOLVER_OK;
        });
    return bytes;
}

extern "C" libsolver_status libsolver_trsv_prepare(libsolver_type type, libsolver_storage uplo,
                                                   libsolver_transpose trans,
                                                   libsolver_diagonal diag, int64_t n,
                                                   const void *a, int64_t lda, void *storage,
                                                   int64_t storage_bytes, double growth_limit,
                                                   void *stream, libsolver_trsv_prepared *prepared)
{
    const call_range range(__func__);
    const triangle_case c = {uplo, trans, diag};
    if (!type_valid(type) || !case_valid(c) || !order_valid(n, lda) || prepared == nullptr ||
        !(growth_limit >= 0))
        return LIBSOLVER_INVALID;
    *prepared = libsolver_trsv_prepared{};
    prepared->type = type;
    prepared->uplo = uplo;
    prepared->trans = trans;
    prepared->diag = diag;
    prepared->n = n;
    prepared->lda = lda;
    prepared->a = a;
    if (n == 0)
        return LIBSOLVER_OK;
    if (a == nullptr || storage == nullptr || (uintptr_t)storage % 16 != 0 ||
        storage_bytes < libsolver_trsv_prepare_bytes(type, n))
        return LIBSOLVER_INVALID;
    const double limit = growth_limit > 0 ? growth_limit : GROWTH_LIMIT;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const libsolver_status status =
            trsv_prepare_strips(view_triangle(c, n, static_cast<const T *>(a), lda), storage,
                                stream, &prepared->growth);
        prepared->strips = static_cast<const char *>(storage) + PREPARED_HEAD;
        prepared->block =
            status == LIBSOLVER_OK && prepared->growth <= limit ? prepared_block<T>() : 0;
        return status;
    });
}

extern "C" libsolver_status libsolver_trsv_solve(const libsolver_trsv_prepared *prepared, void *x,
                                                 int64_t incx, void *workspace,
                                                 int64_t workspace_bytes, void *stream)
{
    const call_range range(__func__);
    const libsolver_trsv_prepared *p = prepared;
    if (p == nullptr || incx == 0 || (p->n > 0 && x == nullptr))
        return LIBSOLVER_INVALID;
    if (p->n == 0)
        return LIBSOLVER_OK;
    if (p->block == 0)
        return libsolver_trsv(p->type, p->uplo, p->trans, p->diag, p->n, p->a, p->lda, x, incx,
                              workspace, workspace_bytes, nullptr, stream);
    if (p->n > ONE_BLOCK_ORDER && !caller_workspace{workspace, workspace_bytes}.serves(p->n))
        return LIBSOLVER_INVALID;
    return with_type(p->type, [&](auto zero) {
        using T = decltype(zero);
        return trsv_strips(static_cast<const T *>(p->strips), (int)p->n,
                           view_vector({p->uplo, p->trans, p->diag}, p->n, static_cast<T *>(x),
                                       incx),
                           workspace, stream);
    });
}
