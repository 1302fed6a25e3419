/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_HIST_TEXT_H
#define WEFT_KERNEL_MEASURE_HIST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"

struct fail;

/*
 * The text of a `hist` file (event_hist_trigger_print(), hist_trigger_entry_print() in
 * kernel/trace/trace_events_hist.c): a histogram for each hist trigger of the event, the newest first. Words are
 * borrowed from the text. Any bytes are accepted: lines that are no row are skipped, and a key whose text looks like
 * the beginning of the next key is cut there.
 */
enum { HIST_COLUMNS_MAX = 16 };

/* A key or a value as the trigger has it: "common_pid.execname" is name "common_pid" with the modifier "execname". */
struct hist_column {
	struct text_word name, modifier;
	bool is_signed; /* set by hist_sign(): the kernel prints negative numbers as if they were above 2^63 */
	/* a signed key of at most 4 bytes: 32-bit kernels print its negative numbers as if they were above 2^31 */
	bool is_narrow;
};

struct hist_cell {
	struct text_word text; /* without surrounding blanks; for a stack: its lines */
	bool number;           /* plain decimal */
	bool stack;
	uint64_t value; /* of a number, or of what is in brackets after a name; with log2: the power */
};

struct hist_row {
	struct hist_cell keys[HIST_COLUMNS_MAX];
	struct hist_cell values[HIST_COLUMNS_MAX]; /* values[0] is the hitcount unless the trigger has nohitcount */
	struct text_word more;                     /* the lines of onmax() and onchange() that follow the row */
};

struct hist_text {
	struct text_word trigger; /* "hist:keys=pid:vals=hitcount:... [active]" */
	struct hist_column keys[HIST_COLUMNS_MAX], values[HIST_COLUMNS_MAX];
	size_t nr_keys, nr_values;
	struct hist_row *rows;
	size_t nr;
	uint64_t hits, entries, dropped;
};

/*
 * Takes one histogram from the text and moves *at behind it. Returns 1; 0: there is none left; -errno. The caller calls
 * hist_text_release().
 */
int must_check hist_text_next(const char **at, struct hist_text *ret, struct fail *fail);
void hist_text_release(struct hist_text *hist);

/*
 * Gets the stack of a cell, line by line without blanks; false at the end. Begin with *at = cell->text.at and *left =
 * cell->text.len.
 */
bool hist_stack_line(const char **at, size_t *left, struct text_word *ret);

/*
 * Returns the values in a bucket "~ 2^N": above 2^(N-1), up to 2^N. The kernel counts 0 in the bucket
 * 2^0, and all values above 2^63 in 2^64.
 */
void hist_log2_bounds(uint64_t power, uint64_t *ret_first, uint64_t *ret_last);

#endif
