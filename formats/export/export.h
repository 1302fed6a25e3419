/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_EXPORT_H
#define WEFT_FORMATS_EXPORT_EXPORT_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct db;
struct out;
struct reader;

/*
 * An exporter turns the events of a reader into a file of another program. It sees every event in order, and every gap (what was overwritten
 * before the first event of a CPU is one, too), and appends bytes
 * to an out that its driver empties between two events. Same events, same bytes: no locale, no wall clock, no pointers.
 * What fails is sticky (export_failed()): the driver looks at it now and then. What the other format cannot hold, and what the
 * user should know of the file, goes into the notes, a line each: the driver prints them at the end.
 * Invariant: memory follows from what is distinct in a trace (types, tasks, stacks), never from the number of its events.
 */
struct export_input {
	const struct reader *reader; /* its buffers' contexts, by event::buffer; borrowed */
	const char *fields;          /* of --fields; NULL: the exporter's own choice; borrowed */
	const char *weight;          /* of --weight; NULL: what there is; borrowed */
	bool has_date;               /* the file tells what to add to a time to have that of day, */
	int64_t date_offset_ns;      /* which is this */
	struct db *db;               /* what ops->open() has opened; NULL without it; borrowed */
};

struct export
{
	const struct export_ops *ops;
	const struct reader *reader;
	struct out *out;
	struct buf notes;    /* lines */
	int error;           /* the first; 0 */
	struct fail failure; /* its words */
};

struct export_ops {
	const char *name;    /* of --to NAME */
	const char *summary; /* one line for the help */
	bool binary;         /* is not for terminals */
	bool takes_fields;   /* knows what --fields is */
	bool takes_weight;   /* and --weight */
	const char *missing; /* the library that weft was built without; NULL: it is there */
	/* Of an exporter that writes a file of its own instead of the out: before rights are given up. NULL otherwise. */
	int (*open)(const char *path, struct db **ret, struct fail *fail);
	void (*close)(struct db *db);
	int (*new)(const struct export_input *input, struct export **ret, struct fail *fail);
	void (*free)(struct export *export);
	void (*begin)(struct export *export); /* may be NULL */
	void (*event)(struct export *export, const struct event *event);
	void (*end)(struct export *export); /* may be NULL */
};

/* All of them; NULL behind the last. */
const struct export_ops *export_at(size_t index);
const struct export_ops *export_find(const char *name);

int must_check export_new(const struct export_ops *ops, const struct export_input *input, struct out *out,
			  struct export **ret, struct fail *fail);
void export_free(struct export *export);

/* Keeps the first failure. */
void export_failed(struct export *export, int error, const struct fail *failure);
void export_no_memory(struct export *export);
__attribute__((format(printf, 2, 3))) void export_note(struct export *export, const char *format, ...);

/* The context of an event's buffer. */
const struct context *export_context(const struct export *export, const struct event *event);

#endif
