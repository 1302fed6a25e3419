/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_QUERY_H
#define WEFT_MEANING_READER_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/meaning/clock/zone.h"
#include "lib/meaning/follow/who.h"

struct buf;
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
	const char *instance; /* NULL: all buffers; "": that of the top instance */
	/*
	 * All buffers: also those of weft's own (lib/meaning/event/own_formats.h), only that of ticks, or all. Words
	 * choose events of the user's buffers, and ticks; the others have all events of the time.
	 */
	enum { QUERY_OWN_NONE, QUERY_OWN_TICKS, QUERY_OWN_ALL } own;
	struct query_words events, comms; /* as lib/meaning/query/selection.h reads them */
	struct query_words marks;         /* names of spans: what happened inside them */
	struct query_words files;         /* names of files: lib/meaning/query/file_calls.h */
	struct query_words filters;       /* one match is enough */
	bool *negated;                    /* for each filter: what meets it is left out */
	char *longer;                     /* the filter that query_add_longer() made; NULL: none */
	bool invert;                      /* the filters that are still to come are such */
	uint8_t flags_out;                /* enum event_flags of events that are left out */
	int32_t *pids;
	size_t nr_pids;
	struct who_want *who; /* lib/meaning/follow/who.h */
	size_t nr_who;
	struct cpus cpus;
	bool some_cpus;
	enum { QUERY_SELF_UNSAID, QUERY_SELF_OUT, QUERY_SELF_IN } self;
	const char *since, *until; /* as stamp_at() of query.c reads them; NULL: not given */
	struct zones zones;        /* those that these times may name */
	/*
	 * The time from before_ns before to after_ns after a marker (lib/meaning/reader/mark_internal.h) or a time as
	 * that of `since`, in place of since and until. NULL: not given. The times may be QUERY_UNSAID, or QUERY_WHOLE:
	 * all.
	 */
	const char *around;
	bool moment; /* it was told as FILE@TIME: not said, both are QUERY_MOMENT_NS */
	uint64_t before_ns, after_ns;
	uint64_t limit; /* UINT64_MAX: all; the caller keeps it */
	uint64_t tail;  /* UINT64_MAX: from the start */
	/* Stands before the word's name in a message: "--" where the words are options, "" where they are keys. */
	const char *dashes;
};

#define QUERY_UNSAID UINT64_MAX
#define QUERY_WHOLE (UINT64_MAX - 1)
#define QUERY_MOMENT_NS UINT64_C(100000000)
#define QUERY_INIT                                                                                            \
	{                                                                                                     \
		.limit = UINT64_MAX, .tail = UINT64_MAX, .before_ns = QUERY_UNSAID, .after_ns = QUERY_UNSAID, \
		.dashes = "--"                                                                                \
	}

void query_release(struct query *query);

/* Each adds what one option says. -EINVAL or -ERANGE: it has no such form; the message does not name the option. */
int must_check query_add_word(struct query_words *words, const char *word, struct fail *fail);
int must_check query_add_filter(struct query *query, const char *filter, struct fail *fail);
/* The filter "duration > TIME": only what lasted longer, and on a function graph the callers. */
int must_check query_add_longer(struct query *query, uint64_t ns, struct fail *fail);
/* The option of this part's name: "process", "unit". */
int must_check query_add_who(struct query *query, enum who_part part, const char *word, struct fail *fail);
/* A list with commas. */
int must_check query_add_pids(struct query *query, const char *list, struct fail *fail);

/*
 * Whether a word of `since` and `until`, or a filter, has the form of one. -EINVAL: no file can have a sense for it.
 * query_add() looks for that, too: these are for callers that have no file yet. `key` is for the message.
 */
int must_check query_check_time(const char *key, const char *time, struct fail *fail);
int must_check query_check_filter(const char *filter, struct fail *fail);

/* How the buffers are added. */
struct query_manner {
	/* Is called for each context before its events are selected, because plugins add names to it; or NULL. */
	int (*prepare)(const void *arg, struct context *context, struct fail *fail);
	const void *arg;
	/*
	 * The reader shows what all tasks did on all CPUs, as the state of lib/meaning/state needs it. Words for events
	 * and filters choose those that reader_shows().
	 */
	bool times_only;
	enum query_gives {
		QUERY_GIVES_CHOSEN, /* the events that the words choose */
		/*
		 * What all tasks did, of what the words for events, filters, CPUs and times choose: for those who
		 * follow the states of tasks, which the events of others change. Words for tasks choose the events that
		 * reader_shows().
		 */
		QUERY_GIVES_TASKS,
		/* What all tasks did; all words but those for CPUs and times choose the events that reader_shows(). */
		QUERY_GIVES_ALL,
	} gives;
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

/* Whether a word chooses tasks. */
bool query_chooses_tasks(const struct query *query);

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

/*
 * Adds what the query leaves out within its time and buffers, as lines of the options of report: "-e sched_switch",
 * "--pid 7,8"; nothing if it leaves nothing out. For the setting weft/selected of a file that is made of the rest.
 */
bool must_check query_put_choice(const struct query *query, struct buf *into);

#endif
