/* gpu/factor/program.h: a Cholesky factorization on a device as a list of tasks, from the pattern
 * alone
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The fronts are those of the CPU's plan, so that each panel of L can be compared with, and go to,
 * the CPU's.  Small fronts are factorized in shared memory, tiny ones by a warp, others by a block;
 * a warp or a block has a run of them, children before parents.  Larger fronts are cut into tiles:
 * row block b < nb holds up to 64 pivots, the blocks behind them up to 64 of the rows below.
 *
 *          nb     blocks below
 *        +----+
 *        | \  |                     panel: columns of L, written once
 *        |----+-------+
 *        |    | \     |             contribution block: lower triangle, by columns, leading
 *        |    |   \   |             dimension m - k, in the arena
 *        +----+-------+
 *
 * One launch carries out a program: blocks of threads draw tasks in their order, wait for the words
 * that say that what a task reads is there (waits.h), and tell others by words.  The order is one
 * in which every task comes behind those that it waits for, so that any number of blocks gets
 * through. Tasks also have levels: those of one level do not depend on one another, and a launch
 * for each level carries out a program too.  A task's arithmetic does not depend on who carries it
 * out, nor on the number of threads that made the program.
 *
 * Rows of a Schur complement S = A22 - A21 A11^-1 A12 are the last of the last front, which may
 * have no pivots; its contribution block is S - A22.
 *
 * Contributions are pulled: whoever begins a tile adds what every child has for it, child after
 * child.  Nothing is added by atomics, so that results are the same on every run.  Children of
 * fronts that have very many are summed in groups first, fronts of their own (groups.h). */
#ifndef GPU_FACTOR_PROGRAM_H
#define GPU_FACTOR_PROGRAM_H

#include "base/factor_pattern.h"
#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FACTOR_TILE = 64,      /* most rows of a row block */
    FACTOR_TINY_ROWS = 32, /* most rows of a front that a warp factorizes */
    FACTOR_WARPS = 8,      /* most warps of a task that do so */
    FACTOR_NEIGHBOURS = 16 /* tiles of a contribution block are formed so many by so many */
};

/* Most rows of a front that is factorized in shared memory. */
static inline int factor_small_rows(libsolver_type type)
{
    return type == LIBSOLVER_Z ? 80 : 112;
}

typedef struct factor_front {
    int64_t panel;           /* scalars before its panel, m x k by columns; even */
    int64_t block;           /* scalars before its contribution block in the arena */
    int64_t entry;           /* of a small front: its first entry of A */
    int64_t rows;            /* of the fronts before it; of one of the pattern */
    int32_t m, k, ld;        /* ld: of the panel; of a tiled front it is even, so that two rows of
                                eight bytes each can be copied at a time */
    int32_t first;           /* row of P A P^T of the first pivot */
    int32_t child, children; /* in `child` */
    int32_t entries;         /* of a small front */
    int32_t outside;         /* of a small front: children that are not of its run */
    int32_t tiles;           /* of a tiled front: first of its tiles in tile_end */
    int32_t inverse;         /* of a tiled front: inverses of diagonal blocks before its own */
} factor_front;

/* What a front pulls from a child: entry (i, j) of the contribution block, r x r, goes to the row
 * position[position + i] and the column position[position + j] of the front. */
typedef struct factor_child {
    int64_t block, position;
    int32_t word; /* that is `tells` once its block is there; -1: of the parent's run */
    uint32_t tells;
    int32_t r;
    int32_t begin; /* of tiled fronts: begin[begin + b] is the first of the r rows that goes to row
                      block b or behind it, b = 0 .. row blocks */
} factor_child;

/* Where the value of an entry of A comes from: numbers of entries in the order that A was analysed
 * in. */
typedef struct factor_source {
    uint32_t value;       /* number << 1, | 1: the conjugate of that one, of Hermitian matrices */
    uint32_t row, column; /* the diagonal entries of its row and column */
} factor_source;

/* Where an entry of A goes in its front or tile. */
typedef struct factor_entry {
    uint16_t row, column;
} factor_entry;

/* An entry of A22, at or below its diagonal. */
typedef struct factor_schur_entry {
    uint32_t value; /* see factor_source */
    int32_t row, column;
} factor_schur_entry;

/* Fronts [first, end), the first of which are leaves: see factor_is_leaf.  group: all are, and the
 * only children of this one, which the same warp makes; -1: there is none. */
typedef struct factor_range {
    int32_t first, end, leaves, group;
} factor_range;

typedef enum factor_kind {
    FACTOR_TINY,     /* ranges [i, i + j) of fronts, a warp for each, a lane for each leaf */
    FACTOR_SMALL,    /* fronts [i, j), one after the other; [from, to): children of the first */
    FACTOR_ASSEMBLE, /* tile (i, j) of the panel, j > 0, := A and what the children have */
    FACTOR_PIVOT,    /* diagonal block i: first, if i > 0, what FACTOR_ROWS does to tile (i, i-1);
                        then the product of panel i-1 is subtracted, then Cholesky and inverse */
    FACTOR_ROWS,     /* tile (i, j) of the panel: minus the product of panel j-1, times the inverse
                        of diagonal block j, conjugate transposed; i = j+2 < pivot blocks: then
                        the products of panels j-1 and j are subtracted from diagonal block i.
                        Tiles of panel 0 are assembled by the task that first wants them. */
    FACTOR_UPDATE,   /* tile (i, j) of the panel -= product of panels [from, to) */
    FACTOR_CONTRIBUTION,     /* tile (i, j) of the contribution block := what the children have -
                                product     of all panels */
    FACTOR_DIVIDE,           /* with signs, when the front is done with: row block i of L gets a
                                unit diagonal, D its pivots */
    FACTOR_TALL_UPDATE,      /* FACTOR_UPDATE of tiles (i, j) and (i + 1, j), i > j, ... */
    FACTOR_TALL_CONTRIBUTION /* ... FACTOR_CONTRIBUTION: one product of 128 x 64 */
} factor_kind;

/* How the time that all tasks take on all multiprocessors compares with the longest way of tasks
 * that wait for one another. */
typedef enum factor_crowd {
    FACTOR_SPARSE, /* far less: few blocks have something to do */
    FACTOR_MIXED,
    FACTOR_DENSE /* far more: there is always a task that waits for none */
} factor_crowd;

/* Product of panels: rows of block i times those of block j, conjugate transposed. */
typedef struct factor_task {
    int32_t kind, front, i, j, from, to;
} factor_task;

typedef struct factor_program {
    int32_t n, nodes, levels;
    int32_t schur_size; /* the last rows of P A P^T, which are not eliminated */
    int32_t fronts;     /* the pattern's nodes, then groups, see groups.h: without pivots, and of at
                           most small_rows */
    int32_t tiled;      /* fronts in tiles */
    int64_t tasks, ranges, children, begins, tiles, entries;
    int64_t schur_entries; /* the last of `entries`: of A22, scaled like others but not read */
    int64_t words;         /* see waits.h */
    int has_signs;         /* L D L^T */
    int hermitian;         /* the pattern's */
    factor_crowd crowd;
    int is_idle_at_end; /* tasks take so much less than the longest way that many blocks have none
                           while the last columns are made */
    int64_t inverses;   /* diagonal blocks of tiled fronts, each FACTOR_TILE x FACTOR_TILE */
    int64_t panel_scalars, arena_scalars;
    factor_front *front; /* fronts */
    factor_child *child;
    const int32_t *position; /* positions: see factor_child; the pattern's, or ... */
    int32_t *own_position;   /* ... the program's, NULL: it has none */
    int64_t positions;
    int32_t *begin;
    int64_t *tile_end;     /* tiles: entry behind those of each tile of a panel; the first tile of a
                              front begins with the front's */
    factor_entry *entry;   /* front by front, of tiled fronts tile by tile */
    factor_source *source; /* entries */
    factor_schur_entry *schur; /* schur_entries */
    int32_t *diagonal; /* n: the diagonal entry of each row of P A P^T, in the order that A was
                          analysed in */
    factor_range *range;
    factor_task *task;    /* in the order in which they are drawn */
    int32_t *by_level;    /* tasks: their numbers level by level, ... */
    int64_t *level_start; /* ... levels + 1: where each begins */
} factor_program;

#ifdef __cplusplus
#define FACTOR_INLINE constexpr static inline /* so that device code may call it */
#else
#define FACTOR_INLINE static inline
#endif
FACTOR_INLINE int factor_is_tall(const factor_task *t)
{
    return t->kind == FACTOR_TALL_UPDATE || t->kind == FACTOR_TALL_CONTRIBUTION;
}
FACTOR_INLINE int factor_is_contribution(const factor_task *t)
{
    return t->kind == FACTOR_CONTRIBUTION || t->kind == FACTOR_TALL_CONTRIBUTION;
}
/* Whether front s is in tiles. */
FACTOR_INLINE int factor_is_tiled(const factor_program *g, int32_t s)
{
    return (s + 1 < g->fronts ? g->front[s + 1].tiles : g->tiles) > g->front[s].tiles;
}
/* A front of one column to which A has all entries, which are in the order of its rows: a thread
 * can have it.  Wide trees have very many, children of one front. */
FACTOR_INLINE int factor_is_leaf(const factor_front *f)
{
    return f->k == 1 && f->children == 0 && f->entries == f->m && f->m <= FACTOR_TINY_ROWS;
}
/* The kind of what a task does to each of its tiles. */
FACTOR_INLINE factor_kind factor_kind_of(const factor_task *t)
{
    return t->kind == FACTOR_TALL_UPDATE         ? FACTOR_UPDATE
           : t->kind == FACTOR_TALL_CONTRIBUTION ? FACTOR_CONTRIBUTION
                                                 : (factor_kind)t->kind;
}
FACTOR_INLINE int32_t factor_pivot_blocks(const factor_front *f)
{
    return (f->k + FACTOR_TILE - 1) / FACTOR_TILE;
}
FACTOR_INLINE int32_t factor_row_blocks(const factor_front *f)
{
    return factor_pivot_blocks(f) + (f->m - f->k + FACTOR_TILE - 1) / FACTOR_TILE;
}
/* First row of row block b, and, for b = row blocks, m. */
FACTOR_INLINE int32_t factor_block_row(const factor_front *f, int32_t b)
{
    const int32_t nb = factor_pivot_blocks(f),
                  from = b < nb ? b * FACTOR_TILE : f->k + (b - nb) * FACTOR_TILE;
    return from < f->m ? from : f->m;
}
/* Entries of tile `number` of a front begin here. */
FACTOR_INLINE int64_t factor_tile_begin(const factor_front *f, const int64_t *tile_end,
                                        int32_t number)
{
    return number == 0 ? f->entry : tile_end[f->tiles + number - 1];
}
/* Number of tile (i, j), j < pivot blocks, among those of the panel. */
FACTOR_INLINE int32_t factor_tile_number(const factor_front *f, int32_t i, int32_t j)
{
    return j * factor_row_blocks(f) - j * (j - 1) / 2 + i - j;
}

#undef FACTOR_INLINE

#ifdef __cplusplus
}
#endif
#endif
