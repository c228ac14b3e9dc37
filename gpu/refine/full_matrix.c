/* gpu/refine/full_matrix.c: the pattern of A by rows, both triangles
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/refine/full_matrix.h"
#include "base/memory.h"
#include "base/message.h"
#include "ordering/ordering.h"
#include <string.h>

/* start[i + 1] := end of row i */
static void count_rows(const pattern *lower, const int32_t *row_of, int64_t *start)
{
    memset(start, 0, sizeof(int64_t) * ((size_t)lower->n + 1));
    for (int32_t j = 0; j < lower->n; j++)
        for (int64_t p = lower->start[j]; p < lower->start[j + 1]; p++) {
            start[row_of[lower->row[p]] + 1]++;
            if (lower->row[p] != j)
                start[row_of[j] + 1]++;
        }
    for (int32_t i = 0; i < lower->n; i++)
        start[i + 1] += start[i];
}

/* An entry at the end of row `row`, of which next[row] is the next place. */
static void append(int32_t *column, uint32_t *source, int64_t *next, int32_t row, int32_t at,
                   uint32_t from)
{
    column[next[row]] = at;
    source[next[row]++] = from;
}

/* The rows in the order in which the triangle has their entries. */
static void fill_rows(const pattern *lower, const int32_t *row_of, int hermitian, int64_t *next,
                      int32_t *column, uint32_t *source)
{
    for (int32_t j = 0; j < lower->n; j++)
        for (int64_t p = lower->start[j]; p < lower->start[j + 1]; p++) {
            const int32_t row = row_of[lower->row[p]], other = row_of[j];
            append(column, source, next, row, other, (uint32_t)p << 1);
            if (row != other)
                append(column, source, next, other, row, (uint32_t)p << 1 | (hermitian != 0));
        }
}

/* The same with ascending columns: entry (i, j) of row i is taken as the mirror image of (j, i), by
 * ascending j. */
static void sort_rows(const full_matrix *a, int hermitian, int64_t *next, const int32_t *column,
                      const uint32_t *source)
{
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            append(a->column, a->source, next, column[p], j,
                   column[p] == j ? source[p] : source[p] ^ (hermitian != 0));
}

/* Cuts long rows. */
static libsolver_status cut_rows(memory *m, full_matrix *a)
{
    int64_t segments = 0;
    for (int32_t i = 0; i < a->n; i++) {
        const int64_t count = a->start[i + 1] - a->start[i];
        segments += count > ROW_SEGMENT ? (count + ROW_SEGMENT - 1) / ROW_SEGMENT : 0;
    }
    a->segment = memory_new(m, segments, sizeof(row_segment));
    if (!a->segment)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t i = 0; i < a->n; i++) {
        const int64_t end = a->start[i + 1], count = end - a->start[i];
        const int32_t first = a->segments, of = a->long_rows;
        if (count <= ROW_SEGMENT)
            continue;
        a->long_rows++;
        for (int64_t from = a->start[i]; from < end; from += ROW_SEGMENT)
            a->segment[a->segments++] =
                (row_segment){.from = from,
                              .to = from + ROW_SEGMENT < end ? from + ROW_SEGMENT : end,
                              .row = i,
                              .of = of,
                              .first = first,
                              .count = (int32_t)((count + ROW_SEGMENT - 1) / ROW_SEGMENT)};
    }
    return LIBSOLVER_OK;
}

/* A lane has about two entries of a mean short row. */
static int32_t width_of_rows(const full_matrix *a)
{
    int64_t entries = a->start[a->n];
    for (int32_t q = 0; q < a->segments; q++)
        entries -= a->segment[q].to - a->segment[q].from;
    const int64_t rows = a->n - a->long_rows;
    int32_t log_width = 1;
    while (log_width < 5 && (rows << (log_width + 1)) < entries)
        log_width++;
    return log_width;
}

libsolver_status full_matrix_build(memory *m, const pattern *lower, const int32_t *row_of,
                                   int hermitian, full_matrix *a)
{
    const int32_t n = lower->n;
    *a = (full_matrix){.n = n};
    a->start = memory_new(m, (int64_t)n + 1, sizeof(int64_t));
    int64_t *next = memory_new(m, n, sizeof(int64_t));
    int32_t *column = NULL;
    uint32_t *source = NULL;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!a->start || !next)
        goto done;
    count_rows(lower, row_of, a->start);
    column = memory_new(m, a->start[n], sizeof(int32_t));
    source = memory_new(m, a->start[n], sizeof(uint32_t));
    a->column = memory_new(m, a->start[n], sizeof(int32_t));
    a->source = memory_new(m, a->start[n], sizeof(uint32_t));
    if (!column || !source || !a->column || !a->source)
        goto done;
    memcpy(next, a->start, sizeof(int64_t) * (size_t)n);
    fill_rows(lower, row_of, hermitian, next, column, source);
    memcpy(next, a->start, sizeof(int64_t) * (size_t)n);
    sort_rows(a, hermitian, next, column, source);
    TRY_DONE(cut_rows(m, a));
    a->log_width = width_of_rows(a);
done:
    memory_free(m, next);
    memory_free(m, column);
    memory_free(m, source);
    if (status != LIBSOLVER_OK)
        full_matrix_free(m, a);
    return status;
}

void full_matrix_free(memory *m, full_matrix *a)
{
    memory_free(m, a->start);
    memory_free(m, a->column);
    memory_free(m, a->source);
    memory_free(m, a->segment);
    *a = (full_matrix){0};
}
