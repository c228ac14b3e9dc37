/* gpu/device/device_values_none.c: the values of A on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_values.h"

libsolver_status device_values_open(device_values *v, environment *env, void *stream,
                                    int64_t entries, libsolver_type type, message *why)
{
    (void)v, (void)env, (void)stream, (void)entries, (void)type;
    return BUILT_WITHOUT_CUDA(why);
}

void device_values_close(device_values *v)
{
    (void)v;
}

int64_t device_values_bytes(const device_values *v)
{
    (void)v;
    return 0;
}

libsolver_status device_values_put(const device_values *v, const void *values, message *why)
{
    (void)v, (void)values;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_values_get(const device_values *v, void *values, message *why)
{
    (void)v, (void)values;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_values_get_sums(const device_values *v, void *values, message *why)
{
    return device_values_get(v, values, why);
}

libsolver_status device_values_prepare(device_values *v, const value_sums *sums, int64_t given,
                                       message *why)
{
    (void)v, (void)sums, (void)given;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_values_sum(const device_values *v, const void *given, const void *shift,
                                   int *is_sound, message *why)
{
    (void)v, (void)given, (void)shift, (void)is_sound;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_values_replace(const device_values *v, const void *given,
                                       value_flaws *flaws, message *why)
{
    (void)v, (void)given, (void)flaws;
    return BUILT_WITHOUT_CUDA(why);
}
