/* gpu/factor/device_factorizer.cu: buffers and launches of factorizations on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_factorizer.h"
#include "base/type.h"
#include "gpu/device/value_sums.cuh"
#include "gpu/factor/places.cuh"
#include "gpu/factor/task_launches.cuh"
#include <cstring>
#include <type_traits>

static double patience_of(const factorizer_arguments *given)
{
    return given->patience > 0 ? given->patience : 60;
}

static launch_shape shape_of(int64_t threads_wanted)
{
    constexpr int THREADS = 256, MOST_BLOCKS = 4096;
    const int64_t blocks = (threads_wanted + THREADS - 1) / THREADS;
    return {blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, THREADS};
}

/* ---- Buffers --------------------------------------------------------------------------------- */

extern "C" int64_t device_factorizer_bytes(const factor_program *g, const factor_pattern *p,
                                           libsolver_type type)
{
    const factor_bytes bytes(g, p, type, 0);
    return bytes.tables + bytes.workspace;
}

static void drop_graph(device_factorizer *f)
{
    if (f->graph)
        cudaGraphExecDestroy((cudaGraphExec_t)f->graph);
    f->graph = nullptr;
}

extern "C" int64_t device_factorizer_item_bytes(const factor_program *g, const factor_pattern *p,
                                                libsolver_type type)
{
    return factor_bytes(g, p, type, 0).workspace;
}

extern "C" libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *g,
                                                   const factor_pattern *p, libsolver_type type,
                                                   message *why)
{
    return device_factorizer_load_items(f, g, p, type, 1, why);
}

extern "C" libsolver_status
device_factorizer_load_items(device_factorizer *f, const factor_program *g, const factor_pattern *p,
                             libsolver_type type, int64_t count, message *why)
{
    const current_device here(f->device);
    const factor_bytes bytes(g, p, type, f->is_mixed);
    drop_graph(f);
    f->type = type;
    f->item_bytes = bytes.workspace;
    sign_tables signs(g, p, type);
    if (signs.count.has_signs && !signs.fill(g, p))
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the signs of the factorization");
    f->signs = signs.count;
    TRY(device_buffer_reserve(&f->tables, bytes.tables, &f->allocations,
                              "the program of the factorization", why));
    TRY(device_buffer_reserve(&f->workspace, count * bytes.workspace, &f->allocations,
                              "the workspace of the factorization", why));
    uploader u;
    u.base = static_cast<char *>(f->tables.at);
    u.copies = true;
    u.stream = (cudaStream_t)f->stream;
    with_types(type, f->is_mixed, [&](auto one, auto given) {
        factor_places<decltype(one), decltype(given)> there;
        there.put_tables(&u, g, *p, signs);
        there.place_workspace(static_cast<char *>(f->workspace.at), g, f->signs);
        f->scale = there.values.scale;
        f->outcome = there.values.outcome;
        f->words = there.values.word;
        if constexpr (std::is_same_v<decltype(one), decltype(given)>)
            if (f->signs.has_signs) {
                there.scaling.values = there.values;
                if (u.error == cudaSuccess) /* read by all items */
                    u.error = launch_kernel(name_rows_kernel<decltype(one)>, shape_of(g->n),
                                            u.stream, there.scaling);
            }
        return LIBSOLVER_OK;
    });
    return CUDA_STATUS(u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error,
                       "copying the program of the factorization to the device", why);
}

extern "C" void device_factorizer_drop(device_factorizer *f)
{
    const current_device here(f->device);
    drop_graph(f);
    device_buffer_free(&f->tables);
    device_buffer_free(&f->workspace);
    device_buffer_free(&f->complement);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T, typename V = T>
static factor_places<T, V> places_of(const device_factorizer *f, const factor_program *g,
                                     const factorizer_arguments *given)
{
    factor_places<T, V> there = loaded_places<T, V>(f, g);
    there.values.given = static_cast<const V *>(given->values);
    there.values.is_unscaled = given->is_unscaled;
    there.values.shift = given->shift;
    there.tasks.panel = static_cast<T *>(given->panel);
    const double eps = sizeof(real_of<T>) == 8 ? DBL_EPSILON : (double)FLT_EPSILON;
    there.tasks.refuse = 16 * eps;
    there.tasks.doubt = given->doubt_level;
    there.tasks.word = given->by_levels ? nullptr : there.values.word;
    there.tasks.patience = (uint64_t)(1e9 * patience_of(given));
    there.tasks.trace = given->trace;
    if constexpr (std::is_same_v<T, V>)
        if (f->signs.has_signs) { /* pivots are judged at the end; as they are made, by their signs
                               alone */
            there.tasks.refuse = there.tasks.doubt = 0;
            there.scaling.values = there.quasi.values = there.values;
            there.quasi.panel = there.tasks.panel;
            there.quasi.ended =
                there.tasks.word && g->tasks > 0 ? there.tasks.word + g->words - 1 : nullptr;
            there.quasi.patience = there.tasks.patience;
            there.quasi.least = 8 * eps;
            there.quasi.doubt = given->doubt_level;
        }
    return there;
}

/* The values of A to where tasks read them. */
template <typename T, typename V>
static void launch_values(branches *b, const value_arguments<T, V> &a)
{
    const int64_t most = a.entries > a.n ? a.entries : a.n;
    const launch_shape shape = shape_of(most);
    if (most == 0)
        return;
    if (a.is_unscaled)
        launch_overlapping(b, factor_range_kernel<T, V>, shape, a);
    launch_overlapping(b, factor_values_kernel<T, V>, shape, a);
}

template <typename K, typename T>
static factor_arguments<T, K> with_signs(const factor_places<T> &there)
{
    factor_arguments<T, K> tasks;
    static_cast<common_arguments<T> &>(tasks) = there.tasks;
    static_cast<sign_places &>(tasks) = there.quasi.signs;
    return tasks;
}

/* call(tasks), with signs. */
template <typename T, typename Call>
static void with_signed_tasks(const factor_places<T> &there, Call &&call)
{
    if constexpr (scalar<T>::is_complex)
        if (there.quasi.is_symmetric)
            return call(with_signs<quasi_definite<false>>(there));
    call(with_signs<quasi_definite<true>>(there));
}

/* Blocks of an equilibration: no more than are resident together. */
static int64_t equilibration_blocks(int64_t rows, int64_t entries, int64_t each,
                                    int multiprocessors)
{
    const int64_t most = entries > rows ? entries : rows,
                  blocks =
                      (most + each * EQUILIBRATION_THREADS - 1) / (each * EQUILIBRATION_THREADS);
    return blocks < 1 ? 1 : blocks < multiprocessors ? blocks : multiprocessors;
}

template <typename T> static int64_t judge_blocks(const quasi_arguments<T> &a)
{
    return a.long_rows + ((int64_t)a.values.n * ROW_LANES + JUDGE_THREADS - 1) / JUDGE_THREADS;
}

/* With signs. */
template <typename T>
static void launch_quasi_definite(branches *b, const factor_program *g,
                                  const factor_places<T> &there, bool by_levels)
{
    launch_shape scaling = {equilibration_blocks(g->n, g->entries, 1, b->multiprocessors),
                            EQUILIBRATION_THREADS};
    scaling.together = true;
    if (there.values.is_unscaled)
        launch_overlapping(b, factor_range_kernel<T, T>, shape_of(g->entries), there.values);
    launch_overlapping(b, equilibrate_kernel<T>, scaling, there.scaling);
    with_signed_tasks(there, [&](const auto &tasks) { launch_tasks(b, g, tasks, by_levels); });
}

/* Nothing is known of the outcome, values that are new are taken, and others' words are cleared. */
template <typename V>
static __global__ void factor_begin_kernel(gathered_outcome *o, int n, value_change<V> change,
                                           unsigned *clear, int clear_words)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    wait_for_kernel_before();
    if (first == 0)
        *o = begun_outcome(n);
    for (int64_t q = first; q < clear_words; q += (int64_t)gridDim.x * blockDim.x)
        clear[q] = 0;
    take_values(change, first, (int64_t)gridDim.x * blockDim.x);
}

template <typename T, typename V>
static void launch_factorization(branches *b, const device_factorizer *f, const factor_program *g,
                                 const factorizer_arguments *given)
{
    const factor_places<T, V> there = places_of<T, V>(f, g, given);
    const value_change<V> change = {static_cast<const V *>(given->fresh),
                                    static_cast<V *>(given->values), g->entries, given->flaws};
    const int64_t changed = change.from ? g->entries : 1;
    launch_overlapping(b, factor_begin_kernel<V>,
                       shape_of(changed > given->clear_words ? changed : given->clear_words),
                       there.values.outcome, g->n, change, given->clear,
                       given->clear ? given->clear_words : 0);
    if constexpr (std::is_same_v<T, V>)
        if (f->signs.has_signs)
            return launch_quasi_definite(b, g, there, given->by_levels);
    launch_values(b, there.values);
    launch_tasks(b, g, there.tasks, given->by_levels);
}

/* Captured in streams of their own: the caller's may be one that cannot be. */
template <typename T, typename V>
static cudaError_t make_graph(device_factorizer *f, const factor_program *g,
                              const factorizer_arguments *given)
{
    branches b;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    if (b.error != cudaSuccess)
        return b.error;
    cudaError_t error = cudaStreamBeginCapture(b.stream[0], cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    launch_factorization<T, V>(&b, f, g, given);
    error = cudaStreamEndCapture(b.stream[0], &captured);
    if (b.error != cudaSuccess)
        error = b.error;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&graph, captured, cudaGraphInstantiateFlagUseNodePriority);
    if (captured)
        cudaGraphDestroy(captured);
    f->graph = graph;
    return error;
}

static bool same_arguments(const factorizer_arguments *a, const factorizer_arguments *b)
{
    return a->values == b->values && a->fresh == b->fresh && a->flaws == b->flaws &&
           a->panel == b->panel && a->is_unscaled == b->is_unscaled && a->shift == b->shift &&
           a->by_levels == b->by_levels && a->patience == b->patience &&
           a->doubt_level == b->doubt_level && a->trace == b->trace && a->clear == b->clear &&
           a->clear_words == b->clear_words;
}

/* The same launches as one graph. */
static libsolver_status launch_graph(device_factorizer *f, const factor_program *g,
                                     const factorizer_arguments *given, message *why)
{
    if (!f->graph || !same_arguments(&f->graph_for, given)) {
        drop_graph(f);
        TRY(with_types(f->type, f->is_mixed, [&](auto one, auto value) {
            return CUDA_STATUS((make_graph<decltype(one), decltype(value)>(f, g, given)),
                               "preparing the launches of the factorization", why);
        }));
    }
    f->graph_for = f->made_for = *given;
    return LAUNCH_STATUS(cudaGraphLaunch((cudaGraphExec_t)f->graph, (cudaStream_t)f->stream),
                         "launching the factorization", why);
}

/* Levels fork and join streams, and are many launches; others are few, are at work before a graph
 * of them would be, and what follows them may begin before they end. */
extern "C" libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *g,
                                                     const factorizer_arguments *given,
                                                     message *why)
{
    const current_device here(f->device);
    f->is_judged = 0;
    if (given->by_levels)
        return launch_graph(f, g, given, why);
    f->made_for = *given;
    return with_types(f->type, f->is_mixed, [&](auto one, auto value) {
        branches b((cudaStream_t)f->stream);
        launch_factorization<decltype(one), decltype(value)>(&b, f, g, given);
        return LAUNCH_STATUS(b.error, "launching the factorization", why);
    });
}

extern "C" libsolver_status device_factorizer_judge(device_factorizer *f, const factor_program *g,
                                                    message *why)
{
    const current_device here(f->device);
    f->is_judged = 1;
    if (!f->signs.has_signs)
        return LIBSOLVER_OK;
    return with_type(f->type, [&](auto one) {
        using T = decltype(one);
        const quasi_arguments<T> a = places_of<T>(f, g, &f->made_for).quasi;
        launch_shape shape = {judge_blocks(a), JUDGE_THREADS};
        shape.overlaps = true;
        return LAUNCH_STATUS(launch_kernel(judge_pivots_kernel<T>, shape, f->stream, a),
                             "launching the look at pivots", why);
    });
}

extern "C" libsolver_status device_factorizer_timed(device_factorizer *f, const factor_program *g,
                                                    const factorizer_arguments *given,
                                                    uint64_t *times, message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const size_t bytes = 2 * sizeof(uint64_t) * (size_t)g->tasks;
    factorizer_arguments traced = *given;
    void *on_device = nullptr;
    TRY(device_allocate(&on_device, (int64_t)bytes, "the trace", why));
    traced.trace = static_cast<uint64_t *>(on_device);
    const libsolver_status status = device_factorizer_launch(f, g, &traced, why);
    cudaError_t error = cudaSuccess;
    if (status == LIBSOLVER_OK)
        error = cudaMemcpyAsync(times, on_device, bytes, cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    drop_graph(f); /* which writes to memory that goes */
    cudaFree(on_device);
    return status != LIBSOLVER_OK
               ? status
               : LAUNCH_STATUS(error != cudaSuccess ? error : end, "the traced factorization", why);
}

static bool was_out_of_range(const device_factorizer *f, const gathered_outcome *o)
{
    double most, least;
    memcpy(&most, &o->most, sizeof most);
    memcpy(&least, &o->least, sizeof least);
    return f->is_mixed                     ? is_out_of_range<float, double>(most, least)
           : type_real_bytes(f->type) == 4 ? is_out_of_range<float>(most, least)
                                           : is_out_of_range<double>(most, least);
}

static cholesky_outcome outcome_from(const gathered_outcome &o)
{
    cholesky_outcome outcome = {};
    outcome.failed = o.failed;
    outcome.nonpositive = o.nonpositive;
    outcome.uncertain = o.uncertain;
    memcpy(&outcome.smallest, &o.smallest, sizeof outcome.smallest);
    return outcome;
}

extern "C" libsolver_status device_factorizer_finish(device_factorizer *f, const factor_program *g,
                                                     cholesky_outcome *outcome, message *why)
{
    const current_device here(f->device);
    if (!f->is_judged)
        TRY(device_factorizer_judge(f, g, why));
    gathered_outcome o;
    cudaError_t error =
        cudaMemcpyAsync(&o, f->outcome, sizeof o, cudaMemcpyDeviceToHost, (cudaStream_t)f->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)f->stream);
    TRY(LAUNCH_STATUS(error, "the factorization on the device", why));
    if (o.gave_up)
        return FAIL(why, LIBSOLVER_CUDA, "a block of the factorization waited %g s for another",
                    patience_of(&f->made_for));
    *outcome = outcome_from(o);
    outcome->is_equilibrated = !f->made_for.is_unscaled || was_out_of_range(f, &o);
    return LIBSOLVER_OK;
}

/* ---- Many items ------------------------------------------------------------------------------ */

extern "C" int64_t device_factorizer_outcome_bytes(void)
{
    return (int64_t)sizeof(gathered_outcome);
}

/* Items that are worked on at a time, for each block of the device. */
constexpr int ITEMS_A_BLOCK = 4;

/* Launches for many items, one after the other on a stream. */
template <typename T> struct item_launches {
    static constexpr int THREADS = 256;
    const factor_places<T> &there;
    item_places places;
    int multiprocessors;
    void *stream;
    cudaError_t error = cudaSuccess;

    void check(cudaError_t e) { error = error == cudaSuccess ? e : error; }
    /* Blocks of the device. */
    int64_t room() const { return (int64_t)factor_shape<T>::BLOCKS_EACH * multiprocessors; }

    /* Blocks for each item, where a thread has up to 16 of so many. */
    static int64_t parts(int64_t most)
    {
        return most < 16 * THREADS ? 1 : (most + 16 * THREADS - 1) / (16 * THREADS);
    }
    template <typename... Parameters, typename A, typename... Arguments>
    void launch(void (*kernel)(Parameters...), int64_t blocks_each, const A &a,
                Arguments... arguments)
    {
        check(launch_kernel(kernel, {places.items * blocks_each, THREADS}, stream, a, places,
                            (int)blocks_each, arguments...));
    }
    template <typename K> void launch_tasks(const factor_arguments<T, K> &a)
    {
        if (a.tasks > 0)
            check(launch_item_tasks(a, places, multiprocessors, stream));
    }
    void launch_definite()
    {
        const value_arguments<T> &a = there.values;
        const int64_t most = a.entries > a.n ? a.entries : a.n;
        if (a.is_unscaled && most > 0)
            launch(factor_item_values_kernel<T, true>, parts(most), a);
        if (most > 0)
            launch(factor_item_values_kernel<T, false>, parts(most), a);
        launch_tasks(there.tasks);
    }
    void launch_quasi_definite()
    {
        const quasi_arguments<T> &a = there.quasi;
        const int64_t n = a.values.n, entries = a.values.entries,
                      each =
                          equilibration_blocks(n, entries, kept_entries<T>::MOST, multiprocessors),
                      at_a_time = multiprocessors / each;
        launch_shape scaling = {each * (places.items < at_a_time ? places.items : at_a_time),
                                EQUILIBRATION_THREADS};
        scaling.together = true;
        if (a.values.is_unscaled)
            launch(factor_item_values_kernel<T, true>, parts(entries), a.values);
        check(launch_kernel(equilibrate_items_kernel<T>, scaling, stream, there.scaling, places,
                            (int)each));
        with_signed_tasks(there, [&](const auto &tasks) { launch_tasks(tasks); });
        check(launch_kernel(judge_item_pivots_kernel<T>,
                            {places.items * judge_blocks(a), JUDGE_THREADS}, stream, a, places,
                            (int)judge_blocks(a)));
    }
};

template <typename T>
static cudaError_t launch_items(device_factorizer *f, const factor_program *g,
                                const factorizer_arguments *given, const factorizer_items *items)
{
    constexpr int THREADS = item_launches<T>::THREADS;
    const factor_places<T> there = places_of<T>(f, g, given);
    item_launches<T> all = {there, {}, 1, f->stream};
    item_places &p = all.places;
    all.check(
        cudaDeviceGetAttribute(&all.multiprocessors, cudaDevAttrMultiProcessorCount, f->device));
    p.item = items->item;
    p.items = (int)items->items;
    p.together = (int)(all.room() * ITEMS_A_BLOCK);
    p.values = items->value_bytes;
    p.panel = items->panel_bytes;
    p.workspace = f->item_bytes;
    p.outcome = static_cast<gathered_outcome *>(items->outcome);
    p.drawn = &static_cast<gathered_outcome *>(const_cast<void *>(f->outcome))->drawn;
    if (p.together > p.items)
        p.together = p.items;
    all.check(launch_kernel(factor_begin_items_kernel, {(p.items + THREADS - 1) / THREADS, THREADS},
                            f->stream, p, g->n));
    if (f->signs.has_signs)
        all.launch_quasi_definite();
    else
        all.launch_definite();
    return all.error;
}

extern "C" libsolver_status device_factorizer_launch_items(device_factorizer *f,
                                                           const factor_program *g,
                                                           const factorizer_arguments *given,
                                                           const factorizer_items *items,
                                                           message *why)
{
    const current_device here(f->device);
    f->made_for = *given;
    return with_type(f->type, [&](auto one) {
        return LAUNCH_STATUS(launch_items<decltype(one)>(f, g, given, items),
                             "launching the factorizations", why);
    });
}

extern "C" libsolver_status device_factorizer_outcome_of(const void *outcomes, int64_t item,
                                                         cholesky_outcome *outcome, message *why)
{
    const gathered_outcome &o = static_cast<const gathered_outcome *>(outcomes)[item];
    if (o.gave_up)
        return FAIL(why, LIBSOLVER_CUDA,
                    "a block of the factorization waited too long for another");
    *outcome = outcome_from(o);
    return LIBSOLVER_OK;
}
