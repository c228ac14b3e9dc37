/* cli/certificate.c: how good a solution is, by code that shares nothing with the library
 * SPDX-License-Identifier: BSD-3-Clause */
#include "certificate.h"
#include "room.h"
#include <float.h>
#include <math.h>

static double made_entry(int32_t i)
{
    return 1 + 0.1 * (i % 7);
}

void made_solution(int32_t n, int64_t k, int width, double *x)
{
    for (int64_t c = 0; c < k; c++)
        for (int32_t i = 0; i < n; i++, x += width) {
            x[width - 1] = 0;
            x[0] = made_entry(i);
        }
}

/* |a|, a number or a pair */
static double size_of(int width, const double *a)
{
    return width == 2 ? hypot(a[0], a[1]) : fabs(a[0]);
}

double forward_error(int32_t n, int64_t k, int width, const double *x)
{
    double error = 0, size = 0;
    for (int64_t c = 0; c < k; c++)
        for (int32_t i = 0; i < n; i++, x += width) {
            const double difference[] = {x[0] - made_entry(i), x[width - 1]};
            const double here = size_of(width, difference);
            if (!(here <= error)) /* a NaN stays */
                error = here;
            size = fmax(size, made_entry(i));
        }
    return size > 0 ? error / size : 0;
}

/* Of one row of one column: r = b - A x, |A| |x|, and the row's sum |A| e. */
typedef struct row_sums {
    double residual[2], product, norm;
} row_sums;

/* imaginary: that of value */
static void add_entry(row_sums *row, int width, const double *value, double imaginary,
                      const double *x)
{
    const double size = size_of(width, value);
    row->residual[0] -= value[0] * x[0];
    if (width == 2) {
        row->residual[0] += imaginary * x[1];
        row->residual[1] -= value[0] * x[1] + imaginary * x[0];
    }
    row->product += size * size_of(width, x);
    row->norm += size;
}

static void add_entries(const triplets *a, const double *x, row_sums *rows)
{
    const int width = triplets_width(a), mirror = triplets_are_hermitian(a) ? -1 : 1;
    for (int64_t p = 0; p < a->nnz; p++) {
        const int32_t i = a->rows[p], j = a->columns[p];
        const double *value = a->values + p * width, imaginary = width == 2 ? value[1] : 0;
        add_entry(&rows[i], width, value, imaginary, x + (int64_t)j * width);
        if (i != j)
            add_entry(&rows[j], width, value, mirror * imaginary, x + (int64_t)i * width);
    }
}

static double column_error(const triplets *a, const double *b, const double *x, row_sums *rows)
{
    const int width = triplets_width(a);
    const double eps = type_is_single(a->type) ? FLT_EPSILON : DBL_EPSILON;
    double x_norm = 0, omega[2] = {0, 0};
    for (int32_t i = 0; i < a->n; i++) {
        const double *right = b + (int64_t)i * width, size = size_of(width, x + (int64_t)i * width);
        rows[i] = (row_sums){.residual = {right[0], width == 2 ? right[1] : 0}};
        if (!isfinite(size))
            return NAN;
        x_norm = fmax(x_norm, size);
    }
    add_entries(a, x, rows);
    for (int32_t i = 0; i < a->n; i++) {
        const double right = size_of(width, b + (int64_t)i * width),
                     residual = size_of(width, rows[i].residual);
        const double first = rows[i].product + right;
        const double tau = 1000 * (double)a->n * eps * (rows[i].norm * x_norm + right);
        const bool tiny = !(first > tau);
        const double scale = tiny ? rows[i].product + rows[i].norm * x_norm : first;
        const double error = residual == 0 ? 0 : residual / scale;
        if (!(error <= omega[tiny]))
            omega[tiny] = error;
    }
    return omega[0] + omega[1];
}

bool backward_error(const triplets *a, int64_t k, const double *b, const double *x, double *largest)
{
    row_sums *rows = room_new((int64_t)a->n + 1, sizeof *rows);
    if (!rows)
        return false;
    const int64_t length = (int64_t)a->n * triplets_width(a);
    *largest = 0;
    for (int64_t c = 0; c < k; c++, b += length, x += length) {
        double error = column_error(a, b, x, rows);
        if (!(error <= *largest))
            *largest = error;
    }
    room_free(rows);
    return true;
}
