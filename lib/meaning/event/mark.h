/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_MARK_H
#define WEFT_MEANING_EVENT_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"

struct out;

/*
 * A mark is a text of a program or a driver that says what begins or ends, in the grammar of Android's atrace:
 *	B|PID|NAME			begins a span of the thread, inside those that are open
 *	E|PID				ends the span of the thread that began last
 *	S|PID|NAME|COOKIE		begins a span of the process; F ends the one with this name and cookie
 *	G|PID|TRACK|NAME|COOKIE		begins one on a track with a name; H|PID|TRACK|COOKIE ends it (before: T and U)
 *	C|PID|NAME|VALUE		a counter
 *	I|PID|NAME, N|PID|TRACK|NAME	a moment
 * OpenHarmony writes a blank before the cookie and the value. PID is a process, as it knows itself. Any other text is
 * no such mark.
 */
enum mark_kind {
	MARK_NONE,
	MARK_BEGIN,
	MARK_END,
	MARK_ASYNC_BEGIN,
	MARK_ASYNC_END,
	MARK_COUNTER,
	MARK_INSTANT,
};

/* Texts are borrowed, and have no NUL. */
struct mark {
	enum mark_kind kind;
	int32_t tgid;      /* 0: not said */
	const char *name;  /* of an end: of no meaning, but for one of S and F */
	const char *track; /* NULL: the one of the thread, or that of the name */
	size_t name_len, track_len;
	int64_t number; /* the cookie or the value */
	bool as_atrace; /* it is written as all readers of atrace take it */
};

/* False: the text, which may end with newlines, is no mark. */
bool mark_parse(struct mark *ret, const char *text, size_t len);

/* Adds the mark as atrace writes it. */
void mark_put(const struct mark *mark, struct out *out);

/* Where the text of a type of event is that may be a mark. */
struct mark_source {
	enum {
		MARK_SOURCE_NONE,
		MARK_SOURCE_PRINT,
		MARK_SOURCE_PUTS,
		MARK_SOURCE_PRINTF,
		MARK_SOURCE_LINE,
		MARK_SOURCE_PROGRAM,
	} of;
	const struct event_type *type;
	struct place text, args;
};

/*
 * Such types are those of trace_marker and trace_printk(), events whose print fmt begins as a mark does, and events of
 * imported texts of which nothing but the text is known. Borrows the type. False: it is no such type.
 */
bool mark_source_find(struct mark_source *ret, const struct event_type *type);

/* The text without newlines at its end, which may be made in the empty `scratch`; "" without one. */
void mark_source_text(const struct mark_source *source, const struct event *event, struct out *scratch,
		      const char **ret, size_t *ret_len);

/* The mark of an event; false: its text is none. Texts of the mark lie in the event, its context or `scratch`. */
bool mark_source_read(const struct mark_source *source, const struct event *event, struct out *scratch,
		      struct mark *ret);

#endif
