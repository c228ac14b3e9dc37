/* cli/problem.h: test problems by name, and matrices from files
 *
 *   lap2d:N  N x N grid, 5 points: 4 on the diagonal, -1 to neighbours
 *   lap3d:N  N x N x N grid, 7 points: 6 and -1
 *   vec3d:N  N x N x N grid, 27 points, 3 unknowns a node, node by node.  Diagonal 81; 0.1 between
 * unknowns of a node; between unknown i of a node's neighbour at (dx, dy, dz) and the node's
 * unknown j: -1 if i = j, otherwise 0.1 ((dx (i+1) + dy (j+2) + dz) mod 3), for the entries below
 * the diagonal kkt2d:N  [H G; G^T 0] of order 3 N^2, G^T N^2 x 2 N^2 from differences along the
 * rows and columns of a grid: G = [I (x) D; D (x) I], D(i,i) = 1, D(i,i+1) = -1; H(k,k) = 10^(12 f
 * - 6), f the fraction of 0.6180339887498949 k, k = 1, 2, ...
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PROBLEM_H
#define CLI_PROBLEM_H

#include "failure.h"
#include "triplets.h"

typedef struct problem {
    char name[256]; /* the specification, or the file's name without folder, .mtx and .gz */
    triplets a;
    double asymmetry; /* that problem_symmetrize has taken out, as part of the largest entry */
} problem;

/* The generator that a specification names ("lap2d"), NULL: it is the path of a file. */
const char *problem_generator(const char *specification);
/* problem.name, in room for it */
void problem_name(const char *specification, char *name, size_t room);

/* specification: one of the above, otherwise the path of a Matrix Market file.  problem_free in
 * every case.
 */
int problem_load(const char *specification, problem *p, failure *f);

/* The same; of a general file that is symmetric but for small differences, the symmetric part. */
int problem_symmetrize(const char *specification, problem *p, failure *f);

/* Into the precision wanted (of options.h; by the matrix or mixed: as it is).  A complex matrix is
 * never cut down to a real one: EXIT_INPUT. */
int problem_convert(problem *p, int wanted, failure *f);
void problem_free(problem *p);

#endif
