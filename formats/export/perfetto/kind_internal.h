/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PERFETTO_KIND_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PERFETTO_KIND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/mark.h"
#include "lib/meaning/event/place.h"

struct context;
struct decoded_name;
struct decoder;
struct event;
struct format;
struct out;
struct sink;

/*
 * A type of event as Perfetto's FtraceEvent: a message of its own if trace_processor makes tracks of it, otherwise one
 * that the file describes (GenericEventDescriptor). The importer accepts 31 fields of such an event: further fields
 * become one JSON string in the last one.
 */
enum { PERFETTO_PRINT = 3, PERFETTO_FIELDS_MAX = 31, PERFETTO_OWN_FIRST = 65536, PERFETTO_OWN_LAST = 131071 };

enum perfetto_wire {
	WIRE_INTEGER,
	WIRE_TEXT,
	WIRE_JSON,
	WIRE_REST,
	WIRE_CALL_ARGS,
	WIRE_SYMBOLS,
	WIRE_USER_SYMBOLS,
	WIRE_SYMBOL,
	WIRE_PRINT,
	WIRE_INSTANT,
	WIRE_DECODED_INTEGER,
	WIRE_DECODED_TEXT
};

/* Types whose events change the same tracks of the importer. */
enum perfetto_family {
	FAMILY_NONE,
	FAMILY_TASKS,
	FAMILY_IRQ,
	FAMILY_POWER,
	FAMILY_WORK,
	FAMILY_BLOCK,
	FAMILY_CALLS,
	FAMILY_PRINT,
	FAMILY_GRAPH,
	NR_FAMILIES
};

struct perfetto_kind {
	uint32_t id;       /* number of the field of FtraceEvent */
	bool own;          /* it needs a descriptor */
	bool described;    /* its descriptor was written; set by the caller */
	bool call;         /* the beginning or the end of a system call */
	bool enters;       /* its beginning */
	bool call_by_name; /* an event sys_enter_NAME or sys_exit_NAME */
	bool print;        /* a text of trace_marker or trace_printk() */
	bool switches;     /* sched_switch */
	bool wakes;        /* sched_waking */
	enum perfetto_family family;
	/* the same type as an event that changes no track: for calls and texts; NULL for others */
	struct perfetto_kind *bare;
	const struct format *format; /* NULL: unknown */
	struct mark_source mark;     /* of a type whose texts may be marks */
	struct place tgid;           /* whose functions are in a user_stack */
	/* Fills the last fields; NULL: no plugin knows more, or the type has a message of its own. Borrowed. */
	const struct decoder *decoder;
	struct perfetto_field {
		struct place place;
		const struct decoded_name *decoded; /* of these fields only */
		uint8_t number;
		uint8_t wire; /* enum perfetto_wire */
		bool text;
	} fields[PERFETTO_FIELDS_MAX];
	size_t nr_fields;
};

/* NULL without memory. `own_id` is used as the id if the type needs a descriptor. */
struct perfetto_kind *perfetto_kind_new(const struct context *context, const struct event_type *type, uint32_t own_id);
void perfetto_kind_free(void *kind);

/*
 * Writes the message of an event. `scratch` is emptied; `sink` prints the event as the kernel does. False: there was no
 * memory for a field of a plugin.
 */
bool perfetto_kind_put(const struct perfetto_kind *kind, const struct context *context, struct sink *sink,
		       const struct event *event, struct out *scratch, struct out *out);

/* Writes the GenericEventDescriptor of the type. */
void perfetto_kind_describe(const struct perfetto_kind *kind, struct out *scratch, struct out *field, struct out *out);

#endif
