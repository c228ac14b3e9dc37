/* cli/suggest.c: the word that somebody who misspelt it may have meant
 * SPDX-License-Identifier: BSD-3-Clause */
#include "suggest.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 39 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters, large and small ones alike, that are missing, too many, wrong or exchanged with their
 * neighbour: the fewest such mistakes that make b of a [Damerau 1964; by rows, as Wagner and
 * Fischer 1974]. */
static int mistakes(const char *a, int m, const char *b, int n)
{
    int row[3][LONGEST + 1]; /* the last two rows and the one at hand */
    for (int j = 0; j <= n; j++)
        row[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *here = row[i % 3], *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        here[0] = i;
        for (int j = 1; j <= n; j++) {
            here[j] = least(above[j - 1] + (tolower((unsigned char)a[i - 1]) !=
                                            tolower((unsigned char)b[j - 1])),
                            1 + least(above[j], here[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = least(here[j], before[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}

suggestion suggest_none(const char *given)
{
    /* a third of its letters may be wrong */
    return (suggestion){.distance = 1 + ((int)strlen(given) + 2) / 3};
}

void suggest(suggestion *s, const char *given, const char *word, size_t length)
{
    const size_t given_length = strlen(given);
    if (given_length > LONGEST || length > LONGEST)
        return;
    const int distance = mistakes(given, (int)given_length, word, (int)length);
    if (distance >= s->distance)
        return;
    s->distance = distance;
    snprintf(s->word, sizeof s->word, "%.*s", (int)length, word);
}

suggestion_text suggest_text(const suggestion *s)
{
    suggestion_text t = {""};
    if (*s->word)
        snprintf(t.text, sizeof t.text, "; did you mean %s?", s->word);
    return t;
}
