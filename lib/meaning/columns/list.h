/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_LIST_H
#define WEFT_MEANING_COLUMNS_LIST_H

#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/follow/who.h"

struct fail;

/* The columns of a table of events, as --fields names them. */
enum column_what {
	COLUMN_TS,
	COLUMN_WALL, /* the time of day; null where the file does not tell it */
	COLUMN_CPU,
	COLUMN_INSTANCE,
	COLUMN_CLOCK_ERROR, /* how far the time may be off beside those of other machines; null: it was not compared */
	COLUMN_PID,
	COLUMN_TGID,
	COLUMN_COMM,
	COLUMN_WHO, /* this and the next ones: whom the task belonged to then, enum who_part in its order */
	COLUMN_WHO_LAST = COLUMN_WHO + WHO_PARTS - 1,
	COLUMN_MARK, /* the name of the span that the thread was in */
	COLUMN_FLAGS,
	COLUMN_PREEMPT_COUNT,
	COLUMN_SYSTEM,
	COLUMN_EVENT,
	COLUMN_LOST,
	COLUMN_FIELDS,
	COLUMN_TEXT,
	COLUMN_DECODED, /* all that a plugin knows of the record */
	COLUMN_FIELD,   /* a field of the record */
	COLUMN_FACT,    /* what a plugin knows of it */
};

struct column {
	enum column_what what;
	char *name;        /* as the user wrote it, which is the key or the title */
	const char *field; /* for COLUMN_FIELD and COLUMN_FACT: its name, which points into `name` */
};

enum { COLUMNS_OF_TABLE_MAX = 256 };

struct column_list {
	struct column *at;
	size_t nr;
};

/* Adds a name. After a failure the list is to be released. */
int must_check column_list_add(struct column_list *list, const char *name, size_t len, struct fail *fail);

#define COLUMN_FACT_PREFIX "decoded."

/*
 * Parses "ts,cpu,next_pid": names of enum column_what, fields of records, and fields.NAME for a field whose name is
 * also the name of a column; decoded.NAME for what a plugin knows.
 */
int must_check column_list_parse(const char *text, struct column_list *ret, struct fail *fail);
/* The names that --fields takes of any file, by index; NULL: there are no more. */
const char *column_list_name(size_t index);
void column_list_drop_last(struct column_list *list);
void column_list_release(struct column_list *list);

#endif
