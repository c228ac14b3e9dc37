/* cli/lines.c: the lines of a text file, plain or compressed with gzip, with their numbers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"
#include "room.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (4 * LINE_LIMIT)

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

int lines_open(lines *s, const char *path, failure *f)
{
    *s = (lines){.path = path, .failure = f};
    errno = 0;
    s->file = gzopen(strcmp(path, "-") == 0 ? "/dev/stdin" : path, "rb");
    if (!s->file)
        return errno ? failure_set(f, EXIT_INPUT, "%s: %s", path, strerror(errno))
                     : failure_memory(f, path);
    gzbuffer(s->file, BUFFER_BYTES);
    s->buffer = room_new(BUFFER_BYTES + 1, 1); /* one more for the NUL of a last line without an end
                                                */
    return s->buffer ? 0 : failure_memory(f, path);
}

void lines_close(lines *s)
{
    if (s->file)
        gzclose_r(s->file);
    room_free(s->buffer);
    s->file = NULL;
    s->buffer = NULL;
}

int lines_fail(lines *s, const char *format, ...)
{
    char cause[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cause, sizeof cause, format, arguments);
    va_end(arguments);
    return failure_set(s->failure, EXIT_INPUT, "%s:%lld: %s", s->path,
                       (long long)(s->number ? s->number : 1), cause);
}

/* Appends what the file holds next to buffer[begin, end), moved to the front.  At its end:
 * nothing. */
static int refill(lines *s)
{
    memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
    s->end -= s->begin;
    s->begin = 0;
    errno = 0;
    int got = gzread(s->file, s->buffer + s->end, (unsigned)(BUFFER_BYTES - s->end));
    int error = Z_OK;
    const char *message = gzerror(s->file, &error);
    if (got > 0)
        s->end += (size_t)got;
    if (error == Z_OK || got > 0)
        return 0; /* damage behind good data shows at the next call */
    if (error == Z_ERRNO)
        return failure_set(s->failure, EXIT_INPUT, "%s: %s", s->path, strerror(errno));
    if (error == Z_MEM_ERROR)
        return failure_memory(s->failure, s->path);
    if (error == Z_BUF_ERROR)
        return lines_fail(s, "the compressed file is cut off");
    return lines_fail(s, "the compressed file is damaged (%s)", message);
}

int lines_next(lines *s)
{
    s->text = s->at = NULL;
    char *end = memchr(s->buffer + s->begin, '\n', s->end - s->begin);
    while (!end) {
        size_t before = s->end - s->begin;
        if (before > LINE_LIMIT)
            break;
        if (refill(s))
            return s->failure->code;
        if (s->end == before) { /* the end of the file: what is left is the last line */
            if (before == 0)
                return 0;
            end = s->buffer + s->end;
            break;
        }
        end = memchr(s->buffer + before, '\n', s->end - before);
    }
    s->number++;
    if (!end || end - (s->buffer + s->begin) > LINE_LIMIT)
        return lines_fail(s, "the line is longer than %d characters", LINE_LIMIT);
    s->text = s->at = s->buffer + s->begin;
    s->begin = (size_t)(end - s->buffer) + (end < s->buffer + s->end);
    *end = '\0';
    if (memchr(s->text, '\0', (size_t)(end - s->text)))
        return lines_fail(s, "the line holds a zero byte; is this a text file?");
    return 0;
}

int lines_next_data(lines *s)
{
    do {
        if (lines_next(s))
            return s->failure->code;
    } while (s->text && (lines_at_end(s) || *s->at == '%'));
    return 0;
}

bool lines_at_end(lines *s)
{
    while (is_space(*s->at))
        s->at++;
    return *s->at == '\0';
}

shown_token lines_token(const lines *s)
{
    shown_token shown;
    const size_t room = sizeof shown.text - 4;
    size_t k = 0;
    for (const char *p = s->at; *p && !is_space(*p) && k < room; p++)
        shown.text[k++] = *p > ' ' && *p < 127 ? *p : '?';
    strcpy(shown.text + k, k == room ? "..." : "");
    return shown;
}

int lines_parse_count(lines *s, const char *what, int64_t *value)
{
    if (lines_at_end(s))
        return lines_fail(s, "the %s is missing", what);
    char *p = s->at;
    int64_t count = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (count > (INT64_MAX - (*p - '0')) / 10)
            return lines_fail(s, "the %s '%s' is too large", what, lines_token(s).text);
        count = 10 * count + (*p - '0');
    }
    if (p == s->at || (*p && !is_space(*p)))
        return lines_fail(s, "the %s '%s' is not a whole number", what, lines_token(s).text);
    s->at = p;
    *value = count;
    return 0;
}

int lines_parse_real(lines *s, double *value)
{
    if (lines_at_end(s))
        return lines_fail(s, "a value is missing");
    char *end;
    *value = strtod(s->at, &end);
    const char *digits = s->at + (*s->at == '-' || *s->at == '+');
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (end == s->at || (*end && !is_space(*end)) || hexadecimal)
        return lines_fail(s, "'%s' is not a number", lines_token(s).text);
    if (!isfinite(*value))
        return lines_fail(s, "the value '%s' is not finite", lines_token(s).text);
    s->at = end;
    return 0;
}
