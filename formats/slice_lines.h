/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_SLICE_LINES_H
#define WEFT_FORMATS_SLICE_LINES_H

struct event;
struct fail;
struct out;
struct reader;

/* Makes text of which no line needs the lines before it. Each thread has a maker of its own. */
struct sliced_lines {
	/* The text goes to `out`, which the maker borrows and which is emptied now and then. */
	int (*create)(void *arg, const struct reader *reader, struct out *out, void **ret, struct fail *fail);
	void (*put)(void *maker, const struct event *event); /* an event or a gap */
	int (*check)(void *maker, struct fail *fail);        /* 0, or why lines are missing */
	void (*done)(void *arg, void *maker);                /* all slices are written; on the caller's thread */
	void (*free)(void *maker);
};

#endif
