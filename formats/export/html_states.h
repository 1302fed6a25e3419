/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_HTML_STATES_H
#define WEFT_FORMATS_EXPORT_HTML_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bands;
struct event;
struct labels;
struct state;
struct tasks;

/*
 * The state of lib/state as slices: which task had each CPU (BAND_CPU; without idle tasks), and what each task did
 * (BAND_STATE; without unknown time). After each event it checks the tasks that may have changed. Slices that are open
 * at the end, or when events are lost, end there.
 */
enum { HTML_NAME_MAX = 256 }; /* bytes of a name; longer names are cut */

struct html_states {
	const struct state *state; /* borrowed, as all pointers here */
	struct bands *bands;
	struct labels *labels;
	const struct tasks *names;
	uint64_t start; /* times of slices count from here */
	struct html_turn {
		uint64_t since, last; /* `last`: the last event of the CPU before this one */
		uint32_t task;
		uint32_t name; /* label of the task's name at the beginning */
		bool some;
	} * turns; /* by CPU */
	size_t nr_turns;
	struct html_mode {
		uint64_t since, gap;
		uint32_t cpu; /* of a running task */
		uint8_t mode;
		bool some;
	} * modes; /* by task */
	size_t nr_modes;
	uint64_t breaks, losses;
	bool failed;
};

void html_states_release(struct html_states *states);

/* Call it after state_see(). */
void html_states_see(struct html_states *states, const struct event *event);
void html_states_end(struct html_states *states);

#endif
