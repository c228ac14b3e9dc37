/* cli/certificate.c: how good a solution is, by code that shares nothing with the library
 * SPDX-License-Identifier: BSD-3-Clause */
#include "certificate.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static double made_entry(int32_t i)
{
    return 1 + 0.1 * (i % 7);
}

void made_solution(int32_t n, int64_t k, double *x)
{
    for (int64_t c = 0; c < k; c++, x += n)
        for (int32_t i = 0; i < n; i++)
            x[i] = made_entry(i);
}

double forward_error(int32_t n, int64_t k, const double *x)
{
    double error = 0, size = 0;
    for (int64_t c = 0; c < k; c++, x += n)
        for (int32_t i = 0; i < n; i++) {
            double difference = fabs(x[i] - made_entry(i));
            if (!(difference <= error)) /* a NaN stays */
                error = difference;
            size = fmax(size, made_entry(i));
        }
    return size > 0 ? error / size : 0;
}

/* Of one row of one column: r = b - A x, |A| |x|, and the row's sum |A| e. */
typedef struct row_sums {
    double residual, product, norm;
} row_sums;

static void add_entry(row_sums *row, double value, double x)
{
    row->residual -= value * x;
    row->product += fabs(value * x);
    row->norm += fabs(value);
}

static double column_error(const triplets *a, const double *b, const double *x, row_sums *rows)
{
    double x_norm = 0, omega[2] = {0, 0};
    for (int32_t i = 0; i < a->n; i++) {
        rows[i] = (row_sums){.residual = b[i]};
        if (!isfinite(x[i]))
            return NAN;
        x_norm = fmax(x_norm, fabs(x[i]));
    }
    for (int64_t p = 0; p < a->nnz; p++) {
        int32_t i = a->rows[p], j = a->columns[p];
        add_entry(&rows[i], a->values[p], x[j]);
        if (i != j)
            add_entry(&rows[j], a->values[p], x[i]);
    }
    for (int32_t i = 0; i < a->n; i++) {
        double first = rows[i].product + fabs(b[i]);
        double tau = 1000 * (double)a->n * DBL_EPSILON * (rows[i].norm * x_norm + fabs(b[i]));
        bool tiny = !(first > tau);
        double scale = tiny ? rows[i].product + rows[i].norm * x_norm : first;
        double error = rows[i].residual == 0 ? 0 : fabs(rows[i].residual) / scale;
        if (!(error <= omega[tiny]))
            omega[tiny] = error;
    }
    return omega[0] + omega[1];
}

double backward_error(const triplets *a, int64_t k, const double *b, const double *x)
{
    double largest = 0;
    row_sums *rows = malloc(((size_t)a->n + 1) * sizeof *rows);
    if (!rows)
        return NAN;
    for (int64_t c = 0; c < k; c++, b += a->n, x += a->n) {
        double error = column_error(a, b, x, rows);
        if (!(error <= largest))
            largest = error;
    }
    free(rows);
    return largest;
}
