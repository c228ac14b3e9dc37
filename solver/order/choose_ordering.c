/* solver/order/choose_ordering.c: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/order/choose_ordering.h"
#include "solver/order/candidate.h"
#include "solver/cpu/plan/plan.h"
#include "solver/matching/matching.h"
#include "solver/matching/unmatched.h"
#include <assert.h>
#include <string.h>

/* What many 2x2 pivots multiply the time of a factorization with ten solves by
 * (`bench_auto_ordering -m 1`, the shared matrices). */
#define PAIRED_FACTOR 1.3

/* Random numbers of nested dissection. */
#define ND_SEED 4321

/* Ordering the pairs of a matching together saves delayed pivots and costs fill.  It is left when
 * it multiplies the time predicted of AMD's order by more than this: of the shared KKT systems,
 * those above (kkt_aug2d 1.6, stokes64 3.0, ncvxqp1 3.0, kkt_cvxqp1_l 5.1) are factorized faster
 * with delays, those below (reorientation_1 1.3, kkt_laser 1.3, kkt_cont-201 1.46) with pairs, by
 * `libsolver bench`. */
#define PAIRS_WORTH 1.5

static libsolver_status by_method(const choice *c, libsolver_ordering method, const nd_watch *watch,
                                  const graph *g, int32_t *perm)
{
    return method == LIBSOLVER_ORDERING_AMD     ? order_amd(c->m, g, perm)
           : method == LIBSOLVER_ORDERING_METIS ? order_metis(c->m, g, perm)
           : watch                              ? order_nd_watched(c->env, g, ND_SEED, watch, perm)
                                                : order_nd(c->env, g, ND_SEED, perm);
}

/* k->seconds; g: the graph that its elimination is of. */
static libsolver_status predict(const choice *c, const graph *g, candidate *k)
{
    waiting_rows waiting = {NULL, NULL};
    const int is_singular = c->matched && c->matched->size < c->g->n;
    libsolver_status status = LIBSOLVER_OK;
    if (is_singular)
        status = unmatched_find(c->m, c->matched, g == c->g ? NULL : c->class_of, &k->e, &waiting);
    if (status == LIBSOLVER_OK)
        status = elimination_seconds(c->m, g, &k->e, cpu_front_seconds, cpu_ten_solves_seconds,
                                     is_singular ? &waiting : NULL, &k->seconds);
    k->seconds = (k->seconds + CPU_ROW_SECONDS * c->g->n) * (c->paired ? PAIRED_FACTOR : 1);
    memory_free(c->m, waiting.from);
    return status;
}

libsolver_status candidate_find(const choice *c, libsolver_ordering method, const nd_watch *watch,
                                candidate *k)
{
    const int compressed = c->compressed.n >= 0;
    const graph *g = choice_graph(c);
    *k = (candidate){.method = method, .by_classes = compressed && !c->paired};
    int32_t *perm = memory_new(c->m, g->n, sizeof(int32_t)), *rows = NULL;
    libsolver_status status = perm ? by_method(c, method, watch, g, perm) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK && compressed && c->paired) {
        rows = memory_new(c->m, c->g->n, sizeof(int32_t));
        status = rows ? order_expand(c->m, c->g->n, c->class_of, g->n, perm, rows)
                      : LIBSOLVER_OUT_OF_MEMORY;
        g = c->g;
    }
    if (status == LIBSOLVER_OK)
        status = elimination_build(c->m, g, rows ? rows : perm, &k->e);
    if (status == LIBSOLVER_OK)
        status = predict(c, g, k);
    if (status != LIBSOLVER_OK)
        elimination_free(c->m, &k->e);
    memory_free(c->m, perm);
    memory_free(c->m, rows);
    return status;
}

/* Compresses the pairs of a matching. */
static libsolver_status merge_pairs(choice *c, const pattern *a, const double *magnitude,
                                    matching **matched)
{
    TRY(matching_create(c->m, a, matched));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    double *scale = memory_new(c->m, a->n, sizeof(double));
    c->matched = *matched;
    if (scale) {
        matching_scale(*matched, magnitude, scale);
        const int32_t classes = matching_pairs(*matched, c->class_of);
        status = graph_merge(c->m, c->g, c->class_of, classes, &c->compressed);
    }
    memory_free(c->m, scale);
    return status;
}

libsolver_status candidate_find_amd(choice *c)
{
    return c->amd.e.perm ? LIBSOLVER_OK : candidate_find(c, LIBSOLVER_ORDERING_AMD, NULL, &c->amd);
}

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

/* The graph g of a, with the pairs of a matching if magnitude is given; choice_free in every
 * case. */
static libsolver_status choice_begin(choice *c, environment *env, const pattern *a, const graph *g,
                                     const double *magnitude, matching **matched)
{
    *c = (choice){.env = env, .m = &env->memory, .g = g, .paired = magnitude != NULL};
    c->compressed.n = -1;
    c->class_of = memory_new(c->m, a->n, sizeof(int32_t));
    if (!c->class_of)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (c->paired)
        return merge_pairs(c, a, magnitude, matched);
    return graph_compress(c->m, g, &c->compressed, c->class_of);
}

static void choice_free(choice *c)
{
    if (c->m && c->compressed.n >= 0)
        graph_free(c->m, &c->compressed);
    if (c->m) {
        memory_free(c->m, c->class_of);
        elimination_free(c->m, &c->amd.e);
    }
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
    if (perm && k->by_classes)
        TRY(order_expand(c->m, c->g->n, c->class_of, k->e.n, k->e.perm, perm));
    else if (perm)
        memcpy(perm, k->e.perm, sizeof(int32_t) * (size_t)k->e.n);
    if (!f)
        return LIBSOLVER_OK;
    return forest_of_elimination(c->m, k->by_classes ? &c->compressed : c->g, &k->e, c->g->n,
                                 k->by_classes ? c->class_of : NULL, f);
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

static libsolver_status find_order(environment *env, const pattern *a, const double *magnitude,
                                   const libsolver_options *options, int32_t *perm, forest *f,
                                   libsolver_ordering *used, double *seconds, matching **matched,
                                   message *why)
{
    memory *m = &env->memory;
    choice first = {.m = NULL}, plain = {.m = NULL}, *chosen = &first;
    candidate best = {.by_classes = 0};
    graph g;
    TRY(graph_build(m, a, &g));
    libsolver_status status = LIBSOLVER_OK;
    TRY_DONE(choice_begin(&first, env, a, &g, magnitude, matched));
    if (magnitude && options->matching == LIBSOLVER_AUTO) { /* do pairs cost too much? */
        TRY_DONE(choice_begin(&plain, env, a, &g, NULL, NULL));
        plain.matched = *matched;
        TRY_DONE(candidate_find_amd(&first));
        TRY_DONE(candidate_find_amd(&plain));
        chosen = first.amd.seconds > PAIRS_WORTH * plain.amd.seconds ? &plain : &first;
    }
    chosen->for_many_solves =
        options->backend == LIBSOLVER_BACKEND_GPU || options->purpose == LIBSOLVER_PURPOSE_LATENCY;
    TRY_DONE(order_choice(chosen, options->ordering, &best, why));
    *used = best.method;
    *seconds = best.seconds;
    TRY_DONE(unfold(chosen, &best, perm, f));
done:
    elimination_free(m, &best.e);
    choice_free(&first);
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
    *f = (forest){.n = n, .supernodes = n, .factor_nnz = n, .factor_flops = n, .levels = n > 0};
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

libsolver_status choose_ordering(environment *env, const pattern *a,
                                 const libsolver_options *options, int32_t *perm,
                                 libsolver_ordering *used, message *why)
{
    double seconds;
    *used = options->ordering;
    if (is_given(options->ordering))
        return order_given(&env->memory, a, options, perm, why);
    return find_order(env, a, NULL, options, perm, NULL, used, &seconds, NULL, why);
}

libsolver_status choose_forest(environment *env, const pattern *a, const double *magnitude,
                               const libsolver_options *options, forest *f,
                               libsolver_ordering *used, double *seconds, matching **matched,
                               message *why)
{
    *used = options->ordering;
    *seconds = 0;
    if (options->ordering == LIBSOLVER_ORDERING_AUTO && !magnitude && is_diagonal(a)) {
        *used = LIBSOLVER_ORDERING_NATURAL;
        return forest_of_diagonal(&env->memory, a->n, f);
    }
    if (!is_given(options->ordering))
        return find_order(env, a, magnitude, options, NULL, f, used, seconds, matched, why);
    int32_t *perm = memory_new(&env->memory, a->n, sizeof(int32_t));
    if (!perm)
        return LIBSOLVER_OUT_OF_MEMORY;
    libsolver_status status = order_given(&env->memory, a, options, perm, why);
    if (status == LIBSOLVER_OK)
        status = forest_build(&env->memory, a, perm, f);
    memory_free(&env->memory, perm);
    return status;
}
