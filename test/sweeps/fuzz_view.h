/* test/sweeps/fuzz_view.h: views of matrices and blocks of vectors in every storage, layout and
 * order that the interface takes
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_FUZZ_VIEW_H
#define TEST_SWEEPS_FUZZ_VIEW_H

#include "fuzz_system.h"

/* An entry of the view: the whole of entry (row, column) of the lower triangle, or one of the two
 * parts it comes in. */
typedef struct fuzz_entry {
    int row, column; /* as viewed */
    int part;        /* 0: whole, 1: leading bits, 2: the others */
} fuzz_entry;

typedef struct fuzz_view {
    libsolver_matrix matrix;
    fuzz_entry *entry;
    int64_t entries;
    void *pointers, *indices, *values;
} fuzz_view;

fuzz_view view_random(random_stream *r, const fuzz_system *a);
void view_fill(fuzz_view *v, const fuzz_system *a); /* the values of a */
void view_free(fuzz_view *v);

/* n x columns, and around it what no call may touch. */
typedef struct fuzz_block {
    libsolver_vectors vectors;
    int64_t count; /* scalars that lie there */
    int is_complex, is_single;
} fuzz_block;

fuzz_block block_random(random_stream *r, const fuzz_system *a, int64_t rows, int64_t columns);
fuzz_block block_copy(const fuzz_block *b);
void block_free(fuzz_block *b);
void block_set(fuzz_block *b, int64_t i, int64_t j, double re, double im);
quad_complex block_get(const fuzz_block *b, int64_t i, int64_t j);
/* Whether what lies between the columns, or rows, is as block_random left it. */
int block_is_sound(const fuzz_block *b);
size_t scalar_bytes(libsolver_type type);

#endif
