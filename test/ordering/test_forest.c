/* test/ordering/test_forest.c: elimination forests against dense symbolic elimination
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ordering/analysis.h"
#include "problems.h"

static memory m;

/* Every field of the forest of A(perm,perm) against its definition. */
static void check_forest(const pattern *a, const int32_t *perm)
{
    static unsigned char l[DENSE_LARGEST][DENSE_LARGEST];
    forest f;
    assert_int_equal(forest_build(&m, a, perm, &f), LIBSOLVER_OK);
    assert_null(forest_check(&f));
    assert_null(permutation_check(&m, a->n, f.perm));
    assert_int_equal(f.n, a->n);

    dense_elimination(a, perm, l);
    int64_t nnz = 0, flops = 0;
    for (int32_t j = 0; j < a->n; j++) {
        int64_t count = 0;
        for (int32_t i = j; i < a->n; i++)
            count += l[i][j];
        nnz += count;
        flops += count * count;
    }
    assert_int_equal(f.factor_nnz, nnz); /* the postorder is equivalent to the given order */
    assert_true(f.factor_flops == (double)flops);

    dense_elimination(a, f.perm, l);
    int32_t children[DENSE_LARGEST] = {0}, count[DENSE_LARGEST], parent[DENSE_LARGEST];
    for (int32_t j = 0; j < a->n; j++) {
        parent[j] = -1;
        count[j] = 0;
        for (int32_t i = a->n - 1; i >= j; i--)
            if (l[i][j]) {
                count[j]++;
                if (i > j)
                    parent[j] = i;
            }
        assert_int_equal(f.parent[j], parent[j]);
        assert_int_equal(f.count[j], count[j]);
        if (parent[j] != -1)
            children[parent[j]]++;
    }

    int32_t s = 0, levels[DENSE_LARGEST] = {0}, deepest = 0, supernode[DENSE_LARGEST];
    for (int32_t j = 0; j < a->n; j++) {
        if (j > 0 && !(parent[j - 1] == j && children[j] == 1 && count[j] == count[j - 1] - 1))
            s++;
        supernode[j] = s;
        assert_in_range(j, f.first[s], f.first[s + 1] - 1);
    }
    assert_int_equal(f.supernodes, a->n == 0 ? 0 : s + 1);
    for (s = f.supernodes - 1; s >= 0; s--) {
        const int32_t up = parent[f.first[s + 1] - 1];
        assert_int_equal(f.above[s], up == -1 ? -1 : supernode[up]);
        assert_int_equal(f.rows[s], count[f.first[s]]);
        levels[s] = up == -1 ? 1 : levels[f.above[s]] + 1;
        if (levels[s] > deepest)
            deepest = levels[s];
    }
    assert_int_equal(f.levels, deepest);

    int64_t cost_nnz = -1;
    double cost_flops = -1;
    assert_int_equal(forest_cost(&m, a, perm, &cost_nnz, &cost_flops), LIBSOLVER_OK);
    assert_int_equal(cost_nnz, nnz);
    assert_true(cost_flops == (double)flops);
    forest_free(&m, &f);
    assert_int_equal(m.in_use, 0);
}

static void forests_of_random_patterns_are_those_of_dense_elimination(void **state)
{
    (void)state;
    for_random_orders(2000, check_forest);
}

static void forests_of_known_patterns_are_those_of_dense_elimination(void **state)
{
    (void)state;
    for_known_orders(check_forest);
}

static void stars_and_complete_graphs_have_their_known_counts(void **state)
{
    (void)state;
    pattern star = problem_star(10, 0), complete = problem_complete(6);
    const int32_t natural[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                  reversed[10] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    int64_t nnz;
    double flops;
    assert_int_equal(forest_cost(&m, &star, natural, &nnz, &flops), LIBSOLVER_OK);
    assert_int_equal(nnz, 55);
    assert_true(flops == 385);
    assert_int_equal(forest_cost(&m, &star, reversed, &nnz, &flops), LIBSOLVER_OK);
    assert_int_equal(nnz, 19);
    forest f;
    assert_int_equal(forest_build(&m, &complete, natural, &f), LIBSOLVER_OK);
    assert_int_equal(f.supernodes, 1);
    assert_int_equal(f.levels, 1);
    assert_int_equal(f.rows[0], 6);
    forest_free(&m, &f);
    problem_free(&star);
    problem_free(&complete);
}

/* The stack's peak when the nodes come in the given postorder: contribution blocks of children lie
 * there until their parent's front, beside which they lie, is assembled. */
static double simulated_peak(int32_t n, const int32_t *above, const front_size *size,
                             const int32_t *order)
{
    double in_use = 0, peak = 0;
    for (int32_t t = 0; t < n; t++) {
        const int32_t s = order[t];
        const double front = (double)size[s].m * size[s].m;
        if (in_use + front > peak)
            peak = in_use + front;
        for (int32_t c = 0; c < n; c++)
            if (above[c] == s)
                in_use -= (double)(size[c].m - size[c].k) * (size[c].m - size[c].k);
        in_use += (double)(size[s].m - size[s].k) * (size[s].m - size[s].k);
    }
    return peak;
}

/* Least peak of s's subtree over all orders of the children of all its nodes, by trying each. */
static double least_peak(int32_t n, const int32_t *above, const front_size *size, int32_t s)
{
    int32_t child[8], q = 0;
    double peak[8], contribution[8], least = 1e300;
    for (int32_t c = 0; c < n; c++)
        if (above[c] == s) {
            peak[q] = least_peak(n, above, size, c);
            contribution[q] = (double)(size[c].m - size[c].k) * (size[c].m - size[c].k);
            child[q] = q;
            q++;
        }
    int32_t tried = 1;
    for (int32_t i = 2; i <= q; i++)
        tried *= i;
    while (tried-- > 0) {
        double held = 0, now = 0;
        for (int32_t i = 0; i < q; i++) {
            if (held + peak[child[i]] > now)
                now = held + peak[child[i]];
            held += contribution[child[i]];
        }
        if (held + (double)size[s].m * size[s].m > now)
            now = held + (double)size[s].m * size[s].m;
        if (now < least)
            least = now;
        int32_t i = q - 2, j = q - 1; /* next permutation of the children */
        while (i >= 0 && child[i] > child[i + 1])
            i--;
        if (i < 0)
            break;
        while (child[j] < child[i])
            j--;
        const int32_t swapped = child[i];
        child[i] = child[j];
        child[j] = swapped;
        for (int32_t low = i + 1, high = q - 1; low < high; low++, high--) {
            const int32_t other = child[low];
            child[low] = child[high];
            child[high] = other;
        }
    }
    return least;
}

static void stack_postorder_has_the_least_peak(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = 1 + random_below(&r, 14);
        int32_t above[14], place[14], order[14];
        front_size size[14];
        for (int32_t s = 0; s < n; s++) { /* a tree whose nodes have up to five children */
            above[s] = s == n - 1 ? -1 : s + 1 + random_below(&r, n - 1 - s < 5 ? n - 1 - s : 5);
            size[s].k = 1 + random_below(&r, 5);
            size[s].m = size[s].k + (above[s] == -1 ? 0 : random_below(&r, 9));
        }
        assert_int_equal(stack_postorder(&m, n, above, size, place), LIBSOLVER_OK);
        assert_null(permutation_check(&m, n, place));
        permutation_invert(n, place, order);
        const double peak = simulated_peak(n, above, size, order),
                     least = least_peak(n, above, size, n - 1);
        if (peak != least)
            fail_msg("seed %d: peak %g, least %g", (int)seed, peak, least);
    }
    assert_int_equal(m.in_use, 0);
}

/* The forest by way of the compressed graph, its vertices in a random order, beside that of the
 * rows. */
static void forests_of_compressed_graphs_are_those_of_the_rows(void **state)
{
    (void)state;
    int compressed = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        pattern b = problem_random(1 + (int32_t)(random_next(&r) % 40), 0.1, &r),
                a = problem_blown_up_unevenly(&b, 4, &r);
        int32_t perm[160], rows[160], class_of[160];
        graph g, c;
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
        if (c.n >= 0) {
            elimination_tree e;
            forest f, whole;
            compressed++;
            random_permutation(&r, c.n, perm);
            assert_int_equal(order_expand(&m, a.n, class_of, c.n, perm, rows), LIBSOLVER_OK);
            assert_int_equal(forest_build(&m, &a, rows, &whole), LIBSOLVER_OK);
            assert_int_equal(elimination_build(&m, 1, &c, perm, &e), LIBSOLVER_OK);
            assert_int_equal(forest_of_elimination(&m, &e, a.n, class_of, &f), LIBSOLVER_OK);
            assert_int_equal(f.n, whole.n);
            assert_int_equal(f.supernodes, whole.supernodes);
            assert_int_equal(f.factor_nnz, whole.factor_nnz);
            assert_true(f.factor_flops == whole.factor_flops);
            assert_int_equal(f.levels, whole.levels);
            assert_memory_equal(f.perm, whole.perm, sizeof(int32_t) * (size_t)a.n);
            assert_memory_equal(f.parent, whole.parent, sizeof(int32_t) * (size_t)a.n);
            assert_memory_equal(f.count, whole.count, sizeof(int32_t) * (size_t)a.n);
            assert_memory_equal(f.first, whole.first, sizeof(int32_t) * ((size_t)f.supernodes + 1));
            assert_memory_equal(f.rows, whole.rows, sizeof(int32_t) * (size_t)f.supernodes);
            assert_memory_equal(f.above, whole.above, sizeof(int32_t) * (size_t)f.supernodes);
            elimination_free(&m, &e);
            forest_free(&m, &f);
            forest_free(&m, &whole);
            graph_free(&m, &c);
        }
        graph_free(&m, &g);
        problem_free(&a);
        problem_free(&b);
    }
    assert_in_range(compressed, 250, 300);
}

static void checks_find_what_is_broken(void **state)
{
    (void)state;
    pattern a = problem_grid(5, 4, 1);
    int32_t perm[20];
    random_stream r = random_seeded(1);
    random_permutation(&r, 20, perm);
    forest f;
    assert_int_equal(forest_build(&m, &a, perm, &f), LIBSOLVER_OK);
    assert_null(forest_check(&f));
    f.factor_nnz++;
    assert_non_null(forest_check(&f));
    f.factor_nnz--;
    for (int32_t j = 0; j < 20; j++) {
        f.count[j]++;
        f.factor_nnz++;
        assert_non_null(forest_check(&f));
        f.factor_nnz--;
        f.count[j]--;
        f.parent[j]++;
        assert_non_null(forest_check(&f));
        f.parent[j]--;
    }
    f.perm[3] = 20;
    assert_non_null(forest_check(&f));
    f.perm[3] = f.perm[4];
    assert_string_equal(permutation_check(&m, 20, f.perm), "permutation: an index occurs twice");
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
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t k = 0; status != LIBSOLVER_OK; k++) {
        assert_in_range(k, 0, 100);
        rationed ration;
        forest f;
        memory_rationed(&m, &ration, k);
        status = forest_build(&m, &a, perm, &f);
        if (status == LIBSOLVER_OK)
            forest_free(&m, &f);
        else
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, 0);
    }
    status = LIBSOLVER_OUT_OF_MEMORY;
    int64_t refused = -1;
    for (int64_t k = 0; status != LIBSOLVER_OK; k++, refused++) {
        assert_in_range(k, 0, 100);
        rationed ration;
        int64_t nnz;
        double flops;
        memory_rationed(&m, &ration, k);
        status = forest_cost(&m, &a, perm, &nnz, &flops);
        assert_true(status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, 0);
    }
    assert_true(refused > 2);
    problem_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_of_memory(forests_of_random_patterns_are_those_of_dense_elimination, &m),
        unit_test_of_memory(forests_of_known_patterns_are_those_of_dense_elimination, &m),
        unit_test_of_memory(stars_and_complete_graphs_have_their_known_counts, &m),
        unit_test_of_memory(forests_of_compressed_graphs_are_those_of_the_rows, &m),
        unit_test_of_memory(stack_postorder_has_the_least_peak, &m),
        unit_test_of_memory(checks_find_what_is_broken, &m),
        unit_test_of_memory(each_failed_allocation_is_reported, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
