/* test/ordering/test_shared.c: what threads share gives what one makes alone: column counts by
 * subtrees, merged fronts and their rows, classes of vertices
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ordering/analysis.h"
#include "problems.h"
#include <stdlib.h>

static memory m;

/* The vertices of a grid of x by y points by nested dissection into halves; returns the next place
 * of perm. */
static int32_t *dissect(int32_t x, int32_t left, int32_t right, int32_t low, int32_t high,
                        int32_t *perm)
{
    const int32_t width = right - left, height = high - low;
    if (width <= 0 || height <= 0)
        return perm;
    if (width * height <= 4) {
        for (int32_t j = low; j < high; j++)
            for (int32_t i = left; i < right; i++)
                *perm++ = i + j * x;
        return perm;
    }
    if (width >= height) {
        const int32_t middle = left + width / 2;
        perm = dissect(x, left, middle, low, high, perm);
        perm = dissect(x, middle + 1, right, low, high, perm);
        return dissect(x, middle, middle + 1, low, high, perm);
    }
    const int32_t middle = low + height / 2;
    perm = dissect(x, left, right, low, middle, perm);
    perm = dissect(x, left, right, middle + 1, high, perm);
    return dissect(x, left, right, middle, middle + 1, perm);
}

/* The subtrees are disjoint, each is all of what its root stands above, and the rest is
 * numbered. */
static int check_cut(int32_t n, const int32_t *parent, int threads)
{
    tree_cut cut;
    assert_int_equal(tree_cut_find(&m, threads, n, parent, NULL, &cut), LIBSOLVER_OK);
    int32_t above = 0, before = n;
    for (int32_t q = 0; q < cut.subtrees; q++) {
        assert_true(cut.begin[q] >= 0 && cut.begin[q] < cut.end[q] && cut.end[q] <= before);
        for (int32_t j = cut.end[q]; j < before; j++, above++)
            assert_in_range(cut.number[j], 0, cut.above - 1);
        before = cut.begin[q];
        for (int32_t j = 0; j < n; j++) {
            const int is_in = j >= cut.begin[q] && j + 1 < cut.end[q];
            const int has_parent_in = parent[j] >= cut.begin[q] && parent[j] < cut.end[q];
            assert_int_equal(is_in, has_parent_in);
        }
    }
    if (cut.subtrees > 0)
        assert_int_equal(above + before, cut.above);
    const int subtrees = cut.subtrees;
    tree_cut_free(&m, &cut);
    return subtrees;
}

/* perm: any order. */
static void check_trees(const graph *g, const int32_t *perm)
{
    const int32_t n = g->n;
    int32_t *work = malloc(sizeof(int32_t) * (size_t)(5 * n + 1)), *rank = work, *one = rank + n,
            *more = one + n;
    assert_non_null(work);
    permutation_invert(n, perm, rank);
    for (int threads = 1; threads <= 81; threads += threads < 9 ? 1 : 36) {
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        int32_t *parent = threads == 1 ? one : more;
        for (int32_t j = n; j < 5 * n; j++) /* whatever was there */
            if (work + j < one || work + j >= one + n || threads == 1)
                work[j] = 7777;
#pragma omp parallel num_threads(threads < 4 ? threads : 4)
#pragma omp single
        status = etree_build(&m, threads, g, perm, rank, parent, more + n, more + 2 * n);
        assert_int_equal(status, LIBSOLVER_OK);
        assert_memory_equal(one, parent, sizeof(int32_t) * (size_t)n);
    }
    free(work);
}

static void trees_by_parts_are_those_of_the_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t x = 1 + (int32_t)random_below(&r, 24), y = 1 + (int32_t)random_below(&r, 24);
        pattern a = seed % 3 == 2
                        ? problem_random(1 + x * y / 2, (1 + (double)(seed % 4)) / (1 + x * y), &r)
                        : problem_grid(x, y, 1);
        int32_t *perm = malloc(sizeof(int32_t) * (size_t)(a.n + 1));
        graph g;
        assert_non_null(perm);
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        if (seed % 3 == 0)
            dissect(x, 0, x, 0, y, perm);
        else
            random_permutation(&r, a.n, perm);
        check_trees(&g, perm);
        graph_free(&m, &g);
        problem_free(&a);
        free(perm);
    }
    assert_int_equal(m.in_use, 0);
}

static int counted; /* with subtrees */

static void check_counts(const graph *g, const int32_t *perm)
{
    const int32_t n = g->n;
    elimination_tree e;
    int32_t *work = malloc(sizeof(int32_t) * (size_t)(6 * n + 1)), *rank = work + 4 * n,
            *count = rank + n;
    assert_non_null(work);
    assert_int_equal(elimination_build(&m, 1, g, perm, &e), LIBSOLVER_OK);
    permutation_invert(n, e.perm, rank);
    for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        for (int32_t j = 0; j < 5 * n; j++) /* whatever was there */
            if (j < 4 * n)
                work[j] = 7777;
            else
                count[j - 4 * n] = 7777;
#pragma omp parallel num_threads(threads)
#pragma omp single
        status = column_counts(&m, threads, g, e.perm, rank, e.parent, count,
                               (int32_t *[]){work, work + n, work + 2 * n, work + 3 * n});
        assert_int_equal(status, LIBSOLVER_OK);
        assert_memory_equal(count, e.count, sizeof(int32_t) * (size_t)n);
        counted += check_cut(n, e.parent, threads) > 0;
    }
    elimination_free(&m, &e);
    free(work);
}

static void counts_by_subtrees_are_those_of_the_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t x = 1 + (int32_t)random_below(&r, 24), y = 1 + (int32_t)random_below(&r, 24);
        pattern b = seed % 4 == 3 ? problem_random(1 + x * y / 4, 3.0 / (1 + x * y / 4), &r)
                                  : problem_grid(x, y, 1),
                a = seed % 4 == 1 ? problem_blown_up_unevenly(&b, 3, &r)
                                  : problem_blown_up(&b, seed % 4 == 2 ? 2 : 1);
        int32_t *perm = malloc(sizeof(int32_t) * (size_t)(a.n + 1)),
                *class_of = malloc(sizeof(int32_t) * (size_t)(a.n + 1));
        graph g, c;
        assert_true(perm && class_of);
        assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
        assert_int_equal(graph_compress(&m, 1, &g, &c, class_of), LIBSOLVER_OK);
        const graph *used = c.n >= 0 ? &c : &g;
        if (used->n == x * y && seed % 4 != 3)
            assert_ptr_equal(dissect(x, 0, x, 0, y, perm), perm + x * y);
        else
            random_permutation(&r, used->n, perm);
        check_counts(used, perm);
        /* once more with both copies of each vertex, which have neighbours in common */
        for (int32_t k = 0; k < b.n && seed % 4 == 2; k++)
            perm[2 * (b.n - 1 - k)] = 2 * perm[b.n - 1 - k];
        for (int32_t k = 0; k < b.n && seed % 4 == 2; k++)
            perm[2 * k + 1] = perm[2 * k] + 1;
        if (seed % 4 == 2)
            check_counts(&g, perm);
        if (c.n >= 0)
            graph_free(&m, &c);
        graph_free(&m, &g);
        problem_free(&a);
        problem_free(&b);
        free(perm);
        free(class_of);
    }
    assert_true(counted > 300);
    assert_int_equal(m.in_use, 0);
}

/* What ends for want of memory leaves nothing behind, wherever that is. */
static void partition_without_memory(const pattern *a, const forest *f, int64_t step)
{
    const int64_t before = m.in_use;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t more = 0; status != LIBSOLVER_OK; more += step) {
        partition p;
        m.limit = before + more;
        status = partition_build(&m, 4, a, f, never_pays, &p, NULL, NULL);
        if (status == LIBSOLVER_OK)
            partition_free(&m, &p);
        else
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, before);
    }
    m.limit = 0;
}

static void elimination_without_memory(const graph *g, const int32_t *perm, int64_t step)
{
    const int64_t before = m.in_use;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t more = 0; status != LIBSOLVER_OK; more += step) {
        elimination_tree e;
        m.limit = before + more;
        status = elimination_build(&m, 4, g, perm, &e);
        if (status == LIBSOLVER_OK)
            elimination_free(&m, &e);
        else
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
        assert_int_equal(m.in_use, before);
    }
    m.limit = 0;
}

static void same_partition(const partition *p, const partition *q)
{
    assert_null(partition_check(q));
    assert_int_equal(q->supernodes, p->supernodes);
    assert_int_equal(q->stored_nnz, p->stored_nnz);
    assert_memory_equal(q->perm, p->perm, sizeof(int32_t) * (size_t)p->n);
    assert_memory_equal(q->above, p->above, sizeof(int32_t) * (size_t)p->supernodes);
    assert_memory_equal(q->row, p->row, sizeof(int32_t) * (size_t)p->row_start[p->supernodes]);
}

/* Large enough that threads are taken. */
enum { SIDE = 270 };

static void partitions_are_those_of_one_thread(void **state)
{
    (void)state;
    const front_cost costs[] = {never_pays, plausible_cost};
    pattern a = problem_grid(SIDE, SIDE, 1);
    int32_t *perm = malloc(sizeof(int32_t) * SIDE * SIDE);
    forest f;
    assert_non_null(perm);
    dissect(SIDE, 0, SIDE, 0, SIDE, perm);
    assert_int_equal(forest_build(&m, &a, perm, &f), LIBSOLVER_OK);
    assert_true(f.supernodes > 8192);
    for (int k = 0; k < 2; k++) {
        partition p, q;
        assert_int_equal(partition_build(&m, 1, &a, &f, costs[k], &p, NULL, NULL), LIBSOLVER_OK);
        for (int threads = 2; threads <= 11; threads += 3) {
            assert_int_equal(partition_build(&m, threads, &a, &f, costs[k], &q, NULL, NULL),
                             LIBSOLVER_OK);
            same_partition(&p, &q);
            partition_free(&m, &q);
        }
        partition_free(&m, &p);
    }
    partition_without_memory(&a, &f, 400000);
    forest_free(&m, &f);
    problem_free(&a);
    free(perm);
    assert_int_equal(m.in_use, 0);
}

static void eliminations_are_those_of_one_thread(void **state)
{
    (void)state;
    pattern a = problem_grid(SIDE, SIDE, 1);
    int32_t *perm = malloc(sizeof(int32_t) * SIDE * SIDE);
    graph g;
    elimination_tree e, t;
    assert_non_null(perm);
    dissect(SIDE, 0, SIDE, 0, SIDE, perm);
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(elimination_build(&m, 1, &g, perm, &e), LIBSOLVER_OK);
    for (int threads = 2; threads <= 16; threads += 7) {
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
#pragma omp parallel num_threads(threads)
#pragma omp single
        status = elimination_build(&m, threads, &g, perm, &t);
        assert_int_equal(status, LIBSOLVER_OK);
        assert_memory_equal(t.count, e.count, sizeof(int32_t) * (size_t)e.n);
        elimination_free(&m, &t);
    }
    elimination_free(&m, &e);
    elimination_without_memory(&g, perm, 100000);
    graph_free(&m, &g);
    problem_free(&a);
    free(perm);
    assert_int_equal(m.in_use, 0);
}

static void classes_are_those_of_one_thread(void **state)
{
    (void)state;
    pattern b = problem_grid(200, 200, 1), a = problem_blown_up(&b, 3);
    int32_t *one = malloc(sizeof(int32_t) * (size_t)a.n),
            *more = malloc(sizeof(int32_t) * (size_t)a.n);
    graph g, c, d;
    assert_true(one && more);
    assert_int_equal(graph_build(&m, 1, &a, &g), LIBSOLVER_OK);
    assert_int_equal(graph_compress(&m, 1, &g, &c, one), LIBSOLVER_OK);
    assert_int_equal(c.n, b.n);
    for (int32_t v = 0; v < a.n; v++)
        assert_int_equal(one[v], one[v / 3 * 3]);
    assert_int_equal(graph_compress(&m, 6, &g, &d, more), LIBSOLVER_OK);
    assert_int_equal(d.n, c.n);
    assert_memory_equal(one, more, sizeof(int32_t) * (size_t)a.n);
    assert_memory_equal(c.neighbor, d.neighbor, sizeof(int32_t) * (size_t)c.start[c.n]);
    graph_free(&m, &c);
    graph_free(&m, &d);
    graph_free(&m, &g);
    problem_free(&a);
    problem_free(&b);
    free(one);
    free(more);
    assert_int_equal(m.in_use, 0);
}

int main(void)
{
    memory_init(&m, NULL, NULL, NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_by_parts_are_those_of_the_whole),
        cmocka_unit_test(counts_by_subtrees_are_those_of_the_whole),
        cmocka_unit_test(partitions_are_those_of_one_thread),
        cmocka_unit_test(eliminations_are_those_of_one_thread),
        cmocka_unit_test(classes_are_those_of_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
