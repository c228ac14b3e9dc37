/* gpu/factor/device_outcome_none.c: outcomes on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_outcome.h"

libsolver_status device_outcome_open(device_outcome *o, message *why)
{
    (void)o;
    return BUILT_WITHOUT_CUDA(why);
}

void device_outcome_close(device_outcome *o)
{
    (void)o;
}

libsolver_status device_outcome_watch(device_outcome *o, const unsigned char *is_there,
                                      int64_t growths, message *why)
{
    (void)o, (void)is_there, (void)growths;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_outcome_judge(device_outcome *o, const outcome_arguments *a, message *why)
{
    (void)o, (void)a;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_outcome_last(const device_outcome *o, judged_outcome *last, message *why)
{
    (void)o;
    *last = (judged_outcome){0};
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_outcome_set(const device_outcome *o, libsolver_status status, message *why)
{
    (void)o, (void)status;
    return BUILT_WITHOUT_CUDA(why);
}

int device_outcome_is_captured(const device_outcome *o)
{
    (void)o;
    return 0;
}
