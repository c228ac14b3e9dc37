/* cli/mm_file.c: a Matrix Market file as a stream of entries
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mm_file.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* ---- header ---------------------------------------------------------------------------------- */

/* Position of the next token among the words (up to a NULL), -1 if it is none of them; letter case
 * is free.
 */
static int parse_word(lines *s, const char *const *words)
{
    if (lines_at_end(s))
        return -1;
    size_t length = strcspn(s->at, " \t\r\v\f");
    for (int k = 0; words[k]; k++)
        if (strlen(words[k]) == length && strncasecmp(s->at, words[k], length) == 0) {
            s->at += length;
            return k;
        }
    return -1;
}

static int wrong_word(lines *s, const char *what, const char *expected)
{
    if (lines_at_end(s))
        return lines_fail(s, "the header ends before its %s (%s)", what, expected);
    return lines_fail(s, "the header's %s '%s' is unknown (%s)", what, lines_token(s).text,
                      expected);
}

/* %%MatrixMarket matrix FORMAT FIELD SYMMETRY */
static int parse_banner(mm_file *m)
{
    static const char *const banner[] = {"%%MatrixMarket", NULL};
    static const char *const object[] = {"matrix", NULL};
    static const char *const format[] = {"coordinate", "array", NULL};
    static const char *const field[] = {"real", "integer", "complex", "pattern", NULL};
    static const char *const symmetry[] = {"general", "symmetric", "hermitian", "skew-symmetric",
                                           NULL};
    lines *s = &m->source;

    if (lines_next(s))
        return s->failure->code;
    if (!s->text)
        return lines_fail(s, "the file is empty");
    if (parse_word(s, banner) < 0)
        return lines_fail(
            s, "not a Matrix Market file: the first line must begin with %%%%MatrixMarket");
    if (parse_word(s, object) < 0)
        return wrong_word(s, "object", "matrix");
    int word = parse_word(s, format);
    if (word < 0)
        return wrong_word(s, "format", "coordinate or array");
    m->array = word == 1;
    word = parse_word(s, field);
    if (word < 0)
        return wrong_word(s, "field", "real, integer, complex or pattern");
    m->field = (mm_field)word;
    word = parse_word(s, symmetry);
    if (word < 0)
        return wrong_word(s, "symmetry", "general, symmetric or hermitian");
    if (word == 3)
        return lines_fail(
            s, "the matrix is skew-symmetric; only symmetric and Hermitian ones are solved");
    m->symmetry = (mm_symmetry)word;
    if (!lines_at_end(s))
        return lines_fail(s, "unexpected '%s' behind the header", lines_token(s).text);
    if (m->field == MM_PATTERN && m->array)
        return lines_fail(s, "an array has values, its field cannot be pattern");
    if (m->symmetry == MM_HERMITIAN && m->field != MM_COMPLEX)
        return lines_fail(s, "a hermitian file must be complex");
    return 0;
}

/* entries = rows columns or n (n + 1) / 2; false if that is past int64. */
static bool count_array_entries(mm_file *m)
{
    if (m->rows > 0 && m->columns > (INT64_MAX - 1) / m->rows - 1)
        return false;
    m->entries = m->symmetry == MM_GENERAL ? m->rows * m->columns : m->rows * (m->rows + 1) / 2;
    return true;
}

/* ROWS COLUMNS [ENTRIES] */
static int parse_sizes(mm_file *m)
{
    lines *s = &m->source;
    if (lines_next_data(s))
        return s->failure->code;
    if (!s->text)
        return lines_fail(s, "the file ends before the line of sizes");
    if (lines_parse_count(s, "number of rows", &m->rows) ||
        lines_parse_count(s, "number of columns", &m->columns) ||
        (!m->array && lines_parse_count(s, "number of entries", &m->entries)))
        return s->failure->code;
    if (!lines_at_end(s))
        return lines_fail(s, "unexpected '%s' behind the sizes", lines_token(s).text);
    if (m->symmetry != MM_GENERAL && m->rows != m->columns)
        return lines_fail(s, "a symmetric matrix must be square, this one is %lld x %lld",
                          (long long)m->rows, (long long)m->columns);
    if (m->array && !count_array_entries(m))
        return lines_fail(s, "%lld x %lld is too large", (long long)m->rows, (long long)m->columns);
    return 0;
}

int mm_file_open(mm_file *m, const char *path, failure *f)
{
    *m = (mm_file){.row = -1};
    if (lines_open(&m->source, path, f) || parse_banner(m) || parse_sizes(m))
        return f->code;
    return 0;
}

void mm_file_close(mm_file *m)
{
    lines_close(&m->source);
}

/* ---- entries --------------------------------------------------------------------------------- */

static int parse_index(mm_file *m, const char *what, int64_t count, int64_t *index)
{
    lines *s = &m->source;
    if (lines_parse_count(s, what, index))
        return s->failure->code;
    if (*index < 1 || *index > count)
        return lines_fail(s, "the %s %lld is outside 1..%lld", what, (long long)*index,
                          (long long)count);
    --*index;
    return 0;
}

static int parse_coordinates(mm_file *m)
{
    lines *s = &m->source;
    if (parse_index(m, "row index", m->rows, &m->row) ||
        parse_index(m, "column index", m->columns, &m->column))
        return s->failure->code;
    if (m->symmetry != MM_GENERAL && m->row < m->column)
        return lines_fail(s, "the entry (%lld, %lld) lies above the diagonal of a symmetric file",
                          (long long)m->row + 1, (long long)m->column + 1);
    return 0;
}

/* The next place of an array: down the column, then the next one from its top or from its
 * diagonal. */
static void step_in_array(mm_file *m)
{
    if (++m->row == m->rows) {
        m->column++;
        m->row = m->symmetry == MM_GENERAL ? 0 : m->column;
    }
}

static int parse_value(mm_file *m)
{
    lines *s = &m->source;
    m->value[0] = 1;
    m->value[1] = 0;
    if (m->field == MM_INTEGER && !lines_at_end(s)) {
        const char *digits = s->at + (*s->at == '-' || *s->at == '+');
        if (strspn(digits, "0123456789") != strcspn(digits, " \t\r\v\f"))
            return lines_fail(s, "'%s' is not an integer, which the header promises",
                              lines_token(s).text);
    }
    if (m->field != MM_PATTERN && lines_parse_real(s, &m->value[0]))
        return s->failure->code;
    if (m->field == MM_COMPLEX && lines_parse_real(s, &m->value[1]))
        return s->failure->code;
    if (!lines_at_end(s))
        return lines_fail(s, "unexpected '%s' behind the entry", lines_token(s).text);
    if (m->symmetry == MM_HERMITIAN && m->row == m->column && m->value[1] != 0)
        return lines_fail(s, "the diagonal of a Hermitian matrix is real, not %g%+gi", m->value[0],
                          m->value[1]);
    return 0;
}

int mm_file_next(mm_file *m)
{
    lines *s = &m->source;
    if (lines_next_data(s))
        return s->failure->code;
    if (!s->text) {
        m->ended = true;
        if (m->seen < m->entries)
            return lines_fail(s, "the file ends after %lld of %lld entries", (long long)m->seen,
                              (long long)m->entries);
        return 0;
    }
    if (m->seen == m->entries)
        return lines_fail(s, "more than the %lld entries announced", (long long)m->entries);
    if (m->array)
        step_in_array(m);
    else if (parse_coordinates(m))
        return s->failure->code;
    m->seen++;
    return parse_value(m);
}
