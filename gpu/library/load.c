/* gpu/library/load.c: loads the library with the CUDA code
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "gpu/library/load.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(const device_calls *) loaded;
static message failure;

/* path := where the library would be beside this one; 0 if that is not known or it is not there. */
static int is_beside(char *path, size_t room)
{
    Dl_info here;
    if (!dladdr(&once, &here) || !here.dli_fname)
        return 0;
    const char *slash = strrchr(here.dli_fname, '/');
    const int folder = slash ? (int)(slash - here.dli_fname) : 0;
    const int length =
        snprintf(path, room, "%.*s/" CUDA_LIBRARY, folder, slash ? here.dli_fname : "");
    return slash && length > 0 && (size_t)length < room && access(path, F_OK) == 0;
}

static void load(void)
{
    char path[4096];
    void *library =
        dlopen(is_beside(path, sizeof path) ? path : CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        FAIL(&failure, LIBSOLVER_NOT_BUILT,
             "the GPU backend is in " CUDA_LIBRARY ", which cannot be loaded: %s",
             reason ? reason : "no reason is given");
        return;
    }
    const device_calls *calls = dlsym(library, "libsolver_cuda_calls");
    if (calls && !strcmp(calls->version, LIBRARY_VERSION) && calls->bytes == sizeof *calls) {
        loaded = calls;
        return;
    }
    FAIL(&failure, LIBSOLVER_NOT_BUILT,
         CUDA_LIBRARY " was found, but it is of version %s, and this is libsolver " LIBRARY_VERSION
                      ": install both from the same build",
         calls ? calls->version : "0.0.0");
    dlclose(library);
}

const device_calls *device_library(message *why)
{
    pthread_once(&once, load);
    const device_calls *calls = loaded;
    if (!calls && why)
        *why = failure;
    return calls;
}

const device_calls *device_library_if_loaded(void)
{
    return loaded;
}
