/* dense/cpu/processor.h: the instruction sets that kernels are compiled for, and whether this
 * processor has them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The build says -DHAVE_avx2 and so on where a kernel is chosen. */
#ifndef DENSE_CPU_PROCESSOR_H
#define DENSE_CPU_PROCESSOR_H

#ifdef HAVE_avx2
static inline int here_is_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif
#ifdef HAVE_avx512
static inline int here_is_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

/* Name of the largest set that kernels here are taken from: "AVX-512", "AVX2" or "plain", what
 * every processor of the family has. */
const char *instruction_set_name(void);

#endif
