/* gpu/device/device_values.c: for values that are given on a device, the tables of their sums
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_values.h"
#include "base/environment.h"

/* The values of each entry, in the order given. */
static void list_sources(const value_map *map, value_sums *s)
{
    for (int64_t p = 0; p <= s->entries; p++)
        s->start[p] = 0;
    for (int64_t e = 0; e < map->given; e++) {
        const int64_t p = map->target[e];
        s->start[(p >= 0 ? p : -1 - p) + 1]++;
    }
    for (int64_t p = 0; p < s->entries; p++)
        s->start[p + 1] += s->start[p];
    for (int64_t e = 0; e < map->given; e++) {
        const int64_t p = map->target[e];
        s->source[s->start[p >= 0 ? p : -1 - p]++] = (uint32_t)e << 1 | (p < 0);
    }
    for (int64_t p = s->entries; p > 0; p--)
        s->start[p] = s->start[p - 1];
    s->start[0] = 0;
}

libsolver_status value_sums_build(memory *m, const value_map *map, const int64_t *start,
                                  value_sums *s)
{
    s->diagonal = memory_new(m, s->n, sizeof(int32_t));
    if (!s->diagonal)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t j = 0; j < s->n; j++)
        s->diagonal[j] = (int32_t)start[j];
    if (!map->target)
        return LIBSOLVER_OK;
    s->start = memory_new(m, s->entries + 1, sizeof(int32_t));
    s->source = memory_new(m, map->given, sizeof(uint32_t));
    if (!s->start || !s->source)
        return LIBSOLVER_OUT_OF_MEMORY;
    list_sources(map, s);
    return LIBSOLVER_OK;
}

void value_sums_free(memory *m, value_sums *s)
{
    memory_free(m, s->start);
    memory_free(m, s->source);
    memory_free(m, s->diagonal);
}

static libsolver_status prepare(device_values *v, const value_map *map, const int64_t *start,
                                int32_t n, message *why)
{
    memory *m = &v->env->memory;
    value_sums s = {.entries = v->entries,
                    .n = n,
                    .conjugates = map->conjugates,
                    .is_hermitian = map->is_hermitian};
    if (map->given > INT32_MAX)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 values or more on the GPU");
    libsolver_status status = value_sums_build(m, map, start, &s);
    if (status == LIBSOLVER_OK)
        status = device_values_prepare(v, &s, map->given, why);
    else
        status = NO_MEMORY(v->env, "the sums of values on the device", why);
    value_sums_free(m, &s);
    return status;
}

libsolver_status device_values_take(device_values *v, const value_map *map, const int64_t *start,
                                    int32_t n, const void *given, const void *shift, int *is_sound,
                                    message *why)
{
    *is_sound = 0;
    if (!v->summed.at)
        TRY(prepare(v, map, start, n, why));
    return device_values_sum(v, given, shift, is_sound, why);
}

libsolver_status device_values_check_async(device_values *v, const value_map *map,
                                           const int64_t *start, int32_t n, const void *given,
                                           int keeps, value_flaws *flaws, message *why)
{
    if (!v->summed.at)
        TRY(prepare(v, map, start, n, why));
    return device_values_check(v, given, keeps, flaws, why);
}
