/* gpu/tree/tree_shape.c: what of a factor a program of its solve depends on: all but the values
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/tree/tree_shape.h"
#include <string.h>

static void find_joined(const factor_tree *tree, unsigned char *joined)
{
    switch (tree->type) {
    case LIBSOLVER_S:
        tree_joined_s(tree, joined);
        break;
    case LIBSOLVER_D:
        tree_joined_d(tree, joined);
        break;
    case LIBSOLVER_C:
        tree_joined_c(tree, joined);
        break;
    case LIBSOLVER_Z:
        tree_joined_z(tree, joined);
        break;
    }
}

static void *copy_of(memory *m, const void *from, int64_t count, size_t size)
{
    void *to = memory_new(m, count, size);
    if (to && count > 0)
        memcpy(to, from, (size_t)count * size);
    return to;
}

libsolver_status tree_shape_copy(memory *m, const factor_tree *tree, tree_shape *shape)
{
    const int32_t n = tree->n, nodes = tree->nodes;
    *shape = (tree_shape){.type = tree->type,
                          .hermitian = tree->hermitian,
                          .cholesky = tree->cholesky,
                          .n = n,
                          .nodes = nodes,
                          .first = copy_of(m, tree->first, nodes + 1, sizeof(int32_t)),
                          .above = copy_of(m, tree->above, nodes, sizeof(int32_t)),
                          .row_start = copy_of(m, tree->row_start, nodes + 1, sizeof(int64_t)),
                          .row = copy_of(m, tree->row, tree->row_start[nodes], sizeof(int32_t)),
                          .ld = copy_of(m, tree->ld, nodes, sizeof(int32_t)),
                          .user_row = copy_of(m, tree->user_row, n, sizeof(int32_t)),
                          .joined = memory_zeroed(m, n, 1),
                          .seen = memory_new(m, n, 1)};
    if (!shape->first || !shape->above || !shape->row_start || !shape->row || !shape->ld ||
        !shape->user_row || !shape->joined || !shape->seen) {
        tree_shape_free(m, shape);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    find_joined(tree, shape->joined);
    return LIBSOLVER_OK;
}

static int same(const void *a, const void *b, int64_t count, size_t size)
{
    return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

int tree_shape_is(const tree_shape *shape, const factor_tree *tree)
{
    const int32_t n = tree->n, nodes = tree->nodes;
    if (!shape->first || shape->type != tree->type || shape->hermitian != tree->hermitian ||
        shape->cholesky != tree->cholesky || shape->n != n || shape->nodes != nodes ||
        !same(shape->first, tree->first, nodes + 1, sizeof(int32_t)) ||
        !same(shape->above, tree->above, nodes, sizeof(int32_t)) ||
        !same(shape->row_start, tree->row_start, nodes + 1, sizeof(int64_t)) ||
        !same(shape->row, tree->row, tree->row_start[nodes], sizeof(int32_t)) ||
        !same(shape->ld, tree->ld, nodes, sizeof(int32_t)) ||
        !same(shape->user_row, tree->user_row, n, sizeof(int32_t)))
        return 0;
    find_joined(tree, shape->seen);
    return same(shape->joined, shape->seen, n, 1);
}

void tree_shape_free(memory *m, tree_shape *shape)
{
    memory_free(m, shape->first);
    memory_free(m, shape->above);
    memory_free(m, shape->row_start);
    memory_free(m, shape->row);
    memory_free(m, shape->ld);
    memory_free(m, shape->user_row);
    memory_free(m, shape->joined);
    memory_free(m, shape->seen);
    memset(shape, 0, sizeof *shape);
}

int64_t tree_entries(const factor_tree *tree)
{
    int64_t entries = 0;
    for (int32_t s = 0; s < tree->nodes; s++) {
        const int64_t p = tree->first[s + 1] - tree->first[s],
                      r = tree->row_start[s + 1] - tree->row_start[s];
        entries += p * (p + 1) / 2 + p * r;
    }
    return entries;
}
