/* test/support/fake/device_values.c: the values of A, on the host: gpu/device/device_values.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_values.h"
#include "device.h"

libsolver_status device_values_open(device_values *v, environment *env, void *stream,
                                    int64_t entries, libsolver_type type, message *why)
{
    MAY_FAIL("taking memory for the values of the matrix", why);
    const int64_t bytes = entries * type_bytes(type) + 16;
    int64_t allocations = 0;
    v->env = env;
    v->stream = stream;
    v->type = type;
    v->entries = entries;
    return fake_grow_buffer(&v->value, &allocations, bytes)
               ? LIBSOLVER_OK
               : fake_no_memory("the values of the matrix", bytes, why);
}

void device_values_close(device_values *v)
{
    fake_free_buffer(&v->value);
    fake_free_buffer(&v->summed);
}

int64_t device_values_bytes(const device_values *v)
{
    return v->value.bytes + v->summed.bytes;
}

static int64_t bytes_of(const device_values *v)
{
    return v->entries * type_bytes(v->type);
}

libsolver_status device_values_put(const device_values *v, const void *values, message *why)
{
    MAY_FAIL("copying the values of the matrix to the device", why);
    fake_wait(v->stream);
    fake_copy(v->value.at, values, bytes_of(v));
    return LIBSOLVER_OK;
}

static libsolver_status get(const device_values *v, const void *from, void *to)
{
    fake_wait(v->stream);
    fake_copy(to, from, bytes_of(v));
    return LIBSOLVER_OK;
}

libsolver_status device_values_get(const device_values *v, void *values, message *why)
{
    MAY_FAIL("copying the values of the matrix from the device", why);
    return get(v, v->value.at, values);
}

libsolver_status device_values_get_sums(const device_values *v, void *values, message *why)
{
    MAY_FAIL("copying the values of the matrix from the device", why);
    return get(v, v->sum, values);
}

/* Tables, then sums; copies: what is on the host. */
static int64_t place_sums(device_values *v, const value_sums *s, int64_t given, char *base,
                          int copies)
{
    int64_t at = 0;
    const int64_t diagonal = s->n * (int64_t)sizeof(int32_t),
                  start = s->start ? (s->entries + 1) * (int64_t)sizeof(int32_t) : 0,
                  source = s->source ? given * (int64_t)sizeof(uint32_t) : 0;
    v->sums = *s;
    v->sums.diagonal = fake_place(base, &at, diagonal);
    v->sums.start = s->start ? fake_place(base, &at, start) : NULL;
    v->sums.source = s->source ? fake_place(base, &at, source) : NULL;
    v->sum = fake_place(base, &at, bytes_of(v));
    if (copies) {
        fake_copy(v->sums.diagonal, s->diagonal, diagonal);
        fake_copy(v->sums.start, s->start, start);
        fake_copy(v->sums.source, s->source, source);
    }
    return at + 1;
}

libsolver_status device_values_prepare(device_values *v, const value_sums *s, int64_t given,
                                       message *why)
{
    MAY_FAIL("copying the tables for sums of values to the device", why);
    fake_insist(s->start || given == s->entries, "an entry is no value that is given");
    const int64_t bytes = place_sums(v, s, given, NULL, 0);
    int64_t allocations = 0;
    if (!fake_grow_buffer(&v->summed, &allocations, bytes))
        return fake_no_memory("the sums of values", bytes, why);
    place_sums(v, s, given, v->summed.at, 1);
    return LIBSOLVER_OK;
}

libsolver_status device_values_sum(const device_values *v, const void *given, const void *shift,
                                   int *is_sound, message *why)
{
    MAY_FAIL("summing the values of the matrix on the device", why);
    fake_insist(!given || fake_room(given) >= 0, "values are not on the device");
    fake_wait(v->stream);
    value_flaws flaws = {0};
    OF_TYPE(v->type, emulate_sums, &v->sums, given, shift, v->sum, &flaws);
    *is_sound = !flaws.nonfinite && !flaws.asymmetric;
    if (*is_sound)
        OF_TYPE(v->type, emulate_shift, &v->sums, v->sum, shift, v->value.at);
    return LIBSOLVER_OK;
}

typedef struct check {
    device_values v;
    const void *given;
    int keeps;
    value_flaws *flaws;
} check;

static void run_check(void *arguments)
{
    const check *r = arguments;
    OF_TYPE(r->v.type, emulate_sums, &r->v.sums, r->given, NULL, r->v.sum, r->flaws);
    if (!r->keeps)
        OF_TYPE(r->v.type, emulate_shift, &r->v.sums, r->v.sum, NULL, r->v.value.at);
}

libsolver_status device_values_check(const device_values *v, const void *given, int keeps,
                                     value_flaws *flaws, message *why)
{
    MAY_FAIL("launching the sums of values on the device", why);
    fake_insist(fake_room(given) >= 0, "values are not on the device");
    fake_insist(fake_room(flaws) >= (int64_t)sizeof *flaws, "flaws are not on the device");
    const check work = {*v, given, keeps, flaws};
    fake_launch(v->stream, run_check, &work, sizeof work);
    return LIBSOLVER_OK;
}
