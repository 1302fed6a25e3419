/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_ERRORS_INTERNAL_H
#define WEFT_ANSWERS_GRAPH_GRAPH_ERRORS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"

struct call;
struct event;
struct findings;
struct pass;

/* Calls that returned a negative error number, by function and number. */
struct graph_error {
	uint64_t func, of; /* the function, the number of its calls; the owner sets them before the tables are made */
	uint32_t function, number; /* function: its index */
	uint64_t calls, total;
	uint64_t longest, longest_at;
	uint32_t longest_cpu;
	int32_t longest_pid;
	uint64_t first, longest_number; /* as graph_errors::number was then */
};

struct graph_errors {
	struct u64_map map;            /* of struct graph_error */
	const struct context *context; /* of the functions */
	bool known;                    /* the kernel reported return values */
	uint64_t number; /* of the event, set by the owner: of several as long calls that with the lowest is kept */
};

void graph_errors_init(struct graph_errors *errors);

/* Counts a call that returned an error. False when memory runs out. */
bool graph_errors_add(struct graph_errors *errors, uint32_t function, uint32_t number, const struct call *call,
		      const struct event *event);

/* Adds what a slice of time has of one function and number, after the slices before it. False without memory. */
bool graph_errors_join(struct graph_errors *errors, uint32_t function, const struct graph_error *from);

/* Adds a row for each function and number; without errors it adds nothing. */
void graph_errors_put(const struct graph_errors *errors, const struct pass *pass, struct findings *findings);
/* Adds a row for each number. False when memory runs out. */
bool graph_errors_put_numbers(const struct graph_errors *errors, const struct pass *pass, struct findings *findings);

#endif
