/* test/cpu_system.h: a system from its values to its factor in the CPU backend
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CPU_SYSTEM_H
#define TEST_CPU_SYSTEM_H

#define PREC_d
#include "base/scalar.h"
#include "dense.h"
#include "solver/cpu/backend.h"

static const backend *const cpu = &cpu_backend_d;

typedef struct cpu_system {
    environment env;
    rationed ration;
    pattern a;
    double *values;
    forest f;
    void *plan, *numeric;
    backend_report report;
    message why;
} cpu_system;

/* SPD: dominated by the diagonal; HOLLOW: two thirds of the diagonal are zero. */
enum { SPD, INDEFINITE, HOLLOW, KINDS };

double *random_values(random_stream *r, const pattern *a, int kind);
/* Patterns that lead to chains, many children and fronts of all sizes. */
pattern random_pattern(random_stream *r, int32_t n);
/* 0 .. 40 for the first seeds, then more of these and some at the borders of blocks. */
int32_t random_order(random_stream *r, uint64_t seed);
/* A hub joined to cliques; some columns of each clique have nonzeros in the hub's rows only, so that their
 * pivots wait for the hub, where they are 2x2 ones. */
pattern cliques_around_a_hub(random_stream *r, int waiting, double **values);

/* Analysis and factorization in the natural order; `left` allocations succeed.  a, values: taken over. */
libsolver_status system_build(cpu_system *s, pattern a, double *values, int kind, int threads, int64_t left);
libsolver_status system_factorize(cpu_system *s, int kind, int may_match);
/* All but pattern and values. */
void system_dismantle(cpu_system *s);
void system_free(cpu_system *s);

/* max_i |b - A x|_i / (|A||x| + |b|)_i */
double system_backward_error(const cpu_system *s, const double *b, const double *x);

/* The factor as the backend exports it, L dense. */
typedef struct exported {
    int32_t n;
    double *l, *d, *e, *scale, *a; /* a: S A S in elimination order, both triangles */
    int64_t *order;
} exported;

exported system_export(const cpu_system *s, int kind);
void exported_free(exported *f);

/* A block of vectors in either layout, with NaN in its padding, and elsewhere unless it is filled. */
typedef struct block {
    libsolver_vectors v;
    double *values;
    int64_t size;
} block;

block random_block(random_stream *r, int32_t n, int64_t columns, int filled);
double *block_at(const block *b, int64_t i, int64_t j);

#endif
