/* dense/cuda/batched/trmm_batched.cu: many independent products with triangles in one launch
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/batched/deal.cuh"
#include "dense/cuda/batched/multiply.cuh"
#include "dense/cuda/batched/problem.cuh"
#include "dense/cuda/device/launch.cuh"

template <typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    product_kernel(solve_batch<T> batch, T alpha)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto *const ring = reinterpret_cast<T(*)[TILE_AREA<T>]>(memory);
    deal_items(
        batch.count, 0, [&](int64_t k) { return batch.order.at(k); }, [](int64_t) {},
        [](int64_t) {},
        [&](int64_t k) {
            const problem<T> p = problem_at(batch, k);
            for (int c = 0; c < p.x.count; c += SOLVE_COLUMNS)
                multiply_block(p.L, p.x.from(c, SOLVE_COLUMNS), conjugate_if(alpha, p.x.conjugate),
                               ring);
        });
}

template <typename T>
libsolver_status multiply_batched(const solve_batch<T> &batch, T alpha, void *stream)
{
    return launch(product_kernel<T>,
                  {deal_blocks(batch.count, batch.order.each == nullptr), TILE_THREADS,
                   RING * TILE_AREA<T> * (int)sizeof(T)},
                  stream, batch, alpha);
}

#define INSTANCE(T) \
    template libsolver_status multiply_batched<T>(const solve_batch<T> &, T, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
