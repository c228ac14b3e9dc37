/* cli/profile_facts.h: what is written beside a profile
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PROFILE_FACTS_H
#define CLI_PROFILE_FACTS_H

#include "json.h"
#include "output.h"
#include <stdint.h>

/* NaN and NULL: not known. */
typedef struct profile_facts {
    const char *name, *device;
    int64_t n, factor_nnz;
    double stream, graph; /* seconds of a solve that is not traced, on a stream and in a graph */
    double refactorize, refactorize_device; /* of a refactorization that leaves the factor ready to
                                               be solved with, with values on the host and on the
                                               device */
} profile_facts;

/* The first members of a profile's JSON, which is left open. */
void profile_facts_json(const profile_facts *facts, json *j);
/* The first line of its picture; what: "one solve". */
void profile_facts_svg(const profile_facts *facts, const char *what, output *o);

#endif
