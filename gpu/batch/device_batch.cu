/* gpu/batch/device_batch.cu: buffers and launches of batches
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/batch/device_batch.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/batch/many.cuh"
#include "gpu/batch/refine.cuh"
#include "gpu/device/device.cuh"
#include "gpu/device/value_sums.cuh"
#include "gpu/substitute/places.cuh"
#include <cfloat>
#include <cstring>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Tables, copied or only placed; row_of and its like are the pattern's. */
static void put_tables(uploader *u, const batch_shape *s, device_batch *t)
{
    const batch_tables *g = s->tables;
    t->front = u->put(g->front, g->fronts);
    t->row = u->put(g->row, g->rows);
    t->shared = u->put(g->shared, g->rows);
    t->top_row = u->put(g->top_row, g->share.top);
    t->row_of = u->put(s->fronts->row_of, g->n);
    t->start = u->put(s->full->start, (int64_t)g->n + 1);
    t->column = u->put(s->full->column, s->full->start[g->n]);
    t->source = u->put(s->full->source, s->full->start[g->n]);
    t->sums = put_value_sums(u, s->sums, s->given);
    if (s->solves)
        device_substitution_put(u, s->solves, &t->substitution);
}

/* Outcomes of all items, then what is wrong with values. */
static int64_t gathered_bytes(int64_t count)
{
    return count * (device_factorizer_outcome_bytes() + (int64_t)sizeof(int));
}

static int64_t place_items(char *base, const batch_shape *s, device_batch *t)
{
    parts all;
    const int64_t n = s->tables->n, count = s->count, size = type_bytes(s->type),
                  places = n + (int64_t)s->tables->share.parts * s->tables->share.top;
    const auto part = [&](int64_t bytes) -> void * { return base + all.place(bytes); };
    t->panel_bytes =
        part_bytes((s->program->panel_scalars + (s->fronts->signs ? 2 * n : 0)) * size);
    t->value_bytes = part_bytes(s->sums->entries * size);
    t->panel = part(count * t->panel_bytes);
    t->value = part(count * t->value_bytes);
    t->work = part(count * places * size);
    t->before = part(count * n * size);
    t->block[0] = part(count * n * size);
    t->block[1] = part(count * n * size);
    t->item = static_cast<int32_t *>(part(count * (int64_t)sizeof(int32_t)));
    t->outcome = part(gathered_bytes(count));
    t->unsound = reinterpret_cast<int *>(static_cast<char *>(t->outcome) +
                                         count * device_factorizer_outcome_bytes());
    t->error = static_cast<double *>(part(count * (int64_t)sizeof(double)));
    if (s->solves)
        with_type(s->type, [&](auto one) {
            t->head = part(sizeof(workspace_head));
            t->state = part(sizeof(solve_state));
            t->packets = part(count * substitution_packets(s->solves) *
                              (int64_t)sizeof(packet<decltype(one)>));
            return LIBSOLVER_OK;
        });
    return all.bytes;
}

static int64_t staged_bytes(const batch_shape *s)
{
    return s->count * s->given * type_bytes(s->type) + 16;
}

extern "C" int64_t device_batch_bytes(const batch_shape *s)
{
    device_batch t = {};
    uploader measured;
    put_tables(&measured, s, &t);
    return measured.all.bytes + 256 + place_items(nullptr, s, &t) + 256 + staged_bytes(s) +
           device_factorizer_bytes(s->program, s->fronts, s->type) +
           (s->count - 1) * device_factorizer_item_bytes(s->program, s->fronts, s->type);
}

extern "C" libsolver_status device_batch_open(device_batch *t, const batch_shape *s, message *why)
{
    const current_device here(t->device);
    int64_t allocations = 0;
    uploader measured, u;
    t->type = s->type;
    t->count = s->count;
    t->given = s->given;
    t->entries = s->sums->entries;
    t->n = s->tables->n;
    t->fronts = s->tables->fronts;
    t->share = s->tables->share;
    t->has_signs = s->fronts->signs != nullptr;
    t->program = s->program;
    t->factorizer.device = t->device;
    t->factorizer.stream = t->stream;
    TRY(CUDA_STATUS(cudaDeviceGetAttribute(&t->multiprocessors, cudaDevAttrMultiProcessorCount,
                                           t->device),
                    "counting multiprocessors", why));
    put_tables(&measured, s, t);
    TRY(device_buffer_reserve(&t->tables, measured.all.bytes + 256, &allocations,
                              "the tables of the batch", why));
    TRY(device_buffer_reserve(&t->items, place_items(nullptr, s, t) + 256, &allocations,
                              "the items of the batch", why));
    TRY(device_buffer_reserve(&t->staged, staged_bytes(s), &allocations, "the values of the batch",
                              why));
    place_items(static_cast<char *>(t->items.at), s, t);
    TRY(page_locked_allocate(&t->gathered, gathered_bytes(t->count), cudaHostAllocDefault,
                             "the outcomes of the batch", why));
    TRY(device_factorizer_load_items(&t->factorizer, s->program, s->fronts, s->type, s->count,
                                     why));
    if (s->solves) {
        t->substitution.hermitian = s->fronts->hermitian;
        t->substitution.cholesky = !s->fronts->signs;
        t->substitution.panel_scalars = s->program->panel_scalars;
        t->substitution.factor = t->panel;
        /* epoch 0 is never used, so that zeroed packets are invalid */
        TRY(CUDA_STATUS(cudaMemsetAsync(t->items.at, 0, (size_t)t->items.bytes,
                                        (cudaStream_t)t->stream),
                        "clearing the items of the batch", why));
    }
    u.base = static_cast<char *>(t->tables.at);
    u.copies = true;
    u.stream = (cudaStream_t)t->stream;
    put_tables(&u, s, t);
    return CUDA_STATUS(u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error,
                       "copying the tables of the batch to the device", why);
}

extern "C" void device_batch_close(device_batch *t)
{
    const current_device here(t->device);
    device_factorizer_drop(&t->factorizer);
    device_buffer_free(&t->tables);
    device_buffer_free(&t->staged);
    cudaFreeHost(t->gathered);
    device_buffer_free(&t->items);
}

extern "C" libsolver_status device_batch_copy(const device_batch *t, void *to, const void *from,
                                              int64_t bytes, message *why)
{
    const current_device here(t->device);
    const cudaStream_t stream = (cudaStream_t)t->stream;
    cudaError_t error = cudaSuccess;
    if (bytes > 0)
        error = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return LAUNCH_STATUS(error, "copying between the batch and its caller", why);
}

static cudaError_t put_list(const device_batch *t, const int32_t *list, int64_t number)
{
    return cudaMemcpyAsync(t->item, list, (size_t)number * sizeof(int32_t), cudaMemcpyHostToDevice,
                           (cudaStream_t)t->stream);
}

/* ---- Values ---------------------------------------------------------------------------------- */

template <typename T> struct sum_arguments {
    value_sums s;
    item_blocks<const T> given;
    T *value; /* out: of all items */
    int64_t value_bytes;
    const int32_t *item;
    int *unsound; /* of each of the list */
};

/* The sums of the values given, checked as device_values does: a block for an item. */
template <typename T>
static __global__ void __launch_bounds__(256)
    batch_sum_kernel(const __grid_constant__ sum_arguments<T> a)
{
    const int64_t item = a.item[blockIdx.x];
    const T *const given = a.given.of(item);
    T *const value =
        reinterpret_cast<T *>(reinterpret_cast<char *>(a.value) + item * a.value_bytes);
    bool finite = true, symmetric = true;
    for (int64_t p = threadIdx.x; p < a.s.entries; p += blockDim.x)
        value[p] = sum_of_entry(a.s, given, p, &finite, &symmetric);
    __syncthreads();
    for (int j = (int)threadIdx.x; a.s.is_hermitian && j < a.s.n; j += (int)blockDim.x)
        symmetric &= is_real(value[a.s.diagonal[j]]);
    finite = __syncthreads_and(finite);
    symmetric = __syncthreads_and(symmetric);
    if (threadIdx.x == 0)
        a.unsound[blockIdx.x] =
            (finite ? 0 : BATCH_NOT_FINITE) | (symmetric ? 0 : BATCH_NOT_MIRRORED);
}

template <typename T> static item_blocks<T> blocks_of(const batch_places *p)
{
    return {static_cast<T *>(p->values),
            reinterpret_cast<T *const *>(p->items),
            p->stride,
            p->row,
            p->column,
            p->offset};
}

/* Of the items listed on the device. */
template <typename T> static cudaError_t invert_items(const device_batch *t, int64_t number)
{
    const device_substitution *q = &t->substitution;
    const invert_arguments<T> a = {static_cast<T *>(t->panel), q->block, q->narrow_blocks,
                                   q->blocks, q->cholesky != 0};
    const int64_t narrow = (q->narrow_blocks + NARROW_TOGETHER - 1) / NARROW_TOGETHER,
                  each = narrow + q->blocks - q->narrow_blocks;
    const launch_shape how = {number * each, TILE_THREADS, INVERT_SHARED<T>};
    return launch_kernel(invert_items_blocks<T>, how, t->stream, a, t->item, t->panel_bytes,
                         (int)each);
}

extern "C" libsolver_status device_batch_factorize(device_batch *t, const int32_t *list,
                                                   int64_t number, const batch_places *values,
                                                   int is_unscaled, double doubt_level,
                                                   int *unsound, cholesky_outcome *outcome,
                                                   message *why)
{
    const current_device here(t->device);
    const cudaStream_t stream = (cudaStream_t)t->stream;
    factorizer_arguments arguments = {};
    factorizer_items items = {};
    arguments.values = t->value;
    arguments.panel = t->panel;
    arguments.is_unscaled = is_unscaled;
    arguments.doubt_level = doubt_level;
    items.value_bytes = t->value_bytes;
    items.panel_bytes = t->panel_bytes;
    items.item = t->item;
    items.items = number;
    items.outcome = t->outcome;
    cudaError_t error = put_list(t, list, number);
    TRY(with_type(t->type, [&](auto one) {
        using T = decltype(one);
        const sum_arguments<T> a = {t->sums,
                                    {static_cast<const T *>(values->values),
                                     reinterpret_cast<const T *const *>(values->items),
                                     values->stride, 1, 1, 0},
                                    static_cast<T *>(t->value),
                                    t->value_bytes,
                                    t->item,
                                    t->unsound};
        if (error == cudaSuccess)
            error = launch_kernel(batch_sum_kernel<T>, {number, 256}, t->stream, a);
        return LAUNCH_STATUS(error, "summing the values of the batch", why);
    }));
    TRY(device_factorizer_launch_items(&t->factorizer, t->program, &arguments, &items, why));
    if (t->substitution.blocks > 0)
        TRY(with_type(t->type, [&](auto one) {
            return LAUNCH_STATUS(invert_items<decltype(one)>(t, number),
                                 "inverting diagonal blocks", why);
        }));
    error = cudaMemcpyAsync(t->gathered, t->outcome, (size_t)gathered_bytes(t->count),
                            cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    TRY(LAUNCH_STATUS(error, "the factorizations of the batch", why));
    memcpy(unsound,
           static_cast<const char *>(t->gathered) + t->count * device_factorizer_outcome_bytes(),
           (size_t)number * sizeof(int));
    for (int64_t k = 0; k < number; k++)
        TRY(device_factorizer_outcome_of(t->gathered, list[k], &outcome[k], why));
    return LIBSOLVER_OK;
}

/* ---- Solves ---------------------------------------------------------------------------------- */

/* Most shared memory for the solutions of a multiprocessor's blocks, and beside them in each. */
constexpr int64_t SHARED_BYTES = 200 * 1024, BESIDE_BYTES = 10 * 1024;

template <typename T>
static batch_arguments<T> arguments_of(const device_batch *t, int64_t number, int64_t columns,
                                       const batch_places *b, const batch_places *x)
{
    return {t->front,
            t->row,
            t->shared,
            t->top_row,
            t->row_of,
            t->share,
            t->n,
            t->fronts,
            t->program->hermitian != 0,
            t->has_signs ? t->program->panel_scalars : -1,
            t->item,
            (int32_t)number,
            columns,
            static_cast<const T *>(t->panel),
            static_cast<const real_of<T> *>(t->factorizer.scale),
            t->panel_bytes,
            t->factorizer.item_bytes,
            static_cast<T *>(t->work),
            blocks_of<T>(b),
            blocks_of<T>(x)};
}

/* By substitution, column by column, as many items at a time as tickets count. */
template <typename T>
static cudaError_t launch_trees(const device_batch *t, const batch_arguments<T> &a)
{
    substitute_arguments<T> q(t->substitution, t->n);
    const int64_t blocks = (int64_t)SUBSTITUTE_BLOCKS<T> * t->multiprocessors,
                  most = ((1ll << TICKET_BITS) - 2 * blocks) / q.tasks;
    cudaError_t error = cudaSuccess;
    q.a.state = static_cast<solve_state *>(t->state);
    q.a.packets = static_cast<packet_word *>(t->packets);
    q.a.scale = a.scale;
    q.a.user_row = t->row_of;
    q.a.n = t->n;
    q.a.patience = 2000000000;
    q.a.b_row = a.b.row;
    q.a.x_row = a.x.row;
    q.head = static_cast<workspace_head *>(t->head);
    for (int64_t first = 0; first < a.items; first += most) {
        item_places<T> places = {a.item + first, a.panel_bytes, a.scale_bytes, a.b, a.x};
        q.a.columns = (int32_t)(a.items - first < most ? a.items - first : most);
        const int64_t tasks = (int64_t)q.tasks * q.a.columns;
        const launch_shape how = {tasks < blocks ? tasks : blocks, SUBSTITUTE_THREADS,
                                  (int)sizeof(substitute_shared<T, 1>)};
        for (int64_t c = 0; c < a.columns && error == cudaSuccess; c++) {
            error = launch_kernel(substitute_items_kernel<T>, how, t->stream, q, places);
            places.b.offset += a.b.column;
            places.x.offset += a.x.column;
        }
    }
    return error;
}

template <typename T, int WARPS, int TEAMS, int BLOCKS>
static cudaError_t launch_teams(const device_batch *t, const batch_arguments<T> &a)
{
    const int64_t bytes = TEAMS * a.places() * (int64_t)sizeof(T);
    const bool fits = bytes <= SHARED_BYTES;
    const launch_shape shape = {(a.items + TEAMS - 1) / TEAMS, 32 * WARPS * TEAMS,
                                fits ? (int)bytes : 0};
    return fits ? launch_kernel(batch_solve_kernel<T, WARPS, TEAMS, BLOCKS, true>, shape, t->stream,
                                a)
                : launch_kernel(batch_solve_kernel<T, WARPS, TEAMS, BLOCKS, false>, shape,
                                t->stream, a);
}

/* Warps of an item that has a block while others wait, and of one beside others. */
constexpr int FEW_ITEMS_WARPS = 16, MANY_ITEMS_WARPS = 4;

/* How many warps an item gets changes no bits: 16 where there are few items, or so large ones that
 * few fit in the shared memory of a multiprocessor; otherwise 4, or one where there are so many
 * that these fill the device.  bench_batch on an H100: doc/experiments.md, "Batches". */
template <typename T>
static cudaError_t launch_solve(const device_batch *t, const batch_arguments<T> &a)
{
    if (t->substitution.tasks > 0)
        return launch_trees<T>(t, a);
    constexpr int TOGETHER = sizeof(T) > 8 ? 4 : 8; /* blocks of 4 warps, by their registers */
    const int64_t each = a.places() * (int64_t)sizeof(T),
                  together = SHARED_BYTES / (each + BESIDE_BYTES),
                  items = a.items / t->multiprocessors;
    if (items < 2 || together < MANY_ITEMS_WARPS)
        return launch_teams<T, FEW_ITEMS_WARPS, 1, 1>(t, a);
    if (items < 2 * TOGETHER || together < 2 * TOGETHER)
        return launch_teams<T, MANY_ITEMS_WARPS, 1, TOGETHER>(t, a);
    return launch_teams<T, 1, MANY_ITEMS_WARPS, TOGETHER>(t, a);
}

extern "C" libsolver_status device_batch_solve(device_batch *t, const int32_t *list, int64_t number,
                                               int64_t columns, const batch_places *b,
                                               const batch_places *x, message *why)
{
    const current_device here(t->device);
    cudaError_t error = put_list(t, list, number);
    return with_type(t->type, [&](auto one) {
        using T = decltype(one);
        if (error == cudaSuccess)
            error = launch_solve<T>(t, arguments_of<T>(t, number, columns, b, x));
        unsigned *const failed = static_cast<unsigned *>(t->gathered);
        *failed = 0;
        if (error == cudaSuccess && t->state)
            error =
                cudaMemcpyAsync(failed, &static_cast<solve_state *>(t->state)->failed,
                                sizeof *failed, cudaMemcpyDeviceToHost, (cudaStream_t)t->stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize((cudaStream_t)t->stream);
        if (error == cudaSuccess && *failed)
            error = cudaMemset(t->state, 0, sizeof(solve_state));
        TRY(LAUNCH_STATUS(error, "solving with the batch", why));
        return *failed ? FAIL(why, LIBSOLVER_CUDA, "a solve on the device gave up waiting")
                       : LIBSOLVER_OK;
    });
}

extern "C" libsolver_status device_batch_refine(device_batch *t, const int32_t *list,
                                                int64_t number, const batch_places *b,
                                                const batch_places *x, int steps, double tolerance,
                                                double least_progress, double *result, message *why)
{
    const current_device here(t->device);
    const cudaStream_t stream = (cudaStream_t)t->stream;
    cudaError_t error = put_list(t, list, number);
    return with_type(t->type, [&](auto one) {
        using T = decltype(one);
        const double eps = sizeof(real_of<T>) == 8 ? DBL_EPSILON : (double)FLT_EPSILON;
        const batch_refine_arguments<T> r = {arguments_of<T>(t, number, 1, b, x),
                                             t->start,
                                             t->column,
                                             t->source,
                                             static_cast<const T *>(t->value),
                                             t->value_bytes,
                                             static_cast<T *>(t->before),
                                             steps,
                                             tolerance,
                                             least_progress,
                                             1000 * eps * t->n,
                                             t->error};
        if (error == cudaSuccess)
            error = launch_kernel(batch_refine_kernel<T>, {number, REFINE_THREADS}, stream, r);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(result, t->error, (size_t)t->count * sizeof(double),
                                    cudaMemcpyDeviceToHost, stream);
        if (error == cudaSuccess)
            error = cudaStreamSynchronize(stream);
        return LAUNCH_STATUS(error, "refining with the batch", why);
    });
}
