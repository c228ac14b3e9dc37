/* gpu/plan/draft.h: one task of a program while it is written
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PLAN_DRAFT_H
#define GPU_PLAN_DRAFT_H

#include "base/buffer.h"
#include "gpu/plan/program.h"
#include <assert.h>

typedef struct draft {
    int32_t inputs, sources, slots, outs, copies, flags;
    int64_t tile_bytes;
    int32_t code[TASK_SOURCES];
    uint16_t start[TASK_SOURCES + 1]; /* of each input's sources */
    task_slot slot[TASK_SLOTS];
    task_out out[TASK_OUTS];
    task_copy copy[TASK_SLOTS]; /* from16: in the values; to: from tile_at */
} draft;

/* What a task would hold beside what is in the draft; tile_bytes in so many copies. */
typedef struct draft_need {
    int32_t inputs, sources, slots, outs, copies;
    int64_t tile_bytes;
} draft_need;

void draft_start(draft *d);
int draft_has_room(const draft *d, const draft_need *need);
/* The sum of count >= 1 sources as an entry of `in`; returns its place. */
static inline int32_t draft_input(draft *d, const int32_t *code, int32_t count)
{
    assert(count >= 1 && d->inputs < TASK_INPUTS && d->sources + count <= TASK_SOURCES);
    for (int32_t k = 0; k < count; k++)
        d->code[d->sources + k] = code[k];
    d->sources += count;
    d->start[++d->inputs] = (uint16_t)d->sources;
    return d->inputs - 1;
}
/* Copies values to the stage; returns the byte from tile_at at which they come to lie, which is as
 * far from a multiple of COPY_ALIGN as from16 is: what lies before them is copied too. */
int64_t draft_copy(draft *d, uint32_t from16, int64_t bytes);
/* As many arguments as a product has in the BLAS.  Slots for `outs` outs, numbers first ..., of
 * `inner` products each.  tile: scalars from tile_at. */
void draft_product(draft *d, int64_t tile, int32_t outs, int64_t out_step, int32_t inner,
                   int64_t inner_step, int32_t in, int32_t first, int mode, int conjugate);
/* The outs that one slot holds at most. */
static inline int32_t draft_slot_outs(int mode)
{
    return SLOT_WIDTH >> mode;
}
/* How many slots draft_product takes. */
static inline int32_t draft_slots(int32_t outs, int mode)
{
    const int32_t each = draft_slot_outs(mode);
    return (outs + each - 1) / each;
}
static inline task_out *draft_out(draft *d)
{
    assert(d->outs < TASK_OUTS);
    d->out[d->outs] = (task_out){.dst = -1, .row = -1, .add = -1};
    return &d->out[d->outs++];
}
/* Appends the description, which will lie `base` bytes further in the program's memory, and its
 * copies.  Returns the bytes read. */
int64_t draft_finish(const draft *d, int64_t base, buffer *descriptions, buffer *copies);

#endif
