/* cli/mm_read.c: matrices and right-hand sides from Matrix Market files
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mm_read.h"
#include "mm_file.h"
#include "room.h"
#include <math.h>
#include <stdio.h>
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

/* How far a general matrix is from its transpose, conjugate or not. */
typedef struct mirror_fault {
    int64_t first_line;        /* the first place that differs in a line, 0: none does */
    int32_t row, column;       /* this place, 0-based, ... */
    double below[2], above[2]; /* ... what stands there and at its mirror image */
    double largest;            /* difference */
} mirror_fault;

static void note_fault(mirror_fault *fault, int32_t i, int32_t j, const mirror_pair *pair,
                       double difference)
{
    if (difference == 0)
        return;
    fault->largest = fmax(fault->largest, difference);
    if (fault->first_line != 0 && fault->first_line <= pair->first_line)
        return;
    fault->first_line = pair->first_line;
    fault->row = i;
    fault->column = j;
    memcpy(fault->below, pair->sum[0], sizeof fault->below);
    memcpy(fault->above, pair->sum[1], sizeof fault->above);
}

/* "3", or "3+2i" */
typedef struct value_text {
    char text[80];
} value_text;

static value_text show_value(const double *value, int width)
{
    value_text t;
    if (width == 2)
        snprintf(t.text, sizeof t.text, "%.17g%+.17gi", value[0], value[1]);
    else
        snprintf(t.text, sizeof t.text, "%.17g", value[0]);
    return t;
}

/* Differences up to so much of the largest entry are taken for errors of rounding and printing. */
#define SMALL_ASYMMETRY 1e-6

static int not_symmetric(mm_file *m, const mirror_fault *fault, double part, int width)
{
    m->source.number = fault->first_line;
    return lines_fail(&m->source,
                      "the matrix is %s: (%d, %d) is %s and (%d, %d) is %s; the largest difference "
                      "is %.1e of the largest entry%s",
                      width == 2 ? "neither symmetric nor Hermitian" : "not symmetric",
                      fault->row + 1, fault->column + 1, show_value(fault->below, width).text,
                      fault->column + 1, fault->row + 1, show_value(fault->above, width).text, part,
                      part <= SMALL_ASYMMETRY ? ", which --symmetrize takes the mean of" : "");
}

/* The mean of a pair of entries, conjugate or not, in place of the first. */
static void take_mean(double *below, const double *above, int32_t i, int32_t j, bool hermitian)
{
    const double sign = hermitian ? -1 : 1;
    if (i == j) { /* counted once */
        below[1] = hermitian ? 0 : below[1];
        return;
    }
    below[0] = 0.5 * below[0] + 0.5 * above[0];
    below[1] = 0.5 * below[1] + sign * 0.5 * above[1];
}

/* 0 for two infinite sums too, which are refused later. */
static double difference(double a, double b)
{
    return a == b ? 0 : a - b;
}

/* Differences of all pairs to the transpose [0] and to the conjugate transpose [1]; the largest
 * entry. */
static double compare_pairs(const raw_entries *raw, const int64_t *order, mirror_fault fault[2],
                            int64_t *duplicates)
{
    const triplets *a = raw->a;
    mirror_pair pair;
    double largest = 0;
    for (int64_t k = 0, next; k < a->nnz; k = next) {
        next = sum_pair(raw, order, k, &pair);
        const double *below = pair.sum[0], *above = pair.sum[1];
        const int32_t i = a->rows[order[k]], j = a->columns[order[k]];
        largest = fmax(largest, fmax(hypot(below[0], below[1]), hypot(above[0], above[1])));
        const double re = i == j ? 0 : difference(below[0], above[0]),
                     im = i == j ? 0 : difference(below[1], above[1]),
                     conjugate = i == j ? below[1] : difference(below[1], -above[1]);
        note_fault(&fault[0], i, j, &pair, hypot(re, im));
        note_fault(&fault[1], i, j, &pair, hypot(re, conjugate));
        for (int t = 0; t < 2; t++)
            *duplicates += pair.count[t] > 1 ? pair.count[t] - 1 : 0;
    }
    return largest;
}

/* Replaces the entries of a general matrix by its lower triangle if each equals its mirror image,
 * conjugate or not; symmetrize: by the mean of both where they are near.  *duplicates is counted.
 */
static int fold_general(mm_file *m, raw_entries *raw, bool symmetrize, int64_t *duplicates,
                        double *asymmetry)
{
    triplets *a = raw->a, lower = {.n = a->n, .type = a->type};
    failure *f = m->source.failure;
    int64_t *order = NULL;
    mirror_fault fault[2] = {{0}, {0}};
    mirror_pair pair;
    const int width = triplets_width(a);

    bool enough = triplets_sort(a, &order);
    const double largest = enough ? compare_pairs(raw, order, fault, duplicates) : 0;
    const bool hermitian = width == 2 && fault[1].largest <= fault[0].largest;
    const mirror_fault *least = &fault[hermitian];
    const double part = largest > 0 ? least->largest / largest : 0;
    const bool refused = least->first_line && !(symmetrize && part <= SMALL_ASYMMETRY);
    for (int64_t k = 0, next; enough && !refused && k < a->nnz; k = next) {
        next = sum_pair(raw, order, k, &pair);
        const int32_t i = a->rows[order[k]], j = a->columns[order[k]];
        if (least->first_line)
            take_mean(pair.sum[0], pair.sum[1], i, j, hermitian);
        enough = triplets_grow(&lower, a->nnz);
        if (enough)
            triplets_append(&lower, i, j, pair.sum[0]);
    }
    room_free(order);
    triplets_free(a);
    *a = lower;
    a->symmetry = hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    *asymmetry = part;
    if (!enough)
        return failure_memory(f, m->source.path);
    return refused ? not_symmetric(m, least, part, width) : 0;
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

static int read_matrix(const char *path, bool symmetrize, triplets *a, int64_t *repeats,
                       double *asymmetry, failure *f)
{
    mm_file m;
    raw_entries raw = {.a = a};
    *a = (triplets){0};
    *repeats = 0;
    *asymmetry = 0;

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
    a->is_pattern = m.field == MM_PATTERN;
    a->type = m.field == MM_COMPLEX ? LIBSOLVER_Z : LIBSOLVER_D;
    a->symmetry = m.symmetry == MM_HERMITIAN ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    if (read_entries(&m, &raw))
        goto done;
    if (m.symmetry == MM_GENERAL) {
        fold_general(&m, &raw, symmetrize, repeats, asymmetry);
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

int mm_read_matrix(const char *path, triplets *a, int64_t *duplicates, failure *f)
{
    int64_t uncounted;
    double asymmetry;
    return read_matrix(path, false, a, duplicates ? duplicates : &uncounted, &asymmetry, f);
}

int mm_read_symmetrized(const char *path, triplets *a, double *asymmetry, failure *f)
{
    int64_t duplicates;
    return read_matrix(path, true, a, &duplicates, asymmetry, f);
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
