/* test/sweeps/oracle_rank.c: exact rank of a matrix of binary fractions, by elimination modulo
 * primes
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers m 2^e (+ i times others) are mapped to GF(p), p = 1 mod 4, where 2 has an inverse and -1
 * a root: sums and products are kept, so a minor that is not 0 there is not 0. */
#include "oracle.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

/* Residues are kept times 2^64 [Montgomery 1985]. */
typedef struct field {
    uint64_t p, root;  /* root^2 = -1 mod p */
    uint64_t negative; /* -1/p mod 2^64 */
    uint64_t square;   /* 2^128 mod p */
    uint64_t half;     /* residue of 1/2 */
} field;

static uint64_t times(const field *f, uint64_t a, uint64_t b)
{
    const uint128 t = (uint128)a * b;
    const uint64_t m = (uint64_t)t * f->negative;
    const uint64_t r = (uint64_t)((t + (uint128)m * f->p) >> 64);
    return r >= f->p ? r - f->p : r;
}

static uint64_t residue(const field *f, uint128 v)
{
    return times(f, (uint64_t)(v % f->p), f->square);
}

static uint64_t power(const field *f, uint64_t a, uint64_t exponent)
{
    uint64_t r = residue(f, 1);
    for (; exponent > 0; exponent >>= 1, a = times(f, a, a))
        if (exponent & 1)
            r = times(f, r, a);
    return r;
}

static field field_of(uint64_t p, uint64_t root)
{
    field f = {.p = p, .negative = p};
    for (int k = 0; k < 6; k++)
        f.negative *= 2 - p * f.negative; /* 1/p, twice as many bits each time */
    f.negative = -f.negative;
    f.square = (uint64_t)((((uint128)1 << 64) % p) * (((uint128)1 << 64) % p) % p);
    f.root = residue(&f, root);
    f.half = residue(&f, (p + 1) / 2);
    return f;
}

/* v, finite, in the format binary128: 1 bit of sign, 15 of exponent, 112 of mantissa. */
static uint64_t image(const field *f, quad v)
{
    uint128 bits;
    memcpy(&bits, &v, sizeof bits);
    const int biased = (int)(bits >> 112) & 0x7fff, exponent = (biased ? biased : 1) - 16383 - 112;
    const uint128 fraction = bits & (((uint128)1 << 112) - 1),
                  mantissa = biased ? fraction | (uint128)1 << 112 : fraction;
    if (mantissa == 0)
        return 0;
    const uint64_t base = exponent < 0 ? f->half : residue(f, 2);
    const uint64_t r = times(f, residue(f, mantissa),
                             power(f, base, (uint64_t)(exponent < 0 ? -exponent : exponent)));
    return bits >> 127 && r ? f->p - r : r;
}

/* Gaussian elimination; a: n x n, destroyed. */
static int rank_of(const field *f, int n, uint64_t *a)
{
    int rank = 0;
    for (int column = 0; column < n; column++) {
        int pivot = rank;
        while (pivot < n && a[pivot * n + column] == 0)
            pivot++;
        if (pivot == n)
            continue;
        for (int j = column; j < n && pivot != rank; j++) {
            const uint64_t other = a[pivot * n + j];
            a[pivot * n + j] = a[rank * n + j];
            a[rank * n + j] = other;
        }
        const uint64_t *row = a + rank * n, inverse = power(f, row[column], f->p - 2);
        for (int i = rank + 1; i < n; i++) {
            uint64_t *other = a + i * n;
            if (other[column] == 0)
                continue;
            const uint64_t factor = f->p - times(f, other[column], inverse);
            for (int j = column; j < n; j++) {
                const uint64_t sum = other[j] + times(f, factor, row[j]);
                other[j] = sum >= f->p ? sum - f->p : sum;
            }
        }
        rank++;
    }
    return rank;
}

int oracle_rank(const oracle_matrix *a)
{
    static const uint64_t primes[2][2] = {
        {UINT64_C(1979648110353563801), UINT64_C(1335319443097530577)},
        {UINT64_C(1975117409722382041), UINT64_C(1159235725699626369)}};
    const int n = a->n;
    uint64_t *image_of = malloc(sizeof *image_of * (size_t)n * (size_t)n + 1);
    int rank = 0;
    if (!image_of)
        abort();
    for (int k = 0; k < 2 && rank < n; k++) {
        const field f = field_of(primes[k][0], primes[k][1]);
        for (int i = 0; i < n * n; i++) {
            image_of[i] = image(&f, a->entry[i].re);
            if (a->is_complex)
                image_of[i] = (image_of[i] + times(&f, image(&f, a->entry[i].im), f.root)) % f.p;
        }
        const int found = rank_of(&f, n, image_of);
        rank = found > rank ? found : rank;
    }
    free(image_of);
    return rank;
}
