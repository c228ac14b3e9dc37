/* test/api/test_types_schur_blocks.c: Schur complements in one precision (-DPREC_x) with more
 * pivots than a block of LDL^T holds, pairs across the borders of blocks and at the border of the
 * rows that are kept, columns that are delayed to these
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_schur.h"
#include "dense/cpu/front.h"

/* What the systems of a test had, all together. */
typedef struct tally {
    int checked, refused; /* refused: too ill-conditioned to say anything */
    int64_t pairs, delayed, fronts;
} tally;

static libsolver_options as_it_stands(libsolver_kind kind, libsolver_choice scaling)
{
    libsolver_options o = options_in_natural_order(kind);
    o.scaling = scaling;
    return o;
}

/* All of what is asked of a Schur complement; at least `pairs` pivots must be 2x2, at least
 * `delayed` columns wait. */
static void check_all(parted *t, libsolver_options o, random_stream *r, uint64_t seed,
                      int64_t pairs, int64_t delayed, tally *sum)
{
    libsolver_factor *f = NULL;
    libsolver_factor_info info;
    work_out(t);
    if (!(t->condition * t->n * EPS < 0.1L)) {
        sum->refused++;
        free(t->complement);
        return;
    }
    const libsolver_status status = factorize(t, &o, &f);
    libsolver_info(f, &info);
    if (status != LIBSOLVER_OK || info.two_by_two < pairs || info.delayed < delayed)
        fail_msg("seed %d, n %d, size %d: %s %s; %d pairs of %d, %d delayed of %d", (int)seed,
                 (int)t->n, (int)t->size, libsolver_status_name(status),
                 libsolver_factor_message(f), (int)info.two_by_two, (int)pairs, (int)info.delayed,
                 (int)delayed);
    check_part(t, f, r);
    sum->checked++;
    sum->pairs += info.two_by_two;
    sum->delayed += info.delayed;
    sum->fronts += info.fronts;
    libsolver_factor_free(f);
    free(t->complement);
}

/* One dense front with 1, 2, ... whole blocks of pivots, one more and one less, random entries or
 * none on the diagonal. */
static void blocks_of_pivots_in_one_front(void **state)
{
    (void)state;
    tally sum = {0};
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int blocks = 1; blocks <= 4; blocks++)
            for (int beside = -1; beside <= 2; beside++)
                for (int kept = 1; kept <= 35; kept += beside == 1 ? 8 : 33) {
                    const int64_t pivots = (int64_t)blocks * LDLT_BLOCK + beside, n = pivots + kept;
                    const uint64_t seed = (uint64_t)(blocks * 100 + kept);
                    random_stream r = random_seeded(seed);
                    parted *t = room(1, sizeof *t);
                    if (n <= MOST) {
                        t->s = dense_random(&r, hermitian, n, 1, 0);
                        for (int64_t i = 0; i < n && kept % 2; i++)
                            t->s.a[i][i] = 0;
                        keep_last(t, kept);
                        check_all(t, as_it_stands(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON), &r,
                                  seed, pivots / 8, 0, &sum);
                    }
                    free(t);
                }
    print_message("%d systems, %d pairs, %d left out\n", sum.checked, (int)sum.pairs, sum.refused);
    assert_true(sum.checked >= (EPS < 1e-10 ? 40 : 32) * SYMMETRIES);
}

/* Strong diagonals, but for pairs with nothing on theirs: (31, 32), (63, 64), ... across the border
 * of two blocks, and the last two of those that go, before the rows that are kept.  Between all
 * others entries up to 1/256, with which none of a pair alone would be a pivot within 1 / u.
 * Returns the number of pairs. */
static int64_t make_pairs(random_stream *r, int hermitian, int64_t n, int64_t rest, dense *s)
{
    int64_t pairs = 0;
    *s = dense_random(r, hermitian, n, 1, 0);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            s->a[i][j] = i == j ? (scalar)(i % 3 ? 4 : -4) : (scalar)(s->a[i][j] / 256);
    for (int64_t c = LDLT_BLOCK - 1, is_last = 0; !is_last; c += LDLT_BLOCK, pairs++) {
        is_last = c + 3 >= rest;
        const int64_t first = is_last ? rest - 2 : c;
        s->a[first][first] = s->a[first + 1][first + 1] = 0;
        s->a[first + 1][first] = 1;
    }
    s->a[rest][rest - 1] = 64; /* entries in rows that are kept, far larger than any other, decide
                                  nothing */
    s->a[n - 1][LDLT_BLOCK - 1] = 64;
    return pairs;
}

static void pairs_across_borders(void **state)
{
    (void)state;
    tally sum = {0};
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int64_t rest = LDLT_BLOCK + 2; rest <= 4 * LDLT_BLOCK + 2;
             rest += rest % LDLT_BLOCK == 2 ? LDLT_BLOCK - 2 : 1)
            for (int64_t kept = 1; kept <= 17; kept += 16) {
                const uint64_t seed = (uint64_t)(rest * 100 + kept);
                random_stream r = random_seeded(seed);
                parted *t = room(1, sizeof *t);
                const int64_t pairs = make_pairs(&r, hermitian, rest + kept, rest, &t->s);
                keep_last(t, kept);
                check_all(t, as_it_stands(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_OFF), &r, seed,
                          pairs, 0, &sum);
                free(t);
            }
    print_message("%d systems, %d pairs, %d left out\n", sum.checked, (int)sum.pairs, sum.refused);
    assert_true(sum.checked >= 20 * SYMMETRIES);
}

/* Fronts with more pivots than a block, the last one with kept rows of the hub; columns wait for
 * those of these that go. */
static dense cliques_over_a_hub(random_stream *r, int hermitian, int64_t size, int64_t waiting,
                                int is_definite)
{
    dense s = dense_random(r, hermitian, 4 * size, 1, is_definite ? 2 * MOST : 12);
    for (int64_t i = 0; i < 4 * size && !is_definite; i += 3)
        s.a[i][i] = -12;
    dense_keep_cliques(&s, size, waiting);
    return s;
}

static void delayed_columns_meet_kept_rows(void **state)
{
    (void)state;
    tally sum = {0};
    const int64_t size = MOST / 4, kept_rows[] = {1, 2, 5, 7, size / 2, size - 10};
    /* 3, 6 or 9 columns, at most as many as the hub has that go */
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int k = 0; k < 6; k++)
            for (int64_t waiting = 1; waiting <= 3; waiting++) {
                const uint64_t seed = (uint64_t)(k * 10 + waiting);
                random_stream r = random_seeded(seed);
                parted *t = room(1, sizeof *t);
                t->s = cliques_over_a_hub(&r, hermitian, size, waiting, 0);
                keep_last(t, kept_rows[k]);
                check_all(t, as_it_stands(LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_ON), &r, seed, 0,
                          3 * waiting, &sum);
                free(t);
            }
    print_message("%d systems, %d delayed columns, %d fronts, %d left out\n", sum.checked,
                  (int)sum.delayed, (int)sum.fronts, sum.refused);
    assert_true(sum.checked >= (EPS < 1e-10 ? 18 : 8) * SYMMETRIES &&
                sum.fronts >= 2 * sum.checked);
}

/* The same trees by Cholesky, whose diagonal dominates; the rows that are kept need not be
 * definite. */
static void several_fronts_by_cholesky(void **state)
{
    (void)state;
    tally sum = {0};
    for (int hermitian = SCALAR_COMPLEX; hermitian < SYMMETRIES; hermitian++)
        for (int64_t kept = 1; kept < MOST / 4; kept += 6) {
            const uint64_t seed = (uint64_t)kept;
            random_stream r = random_seeded(seed);
            parted *t = room(1, sizeof *t);
            t->s = cliques_over_a_hub(&r, hermitian, MOST / 4, 0, 1);
            keep_last(t, kept);
            for (int64_t k = 0; k < kept; k++)
                t->s.a[t->row[k]][t->row[k]] = -1;
            check_all(t, as_it_stands(LIBSOLVER_KIND_SPD, LIBSOLVER_ON), &r, seed, 0, 0, &sum);
            free(t);
        }
    assert_true(sum.checked >= 6 && sum.fronts >= 2 * sum.checked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_pivots_in_one_front),
        cmocka_unit_test(pairs_across_borders),
        cmocka_unit_test(delayed_columns_meet_kept_rows),
        cmocka_unit_test(several_fronts_by_cholesky),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
