/* test/ordering/test_partition.c: relaxed supernodes and their row lists
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include <string.h>

static memory m;

/* A price for each front, none for its size: every merge pays. */
static double always_pays(int64_t k, int64_t rows)
{
    (void)k, (void)rows;
    return 1;
}

/* The fronts against the factor of A(perm,perm): they hold its structure, and the columns of a
 * front have the front's rows, true entries or zeros. */
static void check_partition(const pattern *a, const forest *f, const partition *p)
{
    static unsigned char l[DENSE_LARGEST][DENSE_LARGEST], front[DENSE_LARGEST][DENSE_LARGEST];
    int32_t front_of[DENSE_LARGEST];
    assert_null(partition_check(p));
    assert_null(permutation_check(&m, a->n, p->perm));
    dense_elimination(a, p->perm, l);
    memset(front, 0, sizeof front);
    int64_t true_nnz = 0, held_nnz = 0;
    for (int32_t s = 0; s < p->supernodes; s++)
        for (int32_t j = p->first[s]; j < p->first[s + 1]; j++) {
            front_of[j] = s;
            for (int64_t q = p->row_start[s]; q < p->row_start[s + 1]; q++)
                if (p->row[q] >= j) {
                    front[p->row[q]][j] = 1;
                    held_nnz++;
                }
        }
    for (int32_t j = 0; j < a->n; j++) {
        int32_t parent = -1;
        for (int32_t i = a->n - 1; i >= j; i--) {
            true_nnz += l[i][j];
            assert_true(front[i][j] >= l[i][j]);
            if (i > j && l[i][j])
                parent = i;
        }
        /* an edge of the elimination tree stays in its front or goes to the front above */
        if (parent != -1)
            assert_true(front_of[parent] == front_of[j] ||
                        front_of[parent] == p->above[front_of[j]]);
    }
    /* each row below is a true entry in one of the columns: rows are their union and nothing
     * more */
    for (int32_t s = 0; s < p->supernodes; s++)
        for (int64_t q = p->row_start[s] + p->first[s + 1] - p->first[s]; q < p->row_start[s + 1];
             q++) {
            int entry = 0;
            for (int32_t j = p->first[s]; j < p->first[s + 1]; j++)
                entry |= l[p->row[q]][j];
            assert_true(entry);
        }
    assert_int_equal(true_nnz, f->factor_nnz); /* the order is equivalent to the forest's */
    assert_int_equal(held_nnz, p->stored_nnz);
}

static void check_costs(const pattern *a, const int32_t *perm)
{
    const front_cost costs[] = {never_pays, always_pays, plausible_cost};
    forest f;
    assert_int_equal(forest_build(&m, a, perm, &f), LIBSOLVER_OK);
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        partition p;
        assert_int_equal(partition_build(&m, 1, a, &f, costs[i], &p, NULL, NULL), LIBSOLVER_OK);
        check_partition(a, &f, &p);
        if (costs[i] == never_pays) {
            assert_int_equal(p.supernodes, f.supernodes);
            assert_int_equal(p.stored_nnz, f.factor_nnz);
            assert_memory_equal(p.first, f.first, (size_t)(f.supernodes + 1) * sizeof(int32_t));
            assert_memory_equal(p.above, f.above, (size_t)f.supernodes * sizeof(int32_t));
            assert_memory_equal(p.perm, f.perm, (size_t)f.n * sizeof(int32_t));
        }
        if (costs[i] == always_pays) { /* one front a tree: small blocks have no limit of zeros */
            for (int32_t s = 0; s < p.supernodes; s++)
                assert_int_equal(p.above[s], -1);
        }
        partition_free(&m, &p);
    }
    forest_free(&m, &f);
    assert_int_equal(m.in_use, 0);
}

static void fronts_of_random_patterns_hold_the_factor_and_no_other_rows(void **state)
{
    (void)state;
    for_random_orders(2000, check_costs);
}

static void fronts_of_known_patterns_hold_the_factor_and_no_other_rows(void **state)
{
    (void)state;
    for_known_orders(check_costs);
}

/* Entries of the factor in the columns of each front, by the forest's counts, against the entries
 * stored. */
static void check_zeros(const forest *f, const partition *p)
{
    int32_t *count = memory_new(&m, f->n, sizeof(int32_t)); /* by column of A */
    assert_non_null(count);
    for (int32_t j = 0; j < f->n; j++)
        count[f->perm[j]] = f->count[j];
    for (int32_t s = 0; s < p->supernodes; s++) {
        const int64_t k = p->first[s + 1] - p->first[s],
                      rows = p->row_start[s + 1] - p->row_start[s];
        const int64_t stored = k * (k + 1) / 2 + k * (rows - k);
        int64_t entries = 0;
        for (int32_t j = p->first[s]; j < p->first[s + 1]; j++)
            entries += count[p->perm[j]];
        assert_true(entries <= stored);
        assert_true(stored <= 4096 || 4 * (stored - entries) <= stored);
    }
    memory_free(&m, count);
}

static void zeros_of_large_fronts_are_bounded(void **state)
{
    (void)state;
    pattern problems[] = {problem_path(5000), problem_star(5000, 4999), problem_grid(80, 80, 1),
                          problem_grid(14, 14, 14)};
    /* supernodes left at most; below the star's hub there is room for about 90 of the leaves */
    const int32_t most[] = {100, 4930, 200, 100};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        graph g;
        forest f;
        partition p;
        int32_t *perm = memory_new(&m, problems[i].n, sizeof(int32_t));
        assert_non_null(perm);
        assert_int_equal(graph_build(&m, 1, &problems[i], &g), LIBSOLVER_OK);
        assert_int_equal(order_amd(&m, &g, perm), LIBSOLVER_OK);
        assert_int_equal(forest_build(&m, &problems[i], perm, &f), LIBSOLVER_OK);
        assert_int_equal(partition_build(&m, 1, &problems[i], &f, always_pays, &p, NULL, NULL),
                         LIBSOLVER_OK);
        assert_null(partition_check(&p));
        check_zeros(&f, &p);
        assert_in_range(p.supernodes, 1, most[i]);
        partition_free(&m, &p);
        forest_free(&m, &f);
        graph_free(&m, &g);
        memory_free(&m, perm);
        problem_free(&problems[i]);
    }
    assert_int_equal(m.in_use, 0);
}

static void checks_find_what_is_broken(void **state)
{
    (void)state;
    pattern a = problem_grid(6, 5, 1);
    int32_t perm[30];
    for (int32_t k = 0; k < 30; k++)
        perm[k] = k;
    forest f;
    partition p;
    assert_int_equal(forest_build(&m, &a, perm, &f), LIBSOLVER_OK);
    assert_int_equal(partition_build(&m, 1, &a, &f, plausible_cost, &p, NULL, NULL), LIBSOLVER_OK);
    assert_null(partition_check(&p));
    for (int64_t q = 0; q < p.row_start[p.supernodes]; q++) {
        p.row[q] += 30;
        assert_non_null(partition_check(&p));
        p.row[q] -= 30;
    }
    for (int32_t s = 0; s < p.supernodes; s++) {
        const int32_t above = p.above[s];
        p.above[s] = above == -1 ? s : -1;
        assert_non_null(partition_check(&p));
        p.above[s] = above;
    }
    p.stored_nnz--;
    assert_non_null(partition_check(&p));
    partition_free(&m, &p);
    forest_free(&m, &f);
    problem_free(&a);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    pattern a = problem_grid(6, 5, 1);
    int32_t perm[30];
    random_stream r = random_seeded(3);
    random_permutation(&r, 30, perm);
    memory other;
    memory_init(&other, NULL, NULL, NULL, 0);
    forest f;
    assert_int_equal(forest_build(&other, &a, perm, &f), LIBSOLVER_OK);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t k = 0; status != LIBSOLVER_OK; k++) {
        assert_in_range(k, 0, 100);
        rationed ration;
        partition p;
        memory_rationed(&m, &ration, k);
        status = partition_build(&m, 1, &a, &f, plausible_cost, &p, NULL, NULL);
        if (status == LIBSOLVER_OK)
            partition_free(&m, &p);
        else
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, 0);
    }
    forest_free(&other, &f);
    problem_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(fronts_of_random_patterns_hold_the_factor_and_no_other_rows, &m),
        unit_test_of_memory(fronts_of_known_patterns_hold_the_factor_and_no_other_rows, &m),
        unit_test_of_memory(zeros_of_large_fronts_are_bounded, &m),
        unit_test_of_memory(checks_find_what_is_broken, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
