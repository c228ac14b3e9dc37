/* test/support/fake/device_factor.c: the memory of a factor, on the host:
 * gpu/device/device_factor.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"
#include "device.h"

libsolver_status device_factor_take(device_factor *f, const device_factor_shape *shape,
                                    message *why)
{
    MAY_FAIL("taking memory for the factor", why);
    const int64_t bytes = device_factor_bytes(shape) + 16;
    fake_wait(f->stream);
    f->shape = *shape;
    return fake_grow_buffer(&f->values, &f->allocations, bytes)
               ? LIBSOLVER_OK
               : fake_no_memory("the factor", bytes, why);
}

/* All bytes, half a staging buffer after the other. */
static libsolver_status copy_by_halves(device_factor *f, int to_device, device_factor_copy *copy,
                                       void *user, message *why)
{
    const int64_t bytes = device_factor_bytes(&f->shape);
    fake_wait(f->stream);
    if (!f->staging)
        f->staging = fake_allocate(2 * fake.half, 0);
    if (!f->staging)
        return fake_no_memory("copying the factor", 2 * fake.half, why);
    f->half = fake.half;
    for (int64_t from = 0, k = 0; from < bytes; from += f->half, k ^= 1) {
        const int64_t part = bytes - from < f->half ? bytes - from : f->half;
        char *half = (char *)f->staging + k * f->half, *there = (char *)f->values.at + from;
        if (to_device) {
            copy(user, from, part, half);
            fake_copy(there, half, part);
        } else {
            fake_copy(half, there, part);
            copy(user, from, part, half);
        }
    }
    return LIBSOLVER_OK;
}

libsolver_status device_factor_upload(device_factor *f, device_factor_copy *fill, void *user,
                                      message *why)
{
    MAY_FAIL("copying the factor to the device", why);
    return copy_by_halves(f, 1, fill, user, why);
}

libsolver_status device_factor_download(device_factor *f, device_factor_copy *drain, void *user,
                                        message *why)
{
    MAY_FAIL("copying the factor from the device", why);
    return copy_by_halves(f, 0, drain, user, why);
}

void device_factor_drop(device_factor *f)
{
    fake_free_buffer(&f->values);
}

void device_factor_release(device_factor *f)
{
    fake_free_buffer(&f->values);
    fake_free(f->staging);
    f->staging = NULL;
    f->half = 0;
}
