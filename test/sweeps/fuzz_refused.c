/* test/sweeps/fuzz_refused.c: calls with arguments that are at fault: refused, explained, and
 * nothing is lost
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_calls.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void overwrite(fuzz_view *v, libsolver_type type, int64_t k, double with)
{
    fuzz_block b = {
        .vectors = {
            .values = v->values, .rows = v->entries, .columns = 1, .ld = v->entries, .type = type}};
    block_set(&b, k, 0, with, 0);
}

/* An entry whose value is read. */
static int64_t random_read_entry(fuzz_session *s)
{
    const libsolver_storage storage = s->view.matrix.storage;
    for (;;) {
        const int64_t k = below(s, (int)s->view.entries);
        const fuzz_entry *e = &s->view.entry[k];
        if (!(storage == LIBSOLVER_LOWER_OF_FULL && e->row < e->column) &&
            !(storage == LIBSOLVER_UPPER_OF_FULL && e->row > e->column))
            return k;
    }
}

/* Options or a matrix that are at fault, before all else. */
void do_refused_begin(fuzz_session *s)
{
    static const char *const faults[] = {"threads",       "a tolerance", "a reserved field",
                                         "a row",         "a NaN",       "a base",
                                         "a permutation", "a threshold"};
    const int fault = s->view.entries > 0 ? below(s, 8) : below(s, 3);
    int64_t permutation[64] = {0};
    libsolver_options o = s->options;
    libsolver_matrix a = s->view.matrix;
    libsolver_factor *f = NULL;
    const int64_t entry = s->view.entries > 0 ? random_read_entry(s) : 0;
    void *indices = fuzz_room(s->view.entries, 8);
    memcpy(indices, s->view.indices, 8 * (size_t)s->view.entries);
    a.indices = indices;
    if (fault == 0)
        o.threads = -1;
    else if (fault == 1)
        o.tolerance = 1 + below(s, 2);
    else if (fault == 2)
        o.reserved[below(s, (int)(sizeof o.reserved / sizeof *o.reserved))] = 1;
    else if (fault == 3 && a.index_type == LIBSOLVER_INT32)
        ((int32_t *)indices)[entry] = chance(s, 50) ? -1 : s->given.n + a.base;
    else if (fault == 3)
        ((int64_t *)indices)[entry] = chance(s, 50) ? INT64_MIN : INT64_C(1) << 32;
    else if (fault == 4)
        overwrite(&s->view, s->given.type, entry, NAN);
    else if (fault == 5)
        a.base = 2;
    else if (fault == 6) {
        o.ordering = LIBSOLVER_ORDERING_USER;
        o.permutation = permutation;
        permutation[0] = s->given.n;
    } else if (fault == 7)
        o.pivot_threshold = below(s, 2) ? 1 : -1;
    o.memory_limit = 0;
    session_tell(s, "factor_matrix with %s that is none", faults[fault]);
    const libsolver_status status = libsolver_factor_matrix(&a, &o, &f);
    if (status != (fault == 4 ? LIBSOLVER_NONFINITE : LIBSOLVER_INVALID))
        session_fail(s, "a wrong argument", "%s: %s", faults[fault], libsolver_status_name(status));
    if (!libsolver_factor_message(f)[0])
        session_fail(s, "a failure without a message", "%s", faults[fault]);
    libsolver_factor_free(f);
    if (s->live != 0)
        session_fail(s, "memory is leaked", "%d blocks", (int)s->live);
    free(indices);
    view_fill(&s->view, &s->given);
    session_end_call(s);
}

/* Arguments that are at fault: the old factor stays. */
void do_refused_refactorize(fuzz_session *s)
{
    static const char *const faults[] = {"another order",
                                         "other indices",
                                         "another type",
                                         "another symmetry",
                                         "a NaN",
                                         "no values",
                                         "a shift that is infinite",
                                         "NULL"};
    int fault = below(s, 8);
    libsolver_matrix a = s->view.matrix;
    fuzz_block shift = block_random(&s->r, &s->given, s->given.n, 1);
    libsolver_status status, wanted = LIBSOLVER_PATTERN_MISMATCH, or = LIBSOLVER_INVALID;
    if ((s->view.entries == 0 && fault != 0 && fault != 2) || (fault == 1 && s->given.n < 2))
        fault = 0;
    view_fill(&s->view, &s->given);
    session_tell(s, "refactorize with %s", faults[fault]);
    if (fault == 0) {
        a.n++;
        a.pointers = a.indices = NULL;
    } else if (fault == 1) {
        if (a.index_type == LIBSOLVER_INT32)
            ((int32_t *)s->view.indices)[0] =
                a.base + ((int32_t *)s->view.indices)[0] - a.base +
                (((int32_t *)s->view.indices)[0] - a.base > 0 ? -1 : 1);
        else
            ((int64_t *)s->view.indices)[0] +=
                ((int64_t *)s->view.indices)[0] - a.base > 0 ? -1 : 1;
    } else if (fault == 2)
        a.type = a.type == LIBSOLVER_D ? LIBSOLVER_S : LIBSOLVER_D;
    else if (fault == 3)
        a.symmetry = a.symmetry ? LIBSOLVER_SYMMETRIC : LIBSOLVER_HERMITIAN;
    else if (fault == 4) {
        overwrite(&s->view, s->given.type, random_read_entry(s), NAN);
        wanted = LIBSOLVER_NONFINITE;
        s->has_given = 0;
    } else if (fault == 5)
        a.values = NULL;
    else if (fault == 6) {
        for (int i = 0; i < s->given.n; i++)
            block_set(&shift, i, 0, i == 0 ? INFINITY : 0, 0);
        wanted = LIBSOLVER_NONFINITE;
        s->has_given = 1; /* the matrix itself was good */
    }
    status = fault == 7
                 ? libsolver_refactorize(s->factor, NULL)
                 : libsolver_refactorize_shifted(s->factor, &a, fault == 6 ? &shift.vectors : NULL);
    const int left_alone =
        fault == 4 || fault == 6 ? status == wanted : status == wanted || status == or
        ;
    if (!left_alone)
        session_fail(s, "a wrong argument", "%s: %s", faults[fault], libsolver_status_name(status));
    if (!session_message(s)[0])
        session_fail(s, "a failure without a message", "%s", faults[fault]);
    if (fault == 1) {
        if (a.index_type == LIBSOLVER_INT32)
            ((int32_t *)s->view.indices)[0] = s->view.entry[0].row + a.base;
        else
            ((int64_t *)s->view.indices)[0] = s->view.entry[0].row + a.base;
    }
    view_fill(&s->view, &s->given);
    if (!s->has_given && libsolver_refactorize_shifted(s->factor, NULL, NULL) != LIBSOLVER_INVALID)
        session_fail(s, "refused values are used", "refactorize_shifted without a matrix");
    block_free(&shift);
    session_end_call(s);
}

/* Arguments that a solve must refuse, and messages for each. */
void do_refused_solve(fuzz_session *s)
{
    const int n = s->given.n, fault = below(s, 6);
    fuzz_block b = block_random(&s->r, &s->given, n, 1 + below(s, 2));
    draw_right_sides(s, &b);
    fuzz_block x = block_copy(&b);
    libsolver_status wanted = LIBSOLVER_INVALID;
    if (fault == 0)
        x.vectors.rows++;
    else if (fault == 1)
        x.vectors.columns++;
    else if (fault == 2)
        b.vectors.ld = (b.vectors.layout ? b.vectors.columns : n) - 1;
    else if (fault == 3)
        x.vectors.type = x.vectors.type == LIBSOLVER_Z ? LIBSOLVER_C : LIBSOLVER_Z;
    else if (fault == 4 && n > 0) {
        block_set(&b, below(s, n), 0, NAN, 0);
        wanted = LIBSOLVER_NONFINITE;
    } else
        b.vectors.columns = -1;
    session_tell(s, "a solve with fault %d", fault);
    const libsolver_status status = libsolver_solve(s->factor, &b.vectors, &x.vectors);
    if (status != wanted && status != LIBSOLVER_INVALID)
        session_fail(s, "a wrong argument", "solve, fault %d: %s", fault,
                     libsolver_status_name(status));
    if (!session_message(s)[0])
        session_fail(s, "a failure without a message", "solve, fault %d", fault);
    if (libsolver_refine(s->factor, NULL, &x.vectors, &x.vectors, NULL) >= 0 && n > 0 &&
        x.vectors.columns > 0)
        session_fail(s, "a wrong argument", "refine with x as b");
    block_free(&b);
    block_free(&x);
    session_end_call(s);
}
