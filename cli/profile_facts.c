/* cli/profile_facts.c: what is written beside a profile
 * SPDX-License-Identifier: BSD-3-Clause */
#include "profile_facts.h"
#include "svg.h"
#include <inttypes.h>

void profile_facts_json(const profile_facts *facts, json *j)
{
    json_open(j, NULL);
    json_string(j, "name", facts->name);
    json_string(j, "device", facts->device);
    json_integer(j, "n", facts->n);
    json_integer(j, "factor_nnz", facts->factor_nnz);
}

void profile_facts_svg(const profile_facts *facts, const char *what, output *o)
{
    output_print(o, "<text x=\"8\" y=\"20\" font-size=\"15\">");
    svg_escaped(o, facts->name);
    output_print(o, ": %s%s", what, facts->device ? " on " : "");
    svg_escaped(o, facts->device ? facts->device : "");
    output_print(o, ", n = %" PRId64 ", %" PRId64 " entries in L</text>\n", facts->n,
                 facts->factor_nnz);
}
