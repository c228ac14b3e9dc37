/* solver/choose_ordering.c: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/choose_ordering.h"
#include "solver/matching.h"
#include <string.h>

/* Predicted seconds on two cores of an AMD EPYC 9004: flops and entries of a factorization with ten solves, from
 * `libsolver bench`, and nested dissection by the edges it works on, from `bench_ordering`. */
#define SECONDS_A_FLOP 5e-11
#define SECONDS_AN_ENTRY 2e-8
#define ND_SECONDS_AN_EDGE 5e-7

/* Nested dissection is tried when what AMD's order costs afterwards is predicted to take longer than this part of
 * its time. */
#define WORTH_ND 0.3

/* Its random numbers. */
#define ND_SEED 4321

/* Ordering the pairs of a matching together saves delayed pivots and costs fill.  It is left when it multiplies the flops
 * predicted of AMD's order by more than this: of the shared KKT systems, those above (kkt_cvxqp1_l 4.0, lp_dfl001_aug 4.4,
 * stokes64 8.5) are factorized faster with delays, those below (kkt_cont-201 1.2, kkt_stadat3 2.1) with pairs, by
 * `libsolver bench`. */
#define PAIRS_WORTH 2.5

/* Everything an order is chosen from. */
typedef struct choice {
    environment *env;
    memory *m;
    const pattern *a;
    const graph *g;
    graph compressed; /* .n = -1: nothing to compress */
    int32_t *class_of;
    int paired;   /* the compressed graph is one of 2x2 pivots */
    int32_t *amd; /* AMD's order, NULL: not found yet ... */
    int64_t amd_nnz;
    double amd_flops; /* ... and its cost */
} choice;

double ordering_predicted_seconds(int64_t factor_nnz, double flops)
{
    return SECONDS_A_FLOP * flops + SECONDS_AN_ENTRY * (double)factor_nnz;
}

static libsolver_status by_method(const choice *c, libsolver_ordering method, const graph *g, int32_t *perm)
{
    return method == LIBSOLVER_ORDERING_AMD     ? order_amd(c->m, g, perm)
           : method == LIBSOLVER_ORDERING_METIS ? order_metis(c->m, g, perm)
                                                : order_nd(c->env, g, ND_SEED, perm);
}

/* Orders the compressed graph, where there is one, and expands.  AMD finds indistinguishable vertices itself. */
static libsolver_status order(const choice *c, libsolver_ordering method, int32_t *perm)
{
    if (c->compressed.n < 0 || (method == LIBSOLVER_ORDERING_AMD && !c->paired))
        return by_method(c, method, c->g, perm);
    int32_t *classes = memory_new(c->m, c->compressed.n, sizeof(int32_t));
    if (!classes)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = by_method(c, method, &c->compressed, classes);
    if (status == LIBSOLVER_OK)
        status = order_expand(c->m, c->g->n, c->class_of, c->compressed.n, classes, perm);
    memory_free(c->m, classes);
    return status;
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
        status = graph_merge(c->m, c->g, c->class_of, classes, &c->compressed);
    }
    memory_free(c->m, scale);
    matching_free(c->m, w);
    return status;
}

/* AMD's order with its cost, once. */
static libsolver_status find_amd(choice *c)
{
    if (c->amd)
        return LIBSOLVER_OK;
    c->amd = memory_new(c->m, c->a->n, sizeof(int32_t));
    if (!c->amd)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(order(c, LIBSOLVER_ORDERING_AMD, c->amd));
    return forest_cost(c->m, c->a, c->amd, &c->amd_nnz, &c->amd_flops);
}

/* AMD, and nested dissection where it is likely to pay; the one with the shorter predicted time. */
static libsolver_status order_auto(choice *c, int32_t *perm, libsolver_ordering *used)
{
    int64_t nd_nnz;
    double nd_flops;
    TRY(find_amd(c));
    memcpy(perm, c->amd, sizeof(int32_t) * (size_t)c->a->n);
    *used = LIBSOLVER_ORDERING_AMD;
    const graph *g = c->compressed.n < 0 ? c->g : &c->compressed;
    const double edges = g->n > 0 ? (double)g->start[g->n] : 0,
                 seconds = ordering_predicted_seconds(c->amd_nnz, c->amd_flops);
    if (seconds < WORTH_ND * ND_SECONDS_AN_EDGE * edges)
        return LIBSOLVER_OK;
    int32_t *other = memory_new(c->m, c->a->n, sizeof(int32_t));
    libsolver_status status = other ? order(c, LIBSOLVER_ORDERING_ND, other) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK)
        status = forest_cost(c->m, c->a, other, &nd_nnz, &nd_flops);
    if (status == LIBSOLVER_OK && ordering_predicted_seconds(nd_nnz, nd_flops) < seconds) {
        memcpy(perm, other, sizeof(int32_t) * (size_t)c->a->n);
        *used = LIBSOLVER_ORDERING_ND;
    }
    memory_free(c->m, other);
    return status;
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

/* The graph g of a, with the pairs of a matching if magnitude is given; choice_free in every case. */
static libsolver_status choice_begin(choice *c, environment *env, const pattern *a, const graph *g,
                                     const double *magnitude, libsolver_ordering method)
{
    *c = (choice){.env = env, .m = &env->memory, .a = a, .g = g, .paired = magnitude != NULL};
    c->compressed.n = -1;
    c->class_of = memory_new(c->m, a->n, sizeof(int32_t));
    if (!c->class_of)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (c->paired)
        return merge_pairs(c, magnitude);
    if (method == LIBSOLVER_ORDERING_AMD) /* it finds indistinguishable vertices itself */
        return LIBSOLVER_OK;
    return graph_compress(c->m, g, &c->compressed, c->class_of);
}

static void choice_free(choice *c)
{
    if (c->m && c->compressed.n >= 0)
        graph_free(c->m, &c->compressed);
    if (c->m) {
        memory_free(c->m, c->class_of);
        memory_free(c->m, c->amd);
    }
}

/* By the method the options ask for. */
static libsolver_status order_choice(choice *c, libsolver_ordering method, int32_t *perm,
                                     libsolver_ordering *used, message *why)
{
    libsolver_status status = LIBSOLVER_OK;
    *used = method;
    if (method == LIBSOLVER_ORDERING_AUTO)
        status = order_auto(c, perm, used);
    else if (method == LIBSOLVER_ORDERING_AMD && c->amd)
        memcpy(perm, c->amd, sizeof(int32_t) * (size_t)c->a->n);
    else
        status = order(c, method, perm);
    if (status == LIBSOLVER_NOT_BUILT)
        FAIL(why, status, "this build has no METIS, or its integers cannot count this graph's edges");
    if (status == LIBSOLVER_CANCELLED)
        FAIL(why, status, "the analysis was cancelled");
    return status;
}

libsolver_status choose_ordering(environment *env, const pattern *a, const double *magnitude,
                                 const libsolver_options *options, int32_t *perm, libsolver_ordering *used,
                                 message *why)
{
    memory *m = &env->memory;
    const libsolver_ordering method = *used = options->ordering;
    if (method == LIBSOLVER_ORDERING_USER)
        return order_user(m, a->n, options->permutation, perm, why);
    if (method == LIBSOLVER_ORDERING_NATURAL) {
        for (int32_t k = 0; k < a->n; k++)
            perm[k] = k;
        return LIBSOLVER_OK;
    }
    choice first = {.m = NULL}, plain = {.m = NULL}, *chosen = &first;
    graph g;
    TRY(graph_build(m, a, &g));
    libsolver_status status = LIBSOLVER_OK;
    TRY_DONE(choice_begin(&first, env, a, &g, magnitude, method));
    if (magnitude && options->matching == LIBSOLVER_AUTO) { /* do pairs cost too much? */
        TRY_DONE(choice_begin(&plain, env, a, &g, NULL, method));
        TRY_DONE(find_amd(&first));
        TRY_DONE(find_amd(&plain));
        chosen = first.amd_flops > PAIRS_WORTH * plain.amd_flops ? &plain : &first;
    }
    TRY_DONE(order_choice(chosen, method, perm, used, why));
done:
    choice_free(&first);
    choice_free(&plain);
    graph_free(m, &g);
    return status;
}
