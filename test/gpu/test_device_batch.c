/* test/gpu/test_device_batch.c: batches whose arrays lie in device memory, beside the same from the
 * host, bit for bit; the factor's panels beside a single factor's by their solutions
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_batch [small]      small: sizes and repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_test.h"
#include "libsolver_batch.h"
#include "systems.h"
#include <complex.h>
#include <math.h>

enum { COLUMNS = 2 };

static int small;

typedef struct session {
    int64_t n, entries, count;
    double *values, *b; /* of all items, on the host */
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_batch *batch;
} session;

static void *put(const void *from, int64_t bytes)
{
    void *to;
    CUDA(cudaMalloc(&to, (size_t)bytes + 16));
    CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
    return to;
}

static void get(void *to, const void *from, int64_t bytes)
{
    CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyDeviceToHost));
}

/* Items that are the system times 1 + i / 8, with other right-hand sides. */
static void open_session(session *s, const sparse *a, int64_t count)
{
    libsolver_options o;
    random_stream r = random_seeded(17);
    const libsolver_matrix view = sparse_view(a);
    *s = (session){.n = a->n, .entries = a->pointers[a->n], .count = count};
    s->values = doubles(s->entries * count);
    s->b = doubles(s->n * COLUMNS * count);
    for (int64_t k = 0; k < s->entries * count; k++)
        s->values[k] = a->values[k % s->entries] * (1 + (double)(k / s->entries) / 8);
    for (int64_t k = 0; k < s->n * COLUMNS * count; k++)
        s->b[k] = (double)random_below(&r, 100) - 50;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_GPU;
    o.kind = LIBSOLVER_KIND_SPD;
    assert_int_equal(libsolver_context_create(&o, &s->context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(s->context, &view, &o, &s->analysis), LIBSOLVER_OK);
    if (libsolver_batch_create(s->analysis, count, &s->batch) != LIBSOLVER_OK)
        fail_msg("%s", libsolver_context_message(s->context));
    libsolver_batch_info info;
    libsolver_batch_query(s->batch, &info);
    assert_int_equal(info.backend, LIBSOLVER_BACKEND_GPU);
    int64_t host, device;
    libsolver_batch_bytes(s->analysis, count, &host, &device);
    assert_true(info.device_bytes <= device && info.device_bytes >= device - 4096);
}

static void close_session(session *s)
{
    libsolver_batch_free(s->batch);
    libsolver_analysis_free(s->analysis);
    libsolver_context_free(s->context);
    free(s->values);
    free(s->b);
}

static void insist(const session *s, libsolver_status status, libsolver_status wanted)
{
    if (status != wanted)
        fail_msg("%s instead of %s: %s", libsolver_status_name(status),
                 libsolver_status_name(wanted), libsolver_batch_message(s->batch));
}

static libsolver_batch_vectors blocks(const session *s, double *values, libsolver_place place)
{
    return (libsolver_batch_vectors){
        .values = values, .stride = s->n * COLUMNS, .columns = COLUMNS, .ld = s->n, .place = place};
}

/* x of all items, refined, and their errors; from the host. */
static void solve_from_host(const session *s, double *x, double *errors)
{
    const libsolver_batch_values values = {.values = s->values, .stride = s->entries};
    const libsolver_batch_vectors b = blocks(s, s->b, LIBSOLVER_HOST),
                                  xs = blocks(s, x, LIBSOLVER_HOST);
    insist(s, libsolver_batch_refactorize(s->batch, &values), LIBSOLVER_OK);
    insist(s, libsolver_batch_solve(s->batch, &b, &xs), LIBSOLVER_OK);
    insist(s, libsolver_batch_refine(s->batch, NULL, &b, &xs, errors), LIBSOLVER_OK);
}

/* The same from the device; by pointers, and the solve in place, or not. */
static void solve_from_device(const session *s, int by_pointers, double *x, double *errors)
{
    const int64_t each = s->n * COLUMNS, bytes = each * s->count * (int64_t)sizeof(double);
    double *values = put(s->values, s->entries * s->count * (int64_t)sizeof(double)),
           *b = put(s->b, bytes), *to = put(s->b, bytes);
    void **at = calloc((size_t)s->count, sizeof(void *)), *pointers[3];
    assert_non_null(at);
    double *base[3] = {values, b, to};
    const int64_t step[3] = {s->entries, each, each};
    for (int q = 0; q < 3; q++) {
        for (int64_t i = 0; i < s->count; i++)
            at[i] = base[q] + i * step[q];
        pointers[q] = put(at, s->count * (int64_t)sizeof(void *));
    }
    libsolver_batch_values given = {.values = values,
                                    .stride = s->entries,
                                    .place = LIBSOLVER_DEVICE};
    libsolver_batch_vectors bs = blocks(s, b, LIBSOLVER_DEVICE),
                            xs = blocks(s, to, LIBSOLVER_DEVICE);
    if (by_pointers) {
        given.items = pointers[0];
        bs.items = pointers[1];
        xs.items = pointers[2];
    }
    insist(s, libsolver_batch_refactorize(s->batch, &given), LIBSOLVER_OK);
    insist(s, libsolver_batch_solve(s->batch, by_pointers ? &xs : &bs, &xs), LIBSOLVER_OK);
    insist(s, libsolver_batch_refine(s->batch, NULL, &bs, &xs, errors), LIBSOLVER_OK);
    get(x, to, bytes);
    for (int q = 0; q < 3; q++) {
        CUDA(cudaFree(base[q]));
        CUDA(cudaFree(pointers[q]));
    }
    free(at);
}

/* The first item alone has the same bits. */
static void check_first_alone(const sparse *a, const double *x)
{
    session s;
    open_session(&s, a, 1);
    const int64_t each = s.n * COLUMNS;
    double *alone = doubles(each), errors[COLUMNS];
    solve_from_host(&s, alone, errors);
    assert_memory_equal(alone, x, sizeof(double) * (size_t)each);
    close_session(&s);
    free(alone);
}

static void check_system(sparse a, int64_t count)
{
    session s;
    open_session(&s, &a, count);
    const int64_t each = s.n * COLUMNS;
    double *x = doubles(each * count), *y = doubles(each * count), *mine = doubles(s.entries),
           *errors = doubles(COLUMNS * count), *others = doubles(COLUMNS * count);
    sparse own = a;
    own.values = mine;
    solve_from_host(&s, x, errors);
    for (int64_t i = 0; i < count; i++) {
        memcpy(mine, s.values + i * s.entries, sizeof(double) * (size_t)s.entries);
        const double found = sparse_backward_error(&own, COLUMNS, x + i * each, s.b + i * each);
        if (!(found <= 1.1e-14))
            fail_msg("item %d of %d: error %.1e", (int)i, (int)count, found);
    }
    for (int by_pointers = 0; by_pointers < 2; by_pointers++) {
        solve_from_device(&s, by_pointers, y, others);
        assert_memory_equal(x, y, sizeof(double) * (size_t)(each * count));
        assert_memory_equal(errors, others, sizeof(double) * (size_t)(COLUMNS * count));
    }
    close_session(&s);
    check_first_alone(&a, x);
    free(x);
    free(y);
    free(mine);
    free(errors);
    free(others);
    sparse_free(&a);
}

/* Tiny fronts, more items than blocks of one or of four warps; fronts in tiles; both, and more
 * fronts than one block solves with. */
static void device_arrays_are_as_host_arrays(void **state)
{
    (void)state;
    const int64_t n = small ? 130 : 260;
    double *eigenvalues = doubles(n);
    for (int64_t k = 0; k < n; k++)
        eigenvalues[k] = 1 + (double)k;
    check_system(sparse_grid(small ? 6 : 20, small ? 5 : 23, 4.5), small ? 9 : 3000);
    check_system(sparse_grid(small ? 5 : 21, small ? 7 : 22, 4.5), small ? 4 : 600);
    check_system(sparse_with_eigenvalues(n, eigenvalues), small ? 2 : 70);
    check_system(sparse_grid(small ? 9 : 130, small ? 20 : 140, 4.1), small ? 3 : 20);
    check_system(sparse_grid(1, 1, 4), 5);
    free(eigenvalues);
}

/* Largest |b - A x| / (|A||x| + |b|) of a row, A by the values of the triangle that `a` has. */
static double complex_error(const sparse *a, const double _Complex *values, int hermitian,
                            const double _Complex *x, const double _Complex *b)
{
    double _Complex *left = calloc((size_t)a->n, sizeof *left);
    double *size = doubles(a->n), worst = 0;
    assert_non_null(left);
    for (int64_t i = 0; i < a->n; i++) {
        left[i] = b[i];
        size[i] = cabs(b[i]);
    }
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++) {
            const int64_t i = a->indices[p];
            const double _Complex v = values[p], mirror = hermitian ? conj(v) : v;
            left[i] -= v * x[j];
            size[i] += cabs(v) * cabs(x[j]);
            left[j] -= i != j ? mirror * x[i] : 0;
            size[j] += i != j ? cabs(v) * cabs(x[i]) : 0;
        }
    for (int64_t i = 0; i < a->n; i++)
        worst = fmax(worst, cabs(left[i]) / size[i]);
    free(left);
    free(size);
    return worst;
}

/* Trees that all blocks of the device share in solves, of Hermitian and complex symmetric items. */
static void complex_items_with_many_fronts(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    for (int hermitian = 0; hermitian < 2; hermitian++) {
        sparse a = sparse_grid(60, 60, 4.5);
        const int64_t n = a.n, entries = a.pointers[n];
        random_stream r = random_seeded(3);
        double _Complex *values = calloc((size_t)(entries * COUNT), sizeof *values),
                        *b = calloc((size_t)(n * COUNT), sizeof *b),
                        *x = calloc((size_t)(n * COUNT), sizeof *x);
        double errors[COUNT];
        libsolver_options o;
        session s = {.n = n};
        assert_true(values && b && x);
        for (int64_t k = 0; k < entries * COUNT; k++) {
            const int is_diagonal = a.values[k % entries] > 0;
            values[k] = a.values[k % entries] * (is_diagonal ? 1.5 : 1) +
                        (is_diagonal && hermitian ? 0 : (double)(random_below(&r, 9) - 4) / 8 * I);
        }
        for (int64_t k = 0; k < n * COUNT; k++)
            b[k] = (double)(random_below(&r, 100) - 50) + (double)random_below(&r, 10) * I;
        libsolver_options_default(&o);
        o.backend = LIBSOLVER_BACKEND_GPU;
        o.kind = hermitian ? LIBSOLVER_KIND_SPD : LIBSOLVER_KIND_QUASI_DEFINITE;
        libsolver_matrix view = sparse_view(&a);
        view.type = LIBSOLVER_Z;
        view.values = values;
        view.symmetry = hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
        assert_int_equal(libsolver_context_create(&o, &s.context), LIBSOLVER_OK);
        assert_int_equal(libsolver_analyze(s.context, &view, &o, &s.analysis), LIBSOLVER_OK);
        assert_int_equal(libsolver_batch_create(s.analysis, COUNT, &s.batch), LIBSOLVER_OK);
        const libsolver_batch_values given = {.values = values, .stride = entries};
        const libsolver_batch_vectors bs = {.values = b, .stride = n, .columns = 1, .ld = n},
                                      xs = {.values = x, .stride = n, .columns = 1, .ld = n};
        insist(&s, libsolver_batch_refactorize(s.batch, &given), LIBSOLVER_OK);
        for (int is_refined = 0; is_refined < 2; is_refined++) {
            insist(&s,
                   is_refined ? libsolver_batch_refine(s.batch, NULL, &bs, &xs, errors)
                              : libsolver_batch_solve(s.batch, &bs, &xs),
                   LIBSOLVER_OK);
            for (int i = 0; i < COUNT; i++) {
                const double found =
                    complex_error(&a, values + i * entries, hermitian, x + i * n, b + i * n);
                if (!(found <= (is_refined ? 1.1e-14 : 1e-12)))
                    fail_msg("item %d, hermitian %d: error %.1e", i, hermitian, found);
            }
        }
        close_session(&s);
        free(values);
        free(b);
        free(x);
        sparse_free(&a);
    }
}

/* A mask on the device, statuses there, and an item that fails. */
static void masks_and_statuses_are_copied(void **state)
{
    (void)state;
    enum { COUNT = 6 };
    sparse a = sparse_grid(7, 8, 4.5);
    session s;
    libsolver_status status[COUNT];
    const uint8_t active[COUNT] = {1, 1, 0, 1, 0, 1};
    open_session(&s, &a, COUNT);
    s.values[3 * s.entries] = -1;
    uint8_t *mask = put(active, COUNT);
    libsolver_status *there = put(status, (int64_t)sizeof status);
    const libsolver_batch_values values = {.values = s.values, .stride = s.entries};
    insist(&s, libsolver_batch_set_active(s.batch, mask, LIBSOLVER_DEVICE), LIBSOLVER_OK);
    insist(&s, libsolver_batch_refactorize(s.batch, &values), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    insist(&s, libsolver_batch_status(s.batch, there, LIBSOLVER_DEVICE), LIBSOLVER_OK);
    get(status, there, (int64_t)sizeof status);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(status[i], !active[i] ? LIBSOLVER_INVALID
                                    : i == 3   ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                               : LIBSOLVER_OK);
    CUDA(cudaFree(mask));
    CUDA(cudaFree(there));
    close_session(&s);
    sparse_free(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_arrays_are_as_host_arrays),
        cmocka_unit_test(complex_items_with_many_fronts),
        cmocka_unit_test(masks_and_statuses_are_copied),
    };
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
