/* test/sweeps/fuzz_reader.c: the Matrix Market reader on any bytes at all
 *
 * For each input, as it is, compressed, and compressed and then damaged:
 *   it is read, or refused with "FILE:LINE: cause" on one line of printable characters, the line
 *   within the file;
 *   memory stays below a multiple of the text; nothing is leaked; a failed allocation is
 *   EXIT_RESOURCES and nothing else;
 *   a matrix read has its entries in the lower triangle, in order, without duplicates, finite;
 *   written and read again it is the same to the last bit;
 *   compressed it gives the same matrix or the same refusal; damaged the same matrix or a refusal.
 * LLVMFuzzerTestOneInput is for clang's libFuzzer (test/jobs fuzz-reader).  Without -DLIBFUZZER
 * main changes the files of a folder and files made here at random:
 *   fuzz_reader FOLDER RUNS SEED
 * What breaks a promise is left in fuzz_reader.failed, beside where the program runs.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "failure.h"
#include "mm_file.h"
#include "mm_read.h"
#include "mm_write.h"
#include "random.h"
#include "room.h"
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- promises -------------------------------------------------------------------------------- */

static const uint8_t *input;
static size_t input_size;

static void remove_folder(void);

static void broken(const char *what, const char *detail)
{
#ifndef LIBFUZZER /* which keeps it itself */
    FILE *file = fopen("fuzz_reader.failed", "wb");
    if (file) {
        fwrite(input, 1, input_size, file);
        fclose(file);
    }
#endif
    fprintf(stderr, "fuzz_reader: %s: %s\n", what, detail);
    remove_folder();
    abort();
}

static void promise(bool kept, const char *what, const char *detail)
{
    if (!kept)
        broken(what, detail);
}

/* ---- what the reader calls: allocations are counted and fail at will (the linker's --wrap) --- */

static bool counting;
static int64_t live, peak, calls, failing; /* failing: the number of the call that fails, 0: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static bool refused(void)
{
    return counting && ++calls == failing;
}

static void *counted(void *block)
{
    if (counting && block) {
        live += (int64_t)malloc_usable_size(block);
        peak = live > peak ? live : peak;
    }
    return block;
}

static int64_t size_of(void *block)
{
    return counting && block ? (int64_t)malloc_usable_size(block) : 0;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (refused())
        return NULL;
    const int64_t before = size_of(block);
    void *moved = counted(__real_realloc(block, size)); /* both blocks may be there for a moment:
                                                           they count */
    live -= moved ? before : 0;
    return moved;
}

void __wrap_free(void *block)
{
    live -= size_of(block);
    __real_free(block);
}

/* Buffers of zlib that are full sooner than the reader's wish. */
int __wrap_gzbuffer(gzFile file, unsigned size);
int __real_gzbuffer(gzFile file, unsigned size);

int __wrap_gzbuffer(gzFile file, unsigned size)
{
    return __real_gzbuffer(file, size < 512 ? size : 512);
}

static void count_from_here(int64_t fail_at)
{
    counting = true;
    live = peak = calls = 0;
    failing = fail_at;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[64], path[96], packed_path[96], written_path[2][96];

static void remove_folder(void)
{
    unlink(path);
    unlink(packed_path);
    unlink(written_path[0]);
    unlink(written_path[1]);
    rmdir(folder);
}

static void make_folder(void)
{
    if (*folder)
        return;
    struct stat facts; /* in memory if there is such a place */
    snprintf(folder, sizeof folder, "%s/fuzz_reader.XXXXXX",
             stat("/dev/shm", &facts) ? "." : "/dev/shm");
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
    snprintf(path, sizeof path, "%s/a.mtx", folder);
    snprintf(packed_path, sizeof packed_path, "%s/b.mtx.gz", folder);
    snprintf(written_path[0], sizeof written_path[0], "%s/c.mtx", folder);
    snprintf(written_path[1], sizeof written_path[1], "%s/c.mtx.gz", folder);
    atexit(remove_folder);
}

static void store(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(name);
        exit(EXIT_FAILURE);
    }
}

/* data as gzip would have it; the caller frees it */
static uint8_t *pack(const uint8_t *data, size_t size, size_t *packed_size)
{
    z_stream s = {0};
    if (deflateInit2(&s, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        exit(EXIT_FAILURE);
    const size_t room = deflateBound(&s, (uLong)size) + 64;
    uint8_t *packed = malloc(room);
    if (!packed)
        exit(EXIT_FAILURE);
    s.next_in = (Bytef *)data;
    s.avail_in = (uInt)size;
    s.next_out = packed;
    s.avail_out = (uInt)room;
    promise(deflate(&s, Z_FINISH) == Z_STREAM_END, "deflate", "the input could not be compressed");
    *packed_size = room - s.avail_out;
    deflateEnd(&s);
    return packed;
}

/* ---- a matrix -------------------------------------------------------------------------------- */

/* "NAME:LINE: cause": returns LINE. */
static int64_t line_of_refusal(const char *name, const failure *f)
{
    const size_t length = strlen(name);
    promise(f->code == EXIT_INPUT, "not refused as wrong input", f->text);
    promise(strncmp(f->text, name, length) == 0 && f->text[length] == ':', "no file in the refusal",
            f->text);
    char *end;
    const long long line = strtoll(f->text + length + 1, &end, 10);
    promise(end > f->text + length + 1 && end[0] == ':' && end[1] == ' ' && strlen(end) > 8,
            "no line or cause", f->text);
    for (const char *c = f->text; *c; c++)
        promise(*c >= ' ' && *c < 127, "not one line of printable characters", f->text);
    return line;
}

static void check_matrix(const triplets *a)
{
    char place[96];
    promise(a->n >= 0 && a->nnz >= 0 && a->nnz <= a->capacity, "sizes",
            "negative, or more entries than room");
    for (int64_t p = 0; p < a->nnz; p++) {
        snprintf(place, sizeof place, "%d %d, entry %" PRId64 " of %" PRId64, a->rows[p],
                 a->columns[p], p, a->nnz);
        promise(0 <= a->columns[p] && a->columns[p] <= a->rows[p] && a->rows[p] < a->n,
                "outside the triangle", place);
        promise(p == 0 || a->columns[p - 1] < a->columns[p] ||
                    (a->columns[p - 1] == a->columns[p] && a->rows[p - 1] < a->rows[p]),
                "out of order, or twice", place);
        for (int c = 0; c < triplets_width(a); c++)
            promise(isfinite(a->values[p * triplets_width(a) + c]), "not finite", place);
        promise(!triplets_are_hermitian(a) || a->rows[p] != a->columns[p] ||
                    a->values[2 * p + 1] == 0,
                "a Hermitian matrix with a complex diagonal", place);
    }
}

static bool same(const triplets *a, const triplets *b)
{
    const size_t count = (size_t)a->nnz;
    return a->n == b->n && a->type == b->type && a->symmetry == b->symmetry && a->nnz == b->nnz &&
           (count == 0 || (memcmp(a->rows, b->rows, count * sizeof *a->rows) == 0 &&
                           memcmp(a->columns, b->columns, count * sizeof *a->columns) == 0 &&
                           memcmp(a->values, b->values,
                                  count * sizeof *a->values * (size_t)triplets_width(a)) == 0));
}

/* Reads name; text: bytes of the text in it.  Memory of the reader is checked, that of *a is the
 * caller's. */
static void read_checked(const char *name, size_t text, triplets *a, int64_t *duplicates,
                         failure *f)
{
    char shown[64];
    *f = (failure){0};
    count_from_here(0);
    mm_read_matrix(name, a, duplicates, f);
    counting = false;
    snprintf(shown, sizeof shown, "%" PRId64 " bytes for %zu of text", peak, text);
    promise(peak <= ((int64_t)1 << 20) + 64 * (int64_t)text, "memory", shown);
    if (!f->code)
        check_matrix(a);
}

static void check_written(const triplets *a)
{
    triplets again;
    failure f = {0};
    int64_t duplicates;
    const char *name = written_path[a->nnz % 2];
    promise(mm_write_matrix(name, a, a->n % 2 ? "a comment" : NULL, &f) == 0, "not written",
            f.text);
    read_checked(name, 256 + 80 * (size_t)a->nnz, &again, &duplicates, &f);
    promise(f.code == 0, "not read again", f.text);
    promise(same(a, &again) && duplicates == 0, "another matrix after writing and reading", "");
    triplets_free(&again);
}

/* The k-th allocation fails: that is said, and nothing is left. */
static void check_failing(const char *name, int64_t k, const failure *expected)
{
    triplets a;
    failure f = {0};
    count_from_here(k);
    mm_read_matrix(name, &a, NULL, &f);
    triplets_free(&a);
    const bool failed = calls >= failing;
    counting = false;
    failing = 0;
    promise(live == 0, "a leak", f.text);
    promise(failed ? f.code == EXIT_RESOURCES : f.code == expected->code,
            "a failed allocation was not told", f.text);
}

/* the same bytes compressed, and then with a bit of them the other way round */
static void check_packed(const uint8_t *data, size_t size, uint64_t hash, const triplets *a,
                         const failure *f)
{
    size_t packed_size;
    triplets other;
    failure g;
    int64_t duplicates;
    uint8_t *packed = pack(data, size, &packed_size);
    store(packed_path, packed, packed_size);
    read_checked(packed_path, size, &other, &duplicates, &g);
    promise(g.code == f->code, "compressed it is another result", g.code ? g.text : f->text);
    promise(f->code ? strcmp(f->text + strlen(path), g.text + strlen(packed_path)) == 0
                    : same(a, &other),
            "compressed it is another matrix or refusal", g.text);
    triplets_free(&other);

    packed[hash % packed_size] ^= (uint8_t)(1 << hash / packed_size % 8);
    store(packed_path, packed, packed_size);
    /* deflate's largest ratio */
    read_checked(packed_path, 1032 * (packed_size + size), &other, &duplicates, &g);
    if (g.code)
        line_of_refusal(packed_path, &g);
    else
        promise(f->code == 0 && same(a, &other), "a damaged archive was read", packed_path);
    triplets_free(&other);
    free(packed);
}

/* ---- right-hand sides ------------------------------------------------------------------------ */

/* Dense vectors of what a file claims are as large as it says: only small claims are read here. */
#define MOST_VALUES (1 << 16)

static void check_vectors(size_t text, bool complex_matrix)
{
    mm_file m;
    failure f = {0};
    double *b;
    int64_t columns = -1;
    const int32_t order =
        mm_file_open(&m, path, &f) == 0 && m.rows < MOST_VALUES ? (int32_t)m.rows : 3;
    const bool large = f.code == 0 && m.rows > 0 && m.columns > MOST_VALUES / m.rows;
    mm_file_close(&m);
    if (large)
        return;
    const libsolver_type type = complex_matrix ? LIBSOLVER_Z : LIBSOLVER_D;
    char shown[64];
    f = (failure){0};
    count_from_here(0);
    mm_read_vectors(path, order, type, &b, &columns, &f);
    counting = false;
    snprintf(shown, sizeof shown, "%" PRId64 " bytes for %zu of text", peak, text);
    promise(peak <= ((int64_t)4 << 20) + 64 * (int64_t)text, "memory of vectors", shown);
    if (f.code) {
        line_of_refusal(path, &f);
        promise(b == NULL, "vectors with a refusal", f.text);
        return;
    }
    const int width = type_width(type);
    promise(columns >= 1, "no columns", "");
    for (int64_t k = 0; k < order * columns * width; k++)
        promise(isfinite(b[k]), "a right-hand side that is not finite", "");
    double *again;
    int64_t columns_again;
    promise(mm_write_vectors(written_path[0], order, columns, width, b, &f) == 0,
            "vectors not written", f.text);
    promise(mm_read_vectors(written_path[0], order, type, &again, &columns_again, &f) == 0,
            "vectors not read again", f.text);
    promise(columns == columns_again &&
                memcmp(b, again, sizeof *b * (size_t)(order * columns * width)) == 0,
            "other vectors after writing and reading", "");
    room_free(again);
    room_free(b);
}

/* ---- one input ------------------------------------------------------------------------------- */

static int64_t accepted, rejected;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_size = size;
    make_folder();
    uint64_t hash = size;
    int64_t line_count = 1;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ data[k]) * UINT64_C(0x100000001b3) + (hash >> 29);
        line_count += data[k] == '\n';
    }
    store(path, data, size);
    const bool archive = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    triplets a;
    failure f;
    int64_t duplicates;
    read_checked(path, archive ? 1032 * size : size, &a, &duplicates, &f);
    promise(duplicates >= 0 && (archive || f.code || a.nnz + duplicates <= line_count), "entries",
            "more than the file has lines");
    if (f.code) {
        const int64_t line = line_of_refusal(path, &f);
        promise(line >= 1 && (archive || line <= line_count), "no such line", f.text);
        rejected++;
    } else {
        check_written(&a);
        accepted++;
    }
    switch ((hash >> 16) % 8) { /* not all of it each time: runs are many */
    case 0:
    case 1:
        check_failing(path, 1 + (int64_t)(hash >> 8) % 16, &f);
        break;
    case 2:
    case 3:
        check_vectors(archive ? 1032 * size : size, hash >> 63);
        break;
    case 4:
        if (!archive)
            check_packed(data, size, hash >> 20, &a, &f);
    }
    triplets_free(&a);
    return 0;
}

/* ---- inputs made at random ------------------------------------------------------------------- */

#ifndef LIBFUZZER

#define MOST_FILES 32
#define MOST_BYTES 8192

typedef struct text {
    uint8_t bytes[2 * MOST_BYTES];
    size_t size;
} text;

static text originals[MOST_FILES];
static int32_t original_count;

static void read_originals(const char *name)
{
    DIR *files = opendir(name);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        char file_name[512];
        snprintf(file_name, sizeof file_name, "%s/%s", name, entry->d_name);
        FILE *file = strstr(entry->d_name, ".mtx") && original_count < MOST_FILES
                         ? fopen(file_name, "rb")
                         : NULL;
        if (!file)
            continue;
        text *t = &originals[original_count++];
        t->size = fread(t->bytes, 1, MOST_BYTES, file);
        fclose(file);
    }
    if (files)
        closedir(files);
    if (original_count == 0) {
        fprintf(stderr, "fuzz_reader: no .mtx file in %s\n", name);
        exit(EXIT_FAILURE);
    }
}

static const char *const extremes[] = {"0",
                                       "1",
                                       "-1",
                                       "2147483646",
                                       "2147483647",
                                       "2147483648",
                                       "4294967297",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "3037000500",
                                       "99999999999999999999999",
                                       "1e400",
                                       "1e308",
                                       "1.7976931348623157e308",
                                       "-1e-400",
                                       "4.9e-324",
                                       "nan",
                                       "inf",
                                       "1.5",
                                       "0x10",
                                       "1d3",
                                       "+",
                                       "--1",
                                       "1e",
                                       ".",
                                       "%",
                                       "\t",
                                       "\r",
                                       "\v",
                                       "\n",
                                       "\n\n",
                                       "1 1",
                                       "general",
                                       "symmetric",
                                       "hermitian",
                                       "complex",
                                       "pattern",
                                       "integer",
                                       "array",
                                       "coordinate"};

#define PICK(r, list) ((list)[random_below(r, (int32_t)(sizeof(list) / sizeof *(list)))])

static void append(text *t, const char *word)
{
    const size_t length = strlen(word);
    if (t->size + length > MOST_BYTES)
        return;
    memcpy(t->bytes + t->size, word, length);
    t->size += length;
}

/* A file of any header, mostly with the number of entries that it announces. */
static void make_file(random_stream *r, text *t)
{
    static const char *const formats[] = {"coordinate", "coordinate", "array"};
    static const char *const fields[] = {"real", "integer", "complex", "pattern"};
    static const char *const symmetries[] = {"general", "symmetric", "hermitian"};
    static const char *const values[] = {"1", "2", "-3", "0", "4.5", "-1e-3", "1e308", "-0"};
    const char *format = PICK(r, formats), *field = PICK(r, fields),
               *symmetry = PICK(r, symmetries);
    const int32_t n = random_below(r, 6), mirrored = *symmetry == 'g' && random_below(r, 4) ? 1 : 0;
    const int32_t whole = *symmetry == 'g' ? n * n : n * (n + 1) / 2;
    const int32_t entries = *format == 'a' ? whole : n ? random_below(r, 12) : 0;
    char line[192];
    t->size = 0;
    snprintf(line, sizeof line, "%%%%MatrixMarket matrix %s %s %s\n%s", format, field, symmetry,
             random_below(r, 3) ? "" : "% c\n");
    append(t, line);
    snprintf(line, sizeof line, *format == 'a' ? "%d %d\n" : "%d %d %d\n", n, n,
             mirrored ? 2 * entries : entries);
    append(t, line);
    for (int32_t k = 0; k < entries; k++) {
        char value[64] = "";
        int32_t i = 1 + random_below(r, n), j = 1 + random_below(r, n);
        if (*field != 'p')
            snprintf(value, sizeof value, *field == 'c' ? " %s %s" : " %s", PICK(r, values),
                     PICK(r, values));
        if (*format == 'a') {
            snprintf(line, sizeof line, "%s\n", value);
        } else if (mirrored) {
            snprintf(line, sizeof line, "%d %d%s\n%d %d%s\n", i, j, value, j, i, value);
        } else {
            snprintf(line, sizeof line, "%d %d%s\n", i > j ? i : j, i > j ? j : i, value);
        }
        append(t, line);
    }
}

/* bytes [from, end) of t become word */
static void replace(text *t, size_t from, size_t end, const uint8_t *word, size_t length)
{
    if (t->size - (end - from) + length > MOST_BYTES)
        return;
    memmove(t->bytes + from + length, t->bytes + end, t->size - end);
    memcpy(t->bytes + from, word, length);
    t->size += length - (end - from);
}

/* The token, or the line, around a random place. */
static void range_of(random_stream *r, const text *t, bool line, size_t *from, size_t *end)
{
    *from = *end = t->size ? (size_t)random_below(r, (int32_t)t->size) : 0;
    while (*from > 0 && t->bytes[*from - 1] != '\n' && (line || t->bytes[*from - 1] != ' '))
        --*from;
    while (*end < t->size && t->bytes[*end] != '\n' && (line || t->bytes[*end] != ' '))
        ++*end;
    *end += line && *end < t->size;
}

static void mutate(random_stream *r, text *t)
{
    uint8_t copied[MOST_BYTES + 1];
    size_t from, end, a, b;
    const char *word = PICK(r, extremes);
    switch (random_below(r, 7)) {
    case 0: /* a byte */
        if (t->size)
            t->bytes[random_below(r, (int32_t)t->size)] = (uint8_t)random_below(r, 256);
        break;
    case 1: /* a token */
    case 2:
        range_of(r, t, false, &from, &end);
        replace(t, from, end, (const uint8_t *)word, strlen(word));
        break;
    case 3: /* a line less */
        range_of(r, t, true, &from, &end);
        replace(t, from, end, (const uint8_t *)"", 0);
        break;
    case 4: /* a line of it elsewhere */
    case 5: /* a token of it elsewhere */
        range_of(r, t, random_below(r, 2), &a, &b);
        memcpy(copied, t->bytes + a, b - a);
        range_of(r, t, random_below(r, 2), &from, &end);
        replace(t, from, random_below(r, 2) ? from : end, copied, b - a);
        break;
    default: /* cut off */
        t->size = t->size ? (size_t)random_below(r, (int32_t)t->size) : 0;
    }
}

int main(int count, char **arguments)
{
    static text t;
    if (count != 4) {
        fprintf(stderr, "usage: fuzz_reader FOLDER RUNS SEED\n");
        return EXIT_USAGE;
    }
    read_originals(arguments[1]);
    const int64_t runs = strtoll(arguments[2], NULL, 10), seed = strtoll(arguments[3], NULL, 10);
    for (int64_t k = 0; k < runs; k++) {
        random_stream r = random_seeded((uint64_t)(seed * INT64_C(1000000007) + k));
        if (random_below(&r, 3) == 0)
            t = originals[random_below(&r, original_count)];
        else
            make_file(&r, &t);
        for (int32_t changes = random_below(&r, 4); changes > 0; changes--)
            mutate(&r, &t);
        LLVMFuzzerTestOneInput(t.bytes, t.size);
    }
    printf("fuzz_reader: %" PRId64 " files of seed %" PRId64 ", %" PRId64 " read, %" PRId64
           " refused, no promise broken\n",
           runs, seed, accepted, rejected);
    return accepted < runs / 20 || rejected < runs / 20; /* of both kinds enough */
}

#endif
