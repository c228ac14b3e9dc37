/* gpu/batch/device_batch_none.c: the answers of a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/batch/device_batch.h"

libsolver_status device_batch_open(device_batch *t, const batch_shape *shape, message *why)
{
    (void)t, (void)shape;
    return BUILT_WITHOUT_CUDA(why);
}

void device_batch_close(device_batch *t)
{
    (void)t;
}

int64_t device_batch_bytes(const batch_shape *shape)
{
    (void)shape;
    return 0;
}

libsolver_status device_batch_factorize(device_batch *t, const int32_t *list, int64_t number,
                                        const batch_places *values, int is_unscaled,
                                        double doubt_level, int *unsound, cholesky_outcome *outcome,
                                        message *why)
{
    (void)t, (void)list, (void)number, (void)values, (void)is_unscaled, (void)doubt_level;
    (void)unsound, (void)outcome;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_batch_solve(device_batch *t, const int32_t *list, int64_t number,
                                    int64_t columns, const batch_places *b, const batch_places *x,
                                    message *why)
{
    (void)t, (void)list, (void)number, (void)columns, (void)b, (void)x;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_batch_refine(device_batch *t, const int32_t *list, int64_t number,
                                     const batch_places *b, const batch_places *x, int steps,
                                     double tolerance, double least_progress, double *error,
                                     message *why)
{
    (void)t, (void)list, (void)number, (void)b, (void)x, (void)steps;
    (void)tolerance, (void)least_progress, (void)error;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_batch_copy(const device_batch *t, void *to, const void *from, int64_t bytes,
                                   message *why)
{
    (void)t, (void)to, (void)from, (void)bytes;
    return BUILT_WITHOUT_CUDA(why);
}
