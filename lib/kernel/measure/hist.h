/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_HIST_H
#define WEFT_KERNEL_MEASURE_HIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct hist_text;
struct instance;
struct sql;
struct undo;

/*
 * Histograms in the kernel (Documentation/trace/histogram.rst): of one event, or of the time between two events.
 * Invariant: each trigger, and the synthetic event that the time between two events needs, is journaled before it is
 * set, also in private instances: an instance whose histograms have variables cannot be removed while these exist.
 * undo_restore() removes all of them, the last one first.
 */
struct hist_wanted {
	const char *event;  /* "system:event"; with `second` the first of the two */
	const char *second; /* NULL: a histogram of one event */
	/* With `second`: fields of the first and second event that must be equal, "pid=next_pid" or "dev,sector". */
	const char *match;
	const char *keys;                   /* NULL with `second`: the matching field and the time */
	const char *values, *sort, *filter; /* NULL: no values; the order that suits the keys; no filter */
	unsigned size;                      /* number of rows at most; 0: the kernel's default */
	bool ns;                            /* the time is in ns, otherwise in us */
	unsigned number;                    /* with `second`: distinguishes several of one process; 0: there is one */
	/* with `second`: the clock of the instance, which otherwise gets the clock "global"; NULL: it may */
	const char *clock;
};

enum { HIST_NAME_SIZE = 128, HIST_TRIGGER_SIZE = 512 };

/* The event and instance of a histogram, from whose file it is read. */
struct hist {
	char system[HIST_NAME_SIZE], event[HIST_NAME_SIZE];
	/* The trigger as the kernel prints it, without its state. It distinguishes our histogram from others. */
	char trigger[HIST_TRIGGER_SIZE];
};

/*
 * Sets the triggers. `top` is the instance in which synthetic events are made. -EOPNOTSUPP: the message names the
 * option that the kernel lacks. A refusal has the kernel's message with a caret.
 */
int must_check hist_set(struct instance *instance, struct instance *top, struct undo *undo,
			const struct hist_wanted *wanted, struct hist *ret, struct fail *fail);

/*
 * Whether the kernel can measure the time that ends with this event, "system:event". -EOPNOTSUPP: the message names the
 * option that it lacks.
 */
int must_check hist_can_measure(const struct instance *top, const char *event, struct fail *fail);

/*
 * hist_read() appends the kernel's text, which may also contain other histograms. hist_find() parses ours in it;
 * -EBADMSG: it is missing.
 */
int must_check hist_read(const struct instance *instance, const struct hist *hist, struct buf *buf, struct fail *fail);
int must_check hist_find(const struct hist *hist, const char *text, struct hist_text *ret, struct fail *fail);

/* Marks the columns of signed fields, by the event's format. A field whose format cannot be read counts as unsigned. */
void hist_sign(const struct instance *instance, const struct hist *hist, struct hist_text *text);

/*
 * Makes what a query means (lib/kernel/tracefs/sql.h): the synthetic event in the whole kernel, with its triggers in
 * `top`; a histogram of one event in `instance`. All of it is journaled first.
 */
int must_check hist_set_sql(struct instance *instance, struct instance *top, struct undo *undo, const struct sql *sql,
			    struct fail *fail);

#endif
