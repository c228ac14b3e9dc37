/* gpu/refine/full_matrix.c: the pattern of A by rows, both triangles
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/refine/full_matrix.h"
#include "base/memory.h"
#include "base/message.h"
#include "ordering/ordering.h"
#include <string.h>

/* start[i + 1] := end of row i */
static void count_rows(const pattern *lower, int64_t *start)
{
    memset(start, 0, sizeof(int64_t) * ((size_t)lower->n + 1));
    for (int32_t j = 0; j < lower->n; j++)
        for (int64_t p = lower->start[j]; p < lower->start[j + 1]; p++) {
            start[lower->row[p] + 1]++;
            if (lower->row[p] != j)
                start[j + 1]++;
        }
    for (int32_t i = 0; i < lower->n; i++)
        start[i + 1] += start[i];
}

/* An entry at the end of a row, of which next[row] is the next place. */
static void append(full_matrix *a, int64_t *next, int32_t row, int32_t column, uint32_t source)
{
    a->column[next[row]] = column;
    a->source[next[row]++] = source;
}

/* Column by column every row gets its entries before the diagonal, then, with its own column, those
 * from it on: in both parts columns ascend. */
static void fill_rows(const pattern *lower, int hermitian, int64_t *next, full_matrix *a)
{
    for (int32_t j = 0; j < lower->n; j++)
        for (int64_t p = lower->start[j]; p < lower->start[j + 1]; p++) {
            const int32_t i = lower->row[p];
            append(a, next, i, j, (uint32_t)p << 1);
            if (i != j)
                append(a, next, j, i, (uint32_t)p << 1 | (hermitian != 0));
        }
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

libsolver_status full_matrix_build(memory *m, const pattern *lower, int hermitian, full_matrix *a)
{
    const int32_t n = lower->n;
    *a = (full_matrix){.n = n};
    a->start = memory_new(m, (int64_t)n + 1, sizeof(int64_t));
    int64_t *next = memory_new(m, n, sizeof(int64_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!a->start || !next)
        goto done;
    count_rows(lower, a->start);
    a->column = memory_new(m, a->start[n], sizeof(int32_t));
    a->source = memory_new(m, a->start[n], sizeof(uint32_t));
    if (!a->column || !a->source)
        goto done;
    memcpy(next, a->start, sizeof(int64_t) * (size_t)n);
    fill_rows(lower, hermitian, next, a);
    TRY_DONE(cut_rows(m, a));
    a->log_width = width_of_rows(a);
done:
    memory_free(m, next);
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
