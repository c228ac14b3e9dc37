/* test/sweeps/fuzz_view.c: views of matrices and blocks of vectors in every storage, layout and
 * order that the interface takes
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED 12345.0 /* between the columns of a block */

size_t scalar_bytes(libsolver_type type)
{
    return type == LIBSOLVER_S ? 4 : type == LIBSOLVER_Z ? 16 : 8;
}

/* values[at] = re + i im */
static void put(libsolver_type type, void *values, int64_t at, double re, double im)
{
    const float parts[2] = {(float)re, (float)im};
    const double wide[2] = {re, im};
    const int is_single = type == LIBSOLVER_S || type == LIBSOLVER_C;
    memcpy((char *)values + (size_t)at * scalar_bytes(type), is_single ? (const void *)parts : wide,
           scalar_bytes(type));
}

static void get(libsolver_type type, const void *values, int64_t at, double *re, double *im)
{
    float parts[2] = {0, 0};
    double wide[2] = {0, 0};
    const int is_single = type == LIBSOLVER_S || type == LIBSOLVER_C;
    memcpy(is_single ? (void *)parts : wide, (const char *)values + (size_t)at * scalar_bytes(type),
           scalar_bytes(type));
    *re = is_single ? parts[0] : wide[0];
    *im = is_single ? parts[1] : wide[1];
}

/* Its leading 12 bits: with the others it adds up exactly. */
static double leading(double v)
{
    int e;
    const double m = frexp(v, &e);
    return ldexp(trunc(ldexp(m, 12)), e - 12);
}

static int64_t list_entries(random_stream *r, const fuzz_system *a, libsolver_storage storage,
                            int parts, fuzz_entry *entry)
{
    int64_t k = 0;
    for (int j = 0; j < a->n; j++)
        for (int i = j; i < a->n; i++) {
            if (!a->stored[i + j * a->n])
                continue;
            const int is_either = storage == LIBSOLVER_EITHER,
                      first = storage == LIBSOLVER_UPPER || (is_either && random_below(r, 2)),
                      last = is_either || storage <= LIBSOLVER_UPPER ? first : i != j;
            for (int side = first; side <= last; side++) {
                const int in_parts = random_below(r, 100) < parts, row = side ? j : i,
                          column = side ? i : j;
                if (in_parts) {
                    entry[k++] = (fuzz_entry){row, column, 1};
                    entry[k++] = (fuzz_entry){row, column, 2};
                } else
                    entry[k++] = (fuzz_entry){row, column, 0};
            }
        }
    return k;
}

static int by_column(const void *a_, const void *b_)
{
    const fuzz_entry *a = a_, *b = b_;
    return a->column != b->column ? a->column - b->column
           : a->row != b->row     ? a->row - b->row
                                  : a->part - b->part;
}

static void put_index(libsolver_index type, void *array, int64_t at, int64_t v)
{
    if (type == LIBSOLVER_INT32)
        ((int32_t *)array)[at] = (int32_t)v;
    else
        ((int64_t *)array)[at] = v;
}

/* In the order of columns, inside of columns shuffled or not; triplets in any order. */
static void arrange(random_stream *r, fuzz_view *v, int shuffled)
{
    qsort(v->entry, (size_t)v->entries, sizeof *v->entry, by_column);
    for (int64_t k = v->entries - 1; k > 0 && shuffled; k--) {
        const int64_t other = random_below(r, (int32_t)k + 1);
        const fuzz_entry e = v->entry[k];
        if (v->matrix.format == LIBSOLVER_COMPRESSED && v->entry[other].column != e.column)
            continue;
        v->entry[k] = v->entry[other];
        v->entry[other] = e;
    }
}

fuzz_view view_random(random_stream *r, const fuzz_system *a)
{
    static const int percents[] = {0, 0, 0, 30, 100};
    const int64_t most = 4 * (int64_t)a->n * a->n;
    fuzz_view v = {.entry = fuzz_room(most, sizeof *v.entry)};
    libsolver_matrix *m = &v.matrix;
    *m = (libsolver_matrix){.n = a->n, .type = a->type, .symmetry = a->symmetry};
    m->storage = (libsolver_storage)random_below(r, 6);
    m->format = (libsolver_format)random_below(r, 2);
    m->pointer_type = (libsolver_index)random_below(r, 2);
    m->index_type = (libsolver_index)random_below(r, 2);
    m->base = random_below(r, 2);
    v.entries = list_entries(r, a, m->storage, percents[random_below(r, 5)], v.entry);
    arrange(r, &v, random_below(r, 2));
    v.pointers = fuzz_room(v.entries + a->n + 1, 8);
    v.indices = fuzz_room(v.entries, 8);
    v.values = fuzz_room(v.entries, 16);
    for (int64_t k = 0; k < v.entries; k++) {
        put_index(m->index_type, v.indices, k, v.entry[k].row + m->base);
        if (m->format == LIBSOLVER_TRIPLETS)
            put_index(m->pointer_type, v.pointers, k, v.entry[k].column + m->base);
    }
    for (int64_t j = 0, k = 0; j <= a->n && m->format == LIBSOLVER_COMPRESSED; j++) {
        while (k < v.entries && v.entry[k].column < j)
            k++;
        put_index(m->pointer_type, v.pointers, j, k + m->base);
    }
    m->nnz = m->format == LIBSOLVER_TRIPLETS ? v.entries : -7; /* not read */
    m->pointers = v.pointers;
    m->indices = v.indices;
    m->values = v.values;
    view_fill(&v, a);
    return v;
}

void view_fill(fuzz_view *v, const fuzz_system *a)
{
    for (int64_t k = 0; k < v->entries; k++) {
        const fuzz_entry e = v->entry[k];
        const int above = e.row < e.column,
                  at = above ? e.column + e.row * a->n : e.row + e.column * a->n;
        double part[2] = {a->re[at], above && a->is_hermitian ? -a->im[at] : a->im[at]};
        for (int i = 0; i < 2 && e.part > 0; i++)
            part[i] = e.part == 1 ? leading(part[i]) : part[i] - leading(part[i]);
        const libsolver_storage storage = v->matrix.storage;
        const int ignored = storage == LIBSOLVER_LOWER_OF_FULL   ? above
                            : storage == LIBSOLVER_UPPER_OF_FULL ? e.row > e.column
                                                                 : 0;
        put(a->type, v->values, k, ignored ? NAN : part[0], part[1]);
    }
}

void view_free(fuzz_view *v)
{
    free(v->entry);
    free(v->pointers);
    free(v->indices);
    free(v->values);
    *v = (fuzz_view){0};
}

static int64_t place(const fuzz_block *b, int64_t i, int64_t j)
{
    const libsolver_vectors *v = &b->vectors;
    return v->layout == LIBSOLVER_COLUMN_MAJOR ? i + j * v->ld : i * v->ld + j;
}

fuzz_block block_random(random_stream *r, const fuzz_system *a, int64_t rows, int64_t columns)
{
    fuzz_block b = {.is_complex = a->is_complex, .is_single = a->is_single};
    const int by_rows = random_below(r, 3) == 0,
              wider = random_below(r, 2) ? 0 : random_below(r, 4);
    const int64_t ld = (by_rows ? columns : rows) + wider;
    b.count = ld * (by_rows ? rows : columns);
    b.vectors =
        (libsolver_vectors){.values = fuzz_room(b.count, scalar_bytes(a->type)),
                            .rows = rows,
                            .columns = columns,
                            .ld = ld,
                            .type = a->type,
                            .layout = by_rows ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR};
    for (int64_t k = 0; k < b.count; k++)
        put(a->type, b.vectors.values, k, UNTOUCHED, UNTOUCHED);
    return b;
}

fuzz_block block_copy(const fuzz_block *b)
{
    fuzz_block c = *b;
    c.vectors.values = fuzz_room(b->count, scalar_bytes(b->vectors.type));
    memcpy(c.vectors.values, b->vectors.values, (size_t)b->count * scalar_bytes(b->vectors.type));
    return c;
}

void block_free(fuzz_block *b)
{
    free(b->vectors.values);
    *b = (fuzz_block){0};
}

void block_set(fuzz_block *b, int64_t i, int64_t j, double re, double im)
{
    put(b->vectors.type, b->vectors.values, place(b, i, j), re, im);
}

quad_complex block_get(const fuzz_block *b, int64_t i, int64_t j)
{
    double re, im;
    get(b->vectors.type, b->vectors.values, place(b, i, j), &re, &im);
    return (quad_complex){re, im};
}

int block_is_sound(const fuzz_block *b)
{
    const libsolver_vectors *v = &b->vectors;
    const int64_t inner = v->layout == LIBSOLVER_COLUMN_MAJOR ? v->rows : v->columns;
    for (int64_t k = 0; k < b->count; k++) {
        double re, im;
        if (v->ld == 0 || k % v->ld < inner)
            continue;
        get(v->type, v->values, k, &re, &im);
        if (re != UNTOUCHED || (b->is_complex && im != UNTOUCHED))
            return 0;
    }
    return 1;
}
