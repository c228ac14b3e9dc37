/* bench/dense/peers.h: calls of cuBLAS and cuSOLVER by type
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_DENSE_PEERS_H
#define BENCH_DENSE_PEERS_H

#include "dense/cuda/device/scalar.cuh"
#include <cublas_v2.h>
#include <cusolverDn.h>

template <typename T> struct peer;
#define PEER(T, ENTRY, LETTER, TYPE) \
    template <> struct peer<T> { \
        using entry = ENTRY; \
        static constexpr cudaDataType type = TYPE; \
        static constexpr auto trsm = cublas##LETTER##trsm; \
        static constexpr auto trmm = cublas##LETTER##trmm; \
        static constexpr auto gemm = cublas##LETTER##gemm; \
        static constexpr auto potri_size = cusolverDn##LETTER##potri_bufferSize; \
        static constexpr auto potri = cusolverDn##LETTER##potri; \
        static constexpr auto potrf_size = cusolverDn##LETTER##potrf_bufferSize; \
        static constexpr auto potrf = cusolverDn##LETTER##potrf; \
        static constexpr auto potrs = cusolverDn##LETTER##potrs; \
    };
PEER(float, float, S, CUDA_R_32F)
PEER(double, double, D, CUDA_R_64F)
PEER(complex_s, cuComplex, C, CUDA_C_32F)
PEER(complex_d, cuDoubleComplex, Z, CUDA_C_64F)
#undef PEER

template <typename T> static typename peer<T>::entry *as_peer(T *p)
{
    return reinterpret_cast<typename peer<T>::entry *>(p);
}

#endif
