/* dense/cuda/batched/trtri_batched.cu: inverses of many triangles, in place, in one launch
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns [j, j + 64) of the inverse solve L(j:n-1, j:n-1) X = I.  From the first on X may
 * overwrite the columns of L that it comes from: later ones do not need them, and of its own block
 * row L(r, j) has been read by the time that X(r) is stored. */
#include "dense/cuda/batched/batch.h"
#include "dense/cuda/batched/deal.cuh"
#include "dense/cuda/batched/solve.cuh"
#include "dense/cuda/device/launch.cuh"

template <typename T> union inverse_shared {
    solve_shared<T> block;
    small_shared<T> warp[TILE_THREADS / 32];
};

/* L(j:n-1, j:n-1) */
template <typename T>
__device__ __forceinline__ triangle_view<T> trailing(const triangle_view<T> &L, int j)
{
    triangle_view<T> rest = L;
    rest.entry = L.at(j, j);
    rest.n = L.n - j;
    return rest;
}
/* Its first columns, which the inverse overwrites. */
template <typename T>
__device__ __forceinline__ unit_columns<T> first_columns(const triangle_view<T> &L)
{
    return {const_cast<T *>(L.entry), L.row, L.column, min(L.n, SOLVE_COLUMNS), L.unit};
}

template <typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    inverse_kernel(place_batch<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &s = *reinterpret_cast<inverse_shared<T> *>(memory);
    const auto at = [&](int64_t k) {
        return view_triangle<T>({batch.uplo, LIBSOLVER_NO_TRANSPOSE, batch.diag}, batch.order.at(k),
                                batch.a.at(k), batch.a.ld.at(k));
    };
    deal_items(
        batch.count, SMALL, [&](int64_t k) { return batch.order.at(k); }, [](int64_t) {},
        [&](int64_t k) {
            const triangle_view<T> L = at(k);
            solve_warp(L, first_columns(L), s.warp[threadIdx.x / 32]);
        },
        [&](int64_t k) {
            const triangle_view<T> L = at(k);
            for (int j = 0; j < L.n; j += TILE) {
                const triangle_view<T> rest = trailing(L, j);
                solve_block<false>(rest, first_columns(rest), solve_guard::SOLUTION, s.block);
            }
        });
}

template <typename T> libsolver_status invert_batched(const place_batch<T> &batch, void *stream)
{
    return launch(inverse_kernel<T>,
                  {deal_blocks(batch.count,
                               batch.order.each == nullptr && batch.order.same > SMALL),
                   TILE_THREADS, (int)sizeof(inverse_shared<T>)},
                  stream, batch);
}

#define INSTANCE(T) template libsolver_status invert_batched<T>(const place_batch<T> &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
