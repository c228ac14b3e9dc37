/* cli/permutation.c: an order of elimination from a file
 * SPDX-License-Identifier: BSD-3-Clause */
#include "permutation.h"
#include "lines.h"
#include "room.h"

/* seen[i]: the line that named row i, 0 if none has */
static int read_rows(lines *s, int32_t n, int64_t *permutation, int64_t *seen)
{
    int64_t count = 0, row;
    while (!lines_next_data(s) && s->text) {
        if (lines_parse_count(s, "row", &row))
            break;
        if (!lines_at_end(s))
            return lines_fail(s, "unexpected '%s' behind the row", lines_token(s).text);
        if (row < 1 || row > n)
            return lines_fail(s, "the row %lld is outside 1..%d", (long long)row, n);
        if (seen[row - 1])
            return lines_fail(s, "the row %lld was already named in line %lld", (long long)row,
                              (long long)seen[row - 1]);
        seen[row - 1] = s->number;
        permutation[count++] = row - 1;
    }
    if (!s->failure->code && count < n)
        return lines_fail(s, "the file names %lld of %d rows", (long long)count, n);
    return s->failure->code;
}

int permutation_read(const char *path, int32_t n, int64_t **permutation, failure *f)
{
    lines s;
    int64_t *seen = room_zeroed((int64_t)n + 1, sizeof *seen);
    *permutation = room_new((int64_t)n + 1, sizeof **permutation);
    if (!seen || !*permutation)
        failure_memory(f, path);
    else {
        if (!lines_open(&s, path, f))
            read_rows(&s, n, *permutation, seen);
        lines_close(&s);
    }
    room_free(seen);
    if (f->code) {
        room_free(*permutation);
        *permutation = NULL;
    }
    return f->code;
}
