/* cli/mm_file.h: a Matrix Market file as a stream of entries [Boisvert, Pozo, Remington 1996,
 * NISTIR 5935]
 *
 * Strict: every line is checked and a failure names its line.  Memory is bounded: what a header
 * announces is not believed until the entries have come.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_MM_FILE_H
#define CLI_MM_FILE_H

#include "lines.h"

typedef enum mm_field { MM_REAL, MM_INTEGER, MM_COMPLEX, MM_PATTERN } mm_field;
typedef enum mm_symmetry { MM_GENERAL, MM_SYMMETRIC, MM_HERMITIAN } mm_symmetry;

typedef struct mm_file {
    lines source;
    bool array; /* dense, column by column; otherwise coordinates */
    mm_field field;
    mm_symmetry symmetry;
    int64_t rows, columns, entries; /* as announced; entries of an array: those of its stored part
                                     */

    /* the entry that mm_file_next has read: 0-based, imaginary part 0 unless complex, pattern
     * entries are 1
     */
    int64_t row, column;
    double value[2];
    int64_t seen; /* entries so far */
    bool ended;
} mm_file;

/* Opens path and reads the header.  mm_file_close in every case. */
int mm_file_open(mm_file *m, const char *path, failure *f);
void mm_file_close(mm_file *m);

/* The next entry, or ended = true behind the last one, after a look that nothing else follows. */
int mm_file_next(mm_file *m);

#endif
