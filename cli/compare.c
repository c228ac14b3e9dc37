/* cli/compare.c: runs libsolver-compare and reads its line
 * SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_ROOM = 4096, LINE_ROOM = 1024 };

int compare_find(char *place, int room, failure *f)
{
    static const char name[] = "libsolver-compare";
    const ssize_t length = readlink("/proc/self/exe", place, (size_t)room);
    char *folder_end = NULL;
    if (length > 0 && length < room) {
        place[length] = '\0';
        folder_end = strrchr(place, '/');
    }
    if (folder_end && folder_end + sizeof name < place + room) {
        memcpy(folder_end + 1, name, sizeof name);
        if (access(place, X_OK) == 0)
            return 0;
    }
    return failure_set(
        f, EXIT_RESOURCES,
        "--compare: there is no libsolver-compare beside this program; it is built where "
        "SuiteSparse's CHOLMOD is found");
}

/* Starts it with its standard output into ends[1] of a pipe; -1: that failed. */
static pid_t start(char *program, const settings *s, const int *ends)
{
    char *arguments[] = {program, s->operands[0], s->operand_count > 1 ? s->operands[1] : NULL,
                         NULL};
    char threads[24];
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (s->threads > 0) { /* those of CHOLMOD's BLAS */
        snprintf(threads, sizeof threads, "%lld", (long long)s->threads);
        setenv("OMP_NUM_THREADS", threads, 1);
        setenv("OPENBLAS_NUM_THREADS", threads, 1);
    }
    if (posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) != 0 ||
        posix_spawn_file_actions_addclose(&actions, ends[0]) != 0 ||
        posix_spawn(&child, program, &actions, NULL, arguments, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

/* Field after field of the line; false: that is not the line of libsolver-compare. */
static bool parse_line(char *line, comparison *c)
{
    char *field[6];
    int fields = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *next = line; next && fields < 6; fields++) {
        field[fields] = next;
        next = strchr(next, '\t');
        if (next)
            *next++ = '\0';
    }
    if (fields < 6)
        return false;
    double *numbers[] = {&c->analyze, &c->factorize, &c->solve, &c->backward_error};
    for (int k = 0; k < 4; k++)
        *numbers[k] = strtod(field[k + 1], NULL);
    snprintf(c->solver, sizeof c->solver, "%s", field[0]);
    snprintf(c->message, sizeof c->message, "%s", field[5]);
    return true;
}

int compare_run(const settings *s, comparison *c, failure *f)
{
    char program[PATH_ROOM], line[LINE_ROOM] = "";
    int ends[2];
    if (compare_find(program, sizeof program, f))
        return f->code;
    if (pipe(ends) != 0)
        return failure_set(f, EXIT_RESOURCES, "--compare: no pipe to libsolver-compare");
    const pid_t child = start(program, s, ends);
    close(ends[1]);
    FILE *from = child > 0 ? fdopen(ends[0], "r") : NULL;
    const bool read = from && fgets(line, sizeof line, from) != NULL;
    if (from)
        fclose(from);
    else
        close(ends[0]);
    int ended = 0;
    if (child > 0)
        waitpid(child, &ended, 0);
    c->done = read && parse_line(line, c);
    return c->done ? 0
                   : failure_set(f, EXIT_RESOURCES, "--compare: libsolver-compare gave no answer");
}
