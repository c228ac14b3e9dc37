/* solver/order/order_pairs.c: whether rows that a matching pairs are eliminated together
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A row with nothing on the diagonal waits for another to share a 2x2 pivot with.  Pairs that are
 * eliminated together spare it that, at the price of fill.  [Duff, Pralet 2005] */
#include "solver/order/order_pairs.h"
#include "solver/order/delays.h"

/* Pairs are left when they multiply the time predicted of AMD's order, and of what its delayed
 * pivots will cost, by more than this.  Of shared matrices, predicted and measured (one thread of
 * an AMD EPYC 7003, a factorization with ten solves, both by AMD): stokes64 2.6 and 2.3,
 * kkt_cvxqp1_l 2.0 and 1.5, tuma2 1.9 and 1.4, kkt_aug2d 1.6 and 1.3, kkt_3d27 1.3 and 1.0,
 * fe_4elt2 1.2 and 1.2, ncvxqp1 1.1 and 0.4, kkt_mosarqp1 1.0 and 0.7, kkt_para 0.3 and 0.3. */
#define PAIRS_WORTH 1.5

/* Of all rows, the part with a zero on the diagonal up to which no pairs are looked for, and that
 * from which on they are looked for before it is known whether rows will wait. */
#define FEW_ZEROS 0.01
#define MANY_ZEROS 0.25

/* Pairs are looked for if delayed pivots multiply the time predicted of AMD's order by more. */
#define DELAYS_MATTER 1.05

/* Least pivot of the diagonal as a part of the largest entry, when the matrix is scaled by the
 * matching: the threshold of pivoting, 0.01, as a power of two. */
#define PIVOT_LEVEL (-6.65)

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
        c->may_scale = matching_is_mild(a->n, scale);
        const int32_t classes = matching_pairs(*matched, c->class_of);
        status = graph_merge(c->m, c->g, c->class_of, classes, &c->compressed);
    }
    memory_free(c->m, scale);
    return status;
}

/* Compresses g, the graph of r->a: alike vertices to one, or, matched not NULL, the pairs of a
 * matching that is found there.  choice_free in every case. */
static libsolver_status choice_begin(choice *c, const order_request *r, const graph *g,
                                     matching **matched)
{
    *c = (choice){
        .env = r->env, .m = &r->env->memory, .costs = r->costs, .g = g, .paired = matched != NULL};
    c->compressed.n = -1;
    c->for_many_solves = r->options->backend == LIBSOLVER_BACKEND_GPU ||
                         r->options->purpose == LIBSOLVER_PURPOSE_LATENCY;
    c->class_of = memory_new(c->m, r->a->n, sizeof(int32_t));
    if (!c->class_of)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (c->paired)
        return merge_pairs(c, r->a, r->magnitude, matched);
    return graph_compress(c->m, c->env->threads, g, &c->compressed, c->class_of);
}

static void forget_delays(choice *c)
{
    memory_free(c->m, c->has_pivot);
    c->has_pivot = NULL;
}

void choice_free(choice *c)
{
    if (c->m && c->compressed.n >= 0)
        graph_free(c->m, &c->compressed);
    if (c->m) {
        memory_free(c->m, c->class_of);
        forget_delays(c);
        elimination_free(c->m, &c->amd.e);
    }
}

/* Of fronts of one row each. */
static double seconds_of_rows(const choice *c)
{
    return c->g->n * (c->costs->row + c->costs->ten_solves(1, 1, 0));
}

/* has_pivot: which rows have an entry on the diagonal. */
static void find_nonzero(const order_request *r, unsigned char *has_pivot)
{
    for (int32_t j = 0; j < r->a->n; j++)
        has_pivot[j] = r->magnitude[r->a->start[j]] > 0;
}

/* Adds what rows that wait for a pivot will cost to the seconds of plain's AMD order. */
static libsolver_status count_delays(const order_request *r, choice *plain)
{
    plain->has_pivot = memory_new(plain->m, r->a->n, 1);
    if (!plain->has_pivot)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (plain->matched)
        matching_diagonal(plain->matched, PIVOT_LEVEL, plain->has_pivot);
    else
        find_nonzero(r, plain->has_pivot);
    return candidate_delay_amd(plain);
}

/* When it is known how long rows of plain will wait.  Pairs spare them that if the matching that
 * has made them scales the matrix too. */
static libsolver_status choose_one(choice *pairs, choice *plain, choice **chosen,
                                   order_result *result)
{
    result->scales = pairs->may_scale && pairs->amd.seconds <= PAIRS_WORTH * plain->amd.seconds;
    *chosen = result->scales ? pairs : plain;
    return LIBSOLVER_OK;
}

/* Where many rows have a zero on the diagonal.  The order without pairs is not looked for where
 * the other is so good that none could be much better, as rows alone take most of its time. */
static libsolver_status pairs_first(const order_request *r, const graph *g, choice *pairs,
                                    choice *plain, choice **chosen, order_result *result)
{
    *chosen = pairs;
    TRY(choice_begin(pairs, r, g, &result->matched));
    TRY(candidate_find_amd(pairs));
    if (pairs->amd.seconds <= PAIRS_WORTH * seconds_of_rows(pairs))
        return LIBSOLVER_OK;
    TRY(choice_begin(plain, r, g, NULL));
    plain->matched = result->matched;
    TRY(candidate_find_amd(plain));
    if (pairs->amd.seconds <= PAIRS_WORTH * plain->amd.seconds)
        return LIBSOLVER_OK;
    if (pairs->may_scale && result->matched->size == g->n)
        TRY(count_delays(r, plain));
    return choose_one(pairs, plain, chosen, result);
}

/* Where few have.  Pairs are looked for if these rows will wait so long that it matters. */
static libsolver_status plain_first(const order_request *r, const graph *g, choice *pairs,
                                    choice *plain, choice **chosen, order_result *result)
{
    *chosen = plain;
    TRY(choice_begin(plain, r, g, NULL));
    TRY(candidate_find_amd(plain));
    const double seconds = plain->amd.seconds;
    TRY(count_delays(r, plain));
    if (plain->amd.seconds <= DELAYS_MATTER * seconds) {
        forget_delays(plain);
        plain->amd.seconds = seconds;
        return LIBSOLVER_OK;
    }
    TRY(choice_begin(pairs, r, g, &result->matched));
    if (result->matched->size < g->n)
        return LIBSOLVER_OK;
    TRY(candidate_find_amd(pairs));
    return choose_one(pairs, plain, chosen, result);
}

static int32_t count_zeros(const order_request *r)
{
    int32_t zeros = 0;
    for (int32_t j = 0; j < r->a->n; j++)
        zeros += r->magnitude[r->a->start[j]] == 0;
    return zeros;
}

libsolver_status choose_pairs(const order_request *r, const graph *g, choice *pairs, choice *plain,
                              choice **chosen, order_result *result)
{
    const int32_t zeros = r->magnitude ? count_zeros(r) : 0;
    *chosen = plain;
    if (r->magnitude && r->options->matching == LIBSOLVER_ON) {
        *chosen = pairs;
        return choice_begin(pairs, r, g, &result->matched);
    }
    if (!r->magnitude || zeros <= FEW_ZEROS * g->n)
        return choice_begin(plain, r, g, NULL);
    return (zeros > MANY_ZEROS * g->n ? pairs_first : plain_first)(r, g, pairs, plain, chosen,
                                                                   result);
}

/* The seconds of e, an elimination of r->a, without rows that wait and with them. */
static libsolver_status compare_seconds(const order_request *r, const elimination_tree *e,
                                        unsigned char *has_pivot, double seconds[2])
{
    memory *m = &r->env->memory;
    const int threads = r->env->threads;
    const backend_costs *c = r->costs;
    waiting_rows waiting = {NULL, NULL, 0};
    graph g;
    TRY(graph_build(m, threads, r->a, &g));
    find_nonzero(r, has_pivot);
    libsolver_status status = delays_find(m, &g, has_pivot, NULL, e, &waiting);
    for (int k = 0; k < 2 && status == LIBSOLVER_OK; k++)
        status = elimination_seconds(m, threads, e, c->front, c->ten_solves, c->column,
                                     k == 1 ? &waiting : NULL, &seconds[k]);
    memory_free(m, waiting.from);
    graph_free(m, &g);
    return status;
}

libsolver_status order_lacks_pairs(const order_request *r, const forest *f, int *lacks)
{
    memory *m = &r->env->memory;
    const int32_t zeros = count_zeros(r);
    *lacks = r->options->matching == LIBSOLVER_ON || zeros > MANY_ZEROS * f->n;
    if (*lacks || zeros <= FEW_ZEROS * f->n)
        return LIBSOLVER_OK;
    elimination_tree e = {.n = f->n,
                          .perm = f->perm,
                          .parent = f->parent,
                          .count = f->count,
                          .s = {.number = f->supernodes,
                                .of = memory_new(m, f->n, sizeof(int32_t)),
                                .first = f->first,
                                .above = f->above,
                                .size = memory_new(m, f->supernodes, sizeof(front_size))}};
    unsigned char *has_pivot = memory_new(m, f->n, 1);
    const double rows = r->costs->row * f->n;
    double seconds[2];
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (e.s.of && e.s.size && has_pivot) {
        for (int32_t s = 0; s < f->supernodes; s++) {
            e.s.size[s] = (front_size){f->first[s + 1] - f->first[s], f->rows[s]};
            for (int32_t j = f->first[s]; j < f->first[s + 1]; j++)
                e.s.of[j] = s;
        }
        status = compare_seconds(r, &e, has_pivot, seconds);
    }
    if (status == LIBSOLVER_OK)
        *lacks = seconds[1] + rows > DELAYS_MATTER * (seconds[0] + rows);
    memory_free(m, e.s.of);
    memory_free(m, e.s.size);
    memory_free(m, has_pivot);
    return status;
}
