/* test/packed_system.c: a system from its values to a factor packed for solves on the device
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "packed_system.h"
#include <stdlib.h>

void pack(packed *p, pattern a, double *values, int kind, const tree_solver_options *options, int64_t columns)
{
    message why = {""};
    assert_int_equal(system_build(&p->s, a, values, kind, 1, INT64_MAX), LIBSOLVER_OK);
    assert_int_equal(cpu_tree_view_d(p->s.numeric, &p->tree), LIBSOLVER_OK);
    if (tree_solver_create(&p->s.env, options, &why, &p->solver) != LIBSOLVER_OK ||
        tree_solver_pack(p->solver, &p->tree.view, &why) != LIBSOLVER_OK ||
        tree_workspace_create(p->solver, columns, &why, &p->workspace) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
}

void unpack(packed *p)
{
    tree_workspace_free(p->workspace);
    tree_solver_free(p->solver);
    cpu_tree_free(&p->s.env.memory, &p->tree);
    system_free(&p->s);
}

libsolver_vectors to_device(const block *b)
{
    libsolver_vectors v = b->v;
    v.place = LIBSOLVER_DEVICE;
    CUDA(cudaMalloc(&v.values, (size_t)b->size * sizeof(double) + 8));
    CUDA(cudaMemcpy(v.values, b->values, (size_t)b->size * sizeof(double), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
    return v;
}

void from_device(const libsolver_vectors *v, block *b)
{
    CUDA(cudaMemcpy(b->values, v->values, (size_t)b->size * sizeof(double), cudaMemcpyDeviceToHost));
}

void check(const packed *p)
{
    message why = {""};
    if (tree_solve_check(p->solver, p->workspace, NULL, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
}

void check_column(const cpu_system *s, const block *b, const block *x, int64_t j, double factor, uint64_t seed)
{
    const int32_t n = s->a.n;
    long double *r = calloc((size_t)n + 1, sizeof *r), *bound = calloc((size_t)n + 1, sizeof *bound);
    for (int32_t i = 0; i < n; i++) {
        r[i] += *block_at(b, i, j);
        bound[i] += fabs(*block_at(b, i, j));
    }
    for (int32_t c = 0; c < n; c++)
        for (int64_t q = s->a.start[c]; q < s->a.start[c + 1]; q++) {
            const int32_t i = s->a.row[q];
            const long double v = s->values[q];
            r[i] -= v * *block_at(x, c, j);
            bound[i] += fabsl(v * *block_at(x, c, j));
            if (i != c) {
                r[c] -= v * *block_at(x, i, j);
                bound[c] += fabsl(v * *block_at(x, i, j));
            }
        }
    for (int32_t i = 0; i < n; i++)
        if (!(fabsl(r[i]) <= factor * EPS * bound[i]))
            fail_msg("seed %d, n %d, row %d, column %d: residual %.3Lg, bound %.3Lg", (int)seed, n, i, (int)j, r[i], bound[i]);
    free(r);
    free(bound);
}
