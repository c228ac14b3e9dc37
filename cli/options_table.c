/* cli/options_table.c: the commands and options of the tool
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options_table.h"
#include <stddef.h>

const command_entry command_table[] = {
    {"solve", COMMAND_SOLVE, 1, 2, "MATRIX [RIGHT-HAND-SIDE]", "solve A x = b, refine and check x"},
    {"refine", COMMAND_REFINE, 1, 2, "MATRIX [RIGHT-HAND-SIDE]",
     "refine step by step, with a table of errors"},
    {"bench", COMMAND_BENCH, 1, 1 << 30, "PROBLEM...", "time every phase, one JSON line a problem"},
    {"plot", COMMAND_PLOT, 1, 1, "MATRIX -o FILE.svg",
     "draw a matrix, its order of elimination, its factor"},
    {"generate", COMMAND_GENERATE, 1, 1, "PROBLEM -o FILE",
     "write a problem as a Matrix Market file"},
    {"info", COMMAND_INFO, 0, 0, "", "version, what is built in, instruction set, devices"},
    {"help", COMMAND_HELP, 0, 1, "[COMMAND]", "this text, also as manual page, table, completion"},
    {NULL, COMMAND_HELP, 0, 0, NULL, NULL},
};

#define READING (COMMAND_SOLVE | COMMAND_REFINE)
#define ALL (READING | COMMAND_BENCH)
#define ANALYZING (ALL | COMMAND_PLOT)
#define FIELD(name) offsetof(settings, name)

const option_entry option_table[] = {
    {"-o", NULL, "FILE", READING | COMMAND_PLOT | COMMAND_GENERATE, VALUE_TEXT, 0, 0, FIELD(output),
     NULL, NULL,
     "where to write x or the problem (Matrix Market, .gz by suffix), or the picture (SVG); -: "
     "standard output"},
    {"--backend", NULL, "auto|cpu|gpu", ANALYZING, VALUE_CHOICE, 0, 0, FIELD(backend), "auto",
     "backend", "where to compute"},
    {"--device", NULL, "N", ANALYZING, VALUE_COUNT, 0, INT32_MAX, FIELD(device), "0", "device",
     "the GPU to use, as `libsolver info` counts them"},
    {"--type", "--kind", "auto|spd|indefinite", ANALYZING, VALUE_CHOICE, 0, 0, FIELD(kind), "auto",
     "kind", "Cholesky (spd), LDL^T (indefinite), or what fits"},
    {"--ordering", NULL, "auto|amd|nd|metis|natural|FILE", ANALYZING, VALUE_CHOICE, 0, 0,
     FIELD(ordering), "auto", "ordering",
     "order of elimination; FILE: the rows 1..n in the order wanted"},
    {"--precision", NULL, "d|s|c|z|mixed", ALL, VALUE_CHOICE, 0, 0, FIELD(precision),
     "d or z, as the matrix", "mixed",
     "real or complex, single or double; mixed: a factor in single precision, refined"},
    {"--nrhs", NULL, "K", ALL, VALUE_COUNT, 1, INT32_MAX, FIELD(nrhs), "1; bench: 1 and 16", NULL,
     "right-hand sides made when no file gives them; a further number of them for bench"},
    {"--threads", NULL, "T", ANALYZING, VALUE_COUNT, 1, INT32_MAX, FIELD(threads), "as OpenMP says",
     "threads", "CPU threads, of which at most four for each processor are used"},
    {"--refine", NULL, "N", ALL, VALUE_COUNT, 0, INT32_MAX, FIELD(refine), "10", "refine_steps",
     "refinement steps at most; 0: only check"},
    {"--tol", NULL, "E|least", ALL, VALUE_TOLERANCE, 0, 0.5, FIELD(tolerance),
     "1e-14; in single precision 5e-6", "tolerance",
     "wanted backward error; least: refine until it falls no more"},
    {"--matching", NULL, "auto|on|off", ANALYZING, VALUE_CHOICE, 0, 0, FIELD(matching), "auto",
     "matching", "scaling and ordering by a maximum-product matching"},
    {"--scaling", NULL, "auto|on|off", ALL, VALUE_CHOICE, 0, 0, FIELD(scaling), "auto", "scaling",
     "equilibration by powers of two"},
    {"--purpose", NULL, "default|few|latency", ANALYZING, VALUE_CHOICE, 0, 0, FIELD(purpose),
     "few; bench: default", "purpose",
     "what a factor is made for: about 50 solves, few, or very many that must be fast"},
    {"--pivot-threshold", NULL, "U", ALL, VALUE_REAL, 0, 0.5, FIELD(pivot_threshold),
     "0.01, smaller where that delays too many", "pivot_threshold",
     "least size of a pivot of LDL^T relative to its column"},
    {"--delay-cap", NULL, "K", ALL, VALUE_COUNT, 1, INT32_MAX, FIELD(delay_cap), "none",
     "delay_cap", "most columns that wait for a stable pivot in a parent front of LDL^T"},
    {"--memory-limit", NULL, "BYTES", ANALYZING, VALUE_BYTES, 1, 0, FIELD(memory_limit), "none",
     "memory_limit",
     "of host memory, the problem and the vectors included; K, M, G may follow the number"},
    {"--json", NULL, "FILE|-", ALL | COMMAND_INFO, VALUE_TEXT, 0, 0, FIELD(json), NULL, NULL,
     "write the results as JSON; -: on standard output, in place of the report"},
    {"--html", NULL, "FILE", COMMAND_SOLVE, VALUE_TEXT, 0, 0, FIELD(html), NULL, NULL,
     "write a page for a browser: the matrix, its tree and factor, times, memory, error by step"},
    {"--error-bounds", NULL, NULL, COMMAND_SOLVE, VALUE_NONE, 0, 0, FIELD(error_bounds),
     "where they take less than a tenth of the time so far", NULL,
     "condition, a bound of the error of x, and how many of its digits are right"},
    {"--method", NULL, "auto|plain|fgmres", COMMAND_REFINE, VALUE_CHOICE, 0, 0, FIELD(method),
     "auto", NULL, "plain steps, FGMRES preconditioned by the factor, or the one, then the other"},
    {"--residual", NULL, "auto|single|double|extended", COMMAND_REFINE, VALUE_CHOICE, 0, 0,
     FIELD(residual), "auto", NULL,
     "precision in which b - A x is summed in plain steps; auto: the next above that of x"},
    {"--compare-precisions", NULL, NULL, COMMAND_REFINE, VALUE_NONE, 0, 0,
     FIELD(compare_precisions), NULL, NULL,
     "factors in double and (on the CPU) in single precision, plain steps and FGMRES, side by "
     "side"},
    {"--symmetrize", NULL, NULL, ANALYZING, VALUE_NONE, 0, 0, FIELD(symmetrize), NULL, NULL,
     "take (A + A^T) / 2 (A^H) of a general file that is symmetric but for small differences"},
    {"--profile", NULL, "PREFIX", COMMAND_BENCH, VALUE_TEXT, 0, 0, FIELD(profile), NULL, NULL,
     "with --backend gpu: where the time of a solve goes, to PREFIX.PROBLEM.json and .svg; that of "
     "a factorization made there, to PREFIX.PROBLEM.factor.json and .factor.svg"},
    {"--compare", NULL, NULL, COMMAND_SOLVE, VALUE_NONE, 0, 0, FIELD(compare), NULL, NULL,
     "solve with SuiteSparse's CHOLMOD too, where this build has it, and print both"},
    {"--quiet", NULL, NULL, ANALYZING, VALUE_NONE, 0, 0, FIELD(quiet), NULL, NULL,
     "no report, no progress"},
    {"--log", NULL, NULL, ANALYZING, VALUE_NONE, 0, 0, FIELD(log), NULL, "log",
     "on standard error, what the library decides on the way: kind, order, backend, attempts"},
    {"--format", NULL, "text|markdown|man|bash|json", COMMAND_HELP, VALUE_CHOICE, 0, 0,
     FIELD(help_format), "text", NULL,
     "the help as a Markdown table, a manual page, a completion for bash, or JSON"},
    {NULL, NULL, NULL, 0, VALUE_NONE, 0, 0, 0, NULL, NULL, NULL},
};

const term_entry problem_table[] = {
    {"lap2d:N", "N x N grid, 5 points; positive definite"},
    {"lap3d:N", "N x N x N grid, 7 points; positive definite"},
    {"vec3d:N", "N x N x N grid, 27 points, 3 unknowns a node; positive definite"},
    {"kkt2d:N", "saddle point of order 3 N^2; indefinite"},
    {NULL, NULL},
};

const term_entry exit_table[] = {
    {"0", "solved to the tolerance"},
    {"1", "wrong usage"},
    {"2", "wrong input"},
    {"3", "no solution to the tolerance"},
    {"4", "out of memory, of what this build can do, or of room for the results"},
    {NULL, NULL},
};
