/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_SQL_H
#define WEFT_KERNEL_TRACEFS_SQL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct tracing;

/*
 * A SELECT over events, as tracefs_sql() of libtracefs understands it: a histogram of one event, or of two events a
 * synthetic event and the triggers that make it. Nothing is written to the kernel. The library runs in a process of its
 * own, because some queries crash it.
 */
enum sql_when { SQL_ALWAYS, SQL_ON_MAX, SQL_ON_CHANGE };

struct sql_query {
	const char *text;
	const char *name;     /* of the synthetic event; NULL: "Anonymous" */
	enum sql_when when;   /* when the actions below are done, by the value of `variable` */
	const char *variable; /* the name of a selected value */
	const char *save;     /* these fields of the second event, with commas; NULL: none */
	bool trace, snapshot; /* make the event; take a snapshot of the buffer */
};

/* A line to append to a file of tracefs. */
struct sql_write {
	char *file; /* "dynamic_events", "events/irq/irq_handler_entry/trigger" */
	char *text;
};

enum { SQL_WRITES_MAX = 3 };

struct sql {
	struct sql_write writes[SQL_WRITES_MAX]; /* in order; the synthetic event is the first */
	size_t nr;
};

/* The name of the library that weft was built without and that sql_compile() needs; NULL: weft has it. */
const char *sql_missing(void);

/* -EINVAL: the message of the library, with its caret. The caller releases *ret after success. */
int must_check sql_compile(const struct tracing *tracing, const struct sql_query *query, struct sql *ret,
			   struct fail *fail);
void sql_release(struct sql *sql);

/* Whether a write makes the synthetic event. */
bool sql_is_event(const struct sql_write *write);

#endif
