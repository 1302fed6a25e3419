/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_PASS_LINES_INTERNAL_H
#define WEFT_ANSWERS_FRAME_PASS_LINES_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;
struct pass;

enum { PASS_LINES_SIZE = 1 << 15 }; /* of pass::lines, at first */

/*
 * pass_run() for analyses that print lines while they read. `flush` empties pass::lines whenever there are enough; what
 * they print last stays there. After a failure it is not called again.
 */
int must_check pass_run_lines(struct pass *pass, int (*flush)(struct out *lines, struct fail *fail), struct fail *fail);

#endif
