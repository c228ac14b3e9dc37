/* gpu/substitute/device_substitution_none.c: substitution on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/device_substitution.h"

libsolver_status device_substitution_load(device_substitution *t, device_solver *s,
                                          const device_factor *factor, const substitution *plan,
                                          const int32_t *user_row, const void *scale, message *why)
{
    (void)t;
    (void)s;
    (void)factor;
    (void)plan;
    (void)user_row;
    (void)scale;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_substitution_renew(const device_substitution *t, const device_solver *s,
                                           message *why)
{
    (void)t, (void)s;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_substitute(const device_substitution *t, const device_solver *s,
                                   const device_workspace *w, void *stream,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    (void)t;
    (void)s;
    (void)w;
    (void)stream;
    (void)b;
    (void)x;
    return BUILT_WITHOUT_CUDA(why);
}
