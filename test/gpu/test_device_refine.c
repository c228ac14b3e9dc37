/* test/gpu/test_device_refine.c: solves that are refined and measured on a device, of one precision
 * (-DPREC_x), beside the CPU's
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: test_device_refine [small]      small: sizes and repeats for compute-sanitizer */
#include "refine_fixture.h"

static double relative(double from, double to)
{
    return fabs(from - to) / fmax(fabs(to), EPS);
}

/* Refines a perturbed x, on the device if asked, beside the CPU. */
static void check_refine(const system_ *s, libsolver_factor *gpu, libsolver_factor *cpu,
                         random_stream *r, int64_t columns, int kind, uint64_t seed)
{
    libsolver_vectors b =
        block_new(s->n, columns, kind & 1 ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR,
                  kind & 4 ? 3 : 0);
    libsolver_vectors x =
        block_new(s->n, columns, kind & 2 ? LIBSOLVER_ROW_MAJOR : LIBSOLVER_COLUMN_MAJOR,
                  kind & 8 ? 1 : 0);
    libsolver_vectors y = block_new(s->n, columns, x.layout,
                                    x.layout == LIBSOLVER_ROW_MAJOR ? x.ld - columns : x.ld - s->n);
    double *errors = calloc((size_t)columns, sizeof *errors),
           *other = calloc((size_t)columns, sizeof *other);
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
        fail_msg("seed %d: initial error %g, on the CPU %g", (int)seed, info.backward_error_initial,
                 of_cpu.backward_error_initial);
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
        libsolver_options on = options_for(LIBSOLVER_BACKEND_GPU);
        const libsolver_options off = options_for(LIBSOLVER_BACKEND_CPU);
        on.purpose = (seed / 2 ^ seed / 16) % 2 ? LIBSOLVER_PURPOSE_FEW : LIBSOLVER_PURPOSE_DEFAULT;
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

/* One front of several blocks of pivots, solved with in every way. */
static void full_systems_are_solved(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (small ? 6 : 36); seed++) {
        random_stream r = random_seeded(500 + seed);
        const int64_t columns = 1 + random_below(&r, 3);
        system_ s = full_system(&r, small ? 70 : 40 + random_below(&r, 300), seed / 3 % 2,
                                SCALAR_COMPLEX && seed / 6 % 2);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        o.purpose = (libsolver_purpose)(seed % 3);
        libsolver_factor *f = factor_of(&s, &o, LIBSOLVER_OK);
        libsolver_vectors b = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 1),
                          x = block_new(s.n, columns, LIBSOLVER_ROW_MAJOR, 0);
        fill(&r, &b);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &b, &x), LIBSOLVER_OK);
        for (int64_t j = 0; j < columns; j++) {
            const double error = backward_error(&s, &x, &b, j);
            if (!(error <= 100 * (double)s.n * EPS))
                fail_msg("seed %d, n %d: backward error %g", (int)seed, s.n, error);
        }
        libsolver_factor_free(f);
        free(b.values);
        free(x.values);
        system_free(&s);
    }
}

/* Solves with pivots so small that they need steps; x in b's place; new values; the same bits from
 * host and device. */
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
            libsolver_vectors b = block_new(s.n, columns, (libsolver_layout)(seed / 2 % 2), again),
                              x = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
            libsolver_solve_info info;
            fill(&r, &b);
            const libsolver_status status = libsolver_solve(f, &b, &x);
            libsolver_solve_query(f, NULL, &info);
            steps += info.steps;
            double worst = 0;
            for (int64_t j = 0; j < columns; j++)
                worst = fmax(worst, backward_error(&s, &x, &b, j));
            check_error(info.backward_error, worst, seed);
            assert_int_equal(status, info.backward_error <= TOLERANCE ? LIBSOLVER_OK
                                                                      : LIBSOLVER_INACCURATE);
            assert_int_equal(status, LIBSOLVER_OK);
            libsolver_vectors db = to_device(&b), dx = to_device(&x),
                              y = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
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
            libsolver_vectors b = block_new(s.n, 3, LIBSOLVER_COLUMN_MAJOR, 1),
                              x = block_new(s.n, 3, LIBSOLVER_ROW_MAJOR, 2);
            libsolver_solve_info info;
            fill(&r, &b);
            fill(&r, &x);
            libsolver_vectors db = to_device(&b), dx = to_device(&x);
            for (int on_device = 0; on_device < 2; on_device++) {
                const libsolver_status status =
                    on_device ? libsolver_solve(f, &db, &dx) : libsolver_solve(f, &b, &x);
                assert_int_equal(status, LIBSOLVER_INACCURATE);
                libsolver_solve_query(f, NULL, &info);
                if (on_device)
                    from_device(&dx, &x);
                assert_true(info.steps >= 2 && info.backward_error <= 4 * EPS &&
                            info.backward_error <= info.backward_error_initial);
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
        const int neighbours =
            (j % side > 0) + (j % side < side - 1) + (j >= side) + (j < n - side);
        s.start[j + 1] = s.start[j];
        put(&s, j, j, (scalar)neighbours);
        if (j % side < side - 1)
            put(&s, j, j + 1, -1);
        if (j < n - side)
            put(&s, j, j + side, -1);
    }
    for (int consistent = 0; consistent < 2; consistent++) {
        libsolver_vectors b = block_new(n, 2, LIBSOLVER_COLUMN_MAJOR, 0),
                          x = block_new(n, 2, LIBSOLVER_COLUMN_MAJOR, 0);
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

static void the_same_bits_fifty_times(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        random_stream r = random_seeded(400 + (uint64_t)kind);
        const int64_t columns = kind == DOMINANT ? 1 : 6;
        system_ s = random_system(&r, kind, small ? 8 : 50, 0);
        libsolver_options o = options_for(LIBSOLVER_BACKEND_GPU);
        libsolver_factor *f = factor_of(&s, &o, LIBSOLVER_OK);
        libsolver_vectors b = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0),
                          x = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
        libsolver_vectors first = block_new(s.n, columns, LIBSOLVER_COLUMN_MAJOR, 0);
        double errors[6], first_errors[6];
        fill(&r, &b);
        for (int run = 0; run < (small ? 5 : 50); run++) {
            const libsolver_vectors *to = run ? &x : &first;
            random_stream again = random_seeded(5);
            fill(&again, to);
            assert_int_equal(libsolver_refine(f, NULL, &b, to, run ? errors : first_errors),
                             LIBSOLVER_OK);
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

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_systems_are_solved),
        cmocka_unit_test(refined_as_on_the_cpu),
        cmocka_unit_test(solves_are_refined),
        cmocka_unit_test(what_stalls_goes_on_on_the_host),
        cmocka_unit_test(singular_systems),
        cmocka_unit_test(the_same_bits_fifty_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    return refine_main(argc, argv, run);
}
