/* gpu/factor/launch_tasks.cuh: host side: the templates that task_launches.cuh declares, for the
 * file of each scalar type to instantiate
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_LAUNCH_TASKS_CUH
#define GPU_FACTOR_LAUNCH_TASKS_CUH

#include "gpu/factor/task_launches.cuh"

/* A class of tasks of a level, which are next to each other in it. */
struct task_class {
    int64_t first, count;
};

/* Diagonal blocks; small fronts; other tiles. */
static void split_level(const factor_program *g, int32_t level, task_class (&part)[3])
{
    int64_t at = g->level_start[level];
    const int64_t end = g->level_start[level + 1];
    for (int q = 0; q < 3; q++) {
        part[q].first = at;
        for (; at < end; at++) {
            const factor_task &task = g->task[g->by_level[at]];
            if (q != (task.kind == FACTOR_PIVOT ? 0 : is_of_runs(task) ? 1 : 2))
                break;
        }
        part[q].count = at - part[q].first;
    }
}

/* The classes of a level run beside each other. */
template <typename T, typename K>
static void launch_level(branches *b, const factor_program *g, const factor_arguments<T, K> &a,
                         int32_t level)
{
    void (*const kernel[3])(const factor_arguments<T, K>, int64_t) = {factor_pivot_kernel<T, K>,
                                                                      factor_small_kernel<T, K>,
                                                                      factor_tile_kernel<T, K>};
    const int shared[3] = {factor_shape<T>::TILES, factor_shape<T>::SMALL, factor_shape<T>::TILES};
    task_class part[3];
    split_level(g, level, part);
    b->overlaps = false;
    for (int q = 1; q < 3; q++)
        if (part[q].count > 0)
            b->wait(q, 0);
    for (int q = 0; q < 3; q++)
        if (part[q].count > 0)
            b->check(launch_kernel(kernel[q], {part[q].count, CHOLESKY_THREADS, shared[q]},
                                   b->stream[q], a, part[q].first));
    for (int q = 1; q < 3; q++)
        if (part[q].count > 0)
            b->wait(0, q);
}

/* As many blocks as there is room for. */
template <typename T, typename K>
static void launch_all(branches *b, const factor_program *g, const factor_arguments<T, K> &a)
{
    if (g->tasks == 0)
        return;
    constexpr int MOST = factor_shape<T>::BLOCKS_EACH, BYTES = block_memory<T, K>::BYTES;
    const int each = g->crowd == FACTOR_SPARSE ? 1 : MOST;
    const int64_t room = (int64_t)each * b->multiprocessors;
    const launch_shape shape = {g->tasks < room ? g->tasks : room, CHOLESKY_THREADS, BYTES};
    if (each == 1)
        launch_overlapping(b, factor_kernel<T, K, 1>, shape, a);
    else
        launch_overlapping(b, factor_kernel<T, K, MOST>, shape, a);
}

template <typename T, typename K>
void launch_tasks(branches *b, const factor_program *g, const factor_arguments<T, K> &a,
                  bool by_levels)
{
    if (!by_levels)
        launch_all(b, g, a);
    for (int32_t q = 0; q < g->levels && by_levels; q++)
        launch_level(b, g, a, q);
}

template <typename T, typename K>
cudaError_t launch_item_tasks(const factor_arguments<T, K> &a, const item_places &places,
                              int multiprocessors, void *stream)
{
    constexpr int EACH = factor_shape<T>::BLOCKS_EACH, BYTES = block_memory<T, K>::BYTES;
    const int64_t tickets = (int64_t)a.tasks * places.items, room = (int64_t)EACH * multiprocessors;
    return launch_kernel(factor_items_kernel<T, K, EACH>,
                         {tickets < room ? tickets : room, CHOLESKY_THREADS, BYTES}, stream, a,
                         places);
}

/* Instantiates them for a scalar type and a kind of factor. */
#define LAUNCHES_OF_TASKS(T, K) \
    template void launch_tasks(branches *, const factor_program *, const factor_arguments<T, K> &, \
                               bool); \
    template cudaError_t launch_item_tasks(const factor_arguments<T, K> &, const item_places &, \
                                           int, void *);

#endif
