/* cli/mm_read.c: matrices and right-hand sides from Matrix Market files
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mm_read.h"
#include "mm_file.h"
#include "room.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrices -------------------------------------------------------------------------------- */

/* The entries of a file, moved to the lower triangle.  line (general files only): where each stood,
 * negative if it stood above the diagonal. */
typedef struct raw_entries {
    triplets *a;
    int64_t *line;
    int64_t line_capacity;
} raw_entries;

static bool grow(raw_entries *raw, const mm_file *m)
{
    if (!triplets_grow(raw->a, m->entries))
        return false;
    if (m->symmetry != MM_GENERAL || raw->line_capacity == raw->a->capacity)
        return true;
    int64_t *moved = room_resize(raw->line, raw->a->capacity, sizeof *moved);
    if (!moved)
        return false;
    raw->line = moved;
    raw->line_capacity = raw->a->capacity;
    return true;
}

static int read_entries(mm_file *m, raw_entries *raw)
{
    failure *f = m->source.failure;
    while (!mm_file_next(m) && !m->ended) {
        if (m->array && m->value[0] == 0 && m->value[1] == 0)
            continue;
        if (!grow(raw, m))
            return failure_memory(f, m->source.path);
        bool above = m->row < m->column;
        if (raw->line)
            raw->line[raw->a->nnz] = above ? -m->source.number : m->source.number;
        triplets_append(raw->a, above ? m->column : m->row, above ? m->row : m->column, m->value);
    }
    return f->code;
}

/* Entries of one place (i, j), i >= j: the sums of those below and above the diagonal and how many
 * they are.
 */
typedef struct mirror_pair {
    double sum[2][2]; /* [above][real, imaginary] */
    int64_t count[2];
    int64_t first_line;
} mirror_pair;

/* Sums the group of equal places that starts at order[k]; returns where the next one starts. */
static int64_t sum_pair(const raw_entries *raw, const int64_t *order, int64_t k, mirror_pair *pair)
{
    const triplets *a = raw->a;
    const int64_t first = order[k];
    const int width = triplets_width(a);
    *pair = (mirror_pair){.first_line = llabs(raw->line[first])}; /* the sort is stable */
    for (; k < a->nnz; k++) {
        int64_t p = order[k];
        if (a->rows[p] != a->rows[first] || a->columns[p] != a->columns[first])
            break;
        int above = raw->line[p] < 0;
        for (int c = 0; c < width; c++)
            pair->sum[above][c] += a->values[p * width + c];
        pair->count[above]++;
    }
    return k;
}

static void note_first(int64_t *first, int64_t line)
{
    if (*first == 0 || line < *first)
        *first = line;
}

/* Replaces the entries of a general matrix by its lower triangle if each equals its mirror image,
 * conjugate or not.  *duplicates is counted. */
static int fold_general(mm_file *m, raw_entries *raw, int64_t *duplicates)
{
    triplets *a = raw->a, lower = {.n = a->n, .type = a->type};
    failure *f = m->source.failure;
    int64_t *order = NULL, not_symmetric = 0, not_hermitian = 0;
    mirror_pair pair;

    bool enough = triplets_sort(a, &order);
    for (int64_t k = 0, next; enough && k < a->nnz; k = next) {
        next = sum_pair(raw, order, k, &pair);
        const double *below = pair.sum[0], *above = pair.sum[1];
        int32_t i = a->rows[order[k]], j = a->columns[order[k]];
        if (i != j && (below[0] != above[0] || below[1] != above[1]))
            note_first(&not_symmetric, pair.first_line);
        if (i == j ? below[1] != 0 : below[0] != above[0] || below[1] != -above[1])
            note_first(&not_hermitian, pair.first_line);
        for (int t = 0; t < 2; t++)
            *duplicates += pair.count[t] > 1 ? pair.count[t] - 1 : 0;
        enough = triplets_grow(&lower, a->nnz);
        if (enough)
            triplets_append(&lower, i, j, below);
    }
    room_free(order);
    triplets_free(a);
    *a = lower;
    a->symmetry =
        a->type == LIBSOLVER_Z && !not_hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    if (!enough)
        return failure_memory(f, m->source.path);
    if (not_symmetric && not_hermitian) {
        m->source.number = not_symmetric;
        return lines_fail(&m->source, "the matrix is %s: this entry differs from its mirror image",
                          a->type == LIBSOLVER_Z ? "neither symmetric nor Hermitian"
                                                 : "not symmetric");
    }
    return 0;
}

/* Every entry is finite, sums of them need not be.  The line is the last one: the sum is of
 * several. */
static int check_sums(mm_file *m, const triplets *a)
{
    const int width = triplets_width(a);
    for (int64_t k = 0; k < a->nnz * width; k++)
        if (!isfinite(a->values[k]))
            return lines_fail(&m->source,
                              "the entries at (%d, %d), which are added, exceed the largest number",
                              a->rows[k / width] + 1, a->columns[k / width] + 1);
    return 0;
}

int mm_read_matrix(const char *path, triplets *a, int64_t *duplicates, failure *f)
{
    mm_file m;
    raw_entries raw = {.a = a};
    int64_t uncounted, *repeats = duplicates ? duplicates : &uncounted;
    *a = (triplets){0};
    *repeats = 0;

    if (mm_file_open(&m, path, f))
        goto done;
    if (m.rows != m.columns) {
        lines_fail(&m.source, "the matrix is %lld x %lld, not square", (long long)m.rows,
                   (long long)m.columns);
        goto done;
    }
    if (m.rows >= INT32_MAX) {
        lines_fail(&m.source, "orders above %d are not supported", INT32_MAX - 1);
        goto done;
    }
    a->n = (int32_t)m.rows;
    a->type = m.field == MM_COMPLEX ? LIBSOLVER_Z : LIBSOLVER_D;
    a->symmetry = m.symmetry == MM_HERMITIAN ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    if (read_entries(&m, &raw))
        goto done;
    if (m.symmetry == MM_GENERAL) {
        fold_general(&m, &raw, repeats);
    } else {
        *repeats = a->nnz;
        if (!triplets_compress(a))
            failure_memory(f, path);
        *repeats -= a->nnz;
    }
    if (!f->code && *repeats > 0)
        check_sums(&m, a);
done:
    room_free(raw.line);
    mm_file_close(&m);
    return f->code;
}

/* ---- right-hand sides ------------------------------------------------------------------------ */

/* *values holds `capacity` doubles; grows it to at least `wanted`, at most to `most`, and clears
 * what is new.
 */
static bool grow_dense(double **values, int64_t *capacity, int64_t wanted, int64_t most)
{
    if (wanted <= *capacity)
        return true;
    int64_t larger = wanted < most / 2 ? 2 * wanted : most;
    double *moved = room_resize(*values, larger, sizeof **values);
    if (!moved)
        return false;
    memset(moved + *capacity, 0, (size_t)(larger - *capacity) * sizeof **values);
    *values = moved;
    *capacity = larger;
    return true;
}

static int check_vectors(mm_file *m, int32_t n, libsolver_type type)
{
    lines *s = &m->source;
    if (m->rows != n)
        return lines_fail(s, "the right-hand side has %lld rows, the matrix has order %d",
                          (long long)m->rows, n);
    if (m->columns < 1)
        return lines_fail(s, "the right-hand side has no columns");
    if (m->columns > INT32_MAX)
        return lines_fail(s, "more than %d right-hand sides are not supported", INT32_MAX);
    if (m->symmetry != MM_GENERAL)
        return lines_fail(s, "a right-hand side must be general");
    if (m->field == MM_COMPLEX && type_width(type) == 1)
        return lines_fail(s, "the right-hand side is complex, the matrix is real");
    return 0;
}

int mm_read_vectors(const char *path, int32_t n, libsolver_type type, double **values,
                    int64_t *columns, failure *f)
{
    mm_file m;
    const int width = type_width(type);
    int64_t capacity = 0;
    *values = NULL;

    if (mm_file_open(&m, path, f) || check_vectors(&m, n, type))
        goto done;
    *columns = m.columns;
    const int64_t most = m.rows * m.columns * width; /* < 2^63 */
    while (!mm_file_next(&m) && !m.ended) {
        int64_t at = (m.column * n + m.row) * width;
        if (!grow_dense(values, &capacity, at + width, most)) {
            failure_memory(f, path);
            goto done;
        }
        for (int c = 0; c < width; c++)
            if (!isfinite((*values)[at + c] += m.value[c])) {
                lines_fail(&m.source,
                           "with this entry those at (%lld, %lld) exceed the largest number",
                           (long long)m.row + 1, (long long)m.column + 1);
                goto done;
            }
    }
    if (!f->code &&
        (!grow_dense(values, &capacity, most, most) || (most == 0 && !(*values = room_new(1, 1)))))
        failure_memory(f, path);
done:
    mm_file_close(&m);
    if (f->code) {
        room_free(*values);
        *values = NULL;
    }
    return f->code;
}
