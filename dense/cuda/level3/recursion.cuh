/* dense/cuda/level3/recursion.cuh: operations on large triangles by halves: products where they are
 * large, kernels of the batches where triangles are small
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A triangle of order n is cut at the largest leaf 2^k below n [Charara, Ltaief, Keyes: Redesigning
 * triangular dense matrix computations on GPUs, Euro-Par 2016].  All is in place.  An operation
 * after one that failed is left out; `status` is that of the first. */
#ifndef DENSE_CUDA_LEVEL3_RECURSION_CUH
#define DENSE_CUDA_LEVEL3_RECURSION_CUH

#include "dense/cuda/batched/batch.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/type.cuh"
#include "dense/cuda/level3/context.h"
#include "dense/cuda/level3/products.h"
#include "dense/cuda/level3/small.cuh"

template <typename T> struct matrix {
    T *entry;
    int64_t ld;

    T *at(int64_t i, int64_t j) const { return entry + i + j * ld; }
    matrix from(int64_t i, int64_t j) const { return {at(i, j), ld}; }
};

/* A triangle op(A), from the left or the right of B. */
template <typename T> struct factor {
    matrix<const T> a;
    triangle_case c;
    bool right;

    /* Whether op(A) is lower. */
    bool lower() const
    {
        return (c.uplo == LIBSOLVER_LOWER) == (c.trans == LIBSOLVER_NO_TRANSPOSE);
    }
    factor part(int64_t k) const { return {a.from(k, k), c, right}; }
    /* What is stored beside the diagonal blocks of orders k and the rest. */
    matrix<const T> beside(int64_t k) const
    {
        return c.uplo == LIBSOLVER_LOWER ? a.from(k, 0) : a.from(0, k);
    }
};

template <typename T> class block_solve;

template <typename T> class recursion
{
    friend block_solve<T>; /* blocks.cuh */
    using R = real_of<T>;
    static constexpr libsolver_type type = type_of<T>::value;
    /* The order up to which trmm is one launch: beyond it large products by cuBLAS are faster
     * (bench_level3, H100). */
    static constexpr int64_t WHOLE = sizeof(R) == 4 ? 4096 : 2048;
    const libsolver_dense_context &context;
    void *const stream;
    bool opened = false;

    int64_t cut(int64_t n) const
    {
        int64_t k = context.leaf;
        while (2 * k < n)
            k *= 2;
        return k;
    }
    void note(libsolver_status s)
    {
        if (status == LIBSOLVER_OK)
            status = s;
    }
    /* Whether cuBLAS's handle can be used.  It is put on the stream by the first product that needs
     * it: many small operations need none, and this costs them a microsecond of the host. */
    bool open()
    {
        const cublas_calls &calls = *context.cublas;
        if (status == LIBSOLVER_OK && !opened &&
            (calls.set_stream(context.handle, stream) != 0 ||
             calls.set_workspace(context.handle, context.products, LEVEL3_CUBLAS_BYTES) != 0 ||
             calls.set_pointer_mode(context.handle, CUBLAS_HOST) != 0 ||
             calls.set_atomics(context.handle, CUBLAS_ATOMICS_OFF) != 0))
            note(LIBSOLVER_CUDA);
        opened = true;
        return status == LIBSOLVER_OK;
    }
    template <typename Kernel, typename... Arguments>
    void run(Kernel kernel, int64_t blocks, Arguments... arguments)
    {
        if (status == LIBSOLVER_OK)
            note(launch(kernel, {blocks, SMALL_THREADS}, stream, arguments...));
    }
    static int operation(libsolver_transpose t)
    {
        return t == LIBSOLVER_NO_TRANSPOSE ? CUBLAS_N
               : t == LIBSOLVER_TRANSPOSE  ? CUBLAS_T
                                           : CUBLAS_C;
    }
    /* C := alpha op(A) op(B) + beta C, m x n, k the common index */
    void multiply_add_to(matrix<T> c, int64_t m, int64_t n, int64_t k, T alpha, matrix<const T> a,
                         libsolver_transpose ta, matrix<const T> b, libsolver_transpose tb, T beta)
    {
        const matrix_operands<T> o = {ta,   tb,      m,    n,    k,       alpha, a.entry,
                                      a.ld, b.entry, b.ld, beta, c.entry, c.ld};
        if (status == LIBSOLVER_OK && is_small_product(o))
            note(multiply_matrices(best_way(o), o, stream));
        else if (open() &&
                 context.cublas->gemm[type](context.handle, operation(ta), operation(tb), (int)m,
                                            (int)n, (int)k, &alpha, a.entry, (int)a.ld, b.entry,
                                            (int)b.ld, &beta, c.entry, (int)c.ld) != 0)
            note(LIBSOLVER_CUDA);
    }
    /* the triangle `uplo` of C := alpha op(A) op(A)^H + beta C */
    void square_add_to(libsolver_storage uplo, matrix<T> c, int64_t n, int64_t k, R alpha,
                       matrix<const T> a, bool turned, R beta)
    {
        if (open() &&
            context.cublas->herk[type](context.handle,
                                       uplo == LIBSOLVER_LOWER ? CUBLAS_LOWER : CUBLAS_UPPER,
                                       !turned                 ? CUBLAS_N
                                       : scalar<T>::is_complex ? CUBLAS_C
                                                               : CUBLAS_T,
                                       (int)n, (int)k, &alpha, a.entry, (int)a.ld, &beta, c.entry,
                                       (int)c.ld) != 0)
            note(LIBSOLVER_CUDA);
    }
    /* B of `count` right-hand sides as a batch, of which blocks of threads have 64 each. */
    template <typename Call>
    void at_once(const factor<T> &f, int64_t order, int64_t count, matrix<T> b, Call call)
    {
        for (int64_t done = 0; done < count && status == LIBSOLVER_OK;) {
            const int64_t width = min(count - done, (int64_t)STRIP), items = (count - done) / width,
                          step = f.right ? width : width * b.ld;
            note(call(solve_batch<T>{
                f.c,
                f.right,
                {order, nullptr},
                {width, nullptr},
                {f.a.entry, 0, nullptr, {f.a.ld, nullptr}},
                {f.right ? b.at(done, 0) : b.at(0, done), step, nullptr, {b.ld, nullptr}},
                0,
                items}));
            done += items * width;
        }
    }
    /* Of op(A), cut at k, the block beside the diagonal ones is in the rows, or from the right the
     * columns, of `later`: which of a solve is the second, and of a product the first. */
    struct halves {
        int64_t first, first_order, later, later_order;
    };
    halves cut(const factor<T> &f, int64_t n) const
    {
        const int64_t k = cut(n);
        return f.lower() != f.right ? halves{0, k, k, n - k} : halves{k, n - k, 0, k};
    }
    /* B(later) := alpha times that block times B(first) + beta B(later) */
    void add_beside(const factor<T> &f, const halves &h, int64_t count, T alpha, matrix<T> b,
                    T beta)
    {
        const matrix<const T> beside = f.beside(max(h.first, h.later));
        if (f.right)
            multiply_add_to(b.from(0, h.later), count, h.later_order, h.first_order, alpha,
                            {b.at(0, h.first), b.ld}, LIBSOLVER_NO_TRANSPOSE, beside, f.c.trans,
                            beta);
        else
            multiply_add_to(b.from(h.later, 0), h.later_order, count, h.first_order, alpha, beside,
                            f.c.trans, {b.at(h.first, 0), b.ld}, LIBSOLVER_NO_TRANSPOSE, beta);
    }
    void multiply_at_once(const triangle_operands<T> &o)
    {
        if (status == LIBSOLVER_OK)
            note(multiply_triangle(context.room, best_way(o), o, stream));
    }
    static matrix<T> part(const factor<T> &f, matrix<T> b, int64_t k)
    {
        return f.right ? b.from(0, k) : b.from(k, 0);
    }

  public:
    libsolver_status status = LIBSOLVER_OK;

    recursion(const libsolver_dense_context &context, void *stream)
        : context(context), stream(stream)
    {
    }

    void scale(T alpha, int64_t m, int64_t n, matrix<T> b)
    {
        if (magnitude(alpha) == 0 && status == LIBSOLVER_OK)
            note(status_of(cudaMemset2DAsync(b.entry, (size_t)b.ld * sizeof(T), 0,
                                             (size_t)m * sizeof(T), (size_t)n,
                                             (cudaStream_t)stream)));
        else if (real_part(alpha) != 1 || magnitude(alpha) != 1)
            run(scale_kernel<T>, small_blocks(m, n), alpha, m, n, b.entry, b.ld);
    }
    /* B := alpha inv(op(A)) B or alpha B inv(op(A)), A of order n, `count` right-hand sides */
    void solve(const factor<T> &f, int64_t n, int64_t count, T alpha, matrix<T> b)
    {
        if (n <= context.leaf) {
            scale(alpha, f.right ? count : n, f.right ? n : count, b);
            at_once(f, n, count, b,
                    [&](const solve_batch<T> &batch) { return solve_batched(batch, stream); });
            return;
        }
        const halves h = cut(f, n);
        solve(f.part(h.first), h.first_order, count, alpha, part(f, b, h.first));
        add_beside(f, h, count, from_real<T>(-1), b, alpha);
        solve(f.part(h.later), h.later_order, count, from_real<T>(1), part(f, b, h.later));
    }
    /* B := alpha op(A) B or alpha B op(A) */
    void multiply(const factor<T> &f, int64_t n, int64_t count, T alpha, matrix<T> b)
    {
        if (n <= (context.whole != 0 ? context.whole : WHOLE) || count <= context.few_columns) {
            multiply_at_once({f.c, f.right, n, count, alpha, f.a.entry, f.a.ld, b.entry, b.ld});
            return;
        }
        const halves h = cut(f, n);
        multiply(f.part(h.later), h.later_order, count, alpha, part(f, b, h.later));
        add_beside(f, h, count, alpha, b, from_real<T>(1));
        multiply(f.part(h.first), h.first_order, count, alpha, part(f, b, h.first));
    }
    /* The triangle of A := L^H L or U U^H.  blocks: the diagonal ones of a leaf, of order and
     * leading dimension that of a leaf, zeros beyond the triangle. */
    void square(libsolver_storage uplo, int64_t n, matrix<T> a, const T *blocks)
    {
        const bool lower = uplo == LIBSOLVER_LOWER;
        if (n <= context.leaf) {
            square_add_to(uplo, a, n, n, 1, {blocks, context.leaf}, lower, 0);
            return;
        }
        const int64_t k = cut(n);
        const matrix<T> beside = lower ? a.from(k, 0) : a.from(0, k);
        square(uplo, k, a, blocks);
        square_add_to(uplo, a, k, n - k, 1, {beside.entry, beside.ld}, lower, 1);
        multiply(
            {{a.at(k, k), a.ld}, {uplo, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_NON_UNIT}, !lower},
            n - k, k, from_real<T>(1), beside);
        square(uplo, n - k, a.from(k, k), blocks + k * context.leaf);
    }
    void square_triangle(libsolver_storage uplo, int64_t n, matrix<T> a)
    {
        T *const blocks = static_cast<T *>(context.scratch);
        run(take_blocks_kernel<T>, small_blocks(context.leaf, n), uplo, n, context.leaf, a.entry,
            a.ld, blocks);
        square(uplo, n, a, blocks);
    }
    /* A = L L^H or U^H U by one launch up to `most`, otherwise by halves; number: of those around
     * it */
    void factorize(libsolver_storage uplo, int64_t n, matrix<T> a, int *info, int64_t most,
                   int number = 0)
    {
        if (n <= most) {
            if (status == LIBSOLVER_OK)
                note(libsolver_potrf(type, uplo, n, a.entry, a.ld, info, context.scratch,
                                     context.scratch_bytes, stream));
            return;
        }
        const int64_t k = (n / 2 + 63) / 64 * 64;
        const bool lower = uplo == LIBSOLVER_LOWER;
        const matrix<T> beside = lower ? a.from(k, 0) : a.from(0, k);
        factorize(uplo, k, a, info, most, number + 1);
        solve({{a.entry, a.ld}, {uplo, LIBSOLVER_CONJUGATE_TRANSPOSE, LIBSOLVER_NON_UNIT}, lower},
              k, n - k, from_real<T>(1), beside);
        square_add_to(uplo, a.from(k, k), n - k, k, -1, {beside.entry, beside.ld}, !lower, 1);
        factorize(uplo, n - k, a.from(k, k), context.info + number, most, number + 1);
        run(join_info_kernel, 1, info, (const int *)(context.info + number), (int)k);
    }
};

#endif
