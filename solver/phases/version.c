/* solver/phases/version.c: the version of the library that is linked, and what it takes of the
 * processor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/libsolver.h"
#include "solver/cpu/backend.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *libsolver_version(void)
{
    return TEXT(LIBSOLVER_VERSION_MAJOR) "." TEXT(LIBSOLVER_VERSION_MINOR) "." TEXT(
        LIBSOLVER_VERSION_PATCH);
}

const char *libsolver_instruction_set(void)
{
    return cpu_instruction_set();
}
