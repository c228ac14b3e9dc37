/* test/cli/test_mm_read.c: the Matrix Market reader on legal, illegal and damaged files
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lines.h"
#include "mm_read.h"
#include "random.h"
#include "room.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

static char path[64];

static void store_bytes(const char *bytes, size_t length)
{
    remove(path); /* some file systems wait for the disk when a file is cut and written again */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void store(const char *text)
{
    store_bytes(text, strlen(text));
}

/* The lower triangle as text, "i,j:value ...", 1-based. */
static void read_matrix_equals(const char *file_text, const char *expected)
{
    triplets a;
    failure f = {0};
    char shown[512] = "";
    store(file_text);
    if (mm_read_matrix(path, &a, NULL, &f))
        print_error("%s\n", f.text);
    assert_int_equal(f.code, 0);
    for (int64_t p = 0; p < a.nnz; p++) {
        const double *v = a.values + p * triplets_width(&a);
        size_t used = strlen(shown);
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%d,%d:%g", p ? " " : "",
                                 a.rows[p] + 1, a.columns[p] + 1, v[0]);
        if (a.type == LIBSOLVER_Z)
            snprintf(shown + used, sizeof shown - used, "%+gi", v[1]);
    }
    assert_string_equal(shown, expected);
    triplets_free(&a);
}

static void every_legal_header_is_read(void **state)
{
    (void)state;
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1.5e0\n",
        "1,1:4 2,1:-1.5");
    read_matrix_equals("%%MATRIXMARKET Matrix COORDINATE Integer Symmetric\n2 2 1\n2 2 7\n",
                       "2,2:7");
    read_matrix_equals("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n",
                       "1,1:1 2,1:1");
    read_matrix_equals("%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n1 1\n2 1\n",
                       "1,1:1 2,1:1");
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n2 1 5\n1 2 5\n",
        "1,1:3 2,1:5");
    read_matrix_equals("%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1 -2\n",
                       "1,1:1-2i");
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 2 3\n",
        "1,1:1+0i 2,1:2+3i");
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate complex general\n2 2 2\n2 1 2 3\n1 2 2 3\n", "2,1:2+3i");
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate complex general\n2 2 2\n2 1 2 3\n1 2 2 -3\n", "2,1:2+3i");
    read_matrix_equals("%%MatrixMarket matrix array real symmetric\n2 2\n1.3\n3.4\n7.7\n",
                       "1,1:1.3 2,1:3.4 2,2:7.7");
    read_matrix_equals("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n2\n",
                       "1,1:1 2,2:2");
    read_matrix_equals("%%MatrixMarket matrix array integer symmetric\n1 1\n-3\n", "1,1:-3");
    read_matrix_equals("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n",
                       "1,1:1+0i 2,1:2+3i 2,2:4+0i");
    read_matrix_equals("%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n", "");
    read_matrix_equals("%%MatrixMarket matrix array real general\n0 0\n", "");
}

static void symmetry_of_complex_general_files_is_found(void **state)
{
    (void)state;
    triplets a;
    failure f = {0};
    store("%%MatrixMarket matrix coordinate complex general\n2 2 2\n2 1 2 3\n1 2 2 -3\n");
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), 0);
    assert_int_equal(a.symmetry, LIBSOLVER_HERMITIAN);
    triplets_free(&a);
    store("%%MatrixMarket matrix coordinate complex general\n2 2 2\n2 1 2 3\n1 2 2 3\n");
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), 0);
    assert_int_equal(a.symmetry, LIBSOLVER_SYMMETRIC);
    triplets_free(&a);
}

static void comments_blanks_line_ends_and_order_do_not_matter(void **state)
{
    (void)state;
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate real symmetric\r\n% a comment\r\n\r\n  % another\r\n"
        " 2  2\t2 \r\n\r\n% inside\r\n 2 1\t 5  \r\n1 1 4\r\n   \r\n% behind",
        "1,1:4 2,1:5");
    read_matrix_equals(
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n3 3 1\n3 1 2\n1 1 3\n2 2 4",
        "1,1:3 3,1:2 2,2:4 3,3:1");
}

static void numbers_round_like_strtod_and_underflow_to_zero(void **state)
{
    (void)state;
    triplets a;
    failure f = {0};
    store("%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1e-400\n2 2 4.9e-324\n"
          "3 3 0.1\n4 4 +1.7976931348623157E308\n");
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), 0);
    assert_true(a.values[0] == 0 && a.values[1] == 4.9e-324);
    assert_true(a.values[2] == 0.1 && a.values[3] == 1.7976931348623157e308);
    triplets_free(&a);
}

static void duplicates_are_summed_and_counted(void **state)
{
    (void)state;
    triplets a;
    failure f = {0};
    int64_t duplicates;
    store("%%MatrixMarket matrix coordinate real symmetric\n2 2 5\n2 1 1\n1 1 2\n2 1 3\n2 2 1\n2 1 "
          "-1\n");
    assert_int_equal(mm_read_matrix(path, &a, &duplicates, &f), 0);
    assert_int_equal(duplicates, 2);
    assert_int_equal(a.nnz, 3);
    assert_true(a.values[0] == 2 && a.values[1] == 3 && a.values[2] == 1);
    triplets_free(&a);
    store("%%MatrixMarket matrix coordinate real general\n2 2 4\n2 1 1\n1 2 3\n2 1 2\n1 1 1\n");
    assert_int_equal(mm_read_matrix(path, &a, &duplicates, &f), 0);
    assert_int_equal(duplicates, 1);
    assert_int_equal(a.nnz, 2);
    assert_true(a.values[0] == 1 && a.values[1] == 3);
    triplets_free(&a);
}

#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

static const struct bad_file {
    const char *text;
    int line;
    const char *cause;
} bad_files[] = {
    {"", 1, "empty"},
    {"3 3 1\n", 1, "not a Matrix Market file"},
    {"%%MatrixMarketX matrix coordinate real general\n", 1, "not a Matrix Market file"},
    {"%%MatrixMarket\n", 1, "ends before its object"},
    {"%%MatrixMarket vector coordinate real general\n", 1, "object 'vector'"},
    {"%%MatrixMarket matrix junk real general\n", 1, "format 'junk'"},
    {"%%MatrixMarket matrix coordinate quaternion general\n", 1, "field 'quaternion'"},
    {"%%MatrixMarket matrix coordinate real lopsided\n", 1, "symmetry 'lopsided'"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n", 1, "skew-symmetric"},
    {"%%MatrixMarket matrix coordinate real symmetric extra\n", 1, "unexpected 'extra'"},
    {"%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n", 1, "must be complex"},
    {"%%MatrixMarket matrix array pattern general\n1 1\n", 1, "cannot be pattern"},
    {SYMMETRIC, 1, "ends before the line of sizes"},
    {SYMMETRIC "2 2\n", 2, "number of entries is missing"},
    {SYMMETRIC "2 2 1 1\n", 2, "unexpected '1'"},
    {SYMMETRIC "2 -2 1\n", 2, "'-2' is not a whole number"},
    {SYMMETRIC "2 2.0 1\n", 2, "'2.0' is not a whole number"},
    {SYMMETRIC "2 99999999999999999999 1\n", 2, "too large"},
    {SYMMETRIC "2 3 1\n", 2, "must be square"},
    {GENERAL "%\n2 3 1\n", 3, "not square"},
    {GENERAL "3000000000 3000000000 0\n", 2, "orders above"},
    {"%%MatrixMarket matrix array real general\n5000000000 5000000000\n", 2, "too large"},
    {SYMMETRIC "2 2 1\n0 1 1\n", 3, "row index 0 is outside 1..2"},
    {SYMMETRIC "2 2 1\n3 1 1\n", 3, "row index 3 is outside 1..2"},
    {SYMMETRIC "2 2 1\n2 3 1\n", 3, "column index 3"},
    {SYMMETRIC "2 2 1\n-1 1 1\n", 3, "'-1'"},
    {SYMMETRIC "2 2 1\n1.5 1 1\n", 3, "'1.5'"},
    {SYMMETRIC "2 2 1\n1\n", 3, "column index is missing"},
    {SYMMETRIC "2 2 1\n1 1\n", 3, "value is missing"},
    {SYMMETRIC "2 2 1\n1 1 x\n", 3, "'x' is not a number"},
    {SYMMETRIC "2 2 1\n1 1 1.0D+3\n", 3, "'1.0D+3' is not a number"},
    {SYMMETRIC "2 2 1\n1 1 0x1p3\n", 3, "'0x1p3' is not a number"},
    {SYMMETRIC "2 2 1\n1 1 1,5\n", 3, "'1,5' is not a number"},
    {SYMMETRIC "2 2 1\n1 1 nan\n", 3, "'nan' is not finite"},
    {SYMMETRIC "2 2 1\n1 1 -Inf\n", 3, "'-Inf' is not finite"},
    {SYMMETRIC "2 2 1\n1 1 1e400\n", 3, "'1e400' is not finite"},
    {SYMMETRIC "2 2 1\n1 1 1 2\n", 3, "unexpected '2'"},
    {SYMMETRIC "2 2 2\n1 1 1\n1 2 1\n", 4, "(1, 2) lies above the diagonal"},
    {SYMMETRIC "2 2 2\n1 1 1\n", 3, "ends after 1 of 2 entries"},
    {SYMMETRIC "2 2 1\n1 1 1\n\n2 2 1\n", 5, "more than the 1 entries"},
    {SYMMETRIC "2 2 1\n1 1 \033[31m\n", 3, "'?[31m'"},
    {"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1.5\n", 3, "not an integer"},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1 1\n", 3, "unexpected '1'"},
    {"%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 1\n", 3, "value is missing"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 1 1\n2 2 1 1\n", 4,
     "diagonal"},
    {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n", 4, "ends after 2 of 3"},
    {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n", 6, "more than the 3"},
    {GENERAL "3 3 4\n1 1 1\n2 1 5\n3 1 6\n1 2 5\n", 5, "not symmetric"},
    {GENERAL "2 2 2\n% c\n1 2 5\n2 1 5.0000000000000009\n", 4, "not symmetric"},
    {"%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 1 1\n2 1 2 1\n", 3,
     "neither symmetric"},
    {SYMMETRIC "2 2 3\n2 1 1e308\n1 1 1\n2 1 1e308\n", 5, "entries at (2, 1)"},
    {GENERAL "2 2 4\n2 1 -1e308\n1 2 -1e308\n2 1 -1e308\n1 2 -1e308\n%\n", 7, "entries at (2, 1)"},
};

static void illegal_files_are_refused_with_line_and_cause(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof bad_files / sizeof *bad_files; k++) {
        triplets a;
        failure f = {0};
        char place[96];
        store(bad_files[k].text);
        int code = mm_read_matrix(path, &a, NULL, &f);
        snprintf(place, sizeof place, "%s:%d: ", path, bad_files[k].line);
        if (code != EXIT_INPUT || strncmp(f.text, place, strlen(place)) ||
            !strstr(f.text, bad_files[k].cause) || strchr(f.text, '\n'))
            fail_msg("file %zu gave %d '%s', expected line %d and '%s'", k, code, f.text,
                     bad_files[k].line, bad_files[k].cause);
        triplets_free(&a);
    }
}

static void zero_bytes_long_lines_and_absent_files_are_refused(void **state)
{
    (void)state;
    triplets a;
    failure f = {0};
    static const char zero[] = SYMMETRIC "1 1 1\n1 1 1\0 2\n";
    store_bytes(zero, sizeof zero - 1);
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), EXIT_INPUT);
    assert_non_null(strstr(f.text, ":3: "));

    enum { BYTES = 10 * LINE_LIMIT };
    char *text = malloc(BYTES);
    assert_non_null(text);
    /* before the long line, which after four comments begins near the end of the reader's buffer */
    for (int comments = 0; comments < 6; comments++) {
        char expected[64];
        memset(text, '%', BYTES);
        memcpy(text, SYMMETRIC, strlen(SYMMETRIC));
        for (int k = 1; k <= comments; k++)
            text[k * LINE_LIMIT - 10] = '\n';
        store_bytes(text, BYTES);
        snprintf(expected, sizeof expected, ":%d: the line is longer", comments + 2);
        assert_int_equal(mm_read_matrix(path, &a, NULL, &f), EXIT_INPUT);
        assert_non_null(strstr(f.text, expected));
    }
    free(text);

    assert_int_equal(mm_read_matrix("no/such/file.mtx", &a, NULL, &f), EXIT_INPUT);
    assert_non_null(strstr(f.text, "no/such/file.mtx: No such file"));
    assert_int_equal(mm_read_matrix("/", &a, NULL, &f), EXIT_INPUT);
    assert_non_null(strstr(f.text, "directory"));
}

/* n entries on the diagonal, values 1..n */
static char *long_text(int n)
{
    const size_t room = 128 + (size_t)n * 32;
    char *text = malloc(room);
    assert_non_null(text);
    size_t at = (size_t)snprintf(text, room, "%s%d %d %d\n", SYMMETRIC, n, n, n);
    for (int i = 1; i <= n; i++)
        at += (size_t)snprintf(text + at, room - at, "%d %d %d\n", i, i, i);
    assert_true(at < room);
    return text;
}

static void gzip_files_are_read_and_their_damage_is_found(void **state)
{
    (void)state;
    const int n = 50000; /* several buffers */
    char *text = long_text(n);
    triplets a;
    failure f = {0};

    gzFile zipped = gzopen(path, "wb");
    assert_int_equal(gzwrite(zipped, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(zipped), Z_OK);
    free(text);
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), 0);
    assert_int_equal(a.nnz, n);
    for (int i = 0; i < n; i++)
        assert_true(a.rows[i] == i && a.columns[i] == i && a.values[i] == i + 1);
    triplets_free(&a);

    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);
    size_t length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    store_bytes((char *)bytes, length / 2);
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), EXIT_INPUT);
    assert_non_null(strstr(f.text, "cut off"));
    triplets_free(&a);

    for (size_t k = length / 3; k < length / 3 + 64; k++)
        bytes[k] ^= 0x55;
    f.code = 0;
    store_bytes((char *)bytes, length);
    assert_int_equal(mm_read_matrix(path, &a, NULL, &f), EXIT_INPUT);
    triplets_free(&a);
    free(bytes);
}

static void huge_claims_take_no_memory(void **state)
{
    (void)state;
    static const char *const claims[] = {
        SYMMETRIC "2 2 9000000000000000000\n1 1 1\n",
        "%%MatrixMarket matrix array real symmetric\n2000000000 2000000000\n1\n",
        ("%%MatrixMarket matrix coordinate complex general\n"
         "2000000000 2000000000 4000000000000\n1 1 1 0\n"),
    };
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    small.rlim_cur = 1 << 29;
#endif
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
        triplets a;
        failure f = {0};
        store(claims[k]);
        assert_int_equal(mm_read_matrix(path, &a, NULL, &f), EXIT_INPUT);
        assert_non_null(strstr(f.text, "the file ends after 1 of "));
        triplets_free(&a);
    }
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
}

static void right_hand_sides_are_read_dense_and_sparse(void **state)
{
    (void)state;
    double *b;
    int64_t columns;
    failure f = {0};
    store("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
    assert_int_equal(mm_read_vectors(path, 2, LIBSOLVER_D, &b, &columns, &f), 0);
    assert_int_equal(columns, 3);
    for (int i = 0; i < 6; i++)
        assert_true(b[i] == i + 1);
    room_free(b);
    store("%%MatrixMarket matrix coordinate integer general\n3 2 3\n2 2 5\n1 1 1\n2 2 1\n");
    assert_int_equal(mm_read_vectors(path, 3, LIBSOLVER_D, &b, &columns, &f), 0);
    assert_int_equal(columns, 2);
    const double expected[] = {1, 0, 0, 0, 6, 0};
    for (int i = 0; i < 6; i++)
        assert_true(b[i] == expected[i]);
    room_free(b);
    assert_int_equal(mm_read_vectors(path, 3, LIBSOLVER_Z, &b, &columns, &f), 0);
    assert_true(b[8] == 6 && b[9] == 0);
    room_free(b);
}

static void wrong_right_hand_sides_are_refused(void **state)
{
    (void)state;
    static const struct bad_file files[] = {
        {"%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n", 2,
         "3 rows, the matrix has order 2"},
        {"%%MatrixMarket matrix array real general\n2 0\n", 2, "no columns"},
        {"%%MatrixMarket matrix array complex general\n2 1\n1 0\n1 0\n", 2,
         "complex, the matrix is real"},
        {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", 2, "must be general"},
        {"%%MatrixMarket matrix array real general\n2 1\n1\nnan\n", 4, "not finite"},
        {"%%MatrixMarket matrix coordinate real general\n2 1 3\n2 1 1e308\n2 1 1e308\n1 1 1\n", 4,
         "those at (2, 1)"},
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        double *b;
        int64_t columns;
        failure f = {0};
        char place[96];
        store(files[k].text);
        int code = mm_read_vectors(path, 2, LIBSOLVER_D, &b, &columns, &f);
        snprintf(place, sizeof place, "%s:%d: ", path, files[k].line);
        if (code != EXIT_INPUT || b || strncmp(f.text, place, strlen(place)) ||
            !strstr(f.text, files[k].cause))
            fail_msg("file %zu gave %d '%s'", k, code, f.text);
    }
}

/* Any damage ends in a matrix or in one line that names the file. */
static void flipped_bytes_never_crash(void **state)
{
    (void)state;
    static const char *const originals[] = {
        SYMMETRIC "% c\n4 4 6\n1 1 4.0\n2 1 -1\n2 2 4e0\n3 3 4\n4 3 -1.5\n4 4 4\n",
        "%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 1 0\n2 1 2 3\n1 2 2 -3\n",
        "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
    };
    for (int k = 0; k < 3000; k++) {
        char text[256];
        random_stream r = random_seeded((uint64_t)k);
        const char *original = originals[k % 3];
        size_t length = strlen(original);
        memcpy(text, original, length);
        for (int flips = 1 + k % 4; flips > 0; flips--) {
            char *at = &text[random_below(&r, (int32_t)length)];
            *at = k % 2 ? (char)random_below(&r, 256) : "0123456789 .-e\n%"[random_below(&r, 16)];
        }
        triplets a;
        failure f = {0};
        store_bytes(text, length);
        mm_read_matrix(path, &a, NULL, &f);
        assert_true(f.code == 0 || f.code == EXIT_INPUT);
        assert_true(f.code == 0 || strncmp(f.text, path, strlen(path)) == 0);
        for (int64_t p = 0; f.code == 0 && p < a.nnz; p++)
            assert_true(a.columns[p] >= 0 && a.columns[p] <= a.rows[p] && a.rows[p] < a.n);
        triplets_free(&a);
    }
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legal_header_is_read),
        cmocka_unit_test(symmetry_of_complex_general_files_is_found),
        cmocka_unit_test(comments_blanks_line_ends_and_order_do_not_matter),
        cmocka_unit_test(numbers_round_like_strtod_and_underflow_to_zero),
        cmocka_unit_test(duplicates_are_summed_and_counted),
        cmocka_unit_test(illegal_files_are_refused_with_line_and_cause),
        cmocka_unit_test(zero_bytes_long_lines_and_absent_files_are_refused),
        cmocka_unit_test(gzip_files_are_read_and_their_damage_is_found),
        cmocka_unit_test(huge_claims_take_no_memory),
        cmocka_unit_test(right_hand_sides_are_read_dense_and_sparse),
        cmocka_unit_test(wrong_right_hand_sides_are_refused),
        cmocka_unit_test_teardown(flipped_bytes_never_crash, print_last_seed),
    };
    snprintf(path, sizeof path, "test_mm_read.%ld.mtx", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
