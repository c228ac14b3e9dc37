/* test/support/systems.c: sparse systems with known answers, and checks that share nothing with the
 * library
 * SPDX-License-Identifier: BSD-3-Clause */
#include "systems.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *room(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    if (!block)
        abort();
    return block;
}

double *doubles(int64_t count)
{
    return room(count, sizeof(double));
}

static sparse sparse_new(int64_t n, int64_t entries)
{
    return (sparse){n, room(n + 1, sizeof(int64_t)), room(entries, sizeof(int64_t)),
                    doubles(entries)};
}

void sparse_free(sparse *a)
{
    free(a->pointers);
    free(a->indices);
    free(a->values);
}

sparse sparse_of_dense(int64_t n, const double *a)
{
    sparse s = sparse_new(n, n * (n + 1) / 2);
    int64_t next = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = j; i < n; i++)
            if (a[i + j * n] != 0) {
                s.indices[next] = i;
                s.values[next++] = a[i + j * n];
            }
        s.pointers[j + 1] = next;
    }
    return s;
}

sparse sparse_with_eigenvalues(int64_t n, const double *values)
{
    long double sum = 0;
    double *a = doubles(n * n);
    for (int64_t k = 0; k < n; k++)
        sum += values[k];
    for (int64_t j = 0; j < n; j++) /* Q e_k = e_k - (2/n) 1 */
        for (int64_t i = 0; i < n; i++) {
            const long double d = i == j ? values[i] : 0, two = 2.0L / (long double)n;
            a[i + j * n] = (double)(d - two * (values[i] + values[j]) + two * two * sum);
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++)
            a[i + j * n] = a[j + i * n];
    sparse s = sparse_of_dense(n, a);
    free(a);
    return s;
}

sparse sparse_box(int64_t x, int64_t y, int64_t z, double diagonal)
{
    sparse s = sparse_new(x * y * z, 4 * x * y * z);
    int64_t next = 0;
    for (int64_t j = 0; j < s.n; j++) {
        const int64_t rows[] = {j, j % x < x - 1 ? j + 1 : -1, j / x % y < y - 1 ? j + x : -1,
                                j / x / y < z - 1 ? j + x * y : -1};
        for (int k = 0; k < 4; k++)
            if (rows[k] >= 0) {
                s.indices[next] = rows[k];
                s.values[next++] = k == 0 ? diagonal : -1;
            }
        s.pointers[j + 1] = next;
    }
    return s;
}

sparse sparse_grid(int64_t x, int64_t y, double diagonal)
{
    return sparse_box(x, y, 1, diagonal);
}

sparse sparse_saddle(random_stream *r, int64_t n, int64_t m)
{
    sparse s = sparse_new(n + m, n + n * 4);
    int64_t next = 0;
    for (int64_t j = 0; j < n; j++) {
        s.indices[next] = j;
        s.values[next++] = pow(10, 4 * random_real(r));
        const int64_t other = random_below(r, 3) == 0 && m > 0 ? random_below(r, (int32_t)m) : -1;
        const int64_t own = j < m ? j : -1;
        for (int64_t i = 0; i < 2; i++) {
            const int64_t row = (own < other) == (i == 0) ? own : other; /* ascending */
            if (row < 0 || (i == 1 && own == other))
                continue;
            s.indices[next] = n + row;
            s.values[next++] = row == own ? 1 : 0.5 * random_real(r);
        }
        s.pointers[j + 1] = next;
    }
    for (int64_t j = n; j < n + m; j++)
        s.pointers[j + 1] = next;
    return s;
}

sparse sparse_delaying(int64_t side)
{
    sparse grid = sparse_grid(side, side, 4);
    const int64_t n = grid.n;
    sparse s = sparse_new(2 * n, 3 * n + grid.pointers[n]);
    int64_t next = 0;
    for (int64_t j = 0; j < n; j++) {
        s.indices[next] = j;
        s.values[next++] = 1e-13;
        s.indices[next] = n + j;
        s.values[next++] = 1 + 0.1 * (double)(j % 3);
        if (j + 1 < n) {
            s.indices[next] = n + j + 1;
            s.values[next++] = 0.3;
        }
        s.pointers[j + 1] = next;
    }
    for (int64_t j = 0; j < n; j++) {
        for (int64_t p = grid.pointers[j]; p < grid.pointers[j + 1]; p++) {
            s.indices[next] = n + grid.indices[p];
            s.values[next++] = grid.values[p];
        }
        s.pointers[n + j + 1] = next;
    }
    sparse_free(&grid);
    return s;
}

sparse sparse_random(random_stream *r, int64_t n, double density)
{
    double *a = doubles(n * n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            if (random_real(r) < 2 * density - 1)
                a[i + j * n] = random_real(r);
    sparse s = sparse_of_dense(n, a);
    free(a);
    return s;
}

libsolver_matrix sparse_view(const sparse *a)
{
    return (libsolver_matrix){.n = a->n,
                              .pointers = a->pointers,
                              .indices = a->indices,
                              .values = a->values,
                              .pointer_type = LIBSOLVER_INT64,
                              .index_type = LIBSOLVER_INT64};
}

libsolver_vectors block_view(double *values, int64_t n, int64_t columns)
{
    return (libsolver_vectors){.values = values, .rows = n, .columns = columns, .ld = n};
}

double *dense_of_sparse(const sparse *a)
{
    double *full = doubles(a->n * a->n);
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++)
            full[a->indices[p] + j * a->n] = full[j + a->indices[p] * a->n] = a->values[p];
    return full;
}

/* product := A x - b, magnitude := |A||x|, norm := row sums of |A| (each may be NULL) */
static void rows_of(const sparse *a, const double *x, const double *b, long double *product,
                    long double *magnitude, long double *norm)
{
    for (int64_t i = 0; i < a->n; i++) {
        product[i] = b ? -(long double)b[i] : 0;
        magnitude[i] = norm[i] = 0;
    }
    for (int64_t j = 0; j < a->n; j++)
        for (int64_t p = a->pointers[j]; p < a->pointers[j + 1]; p++) {
            const int64_t both[2] = {a->indices[p], j};
            for (int k = 0; k < (both[0] == j ? 1 : 2); k++) {
                const long double v = (long double)a->values[p] * x[both[1 - k]];
                product[both[k]] += v;
                magnitude[both[k]] += fabsl(v);
                norm[both[k]] += fabs(a->values[p]);
            }
        }
}

void sparse_multiply(const sparse *a, int64_t columns, const double *x, double *b)
{
    long double *sums = room(3 * a->n, sizeof(long double));
    for (int64_t c = 0; c < columns; c++) {
        rows_of(a, x + c * a->n, NULL, sums, sums + a->n, sums + 2 * a->n);
        for (int64_t i = 0; i < a->n; i++)
            b[i + c * a->n] = (double)sums[i];
    }
    free(sums);
}

double sparse_backward_error(const sparse *a, int64_t columns, const double *x, const double *b)
{
    const int64_t n = a->n;
    long double *residual = room(3 * n, sizeof(long double)), *magnitude = residual + n,
                *norm = magnitude + n;
    double worst = 0;
    for (int64_t c = 0; c < columns; c++) {
        const double *xc = x + c * n, *bc = b + c * n;
        long double x_norm = 0, omega1 = 0, omega2 = 0;
        rows_of(a, xc, bc, residual, magnitude, norm);
        for (int64_t i = 0; i < n; i++)
            x_norm = isfinite(xc[i]) ? fmaxl(x_norm, fabs(xc[i])) : INFINITY;
        for (int64_t i = 0; i < n; i++) {
            const long double r = fabsl(residual[i]), bound = magnitude[i] + fabs(bc[i]);
            const long double row = norm[i] * x_norm;
            if (!isfinite(x_norm))
                omega1 = INFINITY;
            else if (r > 0 && bound > 1000 * (long double)n * DBL_EPSILON * (row + fabs(bc[i])))
                omega1 = fmaxl(omega1, r / bound);
            else if (r > 0)
                omega2 = fmaxl(omega2, r / (magnitude[i] + row));
        }
        worst = fmax(worst, (double)(omega1 + omega2));
    }
    free(residual);
    return worst;
}

/* Rows and columns p and q of a, rotated so that a(p,q) becomes zero. */
static void rotate(int64_t n, double *a, int64_t p, int64_t q)
{
    const double apq = a[p + q * n], theta = (a[q + q * n] - a[p + p * n]) / (2 * apq);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / hypot(t, 1), s = t * c;
    for (int64_t k = 0; k < n; k++) {
        const double kp = a[k + p * n], kq = a[k + q * n];
        a[k + p * n] = c * kp - s * kq;
        a[k + q * n] = s * kp + c * kq;
    }
    for (int64_t k = 0; k < n; k++) {
        const double pk = a[p + k * n], qk = a[q + k * n];
        a[p + k * n] = c * pk - s * qk;
        a[q + k * n] = s * pk + c * qk;
    }
}

double sparse_signs(const sparse *s, signs *found)
{
    const int64_t n = s->n;
    double *a = dense_of_sparse(s), largest = 0, least = INFINITY;
    *found = (signs){0, 0, 0};
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t q = 1; q < n; q++)
            for (int64_t p = 0; p < q; p++)
                if (fabs(a[p + q * n]) > 1e-300)
                    rotate(n, a, p, q);
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i + i * n]));
    for (int64_t i = 0; i < n; i++) {
        const double value = a[i + i * n];
        if (fabs(value) <= 1e-13 * largest) {
            found->zero++;
            continue;
        }
        ++*(value > 0 ? &found->positive : &found->negative);
        least = fmin(least, fabs(value));
    }
    free(a);
    return isfinite(least) ? least / largest : 1;
}

libsolver_options options_on_cpu(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.kind = kind;
    return o;
}

libsolver_options options_in_natural_order(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.kind = kind;
    o.ordering = LIBSOLVER_ORDERING_NATURAL;
    o.matching = LIBSOLVER_OFF;
    return o;
}

/* Before each block: its size. */
#define LEDGER_HEADER 64

static void *ledger_allocate(void *user, size_t bytes)
{
    ledger *l = user;
    const int64_t call = atomic_fetch_add(&l->calls, 1), refused = atomic_load(&l->refuse_at);
    char *raw = NULL;
    if (refused < 0 || call < refused || (call > refused && !l->refuse_after))
        raw = malloc(bytes + LEDGER_HEADER);
    if (!raw) {
        atomic_fetch_add(&l->refused, 1);
        return NULL;
    }
    memset(raw, 0xa5, bytes + LEDGER_HEADER);
    memcpy(raw, &bytes, sizeof bytes);
    atomic_fetch_add(&l->live, 1);
    const int64_t now = atomic_fetch_add(&l->bytes, (int64_t)bytes) + (int64_t)bytes;
    if (now > atomic_load(&l->peak))
        atomic_store(&l->peak, now);
    return raw + LEDGER_HEADER;
}

static void ledger_release(void *user, void *block)
{
    ledger *l = user;
    size_t bytes;
    memcpy(&bytes, (char *)block - LEDGER_HEADER, sizeof bytes);
    atomic_fetch_sub(&l->live, 1);
    atomic_fetch_sub(&l->bytes, (int64_t)bytes);
    free((char *)block - LEDGER_HEADER);
}

void ledger_open(ledger *l, libsolver_options *options)
{
    memset(l, 0, sizeof *l);
    atomic_store(&l->refuse_at, -1);
    libsolver_options_default(options);
    options->backend = LIBSOLVER_BACKEND_CPU;
    options->allocate = ledger_allocate;
    options->release = ledger_release;
    options->memory_user = l;
}

void ledger_refuse(ledger *l, int64_t after, int all)
{
    l->refuse_after = all;
    atomic_store(&l->refuse_at, after < 0 ? -1 : atomic_load(&l->calls) + after);
}

double sparse_plain_refinement(const sparse *a, const libsolver_factor *f, int steps)
{
    double *b = doubles(a->n), *x = doubles(a->n), *r = doubles(a->n), *full = dense_of_sparse(a),
           best = INFINITY;
    for (int64_t i = 0; i < a->n; i++)
        x[i] = 1 + 0.1 * (double)(i % 7);
    sparse_multiply(a, 1, x, b);
    for (int64_t i = 0; i < a->n; i++)
        x[i] = 0;
    for (int step = 0; step <= steps; step++) {
        for (int64_t i = 0; i < a->n; i++) {
            long double sum = b[i];
            for (int64_t j = 0; j < a->n; j++)
                sum -= (long double)full[i + j * a->n] * x[j];
            r[i] = (double)sum;
        }
        const libsolver_vectors rv = block_view(r, a->n, 1);
        if (libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &rv, &rv) < 0)
            abort();
        for (int64_t i = 0; i < a->n; i++)
            x[i] += r[i];
        best = fmin(best, sparse_backward_error(a, 1, x, b));
    }
    free(b);
    free(x);
    free(r);
    free(full);
    return best;
}
