/* solver/order/choose_ordering.c: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/order/choose_ordering.h"
#include "solver/order/order_auto.h"
#include "solver/order/order_pairs.h"
#include <assert.h>
#include <string.h>

/* The caller's permutation, checked. */
static libsolver_status order_user(memory *m, int32_t n, const int64_t *permutation, int32_t *perm,
                                   message *why)
{
    if (!permutation && n > 0)
        return FAIL(why, LIBSOLVER_INVALID,
                    "the ordering is the user's, but there is no permutation");
    for (int32_t k = 0; k < n; k++) {
        if (permutation[k] < 0 || permutation[k] >= n)
            return FAIL(why, LIBSOLVER_INVALID,
                        "permutation[%d] is %lld, not a row of a matrix of order %d", k,
                        (long long)permutation[k], n);
        perm[k] = (int32_t)permutation[k];
    }
    unsigned char *seen = memory_zeroed(m, n, 1);
    if (!seen)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = LIBSOLVER_OK;
    for (int32_t k = 0; k < n && status == LIBSOLVER_OK; k++)
        if (seen[perm[k]]++)
            status = FAIL(why, LIBSOLVER_INVALID, "the permutation has row %d twice", perm[k]);
    memory_free(m, seen);
    return status;
}

/* By the method the options ask for. */
static libsolver_status order_choice(choice *c, libsolver_ordering method, candidate *best,
                                     message *why)
{
    libsolver_status status = LIBSOLVER_OK;
    if (method == LIBSOLVER_ORDERING_AUTO)
        status = order_auto(c, best);
    else if (method == LIBSOLVER_ORDERING_AMD) {
        status = candidate_find_amd(c);
        *best = c->amd;
        c->amd.e = (elimination_tree){0};
    } else
        status = candidate_find(c, method, NULL, best);
    if (status == LIBSOLVER_NOT_BUILT)
        FAIL(why, status,
             "this build has no METIS, or its integers cannot count this graph's edges");
    if (status == LIBSOLVER_CANCELLED)
        FAIL(why, status, "the analysis was cancelled");
    return status;
}

/* The order as rows of A, unless perm is NULL, and its forest, unless f is. */
static libsolver_status unfold(const choice *c, const candidate *k, int32_t *perm, forest *f)
{
    const int32_t *class_of = k->by_classes ? c->class_of : NULL;
    if (perm)
        TRY(order_expand(c->m, c->g->n, class_of, k->e.n, k->e.perm, perm));
    return f ? forest_of_elimination(c->m, &k->e, c->g->n, class_of, f) : LIBSOLVER_OK;
}

/* The caller's order, or none. */
static libsolver_status order_given(memory *m, const pattern *a, const libsolver_options *options,
                                    int32_t *perm, message *why)
{
    if (options->ordering == LIBSOLVER_ORDERING_USER)
        return order_user(m, a->n, options->permutation, perm, why);
    for (int32_t k = 0; k < a->n; k++)
        perm[k] = k;
    return LIBSOLVER_OK;
}

/* An order of r->a that is looked for: perm, unless NULL, and its forest, unless f is NULL. */
static libsolver_status find_order(const order_request *r, int32_t *perm, forest *f,
                                   order_result *result, message *why)
{
    memory *m = &r->env->memory;
    choice pairs = {.m = NULL}, plain = {.m = NULL}, *chosen = NULL;
    candidate best = {.by_classes = 0};
    graph g;
    TRY(graph_build(m, r->env->threads, r->a, &g));
    libsolver_status status = choose_pairs(r, &g, &pairs, &plain, &chosen, result);
    if (status == LIBSOLVER_OK)
        status = order_choice(chosen, r->options->ordering, &best, why);
    if (status == LIBSOLVER_OK) {
        result->used = best.method;
        result->seconds = best.seconds;
        status = unfold(chosen, &best, perm, f);
    }
    elimination_free(m, &best.e);
    choice_free(&pairs);
    choice_free(&plain);
    graph_free(m, &g);
    return status;
}

static int is_given(libsolver_ordering method)
{
    return method == LIBSOLVER_ORDERING_USER || method == LIBSOLVER_ORDERING_NATURAL;
}

static int is_diagonal(const pattern *a)
{
    return a->start[a->n] == a->n;
}

/* That of a diagonal matrix in its own order. */
static libsolver_status forest_of_diagonal(memory *m, int32_t n, forest *f)
{
    int32_t **const arrays[] = {&f->perm, &f->parent, &f->count, &f->first, &f->rows, &f->above};
    int complete = 1;
    *f = (forest){.n = n,
                  .supernodes = n,
                  .factor_nnz = n,
                  .factor_flops = n,
                  .levels = n > 0,
                  .chain = n > 0};
    for (int k = 0; k < 6; k++)
        complete &= (*arrays[k] = memory_new(m, (int64_t)n + 1, sizeof(int32_t))) != NULL;
    if (!complete) {
        forest_free(m, f);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t j = 0; j < n; j++) {
        f->perm[j] = f->first[j] = j;
        f->parent[j] = f->above[j] = -1;
        f->count[j] = f->rows[j] = 1;
    }
    f->first[n] = n;
    assert(forest_check(f) == NULL);
    return LIBSOLVER_OK;
}

libsolver_status choose_ordering(const order_request *r, int32_t *perm, libsolver_ordering *used,
                                 message *why)
{
    order_result result = {.used = r->options->ordering};
    const libsolver_status status = is_given(r->options->ordering)
                                        ? order_given(&r->env->memory, r->a, r->options, perm, why)
                                        : find_order(r, perm, NULL, &result, why);
    *used = result.used;
    return status;
}

libsolver_status choose_forest(const order_request *r, forest *f, order_result *result,
                               message *why)
{
    memory *m = &r->env->memory;
    *result = (order_result){.used = r->options->ordering};
    if (r->options->ordering == LIBSOLVER_ORDERING_AUTO && !r->magnitude && is_diagonal(r->a)) {
        result->used = LIBSOLVER_ORDERING_NATURAL;
        return forest_of_diagonal(m, r->a->n, f);
    }
    if (!is_given(r->options->ordering))
        return find_order(r, NULL, f, result, why);
    int32_t *perm = memory_new(m, r->a->n, sizeof(int32_t));
    if (!perm)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = order_given(m, r->a, r->options, perm, why);
    if (status == LIBSOLVER_OK)
        status = forest_build(m, r->a, perm, f);
    memory_free(m, perm);
    return status;
}
