/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_IMPORT_INTERNAL_H
#define WEFT_FILES_IMPORT_IMPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/column_layout_internal.h"
#include "lib/files/import/graph_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/import.h"
#include "lib/files/import/line_internal.h"
#include "lib/files/import/names_internal.h"
#include "lib/files/import/records_internal.h"
#include "lib/files/import/rounding_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct graph_text;
struct head;

/*
 * Reads the text of 'trace-cmd report'. The name of an event fills a column there, and libtraceevent's plugins print
 * some events in a form of their own. These become the text that the kernel prints of the same event. Nothing is added:
 * what the plugins leave out (the "+" of a preempted task) is missing. perf script prints the same texts.
 */
struct trace_cmd {
	bool is;         /* the text is one of trace-cmd */
	struct buf body; /* the kernel's text of the last event */
};

enum trace_cmd_what {
	TRACE_CMD_NOTHING, /* the line has the kernel's own form */
	TRACE_CMD_EVENT,   /* the body of the head is the kernel's text now */
	TRACE_CMD_GRAPH,   /* the line is one of the function graph, which is filled in */
	TRACE_CMD_STARVED, /* memory ran out */
};

/* Whether the line is "cpus=2", which begins such a text. */
bool trace_cmd_header(const char *line, size_t len);

/*
 * Reads the body of a line. `kernels`: the text has a header of the kernel, so that only a text which began as one of
 * trace-cmd is taken for it. The new body is borrowed from `reader`.
 */
enum trace_cmd_what trace_cmd_read(struct trace_cmd *reader, bool kernels, struct head *head, struct graph_text *graph);

/*
 * Makes the kernel's line of a line of a stack, "=> vfs_read (ffffffff81234567)" or "\t=> 0x473bf3"; reader->body has
 * it. Returns false if it is none, or when memory runs out.
 */
bool trace_cmd_caller(struct trace_cmd *reader, const char *line, size_t len);

/*
 * Lines in the form of latency-format wait here until the ones behind them are known, because the time of an event
 * depends on what was printed of the time until the next one (rounding.h). The memory is bounded.
 */
struct latency_lookahead_line {
	size_t at, len, start; /* in `bytes`; where the text begins, behind what was in front of it */
	uint64_t number;
	bool is_log, is_event;
	uint64_t ts; /* of an event, when it leaves */
};

struct latency_lookahead {
	struct buf bytes;
	struct latency_lookahead_line *lines;
	size_t nr;
	struct rounding *events; /* of those lines that are events, in order */
	size_t nr_events;
	struct rounding last; /* the event that left last */
	bool has_last, has_start;
	int64_t start;
};

void latency_lookahead_release(struct latency_lookahead *lookahead);

/* Whether the line of this head waits. */
bool latency_lookahead_wants(const struct head *head);

/* Adds a line; `head` is NULL if it is no event; `old_marks` as in rounding_of(). Returns false without memory. */
bool latency_lookahead_add(struct latency_lookahead *lookahead, const struct latency_lookahead_line *line,
			   const char *raw, const struct head *head, bool old_marks);

/* The marks of the waiting lines turn out to have the meaning of kernels before 3.19. */
void latency_lookahead_has_old_marks(struct latency_lookahead *lookahead);

/* The last event is followed by something else, which has a time. */
void latency_lookahead_part(struct latency_lookahead *lookahead);

/* So many lines wait that the first ones have to leave. */
bool latency_lookahead_is_full(const struct latency_lookahead *lookahead);

/* Returns how many lines leave, with their times: some of the first ones, or all. */
size_t latency_lookahead_leave(struct latency_lookahead *lookahead, bool all);

/* Forgets the lines that left. */
void latency_lookahead_drop(struct latency_lookahead *lookahead, size_t nr);

struct binder;
struct fail;
struct record;

/*
 * Records of CPUs whose task is not known yet: the function graph names a task only where another one follows. As soon
 * as it is known, the records go into the binder in their order.
 */
struct join_lines {
	struct buf bytes; /* each struct waiter is followed by its record */
	uint64_t guesses; /* how many of them have a PID that is not known yet */
};

/* JOIN_LINES_MAX bounds the records that wait. */
enum { JOIN_LINES_MAX = 2 << 20, JOIN_LINES_ALL = -1 };

/*
 * `lost` as in binder_add(); `guess`: the record gets the PID that turns out later. Returns false when memory runs out.
 */
bool join_lines_add(struct join_lines *waiting, uint32_t cpu, const struct record *record, int64_t lost, bool guess);

/* Ends the wait of one CPU, or of all with JOIN_LINES_ALL: then the PID of each CPU is `pid` plus the CPU's number. */
int must_check join_lines_end(struct join_lines *waiting, int64_t cpu, int32_t pid, struct binder *binder,
			      struct fail *fail);

struct import_kinds;
struct known;

/* What import.c, lines.c, events.c and file.c share. */
/* A line of the kernel has at most 8 KB: TRACE_SEQ_BUFFER_SIZE. */
enum { IMPORT_PAGE_SIZE = 16384, IMPORT_MARK_MAX = 12000 };

/* What the next line may continue. */
enum import_open {
	OPEN_NOTHING,
	OPEN_MARK,
	OPEN_STACK,
	OPEN_USER_STACK,
	OPEN_USER_LINES, /* a stack of a program with the names of files: `mark` has its text */
	OPEN_EXIT,
	OPEN_EVENT
};

/* A line that the next one may continue, because a mail was wrapped. */
struct import_held {
	bool is;
	size_t width;    /* of its last part */
	unsigned quotes; /* of its last part */
	bool soft;       /* the next line follows without a blank */
	bool decoded;    /* quoted-printable was */
	bool is_log;
	size_t start;   /* where its text begins, behind what was in front of it */
	struct buf raw; /* with what was in front of it */
};

struct import {
	struct recast_options form;
	struct import_kinds *kinds;
	struct import_names names;
	struct binder *binder;
	struct import_counts counts;
	struct trace *formats;
	const char *clock_name; /* import_clock() */
	const struct buf *samples;
	struct column_layout shape;
	struct line_reader reader;
	struct import_held held;
	struct latency_lookahead lookahead;
	const struct latency_lookahead_line *leaving; /* the line that is taken has waited there */
	struct trace_cmd trace_cmd;
	/*
	 * There was the header of a function graph, so its lines may have no columns. What its legend or its lines so
	 * far have, none of them lacks: code or JSON below a graph is none.
	 */
	struct {
		bool is, cpu, duration;
	} legend;
	/* The lines of events that are as long as the longest one. */
	struct {
		size_t len, nr;
		const struct known *broken; /* of the first known event whose fields one of them lacks */
		bool others, whole;         /* others: so does another event; whole: one has its fields */
	} longest;
	const struct known *broken; /* of the last line: the known event whose fields it lacks */
	bool is_whole;              /* the last line has the fields of its event */
	bool had_prefix;            /* the line of the last event had text of a mail or a log in front of it */
	int64_t lost[HEAD_CPU_MAX]; /* number of events lost before the CPU's next event */
	uint64_t lost_line[HEAD_CPU_MAX];
	uint64_t clock[HEAD_CPU_MAX]; /* time of the CPU's last record */
	bool waits[HEAD_CPU_MAX];     /* the CPU's task is not known yet */
	struct join_lines waiting;
	struct import_graph graph;
	uint64_t last; /* last: the time of the line before; ties: how many lines before it had that time */
	unsigned ties;
	uint64_t until; /* the mark of the line before: the next line came so many ns later, or more */
	enum import_open is_open;
	uint64_t open_ip;  /* of the open trace marker */
	bool open_is_full; /* a line of it was too long, so none of the following ones belongs to it */
	struct head open;  /* the head of the open record; `mark` has its text, or its addresses */
	/*
	 * Lines behind an open event, each with its newline in front of it. They are its own if another event follows;
	 * at the end of the text they may be anything.
	 */
	struct buf more;
	uint64_t more_line; /* the number of the first one */
	/* The last event was one of perf script: its head, for the stacks that follow it, and the one that is open. */
	struct head perf;
	enum import_open perf_open;
	struct buf mark, record, tabs, caller;
};

/* file.c: the form of the file that is made. */
struct writer_options import_form(const struct import *import);

/* lines.c: takes a line as it came, and the last one when the text has ended. */
int must_check import_take_line(struct import *import, char *line, size_t len, struct fail *fail);
int must_check import_take_rest(struct import *import, struct fail *fail);

/*
 * events.c: takes the event of a line on which another one follows. Returns false if it is none that ends without a
 * newline, or without memory, which *ret_err tells.
 */
bool events_take_unended(struct import *import, struct head *head, int *ret_err, struct fail *fail);

/* events.c: makes the records of a line. Both return 1 if the line is none after all: a text is too long. */
int must_check events_take(struct import *import, const struct head *head, struct fail *fail);
int must_check events_take_graph(struct import *import, struct graph_text *text, struct fail *fail);

/* Returns whether the line belongs to the event before it, which it then has. */
bool events_go_on(struct import *import, const char *line, size_t len);

/* Takes a line of the stack of an event of perf script. Returns 1 if it is none. */
int must_check events_take_perf_caller(struct import *import, const char *line, size_t len, struct fail *fail);

/* The text has ended: tells the lines behind the last event. */
void events_end(struct import *import);

/* Ends the event that the next line could have continued. */
int must_check events_close(struct import *import, struct fail *fail);

/* From here on, tasks that no line has named yet stay unknown. */
int must_check events_give_up(struct import *import, struct fail *fail);

#endif
