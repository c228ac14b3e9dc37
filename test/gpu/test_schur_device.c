/* test/gpu/test_schur_device.c: Schur complements of factors that are made on the device, in one
 * precision (-DPREC_x), and half solves around them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_schur_device [small]      small: repeats for compute-sanitizer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_test.h"
#include "typed_schur.h"

static int small;

static libsolver_options on_backend(libsolver_backend backend, libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = backend;
    o.kind = kind;
    o.threads = 2;
    return o;
}

static libsolver_factor_info info_of(const libsolver_factor *f)
{
    libsolver_factor_info info;
    libsolver_info(f, &info);
    return info;
}

/* All eigenvalues of A11 have a known sign. */
static int64_t positive_of(const libsolver_factor *f)
{
    libsolver_inertia_counts counts;
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    assert_true(counts.certain && counts.zero == 0);
    return counts.positive;
}

/* ---- Small systems, beside plain loops ------------------------------------------------------- */

/* A11 is as definite as its signs say; the rows of the set have anything on their diagonal. */
static void give_diagonal(parted *t, int8_t *sign, int is_quasi)
{
    for (int64_t i = 0; i < t->n; i++) {
        sign[i] = is_quasi && i % 3 == 1 ? -1 : 1;
        t->s.a[i][i] = (scalar)((double)sign[i] * 2 * (double)t->n);
    }
    for (int64_t k = 0; k < t->size; k++)
        t->s.a[t->row[k]][t->row[k]] = (scalar)(real)(k % 4 - 2);
}

static void complements_and_half_solves(void **state)
{
    (void)state;
    const int seeds = small ? 12 : 80;
    for (int seed = 0; seed < seeds; seed++) {
        random_stream r = random_seeded((uint64_t)seed);
        parted *t = room(1, sizeof *t);
        int8_t sign[MOST];
        const int is_quasi = seed % 2;
        const int64_t n = seed % 4 < 2 ? 1 + random_below(&r, 60) : MOST - random_below(&r, 20);
        const int hermitian = SCALAR_COMPLEX && (!is_quasi || seed / 2 % 2);
        t->s = dense_random(&r, hermitian, n, seed % 3 ? 0.05 : 0.6, 1);
        part(t, &r, 1 + random_below(&r, seed % 5 ? (int32_t)(n + 3) / 4 : (int32_t)n));
        give_diagonal(t, sign, is_quasi);
        work_out(t);
        libsolver_options o =
            on_backend(LIBSOLVER_BACKEND_GPU,
                       is_quasi ? LIBSOLVER_KIND_QUASI_DEFINITE : LIBSOLVER_KIND_SPD);
        o.expected_signs = is_quasi ? sign : NULL;
        o.ordering = seed % 7 == 6 ? LIBSOLVER_ORDERING_NATURAL : LIBSOLVER_ORDERING_AMD;
        libsolver_factor *f = NULL;
        const libsolver_status status = factorize(t, &o, &f);
        if (status != LIBSOLVER_OK)
            fail_msg("seed %d, n %d, size %d: %s", seed, (int)n, (int)t->size,
                     libsolver_factor_message(f));
        const libsolver_factor_info info = info_of(f);
        assert_int_equal(info.backend_factorize, LIBSOLVER_BACKEND_GPU);
        assert_int_equal(info.cpu_reason, LIBSOLVER_CPU_AS_CHOSEN);
        check_part(t, f, &r);
        libsolver_factor_free(f);
        free(t->complement);
        free(t);
    }
}

/* A set of all rows: S is A, every bit of it. */
static void the_complement_in_all_rows_is_the_matrix(void **state)
{
    (void)state;
    const int64_t orders[] = {1, 23, 111, 160};
    for (int k = 0; k < 4; k++) {
        random_stream r = random_seeded((uint64_t)k);
        parted *t = room(1, sizeof *t);
        const int64_t n = orders[k];
        scalar *s = room(n * n, sizeof(scalar));
        const libsolver_vectors sv = dense_block(s, n, n);
        t->s = dense_random(&r, SCALAR_COMPLEX, n, 0.4, 0);
        part(t, &r, n);
        libsolver_options o = on_backend(LIBSOLVER_BACKEND_GPU, LIBSOLVER_KIND_SPD);
        libsolver_factor *f = NULL;
        assert_int_equal(factorize(t, &o, &f), LIBSOLVER_OK);
        assert_int_equal(info_of(f).backend_factorize, LIBSOLVER_BACKEND_GPU);
        assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_OK);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++)
                assert_true(s[i + j * n] == (scalar)dense_at(&t->s, t->row[i], t->row[j]));
        libsolver_factor_free(f);
        free(s);
        free(t);
    }
}

/* ---- Grids, beside the CPU's ----------------------------------------------------------------- */

enum { ACROSS = 40 };

/* A grid and the nodes of some of its middle columns, upside down. */
typedef struct parted_grid {
    sparse a;
    libsolver_matrix view;
    int64_t n, size, entries, *rows;
    scalar *values;
    int8_t *sign;
} parted_grid;

static void new_values(parted_grid *g, random_stream *r, int is_quasi)
{
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t p = g->a.pointers[j]; p < g->a.pointers[j + 1]; p++) {
            g->sign[j] = is_quasi && j % 5 < 2 ? -1 : 1;
            g->values[p] = g->a.indices[p] != j ? dense_scalar(r) : (scalar)(real)(8 * g->sign[j]);
        }
}

static parted_grid grid_with_set(int64_t side, int64_t columns)
{
    parted_grid g = {.a = sparse_grid(side, ACROSS, 8), .n = side * ACROSS};
    g.size = columns * side;
    g.entries = g.a.pointers[g.n];
    g.rows = room(g.size, sizeof(int64_t));
    g.values = room(g.entries, sizeof(scalar));
    g.sign = room(g.n, 1);
    for (int64_t k = 0; k < g.size; k++)
        g.rows[k] = ACROSS / 2 * side + g.size - 1 - k;
    g.view = sparse_view(&g.a);
    g.view.values = g.values;
    g.view.type = SCALAR_TYPE;
    g.view.symmetry = LIBSOLVER_HERMITIAN;
    return g;
}

static void free_grid(parted_grid *g)
{
    sparse_free(&g->a);
    free(g->rows);
    free(g->values);
    free(g->sign);
}

static void *put(const void *from, int64_t bytes)
{
    void *to;
    CUDA(cudaMalloc(&to, (size_t)bytes + 16));
    CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize());
    return to;
}

/* S as the block says, which may be of rows, with a larger ld, in device memory; by columns. */
static void get_complement(const libsolver_factor *f, int64_t size, int are_rows, int64_t padding,
                           libsolver_place place, scalar *s)
{
    const int64_t ld = size + padding;
    scalar *block = room(size * ld, sizeof(scalar));
    libsolver_vectors v = dense_block(block, size, size);
    for (int64_t q = 0; q < size * ld; q++)
        block[q] = 7;
    v.ld = ld;
    v.layout = are_rows ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR;
    v.place = place;
    if (place == LIBSOLVER_DEVICE)
        v.values = put(block, size * ld * (int64_t)sizeof(scalar));
    assert_int_equal(libsolver_schur_complement(f, &v), LIBSOLVER_OK);
    if (place == LIBSOLVER_DEVICE) {
        CUDA(cudaMemcpy(block, v.values, sizeof(scalar) * (size_t)(size * ld),
                        cudaMemcpyDeviceToHost));
        CUDA(cudaFree(v.values));
    }
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < ld; i++)
            if (i < size)
                s[are_rows ? j + i * size : i + j * size] = block[i + j * ld];
            else
                assert_true(block[i + j * ld] == 7);
    free(block);
}

/* The largest difference, of numbers of about one. */
static double difference(int64_t count, const scalar *x, const scalar *y)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double d = (double)scalar_abs(x[i] - y[i]);
        most = d > most || d != d ? d : most;
    }
    return most;
}

/* All ways to S of the GPU's factor are alike, and near the CPU's; so are half solves. */
static void compare(const parted_grid *g, const libsolver_factor *there,
                    const libsolver_factor *here)
{
    const int64_t n = g->n, size = g->size;
    scalar *s = room(3 * size * size, sizeof(scalar)), *cpu = s + size * size,
           *other = cpu + size * size, *b = room(4 * n * COLUMNS, sizeof(scalar)),
           *x = b + n * COLUMNS, *y = x + n * COLUMNS, *z = y + n * COLUMNS;
    random_stream r = random_seeded(5);
    const libsolver_vectors bv = dense_block(b, n, COLUMNS), xv = dense_block(x, n, COLUMNS),
                            yv = dense_block(y, n, COLUMNS);
    get_complement(there, size, 0, 0, LIBSOLVER_HOST, s);
    get_complement(here, size, 0, 0, LIBSOLVER_HOST, cpu);
    assert_true(difference(size * size, s, cpu) <= 200 * EPS);
    for (int way = 1; way < 6; way++) {
        get_complement(there, size, way % 2, way > 2 ? 5 : 0,
                       way > 3 ? LIBSOLVER_DEVICE : LIBSOLVER_HOST, other);
        assert_memory_equal(s, other, sizeof(scalar) * (size_t)(size * size));
    }
    for (int64_t i = 0; i < n * COLUMNS; i++)
        b[i] = dense_scalar(&r);
    libsolver_vectors bd = bv, zd = dense_block(z, n, COLUMNS);
    bd.values = put(b, n * COLUMNS * (int64_t)sizeof(scalar));
    zd.values = put(z, n * COLUMNS * (int64_t)sizeof(scalar));
    bd.place = zd.place = LIBSOLVER_DEVICE;
    for (int expand = 0; expand < 2; expand++) {
        if (expand) {
            assert_int_equal(libsolver_schur_expand(there, NULL, &xv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_expand(here, NULL, &yv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_expand(there, NULL, &zd), LIBSOLVER_OK);
        } else {
            assert_int_equal(libsolver_schur_condense(there, NULL, &bv, &xv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_condense(here, NULL, &bv, &yv), LIBSOLVER_OK);
            assert_int_equal(libsolver_schur_condense(there, NULL, &bd, &zd), LIBSOLVER_OK);
        }
        CUDA(cudaMemcpy(z, zd.values, sizeof(scalar) * (size_t)(n * COLUMNS),
                        cudaMemcpyDeviceToHost));
        assert_memory_equal(x, z, sizeof(scalar) * (size_t)(n * COLUMNS));
        if (expand) /* what condense leaves for it may differ */
            assert_true(difference(n * COLUMNS, x, y) <= 200 * EPS);
        for (int64_t c = 0; c < COLUMNS && !expand; c++)
            for (int64_t k = 0; k < size; k++)
                assert_true((double)scalar_abs(x[g->rows[k] + c * n] - y[g->rows[k] + c * n]) <=
                            200 * EPS);
    }
    CUDA(cudaFree(bd.values));
    CUDA(cudaFree(zd.values));
    free(s);
    free(b);
}

static void grids(void **state)
{
    (void)state;
    const int64_t shape[][2] = {{12, 1}, {30, 2}, {130, 1}, {70, 5}};
    for (int k = 0; k < (small ? 3 : 4); k++)
        for (int is_quasi = 0; is_quasi < 2; is_quasi++) {
            random_stream r = random_seeded((uint64_t)k);
            parted_grid g = grid_with_set(shape[k][0], shape[k][1]);
            libsolver_factor *f[2] = {0};
            new_values(&g, &r, is_quasi);
            for (int q = 0; q < 2; q++) {
                libsolver_options o =
                    on_backend(q == 0 ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU,
                               is_quasi ? LIBSOLVER_KIND_QUASI_DEFINITE : LIBSOLVER_KIND_AUTO);
                o.expected_signs = is_quasi ? g.sign : NULL;
                o.schur_rows = g.rows;
                o.schur_size = g.size;
                assert_int_equal(libsolver_factor_matrix(&g.view, &o, &f[q]), LIBSOLVER_OK);
            }
            assert_int_equal(info_of(f[0]).backend_factorize, LIBSOLVER_BACKEND_GPU);
            assert_int_equal(positive_of(f[0]), positive_of(f[1]));
            compare(&g, f[0], f[1]);
            for (int on_device = 0; on_device < 2; on_device++) { /* new values */
                libsolver_matrix view = g.view;
                new_values(&g, &r, is_quasi);
                if (on_device) {
                    view.values = put(g.values, g.entries * (int64_t)sizeof(scalar));
                    view.pointers = view.indices = NULL;
                    view.place = LIBSOLVER_DEVICE;
                }
                assert_int_equal(libsolver_refactorize(f[0], &view), LIBSOLVER_OK);
                assert_int_equal(libsolver_refactorize(f[1], &g.view), LIBSOLVER_OK);
                compare(&g, f[0], f[1]);
                if (on_device) {
                    assert_int_equal(libsolver_refactorize_async(f[0], &view, NULL),
                                     LIBSOLVER_NOT_BUILT);
                    assert_non_null(strstr(libsolver_factor_message(f[0]), "wait"));
                    CUDA(cudaFree((void *)view.values));
                }
            }
            compare(&g, f[0], f[1]); /* as before the call that was refused */
            libsolver_factor_free(f[0]);
            libsolver_factor_free(f[1]);
            free_grid(&g);
        }
}

/* ---- What is not so -------------------------------------------------------------------------- */

/* A11 is not definite: Cholesky alone fails with a row of A11, otherwise the CPU makes L D L^T,
 * until values are definite again. */
static void indefinite_systems(void **state)
{
    (void)state;
    random_stream r = random_seeded(3);
    parted_grid g = grid_with_set(30, 1);
    const int64_t entry = g.a.pointers[77], entries = g.size * g.size;
    scalar *s = room(2 * entries, sizeof(scalar)), *cpu = s + entries;
    libsolver_factor *f[2] = {0};
    libsolver_options o = on_backend(LIBSOLVER_BACKEND_GPU, LIBSOLVER_KIND_SPD);
    o.schur_rows = g.rows;
    o.schur_size = g.size;
    new_values(&g, &r, 0);
    g.values[entry] = -8;
    assert_int_equal(libsolver_factor_matrix(&g.view, &o, &f[0]), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_int_equal(info_of(f[0]).failed_row, 77);
    libsolver_factor_free(f[0]);
    o.kind = LIBSOLVER_KIND_AUTO;
    g.values[entry] = 8;
    for (int q = 0; q < 2; q++) {
        o.backend = q == 0 ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
        assert_int_equal(libsolver_factor_matrix(&g.view, &o, &f[q]), LIBSOLVER_OK);
    }
    assert_int_equal(info_of(f[0]).backend_factorize, LIBSOLVER_BACKEND_GPU);
    g.values[entry] = -8;
    for (int q = 0; q < 2; q++) {
        assert_int_equal(libsolver_refactorize(f[q], &g.view), LIBSOLVER_OK);
        assert_int_equal(info_of(f[q]).backend_factorize, LIBSOLVER_BACKEND_CPU);
        assert_int_equal(positive_of(f[q]), g.n - g.size - 1);
        get_complement(f[q], g.size, 0, 0, LIBSOLVER_HOST, q == 0 ? s : cpu);
    }
    assert_int_equal(info_of(f[0]).cpu_reason, LIBSOLVER_CPU_LDLT);
    assert_true(difference(entries, s, cpu) <= 200 * EPS);
    libsolver_vectors there = dense_block(s, g.size, g.size);
    there.place = LIBSOLVER_DEVICE;
    assert_int_equal(libsolver_schur_complement(f[0], &there), LIBSOLVER_NOT_BUILT);
    g.values[entry] = 8;
    for (int k = 0; k < 3; k++)
        assert_int_equal(libsolver_refactorize(f[0], &g.view), LIBSOLVER_OK);
    assert_int_equal(libsolver_refactorize(f[1], &g.view), LIBSOLVER_OK);
    assert_int_equal(info_of(f[0]).backend_factorize, LIBSOLVER_BACKEND_GPU);
    compare(&g, f[0], f[1]);
    libsolver_factor_free(f[0]);
    libsolver_factor_free(f[1]);
    free(s);
    free_grid(&g);
}

int main(int argc, char **argv)
{
    if (!device_is_here(argc, argv, &small))
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complements_and_half_solves),
        cmocka_unit_test(the_complement_in_all_rows_is_the_matrix),
        cmocka_unit_test(grids),
        cmocka_unit_test(indefinite_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
