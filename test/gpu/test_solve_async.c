/* test/gpu/test_solve_async.c: solves that leave errors and status on the device, of one precision
 * (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_solve_async [small]      small: sizes and repeats for compute-sanitizer */
#include "refine_fixture.h"

/* Where an asynchronous solve leaves what it knows. */
typedef struct outcome {
    double *errors;           /* on the device */
    libsolver_status *status; /* on the device */
} outcome;

static void check_outcome(const outcome *o, const system_ *s, const libsolver_vectors *x,
                          const libsolver_vectors *b, libsolver_status wanted, uint64_t seed)
{
    double errors[64];
    libsolver_status status;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&status, o->status, sizeof status, cudaMemcpyDeviceToHost));
    CUDA(
        cudaMemcpy(errors, o->errors, sizeof(double) * (size_t)x->columns, cudaMemcpyDeviceToHost));
    assert_int_equal(status, wanted);
    for (int64_t j = 0; j < x->columns; j++)
        check_error(errors[j], backward_error(s, x, b, j), seed);
}

/* One system: its factor, and b and x on host and device. */
typedef struct bench {
    system_ s;
    libsolver_factor *factor;
    libsolver_workspace *workspace;
    libsolver_vectors b, x, on_b, on_x;
    outcome out;
    cudaStream_t stream;
    uint64_t seed;
} bench;

/* New values in b, on the device too. */
static void new_b(const bench *t, random_stream *r)
{
    fill(r, &t->b);
    copy_to_device(&t->b, &t->on_b);
}

/* By itself; the same bits as with a wait. */
static void check_launch(const bench *t)
{
    const libsolver_vectors y = block_new(t->s.n, t->x.columns, t->x.layout, t->x.ld - t->s.n);
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 2, &t->b, &t->x, NULL, NULL),
                     LIBSOLVER_INVALID); /* on the host */
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, -1, &t->on_b, &t->on_x, NULL,
                                           NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 2, &t->on_b, &t->on_x,
                                           t->out.errors, t->out.status),
                     LIBSOLVER_OK);
    from_device(&t->on_x, &t->x);
    check_outcome(&t->out, &t->s, &t->x, &t->b, LIBSOLVER_OK, t->seed);
    assert_int_equal(libsolver_solve(t->factor, &t->on_b, &t->on_x), LIBSOLVER_OK);
    from_device(&t->on_x, &y);
    for (int64_t j = 0; j < y.columns; j++)
        for (int64_t i = 0; i < t->s.n; i++)
            assert_memory_equal(at(&y, i, j), at(&t->x, i, j), sizeof(scalar));
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 1, &t->on_b, &t->on_x, NULL,
                                           NULL),
                     LIBSOLVER_OK);
    /* only measured */
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, t->workspace, &t->on_b,
                                           &t->on_x),
                     LIBSOLVER_OK);
    from_device(&t->on_x, &y);
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 0, &t->on_b, &t->on_x,
                                           t->out.errors, NULL),
                     LIBSOLVER_OK);
    from_device(&t->on_x, &t->x);
    assert_memory_equal(t->x.values, y.values, block_bytes(&y));
    free(y.values);
}

/* Captured: a graph solves for what is in b when it is launched; x is b. */
static void check_graph(const bench *t, random_stream *r)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    libsolver_vectors x = t->b;
    x.values = malloc(block_bytes(&x));
    assert_non_null(x.values);
    CUDA(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 1, &t->on_b, &t->on_b,
                                           t->out.errors, t->out.status),
                     LIBSOLVER_OK);
    CUDA(cudaStreamEndCapture(t->stream, &graph));
    CUDA(cudaGraphInstantiate(&ready, graph, 0));
    for (int k = 0; k < 3; k++) {
        new_b(t, r);
        CUDA(cudaGraphLaunch(ready, t->stream));
        from_device(&t->on_b, &x);
        check_outcome(&t->out, &t->s, &x, &t->b, LIBSOLVER_OK, t->seed);
    }
    CUDA(cudaGraphExecDestroy(ready));
    CUDA(cudaGraphDestroy(graph));
    free(x.values);
}

/* What is not finite in one column is said, and stays there. */
static void check_not_finite(const bench *t, random_stream *r)
{
    const int64_t bad = t->b.columns / 2;
    double errors[64];
    libsolver_status status;
    fill(r, &t->b);
    *at(&t->b, t->s.n / 2, bad) = NAN;
    copy_to_device(&t->b, &t->on_b);
    assert_int_equal(libsolver_solve_async(t->factor, t->workspace, 2, &t->on_b, &t->on_x,
                                           t->out.errors, t->out.status),
                     LIBSOLVER_OK);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(errors, t->out.errors, sizeof(double) * (size_t)t->b.columns,
                    cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&status, t->out.status, sizeof status, cudaMemcpyDeviceToHost));
    assert_int_equal(status, LIBSOLVER_INACCURATE);
    for (int64_t j = 0; j < t->b.columns; j++)
        assert_int_equal(errors[j] <= TOLERANCE, j != bad);
}

static void errors_and_status_stay_on_the_device(void **state)
{
    (void)state;
    bench t;
    CUDA(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&t.out.errors, 64 * sizeof(double)));
    CUDA(cudaMalloc((void **)&t.out.status, sizeof(libsolver_status)));
    for (t.seed = 0; t.seed < (small ? 3 : 18); t.seed++) {
        random_stream r = random_seeded(300 + t.seed);
        const int64_t columns = t.seed % 3 == 0 ? 1 : t.seed % 3 == 1 ? 6 : 35;
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        o.stream = t.stream;
        o.purpose = t.seed % 5 > 2 ? LIBSOLVER_PURPOSE_FEW : LIBSOLVER_PURPOSE_DEFAULT;
        t.s = random_system(&r, t.seed % 2 ? DOMINANT : HUB, small ? 6 : 28,
                            SCALAR_COMPLEX && t.seed % 4 < 2);
        t.factor = factor_of(&t.s, &o, LIBSOLVER_OK);
        assert_int_equal(libsolver_workspace_create(t.factor, columns, &t.workspace), LIBSOLVER_OK);
        t.b = block_new(t.s.n, columns, (libsolver_layout)(t.seed % 2), 1);
        t.x = block_new(t.s.n, columns, LIBSOLVER_COLUMN_MAJOR, 2);
        fill(&r, &t.b);
        fill(&r, &t.x);
        t.on_b = to_device(&t.b);
        t.on_x = to_device(&t.x);
        check_launch(&t);
        check_graph(&t, &r);
        check_not_finite(&t, &r);
        CUDA(cudaFree(t.on_b.values));
        CUDA(cudaFree(t.on_x.values));
        free(t.b.values);
        free(t.x.values);
        libsolver_workspace_free(t.workspace);
        libsolver_factor_free(t.factor);
        system_free(&t.s);
    }
    CUDA(cudaFree(t.out.errors));
    CUDA(cudaFree(t.out.status));
    CUDA(cudaStreamDestroy(t.stream));
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_and_status_stay_on_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return refine_main(argc, argv, run);
}
