/* test/gpu/test_gpu_backend_memory.c: what the GPU backend gives back when a call fails or there is
 * no room, and what it says then
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_session.h"
#include "solver/gpu/numeric.h"
#include <stdlib.h>
#include <string.h>

/* A session before its first factorization; returns the bytes on the device, which are A's. */
static int64_t open_factor(session *t, int purpose, int may_fall_back)
{
    fake_reset();
    session_begin(t, purpose, may_fall_back, NO_TROUBLE);
    const int64_t before = fake.bytes;
    assert_int_equal(GPU->prepare(&t->problem, &t->plan, &t->s.why), LIBSOLVER_OK);
    assert_int_equal(GPU->create(t->plan, &t->numeric, &t->s.why), LIBSOLVER_OK);
    return fake.bytes - before;
}

/* The same with a factor. */
static void open_factorized(session *t, int may_fall_back)
{
    open_factor(t, ORDINARY, may_fall_back);
    assert_int_equal(session_factorize(t), LIBSOLVER_OK);
}

/* After a factorization that failed the device has A, page-locked memory that factors come through,
 * and what factorizations on the device need, all of it or nothing. */
static void check_given_back(const session *t, int64_t held, int64_t bytes, int64_t bytes_of_a)
{
    const int64_t factorizer = t->report.device_bytes - bytes_of_a,
                  staging = fake.held - held - (factorizer > 0 ? 2 : 0);
    assert_true(factorizer == 0 || factorizer == NAME(gpu_factorization_bytes)(t->plan));
    assert_in_range(staging, 0, 1);
    assert_int_equal(fake.bytes, bytes + factorizer + staging * 2 * fake.half);
}

/* Counts the messages that say that there was no room for each object. */
static void count_objects(const char *sentence, const char *const *object, int objects, int *lacked)
{
    assert_non_null(strstr(sentence, " bytes of device memory, of which "));
    for (int p = 0; p < objects; p++)
        lacked[p] += strstr(sentence, object[p]) != NULL;
}

/* Any call on the way of the first factor or of a later one to the device fails, or there is no
 * room on the way. */
static void what_was_not_packed_is_given_back(void **state)
{
    (void)state;
    for (int purpose = 0; purpose < PURPOSES; purpose++) {
        session t;
        const int64_t bytes_of_a = open_factor(&t, purpose, 0), held = fake.held,
                      bytes = fake.bytes;
        static const char *const object[] = {"the factor wanted ",
                                             "the program of the solve wanted ",
                                             "the tables for the inverses wanted ",
                                             "the workspace for the inverses wanted ",
                                             "the plan of the substitution wanted ",
                                             "the program of the factorization wanted ",
                                             "the workspace of the factorization wanted "};
        enum { OBJECTS = 7 };
        int refused = 0, lacked[OBJECTS] = {0};
        for (int later = 0; later < 2; later++) {
            int64_t k = 2 * later; /* two calls bring A, before the last factor is gone */
            for (int over = 0; !over; k++) {
                if (later)
                    assert_int_equal(session_factorize(&t), LIBSOLVER_OK);
                fake.last = NULL;
                fake.left = k;
                const libsolver_status status = session_factorize(&t);
                over = !fake.last;
                fake.left = INT64_MAX;
                assert_int_equal(status, over ? LIBSOLVER_OK : fake.failure);
                if (!over)
                    check_given_back(&t, held, bytes, bytes_of_a);
            }
            assert_true(k > 3);
        }
        for (int64_t more = 0;; more += 512) {
            GPU->destroy(t.numeric);
            assert_int_equal(GPU->create(t.plan, &t.numeric, &t.s.why), LIBSOLVER_OK);
            fake.capacity = bytes + more;
            const libsolver_status status = session_factorize(&t);
            if (status == LIBSOLVER_OK)
                break;
            assert_int_equal(status, LIBSOLVER_OUT_OF_DEVICE_MEMORY);
            check_given_back(&t, held, bytes, bytes_of_a);
            count_objects(t.s.why.text, object, OBJECTS, lacked);
            refused++;
        }
        for (int p = 0; p < OBJECTS; p++)
            if ((lacked[p] == 0) == (p > 4 ? purpose >= DEFINITE && purpose < MIXED_LDLT
                                     : purpose % DEFINITE == FOR_FEW ? p == 0 || p == 4
                                                                     : p < 4))
                fail_msg("purpose %d: \"%s\" was said %d times", purpose, object[p], lacked[p]);
        assert_true(refused > 10);
        session_end(&t);
    }
}

/* Room for a part of a workspace only: that part is given back, and it is told or solves run on the
 * CPU. */
static void a_part_of_a_workspace_is_given_back(void **state)
{
    static const char *const parts[] = {"the workspace of the solve wanted ",
                                        "the buffer for vectors of the host wanted ",
                                        "the workspace of refinement wanted "};
    (void)state;
    for (int may_fall_back = 0; may_fall_back < 2; may_fall_back++) {
        enum { ALL = BACKEND_L | BACKEND_D | BACKEND_LT };
        session t;
        int lacked[3] = {0};
        open_factorized(&t, may_fall_back);
        const int64_t held = fake.held, bytes = fake.bytes, in_use = t.s.env.memory.in_use;
        for (int64_t more = 0;; more += 256) {
            fake.capacity = bytes + more;
            const libsolver_status status =
                GPU->workspace_create(t.numeric, COLUMNS, &t.space, &t.s.why);
            assert_true(status == LIBSOLVER_OK ||
                        (status == LIBSOLVER_OUT_OF_DEVICE_MEMORY && !may_fall_back));
            if (status == LIBSOLVER_OK && GPU->solves_on_device(t.numeric, t.space))
                break;
            assert_int_equal(fake.held, held);
            assert_int_equal(fake.bytes, bytes);
            const char *sentence = may_fall_back ? t.said : t.s.why.text;
            count_objects(sentence, parts, 3, lacked);
            if (status == LIBSOLVER_OK) {
                assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why),
                                 LIBSOLVER_OK);
                session_check_answer(&t, &t.x, session_rough(&t));
                GPU->workspace_destroy(t.numeric, t.space);
            } else
                assert_null(t.space);
            t.space = NULL;
            assert_int_equal(t.s.env.memory.in_use, in_use);
            assert_true(more < 1 << 20);
        }
        for (int p = 0; p < 3; p++)
            if (lacked[p] == 0)
                fail_msg("there was always room for %s", parts[p]);
        /* all of it is there: a solve takes no more */
        const int64_t taken = fake.held;
        assert_int_equal(taken, held + 5);
        assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why), LIBSOLVER_OK);
        session_check_answer(&t, &t.x, session_rough(&t));
        assert_int_equal(fake.held, taken);
        session_end(&t);
    }
}

/* A workspace for which there is no more room once other pivots want a larger one: it leaves the
 * device, with all that it has there. */
static void a_workspace_that_cannot_follow_is_given_back(void **state)
{
    enum { ALL = BACKEND_L | BACKEND_D | BACKEND_LT };
    random_stream r = random_seeded(1);
    int met = 0;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        session t;
        open_factorized(&t, 1);
        assert_int_equal(GPU->workspace_create(t.numeric, COLUMNS, &t.space, &t.s.why),
                         LIBSOLVER_OK);
        scalar *other = random_values(&r, &t.s.a, t.kind);
        memcpy(t.s.values, other, sizeof(scalar) * (size_t)t.s.a.start[t.s.a.n]);
        free(other);
        make_hermitian(&t.s.a, t.s.values);
        assert_int_equal(session_factorize(&t), LIBSOLVER_OK);
        const int64_t held = fake.held;
        fake.last = NULL;
        fake.left = 0;
        assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why), LIBSOLVER_OK);
        fake.left = INT64_MAX;
        assert_false(GPU->solves_on_device(t.numeric, t.space));
        session_check_answer(&t, &t.x, session_rough(&t));
        assert_true(fake.held < held);
        met += strcmp(fake.last, "device_workspace_open") == 0;
        session_end(&t);
    }
    assert_true(met > 0);
}

/* To a backward error that cannot be reached: plain refinement on the device stalls, and FGMRES on
 * the host goes on. */
static libsolver_status refine_in_vain(session *t, const libsolver_vectors *b,
                                       const libsolver_vectors *x)
{
    double errors[COLUMNS];
    backend_refinement r = {.solve_first = 1, .steps = 30, .tolerance = 0};
    return GPU->refine(t->numeric, t->space, b, x, &r, errors, &t->s.why);
}

/* Any call of a solve on the device, which the host needs in its FGMRES, fails. */
static void a_failure_below_fgmres_is_told(void **state)
{
    (void)state;
    for (int on_device = 0; on_device < 2; on_device++) {
        session t;
        int64_t k = 0;
        int below = 0; /* blocks on the device come there in no other way */
        open_factorized(&t, 0);
        assert_int_equal(GPU->workspace_create(t.numeric, COLUMNS, &t.space, &t.s.why),
                         LIBSOLVER_OK);
        const libsolver_vectors *b = on_device ? &t.on_b : &t.b, *x = on_device ? &t.on_x : &t.x;
        for (int over = 0; !over; k++) {
            session_to_device(&t);
            fake.last = NULL;
            fake.left = k;
            const libsolver_status status = refine_in_vain(&t, b, x);
            over = !fake.last;
            fake.left = INT64_MAX;
            if (status != (over ? LIBSOLVER_OK : fake.failure))
                fail_msg("call %d, %s: status %d", (int)k, over ? "none failed" : fake.last,
                         status);
            below += on_device && !over && strstr(fake.last, "staging") != NULL;
        }
        session_check_answer(&t, x, WANTED);
        assert_true(k > 30 && (below > 10 || !on_device));
        session_end(&t);
        /* one of the last calls, and the CPU takes over */
        open_factorized(&t, 1);
        assert_int_equal(GPU->workspace_create(t.numeric, COLUMNS, &t.space, &t.s.why),
                         LIBSOLVER_OK);
        fake.left = k - 8;
        assert_int_equal(refine_in_vain(&t, &t.b, &t.x), LIBSOLVER_OK);
        assert_int_equal(t.sentences, fake.left == INT64_MAX);
        session_check_answer(&t, &t.x, WANTED);
        session_end(&t);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_packed_is_given_back),
        cmocka_unit_test(a_part_of_a_workspace_is_given_back),
        cmocka_unit_test(a_workspace_that_cannot_follow_is_given_back),
        cmocka_unit_test(a_failure_below_fgmres_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
