/* test/api/test_types_kinds.c: new values of one factor in one precision (-DPREC_x), definite,
 * indefinite and singular by turns: which kind comes first, and that memory is taken for counted
 * growths only
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include <stdlib.h>

enum { DEFINITE, INDEFINITE, SINGULAR, KINDS };

/* A band of 300 columns, which Cholesky takes one by one, or 100 full ones, which it takes by
 * fronts. */
typedef struct problem {
    int64_t n, nnz;
    int64_t *row, *column;
    scalar *value[KINDS];
    libsolver_matrix view;
} problem;

/* A has a positive diagonal d and entries of size 1 off it.  INDEFINITE: 1.5 there; SINGULAR: the
 * same with 0 in two rows and columns. */
static problem make_problem(int is_band)
{
    random_stream r = random_seeded(11);
    problem p = {.n = is_band ? 300 : 100};
    const int64_t width = is_band ? 2 : p.n, most = p.n * (width + 1);
    p.row = malloc(sizeof(int64_t) * (size_t)most);
    p.column = malloc(sizeof(int64_t) * (size_t)most);
    assert_non_null(p.row);
    assert_non_null(p.column);
    for (int kind = 0; kind < KINDS; kind++)
        assert_non_null(p.value[kind] = malloc(sizeof(scalar) * (size_t)most));
    for (int64_t j = 0; j < p.n; j++)
        for (int64_t i = j; i < p.n && i <= j + width; i++) {
            const int is_empty = i == 3 || j == 3 || i == p.n - 2 || j == p.n - 2;
            const scalar entry = i == j ? 0 : scalar_of(random_below(&r, 2) ? 1 : -1, 0.25);
            p.row[p.nnz] = i;
            p.column[p.nnz] = j;
            p.value[DEFINITE][p.nnz] = i == j ? (scalar)(2 * width + 4) : entry;
            p.value[INDEFINITE][p.nnz] = i == j ? (scalar)1.5 : entry;
            p.value[SINGULAR][p.nnz] = is_empty ? 0 : p.value[INDEFINITE][p.nnz];
            p.nnz++;
        }
    p.view = (libsolver_matrix){.n = p.n,
                                .nnz = p.nnz,
                                .pointers = p.column,
                                .indices = p.row,
                                .type = SCALAR_TYPE,
                                .symmetry = LIBSOLVER_HERMITIAN,
                                .format = LIBSOLVER_TRIPLETS,
                                .pointer_type = LIBSOLVER_INT64,
                                .index_type = LIBSOLVER_INT64};
    if (!SCALAR_COMPLEX)
        p.view.symmetry = LIBSOLVER_SYMMETRIC;
    return p;
}

static void problem_end(problem *p)
{
    free(p->row);
    free(p->column);
    for (int kind = 0; kind < KINDS; kind++)
        free(p->value[kind]);
}

static libsolver_factor *first_factor(problem *p, int kind)
{
    libsolver_options o;
    libsolver_factor *f;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = 2;
#ifdef MIXED
    o.mixed = LIBSOLVER_ON;
#endif
    p->view.values = p->value[kind];
    assert_true(libsolver_factor_matrix(&p->view, &o, &f) >= 0);
    return f;
}

/* New values, and a solve, for which workspaces follow.  Returns how many allocations the
 * refactorization took; if it tells of no growth there are none, but for the first matching of all;
 * info: after it. */
static int64_t next_values(libsolver_factor *f, problem *p, int kind, int round, int *is_matched,
                           libsolver_factor_info *info)
{
    libsolver_factor_info before;
    libsolver_inertia_counts found;
    scalar *b = calloc((size_t)p->n, sizeof(scalar));
    const libsolver_vectors v = dense_block(b, p->n, 1);
    assert_non_null(b);
    for (int64_t i = 0; i < p->n; i++)
        b[i] = i == 3 || i == p->n - 2 ? 0 : 1; /* the singular system has a solution */
    libsolver_info(f, &before);
    p->view.values = p->value[kind];
    const libsolver_status status = libsolver_refactorize(f, &p->view);
    libsolver_info(f, info);
    const int64_t taken = info->allocations - before.allocations;
    if (status != (kind == SINGULAR ? LIBSOLVER_SINGULAR : LIBSOLVER_OK))
        fail_msg("round %d, kind %d: %s", round, kind, libsolver_status_name(status));
    const int may_match = kind != DEFINITE && !*is_matched;
    *is_matched |= taken > 0 && info->growths == 0;
    if (taken > 0 && info->growths == 0 && !may_match)
        fail_msg("round %d, kind %d: %d allocations, no growth", round, kind, (int)taken);
    assert_int_equal(libsolver_inertia(f, &found), LIBSOLVER_OK);
    if (found.zero != (kind == SINGULAR ? 2 : 0) || (found.negative > 0) != (kind != DEFINITE))
        fail_msg("round %d, kind %d: inertia %d %d %d", round, kind, (int)found.positive,
                 (int)found.negative, (int)found.zero);
    const libsolver_status solved = libsolver_solve(f, &v, &v);
    if (solved != status)
        fail_msg("round %d, kind %d: a solve says %s", round, kind, libsolver_status_name(solved));
    free(b);
    return taken;
}

/* Runs over the kinds in `turns` again and again; from round `settled` on nothing is allocated, nor
 * grows. */
static void check_turns(int is_band, const char *turns, int rounds, int settled)
{
    problem p = make_problem(is_band);
    const int count = (int)strlen(turns);
    int is_matched = 0;
    libsolver_factor *f = first_factor(&p, turns[0] - '0');
    for (int round = 1; round < rounds; round++) {
        libsolver_factor_info info;
        const int64_t taken =
            next_values(f, &p, turns[round % count] - '0', round, &is_matched, &info);
        if (round >= settled && (taken > 0 || info.growths > 0))
            fail_msg("turns %s, by columns %d, round %d: %d allocations, %d growths", turns,
                     is_band, round, (int)taken, (int)info.growths);
    }
    libsolver_factor_free(f);
    problem_end(&p);
}

/* The first search for means may take a matching, and the round after it room for what was
 * delayed. */
static void the_same_values_allocate_nothing(void **state)
{
    (void)state;
    for (int is_band = 0; is_band < 2; is_band++) {
        check_turns(is_band, "0", 5, 1);
        check_turns(is_band, "1", 11, 3);
        check_turns(is_band, "2", 11, 3);
    }
}

static void values_of_all_kinds_by_turns_allocate_nothing_in_the_end(void **state)
{
    static const char *const turns[] = {"01", "10", "02", "012", "0011", "000111222", "0000000001"};
    (void)state;
    for (int is_band = 0; is_band < 2; is_band++)
        for (int k = 0; k < 7; k++)
            check_turns(is_band, turns[k], 40, 20);
}

/* Runs over `turns`, after which kinds[k] is what each came to: c, Cholesky, or l. */
static void check_kinds(const char *turns, const char *kinds)
{
    for (int is_band = 0; is_band < 2; is_band++) {
        problem p = make_problem(is_band);
        libsolver_factor *f = first_factor(&p, DEFINITE);
        int is_matched = 0;
        for (int round = 0; turns[round]; round++) {
            libsolver_factor_info info;
            next_values(f, &p, turns[round] - '0', round, &is_matched, &info);
            if (info.kind != (kinds[round] == 'c' ? LIBSOLVER_KIND_SPD : LIBSOLVER_KIND_INDEFINITE))
                fail_msg("turns %s, by columns %d, round %d: kind %d, wanted %c", turns, is_band,
                         round, (int)info.kind, kinds[round]);
        }
        libsolver_factor_free(f);
        problem_end(&p);
    }
}

static void auto_begins_with_what_the_last_values_came_to(void **state)
{
    (void)state;
    check_kinds("0010000", "ccllccc"); /* one definite factor by L D L^T, then Cholesky */
    check_kinds("1111", "llll");
    check_kinds("1000100", "llccllc");           /* what has paid is not held against it */
    check_kinds("10010001000", "llclllcllll");   /* twice in vain, two are waited for, then four */
    check_kinds("101010101010", "llllllllllll"); /* by turns: twice in vain, and no more */
}

/* A workspace, and what it has followed the factor in. */
typedef struct follower {
    libsolver_workspace *memory;
    int lags, has_zeros, has_perturbed, is_double;
} follower;

/* Whether it is to follow the factor at its next use. */
static int is_behind(const follower *w, const libsolver_factor_info *info)
{
    return w->lags || (info->status == LIBSOLVER_SINGULAR && !w->has_zeros) ||
           (info->perturbed > 0 && !w->has_perturbed) ||
           (info->precision == SCALAR_TYPE && !w->is_double);
}

static void catch_up(follower *w, const libsolver_factor_info *info)
{
    w->lags = 0;
    w->has_zeros |= info->status == LIBSOLVER_SINGULAR;
    w->has_perturbed |= info->perturbed > 0;
    w->is_double |= info->precision == SCALAR_TYPE;
}

/* Plain solve and refinement.  Returns how many allocations they took. */
static int64_t allocations_of_solve(libsolver_factor *f, libsolver_workspace *w, const problem *p)
{
    libsolver_factor_info before, after;
    scalar b[300], x[300];
    const libsolver_vectors bv = dense_block(b, p->n, 1), xv = dense_block(x, p->n, 1);
    for (int64_t i = 0; i < p->n; i++)
        b[i] = i == 3 || i == p->n - 2 ? 0 : 1;
    libsolver_info(f, &before);
    assert_true(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &bv, &xv) >= 0);
    assert_true(libsolver_refine(f, w, &bv, &xv, NULL) >= 0);
    libsolver_info(f, &after);
    return after.allocations - before.allocations;
}

/* Runs over `turns`; workspaces made after each of them are used after all that follow. */
static void check_followers(int is_band, const char *turns)
{
    problem p = make_problem(is_band);
    libsolver_factor *f = first_factor(&p, turns[0] - '0');
    follower w[20] = {{0}};
    int is_matched = 0, count = 0;
    for (int round = 1; turns[round]; round++) {
        libsolver_factor_info info;
        libsolver_info(f, &info);
        assert_true(count < 20);
        assert_int_equal(libsolver_workspace_create(f, 2, &w[count].memory), LIBSOLVER_OK);
        catch_up(&w[count++], &info);
        next_values(f, &p, turns[round] - '0', round, &is_matched, &info);
        for (int k = 0; k < count; k++) {
            w[k].lags |= info.growths > 0;
            if (k % 3 == 2 && round % 2) /* not always used */
                continue;
            const int64_t taken = allocations_of_solve(f, w[k].memory, &p);
            if (taken > 0 && !is_behind(&w[k], &info))
                fail_msg("turns %s, by columns %d, round %d, workspace %d: %d allocations", turns,
                         is_band, round, k, (int)taken);
            catch_up(&w[k], &info);
        }
    }
    for (int k = 0; k < count; k++)
        libsolver_workspace_free(w[k].memory);
    libsolver_factor_free(f);
    problem_end(&p);
}

static void workspaces_follow_growths_and_the_first_factor_of_a_sort(void **state)
{
    static const char *const turns[] = {"0100010001000", "0200020001000", "1020001020",
                                        "1112221110002"};
    (void)state;
    for (int is_band = 0; is_band < 2; is_band++)
        for (int k = 0; k < 4; k++)
            check_followers(is_band, turns[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_values_allocate_nothing),
        cmocka_unit_test(values_of_all_kinds_by_turns_allocate_nothing_in_the_end),
        cmocka_unit_test(auto_begins_with_what_the_last_values_came_to),
        cmocka_unit_test(workspaces_follow_growths_and_the_first_factor_of_a_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
