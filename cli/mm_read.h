/* cli/mm_read.h: matrices and right-hand sides from Matrix Market files, plain or .gz
 *
 * Numbers are read by C's strtod (exponents with e or E; values below the range of double become
 * denormal or zero), NaN and infinite values are refused.  Duplicate entries are summed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_MM_READ_H
#define CLI_MM_READ_H

#include "failure.h"
#include "triplets.h"

/* A symmetric or Hermitian matrix: declared so, or general and equal to its (conjugate) transpose,
 * entry by entry.  Entries come out by columns, then rows.  duplicates: entries that were added to
 * an earlier one; may be NULL.  The caller frees *a in every case. */
int mm_read_matrix(const char *path, triplets *a, int64_t *duplicates, failure *f);

/* The same; of a general file that is near its (conjugate) transpose, which differs from it by at
 * most 1e-6 of its largest entry, the mean of both.  *asymmetry: the largest difference, as part of
 * the largest entry. */
int mm_read_symmetrized(const char *path, triplets *a, double *asymmetry, failure *f);

/* A general n x columns matrix, dense and column-major in *values: doubles, or pairs of them for
 * complex types (real files are promoted).  The caller frees *values by room_free. */
int mm_read_vectors(const char *path, int32_t n, libsolver_type type, double **values,
                    int64_t *columns, failure *f);

#endif
