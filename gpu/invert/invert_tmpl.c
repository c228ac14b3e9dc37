/* gpu/invert/invert_tmpl.c: the inverses of the groups, computed on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/invert.h"
#include "base/scalar.h"
#include "dense/cpu/front.h"
#include "dense/cpu/ldlt.h"
#include "dense/cpu/product.h"
#include <omp.h>
#include <string.h>

/* One group at work. */
typedef struct group_work {
    const factor_tree *tree;
    const pieces *pieces;
    const groups *g;
    int32_t i, k, r;
    const int32_t *node_of; /* n: node that eliminates each position */
    int32_t *place;         /* n: of positions below the group among its rows */
    scalar *l, *w;          /* (k + r) x k: L, [M; W] */
    scalar *turned;         /* k x k: M^T */
    scalar *inverse;        /* k x k for a root: G */
    real *sum;              /* 2 k */
} group_work;

/* D^-1(c,c) and D^-1(c, its neighbour) for column j of node s. */
static void inverse_pivot(const factor_tree *tree, int32_t s, int32_t j, scalar *diagonal,
                          scalar *off)
{
    const scalar *d = tree->d[s], *e = tree->e[s];
    *diagonal = *off = 0;
    if (e[j] != 0) {
        *diagonal = 1;
        divide_2x2(tree->hermitian, d[j], e[j], d[j + 1], diagonal, off);
    } else if (j > 0 && e[j - 1] != 0) {
        *diagonal = 1;
        divide_2x2(tree->hermitian, d[j - 1], e[j - 1], d[j], off, diagonal);
    } else if (d[j] != 0)
        *diagonal = 1 / d[j];
}

/* l := [L_K; L_R], zero above the diagonal. */
static void gather(group_work *t)
{
    const factor_tree *tree = t->tree;
    const groups *g = t->g;
    const int64_t m = t->k + t->r;
    for (int64_t q = 0; q < m * t->k; q++)
        t->l[q] = 0;
    for (int32_t a = 0; a < t->r; a++)
        t->place[g->row[g->row_start[t->i] + a]] = t->k + a;
    for (int32_t q = g->piece_start[t->i]; q < g->piece_start[t->i + 1]; q++) {
        const int32_t piece = g->piece[q], s = t->pieces->node[piece], first = tree->first[s],
                      p = tree->first[s + 1] - first;
        const scalar *panel = tree->panel[s];
        const int32_t *row = tree->row + tree->row_start[s];
        const int32_t below = (int32_t)(tree->row_start[s + 1] - tree->row_start[s]);
        for (int32_t j = t->pieces->begin[piece]; j < t->pieces->end[piece]; j++) {
            const scalar *from = panel + (int64_t)j * tree->ld[s];
            scalar *to = t->l + g->local[first + j] * m;
            for (int32_t a = j; a < p + below; a++) {
                const int32_t position = a < p ? first + a : row[a - p];
                to[g->group_of[position] == t->i ? g->local[position] : t->place[position]] =
                    from[a];
            }
            if (!tree->cholesky)
                to[g->local[first + j]] = 1;
        }
    }
}

/* w := [M; W], turned := M^T; returns the largest row sum of |L_K| |M|. */
static double invert(group_work *t)
{
    const int32_t k = t->k, r = t->r, m = k + r;
    const int unit = !t->tree->cholesky;
    for (int64_t q = 0; q < (int64_t)m * k; q++)
        t->w[q] = 0;
    for (int64_t q = 0; q < (int64_t)k * k; q++)
        t->turned[q] = 0;
    for (int32_t c = 0; c < k; c++)
        t->turned[c + (int64_t)c * k] = 1;
    /* columns of M by 64: rows of M^T = I L_K^-T, whose first entries stay zero */
    for (int32_t c = 0; c < k; c += 64) {
        const int32_t columns = k - c < 64 ? k - c : 64;
        scalar *rows = t->turned + c + (int64_t)c * k, *block = t->w + c + (int64_t)c * m;
        NAME(front_solve_right)(0, unit, columns, k - c, t->l + (int64_t)c * m + c, m, rows, k);
        for (int32_t a = 0; a < k - c; a++)
            for (int32_t j = 0; j < columns; j++)
                block[a + (int64_t)j * m] = rows[j + (int64_t)a * k];
        NAME(product_here)()(0, 0, r, columns, k - c, t->l + (int64_t)c * m + k, m, rows, k, 0,
                             t->w + (int64_t)c * m + k, m);
    }
    real *row = t->sum, *product = t->sum + k, largest = 0;
    for (int32_t c = 0; c < k; c++)
        row[c] = product[c] = 0;
    for (int32_t c = 0; c < k; c++)
        for (int32_t a = c; a < k; a++)
            row[a] += scalar_abs(t->w[a + (int64_t)c * m]);
    for (int32_t c = 0; c < k; c++)
        for (int32_t a = c; a < k; a++)
            product[a] += scalar_abs(t->l[a + (int64_t)c * m]) * row[c];
    /* NaN stays */
    for (int32_t c = 0; c < k; c++)
        largest = largest != largest || largest >= product[c] ? largest : product[c];
    return (double)largest;
}

/* D(j,j) and what stands beside it, of column j of node s, in magnitude. */
static real pivot_magnitude(const factor_tree *tree, int32_t s, int32_t j, real x, real before,
                            real after)
{
    const scalar *d = tree->d[s], *e = tree->e[s];
    return scalar_abs(d[j]) * x + (j > 0 ? scalar_abs(e[j - 1]) * before : 0) +
           scalar_abs(e[j]) * after;
}

/* The largest row sum of |L_K| |D| |L_K^T| |G|.  l: L_K; sum: 2 k. */
static double root_growth(const group_work *t, const scalar *l)
{
    const int32_t k = t->k;
    const groups *g = t->g;
    real *x = t->sum, *y = t->sum + k, largest = 0;
    for (int32_t c = 0; c < k; c++)
        x[c] = 0;
    for (int32_t c = 0; c < k; c++)
        for (int32_t a = 0; a < k; a++)
            x[a] += scalar_abs(t->inverse[a + (int64_t)c * k]);
    for (int32_t c = 0; c < k; c++) {
        y[c] = 0;
        for (int32_t a = c; a < k; a++)
            y[c] += scalar_abs(l[a + (int64_t)c * k]) * x[a];
    }
    for (int32_t c = 0; c < k; c++) {
        const int32_t position = g->column[g->column_start[t->i] + c], s = t->node_of[position];
        x[c] = t->tree->cholesky ? y[c]
                                 : pivot_magnitude(t->tree, s, position - t->tree->first[s], y[c],
                                                   c > 0 ? y[c - 1] : 0, c + 1 < k ? y[c + 1] : 0);
    }
    for (int32_t c = 0; c < k; c++)
        y[c] = 0;
    for (int32_t c = 0; c < k; c++)
        for (int32_t a = c; a < k; a++)
            y[a] += scalar_abs(l[a + (int64_t)c * k]) * x[c];
    for (int32_t c = 0; c < k; c++)
        largest = largest != largest || largest >= y[c] ? largest : y[c]; /* NaN stays */
    return (double)largest;
}

/* inverse := G = M^T D^-1 M for a root; l, w and turned are overwritten. */
static void invert_root(group_work *t)
{
    const int32_t k = t->k;
    const groups *g = t->g;
    const factor_tree *tree = t->tree;
    for (int64_t q = 0; q < (int64_t)k * k; q++)
        t->l[q] = t->w[q];
    for (int32_t q = g->piece_start[t->i]; !tree->cholesky && q < g->piece_start[t->i + 1]; q++) {
        const int32_t piece = g->piece[q], s = t->pieces->node[piece];
        for (int32_t j = t->pieces->begin[piece]; j < t->pieces->end[piece]; j++) {
            scalar diagonal, off;
            inverse_pivot(tree, s, j, &diagonal, &off);
            const int32_t a = g->local[tree->first[s] + j];
            const int32_t b = ((const scalar *)tree->e[s])[j] != 0 ? a + 1 : a - 1;
            for (int32_t c = 0; c < k; c++)
                t->l[a + (int64_t)c * k] = diagonal * t->w[a + (int64_t)c * k] +
                                           (off != 0 ? off * t->w[b + (int64_t)c * k] : 0);
        }
    }
    for (int64_t q = 0; q < (int64_t)k * k; q++)
        t->turned[q] = -scalar_mirror(t->turned[q], tree->hermitian);
    /* M is zero above the diagonal, Y = D^-1 M above the subdiagonal of a 2x2 pivot: columns c.. of
     * G need Y's rows from c - 1 on, which w has room for, transposed */
    for (int32_t c = 0; c < k; c += 64) {
        const int32_t from = c > 0 ? c - 1 : 0, columns = k - c < 64 ? k - c : 64;
        for (int32_t a = from; a < k; a++)
            for (int32_t j = 0; j < columns; j++)
                t->w[j + (int64_t)(a - from) * columns] = t->l[a + (int64_t)(c + j) * k];
        NAME(product_here)()(0, 0, k, columns, k - from, t->turned + (int64_t)from * k, k, t->w,
                             columns, 0, t->inverse + (int64_t)c * k, k);
    }
}

/* One tile of the group at hand; x: [M; W] or G, m rows.  order: rows of M in the order in which
 * they are stored, NULL: as they are. */
static void store_tile(const plan_tile *tile, int32_t m, const scalar *x, int32_t k,
                       const int32_t *order, char *values)
{
    scalar *to = (scalar *)(values + 16 * (int64_t)tile->at16);
    memset(to, 0, (size_t)plan_tile_bytes(tile, (int64_t)sizeof(scalar)));
    for (int32_t c = 0; c < tile->columns; c++)
        for (int32_t a = 0; a < tile->rows; a++) {
            const int32_t place = tile->row + a, column = tile->column + c,
                          row = order && place < k ? order[place] : place;
            const int64_t at = tile->kind == IN_SQUARE ? square_at(a, c)
                               : tile->kind == BY_ROWS ? c + (int64_t)a * tile->ld
                                                       : a + (int64_t)c * tile->ld;
            to[at] = !order || row >= column ? x[row + (int64_t)column * m] : 0;
        }
}

static void store_pivots(const group_work *t, const solve_plan *plan, char *values)
{
    const groups *g = t->g;
    const int64_t step = plan_pivot_bytes((int64_t)sizeof(scalar));
    if (plan->pivots_at16[t->i] < 0)
        return;
    char *to = values + 16 * plan->pivots_at16[t->i];
    memset(to, 0, (size_t)(t->k * step));
    for (int32_t q = 0; q < t->k; q++) {
        const int32_t position =
            g->column[g->column_start[t->i] + plan->z_row[g->column_start[t->i] + q]];
        const int32_t s = t->node_of[position];
        scalar *pair = (scalar *)(to + q * step);
        inverse_pivot(t->tree, s, position - t->tree->first[s], pair, pair + 1);
    }
}

static libsolver_status invert_group(environment *env, group_work *t, const solve_plan *plan,
                                     const plan_tile *tile, int32_t tiles, char *values,
                                     double *growth, double *of_root)
{
    const int64_t m = t->k + t->r, k = t->k;
    t->l = memory_new(&env->memory, m * k, sizeof(scalar));
    t->w = memory_new(&env->memory, m * k, sizeof(scalar));
    t->turned = memory_new(&env->memory, k * k, sizeof(scalar));
    t->sum = memory_new(&env->memory, 2 * k, sizeof(real));
    const int is_root = group_is_root_with_inverse(t->g, t->i);
    t->inverse = is_root ? memory_new(&env->memory, k * k, sizeof(scalar)) : NULL;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (t->l && t->w && t->turned && t->sum && (!is_root || t->inverse)) {
        gather(t);
        *growth = invert(t);
        *of_root = 0;
        if (is_root) {
            invert_root(t);
            gather(t); /* L_K again */
            *of_root = root_growth(t, t->l);
        }
        for (int32_t q = 0; q < tiles; q++)
            store_tile(&tile[q], (int32_t)m, is_root ? t->inverse : t->w, t->k,
                       is_root ? NULL : plan->z_row + t->g->column_start[t->i], values);
        store_pivots(t, plan, values);
        status = environment_cancelled(env) ? LIBSOLVER_CANCELLED : LIBSOLVER_OK;
    }
    memory_free(&env->memory, t->l);
    memory_free(&env->memory, t->w);
    memory_free(&env->memory, t->turned);
    memory_free(&env->memory, t->sum);
    memory_free(&env->memory, t->inverse);
    return status;
}

libsolver_status NAME(invert_values)(environment *env, const factor_tree *tree, const pieces *p,
                                     const groups *g, const solve_plan *plan, char *values,
                                     double *growth, double *root_growths)
{
    memory *m = &env->memory;
    const int threads = env->threads;
    int32_t *place = memory_new(m, (int64_t)threads * tree->n, sizeof(int32_t));
    int32_t *first_tile = memory_zeroed(m, g->count + 1, sizeof(int32_t));
    int32_t *node_of = memory_new(m, tree->n, sizeof(int32_t));
    _Atomic int failed = place && first_tile && node_of ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    if (failed == LIBSOLVER_OK) {
        for (int32_t s = 0; s < tree->nodes; s++)
            for (int32_t c = tree->first[s]; c < tree->first[s + 1]; c++)
                node_of[c] = s;
        for (int32_t q = plan->tile_count - 1; q >= 0; q--)
            first_tile[plan->tile[q].group] = q;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int32_t i = g->count - 1; i >= 0; i--) { /* the large ones first */
            if (failed != LIBSOLVER_OK)
                continue;
            group_work t = {.tree = tree,
                            .pieces = p,
                            .g = g,
                            .i = i,
                            .k = group_columns(g, i),
                            .r = group_rows(g, i),
                            .node_of = node_of,
                            .place = place + (int64_t)omp_get_thread_num() * tree->n};
            int32_t tiles = 0;
            while (first_tile[i] + tiles < plan->tile_count &&
                   plan->tile[first_tile[i] + tiles].group == i)
                tiles++;
            const libsolver_status status =
                invert_group(env, &t, plan, plan->tile + first_tile[i], tiles, values, &growth[i],
                             &root_growths[i]);
            if (status != LIBSOLVER_OK)
                failed = status;
        }
    }
    memory_free(m, place);
    memory_free(m, first_tile);
    memory_free(m, node_of);
    return (libsolver_status)failed;
}
