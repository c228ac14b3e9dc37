/* gpu/device/lanes.cuh: warp scope: sums over neighbouring lanes
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_LANES_CUH
#define GPU_DEVICE_LANES_CUH

/* Sum over `lanes` neighbouring lanes, a power of two, which come here together; in the same order
 * for each of them. */
static __device__ __forceinline__ double sum_of_lanes(double v, int lanes)
{
    const unsigned first = threadIdx.x % 32 & ~(unsigned)(lanes - 1),
                   together = (~0u >> (32 - lanes)) << first;
    for (int mask = lanes / 2; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(together, v, mask);
    return v;
}

#endif
