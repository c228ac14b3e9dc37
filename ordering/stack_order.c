/* ordering/stack_order.c: the postorder with the smallest multifrontal stack  [Liu, On the storage
 * requirement in the out-of-core multifrontal method, ACM Trans. Math. Softw. 12 (1986), Theorem
 * 3.2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

void tree_children(int32_t n, const int32_t *above, int32_t *head, int32_t *next)
{
    for (int32_t v = 0; v < n; v++)
        head[v] = -1;
    head[n] = -1;
    for (int32_t s = n - 1; s >= 0; s--) {
        const int32_t v = above[s] == -1 ? n : above[s];
        next[s] = head[v];
        head[v] = s;
    }
}

/* Merges two sorted lists; of equal keys those of the earlier list a come first. */
static int32_t merge(int32_t a, int32_t b, int32_t *next, const double *key)
{
    int32_t head = -1, *tail = &head;
    while (a != -1 && b != -1) {
        int32_t *smaller = key[b] > key[a] ? &b : &a;
        *tail = *smaller;
        tail = &next[*smaller];
        *smaller = *tail;
    }
    *tail = a != -1 ? a : b;
    return head;
}

/* Merge sort from the bottom up: run(i) is empty or a sorted list of 2^i nodes, later ones in lower
 * runs. */
int32_t tree_sort(int32_t head, int32_t *next, const double *key)
{
    int32_t run[32], runs = 0;
    if (head == -1 || next[head] == -1)
        return head;
    while (head != -1) {
        int32_t list = head, i = 0;
        head = next[head];
        next[list] = -1;
        for (; i < runs && run[i] != -1; i++) {
            list = merge(run[i], list, next, key);
            run[i] = -1;
        }
        run[i] = list;
        if (i == runs)
            runs++;
    }
    int32_t sorted = -1;
    for (int32_t i = 0; i < runs; i++)
        sorted = merge(run[i], sorted, next, key);
    return sorted;
}

static double contribution(front_size s)
{
    return (double)(s.m - s.k) * (s.m - s.k);
}

/* peak(s) = max(max_i (cb_1 + ... + cb_(i-1) + peak_i), cb_1 + ... + cb_q + m^2) over the children
 * 1..q of s, least when they come by descending peak - cb.  drop(s) = peak(s) - cb(s). */
static void sort_children(int32_t n, const front_size *size, int32_t *head, int32_t *next,
                          double *drop)
{
    for (int32_t s = 0; s < n; s++) {
        head[s] = tree_sort(head[s], next, drop);
        double held = 0, peak = 0;
        for (int32_t c = head[s]; c != -1; c = next[c]) {
            held += contribution(size[c]);
            if (held + drop[c] > peak)
                peak = held + drop[c];
        }
        const double front = held + (double)size[s].m * size[s].m;
        drop[s] = (front > peak ? front : peak) - contribution(size[s]);
    }
}

/* A subtree of nodes(s) fronts takes the places begin(s) .. begin(s) + nodes(s) - 1, its root the
 * last.  O(n log n) for the sorts. */
libsolver_status stack_postorder(memory *m, int32_t n, const int32_t *above, const front_size *size,
                                 int32_t *place)
{
    int32_t *head = memory_new(m, (int64_t)n + 1, sizeof(int32_t));
    int32_t *next = memory_new(m, n, sizeof(int32_t));
    int32_t *nodes = memory_new(m, n, sizeof(int32_t));
    int32_t *begin = memory_new(m, (int64_t)n + 1, sizeof(int32_t));
    double *drop = memory_new(m, n, sizeof(double));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!head || !next || !nodes || !begin || !drop)
        goto done;
    tree_children(n, above, head, next);
    sort_children(n, size, head, next, drop);
    for (int32_t s = 0; s < n; s++) {
        nodes[s] = 1;
        for (int32_t c = head[s]; c != -1; c = next[c])
            nodes[s] += nodes[c];
    }
    begin[n] = 0; /* node n stands above all roots */
    for (int32_t s = n; s >= 0; s--) {
        int32_t free_place = begin[s];
        for (int32_t c = head[s]; c != -1; c = next[c]) {
            begin[c] = free_place;
            free_place += nodes[c];
        }
        if (s < n)
            place[s] = free_place;
    }
    status = LIBSOLVER_OK;
done:
    memory_free(m, head);
    memory_free(m, next);
    memory_free(m, nodes);
    memory_free(m, begin);
    memory_free(m, drop);
    return status;
}
