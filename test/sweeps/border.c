/* test/sweeps/border.c: matrices on the border of singularity, of one precision: does `certain`
 * mean right?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: border_P laplacians MOST        singular Laplacians of all grids up to MOST x MOST, in
 *                                        four orders
 *        border_P relabelings COUNT      singular and nearly singular matrices, each with its rows
 *                                        in COUNT random orders
 *        border_P                        short runs of both
 *        border_P -e EFFORT -u THRESHOLD ...     with options.inertia_effort (0, 1, 2) and
 *                                        pivot_threshold; without further attempts singular
 *                                        matrices need not be found
 *
 * The inertia of a grid's Laplacian is known, that of the others comes from the oracle.  A result
 * that is called certain and is not that inertia is a fault.  So that doubt is no way out, at least
 * nine in ten of the singular matrices have to come back as such. */
#include "libsolver.h"
#include "oracle.h"
#include "test/support/random.h"
#include "test/support/typed_scalar.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 72
#define KEPT 3 /* rows of a Schur complement */

/* Lower triangle by columns. */
typedef struct matrix {
    int32_t n;
    int32_t *pointers, *indices;
    scalar *values;
} matrix;

static void *take(size_t bytes)
{
    void *block = calloc(bytes + 1, 1);
    if (!block) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return block;
}

static void matrix_free(matrix *a)
{
    free(a->pointers);
    free(a->indices);
    free(a->values);
}

static libsolver_matrix view_of(const matrix *a)
{
    return (libsolver_matrix){.n = a->n,
                              .pointers = a->pointers,
                              .indices = a->indices,
                              .values = a->values,
                              .type = SCALAR_TYPE,
                              .symmetry =
                                  SCALAR_COMPLEX ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC};
}

/* ---- What a factorization says --------------------------------------------------------------- */

typedef struct expectation {
    int positive, negative, zero;
} expectation;

/* Results, singular matrices among them, those of which that came back with all their zeros, and
 * faults. */
typedef struct tally {
    long results, uncertain, singular, found, faults;
} tally;

static void judge(tally *t, const char *name, const matrix *a, const libsolver_options *o,
                  const expectation *e)
{
    const libsolver_matrix view = view_of(a);
    libsolver_factor *f;
    libsolver_inertia_counts c = {0};
    const libsolver_status status = libsolver_factor_matrix(&view, o, &f);
    t->results++;
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE && o->kind == LIBSOLVER_KIND_SPD) {
        t->uncertain++; /* rounding errors may say so */
        libsolver_factor_free(f);
        return;
    }
    const libsolver_status asked = status < 0 ? status : libsolver_inertia(f, &c);
    const int is_right = asked == LIBSOLVER_OK && c.positive == e->positive &&
                         c.negative == e->negative && c.zero == e->zero;
    if (asked != LIBSOLVER_OK || (c.certain && !is_right)) {
        t->faults++;
        printf("FAULT %s: n %d, kind %d, ordering %d, matching %d, scaling %d, mixed %d: status "
               "%d, %d/%d/%d%s, smallest pivot %.2e; "
               "it is %d/%d/%d\n",
               name, (int)a->n, (int)o->kind, (int)o->ordering, (int)o->matching, (int)o->scaling,
               (int)o->mixed, (int)status, (int)c.positive, (int)c.negative, (int)c.zero,
               c.certain ? " certain" : "", c.smallest_pivot, e->positive, e->negative, e->zero);
    }
    t->uncertain += !c.certain;
    /* Cholesky knows no zero pivots, and what perturbs pivots is asked to go on */
    const int may_perturb = o->kind == LIBSOLVER_KIND_SPD ||
                            o->kind == LIBSOLVER_KIND_QUASI_DEFINITE || o->mixed == LIBSOLVER_ON;
    if (e->zero > 0 && !may_perturb) {
        t->singular++;
        t->found += status == LIBSOLVER_SINGULAR && c.zero == e->zero;
    }
    libsolver_factor_free(f);
}

static const libsolver_ordering orders[] = {LIBSOLVER_ORDERING_NATURAL, LIBSOLVER_ORDERING_AMD,
                                            LIBSOLVER_ORDERING_ND, LIBSOLVER_ORDERING_AUTO};

static libsolver_effort effort;
static double threshold;

static libsolver_options default_options(int order)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = 1;
    o.ordering = orders[order];
    o.inertia_effort = effort;
    o.pivot_threshold = threshold;
    return o;
}

static int report(const char *what, const tally *t)
{
    const double share = t->singular > 0 ? (double)t->found / (double)t->singular : 1;
    printf("%s: %ld results, %ld false certificates; %.2f %% of %ld singular ones are found, %ld "
           "are uncertain\n",
           what, t->results, t->faults, 100 * share, t->singular, t->uncertain);
    return t->faults > 0 || (share < 0.9 && effort == LIBSOLVER_EFFORT_FULL);
}

/* ---- Laplacians of grids --------------------------------------------------------------------- */

static matrix grid_laplacian(int x, int y)
{
    matrix a = {.n = x * y};
    a.pointers = take(sizeof(int32_t) * (size_t)(a.n + 1));
    a.indices = take(sizeof(int32_t) * 3 * (size_t)a.n);
    a.values = take(sizeof(scalar) * 3 * (size_t)a.n);
    int32_t p = 0;
    for (int32_t i = 0; i < a.n; i++) {
        const int right = i % x < x - 1, below = i / x < y - 1;
        a.indices[p] = i;
        a.values[p++] = (scalar)((i % x > 0) + right + (i / x > 0) + below);
        if (right) {
            a.indices[p] = i + 1;
            a.values[p++] = -1;
        }
        if (below) {
            a.indices[p] = i + x;
            a.values[p++] = -1;
        }
        a.pointers[i + 1] = p;
    }
    return a;
}

static int laplacians(int most)
{
    tally t = {0};
    for (int x = 1; x <= most; x++)
        for (int y = 1; y <= x; y++) {
            matrix a = grid_laplacian(x, y);
            const expectation e = {x * y - 1, 0, 1};
            for (int order = 0; order < 4; order++) {
                const libsolver_options o = default_options(order);
                judge(&t, "grid", &a, &o, &e);
            }
            matrix_free(&a);
        }
    return report("Laplacians", &t);
}

/* ---- Matrices on both sides of the border ---------------------------------------------------- */

/* Full symmetric matrices of real numbers; below: what a diagonal entry can be changed by so that
 * numbers of this precision tell. */
typedef double dense[MOST_ROWS][MOST_ROWS];
#define TINY (sizeof(real) == 4 ? 0x1p-18 : 0x1p-44)

static void join(dense a, int i, int j, double weight)
{
    a[i][i] += weight;
    a[j][j] += weight;
    a[i][j] -= weight;
    a[j][i] -= weight;
}

/* x by y by z points; weights 2^k, k below `powers`, of either sign if `is_signed`. */
static int grid(dense a, random_stream *r, int x, int y, int z, int powers, int is_signed)
{
    for (int i = 0; i < x * y * z; i++) {
        const int step[] = {1, x, x * y}, at[] = {i % x, i / x % y, i / x / y}, size[] = {x, y, z};
        for (int k = 0; k < 3; k++)
            if (at[k] < size[k] - 1)
                join(a, i, i + step[k],
                     ldexp(is_signed && random_below(r, 4) == 0 ? -1 : 1,
                           powers > 0 ? random_below(r, powers) : 0));
    }
    return x * y * z;
}

/* [H G'; G 0], H diagonal of order n, with `empty` zeros; G m x n of small integers, the last
 * `dependent` rows sums of two others */
static int saddle(dense a, random_stream *r, int n, int m, int empty, int dependent)
{
    for (int i = 0; i < n; i++)
        a[i][i] = i < empty ? 0 : 1 + random_below(r, 4);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a[n + i][j] = i < m - dependent
                              ? (double)(random_below(r, 5) == 0 ? random_below(r, 7) - 3 : 0)
                              : a[n + i - dependent][j] + a[n + (i + 1) % (m - dependent)][j];
    for (int i = n; i < n + m; i++)
        for (int j = 0; j < n; j++)
            a[j][i] = a[i][j];
    return n + m;
}

/* B diag(s) B', B n x rank of integers in [-2, 2] */
static int product(dense a, random_stream *r, int n, int rank, int is_signed)
{
    for (int k = 0; k < rank; k++) {
        double b[MOST_ROWS];
        for (int i = 0; i < n; i++)
            b[i] = random_below(r, 3) == 0 ? random_below(r, 5) - 2 : 0;
        const double sign = is_signed && k % 3 == 0 ? -1 : 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a[i][j] += sign * b[i] * b[j];
    }
    return n;
}

/* L D L', L unit lower triangular of 1 and -1: pivots are large though the matrix is nearly, or,
 * with last = 0, singular. */
static int steep(dense a, int n, double last)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k <= j; k++)
                a[i][j] += (k < n - 1 ? 1 : last) * (i == k ? 1 : -1) * (j == k ? 1 : -1);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            a[i][j] = a[j][i];
    return n;
}

static int cauchy(dense a, int n, double shift)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = 1 / (i + j + shift);
    return n;
}

/* Rows and columns times 2^-k, k random below `powers`. */
static void grade(dense a, random_stream *r, int n, int powers)
{
    for (int i = 0; i < n; i++) {
        const double scale = ldexp(1, -random_below(r, powers));
        for (int j = 0; j < n; j++) {
            a[i][j] *= scale;
            a[j][i] *= scale;
        }
    }
}

#define SAMPLES 24
static const char *const sample_names[SAMPLES] = {"grid",
                                                  "grid in space",
                                                  "two grids",
                                                  "complete graph",
                                                  "star",
                                                  "grid and a little",
                                                  "grid less a little",
                                                  "weighted grid",
                                                  "signed grid",
                                                  "product",
                                                  "signed product",
                                                  "dependent rows",
                                                  "empty block",
                                                  "Hilbert 40",
                                                  "Hilbert 12",
                                                  "Cauchy",
                                                  "shifted path",
                                                  "steep",
                                                  "steep, tiny",
                                                  "squared grid",
                                                  "graded grid",
                                                  "graded saddle",
                                                  "zero rows",
                                                  "grid, two rows alike"};

static int make_sample(int k, random_stream *r, dense a)
{
    static dense b;
    int n = 0;
    memset(a, 0, sizeof(dense));
    switch (k) {
    case 0:
        return grid(a, r, 8, 9, 1, 0, 0);
    case 1:
        return grid(a, r, 4, 4, 4, 0, 0);
    case 2:
        n = grid(a, r, 7, 5, 1, 0, 0);
        for (int i = n; i < n + 20; i++)
            join(a, i, i + 1, 1);
        return n + 21;
    case 3:
        for (int i = 0; i < 24; i++)
            for (int j = 0; j < i; j++)
                join(a, i, j, 1);
        return 24;
    case 4:
        for (int i = 1; i < 40; i++)
            join(a, 0, i, 1);
        return 40;
    case 5:
    case 6:
        n = grid(a, r, 8, 8, 1, 0, 0);
        a[20][20] += k == 5 ? TINY : -TINY;
        return n;
    case 7:
        return grid(a, r, 7, 8, 1, 10, 0);
    case 8:
        return grid(a, r, 6, 7, 1, 3, 1);
    case 9:
        return product(a, r, 40, 36, 0);
    case 10:
        return product(a, r, 40, 38, 1);
    case 11:
        return saddle(a, r, 40, 20, 0, 3);
    case 12:
        return saddle(a, r, 30, 20, 16, 0);
    case 13:
        return cauchy(a, 40, 1);
    case 14:
        return cauchy(a, 12, 1);
    case 15:
        return cauchy(a, 9, 0.5);
    case 16:
        for (int i = 0; i < 60; i++)
            join(a, i, i + 1, 1);
        for (int i = 0; i < 61; i++)
            a[i][i] += TINY;
        return 61;
    case 17:
        return steep(a, 20, 0);
    case 18:
        return steep(a, 20, TINY);
    case 19:
        memset(b, 0, sizeof b);
        n = grid(b, r, 6, 6, 1, 0, 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < n; l++)
                    a[i][j] += b[i][l] * b[l][j];
        return n;
    case 20:
        n = grid(a, r, 8, 8, 1, 0, 0);
        grade(a, r, n, 20);
        return n;
    case 21:
        n = saddle(a, r, 30, 12, 0, 2);
        grade(a, r, n, 12);
        return n;
    case 22:
        return grid(a, r, 6, 6, 1, 0, 0) + 4;
    default:
        n = grid(a, r, 7, 7, 1, 0, 0);
        for (int i = 0; i < n; i++)
            a[i][i] += 1;
        for (int i = 0; i <= n; i++) /* row n := row 3 */
            a[n][i] = a[i][n] = a[3][i < n ? i : 3];
        return n + 1;
    }
}

/* The entry as it is stored: in this precision, and complex ones with the phases i^(3 i) and i^(-3
 * j). */
static scalar stored(dense a, int i, int j)
{
    const scalar value = (scalar)(real)a[i][j];
#if SCALAR_COMPLEX
    static const scalar powers[] = {1, 1.0 * _Complex_I, -1, -1.0 * _Complex_I};
    return value * powers[(3 * (i - j) % 4 + 4) % 4];
#else
    return value;
#endif
}

static expectation expected(dense a, int n)
{
    oracle_matrix m = oracle_matrix_new(n, 0, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m.entry[i + n * j].re = (real)a[i][j];
    const oracle_signs s = oracle_inertia(&m);
    oracle_matrix_free(&m);
    if (!s.decided) {
        fputs("the oracle cannot decide\n", stderr);
        exit(2);
    }
    return (expectation){s.positive, s.negative, s.zero};
}

/* Row i of a becomes row place[i]. */
static matrix relabeled(dense a, int n, const int32_t *place)
{
    matrix m = {.n = n};
    int32_t row[MOST_ROWS], p = 0;
    m.pointers = take(sizeof(int32_t) * (size_t)(n + 1));
    m.indices = take(sizeof(int32_t) * (size_t)(n * n));
    m.values = take(sizeof(scalar) * (size_t)(n * n));
    for (int i = 0; i < n; i++)
        row[place[i]] = i;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            const scalar value = stored(a, row[i], row[j]);
            if (value != 0) {
                m.indices[p] = i;
                m.values[p++] = value;
            }
        }
        m.pointers[j + 1] = p;
    }
    return m;
}

/* The ways in which a matrix is factorized; those from WITHOUT_ROWS on are of the matrix without
 * its first KEPT rows. */
enum { WAYS = 10, WITHOUT_ROWS = 8 };

static libsolver_options options_of_way(int way, int order, const int8_t *signs,
                                        const int64_t *kept)
{
    libsolver_options o = default_options(order);
    switch (way) {
    case 1:
        o.kind = LIBSOLVER_KIND_SPD;
        break;
    case 2:
        o.kind = LIBSOLVER_KIND_INDEFINITE;
        break;
    case 3:
        o.kind = LIBSOLVER_KIND_INDEFINITE, o.matching = LIBSOLVER_OFF;
        break;
    case 4:
        o.scaling = o.matching = LIBSOLVER_OFF;
        break;
    case 5:
        o.kind = LIBSOLVER_KIND_INDEFINITE, o.matching = LIBSOLVER_ON;
        break;
    case 6:
        o.kind = LIBSOLVER_KIND_QUASI_DEFINITE, o.expected_signs = signs;
        break;
    case 7:
        o.mixed = sizeof(real) == 8 ? LIBSOLVER_ON : LIBSOLVER_AUTO;
        break;
    case 8:
        o.schur_rows = kept, o.schur_size = KEPT;
        break;
    case 9:
        o.schur_rows = kept, o.schur_size = KEPT, o.kind = LIBSOLVER_KIND_INDEFINITE,
        o.matching = LIBSOLVER_OFF;
        break;
    default:
        break;
    }
    return o;
}

/* a without its first rows and columns */
static void cut(dense a, int n, dense b)
{
    for (int i = KEPT; i < n; i++)
        for (int j = KEPT; j < n; j++)
            b[i - KEPT][j - KEPT] = a[i][j];
}

static int relabelings(int count)
{
    static dense a, b;
    int8_t signs[MOST_ROWS];
    tally all = {0};
    memset(signs, 1, sizeof signs);
    for (int k = 0; k < SAMPLES; k++) {
        random_stream r = random_seeded((uint64_t)k + 1);
        const int n = make_sample(k, &r, a);
        cut(a, n, b);
        const expectation whole = expected(a, n), part = expected(b, n - KEPT);
        for (int turn = 0; turn < count; turn++) {
            int32_t place[MOST_ROWS];
            random_permutation(&r, n, place);
            const int64_t kept[KEPT] = {place[0], place[1], place[2]};
            matrix m = relabeled(a, n, place);
            for (int way = 0; way < WAYS; way++) {
                const libsolver_options o = options_of_way(way, turn % 4, signs, kept);
                judge(&all, sample_names[k], &m, &o, way >= WITHOUT_ROWS ? &part : &whole);
            }
            matrix_free(&m);
        }
    }
    return report("relabelings", &all);
}

int main(int argc, char **argv)
{
    for (; argc > 2 && argv[1][0] == '-'; argc -= 2, argv += 2)
        if (strcmp(argv[1], "-e") == 0)
            effort = (libsolver_effort)atoi(argv[2]);
        else
            threshold = atof(argv[2]);
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    if (argc == 1)
        return laplacians(14) | relabelings(4);
    if (argc == 3 && count > 0 && strcmp(argv[1], "laplacians") == 0)
        return laplacians(count);
    if (argc == 3 && count > 0 && strcmp(argv[1], "relabelings") == 0)
        return relabelings(count);
    fputs("usage: border_P [laplacians MOST | relabelings COUNT]\n", stderr);
    return 2;
}
