/* ordering/metis.c: nested dissection by METIS, fenced  [Karypis, Kumar, SIAM J. Sci. Comput. 20
 * (1998)]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * METIS 5.1 draws from rand() after reseeding it, keeps process-wide state and puts its own
 * handlers on SIGABRT and SIGTERM while it runs.  Here one call runs at a time, on a random state
 * of its own (rand() draws from the state that initstate() sets, as in glibc), and what the host
 * had is put back.  What cannot be fenced: another thread that calls rand() meanwhile draws from
 * METIS's state and changes the permutation; a SIGTERM meanwhile is taken by METIS, which gives up;
 * memory comes from malloc, and METIS prints to stderr when it gets none. */
#define _XOPEN_SOURCE 700 /* initstate, setstate */
#include "ordering/ordering.h"
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define SEED 4321

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int fenced_metis(idx_t n, idx_t *start, idx_t *neighbor, idx_t *weight, idx_t *perm,
                        idx_t *rank)
{
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_NUMBERING] = 0;

    char state[128]; /* as long as glibc's default state, so that the generator is the usual one */
    struct sigaction on_abort, on_terminate;
    pthread_mutex_lock(&one_at_a_time);
    sigaction(SIGABRT, NULL, &on_abort);
    sigaction(SIGTERM, NULL, &on_terminate);
    char *host_state = initstate(SEED, state, sizeof state);
    const int answer = METIS_NodeND(&n, start, neighbor, weight, options, perm, rank);
    setstate(host_state);
    sigaction(SIGTERM, &on_terminate, NULL);
    sigaction(SIGABRT, &on_abort, NULL);
    pthread_mutex_unlock(&one_at_a_time);
    return answer;
}

libsolver_status order_metis(memory *m, const graph *g, int32_t *perm)
{
    const int64_t n = g->n, nnz = g->start[n];
    if (nnz == 0) { /* METIS refuses n = 0 and prints; without edges any order will do */
        for (int32_t k = 0; k < n; k++)
            perm[k] = k;
        return LIBSOLVER_OK;
    }
#if IDXTYPEWIDTH == 32
    if (nnz > INT32_MAX)
        return LIBSOLVER_NOT_BUILT;
#endif
    idx_t *work = memory_new(m, nnz + 4 * n + 1, sizeof(idx_t));
    if (!work)
        return LIBSOLVER_OUT_OF_MEMORY;
    idx_t *neighbor = work, *start = work + nnz, *order = start + n + 1, *rank = order + n,
          *weight = rank + n;
    for (int64_t p = 0; p < nnz; p++)
        neighbor[p] = g->neighbor[p];
    for (int64_t v = 0; v <= n; v++)
        start[v] = (idx_t)g->start[v];
    for (int64_t v = 0; v < n; v++)
        weight[v] = g->weight ? g->weight[v] : 1;
    const int answer =
        fenced_metis((idx_t)n, start, neighbor, g->weight ? weight : NULL, order, rank);
    for (int64_t k = 0; k < n && answer == METIS_OK; k++)
        perm[k] = (int32_t)order[k]; /* row k of P A P^T is row order(k) of A */
    memory_free(m, work);
    return answer == METIS_OK             ? LIBSOLVER_OK
           : answer == METIS_ERROR_MEMORY ? LIBSOLVER_OUT_OF_MEMORY
                                          : LIBSOLVER_INTERNAL;
}
