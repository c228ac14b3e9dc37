/* base/meter.c: what part of a long work is done
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/meter.h"

void meter_begin(meter *m, const environment *env, int phase, double whole)
{
    m->env = env->progress && whole > 0 ? env : NULL;
    m->phase = phase;
    m->whole = whole;
    atomic_store(&m->done, 0);
    atomic_store(&m->told, 0);
    atomic_flag_clear(&m->telling);
}

/* Percent done; the rest may be more than was foreseen, so that it is not done before it is. */
static int percent_of(meter *m)
{
    const double part = 100 * (double)atomic_load(&m->done) / m->whole;
    return part < 99 ? (int)part : 99;
}

void meter_add(meter *m, double work)
{
    if (!m->env)
        return;
    atomic_fetch_add(&m->done, (int64_t)work);
    if (percent_of(m) <= atomic_load(&m->told) || atomic_flag_test_and_set(&m->telling))
        return;
    const int percent = percent_of(m); /* another thread may have told as much meanwhile */
    if (percent > atomic_load(&m->told)) {
        atomic_store(&m->told, percent);
        environment_progress(m->env, m->phase, 0.01 * percent);
    }
    atomic_flag_clear(&m->telling);
}
