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

enum { PATH_ROOM = 4096 };

/* The folder of the file that this code is in, "": not known. */
static void find_folder(char (*folder)[PATH_ROOM])
{
    Dl_info here;
    const char *slash =
        dladdr(&device, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
    snprintf(*folder, PATH_ROOM, "%.*s", slash ? (int)(slash - here.dli_fname) : 0,
             slash ? here.dli_fname : "");
}

/* Beside this library, in a folder of its own there, and where it was to be installed; the last
 * resort, the name alone, leaves it to the system. */
static void *open_library(const char *file)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 256];
    find_folder(&folder);
    const char *const folders[] = {folder, folder, CUDA_FOLDER};
    static const char *const below[] = {"", "/libsolver", ""};
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s%s/%s", folders[k], below[k], file);
        if (*folders[k] && access(path, F_OK) == 0)
            return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void load(cuda_library *l)
{
    void *library = open_library(l->file);
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
    const char *version = head ? head->version : "0.0.0";
    FAIL(&l->failure, LIBSOLVER_NOT_BUILT,
         "%s was found, but it is of %s %s, and this is libsolver " LIBRARY_VERSION
         ": install both from the same build",
         l->file, strcmp(version, LIBRARY_VERSION) ? "version" : "another build of", version);
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
