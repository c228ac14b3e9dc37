/* test/gpu/test_gpu_backend.c: the GPU backend on a device of the host on which anything may fail,
 * of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake/fake.h"
#include "solver/gpu/backend.h"
#include "tree_shapes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU (&NAME(gpu_backend))
enum { COLUMNS = 3 };
/* Of a solution that was not refined, and of one that was. */
#define ROUGH (1000 * EPS)
#define WANTED (EPS < 1e-10 ? 1e-14 : 5e-6)

/* What goes wrong: a call on the device, allocations on the host from one on or that one alone, the
 * caller's patience. */
typedef enum trouble { DEVICE_CALL, HOST_MEMORY, ONE_ALLOCATION, CANCEL, NO_TROUBLE } trouble;

/* A session with one system; each call is made again if it fails. */
typedef struct session {
    cpu_system s; /* its values and order; its own factor is not used */
    void *plan, *numeric, *space;
    backend_problem problem;
    int kind;
    trouble trouble;
    int64_t polls, patience; /* of the cancel callback */
    int failures;            /* calls that failed */
    int sentences;           /* that say that solves run on the CPU, */
    char said[200];          /* the last of them */
    backend_report report;   /* of the last factorization */
    libsolver_vectors b, x, on_b, on_x;
    double *errors;
    libsolver_status *status; /* on the device, as errors */
} session;

static int is_impatient(void *user)
{
    session *t = user;
    return t->trouble == CANCEL && t->polls++ == t->patience;
}

static void listen(void *user, const char *sentence)
{
    session *t = user;
    if (!strstr(sentence, "solves on the CPU: "))
        return;
    t->sentences++;
    snprintf(t->said, sizeof t->said, "%s", sentence);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int64_t block_bytes(const session *t)
{
    return (int64_t)t->s.a.n * COLUMNS * (int64_t)sizeof(scalar);
}

static void to_device(const session *t)
{
    fake_wait(NULL);
    memcpy(t->on_b.values, t->b.values, (size_t)block_bytes(t));
    memset(t->on_x.values, 0xff, (size_t)block_bytes(t));
}

static void check_answer(const session *t, const libsolver_vectors *x, double allowed)
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

static int is_on_host(trouble what)
{
    return what == HOST_MEMORY || what == ONE_ALLOCATION;
}

static libsolver_status wanted_failure(const session *t)
{
    return t->trouble == CANCEL     ? LIBSOLVER_CANCELLED
           : is_on_host(t->trouble) ? LIBSOLVER_OUT_OF_MEMORY
                                    : fake.failure;
}

/* What a message has to say of a call on the device that failed: the step, then the reason. */
static int says_what_failed(const char *said)
{
    static const char *const step[][2] = {
        {"device_matrix_open", "copying the matrix to the device"},
        {"device_matrix_set", "copying the values of the matrix to the device"},
        {"device_factor_upload", "copying the factor to the device"},
        {"device_inverter_load", "copying the tables for the inverses to the device"},
        {"device_inverter_run", "inverting groups of columns"},
        {"device_solver_reserve", "taking memory for the program of the solve"},
        {"device_solver_upload", "copying the program of the solve to the device"},
        {"device_substitution_load", "copying the plan of the substitution to the device"},
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
    if (t->trouble == DEVICE_CALL && !says_what_failed(t->s.why.text))
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
        to_device(t); \
    } while (0)

static libsolver_status factorize(session *t)
{
    const backend_options options = {.positive_definite = t->kind == SPD,
                                     .scaling = BACKEND_EQUILIBRATE,
                                     .pivot_threshold = 0.01};
    GPU->set_values(t->numeric, t->s.values);
    t->s.why.text[0] = 0;
    const libsolver_status status = GPU->factorize(t->numeric, &options, &t->report, &t->s.why);
    assert_int_equal(status == LIBSOLVER_OK, !t->s.why.text[0]);
    return status;
}

static libsolver_status refine(session *t, int solve_first, const libsolver_vectors *b,
                               const libsolver_vectors *x)
{
    double errors[COLUMNS];
    backend_refinement r = {.solve_first = solve_first, .steps = 10, .tolerance = WANTED};
    const libsolver_status status = GPU->refine(t->numeric, t->space, b, x, &r, errors, &t->s.why);
    assert_true(status != LIBSOLVER_OK ||
                (r.final <= WANTED && errors[0] <= r.final && r.final <= r.initial));
    return status;
}

static libsolver_status launch(session *t)
{
    const backend_refinement r = {.solve_first = 1, .steps = 3, .tolerance = WANTED};
    return GPU->solve_async(t->numeric, t->space, &t->on_b, &t->on_x, &r, 0, t->errors, t->status,
                            &t->s.why);
}

static void check_launch(session *t)
{
    check_answer(t, &t->on_x, WANTED);
    assert_int_equal(*t->status, LIBSOLVER_OK);
    for (int j = 0; j < COLUMNS; j++)
        assert_true(t->errors[j] <= WANTED);
}

/* Blocks on the host and on the device. */
static void solve_in_all_ways(session *t)
{
    enum { ALL = BACKEND_L | BACKEND_D | BACKEND_LT };
    MUST(t, GPU->solve(t->numeric, ALL, t->space, &t->b, &t->x, &t->s.why));
    check_answer(t, &t->x, ROUGH);
    MUST(t, GPU->solve(t->numeric, BACKEND_L, t->space, &t->b, &t->x, &t->s.why));
    MUST(t, GPU->solve(t->numeric, BACKEND_D, t->space, &t->x, &t->x, &t->s.why));
    MUST(t, GPU->solve(t->numeric, BACKEND_LT, t->space, &t->x, &t->x, &t->s.why));
    check_answer(t, &t->x, ROUGH);
    MUST(t, refine(t, 1, &t->b, &t->x));
    check_answer(t, &t->x, WANTED);
    for (int64_t i = 0; i < t->s.a.n; i++)
        ((scalar *)t->x.values)[i] *= (real)1.01;
    MUST(t, refine(t, 0, &t->b, &t->x));
    check_answer(t, &t->x, WANTED);
    to_device(t);
    MAY_BE_REFUSED(t, GPU->solve(t->numeric, ALL, t->space, &t->on_b, &t->on_x, &t->s.why),
                   check_answer(t, &t->on_x, ROUGH));
    MAY_BE_REFUSED(t, refine(t, 1, &t->on_b, &t->on_x), check_answer(t, &t->on_x, WANTED));
    MAY_BE_REFUSED(t, launch(t), check_launch(t));
    assert_int_equal(GPU->solve(t->numeric, ALL, t->space, &t->b, &t->on_x, &t->s.why),
                     LIBSOLVER_INVALID);
    assert_int_equal(refine(t, 1, &t->b, &t->on_x), LIBSOLVER_INVALID);
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

static void run(session *t)
{
    MUST(t, GPU->prepare(&t->problem, &t->s.why, &t->plan));
    MUST(t, GPU->create(t->plan, &t->s.why, &t->numeric));
    MUST(t, factorize(t));
    MUST(t, GPU->workspace_create(t->numeric, COLUMNS, &t->space, &t->s.why));
    solve_in_all_ways(t);
    trace(t);
    for (int64_t p = 0; p < t->s.a.start[t->s.a.n]; p++)
        t->s.values[p] *= 2;
    MUST(t, factorize(t));
    solve_in_all_ways(t);
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

enum { ORDINARY, FOR_FEW, FOR_LATENCY, PURPOSES };

static void begin(session *t, int purpose, int may_fall_back, trouble what)
{
    random_stream r = random_seeded((uint64_t)purpose);
    const int few = is_on_host(what); /* sessions are many */
    pattern a =
        pattern_beside(problem_grid(few ? 4 : 9, few ? 4 : 7, 1), problem_path(few ? 3 : 20));
    *t = (session){.kind = purpose == FOR_FEW ? SPD : INDEFINITE, .trouble = what};
    assert_int_equal(system_build_in_order(&t->s, a, random_values(&r, &a, t->kind), t->kind,
                                           SCALAR_COMPLEX, BY_DISSECTION),
                     LIBSOLVER_OK);
    t->s.env.cancel = is_impatient;
    t->s.env.log = listen;
    t->s.env.cancel_user = t->s.env.log_user = t;
    t->problem =
        (backend_problem){.env = &t->s.env,
                          .a = &t->s.a,
                          .forest = &t->s.f,
                          .type = SCALAR_TYPE,
                          .symmetry = SCALAR_COMPLEX ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                          .for_few = purpose == FOR_FEW,
                          .for_latency = purpose == FOR_LATENCY,
                          .may_fall_back = may_fall_back};
    const int32_t n = t->s.a.n;
    t->b = view(random_scalars(&r, n * COLUMNS), n, LIBSOLVER_HOST);
    t->x = view(nan_scalars(n * COLUMNS), n, LIBSOLVER_HOST);
    t->on_b = view(fake_allocate(block_bytes(t), 1), n, LIBSOLVER_DEVICE);
    t->on_x = view(fake_allocate(block_bytes(t), 1), n, LIBSOLVER_DEVICE);
    t->errors = fake_allocate(COLUMNS * sizeof(double), 1);
    t->status = fake_allocate(sizeof *t->status, 1);
}

/* Nothing is left on the device, nor, which system_free looks at, on the host. */
static void end(session *t)
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
    assert_int_equal(fake.held, 0);
    assert_int_equal(fake.bytes, 0);
    system_free(&t->s);
}

/* A session in which the k-th thing that may go wrong does, for all k; returns how many there
 * are. */
static int64_t sweep(int purpose, int may_fall_back, trouble what)
{
    int64_t k = 0;
    for (int over = 0; !over; k++) {
        session t;
        fake_reset();
        begin(&t, purpose, may_fall_back, what);
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
        else if (t.sentences > 0 && fake.last && !says_what_failed(t.said))
            fail_msg("%s failed, and what was told is \"%s\"", fake.last, t.said);
        end(&t);
        assert_true(k < 5000);
    }
    return k - 1;
}

static void check_sweeps(trouble what, int64_t least)
{
    for (int purpose = 0; purpose < PURPOSES; purpose++)
        for (int may_fall_back = 0; may_fall_back < 2; may_fall_back++) {
            const int64_t count = sweep(purpose, may_fall_back, what);
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

/* ---- What is given back, and what is told ---------------------------------------------------- */

/* A session before its first factorization; returns the bytes on the device, which are A's. */
static int64_t open_factor(session *t, int purpose, int may_fall_back)
{
    fake_reset();
    begin(t, purpose, may_fall_back, NO_TROUBLE);
    const int64_t before = fake.bytes;
    assert_int_equal(GPU->prepare(&t->problem, &t->s.why, &t->plan), LIBSOLVER_OK);
    assert_int_equal(GPU->create(t->plan, &t->s.why, &t->numeric), LIBSOLVER_OK);
    return fake.bytes - before;
}

/* The same with a factor. */
static void open_factorized(session *t, int may_fall_back)
{
    open_factor(t, ORDINARY, may_fall_back);
    assert_int_equal(factorize(t), LIBSOLVER_OK);
}

/* After a factorization that failed the device has A, and page-locked memory that factors come
 * through. */
static void check_given_back(const session *t, int64_t held, int64_t bytes, int64_t bytes_of_a)
{
    const int64_t staging = fake.held - held;
    assert_in_range(staging, 0, 1);
    assert_int_equal(fake.bytes, bytes + staging * 2 * fake.half);
    assert_int_equal(t->report.device_bytes, bytes_of_a);
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
                                             "the plan of the substitution wanted "};
        int refused = 0, lacked[5] = {0};
        for (int later = 0; later < 2; later++) {
            int64_t k = later; /* call 0 brings A, before anything of the last factor is gone */
            for (int over = 0; !over; k++) {
                if (later)
                    assert_int_equal(factorize(&t), LIBSOLVER_OK);
                fake.last = NULL;
                fake.left = k;
                const libsolver_status status = factorize(&t);
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
            assert_int_equal(GPU->create(t.plan, &t.s.why, &t.numeric), LIBSOLVER_OK);
            fake.capacity = bytes + more;
            const libsolver_status status = factorize(&t);
            if (status == LIBSOLVER_OK)
                break;
            assert_int_equal(status, LIBSOLVER_OUT_OF_DEVICE_MEMORY);
            check_given_back(&t, held, bytes, bytes_of_a);
            count_objects(t.s.why.text, object, 5, lacked);
            refused++;
        }
        for (int p = 0; p < 5; p++)
            if ((lacked[p] == 0) == (purpose == FOR_FEW ? p == 0 || p == 4 : p < 4))
                fail_msg("purpose %d: \"%s\" was said %d times", purpose, object[p], lacked[p]);
        assert_true(refused > 10);
        end(&t);
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
                check_answer(&t, &t.x, ROUGH);
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
        check_answer(&t, &t.x, ROUGH);
        assert_int_equal(fake.held, taken);
        end(&t);
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
        assert_int_equal(factorize(&t), LIBSOLVER_OK);
        const int64_t held = fake.held;
        fake.last = NULL;
        fake.left = 0;
        assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why), LIBSOLVER_OK);
        fake.left = INT64_MAX;
        assert_false(GPU->solves_on_device(t.numeric, t.space));
        check_answer(&t, &t.x, ROUGH);
        assert_true(fake.held < held);
        met += strcmp(fake.last, "device_workspace_open") == 0;
        end(&t);
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
            to_device(&t);
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
        check_answer(&t, x, WANTED);
        assert_true(k > 30 && (below > 10 || !on_device));
        end(&t);
        /* one of the last calls, and the CPU takes over */
        open_factorized(&t, 1);
        assert_int_equal(GPU->workspace_create(t.numeric, COLUMNS, &t.space, &t.s.why),
                         LIBSOLVER_OK);
        fake.left = k - 8;
        assert_int_equal(refine_in_vain(&t, &t.b, &t.x), LIBSOLVER_OK);
        assert_int_equal(t.sentences, fake.left == INT64_MAX);
        check_answer(&t, &t.x, WANTED);
        end(&t);
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
        begin(&t, purpose, 0, NO_TROUBLE);
        run(&t);
        message why = {0};
        assert_int_equal(GPU->trace(t.numeric, t.space, &t.on_b, &t.on_x, 1000, task, &count, &why),
                         LIBSOLVER_NOT_BUILT);
        assert_non_null(strstr(why.text, "traced"));
        end(&t);
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
        begin(&t, ORDINARY, may_fall_back, NO_TROUBLE);
        run(&t);
        to_device(&t);
        fake.gives_up = 1;
        assert_int_equal(launch(&t), LIBSOLVER_OK);
        fake_wait(NULL);
        assert_int_equal(*t.status, LIBSOLVER_CUDA);
        fake.gives_up = 1;
        assert_int_equal(refine(&t, 1, &t.on_b, &t.on_x), LIBSOLVER_CUDA);
        assert_int_equal(refine(&t, 1, &t.on_b, &t.on_x), LIBSOLVER_OK); /* told once */
        check_answer(&t, &t.on_x, WANTED);
        fake.gives_up = 1;
        assert_int_equal(GPU->solve(t.numeric, ALL, t.space, &t.b, &t.x, &t.s.why),
                         may_fall_back ? LIBSOLVER_OK : LIBSOLVER_CUDA);
        assert_int_equal(GPU->solves_on_device(t.numeric, t.space), !may_fall_back);
        assert_int_equal(t.sentences, may_fall_back);
        if (may_fall_back)
            check_answer(&t, &t.x, ROUGH);
        end(&t);
    }
}

/* A refinement in b's place cannot be made again on the CPU: b is gone. */
static void what_was_overwritten_is_not_repeated(void **state)
{
    (void)state;
    session t;
    fake_reset();
    begin(&t, ORDINARY, 1, NO_TROUBLE);
    run(&t);
    fake.left = 1;
    assert_int_equal(GPU->solve(t.numeric, BACKEND_L | BACKEND_D | BACKEND_LT, t.space, &t.x, &t.x,
                                &t.s.why),
                     fake.failure);
    assert_int_equal(t.sentences, 0);
    end(&t);
}

static void what_it_does_not_do_is_refused(void **state)
{
    (void)state;
    session t;
    message why = {0};
    void *plan = NULL;
    int64_t host = 0, device = 0;
    double error;
    fake_reset();
    begin(&t, ORDINARY, 0, NO_TROUBLE);
    backend_problem other = t.problem;
    other.mixed = 1;
    assert_int_equal(GPU->prepare(&other, &why, &plan), LIBSOLVER_NOT_BUILT);
    other = t.problem;
    other.schur_size = 1;
    assert_int_equal(GPU->prepare(&other, &why, &plan), LIBSOLVER_NOT_BUILT);
    run(&t);
    GPU->predict(t.plan, &host, &device);
    assert_true(host > 0 && device > 0);
    assert_int_equal(GPU->schur_complement(t.numeric, &t.x, &t.s.why), LIBSOLVER_NOT_BUILT);
    assert_int_equal(GPU->schur_solve(t.numeric, 0, t.space, &t.b, &t.x, &t.s.why),
                     LIBSOLVER_NOT_BUILT);
    assert_int_equal(GPU->forward_error(t.numeric, t.space, &t.on_b, &t.on_x, &error, &t.s.why),
                     LIBSOLVER_NOT_BUILT);
    assert_true(GPU->workspace_bytes(t.numeric, COLUMNS) > 3 * block_bytes(&t));
    end(&t);
    GPU->discard(NULL);
    GPU->destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_on_the_device_may_fail),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(any_poll_may_cancel),
        cmocka_unit_test(what_was_not_packed_is_given_back),
        cmocka_unit_test(a_part_of_a_workspace_is_given_back),
        cmocka_unit_test(a_workspace_that_cannot_follow_is_given_back),
        cmocka_unit_test(a_failure_below_fgmres_is_told),
        cmocka_unit_test(a_device_by_levels),
        cmocka_unit_test(a_solve_that_gives_up),
        cmocka_unit_test(what_was_overwritten_is_not_repeated),
        cmocka_unit_test(what_it_does_not_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
