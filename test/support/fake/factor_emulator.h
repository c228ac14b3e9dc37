/* test/support/fake/factor_emulator.h: a factorization that is carried out on the host, of each
 * precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_FAKE_FACTOR_EMULATOR_H
#define TEST_SUPPORT_FAKE_FACTOR_EMULATOR_H

#include "base/scalar.h"
#include "emulators.h"
#include "gpu/factor/columns.h"
#include "gpu/factor/groups.h"
#include "gpu/factor/waits.h"

/* Memory of the device that is looked after. */
typedef struct watched {
    scalar *v;
    int64_t size;
    int32_t *writer, *reader; /* tasks, -1: none */
    int32_t *owner;           /* fronts that wrote last; of the arena */
} watched;

typedef struct emulator {
    const emulated_factorization *f;
    const factor_program *g;
    scalar *values; /* of the scaled matrix, in the order of the program */
    real *diagonal; /* n: of the scaled matrix; with signs largest entries of its rows */
    watched panel, arena, inverse;
    int32_t *level;       /* of each task; NULL: not by levels */
    int32_t task, front;  /* at hand */
    uint32_t *word;       /* NULL: by levels */
    column_progress told; /* of NULL: by levels */
    uint64_t now;         /* of a clock that has long been running */
    cholesky_outcome outcome;
    const char *wrong;
} emulator;

static inline void complain(emulator *e, int condition, const char *what)
{
    if (condition && !e->wrong)
        e->wrong = what;
}

/* A = A^H, or real. */
static inline int is_hermitian(const emulator *e)
{
    return !SCALAR_COMPLEX || e->g->hermitian;
}

static inline int is_told(const emulator *e, int32_t front, int32_t column)
{
    const column_words w = e->told.of(e->told.user, front, column);
    for (int32_t q = 0; q < w.count; q++)
        if (e->word[w.first + q] < w.least - (q > 0))
            return 0;
    return 1;
}

/* factor_tmpl.c: a task on tiles or all runs of another; the q-th word that a task on tiles tells;
 * fronts [first, end) of a run, for which there is shared memory up to so many rows; the leaves of
 * a range with the group that sums them. */
void NAME(emulate_task)(emulator *e, const factor_task *task);
void NAME(emulate_tell)(emulator *e, const factor_front *f, const factor_task *task, int32_t q);
void NAME(emulate_fronts)(emulator *e, int32_t first, int32_t end, int32_t most_rows);
void NAME(emulate_group_of_leaves)(emulator *e, const factor_range *range);

#endif
