/* ordering/amd_tmpl.h: minimum degree by one width of integers; amd.c includes it once for each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * INTEGER: the type, AMD_KERNEL: SuiteSparse's kernel for it, ORDER: the function's name.  We
 * call the kernel itself rather than amd_order because it allocates nothing, and a graph needs
 * neither the checks nor the A + A^T of amd_order.  It destroys its input and asks for elbow room
 * behind it; a fifth of nnz is what AMD's own driver gives. */
libsolver_status ORDER(memory *m, const graph *g, int32_t *perm)
{
    const int64_t n = g->n, nnz = g->start[n], room = nnz + nnz / 5 + n;
    INTEGER *work = memory_new(m, room + 9 * n, sizeof(INTEGER));
    if (!work)
        return LIBSOLVER_OUT_OF_MEMORY;
    INTEGER *list = work, *start = work + room, *length = start + n, *size = length + n,
            *next = size + n, *order = next + n, *head = order + n, *elements = head + n,
            *degree = elements + n, *mark = degree + n;
    for (int64_t v = 0; v < n; v++) {
        start[v] = (INTEGER)g->start[v];
        length[v] = (INTEGER)(g->start[v + 1] - g->start[v]);
    }
    for (int64_t p = 0; p < nnz; p++)
        list[p] = g->neighbor[p];
    double control[AMD_CONTROL] = {0};
    control[AMD_DENSE] = dense_degree_over_root(g);
    control[AMD_AGGRESSIVE] = AMD_DEFAULT_AGGRESSIVE;
    if (n > 0)
        AMD_KERNEL((INTEGER)n, start, list, length, (INTEGER)room, (INTEGER)nnz, size, next, order,
                   head, elements, degree, mark, control, NULL);
    for (int64_t k = 0; k < n; k++)
        perm[k] = (int32_t)order[k];
    memory_free(m, work);
    return LIBSOLVER_OK;
}
