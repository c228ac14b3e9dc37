/* test/support/fake/invert_tmpl.c: computes the values of a program from the tables of the
 * inversion, by some blocks that draw tasks, wait and go on in random order
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps are those of gpu/invert/device_invert.h; the sums are plain ones. */
#include "emulators.h"
#include "pivot.h"
#include "test/support/random.h"
#include <stdlib.h>
#include <string.h>

#define AREA (SQUARE * SQUARE)

typedef struct inverter {
    const emulated_inversion *f;
    const invert_pattern *p;
    const scalar *panel, *d, *e;
    scalar *values, *workspace;
    real *sums, *root_sums, *turned; /* SQUARE for each strip */
    const char *wrong;
} inverter;

static void complain(inverter *t, int condition, const char *what)
{
    if (condition && !t->wrong)
        t->wrong = what;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static scalar *in_workspace(inverter *t, int64_t at)
{
    complain(t, at < 0 || (at + AREA) * (int64_t)sizeof(scalar) > t->f->workspace_bytes,
             "a tile leaves the workspace");
    return t->wrong ? t->workspace : t->workspace + at;
}

static scalar *tile_l(inverter *t, const tiled_group *g, int32_t a, int32_t b)
{
    return in_workspace(t, g->l + AREA * tile_number(g->nb, a, b));
}

static scalar *tile_t(inverter *t, const tiled_group *g, int32_t a, int32_t b)
{
    return in_workspace(t, g->t + AREA * tile_number(g->nb, a, b));
}

static scalar *tile_x(inverter *t, const tiled_group *g, int32_t a, int32_t b)
{
    const int64_t at = g->x + AREA * tile_number(g->nb, a, b);
    if (g->root >= 0 || g->parts > 0)
        return in_workspace(t, at);
    complain(t, at < 0 || (at + AREA) * (int64_t)sizeof(scalar) > t->f->value_bytes,
             "a tile leaves the values");
    return t->wrong ? t->values : t->values + at;
}

static scalar *value_at(inverter *t, int64_t at)
{
    complain(t, at < 0 || (at + 1) * (int64_t)sizeof(scalar) > t->f->value_bytes,
             "an entry leaves the values");
    return t->wrong ? t->values : t->values + at;
}

static int64_t scalars_at(uint32_t at16)
{
    return (int64_t)at16 * (16 / (int64_t)sizeof(scalar));
}

/* ---- Strips ---------------------------------------------------------------------------------- */

typedef struct strip_work {
    const invert_strip *strip;
    const tiled_group *g;
    int32_t number;  /* of all strips */
    int32_t columns; /* by columns of groups: place of its first one */
} strip_work;

static strip_work strip_of(const inverter *t, int32_t s)
{
    const invert_strip *strip = &t->p->strip[s];
    const tiled_group *g = &t->p->tiled[strip->group];
    return (strip_work){strip, g, s, g->column_start + strip->column};
}

/* Columns of part `part` of a strip. */
static void gather(inverter *t, const strip_work *w, int32_t part)
{
    const int32_t columns = SQUARE / INVERT_STRIP_PARTS, first = part * columns;
    for (int32_t a = w->strip->number; a < w->g->tile_rows; a++)
        for (int32_t c = first; c < first + columns; c++)
            for (int32_t row = 0; row < SQUARE && !t->wrong; row++)
                tile_l(t, w->g, a, w->strip->number)[square_at(row, c)] = 0;
    for (int32_t c = first; c < first + columns && c < w->strip->width; c++) {
        const invert_piece *piece = &t->p->piece[t->p->column_piece[w->columns + c]];
        const int32_t j = w->strip->column + c - piece->column;
        for (int32_t q = j; q < piece->rows; q++) {
            const int32_t row = t->p->map[piece->map + q];
            tile_l(t, w->g, row / SQUARE, w->strip->number)[square_at(row % SQUARE, c)] =
                t->panel[piece->panel + (int64_t)j * piece->ld + q];
        }
    }
}

/* Ones on the diagonal past the strip's width, and where L has them unsaid. */
static void put_ones(inverter *t, const strip_work *w)
{
    scalar *l = tile_l(t, w->g, w->strip->number, w->strip->number);
    for (int32_t c = 0; c < SQUARE; c++)
        if (!t->f->cholesky || c >= w->strip->width)
            l[square_at(c, c)] = 1;
}

/* x := inv(l) of strips a and a + 1, a even. */
static void invert(inverter *t, const strip_work *w)
{
    const int32_t a = w->strip->number, order = a + 1 < w->g->nb ? 2 * SQUARE : SQUARE;
    if (a % 2)
        return;
    put_ones(t, w);
    if (order > SQUARE) {
        const strip_work next = strip_of(t, w->number + 1);
        put_ones(t, &next);
    }
    for (int32_t c = 0; c < order; c++)
        for (int32_t i = 0; i < order; i++) {
            if (i / SQUARE < c / SQUARE)
                continue;
            wide sum = i == c;
            for (int32_t k = c; k < i; k++)
                sum -= (wide)tile_l(t, w->g, a + i / SQUARE,
                                    a + k / SQUARE)[square_at(i % SQUARE, k % SQUARE)] *
                       tile_x(t, w->g, a + k / SQUARE,
                              a + c / SQUARE)[square_at(k % SQUARE, c % SQUARE)];
            tile_x(t, w->g, a + i / SQUARE, a + c / SQUARE)[square_at(i % SQUARE, c % SQUARE)] =
                i < c ? 0
                      : (scalar)(sum / tile_l(t, w->g, a + i / SQUARE,
                                              a + i / SQUARE)[square_at(i % SQUARE, i % SQUARE)]);
        }
}

/* t := D^-1 M of roots */
static void scale(inverter *t, const strip_work *w)
{
    for (int32_t row = 0; row < SQUARE && w->g->root >= 0; row++) {
        pivot_row d = {0};
        if (row < w->strip->width)
            d = pivot_of(t->d, t->e, t->f->hermitian, t->p->column[w->columns + row]);
        complain(t,
                 row + d.neighbour < 0 ||
                     row + d.neighbour >= w->strip->width + (d.neighbour == 0) * SQUARE,
                 "a 2x2 pivot is split");
        for (int32_t b = 0; b <= w->strip->number && !t->wrong; b++)
            for (int32_t c = 0; c < SQUARE; c++) {
                const scalar *x = tile_x(t, w->g, w->strip->number, b);
                tile_t(t, w->g, w->strip->number, b)[square_at(row, c)] =
                    d.diagonal * x[square_at(row, c)] +
                    (d.neighbour ? d.off * x[square_at(row + d.neighbour, c)] : 0);
            }
    }
}

/* Row sums of |M|; then its rows in their order, and nothing where a strip is not filled up. */
static void finish(inverter *t, const strip_work *w)
{
    const int32_t a = w->strip->number, width = w->strip->width;
    for (int32_t row = 0; row < SQUARE; row++) {
        real sum = 0;
        for (int32_t b = 0; b <= a; b++)
            for (int32_t c = 0; c < SQUARE; c++)
                sum += scalar_abs(tile_x(t, w->g, a, b)[square_at(row, c)]);
        t->sums[(int64_t)w->number * SQUARE + row] = sum;
    }
    for (int32_t b = 0; b <= a; b++) {
        scalar old[AREA], *x = tile_x(t, w->g, a, b);
        memcpy(old, x, sizeof old);
        for (int32_t row = 0; row < SQUARE; row++)
            for (int32_t c = 0; c < SQUARE; c++) {
                const int outside = w->g->root < 0 && b == a && (row >= width || c >= width);
                const int32_t from = w->strip->reordered && row < width
                                         ? t->p->z_row[w->columns + row] - w->strip->column
                                         : row;
                complain(t, from < 0 || from >= SQUARE, "a row comes from another strip");
                if (!t->wrong)
                    x[square_at(row, c)] = outside ? 0 : old[square_at(from, c)];
            }
    }
}

/* The largest row sum of |L_K| times a vector. */
static double largest_sum(inverter *t, const strip_work *w, const real *vector)
{
    double largest = 0;
    for (int32_t row = 0; row < SQUARE; row++) {
        real sum = 0;
        for (int32_t b = 0; b <= w->strip->number; b++)
            for (int32_t c = 0; c < SQUARE; c++)
                sum += scalar_abs(tile_l(t, w->g, w->strip->number, b)[square_at(row, c)]) *
                       vector[((int64_t)w->g->first_strip + b) * SQUARE + c];
        largest = worse_growth(sum, largest);
    }
    return largest;
}

/* root_sums := row sums of |G|, in part `part` of a strip */
static void sum_square(inverter *t, const strip_work *w, int32_t part)
{
    const int32_t rows = SQUARE / INVERT_STRIP_PARTS;
    for (int32_t q = part * rows; q < (part + 1) * rows; q++) {
        const int32_t row = w->strip->column + q;
        real sum = 0;
        for (int32_t b = 0; b < w->g->root_blocks && q < w->strip->width; b++) {
            const root_tile *tile =
                &t->p->root[w->g->root + row / w->g->root_rows * w->g->root_blocks + b];
            for (int32_t c = 0; c < tile->ld; c++)
                sum += scalar_abs(*value_at(t, scalars_at(tile->at16) +
                                                   (int64_t)(row - tile->row) * tile->ld + c));
        }
        t->root_sums[(int64_t)w->number * SQUARE + q] = sum;
    }
}

/* turned := |D| |L_K^T| root_sums */
static void turn_square(inverter *t, const strip_work *w)
{
    real y[SQUARE + 2] = {0};
    if (w->g->root < 0)
        return;
    for (int32_t b = w->strip->number; b < w->g->nb; b++)
        for (int32_t c = 0; c < SQUARE; c++)
            for (int32_t row = 0; row < SQUARE; row++)
                y[1 + c] += scalar_abs(tile_l(t, w->g, b, w->strip->number)[square_at(row, c)]) *
                            t->root_sums[((int64_t)w->g->first_strip + b) * SQUARE + row];
    for (int32_t c = 0; c < SQUARE; c++)
        t->turned[(int64_t)w->number * SQUARE + c] =
            c < w->strip->width ? pivot_size(t->d, t->e, t->f->cholesky,
                                             t->p->column[w->columns + c], y[c], y[1 + c], y[2 + c])
                                : 0;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* sum += A B; turned: A^T B, or A^H B */
static void add_product(wide *sum, const scalar *a, const scalar *b, int turned, int hermitian)
{
    for (int32_t c = 0; c < SQUARE; c++)
        for (int32_t k = 0; k < SQUARE; k++) {
            const wide v = b[square_at(k, c)];
            for (int32_t r = 0; v != 0 && r < SQUARE; r++)
                sum[r + c * SQUARE] +=
                    (turned ? scalar_mirror(a[square_at(k, r)], hermitian) : a[square_at(r, k)]) *
                    v;
        }
}

/* Tile (row, column) of T, X or W. */
static void multiply_tile(inverter *t, const product_item *item, const tiled_group *g, int32_t row,
                          int32_t column)
{
    wide sum[AREA] = {0};
    const int is_x = item->kind == PRODUCT_X;
    for (int32_t c = item->from; c < item->to; c++) {
        if (is_x ? c > row : c < column) /* M is zero above its diagonal */
            continue;
        add_product(sum, is_x ? tile_x(t, g, row, c) : tile_l(t, g, row, c),
                    is_x ? tile_t(t, g, c, column) : tile_x(t, g, c, column), 0, 0);
    }
    scalar *to = item->kind == PRODUCT_T ? tile_t(t, g, row, column) : tile_x(t, g, row, column);
    for (int32_t q = 0; q < AREA; q++)
        to[square_at(q % SQUARE, q / SQUARE)] =
            (scalar)(item->kind == PRODUCT_T ? sum[q] : -sum[q]);
}

/* Entry (row, column) of a root's G. */
static void put_square(inverter *t, const tiled_group *g, int32_t row, int32_t column, scalar v)
{
    const int32_t block = (int32_t)(((int64_t)(column + 1) * g->root_blocks - 1) / g->k);
    const root_tile *tile = &t->p->root[g->root + row / g->root_rows * g->root_blocks + block];
    complain(t, column < tile->column || column - tile->column >= tile->ld || row < tile->row,
             "an entry of G is in another tile");
    *value_at(t, scalars_at(tile->at16) + (int64_t)(row - tile->row) * tile->ld + column -
                     tile->column) = v;
}

/* Tile (i, j) of the lower triangle of G, to both of its places; sums over the first strips alone,
 * and to those that go on from them, by t. */
static void multiply_square(inverter *t, const product_item *item, const tiled_group *g, int32_t i,
                            int32_t j)
{
    wide sum[AREA] = {0};
    const invert_strip *down = &t->p->strip[g->first_strip + i],
                       *across = &t->p->strip[g->first_strip + j];
    if (i < j)
        return;
    scalar *partial = tile_t(t, g, i, j);
    for (int32_t q = 0; q < AREA && item->from > item->row; q++)
        sum[q] = partial[square_at(q % SQUARE, q / SQUARE)];
    for (int32_t c = item->from > i ? item->from : i; c < item->to; c++)
        add_product(sum, tile_x(t, g, c, i),
                    t->f->cholesky ? tile_x(t, g, c, j) : tile_t(t, g, c, j), 1, t->f->hermitian);
    for (int32_t q = 0; q < AREA && item->to < g->nb; q++)
        partial[square_at(q % SQUARE, q / SQUARE)] = (scalar)sum[q];
    for (int32_t c = 0; c < across->width && item->to == g->nb; c++)
        for (int32_t r = 0; r < down->width; r++) {
            const scalar v = (scalar)sum[r + c * SQUARE];
            put_square(t, g, down->column + r, across->column + c, v);
            if (i > j)
                put_square(t, g, across->column + c, down->column + r,
                           scalar_mirror(v, t->f->hermitian));
        }
}

static void multiply(inverter *t, int32_t number, int square)
{
    const product_item *item = &t->p->item[number];
    const tiled_group *g = &t->p->tiled[item->group];
    complain(t, (item->kind == PRODUCT_G) != square, "an item is of another kind than its task");
    complain(t,
             item->columns < 1 || item->columns > PRODUCT_ITEM_COLUMNS || item->rows < 1 ||
                 item->rows > PRODUCT_ITEM_ROWS,
             "an item has no warps");
    for (int32_t p = 0; p < item->rows && !t->wrong; p++)
        for (int32_t q = 0; q < item->columns; q++)
            if (square)
                multiply_square(t, item, g, item->row + p, item->column + q);
            else
                multiply_tile(t, item, g, item->row + p, item->column + q);
}

static void pack(inverter *t, int32_t number)
{
    const invert_part *q = &t->p->part[number];
    const tiled_group *g = &t->p->tiled[q->group];
    const int by_rows = q->column_step == 1;
    const scalar *from = in_workspace(t, g->x + AREA * (int64_t)q->tile);
    for (int32_t row = 0; row < q->rows + (by_rows ? 0 : q->zeros); row++)
        for (int32_t column = 0; column < q->columns + (by_rows ? q->zeros : 0); column++)
            *value_at(t, q->to + (int64_t)row * q->row_step + (int64_t)column * q->column_step) =
                row < q->rows && column < q->columns
                    ? from[square_at(q->row + row, q->column + column)]
                    : 0;
}

/* ---- Groups in shared memory ----------------------------------------------------------------- */

/* l: [L_K; L_R], x: [M; W], both (k + r) x k; y: D^-1 M, row and sum: k. */
typedef struct small_work {
    const small_group *s;
    int32_t k, m;
    scalar *l, *x, *y;
    real *row, *sum;
} small_work;

/* Column `own` of the group whose columns begin at `start`, as column c of l. */
static void small_gather(inverter *t, const small_work *w, int32_t start, int32_t own, int32_t c)
{
    const invert_piece *piece = &t->p->piece[t->p->column_piece[start + own]];
    const int32_t j = own - piece->column;
    for (int32_t q = j; q < piece->rows; q++) {
        const int32_t row = t->p->map[piece->map + q];
        complain(t, row < 0 || row >= w->m, "a row of a group is none of its");
        if (!t->wrong)
            w->l[row + c * w->m] = t->panel[piece->panel + (int64_t)j * piece->ld + q];
    }
    w->l[c + c * w->m] = t->f->cholesky ? w->l[c + c * w->m] : 1;
}

static void small_invert(const small_work *w)
{
    for (int32_t c = 0; c < w->k; c++)
        for (int32_t i = c; i < w->m; i++) {
            wide sum = i == c;
            for (int32_t j = c; j < (i < w->k ? i : w->k); j++)
                sum -= (wide)w->l[i + j * w->m] * w->x[j + c * w->m];
            w->x[i + c * w->m] = (scalar)(i < w->k ? sum / w->l[i + i * w->m] : sum);
        }
}

/* sum := |L_K| row, or its transpose */
static void small_times(const small_work *w, int turned)
{
    for (int32_t i = 0; i < w->k; i++) {
        w->sum[i] = 0;
        for (int32_t j = 0; j < w->k; j++)
            w->sum[i] += scalar_abs(turned ? w->l[j + i * w->m] : w->l[i + j * w->m]) * w->row[j];
    }
}

static double small_largest(const small_work *w)
{
    double largest = 0;
    for (int32_t i = 0; i < w->k; i++)
        largest = worse_growth(w->sum[i], largest);
    return largest;
}

static double small_growth(const small_work *w)
{
    for (int32_t i = 0; i < w->k; i++) {
        w->row[i] = 0;
        for (int32_t c = 0; c <= i; c++)
            w->row[i] += scalar_abs(w->x[i + c * w->m]);
    }
    small_times(w, 0);
    return small_largest(w);
}

static void small_store(inverter *t, const small_work *w)
{
    for (int32_t c = 0; c < w->k; c++)
        for (int32_t place = 0; place < w->s->ld; place++) {
            const int32_t row = place < w->k ? t->p->z_row[w->s->column_start + place] : place;
            *value_at(t, scalars_at(w->s->at16) + place + (int64_t)c * w->s->ld) =
                row < w->m ? w->x[row + c * w->m] : 0;
        }
}

/* G := M^T D^-1 M of a root. */
static void small_root(inverter *t, const small_work *w)
{
    const int32_t *column = t->p->column + w->s->column_start;
    for (int32_t c = 0; c < w->k; c++)
        for (int32_t i = 0; i < w->k; i++) {
            const pivot_row d = t->f->cholesky ? (pivot_row){.diagonal = 1}
                                               : pivot_of(t->d, t->e, t->f->hermitian, column[i]);
            w->y[i + c * w->k] = d.diagonal * w->x[i + c * w->m] +
                                 (d.neighbour ? d.off * w->x[i + d.neighbour + c * w->m] : 0);
        }
    for (int32_t c = 0; c < w->k; c++)
        for (int32_t i = 0; i < w->s->ld; i++) {
            wide sum = 0;
            for (int32_t j = 0; j < w->k && i < w->k; j++)
                sum +=
                    (wide)scalar_mirror(w->x[j + i * w->m], t->f->hermitian) * w->y[j + c * w->k];
            *value_at(t, scalars_at(w->s->at16) + i + (int64_t)c * w->s->ld) = (scalar)sum;
        }
}

static double small_root_growth(inverter *t, const small_work *w)
{
    const int32_t *column = t->p->column + w->s->column_start;
    for (int32_t i = 0; i < w->k; i++) {
        w->row[i] = 0;
        for (int32_t c = 0; c < w->k; c++)
            w->row[i] +=
                scalar_abs(*value_at(t, scalars_at(w->s->at16) + i + (int64_t)c * w->s->ld));
    }
    small_times(w, 1);
    for (int32_t i = 0; i < w->k; i++)
        w->row[i] = pivot_size(t->d, t->e, t->f->cholesky, column[i], i > 0 ? w->sum[i - 1] : 0,
                               w->sum[i], i + 1 < w->k ? w->sum[i + 1] : 0);
    small_times(w, 0);
    return small_largest(w);
}

static small_work small_begin(const small_group *s, int32_t k, int32_t m)
{
    small_work w = {.s = s,
                    .k = k,
                    .m = m,
                    .l = calloc((size_t)m * (size_t)k, sizeof(scalar)),
                    .x = calloc((size_t)m * (size_t)k, sizeof(scalar)),
                    .y = calloc((size_t)k * (size_t)k, sizeof(scalar)),
                    .row = calloc(2 * (size_t)k, sizeof(real))};
    w.sum = w.row + k;
    return w;
}

static void small_end(small_work *w)
{
    free(w->l);
    free(w->x);
    free(w->y);
    free(w->row);
}

static void run_small(inverter *t, int32_t number)
{
    const small_group *s = &t->p->small[number];
    const int32_t m = s->k + s->r;
    const int root = number >= t->p->smalls - t->p->small_roots.count;
    const small_groups *of = root ? &t->p->small_roots : t->p->of_class;
    for (int32_t q = number; !root && q >= of->count; of++)
        q -= of->count;
    small_work w = small_begin(s, s->k, m);
    complain(t,
             s->k > of->columns || m * s->k > of->scalars || (root && s->r > 0) ||
                 (!root && s->ld > small_class_rows((int)(of - t->p->of_class))),
             "a small group has no room");
    for (int32_t c = 0; c < s->k; c++)
        small_gather(t, &w, s->column_start, c, c);
    small_invert(&w);
    t->f->growth[number] = small_growth(&w);
    if (root) {
        small_root(t, &w);
        t->f->root_growth[number] = small_root_growth(t, &w);
    } else
        small_store(t, &w);
    small_end(&w);
}

/* One of up to two strips, as a small one whose columns and rows are padded. */
static void run_whole(inverter *t, int32_t group)
{
    const tiled_group *g = t->p->tiled + group;
    small_work w = small_begin(NULL, SQUARE * g->nb, SQUARE * g->tile_rows);
    complain(t, !invert_is_whole(g), "a group has no room as a whole");
    for (int32_t c = 0; c < w.k; c++) {
        const invert_strip *strip = t->p->strip + g->first_strip + c / SQUARE;
        if (c % SQUARE < strip->width)
            small_gather(t, &w, g->column_start, strip->column + c % SQUARE, c);
        else
            w.l[c + c * w.m] = 1;
    }
    small_invert(&w);
    const double growth = small_growth(&w);
    for (int32_t c = 0; c < w.k; c++)
        for (int32_t row = c / SQUARE * SQUARE; row < w.m && !t->wrong; row++)
            tile_x(t, g, row / SQUARE, c / SQUARE)[square_at(row % SQUARE, c % SQUARE)] =
                w.x[row + c * w.m];
    for (int32_t s = g->first_strip; s < g->first_strip + g->nb; s++) {
        const strip_work strip = strip_of(t, s);
        finish(t, &strip);
        t->f->growth[t->p->smalls + s] = growth;
    }
    small_end(&w);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void run_strip(inverter *t, invert_step step, int32_t s)
{
    const strip_work w = strip_of(t, s);
    const int32_t at = t->p->smalls + s;
    switch (step) {
    case INVERT_DIAGONAL:
        invert(t, &w);
        break;
    case INVERT_SCALE:
        scale(t, &w);
        break;
    case INVERT_FINISH:
        finish(t, &w);
        break;
    case INVERT_GROWTH:
        t->f->growth[at] = largest_sum(t, &w, t->sums);
        break;
    case INVERT_ROOT_TRANSPOSED:
        turn_square(t, &w);
        break;
    case INVERT_ROOT_GROWTH:
        t->f->root_growth[at] = largest_sum(t, &w, t->turned);
        break;
    default:
        complain(t, 1, "there is no such step");
    }
}

/* What follows the tiles of L of a root of a pair of strips, step by step. */
static void run_root(inverter *t, int32_t first)
{
    static const invert_step behind[] = {INVERT_FINISH, INVERT_GROWTH, INVERT_ROOT_TRANSPOSED,
                                         INVERT_ROOT_GROWTH};
    const tiled_group *g = t->p->tiled + t->p->strip[first].group;
    const product_item all = {.to = g->nb};
    complain(t, !invert_is_pair_root(g) || first != g->first_strip,
             "a root has more strips than a pair");
    run_strip(t, INVERT_DIAGONAL, first);
    for (int32_t i = 0; i < g->nb && !t->f->cholesky; i++)
        run_strip(t, INVERT_SCALE, first + i);
    for (int32_t i = 0; i < g->nb; i++)
        for (int32_t j = 0; j <= i; j++)
            multiply_square(t, &all, g, i, j);
    for (int32_t i = 0; i < g->nb; i++) {
        const strip_work w = strip_of(t, first + i);
        for (int32_t part = 0; part < INVERT_STRIP_PARTS; part++)
            sum_square(t, &w, part);
    }
    for (size_t q = 0; q < sizeof behind / sizeof *behind; q++)
        for (int32_t i = 0; i < g->nb; i++)
            run_strip(t, behind[q], first + i);
}

static int32_t group_of(const inverter *t, const invert_task *task)
{
    const int32_t q = task->number;
    switch ((invert_step)task->step) {
    case INVERT_GATHER:
    case INVERT_ROOT_SUMS:
        return t->p->strip[q / INVERT_STRIP_PARTS].group;
    case INVERT_MULTIPLY:
    case INVERT_GRAM:
        return t->p->item[q].group;
    case INVERT_PACK:
        return t->p->part[q].group;
    default:
        return t->p->strip[q].group;
    }
}

static void run_task(inverter *t, const invert_task *task)
{
    const int32_t q = task->number;
    complain(t, group_of(t, task) != task->group, "a task is of another group");
    switch ((invert_step)task->step) {
    case INVERT_WHOLE:
        run_whole(t, task->group);
        break;
    case INVERT_ROOT:
        run_root(t, q);
        break;
    case INVERT_GATHER:
    case INVERT_ROOT_SUMS: {
        const strip_work w = strip_of(t, q / INVERT_STRIP_PARTS);
        if (task->step == INVERT_GATHER)
            gather(t, &w, q % INVERT_STRIP_PARTS);
        else
            sum_square(t, &w, q % INVERT_STRIP_PARTS);
        break;
    }
    case INVERT_MULTIPLY:
    case INVERT_GRAM:
        multiply(t, q, task->step == INVERT_GRAM);
        break;
    case INVERT_PACK: {
        const tiled_group *g = t->p->tiled + task->group;
        for (int32_t k = q; k < q + INVERT_PARTS && k < g->part + g->parts; k++)
            pack(t, k);
        break;
    }
    default:
        run_strip(t, (invert_step)task->step, q);
    }
}

/* The next task of a batch, -1: none: of the late ones or of the others, which are drawn in order
 * each. */
static int32_t draw(const invert_batch *batch, int32_t drawn[2], random_stream *r)
{
    const int32_t early = batch->count - batch->late;
    const int is_late = drawn[0] == early || (drawn[1] < batch->late && random_below(r, 2) > 0);
    if (drawn[is_late] == (is_late ? batch->late : early))
        return -1;
    return batch->first + (is_late ? early : 0) + drawn[is_late]++;
}

static int may_begin(inverter *t, const invert_task *task, const int32_t *told)
{
    for (int32_t q = 0; q < 2; q++) {
        const int32_t word = task->waits[q];
        if (task->step == INVERT_GATHER || word < 0)
            continue;
        complain(t, word >= t->p->words, "a task waits for a word that is none");
        if (t->wrong || told[word] < task->least[q])
            return 0;
    }
    return 1;
}

/* Up to 12 blocks: each draws a task when it has none, and is at it for a while; tasks are done at
 * random, no sooner than what they wait for. */
static void run_batch(inverter *t, const invert_batch *batch, int32_t *told, random_stream *r)
{
    enum { MOST = 12 };
    const int32_t blocks = 1 + (int32_t)random_below(r, MOST);
    int32_t at[MOST], drawn[2] = {0, 0}, left = batch->count, stuck = 0;
    for (int32_t b = 0; b < blocks; b++)
        at[b] = -1;
    while (left > 0 && !t->wrong) {
        const int32_t b = (int32_t)random_below(r, blocks);
        if (at[b] < 0) {
            at[b] = draw(batch, drawn, r);
            continue;
        }
        const invert_task *task = t->p->task + at[b];
        complain(t, stuck++ > 100000, "blocks wait for each other");
        if (!may_begin(t, task, told))
            continue;
        complain(t, task->tells < 0 || task->tells >= t->p->words,
                 "a task tells none of the words");
        if (t->wrong)
            break;
        run_task(t, task);
        told[task->tells]++;
        at[b] = -1;
        stuck = 0;
        left--;
    }
}

static void put_pivots(inverter *t)
{
    const int64_t step = 2 * sizeof(scalar) > 16 ? 2 : 16 / (int64_t)sizeof(scalar);
    for (int32_t q = 0; q < t->p->n; q++) {
        if (t->p->pivot_at16[q] < 0)
            continue;
        const pivot_row d = pivot_of(t->d, t->e, t->f->hermitian, t->p->pivot_position[q]);
        for (int64_t k = 0; k < step; k++)
            *value_at(t, scalars_at((uint32_t)t->p->pivot_at16[q]) + k) = k == 0   ? d.diagonal
                                                                          : k == 1 ? d.off
                                                                                   : 0;
    }
}

const char *NAME(emulate_inversion)(const emulated_inversion *f)
{
    random_stream r = random_seeded(f->seed);
    inverter t = {.f = f,
                  .p = &f->pattern,
                  .panel = f->panel,
                  .values = f->values,
                  .workspace = f->workspace,
                  .sums = f->sums};
    t.d = t.panel + f->panel_scalars;
    t.e = t.d + f->pattern.n;
    t.root_sums = t.sums + (int64_t)SQUARE * f->pattern.strips;
    t.turned = t.root_sums + (int64_t)SQUARE * f->pattern.strips;
    int32_t *told = calloc((size_t)t.p->words + 1, sizeof *told);
    for (int32_t q = 0; q < t.p->batches && !t.wrong; q++)
        run_batch(&t, &t.p->batch[q], told, &r);
    free(told);
    for (int32_t q = 0; q < t.p->smalls && !t.wrong; q++)
        run_small(&t, q);
    if (!f->cholesky)
        put_pivots(&t);
    return t.wrong;
}
