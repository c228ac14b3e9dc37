/* test/support/refine_fixture.h: systems of one precision (-DPREC_x), blocks on host and device,
 * and errors by code of its own, for tests of refinement on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_REFINE_FIXTURE_H
#define TEST_SUPPORT_REFINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_test.h"
#include "libsolver.h"
#include "typed_scalar.h"
#include <stdlib.h>
#include <string.h>

static int small; /* sizes and repeats for compute-sanitizer */

/* ---- Systems --------------------------------------------------------------------------------- */

/* Lower triangle by columns, each with its diagonal first. */
typedef struct system_ {
    int32_t n, room;
    int hermitian;
    int32_t *start, *row;
    scalar *value;
} system_;

static inline system_ system_new(int32_t n, int32_t entries, int hermitian)
{
    system_ s = {.n = n, .room = entries, .hermitian = hermitian};
    s.start = calloc((size_t)n + 1, sizeof *s.start);
    s.row = calloc((size_t)entries + 1, sizeof *s.row);
    s.value = calloc((size_t)entries + 1, sizeof *s.value);
    assert_true(s.start && s.row && s.value);
    return s;
}

static inline void system_free(system_ *s)
{
    free(s->start);
    free(s->row);
    free(s->value);
}

/* To the column at hand, that after the last which was ended. */
static inline void put(system_ *s, int32_t column, int32_t row, scalar value)
{
    assert_true(s->start[column + 1] < s->room);
    s->row[s->start[column + 1]] = row;
    s->value[s->start[column + 1]++] = row == column ? scalar_diagonal(value, s->hermitian) : value;
}

/* DOMINANT: positive definite.  HOLLOW: two thirds of the diagonal are zero, rows scaled by powers
 * of two.  HUB: the last row is full. */
enum { DOMINANT, HOLLOW, HUB, KINDS };

static inline system_ random_system(random_stream *r, int kind, int32_t side, int hermitian)
{
    const int32_t n = side * side;
    system_ s = system_new(n, 4 * n + 8, hermitian);
    for (int32_t j = 0; j < n; j++) {
        s.start[j + 1] = s.start[j];
        put(&s, j, j,
            kind == DOMINANT ? 9
            : kind == HUB    ? (j == n - 1 ? 3 : 5)
            : j % 3          ? 0
                             : random_scalar(r));
        for (int k = 0; k < 2; k++) { /* the neighbours on a grid */
            const int32_t i = j + (k ? side : 1);
            if (i < n && (k || i % side > 0) && !(kind == HUB && i == n - 1))
                put(&s, j, i, random_scalar(r));
        }
        if (kind == HUB && j < n - 1)
            put(&s, j, n - 1, random_scalar(r));
    }
    for (int32_t j = 0; j < n && kind == HOLLOW; j++)
        for (int32_t p = s.start[j]; p < s.start[j + 1]; p++)
            s.value[p] *= (real)ldexp(1, (j * 5 + s.row[p] * 5) % 9 - 4);
    return s;
}

/* Of every entry; hollow: two thirds of the diagonal are zero, otherwise it dominates. */
static inline system_ full_system(random_stream *r, int32_t n, int hollow, int hermitian)
{
    system_ s = system_new(n, n * (n + 1) / 2 + 8, hermitian);
    for (int32_t j = 0; j < n; j++) {
        s.start[j + 1] = s.start[j];
        put(&s, j, j, !hollow ? (scalar)(2 * n) : j % 3 ? 0 : random_scalar(r));
        for (int32_t i = j + 1; i < n; i++)
            put(&s, j, i, random_scalar(r));
    }
    return s;
}

static inline libsolver_matrix view_of(const system_ *s)
{
    return (libsolver_matrix){.n = s->n,
                              .pointers = s->start,
                              .indices = s->row,
                              .values = s->value,
                              .type = SCALAR_TYPE,
                              .symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC};
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static inline libsolver_vectors block_new(int32_t n, int64_t columns, libsolver_layout layout,
                                          int64_t padding)
{
    const int64_t ld = (layout == LIBSOLVER_ROW_MAJOR ? columns : n) + padding;
    libsolver_vectors v = {
        .rows = n, .columns = columns, .ld = ld, .type = SCALAR_TYPE, .layout = layout};
    v.values =
        malloc(sizeof(scalar) * (size_t)(ld * (layout == LIBSOLVER_ROW_MAJOR ? n : columns) + 1));
    assert_non_null(v.values);
    return v;
}

static inline size_t block_bytes(const libsolver_vectors *v)
{
    return sizeof(scalar) *
           (size_t)(v->ld * (v->layout == LIBSOLVER_ROW_MAJOR ? v->rows : v->columns));
}

static inline scalar *at(const libsolver_vectors *v, int64_t i, int64_t j)
{
    return (scalar *)v->values + (v->layout == LIBSOLVER_ROW_MAJOR ? i * v->ld + j : i + j * v->ld);
}

static inline void fill(random_stream *r, const libsolver_vectors *v)
{
    memset(v->values, 0xff, block_bytes(v)); /* NaN between the columns */
    for (int64_t j = 0; j < v->columns; j++)
        for (int64_t i = 0; i < v->rows; i++)
            *at(v, i, j) = random_scalar(r);
}

/* The block's values, padding and all; they are there for other streams too when this returns,
 * which a copy alone does not promise. */
static inline void copy_to_device(const libsolver_vectors *b, const libsolver_vectors *v)
{
    CUDA(cudaMemcpy(v->values, b->values, block_bytes(b), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
}

/* A copy on the device, padding and all. */
static inline libsolver_vectors to_device(const libsolver_vectors *b)
{
    libsolver_vectors v = *b;
    v.place = LIBSOLVER_DEVICE;
    CUDA(cudaMalloc(&v.values, block_bytes(b) + 8));
    copy_to_device(b, &v);
    return v;
}

static inline void from_device(const libsolver_vectors *v, const libsolver_vectors *b)
{
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(b->values, v->values, block_bytes(v), cudaMemcpyDeviceToHost));
}

/* omega1 + omega2 of column q */
static inline double backward_error(const system_ *s, const libsolver_vectors *x,
                                    const libsolver_vectors *b, int64_t q)
{
    exact *r = calloc((size_t)s->n, sizeof *r);
    long double *sum = calloc((size_t)s->n, sizeof *sum), *row = calloc((size_t)s->n, sizeof *row),
                norm = 0, omega[2] = {0, 0};
    assert_true(r && sum && row);
    for (int32_t j = 0; j < s->n; j++) {
        r[j] += *at(b, j, q);
        norm = fmaxl(norm, cabsl((exact)*at(x, j, q)));
        for (int32_t p = s->start[j]; p < s->start[j + 1]; p++) {
            const int32_t i = s->row[p];
            const exact a = s->value[p], product = a * *at(x, j, q),
                        other = exact_mirror(a, s->hermitian) * *at(x, i, q);
            r[i] -= product;
            sum[i] += cabsl(product);
            row[i] += cabsl(a);
            if (i != j) {
                r[j] -= other;
                sum[j] += cabsl(other);
                row[j] += cabsl(a);
            }
        }
    }
    for (int32_t i = 0; i < s->n; i++) {
        const long double right = cabsl((exact)*at(b, i, q));
        const int is_small = !(sum[i] + right > 1000.0L * s->n * EPS * (row[i] * norm + right));
        if (cabsl(r[i]) > 0)
            omega[is_small] =
                fmaxl(omega[is_small],
                      cabsl(r[i]) / (is_small ? sum[i] + row[i] * norm : sum[i] + right));
    }
    free(r);
    free(sum);
    free(row);
    return (double)(omega[0] + omega[1]);
}

/* As reported, up to what its roundings allow. */
static inline void check_error(double reported, double found, uint64_t seed)
{
    if (!(fabs(reported - found) <= 1e-3 * found + EPS / 8))
        fail_msg("seed %d: backward error %g reported, %g found", (int)seed, reported, found);
}

/* ---- Factors --------------------------------------------------------------------------------- */

static inline libsolver_options options_for(libsolver_backend backend)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = backend;
    o.threads = 1;
    return o;
}

static inline libsolver_factor *factor_of(const system_ *s, const libsolver_options *o,
                                          libsolver_status wanted)
{
    const libsolver_matrix a = view_of(s);
    libsolver_factor *f = NULL;
    const libsolver_status status = libsolver_factor_matrix(&a, o, &f);
    if (status != wanted)
        fail_msg("%s: %s", libsolver_status_name(status), libsolver_factor_message(f));
    return f;
}

/* Skipped where there is no device.  The one argument known is "small". */
static inline int refine_main(int argc, char **argv, int (*run)(void))
{
    int devices = 0;
    if (libsolver_devices(0, NULL, &devices) != LIBSOLVER_OK || devices == 0)
        return without_a_gpu();
    small = argc > 1 && !strcmp(argv[1], "small");
    return run();
}

#endif
