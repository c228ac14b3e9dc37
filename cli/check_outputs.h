/* cli/check_outputs.h: whether results can be written where they are wanted, checked before any
 * computation
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CHECK_OUTPUTS_H
#define CLI_CHECK_OUTPUTS_H

#include "options.h"

/* EXIT_USAGE: two files are one, of which one would be written over; EXIT_RESOURCES: one cannot be
 * written.  The x of a solve is left to command_solve, which has to say so in its JSON. */
int check_outputs(const settings *s, failure *f);

#endif
