/* test/support/gpu_required.h: what a test on a device ends with where it cannot be had
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The environment variable LIBSOLVER_TEST_GPU, which only tests read, tells a machine without a GPU
 * from one with a broken driver: where it is `required`, a test that finds no device fails instead
 * of being skipped. */
#ifndef TEST_SUPPORT_GPU_REQUIRED_H
#define TEST_SUPPORT_GPU_REQUIRED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exit code where there is no such thing: 77, skipped, or 1. */
static inline int without(const char *what)
{
    const char *wanted = getenv("LIBSOLVER_TEST_GPU");
    const int required = wanted && strcmp(wanted, "required") == 0;
    printf("there is no %s%s\n", what,
           required ? ", but LIBSOLVER_TEST_GPU is `required`" : ": skipped");
    return required ? 1 : 77;
}

static inline int without_a_gpu(void)
{
    return without("GPU");
}

#endif
