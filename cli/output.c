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
    }
    return file;
}

int output_open(output *o, const char *path, failure *f)
{
    *o = (output){.path = path};
    o->target = realpath(path, NULL);
    if (!o->target)
        o->target = strdup(path);
    if (!o->target)
        return failure_memory(f, path);
    int file = strcmp(path, "-") == 0  ? dup(STDOUT_FILENO)
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
