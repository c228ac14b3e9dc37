/* test/support/cpu_system.h: a system from its values to its factor in the CPU backend, of one
 * precision
 * (-DPREC_x; double if none is said)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_CPU_SYSTEM_H
#define TEST_SUPPORT_CPU_SYSTEM_H

#if !defined(PREC_s) && !defined(PREC_c) && !defined(PREC_z) && !defined(PREC_d)
#define PREC_d
#endif
#include "base/scalar.h"
#include "dense.h"
#include "solver/cpu/backend.h"

static const backend *const cpu = &NAME(cpu_backend);

typedef struct cpu_system {
    environment env;
    rationed ration;
    pattern a;
    scalar *values;
    int hermitian;
    int8_t *signs; /* that are expected, NULL: none are */
    forest f;
    void *plan, *numeric;
    backend_report report;
    message why;
} cpu_system;

/* SPD: dominated by the diagonal; HOLLOW: two thirds of the diagonal are zero. */
enum { SPD, INDEFINITE, HOLLOW, KINDS };

/* Parts in [-1, 1); real ones take one number of the stream. */
scalar random_entry(random_stream *r);
/* count scalars, each NaN or as random_entry gives them; freed by free. */
scalar *nan_scalars(int64_t count);
scalar *random_scalars(random_stream *r, int64_t count);
scalar *random_values(random_stream *r, const pattern *a, int kind);
/* What makes a Hermitian matrix of them: a real diagonal. */
void make_hermitian(const pattern *a, scalar *values);
/* Patterns that lead to chains, many children and fronts of all sizes. */
pattern random_pattern(random_stream *r, int32_t n);
/* 0 .. 40 for the first seeds, then more of these and some at the borders of blocks. */
int32_t random_order(random_stream *r, uint64_t seed);
/* A hub joined to cliques; some columns of each clique have nonzeros in the hub's rows only, so
 * that their pivots wait for the hub, where they are 2x2 ones. */
pattern cliques_around_a_hub(random_stream *r, int waiting, scalar **values);
/* The seed-th of many systems, of the kind that is returned: random patterns, every twentieth a hub
 * with cliques. */
int random_problem(random_stream *r, uint64_t seed, pattern *a, scalar **values);

/* Analysis and factorization in the natural order; `left` allocations succeed.  a, values: taken
 * over. */
libsolver_status system_build(cpu_system *s, pattern a, scalar *values, int kind, int threads,
                              int64_t left);
/* The same in any order, by one thread. */
enum { NATURAL, BY_DEGREE, BY_DISSECTION, ORDERS };
libsolver_status system_build_in_order(cpu_system *s, pattern a, scalar *values, int kind,
                                       int hermitian, int order);
/* One with random signs expected: rows of equal sign are dominated by the diagonal, of what is
 * between them some entries are large.  hermitian, of complex types, or complex symmetric: then
 * entries between rows of different signs are real, and those of the diagonal have imaginary parts
 * of any size, or no signs are expected, and they have any direction.  is_doubtful: one diagonal
 * entry or two have another sign or are zero. */
void system_build_quasi_definite(cpu_system *s, random_stream *r, pattern a, int hermitian,
                                 int order, int is_doubtful);
/* random_problem in the natural order, Hermitian or symmetric where that makes a difference;
 * returns its kind. */
int system_build_random(cpu_system *s, random_stream *r, uint64_t seed);
/* A grid of x by y points with random values, Hermitian. */
void system_build_grid(cpu_system *s, random_stream *r, int32_t x, int32_t y, int kind, int order);
libsolver_status system_factorize(cpu_system *s, int kind, int may_match);
/* All but pattern and values. */
void system_dismantle(cpu_system *s);
void system_free(cpu_system *s);

/* max_i |b - A x|_i / (|A||x| + |b|)_i */
double system_backward_error(const cpu_system *s, const scalar *b, const scalar *x);

/* The factor as the backend exports it, L dense. */
typedef struct exported {
    int32_t n;
    scalar *l, *d, *e, *a; /* a: S A S in elimination order, both triangles */
    real *scale;
    int64_t *order;
} exported;

exported system_export(const cpu_system *s, int kind);
void exported_free(exported *f);

/* A block of vectors in either layout, with NaN in its padding, and elsewhere unless it is
 * filled. */
typedef struct block {
    libsolver_vectors v;
    scalar *values;
    int64_t size;
} block;

block random_block(random_stream *r, int32_t n, int64_t columns, int filled);
scalar *block_at(const block *b, int64_t i, int64_t j);

#endif
