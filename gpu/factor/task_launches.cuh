/* gpu/factor/task_launches.cuh: host side: launches of the tasks of factorizations
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels take long to compile, so each scalar type has them in a file of its own
 * (launch_tasks_d.cu and so on), and other files see declarations alone. */
#ifndef GPU_FACTOR_TASK_LAUNCHES_CUH
#define GPU_FACTOR_TASK_LAUNCHES_CUH

#include "dense/cuda/device/launch.cuh"
#include "gpu/factor/items.cuh"

/* Streams that are captured together, and what forks and joins them; or one that is given. */
struct branches {
    int multiprocessors = 1;
    bool are_own = true;
    bool overlaps = false; /* the kernel before on the first stream lets the next one begin
                              (wait_for_kernel_before), which waits where it needs it */
    enum { COUNT = 3 };
    cudaStream_t stream[COUNT] = {};
    cudaEvent_t event[COUNT] = {};
    cudaError_t error = cudaSuccess;

    explicit branches(cudaStream_t given) : are_own(false), overlaps(true)
    {
        stream[0] = given;
        count_multiprocessors();
    }
    branches()
    {
        int least = 0, greatest = 0;
        count_multiprocessors();
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        for (int q = 0; q < COUNT; q++) {
            check(cudaStreamCreateWithPriority(stream + q, cudaStreamNonBlocking,
                                               q == 0 ? greatest : least));
            check(cudaEventCreateWithFlags(event + q, cudaEventDisableTiming));
        }
    }
    ~branches()
    {
        for (int q = 0; q < COUNT && are_own; q++) {
            if (event[q])
                cudaEventDestroy(event[q]);
            if (stream[q])
                cudaStreamDestroy(stream[q]);
        }
    }
    void check(cudaError_t e)
    {
        if (error == cudaSuccess)
            error = e;
    }
    void count_multiprocessors()
    {
        int device = 0;
        check(cudaGetDevice(&device));
        check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    }
    /* What is put on `to` from now on waits for what is on `from`. */
    void wait(int to, int from)
    {
        check(cudaEventRecord(event[from], stream[from]));
        check(cudaStreamWaitEvent(stream[to], event[from], 0));
    }
};

/* A kernel that waits for the one before itself, and lets the next one begin. */
template <typename... Parameters, typename... Arguments>
static void launch_overlapping(branches *b, void (*kernel)(Parameters...), launch_shape shape,
                               Arguments... arguments)
{
    shape.overlaps = b->overlaps;
    b->check(launch_kernel(kernel, shape, b->stream[0], arguments...));
    b->overlaps = true;
}

/* The tasks, in one launch or level by level. */
template <typename T, typename K>
void launch_tasks(branches *b, const factor_program *g, const factor_arguments<T, K> &a,
                  bool by_levels);
/* Those of many items, tasks > 0. */
template <typename T, typename K>
cudaError_t launch_item_tasks(const factor_arguments<T, K> &a, const item_places &places,
                              int multiprocessors, void *stream);

#endif
