/* cli/output.h: a text file that appears whole or not at all
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "failure.h"
#include <stdbool.h>
#include <zlib.h>

typedef struct output {
    const char *path; /* as the user gave it */
    char *target;     /* what path stands for, links resolved */
    char *temporary;  /* the file written to beside target until output_close renames it; NULL:
                         written in place (a device or a pipe) */
    gzFile file;
    bool damaged; /* a write failed */
} output;

/* Whether what is written to path goes where the report is printed: "-", or another name of
 * standard output. */
bool output_is_printed(const char *path);
/* Whether both name one file, which is there or not; devices and pipes are none. */
bool output_is_file(const char *path, const char *other);
/* EXIT_RESOURCES if a file cannot be written at path, found by making one beside it for a
 * moment. */
int output_check(const char *path, failure *f);

/* Compresses if path, which must outlive o, ends in .gz; "-" is standard output. */
int output_open(output *o, const char *path, failure *f);

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void output_print(output *o, const char *format, ...);
void output_text(output *o, const char *text, size_t length);

/* Closes; keep: puts the file at its path, otherwise nothing is left of it.  A failed write is
 * reported here.
 */
int output_close(output *o, bool keep, failure *f);

/* All of it: opens, writes text, closes. */
int output_store(const char *path, const char *text, size_t length, failure *f);

#endif
