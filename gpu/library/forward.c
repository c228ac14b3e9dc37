/* gpu/library/forward.c: what is defined in CUDA files, for a libsolver that loads these
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/library/load.h"

#define STATUS(name, parameters, arguments) \
    libsolver_status name parameters \
    { \
        const device_calls *calls = device_library(why); \
        return calls ? calls->name arguments : LIBSOLVER_NOT_BUILT; \
    }
#define DENSE_STATUS(name, parameters, arguments) \
    libsolver_status name parameters \
    { \
        const dense_calls *calls = dense_library(NULL); \
        return calls ? calls->name arguments : LIBSOLVER_NOT_BUILT; \
    }
#define VALUE(type, name, parameters, arguments) \
    type name parameters \
    { \
        const device_calls *calls = device_library(NULL); \
        return calls ? calls->name arguments : (type){0}; \
    }
#define DENSE_VALUE(type, name, parameters, arguments) \
    type name parameters \
    { \
        const dense_calls *calls = dense_library(NULL); \
        return calls ? calls->name arguments : (type){0}; \
    }
#define VOID(name, parameters, arguments) \
    void name parameters \
    { \
        const device_calls *calls = device_library_if_loaded(); \
        if (calls) \
            calls->name arguments; \
    }
#define DENSE_VOID(name, parameters, arguments) \
    void name parameters \
    { \
        const dense_calls *calls = dense_library_if_loaded(); \
        if (calls) \
            calls->name arguments; \
    }

DEVICE_CALLS(STATUS, VALUE, VOID)
DENSE_CALLS(DENSE_STATUS, DENSE_VALUE, DENSE_VOID)

libsolver_status libsolver_dense_create(const libsolver_dense_options *options,
                                        libsolver_dense_context **context)
{
    const dense_calls *calls = dense_library(NULL);
    if (calls)
        return calls->libsolver_dense_create(options, context);
    if (!context)
        return LIBSOLVER_INVALID;
    *context = NULL;
    return LIBSOLVER_NOT_BUILT;
}

const char *libsolver_dense_message(void)
{
    const char *why;
    const dense_calls *calls = dense_library(&why);
    return calls ? calls->libsolver_dense_message() : why;
}
