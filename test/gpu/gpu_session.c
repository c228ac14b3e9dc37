/* test/gpu/gpu_session.c: a session of the GPU backend on the fake device
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_session.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_impatient(void *user)
{
    session *t = user;
    return t->trouble == CANCEL && t->polls++ == t->patience;
}

static void listen(void *user, const char *sentence)
{
    session *t = user;
    if (!strstr(sentence, "solves on the CPU: ") && !strstr(sentence, "factorizes on the CPU: ") &&
        !strstr(sentence, "sums values on the CPU: ") &&
        !strstr(sentence, "factorizes step by step: "))
        return;
    t->sentences++;
    snprintf(t->said, sizeof t->said, "%s", sentence);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

double session_rough(const session *t)
{
    return 1000 * (t->problem.mixed ? (double)FLT_EPSILON : EPS);
}

int64_t session_block_bytes(const session *t)
{
    return (int64_t)t->s.a.n * COLUMNS * (int64_t)sizeof(scalar);
}

void session_to_device(const session *t)
{
    fake_wait(NULL);
    memcpy(t->on_b.values, t->b.values, (size_t)session_block_bytes(t));
    memset(t->on_x.values, 0xff, (size_t)session_block_bytes(t));
}

void session_check_answer(const session *t, const libsolver_vectors *x, double allowed)
{
    fake_wait(NULL);
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double error = system_backward_error(&t->s, (const scalar *)t->b.values + j * t->b.ld,
                                                   (const scalar *)x->values + j * x->ld);
        if (!(error <= allowed))
            fail_msg("column %d: backward error %g, %g allowed", (int)j, error, allowed);
    }
}

/* ---- One call after the other ---------------------------------------------------------------- */

int is_on_host(trouble what)
{
    return what == HOST_MEMORY || what == ONE_ALLOCATION;
}

static libsolver_status wanted_failure(const session *t)
{
    return t->trouble == CANCEL     ? LIBSOLVER_CANCELLED
           : is_on_host(t->trouble) ? LIBSOLVER_OUT_OF_MEMORY
                                    : fake.failure;
}

int session_says_what_failed(const char *said)
{
    static const char *const step[][2] = {
        {"gpu_device_read", "copying a matrix from the device"},
        {"device_matrix_open", "copying the matrix to the device"},
        {"device_matrix_set", "launching the kernel that spreads the values of the matrix"},
        {"device_values_open", "taking memory for the values of the matrix"},
        {"device_values_put", "copying the values of the matrix to the device"},
        {"device_values_get", "copying the values of the matrix from the device"},
        {"device_values_prepare", "copying the tables for sums of values to the device"},
        {"device_values_sum", "summing the values of the matrix on the device"},
        {"device_values_check", "launching the sums of values on the device"},
        {"device_outcome_open", "clearing the outcome of refactorizations"},
        {"device_outcome_watch", "copying which growths are watched to the device"},
        {"device_outcome_judge", "launching the kernel that judges a factorization"},
        {"device_outcome_last", "the refactorization on the device"},
        {"device_outcome_set", "telling the device what came of the factorization"},
        {"device_factorizer_load", "copying the program of the factorization to the device"},
        {"device_factorizer_launch", "launching the factorization"},
        {"device_factorizer_timed", "the traced factorization"},
        {"device_factorizer_judge", "launching the look at pivots"},
        {"device_factorizer_finish", "the factorization on the device"},
        {"device_factorizer_complement", "forming the Schur complement"},
        {"device_factor_take", "taking memory for the factor"},
        {"device_factor_upload", "copying the factor to the device"},
        {"device_factor_download", "copying the factor from the device"},
        {"device_inverter_load", "copying the tables for the inverses to the device"},
        {"device_inverter_words", "taking memory for the inverses"},
        {"device_inverter_launch", "launching the kernels that invert groups of columns"},
        {"device_inverter_finish", "inverting groups of columns"},
        {"device_inverter_growths", "inverting groups of columns"},
        {"device_narrowing_open", "preparing the scaling of vectors"},
        {"device_narrowing_scale", "copying the scaling of vectors"},
        {"narrow_block_open", "taking memory for vectors in single precision"},
        {"device_narrow", "rounding right-hand sides"},
        {"device_widen", "widening solutions"},
        {"device_solver_reserve", "taking memory for the program of the solve"},
        {"device_solver_upload", "copying the program of the solve to the device"},
        {"device_substitution_load", "copying the plan of the substitution to the device"},
        {"device_substitution_renew", "inverting diagonal blocks"},
        {"device_workspace_open", "clearing the workspace of the solve"},
        {"device_staging_open", "taking memory for copies of vectors"},
        {"device_refinement_open", "clearing the workspace of refinement"},
        {"device_solve", "launching the solve"},
        {"device_substitute", "launching the solve"},
        {"device_solve_timed", "the traced solve"},
        {"device_solve_check", "the solve on the device"},
        {"device_staging_in", "copying vectors to the device"},
        {"device_staging_out", "copying vectors from the device"},
        {"device_block_get", "copying vectors from the device"},
        {"device_block_put", "copying vectors to the device"},
        {"device_refine_step", "launching a step of refinement"},
        {"device_refine_finish", "launching the end of refinement"},
        {"device_refine_spare", "copying the right-hand side on the device"},
        {"device_refine_wait", "refinement on the device"},
    };
    char sentence[200] = "";
    if (!strcmp(fake.last, "device_solver_open"))
        snprintf(sentence, sizeof sentence, "device 0 cannot be used: %s failed on demand",
                 fake.last);
    for (size_t k = 0; k < sizeof step / sizeof *step; k++)
        if (!strcmp(fake.last, step[k][0]))
            snprintf(sentence, sizeof sentence, "%s failed: %s failed on demand", step[k][1],
                     fake.last);
    return sentence[0] && strstr(said, sentence);
}

/* Whether the call is to be made again: it failed for the reason that there is, and for the first
 * time. */
static int again(session *t, libsolver_status status, const char *call)
{
    if (status == LIBSOLVER_OK)
        return 0;
    if (status != wanted_failure(t) || t->failures > 0)
        fail_msg("%s: status %d, %d wanted, failure number %d", call, status, wanted_failure(t),
                 t->failures + 1);
    if (t->trouble == DEVICE_CALL && !session_says_what_failed(t->s.why.text))
        fail_msg("%s: %s failed, and the message is \"%s\"", call, fake.last, t->s.why.text);
    if (!t->s.why.text[0] || strstr(t->s.why.text, " 0 more bytes"))
        fail_msg("%s: status %d, and the sentence is '%s'", call, status, t->s.why.text);
    t->failures++;
    t->s.ration.left = INT64_MAX;
    return 1;
}

#define MUST(t, call) \
    do { \
        if (again(t, call, #call)) \
            assert_int_equal(call, LIBSOLVER_OK); \
    } while (0)
/* Of blocks on the device: refused where solves have gone to the CPU. */
#define MAY_BE_REFUSED(t, call, check) \
    do { \
        libsolver_status status_ = call; \
        if (status_ != LIBSOLVER_NOT_BUILT && again(t, status_, #call)) \
            status_ = call; \
        assert_true(status_ == LIBSOLVER_OK || \
                    (status_ == LIBSOLVER_NOT_BUILT && (t)->problem.may_fall_back)); \
        if (status_ == LIBSOLVER_OK) \
            check; \
        session_to_device(t); \
    } while (0)

/* Whether factors are made on the device. */
static int is_made_there(const session *t)
{
    return t->problem.expects_cholesky || t->problem.expected_signs;
}

/* Of the values that were set. */
static libsolver_status factorize(session *t)
{
    const backend_options options = {.positive_definite = t->kind == SPD,
                                     .scaling = BACKEND_EQUILIBRATE,
                                     .pivot_threshold = 0.01};
    t->s.why.text[0] = 0;
    const libsolver_status status = GPU->factorize(t->numeric, &options, &t->report, &t->s.why);
    assert_int_equal(status == LIBSOLVER_OK, !t->s.why.text[0]);
    if (status == LIBSOLVER_OK)
        assert_true(t->report.on_device == is_made_there(t) || t->sentences > 0);
    return status;
}

libsolver_status session_factorize(session *t)
{
    GPU->set_values(t->numeric, t->s.values);
    return factorize(t);
}

/* The same with values that are given on the device, each in two parts; on the host if the device
 * does not take them. */
static scalar *give_there(const session *t)
{
    const int64_t entries = t->s.a.start[t->s.a.n];
    scalar *given = fake_allocate(2 * entries * (int64_t)sizeof(scalar), 1);
    assert_non_null(given);
    for (int64_t p = 0; p < entries; p++) {
        given[2 * p] = 2 * t->s.values[p];
        given[2 * p + 1] = -t->s.values[p];
    }
    return given;
}

static libsolver_status factorize_there(session *t)
{
    int taken = 0;
    scalar *given = give_there(t);
    libsolver_status status = GPU->set_device_values(t->numeric, given, NULL, &taken, &t->s.why);
    fake_free(given);
    if (status == LIBSOLVER_OK && !taken)
        GPU->set_values(t->numeric, t->s.values);
    return status == LIBSOLVER_OK ? factorize(t) : status;
}

/* The same with one wait, where the last factor was made on the device and nothing fails. */
static libsolver_status refactorize_there(session *t)
{
    backend_settled outcome;
    scalar *given = give_there(t);
    const int may_be_alike = t->report.on_device && is_made_there(t) && !t->problem.mixed &&
                             GPU->solves_on_device(t->numeric, t->space);
    const libsolver_status status =
        GPU->refactorize(t->numeric, given, &t->report, &outcome, &t->s.why);
    fake_free(given);
    if (status != LIBSOLVER_OK)
        return status;
    assert_true(outcome == BACKEND_ADOPTED ||
                outcome == (may_be_alike ? BACKEND_REFUSED : BACKEND_UNCHANGED));
    return outcome == BACKEND_ADOPTED ? status : factorize_there(t);
}

/* The same without a wait, where factors are made on the device. */
static libsolver_status factorize_async(session *t)
{
    int is_captured = 1;
    scalar *given = give_there(t);
    const libsolver_status status =
        GPU->refactorize_async(t->numeric, given, t->status, &is_captured, &t->s.why);
    fake_free(given); /* when the stream has passed */
    assert_true(status != LIBSOLVER_OK || (*t->status == LIBSOLVER_OK && !is_captured));
    return status;
}

static libsolver_status settle(session *t)
{
    backend_settled outcome;
    const libsolver_status status = GPU->settle(t->numeric, &t->report, &outcome, &t->s.why);
    assert_true(status != LIBSOLVER_OK || outcome == BACKEND_ADOPTED);
    return status;
}

/* The same, with a trace if it is made on the device. */
static libsolver_status factorize_traced(session *t)
{
    const int64_t count = GPU->trace_factorization(t->numeric, NULL);
    libsolver_factor_task *task = calloc((size_t)count + 1, sizeof *task);
    assert_true(task && (count > 0 || !is_made_there(t) || t->sentences > 0));
    GPU->trace_factorization(t->numeric, count > 0 ? task : NULL);
    const libsolver_status status = session_factorize(t);
    GPU->trace_factorization(t->numeric, NULL);
    for (int64_t k = 0; k < count && status == LIBSOLVER_OK && t->report.on_device; k++)
        assert_true(task[k].flops > 0 && task[k].end > task[k].begin);
    free(task);
    return status;
}

libsolver_status session_refine(session *t, int solve_first, const libsolver_vectors *b,
                                const libsolver_vectors *x)
{
    double errors[COLUMNS];
    backend_refinement r = {.solve_first = solve_first, .steps = 10, .tolerance = WANTED};
    const libsolver_status status = GPU->refine(t->numeric, t->space, b, x, &r, errors, &t->s.why);
    assert_true(status != LIBSOLVER_OK ||
                (r.final <= WANTED && errors[0] <= r.final && r.final <= r.initial));
    return status;
}

libsolver_status session_launch(session *t)
{
    const backend_refinement r = {.solve_first = 1, .steps = 3, .tolerance = WANTED};
    return GPU->solve_async(t->numeric, t->space, &t->on_b, &t->on_x, &r, 0, t->errors, t->status,
                            &t->s.why);
}

static void check_launch(session *t)
{
    session_check_answer(t, &t->on_x, WANTED);
    assert_int_equal(*t->status, LIBSOLVER_OK);
    for (int j = 0; j < COLUMNS; j++)
        assert_true(t->errors[j] <= WANTED);
}

/* Blocks on the host and on the device. */
static void solve_in_all_ways(session *t)
{
    enum { ALL = BACKEND_L | BACKEND_D | BACKEND_LT };
    MUST(t, GPU->solve(t->numeric, ALL, t->space, &t->b, &t->x, &t->s.why));
    session_check_answer(t, &t->x, session_rough(t));
    MUST(t, GPU->solve(t->numeric, BACKEND_L, t->space, &t->b, &t->x, &t->s.why));
    MUST(t, GPU->solve(t->numeric, BACKEND_D, t->space, &t->x, &t->x, &t->s.why));
    MUST(t, GPU->solve(t->numeric, BACKEND_LT, t->space, &t->x, &t->x, &t->s.why));
    session_check_answer(t, &t->x, session_rough(t));
    MUST(t, session_refine(t, 1, &t->b, &t->x));
    session_check_answer(t, &t->x, WANTED);
    for (int64_t i = 0; i < t->s.a.n; i++)
        ((scalar *)t->x.values)[i] *= (real)1.01;
    MUST(t, session_refine(t, 0, &t->b, &t->x));
    session_check_answer(t, &t->x, WANTED);
    session_to_device(t);
    MAY_BE_REFUSED(t, GPU->solve(t->numeric, ALL, t->space, &t->on_b, &t->on_x, &t->s.why),
                   session_check_answer(t, &t->on_x, session_rough(t)));
    MAY_BE_REFUSED(t, session_refine(t, 1, &t->on_b, &t->on_x),
                   session_check_answer(t, &t->on_x, WANTED));
    MAY_BE_REFUSED(t, session_launch(t), check_launch(t));
    assert_int_equal(GPU->solve(t->numeric, ALL, t->space, &t->b, &t->on_x, &t->s.why),
                     LIBSOLVER_INVALID);
    assert_int_equal(session_refine(t, 1, &t->b, &t->on_x), LIBSOLVER_INVALID);
    const int on_device = GPU->solves_on_device(t->numeric, t->space);
    assert_true(on_device || (t->problem.may_fall_back && t->sentences > 0));
}

static void trace(session *t)
{
    int64_t count = 0;
    libsolver_vectors b = t->on_b, x = t->on_x;
    b.columns = x.columns = 1;
    if (t->problem.for_few || fake.by_levels || !GPU->solves_on_device(t->numeric, t->space))
        return;
    MUST(t, GPU->trace(t->numeric, t->space, NULL, NULL, 0, NULL, &count, &t->s.why));
    libsolver_task *task = calloc((size_t)count, sizeof *task);
    assert_true(task && count > 0);
    MUST(t, GPU->trace(t->numeric, t->space, &b, &x, count, task, &count, &t->s.why));
    free(task);
}

static void go_without_waits(session *t)
{
    if (!t->problem.expects_cholesky || !GPU->solves_on_device(t->numeric, t->space) ||
        !t->report.on_device)
        return;
    for (int64_t p = 0; p < t->s.a.start[t->s.a.n]; p++)
        t->s.values[p] *= (real)0.75;
    for (int k = 0; k < 2; k++) {
        MUST(t, factorize_async(t));
        session_to_device(t);
        MAY_BE_REFUSED(t, session_launch(t), check_launch(t));
    }
    MUST(t, settle(t));
    solve_in_all_ways(t);
    MUST(t, session_factorize(t));
    solve_in_all_ways(t);
}

void session_run(session *t)
{
    MUST(t, GPU->prepare(&t->problem, &t->plan, &t->s.why));
    MUST(t, GPU->create(t->plan, &t->numeric, &t->s.why));
    MUST(t, session_factorize(t));
    MUST(t, GPU->workspace_create(t->numeric, COLUMNS, &t->space, &t->s.why));
    solve_in_all_ways(t);
    trace(t);
    for (int64_t p = 0; p < t->s.a.start[t->s.a.n]; p++)
        t->s.values[p] *= 2;
    MUST(t, factorize_traced(t));
    solve_in_all_ways(t);
    MUST(t, factorize_there(t));
    solve_in_all_ways(t);
    for (int64_t p = 0; p < t->s.a.start[t->s.a.n]; p++)
        t->s.values[p] *= (real)1.5;
    MUST(t, refactorize_there(t));
    solve_in_all_ways(t);
    go_without_waits(t);
}

/* ---- But for one row ------------------------------------------------------------------------- */

/* The second half of a solution x around the complement s of `row`. */
static void end_solve(session *t, int32_t row, scalar s, const libsolver_vectors *x)
{
    scalar *values = x->values;
    for (int64_t j = 0; j < COLUMNS; j++)
        values[row + j * t->s.a.n] /= s;
    MUST(t, GPU->schur_solve(t->numeric, 1, t->space, x, x, &t->s.why));
    session_check_answer(t, x, session_rough(t));
}

void session_run_part(session *t)
{
    const int32_t row = t->s.f.perm[t->s.a.n - 1];
    scalar s = 0, *on_device = fake_allocate(sizeof(scalar), 1);
    libsolver_vectors v = {.values = &s, .rows = 1, .columns = 1, .ld = 1, .type = SCALAR_TYPE};
    assert_non_null(on_device);
    t->problem.schur_size = 1;
    t->problem.schur_rows = &row;
    MUST(t, GPU->prepare(&t->problem, &t->plan, &t->s.why));
    MUST(t, GPU->create(t->plan, &t->numeric, &t->s.why));
    MUST(t, session_factorize(t));
    MUST(t, GPU->workspace_create(t->numeric, COLUMNS, &t->space, &t->s.why));
    MUST(t, GPU->schur_complement(t->numeric, &v, &t->s.why));
    v.values = on_device;
    v.place = LIBSOLVER_DEVICE;
    MAY_BE_REFUSED(t, GPU->schur_complement(t->numeric, &v, &t->s.why),
                   assert_true(*on_device == s));
    assert_false(GPU->solves_on_device(t->numeric, t->space));
    MUST(t, GPU->schur_solve(t->numeric, 0, t->space, &t->b, &t->x, &t->s.why));
    end_solve(t, row, s, &t->x);
    session_to_device(t);
    MAY_BE_REFUSED(t, GPU->schur_solve(t->numeric, 0, t->space, &t->on_b, &t->on_x, &t->s.why),
                   end_solve(t, row, s, &t->on_x));
    fake_free(on_device);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static libsolver_vectors view(void *values, int32_t n, libsolver_place place)
{
    return (libsolver_vectors){.values = values,
                               .rows = n,
                               .columns = COLUMNS,
                               .ld = n,
                               .type = SCALAR_TYPE,
                               .place = place};
}

/* Sessions are many, and a small system makes the same calls, but for those after an inverse that
 * grew, a workspace that no longer fits and a factor in single precision that broke down. */
static int is_small(int purpose, trouble what)
{
    const int has_all_calls = purpose == ORDINARY || purpose == MIXED + FOR_FEW;
    return is_on_host(what) || (what == DEVICE_CALL && !has_all_calls);
}

void session_begin(session *t, int purpose, int may_fall_back, trouble what)
{
    random_stream r = random_seeded((uint64_t)purpose);
    const int small = is_small(purpose, what);
    pattern a =
        pattern_beside(problem_grid(small ? 4 : 9, small ? 4 : 7, 1), problem_path(small ? 3 : 20));
    const int is_mixed = purpose >= MIXED, has_signs = purpose >= SIGNED && !is_mixed,
              is_definite = purpose >= DEFINITE && purpose < MIXED_LDLT && !has_signs;
    *t = (session){.kind = is_definite ? SPD : INDEFINITE, .trouble = what};
    if (has_signs)
        system_build_quasi_definite(&t->s, &r, a, 1, BY_DISSECTION, 0);
    else
        assert_int_equal(system_build_in_order(&t->s, a, random_values(&r, &a, t->kind), t->kind,
                                               SCALAR_COMPLEX, BY_DISSECTION),
                         LIBSOLVER_OK);
    t->s.env.cancel = is_impatient;
    t->s.env.log = listen;
    t->s.env.cancel_user = t->s.env.log_user = t;
    t->target = calloc((size_t)(2 * t->s.a.start[t->s.a.n]) + 1, sizeof(int64_t));
    assert_non_null(t->target);
    for (int64_t p = 0; p < 2 * t->s.a.start[t->s.a.n]; p++)
        t->target[p] = p / 2;
    t->map = (value_map){.given = 2 * t->s.a.start[t->s.a.n],
                         .target = t->target,
                         .is_hermitian = SCALAR_COMPLEX};
    t->problem =
        (backend_problem){.env = &t->s.env,
                          .a = &t->s.a,
                          .forest = &t->s.f,
                          .values = &t->map,
                          .type = SCALAR_TYPE,
                          .symmetry = SCALAR_COMPLEX ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                          .mixed = is_mixed,
                          .expects_cholesky = is_definite,
                          .expected_signs = t->s.signs,
                          .for_few = purpose % DEFINITE == FOR_FEW,
                          .for_latency = purpose % DEFINITE == FOR_LATENCY,
                          .may_fall_back = may_fall_back};
    const int32_t n = t->s.a.n;
    t->b = view(random_scalars(&r, n * COLUMNS), n, LIBSOLVER_HOST);
    t->x = view(nan_scalars(n * COLUMNS), n, LIBSOLVER_HOST);
    t->on_b = view(fake_allocate(session_block_bytes(t), 1), n, LIBSOLVER_DEVICE);
    t->on_x = view(fake_allocate(session_block_bytes(t), 1), n, LIBSOLVER_DEVICE);
    t->errors = fake_allocate(COLUMNS * sizeof(double), 1);
    t->status = fake_allocate(sizeof *t->status, 1);
}

void session_end(session *t)
{
    if (t->numeric)
        GPU->workspace_destroy(t->numeric, t->space);
    GPU->destroy(t->numeric);
    GPU->discard(t->plan);
    fake_free(t->on_b.values);
    fake_free(t->on_x.values);
    fake_free(t->errors);
    fake_free(t->status);
    free(t->b.values);
    free(t->x.values);
    free(t->target);
    assert_int_equal(fake.held, 0);
    assert_int_equal(fake.bytes, 0);
    system_free(&t->s);
}
