/* dense/cuda/trsm/trsm_prepared.cu: launches the solve with a prepared triangle
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsm/strips.cuh"

/* So many clusters of 4 blocks, one an SM, are resident together on an H100 or H200: 132 SMs in
 * groups of 16 and 18. */
constexpr int CLUSTERS_TOGETHER = 28;

template <typename T, int NC>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    trsm_strips_kernel(prepared_triangle<T> p, sides_view<T> b, sides_grid grid)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &s = *reinterpret_cast<strips_shared<T, NC> *>(memory);
    const int width = cluster_blocks(), clusters = (grid.rows + width - 1) / width * grid.groups;
    int number = (int)blockIdx.x / width;
    if (clusters > 1 && !grid.together)
        number = turn_take(s.turn, grid.head, clusters).number;
    else if (threadIdx.x == 0)
        s.turn.mine = ticket_take(grid.head, clusters * width);
    const int r = number / grid.groups * width + cluster_rank(), group = number % grid.groups;
    if (r >= grid.rows) { /* the last cluster may have more blocks than rows */
        cluster_arrive();
        cluster_wait();
        return;
    }
    const int64_t entries = (int64_t)grid.rows * TILE * NC * packet<T>::COUNT;
    panel<T, NC> q = {b,          grid.packets + group * entries, s.part, p.n,
                      NC * group, min(NC, b.count - NC * group),  0};
    strips_solve(p, q, s, r, grid.rows);
}

template <typename T, int NC>
static libsolver_status strips_launch(prepared_triangle<T> p, sides_view<T> b, sides_grid grid,
                                      void *stream)
{
    grid.groups = (b.count + NC - 1) / NC;
    const int width = grid.rows < STRIP_CLUSTER ? grid.rows : STRIP_CLUSTER;
    const int64_t clusters = (int64_t)((grid.rows + width - 1) / width) * grid.groups;
    launch_shape shape = {clusters * width, TILE_THREADS, (int)sizeof(strips_shared<T, NC>), width,
                          clusters <= CLUSTERS_TOGETHER};
    grid.together = shape.together;
    libsolver_status status = launch(trsm_strips_kernel<T, NC>, shape, stream, p, b, grid);
    if (status == LIBSOLVER_OK || !grid.together)
        return status;
    /* the device is smaller than thought: nothing was launched */
    shape.together = grid.together = false;
    return launch(trsm_strips_kernel<T, NC>, shape, stream, p, b, grid);
}

template <typename T>
libsolver_status trsm_prepared(const void *storage, int n, double limit, sides_view<T> b,
                               void *workspace, void *stream)
{
    const auto *base = static_cast<const char *>(storage);
    const prepared_triangle<T> p = {reinterpret_cast<const T *>(base +
                                                                trsm_prepared_layout<T>(n).tiles),
                                    reinterpret_cast<const double *>(base), limit, n};
    auto *head = static_cast<workspace_head *>(workspace);
    const sides_grid grid = {head, reinterpret_cast<packet_word *>(head + 1), (n - 1) / TILE + 1, 0,
                             false};
    return with_sides<T>(grid.rows, b.count, [&](auto sides) {
        return strips_launch<T, decltype(sides)::value>(p, b, grid, stream);
    });
}

#define INSTANCE(T) \
    template libsolver_status trsm_prepared<T>(const void *, int, double, sides_view<T>, void *, \
                                               void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
