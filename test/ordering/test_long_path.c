/* test/ordering/test_long_path.c: analysis of a path of ten million vertices
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"

#define N 10000000

static void check_analysis(memory *m, const pattern *a, const int32_t *perm, forest *f)
{
    partition p;
    assert_int_equal(forest_build(m, a, perm, f), LIBSOLVER_OK);
    assert_null(forest_check(f));
    assert_null(permutation_check(m, N, f->perm));
    assert_int_equal(f->factor_nnz, 2 * (int64_t)N - 1); /* no fill */
    assert_int_equal(partition_build(m, 1, a, f, plausible_cost, &p, NULL, NULL), LIBSOLVER_OK);
    assert_null(partition_check(&p));
    assert_null(permutation_check(m, N, p.perm));
    assert_in_range(p.supernodes, 1, N / 4);
    partition_free(m, &p);
}

/* In its own order, the deepest tree there is, and in that of minimum degree. */
static void long_path_is_analysed(void **state)
{
    (void)state;
    memory m;
    memory_init(&m, NULL, NULL, NULL, INT64_C(3) << 30);
    pattern a = problem_path(N);
    int32_t *perm = memory_new(&m, N, sizeof(int32_t));
    assert_non_null(perm);
    forest f;

    for (int32_t k = 0; k < N; k++)
        perm[k] = k;
    check_analysis(&m, &a, perm, &f);
    assert_int_equal(f.levels, N - 1);
    forest_free(&m, &f);

    graph g, compressed;
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(graph_compress(&m, 1, &g, &compressed, perm), LIBSOLVER_OK);
    assert_int_equal(compressed.n, -1);
    assert_int_equal(order_amd(&m, &g, perm), LIBSOLVER_OK);
    graph_free(&m, &g);
    check_analysis(&m, &a, perm, &f);
    forest_free(&m, &f);

    memory_free(&m, perm);
    problem_free(&a);
    assert_int_equal(m.in_use, 0);
    print_message("peak %lld bytes\n", (long long)m.peak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_path_is_analysed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
