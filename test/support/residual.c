/* test/support/residual.c: the backward error of a solution, from the files alone
 * SPDX-License-Identifier: BSD-3-Clause */
#include "residual.h"
#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A file as a list of its entries, 0-based, the mirror images of a symmetric or Hermitian file
 * added. */
typedef struct entries {
    long rows, columns, count;
    long *row, *column;
    double _Complex *value;
} entries;

enum { GENERAL, SYMMETRIC, HERMITIAN };

static int next_line(gzFile file, char *line, int size)
{
    do
        if (!gzgets(file, line, size))
            return 0;
    while (line[0] == '%' || line[strspn(line, " \t\r\n")] == '\0');
    return 1;
}

static void add(entries *e, long row, long column, double _Complex value)
{
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

static int read_body(gzFile file, entries *e, long count, int array, int pattern,
                     int complex_values, int symmetry)
{
    char line[1024], *at;
    long row = -1, column = 0;
    for (long k = 0; k < count; k++) {
        if (!next_line(file, line, sizeof line))
            return 0;
        at = line;
        if (!array) {
            row = strtol(at, &at, 10) - 1;
            column = strtol(at, &at, 10) - 1;
        } else if (++row == e->rows) {
            column++;
            row = symmetry != GENERAL ? column : 0;
        }
        if (row < 0 || row >= e->rows || column < 0 || column >= e->columns)
            return 0;
        double _Complex value = pattern ? 1 : strtod(at, &at);
        if (complex_values)
            value += strtod(at, &at) * _Complex_I;
        add(e, row, column, value);
        if (symmetry != GENERAL && row != column)
            add(e, column, row, symmetry == HERMITIAN ? conj(value) : value);
    }
    return 1;
}

static int read_file(const char *path, entries *e)
{
    char line[1024];
    gzFile file = gzopen(path, "rb");
    int read = 0;
    *e = (entries){0};
    if (file && gzgets(file, line, sizeof line)) {
        for (char *p = line; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        const int array = strstr(line, " array") != NULL,
                  pattern = strstr(line, " pattern") != NULL;
        const int complex_values = strstr(line, " complex") != NULL;
        const int symmetry = strstr(line, " symmetric")   ? SYMMETRIC
                             : strstr(line, " hermitian") ? HERMITIAN
                                                          : GENERAL;
        long count = 0;
        if (!strstr(line, " skew") && next_line(file, line, sizeof line) &&
            sscanf(line, "%ld %ld %ld", &e->rows, &e->columns, &count) == 3 - array) {
            if (array)
                count = symmetry != GENERAL ? e->rows * (e->rows + 1) / 2 : e->rows * e->columns;
            size_t room = (size_t)(symmetry != GENERAL ? 2 * count : count) + 1;
            e->row = malloc(room * sizeof *e->row);
            e->column = malloc(room * sizeof *e->column);
            e->value = malloc(room * sizeof *e->value);
            read = e->row && e->column && e->value &&
                   read_body(file, e, count, array, pattern, complex_values, symmetry);
        }
    }
    if (file)
        gzclose_r(file);
    return read;
}

static void free_entries(entries *e)
{
    free(e->row);
    free(e->column);
    free(e->value);
}

/* What row i of one column adds up to. */
typedef struct sums {
    long double _Complex made, residual; /* (A x*)(i), (b - A x)(i) */
    long double product, norm;           /* (|A||x|)(i), (|A| e)(i) */
} sums;

static double column_error(const entries *a, const double _Complex *x, const double _Complex *b,
                           double eps, sums *s)
{
    const long n = a->rows;
    double x_norm = 0, omega1 = 0, omega2 = 0;
    memset(s, 0, (size_t)n * sizeof *s);
    for (long p = 0; p < a->count; p++) {
        sums *row = &s[a->row[p]];
        const long double _Complex value = a->value[p];
        row->made += value * (1 + 0.1 * (double)(a->column[p] % 7));
        row->residual -= value * x[a->column[p]];
        row->product += cabsl(value * x[a->column[p]]);
        row->norm += cabsl(value);
    }
    for (long i = 0; i < n; i++)
        x_norm = fmax(x_norm, cabs(x[i]));
    for (long i = 0; i < n; i++) {
        const double _Complex right = b ? b[i] : (double _Complex)s[i].made;
        const double r = (double)cabsl(s[i].residual + right),
                     bound = (double)(s[i].product + cabs(right));
        const double norms = (double)s[i].norm * x_norm;
        if (!isfinite(cabs(x[i])) || !isfinite(r))
            return NAN;
        if (r == 0)
            continue;
        if (bound > 1000 * (double)n * eps * (norms + cabs(right)))
            omega1 = fmax(omega1, r / bound);
        else
            omega2 = fmax(omega2, r / ((double)s[i].product + norms));
    }
    return omega1 + omega2;
}

/* Column-major values of a dense file; NULL if it has a row count other than `rows`. */
static double _Complex *dense(const entries *e, long rows)
{
    double _Complex *values =
        e->rows == rows ? calloc((size_t)(e->rows * e->columns) + 1, sizeof *values) : NULL;
    for (long p = 0; values && p < e->count; p++)
        values[e->row[p] + e->column[p] * rows] += e->value[p];
    return values;
}

double residual_backward_error(const char *a_path, const char *x_path, const char *b_path,
                               double eps)
{
    entries a = {0}, x_entries = {0}, b_entries = {0};
    double _Complex *x = NULL, *b = NULL;
    double worst = NAN;
    sums *s = NULL;
    if (!read_file(a_path, &a) || !read_file(x_path, &x_entries) ||
        (b_path && !read_file(b_path, &b_entries)))
        goto done;
    x = dense(&x_entries, a.rows);
    b = b_path ? dense(&b_entries, a.rows) : NULL;
    s = malloc(((size_t)a.rows + 1) * sizeof *s);
    if (!x || !s || (b_path && (!b || b_entries.columns != x_entries.columns)))
        goto done;
    worst = 0;
    for (long c = 0; c < x_entries.columns; c++) {
        double error = column_error(&a, x + c * a.rows, b ? b + c * a.rows : NULL, eps, s);
        if (!(error <= worst))
            worst = error;
    }
done:
    free_entries(&a);
    free_entries(&x_entries);
    free_entries(&b_entries);
    free(x);
    free(b);
    free(s);
    return worst;
}
