/* cli/compare_cholmod.c: the program `libsolver-compare PROBLEM [RIGHT-HAND-SIDE]`, CHOLMOD on what
 * the tool solves
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * See compare.h for what it prints.  It links CHOLMOD, whose supernodal part is under the GPL. */
#include "certificate.h"
#include "mm_read.h"
#include "problem.h"
#include "libsolver_cholmod.h"
#include "room.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct run {
    problem problem;
    double *b;
    int64_t columns;
    cholmod_common common;
    cholmod_sparse *a;
    cholmod_factor *l;
    cholmod_dense *rhs, *x;
    double analyze, factorize, solve, error;
    const char *message;
} run;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The problem, and b from its file or A x*. */
static int read_problem(run *r, int operands, char **operand, failure *f)
{
    const triplets *a = &r->problem.a;
    if (problem_load(operand[0], &r->problem, f))
        return f->code;
    if (operands > 1)
        return mm_read_vectors(operand[1], a->n, a->type, &r->b, &r->columns, f);
    const int64_t doubles = (int64_t)a->n * triplets_width(a) + 1;
    double *x = room_new(doubles, sizeof(double));
    r->columns = 1;
    r->b = room_new(doubles, sizeof(double));
    if (x && r->b)
        made_solution(a->n, 1, triplets_width(a), x);
    const int made = x && r->b && triplets_multiply(a, x, 1, r->b);
    room_free(x);
    return made ? 0 : failure_memory(f, operand[0]);
}

/* The matrix and the right-hand sides as CHOLMOD's. */
static int convert(run *r)
{
    const triplets *a = &r->problem.a;
    const int xtype = triplets_width(a) == 2 ? CHOLMOD_COMPLEX : CHOLMOD_REAL;
    const size_t n = (size_t)a->n, width = (size_t)triplets_width(a);
    cholmod_triplet *t = cholmod_l_allocate_triplet(n, n, (size_t)a->nnz, -1, xtype, &r->common);
    if (!t)
        return 0;
    for (int64_t k = 0; k < a->nnz; k++) {
        ((SuiteSparse_long *)t->i)[k] = a->rows[k];
        ((SuiteSparse_long *)t->j)[k] = a->columns[k];
    }
    memcpy(t->x, a->values, (size_t)a->nnz * width * sizeof(double));
    t->nnz = (size_t)a->nnz;
    r->a = cholmod_l_triplet_to_sparse(t, (size_t)a->nnz, &r->common);
    cholmod_l_free_triplet(&t, &r->common);
    r->rhs = cholmod_l_allocate_dense(n, (size_t)r->columns, n, xtype, &r->common);
    if (r->rhs)
        memcpy(r->rhs->x, r->b, n * (size_t)r->columns * width * sizeof(double));
    return r->a && r->rhs;
}

/* What went wrong, in words. */
static const char *trouble(const run *r)
{
    return r->common.status == CHOLMOD_NOT_POSDEF
               ? "the matrix is not positive definite, CHOLMOD does not solve with it"
           : r->common.status == CHOLMOD_OUT_OF_MEMORY ? "not enough memory"
           : r->common.status == CHOLMOD_TOO_LARGE     ? "too large for CHOLMOD"
                                                       : "CHOLMOD could not do it";
}

static void run_phases(run *r)
{
    const triplets *a = &r->problem.a;
    if (triplets_width(a) == 2 && a->symmetry != LIBSOLVER_HERMITIAN) {
        r->message = "CHOLMOD has no factorization of complex symmetric matrices";
        return;
    }
    double mark;
    r->message = NULL;
    if (convert(r)) {
        mark = seconds();
        r->l = cholmod_l_analyze(r->a, &r->common);
        r->analyze = r->l ? seconds() - mark : NAN;
    }
    mark = seconds();
    if (r->l && cholmod_l_factorize(r->a, r->l, &r->common) && r->common.status == CHOLMOD_OK) {
        r->factorize = seconds() - mark;
        mark = seconds();
        r->x = cholmod_l_solve(CHOLMOD_A, r->l, r->rhs, &r->common);
        r->solve = r->x ? seconds() - mark : NAN;
    }
    r->message = r->x ? "" : trouble(r);
    if (r->x && !backward_error(a, r->columns, r->b, r->x->x, &r->error))
        r->message = "no memory to check the solution";
}

static void print(const run *r)
{
    int version[3];
    cholmod_l_version(version);
    printf("CHOLMOD %d.%d.%d%s\t%.6e\t%.6e\t%.6e\t%.3e\t%s\n", version[0], version[1], version[2],
           !r->l            ? ""
           : r->l->is_super ? " supernodal"
                            : " simplicial",
           r->analyze, r->factorize, r->solve, r->error, r->message);
}

int main(int count, char **arguments)
{
    run r = {.analyze = NAN, .factorize = NAN, .solve = NAN, .error = NAN};
    failure f = {0};
    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: libsolver-compare PROBLEM [RIGHT-HAND-SIDE]\n");
        return EXIT_USAGE;
    }
    cholmod_l_start(&r.common);
    r.common.print = 0;
    if (read_problem(&r, count - 1, arguments + 1, &f))
        fprintf(stderr, "libsolver-compare: %s\n", f.text);
    else {
        run_phases(&r);
        print(&r);
    }
    cholmod_l_free_dense(&r.x, &r.common);
    cholmod_l_free_dense(&r.rhs, &r.common);
    cholmod_l_free_factor(&r.l, &r.common);
    cholmod_l_free_sparse(&r.a, &r.common);
    cholmod_l_finish(&r.common);
    problem_free(&r.problem);
    room_free(r.b);
    return f.code;
}
