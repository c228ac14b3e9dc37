/* gpu/factor/device_factorizer_none.c: the answers of a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_factorizer.h"

libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *program,
                                        const factor_pattern *pattern, libsolver_type type,
                                        message *why)
{
    (void)f, (void)program, (void)pattern, (void)type;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *program,
                                          const factorizer_arguments *arguments, message *why)
{
    (void)f, (void)program, (void)arguments;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_factorizer_timed(device_factorizer *f, const factor_program *program,
                                         const factorizer_arguments *arguments, uint64_t *times,
                                         message *why)
{
    (void)f, (void)program, (void)arguments, (void)times;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_factorizer_finish(device_factorizer *f, cholesky_outcome *outcome,
                                          message *why)
{
    (void)f, (void)outcome;
    return BUILT_WITHOUT_CUDA(why);
}

int64_t device_factorizer_bytes(const factor_program *program, const factor_pattern *pattern,
                                libsolver_type type)
{
    (void)program, (void)pattern, (void)type;
    return 0;
}

void device_factorizer_drop(device_factorizer *f)
{
    (void)f;
}
