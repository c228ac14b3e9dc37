/* bench/dense/bandwidth.cu: the read bandwidth of the device, for floors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/dense/bench.h"

__global__ void read_all(const double2 *a, int64_t n, double *out)
{
    double sum = 0;
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i + 3 * stride < n;
         i += 4 * stride) {
        const double2 v0 = __ldcs(a + i), v1 = __ldcs(a + i + stride),
                      v2 = __ldcs(a + i + 2 * stride), v3 = __ldcs(a + i + 3 * stride);
        sum += v0.x + v0.y + v1.x + v1.y + v2.x + v2.y + v3.x + v3.y;
    }
    if (sum == 12345.678) /* never: keeps the loads */
        *out = sum;
}

double read_bandwidth(cudaStream_t stream)
{
    const int64_t bytes = (int64_t)1 << 32;
    double2 *a;
    double *out;
    CHECK(cudaMalloc(&a, (size_t)bytes));
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMemsetAsync(a, 1, (size_t)bytes, stream));
    const double us = stream_time(
        stream, [&] { read_all<<<132 * 8, 512, 0, stream>>>(a, bytes / 16, out); }, 3, 5);
    CHECK(cudaFree(a));
    CHECK(cudaFree(out));
    return (double)bytes / us * 1e-6;
}
