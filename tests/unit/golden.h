/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_GOLDEN_H
#define WEFT_TESTS_UNIT_GOLDEN_H

#include <stdio.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"

/* A recording of tests/fixtures/golden, NAME.dat, and the kernel's own text of it, NAME.txt. */
struct golden {
	struct trace *trace;
	struct context *context;
	struct events *events;
	FILE *text;
	char line[4096];
};

/* False when one of the files is missing. */
bool golden_open(struct golden *golden, const char *name);
void golden_close(struct golden *golden);

/* The next line of the text that contains `word`, without its newline; NULL after the last one. */
const char *golden_line(struct golden *golden, const char *word);

#endif
