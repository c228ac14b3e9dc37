/* cli/linear_system.h: A x = b as the command line names it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_LINEAR_SYSTEM_H
#define CLI_LINEAR_SYSTEM_H

#include "dense_block.h"
#include "options.h"
#include "problem.h"

typedef struct linear_system {
    problem problem;
    bool is_read;  /* problem.a is there */
    int64_t nrhs;  /* 0: not known */
    dense_block b; /* from its file, or A x*, as the library takes it; */
    dense_block x; /* room for as many columns */
} linear_system;

/* Reads or makes the system of the operands.  linear_system_free in every case. */
int linear_system_read(linear_system *system, const settings *s, failure *f);
void linear_system_free(linear_system *system);

/* max |x - x*| / max |x*| of what dense_get has brought, NaN if b came from a file. */
double linear_system_error(const linear_system *system, const settings *s);

#endif
