/* dense/cuda/level3/products.cu: launches of products
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/level3/products.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/level3/products.cuh"
#include <algorithm>

template <typename T> struct shapes {
    using small = tile_shape<32, 32, 32, 16, 4, 32, 4, 2>;
    using half = tile_shape<64, 32, 32, 32, 4, 32, 3, 1>;
    using middle = tile_shape<64, 64, 32, 32, 2, 32, 3, 1>;
    using many = tile_shape<64, 64, 32, 32, 1, 16, 3, 3>;
    using large = tile_shape<128, 128, 64, 32, 1, 16, 4, 1>;
};
/* Four times as many products for an entry, and twice the sums. */
template <typename R> struct shapes<complex_of<R>> {
    using small = tile_shape<32, 32, 32, 16, 4, 32, 3, 1>;
    using half = tile_shape<32, 32, 32, 16, 2, 32, 3, 2>;
    using middle = tile_shape<64, 64, 32, 32, 2, 16, 4, 1>;
    using many = tile_shape<64, 32, 32, 16, 1, 16, 3, 2>;
    using large = tile_shape<64, 64, 32, 32, 1, 8, 4, 2>;
};

/* call(shape{}, blocks) */
template <typename T, typename Call> static libsolver_status with_way(product_way way, Call call)
{
    const auto of = [&](auto shape) {
        return call(shape, decltype(shape)::SHARED ? way.blocks : 1);
    };
    switch (way.tiles) {
    case PRODUCT_SMALL:
        return of(typename shapes<T>::small{});
    case PRODUCT_HALF:
        return of(typename shapes<T>::half{});
    case PRODUCT_MIDDLE:
        return of(typename shapes<T>::middle{});
    case PRODUCT_MANY:
        return of(typename shapes<T>::many{});
    default:
        return of(typename shapes<T>::large{});
    }
}

static int64_t parts_of(int64_t n, int64_t part)
{
    return (n + part - 1) / part;
}

template <typename T>
static panel<T> panel_of(const T *entry, int64_t ld, int64_t rows, int64_t depth, bool by_rows,
                         bool conjugate)
{
    const bool wide = reinterpret_cast<uintptr_t>(entry) % 16 == 0 && ld * sizeof(T) % 16 == 0;
    return {entry, ld, (int)rows, (int)depth, by_rows, conjugate, wide};
}

/* of `tiles` tiles */
template <typename T, typename S> static launch_shape shape_of(int64_t tiles, int blocks)
{
    launch_shape how = {tiles * blocks, S::THREADS, product_bytes<T, S>(blocks)};
    how.cluster = blocks > 1 ? blocks : 0;
    return how;
}

template <typename T>
libsolver_status multiply_triangle(void *room, product_way way, const triangle_operands<T> &o,
                                   void *stream)
{
    /* from the right all is transposed: B^T := alpha op(A)^T B^T */
    const bool transposed = (o.c.trans != LIBSOLVER_NO_TRANSPOSE) != o.right;
    auto *const head = static_cast<workspace_head *>(room);
    auto *const words = reinterpret_cast<unsigned long long *>(head + 1);
    return with_way<T>(way, [&](auto shape, int blocks) {
        using S = decltype(shape);
        const int64_t rows = parts_of(o.n, S::ROWS), most = PRODUCT_WORDS / (rows * blocks);
        if (most == 0)
            return LIBSOLVER_INVALID;
        const int64_t width = std::min(o.count, most * S::COLUMNS);
        libsolver_status status = LIBSOLVER_OK;
        for (int64_t done = 0; done < o.count && status == LIBSOLVER_OK; done += width) {
            const int64_t now = std::min(width, o.count - done),
                          columns = parts_of(now, S::COLUMNS);
            const triangle_product<T> p = {
                panel_of(o.a, o.lda, o.n, o.n, transposed,
                         o.c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE),
                panel_of<T>(o.b + done * (o.right ? 1 : o.ldb), o.ldb, now, o.n, !o.right, false),
                (o.c.uplo == LIBSOLVER_UPPER) != transposed, o.c.diag == LIBSOLVER_UNIT, o.alpha};
            status = launch(triangle_product_kernel<T, S>, shape_of<T, S>(rows * columns, blocks),
                            stream, p, head, words, (int)rows, (int)columns, blocks);
        }
        return status;
    });
}

template <typename T>
libsolver_status multiply_matrices(product_way way, const matrix_operands<T> &o, void *stream)
{
    const matrix_product<T> p = {
        panel_of(o.a, o.lda, o.m, o.depth, o.trans_a != LIBSOLVER_NO_TRANSPOSE,
                 o.trans_a == LIBSOLVER_CONJUGATE_TRANSPOSE),
        panel_of(o.b, o.ldb, o.n, o.depth, o.trans_b == LIBSOLVER_NO_TRANSPOSE,
                 o.trans_b == LIBSOLVER_CONJUGATE_TRANSPOSE),
        o.c,
        o.ldc,
        o.alpha,
        o.beta};
    return with_way<T>(way, [&](auto shape, int blocks) {
        using S = decltype(shape);
        const int64_t rows = parts_of(o.m, S::ROWS);
        return launch(matrix_product_kernel<T, S>,
                      shape_of<T, S>(rows * parts_of(o.n, S::COLUMNS), blocks), stream, p,
                      (int)rows, blocks);
    });
}

/* Small tiles of the result, which is what tells how many multiprocessors have work. */
static int64_t small_tiles(int64_t m, int64_t n)
{
    return parts_of(m, 32) * parts_of(n, 32);
}

/* Blocks that share the depth of SMALL tiles: as many as keep the multiprocessors busy, if steps
 * are worth it. */
static int small_blocks_of(bool complex, int64_t n, int64_t tiles)
{
    if (tiles <= 16)
        return n >= 256 ? 4 : 1;
    if (tiles <= 32)
        return n >= (complex ? 512 : 1024) ? 4 : n >= 256 ? 2 : 1;
    if (tiles <= 64)
        return n >= (complex ? 2048 : 1024) ? 4 : n >= 512 ? 2 : 1;
    if (tiles <= 128)
        return n >= 2048 && !complex ? 4 : n >= 1024 ? 2 : 1;
    return n >= 1024 && !complex ? 2 : 1;
}

template <typename T> product_way best_way(const triangle_operands<T> &o)
{
    const bool complex = scalar<T>::is_complex;
    const int64_t n = o.n, tiles = small_tiles(n, o.count);
    if (tiles <= 128 || (tiles <= 256 && (complex || n < 2048)))
        return {PRODUCT_SMALL, small_blocks_of(complex, n, tiles)};
    if (complex)
        return {tiles <= 512 ? PRODUCT_HALF : o.count >= 2048 ? PRODUCT_LARGE : PRODUCT_MIDDLE, 1};
    if (tiles <= 256)
        return {PRODUCT_HALF, 2};
    if (n <= 256)
        return {PRODUCT_MANY, 1};
    if (tiles <= 512)
        return n >= 4096   ? product_way{PRODUCT_MIDDLE, 2}
               : n >= 1024 ? product_way{PRODUCT_HALF, 1}
                           : product_way{PRODUCT_MIDDLE, 1};
    if (tiles <= 1536)
        return {PRODUCT_MIDDLE, 1};
    return {tiles <= 3072 || tiles > 8192 || n <= 512 ? PRODUCT_MANY : PRODUCT_LARGE, 1};
}

template <typename T> bool is_small_product(const matrix_operands<T> &o)
{
    const double products = (double)o.m * (double)o.n * (double)o.depth;
    if (sizeof(real_of<T>) == 4)
        return products <= 1 << 29; /* no larger ones have been measured */
    return products <= (scalar<T>::is_complex && o.depth > 64 ? 1 << 24 : 1 << 27);
}
template <typename T> product_way best_way(const matrix_operands<T> &o)
{
    const int64_t tiles = small_tiles(o.m, o.n);
    const bool deep = o.depth >= 256;
    if (tiles <= 128)
        return {PRODUCT_SMALL, !deep || tiles > 64 ? 1 : tiles <= 16 ? 4 : 2};
    if (tiles <= 256)
        return {scalar<T>::is_complex ? PRODUCT_HALF : PRODUCT_SMALL, 1};
    if (scalar<T>::is_complex)
        return {tiles <= 512 ? PRODUCT_MANY : PRODUCT_LARGE, 1};
    return {tiles <= 512 && deep ? PRODUCT_MIDDLE : tiles < 2048 ? PRODUCT_MANY : PRODUCT_LARGE, 1};
}

#define INSTANCE(T) \
    template product_way best_way<T>(const triangle_operands<T> &); \
    template product_way best_way<T>(const matrix_operands<T> &); \
    template bool is_small_product<T>(const matrix_operands<T> &); \
    template libsolver_status multiply_triangle<T>(void *, product_way, \
                                                   const triangle_operands<T> &, void *); \
    template libsolver_status multiply_matrices<T>(product_way, const matrix_operands<T> &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
