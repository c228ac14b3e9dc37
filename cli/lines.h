/* cli/lines.h: the lines of a text file, plain or compressed with gzip, with their numbers
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "failure.h"
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

/* bytes of a line; longer ones are refused, so that memory is bounded (the fuzzer's is small:
 * buffers are full sooner) */
#ifndef LINE_LIMIT
#define LINE_LIMIT 65536
#endif

typedef struct lines {
    const char *path;
    gzFile file;
    char *buffer;
    size_t begin, end; /* bytes read and not yet handed out: buffer[begin, end) */
    char *text; /* the line without its end, NUL-terminated, writable; NULL past the last line */
    char *at;   /* where parsing of text has come to */
    int64_t number; /* of the line, from 1 */
    failure *failure;
} lines;

/* Opens path, "-": standard input, which must outlive s.  Every call returns 0 or the code left in
 * *f.  lines_close in every case.
 */
int lines_open(lines *s, const char *path, failure *f);
void lines_close(lines *s);

/* The next line, and the next one that is neither blank nor a comment (first character '%'). */
int lines_next(lines *s);
int lines_next_data(lines *s);

/* EXIT_INPUT: "PATH:LINE: ..." */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int lines_fail(lines *s, const char *format, ...);

/* Moves s->at past white space; true if nothing follows on the line. */
bool lines_at_end(lines *s);

/* An unsigned decimal number at s->at, followed by white space or the end of the line.  what: its
 * name in the message of a failure. */
int lines_parse_count(lines *s, const char *what, int64_t *value);

/* A finite decimal number (C's strtod, no hexadecimal).  Below the smallest double it is rounded,
 * to zero at last. */
int lines_parse_real(lines *s, double *value);

/* The token at s->at for a message: printable, cut to a few characters.  Valid until the next
 * call. */
typedef struct shown_token {
    char text[40];
} shown_token;
shown_token lines_token(const lines *s);

#endif
