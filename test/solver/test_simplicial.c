/* test/solver/test_simplicial.c: Cholesky by columns in one precision (-DPREC_x): the lists against
 * a dense elimination, each set of kernels against plain loops
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include "solver/cpu/factor/simplicial_kernels.h"
#include "typed_scalar.h"
#include <stdlib.h>
#include <string.h>

enum { N = DENSE_LARGEST, MOST_COLUMNS = 37 };

static memory m;

static libsolver_status build(memory *from, const pattern *a, simplicial **s)
{
    int64_t nnz;
    double flops;
    int32_t natural[N];
    for (int32_t k = 0; k < a->n; k++)
        natural[k] = k;
    *s = NULL;
    TRY(forest_cost(from, a, natural, &nnz, &flops));
    TRY(simplicial_build(from, a, nnz, flops, s));
    assert_int_equal((*s)->n + (*s)->start[a->n], nnz);
    return LIBSOLVER_OK;
}

/* Place of entry (i, j) of L in the factor. */
static int32_t place_of(const simplicial *s, const int32_t *rank, int32_t i, int32_t j)
{
    if (i == j)
        return rank[j];
    for (int32_t p = s->start[rank[j]]; p < s->start[rank[j] + 1]; p++)
        if (s->row[p] == i)
            return s->n + p;
    fail_msg("(%d, %d) has no place", i, j);
    return -1;
}

static void check_lists(const pattern *a, const simplicial *s)
{
    static unsigned char l[N][N];
    int32_t rank[N], natural[N], target = 0;
    for (int32_t k = 0; k < a->n; k++) {
        natural[k] = k;
        rank[s->order[k]] = k;
    }
    assert_null(permutation_check(&m, a->n, s->order));
    for (int32_t k = 0; k < s->alone; k++)
        assert_true(s->order[k] == k && s->start[k + 1] == 0 && s->place[k] == k);
    if (s->alone < a->n)
        assert_true(s->order[s->alone] != s->alone || s->start[s->alone + 1] > 0);
    dense_elimination(a, natural, l);
    for (int32_t k = 0; k < a->n; k++) {
        const int32_t j = s->order[k];
        int32_t p = s->start[k];
        for (int32_t i = j + 1; i < a->n; i++)
            if (l[i][j]) {
                assert_true(p < s->start[k + 1] && s->row[p] == i);
                assert_true(rank[i] > k); /* children before parents */
                p++;
            }
        assert_int_equal(p, s->start[k + 1]);
        for (int32_t b = s->start[k]; b < s->start[k + 1]; b++)
            for (int32_t i = b; i < s->start[k + 1]; i++)
                assert_int_equal(s->target[target++], place_of(s, rank, s->row[i], s->row[b]));
        for (int64_t q = a->start[j]; q < a->start[j + 1]; q++)
            assert_int_equal(s->place[q], place_of(s, rank, a->row[q], j));
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* A random matrix, its diagonal larger than the rest of each row, in its places; dense: both
 * triangles */
static void random_matrix(random_stream *r, const pattern *a, const simplicial *s, scalar *v,
                          real *diagonal, exact dense[N][N])
{
    memset(v, 0, sizeof(scalar) * (size_t)(s->n + s->start[s->n]));
    memset(dense, 0, sizeof(exact[N][N]));
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t q = a->start[j]; q < a->start[j + 1]; q++) {
            const int32_t i = a->row[q];
            v[s->place[q]] = i == j ? (scalar)(2 * a->n) : random_scalar(r);
            dense[i][j] = v[s->place[q]];
            dense[j][i] = conjl(dense[i][j]);
        }
    for (int32_t j = 0; j < a->n; j++)
        diagonal[j] = (real)(2 * a->n);
}

/* A = L L^H with L = U D^(1/2), from what the kernels leave. */
static void read_factor(const simplicial *s, const scalar *v, const real *root, exact l[N][N])
{
    memset(l, 0, sizeof(exact[N][N]));
    for (int32_t k = 0; k < s->n; k++) {
        const exact d = sqrtl((long double)scalar_real(v[k]));
        assert_true(fabsl((long double)root[k] * creall(d) - 1) <= 4 * (long double)EPS);
        l[s->order[k]][s->order[k]] = d;
        for (int32_t p = s->start[k]; p < s->start[k + 1]; p++)
            l[s->row[p]][s->order[k]] = v[s->n + p] * d;
    }
}

static void check_product(int32_t n, exact a[N][N], exact l[N][N])
{
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            exact rest = a[i][j];
            long double scale = cabsl(rest);
            for (int32_t q = 0; q <= j; q++) {
                rest -= l[i][q] * conjl(l[j][q]);
                scale += cabsl(l[i][q] * l[j][q]);
            }
            if (!(cabsl(rest) <= (n + 8) * ROUNDING * scale))
                fail_msg("n %d: (A - L L^H)(%d, %d) is %Lg, allowed %Lg", n, i, j, cabsl(rest),
                         (n + 8) * ROUNDING * scale);
        }
}

/* L x = b or L^H x = b for all columns, to rounding errors. */
static void check_solution(int32_t n, exact l[N][N], int transposed, int c, const scalar *b,
                           const scalar *x)
{
    for (int q = 0; q < c; q++)
        for (int32_t i = 0; i < n; i++) {
            exact rest = b[i * c + q];
            long double scale = cabsl(rest);
            for (int32_t j = 0; j < n; j++) {
                const exact term = (transposed ? conjl(l[j][i]) : l[i][j]) * x[j * c + q];
                rest -= term;
                scale += cabsl(term);
            }
            if (!(cabsl(rest) <= (n + 8) * ROUNDING * scale))
                fail_msg("n %d, %d columns, transposed %d: residual (%d, %d) is %Lg, allowed %Lg",
                         n, c, transposed, i, q, cabsl(rest), (n + 8) * ROUNDING * scale);
        }
}

static void check_kernels(random_stream *r, const pattern *a, const simplicial *s,
                          const simplicial_kernels *kernels)
{
    static exact dense[N][N], l[N][N];
    const int32_t n = a->n;
    scalar *v = malloc(sizeof(scalar) * (size_t)(n + s->start[n] + 1)), b[N * MOST_COLUMNS],
           x[N * MOST_COLUMNS];
    real diagonal[N], root[N];
    assert_non_null(v);
    random_matrix(r, a, s, v, diagonal, dense);
    const int32_t half = n / 2;
    const simplicial_run begin = {.diagonal = diagonal,
                                  .doubt = (real)0.6,
                                  .v = v,
                                  .root = root,
                                  .target = s->target,
                                  .smallest = INFINITY};
    simplicial_run run = begin;
    int32_t expected = 0;
    assert_int_equal(kernels->factorize(s, 0, half, &run), half);
    assert_int_equal(kernels->factorize(s, half, n, &run), n);
    real least = INFINITY;
    for (int32_t k = 0; k < n; k++) {
        least = scalar_real(v[k]) < least ? scalar_real(v[k]) : least;
        expected += scalar_real(v[k]) <= begin.doubt * diagonal[s->order[k]];
    }
    assert_true(run.smallest == least);
    assert_int_equal(run.uncertain, expected);
    read_factor(s, v, root, l);
    check_product(n, dense, l);
    const int columns[] = {1, 2, 5, 16, 21, MOST_COLUMNS};
    for (int k = 0; k < 6; k++) {
        const int c = columns[k];
        for (int transposed = 0; transposed < 2; transposed++) {
            for (int32_t i = 0; i < n * c; i++)
                b[i] = x[i] = random_scalar(r);
            (transposed ? kernels->backward : kernels->forward)(s, v, root, c, x);
            check_solution(n, l, transposed, c, b, x);
        }
    }
    if (n > 0) { /* a pivot that is not positive is told by its column */
        random_matrix(r, a, s, v, diagonal, dense);
        const int32_t bad = random_below(r, n);
        v[bad] = -1;
        run = begin;
        assert_int_equal(kernels->factorize(s, 0, n, &run), bad);
    }
    free(v);
}

static void check_pattern(const pattern *a, const int32_t *perm)
{
    (void)perm; /* the patterns come in every order */
    static uint64_t seed;
    random_stream r = random_seeded(seed++);
    simplicial *s;
    assert_int_equal(build(&m, a, &s), LIBSOLVER_OK);
    check_lists(a, s);
    check_kernels(&r, a, s, NAME(simplicial_kernels_here)());
    check_kernels(&r, a, s, &NAME(simplicial_kernels_plain));
#ifdef HAVE_avx2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        check_kernels(&r, a, s, &NAME(simplicial_kernels_avx2));
#endif
    simplicial_free(&m, s);
}

static void random_patterns(void **state)
{
    (void)state;
    for_random_orders(60, check_pattern);
}

static void known_patterns(void **state)
{
    (void)state;
    for_known_orders(check_pattern);
}

static void each_failed_allocation_is_survived(void **state)
{
    (void)state;
    memory few;
    rationed r;
    pattern a = problem_grid(5, 5, 1);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t left = 0;
    for (; status == LIBSOLVER_OUT_OF_MEMORY; left++) {
        simplicial *s;
        memory_rationed(&few, &r, left);
        status = build(&few, &a, &s);
        assert_true(status == LIBSOLVER_OK || (status == LIBSOLVER_OUT_OF_MEMORY && !s));
        simplicial_free(&few, s);
        assert_int_equal(few.in_use, 0);
    }
    assert_true(left > 3); /* it takes some memory */
    problem_free(&a);
}

/* What a forest of these sizes would be eliminated by. */
static int pays(int64_t nnz, double flops)
{
    return simplicial_pays(&(forest){.factor_nnz = nnz, .factor_flops = flops});
}

static void short_columns_pay(void **state)
{
    (void)state;
    assert_true(pays(0, 0));
    assert_true(pays(1000, 1000));        /* a diagonal */
    assert_true(pays(2864, 9214));        /* nos2 */
    assert_false(pays(108218, 9004394));  /* bcsstk14 */
    assert_false(pays(1000000, 1000000)); /* threads are worth it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(random_patterns, &m),
        unit_test_of_memory(known_patterns, &m),
        cmocka_unit_test(each_failed_allocation_is_survived),
        cmocka_unit_test(short_columns_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
