/* gpu/plan/plan.h: the program of a solve, made from the groups of a factor; no values
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PLAN_PLAN_H
#define GPU_PLAN_PLAN_H

#include "base/environment.h"
#include "base/buffer.h"
#include "gpu/tree/groups.h"
#include "gpu/plan/program.h"

/* Entries rows [row, row + rows) x columns [column, column + columns) of [M; W], or of a root's G,
 * of a group, at byte 16 at16 of the values.  Rows of M stand in the order z_row; above its
 * diagonal are zeros.  BY_COLUMNS: by columns with leading dimension ld; BY_ROWS: by rows, the
 * same; IN_SQUARE: see square_at, filled up with zeros.  A group that is stored twice has first the
 * tiles of the forward sweep, BY_ROWS, then those of the backward one, BY_COLUMNS. */
enum { BY_COLUMNS, BY_ROWS, IN_SQUARE };
typedef struct plan_tile {
    uint32_t at16;
    int32_t group, row, rows, column, columns, ld, kind;
} plan_tile;

/* Tasks that one block works through in order, as they pass sums on.  Units of one level are
 * independent. */
typedef struct plan_unit {
    int32_t level, order;
    libsolver_task_kind kind;
    task_list list;
    int64_t cost;
} plan_unit;

/* What a traced solve says of a task. */
typedef struct plan_label {
    int32_t level; /* the unit's */
    libsolver_task_kind kind;
    int32_t block;
    uint32_t bytes;
} plan_label;

typedef struct solve_plan {
    int64_t scalar_bytes;
    int32_t blocks;       /* that the tasks are laid out for */
    int32_t packets;      /* the first n are x by position */
    int64_t value_bytes;  /* tiles and D^-1, before the descriptions in the program's memory */
    int64_t *pivots_at16; /* groups: D^-1 of its rows z in the values, -1: none */
    int32_t *z_row; /* n, by columns of the groups: which of its columns is z number ...: the two of
                       a 2x2 pivot stand at an even number and the next */
    int32_t tile_count, unit_count, copy_count, task_count, level_count;
    plan_tile *tile;
    plan_unit *unit; /* ascending by level */
    task_copy *copy; /* by units */
    char *description;
    int64_t description_bytes;
    task_list *block;      /* blocks: what each does ... */
    task_copy *block_copy; /* ... in the order in which it does it */
    plan_label *label;     /* tasks, by blocks */
    int64_t bytes_read;    /* of values and descriptions, by one solve */
} solve_plan;

/* Bytes between the D^-1 of two columns: D^-1(c,c) and D^-1(c, neighbour), aligned for copies. */
static inline int64_t plan_pivot_bytes(int64_t scalar_bytes)
{
    return 2 * scalar_bytes > 16 ? 2 * scalar_bytes : 16;
}

/* Bytes of a tile with its padding. */
static inline int64_t plan_tile_bytes(const plan_tile *t, int64_t scalar_bytes)
{
    const int64_t entries = t->kind == IN_SQUARE
                                ? SQUARE * SQUARE
                                : (int64_t)t->ld * (t->kind == BY_ROWS ? t->rows : t->columns);
    return round_up(entries * scalar_bytes, 16);
}

/* What programs are made by beside the limits of a task; plan_tuned: for an
 * H200.  `bench/tune_tree_solve.py` compares other values. */
typedef struct plan_tuning {
    int64_t task_cost;      /* of a task beside its bytes, in bytes: its waits and barriers */
    int32_t most_parts;     /* of a strip of a large group, at most 8, which the tasks that read the
                               strip add up */
    int32_t direct_sources; /* of an entry of f on average, that every task which reads f adds up;
                               more are summed once and published */
    int32_t sum_outs; /* most sums of one task, at most TASK_OUTS: so that many blocks share them */
    int32_t twice; /* whether groups of middle size are stored once for each sweep, so that no sum
                      of theirs is in parts */
    int64_t strip_bytes; /* large groups are stored twice too where a block reads at most this much
                            of their height */
} plan_tuning;

extern const plan_tuning plan_tuned;

/* joined(c): positions c and c + 1 are a 2x2 pivot; NULL: none are.  tuning: NULL for
 * plan_tuned.  By the environment's threads; the same program for any number of
 * them.  OUT_OF_MEMORY, INTERNAL: some number does not fit its field. */
libsolver_status plan_build(environment *env, const factor_tree *tree, const groups *g,
                            const unsigned char *joined, int32_t blocks, const plan_tuning *tuning,
                            solve_plan *plan, message *why);
/* Frees what only a solve reads: units, copies, descriptions and blocks. */
void plan_trim(memory *m, solve_plan *plan);
void plan_free(memory *m, solve_plan *plan);

/* gpu/plan/assign.c: fills block and block_copy from the units. */
libsolver_status plan_assign(memory *m, solve_plan *plan, int threads);

#endif
