/* test/support/solve_emulator.h: runs the program of a solve on the host, one task after the other
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_SOLVE_EMULATOR_H
#define TEST_SUPPORT_SOLVE_EMULATOR_H

#include "gpu/plan/plan.h"

/* A program as a device has it.  Lists are run side by side, each in its order; by levels (levels >
 * 0) those of a level after those of the level below. */
typedef struct emulated_program {
    int32_t n, packets, lists, levels;
    const char *values, *description; /* addresses up to value_bytes are among the values */
    int64_t value_bytes, description_bytes;
    const task_list *list;
    const int32_t *level_lists; /* levels: how many lists each has */
    const task_copy *copy;
    const int32_t *user_row; /* n */
    const void *scale;       /* n reals, by rows of A */
} emulated_program;

/* What is said of a program whose lists wait for one another. */
#define EMULATOR_IS_STUCK "no list can go on"

/* x := the program's answer to b, both of length n, contiguous, by rows of A and apart.  Each list
 * goes as far as its inputs are there, in an order drawn from seed.  times: of the tasks, by a
 * clock that counts; or NULL.  Returns NULL, or what is wrong with the program (a static string): a
 * value read before it is written or written twice, an address outside its stage, a solve that
 * cannot end. */
#define EMULATE(p) \
    const char *emulate_##p(const emulated_program *program, const void *b, void *x, \
                            uint64_t seed, task_times *times); \
    /* The program of a plan: by levels, or block by block as a device might. */ \
    const char *emulate_by_levels_##p(const solve_plan *plan, const factor_tree *tree, \
                                      const char *values, const void *b, void *x, uint64_t seed); \
    const char *emulate_by_blocks_##p(const solve_plan *plan, const factor_tree *tree, \
                                      const char *values, const void *b, void *x, uint64_t seed);
EMULATE(s)
EMULATE(d)
EMULATE(c)
EMULATE(z)
#undef EMULATE

#endif
