/* cli/problem.c: test problems by name, and matrices from files
 * SPDX-License-Identifier: BSD-3-Clause */
#include "problem.h"
#include "mm_read.h"
#include "options.h"
#include "room.h"
#include "suggest.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A generator appends its entries by columns, then rows; the room is there. */
static void append(triplets *a, int64_t row, int64_t column, double value)
{
    triplets_append(a, row, column, &value);
}

static void make_lap2d(int64_t m, triplets *a)
{
    for (int64_t y = 0; y < m; y++)
        for (int64_t x = 0; x < m; x++) {
            int64_t node = y * m + x;
            append(a, node, node, 4);
            if (x + 1 < m)
                append(a, node + 1, node, -1);
            if (y + 1 < m)
                append(a, node + m, node, -1);
        }
}

static void make_lap3d(int64_t m, triplets *a)
{
    for (int64_t z = 0; z < m; z++)
        for (int64_t y = 0; y < m; y++)
            for (int64_t x = 0; x < m; x++) {
                int64_t node = (z * m + y) * m + x;
                append(a, node, node, 6);
                if (x + 1 < m)
                    append(a, node + 1, node, -1);
                if (y + 1 < m)
                    append(a, node + m, node, -1);
                if (z + 1 < m)
                    append(a, node + m * m, node, -1);
            }
}

/* Column j of a node: its rows i in the neighbour at d = (dx, dy, dz), if the neighbour exists. */
static void append_vec3d_block(int64_t m, const int64_t *node, const int *d, int j, triplets *a)
{
    int64_t at[3], column = 3 * ((node[2] * m + node[1]) * m + node[0]) + j;
    for (int k = 0; k < 3; k++) {
        at[k] = node[k] + d[k];
        if (at[k] < 0 || at[k] >= m)
            return;
    }
    bool same_node = d[0] == 0 && d[1] == 0 && d[2] == 0;
    for (int i = 0; i < 3; i++) {
        int64_t row = 3 * ((at[2] * m + at[1]) * m + at[0]) + i;
        double coupling = 0.1 * ((d[0] * (i + 1) + d[1] * (j + 2) + d[2]) % 3);
        if (row >= column)
            append(a, row, column, row == column ? 81 : same_node ? 0.1 : i == j ? -1 : coupling);
    }
}

static void make_vec3d(int64_t m, triplets *a)
{
    /* itself and those numbered later */
    for (int64_t node = 0; node < m * m * m; node++)
        for (int j = 0; j < 3; j++)
            for (int neighbour = 13; neighbour < 27; neighbour++) {
                const int64_t at[] = {node % m, node / m % m, node / m / m};
                const int d[] = {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
                append_vec3d_block(m, at, d, j, a);
            }
}

static void make_kkt2d(int64_t m, triplets *a)
{
    const int64_t half = m * m;
    for (int64_t k = 0; k < 2 * half; k++) {
        double whole, fraction = modf(0.6180339887498949 * (double)(k + 1), &whole);
        append(a, k, k, pow(10, 12 * fraction - 6));
        int64_t node = k % half, next = k < half ? node + 1 : node + m;
        bool has_next = k < half ? (node + 1) % m != 0 : next < half;
        append(a, 2 * half + node, k, 1);
        if (has_next)
            append(a, 2 * half + next, k, -1);
    }
}

static const struct generator {
    const char *name;
    int dimension, unknowns; /* order = unknowns N^dimension */
    int entries;             /* at most, a row */
    void (*make)(int64_t m, triplets *a);
} generators[] = {
    {"lap2d", 2, 1, 3, make_lap2d},
    {"lap3d", 3, 1, 4, make_lap3d},
    {"vec3d", 3, 3, 42, make_vec3d},
    {"kkt2d", 2, 3, 3, make_kkt2d},
};

static int generate(const struct generator *g, const char *specification, triplets *a, failure *f)
{
    const char *size = strchr(specification, ':') + 1;
    char *end;
    long m = strtol(size, &end, 10);
    if (*size < '1' || *size > '9' || *end)
        return failure_set(f, EXIT_USAGE, "%s: N in %s:N must be a positive whole number",
                           specification, g->name);
    double order = g->unknowns * pow((double)m, g->dimension);
    if (order >= INT32_MAX)
        return failure_set(f, EXIT_USAGE, "%s: orders above %d are not supported", specification,
                           INT32_MAX - 1);
    a->n = (int32_t)order;
    int64_t room = (int64_t)a->n * g->entries;
    a->rows = room_new(room, sizeof *a->rows);
    a->columns = room_new(room, sizeof *a->columns);
    a->values = room_new(room, sizeof *a->values);
    if (!a->rows || !a->columns || !a->values)
        return failure_memory(f, specification);
    a->capacity = room;
    g->make(m, a);
    return 0;
}

/* name = the last part of path without .mtx, .gz or .mtx.gz, cut to its room */
static void name_of_file(const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, room, "%s", slash ? slash + 1 : path);
    for (const char *const *suffix = (const char *const[]){".gz", ".mtx", NULL}; *suffix;
         suffix++) {
        size_t length = strlen(name), cut = strlen(*suffix);
        if (length > cut && strcmp(name + length - cut, *suffix) == 0)
            name[length - cut] = '\0';
    }
}

static const struct generator *generator_of(const char *specification)
{
    for (size_t k = 0; k < sizeof generators / sizeof *generators; k++) {
        size_t length = strlen(generators[k].name);
        if (strncmp(specification, generators[k].name, length) == 0 && specification[length] == ':')
            return &generators[k];
    }
    return NULL;
}

const char *problem_generator(const char *specification)
{
    const struct generator *g = generator_of(specification);
    return g ? g->name : NULL;
}

void problem_name(const char *specification, char *name, size_t room)
{
    if (generator_of(specification))
        snprintf(name, room, "%s", specification);
    else
        name_of_file(specification, name, room);
}

/* Whether a specification, for which there is neither a generator nor a file, is spelt as one of
 * the former. */
static bool is_misspelt(const char *specification)
{
    const char *colon = strchr(specification, ':');
    return colon && colon[1] >= '0' && colon[1] <= '9' && !strchr(specification, '/') &&
           access(specification, F_OK) != 0;
}

static int fail_misspelt(const char *specification, failure *f)
{
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)strcspn(specification, ":"), specification);
    suggestion near = suggest_none(given);
    for (size_t k = 0; k < sizeof generators / sizeof *generators; k++)
        suggest(&near, given, generators[k].name, strlen(generators[k].name));
    return failure_set(f, EXIT_INPUT, "%s: there is neither such a problem nor such a file%s",
                       specification, suggest_text(&near).text);
}

static int load(const char *specification, bool symmetrize, problem *p, failure *f)
{
    const struct generator *g = generator_of(specification);
    *p = (problem){.a = {.type = LIBSOLVER_D}};
    problem_name(specification, p->name, sizeof p->name);
    if (!g && is_misspelt(specification))
        return fail_misspelt(specification, f);
    return g            ? generate(g, specification, &p->a, f)
           : symmetrize ? mm_read_symmetrized(specification, &p->a, &p->asymmetry, f)
                        : mm_read_matrix(specification, &p->a, NULL, f);
}

int problem_load(const char *specification, problem *p, failure *f)
{
    return load(specification, false, p, f);
}

int problem_symmetrize(const char *specification, problem *p, failure *f)
{
    return load(specification, true, p, f);
}

int problem_convert(problem *p, int wanted, failure *f)
{
    static const libsolver_type types[] = {[PRECISION_D] = LIBSOLVER_D,
                                           [PRECISION_S] = LIBSOLVER_S,
                                           [PRECISION_C] = LIBSOLVER_C,
                                           [PRECISION_Z] = LIBSOLVER_Z};
    if (wanted == PRECISION_BY_MATRIX || wanted == PRECISION_MIXED)
        return 0;
    if (triplets_width(&p->a) > type_width(types[wanted]))
        return failure_set(f, EXIT_INPUT, "%s: the matrix is complex; its precision is c or z",
                           p->name);
    return triplets_convert(&p->a, types[wanted]) ? 0 : failure_memory(f, p->name);
}

void problem_free(problem *p)
{
    triplets_free(&p->a);
}
