/* gpu/invert/form_device.h: the values of a program formed on a device: what it is told of the
 * pattern, and its buffers
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The factor's panels and D lie on the device as they are.  A small group is formed by one block in
 * its shared memory.  A large one, or a tall root, is worked on in tiles of SQUARE x SQUARE
 * entries, in the layout square_at, which the solve reads large groups in: strips of its columns
 * have at most SQUARE of them, a 2x2 pivot in one strip; rows are cut at the same borders, those
 * below after every SQUARE; what strips do not fill up is zero.  "Padded" row SQUARE a + q is row q
 * of strip a.
 *
 *     l: tiles of [L_K; L_R], from the panels
 *     t: tiles of partial sums; at last D^-1 M of a root
 *     x: tiles of [M; W], among the values; those of a root's M, and of groups of middle size, are
 *        in the workspace
 *
 * Diagonal blocks of two strips are inverted in shared memory; then blocks of twice the size again
 * and again by
 *     T = L21 X11,   X21 = -X22 T,
 * all groups together in each launch; then W = -L_R M, and G = M^T D^-1 M of roots.  Every sum has
 * a fixed order. */
#ifndef GPU_INVERT_FORM_DEVICE_H
#define GPU_INVERT_FORM_DEVICE_H

#include "gpu/device/device_factor.h"
#include "gpu/plan/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns [column, ...) of a group, counted there, that lie in one panel. */
typedef struct form_piece {
    int64_t panel; /* scalars from the panels' begin to the entry of the first column on the
                      diagonal */
    int64_t map;   /* place in `map` of the row of that entry; the next `rows` are those below it */
    int32_t ld, rows, column, reserved;
} form_piece;

/* A group in shared memory. */
typedef struct form_small {
    uint32_t at16; /* of its tile in the values */
    int32_t k, r, ld, column_start, reserved;
} form_small;

typedef struct form_tiled {
    int64_t l, t, x; /* scalars: l and t from the workspace's begin, x from that of the values, or
                        of a root from the workspace's */
    int32_t nb, k, column_start, first_strip;
    int32_t top;                   /* first of G's tiles in `top`, -1: not a root with G */
    int32_t top_rows, top_blocks;  /* rows of such a tile, tiles of a strip */
    int32_t part, parts, reserved; /* of a group of middle size, whose x is in the workspace: its
                                      parts among the values; otherwise none */
} form_tiled;

/* Part of a tile of x, rows [row, row + rows) and columns [column, column + columns), that goes to
 * scalar `to` of the values in these steps; `zeros` more rows or columns, in steps of 1. */
typedef struct form_part {
    int64_t to;
    int32_t group, tile, row_step, column_step;
    uint8_t row, rows, column, columns, zeros, reserved[3];
} form_part;

/* Strip `number` of the columns of a group: columns [column, column + width), padded to SQUARE. */
typedef struct form_strip {
    int32_t group, number, column, width;
    int32_t reordered; /* its rows are stored in the order z_row */
} form_strip;

/* A tile of a root's G among the values, by rows. */
typedef struct form_top_tile {
    uint32_t at16;
    int32_t row, column, ld;
} form_top_tile;

/* A block of tiles (row + p, column + q), p < rows, q < columns, as a sum of products over strips
 * [from, to). */
enum { FORM_T, FORM_X, FORM_W, FORM_G };
typedef struct form_item {
    int32_t group, kind, row, rows, column, columns, from, to;
} form_item;
enum { FORM_ITEM_COLUMNS = 2 };
/* Most rows of an item: complex sums take twice the registers. */
static inline int form_item_rows(libsolver_type type)
{
    return type == LIBSOLVER_S || type == LIBSOLVER_D ? 4 : 2;
}

/* One launch, over strips [first, first + count) or items.  CLEAR: bytes of the workspace. */
typedef enum form_step {
    FORM_CLEAR,       /* l := 0 */
    FORM_GATHER,      /* l := L, by strips */
    FORM_INVERT,      /* diagonal blocks of two strips, by strips */
    FORM_MULTIPLY,    /* T, X, W by items */
    FORM_SCALE,       /* t := D^-1 M of roots, by strips */
    FORM_FINISH,      /* rows of M in their order; row sums of |M| */
    FORM_PACK,        /* x of groups of middle size to the values, by parts */
    FORM_GROWTH,      /* row sums of |L_K| |M| */
    FORM_GRAM,        /* G, by items */
    FORM_SQUARE_SUMS, /* of roots: row sums of |G|, of |D| |L_K^T| |G|, of |L_K| |D| |L_K^T| |G| */
    FORM_SQUARE_TURNED,
    FORM_SQUARE_GROWTH
} form_step;
typedef struct form_launch {
    form_step step;
    int32_t first, count;
    int64_t bytes;
} form_launch;

/* Number of tile (a, b) of a group with nb strips of columns. */
#ifdef __cplusplus
constexpr /* on a device too */
#endif
    static inline int64_t
    form_tile(int32_t nb, int32_t a, int32_t b)
{
    return a < nb ? (int64_t)a * (a + 1) / 2 + b
                  : (int64_t)nb * (nb + 1) / 2 + (int64_t)(a - nb) * nb + b;
}

/* All of it on the host; counts beside the arrays. */
typedef struct form_pattern {
    int32_t n, pieces, smalls, tiled_groups, strips, top_tiles, items, parts, launches;
    int32_t small_tops; /* of the small groups the last: roots with G */
    int64_t maps;
    int64_t workspace;                        /* scalars */
    int32_t small_scalars, small_top_scalars; /* most of k (k + r), and of k^2 of the roots */
    int32_t small_columns;                    /* most k */
    const form_piece *piece;
    const int32_t *map;
    const int32_t *column_piece; /* n, by columns of the groups, as are the next four: its piece */
    const int32_t *column;       /* its position */
    const int32_t *z_row;
    const int32_t *pivot_at16, *pivot_position; /* n: where D^-1 of the z with this number goes, -1:
                                                   nowhere; its position */
    const form_small *small;
    const form_tiled *tiled;
    const form_strip *strip;
    const form_top_tile *top;
    const form_item *item;
    const form_part *part;
    const form_launch *launch;
} form_pattern;

/* Zeroed but for the first two.  Buffers grow and stay until it is closed. */
typedef struct device_form {
    int device;
    void *stream;
    device_buffer pattern, workspace;
    int64_t allocations; /* of these, so far */
} device_form;

/* Every call makes its device current and what was current before again at its end; error: room for
 * a sentence, `room` characters.  OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT. */
/* Copies the arrays of a pattern to the device, where they stay. */
libsolver_status device_form_pattern(device_form *f, const form_pattern *pattern, char *error,
                                     int room);
/* For the pattern that was copied last, of which only counts and `launch` are read; nothing is
 * allocated when it comes again for the same one.  values: the program's, on the device.  growth,
 * on the host: of each small group, then of each strip of the tiled ones; the same again of roots'
 * G, undefined for others.  Waits for the end.  seconds: of the kernels. */
libsolver_status device_form_values(device_form *f, const device_factor *factor,
                                    const form_pattern *pattern, void *values, double *growth,
                                    double *seconds, char *error, int room);
/* Frees its memory on the device. */
void device_form_drop(device_form *f);

#ifdef __cplusplus
}
#endif
#endif
