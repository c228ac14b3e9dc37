/* test/test_types_api.c: the public library in one precision (-DPREC_x, -DMIXED with a factor in single), symmetric and
 * Hermitian: views, factors, solves, inertia, singular systems, threads
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include "typed_factor.h"
#include <stdlib.h>

#define FACTOR_ROUNDING ((SCALAR_COMPLEX ? 4 : 1) * (long double)FACTOR_EPS)
#define ORDINARY 64

/* A view and its arrays; an entry may come in two parts. */
typedef struct arrays {
    libsolver_matrix view;
    int64_t pointers[2 * MOST * MOST], indices[2 * MOST * MOST];
    scalar values[2 * MOST * MOST];
} arrays;

/* POSITIVE: dominated by the diagonal.  HOLLOW: two thirds of the diagonal are zero. */
enum { POSITIVE, INDEFINITE, HOLLOW, KINDS };

static dense *random_system(random_stream *r, int hermitian, int64_t n, double density, int kind)
{
    dense *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->hermitian = hermitian;
    s->n = n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++) {
            if (i > j && random_below(r, 1000) >= density * 1000)
                continue;
            s->stored[i][j] = 1;
            s->a[i][j] = i == j ? scalar_diagonal(dense_scalar(r), hermitian) : dense_scalar(r);
            if (i == j)
                s->a[j][j] = kind == POSITIVE ? (scalar)(2 * n + 2) : kind == HOLLOW && j % 3 ? 0 : s->a[j][j];
        }
    return s;
}

static void append(arrays *v, int64_t row, int64_t column, scalar value)
{
    v->pointers[v->view.nnz] = column + v->view.base;
    v->indices[v->view.nnz] = row + v->view.base;
    v->values[v->view.nnz++] = value;
}

/* The view of kind 0 .. 11 (0: LOWER, compressed, base 0), r: entries come in two parts, NULL: in one. */
#define VIEWS 12
static arrays *view_of(const dense *s, int kind, random_stream *r)
{
    arrays *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->view = (libsolver_matrix){.n = s->n,
                                 .indices = v->indices,
                                 .values = v->values,
                                 .type = SCALAR_TYPE,
                                 .symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                                 .storage = (libsolver_storage)(kind % 3),
                                 .format = (libsolver_format)(kind / 3 % 2),
                                 .base = kind / 6,
                                 .pointer_type = LIBSOLVER_INT64,
                                 .index_type = LIBSOLVER_INT64};
    int64_t starts[MOST + 1];
    for (int64_t column = 0; column < s->n; column++) {
        starts[column] = v->view.nnz + v->view.base;
        for (int64_t row = 0; row < s->n; row++) {
            const int64_t i = row > column ? row : column, j = row > column ? column : row;
            if (!s->stored[i][j] || (v->view.storage == LIBSOLVER_LOWER && row < column) ||
                (v->view.storage == LIBSOLVER_UPPER && row > column))
                continue;
            const scalar value = (scalar)dense_at(s, row, column);
            scalar part = r ? dense_scalar(r) : 0;
            part = row == column ? scalar_diagonal(part, s->hermitian) : part;
            append(v, row, column, value - part);
            if (r)
                append(v, row, column, part);
        }
    }
    starts[s->n] = v->view.nnz + v->view.base;
    if (v->view.format == LIBSOLVER_COMPRESSED)
        memcpy(v->pointers, starts, sizeof(int64_t) * (size_t)(s->n + 1));
    v->view.pointers = v->pointers;
    return v;
}

static libsolver_options with_kind(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.kind = kind;
    o.threads = 1;
    o.mixed = CHOICE;
    o.backend = BACKEND;
    return o;
}

static libsolver_factor *factor_of(const dense *s, const libsolver_options *options, libsolver_status wanted)
{
    arrays *v = view_of(s, 0, NULL);
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&v->view, options, &f), wanted);
    free(v);
    return f;
}

/* ---- views ------------------------------------------------------------------------------------------ */

static void every_view_gives_the_same_bits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 20);
            dense *s = random_system(&r, hermitian, n, 0.3, (int)(seed % 2) ? HOLLOW : INDEFINITE);
            scalar b[MOST], first[MOST], x[MOST];
            libsolver_status status = LIBSOLVER_OK;
            for (int64_t i = 0; i < n; i++)
                b[i] = dense_scalar(&r);
            for (int kind = 0; kind < VIEWS; kind++) {
                arrays *v = view_of(s, kind, kind % 2 ? &r : NULL);
                const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
                libsolver_factor *f = NULL;
                const libsolver_status now = libsolver_factor_matrix(&v->view, &o, &f);
                assert_true(now >= 0);
                const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(kind ? x : first, n, 1);
                assert_true(libsolver_solve(f, &bv, &xv) >= 0);
                if (kind == 0)
                    status = now;
                assert_int_equal(now, status);
                assert_memory_equal(kind ? x : first, first, sizeof(scalar) * (size_t)n);
                libsolver_factor_free(f);
                free(v);
            }
            free(s);
        }
}

static libsolver_status status_of(arrays *v, const libsolver_options *o)
{
    libsolver_factor *f = NULL;
    const libsolver_status status = libsolver_factor_matrix(&v->view, o, &f);
    assert_true(status >= 0 || libsolver_factor_message(f)[0] != 0);
    libsolver_factor_free(f);
    return status;
}

/* Place of the diagonal entry of row i, or of one beside the diagonal. */
static int64_t find(const arrays *v, int diagonal)
{
    int64_t k = 0;
    while ((v->pointers[k] == v->indices[k]) != diagonal)
        k++;
    return k;
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int storage = 0; storage < 3; storage++) {
            random_stream r = random_seeded(3);
            dense *s = random_system(&r, hermitian, 9, 0.5, POSITIVE);
            arrays *v = view_of(s, 3 + storage, NULL);
            const int64_t on = find(v, 1), off = find(v, 0);
            assert_int_equal(status_of(v, &o), LIBSOLVER_OK);
            const scalar before = v->values[off], diagonal = v->values[on];
            v->values[off] = NAN;
            assert_int_equal(status_of(v, &o), LIBSOLVER_NONFINITE);
            v->values[off] = before + 1;
            assert_int_equal(status_of(v, &o), storage == LIBSOLVER_FULL ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#if SCALAR_COMPLEX
            ((real *)&v->values[off])[1] = INFINITY; /* CMPLX is not in every compiler */
            assert_int_equal(status_of(v, &o), LIBSOLVER_NONFINITE);
            v->values[off] = before + (scalar)_Complex_I;
            assert_int_equal(status_of(v, &o), storage == LIBSOLVER_FULL ? LIBSOLVER_INVALID : LIBSOLVER_OK);
            v->values[off] = before;
            v->values[on] = diagonal + (scalar)_Complex_I;
            assert_int_equal(status_of(v, &o), hermitian ? LIBSOLVER_INVALID : LIBSOLVER_OK);
#endif
            v->values[off] = before;
            v->values[on] = diagonal;
            if (storage == LIBSOLVER_FULL) { /* taken for the other symmetry */
                v->view.symmetry = hermitian ? LIBSOLVER_SYMMETRIC : LIBSOLVER_HERMITIAN;
                assert_int_equal(status_of(v, &o), SCALAR_COMPLEX ? LIBSOLVER_INVALID : LIBSOLVER_OK);
            }
            free(v);
            free(s);
        }
}

static void right_hand_sides_must_fit(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    dense *s = random_system(&r, SCALAR_COMPLEX, 9, 0.5, POSITIVE);
    const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
    libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK);
    scalar b[9], x[9];
    for (int i = 0; i < 9; i++)
        b[i] = dense_scalar(&r);
    libsolver_vectors bv = dense_block(b, 9, 1), xv = dense_block(x, 9, 1);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    for (int type = 0; type < 4; type++) {
        bv.type = (libsolver_type)type;
        assert_int_equal(libsolver_solve(f, &bv, &xv), type == SCALAR_TYPE ? LIBSOLVER_OK : LIBSOLVER_INVALID);
    }
    bv.type = SCALAR_TYPE;
    b[4] = NAN;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_NONFINITE);
#if SCALAR_COMPLEX
    b[4] = 0;
    ((real *)&b[4])[1] = NAN;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_NONFINITE);
#endif
    libsolver_factor_free(f);
    free(s);
}

/* ---- factors ---------------------------------------------------------------------------------------- */

/* L, D and S A S in elimination order, as the library exports them. */
typedef struct factors {
    int64_t n, order[MOST];
    int hermitian;
    exact l[MOST][MOST], d[MOST], e[MOST], a[MOST][MOST], scale[MOST];
    long double weight[MOST];
} factors;

/* Roundings that dividing by the pivot [a b'; b c] can add; see pair_weight in dense.h. */
static long double weight_of_pair(exact a, exact b, exact c, int hermitian)
{
    const exact ratio = a * c / (b * dense_mirror(b, hermitian));
    const long double det = cabsl(ratio - 1), off = cabsl(b), norm = fmaxl(cabsl(a), cabsl(c)) + off;
    return (2 * (cabsl(ratio) + 1) / det + 6) * norm * norm / (det * off * off);
}

static factors *export(const dense *s, const libsolver_factor *f)
{
    factors *g = calloc(1, sizeof *g);
    int64_t entries, pointers[MOST + 1], *indices = calloc(MOST * MOST, sizeof *indices);
    scalar *values = calloc(MOST * MOST, sizeof *values), d[MOST], e[MOST];
    real scale[MOST];
    assert_true(g && indices && values);
    g->n = s->n;
    g->hermitian = s->hermitian;
    assert_int_equal(libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL), LIBSOLVER_OK);
    assert_in_range(entries, 0, MOST * MOST);
    assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, indices, values, g->order), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_factor_d(f, d, e), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_scaling(f, scale), LIBSOLVER_OK);
    libsolver_factor_info info;
    libsolver_info(f, &info);
    for (int64_t j = 0; j < s->n; j++) {
        g->l[j][j] = info.kind == LIBSOLVER_KIND_SPD ? 0 : 1;
        for (int64_t p = pointers[j]; p < pointers[j + 1]; p++)
            g->l[indices[p]][j] += values[p];
        g->d[j] = d[j];
        g->e[j] = e[j];
        g->scale[j] = scale[g->order[j]];
        assert_true(!s->hermitian || d[j] == scalar_real(d[j]));
    }
    for (int64_t j = 0; j < s->n; j++) {
        for (int64_t i = 0; i < s->n; i++)
            g->a[i][j] = g->scale[i] * dense_at(s, g->order[i], g->order[j]) * g->scale[j];
        g->weight[j] = s->n + 8;
        if (g->e[j] != 0)
            g->weight[j] += weight_of_pair(g->d[j], g->e[j], g->d[j + 1], s->hermitian);
        if (j > 0 && g->e[j - 1] != 0)
            g->weight[j] = g->weight[j - 1];
    }
    free(indices);
    free(values);
    return g;
}

/* S A S = L D L^H */
static void check_product(const factors *g)
{
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = j; i < g->n; i++) {
            exact rest = g->a[i][j];
            long double scale = g->n * cabsl(rest);
            for (int64_t q = 0; q <= j; q++) {
                const exact li = g->l[i][q], lj = dense_mirror(g->l[j][q], g->hermitian);
                exact terms[3] = {li * g->d[q] * lj, 0, 0};
                if (g->e[q] != 0) {
                    terms[1] = g->l[i][q + 1] * g->e[q] * lj;
                    terms[2] = li * dense_mirror(g->e[q], g->hermitian) * dense_mirror(g->l[j][q + 1], g->hermitian);
                }
                for (int t = 0; t < 3; t++) {
                    rest -= terms[t];
                    scale += g->weight[q] * cabsl(terms[t]);
                }
            }
            if (!(cabsl(rest) <= FACTOR_ROUNDING * scale))
                fail_msg("hermitian %d, n %d: (S A S - L D L^H)(%d, %d) is %Lg, allowed %Lg", g->hermitian, (int)g->n,
                         (int)i, (int)j, cabsl(rest), FACTOR_ROUNDING * scale);
        }
}

static void check_equal(const char *what, exact left, exact right, long double scale)
{
    if (!(cabsl(left - right) <= FACTOR_ROUNDING * scale))
        fail_msg("%s: off by %Lg, allowed %Lg", what, cabsl(left - right), FACTOR_ROUNDING * scale);
}

/* L y = P S b,  D z = y,  L^H P S^-1 x = z */
static void check_parts(const factors *g, const scalar *b, const scalar *y, const scalar *z, const scalar *x)
{
    for (int64_t i = 0; i < g->n; i++) {
        const exact right = b[g->order[i]] * g->scale[i];
        exact forward = 0, backward = 0, d = g->d[i] * z[i];
        long double forward_scale = cabsl(right), backward_scale = cabsl((exact)z[i]), y_size = cabsl((exact)y[i]);
        for (int64_t q = 0; q < g->n; q++) {
            const exact term = g->l[i][q] * y[q], other = dense_mirror(g->l[q][i], g->hermitian) * x[g->order[q]] / g->scale[q];
            forward += term;
            forward_scale += cabsl(term);
            backward += other;
            backward_scale += cabsl(other);
        }
        if (g->e[i] != 0) {
            d += dense_mirror(g->e[i], g->hermitian) * z[i + 1];
            y_size += cabsl((exact)y[i + 1]);
        } else if (i > 0 && g->e[i - 1] != 0) {
            d += g->e[i - 1] * z[i - 1];
            y_size += cabsl((exact)y[i - 1]);
        }
        check_equal("forward", forward, right, (g->n + 2) * forward_scale);
        check_equal("diagonal", d, y[i], g->weight[i] * y_size);
        check_equal("backward", backward, z[i], (g->n + 2) * backward_scale);
    }
}

/* The parts of a solve, one after the other, are the whole; if no pivot is zero, they and the factors are right. */
static void check_factor(const dense *s, const libsolver_factor *f, int64_t columns, random_stream *r)
{
    const int64_t n = s->n;
    libsolver_factor_info info;
    libsolver_info(f, &info);
    const libsolver_status plain = info.status == LIBSOLVER_PERTURBED ? LIBSOLVER_OK : info.status;
    scalar b[5 * MOST], y[5 * MOST], z[5 * MOST], x[5 * MOST], whole[5 * MOST];
    for (int64_t i = 0; i < n * columns; i++)
        b[i] = dense_scalar(r);
    const libsolver_vectors bv = dense_block(b, n, columns), yv = dense_block(y, n, columns), zv = dense_block(z, n, columns);
    const libsolver_vectors xv = dense_block(x, n, columns), wv = dense_block(whole, n, columns);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_L, NULL, &bv, &yv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_D, NULL, &yv, &zv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_LT, NULL, &zv, &xv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &wv), plain);
    for (int64_t i = 0; i < n * columns; i++)
        assert_true(whole[i] == x[i] || BACKEND == LIBSOLVER_BACKEND_GPU); /* which solves with inverses */
    if (info.status != LIBSOLVER_OK)
        return;
    factors *g = export(s, f);
    check_product(g);
    for (int64_t c = 0; c < columns; c++)
        check_parts(g, b + c * n, y + c * n, z + c * n, x + c * n);
    free(g);
}

static void factors_and_parts_of_solves(void **state)
{
    (void)state;
    int64_t pairs = 0, cholesky = 0, checked = 0;
    for (uint64_t seed = 0; seed < 150; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = seed < 100 ? random_below(&r, 24) : ORDINARY, columns = seed % 3 == 0 ? 1 : 5;
            dense *s = random_system(&r, hermitian, n, seed % 4 ? 0.1 : 0.6, (int)(seed % KINDS));
            libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            o.matching = (libsolver_choice)(seed / 7 % 3);
            arrays *v = view_of(s, 0, NULL);
            libsolver_factor *f = NULL;
            assert_true(libsolver_factor_matrix(&v->view, &o, &f) >= 0);
            free(v);
            libsolver_factor_info info;
            libsolver_info(f, &info);
            pairs += info.two_by_two;
            cholesky += info.kind == LIBSOLVER_KIND_SPD;
            assert_true(info.kind == LIBSOLVER_KIND_INDEFINITE || hermitian || !SCALAR_COMPLEX);
            check_factor(s, f, columns, &r);
            checked += info.status == LIBSOLVER_OK;
            libsolver_factor_free(f);
            free(s);
        }
    assert_true(pairs > 100 && cholesky > 40 && checked > 100);
}

/* Three cliques of 40 joined to a hub of 40; the first columns of each clique have nonzeros in the hub's rows only, so that
 * their pivots wait for the hub, where they are 2x2 ones and stand behind its own columns. */
static void delayed_pivots_reach_their_parents(void **state)
{
    (void)state;
    const int64_t size = 40, hub = 3 * size;
    for (int waiting = 1; waiting <= 4; waiting++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded((uint64_t)waiting);
            dense *s = random_system(&r, hermitian, 4 * size, 1, INDEFINITE);
            for (int64_t j = 0; j < hub; j++)
                for (int64_t i = j; i < hub; i++) {
                    s->stored[i][j] = i / size == j / size;
                    if (i / size != j / size || j % size < waiting)
                        s->a[i][j] = 0;
                }
            libsolver_options o = with_kind(LIBSOLVER_KIND_INDEFINITE);
            o.ordering = LIBSOLVER_ORDERING_NATURAL;
            o.matching = LIBSOLVER_OFF;
            libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK);
            libsolver_factor_info info;
            libsolver_info(f, &info);
            /* the hub may have swallowed one clique; a column more may wait, of random values too small beside its neighbours */
            assert_in_range(info.delayed, 2 * waiting, 3 * waiting + 2);
            check_factor(s, f, 2, &r);
            libsolver_factor_free(f);
            free(s);
        }
}

static void refactorize_is_factorize(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(11);
        dense *s = random_system(&r, hermitian, 40, 0.3, HOLLOW), *t = calloc(1, sizeof *t);
        assert_non_null(t);
        *t = *s;
        for (int64_t j = 0; j < 40; j++)
            for (int64_t i = j + 1; i < 40; i++)
                t->a[i][j] += s->stored[i][j] ? dense_scalar(&r) : 0;
        libsolver_options o = with_kind(LIBSOLVER_KIND_INDEFINITE);
        o.matching = LIBSOLVER_OFF; /* values do not shape the order */
        libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK), *fresh = factor_of(t, &o, LIBSOLVER_OK);
        arrays *v = view_of(t, 0, NULL);
        assert_int_equal(libsolver_refactorize(f, &v->view), LIBSOLVER_OK);
        factors *g = export(t, f), *h = export(t, fresh);
        for (int64_t i = 0; i < 40; i++) {
            assert_true(g->d[i] == h->d[i] && g->e[i] == h->e[i]);
            for (int64_t j = 0; j < 40; j++)
                assert_true(g->l[i][j] == h->l[i][j]);
        }
        libsolver_matrix other = v->view; /* the other symmetry is another pattern */
        other.symmetry = hermitian ? LIBSOLVER_SYMMETRIC : LIBSOLVER_HERMITIAN;
        assert_int_equal(libsolver_refactorize(f, &other), LIBSOLVER_PATTERN_MISMATCH);
        free(g);
        free(h);
        free(v);
        libsolver_factor_free(f);
        libsolver_factor_free(fresh);
        free(s);
        free(t);
    }
}

/* ---- solutions -------------------------------------------------------------------------------------- */

static void solutions_have_the_error_that_is_reported(void **state)
{
    (void)state;
    int refined = 0;
    for (uint64_t seed = 0; seed < 150; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, ORDINARY), columns = 1 + random_below(&r, 6);
            dense *s = random_system(&r, hermitian, n, 0.2, (int)(seed % KINDS));
            for (int64_t j = 0; j < n; j++) /* badly scaled */
                for (int64_t i = j; i < n; i++)
                    s->a[i][j] *= (real)ldexp(1, (int)((i * 7 + j * 7) % 13) - 6);
            libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            o.refine_steps = seed % 3 ? 10 : 0;
            o.pivot_threshold = 1e-3;
            arrays *v = view_of(s, 0, NULL);
            libsolver_factor *f = NULL;
            const libsolver_status status = libsolver_factor_matrix(&v->view, &o, &f);
            scalar b[6 * MOST], x[6 * MOST];
            for (int64_t i = 0; i < n * columns; i++)
                x[i] = b[i] = dense_scalar(&r);
            libsolver_vectors xv = dense_block(x, n, columns);
            if (seed % 2) { /* by rows */
                xv.layout = LIBSOLVER_ROW_MAJOR;
                xv.ld = columns;
            }
            const libsolver_status solved = libsolver_solve(f, &xv, &xv); /* x is b */
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            double worst = 0;
            for (int64_t c = 0; c < columns; c++) {
                scalar xc[MOST], bc[MOST];
                for (int64_t i = 0; i < n; i++) {
                    const int64_t at = seed % 2 ? i * columns + c : i + c * n;
                    xc[i] = x[at];
                    bc[i] = b[at];
                }
                worst = fmax(worst, dense_backward_error(s, xc, bc));
            }
            assert_true(fabs(worst - info.backward_error) <= 1e-3 * worst + EPS);
            if (status == LIBSOLVER_OK)
                assert_int_equal(solved, worst <= TOLERANCE ? LIBSOLVER_OK : LIBSOLVER_INACCURATE);
            if (status == LIBSOLVER_OK && o.refine_steps > 0)
                assert_true(worst <= TOLERANCE);
            refined += info.steps > 0;
            libsolver_factor_free(f);
            free(v);
            free(s);
        }
    assert_true(refined > 0 || EPS > 1e-10); /* single precision is there at once */
}

/* T Q diag(v) Q T^H (or T^T), Q a reflection, T diagonal of complex units, six of the eigenvalues v of 40 from 1e-10 on (1e-4 for s and c): what a
 * factor in single precision, but for its size, knows nothing about. */
static void ill_conditioned_systems_are_solved(void **state)
{
    (void)state;
    enum { N = 40 };
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = random_system(&r, hermitian, N, 1, INDEFINITE);
            exact turn[N];
            long double v[N], sum = 0;
            for (int k = 0; k < N; k++) {
                const long double angle = random_real(&r);
                turn[k] = SCALAR_COMPLEX ? cosl(angle) + sinl(angle) * _Complex_I : 1;
                v[k] = (k < 6 ? powl(10, k / 2.0L - (EPS < 1e-10 ? 10 : 4)) : 1 + 0.5L * random_real(&r)) * (seed % 2 && k % 2 ? -1 : 1);
                sum += v[k];
            }
            for (int j = 0; j < N; j++)
                for (int i = j; i < N; i++) {
                    const long double q = 2.0L / N, a = (i == j ? v[i] : 0) - q * (v[i] + v[j]) + q * q * sum;
                    s->a[i][j] = scalar_diagonal((scalar)(a * turn[i] * dense_mirror(turn[j], hermitian)), hermitian && i == j);
                }
            scalar b[3 * N], x[3 * N];
            for (int i = 0; i < 3 * N; i++)
                b[i] = dense_scalar(&r);
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            arrays *view = view_of(s, 0, NULL);
            libsolver_factor *f = NULL;
            assert_true(libsolver_factor_matrix(&view->view, &o, &f) >= 0);
            const libsolver_vectors bv = dense_block(b, N, 3), xv = dense_block(x, N, 3);
            libsolver_solve_info info;
            assert_true(libsolver_solve(f, &bv, &xv) >= 0);
            libsolver_solve_query(f, NULL, &info);
            for (int c = 0; c < 3; c++) {
                const double error = dense_backward_error(s, x + c * N, b + c * N);
                if (!(error <= TOLERANCE))
                    fail_msg("seed %d, hermitian %d, column %d: backward error %g after %d steps", (int)seed, hermitian, c,
                             error, info.steps);
            }
            libsolver_factor_free(f);
            free(view);
            free(s);
        }
}

/* Where even a factor in single precision knows that the matrix is singular. */
static int has_empty_row(const dense *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        int empty = 1;
        for (int64_t j = 0; j < s->n; j++)
            empty &= dense_at(s, i, j) == 0;
        if (empty)
            return 1;
    }
    return 0;
}

/* A = V S V^H with small integers, so that A and b = A x are exact; rank 5. */
static void singular_systems_are_solved(void **state)
{
    (void)state;
    const int64_t n = 20, rank = 5;
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = random_system(&r, hermitian, n, 1, INDEFINITE);
            exact v[MOST];
            memset(s->a, 0, sizeof s->a);
            for (int64_t q = 0; q < rank; q++) {
                for (int64_t i = 0; i < n; i++)
                    v[i] = (exact)(random_below(&r, 3) - 1) + (SCALAR_COMPLEX ? random_below(&r, 3) - 1 : 0) * _Complex_I;
                for (int64_t j = 0; j < n; j++)
                    for (int64_t i = j; i < n; i++)
                        s->a[i][j] += (scalar)(v[i] * dense_mirror(v[j], hermitian) * (q % 2 ? 1 : -1));
            }
            scalar b[MOST], x[MOST];
            for (int64_t i = 0; i < n; i++) {
                exact sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += dense_at(s, i, j) * (exact)(SCALAR_COMPLEX ? 1 + j % 3 * _Complex_I : 1 + j % 3);
                b[i] = (scalar)sum;
            }
            const libsolver_status wanted = has_empty_row(s) ? LIBSOLVER_SINGULAR : ZERO_PIVOTS;
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            libsolver_factor *f = factor_of(s, &o, wanted);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x, n, 1);
            assert_int_equal(libsolver_solve(f, &bv, &xv), wanted);
            assert_true(dense_backward_error(s, x, b) <= TOLERANCE);
            libsolver_inertia_counts counts;
            if (hermitian || !SCALAR_COMPLEX) {
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                if (ZERO_PIVOTS == LIBSOLVER_SINGULAR)
                    assert_true(counts.zero >= n - rank && counts.positive <= 2 && counts.negative <= 3);
                else
                    assert_true(counts.zero < n - rank && !counts.certain);
            }
            b[0] += 1000; /* inconsistent */
            const libsolver_status status = libsolver_solve(f, &bv, &xv);
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            const int inaccurate = !(dense_backward_error(s, x, b) <= TOLERANCE);
            assert_true(inaccurate || ZERO_PIVOTS == LIBSOLVER_PERTURBED); /* a perturbed pivot makes x large enough for any b */
            assert_int_equal(!!(info.remarks & LIBSOLVER_INACCURATE), inaccurate);
            assert_int_equal(status, wanted == LIBSOLVER_PERTURBED && inaccurate ? LIBSOLVER_INACCURATE : wanted);
            libsolver_factor_free(f);
            free(s);
        }
}

/* What makes a system inconsistent is spread over all rows.  A = T L T^H with the Laplacian L of a grid and T diagonal of
 * i^k: one vector spans the null space, all its entries of size 1.  Left in one row, the error in b is 20 times the
 * tolerance. */
static void small_inconsistencies_are_spread(void **state)
{
    (void)state;
    const int64_t side = 10, n = side * side;
    const double tolerance = 1e-4;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = calloc(1, sizeof *s);
            exact turn[MOST];
            scalar b[MOST], x[MOST];
            assert_non_null(s);
            s->n = n;
            s->hermitian = hermitian;
            for (int64_t i = 0; i < n; i++) {
                const int64_t k = random_below(&r, 4);
                turn[i] = (SCALAR_COMPLEX && k % 2 ? _Complex_I : 1) * (exact)(k < 2 ? 1 : -1);
            }
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j + 1; i < n; i++)
                    if (i - j == side || (i - j == 1 && i % side > 0)) {
                        s->stored[i][j] = s->stored[i][i] = s->stored[j][j] = 1;
                        s->a[i][j] = (scalar)(-turn[i] * dense_mirror(turn[j], hermitian));
                        s->a[i][i] += (scalar)(turn[i] * dense_mirror(turn[i], hermitian));
                        s->a[j][j] += (scalar)(turn[j] * dense_mirror(turn[j], hermitian));
                    }
            for (int64_t i = 0; i < n; i++) {
                exact sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += dense_at(s, i, j) * (1 + (exact)(j % 2));
                b[i] = (scalar)sum;
            }
            b[seed] += (scalar)(20 * tolerance * 12);
            libsolver_options o = with_kind(LIBSOLVER_KIND_INDEFINITE);
            o.tolerance = tolerance;
            libsolver_factor *f = factor_of(s, &o, ZERO_PIVOTS);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x, n, 1);
            assert_int_equal(libsolver_solve(f, &bv, &xv), ZERO_PIVOTS);
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            assert_true(info.backward_error_initial > 10 * tolerance || ZERO_PIVOTS == LIBSOLVER_PERTURBED);
            assert_true(dense_backward_error(s, x, b) <= tolerance);
            libsolver_factor_free(f);
            free(s);
        }
}

/* ---- kinds ------------------------------------------------------------------------------------------ */

/* A with 2 or -2 in a random sign pattern on the diagonal, turned by D A D^H, D unitary: the signs are known. */
static void inertia_is_that_of_hermitian_matrices_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 30);
            dense *s = random_system(&r, hermitian, n, 0.3, POSITIVE);
            int64_t negative = 0;
            for (int64_t j = 0; j < n; j++)
                if (random_below(&r, 2)) {
                    s->a[j][j] = -s->a[j][j];
                    negative++;
                }
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO), spd = with_kind(LIBSOLVER_KIND_SPD);
            libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK);
            libsolver_inertia_counts counts;
            if (SCALAR_COMPLEX && !hermitian) {
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_INVALID);
                libsolver_factor_free(factor_of(s, &spd, LIBSOLVER_INVALID));
            } else {
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                assert_int_equal(counts.positive, n - negative);
                assert_int_equal(counts.negative, negative);
                assert_int_equal(counts.zero, 0);
                assert_true(counts.certain);
                libsolver_factor_free(factor_of(s, &spd, negative ? LIBSOLVER_NOT_POSITIVE_DEFINITE : LIBSOLVER_OK));
            }
            libsolver_factor_free(f);
            free(s);
        }
}

/* ---- threads ---------------------------------------------------------------------------------------- */

/* A grid of side x side points with random entries; its solution for two columns, threads as asked. */
static void solve_grid(int hermitian, libsolver_kind kind, int threads, int64_t side, scalar *x)
{
    sparse grid = sparse_grid(side, side, 8);
    random_stream r = random_seeded(9);
    const int64_t n = side * side, nnz = grid.pointers[n];
    scalar *values = malloc(sizeof(scalar) * (size_t)nnz), *b = malloc(sizeof(scalar) * (size_t)n * 2);
    assert_true(values && b);
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = grid.pointers[j]; p < grid.pointers[j + 1]; p++)
            values[p] = grid.indices[p] != j ? dense_scalar(&r) : kind == LIBSOLVER_KIND_SPD ? 8 : j % 3 ? 0 : 1;
    for (int64_t i = 0; i < 2 * n; i++)
        b[i] = dense_scalar(&r);
    libsolver_matrix a = sparse_view(&grid);
    a.values = values;
    a.type = SCALAR_TYPE;
    a.symmetry = hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    libsolver_options o = with_kind(kind);
    o.threads = threads;
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
    const libsolver_vectors bv = dense_block(b, n, 2), xv = dense_block(x, n, 2);
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
    libsolver_factor_free(f);
    free(values);
    free(b);
    sparse_free(&grid);
}

static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const int64_t side = 70, n = side * side;
    scalar *one = malloc(sizeof(scalar) * (size_t)n * 2), *more = malloc(sizeof(scalar) * (size_t)n * 2);
    assert_true(one && more);
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++) {
            if (kind == LIBSOLVER_KIND_SPD && SCALAR_COMPLEX && !hermitian)
                continue;
            solve_grid(hermitian, (libsolver_kind)kind, 1, side, one);
            for (int threads = 2; threads <= 5; threads += 3) {
                solve_grid(hermitian, (libsolver_kind)kind, threads, side, more);
                assert_memory_equal(one, more, sizeof(scalar) * (size_t)n * 2);
            }
        }
    free(one);
    free(more);
}

int main(void)
{
    if (!backend_is_here())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_gives_the_same_bits),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(right_hand_sides_must_fit),
        cmocka_unit_test(factors_and_parts_of_solves),
        cmocka_unit_test(delayed_pivots_reach_their_parents),
        cmocka_unit_test(refactorize_is_factorize),
        cmocka_unit_test(solutions_have_the_error_that_is_reported),
        cmocka_unit_test(ill_conditioned_systems_are_solved),
        cmocka_unit_test(singular_systems_are_solved),
        cmocka_unit_test(small_inconsistencies_are_spread),
        cmocka_unit_test(inertia_is_that_of_hermitian_matrices_alone),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
