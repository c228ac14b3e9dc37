/* cli/json.h: JSON text, written into memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json {
    char *text; /* NUL-terminated; NULL when nothing was written or memory ran out */
    size_t length, capacity;
    bool first;  /* the next member is the first of its object */
    bool failed; /* memory ran out */
} json;

/* A zeroed json is an empty text.  Members of an object: key; the outermost object: key NULL. */
void json_open(json *j, const char *key);
void json_close(json *j);
/* A list of objects, each of which json_close ends. */
void json_open_list(json *j, const char *key);
void json_open_item(json *j);
void json_close_list(json *j);
/* Members of a list of numbers, NaN and infinity as null. */
void json_item_real(json *j, double value);
/* NULL: null; not UTF-8: replaced by U+FFFD */
void json_string(json *j, const char *key, const char *value);
void json_real(json *j, const char *key, double value); /* NaN and infinity: null */
void json_integer(json *j, const char *key, int64_t value);
void json_integer_or_null(json *j, const char *key, bool there, int64_t value);
void json_boolean(json *j, const char *key, bool value);
void json_null(json *j, const char *key);
void json_end_line(json *j); /* behind the outermost object; another one may follow */
/* To path, "-": standard output; an earlier failure stays.  Freed in every case. */
void json_store(json *j, const char *path, failure *f);
void json_free(json *j);

#endif
