/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_EXPLAIN_EXPLAINED_H
#define WEFT_ANSWERS_EXPLAIN_EXPLAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct findings;
struct trace;

/*
 * Why the trigger of a file of weft flight came: what made a wakeup late or a call long (culprit_internal.h), and what
 * was unusual (unusual_internal.h).
 */
struct explained {
	uint64_t before_ns; /* what is compared with the time before; 0: a tenth of that */
	bool brief;         /* only the line is wanted */
	/* What was found; also the findings borrow the title: */
	struct buf title, line; /* line: "" if there is nothing to say */
};

/* The setting weft/trigger of a file of weft flight: "NAME TIME REASON". */
struct explained_trigger {
	char *text; /* owned, the others point into it */
	const char *name, *reason;
	uint64_t time;
};

/* -ENODATA: no flight has written the file. The caller frees ret->text, also after an error. */
int must_check explained_trigger(struct trace *trace, struct explained_trigger *ret, struct fail *fail);

/*
 * Adds the tables "trigger" and "unusual"; a note says why there is none. The caller releases *explained after the
 * findings. -ENODATA: no flight has written the file.
 */
int must_check explained_find(struct explained *explained, struct trace *trace, struct findings *findings,
			      struct fail *fail);
void explained_release(struct explained *explained);

#endif
