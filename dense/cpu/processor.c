/* dense/cpu/processor.c: the instruction set of this processor's kernels, by name
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/processor.h"

const char *instruction_set_name(void)
{
#ifdef HAVE_avx512
    if (here_is_avx512())
        return "AVX-512";
#endif
#ifdef HAVE_avx2
    if (here_is_avx2())
        return "AVX2";
#endif
    return "plain";
}
