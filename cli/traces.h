/* cli/traces.h: `libsolver bench --profile`: solves are traced, their profile goes to files
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "profile.h"
#include "session.h"

/* PREFIX.NAME.SUFFIX, to be freed by room_free; NULL: no memory. */
char *traces_path(const char *prefix, const char *name, const char *suffix);

/* Traces some solves of b, x in device memory and writes the profile of the fastest to
 * PREFIX.NAME.json and PREFIX.NAME.svg, characters of the name that are none of files as '_'. */
int traces_store(session *s, libsolver_workspace *workspace, const libsolver_vectors *b,
                 const libsolver_vectors *x, const char *prefix, profile_facts *facts, failure *f);

#endif
