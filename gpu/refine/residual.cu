/* gpu/refine/residual.cu: A on a device, memory of refinements, and the launches of their steps
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/refine/residual.cuh"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/device/lanes.cuh"
#include "gpu/device/waits.cuh"

constexpr int WIDE_COLUMNS = 4; /* that one warp sums when there are several */

static int64_t blocks_for(int64_t threads, int64_t most)
{
    const int64_t blocks = (threads + REFINE_THREADS - 1) / REFINE_THREADS;
    return blocks < 1 ? 1 : blocks > most ? most : blocks;
}

/* ---- A --------------------------------------------------------------------------------------- */

template <typename T> struct spread_arguments {
    const int64_t *start;
    const uint32_t *source;
    const T *lower;
    T *value;
    double *row_sum;
    const row_segment *segment;
    double *partial; /* see device_matrix */
    unsigned *arrived;
    int32_t n, segments, log_width;
};

/* Entries from, from + step, ... of a row, which ends at `to`; returns the sum of their sizes. */
template <typename T>
static __device__ double spread_part(const spread_arguments<T> &a, int64_t from, int64_t to,
                                     int step)
{
    double sum = 0;
    for (int64_t k = from; k < to; k += step) {
        const T v = conjugate_if(a.lower[a.source[k] >> 1], a.source[k] & 1);
        a.value[k] = v;
        sum += modulus(v);
    }
    return sum;
}

/* A warp's segment of a long row; the one that ends the last of a row adds their sums, in their
 * order. */
template <typename T> static __device__ void spread_segment(const spread_arguments<T> &a, int q)
{
    const row_segment g = a.segment[q];
    const int lane = (int)threadIdx.x % 32;
    const double sum = sum_of_lanes(spread_part(a, g.from + lane, g.to, 32), 32);
    if (lane == 0)
        a.partial[q] = sum;
    if (!ends_row(a.arrived + g.of, g.count))
        return;
    double all = 0;
    for (int k = lane; k < g.count; k += 32)
        all += __ldcg(a.partial + g.first + k);
    all = sum_of_lanes(all, 32);
    if (lane == 0)
        a.row_sum[g.row] = all;
}

/* value := lower in the places of the pattern, row_sum := sums of |value|: some lanes for each
 * short row, then a warp for each segment of the long ones.  follows: see device_matrix_set. */
template <typename T> static __global__ void spread_kernel(spread_arguments<T> a, bool follows)
{
    const int lanes = 1 << a.log_width, lane = (int)threadIdx.x & (lanes - 1);
    const int64_t together = (int64_t)gridDim.x * REFINE_THREADS >> a.log_width;
    if (follows)
        wait_for_grid_before();
    let_next_grid_begin();
    for (int64_t i = ((int64_t)blockIdx.x * REFINE_THREADS + threadIdx.x) >> a.log_width; i < a.n;
         i += together) {
        const int64_t from = a.start[i], to = a.start[i + 1];
        if (to - from > ROW_SEGMENT)
            continue;
        const double sum = sum_of_lanes(spread_part(a, from + lane, to, lanes), lanes);
        if (lane == 0)
            a.row_sum[i] = sum;
    }
    const int warps = (int)gridDim.x * REFINE_WARPS;
    for (int q = (int)blockIdx.x * REFINE_WARPS + (int)threadIdx.x / 32; q < a.segments; q += warps)
        spread_segment(a, q);
    stay_for_grid_before(!follows);
}

/* Places of the arrays, behind one another. */
static int64_t place_matrix(device_matrix *a, char *base)
{
    parts all;
    const int64_t scalar = type_bytes(a->type);
    a->start = reinterpret_cast<int64_t *>(base + all.place((a->n + 1) * (int64_t)sizeof(int64_t)));
    a->column =
        reinterpret_cast<int32_t *>(base + all.place(a->entries * (int64_t)sizeof(int32_t)));
    a->source =
        reinterpret_cast<uint32_t *>(base + all.place(a->entries * (int64_t)sizeof(uint32_t)));
    a->segment = reinterpret_cast<row_segment *>(
        base + all.place(a->segments * (int64_t)sizeof(row_segment)));
    a->value = base + all.place(a->entries * scalar);
    a->row_sum = reinterpret_cast<double *>(base + all.place(a->n * (int64_t)sizeof(double)));
    a->partial =
        reinterpret_cast<double *>(base + all.place(a->segments * (int64_t)sizeof(double)));
    a->arrived =
        reinterpret_cast<unsigned *>(base + all.place(a->long_rows * (int64_t)sizeof(unsigned)));
    return all.bytes;
}

extern "C" libsolver_status device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                               libsolver_type type, message *why)
{
    const current_device here(a->device);
    const cudaStream_t stream = (cudaStream_t)a->stream;
    int multiprocessors = 1;
    a->type = type;
    a->n = pattern->n;
    a->log_width = pattern->log_width;
    a->segments = pattern->segments;
    a->long_rows = pattern->long_rows;
    a->entries = pattern->start[pattern->n];
    const int64_t bytes = place_matrix(a, nullptr);
    TRY(CUDA_STATUS(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                           a->device),
                    "asking for the device's properties", why));
    TRY(device_allocate(&a->memory, bytes, "the matrix by rows", why));
    a->bytes = bytes;
    place_matrix(a, static_cast<char *>(a->memory));
    cudaError_t error = cudaSuccess;
    const auto upload = [&](void *to, const void *from, int64_t bytes) {
        if (error == cudaSuccess && bytes > 0)
            error = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, stream);
    };
    upload(a->start, pattern->start, (a->n + 1) * (int64_t)sizeof(int64_t));
    upload(a->column, pattern->column, a->entries * (int64_t)sizeof(int32_t));
    upload(a->source, pattern->source, a->entries * (int64_t)sizeof(uint32_t));
    upload(a->segment, pattern->segment, a->segments * (int64_t)sizeof(row_segment));
    if (error == cudaSuccess)
        error = cudaMemsetAsync(a->arrived, 0, (size_t)a->long_rows * sizeof(unsigned), stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    a->blocks = (int32_t)blocks_for(((int64_t)a->n << a->log_width) + 32 * (int64_t)a->segments,
                                    4 * multiprocessors);
    a->norm_blocks = (int32_t)blocks_for(a->n, 4 * multiprocessors);
    if (error != cudaSuccess)
        device_matrix_close(a);
    return CUDA_STATUS(error, "copying the matrix to the device", why);
}

extern "C" void device_matrix_close(device_matrix *a)
{
    const current_device here(a->device);
    if (a->memory)
        cudaFree(a->memory);
    a->memory = nullptr;
    a->bytes = 0;
}

extern "C" libsolver_status device_matrix_set(const device_matrix *a, const void *lower,
                                              int follows, message *why)
{
    const current_device here(a->device);
    return with_type(a->type, [&](auto one) {
        using T = decltype(one);
        const spread_arguments<T> g = {a->start,
                                       a->source,
                                       static_cast<const T *>(lower),
                                       static_cast<T *>(a->value),
                                       a->row_sum,
                                       a->segment,
                                       a->partial,
                                       a->arrived,
                                       a->n,
                                       a->segments,
                                       a->log_width};
        launch_shape shape = {
            blocks_for(((int64_t)a->n << a->log_width) + 32 * (int64_t)a->segments, 65535),
            REFINE_THREADS};
        shape.overlaps = true;
        return LAUNCH_STATUS(launch_kernel(spread_kernel<T>, shape, a->stream, g, follows != 0),
                             "launching the kernel that spreads the values of the matrix", why);
    });
}

/* ---- Memory of refinements ------------------------------------------------------------------- */

/* Columns of a launch, rounded up to what warps take together. */
static int64_t rounded_columns(int64_t columns)
{
    return columns > 1 ? (columns + WIDE_COLUMNS - 1) / WIDE_COLUMNS * WIDE_COLUMNS : 1;
}

static int64_t parts_of(libsolver_type type)
{
    int64_t count = 0;
    with_type(type, [&](auto one) {
        count = WIDE_PARTS<decltype(one)> + 1;
        return LIBSOLVER_OK;
    });
    return count;
}

/* The first part, of *zeroed bytes, starts as zeros. */
static int64_t place_refinement(const device_matrix *a, device_refinement *w, char *base,
                                int64_t *zeroed)
{
    parts all;
    const int64_t block = (int64_t)a->n * w->columns * type_bytes(a->type),
                  columns = rounded_columns(w->columns);
    w->state = reinterpret_cast<refine_state *>(base + all.place(sizeof(refine_state)));
    w->arrived = reinterpret_cast<unsigned *>(
        base + all.place((1 + columns * a->long_rows) * (int64_t)sizeof(unsigned)));
    *zeroed = all.bytes;
    w->norm = reinterpret_cast<double *>(
        base + all.place(w->columns * (int64_t)a->norm_blocks * (int64_t)sizeof(double)));
    w->omega = reinterpret_cast<double *>(
        base + all.place(w->columns * 2 * (int64_t)a->blocks * (int64_t)sizeof(double)));
    w->partial = reinterpret_cast<double *>(
        base + all.place(columns * a->segments * parts_of(a->type) * (int64_t)sizeof(double)));
    w->residual = base + all.place(block);
    w->correction = base + all.place(block);
    w->before = base + all.place(block);
    w->spare = base + all.place(block);
    return all.bytes;
}

#define CLEARING "clearing the workspace of refinement"

extern "C" libsolver_status device_refinement_open(const device_matrix *a, int32_t columns,
                                                   device_refinement *w, message *why)
{
    const current_device here(a->device);
    const cudaStream_t stream = (cudaStream_t)a->stream;
    int64_t zeroed;
    void *host_state = nullptr;
    *w = {};
    w->device = a->device;
    w->columns = columns < REFINE_COLUMNS ? columns : REFINE_COLUMNS;
    TRY(device_allocate(&w->memory, place_refinement(a, w, nullptr, &zeroed),
                        "the workspace of refinement", why));
    place_refinement(a, w, static_cast<char *>(w->memory), &zeroed);
    libsolver_status status =
        CUDA_STATUS(cudaMemsetAsync(w->memory, 0, (size_t)zeroed, stream), CLEARING, why);
    if (status == LIBSOLVER_OK)
        status = page_locked_allocate(&host_state, sizeof(refine_state),
                                      cudaHostAllocMapped | cudaHostAllocPortable,
                                      "the state of refinement", why);
    w->host_state = static_cast<refine_state *>(host_state);
    if (status == LIBSOLVER_OK)
        status = CUDA_STATUS(cudaStreamSynchronize(stream), CLEARING, why);
    if (status != LIBSOLVER_OK)
        device_refinement_close(w);
    return status;
}

extern "C" void device_refinement_close(device_refinement *w)
{
    const current_device here(w->device);
    if (w->memory)
        cudaFree(w->memory);
    if (w->host_state)
        cudaFreeHost(w->host_state);
    w->memory = nullptr;
    w->host_state = nullptr;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

template <typename T>
static refine_arguments<T> arguments_of(const device_matrix *a, const device_refinement *w,
                                        const refine_step *s)
{
    refine_arguments<T> g = {};
    g.start = a->start;
    g.column = a->column;
    g.value = static_cast<const T *>(a->value);
    g.row_sum = a->row_sum;
    g.segment = a->segment;
    g.segments = a->segments;
    g.long_rows = a->long_rows;
    g.log_width = a->log_width;
    g.n = a->n;
    g.columns = (int32_t)s->b.columns;
    g.b = static_cast<const T *>(s->b.values);
    g.x = static_cast<T *>(s->x.values);
    g.b_row = s->b.layout == LIBSOLVER_ROW_MAJOR ? s->b.ld : 1;
    g.b_column = s->b.layout == LIBSOLVER_ROW_MAJOR ? 1 : s->b.ld;
    g.x_row = s->x.layout == LIBSOLVER_ROW_MAJOR ? s->x.ld : 1;
    g.x_column = s->x.layout == LIBSOLVER_ROW_MAJOR ? 1 : s->x.ld;
    g.residual = static_cast<T *>(w->residual);
    g.correction = static_cast<const T *>(w->correction);
    g.before = static_cast<T *>(w->before);
    g.norm = w->norm;
    g.omega = w->omega;
    g.partial = w->partial;
    g.arrived = w->arrived;
    g.state = w->state;
    g.host_state = s->copies_state ? w->host_state : nullptr;
    g.failed = s->failed;
    g.norm_blocks = a->norm_blocks;
    g.first = s->first;
    g.tolerance = s->tolerance;
    g.least_progress = s->least_progress;
    g.threshold = 1000.0 * a->n * (sizeof(real_of<T>) == 8 ? DBL_EPSILON : FLT_EPSILON);
    return g;
}

/* A block for each part of the rows and each `width` columns. */
template <typename T, typename... More>
static cudaError_t launch_2d(void (*kernel)(refine_arguments<T>, More...), int32_t blocks,
                             int64_t columns, int width, void *stream, const refine_arguments<T> &a,
                             More... more)
{
    kernel<<<dim3((unsigned)blocks, (unsigned)((columns + width - 1) / width)), REFINE_THREADS, 0,
             (cudaStream_t)stream>>>(a, more...);
    return cudaGetLastError();
}

extern "C" libsolver_status device_refine_step(const device_matrix *a, const device_refinement *w,
                                               void *stream, const refine_step *s, message *why)
{
    TRY(device_refine_fits(a, w, &s->b, &s->x, why));
    if (s->b.columns == 0)
        return LIBSOLVER_OK;
    const current_device here(a->device);
    void *on = stream ? stream : a->stream;
    return with_type(a->type, [&](auto one) {
        using T = decltype(one);
        const refine_arguments<T> g = arguments_of<T>(a, w, s);
        cudaError_t error = launch_2d(advance_kernel<T>, a->norm_blocks, g.columns, 1, on, g);
        if (error == cudaSuccess)
            error = g.columns == 1 ? launch_2d(residual_kernel<T, 1>, a->blocks, 1, 1, on, g)
                                   : launch_2d(residual_kernel<T, WIDE_COLUMNS>, a->blocks,
                                               g.columns, WIDE_COLUMNS, on, g);
        return LAUNCH_STATUS(error, "launching a step of refinement", why);
    });
}

extern "C" libsolver_status device_refine_finish(const device_matrix *a, const device_refinement *w,
                                                 void *stream, const refine_step *s,
                                                 const refine_outcome *outcome, message *why)
{
    TRY(device_refine_fits(a, w, &s->b, &s->x, why));
    const current_device here(a->device);
    return with_type(a->type, [&](auto one) {
        using T = decltype(one);
        /* no columns have an outcome too */
        const int64_t columns = s->b.columns > 0 ? s->b.columns : 1;
        return LAUNCH_STATUS(launch_2d(finish_kernel<T>, a->norm_blocks, columns, 1,
                                       stream ? stream : a->stream, arguments_of<T>(a, w, s),
                                       *outcome),
                             "launching the end of refinement", why);
    });
}

extern "C" libsolver_status device_refine_spare(const device_matrix *a, const device_refinement *w,
                                                void *stream, const libsolver_vectors *b,
                                                libsolver_vectors *copy, message *why)
{
    const current_device here(a->device);
    const bool by_rows = b->layout == LIBSOLVER_ROW_MAJOR;
    const size_t scalar = (size_t)type_bytes(a->type),
                 lines = (size_t)(by_rows ? b->rows : b->columns);
    const size_t line = scalar * (size_t)(by_rows ? b->columns : b->rows);
    TRY(device_refine_fits(a, w, b, b, why));
    *copy = *b;
    copy->values = w->spare;
    copy->ld = by_rows ? b->columns : b->rows;
    if (line == 0 || lines == 0)
        return LIBSOLVER_OK;
    return LAUNCH_STATUS(cudaMemcpy2DAsync(w->spare, line, b->values, scalar * (size_t)b->ld, line,
                                           lines, cudaMemcpyDeviceToDevice,
                                           (cudaStream_t)(stream ? stream : a->stream)),
                         "copying the right-hand side on the device", why);
}

extern "C" libsolver_status device_refine_wait(const device_matrix *a, void *stream, message *why)
{
    const current_device here(a->device);
    return LAUNCH_STATUS(cudaStreamSynchronize((cudaStream_t)(stream ? stream : a->stream)),
                         "refinement on the device", why);
}
