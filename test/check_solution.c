/* test/check_solution.c: prints the backward error of a solution:  check_solution A.mtx x.mtx [b.mtx]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "residual.h"
#include <stdio.h>

int main(int count, char **arguments)
{
    if (count < 3)
        return 1;
    printf("%.6e\n", residual_backward_error(arguments[1], arguments[2], count > 3 ? arguments[3] : NULL));
    return 0;
}
