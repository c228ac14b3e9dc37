/* solver/phases/context.c: contexts and devices
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/build.h"
#include "gpu/device/devices.h"
#include "solver/phases/context.h"
#include "solver/phases/options.h"
#include <assert.h>
#include <omp.h>
#include <string.h>

/* The context itself comes from the caller's allocator, before there is a `memory` to count it. */
static libsolver_context *allocate(const libsolver_options *o)
{
    memory m;
    memory_init(&m, o->allocate, o->release, o->memory_user, 0);
    return memory_zeroed(&m, 1, sizeof(libsolver_context));
}

/* A thread that cannot be created ends the process inside the OpenMP runtime, which has no way to
 * say so: no more are asked for than any use has, a few for each processor. */
enum { THREADS_PER_PROCESSOR = 4 };

/* Threads of a context whose options ask for `wanted`, 0: as OpenMP says. */
static int threads_of(int wanted)
{
    const int64_t most = THREADS_PER_PROCESSOR * (int64_t)omp_get_num_procs();
    const int threads = wanted > 0 ? wanted : omp_get_max_threads();
    return threads < most ? threads : (int)most;
}

libsolver_status check_device(int device, message *why)
{
    int count = 0;
    TRY(gpu_device_count(&count, why));
    if (count == 0)
        return FAIL(why, LIBSOLVER_CUDA,
                    "CUDA has no device: there is no GPU, or no NVIDIA driver that is new enough "
                    "(nvidia-smi tells)");
    if (device < 0 || device >= count)
        return FAIL(why, LIBSOLVER_INVALID, "there is no device %d, CUDA has %d", device, count);
    return gpu_device_check(device, why);
}

static_assert((int)LIBSOLVER_PHASE_ANALYZE == PHASE_ANALYZE &&
                  (int)LIBSOLVER_PHASE_FACTORIZE == PHASE_FACTORIZE &&
                  (int)LIBSOLVER_PHASE_SOLVE == PHASE_SOLVE,
              "phases are numbered as in the public header");

static void tell_progress(void *context, int phase, double fraction)
{
    const libsolver_context *c = context;
    c->progress(c->progress_user, (libsolver_phase)phase, fraction);
}

libsolver_status context_create(const libsolver_options *options, libsolver_context **context,
                                message *why)
{
    *context = NULL;
    libsolver_options o;
    libsolver_options_default(&o);
    if (options)
        o = *options;
    TRY(options_check(&o, why));
    if (o.backend == LIBSOLVER_BACKEND_GPU)
        TRY(check_device(o.device, why));
    libsolver_context *c = allocate(&o);
    if (!c)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "no memory for a context");
    memory_init(&c->env.memory, o.allocate, o.release, o.memory_user, o.memory_limit);
    c->env.threads = threads_of(o.threads);
    c->env.device = o.device;
    c->env.stream = o.stream;
    c->env.log = o.log;
    c->env.log_user = o.log_user;
    c->env.cancel = o.cancel;
    c->env.cancel_user = o.cancel_user;
    c->progress = o.progress;
    c->progress_user = o.progress_user;
    c->env.progress = o.progress ? tell_progress : NULL;
    c->env.progress_user = c;
    if (o.threads > c->env.threads)
        environment_log(&c->env, "%d threads were asked for: %d are used, %d for each processor",
                        o.threads, c->env.threads, THREADS_PER_PROCESSOR);
    c->backend = o.backend;
    atomic_flag_clear(&c->writing);
    *context = c;
    return LIBSOLVER_OK;
}

libsolver_status libsolver_context_create(const libsolver_options *options,
                                          libsolver_context **context)
{
    message why = {0};
    const libsolver_status status =
        context ? context_create(options, context, &why)
                : FAIL(&why, LIBSOLVER_INVALID, "where the context is to go is NULL");
    if (status < 0)
        thread_message(&why);
    return status;
}

void libsolver_context_free(libsolver_context *context)
{
    if (!context)
        return;
    memory m = {.allocate = context->env.memory.allocate,
                .release = context->env.memory.release,
                .user = context->env.memory.user};
    memory_free(&m, context);
}

static libsolver_status list_devices(int capacity, libsolver_device *devices, int *count,
                                     message *why)
{
    if (!count || capacity < 0 || (capacity > 0 && !devices))
        return FAIL(why, LIBSOLVER_INVALID, "there is no room for the devices or their number");
    *count = 0;
    TRY(gpu_device_count(count, why));
    for (int i = 0; i < *count && i < capacity; i++) {
        gpu_device d;
        TRY(gpu_device_describe(i, &d, why));
        memcpy(devices[i].name, d.name, sizeof d.name);
        devices[i].compute_major = d.compute_major;
        devices[i].compute_minor = d.compute_minor;
        devices[i].multiprocessors = d.multiprocessors;
        devices[i].bytes = d.bytes;
    }
    return LIBSOLVER_OK;
}

libsolver_status libsolver_devices(int capacity, libsolver_device *devices, int *count)
{
    message why = {0};
    const libsolver_status status = list_devices(capacity, devices, count, &why);
    if (status < 0)
        thread_message(&why);
    return status;
}

libsolver_status libsolver_gpu_code_query(libsolver_gpu_code *code)
{
    message why = {0};
    gpu_build build = {0};
    const libsolver_status status =
        code ? gpu_build_describe(&build, &why) : FAIL(&why, LIBSOLVER_INVALID, "code is NULL");
    if (code)
        *code = (libsolver_gpu_code){.architectures = build.architectures,
                                     .toolkit = build.toolkit,
                                     .driver = build.driver};
    if (status < 0)
        thread_message(&why);
    return status;
}
