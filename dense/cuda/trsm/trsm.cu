/* dense/cuda/trsm/trsm.cu: the public calls: check the arguments, see every case as one, take the
 * sides 64 at a time
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/arguments.h"
#include "dense/cuda/device/call_range.h"
#include "dense/cuda/device/grid.cuh"
#include "dense/cuda/device/growth.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsm/forms.h"
#include <algorithm>

/* Which problem a call is.  X op(A) = B is op(A)^T X^T = B^T. */
struct trsm_case {
    libsolver_side side;
    triangle_case triangle;

    bool valid() const
    {
        return (side == LIBSOLVER_LEFT || side == LIBSOLVER_RIGHT) && case_valid(triangle);
    }
    bool left() const { return side == LIBSOLVER_LEFT; }
    /* As a problem from the left; the conjugate is that of the sides. */
    triangle_case from_left() const
    {
        triangle_case t = triangle;
        if (!left())
            t.trans =
                t.trans == LIBSOLVER_NO_TRANSPOSE ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE;
        return t;
    }
};

extern "C" int64_t libsolver_trsm_workspace_bytes(int64_t n, int64_t nrhs)
{
    if (n < 0 || nrhs < 0)
        return 0;
    int64_t sides = 8; /* blocks of 8, 16 or 32 sides make no more of them than the next power of 2
                        */
    while (sides < nrhs && sides < MOST_SIDES)
        sides *= 2;
    /* rows rounded up to a tile, two words for each entry: enough for every type */
    return (int64_t)sizeof(workspace_head) +
           (n + 63) / 64 * 64 * sides * 2 * (int64_t)sizeof(packet_word);
}

extern "C" libsolver_status libsolver_trsm_workspace_init(void *workspace, int64_t bytes,
                                                          void *stream)
{
    if (workspace == nullptr || (uintptr_t)workspace % 16 != 0 ||
        bytes < (int64_t)sizeof(workspace_head))
        return LIBSOLVER_INVALID;
    return status_of(cudaMemsetAsync(workspace, 0, (size_t)bytes, (cudaStream_t)stream));
}

/* B as the caller passed it, and the workspace. */
struct trsm_sides {
    const void *alpha;
    void *b;
    int64_t ldb, count; /* count: of right-hand sides */
    void *workspace;
    int64_t bytes;

    bool served(int64_t n) const
    {
        return b != nullptr && workspace != nullptr && (uintptr_t)workspace % 16 == 0 &&
               bytes >= libsolver_trsm_workspace_bytes(n, count);
    }
};

/* solve(sides) for each MOST_SIDES of them as L's; B := 0 when alpha is. */
template <typename T, typename Solve>
static libsolver_status for_sides(trsm_case c, int64_t n, const trsm_sides &s, void *stream,
                                  Solve solve)
{
    const T alpha = alpha_of<T>(s.alpha);
    if (magnitude(alpha) == 0) {
        const int64_t rows = c.left() ? n : s.count, columns = c.left() ? s.count : n;
        return status_of(cudaMemset2DAsync(s.b, (size_t)s.ldb * sizeof(T), 0,
                                           (size_t)rows * sizeof(T), (size_t)columns,
                                           (cudaStream_t)stream));
    }
    const triangle_case t = c.from_left();
    const bool reversed = (t.uplo == LIBSOLVER_UPPER) != (t.trans != LIBSOLVER_NO_TRANSPOSE);
    const int64_t row = c.left() ? 1 : s.ldb, column = c.left() ? s.ldb : 1;
    T *first = static_cast<T *>(s.b) + (reversed ? (n - 1) * row : 0);
    libsolver_status status = LIBSOLVER_OK;
    for (int64_t k = 0; k < s.count && status == LIBSOLVER_OK; k += MOST_SIDES)
        status = solve(sides_view<T>{first + k * column, reversed ? -row : row, column,
                                     (int)std::min<int64_t>(MOST_SIDES, s.count - k), alpha,
                                     c.triangle.trans == LIBSOLVER_CONJUGATE_TRANSPOSE});
    return status;
}

extern "C" libsolver_status libsolver_trsm(libsolver_type type, libsolver_side side,
                                           libsolver_storage uplo, libsolver_transpose trans,
                                           libsolver_diagonal diag, int64_t m, int64_t n,
                                           const void *alpha, const void *a, int64_t lda, void *b,
                                           int64_t ldb, void *workspace, int64_t workspace_bytes,
                                           void *stream)
{
    const call_range range(__func__);
    const trsm_case c = {side, {uplo, trans, diag}};
    const int64_t order = c.left() ? m : n;
    const trsm_sides s = {alpha, b, ldb, c.left() ? n : m, workspace, workspace_bytes};
    if (!type_valid(type) || !c.valid() || !order_valid(order, lda) || !order_valid(m, ldb) ||
        n < 0)
        return LIBSOLVER_INVALID;
    if (m == 0 || n == 0)
        return LIBSOLVER_OK;
    if (a == nullptr || !s.served(order))
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const triangle_view<T> L =
            view_triangle(c.from_left(), order, static_cast<const T *>(a), lda);
        return for_sides<T>(c, order, s, stream, [&](const sides_view<T> &sides) {
            return trsm_rows(L, sides, workspace, stream);
        });
    });
}

extern "C" int64_t libsolver_trsm_prepare_bytes(libsolver_type type, int64_t n)
{
    int64_t bytes = 0;
    if (n > 0 && order_valid(n, n))
        with_type(type, [&](auto zero) {
            bytes = trsm_prepared_layout<decltype(zero)>(n).bytes;
            return LIBSOLVER_OK;
        });
    return bytes;
}

extern "C" libsolver_status
libsolver_trsm_prepare(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                       libsolver_transpose trans, libsolver_diagonal diag, int64_t n, const void *a,
                       int64_t lda, void *storage, int64_t storage_bytes, double growth_limit,
                       void *stream, libsolver_trsm_prepared *prepared)
{
    const call_range range(__func__);
    const trsm_case c = {side, {uplo, trans, diag}};
    if (!type_valid(type) || !c.valid() || !order_valid(n, lda) || prepared == nullptr ||
        !(growth_limit >= 0))
        return LIBSOLVER_INVALID;
    if (n > 0 && (a == nullptr || storage == nullptr || (uintptr_t)storage % 16 != 0 ||
                  storage_bytes < libsolver_trsm_prepare_bytes(type, n)))
        return LIBSOLVER_INVALID;
    *prepared = libsolver_trsm_prepared{};
    prepared->type = type;
    prepared->side = side;
    prepared->uplo = uplo;
    prepared->trans = trans;
    prepared->diag = diag;
    prepared->n = n;
    prepared->storage = storage;
    prepared->growth_limit = growth_limit > 0 ? growth_limit : SIDES_GROWTH_LIMIT;
    if (n == 0)
        return LIBSOLVER_OK;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        return trsm_prepare(view_triangle(c.from_left(), n, static_cast<const T *>(a), lda),
                            storage, prepared->growth_limit, stream);
    });
}

extern "C" libsolver_status libsolver_trsm_solve(const libsolver_trsm_prepared *prepared,
                                                 int64_t nrhs, const void *alpha, void *b,
                                                 int64_t ldb, void *workspace,
                                                 int64_t workspace_bytes, void *stream)
{
    const call_range range(__func__);
    const libsolver_trsm_prepared *p = prepared;
    if (p == nullptr || nrhs < 0)
        return LIBSOLVER_INVALID;
    const trsm_case c = {p->side, {p->uplo, p->trans, p->diag}};
    const trsm_sides s = {alpha, b, ldb, nrhs, workspace, workspace_bytes};
    if (!order_valid(c.left() ? p->n : nrhs, ldb))
        return LIBSOLVER_INVALID;
    if (p->n == 0 || nrhs == 0)
        return LIBSOLVER_OK;
    if (p->storage == nullptr || !s.served(p->n))
        return LIBSOLVER_INVALID;
    return with_type(p->type, [&](auto zero) {
        using T = decltype(zero);
        return for_sides<T>(c, p->n, s, stream, [&](const sides_view<T> &sides) {
            return trsm_prepared(p->storage, (int)p->n, p->growth_limit, sides, workspace, stream);
        });
    });
}
