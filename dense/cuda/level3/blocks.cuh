/* dense/cuda/level3/blocks.cuh: solves by inverses of the diagonal blocks: all else are products
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The diagonal blocks of order nb are inverted, all at once: 64 x 64 in shared memory, then by
 * doubling, X21 = -X22 (L21 X11).  With them
 *
 *     X(r) = inv(op(A)(r,r)) B(r),   B(rest) := B(rest) - op(A)(rest,r) X(r)
 *
 * [Du, Luszczek, Tomov, Dongarra: Mixed-tool performance analysis on hybrid multicore
 * architectures, ICPPW 2010], or the same by halves, whose updates are fewer and wider.  A product
 * in place would read what others of its blocks of threads have written, so B(r) is copied first.
 *
 * A block whose inverse has grown (device/growth.h) is substituted with while B(r) is copied, and
 * the identity takes the inverse's place: the host, which does not know, asks for the same product.
 * So where entries are not finite, all of the block's are not. */
#ifndef DENSE_CUDA_LEVEL3_BLOCKS_CUH
#define DENSE_CUDA_LEVEL3_BLOCKS_CUH

#include "dense/cuda/batched/problem.cuh"
#include "dense/cuda/batched/solve.cuh"
#include "dense/cuda/device/inverses.cuh"
#include "dense/cuda/level3/recursion.cuh"

/* X := conj(X) */
template <typename T> __global__ void conjugate_kernel(T *x, int64_t count)
{
    for_entries(count, 1, [&](int64_t e, int64_t) { x[e] = conjugate_if(x[e], true); });
}

/* A row sum for each of 64 rows of a diagonal block, by 16 threads: term(j) of the first `columns`
 * columns.  The first TILE threads have the answer for their row. */
constexpr int SUM_THREADS = 16 * TILE;
template <typename R, typename Term>
__device__ __forceinline__ R row_sum(int columns, R (&part)[SUM_THREADS], Term term)
{
    R s = 0;
#pragma unroll 8
    for (int j = (int)threadIdx.x / TILE; j < columns; j += SUM_THREADS / TILE)
        s += term(j);
    part[threadIdx.x] = s;
    __syncthreads();
    s = 0;
    if (threadIdx.x < TILE)
        for (int p = (int)threadIdx.x; p < SUM_THREADS; p += TILE)
            s += part[p];
    return s;
}

/* sums[i] := row sum i of |X|; refused[r] := 0.  A block of threads for 64 rows. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS)
    inverse_sums_kernel(int n, inverse_blocks<T> blocks, real_of<T> *sums, int64_t *refused)
{
    __shared__ real_of<T> part[SUM_THREADS];
    const int i = TILE * (int)blockIdx.x + (int)threadIdx.x % TILE, r = i / blocks.nb;
    const int inside = i - r * blocks.nb;
    const real_of<T> s = row_sum(inside / TILE * TILE + TILE, part, [&](int j) {
        return (real_of<T>)magnitude(blocks.X[blocks.at(r, inside, j)]);
    });
    if (threadIdx.x < TILE && i < n)
        sums[i] = s;
    if (threadIdx.x == 0 && inside == 0)
        refused[r] = 0;
}

/* refused[r] := the order of the block where a row sum of |L||X| is above the limit or not a
 * number. */
template <typename T>
__global__ void __launch_bounds__(SUM_THREADS)
    refuse_kernel(triangle_view<T> L, int nb, const real_of<T> *sums, int64_t *refused)
{
    __shared__ real_of<T> part[SUM_THREADS];
    const int i = TILE * (int)blockIdx.x + (int)threadIdx.x % TILE, r = i / nb;
    const int first = r * nb;
    const real_of<T> g = row_sum(i < L.n ? i - first + 1 : 0, part, [&](int j) {
        const bool one = L.unit && first + j == i;
        return (one ? 1 : (real_of<T>)magnitude(*L.at(i, first + j))) * sums[first + j];
    });
    if (threadIdx.x < TILE && !(g <= (real_of<T>)SIDES_GROWTH_LIMIT))
        refused[r] = min(nb, L.n - first);
}

/* The triangle of A := X, of that order, or X^T when A is upper, but where *refused. */
template <typename T>
__global__ void place_kernel(libsolver_storage uplo, libsolver_diagonal diag, int64_t order,
                             const T *x, int64_t ldx, T *a, int64_t lda, const int64_t *refused)
{
    if (*refused != 0)
        return;
    const bool lower = uplo == LIBSOLVER_LOWER;
    for_entries(order, order, [&](int64_t i, int64_t j) {
        if ((lower ? i > j : i < j) || (i == j && diag == LIBSOLVER_NON_UNIT))
            a[i + j * lda] = lower ? x[i + j * ldx] : x[j + i * ldx];
    });
}

/* batch: copies of B, an item for each 64 of the `sides`; from: B.  Copies them or, where *refused,
 * solves them, and X := I.  A block of threads for each 64 rows of an item, from the right
 * columns. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    take_kernel(solve_batch<T> batch, int64_t sides, const T *from, int64_t ldf, T *x, int64_t ldx,
                const int64_t *refused)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int order = (int)batch.order.same, slices = (order - 1) / TILE + 1;
    const int64_t k = blockIdx.x / slices;
    const int slice = (int)(blockIdx.x % slices),
              width = (int)min(sides - STRIP * k, (int64_t)STRIP);
    const int64_t ldt = batch.b.ld.at(k);
    T *const to = batch.b.at(k);
    from += STRIP * k * (batch.right ? 1 : ldf);
    const auto copy = [&](int i0, int j0) { /* 64 x 64 entries */
                                            const int rows = batch.right ? width : order,
                                                      columns = batch.right ? order : width;
                                            const int i = i0 + (int)threadIdx.x % TILE;
#pragma unroll 8
                                            for (int j = j0 + (int)threadIdx.x / TILE;
                                                 j < j0 + TILE; j += TILE_THREADS / TILE)
                                                if (i < rows && j < columns)
                                                    to[i + j * ldt] = from[i + j * ldf];
    };
    if (*refused == 0) {
        copy(batch.right ? 0 : TILE * slice, batch.right ? TILE * slice : 0);
        return;
    }
    if (k == 0) /* the identity: columns of this slice */
        for (int e = threadIdx.x; e < order * TILE; e += TILE_THREADS) {
            const int i = e % order, j = TILE * slice + e / order;
            if (j < order)
                x[i + j * ldx] = from_real<T>(i == j);
        }
    if (slice != 0)
        return;
    for (int s = 0; s < slices; s++)
        copy(batch.right ? 0 : TILE * s, batch.right ? TILE * s : 0);
    __syncthreads();
    problem<T> p = problem_at(batch, k);
    p.x.count = width;
    solve_block<false>(p.L, p.x, solve_guard::SOLUTION,
                       *reinterpret_cast<solve_shared<T> *>(memory));
}

/* B := alpha inv(op(A)) B or alpha B inv(op(A)) by inverses of diagonal blocks of order nb: a power
 * of two times 64, whose columns have room in the context (`fits`). */
template <typename T> class block_solve
{
    using R = real_of<T>;
    recursion<T> &r;
    const factor<T> f;
    const int64_t n, nb;
    const bool halves;
    const inverse_blocks<T> blocks;
    int64_t *const refused; /* orders of blocks that are substituted with, 0: of others */
    R *const sums;

    /* Entry (i,j) of the inverse of the diagonal block that begins at `first` is at i + j nb:
     * blocks lie so far apart that pairs of blocks of any order do, too. */
    T *inverse(T *X, int64_t first) const { return X + first * (nb + 1); }

    struct strided {
        const T *entry;
        int64_t ld, apart;
        int trans;
    };
    /* C := alpha op(A) B, m x n each, k the common index; as far apart as B's. */
    void multiply(T *c, int64_t m, int64_t n, int64_t k, real_of<T> alpha, strided a, strided b,
                  int64_t count)
    {
        const T factor = from_real<T>(alpha), zero = {};
        if (r.open() &&
            r.context.cublas->gemm_strided[r.type](r.context.handle, a.trans, b.trans, (int)m,
                                                   (int)n, (int)k, &factor, a.entry, (int)a.ld,
                                                   a.apart, b.entry, (int)b.ld, b.apart, &zero, c,
                                                   (int)b.ld, b.apart, (int)count) != 0)
            r.note(LIBSOLVER_CUDA);
    }
    /* `count` pairs of blocks of order s, the second ones with only `rows` rows: W21 := L21 X11,
     * then X21 := -X22 W21.  L = A, or A^T when that is upper. */
    void join(int64_t first, int64_t s, int64_t rows, int64_t count)
    {
        if (count == 0 || rows <= 0)
            return;
        const bool lower = f.c.uplo == LIBSOLVER_LOWER;
        const int64_t apart = 2 * s * (nb + 1);
        const strided L21 = {lower ? f.a.at(first + s, first) : f.a.at(first, first + s), f.a.ld,
                             2 * s * (f.a.ld + 1), lower ? CUBLAS_N : CUBLAS_T},
                      X11 = {inverse(blocks.X, first), nb, apart, CUBLAS_N},
                      X22 = {inverse(blocks.X, first + s), nb, apart, CUBLAS_N},
                      W21 = {inverse(blocks.W, first) + s, nb, apart, CUBLAS_N};
        multiply(inverse(blocks.W, first) + s, rows, s, s, 1, L21, X11, count);
        multiply(inverse(blocks.X, first) + s, rows, s, rows, -1, X22, W21, count);
    }
    /* blocks, sums, refused */
    void invert_diagonal()
    {
        const bool lower = f.c.uplo == LIBSOLVER_LOWER;
        const triangle_view<T> L = {f.a.entry, lower ? 1 : f.a.ld,         lower ? f.a.ld : 1,
                                    (int)n,    f.c.diag == LIBSOLVER_UNIT, !lower};
        const int64_t tiles = (n + TILE - 1) / TILE, entries = tiles * TILE * (nb + 1);
        r.note(status_of(
            cudaMemsetAsync(blocks.X, 0, (size_t)entries * sizeof(T), (cudaStream_t)r.stream)));
        if (r.status == LIBSOLVER_OK)
            r.note(launch(invert_kernel<T>,
                          {tiles, TILE_THREADS, 2 * TILE_AREA<T> * (int)sizeof(T)}, r.stream, L,
                          blocks));
        for (int64_t s = TILE; s < nb && s < n; s *= 2) {
            const int64_t pairs = n / (2 * s), first = pairs * 2 * s;
            join(0, s, s, pairs);
            join(first, s, n - first - s, 1);
        }
        if (r.status == LIBSOLVER_OK)
            r.note(launch(inverse_sums_kernel<T>, {tiles, SUM_THREADS}, r.stream, (int)n, blocks,
                          sums, refused));
        if (r.status == LIBSOLVER_OK)
            r.note(launch(refuse_kernel<T>, {tiles, SUM_THREADS}, r.stream, L, (int)nb, sums,
                          refused));
        if (scalar<T>::is_complex && !lower && f.c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE)
            r.run(conjugate_kernel<T>, small_blocks(entries, 1), blocks.X, entries);
    }
    /* What makes inv(op(A)) of X = inv(L), or of its conjugate. */
    libsolver_transpose turned() const
    {
        if (f.c.uplo == LIBSOLVER_LOWER)
            return f.c.trans;
        return f.c.trans == LIBSOLVER_NO_TRANSPOSE ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE;
    }
    /* The diagonal block of that order at `first`. */
    void step(int64_t first, int64_t order, int64_t count, T alpha, matrix<T> b)
    {
        const int64_t rows = f.right ? count : order, columns = f.right ? order : count;
        T *const copy = static_cast<T *>(r.context.copy), *const X = inverse(blocks.X, first);
        const matrix<const T> copied = {copy, rows}, inverted = {X, nb};
        const factor<T> here = f.part(first);
        const int64_t items = (count - 1) / STRIP + 1, slices = (order - 1) / TILE + 1;
        const solve_batch<T> batch = {
            f.c,
            f.right,
            {order, nullptr},
            {STRIP, nullptr},
            {here.a.entry, 0, nullptr, {f.a.ld, nullptr}},
            {copy, f.right ? STRIP : STRIP * rows, nullptr, {rows, nullptr}},
            0,
            items};
        if (r.status == LIBSOLVER_OK)
            r.note(launch(take_kernel<T>,
                          {items * slices, TILE_THREADS, (int)sizeof(solve_shared<T>)}, r.stream,
                          batch, count, b.entry, b.ld, X, nb, refused + first / nb));
        if (f.right)
            r.multiply_add_to(b, rows, order, order, alpha, copied, LIBSOLVER_NO_TRANSPOSE,
                              inverted, turned(), T{});
        else
            r.multiply_add_to(b, order, columns, order, alpha, inverted, turned(), copied,
                              LIBSOLVER_NO_TRANSPOSE, T{});
    }
    void solve(int64_t first, int64_t order, int64_t count, T alpha, matrix<T> b)
    {
        if (order <= nb) {
            step(first, order, count, alpha, b);
            return;
        }
        /* by halves at the largest nb 2^k, otherwise the block that is solved first */
        const bool forward = f.lower() != f.right;
        int64_t k = forward ? nb : (order - 1) / nb * nb;
        if (halves)
            for (k = nb; 2 * k < order;)
                k *= 2;
        using pair = typename recursion<T>::halves;
        const pair h = forward ? pair{0, k, k, order - k} : pair{k, order - k, 0, k};
        solve(first + h.first, h.first_order, count, alpha, r.part(f, b, h.first));
        r.add_beside(f.part(first), h, count, from_real<T>(-1), b, alpha);
        solve(first + h.later, h.later_order, count, from_real<T>(1), r.part(f, b, h.later));
    }

    /* The triangle of A, what f is, from `first` on := its inverse.  A = (A11, 0; A21, A22): with
     * X11, A21 := -A21 X11, then A21 := inv(A22) A21 by what A22 still is, and A22 in the end;
     * upper likewise, from A22 on.  So A X = I is left with errors like those of substitution; with
     * products by X22 instead they grow with the inverse. */
    void invert(int64_t first, int64_t order, matrix<T> a)
    {
        const bool lower = f.c.uplo == LIBSOLVER_LOWER;
        if (order <= nb) {
            const int64_t *const here = refused + first / nb;
            r.run(place_kernel<T>, small_blocks(order, order), f.c.uplo, f.c.diag, order,
                  (const T *)inverse(blocks.X, first), nb, a.entry, a.ld, here);
            if (r.status == LIBSOLVER_OK)
                r.note(invert_batched<T>({f.c.uplo,
                                          f.c.diag,
                                          {order, here},
                                          {a.entry, 0, nullptr, {a.ld, nullptr}},
                                          nullptr,
                                          1},
                                         r.stream));
            return;
        }
        int64_t k = nb;
        while (2 * k < order)
            k *= 2;
        const int64_t inverted = lower ? 0 : k, other = lower ? k : 0;
        const int64_t rows = lower ? order - k : k, columns = order - rows;
        const matrix<T> beside = a.from(other, inverted);
        invert(first + inverted, columns, a.from(inverted, inverted));
        factor<T> done = f.part(first + inverted);
        done.right = true;
        r.multiply(done, columns, rows, from_real<T>(-1), beside);
        solve(first + other, rows, columns, from_real<T>(1), beside);
        invert(first + other, rows, a.from(other, other));
    }

  public:
    block_solve(recursion<T> &r, const factor<T> &f, int64_t n, int64_t nb, bool halves)
        : r(r), f(f), n(n), nb(nb), halves(halves),
          blocks{static_cast<T *>(r.context.scratch), static_cast<T *>(r.context.inverses), (int)nb,
                 nb * (nb + 1)},
          refused(r.context.refused), sums(static_cast<R *>(r.context.sums))
    {
    }
    /* A := inv(A), not transposed, from the left; `a` is what f is made of. */
    void invert_triangle(matrix<T> a)
    {
        invert_diagonal();
        invert(0, n, a);
    }
    void solve(int64_t count, T alpha, matrix<T> b)
    {
        invert_diagonal();
        /* as many sides at a time as there is room for copies of a block's */
        const int64_t most = r.context.copy_bytes / (nb * (int64_t)sizeof(T)) / STRIP * STRIP;
        for (int64_t done = 0; done < count; done += most)
            solve(0, n, min(most, count - done), alpha,
                  f.right ? b.from(done, 0) : b.from(0, done));
    }
};

#endif
