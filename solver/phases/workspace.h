/* solver/phases/workspace.h: what one solve at a time writes to
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_WORKSPACE_H
#define SOLVER_PHASES_WORKSPACE_H

#include "solver/phases/objects.h"

/* See libsolver_workspace_create. */
libsolver_status workspace_create(const libsolver_factor *f, int64_t columns,
                                  libsolver_workspace **workspace, message *why);

/* Makes the factor's own workspace, which the caller has taken, wide enough for so many columns.
 * OUT_OF_MEMORY. */
libsolver_status workspace_widen(libsolver_factor *f, int64_t columns, message *why);

/* Whether b and x can be solved with: they are there, of the factor's size and type, in the same
 * memory; and there is a factor, and the workspace is its own.  w here and below: NULL stands for
 * the factor's own workspace. */
libsolver_status workspace_check(const libsolver_factor *f, const libsolver_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 message *why);
/* INVALID if a reserved field is not zero. */
libsolver_status reserved_check(const libsolver_vectors *v, message *why);
/* Gives the workspace to this call alone, until it gives it back.  INVALID: another has it. */
libsolver_status workspace_take(const libsolver_factor *f, libsolver_workspace *w, message *why);
void workspace_give_back(const libsolver_factor *f, libsolver_workspace *w);
/* Both checks, b and x only if both are there, and workspace_take; backend_memory: the backend's
 * part.  workspace_give_back follows unless it fails. */
libsolver_status workspace_begin(const libsolver_factor *f, libsolver_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 void **backend_memory, message *why);

#endif
