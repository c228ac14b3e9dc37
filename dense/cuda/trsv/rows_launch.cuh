/* dense/cuda/trsv/rows_launch.cuh: the kernel of the forms that give a block of threads a block
 * row, and its launch
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_TRSV_ROWS_LAUNCH_CUH
#define DENSE_CUDA_TRSV_ROWS_LAUNCH_CUH

#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/rows.cuh"

/* Two blocks an SM where registers allow: one works while the other waits.  A cluster's blocks have
 * an SM each. */
template <bool BY_ROWS, bool AHEAD, typename T, typename Link>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : Link::BLOCKS_PER_SM)
    rows_kernel(triangle_view<T> L, vector_view<T> x, rows_options o,
                typename Link::arguments arguments)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ typename Link::shared_part shared;
    Link link;
    const int r = link.enter(arguments, shared);
    if (r < arguments.rows) /* the last cluster may have more blocks than rows */
        rows_solve<BY_ROWS, AHEAD>(L, x, o, link, *reinterpret_cast<rows_shared<T> *>(memory), r);
}

static inline rows_options rows_options_of(const libsolver_trsv_options &options)
{
    const auto bounded = [](int64_t row) { return row > INT32_MAX ? INT32_MAX : (int)row; };
    return {options.cache, bounded(options.invert_from), bounded(options.scale_from),
            (unsigned long long *)options.trace};
}

template <typename T, typename Link>
libsolver_status rows_launch(triangle_view<T> L, vector_view<T> x,
                             typename Link::arguments arguments, int cluster,
                             const libsolver_trsv_options &options, void *stream)
{
    static_assert(rows_shared_bytes<T>(LIBSOLVER_CACHE_SHARED) +
                          sizeof(typename Link::shared_part) <=
                      SHARED_LIMIT,
                  "every way to cache must fit");
    const bool ahead = options.cache == LIBSOLVER_CACHE_AHEAD;
    const int rows = arguments.rows,
              blocks = cluster > 0 ? (rows + cluster - 1) / cluster * cluster : rows;
    const launch_shape shape = {blocks, TILE_THREADS, rows_shared_bytes<T>(options.cache), cluster,
                                false};
    const auto kernel =
        L.transposed ? ahead ? rows_kernel<true, true, T, Link> : rows_kernel<true, false, T, Link>
        : ahead ? rows_kernel<false, true, T, Link>
                     : rows_kernel<false, false, T, Link>;
    return launch(kernel, shape, stream, L, x, rows_options_of(options), arguments);
}

static inline int row_count(int n)
{
    return (n - 1) / TILE + 1;
}
static inline packet_word *packets_of(void *workspace)
{
    return reinterpret_cast<packet_word *>(static_cast<workspace_head *>(workspace) + 1);
}

#endif
