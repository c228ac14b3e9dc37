/* test/support/fake/device.h: what the files of this folder that stand for those of gpu/ share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_FAKE_DEVICE_H
#define TEST_SUPPORT_FAKE_DEVICE_H

#include "base/message.h"
#include "base/type.h"
#include "emulators.h"
#include "fake.h"
#include "gpu/device/device_buffer.h"

/* What must not happen ends the test. */
void fake_insist(int condition, const char *what);

/* call_s(...) or another of the four */
#define OF_TYPE(type, call, ...) \
    ((type) == LIBSOLVER_S   ? call##_s(__VA_ARGS__) \
     : (type) == LIBSOLVER_D ? call##_d(__VA_ARGS__) \
     : (type) == LIBSOLVER_C ? call##_c(__VA_ARGS__) \
                             : call##_z(__VA_ARGS__))

/* The status of an allocation that failed. */
libsolver_status fake_no_memory(const char *object, int64_t bytes, message *why);
/* Parts of one allocation, one behind the other; NULL without a base. */
void *fake_place(char *base, int64_t *at, int64_t bytes);
/* Nothing from NULL. */
void fake_copy(void *to, const void *from, int64_t bytes);
/* A buffer of at least so many bytes, the same as before if that is enough.  Returns 0 if there is
 * no room. */
int fake_grow(void **block, int64_t *held, int64_t *allocations, int64_t bytes);
int fake_grow_buffer(device_buffer *b, int64_t *allocations, int64_t bytes);
void fake_free_buffer(device_buffer *b);

/* v(i,j) */
char *fake_entry(const libsolver_vectors *v, int64_t i, int64_t j);
/* It lies in a block of memory on the device. */
void fake_check_block(const libsolver_vectors *v);

/* device_solver.c: puts a solve on a stream: by t, or if that is NULL by the program of s. */
void fake_solve(const device_substitution *t, const device_solver *s, const device_workspace *w,
                void *stream, const libsolver_vectors *b, const libsolver_vectors *x,
                task_times *times);
/* device_substitution.c: one right-hand side, which is the `column`-th of those that are solved for
 * together; b, x: packed.  Returns NULL, or what is wrong. */
const char *fake_substitution(const device_substitution *t, const device_solver *s,
                              const device_workspace *w, int64_t column, const void *b, void *x);

#endif
