/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_GRAPH_ERRORS_H
#define WEFT_ANALYSIS_GRAPH_ERRORS_H

#include "lib/base/u64_map.h"

#include <stdbool.h>
#include <stdint.h>

struct call;
struct event;
struct findings;
struct pass;

/* Calls that returned a negative error number, by function and number. */
struct graph_error {
	uint64_t func, of; /* the function, and how often it was called: set by the owner before the tables are made */
	uint32_t function, number; /* its index */
	uint64_t calls, total;
	uint64_t longest, longest_at;
	uint32_t longest_cpu;
	int32_t longest_pid;
};

struct graph_errors {
	struct u64_map map; /* struct graph_error */
	uint16_t buffer;    /* of the functions */
	bool known;         /* the kernel told what functions return */
};

void graph_errors_init(struct graph_errors *errors);

/* False without memory. */
bool graph_errors_add(struct graph_errors *errors, uint32_t function, uint32_t number, const struct call *call,
		      const struct event *event);

/* A row for each function and number; nothing where there are none. */
void graph_errors_put(const struct graph_errors *errors, const struct pass *pass, struct findings *findings);
/* A row for each number. False without memory. */
bool graph_errors_put_numbers(const struct graph_errors *errors, const struct pass *pass, struct findings *findings);

#endif
