/* test/gpu/test_refactorize_async.c: factors that are made without a wait, in one precision
 * (-DPREC_x) or mixed (-DMIXED), beside the same with a wait
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_refactorize_async [small]      small: sizes and repeats for compute-sanitizer */
#include "refine_fixture.h"
#include "typed_factor.h"

enum { COLUMNS = 2, STEPS = 3 };

/* Values of one pattern: definite, or with the signs of its pivots as expected; indefinite, or with
 * another sign; with one that is not finite; definite, with an inverse that grows past the guard's
 * limit. */
typedef enum values_kind { GOOD, INDEFINITE, NOT_FINITE, GROWING } values_kind;

/* A factor and what goes with it; the same factor made with a wait. */
typedef struct bench {
    system_ s;         /* the values given last */
    int8_t sign[1000]; /* of quasi-definite matrices, otherwise 1 */
    libsolver_factor *f, *other;
    libsolver_workspace *w;
    libsolver_vectors b, x, on_b, on_x;
    void *values; /* on the device */
    double *errors;
    libsolver_status *status, *solved; /* on the device */
    cudaStream_t stream;
    random_stream r;
} bench;

/* ---- Values ---------------------------------------------------------------------------------- */

static void new_values(bench *t, values_kind kind)
{
    system_ *s = &t->s;
    for (int32_t j = 0; j < s->n; j++)
        for (int32_t p = s->start[j]; p < s->start[j + 1]; p++) {
            const int32_t i = s->row[p];
            s->value[p] = i == j
                              ? t->sign[j] * scalar_diagonal(9 + random_scalar(&t->r), s->hermitian)
                              : random_scalar(&t->r);
            if (kind == GROWING) /* L L^T, L with 1 and 9 beside it */
                s->value[p] = i == j ? (j == 0 ? 1 : 82) : i == j + 1 ? 9 : 0;
        }
    if (kind == INDEFINITE)
        s->value[s->start[s->n / 2]] = -3 * t->sign[s->n / 2];
    if (kind == NOT_FINITE)
        s->value[s->start[s->n / 3] + 1] = NAN;
}

/* To the device, where they are for every stream when this returns, in the place of those that may
 * still be read. */
static libsolver_matrix given(const bench *t)
{
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(t->values, t->s.value, sizeof(scalar) * (size_t)t->s.start[t->s.n],
                    cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return (libsolver_matrix){.n = t->s.n,
                              .values = t->values,
                              .type = SCALAR_TYPE,
                              .symmetry =
                                  t->s.hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                              .place = LIBSOLVER_DEVICE};
}

/* ---- Benches --------------------------------------------------------------------------------- */

static libsolver_options options_of(const bench *t, libsolver_kind kind, libsolver_purpose purpose)
{
    libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
    o.stream = t->stream;
    o.kind = kind;
    o.purpose = purpose;
    o.mixed = CHOICE;
    o.ordering = LIBSOLVER_ORDERING_NATURAL;
    o.expected_signs = kind == LIBSOLVER_KIND_QUASI_DEFINITE ? t->sign : NULL;
    return o;
}

/* A seed of which systems are large in short runs too: inverses of a root begin before its last
 * columns are made. */
enum { LARGE = 15 };

static void bench_begin(bench *t, uint64_t seed, libsolver_kind kind, libsolver_purpose purpose)
{
    CUDA(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
    const int has_signs = kind == LIBSOLVER_KIND_QUASI_DEFINITE,
              hermitian = SCALAR_COMPLEX && (!has_signs || seed % 4 < 2);
    t->r = random_seeded(seed);
    t->s = random_system(&t->r, DOMINANT, small && seed != LARGE ? 5 : 4 + (int32_t)(seed % 20),
                         hermitian);
    CUDA(cudaMalloc(&t->values, sizeof(scalar) * (size_t)t->s.start[t->s.n] + 8));
    CUDA(cudaMalloc((void **)&t->errors, COLUMNS * sizeof(double)));
    CUDA(cudaMalloc((void **)&t->status, sizeof(libsolver_status)));
    CUDA(cudaMalloc((void **)&t->solved, sizeof(libsolver_status)));
    assert_true(t->s.n <= (int32_t)(sizeof t->sign / sizeof *t->sign));
    for (int32_t k = 0; k < t->s.n; k++)
        t->sign[k] = has_signs && random_below(&t->r, 2) ? -1 : 1;
    new_values(t, GOOD);
    const libsolver_options o = options_of(t, kind, purpose);
    t->f = factor_of(&t->s, &o, LIBSOLVER_OK);
    t->other = factor_of(&t->s, &o, LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(t->f, COLUMNS, &t->w), LIBSOLVER_OK);
    t->b = block_new(t->s.n, COLUMNS, LIBSOLVER_COLUMN_MAJOR, 0);
    t->x = block_new(t->s.n, COLUMNS, LIBSOLVER_COLUMN_MAJOR, 0);
    fill(&t->r, &t->b);
    fill(&t->r, &t->x);
    t->on_b = to_device(&t->b);
    t->on_x = to_device(&t->x);
}

static void bench_end(bench *t)
{
    libsolver_workspace_free(t->w);
    libsolver_factor_free(t->f);
    libsolver_factor_free(t->other);
    void *const there[] = {t->values, t->errors,      t->status,
                           t->solved, t->on_b.values, t->on_x.values};
    for (size_t k = 0; k < sizeof there / sizeof *there; k++)
        CUDA(cudaFree(there[k]));
    free(t->b.values);
    free(t->x.values);
    system_free(&t->s);
    CUDA(cudaStreamDestroy(t->stream));
}

static libsolver_status read_status(const libsolver_status *at)
{
    libsolver_status status;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&status, at, sizeof status, cudaMemcpyDeviceToHost));
    return status;
}

static libsolver_status factorize_async(const bench *t)
{
    const libsolver_matrix a = given(t);
    return libsolver_refactorize_async(t->f, &a, t->status);
}

static libsolver_status solve_async(const bench *t)
{
    return libsolver_solve_async(t->f, t->w, STEPS, &t->on_b, &t->on_x, t->errors, t->solved);
}

/* ---- What is right --------------------------------------------------------------------------- */

static void check_solution(const bench *t, const libsolver_vectors *x)
{
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double error = backward_error(&t->s, x, &t->b, j);
        if (!(error <= TOLERANCE))
            fail_msg("backward error %g", error);
    }
}

/* The asynchronous solve at hand is that of a failed factor. */
static void check_no_solution(const bench *t, libsolver_status wanted)
{
    double errors[COLUMNS];
    assert_int_equal(read_status(t->solved), wanted);
    CUDA(cudaMemcpy(errors, t->errors, sizeof errors, cudaMemcpyDeviceToHost));
    for (int j = 0; j < COLUMNS; j++)
        assert_true(errors[j] == INFINITY);
    assert_int_equal(libsolver_solve_plain(t->f, LIBSOLVER_PART_ALL, t->w, &t->on_b, &t->on_x),
                     LIBSOLVER_OK);
    from_device(&t->on_x, &t->x);
    for (int64_t i = 0; i < t->s.n * COLUMNS; i++)
        assert_true(!(cabsl((exact)((const scalar *)t->x.values)[i]) <= INFINITY));
}

/* Solved without a wait, and as the other factor does, bit for bit. */
static void check_async(const bench *t)
{
    const libsolver_matrix a = given(t);
    libsolver_vectors y = t->x;
    assert_int_equal(read_status(t->status), LIBSOLVER_OK);
    assert_int_equal(read_status(t->solved), LIBSOLVER_OK);
    from_device(&t->on_x, &t->x);
    check_solution(t, &t->x);
    y.values = malloc(block_bytes(&y));
    assert_non_null(y.values);
    assert_int_equal(libsolver_refactorize(t->other, &a), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(t->other, &t->on_b, &t->on_x), LIBSOLVER_OK);
    from_device(&t->on_x, &y);
    assert_memory_equal(y.values, t->x.values, block_bytes(&y));
    free(y.values);
}

/* What the host says of both factors is the same, and it solves with it. */
static void check_known(const bench *t)
{
    libsolver_factor_info i, j;
    libsolver_inertia_counts c = {0}, d = {0}; /* complex symmetric matrices have none */
    libsolver_determinant_info e, g;
    libsolver_info(t->f, &i);
    libsolver_info(t->other, &j);
    assert_int_equal(i.status, j.status);
    assert_int_equal(i.kind, j.kind);
    assert_int_equal(i.backend_factorize, j.backend_factorize);
    assert_int_equal(i.failed_row, j.failed_row);
    assert_int_equal(libsolver_inertia(t->f, &c), libsolver_inertia(t->other, &d));
    if (i.status < 0) {
        assert_true(libsolver_factor_message(t->f)[0] != 0);
        assert_int_equal(libsolver_solve(t->f, &t->b, &t->x), LIBSOLVER_INVALID);
        assert_int_equal(solve_async(t), LIBSOLVER_INVALID);
        return;
    }
    assert_int_equal(c.positive, d.positive);
    assert_int_equal(c.negative, d.negative);
    assert_true(c.smallest_pivot == d.smallest_pivot && c.certain == d.certain);
    assert_int_equal(libsolver_determinant(t->f, &e), libsolver_determinant(t->other, &g));
    assert_true(e.log_abs == g.log_abs);
    assert_int_equal(libsolver_solve_plain(t->f, LIBSOLVER_PART_L, t->w, &t->b, &t->x),
                     LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(t->f, &t->b, &t->x), LIBSOLVER_OK);
    check_solution(t, &t->x);
}

/* Good values three times; the host asks after the second and third. */
static void check_good_values(bench *t)
{
    for (int k = 0; k < 3; k++) {
        new_values(t, GOOD);
        assert_int_equal(factorize_async(t), LIBSOLVER_OK);
        assert_int_equal(solve_async(t), LIBSOLVER_OK);
        check_async(t);
        if (k > 0)
            check_known(t);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_bits_are_those_of_a_call_that_waits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 4 : 24); seed++) {
        bench t;
        bench_begin(&t, seed, seed % 2 ? LIBSOLVER_KIND_AUTO : LIBSOLVER_KIND_SPD,
                    (libsolver_purpose)(seed / 2 % 3));
        check_good_values(&t);
        bench_end(&t);
    }
}

/* Of values without a factor, and of a factor that is not good enough. */
static void failures_are_told_on_the_device_and_on_the_host(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 6 : 36); seed++) {
        const values_kind kind = (values_kind)(1 + seed % 3);
        const libsolver_kind asked = seed / 3 % 2 ? LIBSOLVER_KIND_AUTO : LIBSOLVER_KIND_SPD;
        bench t;
        bench_begin(&t, seed, asked, (libsolver_purpose)(seed / 6 % 3));
        const int is_guarded = seed / 6 % 3 != LIBSOLVER_PURPOSE_FEW;
        new_values(&t, kind);
        const libsolver_matrix a = given(&t);
        const libsolver_status waited = libsolver_refactorize(t.other, &a);
        assert_int_equal(factorize_async(&t), LIBSOLVER_OK);
        assert_int_equal(solve_async(&t), LIBSOLVER_OK);
        if (kind == GROWING) {
            assert_int_equal(read_status(t.status),
                             is_guarded ? LIBSOLVER_INACCURATE : LIBSOLVER_OK);
            check_known(&t);
        } else {
            const libsolver_status wanted =
                kind == NOT_FINITE ? LIBSOLVER_NONFINITE : LIBSOLVER_NOT_POSITIVE_DEFINITE;
            assert_int_equal(read_status(t.status), wanted);
            check_no_solution(&t, wanted);
            libsolver_factor_info info;
            libsolver_info(t.f, &info);
            assert_int_equal(info.status, waited);
            if (kind == NOT_FINITE) {
                assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_INVALID);
                assert_int_equal(libsolver_refactorize_shifted(t.f, NULL, NULL), LIBSOLVER_INVALID);
            } else
                check_known(&t);
            if (kind == INDEFINITE && asked == LIBSOLVER_KIND_AUTO) {
                assert_int_equal(info.kind, LIBSOLVER_KIND_INDEFINITE);
                assert_int_equal(factorize_async(&t), LIBSOLVER_NOT_BUILT);
                assert_int_equal(solve_async(&t), LIBSOLVER_OK);
                assert_int_equal(read_status(t.solved), LIBSOLVER_OK);
            }
        }
        /* and good ones again */
        new_values(&t, GOOD);
        if (factorize_async(&t) == LIBSOLVER_NOT_BUILT) {
            const libsolver_matrix good = given(&t);
            assert_true(libsolver_refactorize(t.f, &good) >= 0);
        } else {
            assert_int_equal(solve_async(&t), LIBSOLVER_OK);
            assert_int_equal(read_status(t.status) >= 0, 1);
            assert_int_equal(read_status(t.solved), LIBSOLVER_OK);
        }
        assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_OK);
        check_solution(&t, &t.x);
        bench_end(&t);
    }
}

/* ---- Once more ------------------------------------------------------------------------------- */

/* One front in tiles, its inverse by rows, or a grid of many fronts. */
static system_ large_system(random_stream *r, int kind)
{
    const int32_t n = small ? 150 : 200 + (int32_t)random_below(r, 400);
    return kind ? random_system(r, DOMINANT, small ? 40 : 90 + (int32_t)random_below(r, 60),
                                SCALAR_COMPLEX)
                : full_system(r, n, 0, SCALAR_COMPLEX);
}

static void *solved(libsolver_factor *f, const libsolver_vectors *b)
{
    libsolver_vectors x = *b;
    x.values = malloc(block_bytes(b));
    assert_non_null(x.values);
    memset(x.values, 0xff, block_bytes(b));
    assert_int_equal(libsolver_solve(f, b, &x), LIBSOLVER_OK);
    return x.values;
}

/* A factor that is made step by step, which is the first, and those that are made on the device
 * from the same values as a whole, inverses beside the factorization, have the same bits; so has
 * the one that is left when values are refused. */
static void a_factor_made_again_is_the_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 2 : 12); seed++) {
        bench t = {.r = random_seeded(seed)};
        CUDA(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
        t.s = large_system(&t.r, (int)(seed % 2));
        const int64_t entries = t.s.start[t.s.n];
        CUDA(cudaMalloc(&t.values, sizeof(scalar) * (size_t)entries + 8));
        libsolver_options o = options_of(&t, LIBSOLVER_KIND_SPD, (libsolver_purpose)(seed / 2 % 3));
        o.ordering = LIBSOLVER_ORDERING_AUTO;
        t.f = factor_of(&t.s, &o, LIBSOLVER_OK);
        t.b = block_new(t.s.n, COLUMNS, LIBSOLVER_COLUMN_MAJOR, 0);
        fill(&t.r, &t.b);
        void *first = solved(t.f, &t.b);
        for (int k = 0; k < (small ? 4 : 24); k++) {
            const libsolver_matrix a = given(&t);
            libsolver_matrix bad = a;
            if (k % 4 == 1) {
                const scalar kept = t.s.value[entries / 2];
                t.s.value[entries / 2] = (scalar)INFINITY;
                bad = given(&t);
                t.s.value[entries / 2] = kept;
            }
            assert_int_equal(k % 4 == 3 ? libsolver_refactorize_async(t.f, &a, NULL)
                                        : libsolver_refactorize(t.f, &bad),
                             k % 4 == 1 ? LIBSOLVER_NONFINITE : LIBSOLVER_OK);
            void *again = solved(t.f, &t.b);
            assert_memory_equal(first, again, block_bytes(&t.b));
            free(again);
        }
        free(first);
        free(t.b.values);
        libsolver_factor_free(t.f);
        CUDA(cudaFree(t.values));
        system_free(&t.s);
        CUDA(cudaStreamDestroy(t.stream));
    }
}

/* With expected signs the same; a pivot of another sign is put right by the CPU, and the next
 * factor without a wait needs one with a wait before it. */
static void quasi_definite_factors_are_as_those_of_cholesky(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        bench t;
        if (small && seed > 5 && seed != LARGE)
            continue;
        bench_begin(&t, seed, LIBSOLVER_KIND_QUASI_DEFINITE, (libsolver_purpose)(seed % 3));
        new_values(&t, GOOD);
        if (CHOICE == LIBSOLVER_ON) /* in mixed precision made on the CPU */
            assert_int_equal(factorize_async(&t), LIBSOLVER_NOT_BUILT);
        for (int round = 0; CHOICE == LIBSOLVER_OFF && round < 2; round++) {
            check_good_values(&t);
            new_values(&t, INDEFINITE);
            assert_int_equal(factorize_async(&t), LIBSOLVER_OK);
            assert_int_equal(solve_async(&t), LIBSOLVER_OK);
            assert_int_equal(read_status(t.status), LIBSOLVER_NOT_POSITIVE_DEFINITE);
            check_no_solution(&t, LIBSOLVER_NOT_POSITIVE_DEFINITE);
            const libsolver_matrix wrong = given(&t);
            libsolver_factor_info info;
            libsolver_info(t.f, &info);
            assert_int_equal(libsolver_refactorize(t.other, &wrong), info.status);
            assert_int_equal(info.backend_factorize, LIBSOLVER_BACKEND_CPU);
            assert_int_equal(factorize_async(&t), LIBSOLVER_NOT_BUILT);
            assert_true(libsolver_solve(t.f, &t.b, &t.x) >= 0);
            check_solution(&t, &t.x);
            new_values(&t, GOOD);
            const libsolver_matrix good = given(&t);
            assert_int_equal(libsolver_refactorize(t.f, &good), LIBSOLVER_OK);
        }
        bench_end(&t);
    }
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static cudaGraphExec_t capture(const bench *t, cudaGraph_t *graph)
{
    cudaGraphExec_t ready;
    const libsolver_matrix a = given(t);
    CUDA(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(libsolver_refactorize_async(t->f, &a, t->status), LIBSOLVER_OK);
    assert_int_equal(solve_async(t), LIBSOLVER_OK);
    CUDA(cudaStreamEndCapture(t->stream, graph));
    CUDA(cudaGraphInstantiate(&ready, *graph, 0));
    return ready;
}

/* A graph factorizes and solves what is in the values when it is launched; host calls between
 * launches tell of the last one, calls with other values do not disturb it. */
static void a_graph_goes_from_values_to_solutions(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 6 : 12); seed++) {
        bench t;
        cudaGraph_t graph;
        const int has_signs = CHOICE == LIBSOLVER_OFF && seed / 3 % 2 > 0; /* else on the CPU */
        bench_begin(&t, seed, has_signs ? LIBSOLVER_KIND_QUASI_DEFINITE : LIBSOLVER_KIND_SPD,
                    (libsolver_purpose)(seed % 3));
        new_values(&t, GOOD);
        const libsolver_matrix a = given(&t); /* memory for sums is taken */
        assert_int_equal(libsolver_refactorize(t.f, &a), LIBSOLVER_OK);
        assert_int_equal(solve_async(&t), LIBSOLVER_OK);
        const cudaGraphExec_t ready = capture(&t, &graph);
        for (int k = 0; k < 8; k++) {
            const values_kind kind = k == 3 ? INDEFINITE : k == 5 ? NOT_FINITE : GOOD;
            new_values(&t, kind);
            given(&t);
            CUDA(cudaGraphLaunch(ready, t.stream));
            if (kind == GOOD) {
                check_async(&t);
                if (k % 2 == 0)
                    check_known(&t);
            } else {
                check_no_solution(&t, kind == INDEFINITE ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                                         : LIBSOLVER_NONFINITE);
                if (k == 3 && !has_signs) /* with signs this would make another factor */
                    assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_INVALID);
            }
            if (k == 1) { /* with a wait */
                new_values(&t, GOOD);
                assert_int_equal(libsolver_refactorize(t.f,
                                                       &(libsolver_matrix){
                                                           .n = t.s.n,
                                                           .values = t.s.value,
                                                           .type = SCALAR_TYPE,
                                                           .symmetry = a.symmetry,
                                                       }),
                                 LIBSOLVER_OK);
                assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_OK);
                check_solution(&t, &t.x);
            }
        }
        CUDA(cudaGraphExecDestroy(ready));
        CUDA(cudaGraphDestroy(graph));
        bench_end(&t);
    }
}

/* Hundreds in a row: nothing is allocated, and the bits are those of the first. */
static void many_in_a_row_are_the_same(void **state)
{
    (void)state;
    bench t;
    libsolver_factor_info before, after;
    bench_begin(&t, 3, LIBSOLVER_KIND_SPD, LIBSOLVER_PURPOSE_DEFAULT);
    libsolver_vectors first = t.x;
    first.values = malloc(block_bytes(&first));
    assert_non_null(first.values);
    assert_int_equal(factorize_async(&t), LIBSOLVER_OK);
    assert_int_equal(solve_async(&t), LIBSOLVER_OK);
    from_device(&t.on_x, &first);
    libsolver_info(t.f, &before);
    const libsolver_matrix a = given(&t);
    for (int k = 0; k < (small ? 20 : 600); k++) {
        assert_int_equal(libsolver_refactorize_async(t.f, &a, t.status), LIBSOLVER_OK);
        if (k % 50 == 49) {
            assert_int_equal(solve_async(&t), LIBSOLVER_OK);
            from_device(&t.on_x, &t.x);
            assert_memory_equal(first.values, t.x.values, block_bytes(&first));
        }
    }
    libsolver_info(t.f, &after);
    assert_int_equal(before.allocations, after.allocations);
    assert_int_equal(before.device_bytes, after.device_bytes);
    check_known(&t);
    free(first.values);
    bench_end(&t);
}

/* ---- Every sequence of calls ----------------------------------------------------------------- */

/* What a factor is to be, by the calls so far. */
typedef struct expected {
    int has_values, is_shifted, has_factor;
    int is_ldlt, may_be_ldlt; /* the second until a call has waited */
} expected;

/* After a call that has waited. */
static void ask_kind(const bench *t, expected *e)
{
    libsolver_factor_info info;
    libsolver_inertia_counts counts;
    assert_int_equal(libsolver_inertia(t->f, &counts) == LIBSOLVER_OK, e->has_factor);
    libsolver_info(t->f, &info);
    const int is_ldlt = e->has_factor && info.kind == LIBSOLVER_KIND_INDEFINITE;
    assert_true(!e->has_factor || e->may_be_ldlt || is_ldlt == e->is_ldlt);
    e->is_ldlt = is_ldlt;
    e->may_be_ldlt = 0;
}

/* With a wait: of values on the device or on the host. */
static void refactorize(bench *t, values_kind kind, int on_host, libsolver_kind asked, expected *e)
{
    const system_ before = t->s;
    scalar *kept = malloc(sizeof(scalar) * (size_t)t->s.start[t->s.n]);
    assert_non_null(kept);
    memcpy(kept, t->s.value, sizeof(scalar) * (size_t)t->s.start[t->s.n]);
    new_values(t, kind);
    libsolver_matrix a = given(t);
    if (on_host) {
        a.values = t->s.value;
        a.place = LIBSOLVER_HOST;
    }
    const libsolver_status status = libsolver_refactorize(t->f, &a);
    const int fails = kind == INDEFINITE && asked == LIBSOLVER_KIND_SPD;
    assert_int_equal(status, kind == NOT_FINITE ? LIBSOLVER_NONFINITE
                             : fails            ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                                : LIBSOLVER_OK);
    if (kind == NOT_FINITE) { /* the old factor is as it was */
        memcpy(t->s.value, kept, sizeof(scalar) * (size_t)before.start[before.n]);
        e->has_values = 0;
    } else {
        *e = (expected){.has_values = 1, .has_factor = !fails, .may_be_ldlt = 1};
        ask_kind(t, e);
        assert_true(kind != INDEFINITE || fails || e->is_ldlt);
    }
    free(kept);
}

static void refactorize_async(bench *t, values_kind kind, libsolver_kind asked, expected *e)
{
    scalar *kept = malloc(sizeof(scalar) * (size_t)t->s.start[t->s.n]);
    assert_non_null(kept);
    memcpy(kept, t->s.value, sizeof(scalar) * (size_t)t->s.start[t->s.n]);
    new_values(t, kind);
    const libsolver_status status = factorize_async(t);
    if (e->is_ldlt) {
        assert_int_equal(status, LIBSOLVER_NOT_BUILT);
        assert_true(libsolver_factor_message(t->f)[0] != 0);
        memcpy(t->s.value, kept, sizeof(scalar) * (size_t)t->s.start[t->s.n]);
    } else {
        assert_int_equal(status, LIBSOLVER_OK);
        *e = (expected){.has_values = kind != NOT_FINITE,
                        .has_factor = kind != NOT_FINITE &&
                                      !(kind == INDEFINITE && asked == LIBSOLVER_KIND_SPD),
                        .may_be_ldlt = asked == LIBSOLVER_KIND_AUTO && kind != GOOD};
    }
    free(kept);
}

/* Of the values given last. */
static void shift_diagonal(bench *t, expected *e)
{
    libsolver_vectors shift = block_new(t->s.n, 1, LIBSOLVER_COLUMN_MAJOR, 0);
    for (int32_t j = 0; j < t->s.n; j++)
        ((scalar *)shift.values)[j] = 5;
    const libsolver_status status = libsolver_refactorize_shifted(t->f, NULL, &shift);
    if (!e->has_values)
        assert_int_equal(status, LIBSOLVER_INVALID);
    free(shift.values);
    if (!e->has_values)
        return;
    *e = (expected){.has_values = 1, .is_shifted = 1, .has_factor = status >= 0, .may_be_ldlt = 1};
    ask_kind(t, e);
    for (int32_t j = 0; j < t->s.n; j++)
        t->s.value[t->s.start[j]] += 5;
}

static void check_state(bench *t, int how, expected *e)
{
    if (how == 0) {
        assert_int_equal(libsolver_solve(t->f, &t->b, &t->x) >= 0, e->has_factor);
    } else if (how == 1) {
        assert_int_equal(libsolver_solve(t->f, &t->on_b, &t->on_x) >= 0, e->has_factor);
        from_device(&t->on_x, &t->x);
    } else if (how == 2) { /* which says what the device knows */
        const libsolver_status status = solve_async(t);
        if (status == LIBSOLVER_OK && read_status(t->solved) == LIBSOLVER_OK) {
            from_device(&t->on_x, &t->x);
            check_solution(t, &t->x);
        } else
            assert_true(!e->has_factor || e->may_be_ldlt);
        return;
    }
    ask_kind(t, e);
    if (e->has_factor && how < 2)
        check_solution(t, &t->x);
}

static void every_sequence_of_calls_is_right(void **state)
{
    (void)state;
    const uint64_t kinds = FACTOR_EPS < 1e-10 ? 4 : 3; /* in single precision GROWING is singular */
    for (uint64_t seed = 0; seed < (small ? 30 : 90); seed++) {
        bench t;
        expected e = {.has_values = 1, .has_factor = 1};
        const libsolver_kind asked = seed % 2 ? LIBSOLVER_KIND_AUTO : LIBSOLVER_KIND_SPD;
        bench_begin(&t, seed, asked, (libsolver_purpose)(seed / 2 % 3));
        for (int step = 0; step < 24; step++) {
            const int call = (int)random_below(&t.r, 10);
            const values_kind kind =
                (values_kind)(random_below(&t.r, 2) ? 0 : random_below(&t.r, kinds));
            if (call < 3)
                refactorize_async(&t, kind, asked, &e);
            else if (call < 4)
                refactorize(&t, kind, random_below(&t.r, 2) > 0, asked, &e);
            else if (call < 5 && !e.is_shifted)
                shift_diagonal(&t, &e);
            else
                check_state(&t, (int)random_below(&t.r, 4), &e);
        }
        check_state(&t, 0, &e);
        bench_end(&t);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void what_cannot_be_done_is_said(void **state)
{
    (void)state;
    bench t;
    bench_begin(&t, 1, LIBSOLVER_KIND_SPD, LIBSOLVER_PURPOSE_DEFAULT);
    libsolver_matrix a = given(&t), wrong = a;
    assert_int_equal(libsolver_refactorize_async(NULL, &a, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize_async(t.f, NULL, NULL), LIBSOLVER_INVALID);
    wrong.place = LIBSOLVER_HOST;
    assert_int_equal(libsolver_refactorize_async(t.f, &wrong, NULL), LIBSOLVER_INVALID);
    wrong = a;
    wrong.pointers = t.s.start;
    wrong.indices = t.s.row;
    assert_int_equal(libsolver_refactorize_async(t.f, &wrong, NULL), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(t.f), "indices"));
    wrong = a;
    wrong.n++;
    assert_int_equal(libsolver_refactorize_async(t.f, &wrong, NULL), LIBSOLVER_PATTERN_MISMATCH);
    wrong = a;
    wrong.values = NULL;
    assert_int_equal(libsolver_refactorize_async(t.f, &wrong, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_OK); /* as before */
    check_solution(&t, &t.x);
    assert_int_equal(libsolver_refactorize_async(t.f, &a, NULL), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(t.f, &t.b, &t.x), LIBSOLVER_OK);
    for (int k = 0; k < 2; k++) {
        libsolver_options o = options_of(&t, LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_PURPOSE_DEFAULT);
        o.backend = k ? LIBSOLVER_BACKEND_CPU : LIBSOLVER_BACKEND_GPU;
        libsolver_factor *f = factor_of(&t.s, &o, LIBSOLVER_OK);
        assert_int_equal(libsolver_refactorize_async(f, &a, NULL), LIBSOLVER_NOT_BUILT);
        assert_true(libsolver_factor_message(f)[0] != 0);
        assert_int_equal(libsolver_solve(f, &t.b, &t.x), LIBSOLVER_OK);
        libsolver_factor_free(f);
    }
    bench_end(&t);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_those_of_a_call_that_waits),
        cmocka_unit_test(failures_are_told_on_the_device_and_on_the_host),
        cmocka_unit_test(a_factor_made_again_is_the_first),
        cmocka_unit_test(quasi_definite_factors_are_as_those_of_cholesky),
        cmocka_unit_test(a_graph_goes_from_values_to_solutions),
        cmocka_unit_test(many_in_a_row_are_the_same),
        cmocka_unit_test(every_sequence_of_calls_is_right),
        cmocka_unit_test(what_cannot_be_done_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return refine_main(argc, argv, run);
}
