/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_IMPORT_INTERNAL_H
#define WEFT_IMPORT_IMPORT_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/import/ahead_internal.h"
#include "lib/import/graph_internal.h"
#include "lib/import/head_internal.h"
#include "lib/import/import.h"
#include "lib/import/line_internal.h"
#include "lib/import/names_internal.h"
#include "lib/import/records_internal.h"
#include "lib/import/shape_internal.h"
#include "lib/import/trace_cmd_internal.h"
#include "lib/import/waiting_internal.h"

struct import_kinds;

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
	struct shape shape;
	struct line_reader reader;
	struct import_held held;
	struct ahead ahead;
	const struct ahead_line *leaving; /* the line that is taken has waited there */
	struct trace_cmd trace_cmd;
	bool has_graph_header;      /* there was the legend of a function graph, so its lines may have no columns */
	bool had_prefix;            /* the line of the last event had text of a mail or a log in front of it */
	int64_t lost[HEAD_CPU_MAX]; /* number of events lost before the CPU's next event */
	uint64_t lost_line[HEAD_CPU_MAX];
	uint64_t clock[HEAD_CPU_MAX]; /* time of the CPU's last record */
	bool waits[HEAD_CPU_MAX];     /* the CPU's task is not known yet */
	struct waiting waiting;
	struct import_graph graph;
	uint64_t last; /* last: the time of the line before; ties: how many lines before it had that time */
	unsigned ties;
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

struct records import_records(struct import *import);

/* lines.c: takes a line as it came, and the last one when the text has ended. */
int must_check import_take_line(struct import *import, char *line, size_t len, struct fail *fail);
int must_check import_take_rest(struct import *import, struct fail *fail);

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
