/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DIFF_PER_H
#define WEFT_CMD_DIFF_PER_H

#include "lib/analysis/diff.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct event;
struct fail;
struct reader;
struct selection;

/* Recognizes the events of one file that --per names. */
struct diff_per_events {
	struct selection **of_buffers; /* NULL: the buffer knows no such event */
	size_t nr;
};

/* Reads the value of --per: "second", "cpu-second", or an event. */
enum diff_per diff_per_read(const char *text);

/* "EVENT" as -e takes it, or "EVENT: FILTER". -ENOENT: the file has no such event. Borrows the reader's buffers. */
int must_check diff_per_choose(const char *text, const struct reader *reader, struct diff_per_events *ret,
			       struct fail *fail);
void diff_per_release(struct diff_per_events *events);

/* For struct diff_part; `arg` is a struct diff_per_events. */
bool diff_per_is(void *arg, const struct event *event);

#endif
