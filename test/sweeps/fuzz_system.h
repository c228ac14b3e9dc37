/* test/sweeps/fuzz_system.h: small random symmetric and Hermitian matrices of many families, and
 * other values on their patterns
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_FUZZ_SYSTEM_H
#define TEST_SWEEPS_FUZZ_SYSTEM_H

#include "libsolver.h"
#include "oracle.h"
#include "random.h"

/* Lower triangle, n x n by columns; entries are numbers of the type. */
typedef struct fuzz_system {
    int n;
    libsolver_type type;
    libsolver_symmetry symmetry;
    int is_complex, is_single;
    int is_hermitian; /* or real: there is an inertia */
    const char *family;
    unsigned char *stored; /* in the pattern, be it 0 */
    double *re, *im;
} fuzz_system;

fuzz_system system_random(random_stream *r, libsolver_type type, libsolver_symmetry symmetry);
/* Other values, those of another family where that fits the pattern; returns what was done. */
const char *system_revalue(random_stream *r, fuzz_system *a);
fuzz_system system_copy(const fuzz_system *a);
void system_free(fuzz_system *a);

/* A + diag(shift) as the type rounds it; shift: re, im of length n or NULL. */
oracle_matrix system_matrix(const fuzz_system *a, const double *shift_re, const double *shift_im);

double system_round(const fuzz_system *a, double v); /* to the type */
double system_eps(const fuzz_system *a);

void *fuzz_room(int64_t count, size_t size); /* zeros; the program ends if there are none */

#endif
