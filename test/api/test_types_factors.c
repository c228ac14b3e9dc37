/* test/api/test_types_factors.c: factors, the parts of solves and inertia, in one precision
 * (-DPREC_x, -DMIXED with a factor in single), symmetric and Hermitian
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_system.h"

#define FACTOR_ROUNDING ((SCALAR_COMPLEX ? 4 : 1) * (long double)FACTOR_EPS)

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
    const exact ratio = a * c / (b * exact_mirror(b, hermitian));
    const long double det = cabsl(ratio - 1), off = cabsl(b),
                      norm = fmaxl(cabsl(a), cabsl(c)) + off;
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
    assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, indices, values, g->order),
                     LIBSOLVER_OK);
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
                const exact li = g->l[i][q], lj = exact_mirror(g->l[j][q], g->hermitian);
                exact terms[3] = {li * g->d[q] * lj, 0, 0};
                if (g->e[q] != 0) {
                    terms[1] = g->l[i][q + 1] * g->e[q] * lj;
                    terms[2] = li * exact_mirror(g->e[q], g->hermitian) *
                               exact_mirror(g->l[j][q + 1], g->hermitian);
                }
                for (int t = 0; t < 3; t++) {
                    rest -= terms[t];
                    scale += g->weight[q] * cabsl(terms[t]);
                }
            }
            if (!(cabsl(rest) <= FACTOR_ROUNDING * scale))
                fail_msg("hermitian %d, n %d: (S A S - L D L^H)(%d, %d) is %Lg, allowed %Lg",
                         g->hermitian, (int)g->n, (int)i, (int)j, cabsl(rest),
                         FACTOR_ROUNDING * scale);
        }
}

static void check_equal(const char *what, exact left, exact right, long double scale)
{
    if (!(cabsl(left - right) <= FACTOR_ROUNDING * scale))
        fail_msg("%s: off by %Lg, allowed %Lg", what, cabsl(left - right), FACTOR_ROUNDING * scale);
}

/* L y = P S b,  D z = y,  L^H P S^-1 x = z */
static void check_parts(const factors *g, const scalar *b, const scalar *y, const scalar *z,
                        const scalar *x)
{
    for (int64_t i = 0; i < g->n; i++) {
        const exact right = b[g->order[i]] * g->scale[i];
        exact forward = 0, backward = 0, d = g->d[i] * z[i];
        long double forward_scale = cabsl(right), backward_scale = cabsl((exact)z[i]),
                    y_size = cabsl((exact)y[i]);
        for (int64_t q = 0; q < g->n; q++) {
            const exact term = g->l[i][q] * y[q], other = exact_mirror(g->l[q][i], g->hermitian) *
                                                          x[g->order[q]] / g->scale[q];
            forward += term;
            forward_scale += cabsl(term);
            backward += other;
            backward_scale += cabsl(other);
        }
        if (g->e[i] != 0) {
            d += exact_mirror(g->e[i], g->hermitian) * z[i + 1];
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

/* The parts of a solve, one after the other, are the whole; if no pivot is zero, they and the
 * factors are right. */
static void check_factor(const dense *s, const libsolver_factor *f, int64_t columns,
                         random_stream *r)
{
    const int64_t n = s->n;
    libsolver_factor_info info;
    libsolver_info(f, &info);
    const libsolver_status plain = info.status == LIBSOLVER_PERTURBED ? LIBSOLVER_OK : info.status;
    scalar b[5 * MOST], y[5 * MOST], z[5 * MOST], x[5 * MOST], whole[5 * MOST];
    for (int64_t i = 0; i < n * columns; i++)
        b[i] = dense_scalar(r);
    const libsolver_vectors bv = dense_block(b, n, columns), yv = dense_block(y, n, columns),
                            zv = dense_block(z, n, columns);
    const libsolver_vectors xv = dense_block(x, n, columns), wv = dense_block(whole, n, columns);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_L, NULL, &bv, &yv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_D, NULL, &yv, &zv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_LT, NULL, &zv, &xv), plain);
    assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &bv, &wv), plain);
    /* which solves with inverses */
    for (int64_t i = 0; i < n * columns; i++)
        assert_true(whole[i] == x[i] || BACKEND == LIBSOLVER_BACKEND_GPU);
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
            const int64_t n = seed < 100 ? random_below(&r, 24) : ORDINARY,
                          columns = seed % 3 == 0 ? 1 : 5;
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

/* Three cliques of 40 joined to a hub of 40; the first columns of each clique have nonzeros in the
 * hub's rows only, so that their pivots wait for the hub, where they are 2x2 ones and stand behind
 * its own columns. */
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
            /* the hub may have swallowed one clique; a column more may wait, of random values too
             * small beside its neighbours */
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
        libsolver_factor *f = factor_of(s, &o, LIBSOLVER_OK),
                         *fresh = factor_of(t, &o, LIBSOLVER_OK);
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

/* A with 2 or -2 in a random sign pattern on the diagonal, turned by D A D^H, D unitary: the signs
 * are known. */
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
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO),
                                    spd = with_kind(LIBSOLVER_KIND_SPD);
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
                libsolver_factor_free(
                    factor_of(s, &spd, negative ? LIBSOLVER_NOT_POSITIVE_DEFINITE : LIBSOLVER_OK));
            }
            libsolver_factor_free(f);
            free(s);
        }
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_and_parts_of_solves),
        cmocka_unit_test(delayed_pivots_reach_their_parents),
        cmocka_unit_test(refactorize_is_factorize),
        cmocka_unit_test(inertia_is_that_of_hermitian_matrices_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
