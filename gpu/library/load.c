/* gpu/library/load.c: loads the libraries with the CUDA code
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "gpu/library/load.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One of them, as it is found. */
typedef struct cuda_library {
    const char *file, *what, *table;
    size_t bytes; /* of its table */
    _Atomic(const table_head *) loaded;
    message failure;
} cuda_library;

static cuda_library device = {.file = CUDA_LIBRARY,
                              .what = "the GPU backend",
                              .table = "libsolver_cuda_calls",
                              .bytes = sizeof(device_calls)};
static cuda_library dense = {.file = CUDA_DENSE_LIBRARY,
                             .what = "what libsolver_dense.h declares",
                             .table = "libsolver_cuda_dense_calls",
                             .bytes = sizeof(dense_calls)};

/* path := where the library would be beside this one; 0 if that is not known or it is not there. */
static int is_beside(const char *file, char *path, size_t room)
{
    Dl_info here;
    if (!dladdr(&device, &here) || !here.dli_fname)
        return 0;
    const char *slash = strrchr(here.dli_fname, '/');
    const int folder = slash ? (int)(slash - here.dli_fname) : 0;
    const int length = snprintf(path, room, "%.*s/%s", folder, slash ? here.dli_fname : "", file);
    return slash && length > 0 && (size_t)length < room && access(path, F_OK) == 0;
}

static void load(cuda_library *l)
{
    char path[4096];
    void *library =
        dlopen(is_beside(l->file, path, sizeof path) ? path : l->file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        FAIL(&l->failure, LIBSOLVER_NOT_BUILT, "%s is in %s, which cannot be loaded: %s", l->what,
             l->file, reason ? reason : "no reason is given");
        return;
    }
    const table_head *head = dlsym(library, l->table);
    if (head && !strcmp(head->version, LIBRARY_VERSION) && head->bytes == l->bytes) {
        l->loaded = head;
        return;
    }
    FAIL(&l->failure, LIBSOLVER_NOT_BUILT,
         "%s was found, but it is of version %s, and this is libsolver " LIBRARY_VERSION
         ": install both from the same build",
         l->file, head ? head->version : "0.0.0");
    dlclose(library);
}

static void load_device(void)
{
    load(&device);
}

static void load_dense(void)
{
    load(&dense);
}

const device_calls *device_library(message *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_device);
    const device_calls *calls = device_library_if_loaded();
    if (!calls && why)
        *why = device.failure;
    return calls;
}

const device_calls *device_library_if_loaded(void)
{
    return (const device_calls *)device.loaded;
}

const dense_calls *dense_library(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_dense);
    if (why)
        *why = dense.failure.text;
    return dense_library_if_loaded();
}

const dense_calls *dense_library_if_loaded(void)
{
    return (const dense_calls *)dense.loaded;
}
