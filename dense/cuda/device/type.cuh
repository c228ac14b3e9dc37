/* dense/cuda/device/type.cuh: what the library and the BLAS call the scalar types
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_TYPE_CUH
#define DENSE_CUDA_DEVICE_TYPE_CUH

#include "dense/cuda/device/scalar.cuh"
#include "libsolver_types.h"

template <typename T> struct type_of;
template <> struct type_of<float> {
    static constexpr libsolver_type value = LIBSOLVER_S;
    static constexpr char name[] = "s";
};
template <> struct type_of<double> {
    static constexpr libsolver_type value = LIBSOLVER_D;
    static constexpr char name[] = "d";
};
template <> struct type_of<complex_s> {
    static constexpr libsolver_type value = LIBSOLVER_C;
    static constexpr char name[] = "c";
};
template <> struct type_of<complex_d> {
    static constexpr libsolver_type value = LIBSOLVER_Z;
    static constexpr char name[] = "z";
};

#endif
