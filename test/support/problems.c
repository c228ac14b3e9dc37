/* test/support/problems.c: patterns with known structure or random ones, and memory whose books
 * tests look at
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problems.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A pattern with the diagonal only so far and room for the given number of entries. */
static pattern problem_new(int32_t n, int64_t room)
{
    pattern a = {n, malloc(((size_t)n + 1) * sizeof(int64_t)),
                 malloc((size_t)(room + 1) * sizeof(int32_t))};
    if (!a.start || !a.row)
        abort();
    a.start[0] = 0;
    return a;
}

void problem_free(pattern *a)
{
    free(a->start);
    free(a->row);
}

pattern problem_random(int32_t n, double density, random_stream *r)
{
    pattern a = problem_new(n, (int64_t)n * (n + 1) / 2);
    int64_t nnz = 0;
    for (int32_t j = 0; j < n; j++) {
        a.row[nnz++] = j;
        for (int32_t i = j + 1; i < n; i++)
            if ((double)(random_next(r) >> 11) < density * 0x1p53)
                a.row[nnz++] = i;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_grid(int32_t x, int32_t y, int32_t z)
{
    pattern a = problem_new(x * y * z, (int64_t)4 * x * y * z);
    int64_t nnz = 0;
    for (int32_t j = 0; j < a.n; j++) {
        a.row[nnz++] = j;
        if (j % x < x - 1)
            a.row[nnz++] = j + 1;
        if (j / x % y < y - 1)
            a.row[nnz++] = j + x;
        if (j / x / y < z - 1)
            a.row[nnz++] = j + x * y;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_grid_with_diagonal(int32_t x, int32_t y, int32_t z)
{
    pattern a = problem_grid(x, y, z);
    int64_t place = a.start[1] + 1; /* of row x in column 1 */
    while (place < a.start[2] && a.row[place] < x)
        place++;
    for (int64_t k = a.start[a.n]; k > place; k--)
        a.row[k] = a.row[k - 1];
    a.row[place] = x;
    for (int32_t j = 2; j <= a.n; j++)
        a.start[j]++;
    return a;
}

pattern problem_path(int32_t n)
{
    return problem_grid(n, 1, 1);
}

pattern problem_star(int32_t n, int32_t hub)
{
    pattern a = problem_new(n, 2 * (int64_t)n);
    int64_t nnz = 0;
    for (int32_t j = 0; j < n; j++) {
        a.row[nnz++] = j;
        if (j < hub)
            a.row[nnz++] = hub;
        for (int32_t i = j + 1; j == hub && i < n; i++)
            a.row[nnz++] = i;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_wide(int32_t leaves, int32_t hubs, random_stream *r)
{
    pattern a =
        problem_new(2 * leaves + hubs, 8 * (int64_t)leaves + hubs * (int64_t)(hubs + 1) / 2);
    int64_t nnz = 0;
    for (int32_t j = 0; j < a.n; j++) {
        const int is_leaf = j < 2 * leaves;
        a.row[nnz++] = j;
        if (is_leaf && j % 2 == 0) {
            a.row[nnz++] = j + 1;
            int32_t last = 2 * leaves - 1;
            for (int q = 0; q < 4; q++)
                if (last + 1 < a.n)
                    a.row[nnz++] = last += 1 + random_below(r, a.n - 1 - last);
        }
        for (int32_t i = j + 1; !is_leaf && i < a.n; i++)
            a.row[nnz++] = i;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_binary_tree(int32_t n)
{
    pattern a = problem_new(n, 3 * (int64_t)n);
    int64_t nnz = 0;
    for (int32_t j = 0; j < n; j++) {
        a.row[nnz++] = j;
        for (int32_t i = 2 * j + 1; i <= 2 * j + 2 && i < n; i++)
            a.row[nnz++] = i;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_diagonal(int32_t n)
{
    random_stream unused = {0};
    return problem_random(n, 0, &unused);
}

pattern problem_complete(int32_t n)
{
    random_stream unused = {0};
    return problem_random(n, 1, &unused);
}

pattern problem_blown_up(const pattern *b, int32_t copies)
{
    pattern a = problem_new(b->n * copies, b->start[b->n] * copies * copies);
    int64_t nnz = 0;
    for (int32_t j = 0; j < a.n; j++) {
        for (int64_t p = b->start[j / copies]; p < b->start[j / copies + 1]; p++)
            for (int32_t i = b->row[p] * copies; i < (b->row[p] + 1) * copies; i++)
                if (i >= j)
                    a.row[nnz++] = i;
        a.start[j + 1] = nnz;
    }
    return a;
}

pattern problem_blown_up_unevenly(const pattern *b, int32_t most, random_stream *r)
{
    /* copies of v: first(v) .. first(v + 1)-1 */
    int32_t *first = calloc((size_t)b->n + 1, sizeof(int32_t));
    assert_non_null(first);
    for (int32_t v = 0; v < b->n; v++)
        first[v + 1] = first[v] + 1 + (int32_t)(random_next(r) % (uint64_t)most);
    pattern a = problem_new(first[b->n], b->start[b->n] * most * most);
    int64_t nnz = 0;
    for (int32_t v = 0; v < b->n; v++)
        for (int32_t j = first[v]; j < first[v + 1]; j++) {
            for (int64_t p = b->start[v]; p < b->start[v + 1]; p++)
                for (int32_t i = first[b->row[p]]; i < first[b->row[p] + 1]; i++)
                    if (i >= j)
                        a.row[nnz++] = i;
            a.start[j + 1] = nnz;
        }
    free(first);
    return a;
}

pattern problem_known(int i)
{
    switch (i) {
    case 0:
    case 1:
    case 2:
        return problem_diagonal(i);
    case 3:
        return problem_diagonal(7);
    case 4:
        return problem_path(2);
    case 5:
        return problem_path(60);
    case 6:
        return problem_star(40, 0);
    case 7:
        return problem_star(40, 20);
    case 8:
        return problem_star(40, 39);
    case 9:
        return problem_grid(8, 7, 1);
    case 10:
        return problem_grid(4, 4, 3);
    default:
        return problem_complete(30);
    }
}

void for_random_orders(uint64_t seeds, order_check *check)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_below(&r, 61);
        const double density = (double)random_below(&r, 100) / 100;
        pattern a = problem_random(n, density * density * density, &r);
        int32_t perm[DENSE_LARGEST];
        random_permutation(&r, n, perm);
        check(&a, perm);
        problem_free(&a);
    }
}

void for_known_orders(order_check *check)
{
    for (int i = 0; i < KNOWN_PROBLEMS; i++) {
        pattern a = problem_known(i);
        int32_t perm[DENSE_LARGEST];
        for (int32_t k = 0; k < a.n; k++)
            perm[k] = k;
        check(&a, perm);
        for (int32_t k = 0; k < a.n; k++)
            perm[k] = a.n - 1 - k;
        check(&a, perm);
        problem_free(&a);
    }
}

double never_pays(int64_t k, int64_t rows)
{
    (void)rows;
    return (double)k * (double)k;
}

double plausible_cost(int64_t k, int64_t rows)
{
    return 1e-6 + 1e-9 * (double)(rows * rows) + 1e-10 * (double)(k * rows * rows);
}

void dense_elimination(const pattern *a, const int32_t *perm,
                       unsigned char l[DENSE_LARGEST][DENSE_LARGEST])
{
    int32_t rank[DENSE_LARGEST];
    memset(l, 0, DENSE_LARGEST * DENSE_LARGEST);
    for (int32_t k = 0; k < a->n; k++)
        rank[perm[k]] = k;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t u = rank[j], v = rank[a->row[p]];
            l[u > v ? u : v][u > v ? v : u] = 1;
        }
    for (int32_t k = 0; k < a->n; k++)
        for (int32_t j = k + 1; j < a->n; j++)
            for (int32_t i = j; i < a->n; i++)
                l[i][j] |= l[i][k] & l[j][k];
}

static void *rationed_allocate(void *user, size_t bytes)
{
    rationed *r = user;
    const int64_t left = atomic_fetch_sub(&r->left, 1);
    return left > 0 || (r->once && left < 0) ? malloc(bytes) : NULL;
}

static void rationed_release(void *user, void *block)
{
    (void)user;
    free(block);
}

void memory_rationed(memory *m, rationed *r, int64_t left)
{
    r->left = left;
    r->once = 0;
    memory_init(m, rationed_allocate, rationed_release, r, 0);
}

int fresh_memory(void **state)
{
    memory_init(*state, NULL, NULL, NULL, 0);
    return 0;
}

int nothing_leaked(void **state)
{
    const memory *m = *state;
    print_last_seed(state);
    assert_int_equal(m->in_use, 0);
    return 0;
}
