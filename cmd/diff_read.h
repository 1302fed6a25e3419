/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DIFF_READ_H
#define WEFT_CMD_DIFF_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/stats/diff.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/query.h"

struct diff_machines;
struct event;
struct fail;
struct reader;
struct reading;
struct selection;
struct trace;

/* Recognizes the events of one file that --per names. */
struct diff_per_events {
	struct selection **of_buffers; /* NULL: the buffer knows no such event */
	size_t nr;
};

/* Reads the value of --per: "second", "cpu-second", or an event. */
enum diff_per diff_per_read(const char *text);

/* "EVENT" as -e takes it, or "EVENT: FILTER". -ENOENT: the file has no such event. Borrows the reader's buffers. */
int must_check diff_per_choose(const char *text, const struct reader *reader, struct diff_per_events *ret,
			       struct fail *fail);
void diff_per_release(struct diff_per_events *events);

/* For struct diff_part; `arg` is a struct diff_per_events. */
bool diff_per_is(void *arg, const struct event *event);

struct diff_files {
	const char *paths[DIFF_RUNS_MAX];
	char *owned[DIFF_RUNS_MAX]; /* the paths that must be freed; the others are NULL */
	size_t nr;
	struct query query; /* borrowed; its times are those of this side */
};

/* How the files are read, and which rows are compared. */
struct diff_reading {
	const char *of;      /* a name, or several with commas */
	const void *options; /* of the analysis; NULL: its defaults */
	struct pass_filter filter;
	enum diff_per per;
	const char *event; /* of DIFF_PER_EVENT: see diff_per_choose() */
	bool elapsed;      /* how long a file's part is, is a row */
	const struct reading *reading;
};

/* Reads one file into a side, of which `query` chooses a part. Its trace must be loaded: see cmd/reading.h. */
int must_check diff_read_one(struct diff *diff, bool is_new, struct trace *trace, const struct query *query,
			     const struct diff_reading *reading, struct fail *fail);

/* Opens all files, gives up rights, and reads one file after the other. files[0] is the old side. */
int must_check diff_read(struct diff *diff, const struct diff_files files[2], const struct diff_reading *reading,
			 struct fail *fail);

/*
 * Compares the machines of two lakes. Whether both paths are directories: then the files of the sides are none of
 * recordings. *ret_machines is for diff_machines_tell().
 */
bool diff_are_lakes(const struct diff_files files[2]);
int must_check diff_read_lakes(const struct diff_files files[2], const struct reading *reading, struct diff **ret,
			       struct diff_machines **ret_machines, struct fail *fail);

#endif
