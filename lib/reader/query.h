/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_READER_QUERY_H
#define WEFT_READER_QUERY_H

#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct extent;
struct fail;
struct reader;
struct reader_buffer;
struct selection;
struct trace;

/*
 * What a user asks of a recording, in words: of which buffer, events, tasks, CPUs and time. All readers ask with the
 * same words, in the same grammar, and fail with the same messages, which name the option.
 * The query borrows the words and owns the lists. query_release() frees them.
 */
struct query_words {
	const char **at;
	size_t nr;
};

struct query {
	const char *instance;             /* NULL: all buffers; "": that of the top instance */
	struct query_words events, comms; /* as lib/query/selection.h reads them */
	struct query_words filters;       /* one match is enough */
	bool *negated;                    /* for each filter: what meets it is left out */
	char *longer;                     /* the filter that query_add_longer() made; NULL: none */
	bool invert;                      /* the filters that are still to come are such */
	uint8_t flags_out;                /* enum event_flags of events that are left out */
	int32_t *pids;
	size_t nr_pids;
	struct cpus cpus;
	bool some_cpus;
	enum { QUERY_SELF_UNSAID, QUERY_SELF_OUT, QUERY_SELF_IN } self;
	const char *since, *until; /* lib/reader/stamp_internal.h; NULL: not given */
	/*
	 * The time from before_ns before to after_ns after a marker (lib/reader/mark_internal.h) or a time as that of
	 * `since`, in place of since and until. NULL: not given. The times may be QUERY_UNSAID, or QUERY_WHOLE: all.
	 */
	const char *around;
	uint64_t before_ns, after_ns;
	uint64_t limit; /* UINT64_MAX: all; the caller keeps it */
	uint64_t tail;  /* UINT64_MAX: from the start */
};

#define QUERY_UNSAID UINT64_MAX
#define QUERY_WHOLE (UINT64_MAX - 1)
#define QUERY_INIT                                                                                           \
	{                                                                                                    \
		.limit = UINT64_MAX, .tail = UINT64_MAX, .before_ns = QUERY_UNSAID, .after_ns = QUERY_UNSAID \
	}

void query_release(struct query *query);

/* Each adds what one option says. -EINVAL or -ERANGE: it has no such form; the message does not name the option. */
int must_check query_add_word(struct query_words *words, const char *word, struct fail *fail);
int must_check query_add_filter(struct query *query, const char *filter, struct fail *fail);
/* The filter "duration > TIME": only what lasted longer, and on a function graph the callers. */
int must_check query_add_longer(struct query *query, uint64_t ns, struct fail *fail);
/* A list with commas. */
int must_check query_add_pids(struct query *query, const char *list, struct fail *fail);

/* How the buffers are added. */
struct query_manner {
	/* Is called for each context before its events are selected, because plugins add names to it; or NULL. */
	int (*prepare)(const void *arg, struct context *context, struct fail *fail);
	const void *arg;
	/*
	 * The reader shows what all tasks did on all CPUs, as the state of lib/state needs it. Words for events and
	 * filters choose those that reader_shows().
	 */
	bool times_only;
	bool texts; /* also buffers without pages that have the kernel's text of a latency tracer */
};

/* Whether the query asks for this buffer of the trace. */
bool query_wants(const struct query *query, struct trace *trace, size_t buffer, bool texts);

/*
 * Adds the buffers and narrows each; the reader can then be started, or query_tail() be called before. -ENOENT: there
 * is no such instance. The other options may leave no buffer.
 */
int must_check query_add(const struct query *query, const struct query_manner *manner, struct trace *trace,
			 struct reader *reader, struct fail *fail);
int must_check query_tail(const struct query *query, struct reader *reader, struct fail *fail);

/* The times of `since`, `until` and `around`; those that were not given leave *ret_since or *ret_until as it is. */
int must_check query_times(const struct query *query, const struct context *context, struct extent *extent,
			   uint64_t *ret_since, uint64_t *ret_until, struct fail *fail);
/* The time of `around`, which was given. */
int must_check query_around(const struct query *query, const struct context *context, struct extent *extent,
			    uint64_t *ret, struct fail *fail);

/* -ENOENT: a filter asks for a duration, and in none of the buffers anything has one. */
int must_check query_check_durations(const struct reader *reader, struct fail *fail);

/* Returns -ENOENT: the trace has no buffer of the instance. */
int query_no_instance(const struct query *query, struct trace *trace, struct fail *fail);

/* A selection of the words that choose events and tasks; query_narrow() gives the buffer one, and leaves out self. */
int must_check query_select(const struct query *query, const struct context *context, struct selection **ret,
			    struct fail *fail);

/* The same for a buffer of this reader, to be given to another one: slices::select, whose `arg` this is. */
struct query_again {
	const struct query *query;
	const struct reader *reader;
};
int must_check query_select_again(void *arg, size_t buffer, struct selection **ret, struct fail *fail);

/*
 * The part of query_add() that narrows one buffer. `leaves_out_self`: if the words do not say it; *ret_left_out, which
 * may be NULL, is then where the events that were left out are counted. `extent` is looked for when it is needed.
 */
int must_check query_narrow(const struct query *query, struct reader_buffer *buffer, bool leaves_out_self,
			    struct extent *extent, uint64_t **ret_left_out, struct fail *fail);

#endif
