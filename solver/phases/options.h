/* solver/phases/options.h: the checks of options
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_OPTIONS_H
#define SOLVER_PHASES_OPTIONS_H

#include "base/message.h"
#include "solver/libsolver.h"

/* INVALID if a field is out of its range. */
libsolver_status options_check(const libsolver_options *options, message *why);
/* INVALID if it is neither 0 nor in (0, 0.5]. */
libsolver_status threshold_check(double threshold, message *why);
/* The same for what limits a refinement; not NULL. */
libsolver_status limits_check(const libsolver_limits *limits, message *why);

#endif
