/* gpu/invert/device_invert.h: the inverses of the groups, computed on a device: the tables that
 * describe the work, and the calls that do it
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The factor is read where it lies on the device (gpu/device/device_factor.h).  A small group is
 * inverted by one block of threads in its shared memory.  A large group, or a large root whose G is
 * stored, is worked on in tiles of SQUARE x SQUARE entries in the layout square_at, in which solves
 * read large groups.  Its columns are cut into strips of at most SQUARE columns, so that a 2x2
 * pivot lies in one strip; its rows are cut at the same places, and below the pivots after every
 * SQUARE rows.  Where a strip has fewer than SQUARE columns its tiles are filled up with zeros:
 * "padded" row SQUARE a + q is row q of strip a.
 *
 *     l: tiles of [L_K; L_R], copied from the panels
 *     t: tiles of partial sums, and at the end D^-1 M of a root
 *     x: tiles of [M; W], in the values of the program; in the workspace for a root, of which only
 *        G is stored, and for a group of middle size, whose tiles in the values are no squares
 *
 * A group of one or two strips is inverted in shared memory as a whole, if it fits there.  Of
 * others diagonal blocks of two strips are; then diagonal blocks of twice the size, again and
 * again, by
 *     T = L21 X11,   X21 = -X22 T;
 * then W = -L_R M, and G = M^T D^-1 M of roots.  Every sum has a fixed order.
 *
 * One launch does all of that: blocks of threads draw tasks in their order, and wait for up to two
 * steps of the group at hand, each of which has a word that counts its tasks that are done.  A task
 * comes behind those that it waits for, so that any number of blocks gets through.
 *
 * The launch may begin while L is made on the device (gpu/device/column_words.h).  Groups with
 * columns of a root of the tree, which are made last, are late: their tasks have an order of their
 * own, behind the others, and come pair of strips by pair, so that they can begin before all of
 * their columns are there. */
#ifndef GPU_INVERT_DEVICE_INVERT_H
#define GPU_INVERT_DEVICE_INVERT_H

#include "gpu/device/column_words.h"
#include "gpu/device/device_factor.h"
#include "gpu/plan/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adjacent columns of a group, from its column `column` on, that lie in one panel. */
typedef struct invert_piece {
    int64_t panel; /* scalars from the first panel to the diagonal entry of the first column */
    int64_t map;   /* map[map + q], q < rows: row in the group of the q-th entry from there on */
    int32_t ld, rows, column, reserved;
} invert_piece;

/* A group that is inverted in shared memory: k columns, r rows below. */
typedef struct small_group {
    uint32_t at16; /* place of its tile in the values, in 16 bytes; here and below */
    int32_t k, r, ld, column_start, reserved;
} small_group;

/* A group that is inverted in tiles. */
typedef struct tiled_group {
    int64_t l, t, x; /* scalars from the begin of the workspace; x from that of the values where it
                        lies there */
    int32_t nb, k, column_start, first_strip;
    int32_t root;                   /* first of G's tiles in `root`; -1: G is not stored */
    int32_t root_rows, root_blocks; /* rows of such a tile, tiles side by side */
    int32_t part, parts;            /* where x goes from the workspace; only for a group of middle
                                       size */
    int32_t tile_rows;              /* strips, and tiles below them */
} tiled_group;

/* Rows [row, row + rows) and columns [column, column + columns) of a tile of x, whose entry (i, j)
 * goes to scalar to + i row_step + j column_step of the values, followed by `zeros` more rows (or
 * columns) of zeros in the direction of step 1. */
typedef struct invert_part {
    int64_t to;
    int32_t group, tile, row_step, column_step;
    uint8_t row, rows, column, columns, zeros, reserved[3];
} invert_part;

/* Strip `number` of a group: its columns [column, column + width). */
typedef struct invert_strip {
    int32_t group, number, column, width;
    int32_t reordered; /* its rows of M are stored in the order z_row */
} invert_strip;

/* A tile of a root's G in the values, stored by rows. */
typedef struct root_tile {
    uint32_t at16;
    int32_t row, column, ld;
} root_tile;

/* The tiles (row + p, column + q), p < rows, q < columns, of T, X21, W or G, each a sum of products
 * of tiles over the strips [from, to). */
enum { PRODUCT_T, PRODUCT_X, PRODUCT_W, PRODUCT_G };
typedef struct product_item {
    int32_t group, kind, row, rows, column, columns, from, to;
} product_item;
enum { PRODUCT_ITEM_ROWS = 4, PRODUCT_ITEM_COLUMNS = 2 }; /* most of an item */

/* What a block of threads does at a time, of one tiled group: strip, item or parts `number`. */
typedef enum invert_step {
    INVERT_WHOLE,     /* all of M and W of a group that invert_is_whole, and its growth; number: its
                         first strip */
    INVERT_ROOT,      /* G and growths of a root that invert_is_pair_root, from its l; number: its
                         first strip */
    INVERT_GATHER,    /* l := [L_K; L_R], in the columns of a part of a strip, INVERT_STRIP_PARTS of
                         which make one: number is that of the part */
    INVERT_DIAGONAL,  /* diagonal block of this strip and the next one */
    INVERT_MULTIPLY,  /* T, X, W by items */
    INVERT_SCALE,     /* t := D^-1 M of a root, by strips */
    INVERT_FINISH,    /* row sums of |M|; rows of M in the order of the values; by strips */
    INVERT_PACK,      /* x of a group of middle size from the workspace to the values: up to
                         INVERT_PARTS parts, from this one on */
    INVERT_GROWTH,    /* row sums of |L_K| |M|, by strips */
    INVERT_GRAM,      /* G, by items */
    INVERT_ROOT_SUMS, /* of a root: row sums of |G|, by parts of strips; and by strips: */
    INVERT_ROOT_TRANSPOSED, /* of |D| |L_K^T| |G| */
    INVERT_ROOT_GROWTH      /* of |L_K| |D| |L_K^T| |G| */
} invert_step;
enum { INVERT_STRIP_PARTS = 4, INVERT_PARTS = 8 };
typedef struct invert_task {
    int32_t step, number, group;
    int32_t tells;              /* the word that it counts up by one */
    int32_t waits[2], least[2]; /* until word waits[q], -1: none, is least[q]; of INVERT_GATHER: of
                                   the factorization, for the last of its columns */
} invert_task;

/* Tasks [first, first + count), which one launch carries out; the last `late` ones are of groups
 * with columns of a root of the tree, which a factorization makes last.  Batches use the same
 * workspace, one after the other. */
typedef struct invert_batch {
    int32_t first, count, late;
} invert_batch;

/* Whether a tiled group is inverted by one task, in shared memory: limits of strips, of tiles below
 * each other, and of scalars. */
enum { INVERT_WHOLE_STRIPS = 2, INVERT_WHOLE_ROWS = 8, INVERT_WHOLE_SCALARS = 11000 };
static inline int invert_is_whole(const tiled_group *g)
{
    return g->root < 0 && g->nb <= INVERT_WHOLE_STRIPS && g->tile_rows <= INVERT_WHOLE_ROWS &&
           g->k * SQUARE * g->tile_rows <= INVERT_WHOLE_SCALARS;
}

/* Whether a root with G has no more strips than a pair: one task makes G from l, in shared memory.
 */
enum { INVERT_ROOT_STRIPS = 2 };
static inline int invert_is_pair_root(const tiled_group *g)
{
    return g->root >= 0 && g->nb <= INVERT_ROOT_STRIPS;
}

/* Small groups that are not roots with G come in classes by the leading dimensions of their tiles,
 * which are k + r, rounded up.  Those of the first class are inverted by a warp each. */
enum { SMALL_CLASSES = 4 };
static inline int small_class_rows(int c) /* at most so many in class c */
{
    return 32 << c;
}

/* Number of tile (a, b) among the tiles of a group with nb strips. */
#ifdef __cplusplus
constexpr /* so that device code may call it */
#endif
    static inline int64_t
    tile_number(int32_t nb, int32_t a, int32_t b)
{
    return a < nb ? (int64_t)a * (a + 1) / 2 + b
                  : (int64_t)nb * (nb + 1) / 2 + (int64_t)(a - nb) * nb + b;
}

/* The small groups of a class, or small roots whose G is stored. */
typedef struct small_groups {
    int32_t count;
    int32_t scalars, columns; /* largest k (k + r), largest k */
} small_groups;

/* All tables of a program, on the host.  Small groups stand class by class, roots whose G is stored
 * last. */
typedef struct invert_pattern {
    int32_t n, pieces, smalls, tiled_groups, strips, root_tiles, items, parts, tasks, batches;
    int32_t words;    /* of all tasks, zero before them */
    int32_t waits;    /* entries of `wait` */
    int32_t all_word; /* of the factorization: 1 when all columns are there; -1: not known */
    small_groups of_class[SMALL_CLASSES], small_roots;
    int64_t maps;
    int64_t workspace; /* scalars */
    const invert_piece *piece;
    const int32_t *map;
    /* length n, indexed by the columns of all groups, group by group: */
    const int32_t *column_piece;   /* piece that the column is in */
    const int32_t *column;         /* its position */
    const int32_t *z_row;          /* see solve_plan */
    const int32_t *pivot_at16;     /* where the row of D^-1 for this entry of z goes, -1: nowhere */
    const int32_t *pivot_position; /* position of that row */
    const int32_t *column_wait; /* by what of `wait` the factorization tells of the column; NULL: it
                                   is not known, waits = 0 */
    const column_words *wait;
    const small_group *small;
    const tiled_group *tiled;
    const invert_strip *strip;
    const root_tile *root;
    const product_item *item;
    const invert_part *part;
    const invert_task *task;
    const invert_batch *batch;
} invert_pattern;

/* What an inversion leaves in the device's memory: the largest growth of a group, and of a root's
 * G, as bits of doubles that are not negative, which are in order, a NaN's the last. */
typedef struct gathered_growth {
    uint64_t of_group, of_root;
    int32_t gave_up, reserved; /* a block waited too long, and all others have stopped waiting */
} gathered_growth;

/* The largest growth of a group, and of a root's G; 0 where there is none. */
typedef struct largest_growth {
    double of_group, of_root;
} largest_growth;

/* The worse one of two growths: a NaN stays. */
#ifdef __cplusplus
constexpr /* so that device code may call it */
#endif
    static inline double
    worse_growth(double a, double b)
{
    return a != a || a >= b ? a : b;
}

/* Zeroed but for device and stream.  Buffers are used again by the next pattern and factor. */
typedef struct device_inverter {
    int device;
    void *stream;
    device_buffer pattern, workspace;
    int64_t allocations; /* of these, so far */
    void *start, *stop;  /* events around the kernels of launches that are timed, from the first */
    /* of the last launch: */
    int is_timed;
    int64_t growths;                 /* of small groups and strips, and as many of roots' G, ... */
    const double *growth;            /* ... on the device: see device_inverter_growths */
    const gathered_growth *gathered; /* on the device */
} device_inverter;

/* Copies the arrays of a pattern to the device, where they stay.  Like the other calls it leaves
 * the current device as it was.
 * OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here and below. */
libsolver_status device_inverter_load(device_inverter *f, const invert_pattern *pattern,
                                      message *why);
/* Words on the device. */
typedef struct invert_words {
    unsigned *word;
    int32_t count;
} invert_words;
/* What must be zero before a factorization whose inverses are to begin while it is at its last
 * columns: by the next _launch, to which its words are given. */
libsolver_status device_inverter_words(device_inverter *f, const device_factor *factor,
                                       const invert_pattern *pattern, invert_words *words,
                                       message *why);
/* Puts all launches on the stream and waits for none.  pattern: the one that was loaded last, of
 * which only the counts and batches are read here.  values: the program's, on the device.
 * words: NULL, or those of the factorization before it, which cleared what _words told.
 * is_timed: the kernels are measured; not where the stream is captured.  Nothing is allocated from
 * the second call for a pattern on, the first with is_timed apart. */
libsolver_status device_inverter_launch(device_inverter *f, const device_factor *factor,
                                        const invert_pattern *pattern, void *values,
                                        const unsigned *words, int is_timed, message *why);
/* Waits for the end of that.  seconds: of the kernels, 0 if they were not measured. */
libsolver_status device_inverter_finish(const device_inverter *f, largest_growth *growth,
                                        double *seconds, message *why);
/* After that, growth, 2 f->growths of them on the host: of each small group, then of each strip of
 * the tiled groups; then the same of the roots' G, undefined elsewhere. */
libsolver_status device_inverter_growths(const device_inverter *f, double *growth, message *why);
/* Frees the memory on the device. */
void device_inverter_drop(device_inverter *f);

#ifdef __cplusplus
}
#endif
#endif
