/* test/support/on_host/cuda/cuda_pipeline_primitives.h: copies that a thread begins and waits for
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_ON_HOST_CUDA_PIPELINE_PRIMITIVES_H
#define TEST_SUPPORT_ON_HOST_CUDA_PIPELINE_PRIMITIVES_H

#include "test/support/on_host/fibers.h"

/* They come when they are waited for; until then there are no numbers. */
inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    memset(to, 0xff, bytes);
    this_thread->copies.push_back({to, from, bytes, zeros, this_thread->groups});
}
inline void __pipeline_commit()
{
    this_thread->groups++;
}
inline void __pipeline_wait_prior(int groups)
{
    std::vector<own_copy> &copies = this_thread->copies;
    size_t left = 0;
    for (const own_copy &c : copies)
        if (c.group < this_thread->groups - groups) {
            memcpy(c.to, c.from, c.bytes - c.zeros);
            memset(static_cast<char *>(c.to) + c.bytes - c.zeros, 0, c.zeros);
        } else {
            copies[left++] = c;
        }
    copies.resize(left);
}

#endif
