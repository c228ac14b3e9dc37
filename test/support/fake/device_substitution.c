/* test/support/fake/device_substitution.c: solves with factors as they are, on the host:
 * gpu/substitute/device_substitution.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

/* The plan's arrays, given places or copied to them; returns their bytes. */
static int64_t place_plan(const substitution *plan, const int32_t *user_row, int64_t real_bytes,
                          char *base, device_solver *s, device_substitution *to)
{
    int64_t at = 0;
    s->scale = fake_place(base, &at, plan->n * real_bytes);
#define PUT(member, from, count) \
    do { \
        member = fake_place(base, &at, (count) * (int64_t)sizeof *(from)); \
        if (base) \
            fake_copy((void *)(member), from, (count) * (int64_t)sizeof *(from)); \
    } while (0)
    PUT(s->user_row, user_row, plan->n);
    PUT(to->node, plan->node, plan->nodes);
    PUT(to->row, plan->row, plan->rows);
    PUT(to->source_start, plan->source_start, plan->sources + 1);
    PUT(to->source, plan->source, plan->source_start[plan->sources]);
    PUT(to->table, plan->table, plan->table_words);
    PUT(to->copy, plan->copy, plan->copies);
    PUT(to->block, plan->block, plan->blocks);
    PUT(to->task, plan->task, plan->tasks);
#undef PUT
    return at;
}

libsolver_status device_substitution_load(device_substitution *t, device_solver *s,
                                          const device_factor *factor, const substitution *plan,
                                          const int32_t *user_row, const void *scale, message *why)
{
    MAY_FAIL("copying the plan of the substitution to the device", why);
    const int64_t real_bytes = type_real_bytes(factor->shape.type);
    fake_wait(s->stream);
    device_substitution_takes(t, s, factor, plan);
    const int64_t bytes = plan ? place_plan(plan, user_row, real_bytes, NULL, s, t) + 1 : 0;
    if (!fake_grow(&s->memory, &s->bytes, &s->allocations, bytes))
        return fake_no_memory("the plan of the substitution", bytes, why);
    if (plan)
        place_plan(plan, user_row, real_bytes, s->memory, s, t);
    fake_copy((void *)s->scale, scale, s->n * real_bytes);
    return LIBSOLVER_OK;
}

libsolver_status device_substitution_renew(const device_substitution *t, const device_solver *s,
                                           message *why)
{
    MAY_FAIL("inverting diagonal blocks", why);
    (void)t, (void)s; /* it has no inverses */
    return LIBSOLVER_OK;
}

libsolver_status device_substitute(const device_substitution *t, const device_solver *s,
                                   const device_workspace *w, void *stream,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    TRY(device_solve_fits(s, b, x, why));
    MAY_FAIL("launching the solve", why);
    fake_solve(t, s, w, stream, b, x, NULL);
    return LIBSOLVER_OK;
}

const char *fake_substitution(const device_substitution *t, const device_solver *s,
                              const device_workspace *w, int64_t column, const void *b, void *x)
{
    char *packets = (char *)w->packets + column * s->packets * type_bytes(s->type);
    const emulated_substitution e = {.plan = t,
                                     .scale = s->scale,
                                     .user_row = s->user_row,
                                     .n = s->n,
                                     .b = b,
                                     .x = x,
                                     .published = packets};
    fake_insist(fake_room(packets) >= s->packets * type_bytes(s->type), "a workspace is too small");
    return OF_TYPE(s->type, emulate_substitution, &e);
}
