/* dense/cuda/trsm/trsm_rows.cu: launches the one-shot solve
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsm/rows.cuh"

template <typename T, int NC>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    trsm_rows_kernel(triangle_view<T> L, sides_view<T> b, sides_grid grid)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &s = *reinterpret_cast<solve_shared<T, NC> *>(memory);
    int number = (int)blockIdx.x;
    if (threadIdx.x == 0)
        s.mine = ticket_take(grid.head, grid.rows * grid.groups);
    if (!grid.together) {
        __syncthreads();
        number = s.mine.number;
    }
    const int r = number / grid.groups, group = number % grid.groups;
    const int64_t entries = (int64_t)grid.rows * TILE * NC * packet<T>::COUNT;
    panel<T, NC> q = {b,          grid.packets + group * entries, s.part, L.n,
                      NC * group, min(NC, b.count - NC * group),  0};
    rows_solve(L, q, s, r, grid.rows);
}

template <typename T, int NC>
static libsolver_status rows_launch(triangle_view<T> L, sides_view<T> b, sides_grid grid,
                                    void *stream)
{
    grid.groups = (b.count + NC - 1) / NC;
    const int64_t blocks = (int64_t)grid.rows * grid.groups;
    launch_shape shape = {blocks, TILE_THREADS, (int)sizeof(solve_shared<T, NC>), 0,
                          blocks <= TOGETHER};
    grid.together = shape.together;
    libsolver_status status = launch(trsm_rows_kernel<T, NC>, shape, stream, L, b, grid);
    if (status == LIBSOLVER_OK || !grid.together)
        return status;
    /* the device is smaller than thought: nothing was launched */
    shape.together = grid.together = false;
    return launch(trsm_rows_kernel<T, NC>, shape, stream, L, b, grid);
}

template <typename T>
libsolver_status trsm_rows(triangle_view<T> L, sides_view<T> b, void *workspace, void *stream)
{
    auto *head = static_cast<workspace_head *>(workspace);
    const sides_grid grid = {head, reinterpret_cast<packet_word *>(head + 1), (L.n - 1) / TILE + 1,
                             0, false};
    return with_sides<T>(grid.rows, b.count, [&](auto sides) {
        return rows_launch<T, decltype(sides)::value>(L, b, grid, stream);
    });
}

#define INSTANCE(T) \
    template libsolver_status trsm_rows<T>(triangle_view<T>, sides_view<T>, void *, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
