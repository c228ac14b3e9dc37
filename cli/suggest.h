/* cli/suggest.h: the word that somebody who misspelt it may have meant
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

typedef struct suggestion {
    char word[40]; /* "": none is near */
    int distance;
} suggestion;

/* A fresh one for `given`, to be offered words one after the other; the nearest stays, the first of
 * several. */
suggestion suggest_none(const char *given);
void suggest(suggestion *s, const char *given, const char *word, size_t length);

/* "; did you mean WORD?", or "" */
typedef struct suggestion_text {
    char text[64];
} suggestion_text;
suggestion_text suggest_text(const suggestion *s);

#endif
