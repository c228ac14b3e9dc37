/* cli/triplets.c: a symmetric or Hermitian matrix as a list of the entries of its lower triangle
 * SPDX-License-Identifier: BSD-3-Clause */
#include "triplets.h"
#include "room.h"
#include <string.h>

static bool resize(void **block, int64_t count, size_t size)
{
    void *moved = room_resize(*block, count, size);
    if (moved)
        *block = moved;
    return moved != NULL;
}

bool triplets_grow(triplets *a, int64_t most)
{
    if (a->nnz < a->capacity)
        return true;
    int64_t capacity = a->capacity < 2048 ? 4096 : a->capacity > most / 2 ? most : 2 * a->capacity;
    void *rows = a->rows, *columns = a->columns, *values = a->values;
    bool grown = resize(&rows, capacity, sizeof *a->rows) &&
                 resize(&columns, capacity, sizeof *a->columns) &&
                 resize(&values, capacity, sizeof *a->values * (size_t)triplets_width(a));
    a->rows = rows;
    a->columns = columns;
    a->values = values;
    if (grown)
        a->capacity = capacity;
    return grown;
}

void triplets_append(triplets *a, int64_t row, int64_t column, const double *value)
{
    int width = triplets_width(a);
    a->rows[a->nnz] = (int32_t)row;
    a->columns[a->nnz] = (int32_t)column;
    memcpy(a->values + a->nnz * width, value, sizeof *value * (size_t)width);
    a->nnz++;
}

void triplets_free(triplets *a)
{
    room_free(a->rows);
    room_free(a->columns);
    room_free(a->values);
    *a = (triplets){0};
}

/* ---- order ----------------------------------------------------------------------------------- */

#define DIGIT_BITS 11

/* One stable pass of a radix sort: to = from, ordered by bits [shift, shift + DIGIT_BITS) of
 * key. */
static void radix_pass(const int32_t *key, int shift, int64_t count, const int64_t *from,
                       int64_t *to)
{
    int64_t start[(1 << DIGIT_BITS) + 1] = {0};
    const int32_t mask = (1 << DIGIT_BITS) - 1;
    for (int64_t p = 0; p < count; p++)
        start[(key[p] >> shift & mask) + 1]++;
    for (int32_t d = 0; d < mask; d++)
        start[d + 1] += start[d];
    for (int64_t p = 0; p < count; p++)
        to[start[key[from[p]] >> shift & mask]++] = from[p];
}

bool triplets_sort(const triplets *a, int64_t **order)
{
    int64_t *from = room_new(a->nnz + 1, sizeof *from), *to = room_new(a->nnz + 1, sizeof *to);
    if (!from || !to) {
        room_free(from);
        room_free(to);
        return false;
    }
    for (int64_t p = 0; p < a->nnz; p++)
        from[p] = p;
    const int32_t *keys[] = {a->rows, a->columns}; /* the less significant first */
    for (int k = 0; k < 2; k++)
        for (int shift = 0; shift < 31 && (a->n - 1) >> shift > 0; shift += DIGIT_BITS) {
            radix_pass(keys[k], shift, a->nnz, from, to);
            int64_t *swap = from;
            from = to;
            to = swap;
        }
    room_free(to);
    *order = from;
    return true;
}

static int64_t place(const triplets *a, int64_t p)
{
    return (int64_t)a->columns[p] * a->n + a->rows[p];
}

bool triplets_are_compressed(const triplets *a)
{
    for (int64_t p = 1; p < a->nnz; p++)
        if (place(a, p - 1) >= place(a, p))
            return false;
    return true;
}

bool triplets_compress(triplets *a)
{
    if (triplets_are_compressed(a))
        return true;
    triplets sum = {.n = a->n, .type = a->type, .symmetry = a->symmetry};
    int64_t *order = NULL;
    bool done = triplets_sort(a, &order);
    int width = triplets_width(a);
    for (int64_t k = 0; done && k < a->nnz; k++) {
        int64_t p = order[k], last = sum.nnz - 1;
        if (k > 0 && place(a, order[k - 1]) == place(a, p))
            for (int c = 0; c < width; c++)
                sum.values[last * width + c] += a->values[p * width + c];
        else if ((done = triplets_grow(&sum, a->nnz)))
            triplets_append(&sum, a->rows[p], a->columns[p], a->values + p * width);
    }
    room_free(order);
    triplets_free(done ? a : &sum);
    if (done)
        *a = sum;
    return done;
}

/* ---- use ------------------------------------------------------------------------------------- */

bool triplets_convert(triplets *a, libsolver_type type)
{
    if (triplets_width(a) < type_width(type)) {
        double *pairs = room_zeroed(a->nnz + 1, 2 * sizeof *pairs);
        if (!pairs)
            return false;
        for (int64_t p = 0; p < a->nnz; p++)
            pairs[2 * p] = a->values[p];
        room_free(a->values);
        a->values = pairs;
        a->capacity = a->nnz;
        a->symmetry = LIBSOLVER_HERMITIAN;
    }
    a->type = type;
    if (type_is_single(type))
        for (int64_t k = 0; k < a->nnz * triplets_width(a); k++)
            a->values[k] = (float)a->values[k];
    return true;
}

libsolver_matrix triplets_view(const triplets *a)
{
    return (libsolver_matrix){
        .n = a->n,
        .nnz = a->nnz,
        .pointers = a->columns,
        .indices = a->rows,
        .values = a->values,
        .type = a->type,
        .symmetry = a->symmetry,
        .storage = LIBSOLVER_LOWER,
        .format = LIBSOLVER_TRIPLETS,
    };
}

/* sum += value x; of complex numbers, where the imaginary part of value is `imaginary` */
static void add_product(long double *sum, int width, const double *value, double imaginary,
                        const double *x)
{
    sum[0] += (long double)value[0] * x[0];
    if (width == 2) {
        sum[0] -= (long double)imaginary * x[1];
        sum[1] += (long double)value[0] * x[1] + (long double)imaginary * x[0];
    }
}

bool triplets_multiply(const triplets *a, const double *x, int64_t k, double *y)
{
    const int width = triplets_width(a), mirror = triplets_are_hermitian(a) ? -1 : 1;
    const int64_t length = (int64_t)a->n * width;
    long double *sum = room_new(length + 1, sizeof *sum);
    for (int64_t c = 0; sum && c < k; c++, x += length, y += length) {
        for (int64_t i = 0; i < length; i++)
            sum[i] = 0;
        for (int64_t p = 0; p < a->nnz; p++) {
            const int64_t i = (int64_t)a->rows[p] * width, j = (int64_t)a->columns[p] * width;
            const double *value = a->values + p * width, imaginary = width == 2 ? value[1] : 0;
            add_product(sum + i, width, value, imaginary, x + j);
            if (i != j)
                add_product(sum + j, width, value, mirror * imaginary, x + i);
        }
        for (int64_t i = 0; i < length; i++)
            y[i] = (double)sum[i];
    }
    room_free(sum);
    return sum != NULL;
}
