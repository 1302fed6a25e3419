/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EXPLAIN_FITTING_H
#define WEFT_EXPLAIN_FITTING_H

#include "lib/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct error_entry;
struct instance;
struct near;
struct tracing;

/*
 * What would have fitted where a name did not: the names near it, and all possible names where they are few.
 */
enum fitting {
	FITTING_NONE,
	FITTING_FIELD, /* of the event */
	FITTING_EVENT,
	FITTING_FUNCTION,       /* available_filter_functions */
	FITTING_PROBE_TYPE,     /* u8, string, symbol... (probe_fetch_types in trace_probe.c) */
	FITTING_SYNTHETIC_TYPE, /* synth_field_size() in trace_events_synth.c */
	FITTING_SYNTHETIC_EVENT,
	FITTING_REGISTER, /* the machine's own */
	FITTING_VARIABLE, /* $retval, $arg1, $comm... */
	FITTING_MODIFIER, /* of a key or a value of a histogram */
	FITTING_SORT,
};

/* What kind of name was missing, according to a text of the error_log. */
enum fitting fitting_for(struct text_word text);

/*
 * Appends "\ndid you mean 'a'? The fields are a, b, c", or nothing. `system` and `event` name the event whose fields
 * are meant.
 */
bool fitting_print(enum fitting fitting, const struct instance *instance, const char *system, const char *event,
		   const char *word, struct buf *buf);

/* The same for an entry of the log that writing `value` to `file` has made. */
bool fitting_explain(const struct error_entry *entry, const struct instance *instance, const char *file,
		     const char *value, struct buf *buf);

/* Splits "events/SYSTEM/EVENT/filter" and "events/SYSTEM/filter" (then *event is ""). False: not a file of an event. */
enum { EVENT_PART_SIZE = 128 };
bool event_of_file(const char *file, char system[EVENT_PART_SIZE], char event[EVENT_PART_SIZE]);

/* Offers the functions that can be traced, tens of thousands; none where the list cannot be read. */
void functions_offer(const struct tracing *tracing, struct near *near);

/*
 * Whether the kernel (or that module; NULL: any) has a symbol of this name: 1, 0, or -ENOENT where the kernel does not
 * tell.
 */
int function_exists(const char *module, const char *name);

#endif
