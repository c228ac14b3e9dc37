/* cli/generate.c: `libsolver generate`, a problem as a Matrix Market file
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "mm_write.h"
#include "problem.h"
#include <stdio.h>

int command_generate(const settings *s, failure *f)
{
    problem p;
    char comment[300];
    if (!problem_load(s->operands[0], &p, f)) {
        snprintf(comment, sizeof comment, "libsolver generate %s", p.name);
        mm_write_matrix(s->output, &p.a, comment, f);
    }
    problem_free(&p);
    return f->code;
}
