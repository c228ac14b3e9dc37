/* dense/cuda/trsv/forms.h: the ways to solve, as the public calls choose among them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_TRSV_FORMS_H
#define DENSE_CUDA_TRSV_FORMS_H

#include "dense/cuda/device/view.cuh"

/* Largest order of the one-block forms; of what a single cluster solves, without a workspace. */
constexpr int ONE_BLOCK_ORDER = 128;
constexpr int ONE_CLUSTER_ORDER = 1024;
/* The fastest up to these orders, REGISTERS_B and WARP, then clusters; bench_trsv -op NT. Registers
 * load no more columns than there are and begin as early as the first slab is there: in d 1.9 us at
 * 8 where a warp takes 2.4, the same at 20 to 24, by 28 more (H100; s and z gain up to 24).  A warp
 * has the shorter start than a cluster, but from 33 rows on a lane has two of them: in d it takes
 * 2.4 us at 32 and 4.2 at 33, a cluster 3.4 at both (H200; s, c and z were run at 32 and 64 and
 * agree). */
constexpr int REGISTERS_UNTIL = 16, WARP_UNTIL = 32;
/* Columns of a launch where the caller does not say: a step inside a cluster is shorter than a
 * launch, so that more are better at every order (bench_trsv on an H100). */
constexpr int LAUNCHES_BLOCK = ONE_CLUSTER_ORDER;

/* n > 0, arguments checked, n within the form's limit.  stream: a cudaStream_t. */
template <typename T>
libsolver_status trsv_one_block(libsolver_trsv_form form, triangle_view<T> L, vector_view<T> x,
                                void *stream);
/* block: columns of a launch, a multiple of 32 up to ONE_CLUSTER_ORDER, or 0; otherwise INVALID. */
template <typename T>
libsolver_status trsv_launches(triangle_view<T> L, vector_view<T> x, int64_t block, void *stream);
template <typename T>
libsolver_status trsv_grid(triangle_view<T> L, vector_view<T> x, void *workspace,
                           const libsolver_trsv_options &options, void *stream);
template <typename T>
libsolver_status trsv_counter(triangle_view<T> L, vector_view<T> x, void *workspace,
                              const libsolver_trsv_options &options, void *stream);
template <typename T>
libsolver_status trsv_cluster(triangle_view<T> L, vector_view<T> x, void *workspace,
                              const libsolver_trsv_options &options, void *stream);

/* A prepared triangle's storage: a head, the strips, then two sets of inverses that only
 * preparation needs.
 */
constexpr int PREPARED_HEAD = 128;
struct prepare_sizes {
    int64_t strips, inverses; /* bytes */
};
template <typename T> prepare_sizes trsv_prepare_sizes(int64_t n);
/* Order of the inverted diagonal blocks. */
template <typename T> int64_t prepared_block();
/* Fills the strips and waits for the stream; growth as in libsolver_trsv_prepared. */
template <typename T>
libsolver_status trsv_prepare_strips(triangle_view<T> L, void *storage, void *stream,
                                     double *growth);
template <typename T>
libsolver_status trsv_strips(const T *strips, int n, vector_view<T> x, void *workspace,
                             void *stream);

#endif
