/* test/support/fake/device_factor.c: the memory of a factor, on the host:
 * gpu/device/device_factor.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"
#include "device.h"

libsolver_status device_factor_upload(device_factor *f, const device_factor_shape *shape,
                                      device_factor_fill *fill, void *user, message *why)
{
    MAY_FAIL("copying the factor to the device", why);
    const int64_t scalars = shape->panel_scalars + (shape->cholesky ? 0 : 2 * (int64_t)shape->n),
                  bytes = scalars * type_bytes(shape->type);
    fake_wait(f->stream);
    if (!f->staging)
        f->staging = fake_allocate(2 * fake.half, 0);
    if (!f->staging || !fake_grow_buffer(&f->values, &f->allocations, bytes + 16))
        return fake_no_memory("the factor", bytes + 16, why);
    f->half = fake.half;
    f->shape = *shape;
    for (int64_t from = 0, k = 0; from < bytes; from += f->half, k ^= 1) {
        const int64_t part = bytes - from < f->half ? bytes - from : f->half;
        char *half = (char *)f->staging + k * f->half;
        fill(user, from, part, half);
        fake_copy((char *)f->values.at + from, half, part);
    }
    return LIBSOLVER_OK;
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
