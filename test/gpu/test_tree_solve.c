/* test/gpu/test_tree_solve.c: the one-launch solve on a device: answers, bits, layouts, of one
 * precision (-DPREC_x; double if none is said)
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_tree_solve [small]      small: sizes and repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "packed_system.h"
#include "tree_shapes.h"
#include <stdlib.h>
#include <string.h>

static int small;

/* The system's values replaced by these, factorized and packed again. */
static void repack(packed *p, scalar *values, int kind)
{
    message why = {0};
    if (p->s.hermitian)
        make_hermitian(&p->s.a, values);
    free(p->s.values);
    p->s.values = values;
    assert_int_equal(system_factorize(&p->s, kind, 0), LIBSOLVER_OK);
    owned_tree_free(&p->s.env.memory, &p->tree);
    assert_int_equal(NAME(cpu_backend).view_tree(p->s.numeric, &p->tree, NULL), LIBSOLVER_OK);
    if (tree_solver_pack(p->solver, &p->tree.view, &why) != LIBSOLVER_OK ||
        tree_workspace_fit(p->solver, p->workspace, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
}

static scalar *same_values(const cpu_system *s)
{
    scalar *values = nan_scalars(s->a.start[s->a.n]);
    if (s->a.start[s->a.n] > 0)
        memcpy(values, s->values, (size_t)s->a.start[s->a.n] * sizeof(scalar));
    return values;
}

static void check_padding(const block *b)
{
    int64_t numbers = 0;
    for (int64_t k = 0; k < b->size; k++)
        numbers += scalar_finite(b->values[k]);
    assert_int_equal(numbers, b->v.rows * b->v.columns);
}

/* Right answers in all layouts; the same bits in place, by levels, and from a second workspace on
 * another stream.  b: taken over. */
static void check_solves_of(packed *p, random_stream *r, block b, int solvable, uint64_t seed)
{
    const int32_t n = p->s.a.n;
    const int64_t columns = b.v.columns;
    tree_solver_info info;
    tree_solver_query(p->solver, &info);
    block x = random_block(r, n, columns, 0);
    libsolver_vectors db = to_device(&b), dx = to_device(&x);
    assert_int_equal(tree_solve(p->solver, p->workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
    check(p);
    from_device(&dx, &x);
    check_padding(&x);
    for (int64_t j = 0; j < columns && solvable; j++)
        check_column(&p->s, &b, &x, j, 100 * (n + 10) * info.growth, seed);
    /* in place */
    assert_int_equal(tree_solve(p->solver, p->workspace, NULL, &db, &db, NULL), LIBSOLVER_OK);
    check(p);
    block in_place = {.v = b.v, .size = b.size, .values = nan_scalars(b.size)};
    from_device(&db, &in_place);
    check_padding(&in_place);
    for (int64_t j = 0; j < columns; j++)
        for (int32_t i = 0; i < n; i++)
            if (memcmp(block_at(&in_place, i, j), block_at(&x, i, j), sizeof(scalar)) != 0)
                fail_msg("seed %d: |x(%d, %d)| in place %.17g, otherwise %.17g", (int)seed, i,
                         (int)j, (double)scalar_abs(*block_at(&in_place, i, j)),
                         (double)scalar_abs(*block_at(&x, i, j)));
    /* a second workspace on another stream */
    message why = {0};
    tree_workspace *second;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(tree_workspace_create(p->solver, columns, &second, &why), LIBSOLVER_OK);
    CUDA(cudaMemcpy(db.values, b.values, (size_t)b.size * sizeof(scalar), cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
    assert_int_equal(tree_solve(p->solver, second, stream, &db, &dx, NULL), LIBSOLVER_OK);
    assert_int_equal(tree_solve_check(p->solver, second, stream, &why), LIBSOLVER_OK);
    block other = {.v = x.v, .size = x.size, .values = nan_scalars(x.size)};
    from_device(&dx, &other);
    assert_memory_equal(other.values, x.values, (size_t)x.size * sizeof(scalar));
    CUDA(cudaStreamDestroy(stream));
    tree_workspace_free(second);
    CUDA(cudaFree(db.values));
    CUDA(cudaFree(dx.values));
    free(b.values);
    free(x.values);
    free(in_place.values);
    free(other.values);
}

static void check_solves(packed *p, random_stream *r, int64_t columns, uint64_t seed)
{
    check_solves_of(p, r, random_block(r, p->s.a.n, columns, 1), p->s.report.zero == 0, seed);
}

static void random_systems_are_solved(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 8 : 120); seed++) {
        random_stream r = random_seeded(seed);
        scalar *values;
        pattern a;
        const int kind = random_problem(&r, seed, &a, &values);
        const tree_solver_options options = {.by_levels = seed % 4 == 3,
                                             .entries_factor = seed % 3 ? 0 : 1.2,
                                             .largest_part =
                                                 seed % 4 ? 0 : (int64_t)(1 + seed % 11),
                                             .substitute = seed % 7 > 4};
        const int64_t columns = seed % 5 == 4 ? 1 + random_below(&r, 20) : 1 + random_below(&r, 2);
        packed p;
        pack(&p, a, values, kind, &options, columns);
        check_solves(&p, &r, columns, seed);
        unpack(&p);
    }
}

/* Trees with several children of different height, of several roots, with delays and zero pivots;
 * inverses and the factor as it is. */
static void branching_trees_are_solved(void **state)
{
    static const double steps[] = {1e-9, 1e-8, 1e-7, 1e-6};
    (void)state;
    tree_shapes seen = {0};
    for (uint64_t seed = 0; seed < (small ? 40 : 200); seed++) {
        random_stream r = random_seeded(20000 + seed);
        const int64_t columns = seed % 4 == 3 ? 3 + random_below(&r, 12) : 1 + random_below(&r, 2);
        const tree_solver_options options = {.by_levels = seed % 8 == 7,
                                             .step = steps[random_below(&r, 4)],
                                             .entries_factor = seed % 3 ? 0 : 1.2,
                                             .largest_part =
                                                 seed % 4 ? 0 : (int64_t)(1 + seed % 11),
                                             .substitute = seed % 5 == 4};
        branching_system q;
        packed p = {0};
        branching_build(&q, &p.s, &r);
        pack_view(&p, &options, columns);
        note_tree(&seen, &q, &p.tree.view);
        block b = random_block(&r, p.s.a.n, columns, 1);
        for (int64_t j = 0; j < columns; j++)
            for (int32_t i = 0; i < p.s.a.n; i++)
                *block_at(&b, i, j) *= !q.zero[i];
        check_solves_of(&p, &r, b, branching_is_solvable(&q), seed);
        unpack_view(&p);
        branching_free(&q);
    }
    check_shapes(&seen, 0);
}

static void large_shapes_are_solved(void **state)
{
    (void)state;
    for (int trial = 0; trial < (small ? 4 : 24); trial++) {
        const int shape = trial / 2;
        random_stream r = random_seeded(500 + (uint64_t)shape);
        pattern a = shape % 6 == 0   ? problem_grid(small ? 12 : 45, small ? 12 : 45, 1)
                    : shape % 6 == 1 ? problem_grid(small ? 4 : 11, small ? 4 : 11, small ? 4 : 11)
                    : shape % 6 == 2 ? problem_star(3000, 2999)
                    : shape % 6 == 3 ? problem_diagonal(5000)
                    : shape % 6 == 4 ? problem_complete(900)
                                     : problem_path(3000);
        const int kind = shape < 6 ? SPD : INDEFINITE;
        const tree_solver_options options = {.by_levels = shape % 5 == 4,
                                             .entries_factor = shape % 2 ? 0 : 1.5,
                                             .solves = shape % 2 ? 0 : 1,
                                             .substitute = trial % 2};
        packed p;
        pack(&p, a, random_values(&r, &a, kind), kind, &options, 8);
        for (int64_t columns = 1; columns <= 8; columns += columns)
            check_solves(&p, &r, columns, (uint64_t)shape);
        unpack(&p);
    }
}

/* The same values and others: a plan is kept for the same values, and always by L L^T while the
 * guard is silent; then nothing is allocated on the device.  Where it is made anew, answers are
 * right as well. */
static void plans_are_kept(void **state)
{
    (void)state;
    int64_t anew = 0;
    for (uint64_t seed = 0; seed < (small ? 8 : 60); seed++) {
        random_stream r = random_seeded(3000 + seed);
        const int32_t n = random_order(&r, seed + 20);
        const int delays = seed % 20 == 1, kind = delays ? INDEFINITE : (int)(seed % KINDS);
        scalar *values = NULL;
        pattern a = delays          ? cliques_around_a_hub(&r, 3, &values)
                    : seed % 7 == 6 ? problem_grid(small ? 10 : 40, 20, 1)
                                    : random_pattern(&r, n);
        const tree_solver_options options = {.by_levels = seed % 4 == 3,
                                             .invert_on_host = seed % 5 == 4,
                                             .entries_factor = seed % 3 ? 0 : 1.5,
                                             .largest_part = seed % 4 ? 0 : (int64_t)(1 + seed % 5),
                                             .substitute = seed % 8 > 5};
        packed p;
        tree_solver_info before, info;
        pack(&p, a, delays ? values : random_values(&r, &a, kind), kind, &options, 2);
        tree_solver_query(p.solver, &info);
        assert_true(info.factors == 1 && info.plans == 1);
        for (int time = 0; time < 5; time++) {
            before = info;
            repack(&p, time % 3 == 0 ? same_values(&p.s) : random_values(&r, &p.s.a, kind), kind);
            tree_solver_query(p.solver, &info);
            assert_int_equal(info.factors, time + 2);
            if (kind == SPD || time % 3 == 0)
                assert_int_equal(info.plans, before.plans);
            if (info.plans == before.plans) {
                assert_int_equal(info.allocations, before.allocations);
                assert_int_equal(info.device_bytes, before.device_bytes);
            }
            anew += info.plans > before.plans;
            check_solves(&p, &r, 2, seed);
        }
        unpack(&p);
    }
    assert_true(small || anew > 0);
}

/* A tridiagonal matrix whose L is bidiagonal with `ratio` below the diagonal. */
static scalar *chain_values(const pattern *a, double ratio)
{
    scalar *values = nan_scalars(a->start[a->n]);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t q = a->start[j]; q < a->start[j + 1]; q++)
            values[q] = (scalar)(a->row[q] == j ? 1 + (j > 0 ? ratio * ratio : 0) : ratio);
    return values;
}

/* A solve that was captured with one factor is replayed with the next; values whose inverses grow
 * too much are planned for anew, and that plan is kept for tame ones. */
static void the_guard_looks_at_every_factor(void **state)
{
    static const double ratio[] = {0.2, 0.99, 0.1, 3};
    (void)state;
    random_stream r = random_seeded(13);
    pattern a = problem_path(40);
    const tree_solver_options options = {.growth_limit = 20};
    packed p;
    pack(&p, a, chain_values(&a, 0.1), SPD, &options, 1);
    block b = random_block(&r, 40, 1, 1), x = random_block(&r, 40, 1, 0);
    libsolver_vectors db = to_device(&b), dx = to_device(&x);
    cudaStream_t stream = tree_solver_stream(p.solver);
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    assert_int_equal(tree_solve(p.solver, p.workspace, stream, &db, &dx, NULL), LIBSOLVER_OK);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(tree_solve(p.solver, p.workspace, stream, &db, &dx, NULL), LIBSOLVER_OK);
    CUDA(cudaStreamEndCapture(stream, &captured));
    CUDA(cudaGraphInstantiate(&ready, captured, 0));
    for (int time = 0; time < 4; time++) {
        tree_solver_info before, info;
        tree_solver_query(p.solver, &before);
        repack(&p, chain_values(&p.s.a, ratio[time]), SPD);
        tree_solver_query(p.solver, &info);
        assert_int_equal(info.plans - before.plans, time % 2);
        assert_int_equal(info.guarded > 0, time > 0);
        assert_true(info.growth <= 20);
        if (time == 0) {
            CUDA(cudaGraphLaunch(ready, stream));
            check(&p);
            from_device(&dx, &x);
            check_column(&p.s, &b, &x, 0, 100 * 50 * info.growth, 0);
        }
        check_solves(&p, &r, 1, (uint64_t)time);
    }
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(captured));
    CUDA(cudaFree(db.values));
    CUDA(cudaFree(dx.values));
    free(b.values);
    free(x.values);
    unpack(&p);
}

/* Launches back to back and replays of a graph, another stream busy. */
static void check_under_load(int substitute)
{
    random_stream r = random_seeded(7);
    pattern a = small ? problem_grid(10, 10, 1) : problem_grid(12, 12, 12);
    const tree_solver_options options = {.substitute = substitute};
    packed p;
    pack(&p, a, random_values(&r, &a, SPD), SPD, &options, 1);
    const int32_t n = p.s.a.n;
    block b = random_block(&r, n, 1, 1), x = random_block(&r, n, 1, 0),
          again = {.v = x.v, .size = x.size, .values = nan_scalars(x.size)};
    libsolver_vectors db = to_device(&b), dx = to_device(&x);
    cudaStream_t load, stream = tree_solver_stream(p.solver);
    void *junk;
    const size_t junk_bytes = (size_t)256 << 20;
    CUDA(cudaStreamCreateWithFlags(&load, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&junk, 2 * junk_bytes));
    assert_int_equal(tree_solve(p.solver, p.workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
    check(&p);
    from_device(&dx, &x);
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(tree_solve(p.solver, p.workspace, stream, &db, &dx, NULL), LIBSOLVER_OK);
    CUDA(cudaStreamEndCapture(stream, &captured));
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(captured, NULL, &nodes));
    assert_int_equal(nodes, 1);
    CUDA(cudaGraphInstantiate(&ready, captured, 0));
    const int launches = small ? 20 : 100000, looks = small ? 4 : 200;
    for (int l = 0; l < launches; l++) {
        if (l % 100 == 0)
            CUDA(cudaMemcpyAsync(junk, (char *)junk + junk_bytes, junk_bytes,
                                 cudaMemcpyDeviceToDevice, load));
        if (l % 2)
            CUDA(cudaGraphLaunch(ready, stream));
        else
            assert_int_equal(tree_solve(p.solver, p.workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
        if (l % (launches / looks) == 0) {
            check(&p);
            from_device(&dx, &again);
            for (int32_t i = 0; i < n; i++)
                assert_memory_equal(block_at(&again, i, 0), block_at(&x, i, 0), sizeof(scalar));
            CUDA(cudaMemsetAsync(dx.values, 0xff, (size_t)x.size * sizeof(scalar), stream));
        }
    }
    check(&p);
    CUDA(cudaStreamSynchronize(load));
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(captured));
    CUDA(cudaStreamDestroy(load));
    CUDA(cudaFree(junk));
    CUDA(cudaFree(db.values));
    CUDA(cudaFree(dx.values));
    free(b.values);
    free(x.values);
    free(again.values);
    unpack(&p);
}

static void the_same_bits_under_load(void **state)
{
    (void)state;
    check_under_load(0);
    check_under_load(1);
}

/* NaN, infinities and every pattern that might be mistaken for a mark pass through like other
 * values. */
static void any_value_travels(void **state)
{
    (void)state;
    static const uint64_t bits[] = {
        0x7ff8000000000000, 0xffffffffffffffff, 0x7ff0000000000000, 0xfff0000000000001, 0, 1, 2, 3};
    static const uint32_t few_bits[] = {0x7fc00000, 0xffffffff, 0x7f800000, 0xff800001, 0, 1, 2, 3};
    random_stream r = random_seeded(11);
    pattern a = problem_grid(8, 8, 1);
    const tree_solver_options options = {0};
    packed p;
    pack(&p, a, random_values(&r, &a, SPD), SPD, &options, 1);
    block b = random_block(&r, 64, 1, 1), x = random_block(&r, 64, 1, 0);
    for (int k = 0; k < 8; k++) {
        memcpy(block_at(&b, 5, 0), sizeof(real) == 8 ? (const void *)&bits[k] : &few_bits[k],
               sizeof(real));
        libsolver_vectors db = to_device(&b), dx = to_device(&x);
        assert_int_equal(tree_solve(p.solver, p.workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
        check(&p);
        block out = {.v = x.v, .size = x.size, .values = nan_scalars(x.size)};
        from_device(&dx, &out);
        if (k >= 4)
            check_column(&p.s, &b, &out, 0, 10000, (uint64_t)k);
        else
            assert_false(scalar_finite(*block_at(&out, 5, 0)));
        CUDA(cudaFree(db.values));
        CUDA(cudaFree(dx.values));
        free(out.values);
    }
    free(b.values);
    free(x.values);
    unpack(&p);
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems_are_solved),
        cmocka_unit_test(branching_trees_are_solved),
        cmocka_unit_test(large_shapes_are_solved),
        cmocka_unit_test(any_value_travels),
        cmocka_unit_test(plans_are_kept),
        cmocka_unit_test(the_guard_looks_at_every_factor),
        cmocka_unit_test(the_same_bits_under_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
