/* test/api/test_api_vectors.c: every way of passing blocks of vectors, right and wrong
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_bench.h"
#include <math.h>

#define WIDE 40 /* largest leading dimension */

/* The COLUMNS vectors as the view says, NaN between them. */
static void fill_block(const libsolver_vectors *v, const double *from)
{
    double *to = v->values;
    for (int k = 0; k < WIDE * WIDE; k++)
        to[k] = NAN;
    for (int64_t j = 0; j < v->columns; j++)
        for (int64_t i = 0; i < N; i++)
            to[v->layout == LIBSOLVER_COLUMN_MAJOR ? i + j * v->ld : i * v->ld + j] =
                from[i + j * N];
}

/* The block is as expected, bit by bit, and what lies between its entries is untouched. */
static void check_block(const libsolver_vectors *v, const double *expected)
{
    double block[WIDE * WIDE];
    libsolver_vectors copy = *v;
    copy.values = block;
    fill_block(&copy, expected);
    for (int k = 0; k < WIDE * WIDE; k++) {
        const double found = ((const double *)v->values)[k];
        if (isnan(block[k]) ? !isnan(found) : found != block[k])
            fail_msg("place %d is %.17g, expected %.17g (layout %d, ld %d)", k, found, block[k],
                     v->layout, (int)v->ld);
    }
}

static void every_view_of_vectors_gives_the_same_bits(void **state)
{
    bench *t = *state;
    double b_block[WIDE * WIDE], x_block[WIDE * WIDE], plain[N * COLUMNS], parts[3][N * COLUMNS];
    libsolver_workspace *w;
    assert_int_equal(libsolver_workspace_create(t->factor, COLUMNS, &w), LIBSOLVER_OK);
    solves(t, t->factor);
    const libsolver_vectors from = block_view(t->b, N, COLUMNS), to = block_view(plain, N, COLUMNS);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &from, &to),
                     LIBSOLVER_OK);
    for (int k = 0; k < 3; k++) {
        const libsolver_vectors before = block_view(k == 0 ? t->b : parts[k - 1], N, COLUMNS);
        const libsolver_vectors after = block_view(parts[k], N, COLUMNS);
        const libsolver_part part = (libsolver_part)(LIBSOLVER_PART_L + k);
        assert_int_equal(libsolver_solve_plain(t->factor, part, w, &before, &after), LIBSOLVER_OK);
    }
    assert_memory_equal(parts[2], plain, sizeof plain); /* L, D and LT are ALL */
    for (int kind = 0; kind < 2 * 2 * 3 * 3; kind++) {
        libsolver_vectors b = block_view(b_block, N, COLUMNS), x = block_view(x_block, N, COLUMNS);
        b.layout = (libsolver_layout)(kind % 2);
        x.layout = (libsolver_layout)(kind / 2 % 2);
        b.ld = (b.layout == LIBSOLVER_COLUMN_MAJOR ? N : COLUMNS) + kind / 4 % 3;
        x.ld = (x.layout == LIBSOLVER_COLUMN_MAJOR ? N : COLUMNS) + kind / 12 % 3;
        double error[COLUMNS];
        fill_block(&b, t->b);
        fill_block(&x, t->exact);
        assert_int_equal(libsolver_solve(t->factor, &b, &x), LIBSOLVER_OK);
        check_block(&b, t->b);
        check_block(&x, t->x);
        assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x),
                         LIBSOLVER_OK);
        check_block(&x, plain);
        fill_block(&x, t->exact);
        assert_int_equal(libsolver_refine(t->factor, w, &b, &x, error), LIBSOLVER_OK);
        check_block(&x, t->exact); /* it was right to the last bit: the entries are small integers
                                    */
        for (int k = 0; k < COLUMNS; k++)
            assert_true(error[k] == 0);
        assert_int_equal(libsolver_solve(t->factor, &b, &b), LIBSOLVER_OK); /* x == b */
        check_block(&b, t->x);
        fill_block(&b, t->b);
        assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, &b, &b),
                         LIBSOLVER_OK);
        for (int k = 0; k < 3; k++) {
            fill_block(&b, k == 0 ? t->b : parts[k - 1]);
            const libsolver_part part = (libsolver_part)(LIBSOLVER_PART_L + k);
            assert_int_equal(libsolver_solve_plain(t->factor, part, w, &b, &x), LIBSOLVER_OK);
            check_block(&x, parts[k]);
        }
    }
    libsolver_workspace_free(w);
}

static void bad_vectors_are_refused(void **state)
{
    bench *t = *state;
    libsolver_workspace *w;
    double out[N * COLUMNS] = {0};
    const libsolver_vectors good = block_view(t->b, N, COLUMNS);
    assert_int_equal(libsolver_workspace_create(t->factor, 2, &w), LIBSOLVER_OK);
    for (int k = 0; k < 10; k++)
        for (int of_x = 0; of_x < 2; of_x++) {
            libsolver_vectors b = good, x = block_view(out, N, COLUMNS), *bad = of_x ? &x : &b;
            libsolver_status expected = LIBSOLVER_INVALID;
            const char *word = " ";
            switch (k) {
            case 0:
                bad->rows = N - 1;
                word = of_x ? "x is 11 x 3, expected 12 x 3" : "b is 11 x 3";
                break;
            case 1:
                bad->rows = N + 1;
                break;
            case 2:
                bad->columns = COLUMNS - 1;
                break;
            case 3:
                bad->columns = -1;
                break;
            case 4:
                bad->ld = N - 1;
                word = "leading dimension 11";
                break;
            case 5:
                bad->layout = LIBSOLVER_ROW_MAJOR;
                bad->ld = COLUMNS - 1;
                word = "leading dimension 2";
                break;
            case 6:
                bad->layout = (libsolver_layout)2;
                word = "legal";
                break;
            case 7:
                bad->type = LIBSOLVER_S;
                word = "type";
                break;
            case 8:
                bad->values = NULL;
                word = "no values";
                break;
            default:
                bad->place = (libsolver_place)-1;
                word = "legal";
            }
            refused(libsolver_solve(t->factor, &b, &x), expected,
                    libsolver_factor_message(t->factor), word);
            solves(t, t->factor);
            assert_string_equal(libsolver_factor_message(t->factor), "");
            refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x), expected,
                    libsolver_factor_message(t->factor), word);
            solves(t, t->factor);
            refused(libsolver_refine(t->factor, w, &b, &x, NULL), expected,
                    libsolver_factor_message(t->factor), word);
        }
    for (int64_t at = 0; at < N * COLUMNS; at++) {
        const libsolver_vectors x = block_view(out, N, COLUMNS);
        const double kept = t->b[at];
        t->b[at] = at % 2 ? NAN : -INFINITY;
        refused(libsolver_solve(t->factor, &good, &x), LIBSOLVER_NONFINITE,
                libsolver_factor_message(t->factor), "is not finite");
        refused(libsolver_refine(t->factor, w, &good, &x, NULL), LIBSOLVER_NONFINITE,
                libsolver_factor_message(t->factor), "is not finite");
        t->b[at] = kept;
    }
    for (int k = 0; k < N * COLUMNS; k++) /* nothing was written */
        assert_true(out[k] == 0);
    out[2] = NAN; /* an x that cannot be refined is said to be wrong */
    const libsolver_vectors x = block_view(out, N, COLUMNS);
    double error[COLUMNS];
    assert_int_equal(libsolver_refine(t->factor, w, &good, &x, error), LIBSOLVER_INACCURATE);
    assert_false(error[0] <= 1);
    libsolver_vectors none = block_view(NULL, N, 0);
    assert_int_equal(libsolver_solve(t->factor, &none, &none), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &none, &none),
                     LIBSOLVER_OK);
    assert_int_equal(libsolver_refine(t->factor, w, &none, &none, NULL), LIBSOLVER_OK);
    libsolver_workspace_free(w);
    works(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_on_bench(every_view_of_vectors_gives_the_same_bits),
        unit_test_on_bench(bad_vectors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
