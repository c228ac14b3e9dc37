/* test/gpu/test_factor_program.c: programs of factorizations, carried out by an emulator and
 * compared with the CPU's factor, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/owned_tree.h"
#include "fake/emulators.h"
#include "gpu/factor/trace.h"
#include "problems.h"
#include "scaled_system.h"
#include <stdlib.h>
#include <string.h>

static cholesky_outcome carry_out(const factor_program *g, const cpu_system *s, uint64_t seed,
                                  int by_levels, scalar *panel, uint64_t *trace)
{
    cholesky_outcome outcome;
    const factor_pattern p = fronts_of(s);
    real *scale = malloc(sizeof(real) * (size_t)(g->n + 1));
    assert_non_null(scale);
    const emulated_factorization f = {.program = g,
                                      .row_of = p.row_of,
                                      .index = p.index,
                                      .signs = p.signs,
                                      .values = s->values,
                                      .by_levels = by_levels,
                                      .doubt_level = 0x1p-6,
                                      .panel = panel,
                                      .scale = scale,
                                      .trace = trace,
                                      .outcome = &outcome,
                                      .seed = seed};
    const char *wrong = NAME(emulate_factorization)(&f);
    if (wrong)
        fail_msg("seed %d: %s", (int)seed, wrong);
    free(scale);
    return outcome;
}

/* Whether a tile of a contribution block is the first of a front without pivots. */
static int is_first_of_front(const factor_program *g, const factor_task *t)
{
    return g->front[t->front].k == 0 && t->i == 0 && t->j == 0;
}

/* Tasks come in levels, each front's at least once, and no level is empty. */
static void check_levels(const factor_program *g)
{
    assert_int_equal(g->level_start[g->levels], g->tasks);
    int64_t fronts = 0;
    for (int32_t q = 0; q < g->levels; q++)
        assert_true(g->level_start[q] < g->level_start[q + 1]);
    for (int64_t t = 0; t < g->tasks; t++) {
        assert_in_range(g->by_level[t], 0, g->tasks - 1);
        for (int32_t q = 0; g->task[t].kind == FACTOR_TINY && q < g->task[t].j; q++)
            fronts += g->range[g->task[t].i + q].end - g->range[g->task[t].i + q].first +
                      (g->range[g->task[t].i + q].group >= 0);
        fronts += g->task[t].kind == FACTOR_SMALL ? g->task[t].j - g->task[t].i : 0;
        fronts += g->task[t].kind == FACTOR_PIVOT && g->task[t].i == 0;
        fronts += g->task[t].kind == FACTOR_CONTRIBUTION && is_first_of_front(g, g->task + t);
    }
    assert_int_equal(fronts, g->fronts);
}

/* A trace has every front and every operation once, and tasks as the program has them. */
static void check_trace(const factor_program *g, const cpu_system *s, uint64_t seed, int by_levels,
                        scalar *panel)
{
    uint64_t *times = calloc((size_t)(2 * g->tasks + 1), sizeof *times);
    libsolver_factor_task *task = calloc((size_t)(g->tasks + 1), sizeof *task);
    assert_true(times && task);
    carry_out(g, s, seed, by_levels, panel, times);
    factor_trace(g, times, task);
    double flops = 0, expected = 0, first = INFINITY;
    int64_t fronts = 0;
    for (int32_t q = 0; q < g->nodes; q++)
        for (int32_t j = 0; j < g->front[q].k; j++)
            expected += pow(g->front[q].m - j, 2);
    for (int64_t t = 0; t < g->tasks; t++) {
        const libsolver_factor_task *a = task + t;
        const int is_run = a->kind <= LIBSOLVER_FACTOR_TASK_SMALL;
        const int is_whole = a->kind == LIBSOLVER_FACTOR_TASK_CONTRIBUTION && a->columns == 0;
        fronts += is_run || (a->kind == LIBSOLVER_FACTOR_TASK_PIVOT && a->row_block == 0) ||
                          (is_whole && is_first_of_front(g, g->task + t))
                      ? a->fronts
                      : 0;
        flops += a->flops;
        first = fmin(first, a->begin);
        assert_int_equal(a->kind, factor_kind_of(g->task + t));
        assert_true(a->fronts > 0 && a->columns >= 0 && a->rows >= a->columns && a->rows > 0 &&
                    a->first >= 0 && a->first + a->columns <= g->n);
        assert_true(a->columns > 0 || is_run || is_whole);
        assert_true(a->row_block >= a->column_block && a->row_block * FACTOR_TILE < a->rows + 64);
        assert_true(a->begin < a->end);
        assert_true(a->flops > 0 || a->kind == LIBSOLVER_FACTOR_TASK_ASSEMBLE ||
                    a->kind == LIBSOLVER_FACTOR_TASK_DIVIDE || a->columns == 0);
    }
    assert_int_equal(fronts, g->fronts);
    assert_true(g->tasks == 0 || first == 0);
    if (!(fabs(flops - expected) <= 1e-12 * expected))
        fail_msg("seed %d: %.17g operations, %.17g expected", (int)seed, flops, expected);
    free(times);
    free(task);
}

static void check_system(cpu_system *s, const factor_tuning *tuning, int seed)
{
    factor_program g = program_of(s, tuning);
    scalar *panel = malloc(sizeof(scalar) * (size_t)(g.panel_scalars + 2 * g.n + 1)),
           *again = malloc(sizeof(scalar) * (size_t)(g.panel_scalars + 2 * g.n + 1));
    assert_true(panel && again);
    check_levels(&g);
    const cholesky_outcome o = carry_out(&g, s, (uint64_t)seed, 1, panel, NULL);
    assert_int_equal(o.failed, g.n);
    assert_int_equal(o.uncertain, s->report.small); /* before it was looked at */
    compare_panels(s, &g, panel, seed);
    for (int by_levels = 0; by_levels < 2; by_levels++) { /* the order of tasks changes no bit */
        check_trace(&g, s, (uint64_t)(seed + by_levels), by_levels, again);
        compare_bits(&g, panel, again);
    }
    factor_program_free(&s->env.memory, &g);
    free(panel);
    free(again);
}

static void random_systems(void **state)
{
    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = seed < 60 ? seed : random_below(&r, 300);
        positive_system(&s, &r, random_pattern(&r, n), seed % ORDERS);
        check_system(&s, tunings + seed % TUNINGS, seed);
        system_free(&s);
    }
}

/* L D L^T with signs: what it is where no pivot has to be put right, and that one has. */
static void signed_systems(void **state)
{
    (void)state;
    int doubtful = 0;
    for (int seed = 0; seed < 200; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = seed < 60 ? seed : random_below(&r, 300);
        const pattern a = seed % 10 == 9 ? problem_complete(n) : random_pattern(&r, n);
        system_build_quasi_definite(&s, &r, a, !SCALAR_COMPLEX || seed / 4 % 2, seed % ORDERS,
                                    seed % 4 == 3);
        if (s.report.perturbed == 0)
            check_system(&s, tunings + seed % TUNINGS, seed);
        else {
            factor_program g = program_of(&s, tunings + seed % TUNINGS);
            scalar *panel = malloc(sizeof(scalar) * (size_t)(g.panel_scalars + 2 * g.n + 1));
            assert_non_null(panel);
            assert_true(carry_out(&g, &s, (uint64_t)seed, seed % 8 == 3, panel, NULL).failed < n);
            factor_program_free(&s.env.memory, &g);
            free(panel);
            doubtful++;
        }
        system_free(&s);
    }
    assert_true(doubtful > 30);
}

/* ---- Schur complements ----------------------------------------------------------------------- */

/* What the full factor of the CPU has of entry (i, j), i >= j, of the last `size` rows of the last
 * front's: the entry of L22 D22 L22^H, not scaled. */
static scalar entry_behind(const cpu_system *s, const factor_tree *t, int32_t size, int32_t i,
                           int32_t j)
{
    const int32_t last = t->nodes - 1, m = t->ld[last], p = m - size;
    const scalar *panel = t->panel[last], *d = t->d[last];
    const real *scale = t->scale;
    const int32_t *row_of = t->user_row + (t->n - size);
    scalar sum = 0;
    for (int32_t k = 0; k <= j; k++) {
        const scalar *column = panel + (int64_t)(p + k) * m + p;
        const scalar left = s->signs && i == k ? 1 : column[i],
                     right = s->signs && j == k ? 1 : column[j];
        sum += left * (s->signs ? d[p + k] : 1) * scalar_mirror(right, s->hermitian);
    }
    return sum / scale[row_of[i]] / scale[row_of[j]];
}

/* The complement by a program is that of the full factor, and the same whatever the order of
 * tasks. */
static void check_complement(cpu_system *s, const factor_tuning *tuning, int32_t size, int seed)
{
    factor_program g = program_of_part(s, tuning, size);
    const int64_t panels = g.panel_scalars + 2 * g.n + 1, entries = (int64_t)size * size;
    scalar *panel = malloc(sizeof(scalar) * (size_t)panels),
           *arena = malloc(sizeof(scalar) * (size_t)(g.arena_scalars + 1)),
           *out = malloc(sizeof(scalar) * (size_t)(2 * entries));
    real *scale = malloc(sizeof(real) * (size_t)(g.n + 1));
    const factor_pattern p = fronts_of(s);
    owned_tree tree;
    message why = {0};
    assert_true(panel && arena && out && scale);
    assert_int_equal(cpu->view_tree(s->numeric, &tree, &why), LIBSOLVER_OK);
    check_levels(&g);
    check_trace(&g, s, (uint64_t)seed, seed % 2, panel);
    for (int by_levels = 0; by_levels < 2; by_levels++) {
        cholesky_outcome outcome;
        const emulated_factorization f = {.program = &g,
                                          .row_of = p.row_of,
                                          .index = p.index,
                                          .signs = p.signs,
                                          .values = s->values,
                                          .by_levels = by_levels,
                                          .panel = panel,
                                          .arena = arena,
                                          .scale = scale,
                                          .outcome = &outcome,
                                          .seed = (uint64_t)seed};
        const emulated_complement c = {&g,    p.row_of, s->values,
                                       scale, arena,    out + by_levels * entries};
        const char *wrong = NAME(emulate_factorization)(&f);
        if (wrong)
            fail_msg("seed %d: %s", seed, wrong);
        assert_int_equal(outcome.failed, g.n);
        assert_int_equal(outcome.nonpositive, g.n);
        NAME(emulate_complement)(&c);
    }
    assert_memory_equal(out, out + entries, sizeof(scalar) * (size_t)entries);
    if (!s->signs) /* which are scaled in another way */
        compare_panels(s, &g, panel, seed);
    double largest = 0, error = 0;
    for (int32_t j = 0; j < size; j++)
        for (int32_t i = j; i < size; i++) {
            const scalar right = entry_behind(s, &tree.view, size, i, j);
            largest = fmax(largest, (double)scalar_abs(right));
            error = fmax(error, (double)scalar_abs(right - out[i + j * size]));
            assert_true(out[j + i * size] == scalar_mirror(out[i + j * size], s->hermitian));
        }
    if (!(error <= 1000 * (double)EPS * largest))
        fail_msg("seed %d, n %d, %d rows: the complement is off by %g, the largest entry is %g",
                 seed, g.n, size, error, largest);
    owned_tree_free(&s->env.memory, &tree);
    factor_program_free(&s->env.memory, &g);
    free(panel);
    free(arena);
    free(out);
    free(scale);
}

static void schur_complements(void **state)
{
    (void)state;
    for (int seed = 0; seed < 160; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = seed < 40 ? 1 + seed : 1 + random_below(&r, 300);
        const pattern a = seed % 8 == 7   ? problem_complete(n)
                          : seed % 8 == 3 ? wide_pattern(20 + n, 1 + seed % 3)
                                          : random_pattern(&r, n);
        system_of_kind(&s, &r, a, (seed + seed / 8) % SYSTEM_KINDS);
        const factor_pattern p = fronts_of(&s);
        const int32_t most = factor_pattern_pivots(&p, p.nodes - 1);
        if (s.report.perturbed == 0)
            check_complement(&s, tunings + seed % TUNINGS,
                             seed % 3 ? most : 1 + random_below(&r, most), seed);
        system_free(&s);
    }
    for (int32_t n = 100; n <= 340; n += 60) { /* several row blocks */
        cpu_system s;
        random_stream r = random_seeded((uint64_t)n);
        positive_system(&s, &r, problem_complete(n), NATURAL);
        for (int32_t size = n; size > 0; size -= 67)
            check_complement(&s, tunings + size % TUNINGS, size, size);
        system_free(&s);
    }
}

/* ---- Other trees ----------------------------------------------------------------------------- */

/* Fronts of several row blocks, whose panels tiles get one, two, four and eight at a time. */
static void grids(void **state)
{
    (void)state;
    const int32_t side[][2] = {{1, 1}, {12, 9}, {40, 40}, {700, 1}};
    for (int k = 0; k < 4; k++)
        for (int t = 0; t < TUNINGS; t++) {
            cpu_system s;
            random_stream r = random_seeded((uint64_t)k);
            system_build_grid(&s, &r, side[k][0], side[k][1], SPD, BY_DISSECTION);
            check_system(&s, tunings + t, t);
            system_free(&s);
        }
    for (int32_t n = 63; n <= 650; n = n < 130 ? n + 1 : n + 173) { /* one dense front */
        cpu_system s;
        random_stream r = random_seeded((uint64_t)n);
        positive_system(&s, &r, problem_complete(n), NATURAL);
        check_system(&s, tunings + n % 2, n);
        system_free(&s);
    }
    cpu_system s; /* nineteen panels: the first eight at a time */
    random_stream r = random_seeded(1);
    positive_system(&s, &r, problem_complete(1160), NATURAL);
    check_system(&s, tunings, 1);
    system_free(&s);
}

static int32_t most_children(const factor_program *g)
{
    int32_t most = 0;
    for (int32_t s = 0; s < g->fronts; s++)
        most = g->front[s].children > most ? g->front[s].children : most;
    return most;
}

/* Very many children are summed in groups and groups of groups, none of which is large. */
static void wide_trees(void **state)
{
    (void)state;
    for (int seed = 0; seed < 12; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t copies = 3 + seed % 3;
        const pattern a = wide_pattern(1500, copies);
        const factor_tuning *tuning = seed % 6 ? tunings + seed % 6 % TUNINGS : NULL;
        system_of_kind(&s, &r, a, (seed + seed / 6) % SYSTEM_KINDS);
        check_system(&s, tuning, seed);
        factor_program g = program_of(&s, tuning);
        const factor_pattern p = fronts_of(&s);
        if (tuning != tunings + 3) {
            assert_true(g.fronts > g.nodes);
            assert_in_range(most_children(&g), 1, 33);
        } else {
            assert_int_equal(g.fronts, g.nodes);
            assert_ptr_equal(g.position, p.position);
        }
        factor_program_free(&s.env.memory, &g);
        system_free(&s);
    }
}

/* Leaves next to each other are one warp's work, with the sum of their blocks. */
static void groups_of_leaves(void **state)
{
    int64_t all = 0;
    (void)state;
    for (int seed = 0; seed < 24; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t leaves = 30 + random_below(&r, 400), hubs = 1 + random_below(&r, 60);
        const pattern a = leaves_pattern(&r, leaves, hubs);
        const factor_tuning *tuning = seed % 5 ? tunings + seed % 5 - 1 : NULL;
        system_of_kind(&s, &r, a, seed % SYSTEM_KINDS);
        check_system(&s, tuning, seed);
        factor_program g = program_of(&s, tuning);
        for (int64_t q = 0; q < g.ranges; q++)
            all += g.range[q].group >= 0 ? g.range[q].leaves : 0;
        factor_program_free(&s.env.memory, &g);
        system_free(&s);
    }
    assert_true(all > 1000);
}

/* The first row whose pivot is refused is the CPU's. */
static void breakdowns(void **state)
{
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        cpu_system s;
        random_stream r = random_seeded((uint64_t)seed);
        const int32_t n = 1 + random_below(&r, 250);
        positive_system(&s, &r, random_pattern(&r, n), BY_DEGREE);
        factor_program g = program_of(&s, tunings + seed % TUNINGS);
        int64_t entry;
        scalar good;
        const int32_t row = make_indefinite(&s, &r, &entry, &good);
        scalar *panel = malloc(sizeof(scalar) * (size_t)(g.panel_scalars + 1));
        assert_non_null(panel);
        const cholesky_outcome o = carry_out(&g, &s, (uint64_t)seed, seed % 2, panel, NULL);
        assert_int_equal(o.nonpositive < n ? o.nonpositive : o.failed, row < 0 ? n : row);
        free(panel);
        factor_program_free(&s.env.memory, &g);
        system_free(&s);
    }
}

/* Any allocation may fail. */
static void without_memory(void **state)
{
    (void)state;
    cpu_system s;
    random_stream r = random_seeded(1);
    positive_system(&s, &r, wide_pattern(200, 2), NATURAL);
    const factor_pattern p = fronts_of(&s);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int failures = 0;
    for (; status != LIBSOLVER_OK; failures++) {
        factor_program g;
        message why = {0};
        s.ration.left = failures;
        status = factor_program_build(&s.env, &p, SCALAR_TYPE, NULL, &g, &why);
        s.ration.left = INT64_MAX;
        if (status == LIBSOLVER_OK)
            factor_program_free(&s.env.memory, &g);
        else {
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
            assert_non_null(strstr(why.text, "more bytes"));
        }
    }
    assert_true(failures > 10);
    system_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems), cmocka_unit_test(signed_systems),
        cmocka_unit_test(grids),          cmocka_unit_test(schur_complements),
        cmocka_unit_test(wide_trees),     cmocka_unit_test(groups_of_leaves),
        cmocka_unit_test(breakdowns),     cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
