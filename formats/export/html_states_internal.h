/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_HTML_STATES_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_STATES_INTERNAL_H

#include "lib/timeline/turns.h"

#include <stdbool.h>
#include <stdint.h>

struct bands;
struct labels;
struct tasks;

/*
 * The spans of turns.h as slices: which task had each CPU (BAND_CPU; without idle tasks), and what each task did
 * (BAND_STATE; without unknown time).
 */
enum { HTML_NAME_MAX = 256 }; /* bytes of a name; longer names are cut */

struct html_states {
	struct turns turns;
	struct bands *bands; /* borrowed, as all pointers here */
	struct labels *labels;
	const struct tasks *names;
	uint64_t start; /* times of slices count from here */
	bool failed;
};

void html_states_init(struct html_states *states, const struct state *state);

#endif
