/* cli/spy.h: where the entries of a symmetric matrix and of its factor lie, on a coarse grid
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SPY_H
#define CLI_SPY_H

#include "output.h"
#include "triplets.h"

enum { SPY_CELLS = 180 };

/* Both triangles of A, or L alone: cell (r, c) counts the entries in rows [r n / cells, (r + 1) n /
 * cells) and such columns. */
typedef struct spy {
    int32_t n;
    int cells; /* a side: SPY_CELLS, or n if that is less */
    int64_t count[SPY_CELLS][SPY_CELLS];
    int64_t entries;
} spy;

/* A with its rows and columns in that order: position[i] is the place of row i; NULL: as given. */
void spy_matrix(const triplets *a, const int64_t *position, spy *s);
/* L of the matrix in that order, pivoting not foreseen.  O(entries of L), workspace 5 n + nnz
 * integers.  False: out of memory. */
bool spy_factor(const triplets *a, const int64_t *position, spy *s);
/* And of each column, in the order of elimination, its parent in the elimination tree (-1: none)
 * and how many entries it has in L (height: NULL, not wanted).  n each. */
bool spy_factor_tree(const triplets *a, const int64_t *position, spy *s, int32_t *parent,
                     int64_t *height);

/* ---- spy_svg.c ---- */

/* Panels side by side, each with a line of text above it. */
void spy_svg(const spy *const *panels, const char *const *texts, int count, const char *title,
             output *o);

#endif
