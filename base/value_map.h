/* base/value_map.h: where the values of a matrix go, in the order in which they are given
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_VALUE_MAP_H
#define BASE_VALUE_MAP_H

#include <stdint.h>

/* Nothing is owned here. */
typedef struct value_map {
    int64_t given;         /* values */
    const int64_t *target; /* given: the entry of the lower triangle to which each is added; -1 -
                              it: it is an entry above the diagonal, whose sum must mirror that
                              one's; NULL: they are the entries, one by one */
    int conjugates;        /* values are those of the mirror images of A = A^H */
    int is_hermitian;      /* A = A^H and complex: the diagonal is to be real */
} value_map;

#endif
