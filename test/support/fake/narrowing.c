/* test/support/fake/narrowing.c: vectors in double precision for solves in single, on the host:
 * gpu/solve/narrowing.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/solve/narrowing.h"
#include "device.h"
#include <math.h>

static int64_t scale_bytes(const device_narrowing *v)
{
    return v->n * (int64_t)sizeof(double);
}

libsolver_status device_narrowing_open(device_narrowing *v, libsolver_type type, int32_t n,
                                       message *why)
{
    MAY_FAIL("preparing the scaling of vectors", why);
    v->type = type;
    v->n = n;
    const int64_t bytes = scale_bytes(v) + n * (int64_t)sizeof(float) + 1;
    fake_wait(v->stream);
    if (!fake_grow(&v->memory, &v->bytes, &v->allocations, bytes))
        return fake_no_memory("the scaling of vectors", bytes, why);
    v->scale = v->memory;
    v->ones = (float *)(void *)((char *)v->memory + scale_bytes(v));
    for (int32_t i = 0; i < n; i++)
        v->ones[i] = 1;
    return LIBSOLVER_OK;
}

libsolver_status device_narrowing_scale(const device_narrowing *v, const double *scale,
                                        message *why)
{
    MAY_FAIL("copying the scaling of vectors", why);
    fake_wait(v->stream);
    fake_copy(v->scale, scale, scale_bytes(v));
    return LIBSOLVER_OK;
}

void device_narrowing_drop(device_narrowing *v)
{
    fake_free(v->memory);
    v->memory = NULL;
    v->bytes = 0;
}

/* Reals of a scalar. */
static int reals_of(libsolver_type type)
{
    return type == LIBSOLVER_Z ? 2 : 1;
}

/* Of the right-hand sides, and of the solutions. */
static int64_t side_bytes(const device_narrowing *v, int32_t columns)
{
    return columns * (int64_t)v->n * reals_of(v->type) * (int64_t)sizeof(float);
}

int64_t narrow_block_bytes(const device_narrowing *v, int32_t columns)
{
    return 2 * side_bytes(v, columns) + columns * (int64_t)sizeof(double) + 512;
}

libsolver_status narrow_block_open(const device_narrowing *v, int32_t columns, narrow_block *w,
                                   message *why)
{
    *w = (narrow_block){.device = v->device};
    MAY_FAIL("taking memory for vectors in single precision", why);
    const int64_t bytes = narrow_block_bytes(v, columns);
    w->memory = fake_allocate(bytes, 1);
    if (!w->memory)
        return fake_no_memory("vectors in single precision", bytes, why);
    int64_t at = 0;
    w->power = fake_place(w->memory, &at, columns * (int64_t)sizeof(double));
    w->b = (libsolver_vectors){.values = fake_place(w->memory, &at, side_bytes(v, columns)),
                               .rows = v->n,
                               .columns = columns,
                               .ld = v->n,
                               .type = v->type == LIBSOLVER_D ? LIBSOLVER_S : LIBSOLVER_C,
                               .place = LIBSOLVER_DEVICE};
    w->x = w->b;
    w->x.values = fake_place(w->memory, &at, side_bytes(v, columns));
    return LIBSOLVER_OK;
}

void narrow_block_close(narrow_block *w)
{
    fake_free(w->memory);
    w->memory = NULL;
}

typedef struct narrowing_work {
    device_narrowing v;
    narrow_block w;
    libsolver_vectors wide;
} narrowing_work;

/* The larger of the parts of an entry, infinite if one is a NaN. */
static double size_of(const double *entry, int reals, double scale)
{
    double size = 0;
    for (int part = 0; part < reals; part++) {
        const double a = fabs(entry[part] * scale);
        size = a > size || isnan(a) ? a : size;
    }
    return isnan(size) ? INFINITY : size;
}

static void run_narrow(void *arguments)
{
    const narrowing_work *k = arguments;
    const int reals = reals_of(k->v.type);
    float *to = k->w.b.values;
    for (int64_t j = 0; j < k->wide.columns; j++) {
        double most = 0;
        for (int64_t i = 0; i < k->v.n; i++)
            most = fmax(most, size_of((double *)(void *)fake_entry(&k->wide, i, j), reals,
                                      k->v.scale[i]));
        int exponent = 0;
        if (isfinite(most))
            frexp(most, &exponent);
        exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
        k->w.power[j] = most > 0 ? ldexp(1, -exponent) : 0;
        for (int64_t i = 0; i < k->v.n; i++) {
            const double *entry = (double *)(void *)fake_entry(&k->wide, i, j),
                         factor = k->v.scale[i];
            const int counts = size_of(entry, reals, factor) * k->w.power[j] >= 0x1p-90;
            for (int part = 0; part < reals; part++)
                *to++ = counts ? (float)(entry[part] * factor * k->w.power[j]) : 0;
        }
    }
}

static void run_widen(void *arguments)
{
    const narrowing_work *k = arguments;
    const int reals = reals_of(k->v.type);
    const float *from = k->w.x.values;
    for (int64_t j = 0; j < k->wide.columns; j++) {
        const double back = k->w.power[j] > 0 ? 1 / k->w.power[j] : 1;
        for (int64_t i = 0; i < k->v.n; i++)
            for (int part = 0; part < reals; part++)
                ((double *)(void *)fake_entry(&k->wide, i, j))[part] =
                    (double)*from++ * back * k->v.scale[i];
    }
}

static libsolver_status put(const device_narrowing *v, const narrow_block *w, void *stream,
                            const libsolver_vectors *wide, fake_work *work)
{
    const narrowing_work k = {*v, *w, *wide};
    fake_insist(wide->type == v->type && wide->rows == v->n && wide->columns <= w->b.columns,
                "a block of vectors does not fit what narrows it");
    fake_check_block(wide);
    fake_launch(stream ? stream : v->stream, work, &k, sizeof k);
    return LIBSOLVER_OK;
}

libsolver_status device_narrow(const device_narrowing *v, const narrow_block *w, void *stream,
                               const libsolver_vectors *b, message *why)
{
    MAY_FAIL("rounding right-hand sides", why);
    return put(v, w, stream, b, run_narrow);
}

libsolver_status device_widen(const device_narrowing *v, const narrow_block *w, void *stream,
                              const libsolver_vectors *x, message *why)
{
    MAY_FAIL("widening solutions", why);
    return put(v, w, stream, x, run_widen);
}
