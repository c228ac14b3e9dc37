/* cli/triplets.h: a symmetric or Hermitian matrix as a list of the entries of its lower triangle
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_TRIPLETS_H
#define CLI_TRIPLETS_H

#include "libsolver.h"
#include <stdbool.h>

typedef struct triplets {
    int32_t n;
    libsolver_type type; /* D or Z; S or C: the same, rounded to single precision */
    libsolver_symmetry symmetry;
    int64_t nnz, capacity;
    int32_t *rows, *columns; /* 0-based, row >= column */
    double *values;          /* one an entry for D and S, pairs (real, imaginary) for Z and C */
    bool is_pattern;         /* the file had no values: each is 1 */
} triplets;

/* doubles of one value */
static inline int type_width(libsolver_type type)
{
    return type == LIBSOLVER_Z || type == LIBSOLVER_C ? 2 : 1;
}
static inline bool type_is_single(libsolver_type type)
{
    return type == LIBSOLVER_S || type == LIBSOLVER_C;
}
static inline int triplets_width(const triplets *a)
{
    return type_width(a->type);
}
static inline bool triplets_are_hermitian(const triplets *a)
{
    return triplets_width(a) == 2 && a->symmetry == LIBSOLVER_HERMITIAN;
}

/* Room for one more entry: doubles the capacity, at most to `most`.  False: out of memory. */
bool triplets_grow(triplets *a, int64_t most);
/* Appends a(row, column) = value[0] (+ i value[1]); there must be room. */
void triplets_append(triplets *a, int64_t row, int64_t column, const double *value);
void triplets_free(triplets *a);

/* *order: entries sorted by column, then row, stably; order[k] is the k-th.  False: out of
 * memory.  The caller frees it. */
bool triplets_sort(const triplets *a, int64_t **order);
/* True if the entries come by columns, then rows, without duplicates. */
bool triplets_are_compressed(const triplets *a);
/* Sorts and sums duplicates in the order of their appearance.  False: out of memory, nothing is
 * changed. */
bool triplets_compress(triplets *a);

/* To type D, S, C or Z.  A real matrix becomes a Hermitian one; a complex one must stay
 * complex.  False: out of memory. */
bool triplets_convert(triplets *a, libsolver_type type);

/* The library's view; for types S and C its values, which are floats, are to be set. */
libsolver_matrix triplets_view(const triplets *a);

/* y = A x for k columns of length n (pairs for complex types), each part of an entry rounded once
 * to double. */
bool triplets_multiply(const triplets *a, const double *x, int64_t k, double *y);

#endif
