/* gpu/packed/prepare.h: from a factor to the program of its solve
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PACKED_PREPARE_H
#define GPU_PACKED_PREPARE_H

#include "gpu/invert/device_invert.h"
#include "gpu/invert/invert.h"
#include "gpu/tree/tree_shape.h"

typedef struct prepared_solve prepared_solve;

typedef struct prepare_options {
    int32_t blocks;                /* resident on the device */
    double step, bytes_per_second; /* of the device, 0: an H200's */
    double entries_factor;         /* most entries of all inverses, in entries of L; 0: no limit */
    double growth_limit;           /* 0: INVERSE_GROWTH_LIMIT */
    int64_t largest_group;         /* most columns of a group; 0: the default */
    int64_t solves; /* that are foreseen for a factor and share the time of forming its inverses; 0:
                       very many */
    int64_t largest_part; /* most columns of a part of a node; 0: by forecast, whole nodes for very
                             many solves */
    const plan_tuning *tuning; /* NULL: plan_tuned */
    int is_same_shape;         /* the tree has the shape of the last one that was prepared, which
                                  is not looked at then */
    /* Computes the values of the groups and program at hand elsewhere: fills at_hand->largest, and
     * at_hand->growths where that is past the limit.  at_hand->kept: groups and program are those
     * of the call before.  NULL: on the host. */
    libsolver_status (*invert)(void *user, prepared_solve *at_hand, double limit, message *why);
    void *invert_user;
} prepare_options;

struct prepared_solve {
    tree_shape shape; /* of the factor; joined: its 2x2 pivots */
    pieces cut;
    groups grouped;
    solve_plan plan;
    char *values;    /* plan.value_bytes, NULL: elsewhere */
    double *growths; /* groups: of their inverses; then of their G; only where one of them is past
                        the limit */
    largest_growth largest;
    int64_t factor_entries, entries; /* of L as stored in the tree, and of the inverses */
    int32_t guarded;                 /* groups that were cut finer */
    int rounds;
    int kept; /* the last call computed new values for the program of the one before */
};

/* Layers, groups, program and values; groups whose inverses would lose digits are cut finer, down
 * to single pivots, which is substitution.  s: zeroed, or prepared before with the same options;
 * then, if the tree still has the same shape and no inverse grows past the limit, only the values
 * are computed anew.  A program that was cut finer for earlier values is kept as it is until then,
 * and only a new one may be coarser.  OUT_OF_MEMORY, CANCELLED, INTERNAL; nothing is owned then. */
libsolver_status prepare_solve(environment *env, const factor_tree *tree,
                               const prepare_options *options, prepared_solve *s, message *why);
void prepared_free(memory *m, prepared_solve *s);

#endif
