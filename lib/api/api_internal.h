/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_API_API_INTERNAL_H
#define WEFT_API_API_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/weft/weft.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/reader/back.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"

struct api_places;
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
	unsigned uses; /* atomic: beside the caller's, of readers of the running kernel */
};

struct weft_field {
	struct place place;
	const weft_type *type;
	enum weft_field_kind kind;
	bool is_common;
	bool is_stack; /* of the kernel: it has as many addresses as the record has room for */
};

struct weft_type {
	const struct api_handler *handler; /* NULL: the kernel's text */
	const weft_reader *reader;         /* NULL: the type of lost events */
	const struct event_type *event;    /* the same */
	const char *system, *name;
	size_t index;
	weft_field *fields;
	size_t nr_fields;
};

/* The type of lost events. */
extern const weft_type api_lost_type;

/* Who makes the text of an event. */
struct api_handler {
	char *name; /* "SYSTEM:NAME" */
	weft_text_fn *make;
	void *arg;
};

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

/* Where the events of a reader are from that reads no file (live.c). It begins with this. */
struct api_feed {
	/* Reads and shows the next events: their number, 0 at the end; -EAGAIN, -EINTR: none yet. */
	int (*read)(weft_reader *reader, struct fail *fail);
	/*
	 * In place of read(), for an analysis: shows all events, also those that the query leaves out, until tracing
	 * ends. Asks now and then, also while none comes, whether it shall end before: -EINTR.
	 */
	int (*run)(weft_reader *reader, const struct reader_consumer *consumer, bool (*ends)(void *arg), void *arg,
		   struct fail *fail);
	/* When the reader was released. */
	void (*free)(struct api_feed *feed);
};

/* What a reader is used for: it has to be opened in the way of its consumer. */
enum api_use {
	API_UNUSED,
	API_EVENTS, /* only the events that the queries choose */
	API_STATE,  /* what all tasks did, for lib/meaning/state: slices and analyses */
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
	struct walk_place last;    /* of the event before the first of them */
	struct api_places *places; /* reader.c; NULL: nobody has asked for a place */
	struct api_feed *feed;     /* NULL: it reads files */
	struct api_types *types;   /* by buffer */
	weft_type **all;           /* in the order in which they occurred */
	size_t nr_all;
	int failed; /* the error with which the stream ended; 0: none */
	struct fail failure;
	struct fail damage;
	struct event_text **texts; /* by buffer; NULL: not asked for */
	struct out text;           /* of the event whose text was asked last */
	struct api_handler **handlers;
	size_t nr_handlers;
	struct decoded_row row; /* of the event that was decoded last: */
	const uint8_t *decoded;
};

/* Writes a text of the rooms below in words of weft.h: they name options of the commands. */
void api_say(const char *text, char *into, size_t size);

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

/* The context of a buffer, which lives as long as the file. -ERANGE: there is none. */
int must_check api_file_context(const weft_file *file, size_t buffer, const struct context **ret, struct fail *fail);

/* What weft_field_info() tells of a field. */
struct field;
void api_field_fill(const struct field *field, bool is_common, struct weft_field_info *ret);

/* What weft_symbol_find() tells of a symbol. */
struct symbol;
void api_symbol_fill(const struct symbol *symbol, struct weft_symbol *ret);

/* Another user of the file; weft_file_free() takes it away. The same of a query. */
void api_file_use(weft_file *file);
/* Of an open trace, which it takes, also after an error. */
int must_check api_file_of(struct trace *trace, weft_file **ret, struct fail *fail);
void api_query_use(weft_query *query);

/*
 * Opens all sources for a use and narrows them by their queries; the next step is reader_start(). Does nothing, and
 * returns -EBUSY, if the reader is in use. Puts the words of the only query to *ret_query, which may be NULL:
 * -EINVAL if there are several files.
 */
int must_check api_reader_open(weft_reader *reader, enum api_use use, struct fail *fail);

/* api_reader_open() and reader_start(). */
int must_check api_reader_start(weft_reader *reader, enum api_use use, const struct weft_reader_options *options,
				struct fail *fail);

/* Hands out these events next, in place of those that are left. */
int must_check api_reader_show(weft_reader *reader, const struct event *events, size_t nr, struct fail *fail);

/* Loads the plugins for a buffer: query_manner::prepare, with the file. */
int must_check api_load_plugins(const void *arg, struct context *context, struct fail *fail);

/* Bytes that a copy of the event takes. */
size_t api_event_size(const struct weft_event *event);

/* Makes what prints texts now, and not with the first text: before a thread reads ahead. */
int must_check api_texts_prepare(weft_reader *reader, struct fail *fail);

/* The type of an event, which is made when it is the first; NULL without memory. Lost events have one, too. */
const weft_type *api_type(weft_reader *reader, const struct event *event);

/* Who makes the text of this type; NULL: nobody but the kernel. */
const struct api_handler *api_handler_of(const weft_reader *reader, const weft_type *type);
void api_handlers_release(weft_reader *reader);

/* Puts the text of a handler in place of the kernel's, which is in reader->text. -ENOMEM. */
int must_check api_handler_text(weft_reader *reader, const struct weft_event *event, struct event_text *text,
				enum weft_text kind);

/* The same event as the rooms below know it, and as the library shows it. */
void api_event_inside(const struct weft_event *event, struct event *ret);
void api_event_outside(const struct event *event, const weft_type *type, struct weft_event *ret);

#endif
