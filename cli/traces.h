/* cli/traces.h: solves and factorizations on a GPU are traced, their profiles go to files
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include "factor_profile.h"
#include "profile.h"
#include "session.h"

/* PREFIX.NAME.SUFFIX, to be freed by room_free; NULL: no memory. */
char *traces_path(const char *prefix, const char *name, const char *suffix);

/* Traces some solves of b, x in device memory; the profile of the fastest, for profile_free in
 * every case. */
int traces_solve(session *s, libsolver_workspace *workspace, const libsolver_vectors *b,
                 const libsolver_vectors *x, profile *p, failure *f);
/* Writes it to PREFIX.NAME.json and PREFIX.NAME.svg, characters of the name that are none of files
 * as '_'. */
int traces_store_solve(const profile *p, const profile_facts *facts, const char *prefix,
                       failure *f);

/* The number of tasks of a factorization on the device, 0: the factor is made on the CPU. */
int64_t traces_factor_tasks(const session *s);
/* Traces some refactorizations of so many tasks; the profile of the fastest. */
int traces_factor(session *s, int64_t tasks, factor_profile *p, failure *f);
/* Writes it to PREFIX.NAME.factor.json and PREFIX.NAME.factor.svg. */
int traces_store_factor(const factor_profile *p, const profile_facts *facts, const char *prefix,
                        failure *f);

#endif
