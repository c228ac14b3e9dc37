/* cli/output.c: a text file that appears whole or not at all
 * SPDX-License-Identifier: BSD-3-Clause */
#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most links to follow, as the system's own limit. */
#define MOST_LINKS 40

/* What a link says that stands at path and leads to nothing yet, to be freed; NULL: there is none,
 * or no memory. */
static char *link_at(const char *path)
{
    char text[4096];
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = '\0';
    const char *slash = strrchr(path, '/');
    const size_t folder = text[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    char *place = malloc(folder + (size_t)length + 1);
    if (place) {
        memcpy(place, path, folder);
        memcpy(place + folder, text, (size_t)length + 1);
    }
    return place;
}

/* Where a file at path stands or will stand, links followed, to be freed; NULL: no memory. */
static char *resolve(const char *path)
{
    char *place = realpath(path, NULL);
    if (place)
        return place;
    place = strdup(path);
    for (int k = 0; k < MOST_LINKS && place; k++) {
        char *next = link_at(place);
        if (!next)
            break;
        free(place);
        place = next;
    }
    return place;
}

/* The standard stream, output or errors, that path is another name of; -1: none. */
static int stream_at(const char *path)
{
    struct stat facts, stream;
    if (strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    if (stat(path, &facts) != 0)
        return -1;
    for (int file = STDOUT_FILENO; file <= STDERR_FILENO; file++)
        if (fstat(file, &stream) == 0 && stream.st_dev == facts.st_dev &&
            stream.st_ino == facts.st_ino)
            return file;
    return -1;
}

/* A device or a pipe: no file may take its place. */
static bool is_special(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static int open_beside(output *o)
{
    size_t room = strlen(o->target) + 32;
    o->temporary = malloc(room);
    if (!o->temporary) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(o->temporary, room, "%s.%ld.part", o->target, (long)getpid());
    int file = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file < 0) { /* not ours: never to be removed */
        int reason = errno;
        free(o->temporary);
        o->temporary = NULL;
        errno = reason;
        return file;
    }
    struct stat facts;
    if (stat(o->target, &facts) == 0)
        (void)fchmod(file, facts.st_mode & 0777); /* as the older file's, where the system lets us
                                                   */
    return file;
}

/* What is special is not opened: whoever waits at a pipe would take that for all there is. */
static bool is_writable(const char *special)
{
    struct stat facts;
    if (stat(special, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        errno = EISDIR;
        return false;
    }
    return access(special, W_OK) == 0;
}

bool output_is_printed(const char *path)
{
    return stream_at(path) == STDOUT_FILENO;
}

bool output_is_file(const char *path, const char *other)
{
    struct stat a, b;
    if (strcmp(path, "-") == 0 || strcmp(other, "-") == 0)
        return false;
    const bool there = stat(path, &a) == 0, other_there = stat(other, &b) == 0;
    if (there && other_there)
        return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    char *place = resolve(path), *other_place = resolve(other);
    const bool same =
        !there && !other_there && place && other_place && strcmp(place, other_place) == 0;
    free(place);
    free(other_place);
    return same;
}

int output_check(const char *path, failure *f)
{
    output o = {.path = path, .target = resolve(path)};
    if (!o.target)
        return failure_memory(f, path);
    int refused = 0;
    if (stream_at(path) < 0) {
        const int file = is_special(o.target) ? -1 : open_beside(&o);
        refused = is_special(o.target) ? !is_writable(o.target) : file < 0;
        if (refused)
            failure_set(f, EXIT_RESOURCES, "%s: cannot be written: %s", path, strerror(errno));
        if (file >= 0) {
            close(file);
            unlink(o.temporary);
        }
    }
    free(o.temporary);
    free(o.target);
    return f->code;
}

int output_open(output *o, const char *path, failure *f)
{
    *o = (output){.path = path};
    o->target = resolve(path);
    if (!o->target)
        return failure_memory(f, path);
    const int stream = stream_at(path);
    int file = stream >= 0             ? dup(stream)
               : is_special(o->target) ? open(o->target, O_WRONLY)
                                       : open_beside(o);
    if (file < 0) {
        int reason = errno;
        free(o->target);
        return failure_set(f, EXIT_RESOURCES, "%s: cannot be written: %s", path, strerror(reason));
    }
    size_t length = strlen(path);
    bool compress = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    o->file = gzdopen(file, compress ? "wb6" : "wbT");
    if (!o->file) {
        close(file);
        output_close(o, false, f);
        return failure_memory(f, path);
    }
    gzbuffer(o->file, 1 << 17);
    return 0;
}

void output_text(output *o, const char *text, size_t length)
{
    while (length > 0 && !o->damaged) {
        unsigned part = length < 1 << 20 ? (unsigned)length : 1 << 20;
        o->damaged = gzwrite(o->file, text, part) != (int)part;
        text += part;
        length -= part;
    }
}

void output_print(output *o, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        o->damaged = true;
    else
        output_text(o, text, (size_t)length);
}

int output_close(output *o, bool keep, failure *f)
{
    errno = 0;
    bool written = !o->file || gzclose_w(o->file) == Z_OK;
    written = written && !o->damaged;
    if (o->temporary && keep && written)
        written = rename(o->temporary, o->target) == 0;
    int reason = errno;
    if (o->temporary && !(keep && written))
        unlink(o->temporary);
    if (keep && !written)
        failure_set(f, EXIT_RESOURCES, "%s: cannot be written: %s", o->path,
                    reason ? strerror(reason) : "the write failed");
    free(o->target);
    free(o->temporary);
    *o = (output){0};
    return keep && !written ? f->code : 0;
}

int output_store(const char *path, const char *text, size_t length, failure *f)
{
    output o;
    if (output_open(&o, path, f))
        return f->code;
    output_text(&o, text, length);
    return output_close(&o, true, f);
}
