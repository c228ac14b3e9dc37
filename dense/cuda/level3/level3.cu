/* dense/cuda/level3/level3.cu: the public calls: check the arguments, choose how
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/arguments.h"
#include "dense/cuda/device/call_range.h"
#include "dense/cuda/level3/blocks.cuh"
#include "dense/cuda/level3/recursion.cuh"

/* bench_level3, H200: right-hand sides up to which launches of libsolver_trsm, one for 64 of them,
 * are faster than halves, but for small orders, where 64 are; the order up to which one launch of
 * libsolver_potrf is. */
constexpr int64_t FEW_SIDES = 256, SMALL_ORDER = 128, LAUNCH_ORDER = 4096;

/* bench_papers choice, H100: when inverses of diagonal blocks are faster than both.  Of the largest
 * problems the triangles are so small a part that copies of B decide. */
static bool inverses_are_faster(libsolver_type type, int64_t order, int64_t count)
{
    const bool complex = type == LIBSOLVER_C || type == LIBSOLVER_Z;
    const int64_t entries = order * count;
    return count > 64 && entries <= 1 << 25 &&
           (complex ? order >= 512 && entries >= 1 << 18 : order >= 1024 && entries > 1 << 18);
}

/* What cuBLAS takes as an int. */
static bool rows_valid(int64_t m, int64_t ld)
{
    return order_valid(m, ld) && ld <= INT32_MAX;
}
static bool order_served(const libsolver_dense_context *context, int64_t n, int64_t lda)
{
    return context != nullptr && rows_valid(n, lda) && n <= context->order;
}

/* Arguments of trsm and trmm. */
struct sided {
    libsolver_dense_context *context;
    libsolver_type type;
    libsolver_side side;
    triangle_case c;
    int64_t m, n;
    const void *alpha, *a;
    int64_t lda;
    void *b;
    int64_t ldb;

    bool right() const { return side == LIBSOLVER_RIGHT; }
    int64_t order() const { return right() ? n : m; }
    int64_t count() const { return right() ? m : n; }
    bool valid() const
    {
        return type_valid(type) && (right() || side == LIBSOLVER_LEFT) && case_valid(c) &&
               size_valid(n) && rows_valid(m, ldb) && order_served(context, order(), lda);
    }
};

/* call(recursion, A, B, alpha) with the type's recursion; B := 0 when alpha is. */
template <typename Call> static libsolver_status with_sides(const sided &s, void *stream, Call call)
{
    if (!s.valid())
        return LIBSOLVER_INVALID;
    if (s.m == 0 || s.n == 0)
        return LIBSOLVER_OK;
    if (s.a == nullptr || s.b == nullptr)
        return LIBSOLVER_INVALID;
    return with_type(s.type, [&](auto zero) {
        using T = decltype(zero);
        recursion<T> r(*s.context, stream);
        const T alpha = alpha_of<T>(s.alpha);
        const matrix<T> b = {static_cast<T *>(s.b), s.ldb};
        if (magnitude(alpha) == 0)
            r.scale(alpha, s.m, s.n, b);
        else
            call(r, factor<T>{{static_cast<const T *>(s.a), s.lda}, s.c, s.right()}, b, alpha);
        return r.status;
    });
}

template <typename T>
static block_solve<T> by_blocks(const libsolver_dense_context &context, recursion<T> &r,
                                const factor<T> &f, int64_t n, bool halves)
{
    const int64_t most = LEVEL3_BLOCK_BYTES / (int64_t)sizeof(T);
    return block_solve<T>(r, f, n, min(most, context.block), halves);
}

extern "C" libsolver_status libsolver_dense_trsm(libsolver_dense_context *context,
                                                 libsolver_type type, libsolver_side side,
                                                 libsolver_storage uplo, libsolver_transpose trans,
                                                 libsolver_diagonal diag, int64_t m, int64_t n,
                                                 const void *alpha, const void *a, int64_t lda,
                                                 void *b, int64_t ldb, void *stream)
{
    const call_range range(__func__);
    const sided s = {context, type, side, {uplo, trans, diag}, m, n, alpha, a, lda, b, ldb};
    libsolver_dense_trsm_form form = context != nullptr ? context->form : LIBSOLVER_DENSE_TRSM_AUTO;
    if (s.valid() && form == LIBSOLVER_DENSE_TRSM_AUTO &&
        inverses_are_faster(type, s.order(), s.count()))
        form = LIBSOLVER_DENSE_TRSM_INVERSE_HALVES;
    if (s.valid() && form == LIBSOLVER_DENSE_TRSM_AUTO &&
        s.count() <= (s.order() > SMALL_ORDER ? FEW_SIDES : 64))
        return libsolver_trsm(type, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb,
                              context->few, context->few_bytes, stream);
    return with_sides(s, stream, [&](auto &r, const auto &f, const auto &b, auto alpha) {
        if (form <= LIBSOLVER_DENSE_TRSM_HALVES)
            r.solve(f, s.order(), s.count(), alpha, b);
        else
            by_blocks(*context, r, f, s.order(), form == LIBSOLVER_DENSE_TRSM_INVERSE_HALVES)
                .solve(s.count(), alpha, b);
    });
}

extern "C" libsolver_status libsolver_dense_trmm(libsolver_dense_context *context,
                                                 libsolver_type type, libsolver_side side,
                                                 libsolver_storage uplo, libsolver_transpose trans,
                                                 libsolver_diagonal diag, int64_t m, int64_t n,
                                                 const void *alpha, const void *a, int64_t lda,
                                                 void *b, int64_t ldb, void *stream)
{
    const call_range range(__func__);
    const sided s = {context, type, side, {uplo, trans, diag}, m, n, alpha, a, lda, b, ldb};
    return with_sides(s, stream, [&](auto &r, const auto &f, const auto &b, auto alpha) {
        r.multiply(f, s.order(), s.count(), alpha, b);
    });
}

/* A := inv(A) */
template <typename T>
static void invert(const libsolver_dense_context &context, recursion<T> &r, libsolver_storage uplo,
                   libsolver_diagonal diag, int64_t n, const matrix<T> &a)
{
    by_blocks(context, r, factor<T>{{a.entry, a.ld}, {uplo, LIBSOLVER_NO_TRANSPOSE, diag}, false},
              n, true)
        .invert_triangle(a);
}

/* call(recursion, A) for a matrix in place. */
template <typename Call>
static libsolver_status in_place(libsolver_dense_context *context, libsolver_type type,
                                 libsolver_storage uplo, int64_t n, void *a, int64_t lda,
                                 void *stream, Call call)
{
    if (!type_valid(type) || !uplo_valid(uplo) || !order_served(context, n, lda))
        return LIBSOLVER_INVALID;
    if (n == 0)
        return LIBSOLVER_OK;
    if (a == nullptr)
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        recursion<T> r(*context, stream);
        call(r, matrix<T>{static_cast<T *>(a), lda});
        return r.status;
    });
}

extern "C" libsolver_status libsolver_dense_trtri(libsolver_dense_context *context,
                                                  libsolver_type type, libsolver_storage uplo,
                                                  libsolver_diagonal diag, int64_t n, void *a,
                                                  int64_t lda, void *stream)
{
    const call_range range(__func__);
    if (!diagonal_valid(diag))
        return LIBSOLVER_INVALID;
    return in_place(context, type, uplo, n, a, lda, stream,
                    [&](auto &r, const auto &a) { invert(*context, r, uplo, diag, n, a); });
}

extern "C" libsolver_status libsolver_dense_lauum(libsolver_dense_context *context,
                                                  libsolver_type type, libsolver_storage uplo,
                                                  int64_t n, void *a, int64_t lda, void *stream)
{
    const call_range range(__func__);
    return in_place(context, type, uplo, n, a, lda, stream,
                    [&](auto &r, const auto &a) { r.square_triangle(uplo, n, a); });
}

extern "C" libsolver_status libsolver_dense_potri(libsolver_dense_context *context,
                                                  libsolver_type type, libsolver_storage uplo,
                                                  int64_t n, void *a, int64_t lda, void *stream)
{
    const call_range range(__func__);
    return in_place(context, type, uplo, n, a, lda, stream, [&](auto &r, const auto &a) {
        invert(*context, r, uplo, LIBSOLVER_NON_UNIT, n, a);
        r.square_triangle(uplo, n, a);
    });
}

extern "C" libsolver_status libsolver_dense_potrf(libsolver_dense_context *context,
                                                  libsolver_type type, libsolver_storage uplo,
                                                  int64_t n, void *a, int64_t lda, int *info,
                                                  void *stream)
{
    const call_range range(__func__);
    if (info == nullptr)
        return LIBSOLVER_INVALID;
    if (n == 0 && type_valid(type) && uplo_valid(uplo) && order_served(context, n, lda))
        return status_of(cudaMemsetAsync(info, 0, sizeof *info, (cudaStream_t)stream));
    return in_place(context, type, uplo, n, a, lda, stream,
                    [&](auto &r, const auto &a) { r.factorize(uplo, n, a, info, LAUNCH_ORDER); });
}

extern "C" libsolver_status libsolver_dense_potrs(libsolver_dense_context *context,
                                                  libsolver_type type, libsolver_storage uplo,
                                                  int64_t n, int64_t nrhs, const void *a,
                                                  int64_t lda, void *b, int64_t ldb, void *stream)
{
    const call_range range(__func__);
    const bool lower = uplo == LIBSOLVER_LOWER;
    libsolver_status status = LIBSOLVER_OK;
    for (const bool turned : {!lower, lower}) /* L and L^H, or U^H and U */
        if (status == LIBSOLVER_OK)
            status =
                libsolver_dense_trsm(context, type, LIBSOLVER_LEFT, uplo,
                                     turned ? LIBSOLVER_CONJUGATE_TRANSPOSE
                                            : LIBSOLVER_NO_TRANSPOSE,
                                     LIBSOLVER_NON_UNIT, n, nrhs, nullptr, a, lda, b, ldb, stream);
    return status;
}

extern "C" libsolver_status libsolver_dense_posv(libsolver_dense_context *context,
                                                 libsolver_type type, libsolver_storage uplo,
                                                 int64_t n, int64_t nrhs, void *a, int64_t lda,
                                                 void *b, int64_t ldb, int *info, void *stream)
{
    const call_range range(__func__);
    if (!size_valid(nrhs) || !order_valid(n, ldb) || (n > 0 && nrhs > 0 && b == nullptr))
        return LIBSOLVER_INVALID;
    const libsolver_status status =
        libsolver_dense_potrf(context, type, uplo, n, a, lda, info, stream);
    return status != LIBSOLVER_OK
               ? status
               : libsolver_dense_potrs(context, type, uplo, n, nrhs, a, lda, b, ldb, stream);
}
