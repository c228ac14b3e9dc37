/* test/support/packed_system.c: a system from its values to a factor packed for solves on the
 * device, of one precision (-DPREC_x; double if none is said)
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "packed_system.h"
#include <stdlib.h>

void pack_view(packed *p, const tree_solver_options *options, int64_t columns)
{
    message why = {0};
    assert_int_equal(NAME(cpu_backend).view_tree(p->s.numeric, &p->tree, NULL), LIBSOLVER_OK);
    if (tree_solver_create(&p->s.env, options, &p->solver, &why) != LIBSOLVER_OK ||
        tree_solver_pack(p->solver, &p->tree.view, &why) != LIBSOLVER_OK ||
        tree_workspace_create(p->solver, columns, &p->workspace, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
}

void pack(packed *p, pattern a, scalar *values, int kind, const tree_solver_options *options,
          int64_t columns)
{
    assert_int_equal(system_build_in_order(&p->s, a, values, kind, SCALAR_COMPLEX, NATURAL),
                     LIBSOLVER_OK);
    pack_view(p, options, columns);
}

void unpack_view(packed *p)
{
    tree_workspace_free(p->workspace);
    tree_solver_free(p->solver);
    owned_tree_free(&p->s.env.memory, &p->tree);
}

void unpack(packed *p)
{
    unpack_view(p);
    system_free(&p->s);
}

libsolver_vectors to_device(const block *b)
{
    libsolver_vectors v = b->v;
    v.place = LIBSOLVER_DEVICE;
    CUDA(cudaMalloc(&v.values, (size_t)b->size * sizeof(scalar) + 8));
    CUDA(cudaMemcpy(v.values, b->values, (size_t)b->size * sizeof(scalar), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
    return v;
}

void from_device(const libsolver_vectors *v, block *b)
{
    CUDA(
        cudaMemcpy(b->values, v->values, (size_t)b->size * sizeof(scalar), cudaMemcpyDeviceToHost));
}

void check(const packed *p)
{
    message why = {0};
    if (tree_solve_check(p->solver, p->workspace, NULL, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
}

void check_column(const cpu_system *s, const block *b, const block *x, int64_t j, double factor,
                  uint64_t seed)
{
    const int32_t n = s->a.n;
    scalar *bj = nan_scalars(n), *xj = nan_scalars(n);
    for (int32_t i = 0; i < n; i++) {
        bj[i] = *block_at(b, i, j);
        xj[i] = *block_at(x, i, j);
    }
    const double error = system_backward_error(s, bj, xj);
    if (!(error <= factor * EPS))
        fail_msg("seed %d, n %d, column %d: backward error %.3g, %.3g allowed", (int)seed, n,
                 (int)j, error, factor * EPS);
    free(bj);
    free(xj);
}
