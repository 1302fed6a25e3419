/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_LIST_H
#define WEFT_CMD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options/answer.h"
#include "cmd/options/kernel.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"

struct buf;
struct catalog;
struct context;
struct fail;
struct kernel;
struct trace;

/*
 * What `weft list` lists: the running kernel, or with -i what a file says about the kernel that was traced. Must be
 * zero before listed_open(), except for `kernel`, which is borrowed.
 */
struct listed {
	struct kernel *kernel; /* it is not opened for a file */
	struct trace *trace;   /* of the file */
	size_t buffer;         /* of the file, as -B names it */
	bool ftrace; /* the catalog has the system ftrace, too: its events have formats but cannot be chosen */
	struct catalog *catalog;
	struct listed_text *texts; /* of a file: of each event of the catalog */
	struct context *context;
	bool own_context; /* only `schema`, `machine` and `abi` of the context are valid */
	char **kept;      /* formats of the kernel, which the schema borrows */
	size_t nr_kept;
};

/*
 * `input` NULL: the running kernel. With `plugins` they are also loaded. The file is read without privileges:
 * afterwards nothing can be opened.
 */
int must_check listed_open(struct listed *listed, const char *input, bool plugins, struct fail *fail);
void listed_close(struct listed *listed);

/* Appends a file of the instance, of which a recording has some. -ENOENT: there is none. */
int must_check listed_read(const struct listed *listed, const char *file, struct buf *buf, struct fail *fail);

/* Reads the names of the events into `catalog`. A second call does nothing. */
int must_check listed_events(struct listed *listed, struct fail *fail);

/* weft list: what was asked for, and what it is asked of. */
enum { GLOBS_MAX = 256, LIST_PARTS = 4 };

struct list {
	const char *what; /* what to list; NULL: the overview */
	const char *globs[GLOBS_MAX];
	bool matched[GLOBS_MAX];
	size_t nr_globs;
	bool full;
	const char *input; /* a file; NULL: the running kernel */
	const char *usdt;  /* a program, a library or a PID; NULL: none */
	struct answer answer;
	uint64_t max_bytes; /* 0: any number */
	/* The rows, one behind the other: lines of text, or objects of JSON. */
	struct out rows;
	struct json row; /* the one that is being made */
	size_t *ends;    /* of each row in `rows` */
	size_t nr_rows;
	struct list_part {
		const char *name; /* the key in JSON */
		size_t first, end;
	} parts[LIST_PARTS];
	size_t nr_parts;
	size_t nr_functions; /* for the overview: that can be traced; SIZE_MAX: it is not known */
	struct kernel kernel;
	struct listed listed;
};

/* Returns whether a name was asked for, and notes which globs have matched. */
bool list_wanted(struct list *list, const char *name);

/*
 * A row: of JSON what is put into the object that list_row() begins, else what is added to list->rows; list_row_end()
 * ends it. After memory has run out, list->rows.failed is true.
 */
struct json *list_row(struct list *list);
void list_row_end(struct list *list);

/* The lists that are made of the formats of events (listed.c). */
int must_check list_events(struct list *list, struct fail *fail);
int must_check list_calls(struct list *list, struct fail *fail);
int must_check list_plugins(struct list *list, struct fail *fail);

#endif
