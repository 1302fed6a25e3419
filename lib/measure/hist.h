/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_MEASURE_HIST_H
#define WEFT_MEASURE_HIST_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct fail;
struct hist_text;
struct instance;
struct undo;

/*
 * Histograms that the kernel keeps (Documentation/trace/histogram.rst): of one event, or of the time between two.
 * Invariant: each trigger, and the synthetic event that the time between two needs, is journaled before it is set, in
 * private instances too: an instance whose histograms have variables cannot be removed while they are there.
 * undo_restore() removes all of them, the last one first.
 */
struct hist_wanted {
	const char *event;  /* "system:event"; the first of two with `second` */
	const char *second; /* NULL: a histogram of one event */
	const char *
		match; /* with `second`: the field of the first event and that of the second that must be equal, "pid=next_pid" or "pid" */
	const char *keys;                   /* NULL with `second`: that field, and the time */
	const char *values, *sort, *filter; /* NULL: none, the one that fits the keys, none */
	unsigned size;                      /* rows at most; 0: the kernel's own */
	bool ns;                            /* the time in ns, else in us */
};

enum { HIST_NAME_SIZE = 128, HIST_TRIGGER_SIZE = 512 };

/* Where the histogram is read: that event of the instance. */
struct hist {
	char system[HIST_NAME_SIZE], event[HIST_NAME_SIZE];
	/* As the kernel prints it, without its state: it identifies our histogram among others. */
	char trigger[HIST_TRIGGER_SIZE];
};

/*
 * `top` is where synthetic events are made. -EOPNOTSUPP names the option that the kernel lacks; refusals come with
 * carets.
 */
int must_check hist_set(struct instance *instance, struct instance *top, struct undo *undo,
			const struct hist_wanted *wanted, struct hist *ret, struct fail *fail);

/*
 * Appends the kernel's text, which may hold other histograms, too. hist_find() parses ours in it; -EBADMSG: it is
 * missing.
 */
int must_check hist_read(const struct instance *instance, const struct hist *hist, struct buf *buf, struct fail *fail);
int must_check hist_find(const struct hist *hist, const char *text, struct hist_text *ret, struct fail *fail);

/* Marks the columns of signed fields, by the event's format; fields that cannot be read count as unsigned. */
void hist_sign(const struct instance *instance, const struct hist *hist, struct hist_text *text);

#endif
