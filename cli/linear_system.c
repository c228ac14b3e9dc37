/* cli/linear_system.c: A x = b as the command line names it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "linear_system.h"
#include "certificate.h"
#include "mm_read.h"
#include <math.h>

static int allocate_block(const linear_system *system, const settings *s, dense_block *block,
                          failure *f)
{
    const triplets *a = &system->problem.a;
    return dense_create(block, a->n, system->nrhs, a->type) ? 0 : failure_memory(f, s->operands[0]);
}

static int read_right_hand_sides(linear_system *system, const settings *s, failure *f)
{
    const triplets *a = &system->problem.a;
    int64_t columns;
    double *values;
    if (mm_read_vectors(s->operands[1], a->n, a->type, &values, &columns, f))
        return f->code;
    system->nrhs = columns;
    if (!dense_adopt(&system->b, a->n, columns, a->type, values))
        return failure_memory(f, s->operands[1]);
    if (s->nrhs && s->nrhs != columns)
        return failure_set(f, EXIT_INPUT, "%s: it has %lld columns, --nrhs says %lld",
                           s->operands[1], (long long)columns, (long long)s->nrhs);
    return allocate_block(system, s, &system->x, f);
}

/* b = A x* */
static int make_right_hand_sides(linear_system *system, const settings *s, failure *f)
{
    const triplets *a = &system->problem.a;
    system->nrhs = s->nrhs ? s->nrhs : 1;
    if (allocate_block(system, s, &system->b, f) || allocate_block(system, s, &system->x, f))
        return f->code;
    made_solution(a->n, system->nrhs, triplets_width(a), system->x.values);
    return triplets_multiply(a, system->x.values, system->nrhs, system->b.values)
               ? 0
               : failure_memory(f, s->operands[0]);
}

int linear_system_read(linear_system *system, const settings *s, failure *f)
{
    *system = (linear_system){0};
    if ((s->symmetrize ? problem_symmetrize : problem_load)(s->operands[0], &system->problem, f))
        return f->code;
    system->is_read = true;
    if (problem_convert(&system->problem, s->precision, f) ||
        (s->operand_count > 1 ? read_right_hand_sides : make_right_hand_sides)(system, s, f))
        return f->code;
    dense_set(&system->b);
    return 0;
}

void linear_system_free(linear_system *system)
{
    problem_free(&system->problem);
    dense_free(&system->b);
    dense_free(&system->x);
}

double linear_system_error(const linear_system *system, const settings *s)
{
    const triplets *a = &system->problem.a;
    return s->operand_count < 2
               ? forward_error(a->n, system->nrhs, triplets_width(a), system->x.values)
               : NAN;
}
