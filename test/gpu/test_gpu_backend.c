/* test/gpu/test_gpu_backend.c: the GPU backend on a device of the host on which anything may fail
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_session.h"
#include <string.h>

/* A session in which the k-th thing that may go wrong does, for all k; returns how many there
 * are. */
static int64_t sweep(int purpose, int may_fall_back, trouble what, void (*run)(session *t))
{
    int64_t k = 0;
    for (int over = 0; !over; k++) {
        session t;
        fake_reset();
        session_begin(&t, purpose, may_fall_back, what);
        fake.failure = k % 2 ? LIBSOLVER_CUDA : LIBSOLVER_OUT_OF_DEVICE_MEMORY;
        fake.left = what == DEVICE_CALL ? k : INT64_MAX;
        fake.last = NULL;
        t.s.ration.left = is_on_host(what) ? k : INT64_MAX;
        t.s.ration.once = what == ONE_ALLOCATION;
        t.patience = k;
        run(&t);
        over = what == DEVICE_CALL ? !fake.last
               : is_on_host(what)  ? t.s.ration.left >= 0 && t.failures + t.sentences == 0
                                   : t.polls <= k;
        if (over)
            assert_int_equal(t.failures + t.sentences, 0);
        else if (t.failures + t.sentences == 0)
            fail_msg("%s failed, and nobody was told", fake.last ? fake.last : "something");
        else if (t.sentences > 0 && fake.last && !session_says_what_failed(t.said))
            fail_msg("%s failed, and what was told is \"%s\"", fake.last, t.said);
        session_end(&t);
        assert_true(k < 5000);
    }
    return k - 1;
}

static void check_sweeps(trouble what, int64_t least)
{
    for (int purpose = 0; purpose < PURPOSES; purpose++)
        for (int may_fall_back = 0; may_fall_back < 2; may_fall_back++) {
            const int64_t count = sweep(purpose, may_fall_back, what, session_run);
            print_message("purpose %d, fall back %d: %d things went wrong, one in each session\n",
                          purpose, may_fall_back, (int)count);
            if (count < least)
                fail_msg("only %d things went wrong", (int)count);
        }
}

static void any_call_on_the_device_may_fail(void **state)
{
    (void)state;
    check_sweeps(DEVICE_CALL, 40);
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    check_sweeps(HOST_MEMORY, 40);
    check_sweeps(ONE_ALLOCATION, 40);
}

static void any_poll_may_cancel(void **state)
{
    (void)state;
    check_sweeps(CANCEL, 5);
}

static void a_complement_may_fail(void **state)
{
    static const int purposes[] = {DEFINITE, SIGNED};
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int may_fall_back = 0; may_fall_back < 2; may_fall_back++)
            for (int what = DEVICE_CALL; what <= CANCEL; what++) {
                const int64_t count =
                    sweep(purposes[k], may_fall_back, (trouble)what, session_run_part);
                if (count < (what == CANCEL ? 2 : 12))
                    fail_msg("only %d things went wrong", (int)count);
            }
}

/* ---- Other devices, other calls -------------------------------------------------------------- */

/* A device that can run blocks only level by level gives the same answers, and no trace. */
static void a_device_by_levels(void **state)
{
    (void)state;
    for (int purpose = 0; purpose < PURPOSES; purpose++) {
        session t;
        int64_t count = 0;
        libsolver_task task[1000];
        fake_reset();
        fake.by_levels = 1;
        session_begin(&t, purpose, 0, NO_TROUBLE);
        session_run(&t);
        message why = {0};
        assert_int_equal(GPU->trace(t.numeric, t.space, &t.on_b, &t.on_x, 1000, task, &count, &why),
                         LIBSOLVER_NOT_BUILT);
        assert_non_null(strstr(why.text, "traced"));
        session_end(&t);
    }
}

/* A solve whose blocks wait for one another in vain is told of by those who wait for it, and by the
 * status on the device. */
static void a_solve_that_gives_up(void **state)
{
    (void)state;
    enum { ALL = BACKEND_L | BACKEND_D | BACKEND_LT };
    for (int may_fall_back = 0; may_fall_back < 2; may_fall_back++) {
        session t;
        fake_reset();
        session_begin(&t, ORDINARY, may_fall_back, NO_TROUBLE);
        session_run(&t);
        session_to_device(&t);
        fake.gives_up = 1;
        assert_int_equal(session_launch(&t), LIBSOLVER_OK);
        fake_wait(NULL);
        assert_int_equal(*t.status, LIBSOLVER_CUDA);
        fake.gives_up = 1;
        assert_int_equal(session_refine(&t, 1, &t.on_b, &t.on_x), LIBSOLVER_CUDA);
        assert_int_equal(session_refine(&t, 1, &t.on_b, &t.on_x), LIBSOLVER_OK); /* told once */
        session_check_answer(&t, &t.on_x, WANTED);
        fake.gives_up = 1;
        assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why),
                         may_fall_back ? LIBSOLVER_OK : LIBSOLVER_CUDA);
        assert_int_equal(GPU->solves_on_device(t.numeric, t.space), !may_fall_back);
        assert_int_equal(t.sentences, may_fall_back);
        if (may_fall_back)
            session_check_answer(&t, &t.x, session_rough(&t));
        session_end(&t);
    }
}

/* A pivot that has not the sign expected is put right on the CPU, as the CPU backend does; values
 * that are as expected come back to the device. */
static void signs_that_are_not_so(void **state)
{
    (void)state;
    session t;
    fake_reset();
    session_begin(&t, SIGNED, 0, NO_TROUBLE);
    session_run(&t);
    const int32_t n = t.s.a.n;
    const int64_t diagonal = t.s.a.start[n / 2];
    for (int is_wrong = 1; is_wrong >= 0; is_wrong--) {
        t.s.values[diagonal] *= -1;
        const backend_options o = {.scaling = BACKEND_EQUILIBRATE};
        cpu->set_values(t.s.numeric, t.s.values);
        assert_int_equal(cpu->factorize(t.s.numeric, &o, &t.s.report, &t.s.why), LIBSOLVER_OK);
        assert_int_equal(t.s.report.perturbed > 0, is_wrong);
        GPU->set_values(t.numeric, t.s.values);
        assert_int_equal(GPU->factorize(t.numeric, &o, &t.report, &t.s.why), LIBSOLVER_OK);
        assert_int_equal(t.report.on_device, !is_wrong);
        assert_int_equal(t.report.cpu_reason,
                         is_wrong ? LIBSOLVER_CPU_LDLT : LIBSOLVER_CPU_AS_CHOSEN);
        assert_int_equal(t.report.perturbed, t.s.report.perturbed);
        assert_int_equal(t.report.positive, t.s.report.positive);
        assert_int_equal(t.report.negative, t.s.report.negative);
        assert_int_equal(t.report.uncertain, t.s.report.uncertain);
        assert_int_equal(t.report.factor_nnz, t.s.report.factor_nnz);
        assert_int_equal(session_refine(&t, 1, &t.b, &t.x), LIBSOLVER_OK);
    }
    /* D and L on the host are the CPU's */
    scalar d[2][200], e[2][200];
    assert_true(n <= 200);
    assert_int_equal(cpu->export_d(t.s.numeric, d[0], e[0], &t.s.why), LIBSOLVER_OK);
    assert_int_equal(GPU->export_d(t.numeric, d[1], e[1], &t.s.why), LIBSOLVER_OK);
    for (int32_t k = 0; k < n; k++)
        assert_true(scalar_abs(d[0][k] - d[1][k]) <= 1000 * EPS * scalar_abs(d[0][k]) &&
                    e[1][k] == 0);
    session_end(&t);
}

/* A refinement in b's place cannot be made again on the CPU: b is gone. */
static void what_was_overwritten_is_not_repeated(void **state)
{
    (void)state;
    session t;
    fake_reset();
    session_begin(&t, ORDINARY, 1, NO_TROUBLE);
    session_run(&t);
    fake.left = 1;
    assert_int_equal(GPU->solve(t.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, t.space, &t.x, &t.x,
                                &t.s.why),
                     fake.failure);
    assert_int_equal(t.sentences, 0);
    session_end(&t);
}

static void what_it_does_not_do_is_refused(void **state)
{
    (void)state;
    session t;
    int64_t host = 0, device = 0;
    double error;
    fake_reset();
    session_begin(&t, ORDINARY, 0, NO_TROUBLE);
    session_run(&t);
    GPU->predict(t.plan, &host, &device);
    assert_true(host > 0 && device > 0);
    assert_int_equal(GPU->forward_error(t.numeric, t.space, &t.on_b, &t.on_x, &error, &t.s.why),
                     LIBSOLVER_NOT_BUILT);
    assert_true(GPU->workspace_bytes(t.numeric, COLUMNS) > 3 * session_block_bytes(&t));
    session_end(&t);
    GPU->discard(NULL);
    GPU->destroy(NULL);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_on_the_device_may_fail),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(any_poll_may_cancel),
        cmocka_unit_test(a_complement_may_fail),
        cmocka_unit_test(a_device_by_levels),
        cmocka_unit_test(a_solve_that_gives_up),
        cmocka_unit_test(signs_that_are_not_so),
        cmocka_unit_test(what_was_overwritten_is_not_repeated),
        cmocka_unit_test(what_it_does_not_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
