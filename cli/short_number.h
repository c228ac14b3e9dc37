/* cli/short_number.h: numbers for people: three digits, a prefix, a unit
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SHORT_NUMBER_H
#define CLI_SHORT_NUMBER_H

typedef struct short_number {
    char text[32];
} short_number;

/* 1234567, "flop": "1.23 Mflop" */
short_number short_count(double value, const char *unit);
/* 2048: "2 KiB" */
short_number short_bytes(double value);
/* .0015: "1.50 ms" */
short_number short_seconds(double seconds);

#endif
