/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_H
#define WEFT_ANSWERS_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows; the options of graph_analysis are struct row_options. From GRAPH_BY_WHO on enum who_part, in its order. */
enum graph_by { GRAPH_BY_FUNCTION, GRAPH_BY_ERRNO, GRAPH_BY_MODULE, GRAPH_BY_WHO };

/* The options of graph_tree_analysis, which examines the calls of one function. */
struct graph_tree_options {
	const char *function; /* its name, or its address as "0x..." */
	size_t slowest; /* how many of the longest calls to show one by one; 0: all calls merged, with their callers */
	unsigned least; /* rows with a smaller share of the whole (in 1/1000) are left out and counted */
	bool ascii;     /* draws trees in ASCII */
};

/* The options of graph_longer_analysis. */
struct graph_longer_options {
	uint64_t longer; /* ns; 0: the longest of all calls */
	size_t most;     /* how many of the calls to show, the longest ones; not 0 */
};

enum { GRAPH_SLOWEST_MAX = 1000 };

#endif
