/* solver/phases/context.h: where work runs
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_CONTEXT_H
#define SOLVER_PHASES_CONTEXT_H

#include "solver/phases/objects.h"

/* See libsolver_context_create. */
libsolver_status context_create(const libsolver_options *options, libsolver_context **context,
                                message *why);

/* Whether CUDA has a device of that number that the kernels run on.  INVALID, NOT_BUILT, CUDA. */
libsolver_status check_device(int device, message *why);

#endif
