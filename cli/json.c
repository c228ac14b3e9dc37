/* cli/json.c: JSON text, written into memory
 * SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"
#include "output.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(json *j, const char *text, size_t length)
{
    if (j->failed)
        return;
    if (j->length + length + 1 > j->capacity) {
        size_t capacity = 2 * (j->length + length + 1);
        char *moved = realloc(j->text, capacity);
        if (!moved) {
            json_free(j);
            j->failed = true;
            return;
        }
        j->text = moved;
        j->capacity = capacity;
    }
    memcpy(j->text + j->length, text, length);
    j->length += length;
    j->text[j->length] = '\0';
}

static void append_text(json *j, const char *text)
{
    append(j, text, strlen(text));
}

/* Bytes of the UTF-8 sequence at p (Unicode 15, table 3-7), 0 if there is none. */
static size_t utf8_length(const unsigned char *p)
{
    size_t length = p[0] < 0x80   ? 1
                    : p[0] < 0xc2 ? 0
                    : p[0] < 0xe0 ? 2
                    : p[0] < 0xf0 ? 3
                    : p[0] < 0xf5 ? 4
                                  : 0;
    for (size_t k = 1; k < length; k++)
        if ((p[k] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool no_character = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || no_character ? 0 : length;
}

static void append_quoted(json *j, const char *value)
{
    const unsigned char *p = (const unsigned char *)value;
    append_text(j, "\"");
    while (*p) {
        size_t length = utf8_length(p);
        if (*p < ' ' || *p == '"' || *p == '\\') {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", *p);
            append_text(j, escape);
        } else if (length == 0)
            append_text(j, "\\ufffd");
        else
            append(j, (const char *)p, length);
        p += length ? length : 1;
    }
    append_text(j, "\"");
}

static void begin_member(json *j, const char *key)
{
    if (!key)
        return;
    if (!j->first)
        append_text(j, ", ");
    j->first = false;
    append_quoted(j, key);
    append_text(j, ": ");
}

void json_open(json *j, const char *key)
{
    begin_member(j, key);
    append_text(j, "{");
    j->first = true;
}

void json_close(json *j)
{
    append_text(j, "}");
    j->first = false;
}

void json_open_list(json *j, const char *key)
{
    begin_member(j, key);
    append_text(j, "[");
    j->first = true;
}

void json_open_item(json *j)
{
    append_text(j, j->first ? "{" : ", {");
    j->first = true;
}

void json_close_list(json *j)
{
    append_text(j, "]");
    j->first = false;
}

void json_string(json *j, const char *key, const char *value)
{
    begin_member(j, key);
    if (value)
        append_quoted(j, value);
    else
        append_text(j, "null");
}

static void append_real(json *j, double value)
{
    char text[32] = "null";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.9g", value);
    append_text(j, text);
}

void json_real(json *j, const char *key, double value)
{
    begin_member(j, key);
    append_real(j, value);
}

void json_item_real(json *j, double value)
{
    if (!j->first)
        append_text(j, ", ");
    j->first = false;
    append_real(j, value);
}

void json_integer(json *j, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    begin_member(j, key);
    append_text(j, text);
}

void json_integer_or_null(json *j, const char *key, bool there, int64_t value)
{
    if (there)
        json_integer(j, key, value);
    else
        json_null(j, key);
}

void json_boolean(json *j, const char *key, bool value)
{
    begin_member(j, key);
    append_text(j, value ? "true" : "false");
}

void json_null(json *j, const char *key)
{
    json_string(j, key, NULL);
}

void json_end_line(json *j)
{
    append_text(j, "\n");
}

void json_store(json *j, const char *path, failure *f)
{
    failure unwritten = {0};
    if (j->failed)
        failure_memory(&unwritten, path);
    else
        output_store(path, j->text, j->length, &unwritten);
    json_free(j);
    if (unwritten.code && !f->code)
        *f = unwritten;
}

void json_free(json *j)
{
    free(j->text);
    *j = (json){0};
}
