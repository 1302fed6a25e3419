/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_SLICES_H
#define WEFT_FORMATS_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct out;
struct reader;
struct render_options;
struct sink;
struct slices;
struct text_end;

/* Makes text of which no line needs the lines before it. Each thread has a maker of its own. */
struct sliced_lines {
	/* The text goes to `out`, which the maker borrows and which is emptied now and then. */
	int (*create)(void *arg, const struct reader *reader, struct out *out, void **ret, struct fail *fail);
	void (*put)(void *maker, const struct event *event); /* an event or a gap */
	int (*check)(void *maker, struct fail *fail);        /* 0, or why lines are missing */
	void (*done)(void *arg, void *maker);                /* all slices are written; on the caller's thread */
	void (*free)(void *maker);
};

/*
 * Renders in slices of time (lib/meaning/reader/slices.h): each thread of the pool, and the caller's, reads, merges,
 * settles and formats slices of its own, and the texts are written in order. So nothing but the writing is done by one
 * thread alone. A thread has a reader and sinks of its own; what they share does not change.
 *
 * The bytes are those of render(), for any number of threads and any slices: a slice is written only when it is known
 * that it met the slice before (slices_meet()) and that its sinks guessed nothing wrong (struct sink_seam_ops). A wrong
 * guess costs the time of the slice; where slices do not meet, everything is read in order.
 */
struct sliced {
	const struct slices *slices;
	const struct sliced_lines *lines;     /* what makes the text in place of sinks; NULL: sinks do */
	const struct render_options *options; /* with a pool, and without a limit */
	struct text_end *end;
	/* Makes a sink for the buffer of that index. */
	int (*new_sink)(void *arg, size_t buffer, struct sink **ret, struct fail *fail);
	/* Gets the reader of each thread when all slices are written. Called on the caller's thread. NULL: nobody. */
	void (*done)(void *arg, const struct reader *reader);
	/*
	 * Is told how many slices of how many are written, from 0 on, by any thread, one call at a time. 0 of 0: the
	 * rest is read in order. NULL: nobody.
	 */
	void (*wrote)(uint64_t slices, uint64_t all);
	void *arg;
};

/* Whether texts of these sinks can be made in slices. */
bool slices_can(struct sink *const *sinks, size_t nr, const struct render_options *options);

/*
 * 0; or -EAGAIN: the text must be rendered in order, and its first text_end::written bytes have been written. Or -errno
 * like render(). `sinks`: those of which slices_can() was asked; they print the text before the first event. With
 * sliced::lines there are none, and nothing is printed before.
 */
int must_check slices_render(const struct sliced *sliced, struct sink *const *sinks, uint64_t *ret_printed,
			     struct fail *fail);

#endif
