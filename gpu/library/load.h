/* gpu/library/load.h: the libraries with the CUDA code, loaded when they are first wanted
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_LIBRARY_LOAD_H
#define GPU_LIBRARY_LOAD_H

#include "gpu/library/calls.h"

/* The calls of the solver; the first call loads the library, from beside the file that this code is
 * in, the folder libsolver there, that of the installation, or else from where the system looks for
 * libraries.  NULL, with the message that goes with NOT_BUILT: it is not there, cannot be loaded,
 * or is not of this version; no later call tries again. */
const device_calls *device_library(message *why);
/* The same if it has been loaded, NULL otherwise. */
const device_calls *device_library_if_loaded(void);

/* The library of libsolver_dense.h in the same way; why: NULL, or where the sentence goes. */
const dense_calls *dense_library(const char **why);
const dense_calls *dense_library_if_loaded(void);

#endif
