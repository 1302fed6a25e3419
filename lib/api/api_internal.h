/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_API_API_INTERNAL_H
#define WEFT_API_API_INTERNAL_H

#include "include/weft/weft.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/plugin/decoded_row.h"
#include "lib/reader/extent.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batches;
struct event_text;
struct pool;
struct trace;

/*
 * What stands behind the handles of include/weft/weft.h, which says what each function does. Functions of the library
 * begin with weft_, those that its files share with api_. Nothing outside lib/api may include this.
 */

/* A buffer of a file, read when somebody asks about it: under the lock of the file, and unchanged after that. */
struct api_buffer {
	struct context *context; /* NULL: nobody has asked */
	struct extent extent;
};

struct weft_file {
	struct trace *trace;
	char *plugins; /* the directory; NULL: none */
	char *damage;  /* that opening found; NULL: none */
	unsigned uses; /* atomic: the caller's, and those of readers */
	pthread_mutex_t lock;
	struct api_buffer *buffers;
};

struct weft_query {
	struct query query; /* borrows the words */
	char **words;
	size_t nr_words;
};

struct weft_field {
	struct place place;
	const weft_type *type;
	enum weft_field_kind kind;
	bool is_common;
	bool is_stack; /* of the kernel: it has as many addresses as the record has room for */
};

struct weft_type {
	const weft_reader *reader;      /* NULL: the type of lost events */
	const struct event_type *event; /* the same */
	const char *system, *name;
	size_t index;
	weft_field *fields;
	size_t nr_fields;
};

/* The type of lost events. */
extern const weft_type api_lost_type;

/* The types of a buffer of a reader, by event_type::index; NULL for those that have not occurred. */
struct api_types {
	weft_type **at;
	size_t nr;
};

/* A file of a reader, and the first of its buffers there. */
struct api_source {
	weft_file *file;
	const struct query *query;
	size_t first, nr;
};

/* What a reader is used for: it has to be opened in the way of its consumer. */
enum api_use {
	API_UNUSED,
	API_EVENTS, /* only the events that the queries choose */
	API_STATE,  /* what all tasks did, for lib/state: slices and analyses */
};

struct weft_reader {
	struct api_source *sources;
	size_t nr_sources;
	enum api_use use;
	struct reader reader;
	struct pool *pool;       /* NULL: none */
	struct batches *batches; /* NULL before the first event */
	uint64_t limit, tail;    /* the smallest of the queries */
	/* the events that were handed out last, and which of them is next */
	struct weft_event *events;
	size_t nr_events, next, size_events;
	struct api_types *types; /* by buffer */
	weft_type **all;         /* in the order in which they occurred */
	size_t nr_all;
	int failed; /* the error with which the stream ended; 0: none */
	struct fail failure;
	struct fail damage;
	struct event_text **texts; /* by buffer; NULL: not asked for */
	struct out text;           /* of the event whose text was asked last */
	struct decoded_row row;    /* of the event that was decoded last: */
	const uint8_t *decoded;
};

/* Puts the failure into the caller's structure, which may be NULL, and returns `r`. */
int api_result(struct weft_error *error, int r, const struct fail *fail);

/*
 * For a structure of options: its members are copied to `ret`, of `known` bytes, and those that the caller does not
 * have become zero. -E2BIG: one that the library does not know is set; -EINVAL: `size` is no size. `options` may be
 * NULL.
 */
int must_check api_options(const void *options, void *ret, size_t known, struct fail *fail);

/*
 * For a structure that the library fills: copies `from`, of `known` bytes, to the caller's, which may be smaller or
 * larger, and keeps its `size`.
 */
void api_fill(void *ret, const void *from, size_t known);

/* Another user of the file; weft_file_free() takes it away. */
void api_file_use(weft_file *file);

/*
 * Opens all sources for a use and narrows them by their queries; the next step is reader_start(). Does nothing, and
 * returns -EBUSY, if the reader is in use. Puts the words of the only query to *ret_query, which may be NULL:
 * -EINVAL if there are several files.
 */
int must_check api_reader_open(weft_reader *reader, enum api_use use, struct fail *fail);

/* api_reader_open() and reader_start(). */
int must_check api_reader_start(weft_reader *reader, enum api_use use, const struct weft_reader_options *options,
				struct fail *fail);

/* Makes what prints texts now, and not with the first text: before a thread reads ahead. */
int must_check api_texts_prepare(weft_reader *reader, struct fail *fail);

/* The type of an event, which is made when it is the first; NULL without memory. Lost events have one, too. */
const weft_type *api_type(weft_reader *reader, const struct event *event);

/* The same event as the rooms below know it, and as the library shows it. */
void api_event_inside(const struct weft_event *event, struct event *ret);
void api_event_outside(const struct event *event, const weft_type *type, struct weft_event *ret);

#endif
