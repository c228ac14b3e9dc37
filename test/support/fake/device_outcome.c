/* test/support/fake/device_outcome.c: outcomes of refactorizations that nobody waits for, on the
 * host: gpu/factor/device_outcome.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_outcome.h"
#include "device.h"
#include <math.h>
#include <string.h>

libsolver_status device_outcome_open(device_outcome *o, message *why)
{
    MAY_FAIL("clearing the outcome of refactorizations", why);
    o->words = fake_allocate(sizeof *o->words, 1);
    o->last = fake_allocate(sizeof *o->last, 0);
    if (!o->words || !o->last) {
        fake_free(o->words);
        fake_free(o->last);
        o->words = NULL;
        o->last = NULL;
        return fake_no_memory("the outcome of refactorizations", sizeof *o->words, why);
    }
    *o->words = (outcome_words){.number = o->number};
    *o->last = (judged_outcome){.number = o->number};
    return LIBSOLVER_OK;
}

void device_outcome_close(device_outcome *o)
{
    fake_wait(o->stream);
    if (o->last)
        o->number = o->last->number;
    fake_free(o->words);
    fake_free(o->last);
    o->words = NULL;
    o->last = NULL;
    o->is_used = 0;
}

typedef struct judgement {
    outcome_arguments a;
    outcome_words *words;
    judged_outcome *last;
} judgement;

static void scale_becomes(const outcome_arguments *a, int is_good)
{
    const int64_t bytes = a->n * type_real_bytes(a->type);
    if (is_good)
        fake_copy(a->scale, a->from, bytes);
    else
        memset(a->scale, 0xff, (size_t)bytes); /* NaN */
}

static int is_past(uint64_t bits, double limit)
{
    double growth;
    memcpy(&growth, &bits, sizeof growth);
    return !(growth <= limit);
}

static void run_judgement(void *arguments)
{
    const judgement *j = arguments;
    const outcome_arguments *a = &j->a;
    const cholesky_outcome *f = a->factored;
    const libsolver_status refusal = j->words->flaws.nonfinite    ? LIBSOLVER_NONFINITE
                                     : j->words->flaws.asymmetric ? LIBSOLVER_INVALID
                                                                  : LIBSOLVER_OK;
    libsolver_status status = refusal != LIBSOLVER_OK && !a->keeps ? refusal
                              : f->failed < a->n || f->nonpositive < a->n
                                  ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                  : LIBSOLVER_OK;
    scale_becomes(a, status == LIBSOLVER_OK);
    if (status == LIBSOLVER_OK && a->grown &&
        (is_past(a->grown->of_group, a->limit) || is_past(a->grown->of_root, a->limit)))
        status = LIBSOLVER_INACCURATE;
    *j->words = (outcome_words){.status = status, .number = j->words->number + 1};
    *j->last = (judged_outcome){j->words->number, refusal != LIBSOLVER_OK ? refusal : status,
                                f->uncertain, f->smallest};
    if (a->status)
        *a->status = status;
}

libsolver_status device_outcome_judge(device_outcome *o, const outcome_arguments *a, message *why)
{
    MAY_FAIL("launching the kernel that judges a factorization", why);
    fake_insist(!a->status || fake_room(a->status) >= (int64_t)sizeof *a->status,
                "the status is not on the device");
    fake_insist(fake_room(a->scale) >= a->n * type_real_bytes(a->type), "scale needs more room");
    const judgement work = {*a, o->words, o->last};
    o->is_used = 1;
    fake_launch(o->stream, run_judgement, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_outcome_last(const device_outcome *o, judged_outcome *last, message *why)
{
    MAY_FAIL("the refactorization on the device", why);
    fake_wait(o->stream);
    *last = *o->last;
    return LIBSOLVER_OK;
}

libsolver_status device_outcome_set(const device_outcome *o, libsolver_status status, message *why)
{
    MAY_FAIL("telling the device what came of the factorization", why);
    fake_wait(o->stream);
    *o->words = (outcome_words){.status = status, .number = o->last->number};
    return LIBSOLVER_OK;
}

int device_outcome_is_captured(const device_outcome *o)
{
    return fake_is_captured(o->stream);
}
