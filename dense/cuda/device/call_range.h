/* dense/cuda/device/call_range.h: public calls as ranges on a profiler's timeline
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Only where the build option `nvtx` asks for it: the headers of NVTX read an environment variable
 * and load what it names, which the library does not do by itself. */
#ifndef DENSE_CUDA_DEVICE_CALL_RANGE_H
#define DENSE_CUDA_DEVICE_CALL_RANGE_H

#ifdef WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

/* From here to the end of the scope, on the host: what a call launches belongs to it. */
struct call_range {
#ifdef WITH_NVTX
    explicit call_range(const char *name) { nvtxRangePushA(name); }
    ~call_range() { nvtxRangePop(); }
#else
    explicit call_range(const char *) {}
#endif
    call_range(const call_range &) = delete;
};

#endif
