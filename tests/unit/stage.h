/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_STAGE_H
#define WEFT_TESTS_UNIT_STAGE_H

#include "tests/unit/fake_tracefs.h"

#include <stdbool.h>

struct loom;

/*
 * A fake tracefs that all of weft takes for the kernel's, so that whole commands of lib/ can run on it: tracing_find()
 * finds it, journals are in it, what is read of /proc and /sys is read below it (and mostly is not there), and an
 * instance that is made in it is filled with files. Its events are the types of a loom, and each buffer that weft reads
 * has the pages that the loom played, once.
 * Only one at a time. The linker does it (Makefile: unit_wrapped).
 */
struct stage {
	struct fake fake;
	struct loom *loom;
	int pipes[256]; /* the pipes of trace_pipe_raw, held open */
	size_t nr_pipes;
};

/* An instance that has this file is held open by a process: it cannot be removed. */
#define STAGE_HELD "held"

/* Call it after loom_trace(), which closes the last pages. */
bool stage_begin(struct stage *stage, struct loom *loom);
void stage_end(struct stage *stage);

/* The names in a directory of the fake tracefs, each after a blank, in any order. */
const char *stage_left(const struct stage *stage, const char *dir, char *into, size_t size);

#endif
