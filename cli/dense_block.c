/* cli/dense_block.c: right-hand sides and solutions, in doubles for the tool and in the library's
 * type
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense_block.h"
#include "room.h"

/* Doubles in d->values. */
static size_t length(const dense_block *d)
{
    /* both counts below 2^31 */
    return (size_t)d->n * (size_t)d->columns * (size_t)type_width(d->type);
}

bool dense_adopt(dense_block *d, int32_t n, int64_t columns, libsolver_type type, double *values)
{
    *d = (dense_block){.n = n, .columns = columns, .type = type, .values = values};
    if (type_is_single(type))
        d->single = room_new((int64_t)length(d) + 1, sizeof *d->single);
    return values && (d->single || !type_is_single(type));
}

bool dense_create(dense_block *d, int32_t n, int64_t columns, libsolver_type type)
{
    const dense_block wanted = {.n = n, .columns = columns, .type = type};
    return dense_adopt(d, n, columns, type,
                       room_new((int64_t)length(&wanted) + 1, sizeof *d->values));
}

void dense_free(dense_block *d)
{
    room_free(d->values);
    room_free(d->single);
    *d = (dense_block){0};
}

void dense_set(dense_block *d)
{
    for (size_t k = 0; d->single && k < length(d); k++)
        d->values[k] = d->single[k] = (float)d->values[k];
}

void dense_get(dense_block *d)
{
    for (size_t k = 0; d->single && k < length(d); k++)
        d->values[k] = d->single[k];
}

libsolver_vectors dense_view(const dense_block *d, int64_t columns)
{
    void *values = d->single ? (void *)d->single : (void *)d->values;
    return (libsolver_vectors){
        .values = values, .rows = d->n, .columns = columns, .ld = d->n, .type = d->type};
}
