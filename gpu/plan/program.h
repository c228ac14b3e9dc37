/* gpu/plan/program.h: the solve of a tree as lists of small dense products: what the host plans and
 * the device runs
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A task computes  out = T in  for some dense tiles T, with in gathered from the right-hand side
 * and from what other tasks have published, and publishes out.  Everything that it reads but for
 * these values comes in one piece into shared memory, long before it runs: its own description,
 * then its tiles.
 *
 *     task_head | codes (int32) | starts (uint16) | task_slot ... | task_out ... | tiles
 *
 * Published values live in packets of a value and the number of the launch that wrote it, so that a
 * reader knows a value of its own launch from every other.  Each packet is written once a launch.
 */
#ifndef GPU_PLAN_PROGRAM_H
#define GPU_PLAN_PROGRAM_H

#include <stdint.h>

/* Where a source of `in` is: code = index << 1 | kind, SOURCE_PACKET: a packet, SOURCE_B: a row of
 * the user's b, which is scaled; SOURCE_ZERO: nowhere. */
enum { SOURCE_PACKET = 0, SOURCE_B = 1, SOURCE_ZERO = -1 };

/* TASK_TILES: the task's products are those of square tiles, not of slots: backward of their
 * transpose (TASK_CONJUGATE: conjugated).  TASK_WIDE: a slot is for a warp, otherwise for 8
 * lanes.  TASK_CARRY: sums that a task hands to the next task of its block, at most 4 for each
 * warp.  TASK_PAIRS: some out is OUT_PAIR. */
enum {
    TASK_CARRY_IN = 1,
    TASK_CARRY_OUT = 2,
    TASK_TILES = 4,
    TASK_BACKWARD = 8,
    TASK_CONJUGATE = 16,
    TASK_PAIRS = 32,
    TASK_WIDE = 64
};

/* Limits of one task, from the shared memory of a block. */
enum {
    TASK_INPUTS = 288,  /* entries of in */
    TASK_SOURCES = 512, /* of all of them together */
    TASK_SLOTS = 64,
    TASK_OUTS = 512,
    TASK_BYTES = 28672, /* of description and tiles */
    TASK_SQUARES = 3,
    COPY_ALIGN = 128, /* bytes: both ends of a copy lie alike to so many; others are slower by a
                         fourth (H200: 3.4 against 4.5 TB/s) */
    SQUARE = 32,      /* rows and columns of a square tile */
    SOLVE_WARPS = 8   /* that share the products of a task */
};

/* in[k] is the sum of the sources start[k] .. start[k+1]-1 in their order, or source k where
 * start_at is 0.  slots: with TASK_TILES the number of squares; square q multiplies in[SQUARE q
 * ...], and all of them sum to outs 0 .. SQUARE-1. */
typedef struct task_head {
    int32_t inputs, slots, outs, flags;
    int32_t start_at, slot_at, out_at, tile_at; /* bytes from here */
} task_head;

/* The lanes of a slot are shared among its outs: 1 << SLOT_LANES for each, four times as many in
 * TASK_WIDE.  A pair is in one slot. */
enum { SLOT_LANES = 3, SLOT_WIDTH = 8 };

/* Products with several right-hand sides are made for up to SLOT_ROWS outs of consecutive slots at
 * once, which share all but tile, out and outs: the first of them is SLOT_LEADS and tells how many
 * outs they have together. */
enum { SLOT_CONJUGATE = 4, SLOT_LEADS = 8, SLOT_ROWS = 16, SLOT_ROWS_SHIFT = 4 };

/* Out o < outs of the slot, which is number `out` + o of the task: sum over i < inner of T[tile + o
 * out_step + i inner_step] in[in + i]. */
typedef struct task_slot {
    uint32_t tile; /* scalars from tile_at */
    uint16_t in, inner, out_step, inner_step, out;
    uint8_t outs, mode; /* mode: SLOT_LANES, | SLOT_CONJUGATE: of T's conjugate, | SLOT_LEADS | outs
                           together - 1 << SLOT_ROWS_SHIFT */
} task_slot;

/* Entry (r, c) of a square tile: no bank conflicts along rows nor along columns. */
#ifdef __cplusplus
constexpr /* on a device too */
#endif
    static inline int
    square_at(int r, int c)
{
    return c * SQUARE + (r ^ 4 * (c & 3));
}

/* v = product + in[add] + what the task before carried;  OUT_D: v := D^-1 v, OUT_PAIR with the v of
 * the out next to it (number o ^ 1).  Then it is carried, or published in packet dst and stored in
 * row `row` of x. */
enum { OUT_D = 1, OUT_PAIR = 2 };
typedef struct task_out {
    int32_t dst; /* packet, -1: none */
    int32_t row; /* of the user's x, -1: none; with OUT_D: scalars from tile_at to D^-1(o,o),
                    D^-1(o,neighbour) */
    int16_t add; /* -1: none */
    uint16_t flags;
    int32_t reserved;
} task_out;

/* Bytes [from16 * 16, + bytes) of the program's memory go to byte `to` of the task's place in
 * shared memory, a description first.  task_bytes: of all copies of the task in its first one, 0 in
 * the others; `inputs`, there too, and `sources`, of all inputs if some are sums of several,
 * otherwise 0. */
typedef struct task_copy {
    uint32_t from16, bytes;
    uint16_t to, task_bytes, inputs, sources;
} task_copy;

/* What one block does, in order: the tasks of copies [copy, copy + copies), of which the first is
 * number `first` of all. */
typedef struct task_list {
    int32_t copy, copies, tasks, first;
} task_list;

/* A list with its first copies, which a block loads at once. */
enum { HEAD_COPIES = 7 };
typedef struct list_head {
    task_list list;
    task_copy copy[HEAD_COPIES];
} list_head;

/* What a traced solve writes for each task, in ns of the device's clock: when the block came to it,
 * when its stage was there, when its inputs were, and its end. */
typedef struct task_times {
    uint64_t come, staged, gathered, done;
} task_times;

#endif
