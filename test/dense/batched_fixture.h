/* test/dense/batched_fixture.h: batches of matrices on the host and on the device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DENSE_BATCHED_FIXTURE_H
#define TEST_DENSE_BATCHED_FIXTURE_H

#include "test/dense/trsv_fixture.h"

/* How a batch is passed. */
enum way { STRIDED, POINTERS, VARIABLE };
static const char *const way_name[] = {"strided", "pointers", "variable"};

/* Matrices behind each other in one array on the host and on the device, NaN where nothing is. */
template <typename T> struct matrices {
    std::vector<int64_t> at, ld, rows, columns;
    std::vector<T> host;
    T *device = nullptr;
    void **each = nullptr;
    int64_t *lds = nullptr;

    matrices() = default;
    matrices(const matrices &) = delete;
    ~matrices()
    {
        cudaFree(device);
        cudaFree(each);
        cudaFree(lds);
    }
    /* Matrices of ld = rows + 1 or 3; equal ones lie at one stride. */
    void add(int64_t m, int64_t n)
    {
        at.push_back((int64_t)host.size());
        rows.push_back(m);
        columns.push_back(n);
        ld.push_back((m > 0 ? m : 1) + (m % 2 ? 3 : 1));
        host.resize(host.size() + (size_t)(ld.back() * n + 5), not_a_number<T>());
    }
    T *item(size_t k) { return host.data() + at[k]; }
    const T *item(size_t k) const { return host.data() + at[k]; }
    int64_t stride() const { return at.size() > 1 ? at[1] - at[0] : 0; }
    void send()
    {
        std::vector<void *> p;
        CUDA_OK(cudaMalloc(&device, host.size() * sizeof(T)));
        CUDA_OK(cudaMalloc(&each, at.size() * sizeof(void *)));
        CUDA_OK(cudaMalloc(&lds, at.size() * sizeof(int64_t)));
        for (int64_t a : at)
            p.push_back(device + a);
        CUDA_OK(cudaMemcpy(each, p.data(), p.size() * sizeof(void *), cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemcpy(lds, ld.data(), ld.size() * sizeof(int64_t), cudaMemcpyHostToDevice));
        put();
    }
    void put()
    {
        CUDA_OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const
    {
        std::vector<T> v(host.size());
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaMemcpy(v.data(), device, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};

/* Around the sizes at which kernels change, in no order. */
static const int64_t mixed_orders[] = {1,  200, 31, 0,  65, 8,   5,  64, 129, 32,
                                       33, 3,   63, 16, 96, 128, 17, 7,  257, 2};

#endif
