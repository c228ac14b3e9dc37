/* dense/cuda/level3/products.h: products by kernels of our own
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_LEVEL3_PRODUCTS_H
#define DENSE_CUDA_LEVEL3_PRODUCTS_H

#include "dense/cuda/device/view.cuh"
#include "libsolver_types.h"

/* Tiles of the result, from few of them to many.  SMALL: 32 x 32, whose depth eight warps share.
 * HALF: half of a MIDDLE one; complex: 32 x 32, of which two are on a multiprocessor at a time.
 * MIDDLE: 64 x 64, one at a time, so that the longest come first.  MANY: the same, several at a
 * time; complex: 64 x 32.  LARGE: those that read shared memory least, for the tensor cores' whole
 * rate. */
enum product_tiles {
    PRODUCT_SMALL,
    PRODUCT_HALF,
    PRODUCT_MIDDLE,
    PRODUCT_MANY,
    PRODUCT_LARGE,
    PRODUCT_TILES
};
/* blocks: 1, 2 or 4 of threads share the depth of a tile that warps share. */
struct product_way {
    product_tiles tiles;
    int blocks;
};

/* What launches with triangles share, on the device: PRODUCT_BYTES, zeros before the first one.
 * Launches with the same room come one after the other. */
enum { PRODUCT_WORDS = 1 << 15, PRODUCT_BYTES = 128 + PRODUCT_WORDS * 8 };

/* B := alpha op(A) B, or from the right alpha B op(A), in place: A of order n, `count` columns or
 * rows of B. */
template <typename T> struct triangle_operands {
    triangle_case c;
    bool right;
    int64_t n, count;
    T alpha;
    const T *a;
    int64_t lda;
    T *b;
    int64_t ldb;
};
/* What was fastest on an H100 (doc/measurements/dense.md). */
template <typename T> product_way best_way(const triangle_operands<T> &o);
/* One launch, but for so many columns that there are too few words for all.  An order of more than
 * 10^6 is INVALID. */
template <typename T>
libsolver_status multiply_triangle(void *room, product_way way, const triangle_operands<T> &o,
                                   void *stream);

/* C := alpha op(A) op(B) + beta C, C m x n, `depth` the common index.  beta = 0: C is not read. */
template <typename T> struct matrix_operands {
    libsolver_transpose trans_a, trans_b;
    int64_t m, n, depth;
    T alpha;
    const T *a;
    int64_t lda;
    const T *b;
    int64_t ldb;
    T beta, *c;
    int64_t ldc;
};
/* Whether they are faster than cuBLAS's, back to back on a stream of an H100. */
template <typename T> bool is_small_product(const matrix_operands<T> &o);
template <typename T> product_way best_way(const matrix_operands<T> &o);
template <typename T>
libsolver_status multiply_matrices(product_way way, const matrix_operands<T> &o, void *stream);

#endif
