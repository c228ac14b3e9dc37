/* cli/commands.h: the tool's commands; each returns the exit code, with its reason in *f
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

int command_solve(const settings *s, failure *f);
int command_refine(const settings *s, failure *f);
int command_bench(const settings *s, failure *f);
int command_plot(const settings *s, failure *f);
int command_generate(const settings *s, failure *f);
int command_info(const settings *s, failure *f);

#endif
