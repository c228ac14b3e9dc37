/* test/sweeps/fuzz_options.c: random options
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_calls.h"
#include <math.h>

static void draw_schur_rows(fuzz_session *s)
{
    int32_t row[64];
    const int n = s->given.n;
    random_permutation(&s->r, n, row);
    s->options.schur_size = 1 + below(s, n < 8 ? n : 8);
    for (int k = 0; k < s->options.schur_size; k++)
        s->schur_rows[k] = row[k];
    s->options.schur_rows = s->schur_rows;
}

/* The signs of the diagonal, positive where it is 0. */
static void draw_signs(fuzz_session *s)
{
    for (int i = 0; i < s->given.n; i++)
        s->signs[i] = chance(s, 3)                          ? (int8_t)(2 * below(s, 2) - 1)
                      : s->given.re[i + i * s->given.n] < 0 ? -1
                                                            : 1;
    s->options.expected_signs = s->signs;
}

static void draw_permutation(fuzz_session *s)
{
    int32_t row[64];
    random_permutation(&s->r, s->given.n, row);
    for (int k = 0; k < s->given.n; k++)
        s->permutation[k] = row[k];
    s->options.permutation = s->permutation;
}

void draw_options(fuzz_session *s)
{
    static const double thresholds[] = {0, 0, 0.01, 0.5, 0.1, 1e-4, 1e-8},
                        tolerances[] = {0, 0, 0, 1e-10, 1e-4, 1e-15};
    static const int64_t caps[] = {0, 0, 0, 1, 3, 20};
    static const int steps[] = {10, 10, 10, 0, 1, 3};
    libsolver_options *o = &s->options;
    const int complex_symmetric = !s->given.is_hermitian;
    libsolver_options_default(o);
    o->backend = below(s, 2) ? LIBSOLVER_BACKEND_CPU : LIBSOLVER_BACKEND_AUTO;
    o->threads = 1 + below(s, 3);
    o->kind = (libsolver_kind)(below(s, 10) * 2 / 5);
    if (o->kind == LIBSOLVER_KIND_QUASI_DEFINITE && !chance(s, 60))
        o->kind = LIBSOLVER_KIND_AUTO;
    if (complex_symmetric && o->kind == LIBSOLVER_KIND_SPD)
        o->kind = LIBSOLVER_KIND_INDEFINITE;
    o->ordering = chance(s, 40) ? LIBSOLVER_ORDERING_AUTO : (libsolver_ordering)below(s, 6);
    o->matching = (libsolver_choice)(chance(s, 50) ? 0 : below(s, 3));
    o->scaling = (libsolver_choice)(chance(s, 70) ? 0 : below(s, 3));
    o->pivot_threshold = thresholds[below(s, 7)];
    o->purpose = (libsolver_purpose)below(s, 3);
    o->refine_steps = steps[below(s, 6)];
    o->tolerance = tolerances[below(s, 6)];
    if (s->given.is_single && o->tolerance > 0 && o->tolerance < 1e-7)
        o->tolerance = 1e-6;
    o->keep = (libsolver_choice)below(s, 3);
    o->inertia_effort = (libsolver_effort)below(s, 3);
    o->mixed = !s->given.is_single && chance(s, 20) ? LIBSOLVER_ON : LIBSOLVER_OFF;
    o->delay_cap = caps[below(s, 6)];
    if (o->ordering == LIBSOLVER_ORDERING_USER)
        draw_permutation(s);
    if (o->kind == LIBSOLVER_KIND_QUASI_DEFINITE && !(complex_symmetric && chance(s, 50)))
        draw_signs(s);
    if (s->given.n > 0 && o->mixed == LIBSOLVER_OFF && chance(s, 10))
        draw_schur_rows(s);
    if (s->may_fail && chance(s, 20))
        o->memory_limit = 2000 + below(s, 60000);
    session_connect(s);
}

void tell_options(fuzz_session *s)
{
    static const char *const kinds[] = {"AUTO", "SPD", "INDEFINITE", "QUASI_DEFINITE"};
    static const char *const orderings[] = {"AUTO", "AMD", "ND", "METIS", "NATURAL", "USER"},
                             *const choices[] = {"AUTO", "ON", "OFF"};
    static const char *const types = "dszc";
    static const char *const storages[] = {"LOWER",         "UPPER",         "FULL",
                                           "LOWER_OF_FULL", "UPPER_OF_FULL", "EITHER"};
    const libsolver_options *o = &s->options;
    const libsolver_matrix *m = &s->view.matrix;
    session_tell(s, "%s, n = %d, type %c %s; %s %s, base %d, int%d and int%d, %d entries",
                 s->given.family, s->given.n, types[s->given.type],
                 s->given.symmetry ? "Hermitian" : "symmetric", storages[m->storage],
                 m->format ? "triplets" : "compressed", m->base, m->pointer_type ? 64 : 32,
                 m->index_type ? 64 : 32, (int)s->view.entries);
    session_tell(s,
                 "kind %s, ordering %s, matching %s, scaling %s, u = %g, purpose %d, %d steps, "
                 "tolerance %g, "
                 "mixed %s, delay_cap %d, effort %d, %d Schur rows, %d "
                 "threads, limit %d",
                 kinds[o->kind], orderings[o->ordering], choices[o->matching], choices[o->scaling],
                 o->pivot_threshold, o->purpose, o->refine_steps, o->tolerance, choices[o->mixed],
                 (int)o->delay_cap, (int)o->inertia_effort, (int)o->schur_size, o->threads,
                 (int)o->memory_limit);
}
