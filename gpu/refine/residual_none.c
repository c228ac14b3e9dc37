/* gpu/refine/residual_none.c: refinement on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/refine/residual.h"

libsolver_status device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                    libsolver_type type, message *why)
{
    (void)a;
    (void)pattern;
    (void)type;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_matrix_set(const device_matrix *a, const void *lower, message *why)
{
    (void)a;
    (void)lower;
    return BUILT_WITHOUT_CUDA(why);
}

void device_matrix_close(device_matrix *a)
{
    (void)a;
}

libsolver_status device_refinement_open(const device_matrix *a, int32_t columns,
                                        device_refinement *w, message *why)
{
    (void)columns;
    (void)w;
    return device_matrix_set(a, NULL, why);
}

void device_refinement_close(device_refinement *w)
{
    (void)w;
}

libsolver_status device_refine_step(const device_matrix *a, const device_refinement *w,
                                    void *stream, const refine_step *s, message *why)
{
    (void)a;
    (void)w;
    (void)stream;
    (void)s;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_refine_finish(const device_matrix *a, const device_refinement *w,
                                      void *stream, const refine_step *s,
                                      const refine_outcome *outcome, message *why)
{
    (void)outcome;
    return device_refine_step(a, w, stream, s, why);
}

libsolver_status device_refine_spare(const device_matrix *a, const device_refinement *w,
                                     void *stream, const libsolver_vectors *b,
                                     libsolver_vectors *copy, message *why)
{
    (void)b;
    (void)copy;
    return device_refine_step(a, w, stream, NULL, why);
}

libsolver_status device_refine_wait(const device_matrix *a, void *stream, message *why)
{
    return device_refine_step(a, NULL, stream, NULL, why);
}
