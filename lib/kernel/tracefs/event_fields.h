/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_EVENT_FIELDS_H
#define WEFT_KERNEL_TRACEFS_EVENT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;

/*
 * The fields of an event, read from its `format`: the names that filters, triggers, histograms and event probes can
 * use. They are in the kernel's order, the common fields first. The caller owns the lists: event_fields_release() frees
 * them.
 */
struct event_field {
	char *type; /* "char", "__data_loc char[]", "unsigned long" */
	char *name;
	char *array;   /* "16" for name[16]; NULL: not an array */
	unsigned size; /* bytes */
	bool is_signed;
};

struct event_fields {
	struct event_field *fields;
	size_t nr;
};

/* Reads the fields of an event, or with `event` NULL the fields of all events of the system. -ENOENT: no such event. */
int must_check event_fields_read(const struct instance *instance, const char *system, const char *event,
				 struct event_fields *ret, struct fail *fail);
/* Adds the fields of the text of a `format` file. The text may be malformed. */
int must_check event_fields_parse(struct event_fields *fields, const char *format, struct fail *fail);
void event_fields_release(struct event_fields *fields);

/* NULL: there is no such field. */
const struct event_field *event_fields_find(const struct event_fields *fields, const char *name);

/*
 * Whether every event has this name besides its fields (trace_define_generic_fields() in trace_events.c, parse_field()
 * in trace_events_hist.c).
 */
bool event_field_is_generic(const char *name);

#endif
