/* test/gpu/test_solve_safety.c: solves on a device that wait in vain, that must not allocate, and
 * in memory that holds anything
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It is linked with --wrap of CUDA's allocators, which are counted here and whose blocks are
 * filled, of device_solver_upload and device_substitution_load, whose programs and plans are
 * damaged, and of device_workspace_open, whose workspaces are given packets of other launches.
 *
 * usage: test_solve_safety [small]      small: repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/substitute/device_substitution.h"
#include "packed_system.h"
#include <stdlib.h>
#include <string.h>

static int small;

/* ---- CUDA's allocators ----------------------------------------------------------------------- */

static int64_t allocations;
enum { LEFT_ALONE, ONES, NOT_A_NUMBER, ANY_BITS, PATTERNS };
static int filling;

/* Words of the pattern at hand. */
static void fill(uint64_t *word, size_t words)
{
    random_stream r = random_seeded(words);
    for (size_t k = 0; k < words; k++)
        word[k] = filling == ONES           ? UINT64_MAX
                  : filling == NOT_A_NUMBER ? 0x7ff8000000000000u
                                            : random_next(&r);
}

static cudaError_t filled(cudaError_t error, void *got, size_t bytes, int on_device)
{
    allocations++;
    const size_t words = bytes / sizeof(uint64_t);
    if (error != cudaSuccess || filling == LEFT_ALONE || words == 0)
        return error;
    uint64_t *word = on_device ? malloc(bytes) : got;
    assert_non_null(word);
    fill(word, words);
    if (on_device) {
        CUDA(cudaMemcpy(got, word, words * sizeof *word, cudaMemcpyHostToDevice));
        CUDA(cudaDeviceSynchronize());
        free(word);
    }
    return error;
}

cudaError_t __real_cudaMalloc(void **got, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **got, size_t bytes);
cudaError_t __wrap_cudaMalloc(void **got, size_t bytes)
{
    const cudaError_t error = __real_cudaMalloc(got, bytes);
    return filled(error, *got, bytes, 1);
}

cudaError_t __real_cudaMallocHost(void **got, size_t bytes);
cudaError_t __wrap_cudaMallocHost(void **got, size_t bytes);
cudaError_t __wrap_cudaMallocHost(void **got, size_t bytes)
{
    const cudaError_t error = __real_cudaMallocHost(got, bytes);
    return filled(error, *got, bytes, 0);
}

cudaError_t __real_cudaHostAlloc(void **got, size_t bytes, unsigned flags);
cudaError_t __wrap_cudaHostAlloc(void **got, size_t bytes, unsigned flags);
cudaError_t __wrap_cudaHostAlloc(void **got, size_t bytes, unsigned flags)
{
    const cudaError_t error = __real_cudaHostAlloc(got, bytes, flags);
    return filled(error, *got, bytes, 0);
}

cudaError_t __real_cudaMallocAsync(void **got, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMallocAsync(void **got, size_t bytes, cudaStream_t stream);
cudaError_t __wrap_cudaMallocAsync(void **got, size_t bytes, cudaStream_t stream)
{
    allocations++;
    return __real_cudaMallocAsync(got, bytes, stream);
}

/* ---- A program that cannot end --------------------------------------------------------------- */

static int damages; /* the next program */

/* Makes the first task that reads an entry of b wait for that entry of x instead, which comes of
 * what it publishes itself. */
static int damage(const device_upload *program, char *description)
{
    for (int64_t c = 0; c < program->copies; c++) {
        const int64_t at = 16 * (int64_t)program->copy[c].from16 - program->value_bytes;
        if (program->copy[c].task_bytes == 0 || at < 0)
            continue;
        const task_head *head = (const task_head *)(description + at);
        int32_t *code = (int32_t *)(description + at + sizeof *head);
        for (int32_t k = 0; k < head->inputs; k++)
            if (code[k] >= 0 && (code[k] & 1) == SOURCE_B)
                for (int32_t q = 0; q < program->n; q++)
                    if (program->user_row[q] == code[k] >> 1) {
                        code[k] = q << 1 | SOURCE_PACKET;
                        return 1;
                    }
    }
    return 0;
}

libsolver_status __real_device_solver_upload(device_solver *s, const device_upload *program,
                                             message *why);
libsolver_status __wrap_device_solver_upload(device_solver *s, const device_upload *program,
                                             message *why);
libsolver_status __wrap_device_solver_upload(device_solver *s, const device_upload *program,
                                             message *why)
{
    if (!damages)
        return __real_device_solver_upload(s, program, why);
    damages = 0;
    device_upload other = *program;
    char *description = malloc((size_t)program->description_bytes + 1);
    assert_non_null(description);
    memcpy(description, program->description, (size_t)program->description_bytes);
    assert_true(damage(program, description));
    other.description = description;
    const libsolver_status status = __real_device_solver_upload(s, &other, why);
    free(description);
    return status;
}

/* Makes the first row below a node that has something from children wait for what goes up from
 * itself. */
static int damage_sources(const substitution *plan, int32_t *source)
{
    for (const substitution_node *v = plan->node; v < plan->node + plan->nodes; v++)
        for (int32_t i = v->columns; i < v->columns + v->rows; i++) {
            const int64_t front = v->first + v->row_start + i;
            if (plan->source_start[front] < plan->source_start[front + 1]) {
                source[plan->source_start[front]] = (int32_t)(v->row_start + i - v->columns);
                return 1;
            }
        }
    return 0;
}

libsolver_status __real_device_substitution_load(device_substitution *t, device_solver *s,
                                                 const device_factor *factor,
                                                 const substitution *plan, const int32_t *user_row,
                                                 const void *scale, message *why);
libsolver_status __wrap_device_substitution_load(device_substitution *t, device_solver *s,
                                                 const device_factor *factor,
                                                 const substitution *plan, const int32_t *user_row,
                                                 const void *scale, message *why);
libsolver_status __wrap_device_substitution_load(device_substitution *t, device_solver *s,
                                                 const device_factor *factor,
                                                 const substitution *plan, const int32_t *user_row,
                                                 const void *scale, message *why)
{
    if (!damages)
        return __real_device_substitution_load(t, s, factor, plan, user_row, scale, why);
    damages = 0;
    substitution other = *plan;
    const size_t bytes = sizeof(int32_t) * (size_t)plan->source_start[plan->n + plan->rows];
    other.source = malloc(bytes + 1);
    assert_non_null(other.source);
    memcpy(other.source, plan->source, bytes);
    assert_true(damage_sources(plan, other.source));
    const libsolver_status status =
        __real_device_substitution_load(t, s, factor, &other, user_row, scale, why);
    free(other.source);
    return status;
}

/* ---- Workspaces that have seen other launches ------------------------------------------------ */

static int are_stale;

libsolver_status __real_device_workspace_open(const device_solver *s, int64_t columns,
                                              device_workspace *w, message *why);
libsolver_status __wrap_device_workspace_open(const device_solver *s, int64_t columns,
                                              device_workspace *w, message *why);
libsolver_status __wrap_device_workspace_open(const device_solver *s, int64_t columns,
                                              device_workspace *w, message *why)
{
    const libsolver_status status = __real_device_workspace_open(s, columns, w, why);
    if (status != LIBSOLVER_OK || !are_stale)
        return status;
    const int64_t bytes =
        (char *)w->memory + device_workspace_bytes(s, columns) - (char *)w->packets;
    uint64_t *word = malloc((size_t)bytes + 1);
    random_stream r = random_seeded(9);
    assert_non_null(word);
    for (int64_t k = 0; k + 1 < bytes / 8; k += 2) {
        word[k] = random_next(&r);
        /* no number of the first launches */
        word[k + 1] = 0x40000000u | (random_next(&r) & 0x3fffffffu);
    }
    CUDA(cudaMemcpy(w->packets, word, (size_t)bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    free(word);
    return status;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void pack_grid(packed *p, int kind, const tree_solver_options *options, int64_t columns)
{
    random_stream r = random_seeded(17);
    /* either has something to damage */
    pattern a = small ? problem_grid(20, 20, 1) : problem_grid(12, 12, 12);
    pack(p, a, random_values(&r, &a, kind), kind, options, columns);
}

/* x of the system's own b, n x columns; to be freed. */
static double *solution_of(packed *p, tree_workspace *w, int64_t columns)
{
    random_stream r = random_seeded(5);
    const int64_t n = p->s.a.n;
    const size_t bytes = sizeof(double) * (size_t)(n * columns);
    double *x = malloc(bytes);
    libsolver_vectors b = {.rows = n, .columns = columns, .ld = n, .place = LIBSOLVER_DEVICE},
                      v = b;
    message why = {0};
    for (int64_t k = 0; k < n * columns; k++)
        x[k] = random_real(&r);
    CUDA(cudaMalloc(&b.values, bytes));
    CUDA(cudaMalloc(&v.values, bytes));
    CUDA(cudaMemcpy(b.values, x, bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* for other streams too */
    assert_int_equal(tree_solve(p->solver, w, NULL, &b, &v, NULL), LIBSOLVER_OK);
    if (tree_solve_check(p->solver, w, NULL, &why) != LIBSOLVER_OK)
        fail_msg("%s", why.text);
    CUDA(cudaMemcpy(x, v.values, bytes, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(b.values));
    CUDA(cudaFree(v.values));
    return x;
}

static void check_wait_in_vain(int substitute)
{
    const tree_solver_options hasty = {.patience = 0.1, .substitute = substitute};
    packed good, bad;
    pack_grid(&good, SPD, &hasty, 1);
    damages = 1;
    pack_grid(&bad, SPD, &hasty, 1);
    const int32_t n = good.s.a.n;
    const size_t bytes = sizeof(double) * (size_t)n;
    double *x = solution_of(&good, good.workspace, 1);
    libsolver_vectors v = {.rows = n, .columns = 1, .ld = n, .place = LIBSOLVER_DEVICE};
    CUDA(cudaMalloc(&v.values, bytes));
    CUDA(cudaMemset(v.values, 0, bytes));
    for (int round = 0; round < 3; round++) {
        message why = {0};
        assert_int_equal(tree_solve(bad.solver, bad.workspace, NULL, &v, &v, NULL), LIBSOLVER_OK);
        assert_int_equal(tree_solve_check(bad.solver, bad.workspace, NULL, &why), LIBSOLVER_CUDA);
        assert_non_null(strstr(why.text, "waited 0.1 s"));
        assert_int_equal(tree_solve_check(bad.solver, bad.workspace, NULL, &why),
                         LIBSOLVER_OK); /* told once */
        /* in the same workspace, with a program that can end */
        double *again = solution_of(&good, bad.workspace, 1);
        assert_memory_equal(again, x, bytes);
        free(again);
    }
    double *host = calloc((size_t)n, sizeof *host);
    message why = {0};
    const libsolver_vectors hv = {.values = host, .rows = n, .columns = 1, .ld = n};
    assert_int_equal(tree_solve_host(bad.solver, bad.workspace, &hv, &hv, &why), LIBSOLVER_CUDA);
    assert_non_null(strstr(why.text, "waited 0.1 s"));
    CUDA(cudaFree(v.values));
    free(host);
    free(x);
    unpack(&bad);
    unpack(&good);
}

static void a_wait_in_vain_ends_and_is_told(void **state)
{
    (void)state;
    check_wait_in_vain(0);
    check_wait_in_vain(1);
}

static void check_allocations(int substitute)
{
    const tree_solver_options options = {.substitute = substitute};
    packed p;
    pack_grid(&p, SPD, &options, 8);
    const int32_t n = p.s.a.n;
    random_stream r = random_seeded(3);
    block b = random_block(&r, n, 8, 1), x = random_block(&r, n, 8, 0);
    libsolver_vectors db = to_device(&b), dx = to_device(&x);
    const cudaStream_t stream = tree_solver_stream(p.solver);
    message why = {0};
    cudaGraph_t captured;
    cudaGraphExec_t ready;
    assert_int_equal(tree_workspace_stage(p.solver, p.workspace, &why), LIBSOLVER_OK);
    assert_int_equal(tree_solve(p.solver, p.workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
    check(&p);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(tree_solve(p.solver, p.workspace, stream, &db, &dx, NULL), LIBSOLVER_OK);
    CUDA(cudaStreamEndCapture(stream, &captured));
    CUDA(cudaGraphInstantiate(&ready, captured, 0));
    CUDA(cudaGraphLaunch(ready, stream));
    check(&p);
    const int64_t device_before = allocations, host_before = p.s.env.memory.calls;
    for (int k = 0; k < (small ? 30 : 10000); k++) {
        if (k % 10 == 9)
            assert_int_equal(tree_solve_host(p.solver, p.workspace, &b.v, &x.v, &why),
                             LIBSOLVER_OK);
        else if (k % 2)
            CUDA(cudaGraphLaunch(ready, stream));
        else
            assert_int_equal(tree_solve(p.solver, p.workspace, NULL, &db, &dx, NULL), LIBSOLVER_OK);
        if (k % 100 == 0)
            check(&p);
    }
    check(&p);
    assert_int_equal(allocations, device_before);
    assert_int_equal(p.s.env.memory.calls, host_before);
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(captured));
    CUDA(cudaFree(db.values));
    CUDA(cudaFree(dx.values));
    free(b.values);
    free(x.values);
    unpack(&p);
}

static void solves_and_replays_allocate_nothing(void **state)
{
    (void)state;
    check_allocations(0);
    check_allocations(1);
}

/* Program, workspaces and vectors in memory that holds ones, NaN or anything: the bits are the
 * same. */
static void what_memory_held_before_does_not_matter(void **state)
{
    (void)state;
    for (int variant = 0; variant < 10; variant++) {
        const tree_solver_options options = {.by_levels = variant & 1,
                                             .invert_on_host = variant >> 1 & 1,
                                             .substitute = variant >= 8};
        const int kind = (variant & 4) || variant == 9 ? INDEFINITE : SPD;
        const int64_t columns[] = {1, 2, 8};
        double *expected[3] = {NULL};
        for (int held = LEFT_ALONE; held < PATTERNS; held++) {
            filling = held;
            packed p;
            pack_grid(&p, kind, &options, 8);
            for (int c = 0; c < 3; c++) {
                tree_workspace *fresh;
                message why = {0};
                assert_int_equal(tree_workspace_create(p.solver, columns[c], &fresh, &why),
                                 LIBSOLVER_OK);
                double *x = solution_of(&p, fresh, columns[c]);
                const size_t count = (size_t)(p.s.a.n * columns[c]);
                for (size_t k = 0; k < count; k++)
                    if (held != LEFT_ALONE && memcmp(&x[k], &expected[c][k], sizeof *x) != 0)
                        fail_msg("variant %d, filling %d, %d columns: x(%zu) is %.17g, %.17g in "
                                 "clean memory",
                                 variant, held, (int)columns[c], k, x[k], expected[c][k]);
                if (held == LEFT_ALONE)
                    expected[c] = x;
                else
                    free(x);
                tree_workspace_free(fresh);
            }
            unpack(&p);
            filling = LEFT_ALONE;
        }
        for (int c = 0; c < 3; c++)
            free(expected[c]);
    }
}

static void packets_of_other_launches_are_not_read(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        const tree_solver_options options = {.by_levels = way == 1, .substitute = way == 2};
        packed p;
        pack_grid(&p, INDEFINITE, &options, 2);
        double *x = solution_of(&p, p.workspace, 2);
        tree_workspace *stale;
        message why = {0};
        are_stale = 1;
        assert_int_equal(tree_workspace_create(p.solver, 2, &stale, &why), LIBSOLVER_OK);
        are_stale = 0;
        for (int launch = 0; launch < 3; launch++) {
            double *again = solution_of(&p, stale, 2);
            assert_memory_equal(again, x, sizeof(double) * 2 * (size_t)p.s.a.n);
            free(again);
        }
        tree_workspace_free(stale);
        free(x);
        unpack(&p);
    }
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_in_vain_ends_and_is_told),
        cmocka_unit_test(solves_and_replays_allocate_nothing),
        cmocka_unit_test(what_memory_held_before_does_not_matter),
        cmocka_unit_test(packets_of_other_launches_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
