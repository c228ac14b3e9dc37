/* test/test_device_refine.c: solves that are refined and measured on a device, of one precision (-DPREC_x), beside the CPU backend's
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_refine [small]      small: sizes and repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/scalar.h"
#include "libsolver.h"
#include "random.h"
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

static int small;

#define CUDA(call) assert_int_equal((call), cudaSuccess)
#define TOLERANCE (EPS < 1e-10 ? 1e-14 : 5e-6)

typedef long double _Complex exact;

/* ---- Systems ------------------------------------------------------------------------------------------- */

/* Lower triangle by columns, each with its diagonal first. */
typedef struct system_ {
    int32_t n, room;
    int hermitian;
    int32_t *start, *row;
    scalar *value;
} system_;

static system_ system_new(int32_t n, int32_t entries, int hermitian)
{
    system_ s = {.n = n, .room = entries, .hermitian = hermitian};
    s.start = calloc((size_t)n + 1, sizeof *s.start);
    s.row = calloc((size_t)entries + 1, sizeof *s.row);
    s.value = calloc((size_t)entries + 1, sizeof *s.value);
    assert_true(s.start && s.row && s.value);
    return s;
}

static void system_free(system_ *s)
{
    free(s->start);
    free(s->row);
    free(s->value);
}

/* To the column at hand, that after the last which was ended. */
static void put(system_ *s, int32_t column, int32_t row, scalar value)
{
    assert_true(s->start[column + 1] < s->room);
    s->row[s->start[column + 1]] = row;
    s->value[s->start[column + 1]++] = row == column ? scalar_diagonal(value, s->hermitian) : value;
}

static scalar random_scalar(random_stream *r)
{
    const double x = random_real(r), y = random_real(r);
#if SCALAR_COMPLEX
    return (scalar)(x + y * _Complex_I);
#else
    (void)y;
    return (scalar)x;
#endif
}

/* DOMINANT: positive definite.  HOLLOW: two thirds of the diagonal are zero, rows scaled by powers of two.  HUB: the last row is full. */
enum { DOMINANT, HOLLOW, HUB, KINDS };

static system_ random_system(random_stream *r, int kind, int32_t side, int hermitian)
{
    const int32_t n = side * side;
    system_ s = system_new(n, 4 * n + 8, hermitian);
    for (int32_t j = 0; j < n; j++) {
        s.start[j + 1] = s.start[j];
        put(&s, j, j, kind == DOMINANT ? 9 : kind == HUB ? (j == n - 1 ? 3 : 5) : j % 3 ? 0 : random_scalar(r));
        for (int k = 0; k < 2; k++) { /* the neighbours on a grid */
            const int32_t i = j + (k ? side : 1);
            if (i < n && (k || i % side > 0) && !(kind == HUB && i == n - 1))
                put(&s, j, i, random_scalar(r));
        }
        if (kind == HUB && j < n - 1)
            put(&s, j, n - 1, random_scalar(r));
    }
    for (int32_t j = 0; j < n && kind == HOLLOW; j++)
        for (int32_t p = s.start[j]; p < s.start[j + 1]; p++)
            s.value[p] *= (real)ldexp(1, (j * 5 + s.row[p] * 5) % 9 - 4);
    return s;
}

static libsolver_matrix view_of(const system_ *s)
{
    return (libsolver_matrix){.n = s->n,
                              .pointers = s->start,
                              .indices = s->row,
                              .values = s->value,
                              .type = SCALAR_TYPE,
                              .symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC};
}

static exact mirror(exact a, int hermitian)
{
    return SCALAR_COMPLEX && hermitian ? conjl(a) : a;
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

static libsolver_vectors block_new(int32_t n, int64_t columns, libsolver_layout layout, int64_t padding)
{
    const int64_t ld = (layout == LIBSOLVER_ROW_MAJOR ? columns : n) + padding;
    libsolver_vectors v = {.rows = n, .columns = columns, .ld = ld, .type = SCALAR_TYPE, .layout = layout};
    v.values = malloc(sizeof(scalar) * (size_t)(ld * (layout == LIBSOLVER_ROW_MAJOR ? n : columns) + 1));
    assert_non_null(v.values);
    return v;
}

static size_t block_bytes(const libsolver_vectors *v)
{
    return sizeof(scalar) * (size_t)(v->ld * (v->layout == LIBSOLVER_ROW_MAJOR ? v->rows : v->columns));
}

static scalar *at(const libsolver_vectors *v, int64_t i, int64_t j)
{
    return (scalar *)v->values + (v->layout == LIBSOLVER_ROW_MAJOR ? i * v->ld + j : i + j * v->ld);
}

static void fill(random_stream *r, const libsolver_vectors *v)
{
    memset(v->values, 0xff, block_bytes(v)); /* NaN between the columns */
    for (int64_t j = 0; j < v->columns; j++)
        for (int64_t i = 0; i < v->rows; i++)
            *at(v, i, j) = random_scalar(r);
}

/* A copy on the device, padding and all. */
static libsolver_vectors to_device(const libsolver_vectors *b)
{
    libsolver_vectors v = *b;
    v.place = LIBSOLVER_DEVICE;
    CUDA(cudaMalloc(&v.values, block_bytes(b) + 8));
    CUDA(cudaMemcpy(v.values, b->values, block_bytes(b), cudaMemcpyHostToDevice));
    return v;
}

static void from_device(const libsolver_vectors *v, const libsolver_vectors *b)
{
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(b->values, v->values, block_bytes(v), cudaMemcpyDeviceToHost));
}

/* omega1 + omega2 of column q */
static double backward_error(const system_ *s, const libsolver_vectors *x, const libsolver_vectors *b, int64_t q)
{
    exact *r = calloc((size_t)s->n, sizeof *r);
    long double *sum = calloc((size_t)s->n, sizeof *sum), *row = calloc((size_t)s->n, sizeof *row), norm = 0, omega[2] = {0, 0};
    assert_true(r && sum && row);
    for (int32_t j = 0; j < s->n; j++) {
        r[j] += *at(b, j, q);
        norm = fmaxl(norm, cabsl((exact)*at(x, j, q)));
        for (int32_t p = s->start[j]; p < s->start[j + 1]; p++) {
            const int32_t i = s->row[p];
            const exact a = s->value[p], product = a * *at(x, j, q), other = mirror(a, s->hermitian) * *at(x, i, q);
            r[i] -= product;
            sum[i] += cabsl(product);
            row[i] += cabsl(a);
            if (i != j) {
                r[j] -= other;
                sum[j] += cabsl(other);
                row[j] += cabsl(a);
            }
        }
    }
    for (int32_t i = 0; i < s->n; i++) {
        const long double right = cabsl((exact)*at(b, i, q));
        const int is_small = !(sum[i] + right > 1000.0L * s->n * EPS * (row[i] * norm + right));
        if (cabsl(r[i]) > 0)
            omega[is_small] = fmaxl(omega[is_small], cabsl(r[i]) / (is_small ? sum[i] + row[i] * norm : sum[i] + right));
    }
    free(r);
    free(sum);
    free(row);
    return (double)(omega[0] + omega[1]);
}

/* As reported, up to what its roundings allow. */
static void check_error(double reported, double found, uint64_t seed)
{
    if (!(fabs(reported - found) <= 1e-3 * found + EPS / 8))
        fail_msg("seed %d: backward error %g reported, %g found", (int)seed, reported, found);
}

/* ---- Factors ----------------------------------------------------------------------------------------------- */

static libsolver_options options_for(libsolver_backend backend)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = backend;
    o.threads = 1;
    return o;
}

static libsolver_factor *factor_of(const system_ *s, const libsolver_options *o, libsolver_status wanted)
{
    const libsolver_matrix a = view_of(s);
    libsolver_factor *f = NULL;
    const libsolver_status status = libsolver_factor_matrix(&a, o, &f);
    if (status != wanted)
        fail_msg("%s: %s", libsolver_status_name(status), libsolver_factor_message(f));
    return f;
}

static double relative(double from, double to)
{
    return fabs(from - to) / fmax(fabs(to), EPS);
}

/* Refines a perturbed x, on the device if asked, beside the CPU. */
static void check_refine(const system_ *s, libsolver_factor *gpu, libsolver_factor *cpu, random_stream *r, int64_t columns, int kind,
                         uint64_t seed)
{
    libsolver_vectors b = block_new(s->n, columns, kind & 1 ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR, kind & 4 ? 3 : 0);
    libsolver_vectors x = block_new(s->n, columns, kind & 2 ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR, kind & 8 ? 1 : 0);
    libsolver_vectors y = block_new(s->n, columns, x.layout, x.layout == LIBSOLVER_ROW_MAJOR ? x.ld - columns : x.ld - s->n);
    double *errors = calloc((size_t)columns, sizeof *errors), *other = calloc((size_t)columns, sizeof *other);
    libsolver_workspace *w = NULL, *v = NULL;
    libsolver_solve_info info, of_cpu;
    assert_true(errors && other);
    fill(r, &b);
    fill(r, &y);
    assert_int_equal(libsolver_workspace_create(gpu, 1 + columns / 2, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(cpu, 1 + columns / 2, &v), LIBSOLVER_OK);
    assert_true(libsolver_solve_plain(cpu, LIBSOLVER_PART_ALL, v, &b, &y) >= 0);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < s->n; i++)
            *at(&y, i, j) *= (real)(1 + (EPS < 1e-10 ? 1e-5 : 1e-3) * random_real(r));
    memcpy(x.values, y.values, block_bytes(&x));
    const libsolver_status expected = libsolver_refine(cpu, v, &b, &y, other);
    libsolver_solve_query(cpu, v, &of_cpu);
    libsolver_status status;
    if (kind & 16) {
        libsolver_vectors db = to_device(&b), dx = to_device(&x);
        status = libsolver_refine(gpu, w, &db, &dx, errors);
        from_device(&dx, &x);
        CUDA(cudaFree(db.values));
        CUDA(cudaFree(dx.values));
    } else
        status = libsolver_refine(gpu, w, &b, &x, errors);
    libsolver_solve_query(gpu, w, &info);
    assert_int_equal(status, expected);
    assert_int_equal(info.remarks, of_cpu.remarks);
    if (relative(info.backward_error_initial, of_cpu.backward_error_initial) > 1e-3)
        fail_msg("seed %d: initial error %g, on the CPU %g", (int)seed, info.backward_error_initial, of_cpu.backward_error_initial);
    assert_true(info.steps >= (of_cpu.steps > 0) && info.backward_error <= TOLERANCE);
    double worst = 0;
    for (int64_t j = 0; j < columns; j++) {
        check_error(errors[j], backward_error(s, &x, &b, j), seed);
        worst = fmax(worst, errors[j]);
    }
    assert_true(worst == info.backward_error);
    libsolver_workspace_free(w);
    libsolver_workspace_free(v);
    free(b.values);
    free(x.values);
    free(y.values);
    free(errors);
    free(other);
}

static void refined_as_on_the_cpu(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 2, 5, 8, 40, 3, 1};
    for (uint64_t seed = 0; seed < (small ? 6 : 64); seed++) {
        random_stream r = random_seeded(seed);
        const int32_t side = small ? 6 : seed % 16 == 15 ? 45 : 1 + random_below(&r, 20);
        system_ s = random_system(&r, (int)(seed % KINDS), side, SCALAR_COMPLEX && seed % 2);
        const libsolver_options on = options_for(LIBSOLVER_BACKEND_GPU), off = options_for(LIBSOLVER_BACKEND_CPU);
        const libsolver_matrix a = view_of(&s);
        libsolver_factor *gpu = NULL, *cpu = NULL;
        const libsolver_status status = libsolver_factor_matrix(&a, &off, &cpu);
        assert_int_equal(libsolver_factor_matrix(&a, &on, &gpu), status);
        if (status == LIBSOLVER_OK) /* a small hollow one may be singular */
            for (int kind = 0; kind < 32; kind += 1 + 6 * small)
                check_refine(&s, gpu, cpu, &r, widths[(seed + (uint64_t)kind) % 7], kind, seed);
        libsolver_factor_free(gpu);
        libsolver_factor_free(cpu);
        system_free(&s);
    }
}

/* Solves with pivots so small that they need steps; x in b's place; new values; the same bits from host and device. */
static void solves_are_refined(void **state)
{
    (void)state;
    int steps = 0;
    for (uint64_t seed = 0; seed < (small ? 4 : 40); seed++) {
        random_stream r = random_seeded(100 + seed);
        const int32_t side = small ? 7 : 8 + random_below(&r, 25);
        const int64_t columns = seed % 4 == 3 ? 37 : 1 + random_below(&r, 4);
        system_ s = random_system(&r, HOLLOW, side, SCALAR_COMPLEX && seed % 2);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        o.kind = LIBSOLVER_KIND_INDEFINITE;
        o.pivot_threshold = EPS < 1e-10 ? 1e-8 : 1e-4;
        const libsolver_matrix a = view_of(&s);
        libsolver_factor *f = NULL;
        const libsolver_status factored = libsolver_factor_matrix(&a, &o, &f);
        assert_true(factored >= 0);
        for (int again = 0; again < 2 && factored == LIBSOLVER_OK; again++) {
            libsolver_vectors b = block_new(s.n, columns, (libsolver_layout)(seed / 2 % 2), again), x = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
            libsolver_solve_info info;
            fill(&r, &b);
            const libsolver_status status = libsolver_solve(f, &b, &x);
            libsolver_solve_query(f, NULL, &info);
            steps += info.steps;
            double worst = 0;
            for (int64_t j = 0; j < columns; j++)
                worst = fmax(worst, backward_error(&s, &x, &b, j));
            check_error(info.backward_error, worst, seed);
            assert_int_equal(status, info.backward_error <= TOLERANCE ? LIBSOLVER_OK : LIBSOLVER_INACCURATE);
            assert_int_equal(status, LIBSOLVER_OK);
            libsolver_vectors db = to_device(&b), dx = to_device(&x), y = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
            assert_int_equal(libsolver_solve(f, &db, &dx), status);
            from_device(&dx, &y);
            assert_memory_equal(y.values, x.values, block_bytes(&x));
            assert_int_equal(libsolver_refine(f, NULL, &db, &db, NULL), LIBSOLVER_INVALID);
            assert_int_equal(libsolver_solve(f, &db, &db), status); /* x is b */
            from_device(&db, &b);
            for (int64_t j = 0; j < columns; j++)
                for (int64_t i = 0; i < s.n; i++)
                    assert_memory_equal(at(&b, i, j), at(&x, i, j), sizeof(scalar));
            fill(&r, &b);
            assert_int_equal(libsolver_solve(f, &b, &x), LIBSOLVER_OK);
            assert_int_equal(libsolver_solve(f, &b, &b), LIBSOLVER_OK);
            for (int64_t i = 0; i < s.n; i++)
                assert_memory_equal(at(&b, i, columns - 1), at(&x, i, columns - 1), sizeof(scalar));
            CUDA(cudaFree(db.values));
            CUDA(cudaFree(dx.values));
            free(b.values);
            free(x.values);
            free(y.values);
            for (int32_t p = 0; p < s.start[s.n]; p++)
                s.value[p] *= (real)1.5;
            assert_int_equal(libsolver_refactorize(f, &a), LIBSOLVER_OK);
        }
        libsolver_factor_free(f);
        system_free(&s);
    }
    assert_true(steps > 0 || EPS > 1e-10);
}

/* A tolerance that plain steps do not reach: FGMRES on the host goes on. */
static void what_stalls_goes_on_on_the_host(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 3 : 20); seed++) {
        random_stream r = random_seeded(200 + seed);
        system_ s = random_system(&r, (int)(seed % KINDS), 12, SCALAR_COMPLEX && seed % 2);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        o.tolerance = 1e-30;
        const libsolver_matrix a = view_of(&s);
        libsolver_factor *f = NULL;
        if (libsolver_factor_matrix(&a, &o, &f) == LIBSOLVER_OK) {
            libsolver_vectors b = block_new(s.n, 3, LIBSOLVER_COLUMN_MAJOR, 1), x = block_new(s.n, 3, LIBSOLVER_ROW_MAJOR, 2);
            libsolver_solve_info info;
            fill(&r, &b);
            fill(&r, &x);
            libsolver_vectors db = to_device(&b), dx = to_device(&x);
            for (int on_device = 0; on_device < 2; on_device++) {
                const libsolver_status status = on_device ? libsolver_solve(f, &db, &dx) : libsolver_solve(f, &b, &x);
                assert_int_equal(status, LIBSOLVER_INACCURATE);
                libsolver_solve_query(f, NULL, &info);
                if (on_device)
                    from_device(&dx, &x);
                assert_true(info.steps >= 2 && info.backward_error <= 4 * EPS && info.backward_error <= info.backward_error_initial);
                double worst = 0;
                for (int64_t j = 0; j < 3; j++)
                    worst = fmax(worst, backward_error(&s, &x, &b, j));
                check_error(info.backward_error, worst, seed);
            }
            CUDA(cudaFree(db.values));
            CUDA(cudaFree(dx.values));
            free(b.values);
            free(x.values);
        }
        libsolver_factor_free(f);
        system_free(&s);
    }
}

/* A grid's Laplacian: consistent right-hand sides, and others. */
static void singular_systems(void **state)
{
    (void)state;
    const int32_t side = 9, n = side * side;
    system_ s = system_new(n, 4 * n, 0);
    for (int32_t j = 0; j < n; j++) {
        const int neighbours = (j % side > 0) + (j % side < side - 1) + (j >= side) + (j < n - side);
        s.start[j + 1] = s.start[j];
        put(&s, j, j, (scalar)neighbours);
        if (j % side < side - 1)
            put(&s, j, j + 1, -1);
        if (j < n - side)
            put(&s, j, j + side, -1);
    }
    for (int consistent = 0; consistent < 2; consistent++) {
        libsolver_vectors b = block_new(n, 2, LIBSOLVER_COLUMN_MAJOR, 0), x = block_new(n, 2, LIBSOLVER_COLUMN_MAJOR, 0);
        libsolver_solve_info info[2];
        for (int64_t k = 0; k < 2 * n; k++)
            ((scalar *)b.values)[k] = 0;
        *at(&b, 3, 0) = *at(&b, 50, 1) = 1;
        *at(&b, n - 2, 0) = *at(&b, 0, 1) = consistent ? -1 : 2;
        for (int k = 0; k < 2; k++) {
            libsolver_options o = options_for(k ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU);
            o.kind = LIBSOLVER_KIND_INDEFINITE;
            libsolver_factor *f = factor_of(&s, &o, LIBSOLVER_SINGULAR);
            assert_int_equal(libsolver_solve(f, &b, &x), LIBSOLVER_SINGULAR);
            libsolver_solve_query(f, NULL, &info[k]);
            double worst = 0;
            for (int64_t j = 0; j < 2; j++)
                worst = fmax(worst, backward_error(&s, &x, &b, j));
            check_error(info[k].backward_error, worst, (uint64_t)consistent);
            libsolver_factor_free(f);
        }
        assert_int_equal(info[1].remarks, info[0].remarks);
        assert_int_equal(!(info[1].remarks & LIBSOLVER_INACCURATE), consistent);
        free(b.values);
        free(x.values);
    }
    system_free(&s);
}

/* ---- Without a wait ------------------------------------------------------------------------------------------ */

/* Where an asynchronous solve leaves what it knows. */
typedef struct outcome {
    double *errors;           /* on the device */
    libsolver_status *status; /* on the device */
} outcome;

static void check_outcome(const outcome *o, const system_ *s, const libsolver_vectors *x, const libsolver_vectors *b,
                          libsolver_status wanted, uint64_t seed)
{
    double errors[64];
    libsolver_status status;
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&status, o->status, sizeof status, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(errors, o->errors, sizeof(double) * (size_t)x->columns, cudaMemcpyDeviceToHost));
    assert_int_equal(status, wanted);
    for (int64_t j = 0; j < x->columns; j++)
        check_error(errors[j], backward_error(s, x, b, j), seed);
}

static void errors_and_status_stay_on_the_device(void **state)
{
    (void)state;
    outcome out;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&out.errors, 64 * sizeof(double)));
    CUDA(cudaMalloc((void **)&out.status, sizeof(libsolver_status)));
    for (uint64_t seed = 0; seed < (small ? 3 : 18); seed++) {
        random_stream r = random_seeded(300 + seed);
        const int64_t columns = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 6 : 35;
        system_ s = random_system(&r, seed % 2 ? DOMINANT : HUB, small ? 6 : 28, SCALAR_COMPLEX && seed % 4 < 2);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        o.stream = stream;
        libsolver_factor *f = factor_of(&s, &o, LIBSOLVER_OK);
        libsolver_workspace *w = NULL;
        assert_int_equal(libsolver_workspace_create(f, columns, &w), LIBSOLVER_OK);
        libsolver_vectors b = block_new(s.n, columns, (libsolver_layout)(seed % 2), 1), x = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 2);
        libsolver_vectors y = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 2);
        fill(&r, &b);
        fill(&r, &x);
        libsolver_vectors db = to_device(&b), dx = to_device(&x);
        assert_int_equal(libsolver_solve_async(f, w, 2, &b, &x, NULL, NULL), LIBSOLVER_INVALID); /* on the host */
        assert_int_equal(libsolver_solve_async(f, w, -1, &db, &dx, NULL, NULL), LIBSOLVER_INVALID);
        assert_int_equal(libsolver_solve_async(f, w, 2, &db, &dx, out.errors, out.status), LIBSOLVER_OK);
        from_device(&dx, &x);
        check_outcome(&out, &s, &x, &b, LIBSOLVER_OK, seed);
        assert_int_equal(libsolver_solve(f, &db, &dx), LIBSOLVER_OK); /* the same bits as with a wait */
        from_device(&dx, &y);
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < s.n; i++)
                assert_memory_equal(at(&y, i, j), at(&x, i, j), sizeof(scalar));
        assert_int_equal(libsolver_solve_async(f, w, 0, &db, &dx, out.errors, NULL), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve_async(f, w, 1, &db, &dx, NULL, NULL), LIBSOLVER_OK);
        /* captured: a graph solves for what is in b when it is launched */
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        assert_int_equal(libsolver_solve_async(f, w, 1, &db, &db, out.errors, out.status), LIBSOLVER_OK);
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiate(&ready, graph, 0));
        for (int k = 0; k < 3; k++) {
            fill(&r, &b);
            CUDA(cudaMemcpy(db.values, b.values, block_bytes(&b), cudaMemcpyHostToDevice));
            CUDA(cudaGraphLaunch(ready, stream));
            libsolver_vectors z = block_new(s.n, columns, b.layout, 1);
            from_device(&db, &z);
            check_outcome(&out, &s, &z, &b, LIBSOLVER_OK, seed);
            free(z.values);
        }
        CUDA(cudaGraphExecDestroy(ready));
        CUDA(cudaGraphDestroy(graph));
        /* what is not finite in one column is said, and stays there */
        fill(&r, &b);
        *at(&b, s.n / 2, columns / 2) = NAN;
        CUDA(cudaMemcpy(db.values, b.values, block_bytes(&b), cudaMemcpyHostToDevice));
        assert_int_equal(libsolver_solve_async(f, w, 2, &db, &dx, out.errors, out.status), LIBSOLVER_OK);
        double errors[64];
        libsolver_status status;
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(errors, out.errors, sizeof(double) * (size_t)columns, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(&status, out.status, sizeof status, cudaMemcpyDeviceToHost));
        assert_int_equal(status, LIBSOLVER_INACCURATE);
        for (int64_t j = 0; j < columns; j++)
            assert_int_equal(errors[j] <= TOLERANCE, j != columns / 2);
        CUDA(cudaFree(db.values));
        CUDA(cudaFree(dx.values));
        free(b.values);
        free(x.values);
        free(y.values);
        libsolver_workspace_free(w);
        libsolver_factor_free(f);
        system_free(&s);
    }
    CUDA(cudaFree(out.errors));
    CUDA(cudaFree(out.status));
    CUDA(cudaStreamDestroy(stream));
}

static void the_same_bits_fifty_times(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        random_stream r = random_seeded(400 + (uint64_t)kind);
        const int64_t columns = kind == DOMINANT ? 1 : 6;
        system_ s = random_system(&r, kind, small ? 8 : 50, 0);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        libsolver_factor *f = factor_of(&s, &o, LIBSOLVER_OK);
        libsolver_vectors b = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0), x = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
        libsolver_vectors first = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
        double errors[6], first_errors[6];
        fill(&r, &b);
        for (int run = 0; run < (small ? 5 : 50); run++) {
            const libsolver_vectors *to = run ? &x : &first;
            random_stream again = random_seeded(5);
            fill(&again, to);
            assert_int_equal(libsolver_refine(f, NULL, &b, to, run ? errors : first_errors), LIBSOLVER_OK);
            if (run > 0) {
                assert_memory_equal(x.values, first.values, block_bytes(&x));
                assert_memory_equal(errors, first_errors, sizeof(double) * (size_t)columns);
            }
        }
        free(b.values);
        free(x.values);
        free(first.values);
        libsolver_factor_free(f);
        system_free(&s);
    }
}

int main(int argc, char **argv)
{
    int devices = 0;
    if (libsolver_devices(0, NULL, &devices) != LIBSOLVER_OK || devices == 0)
        return 77;
    small = argc > 1 && !strcmp(argv[1], "small");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refined_as_on_the_cpu),
        cmocka_unit_test(solves_are_refined),
        cmocka_unit_test(what_stalls_goes_on_on_the_host),
        cmocka_unit_test(singular_systems),
        cmocka_unit_test(errors_and_status_stay_on_the_device),
        cmocka_unit_test(the_same_bits_fifty_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
