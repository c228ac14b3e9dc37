/* gpu/factor/device_outcome.cu: the kernel that judges a refactorization nobody waits for, and
 * where it writes
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_outcome.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/factor/arguments.cuh"

constexpr int THREADS = 256, MOST_BLOCKS = 264;

template <typename R> struct judge_arguments {
    const R *from;
    R *scale;
    int n;
    const gathered_outcome *factored;
    const gathered_growth *grown;
    double limit;
    outcome_words *words;
    judged_outcome *last;
    libsolver_status *status;
    bool keeps;
};

/* What is wrong with the values. */
static __device__ libsolver_status refusal_of(const outcome_words &w)
{
    return w.flaws.nonfinite    ? LIBSOLVER_NONFINITE
           : w.flaws.asymmetric ? LIBSOLVER_INVALID
                                : LIBSOLVER_OK;
}

/* What makes the factor none. */
template <typename R> static __device__ libsolver_status failure_of(const judge_arguments<R> &a)
{
    const gathered_outcome &f = *a.factored;
    const libsolver_status refusal = a.keeps ? LIBSOLVER_OK : refusal_of(*a.words);
    return refusal != LIBSOLVER_OK                      ? refusal
           : f.gave_up || (a.grown && a.grown->gave_up) ? LIBSOLVER_CUDA
           : f.failed < a.n || f.nonpositive < a.n      ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                                        : LIBSOLVER_OK;
}

static __device__ bool is_past(uint64_t growth, double limit)
{
    return !(__longlong_as_double((long long)growth) <= limit);
}

/* By the last block: words are for the next refactorization from now on. */
template <typename R>
static __device__ void tell(const judge_arguments<R> &a, libsolver_status failure)
{
    outcome_words *w = a.words;
    const bool grows =
        a.grown && (is_past(a.grown->of_group, a.limit) || is_past(a.grown->of_root, a.limit));
    const libsolver_status status = failure != LIBSOLVER_OK ? failure
                                    : grows                 ? LIBSOLVER_INACCURATE
                                                            : LIBSOLVER_OK;
    const libsolver_status refusal = refusal_of(*w);
    const uint64_t number = w->number + 1;
    *w = {{0, 0}, status, 0, number};
    if (a.status)
        *a.status = status;
    *a.last = {number, refusal != LIBSOLVER_OK ? refusal : status, a.factored->uncertain,
               __longlong_as_double((long long)a.factored->smallest)};
}

template <typename R>
static __global__ void __launch_bounds__(THREADS)
    judge_kernel(const __grid_constant__ judge_arguments<R> a)
{
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x,
                  step = (int64_t)gridDim.x * THREADS;
    /* these have been there since before the tasks of the factorization began */
    for (int64_t i = first; i < a.n; i += step)
        a.scale[i] = a.from[i];
    wait_for_kernel_before();
    const libsolver_status failure = failure_of(a);
    for (int64_t i = first; i < a.n && failure != LIBSOLVER_OK; i += step)
        a.scale[i] = (R)NAN;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&a.words->arrived, 1u) == gridDim.x - 1) {
        __threadfence();
        tell(a, failure);
    }
}

extern "C" libsolver_status device_outcome_open(device_outcome *o, message *why)
{
    const current_device here(o->device);
    const cudaStream_t stream = (cudaStream_t)o->stream;
    void *words = nullptr, *last = nullptr;
    TRY(device_allocate(&words, sizeof(outcome_words), "the outcome of refactorizations", why));
    libsolver_status status = page_locked_allocate(&last, sizeof(judged_outcome),
                                                   cudaHostAllocMapped | cudaHostAllocPortable,
                                                   "the outcome of refactorizations", why);
    o->words = static_cast<outcome_words *>(words);
    o->last = static_cast<judged_outcome *>(last);
    if (o->last) {
        const outcome_words begin = {{0, 0}, LIBSOLVER_OK, 0, o->number};
        *o->last = {o->number, LIBSOLVER_OK, 0, 0};
        cudaError_t error =
            cudaMemcpyAsync(words, &begin, sizeof begin, cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        status = CUDA_STATUS(error, "clearing the outcome of refactorizations", why);
    }
    if (status != LIBSOLVER_OK)
        device_outcome_close(o);
    return status;
}

extern "C" void device_outcome_close(device_outcome *o)
{
    if (!o->words)
        return;
    const current_device here(o->device);
    cudaStreamSynchronize((cudaStream_t)o->stream);
    if (o->last)
        o->number = o->last->number;
    cudaFree(o->words);
    cudaFreeHost(o->last);
    o->words = nullptr;
    o->last = nullptr;
    o->is_used = 0;
}

extern "C" libsolver_status device_outcome_judge(device_outcome *o, const outcome_arguments *g,
                                                 message *why)
{
    const current_device here(o->device);
    o->is_used = 1;
    return with_type(g->type, [&](auto one) {
        using R = real_of<decltype(one)>;
        const judge_arguments<R> a = {static_cast<const R *>(g->from),
                                      static_cast<R *>(g->scale),
                                      g->n,
                                      static_cast<const gathered_outcome *>(g->factored),
                                      g->grown,
                                      g->limit,
                                      o->words,
                                      o->last,
                                      g->status,
                                      g->keeps != 0};
        const int64_t blocks = (g->n + (int64_t)THREADS - 1) / THREADS;
        launch_shape shape = {blocks < 1             ? 1
                              : blocks < MOST_BLOCKS ? blocks
                                                     : MOST_BLOCKS,
                              THREADS};
        shape.overlaps = true;
        return LAUNCH_STATUS(launch_kernel(judge_kernel<R>, shape, o->stream, a),
                             "launching the kernel that judges a factorization", why);
    });
}

extern "C" libsolver_status device_outcome_last(const device_outcome *o, judged_outcome *last,
                                                message *why)
{
    const current_device here(o->device);
    const cudaError_t error = cudaStreamSynchronize((cudaStream_t)o->stream);
    *last = *o->last;
    return LAUNCH_STATUS(error, "the refactorization on the device", why);
}

extern "C" libsolver_status device_outcome_set(const device_outcome *o, libsolver_status status,
                                               message *why)
{
    const current_device here(o->device);
    const cudaStream_t stream = (cudaStream_t)o->stream;
    const outcome_words words = {{0, 0}, status, 0, o->last->number};
    cudaError_t error =
        cudaMemcpyAsync(o->words, &words, sizeof words, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return CUDA_STATUS(error, "telling the device what came of the factorization", why);
}

extern "C" int device_outcome_is_captured(const device_outcome *o)
{
    cudaStreamCaptureStatus captures = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing((cudaStream_t)o->stream, &captures);
    return error == cudaSuccess && captures != cudaStreamCaptureStatusNone;
}
