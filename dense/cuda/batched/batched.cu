/* dense/cuda/batched/batched.cu: the public calls: check the arguments, gather them into a batch
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/batched/batch.h"
#include "dense/cuda/device/arguments.h"
#include "dense/cuda/device/call_range.h"
#include "dense/cuda/device/launch.cuh"

/* The matrices of a batch as the caller passed them.  Leading dimensions that are on the device
 * cannot be checked here: as far as that goes they are large enough. */
struct caller_matrix {
    const void *first;
    int64_t stride;
    const void *const *each;
    batch_number ld;

    bool given() const { return first != nullptr || each != nullptr; }
    template <typename T> batch_matrix<T> of() const
    {
        return {static_cast<T *>(const_cast<void *>(first)), stride,
                reinterpret_cast<T *const *>(const_cast<void *const *>(each)), ld};
    }
};
static caller_matrix strided(const void *first, int64_t ld, int64_t stride)
{
    return {first, stride, nullptr, {ld, nullptr}};
}
static caller_matrix pointers(const void *const *each, int64_t ld)
{
    return {nullptr, 0, each, {ld, nullptr}};
}
static caller_matrix pointers_and_sizes(const void *const *each, const int64_t *lds)
{
    return {nullptr, 0, each, {INT64_MAX, lds}};
}
static batch_number same_for_all(int64_t n)
{
    return {n, nullptr};
}

static bool count_valid(int64_t count)
{
    return count >= 0 && count <= INT32_MAX;
}
static bool matrix_valid(const caller_matrix &a, const batch_number &rows)
{
    return order_valid(rows.same, a.ld.same);
}

/* What a batch of solves, or of products, is called with. */
struct caller_solve {
    triangle_case c;
    libsolver_side side;
    batch_number rows, columns; /* of B */
    caller_matrix a, b;
    int64_t incx, count;
};
enum class task { SOLVE, MULTIPLY };

static libsolver_status solve_any(libsolver_type type, const caller_solve &s, void *stream,
                                  task what = task::SOLVE)
{
    const bool right = s.side == LIBSOLVER_RIGHT;
    const batch_number order = right ? s.columns : s.rows, columns = right ? s.rows : s.columns;
    if (!type_valid(type) || !case_valid(s.c) || (!right && s.side != LIBSOLVER_LEFT) ||
        !count_valid(s.count) || !size_valid(columns.same) || !matrix_valid(s.a, order) ||
        !matrix_valid(s.b, s.rows))
        return LIBSOLVER_INVALID;
    if (order.same == 0 || columns.same == 0 || s.count == 0)
        return LIBSOLVER_OK;
    if (!s.a.given() || !s.b.given())
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const solve_batch<T> batch = {s.c,         right,  order,  columns, s.a.of<const T>(),
                                      s.b.of<T>(), s.incx, s.count};
        return what == task::SOLVE ? solve_batched<T>(batch, stream)
                                   : multiply_batched<T>(batch, from_real<T>(1), stream);
    });
}

/* A vector is a matrix of one column, which has no leading dimension. */
static libsolver_status solve_vectors(libsolver_type type, triangle_case c, batch_number n,
                                      const caller_matrix &a, const caller_matrix &x, int64_t incx,
                                      int64_t batch, void *stream)
{
    return incx == 0 ? LIBSOLVER_INVALID
                     : solve_any(type, {c, LIBSOLVER_LEFT, n, same_for_all(1), a, x, incx, batch},
                                 stream);
}

extern "C" libsolver_status
libsolver_trsv_strided_batched(libsolver_type type, libsolver_storage uplo,
                               libsolver_transpose trans, libsolver_diagonal diag, int64_t n,
                               const void *a, int64_t lda, int64_t stride_a, void *x, int64_t incx,
                               int64_t stride_x, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_vectors(type, {uplo, trans, diag}, same_for_all(n), strided(a, lda, stride_a),
                         strided(x, INT64_MAX, stride_x), incx, batch, stream);
}

extern "C" libsolver_status
libsolver_trsv_batched(libsolver_type type, libsolver_storage uplo, libsolver_transpose trans,
                       libsolver_diagonal diag, int64_t n, const void *const *a, int64_t lda,
                       void *const *x, int64_t incx, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_vectors(type, {uplo, trans, diag}, same_for_all(n), pointers(a, lda),
                         pointers(x, INT64_MAX), incx, batch, stream);
}

extern "C" libsolver_status
libsolver_trsv_variable_batched(libsolver_type type, libsolver_storage uplo,
                                libsolver_transpose trans, libsolver_diagonal diag, int64_t max_n,
                                const int64_t *n, const void *const *a, const int64_t *lda,
                                void *const *x, int64_t incx, int64_t batch, void *stream)
{
    const call_range range(__func__);
    if (max_n > 0 && batch > 0 && (n == nullptr || lda == nullptr))
        return LIBSOLVER_INVALID;
    return solve_vectors(type, {uplo, trans, diag}, {max_n, n}, pointers_and_sizes(a, lda),
                         pointers(x, INT64_MAX), incx, batch, stream);
}

extern "C" libsolver_status
libsolver_trsm_strided_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                               libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
                               int64_t n, const void *a, int64_t lda, int64_t stride_a, void *b,
                               int64_t ldb, int64_t stride_b, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      same_for_all(m),
                      same_for_all(n),
                      strided(a, lda, stride_a),
                      strided(b, ldb, stride_b),
                      0,
                      batch},
                     stream);
}

extern "C" libsolver_status
libsolver_trsm_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                       libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n,
                       const void *const *a, int64_t lda, void *const *b, int64_t ldb,
                       int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      same_for_all(m),
                      same_for_all(n),
                      pointers(a, lda),
                      pointers(b, ldb),
                      0,
                      batch},
                     stream);
}

extern "C" libsolver_status
libsolver_trsm_variable_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                                libsolver_transpose trans, libsolver_diagonal diag, int64_t max_m,
                                int64_t max_n, const int64_t *m, const int64_t *n,
                                const void *const *a, const int64_t *lda, void *const *b,
                                const int64_t *ldb, int64_t batch, void *stream)
{
    const call_range range(__func__);
    if (max_m > 0 && max_n > 0 && batch > 0 &&
        (m == nullptr || n == nullptr || lda == nullptr || ldb == nullptr))
        return LIBSOLVER_INVALID;
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      {max_m, m},
                      {max_n, n},
                      pointers_and_sizes(a, lda),
                      pointers_and_sizes(b, ldb),
                      0,
                      batch},
                     stream);
}

extern "C" libsolver_status
libsolver_trmm_strided_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                               libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
                               int64_t n, const void *a, int64_t lda, int64_t stride_a, void *b,
                               int64_t ldb, int64_t stride_b, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      same_for_all(m),
                      same_for_all(n),
                      strided(a, lda, stride_a),
                      strided(b, ldb, stride_b),
                      0,
                      batch},
                     stream, task::MULTIPLY);
}

extern "C" libsolver_status
libsolver_trmm_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                       libsolver_transpose trans, libsolver_diagonal diag, int64_t m, int64_t n,
                       const void *const *a, int64_t lda, void *const *b, int64_t ldb,
                       int64_t batch, void *stream)
{
    const call_range range(__func__);
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      same_for_all(m),
                      same_for_all(n),
                      pointers(a, lda),
                      pointers(b, ldb),
                      0,
                      batch},
                     stream, task::MULTIPLY);
}

extern "C" libsolver_status
libsolver_trmm_variable_batched(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                                libsolver_transpose trans, libsolver_diagonal diag, int64_t max_m,
                                int64_t max_n, const int64_t *m, const int64_t *n,
                                const void *const *a, const int64_t *lda, void *const *b,
                                const int64_t *ldb, int64_t batch, void *stream)
{
    const call_range range(__func__);
    if (max_m > 0 && max_n > 0 && batch > 0 &&
        (m == nullptr || n == nullptr || lda == nullptr || ldb == nullptr))
        return LIBSOLVER_INVALID;
    return solve_any(type,
                     {{uplo, trans, diag},
                      side,
                      {max_m, m},
                      {max_n, n},
                      pointers_and_sizes(a, lda),
                      pointers_and_sizes(b, ldb),
                      0,
                      batch},
                     stream, task::MULTIPLY);
}

static libsolver_status invert_any(libsolver_type type, libsolver_storage uplo,
                                   libsolver_diagonal diag, batch_number n, const caller_matrix &a,
                                   int64_t batch, void *stream)
{
    if (!type_valid(type) || !uplo_valid(uplo) || !diagonal_valid(diag) || !count_valid(batch) ||
        !matrix_valid(a, n))
        return LIBSOLVER_INVALID;
    if (n.same == 0 || batch == 0)
        return LIBSOLVER_OK;
    if (!a.given())
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        return invert_batched<T>({uplo, diag, n, a.of<T>(), nullptr, batch}, stream);
    });
}

extern "C" libsolver_status libsolver_trtri_strided_batched(libsolver_type type,
                                                            libsolver_storage uplo,
                                                            libsolver_diagonal diag, int64_t n,
                                                            void *a, int64_t lda, int64_t stride_a,
                                                            int64_t batch, void *stream)
{
    const call_range range(__func__);
    return invert_any(type, uplo, diag, same_for_all(n), strided(a, lda, stride_a), batch, stream);
}

extern "C" libsolver_status libsolver_trtri_batched(libsolver_type type, libsolver_storage uplo,
                                                    libsolver_diagonal diag, int64_t n,
                                                    void *const *a, int64_t lda, int64_t batch,
                                                    void *stream)
{
    const call_range range(__func__);
    return invert_any(type, uplo, diag, same_for_all(n), pointers(a, lda), batch, stream);
}

extern "C" libsolver_status
libsolver_trtri_variable_batched(libsolver_type type, libsolver_storage uplo,
                                 libsolver_diagonal diag, int64_t max_n, const int64_t *n,
                                 void *const *a, const int64_t *lda, int64_t batch, void *stream)
{
    const call_range range(__func__);
    if (max_n > 0 && batch > 0 && (n == nullptr || lda == nullptr))
        return LIBSOLVER_INVALID;
    return invert_any(type, uplo, diag, {max_n, n}, pointers_and_sizes(a, lda), batch, stream);
}

/* Where all orders are 0 there is still info to be written. */
static libsolver_status cholesky_any(libsolver_type type, libsolver_storage uplo, batch_number n,
                                     const caller_matrix &a, int *info, int64_t batch, void *stream)
{
    if (!type_valid(type) || !uplo_valid(uplo) || !count_valid(batch) || !matrix_valid(a, n))
        return LIBSOLVER_INVALID;
    if (batch == 0)
        return LIBSOLVER_OK;
    if (info == nullptr || (n.same > 0 && !a.given()))
        return LIBSOLVER_INVALID;
    return with_type(type, [&](auto zero) {
        using T = decltype(zero);
        return cholesky_batched<T>({uplo, LIBSOLVER_NON_UNIT, n, a.of<T>(), info, batch}, stream);
    });
}

extern "C" libsolver_status libsolver_potrf_strided_batched(libsolver_type type,
                                                            libsolver_storage uplo, int64_t n,
                                                            void *a, int64_t lda, int64_t stride_a,
                                                            int *info, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return cholesky_any(type, uplo, same_for_all(n), strided(a, lda, stride_a), info, batch,
                        stream);
}

extern "C" libsolver_status libsolver_potrf_batched(libsolver_type type, libsolver_storage uplo,
                                                    int64_t n, void *const *a, int64_t lda,
                                                    int *info, int64_t batch, void *stream)
{
    const call_range range(__func__);
    return cholesky_any(type, uplo, same_for_all(n), pointers(a, lda), info, batch, stream);
}

extern "C" libsolver_status libsolver_potrf_variable_batched(libsolver_type type,
                                                             libsolver_storage uplo, int64_t max_n,
                                                             const int64_t *n, void *const *a,
                                                             const int64_t *lda, int *info,
                                                             int64_t batch, void *stream)
{
    const call_range range(__func__);
    if (max_n > 0 && batch > 0 && (n == nullptr || lda == nullptr))
        return LIBSOLVER_INVALID;
    return cholesky_any(type, uplo, {max_n, n}, pointers_and_sizes(a, lda), info, batch, stream);
}
