/* test/support/typed_system.h: random systems of one precision (-DPREC_x), their views and factors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * To be included after cmocka.h. */
#ifndef TEST_SUPPORT_TYPED_SYSTEM_H
#define TEST_SUPPORT_TYPED_SYSTEM_H

#include "typed_dense.h"
#include "typed_factor.h"
#include <stdlib.h>

#define ORDINARY 64

/* A view and its arrays; an entry may come in two parts. */
typedef struct arrays {
    libsolver_matrix view;
    int64_t pointers[2 * MOST * MOST], indices[2 * MOST * MOST];
    scalar values[2 * MOST * MOST];
} arrays;

/* POSITIVE: dominated by the diagonal.  HOLLOW: two thirds of the diagonal are zero. */
enum { POSITIVE, INDEFINITE, HOLLOW, KINDS };

static inline dense *random_system(random_stream *r, int hermitian, int64_t n, double density,
                                   int kind)
{
    dense *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->hermitian = hermitian;
    s->n = n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            if (i > j && random_below(r, 1000) >= density * 1000)
                continue;
            s->stored[i][j] = 1;
            s->a[i][j] = i == j ? scalar_diagonal(dense_scalar(r), hermitian) : dense_scalar(r);
            if (i == j)
                s->a[j][j] = kind == POSITIVE          ? (scalar)(2 * n + 2)
                             : kind == HOLLOW && j % 3 ? 0
                                                       : s->a[j][j];
        }
    return s;
}

static inline void arrays_append(arrays *v, int64_t row, int64_t column, scalar value)
{
    v->pointers[v->view.nnz] = column + v->view.base;
    v->indices[v->view.nnz] = row + v->view.base;
    v->values[v->view.nnz++] = value;
}

/* Whether a view holds the entry, read or not; what is not read is not a number. */
static inline int is_held(libsolver_storage storage, int64_t row, int64_t column)
{
    return storage == LIBSOLVER_LOWER    ? row >= column
           : storage == LIBSOLVER_UPPER  ? row <= column
           : storage == LIBSOLVER_EITHER ? row == column || (row > column) == (row + column) % 2
                                         : 1;
}
static inline int is_read(libsolver_storage storage, int64_t row, int64_t column)
{
    return storage == LIBSOLVER_LOWER_OF_FULL   ? row >= column
           : storage == LIBSOLVER_UPPER_OF_FULL ? row <= column
                                                : 1;
}

/* The view of kind 0 .. 23 (0: LOWER, compressed, base 0; 12 and more: as 12 less, with the last
 * three storages instead of the first), r: entries come in two parts, NULL: in one. */
#define VIEWS 24
static inline arrays *view_of(const dense *s, int kind, random_stream *r)
{
    arrays *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->view =
        (libsolver_matrix){.n = s->n,
                           .indices = v->indices,
                           .values = v->values,
                           .type = SCALAR_TYPE,
                           .symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                           .storage = (libsolver_storage)(kind % 3 + kind / 12 * 3),
                           .format = (libsolver_format)(kind / 3 % 2),
                           .base = kind / 6 % 2,
                           .pointer_type = LIBSOLVER_INT64,
                           .index_type = LIBSOLVER_INT64};
    int64_t starts[MOST + 1];
    for (int64_t column = 0; column < s->n; column++) {
        starts[column] = v->view.nnz + v->view.base;
        for (int64_t row = 0; row < s->n; row++) {
            const int64_t i = row > column ? row : column, j = row > column ? column : row;
            if (!s->stored[i][j] || !is_held(v->view.storage, row, column))
                continue;
            const scalar value =
                is_read(v->view.storage, row, column) ? (scalar)dense_at(s, row, column) : NAN;
            scalar part = r ? dense_scalar(r) : 0;
            part = row == column ? scalar_diagonal(part, s->hermitian) : part;
            arrays_append(v, row, column, value - part);
            if (r)
                arrays_append(v, row, column, part);
        }
    }
    starts[s->n] = v->view.nnz + v->view.base;
    if (v->view.format == LIBSOLVER_COMPRESSED)
        memcpy(v->pointers, starts, sizeof(int64_t) * (size_t)(s->n + 1));
    v->view.pointers = v->pointers;
    return v;
}

/* Place of the diagonal entry of some row, or of an entry beside the diagonal, of triplets. */
static inline int64_t arrays_find(const arrays *v, int diagonal)
{
    int64_t k = 0;
    while ((v->pointers[k] == v->indices[k]) != diagonal)
        k++;
    return k;
}

static inline libsolver_options with_kind(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.kind = kind;
    o.threads = 1;
    o.mixed = CHOICE;
    o.backend = BACKEND;
    return o;
}

static inline libsolver_factor *factor_of(const dense *s, const libsolver_options *options,
                                          libsolver_status wanted)
{
    arrays *v = view_of(s, 0, NULL);
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&v->view, options, &f), wanted);
    free(v);
    return f;
}

#endif
