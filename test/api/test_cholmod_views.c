/* test/api/test_cholmod_views.c: the adapter header: what CHOLMOD makes is seen rightly or refused
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "libsolver.h"
#include "libsolver_cholmod.h"
#include <math.h>

/* A = [ 4 -1 0; -1 4 -1; 0 -1 4 ], all nine entries; which of them are stored depends on stype. */
static const double a_values[3][3] = {{4, -1, 0}, {-1, 4, -1}, {0, -1, 4}};

static int is_stored(int row, int column, int stype)
{
    return a_values[row][column] != 0 &&
           (stype == 0 || (stype < 0 && row >= column) || (stype > 0 && row <= column));
}

/* A with int (itype CHOLMOD_INT) or long indices, rows of each column descending, so unsorted. */
static cholmod_sparse *matrix(int stype, int itype, int packed, cholmod_common *c)
{
    const int is_int = itype == CHOLMOD_INT;
    cholmod_sparse *A =
        is_int ? cholmod_allocate_sparse(3, 3, 12, 0, packed, stype, CHOLMOD_REAL, c)
               : cholmod_l_allocate_sparse(3, 3, 12, 0, packed, stype, CHOLMOD_REAL, c);
    int64_t next = 0;
    for (int j = 0; j <= 3; j++) {
        if (!packed)
            next = 4 * (j < 3 ? j : 2) + (j == 3); /* columns with gaps between them */
        is_int ? (((int32_t *)A->p)[j] = (int32_t)next) : (((int64_t *)A->p)[j] = next);
        const int64_t start = next;
        for (int i = 2; i >= 0 && j < 3; i--)
            if (is_stored(i, j, stype)) {
                is_int ? (((int32_t *)A->i)[next] = i) : (((int64_t *)A->i)[next] = i);
                ((double *)A->x)[next++] = a_values[i][j];
            }
        if (!packed && j < 3)
            is_int ? (((int32_t *)A->nz)[j] = (int32_t)(next - start))
                   : (((int64_t *)A->nz)[j] = next - start);
    }
    return A;
}

/* Solves with b = (2, 4, 10), whose solution is (1, 2, 3), in the second column of blocks with a
 * gap behind their columns. */
static void expect_123(const libsolver_matrix *a, cholmod_common *c)
{
    cholmod_dense *B = cholmod_allocate_dense(3, 2, 5, CHOLMOD_REAL, c);
    cholmod_dense *X = cholmod_allocate_dense(3, 2, 4, CHOLMOD_REAL, c);
    const double b_values[] = {0, 0, 0, NAN, NAN, 2, 4, 10, NAN, NAN};
    for (int k = 0; k < 10; k++)
        ((double *)B->x)[k] = b_values[k];
    ((double *)X->x)[3] = ((double *)X->x)[7] = -7;
    libsolver_vectors b, x;
    assert_int_equal(libsolver_cholmod_vectors(B, &b), LIBSOLVER_OK);
    assert_int_equal(libsolver_cholmod_vectors(X, &x), LIBSOLVER_OK);
    libsolver_factor *f = NULL;
    const libsolver_status factorized = libsolver_factor_matrix(a, NULL, &f);
    if (factorized != LIBSOLVER_OK)
        print_error("%s\n", libsolver_factor_message(f));
    assert_int_equal(factorized, LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(f, &b, &x), LIBSOLVER_OK);
    const double expected[] = {0, 0, 0, -7, 1, 2, 3, -7};
    for (int k = 0; k < 8; k++)
        assert_true(fabs(((double *)X->x)[k] - expected[k]) < 1e-14);
    libsolver_factor_free(f);
    cholmod_free_dense(&B, c);
    cholmod_free_dense(&X, c);
}

static void every_stype_and_itype_solves(void **state)
{
    cholmod_common *c = *state, of_long;
    assert_true(cholmod_l_start(&of_long));
    for (int stype = -1; stype <= 1; stype++)
        for (int is_long = 0; is_long <= 1; is_long++) {
            cholmod_sparse *A = is_long ? matrix(stype, CHOLMOD_LONG, 1, &of_long)
                                        : matrix(stype, CHOLMOD_INT, 1, c);
            libsolver_matrix a;
            assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
            assert_int_equal(a.n, 3);
            assert_ptr_equal(a.values, A->x);
            assert_ptr_equal(a.indices, A->i);
            assert_int_equal(a.storage, stype < 0   ? LIBSOLVER_LOWER_OF_FULL
                                        : stype > 0 ? LIBSOLVER_UPPER_OF_FULL
                                                    : LIBSOLVER_FULL);
            expect_123(&a, c);
            is_long ? cholmod_l_free_sparse(&A, &of_long) : cholmod_free_sparse(&A, c);
        }
    assert_int_equal(of_long.malloc_count, 0);
    cholmod_l_finish(&of_long);
}

static void unpacked_is_refused_and_packed_by_sort(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(-1, CHOLMOD_INT, 0, c);
    libsolver_matrix a;
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_INVALID);
    assert_null(a.pointers);
    assert_true(cholmod_sort(A, c));
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
    expect_123(&a, c);
    cholmod_free_sparse(&A, c);
}

static void the_other_triangle_is_ignored(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(0, CHOLMOD_INT, 1, c);
    for (int stype = -1; stype <= 1; stype += 2) {
        libsolver_matrix a;
        A->stype = stype;
        /* what CHOLMOD does not read, on the other side of the diagonal */
        ((double *)A->x)[stype > 0 ? 0 : 4] = NAN;
        assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
        expect_123(&a, c);
        ((double *)A->x)[stype > 0 ? 0 : 4] = -1;
    }
    cholmod_free_sparse(&A, c);
}

static void unsymmetric_stype_0_is_refused_by_the_library(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(0, CHOLMOD_INT, 1, c);
    ((double *)A->x)[0] = -1.5; /* (1, 0), 0-based; (0, 1) is -1 */
    libsolver_matrix a;
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
    assert_int_equal(libsolver_factor_matrix(&a, NULL, &f), LIBSOLVER_INVALID);
    libsolver_factor_free(f);
    cholmod_free_sparse(&A, c);
}

static void pattern_can_be_analysed_but_not_factorized(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(-1, CHOLMOD_INT, 1, c);
    assert_true(cholmod_sparse_xtype(CHOLMOD_PATTERN, A, c));
    libsolver_matrix a;
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
    assert_null(a.values);
    libsolver_context *context = NULL;
    libsolver_analysis *analysis = NULL;
    libsolver_factor *f = NULL;
    assert_int_equal(libsolver_context_create(NULL, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &a, NULL, &analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(analysis, &a, &f), LIBSOLVER_INVALID);
    const double values[] = {-1, 4, -1, 4, 4}; /* rows descend in a column */
    a.values = values;
    assert_int_equal(libsolver_factorize(analysis, &a, &f), LIBSOLVER_OK);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    cholmod_free_sparse(&A, c);
}

static void types_follow_xtype_and_dtype(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(-1, CHOLMOD_INT, 1, c);
    cholmod_dense *X = cholmod_zeros(3, 2, CHOLMOD_REAL, c);
    libsolver_matrix a;
    libsolver_vectors x;
    const struct {
        int xtype, dtype, stype;
        libsolver_type type;
        libsolver_symmetry symmetry;
    } cases[] = {
        {CHOLMOD_REAL, CHOLMOD_DOUBLE, -1, LIBSOLVER_D, LIBSOLVER_SYMMETRIC},
        {CHOLMOD_REAL, CHOLMOD_SINGLE, -1, LIBSOLVER_S, LIBSOLVER_SYMMETRIC},
        {CHOLMOD_COMPLEX, CHOLMOD_DOUBLE, -1, LIBSOLVER_Z, LIBSOLVER_HERMITIAN},
        {CHOLMOD_COMPLEX, CHOLMOD_SINGLE, 1, LIBSOLVER_C, LIBSOLVER_HERMITIAN},
        {CHOLMOD_COMPLEX, CHOLMOD_DOUBLE, 0, LIBSOLVER_Z, LIBSOLVER_SYMMETRIC},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        A->xtype = X->xtype = cases[k].xtype; /* only looked at, not used: the arrays may be too
                                                 short */
        A->dtype = X->dtype = cases[k].dtype;
        A->stype = cases[k].stype;
        assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
        assert_int_equal(a.type, cases[k].type);
        assert_int_equal(a.symmetry, cases[k].symmetry);
        assert_int_equal(libsolver_cholmod_vectors(X, &x), LIBSOLVER_OK);
        assert_int_equal(x.type, cases[k].type);
    }
    A->xtype = X->xtype = CHOLMOD_REAL;
    A->dtype = X->dtype = CHOLMOD_DOUBLE;
    cholmod_free_sparse(&A, c);
    cholmod_free_dense(&X, c);
}

/* Sets a field of A to a value that cannot be served, looks that it is refused, and sets it
 * back. */
#define REFUSED(object, view, function, field, value) \
    do { \
        const __typeof__((object)->field) before = (object)->field; \
        (object)->field = value; \
        assert_int_equal(function(object, &view), LIBSOLVER_INVALID); \
        (object)->field = before; \
        assert_int_equal(function(object, &view), LIBSOLVER_OK); \
    } while (0)

static void what_is_no_view_of_a_matrix_is_refused(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = matrix(-1, CHOLMOD_INT, 1, c);
    libsolver_matrix a;
    assert_int_equal(libsolver_cholmod_matrix(NULL, &a), LIBSOLVER_INVALID);
    REFUSED(A, a, libsolver_cholmod_matrix, nrow, 4);
    REFUSED(A, a, libsolver_cholmod_matrix, p, NULL);
    REFUSED(A, a, libsolver_cholmod_matrix, i, NULL);
    REFUSED(A, a, libsolver_cholmod_matrix, x, NULL);
    REFUSED(A, a, libsolver_cholmod_matrix, packed, 0);
    REFUSED(A, a, libsolver_cholmod_matrix, nzmax, 4);
    REFUSED(A, a, libsolver_cholmod_matrix, xtype, CHOLMOD_ZOMPLEX);
    REFUSED(A, a, libsolver_cholmod_matrix, dtype, 99);
    REFUSED(A, a, libsolver_cholmod_matrix, itype, 99);
    ((int32_t *)A->p)[3] = -1;
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_INVALID);
    ((int32_t *)A->p)[3] = 5;
    cholmod_free_sparse(&A, c);
}

static void what_is_no_view_of_vectors_is_refused(void **state)
{
    cholmod_common *c = *state;
    cholmod_dense *X = cholmod_zeros(3, 2, CHOLMOD_REAL, c);
    libsolver_vectors x;
    assert_int_equal(libsolver_cholmod_vectors(NULL, &x), LIBSOLVER_INVALID);
    REFUSED(X, x, libsolver_cholmod_vectors, x, NULL);
    REFUSED(X, x, libsolver_cholmod_vectors, d, 2);
    REFUSED(X, x, libsolver_cholmod_vectors, nzmax, 5);
    REFUSED(X, x, libsolver_cholmod_vectors, xtype, CHOLMOD_ZOMPLEX);
    REFUSED(X, x, libsolver_cholmod_vectors, xtype, CHOLMOD_PATTERN);
    REFUSED(X, x, libsolver_cholmod_vectors, dtype, 99);
    cholmod_free_dense(&X, c);
}

static void empty_objects_are_views_too(void **state)
{
    cholmod_common *c = *state;
    cholmod_sparse *A = cholmod_spzeros(0, 0, 0, CHOLMOD_REAL, c);
    cholmod_dense *X = cholmod_zeros(0, 0, CHOLMOD_REAL, c);
    libsolver_matrix a;
    libsolver_vectors x;
    assert_int_equal(libsolver_cholmod_matrix(A, &a), LIBSOLVER_OK);
    assert_int_equal(a.n, 0);
    assert_int_equal(libsolver_cholmod_vectors(X, &x), LIBSOLVER_OK);
    cholmod_free_sparse(&A, c);
    cholmod_free_dense(&X, c);
}

static int start(void **state)
{
    static cholmod_common c;
    *state = &c;
    return cholmod_start(&c) ? 0 : -1;
}

/* Everything was freed, so nothing is owned by a view. */
static int finish(void **state)
{
    cholmod_common *c = *state;
    cholmod_free_work(c);
    const int leaked = c->malloc_count != 0;
    cholmod_finish(c);
    return -leaked;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stype_and_itype_solves),
        cmocka_unit_test(unpacked_is_refused_and_packed_by_sort),
        cmocka_unit_test(the_other_triangle_is_ignored),
        cmocka_unit_test(unsymmetric_stype_0_is_refused_by_the_library),
        cmocka_unit_test(pattern_can_be_analysed_but_not_factorized),
        cmocka_unit_test(types_follow_xtype_and_dtype),
        cmocka_unit_test(what_is_no_view_of_a_matrix_is_refused),
        cmocka_unit_test(what_is_no_view_of_vectors_is_refused),
        cmocka_unit_test(empty_objects_are_views_too),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
