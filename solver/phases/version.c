/* solver/phases/version.c: the version of the library that is linked
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/libsolver.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *libsolver_version(void)
{
    return TEXT(LIBSOLVER_VERSION_MAJOR) "." TEXT(LIBSOLVER_VERSION_MINOR) "." TEXT(
        LIBSOLVER_VERSION_PATCH);
}
