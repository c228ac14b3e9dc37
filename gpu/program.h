/* gpu/program.h: the solve of a tree as lists of small dense products: what the host plans and the device runs
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A task computes  out = T in  for some dense tiles T, with in gathered from the right-hand side and from what
 * other tasks have published, and publishes out.  Everything that it reads but for these values comes in one
 * piece into a stage of shared memory, long before it runs: its own description, then its tiles.
 *
 *     task_head | codes (int32) | task_fix ... | task_slot ... | task_out ... | tiles
 *
 * Published values live in slots: packets of a value and the number of the launch that wrote it, so that a
 * reader knows a value of its own launch from every other.  Each slot is written once a launch. */
#ifndef GPU_PROGRAM_H
#define GPU_PROGRAM_H

#include <stdint.h>

/* Where an entry of `in` comes from. */
enum { SOURCE_SLOT = 0, SOURCE_B = 1 }; /* code = index << 1 | kind; SOURCE_B: row of the user's b, which is scaled */

enum { TASK_CARRY_IN = 1, TASK_CARRY_OUT = 2 };

/* Limits of one task, from the shared memory of a block. */
enum {
    TASK_SOURCES = 512, /* entries of in, those that are summed into others included */
    TASK_SLOTS = 32,
    TASK_OUTS = 1024,
    TASK_STAGE = 28672, /* bytes of description and tiles */
    PIECE = 32          /* outs of a slot */
};

typedef struct task_head {
    int32_t sources, fixes, slots, outs, flags;
    int32_t fix_at, slot_at, out_at, tile_at; /* bytes from here */
    int32_t reserved[3];
} task_head;

/* in[to] += in[from] + in[from + 1] + ... (count of them, in this order) */
typedef struct task_fix {
    int32_t to, from, count, reserved;
} task_fix;

/* part[PIECE * (own number) + o] = sum over i < inner of T[tile + o out_step + i inner_step] in[in + i], o < outs.  2^lanes threads
 * share an out: it is summed in that many parts, which are added pairwise. */
typedef struct task_slot {
    uint32_t tile; /* scalars from tile_at */
    uint16_t in, inner, out_step, inner_step;
    uint8_t outs, lanes;
    uint16_t conjugate; /* nonzero: of T's conjugate */
} task_slot;

/* v = sum over j < parts of part[part + PIECE j]  + in[add]  + what the task before carried;  OUT_D: v := D^-1 v with the
 * neighbour's v of a 2x2 pivot.  Then it is carried, or published in slot dst and stored in row `row` of x. */
enum { OUT_D = 1, OUT_PAIR_FIRST = 2, OUT_PAIR_SECOND = 4 };
typedef struct task_out {
    int32_t dst; /* slot, -1: none */
    int32_t row; /* of the user's x, -1: none; with OUT_D: scalars from tile_at to D^-1(o,o), D^-1(o,neighbour) */
    uint16_t part;
    uint8_t parts, flags;
    int16_t add; /* -1: none */
    uint16_t reserved;
} task_out;

/* Bytes [from16 * 16, + bytes) of the program's memory go to byte `to` of the stage.  task_bytes: of all copies of the task in
 * its first one, 0 in the others. */
typedef struct task_copy {
    uint32_t from16, bytes, to, task_bytes;
} task_copy;

/* What one block does, in order: the tasks of copies [copy, copy + copies), of which the first is number `first` of all. */
typedef struct task_list {
    int32_t copy, copies, tasks, first;
} task_list;

/* A list with its first copies, which a block loads at once. */
enum { HEAD_COPIES = 7 };
typedef struct list_head {
    task_list list;
    task_copy copy[HEAD_COPIES];
} list_head;

/* What a traced solve writes for each task, in ns of the device's clock: when the block came to it, when its stage was there, when
 * its inputs were, when it had its products, and its end. */
typedef struct task_times {
    uint64_t come, staged, gathered, multiplied, done;
} task_times;

#endif
