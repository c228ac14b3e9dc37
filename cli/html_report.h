/* cli/html_report.h: a solve as one page for a browser, which needs nothing else
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_HTML_REPORT_H
#define CLI_HTML_REPORT_H

#include "output.h"
#include "report.h"
#include "session.h"

/* Writes the page to `path`: what was reached, drawn as far as it goes; at_work: as the solve left
 * it.  Factorizes and solves again where that was done on a GPU, to trace it.  Fails only where the
 * page cannot be written. */
int html_report(const report *r, session *at_work, const char *path, failure *f);

/* ---- html_tree.c ---- */

/* The elimination tree as boxes, as wide as the operations in and below them, roots at the top.
 * parent, height: see spy_factor_tree.  False: no memory. */
bool html_tree(int32_t n, const int32_t *parent, const int64_t *height, output *o);

/* ---- html_timelines.c ---- */

/* What a GPU did in a factorization and in a solve; nothing where the CPU did all. */
void html_timelines(const report *r, session *at_work, output *o);

#endif
