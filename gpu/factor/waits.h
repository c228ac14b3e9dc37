/* gpu/factor/waits.h: what the tasks of a factorization wait for and tell, by words that are zero
 * before it
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Word w < tiles is of tile w of the panels: 1 when it is assembled, 1 + q when the products of q
 * panels are subtracted, FACTOR_FINISHED when it is a tile of L; of a diagonal block when its
 * inverse is there, and FACTOR_STORED when the block is.  Tasks that change a tile wait for
 * one another, so that its products are always subtracted in the same order.
 * Word tiles + s is of front s: the number of tiles of its contribution block that are there, then
 * with signs of row blocks of L that are divided too, or, of the first front of a run, 1 when all
 * of the run is. Behind them are, in one launch, the number of its blocks that have ended, and 1
 * when all have. */
#ifndef GPU_FACTOR_WAITS_H
#define GPU_FACTOR_WAITS_H

#include "gpu/factor/program.h"

#ifdef __cplusplus
#define FACTOR_INLINE constexpr static inline /* so that device code may call it */
#else
#define FACTOR_INLINE static inline
#endif

enum {
    FACTOR_EARLY = 5, /* most words of tiles that a task waits for before it begins; ... */
    FACTOR_WAITS = 7, /* ... the others are of those for which it waits later */
    FACTOR_TELLS = 3,
    FACTOR_FINISHED = 1 << 30,
    FACTOR_STORED,
    FACTOR_END_WORDS = 2
};

/* Until the word is at least that; word -1: for nothing. */
typedef struct factor_wait {
    int32_t word;
    uint32_t least;
} factor_wait;

FACTOR_INLINE int32_t factor_tile_word(const factor_front *f, int32_t i, int32_t j)
{
    return f->tiles + factor_tile_number(f, i, j);
}
FACTOR_INLINE factor_wait factor_wait_for(const factor_front *f, int32_t i, int32_t j,
                                          int32_t panels)
{
    factor_wait w = {factor_tile_word(f, i, j), 1 + (uint32_t)(panels > 0 ? panels : 0)};
    return w;
}
FACTOR_INLINE factor_wait factor_wait_finished(const factor_front *f, int32_t i, int32_t j)
{
    factor_wait w = {factor_tile_word(f, i, j), FACTOR_FINISHED};
    return w;
}

FACTOR_INLINE factor_wait factor_wait_stored(const factor_front *f, int32_t i)
{
    factor_wait w = {factor_tile_word(f, i, i), FACTOR_STORED};
    return w;
}

/* Whether FACTOR_ROWS of tile (i, j) also changes diagonal block i. */
FACTOR_INLINE int factor_rows_go_on(const factor_front *f, int32_t i, int32_t j)
{
    return i == j + 2 && i < factor_pivot_blocks(f);
}

/* The q-th of what a task on tiles waits for, 0 <= q < FACTOR_WAITS. */
FACTOR_INLINE factor_wait factor_wait_of(const factor_front *f, const factor_task *t, int32_t q)
{
    const int32_t i = t->i, j = t->j, last = factor_pivot_blocks(f) - 1;
    const factor_wait none = {-1, 0};
    switch (t->kind) {
    case FACTOR_PIVOT:
        return q == 0 && i > 0   ? factor_wait_for(f, i, i, i - 1)
               : q == 1 && i > 1 ? factor_wait_for(f, i, i - 1, i - 2)
               : q == 2 && i > 1 ? factor_wait_finished(f, i, i - 2)
               : q == 3 && i > 1 ? factor_wait_finished(f, i - 1, i - 2)
               : q == 5 && i > 0 ? factor_wait_finished(f, i - 1, i - 1)
                                 : none;
    case FACTOR_ROWS:
        return q == 0 && j > 0                        ? factor_wait_for(f, i, j, j - 1)
               : q == 1 && j > 0                      ? factor_wait_finished(f, i, j - 1)
               : q == 2 && j > 0                      ? factor_wait_finished(f, j, j - 1)
               : q == 3 && factor_rows_go_on(f, i, j) ? factor_wait_for(f, i, i, j - 1)
               : q == 5                               ? factor_wait_finished(f, j, j)
                                                      : none;
    case FACTOR_UPDATE:
        return q == 0             ? factor_wait_for(f, i, j, t->from)
               : q == 1           ? factor_wait_finished(f, i, t->to - 1)
               : q == 2 && i != j ? factor_wait_finished(f, j, t->to - 1)
                                  : none;
    case FACTOR_CONTRIBUTION:
        return q == 0 && last > 0              ? factor_wait_finished(f, i, last - 1)
               : q == 1 && last > 0 && i != j  ? factor_wait_finished(f, j, last - 1)
               : q == 5 && last >= 0           ? factor_wait_finished(f, i, last)
               : q == 6 && last >= 0 && i != j ? factor_wait_finished(f, j, last)
                                               : none;
    case FACTOR_TALL_UPDATE:
        return q == 0   ? factor_wait_for(f, i, j, t->from)
               : q == 1 ? factor_wait_for(f, i + 1, j, t->from)
               : q == 2 ? factor_wait_finished(f, i, t->to - 1)
               : q == 3 ? factor_wait_finished(f, i + 1, t->to - 1)
               : q == 4 ? factor_wait_finished(f, j, t->to - 1)
                        : none;
    case FACTOR_TALL_CONTRIBUTION:
        return q <= 1             ? factor_wait_finished(f, i + q, last)
               : q == 2 && i != j ? factor_wait_finished(f, j, last)
                                  : none;
    case FACTOR_DIVIDE:
        return q == 0 && f->m == f->k ? factor_wait_stored(f, last) : none;
    default:
        return none;
    }
}

/* Whether a task waits for its front's contribution block: behind it nothing of L is read. */
FACTOR_INLINE int factor_waits_for_block(const factor_front *f, const factor_task *t)
{
    return t->kind == FACTOR_DIVIDE && f->m > f->k;
}

/* Whether a task on tiles waits for all children of its front: those that assemble a tile. */
FACTOR_INLINE int factor_is_gated(const factor_task *t)
{
    return t->kind == FACTOR_ASSEMBLE || factor_is_contribution(t) ||
           (t->kind == FACTOR_PIVOT && t->i <= 1) || (t->kind == FACTOR_ROWS && t->j == 0);
}

/* The word of a tile that a task raises, to a value: 0 <= q < FACTOR_TELLS, in that order; word -1:
 * none. */
FACTOR_INLINE factor_wait factor_tell_of(const factor_front *f, const factor_task *t, int32_t q)
{
    const int32_t i = t->i, j = t->j;
    const factor_wait none = {-1, 0};
    switch (t->kind) {
    case FACTOR_ASSEMBLE:
        return q == 0 ? factor_wait_for(f, i, j, 0) : none;
    case FACTOR_PIVOT:
        return q == 2   ? factor_wait_stored(f, i)
               : q == 1 ? factor_wait_finished(f, i, i)
               : i > 0  ? factor_wait_finished(f, i, i - 1)
                        : none;
    case FACTOR_ROWS:
        return q == 0                                 ? factor_wait_finished(f, i, j)
               : q == 1 && factor_rows_go_on(f, i, j) ? factor_wait_for(f, i, i, j + 1)
                                                      : none;
    case FACTOR_UPDATE:
        return q == 0 ? factor_wait_for(f, i, j, t->to) : none;
    case FACTOR_TALL_UPDATE:
        return q < 2 ? factor_wait_for(f, i + q, j, t->to) : none;
    default:
        return none;
    }
}

/* Tiles of its front's contribution block that a task tells at its end. */
FACTOR_INLINE int factor_contributed(const factor_task *t)
{
    return t->kind == FACTOR_CONTRIBUTION ? 1 : t->kind == FACTOR_TALL_CONTRIBUTION ? 2 : 0;
}

/* Tiles of a front's contribution block, at or below its diagonal. */
FACTOR_INLINE uint32_t factor_contributions(const factor_front *f)
{
    const uint32_t blocks = (uint32_t)(factor_row_blocks(f) - factor_pivot_blocks(f));
    return blocks * (blocks + 1) / 2;
}

#undef FACTOR_INLINE

#endif
