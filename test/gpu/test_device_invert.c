/* test/gpu/test_device_invert.c: inverses computed on a device, against those of the host
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_invert [small]      small: sizes and repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include "gpu/invert/invert.h"
#include "gpu/tree/tree_shape.h"
#include "gpu/invert/inverse_builder.h"
#include "gpu_test.h"
#include "base/owned_tree.h"
#include "tree_shapes.h"
#include <stdlib.h>
#include <string.h>

static int small;

#define GUARD 4096 /* bytes behind the values that must stay */

/* A factor with the groups and program of its solve, and the values that the host gives it. */
typedef struct inverted {
    memory *m;
    environment *env;
    owned_tree cpu;
    factor_tree tree;
    unsigned char *joined;
    pieces p;
    groups g;
    solve_plan plan;
    char *values;
    double *growth; /* groups: of M; then of G */
} inverted;

static libsolver_status invert_on_host(const inverted *q)
{
    switch (q->tree.type) {
    case LIBSOLVER_S:
        return invert_values_s(q->env, &q->tree, &q->p, &q->g, &q->plan, q->values, q->growth,
                               q->growth + q->g.count);
    case LIBSOLVER_D:
        return invert_values_d(q->env, &q->tree, &q->p, &q->g, &q->plan, q->values, q->growth,
                               q->growth + q->g.count);
    case LIBSOLVER_C:
        return invert_values_c(q->env, &q->tree, &q->p, &q->g, &q->plan, q->values, q->growth,
                               q->growth + q->g.count);
    case LIBSOLVER_Z:
        return invert_values_z(q->env, &q->tree, &q->p, &q->g, &q->plan, q->values, q->growth,
                               q->growth + q->g.count);
    }
    return LIBSOLVER_INTERNAL;
}

/* Groups and program of q's tree, some pieces cut. */
static void plan_inverted(inverted *q, random_stream *r, double step, int64_t largest, int cuts)
{
    static const int32_t blocks[] = {1, 7, 132, 264};
    const layer_costs costs = {
        .step = step, .bytes_per_second = 4e12, .scalar_bytes = 8, .largest = largest};
    message why = {0};
    assert_int_equal(pieces_build(q->m, &q->tree, &q->p), LIBSOLVER_OK);
    for (int round = 0; round < cuts; round++) {
        int32_t *cut = memory_new(q->m, q->p.count, sizeof(int32_t));
        for (int32_t i = 0; i < q->p.count; i++)
            cut[i] = random_below(r, 3) ? 0 : random_below(r, 6);
        for (int32_t i = 0; i < q->p.count; i++)
            q->p.without_inverse[i] = random_below(r, 4) == 0;
        assert_int_equal(pieces_split(q->m, &q->tree, cut, q->joined, &q->p), LIBSOLVER_OK);
        memory_free(q->m, cut);
    }
    int32_t *layer = memory_new(q->m, q->p.count, sizeof(int32_t));
    assert_non_null(layer);
    assert_int_equal(layers_choose(q->m, &q->tree, &q->p, &costs, layer), LIBSOLVER_OK);
    assert_int_equal(groups_build(q->m, &q->tree, &q->p, layer, &q->g), LIBSOLVER_OK);
    memory_free(q->m, layer);
    plan_tuning tuning = plan_tuned;
    tuning.twice = random_below(r, 3) > 0;
    tuning.strip_bytes = random_below(r, 3) * 2000000;
    if (plan_build(q->env, &q->tree, &q->g, q->joined, blocks[random_below(r, 4)], &tuning,
                   &q->plan, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    q->values = memory_zeroed(q->m, q->plan.value_bytes, 1);
    q->growth = memory_zeroed(q->m, 2 * q->g.count, sizeof(double));
    assert_true(q->values && q->growth);
    assert_int_equal(invert_on_host(q), LIBSOLVER_OK);
}

static void begin_inverted(inverted *q, cpu_system *s)
{
    memset(q, 0, sizeof *q);
    q->m = &s->env.memory;
    q->env = &s->env;
    assert_int_equal(cpu_backend_d.view_tree(s->numeric, &q->cpu, NULL), LIBSOLVER_OK);
    q->tree = q->cpu.view;
    q->joined = memory_zeroed(q->m, s->a.n, 1);
    assert_non_null(q->joined);
    tree_joined_d(&q->tree, q->joined);
}

static void end_inverted(inverted *q)
{
    owned_tree_free(q->m, &q->cpu);
    pieces_free(q->m, &q->p);
    groups_free(q->m, &q->g);
    plan_free(q->m, &q->plan);
    memory_free(q->m, q->joined);
    memory_free(q->m, q->values);
    memory_free(q->m, q->growth);
}

/* ---- Comparisons ----------------------------------------------------------------------------- */

static int is_double(const inverted *q)
{
    return q->tree.type == LIBSOLVER_D || q->tree.type == LIBSOLVER_Z;
}

static double word_at(const inverted *q, const char *values, int64_t word)
{
    return is_double(q) ? ((const double *)values)[word] : (double)((const float *)values)[word];
}

static int64_t word_bytes(const inverted *q)
{
    return is_double(q) ? 8 : 4;
}

static double eps_of(const inverted *q)
{
    return is_double(q) ? EPS : FLT_EPSILON;
}

/* Words of a tile that a solve reads, or that fill it up to its leading dimension. */
static int64_t tile_words(const inverted *q, const plan_tile *t)
{
    const int64_t entries = t->kind == IN_SQUARE
                                ? SQUARE * SQUARE
                                : (int64_t)t->ld * (t->kind == BY_ROWS ? t->rows : t->columns);
    return entries * q->plan.scalar_bytes / word_bytes(q);
}

/* largest(i), groups: magnitude of an entry of its tiles */
static double *largest_entries(const inverted *q)
{
    double *largest = calloc((size_t)q->g.count + 1, sizeof(double));
    assert_non_null(largest);
    for (int32_t t = 0; t < q->plan.tile_count; t++) {
        const plan_tile *tile = &q->plan.tile[t];
        for (int64_t w = 0; w < tile_words(q, tile); w++)
            largest[tile->group] =
                fmax(largest[tile->group],
                     fabs(word_at(q, q->values, 16 * (int64_t)tile->at16 / word_bytes(q) + w)));
    }
    return largest;
}

static void compare_tiles(const inverted *q, const char *values, int seed)
{
    double *largest = largest_entries(q);
    for (int32_t t = 0; t < q->plan.tile_count; t++) {
        const plan_tile *tile = &q->plan.tile[t];
        const int32_t k = group_columns(&q->g, tile->group);
        const double bound =
            2 * (k + 10) * eps_of(q) * q->growth[tile->group] * largest[tile->group];
        for (int64_t w = 0; w < tile_words(q, tile); w++) {
            const int64_t at = 16 * (int64_t)tile->at16 / word_bytes(q) + w;
            const double wanted = word_at(q, q->values, at), got = word_at(q, values, at);
            if (!(fabs(got - wanted) <= bound) && isfinite(wanted))
                fail_msg("seed %d, type %d, group %d (%d columns, %d rows below), tile %d, kind "
                         "%d, rows %d + %d, columns %d + %d, word %ld: %.9g "
                         "instead of %.9g, bound %.2e",
                         seed, (int)q->tree.type, tile->group, k, group_rows(&q->g, tile->group), t,
                         tile->kind, tile->row, tile->rows, tile->column, tile->columns, (long)w,
                         got, wanted, bound);
        }
    }
    free(largest);
}

static void compare_pivots(const inverted *q, const char *values, int seed)
{
    for (int32_t i = 0; i < q->g.count; i++) {
        if (q->plan.pivots_at16[i] < 0)
            continue;
        const int64_t at = 16 * q->plan.pivots_at16[i] / word_bytes(q);
        const int64_t words =
            group_columns(&q->g, i) * plan_pivot_bytes(q->plan.scalar_bytes) / word_bytes(q);
        const int64_t record = plan_pivot_bytes(q->plan.scalar_bytes) / word_bytes(q);
        for (int64_t w = 0; w < words; w++) {
            const double wanted = word_at(q, q->values, at + w), got = word_at(q, values, at + w);
            double largest = 0; /* of D^-1(o,o) and D^-1(o, neighbour): parts of them may cancel */
            for (int64_t v = w - w % record; v < w - w % record + record; v++)
                largest = fmax(largest, fabs(word_at(q, q->values, at + v)));
            if (!(fabs(got - wanted) <= 100 * eps_of(q) * largest) && isfinite(wanted))
                fail_msg("seed %d, type %d, group %d: word %ld of D^-1 is %.9g instead of %.9g",
                         seed, (int)q->tree.type, i, (long)w, got, wanted);
        }
    }
}

static void compare_growth(const inverted *q, const double *growth, int seed)
{
    for (int32_t i = 0; i < q->g.count; i++)
        for (int square = 0; square < 2; square++) {
            const double wanted = q->growth[i + square * q->g.count],
                         got = growth[i + square * q->g.count];
            const double bound =
                2 * (group_columns(&q->g, i) + 10) * eps_of(q) * q->growth[i] * wanted;
            if (!(fabs(got - wanted) <= bound) && isfinite(wanted))
                fail_msg("seed %d, type %d, group %d: growth of %s %.9g instead of %.9g", seed,
                         (int)q->tree.type, i, square ? "G" : "M", got, wanted);
        }
}

/* Workspace that the inversion takes under this limit. */
static int64_t workspace_bytes(const inverted *q, const device_factor *f, int64_t limit)
{
    invert_tables t;
    const invert_input input = {.tree = &q->tree,
                                .joined = q->joined,
                                .p = &q->p,
                                .g = &q->g,
                                .plan = &q->plan,
                                .panel_at = f->panel_at};
    assert_int_equal(invert_tables_build(q->m, &input, limit, &t), LIBSOLVER_OK);
    const int64_t bytes = t.pattern.workspace * q->plan.scalar_bytes;
    invert_tables_free(q->m, &t);
    return bytes;
}

/* It keeps every limit that leaves room for the group that takes most. */
static void check_workspace(const inverted *q, const inverse_builder *b, int seed)
{
    const int64_t of_one_group = workspace_bytes(q, b->factor, INT64_MIN);
    const int64_t limits[] = {of_one_group, 2 * of_one_group, b->workspace_limit};
    for (int k = 0; k < 3; k++) {
        const int64_t bytes = workspace_bytes(q, b->factor, limits[k]);
        if (bytes > limits[k] && bytes > of_one_group)
            fail_msg("seed %d: workspace of %lld bytes, limit %lld, the largest group takes %lld",
                     seed, (long long)bytes, (long long)limits[k], (long long)of_one_group);
    }
}

/* What is told without the growth of each group. */
static void check_largest(const inverted *q, const double *growth, double largest, int seed)
{
    double most = 0;
    for (int32_t i = 0; i < q->g.count; i++)
        most = growth[i] != growth[i] || growth[i] > most ? growth[i] : most;
    if (!(most == largest || (most != most && largest != largest)))
        fail_msg("seed %d: the largest growth is %g, told is %g", seed, most, largest);
}

/* The device's values are the host's, the same bits twice, and nothing is written behind them. */
static void check_inverted(const inverted *q, int64_t workspace, int seed)
{
    message why = {0};
    char *values[2];
    cudaStream_t stream;
    device_factor f;
    inverse_builder b;
    largest_growth largest;
    void *on_device;
    const size_t bytes = (size_t)q->plan.value_bytes + GUARD;
    double *growth = calloc(2 * (size_t)q->g.count + 1, sizeof(double));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&on_device, bytes));
    device_factor_open(&f, q->env, stream);
    inverse_builder_open(&b, q->env, stream);
    if (workspace > 0)
        b.workspace_limit = workspace;
    if (device_factor_load(&f, &q->tree, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    inverse_builder_begin(&b, &f, &q->tree, NULL);
    for (int time = 0; time < 2; time++) {
        if (time == 0 &&
            inverse_builder_plan(&b, q->joined, &q->p, &q->g, &q->plan, &why) != LIBSOLVER_OK)
            fail_msg("%s", why.text);
        if (time == 0)
            check_workspace(q, &b, seed);
        values[time] = malloc(bytes);
        assert_true(values[time] && growth);
        CUDA(cudaMemset(on_device, 0xff, bytes)); /* NaN */
        CUDA(cudaDeviceSynchronize());
        if (inverse_builder_values(&b, on_device, -1, growth, growth + q->g.count, &largest,
                                   &why) != LIBSOLVER_OK)
            fail_msg("seed %d, type %d: %s", seed, (int)q->tree.type, why.text);
        CUDA(cudaMemcpy(values[time], on_device, bytes, cudaMemcpyDeviceToHost));
    }
    compare_growth(q, growth, seed);
    check_largest(q, growth, largest.of_group, seed);
    check_largest(q, growth + q->g.count, largest.of_root, seed);
    compare_tiles(q, values[0], seed);
    compare_pivots(q, values[0], seed);
    assert_memory_equal(values[0], values[1], bytes);
    for (int k = 0; k < GUARD; k++)
        assert_int_equal((unsigned char)values[0][q->plan.value_bytes + k], 0xff);
    inverse_builder_close(&b);
    device_factor_close(&f);
    CUDA(cudaFree(on_device));
    CUDA(cudaStreamDestroy(stream));
    free(values[0]);
    free(values[1]);
    free(growth);
}

/* ---- Factors of systems, in double precision ------------------------------------------------- */

/* How a system is cut into groups; workspace: limit of the inversion's, 0: the default. */
typedef struct trial {
    double step;
    int64_t largest, workspace;
    int cuts;
} trial;

static void check_system(pattern a, double *values, int kind, random_stream *r, trial t, int seed)
{
    cpu_system s;
    inverted q;
    assert_int_equal(system_build(&s, a, values, kind, 1 + seed % 2, INT64_MAX), LIBSOLVER_OK);
    begin_inverted(&q, &s);
    plan_inverted(&q, r, t.step, t.largest, t.cuts);
    check_inverted(&q, t.workspace, seed);
    end_inverted(&q);
    system_free(&s);
}

static void random_systems_are_inverted(void **state)
{
    static const double steps[] = {1e-9, 1e-7, 1e-6, 1e-5, 1e-3};
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 12 : 160); seed++) {
        random_stream r = random_seeded(seed);
        double *values;
        pattern a;
        const int kind = random_problem(&r, seed, &a, &values);
        const trial t = {.step = steps[random_below(&r, 5)],
                         .largest = seed % 4 == 3 ? 30 : 6000,
                         .workspace = seed % 5 == 4 ? 1 << 16 : 0,
                         .cuts = seed % 3 == 2};
        check_system(a, values, kind, &r, t, (int)seed);
    }
}

/* Trees with several children of different height, of several roots, with delays and zero
 * pivots. */
static void branching_trees_are_inverted(void **state)
{
    static const double steps[] = {1e-9, 1e-8, 1e-7, 1e-6};
    (void)state;
    tree_shapes seen = {0};
    for (int seed = 0; seed < (small ? 60 : 200); seed++) {
        random_stream r = random_seeded(40000 + (uint64_t)seed);
        branching_system b;
        cpu_system s;
        inverted q;
        branching_build(&b, &s, &r);
        begin_inverted(&q, &s);
        note_tree(&seen, &b, &q.tree);
        plan_inverted(&q, &r, steps[seed % 4], seed % 5 == 4 ? 30 : 6000, seed % 3 == 2);
        note_groups(&seen, &q.g);
        check_inverted(&q, seed % 6 == 5 ? 1 << 16 : 0, seed);
        end_inverted(&q);
        branching_free(&b);
    }
    check_shapes(&seen, 1);
}

static pattern large_shape(int shape)
{
    switch (shape) {
    case 0:
        return problem_grid(small ? 12 : 45, small ? 12 : 45, 1);
    case 1:
        return problem_grid(small ? 5 : 11, small ? 5 : 11, small ? 5 : 11);
    case 2:
        return problem_star(3000, 2999);
    case 3:
        return problem_diagonal(5000);
    case 4:
        return problem_complete(900);
    default:
        return problem_path(3000);
    }
}

/* In few layers, some and many. */
static void large_shapes_are_inverted(void **state)
{
    static const double steps[] = {1e-4, 1e-6, 1e-8};
    (void)state;
    for (int shape = 0; shape < (small ? 2 : 12); shape++)
        for (int step = 0; step < 3; step++) {
            random_stream r = random_seeded(500 + (uint64_t)shape);
            const int kind = shape < 6 ? SPD : INDEFINITE;
            pattern a = large_shape(shape % 6);
            const trial t = {.step = steps[step],
                             .largest = 6000,
                             .workspace = step == 1 ? 1 << 20 : 0};
            check_system(a, random_values(&r, &a, kind), kind, &r, t, shape);
        }
}

/* ---- The four types -------------------------------------------------------------------------- */

/* The double factor's structure with values of another type, small below the diagonal. */
typedef struct imitation {
    void *values;
    const void **panel, **d, **e;
} imitation;

static void put_word(const inverted *q, void *to, int64_t word, double v)
{
    if (is_double(q))
        ((double *)to)[word] = v;
    else
        ((float *)to)[word] = (float)v;
}

static imitation imitate(inverted *q, random_stream *r, libsolver_type type, int hermitian,
                         int cholesky)
{
    const factor_tree *from = &q->cpu.view;
    const int parts = type == LIBSOLVER_C || type == LIBSOLVER_Z ? 2 : 1;
    int64_t panels = 0;
    imitation x = {.panel = calloc((size_t)from->nodes + 1, sizeof(void *)),
                   .d = calloc((size_t)from->nodes + 1, sizeof(void *)),
                   .e = calloc((size_t)from->nodes + 1, sizeof(void *))};
    q->tree.type = type;
    q->tree.hermitian = hermitian;
    q->tree.cholesky = cholesky;
    if (cholesky)
        memset(q->joined, 0, (size_t)from->n);
    for (int32_t s = 0; s < from->nodes; s++)
        panels += (int64_t)(from->first[s + 1] - from->first[s]) * from->ld[s];
    x.values = calloc((size_t)(panels + 2 * from->n + 1), (size_t)(parts * word_bytes(q)));
    assert_true(x.values && x.panel && x.d && x.e);
    for (int64_t w = 0; w < panels * parts; w++)
        put_word(q, x.values, w, 0.02 * random_real(r));
    int64_t at = 0;
    for (int32_t s = 0; s < from->nodes; s++) {
        const int32_t p = from->first[s + 1] - from->first[s];
        const int64_t size = parts * word_bytes(q);
        x.panel[s] = (char *)x.values + at * size;
        x.d[s] = (char *)x.values + (panels + from->first[s]) * size;
        x.e[s] = (char *)x.values + (panels + from->n + from->first[s]) * size;
        for (int32_t j = 0; j < p; j++) {
            const int64_t position = from->first[s] + j,
                          diagonal = at + j + (int64_t)j * from->ld[s];
            const int first = q->joined[position], second = position > 0 && q->joined[position - 1];
            put_word(q, x.values, diagonal * parts, 1 + fabs(random_real(r)));
            put_word(q, x.values, (panels + position) * parts,
                     first || second ? 0.1 * random_real(r) : 1 + fabs(random_real(r)));
            if (first)
                put_word(q, x.values, (panels + from->n + position) * parts,
                         1 + fabs(random_real(r)));
            if (first && parts == 2)
                put_word(q, x.values, (panels + from->n + position) * parts + 1, random_real(r));
            if (!hermitian && parts == 2)
                put_word(q, x.values, (panels + position) * parts + 1, 0.1 * random_real(r));
            if (parts == 2)
                put_word(q, x.values, diagonal * parts + 1, 0);
        }
        at += (int64_t)p * from->ld[s];
    }
    q->tree.panel = x.panel;
    q->tree.d = x.d;
    q->tree.e = x.e;
    return x;
}

static void imitation_free(imitation *x)
{
    free(x->values);
    free(x->panel);
    free(x->d);
    free(x->e);
}

static void all_types_are_inverted(void **state)
{
    static const libsolver_type types[] = {LIBSOLVER_S, LIBSOLVER_D, LIBSOLVER_C, LIBSOLVER_Z};
    (void)state;
    for (int seed = 0; seed < (small ? 8 : 96); seed++) {
        random_stream r = random_seeded(9000 + (uint64_t)seed);
        const libsolver_type type = types[seed % 4];
        const int cholesky = seed / 4 % 2,
                  hermitian = (type == LIBSOLVER_C || type == LIBSOLVER_Z) && seed / 8 % 2;
        pattern a = seed / 16 % 2 ? problem_complete(small ? 70 : 333)
                                  : problem_grid(small ? 14 : 24 + seed % 7, small ? 14 : 25, 1);
        cpu_system s;
        inverted q;
        double *values = random_values(&r, &a, INDEFINITE);
        assert_int_equal(system_build(&s, a, values, INDEFINITE, 1, INT64_MAX), LIBSOLVER_OK);
        begin_inverted(&q, &s);
        imitation x = imitate(&q, &r, type, hermitian, cholesky);
        plan_inverted(&q, &r,
                      seed % 3 == 0   ? 1e-4
                      : seed % 3 == 1 ? 1e-7
                                      : 1e-8,
                      6000, seed / 16 == 2);
        check_inverted(&q, 0, 9000 + seed);
        imitation_free(&x);
        end_inverted(&q);
        system_free(&s);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void any_failed_allocation_is_told(void **state)
{
    (void)state;
    random_stream r = random_seeded(77);
    cpu_system s;
    inverted q;
    device_factor f;
    inverse_builder b;
    void *values;
    system_build_grid(&s, &r, 20, 20, INDEFINITE, NATURAL);
    begin_inverted(&q, &s);
    plan_inverted(&q, &r, 1e-7, 6000, 1);
    double *growth = calloc(2 * (size_t)q.g.count + 1, sizeof(double));
    CUDA(cudaMalloc(&values, (size_t)q.plan.value_bytes + 16));
    device_factor_open(&f, q.env, NULL);
    inverse_builder_open(&b, q.env, NULL);
    const int64_t held = s.env.memory.in_use;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    largest_growth largest;
    int64_t left = 0;
    for (; status == LIBSOLVER_OUT_OF_MEMORY && left < 1000; left++) {
        s.ration.left = left;
        status = device_factor_load(&f, &q.tree, NULL);
        inverse_builder_begin(&b, &f, &q.tree, NULL);
        if (status == LIBSOLVER_OK)
            status = inverse_builder_plan(&b, q.joined, &q.p, &q.g, &q.plan, NULL);
        if (status == LIBSOLVER_OK)
            status =
                inverse_builder_values(&b, values, -1, growth, growth + q.g.count, &largest, NULL);
        s.ration.left = INT64_MAX;
    }
    assert_int_equal(status, LIBSOLVER_OK);
    assert_true(left > 10);
    compare_growth(&q, growth, 77);
    inverse_builder_close(&b);
    device_factor_close(&f);
    assert_int_equal(s.env.memory.in_use, held);
    CUDA(cudaFree(values));
    free(growth);
    end_inverted(&q);
    system_free(&s);
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_inverted),
        cmocka_unit_test(branching_trees_are_inverted),
        cmocka_unit_test(large_shapes_are_inverted),
        cmocka_unit_test(all_types_are_inverted),
        cmocka_unit_test(any_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
