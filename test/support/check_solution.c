/* test/support/check_solution.c: prints the backward error of a solution: check_solution
 * [--single] A.mtx x.mtx [b.mtx]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "residual.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments)
{
    const int single = count > 1 && strcmp(arguments[1], "--single") == 0;
    char **paths = arguments + 1 + single;
    count -= 1 + single;
    if (count < 2)
        return 1;
    printf("%.6e\n", residual_backward_error(paths[0], paths[1], count > 2 ? paths[2] : NULL,
                                             single ? FLT_EPSILON : DBL_EPSILON));
    return 0;
}
