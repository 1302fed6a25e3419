/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REFUSALS_FITTING_H
#define WEFT_KERNEL_REFUSALS_FITTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"

struct error_entry;
struct instance;
struct near;
struct tracing;

/* Suggestions for a wrong name: similar names, and all possible names if they are few. */
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
	FITTING_OPERATOR, /* of a filter */
};

/* Returns which kind of name was wrong, according to a text of the error_log. */
enum fitting fitting_for(struct text_word text);

/*
 * Appends "\ndid you mean 'a'? The fields are a, b, c", or nothing. `system` and `event` name the event that has the
 * fields.
 */
bool fitting_print(enum fitting fitting, const struct instance *instance, const char *system, const char *event,
		   const char *word, struct buf *buf);

/* Does the same for an entry of the log that resulted from writing `value` to `file`. */
bool fitting_explain(const struct error_entry *entry, const struct instance *instance, const char *file,
		     const char *value, struct buf *buf);

/*
 * Splits "events/SYSTEM/EVENT/filter" and "events/SYSTEM/filter" (then *event is ""). Returns false if the file does
 * not belong to an event.
 */
enum { EVENT_PART_SIZE = 128 };
bool event_of_file(const char *file, char system[EVENT_PART_SIZE], char event[EVENT_PART_SIZE]);

/* Offers the functions that can be traced, tens of thousands; none if the list cannot be read. */
void functions_offer(const struct tracing *tracing, struct near *near);

/* The kernel's symbols, read when one is asked for: /proc/kallsyms takes a tenth of a second. All zero at first. */
struct functions {
	struct buf text;
	bool read;
};
void functions_release(struct functions *functions);

/*
 * Returns whether the kernel (or the module; NULL: any) has a symbol of this name: 1 or 0; -ENOENT if the symbols
 * cannot be read. `functions` may be NULL for a single question.
 */
int function_exists(struct functions *functions, const char *module, const char *name);
/* The same, with its address if there is one: 0 if the kernel hides its addresses. */
int function_find(struct functions *functions, const char *module, const char *name, uint64_t *ret_address);

#endif
