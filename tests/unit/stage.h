/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_STAGE_H
#define WEFT_TESTS_UNIT_STAGE_H

#include <stdbool.h>

#include "tests/unit/fake_tracefs.h"

struct loom;

/*
 * A fake tracefs that all of weft takes for the kernel's, so that whole commands of lib/ can run on it. tracing_find()
 * finds it; journals are in it; files of /proc and /sys are read below it, where most are missing; an instance that is
 * made in it gets its files. Its events have the types of a loom, and each buffer that weft reads has once the pages
 * that the loom played. There can be only one at a time. The linker puts its functions in place of the real ones
 * (Makefile: unit_wrapped).
 */
struct stage {
	struct fake fake;
	struct loom *loom;
	int pipes[256]; /* the pipes of trace_pipe_raw, held open */
	size_t nr_pipes;
};

/* A process holds an instance with this file open, so the instance cannot be removed. */
#define STAGE_HELD "held"

/* Call it after loom_trace(), which closes the last pages. */
bool stage_begin(struct stage *stage, struct loom *loom);
void stage_end(struct stage *stage);

/* The names in a directory of the fake tracefs, each after a blank, in any order. */
const char *stage_left(const struct stage *stage, const char *dir, char *into, size_t size);

#endif
