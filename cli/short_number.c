/* cli/short_number.c: numbers for people
 * SPDX-License-Identifier: BSD-3-Clause */
#include "short_number.h"
#include <math.h>
#include <stdio.h>

static short_number shorten(double value, double step, const char *const *prefixes,
                            const char *unit)
{
    short_number s;
    while (value >= 0.9995 * step && prefixes[1]) {
        value /= step;
        prefixes++;
    }
    int digits = value >= 99.95 || value == floor(value) ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(s.text, sizeof s.text, "%.*f%s%s%s", digits, value, **prefixes || *unit ? " " : "",
             *prefixes, unit);
    return s;
}

short_number short_count(double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", NULL};
    return shorten(value, 1000, prefixes, unit);
}

short_number short_bytes(double value)
{
    static const char *const prefixes[] = {"bytes", "KiB", "MiB", "GiB", "TiB", NULL};
    return shorten(value, 1024, prefixes, "");
}

short_number short_seconds(double seconds)
{
    static const char *const prefixes[] = {"us", "ms", "s", NULL};
    return shorten(1e6 * seconds, 1000, prefixes, "");
}
