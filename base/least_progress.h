/* base/least_progress.h: when plain refinement is no longer worth its steps, for all backends
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_LEAST_PROGRESS_H
#define BASE_LEAST_PROGRESS_H

/* A step that does not reduce the backward error to this part of it is the last of its column: a
 * cycle of FGMRES does better. */
#define LEAST_PROGRESS 0.1
/* The same for a factor with zero pivots, where no FGMRES follows. */
#define LEAST_PROGRESS_SINGULAR 0.5

#endif
