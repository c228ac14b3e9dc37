/* solver/choose_ordering.c: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/choose_ordering.h"
#include "solver/matching.h"

/* Predicted seconds, from `libsolver bench` on two cores of an AMD EPYC 9004: flops and entries of a
 * factorization with ten solves, and METIS by the edges it works on. */
#define SECONDS_A_FLOP 5e-11
#define SECONDS_AN_ENTRY 2e-8
#define METIS_SECONDS_AN_EDGE 1.3e-6

/* METIS is tried when AMD's factorization is predicted to take longer than this part of METIS's time. */
#define WORTH_METIS 0.3

/* Everything an order is chosen from. */
typedef struct choice {
    memory *m;
    const pattern *a;
    graph g, compressed; /* compressed.n = -1: nothing to compress */
    int32_t *class_of;
    int paired; /* the compressed graph is one of 2x2 pivots */
} choice;

static double predicted_seconds(int64_t factor_nnz, double flops)
{
    return SECONDS_A_FLOP * flops + SECONDS_AN_ENTRY * (double)factor_nnz;
}

/* Orders the compressed graph, where there is one, and expands. */
static libsolver_status order(const choice *c, libsolver_status (*method)(memory *, const graph *, int32_t *),
                              int32_t *perm)
{
    if (c->compressed.n < 0)
        return method(c->m, &c->g, perm);
    int32_t *classes = memory_new(c->m, c->compressed.n, sizeof(int32_t));
    if (!classes)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = method(c->m, &c->compressed, classes);
    if (status == LIBSOLVER_OK)
        status = order_expand(c->m, c->g.n, c->class_of, c->compressed.n, classes, perm);
    memory_free(c->m, classes);
    return status;
}

/* AMD finds indistinguishable vertices itself. */
static libsolver_status order_by_amd(const choice *c, int32_t *perm)
{
    return c->paired ? order(c, order_amd, perm) : order_amd(c->m, &c->g, perm);
}

/* Compresses the pairs of a matching. */
static libsolver_status merge_pairs(choice *c, const double *magnitude)
{
    matching *w = NULL;
    TRY(matching_create(c->m, c->a, &w));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    double *scale = memory_new(c->m, c->a->n, sizeof(double));
    if (scale) {
        matching_scale(w, magnitude, scale);
        const int32_t classes = matching_pairs(w, c->class_of);
        status = graph_merge(c->m, &c->g, c->class_of, classes, &c->compressed);
    }
    memory_free(c->m, scale);
    matching_free(c->m, w);
    return status;
}

/* AMD, and METIS where it is likely to pay; the one with the shorter predicted time. */
static libsolver_status order_auto(const choice *c, int32_t *perm, libsolver_ordering *used)
{
    int64_t amd_nnz, metis_nnz;
    double amd_flops, metis_flops;
    TRY(order_by_amd(c, perm));
    TRY(forest_cost(c->m, c->a, perm, &amd_nnz, &amd_flops));
    *used = LIBSOLVER_ORDERING_AMD;
    const graph *g = c->compressed.n < 0 ? &c->g : &c->compressed;
    const double edges = g->n > 0 ? (double)g->start[g->n] : 0;
    if (SECONDS_A_FLOP * amd_flops < WORTH_METIS * METIS_SECONDS_AN_EDGE * edges)
        return LIBSOLVER_OK;
    int32_t *other = memory_new(c->m, c->a->n, sizeof(int32_t));
    libsolver_status status = other ? order(c, order_metis, other) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK)
        status = forest_cost(c->m, c->a, other, &metis_nnz, &metis_flops);
    if (status == LIBSOLVER_OK &&
        predicted_seconds(metis_nnz, metis_flops) < predicted_seconds(amd_nnz, amd_flops)) {
        for (int32_t k = 0; k < c->a->n; k++)
            perm[k] = other[k];
        *used = LIBSOLVER_ORDERING_METIS;
    }
    memory_free(c->m, other);
    return status == LIBSOLVER_NOT_BUILT ? LIBSOLVER_OK : status;
}

/* The caller's permutation, checked. */
static libsolver_status order_user(memory *m, int32_t n, const int64_t *permutation, int32_t *perm,
                                   message *why)
{
    if (!permutation && n > 0)
        return FAIL(why, LIBSOLVER_INVALID, "the ordering is the user's, but there is no permutation");
    for (int32_t k = 0; k < n; k++) {
        if (permutation[k] < 0 || permutation[k] >= n)
            return FAIL(why, LIBSOLVER_INVALID, "permutation[%d] is %lld, not a row of a matrix of order %d",
                        k, (long long)permutation[k], n);
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

libsolver_status choose_ordering(environment *env, const pattern *a, const double *magnitude, const libsolver_options *options,
                                 int32_t *perm, libsolver_ordering *used, message *why)
{
    choice c = {.m = &env->memory, .a = a, .compressed = {.n = -1}};
    libsolver_status status = LIBSOLVER_OK;
    *used = options->ordering;
    if (options->ordering == LIBSOLVER_ORDERING_USER)
        return order_user(c.m, a->n, options->permutation, perm, why);
    if (options->ordering == LIBSOLVER_ORDERING_NATURAL) {
        for (int32_t k = 0; k < a->n; k++)
            perm[k] = k;
        return LIBSOLVER_OK;
    }
    c.class_of = memory_new(c.m, a->n, sizeof(int32_t));
    if (!c.class_of)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY_DONE(graph_build(c.m, a, &c.g));
    c.paired = magnitude != NULL;
    if (c.paired)
        TRY_DONE(merge_pairs(&c, magnitude));
    else if (options->ordering != LIBSOLVER_ORDERING_AMD) /* AMD finds indistinguishable vertices itself */
        TRY_DONE(graph_compress(c.m, &c.g, &c.compressed, c.class_of));
    switch (options->ordering) {
    case LIBSOLVER_ORDERING_AMD:
        status = order_by_amd(&c, perm);
        break;
    case LIBSOLVER_ORDERING_ND:
    case LIBSOLVER_ORDERING_METIS:
        *used = LIBSOLVER_ORDERING_METIS;
        status = order(&c, order_metis, perm);
        if (status == LIBSOLVER_NOT_BUILT)
            FAIL(why, status, "this build has no nested dissection for this graph (METIS)");
        break;
    default:
        status = order_auto(&c, perm, used);
    }
done:
    graph_free(c.m, &c.g);
    if (c.compressed.n >= 0)
        graph_free(c.m, &c.compressed);
    memory_free(c.m, c.class_of);
    return status;
}
