/* solver/order/candidate.c: an order by one method, with what it will cost
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/order/candidate.h"
#include "solver/matching/unmatched.h"
#include "solver/order/delays.h"

/* What many 2x2 pivots multiply the time of a factorization with ten solves by
 * (`bench_auto_ordering -m 1`, the shared matrices). */
#define PAIRED_FACTOR 1.3

/* Random numbers of nested dissection. */
#define ND_SEED 4321

/* Longest separator of a part that is worth dissecting to the end: such parts are long and thin,
 * and the columns of one path have to follow one another. */
#define THIN 16

int32_t candidate_thin(const choice *c)
{
    return c->costs->column > 0 ? THIN : 0;
}

static libsolver_status by_method(const choice *c, libsolver_ordering method, const nd_watch *watch,
                                  const graph *g, int32_t *perm)
{
    return method == LIBSOLVER_ORDERING_AMD     ? order_amd(c->m, g, perm)
           : method == LIBSOLVER_ORDERING_METIS ? order_metis(c->m, g, perm)
           : watch                              ? order_nd_watched(c->env, g, ND_SEED, watch, perm)
                   : order_nd(c->env, g, ND_SEED, candidate_thin(c), perm);
}

static int is_singular(const choice *c)
{
    return c->matched && c->matched->size < c->g->n;
}

/* Sets k->seconds, of its elimination. */
static libsolver_status predict(const choice *c, candidate *k)
{
    const int32_t *class_of = k->by_classes ? c->class_of : NULL;
    waiting_rows waiting = {NULL, NULL, 0};
    if (is_singular(c))
        TRY(unmatched_find(c->m, c->matched, class_of, &k->e, &waiting));
    else if (c->has_pivot)
        TRY(delays_find(c->m, c->g, c->has_pivot, class_of, &k->e, &waiting));
    const libsolver_status status =
        elimination_seconds(c->m, c->env->threads, &k->e, c->costs->front, c->costs->ten_solves,
                            c->costs->column, waiting.from ? &waiting : NULL, &k->seconds);
    k->seconds = (k->seconds + c->costs->row * c->g->n) * (c->paired ? PAIRED_FACTOR : 1);
    memory_free(c->m, waiting.from);
    return status;
}

libsolver_status candidate_delay_amd(choice *c)
{
    return predict(c, &c->amd);
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
        status = elimination_build(c->m, c->env->threads, g, rows ? rows : perm, &k->e);
    if (status == LIBSOLVER_OK)
        status = predict(c, k);
    if (status != LIBSOLVER_OK)
        elimination_free(c->m, &k->e);
    memory_free(c->m, perm);
    memory_free(c->m, rows);
    return status;
}

libsolver_status candidate_find_amd(choice *c)
{
    return c->amd.e.perm ? LIBSOLVER_OK : candidate_find(c, LIBSOLVER_ORDERING_AMD, NULL, &c->amd);
}
