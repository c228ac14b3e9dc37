/* solver/input/values_tmpl.c: the caller's values: in the order of the pattern, their sizes,
 * whether they are finite
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/scalar.h"
#include "solver/input/input.h"
#include <string.h>

#define PART 16384 /* values that a thread looks at in turn */

/* Whether threads share all values. */
static int is_long(const input *in)
{
    return in->threads > 1 && in->a.start[in->a.n] > INPUT_OF_ONE_THREAD;
}

/* Duplicates are summed, entries from above the diagonal apart (FULL) or as their mirror images
 * (UPPER). */
static void add_up(const input *in, const scalar *values, scalar *sum, scalar *mirrored)
{
    const int64_t nnz = in->a.start[in->a.n], *target = in->target;
    const size_t bytes = sizeof(scalar) * (size_t)nnz;
    if (in->in_order && is_long(in)) {
#pragma omp parallel for num_threads(in->threads)
        for (int64_t p = 0; p < nnz; p++)
            sum[p] = values[p];
        return;
    }
    if (in->in_order) {
        if (bytes > 0)
            memcpy(sum, values, bytes);
        return;
    }
    memset(sum, 0, bytes);
    if (in->scattered) {
        for (int64_t e = 0; e < in->entries; e++) {
            if (target[e] >= 0)
                sum[target[e]] += scalar_mirror(values[e], in->hermitian && in->upper);
            else if (target[e] != INPUT_IGNORED)
                sum[-1 - target[e]] += scalar_mirror(values[e], in->hermitian);
        }
        return;
    }
    if (!mirrored) {
        const int conjugate = in->hermitian && in->upper;
        for (int64_t e = 0; e < in->entries; e++)
            sum[target[e]] += scalar_mirror(values[e], conjugate);
        return;
    }
    memset(mirrored, 0, bytes);
    for (int64_t e = 0; e < in->entries; e++) {
        if (target[e] >= 0)
            sum[target[e]] += scalar_mirror(values[e], in->hermitian && in->upper);
        else
            mirrored[-1 - target[e]] += values[e];
    }
}

/* A finite number times 0 is 0, the others give NaN. */
#define SUMS 8 /* that need not wait for each other */
static int are_finite(const scalar *values, int64_t count)
{
    const real *part = (const real *)values;
    real sum[SUMS] = {0}, all = 0;
    int64_t p = 0, parts = count * (1 + SCALAR_COMPLEX);
    for (; p + SUMS <= parts; p += SUMS)
        for (int k = 0; k < SUMS; k++)
            sum[k] += part[p + k] * 0;
    for (; p < parts; p++)
        all += part[p] * 0;
    for (int k = 0; k < SUMS; k++)
        all += sum[k];
    return all == 0;
}

/* Whether all are finite and the diagonal is one: what follows finds the place then. */
static int is_sound(const input *in, int hermitian, const scalar *sum)
{
    const pattern *a = &in->a;
    const int64_t nnz = a->start[a->n];
    int sound = 1;
    if (is_long(in)) {
#pragma omp parallel for num_threads(in->threads) reduction(&& : sound)
        for (int64_t p = 0; p < nnz; p += PART)
            sound = sound && are_finite(sum + p, p + PART < nnz ? PART : nnz - p);
    } else
        sound = are_finite(sum, nnz);
    for (int32_t j = 0; j < a->n && hermitian; j++)
        sound &= scalar_is_diagonal(sum[a->start[j]], hermitian);
    return sound;
}

static libsolver_status sum_values(const input *in, const void *values, void *sum_, void *mirrored_,
                                   message *why)
{
    const pattern *a = &in->a;
    const int hermitian = SCALAR_COMPLEX && in->hermitian;
    const scalar *sum = sum_ ? sum_ : values, *mirrored = mirrored_;
    if (sum_)
        add_up(in, values, sum_, mirrored_);
    if (!mirrored && is_sound(in, hermitian, sum))
        return LIBSOLVER_OK;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            if (!scalar_finite(sum[p]) || (mirrored && !scalar_finite(mirrored[p])))
                return FAIL(why, LIBSOLVER_NONFINITE,
                            "the entry in row %d, column %d (0-based) is not finite", a->row[p], j);
            if (a->row[p] == j && !scalar_is_diagonal(sum[p], hermitian))
                return FAIL(why, LIBSOLVER_INVALID,
                            "not Hermitian: the diagonal entry of row %d (0-based) is not real", j);
            if (mirrored && a->row[p] != j && mirrored[p] != scalar_mirror(sum[p], hermitian))
                return FAIL(why, LIBSOLVER_INVALID,
                            "not %s: the entries (%d, %d) and (%d, %d), 0-based, %s",
                            hermitian ? "Hermitian" : "symmetric", a->row[p], j, j, a->row[p],
                            hermitian ? "are not conjugate" : "differ");
        }
    return LIBSOLVER_OK;
}

/* Every column of the pattern begins with its diagonal. */
static void diagonal_of(const input *in, const void *sum, void *diagonal)
{
    for (int32_t j = 0; j < in->a.n; j++)
        ((scalar *)diagonal)[j] = ((const scalar *)sum)[in->a.start[j]];
}

static void given_diagonal(const input *in, const void *values_, double *diagonal)
{
    const scalar *values = values_;
    if (in->in_order) {
        for (int32_t j = 0; j < in->a.n; j++)
            diagonal[j] = (double)scalar_real(values[in->a.start[j]]);
        return;
    }
    memset(diagonal, 0, sizeof(double) * (size_t)in->a.n);
    for (int64_t e = 0; e < in->entries; e++) {
        const int64_t p = in->target[e];
        if (p >= 0 && in->a.start[in->a.row[p]] == p)
            diagonal[in->a.row[p]] += (double)scalar_real(values[e]);
    }
}

static libsolver_status shift_diagonal(const input *in, const void *diagonal_,
                                       const libsolver_vectors *shift, void *sum_, message *why)
{
    const scalar *diagonal = diagonal_, *values = shift ? shift->values : NULL;
    const int64_t step = shift && shift->layout == LIBSOLVER_ROW_MAJOR ? shift->ld : 1;
    scalar *sum = sum_;
    for (int32_t j = 0; values && j < in->a.n; j++) {
        const scalar d = values[j * step];
        if (!scalar_finite(d) || !scalar_finite(diagonal[j] + d))
            return FAIL(why, LIBSOLVER_NONFINITE,
                        "the shifted diagonal entry of row %d (0-based) is not finite", j);
        if (!scalar_is_diagonal(d, SCALAR_COMPLEX && in->hermitian))
            return FAIL(why, LIBSOLVER_INVALID,
                        "not Hermitian: the shift of row %d (0-based) is not real", j);
    }
    for (int32_t j = 0; j < in->a.n; j++)
        sum[in->a.start[j]] = values ? diagonal[j] + values[j * step] : diagonal[j];
    return LIBSOLVER_OK;
}

static int32_t zeros_of(const input *in, const void *sum)
{
    int32_t zeros = 0;
    for (int32_t j = 0; j < in->a.n; j++)
        zeros += ((const scalar *)sum)[in->a.start[j]] == 0;
    return zeros;
}

static void magnitudes(int64_t count, const void *values_, double *magnitude)
{
    const scalar *values = values_;
    for (int64_t k = 0; k < count; k++)
        magnitude[k] = (double)scalar_abs(values[k]);
}

static int finite_vectors(const libsolver_vectors *v, int64_t *row, int64_t *column)
{
    const scalar *values = v->values;
    for (int64_t j = 0; j < v->columns; j++)
        for (int64_t i = 0; i < v->rows; i++)
            if (!scalar_finite(
                    values[v->layout == LIBSOLVER_COLUMN_MAJOR ? i + j * v->ld : i * v->ld + j])) {
                *row = i;
                *column = j;
                return 0;
            }
    return 1;
}

const typed_values NAME(typed_values) = {sizeof(scalar), sum_values, diagonal_of, given_diagonal,
                                         shift_diagonal, zeros_of,   magnitudes,  finite_vectors};
