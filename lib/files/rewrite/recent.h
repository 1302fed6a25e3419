/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_RECENT_H
#define WEFT_FILES_REWRITE_RECENT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct event;
struct excerpt_newer;
struct fail;
struct trace;

/*
 * The last events of a stream: copies of those of the last `span` (in units of event::ts), and of no more than `size`
 * bytes with what is kept beside each; the oldest go first, many at once. Where memory is short, events are lost, and
 * counted as such. Borrows the trace, of which the stream's events are.
 */
struct recent;

struct recent_options {
	uint64_t span;
	size_t size;
	/* Called behind the event after recent_ask(), on the thread of recent_see(); may be NULL. */
	void (*asked)(void *arg);
	void *arg;
};

int must_check recent_new(struct trace *trace, const struct recent_options *options, struct recent **ret,
			  struct fail *fail);
void recent_free(struct recent *recent);

/* Each event of the stream, in order. `recent` is a struct recent. */
void recent_see(void *recent, const struct event *event);
/* From any thread. */
void recent_ask(struct recent *recent);

/*
 * Writes a trace.dat of them with texts that are newer than the trace's (lib/files/rewrite/excerpt.h), and goes on.
 * *ret_events, *ret_span: what it has.
 */
int must_check recent_write(struct recent *recent, const struct recast_options *form, const struct excerpt_newer *newer,
			    int fd, uint64_t *ret_events, uint64_t *ret_span, struct fail *fail);

#endif
