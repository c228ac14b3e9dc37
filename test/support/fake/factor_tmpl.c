/* test/support/fake/factor_tmpl.c: the tasks of a factorization, of which every scalar that they
 * read or write is looked after
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every scalar knows the task that wrote it and one that read it: reading what nobody has written
 * is found, tasks of one level that touch the same one, of which one writes, a child's entry that
 * another front has overwritten, and a column of L that is written after its words have told that
 * it is there (gpu/factor/columns.h). */
#include "factor_emulator.h"
#include <math.h>
#include <stdlib.h>

enum { T = FACTOR_TILE };

/* Column of the panel of the front at hand. */
static int32_t column_at(const emulator *e, int64_t at)
{
    const factor_front *f = e->g->front + e->front;
    return (int32_t)((at - f->panel) / f->ld);
}

static int is_of_level(const emulator *e, int32_t task)
{
    return e->level && task >= 0 && task != e->task && e->level[task] == e->level[e->task];
}

static scalar read_at(emulator *e, watched *w, int64_t at)
{
    complain(e, at < 0 || at >= w->size, "a task reads what is not there");
    if (e->wrong)
        return 0;
    complain(e, w->writer[at] < 0, "a task reads what nobody has written");
    complain(e, is_of_level(e, w->writer[at]), "a task reads what another of its level writes");
    w->reader[at] = e->task;
    return w->v[at];
}

static void write_at(emulator *e, watched *w, int64_t at, scalar v)
{
    complain(e, at < 0 || at >= w->size, "a task writes to what is not there");
    if (e->wrong)
        return;
    complain(e, is_of_level(e, w->writer[at]) || is_of_level(e, w->reader[at]),
             "a task writes to what another of its level reads or writes");
    complain(e, w == &e->panel && e->told.of && is_told(e, e->front, column_at(e, at)),
             "a task writes to a column that is told to be there");
    w->writer[at] = e->task;
    w->owner[at] = e->front;
    w->v[at] = v;
}

/* ---- Pulls and entries ----------------------------------------------------------------------- */

/* Entry (i, j) of a child's block, at or below its diagonal. */
static scalar child_entry(emulator *e, const factor_front *f, int32_t c, int32_t i, int32_t j)
{
    const factor_child *child = e->g->child + f->child + c;
    const int64_t at = child->block + i + (int64_t)j * child->r;
    const scalar v = read_at(e, &e->arena, at);
    if (!e->wrong) {
        const factor_front *owner = e->g->front + e->arena.owner[at];
        complain(e, owner->block != child->block || owner->m - owner->k != child->r,
                 "a child's block was overwritten");
    }
    return v;
}

/* block(i, j), rows x columns of the front from (row, column) on, += what the children have there,
 * at or below the diagonal.  from, to: row blocks, by which the child's rows are found in tiled
 * fronts; -1: all of them are there. */
typedef struct target {
    int32_t row, rows, column, columns, ld;
    int32_t row_block, column_block;
    scalar *v;
} target;

static void pull(emulator *e, const factor_front *f, const target *t)
{
    for (int32_t c = 0; c < f->children; c++) {
        const factor_child *child = e->g->child + f->child + c;
        const int32_t *position = e->g->position + child->position;
        int32_t i0 = 0, i1 = child->r, j0 = 0, j1 = child->r;
        if (t->row_block >= 0) {
            const int32_t *begin = e->g->begin + child->begin;
            i0 = begin[t->row_block];
            i1 = begin[t->row_block + 1];
            j0 = begin[t->column_block];
            j1 = begin[t->column_block + 1];
        }
        for (int32_t j = j0; j < j1; j++)
            for (int32_t i = i0 > j ? i0 : j; i < i1; i++) {
                const int32_t row = position[i] - t->row, column = position[j] - t->column;
                complain(e, row < 0 || row >= t->rows || column < 0 || column >= t->columns,
                         "a pull goes past its tile");
                if (!e->wrong)
                    t->v[row + column * t->ld] += child_entry(e, f, c, i, j);
            }
    }
}

static void add_entries(emulator *e, int64_t from, int64_t to, const target *t)
{
    for (int64_t q = from; q < to; q++) {
        const factor_entry a = e->g->entry[q];
        complain(e, a.row >= t->rows || a.column >= t->columns, "an entry goes past its tile");
        if (!e->wrong)
            t->v[a.row + a.column * t->ld] += e->values[q];
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* The sign of the column of a row of P A P^T. */
static real sign_of(const emulator *e, int32_t row)
{
    return e->f->signs && e->f->signs[row] < 0 ? -1 : 1;
}

/* The root with a real part that is not negative. */
static scalar root_of(scalar a)
{
#if SCALAR_COMPLEX
    return (scalar)csqrt((double _Complex)a);
#else
    return (scalar)sqrt((double)a);
#endif
}

/* Cholesky of the first k columns, with the CPU's rule for pivots; with signs A = L S L^H, and
 * pivots are to have theirs, those of a complex symmetric A = L S L^T at the end. */
static void factorize_columns(emulator *e, int32_t first, int32_t m, int32_t k, int32_t ld,
                              scalar *v)
{
    for (int32_t j = 0; j < k; j++) {
        const real sign = sign_of(e, first + j);
        const double start = e->f->signs ? 0 : (double)e->diagonal[first + j];
        scalar pivot = sign * scalar_diagonal(v[j + j * ld], is_hermitian(e));
        const double size = (double)(is_hermitian(e) ? scalar_real(pivot) : scalar_abs(pivot));
        if (!(size > 16 * (double)EPS * start)) {
            if (first + j < e->outcome.failed)
                e->outcome.failed = first + j;
            pivot = 1;
        } else {
            e->outcome.uncertain += !e->f->signs && size <= e->f->doubt_level * start;
            e->outcome.smallest = fmin(e->outcome.smallest, size);
        }
        const scalar root = root_of(pivot);
        v[j + j * ld] = root;
        for (int32_t i = j + 1; i < m; i++)
            v[i + j * ld] /= sign * root;
        for (int32_t c = j + 1; c < m; c++)
            for (int32_t i = c; i < m; i++)
                v[i + c * ld] -=
                    sign * v[i + j * ld] * scalar_mirror(v[c + j * ld], is_hermitian(e));
    }
}

/* Front s; its contribution block goes to the arena or, sum not NULL, is added to `sum`, rows x
 * rows, where position says. */
static void do_small(emulator *e, int32_t s, scalar *sum, int32_t rows, const int32_t *position)
{
    const factor_front *f = e->g->front + s;
    const int32_t m = f->m, k = f->k, r = m - k;
    scalar *v = calloc((size_t)m * (size_t)m, sizeof(scalar));
    const target all = {.rows = m, .columns = m, .ld = m, .row_block = -1, .v = v};
    complain(e, !v, "no memory");
    e->front = s;
    if (e->wrong)
        return;
    add_entries(e, f->entry, f->entry + f->entries, &all);
    pull(e, f, &all);
    factorize_columns(e, f->first, m, k, m, v);
    for (int32_t j = 0; j < k; j++)
        for (int32_t i = j; i < m; i++)
            write_at(e, &e->panel, f->panel + i + (int64_t)j * m,
                     e->f->signs && i > j ? v[i + j * m] / v[j + j * m] : v[i + j * m]);
    for (int32_t j = 0; j < r; j++)
        for (int32_t i = j; i < r; i++)
            if (sum)
                sum[position[i] + position[j] * rows] += v[k + i + (k + j) * m];
            else
                write_at(e, &e->arena, f->block + i + (int64_t)j * r, v[k + i + (k + j) * m]);
    free(v);
}

/* The leaves of a range with the group that sums them. */
void NAME(emulate_group_of_leaves)(emulator *e, const factor_range *range)
{
    const factor_front *group = e->g->front + range->group;
    const int32_t r = group->m;
    scalar *sum = calloc((size_t)r * (size_t)r, sizeof(scalar));
    complain(e, !sum, "no memory");
    complain(e,
             r > FACTOR_TINY_ROWS || group->children != range->leaves ||
                 range->end - range->first != range->leaves ||
                 range->leaves > FACTOR_SUMMED_LEAVES || group->k > 0,
             "a group of leaves is none");
    for (int32_t q = 0; q < range->leaves && !e->wrong; q++)
        do_small(e, range->first + q, sum, r,
                 e->g->position + e->g->child[group->child + q].position);
    e->front = range->group;
    for (int32_t j = 0; j < r && !e->wrong; j++)
        for (int32_t i = j; i < r; i++)
            write_at(e, &e->arena, group->block + i + (int64_t)j * r, sum[i + j * r]);
    free(sum);
}

/* Row block i of a tiled front gets a unit diagonal, which is not written. */
static void divide(emulator *e, const factor_front *f, const target *t)
{
    for (int32_t i = t->row; i < t->row + t->rows; i++)
        for (int32_t j = 0; j < f->k && j < i; j++) {
            const int64_t at = f->panel + i + (int64_t)j * f->ld;
            const scalar root = read_at(e, &e->panel, f->panel + j + (int64_t)j * f->ld),
                         v = read_at(e, &e->panel, at);
            write_at(e, &e->panel, at, v / root);
        }
}

/* Fronts [first, end), for which there is shared memory up to so many rows. */
void NAME(emulate_fronts)(emulator *e, int32_t first, int32_t end, int32_t most_rows)
{
    for (int32_t s = first; s < end && !e->wrong; s++) {
        complain(e, e->g->front[s].m > most_rows, "a front does not fit in shared memory");
        do_small(e, s, NULL, 0, NULL);
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static target tile_of(const factor_front *f, int32_t i, int32_t j, scalar *v)
{
    const int32_t row = factor_block_row(f, i), column = factor_block_row(f, j);
    return (target){.row = row,
                    .rows = factor_block_row(f, i + 1) - row,
                    .column = column,
                    .columns = factor_block_row(f, j + 1) - column,
                    .ld = T,
                    .row_block = i,
                    .column_block = j,
                    .v = v};
}

static int is_kept(const target *t, int32_t i, int32_t j)
{
    return t->row + i >= t->column + j;
}

static void load_panel(emulator *e, const factor_front *f, const target *t)
{
    for (int32_t j = 0; j < t->columns; j++)
        for (int32_t i = 0; i < t->rows; i++)
            if (is_kept(t, i, j))
                t->v[i + j * T] =
                    read_at(e, &e->panel, f->panel + t->row + i + (int64_t)(t->column + j) * f->ld);
}

/* Tile := entries of A and what the children have. */
static void assemble(emulator *e, const factor_front *f, const target *t)
{
    const int32_t number = factor_tile_number(f, t->row_block, t->column_block);
    add_entries(e, factor_tile_begin(f, e->g->tile_end, number), e->g->tile_end[f->tiles + number],
                t);
    pull(e, f, t);
}

/* A tile that tasks have changed before, or, of panel 0, none has. */
static void begin_tile(emulator *e, const factor_front *f, const target *t)
{
    (t->column_block == 0 ? assemble : load_panel)(e, f, t);
}

static void store_panel(emulator *e, const factor_front *f, const target *t)
{
    for (int32_t j = 0; j < t->columns; j++)
        for (int32_t i = 0; i < t->rows; i++)
            if (is_kept(t, i, j))
                write_at(e, &e->panel, f->panel + t->row + i + (int64_t)(t->column + j) * f->ld,
                         t->v[i + j * T]);
}

/* tile -= L(rows, panels [from, to)) L(columns, the same)^H */
static void subtract_product(emulator *e, const factor_front *f, const target *t, int32_t from,
                             int32_t to)
{
    const int32_t c0 = factor_block_row(f, from), c1 = factor_block_row(f, to);
    for (int32_t c = c0; c < c1; c++)
        for (int32_t j = 0; j < t->columns; j++) {
            const scalar y =
                sign_of(e, f->first + c) *
                scalar_mirror(read_at(e, &e->panel, f->panel + t->column + j + (int64_t)c * f->ld),
                              is_hermitian(e));
            for (int32_t i = 0; i < t->rows; i++)
                if (is_kept(t, i, j))
                    t->v[i + j * T] -=
                        read_at(e, &e->panel, f->panel + t->row + i + (int64_t)c * f->ld) * y;
        }
}

static int64_t inverse_at(const factor_front *f, int32_t q)
{
    return (int64_t)(f->inverse + q) * T * T;
}

/* X := S inv(L), stored with zeros above its diagonal. */
static void store_inverse(emulator *e, const factor_front *f, int32_t q, const target *t)
{
    for (int32_t j = 0; j < t->columns; j++) {
        scalar x[T] = {0};
        for (int32_t i = j; i < t->columns; i++) {
            scalar sum = i == j;
            for (int32_t p = j; p < i; p++)
                sum -= t->v[i + p * T] * x[p];
            x[i] = sum / t->v[i + i * T];
        }
        for (int32_t i = 0; i < T; i++)
            write_at(e, &e->inverse, inverse_at(f, q) + i + j * T,
                     i < t->columns ? sign_of(e, f->first + t->column + i) * x[i] : 0);
    }
}

/* A row of a tile times the inverse of diagonal block q, conjugate transposed; ... */
static void multiply_row(emulator *e, const factor_front *f, int32_t q, int32_t columns,
                         scalar *row)
{
    for (int32_t c = columns - 1; c >= 0; c--) {
        scalar sum = 0;
        for (int32_t p = 0; p <= c; p++)
            sum += row[p] * scalar_mirror(read_at(e, &e->inverse, inverse_at(f, q) + c + p * T),
                                          is_hermitian(e));
        row[c] = sum;
    }
}

/* ... or by substitution. */
static void substitute_row(emulator *e, const factor_front *f, int32_t q, int32_t columns,
                           scalar *row)
{
    const int32_t first = factor_block_row(f, q);
    const int64_t diagonal = f->panel + (int64_t)first * (f->ld + 1);
    for (int32_t c = 0; c < columns; c++) {
        scalar sum = row[c];
        for (int32_t p = 0; p < c; p++)
            sum -= sign_of(e, f->first + first + p) * row[p] *
                   scalar_mirror(read_at(e, &e->panel, diagonal + c + (int64_t)p * f->ld),
                                 is_hermitian(e));
        row[c] = sum / (sign_of(e, f->first + first + c) *
                        read_at(e, &e->panel, diagonal + (int64_t)c * (f->ld + 1)));
    }
}

/* Tile (i, q) of L from what the panel holds: see FACTOR_ROWS.  Which way kernels go depends on the
 * inverse; here every other task goes one way, so that both are watched. */
static void do_rows(emulator *e, const factor_front *f, int32_t i, int32_t q)
{
    scalar v[T * T] = {0}, row[T];
    const target t = tile_of(f, i, q, v);
    begin_tile(e, f, &t);
    subtract_product(e, f, &t, q > 0 ? q - 1 : 0, q);
    for (int32_t a = 0; a < t.rows; a++) {
        for (int32_t c = 0; c < t.columns; c++)
            row[c] = v[a + c * T];
        (e->task % 2 ? multiply_row : substitute_row)(e, f, q, t.columns, row);
        for (int32_t c = 0; c < t.columns; c++)
            v[a + c * T] = row[c];
    }
    store_panel(e, f, &t);
}

/* Diagonal block i, of two panels. */
static void do_next_diagonal(emulator *e, const factor_front *f, int32_t i)
{
    scalar v[T * T] = {0};
    const target t = tile_of(f, i, i, v);
    load_panel(e, f, &t);
    subtract_product(e, f, &t, i > 2 ? i - 3 : 0, i - 1);
    store_panel(e, f, &t);
}

/* The q-th word of a task. */
void NAME(emulate_tell)(emulator *e, const factor_front *f, const factor_task *task, int32_t q)
{
    const factor_wait w = factor_tell_of(f, task, q);
    if (!e->word || w.word < 0)
        return;
    complain(e, e->word[w.word] >= w.least, "a word goes back");
    e->word[w.word] = w.least;
}

/* What a task does to one tile. */
static void do_task(emulator *e, const factor_task *task)
{
    const factor_front *f = e->g->front + task->front;
    const int is_tile = task->kind != FACTOR_TINY && task->kind != FACTOR_SMALL;
    scalar v[T * T] = {0};
    const int32_t column = task->kind == FACTOR_PIVOT ? task->i : task->j;
    const target t = is_tile ? tile_of(f, task->i, column, v) : (target){0};
    e->front = task->front;
    switch ((factor_kind)task->kind) {
    case FACTOR_ASSEMBLE:
        assemble(e, f, &t);
        store_panel(e, f, &t);
        break;
    case FACTOR_PIVOT:
        if (task->i > 0)
            do_rows(e, f, task->i, task->i - 1);
        begin_tile(e, f, &t);
        subtract_product(e, f, &t, task->i > 0 ? task->i - 1 : 0, task->i);
        factorize_columns(e, f->first + t.column, t.columns, t.columns, T, v);
        if (f->m > t.row + t.columns)
            store_inverse(e, f, task->i, &t);
        for (int32_t q = 0; q < 2; q++) /* which kernels tell before the block is stored */
            NAME(emulate_tell)(e, f, task, q);
        store_panel(e, f, &t);
        break;
    case FACTOR_ROWS:
        do_rows(e, f, task->i, task->j);
        if (task->i == task->j + 2 && task->i < factor_pivot_blocks(f))
            do_next_diagonal(e, f, task->i);
        break;
    case FACTOR_UPDATE:
        load_panel(e, f, &t);
        subtract_product(e, f, &t, task->from, task->to);
        store_panel(e, f, &t);
        break;
    case FACTOR_CONTRIBUTION:
        pull(e, f, &t);
        subtract_product(e, f, &t, 0, task->to);
        for (int32_t j = 0; j < t.columns; j++)
            for (int32_t i = 0; i < t.rows; i++)
                if (is_kept(&t, i, j))
                    write_at(e, &e->arena,
                             f->block + t.row - f->k + i +
                                 (int64_t)(t.column - f->k + j) * (f->m - f->k),
                             v[i + j * T]);
        break;
    case FACTOR_DIVIDE:
        divide(e, f, &t);
        break;
    case FACTOR_TINY:
        for (int32_t q = task->i; q < task->i + task->j; q++)
            if (e->g->range[q].group >= 0)
                NAME(emulate_group_of_leaves)(e, e->g->range + q);
            else
                NAME(emulate_fronts)(e, e->g->range[q].first, e->g->range[q].end, FACTOR_TINY_ROWS);
        break;
    case FACTOR_SMALL:
        NAME(emulate_fronts)(e, task->i, task->j, factor_small_rows(SCALAR_TYPE));
        break;
    case FACTOR_TALL_UPDATE:
    case FACTOR_TALL_CONTRIBUTION:
        complain(e, 1, "a task of one tile is expected");
        break;
    }
}

void NAME(emulate_task)(emulator *e, const factor_task *task)
{
    factor_task one = *task;
    one.kind = (int32_t)factor_kind_of(task);
    do_task(e, &one);
    one.i++;
    if (factor_is_tall(task))
        do_task(e, &one);
}
