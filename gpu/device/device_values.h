/* gpu/device/device_values.h: the values of A in a device's memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One for each entry of its lower triangle, in the order that A was analysed in.  Refinement and
 * factorizations there read them.  They come from the host, or from the device as the caller has
 * them; then they are summed and checked there. */
#ifndef GPU_DEVICE_DEVICE_VALUES_H
#define GPU_DEVICE_DEVICE_VALUES_H

#include "base/value_map.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_failure.h"
#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct environment environment; /* base/environment.h, which is C alone */

/* For whom values on the device are summed: the entries of each, in the order given, number << 1,
 * | 1: from above the diagonal.  start NULL: they are the entries, one by one. */
typedef struct value_sums {
    int64_t entries;
    int32_t n;
    int32_t *start;               /* entries + 1 */
    uint32_t *source;             /* as many as values are given */
    int32_t *diagonal;            /* n: number of each row's diagonal entry */
    int conjugates, is_hermitian; /* see value_map */
} value_sums;

/* What is wrong with values, set by kernels that meet it: one is not finite; a mirror image is
 * none, or a Hermitian diagonal is not real. */
typedef struct value_flaws {
    int nonfinite, asymmetric;
} value_flaws;
/* Arrays from the host's memory, for a map of less than 2^31 values; entries, n and the flags are
 * set.  OUT_OF_MEMORY, after which they are to be freed too. */
struct memory;
libsolver_status value_sums_build(struct memory *m, const value_map *map, const int64_t *start,
                                  value_sums *s);
void value_sums_free(struct memory *m, value_sums *s);

typedef struct device_values {
    environment *env;
    int device;
    void *stream;
    libsolver_type type;
    int64_t entries;
    device_buffer value; /* what is factorized, a shift included */
    /* for values that are given on the device, from the first time on: */
    value_sums sums;      /* sizes, and the places of arrays on the device */
    device_buffer summed; /* tables, then the sums, without a shift, and room for a shift */
    void *sum, *shift;
    value_flaws *flaws; /* page-locked, of the values summed last */
} device_values;

/* Memory for `entries` of them on env's device.  OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here and
 * below. */
libsolver_status device_values_open(device_values *v, environment *env, void *stream,
                                    int64_t entries, libsolver_type type, message *why);
void device_values_close(device_values *v);
/* From host memory, which may change afterwards. */
libsolver_status device_values_put(const device_values *v, const void *values, message *why);
/* From `given` on the device, NULL: from those that came so last, plus a shift of the diagonal, n
 * scalars on the host or there, or NULL.  start: of the n columns of A's lower triangle, each of
 * which begins with its diagonal.  *is_sound: all sums are finite, mirror images are such, and a
 * Hermitian diagonal is real; otherwise the values are what they were.  Waits for the check.  The
 * first call takes memory: OUT_OF_MEMORY; NOT_BUILT too where 2^31 values are given. */
libsolver_status device_values_take(device_values *v, const value_map *map, const int64_t *start,
                                    int32_t n, const void *given, const void *shift, int *is_sound,
                                    message *why);
/* Sums without a shift and their check, without a wait: *flaws, on the device, is set but never
 * cleared.  The values are replaced; with keeps they stay, and whoever reads them next is to take
 * the sums where *flaws is clear (value_change).  The first call of either takes memory and waits
 * for that. */
libsolver_status device_values_check_async(device_values *v, const value_map *map,
                                           const int64_t *start, int32_t n, const void *given,
                                           int keeps, value_flaws *flaws, message *why);
/* To host memory: what is factorized; the sums without a shift.  Waits. */
libsolver_status device_values_get(const device_values *v, void *values, message *why);
libsolver_status device_values_get_sums(const device_values *v, void *values, message *why);
int64_t device_values_bytes(const device_values *v); /* on the device */

/* What these need of CUDA: memory, with tables from the host, and the launches.
 */
libsolver_status device_values_prepare(device_values *v, const value_sums *sums, int64_t given,
                                       message *why);
libsolver_status device_values_sum(const device_values *v, const void *given, const void *shift,
                                   int *is_sound, message *why);
libsolver_status device_values_check(const device_values *v, const void *given, int keeps,
                                     value_flaws *flaws, message *why);

#ifdef __cplusplus
}
#endif
#endif
